/* labels: gpu */
/* Conjugate gradients in one kernel against the textbook's loop on the host: iterations, history,
 * solution. The kernel adds in another order and takes the curvature from a recurrence: 1e-10 of
 * the largest for solutions, two iterations.
 */
#include "cg_lattice.h"
#include "core/weft_core.h"
#include "fem/operator/operator.h"
#include "fem/solve/persistent.h"
#include "fem/weft_fem.h"
#include "fusion/weft_compile.h"
#include "gpu_support.h"
#include "operator_fixture.h"

/* ---- the kernel ------------------------------------------------------------------------------ */

typedef struct on_gpu {
    weft_context context;
    weft_persistent *persistent;
    weft_memory *entries, *inverse, *r, *x;
} on_gpu;

static on_gpu load(weft_device *device, const lattice *a, bool jacobi) {
    on_gpu g = {.context = {.device = device}};
    weft_error error = {0};
    char reason[200] = "";
    size_t bytes = (size_t)a->pattern.n_rows * sizeof(double);
    gpu_check(weft_persistent_make(&g.context, &a->pattern, jacobi, &g.persistent, reason,
                                   sizeof reason, &error),
              &error);
    if (!g.persistent)
        skip_test(reason);
    g.entries = gpu_memory(device, a->entries, (size_t)a->pattern.n_entries * sizeof(double));
    g.inverse = gpu_memory(device, a->inverse, bytes);
    g.r = gpu_memory(device, a->b, bytes);
    g.x = gpu_memory(device, NULL, bytes);
    gpu_check(weft_persistent_load(g.persistent, g.entries, g.inverse, &error), &error);
    return g;
}

static void unload(on_gpu *g) {
    weft_persistent_free(&g->persistent);
    weft_memory_free(&g->entries);
    weft_memory_free(&g->inverse);
    weft_memory_free(&g->r);
    weft_memory_free(&g->x);
}

static weft_persistent_run iterate(on_gpu *g, double limit, int iterations) {
    weft_error error = {0};
    weft_persistent_run run = {.limit = limit, .iterations = iterations};
    gpu_check(weft_persistent_iterate(g->persistent, g->r, g->inverse, g->x, &run, &error), &error);
    return run;
}

static void expect_solution(const on_gpu *g, const double *expected, int64_t n) {
    weft_error error = {0};
    double *x = malloc((size_t)n * sizeof *x), most = 0;
    gpu_check(weft_memory_read(g->x, 0, x, (size_t)n * sizeof *x, &error), &error);
    for (int64_t i = 0; i < n; ++i)
        most = fmax(most, fabs(expected[i]));
    for (int64_t i = 0; i < n; ++i)
        if (!(fabs(x[i] - expected[i]) <= 1e-10 * most))
            fail_msg("x[%lld] is %.17g, not %.17g", (long long)i, x[i], expected[i]);
    free(x);
}

static void check(weft_device *device, int side, bool jacobi) {
    lattice a = lattice_make(side, jacobi);
    int64_t n = a.pattern.n_rows;
    double *x = malloc((size_t)n * sizeof *x), *rr = malloc((MOST + 1) * sizeof *rr);
    double *kept = NULL, limit = 1e-22 * dot(a.b, a.b, n);
    bool indefinite = false;
    int expected = textbook(&a, limit, x, rr, &indefinite);
    assert_true(expected < MOST && !indefinite);
    for (int iteration = 0; iteration < 2; ++iteration) {
        on_gpu g = load(device, &a, jacobi);
        weft_persistent_run run = iterate(&g, limit, MOST);
        assert_int_equal(run.end, WEFT_PERSISTENT_CONVERGED);
        assert_true(abs(run.done - expected) <= 2);
        for (int i = 0; i <= 50 && i <= expected && i <= run.done; ++i)
            assert_true(fabs(run.history[i] - rr[i]) <= 1e-6 * rr[i] + 1e-16 * rr[0]);
        expect_solution(&g, x, n);
        if (iteration == 0)
            kept = run.history;
        else
            assert_memory_equal(run.history, kept, (size_t)(run.done + 1) * sizeof *kept);
        if (iteration > 0)
            free(run.history);
        unload(&g);
    }
    print_message("%8lld nodes, %s: %d iterations\n", (long long)n, jacobi ? "jacobi" : "plain",
                  expected);
    free(kept);
    free(x);
    free(rr);
    lattice_free(&a);
}

static void the_textbook_agrees(void **state) {
    (void)state;
    weft_device *device = gpu_open(NULL);
    static const int sides[] = {3, 4, 12, 40, 100, 250};
    for (size_t i = 0; i < sizeof sides / sizeof sides[0]; ++i) {
        check(device, sides[i], true);
        check(device, sides[i], false);
    }
    check(device, 408, false); /* more than one launch of 1024 */
    weft_device_free(&device);
}

