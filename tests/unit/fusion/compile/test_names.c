/* labels: quick */
/* What weft_compilation_name tells of a script, in the order that its header says. */
#include "core/weft_core.h"
#include "fem/weft_fem.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_library.h"
#include "test_support.h"

#include <string.h>

static const char text[] = "parameter d = 3, order = 2;\n"
                           "index cells, nodes;\n"
                           "connectivity dofs : cells -> nodes[d + 1];\n"
                           "input x : real[d] over nodes;\n"
                           "input D : real[d,2] over cells;\n"
                           "input t : real;\n"
                           "expression f(x, y, z) = 1;\n"
                           "J = jacobian(x[dofs]);\n"
                           "K = t*dshape_dot_dshape(tform_dshape(J), J);\n"
                           "A[dofs,dofs] += K;\n"
                           "b[dofs] += x[dofs];\n"
                           "b[dofs] += x[dofs];\n"
                           "return K, b, A;\n";

static void check(const weft_compilation *c, int i, weft_name_info expected) {
    weft_name_info found;
    weft_compilation_name(c, i, &found);
    assert_string_equal(found.name, expected.name);
    assert_int_equal(found.kind, expected.kind);
    assert_true((found.over == NULL) == (expected.over == NULL));
    if (expected.over)
        assert_string_equal(found.over, expected.over);
    if (expected.to)
        assert_string_equal(found.to, expected.to);
    assert_int_equal(found.width, expected.width);
    assert_int_equal(found.rank, expected.rank);
    assert_memory_equal(found.sizes, expected.sizes, sizeof found.sizes);
    assert_int_equal(found.returned, expected.returned);
    assert_int_equal(found.sparse, expected.sparse);
    assert_int_equal(found.value, expected.value);
}

static void every_kind(void **state) {
    (void)state;
    weft_library *library = NULL;
    weft_compilation *c = NULL;
    weft_error error = {0};
    const weft_limits limits = {.lanes_double = 8, .lanes_float = 16};
    const weft_fragment fragment = {"names", text};
    assert_int_equal(weft_fem_library_make(&library, &error), WEFT_OK);
    if (weft_compile(library, &limits, &fragment, 1, NULL, &c, &error) != WEFT_OK)
        fail_msg("%s", error.message);
    int i = 0;
    check(c, i++, (weft_name_info){.name = "cells", .kind = WEFT_NAME_INDEX});
    check(c, i++, (weft_name_info){.name = "nodes", .kind = WEFT_NAME_INDEX});
    check(c, i++,
          (weft_name_info){.name = "dofs",
                           .kind = WEFT_NAME_CONNECTIVITY,
                           .over = "cells",
                           .to = "nodes",
                           .width = 4});
    check(c, i++,
          (weft_name_info){
              .name = "x", .kind = WEFT_NAME_INPUT, .over = "nodes", .rank = 1, .sizes = {3}});
    check(c, i++,
          (weft_name_info){
              .name = "D", .kind = WEFT_NAME_INPUT, .over = "cells", .rank = 2, .sizes = {3, 2}});
    check(c, i++, (weft_name_info){.name = "t", .kind = WEFT_NAME_INPUT});
    check(c, i++, (weft_name_info){.name = "d", .kind = WEFT_NAME_PARAMETER, .value = 3});
    check(c, i++, (weft_name_info){.name = "order", .kind = WEFT_NAME_PARAMETER, .value = 2});
    check(c, i++, (weft_name_info){.name = "f", .kind = WEFT_NAME_EXPRESSION});
    check(c, i++,
          (weft_name_info){
              .name = "J", .kind = WEFT_NAME_VALUE, .over = "cells", .rank = 2, .sizes = {3, 3}});
    check(c, i++,
          (weft_name_info){.name = "K",
                           .kind = WEFT_NAME_VALUE,
                           .over = "cells",
                           .rank = 2,
                           .sizes = {4, 4},
                           .returned = true});
    check(c, i++,
          (weft_name_info){.name = "A",
                           .kind = WEFT_NAME_VALUE,
                           .over = "nodes",
                           .returned = true,
                           .sparse = true});
    check(c, i++,
          (weft_name_info){.name = "b",
                           .kind = WEFT_NAME_VALUE,
                           .over = "nodes",
                           .rank = 1,
                           .sizes = {3},
                           .returned = true});
    assert_int_equal(weft_compilation_names(c), i);
    weft_compilation_free(&c);
    weft_library_free(&library);
}

static const char loops[] = "index cells, nodes plain;\n"
                            "connectivity dofs : cells -> nodes[3];\n"
                            "input v : real[3] over cells;\n"
                            "input u : real over nodes;\n"
                            "input t, change : real;\n"
                            "w = 2*v;\n"
                            "K = outer(w, w);\n"
                            "z = 2*u;\n"
                            "s = 2*t;\n"
                            "A[dofs,dofs] += K;\n"
                            "g[dofs] += v;\n"
                            "repeat at most 9 while (t < 3) {\n"
                            "    d = z - u;\n"
                            "    update z = z + 0.5*d;\n"
                            "    update t = t + 1;\n"
                            "}\n"
                            "b[dofs] += w;\n"
                            "return w, z, s, A, b, g;\n";

/* Of a script with loops: what is returned, and what is not. */
static void of_loops(void **state) {
    (void)state;
    static const weft_name_info values[] = {
        {.name = "w", .over = "cells", .rank = 1, .sizes = {3}, .returned = true},
        {.name = "K", .over = "cells", .rank = 2, .sizes = {3, 3}},
        {.name = "z", .over = "nodes", .returned = true},
        {.name = "s", .returned = true},
        {.name = "A", .over = "nodes", .returned = true, .sparse = true},
        {.name = "g", .over = "nodes", .returned = true},
        {.name = "d", .over = "nodes"},
        {.name = "b", .over = "nodes", .returned = true}};
    enum { N = sizeof values / sizeof *values };
    weft_library *library = NULL;
    weft_compilation *c = NULL;
    weft_error error = {0};
    const weft_limits limits = {.lanes_double = 8, .lanes_float = 16};
    const weft_fragment fragment = {"loops", loops};
    assert_int_equal(weft_fem_library_make(&library, &error), WEFT_OK);
    if (weft_compile(library, &limits, &fragment, 1, NULL, &c, &error) != WEFT_OK)
        fail_msg("%s", error.message);
    const int first = weft_compilation_names(c) - N;
    for (int i = 0; i < N; ++i) {
        weft_name_info wanted = values[i];
        wanted.kind = WEFT_NAME_VALUE;
        check(c, first + i, wanted);
    }
    weft_compilation_free(&c);
    weft_library_free(&library);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_kind), cmocka_unit_test(of_loops)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
