#include "apps/common/fem.h"
#include "apps/poisson/poisson.h"
#include "core/weft_core.h"
#include "fem/weft_fem.h"
#include "fusion/weft_program.h"

#include <stdlib.h>

weft_status poisson_mesh_make(poisson *run, weft_error *error) {
    weft_status status = app_mesh_make(run->device, &run->options->run.mesh,
                                       &run->messages->monitor, &run->mesh, &run->mesh_made, error);
    run->seconds.mesh = run->mesh_made.seconds;
    run->seconds.order = run->mesh_made.order_seconds;
    return status;
}

/* Mark the nodes of a group (-1: the boundary); returns through *n_marked how many it has. */
static weft_status mark_nodes(const poisson *run, int group, char *marks, int64_t *n_marked,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    int32_t *nodes = NULL;
    TRY(weft_mesh_group_nodes(run->mesh, group, &nodes, n_marked, error));
    for (int64_t i = 0; i < *n_marked; ++i)
        marks[nodes[i]] = 1;
done:
    free(nodes);
    return status;
}

weft_status poisson_dofs_make(poisson *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const poisson_options *options = run->options;
    const weft_mesh *mesh = run->mesh;
    char *marks = weft_array_make((size_t)mesh->n_nodes, 1);
    run->parts = calloc((size_t)options->run.conditions.n + 1, sizeof *run->parts);
    if (!marks || !run->parts) {
        status = weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory");
        goto done;
    }
    TRY(app_probes_check(&options->run.probes, mesh->dimension, error));
    for (int i = 0; i < options->run.conditions.n; ++i) {
        const app_condition *condition = &options->run.conditions.list[i];
        int group = 0;
        int64_t n = 1;
        TRY(app_condition_group(mesh, condition, &group, error));
        if (condition->kind == APP_DIRICHLET)
            TRY(mark_nodes(run, group, marks, &n, error));
        else
            TRY(app_part_make(run->device, mesh, condition, group, &run->parts[i], error));
        if (n == 0)
            TRY(app_condition_refuse_empty(condition, error));
    }
    if (options->run.conditions.n == 0) {
        int64_t n = 0;
        TRY(mark_nodes(run, -1, marks, &n, error));
    }
    TRY(app_marks_collect(marks, mesh->n_nodes, &run->constrained, &run->n_constrained, error));
    TRY(poisson_parts_check(run, error));
    TRY(weft_connectivity_make(run->device, mesh->cells, mesh->n_cells, mesh->dimension + 1,
                               mesh->n_nodes, &run->cells, error));
done:
    free(marks);
    return status;
}
