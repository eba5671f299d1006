/* Finds the boundary facets and group facets of a mesh, node by node: a facet is processed at its
 * lowest node, which is one of the two lowest nodes of each of its cells. So the incidence takes
 * two numbers per cell, and each sort is of a few tens of facets. */
#include "fem/mesh/mesh.h"

#include <stdlib.h>
#include <string.h>

/* A facet of one cell, without its lowest node: its other nodes, ascending, packed into one number;
 * the vertex of the cell that is not in the facet; the cell. */
typedef struct face {
    uint64_t key, rest;
} face;

typedef struct facet_list {
    int32_t *nodes; /* [n][d] */
    int64_t n, capacity;
} facet_list;

/* Simplices by node: those of node i are list[start[i] .. start[i + 1]). */
typedef struct incidence {
    uint32_t *start; /* [n_nodes + 1] */
    int32_t *list;
    uint32_t longest; /* length of a list */
} incidence;

typedef struct finder {
    int d;
    const weft_mesh_data *data;
    incidence cells, groups; /* cells, and group facets, by node */
    int32_t *number;         /* of each group facet: >= 0 boundary, < -1 inside */
    face *faces;
    facet_list boundary, inside;
    weft_facet_faults *faults;
} finder;

static void order(int32_t *a, int32_t *b) {
    int32_t low = *a < *b ? *a : *b, high = *a < *b ? *b : *a;
    *a = low;
    *b = high;
}

static void sort_nodes(int n, const int32_t *nodes, int32_t *out) {
    memcpy(out, nodes, (size_t)n * sizeof *out);
    if (n == 4) {
        order(out, out + 2);
        order(out + 1, out + 3);
        order(out, out + 1);
        order(out + 2, out + 3);
        order(out + 1, out + 2);
        return;
    }
    if (n == 3)
        order(out + 1, out + 2);
    order(out, out + 1);
    if (n == 3)
        order(out + 1, out + 2);
}

/* For each node, list the simplices [n][width] of which it is one of the n_lowest lowest nodes. */
static bool list_simplices(const int32_t *nodes, int64_t n, int width, int n_lowest,
                           int64_t n_nodes, incidence *out) {
    uint32_t *start = out->start = calloc((size_t)n_nodes + 2, sizeof *start);
    int32_t *list = out->list = malloc((size_t)n * (size_t)n_lowest * sizeof *list), sorted[4];
    if (!start || !list)
        return false;
    for (int64_t i = 0; i < n; ++i) {
        sort_nodes(width, nodes + i * width, sorted);
        for (int k = 0; k < n_lowest; ++k)
            ++start[sorted[k] + 1];
    }
    for (int64_t i = 0; i < n_nodes; ++i) {
        if (start[i + 1] > out->longest)
            out->longest = start[i + 1];
        start[i + 1] += start[i];
    }
    for (int64_t i = 0; i < n; ++i) {
        sort_nodes(width, nodes + i * width, sorted);
        for (int k = 0; k < n_lowest; ++k)
            list[start[sorted[k]]++] = (int32_t)i;
    }
    /* now start[i] is the end of list i: shift back */
    memmove(start + 1, start, (size_t)n_nodes * sizeof *start);
    start[0] = 0;
    return true;
}

static uint64_t pack(int32_t high, int32_t low) {
    return (uint64_t)(uint32_t)high << 32 | (uint32_t)low;
}

static uint64_t facet_key(int d, const int32_t *sorted) {
    return d == 2 ? (uint64_t)(uint32_t)sorted[1] : pack(sorted[1], sorted[2]);
}

