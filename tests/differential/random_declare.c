/* What a random script declares: sets of sizes about whole blocks, maps, an operator, inputs. */
#include "random_maker.h"

#include <stdlib.h>

static void make_map(maker *m, const char *name, int from, int to, int width) {
    random_script *s = m->script;
    random_map *map = &s->connectivities[s->n_connectivities++];
    const int64_t n_from = s->sets[from].n, n_to = s->sets[to].n;
    int *valence = random_alloc((size_t)n_to + 1, sizeof *valence);
    *map = (random_map){.name = name, .from = from, .to = to, .width = width};
    map->indices = random_alloc((size_t)(n_from * width) + 1, sizeof *map->indices);
    for (int64_t i = 0; i < n_from; ++i)
        for (int a = 0; a < width; ++a) {
            bool fresh = false;
            while (!fresh) { /* near its own place, as in a mesh with a sensible order */
                const int64_t near = i * n_to / n_from + random_maker_below(m, 3 * width) - width;
                map->indices[i * width + a] = (int32_t)((near % n_to + n_to) % n_to);
                fresh = true;
                for (int b = 0; b < a; ++b)
                    fresh &= map->indices[i * width + b] != map->indices[i * width + a];
            }
            const int now = ++valence[map->indices[i * width + a]];
            map->valence = now > map->valence ? now : map->valence;
        }
    free(valence);
}

/* About whole and partial blocks of lanes, thread blocks and chunks of reductions. */
static int64_t make_size(maker *m) {
    static const int sizes[] = {1,  2,  7,   8,   9,   15,  16,  17,  31,  32,  33,
                                63, 65, 100, 127, 129, 255, 300, 511, 512, 513, 700};
    static const int large[] = {0, 1025, 2047, 2049, 2100};
    if (random_maker_below(m, 12) == 0)
        return large[random_maker_below(m, 5)];
    return sizes[random_maker_below(m, (int)(sizeof sizes / sizeof *sizes))];
}

/* A matrix, about whole and partial vectors, warps and thread blocks. */
static void make_matrix_sets(maker *m) {
    static const int sizes[] = {1,  2,  3,  5,  7,  8,   9,   15,  16,  17,  31, 32,
                                33, 63, 64, 65, 97, 100, 128, 129, 255, 257, 300};
    static const int large[][2] = {{0, 5}, {5, 0}, {3, 2101}, {2051, 3}, {0, 0}, {260, 132}};
    enum { LARGEST = 40000 };
    random_script *s = m->script;
    const int k = random_maker_below(m, 72); /* one in twelve is large, or has no members */
    int64_t n[2] = {k < 6 ? large[k][0] : INT32_MAX, k < 6 ? large[k][1] : INT32_MAX};
    while (n[0] * n[1] > LARGEST)
        for (int i = 0; i < 2; ++i)
            n[i] = sizes[random_maker_below(m, (int)(sizeof sizes / sizeof *sizes))];
    static const weft_pairs kinds[] = {
        {TRIANGLE_LOWER, true, false}, {TRIANGLE_UPPER, true, true},
        {TRIANGLE_LOWER, false, true}, {TRIANGLE_UPPER, false, false},
        {TRIANGLE_UPPER, true, false}, {TRIANGLE_LOWER, true, true}};
    static const char *const names[] = {
        "rows, cols symmetric lower",         "rows, cols symmetric upper packed",
        "rows, cols triangular lower packed", "rows, cols triangular upper",
        "rows, cols symmetric upper",         "rows, cols symmetric lower packed"};
    const int kind = random_maker_below(m, 18); /* one third are triangles */
    n[1] = kind < 6 && n[0] <= 200 ? n[0] : n[1];
    const bool is_triangle = kind < 6 && n[0] <= 200;
    const int rows = s->n_sets;
    s->sets[s->n_sets++] = (random_set){.name = "rows", .n = n[0]};
    s->sets[s->n_sets++] = (random_set){.name = "cols", .n = n[1]};
    s->product = s->n_sets;
    s->sets[s->n_sets++] = (random_set){.name = is_triangle ? names[kind] : "rows, cols",
                                        .n = n[0] * n[1],
                                        .product = true,
                                        .first = rows,
                                        .second = rows + 1,
                                        .pairs = is_triangle ? kinds[kind] : (weft_pairs){0}};
    random_functions_make(m);
    if (s->n_connectivities < RANDOM_MAPS && n[0] > 4 && random_maker_below(m, 4) == 0)
        make_map(m, "ends", CELLS, rows, 2);
}

