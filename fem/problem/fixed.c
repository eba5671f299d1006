/* Finds whether conditions, or weak terms, fix each component of u. */
#include "fem/base/memory.h"
#include "fem/problem/problem.h"

#include <math.h>
#include <stdlib.h>

/* Work on a constant, relative to the terms without signs, below which rounding costs more than 1e-5 of its amount. */
static const double LOST = 1e-11;

/* What an operator makes of a constant in one component. */
typedef struct constant {
    double seen; /* weft_operator_seen */
    double work; /* relative to the terms without signs */
} constant;

/* sizes  weft_operator_row_sizes of op */
static weft_status see_constant(const weft_problem *problem, weft_operator *op, const double *sizes,
                                const double *e, constant *out, weft_error *error) {
    weft_status status = WEFT_OK;
    double *y = NULL, work = 0, size = 0;
    weft_memory *v_memory = NULL, *y_memory = NULL;
    TRY(weft_vector_make(problem->context->device, problem->fields.n_dofs, &y, &y_memory, error));
    TRY(weft_memory_make(problem->context->device, (size_t)problem->fields.n_dofs * sizeof *y,
                         &v_memory, error));
    TRY(weft_vector_push(v_memory, e, problem->fields.n_dofs, error));
    TRY(weft_operator_apply(op, v_memory, y_memory, error));
    TRY(weft_vector_pull(y_memory, y, problem->fields.n_dofs, error));
    for (int64_t i = 0; i < problem->fields.n_dofs; ++i) {
        work += fabs(e[i] * y[i]);
        size += fabs(e[i]) * sizes[i];
    }
    /* a zero matrix is reported by CG */
    *out = (constant){size > 0 ? weft_operator_seen(y, sizes, problem->fields.n_dofs) : 1,
                      size > 0 ? work / size : 1};
done:
    weft_memory_free(&v_memory);
    weft_memory_free(&y_memory);
    free(y);
    return status;
}

/* Conditions and integrals over boundaries hold a constant even where they are below rounding of the cells' matrix. */
static weft_status see_alone(weft_problem *problem, const double *e, bool *seen,
                             weft_error *error) {
    weft_status status = WEFT_OK;
    weft_form *alone = NULL;
    weft_operator *op = NULL;
    double *sizes = weft_array_make((size_t)problem->fields.n_dofs, sizeof *sizes);
    int n = 0;
    *seen = false;
    if (!sizes)
        TRY(weft_out_of_memory(error, NULL));
    TRY(weft_problem_forms_alone(problem, &alone, &n, error));
    for (int i = 0; i < n && !*seen; ++i) {
        constant of_one = {0};
        TRY(weft_operator_make(problem->context, WEFT_ASSEMBLY_MATRIX_FREE, &alone[i], 1, &op,
                               error));
        TRY(weft_operator_assemble(op, error));
        TRY(weft_operator_row_sizes(problem->context->device, op, sizes, error));
        TRY(see_constant(problem, op, sizes, e, &of_one, error));
        *seen = of_one.seen > WEFT_UNSEEN && of_one.work > WEFT_UNSEEN;
        weft_operator_free(&op);
    }
done:
    weft_operator_free(&op);
    free(alone);
    free(sizes);
    return status;
}

/* Conditions may hold all components by values in some part, or in all; what they do not hold, weak terms may. */
static weft_status find_floating(weft_problem *problem, bool all_fixed, weft_error *error) {
    weft_status status = WEFT_OK;
    int64_t n_parts = 1;
    TRY(weft_problem_find_floating(problem, all_fixed, &n_parts, error));
    problem->system.linear.project_mean = weft_space_components(problem->fields.space) == 1 &&
                                          n_parts == 1 && problem->system.modes.n == 1;
    if (problem->system.linear.project_mean)
        weft_problem_clear_constraints(problem);
done:
    return status;
}

/* What to do where nothing fixes u, for hints. */
static const char *how_to_fix(const weft_problem *problem) {
    return problem->how_to_fix
               ? problem->how_to_fix
               : "fix u somewhere by --dirichlet GROUP=EXPR or --robin GROUP=ALPHA,EXPR";
}

static weft_status refuse_constant(const weft_problem *problem, int k, bool is_seen, double work,
                                   weft_error *error) {
    if (!is_seen) {
        weft_error_set(error, WEFT_ERROR_INPUT,
                       "nothing fixes component %d of u: a constant can be added to it", k);
        weft_error_hint(error, "%s", how_to_fix(problem));
        return WEFT_ERROR_INPUT;
    }
    weft_error_set(error, WEFT_ERROR_INPUT,
                   "what fixes component %d of u is only %.0e of the other terms: in double "
                   "precision fewer than five digits of u would be right",
                   k, work);
    weft_error_hint(error, "fix u by --dirichlet somewhere, or take a linear form with a symmetric "
                           "matrix, whose rigid motions are computed apart");
    return WEFT_ERROR_INPUT;
}

