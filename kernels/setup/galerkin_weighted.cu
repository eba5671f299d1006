/* The Galerkin matrix P^T A P of a prolongation with four weighted entries per row. A warp makes each row: contributions
 * p_ki a_kl p_lj, of all k with an entry in column i of P, come to 32 lanes at a time. Their columns are collected in a
 * hash table; then each lane adds those of its two columns, all in the same order, so that sums are the same in every
 * run. */
#define WARPS (SETUP_THREADS / 32)
#define WIDTH 4 /* of P */
#define SINGULAR 1e-13 /* a smaller part of a diagonal is rounding error */
#define NONE (-1)

/* P by rows, [fine][WIDTH], and by columns: places of its entries in blocks of 32 rows (fusion/connectivity) */
struct transfer {
    const int64_t *start;
    const uint32_t *places;
    const int32_t *columns;
    const double *weights;
};

/* An entry of a column of P, with its row of the fine matrix. */
struct term {
    int64_t fine, first; /* the row; its first value off the diagonal */
    double weight;
    sell_row own;
    int n; /* contributions */
};

/* The entry at a place; weight 0: there is none. */
INLINE term term_at(const transfer *P, const sell_matrix *A, uint32_t place)
{
    const int64_t fine = (int64_t)(place / (32 * WIDTH)) * 32 + place % 32;
    const int64_t slot = fine / 512 * 512 + A->slots[fine];
    const sell_row own = sell_row_of(A->layout, slot);
    const term t = {fine, A->layout.start[slot / 32] + slot % 32, P->weights[fine * WIDTH + place / 32 % WIDTH], own,
                    WIDTH * (own.length + 1)};
    return t;
}

/* The column of contribution `at` of a term; NONE: there is none, where a row of A or of P is shorter. The factor is a_kl
 * p_lj, or p_lj without values. */
template <bool has_values>
INLINE int32_t contribution(const transfer *P, const sell_matrix *A, const term *t, int at, double *factor)
{
    if (at >= t->n)
        return NONE;
    const int e = at / WIDTH - 1;
    const int32_t l = e < 0 ? (int32_t)t->fine : sell_column(t->own, e);
    if (e >= 0 && l == t->fine)
        return NONE;
    const double weight = P->weights[(int64_t)l * WIDTH + at % WIDTH];
    *factor = has_values ? A->values[e < 0 ? t->fine : t->first + (int64_t)e * 32] * weight : weight;
    return weight == 0 ? NONE : P->columns[(int64_t)l * WIDTH + at % WIDTH];
}

/* Collect the columns of a row in the warp's table. Returns how many there are, more than SET_MOST for a row with too many
 * entries. */
INLINE int32_t collect(const transfer *P, const sell_matrix *A, int64_t row, int32_t *table, int32_t *count)
{
    const int lane = (int)threadIdx.x % 32;
    set_clear(table, count);
    if (lane == 0)
        set_insert(table, count, (int32_t)row);
    for (int64_t p = P->start[row]; p < P->start[row + 1]; ++p) {
        const term t = term_at(P, A, P->places[p]);
        for (int base = 0; base < t.n && t.weight != 0; base += 32) {
            double factor;
            const int32_t column = contribution<false>(P, A, &t, base + lane, &factor);
            if (column != NONE)
                set_insert(table, count, column);
            const int32_t found = set_size(count);
            if (found > SET_MOST)
                return found;
        }
    }
    return set_size(count);
}

/* n: 32 times the rows.  longest[0] gets the greatest length, or more than SET_MOST */
extern "C" __global__ void weighted_lengths(long long n, const int64_t *start, const uint32_t *places,
                                           const int32_t *columns, const double *weights, const uint16_t *slots,
                                           const int32_t *bases, const uint32_t *slice_start,
                                           const uint32_t *column_start, const uint32_t *words, uint32_t *lengths,
                                           int32_t *longest)
{
    __shared__ int32_t tables[WARPS][SET_SLOTS], counts[WARPS];
    const int warp = (int)threadIdx.x / 32;
    const int64_t row = element() / 32;
    if (row >= n / 32)
        return;
    const transfer P = {start, places, columns, weights};
    const sell_matrix A = {slots, {bases, slice_start, column_start, words}, (const double *)0};
    const int32_t length = collect(&P, &A, row, tables[warp], &counts[warp]);
    set_report(length, &lengths[row], longest);
}

