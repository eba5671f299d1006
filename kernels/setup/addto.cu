/* The cells of each row of a SELL matrix, for owner-computes assembly (fem/sparse/addto.h). */
#define SELL_ROWS 512
#define SELL_SLICE 32
#define SELL_SLICES (SELL_ROWS / SELL_SLICE)
#define LOCAL_BITS 13
#define SLOT_BITS 8
#define HALO_MOST ((1 << LOCAL_BITS) - SELL_ROWS)
#define HALO_ROOM (1 << LOCAL_BITS) /* a power of two, for sorting */
#define HALO_SLOTS (2 * HALO_ROOM)  /* of the hash table */
#define NO_CELL ((uint64_t)1 << 63)
#define NO_COLUMN 0x7fffffff

/* As weft_addto_fault. */
#define FAULT_LOCAL 2
#define FAULT_SLOT 3
#define FAULT_TWICE 4
#define FAULT_MISSING 5

/* A block of threads for each block of rows.  n: rows.  counts [slices]: the most cells of a row of the slice */
extern "C" __global__ void addto_counts(long long n, const int64_t *first, const uint16_t *rows,
                                        uint32_t *counts)
{
    const int64_t block = blockIdx.x;
    for (int slice = (int)threadIdx.x; slice < SELL_SLICES; slice += SETUP_THREADS) {
        int64_t most = 0;
        for (int lane = 0; lane < SELL_SLICE; ++lane) {
            const int64_t row =
                block * SELL_ROWS + rows[block * SELL_ROWS + slice * SELL_SLICE + lane];
            const int64_t length = row < n ? first[row + 1] - first[row] : 0;
            most = length > most ? length : most;
        }
        counts[block * SELL_SLICES + slice] = (uint32_t)most;
    }
}

/* Insert a column into the hash table, linear probing; count the columns that are new. */
INLINE void hash_insert(int32_t *table, int32_t *n_found, int32_t column)
{
    uint32_t at = ((uint32_t)column * 2654435761u) >> 8 & (HALO_SLOTS - 1);
    for (;;) {
        const int32_t before = atomicCAS(&table[at], NO_COLUMN, column);
        if (before == NO_COLUMN)
            atomicAdd(n_found, 1);
        if (before == NO_COLUMN || before == column)
            return;
        at = (at + 1) & (HALO_SLOTS - 1);
    }
}

/* The rows outside of a block that it couples with, into a hash table; their number. */
INLINE int find_halo(const int64_t *row_start, const int32_t *columns, int64_t first, int64_t last,
                     int32_t *table, int32_t *n_found)
{
    for (int i = (int)threadIdx.x; i < HALO_SLOTS; i += SETUP_THREADS)
        table[i] = NO_COLUMN;
    if (threadIdx.x == 0)
        n_found[0] = 0;
    __syncthreads();
    const int64_t end = row_start[last];
    for (int64_t k = row_start[first] + threadIdx.x; k < end; k += SETUP_THREADS) {
        /* beyond the most, further ones do not matter, and the table has room for one of each thread */
        if ((columns[k] < first || columns[k] >= last) && *(volatile int32_t *)n_found <= HALO_MOST)
            hash_insert(table, n_found, columns[k]);
    }
    __syncthreads();
    return n_found[0];
}

/* n: rows.  cells: first place of each row; blocks without cells have no halo.  counts [blocks] */
extern "C" __global__ void halo_counts(long long n, const int64_t *cells, const int64_t *row_start,
                                       const int32_t *columns, uint32_t *counts, int32_t *fault)
{
    extern __shared__ __align__(16) unsigned char shared[];
    __shared__ int32_t n_found;
    const int64_t first = blockIdx.x * (int64_t)SELL_ROWS;
    const int64_t last = first + SELL_ROWS < n ? first + SELL_ROWS : n;
    if (cells[first] == cells[last]) {
        if (threadIdx.x == 0)
            counts[blockIdx.x] = 0;
        return;
    }
    const int found = find_halo(row_start, columns, first, last, (int32_t *)shared, &n_found);
    if (threadIdx.x == 0) {
        counts[blockIdx.x] = (uint32_t)found;
        if (found > HALO_MOST)
            fault[0] = FAULT_LOCAL;
    }
}

/* The halos, ascending.  halo_start [blocks + 1] */
extern "C" __global__ void halo_columns(long long n, const int64_t *row_start, const int32_t *columns,
                                        const int64_t *halo_start, int32_t *halo)
{
    extern __shared__ __align__(16) unsigned char shared[];
    __shared__ int32_t n_found, n_listed;
    int32_t *table = (int32_t *)shared, *list = table + HALO_SLOTS;
    const int64_t first = blockIdx.x * (int64_t)SELL_ROWS, start = halo_start[blockIdx.x];
    const int64_t last = first + SELL_ROWS < n ? first + SELL_ROWS : n;
    if (halo_start[blockIdx.x + 1] == start)
        return;
    const int found = find_halo(row_start, columns, first, last, table, &n_found);
    if (threadIdx.x == 0)
        n_listed = 0;
    __syncthreads();
    for (int i = (int)threadIdx.x; i < HALO_SLOTS; i += SETUP_THREADS)
        if (table[i] != NO_COLUMN)
            list[atomicAdd(&n_listed, 1)] = table[i];
    __syncthreads();
    block_sort(list, found, NO_COLUMN);
    for (int i = (int)threadIdx.x; i < found; i += SETUP_THREADS)
        halo[start + i] = list[i];
}

