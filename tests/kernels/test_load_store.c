/* labels: quick */
/* Every load and store of generated kernels: interleaved, plain, through a map, uniform; stored
 * interleaved, also past the caches, and plain, accumulated into lists and into a matrix, and
 * reduced. In double and float, with every instruction set of this processor, for whole blocks and
 * partial ones of every size. Tolerance: none. All numbers are whole and small, so that every order
 * of additions is exact. */
#include "core/host/compiler.h"
#include "core/weft_core.h"
#include "fusion/control/program.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_program.h"
#include "program_support.h"

enum { MOST_COMPONENTS = 9, WIDTH = 3, MATRIX = WIDTH * WIDTH };

/* Lists of 1 to 9 components are moved by vadd and madd, matrices by functions that only move
 * components, so that a component or a lane in a wrong place shows. */
static char *make_script(bool plain) {
    weft_text text = {0};
    weft_text_add(&text,
                  "index cells%s, nodes;\n"
                  "connectivity dofs : cells -> nodes[3];\n"
                  "input scale : real;\n"
                  "input shift : real[3];\n"
                  "input u : real over nodes;\n"
                  "input v : real[3] over nodes;\n"
                  "input s : real over cells;\n"
                  "input A : real[3,3] over cells;\n"
                  "input B : real[2,4] over cells;\n",
                  plain ? " plain" : "");
    for (int c = 2; c <= MOST_COMPONENTS; ++c)
        weft_text_add(&text, "input x%d : real[%d] over cells;\n", c, c);
    weft_text_add(&text, "y1 = s + s*scale;\n");
    for (int c = 2; c <= MOST_COMPONENTS; ++c)
        weft_text_add(&text, "y%d = vadd(x%d, x%d);\n", c, c, c);
    weft_text_add(&text, "half = upper(A);\n"
                         "transposed = transpose(A);\n"
                         "long = transpose(B);\n"
                         "row = vadd(A[1], shift);\n"
                         "gathered = madd(v[dofs], A);\n"
                         "single = vadd(u[dofs], A[0]);\n"
                         "doubled = vadd(v, v);\n"
                         "a[dofs] += A;\n"
                         "b[dofs] += A[2];\n"
                         "M[dofs,dofs] += A;\n"
                         "total = sum(s);\n"
                         "low = minimum(s);\n"
                         "high = maximum(s);\n"
                         "return half, transposed, long, row, gathered, single, doubled, a, b;\n"
                         "return total, low, high, M, y1");
    for (int c = 2; c <= MOST_COMPONENTS; ++c)
        weft_text_add(&text, ", y%d", c);
    weft_text_add(&text, ";\n");
    assert_false(text.failed);
    return text.data;
}

static double *whole_numbers(uint64_t *state, int64_t n) {
    double *list = calloc((size_t)n + 1, sizeof *list);
    assert_non_null(list);
    for (int64_t i = 0; i < n; ++i)
        list[i] = random_below(state, 201) - 100;
    return list;
}

/* What a run is given. */
typedef struct given {
    int64_t n, n_nodes;
    int32_t *dofs;
    double scale, shift[3], *u, *v, *s, *A, *B, *x[MOST_COMPONENTS + 1];
} given;

static given given_make(int64_t n) {
    uint64_t state = 77 + (uint64_t)n;
    given g = {.n = n, .n_nodes = n / 2 + 11, .scale = 3, .shift = {5, -7, 11}};
    g.dofs = random_map(&state, n, WIDTH, g.n_nodes);
    g.u = whole_numbers(&state, g.n_nodes);
    g.v = whole_numbers(&state, g.n_nodes * 3);
    g.s = whole_numbers(&state, n);
    g.A = whole_numbers(&state, n * MATRIX);
    g.B = whole_numbers(&state, n * 8);
    for (int c = 2; c <= MOST_COMPONENTS; ++c)
        g.x[c] = whole_numbers(&state, n * c);
    return g;
}

static void given_free(given *g) {
    double *lists[] = {g->u, g->v, g->s, g->A, g->B};
    free(g->dofs);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; ++i)
        free(lists[i]);
    for (int c = 2; c <= MOST_COMPONENTS; ++c)
        free(g->x[c]);
}

