/* Applies a renumbering of nodes to a mesh on a device (kernels/setup/simplices.cu). */
#include "fem/base/memory.h"
#include "fem/mesh/mesh.h"
#include "fem/order/on_device.h"

#include <stdlib.h>

enum { MOST = 4096 }; /* simplices of a node: each compares itself with the others */

void weft_device_simplices_free(weft_device_simplices *simplices) {
    weft_memory_free(&simplices->nodes);
    weft_memory_free(&simplices->from);
    *simplices = (weft_device_simplices){0};
}

/* Renumber, and count the simplices whose lowest node is each. */
static weft_status count_simplices(weft_setup *setup, const weft_device_simplices *s,
                                   weft_memory *sizes, weft_memory *new_of, int64_t n_nodes,
                                   weft_memory *counts, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_memory *longest = NULL;
    uint32_t most = 0;
    TRY(weft_memory_make(weft_setup_device(setup), sizeof most, &longest, error));
    const weft_setup_kernel count = {"simplices", "count_simplices", s->n, 0, 0};
    TRY(weft_setup_launch(setup, &count, (weft_memory *[]){sizes, new_of, s->nodes, counts}, 4,
                          error));
    const weft_setup_kernel find = {"simplices", "most_simplices", n_nodes, 0, 0};
    TRY(weft_setup_launch(setup, &find, (weft_memory *[]){counts, longest}, 2, error));
    TRY(weft_memory_read(longest, 0, &most, sizeof most, error));
    if (most > MOST)
        TRY(weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                           "a node is the lowest of %u cells, more than %d", most, MOST));
done:
    weft_memory_free(&longest);
    return status;
}

weft_status weft_simplices_sort_on_device(weft_setup *setup, weft_device_simplices *s,
                                          weft_memory *new_of, int64_t n_nodes, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_device *device = weft_setup_device(setup);
    const size_t n = (size_t)s->n;
    int64_t total = 0;
    weft_memory *sizes = NULL, *counts = NULL, *start = NULL, *list = NULL;
    weft_device_simplices sorted = {.n = s->n, .width = s->width};
    TRY(weft_setup_numbers(setup, (int64_t[]){s->width}, 1, &sizes, error));
    TRY(weft_memory_make(device, (size_t)n_nodes * sizeof(uint32_t), &counts, error));
    TRY(weft_memory_make_unset(device, n * sizeof(int32_t), &list, error));
    TRY(weft_memory_make_unset(device, n * (size_t)s->width * sizeof(int32_t), &sorted.nodes,
                               error));
    TRY(weft_memory_make_unset(device, n * sizeof(int32_t), &sorted.from, error));
    TRY(count_simplices(setup, s, sizes, new_of, n_nodes, counts, error));
    TRY(weft_setup_sums(setup, counts, n_nodes, &start, &total, error));
    const weft_setup_kernel put = {"simplices", "list_simplices", s->n, 0, 0};
    TRY(weft_setup_launch(setup, &put, (weft_memory *[]){sizes, s->nodes, start, counts, list}, 5,
                          error));
    const weft_setup_kernel sort = {"simplices", "sort_simplices", s->n, 0, 0};
    weft_memory *const arguments[] = {sizes, s->nodes, start, list, sorted.nodes, sorted.from};
    TRY(weft_setup_launch(setup, &sort, arguments, 6, error));
    weft_device_simplices_free(s);
    *s = sorted;
    sorted = (weft_device_simplices){0};
done:
    weft_memory_free(&sizes);
    weft_memory_free(&counts);
    weft_memory_free(&start);
    weft_memory_free(&list);
    weft_device_simplices_free(&sorted);
    return status;
}

static weft_status simplices_send(weft_setup *setup, const int32_t *nodes, int64_t n, int width,
                                  weft_device_simplices *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t bytes = (size_t)(n * width) * sizeof *nodes;
    out->n = n;
    out->width = width;
    TRY(weft_memory_make_unset(weft_setup_device(setup), bytes, &out->nodes, error));
    TRY(weft_memory_write(out->nodes, 0, nodes, bytes, error));
done:
    return status;
}

/* Sort facets first .. first + n - 1. */
static weft_status facets_sort(weft_setup *setup, const weft_mesh *mesh, int64_t first, int64_t n,
                               weft_memory *new_of, const weft_mesh_moves *moves,
                               weft_error *error) {
    weft_status status = WEFT_OK;
    const int w = weft_mesh_facet_vertices(mesh);
    const size_t bytes = (size_t)n * sizeof(int32_t);
    weft_device_simplices facets = {0};
    int32_t *nodes = moves->facets + first * w;
    if (n == 0)
        goto done;
    TRY(simplices_send(setup, nodes, n, w, &facets, error));
    TRY(weft_simplices_sort_on_device(setup, &facets, new_of, mesh->n_nodes, error));
    TRY(weft_memory_read(facets.nodes, 0, nodes, bytes * (size_t)w, error));
    TRY(weft_memory_read(facets.from, 0, moves->facet_from + first, bytes, error));
done:
    weft_device_simplices_free(&facets);
    return status;
}

