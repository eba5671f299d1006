#include "operator_internal.h"

enum { WIDE = 8 };
typedef double wide __attribute__((vector_size(8 * WIDE), aligned(8), may_alias));

#define WIDE_NAME(name) name##_plain
#define WIDE_TARGET
#include "wide.h"
#undef WIDE_NAME
#undef WIDE_TARGET

#if defined(__x86_64__)
#define WIDE_NAME(name) name##_avx2
#define WIDE_TARGET __attribute__((target("avx2,fma")))
#include "wide.h"
#undef WIDE_NAME
#undef WIDE_TARGET

#define WIDE_NAME(name) name##_avx512
#define WIDE_TARGET __attribute__((target("avx2,fma,avx512f")))
#include "wide.h"
#undef WIDE_NAME
#undef WIDE_TARGET
#endif

const weft_wide_kernels *weft_wide(void)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f"))
        return &kernels_avx512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return &kernels_avx2;
#endif
    return &kernels_plain;
}
