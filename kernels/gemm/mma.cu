/* C = alpha op(A) op(B) + beta C in double precision, real or complex, on FP64 tensor cores. Matrices
 * are stored by columns.
 *
 * A block computes a tile of C, BM x BN; a warp WM x WN of it. Tiles of A and B are copied to shared
 * memory by asynchronous copies of 16 bytes, STAGES deep, as they lie in memory. The order of k
 * within an instruction is free as long as A and B agree, so thread t of 4 takes consecutive k of a
 * row of 128 bytes, and rows g, g + 8 of a fragment are rows 2 g, 2 g + 1 of the matrix: every
 * read of a fragment is one access of 16 bytes, free of bank conflicts under the permutation
 * `place`, whichever index is contiguous. Nothing is transposed.
 *
 * Macros of the host (gemm/source.c), beside those of the space (gemm/space.c):
 *     COMPLEX             1: complex
 *     A_ALONG_K B_ALONG_K 1: k is contiguous in memory; 0: the row of op(A), the column of op(B)
 *     A_CONJUGATE B_CONJUGATE
 *     C_TRANSPOSED        1: the tile is of C^T; A and B have changed places
 *     EDGES               1: m, n, k need not be multiples of the tile
 *     ALIGNED             1: every column begins at a multiple of 16 bytes
 *     WHOLE_CHUNKS        1: k is a multiple of the entries in 16 bytes
 *     SHIFTED             1: with EDGES; as are m and n, and no smaller than a tile: the last tiles begin earlier, so that all of
 *                         their rows and columns exist, and what is missing along k is missing in the first tile
 *     PERSISTENT          1: a block computes one tile after another; the copies for the next begin while it
 *                         multiplies, which matters where sums are short
 *     NAME                of the kernel */
constexpr int ELEMENT = COMPLEX ? 16 : 8;
constexpr int ROW_K = 128 / ELEMENT;    /* k of a row of 128 bytes */
constexpr int THREAD_K = ROW_K / 4;     /* of these, a thread's */
constexpr int BLOCK_K = KB * ROW_K;
constexpr int THREADS = (BM / WM) * (BN / WN) * 32;
constexpr int PARTS = COMPLEX ? 2 : 1;
constexpr int A_BYTES = BM * KB * 128, STAGE_BYTES = A_BYTES + BN * KB * 128;
constexpr int STEPS = KB * THREAD_K / SUB;     /* of a stage */
constexpr bool CLAMPED = EDGES && !SHIFTED;
constexpr int SLOTS = KI <= 1 ? 1 : KI / 4;    /* k of a thread in an instruction */
constexpr int FRAGMENTS_A = WM / 16, FRAGMENTS_B = WN / 16;
static_assert(BUFFERS == 0 || STEPS % 2 == 0, "two buffers need an even number of steps");
static_assert(SUB % SLOTS == 0, "a step holds whole instructions");

