/* labels: quick */
/* Graph and plan as JSON and for Graphviz are what they claim; every stage prints, twice the same.
 */
#include "core/weft_core.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_library.h"
#include "library_state.h"
#include "script_support.h"

#include <jansson.h>

#define HEAD                                                                                       \
    "index cells, nodes plain;\n"                                                                  \
    "connectivity dofs : cells -> nodes[3];\n"                                                     \
    "input x : real[2] over nodes;\n"                                                              \
    "input f : real over nodes;\n"                                                                 \
    "input k : real over cells;\n"                                                                 \
    "input M : real[3,3] over cells;\n"                                                            \
    "input alpha : real;\n"

static json_t *json_of(const weft_compilation *compilation, const char *stage) {
    weft_text text = {0};
    json_error_t error;
    assert_int_equal(weft_compilation_print(compilation, stage, "json", &text, NULL), WEFT_OK);
    json_t *json = json_loads(text.data, JSON_REJECT_DUPLICATES, &error);
    if (json == NULL)
        fail_msg("%s:%d:%d: %s", stage, error.line, error.column, error.text);
    weft_text_free(&text);
    return json;
}

static weft_compilation *compile(weft_library *library, const char *text,
                                 const weft_compile_options *options) {
    const weft_limits limits = {.lanes_double = 8, .lanes_float = 16, .bandwidth = 1e9};
    const weft_fragment fragment = {"a \"quoted\\name\".weft", text};
    weft_compilation *compilation = NULL;
    weft_error error = {0};
    if (weft_compile(library, &limits, &fragment, 1, options, &compilation, &error) != WEFT_OK)
        fail_msg("%s", error.message);
    return compilation;
}

static const char *string_at(const json_t *json, const char *list, size_t i, const char *key) {
    const char *value =
        json_string_value(json_object_get(json_array_get(json_object_get(json, list), i), key));
    return value != NULL ? value : "";
}

/* The planner's candidates: each call alone and together, whose numbers lead from the cover to the
 * implementations, and from these to the fusions. */
static void json_of_the_search(void **state) {
    weft_compilation *compilation = compile(*state, POISSON, NULL);
    json_t *fusions = json_of(compilation, "fusions"), *cover = json_of(compilation, "cover");
    json_t *made = json_of(compilation, "implementations"), *one = NULL;
    size_t i = 0, n_calls = 0;
    assert_string_equal(json_string_value(json_object_get(fusions, "format")), "weft-fusions-1");
    assert_string_equal(json_string_value(json_object_get(made, "format")),
                        "weft-implementations-1");
    assert_string_equal(json_string_value(json_object_get(cover, "format")), "weft-cover-1");
    const json_t *sets = json_object_get(fusions, "fusions");
    const json_t *list = json_object_get(made, "implementations");
    assert_true(json_array_size(sets) >= 4 && json_array_size(list) >= json_array_size(sets));
    double sum = 0;
    json_array_foreach(json_object_get(cover, "implementations"), i, one) {
        const size_t number = (size_t)json_integer_value(json_object_get(one, "fusion"));
        const json_t *calls = json_object_get(json_array_get(sets, number), "calls");
        assert_int_equal(json_array_size(calls), json_array_size(json_object_get(one, "calls")));
        n_calls += json_array_size(calls);
        sum += json_real_value(json_object_get(one, "cost"));
        assert_true(json_is_null(json_object_get(one, "pruned")));
        assert_int_equal(json_integer_value(json_object_get(one, "shared_components")), 0);
        const json_t *value = json_array_get(json_object_get(one, "on_chip"), 0);
        assert_string_equal(json_string_value(json_object_get(value, "place")), "registers");
    }
    assert_int_equal(n_calls, 4);
    assert_double_near(sum, json_real_value(json_object_get(cover, "seconds")), 1e-12, 0);
    json_decref(fusions);
    json_decref(made);
    json_decref(cover);
    weft_compilation_free(&compilation);
}

