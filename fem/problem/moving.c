/* Inputs whose formulas depend on t: one kernel for each, run whenever the time is set. */
#include "fem/data/data.h"
#include "fem/form/form.h"
#include "fem/problem/inputs.h"
#include "fem/space/layout.h"
#include "fem/space/vectors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct weft_moving_input {
    weft_compiled compiled;
    double *x, *unit;
    weft_memory *x_memory, *unit_memory, *when;
};
typedef struct weft_moving_input weft_moving_input;

void weft_moving_input_free(weft_moving_input **out) {
    weft_moving_input *m = *out;
    if (!m)
        return;
    weft_compiled_free(&m->compiled);
    weft_memory_free(&m->x_memory);
    weft_memory_free(&m->unit_memory);
    weft_memory_free(&m->when);
    free(m->x);
    free(m->unit);
    free(m);
    *out = NULL;
}

static weft_status refuse(const weft_input_source *source, const char *what, const char *hint,
                          weft_error *error) {
    weft_error_set(error, WEFT_ERROR_UNSUPPORTED, "%s cannot depend on t", what);
    weft_error_location(error, source->origin, source->text, 1, 1);
    weft_error_hint(error, "%s", hint);
    return WEFT_ERROR_UNSUPPORTED;
}

/* u = value_0(x, t) e_0 + value_1(x, t) e_1 + ..., at nodes, one after another, or at cells in blocks */
static void write_script(int d, int components, bool on_cells, weft_text *out) {
    weft_text_add(out, "index points%s;\ninput x : real[%d] over points;\ninput when : real;\n",
                  on_cells ? "" : " plain", d);
    if (components > 1)
        weft_text_add(out, "input unit : real[%d,%d];\n", components, components);
    for (int k = 0; k < components; ++k)
        weft_text_add(out, "expression value_%d(x, y, z, t) = 0;\n", k);
    weft_text_add(out, "u =");
    for (int k = 0; k < components; ++k)
        if (components > 1)
            weft_text_add(out, "%s value_%d(x, when)*unit[%d]", k ? " +" : "", k, k);
        else
            weft_text_add(out, " value_0(x, when)");
    weft_text_add(out, ";\nreturn u;\n");
}

static weft_status compile(weft_inputs *inputs, weft_moving_input *m,
                           const weft_input_source *source, char *const *texts, int components,
                           bool on_cells, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_text text = {0};
    weft_expression *formulas = calloc((size_t)components, sizeof *formulas);
    char(*names)[24] = calloc((size_t)components, sizeof *names);
    write_script(inputs->fields->mesh->dimension, components, on_cells, &text);
    if (!formulas || !names || text.failed)
        TRY(weft_out_of_memory(error, NULL));
    for (int k = 0; k < components; ++k) {
        snprintf(names[k], sizeof names[k], "value_%d", k);
        formulas[k] = (weft_expression){names[k], texts[k], source->origin};
    }
    const weft_fragment fragment = {"an input in time", text.data};
    const weft_compile_options options = {
        .size = sizeof options, .expressions = formulas, .n_expressions = components};
    TRY(weft_compiled_make(inputs->fields->context, &fragment, 1, &options, &m->compiled, error));
done:
    weft_text_free(&text);
    free(formulas);
    free(names);
    return status;
}

/* Nodes of a space, with marks of groups. */
typedef struct marked_nodes {
    const weft_space *space;
    weft_data_points points;
} marked_nodes;

/* A weft_data_points.mark: a part may lack the cells by which a node is in a group. */
static weft_status mark_as_owners(const weft_data_points *points, int group, unsigned char *marks,
                                  weft_error *error) {
    weft_status status = WEFT_OK;
    const marked_nodes *of = points->user;
    double *values = weft_array_make((size_t)points->n, sizeof *values);
    if (!values)
        TRY(weft_out_of_memory(error, "the groups of nodes"));
    TRY(of->points.mark(&of->points, group, marks, error));
    for (int64_t i = 0; i < points->n; ++i)
        values[i] = marks[i];
    TRY(weft_space_take_owners(of->space, values, error));
    for (int64_t i = 0; i < points->n; ++i)
        marks[i] = values[i] != 0;
done:
    free(values);
    return status;
}

