//@ What kernels over a product of two index sets (nested_host.h) need of a commutative operator of the library.
#ifndef @name@_nested
#define @name@_nested
INLINE void nested_clear_@name@(scalar *p, int64_t n)
{
    real one[@count@];
    start_@name@(one, @count@);
    for (int64_t i = 0; i < n; ++i)
        p[i] = one[i % @count@][0];
}
/* the lanes of a row's values combined, in all lanes */
INLINE void nested_close_@name@(real *v, const real *a, int components)
{
    scalar one[@count@];
    partial_@name@(one, a, components);
    load_uniform(v, one, components);
}
/* the values that begin at the numbers [first, first + LANES), of all parts, combined in order */
INLINE void nested_combine_@name@(scalar *result, const scalar *parts, int64_t n_parts, int64_t n, int64_t first)
{
    real a[@count@], v[@count@];
    for (int64_t i = first; i < first + LANES && i < n; ++i) {
        if (i % @count@ != 0)
            continue;
        start_@name@(a, @count@);
        for (int64_t part = 0; part < n_parts; ++part) {
            load_uniform(v, parts + part * n + i, @count@);
            both_@name@(a, v);
        }
        for (int c = 0; c < @count@; ++c)
            result[i + c] = a[c][0];
    }
}
#endif

