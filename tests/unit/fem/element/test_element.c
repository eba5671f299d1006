/* labels: quick */
/* Elements: nodes at published places, functions that are 1 at their own node and 0 at the others,
 * a sum of 1, and exact values and derivatives of polynomials of their degree.
 *
 *  Tolerances: values and derivatives of an interpolated polynomial are sums of n <= 729 terms of
 *  size 1 in a basis whose derivatives grow as degree^2 an order; 1e-11 times degree^(2 order) is
 *  1e2 above what rounding leaves. Nodes: 1e-13, from Basix 0.11 and closed forms. */
#include "fem/weft_element.h"
#include "test_support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const weft_cell_type all_cells[] = {WEFT_INTERVAL, WEFT_TRIANGLE, WEFT_TETRAHEDRON,
                                           WEFT_QUADRILATERAL, WEFT_HEXAHEDRON};
enum { N_CELLS = 5, N_POINTS = 5, ORDER = 2 };

static weft_element *make(weft_family family, weft_cell_type cell, int degree) {
    weft_element *element = NULL;
    weft_error error = {0};
    if (weft_element_make(family, cell, degree, &element, &error) != WEFT_OK)
        fail_msg("%s", error.message);
    return element;
}

static double *tabulate(const weft_element *e, int order, int n, const double *points) {
    const int d = weft_cell_of(e->cell)->dimension;
    double *values = malloc((size_t)weft_derivative_count(d, order) * (size_t)n *
                            (size_t)e->n_nodes * sizeof *values);
    assert_non_null(values);
    assert_int_equal(weft_element_tabulate(e, order, n, points, values, NULL), WEFT_OK);
    return values;
}

/* Points without symmetry in the cell; also outside it for low degrees, whose functions do not
 * grow much there. */
static void set_points(const weft_cell *cell, int degree, double points[N_POINTS * 3]) {
    const double size = degree > 3 && cell->simplex ? 1.0 / cell->dimension : 1;
    for (int i = 0; i < N_POINTS * cell->dimension; ++i) {
        const double x = fmod(0.137 + 0.618034 * (i + 1), 1.0);
        points[i] = degree > 3 ? size * x : 1.2 * x - 0.1;
    }
}

/* ---- topology -------------------------------------------------------------------------------- */

/* Entities have ascending vertices; a facet's vertices lie in a plane, with the others aside. */
static void test_cells(void **state) {
    (void)state;
    static const int euler[] = {1, 1, 1, 1, 1, 1}; /* vertices - edges + faces - volumes */
    for (int type = 0; type < WEFT_CELL_TYPES; ++type) {
        const weft_cell *cell = weft_cell_of((weft_cell_type)type);
        const int *n = cell->n_entities;
        assert_ptr_equal(weft_cell_by_name(cell->name), cell);
        assert_int_equal(n[0] - n[1] + n[2] - n[3], euler[type]);
        for (int dimension = 0; dimension <= cell->dimension; ++dimension)
            for (int i = 0; i < n[dimension]; ++i) {
                int vertices[8];
                const int count = weft_cell_entity(cell, dimension, i, vertices);
                const weft_cell *own = weft_cell_of(weft_cell_entity_type(cell, dimension));
                assert_int_equal(count, own->n_entities[0]);
                for (int k = 1; k < count; ++k)
                    assert_true(vertices[k] > vertices[k - 1]);
            }
    }
    assert_null(weft_cell_by_name("prism"));
}

