/* labels: quick */
/* weft_plan_check accepts the plans that are made, and refuses each kind of plan that loads what it overwrites. */
#include "core/weft_core.h"
#include "fusion/control/program.h"
#include "fusion/plan/plan.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_library.h"
#include "test_support.h"

#include <string.h>

enum { KERNELS = 8, ARGUMENTS = 32 };

/* A plan whose kernels may be altered. */
typedef struct plan_case {
    weft_library *library;
    weft_device *device;
    weft_compilation *compilation;
    const weft_graph *graph;
    weft_plan plan;
    weft_plan_kernel kernels[KERNELS];
} plan_case;

static plan_case compile(const char *device, const char *text) {
    plan_case c = {0};
    weft_error error = {0};
    const weft_fragment fragment = {"test.weft", text};
    const weft_compile_options options = {.size = sizeof options, .elements = 1000};
    assert_int_equal(weft_library_make(&c.library, &error), WEFT_OK);
    assert_int_equal(weft_device_open(device, NULL, &c.device, &error), WEFT_OK);
    if (weft_compile(c.library, weft_device_limits(c.device), &fragment, 1, &options,
                     &c.compilation, &error) != WEFT_OK)
        fail_msg("%s", error.message);
    const weft_segment *segment = weft_compilation_only(c.compilation);
    c.graph = segment->graph;
    c.plan = *segment->plan;
    assert_in_range(c.plan.n_kernels, 1, KERNELS);
    memcpy(c.kernels, c.plan.kernels, (size_t)c.plan.n_kernels * sizeof *c.kernels);
    return c;
}

static void expect(plan_case *c, const char *message) {
    weft_error error = {0};
    c->plan.kernels = c->kernels;
    assert_int_equal(weft_plan_check(c->graph, &c->plan, &error),
                     message[0] ? WEFT_ERROR_INTERNAL : WEFT_OK);
    assert_string_equal(error.message, message);
}

static void close_case(plan_case *c) {
    weft_compilation_free(&c->compilation);
    weft_device_free(&c->device);
    weft_library_free(&c->library);
}

static void through_connectivity(void **state) {
    (void)state;
    plan_case c = compile("null", "index E, V plain;\nconnectivity ends : E -> V[2];\n"
                                  "input x : real over V;\na = 2*x;\nb = 3*a[ends];\n"
                                  "return a, b;\n");
    assert_int_equal(c.plan.n_kernels, 2);
    expect(&c, "");
    c.kernels[1].stores = c.kernels[0].stores;
    c.kernels[1].n_stores = c.kernels[0].n_stores;
    c.kernels[1].name = "second";
    expect(&c, "kernel 'second' stores 'a' while other elements of it are read through ends");
    close_case(&c);
}

/* The kernel overwrites the elements that it has read; one that recomputes them for others must not. */
static void own_elements(void **state) {
    (void)state;
    plan_case c = compile("null", "index N;\ninput x : real over N;\nupdate x = 2*x;\n");
    weft_argument arguments[ARGUMENTS];
    weft_plan_kernel *kernel = &c.kernels[0];
    expect(&c, "");
    kernel->kind = KERNEL_VERTEX_PATCH;
    kernel->name = "patches";
    expect(&c, "kernel 'patches' stores 'x' while other elements of it are read");
    /* what it stores goes to another memory first */
    assert_in_range(kernel->n_arguments, 1, ARGUMENTS - 1);
    memcpy(arguments, kernel->arguments, (size_t)kernel->n_arguments * sizeof *arguments);
    arguments[kernel->n_arguments++] =
        (weft_argument){ARGUMENT_DOUBLE_BUFFER, kernel->loads[0].value, 0};
    kernel->arguments = arguments;
    expect(&c, "");
    close_case(&c);
}

/* The first kernel shares a launch with the third, and then instead with the one that reads its result. */
static void shared_launches(void **state) {
    (void)state;
    plan_case c = compile("null:h200", "index E, V plain, M;\nconnectivity ends : E -> V[2];\n"
                                       "input x : real over V;\ninput y : real over M;\n"
                                       "a = 2*x;\nb = 3*a[ends];\nc = 5*y;\nreturn a, b, c;\n");
    expect(&c, "");
    assert_int_equal(c.plan.n_kernels, 4);
    int group = 0, alone = 0;
    for (int i = 0; i < c.plan.n_kernels; ++i) {
        group = c.kernels[i].kind == KERNEL_GROUP ? i : group;
        alone = c.kernels[i].kind == KERNEL_MAP ? i : alone;
    }
    assert_int_equal(c.kernels[group].n_members, 2);
    int member = group - 2; /* the other one stores a */
    if (strcmp(c.graph->values[c.kernels[member].stores[0]].name, "c") != 0)
        ++member;
    assert_string_equal(c.graph->values[c.kernels[member].stores[0]].name, "c");
    assert_string_equal(c.graph->values[c.kernels[alone].stores[0]].name, "b");
    c.kernels[member] = c.kernels[alone];
    c.kernels[group - 1].name = "last";
    c.kernels[group - 2].name = "first";
    expect(&c, "kernels 'first' and 'last' share a launch, but one stores 'a', which the other "
               "uses");
    close_case(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(through_connectivity),
                                       cmocka_unit_test(own_elements),
                                       cmocka_unit_test(shared_launches)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
