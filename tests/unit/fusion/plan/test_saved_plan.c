/* labels: quick */
/* Plans that are saved, edited and forced; refused in words where they do not fit. Questions about
 * two calls, and the page for a browser. What kernels there must be is what the edited text says.
 */
#include "core/weft_core.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_library.h"
#include "program_support.h"

static const char SCRIPT[] = "index cells, nodes;\n"
                             "connectivity dofs : cells -> nodes[3];\n"
                             "input x : real[3] over cells;\n"
                             "input A : real[3,3] over cells;\n"
                             "a = 2*x;\n"
                             "c = mvmul(A, a);\n"
                             "d = a + c;\n"
                             "b[dofs] += d;\n"
                             "s = 2*b;\n"
                             "return c, s;\n";

/* Kernels of calls; variants are the planner's where none is given. */
#define PLAN(kernels) "{\"format\": \"weft-plan-1\", \"kernels\": [" kernels "]}"
#define KERNEL(calls) "{\"calls\": [" calls "]}"
#define CALL(name) "{\"result\": \"" name "\"}"
#define GROUP(members)                                                                             \
    "{\"group\": {\"combination\": \"inter-block\", \"members\": [\"" members "\"]}}"
#define ALL                                                                                        \
    "{\"name\": \"k0\", \"calls\": [" CALL("a") "," CALL("c") "," CALL("d") "]}," KERNEL(CALL("s"))

static weft_status compile(const char *plan, const char *device_name, weft_library **library,
                           weft_device **device, weft_compilation **out, weft_error *error) {
    const weft_fragment fragment = {"script.weft", SCRIPT};
    const weft_compile_options options = {.size = sizeof options, .forced_plan = plan};
    assert_int_equal(weft_library_make(library, NULL), WEFT_OK);
    assert_int_equal(weft_device_open(device_name, NULL, device, NULL), WEFT_OK);
    return weft_compile(*library, weft_device_limits(*device), &fragment, 1, &options, out, error);
}

static void forced(const char *plan, int n_kernels) {
    weft_library *library = NULL;
    weft_device *device = NULL;
    weft_compilation *c = NULL;
    weft_error error = {0};
    case_check(compile(plan, "null", &library, &device, &c, &error), &error);
    assert_int_equal(weft_compilation_kernels(c), n_kernels);
    weft_compilation_free(&c);
    weft_device_free(&device);
    weft_library_free(&library);
}

static void refused(const char *plan, const char *words) {
    weft_library *library = NULL;
    weft_device *device = NULL;
    weft_compilation *c = NULL;
    weft_error error = {0};
    assert_int_equal(compile(plan, "null", &library, &device, &c, &error), WEFT_ERROR_INPUT);
    assert_null(c);
    if (strstr(error.message, words) == NULL)
        fail_msg("\"%s\" is not in \"%s\"", words, error.message);
    assert_true(error.hint[0] != '\0');
    weft_device_free(&device);
    weft_library_free(&library);
}

static void plans_are_forced(void **state) {
    (void)state;
    forced(PLAN(KERNEL(CALL("a") "," CALL("c") "," CALL("d")) "," KERNEL(CALL("s"))), 2);
    forced(PLAN(KERNEL(CALL("a")) "," KERNEL(CALL("c") "," CALL("d")) "," KERNEL(CALL("s"))), 3);
    forced(PLAN(KERNEL(CALL("a") "," CALL("c")) "," KERNEL(CALL("d")) "," KERNEL(CALL("s"))), 3);
    /* a list of plans: the one with this script's calls */
    forced("[" PLAN(KERNEL(CALL("z"))) "," PLAN(KERNEL(CALL("a")) "," KERNEL(CALL("c")) "," KERNEL(
               CALL("d")) "," KERNEL(CALL("s"))) "]",
           4);
}

