/* labels: quick */
/* Boundary conditions: which dofs they fix and to what, loads and Robin matrices against integrals
 * done on paper, linear solutions that every triangulation has exactly, and which problems are not
 * solvable. Tolerances leave three digits to rounding and to the iteration. */
#include "core/weft_core.h"
#include "fem/weft_fem.h"
#include "test_support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct setting {
    weft_device *device;
    weft_library *library;
    weft_context context;
    weft_mesh *mesh;
    weft_space *space;
    weft_bc *bc;
    weft_error error;
} setting;

static void open_setting(setting *s) {
    *s = (setting){0};
    assert_int_equal(weft_device_open("host:2", NULL, &s->device, &s->error), WEFT_OK);
    assert_int_equal(weft_fem_library_make(&s->library, &s->error), WEFT_OK);
    s->context =
        (weft_context){.device = s->device, .library = s->library, .plan = WEFT_PLAN_FUSED};
}

static weft_status setting_make(setting *s, int d, int64_t n, int components,
                                const weft_condition *conditions, int n_conditions) {
    open_setting(s);
    if (d == 2)
        assert_int_equal(weft_mesh_make_square(n, &s->mesh, &s->error), WEFT_OK);
    else
        assert_int_equal(weft_mesh_make_cube(n, &s->mesh, &s->error), WEFT_OK);
    assert_int_equal(
        weft_space_make(s->device, s->mesh, WEFT_ELEMENT_P1, components, &s->space, &s->error),
        WEFT_OK);
    return weft_bc_make(&s->context, s->space, conditions, n_conditions, &s->bc, &s->error);
}

static void setting_free(setting *s) {
    weft_bc_free(&s->bc);
    weft_space_free(&s->space);
    weft_mesh_free(&s->mesh);
    weft_library_free(&s->library);
    weft_device_free(&s->device);
}

/* Square of 3 x 3 nodes. Left and bottom meet in (0, 0), where the later condition, bottom, holds. */
static void later_condition_holds(void **state) {
    (void)state;
    const weft_condition conditions[] = {
        {.kind = WEFT_DIRICHLET, .group = "left", .value = "1 + y"},
        {.kind = WEFT_DIRICHLET, .group = "bottom", .value = "5"}};
    setting s;
    double u[9];
    int64_t n = 0;
    assert_int_equal(setting_make(&s, 2, 2, 1, conditions, 2), WEFT_OK);
    const int32_t *dofs = weft_bc_constrained(s.bc, &n);
    assert_int_equal(n, 5);
    for (int i = 0; i < 9; ++i)
        u[i] = -7;
    weft_bc_set(s.bc, 2, u);
    for (int64_t i = 0, k = 0; i < 9; ++i) {
        const double x = s.mesh->x[2 * i], y = s.mesh->x[2 * i + 1];
        const double expected = y == 0 ? 10 : x == 0 ? 2 * (1 + y) : -7;
        assert_true(fabs(u[i] - expected) < 1e-14);
        if (y == 0 || x == 0)
            assert_int_equal(dofs[k++], i);
    }
    setting_free(&s);
}

static void components_and_none(void **state) {
    (void)state;
    const weft_condition condition = {
        .kind = WEFT_DIRICHLET, .group = "left", .value = "y", .component = 1};
    setting s;
    int64_t n = 0;
    bool is_free = true;
    assert_int_equal(setting_make(&s, 2, 2, 2, &condition, 1), WEFT_OK);
    const int32_t *dofs = weft_bc_constrained(s.bc, &n);
    assert_int_equal(n, 3);
    for (int64_t i = 0; i < n; ++i) {
        assert_int_equal(dofs[i] % 2, 1);
        assert_true(s.mesh->x[dofs[i] / 2 * 2] == 0);
    }
    assert_int_equal(weft_bc_find_free(s.bc, 1, &is_free, &s.error), WEFT_OK);
    assert_false(is_free);
    assert_int_equal(weft_bc_find_free(s.bc, 0, &is_free, &s.error), WEFT_OK);
    assert_true(is_free);
    setting_free(&s);

    /* no condition: zero on all of the boundary, here all nodes but the one in the middle */
    assert_int_equal(setting_make(&s, 2, 2, 2, NULL, 0), WEFT_OK);
    weft_bc_constrained(s.bc, &n);
    assert_int_equal(n, 16);
    setting_free(&s);
}