/* Of problems whose modes are not looked for: nothing that floats, or nearly, but one constant of a scalar. */
static weft_status check_constants(weft_problem *problem, const bool *fixed, weft_error *error) {
    weft_status status = WEFT_OK;
    const int c = weft_space_components(problem->fields.space);
    double *e = weft_array_make((size_t)problem->fields.n_dofs, sizeof *e);
    double *sizes = weft_array_make((size_t)problem->fields.n_dofs, sizeof *sizes);
    if (!e || !sizes)
        TRY(weft_out_of_memory(error, NULL));
    TRY(weft_operator_row_sizes(problem->context->device, problem->system.op, sizes, error));
    for (int k = 0; k < c; ++k) {
        constant all = {0};
        if (fixed[k])
            continue;
        for (int64_t i = 0; i < problem->fields.n_dofs; ++i)
            e[i] = i % c == k;
        TRY(see_constant(problem, problem->system.op, sizes, e, &all, error));
        bool is_seen = all.seen > WEFT_UNSEEN;
        if (is_seen && all.work > LOST)
            continue;
        if (!is_seen)
            TRY(see_alone(problem, e, &is_seen, error));
        problem->system.linear.project_mean =
            !is_seen && c == 1 && !problem->forms.is_nonlinear && problem->system.is_symmetric;
        if (!problem->system.linear.project_mean)
            TRY(refuse_constant(problem, k, is_seen, all.work, error));
    }
done:
    free(e);
    free(sizes);
    return status;
}

/* A component without Dirichlet values may be fixed by the matrix, as by a mass term. */
static weft_status check_matrix(weft_problem *problem, weft_error *error) {
    const int c = weft_space_components(problem->fields.space);
    bool fixed[WEFT_VALUES_MAX] = {false}, all_fixed = true;
    if (problem->fields.n > 1)
        return weft_nullspace_find(&problem->system, error);
    if (weft_records_only(problem->context))
        return WEFT_OK;
    for (int64_t i = 0; i < problem->fields.n_constrained; ++i)
        fixed[problem->fields.constrained[i] % c] = true;
    for (int k = 0; k < c; ++k)
        all_fixed &= fixed[k];
    if (!problem->forms.is_nonlinear && problem->system.is_symmetric &&
        weft_element_has_vertices(weft_space_element(problem->fields.space)))
        return find_floating(problem, all_fixed, error);
    return all_fixed ? WEFT_OK : check_constants(problem, fixed, error);
}

/* Of -div(k grad u) and the like, the conditions alone fix a scalar u, perhaps by weak terms. */
static weft_status check_conditions(weft_problem *problem, weft_error *error) {
    const weft_fields *fields = &problem->fields;
    const weft_form *robin = NULL;
    bool *project_mean = &problem->system.linear.project_mean;
    int64_t n_parts = 1;
    const weft_status status = weft_bc_find_free(fields->bc, 0, project_mean, error);
    if (status == WEFT_ERROR_INPUT)
        weft_error_hint(
            error,
            "add --dirichlet or --robin for a group of that part, or join the parts in the mesh: "
            "in a .geo file, shared points and curves, or Coherence");
    if (status != WEFT_OK || *project_mean || weft_records_only(problem->context) ||
        weft_bc_forms(fields->bc, &robin) == 0)
        return status;
    return weft_problem_find_floating(problem, fields->n_constrained > 0, &n_parts, error);
}

weft_status weft_problem_check_fixed(weft_problem *problem, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(weft_problem_constraints_make(problem, error));
    if (weft_problem_may_float(problem))
        TRY(weft_problem_find_modes(problem, error));
    else if (problem->forms.n_parts > 0)
        TRY(check_matrix(problem, error));
    else if (problem->fields.n_values == 1)
        TRY(check_conditions(problem, error));
done:
    return status;
}

/* int f + int g = 0, of a source and fluxes that are integrated with more points. */
static weft_status check_source(const weft_problem *problem, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_balance balance;
    double measure = 0;
    TRY(weft_bc_balance(problem->fields.bc, problem->forms.source, problem->forms.source_origin,
                        &balance, error));
    weft_log(
        problem->context->monitor, WEFT_LOG_INFO,
        "pure Neumann: integrals %.10g (source) and %.10g (flux), sum %.3g, accepted up to %.3g",
        balance.source, balance.flux, balance.sum, balance.bound);
    if (fabs(balance.sum) <= balance.bound)
        goto done;
    TRY(weft_space_integral(problem->fields.space, NULL, 0, &measure, error));
    status = weft_error_set(
        error, WEFT_ERROR_INPUT,
        "with Neumann conditions alone the source and the fluxes must sum to zero, but their "
        "integrals are %.10g (--source) and %.10g (--neumann, --robin)",
        balance.source, balance.flux);
    weft_error_location(error, "--neumann", NULL, 0, 0);
    weft_error_hint(error,
                    "subtract %.10g from --source, or fix u somewhere by --dirichlet GROUP=EXPR",
                    balance.sum / measure);
done:
    return status;
}

/* If no condition fixes the constant, check that b sums to zero, up to rounding and the quadrature
 * error of compatible data. */
weft_status weft_problem_check_balance(const weft_problem *problem, weft_error *error) {
    weft_status status = WEFT_OK;
    double measure = 0;
    if (problem->forms.n_parts == 0) {
        status = check_source(problem, error);
        goto done;
    }
    const weft_balance balance = weft_balance_of(problem->system.b_values, problem->fields.n_dofs);
    if (fabs(balance.sum) > balance.bound) {
        TRY(weft_space_integral(problem->fields.space, NULL, 0, &measure, error));
        status = weft_error_set(
            error, WEFT_ERROR_INPUT,
            "nothing fixes the constant in u, so the vector must sum to zero, but its sum is %.10g",
            balance.sum);
        weft_error_hint(error, "%s, or subtract %.10g from the source", how_to_fix(problem),
                        balance.sum / measure);
        goto done;
    }
    if (fabs(balance.sum) > balance.rounding)
        weft_log(problem->context->monitor, WEFT_LOG_WARNING,
                 "nothing fixes the constant in u, and the vector's sum is %.3g, not zero: its "
                 "mean is taken off",
                 balance.sum);
done:
    return status;
}