static void what_does_not_fit_is_refused(void **state) {
    (void)state;
    refused("{", "it is not JSON, line 1");
    refused("{\"format\": \"weft-graph-1\"}", "it has no \"format\": \"weft-plan-1\"");
    refused(PLAN(KERNEL(CALL("a") "," CALL("c") "," CALL("d"))), "no kernel has the call 's'");
    refused(PLAN(KERNEL(CALL("a") "," CALL("y"))), "kernel 0 has a call 'y', which this script");
    refused(PLAN(KERNEL(CALL("a") "," CALL("a"))), "'a' is in kernel 0 and in kernel 0");
    refused(PLAN(KERNEL(CALL("a") "," CALL("d")) "," KERNEL(CALL("c")) "," KERNEL(CALL("s"))),
            "what kernel 0 computes depends on itself by way of 'c', which is in kernel 1");
    refused(PLAN(KERNEL(CALL("a") "," CALL("c") "," CALL("d") "," CALL("s"))),
            "which are over different index sets");
    refused(PLAN(KERNEL(CALL("c") "," CALL("d")) "," KERNEL(CALL("a")) "," KERNEL(CALL("s"))),
            "kernel 0 has 'c' and needs 'a' of kernel 1");
    refused(PLAN(KERNEL("{\"result\": \"a\", \"variant\": 7}")),
            "the variant of 'a' is a number from 0 to 0");
    refused(PLAN(KERNEL("{\"result\": \"c\", \"variant\": 2}")),
            "the variant of 'c' is a number from 0 to 1");
    refused(PLAN(ALL "," GROUP("k0\", \"k7")), "a group has the member 'k7', which is no kernel");
    refused(PLAN(ALL "," GROUP("k0\", \"k0")), "the member 'k0', which is in another group");
    refused(PLAN(ALL ",{\"group\": {\"members\": [\"k0\"]}}"), "a group has no \"combination\"");
}

/* Two kernels that may share a launch. */
static const char INDEPENDENT[] = "index cells, nodes;\n"
                                  "input x : real over cells;\n"
                                  "input y : real over nodes;\n"
                                  "a = 2*x;\n"
                                  "b = 3*y;\n"
                                  "return a, b;\n";

/* A kernel over a matrix whose last call is over its rows. */
static const char NESTED[] = "index rows, cols;\n"
                             "input A : real over rows, cols;\n"
                             "input x : real over cols;\n"
                             "input u : real over rows;\n"
                             "t = gemv(A, x) + u;\n"
                             "return t;\n";

/* A kernel that shares a launch, with a gather behind it that cannot. */
static const char GATHERED[] = "index cells, nodes, groups;\n"
                               "connectivity dofs : cells -> nodes[3];\n"
                               "input x : real over groups;\n"
                               "input A : real[8,8] over cells;\n"
                               "input g : real[3] over cells;\n"
                               "a = 2*x;\n"
                               "C = mmul(A, A);\n"
                               "h = 4*g;\n"
                               "b[dofs] += h;\n"
                               "c[dofs] += 3*g;\n" /* evaluated by the gather */
                               "return a, b, c, h, C;\n";

/* What is printed reads back: the same plan, whatever is expected of the sizes. Variants are kept,
 * and so is what shares a launch: in a fused plan the small kernels, in an unfused one nothing. */
static void what_is_saved_is_forced(void **state) {
    (void)state;
    static const char *const scripts[] = {SCRIPT, INDEPENDENT, NESTED, GATHERED};
    for (int i = 0; i < 8; ++i) {
        const char *script = scripts[i / 2];
        const bool unfused = i % 2 == 1;
        const weft_compile_options saving = {.size = sizeof saving,
                                             .plan = unfused ? WEFT_PLAN_UNFUSED : WEFT_PLAN_FUSED,
                                             .scatter = script == GATHERED ? WEFT_SCATTER_GATHERED
                                                                           : WEFT_SCATTER_IN_PLACE,
                                             .elements = 1000};
        program_case c = case_open(NULL, "null:h200", script, &saving);
        weft_text saved = {0}, again = {0};
        weft_error error = {0};
        case_check(weft_compilation_print(c.compilation, "plan", "json", &saved, &error), &error);
        if (script == INDEPENDENT)
            assert_int_equal(strstr(saved.data, "inter-block") == NULL, unfused);
        /* For more elements, but not of a matrix, whose size the bytes per entry depend on. */
        const weft_compile_options options = {.size = sizeof options,
                                              .forced_plan = saved.data,
                                              .elements = script == NESTED ? saving.elements : 0,
                                              .scatter = saving.scatter};
        program_case d = case_open(NULL, "null:h200", script, &options);
        case_check(weft_compilation_print(d.compilation, "plan", "json", &again, &error), &error);
        assert_string_equal(saved.data, again.data);
        weft_text_free(&saved);
        weft_text_free(&again);
        case_close(&c);
        case_close(&d);
    }
}

