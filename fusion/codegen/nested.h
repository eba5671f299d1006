/** Shared by the files that write kernels over a product of two index sets. */
#pragma once

#include "fusion/codegen/private.h"
#include "fusion/plan/nested.h"

/** A kernel that is being written. */
typedef struct weft_nested_writer {
    const source_writer *w;
    const weft_plan_kernel *kernel;
    const weft_fusion *fusion;
    bool rows;  /* slices are rows */
    bool keeps; /* the slice stays on chip: later passes recompute, not load */
    int along;  /* the index set of the slices */
    weft_pairs pairs;
    int together; /* rows that are walked together (nested.c) */
    bool
        whole; /* of a triangle on the host: the steps that all these rows have, off the diagonal */
    int phases;
    int phase[WEFT_CALLS_MAX]; /* of fusion->calls[i] */
} weft_nested_writer;

void weft_nested_begin(weft_nested_writer *n, const source_writer *w,
                       const weft_plan_kernel *kernel);
/** The number of a call in the fusion, or -1. */
int weft_nested_member(const weft_nested_writer *n, int call);
/** Has every list that is loaded, and every result, one number per element, and no sum is over the whole matrix? */
bool weft_nested_is_scalar(const weft_nested_writer *n);
bool weft_nested_is_over_product(const weft_nested_writer *n, const weft_call *call);
/** Do only the kernels for all sizes compute a call? It combines by an operator of the library, or reads
 *  the number of its element. */
bool weft_nested_is_general(const weft_call *call);
bool weft_nested_is_closed(const weft_nested_writer *n, const weft_call *call);
/** Does a pass complete a result of the call for each row, or a part of it? */
bool weft_nested_has_row_sum(const weft_nested_writer *n, const weft_call *call);
/** Is a value an operand of a call that combines entries twice? */
bool weft_nested_is_mirrored(const weft_nested_writer *n, int value);
bool weft_nested_is_stored(const weft_nested_writer *n, int value);
/** Mark the calls [fusion->n_calls] over the product that a pass executes. */
void weft_nested_needed(const weft_nested_writer *n, int phase, bool *needed);
/** Does a marked call read a value that no marked call computes? */
bool weft_nested_loads(const weft_nested_writer *n, const bool *needed, int value);
/** The variable's name without the "v_": of a value, and of the input that it updates. */
const char *weft_nested_name(const weft_nested_writer *n, int value);
const char *weft_nested_storage(const weft_nested_writer *n, int value);

/** Number of calls that have a result for each row. */
int weft_nested_count_row_sums(const weft_nested_writer *n);
/** The number of a loaded value among those over the same index set. */
int weft_nested_load_number(const weft_nested_writer *n, int value);
/** The calls over one index set that can be computed when a pass has closed its results.
 *  store  writes the store of a result that is needed in memory */
weft_status weft_nested_calls_after(const weft_nested_writer *n, int phase,
                                    void (*store)(const weft_nested_writer *n, int value),
                                    weft_error *error);
/** A kernel's declaration for clusters, up to the test of `active`. */
void weft_nested_head(const weft_nested_writer *n, int threads, int cluster);
/** The number of clusters that are resident at once. */
int weft_nested_clusters(int multiprocessors, int cluster);
/* fusion/codegen/nested_rows.c, nested_columns.c and nested_few.c: kernels whose text depends on the sizes, for GPUs with
 * clusters, the last for all GPUs. weft_nested_shape_make and weft_source_nested_sized choose. */
bool weft_nested_shape_rows(const weft_segment *segment, const weft_plan_kernel *kernel,
                            int64_t n_first, int64_t n_second, weft_nested_shape *out);
bool weft_nested_shape_columns(const weft_segment *segment, const weft_plan_kernel *kernel,
                               int64_t n_first, int64_t n_second, weft_nested_shape *out);
bool weft_nested_shape_few(const weft_segment *segment, const weft_plan_kernel *kernel,
                           int64_t n_first, int64_t n_second, weft_nested_shape *out);
weft_status weft_nested_write_few(const weft_nested_writer *n, const weft_nested_shape *shape,
                                  weft_error *error);
weft_status weft_nested_write_rows(const weft_nested_writer *n, const weft_nested_shape *shape,
                                   weft_error *error);
weft_status weft_nested_write_columns(const weft_nested_writer *n, const weft_nested_shape *shape,
                                      weft_error *error);
