/* Smoothed aggregation of nodes with several rows each, as fem/multigrid makes it on the host (graph.c, tentative.c,
 * prolongation.c), from the same comparisons and sums in the same order. Nodes have consecutive rows. */
#define NONE (-1)
#define MOST_ROWS 6 /* of a node; modes as well */
#define WARPS (SETUP_THREADS / 32)

/* first [nodes + 1]: `components` rows each.  n: rows.  sizes: components, nodes */
extern "C" __global__ void even_nodes(long long n, const int64_t *sizes, int64_t *first, int32_t *of)
{
    const int64_t i = element();
    if (i < n)
        of[i] = (int32_t)(i / sizes[0]);
    if (i <= sizes[1])
        first[i] = i * sizes[0];
}

/* Rows of the near-nullspace: translations and rotations, or a constant for each component; 0 at constrained dofs.  n:
 * rows.  sizes: dimension, modes, whether the modes are those of rigid bodies.  modes [n][modes] */
extern "C" __global__ void node_modes(long long n, const int64_t *sizes, const unsigned char *fixed, const double *x,
                                      const int64_t *first, const int32_t *of, double *modes)
{
    const int64_t i = element(), d = sizes[0], m = sizes[1];
    if (i >= n)
        return;
    const int64_t node = of[i], component = i - first[node];
    double *row = modes + i * m;
    for (int64_t k = 0; k < m; ++k)
        row[k] = k == component && !fixed[i] ? 1 : 0;
    if (fixed[i] || !sizes[2])
        return;
    const double *at = x + node * d;
    if (d == 2)
        row[2] = component == 0 ? -at[1] : at[0];
    for (int axis = 0; d == 3 && axis < 3; ++axis) { /* e_axis x x */
        const int next = (axis + 1) % 3, last = (axis + 2) % 3;
        row[3 + axis] = component == last ? at[next] : component == next ? -at[last] : 0;
    }
}

/* ---- the graph ------------------------------------------------------------------------------------- */

struct nodes {
    const int64_t *first; /* row of each */
    const int32_t *of;    /* rows */
};

/* The rows of a node, of which each is at an entry. */
struct node_rows {
    int n;
    sell_entries rows[MOST_ROWS];
    int32_t column[MOST_ROWS];
    int64_t place[MOST_ROWS];
    bool has[MOST_ROWS];
};

INLINE void open_rows(node_rows *r, const nodes *at, const sell_matrix *A, const unsigned char *fixed, int64_t node)
{
    r->n = 0;
    for (int64_t i = at->first[node]; i < at->first[node + 1]; ++i) {
        if (fixed[i])
            continue;
        r->rows[r->n] = entries_of(A, i);
        r->has[r->n] = next_entry(&r->rows[r->n], &r->column[r->n], &r->place[r->n]);
        ++r->n;
    }
}

/* The next node that free rows couple to by free columns, with the sum of squares in the order of rows. */
INLINE bool next_node(node_rows *r, const nodes *at, const unsigned char *fixed, const double *values, int32_t *node,
                      double *sum)
{
    for (;;) {
        int32_t least = 0x7fffffff;
        bool any = false;
        for (int k = 0; k < r->n; ++k)
            if (r->has[k] && r->column[k] < least)
                least = r->column[k];
        if (least == 0x7fffffff)
            return false;
        *node = at->of[least];
        *sum = 0;
        const int64_t last = at->first[*node + 1];
        for (int k = 0; k < r->n; ++k)
            while (r->has[k] && r->column[k] < last) {
                if (!fixed[r->column[k]]) {
                    const double a = values ? values[r->place[k]] : 0;
                    *sum = __dadd_rn(*sum, __dmul_rn(a, a));
                    any = true;
                }
                r->has[k] = next_entry(&r->rows[k], &r->column[k], &r->place[k]);
            }
        if (any)
            return true;
    }
}

