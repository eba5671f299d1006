/* Makes the spaces, inputs and forms of a UFL problem on a mesh. */
#include "forms/bind/bind.h"
#include "core/base/options.h"
#include "forms/file/file.h"

#include <stdlib.h>
#include <string.h>

/* A UFL problem with what its forms refer to. */
typedef struct weft_ufl_bound {
    const weft_ufl_problem *ufl;
    weft_problem *problem;
    const weft_ufl_bind_options *options; /* during weft_ufl_bind */
    weft_entity_dofs **dofs;              /* [n_parts][n_sets] */
} weft_ufl_bound;

static void free_bound(void *user) {
    weft_ufl_bound *bound = user;
    for (int i = 0; bound->dofs && i < bound->ufl->n_parts; ++i)
        weft_ufl_dofs_free(bound->ufl, &bound->dofs[i]);
    free(bound->dofs);
    free(bound);
}

/* ---- the problem of the file ------------------------------------------------------------- */

static weft_status refuse(const weft_ufl_bind_options *options, weft_status status,
                          const char *what, const char *hint, weft_error *error) {
    weft_error_set(error, status, "%s", what);
    weft_error_location(error, options->file, NULL, 0, 0);
    weft_error_hint(error, "%s", hint);
    return status;
}

static weft_status find_problem(weft_ufl *ufl, weft_ufl_bound *bound, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_ufl_bind_options *options = bound->options;
    weft_problem *problem = bound->problem;
    TRY(options->in_time ? weft_ufl_problem_in_time(ufl, options->mass, &bound->ufl, error)
                         : weft_ufl_problem_of(ufl, &bound->ufl, error));
    if (options->in_time && !bound->ufl->mass)
        TRY(refuse(options, WEFT_ERROR_INPUT, "a problem in time has a mass, and this one has none",
                   "write m = inner(u, v)*dx for m du/dt + a u = L, or name another form", error));
    problem->file = options->file;
    problem->is_nonlinear = bound->ufl->nonlinear;
    problem->matrix = "K";
    problem->vector = !bound->ufl->vector ? NULL : bound->ufl->nonlinear ? "r" : "b";
    problem->mass = options->in_time ? "M" : NULL;
    problem->mass_name = bound->ufl->mass;
    problem->input_name = weft_ufl_plain_name;
done:
    return status;
}

/* Compile the script of a part with the values that are used, whose names inputs have. */
static weft_status compile(weft_problem *problem, weft_problem_part *part, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_context *context = problem->context;
    const char *const used[] = {part->has_matrix ? problem->matrix : NULL,
                                part->has_vector ? problem->vector : NULL,
                                part->has_mass ? problem->mass : NULL};
    weft_text returns = {0};
    for (size_t i = 0; i < sizeof used / sizeof *used; ++i)
        if (used[i])
            weft_text_add(&returns, "return %s;\n", used[i]);
    weft_text_add(&part->cells, "%s", part->text);
    if (returns.failed || part->cells.failed)
        TRY(weft_out_of_memory(error, NULL));
    const weft_fragment fragments[] = {{problem->file, part->text}, {"returns", returns.data}};
    const weft_compile_options options = {.size = sizeof options, .plan = context->plan};
    TRY(weft_compile(context->library, weft_device_limits(context->device), fragments, 2, &options,
                     &part->compilation, error));
done:
    weft_text_free(&returns);
    return status;
}

void weft_ufl_part_start(const weft_ufl_part *ufl, weft_problem_part *out) {
    out->text = ufl->script;
    out->has_matrix = ufl->has_matrix;
    out->has_vector = ufl->has_vector;
    out->has_mass = ufl->has_mass;
    out->domain = ufl->domain == WEFT_UFL_CELLS             ? WEFT_PART_CELLS
                  : ufl->domain == WEFT_UFL_EXTERIOR_FACETS ? WEFT_PART_BOUNDARY
                                                            : WEFT_PART_BETWEEN_CELLS;
    out->id = ufl->id;
}

static weft_status make_parts(weft_ufl_bound *bound, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_ufl_problem *ufl = bound->ufl;
    weft_problem *problem = bound->problem;
    TRY(weft_problem_parts_make(problem, ufl->n_parts, error));
    for (int i = 0; i < ufl->n_parts; ++i) {
        weft_problem_part *part = &problem->parts[i];
        weft_ufl_part_start(&ufl->parts[i], part);
        TRY(compile(problem, part, error));
        TRY(weft_ufl_connect(ufl, &ufl->parts[i], part->compilation, bound->options, problem,
                             &bound->dofs[i], error));
    }
done:
    return status;
}

/* ---- what they read ---------------------------------------------------------------------- */

static bool is_time(const weft_problem *problem, const char *name) {
    return problem->mass && strcmp(weft_ufl_plain_name(name), "t") == 0;
}

static bool is_solution(const weft_problem *problem, const char *name) {
    return problem->is_nonlinear && strcmp(name, "u") == 0;
}

/* Does the problem itself give an input its values? v is the direction of a product. */
static bool is_own(const weft_problem *problem, const char *name) {
    return strcmp(name, "x") == 0 || strcmp(name, "v") == 0 || is_solution(problem, name) ||
           is_time(problem, name);
}

/* The memory of an input; NULL: it has none yet. */
static weft_memory *memory_of(const weft_ufl_bound *bound, const char *name) {
    const weft_problem *problem = bound->problem;
    return strcmp(name, "x") == 0       ? weft_ufl_coordinates(bound->ufl, problem)
           : is_solution(problem, name) ? problem->u
           : is_time(problem, name)     ? problem->time
                                        : weft_problem_input(problem, name);
}

