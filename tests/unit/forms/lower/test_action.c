/* labels: full */
/* Actions by sum factorisation against sums point by point over the functions of whole cells, with integrands
 * written by hand: on the host, and as CUDA text that is run thread by thread. */
#include "test_support.h"

#include "cell_action_support.h"
#include "emulated_gpu.h"

/* Sums of some thousand products of numbers about 1, in another order. */
#define RELATIVE 1e-11

typedef struct action_case {
    const char *name, *text;
    int degree, components, points_degree;
    int other_degree, other_components; /* of the coefficient w; 0: none */
    cell_integrand *integrand;
} action_case;

static void mixed_terms(const double *x, const double *u, double (*du)[3], const double *w,
                        double (*dw)[3], double *f0, double (*f1)[3]) {
    const double k = 1 + w[0] * w[0];
    (void)dw;
    f0[0] = 2.5 * u[0] * x[1] + 0.5 * du[0][0] - 1.5 * du[0][2];
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

#define SPACE(p)                                                                                   \
    "e = FiniteElement('Q', hexahedron, " #p ")\nu = TrialFunction(e)\nv = TestFunction(e)\n"
static const action_case cases[] = {
    {"mass_2", SPACE(2) "a = u*v*dx\n", 2, 1, 7, 0, 0, mass},
    {"mass_3", SPACE(3) "a = u*v*dx\n", 3, 1, 9, 0, 0, mass},
    {"laplace_1", SPACE(1) "a = dot(grad(u), grad(v))*dx\n", 1, 1, 5, 0, 0, laplace},
    {"laplace_2", SPACE(2) "a = dot(grad(u), grad(v))*dx\n", 2, 1, 7, 0, 0, laplace},
    {"laplace_4", SPACE(4) "a = dot(grad(u), grad(v))*dx\n", 4, 1, 11, 0, 0, laplace},
    {"mixed_terms",
     SPACE(
         3) "w = Coefficient(FiniteElement('Q', hexahedron, 1))\nc = Constant(hexahedron)\n"
            "b = VectorConstant(hexahedron)\nd = Coefficient(FiniteElement('DG', hexahedron, 0))\n"
            "x = SpatialCoordinate(hexahedron)\n"
            "a = (1 + w**2)*dot(grad(u), grad(v))*dx(degree=9) + (c*u*x[1] + d*dot(b, "
            "grad(u)))*v*dx(degree=9)\n",
     3, 1, 9, 1, 1, mixed_terms},
    {"elasticity",
     "e = VectorElement('Q', hexahedron, 2)\nu = TrialFunction(e)\nv = TestFunction(e)\n"
     "eps = lambda w: sym(grad(w))\na = (2*inner(eps(u), eps(v)) + 0.7*div(u)*div(v))*dx\n",
     2, 3, 7, 0, 0, elasticity},
    {"residual",
     SPACE(2) "w = Coefficient(e)\nx = SpatialCoordinate(hexahedron)\n"
              "L = sqrt(1 + dot(grad(w), grad(w)))*dot(grad(w), grad(v))*dx(degree=6) - "
              "exp(w)*x[0]*v*dx(degree=6)\n",
     2, 1, 6, 2, 1, residual},
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
    static const double c = 2.5, b[3] = {0.5, 0, -1.5}, d = 1;
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

static void check(const action_case *one, weft_device *device) {
    weft_error error = {0};
    weft_ufl *ufl = NULL;
    weft_mesh *mesh = NULL;
    weft_space *space = NULL, *other = NULL, *corners = NULL;
    weft_cell_action *action = NULL;
    weft_cell_binding bindings[WEFT_CELL_SOURCES] = {{NULL, NULL}};
    double *x = NULL, *y = NULL, *w = NULL;
    weft_memory *x_memory = NULL, *y_memory = NULL, *w_memory = NULL;
    if (weft_ufl_read_text("forms.ufl", one->text, strlen(one->text), NULL, &ufl, &error) !=
        WEFT_OK)
        fail_msg("%s: %d: %s", one->name, error.line, error.message);
    ufl->context.error = &error;
    const ufl_cell_action *lowered = ufl_lower_action(&ufl->graph, ufl->prepared[0], 0, one->name,
                                                      weft_device_limits(device), NULL);
    if (!lowered)
        fail_msg("%s: %d: %s", one->name, error.line, error.message);
    assert_int_equal(action_mesh(3, &mesh, &error), WEFT_OK);
    const weft_element_kind kind = {WEFT_LAGRANGE, one->degree};
    assert_int_equal(weft_space_make(device, mesh, kind, one->components, &space, &error), WEFT_OK);
    const weft_element_kind line = {WEFT_LAGRANGE, 1},
                            other_kind = {WEFT_LAGRANGE, one->other_degree};
    assert_int_equal(weft_space_make(device, mesh, line, 1, &corners, &error), WEFT_OK);
    if (one->other_degree > 0) {
        assert_int_equal(
            weft_space_make(device, mesh, other_kind, one->other_components, &other, &error),
            WEFT_OK);
        const int64_t n = weft_space_dofs(other);
        assert_int_equal(weft_vector_make(device, n, &w, &w_memory, &error), WEFT_OK);
        for (int64_t i = 0; i < n; ++i)
            w[i] = action_random((uint64_t)(i + 1000));
        assert_int_equal(weft_vector_push(w_memory, w, n, &error), WEFT_OK);
    }
    const int64_t n = weft_space_dofs(space);
    assert_int_equal(weft_vector_make(device, n, &x, &x_memory, &error), WEFT_OK);
    assert_int_equal(weft_vector_make(device, n, &y, &y_memory, &error), WEFT_OK);
    for (int64_t i = 0; i < n; ++i)
        x[i] = action_random((uint64_t)i);
    assert_int_equal(weft_vector_push(x_memory, x, n, &error), WEFT_OK);
    weft_memory *owned[WEFT_CELL_SOURCES] = {NULL};
    for (int i = 0; i < lowered->kernel.n_sources; ++i) {
        const bool nodal = lowered->kernel.sources[i].kind == WEFT_CELL_NODAL;
        if (i == lowered->kernel.argument)
            bindings[i].nodes = weft_space_cells(space);
        else if (nodal)
            bindings[i] = (weft_cell_binding){weft_space_cells(other), w_memory};
        else
            bindings[i].values = owned[i] =
                bind_constant(device, lowered->sources[i], mesh->n_cells);
    }
    weft_connectivity *vertices = weft_space_cells(corners);
    const weft_status status =
        weft_cell_action_make(device, &lowered->kernel, vertices, weft_space_coordinates(corners),
                              weft_space_cells(space), bindings, &action, &error);
    if (status != WEFT_OK)
        fail_msg("%s: %s", one->name, error.message);
    /* twice: it adds */
    for (int k = 0; k < 2; ++k)
        assert_int_equal(weft_cell_action_add(action, x_memory, y_memory, &error), WEFT_OK);
    assert_int_equal(weft_vector_pull(y_memory, y, n, &error), WEFT_OK);
    double *expected = calloc((size_t)n, sizeof *expected), largest = 0, worst = 0;
    assert_non_null(expected);
    action_reference(space, other, one->points_degree, one->integrand, x, w, expected);
    for (int64_t i = 0; i < n; ++i) {
        largest = fmax(largest, fabs(2 * expected[i]));
        worst = fmax(worst, isnan(y[i]) ? INFINITY : fabs(y[i] - 2 * expected[i]));
    }
    assert_true(largest > 1e-4);
    if (worst > RELATIVE * largest)
        fail_msg("%s: error %.2e of %.2e", one->name, worst, largest);
    if (weft_device_limits(device)->execution == WEFT_EXECUTION_SIMT)
        check_predicated(action, x_memory, y_memory, expected, n, RELATIVE * largest);
    free(expected);
    weft_cell_action_free(&action);
    for (int i = 0; i < WEFT_CELL_SOURCES; ++i)
        weft_memory_free(&owned[i]);
    weft_memory_free(&x_memory);
    weft_memory_free(&y_memory);
    weft_memory_free(&w_memory);
    free(x);
    free(y);
    free(w);
    weft_space_free(&space);
    weft_space_free(&other);
    weft_space_free(&corners);
    weft_mesh_free(&mesh);
    weft_ufl_free(&ufl);
}

static void on_the_host(void **state) {
    weft_device *device = NULL;
    (void)state;
    assert_int_equal(weft_device_open("host:2", NULL, &device, NULL), WEFT_OK);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i)
        check(&cases[i], device);
    weft_device_free(&device);
}

static void thread_by_thread(void **state) {
    weft_device *device = NULL;
    (void)state;
    assert_int_equal(weft_device_open("host:1", NULL, &device, NULL), WEFT_OK);
    (void)emulated_gpu_make(device);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i)
        check(&cases[i], device);
    weft_device_free(&device);
}

