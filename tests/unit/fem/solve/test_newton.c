/* labels: quick */
/* Newton's method on equations that are independent of each other, whose solutions are known: steps are halved where
 * the full one does not reduce the residual, prescribed values are reached in the first one, and what cannot be
 * solved is reported. With atan(u) = 0 the full step diverges from |u| > 1.39 (its fixed point), so that
 * convergence from 3 shows the halving. */
#include "core/weft_core.h"
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
    weft_operator *identity; /* which gives the scale of rounding errors */
    double (*f)(double), (*derivative)(double);
    double given; /* of u[0], if `lifts` */
    bool lifts, usable;
    int n_notes;
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

static weft_status correct(void *user, int iteration, weft_memory *r, weft_memory *du,
                           weft_operator **tangent, bool *usable, weft_error *error) {
    weft_status status = WEFT_OK;
    const equations *e = user;
    double u[N], x[N];
    *tangent = e->identity;
    TRY(weft_memory_read(e->u, 0, u, sizeof u, error));
    TRY(weft_memory_read(r, 0, x, sizeof x, error));
    for (int i = 0; i < N; ++i)
        x[i] /= e->derivative(u[i]);
    if (e->lifts)
        x[0] = iteration == 0 ? e->given - u[0] : 0;
    TRY(weft_memory_write(du, 0, x, sizeof x, error));
    *usable = e->usable;
done:
    return status;
}

static weft_status note(void *user, const weft_newton_state *state, weft_error *error) {
    equations *e = user;
    (void)error;
    assert_int_equal(state->iteration, e->n_notes++);
    e->damping = fmin(e->damping, state->damping);
    return WEFT_OK;
}

static void make_identity(equations *e) {
    static const double ones[] = {1, 1, 1};
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
    check(weft_operator_from_matrix(&e->context, &pattern, ones, 0, &e->identity, &error), &error);
}

static weft_newton_state solve(equations *e, double start, double u[N]) {
    weft_error error = {0};
    weft_newton newton = {0};
    weft_newton_state state;
    double is_free[N] = {e->lifts ? 0 : 1, 1, 1};
    check(weft_device_open("host:1", NULL, &e->context.device, &error), &error);
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
    make_identity(e);
    e->damping = 1;
    const weft_newton_problem problem = {.vectors = &e->vectors,
                                         .u = e->u,
                                         .is_free = e->is_free,
                                         .residual = residual,
                                         .solve = correct,
                                         .note = note,
                                         .user = e,
                                         .lifts = e->lifts,
                                         .tolerance = 1e-12,
                                         .max_iterations = 12};
    check(weft_newton_solve(&newton, &problem, &state, &error), &error);
    check(weft_memory_read(e->u, 0, u, N * sizeof *u, &error), &error);
    weft_newton_clear(&newton);
    weft_operator_free(&e->identity);
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

/* The residuals of the prescribed value, 7, and of the first iterates, 3/2, give the scale. */
static void lifts_values(void **state) {
    (void)state;
    equations e = {
        .f = square_less_2, .derivative = twice, .usable = true, .lifts = true, .given = 3};
    double u[N];
    const weft_newton_state end = solve(&e, 1, u);
    assert_true(end.converged);
    assert_double_near(u[0], 3, 0, 0);
    assert_double_near(end.scale, sqrt(49 + 2 * 0.0625), 0, 1e-9);
    for (int i = 1; i < N; ++i)
        assert_double_near(u[i], sqrt(2), 0, 1e-11);
}

static void gives_up(void **state) {
    (void)state;
    equations none = {.f = square_and_1, .derivative = twice, .usable = true};
    equations unusable = {.f = square_less_2, .derivative = twice};
    equations undefined = {.f = sqrt, .derivative = twice, .usable = true};
    double u[N];
    weft_newton_state end = solve(&none, 0.7, u);
    assert_false(end.converged);
    assert_int_equal(end.iteration, 12);
    end = solve(&unusable, 1, u);
    assert_false(end.converged);
    assert_int_equal(end.iteration, 0);
    assert_double_near(u[0], 1, 0, 0);
    end = solve(&undefined, -1, u);
    assert_false(end.converged);
    assert_true(isnan(end.norm));
    assert_int_equal(end.iteration, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(halves_steps),
                                       cmocka_unit_test(lifts_values), cmocka_unit_test(gives_up)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
