/** Operators. In: forms of a context. Out: products, the diagonal, the matrix.
 *
 *      format descriptor (lma.c, ...) --make--> operator --table--> assemble, apply, diagonal
 *
 *  Decision  docs/decisions/0029-operator-formats-are-descriptors.md */
#pragma once

#include "fem/sparse/on_device.h"
#include "fem/weft_fem.h"

/** The methods of an operator. */
typedef struct weft_operator_table {
    /* compute the stored values; NULL: nothing is stored */
    weft_status (*assemble)(weft_operator *op, weft_error *error);
    void (*release_assembly)(weft_operator *op); /* NULL: assembly needs nothing besides */
    weft_status (*apply)(weft_operator *op, weft_memory *v, weft_memory *y, weft_error *error);
    weft_status (*diagonal)(weft_operator *op, weft_memory *d, weft_error *error);
    void (*free)(weft_operator *op);
    /* apply in a loop, with launches that have no effect if *product->active (not NULL) is 0 when
     * they run; NULL: not supported */
    weft_status (*apply_predicated)(weft_operator *op, const weft_program_product *product,
                                    weft_error *error);
    /* the product kernel and its arguments, borrowed; NULL: not supported */
    const weft_product_arguments *(*rows)(const weft_operator *op);
    /* the values, copied into the pattern's order, borrowed; NULL: op->values has this order */
    weft_status (*matrix)(weft_operator *op, weft_memory **values, weft_error *error);
    /* free those copies; NULL: there are none */
    void (*matrix_release)(weft_operator *op);
    /* make the arrays of op->pattern, which were left on the device; NULL: they are never */
    weft_status (*read_pattern)(const weft_operator *op, weft_error *error);
    /* see weft_operator_sell; NULL: there is none */
    weft_sell_matrix *(*sell)(const weft_operator *op, int *components);
} weft_operator_table;

struct weft_operator {
    const weft_operator_table *table;
    weft_context *context;
    void *state, *parts; /* private to the format: a struct, and an array with one item per form */
    int n_parts;
    bool assembly_released;
    int64_t n_dofs;
    bool single; /* applied to lists of floats */
    /* of one without a matrix that is: the same in double precision, which may have further dofs behind these; borrowed; NULL: it
     * is not known */
    weft_operator *exact;
    size_t late_bytes; /* made by products and diagonals */
    /* whose other ranks' dofs get their values before a product; borrowed; NULL: there are none */
    struct weft_layout *layout;
    bool borrows_pattern; /* the arrays of the pattern */
    /* NULL: the format stores no matrix; its arrays may be NULL until
     * weft_operator_pattern reads them */
    weft_pattern *pattern;
    weft_memory *values; /* in the pattern's order; NULL: none, or kept in another order */
};

/** Let products begin with an exchange: the operator is that of a part of a mesh.
 *  layout  of its dofs; borrowed; NULL: the mesh is whole */
void weft_operator_distribute(weft_operator *op, struct weft_layout *layout);
/** y = A v of weft_operator_apply in a loop: where the format can, without effect if *product->active, unless NULL, is 0. */
weft_status weft_operator_apply_in_loop(weft_operator *op, const weft_program_product *product,
                                        weft_error *error);
/** An operator that scripts apply, by its product kernel if the device has one, otherwise by calls
 *  of weft_operator_apply; csr on the host then also computes v.y (fem/operator/in_script.c).
 *  Initialise with {0}; must not be moved after weft_operator_in_script_bind. */
typedef struct weft_operator_in_script {
    weft_operator *op;
    double *sums;                 /* of chunks of rows, for csr on the host; otherwise NULL */
    struct weft_exact_sum *exact; /* the same on several ranks */
} weft_operator_in_script;
/** op      borrowed; must outlive *out
 *  out     weft_operator_in_script_free
 *  Errors  WEFT_ERROR_MEMORY */
weft_status weft_operator_in_script_make(weft_operator *op, weft_operator_in_script *out,
                                         weft_error *error);
void weft_operator_in_script_free(weft_operator_in_script *in_script);
/** The product kernel and its arguments, borrowed; NULL: the device has none. */
const weft_product_arguments *weft_operator_rows(const weft_operator *op);
/** What a compilation must know of the script's operator of this name. */
weft_operator_choice weft_operator_in_script_choice(const weft_operator_in_script *in_script,
                                                    const char *name);
weft_status weft_operator_in_script_bind(weft_operator_in_script *in_script, weft_program *program,
                                         const char *name, weft_error *error);

/** Make an operator without a matrix whose diagonal is wanted: its products are compiled for the first of them.
 *  Errors  those of weft_operator_make */
weft_status weft_operator_make_diagonal(weft_context *context, const weft_form *forms, int n_forms,
                                        weft_operator **out, weft_error *error);
/** Make an operator that recomputes local matrices in every product, of floats from floats: lists that it is applied to and its
 *  diagonal, copies of the inputs that weft_operator_assemble refreshes, and all that it computes.
 *  Errors  WEFT_ERROR_UNSUPPORTED: formulas of the forms read lists of their own; those of weft_operator_make */
weft_status weft_operator_make_single(weft_context *context, const weft_form *forms, int n_forms,
                                      weft_operator **out, weft_error *error);
