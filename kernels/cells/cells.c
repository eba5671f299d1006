/* The action of a form on quadrilaterals and hexahedra by sum factorisation on the host: LANES cells at a time, one per
 * lane, with the stages of lines.cu, which says what precedes this text and how even and odd parts of a line are
 * contracted. The geometry is evaluated as in geometry.cu. */
#define Q POINTS
#define G GEOMETRY_NODES /* of a line */
#define HALF (Q / 2)
#define POWER(n) (DIMENSION == 3 ? (n) * (n) * (n) : (n) * (n))
#define FACE(n) (POWER(n) / (n))
#define VOLUME POWER(Q)
#define LINE 28 /* at least the points and the nodes of a line */

/* Lines of `n` values with the stride `s` at u to the points, with the stride t at v. In place where u == v and s == t:
 * a line is read before it is written. */
INLINE void interpolate(int n, const scalar *even, const scalar *odd, const real *u, int s, real *v, int t)
{
    const int E = (n + 1) / 2, O = n / 2;
    real e[LINE / 2], o[LINE / 2];
    UNROLL for (int i = 0; i < O; ++i) {
        e[i] = u[i * s] + u[(n - 1 - i) * s];
        o[i] = u[i * s] - u[(n - 1 - i) * s];
    }
    if (n % 2)
        e[O] = u[O * s];
    UNROLL for (int q = 0; q < (Q + 1) / 2; ++q) {
        real a = even[q * E] * e[0], b = {0};
        UNROLL for (int i = 1; i < E; ++i)
            a += even[q * E + i] * e[i];
        UNROLL for (int i = 0; i < O; ++i)
            b += odd[q * E + i] * o[i];
        v[(Q - 1 - q) * t] = a - b;
        v[q * t] = a + b;
    }
}
INLINE void interpolate_transposed(int n, const scalar *even, const scalar *odd, const real *v, int s, real *u, int t)
{
    const int E = (n + 1) / 2, O = n / 2;
    real e[LINE / 2], o[LINE / 2];
    UNROLL for (int q = 0; q < HALF; ++q) {
        e[q] = v[q * s] + v[(Q - 1 - q) * s];
        o[q] = v[q * s] - v[(Q - 1 - q) * s];
    }
    if (Q % 2)
        e[HALF] = v[HALF * s];
    UNROLL for (int i = 0; i < E; ++i) {
        real a = even[i] * e[0], b = {0};
        UNROLL for (int q = 1; q < (Q + 1) / 2; ++q)
            a += even[q * E + i] * e[q];
        UNROLL for (int q = 0; q < HALF; ++q)
            b += odd[q * E + i] * o[q];
        u[(n - 1 - i) * t] = a - b;
        u[i * t] = a + b;
    }
}
INLINE void differentiate(const real *u, int s, real *d, int t)
{
    const int E = (Q + 1) / 2, O = HALF;
    real e[LINE / 2], o[LINE / 2];
    UNROLL for (int i = 0; i < O; ++i) {
        e[i] = u[i * s] + u[(Q - 1 - i) * s];
        o[i] = u[i * s] - u[(Q - 1 - i) * s];
    }
    if (Q % 2)
        e[O] = u[O * s];
    UNROLL for (int q = 0; q < E; ++q) {
        real a = {0}, b = {0};
        UNROLL for (int i = 0; i < O; ++i)
            b += slope_odd[q * E + i] * o[i];
        UNROLL for (int i = 0; i < E; ++i)
            a += slope_even[q * E + i] * e[i];
        d[(Q - 1 - q) * t] = b - a;
        d[q * t] = b + a;
    }
}
INLINE void differentiate_transposed(const real *f, int s, real *r, int t)
{
    const int E = (Q + 1) / 2, O = HALF;
    real e[LINE / 2], o[LINE / 2];
    UNROLL for (int q = 0; q < O; ++q) {
        e[q] = f[q * s] + f[(Q - 1 - q) * s];
        o[q] = f[q * s] - f[(Q - 1 - q) * s];
    }
    if (Q % 2)
        e[O] = f[O * s];
    UNROLL for (int i = 0; i < O; ++i) {
        real a = {0}, b = {0};
        UNROLL for (int q = 0; q < O; ++q)
            a += slope_even[q * E + i] * o[q];
        UNROLL for (int q = 0; q < E; ++q)
            b += slope_odd[q * E + i] * e[q];
        r[i * t] += a + b;
        r[(Q - 1 - i) * t] += a - b;
    }
    UNROLL for (int q = 0; q < O && Q % 2; ++q)
        r[O * t] += slope_even[q * E + O] * o[q];
}

