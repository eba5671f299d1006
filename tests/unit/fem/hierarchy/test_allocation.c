/* labels: full */
/* Hierarchies and averages over children, rerun with the n-th allocation failing. */
#include "allocation.h"
#include "core/weft_core.h"
#include "fem/weft_fem.h"
#include "hierarchy_support.h"

#include <stdlib.h>

static weft_status use_hierarchy(void *user, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_mesh *mesh = NULL;
    weft_hierarchy *hierarchy = NULL;
    int32_t *kinds = NULL;
    TRY(weft_mesh_make_cube(1, &mesh, error));
    TRY(weft_hierarchy_make(NULL, &mesh, user, NULL, &hierarchy, error));
    TRY(weft_hierarchy_child_kinds(NULL, hierarchy, 1, &kinds, error));
done:
    free(kinds);
    weft_mesh_free(&mesh);
    weft_hierarchy_free(&hierarchy);
    return status;
}

static void test_make(void **state) {
    weft_hierarchy_options ordered = {.size = sizeof ordered, .times = 2, .ordered = true},
                           plain = {.size = sizeof plain, .times = 2};
    (void)state;
    test_every_allocation("ordered hierarchy", use_hierarchy, &ordered);
    test_every_allocation("hierarchy", use_hierarchy, &plain);
}

typedef struct setting {
    weft_context context;
    weft_hierarchy *hierarchy;
    weft_memory *data[2];
} setting;

static weft_status use_average(void *user, weft_error *error) {
    setting *s = user;
    return weft_hierarchy_average_cells(&s->context, s->hierarchy, 4, s->data, error);
}

static void test_average(void **state) {
    const weft_hierarchy_options once = {.size = sizeof once, .times = 1};
    weft_device *device = NULL;
    weft_library *library = NULL;
    (void)state;
    assert_int_equal(weft_device_open("host:1", NULL, &device, NULL), WEFT_OK);
    assert_int_equal(weft_fem_library_make(&library, NULL), WEFT_OK);
    setting s = {.context = {.device = device, .library = library},
                 .hierarchy = make_hierarchy(NULL, make_mesh(2, 1), &once)};
    for (int l = 0; l < 2;
         ++l) /* 8 triangles; of the 2 coarse ones whole blocks of up to 8 lanes */
        assert_int_equal(weft_memory_make(device, 8 * 4 * sizeof(double), &s.data[l], NULL),
                         WEFT_OK);
    test_every_allocation("averages over children", use_average, &s);
    for (int l = 0; l < 2; ++l)
        weft_memory_free(&s.data[l]);
    weft_hierarchy_free(&s.hierarchy);
    weft_library_free(&library);
    weft_device_free(&device);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_make), cmocka_unit_test(test_average)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
