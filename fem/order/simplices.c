/* Sorts simplices by their lowest node, then by the others. Ranges of nodes are buckets: simplices
 * are first distributed, share by share, to the bucket of their lowest node; then each bucket is
 * sorted by counting. Every step is parallel. */
#include "fem/base/memory.h"
#include "fem/order/private.h"

#include <stdlib.h>
#include <string.h>

enum { SHARES = 256, BUCKETS = 512, FEW = 64 };

typedef struct simplices_sort {
    int32_t *simplices, *moved, *from, *moved_from;
    const int32_t *new_of;
    int64_t n, n_nodes;
    int width, shift;
    int32_t *bucket_start; /* [SHARES + 1][BUCKETS]: counts, then the start of each share; last row:
                              end of each bucket */
    int32_t *node_start;   /* [n_nodes] start within the simplices of a bucket */
    int32_t *order;        /* [n] sorted permutation within each bucket */
} simplices_sort;

/* Sort key: nodes in ascending order, in two words. */
typedef struct simplex_key {
    uint64_t high, low;
} simplex_key;

static simplex_key key_of(const int32_t *nodes, int width) {
    uint32_t sorted[4] = {0};
    for (int i = 0; i < width; ++i) {
        int k = i;
        for (; k > 0 && sorted[k - 1] > (uint32_t)nodes[i]; --k)
            sorted[k] = sorted[k - 1];
        sorted[k] = (uint32_t)nodes[i];
    }
    return (simplex_key){(uint64_t)sorted[0] << 32 | sorted[1],
                         (uint64_t)sorted[2] << 32 | sorted[3]};
}

static bool key_less(simplex_key a, simplex_key b) {
    return a.high < b.high || (a.high == b.high && a.low < b.low);
}

static int32_t lowest(const int32_t *nodes, int width) {
    int32_t least = nodes[0];
    for (int i = 1; i < width; ++i)
        least = nodes[i] < least ? nodes[i] : least;
    return least;
}

static int64_t share_start(const simplices_sort *s, int64_t share) {
    return s->n * share / SHARES;
}

static void share_map(void *user, int64_t share) {
    const simplices_sort *s = user;
    int32_t *counts = s->bucket_start + share * BUCKETS;
    for (int64_t i = share_start(s, share); i < share_start(s, share + 1); ++i) {
        int32_t *out = s->moved + i * s->width;
        for (int k = 0; k < s->width; ++k)
            out[k] = s->new_of[s->simplices[i * s->width + k]];
        counts[lowest(out, s->width) >> s->shift] += 1;
    }
}

static void starts_sum(simplices_sort *s) {
    int32_t sum = 0;
    for (int bucket = 0; bucket < BUCKETS; ++bucket) {
        for (int share = 0; share < SHARES; ++share) {
            int32_t *start = &s->bucket_start[share * BUCKETS + bucket];
            int32_t count = *start;
            *start = sum;
            sum += count;
        }
        s->bucket_start[SHARES * BUCKETS + bucket] = sum;
    }
}

static void share_deal(void *user, int64_t share) {
    const simplices_sort *s = user;
    int32_t *next = s->bucket_start + share * BUCKETS;
    for (int64_t i = share_start(s, share); i < share_start(s, share + 1); ++i) {
        const int32_t *nodes = s->moved + i * s->width;
        int64_t place = next[lowest(nodes, s->width) >> s->shift]++;
        for (int k = 0; k < s->width; ++k)
            s->simplices[place * s->width + k] = nodes[k];
        if (s->from)
            s->from[place] = (int32_t)i;
    }
}

typedef struct weft_bucket {
    const int32_t *simplices;
    int width;
} weft_bucket;

static int compare_simplices(const void *a, const void *b, void *user) {
    const weft_bucket *bucket = user;
    int32_t i = *(const int32_t *)a, j = *(const int32_t *)b;
    simplex_key x = key_of(bucket->simplices + (int64_t)i * bucket->width, bucket->width);
    simplex_key y = key_of(bucket->simplices + (int64_t)j * bucket->width, bucket->width);
    if (key_less(x, y) || key_less(y, x))
        return key_less(x, y) ? -1 : 1;
    return (i > j) - (i < j);
}

