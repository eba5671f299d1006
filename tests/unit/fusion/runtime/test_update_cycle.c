/* labels: quick */
/* A list that gets its next value from other members of itself: no member is overwritten before all
 * have read it. Each takes its neighbour's value, round a ring. */
#include "fusion/weft_compile.h"
#include "program_support.h"

enum { N = 1000 };

static void ring(void **state) {
    (void)state;
    static const char *const next_values[] = {"1*x[next][0]", "x[next][0]", "y"};
    int32_t next[N];
    double x[N], wanted[N];
    for (int i = 0; i < N; ++i) {
        next[i] = (i + N - 1) % N; /* the one before: overwritten first by a loop in order */
        wanted[i] = next[i];
    }
    for (int k = 0; k < 6; ++k) {
        const weft_compile_options options = {.size = sizeof options,
                                              .plan = (weft_plan_kind)(k % 2)};
        char text[256];
        const bool named = k / 2 == 2;
        snprintf(text, sizeof text,
                 "index nodes;\nconnectivity next : nodes -> nodes[1];\n"
                 "input x : real over nodes;\n%supdate x = %s;\n",
                 named ? "y = x[next][0];\n" : "", next_values[k / 2]);
        for (int i = 0; i < N; ++i)
            x[i] = i;
        program_case c = case_open(NULL, "host:1", text, &options);
        case_map(&c, "next", next, N, 1, N);
        case_input(&c, "x", x);
        case_run(&c);
        assert_same_bits(c.arrays[c.n_memories - 1], wanted, N);
        case_close(&c);
    }
}

/* Of lists with components, with the part of another list, and on a device where threads run at once. */
static void parts(void **state) {
    (void)state;
    static const char script[] = "index nodes;\nconnectivity next : nodes -> nodes[2];\n"
                                 "input x : real[2] over nodes;\nupdate x = x[next][1];\n";
    int32_t next[2 * N];
    double x[2 * N], wanted[2 * N];
    for (int i = 0; i < N; ++i) {
        next[2 * i] = i;
        next[2 * i + 1] = (i + N - 1) % N;
        for (int c = 0; c < 2; ++c) {
            x[2 * i + c] = 2 * i + c;
            wanted[2 * i + c] = 2 * next[2 * i + 1] + c;
        }
    }
    program_case c = case_open(NULL, "host:1", script, NULL);
    case_map(&c, "next", next, N, 2, N);
    case_input(&c, "x", x);
    case_run(&c);
    assert_same_bits(c.arrays[c.n_memories - 1], wanted, 2 * N);
    case_close(&c);
    program_case on_gpu = case_open(NULL, "null:h200", script, NULL);
    assert_int_equal(weft_compilation_kernels(on_gpu.compilation), 2);
    case_close(&on_gpu);
}

/* The same by an operator: its product kernel reads at other rows. */
static void product(void **state) {
    (void)state;
    const weft_operator_choice choice = {.name = "A", .product_kernel = "csr"};
    const weft_compile_options options = {
        .size = sizeof options, .operators = &choice, .n_operators = 1};
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(ring), cmocka_unit_test(parts),
                                       cmocka_unit_test(product), cmocka_unit_test(old_name)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
