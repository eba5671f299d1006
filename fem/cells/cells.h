/** Actions of forms by kernels that compute whole cells.
 *
 *      In: the text of a kernel (forms/lower/action.h), dofs and vertices of cells, coefficients.
 *      Out: y += A x.
 *
 *  Such a kernel is not a part of a script: its threads are not one per cell. Scripts apply it as an operator. */
#pragma once

#include "fem/weft_form.h"

enum { WEFT_CELL_SOURCES = 32 };

/** Data that a kernel reads, other than the geometry. */
typedef enum weft_cell_source_kind {
    WEFT_CELL_NODAL,   /* values at nodes of an element, through a connectivity */
    WEFT_CELL_CONSTANT /* per cell, or for all cells */
} weft_cell_source_kind;

typedef struct weft_cell_source {
    weft_cell_source_kind kind;
    int components;   /* per node, per cell, or of all */
    bool uniform;     /* WEFT_CELL_CONSTANT: one value for all cells */
    int n_nodes;      /* WEFT_CELL_NODAL: of a cell */
    const int *order; /* [n_nodes]: node i of the kernel is node order[i] of the element */
} weft_cell_source;

/** A kernel; everything is borrowed.
 *  Arguments of the kernel: vertices, coordinates, y, dofs of y, then dofs (nodal ones alone) and values of each
 *  source. Sources that are the argument x of the action are marked by `argument`. */
typedef struct weft_cell_kernel {
    const char *name, *text;
    int cells; /* per thread block on a GPU, per vector on the host */
    int block_threads, shared_bytes;
    int n_vertices;          /* of a cell: nodes of its geometry */
    int dimension;           /* of the coordinates */
    const int *vertex_order; /* as weft_cell_source.order */
    int n_nodes, components; /* of the result */
    const int *order;        /* as weft_cell_source.order */
    int n_sources, argument; /* argument: the source that is x; -1: none */
    weft_cell_source sources[WEFT_CELL_SOURCES];
    double flops; /* per cell */
    bool single;  /* all values are float, else double */
} weft_cell_kernel;

/** The data of a source. */
typedef struct weft_cell_binding {
    /* cells -> nodes of the source's element, in the element's order; nodal sources */
    weft_connectivity *nodes;
    weft_memory *values; /* NULL for the argument */
} weft_cell_binding;

typedef struct weft_cell_action weft_cell_action;

/** The data of an action; connectivities are borrowed for the call, values by the action. */
typedef struct weft_cell_data {
    weft_connectivity *vertices;      /* cells -> vertices */
    weft_memory *coordinates;         /* [vertices][dimension] */
    weft_connectivity *nodes;         /* cells -> nodes of the result */
    const weft_cell_binding *sources; /* [kernel->n_sources] */
    /* of the same connectivities by a kernel with the same sources, which must outlive this one, for their copies; NULL: none */
    const weft_cell_action *like;
} weft_cell_data;
/** Compile the kernel and copy the connectivities in the kernel's order of nodes.
 *  out     caller's; weft_cell_action_free
 *  Errors  WEFT_ERROR_SHAPE: a connectivity of another width or number of cells; WEFT_ERROR_UNSUPPORTED: one
 *          with 2^31 entries; WEFT_ERROR_MEMORY, _COMPILER, _DEVICE */
weft_status weft_cell_action_make(weft_device *device, const weft_cell_kernel *kernel,
                                  const weft_cell_data *data, weft_cell_action **out,
                                  weft_error *error);
void weft_cell_action_free(weft_cell_action **action);
/** y += A x (or += the vector, without an argument).
 *  x, y  [nodes][components] */
weft_status weft_cell_action_add(const weft_cell_action *action, weft_memory *x, weft_memory *y,
                                 weft_error *error);
/** Compile what weft_cell_action_add_predicated launches, on devices that capture. */
weft_status weft_cell_action_guard(weft_cell_action *action, weft_error *error);
/** The same in a loop, without effect if *active is 0 when it runs.
 *  active  as weft_program_product
 *  clears  y = A x */
weft_status weft_cell_action_add_predicated(const weft_cell_action *action, weft_memory *x,
                                            weft_memory *y, weft_memory *active, bool clears,
                                            weft_error *error);
weft_module *weft_cell_action_module(const weft_cell_action *action);

/* ---- products of forms ---- */

/** A kernel of a form, and the names in its script of the values that it reads. */
typedef struct weft_form_kernel {
    const weft_cell_kernel *kernel;
    const char *coordinates, *vertices; /* an input and its connectivity */
    /* NULL: the argument, "dofs" */
    const char *inputs[WEFT_CELL_SOURCES], *connectivities[WEFT_CELL_SOURCES];
} weft_form_kernel;

/** What adds K v for all cells of a form, for a device; see weft_form.kernels. */
typedef struct weft_form_kernels weft_form_kernels;
struct weft_form_kernels {
    /** limits  of the device
     *  single  kernels that read and compute floats
     *  out     [*n], owned by what made `self`
     *  Errors  WEFT_ERROR_UNSUPPORTED: such a form has no kernels on this device */
    weft_status (*make)(const weft_form_kernels *self, const weft_limits *limits, bool single,
                        const weft_form_kernel **out, int *n, weft_error *error);
};

enum { WEFT_FORM_KERNELS = 16 };
/** The actions of a form. Initialise with {0}, or with `like`. */
typedef struct weft_form_actions {
    weft_cell_action *list[WEFT_FORM_KERNELS];
    int n; /* 0: products are made from K */
    /* of the same form in the other precision, which must outlive these; NULL: none */
    const struct weft_form_actions *like;
} weft_form_actions;
/** Make the actions where the form has kernels for the device; else none, with the reason in the log.
 *  form    with all inputs bound, to floats with
 *  single  everything is in single precision
 *  out     weft_form_actions_free, also after an error */
weft_status weft_form_actions_make(weft_context *context, const weft_form *form, bool single,
                                   weft_form_actions *out, weft_error *error);
void weft_form_actions_free(weft_form_actions *actions);
/** y += K v over all cells; y = K v with `clears`.
 *  active  NULL, or as weft_cell_action_add_predicated */
weft_status weft_form_actions_run(const weft_form_actions *actions, weft_memory *v, weft_memory *y,
                                  weft_memory *active, bool clears, weft_error *error);
