/* Tiles of products of small complex matrices, a tile in the registers of a warp: as tile.cu, with one real tile for
 * each part. a(i, l) and b(l, j) are pairs. */
#if SINGLE
typedef float2 both;
#else
typedef double2 both;
#endif
struct __align__(2 * sizeof(real)) pair {
    real re, im;
};

template <int M, int N, int MB, int NB> struct complex_tile {
    typedef warp_tile<M, N, MB, NB> part;
    static constexpr int COUNT = part::COUNT, ENTRIES = part::ENTRIES;
    part re, im;

    MEMBER void start(int number) {
        re.start(number);
        im.start(number);
    }
    MEMBER int row_of(int i) const {
        return re.row_of(i);
    }
    MEMBER int column_of(int i) const {
        return re.column_of(i);
    }
    MEMBER bool has(int i) const {
        return re.has(i);
    }
    /* += A B, with sums of K */
    template <int K, class A, class B> MEMBER void add(const A &a, const B &b) {
        constexpr int AT_ONCE = MATRIX_DEPTH > 0 ? 4 : 2, WHOLE = K / AT_ONCE * AT_ONCE;
        _Pragma("unroll 4") for (int l = 0; l < WHOLE; l += AT_ONCE) step<AT_ONCE>(a, b, l);
        if constexpr (WHOLE < K)
            step<K - WHOLE>(a, b, WHOLE);
    }
    static MEMBER pair conjugate_a(pair x) {
        return {x.re, A_CONJUGATE ? -x.im : x.im};
    }
    static MEMBER pair conjugate_b(pair x) {
        return {x.re, B_CONJUGATE ? -x.im : x.im};
    }
#if MATRIX_DEPTH > 0
    /* L of the K terms, at most 4 */
    template <int L, class A, class B> MEMBER void step(const A &a, const B &b, int l) {
        const int g = threadIdx.x % 32 / 4, mine = l + threadIdx.x % 4;
        const bool inside = L == 4 || threadIdx.x % 4 < L;
        constexpr int KIND = MATRIX_DEPTH >= 16 ? 4 : 0;
        real x[MB][2], y[MB][2], minus[MB][2];
        pair w[NB];
        UNROLL for (int i = 0; i < MB * 2; ++i) {
            const int at = re.row + i * 8 + g;
            const pair v = inside && (M % (16 * MB) == 0 || at < M) ? conjugate_a(a(at, mine)) : pair{0, 0};
            x[i / 2][i % 2] = v.re;
            y[i / 2][i % 2] = v.im;
            minus[i / 2][i % 2] = -v.im;
        }
        UNROLL for (int j = 0; j < NB; ++j) {
            const int at = re.column + j * 8 + g;
            w[j] = inside && (N % (8 * NB) == 0 || at < N) ? conjugate_b(b(mine, at)) : pair{0, 0};
        }
        UNROLL for (int i = 0; i < MB; ++i)
            UNROLL for (int j = 0; j < NB; ++j) {
                const int at = (i * NB + j) * 4;
                mma<KIND>(re.v + at, x[i], &w[j].re);
                mma<KIND>(im.v + at, x[i], &w[j].im);
                mma<KIND>(re.v + at, minus[i], &w[j].im);
                mma<KIND>(im.v + at, y[i], &w[j].re);
            }
    }
#else
    /* L of the K terms: what is contiguous in shared memory is read in one access by the compiler */
    template <int L, class A, class B> MEMBER void step(const A &a, const B &b, int l) {
        pair x[MB * 2][L], w[NB * 2][L];
        UNROLL for (int i = 0; i < MB * 2; ++i) {
            const int at = row_of(i / 2 * 4 * NB + i % 2 * 2);
            UNROLL for (int s = 0; s < L; ++s)
                x[i][s] = M % (16 * MB) == 0 || at < M ? conjugate_a(a(at, l + s)) : pair{0, 0};
        }
        UNROLL for (int j = 0; j < NB * 2; ++j) {
            const int at = column_of(j / 2 * 4 + j % 2);
            UNROLL for (int s = 0; s < L; ++s)
                w[j][s] = N % (8 * NB) == 0 || at < N ? conjugate_b(b(l + s, at)) : pair{0, 0};
        }
        UNROLL for (int s = 0; s < L; ++s)
            UNROLL for (int i = 0; i < ENTRIES; ++i) {
                const pair u = x[i / (4 * NB) * 2 + i % 4 / 2][s], v = w[i / 4 % NB * 2 + i % 2][s];
                re.v[i] += u.re * v.re;
                im.v[i] += u.im * v.re;
                re.v[i] -= u.im * v.im;
                im.v[i] += u.re * v.im;
            }
    }
#endif
};
