/* labels: quick */
/* A connectivity whose indices are on a device alone: its forms are those of one with indices on the host, an index out of
 * range is refused, and released indices are read before. On an emulated GPU, or the device that WEFT_TEST_DEVICE
 * names. */
#include "fusion/connectivity/connectivity.h"
#include "setup_support.h"
#include "test_support.h"

enum { N = 333, WIDTH = 4, TO = 70 };

static weft_memory *place(weft_device *device, const int32_t *indices) {
    weft_memory *out = NULL;
    const size_t bytes = N * WIDTH * sizeof *indices;
    assert_int_equal(weft_memory_make(device, bytes, &out, NULL), WEFT_OK);
    assert_int_equal(weft_memory_write(out, 0, indices, bytes, NULL), WEFT_OK);
    return out;
}

static void compare(weft_connectivity *found, weft_connectivity *expected, int lanes) {
    weft_memory *lists[2][3];
    weft_connectivity *const both[] = {found, expected};
    for (int k = 0; k < 2; ++k) {
        assert_int_equal(weft_connectivity_interleaved(both[k], lanes, &lists[k][0], NULL),
                         WEFT_OK);
        assert_int_equal(
            weft_connectivity_transposed(both[k], 32, &lists[k][1], &lists[k][2], NULL), WEFT_OK);
    }
    for (int i = 0; i < 3; ++i) {
        const size_t bytes = weft_memory_bytes(lists[1][i]);
        void *copy = setup_read(lists[1][i], bytes);
        assert_int_equal(weft_memory_bytes(lists[0][i]), bytes);
        setup_equal("form", lists[0][i], copy, bytes);
        free(copy);
    }
}

static void indices_on_the_device(void **state) {
    (void)state;
    weft_device *device = setup_device();
    weft_connectivity *found = NULL, *expected = NULL;
    weft_memory *plain = NULL;
    weft_error error = {0};
    uint64_t seed = 4;
    int32_t indices[N * WIDTH];
    for (int i = 0; i < N * WIDTH; ++i)
        indices[i] = (int32_t)(setup_random(&seed) % TO);
    assert_int_equal(weft_connectivity_make(device, indices, N, WIDTH, TO, &expected, NULL),
                     WEFT_OK);
    plain = place(device, indices);
    assert_int_equal(weft_connectivity_make_copied(device, NULL, &plain, WIDTH, TO, &found, &error),
                     WEFT_OK);
    assert_null(plain);
    compare(found, expected, 32);
    compare(found, expected, 4);
    weft_connectivity_release(found);
    compare(found, expected, 2);
    assert_memory_equal(weft_connectivity_indices(found), indices, sizeof indices);
    weft_connectivity_free(&found);
    for (int k = 0; k < 2; ++k) {
        indices[N] = k ? TO : -1;
        plain = place(device, indices);
        assert_int_equal(
            weft_connectivity_make_copied(device, NULL, &plain, WIDTH, TO, &found, &error),
            WEFT_ERROR_SHAPE);
        assert_non_null(plain);
        weft_memory_free(&plain);
    }
    weft_connectivity_free(&expected);
    weft_device_free(&device);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(indices_on_the_device)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
