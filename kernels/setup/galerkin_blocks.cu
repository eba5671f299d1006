/* The Galerkin matrix P^T A P of a prolongation of smoothed aggregation whose nodes and aggregates have several rows each, in
 * two products like the host's, (A P) first. Every sum is taken by one thread at a time in the order of rows, so that it is
 * the host's. Aggregates that a fine node reaches by A P are listed once per node; A P has dense blocks for them. */
#define MOST_ROWS 6      /* of a node; modes as well */
#define REACH_MOST 128   /* aggregates that a node reaches */
#define ROW_AGGREGATES 4 /* of a row of P */
#define WARPS (SETUP_THREADS / 32)
#define TILE 64 /* aggregates whose sums are in shared memory */
#define AHEAD 4 /* values that a thread loads together */
#define SINGULAR 1e-13 /* a smaller part of a diagonal is rounding error */
#define NONE (-1)

/* P by rows, see block_prolongation in aggregation_blocks.cu */
struct transfer {
    const int32_t *aggregates, *counts;
    const double *weights;
};

struct __align__(16) four_numbers {
    int32_t v[ROW_AGGREGATES];
};

/* Collect the aggregates that the rows of a node reach in the warp's set. Returns how many there are; more than REACH_MOST:
 * there are too many. */
INLINE int32_t find_reach(const sell_matrix *A, const transfer *P, const int64_t *first, int64_t node, int32_t *set,
                          int32_t *count)
{
    const int lane = (int)threadIdx.x % 32;
    set_clear(set, count);
    for (int64_t i = first[node]; i < first[node + 1]; ++i) {
        const int64_t slot = i / 512 * 512 + A->slots[i];
        const sell_row own = sell_row_of(A->layout, slot);
        for (int base = 0; base <= own.length && P->counts[i] > 0; base += 32) {
            int32_t j = 0;
            double a;
            if (sell_entry(A, i, own, slot, base + lane, &j, &a)) {
                const four_numbers aggregates = ((const four_numbers *)P->aggregates)[j];
                const int n_own = P->counts[j];
                for (int s = 0; s < n_own; ++s)
                    set_insert(set, count, aggregates.v[s]);
            }
            const int32_t found = set_size(count);
            if (found > REACH_MOST)
                return found;
        }
    }
    return set_size(count);
}

/* n: 32 times the nodes.  most[0] gets the greatest number of aggregates, or more than REACH_MOST */
extern "C" __global__ void reach_counts(long long n, const uint16_t *slots, const int32_t *bases,
                                        const uint32_t *slice_start, const uint32_t *column_start,
                                        const uint32_t *words, const double *values, const int64_t *first,
                                        const int32_t *aggregates, const int32_t *counts, uint32_t *lengths,
                                        int32_t *most)
{
    __shared__ int32_t sets[WARPS][SET_SLOTS], found[WARPS];
    const int warp = (int)threadIdx.x / 32;
    const int64_t node = element() / 32;
    if (node >= n / 32)
        return;
    const sell_matrix A = {slots, {bases, slice_start, column_start, words}, values};
    const transfer P = {aggregates, counts, (const double *)0};
    const int32_t length = find_reach(&A, &P, first, node, sets[warp], &found[warp]);
    set_report(length, &lengths[node], most);
}

/* The same, listed ascending.  start: exclusive sums of lengths */
extern "C" __global__ void reach_lists(long long n, const uint16_t *slots, const int32_t *bases,
                                       const uint32_t *slice_start, const uint32_t *column_start, const uint32_t *words,
                                       const double *values, const int64_t *first, const int32_t *aggregates,
                                       const int32_t *counts, const int64_t *start, int32_t *reach)
{
    __shared__ int32_t sets[WARPS][SET_SLOTS], lists[WARPS][SET_MOST], found[WARPS];
    const int warp = (int)threadIdx.x / 32;
    const int64_t node = element() / 32;
    if (node >= n / 32)
        return;
    const sell_matrix A = {slots, {bases, slice_start, column_start, words}, values};
    const transfer P = {aggregates, counts, (const double *)0};
    const int32_t length = find_reach(&A, &P, first, node, sets[warp], &found[warp]);
    set_write(sets[warp], lists[warp], length, &reach[start[node]]);
}

