/* What the set-up kernels have in common. Each has the number of its elements first, then pointers; `sizes` holds
 * the numbers that its comment lists. */
#ifdef __CUDACC_RTC__ /* which has no <stdint.h> */
typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef short int16_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long long int64_t;
typedef unsigned long long uint64_t;
#else
#include <stdint.h>
#endif

#define INLINE static __device__ __forceinline__
#define UNROLL _Pragma("unroll")
#define SETUP_THREADS 256

/* The element of a thread. */
INLINE int64_t element()
{
    return blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
}

/* Where index k of an element of a connectivity is, in blocks of the given number of lanes. */
INLINE int64_t place_of(int64_t element, int64_t k, int64_t width, int64_t lanes)
{
    return (element / lanes * width + k) * lanes + element % lanes;
}

/* Let the entry at a place of a heap sink to where it belongs. */
template <class T> INLINE void sink(T *heap, int64_t at, int64_t n)
{
    const T moved = heap[at];
    for (int64_t child = 2 * at + 1; child < n; child = 2 * at + 1) {
        child += child + 1 < n && heap[child + 1] > heap[child];
        if (heap[child] <= moved)
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = moved;
}

/* Sort a long list by one thread, without further memory. */
template <class T> INLINE void heap_sort(T *list, int64_t length)
{
    for (int64_t i = length / 2; i-- > 0;)
        sink(list, i, length);
    for (int64_t last = length - 1; last > 0; --last) {
        const T greatest = list[0];
        list[0] = list[last];
        list[last] = greatest;
        sink(list, 0, last);
    }
}

/* Sort a short list by one thread, and remove duplicates. Returns the number of entries that it then has. */
template <class T> INLINE int64_t sort_once(T *list, int64_t length)
{
    int64_t kept = 0;
    for (int64_t k = 0; k < length; ++k) {
        const T entry = list[k];
        int64_t at = kept;
        while (at > 0 && list[at - 1] > entry)
            --at;
        if (at > 0 && list[at - 1] == entry)
            continue;
        for (int64_t p = kept; p > at; --p)
            list[p] = list[p - 1];
        list[at] = entry;
        ++kept;
    }
    return kept;
}

/* Sort n <= SIZE keys of a block's shared memory, ascending: a bitonic network over the next power of two. The
 * memory has room for it; `most` is at least any key. Batcher 1968. */
template <class T> INLINE void block_sort(T *keys, int n, T most)
{
    int size = 1;
    while (size < n)
        size *= 2;
    for (int i = n + (int)threadIdx.x; i < size; i += (int)blockDim.x)
        keys[i] = most;
    for (int width = 2; width <= size; width *= 2)
        for (int by = width / 2; by > 0; by /= 2) {
            __syncthreads();
            for (int i = (int)threadIdx.x; i < size / 2; i += (int)blockDim.x) {
                const int low = i / by * 2 * by + i % by, high = low + by;
                const bool ascends = (low & width) == 0;
                const T a = keys[low], b = keys[high];
                if ((a > b) == ascends) {
                    keys[low] = b;
                    keys[high] = a;
                }
            }
        }
    __syncthreads();
}

/* The sum over the threads of the block before this one; *all gets that of all threads. */
INLINE int64_t block_sum_before(int64_t mine, int64_t *all)
{
    __shared__ int64_t sums[SETUP_THREADS];
    const int me = (int)threadIdx.x;
    sums[me] = mine;
    __syncthreads();
    for (int by = 1; by < SETUP_THREADS; by *= 2) {
        const int64_t before = me >= by ? sums[me - by] : 0;
        __syncthreads();
        sums[me] += before;
        __syncthreads();
    }
    *all = sums[SETUP_THREADS - 1];
    const int64_t before = sums[me] - mine;
    __syncthreads();
    return before;
}

/* A number of each thread of the block joined to one, for its first thread: always in the same order. */
template <class Join> INLINE double block_join(double mine, Join join)
{
    __shared__ double parts[SETUP_THREADS];
    const int me = (int)threadIdx.x;
    parts[me] = mine;
    for (int by = SETUP_THREADS / 2; by > 0; by /= 2) {
        __syncthreads();
        if (me < by)
            parts[me] = join(parts[me], parts[me + by]);
    }
    const double all = parts[0];
    __syncthreads();
    return all;
}

INLINE double block_sum(double mine)
{
    return block_join(mine, [](double a, double b) { return a + b; });
}

/* A set of up to SET_MOST numbers as a hash table in the shared memory of a warp, empty slots are -1; *count grows with each
 * new number. */
#define SET_SLOTS 512
#define SET_MOST 256

INLINE void set_insert(int32_t *set, int32_t *count, int32_t number)
{
    for (uint32_t slot = (uint32_t)number * 2654435769u >> 23;; slot = (slot + 1) % SET_SLOTS) {
        int32_t there = *(volatile int32_t *)&set[slot];
        if (there == -1)
            there = atomicCAS(&set[slot], -1, number);
        if (there == -1)
            atomicAdd(count, (int32_t)1);
        if (there == -1 || there == number)
            return;
    }
}

/* Empty the warp's set. */
INLINE void set_clear(int32_t *set, int32_t *count)
{
    for (int s = (int)threadIdx.x % 32; s < SET_SLOTS; s += 32)
        set[s] = -1;
    if (threadIdx.x % 32 == 0)
        *count = 0;
    __syncwarp();
}

/* How many numbers the warp has put into its set. */
INLINE int32_t set_size(const int32_t *count)
{
    __syncwarp();
    const int32_t size = *(const volatile int32_t *)count;
    __syncwarp();
    return size;
}

/* Write the size of the warp's set, and keep the greatest. */
INLINE void set_report(int32_t size, uint32_t *own, int32_t *greatest)
{
    if (threadIdx.x % 32 != 0)
        return;
    *own = (uint32_t)size;
    if (size > greatest[0])
        atomicMax(greatest, size);
}

/* The numbers of a set, ascending, take its place.  list: [SET_MOST], shared */
INLINE void set_sort(int32_t *set, int32_t *list)
{
    const int lane = (int)threadIdx.x % 32;
    int n = 0;
    for (int s = lane; s < SET_SLOTS; s += 32) {
        const int32_t number = set[s];
        const uint32_t found = __ballot_sync(0xffffffffu, number != -1);
        if (number != -1)
            list[n + __popc(found & ((1u << lane) - 1))] = number;
        n += __popc(found);
    }
    __syncwarp();
    for (int k = lane; k < n; k += 32) {
        int rank = 0;
        for (int q = 0; q < n; ++q)
            rank += list[q] < list[k];
        set[rank] = list[k];
    }
    __syncwarp();
}

/* Write the `size` numbers of a set, ascending. */
INLINE void set_write(int32_t *set, int32_t *list, int32_t size, int32_t *out)
{
    set_sort(set, list);
    for (int k = (int)threadIdx.x % 32; k < size; k += 32)
        out[k] = set[k];
}

/* The columns of a row of a SELL matrix (fem/sparse/sell.h) off the diagonal, ascending; padding is the row itself. */
struct sell_layout {
    const int32_t *bases;
    const uint32_t *start, *column_start, *words;
};
struct sell_row {
    const int32_t *bases;
    const uint32_t *words;
    int length; /* with padding */
};

/* slot: number of the row in the order of slices and lanes */
INLINE sell_row sell_row_of(sell_layout m, int64_t slot)
{
    const int64_t slice = slot / 32;
    const sell_row row = {m.bases + slot / 512 * 32, m.words + m.column_start[slice] + slot % 32,
                          (int)((m.start[slice + 1] - m.start[slice]) / 32)};
    return row;
}

INLINE int32_t sell_column(sell_row row, int k)
{
    if (row.bases[0] < 0)
        return (int32_t)row.words[(int64_t)k * 32];
    const uint32_t code = row.words[(int64_t)(k / 2) * 32] >> (k % 2 * 16) & 0xffff;
    return row.bases[code >> 11] + (int32_t)(code & 2047);
}

/* The entries of a row of a SELL matrix, in which every row has a diagonal entry, by column. */
struct sell_matrix {
    const uint16_t *slots;
    sell_layout layout;
    const double *values;
};
struct sell_entries {
    sell_row own;
    int64_t row, first; /* the row; its first value off the diagonal */
    int k;
    bool below; /* the diagonal is still to come */
};
INLINE sell_entries entries_of(const sell_matrix *m, int64_t row)
{
    const int64_t slot = row / 512 * 512 + m->slots[row];
    const sell_entries e = {sell_row_of(m->layout, slot), row, m->layout.start[slot / 32] + slot % 32, 0, true};
    return e;
}
INLINE bool next_entry(sell_entries *e, int32_t *column, int64_t *place)
{
    const int32_t found = e->k < e->own.length ? sell_column(e->own, e->k) : (int32_t)e->row;
    if (e->below && (found == e->row || found > e->row)) {
        e->below = false;
        *column = (int32_t)e->row;
        *place = e->row;
        return true;
    }
    if (found == e->row) /* padding, or the end */
        return false;
    *column = found;
    *place = e->first + (int64_t)e->k++ * 32;
    return true;
}

/* Entry `number` of a row, by columns, the diagonal among them; false: there is none. */
INLINE bool sell_entry(const sell_matrix *A, int64_t row, sell_row own, int64_t slot, int number, int32_t *column,
                       double *value)
{
    const int64_t first = A->layout.start[slot / 32] + slot % 32;
    int32_t found = number < own.length ? sell_column(own, number) : (int32_t)row;
    int at = number;
    if (number > own.length)
        return false;
    if (found >= row) {
        const int32_t before = number > 0 ? sell_column(own, number - 1) : -1;
        if (before < row) {
            *column = (int32_t)row;
            *value = A->values[row];
            return true;
        }
        found = before;
        at = number - 1;
    }
    if (found == row) /* padding */
        return false;
    *column = found;
    *value = A->values[first + (int64_t)at * 32];
    return true;
}

/* The number of a column among the rows first to last - 1 and the halo of their block of 512 rows. */
INLINE uint32_t local_number(int32_t column, int64_t first, int64_t last, const int32_t *halo, int length)
{
    int low = 0, high = length;
    if (column >= first && column < last)
        return (uint32_t)(column - first);
    while (low < high) {
        const int middle = (low + high) / 2;
        if (halo[middle] < column)
            low = middle + 1;
        else
            high = middle;
    }
    return (uint32_t)(512 + low);
}
