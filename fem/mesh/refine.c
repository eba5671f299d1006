/* Refines a mesh uniformly. An edge belongs to the lower of its nodes: a node's list holds the
 * other ends of its edges, ascending. The edges' midpoints are numbered directly after the node,
 * which preserves locality. The lists are filled by any number of threads in any order and then
 * sorted, so that the result does not depend on the number of threads.
 *
 * Decision  docs/decisions/0028-bisection-is-the-default-ordering.md */
#include "fem/mesh/refine.h"
#include "fem/base/memory.h"
#include "fem/base/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TIMES = 12, CHUNK = 4096, FEW = 256, DEVICE_LEAST = 1000000 };

/* Functions with loops over vertices are inlined for each width, so that the loops are unrolled. */
#define INLINE static inline __attribute__((always_inline))

typedef struct refinement {
    const weft_mesh *from;
    weft_mesh *to;
    uint32_t *start;  /* [n_nodes + 1]: start of each node's list in ends */
    uint32_t *number; /* [n_nodes + 1]: length of the list; finally the number in the new mesh */
    int32_t *ends;    /* the lists; before duplicates are removed, one item per edge and cell */
    int32_t *parents; /* [n_nodes of to][2], or NULL */
    /* gets the vertices of tetrahedra in the order of which the children were made; NULL,
     * or the cells of from */
    int32_t *rotated;
} refinement;

/* Edges of a cell by vertices; a triangle has the first three. */
static const int edges[6][2] = {{0, 1}, {0, 2}, {1, 2}, {0, 3}, {1, 3}, {2, 3}};

/* Vertices of the children: 0 .. d are the cell's, then the midpoints in the order of edges. */
static const int triangles[4][3] = {{0, 3, 4}, {3, 1, 5}, {4, 5, 2}, {3, 5, 4}};
/* The corners, and the octahedron divided along the diagonal between the midpoints of edges 02 and
 * 13. The order of vertices is such that in the children, too, this diagonal is 02 or 13. These are
 * Bey's children, with 0 and 2 exchanged in two of them to make the volume positive. */
static const int tetrahedra[8][4] = {{0, 4, 5, 7}, {4, 1, 6, 8}, {5, 6, 2, 9}, {7, 8, 9, 3},
                                     {4, 5, 7, 8}, {6, 5, 4, 8}, {5, 7, 8, 9}, {8, 6, 5, 9}};
static const int segments[2][2] = {{0, 2}, {2, 1}};
/* A tetrahedron's vertices before it is refined. */
static const int rotations[3][4] = {{0, 1, 2, 3}, {0, 3, 1, 2}, {0, 2, 3, 1}};

static int edge_count(const weft_mesh *mesh) {
    return mesh->dimension == 2 ? 3 : 6;
}

static int64_t chunk_end(int64_t chunk, int64_t n) {
    return (chunk + 1) * CHUNK < n ? (chunk + 1) * CHUNK : n;
}

static weft_status for_chunks(weft_device *device, int64_t n, weft_task task, refinement *r,
                              weft_error *error) {
    return weft_device_for(device, (n + CHUNK - 1) / CHUNK, task, r, error);
}

/* ---- edges --------------------------------------------------------------------------------- */

/* Visit the nodes of the cells of a chunk with their edges to higher nodes of the cell: one atomic
 * operation for each node instead of each edge. */
INLINE void visit_edges(const refinement *r, int64_t chunk, int width,
                        void (*visit)(const refinement *r, int32_t low, const int32_t *ends,
                                      uint32_t n)) {
    for (int64_t c = chunk * CHUNK; c < chunk_end(chunk, r->from->n_cells); ++c) {
        int32_t v[4];
        memcpy(v, r->from->cells + c * width, (size_t)width * sizeof *v);
        for (int last = width - 1; last > 0; --last)
            for (int k = 0; k < last; ++k) {
                const int32_t low = v[k] < v[k + 1] ? v[k] : v[k + 1];
                v[k + 1] = v[k] < v[k + 1] ? v[k + 1] : v[k];
                v[k] = low;
            }
        for (int k = 0; k < width - 1; ++k)
            visit(r, v[k], v + k + 1, (uint32_t)(width - 1 - k));
    }
}

