/* Locates points by a tree of bounding boxes over cells in the order of a Morton curve.
 *
 *  A node has the boxes of FAN children: of cells that follow each other on the curve at the lowest
 *  level, of nodes at the others. Points are located in the order of the same curve, so that neighbours
 *  read the same nodes.
 *
 *  Source  Lauterbach et al. 2009, Fast BVH construction on GPUs, section 3 */
#include "fem/base/memory.h"
#include "fem/mesh/mesh.h"
#include "fem/weft_locate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FAN = 4, LEVELS_MAX = 20, CHUNK = 4096, DIGIT = 16, FEW = 4, STACK = 256 };

/* As in fem/mesh/locate.c. */
static const double TOLERANCE = 1e-10;

/* The boxes of FAN children, rounded outwards; empty where there are fewer. */
typedef float lanes __attribute__((vector_size(FAN * sizeof(float))));
typedef struct node {
    lanes low[3], high[3];
} node;

struct weft_locator {
    weft_device *device;
    weft_locator_cells s;
    int32_t *order; /* [n_cells] along the curve */
    node *nodes;    /* of all levels, the lowest first */
    int64_t start[LEVELS_MAX], count[LEVELS_MAX];
    int n_levels;
    double low[3], scale[3]; /* of the curve */
};

/* ---- order along the curve ------------------------------------------------------------------- */

typedef struct keyed {
    uint64_t key;
    int64_t index;
} keyed;

/* Bits of two or three integers of 24 or 16 bits, alternating. */
static uint64_t interleave_bits(const uint32_t *p, int d) {
    uint64_t key = 0;
    for (int k = 0; k < d; ++k) {
        uint64_t v = p[k];
        if (d == 3) {
            v = (v | v << 32) & 0x1f00000000ffffu;
            v = (v | v << 16) & 0x1f0000ff0000ffu;
            v = (v | v << 8) & 0x100f00f00f00f00fu;
            v = (v | v << 4) & 0x10c30c30c30c30c3u;
            v = (v | v << 2) & 0x1249249249249249u;
        } else {
            v = (v | v << 16) & 0x0000ffff0000ffffu;
            v = (v | v << 8) & 0x00ff00ff00ff00ffu;
            v = (v | v << 4) & 0x0f0f0f0f0f0f0f0fu;
            v = (v | v << 2) & 0x3333333333333333u;
            v = (v | v << 1) & 0x5555555555555555u;
        }
        key |= v << k;
    }
    return key;
}

static uint64_t key_of(const weft_locator *l, const double *point) {
    const int d = l->s.dimension;
    const double most = d == 3 ? 65535 : 16777215;
    uint32_t p[3];
    for (int k = 0; k < d; ++k) {
        const double v = (point[k] - l->low[k]) * l->scale[k] * most;
        p[k] = v > 0 ? (uint32_t)fmin(v, most) : 0; /* NaN: 0 */
    }
    return interleave_bits(p, d);
}

/* Sort by 48 bits, in place and stable. */
static weft_status sort_keys(keyed *keys, int64_t n, weft_error *error) {
    weft_status status = WEFT_OK;
    keyed *from = keys, *to = weft_scratch_make((size_t)n + 1, sizeof *to), *other = to;
    int64_t *starts = malloc(((size_t)1 << DIGIT) * sizeof *starts);
    if (!to || !starts)
        TRY(weft_out_of_memory(error, "a tree of cells"));
    for (int shift = 0; shift < 48; shift += DIGIT) {
        int64_t sum = 0;
        memset(starts, 0, ((size_t)1 << DIGIT) * sizeof *starts);
        for (int64_t i = 0; i < n; ++i)
            ++starts[from[i].key >> shift & 0xffff];
        for (int k = 0; k < 1 << DIGIT; ++k) {
            const int64_t count = starts[k];
            starts[k] = sum;
            sum += count;
        }
        for (int64_t i = 0; i < n; ++i)
            to[starts[from[i].key >> shift & 0xffff]++] = from[i];
        keyed *swapped = from;
        from = to;
        to = swapped;
    }
    if (from != keys)
        memcpy(keys, from, (size_t)n * sizeof *keys);
done:
    free(other);
    free(starts);
    return status;
}

typedef struct keying {
    const weft_locator *locator;
    const double *points; /* NULL: centres of cells */
    int64_t n;
    keyed *keys;
} keying;

static int nodes_of(const weft_locator_cells *s) {
    return s->coordinates ? s->n_nodes : s->dimension + 1;
}

