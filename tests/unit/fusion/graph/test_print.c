/* labels: quick */
/* A graph printed as text is a script that makes the same graph. */
#include "core/weft_core.h"
#include "differential/random_script.h"
#include "fusion/graph/graph.h"
#include "fusion/library/library.h"
#include "fusion/script/script.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_library.h"
#include "library_state.h"
#include "script_support.h"

typedef struct graph_case {
    weft_arena *arena;
    weft_graph *graph;
} graph_case;

static graph_case graph_make(weft_library *library, const char *text,
                             const weft_compile_options *options) {
    graph_case made = {0};
    weft_script *script = NULL;
    weft_error error = {0};
    const weft_fragment fragment = {"graph.weft", text};
    assert_int_equal(weft_arena_make(&made.arena, NULL), WEFT_OK);
    weft_status status = weft_script_make(made.arena, &fragment, 1, options, &script, &error);
    if (status == WEFT_OK)
        status = weft_graph_make(made.arena, library, script, &made.graph, &error);
    if (status != WEFT_OK) {
        char message[4096];
        weft_error_text(&error, message, sizeof message);
        fail_msg("%s\nof\n%s", message, text);
    }
    return made;
}

static char *graph_text(const weft_graph *graph) {
    weft_text text = {0};
    weft_graph_print_text(graph, &text);
    assert_false(text.failed);
    return text.data;
}

static void assert_value_equal(const weft_value *x, const weft_value *y) {
    assert_int_equal(x->kind, y->kind);
    assert_true(weft_shape_equal(&x->shape, &y->shape));
    assert_int_equal(x->index_set, y->index_set);
    assert_int_equal(x->producer, y->producer);
    assert_int_equal(x->returned, y->returned);
    assert_int_equal(x->is_input, y->is_input);
    if (x->returned || x->is_input)
        assert_string_equal(x->name, y->name);
}

/* Data may be numbered otherwise: id in a -> id in b, by input, producer or accumulation. */
static void assert_data_equal(const weft_graph *a, const weft_graph *b, int *moved) {
    int other = 0;
    for (int i = 0; i < a->n_values; ++i)
        moved[i] = -1;
    for (int i = 0; i < a->n_values; ++i)
        if (a->values[i].is_input) {
            while (other < b->n_values && !b->values[other].is_input)
                ++other;
            assert_true(other < b->n_values);
            moved[i] = other++;
        }
    for (int i = 0; i < a->n_calls; ++i)
        moved[a->calls[i].result] = b->calls[i].result;
    for (int i = 0; i < a->n_accumulations; ++i)
        moved[a->accumulations[i].target] = b->accumulations[i].target;
    for (int i = 0; i < a->n_values; ++i)
        if (moved[i] >= 0)
            assert_value_equal(&a->values[i], &b->values[moved[i]]);
}

static void assert_calls_equal(const weft_call *x, const weft_call *y, const int *moved) {
    assert_string_equal(x->label, y->label);
    assert_int_equal(x->index_set, y->index_set);
    assert_int_equal(x->n_operands, y->n_operands);
    assert_int_equal(moved[x->result], y->result);
    assert_double_near(x->flops, y->flops, 0, 0);
    for (int k = 0; k < x->n_operands; ++k) {
        assert_int_equal(moved[x->operands[k].value], y->operands[k].value);
        assert_int_equal(x->operands[k].connectivity, y->operands[k].connectivity);
        assert_int_equal(x->operands[k].offset, y->operands[k].offset);
        assert_true(weft_shape_equal(&x->operands[k].shape, &y->operands[k].shape));
    }
    assert_int_equal(x->specialisation == NULL, y->specialisation == NULL);
    if (x->specialisation != NULL) {
        assert_ptr_equal(x->specialisation->function, y->specialisation->function);
        assert_int_equal(x->specialisation->n_names, y->specialisation->n_names);
        for (int k = 0; k < x->specialisation->n_names; ++k)
            assert_int_equal(x->specialisation->values[k], y->specialisation->values[k]);
        return;
    }
    assert_int_equal(x->n_arithmetic, y->n_arithmetic);
    for (int k = 0; k < x->n_arithmetic; ++k) {
        const weft_arithmetic *m = &x->arithmetic[k], *n = &y->arithmetic[k];
        assert_int_equal(m->op, n->op);
        assert_int_equal(m->a, n->a);
        assert_int_equal(m->b, n->b);
        assert_int_equal(m->operand, n->operand);
        assert_memory_equal(&m->number, &n->number, sizeof m->number);
        assert_int_equal(m->name == NULL, n->name == NULL);
        if (m->name != NULL)
            assert_string_equal(m->name, n->name);
    }
}

