/* Values of lists and matrices. */

/* Bytes at given numbers become 1. */
extern "C" __global__ void set_flags(long long n, const int32_t *numbers, unsigned char *flags)
{
    const int64_t i = element();
    if (i < n)
        flags[numbers[i]] = 1;
}

/* A diagonal becomes its inverse, 0 where a dof is constrained. Entries that are not positive stay, and bad[0] gets
 * 2^31 - 1 - the first of them, or stays 0. */
extern "C" __global__ void invert_diagonal(long long n, const unsigned char *fixed, double *d, int32_t *bad)
{
    const int64_t i = element();
    if (i >= n)
        return;
    if (!fixed[i] && !(d[i] > 0))
        atomicMax(bad, (int32_t)(0x7fffffff - i));
    else
        d[i] = fixed[i] ? 0 : 1 / d[i];
}

/* A diagonal from its inverse, -1 where that is 0. */
extern "C" __global__ void diagonal(long long n, const double *inverse, float *to)
{
    const int64_t i = element();
    if (i < n)
        to[i] = inverse[i] > 0 ? (float)(1 / inverse[i]) : -1.0f;
}

/* An entry of a fixed pseudorandom vector, uniform in [-1, 1): SplitMix64 of the row. */
INLINE double random_entry(int64_t i)
{
    uint64_t z = ((uint64_t)i + 1) * 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    z ^= z >> 31;
    return (double)(int64_t)z * (1.0 / 9223372036854775808.0);
}

extern "C" __global__ void synthetic(long long n, double *v)
{
    const int64_t i = element();
    if (i < n)
        v[i] = random_entry(i);
}

/* sums [blocks]: of the list */
extern "C" __global__ void block_sums(long long n, const double *list, double *sums)
{
    const int64_t i = element();
    const double sum = block_sum(i < n ? list[i] : 0.0);
    if (threadIdx.x == 0)
        sums[blockIdx.x] = sum;
}

/* r = noise / sqrt(d) at free dofs, p = d r, and the sum of r p of each block. */
extern "C" __global__ void noise(long long n, const double *d, double *r, double *p, double *sums)
{
    const int64_t i = element();
    double product = 0;
    if (i < n) {
        r[i] = d[i] > 0 ? random_entry(i) / sqrt(d[i]) : 0;
        p[i] = d[i] * r[i];
        product = r[i] * p[i];
    }
    const double sum = block_sum(product);
    if (threadIdx.x == 0)
        sums[blockIdx.x] = sum;
}

/* The rows of free dofs in which y and f differ by more than far over the root of d, in each block. NaN differs. */
extern "C" __global__ void count_far(long long n, const double *d, const double *y, const float *f, const double *far,
                                     double *counts)
{
    const int64_t i = element();
    const bool is_far = i < n && d[i] > 0 && !(fabs(y[i] - (double)f[i]) * sqrt(d[i]) <= far[0]);
    const double count = block_sum(is_far ? 1.0 : 0.0);
    if (threadIdx.x == 0)
        counts[blockIdx.x] = count;
}

/* The values of a SELL matrix from those of its pattern, whose rows all have a diagonal entry.  n: rows */
extern "C" __global__ void sell_values(long long n, const int64_t *row_start, const int32_t *columns,
                                       const double *values, const uint16_t *slots, const uint32_t *start,
                                       double *out)
{
    const int64_t row = element();
    if (row >= n)
        return;
    const int slot = slots[row];
    int64_t at = (int64_t)start[row / 512 * 16 + slot / 32] + slot % 32;
    for (int64_t k = row_start[row]; k < row_start[row + 1]; ++k) {
        if (columns[k] == row) {
            out[row] = values[k];
            continue;
        }
        out[at] = values[k];
        at += 32;
    }
}

/* D^-1 A in CSR format, with starts of 32 bits; rows of the identity where the diagonal is not positive.  n: rows */
extern "C" __global__ void csr_scaled(long long n, const int64_t *row_start, const int32_t *columns,
                                      const double *values, const float *diagonal, int32_t *start, float *out)
{
    const int64_t row = element();
    if (row >= n)
        return;
    const bool is_row = diagonal[row] > 0;
    for (int64_t k = row_start[row]; k < row_start[row + 1]; ++k)
        out[k] = is_row ? (float)(values[k] / (double)diagonal[row]) : columns[k] == row ? 1.0f : 0.0f;
    start[row] = (int32_t)row_start[row];
    if (row + 1 == n)
        start[n] = (int32_t)row_start[n];
}

/* n: numbers */
extern "C" __global__ void number(long long n, uint32_t *numbers)
{
    const int64_t i = element();
    if (i < n)
        numbers[i] = (uint32_t)i;
}

/* The sum of the values of each list, in its order, from zero or from what is there.  n: lists */
INLINE void sum_list(long long n, const int64_t *start, const uint32_t *list, const double *values, double *out, bool adds)
{
    const int64_t i = element();
    if (i >= n)
        return;
    double sum = adds ? out[i] : 0;
    for (int64_t k = start[i]; k < start[i + 1]; ++k)
        sum += values[list[k]];
    out[i] = sum;
}

extern "C" __global__ void sum_lists(long long n, const int64_t *start, const uint32_t *list, const double *values,
                                     double *out)
{
    sum_list(n, start, list, values, out, false);
}

extern "C" __global__ void add_lists(long long n, const int64_t *start, const uint32_t *list, const double *values,
                                     double *out)
{
    sum_list(n, start, list, values, out, true);
}
