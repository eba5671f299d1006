/* Recursive coordinate bisection (fem/order/bisection.c): for each axis a list of all nodes, in which the ranges of
 * nodes follow each other and each range is sorted along that axis. So the box of a range is known from the ends of
 * its lists, its median from their middle, and dividing all ranges is one stable partition of each list. */
#define ATOM 32 /* nodes of a range that is not divided */
#define BOX_BLOCKS 1024
#define PART_EACH 8
#define PART_TILE (SETUP_THREADS * PART_EACH)

/* sizes: dimension.  out [blocks][2][3]: least and greatest coordinates, halved, so that differences do not overflow */
extern "C" __global__ void extents(long long n, const int64_t *sizes, const double *x, double *out)
{
    __shared__ double low[SETUP_THREADS], high[SETUP_THREADS];
    const int me = (int)threadIdx.x, d = (int)sizes[0];
    for (int c = 0; c < d; ++c) {
        low[me] = 1e308;
        high[me] = -1e308;
        for (int64_t i = element(); i < n; i += (int64_t)gridDim.x * SETUP_THREADS) {
            const double v = 0.5 * x[i * d + c];
            low[me] = v < low[me] ? v : low[me];
            high[me] = v > high[me] ? v : high[me];
        }
        for (int by = SETUP_THREADS / 2; by > 0; by /= 2) {
            __syncthreads();
            if (me < by && low[me + by] < low[me])
                low[me] = low[me + by];
            if (me < by && high[me + by] > high[me])
                high[me] = high[me + by];
        }
        if (me == 0) {
            out[blockIdx.x * 6 + c] = low[0];
            out[blockIdx.x * 6 + 3 + c] = high[0];
        }
        __syncthreads();
    }
}

/* Coordinates in units of 2^-32 of the extent, without fused operations, as on the host.  box: low[3], scale.
 * q [dimension][n] */
extern "C" __global__ void points(long long n, const int64_t *sizes, const double *x, const double *box, uint32_t *q)
{
    const int64_t i = element(), d = sizes[0];
    if (i >= n)
        return;
    for (int64_t c = 0; c < d; ++c)
        q[c * n + i] =
            (uint32_t)__dadd_rn(__dmul_rn(__dadd_rn(0.5 * x[i * d + c], -box[c]), box[3]), 0.5);
}

/* n: ranges.  sizes: dimension, nodes; axis [n]: the first of the longest sides of each range's box */
extern "C" __global__ void range_axes(long long n, const int64_t *sizes, const int32_t *start, const uint32_t *q,
                                      const int32_t *list_x, const int32_t *list_y, const int32_t *list_z,
                                      unsigned char *axis)
{
    const int64_t r = element(), d = sizes[0], n_nodes = sizes[1];
    if (r >= n)
        return;
    const int32_t first = start[r], last = start[r + 1] - 1;
    uint32_t longest = 0;
    axis[r] = 0;
    for (int c = 0; c < d && first <= last; ++c) {
        const int32_t *list = c == 0 ? list_x : c == 1 ? list_y : list_z;
        const uint32_t length = q[c * n_nodes + list[last]] - q[c * n_nodes + list[first]];
        if (length > longest) {
            longest = length;
            axis[r] = (unsigned char)c;
        }
    }
}

/* Divide range r into 2 r and 2 r + 1, a range of at most ATOM nodes into itself and an empty one.  n: ranges.
 * sizes: leaf.  lefts [n]: nodes of range 2 r; next [2 n + 1] */
extern "C" __global__ void range_halves(long long n, const int64_t *sizes, const int32_t *start, uint32_t *lefts,
                                        int32_t *next)
{
    const int64_t r = element(), leaf = sizes[0];
    if (r >= n)
        return;
    const int64_t first = start[r], last = start[r + 1], count = last - first;
    const int64_t unit = count > leaf ? leaf : ATOM;
    const int64_t left = count > ATOM ? (count + unit - 1) / unit / 2 * unit : count;
    lefts[r] = (uint32_t)left;
    next[2 * r] = (int32_t)first;
    next[2 * r + 1] = (int32_t)(first + left);
    if (r == n - 1)
        next[2 * n] = (int32_t)last;
}

/* The same for ranges of which each becomes a given number of sets: the first half gets half of them, and nodes in proportion; a
 * range of one set stays.  sets [n]; next_sets [2 n]: those of the halves, 0 of empty ones */
