/* Integrates a problem in time. */
#include "core/base/number.h"
#include "core/base/options.h"
#include "fem/problem/problem.h"
#include "fem/time/scheme.h"

#include <math.h>
#include <stdlib.h>

/* Set what a problem in time takes from this one. */
static weft_status fill_transient(weft_problem *problem, weft_transient_problem *out,
                                  weft_error *error) {
    const int n = problem->forms.n_parts;
    free(problem->steps.parts);
    problem->steps.parts = calloc((size_t)n + 1, sizeof *problem->steps.parts);
    if (!problem->steps.parts)
        return weft_out_of_memory(error, NULL);
    for (int i = 0; i < n; ++i) {
        const weft_problem_part *part = &problem->forms.parts[i];
        problem->steps.parts[i] =
            (weft_transient_part){.form = &part->bound.form,
                                  .matrix = part->has_matrix ? problem->forms.matrix : NULL,
                                  .mass = part->has_mass ? problem->forms.mass : NULL,
                                  .vector = part->has_vector ? problem->forms.vector : NULL,
                                  .mass_name = problem->forms.mass_name,
                                  .input_name = problem->names.shown};
    }
    for (int i = 0; i < problem->fields.n; ++i)
        problem->steps.fields[i] =
            (weft_transient_field){problem->fields.list[i].space, problem->fields.list[i].bc};
    out->space = problem->fields.space;
    out->bc = problem->fields.bc;
    out->fields = problem->steps.fields;
    out->n_fields = problem->fields.n;
    out->open = problem->system.open.list;
    out->n_open = problem->system.open.n;
    out->constraints = problem->system.constraints;
    out->point_loads = problem->point_loads;
    out->parts = problem->steps.parts;
    out->n_parts = n;
    out->is_nonlinear = problem->forms.is_nonlinear;
    out->u = problem->system.u;
    out->time = problem->steps.t;
    out->previous = problem->steps.previous;
    out->length = problem->steps.length;
    out->moving = weft_inputs_moving(&problem->inputs);
    return WEFT_OK;
}

weft_status weft_problem_start_step(weft_problem *problem, double length, weft_error *error) {
    weft_status status = WEFT_OK;
    if (!problem->steps.previous)
        goto done;
    TRY(weft_memory_write(problem->steps.length, 0, &length, sizeof length, error));
    TRY(weft_memory_copy(problem->steps.previous, problem->system.u,
                         (size_t)problem->fields.n_dofs * sizeof(double), error));
done:
    return status;
}

/* The matrix may have been symmetric until now, as where it depends on a u that was 0. */
static weft_status choose_again(void *user, double t, weft_transient_solver *solver,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    weft_problem *problem = user;
    const weft_problem_choice *choice = &problem->system.linear.choice;
    char where[64];
    (void)weft_print(where, sizeof where, " in the step to t = %.6g", t);
    const weft_problem_choice before = problem->system.linear.choice;
    TRY(weft_problem_choose_method(problem, where, error));
    if (weft_method_about(choice->method)->needs_symmetric) {
        problem->system.linear.choice = before; /* with the reason that it had */
        goto done;
    }
    problem->steps.changed_at = t;
    *solver = (weft_transient_solver){choice->method, choice->assembly, choice->preconditioner};
done:
    return status;
}

/* A matrix of a linear step is symmetric, but not definite. */
static void note_indefinite(void *user, double t, weft_method method, const char *reason) {
    weft_problem *problem = user;
    weft_problem_choice *choice = &problem->system.linear.choice;
    if (choice->method != method)
        problem->steps.changed_at = t;
    choice->method = method;
    (void)weft_print(choice->method_reason, sizeof choice->method_reason, "%s", reason);
}

/* The constants that the matrix of several functions leaves open, for which it is made once. */
static weft_status find_open(weft_problem *problem, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(weft_problem_operator_make(problem, error));
    TRY(weft_nullspace_find(&problem->system, error));
done:
    weft_operator_free(&problem->system.op);
    return status;
}

/* A mass that is not symmetric needs the methods that such a stiffness needs. */
static weft_status check_mass(weft_problem *problem, const weft_transient_problem *whole,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    weft_problem_choice *choice = &problem->system.linear.choice;
    double asymmetry = 0;
    if (weft_records_only(problem->context))
        goto done;
    TRY(weft_transient_asymmetry(problem->context, whole, &asymmetry, error));
    if (asymmetry <= WEFT_SYMMETRIC)
        goto done;
    if (problem->system.is_symmetric)
        weft_linear_choose_method(&problem->system.linear, false, problem->fields.n > 1, asymmetry);
    if (weft_assembly_about(choice->assembly)->symmetric_only)
        choice->assembly = WEFT_ASSEMBLY_CSR;
    if (!weft_method_about(choice->method)->needs_symmetric)
        goto done;
    status = weft_error_set(
        error, WEFT_ERROR_INPUT, "the mass matrix '%s' is not symmetric: |M - M^T| is %.1e of |M|",
        problem->forms.mass_name ? problem->forms.mass_name : problem->forms.mass, asymmetry);
    weft_error_location(error, problem->forms.file, NULL, 0, 0);
    weft_error_hint(error, "leave out --method %s, or look at the script",
                    weft_method_about(choice->method)->name);
done:
    return status;
}

