/* labels: full */
/* Actions by sum factorisation against sums point by point over the functions of whole cells, with integrands
 * written by hand: on the host, and as CUDA text that is run thread by thread. */
#include "test_support.h"

#include "cell_action_support.h"
#include "emulated_gpu.h"

/* Sums of some thousand products of numbers about 1, in another order. */
#define RELATIVE 1e-11

/* degree of a discontinuous element of degree 0 */
#define CELLWISE 100

typedef struct action_case {
    const char *name, *text; /* text: behind the definitions of cell and mesh */
    int degree, components, points_degree;
    int other_degree, other_components; /* of the coefficient w; 0: none */
    cell_integrand *integrand;
    int second_degree, second_components; /* of the other part of a mixed element; 0: none */
} action_case;

static void mixed_terms(const double *x, const double *u, double (*du)[3], const double *w,
                        double (*dw)[3], double *f0, double (*f1)[3]) {
    const double k = 1 + w[0] * w[0];
    (void)dw;
    f0[0] = 2.5 * u[0] * x[1] + 0.5 * du[0][0] - 1.5 * du[0][1];
    for (int m = 0; m < 3; ++m)
        f1[0][m] = k * du[0][m];
}
static void elasticity(const double *x, const double *u, double (*du)[3], const double *w,
                       double (*dw)[3], double *f0, double (*f1)[3]) {
    (void)x, (void)u, (void)w, (void)dw, (void)f0;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            f1[i][j] = du[i][j] + du[j][i] + (i == j ? 0.7 * (du[0][0] + du[1][1] + du[2][2]) : 0);
}
static void residual(const double *x, const double *u, double (*du)[3], const double *w,
                     double (*dw)[3], double *f0, double (*f1)[3]) {
    const double square = dw[0][0] * dw[0][0] + dw[0][1] * dw[0][1] + dw[0][2] * dw[0][2];
    (void)u, (void)du;
    f0[0] = -exp(w[0]) * x[0];
    for (int m = 0; m < 3; ++m)
        f1[0][m] = sqrt(1 + square) * dw[0][m];
}
static void exchange(const double *x, const double *u, double (*du)[3], const double *w,
                     double (*dw)[3], double *f0, double (*f1)[3]) {
    (void)x, (void)du, (void)dw, (void)f1;
    f0[0] = exp(w[0]) * u[1];
    f0[1] = exp(w[0]) * u[0];
}
/* Two equations of different degrees, with a coefficient in the same mixed space. */
static void reaction(const double *x, const double *u, double (*du)[3], const double *w,
                     double (*dw)[3], double *f0, double (*f1)[3]) {
    (void)x;
    f0[0] = w[1] * u[0];
    f0[1] = u[1] + dw[0][0] * u[0];
    for (int m = 0; m < 3; ++m)
        f1[1][m] = (1 + w[0] * w[0]) * du[1][m];
}

#define LAPLACE "a = dot(grad(u), grad(v))*dx"
#define VECTOR(p)                                                                                  \
    "V = FunctionSpace(mesh, VectorElement('Q', cell, " #p "))\nu = TrialFunction(V)\nv = "        \
    "TestFunction(V)\n"
#define SPACE(p)                                                                                   \
    "V = FunctionSpace(mesh, FiniteElement('Q', cell, " #p "))\nu = TrialFunction(V)\nv = "        \
    "TestFunction(V)\n"
#define CONSTANT(kind)                                                                             \
    "V = FunctionSpace(mesh, " kind "Element('DG', cell, 0))\nu = TrialFunction(V)\nv = "          \
    "TestFunction(V)\n"
#define MIXED(first, second)                                                                       \
    "V = FunctionSpace(mesh, MixedElement(" first ", " second "))\nu, p = TrialFunctions(V)\n"     \
    "v, q = TestFunctions(V)\n"
