//@ The prelude of a GPU's kernels: one thread per element, `real` is a scalar, a warp's elements are the lanes of
//@ a block of interleaved data, so that its threads read neighbouring words. Accumulating stores are atomic, or
//@ plain where a launch is a colour of elements. fusion/base/prelude.h says what the lines that start with two
//@ slashes and an at sign do, and the names between at signs; fusion/codegen/target_cuda.c has the values.
#ifdef __CUDACC_RTC__ /* which has no <stdint.h> */
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long long int64_t;
typedef unsigned long long uint64_t;
#else
#include <stdint.h>
#endif

#define LANES @lanes@
#define THREADS @threads@
#define TILE @chunk@ /* elements a partial result of a reduction */
typedef @scalar@ scalar;
typedef scalar real;
#define restrict __restrict__
#define KERNEL extern "C" __global__ void __launch_bounds__(THREADS)
#define FINISH extern "C" __global__ void __launch_bounds__(TILE) /* one thread block */
#define ROWS_KERNEL extern "C" __global__ void __launch_bounds__(ROWS_BOUNDS)
#define BLOCK_KERNEL(N) extern "C" __global__ void __launch_bounds__(N)
#define MULTI_THREAD_KERNEL extern "C" __global__ void __launch_bounds__(THREADS_PER_ELEMENT * ELEMENTS)
#define INLINE static __device__ __forceinline__
#define UNROLL _Pragma("unroll")
#define SPLAT(e) ((real)(e))

/* A subscript of an operand of a native body; cuda_on_host.h checks it in the emulation. */
#ifndef NATIVE_AT
#define NATIVE_AT(number, holds, name, thread) (number)
#endif

/* A large table, whose numbers are read and not part of the code. */
#define TABLE(numbers) (numbers)

/* f(i) for n values of a thread: more than its registers hold are in memory, where a loop compiles faster. */
enum { MOST_UNROLLED = 512 };
template <class Function> INLINE void each_value(int n, Function f)
{
    if (n > MOST_UNROLLED) {
        _Pragma("unroll 1") for (int i = 0; i < n; ++i)
            f(i);
        return;
    }
    UNROLL for (int i = 0; i < n; ++i)
        f(i);
}

/* interleaved lists: [block][component][lane] */
INLINE void load_block(real *v, const scalar *p, int components)
{
    each_value(components, [=](int c) { v[c] = p[c * LANES]; });
}

/* a number in place of an array of which one entry is read */
struct number_at {
    real value;
    __device__ __forceinline__ real operator[](int) const
    {
        return value;
    }
};

/* plain lists: [element][component] */
template <class S> INLINE void load_plain(real *v, const S *p, int components, int64_t element, int64_t)
{
    each_value(components, [=](int c) { v[c] = (real)p[element * components + c]; });
}

/* n numbers, which the block's threads will ask for: into the L2 cache */
INLINE void fetch_rows(const scalar *p, int64_t n)
{
#ifdef __CUDA_ARCH__
    for (int64_t i = threadIdx.x * 16; i < n; i += blockDim.x * 16)
        asm volatile("prefetch.global.L2 [%0];" :: "l"(p + i));
#endif
}

/* plain lists through a connectivity: v[vertex][component] */
INLINE void load_indirect(real *v, const scalar *p, const int32_t *map, int width, int components)
{
    UNROLL for (int a = 0; a < width; ++a) {
        const int64_t i = map[a * LANES];
        UNROLL for (int c = 0; c < components; ++c)
            v[a * components + c] = p[i * components + c];
    }
}

INLINE void load_uniform(real *v, const scalar *p, int components)
{
    for (int c = 0; c < components; ++c)
        v[c] = p[c];
}

INLINE void store_block(scalar *p, const real *v, int components, int)
{
    each_value(components, [=](int c) { p[c * LANES] = v[c]; });
}

INLINE void store_plain(scalar *p, const real *v, int components, int64_t element, int64_t)
{
    each_value(components, [=](int c) { p[element * components + c] = v[c]; });
}

INLINE void add_indirect(scalar *p, const int32_t *map, const real *v, int width, int components, int)
{
    UNROLL for (int a = 0; a < width; ++a) {
        const int64_t i = map[a * LANES];
        UNROLL for (int c = 0; c < components; ++c)
            atomicAdd(&p[i * components + c], v[a * components + c]);
    }
}

