/* labels: quick */
/* Programs with loops, uniform updates and operators, against what they compute by mathematics. */
#include "core/weft_core.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_library.h"
#include "fusion/weft_program.h"
#include "test_support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static weft_library *library;

typedef struct loop_case {
    weft_device *device;
    weft_compilation *compilation;
    weft_program *program;
    weft_memory *memories[16];
    int n_memories;
} loop_case;

static void check(weft_status status, const weft_error *error) {
    char text[4096];
    if (status == WEFT_OK)
        return;
    weft_error_text(error, text, sizeof text);
    fail_msg("%s", text);
}

static loop_case open_with(const char *device, const char *text,
                           const weft_compile_options *options) {
    loop_case c = {0};
    weft_error error = {0};
    const weft_fragment fragment = {"test.weft", text};
    const weft_device_options device_options = weft_device_options_default(NULL);
    const char *forced = getenv("WEFT_TEST_DEVICE"); /* the same tests on a GPU */
    if (forced && strncmp(device, "host", 4) == 0)
        device = forced;
    check(weft_device_open(device, &device_options, &c.device, &error), &error);
    check(weft_compile(library, weft_device_limits(c.device), &fragment, 1, options, &c.compilation,
                       &error),
          &error);
    check(weft_program_make(c.device, c.compilation, &c.program, &error), &error);
    return c;
}

static loop_case case_open(const char *text) {
    return open_with("host:2", text, NULL);
}

static void case_close(loop_case *c) {
    weft_program_free(&c->program);
    weft_compilation_free(&c->compilation);
    for (int i = 0; i < c->n_memories; ++i)
        weft_memory_free(&c->memories[i]);
    weft_device_free(&c->device);
}

static weft_memory *memory_of(loop_case *c, const double *values, size_t n) {
    weft_error error = {0};
    weft_memory **memory = &c->memories[c->n_memories++];
    check(weft_memory_make(c->device, n * sizeof *values, memory, &error), &error);
    check(weft_memory_write(*memory, 0, values, n * sizeof *values, &error), &error);
    return *memory;
}

static weft_memory *bind(loop_case *c, const char *name, const double *values, size_t n) {
    weft_error error = {0};
    weft_memory *memory = memory_of(c, values, n);
    check(weft_program_bind(c->program, name, memory, &error), &error);
    return memory;
}

static weft_memory *bind_one(loop_case *c, const char *name, double value) {
    return bind(c, name, &value, 1);
}

static double number_in(const weft_memory *memory) {
    double value = NAN;
    weft_error error = {0};
    assert_non_null(memory);
    check(weft_memory_read(memory, 0, &value, sizeof value, &error), &error);
    return value;
}

static double result_of(const loop_case *c, const char *name) {
    return number_in(weft_program_result(c->program, name));
}

static int64_t run(loop_case *c) {
    weft_error error = {0};
    int64_t iterations = -2;
    check(weft_program_run(c->program, &error), &error);
    check(weft_program_iterations(c->program, &iterations, &error), &error);
    return iterations;
}

/* ---- uniform values -------------------------------------------------------------------------- */

/* Newton's method for x^2 = a doubles its digits: from 1, sqrt(2) is met in 5 or 6 iterations. */
static void square_root_by_newton(void **state) {
    (void)state;
    loop_case c = case_open("input x, a : real;\n"
                            "repeat at most 100 while (abs(x*x - a) > 1e-12*a) {\n"
                            "    update x = (x + a/x)/2;\n"
                            "}\n");
    weft_memory *x = bind_one(&c, "x", 1);
    bind_one(&c, "a", 2);
    const int64_t iterations = run(&c);
    assert_in_range(iterations, 4, 6);
    assert_double_near(number_in(x), sqrt(2), 1e-12, 0);
    assert_int_equal(run(&c), 0); /* where it stopped there is nothing to do */
    case_close(&c);
}

/* Names assigned in an iteration keep the old value, so two updates swap; the history has every
 * iteration. */
