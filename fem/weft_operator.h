/** Operators: the sum of forms as something to be multiplied with, in one of several formats. In: forms. Out:
 *  products, the diagonal, a sparse matrix; what each format is predicted to cost and to hold. */
#ifndef WEFT_OPERATOR_H
#define WEFT_OPERATOR_H

#include "fem/weft_form.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- sparse matrices -------------------------------------------------------------------- */

/** Pattern of the matrix of a connectivity: columns ascending in a row. */
typedef struct weft_pattern {
    int64_t n_rows, n_entries;
    int64_t *row_start; /* [n_rows + 1] */
    int32_t *columns;   /* [n_entries] */
} weft_pattern;
/** Also makes, for `lanes`, the positions of each cell's local matrix: interleaved [block][i *
 * width + j][lane] uint32_t, spare lanes repeat the last cell. *positions NULL allowed. Errors
 * WEFT_ERROR_UNSUPPORTED (more than 2^32 - 1 entries), WEFT_ERROR_MEMORY */
weft_status weft_pattern_make(weft_device *device, const weft_connectivity *dofs, int lanes,
                              weft_pattern **out, weft_memory **positions, weft_error *error);
/** Positions in an existing pattern for another connectivity whose couplings it contains (facets of
 * its cells). */
weft_status weft_pattern_positions(weft_device *device, const weft_pattern *pattern,
                                   const weft_connectivity *dofs, int lanes,
                                   weft_memory **positions, weft_error *error);
void weft_pattern_free(weft_pattern **pattern);
/** y = A v on the device's threads; deterministic. v, y [n_rows]. */
weft_status weft_csr_product(weft_device *device, const weft_pattern *pattern, const double *values,
                             const double *v, double *y, weft_error *error);
/** Sum of n doubles by a fixed tree that depends on n alone. */
double weft_sum(const double *values, int64_t n);

/* ---- formats ---------------------------------------------------------------------------- */

typedef enum weft_assembly {
    WEFT_ASSEMBLY_LMA,         /* local matrices stored; coloured scatter */
    WEFT_ASSEMBLY_LMA_GATHER,  /* local matrices stored; transposed gather */
    WEFT_ASSEMBLY_CSR,         /* Addto into precomputed positions */
    WEFT_ASSEMBLY_MATRIX_FREE, /* recomputed in every product */
    WEFT_ASSEMBLY_SYMMETRIC    /* symmetric matrices: a coupling inside a patch of 512 rows stored
                               once */
} weft_assembly;
/** What a caller may want to know of an operator format. */
typedef struct weft_assembly_info {
    const char *name;
    const char *alias;    /* another name for it; NULL: none */
    const char *help;     /* a few words; NULL: the name says it */
    bool symmetric_only;  /* refuses forms that are not symmetric */
    bool stores_matrix;   /* weft_operator_matrix has it */
    bool stores_local;    /* weft_operator_local has it */
    weft_scatter scatter; /* of products with stored local matrices */
    const char *script;   /* shipped script that follows a form's text: for what is stored, or,
                             where nothing is, for the product */
} weft_assembly_info;
/** Assemblies are numbered from 0 to their number - 1. */
int weft_assembly_count(void);
const weft_assembly_info *weft_assembly_about(weft_assembly assembly);
const char *weft_assembly_name(weft_assembly assembly);
/** By name or alias. Errors WEFT_ERROR_USAGE: the hint lists the names */
weft_status weft_assembly_find(const char *name, weft_assembly *out, weft_error *error);
/** Add the names to a text, with what there is to say of each in brackets where `helps`: "lma, ... or
 *  edge". */
void weft_assembly_list(weft_text *out, bool helps);

/** What the choice of an assembly depends on. */
typedef struct weft_assembly_problem {
    int dimension, width; /* nodes of a cell */
    int64_t n_nodes, n_cells;
    bool symmetric;      /* local matrices are: some assemblies are for those alone */
    double applications; /* products expected, as of CG: weft_cg_iterations_expected */
    int components;      /* of a node; 0: 1 */
} weft_assembly_problem;

#define WEFT_ASSEMBLIES_MOST 8
/** What one assembly is predicted to cost, in all: set_up + assembly + applications * product. */
typedef struct weft_assembly_cost {
    const char *name;
    weft_assembly assembly; /* valid where possible */
    bool possible;          /* this device has it, for such a form */
    const char *why_not;    /* NULL: it is possible and fits into memory */
    double set_up_seconds, assembly_seconds, product_seconds, seconds;
    double assembly_bytes, product_bytes; /* moved */
    double memory_bytes;                  /* held, beside the mesh and vectors */
} weft_assembly_cost;
/** Every assembly, the one to take first; returns how many. limits are data: any device's. */
int weft_assembly_costs(const weft_limits *limits, const weft_assembly_problem *problem,
                        weft_assembly_cost out[WEFT_ASSEMBLIES_MOST]);
/** The assembly with the least predicted time of those that are possible and fit into memory (where
 *  none fits, the smallest). reason (NULL allowed) gets a table of the figures, without a newline
 *  at its end.
 *  Errors  WEFT_ERROR_USAGE: sizes that no problem has */
weft_status weft_assembly_choose(const weft_limits *limits, const weft_assembly_problem *problem,
                                 weft_assembly *out, weft_text *reason, weft_error *error);
/** Add what an operator of this assembly will hold on a device with these limits, its connectivity
 *  too, to an estimate: of simplices of degree 1, within some per cent.
 *  late    bytes of it that are made with the first product, not before */
void weft_operator_memory_estimate(const weft_limits *limits, weft_assembly assembly,
                                   const weft_assembly_problem *problem,
                                   weft_memory_estimate *estimate, size_t *late);
/* ---- operators -------------------------------------------------------------------------- */

typedef struct weft_operator weft_operator;
/** The sum of forms that share their nodes. Compiles and allocates; nothing is computed. forms and
 * what they point to are borrowed. */
weft_status weft_operator_make(weft_context *context, weft_assembly assembly,
                               const weft_form *forms, int n_forms, weft_operator **out,
                               weft_error *error);
void weft_operator_free(weft_operator **op);
/** Compute what is stored: local matrices or matrix values. Errors also WEFT_ERROR_UNSUPPORTED: a
 * form that is not symmetric, by the assembly edge (looked at in the first call). */
weft_status weft_operator_assemble(weft_operator *op, weft_error *error);
/** y = A v; v and y are memories of n_dofs doubles. */
weft_status weft_operator_apply(weft_operator *op, weft_memory *v, weft_memory *y,
                                weft_error *error);
/** d = diag(A). */
weft_status weft_operator_diagonal(weft_operator *op, weft_memory *d, weft_error *error);
int64_t weft_operator_dofs(const weft_operator *op);
/** CSR only: borrowed pattern and, where the operator keeps them in its order (not on a GPU), its
 * values, else NULL. */
const weft_pattern *weft_operator_pattern(const weft_operator *op);
weft_memory *weft_operator_values(const weft_operator *op);
/** CSR only: the values in the order of the pattern as they are now, on the operator's device;
 * where it keeps another order they are copied into it by each call. Borrowed.
 *  Errors WEFT_ERROR_USAGE (another assembly), _MEMORY, _DEVICE */
weft_status weft_operator_matrix(weft_operator *op, weft_memory **values, weft_error *error);
/** Local matrices of form i (lma only), interleaved; borrowed, else NULL. */
weft_memory *weft_operator_local(const weft_operator *op, int form);

#ifdef __cplusplus
}
#endif
#endif