INLINE void count_end(const refinement *r, int32_t low, const int32_t *ends, uint32_t n) {
    (void)ends;
    __atomic_fetch_add(&r->start[low + 1], n, __ATOMIC_RELAXED);
}

INLINE void fill_end(const refinement *r, int32_t low, const int32_t *ends, uint32_t n) {
    memcpy(r->ends + r->start[low] + __atomic_fetch_add(&r->number[low], n, __ATOMIC_RELAXED), ends,
           n * sizeof *ends);
}

static void count_ends(void *user, int64_t chunk) {
    const refinement *r = user;
    if (r->from->dimension == 2)
        visit_edges(r, chunk, 3, count_end);
    else
        visit_edges(r, chunk, 4, count_end);
}

static void fill_ends(void *user, int64_t chunk) {
    const refinement *r = user;
    if (r->from->dimension == 2)
        visit_edges(r, chunk, 3, fill_end);
    else
        visit_edges(r, chunk, 4, fill_end);
}

static int compare_ends(const void *a, const void *b) {
    const int32_t p = *(const int32_t *)a, q = *(const int32_t *)b;
    return (p > q) - (p < q);
}

/* Sort and remove duplicates. Returns the number left. */
static uint32_t sort_ends(int32_t *ends, uint32_t n) {
    uint32_t n_kept = 0;
    if (n > FEW)
        qsort(ends, n, sizeof *ends, compare_ends);
    for (uint32_t i = 0; i < n; ++i) {
        const int32_t end = ends[i];
        uint32_t k = n_kept;
        while (k > 0 && ends[k - 1] > end)
            --k;
        if (k > 0 && ends[k - 1] == end)
            continue;
        memmove(ends + k + 1, ends + k, (n_kept - k) * sizeof *ends);
        ends[k] = end;
        ++n_kept;
    }
    return n_kept;
}

static void sort_lists(void *user, int64_t chunk) {
    const refinement *r = user;
    for (int64_t i = chunk * CHUNK; i < chunk_end(chunk, r->from->n_nodes); ++i)
        r->number[i] = sort_ends(r->ends + r->start[i], r->start[i + 1] - r->start[i]);
}

weft_status weft_refine_no_memory(const weft_mesh *mesh, weft_error *error) {
    weft_error_set(error, WEFT_ERROR_MEMORY, "%s: out of memory for refining %" PRId64 " cells",
                   mesh->source, mesh->n_cells);
    weft_error_hint(error, "refine it less often, or use a machine with more memory");
    return WEFT_ERROR_MEMORY;
}

/* Find the edges and number the nodes: each after the midpoints that belong to earlier nodes. */
static weft_status find_edges(refinement *r, weft_device *device, int64_t *n_edges,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_mesh *mesh = r->from;
    const size_t n = (size_t)mesh->n_nodes;
    r->start = calloc(n + 1, sizeof *r->start);
    r->number = calloc(n + 1, sizeof *r->number);
    r->ends = weft_scratch_make((size_t)mesh->n_cells * (size_t)edge_count(mesh), sizeof *r->ends);
    if (!r->start || !r->number || !r->ends)
        TRY(weft_refine_no_memory(mesh, error));
    TRY(for_chunks(device, mesh->n_cells, count_ends, r, error));
    for (size_t i = 0; i < n; ++i)
        r->start[i + 1] += r->start[i];
    TRY(for_chunks(device, mesh->n_cells, fill_ends, r, error));
    TRY(for_chunks(device, mesh->n_nodes, sort_lists, r, error));
    uint32_t next = 0;
    for (size_t i = 0; i < n; ++i) {
        const uint32_t count = r->number[i];
        r->number[i] = next;
        next += count + 1;
    }
    r->number[n] = next;
    *n_edges = (int64_t)next - mesh->n_nodes;
done:
    return status;
}

/* ---- nodes, cells and facets --------------------------------------------------------------- */

