/* labels: quick */
/* Canonical text: it reads back to the same script, and is then printed the same. */
#include "core/weft_core.h"
#include "fusion/script/script.h"
#include "fusion/weft_compile.h"
#include "script_support.h"

#include <stdio.h>

/* print(parse(text)), checked to be a fixed point of print(parse(.)); malloc'd */
static char *canonical(const char *text) {
    script_case read = script_read_good(text);
    char *first = script_printed(read.script);
    script_case again = script_read_good(first);
    char *second = script_printed(again.script);
    assert_string_equal(first, second);
    free(second);
    script_case_free(&again);
    script_case_free(&read);
    return first;
}

static void assert_canonical(const char *text, const char *expected) {
    char *printed = canonical(text);
    assert_string_equal(printed, expected);
    free(printed);
}

static void examples(void **state) {
    (void)state;
    assert_canonical(LISTING_1, "index N;\n"
                                "input A, B : real[3, 3] over N;\n"
                                "input c : real[3] over N;\n"
                                "input D, E : real[5, 5] over N;\n"
                                "M1 = mmul(A, B);\n"
                                "v1 = mvmul(M1, c);\n"
                                "s1 = norm2(v1);\n"
                                "M2 = mmul(D, E);\n"
                                "M3 = madd(M2, D);\n"
                                "F = smmul(M3, s1);\n"
                                "return F;\n");
    assert_canonical(POISSON, "index cells, nodes plain;\n"
                              "connectivity dofs : cells -> nodes[3];\n"
                              "input x : real[2] over nodes;\n"
                              "input f : real over nodes;\n"
                              "J = jacobian(x[dofs]);\n"
                              "G = tform_dshape(J);\n"
                              "K = dshape_dot_dshape(G, J);\n"
                              "b[dofs] += shape_load(f[dofs], J);\n"
                              "return K, b;\n");
    assert_canonical("index cells, nodes; connectivity dofs : cells -> nodes[3]  ordered ;\n"
                     "connectivity ordered : cells -> nodes[2];",
                     "index cells, nodes plain;\n"
                     "connectivity dofs : cells -> nodes[3] ordered;\n"
                     "connectivity ordered : cells -> nodes[2];\n");
    assert_canonical(
        "index basis up to j, nodes plain;input j:real; input up, to: real over basis;",
        "index basis up to j, nodes plain;\n"
        "input j : real;\n"
        "input up, to : real over basis;\n");
    assert_canonical("", "");
}

/* Declarations are gathered, whatever their order was; statements keep theirs. */
static void order(void **state) {
    (void)state;
    assert_canonical("return b; index i, j; a = u; input u : real; parameter q = -1, d = 2;\n"
                     "connectivity m : i -> j[d]; input v : real; input w : real over i;\n"
                     "expression e(x) over i = x; b[m, m] += a; return a;\n"
                     "input s, t : real[d] over i; input r : real[d] over i;",
                     "index i, j plain;\n"
                     "parameter q = -1;\n"
                     "parameter d = 2;\n"
                     "connectivity m : i -> j[d];\n"
                     "input u, v : real;\n"
                     "input w : real over i;\n"
                     "input s, t : real[d] over i;\n"
                     "input r : real[d] over i;\n"
                     "expression e(x) over i = x;\n"
                     "a = u;\n"
                     "b[m,m] += a;\n"
                     "return b, a;\n");
}

