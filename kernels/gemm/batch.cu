/* C = alpha op(A) op(B) + beta C for many small products of SM x SN with sums of SK, on the units for fused
 * multiply-adds. Matrices are stored by columns.
 *
 * A block has PRODUCTS products whole in shared memory. TI x TJ threads compute a product, each TM x TN entries, from
 * reads of 16 bytes where sizes allow: of neighbouring rows at one k, or of several k of a row where k is
 * contiguous, whose columns are then an odd number of such reads apart, so that the lanes of a warp read different
 * banks. A and B come in SLABS parts along k; the first are multiplied while the others are on their way. C is
 * stored from registers.
 *
 * Macros of the host (gemm/source.c): as in small.cu, TM, TN, PRODUCTS, SLABS, MINB: blocks on a
 * multiprocessor, RUN: neighbouring threads along a column of C, which divides TI, and PACKED: columns follow one
 * another without gaps. */
#if SINGLE
typedef float real;
#else
typedef double real;
#endif
constexpr int PARTS = COMPLEX ? 2 : 1;
constexpr int ELEMENT = PARTS * (int)sizeof(real), CHUNK = 16 / ELEMENT; /* entries of 16 bytes */
constexpr int TI = (SM + TM - 1) / TM, TJ = (SN + TN - 1) / TN, PER = TI * TJ;
constexpr int THREADS = (PRODUCTS * PER + 31) / 32 * 32;
static_assert(TI % RUN == 0, "threads are numbered in whole runs");

/* The largest power of two, at most CHUNK, that divides both. */
INLINE constexpr int common(int x, int y) {
    return x % CHUNK == 0 && y % CHUNK == 0              ? CHUNK
           : CHUNK > 2 && x % 2 == 0 && y % 2 == 0 ? 2
                                                         : 1;
}
constexpr int STEP = common(SK, SK); /* k of a read where k is contiguous */
constexpr int DEPTH = (SK / STEP + SLABS - 1) / SLABS * STEP; /* k of a slab */
static_assert((SLABS - 1) * DEPTH < SK, "no slab is empty");

/* N real numbers at once. */
template <int N> INLINE void read(real *v, const real *from) {
    constexpr int BYTES = N * (int)sizeof(real);
#if SINGLE
    if constexpr (BYTES == 16) {
        const float4 w = *(const float4 *)from;
        v[0] = w.x, v[1] = w.y, v[2] = w.z, v[3] = w.w;
    } else if constexpr (BYTES == 8) {
        const float2 w = *(const float2 *)from;
        v[0] = w.x, v[1] = w.y;
    } else
        v[0] = from[0];
#else
    if constexpr (BYTES == 16) {
        const double2 w = *(const double2 *)from;
        v[0] = w.x, v[1] = w.y;
    } else
        v[0] = from[0];
#endif
}
/* to device memory, or plainly to shared memory */
template <int N, bool PLAIN> INLINE void write(real *to, const real *v) {
    constexpr int BYTES = N * (int)sizeof(real);
    if (PLAIN) {
        UNROLL for (int i = 0; i < N; ++i) to[i] = v[i];
        return;
    }
#if SINGLE
    if constexpr (BYTES == 16)
        __stcs((float4 *)to, float4{v[0], v[1], v[2], v[3]});
    else if constexpr (BYTES == 8)
        __stcs((float2 *)to, float2{v[0], v[1]});
    else
        __stcs(to, v[0]);
#else
    if constexpr (BYTES == 16)
        __stcs((double2 *)to, double2{v[0], v[1]});
    else
        __stcs(to, v[0]);
#endif
}

