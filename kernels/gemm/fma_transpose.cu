/* Both operands lie k by k in shared memory. Where another index is contiguous in device memory, asynchronous copies
 * bring them so. Where k is contiguous, the tile is transposed on its way through registers, with reads of 16 bytes.
 * Chunks are permuted by exclusive or, so that neither the transposing stores nor the reads have bank
 * conflicts. Fragments of the next k are read while those of this one are multiplied. */
static_assert(LM * TM / CHUNK_ELEMENTS % 8 == 0 && LN * TN / CHUNK_ELEMENTS % 8 == 0,
              "the permutation stays within a warp's tile");
static_assert(BK % 2 == 0, "fragments have two buffers");

/* One operand: ROWS rows of a tile, i.e. rows of op(A) or columns of op(B). */
template <bool ALONG_K, int ROWS> struct operand {
    static constexpr int ROW_CHUNKS = ROWS / CHUNK_ELEMENTS;
    static constexpr int LINE = ALONG_K ? BK / CHUNK_ELEMENTS : ROW_CHUNKS; /* contiguous chunks */
    static constexpr int CHUNKS = ROWS * BK / CHUNK_ELEMENTS;
    static constexpr int OWN = CHUNKS / THREADS;
    static_assert(CHUNKS % THREADS == 0, "threads share a tile evenly");
    static constexpr int HELD = ALONG_K ? OWN : 1;

    static INLINE int permutation(int k) {
        return ALONG_K ? (k / CHUNK_ELEMENTS * (8 / LINE > 0 ? 8 / LINE : 1)) & 7 : 0;
    }
    static INLINE int64 source(int id, int64 pitch) {
        return id / LINE * pitch + id % LINE * 16;
    }
    static INLINE int64 advance(int64 pitch) {
        return ALONG_K ? BK * ELEMENT : BK * pitch;
    }
    /* Element `row` of k. */
    static INLINE int place(int k, int row) {
        return (k * ROW_CHUNKS + ((row / CHUNK_ELEMENTS) ^ permutation(k))) * 16 +
               row % CHUNK_ELEMENTS * ELEMENT;
    }

    /* A chunk along k, of whose elements `k` exist, into a register. */
    static INLINE void load(chunk_reals &to, const unsigned char *from, int k) {
        if constexpr (ALIGNED && !EDGES)
            to.all = __ldg((const chunk *)from);
        else if (ALIGNED && k >= (WHOLE_CHUNKS ? 1 : CHUNK_ELEMENTS))
            to.all = __ldg((const chunk *)from);
        else if constexpr (ALIGNED && WHOLE_CHUNKS)
            UNROLL for (int x = 0; x < CHUNK_REALS; ++x) to.each[x] = 0;
        else
            UNROLL for (int x = 0; x < CHUNK_REALS; ++x) to.each[x] =
                x / PARTS < k ? __ldg((const real *)from + x) : (real)0;
    }

    /* from: of the tile. rows, k: how many the tile has; rows beyond are copies of the last, the
     * other k are zero. What is transposed in registers waits in `held`. leads: the tile is the first along k */
    static INLINE void ask(unsigned char *to, const unsigned char *from, int64 pitch, int rows,
                           int k, bool leads, chunk_reals *held) {
        const int thread = threadIdx.x;
        pitch = opaque(pitch);
        UNROLL for (int i = 0; i < OWN; ++i) {
            const int id = thread + i * THREADS, c = id % LINE, l = id / LINE;
            if constexpr (ALONG_K)
                load(held[i], from + (CLAMPED ? least(l, rows - 1) : l) * pitch + c * 16,
                     CLAMPED                                      ? k - c * CHUNK_ELEMENTS
                     : leads && SHIFTED && c * CHUNK_ELEMENTS < BK - k ? 0
                                                                  : CHUNK_ELEMENTS);
            else if (leads && SHIFTED)
                copy_async<16>(to + id * 16, from + source(id, pitch), l >= BK - k ? 16 : 0);
            else if constexpr (!CLAMPED)
                copy_async<16>(to + id * 16, from + source(id, pitch));
            else {
                constexpr int PIECE = ALIGNED ? 16 : ELEMENT;
                UNROLL for (int q = 0; q < 16; q += PIECE)
                    copy_async<PIECE>(
                        to + id * 16 + q,
                        from + l * pitch + least(c * 16 + q, (rows - 1) * ELEMENT / PIECE * PIECE),
                        l < k ? PIECE : 0);
            }
        }
    }
    /* Store what waits in registers. */
    static INLINE void put(unsigned char *to, const chunk_reals *held) {
        if constexpr (ALONG_K)
            UNROLL for (int i = 0; i < OWN; ++i) {
                const int id = threadIdx.x + i * THREADS, row = id / LINE;
                UNROLL for (int x = 0; x < CHUNK_ELEMENTS; ++x) {
                    real *at = (real *)(to + place(id % LINE * CHUNK_ELEMENTS + x, row));
                    if constexpr (COMPLEX && SINGLE) {
                        float2 z;
                        z.x = held[i].each[2 * x];
                        z.y = held[i].each[2 * x + 1];
                        *(float2 *)at = z;
                    } else
                        UNROLL for (int y = 0; y < PARTS; ++y) at[y] = held[i].each[PARTS * x + y];
                }
            }
    }
    /* The thread's chunks of k: chunk i has rows first + (i L + l) CHUNK_ELEMENTS. */
    template <int T, int L>
    static INLINE void read(const unsigned char *s, int first, int l, int k, real *v) {
        UNROLL for (int i = 0; i < T / CHUNK_ELEMENTS; ++i) {
            const int f = permutation(k);
            const int c = L >= 8 ? i * L + (l ^ f) : ((i * L) ^ (f & 4)) + (l ^ (f & 3));
            chunk_reals w;
            w.all = *(const chunk *)(s + (k * ROW_CHUNKS + first / CHUNK_ELEMENTS + c) * 16);
            UNROLL for (int x = 0; x < CHUNK_REALS; ++x) v[CHUNK_REALS * i + x] = w.each[x];
        }
    }
};
typedef operand<A_ALONG_K, BM> operand_a;
typedef operand<B_ALONG_K, BN> operand_b;