static void fibonacci_with_history(void **state) {
    (void)state;
    loop_case c = case_open("parameter trips = 20;\n"
                            "input a, b : real;\n"
                            "repeat at most trips while (a < 1e9) {\n"
                            "    next = a + b;\n"
                            "    update a = b;\n"
                            "    update b = next;\n"
                            "}\n");
    double history[12] = {0};
    weft_error error = {0};
    weft_memory *a = bind_one(&c, "a", 0), *kept = memory_of(&c, history, 12);
    bind_one(&c, "b", 1);
    check(weft_program_record_history(c.program, "a", kept, 11, &error), &error);
    assert_int_equal(run(&c), 20);
    assert_double_near(number_in(a), 6765, 0, 0); /* F20 */
    check(weft_memory_read(kept, 0, history, sizeof history, &error), &error);
    double f = 0, g = 1;
    for (int i = 0; i < 11; ++i) {
        assert_double_near(history[i], f, 0, 0);
        const double sum = f + g;
        f = g;
        g = sum;
    }
    assert_double_near(history[11], 0, 0, 0); /* beyond the capacity */
    case_close(&c);
}

/* The condition is asked before the first iteration; a NaN ends the loop; the bound is rounded
 * down. */
static void ends_of_loops(void **state) {
    (void)state;
    static const struct {
        double most, x, limit;
        int64_t iterations;
    } cases[] = {{5, 0, 3, 3},   {2.9, 0, 3, 2}, {0.5, 0, 3, 0}, {-1, 0, 3, 0},   {5, 3, 3, 0},
                 {5, NAN, 3, 0}, {5, 0, NAN, 0}, {NAN, 0, 3, 0}, {1e300, 0, 7, 7}};
    loop_case c = case_open("input most, x, limit : real;\n"
                            "repeat at most most while (x < limit and limit >= x) {\n"
                            "    update x = x + 1;\n"
                            "}\n");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        weft_memory *x = bind_one(&c, "x", cases[i].x);
        bind_one(&c, "most", cases[i].most);
        bind_one(&c, "limit", cases[i].limit);
        assert_int_equal(run(&c), cases[i].iterations);
        if (!isnan(cases[i].x))
            assert_double_near(number_in(x), cases[i].x + (double)cases[i].iterations, 0, 0);
        while (c.n_memories > 0)
            weft_memory_free(&c.memories[--c.n_memories]);
    }
    case_close(&c);
}

/* 5! = sum over i of prod, with a loop in a loop and one after it. */
static void nested_and_successive(void **state) {
    (void)state;
    loop_case c = case_open("input i, n, factorial, sum, product, k : real;\n"
                            "repeat at most n while (i < n) {\n"
                            "    update i = i + 1;\n"
                            "    update product = 1;\n"
                            "    update k = 0;\n"
                            "    repeat at most 100 while (k < i) {\n"
                            "        update k = k + 1;\n"
                            "        update product = product*k;\n"
                            "    }\n"
                            "    update sum = sum + product;\n"
                            "}\n"
                            "update factorial = product;\n"
                            "repeat at most 3 while (sum > 0) {\n"
                            "    update sum = sum - 100;\n"
                            "}\n");
    weft_memory *sum = bind_one(&c, "sum", 0), *factorial = bind_one(&c, "factorial", 0);
    bind_one(&c, "i", 0);
    bind_one(&c, "n", 5);
    bind_one(&c, "product", 0);
    bind_one(&c, "k", 0);
    assert_int_equal(run(&c), 2); /* of the last loop: 153 = 1 + 2 + 6 + 24 + 120, 53, -47 */
    assert_double_near(number_in(factorial), 120, 0, 0);
    assert_double_near(number_in(sum), -47, 0, 0);
    case_close(&c);
}

/* Uniform arithmetic is returned and updated without a loop too. */
static void uniform_results(void **state) {
    (void)state;
    loop_case c = case_open("index nodes plain;\n"
                            "input x : real over nodes;\n"
                            "input n, old : real;\n"
                            "mean = sum(x)/n;\n"
                            "spread = sqrt(dot(x, x)/n - mean^2);\n"
                            "update old = mean;\n"
                            "return spread;\n");
    const double x[4] = {1, 3, 1, 3};
    weft_error error = {0};
    bind(&c, "x", x, 4);
    bind_one(&c, "n", 4);
    weft_memory *old = bind_one(&c, "old", 0);
    check(weft_program_size(c.program, "nodes", 4, &error), &error);
    assert_int_equal(run(&c), -1);
    assert_double_near(number_in(old), 2, 0, 0);
    assert_double_near(result_of(&c, "spread"), 1, 1e-14, 0);
    case_close(&c);
}

