/* labels: quick */
/* Solvers of hypre, PETSc, CHOLMOD, UMFPACK and MUMPS: their solutions are those of Weft's CG, and their
 * preconditioners are symmetric and positive, so that CG may use them.
 *
 * CG and the libraries reduce the residual by 1e-13. The condition numbers here are below 1e3, so
 * that solutions agree to 1e-10 of their norm. */
#include "external_support.h"

#include <signal.h>

static const double tolerance = 1e-13, allowed = 1e-10;

static double dot(const double *v, const double *w, int64_t n) {
    double sum = 0;
    for (int64_t i = 0; i < n; ++i)
        sum += v[i] * w[i];
    return sum;
}

static double norm(const double *v, int64_t n) {
    return sqrt(dot(v, v, n));
}

static void assert_same(const double *v, const double *w, int64_t n) {
    double difference = 0;
    for (int64_t i = 0; i < n; ++i)
        difference += (v[i] - w[i]) * (v[i] - w[i]);
    assert_true(norm(w, n) > 0);
    assert_true(sqrt(difference) <= allowed * norm(w, n));
}

/* The solution by Weft's CG, free(). */
static double *reference(problem *p) {
    weft_memory *b = NULL, *x = NULL;
    weft_cg_result result = {0};
    weft_error error = {0};
    const size_t bytes = (size_t)p->n * sizeof(double);
    assert_int_equal(weft_memory_make(p->f.device, bytes, &b, NULL), WEFT_OK);
    assert_int_equal(weft_memory_make(p->f.device, bytes, &x, NULL), WEFT_OK);
    memcpy(weft_memory_host(b), p->b, bytes);
    memcpy(weft_memory_host(x), p->x, bytes);
    const weft_cg_options options = {.size = sizeof options,
                                     .jacobi = true,
                                     .tolerance = tolerance,
                                     .max_iterations = 10000,
                                     .constrained = p->matrix.constrained,
                                     .n_constrained = p->matrix.n_constrained,
                                     .project_mean = p->matrix.is_singular};
    if (weft_cg_solve(&p->f.context, p->op, b, x, &options, &result, &error) != WEFT_OK)
        fail_msg("%s", error.message);
    assert_int_equal(result.outcome, WEFT_CG_CONVERGED);
    free(result.history);
    double *solution = malloc(bytes);
    memcpy(solution, weft_memory_host(x), bytes);
    weft_memory_free(&b);
    weft_memory_free(&x);
    return solution;
}

/* y = A v at free dofs, 0 at constrained ones. */
static void product(const problem *p, const double *v, double *y) {
    const weft_pattern *pattern = p->matrix.pattern;
    for (int64_t i = 0; i < p->n; ++i) {
        y[i] = 0;
        for (int64_t e = pattern->row_start[i]; e < pattern->row_start[i + 1]; ++e)
            y[i] += p->matrix.values[e] * v[pattern->columns[e]];
    }
    for (int64_t i = 0; i < p->matrix.n_constrained; ++i)
        y[p->constrained[i]] = 0;
}

static void apply(weft_external *solver, const double *r, double *z) {
    weft_error error = {0};
    if (weft_external_apply(solver, r, z, &error) != WEFT_OK)
        fail_msg("%s", error.message);
}

/* CG with the library's preconditioner: the textbook's. x starts from p->x. Returns iterations. */
static int precondition_cg(const problem *p, weft_external *solver, double *x) {
    const int64_t n = p->n;
    double *r = calloc((size_t)n, sizeof *r), *z = calloc((size_t)n, sizeof *z);
    double *d = calloc((size_t)n, sizeof *d), *q = calloc((size_t)n, sizeof *q);
    memcpy(x, p->x, (size_t)n * sizeof *x);
    product(p, x, r);
    for (int64_t i = 0; i < n; ++i)
        r[i] = p->b[i] - r[i];
    for (int64_t i = 0; i < p->matrix.n_constrained; ++i)
        r[p->constrained[i]] = 0;
    const double size = norm(r, n);
    double rz = 0;
    int iterations = 0;
    for (; norm(r, n) > tolerance * size && iterations < 200; ++iterations) {
        apply(solver, r, z);
        const double before = rz;
        rz = dot(r, z, n);
        for (int64_t i = 0; i < n; ++i)
            d[i] = z[i] + (iterations ? rz / before : 0) * d[i];
        product(p, d, q);
        const double alpha = rz / dot(d, q, n);
        for (int64_t i = 0; i < n; ++i) {
            x[i] += alpha * d[i];
            r[i] -= alpha * q[i];
        }
    }
    free(r);
    free(z);
    free(d);
    free(q);
    return iterations;
}

