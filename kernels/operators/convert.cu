/* Lists of double as lists of float, divided by the root of square[0], and back. */
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
