/* C = alpha op(A) op(B) + beta C for many small products of SM x SN with sums of SK, on the units for
 * fused multiply-adds. Matrices are stored by columns.
 *
 * A block computes PRODUCTS products, BLOCK threads at most; a thread computes TM x TN entries of one, whose
 * rows are TI apart and whose columns are TJ apart, so that the threads of a warp read neighbours.
 * Matrices pass through shared memory in both directions, so that the traffic with device memory is in
 * the order of the addresses; columns there have odd lengths, against bank conflicts.
 *
 * Macros of the host (gemm/source.c): as in fma.cu, and SM, SN, SK. */
#if SINGLE
typedef float real;
#else
typedef double real;
#endif
constexpr int PARTS = COMPLEX ? 2 : 1;
constexpr int ELEMENT = PARTS * (int)sizeof(real);
constexpr int TI = (SM + TM - 1) / TM, TJ = (SN + TN - 1) / TN, PER = TI * TJ;
constexpr int PRODUCTS = BLOCK / PER > 0 ? BLOCK / PER : 1;
constexpr int THREADS = (PRODUCTS * PER + 31) / 32 * 32;
constexpr int A_ROWS = A_ALONG_K ? SK : SM, A_COLUMNS = A_ALONG_K ? SM : SK;
constexpr int B_ROWS = B_ALONG_K ? SK : SN, B_COLUMNS = B_ALONG_K ? SN : SK;
constexpr int A_PITCH = A_ROWS | 1, B_PITCH = B_ROWS | 1, C_PITCH = SM | 1;
constexpr int A_SIZE = A_PITCH * A_COLUMNS, AB_SIZE = A_SIZE + B_PITCH * B_COLUMNS;
constexpr int SIZE = AB_SIZE > C_PITCH * SN ? AB_SIZE : C_PITCH * SN; /* of a product; C follows A, B */

/* Matrices of ROWS x COLUMNS to shared memory. */
template <int ROWS, int COLUMNS, int PITCH>
INLINE void fetch(unsigned char *to, const unsigned char *from, int64 ld, int64 stride, int n) {
    _Pragma("unroll 4") for (int id = threadIdx.x; id < n * ROWS * COLUMNS; id += THREADS) {
        const int product = id / (ROWS * COLUMNS), rest = id % (ROWS * COLUMNS);
        const int column = rest / ROWS, row = rest % ROWS;
        copy_async<ELEMENT>(to + (product * SIZE + column * PITCH + row) * ELEMENT,
                            from + (product * stride + column * ld + row) * ELEMENT);
    }
}

/* alpha s + beta C */
INLINE void store(real *at, const gemm_values &p, const real *s) {
    const real alpha = (real)p.alpha[0], beta = (real)p.beta[0];
    if constexpr (COMPLEX) {
        const real alpha_i = (real)p.alpha[1], beta_i = (real)p.beta[1];
        real re = alpha * s[0] - alpha_i * s[PARTS - 1], im = alpha * s[PARTS - 1] + alpha_i * s[0];
        if (beta != 0 || beta_i != 0) {
            const real c_re = at[0], c_im = at[PARTS - 1];
            re += beta * c_re - beta_i * c_im;
            im += beta * c_im + beta_i * c_re;
        }
        at[0] = re;
        at[PARTS - 1] = im;
    } else
        at[0] = beta != 0 ? alpha * s[0] + beta * at[0] : alpha * s[0];
}

