/* labels: quick */
/* Matrices made by several functions: entries against integrals of polynomials by rules of degree 3 from the literature
 * (Strang and Fix 1973; Keast 1986), with each body on the host and on an emulated GPU; operations; and
 * what kernels for an H200 take. */
#include "test_support.h"

#include "emulated_gpu.h"
#include "forms_support.h"

#include "core/weft_launch.h"

#include <math.h>
#include <stdio.h>

#define RELATIVE 1e-12 /* sums of at most a thousand products */

enum { SPILL_MOST = 256 /* bytes of a thread */ };

typedef struct fixture {
    weft_ufl *ufl;
    const ufl_lowered *lowered;
    weft_error error;
} fixture;

static void lower(fixture *f, const char *text) {
    if (weft_ufl_read_text("forms.ufl", text, strlen(text), NULL, &f->ufl, &f->error) != WEFT_OK)
        fail_msg("%d: %s", f->error.line, f->error.message);
    f->ufl->context.error = &f->error;
    f->lowered = ufl_lower_integral(&f->ufl->graph, f->ufl->prepared[0], 0, "tensor", NULL);
    if (!f->lowered)
        fail_msg("%d: %s", f->error.line, f->error.message);
}

static const double x[4][3] = {{0, 0, 0.1}, {1, 0.1, 0}, {0.2, 0.8, 0}, {0.1, 0.1, 1.2}};
static const double nodes[10][4] = {{1, 0, 0, 0},   {0, 1, 0, 0},   {0, 0, 1, 0},   {0, 0, 0, 1},
                                    {0, 0, .5, .5}, {0, .5, 0, .5}, {0, .5, .5, 0}, {.5, 0, 0, .5},
                                    {.5, 0, .5, 0}, {.5, .5, 0, 0}};

static void place(const double *barycentric, double *out) {
    for (int c = 0; c < 3; ++c) {
        out[c] = 0;
        for (int v = 0; v < 4; ++v)
            out[c] += barycentric[v] * x[v][c];
    }
}

/* q = y.Hy/2 + g.y, of which number k is one of three; its value or derivative by axis c */
static double quadratic(int k, const double *y, int c) {
    static const double H[3][3][3] = {{{2, 1, 0}, {1, -1, 3}, {0, 3, 1}},
                                      {{0, -2, 1}, {-2, 3, 0}, {1, 0, 4}},
                                      {{1, 0.5, -1}, {0.5, 2, 0.25}, {-1, 0.25, -3}}};
    static const double g[3][3] = {{1, -1, 2}, {0.5, 2, 0}, {-1, 1, 1}};
    double value = 0;
    for (int a = 0; a < 3; ++a) {
        double slope = 0;
        for (int b = 0; b < 3; ++b)
            slope += H[k][a][b] * y[b];
        if (a == c)
            return slope + g[k][a];
        value += y[a] * (slope / 2 + g[k][a]);
    }
    return value;
}

static double coefficient(const double *y) {
    return 2 + y[0] - 0.5 * y[1] + 0.25 * y[2];
}

static double volume(void) {
    double e[3][3];
    for (int v = 0; v < 3; ++v)
        for (int c = 0; c < 3; ++c)
            e[v][c] = x[v + 1][c] - x[0][c];
    return (e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) -
            e[0][1] * (e[1][0] * e[2][2] - e[1][2] * e[2][0]) +
            e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0])) /
           6;
}

/* Of test functions p and trial functions q with the gradients dp[component][axis]. */
typedef double integrand(double f, double p[3][3], double q[3][3]);

static double laplace(double f, double p[3][3], double q[3][3]) {
    return f * (p[0][0] * q[0][0] + p[0][1] * q[0][1] + p[0][2] * q[0][2]);
}

