/** What the files of actions share. */
#pragma once

#include "forms/lower/action.h"
#include "forms/lower/emit.h"

enum { UFL_LINE_MAX = 14, UFL_ACTION_FIELDS = 16 };

/** Lagrange functions on a line at the points. */
typedef struct ufl_line {
    const ufl_element *element; /* on quadrilaterals or hexahedra */
    int n;                      /* nodes of a line */
    double nodes[UFL_LINE_MAX]; /* ascending */
    double *values, *slopes;    /* [points][n], in the order of the nodes */
    int *order;                 /* node of the element at each place of the lattice, x fastest */
} ufl_line;

/** The dofs of a function on a cell as a kernel has them: the components of a vector interleaved at each node, or one
 * part of a mixed element after the other; each part by its lattice. */
typedef struct ufl_dofs {
    int n_nodes, components; /* of weft_cell_source */
    int *order;
    int n_parts;
    struct {
        int first; /* ufl_part.first, which is the part's name here */
        const ufl_line *line;
        int offset, component; /* of its dofs among those of the cell */
    } parts[UFL_ACTION_FIELDS];
} ufl_dofs;

/** A component of a function that is interpolated, or of the test function. */
typedef struct ufl_field {
    int source, part; /* part: ufl_dofs.parts[].first */
    int offset, component;
    const ufl_line *line;
    int slot;         /* of arrays for its derivatives; -1: none are needed */
    bool has_value;   /* of the test function: not derivatives alone */
    int first, layer; /* kernels by layers: places in shared memory */
} ufl_field;

/** factor * (derivative of a part of the test function) */
typedef struct ufl_action_term {
    int part, derivative, test, factor;
} ufl_action_term;

typedef struct ufl_action_writer {
    ufl_lowering l;
    ufl_emitter emitter; /* of the integrand at a point */
    ufl_cell_action *out;
    const char *name;
    const weft_limits *limits;
    ufl_action_shape shape;
    int dimension; /* of cells and coordinates */
    int n_points;
    double *points, *weights;
    ufl_line lines[WEFT_CELL_SOURCES];
    const ufl_line *geometry;                   /* of the coordinates */
    ufl_dofs test, *sources[WEFT_CELL_SOURCES]; /* sources: NULL for constants */
    ufl_field fields[UFL_ACTION_FIELDS], tests[UFL_ACTION_FIELDS];
    ufl_action_term *terms;
    int n_lines, n_fields, n_tests, n_terms;
    int n_values, n_gradients; /* arrays of a cell */
    bool by_layers;            /* kernels/cells/hexahedra_layers.cu, else lines */
    bool trilinear;            /* kernels/cells/trilinear.cu, else geometry.cu */
    int field_values, layer_size;
    bool expands; /* the determinant is computed from the columns of the Jacobian */
} ufl_action_writer;

/** Write the text, and the sizes of its launches, into w->out. (action_text.c) */
bool ufl_action_write(ufl_action_writer *w);
/** The part of the text between tables and kernel that only a GPU has: sizes, lists of fields, the kernel's
 * arguments, and the files of kernels/cells. (action_gpu.c) */
void ufl_action_choose_kernel(ufl_action_writer *w);
void ufl_action_write_gpu(ufl_action_writer *w, weft_text *out);
/** What both kinds of kernels write. (action_text.c) */
void ufl_action_write_sources(const ufl_action_writer *w, bool on_gpu, weft_text *out);
void ufl_action_write_file(const char *name, weft_text *out);
int ufl_action_most_nodes(const ufl_action_writer *w); /* of a line of any function */
