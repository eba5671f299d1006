/* Gradients of functionals: the problems that forms/compile/gradient.c derives from a file, bound to the mesh of a problem that was
 * solved, one after another. */
#include "forms/bind/gradient.h"
#include "core/base/options.h"
#include "fem/time/record.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void derived_free(weft_derived **out) {
    weft_derived *d = *out;
    if (!d)
        return;
    weft_problem_free(&d->problem);
    weft_ufl_free(&d->ufl);
    weft_library_free(&d->library);
    free(d->values);
    free(d->measures);
    free(d->control);
    free(d->derivative);
    free(d);
    *out = NULL;
}

void weft_gradient_free(weft_gradient **out) {
    weft_gradient *g = out ? *out : NULL;
    if (!g)
        return;
    while (g->controls) {
        weft_derived *next = g->controls->next;
        derived_free(&g->controls);
        g->controls = next;
    }
    derived_free(&g->functional);
    derived_free(&g->adjoint);
    for (int i = 0; i < WEFT_GRADIENT_INPUTS; ++i)
        weft_memory_free(&g->inputs[i]);
    free(g->cotangent);
    free(g->lambda);
    free(g);
    *out = NULL;
}

/* ---- what a derived problem is given ------------------------------------------------------- */

/* Lists over cells are in blocks, those over dofs are not, nor are those that functionals alone read. */
static weft_status check_list(const weft_gradient *g, const weft_derived *d,
                              const weft_problem_value *value, weft_error *error) {
    const weft_binding *binding = g->problem->basis.user;
    if (!value->source.memory || ufl_problem_reads_cells(binding->file, value->name) ==
                                     ufl_problem_reads_cells(d->ufl, value->name))
        return WEFT_OK;
    weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                   "'%s' is a list over the cells, which the functional or a derivative reads over "
                   "facets, or the reverse",
                   value->name);
    weft_error_hint(error, "give it by a formula, or let the forms and the functional have the "
                           "same measures, as with 0*v*ds");
    return WEFT_ERROR_UNSUPPORTED;
}

/* The measures and values of the options that the problem has, and the states. */
static weft_status list_given(const weft_gradient *g, weft_derived *d, const weft_ufl_problem *ufl,
                              weft_error *error) {
    const weft_bind_options *given = g->options.bind;
    d->values = calloc((size_t)given->n_values + WEFT_GRADIENT_INPUTS, sizeof *d->values);
    d->measures = calloc((size_t)given->n_measures + 1, sizeof *d->measures);
    if (!d->values || !d->measures)
        return weft_out_of_memory(error, "a gradient");
    d->bind = *given;
    d->bind.values = d->values;
    d->bind.measures = d->measures;
    d->bind.n_values = d->bind.n_measures = 0;
    for (int i = 0; i < given->n_measures; ++i)
        if (weft_ufl_has_measure(ufl, given->measures[i].name))
            d->measures[d->bind.n_measures++] = given->measures[i];
    for (int i = 0; i < given->n_values; ++i) {
        if (!ufl_problem_reads(d->ufl, given->values[i].name))
            continue;
        const weft_status status = check_list(g, d, &given->values[i], error);
        if (status != WEFT_OK)
            return status;
        d->values[d->bind.n_values++] = given->values[i];
    }
    const ufl_sensitivity *what = &d->what;
    const char *const names[] = {what->state, what->adjoint, what->adjoint_mass, what->shift,
                                 what->weight};
    for (int i = 0; i < WEFT_GRADIENT_INPUTS && names[i]; ++i)
        if (ufl_problem_reads(d->ufl, names[i]))
            d->values[d->bind.n_values++] =
                (weft_problem_value){.name = names[i], .source.memory = g->inputs[i]};
    d->bind.in_time = false;
    d->bind.has_time = what->in_time;
    return WEFT_OK;
}

/* ---- deriving and binding ------------------------------------------------------------------ */

static weft_status derive(const weft_gradient *g, ufl_role role, const char *control,
                          weft_derived **out, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_binding *binding = g->problem->basis.user;
    const weft_ufl_problem *ufl = NULL;
    weft_derived *d = calloc(1, sizeof *d);
    if (!d)
        TRY(weft_out_of_memory(error, "a gradient"));
    d->control = control ? strdup(control) : NULL;
    if (control && !d->control)
        TRY(weft_out_of_memory(error, "a gradient"));
    d->what = (ufl_sensitivity){.role = role,
                                .functional = g->options.functional,
                                .control = d->control,
                                .in_time = weft_problem_is_in_time(g->problem),
                                .mass = g->options.bind->mass};
    d->context = *g->problem->context;
    TRY(ufl_read_sensitivity(binding->file, &d->what, &d->ufl, error));
    TRY(weft_fem_library_make(&d->library, error));
    d->context.library = d->library;
    TRY(weft_ufl_problem_of(d->ufl, &ufl, error));
    TRY(list_given(g, d, ufl, error));
    TRY(weft_problem_start(&d->context, g->options.solve, &d->problem, error));
    if (role == UFL_ADJOINT)
        TRY(weft_problem_hold(d->problem, g->problem, error));
    TRY(weft_ufl_bind(d->ufl, g->problem->mesh, d->library, &d->bind, d->problem, error));
    *out = d;
    d = NULL;
done:
    derived_free(&d);
    return status;
}

