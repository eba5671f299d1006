/* labels: quick */
/* Spaces of degree 1 to 8 on built-in meshes and on the same meshes with shuffled nodes and reoriented
 * cells: each node is at one place for all of its cells, no two nodes are at the same place, and
 * there are as many as the refined lattice has, (k n + 1)^d. That fails if a swapped edge or a
 * reoriented face gives a node to the wrong cell.
 * Tolerance: places are sums of at most 8 products of numbers up to 1: 1e-13. */
#include "fem/weft_fem.h"
#include "fusion/weft_program.h"
#include "shuffled_mesh.h"
#include "test_support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const meshes[] = {"square:3", "cube:2", "interval:5", "quads:3", "hexes:2"};
enum { N_MESHES = 5 };

static weft_space *make_space(weft_device *device, const weft_mesh *mesh, weft_family family,
                              int degree, int components) {
    weft_space *space = NULL;
    weft_error error = {0};
    if (weft_space_make(device, mesh, (weft_element_kind){family, degree}, components, &space,
                        &error) != WEFT_OK)
        fail_msg("%s", error.message);
    return space;
}

/* The place of a reference point in a cell with these vertices. */
static void map_point(const weft_mesh *mesh, const int32_t *vertices, const double *point,
                      double out[3]) {
    const weft_cell *cell = weft_mesh_cell(mesh);
    const int d = cell->dimension;
    for (int axis = 0; axis < d; ++axis) {
        out[axis] = 0;
        for (int v = 0; v < cell->n_entities[0]; ++v) {
            double shape = 1;
            for (int a = 0; a < d && !cell->simplex; ++a)
                shape *= v >> a & 1 ? point[a] : 1 - point[a];
            for (int a = 0; a < d && cell->simplex && v == 0; ++a)
                shape -= point[a];
            if (cell->simplex && v > 0)
                shape = point[v - 1];
            out[axis] += shape * mesh->x[(int64_t)vertices[v] * d + axis];
        }
    }
}

static int power(int base, int exponent) {
    return exponent == 0 ? 1 : base * power(base, exponent - 1);
}

static int compare_points(const void *a, const void *b) {
    const double *p = a, *q = b;
    for (int axis = 0; axis < 3; ++axis)
        if (p[axis] != q[axis])
            return p[axis] < q[axis] ? -1 : 1;
    return 0;
}

/* Places rounded to multiples of 1e-9: all differ. */
static void check_distinct(int d, int64_t n, const double *x) {
    double(*points)[3] = calloc((size_t)n, sizeof *points);
    assert_non_null(points);
    for (int64_t i = 0; i < n; ++i)
        for (int axis = 0; axis < d; ++axis)
            points[i][axis] = round(x[i * d + axis] * 1e9);
    qsort(points, (size_t)n, sizeof *points, compare_points);
    for (int64_t i = 1; i < n; ++i)
        assert_true(compare_points(points[i - 1], points[i]) != 0);
    free(points);
}

static void check_places(const weft_space *space) {
    const weft_mesh *mesh = weft_space_mesh(space);
    const weft_element *e = weft_space_element(space);
    const int d = mesh->dimension, v = weft_mesh_cell(mesh)->n_entities[0];
    for (int64_t c = 0; c < mesh->n_cells; ++c)
        for (int i = 0; i < e->n_nodes; ++i) {
            const int32_t node = weft_space_cell_nodes(space)[c * e->n_nodes + i];
            double x[3];
            map_point(mesh, mesh->cells + c * v, e->points + i * d, x);
            for (int axis = 0; axis < d; ++axis)
                assert_double_near(weft_space_points(space)[(int64_t)node * d + axis], x[axis], 0,
                                   1e-13);
        }
}

/* Nodes of the whole boundary: those with a coordinate 0 or 1. */
static void check_boundary(const weft_space *space) {
    const int d = weft_space_mesh(space)->dimension;
    const double *x = weft_space_points(space);
    int32_t *nodes = NULL;
    int64_t n = 0, expected = 0;
    assert_int_equal(weft_space_group_nodes(space, -1, &nodes, &n, NULL), WEFT_OK);
    for (int64_t i = 0, k = 0; i < weft_space_nodes(space); ++i) {
        bool on_boundary = false;
        for (int axis = 0; axis < d; ++axis)
            on_boundary |= x[i * d + axis] < 1e-9 || x[i * d + axis] > 1 - 1e-9;
        expected += on_boundary;
        if (on_boundary)
            assert_int_equal(nodes[k++], i);
    }
    assert_int_equal(n, expected);
    free(nodes);
}