/* ---- A P ----------------------------------------------------------------------------------------------- */

/* Sums of a row of A P, and up to 32 entries of A that are being added. Shared by a warp. */
struct product_row {
    double sums[TILE * MOST_ROWS];
    double a[32];
    int32_t column[32], reach[TILE];
    signed char slot[32][ROW_AGGREGATES]; /* NONE: not added */
};

/* Add AHEAD of the entries, whose weights are loaded together, in their order. */
INLINE void add_weights(const transfer *P, int first, int own_s, int own_mode, int m, product_row *row)
{
    double weights[AHEAD];
    UNROLL for (int q = 0; q < AHEAD; ++q) {
        const bool is_used = own_s < ROW_AGGREGATES && row->slot[first + q][own_s] != NONE;
        weights[q] =
            is_used ? P->weights[((int64_t)row->column[first + q] * ROW_AGGREGATES + own_s) * m + own_mode] : 0;
    }
    UNROLL for (int q = 0; q < AHEAD; ++q) {
        const int to = own_s < ROW_AGGREGATES ? row->slot[first + q][own_s] : NONE;
        if (to != NONE)
            row->sums[to * m + own_mode] =
                __dadd_rn(row->sums[to * m + own_mode], __dmul_rn(row->a[first + q], weights[q]));
        __syncwarp();
    }
}

/* Add the entries of a row to the sums of `n` aggregates. */
INLINE void add_products(const sell_matrix *A, const transfer *P, int64_t i, int m, int n, product_row *row)
{
    const int lane = (int)threadIdx.x % 32, own_s = lane / m, own_mode = lane % m;
    const int64_t slot = i / 512 * 512 + A->slots[i];
    const sell_row own = sell_row_of(A->layout, slot);
    for (int base = 0; base <= own.length; base += 32) {
        int32_t j = 0;
        double a = 0;
        const int n_own = sell_entry(A, i, own, slot, base + lane, &j, &a) ? P->counts[j] : 0;
        const four_numbers aggregates = ((const four_numbers *)P->aggregates)[j];
        row->a[lane] = a;
        row->column[lane] = j;
        UNROLL for (int s = 0; s < ROW_AGGREGATES; ++s) {
            int found = NONE;
            for (int k = 0; k < n && s < n_own; ++k)
                found = row->reach[k] == aggregates.v[s] ? k : found;
            row->slot[lane][s] = (signed char)found;
        }
        __syncwarp();
        for (int first = 0; first < 32 && base + first <= own.length; first += AHEAD)
            add_weights(P, first, own_s, own_mode, m, row);
    }
}

/* A warp makes each row of A P.  n: 32 times the rows.  sizes: modes, rows of a node at most.  products: of node k from
 * start[k] * rows * modes on, [row][aggregates that it reaches][modes] */
