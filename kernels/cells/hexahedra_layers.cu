/* The action of a form of low degree on hexahedra by sum factorisation: POINTS threads per cell, each with the points of
 * one layer in z. Values along x are in registers, so that shared memory is read once per layer and row; only the
 * contractions along z are between threads.
 *
 * forms/lower/action_gpu.c writes what precedes this text, common.cu and trilinear.cu: as for hexahedra_lines.cu, and
 * tables of the functions and their derivatives at the points. */
#define THREADS_ALL (CELLS * Q)
#define PAIR(slot) ((slot) >= 0 ? 2 : 1) /* arrays of a layer: values, and derivatives by z */

/* Between the points' layers: CELLS vectors of P^3 values of each field, the geometry, a part for each thread. */
#define GEOMETRY_FIRST (CELLS * FIELD_VALUES)
#define LAYERS_FIRST (GEOMETRY_FIRST + CELLS * GEOMETRY_SIZE)

/* Read from shared memory in each row, and two points of a row at a time: registers could not hold more. */
#if GRADIENTS
typedef const volatile scalar *repeated;
#define SOME_POINTS _Pragma("unroll 2")
#else
typedef const scalar *repeated;
#define SOME_POINTS UNROLL
#endif

template <int F>
INLINE void load(int first, int n, const int32_t *dofs, const scalar *from)
{
    using own = field<F>;
    constexpr int V = own::n * own::n * own::n;
    const int32_t *const map = dofs + first * V;
    scalar *const to = shared_values() + CELLS * own::first;
    UNROLL for (int s = 0; s < (CELLS * V + THREADS_ALL - 1) / THREADS_ALL; ++s) {
        const int i = threadIdx.x + s * THREADS_ALL;
        if (i < n * V)
            to[i] = __ldg(from + __ldg(map + i) * own::components + own::component);
    }
}

/* The layer's values and derivatives by z at the nodes of x and y. */
template <int F> INLINE void to_layer(int cell, int q, scalar *layer)
{
    using own = field<F>;
    using B = nodes<own::n>;
    constexpr int P = own::n;
    const scalar *const u = shared_values() + CELLS * own::first + cell * (P * P * P);
    real b[P], g[P];
    UNROLL for (int k = 0; k < P; ++k) {
        b[k] = B::value(q, k);
        g[k] = B::slope(q, k);
    }
    UNROLL for (int i = 0; i < P * P; ++i) {
        real s = 0, t = 0;
        UNROLL for (int k = 0; k < P; ++k) {
            const real v = u[k * P * P + i];
            s = fma(b[k], v, s);
            t = fma(g[k], v, t);
        }
        layer[own::layer + i] = s;
        if (own::slot >= 0)
            layer[own::layer + P * P + i] = t;
    }
}
/* Row y of the layer at the nodes of x: values, derivatives by y and by z. */
template <int F> INLINE void to_row(repeated layer, int y, real (*row)[MOST_NODES])
{
    using own = field<F>;
    using B = nodes<own::n>;
    constexpr int P = own::n;
    UNROLL for (int i = 0; i < P; ++i) {
        real v = 0, vy = 0, vz = 0;
        UNROLL for (int j = 0; j < P; ++j) {
            const real s = layer[own::layer + j * P + i];
            v = fma(B::value(y, j), s, v);
            if (own::slot >= 0) {
                vy = fma(B::slope(y, j), s, vy);
                vz = fma(B::value(y, j), layer[own::layer + P * P + j * P + i], vz);
            }
        }
        row[0][i] = v;
        row[1][i] = vy;
        row[2][i] = vz;
    }
}
template <int F> INLINE void to_point(const real (*row)[MOST_NODES], int x, real *u)
{
    using own = field<F>;
    using B = nodes<own::n>;
    real v[4] = {0, 0, 0, 0};
    UNROLL for (int i = 0; i < own::n; ++i) {
        v[0] = fma(B::value(x, i), row[0][i], v[0]);
        if (own::slot >= 0) {
            v[1] = fma(B::slope(x, i), row[0][i], v[1]);
            v[2] = fma(B::value(x, i), row[1][i], v[2]);
            v[3] = fma(B::value(x, i), row[2][i], v[3]);
        }
    }
    UNROLL for (int d = 0; d < 4; ++d)
        u[4 * F + d] = v[d];
}
template <int F> INLINE void from_point(const real *f, int x, real (*row)[TEST_NODES])
{
    using B = nodes<TEST_NODES>;
    UNROLL for (int i = 0; i < TEST_NODES; ++i) {
        if (test<F>::value)
            row[0][i] = fma(B::value(x, i), f[4 * F], row[0][i]);
        if (test<F>::slot >= 0) {
            row[0][i] = fma(B::slope(x, i), f[4 * F + 1], row[0][i]);
            row[1][i] = fma(B::value(x, i), f[4 * F + 2], row[1][i]);
            row[2][i] = fma(B::value(x, i), f[4 * F + 3], row[2][i]);
        }
    }
}
template <int F> INLINE void from_row(const real (*row)[TEST_NODES], int y, real (*sum)[TEST_NODES * TEST_NODES])
{
    using B = nodes<TEST_NODES>;
    UNROLL for (int j = 0; j < TEST_NODES; ++j)
        UNROLL for (int i = 0; i < TEST_NODES; ++i) {
            real &s = sum[0][j * TEST_NODES + i];
            s = fma(B::value(y, j), row[0][i], s);
            if (test<F>::slot >= 0) {
                real &t = sum[1][j * TEST_NODES + i];
                s = fma(B::slope(y, j), row[1][i], s);
                t = fma(B::value(y, j), row[2][i], t);
            }
        }
}
template <int F> INLINE void from_layer(const real (*sum)[TEST_NODES * TEST_NODES], scalar *layer)
{
    UNROLL for (int i = 0; i < TEST_NODES * TEST_NODES; ++i) {
        layer[test<F>::layer + i] = sum[0][i];
        if (test<F>::slot >= 0)
            layer[test<F>::layer + TEST_NODES * TEST_NODES + i] = sum[1][i];
    }
}
/* Thread by thread a column of nodes along z. */
template <int F> INLINE void store(int first, int n, const int32_t *dofs, scalar *y)
{
    constexpr int P = TEST_NODES;
    using B = nodes<P>;
    const scalar *const layers = shared_values() + LAYERS_FIRST + test<F>::layer;
    for (int c = threadIdx.x; c < n * P * P; c += THREADS_ALL) {
        const int cell = c / (P * P), i = c - cell * (P * P);
        const scalar *const own = layers + cell * (Q * LAYER_SIZE) + i;
        const int32_t *const map = dofs + (first + cell) * (P * P * P) + i;
        real u[P];
        UNROLL for (int k = 0; k < P; ++k)
            u[k] = 0;
        UNROLL for (int z = 0; z < Q; ++z) {
            const real s = own[z * LAYER_SIZE], t = test<F>::slot >= 0 ? own[z * LAYER_SIZE + P * P] : 0;
            UNROLL for (int k = 0; k < P; ++k) {
                u[k] = fma(B::value(z, k), s, u[k]);
                if (test<F>::slot >= 0)
                    u[k] = fma(B::slope(z, k), t, u[k]);
            }
        }
        UNROLL for (int k = 0; k < P; ++k)
            atomicAdd(y + __ldg(map + k * P * P) * TEST_COMPONENTS + test<F>::component, u[k]);
    }
}