static int64_t end_of(int64_t chunk, int64_t n) {
    return (chunk + 1) * CHUNK < n ? (chunk + 1) * CHUNK : n;
}

static void make_keys(void *user, int64_t chunk) {
    const keying *k = user;
    const weft_locator_cells *s = &k->locator->s;
    const int d = s->dimension, width = nodes_of(s);
    for (int64_t i = chunk * CHUNK; i < end_of(chunk, k->n); ++i) {
        double centre[3] = {0};
        const double *point = k->points ? k->points + i * d : centre;
        for (int v = 0; v < width && !k->points; ++v)
            for (int a = 0; a < d; ++a)
                centre[a] += s->x[(int64_t)s->cells[i * width + v] * d + a] / width;
        k->keys[i] = (keyed){key_of(k->locator, point), i};
    }
}

static weft_status order_along(const weft_locator *l, const double *points, int64_t n, keyed **out,
                               weft_error *error) {
    weft_status status = WEFT_OK;
    keyed *keys = weft_scratch_make((size_t)n + 1, sizeof *keys);
    if (!keys)
        TRY(weft_out_of_memory(error, "a tree of cells"));
    TRY(weft_device_for(l->device, (n + CHUNK - 1) / CHUNK, make_keys,
                        &(keying){l, points, n, keys}, error));
    TRY(sort_keys(keys, n, error));
    *out = keys;
    keys = NULL;
done:
    free(keys);
    return status;
}

/* ---- boxes ----------------------------------------------------------------------------------- */

static void empty_child(node *out, int child) {
    for (int k = 0; k < 3; ++k) {
        out->low[k][child] = INFINITY;
        out->high[k][child] = -INFINITY;
    }
}

/* The box of a cell, with the tolerance. */
static void cell_box(const weft_locator_cells *s, int64_t cell, node *out, int child) {
    const int d = s->dimension, width = nodes_of(s);
    for (int k = 0; k < d; ++k) {
        double low = INFINITY, high = -INFINITY;
        for (int v = 0; v < width; ++v) {
            const double x = s->x[(int64_t)s->cells[cell * width + v] * d + k];
            low = fmin(low, x);
            high = fmax(high, x);
        }
        const double slack = (high - low) * (s->margin + 4 * TOLERANCE);
        out->low[k][child] = nextafterf((float)(low - slack), -INFINITY);
        out->high[k][child] = nextafterf((float)(high + slack), INFINITY);
    }
}

/* The box of a node. */
static void node_box(const node *below, int d, node *out, int child) {
    for (int k = 0; k < d; ++k)
        for (int i = 0; i < FAN; ++i) {
            out->low[k][child] = fminf(out->low[k][child], below->low[k][i]);
            out->high[k][child] = fmaxf(out->high[k][child], below->high[k][i]);
        }
}

typedef struct level {
    weft_locator *locator;
    int number;
} level;

static void make_boxes(void *user, int64_t chunk) {
    const level *at = user;
    weft_locator *l = at->locator;
    const int number = at->number;
    const int64_t n_below = number ? l->count[number - 1] : l->s.n_cells;
    for (int64_t i = chunk * CHUNK; i < end_of(chunk, l->count[number]); ++i) {
        node *out = &l->nodes[l->start[number] + i];
        memset(out, 0, sizeof *out);
        for (int child = 0; child < FAN; ++child) {
            const int64_t k = i * FAN + child;
            empty_child(out, child);
            if (k < n_below && number > 0)
                node_box(&l->nodes[l->start[number - 1] + k], l->s.dimension, out, child);
            else if (k < n_below)
                cell_box(&l->s, l->order[k], out, child);
        }
    }
}

static void count_levels(weft_locator *l) {
    int64_t n = (l->s.n_cells + FAN - 1) / FAN, start = 0;
    for (l->n_levels = 0;; n = (n + FAN - 1) / FAN) {
        l->start[l->n_levels] = start;
        l->count[l->n_levels++] = n;
        start += n;
        if (n <= 1)
            break;
    }
}

/* The extent of all nodes of cells, for the curve. */
static void find_extent(weft_locator *l) {
    const weft_locator_cells *s = &l->s;
    const int d = s->dimension;
    for (int k = 0; k < d; ++k) {
        double low = INFINITY, high = -INFINITY;
        for (int64_t i = 0; i < s->n_cells * nodes_of(s); ++i) {
            low = fmin(low, s->x[(int64_t)s->cells[i] * d + k]);
            high = fmax(high, s->x[(int64_t)s->cells[i] * d + k]);
        }
        l->low[k] = low;
        l->scale[k] = high > low ? 1 / (high - low) : 0;
    }
}

