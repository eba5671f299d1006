/** Forms: scripts that compute local matrices or lists over the cells of a mesh.
 *
 *      In: a context, a script, its bindings.  Out: right-hand sides, checks, field integrals. */
#ifndef WEFT_FORM_H
#define WEFT_FORM_H

#include "fem/weft_data.h"

#ifdef __cplusplus
extern "C" {
#endif

/** State shared by all compilations of a run. Must outlive every object made with it. */
typedef struct weft_context {
    weft_device *device;
    weft_library *library; /* weft_fem_library_make; borrowed */
    weft_plan_kind plan;
    const weft_monitor *monitor;
    double compile_seconds, plan_seconds; /* summed by weft_context_program */
    int n_kernels;
    /* summed over all scripts if there is a monitor; its example kernel is from the
     * first script that has one */
    weft_saving saving;
    char saving_script[96]; /* fragments of that script, "poisson.weft + matrix.weft" */
    weft_data *data; /* what formulas by group read; borrowed; NULL: such formulas are refused */
    struct weft_context_tuning *tuning; /* weft_context_tune; NULL: plans by nominal costs */
    weft_comm *
        comm; /* of the ranks whose parts of meshes spaces are on; borrowed; NULL: meshes are whole */
} weft_context;

/** Choose later plans by the tuning database: by measured costs of the device, and by the covers
 *  that a search found to be fastest for the same script, device and size. No effect on a null
 *  device. Undo with weft_context_tune_free, before the device is freed.
 *  most     > 0: if the database has no cover for a script without loops, measure up to this many
 *           when it is compiled, and store the fastest; 0: no search
 *  n_cells  mesh size that plans are made for
 *  Errors   WEFT_ERROR_MEMORY, WEFT_ERROR_IO; the context is unchanged */
weft_status weft_context_tune(weft_context *context, int most, int64_t n_cells, weft_error *error);
void weft_context_tune_free(weft_context *context);
/** Seconds, of which planning and compiling takes none; differences of two say what else took. */
double weft_context_clock(const weft_context *context);
/** Is it a GPU's that what all ranks choose alike has to suit: the device's, or that of another rank (weft_comm_is_mixed)? */
bool weft_context_is_on_gpu(const weft_context *context);

/** The shipped functions with the tables of fem (quadrature, shape functions).
 *  out  caller's; weft_library_free */
weft_status weft_fem_library_make(weft_library **out, weft_error *error);
/** The text of a shipped script (fem/scripts), or NULL if there is none of this name. */
const char *weft_fem_script(const char *name);

/** An input of a form: a name and the memory bound to it, which must outlive the operator. */
typedef struct weft_form_input {
    const char *name;
    weft_memory *memory;
} weft_form_input;

/** A connectivity of a form besides its dofs, for values that it gathers from other nodes. */
typedef struct weft_form_connectivity {
    const char *name; /* in the script: connectivity NAME : cells -> ... */
    weft_connectivity *connectivity;
} weft_form_connectivity;

/** A form over one index set: a script that computes local matrices K from its inputs. Scripts
 *  declare `index cells, nodes; connectivity dofs : cells -> nodes[..]` with these names. */
typedef struct weft_form {
    const char *name, *text; /* text: script fragment without `return` */
    weft_connectivity *dofs;
    /* of its nodes, for formulas over nodes; NULL: there are none */
    const weft_data_points *points;
    const weft_form_input *inputs;
    int n_inputs;
    const weft_expression *expressions;
    int n_expressions;
    const weft_parameter *parameters;
    int n_parameters;
    /* shipped script to append instead of product.weft, with fewer operations, when products
     * recompute K by patches; NULL: none */
    const char *product;
    /* name of a value of the text that equals K v, [n] or [n,components], for the text's input v
     * over nodes: matrix-free products accumulate it instead of mvmul(K, v), with fewer
     * operations; NULL: none */
    const char *action;
    const char *diagonal; /* that of a value of this shape that is the diagonal of K; NULL: none */
    /* per node; 0 means 1. Row i*components + k of K belongs to component k of the cell's node i;
     * vectors are [nodes][components] */
    int components;
    const weft_form_connectivity *connectivities; /* besides dofs */
    int n_connectivities;
    bool adds_couplings; /* its cells couple nodes that those of an operator's first form do not */
    /* of whole cells (fem/cells), by which matrix-free products add K v without K; NULL: none */
    const struct weft_form_kernels *kernels;
    /* of forms over facets whose dofs are not those of linear functions on simplices: to vertices
     * of the mesh, for the fields of formulas; else NULL */
    weft_connectivity *facets;
    /* its text proves K symmetric, and no data makes an entry NaN: nothing is measured (weft_symmetry) */
    bool is_symmetric;
} weft_form;

/** A check of whether a form's local matrices are symmetric, which can be repeated as its inputs
 *  change. */
typedef struct weft_symmetry weft_symmetry;
/** Compile the check; nothing where weft_form.is_symmetric says the result, and coupling is not asked for.
 *  form   borrowed with everything it points to; must outlive the result
 *  field  of a mixed space: the number of each dof's function, as doubles, by whose units rows are scaled; borrowed;
 *         NULL: K has one unit
 *  out    caller's; weft_symmetry_free */
weft_status weft_symmetry_make(weft_context *context, const weft_form *form, weft_memory *field,
                               weft_symmetry **out, weft_error *error);
/** Run the form once and compute the largest |K - K^T| / |K| of a cell, in the Frobenius norm:
 *  for symmetric local matrices 0 up to rounding (about 1e-16); NaN if a K has a NaN. */
weft_status weft_symmetry_measure(weft_symmetry *symmetry, double *out, weft_error *error);
/** After weft_symmetry_measure of a form with several components: the largest share of |K|^2 of a cell between different
 *  ones. */
double weft_symmetry_coupling(const weft_symmetry *symmetry);
void weft_symmetry_free(weft_symmetry **symmetry);
/** Make, measure and free, for a form that is checked once. */
weft_status weft_form_asymmetry(weft_context *context, const weft_form *form, double *out,
                                weft_error *error);
/** Compute max |action - K v| / max |action| over the cells, for a pseudo-random v: 0 up to
 *  rounding if form->action, which must not be NULL, is K v; NaN if either has a NaN. */
weft_status weft_form_action_difference(weft_context *context, const weft_form *form, double *out,
                                        weft_error *error);

/** What a script that runs once returns or accumulates into; all borrowed. */
typedef struct weft_form_outputs {
    const char *const *names;     /* [n] values of the script; they are returned */
    weft_memory *const *memories; /* [n] memory bound to each name */
    int n;
    const char *index_set; /* one whose size no connectivity determines; NULL: none */
    int64_t n_elements;    /* its size */
} weft_form_outputs;
/** Compile, bind and run a script once: right-hand sides, nodal values, errors.
 *  form, outputs  borrowed for the call
 *  Errors         WEFT_ERROR_SYNTAX, _TYPE (with a caret), _SHAPE, _MEMORY, _COMPILER, _DEVICE */
weft_status weft_form_run(weft_context *context, const weft_form *form,
                          const weft_form_outputs *outputs, weft_error *error);

/* ---- integrals of a field ----------------------------------------------------------------- */

typedef struct weft_field_measures {
    double mass;        /* int u */
    double centroid[3]; /* int x u / int u; NaN if the mass is 0, and beyond the dimension */
    double minimum, maximum, l2_norm;
    double l2_error; /* of u - exact, by a rule of degree 5; NaN without exact */
} weft_field_measures;
typedef struct weft_field_measure weft_field_measure;
/** A P1 field u over the nodes of a mesh, with its cells and coordinates; all borrowed. */
typedef struct weft_nodal_field {
    const weft_mesh *mesh;
    weft_connectivity *cells;
    weft_memory *x, *u; /* on the device: [n_nodes][dimension] coordinates; [n_nodes] */
} weft_nodal_field;
/** Compile one program that computes the integrals of a P1 field u.
 *  field   cells, x and u must outlive the result
 *  exact   a formula in x, y, z and t, or NULL
 *  out     caller's; weft_field_measure_free
 *  Errors  WEFT_ERROR_SYNTAX, _TYPE (with a caret in the formula), _MEMORY, _COMPILER, _DEVICE;
 *          *out untouched */
weft_status weft_field_measure_make(weft_context *context, const weft_nodal_field *field,
                                    const weft_expression *exact, weft_field_measure **out,
                                    weft_error *error);
void weft_field_measure_free(weft_field_measure **measure);
/** Run the program on the present values of u, at time t. */
weft_status weft_field_measure_run(weft_field_measure *measure, double t, weft_field_measures *out,
                                   weft_error *error);

#ifdef __cplusplus
}
#endif
#endif