static const action_case cases[] = {
    {"mass_0", CONSTANT("Finite") "a = u*v*dx(degree=7)\n", CELLWISE, 1, 7, 0, 0, mass, 0, 0},
    {"reaction_0",
     CONSTANT("Vector") "w = Coefficient(FunctionSpace(mesh, FiniteElement('Q', cell, 2)))\n"
                        "a = exp(w)*(u[0]*v[1] + u[1]*v[0])*dx(degree=7)\n",
     CELLWISE, 0, 7, 2, 1, exchange, 0, 0},
    {"mass_2", SPACE(2) "a = u*v*dx(degree=7)\n", 2, 1, 7, 0, 0, mass, 0, 0},
    {"mass_3", SPACE(3) "a = u*v*dx(degree=9)\n", 3, 1, 9, 0, 0, mass, 0, 0},
    {"laplace_1", SPACE(1) LAPLACE "(degree=5)\n", 1, 1, 5, 0, 0, laplace, 0, 0},
    {"laplace_2", SPACE(2) LAPLACE "(degree=7)\n", 2, 1, 7, 0, 0, laplace, 0, 0},
    {"laplace_4", SPACE(4) LAPLACE "(degree=11)\n", 4, 1, 11, 0, 0, laplace, 0, 0},
    {"mixed_terms",
     SPACE(3) "w = Coefficient(FunctionSpace(mesh, FiniteElement('Q', cell, 1)))\nc = "
              "Constant(mesh)\nb = VectorConstant(mesh)\n"
              "d = Coefficient(FunctionSpace(mesh, FiniteElement('DG', cell, 0)))\n"
              "x = SpatialCoordinate(mesh)\n"
              "a = (1 + w**2)*dot(grad(u), grad(v))*dx(degree=9) + (c*u*x[1] + d*dot(b, "
              "grad(u)))*v*dx(degree=9)\n",
     3, 1, 9, 1, 1, mixed_terms, 0, 0},
    {"elasticity",
     VECTOR(2) "eps = lambda w: sym(grad(w))\na = (2*inner(eps(u), eps(v)) + "
               "0.7*div(u)*div(v))*dx(degree=7)\n",
     2, 0, 7, 0, 0, elasticity, 0, 0},
    {"residual",
     SPACE(2) "w = Coefficient(V)\nx = SpatialCoordinate(mesh)\n"
              "L = sqrt(1 + dot(grad(w), grad(w)))*dot(grad(w), grad(v))*dx(degree=6) - "
              "exp(w)*x[0]*v*dx(degree=6)\n",
     2, 1, 6, 2, 1, residual, 0, 0},
    {"stokes",
     MIXED("VectorElement('Q', cell, 2)",
           "FiniteElement('Q', cell, 1)") "a = (inner(grad(u), grad(v)) - p*div(v) - "
                                          "q*div(u))*dx(degree=6)\n",
     2, 0, 6, 0, 0, NULL, 1, 1},
    {"reaction",
     MIXED("FiniteElement('Q', cell, 1)",
           "FiniteElement('Q', cell, 3)") "w, r = split(Coefficient(V))\na = (r*u*v + (p + "
                                          "grad(w)[0]*u)*q + (1 + w**2)*dot(grad(p), "
                                          "grad(q)))*dx(degree=8)\n",
     1, 1, 8, -1, 0, reaction, 3, 1},
    {"cellwise",
     MIXED("VectorElement('Q', cell, 2)",
           "FiniteElement('DG', cell, 0)") "a = (inner(grad(u), grad(v)) - p*div(v) - "
                                           "q*div(u))*dx(degree=6)\n",
     2, 0, 6, 0, 0, NULL, CELLWISE, 1},
};

static weft_memory *constant_memory(weft_device *device, const double *values, int n,
                                    int64_t repeat) {
    weft_memory *memory = NULL;
    weft_error error;
    assert_int_equal(
        weft_memory_make(device, (size_t)(n * repeat) * sizeof *values, &memory, &error), WEFT_OK);
    for (int64_t i = 0; i < repeat; ++i)
        assert_int_equal(weft_memory_write(memory, (size_t)(i * n) * sizeof *values, values,
                                           (size_t)n * sizeof *values, &error),
                         WEFT_OK);
    return memory;
}

/* The values that `mixed_terms` has for d, c and b. */
static weft_memory *bind_constant(weft_device *device, const ufl_node *node, int64_t n_cells) {
    static const double c = 2.5, b[3] = {0.5, -1.5, 0}, d = 1;
    if (node->type == UFL_COEFFICIENT)
        return constant_memory(device, &d, 1, n_cells);
    return node->rank ? constant_memory(device, b, 3, 1) : constant_memory(device, &c, 1, 1);
}

