/* The action of a form on hexahedra by sum factorisation: POINTS x POINTS threads per cell hold lines of values in
 * registers and transpose them through shared memory (Swirydowicz et al. 2019, Int. J. High Perform. Comput. Appl. 33).
 *
 *     LOAD -> lines along z, x, y to the points -> derivatives -> `point` -> the same transposed -> STORE
 *
 * forms/lower/action_gpu.c writes what precedes this text: CELLS (per thread block), RESIDENT (blocks per
 * multiprocessor), N_FIELDS, N_TESTS, N_VALUES and N_GRADIENTS (arrays of a cell), GRADIENTS (of any function), the
 * structs field<F> and test<F>, the lists FIELDS and TESTS of their numbers, common.cu, contractions.cu and
 * trilinear.cu or geometry.cu. */
#define PLANE (Q * Q)

/* Where value (x, y, z) of an array is. forms/lower/action_gpu.c has PLANE_SIZE, LAYOUT_SIZE and, for lines along x
 * and y, whether threads (a, b) take the other two coordinates in the other order, from a search for the fewest bank
 * conflicts; on four points exclusive or has none. */
template <int N> struct layout {
    static __device__ __forceinline__ int at(int x, int y, int z) { return x + N * y + PLANE_SIZE * z; }
};
template <> struct layout<4> {
    static __device__ __forceinline__ int at(int x, int y, int z) { return 16 * z + 4 * (y ^ z) + (x ^ y); }
};
template <> struct layout<8> {
    static __device__ __forceinline__ int at(int x, int y, int z)
    {
        return x + 8 * y + (y >> 1) + PLANE_SIZE * z + 2 * (z >> 2);
    }
};
using L = layout<Q>;

/* Between lines in different directions: a barrier for the threads of a cell. */
INLINE void cell_barrier()
{
    if (32 % PLANE == 0)
        __syncwarp();
    else
        __syncthreads();
}

/* One thread's part of a cell: the arrays of the cell, and which line it has in each direction. */
struct lines {
    int first;      /* of the cell's arrays in shared memory */
    int tx, ty;     /* x and y of lines along z */
    int xy, xz;     /* y and z of lines along x */
    int yx, yz;     /* x and z of lines along y */

    __device__ __forceinline__ scalar *value(int i) const
    {
        return shared_values() + first + i * (CELLS * LAYOUT_SIZE);
    }
    __device__ __forceinline__ scalar *slope(int slot, int axis) const
    {
        return value(N_VALUES + 2 * slot + axis);
    }
    /* the same for the loop over points: in the order of the text, since points of which parts are computed early take
     * registers */
    __device__ __forceinline__ volatile scalar *volatile_slope(int slot, int axis) const { return slope(slot, axis); }
    /* place k of the thread's line along x, y or z */
    __device__ __forceinline__ int on_x(int k) const { return L::at(k, xy, xz); }
    __device__ __forceinline__ int on_y(int k) const { return L::at(yx, k, yz); }
    __device__ __forceinline__ int on_z(int k) const { return L::at(tx, ty, k); }

