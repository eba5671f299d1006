/* What a device can do at most, for rooflines (gemm/roof.c): copies of memory, and multiplications of tiles that lie in
 * registers, by the units that dense products of a type use.
 *
 * Macros of the host: SINGLE, MATRIX_DEPTH as in tile.cu, CHAINS and ITERATIONS: of "multiply". */
#if SINGLE
typedef float real;
#define MULTIPLY_ADD fmaf
#else
typedef double real;
#define MULTIPLY_ADD fma
#endif

/* n blocks of COPIED x 256 chunks of 16 bytes */
extern "C" __global__ void __launch_bounds__(256) copy(int64 n, const float4 *from, float4 *to) {
    constexpr int COPIED = 4;
    const int64 first = (int64)blockIdx.x * (COPIED * 256) + threadIdx.x;
    float4 v[COPIED];
    (void)n;
    UNROLL for (int i = 0; i < COPIED; ++i) v[i] = __ldcs(from + first + i * 256);
    UNROLL for (int i = 0; i < COPIED; ++i) __stcs(to + first + i * 256, v[i]);
}

/* CHAINS sums of a thread that do not depend on each other; with tensor cores four tiles of 16 x 8 x 16, or of 16 x 8 x 4, of a
 * warp. Results are stored, lest the compiler leave the work out. */
extern "C" __global__ void __launch_bounds__(128) multiply(int64 n, real *to) {
    const int64 thread = (int64)blockIdx.x * 128 + threadIdx.x;
    real sum = 0;
#if MATRIX_DEPTH > 0
    constexpr int TILES = 2, K = MATRIX_DEPTH >= 16 ? 16 : 0;
    real a[TILES][8], b[TILES][4], c[TILES][TILES][4];
    UNROLL for (int i = 0; i < TILES; ++i) {
        UNROLL for (int j = 0; j < 8; ++j) a[i][j] = (real)(thread + i + j);
        UNROLL for (int j = 0; j < 4; ++j) b[i][j] = (real)(thread - i - j);
        UNROLL for (int j = 0; j < TILES; ++j) UNROLL for (int x = 0; x < 4; ++x) c[i][j][x] = 0;
    }
    NO_UNROLL for (int k = 0; k < ITERATIONS; ++k)
        UNROLL for (int i = 0; i < TILES; ++i)
            UNROLL for (int j = 0; j < TILES; ++j) mma<K>(c[i][j], a[i], b[j]);
    UNROLL for (int i = 0; i < TILES; ++i)
        UNROLL for (int j = 0; j < TILES; ++j) UNROLL for (int x = 0; x < 4; ++x) sum += c[i][j][x];
#else
    const real a = (real)(n % 7) * (real)0.1, b = (real)(thread % 5);
    real c[CHAINS];
    UNROLL for (int i = 0; i < CHAINS; ++i) c[i] = (real)(thread + i);
    _Pragma("unroll 8") for (int k = 0; k < ITERATIONS; ++k)
        UNROLL for (int i = 0; i < CHAINS; ++i) c[i] = MULTIPLY_ADD(c[i], a, b);
    UNROLL for (int i = 0; i < CHAINS; ++i) sum += c[i];
#endif
    to[thread] = sum;
}
