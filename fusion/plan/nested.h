/** Kernels over a product of two index sets (nested map and reduce, Filipovic et al. 2015, section
 *  3.3). In: graph, a set of calls. Out: how the kernel walks the matrix.
 *
 *  A kernel holds one slice of the matrix at a time, a row or a few columns, and passes over it in
 *  one or more phases. A reduction whose result a slice completes is closed: later phases of the
 *  same slice use the result. The other reductions are open: the kernel adds up their contributions
 *  over all slices of a thread block (a part), and a kernel after it combines the parts in order.
 *
 *  Decision  docs/decisions/0013-matrices-are-lists-over-products.md */
#pragma once

#include "fusion/plan/fusions.h"

/** The part of the matrix that completes what a kernel uses again. */
typedef enum weft_slice {
    SLICE_ANY,     /* nothing is used again */
    SLICE_ROWS,    /* rows: reductions over the second index set are closed */
    SLICE_COLUMNS, /* columns: reductions over the first index set are closed */
    SLICE_NONE     /* two uses need different slices: the calls cannot share a kernel */
} weft_slice;

/** Is a fusion over a product of two index sets and uses rows or columns, or over a triangle? Otherwise the
 *  elements of a matrix are those of one list. */
bool weft_fusion_is_nested(const weft_graph *graph, const weft_fusion *fusion);
/** Do kernels over a product hold columns alone, since its rows are few (`index basis up to j`)? */
bool weft_product_holds_columns(const weft_graph *graph, int index_set);
/** The slice that the uses inside a set of calls need. */
weft_slice weft_set_slice(const weft_graph *graph, const uint64_t *set);
/** The same for a fusion; rows where any slice would do, columns where rows are few. */
weft_slice weft_fusion_slice(const weft_graph *graph, const weft_fusion *fusion);
/** May calls over these index sets share a kernel? They are equal, or one is a factor of the other,
 *  which is a product. */
bool weft_index_sets_nest(const weft_graph *graph, int a, int b);
/** Is a reduction complete only after all slices, whatever these are? */
bool weft_reduction_is_open(const weft_call *call);
/** Does a reduction combine the stored entry of (i, j) twice, also as that of (j, i)? */
bool weft_call_is_mirrored(const weft_call *call);
/** Is the result of this call complete within a slice? */
bool weft_reduction_is_closed(const weft_call *call, weft_slice slice);
/** The first phase in which each call of a fusion can be computed, the number of results closed one
 *  after another before it.
 *  phase    [fusion->n_calls], for the calls in their order in the fusion
 *  Returns  the number of phases over the matrix; 0: there is no order, since a value is overwritten
 *           before the last phase that uses it can begin */
int weft_nested_phases(const weft_graph *graph, const weft_fusion *fusion, int *phase);
