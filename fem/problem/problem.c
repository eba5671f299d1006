/* Makes a problem of a space, conditions, a form and a load, and solves it. */
#include "fem/problem/problem.h"
#include "core/base/options.h"
#include "fem/mesh/sorted.h"
#include "fem/precondition/precondition.h"
#include "fem/space/layout.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void free_vectors(weft_problem *problem) {
    weft_memory_free(&problem->system.u);
    weft_memory_free(&problem->system.b);
    free(problem->system.u_values);
    free(problem->system.b_values);
    problem->system.u_values = problem->system.b_values = NULL;
}

void weft_problem_clear_conditions(weft_problem *problem) {
    weft_problem_clear_constraints(problem);
    for (int i = 0; i < problem->fields.n; ++i)
        weft_bc_free(&problem->fields.list[i].bc);
    if (problem->fields.n == 0)
        weft_bc_free(&problem->fields.bc);
    problem->fields.bc = NULL;
    free(problem->fields.own_constrained);
    problem->fields.own_constrained = NULL;
}

/* All that a solve has made; the spaces, conditions and forms stay. */
static void clear_solve(weft_problem *problem) {
    weft_linear_clear(&problem->system.linear);
    weft_problem_release_vectors(problem);
    weft_problem_clear_conditions(problem);
    weft_point_loads_free(&problem->point_loads);
    weft_operator_free(&problem->system.op);
    weft_operator_free(&problem->system.robin);
    weft_vectors_clear(&problem->system.vectors);
    weft_memory_free(&problem->system.flux_memory);
    weft_memory_free(&problem->system.scratch);
    weft_problem_newton_clear(&problem->newton);
    free(problem->system.flux);
    problem->system.flux = NULL;
    if (!problem->forms.is_nonlinear) /* u is an input of r */
        free_vectors(problem);
    free(problem->system.rest);
    problem->system.rest = NULL;
    problem->system.modes_are_pinned = false;
    problem->system.open.n = problem->system.linear.n_open = 0;
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
    weft_layout_free(&problem->fields.layout);
    for (int i = 0; i < problem->fields.n; ++i)
        weft_space_free(&problem->fields.list[i].space);
    if (problem->fields.n == 0)
        weft_space_free(&problem->fields.space);
    free(problem->fields.conditions);
    weft_declared_clear(&problem->declared);
    weft_stated_clear(&problem->stated);
    free(problem->forms.more);
    weft_memory_free(&problem->steps.t);
    weft_memory_free(&problem->steps.previous);
    weft_memory_free(&problem->steps.length);
    free(problem->steps.parts);
    weft_mesh_sorted_free(&problem->sorted);
    free(problem);
    *out = NULL;
}

