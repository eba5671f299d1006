/* Conjugate gradients as one kernel that stays: a block a multiprocessor owns ROWS consecutive
 * nodes, keeps their vectors and as much of the matrix as fits in registers and shared memory, and
 * in an iteration meets the others once.
 *
 * The system is scaled, A~ = D^-1/2 A D^-1/2 and r~ = D^-1/2 r, so that Jacobi's preconditioner
 * costs nothing; D^-1/2 is 0 for constrained nodes, whose rows and columns vanish. One meeting
 * suffices in the form of Chronopoulos and Gear (1989), with w = A~ r~, gamma = r~.r~,
 * delta = r~.w:
 *     beta = gamma / gamma_before, alpha = gamma / (delta - beta gamma / alpha_before)
 *     p = r~ + beta p, s = w + beta s, x += alpha p, r~ -= alpha s
 * Of its neighbours' nodes (the halo) a block keeps r~ and s, and computes both as their owner
 * does, from the owner's w.
 *
 * What travels are words that carry their own arrival: doubles whose last bit is the iteration's.
 * Two sets of words alternate, and the bit changes each time that a set is used again, so a
 * word is there once its bit is the iteration's: no flag, no fence. Nobody overwrites what another
 * still reads: a set is written again only after the sums of all blocks of the iteration between
 * have come, and a block sends those after all its threads have read. Every block adds the sums of
 * all in the same order: all decide alike, and results repeat bit for bit.
 *
 * Macros of the host (fem/solve/persistent_plan.c):
 *     BLOCKS THREADS    of the grid, of a block
 *     NODES HALO        own nodes and halo nodes of a thread, at most
 *     PUBLISHED         nodes of a block that others read, at most; they are its first
 *     STARTS            NODES + 1 numbers: node k of a thread has pairs [STARTS[k], STARTS[k + 1])
 *                       of entries
 *     REGISTER_PAIRS    the first pairs of a thread are kept in registers,
 *     SHARED_PAIRS      the next in shared memory; the others are read in each iteration
 *     UNIT_DIAGONAL     1: the diagonal of A~ is 1 and not stored
 *     WEIGHTS           for r.r, 0: it is gamma; D is 1: in registers, 2: read in each iteration
 *     X_SHARED          1: x in shared memory, 0: in registers
 *     COPIES SPACING    of the sums that travel: a block reads one copy; words of 8 bytes
 * Positions: node k of thread t of block b is at [b][k][t]; as a column of its block it is
 * k * THREADS + t, and halo node h of thread t is NODES * THREADS + h * THREADS + t. */
#define INLINE __device__ __forceinline__

constexpr int ROWS = NODES * THREADS;
constexpr int THREADS_PER_ELEMENT = THREADS / 32;
constexpr int SUMS = WEIGHTS ? 3 : 2;
constexpr int SLOTS = (BLOCKS + 31) / 32;
constexpr int COPY_WORDS = (SUMS * BLOCKS + 3) / 4 * SPACING;
constexpr int START[NODES + 1] = {STARTS};
constexpr int PAIRS = START[NODES];
constexpr long long STAGNATION_WINDOW = 1 << 24; /* looks at a word, seconds, before a block gives
                                                    up */

typedef unsigned long long word;

enum code { RUNNING, CONVERGED, NOT_A_NUMBER, BREAKDOWN, INDEFINITE, STUCK };

/* As weft_cg_control of the host. */
struct control {
    double limit;        /* on r.r of the unscaled residual */
    double gamma, alpha; /* of the iteration before; infinite, 1: there is none */
    long long epoch;     /* of the words */
    long long iteration, last;
    long long code;
};

INLINE word load_word(const word *at) {
    word value;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(at));
    return value;
}

INLINE void store_word(word *at, word value) {
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" : : "l"(at), "l"(value));
}

INLINE double untagged(word value) {
    return __longlong_as_double((long long)(value & ~1ull));
}