/* In a loop: without effect when it has ended, else y = A x. */
static void check_predicated(weft_cell_action *action, weft_memory *x, weft_memory *y,
                             const double *expected, int64_t n, double tolerance) {
    weft_device *device = y->device;
    weft_error error;
    weft_memory *active = NULL;
    double *before = calloc((size_t)(2 * n), sizeof *before), *after = before + n;
    assert_non_null(before);
    assert_int_equal(weft_memory_make(device, sizeof(uint32_t), &active, &error), WEFT_OK);
    assert_int_equal(weft_vector_pull(y, before, n, &error), WEFT_OK);
    assert_int_equal(weft_cell_action_guard(action, &error), WEFT_OK);
    for (uint32_t flag = 0; flag < 2; ++flag) {
        assert_int_equal(weft_memory_write(active, 0, &flag, sizeof flag, &error), WEFT_OK);
        assert_int_equal(weft_cell_action_add_predicated(action, x, y, active, true, &error),
                         WEFT_OK);
        assert_int_equal(weft_vector_pull(y, after, n, &error), WEFT_OK);
        for (int64_t i = 0; i < n; ++i)
            assert_double_near(after[i], flag ? expected[i] : before[i], 0, flag ? tolerance : 0);
    }
    weft_memory_free(&active);
    free(before);
}

/* A space or a pair of spaces with one number for each dof: of the pair, the second space's behind the first's. */
typedef struct numbered {
    weft_space *spaces[2];
    int n_spaces;
    int32_t *dofs; /* [cells][dofs of a cell] */
    int width;
    int64_t n_cells, n;
    weft_connectivity *flat; /* of a pair */
    double *values;
    weft_memory *memory;
} numbered;

static weft_element_kind kind_of(int degree) {
    return degree == CELLWISE ? (weft_element_kind){WEFT_DISCONTINUOUS, 0}
                              : (weft_element_kind){WEFT_LAGRANGE, degree};
}

static void numbered_make(weft_device *device, const weft_mesh *mesh, const int (*kinds)[2],
                          uint64_t seed, numbered *out) {
    weft_error error;
    *out = (numbered){.n_cells = mesh->n_cells};
    for (int i = 0; i < 2 && kinds[i][0] > 0; ++i, ++out->n_spaces) {
        const weft_element_kind kind = kind_of(kinds[i][0]);
        assert_int_equal(weft_space_make(device, mesh, kind, kinds[i][1], &out->spaces[i], &error),
                         WEFT_OK);
        out->width += weft_space_element(out->spaces[i])->n_nodes * kinds[i][1];
    }
    out->dofs = malloc((size_t)(mesh->n_cells * out->width + 1) * sizeof *out->dofs);
    assert_non_null(out->dofs);
    for (int i = 0, at = 0; i < out->n_spaces; ++i) {
        const int nodes = weft_space_element(out->spaces[i])->n_nodes, c = kinds[i][1];
        for (int64_t cell = 0; cell < mesh->n_cells; ++cell)
            for (int k = 0; k < nodes * c; ++k)
                out->dofs[cell * out->width + at + k] =
                    (int32_t)out->n +
                    weft_space_cell_nodes(out->spaces[i])[cell * nodes + k / c] * c + k % c;
        at += nodes * c;
        out->n += weft_space_dofs(out->spaces[i]);
    }
    if (out->n_spaces == 2)
        assert_int_equal(weft_connectivity_make(device, out->dofs, mesh->n_cells, out->width,
                                                out->n, &out->flat, &error),
                         WEFT_OK);
    if (out->n == 0)
        return;
    assert_int_equal(weft_vector_make(device, out->n, &out->values, &out->memory, &error), WEFT_OK);
    for (int64_t i = 0; i < out->n; ++i)
        out->values[i] = action_random((uint64_t)i + seed);
    assert_int_equal(weft_vector_push(out->memory, out->values, out->n, &error), WEFT_OK);
}

static void numbered_free(numbered *n) {
    for (int i = 0; i < 2; ++i)
        weft_space_free(&n->spaces[i]);
    weft_connectivity_free(&n->flat);
    weft_memory_free(&n->memory);
    free(n->dofs);
    free(n->values);
}

static weft_connectivity *numbered_cells(const numbered *n) {
    return n->flat ? n->flat : weft_space_cells(n->spaces[0]);
}

static void second_table(weft_cell_type cell, const action_case *one, const weft_quadrature *rule,
                         action_function *function) {
    function->components += one->second_components;
    if (one->second_components > 0)
        function->tables[1] = action_tabulate(cell, kind_of(one->second_degree), rule);
}

