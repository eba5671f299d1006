/* Spans of vectors (fem/base/spans.h): entries first, first + step, ... of v and x, of which there are n. */
struct span_operation {
    double first, step, kind, has_x, a, b; /* kind: weft_span_change_kind, weft_span_sum_kind */
};

INLINE int64_t entry_of(const span_operation *o, int64_t i)
{
    return (int64_t)o->first + i * (int64_t)o->step;
}

/* Number i of the linear congruential generator of fem/base/spans.c: x -> factor x + step, i + 1 times, by squaring. */
INLINE double sample_of(uint64_t i)
{
    uint64_t seed = 1, factor = 6364136223846793005ull, step = 1442695040888963407ull;
    for (uint64_t count = i + 1; count > 0; count /= 2) {
        if (count % 2)
            seed = factor * seed + step;
        step *= factor + 1;
        factor *= factor;
    }
    const double size = 0.5 + (double)(seed >> 40) * (1.0 / 33554432.0);
    return seed >> 39 & 1 ? size : -size;
}

extern "C" __global__ void span_change(long long n, const span_operation *o, double *v, const double *x)
{
    const int64_t i = element();
    if (i >= n)
        return;
    const int64_t at = entry_of(o, i);
    const double own = v[at], other = o->has_x != 0 ? x[at] : 1.0;
    const int kind = (int)o->kind;
    v[at] = kind == 0   ? o->a
            : kind == 1 ? own + o->a * other
            : kind == 2 ? fmax(own, fabs(other))
            : kind == 3 ? (fabs(own) <= o->a * fmax(other, o->b) ? 0.0 : own)
                        : other * sample_of((uint64_t)o->a + (uint64_t)i);
}

/* The larger one; NaN if one of them is. */
INLINE double larger_of(double a, double b)
{
    return b > a || b != b ? b : a;
}

/* sums [blocks][3]: weft_span_sums */
extern "C" __global__ void span_sums(long long n, const span_operation *o, const double *v, const double *x,
                                     double *sums)
{
    double sum = 0, size = 0, most = 0;
    for (int64_t i = element(); i < n; i += (int64_t)gridDim.x * blockDim.x) {
        const int64_t at = entry_of(o, i);
        const double own = v[at], other = o->has_x != 0 ? x[at] : 1.0;
        const double value = o->kind == 0 ? own * other : own == 0 ? 0.0 : fabs(own) / fmax(other, o->b);
        sum += value;
        size += fabs(value);
        most = larger_of(most, fabs(value));
    }
    sum = block_sum(sum);
    size = block_sum(size);
    most = block_join(most, [](double a, double b) { return larger_of(a, b); });
    if (threadIdx.x > 0)
        return;
    sums[3 * blockIdx.x] = sum;
    sums[3 * blockIdx.x + 1] = size;
    sums[3 * blockIdx.x + 2] = most;
}