/* Refuse steps that have no adjoint equations here. */
static weft_status check_time(const weft_gradient_options *options, const weft_problem *problem,
                              weft_error *error) {
    bool has_robin = false;
    double numbers[WEFT_TRANSIENT_NUMBERS] = {0}; /* the first: all steps */
    const int64_t n = options->transient ? weft_time_record_steps(options->transient) : 0;
    const char *names[WEFT_TRANSIENT_LISTS];
    weft_memory *lists[WEFT_TRANSIENT_LISTS] = {NULL}; /* the first: u */
    if (options->transient) {
        weft_transient_numbers(options->transient, numbers);
        (void)weft_transient_lists(options->transient, names, lists);
    }
    for (int i = 0; i < problem->fields.n_conditions; ++i)
        has_robin |= problem->fields.conditions[i].kind == WEFT_ROBIN;
    const struct {
        bool is_so;
        weft_status status;
        const char *what, *hint;
    } all[] = {
        {problem->names.previous != NULL, WEFT_ERROR_UNSUPPORTED,
         "gradients of steps whose scheme the forms have are not computed",
         "write a mass, as m = inner(u, v)*dx, with one of the schemes"},
        {n == 0, WEFT_ERROR_USAGE, "a gradient in time is that of recorded steps",
         "give a number of checkpoints, and make steps before"},
        {lists[0] != problem->system.u, WEFT_ERROR_UNSUPPORTED,
         "gradients in time are not computed on several ranks, nor of another problem's steps",
         "leave out --ranks, or mpirun"},
        {(double)n != numbers[0], WEFT_ERROR_UNSUPPORTED,
         "gradients are not computed of runs that continue from a checkpoint",
         "make all steps in one run"},
        {!options->functional, WEFT_ERROR_UNSUPPORTED,
         "derivatives by u that are given are not pulled back through steps in time",
         "write a functional J into the form file"},
        {problem->declared.n > 0, WEFT_ERROR_UNSUPPORTED,
         "gradients in time are not computed with constraints", "leave out the constraints"},
        {has_robin, WEFT_ERROR_UNSUPPORTED,
         "gradients in time are not computed with Robin conditions",
         "write them into the form, as alpha*u*v*ds(1)"},
        {problem->system.open.n > 0, WEFT_ERROR_UNSUPPORTED,
         "gradients in time are not computed where nothing fixes a constant of u",
         "prescribe a value of it"}};
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i)
        if (all[i].is_so)
            return weft_error_refuse(error, all[i].status, all[i].what, all[i].hint);
    return WEFT_OK;
}

static weft_status check(const weft_problem *problem, const weft_gradient_options *options,
                         weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(weft_options_check("weft_gradient_options", options->size, sizeof *options, error));
    const weft_binding *binding = problem->basis.user;
    if (!binding || !binding->file)
        TRY(weft_error_refuse(error, WEFT_ERROR_USAGE,
                              "a gradient is that of a form file's problem",
                              "write the problem as a form file, with a functional J"));
    if (weft_problem_is_in_time(problem))
        TRY(check_time(options, problem, error));
    if (problem->mesh->part)
        TRY(weft_error_refuse(error, WEFT_ERROR_UNSUPPORTED,
                              "gradients are not computed on several ranks",
                              "leave out --ranks, or mpirun"));
    if (!problem->system.u)
        TRY(weft_error_refuse(error, WEFT_ERROR_USAGE, "the problem is not solved",
                              "solve it first"));
done:
    return status;
}

/* ---- values -------------------------------------------------------------------------------- */

/* The load of a derived problem. */
static weft_status compute_load(weft_derived *d, weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t n = (size_t)weft_problem_dofs(d->problem);
    if (!d->derivative)
        d->derivative = calloc(n + 1, sizeof *d->derivative);
    if (!d->derivative)
        TRY(weft_out_of_memory(error, "a gradient"));
    if (d->problem->forms.vector) /* otherwise it vanishes */
        TRY(weft_problem_load_alone(d->problem, d->derivative, error));
done:
    return status;
}

