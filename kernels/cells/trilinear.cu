/* The geometry of trilinear hexahedra on a GPU, from the coordinates of the vertices. The interface for lines of points
 * is that of geometry.cu. */
#define GEOMETRY_SIZE 25 /* numbers per cell, one more than used: no bank conflicts between cells */

/* By threads r of n of a cell, with a barrier before the second step. */
INLINE void geometry_load(int r, int n, const int32_t *vertices, const scalar *coordinates, scalar *g)
{
    for (int i = r; i < 24; i += n)
        g[i] = __ldg(coordinates + (int64_t)__ldg(vertices + i / 3) * 3 + i % 3);
}
/* Component c of the vertices v[8][3] becomes the coefficients of the trilinear map: those of the monomials 1, X, Y, XY,
 * Z, XZ, YZ, XYZ. */
INLINE void trilinear(scalar *v, int c)
{
    real g[8];
    UNROLL for (int i = 0; i < 8; ++i)
        g[i] = v[3 * i + c];
    UNROLL for (int bit = 1; bit < 8; bit *= 2)
        UNROLL for (int i = 0; i < 8; ++i)
            if (i & bit)
                g[i] -= g[i - bit];
    UNROLL for (int i = 0; i < 8; ++i)
        v[3 * i + c] = g[i];
}

INLINE void geometry_to_points(int r, int n, scalar *g)
{
    for (int c = r; c < 3; c += n)
        trilinear(g, c);
}

/* The geometry at all points with coordinate t of axis F = D + 2, as far as it does not depend on the other two: columns
 * D and E = D + 1 of the Jacobian are A0 + A1 s and B0 + A1 S, and their product is n0 + n1 S + n2 s, where S and s are
 * the coordinates of the axes D and E. */
template <int D> struct layer_geometry {
    real A0[3], A1[3], B0[3], n0[3], n1[3], n2[3], t;
    template <class List> __device__ __forceinline__ layer_geometry(List g, real at)
    {
        constexpr int d = 1 << D, e = 1 << (D + 1) % 3, f = 1 << (D + 2) % 3;
        t = at;
        UNROLL for (int c = 0; c < 3; ++c) {
            A0[c] = fma(g[3 * (d + f) + c], t, g[3 * d + c]);
            A1[c] = fma(g[21 + c], t, g[3 * (d + e) + c]);
            B0[c] = fma(g[3 * (e + f) + c], t, g[3 * e + c]);
        }
        cross(A0, B0, n0);
        cross(A0, A1, n1);
        cross(A1, B0, n2);
    }
};

/* The geometry along a line in direction D, whose other coordinates are s (of axis E = D + 1) and t (of axis F = D + 2):
 * the columns of the Jacobian J0 + J1 S, the determinant d0 + d1 S + d2 S^2 and the coordinates x0 + x1 S. */
template <int D> struct line {
    static constexpr int E = (D + 1) % 3, F = (D + 2) % 3;
    real J0[3][3], J1[3][3], x0[3], d[3];
    /* e, f: points of the axes E and F */
    template <class List>
    __device__ __forceinline__ line(List g, int e, int f) : line(layer_geometry<D>(g, points[f]), g, points[e])
    {
    }
    template <class List> __device__ __forceinline__ line(const layer_geometry<D> &layer, List g, real s)
    {
        constexpr int d1 = 1 << D, e = 1 << E, f = 1 << F;
        real m[3];
        UNROLL for (int c = 0; c < 3; ++c) {
            J0[D][c] = fma(layer.A1[c], s, layer.A0[c]);
            J0[E][c] = layer.B0[c];
            J1[E][c] = layer.A1[c];
            J0[F][c] = fma(g[3 * (e + f) + c], s, g[3 * f + c]);
            J1[F][c] = fma(g[21 + c], s, g[3 * (d1 + f) + c]);
            J1[D][c] = 0;
            if (COORDINATES)
                x0[c] = fma(J0[F][c], layer.t, fma(g[3 * e + c], s, g[c]));
            m[c] = fma(layer.n2[c], s, layer.n0[c]);
        }
        d[0] = dot(J0[F], m);
        d[1] = dot(J1[F], m) + dot(J0[F], layer.n1);
        d[2] = dot(J1[F], layer.n1);
    }
    __device__ __forceinline__ void at(int k, real w, const real *u, const real *uniform, real *f) const
    {
        const real S = points[k];
        real J[3][3], x[3];
        UNROLL for (int c = 0; c < 3; ++c) {
            UNROLL for (int i = 0; i < 3; ++i)
                J[i][c] = i == D ? J0[i][c] : fma(J1[i][c], S, J0[i][c]);
            x[c] = COORDINATES ? fma(J0[D][c], S, x0[c]) : (real)0;
        }
        point(J, fma(fma(d[2], S, d[1]), S, d[0]), x, w * weights[k], u, uniform, f);
    }
};