static const weft_ufl_value *find_value(const weft_ufl_bind_options *options, const char *name) {
    for (int i = 0; i < options->n_values; ++i)
        if (strcmp(options->values[i].name, weft_ufl_plain_name(name)) == 0)
            return &options->values[i];
    return NULL;
}

static weft_status refuse_missing(const weft_ufl_bind_options *options, const char *name,
                                  weft_error *error) {
    weft_error_set(error, WEFT_ERROR_USAGE, "the coefficient or constant '%s' has no values", name);
    weft_error_location(error, options->file, NULL, 0, 0);
    weft_error_hint(error, "the values are given by the names that the form file has");
    return WEFT_ERROR_USAGE;
}

/* Values of a name that none of the n inputs has. */
static weft_status refuse_unknown(const weft_ufl_bound *bound, const char *name,
                                  const weft_name_info *list, int n, weft_error *error) {
    const char **names = calloc((size_t)n + 1, sizeof *names);
    weft_text known = {0};
    size_t n_names = 0;
    if (!names)
        return weft_out_of_memory(error, NULL);
    for (int i = 0; i < n; ++i) {
        if (is_own(bound->problem, list[i].name))
            continue;
        names[n_names] = weft_ufl_plain_name(list[i].name);
        weft_text_add(&known, "%s%s", n_names ? ", " : "", names[n_names]);
        ++n_names;
    }
    const char *near = weft_nearest_name(name, names, n_names);
    weft_error_set(error, WEFT_ERROR_USAGE, "the forms contain no coefficient or constant '%s'",
                   name);
    weft_error_location(error, bound->options->file, NULL, 0, 0);
    weft_error_hint(error, "%s%s%sthey contain %s", near ? "did you mean '" : "", near ? near : "",
                    near ? "'? " : "", n_names > 0 && !known.failed ? known.data : "none");
    weft_text_free(&known);
    free(names);
    return WEFT_ERROR_USAGE;
}

static weft_status add_inputs(weft_ufl_bound *bound, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_ufl_bind_options *options = bound->options;
    weft_name_info *list = NULL;
    int n = 0;
    TRY(weft_problem_list_inputs(bound->problem, &list, &n, error));
    for (int k = 0; k < options->n_values; ++k) {
        bool is_known = false;
        for (int i = 0; i < n; ++i)
            is_known |= strcmp(weft_ufl_plain_name(list[i].name), options->values[k].name) == 0 &&
                        !is_own(bound->problem, list[i].name);
        if (!is_known)
            TRY(refuse_unknown(bound, options->values[k].name, list, n, error));
    }
    for (int i = 0; i < n; ++i) {
        const weft_ufl_value *value = find_value(options, list[i].name);
        if (is_own(bound->problem, list[i].name))
            continue;
        if (!value)
            TRY(refuse_missing(options, weft_ufl_plain_name(list[i].name), error));
        weft_input_source source = value->source;
        source.shown = weft_ufl_plain_name(list[i].name);
        source.file = options->file;
        source.in_time = options->in_time;
        if (!source.origin)
            source.origin = value->name;
        TRY(weft_problem_add_input(bound->problem, &list[i], &source, error));
    }
done:
    free(list);
    return status;
}

/* ---- the forms --------------------------------------------------------------------------- */

static void bind_form(const weft_ufl_bound *bound, int i, weft_bound_form *out) {
    const weft_problem_part *part = &bound->problem->parts[i];
    weft_ufl_form_start(bound->ufl, &bound->ufl->parts[i], bound->problem->file, part->cells.data,
                        bound->dofs[i], out);
    for (int k = 0; k < weft_compilation_names(part->compilation); ++k) {
        weft_name_info info;
        weft_compilation_name(part->compilation, k, &info);
        weft_memory *memory = info.kind == WEFT_NAME_INPUT ? memory_of(bound, info.name) : NULL;
        if (memory)
            weft_form_bind_input(out, info.name, memory);
    }
}

weft_status weft_ufl_bind(weft_ufl *ufl, const weft_mesh *mesh, weft_library *library,
                          const weft_ufl_bind_options *options, weft_problem *problem,
                          weft_error *error) {
    weft_status status = WEFT_OK;
    weft_ufl_bound *made = NULL;
    weft_ufl_bind_options named;
    TRY(weft_options_check("weft_ufl_bind_options", options->size, sizeof *options, error));
    named = *options;
    if (!named.file)
        named.file = ufl->file;
    made = calloc(1, sizeof *made);
    if (!made)
        TRY(weft_out_of_memory(error, "a problem"));
    *made = (weft_ufl_bound){.problem = problem, .options = &named};
    problem->basis = (weft_problem_basis){made, free_bound};
    problem->mesh = mesh;
    TRY(find_problem(ufl, made, error));
    made->dofs = calloc((size_t)made->ufl->n_parts, sizeof *made->dofs);
    if (!made->dofs)
        TRY(weft_out_of_memory(error, NULL));
    TRY(weft_ufl_check_measures(made->ufl, &named, error));
    TRY(weft_ufl_add_functions(ufl, library, error));
    TRY(weft_ufl_spaces_make(made->ufl, &named, NULL, problem, error));
    TRY(make_parts(made, error));
    TRY(weft_problem_vectors_make(problem, error));
    if (options->in_time)
        TRY(weft_memory_make(problem->context->device, sizeof(double), &problem->time, error));
    TRY(add_inputs(made, error));
    for (int i = 0; i < made->ufl->n_parts; ++i)
        bind_form(made, i, &problem->parts[i].bound);
    TRY(weft_problem_list_forms(problem, error));
done:
    if (made)
        made->options = NULL;
    return status;
}