void weft_derived_finish(weft_derived *d) {
    weft_gradient_of *of = &d->of;
    *of = (weft_gradient_of){
        .problem = d->problem, .n = weft_problem_dofs(d->problem), .derivative = d->derivative};
    of->n_numbers = d->what.is_number ? d->problem->fields.n_values : 0;
    for (int64_t i = 0; i < of->n && of->n_numbers > 0; ++i)
        of->numbers[i % of->n_numbers] += of->derivative[i];
}

/* The derivative with respect to a control. */
static weft_status compute_control(const weft_gradient *g, weft_derived *d, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(compute_load(d, error));
    for (int64_t i = 0; d->what.is_state && g->cotangent && i < weft_problem_dofs(d->problem); ++i)
        d->derivative[i] += g->cotangent[i];
    weft_derived_finish(d);
done:
    return status;
}

weft_status weft_gradient_solve_again(weft_gradient *g, weft_problem *by, const double *load,
                                      double *out, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(weft_problem_solve_again(by, load, out, &g->again, error));
    g->report = (weft_problem_report){.choice = &by->system.linear.choice,
                                      .result = &g->again,
                                      .asymmetry = by->system.asymmetry};
done:
    return status;
}

/* Solve the adjoint problem, and compute the derivatives of all controls again. */
static weft_status compute_adjoint(weft_gradient *g, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_problem *adjoint = g->adjoint->problem;
    const bool is_own = weft_problem_is_self_adjoint(g->problem);
    const int64_t n = weft_problem_dofs(g->problem);
    if (!g->lambda)
        g->lambda = malloc((size_t)n * sizeof *g->lambda + 1);
    if (!g->lambda)
        TRY(weft_out_of_memory(error, "a gradient"));
    if (is_own || weft_problem_is_open(g->problem)) /* a solve computes it by itself */
        TRY(weft_problem_load_alone(adjoint, g->lambda, error));
    if (weft_problem_is_open(g->problem) && weft_problem_works_on_free(g->problem, g->lambda))
        TRY(weft_error_refuse(
            error, WEFT_ERROR_UNSUPPORTED,
            "the functional depends on a constant, or a motion, of u that nothing fixes",
            "prescribe a value of it, or take it off in the functional, as (p - q)**2 with the "
            "mean of q"));
    if (is_own) {
        TRY(weft_gradient_solve_again(g, g->problem, g->lambda, g->lambda, error));
    } else {
        TRY(weft_problem_solve(adjoint, g->options.solve, &g->report, error));
        memcpy(g->lambda, weft_problem_values(adjoint), (size_t)n * sizeof *g->lambda);
    }
    TRY(weft_vector_push(g->inputs[WEFT_GRADIENT_ADJOINT], g->lambda, n, error));
    for (weft_derived *d = g->controls; d; d = d->next)
        TRY(compute_control(g, d, error));
done:
    return status;
}

static bool is_solved(const weft_problem *problem) {
    return problem->forms.is_nonlinear ? problem->newton.converged
                                       : problem->system.linear.cg.outcome == WEFT_CG_CONVERGED;
}

weft_status weft_gradient_update(weft_gradient *g, weft_error *error) {
    weft_status status = WEFT_OK;
    if (g->options.transient) {
        status = weft_gradient_sweep(g, error);
        goto done;
    }
    if (!is_solved(g->problem))
        TRY(weft_error_refuse(error, WEFT_ERROR_INPUT, "the problem has not converged",
                              "a gradient is that of a solution: solve it first"));
    const size_t bytes = (size_t)weft_problem_dofs(g->problem) * sizeof(double);
    TRY(weft_memory_copy(g->inputs[WEFT_GRADIENT_STATE], g->problem->system.u, bytes, error));
    if (!g->functional)
        goto done;
    TRY(compute_load(g->functional, error));
    g->value = weft_sum(g->functional->derivative, weft_problem_dofs(g->functional->problem));
    TRY(compute_adjoint(g, error));
done:
    return status;
}

weft_status weft_gradient_pull_back(weft_gradient *g, const double *cotangent, weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t bytes = (size_t)weft_problem_dofs(g->problem) * sizeof(double);
    if (g->functional)
        TRY(weft_error_refuse(error, WEFT_ERROR_USAGE,
                              "the derivatives by u are those of a functional",
                              "make a gradient without one"));
    if (!g->cotangent)
        g->cotangent = malloc(bytes + 1);
    if (!g->cotangent)
        TRY(weft_out_of_memory(error, "a gradient"));
    memcpy(g->cotangent, cotangent, bytes);
    g->adjoint->problem->more_load = g->cotangent;
    TRY(compute_adjoint(g, error));
done:
    return status;
}

static bool is_of(const weft_derived *d, const char *control) {
    return control ? d->control && strcmp(d->control, control) == 0 : !d->control;
}

static weft_derived *find(const weft_gradient *g, const char *control) {
    weft_derived *d = g->controls;
    while (d && !is_of(d, control))
        d = d->next;
    return d;
}