static void start_linear(weft_problem *problem, const weft_problem_options *options) {
    problem->system.linear = (weft_linear){.context = problem->context,
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
    made->context = made->fields.context = context;
    made->inputs.fields = made->system.fields = &made->fields;
    if (options)
        start_linear(made, options);
    *out = made;
done:
    return status;
}

void weft_problem_set_mesh(weft_problem *problem, const weft_mesh *mesh) {
    problem->mesh = problem->fields.mesh = mesh;
}

void weft_problem_count_fields(weft_problem *problem) {
    weft_fields_count(&problem->fields);
    weft_problem_describe(problem);
}

weft_solution weft_problem_solution(const weft_problem *problem) {
    return weft_fields_solution(&problem->fields, problem->system.u_values);
}

void weft_problem_describe(weft_problem *problem) {
    weft_linear *linear = &problem->system.linear;
    linear->mesh = problem->mesh;
    linear->hierarchy = problem->hierarchy;
    linear->spaces = problem->fields.spaces;
    linear->n_spaces = problem->fields.n;
    linear->needs_matrix = problem->declared.n > 0 || problem->forms.is_pencil;
}

weft_status weft_problem_make(weft_context *context, const weft_mesh *mesh,
                              weft_element_kind element, int components, weft_problem **out,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    weft_problem *made = NULL;
    TRY(weft_problem_start(context, NULL, &made, error));
    weft_problem_set_mesh(made, mesh);
    TRY(weft_space_make(context->device, mesh, element, components, &made->fields.space, error));
    weft_problem_count_fields(made);
    *out = made;
    made = NULL;
done:
    weft_problem_free(&made);
    return status;
}

const weft_space *weft_problem_space(const weft_problem *problem) {
    return problem->fields.space;
}

int weft_problem_spaces(const weft_problem *problem, const weft_space *const **out) {
    *out = problem->fields.spaces;
    return problem->fields.n;
}

int64_t weft_problem_dofs(const weft_problem *problem) {
    return problem->fields.n_dofs;
}

weft_status weft_problem_condition(weft_problem *problem, const weft_condition *condition,
                                   weft_error *error) {
    const size_t n = (size_t)problem->fields.n_conditions + 1;
    weft_condition *list = realloc(problem->fields.conditions, n * sizeof *list);
    if (!list)
        return weft_out_of_memory(error, "a condition");
    list[problem->fields.n_conditions++] = *condition;
    problem->fields.conditions = list;
    return WEFT_OK;
}

void weft_problem_form(weft_problem *problem, const weft_form *form) {
    problem->forms.is_diffusion = false;
    problem->forms.first.form = form ? *form : (weft_form){.text = NULL};
    if (problem->forms.first.form.components == 0 && problem->fields.space)
        problem->forms.first.form.components = weft_space_components(problem->fields.space);
}

weft_status weft_problem_diffusion(weft_problem *problem, const char *k, const char *origin,
                                   weft_error *error) {
    problem->forms.is_diffusion = true;
    return weft_diffusion_form(problem->fields.space, k, origin, &problem->forms.first, error);
}

void weft_problem_source(weft_problem *problem, const char *f, const char *origin) {
    problem->forms.source = f;
    problem->forms.source_origin = origin;
}

weft_status weft_problem_pull(weft_problem *problem, const double **values, weft_error *error) {
    weft_status status = WEFT_OK;
    *values = problem->system.u_values;
    TRY(weft_vector_pull(problem->system.u, problem->system.u_values, problem->fields.n_dofs,
                         error));
    TRY(weft_nullspace_remove(&problem->system, error));
done:
    return status;
}

const double *weft_problem_values(const weft_problem *problem) {
    return problem->system.u_values;
}

static weft_status check_started(const weft_problem *problem, weft_error *error) {
    if (problem->system.u_values)
        return WEFT_OK;
    return weft_error_refuse(
        error, WEFT_ERROR_USAGE, "the problem has no u yet whose values can be set",
        "a problem of weft_ufl_bind has one; other linear problems start from 0");
}

weft_status weft_problem_set_values(weft_problem *problem, const double *values,
                                    weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(check_started(problem, error));
    memcpy(problem->system.u_values, values, (size_t)problem->fields.n_dofs * sizeof *values);
    problem->has_initial = true;
    TRY(weft_stated_start(&problem->stated, NULL, values, problem->fields.n_dofs, error));
done:
    return status;
}

weft_status weft_problem_set_initial(weft_problem *problem, const char *text, const char *origin,
                                     weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_input_source source = {.text = text, .origin = origin};
    TRY(check_started(problem, error));
    problem->has_initial = true;
    TRY(weft_inputs_fill_fields(&problem->inputs, &source, problem->system.u_values, error));
    TRY(weft_stated_start(&problem->stated, text, NULL, 0, error));
done:
    return status;
}

weft_memory *weft_problem_u(const weft_problem *problem) {
    return problem->system.u;
}

void weft_problem_set_hierarchy(weft_problem *problem, const weft_hierarchy *hierarchy) {
    problem->hierarchy = hierarchy;
    weft_problem_describe(problem);
}

/* ---- solve ------------------------------------------------------------------------------- */

/* Of a scalar the mean may be zero where no condition fixes it. */
static weft_status make_conditions(weft_problem *problem, weft_error *error) {
    weft_status status = WEFT_OK;
    const int c = problem->fields.n_values;
    const bool may_float = problem->declared.n + problem->declared.n_loads > 0;
    TRY(weft_fields_conditions_make(&problem->fields, error));
    for (int k = 0; k < c && c > 1 && problem->forms.n_parts == 0 && !may_float; ++k) {
        bool is_free = false;
        TRY(weft_bc_find_free(problem->fields.bc, k, &is_free, error));
        if (is_free)
            TRY(weft_error_refuse(error, WEFT_ERROR_INPUT, "no condition fixes a component of u",
                                  "add a Dirichlet or Robin condition"));
    }
done:
    return status;
}

/* Without a vector, and with nothing else that makes u differ from zero. u has its prescribed values. */
static void advise_load(const weft_problem *problem) {
    const weft_assembled *system = &problem->system;
    const bool is_form = !problem->names.is_script;
    bool is_zero = problem->forms.n_parts > 0 && !problem->forms.vector && !problem->mesh->part &&
                   !problem->fields.has_constraints && !weft_records_only(problem->context);
    for (int64_t i = 0; is_zero && i < problem->fields.n_dofs; ++i)
        is_zero = system->u_values[i] == 0 && system->b_values[i] == 0;
    if (is_zero)
        weft_log(problem->context->monitor, WEFT_LOG_WARNING,
                 "%s has no %s, and no condition has a value other than 0, so that u = 0 is the "
                 "solution: write %s for a load",
                 problem->forms.file ? problem->forms.file : "the problem",
                 is_form ? "form L" : "vector b", is_form ? "L = f*v*dx" : "b[dofs] += ...;");
}

static weft_status apply_more(weft_problem *problem, weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n = problem->fields.n_dofs;
    if (!problem->more_load)
        goto done;
    TRY(weft_vector_pull(problem->system.b, problem->system.b_values, n, error));
    for (int64_t i = 0; i < n; ++i)
        problem->system.b_values[i] += problem->more_load[i];
    TRY(weft_vector_push(problem->system.b, problem->system.b_values, n, error));
done:
    return status;
}

weft_status weft_problem_load_make(weft_problem *problem, weft_error *error) {
    weft_status status = WEFT_OK;
    const bool is_nonlinear = problem->forms.is_nonlinear;
    TRY(weft_problem_point_loads_make(problem, error));
    if (problem->forms.n_parts == 0)
        TRY(weft_bc_load_make(problem->fields.bc, problem->forms.source,
                              problem->forms.source_origin, WEFT_LOAD_DEGREE, problem->system.b,
                              problem->system.b_values, error));
    else
        TRY(weft_problem_vectors_compile(problem, error));
    if (problem->forms.n_parts > 0 && (!is_nonlinear || weft_records_only(problem->context)))
        TRY(weft_problem_load(problem, 1, error));
    weft_problem_release_load(problem);
    if (is_nonlinear)
        goto done;
    TRY(weft_problem_point_loads_apply(problem, error));
    TRY(apply_more(problem, error));
    advise_load(problem);
done:
    return status;
}

weft_status weft_problem_load_alone(weft_problem *problem, double *out, weft_error *error) {
    weft_status status = WEFT_OK;
    clear_solve(problem);
    TRY(make_conditions(problem, error));
    TRY(weft_problem_vectors_make(problem, error));
    TRY(weft_problem_load_make(problem, error));
    TRY(weft_vector_pull(problem->system.b, out, problem->fields.n_dofs, error));
done:
    return status;
}

weft_status weft_problem_load_again(weft_problem *problem, double *out, weft_error *error) {
    weft_status status = WEFT_OK;
    bool is_compiled = false;
    for (int i = 0; i < problem->forms.n_parts; ++i)
        is_compiled |= problem->forms.parts[i].vector_program != NULL;
    if (!is_compiled)
        TRY(weft_problem_vectors_compile(problem, error));
    TRY(weft_problem_load(problem, 1, error));
    TRY(weft_vector_pull(problem->system.b, out, problem->fields.n_dofs, error));
done:
    return status;
}

weft_status weft_problem_set_time(weft_problem *problem, double t, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_transient_inputs moving = weft_inputs_moving(&problem->inputs);
    TRY(weft_memory_write(problem->steps.t, 0, &t, sizeof t, error));
    TRY(moving.set(moving.user, t, error));
done:
    return status;
}

weft_status weft_problem_assemble(weft_problem *problem, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(weft_problem_load_make(problem, error));
    problem->context->saving.calls[0] = '\0'; /* the example of reports is the operator's */
    TRY(weft_problem_operator_make(problem, error));
    if (problem->forms.is_nonlinear)
        TRY(weft_problem_robin_make(problem, error));
    TRY(weft_problem_check_fixed(problem, error));
done:
    return status;
}

bool weft_records_only(const weft_context *context) {
    return weft_device_limits(context->device)->records_only;
}

void weft_problem_presume_symmetric(weft_problem *problem) {
    weft_linear *linear = &problem->system.linear;
    weft_linear_choose_method(linear, true, problem->fields.n > 1, 0);
    problem->system.is_symmetric = weft_method_about(linear->choice.method)->needs_symmetric;
    problem->system.asymmetry = 0;
}

weft_status weft_problem_prepare(weft_problem *problem, const weft_problem_options *options,
                                 double solves, weft_error *error) {
    weft_status status = WEFT_OK;
    if (!problem->forms.first.form.text)
        TRY(weft_error_refuse(error, WEFT_ERROR_USAGE, "the problem has no form",
                              "call weft_problem_form"));
    start_linear(problem, options);
    TRY(make_conditions(problem, error));
    problem->system.vectors.share = weft_layout_share(problem->fields.layout);
    weft_problem_presume_symmetric(problem);
    problem->expected_solves = solves;
    TRY(weft_problem_choose(problem, error));
    TRY(weft_problem_check_forms(problem, error));
done:
    return status;
}

/* The mean is zero of what nothing fixes. */
static weft_status remove_constants(weft_problem *problem, weft_error *error) {
    weft_status status = WEFT_OK;
    double integral = 0, measure = 0;
    weft_solution u = weft_problem_solution(problem);
    u.memory = problem->system.u;
    TRY(weft_nullspace_remove(&problem->system, error));
    if (!problem->system.linear.project_mean)
        goto done;
    if (problem->fields.layout)
        TRY(weft_layout_update(problem->fields.layout, problem->system.u, error));
    TRY(weft_vector_pull(problem->system.u, problem->system.u_values, problem->fields.n_dofs,
                         error));
    TRY(weft_solution_integral(&u, 0, &integral, error));
    TRY(weft_space_integral(problem->fields.space, NULL, 0, &measure, error));
    TRY(weft_component_shift(&problem->system, 0, -integral / measure, error));
done:
    return status;
}

weft_status weft_problem_compute(weft_problem *problem, const weft_newton_options *newton,
                                 weft_error *error) {
    weft_status status = WEFT_OK;
    weft_kernel *kernel = NULL;
    if (newton) {
        TRY(weft_problem_newton(problem, newton, error));
        TRY(weft_nullspace_remove(&problem->system, error));
        goto done;
    }
    if (problem->system.linear.project_mean)
        TRY(weft_problem_check_balance(problem, error));
    TRY(weft_nullspace_project(&problem->system, error));
    TRY(weft_kernel_make(&problem->system, &kernel, error));
    if (kernel)
        TRY(weft_kernel_project(&problem->system, kernel, error));
    TRY(weft_problem_solve_system(problem, error));
    TRY(remove_constants(problem, error));
    if (kernel)
        TRY(weft_kernel_remove(&problem->system, kernel, error));
done:
    weft_kernel_free(&kernel);
    return status;
}

weft_status weft_problem_start_solve(weft_problem *problem, const weft_problem_options *options,
                                     double solves, weft_error *error) {
    weft_status status = WEFT_OK;
    const bool is_linear = !problem->forms.is_nonlinear;
    clear_solve(problem);
    weft_problem_expect(problem, options, solves, 0);
    if (!is_linear)
        TRY(weft_vector_push(problem->system.u, problem->system.u_values, problem->fields.n_dofs,
                             error));
    TRY(weft_problem_prepare(problem, options, solves, error));
    if (!is_linear)
        goto done;
    TRY(weft_problem_vectors_make(problem, error));
    weft_fields_set_conditions(&problem->fields, 1, problem->system.u_values);
    TRY(weft_vector_push(problem->system.u, problem->system.u_values, problem->fields.n_dofs,
                         error));
done:
    return status;
}

/* Of parts the whole gets the solution, and what reports say. */
static weft_status end_solve(weft_problem *problem, weft_problem_report *report,
                             weft_error *error) {
    weft_status status = WEFT_OK;
    weft_problem *whole = NULL;
    if (problem->mesh->part) {
        TRY(weft_problem_find_whole(problem, &whole, error));
        TRY(weft_problem_collect(problem, whole, error));
    }
    if (whole)
        weft_problem_move_results(problem, whole);
    weft_problem *shown = whole ? whole : problem;
    *report = (weft_problem_report){&shown->system.linear.choice, &shown->system.linear.cg,
                                    shown->system.asymmetry,
                                    problem->forms.is_nonlinear ? &shown->newton : NULL};
done:
    return status;
}

weft_status weft_problem_solve(weft_problem *problem, const weft_problem_options *options,
                               weft_problem_report *report, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(weft_options_check("weft_problem_options", options->size, sizeof *options, error));
    if (problem->forms.is_nonlinear || weft_problem_is_in_time(problem))
        TRY(weft_error_refuse(error, WEFT_ERROR_UNSUPPORTED,
                              "the problem is not linear and stationary",
                              "solve it by weft_problem_solve_nonlinear or weft_problem_in_time"));
    TRY(weft_problem_start_solve(problem, options, 1, error));
    TRY(weft_problem_assemble(problem, error));
    TRY(weft_problem_compute(problem, NULL, error));
    TRY(end_solve(problem, report, error));
done:
    return status;
}

/* ---- r(u) = 0 ---------------------------------------------------------------------------- */

weft_status weft_problem_solve_nonlinear(weft_problem *problem, const weft_problem_options *options,
                                         const weft_newton_options *newton,
                                         weft_problem_report *report, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(weft_options_check("weft_problem_options", options->size, sizeof *options, error));
    TRY(weft_options_check("weft_newton_options", newton->size, sizeof *newton, error));
    if (!problem->forms.is_nonlinear || weft_problem_is_in_time(problem) ||
        !problem->forms.first.form.text)
        TRY(weft_error_refuse(error, WEFT_ERROR_USAGE,
                              "the problem has no residual that is stationary",
                              "solve a linear one by weft_problem_solve"));
    if (newton->load_steps < 1 || newton->iterations < 0 || !(newton->tolerance > 0))
        TRY(weft_error_refuse(error, WEFT_ERROR_USAGE,
                              "these options of Newton's method are out of range",
                              "give at least one load step, and a positive tolerance"));
    TRY(weft_problem_start_solve(problem, options, (double)WEFT_NEWTON_USUAL * newton->load_steps,
                                 error));
    TRY(weft_problem_assemble(problem, error));
    TRY(weft_problem_compute(problem, newton, error));
    TRY(end_solve(problem, report, error));
done:
    return status;
}

/* ---- parts of ranks ------------------------------------------------------------------------ */

weft_status weft_problem_assemble_lightly(weft_problem *problem, weft_error *error) {
    problem->system.linear.choice.assembly = WEFT_ASSEMBLY_MATRIX_FREE;
    return weft_problem_assemble(problem, error);
}

void weft_problem_move_results(weft_problem *from, weft_problem *to) {
    weft_linear *whole = &to->system.linear, *part = &from->system.linear;
    whole->choice = part->choice;
    whole->cg = part->cg;
    part->cg = (weft_cg_result){0};
    weft_preconditioner_keep_report(part->preconditioner);
    weft_preconditioner_free(&whole->preconditioner);
    whole->preconditioner = part->preconditioner;
    part->preconditioner = NULL;
    whole->solve_seconds = part->solve_seconds;
    whole->precondition_seconds = part->precondition_seconds;
    to->system.asymmetry = from->system.asymmetry;
    to->system.is_symmetric = from->system.is_symmetric;
    to->steps.changed_at = from->steps.changed_at;
    weft_problem_newton_clear(&to->newton);
    to->newton = from->newton;
    from->newton = (weft_problem_newton_report){0};
}
