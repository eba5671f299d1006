/* Spans of vectors (fem/base/spans.h).  span: first entry, step, and two numbers of the operation, a and b; n: entries */
struct span_numbers {
    double first, step, a, b;
};

/* The entry of the vector of a thread. */
INLINE int64_t entry_of(const span_numbers *span, int64_t i)
{
    return (int64_t)span->first + i * (int64_t)span->step;
}

/* v = a */
extern "C" __global__ void span_set(long long n, const span_numbers *span, double *v)
{
    const int64_t i = element();
    if (i < n)
        v[entry_of(span, i)] = span->a;
}

/* v = v + a */
extern "C" __global__ void span_shift(long long n, const span_numbers *span, double *v)
{
    const int64_t i = element();
    if (i < n)
        v[entry_of(span, i)] += span->a;
}

/* v = v + a x */
extern "C" __global__ void span_add(long long n, const span_numbers *span, double *v, const double *x)
{
    const int64_t i = element();
    if (i >= n)
        return;
    const int64_t at = entry_of(span, i);
    v[at] += span->a * x[at];
}

/* v = max(v, |x|) */
extern "C" __global__ void span_raise(long long n, const span_numbers *span, double *v, const double *x)
{
    const int64_t i = element();
    if (i >= n)
        return;
    const int64_t at = entry_of(span, i);
    v[at] = fmax(v[at], fabs(x[at]));
}

/* v = 0 where |v| <= a max(sizes, b) */
extern "C" __global__ void span_drop(long long n, const span_numbers *span, double *v, const double *sizes)
{
    const int64_t i = element();
    if (i >= n)
        return;
    const int64_t at = entry_of(span, i);
    if (fabs(v[at]) <= span->a * fmax(sizes[at], span->b))
        v[at] = 0;
}

/* v = mask s, s of the linear congruential generator of fem/base/spans.c from number a on; b: 0 without a mask */
extern "C" __global__ void span_sample(long long n, const span_numbers *span, double *v, const double *mask)
{
    const int64_t i = element();
    if (i >= n)
        return;
    const int64_t at = entry_of(span, i);
    uint64_t seed = 1, factor = 6364136223846793005ull, step = 1442695040888963407ull;
    for (uint64_t count = (uint64_t)span->a + (uint64_t)i + 1; count > 0; count /= 2) {
        if (count % 2)
            seed = factor * seed + step;
        step *= factor + 1;
        factor *= factor;
    }
    const double size = 0.5 + (double)(seed >> 40) * (1.0 / 33554432.0);
    v[at] = (span->b != 0 ? mask[at] : 1.0) * (seed >> 39 & 1 ? size : -size);
}

/* v[entries] = values, or 0 if a is 0 */
extern "C" __global__ void span_put(long long n, const span_numbers *span, double *v, const int32_t *entries,
                                    const double *values)
{
    const int64_t i = element();
    if (i < n)
        v[entries[i]] = span->a != 0 ? values[i] : 0.0;
}

/* ---- numbers -------------------------------------------------------------------------------- */

/* The larger one; NaN if one of them is. */
INLINE double larger_of(double a, double b)
{
    return b > a || b != b ? b : a;
}

/* The largest number of the threads of the block, for its first thread. */
INLINE double block_most(double mine)
{
    __shared__ double parts[SETUP_THREADS];
    const int me = (int)threadIdx.x;
    parts[me] = mine;
    for (int by = SETUP_THREADS / 2; by > 0; by /= 2) {
        __syncthreads();
        if (me < by)
            parts[me] = larger_of(parts[me], parts[me + by]);
    }
    return parts[0];
}

/* sums [blocks][3]: sum, sum of sizes and largest size of the values
 *     a = 0: v        a = 1: v x        a = 2: |v| / max(x, b), 0 where v is 0 */
extern "C" __global__ void span_sums(long long n, const span_numbers *span, const double *v, const double *x,
                                     double *sums)
{
    double sum = 0, size = 0, most = 0;
    const int kind = (int)span->a;
    for (int64_t i = element(); i < n; i += (int64_t)gridDim.x * blockDim.x) {
        const int64_t at = entry_of(span, i);
        double value = v[at];
        if (kind == 1)
            value *= x[at];
        if (kind == 2 && value != 0)
            value = fabs(value) / fmax(x[at], span->b);
        sum += value;
        size += fabs(value);
        most = larger_of(most, fabs(value));
    }
    sum = block_sum(sum);
    size = block_sum(size);
    most = block_most(most);
    if (threadIdx.x > 0)
        return;
    sums[3 * blockIdx.x] = sum;
    sums[3 * blockIdx.x + 1] = size;
    sums[3 * blockIdx.x + 2] = most;
}
