/* Writes the GPU prelude from its template kernels/prelude/cuda.h. */
#include "core/base/fault.h"
#include "fusion/base/intrinsics.h"
#include "fusion/base/prelude.h"
#include "fusion/base/target.h"
#include "fusion/codegen/private.h"

#include <stdio.h>

static void functions(weft_text *out) {
    for (int i = 0; i < weft_intrinsics_count; ++i) {
        const weft_intrinsic *one = &weft_intrinsics[i];
        const bool two = one->n_arguments == 2;
        if (one->flags & INTRINSIC_CUDA_OWN)
            continue;
        weft_text_add(out, "INLINE real weft_%s(real x%s) { return ", one->name,
                      two ? ", real y" : "");
        if (one->c)
            weft_text_add(out, "%s(x%s)", one->c, two ? ", y" : "");
        else
            weft_text_add(out, "%s", one->plain);
        weft_text_add(out, "; }\n");
    }
}

static void cuda_prelude(weft_text *out, const weft_limits *limits, bool single) {
    const weft_target *target = &limits->target;
    char numbers[5][16];
    weft_text calls = {0};
    snprintf(numbers[0], sizeof numbers[0], "%d", target->warp_threads);
    snprintf(numbers[1], sizeof numbers[1], "%d", target->block_threads);
    snprintf(numbers[2], sizeof numbers[2], "%d", target->reduction_tile);
    snprintf(numbers[3], sizeof numbers[3], "%d", target->joined_direct);
    snprintf(numbers[4], sizeof numbers[4], "%d", target->joined_before);
    functions(&calls);
    const weft_prelude_value values[] = {
        {"lanes", numbers[0]},
        {"threads", numbers[1]},
        {"chunk", numbers[2]},
        {"direct", numbers[3]},
        {"joined", numbers[4]},
        {"scalar", single ? "float" : "double"},
        {"functions", calls.failed ? "" : calls.data},
        {"least",
         weft_fault("wrong_neutral") ? "0" : "-__longlong_as_double(0x7ff0000000000000LL)"},
        {NULL, NULL},
    };
    weft_prelude_write("cuda.h", values, out);
    out->failed |= calls.failed;
    weft_text_free(&calls);
}

const weft_backend weft_backend_cuda = {.language = "cuda",
                                        .cheaply = "",
                                        .prelude = cuda_prelude,
                                        .nested = "nested_cuda.h",
                                        .combine = "combine_cuda.h",
                                        .exact = "exact_cuda.h",
                                        .combine_nested = "combine_nested_cuda.h",
                                        .element = "((real)element)",
                                        .element_of_pair = "((real)(i * n_second + j))",
                                        .is_threaded = true};
