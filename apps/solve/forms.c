/* Makes the form of the script's local matrix, and checks its symmetry and what fixes u.
 *
 * Decision  docs/decisions/0048-form-files-are-natural.md */
#include "apps/solve/solve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Tolerance for |K - K^T| / |K|: rounding in a symmetric matrix. */
static const double SYMMETRIC = 1e-12;
/* The same for a tangent at any u, whose terms may cancel. */
static const double SYMMETRIC_TANGENT = 1e-10;
/* The same for the script's Kv and K v: different order of summation, cancellation in large
 * strains. */
static const double ACTION = 1e-9;
/* Work on a constant, relative to the terms without signs, below which rounding costs more than 1e-5 of its amount. */
static const double LOST = 1e-11;

/* The memory of an input that is the run's own or one of the options'; NULL: it has none yet. */
static weft_memory *memory_of(const solve *run, const char *name) {
    const solve_script *script = &run->script;
    if (strcmp(name, "x") == 0)
        return script->problem ? weft_ufl_coordinates(script->problem, run->base.problem)
                               : weft_space_coordinates(run->base.problem->space);
    if (strcmp(name, "u") == 0 && run->options->nonlinear)
        return run->base.problem->u;
    if (solve_time_sets(run, name))
        return solve_time_memory(run, name);
    weft_memory *given = weft_problem_input(run->base.problem, name);
    return !given && script->has_load && strcmp(name, "load") == 0 ? run->base.problem->inputs.load
                                                                   : given;
}

void solve_form_of(solve *run, int i_part, weft_bound_form *out) {
    const solve_part *part = &run->script.parts[i_part];
    const weft_problem_part *of = &run->base.problem->parts[i_part];
    const solve_options *options = run->options;
    const solve_script *script = &run->script;
    weft_name_info info;
    if (part->ufl) {
        weft_ufl_form_start(script->problem, part->ufl, options->script, of->cells.data, part->dofs,
                            out);
    } else {
        weft_form_start(options->script, of->cells.data, weft_space_cells(run->base.problem->space),
                        out);
        out->form.components = run->components;
        out->form.points = weft_space_data_points(run->base.problem->space);
        out->form.action = script->action;
    }
    for (int i = 0; i < weft_compilation_names(of->compilation); ++i) {
        weft_compilation_name(of->compilation, i, &info);
        weft_memory *memory = info.kind == WEFT_NAME_INPUT ? memory_of(run, info.name) : NULL;
        if (memory)
            weft_form_bind_input(out, info.name, memory);
    }
    for (int i = 0; i < options->defines.n; ++i)
        weft_form_bind_expression(out, options->defines.list[i].name,
                                  options->defines.list[i].value, options->defines.list[i].origin);
    for (int i = 0; i < options->sets.n; ++i)
        weft_form_bind_parameter(out, options->sets.list[i].name, options->sets.list[i].number);
    if (script->has_d)
        weft_form_bind_parameter(out, "d", run->base.mesh->dimension);
}

/* The method, or the assembly, that was requested is for symmetric matrices.
 * where  "" or the place in a Newton iteration */
static weft_status refuse_asymmetric(const solve *run, const char *where, weft_error *error) {
    const weft_method_info *method = weft_method_about(run->base.problem->linear.choice.method);
    weft_error_set(error, WEFT_ERROR_INPUT,
                   "the local matrix '%s' is not symmetric%s: |K - K^T| is %.1e of |K|",
                   run->base.problem->matrix, where, run->asymmetry);
    weft_error_location(error, run->options->script, NULL, 0, 0);
    weft_error_hint(
        error,
        "%s %s needs K(i,j) = K(j,i): leave it out, or look for a first derivative, a tensor that "
        "is not symmetric, or a tangent that is not the derivative of an energy",
        method->needs_symmetric ? "--method" : "--assembly",
        method->needs_symmetric ? method->name
                                : weft_assembly_name(run->base.problem->linear.choice.assembly));
    return WEFT_ERROR_INPUT;
}

/* Choose the method for a matrix of this asymmetry. */
static weft_status choose_method(solve *run, bool is_symmetric, double asymmetry, const char *where,
                                 weft_error *error) {
    const bool needs_other =
        weft_assembly_about(run->base.problem->linear.choice.assembly)->symmetric_only;
    weft_linear_choose_method(&run->base.problem->linear, is_symmetric,
                              run->base.problem->n_fields > 1, asymmetry);
    if (!is_symmetric &&
        (weft_method_about(run->base.problem->linear.choice.method)->needs_symmetric ||
         (needs_other && run->options->run.solver.assembly != WEFT_AUTO)))
        return refuse_asymmetric(run, where, error);
    if (is_symmetric || !run->is_symmetric)
        return WEFT_OK;
    weft_log(&run->base.messages->monitor, WEFT_LOG_INFO, "%s: %s",
             weft_method_about(run->base.problem->linear.choice.method)->title,
             run->base.problem->linear.choice.method_reason);
    run->is_symmetric = false;
    return solve_memory_estimate(run, error); /* chooses the assembly again */
}

