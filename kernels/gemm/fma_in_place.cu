/* Operands lie in shared memory as in device memory; nothing is transposed. A step has CHUNK_ELEMENTS k. A chunk of 16
 * bytes holds that many k of one row where k is contiguous, else that many rows of one k; either way a
 * thread needs as many chunks for its rows. It holds those of one operand, in two sets, and reads those of the other one
 * by one, each AHEAD of its use. Held is an operand whose rows are contiguous, if there is one: then each
 * chunk of the other is used for all of its entries at once. Source: as mma.cu, for FP64 tensor cores. */
constexpr int STEPS = BK / CHUNK_ELEMENTS, RING = 4, AHEAD = 2;
static_assert(STEPS % 2 == 0 && STAGES > 2, "two sets of fragments; two stages are read at once");

/* One operand: ROWS rows of a tile, i.e. rows of op(A) or columns of op(B); OWN of them a thread's, L lanes apart. */
template <bool ALONG_K, int ROWS, int OWN, int L> struct operand {
    static constexpr int LINE = (ALONG_K ? BK : ROWS) / CHUNK_ELEMENTS; /* contiguous chunks */
    static constexpr int COPIES = ROWS * BK / CHUNK_ELEMENTS / THREADS;
    static constexpr int ACROSS = ALONG_K ? OWN : OWN / CHUNK_ELEMENTS; /* chunks of the same k */
    static constexpr int BOUND = LINE < 8 ? LINE : 8, PER = 8 / BOUND; /* lines in 128 bytes */
    static constexpr int SLOTS = ALONG_K ? LINE : 1;
    static_assert(ROWS * BK / CHUNK_ELEMENTS % THREADS == 0, "threads share a tile evenly");

    static INLINE int64 source(int id, int64 pitch) {
        return id / LINE * pitch + id % LINE * 16;
    }
    static INLINE int64 advance(int64 pitch) {
        return ALONG_K ? BK * ELEMENT : BK * pitch;
    }
    /* Chunk c of line l. Along k chunks are permuted by exclusive or: neither eight neighbouring rows, which are read at
     * once, nor the chunks of a row, which are written at once, have conflicts of banks. */
    static INLINE int place(int l, int c) {
        return (l * LINE + (ALONG_K ? c ^ (l / PER & (BOUND - 1)) : c)) * 16;
    }
    static constexpr int PIECE = ALIGNED ? 16 : ELEMENT; /* of a CLAMPED copy */
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
        UNROLL for (int i = 0; i < COPIES; ++i) {
            const int id = thread + i * THREADS, l = id / LINE;
            unsigned char *at = to + place(l, id % LINE);
            if constexpr (!CLAMPED) {
                const unsigned char *own =
                    EVEN ? from + i * step : from - source(thread, pitch) + source(id, pitch);
                if (SHIFTED && leads)
                    copy_async<16>(
                        at, own, (ALONG_K ? id % LINE * CHUNK_ELEMENTS : l) >= BK - k ? 16 : 0);
                else
                    copy_async<16>(at, own);
            } else {
                const int c = thread % LINE;
                UNROLL for (int q = 0; q < 16; q += PIECE) {
                    const int byte = c * 16 + q;
                    if constexpr (ALONG_K)
                        copy_async<PIECE>(at + q, next + q,
                                          WHOLE_CHUNKS || PIECE == ELEMENT
                                              ? (byte < k * ELEMENT ? PIECE : 0)
                                              : clamp_bytes(k * ELEMENT - byte, PIECE));
                    else
                        copy_async<PIECE>(
                            at + q,
                            next + (q > 0 ? least(q, (rows - 1) * ELEMENT - least(c * 16, (rows - 1) * ELEMENT)) : 0),
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
        UNROLL for (int i = 0; i < COPIES; ++i) {
            const int id = threadIdx.x + i * THREADS, c = id % LINE, l = id / LINE;
            unsigned char *at = to + place(l, c);
            UNROLL for (int q = 0; q < 16; q += PIECE) {
                const int byte = c * 16 + q;
                if (ALONG_K)
                    copy_async<PIECE>(at + q, from + least(l, rows - 1) * pitch + byte,
                                      clamp_bytes(k * ELEMENT - byte, PIECE));
                else
                    copy_async<PIECE>(
                        at + q,
                        from + l * pitch + least(byte, (rows - 1) * ELEMENT / PIECE * PIECE),
                        l < k ? PIECE : 0);
            }
        }
    }
    /* Where the chunks of a lane are in a stage, for every value of the permutation. */
    static INLINE void start(int first, int lane, int (&offsets)[SLOTS]) {
        UNROLL for (int i = 0; i < SLOTS; ++i)
            offsets[i] = ALONG_K ? place(first + lane, i) : place(0, first / CHUNK_ELEMENTS + lane);
    }
    /* Chunk i of the thread's of a step. */
    static INLINE void read(const unsigned char *s, const int (&offsets)[SLOTS], int step, int i,
                            real *v) {
        const int slot = ALONG_K ? step ^ (i * L / PER & (BOUND - 1)) : 0;
        const int beyond = ALONG_K ? i * L * LINE
                                   : (step * CHUNK_ELEMENTS + i / ACROSS) * LINE + i % ACROSS * L;
        chunk_reals w;
        w.all = *(const chunk *)(s + offsets[slot] + beyond * 16);
        UNROLL for (int x = 0; x < CHUNK_REALS; ++x) v[x] = w.each[x];
    }
    /* Where row i of a thread is in the tile. */
    static INLINE int row(int first, int lane, int i) {
        return first + (ALONG_K ? i * L + lane
                                : (i / CHUNK_ELEMENTS * L + lane) * CHUNK_ELEMENTS +
                                      i % CHUNK_ELEMENTS);
    }
    /* Row i at k of a step, in the chunks that are held. */
    static INLINE const real *entry(const real (&v)[OWN][CHUNK_REALS], int i, int k) {
        return ALONG_K ? v[i] + k * PARTS
                       : v[k * ACROSS + i / CHUNK_ELEMENTS] + i % CHUNK_ELEMENTS * PARTS;
    }
};
typedef operand<A_ALONG_K, BM, TM, LM> operand_a;
typedef operand<B_ALONG_K, BN, TN, LN> operand_b;
/* HOLD_B: B is held, and A is read chunk by chunk */
constexpr bool HOLD_B = A_ALONG_K && !B_ALONG_K;
template <bool B> struct roles {
    typedef operand_a held;
    typedef operand_b passing;
};
template <> struct roles<true> {
    typedef operand_b held;
    typedef operand_a passing;
};
typedef roles<HOLD_B>::held held;
typedef roles<HOLD_B>::passing passing;
constexpr int HELD = HOLD_B ? TN : TM, PASSING = HOLD_B ? TM : TN;
static_assert(PASSING % RING == 0, "chunks have fixed registers");
typedef real fragments[HELD][CHUNK_REALS];

INLINE real &entry_of(accumulators &sum, int part, int h, int j) {
    return HOLD_B ? sum[part][j][h] : sum[part][h][j];
}

/* Row j of the passing operand at k, b, times all that is held. For the order of the sums: as in fma_transpose.cu. */
INLINE void multiply_row(accumulators &sum, const fragments &a, const real *b, int j, int k) {
    constexpr int IM = PARTS - 1;
    constexpr bool MINUS_A = HOLD_B ? B_CONJUGATE : A_CONJUGATE;
    constexpr bool MINUS_B = HOLD_B ? A_CONJUGATE : B_CONJUGATE;
    const real re = b[0], im = MINUS_B ? -b[IM] : b[IM];
    real x[HELD], y[HELD];
    UNROLL for (int i = 0; i < HELD; ++i) {
        const real *v = held::entry(a, i, k);
        x[i] = v[0];
        y[i] = MINUS_A ? -v[IM] : v[IM];
    }
    UNROLL for (int i = 0; i < HELD; ++i) entry_of(sum, 0, i, j) += x[i] * re;
    if constexpr (COMPLEX) {
        UNROLL for (int i = HELD - 1; i >= 0; --i) entry_of(sum, IM, i, j) += y[i] * re;
        UNROLL for (int i = 0; i < HELD; ++i) entry_of(sum, 0, i, j) -= y[i] * im;
        UNROLL for (int i = HELD - 1; i >= 0; --i) entry_of(sum, IM, i, j) += x[i] * im;
    }
}
INLINE void multiply_chunk(accumulators &sum, const fragments &a, const real *b, int x) {
    constexpr bool ALONG_K = HOLD_B ? A_ALONG_K : B_ALONG_K;
    UNROLL for (int e = 0; e < CHUNK_ELEMENTS; ++e)
        multiply_row(sum, a, b + e * PARTS,
                     ALONG_K ? x : x % passing::ACROSS * CHUNK_ELEMENTS + e,
                     ALONG_K ? e : x / passing::ACROSS);
}

extern "C" __global__ void __launch_bounds__(THREADS, MINB)
    NAME(int64 n_products, const unsigned char *A, const unsigned char *B, unsigned char *C,
         BY_VALUE(gemm_values) p) {
    DYNAMIC_SHARED(shared);
    const places at(p);
    const int64 pitch_a = p.lda * ELEMENT, pitch_b = p.ldb * ELEMENT;
    const int n_tiles = EDGES ? (p.k + BK - 1) / BK : p.k / BK;
    const int before = SHIFTED ? n_tiles * BK - p.k : 0;
    const unsigned char *from_a = operand_a::first(at.a(A, p, before), pitch_a, at.rows);
    const unsigned char *from_b = operand_b::first(at.b(B, p, before), pitch_b, at.columns);
    int asked = 0, read = 0, write = STAGES - 1;

    auto ask = [&](int stage, bool leads) {
        if (asked < n_tiles) {
            unsigned char *to = shared + stage * STAGE_BYTES;
            const int k = SHIFTED ? BK - before : least(p.k - asked * BK, BK);
            operand_a::copy(to, from_a, pitch_a, at.rows, k, leads);
            operand_b::copy(to + A_BYTES, from_b, pitch_b, at.columns, k, leads);
            from_a += operand_a::advance(pitch_a);
            from_b += operand_b::advance(pitch_b);
        }
        ++asked;
        copy_commit();
    };
    accumulators sum;
    UNROLL for (int x = 0; x < PARTS; ++x)
        UNROLL for (int i = 0; i < TM; ++i)
            UNROLL for (int j = 0; j < TN; ++j) sum[x][i][j] = 0;
    UNROLL for (int s = 0; s < STAGES - 1; ++s) ask(s, s == 0);

    fragments a[2];
    real b[RING][CHUNK_REALS];
    int held_at[held::SLOTS], passing_at[passing::SLOTS];
    held::start(HOLD_B ? at.warp_column : at.warp_row, HOLD_B ? at.lane_column : at.lane_row, held_at);
    passing::start(HOLD_B ? at.warp_row : at.warp_column, HOLD_B ? at.lane_row : at.lane_column,
                   passing_at);
    const unsigned char *now = shared, *next = shared + STAGE_BYTES;
    auto fetch_held = [&](int step, int i) {
        held::read((step == STEPS ? next : now) + (HOLD_B ? A_BYTES : 0), held_at, step % STEPS, i,
                   a[step & 1][i]);
    };
    auto fetch_passing = [&](int step, int x) {
        passing::read((step == STEPS ? next : now) + (HOLD_B ? 0 : A_BYTES), passing_at,
                      step % STEPS, x, b[x % RING]);
    };
    copy_wait<STAGES - 2>();
    __syncthreads();
    UNROLL for (int i = 0; i < HELD; ++i) fetch_held(0, i);
    UNROLL for (int x = 0; x < AHEAD; ++x) fetch_passing(0, x);
    NO_UNROLL for (int tile = 0; tile < n_tiles; ++tile) {
        UNROLL for (int step = 0; step < STEPS; ++step)
            UNROLL for (int x = 0; x < PASSING; ++x) {
                if (step == STEPS - 1 && x == 0) { /* from here on the next stage is read, too */
                    copy_wait<STAGES - 3>();
                    __syncthreads();
                    ask(write, false);
                    write = write + 1 == STAGES ? 0 : write + 1;
                }
                UNROLL for (int i = x * HELD / PASSING; i < (x + 1) * HELD / PASSING; ++i)
                    fetch_held(step + 1, i);
                fetch_passing(x + AHEAD < PASSING ? step : step + 1, (x + AHEAD) % PASSING);
                multiply_chunk(sum, a[step & 1], b[x % RING], x);
            }
        read = read + 1 == STAGES ? 0 : read + 1;
        now = next;
        next = shared + (read + 1 == STAGES ? 0 : read + 1) * STAGE_BYTES;
    }
    real *to = (real *)C + (p.first_c + at.product * p.stride_c) * PARTS;
    constexpr int COUNT = A_ALONG_K ? 1 : CHUNK_ELEMENTS;
    UNROLL for (int j = 0; j < TN; ++j)
        UNROLL for (int i = 0; i < TM; i += COUNT) {
            const int c = at.column + operand_b::row(at.warp_column, at.lane_column, j);
            const int r = at.row + operand_a::row(at.warp_row, at.lane_row, i);
            real re[COUNT], im[COUNT];
            UNROLL for (int x = 0; x < COUNT; ++x) {
                re[x] = sum[0][i + x][j];
                im[x] = sum[PARTS - 1][i + x][j];
            }
            if (at.has(p, r, c))
                store<COUNT>(to + (r + c * p.ldc) * PARTS, p, re, im, at.below(p, r, COUNT));
        }
}
