/** What several operator formats share. */
#pragma once

#include "fem/operator/operator.h"

/** Allocate an operator of these forms with a zeroed state and a zeroed part for each form, which
 *  weft_operator_free frees after table->free, where what they hold is freed. */
weft_status weft_operator_allocate(const weft_operator_table *table, size_t state_bytes,
                                   size_t part_bytes, const weft_form *forms, int n_forms,
                                   weft_operator **out, weft_error *error);
/** An operator applied cell by cell (fem/operator/local.c).
 *  stores   local matrices are stored, else recomputed in every product
 *  scatter  how products add to the nodes; WEFT_SCATTER_PATCHES: where the form and the device
 *           allow it, else as WEFT_SCATTER_COLOURED */
weft_status weft_operator_make_cells(weft_context *context, const weft_form *forms, int n_forms,
                                     bool stores, weft_scatter scatter, weft_operator **out,
                                     weft_error *error);
/** csr on a GPU (fem/operator/sell.c). */
weft_status weft_operator_make_sell(weft_context *context, const weft_form *forms, int n_forms,
                                    weft_operator **out, weft_error *error);
/** What formats hold that add local matrices into a stored matrix: with several components a
 *  connectivity for the rows too, which a program keeps interleaved, */
void weft_operator_estimate_rows(const weft_operator_sizes *sizes, weft_memory_estimate *estimate);
/** and positions of K in the matrix. */
void weft_operator_estimate_positions(const weft_operator_sizes *sizes,
                                      weft_memory_estimate *estimate);
