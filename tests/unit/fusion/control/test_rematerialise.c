/* labels: quick */
/* What a loop reads, stored before it or rematerialised in every iteration: the same numbers either
 * way (small integers, so exactly), chosen by predicted time and memory, and never where it would
 * be wrong. */
#include "core/weft_core.h"
#include "fusion/control/program.h"
#include "fusion/cost/cost.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_library.h"
#include "fusion/weft_program.h"
#include "test_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static weft_library *library;

static void check(weft_status status, const weft_error *error) {
    char text[4096];
    if (status == WEFT_OK)
        return;
    weft_error_text(error, text, sizeof text);
    fail_msg("%s", text);
}

enum { N = 37 };

/* w = (A A^T)^n A v, n iterations, and whether the loop makes A A^T itself */
static bool run(const char *device_name, const char *loop, weft_rematerialise rematerialise,
                double *w) {
    weft_device *device = NULL;
    weft_compilation *compilation = NULL;
    weft_program *program = NULL;
    weft_error error = {0};
    char text[2048];
    double a[4 * N], v[2 * N];
    weft_memory *ma = NULL, *mv = NULL;
    const weft_compile_options options = {.size = sizeof options, .rematerialise = rematerialise};
    const char *forced = getenv("WEFT_TEST_DEVICE");
    snprintf(text, sizeof text,
             "index N plain;\ninput A : real[2,2] over N;\ninput v : real[2] over N;\n"
             "R = transpose(A);\nP = mmul(A, R);\nw = mvmul(A, v);\ncount = 0;\n%sreturn w;\n",
             loop);
    const weft_fragment fragment = {"store.weft", text};
    check(weft_device_open(forced ? forced : device_name, NULL, &device, &error), &error);
    check(weft_compile(library, weft_device_limits(device), &fragment, 1, &options, &compilation,
                       &error),
          &error);
    check(weft_program_make(device, compilation, &program, &error), &error);
    for (int i = 0; i < N; ++i) {
        const double one[] = {1 + i % 2, i % 3 - 1, 1, i % 5 - 2};
        memcpy(a + 4 * i, one, sizeof one);
        v[2 * i] = i % 7 - 3;
        v[2 * i + 1] = 1;
    }
    check(weft_memory_make(device, sizeof a, &ma, &error), &error);
    check(weft_memory_make(device, sizeof v, &mv, &error), &error);
    check(weft_memory_write(ma, 0, a, sizeof a, &error), &error);
    check(weft_memory_write(mv, 0, v, sizeof v, &error), &error);
    check(weft_program_size(program, "N", N, &error), &error);
    check(weft_program_bind(program, "A", ma, &error), &error);
    check(weft_program_bind(program, "v", mv, &error), &error);
    check(weft_program_run(program, &error), &error);
    check(weft_memory_read(weft_program_result(program, "w"), 0, w, 2 * N * sizeof *w, &error),
          &error);
    const weft_control_choice choice = compilation->control->choices_of_loops[0];
    assert_int_equal(choice.n, rematerialise == WEFT_REMATERIALISE_NEVER ? 0 : 1);
    weft_program_free(&program);
    weft_memory_free(&ma);
    weft_memory_free(&mv);
    weft_compilation_free(&compilation);
    weft_device_free(&device);
    return choice.chosen;
}

static void expected(int iterations, double *w) {
    for (int i = 0; i < N; ++i) {
        const double a[] = {1 + i % 2, i % 3 - 1, 1, i % 5 - 2}, v[] = {i % 7 - 3, 1};
        const double p[] = {a[0] * a[0] + a[1] * a[1], a[0] * a[2] + a[1] * a[3],
                            a[2] * a[0] + a[3] * a[1], a[2] * a[2] + a[3] * a[3]};
        double x = a[0] * v[0] + a[1] * v[1], y = a[2] * v[0] + a[3] * v[1];
        for (int t = 0; t < iterations; ++t) {
            const double next = p[0] * x + p[1] * y;
            y = p[2] * x + p[3] * y;
            x = next;
        }
        w[2 * i] = x;
        w[2 * i + 1] = y;
    }
}

