/** Shared by the operator formats. Not installed. */
#pragma once

#include "fem/form/form.h"
#include "fem/operator/operator.h"
#include "fem/sparse/lists.h"

typedef struct weft_operator_bytes {
    size_t state, part;
} weft_operator_bytes;
/** Allocate an operator with a zeroed state and a zeroed part per form, of so many bytes.
 *  Without forms n_dofs is 0, to be set by the caller.
 *  weft_operator_free frees both, after table->free, which must free their members.
 *  Errors  WEFT_ERROR_MEMORY; *out untouched */
weft_status weft_operator_allocate(weft_context *context, const weft_operator_table *table,
                                   const weft_operator_bytes *bytes, const weft_form *forms,
                                   int n_forms, weft_operator **out, weft_error *error);

/** The part of a format that adds every form to one matrix (fem/operator/matrix_parts.c). */
typedef struct weft_matrix_part {
    weft_form form;
    weft_vector_dofs vector_dofs;
    weft_compiled assemble;
    weft_memory *positions; /* of the entries of local matrices */
    /* sell.c, on several ranks: these are summed in the order of cells, in place of atomic additions */
    bool is_ordered;
    struct weft_ordered_sums *sums;
    /* sell.c: owner-computes assembly, without positions; the bands of rows for which words are made
     * in each assembly, or 1: in rows, kept */
    bool by_owners;
    int n_bands;
    weft_matrix_rows rows;
} weft_matrix_part;
/** weft_operator_allocate for such a format, with the forms and dofs of the parts. */
weft_status weft_matrix_parts_make(weft_context *context, const weft_operator_table *table,
                                   size_t state_bytes, const weft_form *forms, int n_forms,
                                   weft_operator **out, weft_error *error);
/** The pattern of the first form and of those that add couplings.
 *  out  untouched if there are none of these: then it is the pattern of the first */
weft_status weft_matrix_parts_pattern(const weft_operator *op, weft_pattern **out,
                                      weft_error *error);
/** Compile the program that adds a form to the matrix; the first form sets it, as all do that are ordered. */
weft_status weft_matrix_part_compile(const weft_operator *op, const weft_matrix_part *part,
                                     weft_scatter scatter, weft_compiled *out, weft_error *error);
/** weft_operator_table.assemble: run the programs of all parts. */
weft_status weft_matrix_parts_assemble(weft_operator *op, weft_error *error);
void weft_matrix_parts_free(weft_operator *op);

/** How the kernels of a program accumulate. */
typedef struct weft_owners {
    bool patches;             /* a vector or a matrix, by patches */
    bool rows;                /* a matrix, row by row by the owners */
    bool with_cells;          /* the patches need the cells' numbers */
    const char *not_permuted; /* weft_kernel_info.not_permuted of a kernel, or NULL */
} weft_owners;
weft_owners weft_owners_of(const weft_compilation *compilation);

/** A form's inputs in single precision (fem/operator/narrow.c). Initialise with {0}. */
typedef struct weft_narrow_inputs {
    weft_form_input *inputs;     /* [n] own memories of floats, or NULL */
    const weft_form_input *wide; /* [n] doubles; borrowed */
    int *components;             /* [n] of inputs over cells; 0: of others */
    int n;
    int64_t n_cells;
    weft_lists *lists;
} weft_narrow_inputs;
/** Without copies.
 *  out     weft_narrow_inputs_clear, also after an error
 *  Errors  WEFT_ERROR_MEMORY, _DEVICE */
weft_status weft_narrow_inputs_make(weft_context *context, const weft_form *form,
                                    weft_narrow_inputs *out, weft_error *error);
/** Copy the present values of input i, unless there is a copy.
 *  compilation  of a script with the form's text; NULL: inputs over cells are read in the order of cells */
weft_status weft_narrow_inputs_add(weft_narrow_inputs *narrow, int i,
                                   const weft_compilation *compilation, weft_error *error);
/** Convert the present values again. */
weft_status weft_narrow_inputs_refresh(const weft_narrow_inputs *narrow, weft_error *error);
void weft_narrow_inputs_clear(weft_narrow_inputs *narrow);

/** How an operator is applied cell by cell, as bits. */
enum {
    WEFT_CELLS_STORED = 1, /* local matrices are stored; otherwise recomputed in every product */
    WEFT_CELLS_LATER = 4,  /* products are compiled for the first of them; not stored */
    WEFT_CELLS_SINGLE = 2  /* applied to lists of floats, with the inputs as floats; not stored */
};
/** Make an operator that is applied cell by cell (fem/operator/local.c).
 *  how      these bits
 *  scatter  how products add to the nodes; WEFT_SCATTER_AUTO: as the planner predicts to be the fastest */
weft_status weft_operator_make_cells(weft_context *context, const weft_form *forms, int n_forms,
                                     unsigned how, weft_scatter scatter, weft_operator **out,
                                     weft_error *error);
/** Methods of an operator with a pattern and values on the host; the diagonal is 0 where the pattern
 *  has none. */
weft_status weft_operator_csr_apply(weft_operator *op, weft_memory *v, weft_memory *y,
                                    weft_error *error);
weft_status weft_operator_csr_diagonal(weft_operator *op, weft_memory *d, weft_error *error);
/** Make an operator of the format csr on a GPU (fem/operator/sell.c). */
weft_status weft_operator_make_sell(weft_context *context, const weft_form *forms, int n_forms,
                                    weft_operator **out, weft_error *error);
/** The names in estimates of what weft_operator_release_assembly frees. */
extern const char *const weft_assembly_rows,
    *const weft_assembly_positions, *const weft_assembly_cells, *const weft_assembly_halos;
/** For formats that store a matrix, add the memory of the connectivity cells -> rows, which exists
 *  only for several components, to an estimate. */
void weft_operator_estimate_rows(const weft_operator_sizes *sizes, weft_memory_estimate *estimate);
/** For formats that store a matrix, add the memory of the positions of K to an estimate. */
void weft_operator_estimate_positions(const weft_operator_sizes *sizes,
                                      weft_memory_estimate *estimate);
