/* Makes the balance of the solution: the residual, and what loads, exchange and equation have part in it. */
#include "apps/solve/solve.h"

#include <stdlib.h>
#include <string.h>

/* Sums by component of u of what the balance is made of. */
typedef struct parts {
    /* by Robin conditions: int g, int alpha u */
    double given[WEFT_VALUES_MAX], taken[WEFT_VALUES_MAX];
    double loads[WEFT_VALUES_MAX], equation[WEFT_VALUES_MAX];
} parts;

/* Is this part of a form an integral over the boundary? */
static bool is_on_boundary(const weft_problem_part *part) {
    return part->domain == WEFT_PART_BOUNDARY;
}

/* "ds", "ds(2)" */
static void measure_name(const weft_problem_part *part, char out[32]) {
    if (part->id < 0)
        (void)snprintf(out, 32, "ds");
    else
        (void)snprintf(out, 32, "ds(%d)", part->id);
}

/* ---- linear problems --------------------------------------------------------------------- */

/* What a form exchanges over a part of the boundary: its vector there, kept by weft_problem_load, without
 * its matrix times u. */
static weft_status exchange_part(solve *run, int i_part, weft_memory *memory, double *values,
                                 parts *sums, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_operator *op = NULL;
    double taken[WEFT_VALUES_MAX], exchange[WEFT_VALUES_MAX] = {0};
    char name[32];
    const weft_problem_part *part = &run->base.problem->parts[i_part];
    if (!is_on_boundary(part) || !part->has_matrix)
        return WEFT_OK;
    TRY(weft_operator_make(&run->base.context, WEFT_ASSEMBLY_MATRIX_FREE, &part->bound.form, 1, &op,
                           error));
    TRY(weft_operator_assemble(op, error));
    TRY(weft_operator_apply(op, run->base.problem->u, memory, error));
    TRY(weft_vector_pull(memory, values, run->n_dofs, error));
    TRY(weft_problem_sum(run->base.problem, values, taken, error));
    weft_sums_add(exchange, 1, part->vector_sums);
    weft_sums_add(exchange, -1, taken);
    weft_sums_add(sums->loads, -1, part->vector_sums);
    weft_sums_add(sums->equation, -1, taken);
    measure_name(part, name);
    TRY(weft_flows_add(&run->base.problem->balance.exchange, name, exchange, NULL, error));
done:
    weft_operator_free(&op);
    return status;
}

/* r = A u - b */
static weft_status sum_linear(solve *run, double *r, parts *sums, weft_error *error) {
    weft_status status = WEFT_OK;
    const double *b = run->base.problem->b_values;
    weft_memory *memory = NULL;
    double *values = NULL;
    TRY(weft_vector_make(run->base.device, run->n_dofs, &values, &memory, error));
    TRY(weft_problem_product(run->base.problem, memory, r, error));
    TRY(weft_problem_sum(run->base.problem, b, sums->loads, error));
    TRY(weft_problem_sum(run->base.problem, r, sums->equation, error));
    weft_sums_add(sums->loads, -1, sums->given);
    weft_sums_add(sums->equation, -1, sums->taken);
    weft_problem_balance_size(run->base.problem, b);
    weft_problem_balance_size(run->base.problem, r);
    for (int64_t i = 0; i < run->n_dofs; ++i)
        r[i] -= b[i];
    for (int i = 0; i < run->base.problem->n_parts; ++i)
        TRY(exchange_part(run, i, memory, values, sums, error));
done:
    weft_memory_free(&memory);
    free(values);
    return status;
}

/* ---- residuals --------------------------------------------------------------------------- */

/* The sums of the vector of a part at the present u, with a factor of the loads. */
static weft_status sum_vector(solve *run, const weft_problem_part *part, double factor,
                              double *values, double out[WEFT_VALUES_MAX], weft_error *error) {
    weft_status status = WEFT_OK;
    const double now = run->base.problem->inputs.load_factor;
    TRY(weft_problem_scale_loads(run->base.problem, factor, error));
    TRY(weft_program_bind(part->vector_program, run->base.problem->vector, run->base.problem->more,
                          error));
    TRY(weft_program_run(part->vector_program, error));
    TRY(weft_vector_pull(run->base.problem->more, values, run->n_dofs, error));
    TRY(weft_problem_sum(run->base.problem, values, out, error));
    weft_problem_balance_size(run->base.problem, values);
    TRY(weft_problem_scale_loads(run->base.problem, now, error));
done:
    return status;
}

