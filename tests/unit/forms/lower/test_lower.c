/* labels: quick */
/* Functions of lowered integrals against mathematics: known matrices, rigid body modes, the divergence theorem
 * on each type of cell, and sums point by point. */
#include "test_support.h"

#include "forms_support.h"

#include <math.h>
#include <stdio.h>

/* Sums of at most a few hundred products of numbers about 1. */
#define RELATIVE 1e-11

typedef struct fixture {
    weft_device *device;
    weft_ufl *ufl;
} fixture;

static fixture read_forms(const char *text) {
    fixture f = {0};
    weft_error error;
    if (weft_ufl_read_text("forms.ufl", text, strlen(text), NULL, &f.ufl, &error) != WEFT_OK)
        fail_msg("%d: %s", error.line, error.message);
    assert_int_equal(weft_device_open("host:1", NULL, &f.device, &error), WEFT_OK);
    return f;
}

static void free_forms(fixture *f) {
    weft_ufl_free(&f->ufl);
    weft_device_free(&f->device);
}

/* The tensor of the first integral of form number `form` on one cell. */
static void tensor(fixture *f, int form, int facet, const double *const *data, int size,
                   double *out) {
    weft_error error = {0};
    f->ufl->context.error = &error;
    const ufl_lowered *lowered = ufl_lower_integral(&f->ufl->graph, f->ufl->prepared[form], 0,
                                                    "tensor", facet < 0 ? NULL : &facet);
    if (!lowered)
        fail_msg("%d: %s", error.line, error.message);
    assert_int_equal(forms_size(lowered), size);
    memset(out, 0, (size_t)size * sizeof *out);
    if (forms_run(f->device, lowered, data, 1, out, &error) != WEFT_OK)
        fail_msg("%s", error.message);
}

static const double triangle[] = {0.1, 0.2, 1.3, -0.1, 0.4, 0.9};

/* Cofactors of the edges give the gradients of barycentric coordinates. */
static void stiffness_and_mass_of_p1(void **state) {
    (void)state;
    fixture f = read_forms(
        "e = FiniteElement('P', triangle, 1)\nu = TrialFunction(e)\nv = TestFunction(e)\n"
        "k = Constant(triangle)\nw = Coefficient(e)\n"
        "a = k*dot(grad(u), grad(v))*dx\nL = w*v*dx\n");
    const double k = 2.5, w[] = {1, -2, 0.5};
    const double *matrix_data[] = {triangle, &k}, *load_data[] = {triangle, w};
    double A[9], b[3], g[3][2];
    const double det = (triangle[2] - triangle[0]) * (triangle[5] - triangle[1]) -
                       (triangle[4] - triangle[0]) * (triangle[3] - triangle[1]);
    for (int i = 0; i < 3; ++i) {
        const double *p = triangle + (i + 1) % 3 * 2, *q = triangle + (i + 2) % 3 * 2;
        g[i][0] = (p[1] - q[1]) / det;
        g[i][1] = (q[0] - p[0]) / det;
    }
    tensor(&f, 0, -1, matrix_data, 9, A);
    tensor(&f, 1, -1, load_data, 3, b);
    for (int i = 0; i < 3; ++i) {
        double load = 0;
        for (int j = 0; j < 3; ++j) {
            assert_double_near(A[3 * i + j],
                               k * fabs(det) / 2 * (g[i][0] * g[j][0] + g[i][1] * g[j][1]),
                               RELATIVE, RELATIVE);
            load += fabs(det) / 24 * (i == j ? 2 : 1) * w[j];
        }
        assert_double_near(b[i], load, RELATIVE, RELATIVE);
    }
    free_forms(&f);
}