/* What the kernel computed twice into y, against the reference. */
static void compare(const action_case *one, weft_cell_type cell, int geometry,
                    const numbered *corners, const numbered *own, const numbered *other,
                    const double *y, double *expected, double *tolerance) {
    const int d = weft_cell_of(cell)->dimension, c = one->components > 0 ? one->components : d;
    const weft_element_kind kind = kind_of(one->degree),
                            other_kind =
                                kind_of(one->other_degree > 0 ? one->other_degree : one->degree);
    const int other_components = one->other_degree < 0 ? c : one->other_components;
    action_tables tables = action_tables_make(cell, geometry, kind, c, other_kind, other_components,
                                              one->points_degree);
    second_table(cell, one, &tables.rule, &tables.own);
    if (one->other_degree < 0)
        second_table(cell, one, &tables.rule, &tables.other);
    cell_integrand *const integrand = one->integrand ? one->integrand
                                      : d == 2       ? stokes_2
                                                     : stokes_3;
    double largest = 0, worst = 0;
    assert_int_equal(action_dofs(&tables.own), own->width);
    action_reference(&tables, own->n_cells, weft_space_cell_nodes(corners->spaces[0]),
                     weft_space_points(corners->spaces[0]), own->dofs, other->dofs, integrand,
                     own->values, other->values, expected);
    for (int64_t i = 0; i < own->n; ++i) {
        largest = fmax(largest, fabs(2 * expected[i]));
        worst = fmax(worst, isnan(y[i]) ? INFINITY : fabs(y[i] - 2 * expected[i]));
    }
    assert_true(largest > 1e-4);
    *tolerance = RELATIVE * largest;
    if (worst > *tolerance)
        fail_msg("%s %d: error %.2e of %.2e", one->name, geometry, worst, largest);
    action_tables_free(&tables);
}

static const ufl_cell_action *lower_case(const action_case *one, weft_cell_type cell, int geometry,
                                         const weft_device *device, weft_ufl **ufl,
                                         weft_error *error) {
    char text[2048];
    snprintf(text, sizeof text, "cell = %s\nmesh = Mesh(VectorElement('Q', cell, %d))\n%s",
             cell == WEFT_QUADRILATERAL ? "quadrilateral" : "hexahedron", geometry, one->text);
    if (weft_ufl_read_text("forms.ufl", text, strlen(text), NULL, ufl, error) != WEFT_OK)
        fail_msg("%s: %d: %s", one->name, error->line, error->message);
    (*ufl)->context.error = error;
    const ufl_cell_action *lowered = ufl_lower_action(&(*ufl)->graph, (*ufl)->prepared[0], 0,
                                                      one->name, weft_device_limits(device), NULL);
    if (!lowered)
        fail_msg("%s: %d: %s", one->name, error->line, error->message);
    return lowered;
}

/* The case on meshes of these cells whose geometry has this degree. */
static void check(const action_case *one, weft_cell_type cell, int geometry, weft_device *device) {
    weft_error error = {0};
    weft_ufl *ufl = NULL;
    weft_mesh *mesh = NULL;
    numbered own, other, corners;
    weft_cell_action *action = NULL;
    weft_cell_binding bindings[WEFT_CELL_SOURCES] = {{NULL, NULL}};
    weft_memory *owned[WEFT_CELL_SOURCES] = {NULL}, *y_memory = NULL;
    double *y = NULL, tolerance = 0;
    const int d = weft_cell_of(cell)->dimension;
    const ufl_cell_action *lowered = lower_case(one, cell, geometry, device, &ufl, &error);
    assert_int_equal(action_mesh(device, cell, geometry, d == 2 ? 5 : 3, &mesh, &error), WEFT_OK);
    const int components = one->components > 0 ? one->components : d;
    const int pair[][2] = {{one->degree, components}, {one->second_degree, one->second_components}};
    const int single[][2] = {{one->other_degree, one->other_components}, {0, 0}};
    const int nodes[][2] = {{geometry, 1}, {0, 0}};
    numbered_make(device, mesh, pair, 0, &own);
    numbered_make(device, mesh, one->other_degree < 0 ? pair : single, 1000, &other);
    numbered_make(device, mesh, nodes, 0, &corners);
    assert_int_equal(weft_vector_make(device, own.n, &y, &y_memory, &error), WEFT_OK);
    for (int i = 0; i < lowered->kernel.n_sources; ++i) {
        if (i == lowered->kernel.argument)
            bindings[i].nodes = numbered_cells(&own);
        else if (lowered->kernel.sources[i].kind == WEFT_CELL_NODAL)
            bindings[i] = (weft_cell_binding){numbered_cells(&other), other.memory};
        else
            bindings[i].values = owned[i] =
                bind_constant(device, lowered->sources[i], mesh->n_cells);
    }
    const weft_cell_data data = {.vertices = numbered_cells(&corners),
                                 .coordinates = weft_space_coordinates(corners.spaces[0]),
                                 .nodes = numbered_cells(&own),
                                 .sources = bindings};
    const weft_status status =
        weft_cell_action_make(device, &lowered->kernel, &data, &action, &error);
    if (status != WEFT_OK)
        fail_msg("%s: %s", one->name, error.message);
    /* twice: it adds */
    for (int k = 0; k < 2; ++k)
        assert_int_equal(weft_cell_action_add(action, own.memory, y_memory, &error), WEFT_OK);
    assert_int_equal(weft_vector_pull(y_memory, y, own.n, &error), WEFT_OK);
    double *expected = calloc((size_t)own.n, sizeof *expected);
    assert_non_null(expected);
    compare(one, cell, geometry, &corners, &own, &other, y, expected, &tolerance);
    if (weft_device_limits(device)->execution == WEFT_EXECUTION_SIMT)
        check_predicated(action, own.memory, y_memory, expected, own.n, tolerance);
    free(expected);
    weft_cell_action_free(&action);
    for (int i = 0; i < WEFT_CELL_SOURCES; ++i)
        weft_memory_free(&owned[i]);
    weft_memory_free(&y_memory);
    free(y);
    numbered_free(&own);
    numbered_free(&other);
    numbered_free(&corners);
    weft_mesh_free(&mesh);
    weft_ufl_free(&ufl);
}

