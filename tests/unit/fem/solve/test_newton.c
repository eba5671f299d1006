/* labels: quick */
/* Newton's method on equations that are independent of each other, whose solutions are known: steps are halved where
 * the full one does not reduce the residual, prescribed values are reached in the first one, and what cannot be
 * solved is reported. With atan(u) = 0 the full step diverges from |u| > 1.39 (its fixed point), so that
 * convergence from 3 shows the halving. */
#include "core/weft_core.h"
#include "emulated_gpu.h"
#include "fem/operator/operator.h"
#include "fem/solve/newton.h"
#include "fem/weft_fem.h"
#include "test_support.h"

#include <math.h>
#include <stdlib.h>

enum { N = 3 };

typedef struct equations {
    weft_context context;
    weft_library *library;
    weft_vector_programs vectors;
    weft_memory *u, *is_free;
    weft_operator *tangent;
    double (*f)(double), (*derivative)(double);
    double given; /* of u[0], if `lifts` */
    bool lifts, usable, has_energy, emulated;
    int n_notes, n_solved;
    double damping;
} equations;

static void check(weft_status status, const weft_error *error) {
    if (status != WEFT_OK)
        fail_msg("%s (%s)", error->message, error->hint);
}

static weft_status residual(void *user, weft_memory *r, weft_error *error) {
    weft_status status = WEFT_OK;
    const equations *e = user;
    double u[N];
    TRY(weft_memory_read(e->u, 0, u, sizeof u, error));
    for (int i = 0; i < N; ++i)
        u[i] = -e->f(u[i]);
    TRY(weft_memory_write(r, 0, u, sizeof u, error));
done:
    return status;
}

static void make_tangent(equations *e, const double slopes[N]) {
    weft_error error = {0};
    weft_pattern *pattern = calloc(1, sizeof *pattern);
    assert_non_null(pattern);
    *pattern = (weft_pattern){.n_rows = N, .n_entries = N};
    pattern->row_start = weft_array_make(N + 1, sizeof *pattern->row_start);
    pattern->columns = weft_array_make(N, sizeof *pattern->columns);
    assert_true(pattern->row_start && pattern->columns);
    for (int i = 0; i < N; ++i) {
        pattern->row_start[i + 1] = i + 1;
        pattern->columns[i] = i;
    }
    check(weft_operator_from_matrix(&e->context, &pattern, slopes, 0, &e->tangent, &error), &error);
}

/* K is a diagonal matrix, and made again here. */
static weft_status assemble(void *user, int iteration, weft_newton_tangent *out,
                            weft_error *error) {
    weft_status status = WEFT_OK;
    equations *e = user;
    double u[N], slopes[N];
    (void)iteration;
    TRY(weft_memory_read(e->u, 0, u, sizeof u, error));
    bool is_definite = true;
    for (int i = 0; i < N; ++i) {
        slopes[i] = e->derivative(u[i]);
        is_definite &= slopes[i] > 0;
    }
    weft_operator_free(&e->tangent);
    make_tangent(e, slopes);
    *out = (weft_newton_tangent){e->tangent, e->tangent, is_definite && e->has_energy};
done:
    return status;
}

static weft_status correct(void *user, weft_memory *r, weft_memory *du, bool *usable,
                           weft_error *error) {
    weft_status status = WEFT_OK;
    equations *e = user;
    double u[N], x[N], given[N];
    TRY(weft_memory_read(e->u, 0, u, sizeof u, error));
    TRY(weft_memory_read(r, 0, x, sizeof x, error));
    TRY(weft_memory_read(du, 0, given, sizeof given, error));
    for (int i = 0; i < N; ++i)
        x[i] /= e->derivative(u[i]);
    if (e->lifts)
        x[0] = given[0];
    TRY(weft_memory_write(du, 0, x, sizeof x, error));
    *usable = e->usable;
    ++e->n_solved;
done:
    return status;
}

static weft_status lift(void *user, weft_memory *du, weft_error *error) {
    const equations *e = user;
    double first = 0;
    const weft_status status = weft_memory_read(e->u, 0, &first, sizeof first, error);
    const double change = e->given - first;
    return status == WEFT_OK ? weft_memory_write(du, 0, &change, sizeof change, error) : status;
}

static weft_status note(void *user, const weft_newton_state *state, weft_error *error) {
    equations *e = user;
    (void)error;
    assert_int_equal(state->iteration, e->n_notes++);
    e->damping = fmin(e->damping, state->damping);
    return WEFT_OK;
}