/* Stopped after 60 iterations, and begun again with b - A x. */
static void a_second_run_goes_on_from_its_residual(void **state) {
    (void)state;
    weft_device *device = gpu_open(NULL);
    weft_error error = {0};
    lattice a = lattice_make(100, true);
    size_t n = (size_t)a.pattern.n_rows;
    double *x = malloc(n * sizeof *x), *y = malloc(n * sizeof *y);
    double *rr = malloc((MOST + 1) * sizeof *rr), limit = 1e-20 * dot(a.b, a.b, (int64_t)n);
    bool indefinite = false;
    int expected = textbook(&a, limit, x, rr, &indefinite);
    on_gpu g = load(device, &a, true);
    weft_persistent_run first = iterate(&g, limit, 60);
    assert_int_equal(first.end, WEFT_PERSISTENT_RUNNING);
    assert_int_equal(first.done, 60);
    double *part = malloc(n * sizeof *part);
    gpu_check(weft_memory_read(g.x, 0, part, n * sizeof *part, &error), &error);
    apply(&a, part, y);
    for (size_t i = 0; i < n; ++i)
        y[i] = a.b[i] - y[i];
    assert_true(fabs(dot(y, y, (int64_t)n) - first.history[60]) <= 1e-9 * first.history[60]);
    gpu_check(weft_memory_write(g.r, 0, y, n * sizeof *y, &error), &error);
    weft_persistent_run second = iterate(&g, limit, MOST);
    assert_int_equal(second.end, WEFT_PERSISTENT_CONVERGED);
    assert_true(second.done <= expected + 2); /* it has less to do, and no directions */
    expect_solution(&g, x, (int64_t)n);
    unload(&g);
    free(first.history);
    free(second.history);
    free(x);
    free(y);
    free(part);
    free(rr);
    lattice_free(&a);
    weft_device_free(&device);
}

static void what_breaks_down_says_so(void **state) {
    (void)state;
    weft_device *device = gpu_open(NULL);
    weft_error error = {0};
    lattice a = lattice_make(60, false);
    int64_t n = a.pattern.n_rows;
    double *x = malloc((size_t)n * sizeof *x), *rr = malloc((MOST + 1) * sizeof *rr);
    bool indefinite = false;
    int64_t middle = n / 2;
    while (a.inverse[middle] <= 0)
        ++middle;
    a.entries[a.pattern.row_start[middle]] = -40; /* the diagonal comes first */
    int expected = textbook(&a, 0, x, rr, &indefinite);
    assert_true(indefinite);
    on_gpu g = load(device, &a, false);
    weft_persistent_run run = iterate(&g, 0, MOST);
    assert_int_equal(run.end, WEFT_PERSISTENT_INDEFINITE);
    assert_int_equal(run.done, expected);
    free(run.history);
    const double nan = NAN;
    gpu_check(weft_memory_write(g.r, (size_t)middle * sizeof nan, &nan, sizeof nan, &error),
              &error);
    run = iterate(&g, 0, MOST);
    assert_int_equal(run.end, WEFT_PERSISTENT_NAN);
    assert_int_equal(run.done, 0);
    free(run.history);
    gpu_check(weft_memory_zero(g.r, &error), &error);
    run = iterate(&g, -1, MOST); /* nothing left to do, and not allowed to say so */
    assert_int_equal(run.end, WEFT_PERSISTENT_BREAKDOWN);
    free(run.history);
    unload(&g);
    free(x);
    free(rr);
    lattice_free(&a);
    weft_device_free(&device);
}

/* ---- solves: csr takes the kernel by itself, and says so ------------------------------------- */

static void remember(void *user, weft_log_level level, const char *message) {
    (void)level;
    if (strstr(message, "stay on the chip"))
        *(bool *)user = true;
}

