/* labels: quick */
/* Spaces and boundary conditions, rerun with their n-th allocation failing. */
#include "allocation.h"
#include "core/weft_core.h"
#include "fem/weft_fem.h"
#include "test_support.h"

#include <stdlib.h>

typedef struct setting {
    weft_context context;
    weft_mesh *mesh;
} setting;

static weft_status use_space(void *user, weft_error *error) {
    const setting *s = user;
    weft_status status = WEFT_OK;
    weft_space *space = NULL;
    weft_space_facets facets = {0};
    TRY(weft_space_make(s->context.device, s->mesh, WEFT_ELEMENT_P1, 2, &space, error));
    TRY(weft_space_facets_make(space, -1, &facets, error));
done:
    weft_space_facets_free(&facets);
    weft_space_free(&space);
    return status;
}

/* Numbers need no kernel, which is compiled by child processes. */
static weft_status use_bc(void *user, weft_error *error) {
    static const weft_condition conditions[] = {
        {.kind = WEFT_DIRICHLET, .group = "left", .value = "1"},
        {.kind = WEFT_ROBIN, .group = "right", .value = "0", .alpha = "2"},
        {.kind = WEFT_NEUMANN, .group = "right", .value = "0"}};
    setting *s = user;
    weft_status status = WEFT_OK;
    weft_space *space = NULL;
    weft_bc *bc = NULL;
    bool is_free = false;
    weft_balance balance;
    TRY(weft_space_make(s->context.device, s->mesh, WEFT_ELEMENT_P1, 1, &space, error));
    TRY(weft_bc_make(&s->context, space, conditions, 3, &bc, error));
    TRY(weft_bc_find_free(bc, 0, &is_free, error));
    TRY(weft_bc_balance(bc, "0", NULL, &balance, error));
done:
    weft_bc_free(&bc);
    weft_space_free(&space);
    return status;
}

static void test_all(void **state) {
    (void)state;
    setting s = {0};
    weft_library *library = NULL;
    assert_int_equal(weft_device_open("host:1", NULL, &s.context.device, NULL), WEFT_OK);
    assert_int_equal(weft_fem_library_make(&library, NULL), WEFT_OK);
    assert_int_equal(weft_mesh_make_square(2, &s.mesh, NULL), WEFT_OK);
    s.context.library = library;
    s.context.plan = WEFT_PLAN_FUSED;
    test_every_allocation("space", use_space, &s);
    test_every_allocation("bc", use_bc, &s);
    weft_mesh_free(&s.mesh);
    weft_library_free(&library);
    weft_device_free(&s.context.device);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