/* 32 contributions, which lanes read several at a time. */
struct __align__(16) four_columns {
    int32_t v[4];
};
struct __align__(16) two_values {
    double v[2];
};
struct contributions {
    four_columns columns[8];
    two_values values[16];
};

/* Add those of the lane's two columns. */
INLINE void add_own(const contributions *held, const int32_t mine[2], double sums[2])
{
    UNROLL for (int q = 0; q < 8; ++q) {
        const four_columns columns = held->columns[q];
        const two_values values[2] = {held->values[2 * q], held->values[2 * q + 1]};
        UNROLL for (int s = 0; s < 4; ++s) {
            const double value = values[s / 2].v[s % 2];
            if (columns.v[s] == mine[0])
                sums[0] = __dadd_rn(sums[0], value);
            if (columns.v[s] == mine[1])
                sums[1] = __dadd_rn(sums[1], value);
        }
    }
}

/* The sums of the lane's two columns, and size = sum_k p_ki^2 a_kk.  held: shared */
INLINE void add_contributions(const transfer *P, const sell_matrix *A, const double *scale, int64_t row,
                              const int32_t mine[2], double sums[2], double *size, contributions *held)
{
    const int lane = (int)threadIdx.x % 32;
    for (int64_t p = P->start[row]; p < P->start[row + 1]; ++p) {
        const term t = term_at(P, A, P->places[p]);
        if (t.weight == 0)
            continue;
        const double part = t.weight / scale[t.fine];
        *size += part * part;
        for (int base = 0; base < t.n; base += 32) {
            double factor = 0;
            held->columns[lane / 4].v[lane % 4] = contribution<true>(P, A, &t, base + lane, &factor);
            held->values[lane / 2].v[lane % 2] = __dmul_rn(t.weight, factor);
            __syncwarp();
            add_own(held, mine, sums);
            __syncwarp();
        }
    }
}

/* n: 32 times the rows. A part of the mesh that nothing fixes ends as a row that is rounding error: its diagonal becomes
 * sum_k p_ki^2 a_kk. */
extern "C" __global__ void weighted_rows(long long n, const int64_t *start, const uint32_t *places,
                                        const int32_t *columns, const double *weights, const uint16_t *slots,
                                        const int32_t *bases, const uint32_t *slice_start,
                                        const uint32_t *column_start, const uint32_t *words, const double *values,
                                        const double *scale, const int64_t *out_start, int32_t *out_columns,
                                        double *out_values)
{
    __shared__ int32_t tables[WARPS][SET_SLOTS], lists[WARPS][SET_MOST], counts[WARPS];
    __shared__ contributions held[WARPS];
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    const int64_t row = element() / 32;
    if (row >= n / 32)
        return;
    const transfer P = {start, places, columns, weights};
    const sell_matrix A = {slots, {bases, slice_start, column_start, words}, values};
    const int length = collect(&P, &A, row, tables[warp], &counts[warp]);
    set_sort(tables[warp], lists[warp]);
    for (int base = lane; base - lane < length; base += 64) {
        int32_t mine[2];
        double sums[2] = {0, 0}, size = 0;
        for (int k = 0; k < 2; ++k)
            mine[k] = base + 32 * k < length ? tables[warp][base + 32 * k] : NONE - 1;
        add_contributions(&P, &A, scale, row, mine, sums, &size, &held[warp]);
        for (int k = 0; k < 2; ++k)
            if (mine[k] >= 0) {
                const bool is_singular = mine[k] == row && sums[k] <= SINGULAR * size;
                out_columns[out_start[row] + base + 32 * k] = mine[k];
                out_values[out_start[row] + base + 32 * k] = is_singular ? size : sums[k];
            }
    }
}
