/** Writing the text of a function: what its parts share.
 *  In: scalars, terms, tables of elements. Out: statements of kernel bodies. */
#pragma once

#include "forms/lower/private.h"

enum { UFL_TABLES_MAX = 16 };

typedef struct ufl_element_table {
    const ufl_element *scalar;
    int side, order, n_functions, number; /* number: of the table in the text; -1: not used there */
    double *values;                       /* [derivative][point][function] */
} ufl_element_table;

typedef struct ufl_emitter {
    ufl_lowering *l;
    weft_text body;
    ufl_element_table elements[32];
    int n_elements;
    ufl_function_table tables[UFL_TABLES_MAX];
    int n_tables;
    int *uses;                   /* [scalars] how often each is used */
    bool *declared;              /* [scalars] as a variable */
    int *depths;                 /* [scalars] nested operations in their text */
    double *points[2], *weights; /* of the cell on each side: [n][d]; [n] */
    int n_points, weight_table;
    int columns;                /* of a result of rank 1, or 0 */
    const ufl_element *results; /* its element */
    const char *indent;
    bool product;  /* of the matrix with a vector, instead of the matrix */
    bool diagonal; /* of the matrix, instead of it */
    /* the product with a constant vector is 0: only derivatives of it are used */
    bool ignores_constants;
    int adjugate
        [3]
        [3]; /* where a product keeps gradients: scalars of the inverse Jacobian times its determinant */
    const char *prefix; /* of names of functions; NULL: none */
    bool single;        /* numbers are converted, where real is float */
    long flops;
} ufl_emitter;

/** The table of a scalar element at the points of a side; NULL and an error. */
ufl_element_table *ufl_emit_table(ufl_emitter *e, const ufl_element *scalar, int side);
/** Its name in the text, which then declares it; NULL and an error, also for a NULL table. */
const char *ufl_emit_table_name(ufl_emitter *e, ufl_element_table *table);
/** Add a table of the function. Returns its number, or -1 and an error. */
int ufl_emit_add_table(ufl_emitter *e, const char *prefix, int rank, int n0, int n1, int n2,
                       const double *values);
/** Components of a blocked element, whose vectors are [nodes, components]; 0 for other elements. */
int ufl_emit_columns(const ufl_element *element);
/** NAME(entry of function `index` of a part)
 *  is_list  one dof is a list of length 1, as in results and on two sides, and not a number as in coefficients */
void ufl_emit_dof(weft_text *out, const char *name, const ufl_element *element, ufl_part part,
                  const char *index, bool is_list);
/** A number as C writes it. Returns out. */
const char *ufl_emit_number(double value, char out[40]);
/** Count the uses of a scalar and its operands. */
void ufl_emit_count_uses(ufl_emitter *e, int scalar);
/** A scalar, by its variable where it has one. */
void ufl_emit_scalar(ufl_emitter *e, int scalar, weft_text *out);
/** Declare what is used more than once or interpolated: what is constant on the cell, or the rest. */
bool ufl_emit_declare(ufl_emitter *e, bool constant);

/** Count what the factors of terms use, for a body that begins. (emit.c) */
bool ufl_emit_prepare(ufl_emitter *e, const ufl_terms *terms);
/** What is constant on the cell and used at points is computed once, before the loop. (loop.c) */
void ufl_emit_hoist(ufl_emitter *e, const ufl_terms *terms);
/** "X: real[4,3]" (emit.c) */
void ufl_emit_argument(const ufl_function_argument *argument, weft_text *out);
/** The lines between a function's signature and its bodies. (emit.c)
 *  reads_place  the function has the argument X */
void ufl_emit_lines(const ufl_emitter *e, const ufl_lowered *lowered, bool reads_place,
                    weft_text *out);

/** Declare an operation that is used more than once. */
void ufl_emit_shared(ufl_emitter *e, int scalar);

/** All entries as sums over factors that are constant on the cell. (tensor.c) */
bool ufl_emit_tensor(ufl_emitter *e, const ufl_terms *terms, int rank, const int *sizes);
/** All entries of a matrix, by tables and loops. (reference.c)
 *  fits  set to whether the tables are small enough; else nothing is written */
bool ufl_emit_reference(ufl_emitter *e, const ufl_terms *terms, const int *sizes, bool *fits);
/** A factor as a sum of products of what is constant on the cell and what varies on it. */
enum { UFL_SPLIT_MAX = 8 };
typedef struct ufl_factor_parts {
    int n, constant[UFL_SPLIT_MAX];
    int varying[UFL_SPLIT_MAX]; /* a scalar that is no sum, nor a product with a constant; -1: 1 */
} ufl_factor_parts;
/** Returns false for more than UFL_SPLIT_MAX of them, and without memory. (split.c) */
bool ufl_factor_split(ufl_scalars *scalars, int factor, ufl_factor_parts *out);
/** Split terms on affine simplices: the factors of `out` are constant on cells, and each term has a product of
 *  coefficients besides, or -1. Returns these scalars; NULL and an error: factors are not polynomials. (product.c) */
int *ufl_product_split(ufl_lowering *l, const ufl_terms *terms, ufl_terms *out);
/** A vector v times the matrix of such terms, which a rule of this degree must integrate exactly. */
bool ufl_emit_product(ufl_emitter *e, const ufl_terms *terms, const int *polynomials, int degree);
/** Solve V x = b for all columns of b, [n][m], in place, by elimination with pivots. false: V is singular. (parts.c) */
bool ufl_solve_dense(double *V, int n, double *b, int m);
/** A table of functions and derivatives as combinations of a few columns. (compress.c) */
typedef struct ufl_compressed {
    int rank;
    double *at_points; /* [points][rank], orthonormal columns */
    double *functions; /* [derivative][rank][functions]; 0 for derivatives that are not used */
} ufl_compressed;
/** used  [derivatives] false: out of memory */
bool ufl_compress(ufl_emitter *e, const ufl_element_table *table, const bool *used,
                  ufl_compressed *out);
/** A matrix by several functions: constants of the cell, factors at the points, their moments, rows. (stages.c)
 *  worth  set to whether the matrix is large enough; else nothing is written */
bool ufl_stages_are_worth(const ufl_lowered *out);
bool ufl_emit_stages(ufl_emitter *e, const ufl_terms *terms, ufl_lowered *out, bool *worth);
/** The diagonal of a matrix with so many rows; terms are reordered. (diagonal.c) */
bool ufl_emit_diagonal(ufl_emitter *e, ufl_terms *terms, int size);
/** A loop over the quadrature points. (loop.c) */
bool ufl_emit_loop(ufl_emitter *e, const ufl_terms *terms, int rank, const int *sizes);
