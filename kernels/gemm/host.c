/* C = alpha op(A) op(B) + beta C on the host, after Goto and Van de Geijn (2008) and BLIS. Matrices are
 * stored by columns.
 *
 * Five loops: columns by NC, k by KC, rows by MC, then columns by NR and rows by MR. Before the last two,
 * KC x NC of op(B) and MC x KC of op(A) are packed into buffers, in which the micro-kernel reads
 * consecutively; order and conjugation of the operands disappear there. The micro-kernel keeps MR x NR
 * sums in vector registers. Of complex numbers the parts are packed apart, so that they need no
 * permutations.
 *
 * Macros of the host (gemm/source.c), beside those of the space (gemm/space.c): COMPLEX, SINGLE,
 * A_ALONG_K, B_ALONG_K, A_CONJUGATE, B_CONJUGATE, NAME, as in mma.cu, and
 *     VECTOR_BYTES    of a register */
#include <stdbool.h>
#include <stdint.h>

#if SINGLE
typedef float real;
#else
typedef double real;
#endif
enum { PARTS = COMPLEX ? 2 : 1, LANES = VECTOR_BYTES / sizeof(real), VECTORS = MR / LANES };
typedef real vector __attribute__((vector_size(VECTOR_BYTES), may_alias));
typedef real loose __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(real)), may_alias));
enum { FEW = 64 }; /* columns, for which packing does not pay */
_Static_assert(MR % LANES == 0 && MC % MR == 0, "whole vectors, whole tiles");
#define UNROLL _Pragma("GCC unroll 64")

/* As weft_gemm_values (gemm/kernels.h). */
typedef struct gemm_values {
    int m, n, k, unused;
    int64_t lda, ldb, ldc, first_a, first_b, first_c, stride_a, stride_b, stride_c;
    double alpha[2], beta[2];
} gemm_values;

