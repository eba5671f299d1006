/** Source text. In: a compilation that has its steps. Out: the text of its module. */
#pragma once

#include "fusion/plan/plan.h"

/** The module of a compilation: the prelude once, the kernels of each segment, and on devices with
 *  threads those of one thread, which all have as arguments after the number of elements the
 *  uniform names that weft_control_uses says, in their order, then `active` of the loop:
 *  "scalars_N"; "loop_N_begin" and "loop_N_iteration", with more (fusion/codegen/program.c).
 *  out     in the compilation's arena
 *  Errors  WEFT_ERROR_MEMORY */
weft_status weft_source_make(const weft_compilation *compilation, const char **out,
                             weft_error *error);

/** How a backend spells what differs. */
typedef struct weft_backend {
    const char *language; /* see weft_limits */
    /** Everything before the kernels: types, loads, stores, intrinsics. */
    void (*prelude)(weft_text *out, int lanes, bool single);
    const char *splat; /* see weft_body_style */
    /** One thread per element, its number in its block `lane`; else a loop over blocks whose
     *  elements are the lanes of vectors. */
    bool is_threaded;
} weft_backend;
/** The one of the language, or where that is NULL the first of the execution, that limits name. */
const weft_backend *weft_source_backend(const weft_limits *limits);
/** Threads of a block of a kernel with one thread per element, where they are not WEFT_CUDA_THREADS
 * with one element each; else 0. */
int weft_source_block_threads(const weft_plan_kernel *kernel);

/** Behind a predicated kernel's name: the kernel that zeroes a list for it. Arguments: list,
 *  active. */
#define WEFT_CLEAR_SUFFIX "_clear"