/* ---- lists ----------------------------------------------------------------------------------- */

/* Scalar CG on [[4,1],[1,3]] x = (1,2), written out: x = (1/11, 7/11) after two iterations. */
static const char CG[] = "index rows plain;\n"
                         "connectivity all : rows -> rows[2];\n"
                         "input A : real[2] over rows;\n"
                         "input b, x : real over rows;\n"
                         "%s"
                         "r = b - %s;\n"
                         "p = 1*r;\n"
                         "rr = dot(r, r);\n"
                         "repeat at most 10 while (rr > 1e-24) {\n"
                         "    q = %s;\n"
                         "    alpha = rr/dot(p, q);\n"
                         "    update x = x + alpha*p;\n"
                         "    update r = r - alpha*q;\n"
                         "    rho = dot(r, r);\n"
                         "    update p = r + rho/rr*p;\n"
                         "    update rr = rho;\n"
                         "}\n"
                         "return rr;\n";

static const double CG_A[4] = {4, 1, 1, 3}, CG_B[2] = {1, 2}, CG_X[2] = {0, 0};

static void cg_solve(loop_case *c) {
    static const int32_t all[4] = {0, 1, 0, 1};
    weft_error error = {0};
    double found[2];
    weft_connectivity *connectivity = NULL;
    weft_memory *x = bind(c, "x", CG_X, 2);
    bind(c, "b", CG_B, 2);
    check(weft_connectivity_make(c->device, all, 2, 2, 2, &connectivity, &error), &error);
    check(weft_program_bind_connectivity(c->program, "all", connectivity, &error), &error);
    for (int i = 0; i < 2; ++i) { /* a second run starts from the x of the first */
        assert_int_equal(run(c), i == 0 ? 2 : 0);
        check(weft_memory_read(x, 0, found, sizeof found, &error), &error);
        assert_double_near(found[0], 1.0 / 11, 1e-13, 0);
        assert_double_near(found[1], 7.0 / 11, 1e-13, 0);
        assert_true(result_of(c, "rr") < 1e-24);
    }
    weft_program_free(&c->program);
    weft_connectivity_free(&connectivity);
}

static void cg_written_out(void **state) {
    (void)state;
    char text[2048];
    snprintf(text, sizeof text, CG, "", "dot(A, x[all])", "dot(A, p[all])");
    loop_case c = case_open(text);
    bind(&c, "A", CG_A, 4);
    cg_solve(&c);
    case_close(&c);
}

/* The operator's script is written out where it is applied, twice, each time with names of its own.
 */
static void cg_with_a_scripted_operator(void **state) {
    (void)state;
    char text[2048];
    const weft_fragment fragments[] = {
        {"rows.weft", "index rows plain;\n"
                      "connectivity couplings : rows -> rows[2];\n"
                      "input x : real[2] over rows;\n"},
        {"product.weft", "input v : real over rows; V = v[couplings]; y = dot(x, V); return y;"}};
    const weft_operator_choice choice = {.name = "M", .fragments = fragments, .n_fragments = 2};
    const weft_compile_options options = {
        .size = sizeof options, .operators = &choice, .n_operators = 1};
    static const int32_t couplings[4] = {0, 1, 0, 1};
    weft_connectivity *connectivity = NULL;
    weft_error error = {0};
    snprintf(text, sizeof text, CG, "operator M over rows;\n", "apply(M, x)", "apply(M, p)");
    loop_case c = open_with("host:2", text, &options);
    bind(&c, "M_x", CG_A, 4); /* x is the script's own */
    bind(&c, "A", CG_A, 4);
    check(weft_connectivity_make(c.device, couplings, 2, 2, 2, &connectivity, &error), &error);
    check(weft_program_bind_connectivity(c.program, "couplings", connectivity, &error), &error);
    cg_solve(&c);
    weft_connectivity_free(&connectivity);
    case_close(&c);
}