/* The solution by the library alone, and by CG with its preconditioner. */
static void check_solutions(problem *p, weft_external *solver, int most_iterations) {
    weft_external_result result = {0};
    weft_error error = {0};
    double *wanted = reference(p), *x = malloc((size_t)p->n * sizeof *x);
    memcpy(x, p->x, (size_t)p->n * sizeof *x);
    if (weft_external_solve(solver, p->matrix.values, p->b, x, tolerance, 200, &result, &error) !=
        WEFT_OK)
        fail_msg("%s", error.message);
    assert_true(result.converged);
    assert_true(result.residual < 10 * tolerance);
    assert_true(result.iterations <= most_iterations);
    assert_same(x, wanted, p->n);
    const int iterations = precondition_cg(p, solver, x);
    if (iterations > most_iterations)
        fail_msg("%s: %d iterations", weft_external_description(solver), iterations);
    assert_same(x, wanted, p->n);
    free(wanted);
    free(x);
}

/* (M^-1 r).s = (M^-1 s).r and (M^-1 r).r > 0. */
static void check_symmetry(const problem *p, weft_external *solver) {
    const int64_t n = p->n;
    double *r = calloc((size_t)n, sizeof *r), *s = calloc((size_t)n, sizeof *s);
    double *zr = calloc((size_t)n, sizeof *zr), *zs = calloc((size_t)n, sizeof *zs);
    uint64_t state = 77;
    for (int64_t i = 0; i < n; ++i) {
        r[i] = fixture_random(&state) - 0.5;
        s[i] = fixture_random(&state) - 0.5;
    }
    for (int64_t i = 0; i < p->matrix.n_constrained; ++i)
        r[p->constrained[i]] = s[p->constrained[i]] = 0;
    apply(solver, r, zr);
    apply(solver, s, zs);
    assert_double_near(dot(zr, s, n), dot(zs, r, n), 0, 1e-11 * norm(zr, n) * norm(s, n));
    assert_true(dot(zr, r, n) > 0 && dot(zs, s, n) > 0);
    for (int64_t i = 0; i < p->matrix.n_constrained; ++i)
        assert_true(zr[p->constrained[i]] == 0);
    free(r);
    free(s);
    free(zr);
    free(zs);
}

typedef struct which {
    weft_external_kind kind;
    const char *method;
    int scalar, elastic; /* most iterations */
} which;

static void solutions_are_those_of_cg(void **state) {
    const which *w = *state;
    static const struct {
        const char *script;
        int d, cells_a_side, component;
    } cases[] = {{"poisson.weft", 2, 24, -1},
                 {"poisson.weft", 3, 8, -1},
                 {"elasticity.weft", 2, 12, -1},
                 {"elasticity.weft", 3, 4, -1}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        problem *p = problem_make(cases[i].script, cases[i].d, cases[i].cells_a_side);
        problem_constrain(p, "left", cases[i].component);
        weft_external *solver = external_make_with(w->kind, &p->matrix, w->method);
        check_solutions(p, solver, p->matrix.components > 1 ? w->elastic : w->scalar);
        check_symmetry(p, solver);
        weft_external_free(&solver);
        problem_free(&p);
    }
}

/* Nodes of which some components are constrained. A block that moves along one side is held against
 * rotation and shift across it by the matrix of a spring. */
static void constrained_components(void **state) {
    const which *w = *state;
    problem *p = problem_make("elasticity.weft", 2, 12);
    problem_constrain(p, "left", 0);
    const weft_pattern *pattern = p->matrix.pattern;
    double *values = weft_memory_host(weft_operator_values(p->op));
    for (int64_t i = 0; i < p->n; ++i)
        for (int64_t e = pattern->row_start[i]; e < pattern->row_start[i + 1]; ++e)
            if (pattern->columns[e] == i)
                values[e] += 0.1;
    weft_external *solver = external_make_with(w->kind, &p->matrix, w->method);
    check_solutions(p, solver, w->elastic);
    check_symmetry(p, solver);
    weft_external_free(&solver);
    problem_free(&p);
}

/* Other values: D A D with a diagonal matrix of entries between 1 and 2. */
static void updates(void **state) {
    const which *w = *state;
    problem *p = problem_make("poisson.weft", 2, 16);
    problem_constrain(p, "left", -1);
    weft_external *solver = external_make_with(w->kind, &p->matrix, w->method);
    const weft_pattern *pattern = p->matrix.pattern;
    double *values = weft_memory_host(weft_operator_values(p->op));
    for (int64_t i = 0; i < p->n; ++i)
        for (int64_t e = pattern->row_start[i]; e < pattern->row_start[i + 1]; ++e)
            values[e] *= (1.5 + 0.5 * sin((double)i)) * (1.5 + 0.5 * sin(pattern->columns[e]));
    weft_error error = {0};
    if (weft_external_update(solver, values, &error) != WEFT_OK)
        fail_msg("%s", error.message);
    check_solutions(p, solver, w->scalar);
    values[0] = values[pattern->row_start[p->n - 1]] = NAN;
    assert_int_equal(weft_external_update(solver, values, &error), WEFT_ERROR_INPUT);
    weft_external_free(&solver);
    problem_free(&p);
}

