/* The SELL layout of a pattern whose rows all have a diagonal entry (fem/sparse/sell.h). */
#define SELL_ROWS 512
#define SELL_SLICE 32
#define SELL_SLICES (SELL_ROWS / SELL_SLICE)
#define SELL_BASES 32
#define SELL_OFFSET 11

/* The segments of 2^SELL_OFFSET columns that the entries [first, last) refer to, in the order in which they appear,
 * after that of the block's first row; their number, or SELL_BASES + 1 if there are more. Each thread remembers its
 * first entry that no segment has; the first of all is the next segment. */
INLINE int find_bases(const int32_t *columns, int64_t first, int64_t last, int32_t own, int32_t *bases)
{
    __shared__ int64_t next[SETUP_THREADS];
    const int me = (int)threadIdx.x;
    int64_t at = first + me;
    int n = 1;
    if (me < SELL_BASES)
        bases[me] = me == 0 ? own >> SELL_OFFSET << SELL_OFFSET : 0;
    for (;;) {
        __syncthreads();
        for (bool known = true; at < last && known; at += known ? SETUP_THREADS : 0) {
            const int32_t base = columns[at] >> SELL_OFFSET << SELL_OFFSET;
            known = false;
            for (int i = 0; i < n && !known; ++i)
                known = bases[i] == base;
        }
        next[me] = at < last ? at : last;
        for (int by = SETUP_THREADS / 2; by > 0; by /= 2) {
            __syncthreads();
            if (me < by && next[me + by] < next[me])
                next[me] = next[me + by];
        }
        __syncthreads();
        const int64_t found = next[0];
        if (found == last || n == SELL_BASES)
            return found == last ? n : SELL_BASES + 1;
        if (me == 0)
            bases[n] = columns[found] >> SELL_OFFSET << SELL_OFFSET;
        ++n;
    }
}

/* A block of threads for each block of rows.  n: rows.  sizes of slices, per lane: value_counts, word_counts */
extern "C" __global__ void sell_blocks(long long n, const int64_t *row_start, const int32_t *columns,
                                       uint16_t *rows, uint16_t *slots, int32_t *bases,
                                       uint32_t *value_counts, uint32_t *word_counts)
{
    __shared__ uint32_t keys[SELL_ROWS];
    __shared__ int32_t found[SELL_BASES];
    const int64_t block = blockIdx.x, first = block * SELL_ROWS;
    const int64_t last = first + SELL_ROWS < n ? first + SELL_ROWS : n;
    const int me = (int)threadIdx.x;
    /* longest first, then by number; slots without a row have length 0 */
    for (int i = me; i < SELL_ROWS; i += SETUP_THREADS) {
        const int64_t row = first + i;
        const uint32_t length = row < n ? (uint32_t)(row_start[row + 1] - row_start[row] - 1) : 0;
        keys[i] = (0xffff - length) << 16 | (uint32_t)i;
    }
    block_sort(keys, SELL_ROWS, ~0u);
    const int n_bases = find_bases(columns, row_start[first], row_start[last], (int32_t)first, found);
    const bool coded = n_bases <= SELL_BASES;
    for (int i = me; i < SELL_ROWS; i += SETUP_THREADS) {
        const uint32_t row = keys[i] & 0xffff, length = 0xffff - (keys[i] >> 16);
        rows[first + i] = (uint16_t)row;
        slots[first + row] = (uint16_t)i;
        if (i % SELL_SLICE == 0) {
            value_counts[block * SELL_SLICES + i / SELL_SLICE] = length;
            word_counts[block * SELL_SLICES + i / SELL_SLICE] = coded ? (length + 1) / 2 : length;
        }
    }
    if (me < SELL_BASES)
        bases[block * SELL_BASES + me] = !coded && me == 0 ? -1 : found[me];
}

