/* labels: quick */
/* When conjugate gradients end, on chains of springs, whose solutions are sums: node i is held to
 * node i - 1 by the spring k_i, node 0 stands still, and f pulls at every other node, so that
 *
 *     x_i = x_(i-1) + f (n - i) / k_i.
 *
 * Springs that jump by 1e8, units of 1e-12 and 1e+12, chains that hardly hang on anything. What is
 * reported as converged must be right, after however many iterations it is reported. */
#include "core/weft_core.h"
#include "fem/operator/operator.h"
#include "fem/solve/private.h"
#include "fem/weft_fem.h"
#include "fusion/weft_library.h"
#include "test_support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static weft_library *library;

typedef struct chain {
    const double *k; /* [n + 1]: spring i between nodes i - 1 and i; 0 and n are to the ground */
} chain;

static weft_status chain_apply(weft_operator *op, weft_memory *v, weft_memory *y,
                               weft_error *error) {
    (void)error;
    const double *k = ((const chain *)op->state)->k, *in = weft_memory_host(v);
    double *out = weft_memory_host(y);
    const int64_t n = op->n_dofs;
    for (int64_t i = 0; i < n; ++i)
        out[i] =
            k[i] * (in[i] - (i ? in[i - 1] : 0)) - k[i + 1] * ((i + 1 < n ? in[i + 1] : 0) - in[i]);
    return WEFT_OK;
}

static weft_status chain_diagonal(weft_operator *op, weft_memory *d, weft_error *error) {
    (void)error;
    const double *k = ((const chain *)op->state)->k;
    double *out = weft_memory_host(d);
    for (int64_t i = 0; i < op->n_dofs; ++i)
        out[i] = k[i] + k[i + 1];
    return WEFT_OK;
}

static const weft_operator_table chain_table = {.apply = chain_apply, .diagonal = chain_diagonal};

/* Node 0 stays at x0; f at the others. */
typedef struct problem {
    int64_t n;
    double *k, *x, *exact;
    double f, x0;
    bool free_start; /* node 0 hangs on spring 0 */
} problem;

static problem problem_make(int64_t n, double (*stiffness)(int64_t i, int64_t n), double unit,
                            double f, double x0) {
    problem p = {.n = n, .f = f, .x0 = x0};
    p.k = calloc((size_t)n + 1, sizeof *p.k);
    p.x = calloc((size_t)n, sizeof *p.x);
    p.exact = calloc((size_t)n, sizeof *p.exact);
    p.exact[0] = x0;
    for (int64_t i = 1; i < n; ++i) {
        p.k[i] = unit * stiffness(i, n);
        p.exact[i] = p.exact[i - 1] + f * (double)(n - i) / p.k[i];
    }
    return p;
}

static void problem_free(problem *p) {
    free(p->k);
    free(p->x);
    free(p->exact);
}

static weft_cg_result solve(problem *p, weft_cg_options options) {
    static const int32_t first[] = {0};
    weft_cg_result result = {0};
    weft_device *device = NULL;
    weft_memory *b = NULL, *x = NULL;
    weft_error error = {0};
    const size_t bytes = (size_t)p->n * sizeof(double);
    const weft_device_options device_options = weft_device_options_default(NULL);
    chain state = {p->k};
    weft_operator op = {.table = &chain_table, .state = &state, .n_dofs = p->n};
    options.constrained = first;
    options.n_constrained = p->free_start ? 0 : 1;
    assert_int_equal(weft_device_open("host:1", &device_options, &device, NULL), WEFT_OK);
    weft_context context = {.device = device, .library = library};
    assert_int_equal(weft_memory_make(device, bytes, &b, NULL), WEFT_OK);
    assert_int_equal(weft_memory_make(device, bytes, &x, NULL), WEFT_OK);
    for (int64_t i = 0; i < p->n; ++i)
        ((double *)weft_memory_host(b))[i] = p->f;
    ((double *)weft_memory_host(x))[0] = p->x0;
    const weft_status status = weft_cg_solve(&context, &op, b, x, &options, &result, &error);
    if (status != WEFT_OK)
        print_error("%s\n", error.message);
    assert_int_equal(status, WEFT_OK);
    memcpy(p->x, weft_memory_host(x), bytes);
    weft_memory_free(&b);
    weft_memory_free(&x);
    weft_device_free(&device);
    free(result.history);
    result.history = NULL;
    return result;
}