static void check_all(weft_cell_type cell, int geometry, weft_device *device) {
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i)
        check(&cases[i], cell, geometry, device);
}
static void check_cells(weft_device *device) {
    for (int geometry = 1; geometry <= 2; ++geometry) {
        check_all(WEFT_HEXAHEDRON, geometry, device);
        check_all(WEFT_QUADRILATERAL, geometry, device);
    }
}

static void on_the_host(void **state) {
    weft_device *device = NULL;
    (void)state;
    assert_int_equal(weft_device_open("host:2", NULL, &device, NULL), WEFT_OK);
    check_cells(device);
    weft_device_free(&device);
}

static void thread_by_thread(void **state) {
    weft_device *device = NULL;
    (void)state;
    assert_int_equal(weft_device_open("host:1", NULL, &device, NULL), WEFT_OK);
    (void)emulated_gpu_make(device);
    check_cells(device);
    weft_device_free(&device);
}

/* The Laplacian of a degree on cells whose geometry has a degree. */
typedef struct operator_case {
    weft_cell_type cell;
    const char *name;
    int geometry, degree;
} operator_case;

static void check_kernels(const weft_ufl_part *part, weft_device *device) {
    const weft_form_kernel *list = NULL;
    weft_error error;
    int n = 0;
    assert_non_null(part->kernels);
    if (part->kernels->make(part->kernels, weft_device_limits(device), false, &list, &n, &error) !=
        WEFT_OK)
        fail_msg("%s", error.message);
    assert_int_equal(n, 1);
}

