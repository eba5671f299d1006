/* What the kernels of whole cells on a GPU share. forms/lower/action_text.c and action_gpu.c write what precedes this text:
 * DIMENSION, POINTS (per line), VALUES (numbers per function at a point), GEOMETRY_NODES (per line), COORDINATES and
 * JACOBIAN (whether the integrand has them), tables, and the function `point`, which is the integrand at a point. */
#define Q POINTS

#ifdef PREDICATED /* for loops: without effect when the loop has ended */
#define RETURN_IF_DONE if (*active == 0) return
CLEAR_KERNEL
{
    const int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i < n_elements && *active != 0)
        y[i] = 0;
}
#else
#define RETURN_IF_DONE (void)0
#endif

/* Named in each access, so that compilers see that it is shared memory. */
INLINE scalar *shared_values()
{
    extern __shared__ __align__(16) unsigned char shared[];
    return (scalar *)shared;
}

INLINE void cross(const real *a, const real *b, real *c)
{
    c[0] = fma(a[1], b[2], -(a[2] * b[1]));
    c[1] = fma(a[2], b[0], -(a[0] * b[2]));
    c[2] = fma(a[0], b[1], -(a[1] * b[0]));
}
INLINE real dot(const real *a, const real *b) { return fma(a[2], b[2], fma(a[1], b[1], a[0] * b[0])); }
