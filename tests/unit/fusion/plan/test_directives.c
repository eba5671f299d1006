/* labels: quick */
/* fuse { } and split; in a script: the kernels that there are then, counted by hand; what cannot be
 * is refused at the block, with the calls that stand in each other's way. */
#include "core/weft_core.h"
#include "fusion/control/program.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_library.h"
#include "program_support.h"

#define HEAD                                                                                       \
    "index cells, nodes;\nconnectivity dofs : cells -> nodes[3];\n"                                \
    "input x, w : real[3] over cells;\n"

static weft_status compile(const char *text, const weft_compile_options *options,
                           weft_library **library, weft_device **device, weft_compilation **out,
                           weft_error *error) {
    const weft_fragment fragment = {"directive.weft", text};
    assert_int_equal(weft_library_make(library, NULL), WEFT_OK);
    assert_int_equal(weft_device_open("null", NULL, device, NULL), WEFT_OK);
    return weft_compile(*library, weft_device_limits(*device), &fragment, 1, options, out, error);
}

static void expect_kernels(const char *text, weft_plan_kind plan, int n) {
    weft_library *library = NULL;
    weft_device *device = NULL;
    weft_compilation *c = NULL;
    weft_error error = {0};
    const weft_compile_options options = {.size = sizeof options, .plan = plan};
    case_check(compile(text, &options, &library, &device, &c, &error), &error);
    if (weft_compilation_kernels(c) != n)
        fail_msg("%d kernels, not %d, in\n%s", weft_compilation_kernels(c), n, text);
    weft_compilation_free(&c);
    weft_device_free(&device);
    weft_library_free(&library);
}

static void expect_refused(const char *text, const char *message) {
    weft_library *library = NULL;
    weft_device *device = NULL;
    weft_compilation *c = NULL;
    weft_error error = {0};
    assert_int_equal(compile(text, NULL, &library, &device, &c, &error), WEFT_ERROR_TYPE);
    assert_string_equal(error.message, message);
    weft_device_free(&device);
    weft_library_free(&library);
}

static void splits(void **state) {
    (void)state;
    expect_kernels(HEAD "a = 2*x; b = a + x; c = b*a; return c;", WEFT_PLAN_FUSED, 1);
    expect_kernels(HEAD "a = 2*x; split; b = a + x; c = b*a; return c;", WEFT_PLAN_FUSED, 2);
    expect_kernels(HEAD "a = 2*x; split; b = a + x; split; c = b*a; return c;", WEFT_PLAN_FUSED, 3);
    expect_kernels(HEAD "a = 2*x; split; b = a + x; c = b*a; return c;", WEFT_PLAN_UNFUSED, 3);
}

/* Two that share nothing are not fused unless they are asked to be. */
static void blocks(void **state) {
    (void)state;
    expect_kernels(HEAD "a = 2*x; b = 3*w; return a, b;", WEFT_PLAN_FUSED, 2);
    expect_kernels(HEAD "fuse { a = 2*x; b = 3*w; } return a, b;", WEFT_PLAN_FUSED, 1);
    expect_kernels(HEAD "fuse { a = 2*x; b = 3*w; } c = a + b; return c;", WEFT_PLAN_FUSED, 1);
    expect_kernels(HEAD "fuse { a = 2*x; b = 3*w; } split; c = a + b; return c;", WEFT_PLAN_FUSED,
                   2);
    expect_kernels(HEAD "fuse { a = 2*x; b = 3*w; } return a, b;", WEFT_PLAN_UNFUSED, 2);
}

static void what_cannot_be_is_refused(void **state) {
    (void)state;
    expect_refused(HEAD "y[dofs] += x; fuse { a = 2*x; s = 2*y; } return a, s;",
                   "'a' and 's' cannot share a kernel: they are over different index sets");
    expect_refused(HEAD "fuse { a = x[0] + 1; r = sum(a); b = a*r; } return b;",
                   "'a' and 'b' cannot share a kernel: there is a global barrier between them");
}

