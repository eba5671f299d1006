/* Makes a problem of a space, conditions, a form and a load, and solves it. */
#include "fem/problem/problem.h"
#include "core/base/options.h"

#include <math.h>
#include <stdlib.h>

static void free_vectors(weft_problem *problem) {
    weft_memory_free(&problem->u);
    weft_memory_free(&problem->b);
    free(problem->u_values);
    free(problem->b_values);
    problem->u_values = problem->b_values = NULL;
}

/* All that a solve has made; the spaces, conditions and forms stay. */
static void clear_solve(weft_problem *problem) {
    weft_linear_clear(&problem->linear);
    weft_problem_clear_constraints(problem);
    weft_point_loads_free(&problem->point_loads);
    weft_operator_free(&problem->op);
    weft_operator_free(&problem->robin);
    weft_vectors_clear(&problem->vectors);
    weft_memory_free(&problem->flux_memory);
    weft_memory_free(&problem->more);
    weft_problem_newton_clear(&problem->newton);
    free(problem->flux);
    problem->flux = NULL;
    for (int i = 0; i < problem->n_fields; ++i)
        weft_bc_free(&problem->fields[i].bc);
    if (problem->n_fields == 0)
        weft_bc_free(&problem->bc);
    if (!problem->is_nonlinear) /* u is an input of r */
        free_vectors(problem);
    free(problem->own_constrained);
    free(problem->rest);
    problem->own_constrained = NULL;
    problem->rest = NULL;
    problem->modes_are_pinned = false;
    problem->n_open = 0;
}

void weft_problem_free(weft_problem **out) {
    weft_problem *problem = out ? *out : NULL;
    if (!problem)
        return;
    clear_solve(problem);
    free_vectors(problem);
    weft_problem_parts_clear(problem);
    if (problem->basis.user) /* connectivities, which spaces outlive */
        problem->basis.free(problem->basis.user);
    weft_inputs_clear(&problem->inputs);
    for (int i = 1; i < problem->n_sets; ++i) /* those of the first are the fields' */
        for (int k = 0; k < problem->sets[i].n; ++k)
            weft_space_free(&problem->sets[i].spaces[k]);
    free(problem->sets);
    for (int i = 0; i < problem->n_fields; ++i)
        weft_space_free(&problem->fields[i].space);
    if (problem->n_fields == 0)
        weft_space_free(&problem->space);
    free(problem->conditions);
    weft_declared_clear(&problem->declared);
    free(problem->more_forms);
    weft_memory_free(&problem->time);
    weft_memory_free(&problem->previous);
    weft_memory_free(&problem->length);
    free(problem->transient_parts);
    free(problem);
    *out = NULL;
}

static void start_linear(weft_problem *problem, const weft_problem_options *options) {
    problem->linear = (weft_linear){.context = problem->context,
                                    .options = options,
                                    .choice = weft_problem_choice_start(options)};
    weft_problem_describe(problem);
}

weft_status weft_problem_start(weft_context *context, const weft_problem_options *options,
                               weft_problem **out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_problem *made = NULL;
    if (options)
        TRY(weft_options_check("weft_problem_options", options->size, sizeof *options, error));
    made = calloc(1, sizeof *made);
    if (!made)
        TRY(weft_out_of_memory(error, "a problem"));
    made->context = context;
    if (options)
        start_linear(made, options);
    *out = made;
done:
    return status;
}

weft_status weft_problem_make(weft_context *context, const weft_mesh *mesh,
                              weft_element_kind element, int components, weft_problem **out,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    weft_problem *made = NULL;
    TRY(weft_problem_start(context, NULL, &made, error));
    made->mesh = mesh;
    TRY(weft_space_make(context->device, mesh, element, components, &made->space, error));
    weft_problem_count_fields(made);
    *out = made;
    made = NULL;
done:
    weft_problem_free(&made);
    return status;
}

const weft_space *weft_problem_space(const weft_problem *problem) {
    return problem->space;
}

int weft_problem_spaces(const weft_problem *problem, const weft_space *const **out) {
    *out = problem->spaces;
    return problem->n_fields;
}

int64_t weft_problem_dofs(const weft_problem *problem) {
    return problem->n_dofs;
}

