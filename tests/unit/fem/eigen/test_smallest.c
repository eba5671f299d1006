/* labels: quick */
/* The smallest eigenvalues of pencils on a grid, whose values are known: with K the difference -u'' in three directions,
 *      l = sum of 2 - 2 cos(k pi/(n + 1)), or, without the ends held, 2 - 2 cos(k pi/n),
 * in clusters of 3 and 6, over s for M = s. Of all magnitudes; with motions that nothing holds; with rows without mass, after which what is
 * left is a Schur complement; in the same number of iterations for K and M in other units; what is refused. Tolerance: a residual of 1e-8,
 * whose square the values differ by: 1e-11, of dense pencils too. */
#include "eigen_support.h"

/* ---- grids ----------------------------------------------------------------------------------- */

static void clusters(void **state) {
    (void)state;
    static const int sizes[][3] = {{9, 9, 9}, {4, 4, 4}, {40, 7, 1}, {1, 1, 300}};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; ++s) {
        grid g = grid_make(sizes[s][0], sizes[s][1], sizes[s][2], false, 1, 1);
        const weft_pencil pencil = {.K = g.K, .M = g.M};
        for (int n = 1; n <= 11; n += 5) {
            weft_eigenpairs pairs = find(&pencil, n, 1e-8);
            for (int k = 0; k < n; ++k) {
                assert_true(fabs(pairs.values[k] / g.values[k] - 1) < TOLERANCE);
                if (k > 0)
                    assert_int_equal(pairs.cluster[k] - pairs.cluster[k - 1],
                                     g.values[k] - g.values[k - 1] > 1e-6 * g.values[k]);
            }
            check_vectors(&pencil, &pairs, 1e-8);
            weft_eigenpairs_clear(&pairs);
        }
        grid_clear(&g);
    }
}

static void units(void **state) {
    (void)state;
    int iterations = 0;
    for (int e = -12; e <= 12; e += 12)
        for (int mass = -12; mass <= 12; mass += 12) {
            grid g = grid_make(9, 8, 7, false, pow(10, e), pow(10, mass));
            const weft_pencil pencil = {.K = g.K, .M = g.M};
            weft_eigenpairs pairs = find(&pencil, 8, 1e-8);
            for (int k = 0; k < 8; ++k)
                assert_true(fabs(pairs.values[k] / g.values[k] - 1) < TOLERANCE);
            if (iterations == 0)
                iterations = pairs.iterations;
            assert_in_range(pairs.iterations, iterations - 1, iterations + 1);
            weft_eigenpairs_clear(&pairs);
            grid_clear(&g);
        }
}

/* Nothing holds the constant. */
static void free_bodies(void **state) {
    (void)state;
    for (int small = 0; small < 2; ++small) {
        grid g = small ? grid_make(5, 4, 3, true, 1, 2) : grid_make(9, 8, 7, true, 1, 2);
        const int64_t n = g.K.n_rows;
        double *one = malloc((size_t)n * sizeof *one);
        for (int64_t i = 0; i < n; ++i)
            one[i] = 3;
        const weft_pencil pencil = {.K = g.K, .M = g.M, .null = one, .n_null = 1};
        weft_eigenpairs pairs = find(&pencil, 6, 1e-8);
        for (int k = 0; k < 6; ++k)
            assert_true(fabs(pairs.values[k] / g.values[k + 1] - 1) < TOLERANCE);
        check_vectors(&pencil, &pairs, 1e-8);
        weft_eigenpairs_clear(&pairs);
        free(one);
        grid_clear(&g);
    }
}

/* Mass in every third point of a line alone, between which it is a chain of springs a third as stiff: l of n points with k/3. Rows that are
 * dropped are those of held points. */