/* The nodes of facets are at the points of the facet's element, with the vertices of the mesh. */
static void check_facets(const weft_space *space) {
    const weft_mesh *mesh = weft_space_mesh(space);
    const weft_cell *facet = weft_cell_of(weft_mesh_cell(mesh)->facet);
    const int d = mesh->dimension, w = facet->n_entities[0];
    weft_space_facets facets = {0};
    weft_element *own = NULL, *linear = NULL;
    assert_int_equal(weft_space_facets_make(space, -1, &facets, NULL), WEFT_OK);
    assert_int_equal(weft_element_make(WEFT_LAGRANGE, facet->type,
                                       weft_space_element(space)->degree, &own, NULL),
                     WEFT_OK);
    assert_int_equal(weft_element_make(WEFT_LAGRANGE, facet->type, 1, &linear, NULL), WEFT_OK);
    assert_int_equal(facets.n, mesh->n_boundary_facets);
    assert_int_equal(facets.width, own->n_nodes);
    double *shape = malloc((size_t)(own->n_nodes * w) * sizeof *shape);
    assert_int_equal(weft_element_tabulate(linear, 0, own->n_nodes, own->points, shape, NULL),
                     WEFT_OK);
    for (int64_t f = 0; f < facets.n; ++f)
        for (int i = 0; i < own->n_nodes; ++i)
            for (int axis = 0; axis < d; ++axis) {
                double x = 0;
                for (int v = 0; v < w; ++v)
                    x += shape[i * w + v] * mesh->x[(int64_t)mesh->facets[f * w + v] * d + axis];
                const int32_t node = facets.nodes[f * own->n_nodes + i];
                assert_double_near(weft_space_points(space)[(int64_t)node * d + axis], x, 0, 1e-13);
            }
    free(shape);
    weft_element_free(&own);
    weft_element_free(&linear);
    weft_space_facets_free(&facets);
}

static void check_degree(weft_device *device, const weft_mesh *mesh, int side, int degree) {
    weft_space *space = make_space(device, mesh, WEFT_LAGRANGE, degree, 1);
    const int d = mesh->dimension;
    assert_int_equal(weft_space_nodes(space), power(degree * side + 1, d));
    check_places(space);
    check_distinct(d, weft_space_nodes(space), weft_space_points(space));
    check_boundary(space);
    check_facets(space);
    weft_space_free(&space);
}

static void test_lagrange(void **state) {
    (void)state;
    weft_device *device = NULL;
    assert_int_equal(weft_device_open("host:2", NULL, &device, NULL), WEFT_OK);
    for (int m = 0; m < N_MESHES; ++m) {
        const int side = atoi(strchr(meshes[m], ':') + 1);
        weft_mesh *mesh = built_in_mesh(meshes[m]), *shuffled = shuffled_mesh(mesh);
        for (int degree = 1; degree <= 8; ++degree) {
            check_degree(device, mesh, side, degree);
            check_degree(device, shuffled, side, degree);
        }
        weft_mesh_free(&mesh);
        weft_mesh_free(&shuffled);
    }
    weft_device_free(&device);
}

/* ---- discontinuous elements, Real, components ------------------------------------------------ */

static void test_discontinuous(void **state) {
    (void)state;
    weft_device *device = NULL;
    assert_int_equal(weft_device_open("host:2", NULL, &device, NULL), WEFT_OK);
    for (int m = 0; m < N_MESHES; ++m) {
        weft_mesh *mesh = built_in_mesh(meshes[m]);
        for (int degree = 0; degree <= 3; ++degree) {
            weft_space *space = make_space(device, mesh, WEFT_DISCONTINUOUS, degree, 2);
            assert_int_equal(weft_space_nodes(space),
                             mesh->n_cells * weft_space_element(space)->n_nodes);
            assert_int_equal(weft_space_dofs(space), 2 * weft_space_nodes(space));
            check_places(space);
            if (degree > 0)
                check_facets(space);
            weft_space_free(&space);
        }
        weft_space *constant = make_space(device, mesh, WEFT_REAL, 0, 1);
        assert_int_equal(weft_space_nodes(constant), 1);
        assert_int_equal(weft_space_cell_nodes(constant)[mesh->n_cells - 1], 0);
        weft_space_free(&constant);
        weft_mesh_free(&mesh);
    }
    weft_device_free(&device);
}

