/* What the files around operators share: operators, products, conjugate gradients. Not installed.
 */
#ifndef WEFT_OPERATOR_INTERNAL_H
#define WEFT_OPERATOR_INTERNAL_H

#include "fem/base/private.h"

/** count * size bytes for the time of one computation, not zeroed, on huge pages where the system
 *  has them; pages never written cost nothing. NULL on overflow or no memory. Free with free(). */
void *weft_scratch_make(size_t count, size_t size);

/** Memory that holds a copy of an array, count * size bytes. *out is the caller's, also on errors.
 */
weft_status weft_memory_place(weft_device *device, const void *array, size_t count, size_t size,
                              weft_memory **out, weft_error *error);

/* ---- scripts that run (compiled.c) ------------------------------------------------------ */

/** A compilation and its program, which live and die together. Start from {0}. */
typedef struct weft_compiled {
    weft_compilation *compilation;
    weft_program *program;
} weft_compiled;

#define WEFT_FRAGMENTS_MAX 4

/** Costs and cover of a script for options, as weft_context_tune said (tuned.c). What they point to
 *  is in the arena, or the context's. */
weft_status weft_context_tuned(const weft_context *context, const weft_fragment *fragments,
                               int n_fragments, weft_compile_options *options, weft_arena *arena,
                               weft_error *error);
/** Compile fragments for the context's device. options->plan is the context's. Seconds and kernels
 * are added to the context's. On error *out is empty. */
weft_status weft_compiled_make(weft_context *context, const weft_fragment *fragments,
                               int n_fragments, const weft_compile_options *options,
                               weft_compiled *out, weft_error *error);
void weft_compiled_free(weft_compiled *compiled);
/** What a form asks of the compiler: its expressions and parameters, borrowed. */
weft_compile_options weft_form_options(const weft_form *form);
/** A form's Addto into the matrix A, from zero for the first form, bound but for A itself.
 *  rows  weft_equations_make of the form */
weft_status weft_compiled_make_addto(weft_context *context, const weft_form *form,
                                     weft_connectivity *rows, bool is_first, weft_scatter scatter,
                                     weft_compiled *out, weft_error *error);
/** Bind a form's connectivity (if it has one) and inputs. */
weft_status weft_compiled_bind_form(weft_compiled *compiled, const weft_form *form,
                                    weft_error *error);

/* ---- components of nodes (equations.c) ---------------------------------------------------- */

/** The rows of a matrix that each cell of a form has: the form's own connectivity where a node has
 * one component, else one with width * components places a cell. Start from {0}. */
typedef struct weft_equations {
    weft_connectivity *connectivity;
    int32_t *indices;
    bool is_own;
} weft_equations;
/** Errors  WEFT_ERROR_UNSUPPORTED (2^31 dofs), _MEMORY; free in any case */
weft_status weft_equations_make(weft_device *device, const weft_form *form, weft_equations *out,
                                weft_error *error);
void weft_equations_free(weft_equations *equations);
int weft_form_components(const weft_form *form);
/** Nodes times components. */
int64_t weft_form_equations(const weft_form *form);

enum { WEFT_PARAMETERS_MAX = 40 };
/** Give a form's options more parameters; room [WEFT_PARAMETERS_MAX] must live as long. */
weft_status weft_options_add(weft_compile_options *options, weft_parameter room[],
                             const weft_parameter *more, int n, weft_error *error);

/* ---- operators ----------------------------------------------------------------------------------
 */

/** What a kind of operator does. assemble may be NULL: nothing is stored. */
typedef struct weft_operator_table {
    weft_status (*assemble)(weft_operator *op, weft_error *error);
    weft_status (*apply)(weft_operator *op, weft_memory *v, weft_memory *y, weft_error *error);
    weft_status (*diagonal)(weft_operator *op, weft_memory *d, weft_error *error);
    void (*free)(weft_operator *op);
    /* the same product in a loop, by launches that do nothing where product->go, which is not NULL,
     * holds 0 when they run; NULL: there is none */
    weft_status (*apply_guarded)(weft_operator *op, const weft_program_product *product,
                                 weft_error *error);
    /* what a rows routine needs for the same product, borrowed; NULL: there is none */
    const weft_rows *(*rows)(const weft_operator *op);
} weft_operator_table;

