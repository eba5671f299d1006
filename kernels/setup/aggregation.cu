/* Aggregates of nodes with one dof each, as fem/multigrid makes them on the host (graph.c, bisect.c, connect.c), from
 * the same comparisons and sums in the same order. */
#define NONE (-1)
#define CANDIDATES 64

/* 1 / sqrt(a_ii), 0 marks constrained rows.  values: of the SELL matrix, the diagonal first */
extern "C" __global__ void scales(long long n, const unsigned char *fixed, const double *values, double *scale)
{
    const int64_t i = element();
    if (i < n)
        scale[i] = fixed[i] ? 0 : 1 / sqrt(values[i]);
}

/* The constants, 0 at constrained dofs. */
extern "C" __global__ void constants(long long n, const unsigned char *fixed, double *modes)
{
    const int64_t i = element();
    if (i < n)
        modes[i] = fixed[i] ? 0 : 1;
}

/* A matrix and the diagonal that its couplings are compared to. */
struct couplings {
    sell_matrix A;
    const double *scale;
    double theta;
};

/* |a_ij|^2 > theta^2 a_ii a_jj */
INLINE bool connects(const couplings *c, int64_t i, int32_t j, double a)
{
    return j != i && c->scale[j] != 0 && fabs(a) * c->scale[i] * c->scale[j] > c->theta;
}

/* |a_ij| > theta a_ii */
INLINE bool smooths(const couplings *c, int64_t i, int32_t j, double a)
{
    return j != i && c->scale[j] != 0 && fabs(a) * c->scale[i] * c->scale[i] > c->theta;
}

/* limits: theta.  active [n]: 1 where a node has a strong coupling, otherwise 0 */
extern "C" __global__ void active_nodes(long long n, const double *limits, const uint16_t *slots, const int32_t *bases,
                                        const uint32_t *slice_start, const uint32_t *column_start,
                                        const uint32_t *words, const double *values, const double *scale,
                                        uint32_t *active)
{
    const int64_t i = element();
    if (i >= n)
        return;
    const couplings c = {{slots, {bases, slice_start, column_start, words}, values}, scale, limits[0]};
    sell_entries entries = entries_of(&c.A, i);
    int32_t j;
    int64_t e;
    bool any = false;
    while (!any && next_entry(&entries, &j, &e))
        any = connects(&c, i, j, values[e]) || smooths(&c, i, j, values[e]);
    active[i] = any;
}

/* sizes: dimension.  place [n]: exclusive sums of active; nodes, points: of the active nodes, with their coordinates */
extern "C" __global__ void list_active(long long n, const int64_t *sizes, const uint32_t *active, const int64_t *place,
                                       const double *x, int32_t *nodes, double *points)
{
    const int64_t i = element(), d = sizes[0];
    if (i >= n || !active[i])
        return;
    nodes[place[i]] = (int32_t)i;
    for (int64_t c = 0; c < d; ++c)
        points[place[i] * d + c] = x[i * d + c];
}

extern "C" __global__ void set_none(long long n, int32_t *list)
{
    const int64_t i = element();
    if (i < n)
        list[i] = NONE;
}

/* Sort the points of each set, and let place [nodes] be their places.  n: sets, some of them empty */
extern "C" __global__ void order_sets(long long n, const int32_t *start, const int32_t *nodes, int32_t *points,
                                      int32_t *place)
{
    const int64_t s = element();
    if (s >= n)
        return;
    const int32_t first = start[s], last = start[s + 1];
    for (int32_t p = first + 1; p < last; ++p) {
        const int32_t moved = points[p];
        int32_t k = p;
        for (; k > first && points[k - 1] > moved; --k)
            points[k] = points[k - 1];
        points[k] = moved;
    }
    for (int32_t p = first; p < last; ++p)
        place[nodes[points[p]]] = p;
}

INLINE int32_t find_root(const int32_t *root, int32_t p)
{
    while (root[p] != p)
        p = root[p];
    return p;
}

