/* labels: full */
/* Products of forms on simplices without the matrix, and diagonals, against products with the assembled one, on the host and as CUDA text
 * that runs thread by thread: degrees 1 to 4, several components, coefficients of several degrees and
 * products of them, and rules that do not integrate exactly. Both are sums of some hundred
 * terms per entry; 2e-13 of the largest entry leaves a factor of 30 for rounding. The same product
 * twice has the same bits, but on a GPU for cells of more than 16 nodes, which add atomically. */
#include "emulated_gpu.h"
#include "fem/weft_fem.h"
#include "forms/weft_ufl.h"
#include "operator_fixture.h"

static const double tolerance = 2e-13;

typedef struct product_case {
    const char *text; /* of the integrand */
    int d, degree, components;
    bool has_coefficient;
} product_case;

typedef struct product_problem {
    weft_ufl *ufl;
    const weft_ufl_problem *found;
    weft_library *library;
    weft_mesh *mesh;
} product_problem;

static void check_status(weft_status status, const weft_error *error) {
    char text[4096];
    if (status == WEFT_OK)
        return;
    weft_error_text(error, text, sizeof text);
    fail_msg("%s", text);
}

static void problem_make(const product_case *c, product_problem *out) {
    weft_error error = {0};
    char text[600];
    const char *cell = c->d == 2 ? "triangle" : "tetrahedron";
    *out = (product_problem){0};
    snprintf(text, sizeof text,
             "e = %sElement('P', %s, %d%s)\nq = FiniteElement('P', %s, 1)\n"
             "z = FiniteElement('DG', %s, 0)\nf = FiniteElement('P', %s, %d)\n"
             "u = TrialFunction(e)\nv = TestFunction(e)\n%s\n",
             c->components > 1 ? "Vector" : "Finite", cell, c->degree,
             c->components == 2 && c->d == 3 ? ", dim=2" : "", cell, cell, cell, c->degree,
             c->text);
    check_status(weft_ufl_read_text("forms.ufl", text, strlen(text), NULL, &out->ufl, &error),
                 &error);
    check_status(weft_ufl_problem_of(out->ufl, &out->found, &error), &error);
    check_status(weft_fem_library_make(&out->library, &error), &error);
    check_status(weft_ufl_add_functions(out->ufl, out->library, &error), &error);
    const int64_t side = c->d == 2 ? 9 : 4;
    check_status(c->d == 2 ? weft_mesh_make_square(side, &out->mesh, &error)
                           : weft_mesh_make_cube(side, &out->mesh, &error),
                 &error);
    fixture_distort(out->mesh, side);
    assert_true(out->found->parts[0].has_action);
}

static void problem_free(product_problem *p) {
    weft_ufl_free(&p->ufl);
    weft_library_free(&p->library);
    weft_mesh_free(&p->mesh);
}

/* The values of k: over vertices (q), nodes (f), or cells, interleaved (z). */
static int64_t coefficient_length(const product_case *c, const product_problem *p,
                                  weft_device *device, int64_t n_dofs) {
    const int64_t lanes = weft_device_limits(device)->lanes_double, n_cells = p->mesh->n_cells;
    if (strstr(c->text, "Coefficient(q)"))
        return p->mesh->n_nodes;
    if (strstr(c->text, "Coefficient(z)"))
        return (n_cells + lanes - 1) / lanes * lanes;
    return n_dofs / c->components;
}

/* A list of numbers in [1/2, 3/2) that depend on the place alone. */
static weft_memory *coefficient(weft_device *device, int64_t n) {
    weft_memory *memory = NULL;
    weft_error error = {0};
    uint64_t state = 99;
    double *list = malloc((size_t)n * sizeof *list);
    assert_non_null(list);
    for (int64_t i = 0; i < n; ++i)
        list[i] = 0.5 + fixture_random(&state);
    check_status(weft_memory_make(device, (size_t)n * sizeof *list, &memory, &error), &error);
    check_status(weft_memory_write(memory, 0, list, (size_t)n * sizeof *list, &error), &error);
    free(list);
    return memory;
}

