/** Forms: scripts that compute local matrices or lists over the cells of a mesh. In: a context, a script,
 *  what it is bound to. Out: right-hand sides, checks, measures of a field. */
#ifndef WEFT_FORM_H
#define WEFT_FORM_H

#include "fem/weft_mesh.h"
#include "fusion/weft_program.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What every compilation of a run shares. Borrowed by what is made with it. */
typedef struct weft_context {
    weft_device *device;
    const weft_library *library; /* weft_fem_library_make */
    weft_plan_kind plan;
    const weft_monitor *monitor;
    double compile_seconds, plan_seconds; /* summed by weft_context_program */
    int n_kernels;
    weft_saving saving;     /* summed over the scripts, where there is a monitor; the kernel is of
                               the first script that has one */
    char saving_script[96]; /* its parts, "poisson.weft + matrix.weft" */
    struct weft_context_tuning *tuning; /* NULL: plans by nominal figures (weft_context_tune) */
} weft_context;

/** From now on choose plans by what the tuning database has of the device: measured costs, and covers
 *  that a search found best for the same script, device and size. On null it does nothing.
 *  most > 0   where none is remembered, measure up to so many covers of each script without loops
 *             when it is compiled, and remember the fastest
 *  n_cells    that plans are made for
 *  Free with weft_context_tune_free, before the device. Errors WEFT_ERROR_MEMORY, WEFT_ERROR_IO */
weft_status weft_context_tune(weft_context *context, int most, int64_t n_cells, weft_error *error);
void weft_context_tune_free(weft_context *context);

/** The shipped functions with the tables of fem (quadrature, shape functions). */
weft_status weft_fem_library_make(weft_library **out, weft_error *error);
/** The text of a shipped script (fem/scripts), or NULL. */
const char *weft_fem_script(const char *name);

/** An input of a form: bound by name to memory that outlives the operator. */
typedef struct weft_form_input {
    const char *name;
    weft_memory *memory;
} weft_form_input;

/** A form over one index set: a script that computes local matrices K from inputs, through a
 * connectivity `dofs`. Scripts declare `index cells, nodes; connectivity dofs : cells -> nodes[..]`
 * under these names. */
typedef struct weft_form {
    const char *name, *text; /* text: fragment without `return` */
    weft_connectivity *dofs;
    const weft_form_input *inputs;
    int n_inputs;
    const weft_expression *expressions;
    int n_expressions;
    const weft_parameter *parameters;
    int n_parameters;
    const char *product; /* shipped script that follows it in place of product.weft where the
                            product is recomputed by patches, with fewer operations; NULL: none */
    const char
        *action;    /* a value of the text that is K v, [n] or [n,components], for the text's own
                           input v over nodes: products that store nothing add it up in place of
                           mvmul(K, v), with fewer operations; NULL: none */
    int components; /* values a node, 0 is 1: K has row i*components + k for component k of the
                       cell's node i, and so have vectors, [nodes][components] */
} weft_form;

/** Looks at a form's local matrices again and again, as its inputs change. The form and what it
 *  names are borrowed, and must outlive it. */
typedef struct weft_symmetry weft_symmetry;
weft_status weft_symmetry_make(weft_context *context, const weft_form *form, weft_symmetry **out,
                               weft_error *error);
/** The largest |K - K^T| of a cell, against the largest |K|, in Frobenius' norm: 0 where local
 *  matrices are symmetric, rounding apart (some 1e-16). Runs the form once. NaN where K is. */
weft_status weft_symmetry_measure(weft_symmetry *symmetry, double *out, weft_error *error);
void weft_symmetry_free(weft_symmetry **symmetry);
/** The three in one, for a form that is looked at once. */
weft_status weft_form_asymmetry(weft_context *context, const weft_form *form, double *out,
                                weft_error *error);
/** The largest |action - K v| of a cell, against the largest |action|, for some v: 0 where the
 * form's action is K v, rounding apart. NaN where one is. form->action is not NULL. */
weft_status weft_form_action_difference(weft_context *context, const weft_form *form, double *out,
                                        weft_error *error);

/** What a script that runs once returns or accumulates into; all borrowed. */
typedef struct weft_form_outputs {
    const char *const *names;     /* [n], of the script's values */
    weft_memory *const *memories; /* [n] */
    int n;
    const char *index_set; /* whose size, n_elements, no connectivity gives; NULL: there is none */
    int64_t n_elements;
} weft_form_outputs;
/** Compile, bind and run once a script that is not an operator: right-hand sides, nodal values,
 *  errors. */
weft_status weft_form_run(weft_context *context, const weft_form *form,
                          const weft_form_outputs *outputs, weft_error *error);

/* ---- measures of a field ------------------------------------------------------------------ */

typedef struct weft_field_measures {
    double mass;        /* its integral */
    double centroid[3]; /* int x u / int u; NaN where the mass is 0, and beyond the dimension */
    double minimum, maximum, l2_norm;
    double l2_error; /* against `exact`, by a rule of degree 5; NaN without */
} weft_field_measures;
typedef struct weft_field_measure weft_field_measure;
/** A P1 field u over the nodes of a mesh, with its cells and coordinates; all borrowed. */
typedef struct weft_nodal_field {
    const weft_mesh *mesh;
    weft_connectivity *cells;
    weft_memory *x, *u;
} weft_nodal_field;
/** Measures of a field, by one program. What the field names must outlive the measure, but for the
 *  mesh. exact: a formula in x, y, z and t, or NULL.
 *  Errors  WEFT_ERROR_SYNTAX, _TYPE with a caret in the formula; _MEMORY */
weft_status weft_field_measure_make(weft_context *context, const weft_nodal_field *field,
                                    const weft_expression *exact, weft_field_measure **out,
                                    weft_error *error);
void weft_field_measure_free(weft_field_measure **measure);
weft_status weft_field_measure_run(weft_field_measure *measure, double t, weft_field_measures *out,
                                   weft_error *error);

#ifdef __cplusplus
}
#endif
#endif
