//@ rows      sell_half
//@ source    sliced ELLPACK as in sell.product.cu; numbers of IEEE 754 binary16
//@ threads   256
//@ nodes     512
//@ argument  const float *diagonal     in order of rows, not positive where a row has no other entries
//@ argument  const uint32_t *values    [slice][k / 2][lane] pairs of halves, in units of 2^(e - 7), e the exponent of the diagonal
//@ argument  const uint32_t *start     of single entries, [blocks * 16 + 1], as in sell.product.cu
//@ argument  const uint32_t *columns   [slice][k][lane] columns, or [slice][k / 2][lane] pairs of codes
//@ argument  const uint32_t *column_start [blocks * 16 + 1] where the columns of a slice begin
//@ argument  const int32_t *bases      [block][lane] first columns that codes count from; negative: columns, not codes
//@ argument  const uint16_t *rows      [block][512] the row, within its block, of each lane of each slice
/* y = D^-1 A v for a sell matrix A whose entries off the diagonal have 16 bits, D its diagonal. */
#define SELL_HALF_GROUP 4   /* entries in flight per thread */
#define SELL_HALF_AHEAD 792 /* blocks: as many as run at once */

INLINE uint32_t sell_half_word(const uint32_t *p)
{
    return __ldcs(p);
}

INLINE int32_t sell_half_decode(uint32_t code, int32_t base)
{
    return __shfl_sync(0xffffffffu, base, (int)(code >> 11)) + (int32_t)(code & 2047);
}

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

/* The words of entries j, ... of a row of n: pairs of halves, and pairs of codes, or columns. */
INLINE void sell_half_fetch(const uint32_t *a, const uint32_t *c, bool coded, int j, int n,
                            uint32_t pair[SELL_HALF_GROUP / 2], uint32_t code[SELL_HALF_GROUP])
{
    UNROLL for (int i = 0; i < SELL_HALF_GROUP / 2; ++i) {
        pair[i] = j + 2 * i < n ? sell_half_word(a + (j / 2 + i) * LANES) : 0;
        if (coded)
            code[i] = j + 2 * i < n ? sell_half_word(c + (j / 2 + i) * LANES) : 0;
    }
    if (!coded) {
        UNROLL for (int i = 0; i < SELL_HALF_GROUP; ++i)
            code[i] = j + i < n ? sell_half_word(c + (j + i) * LANES) : 0;
    }
}

/* The words of a block that starts when this one has ended: into the L2 cache, so that reading them waits less. */
INLINE void sell_half_ahead(const uint32_t *start, const uint32_t *column_start, const uint32_t *values,
                            const uint32_t *columns)
{
    const int64_t block = blockIdx.x + (int64_t)SELL_HALF_AHEAD, slices = ROWS_NODES / LANES;
    if (block >= gridDim.x)
        return;
    const uint32_t first = start[block * slices], last = start[(block + 1) * slices];
    const uint32_t code = column_start[block * slices], end = column_start[(block + 1) * slices];
    const int64_t offset = ((int64_t)first - (int64_t)gridDim.x * ROWS_NODES) / 2 + block * (ROWS_NODES / 2);
    fetch_words(values + offset, (last - first) / 2 + ROWS_NODES / 2);
    fetch_words(columns + code, end - code);
}

/* What a row's halves are multiplied by: 2^(e - 7), e the exponent of its entry on the diagonal. */
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
        real *sums = (real *)shared;
        const int lane = threadIdx.x % LANES, warp = threadIdx.x / LANES, warps = ROWS_THREADS / LANES;
        const int32_t base = bases[blockIdx.x * (int64_t)LANES + lane];
        const bool coded = __shfl_sync(0xffffffffu, base, 0) >= 0;
        RETURN_IF_DONE; /* behind a load: the answer came with it */
        UNROLL for (int k = 0; k < ROWS_PER_THREAD; ++k) {
            /* back and forth, for slices come longest first */
            const int number = k * warps + (k % 2 ? warps - 1 - warp : warp);
            const int64_t slice = blockIdx.x * (int64_t)(ROWS_NODES / LANES) + number;
            const uint32_t begin = start[slice];
            const int n = (int)((start[slice + 1] - begin) / LANES);
            const uint32_t *a = values + (begin - gridDim.x * ROWS_NODES) / 2 + slice * (LANES / 2) + lane;
            const uint32_t *c = columns + column_start[slice] + lane;
            const int row = rows[slice * LANES + lane];
            real sum = 0;
            uint32_t pair[SELL_HALF_GROUP / 2], code[SELL_HALF_GROUP];
            sell_half_fetch(a, c, coded, 0, n, pair, code);
            for (int j = 0; j < n; j += SELL_HALF_GROUP) {
                uint32_t now[SELL_HALF_GROUP / 2];
                int32_t column[SELL_HALF_GROUP];
                real x[SELL_HALF_GROUP];
                UNROLL for (int i = 0; i < SELL_HALF_GROUP / 2; ++i)
                    now[i] = pair[i];
                if (coded) {
                    UNROLL for (int i = 0; i < SELL_HALF_GROUP; ++i)
                        column[i] = sell_half_decode(code[i / 2] >> i % 2 * 16 & 0xffff, base);
                } else {
                    UNROLL for (int i = 0; i < SELL_HALF_GROUP; ++i)
                        column[i] = (int32_t)code[i];
                }
                if (j + SELL_HALF_GROUP < n) /* the next words are on their way while these are gathered */
                    sell_half_fetch(a, c, coded, j + SELL_HALF_GROUP, n, pair, code);
                UNROLL for (int i = 0; i < SELL_HALF_GROUP; ++i)
                    x[i] = j + i < n ? LOAD(column[i]) : (real)0;
                UNROLL for (int i = 0; i < SELL_HALF_GROUP; ++i)
                    sum += sell_half_value(now[i / 2] >> i % 2 * 16) * x[i];
            }
            sums[row] = sum;
        }
        sell_half_ahead(start, column_start, values, columns);
        __syncthreads();
        UNROLL for (int k = 0; k < ROWS_PER_THREAD; ++k) {
            const int at = k * ROWS_THREADS + threadIdx.x;
            const int64_t row = first_row + at;
            const float own_entry = row < n_rows ? diagonal[row] : 0;
            own[k] = row < n_rows ? LOAD(row) : (real)0;
            y[k] = row < n_rows ? own[k] + sums[at] * sell_half_unit(own_entry) / own_entry : (real)0;
        }
    }