static double *solve(const char *device, int d, int64_t cells, bool jacobi, bool *stayed,
                     weft_cg_result *result, int64_t *n) {
    weft_error error = {0};
    fixture f = fixture_make(device, d, cells, WEFT_PLAN_FUSED);
    weft_form_input inputs[] = {{"x", f.x}};
    weft_parameter dimension = {"d", d};
    weft_form form = {.name = "poisson",
                      .text = weft_fem_script("poisson"),
                      .dofs = f.cells,
                      .inputs = inputs,
                      .n_inputs = 1,
                      .parameters = &dimension,
                      .n_parameters = 1};
    weft_monitor monitor = {.log = remember, .user = stayed};
    weft_operator *op = NULL;
    weft_memory *b = fixture_vector(&f), *x = fixture_vector(&f);
    double *values = malloc((size_t)f.n * sizeof *values);
    int32_t *constrained = malloc((size_t)f.n * sizeof *constrained);
    weft_cg_options options = {.size = sizeof options,
                               .jacobi = jacobi,
                               .tolerance = 1e-11,
                               .max_iterations = 10000,
                               .constrained = constrained,
                               .monitor = &monitor};
    f.context.monitor = &monitor;
    for (int64_t i = 0; i < f.n; ++i) {
        values[i] = cos(0.7 * (double)i) / (double)f.n;
        if (f.mesh->x[i * d] < 1e-9)
            constrained[options.n_constrained++] = (int32_t)i;
    }
    gpu_check(weft_memory_write(b, 0, values, (size_t)f.n * sizeof *values, &error), &error);
    for (int64_t i = 0; i < f.n; ++i)
        values[i] = 1 + f.mesh->x[i * d + 1]; /* the start, and what is kept at x = 0 */
    gpu_check(weft_memory_write(x, 0, values, (size_t)f.n * sizeof *values, &error), &error);
    gpu_check(weft_operator_make(&f.context, WEFT_ASSEMBLY_CSR, &form, 1, &op, &error), &error);
    gpu_check(weft_operator_assemble(op, &error), &error);
    gpu_check(weft_cg_solve(&f.context, op, b, x, &options, result, &error), &error);
    gpu_check(weft_memory_read(x, 0, values, (size_t)f.n * sizeof *values, &error), &error);
    *n = f.n;
    weft_operator_free(&op);
    weft_memory_free(&b);
    weft_memory_free(&x);
    free(constrained);
    fixture_free(&f);
    return values;
}

static void expect_solve(int d, int64_t cells, bool jacobi) {
    bool stayed[2] = {false, false};
    weft_cg_result result[2];
    int64_t n = 0;
    double most = 0;
    double *gpu = solve("cuda", d, cells, jacobi, &stayed[0], &result[0], &n);
    double *host = solve("host", d, cells, jacobi, &stayed[1], &result[1], &n);
    assert_true(stayed[0] && !stayed[1]);
    assert_int_equal(result[0].outcome, WEFT_CG_CONVERGED);
    assert_true(abs(result[0].iterations - result[1].iterations) <= 3);
    assert_true(result[0].residual <= 1e-11);
    for (int64_t i = 0; i < n; ++i)
        most = fmax(most, fabs(host[i]));
    for (int64_t i = 0; i < n; ++i)
        if (!(fabs(gpu[i] - host[i]) <= 1e-8 * most)) /* tolerance times condition, with room */
            fail_msg("x[%lld] is %.17g, on the host %.17g", (long long)i, gpu[i], host[i]);
    free(gpu);
    free(host);
    free(result[0].history);
    free(result[1].history);
}

static void csr_solves_stay(void **state) {
    (void)state;
    weft_device *device = gpu_open(NULL);
    weft_device_free(&device);
    expect_solve(2, 30, true);
    expect_solve(2, 120, false);
    expect_solve(3, 20, true);
}

/* No test: what an iteration takes. */
static void times(void **state) {
    (void)state;
    weft_device *device = gpu_open(NULL);
    weft_error error = {0};
    static const int sides[] = {100, 316, 408, 800, 1000};
    for (size_t i = 0; i < sizeof sides / sizeof sides[0]; ++i) {
        lattice a = lattice_make(sides[i], true);
        on_gpu g = load(device, &a, true);
        weft_persistent_run run = iterate(&g, -1, 50);
        free(run.history);
        double seconds[2];
        for (int k = 0; k < 2; ++k) {
            double least = INFINITY;
            for (int iteration = 0; iteration < 5; ++iteration) {
                gpu_check(weft_device_wait(device, &error), &error);
                double start = weft_clock();
                run = iterate(&g, -1, k ? 250 : 50);
                gpu_check(weft_device_wait(device, &error), &error);
                least = fmin(least, weft_clock() - start);
                free(run.history);
            }
            seconds[k] = least;
        }
        print_message("%8d nodes: %7.2f us an iteration, and %.0f us around them\n",
                      sides[i] * sides[i], 1e6 * (seconds[1] - seconds[0]) / 200,
                      1e6 * (1.25 * seconds[0] - 0.25 * seconds[1]));
        unload(&g);
        lattice_free(&a);
    }
    weft_device_free(&device);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_textbook_agrees),
        cmocka_unit_test(a_second_run_goes_on_from_its_residual),
        cmocka_unit_test(what_breaks_down_says_so),
        cmocka_unit_test(csr_solves_stay),
        cmocka_unit_test(times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
