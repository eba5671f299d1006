/* The geometry of quadrilaterals and hexahedra of any degree on a GPU. Coordinates of nodes become coefficients of
 * monomials along all axes but x, where they stay values at nodes: [z][y][component][x]. In three dimensions threads share
 * the next step, values and derivatives by x at the points of x, [x][value, derivative][z][y][component]. Each thread takes
 * from these what a line of points needs, and evaluates it there by Horner's rule. */
#define GEOMETRY_FACE (DIMENSION == 3 ? GEOMETRY_NODES * GEOMETRY_NODES : GEOMETRY_NODES) /* nodes with the same x */
#define GEOMETRY_ROWS (GEOMETRY_FACE * DIMENSION)
#define GEOMETRY_AT_X ((GEOMETRY_ROWS * GEOMETRY_NODES) | 1)
/* numbers per cell, odd: no bank conflicts between cells */
#define GEOMETRY_SIZE (GEOMETRY_AT_X + (DIMENSION == 3 ? Q * 2 * GEOMETRY_ROWS : 0))

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

/* A line of N values, `stride` numbers apart, in place. */
INLINE void to_monomials(real *v, int stride)
{
    real u[GEOMETRY_NODES];
    UNROLL for (int i = 0; i < GEOMETRY_NODES; ++i)
        u[i] = v[i * stride];
    UNROLL for (int m = 0; m < GEOMETRY_NODES; ++m) {
        real sum = geometry_power[m * GEOMETRY_NODES] * u[0];
        UNROLL for (int i = 1; i < GEOMETRY_NODES; ++i)
            sum = fma(geometry_power[m * GEOMETRY_NODES + i], u[i], sum);
        v[m * stride] = sum;
    }
}
/* By threads r of n of a cell. */
INLINE void geometry_load(int r, int n, const int32_t *vertices, const scalar *coordinates, scalar *g)
{
    constexpr int N = GEOMETRY_NODES;
    for (int i = r; i < N * DIMENSION; i += n) {
        const int x = i / DIMENSION, c = i % DIMENSION;
        real v[GEOMETRY_FACE];
        UNROLL for (int k = 0; k < GEOMETRY_FACE; ++k)
            v[k] = __ldg(coordinates + (int64_t)__ldg(vertices + k * N + x) * DIMENSION + c);
        UNROLL for (int k = 0; k < GEOMETRY_FACE; k += N)
            to_monomials(v + k, 1);
        if (DIMENSION == 3)
            UNROLL for (int k = 0; k < N; ++k)
                to_monomials(v + k, N);
        UNROLL for (int k = 0; k < GEOMETRY_FACE; ++k)
            g[(k * DIMENSION + c) * N + x] = v[k];
    }
}

/* The functions of the nodes of x at a point. */
struct nodes_of_x {
    real value[GEOMETRY_NODES], slope[GEOMETRY_NODES];
    __device__ __forceinline__ nodes_of_x(real t)
    {
        UNROLL for (int i = 0; i < GEOMETRY_NODES; ++i) {
            real c[GEOMETRY_NODES];
            UNROLL for (int m = 0; m < GEOMETRY_NODES; ++m)
                c[m] = geometry_power[m * GEOMETRY_NODES + i];
            value[i] = horner(c, t);
            slope[i] = horner_slope(c, t);
        }
    }
    __device__ __forceinline__ void at(const scalar *u, real &v, real &d) const
    {
        v = value[0] * u[0];
        d = slope[0] * u[0];
        UNROLL for (int i = 1; i < GEOMETRY_NODES; ++i) {
            v = fma(value[i], u[i], v);
            d = fma(slope[i], u[i], d);
        }
    }
};
/* Behind a barrier: the shared step, with the points of x by the fastest threads. */
INLINE void geometry_to_points(int r, int n, scalar *g)
{
    if (DIMENSION == 2)
        return;
    const int x = r % Q;
    const nodes_of_x own(points[x]);
    scalar *const to = g + GEOMETRY_AT_X + x * (2 * GEOMETRY_ROWS);
    for (int i = r / Q; i < GEOMETRY_ROWS; i += n / Q) {
        real v, d;
        own.at(g + i * GEOMETRY_NODES, v, d);
        to[i] = v;
        to[GEOMETRY_ROWS + i] = d;
    }
}

