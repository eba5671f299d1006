/* Splits a range of points at its k-th lowest along the longest axis of the bounding box. */
#include "fem/order/bisection.h"

#include <string.h>

enum { FEW = 192 }; /* up to this many points selection is cheaper than a histogram */

/* Sort key along an axis: this coordinate and the first tie-breaker in one word. */
static uint64_t key_of(const weft_point *p, int axis) {
    return (uint64_t)p->q[axis] << 32 | p->q[axis == 2 ? 0 : axis + 1];
}

static bool tie_less(const weft_point *a, const weft_point *b, int axis) {
    int last = axis == 0 ? 2 : axis - 1;
    return a->q[last] != b->q[last] ? a->q[last] < b->q[last] : a->node < b->node;
}

static bool less(const weft_point *a, const weft_point *b, int axis) {
    uint64_t x = key_of(a, axis), y = key_of(b, axis);
    return x < y || (x == y && tie_less(a, b, axis));
}

/* A point as a vector; its node is compared too, which costs nothing. */
typedef uint32_t point_vector __attribute__((vector_size(sizeof(weft_point))));

static void box_of(const weft_point *points, int64_t n, uint32_t low[3], uint32_t high[3]) {
    point_vector l = ~(point_vector){0}, h = {0}, q;
    for (int64_t i = 0; i < n; ++i) {
        memcpy(&q, &points[i], sizeof q);
        const point_vector below = (point_vector)(q < l), above = (point_vector)(q > h);
        l = (q & below) | (l & ~below);
        h = (q & above) | (h & ~above);
    }
    memcpy(low, &l, 3 * sizeof *low);
    memcpy(high, &h, 3 * sizeof *high);
}

static int longest_axis(const uint32_t low[3], const uint32_t high[3]) {
    int axis = 0;
    for (int c = 1; c < 3; ++c)
        if (high[c] - low[c] > high[axis] - low[axis])
            axis = c;
    return axis;
}

static void swap_points(weft_point *a, weft_point *b) {
    weft_point moved = *a;
    *a = *b;
    *b = moved;
}

static void sort_along(weft_point *points, int64_t n, int axis) {
    for (int64_t i = 1; i < n; ++i) {
        weft_point moved = points[i];
        int64_t k = i;
        for (; k > 0 && less(&moved, &points[k - 1], axis); --k)
            points[k] = points[k - 1];
        points[k] = moved;
    }
}

/* Move the k-th point to index k, lower ones before it: Hoare's selection. The pivot is the median
 * of nine points spread over the range, to avoid bad cases for common orders of points. */
static void select_point(weft_point *points, int64_t n, int64_t k, int axis) {
    int64_t first = 0, last = n - 1;
    while (last - first > 16) {
        weft_point sample[9];
        for (int i = 0; i < 9; ++i)
            sample[i] = points[first + (last - first) * i / 8];
        sort_along(sample, 9, axis);
        const weft_point pivot = sample[4];
        int64_t i = first, j = last;
        while (i <= j) {
            while (less(&points[i], &pivot, axis))
                ++i;
            while (less(&pivot, &points[j], axis))
                --j;
            if (i <= j)
                swap_points(&points[i++], &points[j--]);
        }
        if (k <= j)
            last = j;
        else if (k >= i)
            first = i;
        else
            return;
    }
    sort_along(points + first, last - first + 1, axis);
}

/* ---- passes over a range, parallel over its chunks ------------------------------------------ */

static int64_t chunk_start(const weft_split *s, int64_t chunk) {
    return s->n * chunk / s->n_chunks;
}

static void chunk_box(void *user, int64_t chunk) {
    const weft_split *s = user;
    int64_t first = chunk_start(s, chunk), last = chunk_start(s, chunk + 1);
    box_of(s->from + first, last - first, s->chunks[chunk].low, s->chunks[chunk].high);
}

static int bin_of(const weft_split *s, const weft_point *p) {
    return (int)((p->q[s->axis] - s->low) >> s->shift);
}

static void chunk_count(void *user, int64_t chunk) {
    const weft_split *s = user;
    int32_t *bins = s->chunks[chunk].bins;
    memset(bins, 0, WEFT_SPLIT_BINS * sizeof *bins);
    for (int64_t i = chunk_start(s, chunk); i < chunk_start(s, chunk + 1); ++i)
        bins[bin_of(s, &s->from[i])] += 1;
}

