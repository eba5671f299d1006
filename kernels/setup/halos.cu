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

/* n: rows.  counts [blocks] */
extern "C" __global__ void halo_counts(long long n, const int64_t *row_start, const int32_t *columns,
                                       uint32_t *counts, int32_t *fault)
{
    extern __shared__ __align__(16) unsigned char shared[];
    __shared__ int32_t n_found;
    const int64_t first = blockIdx.x * (int64_t)BLOCK_ROWS;
    const int64_t last = first + BLOCK_ROWS < n ? first + BLOCK_ROWS : n;
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
    const int64_t first = blockIdx.x * (int64_t)BLOCK_ROWS, start = halo_start[blockIdx.x];
    const int64_t last = first + BLOCK_ROWS < n ? first + BLOCK_ROWS : n;
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
    const int64_t first = blockIdx.x * (int64_t)BLOCK_ROWS;
    const int64_t last = first + BLOCK_ROWS < n ? first + BLOCK_ROWS : n, end = row_start[last];
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
        locals[k] = (uint16_t)(BLOCK_ROWS + low);
    }
}
