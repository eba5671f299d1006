/* What the routines for triangles do beside products (gemm/triangular.c): copies of triangles, and inverses of the blocks on the
 * diagonal of one. The same text for a GPU, a thread per entry or column, and for the host, which walks over columns.
 *
 * Macros of the host program: SINGLE, ON_HOST. */
#if ON_HOST
#include <stdint.h>
typedef int64_t int64;
#define PER_ENTRY static inline
#else
typedef long long int64;
#define PER_ENTRY __device__ __forceinline__
#endif
#if SINGLE
typedef float real;
#else
typedef double real;
#endif

/* As triangle_values of gemm/triangular.c. Units: entries. */
typedef struct triangle_values {
    int64 rows, columns, from_first, from_ld, to_first, to_ld;
    int64 block;       /* rows of a block on the diagonal; blocks are stored one after another */
    int64 upper, unit; /* the triangle; its diagonal is 1 */
    double beta;
} triangle_values;

PER_ENTRY int in_triangle(const triangle_values *v, int64 i, int64 j)
{
    return v->upper ? i <= j : i >= j;
}

/* A matrix of which a triangle is stored, with all entries. */
PER_ENTRY void mirror_entry(const real *from, real *to, const triangle_values *v, int64 j, int64 i)
{
    const int64 at = in_triangle(v, i, j) ? i + j * v->from_ld : j + i * v->from_ld;
    to[v->to_first + i + j * v->to_ld] = from[v->from_first + at];
}

/* Column j of a matrix's block on the diagonal, with zeros outside of the triangle; `rows` of the matrix. */
PER_ENTRY void block_entry(const real *from, real *to, const triangle_values *v, int64 j, int64 i)
{
    const int64 b = j / v->block, first = b * v->block, row = first + i;
    real value = 0;
    if (row < v->columns && in_triangle(v, row, j))
        value = v->unit && row == j ? 1 : from[v->from_first + row + j * v->from_ld];
    to[v->to_first + j * v->block + i] = value;
}

/* The triangle of to = from + beta to */
PER_ENTRY void merge_entry(const real *from, real *to, const triangle_values *v, int64 j, int64 i)
{
    real *at = to + v->to_first + i + j * v->to_ld;
    if (in_triangle(v, i, j))
        *at = from[v->from_first + i + j * v->from_ld] + (v->beta != 0 ? (real)v->beta * *at : 0);
}

PER_ENTRY void copy_entry(const real *from, real *to, const triangle_values *v, int64 j, int64 i)
{
    to[v->to_first + i + j * v->to_ld] = from[v->from_first + i + j * v->from_ld];
}

/* Column j of the inverse of its block on the diagonal: substitution for a column of the unit matrix. */
PER_ENTRY void invert_column(const real *from, real *to, const triangle_values *v, int64 j)
{
    const int64 first = j / v->block * v->block, left = v->columns - first;
    const int64 n = left < v->block ? left : v->block, column = j - first;
    const real *a = from + v->from_first + first + first * v->from_ld;
    real *x = to + v->to_first + j * v->block;
    for (int64 i = 0; i < v->block; ++i)
        x[i] = i == column ? 1 : 0;
    for (int64 step = 0; step < n; ++step) {
        const int64 k = v->upper ? n - 1 - step : step;
        if (v->upper ? k > column : k < column)
            continue;
        if (!v->unit)
            x[k] /= a[k + k * v->from_ld];
        for (int64 i = v->upper ? 0 : k + 1; i < (v->upper ? k : n); ++i)
            x[i] -= a[i + k * v->from_ld] * x[k];
    }
}

#if ON_HOST
#define KERNEL(name, entry)                                                                        \
    void name(void *const *arguments, int64_t n, int64_t first, int64_t last) {                    \
        const triangle_values *v = (const triangle_values *)arguments[2];                          \
        (void)n;                                                                                   \
        for (int64 j = first; j < last; ++j)                                                       \
            for (int64 i = 0; i < v->rows; ++i)                                                    \
                entry((const real *)arguments[0], (real *)arguments[1], v, j, i);                  \
    }
#define COLUMN_KERNEL(name, column)                                                                \
    void name(void *const *arguments, int64_t n, int64_t first, int64_t last) {                    \
        (void)n;                                                                                   \
        for (int64 j = first; j < last; ++j)                                                       \
            column((const real *)arguments[0], (real *)arguments[1],                               \
                   (const triangle_values *)arguments[2], j);                                      \
    }
#else
#ifdef __CUDACC__
#define BY_VALUE(type) const type
#endif
#define KERNEL(name, entry)                                                                        \
    extern "C" __global__ void name(int64 n, const real *from, real *to, BY_VALUE(triangle_values) v) { \
        const int64 i = (int64)blockIdx.x * blockDim.x + threadIdx.x;                              \
        if (i < n)                                                                                 \
            entry(from, to, &v, i / v.rows, i % v.rows);                                           \
    }
#define COLUMN_KERNEL(name, column)                                                                \
    extern "C" __global__ void name(int64 n, const real *from, real *to, BY_VALUE(triangle_values) v) { \
        const int64 j = (int64)blockIdx.x * blockDim.x + threadIdx.x;                              \
        if (j < n)                                                                                 \
            column(from, to, &v, j);                                                               \
    }
#endif
KERNEL(mirror, mirror_entry)
KERNEL(blocks, block_entry)
KERNEL(merge, merge_entry)
KERNEL(copy, copy_entry)
COLUMN_KERNEL(invert, invert_column)
