#include "poisson.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static bool ends_with(const char *text, const char *end) {
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

/* Files come in any order. The built-in meshes are numbered row after row, which serves a host
 * well, but a GPU wants the nodes of a thread block near each other in all directions. */
static bool wants_order(const poisson *run) {
    const poisson_options *options = run->options;
    if (options->ordering == POISSON_ORDERING_AUTO)
        return ends_with(options->mesh, ".geo") || ends_with(options->mesh, ".msh") ||
               weft_device_limits(run->device)->kind == WEFT_DEVICE_CUDA;
    return options->ordering != POISSON_ORDERING_NONE;
}

static weft_status order_mesh(poisson *run, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_ordering method = run->options->ordering == POISSON_ORDERING_METIS
                               ? WEFT_ORDERING_METIS
                               : WEFT_ORDERING_BISECTION;
    const weft_monitor *monitor = &run->messages->monitor;
    double before = weft_mesh_bandwidth(run->device, run->mesh), start = weft_clock();
    TRY(weft_mesh_order(run->device, run->mesh, method, 0, monitor, NULL, error));
    run->seconds.order = weft_clock() - start;
    run->ordered = method == WEFT_ORDERING_METIS ? "METIS" : "coordinate bisection";
    weft_log(monitor, WEFT_LOG_INFO,
             "ordered the nodes by %s in %.3g s: mean distance within a cell %.3g of all before, "
             "%.3g after",
             run->ordered, run->seconds.order, before, weft_mesh_bandwidth(run->device, run->mesh));
done:
    return status;
}

static weft_status refine_mesh(poisson *run, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_mesh *fine = NULL;
    TRY(weft_mesh_refine(run->device, run->mesh, run->options->refine, &run->messages->monitor,
                         &fine, error));
    weft_mesh_free(&run->mesh);
    run->mesh = fine;
done:
    return status;
}

weft_status poisson_mesh_make(poisson *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const poisson_options *options = run->options;
    const weft_monitor *monitor = &run->messages->monitor;
    double start = weft_clock();
    TRY(weft_mesh_read(options->mesh, options->size, monitor, &run->mesh, error));
    if (options->refine > 0)
        TRY(refine_mesh(run, error));
    if (wants_order(run))
        TRY(order_mesh(run, error));
    if (options->size > 0 && !ends_with(options->mesh, ".geo"))
        weft_log(monitor, WEFT_LOG_WARNING, "--size changes nothing here: it is for .geo files");
    weft_log(monitor, WEFT_LOG_INFO,
             "mesh: %" PRId64 " cells, %" PRId64 " nodes, %" PRId64 " boundary facets",
             run->mesh->n_cells, run->mesh->n_nodes, run->mesh->n_boundary_facets);
done:
    run->seconds.mesh = weft_clock() - start;
    return status;
}

static weft_status check_probes(const poisson *run, weft_error *error) {
    int d = run->mesh->dimension;
    for (int i = 0; i < run->options->n_probes; ++i) {
        const poisson_probe *probe = &run->options->probes[i];
        if (probe->n == d)
            continue;
        weft_error_set(error, WEFT_ERROR_USAGE,
                       "this point has %d coordinates, the mesh has %d dimensions", probe->n, d);
        weft_error_place(error, "--probe", probe->text, 1, 1);
        weft_error_hint(error, d == 2 ? "write --probe X,Y" : "write --probe X,Y,Z");
        return WEFT_ERROR_USAGE;
    }
    return WEFT_OK;
}

static weft_status refuse_empty(const poisson_condition *condition, weft_error *error) {
    weft_error_set(error, WEFT_ERROR_INPUT,
                   "the group '%s' has no facets on which a condition could hold",
                   condition->group);
    weft_error_place(error, condition->origin, NULL, 0, 0);
    weft_error_hint(error,
                    "name a group of facets of the mesh: lines in the plane, surfaces in space");
    return WEFT_ERROR_INPUT;
}

/* Neumann and Robin: the facets as an index set of their own. */
static weft_status make_part(poisson *run, const poisson_condition *condition, int group,
                             poisson_part *part, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(weft_mesh_group_facets(run->mesh, group, &part->facets, &part->n_facets, error));
    if (part->n_facets == 0)
        TRY(refuse_empty(condition, error));
    TRY(weft_connectivity_make(run->device, part->facets, part->n_facets, run->mesh->dimension,
                               run->mesh->n_nodes, &part->dofs, error));
done:
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

static weft_status collect_marks(poisson *run, const char *marks, weft_error *error) {
    int64_t n = 0;
    for (int64_t i = 0; i < run->mesh->n_nodes; ++i)
        n += marks[i];
    run->constrained = weft_array_make((size_t)n, sizeof *run->constrained);
    if (!run->constrained)
        return weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory");
    for (int64_t i = 0; i < run->mesh->n_nodes; ++i)
        if (marks[i])
            run->constrained[run->n_constrained++] = (int32_t)i;
    return WEFT_OK;
}

weft_status poisson_dofs_make(poisson *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const poisson_options *options = run->options;
    const weft_mesh *mesh = run->mesh;
    char *marks = weft_array_make((size_t)mesh->n_nodes, 1);
    run->parts = calloc((size_t)options->n_conditions + 1, sizeof *run->parts);
    if (!marks || !run->parts) {
        status = weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory");
        goto done;
    }
    TRY(check_probes(run, error));
    for (int i = 0; i < options->n_conditions; ++i) {
        const poisson_condition *condition = &options->conditions[i];
        int group = 0;
        int64_t n = 1;
        status = weft_mesh_group(mesh, condition->group, &group, error);
        if (status != WEFT_OK) {
            if (error && !error->file[0])
                weft_error_place(error, condition->origin, NULL, 0, 0);
            goto done;
        }
        if (condition->kind == POISSON_DIRICHLET)
            TRY(mark_nodes(run, group, marks, &n, error));
        else
            TRY(make_part(run, condition, group, &run->parts[i], error));
        if (n == 0)
            TRY(refuse_empty(condition, error));
    }
    if (options->n_conditions == 0) {
        int64_t n = 0;
        TRY(mark_nodes(run, -1, marks, &n, error));
    }
    TRY(collect_marks(run, marks, error));
    TRY(poisson_parts_check(run, error));
    TRY(weft_connectivity_make(run->device, mesh->cells, mesh->n_cells, mesh->dimension + 1,
                               mesh->n_nodes, &run->cells, error));
done:
    free(marks);
    return status;
}
