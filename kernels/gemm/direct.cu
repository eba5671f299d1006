/* C = alpha op(A) op(B) + beta C for many small products of SM x SN with sums of SK: a warp computes a tile (tile.cu)
 * of 16 TILE_M x 8 TILE_N entries. A and B are read straight from device memory, where 8 entries of a column, or 4, are
 * whole sectors; or, STAGED, they are copied to shared memory first, in the order of the addresses. Columns there
 * have an odd multiple of four entries, so that the lanes of a warp read different banks.
 *
 * Macros of the host (gemm/source.c): as in small.cu, TILE_M, TILE_N, BLOCK, STAGED, and PACKED: columns
 * follow one another without gaps. */
typedef warp_tile<SM, SN, TILE_M, TILE_N> tile;
constexpr int A_ROWS = A_ALONG_K ? SK : SM, A_COLUMNS = A_ALONG_K ? SM : SK;
constexpr int B_ROWS = B_ALONG_K ? SK : SN, B_COLUMNS = B_ALONG_K ? SN : SK;
constexpr int PRODUCTS = BLOCK / 32 / tile::COUNT; /* of a block, where they are staged */
constexpr int A_PITCH = ((A_ROWS + 3) / 4 | 1) * 4, B_PITCH = ((B_ROWS + 3) / 4 | 1) * 4;
constexpr int SIZE = A_PITCH * A_COLUMNS + B_PITCH * B_COLUMNS; /* of a product */

/* where entry (row, column) is, behind the first */
template <int ROWS> INLINE int64 place(int row, int column, int64 ld) {
#if PACKED
    return row + column * ROWS;
#else
    return row + column * ld;
#endif
}

/* A matrix of ROWS x COLUMNS to shared memory, WIDE entries at once, by the threads of a product. */
template <int ROWS, int COLUMNS, int PITCH, int WIDE>
INLINE void stage(real *to, const real *from, int64 ld, int thread) {
    constexpr int PER = ROWS / WIDE;
    _Pragma("unroll 4") for (int id = thread; id < PER * COLUMNS; id += tile::COUNT * 32) {
        const int column = id / PER, row = id % PER * WIDE;
        copy_async<WIDE * (int)sizeof(real)>(to + column * PITCH + row,
                                             from + place<ROWS>(row, column, ld));
    }
}
/* 16 bytes at once where every column begins at a multiple of them */
template <int ROWS, int COLUMNS, int PITCH>
INLINE void stage_matrix(real *to, const real *from, int64 ld, int thread) {
    constexpr int WIDE = 16 / (int)sizeof(real);
    if constexpr (PACKED && ROWS % WIDE == 0) {
        if ((unsigned long long)from % 16 == 0) {
            stage<ROWS, COLUMNS, PITCH, WIDE>(to, from, ld, thread);
            return;
        }
    }
    stage<ROWS, COLUMNS, PITCH, 1>(to, from, ld, thread);
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    NAME(int64 n_products, const unsigned char *A, const unsigned char *B, unsigned char *C,
         BY_VALUE(gemm_values) p) {
    const int64 warp = (blockIdx.x * (int64)BLOCK + threadIdx.x) / 32, product = warp / tile::COUNT;
    const bool here = product < n_products, reads = here && p.k > 0; /* else alpha is 0 */
    const real *a = (const real *)A + p.first_a + product * p.stride_a;
    const real *b = (const real *)B + p.first_b + product * p.stride_b;
    real *c = (real *)C + p.first_c + product * p.stride_c;
    const int64 lda = p.lda, ldb = p.ldb;
    const real alpha = (real)p.alpha[0], beta = (real)p.beta[0];
    tile sum;
    sum.start((int)(warp % tile::COUNT));
#if STAGED
    DYNAMIC_SHARED(shared);
    real *x = (real *)shared + threadIdx.x / 32 / tile::COUNT * SIZE, *y = x + A_PITCH * A_COLUMNS;
    if (reads) {
        const int thread = threadIdx.x % (tile::COUNT * 32);
        stage_matrix<A_ROWS, A_COLUMNS, A_PITCH>(x, a, lda, thread);
        stage_matrix<B_ROWS, B_COLUMNS, B_PITCH>(y, b, ldb, thread);
    }
    copy_commit();
    copy_wait<0>();
    __syncthreads();
    if (reads)
        sum.template add<SK>(
            [=](int i, int l) { return x[A_ALONG_K ? l + i * A_PITCH : i + l * A_PITCH]; },
            [=](int l, int j) { return y[B_ALONG_K ? l + j * B_PITCH : j + l * B_PITCH]; });
#else
    if (reads)
        sum.template add<SK>(
            [=](int i, int l) {
                return __ldg(a + (A_ALONG_K ? place<SK>(l, i, lda) : place<SM>(i, l, lda)));
            },
            [=](int l, int j) {
                return __ldg(b + (B_ALONG_K ? place<SK>(l, j, ldb) : place<SN>(j, l, ldb)));
            });
#endif
#if ROWS_RUN && PACKED
    /* four rows of a lane at once, where C begins at a multiple of 16 bytes */
    if (SM % 4 == 0 && beta == 0 && (unsigned long long)c % 16 == 0) {
        UNROLL for (int i = 0; i < tile::ENTRIES; ++i) {
            constexpr int BELOW = 4 * TILE_N; /* from a row of a lane to the next but one */
            if (i / BELOW % 2 == 1 || i % 4 / 2 == 1 || !here || !sum.has(i))
                continue;
            const float4 four = {alpha * sum.v[i], alpha * sum.v[i + 2], alpha * sum.v[i + BELOW],
                                 alpha * sum.v[i + BELOW + 2]};
            *(float4 *)(c + place<SM>(sum.row_of(i), sum.column_of(i), p.ldc)) = four;
        }
        return;
    }
#endif
    UNROLL for (int i = 0; i < tile::ENTRIES; ++i) {
        if (!here || !sum.has(i))
            continue;
        real *at = c + place<SM>(sum.row_of(i), sum.column_of(i), p.ldc);
        __stcs(at, beta != 0 ? alpha * sum.v[i] + beta * *at : alpha * sum.v[i]);
    }
}
