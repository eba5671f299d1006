/* Newton's method with backtracking. */
#include "fem/solve/newton.h"

#include <float.h>
#include <math.h>

enum { HALVINGS = 8 };

/* -R is in newton->r, and C^T of it in newton->restricted. */
typedef struct iterate {
    weft_newton *newton;
    const weft_newton_problem *problem;
    weft_newton_state *state;
    weft_operator *tangent;
} iterate;

void weft_newton_clear(weft_newton *newton) {
    weft_memory_free(&newton->r);
    weft_memory_free(&newton->du);
    weft_memory_free(&newton->before);
    weft_memory_free(&newton->restricted);
}

static weft_status make_vectors(weft_newton *newton, const weft_vector_programs *vectors,
                                bool restricts, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_memory **const all[] = {&newton->r, &newton->du, &newton->before, &newton->restricted};
    for (int i = 0; i < (restricts ? 4 : 3); ++i)
        if (!*all[i])
            TRY(weft_memory_make(vectors->context->device, (size_t)vectors->n * sizeof(double),
                                 all[i], error));
done:
    return status;
}

/* r = -R(u), and its norms; scale is the largest of the iterates before. */
static weft_status evaluate(iterate *now, double scale, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_newton_problem *problem = now->problem;
    double squares[2], restricted[2];
    TRY(problem->residual(problem->user, now->newton->r, error));
    TRY(weft_vectors_norms(problem->vectors, now->newton->r, problem->is_free, squares, error));
    if (problem->constraints) {
        TRY(weft_reduction_restrict(problem->constraints, now->newton->r, now->newton->restricted,
                                    error));
        TRY(weft_vectors_norms(problem->vectors, now->newton->restricted, problem->is_free,
                               restricted, error));
        squares[1] = restricted[1];
    }
    now->state->norm = isnan(squares[0]) ? NAN : sqrt(squares[1]);
    now->state->scale = fmax(scale, sqrt(squares[0]));
done:
    return status;
}

/* |R| against eps |K| |u|, in norms scaled by the diagonal of K; du and before are spoilt. Where prescribed values
 * are reached from a state without them, the residual must also have fallen. */
static weft_status at_rounding(const iterate *now, bool *yes, weft_error *error) {
    static const double C = 10, MOST_LEFT = 1e-4;
    weft_status status = WEFT_OK;
    const weft_newton_problem *problem = now->problem;
    weft_newton *newton = now->newton;
    weft_memory *r = newton->r, *u = problem->u;
    double squares[2];
    if (problem->constraints) {
        r = newton->restricted;
        u = newton->before;
        TRY(weft_reduction_keep(problem->constraints, problem->u, u, error));
    }
    TRY(weft_operator_diagonal(now->tangent, newton->du, error));
    TRY(weft_vectors_scaled(problem->vectors, r, u, newton->du, problem->is_free, squares, error));
    *yes = sqrt(squares[0]) <= C * DBL_EPSILON * sqrt(squares[1]) &&
           (!problem->lifts || now->state->norm <= MOST_LEFT * now->state->scale);
done:
    return status;
}

/* Converged: to the tolerance, or, where the residual falls no more, to rounding. */
static weft_status judge(const iterate *now, double before, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_newton_state *state = now->state;
    const int first = now->problem->lifts ? 2 : 1;
    state->converged =
        state->iteration > 0 && state->norm <= now->problem->tolerance * state->scale;
    if (state->converged || state->iteration < first || !(state->norm > 0.1 * before))
        return WEFT_OK;
    TRY(at_rounding(now, &state->converged, error));
    state->to_rounding = state->converged;
done:
    return status;
}

/* Set u + s du for the first s = 1, 1/2, ... that reduces the residual; the full step if none does. */
static weft_status advance(iterate *now, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_newton_problem *problem = now->problem;
    const double before = now->state->norm, scale = now->state->scale;
    const bool is_full = problem->lifts && now->state->iteration == 0;
    TRY(weft_memory_copy(now->newton->before, problem->u,
                         (size_t)problem->vectors->n * sizeof(double), error));
    for (int k = 0; k <= HALVINGS + 1; ++k) {
        const double s = k <= HALVINGS ? ldexp(1, -k) : 1;
        weft_terms terms = {0};
        weft_terms_add(&terms, 1, now->newton->before);
        weft_terms_add(&terms, s, now->newton->du);
        TRY(weft_vectors_sum(problem->vectors, &terms, problem->u, error));
        TRY(evaluate(now, scale, error));
        now->state->damping = s;
        if (is_full || now->state->norm <= (1 - 1e-4 * s) * before ||
            before <= 1e-13 * now->state->scale)
            break;
    }
done:
    return status;
}

weft_status weft_newton_solve(weft_newton *newton, const weft_newton_problem *problem,
                              weft_newton_state *state, weft_error *error) {
    weft_status status = WEFT_OK;
    iterate now = {.newton = newton, .problem = problem, .state = state};
    double before = INFINITY;
    bool is_usable = true;
    *state = (weft_newton_state){.damping = 1};
    TRY(make_vectors(newton, problem->vectors, problem->constraints != NULL, error));
    TRY(evaluate(&now, 0, error));
    for (;; ++state->iteration) {
        TRY(judge(&now, before, error));
        if (problem->note)
            TRY(problem->note(problem->user, state, error));
        if (state->converged || state->iteration == problem->max_iterations || isnan(state->norm))
            break;
        before = state->norm;
        TRY(weft_memory_zero(newton->du, error));
        TRY(problem->solve(problem->user, state->iteration, newton->r, newton->du, &now.tangent,
                           &is_usable, error));
        if (!is_usable)
            break;
        TRY(advance(&now, error));
    }
done:
    return status;
}
