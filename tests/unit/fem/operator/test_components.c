/* labels: quick */
/* Operators with several components per node: linear elasticity with a modulus that varies, and
 * springs on one component of a side, on a distorted mesh, by every assembly and plan, against the
 * dense matrix that this file assembles from the elasticity tensor. And the solution of a system
 * with constrained components against elimination. */
#include "core/weft_core.h"
#include "fem/weft_fem.h"
#include "fusion/weft_compile.h"
#include "operator_fixture.h"
#include "test_support.h"

#include <stdio.h>

/* Some hundreds of terms of size one: rounding apart, and the cancellation of gradients. */
static const double tolerance = 1e-11;

static const weft_assembly assemblies[] = {WEFT_ASSEMBLY_LMA, WEFT_ASSEMBLY_LMA_GATHER,
                                           WEFT_ASSEMBLY_CSR, WEFT_ASSEMBLY_MATRIX_FREE,
                                           WEFT_ASSEMBLY_SYMMETRIC};

/* A += int lambda div u div v + 2 mu e(u):e(v) with nu = 0.25 and E = 1 + x: lambda = mu = 0.4 E.
 */
static void reference_elasticity(const fixture *f, double *A) {
    const int d = f->d;
    const int64_t n = f->n * d;
    for (int64_t cell = 0; cell < f->mesh->n_cells; ++cell) {
        const int32_t *nodes = f->mesh->cells + cell * (d + 1);
        double g[4][3], E = 1, volume = reference_gradients(f->mesh->x, nodes, d, g);
        for (int i = 0; i <= d; ++i)
            E += f->mesh->x[nodes[i] * d] / (d + 1);
        for (int i = 0; i < (d + 1) * d; ++i)
            for (int j = 0; j < (d + 1) * d; ++j) {
                const double *a = g[i / d], *b = g[j / d];
                const int k = i % d, l = j % d;
                double dot = 0;
                for (int c = 0; c < d; ++c)
                    dot += a[c] * b[c];
                A[(nodes[i / d] * d + k) * n + nodes[j / d] * d + l] +=
                    0.4 * E * volume * (a[k] * b[l] + a[l] * b[k] + (k == l) * dot);
            }
    }
}

/* Springs with alpha = 1 + y on component k of the side. */
static void reference_springs(const fixture *f, int k, double *A) {
    const int d = f->d;
    double *scalar = calloc((size_t)(f->n * f->n), sizeof *scalar);
    reference_robin(f, scalar);
    for (int64_t i = 0; i < f->n; ++i)
        for (int64_t j = 0; j < f->n; ++j)
            A[(i * d + k) * f->n * d + j * d + k] += scalar[i * f->n + j];
    free(scalar);
}

typedef struct system_of {
    weft_form forms[2];
    weft_form_input inputs[2];
    weft_parameter dimension[1], robin[3];
    weft_expression young[2], alpha[1];
} system_of;

static void forms_make(const fixture *f, int k, system_of *out) {
    *out = (system_of){.inputs = {{"x", f->x}, {"when", f->when}},
                       .dimension = {{"d", f->d}},
                       .robin = {{"d", f->d}, {"c", f->d}, {"k", k}},
                       .young = {{"young", "1 + x", "test"}, {"poisson", "0.25", "test"}},
                       .alpha = {{"alpha", "1 + y", "test"}}};
    out->forms[0] = (weft_form){.name = "elasticity",
                                .text = weft_fem_script("elasticity.weft"),
                                .action = "Kv",
                                .dofs = f->cells,
                                .inputs = out->inputs,
                                .n_inputs = 1,
                                .parameters = out->dimension,
                                .n_parameters = 1,
                                .expressions = out->young,
                                .n_expressions = 2,
                                .components = f->d};
    out->forms[1] = (weft_form){.name = "robin_component",
                                .text = weft_fem_script("robin_component.weft"),
                                .dofs = f->facets,
                                .inputs = out->inputs,
                                .n_inputs = 2,
                                .parameters = out->robin,
                                .n_parameters = 3,
                                .expressions = out->alpha,
                                .n_expressions = 1,
                                .components = f->d};
}

static weft_memory *vector(const fixture *f, int64_t n) {
    weft_memory *made = NULL;
    assert_int_equal(weft_memory_make(f->device, (size_t)n * sizeof(double), &made, NULL), WEFT_OK);
    return made;
}

