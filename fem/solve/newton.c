/* Newton's method with a line search. */
#include "fem/solve/newton.h"
#include "fem/solve/line_search.h"
#include "fem/solve/newton_fields.h"

#include <float.h>
#include <math.h>

/* -R is in newton->r; norms of R are over free dofs. */
typedef struct iterate {
    weft_newton *newton;
    const weft_newton_problem *problem;
    weft_newton_state *state;
    weft_newton_tangent tangent;
    double all;         /* the norm over all dofs */
    double start;       /* norm at the start, with the prescribed values to first order */
    double before;      /* norm before the last step */
    double change;      /* |s du| of the last step */
    double size, first; /* |u| now and at the start */
    bool lifts, is_stuck;
} iterate;

const char *weft_newton_outcome_name(weft_newton_outcome outcome) {
    static const char *const names[] = {"converged", "max_iterations", "no_descent", "not_solved",
                                        "nan"};
    return names[outcome];
}

void weft_newton_clear(weft_newton *newton) {
    weft_memory_free(&newton->r);
    weft_memory_free(&newton->du);
    weft_memory_free(&newton->before);
    weft_memory_free(&newton->more);
    weft_memory_free(&newton->restricted);
}

static weft_status make_vectors(weft_newton *newton, const weft_newton_problem *problem,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    weft_memory **const all[] = {&newton->r, &newton->du, &newton->before,
                                 problem->lift ? &newton->more : NULL,
                                 problem->constraints ? &newton->restricted : NULL};
    for (int i = 0; i < 5; ++i)
        if (all[i] && !*all[i])
            TRY(weft_memory_make(problem->vectors->context->device,
                                 (size_t)problem->vectors->n * sizeof(double), all[i], error));
done:
    return status;
}

static weft_status copy(const iterate *now, weft_memory *to, weft_memory *from, weft_error *error) {
    return weft_memory_copy(to, from, (size_t)now->problem->vectors->n * sizeof(double), error);
}

/* |x| over all dofs */
static weft_status measure(const iterate *now, weft_memory *x, double *out, weft_error *error) {
    double norms[2];
    const weft_status status =
        weft_vectors_norms(now->problem->vectors, x, now->problem->is_free, norms, error);
    *out = norms[0];
    return status;
}

/* Norms of a residual over all dofs and over free ones, of these with C^T. */
static weft_status measure_residual(const iterate *now, weft_memory *r, double *all, double *loose,
                                    weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_newton_problem *problem = now->problem;
    double norms[2], restricted[2];
    TRY(weft_vectors_norms(problem->vectors, r, problem->is_free, norms, error));
    if (problem->constraints) {
        TRY(weft_reduction_restrict(problem->constraints, r, now->newton->restricted, error));
        TRY(weft_vectors_norms(problem->vectors, now->newton->restricted, problem->is_free,
                               restricted, error));
        norms[1] = restricted[1];
    }
    *all = norms[0];
    *loose = isfinite(norms[0]) ? norms[1] : NAN;
done:
    return status;
}

/* r = -R(u), and its norms */
static weft_status evaluate(iterate *now, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(now->problem->residual(now->problem->user, now->newton->r, error));
    TRY(measure_residual(now, now->newton->r, &now->all, &now->state->norm, error));
done:
    return status;
}

/* u = before + s du, and its residual */
static weft_status move(iterate *now, double s, weft_memory *du, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_terms terms = {0};
    weft_terms_add(&terms, 1, now->newton->before);
    weft_terms_add(&terms, s, du);
    TRY(weft_vectors_sum(now->problem->vectors, &terms, now->problem->u, error));
    TRY(evaluate(now, error));
    now->state->damping = s;
done:
    return status;
}

/* ---- the end --------------------------------------------------------------------------------- */

/* |diag K| |u|; before is diag K u, and du is spoilt. */
static weft_status measure_terms(const iterate *now, double *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_newton_problem *problem = now->problem;
    weft_newton *newton = now->newton;
    weft_memory *u = problem->u;
    if (problem->constraints) {
        u = newton->restricted;
        TRY(weft_reduction_keep(problem->constraints, problem->u, u, error));
    }
    TRY(weft_operator_diagonal(now->tangent.solved, newton->du, error));
    TRY(weft_vectors_mask(problem->vectors, u, newton->du, newton->before, error));
    TRY(measure(now, newton->before, out, error));
done:
    return status;
}

/* |R| against c eps |K| |u|, in norms scaled by the diagonal of K; du and before are spoilt. Where prescribed values
 * are reached from a state without them, the residual must also have fallen. */
