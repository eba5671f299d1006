/* labels: quick */
/* Spaces on the unit square and cube: dofs, facets and coordinates against those counted by hand,
 * formulas at the nodes, and errors of interpolants against integrals done on paper. */
#include "core/weft_core.h"
#include "fem/weft_fem.h"
#include "fusion/weft_program.h"
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
} setting;

static setting setting_make(int d, int64_t n, int components) {
    setting s = {0};
    weft_error error;
    assert_int_equal(weft_device_open("host:2", NULL, &s.device, &error), WEFT_OK);
    assert_int_equal(weft_fem_library_make(&s.library, &error), WEFT_OK);
    s.context = (weft_context){.device = s.device, .library = s.library, .plan = WEFT_PLAN_FUSED};
    if (d == 2)
        assert_int_equal(weft_mesh_make_square(n, &s.mesh, &error), WEFT_OK);
    else
        assert_int_equal(weft_mesh_make_cube(n, &s.mesh, &error), WEFT_OK);
    assert_int_equal(
        weft_space_make(s.device, s.mesh, WEFT_ELEMENT_P1, components, &s.space, &error), WEFT_OK);
    return s;
}

static void setting_free(setting *s) {
    weft_space_free(&s->space);
    weft_mesh_free(&s->mesh);
    weft_library_free(&s->library);
    weft_device_free(&s->device);
}

/* n cells a side: (n+1)^d nodes, d! n^d cells, of which a side has (d-1)! n^(d-1) facets. */
static void counts(void **state) {
    (void)state;
    for (int d = 2; d <= 3; ++d)
        for (int c = 1; c <= 3; c += 2) {
            setting s = setting_make(d, 3, c);
            const int64_t nodes = d == 2 ? 16 : 64, cells = d == 2 ? 18 : 162;
            assert_int_equal(weft_space_nodes(s.space), nodes);
            assert_int_equal(weft_space_components(s.space), c);
            assert_int_equal(weft_space_dofs(s.space), nodes * c);
            assert_ptr_equal(weft_space_mesh(s.space), s.mesh);
            weft_connectivity *dofs = weft_space_cells(s.space);
            assert_int_equal(weft_connectivity_from(dofs), cells);
            assert_int_equal(weft_connectivity_width(dofs), d + 1);
            assert_int_equal(weft_memory_bytes(weft_space_coordinates(s.space)),
                             (size_t)(nodes * d) * sizeof(double));
            const weft_assembly_problem problem = weft_space_problem(s.space, 7);
            assert_int_equal(problem.width, d + 1);
            assert_int_equal(problem.components, c);
            assert_int_equal(problem.n_cells, cells);
            assert_true(problem.applications == 7);
            setting_free(&s);
        }
}

/* On the side x = 0 every facet's nodes have x = 0, and the measures sum to 1. */
static void facets_of_a_side(void **state) {
    (void)state;
    for (int d = 2; d <= 3; ++d) {
        setting s = setting_make(d, 3, 1);
        weft_space_facets facets = {0};
        weft_error error;
        int group = 0;
        int32_t *nodes = NULL;
        int64_t n_nodes = 0;
        assert_int_equal(weft_mesh_group(s.mesh, "left", &group, &error), WEFT_OK);
        assert_int_equal(weft_space_facets_make(s.space, group, &facets, &error), WEFT_OK);
        assert_int_equal(facets.n, d == 2 ? 3 : 18);
        assert_int_equal(facets.width, d);
        assert_int_equal(weft_connectivity_from(facets.dofs), facets.n);
        for (int64_t i = 0; i < facets.n * d; ++i)
            assert_true(s.mesh->x[facets.nodes[i] * d] == 0);
        assert_int_equal(weft_space_group_nodes(s.space, group, &nodes, &n_nodes, &error), WEFT_OK);
        assert_int_equal(n_nodes, d == 2 ? 4 : 16);
        for (int64_t i = 1; i < n_nodes; ++i)
            assert_true(nodes[i] > nodes[i - 1]);
        free(nodes);
        weft_space_facets_free(&facets);
        assert_null(facets.dofs);
        setting_free(&s);
    }
}