weft_status weft_locator_make(weft_device *device, const weft_locator_cells *cells,
                              weft_locator **out, weft_error *error) {
    weft_status status = WEFT_OK;
    keyed *keys = NULL;
    weft_locator *l = calloc(1, sizeof *l);
    if (!l)
        TRY(weft_out_of_memory(error, "a tree of cells"));
    *l = (weft_locator){.device = device, .s = *cells};
    find_extent(l);
    count_levels(l);
    const int top = l->n_levels - 1;
    l->order = weft_scratch_make((size_t)cells->n_cells + 1, sizeof *l->order);
    l->nodes = aligned_alloc(sizeof(lanes),
                             ((size_t)(l->start[top] + l->count[top]) + 1) * sizeof *l->nodes);
    if (!l->order || !l->nodes)
        TRY(weft_out_of_memory(error, "a tree of cells"));
    TRY(order_along(l, NULL, cells->n_cells, &keys, error));
    for (int64_t i = 0; i < cells->n_cells; ++i)
        l->order[i] = (int32_t)keys[i].index;
    for (int number = 0; number <= top; ++number)
        TRY(weft_device_for(device, (l->count[number] + CHUNK - 1) / CHUNK, make_boxes,
                            &(level){l, number}, error));
    *out = l;
    l = NULL;
done:
    free(keys);
    weft_locator_free(&l);
    return status;
}

void weft_locator_free(weft_locator **locator) {
    if (!locator || !*locator)
        return;
    free((*locator)->order);
    free((*locator)->nodes);
    free(*locator);
    *locator = NULL;
}

/* ---- the cell of a point --------------------------------------------------------------------- */

static double determinant(int d, double e[3][3]) {
    if (d == 2)
        return e[0][0] * e[1][1] - e[0][1] * e[1][0];
    return e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) +
           e[0][1] * (e[1][2] * e[2][0] - e[1][0] * e[2][2]) +
           e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0]);
}

/* Barycentric coordinates by Cramer's rule; returns the least, NaN for a cell without volume. */
static double coordinates(const weft_locator_cells *s, int64_t cell, const double *point,
                          double *out) {
    const int d = s->dimension;
    const int32_t *nodes = s->cells + cell * (d + 1);
    const double *x0 = s->x + (int64_t)nodes[0] * d;
    double e[3][3], p[3], sum = 0, least = INFINITY;
    for (int k = 0; k < d; ++k) {
        p[k] = point[k] - x0[k];
        for (int i = 0; i < d; ++i)
            e[i][k] = s->x[(int64_t)nodes[i + 1] * d + k] - x0[k];
    }
    const double whole = determinant(d, e);
    if (whole == 0)
        return NAN;
    for (int i = 0; i < d; ++i) {
        double kept[3];
        memcpy(kept, e[i], sizeof kept);
        memcpy(e[i], p, (size_t)d * sizeof *p);
        out[i + 1] = determinant(d, e) / whole;
        memcpy(e[i], kept, sizeof kept);
        sum += out[i + 1];
        least = fmin(least, out[i + 1]);
    }
    out[0] = 1 - sum;
    return fmin(least, out[0]);
}

typedef struct found {
    int64_t cell;
    double least, barycentric[4];
} found;

/* The lowest cell with coordinates >= 0; else that with the greatest least one, within tolerance. */
static bool is_better(const found *best, double least, int64_t cell) {
    if (best->cell < 0)
        return least >= -TOLERANCE;
    if (least >= 0 || best->least >= 0)
        return least >= 0 && (best->least < 0 || cell < best->cell);
    return least > best->least || (least == best->least && cell < best->cell);
}

static void try_cell(const weft_locator *l, int64_t cell, const double *point, found *best) {
    double now[4] = {0};
    const double least = l->s.coordinates ? l->s.coordinates(l->s.user, cell, point, now)
                                          : coordinates(&l->s, cell, point, now);
    if (!is_better(best, least, cell))
        return;
    best->cell = cell;
    best->least = least;
    memcpy(best->barycentric, now, sizeof now);
}

typedef struct tree_node {
    int level;
    int64_t index;
    double distance; /* squared, of the box; for the nearest cell */
} tree_node;

/* The children whose boxes contain the point, one bit each. Rounding to float keeps the order, so that
 * no box that contains it is missed. */
