/* Measures whether the matrix is symmetric, chooses the method by it, and compares the product of forms with it. */
#include "fem/base/memory.h"
#include "fem/problem/problem.h"
#include "fem/space/layout.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Tolerance for the script's Kv and K v: different order of summation, cancellation in large strains. */
static const double ACTION = 1e-9;

static const char *matrix_of(const weft_problem *problem) {
    return problem->forms.matrix ? problem->forms.matrix : "K";
}

/* The method, or the assembly, that was requested is for symmetric matrices.
 * where  "" or the place in a Newton iteration */
static weft_status refuse_asymmetric(const weft_problem *problem, const char *where,
                                     weft_error *error) {
    const weft_method_info *method = weft_method_about(problem->system.linear.choice.method);
    weft_error_set(error, WEFT_ERROR_INPUT,
                   "the local matrix '%s' is not symmetric%s: |K - K^T| is %.1e of |K|",
                   matrix_of(problem), where, problem->system.asymmetry);
    weft_error_location(error, problem->forms.file, NULL, 0, 0);
    weft_error_hint(
        error,
        "%s %s needs K(i,j) = K(j,i): leave it out, or look for a first derivative, a tensor that "
        "is not symmetric, or a tangent that is not the derivative of an energy",
        method->needs_symmetric ? "--method" : "--assembly",
        method->needs_symmetric ? method->name
                                : weft_assembly_name(problem->system.linear.choice.assembly));
    return WEFT_ERROR_INPUT;
}

/* Choose the method for a matrix of this asymmetry. */
static weft_status choose_method(weft_problem *problem, bool is_symmetric, double asymmetry,
                                 const char *where, weft_error *error) {
    const bool needs_other =
        weft_assembly_about(problem->system.linear.choice.assembly)->symmetric_only;
    weft_linear_choose_method(&problem->system.linear, is_symmetric, problem->fields.n > 1,
                              asymmetry);
    if (!is_symmetric &&
        (weft_method_about(problem->system.linear.choice.method)->needs_symmetric ||
         (needs_other && problem->system.linear.options->assembly != WEFT_AUTO)))
        return refuse_asymmetric(problem, where, error);
    if (is_symmetric || !problem->system.is_symmetric)
        return WEFT_OK;
    weft_log(problem->context->monitor, WEFT_LOG_INFO, "%s: %s",
             weft_method_about(problem->system.linear.choice.method)->title,
             problem->system.linear.choice.method_reason);
    problem->system.is_symmetric = false;
    return weft_problem_choose(problem, error);
}

/* The greatest of the forms of a problem without parts; NaN if one has it. */
static weft_status measure_forms(weft_problem *problem, double *out, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(weft_form_asymmetry(problem->context, &problem->forms.first.form, out, error));
    for (int i = 0; i < problem->forms.n_more; ++i) {
        double of_one = 0;
        TRY(weft_form_asymmetry(problem->context, &problem->forms.more[i], &of_one, error));
        if (!(of_one <= *out))
            *out = of_one;
    }
done:
    return status;
}

/* The same of all parts, by their prepared measurements. */
static weft_status measure(weft_problem *problem, double *out, weft_error *error) {
    weft_status status = WEFT_OK;
    *out = 0;
    if (problem->forms.n_parts == 0)
        TRY(measure_forms(problem, out, error));
    else
        for (int i = 0; i < problem->forms.n_parts; ++i) {
            double asymmetry = 0;
            if (problem->forms.parts[i].symmetry)
                TRY(weft_symmetry_measure(problem->forms.parts[i].symmetry, &asymmetry, error));
            if (!(asymmetry <= *out))
                *out = asymmetry;
        }
done:
    return status;
}

static weft_status refuse_matrix(const weft_problem *problem, weft_error *error) {
    const bool at_zero = problem->forms.is_nonlinear && !problem->has_initial;
    weft_error_set(
        error, WEFT_ERROR_INPUT, "the local matrix '%s' has entries that are not finite numbers%s",
        matrix_of(problem),
        at_zero                       ? " at u = 0, where Newton's method starts"
        : problem->forms.is_nonlinear ? " where Newton's method starts, at the u of --initial"
                                      : "");
    if (problem->forms.is_nonlinear)
        weft_error_hint(
            error, "the derivative of r has no value there, as that of sqrt(s) for s = 0: start "
                   "elsewhere by --initial EXPR, for example 0.1*x*y, or write "
                   "sqrt(s + 1e-12); otherwise look at --input and --define");
    else
        weft_error_hint(error, "look at the formulas of --input and --define, and at the script's");
    weft_error_location(error, problem->forms.file, NULL, 0, 0);
    return WEFT_ERROR_INPUT;
}

/* The number of the function of each dof of a mixed u, in whose units the symmetry is measured. */
static weft_status number_fields(weft_problem *problem, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_fields *fields = &problem->fields;
    double *numbers = NULL;
    if (fields->n < 2 || problem->forms.numbers)
        goto done;
    numbers = weft_array_make((size_t)fields->n_dofs, sizeof *numbers);
    if (!numbers)
        TRY(weft_out_of_memory(error, "the functions of a mixed space"));
    for (int k = 0; k < fields->n; ++k) {
        const int64_t end = k + 1 < fields->n ? fields->list[k + 1].first_dof : fields->n_dofs;
        for (int64_t i = fields->list[k].first_dof; i < end; ++i)
            numbers[i] = k;
    }
    TRY(weft_memory_place(problem->context->device, numbers, (size_t)fields->n_dofs,
                          sizeof *numbers, &problem->forms.numbers, error));
done:
    free(numbers);
    return status;
}

