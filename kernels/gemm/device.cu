/* What the kernels of dense products have in common: their arguments, and instructions of the GPU.
 * kernels/prelude/cuda_on_host.h has the same instructions in C++, for tests without a GPU. */
#define INLINE __device__ __forceinline__

typedef long long int64;

/* As weft_gemm_values of the host (gemm/private.h). Of a product with transposed C the host has
 * exchanged A and B, m and n. Units: elements. */
struct gemm_values {
    int m, n, k, conjugate; /* conjugate: unused */
    int64 lda, ldb, ldc;
    int64 first_a, first_b, first_c;    /* of the first product */
    int64 stride_a, stride_b, stride_c; /* from one product of a batch to the next */
    double alpha[2], beta[2];           /* real and imaginary part */
};

#ifdef __CUDACC__
#define BY_VALUE(type) const type
#define DYNAMIC_SHARED(name) extern __shared__ __align__(128) unsigned char name[]
#define UNROLL _Pragma("unroll")
#define NO_UNROLL _Pragma("unroll 1")

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

/* x, of which the compiler does not know that it is the same in every iteration: what depends on it is
 * computed where it is used, rather than kept in registers. */
INLINE int64 opaque(int64 x) {
    asm volatile("" : "+l"(x));
    return x;
}

/* -x by one integer operation, which leaves the FP64 units alone. */
INLINE double negative(double x) {
    return __hiloint2double(__double2hiint(x) ^ (int)0x80000000, __double2loint(x));
}
#endif

/* Which tile of C a block computes, of `down` x `across`: groups of GROUP rows of tiles, so that
 * the blocks that run at once share rows of A and columns of B in the L2 cache. */
template <int SIZE> INLINE void find_tile(int block, int down, int across, int &row, int &column) {
    const int per = SIZE * across, group = block / per, first = group * SIZE;
    const int rows = down - first < SIZE ? down - first : SIZE;
    row = first + block % per % rows;
    column = block % per / rows;
}

INLINE int least(int a, int b) {
    return a < b ? a : b;
}
INLINE int clamp_bytes(int n, int most) {
    return n < 0 ? 0 : n < most ? n : most;
}