static size_t collect_faces(finder *f, int32_t node) {
    size_t n = 0;
    for (uint32_t i = f->cells.start[node]; i < f->cells.start[node + 1]; ++i) {
        int32_t cell = f->cells.list[i], s[4];
        sort_nodes(f->d + 1, f->data->cells + (int64_t)cell * (f->d + 1), s);
        if (f->d == 2) {
            if (s[0] == node) {
                f->faces[n++] = (face){pack(0, s[1]), pack(s[2], cell)};
                f->faces[n++] = (face){pack(0, s[2]), pack(s[1], cell)};
            } else {
                f->faces[n++] = (face){pack(0, s[2]), pack(s[0], cell)};
            }
        } else if (s[0] == node) {
            f->faces[n++] = (face){pack(s[1], s[2]), pack(s[3], cell)};
            f->faces[n++] = (face){pack(s[1], s[3]), pack(s[2], cell)};
            f->faces[n++] = (face){pack(s[2], s[3]), pack(s[1], cell)};
        } else {
            f->faces[n++] = (face){pack(s[2], s[3]), pack(s[0], cell)};
        }
    }
    return n;
}

static int compare_faces(const void *a, const void *b) {
    const face *p = a, *q = b;
    if (p->key != q->key)
        return p->key < q->key ? -1 : 1;
    return (p->rest > q->rest) - (p->rest < q->rest);
}

static void sort_faces(face *faces, size_t n) {
    if (n > 96) {
        qsort(faces, n, sizeof *faces, compare_faces);
        return;
    }
    for (size_t i = 1; i < n; ++i) {
        face moved = faces[i];
        size_t k = i;
        for (; k > 0 && (faces[k - 1].key > moved.key ||
                         (faces[k - 1].key == moved.key && faces[k - 1].rest > moved.rest));
             --k)
            faces[k] = faces[k - 1];
        faces[k] = moved;
    }
}

/* The nodes of a facet in the order of its first cell: counterclockwise from outside. */
static bool list_add(const finder *f, facet_list *list, const face *of) {
    if (list->n == list->capacity) {
        int64_t capacity = list->capacity ? 2 * list->capacity : 1024;
        int32_t *nodes =
            realloc(list->nodes, (size_t)capacity * (size_t)f->d * sizeof *list->nodes);
        if (!nodes)
            return false;
        list->nodes = nodes;
        list->capacity = capacity;
    }
    int32_t opposite = (int32_t)(of->rest >> 32), cell = (int32_t)(of->rest & 0xFFFFFFFF);
    const int32_t *nodes = f->data->cells + (int64_t)cell * (f->d + 1);
    int k = 0;
    while (nodes[k] != opposite)
        ++k;
    const int *vertices = f->d == 2 ? weft_facet_vertices_2[k] : weft_facet_vertices_3[k];
    for (int i = 0; i < f->d; ++i)
        list->nodes[list->n * f->d + i] = nodes[vertices[i]];
    ++list->n;
    return true;
}

/* Record the defects of a facet shared by `count` cells: two on opposite sides are valid. */
static void check_shared(finder *f, int32_t node, const face *faces, size_t count) {
    weft_facet_faults *faults = f->faults;
    bool same = false;
    for (size_t i = 1; i < count; ++i) {
        uint64_t opposite = faces[i].rest >> 32;
        if (opposite != faces[i - 1].rest >> 32)
            continue;
        same = true;
        /* All facets of a duplicate cell get here: count it once, at one of them. */
        if (opposite < (faces[i].key & 0xFFFFFFFF))
            continue;
        int64_t cell = (int64_t)(faces[i].rest & 0xFFFFFFFF);
        if (faults->n_doubled == 0 || cell < faults->doubled) {
            faults->doubled = cell;
            faults->original = (int64_t)(faces[i - 1].rest & 0xFFFFFFFF);
        }
        ++faults->n_doubled;
    }
    if (count > 2 && !same && faults->n_non_manifold++ == 0) {
        faults->non_manifold[0] = node;
        faults->non_manifold[1] = (int32_t)(f->d == 2 ? faces->key : faces->key >> 32);
        faults->non_manifold[2] = (int32_t)(faces->key & 0xFFFFFFFF);
    }
}

