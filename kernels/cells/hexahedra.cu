/* The action of a form on hexahedra by sum factorisation: POINTS x POINTS threads per cell hold lines of values in
 * registers and turn them through shared memory (Swirydowicz et al. 2019, Int. J. High Perform. Comput. Appl. 33).
 *
 *     LOAD -> lines along z, x, y to the points -> derivatives -> `point` -> the same transposed -> STORE
 *
 * forms/action/text.c writes what precedes this text: POINTS, CELLS (per thread block), RESIDENT (blocks per
 * multiprocessor), N_FIELDS, N_TESTS, N_VALUES and N_GRADIENTS (arrays of a cell), GRADIENTS (of any function), tables,
 * the structs field<F> and test<T>, and the function `point`, which is the integrand at a point. Contractions use that
 * points and nodes are symmetric: even and odd parts of a line are contracted apart, by half the operations
 * (Solomonoff 1992, J. Comput. Phys. 98). */
#define Q POINTS
#define HALF (Q / 2)
#define PLANE (Q * Q)
#define GEOMETRY 24

template <int N> struct number {
    static constexpr int value = N;
};
template <int F, int N, class Body> INLINE void each_from(Body body)
{
    if constexpr (F < N) {
        body(number<F>());
        each_from<F + 1, N>(body);
    }
}
#define EACH_FIELD each_from<0, N_FIELDS>([&](auto one) { using own = field<decltype(one)::value>; constexpr int F = decltype(one)::value; (void)F;
#define EACH_TEST each_from<0, N_TESTS>([&](auto one) { using own = test<decltype(one)::value>; constexpr int F = decltype(one)::value; (void)F;
#define EACH_END });

/* Where value (x, y, z) of an array stands: lines along any direction are read with as few bank conflicts as a search
 * found. SWAP: threads (a, b) of lines along x or y take the other two coordinates in the other order. */
template <int N> struct layout {
    static constexpr int plane = N * N + (N % 2 == 0 ? 5 : 0), size = (N - 1) * plane + N * N;
    static constexpr bool swap_x = N % 2 == 0, swap_y = false;
    static __device__ __forceinline__ int at(int x, int y, int z) { return x + N * y + plane * z; }
};
template <> struct layout<4> {
    static constexpr int size = 64;
    static constexpr bool swap_x = false, swap_y = false;
    static __device__ __forceinline__ int at(int x, int y, int z) { return 16 * z + 4 * (y ^ z) + (x ^ y); }
};
template <> struct layout<8> {
    static constexpr int size = 546;
    static constexpr bool swap_x = false, swap_y = true;
    static __device__ __forceinline__ int at(int x, int y, int z) { return x + 8 * y + (y >> 1) + 68 * z + 2 * (z >> 2); }
};
using L = layout<Q>;