/* No kernel reaches over the segments of a program. */
static void blocks_in_programs(void **state) {
    (void)state;
#define PROGRAM                                                                                    \
    "index nodes plain;\noperator A over nodes;\ninput p, x : real over nodes;\n"                  \
    "input r, s : real;\n"
    expect_refused(PROGRAM "fuse { y = 2*p; z = 3*x; q = apply(A, y); } w = q + z; return w;",
                   "'q' is the product with operator 'A', which shares no kernel here");
    expect_refused(
        PROGRAM "q = apply(A, p); fuse { y = 2*p; update s = r*s; z = s*x; } w = q + y; "
                "update r = dot(w, z); v = r*w; return v, y, z;",
        "'y' and 'z' cannot share a kernel: they are in segments 1 and 2 of the program");
    /* in a loop, each iteration; and where the block is in one segment */
    expect_refused(PROGRAM "repeat at most 3 while (r < 1) {\n"
                           "    fuse { y = 2*p; update r = r + dot(y, y); update x = r*x; }\n}\n"
                           "w = 1*x; return w;",
                   "'y' and 'x' cannot share a kernel: they are in segments 1 and 2 of the "
                   "program");
    expect_kernels(PROGRAM
                   "repeat at most 3 while (r < 1) {\n"
                   "    fuse { a = 2*p; update x = 3*x; }\n    update r = r + dot(a, x);\n}\n"
                   "w = 1*x; return w;",
                   WEFT_PLAN_FUSED, 3); /* a, x and dot; what joins it; w */
    expect_kernels(PROGRAM "fuse { y = 2*p; z = 3*x; } q = apply(A, y); w = q + z; return w;",
                   WEFT_PLAN_FUSED, 2);
    expect_kernels(PROGRAM "fuse { y = 2*p; z = 3*x; q = apply(A, y); } w = q + z; return w;",
                   WEFT_PLAN_UNFUSED, 3);
}

