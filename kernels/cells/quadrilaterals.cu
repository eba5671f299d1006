/* The action of a form on quadrilaterals by sum factorisation: POINTS threads per cell hold lines of values in registers
 * and transpose them through shared memory, as in hexahedra_lines.cu, which says what precedes this text.
 *
 *     LOAD -> lines along y, x to the points -> derivatives -> `point` on lines along y -> the same transposed -> STORE */

/* Between lines in different directions: a barrier for the threads of a cell. */
INLINE void cell_barrier()
{
    if (32 % Q == 0)
        __syncwarp();
    else
        __syncthreads();
}

/* One thread's part of a cell: line t along x, and along y. */
struct lines {
    int first; /* of the cell's arrays in shared memory */
    int t;

    __device__ __forceinline__ scalar *value(int i) const
    {
        return shared_values() + first + i * (CELLS * LAYOUT_SIZE);
    }
    __device__ __forceinline__ scalar *slope(int slot) const { return value(N_VALUES + slot); }
    __device__ __forceinline__ int on_x(int k) const { return t * PLANE_SIZE + k; }
    __device__ __forceinline__ int on_y(int k) const { return k * PLANE_SIZE + t; }

    template <int F> __device__ __forceinline__ void load(int cell, const int32_t *dofs, const scalar *from) const
    {
        using own = field<F>;
        constexpr int P = own::n;
        if (t >= P)
            return;
        const int32_t *const map = dofs + cell * own::width + own::offset + t;
        real u[P], v[Q];
        int id[P];
        UNROLL for (int k = 0; k < P; ++k)
            id[k] = __ldg(map + k * P);
        UNROLL for (int k = 0; k < P; ++k)
            u[k] = __ldg(from + id[k] * own::components + own::component);
        interpolate<P>(u, v);
        UNROLL for (int k = 0; k < Q; ++k)
            value(F)[on_y(k)] = v[k];
    }
    template <int F> __device__ __forceinline__ void to_points_x() const
    {
        constexpr int P = field<F>::n;
        real u[P], v[Q];
        UNROLL for (int k = 0; k < P; ++k)
            u[k] = value(F)[on_x(k)];
        interpolate<P>(u, v);
        UNROLL for (int k = 0; k < Q; ++k)
            value(F)[on_x(k)] = v[k];
        if constexpr (field<F>::slot >= 0) {
            real d[Q];
            differentiate(v, d);
            UNROLL for (int k = 0; k < Q; ++k)
                slope(field<F>::slot)[on_x(k)] = d[k];
        }
    }
    template <int F> __device__ __forceinline__ void read_y(real (&v)[N_VALUES][Q], real (&d)[N_GRADIENTS + 1][Q]) const
    {
        UNROLL for (int k = 0; k < Q; ++k)
            v[F][k] = value(F)[on_y(k)];
        if constexpr (field<F>::slot >= 0)
            differentiate(v[F], d[field<F>::slot]);
    }
    template <int F>
    __device__ __forceinline__ void at_point(int k, const real (&v)[N_VALUES][Q], const real (&d)[N_GRADIENTS + 1][Q],
                                             real *u) const
    {
        constexpr int slot = field<F>::slot;
        u[VALUES * F] = v[F][k];
        if constexpr (slot >= 0) {
            u[VALUES * F + 1] = slope(slot)[on_y(k)];
            u[VALUES * F + 2] = d[slot][k];
        }
    }
    template <int F>
    __device__ __forceinline__ void from_point(int k, const real *f, real (&v)[N_VALUES][Q],
                                               real (&d)[N_GRADIENTS + 1][Q]) const
    {
        constexpr int slot = test<F>::slot;
        v[F][k] = test<F>::value ? f[VALUES * F] : (real)0;
        if constexpr (slot >= 0) {
            slope(slot)[on_y(k)] = f[VALUES * F + 1];
            d[slot][k] = f[VALUES * F + 2];
        }
    }
    template <int F> __device__ __forceinline__ void write_y(real (&v)[N_VALUES][Q], real (&d)[N_GRADIENTS + 1][Q]) const
    {
        if constexpr (test<F>::slot >= 0)
            differentiate_transposed(d[test<F>::slot], v[F]);
        UNROLL for (int k = 0; k < Q; ++k)
            value(F)[on_y(k)] = v[F][k];
    }
    template <int F> __device__ __forceinline__ void from_points_x() const
    {
        constexpr int P = test<F>::n;
        real v[Q], u[P];
        UNROLL for (int k = 0; k < Q; ++k)
            v[k] = value(F)[on_x(k)];
        if constexpr (test<F>::slot >= 0) {
            real d[Q];
            UNROLL for (int k = 0; k < Q; ++k)
                d[k] = slope(test<F>::slot)[on_x(k)];
            differentiate_transposed(d, v);
        }
        interpolate_transposed<P>(v, u);
        UNROLL for (int k = 0; k < P; ++k)
            value(F)[on_x(k)] = u[k];
    }
    template <int F> __device__ __forceinline__ void store(int cell, const int32_t *dofs, scalar *y) const
    {
        constexpr int P = test<F>::n;
        if (t >= P)
            return;
        const int32_t *const map = dofs + cell * TEST_WIDTH + test<F>::offset + t;
        real u[P], v[Q];
        UNROLL for (int k = 0; k < Q; ++k)
            v[k] = value(F)[on_y(k)];
        interpolate_transposed<P>(v, u);
        UNROLL for (int k = 0; k < P; ++k)
            atomicAdd(y + __ldg(map + k * P) * TEST_COMPONENTS + test<F>::component, u[k]);
    }
};

