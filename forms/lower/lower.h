/** Integrals as elementary functions.
 *  In: prepared integrals (forms/transform). Out: the text of a kernel file with one function for each
 *  integral, its tables, and what its arguments are.
 *
 *      parts.c     components of elements as scalar elements; tables
 *      scalar.c    scalar expressions
 *      geometry.c  Jacobian, normals, sizes of cells
 *      factor.c    integrand -> terms, one for each pair of functions of the arguments
 *      terms.c     sums and products of terms
 *      tensor.c, reference.c, loop.c  terms -> statements: written out, by tables of reference tensors,
 *                  with a loop over points
 *      split.c, compress.c, stages.c, rows.c  terms -> several functions (stages.h)
 *      product.c  terms -> statements of a product with a vector
 *      diagonal.c terms -> statements of the diagonal
 *      symmetric.c  terms -> whether the matrix is symmetric
 *      text.c      scalars and tables as text
 *      emit.c      the whole function
 *
 *  A function computes the tensor of one integral over one cell:
 *
 *      A = NAME(X: real[v,g], w0: real[n0], ..., c0: real[m0], ...)
 *
 *  with the coordinates X of the cell's vertices (or nodes, where the geometry is of higher degree),
 *  the dofs of each coefficient on the cell in the order of its element, and the components of each
 *  constant. A is [test dofs, trial dofs], [test dofs], or a scalar. Vectors of blocked elements have the
 *  shape [nodes, components].
 *  Source  Kirby and Logg 2006, A compiler for variational forms (reference tensors); Logg, Mardal and
 *          Wells 2012, chapter 7; FFCx 0.11 */
#pragma once

#include "forms/degree/degree.h"
#include "fusion/weft_library.h"

/** How a tensor is computed. */
typedef enum ufl_representation {
    UFL_REFERENCE_TENSOR, /* sums over points made when the function is generated */
    UFL_QUADRATURE_LOOP
} ufl_representation;

typedef struct ufl_function_argument {
    const char *name;     /* "X", "w0", "c0" */
    const ufl_node *node; /* the coefficient or constant; NULL: the coordinates */
    int rows, columns;    /* columns 0: a vector; rows 0 too: a number */
} ufl_function_argument;

typedef struct ufl_function_table {
    const char *name;
    int rank, sizes[3];
    const double *values;
} ufl_function_table;

/** One of the functions that compute a tensor together. */
typedef struct ufl_stage {
    const char *name, *result; /* "ufl_a_0_points", "D" */
    const char *shape;         /* "2,24" */
    int n_inputs,
        *inputs; /* the number of an argument of the integral, or -1 - k: the result of stage k */
} ufl_stage;
enum { UFL_STAGES_MAX = 4 };

typedef struct ufl_lowered {
    const char *name;
    const ufl_integral *integral;
    int facets[2];      /* local facets of the cells; -1: the cell */
    int rank, sizes[2]; /* of the result: dofs of the test and the trial function */
    /* of products: the function that the argument v has the dofs of; else NULL */
    const ufl_node *vector;
    int columns; /* > 0: a result of rank 1 has the shape [sizes[0] / columns, columns] */
    int n_arguments, n_tables, n_points, degree;
    const ufl_function_argument *arguments;
    const ufl_function_table *tables;
    ufl_representation representation;
    long flops;
    const char *text; /* of the function, or of all stages, as part of a kernel file */
    /* where several functions compute the tensor: in order, the last one has the name of the integral; else none */
    ufl_stage stages[UFL_STAGES_MAX];
    int n_stages;
} ufl_lowered;

/** Write the call of the functions of an integral: "NAME(X, w0)", or "NAME(NAME_points(w0))".
 *  write  writes argument number `argument` */
void ufl_lowered_call(const ufl_lowered *lowered,
                      void (*write)(const void *user, int argument, weft_text *out),
                      const void *user, weft_text *out);

/** Lower one integral of a prepared form.
 *  integral  its number
 *  name      of the function; borrowed
 *  facets    NULL for integrals over cells; [1] the local number of an exterior facet; [2] those of an interior
 *            facet in the cells on its sides '+' and '-', whose local vertices are in the order of the mesh's
 *            numbers in both. X, coefficients and A then have the entries of '+', then those of '-'
 *  Returns arena memory, or NULL and an error: WEFT_ERROR_UNSUPPORTED at the place of what Weft does not
 *  have */
const ufl_lowered *ufl_lower_integral(ufl_graph *graph, const ufl_prepared *form, int integral,
                                      const char *name, const int *facets);
/** Does an integral of two vectors couple no component with another one, and is it the same for each? false also after an error. */
bool ufl_is_uncoupled(ufl_graph *graph, const ufl_prepared *form, int integral);
/** What the text of an integral of two arguments in one space says about its matrices. */
typedef struct ufl_symmetry {
    /* with the arguments exchanged, the integrand has the same terms; false: not known */
    bool is_symmetric;
    /* the entries depend on the cell's coordinates alone, through its Jacobian: no data makes one NaN */
    bool is_of_shape;
} ufl_symmetry;
/** facets   as ufl_lower_integral
 *  Returns  {false, false} also where the integral is not supported; no error is set. (symmetric.c) */
ufl_symmetry ufl_prove_symmetry(ufl_graph *graph, const ufl_prepared *form, int integral,
                                const int *facets);
/** Lower the diagonal of the matrix of one integral over cells or exterior facets, of two arguments in one space: A has the shape of a
 *  vector. Otherwise as ufl_lower_integral; WEFT_ERROR_UNSUPPORTED for interior facets, whose sides may share dofs. */
const ufl_lowered *ufl_lower_diagonal(ufl_graph *graph, const ufl_prepared *form, int integral,
                                      const char *name, const int *facets);
/** Lower the product of one integral over cells with a vector: A = NAME(X, v, w0, ...) is the matrix times the dofs v of
 *  the trial function, with fewer operations than either.
 *  vector  a function of the trial function's space: ufl_function_argument.node of v
 *  Returns arena memory, or NULL and an error: WEFT_ERROR_UNSUPPORTED where factors are not constant on
 *  cells, and for other elements than Lagrange elements of degree 1 to 4 on triangles and tetrahedra */
const ufl_lowered *ufl_lower_product(ufl_graph *graph, const ufl_prepared *form, int integral,
                                     const char *name, const ufl_node *vector);
/** Add the functions to a library, which keeps copies of text and tables.
 *  lowered  [n]; must outlive the library (its tables are read when scripts are compiled)
 *  Errors   those of weft_library_add_text */
weft_status ufl_lowered_add(const ufl_lowered *const *lowered, int n, weft_library *library,
                            weft_error *error);
