/* labels: quick */
/* Full multigrid as a linear map: more accurate with more cycles; in single precision on
 * the host and on an emulated GPU the same as in double precision, as far as smoothers allow, whose bounds
 * of eigenvalues come from different numbers of Lanczos steps on a GPU (up to 5 %, of which errors keep a
 * tenth); refused where there are no levels; and boundary values on all levels. */
#include "preconditioner_support.h"

static double *run_full(multigrid_case *c, const double *r, int cycles, weft_full_report *report) {
    weft_error error = {0};
    double *out = malloc((size_t)c->n * sizeof *out);
    assert_non_null(out);
    memcpy(c->r_values, r, (size_t)c->n * sizeof *r);
    check(weft_vector_push(c->r, c->r_values, c->n, &error), &error);
    check(weft_preconditioner_full(c->preconditioner, cycles, c->r, c->z, report, &error), &error);
    check(weft_vector_pull(c->z, c->z_values, c->n, &error), &error);
    memcpy(out, c->z_values, (size_t)c->n * sizeof *out);
    return out;
}

static double dot(const multigrid_case *c, const double *a, const double *b) {
    double sum = 0;
    for (int64_t i = 0; i < c->n; ++i)
        sum += a[i] * b[i];
    return sum;
}

/* A x; malloc'd */
static double *product(multigrid_case *c, const double *x) {
    weft_error error = {0};
    double *out = malloc((size_t)c->n * sizeof *out);
    assert_non_null(out);
    memcpy(c->r_values, x, (size_t)c->n * sizeof *x);
    check(weft_vector_push(c->r, c->r_values, c->n, &error), &error);
    check(weft_operator_apply(c->op, c->r, c->z, &error), &error);
    check(weft_vector_pull(c->z, c->z_values, c->n, &error), &error);
    memcpy(out, c->z_values, (size_t)c->n * sizeof *out);
    return out;
}

static const case_options cases[] = {
    {.d = 2, .n = 12, .times = 2, .components = 1, .kind = "multigrid"},
    {.d = 3, .n = 4, .times = 2, .components = 1, .kind = "multigrid"},
    {.d = 2, .n = 8, .times = 2, .components = 2, .kind = "multigrid"},
};

/* r = A x of a smooth x that is 0 on the left: |F r - x|_A halves at least with each further cycle, and
 * is small for one. */
static void cycles_reduce_the_error(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        multigrid_case c;
        multigrid_case_make(&c, &cases[k]);
        const weft_mesh *mesh = weft_space_mesh(c.space);
        const int components = cases[k].components;
        double *x = calloc((size_t)c.n, sizeof *x), before = INFINITY;
        assert_non_null(x);
        for (int64_t i = 0; i < c.n; ++i) {
            const double *at = mesh->x + i / components * cases[k].d;
            x[i] = sin(2 * at[0]) * (1 + at[1] + (double)(i % components));
        }
        for (int64_t i = 0; i < c.problem.n_constrained; ++i)
            x[c.problem.constrained[i]] = 0;
        double *r = product(&c, x);
        const double scale = sqrt(dot(&c, x, r));
        for (int64_t i = 0; i < c.problem.n_constrained; ++i)
            r[c.problem.constrained[i]] = 0;
        for (int cycles = 1; cycles <= WEFT_FULL_CYCLES_MAX; ++cycles) {
            weft_full_report report;
            double *z = run_full(&c, r, cycles, &report);
            for (int64_t i = 0; i < c.n; ++i)
                z[i] -= x[i];
            double *Az = product(&c, z);
            const double now = sqrt(dot(&c, z, Az)) / scale;
            if (now > 0.05 || now > 0.5 * before)
                fail_msg("case %zu, %d cycles: %g after %g", k, cycles, now, before);
            assert_true(report.n_levels >= 2);
            assert_int_equal(report.levels[0].n_rows, c.n);
            assert_int_equal(report.levels[0].n_cycles, cycles);
            for (int i = 1; i < cycles; ++i)
                assert_true(report.levels[0].energy[i] < 0.3 * report.levels[0].energy[i - 1]);
            before = now;
            free(z);
            free(Az);
        }
        free(x);
        free(r);
        multigrid_case_free(&c);
    }
}

