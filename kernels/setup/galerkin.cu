/* The Galerkin matrix P^T A P of uniformly refined meshes: a value is the mean of those at the two parents of its dof,
 * so that entry (i, j) of A adds a quarter of itself for each pair of a parent of i and a parent of j. Each row is
 * summed by one thread, in the order of its fine dofs and of their entries. */
#define ROW_MOST 256 /* entries of a row */
#define PARENT_LANES 32

INLINE int32_t parent(const int32_t *parents, int32_t i, int k)
{
    return parents[(int64_t)(i / PARENT_LANES * 2 + k) * PARENT_LANES + i % PARENT_LANES];
}

/* Add to an entry of a row of n columns, ascending; gives the new n, above ROW_MOST for a row with too many entries. */
template <bool has_values> INLINE int add_entry(int32_t *row, double *sums, int n, int32_t column, double value)
{
    int at = n < ROW_MOST ? n : ROW_MOST;
    while (at > 0 && row[at - 1] > column)
        --at;
    if (at > 0 && row[at - 1] == column) {
        if (has_values)
            sums[at - 1] += value;
        return n;
    }
    if (n >= ROW_MOST)
        return ROW_MOST + 1;
    for (int k = n; k > at; --k) {
        row[k] = row[k - 1];
        if (has_values)
            sums[k] = sums[k - 1];
    }
    row[at] = column;
    if (has_values)
        sums[at] = value;
    return n + 1;
}

/* The entries of a row of the fine matrix in CSR format, by column, as those of sell_entries. */
struct csr_matrix {
    const int64_t *row_start;
    const int32_t *columns;
    const double *values;
};
struct csr_entries {
    const csr_matrix *m;
    int64_t at, end;
};
INLINE csr_entries entries_of(const csr_matrix *m, int64_t row)
{
    const csr_entries e = {m, m->row_start[row], m->row_start[row + 1]};
    return e;
}
INLINE bool next_entry(csr_entries *e, int32_t *column, int64_t *place)
{
    if (e->at == e->end)
        return false;
    *column = e->m->columns[e->at];
    *place = e->at++;
    return true;
}

/* Row i of the coarse matrix. start, places: of the parents at each coarse dof, 2 * fine dof + which. Rows and columns
 * of constrained dofs have no entries but the diagonal. */
template <bool has_values, class M>
INLINE int coarse_row(int32_t i, const int64_t *start, const uint32_t *places, const int32_t *parents,
                      const unsigned char *fine_fixed, const unsigned char *coarse_fixed, const M *fine_matrix,
                      int32_t *row, double *sums)
{
    int n = 1;
    row[0] = i;
    if (has_values)
        sums[0] = 0;
    for (int64_t p = start[i]; p < start[i + 1] && !coarse_fixed[i]; ++p) {
        const int32_t fine = (int32_t)(places[p] / 2);
        if (fine_fixed[fine])
            continue;
        auto entries = entries_of(fine_matrix, fine);
        int32_t j;
        int64_t e;
        while (n <= ROW_MOST && next_entry(&entries, &j, &e)) {
            for (int k = 0; k < 2 && !fine_fixed[j]; ++k) {
                const int32_t column = parent(parents, j, k);
                if (!coarse_fixed[column])
                    n = add_entry<has_values>(row, sums, n, column, has_values ? 0.25 * fine_matrix->values[e] : 0);
            }
        }
    }
    return n;
}

template <class M>
INLINE void row_length(int64_t n, const int64_t *start, const uint32_t *places, const int32_t *parents,
                       const unsigned char *fine_fixed, const unsigned char *coarse_fixed, const M *fine,
                       uint32_t *lengths, int32_t *longest)
{
    const int64_t i = element();
    int32_t row[ROW_MOST];
    if (i >= n)
        return;
    const int length = coarse_row<false>((int32_t)i, start, places, parents, fine_fixed, coarse_fixed, fine, row,
                                         (double *)0);
    lengths[i] = (uint32_t)length;
    if (length > longest[0])
        atomicMax(longest, length);
}

