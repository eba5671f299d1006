//@ What kernels over a product of two index sets (nested_cuda.h) need of a commutative operator of the library.
INLINE void nested_clear_@name@(scalar *p, int64_t n)
{
    real one[@count@];
    neutral_@name@(one);
    for (int64_t i = threadIdx.x * @count@; i < n; i += NESTED_THREADS * @count@)
        store_plain(p + i, one, @count@, 0, 0);
    __syncthreads();
}
INLINE void join_@name@(real *a, const real *v, int, int lanes)
{
    if (lanes > 0)
        both_@name@(a, v);
}
/* the values of all threads of the block combined, in all threads */
INLINE void nested_close_@name@(real *v, const real *a, int components, scalar *)
{
    __shared__ scalar warps[NESTED_WARPS][@count@];
    real all[@count@], next[@count@];
    load_uniform(all, a, components);
    lanes_@name@(all, LANES);
    __syncthreads();
    if (threadIdx.x % LANES == 0)
        store_plain(warps[threadIdx.x / LANES], all, components, 0, 0);
    __syncthreads();
    load_uniform(v, warps[0], components);
    UNROLL for (int k = 1; k < NESTED_WARPS; ++k) {
        load_uniform(next, warps[k], components);
        both_@name@(v, next);
    }
}
/* the value that begins at a number, of all parts, combined in order by one thread */
INLINE void nested_combine_@name@(scalar *result, const scalar *parts, int64_t n_parts, int64_t n, int64_t first)
{
    real a[@count@], next[@count@];
    if (threadIdx.x >= LANES || first >= n || first % @count@ != 0)
        return;
    neutral_@name@(a);
    for (int64_t part = 0; part < n_parts; ++part) {
        load_uniform(next, parts + part * n + first, @count@);
        both_@name@(a, next);
    }
    store_plain(result + first, a, @count@, 0, 0);
}

