/* Compares the memory that a large built-in mesh would need with the device's, before the mesh is made. */
#include "apps/common/fem.h"

#include <inttypes.h>
#include <math.h>

enum { NODES_LEAST = 10000000 }; /* smaller meshes are made first: the estimate is then exact */

typedef struct forecast {
    const weft_problem_options *options;
    weft_limits limits; /* of the device that computes */
    int preconditioner; /* -1: any */
} forecast;

/* The estimate of the requested assembly, or of the one that needs the least memory. */
static weft_memory_estimate estimate(const forecast *f, const app_mesh_shape *shape) {
    const weft_problem_options *options = f->options;
    const bool needs_matrix =
        f->preconditioner >= 0 && weft_preconditioner_about(f->preconditioner)->needs_matrix;
    weft_assembly_cost costs[WEFT_ASSEMBLIES_MOST];
    weft_memory_estimate least = {.bytes = SIZE_MAX};
    weft_problem_memory what = {
        .problem = {.dimension = shape->dimension,
                    .width = shape->dimension + 1,
                    .n_nodes = shape->n_nodes,
                    .n_cells = shape->n_cells,
                    .symmetric = true},
        .n_vectors = 2,
        .solves_once = true,
        .ranges_load = true,
        .method = options->method == WEFT_AUTO ? WEFT_METHOD_CG : (weft_method)options->method,
        .restart = options->restart,
        .preconditioner = f->preconditioner};
    what.problem.applications = weft_cg_iterations_expected(&what.problem, options->tolerance);
    const int n = weft_assembly_costs(&f->limits, &what.problem, costs);
    for (int i = 0; i < n; ++i) {
        weft_memory_estimate other = {0};
        const bool is_wanted = options->assembly != WEFT_AUTO
                                   ? (int)costs[i].assembly == options->assembly
                               : needs_matrix ? costs[i].assembly == WEFT_ASSEMBLY_CSR
                                              : costs[i].possible;
        if (!is_wanted)
            continue;
        weft_problem_memory_estimate(&f->limits, &what, costs[i].assembly, &other);
        if (other.bytes < least.bytes)
            least = other;
    }
    return least;
}

/* The largest mesh that fits. For multigrid its coarsest has 8 to 32 intervals per side, with --refine as many
 * refinements as were asked for. */
static app_mesh_shape largest(const forecast *f, const app_mesh_shape *asked, size_t bytes,
                              size_t left) {
    const bool has_levels =
        f->preconditioner >= 0 && weft_preconditioner_about(f->preconditioner)->needs_levels;
    app_mesh_shape out = *asked;
    int64_t step = (int64_t)1 << asked->refine;
    const double share = (double)left / (double)bytes;
    const double side = (double)asked->side * pow(share, 1.0 / asked->dimension) * 1.05;
    while (has_levels && asked->refine == 0 && step * 32 <= (int64_t)side)
        step *= 2;
    /* bisection: the estimate grows with the side; one step is named even where it does not fit */
    int64_t fits = 1, most = (int64_t)side / step;
    while (fits < most) {
        const int64_t middle = fits + (most - fits + 1) / 2;
        out.side = middle * step;
        app_mesh_shape_count(&out);
        if (estimate(f, &out).bytes <= left)
            fits = middle;
        else
            most = middle - 1;
    }
    out.side = fits * step;
    app_mesh_shape_count(&out);
    return out;
}

weft_status app_memory_forecast(weft_device *device, const app_run_options *options,
                                weft_error *error) {
    forecast f = {.options = &options->solver,
                  .limits = *weft_device_limits(device),
                  .preconditioner = options->solver.preconditioner};
    app_mesh_shape asked;
    const size_t left = weft_device_bytes_free(device);
    f.limits.records_only = false;
    if (!app_mesh_shape_of(&options->mesh, &asked) || asked.n_nodes < NODES_LEAST ||
        (asked.n_nodes > INT32_MAX &&
         asked.refine == 0)) /* too many to number: refused when made */
        return WEFT_OK;
    if (options->solver.until_discretisation && f.preconditioner < 0)
        (void)weft_preconditioner_find("multigrid", &f.preconditioner, NULL);
    const weft_memory_estimate needed = estimate(&f, &asked);
    if (needed.bytes <= left || needed.bytes == SIZE_MAX)
        return WEFT_OK;
    const weft_status status = weft_memory_estimate_check(&needed, device, NULL, error);
    const app_mesh_shape fitting = largest(&f, &asked, needed.bytes, left);
    if (error)
        weft_error_hint(error,
                        "%.0f bytes per node, for %" PRId64 " nodes; --mesh %s:%" PRId64
                        " fits, with %" PRId64 " nodes",
                        (double)needed.bytes / (double)asked.n_nodes, asked.n_nodes, fitting.name,
                        fitting.side >> asked.refine, fitting.n_nodes);
    return status;
}
