/* Operations on lists that scripts cannot express: entries at given numbers, and conversion between
 * double and float. */

/* list[entries[i]] = value[0] */
extern "C" __global__ void set_entries(long long n, const int *__restrict__ entries,
                                       const double *__restrict__ value, double *__restrict__ list)
{
    const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i < n)
        list[entries[i]] = value[0];
}

/* Doubles as floats, divided by the root of square[0], and back. */
extern "C" __global__ void to_single(long long n, const double *__restrict__ square,
                                     const double *__restrict__ from, float *__restrict__ to)
{
    const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i < n)
        to[i] = square[0] > 0 ? (float)(from[i] / sqrt(square[0])) : 0.0f;
}

extern "C" __global__ void to_double(long long n, const double *__restrict__ square,
                                     const float *__restrict__ from, double *__restrict__ to)
{
    const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i < n)
        to[i] = (double)from[i] * sqrt(square[0]);
}
