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
