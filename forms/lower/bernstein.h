/** Polynomials in the basis of Bernstein on affine simplices, as statements of a body.
 *
 *      In: names t[first] ... of coefficients.  Out: the first name of those of the result, and text.
 *
 *  Coefficients are in the order of the multi-indices in ufl_bernstein.index. */
#pragma once

#include "forms/lower/emit.h"

enum { UFL_BERNSTEIN_DEGREE_MAX = 4, UFL_BERNSTEIN_MAX = 35, UFL_POLYNOMIALS_MAX = 16 };
/** Entries of a change of basis below this are rounding. */
#define UFL_BERNSTEIN_ZERO 1e-12

/** Multi-indices of a degree: exponents of the d + 1 barycentric coordinates. */
typedef struct ufl_bernstein {
    int degree, n, vertices;
    int index[UFL_BERNSTEIN_MAX][4];
} ufl_bernstein;
void ufl_bernstein_make(int degree, int vertices, ufl_bernstein *out);
/** The coefficient whose index is `index` with `by` added to exponent i; -1: none. */
int ufl_bernstein_neighbour(const ufl_bernstein *of, const int *index, int i, int by);

double ufl_factorial(int n);

/** A product of coefficients of the form as a polynomial. */
typedef struct ufl_coefficient_polynomial {
    int scalar, degree, first; /* its number, -1: 1; its coefficients are t[first] ... */
} ufl_coefficient_polynomial;

/** A body that is being written. */
typedef struct ufl_product_writer {
    ufl_emitter *e;
    const ufl_element *scalar;
    ufl_bernstein of[UFL_BERNSTEIN_DEGREE_MAX + 1];
    int k, d, n_names;
    double to_bernstein[UFL_BERNSTEIN_MAX * UFL_BERNSTEIN_MAX]; /* [coefficient][node] */
    ufl_coefficient_polynomial known[UFL_POLYNOMIALS_MAX];
    int n_known;
} ufl_product_writer;

/** The matrix from values at the nodes of a Lagrange element to coefficients: the inverse of the polynomials at
 *  the nodes.
 *  out      [coefficient][node], zero before
 *  Returns  false without memory, or if the matrix is singular */
bool ufl_bernstein_matrix(const ufl_product_writer *w, int degree, double *out);

/* ---- sums, each "real t<name> = ...;" ---- */

/** Reserve n names; returns the first. */
int ufl_sum_names(ufl_product_writer *w, int n);
void ufl_sum_begin(ufl_product_writer *w, int name);
/** + value * t[name]; returns whether there is a term now. */
bool ufl_sum_add(ufl_product_writer *w, bool started, double value, int name);
void ufl_sum_end(ufl_product_writer *w, bool started);

/* ---- polynomials ---- */

/** Where the dofs of a function are. */
typedef struct ufl_function_dofs {
    const char *name; /* of the argument */
    const ufl_element *element;
    ufl_part part;
    int degree;
    const double *to_bernstein;
} ufl_function_dofs;
/** Coefficients of a component of a function. */
int ufl_bernstein_coefficients(ufl_product_writer *w, const ufl_function_dofs *f);
/** Differences that are the derivative by axis s of a polynomial, but for its degree. */
int ufl_bernstein_differences(ufl_product_writer *w, int degree, int from, int s);
/** sum over i of adjugate(i, by) or, transposed, adjugate(by, i) times n coefficients from each names[i]; those
 *  of -1 are 0. */
int ufl_bernstein_transformed(ufl_product_writer *w, const int *names, int n, int by,
                              bool transposed);
/** The product of polynomials of degree m, from a on, and n, from b on. */
int ufl_bernstein_multiply(ufl_product_writer *w, int m, int a, int n, int b);
/** The mass matrix between degrees n (rows) and m (columns), but for a factor, times coefficients `from`. */
int ufl_bernstein_mass(ufl_product_writer *w, int n, int m, int from);
