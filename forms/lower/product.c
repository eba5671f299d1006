/* Writes a body for the product of an integral's matrix with a vector on affine simplices, without the matrix: in Bernstein
 * polynomials derivatives are differences of coefficients, products with polynomial coefficients are sums
 * of products, and mass matrices are sums over coefficients of lower degree (Ainsworth, Andriamaro and
 * Davydov 2011, SIAM J. Sci. Comput. 33; Kirby 2011, Numer. Math. 117). */
#include "forms/lower/bernstein.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Compilers of GPUs take a second for a body of a thousand statements without loops, and much longer beyond. */
enum { COMPONENTS_MAX = 9, LISTS_MAX = 12, STATEMENTS_MAX = 1000 };

/* ---- coefficients of the form ---- */

static bool refuse(ufl_emitter *e, const char *why) {
    return ufl_fail(e->l->context, WEFT_ERROR_UNSUPPORTED, "a product without the matrix of %s",
                    why);
}

/* Of a coefficient or a product of such; -1: they are not polynomials of Lagrange elements. */
static int degree_of(ufl_lowering *l, int scalar) {
    if (scalar < 0)
        return 0;
    const ufl_scalar *s = &l->scalars.list[scalar];
    ufl_part parts[UFL_PARTS_MAX];
    if (s->type == SCALAR_PRODUCT) {
        const int a = degree_of(l, s->a), b = degree_of(l, s->b);
        return a < 0 || b < 0 ? -1 : a + b;
    }
    if (s->type != SCALAR_COEFFICIENT)
        return -1;
    const ufl_element *element = l->coefficients[s->a / 2]->space->element;
    const ufl_element *nodal =
        ufl_component_parts(l->context, element, s->b, parts) == 1 ? parts[0].scalar : NULL;
    if (!nodal || !ufl_element_is_lattice(nodal) || nodal->degree < 1 ||
        nodal->degree > UFL_BERNSTEIN_DEGREE_MAX || s->c > ufl_cell_dimension(nodal->cell))
        return -1;
    return nodal->degree - (s->c > 0);
}

/* Returns false and an error. */
static bool write_polynomial(ufl_product_writer *w, int scalar, ufl_coefficient_polynomial *out) {
    const ufl_scalar *s = &w->e->l->scalars.list[scalar];
    ufl_part parts[UFL_PARTS_MAX];
    ufl_coefficient_polynomial a, b;
    char name[16];
    for (int i = 0; i < w->n_known; ++i)
        if (w->known[i].scalar == scalar) {
            *out = w->known[i];
            return true;
        }
    if (w->n_known == UFL_POLYNOMIALS_MAX)
        return refuse(w->e, "many coefficients");
    *out = (ufl_coefficient_polynomial){.scalar = scalar, .degree = degree_of(w->e->l, scalar)};
    if (s->type == SCALAR_PRODUCT) {
        if (!write_polynomial(w, s->a, &a) || !write_polynomial(w, s->b, &b))
            return false;
        out->first = ufl_bernstein_multiply(w, a.degree, a.first, b.degree, b.first);
    } else {
        const ufl_element *element = w->e->l->coefficients[s->a / 2]->space->element;
        double *matrix = ufl_alloc(w->e->l->context, (size_t)UFL_BERNSTEIN_MAX * UFL_BERNSTEIN_MAX,
                                   sizeof *matrix);
        (void)ufl_component_parts(w->e->l->context, element, s->b, parts);
        const int degree = parts[0].scalar->degree;
        if (!matrix || !ufl_bernstein_matrix(w, degree, matrix))
            return false;
        snprintf(name, sizeof name, "w%d", s->a / 2);
        const ufl_function_dofs dofs = {name, element, parts[0], degree, matrix};
        out->first = ufl_bernstein_coefficients(w, &dofs);
        if (s->c > 0) {
            const int differences = ufl_bernstein_differences(w, degree, out->first, s->c);
            out->first = ufl_sum_names(w, w->of[degree - 1].n);
            for (int i = 0; i < w->of[degree - 1].n; ++i) {
                ufl_sum_begin(w, out->first + i);
                ufl_sum_end(w, ufl_sum_add(w, false, degree, differences + i));
            }
        }
    }
    if (w->n_known == UFL_POLYNOMIALS_MAX)
        return refuse(w->e, "many coefficients");
    w->known[w->n_known++] = *out;
    return true;
}

