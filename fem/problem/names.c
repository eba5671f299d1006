/* Finds what the names in the texts of a problem stand for: compiles the texts, makes inputs and binds forms. */
#include "fem/problem/problem.h"

#include <stdlib.h>
#include <string.h>

static const weft_problem_given *given_of(const weft_problem *problem) {
    return &problem->names.given;
}

static weft_status refuse(const weft_problem *problem, const char *origin, const char *hint,
                          weft_error *error) {
    weft_error_location(error, origin ? origin : problem->forms.file, NULL, 0, 0);
    weft_error_hint(error, "%s", hint);
    return WEFT_ERROR_USAGE;
}

weft_status weft_problem_check_given(const weft_problem *problem, weft_error *error) {
    const weft_problem_given *given = given_of(problem);
    if (given->n_expressions > WEFT_FORM_EXPRESSIONS || given->n_parameters >= WEFT_FORM_PARAMETERS)
        return weft_error_set(
            error, WEFT_ERROR_USAGE, "more than %d times %s", WEFT_FORM_PARAMETERS - 1,
            given->names_options ? "--define or --param" : "an expression or a parameter");
    for (int i = 0; i < given->n_parameters; ++i) {
        if (!problem->names.has_dimension || strcmp(given->parameters[i].name, "d") != 0)
            continue;
        weft_error_set(error, WEFT_ERROR_USAGE, "the dimension d is given by the mesh");
        return refuse(problem, given->names_options ? "--param" : NULL,
                      given->names_options ? "omit --param d, and give a mesh of that dimension"
                                           : "omit d, and give a mesh of that dimension",
                      error);
    }
    return WEFT_OK;
}

/* ---- the texts --------------------------------------------------------------------------- */

/* Bind the expressions and parameters that are given to a form, besides inputs. */
static void bind_given(const weft_problem *problem, int dimension, weft_bound_form *out) {
    const weft_problem_given *given = given_of(problem);
    for (int i = 0; i < given->n_expressions; ++i) {
        const weft_expression *one = &given->expressions[i];
        weft_form_bind_expression(out, one->name, one->text, one->origin);
    }
    for (int i = 0; i < given->n_parameters; ++i)
        weft_form_bind_parameter(out, given->parameters[i].name, given->parameters[i].value);
    if (problem->names.has_dimension)
        weft_form_bind_parameter(out, "d", dimension);
}

weft_status weft_problem_compile_part(const weft_problem *problem, const weft_problem_part *part,
                                      int dimension, weft_compilation **out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_context *context = problem->context;
    const weft_problem_names *names = &problem->names;
    const bool is_first = part == problem->forms.parts;
    const struct {
        const char *name, *origin;
    } used[] = {{part->has_matrix ? problem->forms.matrix : NULL, "--matrix"},
                {part->has_vector ? problem->forms.vector : NULL, "--vector"},
                {is_first ? names->sum : NULL, "--sum"},
                {is_first ? names->action : NULL, "Kv"},
                {part->has_mass ? problem->forms.mass : NULL, "--mass"}};
    enum { RETURNS = sizeof used / sizeof *used };
    weft_text returns[RETURNS] = {{0}};
    weft_fragment fragments[RETURNS + 1] = {{problem->forms.file, part->text}};
    weft_bound_form form;
    int n = 1;
    weft_form_start(problem->forms.file, part->text, NULL, &form);
    bind_given(problem, dimension, &form);
    for (int i = 0; i < RETURNS; ++i) {
        if (!used[i].name)
            continue;
        weft_text_add(&returns[i], "return %s;\n", used[i].name);
        if (returns[i].failed)
            TRY(weft_out_of_memory(error, NULL));
        fragments[n++] = (weft_fragment){used[i].origin, returns[i].data};
    }
    const weft_compile_options options = {.size = sizeof options,
                                          .expressions = form.expressions,
                                          .n_expressions = form.form.n_expressions,
                                          .parameters = form.parameters,
                                          .n_parameters = form.form.n_parameters};
    TRY(weft_context_compile(context, fragments, n, &options, out, error));
done:
    for (int i = 0; i < RETURNS; ++i)
        weft_text_free(&returns[i]);
    return status;
}