/* ---- sides of facets ------------------------------------------------------------------------- */

/* The reoriented cell's nodes are at the element's points for the reoriented vertices, those of the P1 space;
 * the base has the same nodes on both sides, on a continuous element, and the same places on a
 * discontinuous one. */
static void check_sides(weft_device *device, const weft_mesh *mesh, weft_family family,
                        int degree) {
    const weft_cell *cell = weft_mesh_cell(mesh);
    const int d = mesh->dimension, v = cell->n_entities[0];
    weft_space *space = make_space(device, mesh, family, degree, 1);
    weft_space *vertices = make_space(device, mesh, WEFT_LAGRANGE, 1, 1);
    const weft_element *e = weft_space_element(space);
    weft_space_sides sides = {0}, corners = {0};
    int closure[200];
    const int n_closure = weft_element_entity_closure(e, d - 1, cell->base, closure);
    for (int exterior = 0; exterior < 2; ++exterior) {
        if (exterior) {
            assert_int_equal(weft_space_exterior_make(space, -1, &sides, NULL), WEFT_OK);
            assert_int_equal(weft_space_exterior_make(vertices, -1, &corners, NULL), WEFT_OK);
            assert_int_equal(sides.n, mesh->n_boundary_facets);
        } else {
            assert_int_equal(weft_space_interior_make(space, -1, &sides, NULL), WEFT_OK);
            assert_int_equal(weft_space_interior_make(vertices, -1, &corners, NULL), WEFT_OK);
            assert_int_equal(2 * sides.n + mesh->n_boundary_facets,
                             mesh->n_cells * cell->n_entities[d - 1]);
        }
        for (int64_t i = 0; i < sides.n * sides.n_sides; ++i)
            for (int k = 0; k < e->n_nodes; ++k) {
                double x[3];
                const int32_t node = sides.nodes[i * e->n_nodes + k];
                map_point(mesh, corners.nodes + i * v, e->points + k * d, x);
                for (int axis = 0; axis < d; ++axis)
                    assert_double_near(weft_space_points(space)[(int64_t)node * d + axis], x[axis],
                                       0, 1e-13);
                if (family == WEFT_DISCONTINUOUS)
                    assert_int_equal(node / e->n_nodes, sides.cells[i]);
            }
        for (int64_t f = 0; f < sides.n && sides.n_sides == 2; ++f)
            for (int k = 0; k < n_closure; ++k) {
                const int32_t *row = sides.nodes + f * 2 * e->n_nodes + closure[k];
                const double *x = weft_space_points(space);
                assert_int_equal(row[0] == row[e->n_nodes], family == WEFT_LAGRANGE);
                for (int axis = 0; axis < d; ++axis)
                    assert_double_near(x[(int64_t)row[0] * d + axis],
                                       x[(int64_t)row[e->n_nodes] * d + axis], 0, 1e-13);
            }
        weft_space_sides_free(&sides);
        weft_space_sides_free(&corners);
    }
    weft_space_free(&space);
    weft_space_free(&vertices);
}

static void test_sides(void **state) {
    (void)state;
    weft_device *device = NULL;
    assert_int_equal(weft_device_open("host:2", NULL, &device, NULL), WEFT_OK);
    for (int m = 0; m < N_MESHES; ++m) {
        weft_mesh *mesh = built_in_mesh(meshes[m]), *shuffled = shuffled_mesh(mesh);
        for (int degree = 1; degree <= 4; ++degree) {
            check_sides(device, mesh, WEFT_LAGRANGE, degree);
            check_sides(device, shuffled, WEFT_LAGRANGE, degree);
            check_sides(device, shuffled, WEFT_DISCONTINUOUS, degree);
        }
        weft_mesh_free(&mesh);
        weft_mesh_free(&shuffled);
    }
    weft_device_free(&device);
}

