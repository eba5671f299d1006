/* A stable sort of a list of items by eight bits of their keys: tiles count their digits, and after exclusive sums
 * over all digits and tiles each tile moves its items. Each warp has consecutive items of its tile. */
#define RADIX_EACH 16
#define RADIX_TILE (SETUP_THREADS * RADIX_EACH)
#define RADIX_WARPS (SETUP_THREADS / 32)
#define RADIX_DIGITS 256

INLINE uint32_t digit_of(const int64_t *sizes, const uint32_t *keys, int32_t item)
{
    return keys[sizes[1] + item] >> sizes[0] & (RADIX_DIGITS - 1);
}

extern "C" __global__ void radix_identity(long long n, int32_t *list)
{
    const int64_t i = element();
    if (i < n)
        list[i] = (int32_t)i;
}

/* n: items.  sizes: shift of the digit, the first of the keys.  counts [digit][tile] */
extern "C" __global__ void radix_counts(long long n, const int64_t *sizes, const uint32_t *keys, const int32_t *list,
                                        uint32_t *counts)
{
    __shared__ uint32_t own[RADIX_DIGITS];
    const int64_t first = blockIdx.x * (int64_t)RADIX_TILE + threadIdx.x;
    own[threadIdx.x] = 0;
    __syncthreads();
    for (int64_t i = first; i < first + RADIX_TILE && i < n; i += SETUP_THREADS)
        atomicAdd(&own[digit_of(sizes, keys, list[i])], 1u);
    __syncthreads();
    counts[threadIdx.x * (int64_t)gridDim.x + blockIdx.x] = own[threadIdx.x];
}

/* starts: the exclusive sums of counts */
extern "C" __global__ void radix_move(long long n, const int64_t *sizes, const uint32_t *keys, const int32_t *list,
                                      const int64_t *starts, int32_t *out)
{
    __shared__ uint32_t next[RADIX_WARPS][RADIX_DIGITS];
    uint32_t digits[RADIX_EACH], ranks[RADIX_EACH];
    int32_t items[RADIX_EACH];
    const int me = (int)threadIdx.x, warp = me / 32, lane = me % 32;
    const int64_t first = blockIdx.x * (int64_t)RADIX_TILE + warp * (32 * RADIX_EACH) + lane;
    for (int w = 0; w < RADIX_WARPS; ++w)
        next[w][me] = 0;
    __syncthreads();
    UNROLL for (int k = 0; k < RADIX_EACH; ++k) {
        const bool is_item = first + 32 * k < n;
        items[k] = is_item ? list[first + 32 * k] : 0;
        digits[k] = is_item ? digit_of(sizes, keys, items[k]) : RADIX_DIGITS;
        const uint32_t same = __match_any_sync(0xffffffffu, digits[k]), before = same & ((1u << lane) - 1);
        ranks[k] = (uint32_t)__popc(before) + (is_item ? next[warp][digits[k]] : 0);
        __syncwarp();
        if (is_item && before == 0)
            next[warp][digits[k]] += (uint32_t)__popc(same);
        __syncwarp();
    }
    __syncthreads();
    uint32_t sum = (uint32_t)starts[me * (int64_t)gridDim.x + blockIdx.x];
    for (int w = 0; w < RADIX_WARPS; ++w) {
        const uint32_t count = next[w][me];
        next[w][me] = sum;
        sum += count;
    }
    __syncthreads();
    UNROLL for (int k = 0; k < RADIX_EACH; ++k)
        if (digits[k] < RADIX_DIGITS)
            out[next[warp][digits[k]] + ranks[k]] = items[k];
}