/* y = A x */
static int64_t multiply(weft_device *device, weft_assembly assembly, const operator_case *one,
                        double **y) {
    char text[300];
    weft_error error = {0};
    const weft_ufl_problem *problem = NULL;
    weft_ufl *ufl = NULL;
    weft_mesh *mesh = NULL;
    weft_space *space = NULL, *corners = NULL;
    weft_library *library = NULL;
    weft_operator *op = NULL;
    weft_memory *x_memory = NULL, *y_memory = NULL;
    weft_bound_form form;
    double *x = NULL;
    const bool simplex = one->cell == WEFT_TETRAHEDRON;
    snprintf(text, sizeof text,
             "V = FunctionSpace(Mesh(VectorElement('P', %s, %d)), FiniteElement('P', %s, %d))\n"
             "a = dot(grad(TrialFunction(V)), grad(TestFunction(V)))*dx\n",
             one->name, one->geometry, one->name, one->degree);
    assert_int_equal(weft_ufl_read_text("forms.ufl", text, strlen(text), NULL, &ufl, &error),
                     WEFT_OK);
    assert_int_equal(weft_ufl_problem_of(ufl, &problem, &error), WEFT_OK);
    assert_int_equal(weft_fem_library_make(&library, &error), WEFT_OK);
    assert_int_equal(weft_ufl_add_functions(ufl, library, &error), WEFT_OK);
    weft_context context = {.device = device, .library = library, .plan = WEFT_PLAN_FUSED};
    const weft_status made = simplex
                                 ? weft_mesh_make_cube(4, &mesh, &error)
                                 : action_mesh(device, one->cell, one->geometry, 3, &mesh, &error);
    assert_int_equal(made, WEFT_OK);
    const weft_element_kind kind = {WEFT_LAGRANGE, one->degree},
                            geometry = {WEFT_LAGRANGE, one->geometry};
    assert_int_equal(weft_space_make(device, mesh, kind, 1, &space, &error), WEFT_OK);
    assert_int_equal(weft_space_make(device, mesh, geometry, 1, &corners, &error), WEFT_OK);
    weft_form_start("forms.ufl", problem->parts[0].script, weft_space_cells(space), &form);
    if (simplex)
        assert_true(problem->parts[0].has_action);
    else
        check_kernels(&problem->parts[0], device);
    form.form.action = problem->parts[0].has_action ? "Kv" : NULL;
    form.form.kernels = problem->parts[0].kernels;
    weft_form_bind_input(&form, "x", weft_space_coordinates(corners));
    if (one->degree != one->geometry)
        weft_form_bind_connectivity(&form, "geometry", weft_space_cells(corners));
    const weft_status status = weft_operator_make(&context, assembly, &form.form, 1, &op, &error);
    if (status != WEFT_OK)
        fail_msg("%s", error.message);
    assert_int_equal(weft_operator_assemble(op, &error), WEFT_OK);
    const int64_t n = weft_space_dofs(space);
    assert_int_equal(weft_vector_make(device, n, &x, &x_memory, &error), WEFT_OK);
    assert_int_equal(weft_vector_make(device, n, y, &y_memory, &error), WEFT_OK);
    for (int64_t i = 0; i < n; ++i)
        x[i] = action_random((uint64_t)i);
    assert_int_equal(weft_vector_push(x_memory, x, n, &error), WEFT_OK);
    assert_int_equal(weft_operator_apply(op, x_memory, y_memory, &error), WEFT_OK);
    assert_int_equal(weft_vector_pull(y_memory, *y, n, &error), WEFT_OK);
    weft_operator_free(&op);
    weft_memory_free(&x_memory);
    weft_memory_free(&y_memory);
    free(x);
    weft_space_free(&space);
    weft_space_free(&corners);
    weft_mesh_free(&mesh);
    weft_library_free(&library);
    weft_ufl_free(&ufl);
    return n;
}

/* Products without the matrix on a device, against those with the matrix on the host. */
static void check_operator(const operator_case *one, weft_device *host, weft_device *device) {
    double *expected = NULL, *got = NULL, largest = 0;
    const int64_t n = multiply(host, WEFT_ASSEMBLY_CSR, one, &expected);
    assert_int_equal(multiply(device, WEFT_ASSEMBLY_MATRIX_FREE, one, &got), n);
    for (int64_t i = 0; i < n; ++i)
        largest = fmax(largest, fabs(expected[i]));
    for (int64_t i = 0; i < n; ++i)
        assert_double_near(got[i], expected[i], 0, RELATIVE * largest);
    free(expected);
    free(got);
}

/* By the patches of a GPU. */
static void tetrahedra(void **state) {
    weft_device *host = NULL, *gpu = NULL;
    (void)state;
    assert_int_equal(weft_device_open("host:1", NULL, &host, NULL), WEFT_OK);
    assert_int_equal(weft_device_open("host:1", NULL, &gpu, NULL), WEFT_OK);
    (void)emulated_gpu_make(gpu);
    for (int degree = 1; degree <= 2; ++degree)
        check_operator(&(operator_case){WEFT_TETRAHEDRON, "tetrahedron", 1, degree}, host, gpu);
    weft_device_free(&host);
    weft_device_free(&gpu);
}

/* By sum factorisation in operators, where the geometry has the dofs' connectivity or one of its own. */
static void curved_operators(void **state) {
    weft_device *host = NULL;
    (void)state;
    assert_int_equal(weft_device_open("host:2", NULL, &host, NULL), WEFT_OK);
    for (int degree = 2; degree <= 3; ++degree) {
        check_operator(&(operator_case){WEFT_HEXAHEDRON, "hexahedron", 2, degree}, host, host);
        check_operator(&(operator_case){WEFT_QUADRILATERAL, "quadrilateral", 2, degree}, host,
                       host);
    }
    weft_device_free(&host);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(on_the_host),
        cmocka_unit_test(thread_by_thread),
        cmocka_unit_test(tetrahedra),
        cmocka_unit_test(curved_operators),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