static int64_t least(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* `rows` x k of op(A) as tiles of MR rows: [tile][k][part][MR], zeros behind the last row. */
static void pack_a(real *to, const real *A, int64_t ld, int64_t rows, int64_t k) {
    for (int64_t i = 0; i < rows; i += MR) {
        const int64_t n = least(rows - i, MR);
        for (int64_t l = 0; l < k; ++l, to += PARTS * MR) {
            const real *from = A + (A_ALONG_K ? i * ld + l : l * ld + i) * PARTS;
            const int64_t step = (A_ALONG_K ? ld : 1) * PARTS;
            if (n == MR && !COMPLEX)
                UNROLL for (int x = 0; x < MR; ++x) to[x] = from[x * step];
            else
                for (int64_t x = 0; x < MR; ++x)
                    for (int part = 0; part < PARTS; ++part)
                        to[part * MR + x] = x >= n ? 0
                                            : part == 1 && A_CONJUGATE
                                                ? -from[x * step + part]
                                                : from[x * step + part];
        }
    }
}

/* k x `columns` of op(B) as tiles of NR columns: [tile][k][NR][part]. */
static void pack_b(real *to, const real *B, int64_t ld, int64_t k, int64_t columns) {
    for (int64_t j = 0; j < columns; j += NR) {
        const int64_t n = least(columns - j, NR);
        for (int64_t l = 0; l < k; ++l, to += PARTS * NR) {
            const real *from = B + (B_ALONG_K ? j * ld + l : l * ld + j) * PARTS;
            const int64_t step = (B_ALONG_K ? ld : 1) * PARTS;
            for (int64_t y = 0; y < NR; ++y)
                for (int part = 0; part < PARTS; ++part)
                    to[y * PARTS + part] = y >= n ? 0
                                           : part == 1 && B_CONJUGATE ? -from[y * step + part]
                                                                      : from[y * step + part];
        }
    }
}

/* The entries of C that a tile gets, and how: C = alpha sums + beta C. */
typedef struct target {
    real *C;
    int64_t ld, rows, columns;
    const double *alpha, *beta;
} target;

static void store_part(const target *t, const real *sums) {
    const real alpha = (real)t->alpha[0], beta = (real)t->beta[0];
#if COMPLEX
    const real alpha_i = (real)t->alpha[1], beta_i = (real)t->beta[1];
#endif
    for (int64_t j = 0; j < t->columns; ++j)
        for (int64_t i = 0; i < t->rows; ++i) {
            real *at = t->C + (j * t->ld + i) * PARTS;
            const real *s = sums + j * MR + i;
#if COMPLEX
            real re = alpha * s[0] - alpha_i * s[NR * MR], im = alpha * s[NR * MR] + alpha_i * s[0];
            if (beta != 0 || beta_i != 0) {
                re += beta * at[0] - beta_i * at[1];
                im += beta * at[1] + beta_i * at[0];
            }
            at[0] = re;
            at[1] = im;
#else
            *at = beta != 0 ? alpha * *s + beta * *at : alpha * *s;
#endif
        }
}

/* The micro-kernel. Row x of k of A is at a[k step_a + x], and its imaginary part MR behind it; column y
 * of k of B is at b[k step_k + y step_j]. */
static inline __attribute__((always_inline)) void multiply(int64_t n, const real *a, int64_t step_a,
                                                           const real *b, int64_t step_k,
                                                           int64_t step_j, const target *t) {
    vector c[PARTS][NR][VECTORS];
    UNROLL for (int p = 0; p < PARTS; ++p)
        UNROLL for (int j = 0; j < NR; ++j)
            UNROLL for (int v = 0; v < VECTORS; ++v) c[p][j][v] = (vector){0};
    for (int64_t k = 0; k < n; ++k, a += step_a, b += step_k) {
        vector x[PARTS][VECTORS];
        __builtin_prefetch(a + 8 * PARTS * MR);
        UNROLL for (int p = 0; p < PARTS; ++p)
            UNROLL for (int v = 0; v < VECTORS; ++v)
                x[p][v] = *(const loose *)(a + p * MR + v * LANES);
        UNROLL for (int j = 0; j < NR; ++j) {
            const real re = b[j * step_j];
            UNROLL for (int v = 0; v < VECTORS; ++v) c[0][j][v] += x[0][v] * re;
#if COMPLEX
            const real im = b[j * step_j + 1];
            UNROLL for (int v = 0; v < VECTORS; ++v) {
                c[1][j][v] += x[1][v] * re;
                c[0][j][v] -= x[1][v] * im;
                c[1][j][v] += x[0][v] * im;
            }
#endif
        }
    }
#if !COMPLEX
    if (t->rows == MR && t->columns == NR) {
        const real alpha = (real)t->alpha[0], beta = (real)t->beta[0];
        UNROLL for (int j = 0; j < NR; ++j)
            UNROLL for (int v = 0; v < VECTORS; ++v) {
                loose *at = (loose *)(t->C + j * t->ld + v * LANES);
                *at = beta != 0 ? alpha * c[0][j][v] + beta * *at : alpha * c[0][j][v];
            }
        return;
    }
#endif
    real sums[PARTS * NR * MR] __attribute__((aligned(64)));
    UNROLL for (int p = 0; p < PARTS; ++p)
        UNROLL for (int j = 0; j < NR; ++j)
            UNROLL for (int v = 0; v < VECTORS; ++v)
                *(vector *)(sums + (p * NR + j) * MR + v * LANES) = c[p][j][v];
    store_part(t, sums);
}

static target target_of(const gemm_values *p, real *C, const double *beta, int64_t i, int64_t j) {
    return (target){C + (i + j * p->ldc) * PARTS, p->ldc,   least(p->m - i, MR),
                    least(p->n - j, NR),          p->alpha, beta};
}

/* Rows [i0, i0 + rows) and columns [j0, j0 + columns) from packed operands. */
static void block(real *C, const gemm_values *p, const real *a, const real *b, const double *beta,
                  int64_t i0, int64_t j0, int64_t rows, int64_t columns, int64_t k) {
    for (int64_t j = 0; j < columns; j += NR)
        for (int64_t i = 0; i < rows; i += MR) {
            const target t = target_of(p, C, beta, i0 + i, j0 + j);
            multiply(k, a + i * k * PARTS, PARTS * MR, b + j * k * PARTS, PARTS * NR, PARTS, &t);
        }
}

/* A product of few columns and rows: operands are read where they are if they consist of whole tiles. */
static void small(const gemm_values *p, const real *A, const real *B, real *C, real *a, real *b) {
    const bool a_in_place = !COMPLEX && !A_ALONG_K && p->m % MR == 0;
    const bool b_in_place = !(COMPLEX && B_CONJUGATE) && p->n % NR == 0;
    const int64_t k = p->k, step_k = B_ALONG_K ? PARTS : p->ldb * PARTS;
    const int64_t step_j = B_ALONG_K ? p->ldb * PARTS : PARTS;
    if (!a_in_place)
        pack_a(a, A, p->lda, p->m, k);
    if (!b_in_place)
        pack_b(b, B, p->ldb, k, p->n);
    for (int64_t j = 0; j < p->n; j += NR)
        for (int64_t i = 0; i < p->m; i += MR) {
            const target t = target_of(p, C, p->beta, i, j);
            const real *from_a = a_in_place ? A + i : a + i * k * PARTS;
            const int64_t step_a = a_in_place ? p->lda : PARTS * MR;
            if (b_in_place)
                multiply(k, from_a, step_a, B + j * step_j, step_k, step_j, &t);
            else
                multiply(k, from_a, step_a, b + j * k * PARTS, PARTS * NR, PARTS, &t);
        }
}

static void large(const gemm_values *p, const real *A, const real *B, real *C, real *a, real *b) {
    static const double one[2] = {1, 0};
    for (int64_t j = 0; j < p->n; j += NC)
        for (int64_t l = 0; l == 0 || l < p->k; l += KC) {
            const int64_t columns = least(p->n - j, NC), k = least(p->k - l, KC);
            pack_b(b, B + (B_ALONG_K ? j * p->ldb + l : l * p->ldb + j) * PARTS, p->ldb, k, columns);
            for (int64_t i = 0; i < p->m; i += MC) {
                const int64_t rows = least(p->m - i, MC);
                pack_a(a, A + (A_ALONG_K ? i * p->lda + l : l * p->lda + i) * PARTS, p->lda, rows, k);
                block(C, p, a, b, l == 0 ? p->beta : one, i, j, rows, columns, k);
            }
        }
}

/* Arguments: A, B, C, the buffers of packed operands, the values. Products [first, last) of a batch. */
void NAME(void *const *arguments, int64_t n, int64_t first, int64_t last) {
    const gemm_values *p = arguments[4];
    real *a = arguments[3], *b = a + (int64_t)MC * KC * PARTS;
    const bool is_small = p->m <= MC && p->n <= FEW && p->k <= KC;
    (void)n;
    for (int64_t x = first; x < last; ++x)
        (is_small ? small : large)(
            p, (const real *)arguments[0] + (p->first_a + x * p->stride_a) * PARTS,
            (const real *)arguments[1] + (p->first_b + x * p->stride_b) * PARTS,
            (real *)arguments[2] + (p->first_c + x * p->stride_c) * PARTS, a, b);
}
