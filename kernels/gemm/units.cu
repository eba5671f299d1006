/* The instructions of FP64 tensor cores. kernels/prelude/cuda_on_host.h has them in C++. */
#ifdef __CUDACC__
/* C += A B by a warp, 16 x 8 x K (K = 0: 16 x 8 x 4 in two instructions of 8 rows; 1: 8 x 8 x 4).
 * Lane 4 g + t holds
 *     a[2 s + h]  row g + 8 h, column t + 4 s       b[s]  row t + 4 s, column g
 *     c[2 h + e]  row g + 8 h, column 2 t + e */
template <int K> INLINE void mma(double *c, const double *a, const double *b) {
#if __CUDA_ARCH__ >= 900
    if constexpr (K == 16)
        asm("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 "
            "{%0,%1,%2,%3},{%4,%5,%6,%7,%8,%9,%10,%11},{%12,%13,%14,%15},{%0,%1,%2,%3};"
            : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
            : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]),
              "d"(a[7]), "d"(b[0]), "d"(b[1]), "d"(b[2]), "d"(b[3]));
    else if constexpr (K == 8)
        asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 "
            "{%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
            : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
            : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
    else if constexpr (K == 4)
        asm("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 "
            "{%0,%1,%2,%3},{%4,%5},{%6},{%0,%1,%2,%3};"
            : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
            : "d"(a[0]), "d"(a[1]), "d"(b[0]));
#endif
#if __CUDA_ARCH__ >= 800
    if constexpr (K <= 1)
        asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1},{%2},{%3},{%0,%1};"
            : "+d"(c[0]), "+d"(c[1])
            : "d"(a[0]), "d"(b[0]));
    if constexpr (K == 0)
        asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1},{%2},{%3},{%0,%1};"
            : "+d"(c[2]), "+d"(c[3])
            : "d"(a[1]), "d"(b[0]));
#endif
}
#endif