    template <int F> __device__ __forceinline__ void load(int cell, const int32_t *dofs, const scalar *from) const
    {
        using own = field<F>;
        constexpr int P = own::n;
        if (tx >= P || ty >= P)
            return;
        const int32_t *const map = dofs + cell * own::width + own::offset + ty * P + tx;
        real u[P], v[Q];
        int id[P];
        UNROLL for (int k = 0; k < P; ++k)
            id[k] = __ldg(map + k * P * P);
        UNROLL for (int k = 0; k < P; ++k)
            u[k] = __ldg(from + id[k] * own::components + own::component);
        interpolate<P>(u, v);
        UNROLL for (int k = 0; k < Q; ++k)
            value(F)[on_z(k)] = v[k];
    }
    template <int F> __device__ __forceinline__ void to_points_x() const
    {
        constexpr int P = field<F>::n;
        if (xy >= P)
            return;
        real u[P], v[Q];
        UNROLL for (int k = 0; k < P; ++k)
            u[k] = value(F)[on_x(k)];
        interpolate<P>(u, v);
        UNROLL for (int k = 0; k < Q; ++k)
            value(F)[on_x(k)] = v[k];
    }
    template <int F> __device__ __forceinline__ void read_to_points_y(real (&v)[Q]) const
    {
        constexpr int P = field<F>::n;
        real u[P];
        UNROLL for (int k = 0; k < P; ++k)
            u[k] = value(F)[on_y(k)];
        interpolate<P>(u, v);
    }
    template <int F> __device__ __forceinline__ void to_points_y() const
    {
        real v[Q];
        read_to_points_y<F>(v);
        UNROLL for (int k = 0; k < Q; ++k)
            value(F)[on_y(k)] = v[k];
        if constexpr (field<F>::slot >= 0) {
            real d[Q];
            differentiate(v, d);
            UNROLL for (int k = 0; k < Q; ++k)
                slope(field<F>::slot, 1)[on_y(k)] = d[k];
        }
    }
    template <int F> __device__ __forceinline__ void slope_x() const
    {
        if constexpr (field<F>::slot >= 0) {
            real v[Q], d[Q];
            UNROLL for (int k = 0; k < Q; ++k)
                v[k] = value(F)[on_x(k)];
            differentiate(v, d);
            UNROLL for (int k = 0; k < Q; ++k)
                slope(field<F>::slot, 0)[on_x(k)] = d[k];
        }
    }
    template <int F> __device__ __forceinline__ void read_z(real (&v)[N_VALUES][Q], real (&d)[N_GRADIENTS + 1][Q]) const
    {
        UNROLL for (int k = 0; k < Q; ++k)
            v[F][k] = value(F)[on_z(k)];
        if constexpr (field<F>::slot >= 0)
            differentiate(v[F], d[field<F>::slot]);
    }
    template <int F>
    __device__ __forceinline__ void at_point(int k, const real (&v)[N_VALUES][Q], const real (&d)[N_GRADIENTS + 1][Q],
                                             real *u) const
    {
        constexpr int slot = field<F>::slot;
        u[4 * F] = v[F][k];
        if constexpr (slot >= 0) {
            u[4 * F + 1] = volatile_slope(slot, 0)[on_z(k)];
            u[4 * F + 2] = volatile_slope(slot, 1)[on_z(k)];
            u[4 * F + 3] = d[slot][k];
        }
    }
    template <int F>
    __device__ __forceinline__ void from_point(int k, const real *f, real (&v)[N_VALUES][Q],
                                               real (&d)[N_GRADIENTS + 1][Q]) const
    {
        constexpr int slot = test<F>::slot;
        v[F][k] = test<F>::value ? f[4 * F] : (real)0;
        if constexpr (slot >= 0) {
            volatile_slope(slot, 0)[on_z(k)] = f[4 * F + 1];
            volatile_slope(slot, 1)[on_z(k)] = f[4 * F + 2];
            d[slot][k] = f[4 * F + 3];
        }
    }
    template <int F> __device__ __forceinline__ void write_z(real (&v)[N_VALUES][Q], real (&d)[N_GRADIENTS + 1][Q]) const
    {
        if constexpr (test<F>::slot >= 0)
            differentiate_transposed(d[test<F>::slot], v[F]);
        UNROLL for (int k = 0; k < Q; ++k)
            value(F)[on_z(k)] = v[F][k];
    }
    template <int F> __device__ __forceinline__ void add_slope_x() const
    {
        if constexpr (test<F>::slot >= 0) {
            real v[Q], d[Q];
            UNROLL for (int k = 0; k < Q; ++k) {
                d[k] = slope(test<F>::slot, 0)[on_x(k)];
                v[k] = value(F)[on_x(k)];
            }
            differentiate_transposed(d, v);
            UNROLL for (int k = 0; k < Q; ++k)
                value(F)[on_x(k)] = v[k];
        }
    }
    template <int F> __device__ __forceinline__ void write_from_points_y(const real (&v)[Q]) const
    {
        constexpr int P = test<F>::n;
        real u[P];
        interpolate_transposed<P>(v, u);
        UNROLL for (int k = 0; k < P; ++k)
            value(F)[on_y(k)] = u[k];
    }
    template <int F> __device__ __forceinline__ void from_points_y() const
    {
        real v[Q];
        UNROLL for (int k = 0; k < Q; ++k)
            v[k] = value(F)[on_y(k)];
        if constexpr (test<F>::slot >= 0) {
            real d[Q];
            UNROLL for (int k = 0; k < Q; ++k)
                d[k] = slope(test<F>::slot, 1)[on_y(k)];
            differentiate_transposed(d, v);
        }
        write_from_points_y<F>(v);
    }
    template <int F> __device__ __forceinline__ void from_points_x() const
    {
        constexpr int P = test<F>::n;
        if (xy >= P)
            return;
        real v[Q], u[P];
        UNROLL for (int k = 0; k < Q; ++k)
            v[k] = value(F)[on_x(k)];
        interpolate_transposed<P>(v, u);
        UNROLL for (int k = 0; k < P; ++k)
            value(F)[on_x(k)] = u[k];
    }
    template <int F> __device__ __forceinline__ void store(int cell, const int32_t *dofs, scalar *y) const
    {
        constexpr int P = test<F>::n;
        if (tx >= P || ty >= P)
            return;
        const int32_t *const map = dofs + cell * TEST_WIDTH + test<F>::offset + ty * P + tx;
        real u[P], v[Q];
        UNROLL for (int k = 0; k < Q; ++k)
            v[k] = value(F)[on_z(k)];
        interpolate_transposed<P>(v, u);
        UNROLL for (int k = 0; k < P; ++k)
            atomicAdd(y + __ldg(map + k * P * P) * TEST_COMPONENTS + test<F>::component, u[k]);
    }
};

