/** Generated CUDA text as C++ that a host runs, for tests without a GPU. In: CUDA text. Out: text for
 *  g++, whose entry `emulate_wide` runs a kernel thread by thread (kernels/prelude/cuda_on_host_run.h).
 *
 *  Decision  docs/decisions/0053-cuda-text-runs-on-the-host.md */
#pragma once

#include "core/weft_core.h"

/** Run all blocks and threads of a kernel.
 *  kernel        its address in the same object
 *  arguments     [96], host memory
 *  order         of threads and blocks: 0 by number, 1 in reverse, 2 from both ends alternately */
typedef void weft_emulate_wide(void *kernel, long long n, void **arguments, unsigned n_blocks,
                               unsigned n_threads, unsigned shared_bytes, int order);
/** `emulate_failure`: what was wrong with the last kernel, such as a barrier that not all threads reach; NULL: nothing.
 *  Failures before the first question abort. */
typedef const char *weft_emulate_failure(void);
enum { WEFT_EMULATED_ARGUMENTS = 96, WEFT_EMULATED_ORDERS = 3 };

/** Add the C++ text. */
void weft_cuda_on_host(const char *cuda, weft_text *out);
/** The same without the two files of kernels/prelude/ that it starts with: who compiles many texts includes cuda_on_host.h,
 *  precompiled, and links an object of cuda_on_host_run.h. */
void weft_cuda_on_host_text(const char *cuda, weft_text *out);