/* Coordinates of nodes become coefficients of monomials, along lines with this stride. */
INLINE void to_monomials(int stride, real *g)
{
    for (int j = 0; j < POWER(G) * DIMENSION; j += stride * G)
        for (int i = j; i < j + stride; ++i) {
            real v[G];
            UNROLL for (int k = 0; k < G; ++k)
                v[k] = g[i + k * stride];
            UNROLL for (int m = 0; m < G; ++m) {
                real sum = geometry_power[m * G] * v[0];
                UNROLL for (int k = 1; k < G; ++k)
                    sum += geometry_power[m * G + k] * v[k];
                g[i + m * stride] = sum;
            }
        }
}
/* Evaluate the last axis of `count` arrays [G][inner] of coefficients at t: the value of the first array, its
 * derivative, the values of the others. */
INLINE void contract(scalar t, int count, int inner, const real *in, real *out)
{
    UNROLL for (int i = 0; i < inner; ++i) {
        real slope = (scalar)(G - 1) * in[(G - 1) * inner + i];
        UNROLL for (int k = G - 2; k > 0; --k)
            slope = slope * t + (scalar)k * in[k * inner + i];
        out[inner + i] = slope;
    }
    UNROLL for (int a = 0; a < count; ++a)
        UNROLL for (int i = 0; i < inner; ++i) {
            real value = in[(a * G + G - 1) * inner + i];
            UNROLL for (int k = G - 2; k >= 0; --k)
                value = value * t + in[(a * G + k) * inner + i];
            out[(a > 0 ? a + 1 : 0) * inner + i] = value;
        }
}

/* The integrand at point i of a row of the geometry: coordinates and derivatives by the other axes as polynomials in x. */
INLINE void integrand(const real *row, int i, scalar weight, const real *u, const real *uniform, real *f)
{
    real x[VALUES][DIMENSION], determinant = {0};
    contract(points[i], DIMENSION, DIMENSION, row, x[0]);
    real (*const J)[DIMENSION] = x + 1;
#if DIMENSION == 3
    UNROLL for (int c = 0; c < 3; ++c)
        determinant += J[0][c] * (J[1][(c + 1) % 3] * J[2][(c + 2) % 3] - J[1][(c + 2) % 3] * J[2][(c + 1) % 3]);
#else
    determinant = J[0][0] * J[1][1] - J[0][1] * J[1][0];
#endif
    point(J, determinant, x[0], SPLAT(weight * weights[i]), u, uniform, f);
}