/* Against the largest of what the forces move. */
static double apart(const problem *p) {
    double error = 0, size = 0;
    for (int64_t i = 0; i < p->n; ++i) {
        error = fmax(error, fabs(p->x[i] - p->exact[i]));
        size = fmax(size, fabs(p->exact[i] - p->x0));
    }
    return error / size;
}

static double same(int64_t i, int64_t n) {
    (void)i;
    (void)n;
    return 1;
}

static double soft_then_stiff(int64_t i, int64_t n) {
    return i < n / 2 ? 1 : 1e8;
}

static double stiff_then_soft(int64_t i, int64_t n) {
    return i < n / 2 ? 1e8 : 1;
}

static double mixed(int64_t i, int64_t n) {
    (void)n;
    return pow(10, 6 * sin((double)(i * i)));
}

static const struct {
    const char *name;
    double (*stiffness)(int64_t, int64_t);
    double x0;
} cases[] = {
    {"one spring for all", same, 0},          {"one, held away", same, 1000},
    {"soft, then stiff", soft_then_stiff, 0}, {"soft and held away", soft_then_stiff, 1},
    {"stiff, then soft", stiff_then_soft, 0}, {"stiff and held away", stiff_then_soft, 1},
    {"twelve decades mixed", mixed, 0},
};
enum { CASES = sizeof cases / sizeof *cases };

/* The default tolerance leaves five digits, whatever the units; smaller ones are met, or reported
 * as met to rounding, with the residual that x has. */
static void solutions_are_right_in_any_unit(void **state) {
    static const double units[] = {1e-12, 1, 1e12}, tolerances[] = {1e-8, 1e-14, 0};
    (void)state;
    for (int c = 0; c < CASES; ++c)
        for (int u = 0; u < 3; ++u)
            for (int t = 0; t < 3; ++t) {
                const double k = units[u], f = k / 100;
                problem p = problem_make(100, cases[c].stiffness, k, f, cases[c].x0);
                const weft_cg_options options = {.size = sizeof options,
                                                 .jacobi = true,
                                                 .tolerance = tolerances[t],
                                                 .max_iterations = 100000};
                const weft_cg_result result = solve(&p, options);
                if (result.outcome != WEFT_CG_CONVERGED || !(apart(&p) < 1e-5))
                    fail_msg("%s, unit %g, tolerance %g: %s, residual %g, error %g", cases[c].name,
                             k, tolerances[t], weft_cg_outcome_name(result.outcome),
                             result.residual, apart(&p));
                assert_true(result.to_rounding || result.residual <= tolerances[t]);
                assert_true(!result.to_rounding || result.backward_error < 1e-13);
                problem_free(&p);
            }
}

/* However few iterations are allowed: only right answers are called converged. */
static void nothing_is_accepted_early(void **state) {
    (void)state;
    for (int c = 0; c < CASES; ++c) {
        problem p = problem_make(40, cases[c].stiffness, 1, 0.01, cases[c].x0);
        int accepted = 0;
        for (int most = 0; most < 300; most += 1 + most / 20) {
            const weft_cg_options options = {
                .size = sizeof options, .jacobi = true, .tolerance = 1e-8, .max_iterations = most};
            const weft_cg_result result = solve(&p, options);
            accepted += result.outcome == WEFT_CG_CONVERGED;
            if (result.outcome == WEFT_CG_CONVERGED && !(apart(&p) < 1e-5))
                fail_msg("%s: converged after %d iterations with an error of %g", cases[c].name,
                         result.iterations, apart(&p));
            if (result.outcome != WEFT_CG_CONVERGED && result.outcome != WEFT_CG_MAX_ITERATIONS)
                fail_msg("%s: %s after %d of %d iterations, residual %g, error %g", cases[c].name,
                         weft_cg_outcome_name(result.outcome), result.iterations, most,
                         result.residual, apart(&p));
        }
        assert_true(accepted > 3 && accepted < 45);
        problem_free(&p);
    }
}

/* No double-precision solver meets 1e-18 here: rounding decides, soon, and the reported residual is
 * that of the x that is handed back. */