/* Displacements are coupled by more than a hundredth of |K|^2. */
static bool is_uncoupled(const weft_problem *problem) {
    double most = problem->forms.n_parts > 0 && problem->fields.n == 1 ? 0 : 1;
    for (int i = 0; i < problem->forms.n_parts; ++i)
        if (problem->forms.parts[i].symmetry)
            most = fmax(most, weft_symmetry_coupling(problem->forms.parts[i].symmetry));
    return problem->fields.n_values > 1 && most < 0.01;
}

static weft_status check_symmetry(weft_problem *problem, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(number_fields(problem, error));
    for (int i = 0; i < problem->forms.n_parts; ++i) {
        weft_problem_part *part = &problem->forms.parts[i];
        weft_symmetry_free(&part->symmetry); /* of an earlier solve */
        if (part->has_matrix)
            TRY(weft_symmetry_make(problem->context, &part->bound.form, problem->forms.numbers,
                                   &part->symmetry, error));
    }
    TRY(measure(problem, &problem->system.asymmetry, error));
    if (isnan(problem->system.asymmetry))
        TRY(refuse_matrix(problem, error));
    const bool was_uncoupled = problem->system.is_uncoupled;
    problem->system.is_uncoupled = is_uncoupled(problem);
    if (problem->system.is_uncoupled != was_uncoupled ||
        (!problem->system.is_symmetric &&
         problem->system.asymmetry > 0)) /* a method for others was requested */
        TRY(weft_problem_choose(problem, error));
    TRY(choose_method(problem, problem->system.asymmetry <= WEFT_SYMMETRIC,
                      problem->system.asymmetry, "", error));
done:
    return status;
}

weft_status weft_problem_choose_method(weft_problem *problem, const char *where,
                                       weft_error *error) {
    weft_status status = WEFT_OK;
    double asymmetry = 0;
    TRY(measure(problem, &asymmetry, error));
    if (asymmetry > problem->system.asymmetry) /* NaN is reported by the solver */
        problem->system.asymmetry = asymmetry;
    TRY(choose_method(problem, !(asymmetry > WEFT_SYMMETRIC_TANGENT), asymmetry, where, error));
done:
    return status;
}

weft_status weft_problem_check_tangent(weft_problem *problem, int step, int iteration,
                                       weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_assembly before = problem->system.linear.choice.assembly;
    char where[80];
    snprintf(where, sizeof where, " in load step %d, iteration %d", step, iteration);
    TRY(weft_problem_choose_method(problem, where, error));
    if (problem->system.linear.choice.assembly == before)
        goto done;
    weft_linear_reset(&problem->system.linear);
    weft_operator_free(&problem->system.op);
    TRY(weft_problem_operator_make(problem, error));
done:
    return status;
}

/* Compare the script's own product with its matrix. */
static weft_status check_action(weft_problem *problem, weft_error *error) {
    weft_status status = WEFT_OK;
    double apart = 0;
    if (!problem->names.action)
        goto done;
    TRY(weft_form_action_difference(problem->context, &problem->forms.first.form, &apart, error));
    if (apart <= ACTION)
        goto done;
    status = weft_error_set(
        error, WEFT_ERROR_INPUT,
        "the script's 'Kv' is not the product of '%s' with v: they differ by %.1e of it",
        problem->forms.matrix, apart);
    weft_error_location(error, problem->forms.file, NULL, 0, 0);
    weft_error_hint(error, "one of them is wrong; without Kv the product is made with the matrix");
done:
    return status;
}

/* A number of each dof, which varies: on several ranks by the place of its node, since numbers of dofs are those of parts. */
static int64_t number_of(const weft_problem *problem, int64_t dof) {
    const weft_problem_field *field = weft_fields_of_dof(&problem->fields, dof);
    const double *points = weft_space_points(field->space);
    const int d = problem->mesh->dimension;
    const int64_t node = (dof - field->first_dof) / weft_space_components(field->space);
    uint64_t bits, all = 0;
    if (!problem->mesh->part || !points)
        return dof;
    for (int a = 0; a < d; ++a) {
        memcpy(&bits, &points[node * d + a], sizeof bits);
        all = (all ^ bits) * 0x9E3779B97F4A7C15u;
    }
    return (int64_t)(all >> 40) + dof % weft_space_components(field->space);
}

/* At a constant u a tangent may be symmetric, and nowhere else, so that u is changed a little from node to node. */
static weft_status vary(weft_problem *problem, double *kept, weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n = problem->fields.n_dofs;
    memcpy(kept, problem->system.u_values, (size_t)n * sizeof *kept);
    for (int64_t i = 0; i < n; ++i)
        problem->system.u_values[i] +=
            1e-3 * (1 + fabs(kept[i])) * (double)(number_of(problem, i) * 7 % 5);
    TRY(weft_vector_push(problem->system.u, problem->system.u_values, n, error));
    if (problem->fields.layout)
        TRY(weft_layout_update(problem->fields.layout, problem->system.u, error));
done:
    return status;
}

weft_status weft_problem_check_forms(weft_problem *problem, weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n = problem->fields.n_dofs;
    double *kept = NULL;
    problem->system.linear.minres_if_indefinite = !problem->forms.is_nonlinear;
    if (weft_records_only(problem->context))
        goto done;
    if (problem->forms.is_nonlinear && weft_problem_is_in_time(problem)) {
        kept = weft_array_make((size_t)n, sizeof *kept);
        if (!kept)
            TRY(weft_out_of_memory(error, NULL));
        TRY(vary(problem, kept, error));
    }
    TRY(check_symmetry(problem, error));
    TRY(check_action(problem, error));
    if (kept) {
        memcpy(problem->system.u_values, kept, (size_t)n * sizeof *kept);
        TRY(weft_vector_push(problem->system.u, kept, n, error));
    }
done:
    free(kept);
    return status;
}
