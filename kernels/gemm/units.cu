/* Instructions: asynchronous copies, FP64 tensor cores. kernels/prelude/cuda_on_host.h has them in C++. */
#ifdef __CUDACC__
INLINE unsigned shared_address(const void *p) {
    return (unsigned)__cvta_generic_to_shared(p);
}

/* Copy BYTES to shared memory while the threads compute; only `present` of them are read, the
 * others are zero. */
template <int BYTES> INLINE void copy_async(void *to, const void *from, int present) {
#if __CUDA_ARCH__ >= 800
    if constexpr (BYTES == 16)
        asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(
                         shared_address(to)),
                     "l"(from), "r"(present)
                     : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(shared_address(to)),
                     "l"(from), "n"(BYTES), "r"(present)
                     : "memory");
#else
    UNROLL for (int i = 0; i < BYTES / 4; ++i)
        ((float *)to)[i] = 4 * i < present ? ((const float *)from)[i] : 0;
#endif
}
template <int BYTES> INLINE void copy_async(void *to, const void *from) {
#if __CUDA_ARCH__ >= 800
    if constexpr (BYTES == 16)
        asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"(shared_address(to)),
                     "l"(from)
                     : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(shared_address(to)),
                     "l"(from), "n"(BYTES)
                     : "memory");
#else
    copy_async<BYTES>(to, from, BYTES);
#endif
}
/* A group is what was copied since the last one. */
INLINE void copy_commit() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
/* Wait until at most N groups of this thread are on their way. */
template <int N> INLINE void copy_wait() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
#endif
}

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

