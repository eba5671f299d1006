/* Translates the inputs of the options into those of the problem, and estimates the memory of a run. */
#include "apps/common/fem.h"
#include "apps/solve/solve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Does the user mean an input by a name? */
static bool is_called(const solve *run, const char *input, const char *name) {
    return strcmp(run->script.ufl ? weft_ufl_plain_name(input) : input, name) == 0;
}

static const solve_binding *find_binding(const solve *run, const char *input) {
    for (int i = 0; i < run->options->inputs.n; ++i)
        if (is_called(run, input, run->options->inputs.list[i].name))
            return &run->options->inputs.list[i];
    return NULL;
}

/* The name of an input for messages. */
static const char *shown(const solve *run, const char *input) {
    return run->script.ufl ? weft_ufl_plain_name(input) : input;
}

static weft_status refuse_missing(const solve *run, const weft_name_info *info, weft_error *error) {
    const int n = weft_input_components(info);
    const char *name = shown(run, info->name);
    weft_error_set(error, WEFT_ERROR_USAGE, "the script's input '%s' has no values", name);
    weft_error_location(error, run->options->script, NULL, 0, 0);
    weft_error_hint(error, "add --input %s=%s%s%s", name, info->over ? "EXPR" : "NUMBER",
                    n > 1 ? ",..., one for each component" : "",
                    strcmp(info->name, "u") == 0 ? "; or, where u is the solution, --nonlinear"
                                                 : "");
    return WEFT_ERROR_USAGE;
}

/* The v of a matrix' K v. */
static bool is_direction(const solve *run, const char *name) {
    return (run->script.action || run->script.problem) && strcmp(name, "v") == 0;
}

static bool is_own(const solve *run, const char *name) {
    const bool is_load = strcmp(name, "load") == 0 && run->script.has_load;
    return strcmp(name, "x") == 0 || solve_time_sets(run, name) || is_direction(run, name) ||
           (strcmp(name, "u") == 0 && run->options->nonlinear) ||
           (is_load && !find_binding(run, name));
}

static weft_input_source source_of(const solve *run, const solve_binding *binding,
                                   const weft_name_info *info) {
    return (weft_input_source){.text = binding->value,
                               .origin = binding->origin,
                               .shown = shown(run, info->name),
                               .file = run->options->script,
                               .in_time = run->options->time.text != NULL};
}

static weft_status make_input(solve *run, const weft_name_info *info, weft_error *error) {
    const solve_binding *binding = find_binding(run, info->name);
    if (!binding)
        return refuse_missing(run, info, error);
    const weft_input_source source = source_of(run, binding, info);
    return weft_problem_add_input(run->base.problem, info, &source, error);
}

static weft_status refuse_set(const solve_binding *binding, weft_error *error) {
    weft_error_set(error, WEFT_ERROR_USAGE, "--time gives the input '%s' its values",
                   binding->name);
    weft_error_location(error, binding->origin, NULL, 0, 0);
    weft_error_hint(error, "leave it out: u at the start is given by --initial");
    return WEFT_ERROR_USAGE;
}

/* The same for a form file, whose coefficients and constants are listed. */
static weft_status refuse_in_form(const solve *run, const solve_binding *binding,
                                  const char *const *names, size_t n, weft_error *error) {
    weft_text list = {0};
    for (size_t i = 0; i < n; ++i) {
        bool known = is_own(run, names[i]);
        for (size_t k = 0; k < i; ++k)
            known |= strcmp(names[k], names[i]) == 0;
        if (!known)
            weft_text_add(&list, "%s%s", list.length ? ", " : "", weft_ufl_plain_name(names[i]));
    }
    weft_error_set(error, WEFT_ERROR_USAGE,
                   "the forms of %s contain no coefficient or constant '%s'", run->options->script,
                   binding->name);
    weft_error_hint(error, list.length ? "they contain %s" : "they contain none%s",
                    list.length && !list.failed ? list.data : "");
    weft_text_free(&list);
    return WEFT_ERROR_USAGE;
}

/* Refuse an input of the options that the script does not have, or that steps set. */
static weft_status check_unknown(const solve *run, const char *const *names, size_t n,
                                 weft_error *error) {
    for (int i = 0; i < run->options->inputs.n; ++i) {
        const solve_binding *binding = &run->options->inputs.list[i];
        bool known = false;
        for (size_t k = 0; k < n; ++k)
            known |= is_called(run, names[k], binding->name);
        if (known && solve_time_sets(run, binding->name))
            return refuse_set(binding, error);
        if (known)
            continue;
        const char *near = weft_nearest_name(binding->name, names, n);
        if (run->script.ufl)
            return refuse_in_form(run, binding, names, n, error);
        weft_error_set(error, WEFT_ERROR_USAGE, "the script %s has no input '%s'",
                       run->options->script, binding->name);
        if (near)
            weft_error_hint(error, "did you mean '%s'?", near);
        else
            weft_error_hint(error, "formulas are given by --define, parameters by --param");
        return WEFT_ERROR_USAGE;
    }
    return WEFT_OK;
}

