/** What the files of fem/derive share.
 *
 *      formulas --formula.c--> statements for each point --script.c--> one script for all cells and
 *      one for all facets --run.c--> lists over elements --values.c--> fields, integrals, extrema
 *
 *  That is for P1 on triangles and tetrahedra, whose shape functions are in the script. Functions in other
 *  elements have tables on the host, and a script over points (fem/derive/tabulated.h).
 *
 *  Decision  docs/decisions/0033-derived-quantities-follow-the-form.md */
#pragma once

#include "fem/derive/derive.h"
#include "fem/form/form.h"

/* ---- elements and their points (fem/derive/points.c) ----------------------------------------- */

typedef enum derive_elements { DERIVE_CELLS, DERIVE_FACETS } derive_elements;

/** Where formulas are evaluated: the centre, then the points of quadrature, then the vertices. */
typedef struct derive_points {
    int n_quadrature, n_vertices, n; /* n = 1 + n_quadrature + n_vertices */
    double (*shape)[4]; /* [n] P1 shape functions of the cell; of facets the last is 0 */
    double *weights;    /* [n] of quadrature, relative to the element's measure; else 0 */
} derive_points;
weft_status derive_points_make(int dimension, derive_elements elements, derive_points *out,
                               weft_error *error);
void derive_points_free(derive_points *points);
/** The points at which a quantity of this kind is evaluated: first and number. */
void derive_points_of(const derive_points *points, weft_derive_kind kind, int *first, int *n);

/* ---- names and formulas (fem/derive/scope.c, fem/derive/formula.c) --------------------------- */

/** The names of the form that formulas may use. */
typedef struct derive_scope {
    const weft_derive_problem *problem; /* borrowed */
    const weft_form *form;              /* in whose names formulas are */
    /* fem/derive/tabulated.h; NULL: values at points are computed in kernels,
     * by P1 shape functions */
    const struct derive_tabulated *tabulated;
    int dimension, components;
    weft_compilation *names; /* of the form; owns the names */
    const char *coordinates; /* the form's input that is bound to them, or our own */
    bool has_elasticity;     /* it computes lambda and mu */
} derive_scope;
weft_status derive_scope_make(weft_context *context, const weft_derive_problem *problem,
                              struct derive_tabulated *tabulated, derive_scope *out,
                              weft_error *error);
void derive_scope_free(derive_scope *scope);
/** Find a function of any element; -1: there is none. */
int derive_scope_function(const derive_scope *scope, const char *name);
/** Find a name of the form. */
bool derive_scope_find(const derive_scope *scope, const char *name, weft_name_info *out);
/** Is it an input over this index set, other than the coordinates? */
bool derive_scope_is_input(const derive_scope *scope, const weft_name_info *info, const char *over);

/** A quantity and where its values are. */
typedef struct derive_quantity {
    weft_derived_quantity given; /* its strings are copies, in the arena */
    int index;
    derive_elements elements;
    bool is_uniform;  /* the formula does not depend on the element */
    bool varies;      /* it may have different values at the points of an element */
    bool is_sided;    /* it may have different values in the two cells of a facet */
    int rank_of_kind; /* among the fields, or the others, as given */
    /* groups of facets, and of the cells on whose side they are; -1: the boundary; any side */
    int facets, side;
    int rank, sizes[2], n_components;
    int64_t first, n;       /* facets of its group, or cells of it (into group_cells) */
    bool is_whole;          /* all cells */
    weft_memory **memories; /* [n_lists] of results; over cells and facets interleaved */
    double **lists;         /* [n_lists][elements][components], on the host */
    int n_lists, list_components;
    double *rows; /* of a nodal matrix, the lists joined; else NULL */
} derive_quantity;

/** Where a formula stands. */
typedef struct derive_place {
    const derive_scope *scope;
    const derive_quantity *quantities; /* earlier ones: their fields may be used */
    int n_quantities;
    derive_elements elements;
} derive_place;
/** Replace what a formula names by names of the script, for one point.
 *  out     appended to
 *  Errors  WEFT_ERROR_SYNTAX, _TYPE, _INPUT with a caret in the formula; _MEMORY */
weft_status derive_formula_write(const derive_place *place, const weft_derived_quantity *quantity,
                                 int point, weft_text *out, weft_error *error);
/** Set what a formula's values may differ by: `varies`, which gradients do not, and `is_sided`. */
void derive_formula_inspect(const derive_place *place, derive_quantity *quantity);
/** Turn the position and the names of an error in a rewritten formula into the user's.
 *  before  bytes of the script's line in front of the formula */
void derive_formula_correct(const derive_place *place, const weft_derived_quantity *quantity,
                            int point, int before, weft_error *error);