/* [n]..[n] in s, at the end [Q]..[Q] in a, and its transpose; s and t are scratch. */
INLINE void to_points(int n, const scalar *even, const scalar *odd, real *s, real *t, real *a)
{
    for (int j = 0; j < FACE(n); ++j)
        interpolate(n, even, odd, s + j, FACE(n), t + j, FACE(n));
    for (int k = 0; k < Q && DIMENSION == 3; ++k)
        for (int i = 0; i < n; ++i)
            interpolate(n, even, odd, t + k * n * n + i, n, s + k * Q * n + i, n);
    const real *const rows = DIMENSION == 3 ? s : t;
    for (int k = 0; k < FACE(Q); ++k)
        interpolate(n, even, odd, rows + k * n, 1, a + k * Q, 1);
}
INLINE void from_points(int n, const scalar *even, const scalar *odd, const real *a, real *t, real *s)
{
    real *const rows = DIMENSION == 3 ? s : t;
    for (int k = 0; k < FACE(Q); ++k)
        interpolate_transposed(n, even, odd, a + k * Q, 1, rows + k * n, 1);
    for (int k = 0; k < Q && DIMENSION == 3; ++k)
        for (int i = 0; i < n; ++i)
            interpolate_transposed(n, even, odd, s + k * Q * n + i, n, t + k * n * n + i, n);
    for (int j = 0; j < FACE(n); ++j)
        interpolate_transposed(n, even, odd, t + j, FACE(n), s + j, FACE(n));
}
#define LINES(n)                                                                                               \
    static __attribute__((noinline)) void to_points_##n(real *s, real *t, real *a)                             \
    {                                                                                                          \
        to_points(n, even_##n, odd_##n, s, t, a);                                                              \
    }                                                                                                          \
    static __attribute__((noinline)) void from_points_##n(const real *a, real *t, real *s)                     \
    {                                                                                                          \
        from_points(n, even_##n, odd_##n, a, t, s);                                                            \
    }
NODES(LINES)

/* Lines of all points along the axis with this stride. */
INLINE void differentiate_along(int stride, const real *a, real *d)
{
    for (int k = 0; k < VOLUME; k += stride * Q)
        for (int i = k; i < k + stride; ++i)
            differentiate(a + i, stride, d + i, stride);
}
INLINE void differentiate_along_transposed(int stride, const real *d, real *a)
{
    for (int k = 0; k < VOLUME; k += stride * Q)
        for (int i = k; i < k + stride; ++i)
            differentiate_transposed(d + i, stride, a + i, stride);
}
static __attribute__((noinline)) void slopes(const real *a, real (*d)[VOLUME])
{
    differentiate_along(1, a, d[0]);
    differentiate_along(Q, a, d[1]);
    if (DIMENSION == 3)
        differentiate_along(Q * Q, a, d[DIMENSION - 1]);
}
static __attribute__((noinline)) void slopes_transposed(real (*d)[VOLUME], real *a)
{
    if (DIMENSION == 3)
        differentiate_along_transposed(Q * Q, d[DIMENSION - 1], a);
    differentiate_along_transposed(Q, d[1], a);
    differentiate_along_transposed(1, d[0], a);
}

static __attribute__((noinline)) void load_nodes(int n, int components, const int32_t *const *map, const scalar *values,
                                                 real *s)
{
    for (int i = 0; i < POWER(n); ++i)
        UNROLL for (int l = 0; l < LANES; ++l)
            s[i][l] = values[(int64_t)map[l][i] * components];
}

void KERNEL_NAME(void *const *arguments, int64_t n_elements, int64_t first_block, int64_t last_block)
{
    enum { LARGEST = MOST_NODES > Q ? MOST_NODES : Q, BUFFER = POWER(LARGEST), ROW = G * DIMENSION };
    real s[BUFFER], t[BUFFER], a[N_VALUES][VOLUME], d[N_GRADIENTS + 1][DIMENSION][VOLUME], uniform[N_UNIFORM + 1];
    const int32_t *map[LANES];
    ARGUMENTS
    for (int64_t block = first_block; block < last_block; ++block) {
        const int64_t first = block * LANES;
        const int lanes = n_elements - first < LANES ? (int)(n_elements - first) : LANES;
        int64_t cells[LANES];
        real g[POWER(G) * DIMENSION];
        for (int l = 0; l < LANES; ++l)
            cells[l] = first + (l < lanes ? l : lanes - 1);
        for (int i = 0; i < POWER(G); ++i)
            UNROLL for (int l = 0; l < LANES; ++l)
                for (int c = 0; c < DIMENSION; ++c)
                    g[i * DIMENSION + c][l] =
                        coordinates[(int64_t)vertices[cells[l] * POWER(G) + i] * DIMENSION + c];
        to_monomials(DIMENSION, g);
        to_monomials(DIMENSION * G, g);
        if (DIMENSION == 3)
            to_monomials(DIMENSION * G * G, g);
        LOAD_UNIFORM
#define LOAD(number, source, width, offset, n, components, component, slot)                                    \
    for (int l = 0; l < LANES; ++l)                                                                            \
        map[l] = dofs[source] + cells[l] * width + offset;                                                     \
    load_nodes(n, components, map, values[source] + component, s);                                             \
    to_points_##n(s, t, a[number]);                                                                            \
    if (slot >= 0)                                                                                             \
        slopes(a[number], d[slot < 0 ? 0 : slot]);
        FIELDS(LOAD)
        for (int k = 0; k < (DIMENSION == 3 ? Q : 1); ++k) {
            real layer[2 * G * ROW];
            if (DIMENSION == 3)
                contract(points[k], 1, G * ROW, g, layer);
            for (int j = 0; j < Q; ++j) {
                real row[DIMENSION * ROW];
                const scalar weight = weights[j] * (DIMENSION == 3 ? weights[k] : 1);
                contract(points[j], DIMENSION - 1, ROW, DIMENSION == 3 ? layer : g, row);
                for (int i = 0; i < Q; ++i) {
                    real u[VALUES * N_FIELDS + 1], f[VALUES * N_TESTS];
                    const int p = (k * Q + j) * Q + i;
#define READ(number, source, width, offset, n, components, component, slot)                                    \
    u[VALUES * number] = a[number][p];                                                                         \
    UNROLL for (int c = 0; c < DIMENSION && slot >= 0; ++c)                                                    \
        u[VALUES * number + 1 + c] = d[slot < 0 ? 0 : slot][c][p];
                    FIELDS(READ)
                    integrand(row, i, weight, u, uniform, f);
#define WRITE(number, offset, n, component, value, slot)                                                       \
    a[number][p] = value ? f[VALUES * number] : (real){0};                                                     \
    UNROLL for (int c = 0; c < DIMENSION && slot >= 0; ++c)                                                    \
        d[slot < 0 ? 0 : slot][c][p] = f[VALUES * number + 1 + c];
                    TESTS(WRITE)
                }
            }
        }
#define STORE(number, offset, n, component, value, slot)                                                       \
    if (slot >= 0)                                                                                             \
        slopes_transposed(d[slot < 0 ? 0 : slot], a[number]);                                                  \
    from_points_##n(a[number], t, s);                                                                          \
    for (int l = 0; l < lanes; ++l) {                                                                          \
        const int32_t *const to = test_dofs + cells[l] * TEST_WIDTH + offset;                                  \
        for (int i = 0; i < POWER(n); ++i)                                                                     \
            y[(int64_t)to[i] * TEST_COMPONENTS + component] += s[i][l];                                        \
    }
        TESTS(STORE)
    }
}