/* Entries of each row of the graph, with the diagonal.  n: nodes.  longest[0] gets the greatest length */
extern "C" __global__ void graph_lengths(long long n, const uint16_t *slots, const int32_t *bases,
                                         const uint32_t *slice_start, const uint32_t *column_start,
                                         const uint32_t *words, const unsigned char *fixed, const int64_t *first,
                                         const int32_t *of, uint32_t *lengths)
{
    const int64_t i = element();
    if (i >= n)
        return;
    const sell_matrix A = {slots, {bases, slice_start, column_start, words}, (const double *)0};
    const nodes at = {first, of};
    node_rows rows;
    int32_t other;
    double sum;
    uint32_t length = 0;
    open_rows(&rows, &at, &A, fixed, i);
    while (next_node(&rows, &at, fixed, (const double *)0, &other, &sum))
        ++length;
    lengths[i] = length > 0 ? length : 1;
}

/* Frobenius norms of blocks of free rows and columns, as a matrix in CSR format.  node_fixed: 1 where no row is free */
extern "C" __global__ void graph_rows(long long n, const uint16_t *slots, const int32_t *bases,
                                      const uint32_t *slice_start, const uint32_t *column_start, const uint32_t *words,
                                      const double *values, const unsigned char *fixed, const int64_t *first,
                                      const int32_t *of, const int64_t *row_start, int32_t *columns, double *norms,
                                      unsigned char *node_fixed)
{
    const int64_t i = element();
    if (i >= n)
        return;
    const sell_matrix A = {slots, {bases, slice_start, column_start, words}, values};
    const nodes at = {first, of};
    node_rows rows;
    int32_t other;
    double sum;
    int64_t e = row_start[i];
    open_rows(&rows, &at, &A, fixed, i);
    node_fixed[i] = rows.n == 0;
    if (rows.n == 0) {
        columns[e] = (int32_t)i;
        norms[e] = 0;
    }
    for (; next_node(&rows, &at, fixed, values, &other, &sum); ++e) {
        columns[e] = other;
        norms[e] = sqrt(sum);
    }
}

/* ---- the tentative prolongation ---------------------------------------------------------------------- */

/* An aggregate, whose nodes are those of lanes, 32 at a time. A warp works on it. */
struct aggregate {
    const uint32_t *members; /* of the aggregate */
    int64_t n_members;
    const int32_t *points; /* nodes of members */
    const int64_t *first;
    double *modes;
    int m, most_rows;
    double *products; /* [32][most_rows], shared */
};
struct lane_rows {
    double *modes; /* of the first row */
    int n;
};

INLINE lane_rows rows_of(const aggregate *a, int64_t base)
{
    const int64_t member = base + (int)threadIdx.x % 32;
    lane_rows rows = {(double *)0, 0};
    if (member < a->n_members) {
        const int64_t node = a->points[a->members[member]];
        rows.modes = a->modes + a->first[node] * a->m;
        rows.n = (int)(a->first[node + 1] - a->first[node]);
    }
    return rows;
}

/* b.q of two columns. Lanes multiply; all add, in the order of rows.  own: of the first 32 nodes */
INLINE double dot(const aggregate *a, lane_rows own, int b, int q)
{
    const int lane = (int)threadIdx.x % 32;
    double sum = 0;
    for (int64_t base = 0; base < a->n_members; base += 32) {
        const lane_rows rows = base == 0 ? own : rows_of(a, base);
        const int64_t left = a->n_members - base;
        const int n = (int)(left < 32 ? left : 32) * a->most_rows;
        for (int r = 0; r < a->most_rows; ++r)
            a->products[lane * a->most_rows + r] =
                r < rows.n ? __dmul_rn(rows.modes[r * a->m + b], rows.modes[r * a->m + q]) : 0;
        __syncwarp();
        for (int k = 0; k < n; ++k)
            sum = __dadd_rn(sum, a->products[k]);
        __syncwarp();
    }
    return sum;
}

#define DEPENDENT 1e-8 /* a vector whose other part is smaller, relative to its norm, is dropped */

