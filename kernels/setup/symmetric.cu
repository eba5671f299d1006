/* Patches of a symmetric matrix (fem/sparse/symmetric.h), with the results of the host's fem/sparse/symmetric_patch.c,
 * symmetric_orientation.c and symmetric_colouring.c, which describe the steps. A block of threads for each patch: its
 * threads share the rows; where each step depends on the one before, the first warp shares the edges of a row or the
 * rounds. */
#define NODES 512
#define MOST_EDGES 4096 /* inner edges of a patch */
#define MOST_HALO 1280
#define MOST_ROUNDS 24
#define BANKS 16
#define ROUND_WORTH 256
#define DISCARD 0xffffffffu
#define NONE NODES
#define HALO (NODES + 1)

/* Of an inner edge, in place of its round. */
#define OVERFLOWS (-1)
#define UNCOLOURED 64

#define NO_ROW (-2)    /* in predecessor: not visited */
#define START_ROW (-1) /* where the search began */

#define FAULT_EDGES 1

#define WARP 0xffffffffu

/* As weft_symmetric_patch. */
struct patch_place {
    int64_t first_value, first_column, first_list;
    uint16_t n_rounds, n_halo;
    uint32_t n_overflow;
};

/* Edges are numbered by their lower row, then by their upper one. */
struct patch_work {
    uint32_t edges[MOST_EDGES]; /* source, target << 16 */
    uint16_t below[MOST_EDGES]; /* edges by their upper row, then by the lower one */
    int8_t rounds[MOST_EDGES];
    uint16_t first[NODES + 1], first_below[NODES + 1];
    uint16_t before[NODES];            /* couplings of a row with rows before the patch */
    int16_t staged[NODES], kept[NODES]; /* couplings with the staged halo; of these, with a slot */
    int16_t degree[NODES], out[NODES]; /* edges that do not overflow; of these, with the row as source */
    union {
        struct { /* for the orientation */
            int16_t predecessor[NODES];
            uint16_t queue[NODES];
            uint8_t is_stuck[NODES];
        };
        struct { /* for the rounds */
            uint32_t free_source[NODES], free_target[NODES]; /* bit sets of rounds */
            uint8_t conflicts[MOST_ROUNDS][NODES / BANKS][BANKS];
            uint16_t path[2 * NODES];
        };
    };
    int32_t n, n_rounds, n_removed;
};
/* Four blocks of threads are resident on a multiprocessor of 228 KB. */
static_assert(sizeof(patch_work) <= 53 * 1024 + 512, "shared memory that fem/sparse/symmetric_on_device.c asks for");

INLINE int lane_of() { return (int)(threadIdx.x % 32); }
INLINE int source_of(uint32_t edge) { return (int)(edge & 0xffff); }
INLINE int target_of(uint32_t edge) { return (int)(edge >> 16); }
INLINE uint32_t reversed_edge(uint32_t edge) { return edge >> 16 | edge << 16; }
INLINE int lowest(uint32_t bits) { return __ffs((int)bits) - 1; }

/* ---- the edges of a row, ascending: those from rows below, then its own ---- */

INLINE int n_below(const patch_work *w, int i) { return w->first_below[i + 1] - w->first_below[i]; }
INLINE int n_above(const patch_work *w, int i) { return w->first[i + 1] - w->first[i]; }
INLINE int n_incident(const patch_work *w, int i) { return n_below(w, i) + n_above(w, i); }
INLINE int incident(const patch_work *w, int i, int k)
{
    const int below = n_below(w, i);
    return k < below ? w->below[w->first_below[i] + k] : w->first[i] + k - below;
}

/* ---- orientation, by one warp ---- */

INLINE int capacity(const patch_work *w, int i) { return w->n_rounds - w->kept[i]; }
INLINE int least(const patch_work *w, int i)
{
    return w->degree[i] > w->n_rounds ? w->degree[i] - w->n_rounds : 0;
}