static void make_operator(maker *m) {
    random_operator *op = &m->script->op;
    const int64_t n = m->script->sets[NODES].n;
    op->row_start = random_alloc((size_t)n + 1, sizeof *op->row_start);
    op->columns = random_alloc((size_t)n * 4 + 1, sizeof *op->columns);
    op->entries = random_alloc((size_t)n * 4 + 1, sizeof *op->entries);
    op->row_bound = 8;
    for (int64_t i = 0, k = 0; i < n; ++i) {
        const int length = random_maker_below(m, 5);
        op->row_start[i] = k;
        for (int j = 0; j < length; ++j, ++k) {
            op->columns[k] = (int32_t)((i + random_maker_below(m, 9) + n - 4) % n);
            op->entries[k] = random_maker_below(m, 5) - 2;
        }
        op->row_start[i + 1] = k;
    }
}

static void declare_sets(maker *m) {
    random_script *s = m->script;
    s->sets[s->n_sets++] =
        (random_set){.name = "cells", .plain = random_maker_below(m, 3) == 0, .n = make_size(m)};
    s->sets[s->n_sets++] = (random_set){.name = "nodes", .n = make_size(m) / 2 + 9};
    make_map(m, "dofs", CELLS, NODES, 3);
    if (random_maker_below(m, 2) == 0)
        make_map(m, "sides", CELLS, NODES, 1 + random_maker_below(m, 4));
    if (random_maker_below(m, 4) == 0) {
        s->sets[s->n_sets++] = (random_set){.name = "groups", .n = 5 + random_maker_below(m, 70)};
        make_map(m, "near", NODES, GROUPS, 2);
    }
    if (random_maker_below(m, 2) == 0 && s->n_connectivities < RANDOM_MAPS)
        make_map(m, "around", NODES, NODES, 2);
    if (s->flows && random_maker_below(m, 2) == 0)
        make_operator(m);
    if (s->product >= 0)
        make_matrix_sets(m);
}

static void declare(maker *m, int set, int rank, int a, int b) {
    const int list = random_list_add(m, "i", set, &(random_shape){rank, {a, b}});
    m->script->lists[list].maker = -1;
    m->target[list] = set >= 0 && (set != CELLS) && rank < 2;
}

static void declare_inputs(maker *m) {
    random_script *s = m->script;
    const int n = 2 + random_maker_below(m, 4), square = 2 + random_maker_below(m, 3);
    declare(m, CELLS, 2, square, square);
    declare(m, CELLS, 1, 3, 0);
    declare(m, NODES, 0, 0, 0); /* FIRST_OVER_NODES */
    declare(m, UNIFORM_SET, 0, 0, 0);
    if (s->op.row_start != NULL)
        declare(m, NODES, 0, 0, 0);
    if (s->flows)
        declare(m, UNIFORM_SET, 0, 0, 0);
    for (int i = 0; s->product >= 0 && i < 3; ++i) {
        declare(m, s->product, i / 2, 2, 0);
        declare(m, s->sets[s->product].first, i / 2, 2, 0);
        declare(m, s->sets[s->product].second, i / 2, 2, 0);
    }
    for (int i = 0; i < n; ++i) {
        const int set =
            random_maker_below(m, 8) == 0 ? UNIFORM_SET : random_maker_below(m, s->n_sets);
        const int rank = random_maker_below(m, set == CELLS ? 3 : 2);
        declare(m, set, rank,
                1 + random_maker_below(m, random_maker_below(m, 4) == 0 ? RANDOM_SIZE : 3),
                1 + random_maker_below(m, random_maker_below(m, 4) == 0 ? RANDOM_SIZE : 3));
    }
    s->n_inputs = s->n_lists;
}

void random_declare(maker *m) {
    declare_sets(m);
    declare_inputs(m);
}

/* ---- a matrix ---- */

static int compare_pairs(const void *a, const void *b) {
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

uint32_t *random_positions(const random_script *s, int64_t *n) {
    const random_map *map = &s->connectivities[s->matrix_map];
    const int64_t count = random_members(s, map->from) * map->width * map->width;
    const int64_t n_to = random_members(s, map->to), width = map->width;
    int64_t *pairs = random_alloc((size_t)count + 1, 2 * sizeof *pairs), *sorted = pairs + count;
    uint32_t *out = random_alloc((size_t)count + 1, sizeof *out);
    for (int64_t k = 0; k < count; ++k) {
        const int32_t *members = &map->indices[k / (width * width) * width];
        sorted[k] = pairs[k] = members[k / width % width] * n_to + members[k % width];
    }
    qsort(sorted, (size_t)count, sizeof *sorted, compare_pairs);
    *n = 0;
    for (int64_t k = 0; k < count; ++k)
        if (k == 0 || sorted[k] != sorted[*n - 1])
            sorted[(*n)++] = sorted[k];
    for (int64_t k = 0; k < count; ++k) {
        const int64_t *found =
            bsearch(&pairs[k], sorted, (size_t)*n, sizeof *sorted, compare_pairs);
        out[k] = (uint32_t)(found - sorted);
    }
    free(pairs);
    return out;
}
