/** Steps of the search for implementations.
 *  fusion/plan/order.c      order of the calls
 *  fusion/plan/allocate.c   offsets in shared memory
 *  fusion/plan/placement.c  registers or shared memory, barriers
 *  fusion/plan/traffic.c    memory traffic
 *  fusion/plan/predict.c    predicted time */
#pragma once

#include "fusion/cost/cost.h"
#include "fusion/plan/implementation.h"

/* ---- order (fusion/plan/order.c) ---- */

enum { WEFT_ORDER_CALLS = 62 /* larger fusions keep the script's order */ };

/** A value on chip; users: the members of the fusion that produce or use it, as a bit set. */
typedef struct weft_onchip {
    uint64_t users;
    int components;
} weft_onchip;

/** Hash table of the search, reused from fusion to fusion. */
typedef struct weft_order_table {
    struct weft_order_state *states;
    uint32_t fusion;
} weft_order_table;

weft_status weft_order_table_make(weft_arena *arena, weft_order_table *out, weft_error *error);
/** Set made's order, on-chip list (in order of first use), onchip_peak and order_exact.
 *  made    its fusion is set and its order allocated
 *  Errors  WEFT_ERROR_MEMORY */
weft_status weft_order_find(weft_arena *arena, const weft_graph *graph,
                            const weft_dependence *dependence, weft_order_table *table,
                            weft_implementation *made, weft_error *error);

/* ---- shared memory (fusion/plan/allocate.c) ---- */

/** A value in shared memory, live from position first to position last of the order, inclusive. */
typedef struct weft_live_range {
    int components, first, last;
    int offset; /* result, in components */
} weft_live_range;

/** The maximum number of components live at once: a lower bound of the memory needed. */
int weft_onchip_bound(const weft_live_range *ranges, int n);
/** Choose offsets such that no two values overlap while both are live.
 *  proved   set if the result is minimal
 *  Returns  the number of components needed */
int weft_onchip_allocate(weft_live_range *ranges, int n, bool *proved);

/* ---- placement (fusion/plan/placement.c) ---- */

typedef struct weft_placer weft_placer;

weft_status weft_placer_make(weft_arena *arena, const weft_graph *graph, const weft_limits *limits,
                             const weft_compile_options *options, weft_placer **out,
                             weft_error *error);
/** Layout of values in shared memory. */
typedef enum weft_arrangement {
    ARRANGE_BOUND, /* undecided: the lower bound of the size, no barriers for overlaps */
    ARRANGE_APART, /* disjoint, all loads first: no barriers for overlaps */
    ARRANGE_OVER   /* values may overlap dead ones, loads late: least memory, more barriers */
} weft_arrangement;

/** Set made's placement, offsets, load_position, shared_components, register_components and
 *  barriers.
 *  made     its arrays are allocated; order, variants, elements_per_block and
 *           threads_per_element are set
 *  Returns  false: a block does not have that much shared memory */
bool weft_arrange(weft_placer *placer, weft_implementation *made, weft_arrangement how);
/** Does an arranged implementation fit in shared memory? Only this part of an arrangement depends
 *  on the block shape. */
bool weft_arrangement_fits(const weft_placer *placer, const weft_implementation *made);

/* ---- traffic (fusion/plan/traffic.c) ---- */

bool weft_fusion_contains(const weft_fusion *fusion, int call);
/** Set made's onchip, slots, produced_here, live_out and placement (all PLACE_REGISTER) from its
 *  order: loaded values and results, in order of first use. */
weft_status weft_onchip_list(weft_arena *arena, const weft_graph *graph, weft_implementation *made,
                             weft_error *error);
/** Rows, and columns, that planning assumes of a product of two index sets: the root of `elements`
 *  (weft_compile_options); 0: 4096. */
int64_t weft_nested_size(int64_t elements);
/** The number of elements that planning assumes of an index set; UNIFORM: of one without products. */
double weft_elements_assumed(const weft_graph *graph, const weft_compile_options *options,
                             int index_set);
/** The number of elements of an index set per element of a fusion's kernel: 1, or less for a factor
 *  of the product that the kernel is over. */
double weft_traffic_share(const weft_graph *graph, const weft_compile_options *options,
                          const weft_fusion *fusion, int index_set);
/** Set made's bytes_loaded, bytes_stored and flops, per element. */
void weft_traffic_count(const weft_graph *graph, const weft_compile_options *options,
                        weft_implementation *made);
/** Bytes per element that one kernel for calls a and b, a before b, moves less than one for each;
 *  0 if their index sets are unrelated.
 *  arena   of temporary lists
 *  Errors  WEFT_ERROR_MEMORY */
weft_status weft_traffic_saved(weft_arena *arena, const weft_graph *graph,
                               const weft_compile_options *options, int a, int b, double *out,
                               weft_error *error);
