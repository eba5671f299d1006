//@ How values are joined by an operator of the library: one copy for each operator and shape. Lane 0 gets the lanes of a
//@ vector in their order, of neighbours first. fusion/codegen/combine.c has the values.
#ifndef @name@_written
#define @name@_written
/* a operator b, into a */
INLINE void both_@name@(real *a, const real *b)
{
    real r[@count@];
    {
@combine@
    }
    UNROLL for (int c = 0; c < @count@; ++c)
        a[c] = r[c];
}
INLINE void start_@name@(real *r, int components)
{
    (void)components;
@identity@
}
INLINE void lanes_@name@(real *a)
{
    UNROLL for (int by = 1; by < LANES; by *= 2) {
        real b[@count@];
        UNROLL for (int c = 0; c < @count@; ++c)
            UNROLL for (int l = 0; l < LANES; ++l)
                b[c][l] = a[c][(l + by) % LANES];
        both_@name@(a, b);
    }
}
INLINE void join_@name@(real *a, const real *v, int components, int lanes)
{
    real one[@count@];
    start_@name@(one, components);
    UNROLL for (int c = 0; c < @count@; ++c) {
        if (lanes == LANES)
            one[c] = v[c];
        else
            UNROLL for (int l = 0; l < LANES; ++l)
                if (l < lanes)
                    one[c][l] = v[c][l];
    }
    if (@ordered@)
        lanes_@name@(one);
    both_@name@(a, one);
}
INLINE void partial_@name@(scalar *p, const real *a, int components)
{
    real all[@count@];
    UNROLL for (int c = 0; c < @count@; ++c)
        all[c] = a[c];
    if (!@ordered@)
        lanes_@name@(all);
    for (int c = 0; c < components; ++c)
        p[c] = all[c][0];
}
INLINE void finish_@name@(scalar *result, scalar *p, int components, int64_t n)
{
    real a[@count@], b[@count@];
    for (int64_t step = 1; step < n; step *= 2)
        for (int64_t i = 0; i + step < n; i += 2 * step) {
            load_uniform(a, p + i * components, components);
            load_uniform(b, p + (i + step) * components, components);
            both_@name@(a, b);
            for (int c = 0; c < components; ++c)
                p[i * components + c] = a[c][0];
        }
    start_@name@(a, components);
    for (int c = 0; c < components; ++c)
        result[c] = n > 0 ? p[c] : a[c][0];
}
#endif

