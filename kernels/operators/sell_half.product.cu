//@ rows      sell_half
//@ source    sliced ELLPACK as in sell.product.cu; numbers of IEEE 754 binary16
//@ threads   256
//@ nodes     512
//@ argument  const float *diagonal     in order of rows, not positive where a row has no other entries
//@ argument  const uint32_t *words     [slice][k / 2][lane] two words: two values in half precision, in units of 2^(e - 7), e the exponent of the diagonal; two local numbers
//@ argument  const uint32_t *start     of single entries, [blocks * 16 + 1], as in sell.product.cu
//@ argument  const uint16_t *rows      [block][512] the row, within its block, of each lane of each slice
//@ argument  const int64_t *halo_start [blocks + 1]
//@ argument  const int32_t *halo       the rows outside of a block that it reads, ascending
/* y = D^-1 A v for a sell matrix A whose entries off the diagonal have 16 bits, D its diagonal. A block's part of v and its halo
 * are read once, into shared memory, where local numbers refer to: 0 .. 511 are rows of the block, 512 + h is halo[h].
 * Read from the caches by columns, each entry took some fifteen instructions, more than its bytes take. */
#define SELL_HALF_GROUP 4 /* pairs of entries in flight per thread */

/* The lower half of a word as a number. */
INLINE float sell_half_value(uint32_t word)
{
    float value;
#ifdef __CUDA_ARCH__
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"((uint16_t)word));
#else
    const uint32_t bits = (word & 0x7fff) << 13 | (word & 0x8000) << 16;
    memcpy(&value, &bits, sizeof value);
    value *= 0x1p112f;
#endif
    return value;
}

/* Two words, past the L1 cache. */
INLINE void sell_half_load(const uint32_t *p, uint32_t *pairs, uint32_t *locals)
{
#ifdef __CUDA_ARCH__
    asm volatile("ld.global.cs.v2.u32 {%0, %1}, [%2];" : "=r"(*pairs), "=r"(*locals) : "l"(p));
#else
    *pairs = p[0];
    *locals = p[1];
#endif
}

/* Pairs j, ... of n of a row. */
INLINE void sell_half_fetch(const uint32_t *p, int j, int n, uint32_t pairs[SELL_HALF_GROUP],
                            uint32_t locals[SELL_HALF_GROUP])
{
    UNROLL for (int i = 0; i < SELL_HALF_GROUP; ++i) {
        pairs[i] = locals[i] = 0;
        if (j + i < n)
            sell_half_load(p + (int64_t)(j + i) * (2 * LANES), &pairs[i], &locals[i]);
    }
}

/* Where the words of a slice begin. */
INLINE int64_t sell_half_first(const uint32_t *start, int64_t slice)
{
    return 2 * (((int64_t)start[slice] - (int64_t)gridDim.x * ROWS_NODES) / 2 + slice * (LANES / 2));
}

/* What a row's values are multiplied by: 2^(e - 7), e the exponent of its entry on the diagonal. */
INLINE float sell_half_unit(float diagonal)
{
    uint32_t bits;
    memcpy(&bits, &diagonal, sizeof bits);
    bits &= 0x7f800000;
    bits = bits > 7u << 23 ? bits - (7u << 23) : 0;
    memcpy(&diagonal, &bits, sizeof bits);
    return diagonal;
}
//@ body
    {
        real *staged = (real *)shared;
        const int lane = threadIdx.x % LANES, warp = threadIdx.x / LANES, warps = ROWS_THREADS / LANES;
        const int64_t first_halo = halo_start[blockIdx.x];
        const int n_halo = (int)(halo_start[blockIdx.x + 1] - first_halo);
        real *sums = staged + ROWS_NODES + n_halo;
        RETURN_IF_DONE; /* behind a load: the answer came with it */
        UNROLL for (int k = 0; k < ROWS_PER_THREAD; ++k) {
            const int at = k * ROWS_THREADS + threadIdx.x;
            own[k] = first_row + at < n_rows ? LOAD(first_row + at) : (real)0;
            staged[at] = own[k];
        }
        for (int i = threadIdx.x; i < n_halo; i += ROWS_THREADS)
            staged[ROWS_NODES + i] = LOAD(halo[first_halo + i]);
        __syncthreads();
        UNROLL for (int k = 0; k < ROWS_PER_THREAD; ++k) {
            /* back and forth, for slices come longest first */
            const int number = k * warps + (k % 2 ? warps - 1 - warp : warp);
            const int64_t slice = blockIdx.x * (int64_t)(ROWS_NODES / LANES) + number;
            const int n = (int)((start[slice + 1] - start[slice]) / LANES + 1) / 2;
            const uint32_t *p = words + sell_half_first(start, slice) + 2 * lane;
            const int row = rows[slice * LANES + lane];
            real sum = 0;
            for (int j = 0; j < n; j += SELL_HALF_GROUP) {
                uint32_t pairs[SELL_HALF_GROUP], locals[SELL_HALF_GROUP];
                sell_half_fetch(p, j, n, pairs, locals);
                UNROLL for (int i = 0; i < SELL_HALF_GROUP; ++i) {
                    sum += sell_half_value(pairs[i]) * staged[locals[i] & 0xffff];
                    sum += sell_half_value(pairs[i] >> 16) * staged[locals[i] >> 16];
                }
            }
            sums[row] = sum;
        }
        __syncthreads();
        UNROLL for (int k = 0; k < ROWS_PER_THREAD; ++k) {
            const int at = k * ROWS_THREADS + threadIdx.x;
            const int64_t row = first_row + at;
            const float own_entry = row < n_rows ? diagonal[row] : 1;
            y[k] = row < n_rows ? own[k] + sums[at] * sell_half_unit(own_entry) / own_entry : (real)0;
        }
    }