static void singular_mass(void **state) {
    (void)state;
    for (int n = 30; n <= 150; n += 120) {
        grid g = grid_make(3 * n + 4, 1, 1, true, 1, 1);
        const double pi = acos(-1);
        const int32_t dropped[] = {0, 3 * n + 3};
        for (int64_t i = 0; i < g.M.n_rows; ++i)
            g.M.values[i] = i % 3 == 0;
        const weft_pencil pencil = {.K = g.K, .M = g.M, .dropped = dropped, .n_dropped = 2};
        weft_eigenpairs pairs = find(&pencil, 5, 1e-8);
        for (int k = 0; k < 5; ++k) {
            const double expected = (2 - 2 * cos((k + 1) * pi / (n + 1))) / 3;
            assert_true(fabs(pairs.values[k] / expected - 1) < TOLERANCE);
            assert_true(pairs.vectors[k * g.K.n_rows] == 0);
        }
        weft_eigenpairs_clear(&pairs);
        grid_clear(&g);
    }
}

/* ---- the approximate inverse, and what is refused -------------------------------------------- */

typedef struct inverse {
    const grid *g;
    double skew, sign;
} inverse;

/* A diagonal, and what is not symmetric. */
static weft_status apply(void *user, const double *r, double *z, weft_error *error) {
    const inverse *t = user;
    (void)error;
    for (int64_t i = 0; i < t->g->K.n_rows; ++i)
        z[i] = t->sign * r[i] / 6 + (i > 0 ? t->skew * r[i - 1] : 0);
    return WEFT_OK;
}

static void expect(const weft_pencil *pencil, int n, const char *part) {
    weft_eigenpairs pairs = {.n = 0};
    weft_error error = {0};
    const weft_eigen_settings settings = {.n = n, .tolerance = 1e-8, .max_iterations = 200};
    const weft_status status = weft_eigen_smallest(pencil, &settings, &pairs, &error);
    if (status == WEFT_OK || !strstr(error.message, part))
        fail_msg("expected '%s', found '%s'", part, error.message);
    weft_eigenpairs_clear(&pairs);
}

static void refusals(void **state) {
    (void)state;
    grid g = grid_make(9, 8, 7, false, 1, 1), small = grid_make(3, 2, 1, false, 1, 1);
    inverse skew = {&g, 0.1, 1}, negative = {&g, 0, -1}, fine = {&g, 0, 1};
    weft_pencil pencil = {.K = g.K, .M = g.M, .precondition = apply, .user = &fine};
    weft_eigenpairs pairs = find(&pencil, 4, 1e-8);
    assert_true(fabs(pairs.values[3] / g.values[3] - 1) < TOLERANCE);
    weft_eigenpairs_clear(&pairs);
    pencil.user = &skew;
    expect(&pencil, 4, "is not symmetric");
    pencil.user = &negative;
    expect(&pencil, 4, "is not positive definite");
    expect(&(weft_pencil){.K = small.K, .M = small.M}, 7, "the problem has 6");
    small.M.values[2] = small.M.values[3] = 0;
    expect(&(weft_pencil){.K = small.K, .M = small.M}, 5, "the problem has 4");
    small.K.values[0] = -1;
    expect(&(weft_pencil){.K = small.K, .M = small.M}, 1, "the diagonal entry of row 0");
    memset(g.M.values, 0, (size_t)g.M.n_rows * sizeof *g.M.values);
    g.M.values[5] = g.M.values[6] = 1;
    expect(&(weft_pencil){.K = g.K, .M = g.M}, 2, "no rank of 4");
    grid_clear(&g);
    grid_clear(&small);
}

/* An iteration that cannot end says so. */
static void limits(void **state) {
    (void)state;
    grid g = grid_make(9, 8, 7, false, 1, 1);
    const weft_pencil pencil = {.K = g.K, .M = g.M};
    const weft_eigen_settings settings = {.n = 4, .tolerance = 1e-8, .max_iterations = 3};
    weft_eigenpairs pairs = {.n = 0};
    weft_error error = {0};
    assert_int_equal(weft_eigen_smallest(&pencil, &settings, &pairs, &error), WEFT_OK);
    assert_int_equal(pairs.outcome, WEFT_EIGEN_MAX_ITERATIONS);
    assert_int_equal(pairs.iterations, 3);
    weft_eigenpairs_clear(&pairs);
    grid_clear(&g);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clusters),      cmocka_unit_test(units),    cmocka_unit_test(free_bodies),
        cmocka_unit_test(singular_mass), cmocka_unit_test(refusals), cmocka_unit_test(limits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