/* Set the initial guess of Newton's method, which an input u may give. */
static weft_status start_solution(solve *run, const weft_name_info *info, weft_error *error) {
    const solve_binding *binding = find_binding(run, "u");
    const int c = run->components;
    if (!info->over || strcmp(info->over, "nodes") != 0 || weft_input_components(info) != c ||
        info->rank != (c > 1)) {
        weft_error_set(
            error, WEFT_ERROR_INPUT,
            "the input u does not have the shape of the solution, %d component%s per node", c,
            c == 1 ? "" : "s");
        weft_error_location(error, run->options->script, NULL, 0, 0);
        if (c == 1)
            weft_error_hint(error, "write input u : real over nodes;");
        else
            weft_error_hint(error, "write input u : real[%d] over nodes;", c);
        return WEFT_ERROR_INPUT;
    }
    if (binding && run->options->initial) {
        weft_error_set(error, WEFT_ERROR_USAGE, "u at the start is given twice");
        weft_error_location(error, binding->origin, NULL, 0, 0);
        weft_error_hint(error, "leave it out: --initial gives u at the start");
        return WEFT_ERROR_USAGE;
    }
    if (!binding)
        return WEFT_OK;
    const weft_input_source source = source_of(run, binding, info);
    return weft_problem_fill_input(run->base.problem, info, &source, run->base.problem->u_values,
                                   error);
}

static weft_status make_inputs(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_name_info *list = NULL;
    const char **names = NULL;
    size_t n_names = 0;
    int n = 0;
    TRY(weft_problem_list_inputs(run->base.problem, &list, &n, error));
    names = calloc((size_t)n + 1, sizeof *names);
    if (!names)
        TRY(weft_out_of_memory(error, NULL));
    for (int i = 0; i < n; ++i)
        if (strcmp(list[i].name, "x") != 0 && !is_direction(run, list[i].name))
            names[n_names++] = list[i].name;
    TRY(check_unknown(run, names, n_names, error));
    for (int i = 0; i < n; ++i) {
        if (strcmp(list[i].name, "u") == 0 && run->options->nonlinear)
            TRY(start_solution(run, &list[i], error));
        else if (!is_own(run, list[i].name))
            TRY(make_input(run, &list[i], error));
    }
    if (run->base.problem->inputs.n + 4 > WEFT_FORM_INPUTS)
        status = weft_error_set(error, WEFT_ERROR_UNSUPPORTED, "more than %d inputs",
                                WEFT_FORM_INPUTS - 4);
done:
    free(names);
    free(list);
    return status;
}

static double predict_product_bytes(const solve *run, const weft_assembly_problem *problem) {
    weft_assembly_cost costs[WEFT_ASSEMBLIES_MOST];
    const int n = weft_assembly_costs(weft_device_limits(run->base.device), problem, costs);
    for (int i = 0; i < n; ++i)
        if (costs[i].possible && costs[i].assembly == run->base.problem->linear.choice.assembly)
            return costs[i].product_bytes;
    return NAN;
}

/* Nodes of a cell, or of the widest domain. */
static int count_width(const solve *run) {
    int width = 0;
    for (int i = 0; i < run->base.problem->n_parts; ++i) {
        const weft_entity_dofs *dofs = run->script.parts[i].dofs;
        const int of_part = dofs ? weft_connectivity_width(dofs[0].connectivity) : 0;
        width = of_part > width ? of_part : width;
    }
    return width > 0 ? width : run->base.mesh->dimension + 1;
}

weft_status solve_memory_estimate(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_problem_options *options = &run->options->run.solver;
    const weft_mesh *mesh = run->base.mesh;
    const bool is_null = run->base.is_null;
    weft_name_info *inputs = NULL;
    int n_inputs = 0;
    const double expected =
        weft_cg_iterations_expected(mesh->dimension, solve_nodes(run), options->tolerance);
    const double products = is_null && options->assembly != WEFT_AUTO /* stops after the first */
                                ? 1
                                : fmin(expected, weft_linear_iterations_limit(options, mesh) + 2.0);
    const double solves = is_null ? 1 : fmax(run->base.expected_solves, 1);
    /* On the null device, a script's vector is planned by patches. */
    weft_problem_memory what = {
        .problem = {.dimension = mesh->dimension,
                    .width = count_width(run),
                    .n_nodes = solve_nodes(run),
                    .n_cells = mesh->n_cells,
                    .symmetric = run->base.problem->is_symmetric,
                    .asymmetry = run->base.problem->is_symmetric ? 0 : run->base.problem->asymmetry,
                    .applications = solves * products,
                    .solves = solves,
                    .components = run->components,
                    .assembles_load = !is_null || run->base.problem->n_parts == 0},
        .n_vectors = run->options->nonlinear && !is_null ? 9 : 2,
        .assembles_again = run->options->nonlinear,
        .solves_once = !run->options->nonlinear && !run->options->time.text,
        .ranges_load = run->base.problem->n_parts == 0,
        .method = run->base.problem->linear.choice.method,
        .restart = options->restart};
    TRY(weft_problem_list_inputs(run->base.problem, &inputs, &n_inputs, error));
    for (int i = 0; i < n_inputs; ++i)
        if (!is_own(run, inputs[i].name))
            what.input_bytes +=
                (size_t)weft_problem_input_size(run->base.problem, &inputs[i]) * sizeof(double);
    weft_problem_describe(run->base.problem);
    TRY(weft_linear_choose(&run->base.problem->linear, &what, error));
    run->product_bytes = predict_product_bytes(run, &what.problem);
done:
    free(inputs);
    return status;
}

weft_status solve_data_make(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_problem *problem = run->base.problem;
    const char *initial = run->options->initial;
    TRY(weft_problem_vectors_make(problem, error));
    TRY(weft_problem_scale_loads(problem, 1, error));
    if (run->base.problem->n_parts > 0)
        TRY(make_inputs(run, error));
    if (initial && !run->options->time.text)
        TRY(weft_problem_set_initial(problem, initial, "--initial", error));
    if (!run->options->nonlinear)
        weft_problem_set_conditions(problem, 1, problem->u_values);
    TRY(weft_vector_push(problem->u, problem->u_values, run->n_dofs, error));
done:
    return status;
}