static void same_numbers(void **state) {
    (void)state;
    static const struct {
        const char *loop;
        int iterations;
    } cases[] = {
        {"repeat at most 9 while (count < 3) {\nupdate w = mvmul(P, w);\n"
         "update count = count + 1;\n}\n",
         3},
        /* a loop that begins with a loop */
        {"repeat at most 9 while (count < 4) {\ninner = 0;\n"
         "repeat at most 9 while (inner < 2) {\nupdate w = mvmul(P, w);\n"
         "update inner = inner + 1;\n}\nupdate count = count + 2;\n}\n",
         4},
        {"last = 0;\nrepeat at most 9 while (count < 2) {\n"
         "repeat at most 1 while (last < 9) {\nupdate w = mvmul(P, w);\n"
         "update last = last + 1;\n}\nupdate count = count + 1;\n}\n",
         2},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        double stored[2 * N], recomputed[2 * N], w[2 * N];
        expected(cases[k].iterations, w);
        assert_false(run("host:2", cases[k].loop, WEFT_REMATERIALISE_NEVER, stored));
        assert_true(run("host:2", cases[k].loop, WEFT_REMATERIALISE_ALWAYS, recomputed));
        for (int i = 0; i < 2 * N; ++i) {
            assert_double_near(stored[i], w[i], 0, 0);
            assert_double_near(recomputed[i], w[i], 0, 0);
        }
    }
}

/* Names that the first loop could make itself, and what was chosen. */
static weft_control_choice choose(const char *body, const weft_compile_options *options,
                                  const weft_limits *limits) {
    weft_compilation *compilation = NULL;
    weft_error error = {0};
    char text[2048];
    snprintf(text, sizeof text,
             "index cells, nodes;\nconnectivity dofs : cells -> nodes[4];\n"
             "input x : real[3] over nodes;\ninput u0 : real over nodes;\n%s",
             body);
    const weft_fragment fragment = {"store.weft", text};
    check(weft_compile(library, limits, &fragment, 1, options, &compilation, &error), &error);
    const weft_control_choice choice = compilation->control->choices_of_loops[0];
    weft_compilation_free(&compilation);
    return choice;
}

static weft_limits limits_of(const char *name) {
    weft_device *device = NULL;
    weft_error error = {0};
    check(weft_device_open(name, NULL, &device, &error), &error);
    const weft_limits limits = *weft_device_limits(device);
    weft_device_free(&device);
    return limits;
}

#define LOCAL                                                                                      \
    "J = jacobian(x[dofs]);\nG = tform_dshape(J);\nK = dshape_dot_dshape(G, J);\nu = 1.0*u0;\n"    \
    "count = 0;\n"
#define LOOP                                                                                       \
    "repeat at most 50 while (count < 50) {\ny[dofs] += mvmul(K, u[dofs]);\n"                      \
    "update u = u - 0.01*y;\nupdate count = count + 1;\n}\n"

static void chosen(void **state) {
    (void)state;
    weft_limits limits = limits_of("null:h200");
    /* 128 bytes of K against 96 of coordinates through a connectivity, and 130 operations that a
     * GPU does meanwhile: again, the more so for many iterations */
    weft_compile_options options = {.size = sizeof options, .iterations = 100};
    weft_control_choice choice = choose(LOCAL LOOP "return u;\n", &options, &limits);
    assert_int_equal(choice.n, 1);
    assert_true(choice.chosen && choice.recomputed < choice.stored);
    const double once = choice.stored - choice.recomputed;
    options.iterations = 1000;
    choice = choose(LOCAL LOOP "return u;\n", &options, &limits);
    assert_true(choice.chosen && choice.stored - choice.recomputed > 5 * once);
    /* where arithmetic is slow, stored; but not where that does not fit */
    limits.flops /= 1000;
    choice = choose(LOCAL LOOP "return u;\n", &options, &limits);
    assert_int_equal(choice.n, 1);
    assert_true(!choice.chosen && choice.recomputed > choice.stored);
    options.elements = 1000000;
    limits.memory_bytes = 200000000; /* K alone has 128 MB: more than half */
    choice = choose(LOCAL LOOP "return u;\n", &options, &limits);
    assert_true(choice.chosen && choice.recomputed > choice.stored);
    options.rematerialise = WEFT_REMATERIALISE_NEVER;
    assert_false(choose(LOCAL LOOP "return u;\n", &options, &limits).chosen);
}

