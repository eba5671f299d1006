#include "order_internal.h"

#include <stdlib.h>
#include <string.h>

/* Simplices by their lowest node and then by the others. */
typedef struct weft_simplex_key {
    int32_t nodes[4]; /* ascending */
} weft_simplex_key;

static weft_simplex_key key_of(const int32_t *nodes, int width) {
    weft_simplex_key key = {{0}};
    for (int i = 0; i < width; ++i) {
        int k = i;
        for (; k > 0 && key.nodes[k - 1] > nodes[i]; --k)
            key.nodes[k] = key.nodes[k - 1];
        key.nodes[k] = nodes[i];
    }
    return key;
}

static bool key_less(const weft_simplex_key *a, const weft_simplex_key *b, int width) {
    for (int i = 0; i < width; ++i)
        if (a->nodes[i] != b->nodes[i])
            return a->nodes[i] < b->nodes[i];
    return false;
}

static int32_t lowest(const int32_t *nodes, int width) {
    int32_t least = nodes[0];
    for (int i = 1; i < width; ++i)
        if (nodes[i] < least)
            least = nodes[i];
    return least;
}

/* order [n]: which simplex comes at each place. Counting sort by lowest node; the few with the same
 * one by insertion. start: [n_nodes + 1]. */
static void simplices_sort(const int32_t *simplices, int64_t n, int width, int64_t n_nodes,
                           int64_t *start, int32_t *order) {
    memset(start, 0, ((size_t)n_nodes + 1) * sizeof *start);
    for (int64_t i = 0; i < n; ++i)
        start[lowest(simplices + i * width, width) + 1] += 1;
    for (int64_t node = 0; node < n_nodes; ++node)
        start[node + 1] += start[node];
    for (int64_t i = 0; i < n; ++i)
        order[start[lowest(simplices + i * width, width)]++] = (int32_t)i;
    for (int64_t i = 1; i < n; ++i) {
        int32_t moved = order[i];
        weft_simplex_key key = key_of(simplices + (int64_t)moved * width, width);
        int64_t k = i;
        for (; k > 0; --k) {
            weft_simplex_key before = key_of(simplices + (int64_t)order[k - 1] * width, width);
            if (!key_less(&key, &before, width))
                break;
            order[k] = order[k - 1];
        }
        order[k] = moved;
    }
}

static void simplices_map(const int32_t *simplices, int64_t n, int width, const int32_t *new_of,
                          int32_t *out) {
    for (int64_t i = 0; i < n * width; ++i)
        out[i] = new_of[simplices[i]];
}

static void simplices_permute(const int32_t *simplices, int64_t n, int width, const int32_t *order,
                              int32_t *out) {
    for (int64_t i = 0; i < n; ++i)
        memcpy(out + i * width, simplices + (int64_t)order[i] * width, (size_t)width * sizeof *out);
}

static int compare_numbers(const void *a, const void *b) {
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* Facets sort within the boundary and within the rest; groups hold their numbers, ascending. */
static void facets_renumber(weft_mesh *mesh, const int32_t *facets, int64_t *start, int32_t *order,
                            int32_t *new_facet) {
    int d = mesh->dimension;
    int64_t n_boundary = mesh->n_boundary_facets;
    const int64_t ranges[2][2] = {{0, n_boundary}, {n_boundary, mesh->n_facets - n_boundary}};
    for (int r = 0; r < 2; ++r) {
        int64_t first = ranges[r][0], n = ranges[r][1];
        simplices_sort(facets + first * d, n, d, mesh->n_nodes, start, order);
        simplices_permute(facets + first * d, n, d, order, mesh->facets + first * d);
        for (int64_t i = 0; i < n; ++i)
            new_facet[first + order[i]] = (int32_t)(first + i);
    }
    for (int g = 0; g < mesh->n_groups; ++g) {
        const weft_group *group = &mesh->groups[g];
        int32_t *list = mesh->group_facets + group->first_facet;
        for (int64_t k = 0; k < group->n_facets; ++k)
            list[k] = new_facet[list[k]];
        qsort(list, (size_t)group->n_facets, sizeof *list, compare_numbers);
    }
}

weft_status weft_mesh_renumber(weft_mesh *mesh, const int32_t *new_of, weft_error *error) {
    weft_status status = WEFT_OK;
    int d = mesh->dimension;
    int64_t n_most = mesh->n_cells > mesh->n_facets ? mesh->n_cells : mesh->n_facets;
    double *x = weft_array_make((size_t)mesh->n_nodes, (size_t)d * sizeof *x);
    int64_t *start = malloc(((size_t)mesh->n_nodes + 1) * sizeof *start);
    int32_t *order = malloc(((size_t)n_most + 1) * sizeof *order);
    int32_t *new_facet = malloc(((size_t)mesh->n_facets + 1) * sizeof *new_facet);
    int32_t *mapped = malloc(((size_t)n_most + 1) * (size_t)(d + 1) * sizeof *mapped);
    if (!x || !start || !order || !new_facet || !mapped) {
        status = weft_error_set(error, WEFT_ERROR_MEMORY, "%s: no memory to renumber %lld cells",
                                mesh->source, (long long)mesh->n_cells);
        goto done;
    }
    for (int64_t i = 0; i < mesh->n_nodes; ++i)
        memcpy(x + (int64_t)new_of[i] * d, mesh->x + i * d, (size_t)d * sizeof *x);
    free(mesh->x);
    mesh->x = x;
    x = NULL;
    simplices_map(mesh->cells, mesh->n_cells, d + 1, new_of, mapped);
    simplices_sort(mapped, mesh->n_cells, d + 1, mesh->n_nodes, start, order);
    simplices_permute(mapped, mesh->n_cells, d + 1, order, mesh->cells);
    simplices_map(mesh->facets, mesh->n_facets, d, new_of, mapped);
    facets_renumber(mesh, mapped, start, order, new_facet);
done:
    free(x);
    free(start);
    free(order);
    free(new_facet);
    free(mapped);
    return status;
}
