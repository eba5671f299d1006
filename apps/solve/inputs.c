/* Makes u, b and the script's input fields, which are filled by the user's formulas, and estimates the
 * memory of a run. */
#include "apps/common/fem.h"
#include "apps/solve/solve.h"
#include "core/weft_core.h"
#include "fem/weft_fem.h"
#include "fusion/weft_compile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *solve_plain_name(const char *name) {
    static const char prefix[] = "coefficient_";
    return strncmp(name, prefix, sizeof prefix - 1) == 0 ? name + sizeof prefix - 1 : name;
}

/* The same for any cells, as a function that is constant in each. */
static weft_status evaluate_constants(solve *run, const char *text, const char *origin,
                                      weft_memory *memory, double *values, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_space *space = NULL;
    double *of_nodes = NULL;
    weft_memory *nodes = NULL;
    const int64_t n = run->base.mesh->n_cells;
    TRY(weft_space_make(run->base.device, run->base.mesh,
                        (weft_element_kind){WEFT_DISCONTINUOUS, 0}, 1, &space, error));
    TRY(weft_vector_make(run->base.device, n, &of_nodes, &nodes, error));
    TRY(weft_space_evaluate(&run->base.context, space, text, origin, nodes, of_nodes, error));
    for (int64_t c = 0; c < n; ++c)
        values[c] = of_nodes[weft_space_cell_nodes(space)[c]];
    TRY(weft_vector_push(memory, values, n, error));
done:
    weft_memory_free(&nodes);
    free(of_nodes);
    weft_space_free(&space);
    return status;
}

/* Evaluate a formula at the centres of cells. */
static weft_status evaluate_centres(solve *run, const char *text, const char *origin,
                                    weft_memory *memory, double *values, weft_error *error) {
    weft_status status = WEFT_OK;
    const char *output = "u";
    weft_bound_form form;
    if (!weft_problem_is_linear(run->base.problem))
        return evaluate_constants(run, text, origin, memory, values, error);
    TRY(weft_form_ship(run->base.problem->space, "centres.weft",
                       weft_space_cells(run->base.problem->space), &form, error));
    weft_form_bind_expression(&form, "value", text, origin);
    TRY(weft_form_run(&run->base.context, &form.form,
                      &(weft_form_outputs){&output, &memory, 1, "cells", run->base.mesh->n_cells},
                      error));
    TRY(weft_vector_pull(memory, values, run->base.mesh->n_cells, error));
done:
    return status;
}

static weft_status refuse_uniform(const solve_binding *binding, const char *why,
                                  weft_error *error) {
    weft_error_set(error, WEFT_ERROR_USAGE, "this input is a single number, and %s", why);
    weft_error_location(error, binding->origin, binding->value, 1, 1);
    weft_error_hint(
        error,
        "write a constant, such as 1/40; what varies in space is an input over nodes or cells");
    return WEFT_ERROR_USAGE;
}

weft_status solve_check_uniform(const solve_binding *binding, const char *text, weft_error *error) {
    static const char *const axes[] = {"x", "y", "z"};
    weft_status status = WEFT_OK;
    for (int k = 0; k < 3; ++k)
        if (weft_has_word(text, axes[k]))
            TRY(refuse_uniform(binding, "this formula depends on the place", error));
    if (weft_formula_by_group(text))
        TRY(refuse_uniform(binding, "this is a formula by group", error));
done:
    return status;
}

/* The value of an input that is a single number. */
static weft_status evaluate_uniform(solve *run, const solve_binding *binding, const char *text,
                                    double *value, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(solve_check_uniform(binding, text, error));
    TRY(weft_formula_evaluate(&run->base.context, text, binding->origin, NULL, value, error));
    if (!isfinite(*value))
        TRY(refuse_uniform(binding, "this formula has no finite value", error));
done:
    return status;
}