/* What conditions add to F, and what constraints relate, is not in the file. */
static weft_status check_prescribed(const weft_problem *problem, weft_error *error) {
    bool found = problem->declared.n > 0;
    for (int i = 0; i < problem->fields.n_conditions; ++i)
        found |= problem->fields.conditions[i].kind == WEFT_ROBIN;
    if (!found)
        return WEFT_OK;
    return weft_error_refuse(error, WEFT_ERROR_UNSUPPORTED,
                             "derivatives with respect to prescribed values are not computed "
                             "beside Robin conditions or constraints",
                             "write Robin conditions into the form, as alpha*u*v*ds(1)");
}

/* Of a problem in time `initial` is u at the start, if the file does not have it. */
static weft_status add_control(weft_gradient *g, const char *control, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_binding *binding = g->problem->basis.user;
    weft_derived *made = NULL;
    const bool is_initial = g->options.transient && control && strcmp(control, "initial") == 0 &&
                            !ufl_module_terminal(binding->file->module, control);
    TRY(derive(g, UFL_GRADIENT, is_initial ? NULL : control, &made, error));
    if (is_initial) {
        made->is_initial = true;
        made->control = strdup(control);
        if (!made->control)
            TRY(weft_out_of_memory(error, "a gradient"));
    } else if (made->what.is_state) {
        TRY(check_prescribed(g->problem, error));
    }
    made->next = g->controls;
    g->controls = made;
    made = NULL;
done:
    derived_free(&made);
    return status;
}

weft_status weft_gradient_make(weft_problem *problem, const weft_gradient_options *options,
                               weft_gradient **out, weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t bytes = (size_t)weft_problem_dofs(problem) * sizeof(double);
    weft_gradient *g = NULL;
    TRY(check(problem, options, error));
    g = calloc(1, sizeof *g);
    if (!g)
        TRY(weft_out_of_memory(error, "a gradient"));
    g->problem = problem;
    g->options = *options;
    for (int i = 0; i < (options->transient ? WEFT_GRADIENT_INPUTS : WEFT_GRADIENT_ADJOINT_MASS);
         ++i)
        TRY(weft_memory_make(problem->context->device,
                             i < WEFT_GRADIENT_SHIFT ? bytes : sizeof(double), &g->inputs[i],
                             error));
    if (options->functional)
        TRY(derive(g, UFL_VALUE, NULL, &g->functional, error));
    TRY(derive(g, UFL_ADJOINT, NULL, &g->adjoint, error));
    for (int i = 0; i < options->n_controls; ++i)
        if (!find(g, options->controls[i]))
            TRY(add_control(g, options->controls[i], error));
    TRY(weft_gradient_update(g, error));
    *out = g;
    g = NULL;
done:
    weft_gradient_free(&g);
    return status;
}

double weft_gradient_value(const weft_gradient *gradient) {
    return gradient->value;
}

const weft_problem_report *weft_gradient_report(const weft_gradient *gradient) {
    return &gradient->report;
}

const double *weft_gradient_adjoint(const weft_gradient *gradient) {
    return gradient->lambda;
}

weft_status weft_gradient_control(weft_gradient *g, const char *control, weft_gradient_of *out,
                                  weft_error *error) {
    weft_status status = WEFT_OK;
    if (!g->functional && !g->cotangent)
        TRY(weft_error_refuse(error, WEFT_ERROR_USAGE, "there are no derivatives by u yet",
                              "call weft_gradient_pull_back first"));
    if (!find(g, control)) {
        TRY(add_control(g, control, error));
        TRY(g->options.transient ? weft_gradient_sweep(g, error)
                                 : compute_control(g, g->controls, error));
    }
    *out = find(g, control)->of;
done:
    return status;
}

weft_status weft_gradient_project(weft_gradient *g, const char *control, weft_gradient_of *out,
                                  weft_error *error) {
    weft_status status = WEFT_OK;
    weft_problem_report report;
    TRY(weft_gradient_control(g, control, out, error));
    weft_derived *d = find(g, control);
    if (d->of.gradient)
        goto done;
    d->problem->more_load = d->what.is_state ? g->cotangent : NULL;
    if (g->options.transient) { /* its own load is 0, since the adjoint state and the weight are */
        d->problem->more_load = d->derivative;
        for (int i = WEFT_GRADIENT_ADJOINT; i < WEFT_GRADIENT_INPUTS; ++i)
            TRY(weft_memory_zero(g->inputs[i], error));
    }
    TRY(weft_problem_solve(d->problem, g->options.solve, &report, error));
    d->of.gradient = weft_problem_values(d->problem);
    d->of.outcome = report.result->outcome;
    *out = d->of;
done:
    return status;
}