/* Sums over slices as starts in values, behind the diagonal, and in words.  n: slices + 1.  sizes: diagonal values */
extern "C" __global__ void sell_starts(long long n, const int64_t *sizes, const int64_t *value_sums,
                                       const int64_t *word_sums, uint32_t *start,
                                       uint32_t *column_start)
{
    const int64_t i = element();
    if (i >= n)
        return;
    start[i] = (uint32_t)(sizes[0] + value_sums[i] * SELL_SLICE);
    column_start[i] = (uint32_t)(word_sums[i] * SELL_SLICE);
}

INLINE uint32_t code_of(const int32_t *bases, int32_t column)
{
    const int32_t base = column >> SELL_OFFSET << SELL_OFFSET;
    uint32_t i = 0;
    while (bases[i] != base)
        ++i;
    return i << SELL_OFFSET | (uint32_t)(column - base);
}

/* n: slots.  sizes: rows.  Rows are padded with themselves, slots without a row with the block's first. */
extern "C" __global__ void sell_columns(long long n, const int64_t *sizes, const int64_t *row_start,
                                        const int32_t *columns, const uint16_t *rows,
                                        const int32_t *all_bases, const uint32_t *start,
                                        const uint32_t *column_start, uint32_t *words)
{
    const int64_t place = element();
    if (place >= n)
        return;
    const int64_t slice = place / SELL_SLICE, block = place / SELL_ROWS;
    const int32_t *bases = all_bases + block * SELL_BASES;
    const int length = (int)((start[slice + 1] - start[slice]) / SELL_SLICE);
    uint32_t *out = words + column_start[slice] + place % SELL_SLICE;
    int64_t row = block * SELL_ROWS + rows[place], at = 0, end = 0;
    if (row < sizes[0]) {
        at = row_start[row];
        end = row_start[row + 1];
    } else {
        row = block * SELL_ROWS;
    }
    uint32_t pair = 0;
    for (int k = 0; k < length; ++k) {
        at += at < end && columns[at] == row;
        const int32_t column = at < end ? columns[at++] : (int32_t)row;
        if (bases[0] < 0) {
            out[(int64_t)k * SELL_SLICE] = (uint32_t)column;
            continue;
        }
        pair |= code_of(bases, column) << (k % 2 * 16);
        if (k % 2 == 1 || k + 1 == length) {
            out[(int64_t)(k / 2) * SELL_SLICE] = pair;
            pair = 0;
        }
    }
}

/* Entries of each row, with the diagonal; padding has the row's own column.  n: rows */
extern "C" __global__ void sell_lengths(long long n, const uint16_t *slots, const int32_t *bases,
                                        const uint32_t *start, const uint32_t *column_start,
                                        const uint32_t *words, uint32_t *lengths)
{
    const int64_t row = element();
    if (row >= n)
        return;
    const sell_layout layout = {bases, start, column_start, words};
    const sell_row own = sell_row_of(layout, row / SELL_ROWS * SELL_ROWS + slots[row]);
    int length = own.length;
    while (length > 0 && sell_column(own, length - 1) == row)
        --length;
    lengths[row] = (uint32_t)length + 1;
}

/* The columns of the pattern from those of the layout.  n: rows */
extern "C" __global__ void sell_pattern(long long n, const int64_t *row_start, const uint16_t *slots,
                                        const int32_t *bases, const uint32_t *start,
                                        const uint32_t *column_start, const uint32_t *words,
                                        int32_t *columns)
{
    const int64_t row = element();
    if (row >= n)
        return;
    const sell_layout layout = {bases, start, column_start, words};
    const sell_row own = sell_row_of(layout, row / SELL_ROWS * SELL_ROWS + slots[row]);
    const int length = (int)(row_start[row + 1] - row_start[row]) - 1;
    int32_t *out = columns + row_start[row];
    bool below = true;
    for (int k = 0; k < length; ++k) {
        const int32_t column = sell_column(own, k);
        if (below && column > row) {
            *out++ = (int32_t)row;
            below = false;
        }
        *out++ = column;
    }
    if (below)
        *out = (int32_t)row;
}