/* Components of each set: root [places] gets the place of a component's first node, size its nodes there.  n: sets */
extern "C" __global__ void unite_sets(long long n, const double *limits, const uint16_t *slots, const int32_t *bases,
                                      const uint32_t *slice_start, const uint32_t *column_start,
                                      const uint32_t *words, const double *values, const double *scale,
                                      const int32_t *start, const int32_t *nodes, const int32_t *points,
                                      const int32_t *place, int32_t *root, int32_t *size)
{
    const int64_t s = element();
    if (s >= n)
        return;
    const couplings c = {{slots, {bases, slice_start, column_start, words}, values}, scale, limits[0]};
    const int32_t first = start[s], last = start[s + 1];
    for (int32_t p = first; p < last; ++p) {
        const int32_t node = nodes[points[p]];
        sell_entries entries = entries_of(&c.A, node);
        int32_t j;
        int64_t e;
        root[p] = p;
        size[p] = 0;
        while (next_entry(&entries, &j, &e)) {
            const int32_t q = place[j];
            if (q < first || q >= p || !connects(&c, node, j, values[e]))
                continue;
            const int32_t a = find_root(root, p), b = find_root(root, q);
            root[a > b ? a : b] = a < b ? a : b;
        }
    }
    for (int32_t p = first; p < last; ++p) {
        root[p] = find_root(root, p);
        ++size[root[p]];
    }
}

struct neighbours {
    int n;
    int32_t root[CANDIDATES];
    double coupling[CANDIDATES];
};

/* Components beyond the first CANDIDATES are not considered. */
INLINE void neighbours_add(neighbours *all, int32_t root, double coupling)
{
    int k = 0;
    while (k < all->n && all->root[k] != root)
        ++k;
    if (k == CANDIDATES)
        return;
    if (k == all->n) {
        all->root[all->n++] = root;
        all->coupling[k] = 0;
    }
    all->coupling[k] = __dadd_rn(all->coupling[k], coupling);
}

/* Couplings of a node to components that are not small. A single node may also follow one in a much stiffer material. */
INLINE void node_neighbours(const couplings *c, int32_t node, bool is_single, const int32_t *place, const int32_t *root,
                            const int32_t *size, int32_t smallest, neighbours *all)
{
    sell_entries entries = entries_of(&c->A, node);
    int32_t j;
    int64_t e;
    while (next_entry(&entries, &j, &e)) {
        const double a = c->A.values[e];
        const int32_t q = j == node ? NONE : place[j];
        if (q >= 0 && size[root[q]] >= smallest &&
            (connects(c, node, j, a) || (is_single && smooths(c, node, j, a))))
            neighbours_add(all, root[q], __dmul_rn(fabs(a), c->scale[j]));
    }
}

/* target [places] of the first node of each component: itself, or for a small one the component with the strongest
 * couplings to it; stays [places]: 1 where a component is its own target, otherwise 0.  n: sets.  sizes: smallest size
 * that stays */
extern "C" __global__ void join_sets(long long n, const int64_t *sizes, const double *limits, const uint16_t *slots,
                                     const int32_t *bases, const uint32_t *slice_start, const uint32_t *column_start,
                                     const uint32_t *words, const double *values, const double *scale,
                                     const int32_t *start, const int32_t *nodes, const int32_t *points,
                                     const int32_t *place, const int32_t *root, const int32_t *size, int32_t *target,
                                     uint32_t *stays)
{
    const int64_t s = element();
    if (s >= n)
        return;
    const couplings c = {{slots, {bases, slice_start, column_start, words}, values}, scale, limits[0]};
    const int32_t last = start[s + 1], smallest = (int32_t)sizes[0];
    for (int32_t p = start[s]; p < last; ++p) {
        stays[p] = 0;
        target[p] = p;
        if (root[p] != p)
            continue;
        neighbours all;
        all.n = 0;
        for (int32_t q = p; q < last && size[p] < smallest; ++q)
            if (root[q] == p)
                node_neighbours(&c, nodes[points[q]], size[p] == 1, place, root, size, smallest, &all);
        int best = 0;
        for (int k = 1; k < all.n; ++k)
            if (all.coupling[k] > all.coupling[best] ||
                (all.coupling[k] == all.coupling[best] && all.root[k] < all.root[best]))
                best = k;
        if (all.n > 0)
            target[p] = all.root[best];
        stays[p] = target[p] == p;
    }
}