/* f (2 e(p):e(q) + 0.7 div p div q) */
static double elasticity(double f, double p[3][3], double q[3][3]) {
    double sum = 0.7 * (p[0][0] + p[1][1] + p[2][2]) * (q[0][0] + q[1][1] + q[2][2]);
    for (int a = 0; a < 3; ++a)
        for (int b = 0; b < 3; ++b)
            sum += 0.5 * (p[a][b] + p[b][a]) * (q[a][b] + q[b][a]);
    return f * sum;
}

/* The rule of degree 3 with 5 points. */
static double integrate(integrand *of) {
    double sum = 0;
    for (int point = 0; point < 5; ++point) {
        double at[4], y[3], p[3][3], q[3][3];
        for (int v = 0; v < 4; ++v)
            at[v] = point == 4 ? 0.25 : v == point ? 0.5 : 1. / 6;
        place(at, y);
        for (int k = 0; k < 9; ++k) {
            p[k / 3][k % 3] = quadratic(k / 3, y, k % 3);
            q[k / 3][k % 3] = quadratic((k / 3 + 1) % 3, y, k % 3);
        }
        sum += (point == 4 ? -0.8 : 0.45) * of(coefficient(y), p, q);
    }
    return sum * volume();
}

/* p.A q with the values of p and q at the nodes. */
static void check_energy(bool on_gpu, bool single, int variant, const fixture *f, int components,
                         double expected) {
    double data_f[10], data_x[12], y[3], energy = 0, size = 0;
    const double *data[] = {data_x, data_f};
    const int n = 10 * components;
    double *A = calloc((size_t)(n * n), sizeof *A);
    forms_job job = {0};
    forms_way way = {NULL, single, variant};
    weft_error error = {0};
    assert_non_null(A);
    assert_int_equal(weft_device_open("host:1", NULL, &way.device, &error), WEFT_OK);
    if (on_gpu)
        emulated_gpu_make(way.device);
    memcpy(data_x, x, sizeof data_x);
    for (int i = 0; i < 10; ++i) {
        place(nodes[i], y);
        data_f[i] = coefficient(y);
    }
    if (forms_job_make(&job, &way, f->lowered, data, 1, &error) != WEFT_OK ||
        forms_job_run(&job, A, &error) != WEFT_OK)
        fail_msg("body %d: %s", variant, error.message);
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) {
            double p[3], q[3];
            place(nodes[i / components], p);
            place(nodes[j / components], q);
            const double part = quadratic(i % components, p, -1) * A[i * n + j] *
                                quadratic((j % components + 1) % 3, q, -1);
            energy += part;
            size += fabs(part);
        }
    assert_double_near(energy, expected, 0, (single ? 1e-4 : RELATIVE) * size);
    forms_job_free(&job);
    weft_device_free(&way.device);
    free(A);
}

#define ELASTIC                                                                                    \
    "u, v = TrialFunction(e), TestFunction(e)\neps = lambda w: sym(grad(w))\n"                     \
    "a = f*(2*inner(eps(u), eps(v)) + 0.7*div(u)*div(v))*dx\n"
static const char scalar_p2[] = "e = FiniteElement('P', tetrahedron, 2)\nf = Coefficient(e)\n"
                                "a = f*dot(grad(TrialFunction(e)), grad(TestFunction(e)))*dx\n";
static const char vector_p2[] = "f = Coefficient(FiniteElement('P', tetrahedron, 2))\ne = "
                                "VectorElement('P', tetrahedron, 2)\n" ELASTIC;

static const char vector_q1[] = "f = Coefficient(FiniteElement('Q', hexahedron, 1))\ne = "
                                "VectorElement('Q', hexahedron, 1)\n" ELASTIC;

static void energies_by_all_bodies(void **state) {
    (void)state;
    fixture scalar = {0}, vector = {0};
    lower(&scalar, scalar_p2);
    lower(&vector, vector_p2);
    for (int variant = 0; variant < 3; ++variant)
        for (int k = 0; k < 4; ++k) {
            check_energy(k / 2, k % 2, variant, &scalar, 1, integrate(laplace));
            check_energy(k / 2, k % 2, variant, &vector, 3, integrate(elasticity));
        }
    weft_ufl_free(&scalar.ufl);
    weft_ufl_free(&vector.ufl);
}