static void put_nodes(void *user, int64_t chunk) {
    const refinement *r = user;
    const int d = r->from->dimension;
    for (int64_t i = chunk * CHUNK; i < chunk_end(chunk, r->from->n_nodes); ++i) {
        const double *x = r->from->x + i * d;
        double *out = r->to->x + (int64_t)r->number[i] * d;
        memcpy(out, x, (size_t)d * sizeof *x);
        for (uint32_t e = 1; e < r->number[i + 1] - r->number[i]; ++e) {
            const double *end = r->from->x + (int64_t)r->ends[r->start[i] + e - 1] * d;
            for (int k = 0; k < d; ++k)
                out[e * (uint32_t)d + (uint32_t)k] = 0.5 * x[k] + 0.5 * end[k];
        }
    }
}

static void put_parents(void *user, int64_t chunk) {
    const refinement *r = user;
    for (int64_t i = chunk * CHUNK; i < chunk_end(chunk, r->from->n_nodes); ++i) {
        int32_t *out = r->parents + 2 * (int64_t)r->number[i];
        for (uint32_t e = 0; e < r->number[i + 1] - r->number[i]; ++e) {
            out[2 * e] = (int32_t)i;
            out[2 * e + 1] = e > 0 ? r->ends[r->start[i] + e - 1] : (int32_t)i;
        }
    }
}

static int32_t midpoint(const refinement *r, int32_t a, int32_t b) {
    const int32_t low = a < b ? a : b, high = a < b ? b : a;
    const int32_t *ends = r->ends + r->start[low];
    uint32_t first = 0, n = r->number[low + 1] - r->number[low] - 1;
    while (n > 1) {
        const uint32_t half = n / 2;
        first += ends[first + half] <= high ? half : 0;
        n -= half;
    }
    return (int32_t)(r->number[low] + 1 + first);
}

static int32_t find_number(const void *user, int32_t node) {
    const refinement *r = user;
    return (int32_t)r->number[node];
}

static int32_t find_midpoint(const void *user, int32_t a, int32_t b) {
    const refinement *r = user;
    const int32_t low = a < b ? a : b, high = a < b ? b : a;
    if (low == high || r->number[low + 1] - r->number[low] == 1)
        return -1;
    const int32_t found = midpoint(r, a, b);
    const uint32_t edge = (uint32_t)found - r->number[low] - 1;
    return r->ends[r->start[low] + edge] == high ? found : -1;
}

/* Numbers in the new mesh of a simplex's vertices and midpoints. */
INLINE void number_vertices(const refinement *r, const int32_t *nodes, int width, int32_t *out) {
    for (int k = 0; k < width; ++k)
        out[k] = (int32_t)r->number[nodes[k]];
    for (int e = 0; e < width * (width - 1) / 2; ++e)
        out[width + e] = midpoint(r, nodes[edges[e][0]], nodes[edges[e][1]]);
}

/* Rotate the cell about vertex 0 so that the worst of the octahedron's children is as good as
 * possible. With diagonals u, v, w and a cut along u, all four have the same volume, and the
 * squares of their edges sum to
 *     (3 (u^2 + v^2 + w^2) + 5 u^2 +- 2 v.w) / 4.
 * Later steps make no worse shapes: a cut along the diagonal of the parent reproduces existing
 * shapes (Bey 1995), and it is one of the choices. */
static void rotate_tetrahedron(const double *x, const int32_t *nodes, int32_t *rotated) {
    double u[3][3], least = INFINITY;
    int best = 0;
    for (int t = 0; t < 3; ++t)
        for (int k = 0; k < 3; ++k)
            u[t][k] = x[3 * (int64_t)nodes[0] + k] + x[3 * (int64_t)nodes[rotations[t][2]] + k] -
                      x[3 * (int64_t)nodes[rotations[t][1]] + k] -
                      x[3 * (int64_t)nodes[rotations[t][3]] + k];
    for (int t = 0; t < 3; ++t) {
        const double *v = u[(t + 1) % 3], *w = u[(t + 2) % 3];
        const double cost = 5 * (u[t][0] * u[t][0] + u[t][1] * u[t][1] + u[t][2] * u[t][2]) +
                            2 * fabs(v[0] * w[0] + v[1] * w[1] + v[2] * w[2]);
        if (cost < least * (1 - 1e-9)) { /* ignore rounding */
            least = cost;
            best = t;
        }
    }
    for (int k = 0; k < 4; ++k)
        rotated[k] = nodes[rotations[best][k]];
}

