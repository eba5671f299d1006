//@ Kernels over a product of two index sets, for the host: a matrix is stored row by row, and the LANES elements of
//@ a vector are neighbours in a row.
/* v = element (row, j), ..., (row, j + LANES - 1); lanes past the end of the row repeat its last element */
INLINE void nested_load(real *v, const scalar *p, int components, int64_t row, int64_t j, int64_t n)
{
    load_plain(v, p, components, row * n + j, (row + 1) * n);
}
INLINE void nested_store(scalar *p, const real *v, int components, int64_t row, int64_t j, int64_t n, int lanes)
{
    (void)lanes;
    store_plain(p, v, components, row * n + j, (row + 1) * n);
}
/* one element, in all lanes */
INLINE void nested_load_one(real *v, const scalar *p, int components, int64_t i)
{
    load_uniform(v, p + i * components, components);
}
INLINE void nested_store_one(scalar *p, const real *v, int components, int64_t i)
{
    for (int c = 0; c < components; ++c)
        p[i * components + c] = v[c][0];
}

//@ each name; neutral
//@ add; 0
//@ multiply; 1
//@ min; __builtin_inf()
//@ max; -__builtin_inf()
/* the neutral element into n numbers */
INLINE void nested_clear_@name@(scalar *p, int64_t n)
{
    for (int64_t i = 0; i < n; ++i)
        p[i] = (scalar)@neutral@;
}
/* the lanes of a row's sum combined, in all lanes */
INLINE void nested_close_@name@(real *v, const real *a, int components)
{
    for (int c = 0; c < components; ++c) {
        scalar one;
        partial_@name@(&one, a + c, 1);
        v[c] = SPLAT(one);
    }
}
/* n numbers of each of n_parts parts combined in order: lanes [first, first + LANES) */
INLINE void nested_combine_@name@(scalar *result, const scalar *parts, int64_t n_parts, int64_t n, int64_t first)
{
    real a[1], v[1];
    start_@name@(a, 1);
    for (int64_t part = 0; part < n_parts; ++part) {
        load_plain(v, parts + part * n, 1, first, n);
        a[0] = both_lanes_@name@(a[0], v[0]);
    }
    store_plain(result, a, 1, first, n);
}

//@ end