weft_status weft_problem_condition(weft_problem *problem, const weft_condition *condition,
                                   weft_error *error) {
    const size_t n = (size_t)problem->n_conditions + 1;
    weft_condition *list = realloc(problem->conditions, n * sizeof *list);
    if (!list)
        return weft_out_of_memory(error, "a condition");
    list[problem->n_conditions++] = *condition;
    problem->conditions = list;
    return WEFT_OK;
}

void weft_problem_form(weft_problem *problem, const weft_form *form) {
    problem->form.form = form ? *form : (weft_form){.text = NULL};
    if (problem->form.form.components == 0 && problem->space)
        problem->form.form.components = weft_space_components(problem->space);
}

void weft_problem_source(weft_problem *problem, const char *f, const char *origin) {
    problem->source = f;
    problem->source_origin = origin;
}

weft_status weft_problem_pull(weft_problem *problem, const double **values, weft_error *error) {
    weft_status status = WEFT_OK;
    *values = problem->u_values;
    TRY(weft_vector_pull(problem->u, problem->u_values, problem->n_dofs, error));
    TRY(weft_problem_nullspace_remove(problem, error));
done:
    return status;
}

const double *weft_problem_values(const weft_problem *problem) {
    return problem->u_values;
}

weft_memory *weft_problem_u(const weft_problem *problem) {
    return problem->u;
}

void weft_problem_set_hierarchy(weft_problem *problem, const weft_hierarchy *hierarchy) {
    problem->hierarchy = hierarchy;
    weft_problem_describe(problem);
}

/* ---- solve ------------------------------------------------------------------------------- */

weft_status weft_problem_refuse(weft_status status, const char *what, const char *hint,
                                weft_error *error) {
    weft_error_set(error, status, "%s", what);
    weft_error_hint(error, "%s", hint);
    return status;
}

static weft_status make_conditions(weft_problem *problem, weft_error *error) {
    weft_status status = WEFT_OK;
    const bool may_float = problem->declared.n + problem->declared.n_loads > 0;
    TRY(weft_problem_conditions_make(problem, error));
    for (int k = 0; k < problem->n_values && problem->n_parts == 0 && !may_float; ++k) {
        bool is_free = false;
        TRY(weft_bc_find_free(problem->bc, k, &is_free, error));
        if (is_free)
            TRY(weft_problem_refuse(WEFT_ERROR_INPUT, "no condition fixes a component of u",
                                    "add a Dirichlet or Robin condition", error));
    }
done:
    return status;
}

static weft_status make_load(weft_problem *problem, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(weft_problem_point_loads_make(problem, error));
    if (problem->n_parts == 0) {
        TRY(weft_bc_load_make(problem->bc, problem->source, problem->source_origin,
                              WEFT_LOAD_DEGREE, problem->b, problem->b_values, error));
    } else {
        TRY(weft_problem_vectors_compile(problem, error));
        TRY(weft_problem_load(problem, 1, error));
    }
    weft_problem_release_load(problem);
    TRY(weft_problem_point_loads_apply(problem, error));
done:
    return status;
}

/* Find what nothing fixes. Without parts the conditions were checked before they were made. */
static weft_status check_fixed(weft_problem *problem, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(weft_problem_constraints_make(problem, error));
    if (weft_problem_may_float(problem))
        TRY(weft_problem_find_modes(problem, error));
    else if (problem->n_parts > 0)
        TRY(weft_problem_check_fixed(problem, error));
done:
    return status;
}

/* The load, the operator, and u with its given values. */
static weft_status assemble(weft_problem *problem, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(weft_problem_vectors_make(problem, error));
    TRY(make_load(problem, error));
    TRY(weft_problem_operator_make(problem, error));
    weft_problem_set_conditions(problem, 1, problem->u_values);
    TRY(weft_vector_push(problem->u, problem->u_values, problem->n_dofs, error));
    TRY(check_fixed(problem, error));
    if (problem->linear.project_mean)
        TRY(weft_problem_check_balance(problem, error));
    TRY(weft_problem_nullspace_project(problem, error));
done:
    return status;
}

bool weft_problem_records_only(const weft_problem *problem) {
    return weft_device_limits(problem->context->device)->records_only;
}