/* Write the 2^(width-1) children of each simplex consecutively. */
INLINE void put_simplices(const refinement *r, const int32_t *from, int32_t *to, int width,
                          int64_t first, int64_t last) {
    const int n_children = 1 << (width - 1);
    const int *children = width == 2 ? *segments : width == 3 ? *triangles : *tetrahedra;
    int32_t rotated[4], vertices[10];
    for (int64_t i = first; i < last; ++i) {
        const int32_t *nodes = from + i * width;
        if (width == 4) {
            rotate_tetrahedron(r->from->x, nodes, rotated);
            if (r->rotated)
                memcpy(r->rotated + i * width, rotated, sizeof rotated);
            nodes = rotated;
        }
        number_vertices(r, nodes, width, vertices);
        for (int k = 0; k < n_children * width; ++k)
            to[i * n_children * width + k] = vertices[children[k]];
    }
}

static void put_cells(void *user, int64_t chunk) {
    const refinement *r = user;
    const int64_t first = chunk * CHUNK, last = chunk_end(chunk, r->from->n_cells);
    if (r->from->dimension == 2)
        put_simplices(r, r->from->cells, r->to->cells, 3, first, last);
    else
        put_simplices(r, r->from->cells, r->to->cells, 4, first, last);
}

static void put_facets(void *user, int64_t chunk) {
    const refinement *r = user;
    const int64_t first = chunk * CHUNK, last = chunk_end(chunk, r->from->n_facets);
    if (r->from->dimension == 2)
        put_simplices(r, r->from->facets, r->to->facets, 2, first, last);
    else
        put_simplices(r, r->from->facets, r->to->facets, 3, first, last);
}

/* Write the children of each item of a group's list. Returns their number. */
static int64_t put_children(const int32_t *from, int64_t n, int n_children, int32_t *to) {
    for (int64_t i = 0; i < n * n_children; ++i)
        to[i] = n_children * from[i / n_children] + (int32_t)(i % n_children);
    return n * n_children;
}

void weft_refine_groups(const weft_mesh *mesh, weft_mesh *refined) {
    const int d = mesh->dimension;
    int64_t facet = 0, cell = 0;
    for (int g = 0; g < mesh->n_groups; ++g) {
        const weft_group *from = &mesh->groups[g];
        weft_group *to = &refined->groups[g];
        *to = *from;
        to->first_facet = facet;
        to->first_cell = cell;
        to->n_facets = put_children(mesh->group_facets + from->first_facet, from->n_facets,
                                    1 << (d - 1), refined->group_facets + facet);
        to->n_cells = put_children(mesh->group_cells + from->first_cell, from->n_cells, 1 << d,
                                   refined->group_cells + cell);
        facet += to->n_facets;
        cell += to->n_cells;
    }
}

/* ---- one step ------------------------------------------------------------------------------ */

static weft_status refuse(const weft_mesh *mesh, int times, const char *what, weft_error *error) {
    char count[32];
    snprintf(count, sizeof count, times == 1 ? "once" : "%d times", times);
    weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                   "%s refined %s has 2^31 %s or more, which are not supported", mesh->source,
                   count, what);
    weft_error_hint(error, "refine it less often, or start from a coarser mesh");
    return WEFT_ERROR_UNSUPPORTED;
}