/* Segments with calls of the same names; what a loop recomputes by one set of options and stores by
 * another. */
static const char *const looped[] = {"index cells, nodes;\n"
                                     "connectivity dofs : cells -> nodes[3];\n"
                                     "input v : real over nodes;\n"
                                     "input x : real[3] over cells;\n"
                                     "input t : real;\n"
                                     "b[dofs] += v[dofs];\n"
                                     "c[dofs] += 2*x;\n"
                                     "repeat at most 3 while (t < 3) {\n"
                                     "    update t = t + 1;\n"
                                     "}\n"
                                     "d[dofs] += 3*x;\n"
                                     "return b, c, d;\n",
                                     "index nodes plain;\n"
                                     "input u, f : real over nodes;\n"
                                     "input t : real;\n"
                                     "update u = u + f;\n"
                                     "update u = u*f;\n"
                                     "g = f*f + 1;\n"
                                     "repeat at most 3 while (t < 3) {\n"
                                     "    update u = u + g;\n"
                                     "    update t = t + 1;\n"
                                     "}\n"};

static void saved_plans_of_loops_are_forced(void **state) {
    (void)state;
    for (int i = 0; i < 2; ++i)
        for (int rematerialise = WEFT_REMATERIALISE_AUTO;
             rematerialise <= WEFT_REMATERIALISE_ALWAYS; ++rematerialise) {
            const weft_compile_options saving = {
                .size = sizeof saving, .rematerialise = (weft_rematerialise)rematerialise};
            program_case c = case_open(NULL, "null", looped[i], &saving);
            weft_text saved = {0}, again = {0};
            weft_error error = {0};
            case_check(weft_compilation_print(c.compilation, "plan", "json", &saved, &error),
                       &error);
            const weft_compile_options options = {.size = sizeof options,
                                                  .forced_plan = saved.data};
            program_case d = case_open(NULL, "null", looped[i], &options);
            case_check(weft_compilation_print(d.compilation, "plan", "json", &again, &error),
                       &error);
            assert_string_equal(saved.data, again.data);
            assert_string_equal(weft_compilation_source(c.compilation),
                                weft_compilation_source(d.compilation));
            weft_text_free(&saved);
            weft_text_free(&again);
            case_close(&c);
            case_close(&d);
        }
}

static void loops_that_are_not_there(void **state) {
    (void)state;
    weft_library *library = NULL;
    weft_device *device = NULL;
    weft_compilation *c = NULL;
    weft_error error = {0};
    const weft_fragment fragment = {"script.weft", looped[1]};
    const weft_compile_options options = {
        .size = sizeof options,
        .forced_plan = "[{\"format\": \"weft-loops-1\", \"recomputed\": [1]}]"};
    assert_int_equal(weft_library_make(&library, NULL), WEFT_OK);
    assert_int_equal(weft_device_open("null", NULL, &device, NULL), WEFT_OK);
    assert_int_equal(
        weft_compile(library, weft_device_limits(device), &fragment, 1, &options, &c, &error),
        WEFT_ERROR_INPUT);
    assert_non_null(strstr(error.message, "\"recomputed\" lists loops by number, from 0 to 0"));
    weft_device_free(&device);
    weft_library_free(&library);
}