/* One operand: SIZE rows of op(A) or columns of op(B), OWN of a thread, which is one of ACROSS along them. */
template <bool ALONG_K, int SIZE, int OWN, int ACROSS> struct operand {
    static constexpr int LINE = ALONG_K ? SK : SIZE;             /* of a stored column */
    static constexpr int WIDE = ALONG_K ? STEP : common(SIZE, OWN); /* entries of a read */
    static constexpr int PITCH = ALONG_K && LINE / WIDE % 2 == 0 ? LINE + WIDE : LINE;
    static constexpr int ENTRIES =
        (PITCH * (ALONG_K ? SIZE : SK) + CHUNK - 1) / CHUNK * CHUNK; /* in shared memory */
    static constexpr int GROUPS = ALONG_K ? OWN : OWN / WIDE; /* reads of a thread at one k, or STEP of them */

    /* Row or column x of thread t. */
    static INLINE int place(int t, int x) {
        return ALONG_K ? x * ACROSS + t : (x / WIDE * ACROSS + t) * WIDE + x % WIDE;
    }
    /* Where read g is at k = 0; beyond the matrix, the last there is. */
    static INLINE int offset(int t, int g) {
        constexpr int COUNT = ALONG_K ? SIZE : SIZE / WIDE, EVERY = ALONG_K ? PITCH : WIDE;
        const int i = g * ACROSS + t;
        return ((g + 1) * ACROSS <= COUNT ? i : least(i, COUNT - 1)) * EVERY * PARTS;
    }
    static constexpr int advance = (ALONG_K ? 1 : PITCH) * PARTS; /* from one k to the next */

    /* Rows [R0, R1) of columns [C0, C1), N entries at once, by the threads of a product. */
    template <int N, int R0, int R1, int C0, int C1>
    static INLINE void copy_columns(real *to, const real *from, int64 ld, int thread) {
        constexpr int DOWN = (R1 - R0) / N, COLUMNS = C1 - C0, BYTES = N * ELEMENT;
        if constexpr (DOWN <= PER) {
            constexpr int ONCE = PER / DOWN; /* columns */
            const int column = C0 + thread / DOWN, row = R0 + thread % DOWN * N;
            real *t = to + (column * PITCH + row) * PARTS;
            const real *f = from + (column * ld + row) * PARTS;
            if (thread < ONCE * DOWN)
                _Pragma("unroll 32") for (int i = 0; i < COLUMNS; i += ONCE)
                    if (i + ONCE <= COLUMNS || column + i < C1)
                        copy_async<BYTES>(t + i * PITCH * PARTS, f + i * ld * PARTS);
        } else
            _Pragma("unroll 4") for (int id = thread; id < DOWN * COLUMNS; id += PER) {
                const int column = C0 + id / DOWN, row = R0 + id % DOWN * N;
                copy_async<BYTES>(to + (column * PITCH + row) * PARTS,
                                  from + (column * ld + row) * PARTS);
            }
    }
    /* Columns [C0, C1) of a matrix without gaps on either side. */
    template <int C0, int C1>
    static INLINE void copy_whole(real *to, const real *from, int thread) {
        constexpr int FIRST = C0 * LINE, CHUNKS = (C1 - C0) * LINE / CHUNK;
        const int own = (FIRST + thread * CHUNK) * PARTS;
        _Pragma("unroll 32") for (int i = 0; i < CHUNKS; i += PER)
            if (i + PER <= CHUNKS || thread + i < CHUNKS)
                copy_async<16>(to + own + i * CHUNK * PARTS, from + own + i * CHUNK * PARTS);
    }
    /* k of [K0, K1) */
    template <int K0, int K1>
    static INLINE void copy(real *to, const real *from, int64 ld, int thread) {
        constexpr int R0 = ALONG_K ? K0 : 0, R1 = ALONG_K ? K1 : SIZE;
        constexpr int C0 = ALONG_K ? 0 : K0, C1 = ALONG_K ? SIZE : K1;
        constexpr bool WHOLE = PACKED && PITCH == LINE && R1 - R0 == LINE &&
                               C0 * LINE % CHUNK == 0 && (C1 - C0) * LINE % CHUNK == 0;
        constexpr int N = WHOLE ? CHUNK : common(common(LINE, PITCH), common(R0, R1));
        if (PACKED)
            ld = LINE;
        if ((unsigned long long)from % (N * ELEMENT) != 0 || ld % (WHOLE ? 1 : N) != 0)
            copy_columns<1, R0, R1, C0, C1>(to, from, ld, thread);
        else if constexpr (WHOLE)
            copy_whole<C0, C1>(to, from, thread);
        else
            copy_columns<N, R0, R1, C0, C1>(to, from, ld, thread);
    }
};
typedef operand<A_ALONG_K, SM, TM, TI> operand_a;
typedef operand<B_ALONG_K, SN, TN, TJ> operand_b;
constexpr int SIZE = operand_a::ENTRIES + operand_b::ENTRIES; /* of a product */
/* C on its way through shared memory: where threads have rows one by one, stores of 16 bytes need that. */
constexpr bool VIA_SHARED = A_ALONG_K && PACKED && SM * SN % CHUNK == 0 && SM * SN <= SIZE;
constexpr int A_GROUPS = operand_a::GROUPS, B_GROUPS = operand_b::GROUPS;
constexpr int A_WIDE = operand_a::WIDE, B_WIDE = operand_b::WIDE;

