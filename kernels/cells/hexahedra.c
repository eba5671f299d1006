/* The action of a form on hexahedra by sum factorisation on the host: LANES cells at a time, one per lane, with the
 * stages of hexahedra_lines.cu, which says what precedes this text and how even and odd parts of a line are contracted. */
#define Q POINTS
#define HALF (Q / 2)
#define LAYER (Q * Q)
#define VOLUME (Q * Q * Q)
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

/* Coefficients of the trilinear map, [1, X, Y, XY, Z, XZ, YZ, XYZ][axis]. */
INLINE void trilinear(real g[8][3])
{
    UNROLL for (int bit = 1; bit < 8; bit *= 2)
        UNROLL for (int i = 0; i < 8; ++i)
            if (i & bit)
                UNROLL for (int c = 0; c < 3; ++c)
                    g[i][c] -= g[i - bit][c];
}

/* What point i of row (j, k) needs: columns of the Jacobian, its determinant, coordinates. */
INLINE void integrand(const real g[8][3], int i, int j, int k, const real *u, const real *uniform, real *f)
{
    const scalar X = points[i], Y = points[j], Z = points[k];
    real J[3][3], x[3], determinant = {0};
    UNROLL for (int c = 0; c < 3; ++c) {
        J[0][c] = g[1][c] + g[3][c] * Y + (g[5][c] + g[7][c] * Y) * Z;
        J[1][c] = g[2][c] + g[6][c] * Z + (g[3][c] + g[7][c] * Z) * X;
        J[2][c] = g[4][c] + g[6][c] * Y + (g[5][c] + g[7][c] * Y) * X;
        x[c] = g[0][c] + g[2][c] * Y + (g[4][c] + g[6][c] * Y) * Z + J[0][c] * X;
    }
    UNROLL for (int c = 0; c < 3; ++c)
        determinant += J[0][c] * (J[1][(c + 1) % 3] * J[2][(c + 2) % 3] - J[1][(c + 2) % 3] * J[2][(c + 1) % 3]);
    point(J, determinant, x, SPLAT(weights[i] * weights[j] * weights[k]), u, uniform, f);
}