/** Traffic per target of the kernel that gathers an accumulation. A target has as many contributions
 *  as the connectivity is wide: the mean where both index sets have equally many elements, which
 *  predictions assume.
 *  is_folded  it evaluates the contributions itself
 *  adds       to the value that the target has */
void weft_traffic_of_gather(const weft_graph *graph, const weft_accumulation *accumulation,
                            bool is_folded, double real_bytes, bool adds, double *loaded,
                            double *stored);

/* ---- prediction (fusion/plan/predict.c) ---- */

typedef struct weft_predictor weft_predictor;

/** Collect all cost primitives that kernels of this graph can have, and pass them to the cost
 *  source's prepare.
 *  Errors  those of prepare; WEFT_ERROR_MEMORY */
weft_status weft_predictor_make(weft_arena *arena, const weft_graph *graph,
                                const weft_limits *limits, const weft_compile_options *options,
                                weft_predictor **out, weft_error *error);
/** The components of the predicted time. barriers: per block and serial iteration. */
weft_kernel_prediction weft_implementation_prediction(const weft_implementation *made);
/** Predict again with what the compiler reported in place of the estimates.
 *  registers  of 4 bytes, per thread: they limit how many blocks of several threads per element are resident; 0: not known
 *  spilled    bytes per thread, stored and loaded; 0: there are none */
void weft_implementation_compiled(int registers, int spilled, weft_implementation *made);
/** Threads per element of the native bodies of several threads (fusion/library/native.h); 0: there is none, -1:
 *  two that differ, which cannot be in one kernel. (fusion/plan/placement.c) */
int weft_joint_threads(const weft_graph *graph, const weft_implementation *made);
/** Why the variants of an implementation, whose order and variants are set, cannot be in one kernel on account of native
 *  bodies; NULL: they can. A value that a body loads or stores by a routine of its own is not exchanged
 *  with other calls on chip.  Source  Filipovic et al. 2015, section 4.3 */
const char *weft_why_not_native(const weft_graph *graph, const weft_implementation *made);
/** Bytes of an element's shared memory that the native body at this position has; 0: it is a plain one. They begin where
 *  those of other bodies do. */
int weft_scratch_bytes(const weft_graph *graph, const weft_implementation *made, int position,
                       size_t real_bytes);
/** Components per thread, of all its elements, whose loads are issued before its first call: those
 *  of `iterations` elements, or 0 where they would take too many registers. */
int weft_components_prefetched(const weft_graph *graph, const weft_implementation *made,
                               int iterations);
/** The largest power of two of elements per thread with which the registers of a multiprocessor, as
 *  estimated, hold as many threads as it can run; 1: several serve nothing.
 *  Source  Dey 2020, coarsening factor calculation */
int weft_coarsening_factor(const weft_predictor *predictor, const weft_implementation *made);
/** Is a fusion a kernel of a GPU with reductions whose threads may have several tiles of elements? */
bool weft_coarsens_reductions(const weft_predictor *predictor, const weft_fusion *fusion);
/** Is starting threads what limits a predicted implementation? */
bool weft_start_limits(const weft_predictor *predictor, const weft_implementation *made);
/** Bounds of the cost that weft_predict finds, of all shapes and placements of an implementation whose order, variants and
 *  traffic are set; all 0 where costs are measured. */
typedef struct weft_least_cost {
    double n;      /* elements */
    double launch; /* seconds */
    double warp;   /* threads */
    double transfer, compute,
        issue; /* seconds per element; issue: of several threads per element */
} weft_least_cost;
weft_least_cost weft_predict_least(const weft_predictor *predictor,
                                   const weft_implementation *made);
/** No kernel of this many threads per element (0: one) and elements per block costs less. */
double weft_least_of_shape(const weft_least_cost *least, int threads, int elements);
/** Seconds per element of what is estimated to spill from the registers of an implementation. */
double weft_predict_spills(const weft_implementation *made);
/** Predicted seconds of one launch without work. */
double weft_predict_launch(const weft_predictor *predictor);
/** Predicted seconds of a kernel without its launch. */
double weft_predict_work(const weft_implementation *made);
/** Its launches: reductions have a final one. */
int weft_predict_launches(const weft_implementation *made);
/** Threads per block of member i of a group. */
int weft_group_threads(const weft_implementation *const *members, int n, weft_combination how,
                       int i);
/** Predicted seconds of one launch of predicted implementations of one thread per element. */
double weft_predict_group(const weft_implementation *const *members, int n, weft_combination how);
/** Set made's predicted seconds, cost and `measured`; all else of it must be complete. */
void weft_predict(const weft_predictor *predictor, weft_implementation *made);
