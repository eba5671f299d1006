/* Reads or makes the mesh of a run, refines and orders it, and reports on it. */
#include "apps/common/fem.h"

#include <inttypes.h>
#include <math.h>

/* Meshes from files have any numbering. The built-in meshes are numbered row by row, which is good
 * for the host; a GPU needs the nodes of a thread block to be close in all directions. */
static bool wants_order(const weft_device *device, const app_mesh_options *options) {
    if (options->ordering == APP_ORDERING_AUTO)
        return weft_mesh_is_gmsh(options->name) ||
               weft_device_limits(device)->execution == WEFT_EXECUTION_SIMT;
    return options->ordering != APP_ORDERING_NONE;
}

static weft_status order_mesh(weft_device *device, weft_ordering method,
                              const weft_monitor *monitor, weft_mesh *mesh, app_mesh_made *made,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    double before = weft_mesh_bandwidth(device, mesh), start = weft_clock();
    TRY(weft_mesh_order(device, mesh, method, 0, monitor, NULL, error));
    made->order_seconds = weft_clock() - start;
    made->ordered = method == WEFT_ORDERING_METIS ? "METIS" : "coordinate bisection";
    weft_log(monitor, WEFT_LOG_INFO,
             "ordered the nodes by %s in %.3g s: mean distance within a cell %.3g of all before, "
             "%.3g after",
             made->ordered, made->order_seconds, before, weft_mesh_bandwidth(device, mesh));
done:
    return status;
}

static weft_status refine_mesh(weft_device *device, int times, const weft_monitor *monitor,
                               weft_mesh **mesh, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_mesh *fine = NULL;
    TRY(weft_mesh_refine(device, *mesh, times, monitor, &fine, error));
    weft_mesh_free(mesh);
    *mesh = fine;
done:
    return status;
}

weft_status app_mesh_make(weft_device *device, const app_mesh_options *options,
                          const weft_monitor *monitor, weft_mesh **out, app_mesh_made *made,
                          weft_error *error) {
    weft_status status = WEFT_OK;
    weft_mesh *mesh = NULL;
    double start = weft_clock();
    TRY(weft_mesh_read_with(options->name, &options->reading, monitor, &mesh, error));
    if (options->refine > 0)
        TRY(refine_mesh(device, options->refine, monitor, &mesh, error));
    if (wants_order(device, options))
        TRY(order_mesh(device,
                       options->ordering == APP_ORDERING_METIS ? WEFT_ORDERING_METIS
                                                               : WEFT_ORDERING_BISECTION,
                       monitor, mesh, made, error));
    if (options->reading.size > 0 && !app_ends_with(options->name, ".geo"))
        weft_log(monitor, WEFT_LOG_WARNING, "--size has no effect: it applies only to .geo files");
    weft_log(monitor, WEFT_LOG_INFO,
             "mesh: %" PRId64 " cells, %" PRId64 " nodes, %" PRId64 " boundary facets",
             mesh->n_cells, mesh->n_nodes, mesh->n_boundary_facets);
    *out = mesh;
    mesh = NULL;
done:
    weft_mesh_free(&mesh);
    made->seconds = weft_clock() - start;
    return status;
}

static void print_count(const char *what, int64_t n, const char *thing, const char *fate) {
    if (n > 0)
        printf("            %s: %" PRId64 " %s%s %s\n", what, n, thing, n == 1 ? "" : "s", fate);
}

void app_mesh_print(const weft_mesh *mesh, const app_mesh_made *made) {
    printf("mesh        %s: %" PRId64 " %s, %" PRId64 " nodes%s%s\n", mesh->source, mesh->n_cells,
           mesh->dimension == 2 ? "triangles" : "tetrahedra", mesh->n_nodes,
           made->ordered ? ", ordered by " : "", made->ordered ? made->ordered : "");
    print_count("repaired", mesh->n_flipped_cells, "inverted cell", "flipped");
    print_count("repaired", mesh->n_dropped_nodes, "unused node", "dropped");
    print_count("ignored", mesh->n_ignored_facets, "group facet", "of no cell");
}
