/** Kernels that hold one primitive each, for calibration. */
#pragma once

#include "fusion/codegen/codegen.h"
#include "fusion/cost/cost.h"

/** Arguments of every probe, in this order. */
typedef enum probe_argument {
    BENCHMARK_DATA,         /* lists that are loaded or stored */
    BENCHMARK_CONNECTIVITY, /* interleaved connectivity, or positions */
    BENCHMARK_SEED,         /* [4] reals: what a sum never is; 0; values; and `extra` on the host */
    BENCHMARK_SINK,         /* [1] real, stored to when a sum is what it never is */
    BENCHMARK_ARGUMENTS
} probe_argument;

/** What a primitive's kernels want and give. */
typedef struct weft_benchmark {
    const weft_cost_primitive *primitive;
    int64_t n;      /* elements to measure with: memory, not caches; much arithmetic */
    int64_t reals;  /* of BENCHMARK_DATA */
    int width;      /* of the connectivity that BENCHMARK_CONNECTIVITY is; 0: none */
    bool positions; /* BENCHMARK_CONNECTIVITY is positions in a matrix */
    size_t shared;  /* bytes of a block that it works in itself (cuda, shared) */
    double share;   /* of the measured time that is the primitive's own: the rest feeds it */
} weft_benchmark;

/** Write the kernel `probe_NUMBER` of a primitive, or, of one in shared memory, one for each number
 * of warps that it is measured with, `probe_NUMBER_WARPS`.
 *  On cuda a block does `instances` at once, and its share of all elements one after the other.
 *  On the host extra bytes are touched from block to block.
 *  Errors WEFT_ERROR_UNSUPPORTED: it cannot be measured alone (product kernels) */
weft_status weft_benchmark_print(const weft_library *library, const weft_limits *limits,
                                 const weft_cost_primitive *primitive, int number, weft_text *out,
                                 weft_benchmark *benchmark, weft_error *error);
/** The numbers of warps of a block that a primitive in shared memory is measured with. */
int weft_benchmark_warps(const weft_cost_primitive *primitive, int out[8]);
/** The prelude of its device, for primitives of one type. */
void weft_benchmark_prelude(const weft_limits *limits, bool single, weft_text *out);
/* ---- their writers ---- */

/** What the writers of kernels know of a primitive. */
typedef struct weft_benchmark_writer {
    const weft_backend *backend;
    const weft_cost_primitive *primitive;
    const weft_specialisation *specialisation;              /* computes; NULL: arithmetic */
    int counts[WEFT_ARGUMENTS_MAX], n_arguments, n_results; /* computes: components */
    int lanes;
    weft_text *out;
} weft_benchmark_writer;
/** Values of an element of a load or store on chip. */
int weft_benchmark_values(const weft_cost_primitive *primitive);
weft_status weft_benchmark_registers(const weft_benchmark_writer *p, int number, weft_error *error);
weft_status weft_benchmark_shared(const weft_benchmark_writer *p, int number, int warps,
                                  weft_error *error);
/** A compute's body: for (t = first; t < threads; t += step), from v_0, v_1, ... to v_r. */
weft_status weft_benchmark_body(const weft_benchmark_writer *p, const char *first, const char *step,
                                weft_error *error);

/** Nodes of the connectivity that indirect probes go through: node(i, a) for instance i. */
int64_t weft_benchmark_nodes(int64_t n, int width);
int32_t weft_benchmark_node(int64_t specialisation, int vertex, int64_t n_nodes, int width);
