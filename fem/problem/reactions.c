/* Computes the balance of a solution: the residual, and what loads, exchange and equation have part in it. */
#include "core/base/fault.h"
#include "fem/base/memory.h"
#include "fem/problem/problem.h"
#include "fem/space/vectors.h"
#include "fem/time/ranks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of a problem, with sums by component of u of what its balance is made of. */
typedef struct reactions {
    weft_problem *problem;
    weft_problem_balance *balance;
    weft_solution u; /* its spaces */
    /* by Robin conditions: int g, int alpha u */
    double given[WEFT_VALUES_MAX], taken[WEFT_VALUES_MAX];
    weft_memory *memory[3]; /* work: [n_dofs], or in time [dofs of the integrator] */
    double *values, *r;     /* [n_dofs]; r: the residual */
    /* in time: */
    weft_transient *transient;
    bool is_divided;   /* the integrator is that of a rank's part */
    bool sums;         /* not on ranks besides the first, which only send what they have */
    weft_memory *of_u; /* [n_dofs] of a divided one: u of the whole */
} reactions;

static void clear(reactions *of) {
    for (int i = 0; i < 3; ++i)
        weft_memory_free(&of->memory[i]);
    weft_memory_free(&of->of_u);
    free(of->values);
    free(of->r);
}

/* transient  NULL: the problem is stationary */
static weft_status start(weft_problem *problem, weft_transient *transient,
                         weft_problem_balance *out, reactions *of, weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t n = (size_t)problem->fields.n_dofs;
    const size_t n_own = transient ? (size_t)weft_transient_dofs(transient) : n;
    *out = (weft_problem_balance){.is_made = false};
    *of = (reactions){.problem = problem,
                      .balance = out,
                      .u = weft_problem_solution(problem),
                      .transient = transient,
                      .is_divided = transient && weft_transient_comm(transient),
                      .sums = !transient || weft_comm_rank(weft_transient_comm(transient)) == 0};
    for (int i = 0; i < problem->fields.n; ++i)
        if (weft_space_is_mapped(problem->fields.list[i].space))
            TRY(weft_mapped_refuse("reactions", error));
    for (int i = 0; i < 3; ++i)
        TRY(weft_memory_make(problem->context->device, n_own * sizeof(double), &of->memory[i],
                             error));
    if (of->is_divided)
        TRY(weft_memory_make(problem->context->device, n * sizeof(double), &of->of_u, error));
    of->values = weft_array_make(n, sizeof *of->values);
    of->r = weft_array_make(n, sizeof *of->r);
    if (!of->values || !of->r)
        TRY(weft_out_of_memory(error, "a balance"));
done:
    return status;
}

/* Is this part of a form an integral over the boundary, by which u exchanges something? */
static bool is_on_boundary(const weft_problem_part *part) {
    return part->domain == WEFT_PART_BOUNDARY;
}

/* Add an entry that is called "ds", or "ds(2)". */
static weft_status add_exchange(reactions *of, const weft_problem_part *part, const double *sums,
                                weft_error *error) {
    char name[32];
    (void)snprintf(name, sizeof name, part->id < 0 ? "ds" : "ds(%d)", part->id);
    return weft_flows_add(&of->balance->exchange, name, sums, NULL, error);
}

/* ---- linear problems --------------------------------------------------------------------- */

/* What a form exchanges over a part of the boundary: its vector there, kept by weft_problem_load, without
 * its matrix times u. */
static weft_status exchange_part(reactions *of, const weft_problem_part *part, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_problem *problem = of->problem;
    weft_operator *op = NULL;
    double taken[WEFT_VALUES_MAX], exchange[WEFT_VALUES_MAX] = {0};
    if (!is_on_boundary(part) || !part->has_matrix)
        goto done;
    TRY(weft_operator_make(problem->context, WEFT_ASSEMBLY_MATRIX_FREE, &part->bound.form, 1, &op,
                           error));
    TRY(weft_operator_assemble(op, error));
    TRY(weft_operator_apply(op, problem->system.u, of->memory[0], error));
    TRY(weft_vector_pull(of->memory[0], of->values, problem->fields.n_dofs, error));
    TRY(weft_solution_sum(&of->u, of->values, taken, error));
    weft_sums_add(exchange, 1, part->vector_sums);
    weft_sums_add(exchange, -1, taken);
    weft_sums_add(of->balance->loads, -1, part->vector_sums);
    weft_sums_add(of->balance->equation, -1, taken);
    TRY(add_exchange(of, part, exchange, error));
done:
    weft_operator_free(&op);
    return status;
}