/* A v, followed by the diagonal of A, malloc'd; *n: entries of both. */
static double *product(const product_case *c, const product_problem *p, weft_device *device,
                       weft_assembly assembly, int64_t *n) {
    weft_error error = {0};
    weft_space *space = NULL, *corners = NULL;
    weft_operator *op = NULL;
    weft_memory *x = NULL, *y = NULL, *k = NULL;
    double *hx = NULL, *hy = NULL;
    weft_bound_form form;
    uint64_t state = 5;
    weft_context context = {.device = device, .library = p->library, .plan = WEFT_PLAN_FUSED};
    check_status(weft_space_make(device, p->mesh, (weft_element_kind){WEFT_LAGRANGE, c->degree},
                                 c->components, &space, &error),
                 &error);
    check_status(weft_space_make(device, p->mesh, WEFT_ELEMENT_P1, 1, &corners, &error), &error);
    weft_form_start("forms.ufl", p->found->parts[0].script, weft_space_cells(space), &form);
    form.form.action = p->found->parts[0].has_action ? "Kv" : NULL;
    form.form.diagonal = p->found->parts[0].has_diagonal ? "Kd" : NULL;
    form.form.components = c->components;
    weft_form_bind_input(&form, "x", weft_space_coordinates(corners));
    if (c->degree > 1)
        weft_form_bind_connectivity(&form, "geometry", weft_space_cells(corners));
    if (c->has_coefficient) {
        k = coefficient(device, coefficient_length(c, p, device, weft_space_dofs(space)));
        weft_form_bind_input(&form, "k", k);
    }
    check_status(weft_operator_make(&context, assembly, &form.form, 1, &op, &error), &error);
    check_status(weft_operator_assemble(op, &error), &error);
    *n = weft_space_dofs(space);
    check_status(weft_vector_make(device, *n, &hx, &x, &error), &error);
    check_status(weft_vector_make(device, *n, &hy, &y, &error), &error);
    for (int64_t i = 0; i < *n; ++i)
        hx[i] = fixture_random(&state) - 0.5;
    check_status(weft_vector_push(x, hx, *n, &error), &error);
    double *out = calloc((size_t)*n, 2 * sizeof *out);
    assert_non_null(out);
    const bool atomic = weft_device_limits(device)->execution == WEFT_EXECUTION_SIMT &&
                        weft_connectivity_width(weft_space_cells(space)) > 16;
    for (int run = 0; run < 2; ++run) {
        check_status(weft_operator_apply(op, x, y, &error), &error);
        check_status(weft_vector_pull(y, hy, *n, &error), &error);
        if (run == 0)
            memcpy(out, hy, (size_t)*n * sizeof *out);
        if (!atomic)
            assert_memory_equal(out, hy, (size_t)*n * sizeof *out);
    }
    check_status(weft_operator_diagonal(op, y, &error), &error);
    check_status(weft_vector_pull(y, hy, *n, &error), &error);
    memcpy(out + *n, hy, (size_t)*n * sizeof *out);
    *n *= 2;
    weft_operator_free(&op);
    weft_memory_free(&x);
    weft_memory_free(&y);
    weft_memory_free(&k);
    free(hx);
    free(hy);
    weft_space_free(&space);
    weft_space_free(&corners);
    return out;
}

static void compare(const double *found, const double *expected, int64_t n, const char *what,
                    const product_case *c) {
    double most = 0;
    for (int64_t i = 0; i < n; ++i)
        most = fmax(most, fabs(expected[i]));
    assert_true(most > 0);
    for (int64_t i = 0; i < n; ++i)
        if (!(fabs(found[i] - expected[i]) <= tolerance * most))
            fail_msg("%s, degree %d, %s: [%lld] is %.17g, not %.17g", c->text, c->degree, what,
                     (long long)i, found[i], expected[i]);
}

