extern "C" __global__ void symmetric_diagonal(int64_t n_rows, const int64_t *patches,
                                              const double *values, double *d)
{
    const int64_t i = blockIdx.x * (int64_t)ROWS_NODES + threadIdx.x;
    if (i < n_rows)
        d[i] = values[patches[blockIdx.x * (int64_t)4] + threadIdx.x];
}

/* The product as a kernel of its own: y = A v, with nothing fused to it. */
extern "C" __global__ void __launch_bounds__(ROWS_BOUNDS) symmetric_product(
    int64_t n_rows, const int64_t *__restrict__ patches, const double *__restrict__ values,
    const uint16_t *__restrict__ columns, const int32_t *__restrict__ lists,
    const double *__restrict__ v, double *__restrict__ y_out)
{
    extern __shared__ __align__(16) unsigned char shared[];
    const int64_t first_row = blockIdx.x * (int64_t)ROWS_NODES;
    real own[ROWS_PER_THREAD], y[ROWS_PER_THREAD];
//@ body
    if (first_row + threadIdx.x < n_rows)
        y_out[first_row + threadIdx.x] = y[0];
}