extern "C" __global__ void block_products(long long n, const int64_t *sizes, const uint16_t *slots,
                                          const int32_t *bases, const uint32_t *slice_start,
                                          const uint32_t *column_start, const uint32_t *words, const double *values,
                                          const int64_t *first, const int32_t *of, const int32_t *aggregates,
                                          const int32_t *counts, const double *weights, const int64_t *start,
                                          const int32_t *reach, double *products)
{
    __shared__ product_row rows[WARPS];
    const int lane = (int)threadIdx.x % 32, m = (int)sizes[0];
    const int64_t i = element() / 32;
    if (i >= n / 32 || counts[i] == 0)
        return;
    const sell_matrix A = {slots, {bases, slice_start, column_start, words}, values};
    const transfer P = {aggregates, counts, weights};
    product_row *row = &rows[threadIdx.x / 32];
    const int64_t node = of[i];
    const int n_all = (int)(start[node + 1] - start[node]);
    double *out = products + (start[node] * sizes[1] + (i - first[node]) * n_all) * m;
    for (int base = 0; base < n_all; base += TILE) {
        const int n_own = n_all - base < TILE ? n_all - base : TILE;
        for (int k = lane; k < n_own; k += 32)
            row->reach[k] = reach[start[node] + base + k];
        for (int k = lane; k < n_own * m; k += 32)
            row->sums[k] = 0;
        __syncwarp();
        add_products(&A, &P, i, m, n_own, row);
        for (int k = lane; k < n_own * m; k += 32)
            out[base * m + k] = row->sums[k];
        __syncwarp();
    }
}

/* ---- P^T (A P) ------------------------------------------------------------------------------------------- */

/* Rows of P with entries in an aggregate: places[start[aggregate]] ..., row * ROW_AGGREGATES + which, ascending; with the
 * aggregates that nodes reach. */
struct reaching {
    const int64_t *start;
    const uint32_t *places;
    const int32_t *counts, *of;
    const int64_t *reach_start;
    const int32_t *reach;
};

/* Collect the aggregates next to one in the warp's set. Returns how many there are, more than SET_MOST for too many. */
INLINE int32_t collect(const reaching *r, int64_t aggregate, int32_t *set, int32_t *count)
{
    const int lane = (int)threadIdx.x % 32;
    int64_t before = NONE;
    set_clear(set, count);
    if (lane == 0)
        set_insert(set, count, (int32_t)aggregate);
    for (int64_t p = r->start[aggregate]; p < r->start[aggregate + 1]; ++p) {
        const int64_t row = r->places[p] / ROW_AGGREGATES, node = r->of[row];
        if ((int32_t)(r->places[p] % ROW_AGGREGATES) >= r->counts[row] || node == before)
            continue;
        before = node;
        for (int64_t base = r->reach_start[node]; base < r->reach_start[node + 1]; base += 32) {
            if (base + lane < r->reach_start[node + 1])
                set_insert(set, count, r->reach[base + lane]);
            const int32_t found = set_size(count);
            if (found > SET_MOST)
                return found;
        }
    }
    return set_size(count);
}

/* Aggregates next to each one.  n: 32 times the aggregates.  longest[0] gets the greatest number, or more than SET_MOST */
extern "C" __global__ void near_counts(long long n, const int64_t *start, const uint32_t *places, const int32_t *counts,
                                       const int32_t *of, const int64_t *reach_start, const int32_t *reach,
                                       uint32_t *lengths, int32_t *longest)
{
    __shared__ int32_t sets[WARPS][SET_SLOTS], found[WARPS];
    const int warp = (int)threadIdx.x / 32;
    const int64_t aggregate = element() / 32;
    if (aggregate >= n / 32)
        return;
    const reaching r = {start, places, counts, of, reach_start, reach};
    const int32_t length = collect(&r, aggregate, sets[warp], &found[warp]);
    set_report(length, &lengths[aggregate], longest);
}

/* The same, listed ascending.  near_start: exclusive sums of lengths */
extern "C" __global__ void near_lists(long long n, const int64_t *start, const uint32_t *places, const int32_t *counts,
                                      const int32_t *of, const int64_t *reach_start, const int32_t *reach,
                                      const int64_t *near_start, int32_t *near_list)
{
    __shared__ int32_t sets[WARPS][SET_SLOTS], lists[WARPS][SET_MOST], found[WARPS];
    const int warp = (int)threadIdx.x / 32;
    const int64_t aggregate = element() / 32;
    if (aggregate >= n / 32)
        return;
    const reaching r = {start, places, counts, of, reach_start, reach};
    const int32_t length = collect(&r, aggregate, sets[warp], &found[warp]);
    set_write(sets[warp], lists[warp], length, &near_list[near_start[aggregate]]);
}

