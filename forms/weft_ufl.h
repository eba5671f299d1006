/** UFL form files (.ufl of legacy UFL, .py of today's UFL and Basix), read without Python.
 *  In: a file, its text, or the repr of a ufl.Form. Out: its forms with arguments, coefficients, constants
 *  and the degree of each integral's quadrature rule, as UFL 2026.1 or 2026.2 determines it. */
#ifndef WEFT_UFL_H
#define WEFT_UFL_H

#include "fem/weft_element.h"
#include "fusion/weft_library.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weft_ufl weft_ufl;

/** Whose rules estimate the degrees of integrands. They differ in mixed spaces, for a component with fixed
 *  indices: 2026.1 takes the largest degree of the space, 2026.2 that of the part with the component. */
typedef enum weft_ufl_degrees { WEFT_UFL_DEGREES_2026_1, WEFT_UFL_DEGREES_2026_2 } weft_ufl_degrees;
/** Find rules by name: "2026.1", "2026.2", or "main", which is that of UFL's development and so 2026.2.
 *  Errors  WEFT_ERROR_USAGE, with the names */
weft_status weft_ufl_degrees_find(const char *name, weft_ufl_degrees *out, weft_error *error);

/** How forms are prepared. */
typedef struct weft_ufl_options {
    size_t size; /* sizeof(weft_ufl_options) */
    /* gets a warning for each degree above 10 that was estimated on simplices; may be NULL */
    const weft_monitor *monitor;
    weft_ufl_degrees degrees;
} weft_ufl_options;
static inline weft_ufl_options weft_ufl_options_default(void) {
    weft_ufl_options options;
    weft_options_clear(&options, sizeof options);
    return options;
}

/** Read a form file and prepare all its forms.
 *  options  NULL: the default ones
 *  out      caller's; weft_ufl_free
 *  Errors   WEFT_ERROR_IO, WEFT_ERROR_INPUT, WEFT_ERROR_SYNTAX, WEFT_ERROR_TYPE, WEFT_ERROR_SHAPE,
 *           WEFT_ERROR_UNSUPPORTED, each with file, line, column and the line itself;
 *           WEFT_ERROR_MEMORY */
weft_status weft_ufl_read(const char *path, const weft_ufl_options *options, weft_ufl **out,
                          weft_error *error);
/** Read the text of a form file.
 *  name    for messages; with the ending .ufl the names of legacy UFL are in scope
 *  text    borrowed; length bytes of UTF-8 */
weft_status weft_ufl_read_text(const char *name, const char *text, size_t length,
                               const weft_ufl_options *options, weft_ufl **out, weft_error *error);
/** Read the repr of one ufl.Form; the form is called "a". */
weft_status weft_ufl_read_repr(const char *text, size_t length, const weft_ufl_options *options,
                               weft_ufl **out, weft_error *error);
/** Read a form file that is shipped with Weft, such as "elasticity.ufl".
 *  cell    of the mesh; WEFT_POINT: not known, and so tetrahedra
 *  degree  of the elements
 *  given   names of inputs that have values, with blanks between them: the others keep those of the file. NULL: none
 *  Errors  WEFT_ERROR_USAGE: there is none of this name; those of weft_ufl_read_text */
weft_status weft_ufl_read_shipped(const char *name, weft_cell_type cell, int degree,
                                  const char *given, const weft_ufl_options *options,
                                  weft_ufl **out, weft_error *error);
bool weft_ufl_is_shipped(const char *name);
void weft_ufl_free(weft_ufl **ufl);

/** Description of a form. Strings are borrowed from the weft_ufl. */
typedef struct weft_ufl_form_info {
    const char *name; /* the variable of the file, or "forms[k]" */
    int rank;         /* 0 functional, 1 vector, 2 matrix */
    int n_integrals, n_coefficients, n_constants;
} weft_ufl_form_info;
int weft_ufl_n_forms(const weft_ufl *ufl);
void weft_ufl_form(const weft_ufl *ufl, int form, weft_ufl_form_info *out);

/** Description of an integral; integrals are sorted by type and id. */
typedef struct weft_ufl_integral_info {
    const char *type; /* "cell", "exterior_facet", "interior_facet", "vertex", "ridge" */
    int id;           /* of a physical group; -1: everywhere */
    int degree;       /* of the quadrature rule; -1: the points of a quadrature element */
    int estimated;    /* the degree that UFL estimates, which the file may replace */
    const char *rule; /* "default", "GJ", "GLL", "vertex", "custom" */
    const char *cell; /* "triangle" */
} weft_ufl_integral_info;
void weft_ufl_integral(const weft_ufl *ufl, int form, int integral, weft_ufl_integral_info *out);

typedef enum weft_ufl_terminal {
    WEFT_UFL_ARGUMENT,
    WEFT_UFL_COEFFICIENT,
    WEFT_UFL_CONSTANT
} weft_ufl_terminal;
/** Name and shape of argument, coefficient or constant `k` of a form.
 *  name     the variable that holds it, or v_0, w0, c0
 *  element  "(2,) x P2 triangle"; NULL for constants
 *  shape    [*rank <= 16] */
void weft_ufl_terminal_info(const weft_ufl *ufl, int form, weft_ufl_terminal kind, int k,
                            const char **name, const char **element, int *rank, int *shape);

/** Append the forms as text: arguments, coefficients, constants, integrands.
 *  form  the name of one, or NULL
 *  Errors  WEFT_ERROR_USAGE: no form of this name, with the nearest */
weft_status weft_ufl_print_forms(const weft_ufl *ufl, const char *form, weft_text *out,
                                 weft_error *error);