/* Streamed: read once an iteration, by nobody else. */
INLINE double2 stream(const double2 *at) {
    double2 v;
    asm("ld.global.nc.L1::no_allocate.v2.f64 {%0, %1}, [%2];" : "=d"(v.x), "=d"(v.y) : "l"(at));
    return v;
}

INLINE unsigned stream(const unsigned *at) {
    unsigned v;
    asm("ld.global.nc.L1::no_allocate.u32 %0, [%1];" : "=r"(v) : "l"(at));
    return v;
}

/* The same in every lane. */
template <int FROM> INLINE double warp_sum(double value) {
#pragma unroll
    for (int offset = FROM; offset > 0; offset >>= 1)
        value += __shfl_xor_sync(0xffffffffu, value, offset);
    return value;
}

struct matrix {
    double2 kept_values[REGISTER_PAIRS > 0 ? REGISTER_PAIRS : 1];
    unsigned kept_columns[REGISTER_PAIRS > 0 ? REGISTER_PAIRS : 1];
    const double2 *shared_values, *values; /* this thread's: THREADS apart */
    const unsigned *shared_columns, *columns;
};

/* The pairs [PAIR, END), in order; by halves, since compilers limit how deep templates are instantiated. */
template <int PAIR, int END> INLINE double row(const matrix &m, const double *r, double sum) {
    if constexpr (END - PAIR > 1) {
        constexpr int MIDDLE = PAIR + (END - PAIR) / 2;
        sum = row<PAIR, MIDDLE>(m, r, sum);
        sum = row<MIDDLE, END>(m, r, sum);
    } else if constexpr (PAIR < END) {
        double2 value;
        unsigned column;
        if constexpr (PAIR < REGISTER_PAIRS) {
            value = m.kept_values[PAIR];
            column = m.kept_columns[PAIR];
        } else if constexpr (PAIR < REGISTER_PAIRS + SHARED_PAIRS) {
            value = m.shared_values[(PAIR - REGISTER_PAIRS) * THREADS];
            column = m.shared_columns[(PAIR - REGISTER_PAIRS) * THREADS];
        } else {
            value = stream(m.values + PAIR * THREADS);
            column = stream(m.columns + PAIR * THREADS);
        }
        sum = fma(value.x, r[column & 0xffff], sum);
        sum = fma(value.y, r[column >> 16], sum);
    }
    return sum;
}

struct sums {
    double gamma, delta, rr;
};

/* w of this thread's nodes from K on, those that others read sent at once. */
template <int K>
INLINE void product(const matrix &m, const double *r, const double *weights, double (&w)[NODES],
                    sums &sum, word *sent, int n_sent, word tag) {
    if constexpr (K < NODES) {
        const int at = K * THREADS + (int)threadIdx.x;
        double own = r[at];
        double value = row<START[K], START[K + 1]>(m, r, UNIT_DIAGONAL ? own : 0.0);
        word bits = (word)__double_as_longlong(value) & ~1ull;
        if (K * THREADS < PUBLISHED && at < n_sent)
            store_word(sent + at, bits | tag);
        w[K] = untagged(bits);
        sum.gamma = fma(own, own, sum.gamma);
        sum.delta = fma(own, w[K], sum.delta);
        if (WEIGHTS == 1)
            sum.rr = fma(own * own, weights[K], sum.rr);
        if (WEIGHTS == 2)
            sum.rr = fma(own * own, __ldg(weights + at), sum.rr);
        product<K + 1>(m, r, weights, w, sum, sent, n_sent, tag);
    }
}

/* Where sum i of a block is among a copy's words. Everybody reads all of them again and again: they
 * are spread, four to a stretch of SPACING, so that no part of the L2 cache serves them alone. */
INLINE int slot(int i, int block) {
    const int at = i * BLOCKS + block;
    return at / 4 * SPACING + at % 4;
}

