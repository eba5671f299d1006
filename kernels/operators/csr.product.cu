//@ rows      csr
//@ source    Saad 2003, section 3.4: compressed sparse rows, a thread a row
//@ threads   256
//@ nodes     512
//@ argument  const int64_t *row_start    [n_rows + 1]
//@ argument  const int32_t *columns      [n_entries]
//@ argument  const double *values        [n_entries]
//@ body
for (int k = 0; k < ROWS_PER_THREAD; ++k) {
    const int64_t row = first_row + k * ROWS_THREADS + threadIdx.x;
    own[k] = y[k] = 0;
    if (row >= n_rows)
        continue;
    own[k] = LOAD(row);
    for (int64_t e = row_start[row]; e < row_start[row + 1]; ++e)
        y[k] += values[e] * LOAD(columns[e]);
}