static void compare_single(multigrid_case *host, const case_options *single) {
    static const double TOLERANCE = 0.01, ENERGY = 0.05;
    multigrid_case c;
    weft_full_report reports[2];
    multigrid_case_make(&c, single);
    double *r = multigrid_vector(host, 3), most = 0;
    double *expected = run_full(host, r, 2, &reports[0]), *found = run_full(&c, r, 2, &reports[1]);
    for (int64_t i = 0; i < host->n; ++i)
        most = fmax(most, fabs(expected[i]));
    for (int64_t i = 0; i < host->n; ++i)
        assert_double_near(found[i], expected[i], 0, TOLERANCE * most);
    assert_int_equal(reports[0].n_levels, reports[1].n_levels);
    for (int i = 0; i < reports[0].n_levels; ++i)
        for (int k = 0; k < reports[0].levels[i].n_cycles; ++k) {
            assert_double_near(reports[1].levels[i].energy[k], reports[0].levels[i].energy[k],
                               ENERGY, 0);
            assert_double_near(reports[1].levels[i].size[k], reports[0].levels[i].size[k], ENERGY,
                               0);
        }
    free(r);
    free(expected);
    free(found);
    multigrid_case_free(&c);
}

static void single_precision(void **state) {
    (void)state;
    multigrid_case host;
    case_options options = {.d = 2, .n = 12, .times = 2, .components = 1, .kind = "multigrid"};
    multigrid_case_make(&host, &options);
    options.is_single = true;
    compare_single(&host, &options);
    options.device = "host:1";
    options.is_emulated = true;
    compare_single(&host, &options);
    multigrid_case_free(&host);
}

static double *run_start(multigrid_case *c, const double *r) {
    weft_error error = {0};
    double *out = malloc((size_t)c->n * sizeof *out);
    assert_non_null(out);
    memcpy(c->r_values, r, (size_t)c->n * sizeof *r);
    check(weft_vector_push(c->r, c->r_values, c->n, &error), &error);
    check(weft_preconditioner_start(c->preconditioner, 2, c->r, c->z, &error), &error);
    check(weft_vector_pull(c->z, c->z_values, c->n, &error), &error);
    memcpy(out, c->z_values, (size_t)c->n * sizeof *out);
    return out;
}

/* The start of CG is in the space of the coarser level: the value of a free node is the mean of those of its
 * parents, to the rounding of doubles also where levels are in single precision; constrained ones are 0. For the
 * exact solution P s of that space r.(P s) is its energy, at most that of x, and for a smooth x not less than three
 * quarters of it. */
static void starts_are_interpolated(void **state) {
    (void)state;
    static const double ROUNDING = 1e-15;
    for (int single = 0; single < 3; ++single)
        for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
            case_options options = cases[k];
            multigrid_case c;
            if (single == 2)
                options.device = "host:1";
            options.is_single = single > 0;
            options.is_emulated = single == 2;
            multigrid_case_make(&c, &options);
            const weft_mesh *mesh = weft_space_mesh(c.space);
            const int components = options.components;
            const weft_hierarchy *hierarchy = c.problem.hierarchy;
            const int32_t *parents = hierarchy->levels[hierarchy->n_levels - 1].parents;
            double *x = calloc((size_t)c.n, sizeof *x), most = 0;
            assert_non_null(x);
            for (int64_t i = 0; i < c.n; ++i) {
                const double *at = mesh->x + i / components * options.d;
                x[i] = sin(2 * at[0]) * (1 + at[1] + (double)(i % components));
            }
            for (int64_t i = 0; i < c.problem.n_constrained; ++i)
                x[c.problem.constrained[i]] = 0;
            double *r = product(&c, x);
            const double energy = dot(&c, x, r);
            for (int64_t i = 0; i < c.problem.n_constrained; ++i)
                r[c.problem.constrained[i]] = 0;
            double *z = run_start(&c, r);
            assert_true(dot(&c, r, z) > 0.75 * energy);
            assert_true(dot(&c, r, z) < 1.01 * energy);
            double *coarse =
                calloc((size_t)c.n, sizeof *coarse); /* of nodes that are on both levels */
            assert_non_null(coarse);
            for (int64_t i = 0; i < c.n; ++i) {
                const int32_t *pair = parents + i / components * 2;
                most = fmax(most, fabs(z[i]));
                if (pair[0] == pair[1])
                    coarse[pair[0] * components + i % components] = z[i];
            }
            for (int64_t i = 0, next = 0; i < c.n; ++i) {
                const int32_t *pair = parents + i / components * 2;
                const double a = coarse[pair[0] * components + i % components];
                const double b = coarse[pair[1] * components + i % components];
                if (next < c.problem.n_constrained && c.problem.constrained[next] == i) {
                    assert_true(z[i] == 0);
                    ++next;
                } else {
                    assert_double_near(z[i], (a + b) / 2, 0, ROUNDING * most);
                }
            }
            free(coarse);
            free(x);
            free(r);
            free(z);
            multigrid_case_free(&c);
        }
}