template <class M>
INLINE void row_sums(int64_t n, const int64_t *start, const uint32_t *places, const int32_t *parents,
                     const unsigned char *fine_fixed, const unsigned char *coarse_fixed, const M *fine,
                     const int64_t *out_start, int32_t *out_columns, double *out_values)
{
    const int64_t i = element();
    int32_t row[ROW_MOST];
    double sums[ROW_MOST];
    if (i >= n)
        return;
    const int length =
        coarse_row<true>((int32_t)i, start, places, parents, fine_fixed, coarse_fixed, fine, row, sums);
    for (int k = 0; k < length; ++k) {
        out_columns[out_start[i] + k] = row[k];
        out_values[out_start[i] + k] = sums[k];
    }
}

/* n: coarse rows.  longest[0] gets the greatest length, or ROW_MOST + 1 */
extern "C" __global__ void galerkin_lengths(long long n, const int64_t *start, const uint32_t *places,
                                            const int32_t *parents, const unsigned char *fine_fixed,
                                            const unsigned char *coarse_fixed, uint32_t *lengths,
                                            int32_t *longest, const int64_t *row_start,
                                            const int32_t *columns)
{
    const csr_matrix fine = {row_start, columns, (const double *)0};
    row_length(n, start, places, parents, fine_fixed, coarse_fixed, &fine, lengths, longest);
}

extern "C" __global__ void galerkin_rows(long long n, const int64_t *start, const uint32_t *places,
                                         const int32_t *parents, const unsigned char *fine_fixed,
                                         const unsigned char *coarse_fixed, const int64_t *out_start,
                                         int32_t *out_columns, double *out_values, const int64_t *row_start,
                                         const int32_t *columns, const double *values)
{
    const csr_matrix fine = {row_start, columns, values};
    row_sums(n, start, places, parents, fine_fixed, coarse_fixed, &fine, out_start, out_columns, out_values);
}

/* The same for a fine matrix in SELL format, in which every row has a diagonal entry. */
extern "C" __global__ void galerkin_sell_lengths(long long n, const int64_t *start, const uint32_t *places,
                                                 const int32_t *parents, const unsigned char *fine_fixed,
                                                 const unsigned char *coarse_fixed, uint32_t *lengths,
                                                 int32_t *longest, const uint16_t *slots,
                                                 const int32_t *bases, const uint32_t *slice_start,
                                                 const uint32_t *column_start, const uint32_t *words)
{
    const sell_matrix fine = {slots, {bases, slice_start, column_start, words}, (const double *)0};
    row_length(n, start, places, parents, fine_fixed, coarse_fixed, &fine, lengths, longest);
}

extern "C" __global__ void galerkin_sell_rows(long long n, const int64_t *start, const uint32_t *places,
                                              const int32_t *parents, const unsigned char *fine_fixed,
                                              const unsigned char *coarse_fixed, const int64_t *out_start,
                                              int32_t *out_columns, double *out_values,
                                              const uint16_t *slots, const int32_t *bases,
                                              const uint32_t *slice_start, const uint32_t *column_start,
                                              const uint32_t *words, const double *values)
{
    const sell_matrix fine = {slots, {bases, slice_start, column_start, words}, values};
    row_sums(n, start, places, parents, fine_fixed, coarse_fixed, &fine, out_start, out_columns, out_values);
}

/* A coarse dof is constrained where the fine one in its place is.  n: fine dofs */
extern "C" __global__ void coarse_flags(long long n, const int32_t *parents, const unsigned char *fine_fixed,
                                        unsigned char *coarse_fixed)
{
    const int64_t i = element();
    if (i >= n || !fine_fixed[i])
        return;
    const int32_t first = parent(parents, (int32_t)i, 0);
    if (first == parent(parents, (int32_t)i, 1))
        coarse_fixed[first] = 1;
}

/* found[0] becomes 1 if a constrained dof has a parent that is free.  n: fine dofs */
extern "C" __global__ void masked(long long n, const int32_t *parents, const unsigned char *fine_fixed,
                                  const unsigned char *coarse_fixed, int32_t *found)
{
    const int64_t i = element();
    if (i < n && fine_fixed[i] &&
        !(coarse_fixed[parent(parents, (int32_t)i, 0)] && coarse_fixed[parent(parents, (int32_t)i, 1)]))
        found[0] = 1;
}