/* Lengths of the coarse rows.  n: aggregates.  first: coarse row of each */
extern "C" __global__ void coarse_lengths(long long n, const int64_t *first, const int64_t *near_start,
                                          const int32_t *near_list, uint32_t *lengths)
{
    const int64_t i = element();
    if (i >= n)
        return;
    uint32_t length = 0;
    for (int64_t k = near_start[i]; k < near_start[i + 1]; ++k)
        length += (uint32_t)(first[near_list[k] + 1] - first[near_list[k]]);
    for (int64_t row = first[i]; row < first[i + 1]; ++row)
        lengths[row] = length;
}

/* A row of P with an entry in the aggregate. */
struct contribution {
    int64_t node, start; /* of its row; of the aggregates that the node reaches */
    int64_t from;        /* first value of the row of A P */
    int n_reach;         /* 0: there is no entry */
    double weight, part; /* p_ki, p_ki sqrt(a_kk) */
};

/* The coarse rows of an aggregate, made by a block of threads, a warp for each. */
struct coarse_node {
    double sums[TILE][MOST_ROWS][MOST_ROWS]; /* of aggregates of the tile */
    double sizes[MOST_ROWS];                 /* sum_k p_ki^2 a_kk */
    int32_t list[SET_MOST];                  /* aggregates next to it */
    int32_t offset[SET_MOST + 1];            /* their first entries in a row */
    int16_t slot[MOST_ROWS][REACH_MOST];     /* of aggregates that a node reaches in the tile; NONE: in another one */
    contribution found[MOST_ROWS][32];       /* one by each lane of a warp */
};