/* A group of cells has the rows of its cells. */
static void test_group_cells(void **state) {
    (void)state;
    static const double x[] = {0, 1, 2, 3};
    static const int32_t cells[] = {0, 1, 1, 2, 2, 3}, listed[] = {2, 0};
    weft_device *device = NULL;
    weft_mesh *mesh = NULL;
    weft_space_sides group = {0};
    weft_mesh_data data = {.dimension = 1,
                           .cell = WEFT_INTERVAL,
                           .n_nodes = 4,
                           .n_cells = 3,
                           .n_groups = 1,
                           .n_group_cells = 2};
    data.x = weft_array_make(4, sizeof *data.x);
    data.cells = weft_array_make(6, sizeof *data.cells);
    data.groups = weft_array_make(1, sizeof *data.groups);
    data.group_cells = weft_array_make(2, sizeof *data.group_cells);
    memcpy(data.x, x, sizeof x);
    memcpy(data.cells, cells, sizeof cells);
    memcpy(data.group_cells, listed, sizeof listed);
    *data.groups = (weft_group){.name = "ends", .dimension = 1, .n_cells = 2};
    assert_int_equal(weft_mesh_make(&data, "line", NULL, &mesh, NULL), WEFT_OK);
    assert_int_equal(weft_device_open("host:1", NULL, &device, NULL), WEFT_OK);
    weft_space *space = make_space(device, mesh, WEFT_LAGRANGE, 2, 1);
    assert_int_equal(weft_space_group_cells_make(space, 0, &group, NULL), WEFT_OK);
    assert_int_equal(group.n, 2);
    assert_int_equal(group.width, 3);
    assert_int_equal(group.cells[1], 2);
    assert_memory_equal(group.nodes, weft_space_cell_nodes(space), 3 * sizeof *group.nodes);
    assert_memory_equal(group.nodes + 3, weft_space_cell_nodes(space) + 6, 3 * sizeof *group.nodes);
    assert_int_equal(weft_connectivity_from(group.dofs), 2);
    assert_int_equal(weft_connectivity_to(group.to_cells), 3);
    weft_space_sides_free(&group);
    weft_space_free(&space);
    weft_mesh_free(&mesh);
    weft_device_free(&device);
}

/* The nodes of a group of points are at these points in elements of every degree; constants have none. */
static void test_group_points(void **state) {
    (void)state;
    weft_device *device = NULL;
    weft_mesh *square = NULL, *mesh = NULL;
    assert_int_equal(weft_mesh_make_square(3, &square, NULL), WEFT_OK);
    weft_mesh_data data = {.dimension = 2,
                           .n_nodes = square->n_nodes,
                           .n_cells = square->n_cells,
                           .n_groups = 1,
                           .x = square->x,
                           .cells = square->cells};
    const double wanted[2][2] = {{square->x[10], square->x[11]}, {square->x[22], square->x[23]}};
    square->x = NULL;
    square->cells = NULL;
    data.groups = weft_array_make(1, sizeof *data.groups);
    data.points.nodes = weft_array_make(2, sizeof *data.points.nodes);
    data.points.n_nodes = 2;
    data.points.nodes[0] = 5;
    data.points.nodes[1] = 11;
    *data.groups = (weft_group){.name = "points", .n_points = 2};
    assert_int_equal(weft_mesh_make(&data, "points", NULL, &mesh, NULL), WEFT_OK);
    assert_int_equal(weft_device_open("host:1", NULL, &device, NULL), WEFT_OK);
    for (int degree = 0; degree <= 4; ++degree) {
        weft_space *space =
            make_space(device, mesh, degree ? WEFT_LAGRANGE : WEFT_DISCONTINUOUS, degree, 1);
        int32_t *nodes = NULL;
        int64_t n = 0;
        assert_int_equal(weft_space_group_nodes(space, 0, &nodes, &n, NULL), WEFT_OK);
        assert_int_equal(n, degree ? 2 : 0);
        for (int64_t i = 0; i < n; ++i) {
            const double *x = weft_space_points(space) + 2 * nodes[i];
            const int k = fabs(x[0] - wanted[0][0]) + fabs(x[1] - wanted[0][1]) > 1e-9;
            assert_double_near(x[0], wanted[k][0], 0, 1e-12);
            assert_double_near(x[1], wanted[k][1], 0, 1e-12);
        }
        free(nodes);
        weft_space_free(&space);
    }
    weft_mesh_free(&square);
    weft_mesh_free(&mesh);
    weft_device_free(&device);
}