/* Times of functions of formulas as if they had been measured: a femtosecond each. */
static bool measured(void *user, const weft_cost_primitive *primitive,
                     const weft_operating_point *point, double *seconds) {
    (void)user;
    (void)point;
    if (primitive->intrinsic)
        *seconds = 1e-15;
    return primitive->intrinsic;
}

/* Nine functions take longer to evaluate than their value to load, a list's 8 bytes; a product of
 * nine factors does not, nor do functions where they were measured to be fast. */
static void functions_are_stored(void **state) {
    (void)state;
    static const char loop[] =
        "u = 1.0*u0;\ncount = 0;\nrepeat at most 50 while (count < 50) {\nupdate u = u + 0.01*k;\n"
        "update count = count + 1;\n}\nreturn u;\n";
    static const char *const devices[] = {"host:1", "null:h200"};
    const weft_cost_source source = {.name = "test", .lookup = measured};
    char text[1024];
    for (size_t i = 0; i < sizeof devices / sizeof *devices; ++i) {
        const weft_limits limits = limits_of(devices[i]);
        for (int single = 0; single < 2; ++single) {
            const weft_compile_options options = {
                .size = sizeof options, .iterations = 100, .single = single};
            weft_compile_options fast = options;
            fast.costs = &source;
            snprintf(
                text, sizeof text,
                "k = sin(u0) + exp(u0) + cos(u0) + log(2 + u0) + tan(u0) + atan(u0) + tanh(u0) + "
                "erf(u0) + u0^1.5;\n%s",
                loop);
            weft_control_choice choice = choose(text, &options, &limits);
            assert_int_equal(choice.n, 1);
            assert_true(!choice.chosen && choice.recomputed > choice.stored);
            choice = choose(text, &fast, &limits);
            assert_true(choice.chosen && choice.recomputed < choice.stored);
            snprintf(text, sizeof text, "k = u0*u0*u0*u0*u0*u0*u0*u0*u0;\n%s", loop);
            choice = choose(text, &options, &limits);
            assert_int_equal(choice.n, 1);
            assert_true(choice.chosen && choice.recomputed < choice.stored);
        }
    }
}

static void not_moved(void **state) {
    (void)state;
    static const char *const scripts[] = {
        LOCAL LOOP "return u, K;\n",                   /* returned */
        LOCAL LOOP "s = trace(K);\nreturn u, s;\n",    /* read afterwards */
        LOCAL "t = trace(K);\n" LOOP "return u, t;\n", /* and before */
        /* what it is made of changes in the loop, or before it */
        "z = 1.0*u0;\nu = 1.0*u0;\nb = 2.0*z;\ncount = 0;\n"
        "repeat at most 9 while (count < 5) {\nupdate u = u + b;\nupdate z = 2.0*z;\n"
        "update count = count + 1;\n}\nreturn u, z;\n",
        "z = 1.0*u0;\nu = 1.0*u0;\nb = 2.0*z;\nupdate z = 3.0*z;\ncount = 0;\n"
        "repeat at most 9 while (count < 5) {\nupdate u = u + b;\nupdate count = count + 1;\n}\n"
        "return u, z;\n",
        /* a reduction, which is one number */
        "u = 1.0*u0;\ns = dot(u0, u0);\ncount = 0;\nrepeat at most 9 while (count < 5) {\n"
        "update u = u + s*u0;\nupdate count = count + 1;\n}\nreturn u;\n",
        /* uniform arithmetic */
        "u = 1.0*u0;\ns = 2.0*pi;\ncount = 0;\nrepeat at most 9 while (count < 5) {\n"
        "update u = u + s*u0;\nupdate count = count + 1;\n}\nreturn u;\n",
    };
    const weft_limits limits = limits_of("null:h200");
    const weft_compile_options options = {.size = sizeof options,
                                          .rematerialise = WEFT_REMATERIALISE_ALWAYS};
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; ++i) {
        const weft_control_choice choice = choose(scripts[i], &options, &limits);
        if (choice.n != 0)
            fail_msg("script %zu moves %d values", i, choice.n);
    }
}

