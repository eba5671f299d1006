/** Derived quantities: formulas of a solution and its gradient, per cell, at nodes, integrated over
 *  groups, and at their extrema; reactions.
 *
 *      space, form of the cells, solution u, formulas -> cell and nodal fields
 *                                                     -> integrals and extrema over groups
 *      operator, right-hand side, u, conditions       -> reactions
 *
 *  All formulas over cells are one program, as are all formulas over facets; both are planned, fused
 *  and run as any script. Values of elements are summed on the host, by weft_sum in the order of
 *  the elements: results do not depend on the number of threads. */
#ifndef WEFT_DERIVE_H
#define WEFT_DERIVE_H

#include "fem/weft_bc.h"
#include "fem/weft_result.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum weft_derive_kind {
    WEFT_DERIVE_FIELD, /* the value at the centre of each cell, or at nodes */
    WEFT_DERIVE_INTEGRAL, /* over cells or facets, by quadrature of degree 2 p + 2 for elements of degree p */
    WEFT_DERIVE_EXTREMA /* least and greatest value at the nodes of degree p of cells or facets */
} weft_derive_kind;

/** One quantity. Strings are borrowed.
 *
 *  A formula may use (docs/derived-results.md)
 *      u, x, y, z, t         the solution (real[c] with c > 1 components), coordinates, time
 *      grad(u)               real[d]; real[c,d], row k for component k
 *      strain(u), stress(u)  with d components: real[d,d]; real[3,3] by Hooke's law, in the plane of
 *                            plane strain, of a form that computes lambda and mu
 *      normal                over facets: the unit normal that points out of the adjacent cell,
 *                            whose gradient is used there
 *      names of fields       of earlier quantities of the kind WEFT_DERIVE_FIELD
 *      names of the form     its expressions and nodal inputs (at the point), and its values
 *      functions of the library, and those of formulas */
typedef struct weft_derived_quantity {
    weft_derive_kind kind;
    const char *name;   /* an identifier; of fields none of the names below */
    const char *group;  /* integrals and extrema: of facets or cells; NULL: all cells */
    const char *text;   /* the formula */
    const char *origin; /* names it in messages */
} weft_derived_quantity;

typedef enum weft_projection {
    WEFT_PROJECT_NONE,   /* fields are values of cells */
    WEFT_PROJECT_LUMPED, /* nodal: int f phi_i / int phi_i; with functions the mean of the values that
                               the cells of the node have there, weighted by their volumes */
    WEFT_PROJECT_CONSISTENT /* nodal: the L2 projection, sum_j f_j int phi_i phi_j = int f phi_i */
} weft_projection;

/** A name in formulas for a text in names of the form: {"kappa", "k"}. */
typedef struct weft_derive_alias {
    const char *name, *text;
} weft_derive_alias;

/** A function of any element on the mesh, which formulas name with their values and gradients. Functions of
 *  one name are the parts of a function in a mixed space, whose components follow each other; those of the
 *  same components are added. */
typedef struct weft_derive_function {
    const char *name;
    const weft_space *space; /* NULL: constant in each cell, as an input over cells */
    /* [nodes][components], from the number `first` on; without a space blocks of
     * cells, as forms have them */
    weft_memory *values;
    int64_t first;
    int first_component; /* of its components among those of the name */
    int components;      /* in `values` at each node or cell; 0: those of the space */
} weft_derive_function;
/** A number, vector or matrix that formulas may name. */
typedef struct weft_derive_constant {
    const char *name;
    weft_memory *memory;
    int rank, sizes[4];
} weft_derive_constant;

/** What quantities are derived from; all borrowed, and must outlive the weft_derive, except the lists of
 *  functions and constants, which are copied.
 *
 *  Either a form and its solution u, which is P1 on triangles or tetrahedra: kernels compute values and
 *  gradients from u. Or functions, among them the solution, in any elements on any cells, and constants:
 *  they are tabulated on the host, and kernels evaluate formulas at points. */
typedef struct weft_derive_problem {
    const weft_space *space; /* of u; with functions, that of nodal fields */
    const weft_form *cells;  /* over weft_space_cells; inputs with their memories */
    weft_memory *u;          /* [nodes][components] */
    const weft_derive_function *functions;
    int n_functions; /* 0: the form */
    const weft_derive_constant *constants;
    int n_constants;
    const char *solution; /* its name in formulas; NULL: "u" */
    const weft_derive_alias *aliases;
    int n_aliases;
    bool in_time; /* formulas may use t, which is the last argument of the form's expressions */
    weft_projection projection;
} weft_derive_problem;

typedef struct weft_derive weft_derive;
/** Check and compile quantities.
 *  context     borrowed; must outlive the result
 *  quantities  [n], borrowed for the call
 *  out         caller's; weft_derive_free
 *  Errors      WEFT_ERROR_USAGE (a name that is not an identifier, is reserved or given twice),
 *              WEFT_ERROR_INPUT (no such group, lists the groups; stress(u) of a form without lambda
 *              and mu), WEFT_ERROR_SYNTAX, _TYPE, _SHAPE (with a caret in the formula), _MEMORY,
 *              _COMPILER, _DEVICE; WEFT_ERROR_UNSUPPORTED (without functions another element than P1, other
 *              cells than triangles and tetrahedra; nodal fields of a space without nodes); *out
 *              untouched */
weft_status weft_derive_make(weft_context *context, const weft_derive_problem *problem,
                             const weft_derived_quantity *quantities, int n, weft_derive **out,
                             weft_error *error);
void weft_derive_free(weft_derive **derive);
/** Compute all quantities from the present u at time t.
 *  Errors  WEFT_ERROR_MEMORY, _DEVICE */
weft_status weft_derive_run(weft_derive *derive, double t, weft_error *error);

/** The fields, in the order of their quantities, for weft_result_write; borrowed, valid until the
 *  next run. Components are those of the formula: real[m,n] row by row. Returns their number. */
int weft_derive_fields(const weft_derive *derive, const weft_field **fields);

enum { WEFT_DERIVE_COMPONENTS_MAX = 9 };
/** An integral, or extrema. */
typedef struct weft_derived_value {
    /* of the quantity; borrowed from the weft_derive; group may be NULL */
    const char *name, *group;
    weft_derive_kind kind;
    int n_components; /* of an integral; 1 of extrema */
    double integral[WEFT_DERIVE_COMPONENTS_MAX];
    double least, greatest;             /* NaN if a value is */
    double least_at[3], greatest_at[3]; /* of equal values, that of the first element */
} weft_derived_value;
/** The values, in the order of their quantities; borrowed. Returns their number. */
int weft_derive_values(const weft_derive *derive, const weft_derived_value **values);

/** Reactions: the sums of a residual over the dofs of each Dirichlet condition, which are the fluxes into
 *  the domain, or the forces of the supports, that keep u at its values: what --neumann would have
 *  to give. A dof belongs to the condition whose value it has.
 *  r       A u - b [n_dofs] on the host; with constraints C^T (A u - b) (weft_constraints_restrict)
 *  out     [n] by condition, numbered as for weft_bc_make, 0 for other kinds; without conditions by
 *          component
 *  Errors  WEFT_ERROR_MEMORY */
weft_status weft_reactions(const weft_bc *bc, const double *r, double *out, int n,
                           weft_error *error);

#ifdef __cplusplus
}
#endif
#endif
