/* labels: quick */
/* The polynomial preconditioner and the bound of eigenvalues, against the eigenvectors of -u'' on a
 * line, which are known: sin(k pi (i + 1) / (n + 1)) with 2 - 2 cos(k pi / (n + 1)). */
#include "core/weft_core.h"
#include "fem/precondition/precondition.h"
#include "fem/weft_fem.h"
#include "fusion/weft_library.h"
#include "test_support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static weft_library *library;

typedef struct line {
    weft_device *device;
    weft_context context;
    weft_operator op;
    weft_memory *r, *z;
    double *r_values, *z_values;
    double scale; /* of the operator */
} line;

/* scale (-u''), the constrained dofs among the others */
static weft_status line_apply(weft_operator *op, weft_memory *v, weft_memory *y,
                              weft_error *error) {
    (void)error;
    const double *in = weft_memory_host(v), scale = *(double *)op->state;
    double *out = weft_memory_host(y);
    for (int64_t i = 0; i < op->n_dofs; ++i)
        out[i] = scale * (2 * in[i] - (i ? in[i - 1] : 0) - (i + 1 < op->n_dofs ? in[i + 1] : 0));
    return WEFT_OK;
}

static weft_status line_diagonal(weft_operator *op, weft_memory *d, weft_error *error) {
    (void)error;
    double *out = weft_memory_host(d);
    for (int64_t i = 0; i < op->n_dofs; ++i)
        out[i] = 2 * *(double *)op->state;
    return WEFT_OK;
}

static const weft_operator_table line_table = {.apply = line_apply, .diagonal = line_diagonal};

static void line_make(line *l, int64_t n, double scale) {
    weft_device_options options = weft_device_options_default(NULL);
    *l = (line){.scale = scale};
    assert_int_equal(weft_device_open("host:1", &options, &l->device, NULL), WEFT_OK);
    l->context = (weft_context){.device = l->device, .library = library};
    l->op = (weft_operator){.table = &line_table, .state = &l->scale, .n_dofs = n};
    assert_int_equal(weft_vector_make(l->device, n, &l->r_values, &l->r, NULL), WEFT_OK);
    assert_int_equal(weft_vector_make(l->device, n, &l->z_values, &l->z, NULL), WEFT_OK);
}

static void line_free(line *l) {
    weft_memory_free(&l->r);
    weft_memory_free(&l->z);
    free(l->r_values);
    free(l->z_values);
    weft_device_free(&l->device);
}

static weft_preconditioner *make(line *l, const weft_preconditioner_problem *problem) {
    int kind = -1;
    weft_preconditioner *out = NULL;
    weft_error error = {0};
    assert_int_equal(weft_preconditioner_find("chebyshev", &kind, &error), WEFT_OK);
    const weft_status status = weft_preconditioner_make(&l->context, kind, problem, &out, &error);
    if (status != WEFT_OK)
        print_error("%s\n", error.message);
    assert_int_equal(status, WEFT_OK);
    return out;
}

/* The factor of the error that remains after the smoothing from zero, for an eigenvalue mu of
 * D^-1 A: the recurrence of Lottes 2022, equation 18, for one number. */
static double remainder_of(int degree, const double *weights, double mu, double lambda) {
    double residual = 1, step = 4.0 / 3 / lambda, x = weights[0] * step;
    for (int m = 1; m < degree; ++m) {
        residual -= mu * step;
        step = (2.0 * m - 1) / (2 * m + 3) * step + (8.0 * m + 4) / (2 * m + 3) / lambda * residual;
        x += weights[m] * step;
    }
    return 1 - mu * x;
}

static void acts_as_the_polynomial(void **state) {
    (void)state;
    const int64_t n = 50;
    for (int degree = 1; degree <= WEFT_CHEBYSHEV_DEGREE_MAX; ++degree) {
        line l;
        line_make(&l, n, 3);
        const weft_preconditioner_problem problem = {.op = &l.op, .degree = degree};
        weft_preconditioner *m = make(&l, &problem);
        const double lambda = weft_preconditioner_reported(m)->levels[0].lambda;
        const double largest = 1 + cos(M_PI / (double)(n + 1));
        assert_true(lambda >= largest && lambda <= 1.1 * largest);
        double weights[WEFT_CHEBYSHEV_DEGREE_MAX];
        for (int i = 0; i < degree; ++i)
            weights[i] = weft_chebyshev_weight(degree, i + 1);
        for (int k = 1; k <= n; k += 7) {
            const double angle = k * M_PI / (double)(n + 1);
            const double mu = 1 - cos(angle), of_a = 6 * mu;
            for (int64_t i = 0; i < n; ++i)
                l.r_values[i] = sin(angle * (double)(i + 1));
            weft_vector_push(l.r, l.r_values, n, NULL);
            assert_int_equal(weft_preconditioner_apply(m, l.r, l.z, NULL), WEFT_OK);
            weft_vector_pull(l.z, l.z_values, n, NULL);
            const double factor = (1 - remainder_of(degree, weights, mu, lambda)) / of_a;
            for (int64_t i = 0; i < n; ++i)
                assert_double_near(l.z_values[i], factor * l.r_values[i], 0, 1e-12);
        }
        weft_preconditioner_free(&m);
        line_free(&l);
    }
}