/* The greatest of all parts; NaN if one has it. */
static weft_status measure_asymmetry(solve *run, double *out, weft_error *error) {
    weft_status status = WEFT_OK;
    *out = 0;
    for (int i = 0; i < run->base.problem->n_parts; ++i) {
        double asymmetry = 0;
        if (run->base.problem->parts[i].symmetry)
            TRY(weft_symmetry_measure(run->base.problem->parts[i].symmetry, &asymmetry, error));
        if (!(asymmetry <= *out))
            *out = asymmetry;
    }
done:
    return status;
}

static weft_status refuse_matrix(const solve *run, weft_error *error) {
    const bool at_zero = run->options->nonlinear && !run->options->initial;
    weft_error_set(
        error, WEFT_ERROR_INPUT, "the local matrix '%s' has entries that are not finite numbers%s",
        run->base.problem->matrix,
        at_zero                   ? " at u = 0, where Newton's method starts"
        : run->options->nonlinear ? " where Newton's method starts, at the u of --initial"
                                  : "");
    if (run->options->nonlinear)
        weft_error_hint(
            error, "the derivative of r has no value there, as that of sqrt(s) for s = 0: start "
                   "elsewhere by --initial EXPR, for example 0.1*x*y, or write "
                   "sqrt(s + 1e-12); otherwise look at --input and --define");
    else
        weft_error_hint(error, "look at the formulas of --input and --define, and at the script's");
    weft_error_location(error, run->options->script, NULL, 0, 0);
    return WEFT_ERROR_INPUT;
}

static weft_status check_symmetry(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    if (run->base.is_null)
        return WEFT_OK;
    for (int i = 0; i < run->base.problem->n_parts; ++i) {
        weft_problem_part *part = &run->base.problem->parts[i];
        if (part->has_matrix)
            TRY(weft_symmetry_make(&run->base.context, &part->bound.form, &part->symmetry, error));
    }
    TRY(measure_asymmetry(run, &run->asymmetry, error));
    if (isnan(run->asymmetry))
        TRY(refuse_matrix(run, error));
    if (!run->is_symmetric && run->asymmetry > 0) /* a method for others was requested */
        TRY(solve_memory_estimate(run, error));
    TRY(choose_method(run, run->asymmetry <= SYMMETRIC, run->asymmetry, "", error));
done:
    return status;
}

weft_status solve_method_choose(solve *run, const char *where, weft_error *error) {
    weft_status status = WEFT_OK;
    double asymmetry = 0;
    TRY(measure_asymmetry(run, &asymmetry, error));
    if (asymmetry > run->asymmetry) /* NaN is reported by the solver */
        run->asymmetry = asymmetry;
    TRY(choose_method(run, !(asymmetry > SYMMETRIC_TANGENT), asymmetry, where, error));
done:
    return status;
}

weft_status solve_tangent_check(solve *run, int step, int iteration, bool *is_remade,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_assembly before = run->base.problem->linear.choice.assembly;
    char where[80];
    snprintf(where, sizeof where, " in load step %d, iteration %d", step, iteration);
    TRY(solve_method_choose(run, where, error));
    *is_remade = run->base.problem->linear.choice.assembly != before;
    if (*is_remade) {
        weft_preconditioner_free(&run->base.problem->linear.preconditioner);
        weft_operator_free(&run->base.problem->op);
        TRY(weft_problem_operator_make(run->base.problem, error));
    }
done:
    return status;
}

/* Matrix-free products use the script's Kv, so it must agree with K v. */
static weft_status check_action(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    double apart = 0;
    if (run->base.is_null || !run->script.action)
        return WEFT_OK;
    TRY(weft_form_action_difference(&run->base.context, &run->base.problem->form.form, &apart,
                                    error));
    if (apart <= ACTION)
        goto done;
    status = weft_error_set(
        error, WEFT_ERROR_INPUT,
        "the script's 'Kv' is not the product of '%s' with v: they differ by %.1e of it",
        run->base.problem->matrix, apart);
    weft_error_location(error, run->options->script, NULL, 0, 0);
    weft_error_hint(error, "one of them is wrong; without Kv the product is made with the matrix");
done:
    return status;
}

/* What an operator makes of a constant in one component. */
typedef struct constant {
    double seen; /* weft_operator_seen */
    double work; /* relative to the terms without signs */
} constant;

/* sizes  weft_operator_row_sizes of op */
static weft_status see_constant(const solve *run, weft_operator *op, const double *sizes,
                                const double *e, constant *out, weft_error *error) {
    weft_status status = WEFT_OK;
    double *y = NULL, work = 0, size = 0;
    weft_memory *v_memory = NULL, *y_memory = NULL;
    TRY(weft_vector_make(run->base.device, run->n_dofs, &y, &y_memory, error));
    TRY(weft_memory_make(run->base.device, (size_t)run->n_dofs * sizeof *y, &v_memory, error));
    TRY(weft_vector_push(v_memory, e, run->n_dofs, error));
    TRY(weft_operator_apply(op, v_memory, y_memory, error));
    TRY(weft_vector_pull(y_memory, y, run->n_dofs, error));
    for (int64_t i = 0; i < run->n_dofs; ++i) {
        work += fabs(e[i] * y[i]);
        size += fabs(e[i]) * sizes[i];
    }
    /* a zero matrix is reported by CG */
    *out = (constant){size > 0 ? weft_operator_seen(y, sizes, run->n_dofs) : 1,
                      size > 0 ? work / size : 1};
done:
    weft_memory_free(&v_memory);
    weft_memory_free(&y_memory);
    free(y);
    return status;
}

