/* Tiles of products of small matrices, a tile in the registers of a warp. The entries of A and B are read where
 * they are, by what the caller passes: a(i, l) and b(l, j). A warp reads each once if a product is one tile, so that
 * they may be computed on the way. Needs INLINE, UNROLL, real, and MATRIX_DEPTH: the largest k of the
 * instructions of tensor cores, 0 for units of fused multiply-adds. */

#define MEMBER __device__ __forceinline__
#ifndef ROWS_RUN /* without tensor cores: the rows, or the columns, of a lane follow one another */
#define ROWS_RUN 0
#define COLUMNS_RUN 0
#endif

/* M x N: of the product, of which a tile has 16 MB x 8 NB. Lane 4 g + t holds
 *     v[(mb * NB + nb) * 4 + 2 h + e]    row 16 mb + g + 8 h, column 8 nb + 2 t + e of the tile */
template <int M, int N, int MB, int NB> struct warp_tile {
    static constexpr int DOWN = (M + 16 * MB - 1) / (16 * MB), ACROSS = (N + 8 * NB - 1) / (8 * NB);
    static constexpr int COUNT = DOWN * ACROSS, ENTRIES = MB * NB * 4;
    real v[ENTRIES];
    int row, column; /* of the first entry */

    MEMBER void start(int number) {
        row = number / ACROSS * (16 * MB);
        column = number % ACROSS * (8 * NB);
        UNROLL for (int i = 0; i < ENTRIES; ++i) v[i] = 0;
    }
    MEMBER int row_of(int i) const {
        const int g = threadIdx.x % 32 / 4;
        return row + (ROWS_RUN ? g * 2 * MB + i / (4 * NB) * 2 + i % 4 / 2
                               : i / (4 * NB) * 16 + i % 4 / 2 * 8 + g);
    }
    MEMBER int column_of(int i) const {
        const int t = threadIdx.x % 4;
        return column + (MATRIX_DEPTH > 0 ? i / 4 % NB * 8 + t * 2 + i % 2
                         : COLUMNS_RUN    ? t * 2 * NB + i / 4 % NB * 2 + i % 2
                                          : (i / 4 % NB * 2 + i % 2) * 4 + t);
    }
    MEMBER bool has(int i) const {
        return (M % (16 * MB) == 0 || row_of(i) < M) && (N % (8 * NB) == 0 || column_of(i) < N);
    }
    /* += A B, with sums of K */
    template <int K, class A, class B> MEMBER void add(const A &a, const B &b) {
#if MATRIX_DEPTH > 0
        _Pragma("unroll 4") for (int l = 0; l < K; l += 4) step<K>(a, b, l);
#else
        constexpr int WHOLE = K / 4 * 4;
        _Pragma("unroll 2") for (int l = 0; l < WHOLE; l += 4) steps<4>(a, b, l);
        if constexpr (WHOLE < K)
            steps<K - WHOLE>(a, b, WHOLE);
#endif
    }
    /* L of the K terms: what is contiguous in shared memory is read in one access by the compiler */
    template <int L, class A, class B> MEMBER void steps(const A &a, const B &b, int l) {
        real x[MB * 2][L], y[NB * 2][L];
        UNROLL for (int i = 0; i < MB * 2; ++i) {
            const int at = row_of(i / 2 * 4 * NB + i % 2 * 2);
            UNROLL for (int s = 0; s < L; ++s)
                x[i][s] = M % (16 * MB) == 0 || at < M ? a(at, l + s) : (real)0;
        }
        UNROLL for (int j = 0; j < NB * 2; ++j) {
            const int at = column_of(j / 2 * 4 + j % 2);
            UNROLL for (int s = 0; s < L; ++s)
                y[j][s] = N % (8 * NB) == 0 || at < N ? b(l + s, at) : (real)0;
        }
        UNROLL for (int s = 0; s < L; ++s)
            UNROLL for (int i = 0; i < ENTRIES; ++i)
                v[i] += x[i / (4 * NB) * 2 + i % 4 / 2][s] * y[i / 4 % NB * 2 + i % 2][s];
    }
#if MATRIX_DEPTH > 0
    template <int K, class A, class B> MEMBER void step(const A &a, const B &b, int l) {
        const int g = threadIdx.x % 32 / 4, mine = l + threadIdx.x % 4;
        const bool inside = K % 4 == 0 || mine < K;
        real x[MB][2], y[NB];
        UNROLL for (int i = 0; i < MB * 2; ++i) {
            const int at = row + i * 8 + g;
            x[i / 2][i % 2] = inside && (M % (16 * MB) == 0 || at < M) ? a(at, mine) : (real)0;
        }
        UNROLL for (int j = 0; j < NB; ++j) {
            const int at = column + j * 8 + g;
            y[j] = inside && (N % (8 * NB) == 0 || at < N) ? b(mine, at) : (real)0;
        }
        UNROLL for (int i = 0; i < MB; ++i)
            UNROLL for (int j = 0; j < NB; ++j)
                mma<MATRIX_DEPTH >= 16 ? 4 : 0>(v + (i * NB + j) * 4, x[i], &y[j]);
    }
#endif
};
