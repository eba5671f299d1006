/** Operators: the sum of forms as a linear map, in one of several formats.
 *
 *      In: forms.  Out: products, the diagonal, a sparse matrix; predicted costs and memory. */
#ifndef WEFT_OPERATOR_H
#define WEFT_OPERATOR_H

#include "core/weft_tuning.h"
#include "fem/weft_element.h"
#include "fem/weft_pattern.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- formats ---------------------------------------------------------------------------- */

typedef enum weft_assembly {
    WEFT_ASSEMBLY_LMA,         /* stored local matrices; scatter in place */
    WEFT_ASSEMBLY_LMA_GATHER,  /* stored local matrices; transposed gather */
    WEFT_ASSEMBLY_CSR,         /* a sparse matrix, added to at precomputed positions */
    WEFT_ASSEMBLY_MATRIX_FREE, /* local matrices recomputed in every product */
    WEFT_ASSEMBLY_SYMMETRIC    /* a symmetric sparse matrix; couplings inside a patch of 512 rows
                               are stored once */
} weft_assembly;
/** Description of an operator format. */
typedef struct weft_assembly_info {
    const char *name;
    const char *alias;    /* another name for it; NULL: none */
    const char *help;     /* a few words; NULL: none needed */
    bool symmetric_only;  /* rejects forms that are not symmetric */
    bool stores_matrix;   /* weft_operator_matrix is available */
    bool stores_local;    /* weft_operator_local is available */
    weft_scatter scatter; /* of products with stored local matrices */
    /* shipped script that follows a form's text: for assembly, or for the product
     * if nothing is stored */
    const char *script;
} weft_assembly_info;
/** The number of assemblies, which are numbered from 0. */
int weft_assembly_count(void);
const weft_assembly_info *weft_assembly_about(weft_assembly assembly);
const char *weft_assembly_name(weft_assembly assembly);
/** Find an assembly by name or alias.
 *  Errors  WEFT_ERROR_USAGE (no such assembly; the hint lists the names) */
weft_status weft_assembly_find(const char *name, weft_assembly *out, weft_error *error);
/** Append the names to a text, "lma, ... or edge"; with `helps`, each with its help in brackets. */
void weft_assembly_list(weft_text *out, bool helps);

#define WEFT_ASSEMBLIES_MOST 8
/** Speed of an assembly on a device. */
typedef struct weft_assembly_speed {
    bool is_available;
    /* Fractions of weft_limits.bandwidth reached by a product, in up to two dimensions and in three, and by assembly.
     * Above 1 on the host, whose nominal bandwidth is a cautious figure. */
    double product[2], assembly;
    /* Patterns, positions, patches, transposes: seconds per cell of one host thread. */
    double set_up;
} weft_assembly_speed;
/** Speeds of all assemblies, by their number. */
typedef struct weft_assembly_speeds {
    weft_assembly_speed of[WEFT_ASSEMBLIES_MOST];
    int n_measured; /* figures from the tuning database */
} weft_assembly_speeds;
/** The speeds of a device: figures of the tuning database, called "assembly NAME product 2D",
 *  "assembly NAME product 3D", "assembly NAME assembly" and "assembly NAME set-up"
 *  (weft_tuning_set); where it has none, those of the table of formats.
 *  tuning  borrowed; NULL: the table only
 *  device  its identity (weft_device_identity)
 *  Errors  those of weft_tuning_get */
weft_status weft_assembly_speeds_read(weft_tuning *tuning, const char *device,
                                      const weft_limits *limits, weft_assembly_speeds *out,
                                      weft_error *error);

/** The problem for which an assembly is chosen. */
typedef struct weft_assembly_problem {
    int dimension, width; /* of the mesh; nodes per cell */
    int64_t n_nodes, n_cells;
    bool symmetric;      /* local matrices are symmetric, which some assemblies require */
    double asymmetry;    /* |K - K^T| / |K| of those that are not; 0: not known */
    double applications; /* expected number of products; for CG weft_cg_iterations_expected */
    double solves;       /* solves that share them, and a preconditioner; 0 means 1 */
    int components;      /* per node; 0 means 1 */
    weft_cell_type cell; /* of the mesh; WEFT_POINT: simplices */
    int degree;          /* of u; 0 means 1 */
    bool is_elastic;     /* derivatives couple components, as those of a displacement */
    double cell_shape, domain_shape;    /* of weft_mesh_shape; 0 means 1 */
    double factorisations;              /* by the preconditioner lu, if it may be chosen; else 0 */
    const weft_assembly_speeds *speeds; /* of the device; NULL: those of the table of formats */
    bool lowers_degrees;                /* multigrid of higher degree needs no matrix */
} weft_assembly_problem;

