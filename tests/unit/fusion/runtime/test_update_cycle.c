/* labels: quick */
/* A list that gets its next value from other members of itself: no member is overwritten before all
 * have read it. Each takes its neighbour's value, round a ring. */
#include "fusion/weft_compile.h"
#include "program_support.h"

enum { N = 1000 };

static void ring(void **state) {
    (void)state;
    int32_t next[N];
    double x[N], wanted[N];
    for (int i = 0; i < N; ++i) {
        next[i] = (i + N - 1) % N; /* the one before: overwritten first by a loop in order */
        x[i] = i;
        wanted[i] = next[i];
    }
    for (int unfused = 0; unfused < 2; ++unfused) {
        const weft_compile_options options = {.plan = (weft_plan_kind)unfused};
        program_case c = case_open(NULL, "host:1",
                                   "index nodes;\nconnectivity next : nodes -> nodes[1];\n"
                                   "input x : real over nodes;\nupdate x = 1*x[next][0];\n",
                                   &options);
        case_map(&c, "next", next, N, 1, N);
        case_input(&c, "x", x);
        case_run(&c);
        assert_same_bits(c.arrays[c.n_memories - 1], wanted, N);
        case_close(&c);
    }
}

/* The same by an operator: its product kernel reads at other rows. */
static void product(void **state) {
    (void)state;
    const weft_operator_choice choice = {.name = "A", .product_kernel = "csr"};
    const weft_compile_options options = {.operators = &choice, .n_operators = 1};
    program_case c = case_open(NULL, "null:h200",
                               "index nodes plain;\noperator A over nodes;\n"
                               "input x : real over nodes;\nupdate x = apply(A, x);\n",
                               &options);
    assert_int_equal(weft_compilation_kernels(c.compilation), 2);
    case_close(&c);
}

/* Another name for a list keeps the value that the list had before its update. */
static void old_name(void **state) {
    (void)state;
    static const char script[] = "index nodes;\ninput x : real over nodes;\nold = x;\n"
                                 "update x = 2*x;\n%sd = x - old;\nreturn d;\n";
    double x[N], wanted[N];
    for (int i = 0; i < N; ++i)
        wanted[i] = i + 1; /* 2x - x */
    for (int split = 0; split < 2; ++split) {
        char text[sizeof script + 8];
        snprintf(text, sizeof text, script, split ? "split;\n" : "");
        memcpy(x, wanted, sizeof x);
        program_case c = case_open(NULL, "host:1", text, NULL);
        case_size(&c, "nodes", N);
        case_input(&c, "x", x);
        case_run(&c);
        double *d = case_result(&c, "d");
        assert_same_bits(d, wanted, N);
        free(d);
        case_close(&c);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(ring), cmocka_unit_test(product),
                                       cmocka_unit_test(old_name)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
