/* C = alpha op(A) op(B) + beta C for many small products of SM x SN with sums of SK: a warp computes a tile (tile.cu)
 * of 16 TILE_M x 8 TILE_N entries. A and B are read straight from device memory, where 8 entries of a column, or 4, are
 * whole sectors; or, STAGED, they are copied to shared memory first, in the order of the addresses. Columns there
 * have an odd multiple of four entries, so that the lanes of a warp read different banks.
 *
 * Macros of the host (gemm/source.c): as in small.cu, TILE_M, TILE_N, BLOCK, STAGED, and PACKED: columns
 * follow one another without gaps. */
#if COMPLEX
typedef complex_tile<SM, SN, TILE_M, TILE_N> tile;
typedef pair entry;
#else
typedef warp_tile<SM, SN, TILE_M, TILE_N> tile;
typedef real entry;
#endif
constexpr int A_ROWS = A_ALONG_K ? SK : SM, A_COLUMNS = A_ALONG_K ? SM : SK;
constexpr int B_ROWS = B_ALONG_K ? SK : SN, B_COLUMNS = B_ALONG_K ? SN : SK;
constexpr int PRODUCTS = BLOCK / 32 / tile::COUNT; /* of a block, where they are staged */
/* Entries from one column to the next in shared memory: so that the lanes of a warp read different banks. */
INLINE constexpr int pitch(int rows, bool along) {
    return !COMPLEX           ? ((rows + 3) / 4 | 1) * 4
           : !SINGLE && along ? (rows + 3) / 8 * 8 + 4
                              : (rows + 1) / 4 * 4 + 2;
}
constexpr int A_PITCH = pitch(A_ROWS, A_ALONG_K), B_PITCH = pitch(B_ROWS, B_ALONG_K);
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
INLINE void stage(entry *to, const entry *from, int64 ld, int thread) {
    constexpr int PER = ROWS / WIDE;
    _Pragma("unroll 4") for (int id = thread; id < PER * COLUMNS; id += tile::COUNT * 32) {
        const int column = id / PER, row = id % PER * WIDE;
        copy_async<WIDE * (int)sizeof(entry)>(to + column * PITCH + row,
                                             from + place<ROWS>(row, column, ld));
    }
}
/* 16 bytes at once, or 8, where every column begins at a multiple of them */
template <int ROWS, int COLUMNS, int PITCH, int WIDE = 16 / (int)sizeof(entry)>
INLINE void stage_matrix(entry *to, const entry *from, int64 ld, int thread) {
    constexpr int BYTES = WIDE * (int)sizeof(entry);
    if constexpr (WIDE == 1)
        stage<ROWS, COLUMNS, PITCH, 1>(to, from, ld, thread);
    else if constexpr (!PACKED || ROWS % WIDE != 0 || PITCH % WIDE != 0)
        stage_matrix<ROWS, COLUMNS, PITCH, WIDE / 2>(to, from, ld, thread);
    else if ((unsigned long long)from % BYTES == 0)
        stage<ROWS, COLUMNS, PITCH, WIDE>(to, from, ld, thread);
    else
        stage<ROWS, COLUMNS, PITCH, 1>(to, from, ld, thread);
}

#if COMPLEX
INLINE entry fetch(const entry *from) {
    const both v = __ldg((const both *)from);
    return {v.x, v.y};
}
/* Entry i of a tile to C. */
INLINE void store(entry *to, const gemm_values &p, const tile &sum, int i) {
    const real alpha = (real)p.alpha[0], alpha_i = (real)p.alpha[1];
    const real beta = (real)p.beta[0], beta_i = (real)p.beta[1];
    both r;
    r.x = alpha * sum.re.v[i] - alpha_i * sum.im.v[i];
    r.y = alpha * sum.im.v[i] + alpha_i * sum.re.v[i];
    if (beta != 0 || beta_i != 0) {
        const both c = *(const both *)to;
        r.x += beta * c.x - beta_i * c.y;
        r.y += beta * c.y + beta_i * c.x;
    }
    __stcs((both *)to, r);
}
#else
INLINE entry fetch(const entry *from) {
    return __ldg(from);
}
INLINE void store(entry *to, const gemm_values &p, const tile &sum, int i) {
    const real alpha = (real)p.alpha[0], beta = (real)p.beta[0];
    __stcs(to, beta != 0 ? alpha * sum.v[i] + beta * *to : alpha * sum.v[i]);
}
#endif

extern "C" __global__ void __launch_bounds__(BLOCK)
    NAME(int64 n_products, const unsigned char *A, const unsigned char *B, unsigned char *C,
         BY_VALUE(gemm_values) p) {
    const int64 warp = (blockIdx.x * (int64)BLOCK + threadIdx.x) / 32, product = warp / tile::COUNT;
    const bool here = product < n_products, reads = here && p.k > 0; /* else alpha is 0 */
    const entry *a = (const entry *)A + p.first_a + product * p.stride_a;
    const entry *b = (const entry *)B + p.first_b + product * p.stride_b;
    entry *c = (entry *)C + p.first_c + product * p.stride_c;
    const int64 lda = p.lda, ldb = p.ldb;
    tile sum;
    sum.start((int)(warp % tile::COUNT));
#if STAGED
    DYNAMIC_SHARED(shared);
    entry *x = (entry *)shared + threadIdx.x / 32 / tile::COUNT * SIZE, *y = x + A_PITCH * A_COLUMNS;
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
                return fetch(a + (A_ALONG_K ? place<SK>(l, i, lda) : place<SM>(i, l, lda)));
            },
            [=](int l, int j) {
                return fetch(b + (B_ALONG_K ? place<SK>(l, j, ldb) : place<SN>(j, l, ldb)));
            });
#endif
#if ROWS_RUN && PACKED
    /* four rows of a lane at once, where C begins at a multiple of 16 bytes */
    const real alpha = (real)p.alpha[0];
    if (SM % 4 == 0 && p.beta[0] == 0 && (unsigned long long)c % 16 == 0) {
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
    UNROLL for (int i = 0; i < tile::ENTRIES; ++i)
        if (here && sum.has(i))
            store(c + place<SM>(sum.row_of(i), sum.column_of(i), p.ldc), p, sum, i);
}