/* Modified Gram-Schmidt, twice, in place. Returns the rank.  R: in memory that the first lane writes */
INLINE int orthonormalise(const aggregate *a, double *R)
{
    const int m = a->m, lane = (int)threadIdx.x % 32;
    const lane_rows own = rows_of(a, 0);
    int rank = 0;
    for (int k = 0; lane == 0 && k < m * m; ++k)
        R[k] = 0;
    for (int b = 0; b < m; ++b) {
        const double before = sqrt(dot(a, own, b, b));
        for (int pass = 0; pass < 2; ++pass)
            for (int q = 0; q < rank; ++q) {
                const double r = dot(a, own, b, q);
                for (int64_t base = 0; base < a->n_members; base += 32) {
                    const lane_rows rows = base == 0 ? own : rows_of(a, base);
                    double *row = rows.modes;
                    for (int k = 0; k < rows.n; ++k, row += m)
                        row[b] = __dadd_rn(row[b], -__dmul_rn(r, row[q]));
                }
                if (lane == 0)
                    R[q * m + b] = __dadd_rn(R[q * m + b], r);
            }
        const double norm = sqrt(dot(a, own, b, b));
        if (!(norm > DEPENDENT * before))
            continue;
        for (int64_t base = 0; base < a->n_members; base += 32) {
            const lane_rows rows = base == 0 ? own : rows_of(a, base);
            double *row = rows.modes;
            for (int k = 0; k < rows.n; ++k, row += m)
                row[rank] = row[b] / norm;
        }
        if (lane == 0)
            R[rank * m + b] = norm;
        ++rank;
    }
    return rank;
}

/* B = Q R on each aggregate; the modes become Q.  n: 32 times the aggregates.  sizes: dimension, modes, rows of a node at
 * most.  start, members: points of each, ascending.  R [aggregates][modes][modes]; ranks [aggregates]; means
 * [aggregates][dimension] of the coordinates */
extern "C" __global__ void block_tentative(long long n, const int64_t *sizes, const int64_t *start,
                                           const uint32_t *members, const int32_t *points, const int64_t *first,
                                           const double *x, double *modes, double *R, uint32_t *ranks, double *means)
{
    __shared__ double products[WARPS][32 * MOST_ROWS];
    const int lane = (int)threadIdx.x % 32;
    const int64_t i = element() / 32, d = sizes[0], m = sizes[1];
    if (i >= n / 32)
        return;
    const aggregate a = {members + start[i], start[i + 1] - start[i], points, first, modes, (int)m, (int)sizes[2],
                         products[threadIdx.x / 32]};
    const int rank = orthonormalise(&a, R + i * m * m);
    if (lane == 0)
        ranks[i] = (uint32_t)rank;
    if (lane < d) {
        double mean = 0;
        for (int64_t k = 0; k < a.n_members; ++k)
            mean = __dadd_rn(mean, x[points[a.members[k]] * d + lane]);
        means[i * d + lane] = mean / (double)a.n_members;
    }
}

/* The coarse level's rows: numbers of nodes, near-nullspace.  n: aggregates.  sizes: modes.  first: exclusive sums of ranks */
extern "C" __global__ void block_modes(long long n, const int64_t *sizes, const int64_t *first, const double *R,
                                       int32_t *of, double *modes)
{
    const int64_t i = element(), m = sizes[0];
    if (i >= n)
        return;
    for (int64_t row = first[i]; row < first[i + 1]; ++row) {
        of[row] = (int32_t)i;
        for (int64_t k = 0; k < m; ++k)
            modes[row * m + k] = R[i * m * m + (row - first[i]) * m + k];
    }
}

/* ---- the prolongation -------------------------------------------------------------------------------- */

#define ROW_AGGREGATES 4  /* of a row of P */
#define ROW_NEIGHBOURS 64 /* aggregates next to a row */
#define OMEGA 1.5
#define AHEAD 4 /* values that a thread loads together */

/* A row of A_F T by aggregates, the row's own first, and up to 32 entries that are being added. Shared by a warp. */
struct block_row {
    double sums[ROW_NEIGHBOURS][MOST_ROWS];
    double sizes[ROW_NEIGHBOURS];
    double a[32];
    int32_t aggregates[ROW_NEIGHBOURS], counts[ROW_NEIGHBOURS], column[32]; /* counts: rows of aggregates */
    int16_t slot[32]; /* NONE: not added; LUMPED: to the diagonal */
};
#define LUMPED (-2)