weft_status weft_refine_alloc(const weft_mesh *from, int64_t n_nodes, weft_mesh **out,
                              weft_error *error) {
    const int d = from->dimension;
    const uint64_t width = (uint64_t)d;
    int64_t n_group_facets = 0, n_group_cells = 0;
    if (n_nodes > INT32_MAX)
        return refuse(from, 1, "nodes", error);
    weft_mesh *to = *out = calloc(1, sizeof *to);
    if (!to)
        return weft_refine_no_memory(from, error);
    for (int g = 0; g < from->n_groups; ++g) {
        n_group_facets += from->groups[g].n_facets << (d - 1);
        n_group_cells += from->groups[g].n_cells << d;
    }
    *to = (weft_mesh){.dimension = d,
                      .n_nodes = n_nodes,
                      .n_cells = from->n_cells << d,
                      .n_facets = from->n_facets << (d - 1),
                      .n_boundary_facets = from->n_boundary_facets << (d - 1),
                      .n_groups = from->n_groups,
                      .n_flipped_cells = from->n_flipped_cells,
                      .n_dropped_nodes = from->n_dropped_nodes,
                      .n_ignored_facets = from->n_ignored_facets,
                      .n_coincident = from->n_coincident};
    /* first touched by the threads that will read it (NUMA) */
    to->x = weft_array_make_unset((uint64_t)to->n_nodes * width * sizeof *to->x);
    to->cells = weft_array_make_unset((uint64_t)to->n_cells * (width + 1) * sizeof *to->cells);
    to->facets = weft_array_make_unset((uint64_t)to->n_facets * width * sizeof *to->facets);
    to->groups = weft_array_make((size_t)to->n_groups, sizeof *to->groups);
    to->group_facets = weft_array_make((size_t)n_group_facets, sizeof *to->group_facets);
    to->group_cells = weft_array_make((size_t)n_group_cells, sizeof *to->group_cells);
    if (!to->x || !to->cells || !to->facets || !to->groups || !to->group_facets || !to->group_cells)
        return weft_refine_no_memory(from, error);
    return WEFT_OK;
}

weft_status weft_mesh_refine_check(const weft_mesh *mesh, int times, weft_error *error) {
    const int64_t most = INT32_MAX;
    const int d = mesh->dimension;
    if (times < 1 || times > MOST_TIMES) {
        weft_error_set(error, WEFT_ERROR_USAGE, "a mesh cannot be refined %d times", times);
        weft_error_hint(error, "refine it 1 to %d times", (int)MOST_TIMES);
        return WEFT_ERROR_USAGE;
    }
    const weft_status status = weft_mesh_need_simplices(mesh, "refinement", error);
    if (status != WEFT_OK)
        return status;
    if (mesh->n_cells > most >> d * times)
        return refuse(mesh, times, "cells", error);
    if (mesh->n_facets > most >> (d - 1) * times)
        return refuse(mesh, times, "boundary facets", error);
    return WEFT_OK;
}

static weft_status make_parents(weft_device *device, refinement *r, weft_error *error) {
    r->parents = weft_array_make_unset((uint64_t)r->to->n_nodes * 2 * sizeof *r->parents);
    if (!r->parents)
        return weft_refine_no_memory(r->from, error);
    return for_chunks(device, r->from->n_nodes, put_parents, r, error);
}

/* Only after a single step can there be 2^31 nodes but fewer cells: simplices without common nodes
 * have 6 nodes per 4 cells (3D: 10 per 8) after one step, but 15 per 16 (35 per 64) after two.
 * parents  NULL, or gets the parents of the new nodes
 * rotated  see struct refinement */
static weft_status refine_once(weft_device *device, const weft_mesh *mesh, int32_t *rotated,
                               weft_mesh **out, int32_t **parents, weft_error *error) {
    weft_status status = WEFT_OK;
    refinement r = {.from = mesh, .rotated = rotated};
    int64_t n_edges = 0;
    TRY(find_edges(&r, device, &n_edges, error));
    TRY(weft_refine_alloc(mesh, mesh->n_nodes + n_edges, &r.to, error));
    if (parents)
        TRY(make_parents(device, &r, error));
    TRY(for_chunks(device, mesh->n_nodes, put_nodes, &r, error));
    TRY(for_chunks(device, mesh->n_cells, put_cells, &r, error));
    TRY(for_chunks(device, mesh->n_facets, put_facets, &r, error));
    weft_refine_groups(mesh, r.to);
    TRY(weft_points_refine(mesh, r.to, &r, find_number, find_midpoint, error));
    *out = r.to;
    r.to = NULL;
    if (parents) {
        *parents = r.parents;
        r.parents = NULL;
    }
done:
    weft_mesh_free(&r.to);
    free(r.start);
    free(r.number);
    free(r.ends);
    free(r.parents);
    return status;
}

/* Name a mesh after the one of which it was made. */
static void name_refined(weft_mesh *mesh, const char *from, int times) {
    char suffix[32], source[sizeof mesh->source + sizeof suffix];
    snprintf(suffix, sizeof suffix, times == 1 ? ", refined once" : ", refined %d times", times);
    snprintf(source, sizeof source, "%s%s", from, suffix);
    weft_copy_cut(mesh->source, sizeof mesh->source, source);
}