/* A coarsest mesh without inner nodes: linear boundary values become the linear function. */
static void boundary_values_on_all_levels(void **state) {
    (void)state;
    for (int d = 2; d <= 3; ++d) {
        multigrid_case c;
        weft_error error = {0};
        const case_options options = {.d = d, .n = 1, .times = 3, .components = 1};
        multigrid_case_open(&c, &options, WEFT_ASSEMBLY_CSR);
        const weft_mesh *mesh = weft_space_mesh(c.space);
        unsigned char *is_boundary = calloc((size_t)c.n, 1);
        int32_t *constrained = calloc((size_t)c.n, sizeof *constrained);
        assert_true(is_boundary && constrained);
        for (int64_t i = 0; i < mesh->n_boundary_facets * d; ++i)
            is_boundary[mesh->facets[i]] = 1;
        c.problem.constrained = constrained;
        c.problem.n_constrained = 0;
        for (int64_t i = 0; i < c.n; ++i) {
            const double *x = mesh->x + i * d;
            const double value = 1 + x[0] - 2 * x[d - 1];
            c.z_values[i] = is_boundary[i] ? value : NAN;
            if (is_boundary[i])
                constrained[c.problem.n_constrained++] = (int32_t)i;
        }
        check(multigrid_try(&c, "multigrid", &error), &error);
        check(weft_vector_push(c.z, c.z_values, c.n, &error), &error);
        check(weft_preconditioner_lift(c.preconditioner, c.z, &error), &error);
        check(weft_vector_pull(c.z, c.z_values, c.n, &error), &error);
        for (int64_t i = 0; i < c.n; ++i)
            assert_double_near(c.z_values[i], 1 + mesh->x[i * d] - 2 * mesh->x[i * d + d - 1], 0,
                               1e-12);
        free(is_boundary);
        multigrid_case_free(&c);
        free(constrained);
    }
}

static void refused(void **state) {
    (void)state;
    multigrid_case c;
    weft_error error = {0};
    weft_full_report report;
    const case_options options = {
        .d = 2, .n = 12, .times = 1, .components = 1, .kind = "aggregation"};
    multigrid_case_make(&c, &options);
    assert_int_equal(weft_preconditioner_full(c.preconditioner, 1, c.r, c.z, &report, &error),
                     WEFT_ERROR_UNSUPPORTED);
    assert_string_equal(error.message,
                        "full multigrid needs the levels of a refined mesh, which the "
                        "preconditioner aggregation does not have");
    assert_int_equal(weft_preconditioner_lift(c.preconditioner, c.z, &error),
                     WEFT_ERROR_UNSUPPORTED);
    weft_preconditioner_free(&c.preconditioner);
    check(multigrid_try(&c, "multigrid", &error), &error);
    assert_int_equal(weft_preconditioner_full(c.preconditioner, 0, c.r, c.z, &report, &error),
                     WEFT_ERROR_USAGE);
    assert_int_equal(weft_preconditioner_full(c.preconditioner, 5, c.r, c.z, &report, &error),
                     WEFT_ERROR_USAGE);
    multigrid_case_free(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cycles_reduce_the_error), cmocka_unit_test(single_precision),
        cmocka_unit_test(starts_are_interpolated), cmocka_unit_test(boundary_values_on_all_levels),
        cmocka_unit_test(refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
