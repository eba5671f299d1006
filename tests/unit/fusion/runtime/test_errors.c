/* labels: quick */
/* What a program refuses, with the exact message; and that it then runs once it is put right. */
#include "core/weft_core.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_program.h"
#include "program_support.h"

static const char *const script = "index cells, nodes;\n"
                                  "connectivity dofs : cells -> nodes[3];\n"
                                  "input height : real over nodes;\n"
                                  "input alpha : real;\n"
                                  "h = alpha*height[dofs];\n"
                                  "sum[dofs] += h;\n"
                                  "return h, sum;\n";

#define assert_refused(call, wanted, words)                                                        \
    do {                                                                                           \
        weft_error refused = {0};                                                                  \
        const weft_status got = (call);                                                            \
        assert_string_equal(refused.message, words);                                               \
        assert_int_equal(got, wanted);                                                             \
        assert_int_equal(refused.status, wanted);                                                  \
    } while (0)

static void unknown_names(void **state) {
    (void)state;
    program_case c = case_open(NULL, "null", script, NULL);
    weft_error error = {0};
    weft_memory *memory = case_memory(&c, 800);
    assert_int_equal(weft_program_bind(c.program, "heigth", memory, &error), WEFT_ERROR_USAGE);
    assert_string_equal(error.message, "there is no input or result 'heigth' in this script");
    assert_string_equal(error.hint, "did you mean 'height'? it has: height, alpha, h, sum");
    assert_int_equal(weft_program_size(c.program, "cell", 3, &error), WEFT_ERROR_USAGE);
    assert_string_equal(error.message, "there is no index set 'cell' in this script");
    assert_string_equal(error.hint, "did you mean 'cells'? it has: cells, nodes");
    assert_int_equal(weft_program_bind_connectivity(c.program, "map", c.connectivities[0], &error),
                     WEFT_ERROR_USAGE);
    assert_string_equal(error.message, "there is no connectivity 'map' in this script");
    assert_string_equal(error.hint, "it has: dofs");
    assert_int_equal(weft_program_bind_matrix(c.program, "A", memory, memory, &error),
                     WEFT_ERROR_USAGE);
    assert_string_equal(error.message, "there is no input or result 'A' in this script");
    assert_null(weft_program_result(c.program, "nothing"));
    /* a NULL error is allowed everywhere */
    assert_int_equal(weft_program_bind(c.program, "heigth", memory, NULL), WEFT_ERROR_USAGE);
    case_close(&c);
}

static void wrong_sizes(void **state) {
    (void)state;
    program_case c = case_open(NULL, "null", script, NULL);
    static const int32_t indices[8] = {0, 1, 2, 3, 0, 1, 2, 3};
    weft_connectivity *narrow = NULL;
    weft_error error = {0};
    case_check(weft_connectivity_make(c.device, indices, 4, 2, 4, &narrow, &error), &error);
    assert_refused(weft_program_bind_connectivity(c.program, "dofs", narrow, &refused),
                   WEFT_ERROR_SHAPE,
                   "connectivity 'dofs' has 2 targets a member, the script says 3");
    assert_refused(weft_program_size(c.program, "cells", -1, &refused), WEFT_ERROR_SHAPE,
                   "index set 'cells' cannot have -1 members");
    weft_connectivity_free(&narrow);
    case_close(&c);
}

/* Everything that is missing is named, one after the other, until it runs. */
static void missing_bindings(void **state) {
    (void)state;
    program_case c = case_open(NULL, "host:1", script, NULL);
    static const int32_t indices[6] = {0, 1, 2, 1, 2, 3};
    const double height[4] = {1, 2, 3, 4}, alpha = 2;
    weft_error error = {0};
    assert_int_equal(weft_program_run(c.program, &error), WEFT_ERROR_USAGE);
    assert_string_equal(error.message, "the size of index set 'nodes' is not known (needed for "
                                       "'height')");
    case_size(&c, "nodes", 4);
    case_size(&c, "cells", 2);
    assert_refused(weft_program_run(c.program, &refused), WEFT_ERROR_USAGE,
                   "input 'height' is not bound");
    case_input(&c, "height", height);
    assert_refused(weft_program_run(c.program, &refused), WEFT_ERROR_USAGE,
                   "input 'alpha' is not bound");
    case_input(&c, "alpha", &alpha);
    assert_refused(weft_program_run(c.program, &refused), WEFT_ERROR_USAGE,
                   "connectivity 'dofs' is not bound");
    case_map(&c, "dofs", indices, 2, 3, 4);
    case_run(&c);
    double *sum = case_result(&c, "sum");
    const double wanted[4] = {2, 8, 12, 8};
    assert_same_bits(sum, wanted, 4);
    free(sum);
    case_close(&c);
}