#define LOAD(F) load<F>(first, n, dofs[field<F>::source], values[field<F>::source]);
#define TO_LAYER(F) to_layer<F>(el, q, layer);
#define TO_ROW(F) to_row<F>(layer, yy, row[F]);
#define TO_POINT(F) to_point<F>(row[F], x, u);
#define FROM_POINT(F) from_point<F>(f, x, results[F]);
#define FROM_ROW(F) from_row<F>(results[F], yy, sums[F]);
#define FROM_LAYER(F) from_layer<F>(sums[F], layer);
#define STORE(F) store<F>(first, n, test_dofs, y);

CELLS_KERNEL
{
    RETURN_IF_DONE;
    const int el = threadIdx.x / Q, q = threadIdx.x - el * Q;
    const int first = blockIdx.x * CELLS, cell = first + el < n_elements ? first + el : (int)n_elements - 1;
    const int n = n_elements - first < CELLS ? (int)(n_elements - first) : CELLS;
    scalar *const g = shared_values() + GEOMETRY_FIRST, *const own_g = g + el * GEOMETRY_SIZE;
    scalar *const layer = shared_values() + LAYERS_FIRST + threadIdx.x * LAYER_SIZE;
    real uniform[N_UNIFORM + 1], sums[N_TESTS][2][TEST_NODES * TEST_NODES];
    SOURCES
    for (int i = threadIdx.x; i < n * 24; i += THREADS_ALL)
        g[i / 24 * GEOMETRY_SIZE + i % 24] = __ldg(coordinates + (int64_t)__ldg(vertices + first * 8 + i / 3) * 3 + i % 3);
    LOAD_UNIFORM
    FIELDS(LOAD)
    __syncthreads();
    for (int i = threadIdx.x; i < 3 * n; i += THREADS_ALL)
        trilinear(g + i / 3 * GEOMETRY_SIZE, i % 3);
    __syncthreads();
    FIELDS(TO_LAYER)
    const layer_geometry<0> own_layer(own_g, points[q]);
    UNROLL for (int t = 0; t < N_TESTS; ++t)
        UNROLL for (int i = 0; i < TEST_NODES * TEST_NODES; ++i)
            sums[t][0][i] = sums[t][1][i] = 0;
    ROWS_UNROLL for (int yy = 0; yy < Q; ++yy) {
        real row[N_FIELDS + 1][3][MOST_NODES], results[N_TESTS][3][TEST_NODES];
        FIELDS(TO_ROW)
        const line<0> geometry(own_layer, (repeated)own_g, points[yy]);
        const real w = weights[yy] * weights[q];
        UNROLL for (int t = 0; t < N_TESTS; ++t)
            UNROLL for (int i = 0; i < TEST_NODES; ++i)
                results[t][0][i] = results[t][1][i] = results[t][2][i] = 0;
        SOME_POINTS for (int x = 0; x < Q; ++x) {
            real u[4 * N_FIELDS + 1], f[4 * N_TESTS];
            FIELDS(TO_POINT)
            geometry.at(x, w, u, uniform, f);
            TESTS(FROM_POINT)
        }
        TESTS(FROM_ROW)
    }
    TESTS(FROM_LAYER)
    __syncthreads();
    TESTS(STORE)
}