static void pure_neumann(void **state) {
    const which *w = *state;
    problem *p = problem_make("poisson.weft", 2, 16);
    p->matrix.is_singular = true;
    double mean = 0;
    for (int64_t i = 0; i < p->n; ++i)
        mean += p->b[i] / (double)p->n;
    for (int64_t i = 0; i < p->n; ++i)
        p->b[i] -= mean;
    weft_external *solver = external_make_with(w->kind, &p->matrix, w->method);
    check_solutions(p, solver, w->scalar);
    weft_external_free(&solver);
    problem_free(&p);
}

/* Several solvers at the same time, and again after the last one was freed. */
static void solvers_in_one_process(void **state) {
    (void)state;
    problem *p = problem_make("poisson.weft", 2, 16);
    problem_constrain(p, "left", -1);
    for (int round = 0; round < 2; ++round) {
        weft_external *hypre = external_make_with(WEFT_EXTERNAL_HYPRE, &p->matrix, NULL);
        weft_external *petsc = external_make_with(WEFT_EXTERNAL_PETSC, &p->matrix, NULL);
        weft_external *second = external_make_with(WEFT_EXTERNAL_PETSC, &p->matrix, "icc");
        weft_external *cholmod = external_make_with(WEFT_EXTERNAL_CHOLMOD, &p->matrix, NULL);
        check_solutions(p, hypre, 30);
        check_solutions(p, second, 100);
        check_solutions(p, petsc, 30);
        check_solutions(p, cholmod, 3);
        weft_external_free(&petsc);
        check_solutions(p, hypre, 30);
        check_solutions(p, second, 100);
        weft_external_free(&hypre);
        weft_external_free(&second);
        weft_external_free(&cholmod);
    }
    problem_free(&p);
}

static void signals_are_left_alone(void **state) {
    const which *w = *state;
    struct sigaction before[32], after;
    for (int i = 1; i < 32; ++i)
        sigaction(i, NULL, &before[i]);
    problem *p = problem_make("poisson.weft", 2, 4);
    problem_constrain(p, "left", -1);
    weft_external *solver = external_make_with(w->kind, &p->matrix, w->method);
    for (int i = 1; i < 32; ++i) {
        sigaction(i, NULL, &after);
        assert_true(before[i].sa_handler == after.sa_handler);
    }
    weft_external_free(&solver);
    problem_free(&p);
}

int main(void) {
    static which hypre = {WEFT_EXTERNAL_HYPRE, NULL, 30, 60};
    static which gamg = {WEFT_EXTERNAL_PETSC, "gamg", 30, 50};
    static which icc = {WEFT_EXTERNAL_PETSC, "icc", 80, 100};
    static which ilu = {WEFT_EXTERNAL_PETSC, "ilu", 80, 100};
    static which cholmod = {WEFT_EXTERNAL_CHOLMOD, NULL, 3, 3};
    static which umfpack = {WEFT_EXTERNAL_UMFPACK, NULL, 3, 3};
    static which mumps = {WEFT_EXTERNAL_MUMPS, NULL, 3, 3};
#define CASE(function, library)                                                                    \
    { #function " (" #library ")", function, NULL, NULL, &library }
    const struct CMUnitTest tests[] = {
        CASE(signals_are_left_alone, hypre),
        CASE(signals_are_left_alone, gamg),
        CASE(signals_are_left_alone, cholmod),
        CASE(signals_are_left_alone, umfpack),
        CASE(signals_are_left_alone, mumps),
        CASE(solutions_are_those_of_cg, hypre),
        CASE(solutions_are_those_of_cg, gamg),
        CASE(solutions_are_those_of_cg, icc),
        CASE(solutions_are_those_of_cg, ilu),
        CASE(solutions_are_those_of_cg, cholmod),
        CASE(solutions_are_those_of_cg, umfpack),
        CASE(solutions_are_those_of_cg, mumps),
        CASE(constrained_components, hypre),
        CASE(constrained_components, gamg),
        CASE(constrained_components, cholmod),
        CASE(constrained_components, umfpack),
        CASE(constrained_components, mumps),
        CASE(updates, hypre),
        CASE(updates, gamg),
        CASE(updates, icc),
        CASE(updates, cholmod),
        CASE(updates, umfpack),
        CASE(updates, mumps),
        CASE(pure_neumann, hypre),
        CASE(pure_neumann, gamg),
        CASE(pure_neumann, cholmod),
        CASE(pure_neumann, umfpack),
        CASE(pure_neumann, mumps),
        cmocka_unit_test(solvers_in_one_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
