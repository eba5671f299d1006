//@ rows      sell
//@ source    Monakov, Lokhmotov and Avetisyan 2010 (sliced ELLPACK); Kreutzer et al. 2014 (rows sorted in windows)
//@ threads   256
//@ nodes     512
//@ argument  const real *values          the diagonal in order of rows, then the slices' entries [slice][k][lane]
//@ argument  const uint32_t *start       [blocks * 16 + 1] where the values of a slice begin
//@ argument  const uint32_t *columns     [slice][k][lane] columns, or [slice][k / 2][lane] pairs of codes
//@ argument  const uint32_t *column_start [blocks * 16 + 1] where the columns of a slice begin
//@ argument  const int32_t *bases        [block][lane] first columns that codes count from; negative: columns, not codes
//@ argument  const uint16_t *rows        [block][512] the row, within its block, of each lane of each slice
/* A slice is 32 rows of nearly equal length, a lane each: the rows of a block are sorted by length.
 * A code is 5 bits for one of the block's 32 bases and 11 bits to add to it, which spares 2 of 12
 * bytes. What is read once goes past the L1 cache, which is left to v. */
/* entries in flight per thread, 2 doubles or 4 floats: 32 registers, so that 2048 threads share a multiprocessor */
#define SELL_GROUP (int)(16 / sizeof(real))

INLINE uint32_t sell_word(const uint32_t *p)
{
    return __ldcs(p);
}

INLINE int32_t sell_decode(uint32_t code, int32_t base)
{
    return __shfl_sync(0xffffffffu, base, (int)(code >> 11)) + (int32_t)(code & 2047);
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
            const real *a = values + begin + lane;
            const uint32_t *c = columns + column_start[slice] + lane;
            const int row = rows[slice * LANES + lane];
            real sum = 0;
            for (int j = 0; j < n; j += SELL_GROUP) {
                int32_t column[SELL_GROUP];
                real entry[SELL_GROUP], x[SELL_GROUP];
                UNROLL for (int i = 0; i < SELL_GROUP; ++i)
                    entry[i] = j + i < n ? __ldcs(a + (j + i) * LANES) : (real)0;
                if (coded) {
                    UNROLL for (int i = 0; i < SELL_GROUP; i += 2) {
                        const uint32_t pair = j + i < n ? sell_word(c + (j + i) / 2 * LANES) : 0;
                        column[i] = sell_decode(pair & 0xffff, base);
                        column[i + 1] = sell_decode(pair >> 16, base);
                    }
                } else {
                    UNROLL for (int i = 0; i < SELL_GROUP; ++i)
                        column[i] = j + i < n ? (int32_t)sell_word(c + (j + i) * LANES) : 0;
                }
                UNROLL for (int i = 0; i < SELL_GROUP; ++i)
                    x[i] = j + i < n ? LOAD(column[i]) : (real)0;
                UNROLL for (int i = 0; i < SELL_GROUP; ++i)
                    sum += entry[i] * x[i];
            }
            sums[row] = sum;
        }
        __syncthreads();
        UNROLL for (int k = 0; k < ROWS_PER_THREAD; ++k) {
            const int at = k * ROWS_THREADS + threadIdx.x;
            const int64_t row = first_row + at;
            own[k] = row < n_rows ? LOAD(row) : (real)0;
            y[k] = row < n_rows ? sums[at] + values[row] * own[k] : (real)0;
        }
    }