/* Parentheses where the tree needs them, and nowhere else; numbers as short as they can be. */
static void expressions(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"a+b*c", "a + b*c"},
        {"(a+b)*c", "(a + b)*c"},
        {"((a*b))+c", "a*b + c"},
        {"a-(b-c)", "a - (b - c)"},
        {"(a-b)-c", "a - b - c"},
        {"a/(b/c)", "a/(b/c)"},
        {"a*(b/c)", "a*(b/c)"},
        {"(a*b)/c", "a*b/c"},
        {"-(a+b)", "-(a + b)"},
        {"-(a*b)", "-(a*b)"},
        {"(-a)*b", "-a*b"},
        {"a*(-b)", "a*-b"},
        {"a-(-b)", "a - -b"},
        {"-(-a)", "--a"},
        {"-(a^2)", "-a^2"},
        {"(-a)^2", "(-a)^2"},
        {"(a^b)^c", "(a^b)^c"},
        {"a^(b^c)", "a^b^c"},
        {"a^(-b)", "a^-b"},
        {"a^(b*c)", "a^(b*c)"},
        {"(a)[0]", "a[0]"},
        {"(a+b)[i,j]", "(a + b)[i, j]"},
        {"(-a)[0]", "(-a)[0]"},
        {"-a[0]", "-a[0]"},
        {"f(x)[0]^2", "f(x)[0]^2"},
        {"f()", "f()"},
        {"f(k=1)", "f(k = 1)"},
        {"f((x),-y,k=(1+2)*3)", "f(x, -y, k = (1 + 2)*3)"},
        {"0010", "10"},
        {"1.50", "1.5"},
        {"2.", "2.0"},
        {"1e2", "1e+02"},
        {".1", "0.1"},
        {"0.30000000000000004", "0.30000000000000004"},
        {"12345678901234567890", "12345678901234567168"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        char text[128], expected[128];
        snprintf(text, sizeof text, "r = %s;", cases[i][0]);
        /* no parameter is needed for keys that are numbers */
        snprintf(expected, sizeof expected, "r = %s;\n", cases[i][1]);
        assert_canonical(text, expected);
    }
}

/* What is bound is what is printed, so that the text alone says what is computed. */
static void bound_values(void **state) {
    (void)state;
    const weft_fragment fragment = {"test", "parameter d = 2; expression s(x, y) = 1;"};
    const weft_expression expression = {"s", "x*(y)", NULL};
    const weft_parameter parameter = {"d", 3};
    const weft_compile_options options = {.size = sizeof options,
                                          .expressions = &expression,
                                          .n_expressions = 1,
                                          .parameters = &parameter,
                                          .n_parameters = 1};
    script_case read = script_read_fragments(&fragment, 1, &options);
    assert_int_equal(read.status, WEFT_OK);
    char *printed = script_printed(read.script);
    assert_string_equal(printed, "parameter d = 3;\nexpression s(x, y) = x*y;\n");
    free(printed);
    script_case_free(&read);
}

/* ---- random scripts ---- */

typedef struct generator {
    uint64_t state;
    weft_arena *arena;
    int n_values; /* v0, v1, ... that exist */
} generator;

static unsigned pick(generator *g, unsigned n) {
    g->state ^= g->state << 13;
    g->state ^= g->state >> 7;
    g->state ^= g->state << 17;
    return (unsigned)(g->state % n);
}

static weft_node *node_new(generator *g, weft_node_kind kind, int n_children) {
    weft_node *node = weft_arena_alloc(g->arena, 1, sizeof *node);
    assert_non_null(node);
    node->kind = kind;
    node->n_children = n_children;
    node->children = weft_arena_alloc(g->arena, (size_t)n_children, sizeof *node->children);
    return node;
}

static weft_node *random_leaf(generator *g) {
    weft_node *node;
    if (pick(g, 2) == 0) {
        node = node_new(g, NODE_NAME, 0);
        node->name = pick(g, 6) == 0
                         ? "pi"
                         : weft_arena_print(g->arena, "v%u", pick(g, (unsigned)g->n_values));
        return node;
    }
    node = node_new(g, NODE_NUMBER, 0);
    node->integer = pick(g, 2) == 0;
    node->number =
        node->integer ? pick(g, 1000) : pick(g, 1000000) / 7.0 * (pick(g, 9) ? 1 : 1e-20);
    return node;
}

static weft_node *random_tree(generator *g, int depth) {
    if (depth == 0)
        return random_leaf(g);
    weft_node *node;
    switch (pick(g, 8)) {
    case 0:
        return random_leaf(g);
    case 1:
        node = node_new(g, NODE_NEGATE, 1);
        break;
    case 2:
        node = node_new(g, NODE_CALL, (int)pick(g, 4));
        node->name = pick(g, 2) ? "mmul" : "sqrt";
        node->n_keys = (int)pick(g, 2);
        if (node->n_keys > 0) {
            node->keys = weft_arena_alloc(g->arena, 1, sizeof *node->keys);
            node->key_values = weft_arena_alloc(g->arena, 1, sizeof *node->key_values);
            node->keys[0] = "degree";
            node->key_values[0] = node_new(g, NODE_NUMBER, 0);
            node->key_values[0]->integer = true;
            node->key_values[0]->number = pick(g, 9);
        }
        break;
    case 3:
        node = node_new(g, NODE_SUBSCRIPT, 2 + (int)pick(g, 2));
        break;
    default:
        node = node_new(g, NODE_BINARY, 2);
        node->op = "+-*/^"[pick(g, 5)];
        break;
    }
    for (int i = 0; i < node->n_children; ++i)
        node->children[i] = random_tree(g, depth - 1);
    return node;
}