/* The source is the row with more capacity. Edges of a row lead to different rows, so that the choices depend on each
 * other through the capacity of this row alone. */
INLINE void orient_row(patch_work *w, int i)
{
    int spare = capacity(w, i) - w->out[i], n_taken = 0;
    for (int base = w->first[i]; base < w->first[i + 1]; base += 32) {
        const int e = base + lane_of();
        const bool mine = e < w->first[i + 1];
        const uint32_t edge = mine ? w->edges[e] : 0;
        const int other = source_of(edge) == i ? target_of(edge) : source_of(edge);
        const int bound = capacity(w, other) - w->out[other] + (source_of(edge) != i);
        bool takes = false;
        for (uint32_t left = WARP; left != 0;) {
            const uint32_t able = __ballot_sync(WARP, mine && bound <= spare) & left;
            if (able == 0)
                break;
            takes |= lowest(able) == lane_of();
            left = ~((able & (0u - able)) | ((able & (0u - able)) - 1));
            --spare;
            ++n_taken;
        }
        if (mine) {
            w->edges[e] = takes ? (uint32_t)i | (uint32_t)other << 16 : (uint32_t)other | (uint32_t)i << 16;
            w->rounds[e] = 0;
            w->out[other] += !takes;
        }
        __syncwarp();
    }
    if (lane_of() == 0)
        w->out[i] += n_taken;
    __syncwarp();
}

/* An edge whose source (or target) is row i; -1: none. */
INLINE int edge_of(const patch_work *w, int i, bool as_source)
{
    for (int base = 0; base < n_incident(w, i); base += 32) {
        const int k = base + lane_of();
        const int e = k < n_incident(w, i) ? incident(w, i, k) : -1;
        const bool fits = e >= 0 && w->rounds[e] >= 0 &&
                          (as_source ? source_of(w->edges[e]) : target_of(w->edges[e])) == i;
        const uint32_t found = __ballot_sync(WARP, fits);
        if (found)
            return __shfl_sync(WARP, e, lowest(found));
    }
    return -1;
}

INLINE void remove_edge(patch_work *w, int e)
{
    __syncwarp();
    if (lane_of() == 0) {
        const uint32_t edge = w->edges[e];
        w->rounds[e] = OVERFLOWS;
        w->degree[source_of(edge)] -= 1;
        w->degree[target_of(edge)] -= 1;
        w->out[source_of(edge)] -= 1;
        w->n_removed += 1;
    }
    __syncwarp();
}

INLINE void drop_one(patch_work *w, int i)
{
    __syncwarp();
    if (lane_of() == 0)
        w->kept[i] -= 1;
    __syncwarp();
}

INLINE void reverse_path(patch_work *w, int i, int end, bool as_source)
{
    for (int at = end; w->predecessor[at] >= 0;) {
        const int e = w->predecessor[at];
        w->edges[e] = reversed_edge(w->edges[e]);
        at = as_source ? target_of(w->edges[e]) : source_of(w->edges[e]);
    }
    w->out[i] += as_source ? -1 : 1;
    w->out[end] += as_source ? 1 : -1;
}

/* Visit the rows to which edges lead from row `at`; n rows are in the queue. A row that ends the path, or -1. */
INLINE int visit(patch_work *w, int at, bool as_source, int *n)
{
    const int n_edges = n_incident(w, at);
    for (int base = 0; base < n_edges; base += 32) {
        const int k = base + lane_of();
        const int e = k < n_edges ? incident(w, at, k) : -1;
        const uint32_t edge = e >= 0 ? w->edges[e] : 0;
        const int from = as_source ? source_of(edge) : target_of(edge);
        const int to = as_source ? target_of(edge) : source_of(edge);
        const bool leads = e >= 0 && w->rounds[e] >= 0 && from == at && w->predecessor[to] == NO_ROW &&
                           !w->is_stuck[to];
        const bool ends =
            leads && (as_source ? w->out[to] < capacity(w, to) : w->out[to] > least(w, to));
        const uint32_t leading = __ballot_sync(WARP, leads), ending = __ballot_sync(WARP, ends);
        if (leads && (ending == 0 || lane_of() == lowest(ending)))
            w->predecessor[to] = (int16_t)e;
        if (leads && ending == 0)
            w->queue[*n + __popc(leading & ((1u << lane_of()) - 1))] = (uint16_t)to;
        __syncwarp();
        if (ending)
            return __shfl_sync(WARP, to, lowest(ending));
        *n += __popc(leading);
    }
    return -1;
}