/** Programs of conjugate gradients (cg_steps.c), made when first needed. */
typedef struct weft_cg_programs weft_cg_programs;
void weft_cg_programs_free(weft_cg_programs **programs);

/** Conjugate gradients in one kernel (cg_persistent.c), made when first needed. */
typedef struct weft_persistent weft_persistent;
void weft_persistent_free(weft_persistent **persistent);

struct weft_operator {
    const weft_operator_table *table;
    void *state; /* the kind's own */
    int64_t n_dofs;
    weft_pattern *pattern;       /* csr only */
    weft_memory *values;         /* csr only */
    weft_cg_programs *cg;        /* NULL before the first solve */
    weft_persistent *persistent; /* the same, and where there is none */
};

/** What a script's loop calls for its product with op, which must not ask for vy. */
weft_status weft_operator_apply_in_loop(weft_operator *op, const weft_program_product *product,
                                        weft_error *error);

weft_status weft_operator_make_cells(weft_context *context, weft_assembly assembly,
                                     const weft_form *forms, int n_forms, weft_operator **out,
                                     weft_error *error);
weft_status weft_operator_make_csr(weft_context *context, const weft_form *forms, int n_forms,
                                   weft_operator **out, weft_error *error);
weft_status weft_operator_make_edge(weft_context *context, const weft_form *forms, int n_forms,
                                    weft_operator **out, weft_error *error);
/** Rounding apart (some 2e-16), products computed in two ways give the same; against the product's
 * norm. A rule of degree 3 that is not symmetric was 2.4e-9 apart on a cube of 14 cells a side. */
#define WEFT_TRIAL_APART 1e-12
/** Numbers between -1 and 1 that look random; v [n]. */
weft_status weft_trial_write(weft_memory *v, int64_t n, weft_error *error);
/** How far two vectors on the device are apart, against the first. */
weft_status weft_trial_apart(const weft_memory *a, const weft_memory *b, int64_t n, double *apart,
                             weft_error *error);
/** csr on a GPU (operator_sliced.c). */
weft_status weft_operator_make_sliced(weft_context *context, const weft_form *forms, int n_forms,
                                      weft_operator **out, weft_error *error);
/** Memory for the local matrices of a form: [block][i * rows + j][lane]. */
weft_status weft_local_make(weft_device *device, const weft_form *form, int lanes,
                            weft_memory **out, weft_error *error);

/* ---- wide loops (wide.c, pattern_positions.c): chosen for the processor at run time ----- */

/** Instruction sets that loops are written for; each includes the ones before it. */
typedef enum weft_vectors {
    WEFT_VECTORS_PLAIN,
    WEFT_VECTORS_AVX2,
    WEFT_VECTORS_AVX512
} weft_vectors;
/** The best that this processor has. */
weft_vectors weft_vectors_here(void);
/** The best of these that the device is told to use; NULL: that this processor has. */
weft_vectors weft_vectors_of(const weft_device *device);

/** weft_pattern_positions with the given instruction set, which the processor must have.
 *  n_upper  [n_rows] entries behind the diagonal of each row, for a pattern that is symmetric and
 *           has every diagonal: half of the entries are then found from their mirror image; or NULL
 */
weft_status weft_pattern_positions_by(weft_device *device, const weft_pattern *pattern,
                                      const int32_t *n_upper, const weft_connectivity *dofs,
                                      int lanes, weft_vectors vectors, weft_memory **positions,
                                      weft_error *error);

/** Rows and vectors are worked on in chunks of this many, each with sums of its own, so that
 * results do not depend on the number of threads. */
#define WEFT_CHUNK 4096

typedef struct weft_csr_rows {
    const int64_t *row_start;
    const int32_t *columns;
    const double *values, *v;
    double *y;
} weft_csr_rows;

typedef struct weft_wide_kernels {
    /* y = A v in rows [first, last); returns v.y over them */
    double (*csr_rows)(const weft_csr_rows *m, int64_t first, int64_t last);
} weft_wide_kernels;
/** For the given instruction set, which the processor must have. */
const weft_wide_kernels *weft_wide(weft_vectors vectors);

/** weft_csr_product that also gives v.y of each chunk; dots [ceil(n_rows / WEFT_CHUNK)], or NULL.
 */
weft_status weft_csr_product_dots(weft_device *device, const weft_pattern *pattern,
                                  const double *values, const double *v, double *y, double *dots,
                                  weft_error *error);

#endif
