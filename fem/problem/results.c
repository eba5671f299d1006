/* What follows from the solution of a problem: integrals, errors, energy, values at points, formulas. */
#include "fem/problem/output.h"
#include "fem/problem/problem.h"
#include "fem/space/space.h"
#include "fem/space/vectors.h"
#include "fem/weft_problem_results.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DERIVE_FUNCTIONS_MAX = 128 };

int weft_problem_components(const weft_problem *problem) {
    return problem->fields.n_values;
}

/* u on the host, as it is on the device. */
static weft_status pull(weft_problem *problem, weft_error *error) {
    const double *values = NULL;
    return problem->system.u && problem->fields.n > 0
               ? weft_problem_pull(problem, &values, error)
               : weft_error_refuse(error, WEFT_ERROR_USAGE, "the problem is not solved",
                                   "call weft_problem_solve, for example");
}

/* ---- integrals and errors ---------------------------------------------------------------- */

static weft_status integrate(weft_problem *problem, double *out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_solution u = weft_problem_solution(problem);
    u.memory = problem->system.u;
    for (int k = 0; k < problem->fields.n_values; ++k)
        TRY(weft_solution_integral(&u, k, &out[k], error));
done:
    return status;
}

/* Of a linear stationary problem, whose u was pulled. */
static weft_status measure_energy(weft_problem *problem, double *out, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(weft_problem_more_make(problem, error));
    if (!problem->system.robin)
        TRY(weft_problem_robin_make(problem, error));
    TRY(weft_assembled_energy(&problem->system, out, error));
done:
    return status;
}

weft_status weft_problem_measure(weft_problem *problem, double *integrals, double *energy,
                                 weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(pull(problem, error));
    if (problem->forms.is_diffusion) { /* in one pass */
        TRY(weft_diffusion_measure(&problem->system, &problem->forms.first, integrals, energy,
                                   error));
        goto done;
    }
    TRY(integrate(problem, integrals, error));
    if (energy)
        TRY(measure_energy(problem, energy, error));
done:
    return status;
}

weft_status weft_problem_integrals(weft_problem *problem, double *out, weft_error *error) {
    return weft_problem_measure(problem, out, NULL, error);
}

weft_status weft_problem_errors(weft_problem *problem, const char *const *exact, const char *origin,
                                double t, double *l2, double *h1, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_solution u;
    TRY(pull(problem, error));
    u = weft_problem_solution(problem);
    for (int k = 0; k < problem->fields.n_values; ++k) {
        double squares[2] = {0, 0};
        TRY(weft_solution_errors(&u, k, exact[k], origin, t, squares, error));
        l2[k] = sqrt(squares[0]);
        h1[k] = sqrt(squares[1]);
    }
done:
    return status;
}

weft_status weft_problem_sum(weft_problem *problem, const char *name, double *out,
                             weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_bound_form *form = NULL;
    if (!problem->names.is_script)
        TRY(weft_error_refuse(error, WEFT_ERROR_USAGE, "a sum is of a value of a script",
                              "integrate a formula of u, by weft_problem_derive"));
    TRY(pull(problem, error));
    form = &problem->forms.parts[0].bound;
    TRY(weft_form_sum(problem->context, form, weft_connectivity_from(form->form.dofs), &name, 1,
                      out, error));
done:
    return status;
}

/* ---- energy ------------------------------------------------------------------------------ */

weft_status weft_problem_energy(weft_problem *problem, double *out, weft_error *error) {
    weft_status status = WEFT_OK;
    double integral = 0;
    if (problem->forms.is_nonlinear || problem->steps.t || !problem->system.op)
        TRY(weft_error_refuse(error, WEFT_ERROR_USAGE,
                              "the problem has no energy, or it is not solved",
                              "solve a linear stationary problem before"));
    TRY(pull(problem, error));
    if (problem->forms.is_diffusion) {
        TRY(weft_diffusion_measure(&problem->system, &problem->forms.first, &integral, out, error));
        goto done;
    }
    TRY(measure_energy(problem, out, error));
done:
    return status;
}

/* ---- values at points -------------------------------------------------------------------- */

weft_status weft_problem_evaluate(weft_problem *problem, const weft_probes *probes, double *out,
                                  weft_error *error) {
    weft_status status = WEFT_OK;
    weft_solution u;
    TRY(pull(problem, error));
    u = weft_problem_solution(problem);
    TRY(weft_solution_evaluate(&u, weft_probes_at(probes), out, error));
done:
    return status;
}

