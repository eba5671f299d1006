/** Kernels that hold one routine each, for calibration. */
#pragma once

#include "fusion/codegen/codegen.h"
#include "fusion/cost/cost.h"

/** Arguments of every probe, in this order. */
typedef enum probe_argument {
    PROBE_DATA, /* lists that are loaded or stored */
    PROBE_MAP,  /* interleaved connectivity, or positions */
    PROBE_SEED, /* [4] reals: what a sum never is; 0; values; and `extra` on the host */
    PROBE_SINK, /* [1] real, stored to when a sum is what it never is */
    PROBE_ARGUMENTS
} probe_argument;

/** What a routine's kernels want and give. */
typedef struct weft_probe {
    const weft_cost_routine *routine;
    int64_t n;      /* instances to measure with: memory, not caches; much arithmetic */
    int64_t reals;  /* of PROBE_DATA */
    int width;      /* of the connectivity that PROBE_MAP is; 0: none */
    bool positions; /* PROBE_MAP is positions in a matrix */
    size_t shared;  /* bytes of a block that it works in itself (cuda, shared) */
    double share;   /* of the measured time that is the routine's own: the rest feeds it */
} weft_probe;

/** Write the kernel `probe_NUMBER` of a routine, or, of one in shared memory, one for each number
 * of warps that it is measured with, `probe_NUMBER_WARPS`.
 *  On cuda a block does `instances` at once, and its share of all instances one after the other.
 *  On the host extra bytes are touched from block to block.
 *  Errors WEFT_ERROR_UNSUPPORTED: it cannot be measured alone (rows routines) */
weft_status weft_probe_print(const weft_library *library, const weft_limits *limits,
                             const weft_cost_routine *routine, int number, weft_text *out,
                             weft_probe *probe, weft_error *error);
/** The numbers of warps of a block that a routine in shared memory is measured with. */
int weft_probe_warps(const weft_cost_routine *routine, int out[8]);
/** The prelude of its device, for routines of one type. */
void weft_probe_prelude(const weft_limits *limits, bool single, weft_text *out);
/* ---- their writers ---- */

/** What the writers of kernels know of a routine. */
typedef struct weft_probe_writer {
    const weft_backend *backend;
    const weft_cost_routine *routine;
    const weft_instance *instance;                          /* computes; NULL: arithmetic */
    int counts[WEFT_ARGUMENTS_MAX], n_arguments, n_results; /* computes: components */
    int lanes;
    weft_text *out;
} weft_probe_writer;
/** Values of an instance of a load or store on chip. */
int weft_probe_values(const weft_cost_routine *routine);
weft_status weft_probe_registers(const weft_probe_writer *p, int number, weft_error *error);
weft_status weft_probe_shared(const weft_probe_writer *p, int number, int warps, weft_error *error);
/** A compute's body: for (t = first; t < threads; t += step), from v_0, v_1, ... to v_r. */
weft_status weft_probe_body(const weft_probe_writer *p, const char *first, const char *step,
                            weft_error *error);

/** Nodes of the connectivity that indirect probes go through: node(i, a) for instance i. */
int64_t weft_probe_nodes(int64_t n, int width);
int32_t weft_probe_node(int64_t instance, int vertex, int64_t n_nodes, int width);