/* One operand: ROWS rows of a tile, i.e. rows of op(A) or columns of op(B). */
template <bool ALONG_K, int ROWS> struct operand {
    static constexpr int CHUNKS = ROWS * KB * 8; /* of 16 bytes */
    static constexpr int LINE = ALONG_K ? 8 * KB : ROWS * ELEMENT / 16; /* contiguous chunks */
    static constexpr int OWN = CHUNKS / THREADS;
    static_assert(CHUNKS % THREADS == 0, "threads share a tile evenly");

    static INLINE int place(int id) {
        const int c = id % LINE, l = id / LINE;
        if (ALONG_K)
            return (((c / 8) * ROWS + l) * 8 + ((c % 8) ^ ((COMPLEX ? l : l >> 1) & 7))) * 16;
        return (l * LINE + (c ^ (((l / THREAD_K) & 3) << 1))) * 16;
    }
    static INLINE int64 source(int id, int64 pitch) {
        return id / LINE * pitch + id % LINE * 16;
    }
    static INLINE int64 advance(int64 pitch) {
        return ALONG_K ? KB * 128 : BLOCK_K * pitch;
    }

    static constexpr int PIECE = ALIGNED ? 16 : 8; /* of a CLAMPED copy */
    static constexpr bool EVEN = THREADS % LINE == 0; /* the chunks of a thread are at the same place of their lines */

    /* A thread's first chunk in a tile of `rows` rows; not EVEN and CLAMPED: the tile itself. Rows beyond are copies of
     * others. */
    static INLINE const unsigned char *first(const unsigned char *tile, int64 pitch, int rows) {
        const int c = threadIdx.x % LINE, l = threadIdx.x / LINE;
        if (!CLAMPED)
            return tile + source(threadIdx.x, pitch);
        if (!EVEN)
            return tile;
        return ALONG_K ? tile + least(l, rows - 1) * pitch + c * 16
                       : tile + l * pitch + least(c * 16, (rows - 1) * ELEMENT / PIECE * PIECE);
    }

    /* from: as `first` has it for this tile along k, of which k exist; the others are zero.
     * leads: the tile is the first along k */
    static INLINE void copy(unsigned char *to, const unsigned char *from, int64 pitch, int rows,
                            int k, bool leads) {
        const int thread = threadIdx.x;
        if (CLAMPED && !EVEN) {
            copy_by_chunk(to, from, pitch, rows, k);
            return;
        }
        const int64 step = THREADS / LINE * pitch;
        const unsigned char *next = from;
        UNROLL for (int i = 0; i < OWN; ++i) {
            const int id = thread + i * THREADS;
            unsigned char *at = to + place(id);
            if constexpr (!CLAMPED) {
                const unsigned char *own =
                    EVEN ? next : from - source(thread, pitch) + source(id, pitch);
                if (SHIFTED && leads)
                    copy_async<16>(at, own,
                                   (ALONG_K ? id % LINE * (16 / ELEMENT) : id / LINE) >= BLOCK_K - k
                                       ? 16
                                       : 0);
                else
                    copy_async<16>(at, own);
                next += step;
            } else {
                const int c = thread % LINE, l = thread / LINE + i * (THREADS / LINE);
                UNROLL for (int p = 0; p < 16; p += PIECE) {
                    const int byte = c * 16 + p;
                    if constexpr (ALONG_K)
                        copy_async<PIECE>(at + p, next + p,
                                          WHOLE_CHUNKS || PIECE == 8
                                              ? (byte < k * ELEMENT ? PIECE : 0)
                                              : clamp_bytes(k * ELEMENT - byte, PIECE));
                    else
                        copy_async<PIECE>(at + p,
                                          next + (p > 0 && byte <= (rows - 1) * ELEMENT ? p : 0),
                                          l < k ? PIECE : 0);
                }
                next += !ALONG_K || l + THREADS / LINE < rows ? step : 0;
            }
        }
    }
    /* The same where lines do not divide the threads evenly. */
    static INLINE void copy_by_chunk(unsigned char *to, const unsigned char *from, int64 pitch,
                                     int rows, int k) {
        pitch = opaque(pitch);
        UNROLL for (int i = 0; i < OWN; ++i) {
            const int id = threadIdx.x + i * THREADS, c = id % LINE, l = id / LINE;
            unsigned char *at = to + place(id);
            UNROLL for (int p = 0; p < 16; p += PIECE) {
                const int byte = c * 16 + p;
                if (ALONG_K)
                    copy_async<PIECE>(at + p, from + least(l, rows - 1) * pitch + byte,
                                      clamp_bytes(k * ELEMENT - byte, PIECE));
                else
                    copy_async<PIECE>(
                        at + p,
                        from + l * pitch + least(byte, (rows - 1) * ELEMENT / PIECE * PIECE),
                        l < k ? PIECE : 0);
            }
        }
    }

    /* The fragments of 16 rows from `row`, slots [slot, slot + SUB) of k: v[part][h][slot]. */
    static INLINE void read(const unsigned char *s, int row, int kb, int slot, int g, int t,
                            double (*v)[2][SUB]) {
        if constexpr (!COMPLEX && ALONG_K) {
            UNROLL for (int h = 0; h < 2; ++h)
                UNROLL for (int q = 0; q < SUB; q += 2) {
                    const double2 x = *(const double2 *)(s + ((kb * ROWS + row + 2 * g + h) * 8 +
                                                              ((2 * t + (slot + q) / 2) ^ g)) *
                                                                 16);
                    v[0][h][q] = x.x;
                    v[0][h][q + 1] = x.y;
                }
        } else if constexpr (!COMPLEX) {
            UNROLL for (int q = 0; q < SUB; ++q) {
                const double2 x = *(const double2 *)(s + ((kb * ROW_K + 4 * t + slot + q) * LINE +
                                                          (row >> 1) + (g ^ (2 * t))) *
                                                             16);
                v[0][0][q] = x.x;
                v[0][1][q] = x.y;
            }
        } else {
            UNROLL for (int h = 0; h < 2; ++h)
                UNROLL for (int q = 0; q < SUB; ++q) {
                    const int k = 2 * t + slot + q;
                    const double2 x = *(
                        const double2 *)(s + (ALONG_K ? (kb * ROWS + row + g + 8 * h) * 8 + (k ^ g)
                                                      : (kb * ROW_K + k) * LINE + row +
                                                            (g ^ (2 * t)) + 8 * h) *
                                                 16);
                    v[0][h][q] = x.x;
                    v[1][h][q] = x.y;
                }
        }
    }
};
static_assert(COMPLEX || SUB % 2 == 0, "16 bytes are two k");
typedef operand<A_ALONG_K, BM> operand_a;
typedef operand<B_ALONG_K, BN> operand_b;