/* FIELDS and TESTS call a macro with the number of each field or test. */
#define LOAD(F) own.load<F>(cell, dofs[field<F>::source], values[field<F>::source]);
#define TO_POINTS_X(F) own.to_points_x<F>();
#define READ_Y(F) own.read_y<F>(v, d);
#define AT_POINT(F) own.at_point<F>(k, v, d, u);
#define FROM_POINT(F) own.from_point<F>(k, f, v, d);
#define WRITE_Y(F) own.write_y<F>(v, d);
#define FROM_POINTS_X(F) own.from_points_x<F>();
#define STORE(F) own.store<F>(cell, test_dofs, y);

CELLS_KERNEL
{
    RETURN_IF_DONE;
    const int el = threadIdx.x / Q, t = threadIdx.x - el * Q;
    const int cell = blockIdx.x * CELLS + el; /* places in connectivities are below 2^31: 64 bits take registers */
    const bool on = cell < n_elements;
    lines own;
    own.first = el * LAYOUT_SIZE;
    own.t = t;
    scalar *const g = shared_values() + (N_VALUES + N_GRADIENTS) * CELLS * LAYOUT_SIZE + el * GEOMETRY_SIZE;
    real uniform[N_UNIFORM + 1];
    SOURCES
    if (on) {
        geometry_load(t, Q, vertices + cell * VERTICES, coordinates, g);
        LOAD_UNIFORM
        FIELDS(LOAD)
    }
    cell_barrier();
    FIELDS(TO_POINTS_X)
    cell_barrier();
    {
        real v[N_VALUES][Q], d[N_GRADIENTS + 1][Q];
        const line<1> geometry(g, t, 0);
        FIELDS(READ_Y)
        UNROLL for (int k = 0; k < Q; ++k) {
            real u[VALUES * N_FIELDS + 1], f[VALUES * N_TESTS];
            FIELDS(AT_POINT)
            geometry.at(k, weights[t], u, uniform, f);
            TESTS(FROM_POINT)
        }
        TESTS(WRITE_Y)
    }
    cell_barrier();
    TESTS(FROM_POINTS_X)
    cell_barrier();
    if (on) {
        TESTS(STORE)
    }
}
