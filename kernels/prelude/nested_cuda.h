//@ Kernels over a product of two index sets, for a GPU: a matrix is stored row by row, and the threads of a warp
//@ have neighbours in a row.
#define NESTED_WARPS (NESTED_THREADS / LANES)
#define UNROLL_8 _Pragma("unroll 8")
INLINE void nested_load(real *v, const scalar *p, int components, int64_t row, int64_t j, int64_t n)
{
    load_plain(v, p, components, row * n + (j < n ? j : n - 1), 0);
}
INLINE void nested_store(scalar *p, const real *v, int components, int64_t row, int64_t j, int64_t n, int lanes)
{
    if (lanes > 0)
        store_plain(p, v, components, row * n + j, 0);
}
INLINE void nested_load_one(real *v, const scalar *p, int components, int64_t i)
{
    load_plain(v, p, components, i, 0);
}
INLINE void nested_store_one(scalar *p, const real *v, int components, int64_t i)
{
    if (threadIdx.x == 0)
        store_plain(p, v, components, i, 0);
}

//@ each name; neutral
//@ add; 0
//@ multiply; 1
//@ min; __longlong_as_double(0x7ff0000000000000LL)
//@ max; -__longlong_as_double(0x7ff0000000000000LL)
INLINE void nested_clear_@name@(scalar *p, int64_t n)
{
    for (int64_t i = threadIdx.x; i < n; i += NESTED_THREADS)
        p[i] = (scalar)@neutral@;
    __syncthreads();
}
INLINE void join_@name@(real *a, const real *v, int components, int lanes)
{
    UNROLL for (int c = 0; c < components; ++c)
        a[c] = lanes > 0 ? both_@name@(a[c], v[c]) : a[c];
}
/* the sums of all threads of the block combined, in all threads */
INLINE void nested_close_@name@(real *v, const real *a, int components, scalar *tree)
{
    UNROLL for (int c = 0; c < components; ++c) {
        const scalar warp = lanes_@name@(a[c], LANES);
        __syncthreads();
        if (threadIdx.x % LANES == 0)
            tree[threadIdx.x / LANES] = warp;
        __syncthreads();
        v[c] = tree[0];
        UNROLL for (int k = 1; k < NESTED_WARPS; ++k)
            v[c] = both_@name@(v[c], tree[k]);
    }
}
/* n numbers of each of n_parts parts combined in a fixed order. A block has LANES of them: warp k combines parts
 * k, k + NESTED_WARPS, ..., then these results are combined in order. */
INLINE void nested_combine_@name@(scalar *result, const scalar *parts, int64_t n_parts, int64_t n, int64_t first)
{
    __shared__ scalar sums[NESTED_WARPS][LANES];
    scalar a = neutral_@name@();
    if (first < n) {
        UNROLL_8 for (int64_t part = threadIdx.x / LANES; part < n_parts; part += NESTED_WARPS)
            a = both_@name@(a, parts[part * n + first]);
    }
    sums[threadIdx.x / LANES][threadIdx.x % LANES] = a;
    __syncthreads();
    if (threadIdx.x < LANES && first < n) {
        for (int k = 1; k < NESTED_WARPS; ++k)
            a = both_@name@(a, sums[k][threadIdx.x]);
        result[first] = a;
    }
}

//@ end