static void check_product(const fixture *f, weft_operator *op, const double *A) {
    const int64_t n = f->n * f->d;
    weft_memory *v = vector(f, n), *y = vector(f, n);
    double *values = weft_memory_host(v), *found = weft_memory_host(y), most = 0;
    uint64_t state = 7;
    assert_int_equal(weft_operator_dofs(op), n);
    for (int64_t i = 0; i < n; ++i)
        values[i] = fixture_random(&state) - 0.5;
    for (int64_t i = 0; i < n * n; ++i)
        most = fmax(most, fabs(A[i]));
    for (int iteration = 0; iteration < 2; ++iteration) {
        assert_int_equal(weft_operator_apply(op, v, y, NULL), WEFT_OK);
        for (int64_t i = 0; i < n; ++i) {
            double expected = 0;
            for (int64_t j = 0; j < n; ++j)
                expected += A[i * n + j] * values[j];
            assert_double_near(found[i], expected, 0, tolerance * most);
        }
    }
    assert_int_equal(weft_operator_diagonal(op, y, NULL), WEFT_OK);
    for (int64_t i = 0; i < n; ++i)
        assert_double_near(found[i], A[i * n + i], tolerance, 0);
    weft_memory_free(&v);
    weft_memory_free(&y);
}

/* Elimination without pivots of what is free: the matrix is positive definite. */
static void eliminate(int64_t n, double *A, double *b) {
    for (int64_t k = 0; k < n; ++k)
        for (int64_t i = k + 1; i < n; ++i) {
            const double factor = A[i * n + k] / A[k * n + k];
            for (int64_t j = k; factor != 0 && j < n; ++j)
                A[i * n + j] -= factor * A[k * n + j];
            b[i] -= factor * b[k];
        }
    for (int64_t i = n; i-- > 0;) {
        for (int64_t j = i + 1; j < n; ++j)
            b[i] -= A[i * n + j] * b[j];
        b[i] /= A[i * n + i];
    }
}

/* One component is given at every fourth node; the others follow from a load. */
static void check_solution(fixture *f, weft_operator *op, const double *A) {
    const int64_t n = f->n * f->d;
    weft_memory *x = vector(f, n), *b = vector(f, n);
    double *u = weft_memory_host(x), *load = weft_memory_host(b);
    double *dense = malloc((size_t)(n * n) * sizeof *dense),
           *expected = calloc((size_t)n, sizeof *expected);
    int32_t *constrained = calloc((size_t)n, sizeof *constrained);
    int n_constrained = 0;
    uint64_t state = 3;
    for (int64_t i = 0; i < n; ++i)
        load[i] = expected[i] = fixture_random(&state) - 0.5;
    memcpy(dense, A, (size_t)(n * n) * sizeof *dense);
    for (int64_t i = 0; i < f->n; i += 4) {
        const int64_t dof = i * f->d + i / 4 % f->d;
        constrained[n_constrained++] = (int32_t)dof;
        u[dof] = 0.25;
        for (int64_t j = 0; j < n; ++j) {
            expected[j] -= 0.25 * A[j * n + dof];
            dense[dof * n + j] = dense[j * n + dof] = 0;
        }
        dense[dof * n + dof] = 1;
    }
    for (int k = 0; k < n_constrained; ++k)
        expected[constrained[k]] = 0.25;
    eliminate(n, dense, expected);
    const weft_cg_options options = {.size = sizeof options,
                                     .jacobi = true,
                                     .tolerance = 1e-12,
                                     .max_iterations = 2000,
                                     .constrained = constrained,
                                     .n_constrained = n_constrained};
    weft_cg_result result = {0};
    assert_int_equal(weft_cg_solve(&f->context, op, b, x, &options, &result, NULL), WEFT_OK);
    assert_int_equal(result.outcome, WEFT_CG_CONVERGED);
    for (int64_t i = 0; i < n; ++i)
        assert_double_near(u[i], expected[i], 1e-9, 1e-9);
    free(result.history);
    free(constrained);
    free(dense);
    free(expected);
    weft_memory_free(&x);
    weft_memory_free(&b);
}