static unsigned children_with(const node *at, const lanes *point, int d) {
    typedef int flags __attribute__((vector_size(sizeof(lanes))));
    flags in = (at->low[0] <= point[0]) & (at->high[0] >= point[0]);
    unsigned out = 0;
    for (int k = 1; k < d; ++k)
        in &= (at->low[k] <= point[k]) & (at->high[k] >= point[k]);
    for (int i = 0; i < FAN; ++i)
        out |= (unsigned)(in[i] & 1) << i;
    return out;
}

/* Ends with a cell that has the point inside, in which case no other has it. */
static void find_containing(const weft_locator *l, const double *point, found *best) {
    const int d = l->s.dimension;
    tree_node stack[STACK];
    lanes p[3] = {{0}};
    int n = 0;
    for (int k = 0; k < d; ++k)
        p[k] = (lanes){0} + (float)point[k];
    stack[n++] = (tree_node){l->n_levels - 1, 0, 0};
    while (n > 0 && !(best->least > TOLERANCE)) {
        const tree_node at = stack[--n];
        unsigned with = children_with(&l->nodes[l->start[at.level] + at.index], p, d);
        for (; with; with &= with - 1) {
            const int64_t k = at.index * FAN + __builtin_ctz(with);
            if (at.level > 0)
                stack[n++] = (tree_node){at.level - 1, k, 0};
            else
                try_cell(l, l->order[k], point, best);
        }
    }
}

/* ---- the nearest cell ------------------------------------------------------------------------ */

/* Weights of the point of the affine hull of n vertices nearest to p, by the normal equations. */
static bool hull_weights(int d, double v[4][3], int n, const double *p, double *w) {
    double a[3][4] = {{0}};
    w[0] = 1;
    for (int i = 0; i < n - 1; ++i) {
        for (int k = 0; k < d; ++k) {
            for (int j = 0; j < n - 1; ++j)
                a[i][j] += (v[i + 1][k] - v[0][k]) * (v[j + 1][k] - v[0][k]);
            a[i][3] += (v[i + 1][k] - v[0][k]) * (p[k] - v[0][k]);
        }
    }
    for (int i = 0; i < n - 1; ++i) { /* positive definite: no pivots */
        if (!(a[i][i] > 0))
            return false;
        for (int r = i + 1; r < n - 1; ++r) {
            const double f = a[r][i] / a[i][i];
            for (int j = i; j < 4; ++j)
                a[r][j] -= f * a[i][j];
        }
    }
    for (int i = n - 2; i >= 0; --i) {
        w[i + 1] = a[i][3];
        for (int j = i + 1; j < n - 1; ++j)
            w[i + 1] -= a[i][j] * w[j + 1];
        w[i + 1] /= a[i][i];
        w[0] -= w[i + 1];
    }
    return true;
}

/* The squared distance of p from the simplex of some vertices of a cell, and the weights of the
 * nearest point. */
static double simplex_distance(int d, double x[4][3], const int *corners, int n, const double *p,
                               double *weights) {
    double v[4][3], w[4], best = INFINITY;
    bool is_within = true;
    for (int i = 0; i < n; ++i)
        memcpy(v[i], x[corners[i]], sizeof v[i]);
    if (hull_weights(d, v, n, p, w)) {
        for (int i = 0; i < n; ++i)
            is_within &= w[i] >= 0;
        if (is_within) {
            best = 0;
            for (int i = 0; i <= d; ++i)
                weights[i] = 0;
            for (int i = 0; i < n; ++i)
                weights[corners[i]] = w[i];
            for (int k = 0; k < d; ++k) {
                double at = -p[k];
                for (int i = 0; i < n; ++i)
                    at += w[i] * v[i][k];
                best += at * at;
            }
            return best;
        }
    } else {
        for (int i = 0; i < n; ++i)
            w[i] = -1;
    }
    for (int drop = 0; drop < n && n > 1; ++drop) {
        int rest[4], m = 0;
        double other[4];
        if (w[drop] >= 0)
            continue;
        for (int i = 0; i < n; ++i)
            if (i != drop)
                rest[m++] = corners[i];
        const double distance = simplex_distance(d, x, rest, m, p, other);
        if (distance < best) {
            best = distance;
            memcpy(weights, other, sizeof other);
        }
    }
    return best;
}

static double box_distance(const node *at, int child, const double *point, int d) {
    double sum = 0;
    for (int k = 0; k < d; ++k) {
        const double low = (double)at->low[k][child], high = (double)at->high[k][child];
        const double off = fmax(0, fmax(low - point[k], point[k] - high));
        sum += off * off;
    }
    return sum;
}