/* The local number of each entry.  n: rows; a block of threads for each block of rows */
extern "C" __global__ void entry_locals(long long n, const int64_t *row_start, const int32_t *columns,
                                        const int64_t *halo_start, const int32_t *all_halo,
                                        uint16_t *locals)
{
    const int64_t first = blockIdx.x * (int64_t)SELL_ROWS;
    const int64_t last = first + SELL_ROWS < n ? first + SELL_ROWS : n, end = row_start[last];
    const int32_t *halo = all_halo + halo_start[blockIdx.x];
    const int length = (int)(halo_start[blockIdx.x + 1] - halo_start[blockIdx.x]);
    for (int64_t k = row_start[first] + threadIdx.x; k < end; k += SETUP_THREADS) {
        const int32_t column = columns[k];
        int low = 0, high = length;
        if (column >= first && column < last) {
            locals[k] = (uint16_t)(column - first);
            continue;
        }
        while (low < high) {
            const int middle = (low + high) / 2;
            if (halo[middle] < column)
                low = middle + 1;
            else
                high = middle;
        }
        locals[k] = (uint16_t)(SELL_ROWS + low);
    }
}

/* Starts of slices in words.  n: slices + 1 */
extern "C" __global__ void word_starts(long long n, const int64_t *sums, uint32_t *start)
{
    const int64_t i = element();
    if (i < n)
        start[i] = (uint32_t)(sums[i] * SELL_SLICE);
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
INLINE int turned(int width, int own, int v)
{
    const int others_4[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
    return width == 2 ? 1 - own : width == 3 ? (own + v) % 3 : others_4[own][v - 1];
}

/* n: slots.  sizes: rows, width, lanes of the indices; places: of the cells of each row, with one lane; cells may be
 * the same memory as fault if they are not wanted: sizes[3] is 0 */
extern "C" __global__ void addto_words(long long n, const int64_t *sizes, const int32_t *indices,
                                       const int64_t *first, const uint32_t *places,
                                       const uint16_t *rows, const int64_t *row_start,
                                       const int32_t *columns, const uint16_t *locals,
                                       const uint32_t *word_start, uint64_t *words, int32_t *cells,
                                       int32_t *fault)
{
    const int64_t slot = element();
    if (slot >= n)
        return;
    const int64_t slice = slot / SELL_SLICE, row = slot / SELL_ROWS * SELL_ROWS + rows[slot];
    const int width = (int)sizes[1], lanes = (int)sizes[2];
    const int64_t begin = row < sizes[0] ? first[row] : 0;
    const int64_t have = row < sizes[0] ? first[row + 1] - begin : 0;
    const int64_t entry = row < sizes[0] ? row_start[row] : 0;
    const int n_entries = row < sizes[0] ? (int)(row_start[row + 1] - entry) : 0;
    const int64_t room = (word_start[slice + 1] - word_start[slice]) / SELL_SLICE;
    for (int64_t i = 0; i < room; ++i) {
        const int64_t at = word_start[slice] + slot % SELL_SLICE + i * SELL_SLICE;
        const uint32_t place = i < have ? places[begin + i] : 0, cell = place / (uint32_t)width;
        const int own = (int)(place % (uint32_t)width);
        const int32_t *nodes = indices + (int64_t)(cell / (uint32_t)lanes) * width * lanes +
                               cell % (uint32_t)lanes;
        uint64_t word = i < have ? 0 : NO_CELL;
        for (int v = 1; v < width && i < have; ++v) {
            const int32_t other = nodes[turned(width, own, v) * lanes];
            int k = 0;
            while (k < n_entries && columns[entry + k] != other)
                ++k;
            const int slot_of = k - (other > row ? 1 : 0); /* without the diagonal */
            if (other == row || k == n_entries || slot_of >= 1 << SLOT_BITS) {
                fault[0] = other == row ? FAULT_TWICE : k == n_entries ? FAULT_MISSING : FAULT_SLOT;
                word = NO_CELL;
                break;
            }
            word |= ((uint64_t)locals[entry + k] | (uint64_t)slot_of << LOCAL_BITS)
                    << (v - 1) * (LOCAL_BITS + SLOT_BITS);
        }
        words[at] = word;
        if (sizes[3])
            cells[at] = (int32_t)cell;
    }
}