/* The determinant of the Jacobian of a trilinear map is of degree 2 in each direction: Gauss's rule of 2 points is exact. */
static double hexahedron_volume(double y[8][3]) {
    double sum = 0;
    for (int point = 0; point < 8; ++point) {
        double J[3][3] = {{0}}, at[3];
        for (int c = 0; c < 3; ++c)
            at[c] = 0.5 + ((point >> c & 1) ? 0.5 : -0.5) / sqrt(3);
        for (int v = 0; v < 8; ++v)
            for (int k = 0; k < 9; ++k) {
                double slope = 1;
                for (int c = 0; c < 3; ++c) {
                    const bool far = v >> c & 1;
                    slope *= c == k % 3 ? (far ? 1 : -1) : far ? at[c] : 1 - at[c];
                }
                J[k / 3][k % 3] += y[v][k / 3] * slope;
            }
        for (int k = 0; k < 3; ++k)
            sum += J[0][k] *
                   (J[1][(k + 1) % 3] * J[2][(k + 2) % 3] - J[1][(k + 2) % 3] * J[2][(k + 1) % 3]) /
                   8;
    }
    return sum;
}

/* On hexahedra with modulus f = 1 rotations have no forces, and u = x has the energy 2*3 + 0.7*9 times the volume. */
static void check_hexahedron(bool on_gpu, int variant, const fixture *f) {
    static const double shift[4][3] = {
        {0.1, -0.05, 0.02}, {0.03, 0.08, -0.1}, {-0.07, 0.05, 0.04}, {0.02, -0.1, 0.06}};
    double y[8][3], one[8], A[24 * 24] = {0}, modes[4][24], energy = 0;
    const double *data[] = {y[0], one};
    forms_job job = {0};
    forms_way way = {NULL, false, variant};
    weft_error error = {0};
    for (int v = 0; v < 8; ++v) {
        one[v] = 1;
        for (int c = 0; c < 3; ++c)
            y[v][c] = (v >> c & 1) + (v < 4 ? shift[v][c] : -shift[7 - v][c]);
        for (int c = 0; c < 3; ++c) {
            modes[3][3 * v + c] = y[v][c];
            for (int k = 0; k < 3; ++k)
                modes[k][3 * v + c] = c == (k + 1) % 3   ? y[v][(k + 2) % 3]
                                      : c == (k + 2) % 3 ? -y[v][(k + 1) % 3]
                                                         : 0;
        }
    }
    assert_int_equal(weft_device_open("host:1", NULL, &way.device, &error), WEFT_OK);
    if (on_gpu)
        emulated_gpu_make(way.device);
    if (forms_job_make(&job, &way, f->lowered, data, 1, &error) != WEFT_OK ||
        forms_job_run(&job, A, &error) != WEFT_OK)
        fail_msg("body %d: %s", variant, error.message);
    for (int i = 0; i < 24; ++i)
        for (int k = 0; k < 4; ++k) {
            double force = 0;
            for (int j = 0; j < 24; ++j)
                force += A[24 * i + j] * modes[k][j];
            if (k < 3)
                assert_double_near(force, 0, 0, RELATIVE);
            else
                energy += modes[3][i] * force;
        }
    assert_double_near(energy, (2 * 3 + 0.7 * 9) * hexahedron_volume(y), 0, 100 * RELATIVE);
    forms_job_free(&job);
    weft_device_free(&way.device);
}

static void hexahedra_by_all_bodies(void **state) {
    (void)state;
    fixture f = {0};
    lower(&f, vector_q1);
    for (int variant = 0; variant < 3; ++variant)
        for (int on_gpu = 0; on_gpu < 2; ++on_gpu)
            check_hexahedron(on_gpu, variant, &f);
    weft_ufl_free(&f.ufl);
}

