/* The sparsity pattern of the matrix of a connectivity: row i has i itself and the targets of all its elements. */
#define ROW_MOST 256 /* entries of a row */

/* Insert a column into a row of n, ascending, unless it is there; gives the new n, above ROW_MOST for a row with
 * too many entries. */
INLINE int insert(int32_t *row, int n, int32_t column)
{
    int at = n;
    while (at > 0 && row[at - 1] > column)
        --at;
    if ((at > 0 && row[at - 1] == column) || n > ROW_MOST)
        return n;
    for (int k = n < ROW_MOST ? n : ROW_MOST - 1; k > at; --k)
        row[k] = row[k - 1];
    if (at < ROW_MOST)
        row[at] = column;
    return n + 1;
}

/* sizes: width, lanes of the indices; start, places: of the elements at each target, with one lane */
INLINE int row_make(int32_t i, const int64_t *sizes, const int32_t *indices, const int64_t *start,
                    const uint32_t *places, int32_t *row)
{
    const uint32_t width = (uint32_t)sizes[0], lanes = (uint32_t)sizes[1];
    int n = 1;
    row[0] = i;
    for (int64_t p = start[i]; p < start[i + 1] && n <= ROW_MOST; ++p) {
        const uint32_t cell = places[p] / width;
        const int32_t *own = indices + (int64_t)(cell / lanes) * width * lanes + cell % lanes;
        for (uint32_t k = 0; k < width; ++k)
            n = n > ROW_MOST ? n : insert(row, n, own[k * lanes]);
    }
    return n;
}

/* n: rows.  lengths [n]; longest[0] gets the greatest, or ROW_MOST + 1 */
extern "C" __global__ void row_lengths(long long n, const int64_t *sizes, const int32_t *indices,
                                       const int64_t *start, const uint32_t *places, uint32_t *lengths,
                                       int32_t *longest)
{
    const int64_t i = element();
    int32_t row[ROW_MOST];
    if (i >= n)
        return;
    const int length = row_make((int32_t)i, sizes, indices, start, places, row);
    lengths[i] = (uint32_t)length;
    if (length > longest[0]) /* rarely: reads are cheaper than atomic operations */
        atomicMax(longest, length);
}

extern "C" __global__ void row_columns(long long n, const int64_t *sizes, const int32_t *indices,
                                       const int64_t *start, const uint32_t *places,
                                       const int64_t *row_start, int32_t *columns)
{
    const int64_t i = element();
    int32_t row[ROW_MOST];
    if (i >= n)
        return;
    const int length = row_make((int32_t)i, sizes, indices, start, places, row);
    int32_t *out = columns + row_start[i];
    for (int k = 0; k < length; ++k)
        out[k] = row[k];
}
