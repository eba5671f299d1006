/* labels: quick */
/* Elements of vectors: functions that are known, traces that vanish on the facets whose dofs a function does not have,
 * and the complex of gradients, curls and divergences.
 *
 *  Tolerance: values are sums of at most 200 terms of size up to 100, with rounding of an inverse matrix: 1e-9. */
#include "fem/weft_element.h"
#include "test_support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double TOLERANCE = 1e-9;
enum { DEGREE_MAX = 4 };
static const weft_family curls[] = {WEFT_NEDELEC, WEFT_NEDELEC_SECOND},
                         divs[] = {WEFT_RAVIART_THOMAS, WEFT_BREZZI_DOUGLAS_MARINI};

static weft_element *make(weft_family family, weft_cell_type cell, int degree) {
    weft_element *element = NULL;
    weft_error error = {0};
    if (weft_element_make(family, cell, degree, &element, &error) != WEFT_OK)
        fail_msg("%s", error.message);
    return element;
}

/* [1 + d][n_nodes][value_size] at one point */
static double *tabulate(const weft_element *e, const double *x) {
    const int d = weft_cell_of(e->cell)->dimension;
    double *values = malloc((size_t)((1 + d) * e->n_nodes * e->value_size) * sizeof *values);
    assert_int_equal(weft_element_tabulate(e, 1, 1, x, values, NULL), WEFT_OK);
    return values;
}

/* Of lowest degree, as published: DefElement, "Nedelec (first kind)" and "Raviart-Thomas". */
static void test_known(void **state) {
    (void)state;
    const double x[] = {0.3, 0.45};
    const double edges[3][2] = {{-x[1], x[0]}, {x[1], 1 - x[0]}, {1 - x[1], x[0]}};
    const double facets[3][2] = {{-x[0], -x[1]}, {x[0] - 1, x[1]}, {-x[0], 1 - x[1]}};
    for (int k = 0; k < 2; ++k) {
        weft_element *e = make(k == 0 ? WEFT_NEDELEC : WEFT_RAVIART_THOMAS, WEFT_TRIANGLE, 1);
        double *values = tabulate(e, x);
        for (int i = 0; i < 6; ++i)
            assert_double_near(values[i], (k == 0 ? edges : facets)[i / 2][i % 2], 0, TOLERANCE);
        free(values);
        weft_element_free(&e);
    }
}

/* The size of the tangential components of a vector at a facet, or of the normal one. */
static double trace_of(const weft_cell *cell, int facet, bool is_tangential, const double *v) {
    const int d = cell->dimension;
    double normal[3] = {0}, across = 0, square = 0, length = 0;
    int vertices[8];
    weft_cell_entity(cell, d - 1, facet, vertices);
    for (int k = 0; k < d;
         ++k) /* facet 0 is across from the origin, facet i from the end of axis i - 1 */
        normal[k] = facet == 0 ? 1 : k == facet - 1;
    for (int k = 0; k < d; ++k) {
        across += v[k] * normal[k];
        length += normal[k] * normal[k];
        square += v[k] * v[k];
    }
    across /= sqrt(length);
    return is_tangential ? sqrt(fmax(square - across * across, 0)) : fabs(across);
}

static bool is_in(int n, const int *nodes, int node) {
    for (int i = 0; i < n; ++i)
        if (nodes[i] == node)
            return true;
    return false;
}

static void check_traces(const weft_element *e, bool is_tangential) {
    const weft_cell *cell = weft_cell_of(e->cell);
    const int d = cell->dimension;
    int *nodes = malloc((size_t)e->n_nodes * sizeof *nodes);
    for (int facet = 0; facet <= d; ++facet) {
        static const double weights[] = {0.2, 0.5, 0.3};
        const int n = weft_element_entity_closure(e, d - 1, facet, nodes);
        double x[3] = {0}, sum = 0;
        int vertices[8];
        weft_cell_entity(cell, d - 1, facet, vertices);
        for (int v = 0; v < d; ++v)
            sum += weights[v];
        for (int v = 0; v < d; ++v)
            for (int k = 0; k < d; ++k)
                x[k] += weights[v] / sum * cell->vertices[vertices[v]][k];
        double *values = tabulate(e, x);
        for (int i = 0; i < e->n_nodes; ++i) {
            const double trace = trace_of(cell, facet, is_tangential, values + i * d);
            if (!is_in(n, nodes, i))
                assert_double_near(trace * trace, 0, 0, TOLERANCE);
        }
        free(values);
    }
    free(nodes);
}