static void log_refined(const weft_monitor *monitor, const weft_mesh *mesh, double start) {
    weft_log(monitor, WEFT_LOG_INFO, "%s: %" PRId64 " cells, %" PRId64 " nodes, in %.3g s",
             mesh->source, mesh->n_cells, mesh->n_nodes, weft_clock() - start);
}

/* Whether a device refines the mesh: for fewer cells the host is as fast. */
static bool suits_device(const weft_device *device, const weft_mesh *mesh, int times) {
    return weft_setup_on_device(device) && times > 0 &&
           mesh->n_cells << mesh->dimension * times >= DEVICE_LEAST;
}

/* What a device has no memory for, or refuses, is left to the host: no error.
 *  why  of the device's status */
static weft_status leave_to_host(weft_status status, const weft_error *why,
                                 const weft_monitor *monitor, weft_error *error) {
    if (status == WEFT_ERROR_MEMORY || status == WEFT_ERROR_UNSUPPORTED) {
        weft_log(monitor, WEFT_LOG_INFO, "the host refines the mesh: %s", why->message);
        return WEFT_OK;
    }
    if (status != WEFT_OK && error)
        *error = *why;
    return status;
}

static weft_status refine_on_host(weft_device *device, const weft_mesh *mesh, int times,
                                  weft_mesh **out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_mesh *made = NULL, *next = NULL;
    for (int step = 1; step <= times; ++step) {
        TRY(refine_once(device, made ? made : mesh, NULL, &next, NULL, error));
        weft_mesh_free(&made);
        made = next;
        next = NULL;
        name_refined(made, mesh->source, step);
    }
    *out = made;
    made = NULL;
done:
    weft_mesh_free(&made);
    return status;
}

weft_status weft_mesh_refine(weft_device *device, const weft_mesh *mesh, int times,
                             const weft_monitor *monitor, weft_mesh **out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_mesh *made = NULL;
    weft_error why = {0};
    const double start = weft_clock();
    TRY(weft_mesh_refine_check(mesh, times, error));
    if (suits_device(device, mesh, times))
        TRY(leave_to_host(weft_refine_on_device(device, mesh, times, &made, &why), &why, monitor,
                          error));
    if (!made)
        TRY(refine_on_host(device, mesh, times, &made, error));
    name_refined(made, mesh->source, times);
    log_refined(monitor, made, start);
    *out = made;
    made = NULL;
done:
    weft_mesh_free(&made);
    return status;
}

weft_status weft_mesh_refine_levels(weft_device *device, weft_hierarchy *hierarchy,
                                    const weft_monitor *monitor, weft_mesh_copies *copies,
                                    weft_error *error) {
    weft_status status = WEFT_OK;
    weft_hierarchy_level *levels = hierarchy->levels;
    const int times = hierarchy->n_levels - 1;
    const double start = weft_clock();
    weft_error why = {0};
    int n_made = 1;
    if (times == 0)
        goto done;
    weft_mesh_copies_free(copies);
    if (suits_device(device, levels[0].mesh, times))
        TRY(leave_to_host(weft_refine_levels_on_device(device, hierarchy, &n_made, copies, &why),
                          &why, monitor, error));
    for (int l = 1; l < n_made; ++l)
        name_refined(levels[l].mesh, levels[0].mesh->source, l);
    for (int l = n_made; l <= times; ++l) {
        weft_mesh *from = levels[l - 1].mesh;
        TRY(refine_once(device, from, from->cells, &levels[l].mesh, &levels[l].parents, error));
        name_refined(levels[l].mesh, levels[0].mesh->source, l);
    }
    log_refined(monitor, levels[times].mesh, start);
done:
    return status;
}

void weft_mesh_refined_ends(int dimension, int kind, int vertex, int ends[2]) {
    const int d = dimension;
    const int v =
        d == 2 ? triangles[kind][vertex] : tetrahedra[kind % 8][rotations[kind / 8][vertex]];
    ends[0] = v <= d ? v : edges[v - d - 1][0];
    ends[1] = v <= d ? v : edges[v - d - 1][1];
}