/* g = x on the side y = 1: the load sums to int x = 1/2, and against x to int x^2 = 1/3. */
static void loads(void **state) {
    (void)state;
    for (int c = 1; c <= 2; ++c) {
        const weft_condition condition = {
            .kind = WEFT_NEUMANN, .group = "top", .value = "x", .component = c - 1};
        setting s;
        double *b = NULL, sum = 0, moment = 0, other = 0;
        weft_memory *memory = NULL;
        assert_int_equal(setting_make(&s, 2, 4, c, &condition, 1), WEFT_OK);
        const int64_t n = weft_space_dofs(s.space);
        assert_int_equal(weft_vector_make(s.device, n, &b, &memory, &s.error), WEFT_OK);
        assert_int_equal(weft_bc_load_make(s.bc, NULL, NULL, WEFT_LOAD_DEGREE, memory, b, &s.error),
                         WEFT_OK);
        for (int64_t i = 0; i < n; ++i) {
            other += i % c == c - 1 ? 0 : fabs(b[i]);
            sum += b[i];
            moment += b[i] * s.mesh->x[i / c * 2];
        }
        assert_true(fabs(sum - 0.5) < 1e-13);
        assert_true(fabs(moment - 1.0 / 3) < 1e-13);
        assert_true(other == 0);
        weft_memory_free(&memory);
        free(b);
        setting_free(&s);
    }
}

/* v.R v for v = y and alpha = 2 on the side x = 1: 2 int y^2 = 2/3. */
static void robin_matrix(void **state) {
    (void)state;
    const weft_condition condition = {
        .kind = WEFT_ROBIN, .group = "right", .value = "0", .alpha = "2"};
    setting s;
    const weft_form *forms = NULL;
    weft_operator *op = NULL;
    weft_memory *v = NULL, *y = NULL;
    double *v_values = NULL, *y_values = NULL, product = 0;
    assert_int_equal(setting_make(&s, 2, 3, 1, &condition, 1), WEFT_OK);
    assert_int_equal(weft_bc_forms(s.bc, &forms), 1);
    const int64_t n = weft_space_dofs(s.space);
    assert_int_equal(weft_vector_make(s.device, n, &v_values, &v, &s.error), WEFT_OK);
    assert_int_equal(weft_vector_make(s.device, n, &y_values, &y, &s.error), WEFT_OK);
    for (int64_t i = 0; i < n; ++i)
        v_values[i] = s.mesh->x[2 * i + 1];
    assert_int_equal(
        weft_operator_make(&s.context, WEFT_ASSEMBLY_MATRIX_FREE, forms, 1, &op, &s.error),
        WEFT_OK);
    assert_int_equal(weft_operator_apply(op, v, y, &s.error), WEFT_OK);
    for (int64_t i = 0; i < n; ++i)
        product += v_values[i] * y_values[i];
    assert_true(fabs(product - 2.0 / 3) < 1e-13);
    weft_operator_free(&op);
    weft_memory_free(&v);
    weft_memory_free(&y);
    free(v_values);
    free(y_values);
    setting_free(&s);
}

/* Solve -div grad u = 0 with the conditions, and compare with a linear solution at the nodes. */
static void solve_linear(int d, const weft_condition *conditions, int n_conditions,
                         const double slope[3]) {
    setting s;
    weft_bound_form cells;
    weft_operator *op = NULL;
    weft_memory *u = NULL, *b = NULL;
    double *u_values = NULL, *b_values = NULL;
    weft_cg_options cg = {
        .size = sizeof cg, .jacobi = true, .tolerance = 1e-13, .max_iterations = 1000};
    weft_cg_result result = {0};
    assert_int_equal(setting_make(&s, d, 4, 1, conditions, n_conditions), WEFT_OK);
    const int64_t n = weft_space_dofs(s.space);
    assert_int_equal(
        weft_form_ship(s.space, "poisson.weft", weft_space_cells(s.space), &cells, &s.error),
        WEFT_OK);
    assert_int_equal(weft_bc_operator_make(s.bc, WEFT_ASSEMBLY_CSR, &cells.form, &op, &s.error),
                     WEFT_OK);
    assert_int_equal(weft_vector_make(s.device, n, &u_values, &u, &s.error), WEFT_OK);
    assert_int_equal(weft_vector_make(s.device, n, &b_values, &b, &s.error), WEFT_OK);
    weft_bc_set(s.bc, 1, u_values);
    assert_int_equal(weft_bc_load_make(s.bc, NULL, NULL, WEFT_LOAD_DEGREE, b, b_values, &s.error),
                     WEFT_OK);
    cg.constrained = weft_bc_constrained(s.bc, &cg.n_constrained);
    assert_int_equal(weft_cg_solve(&s.context, op, b, u, &cg, &result, &s.error), WEFT_OK);
    assert_int_equal(result.outcome, WEFT_CG_CONVERGED);
    for (int64_t i = 0; i < n; ++i) {
        double exact = 1;
        for (int k = 0; k < d; ++k)
            exact += slope[k] * s.mesh->x[i * d + k];
        assert_true(fabs(u_values[i] - exact) < 1e-10);
    }
    free(result.history);
    weft_operator_free(&op);
    weft_memory_free(&u);
    weft_memory_free(&b);
    free(u_values);
    free(b_values);
    setting_free(&s);
}