/* Sort the simplices with the same lowest node. */
static void sort_few(const weft_bucket *bucket, int32_t *order, int64_t n) {
    simplex_key keys[FEW];
    if (n > FEW) {
        qsort_r(order, (size_t)n, sizeof *order, compare_simplices,
                &(weft_bucket){bucket->simplices, bucket->width});
        return;
    }
    for (int64_t i = 0; i < n; ++i) {
        int32_t moved = order[i];
        simplex_key key = key_of(bucket->simplices + (int64_t)moved * bucket->width, bucket->width);
        int64_t k = i;
        for (; k > 0 && key_less(key, keys[k - 1]); --k) {
            keys[k] = keys[k - 1];
            order[k] = order[k - 1];
        }
        keys[k] = key;
        order[k] = moved;
    }
}

static void bucket_sort(void *user, int64_t number) {
    const simplices_sort *s = user;
    const int32_t *ends = s->bucket_start + SHARES * BUCKETS;
    int64_t first = number > 0 ? ends[number - 1] : 0, n = ends[number] - first;
    int64_t first_node = number << s->shift, end_node = (number + 1) << s->shift;
    const weft_bucket bucket = {s->simplices + first * s->width, s->width};
    int32_t *start = s->node_start, *order = s->order + first, sum = 0;
    if (n == 0)
        return;
    if (end_node > s->n_nodes)
        end_node = s->n_nodes;
    memset(start + first_node, 0, (size_t)(end_node - first_node) * sizeof *start);
    for (int64_t i = 0; i < n; ++i)
        start[lowest(bucket.simplices + i * s->width, s->width)] += 1;
    for (int64_t node = first_node; node < end_node; ++node) {
        sum += start[node];
        start[node] = sum;
    }
    for (int64_t i = n - 1; i >= 0; --i)
        order[--start[lowest(bucket.simplices + i * s->width, s->width)]] = (int32_t)i;
    for (int64_t node = first_node; node < end_node; ++node) {
        int64_t end = node + 1 < end_node ? start[node + 1] : n;
        sort_few(&bucket, order + start[node], end - start[node]);
    }
    for (int64_t i = 0; i < n; ++i) {
        for (int k = 0; k < s->width; ++k)
            s->moved[(first + i) * s->width + k] = bucket.simplices[order[i] * s->width + k];
        if (s->from)
            s->moved_from[first + i] = s->from[first + order[i]];
    }
    memcpy(s->simplices + first * s->width, s->moved + first * s->width,
           (size_t)(n * s->width) * sizeof *s->simplices);
    if (s->from)
        memcpy(s->from + first, s->moved_from + first, (size_t)n * sizeof *s->from);
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
    s.moved = weft_scratch_make((size_t)n, (size_t)s.width * sizeof *s.moved);
    s.order = weft_scratch_make((size_t)n, sizeof *s.order);
    s.node_start = weft_scratch_make((size_t)n_nodes, sizeof *s.node_start);
    s.bucket_start = calloc((SHARES + 1) * BUCKETS, sizeof *s.bucket_start);
    s.moved_from = from ? weft_scratch_make((size_t)n, sizeof *s.moved_from) : NULL;
    if (!s.moved || !s.order || !s.node_start || !s.bucket_start || (from && !s.moved_from)) {
        status =
            weft_error_set(error, WEFT_ERROR_MEMORY, "no memory to sort %lld cells", (long long)n);
        goto done;
    }
    TRY(weft_device_for(device, SHARES, share_map, &s, error));
    starts_sum(&s);
    TRY(weft_device_for(device, SHARES, share_deal, &s, error));
    TRY(weft_device_for(device, BUCKETS, bucket_sort, &s, error));
done:
    free(s.moved);
    free(s.order);
    free(s.node_start);
    free(s.bucket_start);
    free(s.moved_from);
    return status;
}