/* ---- scripts (fem/derive/script.c) ----------------------------------------------------------- */

/** Append what formulas are made of: geometry, gradients, values at the points. */
void derive_script_start(const derive_scope *scope, derive_elements elements,
                         const derive_points *points, weft_text *out);
/** The name of a quantity's value at a point. */
void derive_script_name(const derive_quantity *quantity, int point, char out[300]);
/** Append the statement of a quantity at a point. */
weft_status derive_script_define(const derive_place *place, const derive_quantity *quantity,
                                 int point, weft_text *out, weft_error *error);

/* ---- programs (fem/derive/run.c) ------------------------------------------------------------- */

/** The program of all quantities over cells, or over facets. Start from {0}. */
typedef struct derive_part {
    derive_points points;
    weft_compiled compiled;
    int64_t n_elements; /* cells, or facets of all groups */
    /* of facets, group after group: [n][d + 1] those of the cell, the last of
     * them opposite the facet */
    int32_t *cell_nodes;
    int32_t *cells;          /* [n] the adjacent cell of each facet */
    weft_connectivity *dofs; /* facets -> cell_nodes */
    weft_memory **gathered;  /* [n_gathered] inputs over cells, at the cells of facets */
    int n_gathered;
} derive_part;

struct weft_derive {
    weft_context *context;
    weft_derive_problem problem;
    weft_arena *arena;
    derive_scope scope;
    struct derive_tabulated *tabulated; /* NULL: P1 */
    derive_quantity *quantities;
    int n_quantities;
    derive_part parts[2]; /* by derive_elements */
    weft_memory *t;
    weft_field *fields; /* [n_fields] */
    int n_fields;
    weft_derived_value *values; /* [n_values] */
    int n_values;
    weft_operator *mass; /* of the consistent projection */
};
/** Are both NULL, or the same text? */
bool derive_is_equal(const char *a, const char *b);

/* ---- order (fem/derive/order.c) -------------------------------------------------------------- */

/** A quantity, in an order in which fields stand behind those that they name, and all others behind them. */
typedef struct derive_order {
    int given, rank; /* its number as given; among fields, or the others, as given */
} derive_order;
/** out     [n]
 *  Errors  WEFT_ERROR_USAGE: fields name each other in a circle */
weft_status derive_order_find(const weft_derived_quantity *quantities, int n, derive_order *out,
                              weft_error *error);

/* ---- cells and facets (fem/derive/elements.c) ------------------------------------------------ */

/** Find the cells or facets of quantity i.
 *  Errors  WEFT_ERROR_INPUT: no such group, no facet with a side in the cells that it names */
weft_status derive_elements_find(weft_derive *derive, int i, weft_error *error);
/** Refuse a quantity whose value depends on the side of facets between cells, unless it names one.
 *  Errors  WEFT_ERROR_INPUT: the hint names the sides */
weft_status derive_side_check(const weft_derive *derive, const derive_quantity *quantity,
                              weft_error *error);
/** Append [n][width] numbers to an array of [n_all][width].
 *  Errors  WEFT_ERROR_MEMORY */
weft_status derive_append(int32_t **all, int64_t n_all, const int32_t *more, int64_t n,
                          size_t width, weft_error *error);
/** Is it a field at nodes? */
bool derive_is_nodal(const weft_derive *derive, const derive_quantity *quantity);
/** Check the formula of quantity i, and find its shape. The earlier ones have theirs. */
weft_status derive_quantity_check(weft_derive *derive, int i, weft_error *error);
/** Is there a quantity over these elements? (fem/derive/run.c) */
bool derive_is_wanted(const weft_derive *derive, derive_elements elements);
/** Compile the program of a part, if quantities need it. */
weft_status derive_part_make(weft_derive *derive, derive_elements elements, weft_error *error);
void derive_part_free(derive_part *part);
/** Run the program and fetch the lists. */
weft_status derive_part_run(weft_derive *derive, derive_elements elements, weft_error *error);

/* ---- nodal fields (fem/derive/project.c) ----------------------------------------------------- */

/** Append the statements of a field's projection to nodes. */
void derive_project_write(const weft_derive *derive, const derive_quantity *quantity,
                          weft_text *out);
/** Solve for the consistent projection of a list, [nodes][components], in place.
 *  loads  int f phi_i, [nodes][components]; values: the lumped projection */
weft_status derive_project_solve(weft_derive *derive, int components, const double *loads,
                                 double *values, weft_error *error);

/* ---- sums and extrema (fem/derive/values.c) -------------------------------------------------- */

void derive_value_compute(const weft_derive *derive, const derive_quantity *quantity,
                          weft_derived_value *out);