/* u = 1 + 2x + 3y (+ 4z) has the fluxes 2, 3, 4 through the sides x = 1, y = 1, z = 1. */
static void linear_solutions(void **state) {
    (void)state;
    static const double slope[3] = {2, 3, 4};
    const weft_condition plane[] = {
        {.kind = WEFT_DIRICHLET, .group = "left", .value = "1 + 3*y"},
        {.kind = WEFT_ROBIN, .group = "right", .alpha = "2", .value = "2 + 2*(3 + 3*y)"},
        {.kind = WEFT_NEUMANN, .group = "top", .value = "3"},
        {.kind = WEFT_NEUMANN, .group = "bottom", .value = "-3"}};
    const weft_condition room[] = {
        {.kind = WEFT_DIRICHLET, .group = "left", .value = "1 + 3*y + 4*z"},
        {.kind = WEFT_ROBIN,
         .group = "right",
         .alpha = "1 + y",
         .value = "2 + (1 + y)*(3 + 3*y + 4*z)"},
        {.kind = WEFT_NEUMANN, .group = "front", .value = "-3"},
        {.kind = WEFT_NEUMANN, .group = "back", .value = "3"},
        {.kind = WEFT_NEUMANN, .group = "bottom", .value = "-4"},
        {.kind = WEFT_NEUMANN, .group = "top", .value = "4"}};
    solve_linear(2, plane, 4, slope);
    solve_linear(3, room, 6, slope);
}

/* int f = 1 over the square, whose boundary has the length 4. */
static void balance(void **state) {
    (void)state;
    static const struct {
        const char *flux, *source;
        double total;
    } cases[] = {{"-0.25", "1", 0}, {"0.25", "1", 2}, {"-0.75*x*x - 0.25*y", "1.5", 0.25}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        const weft_condition condition = {
            .kind = WEFT_NEUMANN, .group = "boundary", .value = cases[i].flux};
        setting s;
        weft_balance sum;
        bool is_free = false;
        assert_int_equal(setting_make(&s, 2, 3, 1, &condition, 1), WEFT_OK);
        assert_int_equal(weft_bc_find_free(s.bc, 0, &is_free, &s.error), WEFT_OK);
        assert_true(is_free);
        assert_int_equal(weft_bc_balance(s.bc, cases[i].source, NULL, &sum, &s.error), WEFT_OK);
        /* -0.75 x^2: -0.75 on x = 1 and -0.25 on y = 0 and y = 1; -0.25 y: -0.5 in all */
        assert_true(fabs(sum.source - strtod(cases[i].source, NULL)) < 1e-12);
        assert_true(fabs(sum.sum - (i == 2 ? 1.5 - 1.25 - 0.5 : cases[i].total)) < 1e-12);
        assert_int_equal(fabs(sum.sum) <= sum.bound, i == 0);
        setting_free(&s);
    }
    const weft_balance of = weft_balance_of((const double[]){1, -1, 1e-5}, 3);
    assert_true(fabs(of.sum) > of.rounding && fabs(of.sum) < of.bound);
}

/* Robin fixes the constant where ALPHA is not the number 0. */
static void robin_fixes(void **state) {
    (void)state;
    for (int fixed = 0; fixed < 2; ++fixed) {
        const weft_condition condition = {
            .kind = WEFT_ROBIN, .group = "left", .value = "1", .alpha = fixed ? "x" : "0.0"};
        setting s;
        bool is_free = false;
        assert_int_equal(setting_make(&s, 2, 2, 1, &condition, 1), WEFT_OK);
        assert_int_equal(weft_bc_find_free(s.bc, 0, &is_free, &s.error), WEFT_OK);
        assert_int_equal(is_free, !fixed);
        setting_free(&s);
    }
}