weft_status weft_problem_write(weft_problem *problem, const char *path, const weft_derive *derive,
                               const char *statement, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_solution u;
    TRY(pull(problem, error));
    u = weft_problem_solution(problem);
    TRY(weft_solution_write(&u, path, derive, statement, error));
done:
    return status;
}

/* ---- formulas ---------------------------------------------------------------------------- */

/* What formulas of derived quantities may name with form files, whose functions are in any elements. */
typedef struct functions {
    weft_derive_function list[DERIVE_FUNCTIONS_MAX];
    weft_derive_constant constants[WEFT_FORM_INPUTS];
    int n, n_constants;
} functions;

static void add_function(functions *f, weft_derive_function one) {
    if (f->n < DERIVE_FUNCTIONS_MAX &&
        (!one.space || !weft_family_about(weft_space_element(one.space)->family)->at_points))
        f->list[f->n++] = one;
}

/* Inputs of one element share a set of nodes, and its space, whatever their numbers of components. */
static void add_input(const weft_problem *problem, const weft_input *input, functions *f) {
    const weft_name_info *info = &input->info;
    const char *name = input->shown;
    const weft_problem_set *set = weft_inputs_set_of(&problem->inputs, info->over);
    int64_t first = 0;
    if (!info->over && info->rank <= 4 && f->n_constants < WEFT_FORM_INPUTS) {
        weft_derive_constant *constant = &f->constants[f->n_constants++];
        *constant =
            (weft_derive_constant){.name = name, .memory = input->memory, .rank = info->rank};
        for (int k = 0; k < info->rank; ++k)
            constant->sizes[k] = info->sizes[k];
    }
    if (info->over && strcmp(info->over, "cells") == 0)
        add_function(f, (weft_derive_function){.name = name,
                                               .values = input->memory,
                                               .components = weft_input_components(info)});
    for (int i = 0; set && i < set->n; ++i) {
        const int components = set->is_flat || weft_space_is_mapped(set->spaces[i])
                                   ? weft_space_components(set->spaces[i])
                                   : weft_input_components(info);
        add_function(f, (weft_derive_function){.name = name,
                                               .space = set->spaces[i],
                                               .values = input->memory,
                                               .first = first,
                                               .first_component = set->first_values[i],
                                               .components = components});
        first += weft_space_nodes(set->spaces[i]) * components;
    }
}

static void list_functions(const weft_problem *problem, functions *f) {
    for (int i = 0; i < problem->fields.n; ++i)
        add_function(
            f, (weft_derive_function){.name = weft_fields_name(&problem->fields),
                                      .space = problem->fields.list[i].space,
                                      .values = problem->system.u,
                                      .first = problem->fields.list[i].first_dof,
                                      .first_component = problem->fields.list[i].first_value});
    for (int i = 0; i < problem->inputs.n; ++i)
        add_input(problem, &problem->inputs.list[i], f);
}

/* The names in the scripts of form files are not those of the file, whose inputs have others. */
weft_status weft_problem_derive(weft_problem *problem, const weft_derived_quantity *quantities,
                                int n, const weft_derive_problem *settings, weft_derive **out,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    functions f = {.n = 0};
    weft_derive_problem whole = settings ? *settings : (weft_derive_problem){.space = NULL};
    if (!whole.u && !problem->system.u)
        TRY(weft_error_refuse(error, WEFT_ERROR_USAGE, "the problem is not solved, nor in time",
                              "call weft_problem_solve, for example"));
    whole.space = problem->fields.space;
    if (!whole.solution)
        whole.solution = weft_fields_name(&problem->fields);
    whole.cells = &problem->forms.first.form;
    whole.in_time |= problem->steps.t != NULL;
    const bool is_form = problem->forms.n_parts > 0 && !problem->names.is_script;
    if (!whole.u && (is_form || !weft_space_is_barycentric(problem->fields.space))) {
        list_functions(problem, &f);
        whole.functions = f.list;
        whole.n_functions = f.n;
        whole.constants = f.constants;
        whole.n_constants = f.n_constants;
    }
    if (!whole.u)
        whole.u = problem->system.u;
    TRY(weft_derive_make(problem->context, &whole, quantities, n, out, error));
done:
    return status;
}