/* Elasticity of degree 2: symmetric, and rotations and translations are in the kernel. */
static void elasticity_keeps_rigid_bodies(void **state) {
    (void)state;
    fixture f = read_forms(
        "e = VectorElement('P', tetrahedron, 2)\nu = TrialFunction(e)\nv = TestFunction(e)\n"
        "eps = lambda w: sym(grad(w))\n"
        "a = (2*inner(eps(u), eps(v)) + 0.7*div(u)*div(v))*dx\n");
    static const double x[] = {0, 0, 0.1, 1, 0.1, 0, 0.2, 0.8, 0, 0.1, 0.1, 1.2};
    static const double nodes[10][3] = {{0, 0, 0},   {1, 0, 0},   {0, 1, 0},   {0, 0, 1},
                                        {0, .5, .5}, {.5, 0, .5}, {.5, .5, 0}, {0, 0, .5},
                                        {0, .5, 0},  {.5, 0, 0}};
    const double *data[] = {x};
    double *A = calloc(900, sizeof *A), largest = 0;
    assert_non_null(A);
    tensor(&f, 0, -1, data, 900, A);
    for (int i = 0; i < 900; ++i)
        largest = fmax(largest, fabs(A[i]));
    assert_true(largest > 0.1);
    for (int mode = 0; mode < 6; ++mode) {
        double r[30];
        for (int i = 0; i < 10; ++i) {
            double p[3];
            for (int c = 0; c < 3; ++c) {
                p[c] = x[c];
                for (int k = 0; k < 3; ++k)
                    p[c] += nodes[i][k] * (x[3 * (k + 1) + c] - x[c]);
            }
            for (int c = 0; c < 3; ++c)
                r[3 * i + c] = mode < 3 ? c == mode : 0;
            if (mode >= 3) {
                r[3 * i + (mode + 1) % 3] = p[(mode + 2) % 3];
                r[3 * i + (mode + 2) % 3] = -p[(mode + 1) % 3];
            }
        }
        for (int i = 0; i < 30; ++i) {
            double sum = 0;
            for (int j = 0; j < 30; ++j) {
                sum += A[30 * i + j] * r[j];
                assert_double_near(A[30 * i + j], A[30 * j + i], 0, RELATIVE * largest);
            }
            assert_double_near(sum, 0, 0, RELATIVE * largest);
        }
    }
    free(A);
    free_forms(&f);
}

/* A large matrix, whose sums over points are made when the function is generated, against a loop over the points, which a coefficient with the value 1 asks for. Entries are equal; operations
 * per entry of a block are two for each factor, of which symmetry of the gradients leaves 6 of 9 or all 9. */
static void check_large(const char *arguments, int size, long most_operations) {
    char text[600];
    snprintf(text, sizeof text,
             "%sone = Coefficient(FiniteElement('P', tetrahedron, 1))\nd = dx(degree=6)\n"
             "forms = [form*d, one*form*d]\n",
             arguments);
    fixture f = read_forms(text);
    static const double x[] = {0, 0, 0.1, 1, 0.1, 0, 0.2, 0.8, 0, 0.1, 0.1, 1.2},
                        one[] = {1, 1, 1, 1};
    const double *data[] = {x, one};
    double *loop = calloc((size_t)size, sizeof *loop), *sums = calloc((size_t)size, sizeof *sums);
    double largest = 0;
    weft_error error = {0};
    tensor(&f, 1, -1, data, size, loop);
    for (int i = 0; i < size; ++i)
        largest = fmax(largest, fabs(loop[i]));
    f.ufl->context.error = &error;
    const ufl_lowered *lowered =
        ufl_lower_integral(&f.ufl->graph, f.ufl->prepared[0], 0, "large", NULL);
    assert_non_null(lowered);
    assert_int_equal(lowered->representation, UFL_REFERENCE_TENSOR);
    assert_in_range(lowered->flops, 1, most_operations);
    tensor(&f, 0, -1, data, size, sums);
    for (int i = 0; i < size; ++i)
        assert_double_near(sums[i], loop[i], 0, RELATIVE * largest);
    free(loop);
    free(sums);
    free_forms(&f);
}