static void test_derivative_numbers(void **state) {
    (void)state;
    const int xx[] = {2, 0, 0}, yz[] = {0, 1, 1}, xy[] = {1, 1}, zz[] = {0, 0, 2},
              xyz[] = {1, 1, 1};
    assert_int_equal(weft_derivative_count(3, 2), 10);
    assert_int_equal(weft_derivative_count(0, 2), 1);
    assert_int_equal(weft_derivative_index(3, xx), 4);
    assert_int_equal(weft_derivative_index(2, xy), 4);
    assert_int_equal(weft_derivative_index(3, yz), 8);
    assert_int_equal(weft_derivative_index(3, zz), 9);
    assert_int_equal(weft_derivative_index(3, xyz), 14);
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static void test_nodes(void **state) {
    (void)state;
    const double a = 0.5 - sqrt(3.0 / 28), e = 0.5 - sqrt(1.0 / 20); /* GLL of degrees 4 and 3 */
    static const double warped4 = 0.224224388215337,
                        warped5[2] = {0.157891214481411, 0.185794747253226};
    weft_element *p4 = make(WEFT_LAGRANGE, WEFT_TRIANGLE, 4);
    const double edge[] = {1 - a, a, 0.5, 0.5, a, 1 - a, 0, a};
    for (int i = 0; i < 8; ++i)
        assert_double_near(p4->points[6 + i], edge[i], 0, 1e-13);
    assert_double_near(p4->points[24], warped4, 0, 1e-13);
    assert_double_near(p4->points[26], 1 - 2 * warped4, 0, 1e-13); /* along x first */
    assert_int_equal(p4->entity_nodes[1], 3);
    assert_int_equal(weft_element_first_node(p4, 2, 0), 12);
    weft_element *p5 = make(WEFT_LAGRANGE, WEFT_TETRAHEDRON, 5);
    assert_double_near(p5->points[28 * 3 + 1], warped5[0], 0, 1e-13);
    assert_double_near(p5->points[52 * 3], warped5[1], 0, 1e-13);
    assert_int_equal(weft_element_first_node(p5, 2, 1), 34);
    weft_element *q3 = make(WEFT_LAGRANGE, WEFT_QUADRILATERAL, 3);
    const double face[] = {e, e, 1 - e, e, e, 1 - e, 1 - e, 1 - e};
    for (int i = 0; i < 8; ++i)
        assert_double_near(q3->points[24 + i], face[i], 0, 1e-13);
    assert_int_equal(q3->lattice[13 * 2], 3);
    assert_int_equal(q3->lattice[13 * 2 + 1], 2);
    weft_element *p0 = make(WEFT_DISCONTINUOUS, WEFT_TETRAHEDRON, 0);
    assert_int_equal(p0->n_nodes, 1);
    assert_double_near(p0->points[2], 0.25, 0, 1e-15);
    weft_element_free(&p0);
    weft_element_free(&q3);
    weft_element_free(&p5);
    weft_element_free(&p4);
    assert_null(p4);
}

/* The nodes of a facet's closure are those of the facet's own element, mapped into the cell. */
static void check_closures(const weft_element *e) {
    const weft_cell *cell = weft_cell_of(e->cell);
    for (int dimension = 1; dimension <= cell->dimension; ++dimension)
        for (int entity = 0; entity < cell->n_entities[dimension]; ++entity) {
            static const int corner[2][3] = {{1, 2, 3}, {1, 2, 4}};
            int vertices[8], nodes[1000];
            weft_element *own =
                make(WEFT_LAGRANGE, weft_cell_entity_type(cell, dimension), e->degree);
            const int *axes = corner[!weft_cell_of(own->cell)->simplex];
            weft_cell_entity(cell, dimension, entity, vertices);
            assert_int_equal(weft_element_entity_closure(e, dimension, entity, nodes),
                             own->n_nodes);
            for (int i = 0; i < own->n_nodes; ++i)
                for (int k = 0; k < cell->dimension; ++k) {
                    const double start = cell->vertices[vertices[0]][k];
                    double x = start;
                    for (int axis = 0; axis < dimension; ++axis)
                        x += own->points[i * dimension + axis] *
                             (cell->vertices[vertices[axes[axis]]][k] - start);
                    assert_double_near(e->points[nodes[i] * cell->dimension + k], x, 0, 1e-13);
                }
            weft_element_free(&own);
        }
}

/* ---- functions ------------------------------------------------------------------------------- */

static void check_delta(const weft_element *e) {
    const int n = e->n_nodes;
    double *values = tabulate(e, 0, n, e->points);
    for (int q = 0; q < n; ++q)
        for (int i = 0; i < n; ++i)
            if (fabs(values[q * n + i] - (q == i)) > 1e-11)
                fail_msg("%s, degree %d: function %d at node %d is %g", weft_cell_of(e->cell)->name,
                         e->degree, i, q, values[q * n + i]);
    free(values);
}

/* (c . x + c0)^degree on simplices, the product of such powers of each coordinate otherwise; its
 * derivative of the given powers. */
static double polynomial(const weft_cell *cell, int degree, const double *x, const int *powers) {
    static const double slope[3] = {0.7, -0.4, 0.55};
    double result = 1, sum = 0.3;
    int order = 0;
    for (int k = 0; k < cell->dimension; ++k) {
        sum += slope[k] * x[k];
        order += powers[k];
    }
    for (int k = 0; k < cell->dimension; ++k) {
        const int own = cell->simplex ? order : powers[k];
        const double base = cell->simplex ? sum : 0.3 + slope[k] * x[k];
        result *= pow(slope[k], powers[k]);
        if (cell->simplex && k > 0)
            continue;
        for (int i = 0; i < own; ++i)
            result *= degree - i;
        result *= own > degree ? 0 : pow(base, degree - own);
    }
    return result;
}

static void check_derivative(const weft_element *e, const double *points, const double *values,
                             const int *powers) {
    const weft_cell *cell = weft_cell_of(e->cell);
    const int d = cell->dimension, n = e->n_nodes, zero[3] = {0};
    const int order = powers[0] + (d > 1 ? powers[1] : 0) + (d > 2 ? powers[2] : 0);
    const double tolerance = 1e-11 * pow(e->degree + 1, 2 * order);
    for (int q = 0; q < N_POINTS; ++q) {
        const double *row =
            values + (size_t)((weft_derivative_index(d, powers) * N_POINTS + q) * n);
        double sum = 0, one = 0;
        for (int i = 0; i < n; ++i) {
            one += row[i];
            sum += row[i] * polynomial(cell, e->degree, e->points + i * d, zero);
        }
        assert_double_near(one, order == 0, 0, tolerance);
        assert_double_near(sum, polynomial(cell, e->degree, points + q * d, powers), 0, tolerance);
    }
}

static void check_polynomials(const weft_element *e) {
    const int d = weft_cell_of(e->cell)->dimension;
    double points[N_POINTS * 3];
    set_points(weft_cell_of(e->cell), e->degree, points);
    double *values = tabulate(e, ORDER, N_POINTS, points);
    for (int p = 0; p <= ORDER; ++p)
        for (int q = 0; q <= (d > 1 ? ORDER - p : 0); ++q)
            for (int r = 0; r <= (d > 2 ? ORDER - p - q : 0); ++r) {
                const int powers[3] = {p, q, r};
                check_derivative(e, points, values, powers);
            }
    free(values);
}

static void test_lagrange(void **state) {
    (void)state;
    for (int c = 0; c < N_CELLS; ++c)
        for (int degree = 0; degree <= 8; ++degree) {
            weft_element *broken = make(WEFT_DISCONTINUOUS, all_cells[c], degree);
            const int d = weft_cell_of(broken->cell)->dimension;
            if (degree == 0) {
                check_polynomials(broken);
            } else {
                weft_element *e = make(WEFT_LAGRANGE, all_cells[c], degree);
                assert_int_equal(e->n_nodes, broken->n_nodes);
                assert_memory_equal(e->points, broken->points,
                                    (size_t)(e->n_nodes * d) * sizeof *e->points);
                check_delta(e);
                check_polynomials(e);
                if (degree < 6)
                    check_closures(e);
                weft_element_free(&e);
            }
            assert_int_equal(broken->entity_nodes[d], broken->n_nodes);
            weft_element_free(&broken);
        }
}

/* Bubbles vanish on the boundary and are 1 at their node; 27 x y (1 - x - y) on the triangle. */
static void test_bubble(void **state) {
    (void)state;
    for (int c = 0; c < N_CELLS; ++c) {
        const weft_cell *cell = weft_cell_of(all_cells[c]);
        const int least = cell->simplex ? cell->dimension + 1 : 2;
        for (int degree = least; degree < least + 3; ++degree) {
            weft_element *bubble = make(WEFT_BUBBLE, all_cells[c], degree);
            weft_element *lagrange = make(WEFT_LAGRANGE, all_cells[c], degree);
            const int inside = weft_element_first_node(lagrange, cell->dimension, 0);
            double *values = tabulate(bubble, 0, inside, lagrange->points);
            assert_int_equal(bubble->n_nodes, lagrange->n_nodes - inside);
            for (int i = 0; i < inside * bubble->n_nodes; ++i)
                assert_double_near(values[i], 0, 0, 1e-12);
            check_delta(bubble);
            free(values);
            weft_element_free(&lagrange);
            weft_element_free(&bubble);
        }
    }
    const double x = 0.2, y = 0.3, point[2] = {x, y};
    weft_element *bubble = make(WEFT_BUBBLE, WEFT_TRIANGLE, 3);
    double *values = tabulate(bubble, 1, 1, point);
    assert_double_near(values[0], 27 * x * y * (1 - x - y), 1e-13, 0);
    assert_double_near(values[1], 27 * y * (1 - 2 * x - y), 1e-12, 1e-12);
    free(values);
    weft_element_free(&bubble);
}

static void test_quadrature_and_real(void **state) {
    (void)state;
    weft_element *e = make(WEFT_QUADRATURE, WEFT_TRIANGLE, 2);
    weft_error error = {0};
    double *values = tabulate(e, 0, e->n_nodes, e->points), other[2] = {0.1, 0.1}, one[3];
    assert_int_equal(e->n_nodes, 3);
    for (int i = 0; i < 9; ++i)
        assert_double_near(values[i], i % 4 == 0, 0, 0);
    assert_int_equal(weft_element_tabulate(e, 0, 1, other, one, &error), WEFT_ERROR_USAGE);
    assert_string_equal(error.message, "a quadrature element of degree 2 has values at its 3 "
                                       "points alone, and no derivatives");
    free(values);
    weft_element_free(&e);
    e = make(WEFT_REAL, WEFT_QUADRILATERAL, 0);
    assert_int_equal(weft_element_tabulate(e, 1, 1, other, one, NULL), WEFT_OK);
    assert_true(one[0] == 1 && one[1] == 0 && one[2] == 0);
    weft_element_free(&e);
}

static void test_errors(void **state) {
    (void)state;
    weft_error error = {0};
    weft_element *e = NULL;
    double value[4];
    assert_int_equal(weft_element_make(WEFT_LAGRANGE, WEFT_TRIANGLE, 0, &e, &error),
                     WEFT_ERROR_UNSUPPORTED);
    assert_string_equal(error.message, "there is no Lagrange element of degree 0 on a triangle");
    assert_string_equal(error.hint, "its degrees go from 1 to 12; the constant one is "
                                    "discontinuous Lagrange");
    assert_int_equal(weft_element_make(WEFT_BUBBLE, WEFT_TETRAHEDRON, 3, &e, &error),
                     WEFT_ERROR_UNSUPPORTED);
    assert_string_equal(error.message, "there is no bubble element of degree 3 on a tetrahedron");
    assert_int_equal(weft_element_make(WEFT_DISCONTINUOUS, WEFT_HEXAHEDRON, 13, &e, &error),
                     WEFT_ERROR_UNSUPPORTED);
    assert_null(e);
    e = make(WEFT_LAGRANGE, WEFT_INTERVAL, 1);
    assert_int_equal(weft_element_tabulate(e, 9, 1, value, value, &error), WEFT_ERROR_USAGE);
    assert_string_equal(error.message, "derivatives of elements have orders from 0 to 8, not 9");
    weft_element_free(&e);
    weft_element_free(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cells),  cmocka_unit_test(test_derivative_numbers),
        cmocka_unit_test(test_nodes),  cmocka_unit_test(test_lagrange),
        cmocka_unit_test(test_bubble), cmocka_unit_test(test_quadrature_and_real),
        cmocka_unit_test(test_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