/* Formulas are evaluated at the nodes of any degree, in one to three dimensions. */
static void test_formulas(void **state) {
    (void)state;
    static const struct {
        const char *mesh, *formula;
        int degree;
    } cases[] = {{"interval:5", "2*x + 1", 4},
                 {"quads:3", "2*x + 1 + y", 3},
                 {"hexes:2", "2*x + 1 + y + 3*z", 2}};
    weft_device *device = NULL;
    weft_library *library = NULL;
    assert_int_equal(weft_device_open("host:2", NULL, &device, NULL), WEFT_OK);
    assert_int_equal(weft_fem_library_make(&library, NULL), WEFT_OK);
    weft_context context = {.device = device, .library = library, .plan = WEFT_PLAN_FUSED};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        weft_mesh *mesh = built_in_mesh(cases[i].mesh);
        weft_space *space = make_space(device, mesh, WEFT_LAGRANGE, cases[i].degree, 1);
        weft_error error = {0};
        weft_memory *memory = NULL;
        double *values = NULL;
        const int d = mesh->dimension;
        assert_int_equal(
            weft_vector_make(device, weft_space_nodes(space), &values, &memory, &error), WEFT_OK);
        if (weft_space_evaluate(&context, space, cases[i].formula, "u", memory, values, &error) !=
            WEFT_OK)
            fail_msg("%s: %s", cases[i].mesh, error.message);
        for (int64_t n = 0; n < weft_space_nodes(space); ++n) {
            const double *x = weft_space_points(space) + n * d;
            const double exact = 2 * x[0] + 1 + (d > 1 ? x[1] : 0) + (d > 2 ? 3 * x[2] : 0);
            assert_double_near(values[n], exact, 1e-14, 0);
        }
        weft_memory_free(&memory);
        free(values);
        weft_space_free(&space);
        weft_mesh_free(&mesh);
    }
    weft_library_free(&library);
    weft_device_free(&device);
}

/* Taylor-Hood: the dofs of a cell are those of the velocity, node by node, then the pressure's. */
static void test_mixed(void **state) {
    (void)state;
    weft_device *device = NULL;
    weft_error error = {0};
    weft_entity_dofs mixed = {0};
    assert_int_equal(weft_device_open("host:2", NULL, &device, NULL), WEFT_OK);
    weft_mesh *mesh = built_in_mesh("cube:1"), *other = built_in_mesh("cube:1");
    weft_space *parts[2] = {make_space(device, mesh, WEFT_LAGRANGE, 2, 3),
                            make_space(device, mesh, WEFT_LAGRANGE, 1, 1)};
    assert_int_equal(weft_entity_dofs_make((const weft_space *const *)parts, 2, true,
                                           WEFT_ENTITIES_CELLS, -1, &mixed, &error),
                     WEFT_OK);
    assert_int_equal(weft_connectivity_width(mixed.connectivity), 34);
    assert_int_equal(weft_connectivity_to(mixed.connectivity), 27 * 3 + 8);
    for (int i = 0; i < 34; ++i) {
        const int32_t *nodes = i < 30 ? weft_space_cell_nodes(parts[0]) + 10 + i / 3
                                      : weft_space_cell_nodes(parts[1]) + 4 + i - 30;
        assert_int_equal(mixed.indices[34 + i], i < 30 ? *nodes * 3 + i % 3 : 81 + *nodes);
    }
    weft_entity_dofs_free(&mixed);
    weft_space_free(&parts[1]);
    parts[1] = make_space(device, other, WEFT_LAGRANGE, 1, 1);
    assert_int_equal(weft_entity_dofs_make((const weft_space *const *)parts, 2, true,
                                           WEFT_ENTITIES_CELLS, -1, &mixed, &error),
                     WEFT_ERROR_USAGE);
    assert_string_equal(error.message, "part 2 of a mixed space is on another mesh");
    weft_entity_dofs_free(&mixed);
    weft_space_free(&parts[0]);
    weft_space_free(&parts[1]);
    weft_mesh_free(&mesh);
    weft_mesh_free(&other);
    weft_device_free(&device);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lagrange),     cmocka_unit_test(test_discontinuous),
        cmocka_unit_test(test_sides),        cmocka_unit_test(test_group_cells),
        cmocka_unit_test(test_formulas),     cmocka_unit_test(test_mixed),
        cmocka_unit_test(test_group_points),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