static weft_newton_state solve(equations *e, double start, double u[N]) {
    weft_error error = {0};
    weft_newton newton = {0};
    weft_newton_state state;
    double is_free[N] = {e->lifts ? 0 : 1, 1, 1};
    check(weft_device_open("host:1", NULL, &e->context.device, &error), &error);
    if (e->emulated)
        emulated_gpu_make(e->context.device);
    check(weft_fem_library_make(&e->library, &error), &error);
    e->context.library = e->library;
    e->context.plan = WEFT_PLAN_FUSED;
    e->vectors = (weft_vector_programs){.context = &e->context, .n = N};
    check(weft_memory_make(e->context.device, N * sizeof(double), &e->u, &error), &error);
    check(weft_memory_make(e->context.device, N * sizeof(double), &e->is_free, &error), &error);
    for (int i = 0; i < N; ++i)
        u[i] = start;
    check(weft_memory_write(e->u, 0, u, N * sizeof *u, &error), &error);
    check(weft_memory_write(e->is_free, 0, is_free, sizeof is_free, &error), &error);
    e->damping = 1;
    const weft_newton_problem problem = {.vectors = &e->vectors,
                                         .u = e->u,
                                         .is_free = e->is_free,
                                         .residual = residual,
                                         .assemble = assemble,
                                         .solve = correct,
                                         .lift = e->lifts ? lift : NULL,
                                         .note = note,
                                         .user = e,
                                         .tolerance = 1e-12,
                                         .max_iterations = 30};
    check(weft_newton_solve(&newton, &problem, &state, &error), &error);
    check(weft_memory_read(e->u, 0, u, N * sizeof *u, &error), &error);
    weft_newton_clear(&newton);
    weft_operator_free(&e->tangent);
    weft_vectors_clear(&e->vectors);
    weft_memory_free(&e->u);
    weft_memory_free(&e->is_free);
    weft_library_free(&e->library);
    weft_device_free(&e->context.device);
    return state;
}

static double atan_slope(double u) {
    return 1 / (1 + u * u);
}

static double square_less_2(double u) {
    return u * u - 2;
}

static double twice(double u) {
    return 2 * u;
}

static double square_and_1(double u) {
    return u * u + 1;
}

static void halves_steps(void **state) {
    (void)state;
    equations e = {.f = atan, .derivative = atan_slope, .usable = true};
    double u[N];
    const weft_newton_state end = solve(&e, 3, u);
    assert_true(end.converged);
    assert_true(e.damping < 1);
    assert_int_equal(e.n_notes, end.iteration + 1);
    for (int i = 0; i < N; ++i)
        assert_double_near(u[i], 0, 0, 1e-11);
}

/* The reaction, 7, is the scale; at the start the free residuals are 1 and 1. */
static void lifts_values(void **state) {
    (void)state;
    equations e = {
        .f = square_less_2, .derivative = twice, .usable = true, .lifts = true, .given = 3};
    double u[N];
    const weft_newton_state end = solve(&e, 1, u);
    assert_true(end.converged);
    assert_double_near(u[0], 3, 0, 0);
    assert_double_near(end.scale, 7, 0, 1e-9);
    for (int i = 1; i < N; ++i)
        assert_double_near(u[i], sqrt(2), 0, 1e-11);
}

/* 1e-6 u + u^4 = 1: the first step ends at 1e6, where R is 1e24, and is shortened; nothing later is compared with
 * such an R. */
static double steep(double u) {
    return 1e-6 * u + u * u * u * u - 1;
}

static double steep_slope(double u) {
    return 1e-6 + 4 * u * u * u;
}

static void forgets_long_steps(void **state) {
    (void)state;
    for (int k = 0; k < 3; ++k) {
        equations e = {.f = steep,
                       .derivative = steep_slope,
                       .usable = true,
                       .has_energy = k > 0,
                       .emulated = k == 2};
        double u[N];
        const weft_newton_state end = solve(&e, 0, u);
        assert_true(end.converged);
        assert_true(e.damping < 1e-5);
        for (int i = 0; i < N; ++i)
            assert_double_near(u[i], 1 - 0.25e-6, 0, 1e-11);
    }
}

/* (eps^2 + u^2)^3 u = 1 with eps = 1e-3: K is 1e-18 at u = 0. The energy leads to 1; without it no step is short enough,
 * and none is taken. */