void weft_problem_presume_symmetric(weft_problem *problem) {
    weft_linear *linear = &problem->linear;
    weft_linear_choose_method(linear, true, problem->n_fields > 1, 0);
    problem->is_symmetric = weft_method_about(linear->choice.method)->needs_symmetric;
    problem->asymmetry = 0;
}

weft_status weft_problem_prepare(weft_problem *problem, const weft_problem_options *options,
                                 double solves, weft_error *error) {
    weft_status status = WEFT_OK;
    if (!problem->form.form.text)
        return weft_problem_refuse(WEFT_ERROR_USAGE, "the problem has no form",
                                   "call weft_problem_form", error);
    start_linear(problem, options);
    TRY(make_conditions(problem, error));
    weft_problem_presume_symmetric(problem);
    problem->expected_solves = solves;
    TRY(weft_problem_choose(problem, error));
    TRY(weft_problem_check_forms(problem, error));
done:
    return status;
}

/* Of what nothing fixes the mean is zero. */
static weft_status remove_constants(weft_problem *problem, weft_error *error) {
    weft_status status = WEFT_OK;
    double integral = 0;
    TRY(weft_problem_nullspace_remove(problem, error));
    if (!problem->linear.project_mean)
        goto done;
    TRY(weft_space_integral(problem->space, problem->u_values, 0, &integral, error));
    TRY(weft_problem_remove_mean(problem, integral, error));
done:
    return status;
}

weft_status weft_problem_solve(weft_problem *problem, const weft_problem_options *options,
                               weft_problem_report *report, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(weft_options_check("weft_problem_options", options->size, sizeof *options, error));
    if (problem->is_nonlinear || problem->time)
        TRY(weft_problem_refuse(WEFT_ERROR_UNSUPPORTED, "the problem is not linear and stationary",
                                "solve it by weft_problem_solve_nonlinear or weft_problem_in_time",
                                error));
    clear_solve(problem);
    TRY(weft_problem_prepare(problem, options, 1, error));
    TRY(assemble(problem, error));
    TRY(weft_problem_solve_system(problem, error));
    TRY(remove_constants(problem, error));
    *report = (weft_problem_report){&problem->linear.choice, &problem->linear.cg,
                                    problem->asymmetry, NULL};
done:
    return status;
}

/* ---- r(u) = 0 ---------------------------------------------------------------------------- */

/* What Newton's method needs: the programs of r, a method for the tangent at the present u, the operator. */
static weft_status prepare(weft_problem *problem, const weft_problem_options *options,
                           double solves, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(weft_vector_push(problem->u, problem->u_values, problem->n_dofs, error));
    TRY(weft_problem_prepare(problem, options, solves, error));
    TRY(weft_problem_point_loads_make(problem, error));
    TRY(weft_problem_vectors_compile(problem, error));
    TRY(weft_problem_operator_make(problem, error));
    TRY(weft_problem_robin_make(problem, error));
    TRY(check_fixed(problem, error));
done:
    return status;
}

weft_status weft_problem_solve_nonlinear(weft_problem *problem, const weft_problem_options *options,
                                         const weft_newton_options *newton,
                                         weft_problem_report *report, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(weft_options_check("weft_problem_options", options->size, sizeof *options, error));
    TRY(weft_options_check("weft_newton_options", newton->size, sizeof *newton, error));
    if (!problem->is_nonlinear || problem->time || !problem->form.form.text)
        TRY(weft_problem_refuse(WEFT_ERROR_USAGE, "the problem has no residual that is stationary",
                                "solve a linear one by weft_problem_solve", error));
    if (newton->load_steps < 1 || newton->iterations < 0 || !(newton->tolerance > 0))
        TRY(weft_problem_refuse(WEFT_ERROR_USAGE,
                                "these options of Newton's method are out of range",
                                "give at least one load step, and a positive tolerance", error));
    clear_solve(problem);
    TRY(prepare(problem, options, (double)WEFT_NEWTON_USUAL * newton->load_steps, error));
    TRY(weft_problem_newton(problem, newton, error));
    TRY(weft_problem_nullspace_remove(problem, error));
    *report = (weft_problem_report){&problem->linear.choice, &problem->linear.cg,
                                    problem->asymmetry, &problem->newton};
done:
    return status;
}
