/* labels: quick */
/* The functionals of every family, degree and cell: each is 1 for its own function and 0 for the others; of the
 * functions of an element in another one of at least its degree they make the same functions; a functional of
 * several terms is their weighted sum.
 *
 *  Tolerance: values of functions up to degree 12, whose inverse matrices have condition numbers up to 1e5 in
 *  the bases that are used, are sums of n <= 2197 terms of size 1: 1e-8. Products of lines: the same. */
#include "fem/weft_element.h"
#include "test_support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double TOLERANCE = 1e-8;

static weft_element *make(weft_family family, weft_cell_type cell, int degree) {
    weft_element *element = NULL;
    weft_error error = {0};
    if (weft_element_make(family, cell, degree, &element, &error) != WEFT_OK)
        fail_msg("%s", error.message);
    return element;
}

/* Tables of n x n numbers are small enough for this. */
static bool is_large(weft_family family, weft_cell_type cell, int degree) {
    return weft_family_functions(family, cell, degree) > 250;
}

static void check_dual(const weft_element *e) {
    const int n = e->n_nodes;
    double *table = malloc((size_t)n * (size_t)n * sizeof *table);
    assert_int_equal(weft_element_interpolate(e, e, table, NULL), WEFT_OK);
    for (int i = 0; i < n * n; ++i)
        assert_double_near(table[i], i % (n + 1) == 0, 0, TOLERANCE);
    free(table);
}

/* Nodes add up, and are those of entities in the order of their dimensions. */
static void check_nodes(const weft_element *e) {
    const weft_cell *cell = weft_cell_of(e->cell);
    int shared = 0, located = 0;
    for (int dimension = 0; dimension <= cell->dimension; ++dimension) {
        shared += cell->n_entities[dimension] * e->entity_nodes[dimension];
        located += cell->n_entities[dimension] * e->located_nodes[dimension];
    }
    assert_int_equal(shared, e->n_nodes);
    assert_int_equal(located, e->n_nodes);
    assert_int_equal(weft_family_functions(e->family, e->cell, e->degree), e->n_nodes);
}

static void test_all(void **state) {
    (void)state;
    int n_elements = 0;
    for (weft_family family = 0; family < weft_family_count(false); ++family)
        for (int cell = WEFT_INTERVAL; cell < WEFT_CELL_TYPES; ++cell) {
            int least = 0, most = 0;
            if (!weft_family_degrees(family, (weft_cell_type)cell, &least, &most))
                continue;
            most = most > WEFT_ELEMENT_DEGREE_MAX ? WEFT_ELEMENT_DEGREE_MAX : most;
            for (int degree = least; degree <= most; ++degree) {
                if (is_large(family, (weft_cell_type)cell, degree))
                    continue;
                weft_element *e = make(family, (weft_cell_type)cell, degree);
                check_nodes(e);
                check_dual(e);
                weft_element_free(&e);
                ++n_elements;
            }
        }
    assert_true(n_elements > 150);
}

/* The value at x of the function whose dofs in `e` are these. */
static double value_at(const weft_element *e, const double *x, const double *dofs) {
    double *values = malloc((size_t)e->n_nodes * sizeof *values), sum = 0;
    assert_int_equal(weft_element_tabulate(e, 0, 1, x, values, NULL), WEFT_OK);
    for (int i = 0; i < e->n_nodes; ++i)
        sum += values[i] * dofs[i];
    free(values);
    return sum;
}

/* Dofs of the functions of `from` in `to` are the same functions. */
static void check_interpolation(const weft_element *from, const weft_element *to) {
    static const double x[3] = {0.21, 0.17, 0.34};
    const int n = from->n_nodes;
    double *table = malloc((size_t)n * (size_t)to->n_nodes * sizeof *table);
    double *dofs = calloc((size_t)n, sizeof *dofs),
           *there = malloc((size_t)to->n_nodes * sizeof *there);
    assert_int_equal(weft_element_interpolate(from, to, table, NULL), WEFT_OK);
    for (int j = 0; j < n; ++j) {
        for (int i = 0; i < n; ++i)
            dofs[i] = i == j;
        for (int i = 0; i < to->n_nodes; ++i)
            there[i] = table[i * n + j];
        assert_double_near(value_at(to, x, there), value_at(from, x, dofs), 0, TOLERANCE);
    }
    free(table);
    free(dofs);
    free(there);
}

static void test_interpolation(void **state) {
    (void)state;
    for (int cell = WEFT_INTERVAL; cell < WEFT_CELL_TYPES; ++cell) {
        weft_element *high = make(WEFT_LAGRANGE, (weft_cell_type)cell, 5);
        weft_element *low = make(WEFT_LAGRANGE, (weft_cell_type)cell, 1);
        weft_element *bubble = make(WEFT_BUBBLE, (weft_cell_type)cell, 4);
        weft_element *constant = make(WEFT_DISCONTINUOUS, (weft_cell_type)cell, 0);
        check_interpolation(low, high);
        check_interpolation(bubble, high);
        check_interpolation(constant, high);
        weft_element_free(&high);
        weft_element_free(&low);
        weft_element_free(&bubble);
        weft_element_free(&constant);
    }
}

/* (f(0) + 3 f(1/2)) / 4 and f(1) of f = 1, 5, 9 at 0, 1/2, 1. */
static void test_terms(void **state) {
    (void)state;
    double points[] = {0, 0.5, 1}, weights[] = {0.25, 0.75, 1};
    int first[] = {0, 2, 3}, point[] = {0, 1, 2};
    const weft_element e = {.cell = WEFT_INTERVAL,
                            .value_size = 1,
                            .n_nodes = 2,
                            .functionals = {3, points, first, point, weights}};
    const double values[] = {1, 5, 9};
    double out[2], table[4];
    weft_element_apply(&e, values, out);
    assert_double_near(out[0], 4, 0, 0);
    assert_double_near(out[1], 9, 0, 0);
    weft_element *line = make(WEFT_LAGRANGE, WEFT_INTERVAL, 1);
    assert_int_equal(weft_element_interpolate(line, &e, table, NULL), WEFT_OK);
    static const double expected[] = {0.625, 0.375, 0, 1};
    for (int i = 0; i < 4; ++i)
        assert_double_near(table[i], expected[i], 0, 1e-14);
    weft_element_free(&line);
}

static void test_names(void **state) {
    (void)state;
    weft_family family = WEFT_FAMILY_NONE;
    static const struct {
        const char *name;
        weft_family family;
    } names[] = {{"Q", WEFT_LAGRANGE},    {"DG", WEFT_DISCONTINUOUS},
                 {"Bubble", WEFT_BUBBLE}, {"Quad", WEFT_QUADRATURE},
                 {"R", WEFT_REAL},        {"Lagrange", WEFT_LAGRANGE}};
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        assert_true(weft_family_find(names[i].name, &family));
        assert_int_equal(family, names[i].family);
    }
    assert_false(weft_family_find("Nedelec", &family));
    assert_null(weft_family_about(WEFT_FAMILY_NONE));
    assert_null(weft_family_about(weft_family_count(true)));
    assert_true(weft_family_count(true) > weft_family_count(false));
    assert_string_equal(weft_family_about(WEFT_DISCONTINUOUS)->prefix, "DG");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all),
        cmocka_unit_test(test_interpolation),
        cmocka_unit_test(test_terms),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
