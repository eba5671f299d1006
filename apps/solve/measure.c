/* Computes errors, integrals and energy of the solution, and its values at the probes. */
#include "apps/solve/solve.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DERIVE_FUNCTIONS_MAX = 128 };

/* A component's function: its field, or with enrichments one in a Lagrange space that contains all of its terms. */
typedef struct whole_function {
    const weft_space *space;
    weft_space *own;      /* NULL: the field's */
    const double *values; /* [nodes][components] */
    double *sum;
} whole_function;

static void whole_clear(whole_function *whole) {
    weft_space_free(&whole->own);
    free(whole->sum);
}

/* The last of the field and its enrichments, and their degree. */
static int find_terms(const solve *run, int first, int *degree) {
    int last = first;
    while (last + 1 < run->base.problem->n_fields &&
           run->base.problem->fields[last + 1].is_enrichment)
        ++last;
    *degree = 0;
    for (int i = first; i <= last; ++i) {
        const int own = weft_space_element(run->base.problem->fields[i].space)->degree;
        *degree = own > *degree ? own : *degree;
    }
    return last;
}

static weft_status whole_make(const solve *run, int k, whole_function *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_problem_field *field = weft_problem_field_of_value(run->base.problem, k);
    const int first = (int)(field - run->base.problem->fields),
              c = weft_space_components(field->space);
    int degree = 0;
    const int last = find_terms(run, first, &degree);
    double *term = NULL;
    *out = (whole_function){.space = field->space,
                            .values = run->base.problem->u_values + field->first_dof};
    if (last == first)
        return WEFT_OK;
    TRY(weft_space_make(run->base.device, run->base.mesh,
                        (weft_element_kind){WEFT_LAGRANGE, degree}, c, &out->own, error));
    out->sum = weft_array_make((size_t)weft_space_dofs(out->own), sizeof *out->sum);
    if (!out->sum)
        TRY(weft_out_of_memory(error, NULL));
    for (int i = first; i <= last; ++i) {
        TRY(weft_problem_field_term(run->base.problem, i, &term, error));
        TRY(weft_space_interpolate(run->base.problem->fields[i].space, term, c, out->own, out->sum,
                                   error));
        free(term);
        term = NULL;
    }
    out->space = out->own;
    out->values = out->sum;
done:
    free(term);
    return status;
}

/* A formula in x, y, z and t, in which t is a number now. */
static weft_status write_formula(const solve *run, const char *text, weft_text *out,
                                 weft_error *error) {
    while (*text) {
        size_t n = 1;
        if (isalnum((unsigned char)*text))
            while (isalnum((unsigned char)text[n]) || text[n] == '_')
                ++n;
        if (run->options->time.text && n == 1 && *text == 't')
            weft_text_add(out, "(%.17g)", run->time.state.t);
        else
            weft_text_add_bytes(out, text, n);
        text += n;
    }
    return out->failed ? weft_out_of_memory(error, NULL) : WEFT_OK;
}

/* The errors of component k, or its integral, in any element. */
static weft_status measure_any(solve *run, int k, const char *text, double errors[2],
                               weft_error *error) {
    weft_status status = WEFT_OK;
    const int own = k - weft_problem_field_of_value(run->base.problem, k)->first_value;
    whole_function whole = {.space = NULL};
    weft_text formula = {0};
    TRY(whole_make(run, k, &whole, error));
    if (text)
        TRY(write_formula(run, text, &formula, error));
    TRY(text ? weft_space_measure_errors(&run->base.context, whole.space, whole.values, own,
                                         formula.data, "--exact", errors, error)
             : weft_space_integral(whole.space, whole.values, own, &run->integral_u[k], error));
done:
    weft_text_free(&formula);
    whole_clear(&whole);
    return status;
}