/* Assign the number to the group facets with this key. */
static bool number_group_facets(finder *f, int32_t node, uint64_t key, const face *of,
                                bool boundary) {
    if (!f->groups.start)
        return true;
    bool listed = boundary;
    for (uint32_t i = f->groups.start[node]; i < f->groups.start[node + 1]; ++i) {
        int32_t sorted[4], facet = f->groups.list[i];
        sort_nodes(f->d, f->data->group_facet_nodes + (int64_t)facet * f->d, sorted);
        if (facet_key(f->d, sorted) != key)
            continue;
        if (!listed && !list_add(f, &f->inside, of))
            return false;
        listed = true;
        f->number[facet] = (int32_t)(boundary ? f->boundary.n - 1 : -1 - f->inside.n);
    }
    return true;
}

static bool handle_node(finder *f, int32_t node) {
    size_t n = collect_faces(f, node);
    sort_faces(f->faces, n);
    for (size_t i = 0, count; i < n; i += count) {
        const face *of = &f->faces[i];
        for (count = 1; i + count < n && of[count].key == of->key; ++count)
            ;
        if (count == 1 && !list_add(f, &f->boundary, of))
            return false;
        if (count > 1)
            check_shared(f, node, of, count);
        if (!number_group_facets(f, node, of->key, of, count == 1))
            return false;
    }
    return true;
}

/* Merge boundary facets and interior facets into one array, the boundary first. */
static bool join_lists(finder *f, weft_facets *out) {
    size_t d = (size_t)f->d, bytes = d * sizeof(int32_t);
    int64_t n = f->boundary.n + f->inside.n;
    int32_t *nodes = n <= INT32_MAX ? weft_array_make((size_t)n, bytes) : NULL;
    if (!nodes)
        return false;
    if (f->boundary.n > 0)
        memcpy(nodes, f->boundary.nodes, (size_t)f->boundary.n * bytes);
    if (f->inside.n > 0)
        memcpy(nodes + (size_t)f->boundary.n * d, f->inside.nodes, (size_t)f->inside.n * bytes);
    for (int64_t i = 0; i < f->data->n_group_facets; ++i)
        if (f->number[i] < -1)
            f->number[i] = (int32_t)(f->boundary.n - 2 - f->number[i]);
    out->n_facets = n;
    out->n_boundary_facets = f->boundary.n;
    out->nodes = nodes;
    out->number = f->number;
    f->number = NULL;
    return true;
}

weft_status weft_facets_find(const weft_mesh_data *data, weft_facets *out,
                             weft_facet_faults *faults, weft_error *error) {
    weft_status status = WEFT_OK;
    finder f = {.d = data->dimension, .data = data, .faults = faults};
    *faults = (weft_facet_faults){0};
    f.number = malloc(((size_t)data->n_group_facets + 1) * sizeof *f.number);
    bool good =
        f.number &&
        list_simplices(data->cells, data->n_cells, f.d + 1, 2, data->n_nodes, &f.cells) &&
        (data->n_group_facets == 0 || list_simplices(data->group_facet_nodes, data->n_group_facets,
                                                     f.d, 1, data->n_nodes, &f.groups));
    f.faces = good ? malloc(((size_t)f.cells.longest * 3 + 1) * sizeof *f.faces) : NULL;
    good = good && f.faces;
    for (int64_t i = 0; good && i < data->n_group_facets; ++i)
        f.number[i] = -1;
    for (int64_t node = 0; good && node < data->n_nodes; ++node)
        good = handle_node(&f, (int32_t)node);
    free(f.cells.start);
    free(f.cells.list);
    free(f.groups.start);
    free(f.groups.list);
    free(f.faces);
    if (!good || !join_lists(&f, out))
        status =
            weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory for the facets of %lld cells",
                           (long long)data->n_cells);
    free(f.number);
    free(f.boundary.nodes);
    free(f.inside.nodes);
    return status;
}
