//@ How values are joined by an operator of the library: one copy for each operator and shape. The tree is that of the
//@ other operators (kernels/prelude/cuda.h), but of neighbours first, so that the order of the elements is kept; the
//@ sums of a block's threads are of consecutive partial results. fusion/codegen/combine.c has the values.
/* a operator b, into a */
INLINE void both_@name@(real *a, const real *b)
{
    real r[@count@];
    {
@combine@
    }
    UNROLL for (int c = 0; c < @count@; ++c)
        a[c] = r[c];
}
INLINE void neutral_@name@(real *r)
{
@identity@
}
INLINE void start_@name@(real *a, int n)
{
    UNROLL for (int i = 0; i < n; i += @count@)
        neutral_@name@(a + i);
}
/* Lane 0 gets what `n` lanes hold, n a power of two. */
INLINE void lanes_@name@(real *v, int n)
{
    UNROLL for (int by = 1; by < n; by *= 2) {
        real b[@count@];
        UNROLL for (int c = 0; c < @count@; ++c)
            b[c] = __shfl_down_sync(0xffffffffu, v[c], @shift@);
        both_@name@(v, b);
    }
}
/* v[k]: of element k * N_THREADS + thread; component c of the groups is at tree[c * stride]; a barrier must follow */
template <int N_THREADS, int N>
INLINE void groups_@name@(scalar *tree, const real *v, int stride)
{
    UNROLL for (int k = 0; k < N; ++k) {
        real group[@count@];
        UNROLL for (int c = 0; c < @count@; ++c)
            group[c] = v[k * @count@ + c];
        lanes_@name@(group, LANES);
        UNROLL for (int c = 0; c < @count@; ++c)
            if (threadIdx.x % LANES == 0)
                tree[c * stride + (k * N_THREADS + threadIdx.x) / LANES] = group[c];
    }
}
/* By one warp: a tile's groups joined, in lane 0. */
INLINE void chunk_@name@(real *v, const scalar *tree, int stride)
{
    UNROLL for (int c = 0; c < @count@; ++c)
        v[c] = tree[c * stride + threadIdx.x % GROUPS];
    lanes_@name@(v, GROUPS);
}
/* By one block of TILE threads: n partial results, of which each thread has consecutive ones. */
INLINE void join_partials_@name@(scalar *result, scalar *tree, const scalar *p, int components, int64_t n)
{
    const int64_t each = (n + TILE - 1) / TILE, first = threadIdx.x * each;
    real sum[@count@], next[@count@];
    neutral_@name@(sum);
    for (int64_t i = first; i < n && i < first + each; ++i) {
        load_uniform(next, p + i * components, components);
        both_@name@(sum, next);
    }
    groups_@name@<TILE, 1>(tree, sum, GROUPS);
    __syncthreads();
    if (threadIdx.x < LANES) {
        chunk_@name@(sum, tree, GROUPS);
        UNROLL for (int c = 0; c < @count@; ++c)
            if (threadIdx.x == 0)
                result[c] = sum[c];
    }
    __syncthreads();
}
INLINE void finish_@name@(scalar *result, scalar *tree, const scalar *p, int components, int64_t n_elements)
{
    finish<join_partials_@name@>(result, tree, p, components, n_elements);
}
INLINE void finish_part_@name@(scalar *tree, scalar *p, int components, int64_t n_elements, int64_t b)
{
    finish_part<join_partials_@name@>(tree, p, components, n_elements, b);
}