INLINE void add_matrix(scalar *p, const uint32_t *positions, const real *v, int entries, int)
{
    each_value(entries, [=](int k) { atomicAdd(&p[positions[k * LANES]], v[k]); });
}

/* where no other element of the launch has these targets */
INLINE void add_indirect_alone(scalar *p, const int32_t *map, const real *v, int width, int components, int)
{
    UNROLL for (int a = 0; a < width; ++a) {
        const int64_t i = map[a * LANES];
        UNROLL for (int c = 0; c < components; ++c)
            p[i * components + c] += v[a * components + c];
    }
}

INLINE void add_matrix_alone(scalar *p, const uint32_t *positions, const real *v, int entries, int)
{
    each_value(entries, [=](int k) { p[positions[k * LANES]] += v[k]; });
}

/* [component] of an element in device memory */
template <int STRIDE> struct stored_list {
    scalar *p;
    __device__ __forceinline__ scalar &operator[](int c) const { return p[c * STRIDE]; }
};

//@ Several threads per element: a list in shared memory, and loads and stores that its warps share.
/* [component][element of the block], from the thread's own element on */
template <int ELEMENTS_> struct shared_list {
    scalar *p;
    __device__ __forceinline__ scalar &operator[](int c) const { return p[c * ELEMENTS_]; }
};
template <int N_THREADS, class List> INLINE void spread_load_block(List v, const scalar *p, int components, int warp)
{
    UNROLL for (int c = warp; c < components; c += N_THREADS)
        v[c] = p[c * LANES];
}
template <int N_THREADS, class List> INLINE void spread_load_plain(List v, const scalar *p, int components, int64_t element, int warp)
{
    UNROLL for (int c = warp; c < components; c += N_THREADS)
        v[c] = p[element * components + c];
}
template <int N_THREADS, class List> INLINE void spread_load_indirect(List v, const scalar *p, const int32_t *map, int width, int components, int warp)
{
    UNROLL for (int k = warp; k < width * components; k += N_THREADS)
        v[k] = p[(int64_t)map[k / components * LANES] * components + k % components];
}
template <int N_THREADS, class List> INLINE void spread_store_block(scalar *p, List v, int components, int warp)
{
    UNROLL for (int c = warp; c < components; c += N_THREADS)
        p[c * LANES] = v[c];
}
template <int N_THREADS, class List> INLINE void spread_store_plain(scalar *p, List v, int components, int64_t element, int warp)
{
    UNROLL for (int c = warp; c < components; c += N_THREADS)
        p[element * components + c] = v[c];
}
template <int N_THREADS, class List> INLINE void spread_add_indirect(scalar *p, const int32_t *map, List v, int width, int components, int warp)
{
    UNROLL for (int k = warp; k < width * components; k += N_THREADS)
        atomicAdd(&p[(int64_t)map[k / components * LANES] * components + k % components], v[k]);
}
template <int N_THREADS, class List> INLINE void spread_add_matrix(scalar *p, const uint32_t *positions, List v, int entries, int warp)
{
    UNROLL for (int k = warp; k < entries; k += N_THREADS)
        atomicAdd(&p[positions[k * LANES]], v[k]);
}

/* Waits for the end of the kernels before this one, which a launch with weft_launch.waits does not do. */
INLINE void wait_for_kernels()
{
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
#define weft_infinity ((scalar)__longlong_as_double(0x7ff0000000000000LL))
#define weft_select(c, a, b) ((c) ? (real)(a) : (real)(b))
/* from 20 bits to all, but a last one or two; 1/0 is not a number */
INLINE double weft_reciprocal(double x)
{
    double r;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(x));
    const double e = fma(-x, r, 1.0);
    return fma(r, fma(e, e, e), r);
}
INLINE float weft_reciprocal(float x) { return 1 / x; }
INLINE real weft_powi(real x, int n)
{
    real r = 1;
    UNROLL for (int k = n < 0 ? -n : n; k > 0; k >>= 1) {
        if (k & 1)
            r *= x;
        x *= x;
    }
    return n < 0 ? 1 / r : r;
}
@functions@

