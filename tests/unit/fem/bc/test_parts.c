/* labels: quick */
/* The parts of meshes as kernels for set-up find them, on an emulated GPU or the device that
 * WEFT_TEST_DEVICE names, and on the host: a strip of triangles whose nodes are numbered at random is
 * one part, which only conditions with values fix; cut, it is two, of which each needs one. */
#include "fem/weft_fem.h"
#include "setup_support.h"
#include "test_support.h"

/* Node k of the strip is at (k / 2, k % 2); triangle k has the nodes k, k + 1, k + 2. The triangles
 * `cut` and `cut` + 1 are left out. */
static weft_mesh *strip(int64_t n, int64_t cut) {
    weft_mesh *mesh = NULL;
    weft_error error = {0};
    uint64_t seed = 3;
    int32_t *number = weft_array_make((size_t)n, sizeof *number);
    weft_mesh_data data = {.dimension = 2, .n_nodes = n};
    data.x = weft_array_make((size_t)n * 2, sizeof *data.x);
    data.cells = weft_array_make((size_t)n * 3, sizeof *data.cells);
    for (int64_t k = 0; k < n; ++k)
        number[k] = (int32_t)k;
    for (int64_t k = n - 1; k > 0; --k) {
        const int64_t other = (int64_t)(setup_random(&seed) % (uint64_t)(k + 1));
        const int32_t kept = number[k];
        number[k] = number[other];
        number[other] = kept;
    }
    for (int64_t k = 0; k < n; ++k) {
        data.x[2 * number[k]] = (double)(k / 2);
        data.x[2 * number[k] + 1] = (double)(k % 2);
    }
    for (int64_t k = 0; k + 2 < n; ++k) {
        if (cut >= 0 && (k == cut || k == cut + 1))
            continue;
        for (int v = 0; v < 3; ++v)
            data.cells[3 * data.n_cells + v] = number[k + v];
        ++data.n_cells;
    }
    if (weft_mesh_make(&data, "strip", NULL, &mesh, &error) != WEFT_OK)
        fail_msg("%s", error.message);
    free(number);
    return mesh;
}

static void check_strip(weft_device *device, int degree, int64_t n, int64_t cut) {
    weft_library *library = NULL;
    weft_mesh *mesh = strip(n, cut);
    weft_space *space = NULL;
    assert_int_equal(weft_fem_library_make(&library, NULL), WEFT_OK);
    weft_context context = {.device = device, .library = library};
    assert_int_equal(
        weft_space_make(device, mesh, (weft_element_kind){WEFT_LAGRANGE, degree}, 1, &space, NULL),
        WEFT_OK);
    for (int has_value = 0; has_value < 2; ++has_value) {
        const weft_condition condition = {
            has_value ? WEFT_DIRICHLET : WEFT_NEUMANN, "boundary", "1", NULL, NULL, 0};
        weft_bc *bc = NULL;
        weft_error error = {0};
        bool is_free = !has_value;
        assert_int_equal(weft_bc_make(&context, space, &condition, 1, &bc, NULL), WEFT_OK);
        const weft_status status = weft_bc_find_free(bc, 0, &is_free, &error);
        assert_int_equal(status, cut < 0 || has_value ? WEFT_OK : WEFT_ERROR_INPUT);
        if (status == WEFT_OK)
            assert_int_equal(is_free, !has_value);
        else
            assert_non_null(strstr(error.message, "2 parts that do not touch"));
        weft_bc_free(&bc);
    }
    weft_space_free(&space);
    weft_mesh_free(&mesh);
    weft_library_free(&library);
}

static void strips(void **state) {
    (void)state;
    static const int64_t sizes[] = {3, 35, 257, 3000};
    weft_device *host = NULL, *device = setup_device();
    assert_int_equal(weft_device_open("host:2", NULL, &host, NULL), WEFT_OK);
    for (int i = 0; i < 4; ++i) {
        for (int degree = 1; degree < 3; ++degree) {
            check_strip(device, degree, sizes[i], -1);
            check_strip(host, degree, sizes[i], -1);
            if (sizes[i] > 30) {
                check_strip(device, degree, sizes[i], sizes[i] / 3);
                check_strip(host, degree, sizes[i], sizes[i] / 3);
            }
        }
    }
    weft_device_free(&host);
    weft_device_free(&device);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(strips)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