/* The sums of the block, sent to each copy. */
INLINE void send_sums(const sums &sum, double (*parts)[32], word *slots, word tag) {
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    constexpr int FROM = THREADS_PER_ELEMENT > 16 ? 16 : THREADS_PER_ELEMENT > 8 ? 8 : THREADS_PER_ELEMENT > 4 ? 4 : 2;
    double gamma = warp_sum<16>(sum.gamma), delta = warp_sum<16>(sum.delta);
    double rr = WEIGHTS ? warp_sum<16>(sum.rr) : 0.0;
    if (lane == 0) {
        parts[0][warp] = gamma;
        parts[1][warp] = delta;
        parts[2][warp] = rr;
    }
    __syncthreads();
    if (warp < SUMS) {
        double value = warp_sum<FROM>(lane < THREADS_PER_ELEMENT ? parts[warp][lane] : 0.0);
        if (lane < COPIES)
            store_word(slots + lane * COPY_WORDS + slot(warp, blockIdx.x),
                       ((word)__double_as_longlong(value) & ~1ull) | tag);
    }
}

/* What all blocks sent: the halo's w to each thread, the sums to `total`. False: it never came. */
INLINE bool receive(const word *halo, const int (&halo_at)[HALO], const word *slots, double *total,
                    word tag, double (&w)[HALO]) {
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    word came[HALO];
    int looks = 0;
    slots += (int)(blockIdx.x % COPIES) * COPY_WORDS;
#pragma unroll
    for (int h = 0; h < HALO; ++h)
        came[h] = halo_at[h] >= 0 ? load_word(halo + halo_at[h]) : tag;
    if (warp < SUMS) {
        word part[SLOTS];
        bool all = false;
        while (!all && looks < STAGNATION_WINDOW) {
            all = true;
#pragma unroll
            for (int i = 0; i < SLOTS; ++i)
                part[i] =
                    i * 32 + lane < BLOCKS ? load_word(slots + slot(warp, i * 32 + lane)) : tag;
#pragma unroll
            for (int i = 0; i < SLOTS; ++i)
                all = all && (part[i] & 1) == tag;
            ++looks;
        }
        __syncwarp();
        double sum = untagged(part[0]);
#pragma unroll
        for (int i = 1; i < SLOTS; ++i)
            sum += i * 32 + lane < BLOCKS ? untagged(part[i]) : 0.0;
        sum = warp_sum<16>(sum);
        if (lane == 0)
            total[warp] = sum;
    }
#pragma unroll
    for (int h = 0; h < HALO; ++h) {
        while ((came[h] & 1) != tag && looks < STAGNATION_WINDOW) {
            came[h] = load_word(halo + halo_at[h]);
            ++looks;
        }
        w[h] = untagged(came[h]);
    }
    return looks < STAGNATION_WINDOW;
}

/* n_elements   BLOCKS * THREADS
 * values, columns   [b][PAIRS][t]; columns two of 16 bits
 * halo, counts  [b][HALO][t]: position of a halo node, -1: none; [b]: nodes that others read
 * x .. s        [b][NODES][t]; x is what is added to the start
 * published     [2][BLOCKS][PUBLISHED], slots [2][COPIES][COPY_WORDS]: words, zero at first
 * history       r.r of the iterations from control->iteration on */