static void assert_graphs_equal(const weft_graph *a, const weft_graph *b) {
    int moved[4096];
    assert_true(a->n_values < 4096);
    assert_int_equal(a->n_index_sets, b->n_index_sets);
    for (int i = 0; i < a->n_index_sets; ++i) {
        assert_string_equal(a->index_sets[i].name, b->index_sets[i].name);
        assert_int_equal(a->index_sets[i].plain, b->index_sets[i].plain);
    }
    assert_int_equal(a->n_connectivities, b->n_connectivities);
    for (int i = 0; i < a->n_connectivities; ++i) {
        assert_string_equal(a->connectivities[i].name, b->connectivities[i].name);
        assert_int_equal(a->connectivities[i].from, b->connectivities[i].from);
        assert_int_equal(a->connectivities[i].to, b->connectivities[i].to);
        assert_int_equal(a->connectivities[i].width, b->connectivities[i].width);
    }
    assert_int_equal(a->n_calls, b->n_calls);
    assert_int_equal(a->n_accumulations, b->n_accumulations);
    assert_data_equal(a, b, moved);
    for (int i = 0; i < a->n_calls; ++i)
        assert_calls_equal(&a->calls[i], &b->calls[i], moved);
    for (int i = 0; i < a->n_accumulations; ++i) {
        const weft_accumulation *x = &a->accumulations[i], *y = &b->accumulations[i];
        assert_int_equal(moved[x->source], y->source);
        assert_int_equal(moved[x->target], y->target);
        assert_int_equal(x->connectivity, y->connectivity);
        assert_int_equal(x->matrix, y->matrix);
        assert_int_equal(x->call, y->call);
    }
}

/* text -> graph -> text -> the same graph -> the same text */
static void assert_reads_back(weft_library *library, const char *text,
                              const weft_compile_options *options, const char *expected) {
    graph_case first = graph_make(library, text, options);
    char *once = graph_text(first.graph);
    if (expected != NULL)
        assert_string_equal(once, expected);
    graph_case second = graph_make(library, once, NULL);
    assert_graphs_equal(first.graph, second.graph);
    char *twice = graph_text(second.graph);
    assert_string_equal(once, twice);
    free(once);
    free(twice);
    weft_arena_free(&first.arena);
    weft_arena_free(&second.arena);
}

#define HEAD                                                                                       \
    "index cells, nodes plain;\n"                                                                  \
    "connectivity dofs : cells -> nodes[3];\n"                                                     \
    "input x : real[2] over nodes;\n"                                                              \
    "input f : real over nodes;\n"                                                                 \
    "input k : real over cells;\n"                                                                 \
    "input M : real[3,3] over cells;\n"                                                            \
    "input alpha : real;\n"

static void papers(void **state) {
    assert_reads_back(*state, LISTING_1, NULL, NULL);
    assert_reads_back(*state, POISSON, NULL, NULL);
}

/* Minimal parentheses, subscripts, indirect loads, parameters by key, numbers, pi. */
static void statements(void **state) {
    assert_reads_back(
        *state,
        HEAD "parameter p = -3, q = 2;\n"
             "a = (k - (alpha - 2))*k/(k*k) + -k^2 - (-k)^2;\n"
             "unused = 3*k;\n"
             "c = 2^k^p + (2^k)^p + min(k, -(k + 1))/1.5e300;\n"
             "y = pi*x[dofs][q][1]*M[0,2] + k;\n"
             "b[dofs] += shape_load(M[q], jacobian(x[dofs]), degree = q);\n"
             "return a, y, b, c;\n",
        NULL,
        HEAD
        "a = (k - (alpha - 2))*k/(k*k) + -k^2 - (-k)^2;            # real over cells, 11 flop\n"
        "c = 2^k^-3 + (2^k)^-3 + min(k, -(k + 1))/1.5e+300;        # real over cells, 390 flop\n"
        "y = pi*x[dofs][2,1]*M[0,2] + k;                           # real over cells, 3 flop\n"
        "jacobian_4 = jacobian(x[dofs]);                           # real[2,2] over cells, 4 flop\n"
        "shape_load_5 = shape_load(M[2], jacobian_4, degree = 2);  # real[3] over cells, 12 flop\n"
        "b[dofs] += shape_load_5;                                  # into real over nodes\n"
        "return a, c, y, b;\n");
}

/* What has no text of its own kind: copies, constants, scalars widened by a formula's arguments,
 * uniform arithmetic made a list. */
