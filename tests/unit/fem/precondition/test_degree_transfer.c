/* labels: full */
/* Transfers between functions of two degrees, on the host and on a GPU: linear functions are continued exactly, and restriction is the
 * transpose, (P z, r) = (z, P^T r), of small integers. Runs on an emulated GPU, or on the device that WEFT_TEST_DEVICE names. */
#include "fem/precondition/degree_transfer.h"
#include "fem/weft_mesh.h"
#include "fem/weft_space.h"
#include "fusion/weft_library.h"
#include "setup_support.h"
#include "test_support.h"

#include <math.h>
#include <stdio.h>

typedef struct transfer_case {
    weft_device *device;
    weft_library *library;
    weft_mesh *mesh;
    weft_space *fine, *coarse;
    weft_context context;
    weft_degree_transfer transfer;
    weft_memory *fine_d, *coarse_d, *r, *b, *x, *z;
    int64_t n, n_coarse; /* dofs */
} transfer_case;

static void check(weft_status status, const weft_error *error) {
    char text[2000];
    weft_error_text(error, text, sizeof text);
    if (status != WEFT_OK)
        fail_msg("%s", text);
}

static weft_memory *list(const transfer_case *c, const double *values, int64_t n) {
    weft_memory *out = NULL;
    assert_int_equal(weft_memory_make(c->device, (size_t)n * sizeof(double), &out, NULL), WEFT_OK);
    assert_int_equal(weft_memory_write(out, 0, values, (size_t)n * sizeof(double), NULL), WEFT_OK);
    return out;
}

static double *numbers(int64_t n, int64_t stride, double constant) {
    double *out = calloc((size_t)n + 1, sizeof *out);
    assert_non_null(out);
    for (int64_t i = 0; i < n; ++i)
        out[i] = stride > 0 ? (double)(i * stride % 9 - 4) : constant;
    return out;
}

/* A linear function of each component at the nodes of a space. */
static double *linear(const weft_space *space) {
    const int c = weft_space_components(space), d = weft_space_mesh(space)->dimension;
    const int64_t n = weft_space_nodes(space);
    const double *x = weft_space_points(space);
    double *out = calloc((size_t)(n * c) + 1, sizeof *out);
    assert_non_null(out);
    for (int64_t i = 0; i < n; ++i)
        for (int k = 0; k < c; ++k) {
            out[i * c + k] = 1 + k;
            for (int a = 0; a < d; ++a)
                out[i * c + k] += (a + 2 * k + 1) * x[i * d + a];
        }
    return out;
}

static transfer_case open_case(bool on_gpu, const char *mesh, int degree, int coarser,
                               int components) {
    weft_error error = {0};
    transfer_case c = {0};
    const weft_device_options options = weft_device_options_default(NULL);
    if (on_gpu)
        c.device = setup_device();
    else
        check(weft_device_open("host:1", &options, &c.device, &error), &error);
    check(weft_library_make(&c.library, &error), &error);
    c.context = (weft_context){.device = c.device, .library = c.library};
    check(weft_mesh_read(mesh, 0, NULL, &c.mesh, &error), &error);
    check(weft_space_make(c.device, c.mesh, (weft_element_kind){WEFT_LAGRANGE, degree}, components,
                          &c.fine, &error),
          &error);
    check(weft_space_make(c.device, c.mesh, (weft_element_kind){WEFT_LAGRANGE, coarser}, components,
                          &c.coarse, &error),
          &error);
    c.n = weft_space_dofs(c.fine);
    c.n_coarse = weft_space_dofs(c.coarse);
    check(weft_degree_transfer_make(&c.context, c.fine, c.coarse, &c.transfer, &error), &error);
    double *ones = numbers(c.n, 0, 1), *zeros = numbers(c.n, 0, 0);
    c.fine_d = list(&c, ones, c.n);
    c.coarse_d = list(&c, ones, c.n_coarse);
    c.r = list(&c, zeros, c.n);
    c.x = list(&c, zeros, c.n);
    c.b = list(&c, zeros, c.n_coarse);
    c.z = list(&c, zeros, c.n_coarse);
    free(ones);
    free(zeros);
    const weft_degree_lists lists = {
        .fine_d = c.fine_d, .coarse_d = c.coarse_d, .r = c.r, .b = c.b, .x = c.x, .z = c.z};
    check(weft_degree_transfer_compile(&c.transfer, &lists, &error), &error);
    return c;
}

