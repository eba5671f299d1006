/* The cells of each row of a SELL matrix, for owner-computes assembly (fem/sparse/addto.h). */
#define SELL_ROWS 512
#define SELL_SLICE 32
#define SELL_SLICES (SELL_ROWS / SELL_SLICE)
#define LOCAL_BITS 13
#define SLOT_BITS 8
#define NO_CELL ((uint64_t)1 << 63)

/* As weft_addto_fault. */
#define FAULT_SLOT 3
#define FAULT_TWICE 4
#define FAULT_MISSING 5

/* Kernels for rows of some blocks read range: the first row, its slice, and the number of rows of the matrix. */

/* A block of threads for each block of rows.  n: rows, whose cells start at `first`.  counts [slices]: the most cells
 * of a row of the slice */
extern "C" __global__ void addto_counts(long long n, const int64_t *range, const int64_t *first,
                                        const uint16_t *rows, uint32_t *counts)
{
    const int64_t block = blockIdx.x;
    for (int slice = (int)threadIdx.x; slice < SELL_SLICES; slice += SETUP_THREADS) {
        int64_t most = 0;
        for (int lane = 0; lane < SELL_SLICE; ++lane) {
            const int64_t slot = block * SELL_ROWS + slice * SELL_SLICE + lane;
            const int64_t row = block * SELL_ROWS + rows[range[0] + slot];
            const int64_t length = row < n ? first[row + 1] - first[row] : 0;
            most = length > most ? length : most;
        }
        counts[block * SELL_SLICES + slice] = (uint32_t)most;
    }
}

/* Starts of slices in words.  n: slices + 1 */
extern "C" __global__ void word_starts(long long n, const int64_t *range, const int64_t *sums,
                                       uint32_t *start)
{
    const int64_t i = element();
    if (i < n)
        start[range[1] + i] = (uint32_t)(sums[i] * SELL_SLICE);
}

/* One block: the most local numbers and the most values of a block of rows.  n: blocks */
extern "C" __global__ void addto_most(long long n, const int64_t *halo_start, const uint32_t *start,
                                      int64_t *most)
{
    __shared__ int64_t locals[SETUP_THREADS], values[SETUP_THREADS];
    const int me = (int)threadIdx.x;
    locals[me] = values[me] = 0;
    for (int64_t b = me; b < n; b += SETUP_THREADS) {
        const int64_t halo = halo_start[b + 1] - halo_start[b];
        const int64_t own = (int64_t)start[(b + 1) * SELL_SLICES] - start[b * SELL_SLICES];
        locals[me] = halo > locals[me] ? halo : locals[me];
        values[me] = own > values[me] ? own : values[me];
    }
    for (int by = SETUP_THREADS / 2; by > 0; by /= 2) {
        __syncthreads();
        if (me < by) {
            locals[me] = locals[me + by] > locals[me] ? locals[me + by] : locals[me];
            values[me] = values[me + by] > values[me] ? values[me + by] : values[me];
        }
    }
    if (me == 0) {
        most[0] = SELL_ROWS + locals[0];
        most[1] = values[0];
    }
}

/* Vertex v of a cell after an even permutation that makes vertex `own` the first (for two vertices, a swap). */
INLINE int rotated_vertex(int width, int own, int v)
{
    const int others_4[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
    return width == 2 ? 1 - own : width == 3 ? (own + v) % 3 : others_4[own][v - 1];
}

/* n: slots.  sizes: rows, width, lanes of the indices; first, places: of the cells of each row, with one lane; bases,
 * start, column_start, columns: of the SELL layout; cells may be the same memory as fault if they are not wanted:
 * sizes[3] is 0 */
extern "C" __global__ void addto_words(long long n, const int64_t *sizes, const int64_t *range,
                                       const int32_t *indices, const int64_t *first,
                                       const uint32_t *places, const uint16_t *rows,
                                       const int32_t *bases,
                                       const uint32_t *start, const uint32_t *column_start,
                                       const uint32_t *columns, const int64_t *halo_start,
                                       const int32_t *halo, const uint32_t *word_start,
                                       uint64_t *words, int32_t *cells, int32_t *fault)
{
    const int64_t place_in_range = element(), slot = range[0] + place_in_range;
    if (place_in_range >= n)
        return;
    const int64_t slice = slot / SELL_SLICE, block = slot / SELL_ROWS;
    const int64_t row = block * SELL_ROWS + rows[slot], own_row = row - range[0];
    const int width = (int)sizes[1], lanes = (int)sizes[2];
    const int64_t begin = own_row < sizes[0] ? first[own_row] : 0;
    const int64_t have = own_row < sizes[0] ? first[own_row + 1] - begin : 0;
    const sell_layout layout = {bases, start, column_start, columns};
    const sell_row entries = sell_row_of(layout, slot);
    const int64_t begin_row = block * SELL_ROWS;
    const int64_t end_row = begin_row + SELL_ROWS < range[2] ? begin_row + SELL_ROWS : range[2];
    const int32_t *own_halo = halo + halo_start[block];
    const int n_halo = (int)(halo_start[block + 1] - halo_start[block]);
    const int64_t length = (word_start[slice + 1] - word_start[slice]) / SELL_SLICE;
    for (int64_t i = 0; i < length; ++i) {
        const int64_t at = word_start[slice] + slot % SELL_SLICE + i * SELL_SLICE;
        const uint32_t place = i < have ? places[begin + i] : 0, cell = place / (uint32_t)width;
        const int own = (int)(place % (uint32_t)width);
        const int32_t *nodes = indices + (int64_t)(cell / (uint32_t)lanes) * width * lanes +
                               cell % (uint32_t)lanes;
        uint64_t word = i < have ? 0 : NO_CELL;
        for (int v = 1; v < width && i < have; ++v) {
            const int32_t other = nodes[rotated_vertex(width, own, v) * lanes];
            int k = 0;
            while (k < entries.length && sell_column(entries, k) != other)
                ++k;
            if (other == row || k == entries.length || k >= 1 << SLOT_BITS) {
                fault[0] = other == row ? FAULT_TWICE : k == entries.length ? FAULT_MISSING : FAULT_SLOT;
                word = NO_CELL;
                break;
            }
            const uint32_t local = local_number(other, begin_row, end_row, own_halo, n_halo);
            word |= ((uint64_t)local | (uint64_t)k << LOCAL_BITS) << (v - 1) * (LOCAL_BITS + SLOT_BITS);
        }
        words[at] = word;
        if (sizes[3])
            cells[at] = (int32_t)cell;
    }
}
