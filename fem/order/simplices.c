/* Sorts simplices, quadrilaterals and hexahedra by their lowest nodes. Ranges of nodes are buckets: simplices
 * are first distributed, chunk by chunk, to the bucket of their lowest node; then each bucket is
 * written back by counting, and the simplices of each node are sorted in place. Every step is
 * parallel. */
#include "fem/base/memory.h"
#include "fem/order/private.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNKS = 256, BUCKETS = 512, FEW = 64, MOST = 8 };

typedef struct simplices_sort {
    int32_t *simplices, *from;   /* given; finally the result */
    int32_t *dealt, *dealt_from; /* by buckets, renumbered */
    const int32_t *new_of;
    int64_t n, n_nodes;
    int width, shift;
    /* [CHUNKS + 1][BUCKETS]: counts, then the start of each chunk; last row: end of each bucket */
    int32_t *bucket_start;
    int32_t *node_start; /* [n_nodes] start of the simplices of a node */
} simplices_sort;

/* Sort key: nodes in ascending order, the four lowest, in two words. */
typedef struct simplex_key {
    uint64_t high, low;
} simplex_key;

/* The functions below are inlined for each width, so that their loops over vertices are unrolled. */
#define INLINE static inline __attribute__((always_inline))

INLINE void exchange(uint32_t *a, uint32_t *b) {
    const uint32_t low = *a < *b ? *a : *b;
    *b = *a < *b ? *b : *a;
    *a = low;
}

INLINE simplex_key key_of(const int32_t *nodes, int width) {
    uint32_t v[MOST] = {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX};
    memcpy(v, nodes, (size_t)width * sizeof *v);
    for (int i = 4; i < width; ++i) /* the four lowest of more nodes come first */
        for (int k = 0; k < 4; ++k)
            exchange(&v[k], &v[i]);
    exchange(&v[0], &v[1]);
    exchange(&v[2], &v[3]);
    exchange(&v[0], &v[2]);
    exchange(&v[1], &v[3]);
    exchange(&v[1], &v[2]);
    return (simplex_key){(uint64_t)v[0] << 32 | v[1], (uint64_t)v[2] << 32 | v[3]};
}

INLINE bool key_less(simplex_key a, simplex_key b) {
    return a.high < b.high || (a.high == b.high && a.low < b.low);
}

INLINE int32_t lowest(const int32_t *nodes, int width) {
    int32_t least = nodes[0];
    for (int i = 1; i < width; ++i)
        least = nodes[i] < least ? nodes[i] : least;
    return least;
}

static int64_t chunk_start(const simplices_sort *s, int64_t chunk) {
    return s->n * chunk / CHUNKS;
}

INLINE void renumber(const simplices_sort *s, int64_t i, int32_t *nodes, int width) {
    for (int k = 0; k < width; ++k)
        nodes[k] = s->new_of[s->simplices[i * width + k]];
}

INLINE void count_width(const simplices_sort *s, int64_t chunk, int width) {
    int32_t *counts = s->bucket_start + chunk * BUCKETS, nodes[MOST];
    for (int64_t i = chunk_start(s, chunk); i < chunk_start(s, chunk + 1); ++i) {
        renumber(s, i, nodes, width);
        counts[lowest(nodes, width) >> s->shift] += 1;
    }
}

static void starts_sum(simplices_sort *s) {
    int32_t *ends = s->bucket_start + CHUNKS * BUCKETS, sum = 0;
    for (int i = 0; i < CHUNKS * BUCKETS; ++i)
        ends[i % BUCKETS] += s->bucket_start[i];
    for (int bucket = 0; bucket < BUCKETS; ++bucket) {
        const int32_t count = ends[bucket];
        ends[bucket] = sum; /* for now, its start */
        sum += count;
    }
    for (int i = 0; i < CHUNKS * BUCKETS; ++i) {
        const int32_t count = s->bucket_start[i];
        s->bucket_start[i] = ends[i % BUCKETS];
        ends[i % BUCKETS] += count;
    }
}

INLINE void deal_width(const simplices_sort *s, int64_t chunk, int width) {
    int32_t *next = s->bucket_start + chunk * BUCKETS, nodes[MOST];
    for (int64_t i = chunk_start(s, chunk); i < chunk_start(s, chunk + 1); ++i) {
        renumber(s, i, nodes, width);
        const int64_t place = next[lowest(nodes, width) >> s->shift]++;
        for (int k = 0; k < width; ++k)
            s->dealt[place * width + k] = nodes[k];
        if (s->from)
            s->dealt_from[place] = (int32_t)i;
    }
}

/* Sort n <= FEW simplices by insertion of their keys. */
INLINE void sort_few(int32_t *simplices, int32_t *from, int64_t n, int width) {
    simplex_key keys[FEW];
    uint32_t order[FEW];
    int32_t old[FEW * MOST], old_from[FEW];
    for (int64_t i = 0; i < n; ++i) {
        const simplex_key key = key_of(simplices + i * width, width);
        int64_t k = i;
        for (; k > 0 && key_less(key, keys[k - 1]); --k) {
            keys[k] = keys[k - 1];
            order[k] = order[k - 1];
        }
        keys[k] = key;
        order[k] = (uint32_t)i;
    }
    memcpy(old, simplices, (size_t)(n * width) * sizeof *old);
    for (int64_t i = 0; i < n; ++i)
        memcpy(simplices + i * width, old + order[i] * (uint32_t)width,
               (size_t)width * sizeof *old);
    if (!from)
        return;
    memcpy(old_from, from, (size_t)n * sizeof *from);
    for (int64_t i = 0; i < n; ++i)
        from[i] = old_from[order[i]];
}