weft_status weft_problem_compile_parts(weft_problem *problem, weft_error *error) {
    weft_status status = WEFT_OK;
    for (int i = 0; i < problem->forms.n_parts; ++i)
        TRY(weft_problem_compile_part(problem, &problem->forms.parts[i], problem->mesh->dimension,
                                      &problem->forms.parts[i].compilation, error));
done:
    return status;
}

/* ---- inputs ------------------------------------------------------------------------------ */

weft_status weft_problem_list_inputs(const weft_problem *problem, weft_name_info **out, int *n,
                                     weft_error *error) {
    size_t most = 1;
    for (int p = 0; p < problem->forms.n_parts; ++p)
        most += (size_t)weft_compilation_names(problem->forms.parts[p].compilation);
    *n = 0;
    *out = calloc(most, sizeof **out);
    if (!*out)
        return weft_out_of_memory(error, NULL);
    for (int p = 0; p < problem->forms.n_parts; ++p)
        for (int i = 0; i < weft_compilation_names(problem->forms.parts[p].compilation); ++i) {
            weft_name_info info;
            weft_compilation_name(problem->forms.parts[p].compilation, i, &info);
            bool is_new = info.kind == WEFT_NAME_INPUT;
            for (int k = 0; k < *n; ++k)
                is_new &= strcmp((*out)[k].name, info.name) != 0;
            if (is_new)
                (*out)[(*n)++] = info;
        }
    return WEFT_OK;
}

static const char *shown(const weft_problem *problem, const char *input) {
    return problem->names.shown ? problem->names.shown(input) : input;
}

static bool is_called(const weft_problem *problem, const char *input, const char *name) {
    return strcmp(shown(problem, input), name) == 0;
}

static const weft_problem_value *find_value(const weft_problem *problem, const char *input) {
    const weft_problem_given *given = given_of(problem);
    for (int i = 0; i < given->n_values; ++i)
        if (is_called(problem, input, given->values[i].name))
            return &given->values[i];
    return NULL;
}

bool weft_problem_is_in_time(const weft_problem *problem) {
    return (problem->forms.mass && !problem->forms.is_pencil) || problem->names.previous;
}

static bool has_time(const weft_problem *problem) {
    return weft_problem_is_in_time(problem) || problem->names.has_time;
}

/* Does each step set this input? Sets *out to its memory. */
static bool is_set_by_steps(const weft_problem *problem, const char *input, weft_memory **out) {
    const char *previous = problem->names.previous;
    if (has_time(problem) && is_called(problem, input, "t"))
        *out = problem->steps.t;
    else if (previous && is_called(problem, input, "dt"))
        *out = problem->steps.length;
    else if (previous && is_called(problem, input, previous))
        *out = problem->steps.previous;
    else
        return false;
    return true;
}

static bool is_solution(const weft_problem *problem, const char *input) {
    return problem->forms.is_nonlinear && strcmp(input, "u") == 0;
}

/* The coordinates, and the v of products K v. */
static bool is_of_forms(const weft_problem *problem, const char *input) {
    const bool has_direction = problem->names.action || !problem->names.is_script;
    return strcmp(input, "x") == 0 || (has_direction && strcmp(input, "v") == 0);
}

static bool is_factor(const weft_problem *problem, const char *input) {
    return problem->names.has_factor && strcmp(input, "load") == 0;
}

bool weft_problem_owns(const weft_problem *problem, const char *input) {
    weft_memory *memory = NULL;
    return is_of_forms(problem, input) || is_solution(problem, input) ||
           is_set_by_steps(problem, input, &memory) || is_factor(problem, input);
}

/* The memory of an input; NULL: it has none yet. */
weft_memory *weft_problem_memory_of(const weft_problem *problem, const char *input) {
    weft_memory *memory = NULL;
    if (strcmp(input, "x") == 0)
        return weft_space_coordinates(problem->inputs.n_sets > 0
                                          ? problem->inputs.sets[problem->inputs.geometry].spaces[0]
                                          : problem->fields.space);
    if (is_solution(problem, input))
        return problem->system.u;
    if (is_set_by_steps(problem, input, &memory))
        return memory;
    return is_factor(problem, input) ? problem->inputs.load
                                     : weft_inputs_find(&problem->inputs, input);
}