/* ---- what is expected, component by component ---- */

typedef struct expected {
    const char *name;
    int components;
    bool of_nodes;
    double (*component)(const given *g, int64_t i, int k, int components);
} expected;

static double twice(const given *g, int64_t i, int k, int components) {
    return 2 * g->x[components][i * components + k];
}
static double scaled(const given *g, int64_t i, int k, int components) {
    (void)k, (void)components;
    return g->s[i] + g->scale * g->s[i];
}
static double half(const given *g, int64_t i, int k, int components) {
    static const int places[] = {0, 1, 2, 4, 5, 8};
    (void)components;
    return g->A[i * MATRIX + places[k]];
}
static double transposed(const given *g, int64_t i, int k, int components) {
    (void)components;
    return g->A[i * MATRIX + k % 3 * 3 + k / 3];
}
static double longer(const given *g, int64_t i, int k, int components) {
    (void)components;
    return g->B[i * 8 + k % 2 * 4 + k / 2];
}
static double row(const given *g, int64_t i, int k, int components) {
    (void)components;
    return g->A[i * MATRIX + 3 + k] + g->shift[k];
}
static double gathered(const given *g, int64_t i, int k, int components) {
    (void)components;
    return g->v[g->dofs[i * WIDTH + k / 3] * 3 + k % 3] + g->A[i * MATRIX + k];
}
static double single(const given *g, int64_t i, int k, int components) {
    (void)components;
    return g->u[g->dofs[i * WIDTH + k]] + g->A[i * MATRIX + k];
}
static double doubled(const given *g, int64_t i, int k, int components) {
    (void)components;
    return 2 * g->v[i * 3 + k];
}
static double added_rows(const given *g, int64_t node, int k, int components) {
    double sum = 0;
    (void)components;
    for (int64_t p = 0; p < g->n * WIDTH; ++p)
        sum += g->dofs[p] == node ? g->A[p * 3 + k] : 0;
    return sum;
}
static double added_last(const given *g, int64_t node, int k, int components) {
    double sum = 0;
    (void)k, (void)components;
    for (int64_t p = 0; p < g->n * WIDTH; ++p)
        sum += g->dofs[p] == node ? g->A[p / WIDTH * MATRIX + 6 + p % WIDTH] : 0;
    return sum;
}

static const expected lists[] = {{"y1", 1, false, scaled},
                                 {"half", 6, false, half},
                                 {"transposed", 9, false, transposed},
                                 {"long", 8, false, longer},
                                 {"row", 3, false, row},
                                 {"gathered", 9, false, gathered},
                                 {"single", 3, false, single},
                                 {"doubled", 3, true, doubled},
                                 {"a", 3, true, added_rows},
                                 {"b", 1, true, added_last},
                                 {"y2", 2, false, twice},
                                 {"y3", 3, false, twice},
                                 {"y4", 4, false, twice},
                                 {"y5", 5, false, twice},
                                 {"y6", 6, false, twice},
                                 {"y7", 7, false, twice},
                                 {"y8", 8, false, twice},
                                 {"y9", 9, false, twice}};

static void check_list(const program_case *c, const expected *e, const given *g, const char *what) {
    double *found = case_result(c, e->name);
    for (int64_t i = 0; i < (e->of_nodes ? g->n_nodes : g->n); ++i)
        for (int k = 0; k < e->components; ++k) {
            const double wanted = e->component(g, i, k, e->components);
            if (found[i * e->components + k] != wanted)
                fail_msg("%s, %lld cells: %s[%lld], component %d is %g, not %g", what,
                         (long long)g->n, e->name, (long long)i, k, found[i * e->components + k],
                         wanted);
        }
    free(found);
}

static void check_number(const program_case *c, const char *name, double wanted) {
    double *found = case_result(c, name);
    if (found[0] != wanted)
        fail_msg("%s is %g, not %g", name, found[0], wanted);
    free(found);
}

static void check_reductions(const program_case *c, const given *g) {
    double total = 0, low = g->s[0], high = g->s[0];
    for (int64_t i = 0; i < g->n; ++i) {
        total += g->s[i];
        low = fmin(low, g->s[i]);
        high = fmax(high, g->s[i]);
    }
    check_number(c, "total", total);
    check_number(c, "low", low);
    check_number(c, "high", high);
}