int *ufl_product_split(ufl_lowering *l, const ufl_terms *terms, ufl_terms *out) {
    const size_t n = (size_t)terms->n * UFL_SPLIT_MAX + 1;
    int *polynomials = ufl_alloc(l->context, n, sizeof *polynomials);
    *out = (ufl_terms){0, ufl_alloc(l->context, n, sizeof *out->list)};
    for (int t = 0; polynomials && out->list && t < terms->n; ++t) {
        ufl_factor_parts factor;
        if (!ufl_factor_split(&l->scalars, terms->list[t].factor, &factor))
            return ufl_fail(l->context, WEFT_ERROR_UNSUPPORTED,
                            "a product without the matrix where factors are not polynomials");
        for (int i = 0; i < factor.n; ++i) {
            out->list[out->n] = terms->list[t];
            out->list[out->n].factor = factor.constant[i];
            polynomials[out->n++] = factor.varying[i];
            if (degree_of(l, factor.varying[i]) < 0)
                return ufl_fail(l->context, WEFT_ERROR_UNSUPPORTED,
                                "a product without the matrix with such coefficients");
        }
    }
    return out->list ? polynomials : NULL;
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

/* The degrees of the polynomials in a term: of the test function, of the trial function, of the factor. */
static void term_degrees(const ufl_product_writer *w, const ufl_term *term, int scalar,
                         int out[3]) {
    for (int i = 0; i < 2; ++i)
        out[i] = w->k - (w->e->l->bases[term->basis[i]].derivative > 0);
    out[2] = degree_of(w->e->l, scalar);
}

/* Constant factor of a term with the constants that differences and mass matrices leave out. */
static void write_factors(ufl_product_writer *w, const ufl_terms *terms, const int *polynomials,
                          int *names) {
    char number[40];
    for (int t = 0; t < terms->n; ++t) {
        double scale = 1;
        int degrees[3];
        term_degrees(w, &terms->list[t], polynomials[t], degrees);
        for (int i = 0; i < 2; ++i)
            scale *= degrees[i] < w->k ? w->k : 1;
        const int trial = degrees[1] + degrees[2];
        scale *= ufl_factorial(degrees[0]) * ufl_factorial(trial) /
                 ufl_factorial(degrees[0] + trial + w->d);
        names[t] = ufl_sum_names(w, 1);
        weft_text_add(&w->e->body, "real t%d = %s*", names[t], ufl_emit_number(scale, number));
        ufl_emit_scalar(w->e, terms->list[t].factor, &w->e->body);
        weft_text_add(&w->e->body, ";\n");
    }
}

/* The terms of a sum: with this component and derivative of the test function, values or differences of the trial
 * function, and this polynomial. */
typedef struct term_choice {
    ufl_part test;
    int derivative, polynomial;
    bool differences;
} term_choice;

static bool is_chosen(const ufl_product_writer *w, const ufl_term *term, int polynomial,
                      const term_choice *choice) {
    const ufl_basis *v = &w->e->l->bases[term->basis[0]], *u = &w->e->l->bases[term->basis[1]];
    return v->part.first == choice->test.first && v->derivative == choice->derivative &&
           (u->derivative > 0) == choice->differences && polynomial == choice->polynomial;
}

typedef struct term_list {
    const ufl_terms *terms;
    const int *polynomials, *factors; /* of each term: the scalar, the name of the constant */
} term_list;

/* Sum of factors times values or differences of the trial function; -1: none. */
static int write_sum(ufl_product_writer *w, const term_list *list, const product_parts *trial,
                     const term_choice *choice) {
    const ufl_bernstein *of = &w->of[w->k - choice->differences];
    int first = -1;
    for (int j = 0; j < of->n; ++j) {
        bool started = false;
        for (int t = 0; t < list->terms->n; ++t) {
            const ufl_basis *u = &w->e->l->bases[list->terms->list[t].basis[1]];
            if (!is_chosen(w, &list->terms->list[t], list->polynomials[t], choice))
                continue;
            if (first < 0)
                first = ufl_sum_names(w, of->n);
            if (!started)
                ufl_sum_begin(w, first + j);
            int i = 0;
            while (trial->part[i].first != u->part.first)
                ++i;
            weft_text_add(&w->e->body, "%s t%d*t%d", started ? " +" : "", list->factors[t],
                          trial->names[i][u->derivative] + j);
            w->e->flops += 2;
            started = true;
        }
        if (started)
            ufl_sum_end(w, true);
    }
    return first;
}

/* The mass matrices of all sums with a derivative of a component of the test function. Adds the names of the
 * results to `lists`. */
static bool write_derivative(ufl_product_writer *w, const term_list *list,
                             const product_parts *trial, ufl_part test, int derivative, int *lists,
                             int *n_lists) {
    for (int t = 0; t < list->terms->n; ++t) {
        const ufl_basis *u = &w->e->l->bases[list->terms->list[t].basis[1]];
        const term_choice choice = {test, derivative, list->polynomials[t], u->derivative > 0};
        bool done = !is_chosen(w, &list->terms->list[t], list->polynomials[t], &choice);
        for (int s = 0; s < t && !done; ++s)
            done = is_chosen(w, &list->terms->list[s], list->polynomials[s], &choice);
        if (done)
            continue;
        int sum = write_sum(w, list, trial, &choice), degree = w->k - choice.differences;
        if (choice.polynomial >= 0) {
            ufl_coefficient_polynomial p;
            if (!write_polynomial(w, choice.polynomial, &p))
                return false;
            sum = ufl_bernstein_multiply(w, p.degree, p.first, degree, sum);
            degree += p.degree;
        }
        if (*n_lists == LISTS_MAX)
            return refuse(w->e, "many coefficients");
        lists[(*n_lists)++] = ufl_bernstein_mass(w, w->k - (derivative > 0), degree, sum);
    }
    return true;
}

/* The factors of physical derivatives of the test function become one list for each reference derivative. */
static void write_fluxes(ufl_product_writer *w, int (*lists)[LISTS_MAX], int *n_lists) {
    const int n = w->of[w->k - 1].n;
    int sums[3], any = 0;
    for (int r = 0; r < w->d; ++r) {
        sums[r] = n_lists[r + 1] > 0 ? lists[r + 1][0] : -1;
        any += n_lists[r + 1];
        if (n_lists[r + 1] < 2)
            continue;
        sums[r] = ufl_sum_names(w, n);
        for (int j = 0; j < n; ++j) {
            ufl_sum_begin(w, sums[r] + j);
            for (int l = 0; l < n_lists[r + 1]; ++l)
                (void)ufl_sum_add(w, l > 0, 1, lists[r + 1][l] + j);
            ufl_sum_end(w, true);
        }
    }
    for (int s = 0; s < w->d && any > 0; ++s) {
        lists[s + 1][0] = ufl_bernstein_transformed(w, sums, n, s, true);
        n_lists[s + 1] = 1;
    }
}

/* Coefficients of the result by a component of the test function; -1 and an error. */
static int write_test(ufl_product_writer *w, const term_list *list, const product_parts *trial,
                      ufl_part test) {
    int lists[4][LISTS_MAX], n_lists[4] = {0};
    for (int r = 0; r <= w->d; ++r)
        if (!write_derivative(w, list, trial, test, r, lists[r], &n_lists[r]))
            return -1;
    if (w->e->l->keeps_gradients)
        write_fluxes(w, lists, n_lists);
    const ufl_bernstein *of = &w->of[w->k];
    const int first = ufl_sum_names(w, of->n);
    for (int j = 0; j < of->n; ++j) {
        bool started = false;
        ufl_sum_begin(w, first + j);
        for (int r = 0; r <= w->d; ++r)
            for (int l = 0; l < n_lists[r]; ++l) {
                if (r == 0) {
                    started = ufl_sum_add(w, started, 1, lists[r][l] + j);
                    continue;
                }
                const int plus = ufl_bernstein_neighbour(&w->of[w->k - 1], of->index[j], r, -1),
                          minus = ufl_bernstein_neighbour(&w->of[w->k - 1], of->index[j], 0, -1);
                if (plus >= 0)
                    started = ufl_sum_add(w, started, 1, lists[r][l] + plus);
                if (minus >= 0)
                    started = ufl_sum_add(w, started, -1, lists[r][l] + minus);
            }
        ufl_sum_end(w, started);
    }
    return first;
}

static void write_result(ufl_product_writer *w, ufl_part part, int coefficients) {
    const int n = w->of[w->k].n;
    char index[16];
    for (int i = 0; i < n; ++i) {
        bool started = false;
        snprintf(index, sizeof index, "%d", i);
        ufl_emit_dof(&w->e->body, "A", w->e->results, part, index, true);
        weft_text_add(&w->e->body, " =");
        for (int j = 0; j < n; ++j)
            started = ufl_sum_add(w, started, w->to_bernstein[j * n + i], coefficients + j);
        ufl_sum_end(w, started);
    }
}

/* The rule of the integral must integrate every term exactly, as this function does. */
static bool check_degrees(const ufl_product_writer *w, const ufl_terms *terms,
                          const int *polynomials, int degree) {
    for (int t = 0; t < terms->n; ++t) {
        int d[3];
        term_degrees(w, &terms->list[t], polynomials[t], d);
        if (d[0] + d[1] + d[2] > degree)
            return refuse(w->e, "an integral whose rule is not exact");
        if (d[1] + d[2] > UFL_BERNSTEIN_DEGREE_MAX || d[2] > UFL_BERNSTEIN_DEGREE_MAX)
            return refuse(w->e, "coefficients of high degrees");
    }
    return true;
}

static bool find_parts(const ufl_product_writer *w, const ufl_terms *terms, product_parts *trial) {
    product_parts test = {.n = 0};
    ufl_emitter *e = w->e;
    for (int t = 0; t < terms->n; ++t)
        for (int i = 0; i < 2; ++i) {
            const ufl_basis *basis = &e->l->bases[terms->list[t].basis[i]];
            if (basis->part.scalar != w->scalar || basis->derivative > w->d ||
                find_part(i ? trial : &test, basis->part) < 0)
                return refuse(e, "second derivatives, several spaces or many components");
        }
    e->ignores_constants = e->results == w->scalar;
    for (int t = 0; t < terms->n; ++t)
        e->ignores_constants =
            e->ignores_constants && e->l->bases[terms->list[t].basis[1]].derivative > 0;
    return true;
}

/* Does a term have a derivative of this component of the trial function? */
static bool has_derivatives(const ufl_product_writer *w, const ufl_terms *terms,
                            const ufl_function_dofs *v) {
    bool any = false;
    for (int t = 0; t < terms->n; ++t) {
        const ufl_basis *u = &w->e->l->bases[terms->list[t].basis[1]];
        any = any || (u->part.first == v->part.first && u->derivative > 0);
    }
    return any;
}

bool ufl_emit_product(ufl_emitter *e, const ufl_terms *terms, const int *polynomials, int degree) {
    const ufl_element *element = e->results;
    const ufl_element *scalar = element->kind == UFL_BLOCKED ? element->sub[0] : element;
    product_parts trial = {.n = 0};
    ufl_product_writer *w = ufl_alloc(e->l->context, 1, sizeof *w);
    int *factors = ufl_alloc(e->l->context, (size_t)terms->n + 1, sizeof *factors);
    if (!w || !factors)
        return false;
    *w = (ufl_product_writer){
        .e = e, .scalar = scalar, .k = scalar->degree, .d = ufl_cell_dimension(scalar->cell)};
    if (!ufl_element_is_lattice(scalar) || scalar->degree < 1 ||
        scalar->degree > UFL_BERNSTEIN_DEGREE_MAX || !ufl_cell_is_simplex(scalar->cell) || w->d < 2)
        return refuse(e, scalar->name);
    for (int k = 0; k <= UFL_BERNSTEIN_DEGREE_MAX; ++k)
        ufl_bernstein_make(k, w->d + 1, &w->of[k]);
    if (!find_parts(w, terms, &trial) || !check_degrees(w, terms, polynomials, degree) ||
        !ufl_bernstein_matrix(w, w->k, w->to_bernstein) || !ufl_emit_declare(e, true))
        return false;
    write_factors(w, terms, polynomials, factors);
    for (int i = 0; i < trial.n; ++i) {
        const ufl_function_dofs v = {"v", element, trial.part[i], w->k, w->to_bernstein};
        trial.names[i][0] = ufl_bernstein_coefficients(w, &v);
        int differences[3];
        for (int s = 0; s < w->d && e->l->keeps_gradients && has_derivatives(w, terms, &v); ++s)
            differences[s] = ufl_bernstein_differences(w, w->k, trial.names[i][0], s + 1);
        for (int t = 0; t < terms->n; ++t) {
            const ufl_basis *u = &e->l->bases[terms->list[t].basis[1]];
            int *name = &trial.names[i][u->derivative];
            if (u->part.first == trial.part[i].first && *name < 0)
                *name = e->l->keeps_gradients
                            ? ufl_bernstein_transformed(w, differences, w->of[w->k - 1].n,
                                                        u->derivative - 1, false)
                            : ufl_bernstein_differences(w, w->k, trial.names[i][0], u->derivative);
        }
    }
    const int n_components = element->kind == UFL_BLOCKED ? element->block_size : 1;
    const term_list list = {terms, polynomials, factors};
    for (int c = 0; c < n_components; ++c) {
        const ufl_part part = {scalar, c, n_components};
        const int result = write_test(w, &list, &trial, part);
        if (result < 0)
            return false;
        write_result(w, part, result);
        if (w->n_names > STATEMENTS_MAX)
            return refuse(e, "an integral that has too many terms");
    }
    return true;
}