/* Compute the errors of component k against the formula `text`, or with NULL its integral. */
static weft_status measure_component(solve *run, int k, const char *text, double errors[2],
                                     weft_error *error) {
    static const char *const integral[] = {"I"};
    weft_status status = WEFT_OK;
    const int c = run->components;
    double *values = NULL;
    weft_memory *memory = NULL;
    weft_bound_form form;
    if (!weft_problem_is_linear(run->base.problem))
        return measure_any(run, k, text, errors, error);
    TRY(weft_vector_make(run->base.device, run->base.mesh->n_nodes, &values, &memory, error));
    for (int64_t i = 0; i < run->base.mesh->n_nodes; ++i)
        values[i] = run->base.problem->u_values[i * c + k];
    TRY(weft_vector_push(memory, values, run->base.mesh->n_nodes, error));
    if (text) {
        TRY(weft_space_errors_at(&run->base.context, run->base.problem->space, memory, text,
                                 "--exact", run->time.state.t, errors, error));
        goto done;
    }
    TRY(weft_form_ship(run->base.problem->space, "integral.weft",
                       weft_space_cells(run->base.problem->space), &form, error));
    weft_form_bind_input(&form, "u", memory);
    TRY(weft_form_sum(&run->base.context, &form, run->base.mesh->n_cells, integral, 1,
                      &run->integral_u[k], error));
done:
    weft_memory_free(&memory);
    free(values);
    return status;
}

static weft_status measure_errors(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    double l2 = 0, h1 = 0;
    for (int k = 0; k < run->base.problem->n_values; ++k) {
        double errors[2] = {0, 0};
        TRY(measure_component(run, k, run->exact[k], errors, error));
        run->errors[k][0] = sqrt(errors[0]);
        run->errors[k][1] = sqrt(errors[1]);
        l2 += errors[0];
        h1 += errors[1];
    }
    app_run_set_errors(&run->base, l2, h1);
done:
    return status;
}

/* Rounding of what the Robin conditions and A pull at modes that they alone hold. */
static const double SAME_PULL = 1e-12;

/* out = R v, R of Robin conditions; v is left in run->base.problem->more. */
static weft_status apply_robin(solve *run, const double *v, weft_memory *memory, double *out,
                               weft_error *error) {
    weft_status status = WEFT_OK;
    memset(out, 0, (size_t)run->n_dofs * sizeof *out);
    TRY(weft_vector_push(run->base.problem->more, v, run->n_dofs, error));
    if (!run->base.problem->robin)
        goto done;
    TRY(weft_operator_apply(run->base.problem->robin, run->base.problem->more, memory, error));
    TRY(weft_vector_pull(memory, out, run->n_dofs, error));
done:
    return status;
}

/* y = A v - R v */
static weft_status apply_without_robin(solve *run, const double *v, weft_memory *memory, double *y,
                                       weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n = run->n_dofs;
    double *robin = weft_array_make((size_t)n, sizeof *robin);
    if (!robin)
        TRY(weft_out_of_memory(error, NULL));
    TRY(apply_robin(run, v, memory, robin, error));
    TRY(weft_operator_apply(run->base.problem->op, run->base.problem->more, memory, error));
    TRY(weft_vector_pull(memory, y, n, error));
    for (int64_t i = 0; i < n; ++i)
        y[i] -= robin[i];
done:
    free(robin);
    return status;
}

/* Of u = w + m, m of modes that weak terms hold, what m adds to u.(A - R) u: (2 w + m).(A - R) m. */
static weft_status measure_held(solve *run, weft_memory *memory, double *sum, weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n = run->n_dofs;
    const weft_held_modes *held = &run->base.problem->modes.held;
    double *m = weft_array_make((size_t)n, sizeof *m),
           *pull = weft_array_make((size_t)n, sizeof *m);
    double *robin = weft_array_make((size_t)n, sizeof *m);
    if (!m || !pull || !robin)
        TRY(weft_out_of_memory(error, NULL));
    weft_held_modes_add(held, n, 1, held->amounts, held->modes, m);
    weft_held_modes_add(held, n, 1, held->amounts, held->pulls, pull);
    TRY(apply_robin(run, m, memory, robin, error));
    for (int64_t i = 0; i < n; ++i)
        if (fabs(pull[i] - robin[i]) > SAME_PULL * fabs(robin[i]))
            *sum += (2 * run->base.problem->rest[i] + m[i]) * (pull[i] - robin[i]);
done:
    free(m);
    free(pull);
    free(robin);
    return status;
}