/* r = A u - b */
static weft_status sum_linear(reactions *of, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_problem *problem = of->problem;
    const double *b = problem->system.b_values;
    TRY(weft_held_product(&problem->system, of->memory[0], of->r, error));
    TRY(weft_solution_sum(&of->u, b, of->balance->loads, error));
    TRY(weft_solution_sum(&of->u, of->r, of->balance->equation, error));
    weft_sums_add(of->balance->loads, -1, of->given);
    weft_sums_add(of->balance->equation, -1, of->taken);
    weft_balance_add_size(of->balance, &of->u, b);
    weft_balance_add_size(of->balance, &of->u, of->r);
    for (int64_t i = 0; i < problem->fields.n_dofs; ++i)
        of->r[i] -= b[i];
    for (int i = 0; i < problem->forms.n_parts; ++i)
        TRY(exchange_part(of, &problem->forms.parts[i], error));
done:
    return status;
}

/* ---- residuals --------------------------------------------------------------------------- */

/* The sums of the vector of a part at the present u, with a factor of the loads. */
static weft_status sum_vector(reactions *of, const weft_problem_part *part, double factor,
                              double out[WEFT_VALUES_MAX], weft_error *error) {
    weft_status status = WEFT_OK;
    weft_problem *problem = of->problem;
    const double now = problem->inputs.load_factor;
    TRY(weft_inputs_scale_loads(&problem->inputs, factor, error));
    TRY(weft_program_bind(part->vector_program, problem->forms.vector, problem->system.scratch,
                          error));
    TRY(weft_program_run(part->vector_program, error));
    TRY(weft_vector_pull(problem->system.scratch, of->values, problem->fields.n_dofs, error));
    TRY(weft_solution_sum(&of->u, of->values, out, error));
    weft_balance_add_size(of->balance, &of->u, of->values);
    TRY(weft_inputs_scale_loads(&problem->inputs, now, error));
done:
    return status;
}

static void explain_loads(reactions *of, const char *which) {
    (void)snprintf(of->balance->loads_reason, sizeof of->balance->loads_reason,
                   "loads in the residual of %.60s%s are not separable from its other terms, and "
                   "are in 'equation'",
                   of->problem->forms.file ? of->problem->forms.file : "the problem", which);
}

/* What does not read u are loads, as is what the factor `load` has; the boundary exchanges the rest, and the cells
 * take it up. */
static weft_status sum_part(reactions *of, const weft_problem_part *part, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_problem_balance *balance = of->balance;
    double whole[WEFT_VALUES_MAX], rest[WEFT_VALUES_MAX] = {0};
    if (!part->vector_program)
        goto done;
    TRY(sum_vector(of, part, of->problem->inputs.load_factor, whole, error));
    if (!weft_compilation_reads(part->vector_compilation, "u")) {
        weft_sums_add(balance->loads, -1, whole);
        goto done;
    }
    memcpy(rest, whole, sizeof rest);
    if (weft_compilation_reads(part->vector_compilation, "load")) {
        TRY(sum_vector(of, part, 0, rest, error));
        weft_sums_add(balance->loads, 1, rest);
        weft_sums_add(balance->loads, -1, whole);
    } else if (!is_on_boundary(part)) {
        explain_loads(of, " that are not multiples of 'load'");
    }
    if (!is_on_boundary(part)) {
        weft_sums_add(balance->equation, 1, rest);
        goto done;
    }
    for (int k = 0; k < WEFT_VALUES_MAX; ++k)
        rest[k] = -rest[k];
    TRY(add_exchange(of, part, rest, error));
done:
    return status;
}

/* r = r(u) + alpha u - fluxes */
static weft_status sum_residual(reactions *of, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_problem *problem = of->problem;
    TRY(weft_problem_more_make(problem, error));
    TRY(weft_problem_residual(problem, 1, error));
    TRY(weft_vector_pull(problem->system.b, of->r, problem->fields.n_dofs, error));
    weft_balance_add_size(of->balance, &of->u, of->r);
    if (problem->system.flux)
        TRY(weft_solution_sum(&of->u, problem->system.flux, of->balance->loads, error));
    weft_sums_add(of->balance->loads, -1, of->given);
    for (int i = 0; i < problem->forms.n_parts; ++i)
        TRY(sum_part(of, &problem->forms.parts[i], error));
done:
    return status;
}