/* From P nodes to the points, and its transpose. */
template <int P> INLINE void interpolate(const real (&u)[P], real (&v)[Q])
{
    using B = nodes<P>;
    constexpr int E = (P + 1) / 2, O = P / 2;
    real e[E], o[O + 1];
    UNROLL for (int i = 0; i < O; ++i) {
        e[i] = u[i] + u[P - 1 - i];
        o[i] = u[i] - u[P - 1 - i];
    }
    if (P % 2)
        e[O] = u[O];
    UNROLL for (int q = 0; q < (Q + 1) / 2; ++q) {
        real a = B::even(q * E) * e[0], b = 0;
        UNROLL for (int i = 1; i < E; ++i)
            a = fma(B::even(q * E + i), e[i], a);
        if (2 * q + 1 == Q) {
            v[q] = a;
            continue;
        }
        UNROLL for (int i = 0; i < O; ++i)
            b = i == 0 ? B::odd(q * E) * o[0] : fma(B::odd(q * E + i), o[i], b);
        v[q] = a + b;
        v[Q - 1 - q] = a - b;
    }
}
template <int P> INLINE void interpolate_transposed(const real (&v)[Q], real (&u)[P])
{
    using B = nodes<P>;
    constexpr int E = (P + 1) / 2, O = P / 2, R = (Q + 1) / 2;
    real e[R], o[HALF + 1];
    UNROLL for (int q = 0; q < HALF; ++q) {
        e[q] = v[q] + v[Q - 1 - q];
        o[q] = v[q] - v[Q - 1 - q];
    }
    if (Q % 2)
        e[HALF] = v[HALF];
    UNROLL for (int i = 0; i < E; ++i) {
        real a = B::even(i) * e[0], b = 0;
        UNROLL for (int q = 1; q < R; ++q)
            a = fma(B::even(q * E + i), e[q], a);
        if (2 * i + 1 == P) {
            u[i] = a;
            continue;
        }
        UNROLL for (int q = 0; q < HALF; ++q)
            b = q == 0 ? B::odd(i) * o[0] : fma(B::odd(q * E + i), o[q], b);
        u[i] = a + b;
        u[P - 1 - i] = a - b;
    }
}
/* The derivative of the polynomial through the values at the points, and its transpose, which is added. */
INLINE void differentiate(const real (&u)[Q], real (&d)[Q])
{
    constexpr int E = (Q + 1) / 2, O = HALF;
    real e[E], o[O + 1];
    UNROLL for (int i = 0; i < O; ++i) {
        e[i] = u[i] + u[Q - 1 - i];
        o[i] = u[i] - u[Q - 1 - i];
    }
    if (Q % 2)
        e[O] = u[O];
    UNROLL for (int q = 0; q < E; ++q) {
        real a = 0, b = 0;
        UNROLL for (int i = 0; i < O; ++i)
            b = i == 0 ? slope_odd[q * E] * o[0] : fma(slope_odd[q * E + i], o[i], b);
        if (2 * q + 1 == Q) {
            d[q] = b;
            continue;
        }
        UNROLL for (int i = 0; i < E; ++i)
            a = i == 0 ? slope_even[q * E] * e[0] : fma(slope_even[q * E + i], e[i], a);
        d[q] = b + a;
        d[Q - 1 - q] = b - a;
    }
}
INLINE void differentiate_transposed(const real (&f)[Q], real (&r)[Q])
{
    constexpr int E = (Q + 1) / 2, O = HALF;
    real e[E], o[O + 1];
    UNROLL for (int q = 0; q < O; ++q) {
        e[q] = f[q] + f[Q - 1 - q];
        o[q] = f[q] - f[Q - 1 - q];
    }
    if (Q % 2)
        e[O] = f[O];
    UNROLL for (int i = 0; i < E; ++i) {
        real a = 0, b = 0;
        UNROLL for (int q = 0; q < O; ++q)
            a = q == 0 ? slope_even[i] * o[0] : fma(slope_even[q * E + i], o[q], a);
        if (2 * i + 1 == Q) {
            r[i] += a;
            continue;
        }
        UNROLL for (int q = 0; q < E; ++q)
            b = q == 0 ? slope_odd[i] * e[0] : fma(slope_odd[q * E + i], e[q], b);
        r[i] += a + b;
        r[Q - 1 - i] += a - b;
    }
}

INLINE void cross(const real *a, const real *b, real *c)
{
    c[0] = fma(a[1], b[2], -(a[2] * b[1]));
    c[1] = fma(a[2], b[0], -(a[0] * b[2]));
    c[2] = fma(a[0], b[1], -(a[1] * b[0]));
}
INLINE real dot(const real *a, const real *b) { return fma(a[2], b[2], fma(a[1], b[1], a[0] * b[0])); }

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

/* The geometry along a line in direction D, whose other coordinates are s (of axis D + 1) and t (of axis D + 2): the
 * columns of the Jacobian J0 + J1 S, the determinant d0 + d1 S + d2 S^2 and the coordinates x0 + x1 S. */
template <int D> struct line {
    static constexpr int E = (D + 1) % 3, F = (D + 2) % 3;
    real J0[3][3], J1[3][3], x0[3], d[3];
    __device__ __forceinline__ line(const scalar *g, real s, real t)
    {
        constexpr int d1 = 1 << D, e = 1 << E, f = 1 << F;
        UNROLL for (int c = 0; c < 3; ++c) {
            const real all = g[21 + c];
            J0[D][c] = fma(fma(all, s, g[3 * (d1 + f) + c]), t, fma(g[3 * (d1 + e) + c], s, g[3 * d1 + c]));
            J0[E][c] = fma(g[3 * (e + f) + c], t, g[3 * e + c]);
            J1[E][c] = fma(all, t, g[3 * (d1 + e) + c]);
            J0[F][c] = fma(g[3 * (e + f) + c], s, g[3 * f + c]);
            J1[F][c] = fma(all, s, g[3 * (d1 + f) + c]);
            J1[D][c] = 0;
            x0[c] = fma(J0[F][c], t, fma(g[3 * e + c], s, g[c]));
        }
        real m[3], n[3];
        cross(J0[E], J0[F], m);
        d[0] = dot(J0[D], m);
        cross(J1[E], J1[F], m);
        d[2] = dot(J0[D], m);
        cross(J1[E], J0[F], m);
        cross(J0[E], J1[F], n);
        d[1] = dot(J0[D], m) + dot(J0[D], n);
    }
    __device__ __forceinline__ void at(int k, real w, const real *u, const real *uniform, real *f) const
    {
        const real S = points[k];
        real J[3][3], x[3];
        UNROLL for (int c = 0; c < 3; ++c) {
            UNROLL for (int i = 0; i < 3; ++i)
                J[i][c] = i == D ? J0[i][c] : fma(J1[i][c], S, J0[i][c]);
            x[c] = fma(J0[D][c], S, x0[c]);
        }
        point(J, fma(fma(d[2], S, d[1]), S, d[0]), x, w * weights[k], u, uniform, f);
    }
};