//@ How contributions become one. A tile of TILE consecutive elements is a partial result: the contributions
//@ of a warp's elements are joined by halves between lanes, then what these give, again by halves. Partial
//@ results are dealt out to TILE sums, which are joined as a tile is; more than DIRECT of them by several blocks, of
//@ JOINED each, before. So the tree depends on the number of elements alone, not on how many threads a block has.
#define GROUPS (TILE / LANES) /* of a tile: a warp's worth of elements each */
#define TOGETHER 20 /* partial results that a thread waits for at once */
#define DIRECT @direct@
#define JOINED @joined@

/* What joins n partial results, by one block of TILE threads. */
typedef void (*join_partials)(scalar *result, scalar *tree, const scalar *p, int components, int64_t n);
/* By one block of TILE threads: all partial results of n_elements elements. */
template <join_partials JOIN>
INLINE void finish(scalar *result, scalar *tree, const scalar *p, int components, int64_t n_elements)
{
    const int64_t n = (n_elements + TILE - 1) / TILE;
    if (n > DIRECT)
        JOIN(result, tree, p + n * components, components, (n + JOINED - 1) / JOINED);
    else
        JOIN(result, tree, p, components, n);
}
/* Block b of several blocks joins JOINED partial results, and puts what they give behind all of them. */
template <join_partials JOIN>
INLINE void finish_part(scalar *tree, scalar *p, int components, int64_t n_elements, int64_t b)
{
    const int64_t n = (n_elements + TILE - 1) / TILE, from = b * JOINED;
    JOIN(p + (n + b) * components, tree, p + from * components, components, n - from < JOINED ? n - from : JOINED);
}

//@ each name; neutral; expression
//@ add; 0; a + b
//@ multiply; 1; a * b
//@ min; __longlong_as_double(0x7ff0000000000000LL); b < a ? b : a
//@ max; @least@; a < b ? b : a
INLINE scalar both_@name@(scalar a, scalar b) { return @expression@; }
INLINE scalar neutral_@name@() { return (scalar)@neutral@; }
INLINE void start_@name@(real *a, int n)
{
    UNROLL for (int i = 0; i < n; ++i)
        a[i] = neutral_@name@();
}
/* Lane 0 gets what `n` lanes hold, n a power of two. */
INLINE scalar lanes_@name@(scalar v, int n)
{
    UNROLL for (int half = n / 2; half > 0; half /= 2)
        v = both_@name@(v, __shfl_down_sync(0xffffffffu, v, half));
    return v;
}
/* v[k * stride]: of element k * N_THREADS + thread; a barrier must follow */
template <int N_THREADS, int N>
INLINE void groups_@name@(scalar *tree, const real *v, int stride)
{
    UNROLL for (int k = 0; k < N; ++k) {
        const scalar group = lanes_@name@(v[k * stride], LANES);
        if (threadIdx.x % LANES == 0)
            tree[(k * N_THREADS + threadIdx.x) / LANES] = group;
    }
}
/* By one warp: a tile's groups joined, in lane 0. */
INLINE scalar chunk_@name@(const scalar *tree)
{
    return lanes_@name@(tree[threadIdx.x % GROUPS], GROUPS);
}
/* By one block of TILE threads: n partial results. */
INLINE void join_partials_@name@(scalar *result, scalar *tree, const scalar *p, int components, int64_t n)
{
    for (int c = 0; c < components; ++c) {
        real sum[1];
        start_@name@(sum, 1);
        for (int64_t first = threadIdx.x; first < n; first += TOGETHER * TILE) {
            scalar some[TOGETHER];
            UNROLL for (int j = 0; j < TOGETHER; ++j) {
                const int64_t i = first + j * TILE;
                some[j] = p[(i < n ? i : n - 1) * components + c];
            }
            UNROLL for (int j = 0; j < TOGETHER; ++j)
                sum[0] = first + j * TILE < n ? both_@name@(sum[0], some[j]) : sum[0];
        }
        groups_@name@<TILE, 1>(tree, sum, 1);
        __syncthreads();
        if (threadIdx.x < LANES) {
            const scalar all = chunk_@name@(tree);
            if (threadIdx.x == 0)
                result[c] = all;
        }
        __syncthreads();
    }
}
INLINE void finish_@name@(scalar *result, scalar *tree, const scalar *p, int components, int64_t n_elements)
{
    finish<join_partials_@name@>(result, tree, p, components, n_elements);
}
INLINE void finish_part_@name@(scalar *tree, scalar *p, int components, int64_t n_elements, int64_t b)
{
    finish_part<join_partials_@name@>(tree, p, components, n_elements, b);
}

//@ end
