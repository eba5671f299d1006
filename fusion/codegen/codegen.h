/** Source text. In: graph, plan, limits, options. Out: the text of the kernels. */
#ifndef FUSION_CODEGEN_CODEGEN_H
#define FUSION_CODEGEN_CODEGEN_H

#include "core/weft_core.h"
#include "fusion/graph/graph.h"
#include "fusion/plan/plan.h"
#include "fusion/weft_compile.h"

weft_status weft_source_make(weft_arena *arena, const weft_graph *graph, const weft_plan *plan,
                             const weft_limits *limits, const weft_compile_options *options,
                             const char **out, weft_error *error);

/** How a backend spells what differs. */
typedef struct weft_backend {
    /** Everything before the kernels: types, loads, stores, intrinsics. */
    void (*prelude)(weft_text *out, int lanes, bool single);
    const char *splat; /* see weft_body_style */
    /** One thread an instance, its number in its block `lane`; else a loop over blocks whose
     *  instances are the lanes of vectors. */
    bool is_threaded;
} weft_backend;
const weft_backend *weft_source_backend(int lanes, const weft_limits *limits);
/** Threads of a block of a kernel with a thread an instance, where they are not WEFT_CUDA_THREADS
 * with one instance each; else 0. */
int weft_source_block_threads(const weft_plan_kernel *kernel);

/** Behind a guarded kernel's name: the kernel that zeroes a list for it. Arguments: list, go. */
#define WEFT_CLEAR_SUFFIX "_clear"

#endif
