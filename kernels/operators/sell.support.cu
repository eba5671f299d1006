/* The product as a kernel of its own: y = A v, with nothing fused to it. */
extern "C" __global__ void __launch_bounds__(ROWS_BOUNDS) sell_product(
    int64_t n_rows, const double *__restrict__ values, const uint32_t *__restrict__ start,
    const uint32_t *__restrict__ columns, const uint32_t *__restrict__ column_start,
    const int32_t *__restrict__ bases, const uint16_t *__restrict__ rows,
    const double *__restrict__ v, double *__restrict__ y_out)
{
    extern __shared__ __align__(16) unsigned char shared[];
    const int64_t first_row = blockIdx.x * (int64_t)ROWS_NODES;
    real own[ROWS_PER_THREAD], y[ROWS_PER_THREAD];
//@ body
    UNROLL for (int k = 0; k < ROWS_PER_THREAD; ++k) {
        const int64_t row = first_row + k * ROWS_THREADS + threadIdx.x;
        if (row < n_rows)
            y_out[row] = y[k];
    }
}

/* Beside the product of sell.product.cu: where local matrices are added, and rows given back in
 * order of columns. A block has ROWS_NODES rows, a slice LANES. */

/* What row `row` leads to, entry by entry. */
struct sell_row {
    int64_t begin; /* of its first entry in values; the next ones are LANES further each */
    int n;         /* entries that it can hold */
    const uint32_t *words;
    const int32_t *bases;
};

INLINE sell_row sell_row_of(int64_t row, const uint32_t *start, const uint32_t *columns,
                            const uint32_t *column_start, const int32_t *bases,
                            const uint16_t *slots)
{
    const int64_t block = row / ROWS_NODES;
    const int slot = slots[row], lane = slot % LANES;
    const int64_t slice = block * (ROWS_NODES / LANES) + slot / LANES;
    const sell_row r = {(int64_t)start[slice] + lane,
                        (int)((start[slice + 1] - start[slice]) / LANES),
                        columns + column_start[slice] + lane, bases + block * LANES};
    return r;
}

INLINE int32_t sell_column(const sell_row &r, int k)
{
    if (r.bases[0] < 0)
        return (int32_t)r.words[(int64_t)k * LANES];
    const uint32_t code = r.words[(int64_t)(k / 2) * LANES] >> (k % 2 * 16) & 0xffff;
    return r.bases[code >> 11] + (int32_t)(code & 2047);
}

/* Where entry (i, j) of each cell's local matrix is added: [block][i * width + j][lane]. */
extern "C" __global__ void sell_positions(int64_t n_cells, const int32_t *width_of,
                                          const int32_t *dofs, const uint32_t *start,
                                          const uint32_t *columns, const uint32_t *column_start,
                                          const int32_t *bases, const uint16_t *slots,
                                          uint32_t *positions, int32_t *missing)
{
    const int64_t cell = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (cell >= n_cells)
        return;
    const int width = width_of[0];
    const int32_t *nodes = dofs + cell * width;
    uint32_t *out = positions + cell / LANES * ((int64_t)width * width * LANES) + cell % LANES;
    for (int i = 0; i < width; ++i) {
        const sell_row r = sell_row_of(nodes[i], start, columns, column_start, bases, slots);
        for (int j = 0; j < width; ++j) {
            int k = 0;
            while (nodes[j] != nodes[i] && k < r.n && sell_column(r, k) != nodes[j])
                ++k;
            if (nodes[j] != nodes[i] && k == r.n)
                missing[0] = 1;
            else
                out[(i * width + j) * LANES] =
                    (uint32_t)(nodes[j] == nodes[i] ? nodes[i] : r.begin + (int64_t)k * LANES);
        }
    }
}

/* Values in the pattern's order; a row of the pattern may lack its diagonal entry. */
extern "C" __global__ void sell_export(int64_t n_rows, const double *values, const uint32_t *start,
                                       const uint32_t *columns, const uint32_t *column_start,
                                       const int32_t *bases, const uint16_t *slots,
                                       const int64_t *row_start, double *out)
{
    const int64_t row = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (row >= n_rows)
        return;
    const sell_row r = sell_row_of(row, start, columns, column_start, bases, slots);
    const int64_t end = row_start[row + 1];
    int64_t at = row_start[row];
    int n = 0;
    while (n < r.n && sell_column(r, n) != row)
        ++n;
    bool diagonal = n < end - at;
    for (int k = 0; k < n; ++k) {
        if (diagonal && sell_column(r, k) > row) {
            out[at++] = values[row];
            diagonal = false;
        }
        out[at++] = values[r.begin + (int64_t)k * LANES];
    }
    if (diagonal)
        out[at] = values[row];
}

extern "C" __global__ void sell_diagonal(int64_t n_rows, const double *values, double *out)
{
    const int64_t row = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (row < n_rows)
        out[row] = values[row];
}