/* Coordinates of the nodes, or of the centres of cells in blocks; a number has no place. */
static weft_status place(weft_inputs *inputs, weft_moving_input *m, const weft_name_info *info,
                         int64_t *n, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_context *context = inputs->fields->context;
    const int d = inputs->fields->mesh->dimension,
              lanes = weft_device_limits(context->device)->lanes_double;
    const bool on_cells = info->over && strcmp(info->over, "cells") == 0;
    const weft_space *space = weft_input_space(inputs, info);
    weft_data_points points = {.n = 1};
    marked_nodes marked = {NULL};
    weft_space *constants = NULL;
    if (on_cells) {
        TRY(weft_constants_make(inputs->fields, &constants, error));
        points = weft_data_centres(inputs->fields->mesh, "points", weft_space_points(constants));
    } else if (space) {
        points = *weft_space_data_points(space);
        if (points.read)
            TRY(points.read(&points, error));
        points.over = "points";
        marked = (marked_nodes){space, points};
        if (space && inputs->fields->mesh->part) {
            points.mark = mark_as_owners;
            points.user = &marked;
            points.read = NULL;
        }
    }
    *n = points.n;
    const int64_t capacity = on_cells ? (*n + lanes - 1) / lanes * lanes * d : *n * d;
    TRY(weft_vector_make(context->device, capacity, &m->x, &m->x_memory, error));
    if (on_cells)
        weft_interleave(points.x, *n, d, lanes, m->x);
    else if (space)
        memcpy(m->x, points.x, (size_t)capacity * sizeof *m->x);
    TRY(weft_vector_push(m->x_memory, m->x, capacity, error));
    TRY(weft_data_bind(context->data, m->compiled.compilation, m->compiled.program,
                       &(weft_data_sites){.points = &points, .n = points.over != NULL}, error));
done:
    weft_space_free(&constants);
    return status;
}

static weft_status bind(weft_inputs *inputs, weft_moving_input *m, const weft_name_info *info,
                        int components, weft_memory *memory, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_program *program = m->compiled.program;
    int64_t n = 0;
    TRY(place(inputs, m, info, &n, error));
    TRY(weft_memory_make(inputs->fields->context->device, sizeof(double), &m->when, error));
    TRY(weft_vector_make(inputs->fields->context->device, components * components, &m->unit,
                         &m->unit_memory, error));
    for (int k = 0; k < components; ++k)
        m->unit[k * components + k] = 1;
    TRY(weft_vector_push(m->unit_memory, m->unit, components * components, error));
    TRY(weft_program_size(program, "points", n, error));
    TRY(weft_program_bind(program, "x", m->x_memory, error));
    TRY(weft_program_bind(program, "when", m->when, error));
    if (components > 1)
        TRY(weft_program_bind(program, "unit", m->unit_memory, error));
    TRY(weft_program_bind(program, "u", memory, error));
done:
    return status;
}

weft_status weft_moving_input_make(weft_inputs *inputs, const weft_name_info *info,
                                   const weft_input_source *source, weft_memory *memory,
                                   weft_moving_input **out, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_problem_set *set = weft_inputs_set_of(inputs, info->over);
    const int components = weft_input_components(info);
    weft_moving_input *made = calloc(1, sizeof *made);
    char **texts = NULL;
    if (!made)
        TRY(weft_out_of_memory(error, NULL));
    if (weft_input_space(inputs, info) && weft_space_is_mapped(weft_input_space(inputs, info)))
        TRY(refuse(source, "functions with continuous tangential or normal components",
                   "give it as a coefficient of a discontinuous vector element", error));
    if (set && set->is_flat)
        TRY(refuse(source, "functions of mixed spaces", "give each part as a coefficient", error));
    if (!info->over)
        TRY(weft_input_check_uniform(source, source->text, error));
    TRY(weft_input_split(source, components, &texts, error));
    TRY(compile(inputs, made, source, texts, components,
                info->over && strcmp(info->over, "cells") == 0, error));
    TRY(bind(inputs, made, info, components, memory, error));
    *out = made;
    made = NULL;
done:
    weft_moving_input_free(&made);
    weft_formula_list_free(&texts, components);
    return status;
}

weft_status weft_moving_input_set(weft_moving_input *input, double t, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(weft_memory_write(input->when, 0, &t, sizeof t, error));
    TRY(weft_program_run(input->compiled.program, error));
done:
    return status;
}