typedef struct matrix {
    int applied, dots;
} matrix;

static weft_status matrix_apply(void *user, const weft_program_product *product,
                                weft_error *error) {
    matrix *m = user;
    double in[2], out[2];
    weft_status status = WEFT_OK;
    ++m->applied;
    TRY(weft_memory_read(product->v, 0, in, sizeof in, error));
    for (int i = 0; i < 2; ++i)
        out[i] = CG_A[2 * i] * in[0] + CG_A[2 * i + 1] * in[1];
    TRY(weft_memory_write(product->y, 0, out, sizeof out, error));
    if (product->vy) {
        const double dot = in[0] * out[0] + in[1] * out[1];
        ++m->dots;
        TRY(weft_memory_write(product->vy, 0, &dot, sizeof dot, error));
    }
done:
    return status;
}

static void cg_with_an_opaque_operator(void **state) {
    (void)state;
    if (getenv("WEFT_TEST_DEVICE"))
        skip_test("the operator computes on the host");
    for (int brings_dot = 0; brings_dot < 2; ++brings_dot) {
        char text[2048];
        const weft_operator_choice choice = {.name = "M", .brings_dot = brings_dot != 0};
        const weft_compile_options options = {
            .size = sizeof options, .operators = &choice, .n_operators = 1};
        matrix m = {0};
        weft_error error = {0};
        snprintf(text, sizeof text, CG, "operator M over rows;\n", "apply(M, x)", "apply(M, p)");
        loop_case c = open_with("host:2", text, &options);
        assert_int_equal(weft_program_run(c.program, &error), WEFT_ERROR_USAGE);
        assert_string_equal(error.message, "operator 'M' is not bound");
        check(weft_program_bind_operator(c.program, "M", matrix_apply, &m, &error), &error);
        assert_int_equal(weft_program_bind_operator(c.program, "N", matrix_apply, &m, &error),
                         WEFT_ERROR_USAGE);
        bind(&c, "A", CG_A, 4);
        cg_solve(&c);
        assert_int_equal(m.applied, 4); /* the start of each run, and two iterations */
        assert_int_equal(m.dots, brings_dot ? 2 : 0);
        case_close(&c);
    }
}

/* Lists made before a loop, updated twice in it, copied before an update: explicit Euler and Heun
 * for u' = -u, whose n-th values are (1 - h)^n and (1 - h + h^2/2)^n. */
static void time_steps(void **state) {
    (void)state;
    enum { N = 37, STEPS = 25 };
    loop_case c = case_open("index nodes plain;\n"
                            "input u : real over nodes;\n"
                            "input h, t : real;\n"
                            "euler = 1*u;\n"
                            "repeat at most 25 while (t < 1000) {\n"
                            "    update euler = euler - h*euler;\n"
                            "    before = u;\n"
                            "    update u = u - h*u;\n"
                            "    update u = (before + u - h*u)/2;\n"
                            "    update t = t + h;\n"
                            "}\n"
                            "return euler;\n");
    double u[N];
    weft_error error = {0};
    for (int i = 0; i < N; ++i)
        u[i] = 1 + i;
    weft_memory *heun = bind(&c, "u", u, N), *t = bind_one(&c, "t", 0);
    bind_one(&c, "h", 0.125);
    check(weft_program_size(c.program, "nodes", N, &error), &error);
    assert_int_equal(run(&c), STEPS);
    assert_double_near(number_in(t), 0.125 * STEPS, 0, 0);
    const double e = pow(1 - 0.125, STEPS), h = pow(1 - 0.125 + 0.125 * 0.125 / 2, STEPS);
    double found[N];
    check(weft_memory_read(heun, 0, found, sizeof found, &error), &error);
    for (int i = 0; i < N; ++i)
        assert_double_near(found[i], h * u[i], 1e-13, 0);
    check(weft_memory_read(weft_program_result(c.program, "euler"), 0, found, sizeof found, &error),
          &error);
    for (int i = 0; i < N; ++i)
        assert_double_near(found[i], e * u[i], 1e-13, 0);
    case_close(&c);
}