typedef double accumulators[PARTS][FRAGMENTS_A][2 * FRAGMENTS_B][4];
typedef double fragments_a[FRAGMENTS_A][PARTS][2][SUB];
typedef double fragments_b[FRAGMENTS_B][PARTS][2][SUB];

/* A row of fragments, real. Columns alternate in direction, so that the last fragment of B is used
 * again at once. */
INLINE void multiply_real(accumulators &sum, const fragments_a &fa, const fragments_b &fb, int i,
                          int q) {
    double a[2 * SLOTS];
    UNROLL for (int x = 0; x < SLOTS; ++x) {
        a[2 * x] = fa[i][0][0][q + x];
        a[2 * x + 1] = fa[i][0][1][q + x];
    }
    UNROLL for (int jj = 0; jj < 2 * FRAGMENTS_B; ++jj) {
        const int j = (i & 1) ? 2 * FRAGMENTS_B - 1 - jj : jj;
        double b[SLOTS];
        UNROLL for (int x = 0; x < SLOTS; ++x) b[x] = fb[j / 2][0][j & 1][q + x];
        mma<KI>(sum[0][i][j], a, b);
    }
}

/* The same, complex: four products. Conjugation changes signs of A's parts and of B's. */
INLINE void multiply_complex(accumulators &sum, const fragments_a &fa, const fragments_b &fb, int i,
                             int q) {
    double re[2 * SLOTS], im[2 * SLOTS], cross[2 * SLOTS]; /* cross: times Im B, in the real part */
    UNROLL for (int x = 0; x < SLOTS; ++x)
        UNROLL for (int h = 0; h < 2; ++h) {
            const double y = fa[i][PARTS - 1][h][q + x];
            re[2 * x + h] = fa[i][0][h][q + x];
            im[2 * x + h] = A_CONJUGATE ? negative(y) : y;
            cross[2 * x + h] = A_CONJUGATE == B_CONJUGATE ? negative(y) : y;
        }
    UNROLL for (int pass = 0; pass < 4; ++pass)
        UNROLL for (int jj = 0; jj < 2 * FRAGMENTS_B; ++jj) {
            const int j = ((i + pass) & 1) ? 2 * FRAGMENTS_B - 1 - jj : jj;
            double b[SLOTS];
            UNROLL for (int x = 0; x < SLOTS; ++x) {
                const double y = fb[j / 2][PARTS - 1][j & 1][q + x];
                b[x] = pass == 0 || pass == 3    ? fb[j / 2][0][j & 1][q + x]
                       : pass == 1 && B_CONJUGATE ? negative(y)
                                                  : y;
            }
            mma<KI>(sum[pass == 1 || pass == 3 ? PARTS - 1 : 0][i][j],
                    pass < 2 ? re : pass == 2 ? cross : im, b);
        }
}