/* The place of an aggregate in the list. */
INLINE int find_near(const coarse_node *c, int n, int32_t aggregate)
{
    int low = 0, high = n;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (c->list[middle] < aggregate)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

INLINE contribution contribution_at(const reaching *r, const int64_t *sizes, const int64_t *fine_first,
                                    const double *weights, const double *scale, int64_t p, int64_t last, int own)
{
    contribution c = {NONE, 0, 0, 0, 0, 0};
    if (p >= last)
        return c;
    const uint32_t place = r->places[p];
    const int64_t row = place / ROW_AGGREGATES, m = sizes[0];
    if ((int32_t)(place % ROW_AGGREGATES) >= r->counts[row])
        return c;
    c.node = r->of[row];
    c.start = r->reach_start[c.node];
    c.n_reach = (int)(r->reach_start[c.node + 1] - c.start);
    c.from = (c.start * sizes[1] + (row - fine_first[c.node]) * c.n_reach) * m;
    c.weight = weights[(int64_t)place * m + own];
    c.part = c.weight / scale[row];
    return c;
}

/* Add p_ki (A P)_kj of one row to the warp's sums; AHEAD values of a lane are loaded together. */
INLINE void add_row(const contribution *k, int m, const double *products, const int16_t *slot, int own, coarse_node *c)
{
    const int lane = (int)threadIdx.x % 32, n = k->n_reach * m;
    const double *from = products + k->from;
    for (int base = lane; base < n; base += 32 * AHEAD) {
        double values[AHEAD];
        UNROLL for (int q = 0; q < AHEAD; ++q)
            values[q] = base + 32 * q < n ? from[base + 32 * q] : 0;
        UNROLL for (int q = 0; q < AHEAD; ++q) {
            const int e = base + 32 * q, at = e < n ? slot[e / m] : NONE;
            if (at != NONE)
                c->sums[at][own][e % m] = __dadd_rn(c->sums[at][own][e % m], __dmul_rn(k->weight, values[q]));
        }
    }
}

/* Add all contributions p_ki (A P)_kj of the warp's row to the tile of aggregates from `base` on. */
INLINE void add_tile(const reaching *r, const int64_t *sizes, const int64_t *fine_first, const double *weights,
                     const double *products, const double *scale, int64_t aggregate, int base, int n, coarse_node *c)
{
    const int lane = (int)threadIdx.x % 32, own = (int)threadIdx.x / 32, m = (int)sizes[0];
    const int64_t last = r->start[aggregate + 1];
    int16_t *slot = c->slot[own];
    int64_t before = NONE;
    double size = 0;
    for (int64_t p = r->start[aggregate]; p < last; p += 32) {
        c->found[own][lane] = contribution_at(r, sizes, fine_first, weights, scale, p + lane, last, own);
        __syncwarp();
        for (int q = 0; q < 32 && p + q < last; ++q) {
            const contribution k = c->found[own][q];
            if (k.n_reach == 0)
                continue;
            for (int i = lane; i < k.n_reach && k.node != before; i += 32) {
                const int at = find_near(c, n, r->reach[k.start + i]) - base;
                slot[i] = (int16_t)(at >= 0 && at < TILE ? at : NONE);
            }
            before = k.node;
            __syncwarp();
            size = __dadd_rn(size, __dmul_rn(k.part, k.part));
            add_row(&k, m, products, slot, own, c);
            __syncwarp();
        }
        __syncwarp();
    }
    if (lane == 0)
        c->sizes[own] = size;
}

/* n: 256 times the aggregates.  sizes: modes, rows of a node at most.  A part of the mesh that nothing fixes ends as a row
 * that is rounding error: its diagonal becomes sum_k p_ki^2 a_kk. */
extern "C" __global__ void coarse_rows(long long n, const int64_t *sizes, const int64_t *start, const uint32_t *places,
                                       const int32_t *counts, const double *weights, const double *scale,
                                       const int64_t *fine_first, const int32_t *of, const int64_t *reach_start,
                                       const int32_t *reach, const double *products, const int64_t *first,
                                       const int64_t *near_start, const int32_t *near_list, const int64_t *out_start,
                                       int32_t *out_columns, double *out_values)
{
    __shared__ coarse_node c;
    const int64_t aggregate = blockIdx.x, own_first = first[aggregate];
    const int me = (int)threadIdx.x, m = (int)sizes[0];
    const int n_rows = (int)(first[aggregate + 1] - own_first);
    const int n_near = (int)(near_start[aggregate + 1] - near_start[aggregate]);
    const reaching r = {start, places, counts, of, reach_start, reach};
    if (me < n_near)
        c.list[me] = near_list[near_start[aggregate] + me];
    __syncthreads();
    if (me < n_near) {
        int32_t offset = 0;
        for (int k = 0; k < me; ++k)
            offset += (int32_t)(first[c.list[k] + 1] - first[c.list[k]]);
        c.offset[me] = offset;
    }
    for (int base = 0; base < n_near; base += TILE) {
        for (int k = me; k < TILE * MOST_ROWS * MOST_ROWS; k += SETUP_THREADS)
            (&c.sums[0][0][0])[k] = 0;
        __syncthreads();
        if (me / 32 < n_rows)
            add_tile(&r, sizes, fine_first, weights, products, scale, aggregate, base, n_near, &c);
        __syncthreads();
        for (int k = me; k < TILE * m * m; k += SETUP_THREADS) {
            const int at = k / (m * m), row = k / m % m, mode = k % m, near_at = base + at;
            if (near_at >= n_near || row >= n_rows)
                continue;
            const int32_t other = c.list[near_at];
            if (mode >= first[other + 1] - first[other])
                continue;
            const double sum = c.sums[at][row][mode];
            const bool is_singular = other == aggregate && row == mode && sum <= SINGULAR * c.sizes[row];
            const int64_t place = out_start[own_first + row] + c.offset[near_at] + mode;
            out_columns[place] = (int32_t)(first[other] + mode);
            out_values[place] = is_singular ? c.sizes[row] : sum;
        }
        __syncthreads();
    }
}