/* select and comparisons, lane by lane and on uniform values. */
static void select_chooses(void **state) {
    (void)state;
    loop_case c = case_open("index nodes plain;\n"
                            "input x : real over nodes;\n"
                            "input a, chosen : real;\n"
                            "y = select(x > a and x <= 5, 10*x, select(x < a, -1, 0));\n"
                            "update chosen = select(a >= 3, 1, 2);\n"
                            "return y;\n");
    const double x[9] = {0, 1, 2, 3, 4, 5, 6, NAN, INFINITY},
                 y[9] = {-1, -1, -1, 0, 40, 50, 0, 0, 0};
    double found[9];
    weft_error error = {0};
    bind(&c, "x", x, 9);
    bind_one(&c, "a", 3);
    weft_memory *chosen = bind_one(&c, "chosen", 0);
    check(weft_program_size(c.program, "nodes", 9, &error), &error);
    run(&c);
    check(weft_memory_read(weft_program_result(c.program, "y"), 0, found, sizeof found, &error),
          &error);
    for (int i = 0; i < 9; ++i)
        assert_double_near(found[i], y[i], 0, 0);
    assert_double_near(number_in(chosen), 1, 0, 0);
    case_close(&c);
}

/* ---- devices --------------------------------------------------------------------------------- */

/* A device that holds no numbers records each loop's launches once. */
static void null_devices_capture(void **state) {
    (void)state;
    static const char *const devices[] = {"null", "null:h200"};
    for (int i = 0; i < 2; ++i) {
        loop_case c = open_with(devices[i],
                                "index nodes plain;\n"
                                "input x : real over nodes;\n"
                                "input s : real;\n"
                                "repeat at most 7 while (s > 0) {\n"
                                "    update x = x/s;\n"
                                "    update s = sum(x);\n"
                                "}\n",
                                NULL);
        const double x[3] = {1, 2, 3};
        weft_error error = {0};
        bind(&c, "x", x, 3);
        bind_one(&c, "s", 1);
        check(weft_program_size(c.program, "nodes", 3, &error), &error);
        const int64_t before = weft_device_launches(c.device);
        run(&c);
        assert_in_range(weft_device_launches(c.device) - before, 1, 3);
        assert_int_equal(weft_compilation_kernels(c.compilation),
                         weft_device_launches(c.device) - before);
        case_close(&c);
    }
}

/* What no step reads need not be bound, in a loop or without one; what one reads must. */
static void inputs_that_nothing_reads(void **state) {
    (void)state;
    static const char *const scripts[] = {
        "index nodes plain;\ninput x, unread : real over nodes;\ny = 2*x;\nreturn y;\n",
        "index nodes plain;\ninput x, unread : real over nodes;\ninput s : real;\n"
        "repeat at most 3 while (s < 8) {\ny = s*x;\nupdate x = y;\nupdate s = 2*s;\n}\n"};
    const double x[3] = {1, 2, 3};
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; ++i) {
        loop_case c = case_open(scripts[i]);
        weft_error error = {0};
        check(weft_program_size(c.program, "nodes", 3, &error), &error);
        if (i > 0)
            bind_one(&c, "s", 1);
        assert_int_equal(weft_program_run(c.program, &error), WEFT_ERROR_USAGE);
        assert_string_equal(error.message, "input 'x' is not bound");
        bind(&c, "x", x, 3);
        run(&c);
        assert_null(weft_program_result(c.program, "unread"));
        case_close(&c);
    }
}

static int open_library(void **state) {
    (void)state;
    return (int)weft_library_make(&library, NULL);
}

static int close_library(void **state) {
    (void)state;
    weft_library_free(&library);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(square_root_by_newton),
        cmocka_unit_test(fibonacci_with_history),
        cmocka_unit_test(ends_of_loops),
        cmocka_unit_test(nested_and_successive),
        cmocka_unit_test(uniform_results),
        cmocka_unit_test(cg_written_out),
        cmocka_unit_test(cg_with_a_scripted_operator),
        cmocka_unit_test(cg_with_an_opaque_operator),
        cmocka_unit_test(time_steps),
        cmocka_unit_test(select_chooses),
        cmocka_unit_test(null_devices_capture),
        cmocka_unit_test(inputs_that_nothing_reads),
    };
    return cmocka_run_group_tests(tests, open_library, close_library);
}
