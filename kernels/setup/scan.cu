/* Exclusive sums of counts in three launches: sums of tiles, their exclusive sums by one block, the tiles again. */
#define SCAN_EACH 8
#define SCAN_TILE (SETUP_THREADS * SCAN_EACH)

INLINE int64_t sum_of_own(int64_t n, const uint32_t *counts, int64_t first, uint32_t *own)
{
    int64_t sum = 0;
    UNROLL for (int i = 0; i < SCAN_EACH; ++i) {
        own[i] = first + i < n ? counts[first + i] : 0;
        sum += own[i];
    }
    return sum;
}

/* sums [ceil(n / SCAN_TILE)] */
extern "C" __global__ void scan_tiles(long long n, const uint32_t *counts, int64_t *sums)
{
    uint32_t own[SCAN_EACH];
    int64_t all;
    const int64_t first = (blockIdx.x * (int64_t)SETUP_THREADS + threadIdx.x) * SCAN_EACH;
    (void)block_sum_before(sum_of_own(n, counts, first, own), &all);
    if (threadIdx.x == 0)
        sums[blockIdx.x] = all;
}

/* One block: sums of tiles become those of all tiles before; *total gets the sum of all. */
extern "C" __global__ void scan_sums(long long n, int64_t *sums, int64_t *total)
{
    int64_t carry = 0;
    for (int64_t base = 0; base < n; base += SETUP_THREADS) {
        const int64_t i = base + threadIdx.x;
        const int64_t mine = i < n ? sums[i] : 0;
        int64_t all;
        const int64_t before = block_sum_before(mine, &all);
        if (i < n)
            sums[i] = carry + before;
        carry += all;
    }
    if (threadIdx.x == 0)
        total[0] = carry;
}

/* out [n + 1]: out[i] is the sum of counts[0 .. i - 1] */
extern "C" __global__ void scan_finish(long long n, const uint32_t *counts, const int64_t *sums,
                                       const int64_t *total, int64_t *out)
{
    uint32_t own[SCAN_EACH];
    int64_t all;
    const int64_t first = (blockIdx.x * (int64_t)SETUP_THREADS + threadIdx.x) * SCAN_EACH;
    int64_t sum = sums[blockIdx.x] + block_sum_before(sum_of_own(n, counts, first, own), &all);
    UNROLL for (int i = 0; i < SCAN_EACH; ++i) {
        if (first + i < n)
            out[first + i] = sum;
        sum += own[i];
    }
    if (blockIdx.x == 0 && threadIdx.x == 0)
        out[n] = total[0];
}