static weft_status at_rounding(const iterate *now, bool *yes, weft_error *error) {
    static const double MOST_LEFT = 1e-4, UNCHANGED = 1e-3;
    static const double WITHOUT = 1e-10; /* of rows without a diagonal, those of multipliers */
    const double c = now->is_stuck ? 1000 : 10;
    weft_status status = WEFT_OK;
    const weft_newton_problem *problem = now->problem;
    weft_newton *newton = now->newton;
    weft_memory *r = newton->r, *u = problem->u;
    double norms[3];
    if (!now->is_stuck && !(now->change <= UNCHANGED * now->size)) /* K is of another u */
        goto done;
    if (problem->constraints) {
        r = newton->restricted;
        u = newton->before;
        TRY(weft_reduction_restrict(problem->constraints, newton->r, r, error));
        TRY(weft_reduction_keep(problem->constraints, problem->u, u, error));
    }
    TRY(weft_operator_diagonal(now->tangent.solved, newton->du, error));
    TRY(weft_vectors_scaled(problem->vectors, r, u, newton->du, problem->is_free, norms, error));
    *yes = norms[0] <= c * DBL_EPSILON * norms[1] &&
           norms[2] <= WITHOUT * fmax(now->all, now->start) &&
           (!now->lifts || now->state->norm <= MOST_LEFT * fmax(now->all, now->start));
done:
    return status;
}

/* Is the residual of each function of a mixed space small? After measure_terms. */
static weft_status fields_small(const iterate *now, bool *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_newton_problem *problem = now->problem;
    const weft_newton *newton = now->newton;
    const weft_newton_fields fields = {.first = problem->fields,
                                       .n = problem->n_fields,
                                       .r = newton->r,
                                       .restricted =
                                           problem->constraints ? newton->restricted : newton->r,
                                       .terms = newton->before,
                                       .is_free = problem->is_free,
                                       .share = problem->vectors->share,
                                       .tolerance = problem->tolerance,
                                       .scale = now->state->scale};
    if (problem->constraints)
        TRY(weft_reduction_restrict(problem->constraints, newton->r, newton->restricted, error));
    TRY(weft_newton_fields_small(&fields, out, error));
done:
    return status;
}

/* Would the next step change little? The residual tells how much smaller it is than the last one. */
static bool is_step_small(const iterate *now) {
    const double tolerance = now->problem->tolerance;
    const double rate = now->state->norm / now->before;
    const double next =
        now->state->damping == 1 && rate < 0.5 ? now->change * rate / (1 - rate) : now->change;
    return next <= fmin(100 * tolerance, sqrt(tolerance)) *
                       fmax(now->size, DBL_EPSILON * now->first); /* u may be 0 */
}

/* Converged: to the tolerance, or, where the residual falls no more, to rounding. */
static weft_status judge(const iterate *now, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_newton_state *state = now->state;
    const weft_newton_problem *problem = now->problem;
    const double tolerance = problem->tolerance;
    double terms = 0;
    state->scale = fmax(now->all, now->start);
    if (state->iteration == 0 || isnan(state->norm))
        goto done;
    if (state->norm <= tolerance * state->scale && is_step_small(now)) {
        TRY(measure_terms(now, &terms, error));
        state->scale = fmax(now->all, fmax(fmin(now->start, terms), DBL_EPSILON * now->start));
        state->converged = state->norm <= tolerance * state->scale;
        if (state->converged && problem->n_fields > 1)
            TRY(fields_small(now, &state->converged, error));
    }
    if (state->converged || !(now->is_stuck || state->norm > 0.1 * now->before))
        goto done;
    TRY(at_rounding(now, &state->converged, error));
    state->to_rounding = state->converged;
done:
    return status;
}

/* A system whose right-hand side is rounding may not be solvable, and need not be solved; K is of the present u. */
static weft_status judge_unsolved(iterate *now, weft_error *error) {
    weft_status status = WEFT_OK;
    now->is_stuck = true;
    TRY(judge(now, error));
    if (now->state->converged)
        now->state->outcome = WEFT_NEWTON_CONVERGED;
done:
    return status;
}

/* Does the method end, and how? */
static bool ends(const iterate *now) {
    weft_newton_state *state = now->state;
    state->outcome = state->converged                                   ? WEFT_NEWTON_CONVERGED
                     : isnan(state->norm)                               ? WEFT_NEWTON_NAN
                     : now->is_stuck                                    ? WEFT_NEWTON_NO_DESCENT
                     : state->iteration == now->problem->max_iterations ? WEFT_NEWTON_MAX_ITERATIONS
                                                                        : WEFT_NEWTON_NOT_SOLVED;
    return state->outcome != WEFT_NEWTON_NOT_SOLVED;
}

/* ---- a step ---------------------------------------------------------------------------------- */

