/** What the files of actions share. */
#pragma once

#include "forms/lower/action.h"
#include "forms/lower/emit.h"

enum { UFL_LINE_MAX = 14, UFL_ACTION_FIELDS = 16 };

/** Lagrange functions on a line at the points. */
typedef struct ufl_line {
    const ufl_element *element; /* on hexahedra */
    int n;                      /* nodes of a line */
    double *values, *slopes;    /* [points][n], nodes ascending */
    int *order;                 /* weft_cell_source.order */
} ufl_line;

/** A component of a function that is interpolated, or of the test function. */
typedef struct ufl_field {
    int source, component;
    const ufl_line *line;
    int slot;         /* of arrays for its derivatives; -1: none are needed */
    bool has_value;   /* of the test function: not derivatives alone */
    int first, layer; /* kernels by layers: places in shared memory */
} ufl_field;

/** factor * (derivative of component `component` of the test function) */
typedef struct ufl_action_term {
    int component, derivative, test, factor;
} ufl_action_term;

typedef struct ufl_action_writer {
    ufl_lowering l;
    ufl_emitter emitter; /* of the integrand at a point */
    ufl_cell_action *out;
    const char *name;
    const weft_limits *limits;
    ufl_action_shape shape;
    int n_points;
    double *points, *weights;
    ufl_line lines[WEFT_CELL_SOURCES];
    const ufl_line *test;
    ufl_field fields[UFL_ACTION_FIELDS], tests[UFL_ACTION_FIELDS];
    ufl_action_term *terms;
    int n_lines, n_fields, n_tests, n_terms;
    int n_values, n_gradients; /* arrays of a cell */
    bool by_layers;            /* kernels/cells/hexahedra_layers.cu, else hexahedra_lines.cu */
    int field_values, layer_size;
    bool expands; /* the determinant is computed from the columns of the Jacobian */
} ufl_action_writer;

/** Write the text, and the sizes of its launches, into w->out. */
bool ufl_action_write(ufl_action_writer *w);