extern "C" __global__ void __launch_bounds__(THREADS)
    NAME(int64 n_products, const unsigned char *A, const unsigned char *B, unsigned char *C,
         BY_VALUE(gemm_values) p) {
    DYNAMIC_SHARED(shared);
    const int64 first = (int64)blockIdx.x * PRODUCTS;
    const int own = n_products - first < PRODUCTS ? (int)(n_products - first) : PRODUCTS;
    if (p.k > 0) { /* else alpha is 0 */
        fetch<A_ROWS, A_COLUMNS, A_PITCH>(shared, A + (p.first_a + first * p.stride_a) * ELEMENT, p.lda,
                                          p.stride_a, own);
        fetch<B_ROWS, B_COLUMNS, B_PITCH>(shared + A_SIZE * ELEMENT,
                                          B + (p.first_b + first * p.stride_b) * ELEMENT, p.ldb,
                                          p.stride_b, own);
    }
    copy_commit();
    copy_wait<0>();
    __syncthreads();
    const int mine = threadIdx.x / PER, ti = threadIdx.x % PER % TI, tj = threadIdx.x % PER / TI;
    real sum[TM][TN][PARTS];
    UNROLL for (int x = 0; x < TM; ++x)
        UNROLL for (int y = 0; y < TN; ++y)
            UNROLL for (int part = 0; part < PARTS; ++part) sum[x][y][part] = 0;
    if (mine < own && p.k > 0) {
        const real *a = (const real *)shared + mine * SIZE * PARTS, *b = a + A_SIZE * PARTS;
        int from_a[TM], from_b[TN];
        UNROLL for (int x = 0; x < TM; ++x) {
            const int i = SM % TM == 0 ? ti + x * TI : least(ti + x * TI, SM - 1);
            from_a[x] = i * (A_ALONG_K ? A_PITCH : 1) * PARTS;
        }
        UNROLL for (int y = 0; y < TN; ++y) {
            const int j = SN % TN == 0 ? tj + y * TJ : least(tj + y * TJ, SN - 1);
            from_b[y] = j * (B_ALONG_K ? B_PITCH : 1) * PARTS;
        }
        _Pragma("unroll 8") for (int l = 0; l < SK; ++l) {
            real v[TM][PARTS], w[TN][PARTS];
            UNROLL for (int x = 0; x < TM; ++x)
                UNROLL for (int part = 0; part < PARTS; ++part) v[x][part] =
                    (part == 1 && A_CONJUGATE ? -1 : 1) *
                    a[from_a[x] + l * (A_ALONG_K ? 1 : A_PITCH) * PARTS + part];
            UNROLL for (int y = 0; y < TN; ++y)
                UNROLL for (int part = 0; part < PARTS; ++part) w[y][part] =
                    (part == 1 && B_CONJUGATE ? -1 : 1) *
                    b[from_b[y] + l * (B_ALONG_K ? 1 : B_PITCH) * PARTS + part];
            UNROLL for (int y = 0; y < TN; ++y)
                UNROLL for (int x = 0; x < TM; ++x) {
                    sum[x][y][0] += v[x][0] * w[y][0];
                    if constexpr (COMPLEX) {
                        sum[x][y][0] -= v[x][PARTS - 1] * w[y][PARTS - 1];
                        sum[x][y][PARTS - 1] += v[x][0] * w[y][PARTS - 1];
                        sum[x][y][PARTS - 1] += v[x][PARTS - 1] * w[y][0];
                    }
                }
        }
    }
    __syncthreads();
    if (mine < own) {
        real *c = (real *)shared + mine * SIZE * PARTS;
        UNROLL for (int y = 0; y < TN; ++y)
            UNROLL for (int x = 0; x < TM; ++x) {
                const int i = ti + x * TI, j = tj + y * TJ;
                if ((SM % TM == 0 || i < SM) && (SN % TN == 0 || j < SN))
                    UNROLL for (int part = 0; part < PARTS; ++part)
                        c[(j * C_PITCH + i) * PARTS + part] = sum[x][y][part];
            }
    }
    __syncthreads();
    real *to = (real *)C + (p.first_c + first * p.stride_c) * PARTS;
    _Pragma("unroll 4") for (int id = threadIdx.x; id < own * SM * SN; id += THREADS) {
        const int product = id / (SM * SN), column = id % (SM * SN) / SM, row = id % SM;
        const real *s = (const real *)shared + (product * SIZE + column * C_PITCH + row) * PARTS;
        store(to + (product * p.stride_c + column * p.ldc + row) * PARTS, p, s);
    }
}
