/* labels: quick */
/* Sums over cells on the host and by kernels for set-up: integrals of 1 + x + 2 y over the unit square, 5/2,
 * by 2 (more than three blocks of threads) to 20,000 cells. A sum of n terms by pairs is off by log2 n
 * roundings at most; 1e-13 is ten times as much. */
#include "core/weft_core.h"
#include "fem/weft_fem.h"
#include "setup_support.h"
#include "test_support.h"

static void check_sum(weft_device *device, const char *name) {
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
    assert_int_equal(weft_form_ship(space, "integral.weft", weft_space_cells(space), &form, NULL),
                     WEFT_OK);
    weft_form_bind_input(&form, "u", u);
    if (weft_form_sum(&context, &form, mesh->n_cells, names, 1, &sum, &error) != WEFT_OK)
        fail_msg("%s", error.message);
    assert_double_near(sum, 2.5, 0, 1e-13);
    weft_memory_free(&u);
    free(values);
    weft_space_free(&space);
    weft_mesh_free(&mesh);
    weft_library_free(&library);
}

static void integrals(void **state) {
    (void)state;
    static const char *const meshes[] = {"square:1", "square:20", "square:100"};
    for (int i = 0; i < 3; ++i) {
        weft_device *host = NULL, *device = setup_device();
        assert_int_equal(weft_device_open("host:1", NULL, &host, NULL), WEFT_OK);
        check_sum(host, meshes[i]);
        check_sum(device, meshes[i]);
        weft_device_free(&host);
        weft_device_free(&device);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(integrals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