/* n: places.  number [places]: exclusive sums of stays.  of [nodes], of_point [points]: aggregates */
extern "C" __global__ void name_sets(long long n, const int32_t *nodes, const int32_t *points, const int32_t *root,
                                     const int32_t *target, const int64_t *number, int32_t *of, int32_t *of_point)
{
    const int64_t p = element();
    if (p >= n)
        return;
    const int32_t aggregate = (int32_t)number[target[root[p]]], point = points[p];
    of[nodes[point]] = aggregate;
    of_point[point] = aggregate;
}

/* The tentative prolongation of one vector: t = modes / norm on each aggregate, 0 elsewhere before.  n: aggregates.
 * sizes: dimension.  start, members: points of each, ascending.  norms [n]; means [n][dimension] of the coordinates */
extern "C" __global__ void tentative(long long n, const int64_t *sizes, const int64_t *start, const uint32_t *members,
                                     const int32_t *nodes, const double *modes, const double *x, double *t,
                                     double *norms, double *means)
{
    const int64_t a = element(), d = sizes[0];
    if (a >= n)
        return;
    const int64_t first = start[a], last = start[a + 1];
    double sum = 0;
    for (int64_t k = first; k < last; ++k) {
        const double mode = modes[nodes[members[k]]];
        sum = __dadd_rn(sum, __dmul_rn(mode, mode));
    }
    const double norm = sqrt(sum);
    for (int64_t k = first; k < last; ++k)
        t[nodes[members[k]]] = modes[nodes[members[k]]] / norm;
    norms[a] = norm;
    for (int64_t c = 0; c < d; ++c) {
        double mean = 0;
        for (int64_t k = first; k < last; ++k)
            mean = __dadd_rn(mean, x[nodes[members[k]] * d + c]);
        means[a * d + c] = mean / (double)(last - first);
    }
}

#define ROW_AGGREGATES 4 /* of a row of P */
#define ROW_NEIGHBOURS 64 /* aggregates next to a node */
#define OMEGA 1.5

/* A row of A_F T by aggregates, the row's own first. */
struct sparse_row {
    int n;
    int32_t aggregates[ROW_NEIGHBOURS];
    double sums[ROW_NEIGHBOURS];
};

/* Returns false for a row with too many entries. */
INLINE bool row_add(sparse_row *row, int32_t aggregate, double value)
{
    int k = 0;
    while (k < row->n && row->aggregates[k] != aggregate)
        ++k;
    if (k == ROW_NEIGHBOURS)
        return false;
    if (k == row->n) {
        row->aggregates[row->n++] = aggregate;
        row->sums[k] = 0;
    }
    row->sums[k] = __dadd_rn(row->sums[k], value);
    return true;
}

/* Row i of A_F T without the diagonal's part; other couplings are added to the diagonal. */
INLINE bool row_of_product(const couplings *c, int64_t i, const int32_t *of, const double *t, sparse_row *row,
                           double *diagonal)
{
    sell_entries entries = entries_of(&c->A, i);
    int32_t j;
    int64_t e;
    bool fits = row_add(row, of[i], 0);
    while (fits && next_entry(&entries, &j, &e)) {
        const double a = c->A.values[e];
        if (c->scale[j] == 0)
            continue;
        if (!smooths(c, i, j, a))
            *diagonal = __dadd_rn(*diagonal, a);
        else if (of[j] >= 0)
            fits = row_add(row, of[j], __dmul_rn(a, t[j]));
    }
    return fits;
}

