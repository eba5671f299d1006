/** Formulas of functions in any elements: values and gradients at points are computed by tables on the
 *  host, formulas by one program over these points. Private to fem/derive.
 *
 *      functions --tabulate.c--> lists over points --pointwise.c--> lists over elements
 */
#pragma once

#include "fem/derive/private.h"
#include "fem/mesh/map.h"

/** Points of each cell, or facet. */
typedef enum derive_set {
    DERIVE_CENTRE,  /* one */
    DERIVE_RULE,    /* of quadrature */
    DERIVE_LATTICE, /* the nodes of a Lagrange element of the solution's degree, for extrema */
    DERIVE_NODES,   /* those of the space's element, of cells only */
    DERIVE_SETS
} derive_set;

typedef struct derive_set_points {
    int n;
    double *xi;      /* [n][d] reference coordinates in the cell, which is reoriented for facets */
    double *weights; /* [n] of quadrature, else 0 */
} derive_set_points;

/** A function, or one of those of a mixed space. */
typedef struct derive_source {
    const weft_space *space; /* NULL: constant in each cell */
    /* of values that are mapped with the cells: space is the image's, of vectors at nodes, which contains the functions */
    const weft_space *mapped;
    weft_space *image;
    weft_memory *memory; /* NULL: the places of points */
    int64_t first;       /* its first number in the memory */
    int list, component; /* where its values go */
    int components;
    double *values;                 /* [nodes or cells][components] on the host */
    int32_t *facet_nodes;           /* [facets][nodes of a cell] */
    double *tables[2][DERIVE_SETS]; /* by derive_elements: [1 + d][points][nodes of a cell] */
} derive_source;

/** A name with its values and gradients at the points of some elements. */
typedef struct derive_list {
    const char *name;
    int components;
    double *values, *gradients; /* [rows][components], [rows][components][d] */
    weft_memory *values_memory, *gradients_memory;
    bool reads_values[2], reads_gradients[2]; /* by the programs over cells and over facets */
} derive_list;

struct derive_tabulated {
    weft_cell_map map;
    weft_space *geometry; /* of the cells; sources[0] */
    derive_source *sources;
    int n_sources;
    derive_list *lists; /* the first is the solution */
    int n_lists;
    int32_t *facet_cells;                   /* [facets] */
    derive_set_points sets[2][DERIVE_SETS]; /* by derive_elements */
    double *volumes;                        /* [n_cells], for means at nodes */
    /* for projections: [n_cells][points of the rule] with weights, [points][nodes of a cell] of the
     * space of nodal fields */
    double *measures, *shapes;
    int64_t rows;                 /* points at a time */
    double *x, *normal, *measure; /* [rows][d], [rows][d], [rows] */
    weft_memory *x_memory, *normal_memory;
    weft_text text; /* the form in whose names formulas are: that of constants */
    weft_form form;
    weft_form_input *inputs; /* of constants */
    weft_compiled programs[2];
    double **results; /* [n_quantities] at the points, [rows][components] */
    weft_memory **result_memories;
};

/* ---- fem/derive/tabulate.c ------------------------------------------------------------------- */

/** Make sources, lists and sets.
 *  Errors  WEFT_ERROR_UNSUPPORTED (a function without values at points), WEFT_ERROR_MEMORY */
weft_status derive_tabulated_make(weft_derive *derive, weft_error *error);
void derive_tabulated_free(weft_derive *derive);
/** Append the facets of a group; returns their number in *n. */
weft_status derive_tabulated_add_facets(weft_derive *derive, int group, int side, int64_t *n,
                                        weft_error *error);
/** May a list have different values in two cells at a point of both? */
bool derive_tabulated_jumps(const struct derive_tabulated *t, int list);
/** Tabulate all functions, once the facets are known, and make the lists. */
weft_status derive_tabulated_prepare(weft_derive *derive, weft_error *error);
/** Fetch the functions' present values. */
weft_status derive_tabulated_pull(weft_derive *derive, weft_error *error);
/** Fill the lists at the points of elements first .. first + n. */
weft_status derive_tabulated_evaluate(weft_derive *derive, derive_elements elements, derive_set set,
                                      int64_t first, int64_t n, weft_error *error);
/** The place of a point of an element. */
void derive_tabulated_place(const weft_derive *derive, derive_elements elements, derive_set set,
                            int64_t element, int point, double out[3]);

/* ---- fem/derive/mass.c ----------------------------------------------------------------------- */

/** Solve for the L2 projection of fields at nodes.
 *  values  [nodes][components]; in: int f phi_i, out: the nodal values
 *  Errors  WEFT_ERROR_MEMORY */
weft_status derive_mass_solve(const weft_derive *derive, int components, double *values,
                              weft_error *error);

/* ---- fem/derive/pointwise.c ------------------------------------------------------------------ */

/** The inputs of scripts over points, in front of formulas. */
void derive_pointwise_start(const derive_scope *scope, derive_elements elements, weft_text *out);
/** The points at which a quantity is evaluated. */
derive_set derive_pointwise_set(const weft_derive *derive, const derive_quantity *quantity);
/** Compile the program of all quantities over cells, or facets, and make their lists. */
weft_status derive_pointwise_make(weft_derive *derive, derive_elements elements, weft_error *error);
/** Run both programs over all points, and fill the lists of quantities. */
weft_status derive_pointwise_run(weft_derive *derive, weft_error *error);
