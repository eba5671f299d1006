/* labels: quick */
/* Hierarchies, rerun with the n-th allocation failing. */
#include "allocation.h"
#include "core/weft_core.h"
#include "fem/weft_fem.h"
#include "mesh_support.h"

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
    weft_hierarchy_options ordered = {.times = 2, .ordered = true}, plain = {.times = 2};
    (void)state;
    test_every_allocation("ordered hierarchy", use_hierarchy, &ordered);
    test_every_allocation("hierarchy", use_hierarchy, &plain);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_make)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