struct thread_tile {
    real sum[TM][TN][PARTS];
    int from_a[A_GROUPS], from_b[B_GROUPS];

    INLINE void start(int ti, int tj) {
        UNROLL for (int g = 0; g < A_GROUPS; ++g) from_a[g] = operand_a::offset(ti, g);
        UNROLL for (int g = 0; g < B_GROUPS; ++g) from_b[g] = operand_b::offset(tj, g);
        UNROLL for (int x = 0; x < TM; ++x)
            UNROLL for (int y = 0; y < TN; ++y)
                UNROLL for (int part = 0; part < PARTS; ++part) sum[x][y][part] = 0;
    }
    /* a: row x at one k, b: column y */
    INLINE void multiply(int x, int y, const real *a, const real *b) {
        const real im_a = A_CONJUGATE ? -a[PARTS - 1] : a[PARTS - 1];
        const real im_b = B_CONJUGATE ? -b[PARTS - 1] : b[PARTS - 1];
        sum[x][y][0] += a[0] * b[0];
        if constexpr (COMPLEX) {
            sum[x][y][1] += im_a * b[0];
            sum[x][y][0] -= im_a * im_b;
            sum[x][y][1] += a[0] * im_b;
        }
    }
    /* Terms [K0, K1). Those of A for STEP k are held, those of B are read one after the other. */
    template <int K0, int K1> INLINE void add(const real *a, const real *b) {
        _Pragma("unroll 2") for (int k = K0; k < K1; k += STEP) {
            real v[STEP][TM][PARTS];
            UNROLL for (int g = 0; g < A_GROUPS; ++g)
                UNROLL for (int s = 0; s < (A_ALONG_K ? 1 : STEP); ++s) {
                    real w[A_WIDE * PARTS];
                    read<A_WIDE * PARTS>(w, a + from_a[g] + (k + s) * operand_a::advance);
                    UNROLL for (int e = 0; e < A_WIDE; ++e)
                        UNROLL for (int part = 0; part < PARTS; ++part)
                            v[A_ALONG_K ? e : s][A_ALONG_K ? g : g * A_WIDE + e][part] =
                                w[e * PARTS + part];
                }
            UNROLL for (int s = 0; s < (B_ALONG_K ? 1 : STEP); ++s)
                UNROLL for (int g = 0; g < B_GROUPS; ++g) {
                    real w[B_WIDE * PARTS];
                    read<B_WIDE * PARTS>(w, b + from_b[g] + (k + s) * operand_b::advance);
                    UNROLL for (int e = 0; e < B_WIDE; ++e)
                        UNROLL for (int x = 0; x < TM; ++x)
                            multiply(x, B_ALONG_K ? g : g * B_WIDE + e, v[B_ALONG_K ? e : s][x],
                                     w + e * PARTS);
                }
        }
    }
    /* alpha sum + beta C of N rows from row x on */
    template <int N, bool PLAIN>
    INLINE void store(real *at, const gemm_values &p, int x, int y) const {
        const real alpha = (real)p.alpha[0], beta = (real)p.beta[0];
        const real alpha_i = (real)p.alpha[1], beta_i = (real)p.beta[1];
        real r[N * PARTS];
        UNROLL for (int e = 0; e < N; ++e) {
            const real *s = sum[x + e][y];
            real *re = r + e * PARTS, *im = re + PARTS - 1, *c = at + e * PARTS;
            if constexpr (COMPLEX) {
                *re = alpha * s[0] - alpha_i * s[1];
                *im = alpha * s[1] + alpha_i * s[0];
                if (beta != 0 || beta_i != 0) {
                    *re += beta * c[0] - beta_i * c[1];
                    *im += beta * c[1] + beta_i * c[0];
                }
            } else
                *re = beta != 0 ? alpha * s[0] + beta * c[0] : alpha * s[0];
        }
        write<N * PARTS, PLAIN>(at, r);
    }
    /* N rows at once */
    template <int N, bool PLAIN>
    INLINE void store_all(real *c, const gemm_values &p, int ti, int tj) const {
        const int64 ld = PACKED ? SM : p.ldc;
        UNROLL for (int y = 0; y < TN; ++y)
            UNROLL for (int x = 0; x < TM; x += N) {
                const int i = operand_a::place(ti, x), j = operand_b::place(tj, y);
                if ((SM % (TM * TI) == 0 || i < SM) && (SN % (TN * TJ) == 0 || j < SN))
                    store<N, PLAIN>(c + (i + j * ld) * PARTS, p, x, y);
            }
    }
};