static void large_matrices(void **state) {
    (void)state;
    check_large(
        "e = FiniteElement('P', tetrahedron, 4)\nu = TrialFunction(e)\nv = TestFunction(e)\n"
        "form = dot(grad(u), grad(v))\n",
        35 * 35, 35 * 35 * 12 + 200);
    check_large(
        "e = VectorElement('P', tetrahedron, 2)\nu = TrialFunction(e)\nv = TestFunction(e)\n"
        "eps = lambda w: sym(grad(w))\n"
        "form = 2*inner(eps(u), eps(v)) + 0.7*div(u)*div(v)\n",
        30 * 30, 30 * 30 * 18 + 600);
    /* two blocks of one kind, and rows without terms */
    check_large("e = FiniteElement('P', tetrahedron, 3)*FiniteElement('P', tetrahedron, 3)\n"
                "u, p = TrialFunctions(e)\nv, q = TestFunctions(e)\n"
                "form = dot(grad(u), grad(v)) + 3*dot(grad(p), grad(v))\n",
                40 * 40, 2 * 20 * 20 * 12 + 400);
}

/* sum over facets of int x.n = d int 1, on cells of every type; trilinear cells have curved faces. */
static void divergence_theorem(void **state) {
    (void)state;
    static const struct {
        const char *name;
        int d, v, facets;
        double x[24];
    } cells[] = {
        {"interval", 1, 2, 2, {0.3, 1.7}},
        {"triangle", 2, 3, 3, {0.1, 0.2, 1.3, -0.1, 0.4, 0.9}},
        {"quadrilateral", 2, 4, 4, {0, 0, 1.2, 0.1, -0.1, 0.9, 1.4, 1.3}},
        {"tetrahedron", 3, 4, 4, {0, 0, 0.1, 1, 0.1, 0, 0.2, 0.8, 0, 0.1, 0.1, 1.2}},
        {"hexahedron", 3, 8, 6, {0,   0,   0,   1.1, 0.1, 0,   -0.1, 0.9, 0.1, 1.2, 1.1, 0,
                                 0.1, 0.1, 1.2, 1.0, 0,   0.9, 0,    1.1, 1,   1.1, 1,   1.3}},
    };
    for (size_t k = 0; k < sizeof cells / sizeof cells[0]; ++k) {
        char text[300];
        snprintf(text, sizeof text,
                 "x = SpatialCoordinate(%s)\nn = FacetNormal(%s)\none = Constant(%s)\n"
                 "M = one*dx\nflux = dot(x, n)*ds(degree=4)\nforms = [M, flux]\n",
                 cells[k].name, cells[k].name, cells[k].name);
        fixture f = read_forms(text);
        const double one = 1, *data[] = {cells[k].x, &one};
        double volume = 0, flux = 0;
        tensor(&f, 0, -1, data, 1, &volume);
        for (int facet = 0; facet < cells[k].facets; ++facet) {
            double part = 0;
            tensor(&f, 1, facet, data, 1, &part);
            flux += part;
        }
        assert_true(volume > 0.1);
        assert_double_near(flux, cells[k].d * volume, RELATIVE, RELATIVE);
        free_forms(&f);
    }
}