static void check(int d, weft_plan_kind plan) {
    fixture f = fixture_make("host:2", d, d == 2 ? 5 : 2, plan);
    const int64_t n = f.n * d;
    double *A = calloc((size_t)(n * n), sizeof *A), difference = 1;
    system_of system;
    reference_elasticity(&f, A);
    reference_springs(&f, d - 1, A);
    forms_make(&f, d - 1, &system);
    assert_int_equal(weft_form_asymmetry(&f.context, &system.forms[0], &difference, NULL), WEFT_OK);
    assert_true(difference < 1e-13);
    for (size_t a = 0; a < 5; ++a) {
        weft_operator *op = NULL;
        weft_error error = {0};
        if (weft_operator_make(&f.context, assemblies[a], system.forms, 2, &op, &error) != WEFT_OK)
            fail_msg("%s: %s", weft_assembly_name(assemblies[a]), error.message);
        for (int iteration = 0; iteration < 2; ++iteration) { /* the second: not twice as much */
            assert_int_equal(weft_operator_assemble(op, &error), WEFT_OK);
            check_product(&f, op, A);
        }
        check_solution(&f, op, A);
        weft_operator_free(&op);
    }
    free(A);
    fixture_free(&f);
}

static void elasticity_in_2d(void **state) {
    (void)state;
    check(2, WEFT_PLAN_FUSED);
}

static void elasticity_in_3d(void **state) {
    (void)state;
    check(3, WEFT_PLAN_FUSED);
}

static void unfused_plans_agree(void **state) {
    (void)state;
    check(2, WEFT_PLAN_UNFUSED);
}

static void components_must_agree(void **state) {
    (void)state;
    fixture f = fixture_make("host", 2, 2, WEFT_PLAN_FUSED);
    weft_operator *op = NULL;
    weft_error error = {0};
    system_of system;
    forms_make(&f, 0, &system);
    system.forms[1].components = 0;
    assert_int_equal(
        weft_operator_make(&f.context, WEFT_ASSEMBLY_LMA, system.forms, 2, &op, &error),
        WEFT_ERROR_SHAPE);
    assert_string_equal(
        error.message, "the forms elasticity and robin_component have 2 and 1 components per node");
    fixture_free(&f);
}

/* |K - K^T| of a matrix that is known: K = [[0, 1], [0, 0]] over facets of two nodes. */
static void asymmetry_is_measured(void **state) {
    (void)state;
    fixture f = fixture_make("host", 2, 2, WEFT_PLAN_FUSED);
    const weft_form form = {.name = "skew",
                            .text = "index cells, nodes;\n"
                                    "connectivity dofs : cells -> nodes[2];\n"
                                    "input x : real[2] over nodes;\n"
                                    "K = outer(0*x[dofs][0] + 1, 0*x[dofs][1] + 1);\n"
                                    "L = K;\n",
                            .dofs = f.facets,
                            .inputs = (const weft_form_input[]){{"x", f.x}},
                            .n_inputs = 1};
    double difference = 1;
    weft_error error = {0};
    if (weft_form_asymmetry(&f.context, &form, &difference, &error) != WEFT_OK)
        fail_msg("%s", error.message);
    assert_true(difference == 0); /* all ones */
    weft_form skew = form;
    skew.text = "index cells, nodes;\n"
                "connectivity dofs : cells -> nodes[2];\n"
                "input x : real[2] over nodes;\n"
                "e = 0*x[dofs][0];\n"
                "K = outer(e + 1, x[dofs][1]);\n"; /* rows (x, y): |K - K^T| = sqrt 2 |x - y| */
    assert_int_equal(weft_form_asymmetry(&f.context, &skew, &difference, &error), WEFT_OK);
    double expected = 0;
    for (int64_t i = 0; i < f.n_facets; ++i) {
        const double *p = f.mesh->x + 2 * f.facet_nodes[2 * i + 1];
        if (hypot(p[0], p[1]) > 0)
            expected = fmax(expected, fabs(p[0] - p[1]) / hypot(p[0], p[1]));
    }
    assert_double_near(difference, expected, 1e-13, 0);
    fixture_free(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elasticity_in_2d),      cmocka_unit_test(elasticity_in_3d),
        cmocka_unit_test(unfused_plans_agree),   cmocka_unit_test(components_must_agree),
        cmocka_unit_test(asymmetry_is_measured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
