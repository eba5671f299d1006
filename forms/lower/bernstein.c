/* Writes the statements of a product without the matrix that compute with Bernstein polynomials. */
#include "forms/lower/bernstein.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void ufl_bernstein_make(int degree, int vertices, ufl_bernstein *out) {
    *out = (ufl_bernstein){.degree = degree, .vertices = vertices};
    for (int a = degree; a >= 0; --a)
        for (int b = degree - a; b >= 0; --b)
            for (int c = degree - a - b; c >= 0; --c) {
                const int rest = degree - a - b - c;
                if (vertices == 4 || (vertices == 3 && rest == 0)) {
                    const int index[4] = {a, b, c, vertices == 4 ? rest : 0};
                    memcpy(out->index[out->n++], index, sizeof index);
                }
            }
}

/* The coefficient whose index is `index` with `by` added to exponent i; -1: none. */
int ufl_bernstein_neighbour(const ufl_bernstein *of, const int *index, int i, int by) {
    int wanted[4];
    memcpy(wanted, index, sizeof wanted);
    wanted[i] += by;
    for (int k = 0; k < of->n; ++k)
        if (memcmp(of->index[k], wanted, sizeof wanted) == 0)
            return k;
    return -1;
}

double ufl_factorial(int n) {
    return n <= 1 ? 1 : n * ufl_factorial(n - 1);
}

/* The matrix from values at the nodes of a Lagrange element to coefficients, [coefficient][node], zero before: the
 * inverse of the polynomials at the nodes. */
bool ufl_bernstein_matrix(const ufl_product_writer *w, int degree, double *out) {
    const ufl_bernstein *of = &w->of[degree];
    const int n = of->n;
    weft_element *element = NULL;
    double *V = ufl_alloc(w->e->l->context, (size_t)(n * n), sizeof *V);
    if (!V || weft_element_make(WEFT_LAGRANGE, ufl_weft_cell(w->scalar->cell), degree, &element,
                                NULL) != WEFT_OK)
        return false;
    for (int i = 0; i < n; ++i) {
        double lambda[4] = {1};
        for (int c = 0; c < w->d; ++c) {
            lambda[c + 1] = element->points[i * w->d + c];
            lambda[0] -= lambda[c + 1];
        }
        for (int j = 0; j < n; ++j) {
            V[i * n + j] = ufl_factorial(degree);
            for (int c = 0; c <= w->d; ++c)
                V[i * n + j] *= pow(lambda[c], of->index[j][c]) / ufl_factorial(of->index[j][c]);
        }
        out[i * n + i] = 1;
    }
    weft_element_free(&element);
    const bool solved = ufl_solve_dense(V, n, out, n);
    for (int i = 0; i < n * n; ++i)
        if (fabs(out[i]) < UFL_BERNSTEIN_ZERO)
            out[i] = 0;
    return solved;
}

/* ---- statements ---- */

/* A list of sums of products, each "real NAME = ...;". */
int ufl_sum_names(ufl_product_writer *w, int n) {
    w->n_names += n;
    return w->n_names - n;
}
void ufl_sum_begin(ufl_product_writer *w, int name) {
    weft_text_add(&w->e->body, "real t%d =", name);
}
/* + value * t[name]; returns whether there is a term now */
bool ufl_sum_add(ufl_product_writer *w, bool started, double value, int name) {
    char number[40];
    if (value == 0)
        return started;
    weft_text_add(&w->e->body, value < 0 ? " - " : started ? " + " : " ");
    if (fabs(value) != 1)
        weft_text_add(&w->e->body, "%s*", ufl_emit_number(fabs(value), number));
    weft_text_add(&w->e->body, "t%d", name);
    w->e->flops += 2;
    return true;
}
void ufl_sum_end(ufl_product_writer *w, bool started) {
    weft_text_add(&w->e->body, started ? ";\n" : " 0.0;\n");
}

/* Coefficients of a component of a function; returns the first name. */
int ufl_bernstein_coefficients(ufl_product_writer *w, const ufl_function_dofs *f) {
    const int n = w->of[f->degree].n, values = ufl_sum_names(w, n), first = ufl_sum_names(w, n);
    char index[16];
    for (int i = 0; i < n; ++i) {
        snprintf(index, sizeof index, "%d", i);
        ufl_sum_begin(w, values + i);
        weft_text_add(&w->e->body, " ");
        ufl_emit_dof(&w->e->body, f->name, f->element, f->part, index, false);
        ufl_sum_end(w, true);
    }
    for (int j = 0; j < n; ++j) {
        bool started = false;
        ufl_sum_begin(w, first + j);
        for (int i = 0; i < n; ++i)
            started = ufl_sum_add(w, started, f->to_bernstein[j * n + i], values + i);
        ufl_sum_end(w, started);
    }
    return first;
}

