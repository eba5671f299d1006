/* labels: quick */
/* Every statement: what it becomes. */
#include "core/weft_core.h"
#include "fusion/script/script.h"
#include "script_support.h"

static void poisson(void **state) {
    (void)state;
    script_case read = script_read_good(POISSON);
    const weft_script *s = read.script;
    assert_int_equal(s->n_indices, 2);
    assert_string_equal(s->indices[0].name, "cells");
    assert_false(s->indices[0].plain);
    assert_string_equal(s->indices[1].name, "nodes");
    assert_true(s->indices[1].plain); /* the target of a connectivity */
    assert_int_equal(s->n_connectivities, 1);
    assert_string_equal(s->connectivities[0].name, "dofs");
    assert_string_equal(s->connectivities[0].from, "cells");
    assert_string_equal(s->connectivities[0].to, "nodes");
    assert_double_near(s->connectivities[0].width->number, 3.0, 0.0, 0.0);
    assert_int_equal(s->connectivities[0].place.line, 2);
    assert_int_equal(s->connectivities[0].from_place.column, 21);
    assert_int_equal(s->connectivities[0].to_place.column, 30);
    assert_int_equal(s->n_inputs, 2);
    assert_int_equal(s->inputs[0].rank, 1);
    assert_string_equal(s->inputs[0].over, "nodes");
    assert_int_equal(s->inputs[1].rank, 0);
    assert_int_equal(s->n_statements, 4);
    const weft_script_statement *store = &s->statements[3];
    assert_true(store->accumulate);
    assert_string_equal(store->name, "b");
    assert_int_equal(store->n_connectivities, 1);
    assert_string_equal(store->connectivities[0], "dofs");
    assert_int_equal(store->map_places[0].column, 3);
    assert_int_equal(store->value->kind, NODE_CALL);
    assert_false(s->statements[0].accumulate);
    assert_int_equal(s->n_returns, 2);
    assert_string_equal(s->returns[0].name, "K");
    assert_string_equal(s->returns[1].name, "b");
    assert_int_equal(s->returns[1].place.line, 9);
    assert_int_equal(s->returns[1].place.column, 11);
    assert_int_equal(s->n_sources, 1);
    assert_string_equal(s->sources[0].text, POISSON);
    script_case_free(&read);
}

static void listing_1(void **state) {
    (void)state;
    script_case read = script_read_good(LISTING_1);
    const weft_script *s = read.script;
    assert_int_equal(s->n_inputs, 5);
    static const char *const names[] = {"A", "B", "c", "D", "E"};
    static const int ranks[] = {2, 2, 1, 2, 2};
    for (int i = 0; i < 5; ++i) {
        assert_string_equal(s->inputs[i].name, names[i]);
        assert_int_equal(s->inputs[i].rank, ranks[i]);
    }
    assert_int_equal(s->inputs[1].place.line, 2);
    assert_int_equal(s->inputs[1].place.column, 11);
    assert_double_near(s->inputs[4].sizes[1]->number, 5.0, 0.0, 0.0);
    assert_int_equal(s->n_statements, 6);
    assert_string_equal(s->statements[5].name, "F");
    assert_string_equal(s->statements[5].value->children[1]->name, "s1");
    assert_false(s->indices[0].plain);
    script_case_free(&read);
}

static void declarations(void **state) {
    (void)state;
    script_case read = script_read_good("index nodes plain, cells;"
                                        "parameter d = 2, shift = -7;"
                                        "input t : real;"
                                        "input w : real[d, d + 1, 2*d, d/2] over nodes;"
                                        "expression source(x, y, z) = sin(pi*x)*max(y, z);");
    const weft_script *s = read.script;
    assert_true(s->indices[0].plain);
    assert_false(s->indices[1].plain);
    assert_int_equal(s->n_parameters, 2);
    assert_int_equal(s->parameters[0].value, 2);
    assert_int_equal(s->parameters[1].value, -7);
    assert_null(s->inputs[0].over);
    assert_int_equal(s->inputs[0].rank, 0);
    assert_int_equal(s->inputs[1].rank, 4);
    static const int sizes[] = {2, 3, 4, 1};
    for (int i = 0; i < 4; ++i) {
        int size = 0;
        assert_int_equal(weft_script_integer(s, s->inputs[1].sizes[i], &size, NULL), WEFT_OK);
        assert_int_equal(size, sizes[i]);
    }
    assert_int_equal(s->n_expressions, 1);
    assert_int_equal(s->expressions[0].n_arguments, 3);
    assert_string_equal(s->expressions[0].arguments[2], "z");
    assert_int_equal(s->expressions[0].body->op, '*');
    script_case_free(&read);
}

/* Several stores add to one target, which may be an input; A[dofs,dofs] is a matrix. */
static void accumulations(void **state) {
    (void)state;
    script_case read = script_read_good("index cells, nodes;"
                                        "connectivity dofs : cells -> nodes[3];"
                                        "input y : real over nodes;"
                                        "y[dofs] += 1; y[dofs] += 2; b[dofs] += 3; b[dofs] += 4;"
                                        "A[dofs, dofs] += 5;"
                                        "return y, A; return b;");
    const weft_script *s = read.script;
    assert_int_equal(s->n_statements, 5);
    for (int i = 0; i < 5; ++i) {
        assert_true(s->statements[i].accumulate);
        assert_double_near(s->statements[i].value->number, i + 1.0, 0.0, 0.0);
    }
    assert_int_equal(s->statements[4].n_connectivities, 2);
    assert_string_equal(s->statements[4].connectivities[1], "dofs");
    assert_int_equal(s->n_returns, 3); /* several add up */
    assert_string_equal(s->returns[2].name, "b");
    script_case_free(&read);
}

static void nothing(void **state) {
    (void)state;
    script_case read = script_read_good("# nothing yet\n");
    assert_int_equal(read.script->n_statements, 0);
    assert_int_equal(read.script->n_sources, 1);
    script_case_free(&read);
}

/* What no statement uses as a keyword is a name: types of C, intrinsics, words of other statements.
 */
static void ordinary_names(void **state) {
    (void)state;
    script_case read = script_read_good("index i; input int, sin, _x9 : real over i;"
                                        "at = int + sin; most = at*_x9; min = max(at, most);"
                                        "return min;");
    assert_int_equal(read.script->n_statements, 3);
    script_case_free(&read);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(poisson),      cmocka_unit_test(listing_1),
        cmocka_unit_test(declarations), cmocka_unit_test(accumulations),
        cmocka_unit_test(nothing),      cmocka_unit_test(ordinary_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
