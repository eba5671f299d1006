/* labels: full */
/* Random scripts: both plans, both scatters, of each must agree with an interpreter of its graph.
 * All numbers are whole and so small that every sum and product is exact in any order (below 2^48,
 * and 2^22 for float): results are compared exactly, zeros of either sign being equal.
 * WEFT_RANDOM_SCRIPTS says how many, WEFT_RANDOM_SEED where to start. */
#include "graph_interpreter.h"
#include "random_script.h"

enum { N_CELLS = 389, N_NODES = 211 };
/* ---- running ---- */

typedef struct mesh_maps {
    int32_t *dofs, *sides;
} mesh_maps;

static double *input_values(const weft_datum *datum, int64_t n) {
    uint64_t state = (uint64_t)datum->id * 1000 + 17;
    const int64_t count = n * weft_shape_count(&datum->shape);
    double *values = malloc((size_t)(count + 1) * sizeof *values);
    assert_non_null(values);
    for (int64_t i = 0; i < count; ++i)
        values[i] = random_below(&state, 7) - 3;
    return values;
}

static void interpret(interpreter *in, const weft_graph *graph, const mesh_maps *data) {
    *in = (interpreter){.graph = graph, .sizes = {N_CELLS, N_NODES}};
    in->maps[0] = data->dofs;
    in->maps[1] = data->sides;
    assert_true(graph->n_data <= 1024);
    for (int i = 0; i < graph->n_data; ++i)
        if (graph->data[i].is_input)
            in->data[i] =
                input_values(&graph->data[i], interpreter_instances(in, graph->data[i].index_set));
    interpreter_run(in);
}

static void compare(const program_case *c, const interpreter *in, const char *text, int mode) {
    const weft_graph *graph = c->compilation->graph;
    for (int i = 0; i < graph->n_data; ++i) {
        const weft_datum *datum = &graph->data[i];
        if (!datum->returned && datum->storage < 0)
            continue;
        const weft_datum *place = datum->storage >= 0 ? &graph->data[datum->storage] : datum;
        double *got = case_result(c, place->name);
        const int64_t n = interpreter_instances(in, datum->index_set);
        const int count = weft_shape_count(&datum->shape);
        for (int64_t k = 0; k < n * count; ++k) {
            const double a = got[k] + 0.0, b = in->data[i][k] + 0.0;
            if (memcmp(&a, &b, sizeof a) != 0)
                fail_msg("mode %d: %s[%lld] component %lld is %.17g, not %.17g, in\n%s", mode,
                         place->name, (long long)(k / count), (long long)(k % count), a, b, text);
        }
        free(got);
    }
}

static void run_script(weft_library *library, uint64_t seed, const mesh_maps *data, bool single) {
    char *text = random_script(seed, single ? 0x1p22 : 0x1p48);
    for (int mode = 0; mode < 4; ++mode) {
        const weft_compile_options options = {.plan = (weft_plan_kind)(mode % 2),
                                              .scatter = (weft_scatter)(mode / 2),
                                              .single = single};
        program_case c = case_open(library, mode % 2 == 0 ? "host:2" : "host:1", text, &options);
        interpreter *in = calloc(1, sizeof *in);
        assert_non_null(in);
        interpret(in, c.compilation->graph, data);
        case_map(&c, "dofs", data->dofs, N_CELLS, 3, N_NODES);
        case_map(&c, "sides", data->sides, N_CELLS, 2, N_NODES);
        for (int i = 0; i < c.compilation->graph->n_data; ++i) {
            const weft_datum *datum = &c.compilation->graph->data[i];
            if (!datum->is_input)
                continue;
            double *values = input_values(datum, interpreter_instances(in, datum->index_set));
            case_input(&c, datum->name, values);
            free(values);
        }
        case_run(&c);
        compare(&c, in, text, mode);
        interpreter_free(in);
        free(in);
        case_close(&c);
    }
    free(text);
}

static int64_t number_of(const char *variable, int64_t otherwise) {
    const char *text = getenv(variable);
    return text != NULL ? strtoll(text, NULL, 10) : otherwise;
}

static void random_scripts(void **state) {
    (void)state;
    weft_library *library = NULL;
    uint64_t seed = 77;
    const int64_t n = number_of("WEFT_RANDOM_SCRIPTS", 24);
    const int64_t first = number_of("WEFT_RANDOM_SEED", 1);
    const mesh_maps data = {random_map(&seed, N_CELLS, 3, N_NODES),
                            random_map(&seed, N_CELLS, 2, N_NODES)};
    int valence[N_NODES] = {0};
    for (int i = 0; i < 3 * N_CELLS; ++i)
        assert_true(++valence[data.dofs[i]] <= RANDOM_VALENCE);
    assert_int_equal(weft_library_make(&library, NULL), WEFT_OK);
    for (int64_t i = first; i < first + n; ++i)
        run_script(library, (uint64_t)i, &data, i % 4 == 0);
    weft_library_free(&library);
    free(data.dofs);
    free(data.sides);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_scripts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