/* Index of component k of element i: nodes are stored as AoS, cells block-interleaved. */
static int64_t place(bool on_cells, int64_t lanes, int components, int64_t i, int k) {
    return on_cells ? (i / lanes * components + k) * lanes + i % lanes : i * components + k;
}

static int count(const weft_name_info *info) {
    int n = 1;
    for (int i = 0; i < info->rank; ++i)
        n *= info->sizes[i];
    return n;
}

static bool is_over(const weft_name_info *info, const char *index_set) {
    return info->over && strcmp(info->over, index_set) == 0;
}

/* Entries for which an input has values. */
static int64_t n_entries(const solve *run, const weft_name_info *info) {
    const weft_space *space = solve_space_of(run, info->over);
    weft_space **spaces = NULL;
    const weft_ufl_set *set = solve_set_of(run, info->over, &spaces);
    int64_t n_dofs = 0;
    for (int i = 0; set && set->flat && i < set->n; ++i)
        n_dofs += weft_space_dofs(spaces[i]);
    return n_dofs > 0               ? n_dofs
           : space                  ? weft_space_nodes(space)
           : is_over(info, "cells") ? run->base.mesh->n_cells
           : is_over(info, "nodes") ? solve_nodes(run)
                                    : 1;
}

/* Fill component k of an input from its formula. */
static weft_status fill(solve *run, const solve_binding *binding, const weft_name_info *info,
                        const char *text, int k, double *values, weft_error *error) {
    weft_status status = WEFT_OK;
    const int components = count(info);
    const bool on_cells = is_over(info, "cells");
    const weft_space *space = on_cells ? run->base.problem->space : solve_space_of(run, info->over);
    const int64_t lanes = weft_device_limits(run->base.device)->lanes_double;
    const int64_t n = n_entries(run, info);
    const int64_t room = (n + lanes - 1) / lanes * lanes;
    double *column = NULL, constant = 0;
    weft_memory *memory = NULL;
    const bool is_constant = !info->over || weft_formula_constant(text, &constant);
    if (!info->over)
        TRY(evaluate_uniform(run, binding, text, &constant, error));
    if (!is_constant) {
        TRY(weft_vector_make(run->base.device, room, &column, &memory, error));
        TRY(on_cells ? evaluate_centres(run, text, binding->origin, memory, column, error)
                     : weft_space_evaluate(&run->base.context, space, text, binding->origin, memory,
                                           column, error));
    }
    for (int64_t i = 0; i < (on_cells ? room : n); ++i) {
        const int64_t from = i < n ? i : n - 1; /* spare lanes repeat the last cell */
        const double value = column ? column[from] : constant;
        if (!isfinite(value) && !run->base.is_null)
            TRY(weft_formula_refuse(
                space, text, binding->origin,
                on_cells ? weft_space_cell_nodes(space)[from * weft_space_element(space)->n_nodes]
                         : from,
                error));
        values[place(on_cells, lanes, components, i, k)] = value;
    }
done:
    weft_memory_free(&memory);
    free(column);
    return status;
}

static weft_status refuse_count(const solve_binding *binding, int n, int wanted,
                                weft_error *error) {
    weft_error_set(error, WEFT_ERROR_USAGE,
                   "%d expression%s given, but this input has %d component%s", n,
                   n == 1 ? " is" : "s are", wanted, wanted == 1 ? "" : "s");
    weft_error_location(error, binding->origin, binding->value, 1, 1);
    weft_error_hint(error, "write one for each, with commas between them; matrices row by row");
    return WEFT_ERROR_USAGE;
}

weft_status solve_split_binding(const solve_binding *binding, int components, char ***out,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    char **list = NULL;
    int n = 0;
    TRY(app_split_list(binding->origin, binding->value, &list, &n, error));
    if (n != components)
        TRY(refuse_count(binding, n, components, error));
    *out = list;
    list = NULL;
done:
    app_free_list(&list, n);
    return status;
}

