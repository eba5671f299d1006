/* labels: quick */
/* Which kernels of a plan share a launch, on an H200's limits. */
#include "core/weft_core.h"
#include "fusion/control/program.h"
#include "fusion/plan/plan.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_library.h"
#include "plans/plan_invariants.h"

#include <stdio.h>
#include <string.h>

typedef struct plan_case {
    weft_library *library;
    weft_device *device;
    weft_compilation *compilation;
    const weft_plan *plan;
} plan_case;

static plan_case compile(const char *device, const char *text, weft_compile_options options) {
    plan_case c = {0};
    weft_error error = {0};
    const weft_fragment fragment = {"test.weft", text};
    assert_int_equal(weft_library_make(&c.library, &error), WEFT_OK);
    assert_int_equal(weft_device_open(device, NULL, &c.device, &error), WEFT_OK);
    if (weft_compile(c.library, weft_device_limits(c.device), &fragment, 1, &options,
                     &c.compilation, &error) != WEFT_OK)
        fail_msg("%s", error.message);
    c.plan = weft_compilation_only(c.compilation)->plan;
    check_plan("test.weft", c.compilation);
    check_buffers("test.weft", c.compilation);
    return c;
}

static void close_case(plan_case *c) {
    weft_compilation_free(&c->compilation);
    weft_device_free(&c->device);
    weft_library_free(&c->library);
}

static void expect(const char *device, const char *text, weft_compile_options options,
                   int n_kernels, int n_launches) {
    plan_case c = compile(device, text, options);
    assert_int_equal(c.plan->n_kernels - c.plan->n_groups, n_kernels);
    assert_int_equal(weft_plan_launches(c.plan), n_launches);
    close_case(&c);
}

/* n calls that share no data: y_i = (i + 2) x_i. */
static char *independent(int n) {
    char *text = calloc(1, 8192), *at = text;
    assert_non_null(text);
    at += sprintf(at, "index N;\n");
    for (int i = 0; i < n; ++i)
        at += sprintf(at, "input x%d : real over N;\ny%d = %d*x%d;\n", i, i, i + 2, i);
    at += sprintf(at, "return ");
    for (int i = 0; i < n; ++i)
        at += sprintf(at, "%sy%d", i > 0 ? ", " : "", i);
    sprintf(at, ";\n");
    return text;
}

/* The slides' case: many small calls. Large ones take much longer than a launch each. */
static void small_calls(void **state) {
    const weft_compile_options small = {.size = sizeof small, .elements = 10000},
                               large = {.size = sizeof large, .elements = 100000000};
    char *text = independent(20);
    (void)state;
    expect("null:h200", text, small, 20, 1);
    expect("null:h200", text, large, 20, 20);
    expect("null:h200", text,
           (weft_compile_options){
               .size = sizeof(weft_compile_options), .elements = 10000, .plan = WEFT_PLAN_UNFUSED},
           20, 20);
    expect("null", text, small, 20, 20);
    plan_case c = compile("null:h200", text, small);
    const weft_plan_kernel *group = &c.plan->kernels[20];
    assert_int_equal(group->kind, KERNEL_GROUP);
    assert_int_equal(group->n_members, 20);
    /* 19 launches of 3.1 us are saved, and the loads of all overlap */
    assert_true(group->saved_seconds > 19 * 3.1e-6);
    assert_true(group->seconds > 3.1e-6);
    close_case(&c);
    free(text);
    text = independent(40); /* a group has at most 32 members */
    expect("null:h200", text, small, 40, 2);
    free(text);
}