static void test_traces(void **state) {
    (void)state;
    for (int cell = WEFT_TRIANGLE; cell <= WEFT_TETRAHEDRON; ++cell)
        for (int degree = 1; degree <= DEGREE_MAX; ++degree)
            for (int k = 0; k < 4; ++k) {
                weft_element *e =
                    make(k < 2 ? curls[k] : divs[k - 2], (weft_cell_type)cell, degree);
                check_traces(e, k < 2);
                weft_element_free(&e);
            }
}

/* What a differential operator makes of function i of `from`, at the points of the functionals of `to`. */
typedef void operator_at(int d, int n, int size, const double *table, int i, double *out);

static void gradient_at(int d, int n, int size, const double *table, int i, double *out) {
    (void)size;
    for (int k = 0; k < d; ++k)
        out[k] = table[(1 + k) * n + i];
}

static double slope(int n, int size, const double *table, int i, int component, int axis) {
    return table[((1 + axis) * n + i) * size + component];
}

static void curl_at(int d, int n, int size, const double *table, int i, double *out) {
    (void)d;
    for (int k = 0; k < 3; ++k)
        out[k] = slope(n, size, table, i, (k + 2) % 3, (k + 1) % 3) -
                 slope(n, size, table, i, (k + 1) % 3, (k + 2) % 3);
}

static void divergence_at(int d, int n, int size, const double *table, int i, double *out) {
    out[0] = 0;
    for (int k = 0; k < d; ++k)
        out[0] += slope(n, size, table, i, k, k);
}

/* Functionals of `to` make of the derivatives a function that equals them at another point. */
static void check_contains(const weft_element *from, const weft_element *to, operator_at *derive) {
    static const double x[3] = {0.21, 0.17, 0.34};
    const weft_functionals *f = &to->functionals;
    const int d = weft_cell_of(from->cell)->dimension, n = from->n_nodes, size = to->value_size;
    double *values = malloc((size_t)(f->n_points * size) * sizeof *values);
    double *dofs = malloc((size_t)to->n_nodes * sizeof *dofs), exact[3];
    for (int i = 0; i < n; ++i) {
        for (int p = 0; p < f->n_points; ++p) {
            double *table = tabulate(from, f->points + p * d);
            derive(d, n, from->value_size, table, i, values + p * size);
            free(table);
        }
        weft_element_apply(to, values, dofs);
        double *table = tabulate(from, x), *there = tabulate(to, x);
        derive(d, n, from->value_size, table, i, exact);
        for (int k = 0; k < size; ++k) {
            double sum = 0;
            for (int j = 0; j < to->n_nodes; ++j)
                sum += dofs[j] * there[j * size + k];
            assert_double_near(sum, exact[k], 0, TOLERANCE);
        }
        free(table);
        free(there);
    }
    free(values);
    free(dofs);
}

static void check_pair(weft_family from, int degree, weft_family to, int degree_to,
                       weft_cell_type cell, operator_at *derive) {
    weft_element *a = make(from, cell, degree), *b = make(to, cell, degree_to);
    check_contains(a, b, derive);
    weft_element_free(&a);
    weft_element_free(&b);
}

static void test_complex(void **state) {
    (void)state;
    for (int degree = 1; degree <= 3; ++degree)
        for (int type = WEFT_TRIANGLE; type <= WEFT_TETRAHEDRON; ++type) {
            const weft_cell_type cell = (weft_cell_type)type;
            check_pair(WEFT_LAGRANGE, degree, WEFT_NEDELEC, degree, cell, gradient_at);
            check_pair(WEFT_LAGRANGE, degree + 1, WEFT_NEDELEC_SECOND, degree, cell, gradient_at);
            check_pair(WEFT_RAVIART_THOMAS, degree, WEFT_DISCONTINUOUS, degree - 1, cell,
                       divergence_at);
            check_pair(WEFT_BREZZI_DOUGLAS_MARINI, degree, WEFT_DISCONTINUOUS, degree - 1, cell,
                       divergence_at);
            if (cell == WEFT_TETRAHEDRON)
                check_pair(WEFT_NEDELEC, degree, WEFT_RAVIART_THOMAS, degree, cell, curl_at);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_known), cmocka_unit_test(test_traces),
                                       cmocka_unit_test(test_complex)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
