/** Operators. In: forms of a context. Out: products, the diagonal, the matrix.
 *
 *      format descriptor (lma.c, csr.c, ...) --make--> operator --table--> assemble, apply, diagonal
 */
#pragma once

#include "fem/weft_fem.h"

/** How an operator that has been made works. */
typedef struct weft_operator_table {
    /* compute what is stored; NULL: nothing is stored */
    weft_status (*assemble)(weft_operator *op, weft_error *error);
    weft_status (*apply)(weft_operator *op, weft_memory *v, weft_memory *y, weft_error *error);
    weft_status (*diagonal)(weft_operator *op, weft_memory *d, weft_error *error);
    void (*free)(weft_operator *op);
    /* the same product in a loop, by launches that do nothing where product->go, which is not NULL,
     * holds 0 when they run; NULL: there is none */
    weft_status (*apply_predicated)(weft_operator *op, const weft_program_product *product,
                                    weft_error *error);
    /* what a product kernel needs for the same product, borrowed; NULL: there is none */
    const weft_product_arguments *(*rows)(const weft_operator *op);
    /* copy the values into the pattern's order, borrowed; NULL: op->values has this order */
    weft_status (*matrix)(weft_operator *op, weft_memory **values, weft_error *error);
} weft_operator_table;

struct weft_operator {
    const weft_operator_table *table;
    void *state, *parts; /* the implementation's own: a struct, and an array, one for each form */
    int64_t n_dofs;
    weft_pattern *pattern; /* formats that store a matrix, else NULL */
    weft_memory *values;   /* the same, where they are in the pattern's order */
};

/** What a script's loop calls for its product with op, which must not ask for vy. */
weft_status weft_operator_apply_in_loop(weft_operator *op, const weft_program_product *product,
                                        weft_error *error);

/* ---- formats ---- */

/** Sizes of a problem, from which costs and memory are counted. Of cells that are not simplices of
 *  degree 1 the number of entries is a guess. */
typedef struct weft_operator_sizes {
    const weft_limits *limits; /* borrowed */
    bool on_gpu;               /* a GPU, or a null device with the limits of one */
    size_t n_nodes, n_cells, width, n_components;
    size_t n_padded;  /* cells with the spare lanes of the last block */
    size_t n_rows;    /* of the matrix */
    size_t n_local;   /* rows of a local matrix */
    size_t n_entries; /* of the matrix */
    /* read once by whatever computes local matrices: connectivity, and coordinates where the order
     * of nodes is good */
    double cell_bytes;
} weft_operator_sizes;
weft_operator_sizes weft_operator_sizes_of(const weft_limits *limits,
                                           const weft_assembly_problem *problem);
bool weft_operator_on_gpu(const weft_limits *limits);

/** Speeds that a format was measured to reach, once, on one machine: `gpu` on one H200 with meshes of
 *  10^7 nodes (docs/measurements.md, "GPU: operators and conjugate gradients"), `host` on one core
 *  of an EPYC (the same, "Host"). Another device is assumed to reach the same fractions of its own
 *  weft_limits.bandwidth; no calibration measures them there, and the tuning database has none. */
typedef struct weft_format_speed {
    bool is_available;
    /* Fractions of the nominal bandwidth reached by a product, [dimension - 2], and by assembly.
     * Above 1 on the host, whose nominal bandwidth is a cautious figure. */
    double product[2], assembly;
    /* Patterns, positions, patches, transposes: seconds per cell of one host thread. */
    double set_up;
} weft_format_speed;

/** An operator format: all that is known of it, in a file of its own. The table of all is in
 *  fem/operator/formats.c. */
typedef struct weft_operator_format {
    weft_assembly_info info;
    weft_format_speed gpu, host;
    bool recomputes;       /* local matrices, in every product */
    bool has_rows_product; /* on a GPU: weft_operator_table.rows */
    weft_status (*make)(weft_context *context, const weft_form *forms, int n_forms,
                        weft_operator **out, weft_error *error);
    /** NULL: the format can do such a problem; else why not. The function NULL: it can do any. */
    const char *(*refuses)(const weft_assembly_problem *problem);
    /** Set the bytes of *cost: moved by a product and by assembly, and held. */
    void (*count_bytes)(const weft_operator_sizes *sizes, weft_assembly_cost *cost);
    /** Add what is held, beside connectivity, to an estimate; returns the bytes of it that are made
     *  with the first product, not before. */
    size_t (*estimate_memory)(const weft_operator_sizes *sizes, double applications,
                              weft_memory_estimate *estimate);
} weft_operator_format;

const weft_operator_format *weft_operator_format_of(weft_assembly assembly);