/* Give the nodes of groups of points and of periodic sides their new numbers. */
static weft_status points_follow(weft_mesh *mesh, weft_memory *new_of, weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t bytes = (size_t)mesh->n_nodes * sizeof(int32_t);
    int32_t *numbers = NULL;
    if (mesh->points.n_nodes == 0 && mesh->points.n_pairs == 0)
        goto done;
    numbers = weft_scratch_make((size_t)mesh->n_nodes, sizeof *numbers);
    if (!numbers)
        TRY(weft_out_of_memory(error, "the numbers of nodes"));
    TRY(weft_memory_read(new_of, 0, numbers, bytes, error));
    weft_points_renumber(mesh, numbers);
done:
    free(numbers);
    return status;
}

/* From the points on nothing fails but the device. */
weft_status weft_mesh_renumber_on_device(weft_setup *setup, weft_mesh *mesh, weft_memory *x,
                                         weft_memory *old, int32_t *cells, weft_mesh_copies *copies,
                                         weft_error *error) {
    weft_status status = WEFT_OK;
    weft_device *device = weft_setup_device(setup);
    const int64_t n = mesh->n_nodes, n_boundary = mesh->n_boundary_facets;
    const int width = weft_mesh_cell_vertices(mesh);
    weft_mesh_moves moves = {0};
    weft_device_simplices sorted = {0};
    weft_memory *sizes = NULL, *new_of = NULL, *moved = NULL;
    TRY(weft_mesh_moves_make(mesh, cells, &moves, error));
    TRY(weft_setup_numbers(setup, (int64_t[]){mesh->dimension}, 1, &sizes, error));
    TRY(weft_memory_make_unset(device, (size_t)n * sizeof(int32_t), &new_of, error));
    TRY(weft_memory_make_unset(device, weft_memory_bytes(x), &moved, error));
    const weft_setup_kernel move = {"simplices", "move_nodes", n, 0, 0};
    TRY(weft_setup_launch(setup, &move, (weft_memory *[]){sizes, old, x, new_of, moved}, 5, error));
    TRY(facets_sort(setup, mesh, 0, n_boundary, new_of, &moves, error));
    TRY(facets_sort(setup, mesh, n_boundary, mesh->n_facets - n_boundary, new_of, &moves, error));
    TRY(simplices_send(setup, mesh->cells, mesh->n_cells, width, &sorted, error));
    TRY(weft_simplices_sort_on_device(setup, &sorted, new_of, n, error));
    TRY(points_follow(mesh, new_of, error));
    TRY(weft_memory_read(sorted.nodes, 0, mesh->cells, weft_memory_bytes(sorted.nodes), error));
    if (moves.cell_from)
        TRY(weft_memory_read(sorted.from, 0, moves.cell_from, weft_memory_bytes(sorted.from),
                             error));
    TRY(weft_memory_read(moved, 0, mesh->x, weft_memory_bytes(moved), error));
    weft_mesh_moves_follow(mesh, &moves);
    if (copies) {
        *copies = (weft_mesh_copies){moved, sorted.nodes};
        moved = sorted.nodes = NULL;
    }
done:
    weft_mesh_moves_free(&moves);
    weft_device_simplices_free(&sorted);
    weft_memory_free(&sizes);
    weft_memory_free(&new_of);
    weft_memory_free(&moved);
    return status;
}

weft_status weft_mesh_order_on_device(weft_device *device, weft_mesh *mesh, int64_t part_nodes,
                                      const weft_renumbering *renumbering, weft_mesh_copies *copies,
                                      weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t n = (size_t)mesh->n_nodes, bytes = n * (size_t)mesh->dimension * sizeof *mesh->x;
    weft_setup *setup = NULL;
    weft_memory *x = NULL, *old = NULL;
    TRY(weft_setup_make(device, &setup, error));
    TRY(weft_memory_make_unset(device, bytes, &x, error));
    TRY(weft_memory_make_unset(device, n * sizeof(int32_t), &old, error));
    TRY(weft_memory_write(x, 0, mesh->x, bytes, error));
    TRY(weft_order_bisect_on_device(setup, mesh, part_nodes, x, old, error));
    if (renumbering->nodes)
        TRY(weft_memory_read(old, 0, renumbering->nodes, n * sizeof(int32_t), error));
    TRY(weft_mesh_renumber_on_device(setup, mesh, x, old, renumbering->cells, copies, error));
done:
    weft_memory_free(&x);
    weft_memory_free(&old);
    weft_setup_free(&setup);
    return status;
}
