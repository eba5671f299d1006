/** Dense matrix products C = alpha op(A) op(B) + beta C, of one matrix or of many small ones.
 *  In: matrices in device memory. Out: C, by kernels that are generated for the product.
 *
 *  Matrices are stored by columns as in BLAS: entry (i, j) of A is at a.first + i + j a.ld. Complex
 *  entries are pairs (real part, imaginary part). */
#ifndef WEFT_GEMM_H
#define WEFT_GEMM_H

#include "core/weft_core.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum weft_gemm_type {
    WEFT_GEMM_SINGLE,         /* S */
    WEFT_GEMM_DOUBLE,         /* D */
    WEFT_GEMM_SINGLE_COMPLEX, /* C */
    WEFT_GEMM_DOUBLE_COMPLEX  /* Z */
} weft_gemm_type;
enum { WEFT_GEMM_TYPES = 4 };

typedef enum weft_gemm_op {
    WEFT_GEMM_PLAIN,               /* N: op(A) = A */
    WEFT_GEMM_TRANSPOSED,          /* T */
    WEFT_GEMM_CONJUGATE_TRANSPOSED /* C; of real matrices the same as T */
} weft_gemm_op;

/** A matrix, or the first of a batch. Counts are in entries. */
typedef struct weft_gemm_matrix {
    weft_memory *memory; /* borrowed */
    int64_t first;       /* entry (0, 0) */
    int64_t ld;          /* from one column to the next; at least the number of stored rows */
    int64_t stride; /* from one matrix of a batch to the next; 0 for A or B: all are the same */
} weft_gemm_matrix;

typedef struct weft_gemm_product {
    weft_gemm_type type;
    weft_gemm_op op_a, op_b;
    int64_t m, n, k; /* op(A) is m x k, op(B) is k x n, C is m x n; below 2^31 */
    /* real and imaginary part; rounded to the type. If alpha is 0, A and B are not read; if
     * beta is 0, C is not read */
    double alpha[2], beta[2];
    weft_gemm_matrix a, b, c; /* c must not overlap a or b */
} weft_gemm_product;

/** The kernels of a device, compiled when first used. One thread at a time may use them. */
typedef struct weft_gemm_kernels weft_gemm_kernels;
/** Make an empty set of kernels.
 *  device  borrowed; must outlive the kernels
 *  out     caller's; weft_gemm_kernels_free
 *  Errors  WEFT_ERROR_MEMORY */
weft_status weft_gemm_kernels_make(weft_device *device, weft_gemm_kernels **out, weft_error *error);
void weft_gemm_kernels_free(weft_gemm_kernels **kernels);

/** Compute a product; on cuda asynchronously. Repeated calls give the same bits.
 *  Errors  WEFT_ERROR_SHAPE: a negative size, a leading dimension that is too small, a matrix that
 *          does not fit into its memory; WEFT_ERROR_COMPILER; those of launches
 *  Source  Kurzak, Tomov and Dongarra, Autotuning GEMMs for Fermi, 2011 */
weft_status weft_gemm(weft_gemm_kernels *kernels, const weft_gemm_product *product,
                      weft_error *error);
/** Compute n products of one shape, of which `product` is the first, in one launch.
 *  Errors  as weft_gemm */
weft_status weft_gemm_batched(weft_gemm_kernels *kernels, const weft_gemm_product *product,
                              int64_t n, weft_error *error);

/** Compute n complex products by three real products each instead of four: 3/4 of the operations, with
 *  other errors. With a = Re a + i Im a, an entry's real part errs by as much as in weft_gemm, its imaginary
 *  part by at most weft_gemm_3m_bound times
 *
 *      sum over k of (|Re a| + |Im a|) (|Re b| + |Im b|) + |Re a Re b| + |Im a Im b|
 *
 *  (before alpha and beta). That is small against the norms of A and B, but not against an imaginary part
 *  that is small itself. It takes 3 times the memory of the real parts of A, B and C, kept with the
 *  kernels.
 *  Errors  as weft_gemm; WEFT_ERROR_UNSUPPORTED: a real type
 *  Source  Higham, Accuracy and Stability of Numerical Algorithms, 2002, section 23.2.4 */
weft_status weft_gemm_3m(weft_gemm_kernels *kernels, const weft_gemm_product *product, int64_t n,
                         weft_error *error);
double weft_gemm_3m_bound(weft_gemm_type type, int64_t k);

/** Products with a matrix A of which one triangle is stored, or whose result is symmetric. */
typedef enum weft_gemm_routine {
    WEFT_GEMM_SYRK, /* a triangle of C = alpha op(A) op(A)^T + beta C; op(A) is m x n */
    WEFT_GEMM_SYMM, /* C = alpha A B + beta C, A symmetric, of which one triangle is read */
    WEFT_GEMM_TRMM, /* C = alpha op(A) B, A triangular */
    WEFT_GEMM_TRSM  /* C = alpha op(A)^-1 C, A triangular */
} weft_gemm_routine;

typedef struct weft_gemm_triangular_call {
    weft_gemm_routine routine;
    weft_gemm_type type;      /* S or D */
    bool upper;               /* the triangle of A; of C for SYRK. Else the lower one */
    bool unit;                /* TRMM, TRSM: the diagonal of A is 1, and is not read */
    weft_gemm_op op_a;        /* SYRK, TRMM, TRSM */
    int64_t m, n;             /* C is m x n, of SYRK m x m; A is m x m, op(A) of SYRK m x n */
    double alpha, beta;       /* beta: of SYRK and SYMM */
    weft_gemm_matrix a, b, c; /* b: of SYMM and TRMM; they must not overlap */
} weft_gemm_triangular_call;

/** Compute one of them; on cuda asynchronously. Repeated calls give the same bits. TRSM multiplies by inverses of
 *  blocks on the diagonal, of 64 rows: where such a block is ill-conditioned, errors are larger than those of
 *  substitution. A zero on the diagonal gives infinite numbers or NaN.
 *  Errors  as weft_gemm; WEFT_ERROR_UNSUPPORTED: a complex type */
weft_status weft_gemm_triangular(weft_gemm_kernels *kernels, const weft_gemm_triangular_call *call,
                                 weft_error *error);

#ifdef __cplusplus
}
#endif
#endif
