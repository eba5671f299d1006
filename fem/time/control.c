/* Estimates the local error of a step, and chooses the length of the next one.
 *
 *  The estimates are those of the methods themselves (fem/time/scheme.h): the leading term of the
 *  truncation error, with derivatives by divided differences of the last solutions; or the
 *  difference to an embedded method, multiplied by (M + h/a K)^-1 M, so that stiff
 *  components do not dominate it. Norms are |e| = sqrt(e.M e).
 *
 *  An error e decays at the rate e.K e / e.M e. Only the errors made during the last time 1/rate remain, so
 *  that a step may make dt (rate + 1/T) of the error that is allowed in the whole time T.
 *
 *  Source  Hosea and Shampine 1996; Hairer, Norsett and Wanner 1993, II.4 and III.5 */
#include "fem/time/transient.h"

#include <math.h>

/* A step may always make this part of the whole error, however short it is. */
static const double LEAST_SHARE = 1e-3;
static const double SAFETY = 0.9, GROWTH_MOST = 2, SHRINK_MOST = 0.2, GROWTH_LEAST = 1.25;

static int order_of(const weft_transient_problem *problem) {
    const weft_time_scheme_info *about = weft_time_scheme_about(problem->scheme);
    return about->takes_theta && problem->theta != 0.5 ? 1 : about->order;
}

/* The divided difference over the last n + 1 solutions, the present one first. */
static void divided_difference(const double *t, int n, double *factors) {
    for (int i = 0; i <= n; ++i) {
        factors[i] = 1;
        for (int k = 0; k <= n; ++k)
            if (k != i)
                factors[i] /= t[i] - t[k];
    }
}

/* work2 = e, at free dofs */
static weft_status by_history(weft_transient *transient, double dt, weft_error *error) {
    weft_status status = WEFT_OK;
    const int order = order_of(&transient->problem);
    const double t[] = {dt, 0, -transient->dt_before, -transient->dt_before - transient->dt_older};
    weft_memory *const u[] = {transient->u, transient->u_old, transient->u_before,
                              transient->u_older};
    const double factor = weft_time_row_now(transient)->truncation(transient->problem.theta, dt,
                                                                   transient->dt_before);
    weft_terms e = {0};
    double factors[4];
    divided_difference(t, order + 1, factors);
    for (int i = 0; i <= order + 1; ++i)
        weft_terms_add(&e, factor * factors[i], u[i]);
    TRY(weft_vectors_sum(&transient->vectors, &e, transient->work, error));
    TRY(weft_vectors_mask(&transient->vectors, transient->work, transient->is_free,
                          transient->work2, error));
done:
    return status;
}

static weft_status by_embedded(weft_transient *transient, weft_error *error) {
    static const double TOLERANCE = 1e-6; /* unknowns without mass, as a pressure, may dominate r */
    weft_status status = WEFT_OK;
    double weights[WEFT_TIME_STAGES + 1] = {0};
    weft_terms terms = {0};
    weft_time_row_now(transient)->embedded(weights);
    for (int i = 0; i < WEFT_TIME_STAGES; ++i)
        weft_terms_add(&terms, weights[i], transient->residual[i]);
    weft_terms_add(&terms, weights[WEFT_TIME_STAGES], transient->residual_now);
    TRY(weft_vectors_sum(&transient->vectors, &terms, transient->rhs, error));
    TRY(weft_memory_zero(transient->work2, error));
    TRY(weft_time_solve(transient, transient->rhs, transient->work2, TOLERANCE, error));
done:
    return status;
}

/* The norm of the error, and the rate at which it decays; the present A is a M + K. */
static weft_status measure(weft_transient *transient, double *norm, double *rate,
                           weft_error *error) {
    weft_status status = WEFT_OK;
    double mass = 0, total = 0;
    weft_memory *e = transient->work2;
    TRY(weft_operator_apply(transient->system.mass, e, transient->rhs, error));
    TRY(weft_vectors_product(&transient->vectors, e, transient->rhs, &mass, error));
    TRY(weft_operator_apply(transient->system.total, e, transient->rhs, error));
    TRY(weft_vectors_product(&transient->vectors, e, transient->rhs, &total, error));
    *norm = sqrt(fabs(mass));
    *rate = mass > 0 ? fmax(total / mass - transient->system.a, 0) : 0;
done:
    return status;
}

const weft_time_row *weft_time_row_now(const weft_transient *transient) {
    const weft_transient_problem *problem = &transient->problem;
    const weft_time_row *row = weft_time_row_of(problem->scheme);
    const bool has_differences = problem->tolerance > 0 && !row->embedded;
    const int needed = has_differences ? order_of(problem) : row->about.n_before;
    return transient->n_history < needed ? weft_time_row_to_start() : row;
}

/* The length of a step with the error `allowed` instead of `norm`, which is proportional to dt^power. */
static double length(double dt, double norm, double allowed, double power, bool accepted) {
    if (isnan(norm))
        return dt * SHRINK_MOST;
    double factor = norm > 0 ? SAFETY * pow(allowed / norm, 1 / power) : GROWTH_MOST;
    factor = fmin(fmax(factor, SHRINK_MOST), accepted ? GROWTH_MOST : SAFETY);
    if (accepted && factor >= 1 && factor < GROWTH_LEAST)
        factor = 1; /* the matrix stays */
    return dt * factor;
}

weft_status weft_time_control(weft_transient *transient, double dt, bool *accepted, double *next,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_transient_problem *problem = &transient->problem;
    const weft_time_row *row = weft_time_row_now(transient);
    const int order = row->embedded ? row->embedded_order : order_of(problem);
    double square = 0, norm = 0, rate = 0;
    TRY(weft_vectors_product(&transient->vectors, transient->u, transient->mass_now, &square,
                             error));
    transient->size = fmax(transient->size, sqrt(fabs(square)));
    TRY(row->embedded ? by_embedded(transient, error) : by_history(transient, dt, error));
    TRY(measure(transient, &norm, &rate, error));
    if (!row->embedded) /* (a M + K)^-1 a M of it */
        norm /= 1 + rate / transient->system.a;
    const double share = dt * (rate + 1 / (problem->end - problem->start));
    const double allowed = problem->tolerance * transient->size * fmin(fmax(share, LEAST_SHARE), 1);
    const bool is_proportional = share > LEAST_SHARE && share < 1;
    *accepted = norm <= allowed;
    *next = length(dt, norm, allowed, is_proportional ? order : order + 1, *accepted);
    transient->state.error = transient->size > 0 ? norm / transient->size : 0;
done:
    return status;
}