INLINE void multiply_row(accumulators &sum, const fragments_a &fa, const fragments_b &fb, int i) {
    UNROLL for (int q = 0; q < SUB; q += SLOTS) {
        if constexpr (COMPLEX)
            multiply_complex(sum, fa, fb, i, q);
        else
            multiply_real(sum, fa, fb, i, q);
    }
}

/* Two neighbours in a column of C. */
INLINE void store_pair(double *at, const gemm_values &p, double x, double y, bool has_x,
                       bool has_y) {
    const double alpha = p.alpha[0], beta = p.beta[0];
    x *= alpha;
    y *= alpha;
    if (ALIGNED && has_x && has_y) {
        double2 r;
        r.x = x;
        r.y = y;
        if (beta != 0) {
            const double2 c = *(const double2 *)at;
            r.x += beta * c.x;
            r.y += beta * c.y;
        }
        *(double2 *)at = r;
    } else {
        if (has_x)
            at[0] = beta != 0 ? x + beta * at[0] : x;
        if (has_y)
            at[1] = beta != 0 ? y + beta * at[1] : y;
    }
}

INLINE void store_complex(double2 *at, const gemm_values &p, double re, double im) {
    double2 r;
    r.x = p.alpha[0] * re - p.alpha[1] * im;
    r.y = p.alpha[0] * im + p.alpha[1] * re;
    if (p.beta[0] != 0 || p.beta[1] != 0) {
        const double2 c = *at;
        r.x += p.beta[0] * c.x - p.beta[1] * c.y;
        r.y += p.beta[0] * c.y + p.beta[1] * c.x;
    }
    *at = r;
}

/* A block's tile of C. SHIFTED: rows and columns before the first are another block's. */
struct tile_place {
    int row, column, first_row, first_column;

    INLINE void set(const gemm_values &p, int r, int c) {
        first_row = r * BM;
        first_column = c * BN;
        row = SHIFTED ? least(first_row, p.m - BM) : first_row;
        column = SHIFTED ? least(first_column, p.n - BN) : first_column;
    }
    INLINE bool has(const gemm_values &p, int r, int c) const {
        return !EDGES || (SHIFTED ? r >= first_row && c >= first_column : r < p.m && c < p.n);
    }
};

/* The tile of a warp, which begins at a row and a column of that of its block. */
INLINE void store_tile(double *C, const gemm_values &p, const accumulators &sum,
                       const tile_place &own, int warp_row, int warp_column) {
    const int g = (threadIdx.x & 31) >> 2, t = threadIdx.x & 3;
    const int row = own.row + warp_row, column = own.column + warp_column;
    UNROLL for (int i = 0; i < FRAGMENTS_A; ++i)
        UNROLL for (int j = 0; j < 2 * FRAGMENTS_B; ++j)
            UNROLL for (int h = 0; h < 2; ++h)
                UNROLL for (int e = 0; e < 2; ++e) {
                    if constexpr (COMPLEX) {
                        const int r = row + 16 * i + g + 8 * h, c = column + 8 * j + 2 * t + e;
                        double2 *at = (double2 *)C + (C_TRANSPOSED ? c + r * p.ldc : r + c * p.ldc);
                        if (own.has(p, r, c))
                            store_complex(at, p, sum[0][i][j][2 * h + e],
                                          sum[PARTS - 1][i][j][2 * h + e]);
                    } else if (C_TRANSPOSED && j % 2 == 0) {
                        const int r = row + 16 * i + 2 * g + h;
                        const int c = column + 8 * j + 4 * t + 2 * e;
                        store_pair(C + c + r * p.ldc, p, sum[0][i][j][2 * h + e],
                                   sum[0][i][j + 1][2 * h + e], own.has(p, r, c),
                                   own.has(p, r, c + 1));
                    } else if (!C_TRANSPOSED && h == 0) {
                        const int r = row + 16 * i + 2 * g;
                        const int c = column + 16 * (j / 2) + 4 * t + 2 * e + j % 2;
                        store_pair(C + r + c * p.ldc, p, sum[0][i][j][e], sum[0][i][j][2 + e],
                                   own.has(p, r, c), own.has(p, r + 1, c));
                    }
                }
}

