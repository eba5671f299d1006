//@ Reductions over elements of several ranks, as exact_host.h has them: the same slices, and so the same bits. A block divides
//@ its numbers from the greatest of them on, and adds up whole numbers.
#define EXACT_BITS 30
#define EXACT_LEAST -33
#define EXACT_MOST 32
#define EXACT_SLICES 3
#define EXACT_DIRECT @direct@ /* partial results that one thread block joins */

/* as numbers of partial results: core/base/exact.h */
struct exact_number {
    int64_t place, slices[EXACT_SLICES];
    double rest;
};

INLINE double exact_power(int exponent) { return __longlong_as_double((int64_t)(exponent + 1023) << 52); }
/* what a slice starts from: 1.5 2^52 of its units */
INLINE double exact_start(int place) { return 1.5 * exact_power(52 + EXACT_BITS * place); }
/* the least place whose slice 0 is below the sign */
INLINE int exact_place(double size)
{
    const int exponent = (int)((uint64_t)__double_as_longlong(size) >> 52) - 1023;
    const int place = (exponent + 1 - EXACT_BITS * EXACT_LEAST) / EXACT_BITS + EXACT_LEAST;
    return place < EXACT_LEAST ? EXACT_LEAST : place;
}

INLINE void exact_join(exact_number *a, const exact_number &b)
{
    const int up = (int)(b.place - a->place);
    if (up > 0) {
        UNROLL for (int i = EXACT_SLICES - 1; i >= 0; --i)
            a->slices[i] = i >= up ? a->slices[i - up] : 0;
        a->place = b.place;
    }
    UNROLL for (int i = 0; i < EXACT_SLICES; ++i)
        UNROLL for (int k = 0; k < EXACT_SLICES; ++k)
            a->slices[i] += i - k == (up > 0 ? 0 : -up) ? b.slices[k] : 0;
    a->rest += b.rest;
}

/* Of all lanes of a warp, as 32-bit numbers: one instruction on newer GPUs. */
INLINE int lanes_most(int v)
{
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 800
    return __reduce_max_sync(0xffffffffu, v);
#else
    UNROLL for (int by = LANES / 2; by > 0; by /= 2) {
        const int other = __shfl_xor_sync(0xffffffffu, v, by);
        v = other > v ? other : v;
    }
    return v;
#endif
}
INLINE int lanes_total(int v)
{
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 800
    return __reduce_add_sync(0xffffffffu, v);
#else
    UNROLL for (int by = LANES / 2; by > 0; by /= 2)
        v += __shfl_xor_sync(0xffffffffu, v, by);
    return v;
#endif
}
/* numbers below 2^44 in two halves, of which a warp's worth stays below 2^31 */
INLINE int64_t lanes_sum(int64_t v)
{
    const int low = lanes_total((int)(v & 0xfffff)), high = lanes_total((int)(v >> 20));
    return ((int64_t)high << 20) + low;
}

/* What the warps of a block know of a sum. */
template <int WARPS> struct exact_block {
    int places[WARPS];
    int64_t slices[EXACT_SLICES][WARPS];
    double rest[WARPS];
};

/* Is a number neither infinite nor so large that a sum may be? */
INLINE bool is_ordinary(double v)
{
    return fabs(v) < exact_power(EXACT_BITS * EXACT_MOST + EXACT_BITS - 1);
}

/* Of v[k * stride], k < N, of a warp: the place of the greatest number. A barrier must follow. */
template <int N, int WARPS> INLINE void exact_places(exact_block<WARPS> *block, const real *v, int stride)
{
    double most = 0;
    UNROLL for (int k = 0; k < N; ++k) {
        const double size = fabs(v[k * stride]);
        most = is_ordinary(size) && size > most ? size : most;
    }
    const int place = lanes_most(exact_place(most));
    if (threadIdx.x % LANES == 0)
        block->places[threadIdx.x / LANES] = place;
}

template <int WARPS> INLINE int exact_block_place(const exact_block<WARPS> *block)
{
    int place = block->places[0];
    UNROLL for (int w = 1; w < WARPS; ++w)
        place = block->places[w] > place ? block->places[w] : place;
    return place;
}