static void formulas(void **state) {
    (void)state;
    setting s = setting_make(2, 4, 1);
    weft_error error;
    double *values = NULL, value = 0;
    weft_memory *memory = NULL;
    const int64_t n = weft_space_nodes(s.space);
    assert_int_equal(weft_vector_make(s.device, n, &values, &memory, &error), WEFT_OK);
    assert_int_equal(
        weft_space_evaluate(&s.context, s.space, "2*x - 3*y + 1", "f", memory, values, &error),
        WEFT_OK);
    for (int64_t i = 0; i < n; ++i)
        assert_true(fabs(values[i] - (2 * s.mesh->x[2 * i] - 3 * s.mesh->x[2 * i + 1] + 1)) <
                    1e-14);
    assert_int_equal(
        weft_space_evaluate(&s.context, s.space, "2*x +", "--f", memory, values, &error),
        WEFT_ERROR_SYNTAX);
    assert_string_equal(error.file, "--f");
    weft_memory_free(&memory);
    free(values);
    setting_free(&s);

    assert_true(weft_formula_constant(" -1.5e2 ", &value) && value == -150);
    static const char *const others[] = {"", " ", "x", "1+1", "1 2", "1e999", "inf", "0x10", "1,5"};
    for (size_t i = 0; i < sizeof others / sizeof *others; ++i)
        assert_false(weft_formula_constant(others[i], &value));
}

/* The interpolant of x + y is x + y. Against x + y + 1 it is wrong by 1, whose square has the
 * integral 1; its gradient is right. Against 3x + y, grad u is wrong by (2, 0): 4; and
 * int (2x)^2 = 4/3, which a rule of degree 5 has but for rounding. */
static void errors_of_a_function(void **state) {
    (void)state;
    for (int d = 2; d <= 3; ++d) {
        setting s = setting_make(d, 3, 1);
        weft_error error;
        double *u = NULL, squares[2] = {0, 0};
        weft_memory *memory = NULL;
        assert_int_equal(weft_vector_make(s.device, weft_space_nodes(s.space), &u, &memory, &error),
                         WEFT_OK);
        assert_int_equal(weft_space_evaluate(&s.context, s.space, "x + y", "u", memory, u, &error),
                         WEFT_OK);
        assert_int_equal(
            weft_space_errors(&s.context, s.space, memory, "x + y + 1", NULL, squares, &error),
            WEFT_OK);
        assert_true(fabs(squares[0] - 1) < 1e-12);
        assert_true(squares[1] < 1e-18);
        assert_int_equal(
            weft_space_errors(&s.context, s.space, memory, "3*x + y", NULL, squares, &error),
            WEFT_OK);
        assert_true(fabs(squares[0] - 4.0 / 3) < 1e-12);
        assert_true(fabs(squares[1] - 4) < 1e-8);
        double measure = 0;
        assert_int_equal(weft_space_integral(s.space, NULL, 0, &measure, NULL), WEFT_OK);
        assert_true(fabs(measure - 1) < 1e-12);
        weft_memory_free(&memory);
        free(u);
        setting_free(&s);
    }
}

static void refused(void **state) {
    (void)state;
    setting s = setting_make(2, 2, 1);
    weft_space *none = NULL;
    weft_error error;
    char point[64];
    assert_int_equal(weft_space_make(s.device, s.mesh, WEFT_ELEMENT_P1, 0, &none, &error),
                     WEFT_ERROR_USAGE);
    assert_null(none);
    assert_int_equal(weft_space_make(s.device, s.mesh, WEFT_ELEMENT_P1, 1 << 29, &none, &error),
                     WEFT_ERROR_UNSUPPORTED);
    assert_null(none);
    weft_bound_form form;
    assert_int_equal(weft_form_ship(s.space, "nowhere.weft", NULL, &form, &error),
                     WEFT_ERROR_INTERNAL);
    assert_int_equal(weft_formula_refuse(s.space, "1/x", "--f", 0, &error), WEFT_ERROR_INPUT);
    assert_non_null(strstr(error.message, "not finite at or near (0, 0)"));
    assert_string_equal(weft_point_text((double[]){0.5, 1, 2}, 3, point), "(0.5, 1, 2)");
    assert_string_equal(weft_point_text((double[]){-0.25, 1e-3}, 2, point), "(-0.25, 0.001)");
    setting_free(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts), cmocka_unit_test(facets_of_a_side), cmocka_unit_test(formulas),
        cmocka_unit_test(errors_of_a_function), cmocka_unit_test(refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
