/* labels: quick */
/* Hierarchies by aggregation: what a reference V-cycle makes of them. Iterations are counted to
 * |r| <= 1e-8 |b| with a smoother of degree 2. */
#include "multigrid_support.h"

static weft_mesh *make_mesh(int d, int64_t n, double jitter) {
    weft_mesh *mesh = NULL;
    assert_int_equal(d == 2 ? weft_mesh_make_square(n, &mesh, NULL)
                            : weft_mesh_make_cube(n, &mesh, NULL),
                     WEFT_OK);
    test_mesh_jitter(mesh, n, jitter);
    return mesh;
}

/* CG iterations; the right-hand side is A times a rough vector. */
static int iterations(const test_problem *p, const weft_aggregation_options *options) {
    weft_algebraic_level *levels = NULL;
    weft_error error = {0};
    int n = 0, count;
    if (weft_aggregation_make(NULL, &p->A, options, NULL, &levels, &n, &error) != WEFT_OK)
        fail_msg("%s", error.message);
    double *x = calloc((size_t)p->A.n_rows, sizeof *x), *b = calloc((size_t)p->A.n_rows, sizeof *b);
    for (int64_t i = 0; i < p->A.n_rows; ++i)
        x[i] = 1 + sin((double)i);
    test_multiply(&p->A, x, b);
    count = test_iterations(levels, n, 2, b);
    free(x);
    free(b);
    weft_algebraic_levels_free(&levels, n);
    return count;
}

static void check_iterations(test_problem p, int most) {
    const weft_aggregation_options options = test_options(&p);
    int count = iterations(&p, &options);
    if (count > most)
        fail_msg("%d iterations, at most %d expected", count, most);
    test_problem_clear(&p);
}

static void scalar_problems_take_few_iterations(void **state) {
    (void)state;
    weft_mesh *square = make_mesh(2, 120, 0.1), *cube = make_mesh(3, 24, 0.1);
    check_iterations(test_poisson(square, 1, "boundary"), 16);
    check_iterations(test_poisson(square, 1e4, "boundary"), 20);
    check_iterations(test_poisson(square, 1, "left"), 16);
    check_iterations(test_poisson(cube, 1, "boundary"), 16);
    check_iterations(test_poisson(cube, 1e4, "boundary"), 20);
    weft_mesh_free(&square);
    weft_mesh_free(&cube);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(scalar_problems_take_few_iterations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