/* The slices of these numbers. A barrier must follow. */
template <int N, int WARPS> INLINE void exact_slices(exact_block<WARPS> *block, const real *v, int stride)
{
    const int place = exact_block_place(block), warp = threadIdx.x / LANES;
    double left[N], rest = 0;
    UNROLL for (int k = 0; k < N; ++k) {
        const double one = v[k * stride];
        left[k] = is_ordinary(one) ? one : 0;
        rest += is_ordinary(one) ? 0 : one;
    }
    UNROLL for (int i = 0; i < EXACT_SLICES; ++i) {
        const double start = exact_start(place - i);
        int64_t slices = 0;
//@ With its last bit set, nothing is halfway between two multiples of a unit, which the last bits of the sum count.
        UNROLL for (int k = 0; k < N; ++k) {
            const double next = start + __longlong_as_double(__double_as_longlong(left[k]) | 1);
            slices += __double_as_longlong(next) - __double_as_longlong(start);
            left[k] -= next - start;
        }
        slices = lanes_sum(slices);
        if (threadIdx.x % LANES == 0)
            block->slices[i][warp] = slices;
    }
    if (__any_sync(0xffffffffu, !(rest == 0)))
        UNROLL for (int by = LANES / 2; by > 0; by /= 2)
            rest += __shfl_xor_sync(0xffffffffu, rest, by);
    if (threadIdx.x % LANES == 0)
        block->rest[warp] = rest;
}

/* The sum of a block as partial result `number`, and nothing as the next ones of the block, which has `tiles` of all. */
template <int WARPS>
INLINE void exact_partial(scalar *p, const exact_block<WARPS> *block, int64_t number, int tiles, int64_t all,
                          int components, int c)
{
    const int i = (int)threadIdx.x; /* a slice, the rest, the place */
    if (i > EXACT_SLICES + 1)
        return;
    int64_t slice = 0;
    double rest = 0;
    UNROLL for (int w = 0; w < WARPS; ++w) {
        slice += i < EXACT_SLICES ? block->slices[i < EXACT_SLICES ? i : 0][w] : 0;
        rest += i == EXACT_SLICES ? block->rest[w] : 0;
    }
    for (int t = 0; t < tiles && number + t < all; ++t) {
        exact_number *out = (exact_number *)p + (number + t) * components + c;
        if (i < EXACT_SLICES)
            out->slices[i] = t == 0 ? slice : 0;
        else if (i == EXACT_SLICES)
            out->rest = t == 0 ? rest : 0;
        else
            out->place = t == 0 ? exact_block_place(block) : EXACT_LEAST;
    }
}

INLINE double exact_value(const exact_number &sum)
{
    const int64_t one = (int64_t)1 << EXACT_BITS;
    int64_t s[EXACT_SLICES];
    double value = 0;
    UNROLL for (int i = 0; i < EXACT_SLICES; ++i)
        s[i] = sum.slices[i];
    UNROLL for (int i = EXACT_SLICES - 1; i > 0; --i) {
        const int64_t carry = s[i] / one;
        s[i] -= carry * one;
        s[i - 1] += carry;
    }
    UNROLL for (int i = EXACT_SLICES - 1; i >= 0; --i) {
        const int unit = EXACT_BITS * (int)(sum.place - i);
        value += ldexp((double)s[i], unit);
    }
    return value + sum.rest;
}

/* Lane 0 gets the sum of what n lanes have, n a power of two. */
INLINE void exact_join_lanes(exact_number *sum, int n)
{
    for (int by = n / 2; by > 0; by /= 2) {
        exact_number other;
        other.place = __shfl_down_sync(0xffffffffu, sum->place, by);
        UNROLL for (int i = 0; i < EXACT_SLICES; ++i)
            other.slices[i] = __shfl_down_sync(0xffffffffu, sum->slices[i], by);
        other.rest = __shfl_down_sync(0xffffffffu, sum->rest, by);
        if (threadIdx.x % LANES + by < n)
            exact_join(sum, other);
    }
}

/* By one block of TILE threads: the sums of n partial results, to out [components].
 * room  [TILE / LANES] */
