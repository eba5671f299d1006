/* Solves the equation of a stage of a nonlinear problem by Newton's method with backtracking.
 *
 *  With R(U) = a/h (M U - ...) + ... + r(U), each iteration solves (a/h M + K) dU = -R(U). Norms are
 *  those of the free dofs, relative to the largest norm over all dofs that the stage has seen, reactions
 *  included.
 *
 *  Source  Nocedal and Wright 2006, sections 3.1 and 11.1; Tisseur 2001 for convergence to rounding */
#include "fem/time/transient.h"

#include <float.h>
#include <math.h>

enum { HALVINGS = 8 };

/* -R is in transient->rhs. */
typedef struct newton {
    weft_transient *transient;
    const weft_time_stage *stage;
    double dt;
    double norm, scale; /* of R now, over free dofs; the largest over all dofs */
} newton;

static weft_status residual_make(newton *n, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_transient *transient = n->transient;
    weft_terms terms = {0};
    double squares[2];
    if (transient->system.mass)
        TRY(weft_operator_apply(transient->system.mass, transient->u, transient->mass_now, error));
    TRY(weft_time_system_load(&transient->system, &transient->vectors, transient->u,
                              transient->load, error));
    weft_terms_add(&terms, -n->stage->a / n->dt, transient->mass_now);
    weft_terms_add(&terms, -1, transient->load);
    weft_time_known(transient, n->stage, n->dt, &terms);
    TRY(weft_vectors_sum(&transient->vectors, &terms, transient->rhs, error));
    TRY(weft_vectors_norms(&transient->vectors, transient->rhs, transient->is_free, squares,
                           error));
    n->norm = sqrt(squares[1]);
    n->scale = fmax(n->scale, sqrt(squares[0]));
    if (isnan(squares[0]))
        n->norm = NAN;
done:
    return status;
}

/* |R| against eps |A| |U|, in norms scaled by the diagonal of A. */
static weft_status at_rounding(const newton *n, bool *yes, weft_error *error) {
    static const double C = 10;
    weft_status status = WEFT_OK;
    weft_transient *transient = n->transient;
    double squares[2];
    TRY(weft_operator_diagonal(transient->system.total, transient->work, error));
    TRY(weft_vectors_scaled(&transient->vectors, transient->rhs, transient->u, transient->work,
                            transient->is_free, squares, error));
    *yes = sqrt(squares[0]) <= C * DBL_EPSILON * sqrt(squares[1]);
done:
    return status;
}

/* Set U + s dU for the first s = 1, 1/2, ... that reduces the residual; the full step if none does. */
static weft_status advance(newton *n, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_transient *transient = n->transient;
    const size_t bytes = (size_t)transient->vectors.n * sizeof(double);
    const double before = n->norm;
    TRY(weft_memory_copy(transient->u_iterate, transient->u, bytes, error));
    for (int k = 0; k <= HALVINGS + 1; ++k) {
        const double s = k <= HALVINGS ? ldexp(1, -k) : 1;
        weft_terms terms = {0};
        weft_terms_add(&terms, 1, transient->u_iterate);
        weft_terms_add(&terms, s, transient->work);
        TRY(weft_vectors_sum(&transient->vectors, &terms, transient->u, error));
        TRY(residual_make(n, error));
        if (n->norm <= (1 - 1e-4 * s) * before || before <= 1e-13 * n->scale)
            break;
    }
done:
    return status;
}

/* Converged: to the tolerance, or, where the residual falls no more, to rounding. */
static weft_status judge(const newton *n, int iteration, double before, bool *converged,
                         weft_error *error) {
    *converged = iteration > 0 && n->norm <= n->transient->problem.newton_tolerance * n->scale;
    if (*converged || iteration < 1 || !(n->norm > 0.1 * before))
        return WEFT_OK;
    return at_rounding(n, converged, error);
}

weft_status weft_time_newton(weft_transient *transient, const weft_time_stage *stage, double dt,
                             weft_error *error) {
    weft_status status = WEFT_OK;
    newton n = {.transient = transient, .stage = stage, .dt = dt};
    double before = INFINITY;
    bool converged = false;
    TRY(residual_make(&n, error));
    for (int iteration = 0;; ++iteration) {
        TRY(judge(&n, iteration, before, &converged, error));
        if (converged || iteration == transient->problem.newton_iterations || isnan(n.norm))
            break;
        before = n.norm;
        TRY(weft_time_system_assemble(&transient->system, weft_time_shift(stage, dt), true, error));
        TRY(weft_memory_zero(transient->work, error));
        TRY(weft_time_solve(transient, transient->rhs, transient->work,
                            transient->problem.solver.tolerance, error));
        if (transient->state.outcome != WEFT_TRANSIENT_DONE)
            goto done;
        transient->state.newton += 1;
        TRY(advance(&n, error));
    }
    if (!converged)
        transient->state.outcome = WEFT_TRANSIENT_NEWTON;
    TRY(weft_memory_copy(transient->residual_now, transient->load,
                         (size_t)transient->vectors.n * sizeof(double), error));
done:
    return status;
}
