/* The geometry of quadrilaterals and hexahedra of any degree on a GPU: coordinates of nodes are made coefficients of
 * monomials by the table geometry_power, [N][N], one axis after the other, and evaluated by Horner's rule. */
#define GEOMETRY_LINES (DIMENSION == 3 ? GEOMETRY_NODES * GEOMETRY_NODES : GEOMETRY_NODES)
/* numbers per cell, odd: no bank conflicts between cells */
#define GEOMETRY_SIZE (GEOMETRY_LINES * GEOMETRY_NODES * DIMENSION | 1)

/* A line of N values, `stride` numbers apart. */
INLINE void to_monomials(const real (&v)[GEOMETRY_NODES], scalar *out, int stride)
{
    UNROLL for (int m = 0; m < GEOMETRY_NODES; ++m) {
        real sum = geometry_power[m * GEOMETRY_NODES] * v[0];
        UNROLL for (int i = 1; i < GEOMETRY_NODES; ++i)
            sum = fma(geometry_power[m * GEOMETRY_NODES + i], v[i], sum);
        out[m * stride] = sum;
    }
}
/* By threads r of n of a cell, with barriers between the steps: lines along x, y and z. */
INLINE void geometry_load(int r, int n, const int32_t *vertices, const scalar *coordinates, scalar *g)
{
    for (int i = r; i < GEOMETRY_LINES * DIMENSION; i += n) {
        const int first = i / DIMENSION * GEOMETRY_NODES, c = i % DIMENSION;
        real v[GEOMETRY_NODES];
        UNROLL for (int k = 0; k < GEOMETRY_NODES; ++k)
            v[k] = __ldg(coordinates + (int64_t)__ldg(vertices + first + k) * DIMENSION + c);
        to_monomials(v, g + first * DIMENSION + c, DIMENSION);
    }
}
INLINE void geometry_axis(int r, int n, int stride, scalar *g)
{
    for (int i = r; i < GEOMETRY_LINES * DIMENSION; i += n) {
        scalar *const own = g + i / stride * stride * GEOMETRY_NODES + i % stride;
        real v[GEOMETRY_NODES];
        UNROLL for (int k = 0; k < GEOMETRY_NODES; ++k)
            v[k] = own[k * stride];
        to_monomials(v, own, stride);
    }
}
INLINE void geometry_first(int r, int n, scalar *g) { geometry_axis(r, n, GEOMETRY_NODES * DIMENSION, g); }
INLINE void geometry_second(int r, int n, scalar *g)
{
    if (DIMENSION == 3)
        geometry_axis(r, n, GEOMETRY_NODES * GEOMETRY_NODES * DIMENSION, g);
}
#define GEOMETRY_STEPS (DIMENSION - 1) /* behind the loads */

template <int N> INLINE real horner(const real (&c)[N], real t)
{
    real v = c[N - 1];
    UNROLL for (int i = N - 2; i >= 0; --i)
        v = fma(v, t, c[i]);
    return v;
}
template <int N> INLINE real horner_slope(const real (&c)[N], real t)
{
    real v = (N - 1) * c[N - 1];
    UNROLL for (int i = N - 2; i > 0; --i)
        v = fma(v, t, i * c[i]);
    return v;
}

/* Between coefficients of powers of the coordinate of an axis. */
template <int Axis> struct stride { static constexpr int value = GEOMETRY_NODES * stride<Axis - 1>::value; };
template <> struct stride<0> { static constexpr int value = DIMENSION; };

/* The geometry along a line in direction D, at points e and f of the axes E = D + 1 and F = D + 2 (in two dimensions e
 * alone): the coefficients of the coordinates and of their derivatives by the other axes. */
template <int D> struct line {
    static constexpr int N = GEOMETRY_NODES, E = (D + 1) % DIMENSION, F = (D + 2) % DIMENSION;
    static constexpr int PLANES = DIMENSION == 3 ? N : 1;
    static constexpr int BY_D = stride<D>::value, BY_E = stride<E>::value, BY_F = DIMENSION == 3 ? stride<F>::value : 0;
    real v[DIMENSION][N], by_e[DIMENSION][N], by_f[DIMENSION][N];

    __device__ __forceinline__ line(const scalar *g, int e, int f)
    {
        const real s = points[e], t = DIMENSION == 3 ? points[f] : (real)0;
        UNROLL for (int c = 0; c < DIMENSION; ++c)
            UNROLL for (int i = 0; i < N; ++i) {
                real values[PLANES], slopes[PLANES];
                UNROLL for (int k = 0; k < PLANES; ++k) {
                    real u[N];
                    UNROLL for (int j = 0; j < N; ++j)
                        u[j] = g[i * BY_D + j * BY_E + k * BY_F + c];
                    values[k] = horner(u, s);
                    slopes[k] = horner_slope(u, s);
                }
                v[c][i] = horner(values, t);
                by_e[c][i] = horner(slopes, t);
                if (DIMENSION == 3)
                    by_f[c][i] = horner_slope(values, t);
            }
    }
    __device__ __forceinline__ void at(int k, real w, const real *u, const real *uniform, real *f) const
    {
        const real S = points[k];
        real J[DIMENSION][DIMENSION], x[DIMENSION], determinant;
        UNROLL for (int c = 0; c < DIMENSION; ++c) {
            J[D][c] = horner_slope(v[c], S);
            J[E][c] = horner(by_e[c], S);
            if (DIMENSION == 3)
                J[F][c] = horner(by_f[c], S);
            x[c] = COORDINATES ? horner(v[c], S) : (real)0;
        }
#if DIMENSION == 3
        real n[3];
        cross(J[1], J[2], n);
        determinant = dot(J[0], n);
#else
        determinant = fma(J[0][0], J[1][1], -(J[0][1] * J[1][0]));
#endif
        point(J, determinant, x, w * weights[k], u, uniform, f);
    }
};
