/* Gradients of problems in time: goes back through the recorded steps and solves an adjoint problem for what each stage solved.
 *
 * A stage solves for U with M, r and what came before (fem/time/scheme.h)
 *
 *     a/h (M U - u_0 M u_n - u_1 M u_before - ...) + q r(u_n) + r(U) = 0,
 *
 * so that J - sum lambda.(these equations), collected by what was solved for, is the sum over all U of
 *
 *     weight J(U) - r(U).(lambda + later_r) - (M U).(a/h lambda - later_m)
 *
 * with later_m = sum a/h u_j lambda and later_r = sum q lambda of the later equations that have U. It is stationary in U, which
 * gives lambda; its other derivatives are those of J.
 *
 * Decision  docs/decisions/0088-time-is-gone-through-backwards.md */
#include "fem/time/record.h"
#include "forms/bind/gradient.h"

#include <stdlib.h>
#include <string.h>

typedef struct sweep {
    weft_gradient *g;
    int64_t n, left;  /* dofs; steps that are left, this one among them */
    double dt_later;  /* of the step after this; 0: there is none */
    bool is_constant; /* the matrix depends on its shift alone */
    bool is_solved;   /* with this shift */
    double shift;
    int iterations;
    /* [n]: of the state that is next, and by M of that before it; the rest is for one state. Parts of `memory` */
    double *later_r, *later_m, *before_m, *work;
    double *lambda;  /* [WEFT_TIME_STAGES][n] */
    double *stage_m; /* [WEFT_TIME_STAGES][n]: later_m of the stages but the last */
    double *memory;
} sweep;

/* What was solved for at a time. */
typedef struct state {
    const double *u;
    double t, shift, weight;
    const double *later_m, *later_r; /* NULL: 0 */
} state;

static void add(double *to, double factor, const double *x, int64_t n) {
    for (int64_t i = 0; i < n && x && factor != 0; ++i)
        to[i] += factor * x[i];
}

static bool has_failed(const sweep *s) {
    return s->g->again.outcome != WEFT_CG_CONVERGED;
}

/* ---- one state ----------------------------------------------------------------------------- */

static weft_status set_time(const sweep *s, double t, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(weft_problem_set_time(s->g->functional->problem, t, error));
    TRY(weft_problem_set_time(s->g->adjoint->problem, t, error));
    for (weft_derived *d = s->g->controls; d; d = d->next)
        TRY(weft_problem_set_time(d->problem, t, error));
done:
    return status;
}

/* adjoint = lambda + later_r, adjoint_mass = shift lambda - later_m; lambda NULL: 0 */
static weft_status set_adjoint(const sweep *s, const state *at, const double *lambda,
                               weft_error *error) {
    weft_status status = WEFT_OK;
    weft_memory *const *inputs = s->g->inputs;
    const size_t bytes = (size_t)s->n * sizeof(double);
    memset(s->work, 0, bytes);
    add(s->work, 1, lambda, s->n);
    add(s->work, 1, at->later_r, s->n);
    TRY(weft_vector_push(inputs[WEFT_GRADIENT_ADJOINT], s->work, s->n, error));
    memset(s->work, 0, bytes);
    add(s->work, at->shift, lambda, s->n);
    add(s->work, -1, at->later_m, s->n);
    TRY(weft_vector_push(inputs[WEFT_GRADIENT_ADJOINT_MASS], s->work, s->n, error));
done:
    return status;
}

static weft_status set_state(const sweep *s, const state *at, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_memory *const *inputs = s->g->inputs;
    TRY(weft_vector_push(inputs[WEFT_GRADIENT_STATE], at->u, s->n, error));
    TRY(weft_memory_write(inputs[WEFT_GRADIENT_SHIFT], 0, &at->shift, sizeof at->shift, error));
    TRY(weft_memory_write(inputs[WEFT_GRADIENT_WEIGHT], 0, &at->weight, sizeof at->weight, error));
    TRY(set_time(s, at->t, error));
    TRY(set_adjoint(s, at, NULL, error));
done:
    return status;
}