/* Kernels with a path between them have a launch each; those beside them may join either. */
static void dependences(void **state) {
    const weft_compile_options small = {.size = sizeof small, .elements = 1000};
    (void)state;
    /* b reads through a map what a has computed, c neither */
    expect("null:h200",
           "index E, V plain;\nconnectivity ends : E -> V[2];\ninput x : real over V;\n"
           "input z : real[2] over E;\na = 2*x;\nb = 3*a[ends];\nc = z + 1;\nreturn b, c;\n",
           small, 3, 2);
    /* a and c share a launch, then b and d; a with d would leave c no place beside b */
    expect("null:h200",
           "index E, V plain, F, W plain;\nconnectivity ends : E -> V[2];\n"
           "connectivity tips : F -> W[2];\ninput x : real over V;\ninput y : real over W;\n"
           "a = 2*x;\nb = 3*a[ends];\nc = 5*y;\nd = 7*c[tips];\nreturn b, d;\n",
           small, 4, 2);
    /* both add to r, atomically */
    expect("null:h200",
           "index E, V plain, F;\nconnectivity ends : E -> V[2];\nconnectivity tips : F -> V[2];\n"
           "input x : real[2] over E;\ninput y : real[2] over F;\n"
           "r[ends] += 2*x;\nr[tips] += 3*y;\nreturn r;\n",
           small, 2, 1);
    /* the second reads what the first has added */
    expect("null:h200",
           "index E, V plain, F;\nconnectivity ends : E -> V[2];\nconnectivity tips : F -> V[2];\n"
           "input x : real[2] over E;\ninput y : real[2] over F;\n"
           "r[ends] += 2*x;\nq[tips] += r[tips]*y;\nreturn r, q;\n",
           small, 2, 2);
    /* a reduction, and its final one */
    expect("null:h200",
           "index N, M, K;\ninput x : real over N;\ninput y : real over M;\n"
           "input z : real over K;\na = sum(x);\nb = 2*y;\nc = 3*z;\nreturn a, b, c;\n",
           small, 4, 2);
    /* beside kernels without calls: a gather */
    expect("null:h200",
           "index E, V plain, M;\nconnectivity ends : E -> V[2];\ninput x : real[2] over E;\n"
           "input y : real over M;\na = 2*x;\nr[ends] += a;\nb = 3*y;\nreturn r, a, b;\n",
           (weft_compile_options){.size = sizeof(weft_compile_options),
                                  .elements = 1000,
                                  .scatter = WEFT_SCATTER_GATHERED},
           3, 2);
    /* the update of x comes after its reader */
    expect("null:h200",
           "index E, V plain;\nconnectivity ends : E -> V[2];\ninput x : real over V;\n"
           "a = 2*x[ends];\nupdate x = x + 1;\nreturn a;\n",
           small, 2, 2);
}

/* A block of the script asks for a launch that the planner does not choose: the kernels are long. */
static void asked_for(void **state) {
    static const char text[] = "index N;\ninput a, b, c, d : real over N;\n"
                               "together inner_block { p = 2*a; q = 3*b; r = 4*c; }\n"
                               "s = 5*d;\nreturn p, q, r, s;\n";
    (void)state;
    expect("null:h200", text,
           (weft_compile_options){.size = sizeof(weft_compile_options), .elements = 100000000}, 4,
           2);
    expect("null:h200", text,
           (weft_compile_options){.size = sizeof(weft_compile_options),
                                  .elements = 100000000,
                                  .plan = WEFT_PLAN_UNFUSED},
           4, 4);
    expect("null", text,
           (weft_compile_options){.size = sizeof(weft_compile_options), .elements = 100000000}, 4,
           4);
    plan_case c = compile(
        "null:h200", text,
        (weft_compile_options){.size = sizeof(weft_compile_options), .elements = 100000000});
    for (int i = 0; i < c.plan->n_kernels; ++i) {
        const weft_plan_kernel *kernel = &c.plan->kernels[i];
        if (kernel->kind != KERNEL_GROUP)
            continue;
        assert_int_equal(kernel->combination, INNER_BLOCK);
        assert_int_equal(kernel->n_members, 3);
        assert_int_equal(kernel->threads,
                         kernel[-1].threads + kernel[-2].threads + kernel[-3].threads);
        for (int m = 1; m <= 3; ++m)
            assert_int_equal(kernel[-m].threads % 32, 0);
    }
    close_case(&c);
}