extern "C" __global__ void __launch_bounds__(THREADS, 1)
    cg_persistent(long long n_elements, control *state, const double2 *values,
                  const unsigned *columns, const double *weights, const int *halo,
                  const int *counts, double *x, double *r, double *p, double *s, word *published,
                  word *slots, double *history) {
    extern __shared__ double2 shared[];
    __shared__ double parts[3][32], total[3];
    __shared__ int failed;
    const int t = threadIdx.x, b = blockIdx.x;
    const long long first = (long long)b * ROWS;
    double2 *value_s = shared;
    double *r_s = (double *)(value_s + SHARED_PAIRS * THREADS);
    double *x_s = r_s + ROWS + HALO * THREADS;
    unsigned *column_s = (unsigned *)(x_s + (X_SHARED ? ROWS : 0));
    double x_r[X_SHARED ? 1 : NODES], p_r[NODES], s_r[NODES], w[NODES], s_halo[HALO], w_halo[HALO];
    double weight_r[WEIGHTS == 1 ? NODES : 1];
    int halo_at[HALO];
    matrix m;

    m.values = values + (long long)b * PAIRS * THREADS + t;
    m.columns = columns + (long long)b * PAIRS * THREADS + t;
    m.shared_values = value_s + t;
    m.shared_columns = column_s + t;
#pragma unroll
    for (int i = 0; i < REGISTER_PAIRS; ++i) {
        m.kept_values[i] = m.values[i * THREADS];
        m.kept_columns[i] = m.columns[i * THREADS];
    }
    for (int i = 0; i < SHARED_PAIRS; ++i) {
        value_s[i * THREADS + t] = m.values[(REGISTER_PAIRS + i) * THREADS];
        column_s[i * THREADS + t] = m.columns[(REGISTER_PAIRS + i) * THREADS];
    }
#pragma unroll
    for (int k = 0; k < NODES; ++k) {
        const int at = k * THREADS + t;
        r_s[at] = r[first + at];
        p_r[k] = p[first + at];
        s_r[k] = s[first + at];
        if (X_SHARED)
            x_s[at] = x[first + at];
        else
            x_r[X_SHARED ? 0 : k] = x[first + at];
        if (WEIGHTS == 1)
            weight_r[WEIGHTS == 1 ? k : 0] = weights[first + at];
    }
#pragma unroll
    for (int h = 0; h < HALO; ++h) {
        int at = halo[(b * HALO + h) * THREADS + t];
        r_s[ROWS + h * THREADS + t] = at >= 0 ? r[at] : 0.0;
        s_halo[h] = at >= 0 ? s[at] : 0.0;
        halo_at[h] = at >= 0 ? at / ROWS * PUBLISHED + at % ROWS : -1;
    }
    const double *weight = WEIGHTS == 1 ? weight_r : weights + first;
    const int n_sent = counts[b];
    const double limit = state->limit;
    const long long begin = state->iteration, last = state->last;
    double gamma = state->gamma, alpha = state->alpha;
    long long epoch = state->epoch, iteration = begin;
    long long code = RUNNING;
    if (t == 0)
        failed = 0;
    __syncthreads();

    for (;;) {
        const word tag = (word)(epoch >> 1) & 1;
        const int set = (int)(epoch & 1);
        word *sent = published + set * (BLOCKS * PUBLISHED);
        word *sum_words = slots + set * (COPIES * COPY_WORDS);
        sums sum = {0, 0, 0};
        product<0>(m, r_s, weight, w, sum, sent + b * PUBLISHED, n_sent, tag);
        send_sums(sum, parts, sum_words, tag);
        const double over_gamma = 1 / gamma, over_alpha = 1 / alpha; /* while the words travel */
        if (!receive(sent, halo_at, sum_words, total, tag, w_halo))
            failed = 1;
        __syncthreads();

        const double now = total[0], delta = total[1], rr = total[SUMS - 1 < 2 ? 0 : 2];
        const double beta = now * over_gamma;
        const double curvature = delta - beta * now * over_alpha; /* p.Ap */
        ++epoch;
        if (b == 0 && t == 0)
            history[iteration - begin] = rr;
        if (failed)
            code = STUCK;
        else if (rr <= limit)
            code = CONVERGED;
        else if (!(fabs(rr) < 1.7e308) || !(fabs(now) < 1.7e308))
            code = NOT_A_NUMBER;
        else if (!(now > 0))
            code = BREAKDOWN;
        else if (iteration < last && !(curvature > 0))
            code = curvature <= 0 ? INDEFINITE : NOT_A_NUMBER;
        if (code != RUNNING || iteration >= last)
            break;
        gamma = now;
        alpha = now / curvature;
#pragma unroll
        for (int k = 0; k < NODES; ++k) {
            const int at = k * THREADS + t;
            double r_k = r_s[at];
            p_r[k] = fma(beta, p_r[k], r_k);
            s_r[k] = fma(beta, s_r[k], w[k]);
            if (X_SHARED)
                x_s[at] = fma(alpha, p_r[k], x_s[at]);
            else
                x_r[X_SHARED ? 0 : k] = fma(alpha, p_r[k], x_r[X_SHARED ? 0 : k]);
            r_s[at] = fma(-alpha, s_r[k], r_k);
        }
#pragma unroll
        for (int h = 0; h < HALO; ++h) {
            double *r_h = r_s + ROWS + h * THREADS + t;
            s_halo[h] = fma(beta, s_halo[h], w_halo[h]);
            *r_h = fma(-alpha, s_halo[h], *r_h);
        }
        ++iteration;
        __syncthreads();
    }

#pragma unroll
    for (int k = 0; k < NODES; ++k) {
        const int at = k * THREADS + t;
        r[first + at] = r_s[at];
        p[first + at] = p_r[k];
        s[first + at] = s_r[k];
        x[first + at] = X_SHARED ? x_s[at] : x_r[X_SHARED ? 0 : k];
    }
    if (b == 0 && t == 0) {
        state->gamma = gamma;
        state->alpha = alpha;
        state->epoch = epoch;
        state->iteration = iteration;
        state->code = code;
    }
}