/* A diagonal that lumping has reduced much, or to nothing, is limited: rows of A_F still add up to those of A. */
INLINE void row_smooth(double lambda, double scale, double t, double diagonal, sparse_row *row)
{
    const double full = 1 / (scale * scale);
    const double omega = -OMEGA / lambda / (diagonal > full / 4 ? diagonal : full / 4);
    for (int k = 0; k < row->n; ++k)
        row->sums[k] *= omega;
    row->sums[0] = __dadd_rn(row->sums[0], __dadd_rn(t, __dmul_rn(__dmul_rn(omega, diagonal), t)));
}

/* Remove the smallest entries; the row's own aggregate takes over what they contribute to the near-nullspace. */
INLINE void row_truncate(const double *norms, sparse_row *row)
{
    if (row->n <= ROW_AGGREGATES)
        return;
    double removed = 0;
    while (row->n > ROW_AGGREGATES) {
        int smallest = 1;
        double least = __dmul_rn(row->sums[1], row->sums[1]);
        for (int k = 2; k < row->n; ++k) {
            const double size = __dmul_rn(row->sums[k], row->sums[k]);
            if (size < least) {
                smallest = k;
                least = size;
            }
        }
        removed = __dadd_rn(removed, __dmul_rn(row->sums[smallest], norms[row->aggregates[smallest]]));
        --row->n;
        row->aggregates[smallest] = row->aggregates[row->n];
        row->sums[smallest] = row->sums[row->n];
    }
    row->sums[0] = __dadd_rn(row->sums[0], removed / norms[row->aggregates[0]]);
}

/* Entries by column; beyond them the first column again with weight 0. */
INLINE void row_write(sparse_row *row, int32_t *columns, double *weights)
{
    for (int k = 1; k < row->n; ++k) {
        const int32_t aggregate = row->aggregates[k];
        const double sum = row->sums[k];
        int at = k;
        for (; at > 0 && row->aggregates[at - 1] > aggregate; --at) {
            row->aggregates[at] = row->aggregates[at - 1];
            row->sums[at] = row->sums[at - 1];
        }
        row->aggregates[at] = aggregate;
        row->sums[at] = sum;
    }
    for (int k = 0; k < ROW_AGGREGATES; ++k) {
        columns[k] = row->aggregates[k < row->n ? k : 0];
        weights[k] = k < row->n ? row->sums[k] : 0;
    }
}

/* Rows of P = (I - 3/2 / lambda D_F^-1 A_F) T; those without entries refer to different columns, of which none gets
 * long lists.  sizes: columns.  limits: theta, lambda.  columns, weights [n][ROW_AGGREGATES]; overflow[0] becomes 1 for a
 * row with too many couplings */
extern "C" __global__ void prolongation(long long n, const int64_t *sizes, const double *limits, const uint16_t *slots,
                                        const int32_t *bases, const uint32_t *slice_start,
                                        const uint32_t *column_start, const uint32_t *words, const double *values,
                                        const double *scale, const int32_t *of, const double *t, const double *norms,
                                        int32_t *columns, double *weights, int32_t *overflow)
{
    const int64_t i = element();
    if (i >= n)
        return;
    const couplings c = {{slots, {bases, slice_start, column_start, words}, values}, scale, limits[0]};
    sparse_row row;
    double diagonal = 0;
    row.n = 0;
    if (of[i] < 0) {
        for (int k = 0; k < ROW_AGGREGATES; ++k) {
            columns[i * ROW_AGGREGATES + k] = (int32_t)(i * sizes[0] / n);
            weights[i * ROW_AGGREGATES + k] = 0;
        }
        return;
    }
    if (!row_of_product(&c, i, of, t, &row, &diagonal))
        overflow[0] = 1;
    row_smooth(limits[1], scale[i], t[i], diagonal, &row);
    row_truncate(norms, &row);
    row_write(&row, columns + i * ROW_AGGREGATES, weights + i * ROW_AGGREGATES);
}

extern "C" __global__ void narrow(long long n, const double *from, float *to)
{
    const int64_t i = element();
    if (i < n)
        to[i] = (float)from[i];
}