/* The bound of a V-cycle's rate grows with sup mu p(mu)^2 / (1 - p(mu)^2) (Lottes 2022, 3): no
 * change of a weight makes it smaller. */
static double bound(int degree, const double *weights) {
    double most = 0;
    for (int i = 0; i <= 20000; ++i) {
        const double mu = fmax(i / 20000.0, 1e-6), p = remainder_of(degree, weights, mu, 1);
        if (p * p >= 1)
            return INFINITY;
        most = fmax(most, mu * p * p / (1 - p * p));
    }
    return most;
}

static void weights_are_optimal(void **state) {
    (void)state;
    for (int degree = 1; degree <= WEFT_CHEBYSHEV_DEGREE_MAX; ++degree) {
        double weights[WEFT_CHEBYSHEV_DEGREE_MAX];
        double plain[] = {1, 1, 1, 1, 1, 1};
        for (int i = 0; i < degree; ++i)
            weights[i] = weft_chebyshev_weight(degree, i + 1);
        const double best = bound(degree, weights);
        assert_true(best < 0.95 * bound(degree, plain));
        for (int i = 0; i < degree; ++i)
            for (int sign = -1; sign <= 1; sign += 2) {
                double changed[WEFT_CHEBYSHEV_DEGREE_MAX];
                memcpy(changed, weights, sizeof changed);
                changed[i] += sign * 0.01;
                assert_true(bound(degree, changed) > best);
            }
    }
}

/* With it, conjugate gradients need fewer iterations and end at the same solution. */
static void conjugate_gradients_use_it(void **state) {
    (void)state;
    const int64_t n = 2000;
    const int32_t given[] = {0, 700, 1999};
    int iterations[2] = {0};
    for (int i = 0; i < 2; ++i) {
        line l;
        line_make(&l, n, 1);
        weft_cg_result result = {0};
        const weft_preconditioner_problem problem = {
            .op = &l.op, .constrained = given, .n_constrained = 3, .degree = 4};
        weft_preconditioner *m = i ? make(&l, &problem) : NULL;
        for (int64_t j = 0; j < n; ++j)
            l.r_values[j] = 1e-3;
        l.z_values[0] = 2;
        l.z_values[700] = -1;
        l.z_values[1999] = 5;
        weft_vector_push(l.r, l.r_values, n, NULL);
        weft_vector_push(l.z, l.z_values, n, NULL);
        const weft_cg_options options = {.size = sizeof options,
                                         .jacobi = true,
                                         .tolerance = 1e-12,
                                         .max_iterations = 10000,
                                         .constrained = given,
                                         .n_constrained = 3,
                                         .preconditioner = m};
        weft_error error = {0};
        assert_int_equal(weft_cg_solve(&l.context, &l.op, l.r, l.z, &options, &result, &error),
                         WEFT_OK);
        assert_int_equal(result.outcome, WEFT_CG_CONVERGED);
        weft_vector_pull(l.z, l.z_values, n, NULL);
        for (int64_t j = 0; j < 700; ++j) { /* -u'' = c between the given values: a parabola */
            const double x = (double)j, exact = 2 - 3 * x / 700 + 0.5e-3 * x * (700 - x);
            assert_double_near(l.z_values[j], exact, 1e-7, 1e-7);
        }
        iterations[i] = result.iterations;
        free(result.history);
        weft_preconditioner_free(&m);
        line_free(&l);
    }
    assert_true(3 * iterations[1] < iterations[0]);
}

static void what_is_not_positive_is_refused(void **state) {
    (void)state;
    weft_preconditioner *out = NULL;
    weft_error error = {0};
    line l;
    line_make(&l, 10, -1);
    weft_preconditioner_problem problem = {.op = &l.op};
    assert_int_equal(weft_preconditioner_make(&l.context, 0, &problem, &out, &error),
                     WEFT_ERROR_UNSUPPORTED);
    assert_non_null(strstr(error.message, "diagonal entry of dof 0 is -2"));
    l.scale = 1;
    problem.degree = 7;
    assert_int_equal(weft_preconditioner_make(&l.context, 0, &problem, &out, &error),
                     WEFT_ERROR_USAGE);
    assert_null(out);
    line_free(&l);
}

static int open_library(void **state) {
    (void)state;
    return (int)weft_fem_library_make(&library, NULL);
}

static int close_library(void **state) {
    (void)state;
    weft_library_free(&library);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(acts_as_the_polynomial),
        cmocka_unit_test(weights_are_optimal),
        cmocka_unit_test(conjugate_gradients_use_it),
        cmocka_unit_test(what_is_not_positive_is_refused),
    };
    return cmocka_run_group_tests(tests, open_library, close_library);
}