/* One edge less (as_source) or more with source i, by reversing the shortest path to a row that takes it. */
INLINE bool shift(patch_work *w, int i, bool as_source)
{
    int n = 1, end = -1;
    if (w->is_stuck[i])
        return false;
    for (int k = lane_of(); k < w->n; k += 32)
        w->predecessor[k] = k == i ? START_ROW : NO_ROW;
    if (lane_of() == 0)
        w->queue[0] = (uint16_t)i;
    __syncwarp();
    for (int q = 0; q < n && end < 0; ++q)
        end = visit(w, w->queue[q], as_source, &n);
    __syncwarp();
    if (end >= 0 && lane_of() == 0)
        reverse_path(w, i, end, as_source);
    for (int q = lane_of(); q < n && end < 0; q += 32)
        w->is_stuck[w->queue[q]] = 1;
    __syncwarp();
    return end >= 0;
}

INLINE void clear_stuck(patch_work *w)
{
    for (int i = lane_of(); i < NODES; i += 32)
        w->is_stuck[i] = 0;
    __syncwarp();
}

/* The steps of the host's weft_symmetric_orient. What one row needs never makes another row need more, so that each step
 * looks at the rows that need it before the step. */
enum { RELIEVE, LOSE, GAIN };

INLINE bool needs(const patch_work *w, int i, int step)
{
    return i < w->n && (step == RELIEVE ? least(w, i) > capacity(w, i)
                        : step == LOSE  ? w->out[i] > capacity(w, i)
                                        : w->out[i] < least(w, i));
}

INLINE void fix_row(patch_work *w, int i, int step)
{
    while (needs(w, i, step)) {
        if (step != RELIEVE && shift(w, i, step == LOSE))
            continue;
        if (step != GAIN && w->kept[i] > 0) {
            drop_one(w, i);
            continue;
        }
        const int e = step != GAIN ? edge_of(w, i, true) : -1;
        remove_edge(w, e >= 0 ? e : edge_of(w, i, false));
    }
}

INLINE int orient(patch_work *w, int n_outside)
{
    int sum = 0;
    for (int i = lane_of(); i < NODES; i += 32) {
        w->kept[i] = (int16_t)(w->staged[i] < w->n_rounds ? w->staged[i] : w->n_rounds);
        w->degree[i] = (int16_t)n_incident(w, i);
        w->out[i] = 0;
    }
    if (lane_of() == 0)
        w->n_removed = 0;
    __syncwarp();
    for (int i = 0; i < w->n; ++i)
        orient_row(w, i);
    for (int step = RELIEVE; step <= GAIN; ++step) {
        clear_stuck(w);
        for (int base = 0; base < w->n; base += 32)
            for (uint32_t left = __ballot_sync(WARP, needs(w, base + lane_of(), step)); left != 0;
                 left &= left - 1)
                fix_row(w, base + lowest(left), step);
    }
    for (int i = lane_of(); i < w->n; i += 32)
        sum += w->kept[i];
    for (int by = 16; by > 0; by /= 2)
        sum += __shfl_xor_sync(WARP, sum, by);
    return n_outside - sum + 2 * w->n_removed;
}

INLINE int orient_with(patch_work *w, int n_rounds, int n_outside)
{
    __syncwarp();
    if (lane_of() == 0)
        w->n_rounds = n_rounds;
    __syncwarp();
    return orient(w, n_outside);
}