weft_status weft_problem_reactions(weft_problem *problem, weft_problem_balance *out,
                                   weft_error *error) {
    weft_status status = WEFT_OK;
    reactions of = {.problem = problem};
    if (!problem->system.op || problem->steps.t)
        TRY(weft_error_refuse(error, WEFT_ERROR_USAGE,
                              "the problem is not solved, or it is in time",
                              "call weft_problem_reactions_in_time after a step"));
    TRY(start(problem, NULL, out, &of, error));
    TRY(weft_balance_exchange(&problem->fields, out, problem->system.u, 1, of.given, of.taken,
                              error));
    TRY(problem->forms.is_nonlinear ? sum_residual(&of, error) : sum_linear(&of, error));
    TRY(weft_balance_make(&problem->fields, problem->system.constraints, out, of.r, error));
done:
    clear(&of);
    return status;
}

/* ---- in time ----------------------------------------------------------------------------- */

/* values = a list of the integrator: on several ranks that of the whole */
static weft_status pull(reactions *of, weft_memory *list, weft_error *error) {
    const weft_divided divided = weft_transient_divided(of->transient);
    return of->is_divided
               ? weft_divided_collect(&divided, list, of->sums ? of->problem->fields.spaces : NULL,
                                      of->values, error)
               : weft_vector_pull(list, of->values, of->problem->fields.n_dofs, error);
}

/* r += weight vector; out = its sums. */
static weft_status take(reactions *of, double weight, weft_memory *vector,
                        double out[WEFT_VALUES_MAX], weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(pull(of, vector, error));
    if (!of->sums)
        goto done;
    TRY(weft_solution_sum(&of->u, of->values, out, error));
    weft_balance_add_size(of->balance, &of->u, of->values);
    for (int64_t i = 0; weight != 0 && i < of->problem->fields.n_dofs; ++i)
        of->r[i] += weight * of->values[i];
done:
    return status;
}

/* u of the integrator and the time, as the conditions of the problem read them */
static weft_status set_conditions(reactions *of, double t, weft_memory **u, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_fields *fields = &of->problem->fields;
    if (!of->is_divided) /* the integrator has set the time */
        goto done;
    TRY(pull(of, *u, error));
    if (!of->sums)
        goto done;
    TRY(weft_memory_write(of->of_u, 0, of->values, (size_t)fields->n_dofs * sizeof *of->values,
                          error));
    for (int f = 0; f < fields->n && !weft_fault("conditions_untimed"); ++f)
        TRY(weft_bc_set_time(fields->list[f].bc, t, error));
    *u = of->of_u;
done:
    return status;
}

/* K u - b at one time */
static weft_status add_time(reactions *of, const weft_transient_terms *terms, int i,
                            weft_error *error) {
    weft_status status = WEFT_OK;
    weft_problem_balance *balance = of->balance;
    const double weight = terms->weights[i];
    weft_memory *u = terms->u[i];
    double r[WEFT_VALUES_MAX], b[WEFT_VALUES_MAX], given[WEFT_VALUES_MAX] = {0},
                                                   taken[WEFT_VALUES_MAX] = {0};
    TRY(weft_transient_residual(of->transient, terms->t[i], u, of->memory[1], of->memory[2],
                                error));
    TRY(take(of, weight, of->memory[1], r, error));
    TRY(take(of, 0, of->memory[2], b, error));
    TRY(set_conditions(of, terms->t[i], &u, error));
    if (!of->sums)
        goto done;
    TRY(weft_balance_exchange(&of->problem->fields, balance, u, weight, given, taken, error));
    for (int k = 0; k < WEFT_VALUES_MAX; ++k) {
        balance->loads[k] += weight * (b[k] - given[k]);
        balance->equation[k] += weight * (r[k] + b[k] - taken[k]);
    }
done:
    return status;
}

weft_status weft_problem_reactions_in_time(weft_problem *problem, weft_transient *transient,
                                           weft_problem_balance *out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_transient_terms terms = {.n = 0};
    reactions of = {.problem = problem};
    TRY(start(problem, transient, out, &of, error));
    TRY(weft_transient_balance(transient, of.memory[0], &terms, error));
    if (terms.n == 0)
        goto done;
    out->in_time = !problem->names.previous; /* otherwise the scheme is that of the texts */
    TRY(take(&of, 1, of.memory[0], out->storage, error));
    for (int i = terms.n - 1; i >= 0; --i) /* the last is the present time */
        TRY(add_time(&of, &terms, i, error));
    if (!of.sums)
        goto done;
    if (problem->forms.is_nonlinear)
        explain_loads(&of, "");
    TRY(weft_balance_make(&problem->fields, problem->system.constraints, out, of.r, error));
done:
    clear(&of);
    return status;
}
