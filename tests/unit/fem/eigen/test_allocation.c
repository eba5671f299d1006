/* labels: quick */
/* Eigenvalues of a diagonal pencil rerun with the n-th allocation failing: by the iteration, as a whole, near a shift and the largest; with a
 * null vector and rows without mass; and with blocks of vectors on an emulated GPU. */
#include "allocation.h"
#include "fem/eigen/eigen.h"
#include "setup_support.h"

#include <stdlib.h>

enum { ROWS = 230, FEW = 12 };

static weft_status invert(void *user, const double *r, double *z, weft_error *error) {
    const weft_pencil *p = user;
    (void)error;
    for (int64_t i = 0; i < p->K.n_rows; ++i) {
        const double entry = p->K.values[i] - p->shift * p->M.values[i];
        z[i] = i > 0 || p->shift != 0 ? r[i] / entry : 0;
    }
    return WEFT_OK;
}

static weft_status use_smallest(void *user, weft_error *error) {
    weft_eigenpairs pairs = {.n = 0};
    const weft_eigen_settings settings = {.n = 3, .tolerance = 1e-6, .max_iterations = 100};
    const weft_status status = weft_eigen_smallest(user, &settings, &pairs, error);
    weft_eigenpairs_clear(&pairs);
    return status;
}

/* Blocks are on the device; what two iterations allocate the next ones do, too. */
static weft_status use_device(void *user, weft_error *error) {
    weft_eigenpairs pairs = {.n = 0};
    const weft_eigen_settings settings = {.n = 3, .tolerance = 1e-6, .max_iterations = 2};
    weft_status status = weft_eigen_smallest(user, &settings, &pairs, error);
    weft_eigenpairs_clear(&pairs);
    if (status == WEFT_OK)
        status = weft_eigen_largest(user, &settings, &pairs, error);
    weft_eigenpairs_clear(&pairs);
    return status;
}

static weft_status use_near(void *user, weft_error *error) {
    weft_eigenpairs pairs = {.n = 0};
    const weft_eigen_settings settings = {.n = 3, .tolerance = 1e-6, .max_iterations = 100};
    const weft_status status = weft_eigen_near(user, &settings, &pairs, error);
    weft_eigenpairs_clear(&pairs);
    return status;
}

static weft_status use_largest(void *user, weft_error *error) {
    weft_eigenpairs pairs = {.n = 0};
    weft_csr shifted = {0};
    const weft_eigen_settings settings = {.n = 3, .tolerance = 1e-6, .max_iterations = 100};
    weft_status status = weft_eigen_largest(user, &settings, &pairs, error);
    weft_eigenpairs_clear(&pairs);
    if (status == WEFT_OK)
        status = weft_pencil_shifted(user, &shifted, error);
    weft_csr_clear(&shifted);
    return status;
}

/* K = diag(tiny, 1, 2, ...) with its first vector as null vector. */
static void fill(int n, weft_pencil *pencil, double *null) {
    weft_error error;
    weft_csr *both[] = {&pencil->K, &pencil->M};
    for (int which = 0; which < 2; ++which) {
        assert_int_equal(weft_csr_allocate(n, n, n, both[which], &error), WEFT_OK);
        for (int i = 0; i < n; ++i) {
            both[which]->columns[i] = i;
            both[which]->row_start[i + 1] = i + 1;
            both[which]->values[i] = which ? 1 : i > 0 ? i : 1e-14;
        }
    }
    null[0] = 1;
    pencil->null = null;
    pencil->n_null = 1;
    pencil->user = pencil;
}

static void allocations_may_fail(void **state) {
    (void)state;
    static double null[ROWS];
    for (int small = 0; small < 2; ++small) {
        weft_pencil pencil = {.precondition = invert, .invert = invert};
        fill(small ? FEW : ROWS, &pencil, null);
        assert_true(test_every_allocation("the smallest", use_smallest, &pencil) > 10);
        assert_true(test_every_allocation("the largest", use_largest, &pencil) > 10);
        pencil.shift = 4.4;
        assert_true(test_every_allocation("near a shift", use_near, &pencil) > 10);
        pencil.M.values[5] = 0;
        pencil.shift = 0;
        assert_true(test_every_allocation("without mass", use_smallest, &pencil) > 10);
        weft_csr_clear(&pencil.K);
        weft_csr_clear(&pencil.M);
    }
}

static void allocations_may_fail_on_device(void **state) {
    (void)state;
    static double null[ROWS];
    weft_pencil pencil = {.device = setup_device(), .rows_on_device = 1};
    fill(ROWS, &pencil, null);
    assert_int_equal(use_device(&pencil, NULL), WEFT_OK); /* makes the module, which is kept */
    assert_true(test_every_allocation("on a device", use_device, &pencil) > 10);
    weft_csr_clear(&pencil.K);
    weft_csr_clear(&pencil.M);
    assert_int_equal(weft_device_bytes(pencil.device), 0);
    weft_device_free(&pencil.device);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(allocations_may_fail),
                                       cmocka_unit_test(allocations_may_fail_on_device)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
