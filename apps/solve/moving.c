/* Inputs of the script whose formulas depend on t: one kernel for each, run whenever the time is set. */
#include "apps/solve/solve.h"
#include "fem/form/form.h"

#include <stdlib.h>
#include <string.h>

struct solve_moving {
    weft_compiled compiled;
    double *x, *unit;
    weft_memory *x_memory, *unit_memory, *when;
};

bool solve_input_moves(const solve *run, const char *text) {
    return run->options->time.text && weft_has_word(text, "t");
}

static void clear(struct solve_moving *m) {
    weft_compiled_free(&m->compiled);
    weft_memory_free(&m->x_memory);
    weft_memory_free(&m->unit_memory);
    weft_memory_free(&m->when);
    free(m->x);
    free(m->unit);
}

void solve_moving_clear(solve *run) {
    for (int i = 0; i < run->time.n_moving; ++i)
        clear(&run->time.moving[i]);
    free(run->time.moving);
    free(run->time.moving_memories);
}

static weft_status refuse(const solve_binding *binding, const char *what, const char *hint,
                          weft_error *error) {
    weft_error_set(error, WEFT_ERROR_UNSUPPORTED, "%s cannot depend on t", what);
    weft_error_location(error, binding->origin, binding->value, 1, 1);
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

static weft_status compile(solve *run, struct solve_moving *m, const solve_binding *binding,
                           char *const *texts, int components, bool on_cells, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_text text = {0};
    weft_expression *formulas = calloc((size_t)components, sizeof *formulas);
    char(*names)[24] = calloc((size_t)components, sizeof *names);
    write_script(run->base.mesh->dimension, components, on_cells, &text);
    if (!formulas || !names || text.failed)
        TRY(weft_out_of_memory(error, NULL));
    for (int k = 0; k < components; ++k) {
        snprintf(names[k], sizeof names[k], "value_%d", k);
        formulas[k] = (weft_expression){names[k], texts[k], binding->origin};
    }
    const weft_fragment fragment = {"an input in time", text.data};
    const weft_compile_options options = {.expressions = formulas, .n_expressions = components};
    TRY(weft_compiled_make(&run->base.context, &fragment, 1, &options, &m->compiled, error));
done:
    weft_text_free(&text);
    free(formulas);
    free(names);
    return status;
}

/* The centres of the cells, [n_cells][dimension]. */
static weft_status find_centres(solve *run, double **out, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_mesh *mesh = run->base.mesh;
    const size_t d = (size_t)mesh->dimension;
    weft_space *space = NULL;
    TRY(weft_space_make(run->base.device, mesh, (weft_element_kind){WEFT_DISCONTINUOUS, 0}, 1,
                        &space, error));
    *out = weft_array_make((size_t)mesh->n_cells, d * sizeof **out);
    if (!*out)
        TRY(weft_out_of_memory(error, NULL));
    for (int64_t c = 0; c < mesh->n_cells; ++c)
        memcpy(*out + (size_t)c * d,
               weft_space_points(space) + (size_t)weft_space_cell_nodes(space)[c] * d,
               d * sizeof **out);
done:
    weft_space_free(&space);
    return status;
}

/* Coordinates of the nodes, or of the centres of cells in blocks; a number has no place. */
static weft_status place(solve *run, struct solve_moving *m, const weft_name_info *info, int64_t *n,
                         weft_error *error) {
    weft_status status = WEFT_OK;
    const int d = run->base.mesh->dimension,
              lanes = weft_device_limits(run->base.device)->lanes_double;
    const bool on_cells = info->over && strcmp(info->over, "cells") == 0;
    const weft_space *space = info->over ? solve_space_of(run, info->over) : NULL;
    weft_data_points points = {.n = 1};
    double *centres = NULL;
    if (on_cells) {
        TRY(find_centres(run, &centres, error));
        points = weft_data_centres(run->base.mesh, "points", centres);
    } else if (space) {
        points = *weft_space_data_points(space);
        points.over = "points";
    }
    *n = points.n;
    const int64_t room = (*n + lanes - 1) / lanes * lanes * d;
    TRY(weft_vector_make(run->base.device, on_cells ? room : *n * d, &m->x, &m->x_memory, error));
    if (on_cells)
        weft_interleave(centres, *n, d, lanes, m->x);
    else if (space)
        memcpy(m->x, points.x, (size_t)(*n * d) * sizeof *m->x);
    TRY(weft_vector_push(m->x_memory, m->x, on_cells ? room : *n * d, error));
    TRY(weft_data_bind(run->base.data, m->compiled.compilation, m->compiled.program,
                       &(weft_data_sites){.points = &points, .n = points.over != NULL}, error));
done:
    free(centres);
    return status;
}

static weft_status bind(solve *run, struct solve_moving *m, const weft_name_info *info,
                        int components, weft_memory *memory, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_program *program = m->compiled.program;
    int64_t n = 0;
    TRY(place(run, m, info, &n, error));
    TRY(weft_memory_make(run->base.device, sizeof(double), &m->when, error));
    TRY(weft_vector_make(run->base.device, components * components, &m->unit, &m->unit_memory,
                         error));
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

/* Grow the lists by one. */
static weft_status grow(solve *run, weft_error *error) {
    const size_t n = (size_t)run->time.n_moving + 1;
    struct solve_moving *list = realloc(run->time.moving, n * sizeof *list);
    if (list)
        run->time.moving = list;
    weft_memory **memories = realloc(run->time.moving_memories, n * sizeof(weft_memory *));
    if (memories)
        run->time.moving_memories = memories;
    return list && memories ? WEFT_OK : weft_out_of_memory(error, NULL);
}

weft_status solve_moving_make(solve *run, const solve_binding *binding, const weft_name_info *info,
                              weft_memory *memory, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_space **spaces = NULL;
    const weft_ufl_set *set = solve_set_of(run, info->over, &spaces);
    struct solve_moving made = {.x = NULL};
    char **texts = NULL;
    int components = 1;
    for (int k = 0; k < info->rank; ++k)
        components *= info->sizes[k];
    if (set && set->flat)
        TRY(refuse(binding, "functions of mixed spaces", "give each part as a coefficient", error));
    if (!info->over)
        TRY(solve_check_uniform(binding, binding->value, error));
    TRY(solve_split_binding(binding, components, &texts, error));
    TRY(compile(run, &made, binding, texts, components,
                info->over && strcmp(info->over, "cells") == 0, error));
    TRY(bind(run, &made, info, components, memory, error));
    TRY(grow(run, error));
    run->time.moving[run->time.n_moving] = made;
    run->time.moving_memories[run->time.n_moving++] = memory;
    made = (struct solve_moving){.x = NULL};
    TRY(solve_moving_set(run, 0, error));
done:
    clear(&made);
    app_free_list(&texts, components);
    return status;
}

weft_status solve_moving_set(void *user, double t, weft_error *error) {
    weft_status status = WEFT_OK;
    const solve *run = user;
    for (int i = 0; i < run->time.n_moving; ++i) {
        TRY(weft_memory_write(run->time.moving[i].when, 0, &t, sizeof t, error));
        TRY(weft_program_run(run->time.moving[i].compiled.program, error));
    }
done:
    return status;
}