static void close_case(transfer_case *c) {
    weft_degree_transfer_clear(&c->transfer);
    weft_memory **lists[] = {&c->fine_d, &c->coarse_d, &c->r, &c->b, &c->x, &c->z};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; ++i)
        weft_memory_free(lists[i]);
    weft_space_free(&c->fine);
    weft_space_free(&c->coarse);
    weft_mesh_free(&c->mesh);
    weft_library_free(&c->library);
    weft_device_free(&c->device);
}

static void set(weft_memory *memory, const double *values, int64_t n) {
    assert_int_equal(weft_memory_write(memory, 0, values, (size_t)n * sizeof(double), NULL),
                     WEFT_OK);
}

static void run(transfer_case *c, const weft_compiled *compiled) {
    weft_error error = {0};
    check(weft_compiled_run(&c->context, compiled, NULL, &error), &error);
}

static double product(const double *a, const double *b, int64_t n) {
    double sum = 0;
    for (int64_t i = 0; i < n; ++i)
        sum += a[i] * b[i];
    return sum;
}

static void check_case(bool on_gpu, const char *mesh, int degree, int coarser, int components,
                       bool has_parents) {
    transfer_case c = open_case(on_gpu, mesh, degree, coarser, components);
    const size_t bytes = (size_t)c.n * sizeof(double);
    assert_int_equal(c.transfer.parents != NULL, has_parents);
    double *coarse = linear(c.coarse), *fine = linear(c.fine), *zeros = numbers(c.n, 0, 0);
    set(c.z, coarse, c.n_coarse);
    run(&c, &c.transfer.prolongation);
    double *made = setup_read(c.x, bytes);
    for (int64_t i = 0; i < c.n; ++i)
        assert_true(fabs(made[i] - fine[i]) < 1e-11 * fabs(fine[i]));
    free(made);
    double *z = numbers(c.n_coarse, 5, 0), *r = numbers(c.n, 7, 0);
    set(c.x, zeros, c.n);
    set(c.z, z, c.n_coarse);
    set(c.r, r, c.n);
    run(&c, &c.transfer.prolongation);
    run(&c, &c.transfer.restriction);
    double *Pz = setup_read(c.x, bytes);
    double *Pr = setup_read(c.b, (size_t)c.n_coarse * sizeof(double));
    assert_true(fabs(product(Pz, r, c.n) - product(z, Pr, c.n_coarse)) < 1e-9);
    assert_true(fabs(product(Pr, Pr, c.n_coarse)) > 1);
    free(coarse);
    free(fine);
    free(zeros);
    free(z);
    free(r);
    free(Pz);
    free(Pr);
    close_case(&c);
}

static void check_both(const char *mesh, int degree, int coarser, int components,
                       bool has_parents) {
    check_case(false, mesh, degree, coarser, components, has_parents);
    check_case(true, mesh, degree, coarser, components, has_parents);
}

static void means(void **state) {
    (void)state;
    check_both("square:5", 2, 1, 1, true);
    check_both("square:3", 2, 1, 2, true);
    check_both("cube:3", 2, 1, 1, true);
    check_both("cube:2", 2, 1, 3, true);
    check_both("interval:7", 2, 1, 1, true);
}

static void cells(void **state) {
    (void)state;
    check_both("square:4", 3, 2, 1, false);
    check_both("quads:3", 2, 1, 2, false);
    check_both("hexes:2", 2, 1, 1, false);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(means), cmocka_unit_test(cells)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
