/** Implementations of fusions: order, variants, block shape, placement of data, predicted time.
 *  In:  graph, fusions, limits, options (with the cost source)
 *  Out: the best few implementations of each fusion */
#pragma once

#include "fusion/plan/fusions.h"

typedef enum weft_placement {
    PLACE_REGISTER,    /* registers of one thread; uniform values: of every thread */
    PLACE_SHARED,      /* shared memory */
    PLACE_OWN_REGISTER /* registers of several threads, each with its own components alone */
} weft_placement;

/** Where the barriers before a call are, as bits. */
typedef enum weft_barrier {
    BARRIER_BEFORE_LOADS = 1, /* before the values that are loaded for it */
    BARRIER_BEFORE_CALL = 2,  /* after them */
    BARRIER_OF_WARP = 4       /* the barrier before the call is among the threads of one warp */
} weft_barrier;

/** How independent kernels share one launch. Threads and blocks are those of their own launches. */
typedef enum weft_combination {
    INTER_BLOCK,  /* blocks of one and of the other: the most threads, the sum of the blocks */
    INNER_BLOCK,  /* every block has threads of all: the sum of the threads, the most blocks */
    INNER_THREAD, /* a thread has an element of each: the most threads, the most blocks */
    WEFT_COMBINATIONS
} weft_combination;

/** One way to execute a fusion as a kernel. */
typedef struct weft_implementation {
    const weft_fusion *fusion;
    int *order;       /* [fusion->n_calls] calls in order of execution */
    int *variants;    /* [fusion->n_calls] variant of order[i] */
    bool order_exact; /* proved: no order needs fewer components on chip */
    int elements_per_block, serial_iterations;
    int stride; /* between the elements of a thread: elements_per_block, or a divisor of it */
    /* on-chip data: one entry per (value, connectivity) used in the kernel */
    int n_onchip;
    weft_operand *onchip; /* whole values, offset 0 */
    int **slots; /* [n_calls][n_operands + 1] index in onchip of order[i]'s operands and result */
    bool *produced_here;       /* [n_onchip] computed by this kernel */
    bool *live_out;            /* [n_onchip] needed in memory after it (weft_value_is_live_out) */
    weft_placement *placement; /* [n_onchip] */
    int onchip_peak;           /* maximum number of components live at once */
    /* GPU, several threads per element (fusion/plan/placement.c) */
    int threads_per_element; /* 0: one thread, with all data in registers */
    bool is_dense; /* products by warps (fusion/plan/dense.h); the variants are not used */
    /* of native bodies, which need all threads of an element, one after the other in the block; 0: there
     * is none, and those of one thread number follow one another */
    int joint_threads;
    int shared_components;   /* shared memory per element; less than the sum where values overlap */
    int register_components; /* maximum number live at once in the registers of a thread */
    int *offsets;            /* [n_onchip] in shared memory, in components */
    /* overlaps: values with disjoint live ranges may share memory; then allocation_proved says
       that shared_components is minimal */
    bool overlaps, allocation_proved;
    unsigned char *barriers; /* [n_calls] before order[i]: weft_barrier */
    /* [n_onchip] values loaded: the position of the call before which they are loaded; results: of
     * the call that computes them */
    int *load_position;
    /* per element */
    double bytes_loaded, bytes_stored, flops;
    /* predicted seconds per element */
    double transfer_seconds, compute_seconds;
    double equation_seconds; /* transfer by equation 3 alone, without fitted terms */
    double latency_seconds;  /* part of it: latencies hidden behind the longest one */
    double seconds;          /* of the kernel, with fitted terms and barriers */
    double cost;             /* seconds of all elements (options.elements), with launches */
    /* per thread, stored and loaded, as the device's compiler reported; 0: none, or not
     * compiled; in seconds and cost */
    int spilled_bytes;
    bool spills_are_known;  /* compiled: spilled_bytes replaces the estimate */
    int compiled_registers; /* of a thread, as the compiler reported; 0: not known */
    bool measured;          /* the cost source knew all of its primitives */
    const char *reason;     /* why it was pruned; NULL: kept */
    const struct weft_predictor *predictor; /* that made the prediction, in the same arena */
} weft_implementation;

typedef struct weft_implementations {
    weft_implementation *list; /* grouped by fusion, best first */
    int n;
    /* statistics: implementations considered; those rejected, by reason; variant choices skipped */
    int64_t considered, too_large, too_many_threads, dominated, slower, not_as_directed, untried;
} weft_implementations;

enum { WEFT_BEAM_WIDTH = 16 /* maximum number of implementations kept per fusion */ };

/** Search the implementations of every fusion, in the arena.
 *  Errors  WEFT_ERROR_USAGE: a forced variant that does not exist, or of a function not called;
 *          those of the cost source; WEFT_ERROR_MEMORY */
weft_status weft_implementations_make(weft_arena *arena, const weft_graph *graph,
                                      const weft_fusions *fusions, const weft_limits *limits,
                                      const weft_compile_options *options,
                                      weft_implementations **out, weft_error *error);
