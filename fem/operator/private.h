/** Shared by the operator formats. Not installed. */
#pragma once

#include "fem/operator/operator.h"

/** Allocate an operator with a zeroed state and a zeroed part per form. weft_operator_free frees
 *  both, after table->free, which must free their members.
 *  Errors  WEFT_ERROR_MEMORY; *out untouched */
weft_status weft_operator_allocate(const weft_operator_table *table, size_t state_bytes,
                                   size_t part_bytes, const weft_form *forms, int n_forms,
                                   weft_operator **out, weft_error *error);
/** Make an operator that is applied cell by cell (fem/operator/local.c).
 *  stores   local matrices are stored; otherwise recomputed in every product
 *  scatter  how products add to the nodes; WEFT_SCATTER_PATCHES falls back to
 *           WEFT_SCATTER_IN_PLACE if the form or the device does not allow patches */
weft_status weft_operator_make_cells(weft_context *context, const weft_form *forms, int n_forms,
                                     bool stores, weft_scatter scatter, weft_operator **out,
                                     weft_error *error);
/** Make an operator of the format csr on a GPU (fem/operator/sell.c). */
weft_status weft_operator_make_sell(weft_context *context, const weft_form *forms, int n_forms,
                                    weft_operator **out, weft_error *error);
/** For formats that store a matrix, add the memory of the connectivity cells -> rows, which exists
 *  only for several components, to an estimate. */
void weft_operator_estimate_rows(const weft_operator_sizes *sizes, weft_memory_estimate *estimate);
/** For formats that store a matrix, add the memory of the positions of K to an estimate. */
void weft_operator_estimate_positions(const weft_operator_sizes *sizes,
                                      weft_memory_estimate *estimate);
