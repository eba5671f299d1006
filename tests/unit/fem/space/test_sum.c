/* labels: quick */
/* Sums over cells on the host and by kernels for set-up: integrals of 1 + x + 2 y over the unit square, 5/2,
 * by 2 (more than three blocks of threads) to 20,000 cells. On a device with little memory the same sum comes
 * of three shares of the cells, bit by bit, and a form that reads a list over cells is not shared. A sum of n
 * terms by pairs is off by log2 n roundings at most; 1e-13 is ten times as much. */
#include "core/weft_core.h"
#include "fem/weft_fem.h"
#include "setup_support.h"
#include "test_support.h"

static const char weighted[] = "parameter d = 2;\n"
                               "index cells, nodes;\n"
                               "connectivity dofs : cells -> nodes[d + 1];\n"
                               "input x : real[d] over nodes;\n"
                               "input weight : real over cells;\n"
                               "input u : real over nodes;\n"
                               "I = weight*quadrature_integral(interpolate(u[dofs], degree = 1), "
                               "jacobian(x[dofs]), degree = 1);\n";

/* The same times 2, the weight of each cell. */
static void check_weighted(weft_context *context, const weft_space *space, weft_memory *u) {
    static const char *const names[] = {"I"};
    const int64_t n_cells = weft_space_mesh(space)->n_cells,
                  lanes = weft_device_limits(context->device)->lanes_double,
                  n_padded = (n_cells + lanes - 1) / lanes * lanes;
    weft_bound_form form;
    weft_memory *weight = NULL;
    weft_error error = {0};
    double *values = weft_array_make((size_t)n_padded, sizeof *values), sum = 0;
    for (int64_t i = 0; i < n_padded; ++i)
        values[i] = 2;
    assert_int_equal(
        weft_memory_wrap(context->device, values, (size_t)n_padded * sizeof *values, &weight, NULL),
        WEFT_OK);
    weft_form_start("weighted", weighted, weft_space_cells(space), &form);
    weft_form_bind_input(&form, "x", weft_space_coordinates(space));
    weft_form_bind_input(&form, "weight", weight);
    weft_form_bind_input(&form, "u", u);
    if (weft_form_sum(context, &form, n_cells, names, 1, &sum, &error) != WEFT_OK)
        fail_msg("%s", error.message);
    assert_double_near(sum, 5, 0, 1e-13);
    weft_memory_free(&weight);
    free(values);
}

static const char integral_text[] =
    "index cells, nodes;\nconnectivity dofs : cells -> nodes[3];\ninput x : real[2] over nodes;\n"
    "input u : real over nodes;\n"
    "I = quadrature_integral(interpolate(u[dofs], degree = 1), jacobian(x[dofs]), degree = 1);\n";

static double check_sum(weft_device *device, const char *name) {
    weft_library *library = NULL;
    weft_mesh *mesh = NULL;
    weft_space *space = NULL;
    weft_memory *u = NULL;
    weft_bound_form form;
    weft_error error = {0};
    static const char *const names[] = {"I"};
    double sum = 0;
    assert_int_equal(weft_fem_library_make(&library, NULL), WEFT_OK);
    weft_context context = {.device = device, .library = library};
    assert_int_equal(weft_mesh_read(name, 0, NULL, &mesh, NULL), WEFT_OK);
    assert_int_equal(weft_space_make(device, mesh, WEFT_ELEMENT_P1, 1, &space, NULL), WEFT_OK);
    double *values = weft_array_make((size_t)mesh->n_nodes, sizeof *values);
    for (int64_t i = 0; i < mesh->n_nodes; ++i)
        values[i] = 1 + mesh->x[2 * i] + 2 * mesh->x[2 * i + 1];
    assert_int_equal(
        weft_memory_wrap(device, values, (size_t)mesh->n_nodes * sizeof *values, &u, NULL),
        WEFT_OK);
    weft_form_start("integral", integral_text, weft_space_cells(space), &form);
    weft_form_bind_input(&form, "x", weft_space_coordinates(space));
    weft_form_bind_input(&form, "u", u);
    if (weft_form_sum(&context, &form, mesh->n_cells, names, 1, &sum, &error) != WEFT_OK)
        fail_msg("%s", error.message);
    assert_double_near(sum, 2.5, 0, 1e-13);
    check_weighted(&context, space, u);
    weft_memory_free(&u);
    free(values);
    weft_space_free(&space);
    weft_mesh_free(&mesh);
    weft_library_free(&library);
    return sum;
}

static void integrals(void **state) {
    (void)state;
    static const char *const meshes[] = {"square:1", "square:20", "square:100"};
    for (int i = 0; i < 3; ++i) {
        weft_device *host = NULL, *device = setup_device();
        assert_int_equal(weft_device_open("host:1", NULL, &host, NULL), WEFT_OK);
        check_sum(host, meshes[i]);
        const double sum = check_sum(device, meshes[i]);
        /* 12 bytes for each of 60,000 indices are more than a sixteenth of this memory */
        device->limits.memory_bytes = (size_t)10e6;
        const double shared = check_sum(device, meshes[i]);
        assert_memory_equal(&sum, &shared, sizeof sum);
        weft_device_free(&host);
        weft_device_free(&device);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(integrals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
