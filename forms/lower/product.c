/* Writes a body for the product of an integral's matrix with a vector on affine simplices, without the matrix: in Bernstein
 * polynomials derivatives are differences of coefficients, and mass matrices are sums over coefficients of lower
 * degree (Ainsworth, Andriamaro and Davydov 2011, SIAM J. Sci. Comput. 33; Kirby 2011, Numer. Math. 117). */
#include "forms/lower/emit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEGREE_MAX = 4, COEFFICIENTS_MAX = 35, COMPONENTS_MAX = 9 };

/* Multi-indices of a degree: exponents of the d + 1 barycentric coordinates. */
typedef struct bernstein {
    int degree, n, vertices;
    int index[COEFFICIENTS_MAX][4];
} bernstein;

typedef struct product_writer {
    ufl_emitter *e;
    const ufl_element *scalar;
    bernstein of[DEGREE_MAX + 1];
    int k, d, n_names;
    double to_bernstein[COEFFICIENTS_MAX * COEFFICIENTS_MAX]; /* [coefficient][node] */
} product_writer;

static void bernstein_make(int degree, int vertices, bernstein *out) {
    *out = (bernstein){.degree = degree, .vertices = vertices};
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
static int neighbour(const bernstein *of, const int *index, int i, int by) {
    int wanted[4];
    memcpy(wanted, index, sizeof wanted);
    wanted[i] += by;
    for (int k = 0; k < of->n; ++k)
        if (memcmp(of->index[k], wanted, sizeof wanted) == 0)
            return k;
    return -1;
}

static double factorial(int n) {
    return n <= 1 ? 1 : n * factorial(n - 1);
}

/* The matrix from values at the nodes to coefficients: the inverse of the polynomials at the nodes. */
static bool make_coefficients(product_writer *w) {
    const bernstein *of = &w->of[w->k];
    const int n = of->n;
    weft_element *element = NULL;
    double *V = ufl_alloc(w->e->l->context, (size_t)(n * n), sizeof *V);
    if (!V || weft_element_make(WEFT_LAGRANGE, ufl_weft_cell(w->scalar->cell), w->k, &element,
                                NULL) != WEFT_OK)
        return false;
    for (int i = 0; i < n; ++i) {
        double lambda[4] = {1};
        for (int c = 0; c < w->d; ++c) {
            lambda[c + 1] = element->points[i * w->d + c];
            lambda[0] -= lambda[c + 1];
        }
        for (int j = 0; j < n; ++j) {
            V[i * n + j] = factorial(w->k);
            for (int c = 0; c <= w->d; ++c)
                V[i * n + j] *= pow(lambda[c], of->index[j][c]) / factorial(of->index[j][c]);
        }
        w->to_bernstein[i * n + i] = 1;
    }
    weft_element_free(&element);
    return ufl_solve_dense(V, n, w->to_bernstein, n);
}

/* ---- statements ---- */

/* A list of sums of products, each "real NAME = ...;". */
static int new_names(product_writer *w, int n) {
    w->n_names += n;
    return w->n_names - n;
}
static void begin(product_writer *w, int name) {
    weft_text_add(&w->e->body, "real t%d =", name);
}
/* + value * t[name]; returns whether a term stands now */
static bool add_name(product_writer *w, bool started, double value, int name) {
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
static void end(product_writer *w, bool started) {
    weft_text_add(&w->e->body, started ? ";\n" : " 0.0;\n");
}

/* Coefficients of a component of the vector; returns the first name. */
static int write_coefficients(product_writer *w, const ufl_element *element, ufl_part part) {
    const int n = w->of[w->k].n, values = new_names(w, n), first = new_names(w, n);
    char index[16];
    for (int i = 0; i < n; ++i) {
        snprintf(index, sizeof index, "%d", i);
        begin(w, values + i);
        weft_text_add(&w->e->body, " ");
        ufl_emit_dof(&w->e->body, "v", element, part, index, false);
        end(w, true);
    }
    for (int j = 0; j < n; ++j) {
        bool started = false;
        begin(w, first + j);
        for (int i = 0; i < n; ++i)
            started = add_name(w, started, w->to_bernstein[j * n + i], values + i);
        end(w, started);
    }
    return first;
}

/* Differences that are the derivative by axis s, but for a factor k. */
static int write_differences(product_writer *w, int from, int s) {
    const bernstein *of = &w->of[w->k - 1];
    const int first = new_names(w, of->n);
    for (int j = 0; j < of->n; ++j) {
        begin(w, first + j);
        (void)add_name(w, true, 1, from + neighbour(&w->of[w->k], of->index[j], s, 1));
        (void)add_name(w, true, -1, from + neighbour(&w->of[w->k], of->index[j], 0, 1));
        end(w, true);
    }
    return first;
}

/* The mass matrix between degrees n (rows) and m (columns), but for a factor, times coefficients `from`. With binomials
 * C of multi-indices an entry is C(beta + gamma, beta) = sum over delta of C(beta, delta) C(gamma, delta): sums A over
 * coefficients of each lower degree, scaled by (m - degree)!, and from these upwards. */
static int write_mass(product_writer *w, int n, int m, int from) {
    int sums[DEGREE_MAX + 1], result = 0;
    const int least = n < m ? n : m;
    sums[m] = from;
    for (int k = m - 1; k >= 0; --k) {
        const bernstein *of = &w->of[k];
        sums[k] = new_names(w, of->n);
        for (int j = 0; j < of->n; ++j) {
            bool started = false;
            begin(w, sums[k] + j);
            for (int i = 0; i <= w->d; ++i)
                started = add_name(w, started, of->index[j][i] + 1,
                                   sums[k + 1] + neighbour(&w->of[k + 1], of->index[j], i, 1));
            end(w, started);
        }
    }
    for (int k = 0; k <= n; ++k) {
        const bernstein *of = &w->of[k];
        const int before = result;
        result = new_names(w, of->n);
        for (int j = 0; j < of->n; ++j) {
            bool started = false;
            begin(w, result + j);
            for (int i = 0; i <= w->d && k > 0; ++i)
                if (of->index[j][i] > 0)
                    started = add_name(w, started, of->index[j][i],
                                       before + neighbour(&w->of[k - 1], of->index[j], i, -1));
            if (k <= least)
                started =
                    add_name(w, started, 1 / (factorial(m - k) * factorial(n - k)), sums[k] + j);
            end(w, started);
        }
    }
    return result;
}

/* ---- the product ---- */

typedef struct product_parts {
    int n, component[COMPONENTS_MAX];
    ufl_part part[COMPONENTS_MAX];
    int names[COMPONENTS_MAX][4]; /* of values, or differences by axis 1 .. d */
} product_parts;

static int find_part(product_parts *parts, ufl_part part) {
    int i = 0;
    while (i < parts->n && parts->part[i].first != part.first)
        ++i;
    if (i == COMPONENTS_MAX)
        return -1;
    if (i == parts->n) {
        parts->part[parts->n++] = part;
        memset(parts->names[i], -1, sizeof parts->names[i]);
    }
    return i;
}

/* Factor of a term with the constants that differences and mass matrices leave out. */
static void write_factors(product_writer *w, const ufl_terms *terms, int *names) {
    char number[40];
    for (int t = 0; t < terms->n; ++t) {
        double scale = 1;
        int degrees[2];
        for (int i = 0; i < 2; ++i) {
            const bool differs = w->e->l->bases[terms->list[t].basis[i]].derivative > 0;
            degrees[i] = w->k - differs;
            scale *= differs ? w->k : 1;
        }
        scale *= factorial(degrees[0]) * factorial(degrees[1]) /
                 factorial(degrees[0] + degrees[1] + w->d);
        names[t] = new_names(w, 1);
        weft_text_add(&w->e->body, "real t%d = %s*", names[t], ufl_emit_number(scale, number));
        ufl_emit_scalar(w->e, terms->list[t].factor, &w->e->body);
        weft_text_add(&w->e->body, ";\n");
    }
}

/* Sum of factors times values or differences of the trial function, for terms with this test function; -1: none. */
static int write_sum(product_writer *w, const ufl_terms *terms, const int *factors,
                     const product_parts *trial, ufl_part test, int derivative, bool differences) {
    const bernstein *of = &w->of[w->k - differences];
    int first = -1;
    for (int j = 0; j < of->n; ++j) {
        bool started = false;
        for (int t = 0; t < terms->n; ++t) {
            const ufl_basis *v = &w->e->l->bases[terms->list[t].basis[0]],
                            *u = &w->e->l->bases[terms->list[t].basis[1]];
            if (v->part.first != test.first || v->derivative != derivative ||
                (u->derivative > 0) != differences)
                continue;
            if (first < 0)
                first = new_names(w, of->n);
            if (!started)
                begin(w, first + j);
            int i = 0;
            while (trial->part[i].first != u->part.first)
                ++i;
            weft_text_add(&w->e->body, "%s t%d*t%d", started ? " +" : "", factors[t],
                          trial->names[i][u->derivative] + j);
            w->e->flops += 2;
            started = true;
        }
        if (started)
            end(w, true);
    }
    return first;
}

/* Coefficients of the result by a component of the test function, as names of lists that are added. */
static int write_test(product_writer *w, const ufl_terms *terms, const int *factors,
                      const product_parts *trial, ufl_part test) {
    int lists[4][2];
    for (int r = 0; r <= w->d; ++r)
        for (int differences = 0; differences < 2; ++differences) {
            const int sum = write_sum(w, terms, factors, trial, test, r, differences != 0);
            lists[r][differences] =
                sum < 0 ? -1 : write_mass(w, w->k - (r > 0), w->k - differences, sum);
        }
    const bernstein *of = &w->of[w->k];
    const int first = new_names(w, of->n);
    for (int j = 0; j < of->n; ++j) {
        bool started = false;
        begin(w, first + j);
        for (int r = 0; r <= w->d; ++r)
            for (int l = 0; l < 2; ++l) {
                if (lists[r][l] < 0)
                    continue;
                if (r == 0) {
                    started = add_name(w, started, 1, lists[r][l] + j);
                    continue;
                }
                const int plus = neighbour(&w->of[w->k - 1], of->index[j], r, -1),
                          minus = neighbour(&w->of[w->k - 1], of->index[j], 0, -1);
                if (plus >= 0)
                    started = add_name(w, started, 1, lists[r][l] + plus);
                if (minus >= 0)
                    started = add_name(w, started, -1, lists[r][l] + minus);
            }
        end(w, started);
    }
    return first;
}

static void write_result(product_writer *w, ufl_part part, int coefficients) {
    const int n = w->of[w->k].n;
    char index[16];
    for (int i = 0; i < n; ++i) {
        bool started = false;
        snprintf(index, sizeof index, "%d", i);
        ufl_emit_dof(&w->e->body, "A", w->e->results, part, index, false);
        weft_text_add(&w->e->body, " =");
        for (int j = 0; j < n; ++j)
            started = add_name(w, started, w->to_bernstein[j * n + i], coefficients + j);
        end(w, started);
    }
}

static bool refuse(ufl_emitter *e, const char *why) {
    return ufl_fail(e->l->context, WEFT_ERROR_UNSUPPORTED, "a product without the matrix of %s",
                    why);
}

/* Entries of the change of basis below this are rounding. */
static const double ZERO = 1e-12;

bool ufl_emit_product(ufl_emitter *e, const ufl_terms *terms) {
    const ufl_element *element = e->results;
    const ufl_element *scalar = element->family == UFL_BLOCKED ? element->sub[0] : element;
    product_parts trial = {.n = 0}, test = {.n = 0};
    product_writer *w = ufl_alloc(e->l->context, 1, sizeof *w);
    int *factors = ufl_alloc(e->l->context, (size_t)terms->n + 1, sizeof *factors);
    if (!w || !factors)
        return false;
    *w = (product_writer){
        .e = e, .scalar = scalar, .k = scalar->degree, .d = ufl_cell_dimension(scalar->cell)};
    if (scalar->family != UFL_LAGRANGE || scalar->degree < 1 || scalar->degree > DEGREE_MAX ||
        scalar->tensor_order || !ufl_cell_is_simplex(scalar->cell) || w->d < 2)
        return refuse(e, scalar->name);
    for (int k = 0; k <= w->k; ++k)
        bernstein_make(k, w->d + 1, &w->of[k]);
    for (int t = 0; t < terms->n; ++t)
        for (int i = 0; i < 2; ++i) {
            const ufl_basis *basis = &e->l->bases[terms->list[t].basis[i]];
            if (basis->part.scalar != scalar || basis->derivative > w->d ||
                find_part(i ? &trial : &test, basis->part) < 0)
                return refuse(e, "second derivatives, several spaces or many components");
        }
    e->ignores_constants = element == scalar;
    for (int t = 0; t < terms->n; ++t)
        e->ignores_constants =
            e->ignores_constants && e->l->bases[terms->list[t].basis[1]].derivative > 0;
    if (!make_coefficients(w))
        return false;
    for (int i = 0; i < w->of[w->k].n * w->of[w->k].n; ++i)
        if (fabs(w->to_bernstein[i]) < ZERO)
            w->to_bernstein[i] = 0;
    if (!ufl_emit_declare(e, true))
        return false;
    write_factors(w, terms, factors);
    for (int i = 0; i < trial.n; ++i) {
        trial.names[i][0] = write_coefficients(w, element, trial.part[i]);
        for (int t = 0; t < terms->n; ++t) {
            const ufl_basis *u = &e->l->bases[terms->list[t].basis[1]];
            if (u->part.first == trial.part[i].first && trial.names[i][u->derivative] < 0)
                trial.names[i][u->derivative] =
                    write_differences(w, trial.names[i][0], u->derivative);
        }
    }
    const int n_components = element->family == UFL_BLOCKED ? element->block_size : 1;
    for (int c = 0; c < n_components; ++c) {
        const ufl_part part = {scalar, c, n_components};
        write_result(w, part, write_test(w, terms, factors, &trial, part));
    }
    return true;
}
