/* Orders the cells of one ring so that consecutive cells share a facet.
 *
 * The facets opposite the node, its link, form a polygon (triangles) or a triangulated surface
 * (tetrahedra). The best order is a Hamiltonian path through adjacent facets of the link; otherwise
 * the order is a few paths that cover it. */
#include "fusion/connectivity/vertex_patches.h"

#include <stdlib.h>
#include <string.h>

enum { ATTEMPTS = 3 };

void weft_vertex_walk_scratch_free(weft_vertex_walk_scratch *scratch) {
    free(scratch->adjacent);
    free(scratch->path);
    free(scratch->best);
    free(scratch->visited);
    free(scratch->keys);
    free(scratch->places);
    *scratch = (weft_vertex_walk_scratch){0};
}

static bool scratch_grow(weft_vertex_walk_scratch *scratch, int n) {
    if (n <= scratch->capacity)
        return true;
    weft_vertex_walk_scratch_free(scratch);
    int size = 64;
    const int capacity = 2 * n;
    while (size < 2 * 3 * capacity)
        size *= 2;
    scratch->adjacent = malloc((size_t)capacity * 3 * sizeof *scratch->adjacent);
    scratch->path = malloc((size_t)capacity * 2 * sizeof *scratch->path);
    scratch->best = malloc((size_t)capacity * 2 * sizeof *scratch->best);
    scratch->visited = malloc((size_t)capacity);
    scratch->keys = malloc((size_t)size * sizeof *scratch->keys);
    scratch->places = malloc((size_t)size * sizeof *scratch->places);
    if (!scratch->adjacent || !scratch->path || !scratch->best || !scratch->visited ||
        !scratch->keys || !scratch->places) {
        weft_vertex_walk_scratch_free(scratch);
        return false;
    }
    scratch->capacity = capacity;
    scratch->table_size = size;
    return true;
}

/* ---- a hash table of directed edges, for one ring ---- */

typedef struct edge_table {
    uint32_t *keys; /* UINT32_MAX: free */
    int32_t *places;
    uint32_t mask;
} edge_table;

static edge_table table_start(weft_vertex_walk_scratch *scratch, int n_edges) {
    uint32_t size = 16;
    while (size < 2 * (uint32_t)n_edges)
        size *= 2;
    memset(scratch->keys, 0xff, size * sizeof *scratch->keys);
    return (edge_table){scratch->keys, scratch->places, size - 1};
}

static uint32_t edge_key(int32_t from, int32_t to) {
    return (uint32_t)from << 16 | (uint32_t)to;
}

static uint32_t table_slot(const edge_table *table, uint32_t key) {
    uint32_t slot = (key * 0x9e3779b1u >> 12) & table->mask;
    while (table->keys[slot] != UINT32_MAX && table->keys[slot] != key)
        slot = (slot + 1) & table->mask;
    return slot;
}

/* Later insertions under the same key are ignored. */
static void table_put(const edge_table *table, uint32_t key, int32_t place) {
    const uint32_t slot = table_slot(table, key);
    if (table->keys[slot] == UINT32_MAX) {
        table->keys[slot] = key;
        table->places[slot] = place;
    }
}

static int32_t table_get(const edge_table *table, uint32_t key) {
    const uint32_t slot = table_slot(table, key);
    return table->keys[slot] == UINT32_MAX ? -1 : table->places[slot];
}

/* ---- triangles: link edge (a, b) is followed by the edge that starts at b ---- */

/* adjacent[i]: the edge that starts where edge i ends, or -1. is_entered[i]: edge i has such a
 * predecessor, so no open path begins there. */
static void polygon_adjacent(weft_vertex_walk_scratch *scratch, const weft_vertex_walk_link *links,
                             int n, uint8_t *is_entered) {
    const edge_table table = table_start(scratch, n);
    for (int i = 0; i < n; ++i)
        table_put(&table, (uint32_t)links[i].v[0], i);
    memset(is_entered, 0, (size_t)n);
    for (int i = 0; i < n; ++i) {
        scratch->adjacent[i] = table_get(&table, (uint32_t)links[i].v[1]);
        if (scratch->adjacent[i] >= 0)
            is_entered[scratch->adjacent[i]] = 1;
    }
}

static int order_polygon(weft_vertex_walk_scratch *scratch, const weft_vertex_walk_link *links,
                         int n, uint16_t *words, int32_t *cells) {
    uint8_t *is_entered = (uint8_t *)scratch->path, *visited = scratch->visited;
    int n_words = 0;
    polygon_adjacent(scratch, links, n, is_entered);
    memset(visited, 0, (size_t)n);
    /* open paths first, then closed ones */
    for (int rounds = 0; rounds < 2; ++rounds)
        for (int start = 0; start < n; ++start) {
            if (visited[start] || (rounds == 0 && is_entered[start]))
                continue;
            cells[n_words] = links[start].cell;
            words[n_words++] = (uint16_t)(links[start].v[0] | WORD_SKIP);
            for (int i = start; i >= 0 && !visited[i]; i = scratch->adjacent[i]) {
                visited[i] = 1;
                cells[n_words] = links[i].cell;
                words[n_words++] = (uint16_t)links[i].v[1];
            }
        }
    return n_words;
}

/* ---- tetrahedra: adjacent link triangles have their common edge in opposite directions ---- */

static void surface_adjacent(weft_vertex_walk_scratch *scratch, const weft_vertex_walk_link *links,
                             int n) {
    const edge_table table = table_start(scratch, 3 * n);
    for (int i = 0; i < n; ++i)
        for (int e = 0; e < 3; ++e)
            table_put(&table, edge_key(links[i].v[e], links[i].v[(e + 1) % 3]), i);
    for (int i = 0; i < n; ++i)
        for (int e = 0; e < 3; ++e) {
            const int32_t j = table_get(&table, edge_key(links[i].v[(e + 1) % 3], links[i].v[e]));
            scratch->adjacent[3 * i + e] = j == i ? -1 : j;
        }
}