/* The load of a derived problem, in `out`; without a vector it is 0. */
static weft_status load(const weft_derived *d, double *out, weft_error *error) {
    if (d->problem->forms.vector)
        return weft_problem_load_again(d->problem, out, error);
    memset(out, 0, (size_t)weft_problem_dofs(d->problem) * sizeof *out);
    return WEFT_OK;
}

static weft_status solve(sweep *s, const state *at, double *lambda, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_gradient *g = s->g;
    weft_problem *adjoint = g->adjoint->problem;
    if (s->is_solved && s->is_constant && s->shift == at->shift) {
        TRY(load(g->adjoint, s->work, error));
        TRY(weft_gradient_solve_again(g, adjoint, s->work, lambda, error));
    } else {
        TRY(weft_problem_solve(adjoint, g->options.solve, &g->report, error));
        g->again = *g->report.result;
        g->again.history = NULL;
        g->report.result = &g->again;
        memcpy(lambda, weft_problem_values(adjoint), (size_t)s->n * sizeof *lambda);
        s->is_solved = !adjoint->system.reduction && !adjoint->system.rest;
        s->shift = at->shift;
    }
    s->iterations += g->again.iterations;
    g->again.iterations = s->iterations;
done:
    return status;
}

/* Add to the derivatives with respect to a control.
 *  is_first  at the start, where u is given */
static weft_status add_derivative(const sweep *s, weft_derived *d, bool is_first,
                                  weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_fields *fields = &s->g->problem->fields;
    const int64_t n = weft_problem_dofs(d->problem);
    double *made = NULL;
    if (d->is_initial && !is_first)
        goto done;
    made = weft_array_make((size_t)n, sizeof *made);
    if (!made)
        TRY(weft_out_of_memory(error, "a gradient"));
    TRY(load(d, made, error));
    if (d->is_initial)
        for (int64_t i = 0; i < fields->n_constrained; ++i)
            made[fields->constrained[i]] = 0;
    if (!d->what.is_state || d->is_initial)
        add(d->derivative, 1, made, n);
    for (int64_t i = 0; d->what.is_state && !d->is_initial && i < fields->n_constrained; ++i)
        d->derivative[fields->constrained[i]] += made[fields->constrained[i]];
done:
    free(made);
    return status;
}

static weft_status add_value(sweep *s, double weight, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_derived *d = s->g->functional;
    if (weight == 0)
        goto done;
    TRY(load(d, d->derivative, error));
    s->g->value += weight * weft_sum(d->derivative, weft_problem_dofs(d->problem));
done:
    return status;
}

/* lambda  [n], set; NULL: u is given */
static weft_status treat(sweep *s, const state *at, double *lambda, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(set_state(s, at, error));
    TRY(add_value(s, at->weight, error));
    if (lambda)
        TRY(solve(s, at, lambda, error));
    if (lambda && !has_failed(s))
        TRY(set_adjoint(s, at, lambda, error));
    for (weft_derived *d = s->g->controls; d && !has_failed(s); d = d->next)
        TRY(add_derivative(s, d, !lambda, error));
done:
    return status;
}

/* ---- the steps ----------------------------------------------------------------------------- */

static double weight_of(const sweep *s, double dt) {
    return s->g->options.over_time ? (dt + s->dt_later) / 2 : s->dt_later == 0;
}

/* What the equations of a step have of u at its start and before. */
static void carry(sweep *s, const weft_time_visit *step) {
    const size_t bytes = (size_t)s->n * sizeof(double);
    memcpy(s->later_m, s->before_m, bytes);
    memset(s->before_m, 0, bytes);
    memset(s->later_r, 0, bytes);
    for (int k = 0; k < step->n_stages; ++k) {
        const weft_time_stage *stage = &step->stages[k];
        const double *lambda = s->lambda + k * s->n;
        add(s->later_m, stage->a / step->dt * stage->u[0], lambda, s->n);
        add(s->before_m, stage->a / step->dt * stage->u[1], lambda, s->n);
        add(s->later_r, stage->q, lambda, s->n);
    }
}

