/* C = alpha op(A) op(B) + beta C on the units for fused multiply-adds, in the arithmetic of the
 * operands. Matrices are stored by columns.
 *
 * A block computes a tile of C, BM x BN, a thread TM x TN of it, in chunks of 16 bytes that are
 * LM x LN chunks apart (LM LN = 32 lanes of a warp). Tiles of A and B come to shared memory in STAGES
 * buffers while the threads multiply. This part has what two kernels have in common: fma_transpose.cu (IN_PLACE 0) has
 * both operands k by k in shared memory, fma_in_place.cu (IN_PLACE 1) as they lie in device memory.
 *
 * Macros of the host (gemm/source.c), beside those of the space (gemm/space.c): as in mma.cu, and
 *     SINGLE    1: single precision */
#if SINGLE
typedef float real;
typedef float4 chunk;
#else
typedef double real;
typedef double2 chunk;
#endif
constexpr int PARTS = COMPLEX ? 2 : 1;
constexpr int ELEMENT = PARTS * (int)sizeof(real);
constexpr int CHUNK_REALS = 16 / (int)sizeof(real);
constexpr int CHUNK_ELEMENTS = 16 / ELEMENT;
constexpr int LN = 32 / LM;
constexpr int THREADS = (BM / TM) * (BN / TN);
constexpr bool CLAMPED = EDGES && !SHIFTED;
constexpr int A_BYTES = BM * BK * ELEMENT, STAGE_BYTES = A_BYTES + BN * BK * ELEMENT;
static_assert(BM % (LM * TM) == 0 && BN % (LN * TN) == 0, "warps share a tile evenly");

union chunk_reals {
    chunk all;
    real each[CHUNK_REALS];
};

typedef real accumulators[PARTS][TM][TN];

/* A block's tile of C, the rows and columns that it has, and the part of a thread. */
struct places {
    int64 product;
    int row, column, rows, columns, warp_row, warp_column, lane_row, lane_column;
    int first_row, first_column; /* SHIFTED: rows and columns before them are another block's */

    INLINE places(const gemm_values &p) {
        const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
        const int down = EDGES ? (p.m + BM - 1) / BM : p.m / BM;
        const int across = EDGES ? (p.n + BN - 1) / BN : p.n / BN;
        lane_row = (lane / (RUN * LN)) * RUN + lane % RUN;
        lane_column = (lane / RUN) % LN;
        warp_row = (warp % (BM / (LM * TM))) * LM * TM;
        warp_column = (warp / (BM / (LM * TM))) * LN * TN;
        product = blockIdx.x / (down * across);
        find_tile<GROUP>(blockIdx.x % (down * across), down, across, row, column);
        first_row = row * BM;
        first_column = column * BN;
        row = SHIFTED ? least(first_row, p.m - BM) : first_row;
        column = SHIFTED ? least(first_column, p.n - BN) : first_column;
        rows = least(p.m - row, BM);
        columns = least(p.n - column, BN);
    }
    /* before: k of the first tile that do not exist */
    INLINE const unsigned char *a(const unsigned char *A, const gemm_values &p, int before) const {
        return A + (p.first_a + product * p.stride_a +
                    (A_ALONG_K ? row * p.lda - before : row - before * p.lda)) *
                       ELEMENT;
    }
    INLINE const unsigned char *b(const unsigned char *B, const gemm_values &p, int before) const {
        return B + (p.first_b + product * p.stride_b +
                    (B_ALONG_K ? column * p.ldb - before : column - before * p.ldb)) *
                       ELEMENT;
    }
    INLINE bool has(const gemm_values &p, int r, int c) const {
        return !EDGES || (SHIFTED ? r >= first_row && c >= first_column : r < p.m && c < p.n);
    }
    /* Rows from r on, up to `most`. */
    INLINE int below(const gemm_values &p, int r, int most) const {
        return EDGES && !SHIFTED ? p.m - r : most;
    }
};

/* COUNT neighbours in a column of C, of which `present` exist. */
template <int COUNT>
INLINE void store(real *at, const gemm_values &p, const real *re, const real *im, int present) {
    constexpr int REALS = COUNT * PARTS;
    const real alpha = (real)p.alpha[0], alpha_i = (real)p.alpha[1];
    const real beta = (real)p.beta[0], beta_i = (real)p.beta[1];
    const bool whole = ALIGNED && COUNT == CHUNK_ELEMENTS && present >= COUNT;
    chunk_reals r, c;
    UNROLL for (int x = 0; x < COUNT; ++x) {
        if constexpr (COMPLEX) {
            r.each[PARTS * x] = alpha * re[x] - alpha_i * im[x];
            r.each[PARTS * x + PARTS - 1] = alpha * im[x] + alpha_i * re[x];
        } else
            r.each[x] = alpha * re[x];
    }
    if (beta != 0 || (COMPLEX && beta_i != 0)) {
        if (whole)
            c.all = *(const chunk *)at;
        else
            UNROLL for (int x = 0; x < REALS; ++x) c.each[x] =
                x / PARTS < present ? at[x] : (real)0;
        UNROLL for (int x = 0; x < REALS; x += PARTS) {
            r.each[x] += beta * c.each[x];
            if constexpr (COMPLEX) {
                r.each[x] -= beta_i * c.each[x + 1];
                r.each[x + 1] += beta * c.each[x + 1] + beta_i * c.each[x];
            }
        }
    }
    if (whole)
        *(chunk *)at = r.all;
    else
        UNROLL for (int x = 0; x < REALS; ++x) if (x / PARTS < present) at[x] = r.each[x];
}