static int count_open(const weft_vertex_walk_scratch *scratch, int i) {
    int count = 0;
    for (int e = 0; e < 3; ++e) {
        const int32_t j = scratch->adjacent[3 * i + e];
        count += j >= 0 && !scratch->visited[j];
    }
    return count;
}

/* The unvisited neighbour with the fewest unvisited neighbours (Warnsdorff 1823), or -1. */
static int next_triangle(const weft_vertex_walk_scratch *scratch, int i) {
    int best = -1, least = 4;
    for (int e = 0; e < 3; ++e) {
        const int32_t j = scratch->adjacent[3 * i + e];
        if (j < 0 || scratch->visited[j])
            continue;
        const int open = count_open(scratch, j);
        if (open < least) {
            least = open;
            best = j;
        }
    }
    return best;
}

/* Grow a path from `start` in both directions, written to path. Returns its length. */
static int grow_path(weft_vertex_walk_scratch *scratch, int start, int32_t *path) {
    int length = 0;
    for (int i = start; i >= 0; i = next_triangle(scratch, i)) {
        scratch->visited[i] = 1;
        path[length++] = i;
    }
    for (int i = 0; i < length / 2; ++i) {
        const int32_t kept = path[i];
        path[i] = path[length - 1 - i];
        path[length - 1 - i] = kept;
    }
    for (int i = next_triangle(scratch, start); i >= 0; i = next_triangle(scratch, i)) {
        scratch->visited[i] = 1;
        path[length++] = i;
    }
    return length;
}

/* Cover all triangles by paths, concatenated in `path`. Returns their number.
 * first  start of the first path; -1: choose it like the later ones, the unvisited triangle with
 *        the fewest unvisited neighbours */
static int cover_surface(weft_vertex_walk_scratch *scratch, int n, int first, int32_t *path) {
    int n_paths = 0, length = 0;
    memset(scratch->visited, 0, (size_t)n);
    while (length < n) {
        int start = first, least = 4;
        for (int i = 0; (n_paths > 0 || first < 0) && i < n && least > 0; ++i)
            if (!scratch->visited[i] && count_open(scratch, i) < least) {
                least = count_open(scratch, i);
                start = i;
            }
        length += grow_path(scratch, start, path + length);
        ++n_paths;
    }
    return n_paths;
}

/* The vertex opposite the directed edge (a, b), or -1: the triangle does not have that edge. */
static int32_t third_vertex(const weft_vertex_walk_link *link, int32_t a, int32_t b) {
    for (int e = 0; e < 3; ++e)
        if (link->v[e] == a && link->v[(e + 1) % 3] == b)
            return link->v[(e + 2) % 3];
    return -1;
}

/* Vertices (p, q, r) of a path's first triangle, rotated so that the next one shares (q, r). */
static void first_triangle(const weft_vertex_walk_link *link, const weft_vertex_walk_link *next,
                           int32_t v[3]) {
    int rotated = 0;
    for (int e = 0; next && e < 3; ++e)
        if (third_vertex(next, link->v[(e + 1) % 3], link->v[e]) >= 0)
            rotated = (e + 2) % 3;
    for (int i = 0; i < 3; ++i)
        v[i] = link->v[(rotated + i) % 3];
}

static int write_surface(const weft_vertex_walk_link *links, int n, const int32_t *path,
                         uint16_t *words, int32_t *cells) {
    int32_t v[3] = {-1, -1, -1};
    int n_words = 0;
    for (int i = 0; i < n; ++i) {
        const weft_vertex_walk_link *link = &links[path[i]];
        int32_t e = i > 0 ? third_vertex(link, v[2], v[1]) : -1;
        if (e >= 0) {
            v[0] = v[2];
        } else if (i > 0 && (e = third_vertex(link, v[0], v[2])) >= 0) {
            v[1] = v[2];
            e |= WORD_ROTATED;
        } else {
            first_triangle(link, i + 1 < n ? &links[path[i + 1]] : NULL, v);
            cells[n_words] = cells[n_words + 1] = link->cell;
            words[n_words++] = (uint16_t)(v[1] | WORD_SKIP);
            words[n_words++] = (uint16_t)(v[0] | WORD_SKIP | WORD_ROTATED);
            e = v[2];
        }
        v[2] = e & WORD_LOCAL;
        cells[n_words] = link->cell;
        words[n_words++] = (uint16_t)e;
    }
    return n_words;
}

static int order_surface(weft_vertex_walk_scratch *scratch, const weft_vertex_walk_link *links,
                         int n, uint16_t *words, int32_t *cells) {
    surface_adjacent(scratch, links, n);
    int least = cover_surface(scratch, n, -1, scratch->best);
    for (int k = 1; k <= ATTEMPTS && least > 1 && n > ATTEMPTS; ++k) {
        const int n_paths = cover_surface(scratch, n, k * n / (ATTEMPTS + 1), scratch->path);
        if (n_paths >= least)
            continue;
        least = n_paths;
        int32_t *kept = scratch->best;
        scratch->best = scratch->path;
        scratch->path = kept;
    }
    return write_surface(links, n, scratch->best, words, cells);
}

int weft_vertex_walk_order(weft_vertex_walk_scratch *scratch, const weft_vertex_walk_link *links,
                           int n, int width, uint16_t *words, int32_t *cells) {
    if (n <= 0)
        return 0;
    if (!scratch_grow(scratch, n))
        return -1;
    return width == 3 ? order_polygon(scratch, links, n, words, cells)
                      : order_surface(scratch, links, n, words, cells);
}