/* Node of a column of block b, -1: none. */
INLINE int node_of(long long b, int column, const int *nodes, const int *halo) {
    if (column < ROWS)
        return nodes[b * ROWS + column];
    const int at = halo[b * (HALO * THREADS) + column - ROWS];
    return at < 0 ? -1 : nodes[at];
}

/* Entries of A~. n_elements BLOCKS * PAIRS * THREADS; source [..][2]: entry of the matrix, -1:
 * none; nodes [b][NODES][t]: node at a position, -1: none; inverse: 1 / D, 0 where constrained. The
 * factors are multiplied first, so that A~ is as symmetric as A. */
extern "C" __global__ void cg_scale(long long n_elements, double *scaled, const int *source,
                                    const unsigned short *columns, const int *nodes,
                                    const int *halo, const double *entries, const double *inverse) {
    const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i >= n_elements)
        return;
    const int start[NODES + 1] = {STARTS}; /* START is not an array of the device's */
    const int t = (int)(i % THREADS), pair = (int)(i / THREADS % PAIRS);
    const long long b = i / THREADS / PAIRS;
    int k = 0;
    while (start[k + 1] <= pair)
        ++k;
    const int node = nodes[b * ROWS + k * THREADS + t];
    for (int e = 0; e < 2; ++e) {
        const int from = source[2 * i + e], to = node_of(b, columns[2 * i + e], nodes, halo);
        scaled[2 * i + e] = node < 0 || to < 0 || from < 0
                                ? 0.0
                                : sqrt(inverse[node]) * sqrt(inverse[to]) * entries[from];
    }
}

/* Vectors from the residual. n_elements BLOCKS * ROWS. */
extern "C" __global__ void cg_start(long long n_elements, const int *nodes,
                                    const double *inverse, const double *residual, double *x,
                                    double *r, double *p, double *s, double *weights) {
    const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i >= n_elements)
        return;
    const int node = nodes[i];
    const double d = node < 0 ? 0.0 : inverse[node];
    r[i] = d > 0 ? sqrt(d) * residual[node] : 0.0;
    weights[i] = d > 0 ? 1 / d : 0.0;
    x[i] = p[i] = s[i] = 0;
}

/* solution += D^-1/2 x, and x = 0. n_elements BLOCKS * ROWS. */
extern "C" __global__ void cg_finish(long long n_elements, const int *nodes, const double *inverse,
                                     double *x, double *solution) {
    const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i >= n_elements)
        return;
    const int node = nodes[i];
    if (node >= 0 && inverse[node] > 0)
        solution[node] += sqrt(inverse[node]) * x[i];
    x[i] = 0;
}
