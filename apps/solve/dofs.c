/* Conditions, component by component. */
#include "apps/common/fem.h"
#include "apps/solve/solve.h"
#include "core/weft_core.h"
#include "fem/weft_fem.h"
#include "fusion/weft_program.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

weft_status solve_mesh_make(solve *run, weft_error *error) {
    weft_status status = app_mesh_make(run->device, &run->options->run.mesh,
                                       &run->messages->monitor, &run->mesh, &run->mesh_made, error);
    run->seconds.mesh = run->mesh_made.seconds;
    run->seconds.order = run->mesh_made.order_seconds;
    return status;
}

static weft_status refuse_count(const char *origin, const char *text, int n, int wanted,
                                weft_error *error) {
    weft_error_set(error, WEFT_ERROR_USAGE,
                   "%d expression%s here, but the solution has %d component%s", n,
                   n == 1 ? " stands" : "s stand", wanted, wanted == 1 ? "" : "s");
    weft_error_place(error, origin, text, 1, 1);
    weft_error_hint(error, wanted == 1
                               ? "write one expression"
                               : "write one for each, with commas between them; `free` leaves a "
                                 "component as it is");
    return WEFT_ERROR_USAGE;
}

/* The pieces of one condition go to run->texts, which owns them. */
static weft_status split_condition(solve *run, int i, weft_error *error) {
    weft_status status = WEFT_OK;
    const app_condition *condition = &run->options->run.conditions.list[i];
    char **list = NULL;
    int n = 0;
    TRY(app_split_list(condition->origin, condition->value, &list, &n, error));
    if (n != run->components)
        TRY(refuse_count(condition->origin, condition->value, n, run->components, error));
    for (int k = 0; k < n; ++k) {
        run->texts[run->n_texts++] = list[k];
        if (strcmp(list[k], "free") != 0)
            run->pieces[run->n_pieces++] = (solve_part){condition, list[k], k, i};
        list[k] = NULL;
    }
done:
    app_free_list(&list, n);
    return status;
}

static weft_status group_make(solve *run, int i, char *marks, weft_error *error) {
    weft_status status = WEFT_OK;
    const app_condition *condition = &run->options->run.conditions.list[i];
    int32_t *nodes = NULL;
    int64_t n = 0;
    int group = 0;
    TRY(app_condition_group(run->mesh, condition, &group, error));
    if (condition->kind != APP_DIRICHLET) {
        TRY(app_part_make(run->device, run->mesh, condition, group, &run->parts[i], error));
        goto done;
    }
    TRY(weft_mesh_group_nodes(run->mesh, group, &nodes, &n, error));
    if (n == 0)
        TRY(app_condition_refuse_empty(condition, error));
    for (int p = 0; p < run->n_pieces; ++p)
        for (int64_t k = 0; run->pieces[p].part == i && k < n; ++k)
            marks[(int64_t)nodes[k] * run->components + run->pieces[p].component] = 1;
done:
    free(nodes);
    return status;
}

static weft_status split_exact(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const char *text = run->options->exact;
    int n = 0;
    char **list = NULL;
    if (!text)
        return WEFT_OK;
    TRY(app_split_list("--exact", text, &list, &n, error));
    if (n != run->components)
        TRY(refuse_count("--exact", text, n, run->components, error));
    run->exact = list;
    list = NULL;
done:
    app_free_list(&list, n);
    return status;
}

/* Without any condition u is zero on the whole boundary. */
static weft_status mark_boundary(solve *run, char *marks, weft_error *error) {
    weft_status status = WEFT_OK;
    int32_t *nodes = NULL;
    int64_t n = 0;
    TRY(weft_mesh_group_nodes(run->mesh, -1, &nodes, &n, error));
    for (int64_t k = 0; k < n; ++k)
        memset(marks + (int64_t)nodes[k] * run->components, 1, (size_t)run->components);
done:
    free(nodes);
    return status;
}

weft_status solve_dofs_make(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const app_run_options *options = &run->options->run;
    const weft_mesh *mesh = run->mesh;
    const size_t n = (size_t)options->conditions.n;
    char *marks = weft_array_make((size_t)run->n_dofs, 1);
    run->parts = calloc(n + 1, sizeof *run->parts);
    run->texts = calloc((n + 1) * SOLVE_COMPONENTS_MAX, sizeof *run->texts);
    run->pieces = calloc(n * SOLVE_COMPONENTS_MAX + 1, sizeof *run->pieces);
    if (!marks || !run->parts || !run->texts || !run->pieces) {
        status = weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory");
        goto done;
    }
    TRY(split_exact(run, error));
    TRY(app_probes_check(&options->probes, mesh->dimension, error));
    for (int i = 0; i < options->conditions.n; ++i) {
        TRY(split_condition(run, i, error));
        TRY(group_make(run, i, marks, error));
    }
    if (options->conditions.n == 0)
        TRY(mark_boundary(run, marks, error));
    TRY(app_marks_collect(marks, run->n_dofs, &run->constrained, &run->n_constrained, error));
    run->given = weft_array_make((size_t)run->n_constrained, sizeof *run->given);
    if (!run->given)
        TRY(weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory"));
    TRY(weft_connectivity_make(run->device, mesh->cells, mesh->n_cells, mesh->dimension + 1,
                               mesh->n_nodes, &run->cells, error));
done:
    free(marks);
    return status;
}

static weft_status set_piece(solve *run, const solve_part *piece, weft_error *error) {
    weft_status status = WEFT_OK;
    const app_condition *condition = piece->condition;
    weft_memory *memory = NULL;
    double *values = NULL, constant = 0;
    int32_t *nodes = NULL;
    int64_t n = 0;
    int group = 0;
    if (!app_constant(piece->value, &constant)) {
        TRY(app_array_make(run->device, run->mesh->n_nodes, &values, &memory, error));
        TRY(solve_evaluate(run, piece->value, condition->origin, memory, values, error));
    }
    TRY(app_condition_group(run->mesh, condition, &group, error));
    TRY(weft_mesh_group_nodes(run->mesh, group, &nodes, &n, error));
    for (int64_t i = 0; i < n && !run->is_null; ++i) {
        const double value = values ? values[nodes[i]] : constant;
        if (!isfinite(value))
            TRY(app_refuse_value(run->mesh, condition->origin, piece->value, nodes[i], error));
        run->u_values[(int64_t)nodes[i] * run->components + piece->component] = value;
    }
done:
    weft_memory_free(&memory);
    free(values);
    free(nodes);
    return status;
}

/* Where groups meet the later condition holds: u_values are written in their order, then read. */
weft_status solve_dirichlet_make(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    for (int64_t i = 0; i < run->n_constrained; ++i)
        run->u_values[run->constrained[i]] = 0;
    for (int i = 0; i < run->n_pieces; ++i)
        if (run->pieces[i].condition->kind == APP_DIRICHLET)
            TRY(set_piece(run, &run->pieces[i], error));
    for (int64_t i = 0; i < run->n_constrained; ++i)
        run->given[i] = run->u_values[run->constrained[i]];
done:
    return status;
}

void solve_dirichlet_set(solve *run, double factor) {
    for (int64_t i = 0; i < run->n_constrained; ++i)
        run->u_values[run->constrained[i]] = factor * run->given[i];
}