/* du = g - u at prescribed dofs, else 0; before is spoilt. */
static weft_status lift(iterate *now, weft_error *error) {
    static const double SAME = 1e-14;
    weft_status status = WEFT_OK;
    const weft_newton_problem *problem = now->problem;
    weft_newton *newton = now->newton;
    double length = 0, all = 0;
    weft_terms terms = {0};
    TRY(weft_memory_zero(newton->du, error));
    if (now->state->iteration > 0 || !problem->lift)
        goto done;
    TRY(problem->lift(problem->user, newton->du, error));
    TRY(measure(now, newton->du, &length, error));
    now->lifts = length > SAME * now->size;
    if (!now->lifts)
        goto done;
    TRY(weft_operator_apply(now->tangent.whole, newton->du, newton->before, error));
    weft_terms_add(&terms, 1, newton->r);
    weft_terms_add(&terms, -1, newton->before);
    TRY(weft_vectors_sum(problem->vectors, &terms, newton->more, error));
    TRY(measure_residual(now, newton->more, &all, &now->start, error));
done:
    return status;
}

/* u + du with the prescribed values. If K says little of the loads, the values alone may be better.
 * own  the residual before */
static weft_status step_to_values(iterate *now, double own, weft_error *error) {
    static const double MOST_LEFT = 0.5, NO_LOAD = 1e-8;
    weft_status status = WEFT_OK;
    const weft_newton_problem *problem = now->problem;
    weft_newton *newton = now->newton;
    bool usable = false;
    TRY(move(now, 1, newton->du, error));
    const double whole = now->state->norm;
    if (whole <= MOST_LEFT * now->start || own <= NO_LOAD * now->start)
        goto done;
    TRY(copy(now, problem->u, newton->before, error));
    TRY(weft_memory_zero(newton->r, error));
    TRY(weft_memory_zero(newton->more, error));
    TRY(problem->lift(problem->user, newton->more, error));
    TRY(problem->solve(problem->user, newton->r, newton->more, &usable, error));
    if (usable)
        TRY(move(now, 1, newton->more, error));
    if (!usable || !(now->state->norm < whole || isnan(whole)))
        TRY(move(now, 1, newton->du, error));
done:
    return status;
}

static weft_status evaluate_on_line(void *user, weft_line_point *point, weft_error *error) {
    weft_status status = WEFT_OK;
    iterate *now = user;
    TRY(move(now, point->s, now->newton->du, error));
    point->norm = now->state->norm;
    TRY(weft_vectors_along(now->problem->vectors, now->newton->r, now->newton->du, &point->fall,
                           error));
done:
    return status;
}

/* u + s du with an s that is better than 0; else u stays, and the method is stuck.
 * length  |du| */
static weft_status search(iterate *now, double length, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_line line = {.evaluate = evaluate_on_line,
                      .user = now,
                      .start.norm = now->before,
                      .least = fmax(DBL_EPSILON * now->size / length, 1e-100)};
    weft_line_point found;
    bool is_better = false;
    if (now->tangent.is_definite)
        TRY(weft_vectors_along(now->problem->vectors, now->newton->r, now->newton->du,
                               &line.start.fall, error));
    TRY(weft_line_search(&line, &found, &is_better, error));
    if (is_better)
        goto done;
    now->is_stuck = true;
    TRY(move(now, 0, now->newton->du, error));
done:
    return status;
}

static weft_status advance(iterate *now, weft_error *error) {
    weft_status status = WEFT_OK;
    const double own = now->state->norm;
    double length = 0;
    TRY(copy(now, now->newton->before, now->problem->u, error));
    TRY(measure(now, now->newton->du, &length, error));
    if (now->lifts && now->state->iteration == 0) {
        now->before = now->start;
        TRY(step_to_values(now, own, error));
    } else {
        now->before = own;
        TRY(search(now, length, error));
    }
    now->change = now->state->damping * length;
    TRY(measure(now, now->problem->u, &now->size, error));
done:
    return status;
}

weft_status weft_newton_solve(weft_newton *newton, const weft_newton_problem *problem,
                              weft_newton_state *state, weft_error *error) {
    weft_status status = WEFT_OK;
    iterate now = {.newton = newton, .problem = problem, .state = state};
    bool is_usable = true;
    *state = (weft_newton_state){.damping = 1};
    TRY(make_vectors(newton, problem, error));
    TRY(evaluate(&now, error));
    TRY(measure(&now, problem->u, &now.size, error));
    now.start = state->norm;
    now.first = now.size;
    for (;; ++state->iteration) {
        TRY(judge(&now, error));
        if (problem->note)
            TRY(problem->note(problem->user, state, error));
        if (ends(&now))
            break;
        TRY(problem->assemble(problem->user, state->iteration, &now.tangent, error));
        TRY(lift(&now, error));
        TRY(problem->solve(problem->user, newton->r, newton->du, &is_usable, error));
        if (!is_usable) {
            TRY(judge_unsolved(&now, error));
            break;
        }
        TRY(advance(&now, error));
    }
done:
    return status;
}