/* The number of overflow entries. */
INLINE int choose_rounds(patch_work *w, int n_staged, int n_outside, int most)
{
    const int mean = (w->first[NODES] + n_staged + w->n - 1) / w->n;
    int n_rounds = mean < 1 ? 1 : mean < most ? mean : most, before;
    int n_overflow = orient_with(w, n_rounds, n_outside);
    do {
        before = n_overflow;
        if (before < ROUND_WORTH || n_rounds >= most)
            return before;
        n_overflow = orient_with(w, ++n_rounds, n_outside);
    } while (before - n_overflow >= ROUND_WORTH);
    return orient_with(w, n_rounds - 1, n_outside);
}

/* ---- rounds, by one warp ---- */

/* Of a set of rounds, the first of those with the fewest accesses to the column's bank by the row and its neighbours.
 * Lane r holds round r. */
INLINE int least_conflicts(const patch_work *w, uint32_t rounds, int row, int column)
{
    const bool allowed = lane_of() < MOST_ROUNDS && (rounds >> lane_of() & 1);
    const int own = allowed ? w->conflicts[lane_of()][row / BANKS][column % BANKS] : BANKS + 1;
    uint32_t found = 0;
    for (int n = 0; found == 0; ++n)
        found = __ballot_sync(WARP, own == n);
    return lowest(found);
}

INLINE uint8_t *conflicts_of(patch_work *w, int round, uint32_t edge)
{
    return &w->conflicts[round][source_of(edge) / BANKS][target_of(edge) % BANKS];
}

/* The edge of a round whose source (or target) is row i; -1: none. */
INLINE int edge_in_round(const patch_work *w, int i, bool as_source, int round)
{
    for (int base = 0; base < n_incident(w, i); base += 32) {
        const int k = base + lane_of();
        const int e = k < n_incident(w, i) ? incident(w, i, k) : -1;
        const bool fits = e >= 0 && w->rounds[e] == round &&
                          (as_source ? source_of(w->edges[e]) : target_of(w->edges[e])) == i;
        const uint32_t found = __ballot_sync(WARP, fits);
        if (found)
            return __shfl_sync(WARP, e, lowest(found));
    }
    return -1;
}

/* Along a path of edges whose rounds are a, b, a, ...: exchange a and b. */
INLINE void exchange_path(patch_work *w, int n, int a, int b)
{
    for (int k = 0; k < n; ++k) {
        const uint32_t edge = w->edges[w->path[k]], bit = 1u << (k % 2 == 0 ? a : b);
        w->free_source[source_of(edge)] |= bit;
        w->free_target[target_of(edge)] |= bit;
    }
    for (int k = 0; k < n; ++k) {
        const uint32_t edge = w->edges[w->path[k]];
        const int from = k % 2 == 0 ? a : b, to = k % 2 == 0 ? b : a;
        *conflicts_of(w, from, edge) -= 1;
        *conflicts_of(w, to, edge) += 1;
        w->rounds[w->path[k]] = (int8_t)to;
        w->free_source[source_of(edge)] &= ~(1u << to);
        w->free_target[target_of(edge)] &= ~(1u << to);
    }
}

/* Free round a at a target where b is free. */
INLINE void exchange(patch_work *w, int target, int a, int b)
{
    int n = 0;
    for (;;) {
        int e = edge_in_round(w, target, false, a);
        if (e < 0)
            break;
        if (lane_of() == 0)
            w->path[n] = (uint16_t)e;
        ++n;
        e = edge_in_round(w, source_of(w->edges[e]), true, b);
        if (e < 0)
            break;
        if (lane_of() == 0)
            w->path[n] = (uint16_t)e;
        ++n;
        target = target_of(w->edges[e]);
    }
    __syncwarp();
    if (lane_of() == 0)
        exchange_path(w, n, a, b);
    __syncwarp();
}

