/* The forms of a connectivity: interleaved in blocks of lanes, and transposed. */

/* highest[0] gets the greatest index, as unsigned: one below 0 is above every valid one.  n: indices */
extern "C" __global__ void highest_index(long long n, const int32_t *indices, uint32_t *highest)
{
    __shared__ uint32_t most[SETUP_THREADS];
    const int me = (int)threadIdx.x;
    most[me] = 0;
    for (int64_t i = element(); i < n; i += (int64_t)gridDim.x * SETUP_THREADS)
        if ((uint32_t)indices[i] > most[me])
            most[me] = (uint32_t)indices[i];
    for (int by = SETUP_THREADS / 2; by > 0; by /= 2) {
        __syncthreads();
        if (me < by && most[me + by] > most[me])
            most[me] = most[me + by];
    }
    if (me == 0)
        atomicMax(highest, most[0]);
}

/* n: elements with spare lanes, which repeat the last element.  sizes: elements, width, lanes */
extern "C" __global__ void interleave(long long n, const int64_t *sizes, const int32_t *plain,
                                      int32_t *out)
{
    const int64_t i = element(), width = sizes[1];
    if (i >= n)
        return;
    const int32_t *from = plain + (i < sizes[0] ? i : sizes[0] - 1) * width;
    for (int64_t k = 0; k < width; ++k)
        out[place_of(i, k, width, sizes[2])] = from[k];
}

/* n: wanted elements.  sizes: width, lanes of the indices */
extern "C" __global__ void take_rows(long long n, const int64_t *sizes, const int32_t *wanted, const int32_t *indices,
                                     int32_t *rows)
{
    const int64_t i = element(), width = sizes[0];
    if (i >= n)
        return;
    for (int64_t k = 0; k < width; ++k)
        rows[i * width + k] = indices[place_of(wanted[i], k, width, sizes[1])];
}

/* Indices with components, in another order, as a part of the rows of another connectivity.  n: elements.  sizes: width,
 * lanes of the indices, components, first target, width of `out`, where its rows get them.  order [width]: the index at
 * each place.  out: plain */
extern "C" __global__ void map_indices(long long n, const int64_t *sizes, const int64_t *order, const int32_t *indices,
                                       int32_t *out)
{
    const int64_t i = element(), width = sizes[0], components = sizes[2];
    if (i >= n)
        return;
    int32_t *row = out + i * sizes[4] + sizes[5];
    for (int64_t k = 0; k < width; ++k) {
        const int64_t first = sizes[3] + indices[place_of(i, order[k], width, sizes[1])] * components;
        for (int64_t c = 0; c < components; ++c)
            row[k * components + c] = (int32_t)(first + c);
    }
}

/* A counting sort of the positions by target: slots are drawn from a counter in any order, and each target's list is
 * sorted afterwards, in the order of elements.  n: elements.  sizes: width, lanes of the indices, lanes of the positions, first target, number of
 * targets; others are passed over */
extern "C" __global__ void count_positions(long long n, const int64_t *sizes, const int32_t *indices,
                                        uint32_t *counts)
{
    const int64_t i = element(), width = sizes[0];
    if (i >= n)
        return;
    for (int64_t k = 0; k < width; ++k) {
        const int64_t target = indices[place_of(i, k, width, sizes[1])] - sizes[3];
        if (target >= 0 && target < sizes[4])
            atomicAdd(&counts[target], 1u);
    }
}

extern "C" __global__ void put_positions(long long n, const int64_t *sizes, const int32_t *indices,
                                      const int64_t *start, uint32_t *counts, uint32_t *positions)
{
    const int64_t i = element(), width = sizes[0];
    if (i >= n)
        return;
    for (int64_t k = 0; k < width; ++k) {
        const int64_t target = indices[place_of(i, k, width, sizes[1])] - sizes[3];
        if (target < 0 || target >= sizes[4])
            continue;
        const int64_t slot = start[target] + atomicAdd(&counts[target], ~0u) - 1;
        positions[slot] = (uint32_t)(i * width + k);
    }
}

/* Numbers of members, element after element, as places in blocks of lanes.  n: members.  sizes: width, -, lanes */
extern "C" __global__ void place_positions(long long n, const int64_t *sizes, uint32_t *positions)
{
    const int64_t i = element(), width = sizes[0];
    if (i < n)
        positions[i] = (uint32_t)place_of(positions[i] / width, positions[i] % width, width, sizes[2]);
}

#define FEW_PLACES 64

INLINE void sort_list(uint32_t *list, int64_t length)
{
    if (length <= FEW_PLACES) {
        for (int64_t i = 1; i < length; ++i) {
            const uint32_t moved = list[i];
            int64_t k = i;
            for (; k > 0 && list[k - 1] > moved; --k)
                list[k] = list[k - 1];
            list[k] = moved;
        }
        return;
    }
    heap_sort(list, length);
}

#define HELD_POSITIONS 8192 /* 32 per target */

/* n: targets.  In shared memory, unless the lists of a block are too long for it; long lists by heap sort, which
 * needs no memory. */
extern "C" __global__ void sort_positions(long long n, const int64_t *start, uint32_t *positions)
{
    __shared__ uint32_t held[HELD_POSITIONS];
    const int64_t target = element(), first = blockIdx.x * (int64_t)blockDim.x;
    const int64_t from = start[first], last = first + blockDim.x < n ? first + blockDim.x : n;
    const int64_t n_positions = start[last] - from;
    const bool fits = n_positions <= HELD_POSITIONS;
    for (int64_t i = threadIdx.x; i < n_positions && fits; i += blockDim.x)
        held[i] = positions[from + i];
    __syncthreads();
    if (target < n)
        sort_list(fits ? held + (start[target] - from) : positions + start[target],
                  start[target + 1] - start[target]);
    __syncthreads();
    for (int64_t i = threadIdx.x; i < n_positions && fits; i += blockDim.x)
        positions[from + i] = held[i];
}

#define LONG_POSITIONS 4096

/* The same with a thread block for each target, for lists that are long in the mean.  n: targets */
extern "C" __global__ void sort_long_positions(long long n, const int64_t *start, uint32_t *positions)
{
    __shared__ uint32_t held[LONG_POSITIONS];
    for (int64_t target = blockIdx.x; target < n; target += gridDim.x) {
        uint32_t *list = positions + start[target];
        const int64_t length = start[target + 1] - start[target];
        const bool fits = length <= LONG_POSITIONS;
        for (int64_t i = threadIdx.x; i < length && fits; i += blockDim.x)
            held[i] = list[i];
        if (fits)
            block_sort(held, (int)length, ~(uint32_t)0);
        else if (threadIdx.x == 0)
            heap_sort(list, length);
        for (int64_t i = threadIdx.x; i < length && fits; i += blockDim.x)
            list[i] = held[i];
        __syncthreads();
    }
}