struct smoothing {
    sell_matrix A;
    nodes at;
    const double *scale;                             /* rows: 1 / sqrt(a_ii), 0: constrained */
    const int64_t *graph_start;                      /* the graph */
    const int32_t *graph_columns;
    const double *graph_norms, *node_scale;
    double theta;
    const int32_t *aggregate_of; /* nodes */
    const int64_t *coarse_first; /* coarse row of each aggregate */
    const double *t;
    int m;
};

INLINE int count_of(const smoothing *s, int32_t aggregate)
{
    return (int)(s->coarse_first[aggregate + 1] - s->coarse_first[aggregate]);
}

/* Is the coupling of two nodes kept in A_F? */
INLINE bool keeps(const smoothing *s, int32_t node, int32_t other)
{
    int64_t low = s->graph_start[node], high = s->graph_start[node + 1];
    const int64_t end = high;
    if (other == node)
        return true;
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        if (s->graph_columns[middle] < other)
            low = middle + 1;
        else
            high = middle;
    }
    return low < end && s->graph_columns[low] == other && s->node_scale[other] != 0 &&
           s->graph_norms[low] * s->node_scale[node] * s->node_scale[node] > s->theta;
}

/* Add an aggregate for each lane that has one which is not in the list, in the order of lanes; *slot gets the lane's. false:
 * there are too many. */
INLINE bool find_slots(const smoothing *s, block_row *row, int *n, int32_t aggregate, int *slot)
{
    const int lane = (int)threadIdx.x % 32;
    *slot = NONE;
    for (int k = 0; k < *n; ++k)
        if (row->aggregates[k] == aggregate)
            *slot = k;
    for (;;) {
        const uint32_t open = __ballot_sync(0xffffffffu, aggregate >= 0 && *slot == NONE);
        if (open == 0)
            return true;
        if (*n == ROW_NEIGHBOURS)
            return false;
        if (lane == __ffs((int)open) - 1) {
            row->aggregates[*n] = aggregate;
            row->counts[*n] = count_of(s, aggregate);
        }
        if (lane < MOST_ROWS)
            row->sums[*n][lane] = 0;
        __syncwarp();
        if (row->aggregates[*n] == aggregate && *slot == NONE)
            *slot = *n;
        ++*n;
    }
}

/* Add AHEAD of the entries, whose rows of T are loaded together, in their order. */
INLINE void add_entries(const smoothing *s, int first, block_row *row, double *diagonal)
{
    const int lane = (int)threadIdx.x % 32;
    double t[AHEAD];
    UNROLL for (int q = 0; q < AHEAD; ++q)
        t[q] = row->slot[first + q] >= 0 && lane < s->m ? s->t[(int64_t)row->column[first + q] * s->m + lane] : 0;
    UNROLL for (int q = 0; q < AHEAD; ++q) {
        const int to = row->slot[first + q];
        if (to == LUMPED)
            *diagonal = __dadd_rn(*diagonal, row->a[first + q]);
        else if (to != NONE && lane < s->m && lane < row->counts[to])
            row->sums[to][lane] = __dadd_rn(row->sums[to][lane], __dmul_rn(row->a[first + q], t[q]));
    }
}

/* Row i of A_F T without the diagonal's part. In A_F, blocks of other couplings are added to the diagonal, component by
 * component. */