/** Append a table of integrals with degrees and numbers of points. */
weft_status weft_ufl_print_degrees(const weft_ufl *ufl, const char *form, weft_text *out,
                                   weft_error *error);

/* ---- compilation ------------------------------------------------------------------------ */

enum { WEFT_UFL_SUBSPACES_MAX = 16 };

/** A scalar or vector Lagrange space (or the like), of which mixed and enriched spaces have several. */
typedef struct weft_ufl_subspace {
    weft_family family;
    int degree, components;
    int first_value; /* of its components among those of the function; enriched: where its terms start */
} weft_ufl_subspace;

/** An index set of scripts besides "cells", with the connectivity that leads to it. */
typedef struct weft_ufl_set {
    const char *nodes, *connectivity; /* "nodes", "dofs" */
    int width;                        /* entries for each cell */
    int n;                            /* subspaces */
    weft_ufl_subspace sub[WEFT_UFL_SUBSPACES_MAX];
    /* nodes are dofs: those of the first subspace, node by node, then those of the second... */
    bool flat;
    int n_values; /* of a function, in all subspaces */
} weft_ufl_set;

typedef enum weft_ufl_domain {
    WEFT_UFL_CELLS,
    WEFT_UFL_EXTERIOR_FACETS,
    WEFT_UFL_INTERIOR_FACETS
} weft_ufl_domain;

/** What is integrated over one domain: a script, in which `cells` are its cells or facets. Facets have the nodes of the
 *  cells on their sides, reoriented so that the facet is weft_cell.base, or as they are (facets). */
typedef struct weft_ufl_part {
    weft_ufl_domain domain;
    int id;          /* of a physical group; -1: everywhere */
    int facets[2];   /* their numbers in the cells on their sides; -1: cells are reoriented */
    bool has_matrix; /* K, [width * components][width * components] of a cell */
    bool is_symmetric, has_vector; /* K, for weft_form.is_symmetric; b or, of F, r */
    bool has_action; /* Kv, K v for the input v of the unknown's shape: for products without K */
    bool has_mass, has_diagonal; /* M, of the shape of K; Kd, its diagonal, as a vector */
    const char *script;
    const struct weft_form_kernels *kernels; /* for weft_form.kernels of the matrix; NULL: none */
} weft_ufl_part;

/** The values that a form file gives a coefficient, Function(V, value), or where Newton's method starts (of "u"). */
typedef struct weft_ufl_value {
    const char *name;
    const char *formula; /* in x, y and z, or one for each component; evaluated at the nodes of V */
    const char *origin;  /* names it in messages: "figure6.ufl:3: f" */
} weft_ufl_value;

/** A problem: a u = L or F(u) = 0. It is the sum of its parts. */
typedef struct weft_ufl_problem {
    const char *matrix, *vector, *mass; /* names of the forms; vector and mass NULL: none */
    /* without a form L: another linear form in the space of the unknown; NULL: none */
    const char *unused;
    bool nonlinear;
    weft_cell_type cell;
    int components; /* of the unknown at each node of sets[0] */
    int n_sets, geometry, n_parts;
    /* [n_sets]: the unknown's, coefficients'; sets[geometry]: coordinates x */
    const weft_ufl_set *sets;
    const weft_ufl_part *parts;   /* [n_parts] */
    const weft_ufl_value *values; /* [n_values] */
    int n_values;
    const char *solution; /* the variable of P = solve(A, RHS), or "u" */
} weft_ufl_problem;

/** The problem of the file: what solve() states, or forms a and L (or A and RHS), or F and J, which is derived where
 *  the file has none.
 *  Coefficients and constants are inputs of the scripts by their names in the file: over an index set, over
 *  cells (DG0 in problems without other domains) or uniform (Real, Constant). What F is differentiated by is
 *  called u.
 *  out     owned by ufl
 *  Errors  WEFT_ERROR_INPUT (neither a nor F), WEFT_ERROR_UNSUPPORTED with the line (test and trial functions in
 *          different spaces, elements without nodes, integrals that are not compiled), WEFT_ERROR_MEMORY */
weft_status weft_ufl_problem_of(weft_ufl *ufl, const weft_ufl_problem **out, weft_error *error);
/** The problem of the file in time, M du/dt + a u = L or M du/dt + F(u) = 0: the same with the form of a mass, over the
 *  domains that it has. The functions that weft_ufl_add_functions adds are those of the last problem.
 *  mass    the name of the form; NULL: m or M, if the file has such a bilinear form in the space of the unknown
 *  Errors  those of weft_ufl_problem_of; WEFT_ERROR_INPUT: no such form */
weft_status weft_ufl_problem_in_time(weft_ufl *ufl, const char *mass, const weft_ufl_problem **out,
                                     weft_error *error);
/** Append the problem as one script, in which names of further parts end in their measure: K_ds_2.
 *  Errors  those of weft_ufl_problem_of */
weft_status weft_ufl_script(weft_ufl *ufl, weft_text *out, weft_error *error);
/** Add the elementary functions that the scripts call to a library.
 *  ufl  must outlive the library */
weft_status weft_ufl_add_functions(weft_ufl *ufl, weft_library *library, weft_error *error);
/** Append the elementary functions of all integrals, as text of a kernel file.
 *  form  the name of one, or NULL
 *  Errors  WEFT_ERROR_UNSUPPORTED: an integral that is not compiled, with its line */
weft_status weft_ufl_print_kernels(weft_ufl *ufl, const char *form, weft_text *out,
                                   weft_error *error);

#ifdef __cplusplus
}
#endif
#endif