static void try_nearest(const weft_locator *l, int64_t cell, const double *point, found *best) {
    static const int corners[4] = {0, 1, 2, 3};
    const int d = l->s.dimension;
    double x[4][3], now[4];
    for (int v = 0; v <= d; ++v)
        for (int a = 0; a < d; ++a)
            x[v][a] = l->s.x[(int64_t)l->s.cells[cell * (d + 1) + v] * d + a];
    const double distance = simplex_distance(d, x, corners, d + 1, point, now);
    if (!(distance < best->least || (distance == best->least && cell < best->cell)))
        return;
    best->cell = cell;
    best->least = distance;
    memcpy(best->barycentric, now, sizeof now);
}

static void find_nearest(const weft_locator *l, const double *point, found *best) {
    tree_node stack[STACK];
    int n = 0;
    best->least = INFINITY;
    stack[n++] = (tree_node){l->n_levels, 0, 0}; /* level 0: cells; k: nodes of level k - 1 */
    while (n > 0) {
        const tree_node at = stack[--n];
        const int first = n;
        if (at.distance > best->least)
            continue;
        if (at.level == 0) {
            try_nearest(l, l->order[at.index], point, best);
            continue;
        }
        const node *boxes = &l->nodes[l->start[at.level - 1] + at.index];
        const int64_t most = at.level > 1 ? l->count[at.level - 2] : l->s.n_cells;
        for (int child = 0; child < FAN && at.index * FAN + child < most; ++child) {
            const tree_node below = {at.level - 1, at.index * FAN + child,
                                     box_distance(boxes, child, point, l->s.dimension)};
            int to = n++; /* the nearest on top */
            for (; to > first && stack[to - 1].distance < below.distance; --to)
                stack[to] = stack[to - 1];
            stack[to] = below;
        }
    }
}

/* ---- many points ----------------------------------------------------------------------------- */

typedef struct search {
    const weft_locator *locator;
    const double *points;
    const keyed *order; /* NULL: as they are */
    int64_t n;
    bool nearest;
    int64_t *cells;
    double *barycentric;
} search;

static void find_chunk(void *user, int64_t chunk) {
    const search *s = user;
    const weft_locator *l = s->locator;
    const int d = l->s.dimension, n_coordinates = l->s.coordinates ? d : d + 1;
    for (int64_t k = chunk * CHUNK; k < end_of(chunk, s->n); ++k) {
        const int64_t i = s->order ? s->order[k].index : k;
        const double *point = s->points + i * d;
        found best = {.cell = -1, .least = -INFINITY};
        bool is_number = true;
        for (int a = 0; a < d; ++a)
            is_number &= isfinite(point[a]) != 0;
        if (is_number && l->s.n_cells > 0)
            find_containing(l, point, &best);
        if (is_number && best.cell < 0 && s->nearest && !l->s.coordinates && l->s.n_cells > 0)
            find_nearest(l, point, &best);
        s->cells[i] = best.cell;
        memcpy(s->barycentric + i * n_coordinates, best.barycentric,
               (size_t)n_coordinates * sizeof *best.barycentric);
    }
}

weft_status weft_locator_find(const weft_locator *locator, const double *points, int64_t n,
                              bool nearest, int64_t *cells, double *barycentric,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    keyed *order = NULL;
    search s = {locator, points, NULL, n, nearest, cells, barycentric};
    if (n > CHUNK)
        TRY(order_along(locator, points, n, &order, error));
    s.order = order;
    TRY(weft_device_for(locator->device, (n + CHUNK - 1) / CHUNK, find_chunk, &s, error));
done:
    free(order);
    return status;
}

weft_status weft_mesh_locate_points(weft_device *device, const weft_mesh *mesh,
                                    const double *points, int64_t n, int64_t *cells,
                                    double *barycentric, weft_error *error) {
    weft_status status = WEFT_OK;
    const int d = mesh->dimension;
    const weft_locator_cells simplices = {
        .dimension = d, .n_cells = mesh->n_cells, .x = mesh->x, .cells = mesh->cells};
    weft_locator *locator = NULL;
    TRY(weft_mesh_need_simplices(mesh, "the location of points", error));
    if (n <= FEW) {
        for (int64_t i = 0; i < n; ++i)
            weft_mesh_locate(mesh, points + i * d, &cells[i], barycentric + i * (d + 1));
        goto done;
    }
    TRY(weft_locator_make(device, &simplices, &locator, error));
    TRY(weft_locator_find(locator, points, n, false, cells, barycentric, error));
done:
    weft_locator_free(&locator);
    return status;
}