/* Gradients of degree p are in the polynomials of degree p - 1, of dimension r: 4 and 10 in space. Row by row there are r (3 + 3 + 3 n)
 * multiply-adds for an entry of the tensor and its columns, r r 3 for the moments with the test function; moments of pairs and
 * the coefficient at the points take less than half as many. By points there would be 14 and 35 instead of r. */
static void operations(void **state) {
    (void)state;
    static const int r[] = {4, 10}, n[] = {10, 20};
    for (int p = 2; p < 4; ++p) {
        char text[300];
        fixture f = {0};
        snprintf(text, sizeof text,
                 "e = FiniteElement('P', tetrahedron, %d)\nf = Coefficient(e)\n"
                 "a = f*dot(grad(TrialFunction(e)), grad(TestFunction(e)))*dx\n",
                 p);
        lower(&f, text);
        const long rows = 2L * n[p - 2] * r[p - 2] * (3 * r[p - 2] + 9 + 3 * n[p - 2]);
        assert_in_range(f.lowered->flops, rows, rows * 3 / 2);
        weft_ufl_free(&f.ufl);
    }
}

/* The kernels of a form for an H200 by NVRTC, as the planner chooses them. */
static void check_spills(const char *text) {
    fixture f = {0};
    weft_device *device = NULL;
    weft_library *library = NULL;
    weft_compilation *compilation = NULL;
    weft_module *module = NULL;
    weft_text script = {0};
    lower(&f, text);
    const weft_compile_options options = {.size = sizeof options};
    assert_int_equal(weft_device_open("null:h200", NULL, &device, &f.error), WEFT_OK);
    assert_int_equal(weft_library_make(&library, &f.error), WEFT_OK);
    assert_int_equal(ufl_lowered_add(&f.lowered, 1, library, &f.error), WEFT_OK);
    forms_script(f.lowered, &script);
    const weft_fragment fragment = {"tensors", script.data};
    assert_int_equal(weft_compile(library, weft_device_limits(device), &fragment, 1, &options,
                                  &compilation, &f.error),
                     WEFT_OK);
    weft_status status = weft_compilation_correct(compilation, device, &f.error);
    if (status == WEFT_OK)
        status = weft_module_make(device, "tensors", weft_compilation_source(compilation), &module,
                                  &f.error);
    for (int i = 0; status == WEFT_OK && i < weft_compilation_kernels(compilation); ++i) {
        weft_kernel_info info;
        weft_kernel_resources used;
        weft_compilation_kernel(compilation, i, &info);
        assert_int_equal(weft_module_kernel_resources(module, info.name, &used, &f.error), WEFT_OK);
        assert_in_range(used.spill_store_bytes, 0, SPILL_MOST);
        assert_in_range(used.spill_load_bytes, 0, SPILL_MOST);
    }
    weft_module_free(&module);
    weft_compilation_free(&compilation);
    weft_library_free(&library);
    weft_device_free(&device);
    weft_text_free(&script);
    weft_ufl_free(&f.ufl);
    if (status == WEFT_ERROR_COMPILER && strstr(f.error.message, "not found")) {
        printf("skipped: NVRTC is missing\n");
        skip();
    }
    assert_int_equal(status, WEFT_OK);
}

static void kernels_do_not_spill(void **state) {
    (void)state;
    static const char scalar_p3[] = "e = FiniteElement('P', tetrahedron, 3)\nf = Coefficient(e)\n"
                                    "a = f*dot(grad(TrialFunction(e)), grad(TestFunction(e)))*dx\n";
    const char *const forms[] = {scalar_p2, scalar_p3, vector_p2, vector_q1};
    for (int i = 0; i < 4; ++i)
        check_spills(forms[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(energies_by_all_bodies), cmocka_unit_test(hexahedra_by_all_bodies),
        cmocka_unit_test(operations), cmocka_unit_test(kernels_do_not_spill)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