INLINE void join_partials_exact(exact_number *out, exact_number *room, const exact_number *p, int components, int64_t n)
{
    enum { AT_ONCE = 4 };
    for (int c = 0; c < components; ++c) {
        exact_number sum = {EXACT_LEAST, {0, 0, 0}, 0};
        for (int64_t first = threadIdx.x; first < n; first += AT_ONCE * TILE) {
            exact_number some[AT_ONCE];
            UNROLL for (int j = 0; j < AT_ONCE; ++j)
                some[j] = p[(first + j * TILE < n ? first + j * TILE : first) * components + c];
            UNROLL for (int j = 0; j < AT_ONCE; ++j)
                if (first + j * TILE < n)
                    exact_join(&sum, some[j]);
        }
        exact_join_lanes(&sum, LANES);
        if (threadIdx.x % LANES == 0)
            room[threadIdx.x / LANES] = sum;
        __syncthreads();
        if (threadIdx.x < LANES) {
            sum = room[threadIdx.x % (TILE / LANES)];
            exact_join_lanes(&sum, TILE / LANES);
            if (threadIdx.x == 0)
                out[c] = sum;
        }
        __syncthreads();
    }
}

/* As finish and finish_part of cuda.h: what this rank has becomes the first partial results. */
INLINE void finish_exact(exact_number *room, scalar *partials, int components, int64_t n_elements)
{
    exact_number *p = (exact_number *)partials;
    const int64_t n = (n_elements + TILE - 1) / TILE;
    if (n > EXACT_DIRECT)
        join_partials_exact(p, room, p + n * components, components, (n + JOINED - 1) / JOINED);
    else
        join_partials_exact(p, room, p, components, n);
}
INLINE void finish_part_exact(exact_number *room, scalar *partials, int components, int64_t n_elements, int64_t b)
{
    exact_number *p = (exact_number *)partials;
    const int64_t n = (n_elements + TILE - 1) / TILE, from = b * JOINED;
    join_partials_exact(p + (n + b) * components, room, p + from * components, components,
                        n - from < JOINED ? n - from : JOINED);
}

/* By one block of TILE threads: f(rank, numbers of this rank) on each thread, in the order of ranks, for the n numbers that each
 * has sent. */
template <class Function> INLINE void words_of_ranks(int64_t *team, int64_t epoch, int n, Function f)
{
    enum { ROOM = 4 * WORDS_NUMBERS };
    __shared__ int64_t words[ROOM];
    const int at_once = ROOM / n;
    __syncthreads(); /* all threads have sent, where they run one after another */
    for (int first = 0; first < (int)team[0]; first += at_once) {
        const int ranks = (int)team[0] - first < at_once ? (int)team[0] - first : at_once;
        for (int i = (int)threadIdx.x; i < ranks * n; i += TILE)
            words[i] = word_receive(team, epoch, first + i / n, i % n);
        __syncthreads();
        for (int r = 0; r < ranks; ++r)
            f(first + r, words + r * n);
        __syncthreads();
    }
}

/* The sum of all ranks, if they are several and their kernels speak to each other; else that of this one. */
INLINE void ranks_exact(scalar *result, const scalar *partials, int64_t *team, int64_t epoch, int components)
{
    const int c = (int)threadIdx.x;
    exact_number sum = {EXACT_LEAST, {0, 0, 0}, 0};
    if (team[0] > 1)
        words_of_ranks(team, epoch, 5 * components, [&](int, const int64_t *words) {
            if (c < components)
                exact_join(&sum, ((const exact_number *)words)[c]);
        });
    else if (c < components)
        sum = ((const exact_number *)partials)[c];
    if (c < components)
        result[c] = exact_value(sum);
}

/* The least or the greatest of all ranks. */
INLINE void ranks_extreme(scalar *result, bool is_least, int64_t *team, int64_t epoch, int components)
{
    const int c = (int)threadIdx.x;
    if (team[0] > 1)
        words_of_ranks(team, epoch, components, [&](int rank, const int64_t *words) {
            if (c >= components)
                return;
            const double one = __longlong_as_double(words[c]), best = result[c];
            if (rank == 0 || one != one || (is_least ? one < best : one > best))
                result[c] = one;
        });
}
INLINE void ranks_min(scalar *result, const scalar *, int64_t *team, int64_t epoch, int components)
{
    ranks_extreme(result, true, team, epoch, components);
}
INLINE void ranks_max(scalar *result, const scalar *, int64_t *team, int64_t epoch, int components)
{
    ranks_extreme(result, false, team, epoch, components);
}