/* Two triangles that do not touch, with a side of each in a group, and a group without facets. */
static void detached_parts(void **state) {
    (void)state;
    static const double x[] = {0, 0, 1, 0, 0, 1, 5, 5, 6, 5, 5, 6};
    static const int32_t cells[] = {0, 1, 2, 3, 4, 5}, facets[] = {0, 1, 3, 4};
    weft_condition conditions[] = {{.kind = WEFT_DIRICHLET, .group = "a", .value = "0"},
                                   {.kind = WEFT_ROBIN, .group = "b", .value = "0", .alpha = "1"}};
    setting s;
    bool is_free = true;
    open_setting(&s);
    weft_mesh_data data = {
        .dimension = 2, .n_nodes = 6, .n_cells = 2, .n_groups = 3, .n_group_facets = 2};
    data.x = weft_array_make(12, sizeof(double));
    data.cells = weft_array_make(6, sizeof(int32_t));
    data.groups = weft_array_make(3, sizeof(weft_group));
    data.group_facet_nodes = weft_array_make(4, sizeof(int32_t));
    memcpy(data.x, x, sizeof x);
    memcpy(data.cells, cells, sizeof cells);
    memcpy(data.group_facet_nodes, facets, sizeof facets);
    data.groups[0] = (weft_group){.name = "a", .dimension = 1, .n_facets = 1};
    data.groups[1] = (weft_group){.name = "b", .dimension = 1, .first_facet = 1, .n_facets = 1};
    data.groups[2] = (weft_group){.name = "none", .dimension = 1, .first_facet = 2};
    assert_int_equal(weft_mesh_make(&data, "two", NULL, &s.mesh, &s.error), WEFT_OK);
    assert_int_equal(weft_space_make(s.device, s.mesh, WEFT_ELEMENT_P1, 1, &s.space, &s.error),
                     WEFT_OK);
    assert_int_equal(weft_bc_make(&s.context, s.space, conditions, 1, &s.bc, &s.error), WEFT_OK);
    assert_int_equal(weft_bc_find_free(s.bc, 0, &is_free, &s.error), WEFT_ERROR_INPUT);
    assert_non_null(strstr(s.error.message, "2 parts that do not touch, and nothing fixes u on "
                                            "that of (5, 5)"));
    weft_bc_free(&s.bc);
    assert_int_equal(weft_bc_make(&s.context, s.space, conditions, 2, &s.bc, &s.error), WEFT_OK);
    assert_int_equal(weft_bc_find_free(s.bc, 0, &is_free, &s.error), WEFT_OK);
    assert_false(is_free);
    weft_bc_free(&s.bc);
    for (int i = 0; i < 2; ++i) {
        conditions[i].group = "none";
        assert_int_equal(weft_bc_make(&s.context, s.space, &conditions[i], 1, &s.bc, &s.error),
                         WEFT_ERROR_INPUT);
        assert_non_null(strstr(s.error.message, "no facets on which"));
        assert_string_equal(s.error.file, "none");
    }
    setting_free(&s);
}

static void refused(void **state) {
    (void)state;
    static const struct {
        weft_condition condition;
        weft_status status;
        const char *message;
    } cases[] = {
        {{WEFT_DIRICHLET, "nowhere", "0", NULL, "--d", 0}, WEFT_ERROR_INPUT, "no group `nowhere`"},
        {{WEFT_ROBIN, "nowhere", "0", "1", "--d", 0}, WEFT_ERROR_INPUT, "no group `nowhere`"},
        {{WEFT_DIRICHLET, "left", "1/x", NULL, "--d", 0},
         WEFT_ERROR_INPUT,
         "not finite at or near"},
        {{WEFT_DIRICHLET, "left", "1 +", NULL, "--d", 0}, WEFT_ERROR_SYNTAX, ""}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        setting s;
        assert_int_equal(setting_make(&s, 2, 2, 1, &cases[i].condition, 1), cases[i].status);
        assert_null(s.bc);
        assert_non_null(strstr(s.error.message, cases[i].message));
        assert_string_equal(s.error.file, "--d");
        setting_free(&s);
    }
    /* a load that is not finite */
    const weft_condition flux = {.kind = WEFT_NEUMANN, .group = "left", .value = "1/x"};
    setting s;
    double *b = NULL;
    weft_memory *memory = NULL;
    assert_int_equal(setting_make(&s, 2, 2, 1, &flux, 1), WEFT_OK);
    assert_int_equal(weft_vector_make(s.device, 9, &b, &memory, &s.error), WEFT_OK);
    assert_int_equal(weft_bc_load_make(s.bc, NULL, NULL, WEFT_LOAD_DEGREE, memory, b, &s.error),
                     WEFT_ERROR_INPUT);
    assert_string_equal(s.error.file, "left");
    weft_memory_free(&memory);
    free(b);
    setting_free(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(later_condition_holds),
                                       cmocka_unit_test(components_and_none),
                                       cmocka_unit_test(loads),
                                       cmocka_unit_test(robin_matrix),
                                       cmocka_unit_test(linear_solutions),
                                       cmocka_unit_test(balance),
                                       cmocka_unit_test(robin_fixes),
                                       cmocka_unit_test(detached_parts),
                                       cmocka_unit_test(refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
