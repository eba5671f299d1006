/* C = alpha op(A) op(B) + beta C for many small products of SM x SN with sums of SK: a warp computes a tile (tile.cu)
 * of 16 TILE_M x 8 TILE_N entries. A and B are read straight from device memory, where 8 entries of a column, or 4, are
 * whole sectors; or they are copied to shared memory first, in the order of the addresses, in STAGED slabs along k, of
 * which the first are multiplied while the others are on their way. Columns there have an odd multiple of four
 * entries, so that the lanes of a warp read different banks.
 *
 * Macros of the host (gemm/source.c): as in small.cu, TILE_M, TILE_N, BLOCK, STAGED, MINB: blocks on a
 * multiprocessor, and PACKED: columns follow one another without gaps. */
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
constexpr int SLABS = STAGED > 0 ? STAGED : 1, DEPTH = ((SK + 3) / 4 + SLABS - 1) / SLABS * 4; /* k of a slab */

/* where entry (row, column) is, behind the first */
template <int ROWS> INLINE int64 place(int row, int column, int64 ld) {
#if PACKED
    return row + column * ROWS;
#else
    return row + column * ld;
#endif
}

/* What is copied at once of a matrix with ROWS rows: rows [R0, R1) of columns [C0, C1). */
template <bool ALONG, int ROWS, int COLUMNS, int PITCH, int K0, int K1> struct slab {
    static constexpr int R0 = ALONG ? K0 : 0, R1 = ALONG ? K1 : ROWS;
    static constexpr int C0 = ALONG ? 0 : K0, C1 = ALONG ? COLUMNS : K1;

    /* to shared memory, WIDE entries at once, by the threads of a product */
    template <int WIDE>
    static INLINE void stage(entry *to, const entry *from, int64 ld, int thread) {
        constexpr int PER = (R1 - R0) / WIDE;
        _Pragma("unroll 4") for (int id = thread; id < PER * (C1 - C0); id += tile::COUNT * 32) {
            const int column = C0 + id / PER, row = R0 + id % PER * WIDE;
            copy_async<WIDE * (int)sizeof(entry)>(to + column * PITCH + row,
                                                 from + place<ROWS>(row, column, ld));
        }
    }
    /* 16 bytes at once, or 8, where every column begins at a multiple of them */
    template <int WIDE = 16 / (int)sizeof(entry)>
    static INLINE void copy(entry *to, const entry *from, int64 ld, int thread) {
        constexpr int BYTES = WIDE * (int)sizeof(entry);
        if constexpr (WIDE == 1)
            stage<1>(to, from, ld, thread);
        else if constexpr (!PACKED || ROWS % WIDE != 0 || PITCH % WIDE != 0)
            copy<WIDE / 2>(to, from, ld, thread);
        else if ((unsigned long long)from % BYTES == 0)
            stage<WIDE>(to, from, ld, thread);
        else
            stage<1>(to, from, ld, thread);
    }
};
/* Asks for the slabs from S on, a group of copies each. */
template <int S>
INLINE void ask(entry *x, entry *y, const entry *a, const entry *b, int64 lda, int64 ldb, bool reads) {
    constexpr int K0 = S * DEPTH, K1 = S == SLABS - 1 ? SK : K0 + DEPTH;
    const int thread = threadIdx.x % (tile::COUNT * 32);
    if (reads) {
        slab<A_ALONG_K, A_ROWS, A_COLUMNS, A_PITCH, K0, K1>::template copy<>(x, a, lda, thread);
        slab<B_ALONG_K, B_ROWS, B_COLUMNS, B_PITCH, K0, K1>::template copy<>(y, b, ldb, thread);
    }
    copy_commit();
    if constexpr (S + 1 < SLABS)
        ask<S + 1>(x, y, a, b, lda, ldb, reads);
}
/* Multiplies them as they come. */
template <int S> INLINE void take(tile &sum, const entry *x, const entry *y, bool reads) {
    constexpr int K0 = S * DEPTH, K1 = S == SLABS - 1 ? SK : K0 + DEPTH;
    copy_wait<SLABS - 1 - S>();
    __syncthreads();
    if (reads) {
        const entry *from_a = x + (A_ALONG_K ? K0 : K0 * A_PITCH);
        const entry *from_b = y + (B_ALONG_K ? K0 : K0 * B_PITCH);
        sum.template add<K1 - K0>(
            [=](int i, int l) { return from_a[A_ALONG_K ? l + i * A_PITCH : i + l * A_PITCH]; },
            [=](int l, int j) { return from_b[B_ALONG_K ? l + j * B_PITCH : j + l * B_PITCH]; });
    }
    if constexpr (S + 1 < SLABS)
        take<S + 1>(sum, x, y, reads);
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

INLINE void store_tile(const tile &sum, entry *c, const gemm_values &p) {
#if ROWS_RUN && PACKED
    /* four rows of a lane at once, where C begins at a multiple of 16 bytes */
    const real alpha = (real)p.alpha[0];
    if (SM % 4 == 0 && p.beta[0] == 0 && (unsigned long long)c % 16 == 0) {
        UNROLL for (int i = 0; i < tile::ENTRIES; ++i) {
            constexpr int BELOW = 4 * TILE_N; /* from a row of a lane to the next but one */
            if (i / BELOW % 2 == 1 || i % 4 / 2 == 1 || !sum.has(i))
                continue;
            const float4 four = {alpha * sum.v[i], alpha * sum.v[i + 2], alpha * sum.v[i + BELOW],
                                 alpha * sum.v[i + BELOW + 2]};
            *(float4 *)(c + place<SM>(sum.row_of(i), sum.column_of(i), p.ldc)) = four;
        }
        return;
    }
#endif
    UNROLL for (int i = 0; i < tile::ENTRIES; ++i)
        if (sum.has(i))
            store(c + place<SM>(sum.row_of(i), sum.column_of(i), p.ldc), p, sum, i);
}

/* Without terms alpha is 0: then A and B are not read. */
extern "C" __global__ void __launch_bounds__(BLOCK, MINB)
    NAME(int64 n_products, const unsigned char *A, const unsigned char *B, unsigned char *C,
         BY_VALUE(gemm_values) p) {
    const entry *a = (const entry *)A + p.first_a, *b = (const entry *)B + p.first_b;
    entry *c = (entry *)C + p.first_c;
    tile sum;
#if STAGED
    DYNAMIC_SHARED(shared);
    const int mine = threadIdx.x / 32 / tile::COUNT;
    const int64 product = (int64)blockIdx.x * PRODUCTS + mine;
    const bool here = product < n_products, reads = here && p.k > 0;
    entry *x = (entry *)shared + mine * SIZE, *y = x + A_PITCH * A_COLUMNS;
    ask<0>(x, y, a + product * p.stride_a, b + product * p.stride_b, p.lda, p.ldb, reads);
    sum.start((int)(threadIdx.x / 32 % tile::COUNT));
    take<0>(sum, x, y, reads);
    if (here)
        store_tile(sum, c + product * p.stride_c, p);
#else
    const int64 warp = (blockIdx.x * (int64)BLOCK + threadIdx.x) / 32, product = warp / tile::COUNT;
    const int64 lda = p.lda, ldb = p.ldb;
    if (product >= n_products)
        return;
    a += product * p.stride_a;
    b += product * p.stride_b;
    sum.start((int)(warp % tile::COUNT));
    if (p.k > 0)
        sum.template add<SK>(
            [=](int i, int l) {
                return fetch(a + (A_ALONG_K ? place<SK>(l, i, lda) : place<SM>(i, l, lda)));
            },
            [=](int l, int j) {
                return fetch(b + (B_ALONG_K ? place<SK>(l, j, ldb) : place<SN>(j, l, ldb)));
            });
    store_tile(sum, c + product * p.stride_c, p);
#endif
}
