/** Implementations of fusions: order, variants, block shape, placement of data, predicted time. */
#pragma once

#include "fusion/plan/fusions.h"

typedef enum weft_placement { PLACE_REGISTER, PLACE_SHARED } weft_placement;

/** What the kernel does with a value besides computing with it. */
typedef struct weft_implementation {
    const weft_fusion *fusion;
    int *order;       /* [fusion->n_calls] calls in the order of their execution */
    int *variants;    /* [fusion->n_calls] variant of order[i] */
    bool order_exact; /* no order needs less on chip */
    int elements_per_block, serial_iterations;
    /* on-chip data: one entry a value-and-connectivity used in the kernel */
    int n_onchip;
    weft_operand *onchip; /* offset 0, whole */
    int **slots; /* [n_calls][n_operands + 1] in onchip: of order[i]'s operands and result */
    bool *produced_here; /* [n_onchip] made by this kernel */
    bool *live_out;      /* [n_onchip] needed in memory after it (weft_value_is_live_out) */
    weft_placement *placement;
    int onchip_peak; /* components live at once, most */
    /* cuda, calls of several threads per element (fusion/plan/placement.c) */
    int threads_per_element; /* threads of an element; 0: one, and everything in its
                                              registers */
    int shared_components;   /* an element: less than their sum where elements lie over others */
    int register_components; /* of those in registers, live at once, most */
    int *offsets;            /* [n_onchip] of those in shared memory, in components */
    bool overlaps, allocation_proved; /* they do; and shared_components cannot be less */
    bool *barriers;                   /* [n_calls + 1] before order[i], and before the stores */
    /* traffic per element, in bytes */
    double bytes_loaded, bytes_stored, flops;
    double transfer_seconds, compute_seconds; /* predicted per element */
    double equation_seconds; /* transfer by equation 3 alone, without a device's own terms */
    double latency_seconds;  /* of that: waits beside a longer one */
    double seconds;          /* the larger of the two, with what both wait for */
    double cost;        /* of all elements (weft_compile_options.instances), launches among them */
    bool measured;      /* the cost source knew all of its primitives */
    const char *reason; /* why it was pruned; NULL: kept */
} weft_implementation;

typedef struct weft_implementations {
    weft_implementation *list; /* in the order of their fusions, the best of a fusion first */
    int n, capacity;
    /* of those looked at; and choices of variants that were too many to look at */
    int64_t considered, too_large, too_many_threads, dominated, slower, not_as_directed, untried;
} weft_implementations;

enum { WEFT_BEAM_WIDTH = 16 /* of a fusion */ };

weft_status weft_implementations_make(weft_arena *arena, const weft_graph *graph,
                                      const weft_fusions *fusions, const weft_limits *limits,
                                      const weft_compile_options *options,
                                      weft_implementations **out, weft_error *error);
