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

/* to[i] = from[entries[i]], or 0 where that is -1 */
extern "C" __global__ void gather_entries(long long n, const int *__restrict__ entries,
                                          const double *__restrict__ from, double *__restrict__ to)
{
    const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i < n)
        to[i] = entries[i] >= 0 ? from[entries[i]] : 0.0;
}

/* Doubles as floats, divided by the root of square[0] and by a, 0 where these are not positive. */
extern "C" __global__ void to_single(long long n, const double *__restrict__ square,
                                     const double *__restrict__ from, const float *__restrict__ a,
                                     float *__restrict__ to)
{
    __shared__ double inverse;
    const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    const double value = i < n ? from[i] : 0; /* on their way while the root is taken */
    const float divisor = i < n ? a[i] : 0;
    if (threadIdx.x == 0)
        inverse = square[0] > 0 ? 1 / sqrt(square[0]) : 0.0;
    __syncthreads();
    if (i < n)
        to[i] = divisor > 0 ? (float)(value * inverse) / divisor : 0.0f;
}

/* Means of two floats as doubles, times the root of square[0]; 0 where a is not positive.  indices: [i / 32][2][i % 32] */
extern "C" __global__ void interpolate(long long n, const double *__restrict__ square,
                                       const int *__restrict__ indices, const float *__restrict__ a,
                                       const float *__restrict__ from, double *__restrict__ to)
{
    const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const int *pair = indices + i / 32 * 64 + i % 32;
    const double sum = (double)from[pair[0]] + (double)from[pair[32]];
    to[i] = a[i] > 0 ? 0.5 * sqrt(square[0]) * sum : 0.0;
}

/* Floats as doubles, times the root of square[0]. */
extern "C" __global__ void to_double(long long n, const double *__restrict__ square,
                                     const float *__restrict__ from, double *__restrict__ to)
{
    __shared__ double root;
    const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    const double value = i < n ? (double)from[i] : 0;
    if (threadIdx.x == 0)
        root = sqrt(square[0]);
    __syncthreads();
    if (i < n)
        to[i] = value * root;
}

extern "C" __global__ void narrow(long long n, const double *__restrict__ from, float *__restrict__ to)
{
    const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i < n)
        to[i] = (float)from[i];
}

extern "C" __global__ void widen(long long n, const float *__restrict__ from, double *__restrict__ to)
{
    const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i < n)
        to[i] = (double)from[i];
}

/* Doubles as floats, times factors[0] over the root of square[0], and the first step of a smoothing of them. */
extern "C" __global__ void start(long long n, const double *__restrict__ square, const double *__restrict__ factors,
                                 const double *__restrict__ from, const float *__restrict__ d, float *__restrict__ to,
                                 float *__restrict__ first)
{
    __shared__ double factor;
    const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    const double value = i < n ? from[i] : 0; /* on their way while the root is taken */
    const float inverse = i < n ? d[i] : 0;
    if (threadIdx.x == 0)
        factor = square[0] > 0 ? factors[0] / sqrt(square[0]) : 0.0;
    __syncthreads();
    if (i < n) {
        const float scaled = (float)(value * factor);
        to[i] = scaled;
        first[i] = (float)factors[1] * inverse * scaled;
    }
}
