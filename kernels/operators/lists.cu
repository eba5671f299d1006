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

/* Means of two floats as doubles, times the root of square[0]; 0 where d is.  indices: [i / 32][2][i % 32] */
extern "C" __global__ void interpolate(long long n, const double *__restrict__ square,
                                       const int *__restrict__ indices, const float *__restrict__ d,
                                       const float *__restrict__ from, double *__restrict__ to)
{
    const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const int *pair = indices + i / 32 * 64 + i % 32;
    const double sum = (double)from[pair[0]] + (double)from[pair[32]];
    to[i] = d[i] > 0 ? 0.5 * sqrt(square[0]) * sum : 0.0;
}

extern "C" __global__ void to_double(long long n, const double *__restrict__ square,
                                     const float *__restrict__ from, double *__restrict__ to)
{
    const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i < n)
        to[i] = (double)from[i] * sqrt(square[0]);
}
