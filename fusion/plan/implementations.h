/** What the search for implementations is made of: the order of calls (fusion/plan/order.c), what must move
 *  (fusion/plan/traffic.c), where data live (fusion/plan/placement.c), and what it takes (fusion/plan/predict.c). */
#pragma once

#include "fusion/cost/cost.h"
#include "fusion/plan/implementation.h"

/* ---- order (fusion/plan/order.c) ----------------------------------------------------------------------
 */

enum { WEFT_ORDER_CALLS = 62 /* of a fusion whose order is looked for; more keep the script's */ };

/** A value on chip: the members of its fusion that make or use it, as bits. */
typedef struct weft_onchip {
    uint64_t users;
    int components;
} weft_onchip;

/** Memory of the search, for one fusion after another. */
typedef struct weft_order_table {
    struct weft_order_state *states;
    uint32_t fusion;
} weft_order_table;

weft_status weft_order_table_make(weft_arena *arena, weft_order_table *out, weft_error *error);
/** made's order, onchip (as the kernel comes to them), onchip_peak and order_exact, from its
 * fusion. */
weft_status weft_order_find(weft_arena *arena, const weft_graph *graph,
                            const weft_dependence *dependence, weft_order_table *table,
                            weft_implementation *made, weft_error *error);

/* ---- shared memory (fusion/plan/allocate.c) -----------------------------------------------------------------
 */

/** An element in shared memory: alive from one position of the order to another, both among them.
 */
typedef struct weft_live_range {
    int components, first, last;
    int offset; /* in components: the answer */
} weft_live_range;

/** The most components alive at once: less is not possible. */
int weft_onchip_bound(const weft_live_range *ranges, int n);
/** Give each an offset, so that no two alive at once overlap; the components needed, the least
 *  possible where *proved. */
int weft_onchip_allocate(weft_live_range *ranges, int n, bool *proved);

/* ---- placement (fusion/plan/placement.c) ------------------------------------------------------------------
 */

typedef struct weft_placer weft_placer;

weft_status weft_placer_make(weft_arena *arena, const weft_graph *graph, const weft_limits *limits,
                             const weft_compile_options *options, weft_placer **out,
                             weft_error *error);
/** How elements lie in shared memory. */
typedef enum weft_arrangement {
    ARRANGE_BOUND, /* not decided: the need from below, and no barriers where elements overlap */
    ARRANGE_APART, /* one after the other: no barriers where elements overlap */
    ARRANGE_OVER   /* over others that are dead: the least need */
} weft_arrangement;

/** made's placement, offsets, shared_components and barriers, whose arrays are there: of an
 *  implementation with warps, elements_per_block, order and variants. false: a block has not so
 * much shared memory. */
bool weft_arrange(const weft_placer *placer, weft_implementation *made, weft_arrangement how);
/** The last of it: nothing else of an arrangement depends on block, warps or iterations. */
bool weft_arrangement_fits(const weft_placer *placer, const weft_implementation *made);

/* ---- traffic (fusion/plan/traffic.c) ----------------------------------------------------------------------
 */

bool weft_fusion_contains(const weft_fusion *fusion, int call);
/** made's onchip, inside and leaves from its order: loaded data and results, in order of first use,
 * in registers. */
weft_status weft_onchip_list(weft_arena *arena, const weft_graph *graph, weft_implementation *made,
                             weft_error *error);
/** made's bytes_loaded, bytes_stored, flops. */
void weft_traffic_count(const weft_graph *graph, const weft_compile_options *options,
                        weft_implementation *made);

/* ---- prediction (fusion/plan/predict.c) -------------------------------------------------------------------
 */

typedef struct weft_predictor weft_predictor;

/** All primitives that kernels of this graph can have, offered to the cost source. */
weft_status weft_predictor_make(weft_arena *arena, const weft_graph *graph,
                                const weft_limits *limits, const weft_compile_options *options,
                                weft_predictor **out, weft_error *error);
/** What its predicted time is made of; barriers of a block, an iteration. */
weft_kernel_prediction weft_implementation_prediction(const weft_implementation *made);
/** made's transfer_seconds, compute_seconds, seconds, cost, measured: of an implementation that is
 *  complete else. */
void weft_predict(const weft_predictor *predictor, weft_implementation *made);
