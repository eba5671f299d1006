/** Actions of forms by kernels that compute whole cells.
 *
 *      In: the text of a kernel (forms/action), dofs and vertices of cells, coefficients.
 *      Out: y += A x.
 *
 *  Such a kernel is not a part of a script: its threads are not one per cell. Scripts apply it as an operator. */
#pragma once

#include "fusion/weft_program.h"

enum { WEFT_CELL_SOURCES = 32 };

/** Data that a kernel reads, other than the geometry. */
typedef enum weft_cell_source_kind {
    WEFT_CELL_NODAL,   /* values at nodes of an element, through a connectivity */
    WEFT_CELL_CONSTANT /* per cell, or for all cells */
} weft_cell_source_kind;

typedef struct weft_cell_source {
    weft_cell_source_kind kind;
    int components; /* per node, per cell, or of all */
    bool uniform;   /* WEFT_CELL_CONSTANT: one value for all cells */
    int n_nodes;    /* WEFT_CELL_NODAL: of a cell */
    const int *order; /* [n_nodes]: node i of the kernel is node order[i] of the element */
} weft_cell_source;

/** A kernel; everything is borrowed.
 *  Arguments of the kernel: vertices, coordinates, y, dofs of y, then dofs (nodal ones alone) and values of each
 *  source. Sources that are the argument x of the action are marked by `argument`. */
typedef struct weft_cell_kernel {
    const char *name, *text;
    int cells;         /* per thread block on a GPU, per vector on the host */
    int block_threads, shared_bytes;
    int n_vertices;    /* of a cell */
    int dimension;     /* of the coordinates */
    int n_nodes, components;  /* of the result */
    const int *order;  /* as weft_cell_source.order */
    int n_sources, argument; /* argument: the source that is x; -1: none */
    weft_cell_source sources[WEFT_CELL_SOURCES];
    double flops; /* per cell */
} weft_cell_kernel;

/** The data of a source. */
typedef struct weft_cell_binding {
    weft_connectivity *nodes; /* cells -> nodes of the source's element, in the element's order; nodal sources */
    weft_memory *values;      /* NULL for the argument */
} weft_cell_binding;

typedef struct weft_cell_action weft_cell_action;
/** Compile the kernel and copy the connectivities in the kernel's order of nodes.
 *  vertices     cells -> vertices; borrowed for the call, as all connectivities
 *  coordinates  [vertices][dimension]; borrowed by the action, as all values
 *  nodes        cells -> nodes of the result
 *  sources      [kernel->n_sources]
 *  out          caller's; weft_cell_action_free
 *  Errors       WEFT_ERROR_SHAPE: a connectivity of another width or number of cells; WEFT_ERROR_UNSUPPORTED: one
 *               with 2^31 entries; WEFT_ERROR_MEMORY, _COMPILER, _DEVICE */
weft_status weft_cell_action_make(weft_device *device, const weft_cell_kernel *kernel,
                                  const weft_connectivity *vertices, weft_memory *coordinates,
                                  const weft_connectivity *nodes, const weft_cell_binding *sources,
                                  weft_cell_action **out, weft_error *error);
void weft_cell_action_free(weft_cell_action **action);
/** y += A x (or += the vector, without an argument).
 *  x, y  [nodes][components] */
weft_status weft_cell_action_add(const weft_cell_action *action, weft_memory *x, weft_memory *y,
                                 weft_error *error);
weft_module *weft_cell_action_module(const weft_cell_action *action);