/* ---- the matrix: dense, for it is small; positions [block][component][lane] ---- */

static weft_memory *bind_matrix(program_case *c, const given *g) {
    weft_error error = {0};
    const int64_t lanes = case_segment(c)->plan->lanes, n_blocks = (g->n + lanes - 1) / lanes;
    const size_t bytes = (size_t)(n_blocks * lanes * MATRIX) * sizeof(uint32_t);
    weft_memory *values = case_memory(c, (size_t)(g->n_nodes * g->n_nodes) * sizeof(double));
    weft_memory *positions = case_memory(c, bytes);
    uint32_t *at = weft_memory_host(positions);
    for (int64_t i = 0; i < n_blocks * lanes; ++i)
        for (int k = 0; k < MATRIX; ++k) {
            const int32_t *dofs = &g->dofs[(i < g->n ? i : g->n - 1) * WIDTH];
            at[(i / lanes * MATRIX + k) * lanes + i % lanes] =
                (uint32_t)(dofs[k / WIDTH] * g->n_nodes + dofs[k % WIDTH]);
        }
    case_check(weft_program_bind_matrix(c->program, "M", values, positions, &error), &error);
    return values;
}

static void check_matrix(const given *g, const weft_memory *memory, bool is_single) {
    const size_t count = (size_t)(g->n_nodes * g->n_nodes);
    double *wanted = calloc(count, sizeof *wanted);
    assert_non_null(wanted);
    for (int64_t i = 0; i < g->n; ++i)
        for (int k = 0; k < MATRIX; ++k)
            wanted[g->dofs[i * WIDTH + k / WIDTH] * g->n_nodes + g->dofs[i * WIDTH + k % WIDTH]] +=
                g->A[i * MATRIX + k];
    const void *raw = weft_memory_host((weft_memory *)(uintptr_t)memory);
    for (size_t i = 0; i < count; ++i) {
        const double found = is_single ? (double)((const float *)raw)[i] : ((const double *)raw)[i];
        if (found != wanted[i])
            fail_msg("%lld cells: M[%zu] is %g, not %g", (long long)g->n, i, found, wanted[i]);
    }
    free(wanted);
}

static void run_case(const char *device, const char *script, const weft_compile_options *options,
                     int64_t n, const char *what) {
    given g = given_make(n);
    program_case c = case_open(NULL, device, script, options);
    case_map(&c, "dofs", g.dofs, n, WIDTH, g.n_nodes);
    case_input(&c, "scale", &g.scale);
    case_input(&c, "shift", g.shift);
    case_input(&c, "u", g.u);
    case_input(&c, "v", g.v);
    case_input(&c, "s", g.s);
    case_input(&c, "A", g.A);
    case_input(&c, "B", g.B);
    for (int k = 2; k <= MOST_COMPONENTS; ++k) {
        char name[8];
        snprintf(name, sizeof name, "x%d", k);
        case_input(&c, name, g.x[k]);
    }
    weft_memory *matrix = bind_matrix(&c, &g);
    for (int again = 0; again < 2; ++again) { /* nothing is left over from the run before */
        case_run(&c);
        for (size_t i = 0; i < sizeof lists / sizeof *lists; ++i)
            check_list(&c, &lists[i], &g, what);
        check_reductions(&c, &g);
        check_matrix(&g, matrix, options->single);
    }
    case_close(&c);
    given_free(&g);
}

/* Blocks of every size, half of them behind a whole block; many blocks for two threads. */
static void run_sizes(const char *set, bool plain, weft_plan_kind plan, bool is_single,
                      weft_scatter scatter) {
    char device[32], what[96];
    char *script = make_script(plain);
    const weft_compile_options options = {
        .size = sizeof options, .plan = plan, .single = is_single, .scatter = scatter};
    weft_processor processor;
    assert_int_equal(weft_processor_read(set, &processor, NULL), WEFT_OK);
    const int lanes = processor.vector_bytes / (int)(is_single ? sizeof(float) : sizeof(double));
    snprintf(device, sizeof device, "host:2%s%s", set ? ":" : "", set ? set : "");
    snprintf(what, sizeof what, "%s, %s, %s, %s, %s", device, plain ? "plain" : "interleaved",
             plan == WEFT_PLAN_FUSED ? "fused" : "unfused", is_single ? "float" : "double",
             scatter == WEFT_SCATTER_IN_PLACE ? "coloured" : "gathered");
    for (int n = 1; n <= lanes; ++n)
        run_case(device, script, &options, n % 2 ? n : lanes + n, what);
    run_case(device, script, &options, 211, what);
    free(script);
}

