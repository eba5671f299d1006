/* labels: quick */
/* Derived quantities, rerun with their n-th allocation failing; on the null device, for kernels are
 * compiled by child processes. */
#include "allocation.h"
#include "core/weft_core.h"
#include "fem/weft_fem.h"
#include "test_support.h"

#include <stdlib.h>

typedef struct setting {
    weft_context context;
    weft_mesh *mesh;
    weft_space *space;
    weft_bound_form form;
    weft_memory *u;
    double *values;
} setting;

static const weft_derived_quantity quantities[] = {
    {WEFT_DERIVE_FIELD, "s", NULL, "grad(u)", "--derive s"},
    {WEFT_DERIVE_INTEGRAL, "f", "right", "dot(s, normal)", "--integral f"},
    {WEFT_DERIVE_EXTREMA, "m", NULL, "u", "--extrema m"},
};

static weft_status use(setting *s, weft_projection projection, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_derive *derive = NULL;
    const weft_derive_problem problem = {
        .space = s->space, .cells = &s->form.form, .u = s->u, .projection = projection};
    TRY(weft_derive_make(&s->context, &problem, quantities, projection == WEFT_PROJECT_NONE ? 3 : 1,
                         &derive, error));
    TRY(weft_derive_run(derive, 0, error));
done:
    weft_derive_free(&derive);
    return status;
}

/* The same solution as a function of any element, with a constant and what is constant in each cell. */
static weft_status use_functions(setting *s, weft_projection projection, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_derive *derive = NULL;
    const weft_derive_function functions[] = {{.name = "u", .space = s->space, .values = s->u},
                                              {.name = "w", .values = s->u, .components = 1}};
    const weft_derive_constant constant = {.name = "k", .memory = s->u};
    const weft_derive_problem problem = {.space = s->space,
                                         .functions = functions,
                                         .n_functions = 2,
                                         .constants = &constant,
                                         .n_constants = 1,
                                         .projection = projection};
    TRY(weft_derive_make(&s->context, &problem, quantities, projection == WEFT_PROJECT_NONE ? 3 : 1,
                         &derive, error));
    TRY(weft_derive_run(derive, 0, error));
done:
    weft_derive_free(&derive);
    return status;
}

static weft_status use_points(void *user, weft_error *error) {
    return use_functions(user, WEFT_PROJECT_NONE, error);
}

static weft_status use_means(void *user, weft_error *error) {
    return use_functions(user, WEFT_PROJECT_LUMPED, error);
}

static weft_status use_solved(void *user, weft_error *error) {
    return use_functions(user, WEFT_PROJECT_CONSISTENT, error);
}

static weft_status use_cells(void *user, weft_error *error) {
    return use(user, WEFT_PROJECT_NONE, error);
}

static weft_status use_nodes(void *user, weft_error *error) {
    return use(user, WEFT_PROJECT_LUMPED, error);
}

/* A mistake in a formula, whose message is translated. */
static weft_status use_wrong(void *user, weft_error *error) {
    static const weft_derived_quantity wrong = {WEFT_DERIVE_FIELD, "f", NULL, "2*uu + grad(u)",
                                                "--derive f"};
    setting *s = user;
    weft_derive *derive = NULL;
    const weft_derive_problem problem = {.space = s->space, .cells = &s->form.form, .u = s->u};
    const weft_status status = weft_derive_make(&s->context, &problem, &wrong, 1, &derive, error);
    weft_derive_free(&derive);
    return status == WEFT_ERROR_MEMORY ? status : WEFT_OK;
}

static void test_all(void **state) {
    (void)state;
    setting s = {0};
    weft_library *library = NULL;
    assert_int_equal(weft_device_open("null", NULL, &s.context.device, NULL), WEFT_OK);
    assert_int_equal(weft_fem_library_make(&library, NULL), WEFT_OK);
    assert_int_equal(weft_mesh_make_square(2, &s.mesh, NULL), WEFT_OK);
    s.context.library = library;
    s.context.plan = WEFT_PLAN_FUSED;
    assert_int_equal(weft_space_make(s.context.device, s.mesh, WEFT_ELEMENT_P1, 1, &s.space, NULL),
                     WEFT_OK);
    assert_int_equal(weft_vector_make(s.context.device, 9, &s.values, &s.u, NULL), WEFT_OK);
    assert_int_equal(
        weft_form_ship(s.space, "poisson.weft", weft_space_cells(s.space), &s.form, NULL), WEFT_OK);
    test_every_allocation("derive", use_cells, &s);
    test_every_allocation("derive at nodes", use_nodes, &s);
    test_every_allocation("derive with a mistake", use_wrong, &s);
    test_every_allocation("derive at points", use_points, &s);
    test_every_allocation("derive by means", use_means, &s);
    test_every_allocation("derive by projection", use_solved, &s);
    weft_memory_free(&s.u);
    free(s.values);
    weft_space_free(&s.space);
    weft_mesh_free(&s.mesh);
    weft_library_free(&library);
    weft_device_free(&s.context.device);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