weft_status solve_component_fill(solve *run, const weft_space *space, const char *text,
                                 const char *origin, int k, double *values, weft_error *error) {
    weft_status status = WEFT_OK;
    const int c = weft_space_components(space);
    const int64_t n = weft_space_nodes(space);
    double *column = NULL, constant = 0;
    weft_memory *memory = NULL;
    const bool is_constant = weft_formula_constant(text, &constant);
    TRY(weft_vector_make(run->base.device, n, &column, &memory, error));
    if (!is_constant)
        TRY(weft_space_evaluate(&run->base.context, space, text, origin, memory, column, error));
    for (int64_t node = 0; node < n; ++node) {
        const double value = is_constant ? constant : column[node];
        if (!isfinite(value) && !run->base.is_null)
            TRY(weft_formula_refuse(space, text, origin, node, error));
        values[node * c + k] = value;
    }
done:
    weft_memory_free(&memory);
    free(column);
    return status;
}

/* Fill a function in several spaces, whose values are dofs: one formula for each component, which enrichments have in
 * common, since their dofs are values at nodes too. */
static weft_status bind_flat(solve *run, const solve_binding *binding, const weft_ufl_set *set,
                             weft_space **spaces, double *values, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_ufl_subspace *last = &set->sub[set->n - 1];
    const int n_values = last->first_value + last->components;
    char **list = NULL;
    TRY(app_split_components(binding->origin, binding->value, n_values, &list, error));
    for (int i = 0; i < set->n; ++i) {
        for (int k = 0; k < set->sub[i].components; ++k)
            TRY(solve_component_fill(run, spaces[i], list[set->sub[i].first_value + k],
                                     binding->origin, k, values, error));
        values += weft_space_dofs(spaces[i]);
    }
done:
    app_free_list(&list, n_values);
    return status;
}

static weft_status bind(solve *run, const solve_binding *binding, const weft_name_info *info,
                        double *values, weft_error *error) {
    weft_status status = WEFT_OK;
    const int components = count(info);
    char **list = NULL;
    weft_space **spaces = NULL;
    const weft_ufl_set *set = solve_set_of(run, info->over, &spaces);
    if (set && set->flat)
        return bind_flat(run, binding, set, spaces, values, error);
    TRY(solve_split_binding(binding, components, &list, error));
    for (int k = 0; k < components; ++k)
        TRY(fill(run, binding, info, list[k], k, values, error));
done:
    app_free_list(&list, components);
    return status;
}

/* Does the user mean an input by a name? */
static bool is_called(const solve *run, const char *input, const char *name) {
    return strcmp(run->script.ufl ? solve_plain_name(input) : input, name) == 0;
}

static const solve_binding *find_binding(const solve *run, const char *input) {
    for (int i = 0; i < run->options->inputs.n; ++i)
        if (is_called(run, input, run->options->inputs.list[i].name))
            return &run->options->inputs.list[i];
    return NULL;
}

/* The name of an input for messages. */
static const char *shown(const solve *run, const char *input) {
    return run->script.ufl ? solve_plain_name(input) : input;
}

static weft_status refuse_missing(const solve *run, const weft_name_info *info, weft_error *error) {
    const int n = count(info);
    const char *name = shown(run, info->name);
    weft_error_set(error, WEFT_ERROR_USAGE, "the script's input '%s' has no values", name);
    weft_error_location(error, run->options->script, NULL, 0, 0);
    weft_error_hint(error, "add --input %s=%s%s%s", name, info->over ? "EXPR" : "NUMBER",
                    n > 1 ? ",..., one for each component" : "",
                    strcmp(info->name, "u") == 0 ? "; or, where u is the solution, --nonlinear"
                                                 : "");
    return WEFT_ERROR_USAGE;
}