extern "C" __global__ void range_sets(long long n, const uint32_t *sets, const int32_t *start, uint32_t *lefts,
                                      int32_t *next, uint32_t *next_sets)
{
    const int64_t r = element();
    if (r >= n)
        return;
    const int64_t first = start[r], last = start[r + 1], own = sets[r], half = own > 1 ? own / 2 : own;
    const int64_t left = own > 1 ? (last - first) * half / own : last - first;
    lefts[r] = (uint32_t)left;
    next[2 * r] = (int32_t)first;
    next[2 * r + 1] = (int32_t)(first + left);
    next_sets[2 * r] = (uint32_t)half;
    next_sets[2 * r + 1] = (uint32_t)(own - half);
    if (r == n - 1)
        next[2 * n] = (int32_t)last;
}

/* n: nodes.  next: of range_halves or range_sets.  range [n]: of a place, becomes the half; sides [n]: of a node, 1: the second */
extern "C" __global__ void part_sides(long long n, const int32_t *next, const unsigned char *axis,
                                      const int32_t *list_x, const int32_t *list_y, const int32_t *list_z,
                                      uint32_t *range, unsigned char *sides)
{
    const int64_t i = element();
    if (i >= n)
        return;
    const uint32_t r = range[i];
    const int32_t *list = axis[r] == 0 ? list_x : axis[r] == 1 ? list_y : list_z;
    const uint32_t side = i >= next[2 * (int64_t)r + 1];
    sides[list[i]] = (unsigned char)side;
    range[i] = 2 * r + side;
}

/* The places of a thread in the list of its block; returns how many of them are in first halves. */
INLINE int64_t own_sides(int64_t n, int64_t first, const int32_t *list, const unsigned char *sides, int32_t *own,
                         bool *is_second)
{
    int64_t count = 0;
    UNROLL for (int k = 0; k < PART_EACH; ++k) {
        own[k] = first + k < n ? list[first + k] : -1;
        is_second[k] = own[k] < 0 || sides[own[k]] != 0;
        count += !is_second[k];
    }
    return count;
}

/* The block's list, and the place of the thread's first item; blocks: tiles of the first list, of the second ... */
INLINE const int32_t *own_list(int64_t n, const int32_t *x, const int32_t *y, const int32_t *z, int64_t *first,
                               int *which)
{
    const int64_t n_tiles = (n + PART_TILE - 1) / PART_TILE;
    *which = (int)(blockIdx.x / n_tiles);
    *first = blockIdx.x % n_tiles * PART_TILE + threadIdx.x * PART_EACH;
    return *which == 0 ? x : *which == 1 ? y : z;
}

/* counts [blocks]: of items in first halves */
extern "C" __global__ void part_counts(long long n, const int32_t *list_x, const int32_t *list_y, const int32_t *list_z,
                                       const unsigned char *sides, int64_t *counts)
{
    int64_t first, all;
    int which;
    int32_t own[PART_EACH];
    bool is_second[PART_EACH];
    const int32_t *list = own_list(n, list_x, list_y, list_z, &first, &which);
    (void)block_sum_before(own_sides(n, first, list, sides, own, is_second), &all);
    if (threadIdx.x == 0)
        counts[blockIdx.x] = all;
}

/* Move first halves to the front of each range, in all lists.  counts: their exclusive sums; lefts [ranges + 1]: the
 * exclusive sums of those of range_halves; range: already that of the halves */
extern "C" __global__ void part_move(long long n, const int32_t *next, const int64_t *lefts,
                                     const uint32_t *range, const unsigned char *sides, const int64_t *counts,
                                     const int32_t *list_x, const int32_t *list_y, const int32_t *list_z,
                                     int32_t *out_x, int32_t *out_y, int32_t *out_z)
{
    int64_t first, all;
    int which;
    int32_t own[PART_EACH];
    bool is_second[PART_EACH];
    const int32_t *list = own_list(n, list_x, list_y, list_z, &first, &which);
    int32_t *out = which == 0 ? out_x : which == 1 ? out_y : out_z;
    const int64_t mine = own_sides(n, first, list, sides, own, is_second);
    const int64_t all_lefts = lefts[range[n - 1] / 2 + 1];
    int64_t before = counts[blockIdx.x] - which * all_lefts + block_sum_before(mine, &all);
    UNROLL for (int k = 0; k < PART_EACH; ++k) {
        const int64_t i = first + k;
        if (i >= n)
            return;
        const int64_t r = range[i] / 2, start = next[2 * r], in_range = before - lefts[r];
        out[is_second[k] ? next[2 * r + 1] + (i - start) - in_range : start + in_range] = own[k];
        before += !is_second[k];
    }
}

/* old [n]: each range in the order of its longest axis */
extern "C" __global__ void take_lists(long long n, const uint32_t *range, const unsigned char *axis,
                                      const int32_t *list_x, const int32_t *list_y, const int32_t *list_z, int32_t *old)
{
    const int64_t i = element();
    if (i >= n)
        return;
    const int a = axis[range[i]];
    old[i] = (a == 0 ? list_x : a == 1 ? list_y : list_z)[i];
}
