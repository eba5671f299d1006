/* labels: full */
/* Integrals over cells by kernels of a GPU against integrals by hand and those of the host: all cells, straight and curved, in
 * shuffled meshes, for elements of several degrees and components whose values begin inside of a vector. Runs on an
 * emulated GPU, or on the device that WEFT_TEST_DEVICE names. */
#include "curved_support.h"
#include "fem/space/space.h"
#include "fusion/connectivity/connectivity.h"
#include "setup_support.h"
#include "shuffled_mesh.h"

#include <math.h>

static const char *const names[] = {"interval:5", "square:3", "quads:3", "cube:2", "hexes:2"};
enum { N_MESHES = 5, FIRST = 7, COMPONENTS = 3 };

/* Sums of at most some thousand terms of size 1. */
static const double NEAR = 1e-12;

static double power_sum(const double *x, int d, int degree) {
    double sum = 0;
    for (int a = 0; a < d; ++a)
        sum += pow(x[a], degree);
    return sum;
}

/* sum_a x_a^degree in component 1, 1000 elsewhere, from entry FIRST on. */
static double *values_of(const weft_space *space, int degree) {
    const int d = weft_space_mesh(space)->dimension;
    const int64_t n = weft_space_nodes(space);
    const double *x = weft_space_points(space);
    double *values = malloc((size_t)(FIRST + n * COMPONENTS) * sizeof *values);
    assert_non_null(values);
    for (int64_t i = 0; i < FIRST + n * COMPONENTS; ++i)
        values[i] = 1000;
    for (int64_t i = 0; i < n; ++i)
        values[FIRST + i * COMPONENTS + 1] = power_sum(x + i * d, d, degree);
    return values;
}

/* Of a function on the host, or on the device too, where a kernel is launched if it is for such functions. */
static double integral_of(const weft_space *space, const double *values, bool is_there,
                          bool has_kernel) {
    const size_t bytes = (size_t)(FIRST + weft_space_dofs(space)) * sizeof *values;
    weft_device *device = weft_space_device(space);
    weft_space_values u = {.values = values + FIRST, .first = FIRST};
    weft_memory *memory = NULL;
    weft_error error = {0};
    double out = 0;
    assert_int_equal(weft_memory_make(device, bytes, &memory, NULL), WEFT_OK);
    assert_int_equal(weft_memory_write(memory, 0, values, bytes, NULL), WEFT_OK);
    u.memory = is_there ? memory : NULL;
    const int64_t before = weft_device_launches(device);
    if (weft_space_integral_of(space, &u, 1, &out, &error) != WEFT_OK)
        fail_msg("%s", error.message);
    assert_int_equal(weft_device_launches(device) - before, is_there && has_kernel ? 1 : 0);
    weft_memory_free(&memory);
    return out;
}

/* is_unit: the mesh fills [0, 1]^d with straight cells */
static void compare(weft_device *device, const weft_mesh *mesh, weft_element_kind kind,
                    bool is_unit) {
    weft_space *space = NULL;
    double measure = 0;
    assert_int_equal(weft_space_make(device, mesh, kind, COMPONENTS, &space, NULL), WEFT_OK);
    double *values = values_of(space, kind.degree);
    const bool has_kernel = kind.degree > 1 || !mesh->curve;
    (void)weft_space_cell_nodes(space); /* which the host reads */
    weft_memory *indices = NULL;
    assert_int_equal(weft_connectivity_interleaved(weft_space_cells(space), 32, &indices, NULL),
                     WEFT_OK);
    const double found = integral_of(space, values, true, has_kernel),
                 on_host = integral_of(space, values, false, has_kernel);
    assert_true(fabs(found - on_host) < NEAR);
    assert_int_equal(weft_space_integral(space, NULL, 0, &measure, NULL), WEFT_OK);
    if (is_unit) {
        assert_true(fabs(found - (double)mesh->dimension / (kind.degree + 1)) < NEAR);
        assert_true(fabs(measure - 1) < NEAR);
    }
    double *ones = malloc((size_t)(FIRST + weft_space_dofs(space)) * sizeof *ones);
    for (int64_t i = 0; i < FIRST + weft_space_dofs(space); ++i)
        ones[i] = 1;
    assert_true(fabs(integral_of(space, ones, true, has_kernel) - measure) < NEAR);
    free(ones);
    free(values);
    weft_space_free(&space);
}

static void straight(void **state) {
    (void)state;
    weft_device *device = setup_device();
    for (int i = 0; i < N_MESHES; ++i) {
        weft_mesh *plain = built_in_mesh(names[i]), *mesh = shuffled_mesh(plain);
        for (int degree = 1; degree <= 3; ++degree)
            compare(device, mesh, (weft_element_kind){WEFT_LAGRANGE, degree}, true);
        compare(device, mesh, (weft_element_kind){WEFT_DISCONTINUOUS, 2}, true);
        weft_mesh_free(&plain);
        weft_mesh_free(&mesh);
    }
    weft_device_free(&device);
}

/* Of degree 1 the functions do not contain the map, and the host integrates. */
static void curved(void **state) {
    (void)state;
    weft_device *device = setup_device();
    for (int i = 1; i < N_MESHES; ++i) {
        weft_mesh *mesh = curved_mesh(device, names[i], 2);
        assert_non_null(mesh->curve);
        for (int degree = 1; degree <= 3; ++degree)
            compare(device, mesh, (weft_element_kind){WEFT_LAGRANGE, degree}, false);
        weft_mesh_free(&mesh);
    }
    weft_device_free(&device);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(straight), cmocka_unit_test(curved)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