static weft_status refuse_missing(const weft_problem *problem, const weft_name_info *info,
                                  weft_error *error) {
    const char *name = shown(problem, info->name);
    const bool names_options = given_of(problem)->names_options;
    weft_error_set(error, WEFT_ERROR_USAGE, "%s '%s' has no values",
                   names_options || problem->names.is_script ? "the script's input"
                                                             : "the coefficient or constant",
                   name);
    weft_error_location(error, problem->forms.file, NULL, 0, 0);
    if (!names_options)
        weft_error_hint(error, "values are given by the names that the file has");
    else
        weft_error_hint(error, "add --input %s=%s%s%s", name, info->over ? "EXPR" : "NUMBER",
                        weft_input_components(info) > 1 ? ",..., one for each component" : "",
                        strcmp(info->name, "u") == 0 ? "; or, where u is the solution, --nonlinear"
                                                     : "");
    return WEFT_ERROR_USAGE;
}

static weft_status refuse_set(const weft_problem *problem, const weft_problem_value *value,
                              weft_error *error) {
    const bool names_options = given_of(problem)->names_options;
    weft_error_set(error, WEFT_ERROR_USAGE, "%s the input '%s' its values",
                   names_options ? "--time gives" : "the steps in time give", value->name);
    return refuse(problem, value->source.origin,
                  names_options ? "leave it out: u at the start is given by --initial"
                                : "leave it out: u at the start is given by "
                                  "weft_problem_set_initial",
                  error);
}

/* Of a form file coefficients and constants are listed. */
static weft_status refuse_in_form(const weft_problem *problem, const weft_problem_value *value,
                                  const char *const *names, size_t n, weft_error *error) {
    const bool names_options = given_of(problem)->names_options;
    weft_text list = {0};
    const char **known = calloc(n + 1, sizeof *known);
    size_t n_known = 0;
    if (!known)
        return weft_out_of_memory(error, NULL);
    for (size_t i = 0; i < n; ++i) {
        if (weft_problem_owns(problem, names[i]))
            continue;
        known[n_known] = shown(problem, names[i]);
        weft_text_add(&list, "%s%s", n_known > 0 ? ", " : "", known[n_known]);
        ++n_known;
    }
    const char *near = weft_nearest_name(value->name, known, n_known);
    weft_error_set(error, WEFT_ERROR_USAGE, "the forms%s%s contain no coefficient or constant '%s'",
                   names_options ? " of " : "", names_options ? problem->forms.file : "",
                   value->name);
    if (!names_options)
        weft_error_location(error, problem->forms.file, NULL, 0, 0);
    weft_error_hint(error, "%s%s%sthey contain %s", near ? "did you mean '" : "", near ? near : "",
                    near ? "'? " : "", n_known > 0 && !list.failed ? list.data : "none");
    weft_text_free(&list);
    free(known);
    return WEFT_ERROR_USAGE;
}

static weft_status refuse_in_script(const weft_problem *problem, const weft_problem_value *value,
                                    const char *const *names, size_t n, weft_error *error) {
    const char *near = weft_nearest_name(value->name, names, n);
    weft_error_set(error, WEFT_ERROR_USAGE, "the script %s has no input '%s'", problem->forms.file,
                   value->name);
    if (near)
        weft_error_hint(error, "did you mean '%s'?", near);
    else
        weft_error_hint(error, given_of(problem)->names_options
                                   ? "formulas are given by --define, parameters by --param"
                                   : "formulas are given as expressions, integers as parameters");
    return WEFT_ERROR_USAGE;
}

/* Refuse values of a name that no text has, or that steps set. */
static weft_status check_unknown(const weft_problem *problem, const char *const *names, size_t n,
                                 weft_error *error) {
    const weft_problem_given *given = given_of(problem);
    for (int i = 0; i < given->n_values; ++i) {
        const weft_problem_value *value = &given->values[i];
        const char *input = NULL;
        weft_memory *memory = NULL;
        for (size_t k = 0; k < n && !input; ++k)
            input = is_called(problem, names[k], value->name) ? names[k] : NULL;
        if (!input)
            return problem->names.is_script ? refuse_in_script(problem, value, names, n, error)
                                            : refuse_in_form(problem, value, names, n, error);
        if (is_set_by_steps(problem, input, &memory))
            return refuse_set(problem, value, error);
    }
    return WEFT_OK;
}