static weft_status refuse_over(const solve *run, const weft_name_info *info, weft_error *error) {
    weft_error_set(error, WEFT_ERROR_INPUT, "the input '%s' is over '%s'", shown(run, info->name),
                   info->over);
    weft_error_location(error, run->options->script, NULL, 0, 0);
    weft_error_hint(error, "inputs are over nodes, over cells, or uniform");
    return WEFT_ERROR_INPUT;
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

/* The number of values of an input, with the spare lanes of the last block of cells. */
static int64_t input_size(const solve *run, const weft_name_info *info) {
    const int64_t lanes = weft_device_limits(run->base.device)->lanes_double;
    const int64_t n = n_entries(run, info);
    return count(info) * (is_over(info, "cells") ? (n + lanes - 1) / lanes * lanes : n);
}

static weft_status make_input(solve *run, const weft_name_info *info, weft_error *error) {
    weft_status status = WEFT_OK;
    const solve_binding *binding = find_binding(run, info->name);
    const int64_t n = input_size(run, info);
    solve_input *input = &run->inputs[run->n_inputs];
    if (!binding)
        TRY(refuse_missing(run, info, error));
    if (info->over && !is_over(info, "cells") && !solve_space_of(run, info->over))
        TRY(refuse_over(run, info, error));
    input->name = info->name;
    input->info = *info;
    ++run->n_inputs;
    TRY(weft_vector_make(run->base.device, n, &input->values, &input->memory, error));
    if (solve_input_moves(run, binding->value)) {
        TRY(solve_moving_make(run, binding, info, input->memory, error));
        goto done;
    }
    TRY(bind(run, binding, info, input->values, error));
    TRY(weft_vector_push(input->memory, input->values, n, error));
done:
    return status;
}

static bool is_load(const solve_input *input) {
    return strcmp(solve_plain_name(input->name), "load") == 0;
}

bool solve_has_load(const solve *run) {
    bool has = run->script.has_load;
    for (int i = 0; i < run->n_inputs; ++i)
        has |= is_load(&run->inputs[i]);
    return has;
}

/* Values may wrap the memory, so that those of the full load are kept. */
static weft_status keep_whole(solve_input *input, int64_t n, weft_error *error) {
    if (input->whole)
        return WEFT_OK;
    input->whole = weft_array_make((size_t)n, sizeof *input->whole);
    if (!input->whole)
        return weft_out_of_memory(error, NULL);
    memcpy(input->whole, input->values, (size_t)n * sizeof *input->whole);
    return WEFT_OK;
}

weft_status solve_load_scale(solve *run, double factor, weft_error *error) {
    weft_status status = WEFT_OK;
    run->load_factor = factor;
    TRY(weft_memory_write(run->load, 0, &factor, sizeof factor, error));
    for (int i = 0; i < run->n_inputs; ++i) {
        solve_input *input = &run->inputs[i];
        const int64_t n = input_size(run, &input->info);
        if (!is_load(input))
            continue;
        TRY(keep_whole(input, n, error));
        for (int64_t k = 0; k < n; ++k)
            input->values[k] = factor * input->whole[k];
        TRY(weft_vector_push(input->memory, input->values, n, error));
    }
done:
    return status;
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
            weft_text_add(&list, "%s%s", list.length ? ", " : "", solve_plain_name(names[i]));
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
    if (!info->over || strcmp(info->over, "nodes") != 0 || count(info) != c ||
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
    return binding ? bind(run, binding, info, run->base.problem->u_values, error) : WEFT_OK;
}

/* The inputs of all parts, each once.
 *  out  [*n], to be freed */
static weft_status list_inputs(const solve *run, weft_name_info **out, size_t *n,
                               weft_error *error) {
    size_t room = 1;
    for (int p = 0; p < run->script.n_parts; ++p)
        room += (size_t)weft_compilation_names(run->script.parts[p].compilation);
    *n = 0;
    *out = calloc(room, sizeof **out);
    if (!*out)
        return weft_out_of_memory(error, NULL);
    for (int p = 0; p < run->script.n_parts; ++p)
        for (int i = 0; i < weft_compilation_names(run->script.parts[p].compilation); ++i) {
            weft_name_info info;
            weft_compilation_name(run->script.parts[p].compilation, i, &info);
            bool is_new = info.kind == WEFT_NAME_INPUT;
            for (size_t k = 0; k < *n; ++k)
                is_new &= strcmp((*out)[k].name, info.name) != 0;
            if (is_new)
                (*out)[(*n)++] = info;
        }
    return WEFT_OK;
}

static weft_status make_inputs(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_name_info *list = NULL;
    const char **names = NULL;
    size_t n = 0, n_names = 0;
    TRY(list_inputs(run, &list, &n, error));
    names = calloc(n + 1, sizeof *names);
    run->inputs = calloc(n + 1, sizeof *run->inputs);
    if (!names || !run->inputs)
        TRY(weft_out_of_memory(error, NULL));
    for (size_t i = 0; i < n; ++i)
        if (strcmp(list[i].name, "x") != 0 && !is_direction(run, list[i].name))
            names[n_names++] = list[i].name;
    TRY(check_unknown(run, names, n_names, error));
    for (size_t i = 0; i < n; ++i) {
        if (strcmp(list[i].name, "u") == 0 && run->options->nonlinear)
            TRY(start_solution(run, &list[i], error));
        else if (!is_own(run, list[i].name))
            TRY(make_input(run, &list[i], error));
    }
    if (run->n_inputs + 4 > WEFT_FORM_INPUTS)
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
    for (int i = 0; i < run->script.n_parts; ++i) {
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
    size_t n_inputs = 0;
    const double expected =
        weft_cg_iterations_expected(mesh->dimension, solve_nodes(run), options->tolerance);
    const double products = is_null && options->assembly != WEFT_AUTO /* stops after the first */
                                ? 1
                                : fmin(expected, weft_linear_iterations_limit(options, mesh) + 2.0);
    const double solves = is_null ? 1 : fmax(run->base.expected_solves, 1);
    /* On the null device, a script's vector is planned by patches. */
    weft_problem_memory what = {.problem = {.dimension = mesh->dimension,
                                            .width = count_width(run),
                                            .n_nodes = solve_nodes(run),
                                            .n_cells = mesh->n_cells,
                                            .symmetric = run->is_symmetric,
                                            .asymmetry = run->is_symmetric ? 0 : run->asymmetry,
                                            .applications = solves * products,
                                            .solves = solves,
                                            .components = run->components,
                                            .assembles_load = !is_null || run->script.n_parts == 0},
                                .n_vectors = run->options->nonlinear && !is_null ? 9 : 2,
                                .assembles_again = run->options->nonlinear,
                                .solves_once = !run->options->nonlinear && !run->options->time.text,
                                .ranges_load = run->script.n_parts == 0,
                                .method = run->base.problem->linear.choice.method,
                                .restart = options->restart};
    TRY(list_inputs(run, &inputs, &n_inputs, error));
    for (size_t i = 0; i < n_inputs; ++i)
        if (!is_own(run, inputs[i].name))
            what.input_bytes += (size_t)input_size(run, &inputs[i]) * sizeof(double);
    TRY(app_run_memory_estimate(&run->base, &what, error));
    run->product_bytes = predict_product_bytes(run, &what.problem);
done:
    free(inputs);
    return status;
}

weft_status solve_data_make(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(weft_problem_vectors_make(run->base.problem, error));
    TRY(weft_memory_make(run->base.device, sizeof(double), &run->load, error));
    TRY(solve_load_scale(run, 1, error));
    if (run->script.n_parts > 0)
        TRY(make_inputs(run, error));
    if (!run->options->time.text)
        TRY(solve_initial_set(run, error));
    if (!run->options->nonlinear)
        weft_problem_set_conditions(run->base.problem, 1, run->base.problem->u_values);
    TRY(weft_vector_push(run->base.problem->u, run->base.problem->u_values, run->n_dofs, error));
done:
    return status;
}