extern "C" __global__ void __launch_bounds__(THREADS, MINB)
    NAME(int64 n_products, const unsigned char *A, const unsigned char *B, unsigned char *C,
         BY_VALUE(gemm_values) p) {
    DYNAMIC_SHARED(shared);
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, g = lane >> 2, t = lane & 3;
    const int warp_row = (warp % (BM / WM)) * WM, warp_column = (warp / (BM / WM)) * WN;
    const int down = EDGES ? (p.m + BM - 1) / BM : p.m / BM;
    const int across = EDGES ? (p.n + BN - 1) / BN : p.n / BN;
    const int64 pitch_a = p.lda * ELEMENT, pitch_b = p.ldb * ELEMENT;
    const int n_blocks = (int)n_products * (down * across);
    const unsigned char *from_a, *from_b;
    int product, rows_a, rows_b;
    tile_place own;
    const int n_tiles = EDGES ? (p.k + BLOCK_K - 1) / BLOCK_K : p.k / BLOCK_K;
    const int before = SHIFTED ? n_tiles * BLOCK_K - p.k : 0; /* k of the first tile that are none */
    auto locate = [&](int block) {
        int row, column;
        product = block / (down * across);
        find_tile<GROUP>(block % (down * across), down, across, row, column);
        own.set(p, row, column);
    };
    auto start = [&](int block) {
        locate(block);
        rows_a = least(p.m - own.row, BM);
        rows_b = least(p.n - own.column, BN);
        from_a = A + (p.first_a + product * p.stride_a) * ELEMENT +
                 (A_ALONG_K ? own.row * pitch_a - before * ELEMENT
                            : (int64)own.row * ELEMENT - before * pitch_a);
        from_b = B + (p.first_b + product * p.stride_b) * ELEMENT +
                 (B_ALONG_K ? own.column * pitch_b - before * ELEMENT
                            : (int64)own.column * ELEMENT - before * pitch_b);
        from_a = operand_a::first(from_a, pitch_a, rows_a);
        from_b = operand_b::first(from_b, pitch_b, rows_b);
    };
    start(blockIdx.x);
    int read = 0, write = STAGES - 1;
    int block = blockIdx.x, asked = 0; /* PERSISTENT: of the next copies */

    auto ask = [&](int stage, int tile, bool leads) {
        if (PERSISTENT)
            tile = block < n_blocks ? asked : n_tiles;
        if (tile < n_tiles) {
            unsigned char *to = shared + stage * STAGE_BYTES;
            const int k = SHIFTED ? BLOCK_K - before : least(p.k - tile * BLOCK_K, BLOCK_K);
            operand_a::copy(to, from_a, pitch_a, rows_a, k, leads);
            operand_b::copy(to + A_BYTES, from_b, pitch_b, rows_b, k, leads);
            from_a += operand_a::advance(pitch_a);
            from_b += operand_b::advance(pitch_b);
            if (PERSISTENT && ++asked == n_tiles) {
                asked = 0;
                block += gridDim.x;
                if (block < n_blocks)
                    start(block);
            }
        }
        copy_commit();
    };
    accumulators sum;
    auto clear = [&]() {
        UNROLL for (int x = 0; x < PARTS; ++x)
            UNROLL for (int i = 0; i < FRAGMENTS_A; ++i)
                UNROLL for (int j = 0; j < 2 * FRAGMENTS_B; ++j)
                    UNROLL for (int e = 0; e < 4; ++e) sum[x][i][j][e] = 0;
    };
    auto store = [&]() {
        store_tile((double *)C + (p.first_c + product * p.stride_c) * PARTS, p, sum, own, warp_row,
                   warp_column);
    };
    /* After a tile along k: a PERSISTENT block starts its next tile of C. */
    int finished = blockIdx.x;
    auto finish = [&](int &tile) {
        if (!PERSISTENT || tile < n_tiles - 1)
            return;
        locate(finished);
        store();
        clear();
        finished += gridDim.x;
        if (finished < n_blocks)
            tile = -1;
    };
    clear();
    UNROLL for (int s = 0; s < STAGES - 1; ++s) ask(s, s, s == 0);

    /* BUFFERS 0: read fragments, then multiply; 1: two sets of fragments; 2: two sets of B's, and a
     * row of A's is read again in its place after its last use. */
    fragments_a fa[BUFFERS == 1 ? 2 : 1];
    fragments_b fb[BUFFERS ? 2 : 1];
    auto read_a = [&](int set, int i, int step) {
        operand_a::read(shared + read * STAGE_BYTES, warp_row + 16 * i, step / (THREAD_K / SUB),
                        step % (THREAD_K / SUB) * SUB, g, t, fa[set][i]);
    };
    auto read_b = [&](int set, int step) {
        UNROLL for (int j = 0; j < FRAGMENTS_B; ++j)
            operand_b::read(shared + read * STAGE_BYTES + A_BYTES, warp_column + 16 * j,
                            step / (THREAD_K / SUB), step % (THREAD_K / SUB) * SUB, g, t,
                            fb[set][j]);
    };
    auto refill = [&](int tile) {
        ask(write, tile + STAGES - 1, false);
        write = write + 1 == STAGES ? 0 : write + 1;
    };
    auto next_stage = [&]() {
        copy_wait<STAGES - 2>();
        __syncthreads();
    };
    if constexpr (BUFFERS == 0) {
        NO_UNROLL for (int tile = 0; tile < n_tiles; ++tile) {
            next_stage();
            refill(tile);
            UNROLL for (int s = 0; s < STEPS; ++s) {
                UNROLL for (int i = 0; i < FRAGMENTS_A; ++i) read_a(0, i, s);
                read_b(0, s);
                UNROLL for (int i = 0; i < FRAGMENTS_A; ++i) multiply_row(sum, fa[0], fb[0], i);
            }
            read = read + 1 == STAGES ? 0 : read + 1;
            finish(tile);
        }
    } else {
        next_stage();
        UNROLL for (int i = 0; i < FRAGMENTS_A; ++i) read_a(0, i, 0);
        read_b(0, 0);
        NO_UNROLL for (int tile = 0; tile < n_tiles; ++tile) {
            UNROLL for (int s = 0; s < STEPS; ++s) {
                if (s == STEPS - 1) {
                    next_stage();
                    read = read + 1 == STAGES ? 0 : read + 1;
                }
                if constexpr (BUFFERS == 1)
                    UNROLL for (int i = 0; i < FRAGMENTS_A; ++i)
                        read_a((s + 1) & 1, i, (s + 1) % STEPS);
                read_b((s + 1) & 1, (s + 1) % STEPS);
                if (s == 0)
                    refill(tile);
                UNROLL for (int i = 0; i < FRAGMENTS_A; ++i) {
                    multiply_row(sum, fa[BUFFERS == 1 ? s & 1 : 0], fb[s & 1], i);
                    if constexpr (BUFFERS == 2)
                        read_a(0, i, (s + 1) % STEPS);
                }
            }
            finish(tile);
        }
    }
    if (!PERSISTENT)
        store();
}