INLINE void colour(patch_work *w)
{
    const int n = w->first[NODES];
    for (int e = 0; e < n; ++e) {
        const uint32_t edge = w->edges[e];
        const int source = source_of(edge), target = target_of(edge);
        if (w->rounds[e] < 0)
            continue;
        const uint32_t free_source = w->free_source[source], free_target = w->free_target[target];
        const uint32_t both = free_source & free_target;
        const int round = least_conflicts(w, both ? both : free_source, source, target);
        __syncwarp();
        if (!both)
            exchange(w, target, round, lowest(free_target));
        if (lane_of() == 0) {
            *conflicts_of(w, round, edge) += 1;
            w->rounds[e] = (int8_t)round;
            w->free_source[source] &= ~(1u << round);
            w->free_target[target] &= ~(1u << round);
        }
        __syncwarp();
    }
}

/* ---- rows, by all threads ---- */

INLINE uint32_t slot_of(int round, int row) { return (uint32_t)((round + 1) * NODES + row); }

/* Count a row's couplings by kind: with rows before the patch, below and above in it. */
INLINE void count_row(patch_work *w, int i, const int64_t *row_start, const uint16_t *locals,
                      int *below, int *above, int *n_outside)
{
    int before = 0, staged = 0, n_inside = 0, n_smaller = 0, n_out = 0;
    for (int64_t k = i < w->n ? row_start[i] : 0, end = i < w->n ? row_start[i + 1] : 0; k < end; ++k) {
        const int local = locals[k];
        before += local >= NODES && n_inside == 0;
        staged += local >= NODES && local < NODES + MOST_HALO;
        n_out += local >= NODES;
        n_inside += local < NODES;
        n_smaller += local < i;
    }
    w->before[i] = (uint16_t)before;
    w->staged[i] = (int16_t)staged;
    *below = n_smaller;
    *above = n_inside > 0 ? n_inside - 1 - n_smaller : 0;
    *n_outside += n_out;
}

/* List the edges; false if there are too many. *n_staged and *n_outside get the patch's numbers of couplings. */
INLINE bool collect(patch_work *w, const int64_t *row_start, const uint16_t *locals, int *n_staged,
                    int *n_outside)
{
    const int i = 2 * (int)threadIdx.x;
    int below[2], above[2], n_out = 0;
    int64_t all, sum;
    count_row(w, i, row_start, locals, &below[0], &above[0], &n_out);
    count_row(w, i + 1, row_start, locals, &below[1], &above[1], &n_out);
    const int64_t first = block_sum_before(above[0] + above[1], &all);
    const int64_t first_below = block_sum_before(below[0] + below[1], &sum);
    (void)block_sum_before(n_out, &sum);
    *n_outside = (int)sum;
    (void)block_sum_before(w->staged[i] + w->staged[i + 1], &sum);
    *n_staged = (int)sum;
    if (all > MOST_EDGES)
        return false;
    w->first[i] = (uint16_t)first;
    w->first[i + 1] = (uint16_t)(first + above[0]);
    w->first_below[i] = (uint16_t)first_below;
    w->first_below[i + 1] = (uint16_t)(first_below + below[0]);
    if (threadIdx.x == 0)
        w->first[NODES] = w->first_below[NODES] = (uint16_t)all;
    __syncthreads();
    for (int row = (int)threadIdx.x; row < w->n; row += SETUP_THREADS) {
        const uint16_t *own = locals + row_start[row] + w->before[row] + n_below(w, row) + 1;
        for (int k = 0; k < n_above(w, row); ++k)
            w->edges[w->first[row] + k] = (uint32_t)row | (uint32_t)own[k] << 16;
    }
    __syncthreads();
    for (int row = (int)threadIdx.x; row < w->n; row += SETUP_THREADS) {
        const uint16_t *own = locals + row_start[row] + w->before[row];
        for (int k = 0; k < n_below(w, row); ++k) {
            int e = w->first[own[k]];
            while (target_of(w->edges[e]) != row)
                ++e;
            w->below[w->first_below[row] + k] = (uint16_t)e;
        }
    }
    return true;
}