/* Differences that are the derivative by axis s of a polynomial, but for its degree. */
int ufl_bernstein_differences(ufl_product_writer *w, int degree, int from, int s) {
    const ufl_bernstein *of = &w->of[degree - 1];
    const int first = ufl_sum_names(w, of->n);
    for (int j = 0; j < of->n; ++j) {
        ufl_sum_begin(w, first + j);
        (void)ufl_sum_add(w, true, 1,
                          from + ufl_bernstein_neighbour(&w->of[degree], of->index[j], s, 1));
        (void)ufl_sum_add(w, true, -1,
                          from + ufl_bernstein_neighbour(&w->of[degree], of->index[j], 0, 1));
        ufl_sum_end(w, true);
    }
    return first;
}

/* sum over i of adjugate(i, by) or, transposed, adjugate(by, i) times n coefficients from each names[i]; those of -1
 * are 0. Returns the first name. */
int ufl_bernstein_transformed(ufl_product_writer *w, const int *names, int n, int by,
                              bool transposed) {
    const int first = ufl_sum_names(w, n);
    for (int j = 0; j < n; ++j) {
        bool started = false;
        ufl_sum_begin(w, first + j);
        for (int i = 0; i < w->d; ++i) {
            if (names[i] < 0)
                continue;
            weft_text_add(&w->e->body, started ? " + " : " ");
            ufl_emit_scalar(w->e, transposed ? w->e->adjugate[by][i] : w->e->adjugate[i][by],
                            &w->e->body);
            weft_text_add(&w->e->body, "*t%d", names[i] + j);
            w->e->flops += 2;
            started = true;
        }
        ufl_sum_end(w, started);
    }
    return first;
}

static double binomial(int n, int k) {
    return ufl_factorial(n) / (ufl_factorial(k) * ufl_factorial(n - k));
}

/* The product of two polynomials: a coefficient is a sum over the ways to write its index as a sum. */
int ufl_bernstein_multiply(ufl_product_writer *w, int m, int a, int n, int b) {
    const ufl_bernstein *left = &w->of[m], *right = &w->of[n], *of = &w->of[m + n];
    const int first = ufl_sum_names(w, of->n);
    for (int j = 0; j < of->n; ++j) {
        bool started = false;
        ufl_sum_begin(w, first + j);
        for (int i = 0; i < left->n; ++i) {
            int rest[4] = {0};
            double scale = 1 / binomial(m + n, m);
            bool fits = true;
            for (int c = 0; c <= w->d && fits; ++c) {
                rest[c] = of->index[j][c] - left->index[i][c];
                fits = rest[c] >= 0;
                scale *= fits ? binomial(of->index[j][c], rest[c]) : 0;
            }
            if (!fits)
                continue;
            char number[40];
            weft_text_add(&w->e->body, started ? " + " : " ");
            if (fabs(scale - 1) > UFL_BERNSTEIN_ZERO)
                weft_text_add(&w->e->body, "%s*", ufl_emit_number(scale, number));
            weft_text_add(&w->e->body, "t%d*t%d", a + i,
                          b + ufl_bernstein_neighbour(right, rest, 0, 0));
            w->e->flops += 2;
            started = true;
        }
        ufl_sum_end(w, started);
    }
    return first;
}

/* The mass matrix between degrees n (rows) and m (columns), but for a factor, times coefficients `from`. With binomials
 * C of multi-indices an entry is C(beta + gamma, beta) = sum over delta of C(beta, delta) C(gamma, delta): sums A over
 * coefficients of each lower degree, scaled by (m - degree)!, and from these upwards. */
int ufl_bernstein_mass(ufl_product_writer *w, int n, int m, int from) {
    int sums[UFL_BERNSTEIN_DEGREE_MAX + 1], result = 0;
    const int least = n < m ? n : m;
    sums[m] = from;
    for (int k = m - 1; k >= 0; --k) {
        const ufl_bernstein *of = &w->of[k];
        sums[k] = ufl_sum_names(w, of->n);
        for (int j = 0; j < of->n; ++j) {
            bool started = false;
            ufl_sum_begin(w, sums[k] + j);
            for (int i = 0; i <= w->d; ++i)
                started = ufl_sum_add(
                    w, started, of->index[j][i] + 1,
                    sums[k + 1] + ufl_bernstein_neighbour(&w->of[k + 1], of->index[j], i, 1));
            ufl_sum_end(w, started);
        }
    }
    for (int k = 0; k <= n; ++k) {
        const ufl_bernstein *of = &w->of[k];
        const int before = result;
        result = ufl_sum_names(w, of->n);
        for (int j = 0; j < of->n; ++j) {
            bool started = false;
            ufl_sum_begin(w, result + j);
            for (int i = 0; i <= w->d && k > 0; ++i)
                if (of->index[j][i] > 0)
                    started = ufl_sum_add(
                        w, started, of->index[j][i],
                        before + ufl_bernstein_neighbour(&w->of[k - 1], of->index[j], i, -1));
            if (k <= least)
                started = ufl_sum_add(w, started, 1 / (ufl_factorial(m - k) * ufl_factorial(n - k)),
                                      sums[k] + j);
            ufl_sum_end(w, started);
        }
    }
    return result;
}