/* The order of the sums decides which registers the compiler gives them: in this one most
 * instructions find one factor in the cache of operands, and the others in different banks. In the
 * order (re re, re im, im im, im re) a fifth more cycles go to conflicts of banks. */
INLINE void multiply(accumulators &sum, const real *a, const real *b) {
    constexpr int RE = 0, IM = PARTS - 1;
    UNROLL for (int j = 0; j < TN; ++j) {
        if constexpr (!COMPLEX) {
            UNROLL for (int ii = 0; ii < TM; ++ii) {
                const int i = (j & 1) ? TM - 1 - ii : ii;
                sum[0][i][j] += a[i] * b[j];
            }
        } else {
            const real re = b[PARTS * j], im = B_CONJUGATE ? -b[PARTS * j + IM] : b[PARTS * j + IM];
            real y[TM];
            UNROLL for (int i = 0; i < TM; ++i) y[i] =
                A_CONJUGATE ? -a[PARTS * i + IM] : a[PARTS * i + IM];
            UNROLL for (int i = 0; i < TM; ++i) sum[RE][i][j] += a[PARTS * i] * re;
            UNROLL for (int i = TM - 1; i >= 0; --i) sum[IM][i][j] += y[i] * re;
            UNROLL for (int i = 0; i < TM; ++i) sum[RE][i][j] -= y[i] * im;
            UNROLL for (int i = TM - 1; i >= 0; --i) sum[IM][i][j] += a[PARTS * i] * im;
        }
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, MINB)
    NAME(int64 n_products, const unsigned char *A, const unsigned char *B, unsigned char *C,
         BY_VALUE(gemm_values) p) {
    DYNAMIC_SHARED(shared);
    const places at(p);
    const int64 pitch_a = p.lda * ELEMENT, pitch_b = p.ldb * ELEMENT;
    const int n_tiles = EDGES ? (p.k + BK - 1) / BK : p.k / BK;
    const int before = SHIFTED ? n_tiles * BK - p.k : 0;
    const unsigned char *from_a = at.a(A, p, before), *from_b = at.b(B, p, before);
    int asked = 0, read = 0, write = STAGES - 1;
    chunk_reals held_a[operand_a::HELD], held_b[operand_b::HELD];

    auto ask = [&](int stage, bool leads) {
        if (asked < n_tiles) {
            unsigned char *to = shared + stage * STAGE_BYTES;
            const int k = SHIFTED ? BK - before : least(p.k - asked * BK, BK);
            operand_a::ask(to, from_a, pitch_a, at.rows, k, leads, held_a);
            operand_b::ask(to + A_BYTES, from_b, pitch_b, at.columns, k, leads, held_b);
            from_a += operand_a::advance(pitch_a);
            from_b += operand_b::advance(pitch_b);
        }
        ++asked;
        copy_commit();
    };
    auto put = [&](int stage) {
        if (asked <= n_tiles) {
            operand_a::put(shared + stage * STAGE_BYTES, held_a);
            operand_b::put(shared + stage * STAGE_BYTES + A_BYTES, held_b);
        }
    };
    accumulators sum;
    UNROLL for (int x = 0; x < PARTS; ++x)
        UNROLL for (int i = 0; i < TM; ++i)
            UNROLL for (int j = 0; j < TN; ++j) sum[x][i][j] = 0;
    UNROLL for (int s = 0; s < STAGES - 1; ++s) {
        ask(s, s == 0);
        put(s);
    }
    real a[2][TM * PARTS], b[2][TN * PARTS];
    auto fetch = [&](int set, int k) {
        const unsigned char *s = shared + read * STAGE_BYTES;
        operand_a::template read<TM, LM>(s, at.warp_row, at.lane_row, k, a[set]);
        operand_b::template read<TN, LN>(s + A_BYTES, at.warp_column, at.lane_column, k,
                                              b[set]);
    };
    copy_wait<STAGES - 2>();
    __syncthreads();
    fetch(0, 0);
    NO_UNROLL for (int tile = 0; tile < n_tiles; ++tile) {
        UNROLL for (int k = 0; k < BK; ++k) {
            if (k == BK - 1) {
                put(write);
                write = write + 1 == STAGES ? 0 : write + 1;
                copy_wait<STAGES - 2>();
                __syncthreads();
                read = read + 1 == STAGES ? 0 : read + 1;
            }
            fetch((k + 1) & 1, (k + 1) % BK);
            if (k == 0)
                ask(write, false);
            multiply(sum, a[k & 1], b[k & 1]);
        }
    }
    real *to = (real *)C + (p.first_c + at.product * p.stride_c) * PARTS;
    UNROLL for (int j = 0; j < TN; ++j)
        UNROLL for (int i = 0; i < TM / CHUNK_ELEMENTS; ++i) {
            const int c = at.column + at.warp_column + j / CHUNK_ELEMENTS * CHUNK_ELEMENTS * LN +
                          CHUNK_ELEMENTS * at.lane_column + j % CHUNK_ELEMENTS;
            const int r = at.row + at.warp_row + (i * LM + at.lane_row) * CHUNK_ELEMENTS;
            real re[CHUNK_ELEMENTS], im[CHUNK_ELEMENTS];
            UNROLL for (int x = 0; x < CHUNK_ELEMENTS; ++x) {
                re[x] = sum[0][CHUNK_ELEMENTS * i + x][j];
                im[x] = sum[PARTS - 1][CHUNK_ELEMENTS * i + x][j];
            }
            if (at.has(p, r, c))
                store<CHUNK_ELEMENTS>(to + (r + c * p.ldc) * PARTS, p, re, im,
                                      at.below(p, r, CHUNK_ELEMENTS));
        }
}
