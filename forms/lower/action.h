/** Actions of integrals by sum factorisation on quadrilaterals and hexahedra.
 *  In: an integral over cells with one or two arguments. Out: the text of a kernel that adds its vector, or its
 *  matrix times a vector, for all cells (fem/cells runs it).
 *
 *      action.c        integrand -> functions at points, terms of the test function
 *      action_text.c   these -> what precedes the files of kernels/cells
 *      action_gpu.c    the same for GPUs: shared memory, thread blocks, lists of fields
 *
 *  The trial function is data like a coefficient, so the integrand is f0 v + f1 . grad v with f0, f1 that
 *  depend on all data at the point: one kernel serves every form.
 *  Source  Kronbichler and Kormann 2012, Comput. Fluids 63; Swirydowicz et al. 2019
 *  Decision  docs/decisions/0023-sum-factorised-cells.md */
#pragma once

#include "fem/cells/cells.h"
#include "forms/lower/lower.h"

typedef struct ufl_cell_action {
    weft_cell_kernel kernel;
    /* what each source of the kernel is: the trial function, a coefficient or a constant */
    const ufl_node *sources[WEFT_CELL_SOURCES];
} ufl_cell_action;

/** How a kernel uses a GPU; 0: the default. */
typedef struct ufl_action_shape {
    int cells;    /* per thread block */
    int resident; /* thread blocks per multiprocessor that the registers must allow */
    bool single;  /* everything that it reads and computes is float */
} ufl_action_shape;

/** Lower one integral of a prepared form for a device.
 *  name    of the kernel; borrowed
 *  limits  of the device: the language and the lanes of the text
 *  shape   NULL: the default
 *  Returns arena memory, or NULL and an error: WEFT_ERROR_UNSUPPORTED for what is not summed by factors: other
 *  cells or surfaces, arguments that are not Lagrange elements, vectors or mixed elements of them, rules that have fewer
 *  points on a line than the functions have nodes */
const ufl_cell_action *ufl_lower_action(ufl_graph *graph, const ufl_prepared *form, int integral,
                                        const char *name, const weft_limits *limits,
                                        const ufl_action_shape *shape);