static void json(void **state) {
    for (int mode = 0; mode < 4; ++mode) {
        const weft_compile_options options = {.size = sizeof options,
                                              .plan = (weft_plan_kind)(mode % 2),
                                              .scatter = (weft_scatter)(mode / 2)};
        weft_compilation *compilation = compile(*state, POISSON, &options);
        json_t *graph = json_of(compilation, "graph"), *plan = json_of(compilation, "plan");
        assert_string_equal(json_string_value(json_object_get(graph, "format")), "weft-graph-1");
        assert_int_equal(json_array_size(json_object_get(graph, "index_sets")), 2);
        assert_int_equal(json_array_size(json_object_get(graph, "data")), 7);
        assert_int_equal(json_array_size(json_object_get(graph, "calls")), 4);
        assert_int_equal(json_array_size(json_object_get(graph, "accumulations")), 1);
        assert_string_equal(string_at(graph, "calls", 0, "function"), "jacobian");
        assert_string_equal(string_at(graph, "calls", 0, "file"), "a \"quoted\\name\".weft");
        assert_string_equal(string_at(graph, "calls", 2, "result"), "K");
        assert_string_equal(string_at(graph, "connectivities", 0, "to"), "nodes");
        assert_string_equal(string_at(graph, "accumulations", 0, "target"), "b");
        assert_string_equal(json_string_value(json_object_get(plan, "format")), "weft-plan-1");
        assert_int_equal(json_integer_value(json_object_get(plan, "lanes")), 8);
        assert_int_equal(json_array_size(json_object_get(plan, "kernels")),
                         weft_compilation_kernels(compilation));
        for (int i = 0; i < weft_compilation_kernels(compilation); ++i) {
            weft_kernel_info info;
            weft_compilation_kernel(compilation, i, &info);
            const json_t *kernel = json_array_get(json_object_get(plan, "kernels"), (size_t)i);
            assert_string_equal(json_string_value(json_object_get(kernel, "name")), info.name);
            assert_double_near(json_number_value(json_object_get(kernel, "bytes_loaded")),
                               info.bytes_loaded, 0, 0);
            assert_int_equal(json_array_size(json_object_get(kernel, "calls")), info.n_calls);
        }
        json_decref(graph);
        json_decref(plan);
        weft_compilation_free(&compilation);
    }
}

static void dot(void **state) {
    static const char *const stages[] = {"graph", "plan"};
    for (int mode = 0; mode < 8; ++mode) {
        const weft_compile_options options = {.size = sizeof options,
                                              .plan = (weft_plan_kind)(mode % 2),
                                              .scatter = (weft_scatter)(mode / 2 % 2)};
        weft_compilation *compilation =
            compile(*state,
                    HEAD "a = 2*k + 1;\nb[dofs] += a*M[0];\nA[dofs,dofs] += M;\nc = b*2;\n"
                         "return b, A, c;\n",
                    &options);
        weft_text text = {0};
        assert_int_equal(weft_compilation_print(compilation, stages[mode / 4], "dot", &text, NULL),
                         WEFT_OK);
        char *folder = test_folder_make(), *path = test_path(folder, "graph.dot");
        test_text_write(path, text.data);
        /* braces and quotes pair up; Graphviz itself where there is one */
        int braces = 0, quotes = 0;
        for (const char *c = text.data; *c != '\0'; ++c) {
            braces += (*c == '{') - (*c == '}');
            quotes += *c == '"' && c[-1] != '\\';
        }
        assert_int_equal(braces, 0);
        assert_int_equal(quotes % 2, 0);
        assert_non_null(strstr(text.data, "style=dashed"));
        if (mode >= 4)
            assert_non_null(strstr(text.data, "subgraph cluster_0"));
        if (test_program_exists("dot")) {
            const char *const arguments[] = {"dot", "-Tcanon", path, NULL};
            test_run run = test_program(arguments, NULL);
            assert_int_equal(run.exit_code, 0);
            assert_string_equal(run.error, "");
            test_run_free(&run);
        }
        free(path);
        test_folder_remove(&folder);
        weft_text_free(&text);
        weft_compilation_free(&compilation);
    }
}

/* Every stage prints, twice the same; what does not exist is refused. */
static void every_stage(void **state) {
    static const char *const stages[] = {"tokens",          "script", "graph", "fusions",
                                         "implementations", "cover",  "plan",  "source"};
    weft_compilation *first = compile(*state, POISSON, NULL);
    weft_compilation *second = compile(*state, POISSON, NULL);
    weft_error error = {0};
    weft_text text = {0};
    for (size_t i = 0; i < sizeof stages / sizeof *stages; ++i) {
        weft_text a = {0}, b = {0};
        assert_int_equal(weft_compilation_print(first, stages[i], "text", &a, &error), WEFT_OK);
        assert_int_equal(weft_compilation_print(second, stages[i], "text", &b, &error), WEFT_OK);
        assert_true(a.length > 0);
        assert_string_equal(a.data, b.data);
        weft_text_free(&a);
        weft_text_free(&b);
    }
    assert_int_equal(weft_compilation_print(first, "sauce", "text", &text, &error),
                     WEFT_ERROR_USAGE);
    assert_string_equal(error.message, "there is no stage 'sauce'");
    assert_string_equal(error.hint, "did you mean 'source'? the stages are tokens, script, graph, "
                                    "fusions, implementations, cover, plan, source");
    assert_int_equal(weft_compilation_print(first, "plan", "xml", &text, &error), WEFT_ERROR_USAGE);
    assert_string_equal(error.message, "there is no format 'xml': text, dot and json are");
    assert_int_equal(weft_compilation_print(first, "source", "dot", &text, &error),
                     WEFT_ERROR_USAGE);
    assert_string_equal(error.message, "only graph and plan are printed as dot");
    weft_compilation_free(&first);
    weft_compilation_free(&second);
    weft_text_free(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json),
        cmocka_unit_test(json_of_the_search),
        cmocka_unit_test(dot),
        cmocka_unit_test(every_stage),
    };
    return cmocka_run_group_tests(tests, library_open, library_close);
}
