//@ rows      csr_vector
//@ source    Bell and Garland 2009, Implementing sparse matrix-vector multiplication on throughput-oriented processors (several threads a row)
//@ threads   256
//@ nodes     64
//@ argument  const int32_t *row_start    [n_rows + 1]
//@ argument  const int32_t *columns      [n_entries]
//@ argument  const real *values          [n_entries]
/* For matrices too small to fill a GPU with a thread a row: many blocks, and a row's entries are on their way at once. */
#define CSR_ROW_THREADS 8  /* threads of a row */
#define CSR_GROUP 4 /* entries in flight per thread */
//@ body
    {
        real *sums = (real *)shared;
        const int part = threadIdx.x % CSR_ROW_THREADS;
        for (int at = threadIdx.x / CSR_ROW_THREADS; at < ROWS_NODES; at += ROWS_THREADS / CSR_ROW_THREADS) {
            const int64_t row = first_row + at;
            const int32_t end = row < n_rows ? row_start[row + 1] : 0;
            RETURN_IF_DONE; /* behind a load: the answer came with it */
            real sum = 0;
            for (int32_t e = (row < n_rows ? row_start[row] : 0) + part; e < end; e += CSR_ROW_THREADS * CSR_GROUP) {
                int32_t column[CSR_GROUP];
                real entry[CSR_GROUP];
                UNROLL for (int i = 0; i < CSR_GROUP; ++i) {
                    const bool in = e + i * CSR_ROW_THREADS < end;
                    column[i] = in ? columns[e + i * CSR_ROW_THREADS] : (int32_t)row;
                    entry[i] = in ? values[e + i * CSR_ROW_THREADS] : (real)0;
                }
                UNROLL for (int i = 0; i < CSR_GROUP; ++i)
                    sum += entry[i] * LOAD(column[i]);
            }
            UNROLL for (int by = CSR_ROW_THREADS / 2; by > 0; by /= 2)
                sum += __shfl_down_sync(0xffffffffu, sum, by);
            if (part == 0)
                sums[at] = sum;
        }
        __syncthreads();
        UNROLL for (int k = 0; k < ROWS_PER_THREAD; ++k) {
            const int at = k * ROWS_THREADS + threadIdx.x;
            const int64_t row = first_row + at;
            const bool in = at < ROWS_NODES && row < n_rows;
            own[k] = in ? LOAD(row) : (real)0;
            y[k] = in ? sums[at] : (real)0;
        }
    }
