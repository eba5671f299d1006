/* labels: quick */
/* Algebraic multigrid rerun with the n-th allocation failing. */
#include "allocation.h"
#include "multigrid_support.h"

typedef struct given {
    weft_device *device;
    weft_aggregation_options options;
    weft_csr A;
} given;

static weft_status use_aggregation(void *user, weft_error *error) {
    weft_status status = WEFT_OK;
    const given *with = user;
    weft_algebraic_level *levels = NULL;
    int n = 0;
    double lambda;
    TRY(weft_aggregation_make(with->device, &with->A, &with->options, NULL, &levels, &n, error));
    TRY(weft_csr_eigenvalue(with->device, &with->A, NULL, 0, &lambda, error));
done:
    weft_algebraic_levels_free(&levels, n);
    return status;
}

static weft_status use_products(void *user, weft_error *error) {
    weft_status status = WEFT_OK;
    const given *with = user;
    enum { ROWS = 13 * 13 };
    int32_t ends[2 * ROWS];
    for (int32_t i = 0; i < ROWS; ++i) {
        ends[2 * i] = i / 2;
        ends[2 * i + 1] = (i + 1) / 2;
    }
    const weft_parents parents = {.parents = ends, .n_fine = ROWS, .n_coarse = ROWS / 2 + 1};
    weft_csr B = {0}, C = {0};
    TRY(weft_csr_multiply(with->device, &with->A, &with->A, &B, error));
    TRY(weft_galerkin_refined(with->device, &with->A, &parents, &C, error));
done:
    weft_csr_clear(&B);
    weft_csr_clear(&C);
    return status;
}

static void allocations_may_fail(void **state) {
    (void)state;
    given with = {0};
    weft_mesh *mesh = NULL;
    assert_int_equal(weft_device_open("host:1", NULL, &with.device, NULL), WEFT_OK);
    assert_int_equal(weft_mesh_make_square(12, &mesh, NULL), WEFT_OK);
    test_problem scalar = test_poisson(mesh, 1, "left"), solid = test_elasticity(mesh, 0.3, "left");
    with.A = scalar.A;
    with.options = test_options(&scalar);
    with.options.coarsest_rows = 5;
    test_every_allocation("aggregation", use_aggregation, &with);
    test_every_allocation("products", use_products, &with);
    with.options.x = NULL;
    test_every_allocation("aggregation by the graph", use_aggregation, &with);
    with.A = solid.A;
    with.options = test_options(&solid);
    with.options.coarsest_rows = 20;
    test_every_allocation("aggregation of elasticity", use_aggregation, &with);
    test_problem_clear(&scalar);
    test_problem_clear(&solid);
    weft_mesh_free(&mesh);
    weft_device_free(&with.device);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(allocations_may_fail)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
