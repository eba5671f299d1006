/* labels: full */
/* --until discretisation on manufactured solutions, at several sizes: the errors are those of the
 * converged solution, up to the 0.3 of the discretisation error that the solver may leave, with two
 * V-cycles on the finest level at every size; the estimate of the discretisation error is that of the
 * exact solution within a third. The energy norm is the H1 seminorm where the diffusivity is 1. */
#include "poisson_run.h"

#include <math.h>

/* L2: the errors may add up. H1: they are orthogonal, 1.044 at most. */
static const double L2_FACTOR = 1.3, H1_FACTOR = 1.05, ESTIMATE = 1.34;

typedef struct study {
    const char *mesh, *source, *diffusivity, *condition, *value, *exact;
    int first, last; /* refinements */
} study;

#define SINES "sin(pi*x)*sin(pi*y)"
static const study studies[] = {
    {"square:3", "2*pi^2*" SINES, "1", "--dirichlet", "boundary=0", SINES, 3, 6},
    {"square:3", "0", "1", "--dirichlet", "boundary=exp(x)*cos(y)", "exp(x)*cos(y)", 3, 6},
    {"square:3", "2*pi^2*(1+x)*" SINES "-pi*cos(pi*x)*sin(pi*y)", "1+x", "--dirichlet",
     "boundary=0", SINES, 3, 5},
    {"square:3", "2*pi^2*cos(pi*x)*cos(pi*y)", "1", "--neumann", "boundary=0",
     "cos(pi*x)*cos(pi*y)", 3, 5},
    {"cube:3", "3*pi^2*sin(pi*x)*sin(pi*y)*sin(pi*z)", "1", "--dirichlet", "boundary=0",
     "sin(pi*x)*sin(pi*y)*sin(pi*z)", 2, 3},
    {"cube:3", "0", "1", "--dirichlet", "boundary=exp(x)*cos(y)", "exp(x)*cos(y)", 2, 3},
};

static json_t *solve_study(const study *s, int times, const char *until) {
    char refine[8], condition[80];
    (void)snprintf(refine, sizeof refine, "%d", times);
    (void)snprintf(condition, sizeof condition, "%s", s->value);
    return POISSON(0, "--mesh", s->mesh, "--refine", refine, "--source", s->source, "--diffusivity",
                   s->diffusivity, s->condition, condition, "--exact", s->exact, "--preconditioner",
                   "multigrid", "--until", until);
}

static void test_errors(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof studies / sizeof *studies; ++i)
        for (int times = studies[i].first; times <= studies[i].last; ++times) {
            json_t *full = solve_study(&studies[i], times, "discretisation");
            json_t *converged = solve_study(&studies[i], times, "tolerance");
            const double l2 = app_number(full, "l2_error") / app_number(converged, "l2_error");
            const double h1 = app_number(full, "h1_error") / app_number(converged, "h1_error");
            const double estimate =
                app_number(full, "discretisation_error") / app_number(converged, "h1_error");
            if (!(l2 <= L2_FACTOR) || !(h1 <= H1_FACTOR))
                fail_msg("study %zu, %d refinements: L2 error %g times, H1 %g times", i, times, l2,
                         h1);
            if (strcmp(studies[i].diffusivity, "1") == 0 && fabs(log(estimate)) > log(ESTIMATE))
                fail_msg("study %zu, %d refinements: estimated %g times the error", i, times,
                         estimate);
            assert_true(app_number(full, "algebraic_error") <=
                        0.3 * app_number(full, "discretisation_error"));
            assert_int_equal(2, json_integer_value(json_object_get(full, "iterations")));
            json_decref(full);
            json_decref(converged);
        }
}

/* Without levels there is nothing to estimate from; other methods have no full multigrid. */
static void test_refused(void **state) {
    (void)state;
    static const char poisson[] = WEFT_BINARY_DIR "/poisson";
    static const struct {
        const char *const arguments[8], *message;
    } refused[] = {
        {{poisson, "--mesh=square:3", "--until=discretisation"},
         "poisson: error: multigrid needs a mesh that was refined, with its levels\n"
         "hint: use --refine, or --preconditioner aggregation\n"},
        {{poisson, "--mesh=square:8", "--until=discretisation", "--method=minres"},
         "--until: error: full multigrid needs a symmetric matrix, and multigrid as the "
         "preconditioner\nhint: leave out --until, or --method and --preconditioner\n"},
        {{poisson, "--mesh=square:8", "--until=discretisation", "--preconditioner=jacobi"},
         "--until: error: full multigrid needs a symmetric matrix, and multigrid as the "
         "preconditioner\nhint: leave out --until, or --method and --preconditioner\n"}};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; ++i) {
        test_run run = test_program(refused[i].arguments, NULL);
        assert_int_equal(run.exit_code, 2);
        assert_string_equal(run.error, refused[i].message);
        test_run_free(&run);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_errors),
                                       cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
