/* labels: quick */
/* Conjugate gradients with multigrid: the solution of Jacobi's preconditioner, in few iterations, as many
 * with levels in single as in double precision, the same bits with any number of threads and in every
 * run. Right-hand sides are random: their part along
 * the smoothest function, which the solution mostly consists of, is about 1 / sqrt(n) of them. So
 * residuals of 1e-12 mean errors of at most 1e-12 sqrt(n) of the solution, n < 1e4: 1e-10. */
#include "preconditioner_support.h"

/* `most` iterations by smoothers of degree 2 and 3 */
static const struct {
    case_options options;
    int most[2];
} cases[] = {
    {{.d = 2, .n = 12, .times = 2, .components = 1, .kind = "multigrid"}, {14, 12}},
    {{.d = 3, .n = 4, .times = 1, .components = 1, .kind = "multigrid"}, {14, 12}},
    {{.d = 2, .n = 12, .times = 2, .components = 1, .kind = "multigrid", .is_free = true},
     {14, 12}},
    {{.d = 2, .n = 8, .times = 2, .components = 2, .kind = "multigrid"}, {25, 20}},
    {{.d = 2, .n = 12, .times = 2, .components = 1, .kind = "multigrid", .is_pinned = true},
     {18, 16}},
    {{.d = 3, .n = 4, .times = 1, .components = 3, .kind = "multigrid"}, {25, 20}},
    {{.d = 2, .n = 48, .times = 0, .components = 1, .kind = "aggregation"}, {25, 20}},
    {{.d = 3, .n = 8, .times = 0, .components = 1, .kind = "aggregation"}, {25, 20}},
    {{.d = 2, .n = 48, .times = 0, .components = 1, .kind = "aggregation", .is_free = true},
     {25, 20}},
    {{.d = 2, .n = 32, .times = 0, .components = 2, .kind = "aggregation"}, {30, 25}},
};

static void solutions(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        multigrid_case c;
        weft_error error = {0};
        multigrid_case_open(&c, &cases[i].options, WEFT_ASSEMBLY_CSR);
        assert_true(multigrid_solve(&c, false, 1e-12) > 2 * cases[i].most[0]);
        double *expected = multigrid_solution(&c), most = 0;
        for (int64_t j = 0; j < c.n; ++j)
            most = fmax(most, fabs(expected[j]));
        for (int degree = 2; degree <= 3; ++degree) {
            int iterations[2]; /* in double and in single precision */
            c.problem.degree = degree;
            for (int single = 0; single < 2; ++single) {
                c.problem.double_levels = !single;
                check(multigrid_try(&c, cases[i].options.kind, &error), &error);
                iterations[single] = multigrid_solve(&c, true, 1e-12);
                assert_in_range(iterations[single], 1, cases[i].most[degree - 2]);
                for (int64_t j = 0; j < c.n; ++j)
                    assert_double_near(c.z_values[j], expected[j], 0, 1e-10 * most);
                weft_preconditioner_free(&c.preconditioner);
            }
            assert_in_range(iterations[1], iterations[0] - 1, iterations[0] + 1);
        }
        free(expected);
        multigrid_case_free(&c);
    }
}

static void same_bits(void **state) {
    (void)state;
    static const char *const devices[] = {"host:1", "host:2", "host:2", "host:3", "host:2"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i += 4) {
        double *first = NULL;
        for (int k = 0; k < 5; ++k) {
            multigrid_case c;
            case_options options = cases[i].options;
            options.device = devices[k];
            options.is_single = true;
            multigrid_case_make(&c, &options);
            multigrid_solve(&c, true, 1e-12);
            if (!first)
                first = multigrid_solution(&c);
            assert_memory_equal(first, c.z_values, (size_t)c.n * sizeof *first);
            multigrid_case_free(&c);
        }
        free(first);
    }
}

/* Entries that floats do not have: the levels are in double precision. */
static void tiny_matrix(void **state) {
    (void)state;
    int iterations[2];
    for (int tiny = 0; tiny < 2; ++tiny) {
        multigrid_case c;
        const case_options options = {.d = 2,
                                      .n = 12,
                                      .times = 1,
                                      .components = 1,
                                      .kind = "multigrid",
                                      .is_free = true,
                                      .is_single = true,
                                      .scale = tiny ? 1e-50 : 1};
        multigrid_case_make(&c, &options);
        iterations[tiny] = multigrid_solve(&c, true, 1e-10);
        multigrid_case_free(&c);
    }
    assert_in_range(iterations[1], iterations[0] - 1, iterations[0] + 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(solutions), cmocka_unit_test(same_bits),
                                       cmocka_unit_test(tiny_matrix)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