/* Sort any number of simplices in place: Shell's sort with the gaps of Tokuda 1992. */
INLINE void sort_many(int32_t *simplices, int32_t *from, int64_t n, int width) {
    int64_t gap = 1;
    while (gap < n / 2)
        gap = gap * 9 / 4 + 1;
    for (; gap > 0; gap = gap * 4 / 9)
        for (int64_t i = gap; i < n; ++i) {
            int32_t moved[MOST];
            const int32_t moved_from = from ? from[i] : 0;
            memcpy(moved, simplices + i * width, (size_t)width * sizeof *moved);
            const simplex_key key = key_of(moved, width);
            int64_t k = i;
            for (; k >= gap && key_less(key, key_of(simplices + (k - gap) * width, width));
                 k -= gap) {
                memcpy(simplices + k * width, simplices + (k - gap) * width,
                       (size_t)width * sizeof *moved);
                if (from)
                    from[k] = from[k - gap];
            }
            memcpy(simplices + k * width, moved, (size_t)width * sizeof *moved);
            if (from)
                from[k] = moved_from;
        }
}

INLINE void bucket_width(const simplices_sort *s, int64_t number, int width) {
    const int32_t *ends = s->bucket_start + CHUNKS * BUCKETS;
    const int64_t first = number > 0 ? ends[number - 1] : 0, last = ends[number];
    const int64_t first_node = number << s->shift;
    const int64_t end_node =
        (number + 1) << s->shift < s->n_nodes ? (number + 1) << s->shift : s->n_nodes;
    int32_t *start = s->node_start, sum = (int32_t)first;
    if (first == last)
        return;
    memset(start + first_node, 0, (size_t)(end_node - first_node) * sizeof *start);
    for (int64_t i = first; i < last; ++i)
        start[lowest(s->dealt + i * width, width)] += 1;
    for (int64_t node = first_node; node < end_node; ++node) {
        sum += start[node];
        start[node] = sum;
    }
    for (int64_t i = last - 1; i >= first; --i) {
        const int64_t place = --start[lowest(s->dealt + i * width, width)];
        memcpy(s->simplices + place * width, s->dealt + i * width,
               (size_t)width * sizeof *s->dealt);
        if (s->from)
            s->from[place] = s->dealt_from[i];
    }
    for (int64_t node = first_node; node < end_node; ++node) {
        const int64_t end = node + 1 < end_node ? start[node + 1] : last, n = end - start[node];
        int32_t *simplices = s->simplices + (int64_t)start[node] * width;
        int32_t *from = s->from ? s->from + start[node] : NULL;
        if (n > FEW)
            sort_many(simplices, from, n, width);
        else if (n > 1)
            sort_few(simplices, from, n, width);
    }
}

static void chunk_count(void *user, int64_t chunk) {
    const simplices_sort *s = user;
    s->width == 4   ? count_width(s, chunk, 4)
    : s->width == 3 ? count_width(s, chunk, 3)
    : s->width == 2 ? count_width(s, chunk, 2)
    : s->width == 1 ? count_width(s, chunk, 1)
                    : count_width(s, chunk, 8);
}

static void chunk_deal(void *user, int64_t chunk) {
    const simplices_sort *s = user;
    s->width == 4   ? deal_width(s, chunk, 4)
    : s->width == 3 ? deal_width(s, chunk, 3)
    : s->width == 2 ? deal_width(s, chunk, 2)
    : s->width == 1 ? deal_width(s, chunk, 1)
                    : deal_width(s, chunk, 8);
}

static void bucket_sort(void *user, int64_t number) {
    const simplices_sort *s = user;
    s->width == 4   ? bucket_width(s, number, 4)
    : s->width == 3 ? bucket_width(s, number, 3)
    : s->width == 2 ? bucket_width(s, number, 2)
    : s->width == 1 ? bucket_width(s, number, 1)
                    : bucket_width(s, number, 8);
}

weft_status weft_simplices_sort(weft_device *device, const weft_simplices *simplices,
                                const int32_t *new_of, int64_t n_nodes, weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n = simplices->n;
    int32_t *from = simplices->from;
    simplices_sort s = {.simplices = simplices->nodes,
                        .from = from,
                        .new_of = new_of,
                        .n = n,
                        .n_nodes = n_nodes,
                        .width = simplices->width};
    while ((n_nodes - 1) >> s.shift >= BUCKETS)
        ++s.shift;
    s.dealt = weft_scratch_make((size_t)n, (size_t)s.width * sizeof *s.dealt);
    s.node_start = weft_scratch_make((size_t)n_nodes, sizeof *s.node_start);
    s.bucket_start = calloc((CHUNKS + 1) * BUCKETS, sizeof *s.bucket_start);
    s.dealt_from = from ? weft_scratch_make((size_t)n, sizeof *s.dealt_from) : NULL;
    if (!s.dealt || !s.node_start || !s.bucket_start || (from && !s.dealt_from)) {
        status =
            weft_error_set(error, WEFT_ERROR_MEMORY, "no memory to sort %lld cells", (long long)n);
        goto done;
    }
    TRY(weft_device_for(device, CHUNKS, chunk_count, &s, error));
    starts_sum(&s);
    TRY(weft_device_for(device, CHUNKS, chunk_deal, &s, error));
    TRY(weft_device_for(device, BUCKETS, bucket_sort, &s, error));
done:
    free(s.dealt);
    free(s.node_start);
    free(s.bucket_start);
    free(s.dealt_from);
    return status;
}