/* A saved plan of a script with loops and updates is the plan of the script that it is forced on.
 */
static void saved_plans(void **state) {
    (void)state;
    static const char text[] =
        "index cells, nodes;\nconnectivity dofs : cells -> nodes[4];\n"
        "input x : real[3] over nodes;\ninput u0 : real over nodes;\n" LOCAL LOOP "return u;\n";
    const weft_fragment fragment = {"store.weft", text};
    const weft_limits limits = limits_of("null:h200");
    for (int rematerialise = 0; rematerialise < 3; ++rematerialise) {
        weft_text saved = {0}, again = {0};
        weft_compile_options options = {.size = sizeof options,
                                        .rematerialise = (weft_rematerialise)rematerialise};
        for (int k = 0; k < 2; ++k) {
            weft_compilation *compilation = NULL;
            weft_error error = {0};
            options.forced_plan = k > 0 ? saved.data : NULL;
            check(weft_compile(library, &limits, &fragment, 1, &options, &compilation, &error),
                  &error);
            check(weft_compilation_print(compilation, "plan", "json", k > 0 ? &again : &saved,
                                         &error),
                  &error);
            weft_compilation_free(&compilation);
        }
        assert_non_null(strstr(saved.data, "u_next"));
        assert_string_equal(saved.data, again.data);
        weft_text_free(&saved);
        weft_text_free(&again);
    }
}

static int set_up(void **state) {
    weft_error error = {0};
    (void)state;
    check(weft_library_make(&library, &error), &error);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    weft_library_free(&library);
    return 0;
}

/* Stored values serve a `together` block of the loop, rematerialised ones do not: they would be in
 * the kernel over the matrix, which then has a launch of its own. */
static void directives_are_followed(void **state) {
    (void)state;
    static const weft_fragment script = {
        "together.weft", "index rows, cols;\ninput a, b : real over rows;\n"
                         "input M : real over rows, cols;\ninput s : real;\nv = a + b;\n"
                         "left = s;\ne = 2*a;\nrepeat at most 3 while (left > 0) {\n"
                         "    together inter_block {\n        c = v;\n"
                         "        w = axpby(s, M, s, M);\n"
                         "        update M = abs(c^2 + min(w, c));\n    }\n"
                         "    update left = left - 1;\n}\nreturn e;\n"};
    weft_device *device = NULL;
    weft_compilation *compilation = NULL;
    weft_error error = {0};
    check(weft_device_open("null:h200", NULL, &device, &error), &error);
    for (int i = 0; i < 3; ++i) {
        const weft_compile_options options = {.size = sizeof options,
                                              .rematerialise = (weft_rematerialise)i};
        const weft_status status = weft_compile(library, weft_device_limits(device), &script, 1,
                                                &options, &compilation, &error);
        assert_int_equal(status, i == WEFT_REMATERIALISE_ALWAYS ? WEFT_ERROR_TYPE : WEFT_OK);
        weft_compilation_free(&compilation);
    }
    weft_device_free(&device);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_numbers),         cmocka_unit_test(chosen),
        cmocka_unit_test(functions_are_stored), cmocka_unit_test(not_moved),
        cmocka_unit_test(saved_plans),          cmocka_unit_test(directives_are_followed),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