typedef struct way {
    bool plain, single;
    weft_plan_kind plan;
    weft_scatter scatter;
} way;

/* Each pair of choices is met; all of them together where WEFT_TEST_ALL is set. */
static const way sample[] = {
    {true, false, WEFT_PLAN_UNFUSED, WEFT_SCATTER_IN_PLACE},
    {true, true, WEFT_PLAN_FUSED, WEFT_SCATTER_GATHERED},
    {false, false, WEFT_PLAN_FUSED, WEFT_SCATTER_GATHERED},
    {false, true, WEFT_PLAN_UNFUSED, WEFT_SCATTER_IN_PLACE},
};

static void run_ways(const char *set) {
    const char *all = getenv("WEFT_TEST_ALL");
    for (int i = 0; all && all[0] && i < 16; ++i)
        run_sizes(set, i & 1, i & 2 ? WEFT_PLAN_FUSED : WEFT_PLAN_UNFUSED, i & 4,
                  i & 8 ? WEFT_SCATTER_IN_PLACE : WEFT_SCATTER_GATHERED);
    for (size_t i = 0; !(all && all[0]) && i < sizeof sample / sizeof *sample; ++i)
        run_sizes(set, sample[i].plain, sample[i].plan, sample[i].single, sample[i].scatter);
}

/* WEFT_INSTRUCTIONS asks for one set, else every one that there is. */
static void every_set(void **state) {
    static const char *const sets[] = {"sse2", "avx2", "avx512", "neon"};
    const char *only = getenv("WEFT_INSTRUCTIONS");
    int n = 0;
    (void)state;
    for (size_t i = 0; i < sizeof sets / sizeof *sets; ++i) {
        weft_processor processor;
        if (weft_processor_read(sets[i], &processor, NULL) != WEFT_OK ||
            (only && only[0] && strcmp(only, sets[i]) != 0))
            continue;
        run_ways(sets[i]);
        ++n;
    }
    assert_true(n > 0);
}

/* Results of more than 4 MB are stored past the caches, by instructions of their own. */
static void run_streamed(const char *set, bool is_single) {
    enum { N = 120011 };
    char device[32];
    uint64_t state = 3;
    const weft_compile_options options = {.size = sizeof options, .single = is_single};
    snprintf(device, sizeof device, "host:2:%s", set);
    program_case c = case_open(NULL, device,
                               "index cells;\ninput A : real[3,3] over cells;\n"
                               "transposed = transpose(A);\nreturn transposed;\n",
                               &options);
    given g = {.n = N, .A = whole_numbers(&state, (int64_t)N * MATRIX)};
    case_size(&c, "cells", N);
    case_input(&c, "A", g.A);
    case_run(&c);
    check_list(&c, &(expected){"transposed", MATRIX, false, transposed}, &g, device);
    case_close(&c);
    free(g.A);
}

static void streamed(void **state) {
    static const char *const sets[] = {"sse2", "avx2", "avx512", "neon"};
    (void)state;
    for (size_t i = 0; i < sizeof sets / sizeof *sets; ++i) {
        weft_processor processor;
        for (int is_single = 0; is_single < 2; ++is_single)
            if (weft_processor_read(sets[i], &processor, NULL) == WEFT_OK)
                run_streamed(sets[i], is_single);
    }
}

/* What users get who name no set. */
static void the_best_set(void **state) {
    const char *only = getenv("WEFT_INSTRUCTIONS");
    (void)state;
    if (!only || !only[0])
        run_ways(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_set), cmocka_unit_test(the_best_set),
                                       cmocka_unit_test(streamed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
