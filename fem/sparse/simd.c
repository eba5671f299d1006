/* Instantiates the CSR loops for each instruction set, and selects one at run time. */
#include "fem/sparse/csr.h"

#include <math.h>
#include <string.h>

enum { EXACT_LANES = 8 };
typedef double exact_reals __attribute__((vector_size(EXACT_LANES * sizeof(double))));
typedef int64_t exact_bits __attribute__((vector_size(EXACT_LANES * sizeof(int64_t))));
typedef uint64_t exact_words __attribute__((vector_size(EXACT_LANES * sizeof(uint64_t))));

#define SIMD_NAME(name) name##_plain
#define SIMD_TARGET
#include "fem/sparse/simd.h"
#undef SIMD_NAME
#undef SIMD_TARGET

#if defined(__x86_64__)
#define SIMD_NAME(name) name##_avx2
#define SIMD_TARGET __attribute__((target("avx2,fma")))
#include "fem/sparse/simd.h"
#undef SIMD_NAME
#undef SIMD_TARGET

#define SIMD_NAME(name) name##_avx512
#define SIMD_TARGET __attribute__((target("avx2,fma,avx512f")))
#include "fem/sparse/simd.h"
#undef SIMD_NAME
#undef SIMD_TARGET
#endif

weft_vectors weft_vectors_here(void) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f"))
        return WEFT_VECTORS_AVX512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return WEFT_VECTORS_AVX2;
#endif
    return WEFT_VECTORS_PLAIN;
}

weft_vectors weft_vectors_of(const weft_device *device) {
    const weft_vectors here = weft_vectors_here();
    const weft_limits *limits = device ? weft_device_limits(device) : NULL;
    if (!limits || limits->execution != WEFT_EXECUTION_SIMD || limits->records_only)
        return here;
    const int lanes = limits->lanes_double;
    const weft_vectors reported = lanes >= 8   ? WEFT_VECTORS_AVX512
                                  : lanes >= 4 ? WEFT_VECTORS_AVX2
                                               : WEFT_VECTORS_PLAIN;
    return reported < here ? reported : here;
}

const weft_simd_kernels *weft_simd(weft_vectors vectors) {
#if defined(__x86_64__)
    if (vectors == WEFT_VECTORS_AVX512)
        return &kernels_avx512;
    if (vectors == WEFT_VECTORS_AVX2)
        return &kernels_avx2;
#endif
    (void)vectors;
    return &kernels_plain;
}
