/* Pairs the nodes on opposite sides of a mesh's bounding box. */
#include "fem/base/text.h"
#include "fem/mesh/tile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Relative to the largest side of the box: how exactly nodes must lie on a side, or match. */
#define TOLERANCE 1e-8

typedef struct side_node {
    double key[2]; /* coordinates along the side */
    int32_t node;
} side_node;

typedef struct side_facet {
    int32_t nodes[3]; /* ascending; 2D: the first is -1 */
} side_facet;

static int compare_nodes(const void *a, const void *b) {
    const side_node *p = a, *q = b;
    for (int k = 0; k < 2; ++k)
        if (p->key[k] != q->key[k])
            return p->key[k] < q->key[k] ? -1 : 1;
    return (p->node > q->node) - (p->node < q->node);
}

static int compare_facets(const void *a, const void *b) {
    const side_facet *p = a, *q = b;
    for (int k = 0; k < 3; ++k)
        if (p->nodes[k] != q->nodes[k])
            return p->nodes[k] < q->nodes[k] ? -1 : 1;
    return 0;
}

static void describe_point(weft_error *error, const weft_mesh *mesh, const int32_t *nodes, int n) {
    const int d = mesh->dimension;
    weft_error_append(error, "(");
    for (int k = 0; k < d; ++k) {
        double mean = 0;
        for (int i = 0; i < n; ++i)
            mean += mesh->x[(int64_t)nodes[i] * d + k] / n;
        weft_error_append(error, "%s%.9g", k ? ", " : "", mean);
    }
    weft_error_append(error, ")");
}

static weft_status refuse(const weft_mesh *mesh, int axis, const char *what, const int32_t *nodes,
                          int n, weft_error *error) {
    weft_error_set(error, WEFT_ERROR_INPUT, "%s cannot be repeated along %c: the %s at ",
                   mesh->source, "xyz"[axis], what);
    describe_point(error, mesh, nodes, n);
    weft_error_append(error, " has no partner on the opposite side");
    weft_error_hint(error,
                    "mesh opposite sides alike: in a .geo file Periodic Curve {2} = {4} Translate "
                    "{1, 0, 0}; or Periodic Surface, as meshes/tile_cube.geo does");
    return WEFT_ERROR_INPUT;
}

static double find_box(const weft_mesh *mesh, weft_tile_sides *sides) {
    const int d = mesh->dimension;
    double largest = 0;
    for (int a = 0; a < d; ++a) {
        double low = INFINITY, high = -INFINITY;
        for (int64_t i = 0; i < mesh->n_nodes; ++i) {
            low = fmin(low, mesh->x[i * d + a]);
            high = fmax(high, mesh->x[i * d + a]);
        }
        sides->low[a] = low;
        sides->period[a] = high - low;
        largest = fmax(largest, high - low);
    }
    return largest;
}

static void mark_sides(const weft_mesh *mesh, weft_tile_sides *sides, double tolerance) {
    const int d = mesh->dimension;
    for (int a = 0; a < d; ++a) {
        if (!sides->partner[a])
            continue;
        for (int64_t i = 0; i < mesh->n_nodes; ++i) {
            const double x = mesh->x[i * d + a] - sides->low[a];
            sides->partner[a][i] = -1;
            if (x <= tolerance)
                sides->on_low[i] |= (uint8_t)(1 << a);
            if (x >= sides->period[a] - tolerance)
                sides->on_high[i] |= (uint8_t)(1 << a);
        }
    }
}

static side_node side_node_at(const weft_mesh *mesh, int axis, int64_t i) {
    const int d = mesh->dimension;
    side_node out = {{0, 0}, (int32_t)i};
    for (int k = 1; k < d; ++k)
        out.key[k - 1] = mesh->x[i * d + (axis + k) % d];
    return out;
}

/* The node of low[0 .. n) nearest to this one, -1: none. */
static int32_t find_partner(const side_node *low, int64_t n, const side_node *wanted,
                            double tolerance) {
    int64_t first = 0, last = n;
    double least = INFINITY;
    int32_t found = -1;
    while (first < last) {
        const int64_t middle = first + (last - first) / 2;
        if (low[middle].key[0] < wanted->key[0] - tolerance)
            first = middle + 1;
        else
            last = middle;
    }
    for (; first < n && low[first].key[0] <= wanted->key[0] + tolerance; ++first) {
        const double distance = fmax(fabs(low[first].key[0] - wanted->key[0]),
                                     fabs(low[first].key[1] - wanted->key[1]));
        if (distance <= tolerance && distance < least) {
            least = distance;
            found = low[first].node;
        }
    }
    return found;
}