/* [n][n][n] in s, at the end [Q][Q][Q] in a, and its transpose; s and t are scratch. */
INLINE void to_points(int n, const scalar *even, const scalar *odd, real *s, real *t, real *a)
{
    for (int j = 0; j < n * n; ++j)
        interpolate(n, even, odd, s + j, n * n, t + j, n * n);
    for (int k = 0; k < Q; ++k)
        for (int i = 0; i < n; ++i)
            interpolate(n, even, odd, t + k * n * n + i, n, s + k * Q * n + i, n);
    for (int k = 0; k < LAYER; ++k)
        interpolate(n, even, odd, s + k * n, 1, a + k * Q, 1);
}
INLINE void from_points(int n, const scalar *even, const scalar *odd, const real *a, real *t, real *s)
{
    for (int k = 0; k < LAYER; ++k)
        interpolate_transposed(n, even, odd, a + k * Q, 1, s + k * n, 1);
    for (int k = 0; k < Q; ++k)
        for (int i = 0; i < n; ++i)
            interpolate_transposed(n, even, odd, s + k * Q * n + i, n, t + k * n * n + i, n);
    for (int j = 0; j < n * n; ++j)
        interpolate_transposed(n, even, odd, t + j, n * n, s + j, n * n);
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

static __attribute__((noinline)) void slopes(const real *a, real (*d)[VOLUME])
{
    for (int k = 0; k < LAYER; ++k)
        differentiate(a + k * Q, 1, d[0] + k * Q, 1);
    for (int k = 0; k < Q; ++k)
        for (int i = 0; i < Q; ++i)
            differentiate(a + k * LAYER + i, Q, d[1] + k * LAYER + i, Q);
    for (int j = 0; j < LAYER; ++j)
        differentiate(a + j, LAYER, d[2] + j, LAYER);
}
static __attribute__((noinline)) void slopes_transposed(real (*d)[VOLUME], real *a)
{
    for (int j = 0; j < LAYER; ++j)
        differentiate_transposed(d[2] + j, LAYER, a + j, LAYER);
    for (int k = 0; k < Q; ++k)
        for (int i = 0; i < Q; ++i)
            differentiate_transposed(d[1] + k * LAYER + i, Q, a + k * LAYER + i, Q);
    for (int k = 0; k < LAYER; ++k)
        differentiate_transposed(d[0] + k * Q, 1, a + k * Q, 1);
}

static __attribute__((noinline)) void load_nodes(int n, int components, const int32_t *const *map, const scalar *values,
                                                 real *s)
{
    for (int i = 0; i < n * n * n; ++i)
        UNROLL for (int l = 0; l < LANES; ++l)
            s[i][l] = values[(int64_t)map[l][i] * components];
}

void KERNEL_NAME(void *const *arguments, int64_t n_elements, int64_t first_block, int64_t last_block)
{
    enum { LARGEST = MOST_NODES > Q ? MOST_NODES : Q, BUFFER = LARGEST * LARGEST * LARGEST };
    real s[BUFFER], t[BUFFER], a[N_VALUES][VOLUME], d[N_GRADIENTS + 1][3][VOLUME], uniform[N_UNIFORM + 1];
    const int32_t *map[LANES];
    ARGUMENTS
    for (int64_t block = first_block; block < last_block; ++block) {
        const int64_t first = block * LANES;
        const int lanes = n_elements - first < LANES ? (int)(n_elements - first) : LANES;
        int64_t cells[LANES];
        real g[8][3];
        for (int l = 0; l < LANES; ++l)
            cells[l] = first + (l < lanes ? l : lanes - 1);
        for (int i = 0; i < 8; ++i)
            UNROLL for (int l = 0; l < LANES; ++l)
                for (int c = 0; c < 3; ++c)
                    g[i][c][l] = coordinates[(int64_t)vertices[cells[l] * 8 + i] * 3 + c];
        trilinear(g);
        LOAD_UNIFORM
#define LOAD(number, source, n, components, component, slot)                                                   \
    for (int l = 0; l < LANES; ++l)                                                                            \
        map[l] = dofs[source] + cells[l] * (n * n * n);                                                        \
    load_nodes(n, components, map, values[source] + component, s);                                             \
    to_points_##n(s, t, a[number]);                                                                            \
    if (slot >= 0)                                                                                             \
        slopes(a[number], d[slot < 0 ? 0 : slot]);
        FIELDS(LOAD)
        for (int k = 0; k < Q; ++k)
            for (int j = 0; j < Q; ++j)
                for (int i = 0; i < Q; ++i) {
                    real u[4 * N_FIELDS + 1], f[4 * N_TESTS];
                    const int p = (k * Q + j) * Q + i;
#define READ(number, source, n, components, component, slot)                                                   \
    u[4 * number] = a[number][p];                                                                              \
    UNROLL for (int c = 0; c < 3 && slot >= 0; ++c)                                                            \
        u[4 * number + 1 + c] = d[slot < 0 ? 0 : slot][c][p];
                    FIELDS(READ)
                    integrand(g, i, j, k, u, uniform, f);
#define WRITE(number, component, value, slot)                                                                  \
    a[number][p] = value ? f[4 * number] : (real){0};                                                          \
    UNROLL for (int c = 0; c < 3 && slot >= 0; ++c)                                                            \
        d[slot < 0 ? 0 : slot][c][p] = f[4 * number + 1 + c];
                    TESTS(WRITE)
                }
#define STORE(number, component, value, slot)                                                                  \
    if (slot >= 0)                                                                                             \
        slopes_transposed(d[slot < 0 ? 0 : slot], a[number]);                                                  \
    TEST_POINTS(a[number], t, s);                                                                              \
    for (int l = 0; l < lanes; ++l) {                                                                          \
        const int32_t *const to = test_dofs + cells[l] * (TEST_NODES * TEST_NODES * TEST_NODES);               \
        for (int i = 0; i < TEST_NODES * TEST_NODES * TEST_NODES; ++i)                                         \
            y[(int64_t)to[i] * TEST_COMPONENTS + component] += s[i][l];                                        \
    }
        TESTS(STORE)
    }
}
