/* labels: quick */
#include "core/weft_core.h"
#include "fem/weft_fem.h"
#include "fusion/weft_compile.h"
#include "operator_fixture.h"
#include "test_support.h"

/* Sums of some tens of terms of size one differ by a few units in the last place: 1e-11 leaves room
 * for the cancellation of gradients on distorted cells. */
static const double tolerance = 1e-11;

static const weft_assembly assemblies[] = {WEFT_ASSEMBLY_LMA, WEFT_ASSEMBLY_LMA_GATHER,
                                           WEFT_ASSEMBLY_CSR, WEFT_ASSEMBLY_MATRIX_FREE,
                                           WEFT_ASSEMBLY_SYMMETRIC};

static double largest(const double *a, int64_t n) {
    double most = 0;
    for (int64_t i = 0; i < n; ++i)
        most = fmax(most, fabs(a[i]));
    return most;
}

/* Products with a rough vector, and the diagonal, of an operator against the dense matrix. */
static void check_operator(fixture *f, weft_operator *op, const double *A) {
    weft_memory *v = fixture_vector(f), *y = fixture_vector(f);
    double *values = weft_memory_host(v), *found = weft_memory_host(y);
    uint64_t state = 7;
    weft_error error;
    assert_int_equal(weft_operator_dofs(op), f->n);
    for (int64_t i = 0; i < f->n; ++i)
        values[i] = fixture_random(&state) - 0.5;
    for (int iteration = 0; iteration < 2; ++iteration) { /* the second finds y full of the first */
        assert_int_equal(weft_operator_apply(op, v, y, &error), WEFT_OK);
        for (int64_t i = 0; i < f->n; ++i) {
            double expected = 0;
            for (int64_t j = 0; j < f->n; ++j)
                expected += A[i * f->n + j] * values[j];
            assert_double_near(found[i], expected, 0, tolerance * largest(A, f->n * f->n));
        }
    }
    assert_int_equal(weft_operator_diagonal(op, y, &error), WEFT_OK);
    for (int64_t i = 0; i < f->n; ++i)
        assert_double_near(found[i], A[i * f->n + i], tolerance, 0);
    weft_memory_free(&v);
    weft_memory_free(&y);
}

typedef struct problem {
    bool variable, robin;
} problem;

static void check_problem(int d, problem p, weft_plan_kind plan) {
    fixture f = fixture_make("host:2", d, d == 2 ? 7 : 3, plan);
    double *A = calloc((size_t)(f.n * f.n), sizeof *A);
    reference_stiffness(&f, p.variable, A);
    if (p.robin)
        reference_robin(&f, A);
    weft_form_input inputs[] = {{"x", f.x}, {"when", f.when}};
    weft_parameter dimension = {"d", d};
    weft_expression k = {"diffusivity", "1 + x + 2*y", "test"}, alpha = {"alpha", "1 + y", "test"};
    weft_form forms[2] = {{.name = "poisson",
                           .text = weft_fem_script("poisson"),
                           .dofs = f.cells,
                           .inputs = inputs,
                           .n_inputs = 1,
                           .parameters = &dimension,
                           .n_parameters = 1},
                          {.name = "robin",
                           .text = weft_fem_script("robin"),
                           .dofs = f.facets,
                           .inputs = inputs,
                           .n_inputs = 2,
                           .expressions = &alpha,
                           .n_expressions = 1,
                           .parameters = &dimension,
                           .n_parameters = 1}};
    if (p.variable) {
        forms[0].text = weft_fem_script("poisson_diffusivity");
        forms[0].expressions = &k;
        forms[0].n_expressions = 1;
    }
    for (size_t a = 0; a < 5; ++a) {
        weft_operator *op = NULL;
        weft_error error = {0};
        weft_status status =
            weft_operator_make(&f.context, assemblies[a], forms, p.robin ? 2 : 1, &op, &error);
        if (status != WEFT_OK)
            print_error("%s: %s\n", weft_assembly_name(assemblies[a]), error.message);
        assert_int_equal(status, WEFT_OK);
        assert_int_equal(weft_operator_assemble(op, &error), WEFT_OK);
        check_operator(&f, op, A);
        assert_int_equal(weft_operator_assemble(op, &error),
                         WEFT_OK); /* again: not twice as much */
        check_operator(&f, op, A);
        const size_t before = weft_device_bytes(f.device);
        const bool has_positions =
            assemblies[a] == WEFT_ASSEMBLY_CSR || assemblies[a] == WEFT_ASSEMBLY_SYMMETRIC;
        weft_operator_release_assembly(op);
        assert_int_equal(weft_device_bytes(f.device) < before, has_positions);
        check_operator(&f, op, A);
        assert_int_equal(weft_operator_assemble(op, &error),
                         has_positions ? WEFT_ERROR_USAGE : WEFT_OK);
        weft_operator_free(&op);
        assert_null(op);
    }
    assert_true(f.context.n_kernels > 0);
    free(A);
    fixture_free(&f);
}

static void laplace_in_2d(void **state) {
    (void)state;
    check_problem(2, (problem){false, false}, WEFT_PLAN_FUSED);
}

static void laplace_in_3d(void **state) {
    (void)state;
    check_problem(3, (problem){false, false}, WEFT_PLAN_FUSED);
}

static void diffusivity_and_robin_in_2d(void **state) {
    (void)state;
    check_problem(2, (problem){true, true}, WEFT_PLAN_FUSED);
}

static void diffusivity_and_robin_in_3d(void **state) {
    (void)state;
    check_problem(3, (problem){true, true}, WEFT_PLAN_FUSED);
}

static void unfused_plans_agree(void **state) {
    (void)state;
    check_problem(2, (problem){true, true}, WEFT_PLAN_UNFUSED);
    check_problem(3, (problem){true, false}, WEFT_PLAN_UNFUSED);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(laplace_in_2d),
        cmocka_unit_test(laplace_in_3d),
        cmocka_unit_test(diffusivity_and_robin_in_2d),
        cmocka_unit_test(diffusivity_and_robin_in_3d),
        cmocka_unit_test(unfused_plans_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