/* The product without the matrix is the matrix times the vector, for all kinds of terms. */
static void products_without_the_matrix(void **state) {
    (void)state;
    static const double tetrahedron[] = {0, 0, 0.1, 1, 0.1, 0, 0.2, 0.8, 0, 0.1, 0.1, 1.2},
                        b[] = {0.5, -1, 2};
    static const struct {
        const char *text;
        int d, n;
        bool has_b;
    } cases[] = {
        {"e = FiniteElement('P', tetrahedron, 2)\na = dot(grad(TrialFunction(e)), "
         "grad(TestFunction(e)))*dx\n",
         3, 10, false},
        {"e = FiniteElement('P', tetrahedron, 3)\nu = TrialFunction(e)\nv = TestFunction(e)\n"
         "b = VectorConstant(tetrahedron)\na = dot(grad(u), grad(v))*dx + u*v*dx + dot(b, "
         "grad(u))*v*dx + u*v.dx(1)*dx\n",
         3, 20, true},
        {"e = FiniteElement('P', triangle, 4)\na = dot(grad(TrialFunction(e)), "
         "grad(TestFunction(e)))*dx\n",
         2, 15, false},
        {"e = VectorElement('P', tetrahedron, 2)\nu = TrialFunction(e)\nv = TestFunction(e)\n"
         "a = (inner(sym(grad(u)), sym(grad(v))) + 0.7*div(u)*div(v))*dx\n",
         3, 30, false},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; ++k) {
        const int n = cases[k].n;
        const double *x = cases[k].d == 3 ? tetrahedron : triangle;
        fixture f = read_forms(cases[k].text);
        weft_error error = {0};
        double *A = calloc((size_t)(n * n + 2 * n), sizeof *A), *v = A + n * n, *y = v + n,
               largest = 0;
        assert_non_null(A);
        const double *matrix_data[] = {x, b}, *product_data[] = {x, v, b};
        for (int i = 0; i < n; ++i)
            v[i] = cos(3 * i + 1);
        tensor(&f, 0, -1, matrix_data, n * n, A);
        f.ufl->context.error = &error;
        const ufl_lowered *product = ufl_lower_product(&f.ufl->graph, f.ufl->prepared[0], 0,
                                                       "product", f.ufl->prepared[0]->arguments[1]);
        if (!product)
            fail_msg("%s", error.message);
        if (forms_run(f.device, product, product_data, 1, y, &error) != WEFT_OK)
            fail_msg("%s", error.message);
        for (int i = 0; i < n; ++i)
            largest = fmax(largest, fabs(y[i]));
        assert_true(largest > 1e-3);
        for (int i = 0; i < n; ++i) {
            double sum = 0;
            for (int j = 0; j < n; ++j)
                sum += A[i * n + j] * v[j];
            assert_double_near(y[i], sum, 0, RELATIVE * largest);
        }
        free(A);
        free_forms(&f);
    }
}

/* Lanes compute both branches of a condition: what is not a number in the other one must not leak, nor its derivative. */
static void other_branches_do_not_leak(void **state) {
    (void)state;
    fixture f =
        read_forms("e = FiniteElement('P', triangle, 1)\nv = TestFunction(e)\nw = Coefficient(e)\n"
                   "M = conditional(gt(w, 0), w*sqrt(w) + ln(w), -2*w)*dx(degree=2)\n"
                   "forms = [M, derivative(M, w, v)]\n");
    const double area = fabs((triangle[2] - triangle[0]) * (triangle[5] - triangle[1]) -
                             (triangle[4] - triangle[0]) * (triangle[3] - triangle[1])) /
                        2;
    const double values[] = {-1.5, 4}; /* w is constant: sqrt(4) = 2 */
    const double integrals[] = {3, 8 + log(4)}, slopes[] = {-2, 3 + 0.25};
    for (int k = 0; k < 2; ++k) {
        const double w[] = {values[k], values[k], values[k]}, *data[] = {triangle, w};
        double integral = 0, b[3];
        tensor(&f, 0, -1, data, 1, &integral);
        tensor(&f, 1, -1, data, 3, b);
        assert_double_near(integral, integrals[k] * area, RELATIVE, RELATIVE);
        for (int i = 0; i < 3; ++i)
            assert_double_near(b[i], slopes[k] * area / 3, RELATIVE, RELATIVE);
    }
    free_forms(&f);
}

/* What is not compiled is refused at its line. */
static void refusals(void **state) {
    (void)state;
    fixture f = read_forms("e = FiniteElement('P', triangle, 1)\nv = TestFunction(e)\n"
                           "L = bessel_K(0, Coefficient(e))*v*dx\n");
    weft_error error = {0};
    f.ufl->context.error = &error;
    assert_null(ufl_lower_integral(&f.ufl->graph, f.ufl->prepared[0], 0, "tensor", NULL));
    assert_int_equal(error.status, WEFT_ERROR_UNSUPPORTED);
    assert_int_equal(error.line, 3);
    assert_non_null(strstr(error.message, "Bessel"));
    free_forms(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stiffness_and_mass_of_p1),
        cmocka_unit_test(elasticity_keeps_rigid_bodies),
        cmocka_unit_test(large_matrices),
        cmocka_unit_test(divergence_theorem),
        cmocka_unit_test(products_without_the_matrix),
        cmocka_unit_test(other_branches_do_not_leak),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