static void values_like_others(void **state) {
    assert_reads_back(*state,
                      HEAD "expression one(a, b) = 1;\nexpression first(a, b) = a;\n"
                           "c1 = one(x[dofs][1]);\n"
                           "c2 = one(k, 2*k);\n"
                           "c3 = one(x);\n"
                           "w = first(k, M);\n"
                           "s = first(k, k);\n"
                           "N = smmul(M, 2*alpha);\n"
                           "n = norm2(x[dofs][0]);\n"
                           "y = x[dofs][2];\n"
                           "t = w*s;\n"
                           "b[dofs] += f[dofs];\n"
                           "d[dofs] += f[dofs];\n"
                           "e[dofs] += x[dofs];\n"
                           "again = t;\nmore = t;\n"
                           "return again, more, c1, c2, c3, t, N, n, b, y, d, e;\n",
                      NULL, NULL);
}

/* Names that the script uses for what we would call ours. */
static void names_that_clash(void **state) {
    assert_reads_back(*state,
                      HEAD "input arithmetic_1, like, mmul_0 : real over cells;\n"
                           "expression copy(a) = a;\n"
                           "B = smmul(mmul(mmul(M, M), M), k + arithmetic_1);\n"
                           "c = copy(like)*mmul_0;\n"
                           "arithmetic_4 = 3*k;\n"
                           "return B, c;\n",
                      NULL, NULL);
}

static void accumulations(void **state) {
    assert_reads_back(*state,
                      HEAD "input A : real;\n"
                           "input y : real over nodes;\n"
                           "u = M[0]*k;\n"
                           "v = M[1]*k;\n"
                           "b[dofs] += v;\n"
                           "b[dofs] += u;\n"
                           "y[dofs] += u;\n"
                           "A[dofs,dofs] += M;\n"
                           "C[dofs,dofs] += 2*M;\n"
                           "z = y + b;\n"
                           "g[dofs] += z[dofs]*k;\n"
                           "alias = g;\n"
                           "return A, z, y, g, C, alias;\n",
                      NULL, NULL);
}

/* Equal calls are one; what nothing returned needs is gone. */
static void merged_and_dropped(void **state) {
    assert_reads_back(*state,
                      HEAD "a = mmul(M, M);\n"
                           "b = mmul(M, M);\n"
                           "dead = mmul(b, M);\n"
                           "s = 2*k + 1;\n"
                           "t = 2*k + 1;\n"
                           "c = smmul(a, s);\n"
                           "d = smmul(b, t);\n"
                           "gone[dofs] += M;\n"
                           "e = madd(c, d);\n"
                           "return e;\n",
                      NULL,
                      HEAD "a = mmul(M, M);   # real[3,3] over cells, 45 flop\n"
                           "s = 2*k + 1;      # real over cells, 2 flop\n"
                           "c = smmul(a, s);  # real[3,3] over cells, 9 flop\n"
                           "e = madd(c, c);   # real[3,3] over cells, 9 flop\n"
                           "return e;\n");
    /* other parameters, other calls */
    graph_case made = graph_make(*state,
                                 HEAD "J = jacobian(x[dofs]);\n"
                                      "a = shape_load(f[dofs], J, degree = 1);\n"
                                      "b = shape_load(f[dofs], J, degree = 2);\n"
                                      "c = a + b;\nd = b + a;\nreturn c, d;\n",
                                 NULL);
    assert_int_equal(made.graph->n_calls, 5);
    weft_arena_free(&made.arena);
}

/* A uniform value with several names, scalars and tensors, between copies of lists. */
static void uniform_values_twice(void **state) {
    assert_reads_back(*state,
                      HEAD "r = argmax(f);\ns = argmax(f);\nt = r;\nu = sum(f);\nv = sum(f);\n"
                           "w = f[dofs];\nz = r[1];\ny = f[dofs];\n"
                           "return w, r, s, u, t, v, z, y;\n",
                      NULL,
                      HEAD "expression like(value, list) = value;\n"
                           "r = argmax(f);               # real[2], 10 flop\n"
                           "u = sum(f);                  # real, 1 flop\n"
                           "w = like(f[dofs], f[dofs]);  # real[3] over cells, 0 flop\n"
                           "y = like(w, w);              # real[3] over cells, 0 flop\n"
                           "s = r;                       # real[2], 0 flop\n"
                           "t = s;                       # real[2], 0 flop\n"
                           "v = u;                       # real, 0 flop\n"
                           "z = r[1];                    # real, 0 flop\n"
                           "return r, u, w, y, s, t, v, z;\n");
}

static void random_scripts(void **state) {
    uint64_t seed = 1;
    for (int i = 0; i < 500; ++i) {
        char *text = random_straight_text(&seed);
        assert_reads_back(*state, text, NULL, NULL);
        free(text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(papers),
        cmocka_unit_test(statements),
        cmocka_unit_test(values_like_others),
        cmocka_unit_test(names_that_clash),
        cmocka_unit_test(accumulations),
        cmocka_unit_test(merged_and_dropped),
        cmocka_unit_test(uniform_values_twice),
        cmocka_unit_test(random_scripts),
    };
    return cmocka_run_group_tests(tests, library_open, library_close);
}