/* u.(A u)/2 without the contribution of Robin conditions to A */
static weft_status measure_energy(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const double *u =
        run->base.problem->rest ? run->base.problem->rest : run->base.problem->u_values;
    double *y = NULL, sum = 0;
    weft_memory *memory = NULL;
    TRY(weft_vector_make(run->base.device, run->n_dofs, &y, &memory, error));
    TRY(weft_problem_more_make(run->base.problem, error));
    TRY(apply_without_robin(run, u, memory, y, error));
    for (int64_t k = 0; k < run->n_dofs; ++k)
        y[k] *= u[k];
    sum = weft_sum(y, run->n_dofs);
    if (run->base.problem->rest)
        TRY(measure_held(run, memory, &sum, error));
    run->base.energy = sum / 2;
done:
    weft_memory_free(&memory);
    free(y);
    return status;
}

weft_status solve_integrate(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    for (int k = 0; k < run->base.problem->n_values; ++k)
        TRY(measure_component(run, k, NULL, NULL, error));
    if (!run->options->nonlinear && !run->options->time.text)
        TRY(measure_energy(run, error));
done:
    return status;
}

weft_status solve_measure(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const char *names[] = {run->options->sum};
    const weft_bound_form *form = &run->base.problem->parts[0].bound;
    TRY(weft_problem_nullspace_remove(run->base.problem, error));
    TRY(run->program->integrate(run, error));
    if (run->base.problem->linear
            .project_mean) { /* of the solutions take the one whose integral is zero */
        TRY(weft_problem_remove_mean(run->base.problem, run->integral_u[0], error));
        TRY(run->program->integrate(run, error));
    }
    if (run->exact)
        TRY(measure_errors(run, error));
    if (run->options->sum)
        TRY(weft_form_sum(&run->base.context, form, weft_connectivity_from(form->form.dofs), names,
                          1, &run->sum, error));
    TRY(app_run_measure_probes(&run->base, error));
done:
    return status;
}

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
    const weft_problem_set *set = weft_problem_set_of(problem, info->over);
    int64_t first = 0;
    if (!info->over && info->rank <= 4) {
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
        const int components =
            set->is_flat ? weft_space_components(set->spaces[i]) : weft_input_components(info);
        add_function(f, (weft_derive_function){.name = name,
                                               .space = set->spaces[i],
                                               .values = input->memory,
                                               .first = first,
                                               .first_component = set->first_values[i],
                                               .components = components});
        first += weft_space_nodes(set->spaces[i]) * components;
    }
}

static void list_functions(const solve *run, functions *f) {
    for (int i = 0; i < run->base.problem->n_fields; ++i)
        add_function(
            f, (weft_derive_function){.name = "u",
                                      .space = run->base.problem->fields[i].space,
                                      .values = run->base.problem->u,
                                      .first = run->base.problem->fields[i].first_dof,
                                      .first_component = run->base.problem->fields[i].first_value});
    for (int i = 0; i < run->base.problem->inputs.n; ++i)
        add_input(run->base.problem, &run->base.problem->inputs.list[i], f);
}

weft_status solve_derive_make(solve *run, weft_error *error) {
    functions f = {.n = 0};
    weft_derive_problem problem = {.space = run->base.problem->space,
                                   .cells = &run->base.problem->form.form,
                                   .u = run->base.problem->u,
                                   .in_time = run->options->time.text != NULL,
                                   .aliases = run->aliases};
    if (run->script.problem) {
        list_functions(run, &f);
        problem.functions = f.list;
        problem.n_functions = f.n;
        problem.constants = f.constants;
        problem.n_constants = f.n_constants;
    }
    if (run->program->name_coefficients)
        problem.n_aliases = run->program->name_coefficients(run, run->aliases);
    return app_run_derive_make(&run->base, &problem, error);
}

weft_status solve_derive(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    if (run->options->time.text) {
        if (run->base.derive && !run->base.is_null)
            TRY(weft_derive_run(run->base.derive, run->time.state.t, error));
        TRY(solve_time_balance(run, error));
        goto done;
    }
    if (run->base.derive)
        TRY(weft_derive_run(run->base.derive, 0, error));
    TRY(solve_balance(run, error));
done:
    return status;
}
