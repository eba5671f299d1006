/** The most that a GPU can do, measured: how fast it copies memory, and how fast its units multiply what lies in
 *  registers. No product takes less time than the larger of both shares.
 *  Source  Williams, Waterman and Patterson, Roofline, 2009 */
#pragma once

#include "gemm/kernels.h"

typedef struct weft_gemm_roof {
    double bandwidth; /* bytes per second read and written by a copy */
    /* operations per second of the units that a type uses: FP64 tensor cores where there are any
     * for D and Z, else units of fused multiply-adds */
    double flops;
} weft_gemm_roof;
/** Measure for a type, in some 20 ms; kernels are compiled when first needed.
 *  Errors  WEFT_ERROR_UNSUPPORTED: not a GPU; WEFT_ERROR_MEMORY; those of compilation and launches */
weft_status weft_gemm_roof_measure(weft_gemm_kernels *kernels, weft_gemm_type type,
                                   weft_gemm_roof *out, weft_error *error);
/** The least seconds for these numbers of operations and bytes.
 *  arithmetic  may be NULL; is it the operations that limit? */
double weft_gemm_roof_seconds(const weft_gemm_roof *roof, double flops, double bytes,
                              bool *arithmetic);