static void a_tolerance_out_of_reach_ends_at_rounding(void **state) {
    (void)state;
    problem p = problem_make(500, same, 1, 1, 0);
    const weft_cg_options options = {
        .size = sizeof options, .jacobi = true, .tolerance = 1e-18, .max_iterations = 1000000};
    const weft_cg_result result = solve(&p, options);
    assert_int_equal(result.outcome, WEFT_CG_CONVERGED);
    assert_true(result.to_rounding && result.iterations < 5000);
    assert_true(result.residual > 1e-18 && result.residual < 1e-9);
    double square = 0;
    for (int64_t i = 1; i < p.n; ++i) {
        const double r = 1 - (p.x[i] - p.x[i - 1]) + (i + 1 < p.n ? p.x[i + 1] - p.x[i] : 0);
        square += r * r;
    }
    assert_double_near(sqrt(square / (double)(p.n - 1)), result.residual, 0.5, 0);
    assert_true(apart(&p) < 1e-9);
    problem_free(&p);
}

/* A chain on a spring of 1e-15: x is so large that rounding swamps the forces. That has a backward
 * error of rounding's size too, and no right digit. */
static void nearly_singular_systems_are_refused(void **state) {
    (void)state;
    problem p = problem_make(100, same, 1, 1, 0);
    p.k[0] = 1e-15;
    p.free_start = true;
    const weft_cg_options options = {
        .size = sizeof options, .jacobi = true, .tolerance = 1e-8, .max_iterations = 100000};
    const weft_cg_result result = solve(&p, options);
    assert_int_not_equal(result.outcome, WEFT_CG_CONVERGED);
    assert_false(result.to_rounding);
    assert_true(result.residual > 1e-6);
    problem_free(&p);
}

/* ---- progress ------------------------------------------------------------------------------ */

typedef struct heard {
    int calls, with_number;
    double last_expected;
} heard;

static void listen(void *user, const char *phase, double done, double total) {
    heard *h = user;
    int iteration = 0;
    double expected = 0;
    assert_true(done <= total);
    h->calls += 1;
    if (sscanf(phase, "solve, iteration %d of about %lf", &iteration, &expected) == 2) {
        assert_true(expected > iteration);
        h->with_number += 1;
        h->last_expected = expected;
    }
}

/* The expected number is reported, and is right for a geometric series. */
static void the_expected_number_is_used(void **state) {
    (void)state;
    double history[101];
    for (int i = 0; i <= 100; ++i)
        history[i] = pow(0.9, i);
    /* 0.9^k = 1e-8 at k = 174.8 */
    assert_in_range(weft_cg_iterations_remaining(history, 100, 1e-8), 73, 76);
    assert_int_equal(weft_cg_iterations_remaining(history, 0, 1e-8), 0);
    assert_int_equal(weft_cg_iterations_remaining(history, 100, 1e-4), 0); /* is below it */
    for (int i = 50; i <= 100; ++i)
        history[i] = history[50];
    assert_int_equal(weft_cg_iterations_remaining(history, 100, 1e-8), 0); /* at a stand */
    heard h = {0};
    const weft_monitor monitor = {.progress = listen, .user = &h};
    problem p = problem_make(2000, mixed, 1, 1, 0);
    const weft_cg_options options = {.size = sizeof options,
                                     .jacobi = true,
                                     .tolerance = 1e-8,
                                     .max_iterations = 500,
                                     .monitor = &monitor};
    (void)solve(&p, options);
    assert_true(h.calls > 3);
    problem_free(&p);
}

static void the_limit_grows_with_the_mesh(void **state) {
    (void)state;
    assert_int_equal(weft_cg_iterations_limit(2, 1000, 1e-8), 10000);
    assert_true(weft_cg_iterations_limit(2, 1000 * 1000, 1e-8) > 100000);
    assert_true(weft_cg_iterations_limit(2, 9000000, 1e-8) >
                2 * weft_cg_iterations_limit(2, 1000000, 1e-8));
    assert_true(weft_cg_iterations_limit(3, 1000000, 1e-8) <
                weft_cg_iterations_limit(2, 1000000, 1e-8));
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
        cmocka_unit_test(solutions_are_right_in_any_unit),
        cmocka_unit_test(nothing_is_accepted_early),
        cmocka_unit_test(a_tolerance_out_of_reach_ends_at_rounding),
        cmocka_unit_test(nearly_singular_systems_are_refused),
        cmocka_unit_test(the_expected_number_is_used),
        cmocka_unit_test(the_limit_grows_with_the_mesh),
    };
    return cmocka_run_group_tests(tests, open_library, close_library);
}