static void explain_loads(solve *run) {
    weft_problem_balance *balance = &run->base.problem->balance;
    (void)snprintf(
        balance->loads_reason, sizeof balance->loads_reason,
        run->script.problem
            ? "loads that %.60s has in F are not separable from its terms in u, and are in "
              "'equation'"
            : "loads in r of %.60s that are not multiples of 'load' are not separable, and are in "
              "'equation'",
        run->options->script);
}

/* What does not read u are loads, as is what the factor `load` has; the boundary exchanges the rest, and the cells
 * take it up. */
static weft_status sum_part(solve *run, int i_part, double *values, parts *sums,
                            weft_error *error) {
    weft_status status = WEFT_OK;
    double whole[WEFT_VALUES_MAX], rest[WEFT_VALUES_MAX] = {0};
    const weft_problem_part *part = &run->base.problem->parts[i_part];
    char name[32];
    if (!part->vector_program)
        return WEFT_OK;
    TRY(sum_vector(run, part, run->base.problem->inputs.load_factor, values, whole, error));
    if (!weft_compilation_reads(part->vector_compilation, "u")) {
        weft_sums_add(sums->loads, -1, whole);
        goto done;
    }
    memcpy(rest, whole, sizeof rest);
    if (weft_compilation_reads(part->vector_compilation, "load")) {
        TRY(sum_vector(run, part, 0, values, rest, error));
        weft_sums_add(sums->loads, 1, rest);
        weft_sums_add(sums->loads, -1, whole);
    } else if (!is_on_boundary(part)) {
        explain_loads(run);
    }
    if (!is_on_boundary(part)) {
        weft_sums_add(sums->equation, 1, rest);
        goto done;
    }
    for (int k = 0; k < WEFT_VALUES_MAX; ++k)
        rest[k] = -rest[k];
    measure_name(part, name);
    TRY(weft_flows_add(&run->base.problem->balance.exchange, name, rest, NULL, error));
done:
    return status;
}

/* r = r(u) + alpha u - fluxes */
static weft_status sum_residual(solve *run, double *r, parts *sums, weft_error *error) {
    weft_status status = WEFT_OK;
    double *values = weft_array_make((size_t)run->n_dofs, sizeof *values);
    if (!values)
        return weft_out_of_memory(error, NULL);
    TRY(weft_problem_residual(run->base.problem, 1, error));
    TRY(weft_vector_pull(run->base.problem->b, r, run->n_dofs, error));
    weft_problem_balance_size(run->base.problem, r);
    if (run->base.problem->flux)
        TRY(weft_problem_sum(run->base.problem, run->base.problem->flux, sums->loads, error));
    weft_sums_add(sums->loads, -1, sums->given);
    for (int i = 0; i < run->base.problem->n_parts; ++i)
        TRY(sum_part(run, i, values, sums, error));
done:
    free(values);
    return status;
}

weft_status solve_balance(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_problem_balance *balance = &run->base.problem->balance;
    parts sums = {.given = {0}};
    double *r = NULL;
    if (!run->options->run.derived.reactions || run->base.is_null)
        return WEFT_OK;
    r = weft_array_make((size_t)run->n_dofs, sizeof *r);
    if (!r)
        TRY(weft_out_of_memory(error, NULL));
    TRY(weft_problem_exchange(run->base.problem, run->base.problem->u, 1, sums.given, sums.taken,
                              error));
    TRY(run->options->nonlinear ? sum_residual(run, r, &sums, error)
                                : sum_linear(run, r, &sums, error));
    memcpy(balance->loads, sums.loads, sizeof sums.loads);
    memcpy(balance->equation, sums.equation, sizeof sums.equation);
    TRY(weft_problem_balance_make(run->base.problem, r, error));
done:
    free(r);
    return status;
}
