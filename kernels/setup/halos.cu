/* The halo of each block of rows: the rows outside that it couples with. And the number of each column among the
 * block's rows and its halo. */
#define BLOCK_ROWS 512
#define LOCAL_BITS 13
#define HALO_MOST ((1 << LOCAL_BITS) - BLOCK_ROWS)
#define HALO_ROOM (1 << LOCAL_BITS) /* a power of two, for sorting */
#define HALO_SLOTS (2 * HALO_ROOM)  /* of the hash table */
#define NO_COLUMN 0x7fffffff
#define FAULT_LOCAL 2 /* as weft_addto_fault */

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

/* Columns of the rows first to last - 1 of a matrix, a share for each thread of the block. */
struct csr_columns {
    const int64_t *row_start;
    const int32_t *columns;
    template <class F> __device__ __forceinline__ void visit(int64_t first, int64_t last, F f) const
    {
        for (int64_t k = row_start[first] + threadIdx.x; k < row_start[last]; k += SETUP_THREADS)
            f(columns[k]);
    }
};
/* Padding is the row itself. */
struct sell_columns {
    sell_layout layout;
    const uint16_t *rows;
    template <class F> __device__ __forceinline__ void visit(int64_t first, int64_t last, F f) const
    {
        for (int slot = (int)threadIdx.x; slot < BLOCK_ROWS; slot += SETUP_THREADS) {
            const sell_row row = sell_row_of(layout, first + slot);
            for (int k = 0; first + rows[first + slot] < last && k < row.length; ++k)
                f(sell_column(row, k));
        }
    }
};

/* The rows outside of a block that it couples with, into a hash table; their number. */
template <class C>
INLINE int find_halo(const C &matrix, int64_t first, int64_t last, int32_t *table, int32_t *n_found)
{
    for (int i = (int)threadIdx.x; i < HALO_SLOTS; i += SETUP_THREADS)
        table[i] = NO_COLUMN;
    if (threadIdx.x == 0)
        n_found[0] = 0;
    __syncthreads();
    matrix.visit(first, last, [=](int32_t column) {
        /* beyond the most, further ones do not matter, and the table has room for one of each thread */
        if ((column < first || column >= last) && *(volatile int32_t *)n_found <= HALO_MOST)
            hash_insert(table, n_found, column);
    });
    __syncthreads();
    return n_found[0];
}

template <class C> INLINE void count_halo(int64_t n, const C &matrix, uint32_t *counts, int32_t *fault)
{
    extern __shared__ __align__(16) unsigned char shared[];
    __shared__ int32_t n_found;
    const int64_t first = blockIdx.x * (int64_t)BLOCK_ROWS;
    const int64_t last = first + BLOCK_ROWS < n ? first + BLOCK_ROWS : n;
    const int found = find_halo(matrix, first, last, (int32_t *)shared, &n_found);
    if (threadIdx.x == 0) {
        counts[blockIdx.x] = (uint32_t)found;
        if (found > HALO_MOST)
            fault[0] = FAULT_LOCAL;
    }
}

template <class C>
INLINE void list_halo(int64_t n, const C &matrix, const int64_t *halo_start, int32_t *halo)
{
    extern __shared__ __align__(16) unsigned char shared[];
    __shared__ int32_t n_found, n_listed;
    int32_t *table = (int32_t *)shared, *list = table + HALO_SLOTS;
    const int64_t first = blockIdx.x * (int64_t)BLOCK_ROWS, start = halo_start[blockIdx.x];
    const int64_t last = first + BLOCK_ROWS < n ? first + BLOCK_ROWS : n;
    if (halo_start[blockIdx.x + 1] == start)
        return;
    const int found = find_halo(matrix, first, last, table, &n_found);
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

/* n: rows.  counts [blocks] */
extern "C" __global__ void halo_counts(long long n, const int64_t *row_start, const int32_t *columns,
                                       uint32_t *counts, int32_t *fault)
{
    const csr_columns matrix = {row_start, columns};
    count_halo(n, matrix, counts, fault);
}

extern "C" __global__ void sell_halo_counts(long long n, const uint16_t *rows, const int32_t *bases,
                                            const uint32_t *start, const uint32_t *column_start,
                                            const uint32_t *words, uint32_t *counts, int32_t *fault)
{
    const sell_columns matrix = {{bases, start, column_start, words}, rows};
    count_halo(n, matrix, counts, fault);
}

/* The halos, ascending.  halo_start [blocks + 1] */
extern "C" __global__ void halo_columns(long long n, const int64_t *row_start, const int32_t *columns,
                                        const int64_t *halo_start, int32_t *halo)
{
    const csr_columns matrix = {row_start, columns};
    list_halo(n, matrix, halo_start, halo);
}

extern "C" __global__ void sell_halo_columns(long long n, const uint16_t *rows, const int32_t *bases,
                                             const uint32_t *start, const uint32_t *column_start,
                                             const uint32_t *words, const int64_t *halo_start, int32_t *halo)
{
    const sell_columns matrix = {{bases, start, column_start, words}, rows};
    list_halo(n, matrix, halo_start, halo);
}

/* The local number of each entry.  n: rows; a block of threads for each block of rows */
extern "C" __global__ void entry_locals(long long n, const int64_t *row_start, const int32_t *columns,
                                        const int64_t *halo_start, const int32_t *all_halo,
                                        uint16_t *locals)
{
    const int64_t first = blockIdx.x * (int64_t)BLOCK_ROWS;
    const int64_t last = first + BLOCK_ROWS < n ? first + BLOCK_ROWS : n, end = row_start[last];
    const int32_t *halo = all_halo + halo_start[blockIdx.x];
    const int length = (int)(halo_start[blockIdx.x + 1] - halo_start[blockIdx.x]);
    for (int64_t k = row_start[first] + threadIdx.x; k < end; k += SETUP_THREADS)
        locals[k] = (uint16_t)local_number(columns[k], first, last, halo, length);
}

/* The local numbers of pairs of entries of a SELL matrix: the second word of each pair, as the values of half_precision.cu, which are the
 * first.  n: slots.  sizes: rows */
extern "C" __global__ void sell_locals(long long n, const int64_t *sizes, const uint16_t *rows,
                                       const int32_t *bases, const uint32_t *start,
                                       const uint32_t *column_start, const uint32_t *words,
                                       const int64_t *halo_start, const int32_t *all_halo, uint32_t *pairs)
{
    const int64_t place = element();
    if (place >= n)
        return;
    const int64_t slice = place / 32, block = place / BLOCK_ROWS, first = block * BLOCK_ROWS;
    const int64_t last = first + BLOCK_ROWS < sizes[0] ? first + BLOCK_ROWS : sizes[0];
    const sell_layout layout = {bases, start, column_start, words};
    const sell_row row = sell_row_of(layout, place);
    const int32_t *halo = all_halo + halo_start[block];
    const int length = (int)(halo_start[block + 1] - halo_start[block]);
    const bool is_row = first + rows[place] < last;
    uint32_t *out = pairs + 2 * (((int64_t)start[slice] - n) / 2 + slice * 16 + place % 32);
    for (int k = 0; k < row.length; k += 2) {
        uint32_t pair = 0;
        for (int i = 0; i < 2 && k + i < row.length && is_row; ++i)
            pair |= local_number(sell_column(row, k + i), first, last, halo, length) << i * 16;
        out[64 * (k / 2) + 1] = pair;
    }
}