static weft_status start_of_first(sweep *s, const weft_time_visit *step, weft_error *error) {
    weft_status status = WEFT_OK;
    const state first = {.u = step->u[0],
                         .t = step->t,
                         .weight = s->g->options.over_time ? step->dt / 2 : 0,
                         .later_m = s->later_m,
                         .later_r = s->later_r};
    memcpy(s->g->lambda, s->lambda, (size_t)s->n * sizeof(double));
    TRY(treat(s, &first, NULL, error));
done:
    return status;
}

static weft_status visit(void *user, const weft_time_visit *step, weft_error *error) {
    weft_status status = WEFT_OK;
    sweep *s = user;
    const int last = step->n_stages - 1;
    memset(s->stage_m, 0, WEFT_TIME_STAGES * (size_t)s->n * sizeof(double));
    for (int i = last; i >= 0 && !has_failed(s); --i) {
        const weft_time_stage *stage = &step->stages[i];
        double *lambda = s->lambda + i * s->n;
        const state at = {.u = step->u[i + 1],
                          .t = step->t + stage->c * step->dt,
                          .shift = stage->a / step->dt,
                          .weight = i == last ? weight_of(s, step->dt) : 0,
                          .later_m = i == last ? s->later_m : s->stage_m + i * s->n,
                          .later_r = i == last ? s->later_r : NULL};
        TRY(treat(s, &at, lambda, error));
        for (int k = 0; k < i; ++k)
            add(s->stage_m + k * s->n, at.shift * stage->u[2 + k], lambda, s->n);
    }
    carry(s, step);
    s->dt_later = step->dt;
    if (--s->left == 0 && !has_failed(s))
        TRY(start_of_first(s, step, error));
done:
    return status;
}

static weft_status clear(weft_derived *d, weft_error *error) {
    const size_t n = (size_t)weft_problem_dofs(d->problem);
    if (!d->derivative)
        d->derivative = weft_array_make(n, sizeof *d->derivative);
    if (!d->derivative)
        return weft_out_of_memory(error, "a gradient");
    memset(d->derivative, 0, n * sizeof *d->derivative);
    return WEFT_OK;
}

static weft_status start(sweep *s, weft_gradient *g, weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n = weft_problem_dofs(g->problem);
    weft_derived *adjoint = g->adjoint;
    *s = (sweep){.g = g, .n = n, .left = weft_time_record_steps(g->options.transient)};
    s->is_constant = !g->problem->forms.is_nonlinear && adjoint->problem->inputs.n_moving == 0 &&
                     !ufl_problem_reads(adjoint->ufl, "t");
    s->memory = calloc((size_t)n * (4 + 2 * WEFT_TIME_STAGES) + 1, sizeof *s->memory);
    if (!g->lambda)
        g->lambda = weft_array_make((size_t)n, sizeof *g->lambda);
    if (!s->memory || !g->lambda)
        TRY(weft_out_of_memory(error, "a gradient"));
    s->later_r = s->memory;
    s->later_m = s->later_r + n;
    s->before_m = s->later_m + n;
    s->work = s->before_m + n;
    s->lambda = s->work + n;
    s->stage_m = s->lambda + WEFT_TIME_STAGES * n;
    g->value = 0;
    g->again = (weft_cg_result){.outcome = WEFT_CG_CONVERGED};
    TRY(clear(g->functional, error));
    for (weft_derived *d = g->controls; d; d = d->next)
        TRY(clear(d, error));
done:
    return status;
}

weft_status weft_gradient_sweep(weft_gradient *g, weft_error *error) {
    weft_status status = WEFT_OK;
    sweep s = {.g = NULL};
    const weft_time_visitor visitor = {visit, &s};
    TRY(start(&s, g, error));
    TRY(weft_time_record_reverse(g->options.transient, &visitor, error));
    for (weft_derived *d = g->controls; d; d = d->next)
        weft_derived_finish(d);
done:
    free(s.memory);
    return status;
}