/* Conditions and integrals over boundaries hold a constant even where they are below rounding of the cells' matrix. */
static weft_status see_alone(solve *run, const double *e, bool *seen, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_form *alone = NULL;
    weft_operator *op = NULL;
    double *sizes = weft_array_make((size_t)run->n_dofs, sizeof *sizes);
    int n = 0;
    *seen = false;
    if (!sizes)
        TRY(weft_out_of_memory(error, NULL));
    TRY(weft_problem_forms_alone(run->base.problem, &alone, &n, error));
    for (int i = 0; i < n && !*seen; ++i) {
        constant of_one = {0};
        TRY(weft_operator_make(&run->base.context, WEFT_ASSEMBLY_MATRIX_FREE, &alone[i], 1, &op,
                               error));
        TRY(weft_operator_assemble(op, error));
        TRY(weft_operator_row_sizes(run->base.device, op, NULL, sizes, error));
        TRY(see_constant(run, op, sizes, e, &of_one, error));
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
static weft_status find_floating(solve *run, bool all_fixed, weft_error *error) {
    weft_status status = WEFT_OK;
    int64_t n_parts = 1;
    TRY(weft_problem_find_floating(run->base.problem, all_fixed, &n_parts, error));
    run->base.problem->linear.project_mean =
        run->components == 1 && n_parts == 1 && run->base.problem->modes.n == 1;
    if (run->base.problem->linear.project_mean)
        weft_problem_clear_constraints(run->base.problem);
done:
    return status;
}

static weft_status refuse_constant(const solve *run, int k, bool is_seen, double work,
                                   weft_error *error) {
    if (!is_seen) {
        weft_error_set(error, WEFT_ERROR_INPUT,
                       "nothing fixes component %d of u: a constant can be added to it", k);
        weft_error_hint(error, "%s", solve_how_to_fix(run));
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
static weft_status check_constants(solve *run, const bool *fixed, weft_error *error) {
    weft_status status = WEFT_OK;
    const int c = run->components;
    double *e = weft_array_make((size_t)run->n_dofs, sizeof *e);
    double *sizes = weft_array_make((size_t)run->n_dofs, sizeof *sizes);
    if (!e || !sizes)
        TRY(weft_out_of_memory(error, NULL));
    TRY(weft_operator_row_sizes(run->base.device, run->base.problem->op, NULL, sizes, error));
    for (int k = 0; k < c; ++k) {
        constant all = {0};
        if (fixed[k])
            continue;
        for (int64_t i = 0; i < run->n_dofs; ++i)
            e[i] = i % c == k;
        TRY(see_constant(run, run->base.problem->op, sizes, e, &all, error));
        bool is_seen = all.seen > WEFT_UNSEEN;
        if (is_seen && all.work > LOST)
            continue;
        if (!is_seen)
            TRY(see_alone(run, e, &is_seen, error));
        run->base.problem->linear.project_mean =
            !is_seen && c == 1 && !run->options->nonlinear && run->is_symmetric;
        if (!run->base.problem->linear.project_mean)
            TRY(refuse_constant(run, k, is_seen, all.work, error));
    }
done:
    free(e);
    free(sizes);
    return status;
}

/* A component without Dirichlet values may be fixed by the matrix, as by a mass term. */
weft_status solve_fixed_check(solve *run, weft_error *error) {
    const int c = run->components;
    bool fixed[SOLVE_VALUES_MAX] = {false}, all_fixed = true;
    if (run->base.problem->n_fields > 1)
        return solve_nullspace_find(run, error);
    if (run->base.is_null)
        return WEFT_OK;
    for (int64_t i = 0; i < run->base.problem->n_constrained; ++i)
        fixed[run->base.problem->constrained[i] % c] = true;
    for (int k = 0; k < c; ++k)
        all_fixed &= fixed[k];
    if (!run->options->nonlinear && run->is_symmetric &&
        weft_element_has_vertices(weft_space_element(run->base.problem->space)))
        return find_floating(run, all_fixed, error);
    return all_fixed ? WEFT_OK : check_constants(run, fixed, error);
}

weft_status solve_form_make(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    for (int i = 0; i < run->base.problem->n_parts; ++i)
        solve_form_of(run, i, &run->base.problem->parts[i].bound);
    TRY(weft_problem_list_forms(run->base.problem, error));
    run->base.problem->linear.minres_if_indefinite = true;
    TRY(check_symmetry(run, error));
    TRY(check_action(run, error));
done:
    return status;
}