static void memory_too_small(void **state) {
    (void)state;
    program_case c = case_open(NULL, "null", script, NULL);
    static const int32_t indices[6] = {0, 1, 2, 1, 2, 3};
    weft_error error = {0};
    case_map(&c, "dofs", indices, 2, 3, 4);
    weft_memory *small = case_memory(&c, 24), *alpha = case_memory(&c, 8);
    case_check(weft_program_bind(c.program, "height", small, &error), &error);
    case_check(weft_program_bind(c.program, "alpha", alpha, &error), &error);
    assert_refused(weft_program_run(c.program, &refused), WEFT_ERROR_SHAPE,
                   "'height' has 24 bytes bound, but needs 32");
    case_check(weft_program_bind(c.program, "height", case_memory(&c, 32), &error), &error);
    /* 2 cells fill one block of 8 lanes: 3 components * 8 lanes * 8 bytes */
    case_check(weft_program_bind(c.program, "h", case_memory(&c, 191), &error), &error);
    assert_refused(weft_program_run(c.program, &refused), WEFT_ERROR_SHAPE,
                   "'h' has 191 bytes bound, but needs 192");
    case_check(weft_program_bind(c.program, "h", case_memory(&c, 192), &error), &error);
    case_run(&c);
    assert_int_equal(weft_device_launches(c.device), 1);
    case_close(&c);
}

/* Connectivities and sizes that contradict each other, whatever their order. */
static void sizes_that_differ(void **state) {
    (void)state;
    program_case c = case_open(NULL, "null",
                               "index cells, nodes;\nconnectivity dofs : cells -> nodes[3];\n"
                               "connectivity sides : cells -> nodes[2];\n"
                               "input f : real over nodes;\n"
                               "b[dofs] += f[dofs];\nd[sides] += f[sides];\nreturn b, d;\n",
                               NULL);
    static const int32_t indices[12] = {0, 1, 2, 1, 2, 3, 0, 1, 2, 1, 2, 3};
    const double f[5] = {0}, right[4] = {0};
    case_map(&c, "dofs", indices, 4, 3, 4);
    case_map(&c, "sides", indices, 6, 2, 4);
    case_input(&c, "f", f);
    assert_refused(weft_program_run(c.program, &refused), WEFT_ERROR_SHAPE,
                   "connectivity 'dofs' leads from 4 cells, but there are 6");
    case_map(&c, "sides", indices, 4, 2, 5);
    case_input(&c, "f", f);
    assert_refused(weft_program_run(c.program, &refused), WEFT_ERROR_SHAPE,
                   "connectivity 'dofs' leads to 4 nodes, but there are 5");
    case_map(&c, "sides", indices, 4, 2, 4);
    assert_refused(weft_program_run(c.program, &refused), WEFT_ERROR_SHAPE,
                   "'f' has 40 bytes bound, but needs 32");
    weft_error error = {0};
    case_check(weft_program_bind_beginning(c.program, "f", case_memory(&c, 48), &error), &error);
    case_check(weft_program_run(c.program, &error), &error);
    case_input(&c, "f", right);
    case_run(&c);
    case_size(&c, "cells", 5);
    assert_refused(weft_program_run(c.program, &refused), WEFT_ERROR_SHAPE,
                   "connectivity 'dofs' leads from 4 cells, but there are 5");
    case_close(&c);
}

