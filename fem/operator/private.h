/** The kinds of operators. */
#ifndef FEM_OPERATOR_PRIVATE_H
#define FEM_OPERATOR_PRIVATE_H

#include "core/weft_core.h"
#include "fem/weft_fem.h"

weft_status weft_operator_make_cells(weft_context *context, weft_assembly assembly,
                                     const weft_form *forms, int n_forms, weft_operator **out,
                                     weft_error *error);
weft_status weft_operator_make_csr(weft_context *context, const weft_form *forms, int n_forms,
                                   weft_operator **out, weft_error *error);
weft_status weft_operator_make_edge(weft_context *context, const weft_form *forms, int n_forms,
                                    weft_operator **out, weft_error *error);
/** csr on a GPU (fem/operator/sell.c). */
weft_status weft_operator_make_sliced(weft_context *context, const weft_form *forms, int n_forms,
                                      weft_operator **out, weft_error *error);
/** Memory for the local matrices of a form: [block][i * rows + j][lane]. */
weft_status weft_local_make(weft_device *device, const weft_form *form, int lanes,
                            weft_memory **out, weft_error *error);

#endif
