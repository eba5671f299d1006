/* Renumbers a mesh by the chosen method, and measures the locality of a numbering. */
#include "fem/order/order.h"
#include "fem/order/on_device.h"

#include <stdlib.h>

enum { BISECTION_LEAF = 512, METIS_PART = 4096, SUMS = 256, DEVICE_LEAST = 100000 };

/* Whether a device orders the mesh: for fewer nodes the host is as fast as the device with loading its
 * kernels, and other cells may have equal four lowest nodes. */
static bool suits_device(const weft_device *device, const weft_mesh *mesh, weft_ordering method) {
    return weft_setup_on_device(device) && method == WEFT_ORDERING_BISECTION &&
           mesh->n_nodes >= DEVICE_LEAST && weft_mesh_cell_vertices(mesh) <= 4;
}

static weft_status order_on_host(weft_device *device, weft_mesh *mesh,
                                 const weft_order_options *options, const weft_renumbering *made,
                                 weft_error *error) {
    weft_status status = WEFT_OK;
    if (options->method == WEFT_ORDERING_METIS)
        TRY(weft_order_metis(mesh, options->part_nodes, options->monitor, made->nodes, error));
    else
        TRY(weft_order_bisect(device, mesh, options->part_nodes, made->nodes, error));
    weft_progress(options->monitor, "order", 2, 3);
    TRY(weft_mesh_renumber(device, mesh, made, error));
done:
    return status;
}

/* The host orders a mesh for which the device has no memory, or which it refuses.
 *  wanted  the arrays of made that are not only work space */
static weft_status order_anywhere(weft_device *device, weft_mesh *mesh,
                                  const weft_order_options *options, const weft_renumbering *made,
                                  const weft_renumbering *wanted, weft_mesh_copies *copies,
                                  weft_error *error) {
    weft_error why = {0};
    if (suits_device(device, mesh, options->method)) {
        const weft_status status =
            weft_mesh_order_on_device(device, mesh, options->part_nodes, wanted, copies, &why);
        if (status != WEFT_ERROR_MEMORY && status != WEFT_ERROR_UNSUPPORTED) {
            if (status != WEFT_OK && error)
                *error = why;
            return status;
        }
        weft_log(options->monitor, WEFT_LOG_INFO, "the host orders the mesh: %s", why.message);
    }
    return order_on_host(device, mesh, options, made, error);
}

weft_status weft_mesh_order_keeping(weft_device *device, weft_mesh *mesh,
                                    const weft_order_options *options,
                                    weft_renumbering *renumbering, weft_mesh_copies *copies,
                                    weft_error *error) {
    weft_status status = WEFT_OK;
    weft_order_options used = *options;
    weft_renumbering made = {
        .nodes = weft_array_make_unset((uint64_t)mesh->n_nodes * sizeof *made.nodes)};
    if (renumbering)
        made.cells = weft_array_make_unset((uint64_t)mesh->n_cells * sizeof *made.cells);
    if (used.part_nodes < 1)
        used.part_nodes = used.method == WEFT_ORDERING_METIS ? METIS_PART : BISECTION_LEAF;
    if (!made.nodes || (renumbering && !made.cells))
        TRY(weft_error_set(error, WEFT_ERROR_MEMORY, "%s: no memory to order %lld nodes",
                           mesh->source, (long long)mesh->n_nodes));
    const weft_renumbering wanted = {renumbering ? made.nodes : NULL, made.cells};
    weft_progress(used.monitor, "order", 0, 3);
    TRY(order_anywhere(device, mesh, &used, &made, &wanted, copies, error));
    weft_progress(used.monitor, "order", 3, 3);
    if (renumbering) {
        *renumbering = made;
        made = (weft_renumbering){0};
    }
done:
    free(made.nodes);
    free(made.cells);
    return status;
}

weft_status weft_mesh_order(weft_device *device, weft_mesh *mesh, weft_ordering method,
                            int64_t part_nodes, const weft_monitor *monitor,
                            weft_renumbering *renumbering, weft_error *error) {
    const weft_order_options options = {method, part_nodes, monitor};
    return weft_mesh_order_keeping(device, mesh, &options, renumbering, NULL, error);
}

typedef struct bandwidth_work {
    const weft_mesh *mesh;
    double sums[SUMS]; /* over equal chunks of the cells; each is exact */
} bandwidth_work;

static void sum_distances(void *user, int64_t chunk) {
    bandwidth_work *work = user;
    const weft_mesh *mesh = work->mesh;
    int width = weft_mesh_cell_vertices(mesh);
    int64_t cells = mesh->n_cells / SUMS + 1, first = chunk * cells, sum = 0;
    int64_t last = first + cells < mesh->n_cells ? first + cells : mesh->n_cells;
    for (int64_t cell = first; cell < last; ++cell) {
        const int32_t *nodes = mesh->cells + cell * width;
        for (int i = 1; i < width; ++i)
            for (int j = 0; j < i; ++j)
                sum += nodes[i] > nodes[j] ? nodes[i] - nodes[j] : nodes[j] - nodes[i];
    }
    work->sums[chunk] = (double)sum;
}

double weft_mesh_bandwidth(weft_device *device, const weft_mesh *mesh) {
    int width = weft_mesh_cell_vertices(mesh), n_pairs = width * (width - 1) / 2;
    double sum = 0;
    bandwidth_work work = {.mesh = mesh};
    (void)weft_device_for(device, SUMS, sum_distances, &work, NULL);
    for (int i = 0; i < SUMS; ++i)
        sum += work.sums[i];
    return mesh->n_cells ? sum / ((double)mesh->n_cells * n_pairs * (double)mesh->n_nodes) : 0;
}
