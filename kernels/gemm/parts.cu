/* Before and after three real products that make a complex one (gemm/three.c): real, imaginary part and
 * their sum of a complex matrix as three real matrices; and C = alpha ((P1 - P2) + i (P3 - P1 - P2)) + beta C.
 *
 * The same text for a GPU, a thread per entry, and for the host, which walks over columns.
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

/* As parts_values of gemm/three.c. Units: entries of the matrix; those of the parts are real. */
typedef struct parts_values {
    int64 rows, columns, ld, first, stride;     /* of the complex matrix */
    int64 part_ld, part_stride, plane;          /* plane: from one part to the next */
    double alpha[2], beta[2], sign;             /* sign: of the imaginary part */
} parts_values;

/* Row `row` of column `column` of a batch, whose columns are counted through. */
PER_ENTRY void split_entry(const real *from, real *to, const parts_values *p, int64 column, int64 row) {
    const int64 x = column / p->columns, j = column % p->columns;
    const real *at = from + 2 * (p->first + x * p->stride + j * p->ld + row);
    const real re = at[0], im = (real)p->sign * at[1];
    to += x * p->part_stride + j * p->part_ld + row;
    to[0] = re;
    to[p->plane] = im;
    to[2 * p->plane] = re + im;
}

PER_ENTRY void join_entry(const real *from, real *to, const parts_values *p, int64 column, int64 row) {
    const int64 x = column / p->columns, j = column % p->columns;
    real *at = to + 2 * (p->first + x * p->stride + j * p->ld + row);
    from += x * p->part_stride + j * p->part_ld + row;
    const real p1 = from[0], p2 = from[p->plane], re = p1 - p2, im = from[2 * p->plane] - p1 - p2;
    const real alpha = (real)p->alpha[0], alpha_i = (real)p->alpha[1];
    const real beta = (real)p->beta[0], beta_i = (real)p->beta[1];
    real x_re = alpha * re - alpha_i * im, x_im = alpha * im + alpha_i * re;
    if (beta != 0 || beta_i != 0) {
        const real c_re = at[0], c_im = at[1];
        x_re += beta * c_re - beta_i * c_im;
        x_im += beta * c_im + beta_i * c_re;
    }
    at[0] = x_re;
    at[1] = x_im;
}

#if ON_HOST
#define KERNEL(name, entry)                                                                        \
    void name(void *const *arguments, int64_t n, int64_t first, int64_t last) {                    \
        const parts_values *p = (const parts_values *)arguments[2];                                \
        (void)n;                                                                                   \
        for (int64 column = first; column < last; ++column)                                        \
            for (int64 row = 0; row < p->rows; ++row)                                              \
                entry((const real *)arguments[0], (real *)arguments[1], p, column, row);           \
    }
#else
#ifdef __CUDACC__
#define BY_VALUE(type) const type
#endif
#define KERNEL(name, entry)                                                                        \
    extern "C" __global__ void name(int64 n, const real *from, real *to, BY_VALUE(parts_values) p) { \
        const int64 i = (int64)blockIdx.x * blockDim.x + threadIdx.x;                              \
        if (i < n)                                                                                 \
            entry(from, to, &p, i / p.rows, i % p.rows);                                           \
    }
#endif
KERNEL(split, split_entry)
KERNEL(join, join_entry)