static void blank(generator *g, weft_text *out) {
    static const char *const blanks[] = {"", " ", "\n", "\t", "# +;(\xC3\xA9\n", "  "};
    weft_text_add(out, "%s", blanks[pick(g, 6)]);
}

/* Every operand in parentheses of its own, blanks anywhere: precedence plays no part. */
static void write_tree(generator *g, const weft_node *node, weft_text *out) {
    blank(g, out);
    switch (node->kind) {
    case NODE_NUMBER:
        weft_text_add(out, node->integer ? "%.0f" : "%.17e", node->number);
        break;
    case NODE_NAME:
        weft_text_add(out, "%s", node->name);
        break;
    case NODE_NEGATE:
        weft_text_add(out, "(-(");
        write_tree(g, node->children[0], out);
        weft_text_add(out, "))");
        break;
    case NODE_BINARY:
        weft_text_add(out, "((");
        write_tree(g, node->children[0], out);
        weft_text_add(out, ")%c(", node->op);
        write_tree(g, node->children[1], out);
        weft_text_add(out, "))");
        break;
    case NODE_CALL:
    case NODE_SUBSCRIPT: {
        int first = node->kind == NODE_SUBSCRIPT;
        if (first) {
            weft_text_add(out, "(");
            write_tree(g, node->children[0], out);
            weft_text_add(out, ")[");
        } else {
            weft_text_add(out, "%s(", node->name);
        }
        for (int i = first; i < node->n_children; ++i) {
            weft_text_add(out, i > first ? "," : "");
            write_tree(g, node->children[i], out);
        }
        for (int i = 0; i < node->n_keys; ++i)
            weft_text_add(out, "%s degree=%.0f", i > 0 || node->n_children > 0 ? "," : "",
                          node->key_values[i]->number);
        weft_text_add(out, first ? "]" : ")");
        break;
    }
    }
    blank(g, out);
}

enum { VALUES = 6 };

/* A tree written with every parenthesis, read, printed, read again: three times the same tree. */
static void check_random_script(uint64_t seed) {
    generator g = {.state = seed * 0x9E3779B97F4A7C15u + 1, .n_values = 1};
    assert_int_equal(weft_arena_make(&g.arena, NULL), WEFT_OK);
    weft_text text = {0};
    weft_node *trees[VALUES];
    weft_text_add(&text, "index i,j;connectivity m:i->j[%u];input v0:real[2] over i;",
                  1 + pick(&g, 9));
    for (int k = 0; k < VALUES; ++k, ++g.n_values) {
        trees[k] = random_tree(&g, (int)pick(&g, 6));
        weft_text_add(&text, k % 3 == 2 ? "w%d[m] +=" : "v%d =", g.n_values);
        if (k % 3 == 2)
            --g.n_values;
        write_tree(&g, trees[k], &text);
        weft_text_add(&text, ";");
    }
    assert_false(text.failed);
    script_case read = script_read_good(text.data);
    char *printed = canonical(text.data);
    script_case again = script_read_good(printed);
    assert_int_equal(read.script->n_statements, VALUES);
    assert_int_equal(again.script->n_statements, VALUES);
    for (int k = 0; k < VALUES; ++k) {
        assert_true(trees_equal(trees[k], read.script->statements[k].value));
        assert_true(trees_equal(trees[k], again.script->statements[k].value));
        assert_int_equal(again.script->statements[k].accumulate, k % 3 == 2);
    }
    assert_int_equal(again.script->n_inputs, 1);
    assert_true(again.script->indices[1].plain);
    script_case_free(&again);
    script_case_free(&read);
    free(printed);
    weft_text_free(&text);
    weft_arena_free(&g.arena);
}

static void random_scripts(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 2000; ++seed)
        check_random_script(seed);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(examples),       cmocka_unit_test(order),
        cmocka_unit_test(expressions),    cmocka_unit_test(bound_values),
        cmocka_unit_test(random_scripts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