weft_status weft_problem_integrate(weft_problem *problem, const weft_transient_problem *settings,
                                   weft_transient **out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_transient_problem whole = *settings;
    const weft_linear *linear = &problem->system.linear;
    const weft_problem_choice *choice = &linear->choice;
    TRY(weft_problem_constraints_make(problem, error));
    TRY(weft_problem_point_loads_make(problem, error));
    if (problem->fields.n > 1 && !weft_records_only(problem->context))
        TRY(find_open(problem, error));
    TRY(fill_transient(problem, &whole, error));
    whole.preconditioner = choice->preconditioner;
    whole.is_exchangeable = linear->options->preconditioner == WEFT_AUTO;
    whole.hierarchy = linear->hierarchy;
    whole.smoother_degree = linear->options->smoother_degree;
    whole.petsc_options = linear->options->petsc_options;
    whole.choice = (weft_transient_choice){
        choose_again, linear->options->method == WEFT_AUTO ? note_indefinite : NULL, problem,
        choice->next, choice->next_after};
    TRY(check_mass(problem, &whole, error));
    whole.assembly = whole.mass_assembly = choice->assembly;
    const weft_system system = weft_problem_system(problem);
    whole.solver = weft_linear_options(linear, &system);
    whole.solver.max_iterations = linear->options->max_iterations;
    TRY(weft_transient_make(problem->context, &whole, out, error));
    problem->steps.settings = whole;
    problem->stated.first = *choice;
done:
    return status;
}

weft_status weft_problem_start_steps(weft_problem *problem, const weft_problem_options *options,
                                     double solves, double length, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_problem_expect(problem, options, solves, length);
    TRY(weft_vector_push(problem->system.u, problem->system.u_values, problem->fields.n_dofs,
                         error));
    TRY(weft_problem_start_step(problem, length, error));
    TRY(weft_problem_prepare(problem, options, solves, error));
done:
    return status;
}

/* The first of several ranks writes files of the whole. */
static weft_status tell_whole(weft_problem *part, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_problem *whole = NULL;
    if (!part->mesh->part)
        goto done;
    TRY(weft_problem_find_whole(part, &whole, error));
    if (!whole)
        goto done;
    whole->steps.settings = part->steps.settings;
    whole->stated.first = part->stated.first;
done:
    return status;
}

weft_status weft_problem_in_time(weft_problem *problem, const weft_problem_options *options,
                                 const weft_transient_problem *settings, weft_transient **out,
                                 weft_error *error) {
    weft_status status = WEFT_OK;
    weft_transient_problem whole = *settings;
    TRY(weft_options_check("weft_problem_options", options->size, sizeof *options, error));
    if (!problem->steps.t || problem->fields.bc)
        TRY(weft_error_refuse(error, WEFT_ERROR_USAGE,
                              problem->fields.bc ? "the problem was solved before"
                                                 : "the problem has neither a mass nor a scheme",
                              "make another problem, in time"));
    if (problem->names.previous && whole.tolerance > 0)
        TRY(weft_error_refuse(error, WEFT_ERROR_USAGE,
                              "a tolerance in time is for masses: the errors of a scheme that "
                              "the forms have are not known",
                              "let the tolerance be 0, for steps of given lengths"));
    const weft_time_row *row = weft_time_row_of(whole.scheme);
    if (row && !row->about.takes_theta && whole.theta != 0)
        TRY(weft_error_refuse(error, WEFT_ERROR_USAGE, "theta is for the theta scheme",
                              "leave it 0, or take that scheme"));
    TRY(weft_problem_start_steps(problem, options,
                                 ceil((whole.end - whole.start) / whole.dt) *
                                     (problem->forms.is_nonlinear ? WEFT_NEWTON_USUAL : 1),
                                 whole.dt, error));
    whole.theta = whole.theta != 0 ? whole.theta : 0.5;
    const weft_newton_options newton = weft_newton_options_default();
    whole.newton_tolerance = whole.newton_tolerance > 0 ? whole.newton_tolerance : newton.tolerance;
    whole.newton_iterations =
        whole.newton_iterations > 0 ? whole.newton_iterations : newton.iterations;
    TRY(weft_problem_integrate(problem, &whole, out, error));
    TRY(tell_whole(problem, error));
done:
    return status;
}