static weft_device *open_host(void) {
    weft_error error = {0};
    weft_device *device = NULL;
    check_status(weft_device_open("host:1", NULL, &device, &error), &error);
    return device;
}

/* WEFT_TEST_DEVICE where that is a GPU. */
static weft_device *open_gpu(void) {
    const char *forced = getenv("WEFT_TEST_DEVICE");
    weft_error error = {0};
    weft_device *device = NULL;
    if (forced && strncmp(forced, "cuda", 4) == 0) {
        check_status(weft_device_open(forced, NULL, &device, &error), &error);
        return device;
    }
    device = open_host();
    emulated_gpu_make(device);
    device->limits.bandwidth = 4e12;
    device->limits.flops = 3e13;
    return device;
}

static const product_case cases[] = {
    {"a = dot(grad(u), grad(v))*dx", 3, 1, 1, false},
    {"a = dot(grad(u), grad(v))*dx", 3, 2, 1, false},
    {"a = (dot(grad(u), grad(v)) + 3*u*v)*dx", 3, 3, 1, false},
    {"a = dot(grad(u), grad(v))*dx", 3, 4, 1, false},
    {"a = dot(grad(u), grad(v))*dx", 2, 2, 1, false},
    {"a = inner(sym(grad(u)), sym(grad(v)))*dx", 3, 2, 3, false},
    {"a = inner(sym(grad(u)), sym(grad(v)))*dx + div(u)*div(v)*dx", 3, 1, 3, false},
    {"a = inner(sym(grad(u)), grad(v))*dx + dot(u, v)*dx", 2, 3, 2, false},
    {"a = (dot(grad(u), grad(v)) + u.dx(0)*v + 2*u*v)*dx", 3, 1, 1, false},
    {"a = u.dx(1)*v.dx(0)*dx", 2, 1, 1, false},
    {"k = Coefficient(q)\na = k*dot(grad(u), grad(v))*dx", 3, 1, 1, true},
    {"k = Coefficient(q)\na = k*dot(grad(u), grad(v))*dx", 3, 2, 1, true},
    {"k = Coefficient(q)\na = k*dot(grad(u), grad(v))*dx", 3, 3, 1, true},
    {"k = Coefficient(q)\na = (k*k*dot(grad(u), grad(v)) + u*v/4)*dx", 2, 3, 1, true},
    {"k = Coefficient(q)\na = (k + 2)*inner(grad(u), grad(v))*dx + k*div(u)*div(v)*dx", 3, 2, 3,
     true},
    {"k = Coefficient(f)\na = dot(grad(k), grad(u))*v*dx", 2, 2, 1, true},
    {"k = Coefficient(z)\na = k*u*v*dx", 3, 2, 1, true},
    /* a rule that is not exact: its points are part of the form */
    {"a = u*v*dx(degree=2)", 3, 2, 1, false},
    {"k = Coefficient(q)\na = k*u*v*dx(degree=4)", 2, 2, 1, true},
    {"a = u*v*dx(metadata={'quadrature_rule': 'vertex', 'quadrature_degree': 1})", 3, 2, 1, false},
    {"k = Coefficient(q)\na = exp(k)*dot(grad(u), grad(v))*dx(degree=3)", 3, 2, 1, true}};

static void products(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        product_problem p;
        weft_device *host = open_host(), *gpu = open_gpu();
        int64_t n = 0;
        problem_make(&cases[i], &p);
        double *expected = product(&cases[i], &p, host, WEFT_ASSEMBLY_CSR, &n);
        double *on_host = product(&cases[i], &p, host, WEFT_ASSEMBLY_MATRIX_FREE, &n);
        double *on_gpu = product(&cases[i], &p, gpu, WEFT_ASSEMBLY_MATRIX_FREE, &n);
        compare(on_host, expected, n, "on the host", &cases[i]);
        compare(on_gpu, expected, n, "on a GPU", &cases[i]);
        free(expected);
        free(on_host);
        free(on_gpu);
        problem_free(&p);
        weft_device_free(&host);
        weft_device_free(&gpu);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(products)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