/* FIELDS and TESTS call a macro with the number of each field or test. */
#define LOAD(F) own.load<F>(cell, dofs[field<F>::source], values[field<F>::source]);
#define TO_POINTS_X(F) own.to_points_x<F>();
#define READ_TO_POINTS_Y(F) own.read_to_points_y<F>(v[F]);
#define WRITE_FROM_POINTS_Y(F) own.write_from_points_y<F>(v[F]);
#define TO_POINTS_Y(F) own.to_points_y<F>();
#define SLOPE_X(F) own.slope_x<F>();
#define READ_Z(F) own.read_z<F>(v, d);
#define AT_POINT(F) own.at_point<F>(k, v, d, u);
#define FROM_POINT(F) own.from_point<F>(k, f, v, d);
#define WRITE_Z(F) own.write_z<F>(v, d);
#define ADD_SLOPE_X(F) own.add_slope_x<F>();
#define FROM_POINTS_Y(F) own.from_points_y<F>();
#define FROM_POINTS_X(F) own.from_points_x<F>();
#define STORE(F) own.store<F>(cell, test_dofs, y);

CELLS_KERNEL
{
    RETURN_IF_DONE;
    const int el = threadIdx.x / PLANE, r = threadIdx.x - el * PLANE, ty = r / Q, tx = r - ty * Q;
    const int cell = blockIdx.x * CELLS + el; /* places in connectivities are below 2^31: 64 bits take registers */
    const bool on = cell < n_elements;
    lines own;
    own.first = el * LAYOUT_SIZE;
    scalar *const g = shared_values() + (N_VALUES + 2 * N_GRADIENTS) * CELLS * LAYOUT_SIZE + el * GEOMETRY_SIZE;
    own.tx = tx;
    own.ty = ty;
    own.xy = SWAP_X ? ty : tx;
    own.xz = SWAP_X ? tx : ty;
    own.yx = SWAP_Y ? ty : tx;
    own.yz = SWAP_Y ? tx : ty;
    real uniform[N_UNIFORM + 1];
    SOURCES
    if (on) {
        geometry_load(r, PLANE, vertices + cell * VERTICES, coordinates, g);
        LOAD_UNIFORM
        FIELDS(LOAD)
    }
    cell_barrier();
    geometry_to_points(r, PLANE, g);
    FIELDS(TO_POINTS_X)
    cell_barrier();
    if constexpr (!GRADIENTS) { /* what other threads have at the points of a line along y is not needed */
        real v[N_VALUES][Q];
        FIELDS(READ_TO_POINTS_Y)
        const line<1> geometry(g, own.yz, own.yx);
        const real w = weights[own.yx] * weights[own.yz];
        UNROLL for (int k = 0; k < Q; ++k) {
            real u[4 * N_FIELDS + 1], f[4 * N_TESTS];
            UNROLL for (int i = 0; i < N_FIELDS; ++i)
                u[4 * i] = v[i][k];
            geometry.at(k, w, u, uniform, f);
            UNROLL for (int i = 0; i < N_TESTS; ++i)
                v[i][k] = f[4 * i];
        }
        TESTS(WRITE_FROM_POINTS_Y)
    } else {
        FIELDS(TO_POINTS_Y)
        cell_barrier();
        FIELDS(SLOPE_X)
        cell_barrier();
        {
            real v[N_VALUES][Q], d[N_GRADIENTS + 1][Q];
            const line<2> geometry(g, tx, ty);
            FIELDS(READ_Z)
            const real w = weights[tx] * weights[ty];
            UNROLL for (int k = 0; k < Q; ++k) {
                real u[4 * N_FIELDS + 1], f[4 * N_TESTS];
                FIELDS(AT_POINT)
                geometry.at(k, w, u, uniform, f);
                TESTS(FROM_POINT)
            }
            TESTS(WRITE_Z)
        }
        cell_barrier();
        TESTS(ADD_SLOPE_X)
        cell_barrier();
        TESTS(FROM_POINTS_Y)
    }
    cell_barrier();
    TESTS(FROM_POINTS_X)
    cell_barrier();
    if (on) {
        TESTS(STORE)
    }
}