/* What colour() begins with. */
INLINE void prepare_colours(patch_work *w)
{
    for (int e = (int)threadIdx.x; e < w->first[NODES]; e += SETUP_THREADS)
        w->rounds[e] = w->rounds[e] < 0 ? OVERFLOWS : UNCOLOURED;
    for (int i = (int)threadIdx.x; i < NODES; i += SETUP_THREADS)
        w->free_source[i] = w->free_target[i] = (1u << w->n_rounds) - 1;
    uint32_t *conflicts = (uint32_t *)w->conflicts;
    for (int k = (int)threadIdx.x; k < (int)(sizeof w->conflicts / 4); k += SETUP_THREADS)
        conflicts[k] = 0;
}

/* Where the k-th coupling of a row with the halo is among its entries. */
INLINE int outside_of(const patch_work *w, int row, int k)
{
    return k < w->before[row] ? k : k + n_incident(w, row) + 1;
}

/* Slots of couplings with the halo. Rows that share banks are in the same warp. */
INLINE void place_outside(patch_work *w, const int64_t *row_start, const uint16_t *locals, uint32_t *offsets)
{
    for (int group = (int)threadIdx.x / 32; group < NODES / BANKS; group += SETUP_THREADS / 32)
        for (int row = group * BANKS; row < (group + 1) * BANKS && row < w->n; ++row) {
            uint32_t left = w->free_source[row];
            for (int k = 0; k < w->kept[row]; ++k) {
                const int64_t entry = row_start[row] + outside_of(w, row, k);
                const int column = locals[entry] - NODES + HALO;
                const int round = least_conflicts(w, left, row, column);
                left &= ~(1u << round);
                __syncwarp();
                if (lane_of() == 0) {
                    w->conflicts[round][row / BANKS][column % BANKS] += 1;
                    offsets[entry] = slot_of(round, row);
                }
                __syncwarp();
            }
        }
}

/* Offsets of a row's other entries; those that overflow are numbered from n, in the order of columns. Without offsets,
 * they are counted. */
INLINE uint32_t place_row(const patch_work *w, int row, const int64_t *row_start, uint32_t n,
                          uint32_t *all_offsets)
{
    uint32_t *offsets = all_offsets ? all_offsets + row_start[row] : 0;
    const int length = (int)(row_start[row + 1] - row_start[row]);
    const int below = n_below(w, row), before = w->before[row], inside = n_incident(w, row) + 1;
    int n_outside = 0;
    for (int k = 0; k < length; ++k) {
        const int at = k - before; /* among the entries inside */
        uint32_t offset = (uint32_t)row;
        bool overflows = false;
        if (at < 0 || at >= inside) {
            if (n_outside++ < w->kept[row])
                continue;
            overflows = true;
        } else if (at != below) {
            const int e = incident(w, row, at < below ? at : at - 1);
            overflows = w->rounds[e] < 0;
            offset = at < below ? DISCARD : slot_of(w->rounds[e], source_of(w->edges[e]));
        }
        if (overflows)
            offset = slot_of(w->n_rounds, 0) + n++;
        if (offsets)
            offsets[k] = offset;
    }
    return n;
}

INLINE void place_rows(const patch_work *w, const int64_t *row_start, uint32_t *offsets)
{
    const int i = 2 * (int)threadIdx.x;
    uint32_t n = 0;
    int64_t all;
    for (int row = i; row < i + 2 && row < w->n; ++row)
        n = place_row(w, row, row_start, n, 0);
    n = (uint32_t)block_sum_before(n, &all);
    for (int row = i; row < i + 2 && row < w->n; ++row)
        n = place_row(w, row, row_start, n, offsets);
}