/** Predicted cost of one assembly: seconds = set_up + assembly + applications * product. */
typedef struct weft_assembly_cost {
    const char *name;
    weft_assembly assembly; /* valid if possible */
    bool possible;          /* available on this device for such a form */
    const char *why_not;    /* NULL: it is possible and fits into memory */
    double set_up_seconds, assembly_seconds, product_seconds, seconds;
    double assembly_bytes, product_bytes; /* moved */
    double memory_bytes;                  /* held, besides the mesh and vectors */
} weft_assembly_cost;
/** Entries of the sparse matrix with one component per node, about. */
double weft_assembly_entries(const weft_assembly_problem *problem);
/** Predict the cost of every assembly, best choice first. Returns the number of assemblies.
 *  limits  of any device, which need not be present */
int weft_assembly_costs(const weft_limits *limits, const weft_assembly_problem *problem,
                        weft_assembly_cost out[WEFT_ASSEMBLIES_MOST]);
/** Predicted seconds in which an iteration of CG moves its bytes: the product, and lists that it reads apart from that. */
double weft_iteration_seconds(const weft_limits *limits, const weft_assembly_problem *problem,
                              weft_assembly assembly);
/** Choose the assembly with the least predicted time among those that are possible and fit into
 *  memory; if none fits, the one with the least memory.
 *  reason  NULL, or gets a table of the figures, without a trailing newline
 *  Errors  WEFT_ERROR_USAGE (impossible sizes) */
weft_status weft_assembly_choose(const weft_limits *limits, const weft_assembly_problem *problem,
                                 weft_assembly *out, weft_text *reason, weft_error *error);
/** Add the memory of an operator of this assembly, with its connectivity, on a device with these
 *  limits to an estimate. Accurate to a few per cent for simplices of degree 1.
 *  late   the bytes of it that are allocated by the first product
 *  early  those that weft_operator_release_assembly frees */
void weft_operator_memory_estimate(const weft_limits *limits, weft_assembly assembly,
                                   const weft_assembly_problem *problem,
                                   weft_memory_estimate *estimate, size_t *late, size_t *early);
/* ---- operators -------------------------------------------------------------------------- */

typedef struct weft_operator weft_operator;
/** Make the operator of a sum of forms on the same nodes. Compiles and allocates, but computes
 *  nothing.
 *  context  borrowed; must outlive the operator
 *  forms    [n_forms], borrowed with everything they point to; must outlive the operator
 *  out      caller's; weft_operator_free
 *  Errors   WEFT_ERROR_USAGE (no form, a form without dofs), WEFT_ERROR_SHAPE (forms on different
 *           nodes or components), _SYNTAX, _TYPE, _UNSUPPORTED, _MEMORY, _COMPILER, _DEVICE; *out
 *           untouched */
weft_status weft_operator_make(weft_context *context, weft_assembly assembly,
                               const weft_form *forms, int n_forms, weft_operator **out,
                               weft_error *error);
void weft_operator_free(weft_operator **op);
/** Compute what is stored (local matrices, matrix values, costly coefficients of matrix-free
 *  products) from the present inputs of the forms. Without it, the first product of an operator that
 *  is applied cell by cell computes it.
 *  Errors  WEFT_ERROR_UNSUPPORTED (a form that is not symmetric, by the assembly edge; checked in
 *          the first call), _MEMORY, _DEVICE */
weft_status weft_operator_assemble(weft_operator *op, weft_error *error);
/** Free what only the assembly of a matrix needs, such as the positions of local matrices, after the
 *  last one: from then on weft_operator_assemble is an error, WEFT_ERROR_USAGE. Without effect on
 *  operators that store no global matrix. */
void weft_operator_release_assembly(weft_operator *op);
/** y = A v; v, y [n_dofs] doubles on the operator's device.
 *  Errors  WEFT_ERROR_SHAPE (v or y is too short), _MEMORY, _DEVICE */
weft_status weft_operator_apply(weft_operator *op, weft_memory *v, weft_memory *y,
                                weft_error *error);
/** d = diag(A); d [n_dofs].  Errors as weft_operator_apply */
weft_status weft_operator_diagonal(weft_operator *op, weft_memory *d, weft_error *error);
int64_t weft_operator_dofs(const weft_operator *op);
/** Number of entries of the matrix; 0 for formats that store none. */
int64_t weft_operator_entries(const weft_operator *op);
/** Formats that store a matrix: the pattern, and the values if they are kept in its order (not on a
 *  GPU). Borrowed; otherwise NULL. On a GPU the first call copies the pattern from the device; NULL
 *  if that fails, which is logged. */
const weft_pattern *weft_operator_pattern(const weft_operator *op);
weft_memory *weft_operator_values(const weft_operator *op);
/** Formats that store a matrix: the present values, in the order of the pattern.
 *  values  on the operator's device; borrowed; copied by each call if kept in another order
 *  Errors  WEFT_ERROR_USAGE (a format without a matrix), _MEMORY, _DEVICE */
weft_status weft_operator_matrix(weft_operator *op, weft_memory **values, weft_error *error);
/** Free the values of weft_operator_matrix where they were copied. */
void weft_operator_matrix_release(weft_operator *op);
/** Formats that store local matrices: those of a form, interleaved. Borrowed; otherwise NULL. */
weft_memory *weft_operator_local(const weft_operator *op, int form);

#ifdef __cplusplus
}
#endif
#endif