/* Between lines in different directions: a barrier for the threads of a cell. */
INLINE void turn()
{
    if (32 % PLANE == 0)
        __syncwarp();
    else
        __syncthreads();
}

#define ARRAY(i) (arrays + (i) * (CELLS * L::size))
#define SLOPE(slot, axis) ARRAY(N_VALUES + 2 * (slot) + (axis))

CELLS_KERNEL
{
    extern __shared__ __align__(16) unsigned char shared[];
    const int el = threadIdx.x / PLANE, r = threadIdx.x - el * PLANE, ty = r / Q, tx = r - ty * Q;
    scalar *const arrays = (scalar *)shared + el * L::size;
    scalar *const g = (scalar *)shared + (N_VALUES + 2 * N_GRADIENTS) * CELLS * L::size + el * GEOMETRY;
    const int64_t cell = blockIdx.x * (int64_t)CELLS + el;
    const bool on = cell < n_elements;
    const int xy = L::swap_x ? ty : tx, xz = L::swap_x ? tx : ty, yx = L::swap_y ? ty : tx, yz = L::swap_y ? tx : ty;
    real uniform[N_UNIFORM + 1];
    SOURCES
    if (on) {
        for (int i = r; i < 24; i += PLANE)
            g[i] = __ldg(coordinates + (int64_t)__ldg(vertices + cell * 8 + i / 3) * 3 + i % 3);
        LOAD_UNIFORM
        EACH_FIELD
            constexpr int P = own::n;
            if (tx < P && ty < P) {
                const int32_t *const map = dofs[own::source] + cell * (P * P * P) + ty * P + tx;
                real u[P], v[Q];
                int id[P];
                UNROLL for (int k = 0; k < P; ++k)
                    id[k] = __ldg(map + k * P * P);
                UNROLL for (int k = 0; k < P; ++k)
                    u[k] = __ldg(values[own::source] + (int64_t)id[k] * own::components + own::component);
                interpolate<P>(u, v);
                UNROLL for (int k = 0; k < Q; ++k)
                    ARRAY(F)[L::at(tx, ty, k)] = v[k];
            }
        EACH_END
    }
    turn();
    for (int c = r; c < 3; c += PLANE)
        trilinear(g, c);
    EACH_FIELD
        constexpr int P = own::n;
        if (xy < P) {
            real u[P], v[Q];
            UNROLL for (int k = 0; k < P; ++k)
                u[k] = ARRAY(F)[L::at(k, xy, xz)];
            interpolate<P>(u, v);
            UNROLL for (int k = 0; k < Q; ++k)
                ARRAY(F)[L::at(k, xy, xz)] = v[k];
        }
    EACH_END
    turn();
    if constexpr (!GRADIENTS) { /* the points of a line along y are not needed by other threads */
        real v[N_VALUES][Q];
        const line<1> own_line(g, points[yz], points[yx]);
        const real w = weights[yx] * weights[yz];
        EACH_FIELD
            constexpr int P = own::n;
            real u[P];
            UNROLL for (int k = 0; k < P; ++k)
                u[k] = ARRAY(F)[L::at(yx, k, yz)];
            interpolate<P>(u, v[F]);
        EACH_END
        UNROLL for (int k = 0; k < Q; ++k) {
            real u[4 * N_FIELDS + 1], f[4 * N_TESTS];
            UNROLL for (int i = 0; i < N_FIELDS; ++i)
                u[4 * i] = v[i][k];
            own_line.at(k, w, u, uniform, f);
            UNROLL for (int i = 0; i < N_TESTS; ++i)
                v[i][k] = f[4 * i];
        }
        EACH_TEST
            real u[TEST_NODES];
            interpolate_transposed<TEST_NODES>(v[F], u);
            UNROLL for (int k = 0; k < TEST_NODES; ++k)
                ARRAY(F)[L::at(yx, k, yz)] = u[k];
        EACH_END
    } else {
        EACH_FIELD
            constexpr int P = own::n;
            real u[P], v[Q];
            UNROLL for (int k = 0; k < P; ++k)
                u[k] = ARRAY(F)[L::at(yx, k, yz)];
            interpolate<P>(u, v);
            UNROLL for (int k = 0; k < Q; ++k)
                ARRAY(F)[L::at(yx, k, yz)] = v[k];
            if constexpr (own::slot >= 0) {
                real d[Q];
                differentiate(v, d);
                UNROLL for (int k = 0; k < Q; ++k)
                    SLOPE(own::slot, 1)[L::at(yx, k, yz)] = d[k];
            }
        EACH_END
        turn();
        EACH_FIELD
            if constexpr (own::slot >= 0) {
                real v[Q], d[Q];
                UNROLL for (int k = 0; k < Q; ++k)
                    v[k] = ARRAY(F)[L::at(k, xy, xz)];
                differentiate(v, d);
                UNROLL for (int k = 0; k < Q; ++k)
                    SLOPE(own::slot, 0)[L::at(k, xy, xz)] = d[k];
            }
        EACH_END
        turn();
        {
            real v[N_VALUES][Q], d[N_GRADIENTS + 1][Q];
            EACH_FIELD
                UNROLL for (int k = 0; k < Q; ++k)
                    v[F][k] = ARRAY(F)[L::at(tx, ty, k)];
                if constexpr (own::slot >= 0)
                    differentiate(v[F], d[own::slot]);
            EACH_END
            const line<2> own_line(g, points[tx], points[ty]);
            const real w = weights[tx] * weights[ty];
            UNROLL for (int k = 0; k < Q; ++k) {
                real u[4 * N_FIELDS + 1], f[4 * N_TESTS];
                const int l = L::at(tx, ty, k);
                EACH_FIELD
                    u[4 * F] = v[F][k];
                    if constexpr (own::slot >= 0) {
                        u[4 * F + 1] = SLOPE(own::slot, 0)[l];
                        u[4 * F + 2] = SLOPE(own::slot, 1)[l];
                        u[4 * F + 3] = d[own::slot][k];
                    }
                EACH_END
                own_line.at(k, w, u, uniform, f);
                EACH_TEST
                    v[F][k] = own::value ? f[4 * F] : (real)0;
                    if constexpr (own::slot >= 0) {
                        SLOPE(own::slot, 0)[l] = f[4 * F + 1];
                        SLOPE(own::slot, 1)[l] = f[4 * F + 2];
                        d[own::slot][k] = f[4 * F + 3];
                    }
                EACH_END
            }
            EACH_TEST
                if constexpr (own::slot >= 0)
                    differentiate_transposed(d[own::slot], v[F]);
                UNROLL for (int k = 0; k < Q; ++k)
                    ARRAY(F)[L::at(tx, ty, k)] = v[F][k];
            EACH_END
        }
        turn();
        EACH_TEST
            if constexpr (own::slot >= 0) {
                real v[Q], d[Q];
                UNROLL for (int k = 0; k < Q; ++k) {
                    d[k] = SLOPE(own::slot, 0)[L::at(k, xy, xz)];
                    v[k] = ARRAY(F)[L::at(k, xy, xz)];
                }
                differentiate_transposed(d, v);
                UNROLL for (int k = 0; k < Q; ++k)
                    ARRAY(F)[L::at(k, xy, xz)] = v[k];
            }
        EACH_END
        turn();
        EACH_TEST
            real v[Q], u[TEST_NODES];
            UNROLL for (int k = 0; k < Q; ++k)
                v[k] = ARRAY(F)[L::at(yx, k, yz)];
            if constexpr (own::slot >= 0) {
                real d[Q];
                UNROLL for (int k = 0; k < Q; ++k)
                    d[k] = SLOPE(own::slot, 1)[L::at(yx, k, yz)];
                differentiate_transposed(d, v);
            }
            interpolate_transposed<TEST_NODES>(v, u);
            UNROLL for (int k = 0; k < TEST_NODES; ++k)
                ARRAY(F)[L::at(yx, k, yz)] = u[k];
        EACH_END
    }
    turn();
    EACH_TEST
        if (xy < TEST_NODES) {
            real v[Q], u[TEST_NODES];
            UNROLL for (int k = 0; k < Q; ++k)
                v[k] = ARRAY(F)[L::at(k, xy, xz)];
            interpolate_transposed<TEST_NODES>(v, u);
            UNROLL for (int k = 0; k < TEST_NODES; ++k)
                ARRAY(F)[L::at(k, xy, xz)] = u[k];
        }
    EACH_END
    turn();
    EACH_TEST
        constexpr int P = TEST_NODES;
        if (on && tx < P && ty < P) {
            const int32_t *const map = test_dofs + cell * (P * P * P) + ty * P + tx;
            real u[P], v[Q];
            UNROLL for (int k = 0; k < Q; ++k)
                v[k] = ARRAY(F)[L::at(tx, ty, k)];
            interpolate_transposed<P>(v, u);
            UNROLL for (int k = 0; k < P; ++k)
                atomicAdd(y + (int64_t)__ldg(map + k * P * P) * TEST_COMPONENTS + own::component, u[k]);
        }
    EACH_END
}
