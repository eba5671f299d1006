/* Finds whether conditions, or weak terms, fix each component of u. */
#include "fem/base/share.h"
#include "fem/bc/bc.h"
#include "fem/constrain/constrain.h"
#include "fem/mesh/part.h"
#include "fem/operator/operator.h"
#include "fem/problem/problem.h"
#include "fem/space/layout.h"
#include "fem/space/vectors.h"

#include <math.h>
#include <stdlib.h>

/* Work on a constant, relative to the terms without signs, below which rounding costs more than 1e-5 of its amount. */
static const double LOST = 1e-11;

/* What an operator makes of a constant e in one component; vectors [n_dofs] on the device. */
typedef struct constant {
    weft_spans *spans;
    weft_memory *e, *y, *scratch, *sizes; /* sizes: weft_operator_size_rows */
    double seen;                          /* the largest of A e, relative to the sizes */
    double work;                          /* of A e on e, relative to the terms without signs */
} constant;

static weft_status constant_make(const weft_problem *problem, constant *c, weft_error *error) {
    weft_status status = WEFT_OK;
    *c = (constant){.spans = NULL};
    TRY(weft_spans_make(problem->context->device, 4, problem->fields.n_dofs, &c->spans, error));
    weft_spans_share(c->spans, weft_layout_share(problem->fields.layout));
    c->e = weft_spans_vector(c->spans, 0), c->y = weft_spans_vector(c->spans, 1);
    c->scratch = weft_spans_vector(c->spans, 2), c->sizes = weft_spans_vector(c->spans, 3);
done:
    return status;
}

static weft_status size_rows(constant *c, weft_operator *op, weft_error *error) {
    return weft_operator_size_rows(c->spans, op, NULL, (weft_memory *[]){c->scratch, c->y},
                                   c->sizes, error);
}

static weft_status see_constant(constant *c, weft_operator *op, weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n = weft_operator_dofs(op);
    const weft_span y = weft_span_whole(c->y, n), sizes = weft_span_whole(c->sizes, n);
    weft_span_sums ratios, works, all;
    TRY(weft_operator_apply(op, c->e, c->y, error));
    TRY(weft_span_sum(c->spans, &y, WEFT_SPAN_RATIO, c->sizes, 0, &ratios, error));
    TRY(weft_span_sum(c->spans, &y, WEFT_SPAN_PRODUCT, c->e, 0, &works, error));
    TRY(weft_span_sum(c->spans, &sizes, WEFT_SPAN_PRODUCT, c->e, 0, &all, error));
    /* a zero matrix is reported by CG */
    c->seen = all.size > 0 ? ratios.most : 1;
    c->work = all.size > 0 ? works.size / all.size : 1;
done:
    return status;
}

/* Conditions and integrals over boundaries hold a constant even where they are below rounding of the cells' matrix. */
static weft_status see_alone(weft_problem *problem, constant *c, bool *seen, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_form *alone = NULL;
    weft_operator *op = NULL;
    int n = 0;
    *seen = false;
    TRY(weft_problem_forms_alone(problem, &alone, &n, error));
    for (int i = 0; i < n && !*seen; ++i) {
        TRY(weft_operator_make(problem->context, WEFT_ASSEMBLY_MATRIX_FREE, &alone[i], 1, &op,
                               error));
        weft_operator_distribute(op, problem->fields.layout);
        TRY(weft_operator_assemble(op, error));
        TRY(size_rows(c, op, error));
        TRY(see_constant(c, op, error));
        *seen = c->seen > WEFT_UNSEEN && c->work > WEFT_UNSEEN;
        weft_operator_free(&op);
    }
done:
    weft_operator_free(&op);
    free(alone);
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
    const int n_components = weft_space_components(problem->fields.space);
    constant c = {.spans = NULL};
    TRY(constant_make(problem, &c, error));
    TRY(size_rows(&c, problem->system.op, error));
    for (int k = 0; k < n_components; ++k) {
        const weft_span e = {c.e, k, problem->fields.n_dofs, n_components};
        if (fixed[k])
            continue;
        TRY(weft_memory_zero(c.e, error));
        TRY(weft_span_change(c.spans, &e, WEFT_SPAN_SET, NULL, 1, 0, error));
        TRY(see_constant(&c, problem->system.op, error));
        const double work = c.work;
        bool is_seen = c.seen > WEFT_UNSEEN;
        if (is_seen && work > LOST)
            continue;
        if (!is_seen)
            TRY(see_alone(problem, &c, &is_seen, error));
        problem->system.linear.project_mean = !is_seen && n_components == 1 &&
                                              !problem->forms.is_nonlinear &&
                                              problem->system.is_symmetric;
        if (!problem->system.linear.project_mean)
            TRY(refuse_constant(problem, k, is_seen, work, error));
    }
done:
    weft_spans_free(&c.spans);
    return status;
}

/* A component without Dirichlet values may be fixed by the matrix, as by a mass term. */
static weft_status check_matrix(weft_problem *problem, weft_error *error) {
    const int c = weft_space_components(problem->fields.space);
    bool fixed[WEFT_VALUES_MAX] = {false}, all_fixed = true;
    if (problem->fields.n > 1)
        return weft_nullspace_find(&problem->system, error);
    if (weft_records_only(problem->context) || weft_space_is_mapped(problem->fields.space))
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

/* Rigid motions, constants of pieces of a mesh and what constraints leave free are found by the first rank, with the whole; constants
 * of components by all. */
static weft_status check_on_ranks(weft_problem *problem, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_fields *fields = &problem->fields;
    const int c = weft_space_components(fields->space);
    const bool is_in_pieces = problem->mesh->part->n_pieces > 1;
    const bool may_move = c > 1 && !problem->forms.is_nonlinear && problem->system.is_symmetric &&
                          weft_element_has_vertices(weft_space_element(fields->space));
    bool given[WEFT_VALUES_MAX] = {false}, all_given = true;
    if (fields->n > 1) {
        TRY(weft_problem_constraints_make(problem, error));
        status = weft_nullspace_find(&problem->system, error);
        goto done;
    }
    if (problem->declared.n > 0 || problem->declared.n_loads > 0 || is_in_pieces) {
        status = weft_problem_take_modes(problem, error);
        goto done;
    }
    for (int k = 0; k < c; ++k) {
        double found = 0;
        for (int64_t i = 0; i < fields->n_constrained; ++i)
            found = fields->constrained[i] % c == k ? 1 : found;
        TRY(weft_comm_maximum(problem->mesh->part->comm, &found, error));
        given[k] = found > 0;
        all_given &= given[k];
    }
    if (!all_given)
        status = may_move ? weft_problem_take_modes(problem, error)
                          : check_constants(problem, given, error);
done:
    return status;
}

weft_status weft_problem_check_fixed(weft_problem *problem, weft_error *error) {
    weft_status status = WEFT_OK;
    if (problem->mesh->part) {
        status = check_on_ranks(problem, error);
        goto done;
    }
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
    double sum = 0, size = 0;
    TRY(weft_share_sums(weft_layout_share(problem->fields.layout), problem->system.b_values,
                        problem->fields.n_dofs, &sum, &size, error));
    const weft_balance balance = weft_balance_of_sums(sum, size);
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