/* y = A x of the Laplacian of this degree on tetrahedra. */
static int64_t multiply(weft_device *device, weft_assembly assembly, int degree, double **y) {
    char text[200];
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
    snprintf(text, sizeof text,
             "e = FiniteElement('P', tetrahedron, %d)\na = dot(grad(TrialFunction(e)), "
             "grad(TestFunction(e)))*dx\n",
             degree);
    assert_int_equal(weft_ufl_read_text("forms.ufl", text, strlen(text), NULL, &ufl, &error),
                     WEFT_OK);
    assert_int_equal(weft_ufl_problem_of(ufl, &problem, &error), WEFT_OK);
    assert_true(problem->parts[0].has_action);
    assert_int_equal(weft_fem_library_make(&library, &error), WEFT_OK);
    assert_int_equal(weft_ufl_add_functions(ufl, library, &error), WEFT_OK);
    weft_context context = {.device = device, .library = library, .plan = WEFT_PLAN_FUSED};
    assert_int_equal(weft_mesh_make_cube(4, &mesh, &error), WEFT_OK);
    assert_int_equal(weft_space_make(device, mesh, (weft_element_kind){WEFT_LAGRANGE, degree}, 1,
                                     &space, &error),
                     WEFT_OK);
    assert_int_equal(weft_space_make(device, mesh, WEFT_ELEMENT_P1, 1, &corners, &error), WEFT_OK);
    weft_form_start("forms.ufl", problem->parts[0].script, weft_space_cells(space), &form);
    form.form.action = "Kv";
    weft_form_bind_input(&form, "x", weft_space_coordinates(corners));
    if (degree > 1)
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

/* Products without the matrix, by the patches of a GPU, against those with the matrix on the host. */
static void tetrahedra(void **state) {
    weft_device *host = NULL, *gpu = NULL;
    (void)state;
    assert_int_equal(weft_device_open("host:1", NULL, &host, NULL), WEFT_OK);
    assert_int_equal(weft_device_open("host:1", NULL, &gpu, NULL), WEFT_OK);
    (void)emulated_gpu_make(gpu);
    for (int degree = 1; degree <= 2; ++degree) {
        double *expected = NULL, *got = NULL;
        const int64_t n = multiply(host, WEFT_ASSEMBLY_CSR, degree, &expected);
        assert_int_equal(multiply(gpu, WEFT_ASSEMBLY_MATRIX_FREE, degree, &got), n);
        double largest = 0;
        for (int64_t i = 0; i < n; ++i)
            largest = fmax(largest, fabs(expected[i]));
        for (int64_t i = 0; i < n; ++i)
            assert_double_near(got[i], expected[i], 0, RELATIVE * largest);
        free(expected);
        free(got);
    }
    weft_device_free(&host);
    weft_device_free(&gpu);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(on_the_host),
        cmocka_unit_test(thread_by_thread),
        cmocka_unit_test(tetrahedra),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