static void chunk_gather(void *user, int64_t chunk) {
    const weft_split *s = user;
    int64_t place = 0;
    for (int64_t before = 0; before < chunk; ++before)
        place += s->chunks[before].bins[s->bin];
    /* Branch-free: the next element is always written, and kept if it is in the bin. */
    int64_t end = place + s->chunks[chunk].bins[s->bin];
    for (int64_t i = chunk_start(s, chunk); place < end; ++i) {
        s->to[place] = s->from[i];
        place += bin_of(s, &s->from[i]) == s->bin;
    }
}

static void chunk_less(void *user, int64_t chunk) {
    const weft_split *s = user;
    const weft_point pivot = s->pivot;
    int32_t n = 0;
    for (int64_t i = chunk_start(s, chunk); i < chunk_start(s, chunk + 1); ++i)
        n += less(&s->from[i], &pivot, s->axis);
    s->chunks[chunk].less = n;
}

static void chunk_move(void *user, int64_t chunk) {
    const weft_split *s = user;
    const weft_point pivot = s->pivot;
    int64_t first = chunk_start(s, chunk), left = 0;
    for (int64_t before = 0; before < chunk; ++before)
        left += s->chunks[before].less;
    int64_t right = s->k + first - left;
    for (int64_t i = first; i < chunk_start(s, chunk + 1); ++i) {
        bool goes_left = less(&s->from[i], &pivot, s->axis);
        s->to[goes_left ? left : right] = s->from[i];
        left += goes_left;
        right += !goes_left;
    }
}

static void find_axis(weft_split *s) {
    uint32_t low[3], high[3];
    memcpy(low, s->chunks[0].low, sizeof low);
    memcpy(high, s->chunks[0].high, sizeof high);
    for (int64_t i = 1; i < s->n_chunks; ++i)
        for (int c = 0; c < 3; ++c) {
            low[c] = s->chunks[i].low[c] < low[c] ? s->chunks[i].low[c] : low[c];
            high[c] = s->chunks[i].high[c] > high[c] ? s->chunks[i].high[c] : high[c];
        }
    s->axis = longest_axis(low, high);
    s->low = low[s->axis];
    s->shift = 0;
    while ((high[s->axis] - s->low) >> s->shift >= WEFT_SPLIT_BINS)
        ++s->shift;
}

/* Find the bin of the k-th point. Returns the point's rank within the bin. */
static int64_t find_bin(weft_split *s, int64_t *n_bin) {
    int64_t before = 0;
    for (s->bin = 0;; ++s->bin) {
        *n_bin = 0;
        for (int64_t i = 0; i < s->n_chunks; ++i)
            *n_bin += s->chunks[i].bins[s->bin];
        if (before + *n_bin > s->k)
            return s->k - before;
        before += *n_bin;
    }
}

static void split_few(weft_split *s) {
    uint32_t low[3], high[3];
    memcpy(s->to, s->from, (size_t)s->n * sizeof *s->to);
    box_of(s->to, s->n, low, high);
    select_point(s->to, s->n, s->k, longest_axis(low, high));
}

void weft_split_range(weft_device *device, weft_split *s) {
    weft_split_chunk own;
    if (s->n <= FEW) {
        split_few(s);
        return;
    }
    if (!device) {
        s->chunks = &own;
        s->n_chunks = 1;
    }
    (void)weft_device_for(device, s->n_chunks, chunk_box, s, NULL);
    find_axis(s);
    (void)weft_device_for(device, s->n_chunks, chunk_count, s, NULL);
    int64_t n_bin, of_bin = find_bin(s, &n_bin);
    (void)weft_device_for(device, s->n_chunks, chunk_gather, s, NULL);
    select_point(s->to, n_bin, of_bin, s->axis);
    s->pivot = s->to[of_bin];
    if (s->n_chunks > 1)
        (void)weft_device_for(device, s->n_chunks, chunk_less, s, NULL);
    (void)weft_device_for(device, s->n_chunks, chunk_move, s, NULL);
}

void weft_points_sort(weft_point *points, int64_t n) {
    uint32_t low[3], high[3];
    box_of(points, n, low, high);
    sort_along(points, n, longest_axis(low, high));
}