INLINE bool add_row(const smoothing *s, int64_t i, block_row *row, int *n, double *diagonal)
{
    const int lane = (int)threadIdx.x % 32, m = s->m;
    const int64_t slot = i / 512 * 512 + s->A.slots[i];
    const sell_row own = sell_row_of(s->A.layout, slot);
    const int32_t node = s->at.of[i];
    const int64_t component = i - s->at.first[node];
    int mine;
    *n = 0;
    *diagonal = 0;
    (void)find_slots(s, row, n, lane == 0 ? s->aggregate_of[node] : NONE, &mine);
    for (int base = 0; base <= own.length; base += 32) {
        int32_t j = 0, aggregate = NONE;
        double a = 0;
        bool is_lumped = false;
        if (sell_entry(&s->A, i, own, slot, base + lane, &j, &a) && s->scale[j] != 0) {
            const int32_t other = s->at.of[j];
            const bool kept = keeps(s, node, other);
            is_lumped = j == i || (!kept && j - s->at.first[other] == component);
            aggregate = kept && j != i ? s->aggregate_of[other] : NONE;
        }
        if (!find_slots(s, row, n, aggregate, &mine))
            return false;
        row->a[lane] = a;
        row->column[lane] = j;
        row->slot[lane] = (int16_t)(is_lumped ? LUMPED : mine);
        __syncwarp();
        for (int first = 0; first < 32 && base + first <= own.length; first += AHEAD)
            add_entries(s, first, row, diagonal);
        __syncwarp();
    }
    return true;
}

/* Row i of A_F T becomes row i of P. A diagonal that lumping has reduced much, or to nothing, is limited: rows of A_F still
 * add up to those of A. */
INLINE void smooth_row(const smoothing *s, int64_t i, double lambda, double diagonal, block_row *row, int n)
{
    const int lane = (int)threadIdx.x % 32, m = s->m;
    const double full = 1 / (s->scale[i] * s->scale[i]);
    const double omega = -OMEGA / lambda / (diagonal > full / 4 ? diagonal : full / 4);
    for (int k = 0; k < n && lane < m; ++k)
        row->sums[k][lane] = __dmul_rn(row->sums[k][lane], omega);
    if (lane < m && lane < count_of(s, row->aggregates[0])) {
        const double t = s->t[i * m + lane];
        row->sums[0][lane] =
            __dadd_rn(row->sums[0][lane], __dadd_rn(t, __dmul_rn(__dmul_rn(omega, diagonal), t)));
    }
    __syncwarp();
}

/* Remove the smallest entries. What the row interpolates, p R, remains: the first aggregate, whose R is in echelon form, gets
 * x with x R = what was removed.  R: [coarse rows][m] */
INLINE void truncate_row(const smoothing *s, const double *R, block_row *row, int *n)
{
    const int lane = (int)threadIdx.x % 32, m = s->m;
    double removed = 0; /* of mode `lane` */
    if (*n <= ROW_AGGREGATES)
        return;
    for (int k = lane; k < *n; k += 32) {
        double size = 0;
        for (int r = 0; r < m; ++r)
            size = __dadd_rn(size, __dmul_rn(row->sums[k][r], row->sums[k][r]));
        row->sizes[k] = size;
    }
    __syncwarp();
    while (*n > ROW_AGGREGATES) {
        int k = 1;
        for (int other = 2; other < *n; ++other)
            if (row->sizes[other] < row->sizes[k])
                k = other;
        const int32_t aggregate = row->aggregates[k];
        for (int r = 0; r < count_of(s, aggregate) && lane < m; ++r)
            removed = __dadd_rn(
                removed, __dmul_rn(row->sums[k][r], R[(s->coarse_first[aggregate] + r) * m + lane]));
        --*n;
        const double moved = row->sums[*n][lane < m ? lane : 0], size = row->sizes[*n];
        const int32_t last = row->aggregates[*n];
        __syncwarp();
        if (lane < m)
            row->sums[k][lane] = moved;
        if (lane == 0) {
            row->sizes[k] = size;
            row->aggregates[k] = last;
        }
        __syncwarp();
    }
    const double *own = R + s->coarse_first[row->aggregates[0]] * m;
    for (int r = 0; r < count_of(s, row->aggregates[0]); ++r, own += m) {
        int pivot = 0;
        while (own[pivot] == 0)
            ++pivot;
        const double x = __shfl_sync(0xffffffffu, removed, pivot) / own[pivot];
        if (lane >= pivot && lane < m)
            removed = __dadd_rn(removed, -__dmul_rn(x, own[lane]));
        if (lane == 0)
            row->sums[0][r] = __dadd_rn(row->sums[0][r], x);
    }
    __syncwarp();
}