/* A barrier of the threads of a product, at least. */
INLINE void wait_for_product() {
    if (32 % PER == 0)
        __syncwarp();
    else
        __syncthreads();
}

/* What is in shared memory to C, by the threads of a product. */
INLINE void store_whole(real *c, const real *shared, int thread) {
    constexpr int REALS = CHUNK * PARTS, CHUNKS = SM * SN / CHUNK;
    _Pragma("unroll 8") for (int i = 0; i < CHUNKS; i += PER) {
        if (i + PER > CHUNKS && i + thread >= CHUNKS)
            break;
        real v[REALS];
        read<REALS>(v, shared + (i + thread) * REALS);
        write<REALS, false>(c + (i + thread) * REALS, v);
    }
}

/* Asks for slabs from SLAB on, one group of copies each. */
template <int SLAB>
INLINE void ask(real *x, real *y, const real *a, const real *b, int64 lda, int64 ldb, int thread,
                bool here) {
    constexpr int K0 = SLAB * DEPTH, K1 = SLAB == SLABS - 1 ? SK : K0 + DEPTH;
    if (here) {
        operand_a::copy<K0, K1>(x, a, lda, thread);
        operand_b::copy<K0, K1>(y, b, ldb, thread);
    }
    copy_commit();
    if constexpr (SLAB + 1 < SLABS)
        ask<SLAB + 1>(x, y, a, b, lda, ldb, thread, here);
}
/* Multiplies them as they come. */
template <int SLAB>
INLINE void take(thread_tile &tile, const real *x, const real *y, bool here) {
    constexpr int K0 = SLAB * DEPTH, K1 = SLAB == SLABS - 1 ? SK : K0 + DEPTH;
    copy_wait<SLABS - 1 - SLAB>();
    wait_for_product();
    if (here)
        tile.add<K0, K1>(x, y);
    if constexpr (SLAB + 1 < SLABS)
        take<SLAB + 1>(tile, x, y, here);
}

extern "C" __global__ void __launch_bounds__(THREADS, MINB)
    NAME(int64 n_products, const unsigned char *A, const unsigned char *B, unsigned char *C,
         BY_VALUE(gemm_values) p) {
    DYNAMIC_SHARED(shared);
    const int mine = threadIdx.x / PER, thread = threadIdx.x % PER;
    const int64 product = (int64)blockIdx.x * PRODUCTS + mine;
    const int ti = thread / (RUN * TJ) * RUN + thread % RUN, tj = thread / RUN % TJ;
    const bool here = mine < PRODUCTS && product < n_products;
    const bool reads = here && p.k > 0; /* else alpha is 0 */
    real *x = (real *)shared + mine * (SIZE * PARTS), *y = x + operand_a::ENTRIES * PARTS;
    real *c = (real *)C + (p.first_c + product * p.stride_c) * PARTS;
    thread_tile tile;
    ask<0>(x, y, (const real *)A + (p.first_a + product * p.stride_a) * PARTS,
           (const real *)B + (p.first_b + product * p.stride_b) * PARTS, p.lda, p.ldb, thread, reads);
    tile.start(ti, tj);
    take<0>(tile, x, y, reads);
    if (VIA_SHARED && p.beta[0] == 0 && p.beta[1] == 0 && (unsigned long long)C % 16 == 0 &&
        p.first_c % CHUNK == 0 && p.stride_c % CHUNK == 0) {
        wait_for_product();
        if (here)
            tile.store_all<1, true>(x, p, ti, tj);
        wait_for_product();
        if (here)
            store_whole(c, x, thread);
        return;
    }
    constexpr int N = A_ALONG_K ? 1 : A_WIDE;
    if (here && PACKED && SM % N == 0 && (unsigned long long)c % (N * ELEMENT) == 0)
        tile.store_all<N, false>(c, p, ti, tj);
    else if (here)
        tile.store_all<1, false>(c, p, ti, tj);
}