#define DETERMINANTS (DIMENSION == 3 && !JACOBIAN) /* columns of the Jacobian are not used */
#define DETERMINANT_SIZE (3 * GEOMETRY_NODES - 3)

/* The determinant of columns d, a, b along a line, d the derivative of v: sum_c d_c (a x b)_c as coefficients. */
template <int N>
INLINE void multiply_columns(const real (&v)[3][N], const real (&a)[3][N], const real (&b)[3][N],
                             real (&out)[3 * N - 3])
{
    UNROLL for (int i = 0; i < 3 * N - 3; ++i)
        out[i] = 0;
    UNROLL for (int c = 0; c < 3; ++c) {
        real n[2 * N - 1];
        UNROLL for (int i = 0; i < 2 * N - 1; ++i)
            n[i] = 0;
        UNROLL for (int i = 0; i < N; ++i)
            UNROLL for (int j = 0; j < N; ++j) {
                n[i + j] = fma(a[(c + 1) % 3][i], b[(c + 2) % 3][j], n[i + j]);
                n[i + j] = fma(-a[(c + 2) % 3][i], b[(c + 1) % 3][j], n[i + j]);
            }
        UNROLL for (int i = 0; i < N - 1; ++i)
            UNROLL for (int j = 0; j < 2 * N - 1; ++j)
                out[i + j] = fma((i + 1) * v[c][i + 1], n[j], out[i + j]);
    }
}

/* The geometry along a line in direction D, not x, at points e and f of the axes D + 1 and D + 2 (in two dimensions at
 * point e of x): coefficients of the coordinates and of their derivatives by the other axes, x and O. */
template <int D> struct line {
    static constexpr int N = GEOMETRY_NODES, O = 3 - D;
    static constexpr int OTHERS = DIMENSION == 3 ? N : 1; /* nodes along O */
    static constexpr int STEP = D == 1 ? DIMENSION : DIMENSION * N, OTHER = D == 1 ? DIMENSION * N : DIMENSION;
    real v[DIMENSION][N], by_x[DIMENSION][N], by_o[DIMENSION][N], determinants[DETERMINANT_SIZE];

    __device__ __forceinline__ line(const scalar *g, int e, int f)
    {
#if DIMENSION == 3
        const scalar *const at_x = g + GEOMETRY_AT_X + (D == 1 ? f : e) * (2 * GEOMETRY_ROWS);
        const real t = points[D == 1 ? e : f];
#else
        const nodes_of_x at_x(points[e]);
        const real t = 0;
#endif
        UNROLL for (int c = 0; c < DIMENSION; ++c)
            UNROLL for (int i = 0; i < N; ++i) {
                real values[OTHERS], slopes[OTHERS];
                UNROLL for (int k = 0; k < OTHERS; ++k) {
                    const int row = i * STEP + k * OTHER + c;
#if DIMENSION == 3
                    values[k] = at_x[row];
                    slopes[k] = at_x[GEOMETRY_ROWS + row];
#else
                    at_x.at(g + row * N, values[k], slopes[k]);
#endif
                }
                v[c][i] = horner(values, t);
                by_x[c][i] = horner(slopes, t);
                if (DIMENSION == 3)
                    by_o[c][i] = horner_slope(values, t);
            }
#if DETERMINANTS
        if (D == 1)
            multiply_columns(v, by_o, by_x, determinants);
        else
            multiply_columns(v, by_x, by_o, determinants);
#endif
    }
    __device__ __forceinline__ void at(int k, real w, const real *u, const real *uniform, real *f) const
    {
        const real S = points[k];
        real J[DIMENSION][DIMENSION], x[DIMENSION], determinant;
        UNROLL for (int c = 0; c < DIMENSION; ++c) {
            J[0][c] = horner(by_x[c], S);
            J[D][c] = horner_slope(v[c], S);
            if (DIMENSION == 3)
                J[O][c] = horner(by_o[c], S);
            x[c] = COORDINATES ? horner(v[c], S) : (real)0;
        }
#if DETERMINANTS
        determinant = horner(determinants, S);
#elif DIMENSION == 3
        real n[3];
        cross(J[1], J[2], n);
        determinant = dot(J[0], n);
#else
        determinant = fma(J[0][0], J[1][1], -(J[0][1] * J[1][0]));
#endif
        point(J, determinant, x, w * weights[k], u, uniform, f);
    }
};