/* Both plans of a script give the same numbers: x = 1, A = 1 everywhere; a = 2, c = 6, d = 8. */
static void forced_plans_run(void **state) {
    (void)state;
    static const char *const plans[] = {
        PLAN(KERNEL(CALL("a") "," CALL("c") "," CALL("d")) "," KERNEL(CALL("s"))),
        PLAN(KERNEL(CALL("a")) "," KERNEL(CALL("c")) "," KERNEL(CALL("d")) "," KERNEL(CALL("s")))};
    static const int32_t dofs[] = {0, 1, 2, 1, 2, 3};
    double x[6], matrix[18];
    for (int i = 0; i < 18; ++i)
        x[i % 6] = matrix[i] = 1;
    for (int i = 0; i < 2; ++i) {
        const weft_compile_options options = {.size = sizeof options, .forced_plan = plans[i]};
        program_case c = case_open(NULL, "host:1", SCRIPT, &options);
        case_map(&c, "dofs", dofs, 2, 3, 4);
        case_input(&c, "x", x);
        case_input(&c, "A", matrix);
        case_run(&c);
        double *s = case_result(&c, "s");
        const double wanted[] = {16, 32, 32, 16}; /* 2 * 8 a cell */
        assert_same_bits(s, wanted, 4);
        free(s);
        case_close(&c);
    }
}

static void assert_has(const char *text, const char *part) {
    if (strstr(text, part) == NULL)
        fail_msg("\"%s\" is not in\n%s", part, text);
}

static void why(void **state) {
    (void)state;
    program_case c = case_open(NULL, "null", SCRIPT, NULL);
    weft_text out = {0};
    weft_error error = {0};
    case_check(weft_compilation_why(c.compilation, "a", "d", &out, &error), &error);
    assert_has(out.data, "a, d: fused: spares 24 B"); /* c reads a too: stored anyhow if apart */
    assert_has(out.data, "best plan with them together");
    assert_has(out.data, "best plan with them apart");
    assert_has(out.data, "this plan has both in k0_");
    out.length = 0;
    case_check(weft_compilation_why(c.compilation, "c", "s", &out, &error), &error);
    assert_has(out.data, "not fused: one is over cells, the other over nodes");
    assert_int_equal(weft_compilation_why(c.compilation, "c", "q", &out, &error), WEFT_ERROR_USAGE);
    assert_string_equal(error.message, "no call makes 'q'");
    weft_text_free(&out);
    case_close(&c);
}

static int count(const char *text, const char *part) {
    int n = 0;
    for (const char *at = text; (at = strstr(at, part)) != NULL; ++at)
        ++n;
    return n;
}

/* Everything is in the page, nothing is fetched, and what is opened is closed. */
static void page(void **state) {
    (void)state;
    static const char *const tags[] = {"svg", "table", "pre", "div", "span", "g", "details", "a"};
    program_case c = case_open(NULL, "null", SCRIPT, NULL);
    weft_text out = {0};
    weft_error error = {0};
    const double seconds[] = {1.25e-3, -1};
    case_check(weft_compilation_html(c.compilation, seconds, NULL, &out, &error), &error);
    for (size_t i = 0; i < sizeof tags / sizeof *tags; ++i) {
        char open[16], opened[16], closed[16];
        snprintf(open, sizeof open, "<%s ", tags[i]);
        snprintf(opened, sizeof opened, "<%s>", tags[i]);
        snprintf(closed, sizeof closed, "</%s>", tags[i]);
        assert_int_equal(count(out.data, open) + count(out.data, opened), count(out.data, closed));
    }
    assert_int_equal(count(out.data, "http"), 0);
    assert_int_equal(count(out.data, "src="), 0);
    assert_int_equal(count(out.data, "class=\"kernel\""), 2);
    assert_int_equal(count(out.data, "class=\"call\""), 4);
    assert_has(out.data, "<td>1.25 ms</td>");
    assert_has(out.data, "id=\"kernel0\"");
    assert_has(out.data, "connectivity dofs : cells -&gt; nodes[3];");
    weft_text_free(&out);
    case_close(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plans_are_forced),
        cmocka_unit_test(what_does_not_fit_is_refused),
        cmocka_unit_test(what_is_saved_is_forced),
        cmocka_unit_test(saved_plans_of_loops_are_forced),
        cmocka_unit_test(loops_that_are_not_there),
        cmocka_unit_test(forced_plans_run),
        cmocka_unit_test(why),
        cmocka_unit_test(page),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