/* n: rows.  sizes: the most rounds.  locals: of the pattern's entries; halo_start: of their patches.  patches get their
 * numbers of rounds, halo rows and overflow entries, offsets those of the entries */
extern "C" __global__ void symmetric_patches(long long n, const int64_t *sizes, const int64_t *row_start,
                                             const uint16_t *locals, const int64_t *halo_start,
                                             patch_place *patches, uint32_t *offsets, int32_t *fault)
{
    extern __shared__ __align__(16) unsigned char shared[];
    __shared__ int n_overflow;
    patch_work *w = (patch_work *)shared;
    const int64_t first = blockIdx.x * (int64_t)NODES;
    int n_staged, n_outside;
    row_start += first;
    if (threadIdx.x == 0)
        w->n = n - first < NODES ? (int)(n - first) : NODES;
    __syncthreads();
    if (!collect(w, row_start, locals, &n_staged, &n_outside)) {
        if (threadIdx.x == 0)
            fault[0] = FAULT_EDGES;
        return;
    }
    __syncthreads();
    if (threadIdx.x < 32) {
        const int found = choose_rounds(w, n_staged, n_outside, (int)sizes[0]);
        if (threadIdx.x == 0)
            n_overflow = found;
    }
    __syncthreads();
    prepare_colours(w);
    __syncthreads();
    if (threadIdx.x < 32)
        colour(w);
    __syncthreads();
    place_outside(w, row_start, locals, offsets);
    place_rows(w, row_start, offsets);
    if (threadIdx.x == 0) {
        const int64_t n_halo = halo_start[blockIdx.x + 1] - halo_start[blockIdx.x];
        patch_place place = {0, 0, 0, (uint16_t)w->n_rounds, (uint16_t)(n_halo < MOST_HALO ? n_halo : MOST_HALO),
                             (uint32_t)n_overflow};
        patches[blockIdx.x] = place;
    }
}

/* The columns and lists of the patches from the offsets of their entries.  n: rows */
extern "C" __global__ void symmetric_columns(long long n, const int64_t *row_start, const uint16_t *locals,
                                             const int64_t *halo_start, const int32_t *all_halo,
                                             const uint32_t *offsets, const patch_place *patches,
                                             uint16_t *all_columns, int32_t *all_lists)
{
    const patch_place p = patches[blockIdx.x];
    const int64_t first = blockIdx.x * (int64_t)NODES, last = first + NODES < n ? first + NODES : n;
    const int32_t *halo = all_halo + halo_start[blockIdx.x];
    const int n_slots = p.n_rounds * NODES, n_lists = (p.n_halo + 2 * (int)p.n_overflow + 3) & ~3;
    uint16_t *columns = all_columns + p.first_column;
    int32_t *lists = all_lists + p.first_list, *over = lists + p.n_halo;
    for (int k = (int)threadIdx.x; k < n_slots; k += SETUP_THREADS)
        columns[k] = NONE;
    for (int k = (int)threadIdx.x; k < n_lists; k += SETUP_THREADS)
        if (k < p.n_halo || k >= p.n_halo + 2 * (int)p.n_overflow)
            lists[k] = k < p.n_halo ? halo[k] : 0;
    __syncthreads();
    for (int64_t row = first + threadIdx.x; row < last; row += SETUP_THREADS)
        for (int64_t k = row_start[row]; k < row_start[row + 1]; ++k) {
            const int i = (int)(row - first), local = locals[k], h = local - NODES;
            const int column = local < NODES ? local : h < MOST_HALO ? HALO + h : ~halo[h];
            const uint32_t slot = offsets[k] - NODES;
            if (offsets[k] == DISCARD || offsets[k] < NODES)
                continue;
            if (slot >= (uint32_t)n_slots) {
                over[slot - n_slots] = column;
                over[slot - n_slots + p.n_overflow] = i;
            } else { /* an edge's slot may belong to its other row */
                columns[slot] = (uint16_t)(slot % NODES == (uint32_t)i ? column : i);
            }
        }
}