/* What the script of an operator asks for holds where it is written out, each time for itself. */
static void blocks_of_operators(void **state) {
    (void)state;
    static const char script[] = "index nodes plain;\noperator A over nodes;\n"
                                 "input p, x : real over nodes;\n%s\nreturn w;\n";
    static const struct {
        const char *of_script, *of_operator;
        int n; /* kernels; -1: refused */
    } cases[] = {
        {"q = apply(A, p); w = q + x;", "a = 2*v; y = a + v;", 1},
        {"q = apply(A, p); w = q + x;", "a = 2*v; split; y = a + v;", 2},
        {"q = apply(A, p); w = q + x;", "a = 2*v; y = a + v; split;", 2},
        {"q = apply(A, p); r = apply(A, q); w = r + x;", "a = 2*v; split; y = a + v;", 3},
        {"w = apply(A, apply(A, p));", "split; a = 2*v; y = a + v;", 2},
        /* b and y share nothing with each other: b reads x and nobody else does */
        {"q = apply(A, p); w = q + x;", "b = 3*o; a = 2*v; y = a + v; z = b*b;", 1},
        {"q = apply(A, p); split; w = q + x;", "fuse { a = 2*v; y = a + v; }", 2},
        {"fuse { q = apply(A, p); w = q + x; }", "fuse { a = 2*v; } y = a + v;", 1},
        {"fuse { q = apply(A, p); w = q + x; }", "a = 2*v; split; y = a + v;", -1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        char text[512], operator_text[512];
        weft_library *library = NULL;
        weft_device *device = NULL;
        weft_compilation *c = NULL;
        weft_error error = {0};
        snprintf(text, sizeof text, script, cases[i].of_script);
        snprintf(operator_text, sizeof operator_text,
                 "index nodes plain;\ninput v, o : real over nodes;\n%s\nreturn y;\n",
                 cases[i].of_operator);
        const weft_fragment fragment = {"operator.weft", operator_text};
        const weft_operator_choice choice = {.name = "A", .fragments = &fragment, .n_fragments = 1};
        const weft_compile_options options = {
            .size = sizeof options, .operators = &choice, .n_operators = 1};
        const weft_status status = compile(text, &options, &library, &device, &c, &error);
        if (cases[i].n < 0) {
            assert_int_equal(status, WEFT_ERROR_TYPE);
            assert_string_equal(error.message,
                                "the script of operator 'A' has a split, and this product is in "
                                "a fuse block");
        } else {
            case_check(status, &error);
            if (weft_compilation_kernels(c) != cases[i].n)
                fail_msg("case %zu: %d kernels, not %d", i, weft_compilation_kernels(c),
                         cases[i].n);
        }
        weft_compilation_free(&c);
        weft_device_free(&device);
        weft_library_free(&library);
    }
}

/* Variants and blocks too, also by parameters of the operator's script. */
static void choices_of_operators(void **state) {
    (void)state;
    static const char script[] = "index cells, nodes;\nconnectivity dofs : cells -> nodes[3];\n"
                                 "operator A over nodes;\ninput p : real over nodes;\n"
                                 "q = apply(A, p);\nreturn q;\n";
    static const char operator_script[] =
        "index cells, nodes;\nconnectivity dofs : cells -> nodes[3];\nparameter width = 96;\n"
        "input K : real[3,3] over cells;\ninput v : real over nodes;\n"
        "fuse block width threads 3 { y[dofs] += mvmul(K, v[dofs]) using variant 1; }\nreturn y;\n";
    weft_library *library = NULL;
    weft_device *device = NULL;
    weft_compilation *c = NULL;
    weft_error error = {0};
    const weft_fragment text = {"script.weft", script},
                        fragment = {"operator.weft", operator_script};
    const weft_operator_choice choice = {.name = "A", .fragments = &fragment, .n_fragments = 1};
    const weft_compile_options options = {
        .size = sizeof options, .operators = &choice, .n_operators = 1};
    assert_int_equal(weft_library_make(&library, NULL), WEFT_OK);
    assert_int_equal(weft_device_open("null:h200", NULL, &device, NULL), WEFT_OK);
    case_check(weft_compile(library, weft_device_limits(device), &text, 1, &options, &c, &error),
               &error);
    assert_non_null(weft_compilation_only(c));
    assert_int_equal(weft_compilation_only(c)->cover->n, 1);
    assert_int_equal(weft_compilation_only(c)->cover->list[0]->elements_per_block, 96);
    assert_int_equal(weft_compilation_only(c)->cover->list[0]->threads_per_element, 3);
    assert_int_equal(weft_compilation_only(c)->cover->list[0]->variants[0], 1);
    weft_compilation_free(&c);
    weft_device_free(&device);
    weft_library_free(&library);
}

/* The text that is printed of a script says the same. */
static void printed(void **state) {
    (void)state;
    static const char text[] = HEAD "a = 2*x;\nsplit;\nfuse {\nb = a + x;\nc = 3*w;\n}\n"
                                    "return b, c;\n";
    weft_library *library = NULL;
    weft_device *device = NULL;
    weft_compilation *c = NULL;
    weft_text out = {0};
    assert_int_equal(compile(text, NULL, &library, &device, &c, NULL), WEFT_OK);
    assert_int_equal(weft_compilation_print(c, "script", "text", &out, NULL), WEFT_OK);
    const char *statements = strstr(out.data, "a = ");
    assert_non_null(statements);
    assert_string_equal(statements, strstr(text, "a = "));
    weft_text_free(&out);
    weft_compilation_free(&c);
    weft_device_free(&device);
    weft_library_free(&library);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(splits),
        cmocka_unit_test(blocks),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(blocks_in_programs),
        cmocka_unit_test(blocks_of_operators),
        cmocka_unit_test(choices_of_operators),
        cmocka_unit_test(printed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
