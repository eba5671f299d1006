/** Micro-benchmark kernels of single cost primitives, for calibration.
 *  In:  a primitive, the library, device limits
 *  Out: the kernel's source and how to launch it */
#pragma once

#include "fusion/codegen/codegen.h"
#include "fusion/connectivity/connectivity.h"
#include "fusion/cost/cost.h"

/** Arguments of every micro-benchmark kernel, in this order. */
typedef enum probe_argument {
    BENCHMARK_DATA,         /* lists that are loaded or stored */
    BENCHMARK_CONNECTIVITY, /* interleaved connectivity, or matrix positions */
    BENCHMARK_SEED,         /* [4] reals: a value that no sum takes; 0; a scale of the inputs; on
                               the host the extra memory, in reals */
    BENCHMARK_SINK,         /* [1] real, written only if a sum equals BENCHMARK_SEED[0] */
    BENCHMARK_ARGUMENTS
} probe_argument;

/** How to launch and evaluate the kernels of a primitive. */
typedef struct weft_benchmark {
    const weft_cost_primitive *primitive;
    int64_t n;      /* number of elements: exceeds the caches; enough arithmetic to time */
    int64_t reals;  /* size of BENCHMARK_DATA */
    int width;      /* width of the connectivity needed; 0: none */
    bool positions; /* BENCHMARK_CONNECTIVITY has matrix positions */
    size_t shared;  /* bytes of shared memory per block (GPU, primitives in shared memory) */
    double share;   /* fraction of the measured time due to the primitive itself */
} weft_benchmark;

/** Write the kernel `probe_NUMBER` of a primitive or, in shared memory, one kernel
 *  `probe_NUMBER_WARPS` per number of warps (weft_benchmark_warps).
 *  On a GPU a block processes a contiguous range of elements, as many at once as it has threads, or
 *  lanes for primitives in shared memory. On the host each block touches a part of the extra bytes.
 *  benchmark  caller's; filled
 *  Errors     WEFT_ERROR_UNSUPPORTED: it cannot be measured alone (product kernels), or the device
 *             has no shared memory; WEFT_ERROR_MEMORY */
weft_status weft_benchmark_print(const weft_library *library, const weft_limits *limits,
                                 const weft_cost_primitive *primitive, int number, weft_text *out,
                                 weft_benchmark *benchmark, weft_error *error);
/** The numbers of warps per block at which a primitive in shared memory is measured. Returns how
 *  many. */
int weft_benchmark_warps(const weft_limits *limits, const weft_cost_primitive *primitive,
                         int out[8]);
/** Write the device's prelude, for primitives of single or double precision. */
void weft_benchmark_prelude(const weft_limits *limits, bool single, weft_text *out);
/* ---- generators ---- */

/** Context of the kernel generators. */
typedef struct weft_benchmark_writer {
    const weft_backend *backend;
    const weft_cost_primitive *primitive;
    const weft_specialisation *specialisation;              /* computes; NULL: arithmetic */
    int counts[WEFT_ARGUMENTS_MAX], n_arguments, n_results; /* computes: components */
    int lanes;
    weft_text *out;
} weft_benchmark_writer;
/** On-chip values per element of a load or store. */
int weft_benchmark_values(const weft_cost_primitive *primitive);
/** Write the kernel with data in registers, or in shared memory with `warps` warps per block. */
weft_status weft_benchmark_registers(const weft_benchmark_writer *p, int number, weft_error *error);
weft_status weft_benchmark_shared(const weft_benchmark_writer *p, int number, int warps,
                                  weft_error *error);
/** Write the body of a compute primitive: for (t = first; t < threads; t += step) with operands
 *  v_0, v_1, ... and result v_r. */
weft_status weft_benchmark_body(const weft_benchmark_writer *p, const char *first, const char *step,
                                weft_error *error);

/** Number of nodes of the synthetic connectivity of n elements. */
int64_t weft_benchmark_nodes(int64_t n, int width);
/** The synthetic connectivity of n elements to n_nodes nodes.
 *  indices  [n][width] caller's; free
 *  Errors   WEFT_ERROR_MEMORY and those of weft_connectivity_make */
weft_status weft_benchmark_connectivity(weft_device *device, int64_t n, int width, int64_t n_nodes,
                                        int32_t **indices, weft_connectivity **out,
                                        weft_error *error);
/** Positions in a matrix of 2 * width entries per row for a synthetic connectivity, interleaved by
 *  `lanes` elements. */
weft_status weft_benchmark_positions(weft_device *device, const int32_t *indices, int64_t n,
                                     int width, int lanes, weft_memory **out, weft_error *error);