static double degenerate(double u) {
    return pow(1e-6 + u * u, 3) * u - 1;
}

static double degenerate_slope(double u) {
    return pow(1e-6 + u * u, 2) * (1e-6 + 7 * u * u);
}

static void follows_the_energy(void **state) {
    (void)state;
    double u[N];
    equations e = {
        .f = degenerate, .derivative = degenerate_slope, .usable = true, .has_energy = true};
    weft_newton_state end = solve(&e, 0, u);
    assert_true(end.converged);
    assert_true(e.damping < 1e-17);
    for (int i = 0; i < N; ++i)
        assert_double_near(u[i], 1 - 3e-6 / 7, 0, 1e-11);
    equations none = {.f = degenerate, .derivative = degenerate_slope, .usable = true};
    end = solve(&none, 0, u);
    assert_false(end.converged);
    assert_int_equal(end.outcome, WEFT_NEWTON_NO_DESCENT);
    assert_int_equal(none.n_solved, 1);
    for (int i = 0; i < N; ++i)
        assert_double_near(u[i], 0, 0, 0);
}

/* c ((u/a)^2 - 2) = 0 for small and large a and c, whose squares have no place in a double. */
static double a = 1, c = 1;

static double square_in_units(double u) {
    return c * (u / a * (u / a) - 2);
}

static double slope_in_units(double u) {
    return c / a * (2 * u / a);
}

static void units_change_nothing(void **state) {
    static const double units[][2] = {{1, 1},         {1e-170, 1e-170}, {1e-6, 1e6},
                                      {1e170, 1e170}, {1e-50, 1e-250},  {1e50, 1e200}};
    int iterations = 0;
    (void)state;
    for (size_t i = 0; i < sizeof units / sizeof *units; ++i) {
        equations e = {.f = square_in_units, .derivative = slope_in_units, .usable = true};
        double u[N];
        a = units[i][0];
        c = units[i][1];
        const weft_newton_state end = solve(&e, 0.1 * a, u);
        assert_true(end.converged);
        for (int k = 0; k < N; ++k)
            assert_double_near(u[k] / a, sqrt(2), 0, 1e-11);
        if (i == 0)
            iterations = end.iteration;
        assert_int_equal(end.iteration, iterations);
    }
}

/* K u = f takes one solve, and so does one with prescribed values. */
static double line(double u) {
    return 3 * u - 6;
}

static double line_slope(double u) {
    return 3 + 0 * u;
}

static void solves_linear_problems_once(void **state) {
    (void)state;
    for (int k = 0; k < 4; ++k) {
        equations e = {.f = line,
                       .derivative = line_slope,
                       .usable = true,
                       .has_energy = k & 1,
                       .lifts = k & 2,
                       .given = 5};
        double u[N];
        const weft_newton_state end = solve(&e, 0, u);
        assert_true(end.converged);
        assert_int_equal(e.n_solved, 1);
        assert_double_near(u[1], 2, 0, 1e-14);
    }
}

static void gives_up(void **state) {
    (void)state;
    equations none = {.f = square_and_1, .derivative = twice, .usable = true};
    equations unusable = {.f = square_less_2, .derivative = twice};
    equations undefined = {.f = sqrt, .derivative = twice, .usable = true};
    double u[N];
    weft_newton_state end = solve(&none, 0.7, u);
    assert_false(end.converged);
    assert_int_not_equal(end.outcome, WEFT_NEWTON_CONVERGED);
    assert_true(end.norm < sqrt(3) * 1.49);
    end = solve(&unusable, 1, u);
    assert_false(end.converged);
    assert_int_equal(end.outcome, WEFT_NEWTON_NOT_SOLVED);
    assert_int_equal(end.iteration, 0);
    assert_double_near(u[0], 1, 0, 0);
    end = solve(&undefined, -1, u);
    assert_false(end.converged);
    assert_int_equal(end.outcome, WEFT_NEWTON_NAN);
    assert_true(isnan(end.norm));
    assert_int_equal(end.iteration, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(halves_steps),
                                       cmocka_unit_test(lifts_values),
                                       cmocka_unit_test(forgets_long_steps),
                                       cmocka_unit_test(follows_the_energy),
                                       cmocka_unit_test(units_change_nothing),
                                       cmocka_unit_test(solves_linear_problems_once),
                                       cmocka_unit_test(gives_up)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