static weft_input_source source_of(const weft_problem *problem, const weft_problem_value *value,
                                   const weft_name_info *info) {
    weft_input_source source = value->source;
    source.shown = shown(problem, info->name);
    source.file = problem->forms.file;
    source.in_time = has_time(problem);
    if (!source.origin)
        source.origin = value->name;
    return source;
}

/* Set u where Newton's method starts, which the input u may give. */
static weft_status start_solution(weft_problem *problem, const weft_name_info *info,
                                  weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_problem_value *value = find_value(problem, "u");
    const int c = problem->forms.components;
    if (!info->over || strcmp(info->over, "nodes") != 0 || weft_input_components(info) != c ||
        info->rank != (c > 1)) {
        weft_error_set(
            error, WEFT_ERROR_INPUT,
            "the input u does not have the shape of the solution, %d component%s per node", c,
            c == 1 ? "" : "s");
        weft_error_location(error, problem->forms.file, NULL, 0, 0);
        if (c == 1)
            weft_error_hint(error, "write input u : real over nodes;");
        else
            weft_error_hint(error, "write input u : real[%d] over nodes;", c);
        TRY(WEFT_ERROR_INPUT);
    }
    if (!value)
        goto done;
    const weft_input_source source = source_of(problem, value, info);
    if (!source.memory) {
        status = weft_inputs_fill(&problem->inputs, info, &source, problem->system.u_values, error);
        goto done;
    }
    TRY(weft_inputs_check_length(&problem->inputs, info, &source, error));
    TRY(weft_vector_pull(source.memory, problem->system.u_values, problem->fields.n_dofs, error));
done:
    return status;
}

static weft_status make_input(weft_problem *problem, const weft_name_info *info,
                              weft_error *error) {
    const weft_problem_value *value = find_value(problem, info->name);
    if (is_solution(problem, info->name))
        return start_solution(problem, info, error);
    if (weft_problem_owns(problem, info->name))
        return WEFT_OK;
    if (!value)
        return refuse_missing(problem, info, error);
    const weft_input_source source = source_of(problem, value, info);
    return weft_inputs_add(&problem->inputs, info, &source, error);
}

/* What each step in time sets. */
static weft_status make_time(weft_problem *problem, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_device *device = problem->context->device;
    if (!has_time(problem))
        goto done;
    TRY(weft_memory_make(device, sizeof(double), &problem->steps.t, error));
    if (!problem->names.previous)
        goto done;
    TRY(weft_memory_make(device, sizeof(double), &problem->steps.length, error));
    TRY(weft_memory_make(device, (size_t)problem->fields.n_dofs * sizeof(double),
                         &problem->steps.previous, error));
done:
    return status;
}

weft_status weft_problem_make_inputs(weft_problem *problem, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_name_info *list = NULL;
    const char **names = NULL;
    size_t n_names = 0;
    int n = 0;
    TRY(make_time(problem, error));
    TRY(weft_problem_list_inputs(problem, &list, &n, error));
    names = calloc((size_t)n + 1, sizeof *names);
    if (!names)
        TRY(weft_out_of_memory(error, NULL));
    for (int i = 0; i < n; ++i)
        if (!is_of_forms(problem, list[i].name))
            names[n_names++] = list[i].name;
    TRY(check_unknown(problem, names, n_names, error));
    for (int i = 0; i < n; ++i)
        TRY(make_input(problem, &list[i], error));
    if (problem->inputs.n + 4 > WEFT_FORM_INPUTS)
        status = weft_error_set(error, WEFT_ERROR_UNSUPPORTED, "more than %d inputs",
                                WEFT_FORM_INPUTS - 4);
done:
    free(names);
    free(list);
    return status;
}

/* ---- the forms --------------------------------------------------------------------------- */

void weft_problem_bind_names(weft_problem *problem, weft_problem_part *part) {
    for (int i = 0; i < weft_compilation_names(part->compilation); ++i) {
        weft_name_info info;
        weft_compilation_name(part->compilation, i, &info);
        weft_memory *memory =
            info.kind == WEFT_NAME_INPUT ? weft_problem_memory_of(problem, info.name) : NULL;
        if (memory)
            weft_form_bind_input(&part->bound, info.name, memory);
    }
    bind_given(problem, problem->mesh->dimension, &part->bound);
}
