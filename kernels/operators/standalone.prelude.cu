/* What the text of a product kernel needs where nothing is fused to it. */
#ifdef __CUDACC_RTC__ /* which has no <stdint.h> */
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long long int64_t;
#else
#include <stdint.h>
#endif

#define LANES 32
#define INLINE static __device__ __forceinline__
#define UNROLL _Pragma("unroll")
#define ROWS_PER_THREAD (ROWS_NODES / ROWS_THREADS)
#define LOAD(j) v[j]
#define RETURN_IF_DONE (void)0
typedef double scalar;
typedef scalar real;