/* Reductions share a launch, and their final ones another. */
static void reductions(void **state) {
    char text[4096] = "index N0", *at = text + strlen(text);
    (void)state;
    for (int i = 1; i < 20; ++i)
        at += sprintf(at, ", N%d", i);
    at += sprintf(at, ";\n");
    for (int i = 0; i < 20; ++i)
        at += sprintf(at, "input x%d : real over N%d;\ns%d = sum(x%d);\n", i, i, i, i);
    at += sprintf(at, "return s0");
    for (int i = 1; i < 20; ++i)
        at += sprintf(at, ", s%d", i);
    sprintf(at, ";\n");
    const weft_compile_options small = {.size = sizeof small, .elements = 100000},
                               large = {.size = sizeof large, .elements = 100000000};
    expect("null:h200", text, small, 40, 2);
    expect("null:h200", text, large, 40, 40);
    plan_case c = compile("null:h200", text, small);
    const weft_plan_kernel *group = &c.plan->kernels[20];
    assert_int_equal(group->kind, KERNEL_GROUP);
    assert_true(group->saved_seconds > 38 * 3e-6); /* of 40 launches */
    weft_text json = {0};
    weft_error error = {0};
    assert_int_equal(weft_compilation_print(c.compilation, "plan", "json", &json, &error), WEFT_OK);
    expect("null:h200", text,
           (weft_compile_options){
               .size = sizeof(weft_compile_options), .elements = 100000, .forced_plan = json.data},
           40, 2);
    weft_text_free(&json);
    close_case(&c);
}

/* A saved plan without shared launches has none when it is loaded. */
static void saved(void **state) {
    char *text = independent(3);
    (void)state;
    for (int kind = 0; kind < 2; ++kind) {
        plan_case c = compile("null:h200", text,
                              (weft_compile_options){.size = sizeof(weft_compile_options),
                                                     .elements = 1000,
                                                     .plan = (weft_plan_kind)kind});
        weft_text json = {0};
        weft_error error = {0};
        assert_int_equal(weft_compilation_print(c.compilation, "plan", "json", &json, &error),
                         WEFT_OK);
        expect("null:h200", text,
               (weft_compile_options){.size = sizeof(weft_compile_options),
                                      .elements = 1000,
                                      .forced_plan = json.data},
               3, kind == WEFT_PLAN_FUSED ? 1 : 3);
        weft_text_free(&json);
        close_case(&c);
    }
    free(text);
}

static void refused(const char *text, const char *message) {
    weft_error error = {0};
    weft_library *library = NULL;
    weft_device *device = NULL;
    weft_compilation *compilation = NULL;
    const weft_fragment fragment = {"test.weft", text};
    assert_int_equal(weft_library_make(&library, &error), WEFT_OK);
    assert_int_equal(weft_device_open("null:h200", NULL, &device, &error), WEFT_OK);
    assert_int_not_equal(
        weft_compile(library, weft_device_limits(device), &fragment, 1, NULL, &compilation, &error),
        WEFT_OK);
    assert_string_equal(error.message, message);
    weft_device_free(&device);
    weft_library_free(&library);
}

static void impossible_blocks(void **state) {
    (void)state;
    refused("index E, V plain;\nconnectivity ends : E -> V[2];\ninput x : real over V;\n"
            "together { a = 2*x; b = 3*a[ends]; }\nreturn b;\n",
            "'a' and 'b' cannot share a launch: one of their kernels must end before the other "
            "starts");
    refused("index N, M;\ninput x : real over N;\ninput y : real over M;\n"
            "together inner_block { a = sum(x); b = 3*y; }\nreturn a, b;\n",
            "'a' and 'b' cannot share thread blocks: one of their kernels has barriers");
    refused("index N, M;\ninput x : real over N;\ninput A, B : real[3,3] over M;\n"
            "together { a = sum(x); fuse block 32 threads 9 { C = mmul(A, B); } }\nreturn a, C;\n",
            "'a' and 'C' cannot share a launch: a reduction has blocks of 128 threads, and another "
            "kernel larger ones");
    refused("index N;\ninput x : real over N;\n"
            "together { together { a = 2*x; } }\nreturn a;\n",
            "a together block must not contain a together block");
    refused("index N;\ninput x : real over N;\n"
            "together inter { a = 2*x; }\nreturn a;\n",
            "expected '{' before the statements that are to share a launch, found 'inter'");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_calls),       cmocka_unit_test(dependences),
        cmocka_unit_test(asked_for),         cmocka_unit_test(saved),
        cmocka_unit_test(impossible_blocks), cmocka_unit_test(reductions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