/** The same of the forms of an operator, which must outlive it.
 *  Errors  WEFT_ERROR_UNSUPPORTED: the operator stores matrices */
weft_status weft_operator_single(weft_operator *op, weft_operator **out, weft_error *error);

/** How an operator is made of a given matrix, as bits. */
enum {
    WEFT_MATRIX_SINGLE = 1, /* the values are stored as float, for scripts compiled `single`, which
                                are then the only way to apply it */
    WEFT_MATRIX_BORROWED =
        2, /* the arrays of the pattern are borrowed and must outlive the operator */
    WEFT_MATRIX_CHANGES = 4, /* weft_operator_set_matrix follows */
    WEFT_MATRIX_LARGE = 8    /* on a GPU a thread has a row, whatever the number of rows */
};
/** Make an operator of a given sparse matrix.
 *  pattern  moved to the operator and set to NULL, also after an error
 *  values   [n_entries] in the pattern's order; borrowed for the call
 *  out      caller's; weft_operator_free
 *  Errors   WEFT_ERROR_UNSUPPORTED (on a GPU more than 2^32 - 1 entries), _MEMORY,
 *           _COMPILER, _DEVICE; *out untouched */
weft_status weft_operator_from_matrix(weft_context *context, weft_pattern **pattern,
                                      const double *values, unsigned how, weft_operator **out,
                                      weft_error *error);
/** Set other values of such an operator, made with WEFT_MATRIX_CHANGES and in double precision.
 *  values  [n_entries] in the pattern's order; borrowed for the call */
weft_status weft_operator_set_matrix(weft_operator *op, const double *values, weft_error *error);

/** The same of a SELL matrix on a GPU. Its pattern is not available to the host.
 *  matrix     moved to the operator and set to NULL, also after an error; with single precision values
 *             see above
 *  n_entries  of its pattern */
weft_status weft_operator_from_sell(weft_context *context, weft_sell_matrix **matrix,
                                    int64_t n_entries, weft_operator **out, weft_error *error);
/** Is a matrix on a GPU in single precision so small that several threads take each row (the "CSR vector" kernel)? */
bool weft_operator_uses_csr_vector(int64_t n_rows, int64_t n_entries);
/** Make an operator of such a matrix in CSR format, which is on the device.
 *  starts   int32_t [n_rows + 1]; columns int32_t, values float [n_entries]; moved, also after an error */
weft_status weft_operator_from_csr_vector(weft_context *context, int64_t n_rows, int64_t n_entries,
                                          weft_memory *arguments[3], weft_operator **out,
                                          weft_error *error);
/** The matrix of an operator whose set-up ran on the device, borrowed; NULL: there is none.
 *  components  gets the dofs per node */
weft_sell_matrix *weft_operator_sell(const weft_operator *op, int *components);

/* ---- formats ---- */

/** Sizes of a problem, from which costs and memory are computed. n_entries is a rough estimate for
 *  cells other than simplices of degree 1. */
typedef struct weft_operator_sizes {
    const weft_limits *limits; /* borrowed */
    bool on_gpu;               /* a GPU, or a null device with the limits of one */
    size_t n_nodes, n_cells, width, n_components;
    size_t n_padded;  /* cells, including the spare lanes of the last block */
    size_t n_rows;    /* of the matrix */
    size_t n_local;   /* rows of a local matrix */
    size_t n_entries; /* of the matrix */
    /* read by a kernel that computes local matrices: connectivity, and coordinates (once each, as
     * for well ordered nodes) */
    double cell_bytes;
} weft_operator_sizes;
weft_operator_sizes weft_operator_sizes_of(const weft_limits *limits,
                                           const weft_assembly_problem *problem);

/** Descriptor of an operator format. Each format has its own file; the table of all formats is in
 *  fem/operator/formats.c. */
typedef struct weft_operator_format {
    weft_assembly_info info;
    /* Speeds where the tuning database has none: `gpu` was measured on an H200 with meshes of 10^7
     * nodes (docs/measurements.md, "GPU: operators and conjugate gradients"), `host` on one core of
     * an EPYC (the same, "Host"). Set-up that runs on the device has 16 times its seconds there, which
     * are divided by the host's threads. */
    weft_assembly_speed gpu, host;
    bool recomputes;       /* products recompute local matrices */
    bool has_rows_product; /* has weft_operator_table.rows on a GPU */
    weft_status (*make)(weft_context *context, const weft_form *forms, int n_forms,
                        weft_operator **out, weft_error *error);
    /** Why the format does not support a problem; returns NULL if it does. The function NULL: all
     *  problems are supported. */
    const char *(*refuses)(const weft_assembly_problem *problem);
    /** Set the bytes in *cost: moved by a product and by assembly, and held. */
    void (*count_bytes)(const weft_operator_sizes *sizes, weft_assembly_cost *cost);
    /** Add the memory held besides connectivity to an estimate. Returns the bytes of it that are
     *  allocated by the first product. */
    size_t (*estimate_memory)(const weft_operator_sizes *sizes, double applications,
                              weft_memory_estimate *estimate);
} weft_operator_format;

const weft_operator_format *weft_operator_format_of(weft_assembly assembly);