static weft_status pair_nodes(const weft_mesh *mesh, weft_tile_sides *sides, int axis,
                              double tolerance, weft_error *error) {
    weft_status status = WEFT_OK;
    const uint8_t bit = (uint8_t)(1 << axis);
    int32_t *partner = sides->partner[axis];
    int64_t n = 0;
    side_node *low = NULL;
    for (int64_t i = 0; i < mesh->n_nodes; ++i)
        n += (sides->on_low[i] & bit) != 0;
    low = malloc(((size_t)n + 1) * sizeof *low);
    if (!low)
        TRY(weft_tile_no_memory(mesh, error));
    n = 0;
    for (int64_t i = 0; i < mesh->n_nodes; ++i)
        if (sides->on_low[i] & bit)
            low[n++] = side_node_at(mesh, axis, i);
    qsort(low, (size_t)n, sizeof *low, compare_nodes);
    for (int64_t i = 0; i < mesh->n_nodes; ++i) {
        if (!(sides->on_high[i] & bit))
            continue;
        const side_node wanted = side_node_at(mesh, axis, i);
        const int32_t node = find_partner(low, n, &wanted, tolerance), self = (int32_t)i;
        /* partners are on the same sides of the other axes, and partnership is one to one */
        if (node < 0 || partner[node] >= 0 || (sides->on_low[node] ^ sides->on_low[i]) != bit ||
            (sides->on_high[node] ^ sides->on_high[i]) != bit)
            TRY(refuse(mesh, axis, "node", &self, 1, error));
        partner[i] = node;
        partner[node] = self;
    }
    for (int64_t k = 0; k < n; ++k)
        if (partner[low[k].node] < 0)
            TRY(refuse(mesh, axis, "node", &low[k].node, 1, error));
done:
    free(low);
    return status;
}

static side_facet side_facet_of(const int32_t *nodes, int d, const int32_t *map) {
    side_facet out = {{-1, -1, -1}};
    for (int k = 0; k < d; ++k) {
        const int32_t node = map ? map[nodes[k]] : nodes[k];
        int at = 3 - d + k;
        for (; at > 3 - d && out.nodes[at - 1] > node; --at)
            out.nodes[at] = out.nodes[at - 1];
        out.nodes[at] = node;
    }
    return out;
}

static bool all_on(const uint8_t *on, const int32_t *nodes, int d, uint8_t bit) {
    for (int k = 0; k < d; ++k)
        if (!(on[nodes[k]] & bit))
            return false;
    return true;
}

/* Paired nodes do not imply paired facets: a square can be divided along either diagonal. */
static weft_status pair_facets(const weft_mesh *mesh, const weft_tile_sides *sides, int axis,
                               weft_error *error) {
    weft_status status = WEFT_OK;
    const int d = mesh->dimension;
    const uint8_t bit = (uint8_t)(1 << axis);
    const uint8_t *on[2] = {sides->on_low, sides->on_high};
    side_facet *facets[2] = {NULL, NULL};
    int64_t n[2] = {0, 0};
    for (int side = 0; side < 2; ++side) {
        facets[side] = malloc(((size_t)mesh->n_boundary_facets + 1) * sizeof *facets[side]);
        if (!facets[side])
            TRY(weft_tile_no_memory(mesh, error));
        for (int64_t f = 0; f < mesh->n_boundary_facets; ++f)
            if (all_on(on[side], mesh->facets + f * d, d, bit))
                facets[side][n[side]++] =
                    side_facet_of(mesh->facets + f * d, d, side ? sides->partner[axis] : NULL);
        qsort(facets[side], (size_t)n[side], sizeof *facets[side], compare_facets);
    }
    for (int side = 0; side < 2; ++side)
        for (int64_t k = 0; k < n[side]; ++k)
            if (!bsearch(&facets[side][k], facets[1 - side], (size_t)n[1 - side],
                         sizeof *facets[side], compare_facets))
                TRY(refuse(mesh, axis, "facet", facets[side][k].nodes + 3 - d, d, error));
done:
    free(facets[0]);
    free(facets[1]);
    return status;
}

weft_status weft_tile_sides_find(const weft_mesh *mesh, const int64_t counts[3],
                                 weft_tile_sides *out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_tile_sides sides = {.on_low = calloc((size_t)mesh->n_nodes, 1),
                             .on_high = calloc((size_t)mesh->n_nodes, 1)};
    bool good = sides.on_low && sides.on_high;
    for (int a = 0; a < mesh->dimension; ++a)
        if (counts[a] > 1) {
            sides.partner[a] = malloc((size_t)mesh->n_nodes * sizeof *sides.partner[a]);
            good &= sides.partner[a] != NULL;
        }
    if (!good)
        TRY(weft_tile_no_memory(mesh, error));
    const double tolerance = TOLERANCE * find_box(mesh, &sides);
    mark_sides(mesh, &sides, tolerance);
    for (int a = 0; a < mesh->dimension; ++a) {
        if (!sides.partner[a])
            continue;
        TRY(pair_nodes(mesh, &sides, a, tolerance, error));
        TRY(pair_facets(mesh, &sides, a, error));
    }
    *out = sides;
    sides = (weft_tile_sides){.on_low = NULL};
done:
    weft_tile_sides_free(&sides);
    return status;
}

void weft_tile_sides_free(weft_tile_sides *sides) {
    free(sides->on_low);
    free(sides->on_high);
    for (int a = 0; a < 3; ++a)
        free(sides->partner[a]);
    *sides = (weft_tile_sides){.on_low = NULL};
}
