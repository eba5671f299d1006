#include "advection_diffusion.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool ends_with(const char *text, const char *end) {
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

/* Files come in any order; a GPU wants the nodes of a thread block near each other. */
static bool wants_order(const ad_run *run) {
    const ad_options *options = run->options;
    if (options->ordering == AD_ORDERING_AUTO)
        return ends_with(options->mesh, ".geo") || ends_with(options->mesh, ".msh") ||
               weft_device_limits(run->device)->kind == WEFT_DEVICE_CUDA;
    return options->ordering != AD_ORDERING_NONE;
}

static weft_status refine_mesh(ad_run *run, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_mesh *fine = NULL;
    TRY(weft_mesh_refine(run->device, run->mesh, run->options->refine, &run->messages->monitor,
                         &fine, error));
    weft_mesh_free(&run->mesh);
    run->mesh = fine;
done:
    return status;
}

static weft_status order_mesh(ad_run *run, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_ordering method =
        run->options->ordering == AD_ORDERING_METIS ? WEFT_ORDERING_METIS : WEFT_ORDERING_BISECTION;
    double start = weft_clock();
    TRY(weft_mesh_order(run->device, run->mesh, method, 0, &run->messages->monitor, NULL, error));
    run->ordered = method == WEFT_ORDERING_METIS ? "METIS" : "coordinate bisection";
done:
    run->seconds.order = weft_clock() - start;
    return status;
}

weft_status ad_mesh_make(ad_run *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const ad_options *options = run->options;
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

/* ---- what the options say against what the mesh has -------------------------------------------
 */

static weft_status refuse_dimension(const char *option, int n, int d, const char *write,
                                    weft_error *error) {
    weft_error_set(error, WEFT_ERROR_USAGE, "%d expressions, but the mesh has %d dimensions", n, d);
    weft_error_place(error, option, NULL, 0, 0);
    weft_error_hint(error, "write %s", write);
    return WEFT_ERROR_USAGE;
}

static weft_status check_formulas(const ad_run *run, weft_error *error) {
    const int d = run->mesh->dimension;
    const ad_formulas *u = &run->options->velocity, *mu = &run->options->diffusivity;
    if (u->n > 0 && (u->n != d || u->n_rows != 1))
        return refuse_dimension("--velocity", u->n, d,
                                d == 2 ? "--velocity EXPR,EXPR" : "--velocity EXPR,EXPR,EXPR",
                                error);
    if (mu->n > 1 && (mu->n != d * d || mu->n_rows != d))
        return refuse_dimension("--diffusivity", mu->n, d,
                                d == 2 ? "--diffusivity EXPR, or 'E11,E12;E21,E22'"
                                       : "--diffusivity EXPR, or 'E11,E12,E13;E21,E22,E23;"
                                         "E31,E32,E33'",
                                error);
    return WEFT_OK;
}

static weft_status find_probes(ad_run *run, weft_error *error) {
    const ad_options *options = run->options;
    const int d = run->mesh->dimension, n = options->n_probes;
    run->probe_cells = calloc((size_t)n + 1, sizeof *run->probe_cells);
    run->probe_weights = calloc((size_t)n + 1, sizeof *run->probe_weights);
    if (!run->probe_cells || !run->probe_weights)
        return weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory");
    for (int i = 0; i < n; ++i) {
        const ad_probe *probe = &options->probes[i];
        if (probe->n != d) {
            weft_error_set(error, WEFT_ERROR_USAGE,
                           "this point has %d coordinates, the mesh has %d dimensions", probe->n,
                           d);
            weft_error_place(error, "--probe", probe->text, 1, 1);
            weft_error_hint(error, d == 2 ? "write --probe X,Y" : "write --probe X,Y,Z");
            return WEFT_ERROR_USAGE;
        }
        weft_mesh_locate(run->mesh, probe->point, &run->probe_cells[i], run->probe_weights[i]);
    }
    return WEFT_OK;
}

static weft_status keep_nodes(ad_run *run, int i, weft_error *error) {
    weft_status status = WEFT_OK;
    const ad_condition *condition = &run->options->conditions[i];
    int group = 0;
    int32_t *nodes = NULL;
    status = weft_mesh_group(run->mesh, condition->group, &group, error);
    if (status != WEFT_OK) {
        if (error && !error->file[0])
            weft_error_place(error, condition->origin, NULL, 0, 0);
        goto done;
    }
    TRY(weft_mesh_group_nodes(run->mesh, group, &nodes, &run->kept[i].n_nodes, error));
    run->kept[i].nodes = nodes;
    run->kept[i].text = condition->value;
    run->kept[i].origin = condition->origin;
    if (run->kept[i].n_nodes == 0) {
        status = weft_error_set(error, WEFT_ERROR_INPUT,
                                "the group '%s' has no facets on which a condition could hold",
                                condition->group);
        weft_error_place(error, condition->origin, NULL, 0, 0);
        weft_error_hint(error, "name a group of facets of the mesh: lines in the plane, surfaces "
                               "in space");
    }
done:
    return status;
}

weft_status ad_dofs_make(ad_run *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const ad_options *options = run->options;
    const weft_mesh *mesh = run->mesh;
    const size_t bytes = (size_t)mesh->n_nodes * (size_t)mesh->dimension * sizeof *mesh->x;
    run->kept = calloc((size_t)options->n_conditions + 1, sizeof *run->kept);
    if (!run->kept) {
        status = weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory");
        goto done;
    }
    TRY(check_formulas(run, error));
    TRY(find_probes(run, error));
    for (int i = 0; i < options->n_conditions; ++i)
        TRY(keep_nodes(run, i, error));
    TRY(weft_connectivity_make(run->device, mesh->cells, mesh->n_cells, mesh->dimension + 1,
                               mesh->n_nodes, &run->cells, error));
    TRY(weft_memory_wrap(run->device, mesh->x, bytes, &run->x, error));
done:
    return status;
}