static void unbound_matrix(void **state) {
    (void)state;
    program_case c = case_open(NULL, "null",
                               "index cells, nodes;\nconnectivity dofs : cells -> nodes[3];\n"
                               "input k : real[3,3] over cells;\nA[dofs,dofs] += k;\nreturn A;\n",
                               NULL);
    static const int32_t indices[3] = {0, 1, 2};
    const double k[9] = {0};
    weft_error error = {0};
    case_map(&c, "dofs", indices, 1, 3, 3);
    case_input(&c, "k", k);
    assert_refused(weft_program_run(c.program, &refused), WEFT_ERROR_USAGE,
                   "matrix 'A' has no values and positions bound");
    /* values alone are not enough */
    case_check(weft_program_bind(c.program, "A", case_memory(&c, 72), &error), &error);
    assert_refused(weft_program_run(c.program, &refused), WEFT_ERROR_USAGE,
                   "matrix 'A' has no values and positions bound");
    /* one block of 8 cells, 9 positions of 4 bytes each */
    case_check(
        weft_program_bind_matrix(c.program, "A", case_memory(&c, 72), case_memory(&c, 284), &error),
        &error);
    assert_refused(weft_program_run(c.program, &refused), WEFT_ERROR_SHAPE,
                   "the positions of 'A' have 284 bytes, but need 288");
    case_close(&c);
}

/* Results that are bound are written there; what is not bound is the program's own, and grows. */
static void results_bound_or_not(void **state) {
    (void)state;
    program_case c = case_open(NULL, "host:1",
                               "index n plain;\ninput a : real over n;\n"
                               "b = 2*a;\nc = 3*a;\nreturn b, c;\n",
                               NULL);
    weft_error error = {0};
    double a[40];
    for (int i = 0; i < 40; ++i)
        a[i] = i;
    case_size(&c, "n", 3);
    case_input(&c, "a", a);
    weft_memory *mine = case_memory(&c, 3 * sizeof(double));
    double written[3];
    case_check(weft_program_bind(c.program, "b", mine, &error), &error);
    case_run(&c);
    assert_ptr_equal(weft_program_result(c.program, "b"), mine);
    case_check(weft_memory_read(mine, 0, written, sizeof written, &error), &error);
    assert_double_near(written[2], 4, 0, 0);
    double *own = case_result(&c, "c");
    assert_double_near(own[2], 6, 0, 0);
    free(own);
    /* larger: the bound one no longer fits, the own one grows */
    case_size(&c, "n", 40);
    case_input(&c, "a", a);
    assert_refused(weft_program_run(c.program, &refused), WEFT_ERROR_SHAPE,
                   "'b' has 24 bytes bound, but needs 320");
    case_check(weft_program_bind(c.program, "b", case_memory(&c, 320), &error), &error);
    case_run(&c);
    own = case_result(&c, "c");
    assert_double_near(own[39], 117, 0, 0);
    free(own);
    /* unbound again: the program makes its own */
    case_check(weft_program_bind(c.program, "b", NULL, &error), &error);
    case_run(&c);
    own = case_result(&c, "b");
    assert_double_near(own[39], 78, 0, 0);
    free(own);
    case_close(&c);
}

/* One value under two names is two lists, as with two formulas that happen to be equal. */
static void one_value_two_names(void **state) {
    (void)state;
    const weft_expression same[2] = {{"f", "1", "--source"}, {"g", "1", "--exact"}};
    const weft_compile_options options = {
        .size = sizeof options, .expressions = same, .n_expressions = 2};
    program_case c = case_open(NULL, "host:1",
                               "index n;\ninput x : real[2] over n;\n"
                               "expression f(x, y) = 0;\nexpression g(x, y) = 0;\n"
                               "a = f(x);\nb = g(x);\nagain = a;\n"
                               "return a, b, again;\n",
                               &options);
    const double x[6] = {0};
    static const char *const names[] = {"a", "b", "again"};
    case_size(&c, "n", 3);
    case_input(&c, "x", x);
    case_run(&c);
    for (int i = 0; i < 3; ++i) {
        double *list = case_result(&c, names[i]);
        for (int k = 0; k < 3; ++k)
            assert_double_near(list[k], 1, 0, 0);
        free(list);
        for (int k = 0; k < i; ++k)
            assert_ptr_not_equal(weft_program_result(c.program, names[i]),
                                 weft_program_result(c.program, names[k]));
    }
    case_close(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unknown_names),        cmocka_unit_test(wrong_sizes),
        cmocka_unit_test(missing_bindings),     cmocka_unit_test(memory_too_small),
        cmocka_unit_test(unbound_matrix),       cmocka_unit_test(sizes_that_differ),
        cmocka_unit_test(results_bound_or_not), cmocka_unit_test(one_value_two_names),

    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