/* Rows of P by aggregates, ascending; a warp makes each row.  n: 32 times the rows.  sizes: modes, aggregates.  limits: theta,
 * lambda.  aggregates [rows][ROW_AGGREGATES], after those of a row its first, or different ones where a row has none; counts
 * [rows]; weights [rows][ROW_AGGREGATES][modes]; overflow[0] becomes 1 for a row with too many couplings */
extern "C" __global__ void block_prolongation(long long n, const int64_t *sizes, const double *limits,
                                              const uint16_t *slots, const int32_t *bases, const uint32_t *slice_start,
                                              const uint32_t *column_start, const uint32_t *words, const double *values,
                                              const double *scale, const int64_t *first, const int32_t *of,
                                              const int64_t *graph_start, const int32_t *graph_columns,
                                              const double *graph_norms, const double *node_scale,
                                              const int32_t *aggregate_of, const int64_t *coarse_first, const double *t,
                                              const double *R, int32_t *aggregates, int32_t *counts, double *weights,
                                              int32_t *overflow)
{
    __shared__ block_row rows[WARPS];
    const int lane = (int)threadIdx.x % 32, m = (int)sizes[0];
    const int64_t i = element() / 32;
    if (i >= n / 32)
        return;
    const smoothing s = {{slots, {bases, slice_start, column_start, words}, values},
                         {first, of},
                         scale,
                         graph_start,
                         graph_columns,
                         graph_norms,
                         node_scale,
                         limits[0],
                         aggregate_of,
                         coarse_first,
                         t,
                         m};
    block_row *row = &rows[threadIdx.x / 32];
    int length = 0;
    double diagonal = 0;
    if (scale[i] != 0 && aggregate_of[of[i]] >= 0) {
        if (add_row(&s, i, row, &length, &diagonal)) {
            smooth_row(&s, i, limits[1], diagonal, row, length);
            truncate_row(&s, R, row, &length);
        } else {
            length = 0;
            overflow[0] = 1;
        }
    }
    if (lane == 0)
        counts[i] = length;
    for (int k = lane; k < ROW_AGGREGATES * m; k += 32)
        weights[i * ROW_AGGREGATES * m + k] = 0;
    if (lane < ROW_AGGREGATES)
        aggregates[i * ROW_AGGREGATES + lane] = (int32_t)(i * sizes[1] / (n / 32));
    __syncwarp();
    for (int k = 0; k < length; ++k) {
        int at = 0;
        for (int other = 0; other < length; ++other)
            at += row->aggregates[other] < row->aggregates[k];
        if (lane < m)
            weights[(i * ROW_AGGREGATES + at) * m + lane] = row->sums[k][lane];
        if (lane == 0 || (at == 0 && lane >= length && lane < ROW_AGGREGATES))
            aggregates[i * ROW_AGGREGATES + (lane == 0 ? at : lane)] = row->aggregates[k];
    }
}

/* P with an entry for each coarse row, in single precision; without one a weight of 0 in the first column.  n: entries,
 * [rows][ROW_AGGREGATES][modes].  sizes: modes, coarse rows */
extern "C" __global__ void block_transfer(long long n, const int64_t *sizes, const int32_t *aggregates,
                                          const int32_t *counts, const double *weights, const int64_t *coarse_first,
                                          int32_t *columns, float *narrow)
{
    const int64_t e = element(), m = sizes[0], width = ROW_AGGREGATES * m;
    if (e >= n)
        return;
    const int64_t i = e / width, place = e / m, mode = e % m;
    const int32_t aggregate = aggregates[place];
    const bool has = place % ROW_AGGREGATES < counts[i] &&
                     mode < coarse_first[aggregate + 1] - coarse_first[aggregate];
    const int64_t other = counts[i] > 0 ? coarse_first[aggregates[i * ROW_AGGREGATES]] : i * sizes[1] / (n / width);
    columns[e] = (int32_t)(has ? coarse_first[aggregate] + mode : other);
    narrow[e] = has ? (float)weights[e] : 0;
}
