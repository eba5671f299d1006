/* labels: quick */
/* Accumulation over patches of cells with several connectivities, as CUDA text that runs thread by thread, against
 * plain loops: widths that give every size of patch, one and several components, every remainder of a
 * patch, lists over cells, nodes that no cell names, accumulation into an input, predicates. All
 * numbers are small integers, so that every order of sums gives the same bits. */
#include "emulated_gpu.h"
#include "fusion/plan/plan.h"
#include "program_support.h"

/* A_ic = k (i + 1) v_ic + X_0 v_(n-1-i)c + X_2 + (c + 1) X_1 */
static const char function[] =
    "//@ function  mix(v: real[n,m], X: real[3], k: real) -> A: real[n,m]\n"
    "//@ kind      map\n//@ flops     6*n*m\n//@ source    a test\n//@ threads   1\n"
    "for (int i = 0; i < n; ++i)\n"
    "    for (int c = 0; c < m; ++c)\n"
    "        A(i,c) = k*(i + 1)*v(i,c) + X(0)*v(n - 1 - i,c) + X(2) + (c + 1)*X(1);\n";

typedef struct patch_case {
    int width, components;
    bool loads;     /* v through the store's connectivity, otherwise over cells */
    bool continues; /* y is an input */
    bool single;
    int nodes; /* options.patch_nodes */
    int cells; /* of a patch, by the rule of fusion/plan/cell_patches.c */
} patch_case;

static void script_write(const patch_case *c, weft_text *out) {
    weft_text_add(out,
                  "index cells, nodes, points;\n"
                  "connectivity dofs : cells -> nodes[%d];\n"
                  "connectivity geometry : cells -> points[3];\n"
                  "input x : real over points;\ninput k : real over cells;\n",
                  c->width);
    weft_text_add(out, "input v : real[%d,%d] over cells;\n", c->width, c->components);
    if (c->loads) {
        out->length = 0;
        weft_text_add(out,
                      "index cells, nodes, points;\n"
                      "connectivity dofs : cells -> nodes[%d];\n"
                      "connectivity geometry : cells -> points[3];\n"
                      "input x : real over points;\ninput k : real over cells;\n"
                      "input v : real[%d] over nodes;\n",
                      c->width, c->components);
    }
    if (c->continues)
        weft_text_add(out, "input y : real[%d] over nodes;\n", c->components);
    weft_text_add(out, "y[dofs] += mix(%s, x[geometry], k);\nreturn y;\n",
                  c->loads ? "v[dofs]" : "v");
}

static double *integers(uint64_t *state, int64_t n) {
    double *list = malloc((size_t)(n + 1) * sizeof *list);
    assert_non_null(list);
    for (int64_t i = 0; i < n; ++i)
        list[i] = random_below(state, 9) - 4;
    return list;
}

typedef struct lists {
    int64_t n_cells, n_nodes, n_points;
    int32_t *dofs, *geometry;
    double *x, *k, *v, *y;
} lists;

/* What is beyond 2 n_cells + width nodes no cell names. */
static lists lists_make(const patch_case *c, int64_t n_cells, uint64_t *state) {
    lists l = {
        .n_cells = n_cells, .n_nodes = 2 * n_cells + 3 * c->width + 5, .n_points = n_cells / 4 + 7};
    l.dofs = random_map(state, n_cells, c->width, l.n_nodes - 5);
    l.geometry = random_map(state, n_cells, 3, l.n_points);
    l.x = integers(state, l.n_points);
    l.k = integers(state, n_cells);
    l.v = integers(state, (c->loads ? l.n_nodes : n_cells * c->width) * c->components);
    l.y = integers(state, l.n_nodes * c->components);
    return l;
}

static void lists_free(lists *l) {
    free(l->dofs);
    free(l->geometry);
    free(l->x);
    free(l->k);
    free(l->v);
    free(l->y);
}

static double *plain(const patch_case *c, const lists *l) {
    const int n = c->width, m = c->components;
    double *y = calloc((size_t)(l->n_nodes * m), sizeof *y);
    assert_non_null(y);
    for (int64_t i = 0; c->continues && i < l->n_nodes * m; ++i)
        y[i] = l->y[i];
    for (int64_t e = 0; e < l->n_cells; ++e)
        for (int i = 0; i < n; ++i)
            for (int a = 0; a < m; ++a) {
                const int32_t *node = l->dofs + e * n, *point = l->geometry + 3 * e;
                const double one = l->v[c->loads ? node[i] * m + a : (e * n + i) * m + a];
                const double other =
                    l->v[c->loads ? node[n - 1 - i] * m + a : (e * n + n - 1 - i) * m + a];
                y[node[i] * m + a] += l->k[e] * (i + 1) * one + l->x[point[0]] * other +
                                      l->x[point[2]] + (a + 1) * l->x[point[1]];
            }
    return y;
}

static program_case open_case(weft_library *library, const patch_case *c, bool predicated) {
    weft_text text = {0};
    weft_error error = {0};
    weft_device *device = NULL;
    const weft_compile_options options = {.size = sizeof options,
                                          .scatter = c->width > 16 ? WEFT_SCATTER_CELL_PATCHES
                                                                   : WEFT_SCATTER_PATCHES,
                                          .patch_nodes = c->nodes,
                                          .single = c->single,
                                          .predicated = predicated};
    script_write(c, &text);
    assert_false(text.failed);
    case_check(weft_device_open("host:1", NULL, &device, &error), &error);
    emulated_gpu_make(device);
    device->limits.bandwidth = 4e12;
    device->limits.flops = 3e13;
    program_case opened = case_open_on(library, device, text.data, &options);
    weft_text_free(&text);
    return opened;
}

static void bind(program_case *p, const patch_case *c, const lists *l) {
    case_map(p, "dofs", l->dofs, l->n_cells, c->width, l->n_nodes);
    case_map(p, "geometry", l->geometry, l->n_cells, 3, l->n_points);
    case_input(p, "x", l->x);
    case_input(p, "k", l->k);
    case_input(p, "v", l->v);
    if (c->continues)
        case_input(p, "y", l->y);
}

static void check_plan(const program_case *p, const patch_case *c) {
    const weft_plan *plan = case_segment(p)->plan;
    assert_int_equal(plan->n_kernels, 2);
    assert_int_equal(plan->kernels[0].kind, KERNEL_CELL_PATCH);
    assert_int_equal(plan->kernels[1].kind, KERNEL_CELL_BORDER);
    assert_int_equal(plan->kernels[0].patch_cells, c->cells);
}

static void check(weft_library *library, const patch_case *c, int64_t n_cells) {
    uint64_t state = (uint64_t)(n_cells * 100 + c->width);
    program_case p = open_case(library, c, false);
    lists l = lists_make(c, n_cells, &state);
    double *expected = plain(c, &l);
    check_plan(&p, c);
    bind(&p, c, &l);
    for (int run = 0; run < 2; ++run) { /* lists that start from zero do so each time */
        case_run(&p);
        double *found = case_result(&p, "y");
        for (int64_t i = 0; i < l.n_nodes * c->components; ++i) {
            const double wanted = expected[i] + (run && c->continues ? expected[i] - l.y[i] : 0);
            if (found[i] != wanted)
                fail_msg("%lld cells of %d x %d, run %d: [%lld] is %g, not %g", (long long)n_cells,
                         c->width, c->components, run, (long long)i, found[i], wanted);
        }
        free(found);
    }
    free(expected);
    lists_free(&l);
    case_close(&p);
}

static const patch_case cases[] = {
    {10, 1, true, false, false, 512, 256}, {20, 1, true, true, false, 512, 128},
    {35, 1, true, false, false, 512, 64},  {10, 1, true, false, false, 128, 64},
    {6, 3, true, false, false, 512, 128},  {3, 2, true, true, true, 512, 256},
    {7, 2, false, false, false, 256, 64},  {64, 2, true, false, false, 256, 32}};

static weft_library *library_open(void) {
    weft_library *library = NULL;
    weft_error error = {0};
    case_check(weft_library_make(&library, &error), &error);
    case_check(weft_library_add_text(library, "mix", function, &error), &error);
    return library;
}

static void products(void **state) {
    (void)state;
    weft_library *library = library_open();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        const int64_t patch = cases[i].cells;
        const int64_t sizes[] = {1, 31, 32, 33, patch - 1, patch, patch + 1, 5 * patch + 37};
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; ++k)
            check(library, &cases[i], sizes[k]);
    }
    weft_library_free(&library);
}

/* While *active is 0 nothing changes. */
static void predicates(void **state) {
    (void)state;
    weft_error error = {0};
    weft_library *library = library_open();
    uint64_t random = 3;
    uint32_t active = 1;
    weft_memory *flag = NULL;
    program_case p = open_case(library, &cases[1], true);
    lists l = lists_make(&cases[1], 300, &random);
    double *expected = plain(&cases[1], &l);
    bind(&p, &cases[1], &l);
    case_check(weft_memory_wrap(p.device, &active, sizeof active, &flag, &error), &error);
    weft_program_predicate(p.program, flag);
    for (int run = 0; run < 2; ++run) {
        case_run(&p);
        double *found = case_result(&p, "y");
        assert_same_bits(expected, found, l.n_nodes);
        free(found);
        active = 0;
    }
    free(expected);
    lists_free(&l);
    weft_memory_free(&flag);
    case_close(&p);
    weft_library_free(&library);
}

/* Of cells with many nodes only where they are asked for. */
static void many_nodes(void **state) {
    (void)state;
    weft_library *library = library_open();
    weft_device *device = NULL;
    weft_error error = {0};
    weft_text text = {0};
    const weft_compile_options options = {.size = sizeof options, .scatter = WEFT_SCATTER_PATCHES};
    script_write(&cases[1], &text);
    case_check(weft_device_open("host:1", NULL, &device, &error), &error);
    emulated_gpu_make(device);
    program_case p = case_open_on(library, device, text.data, &options);
    assert_int_equal(case_segment(&p)->plan->n_kernels, 1);
    assert_int_equal(case_segment(&p)->plan->kernels[0].kind, KERNEL_MAP);
    weft_text_free(&text);
    case_close(&p);
    weft_library_free(&library);
}

/* Two accumulations into one list: the second adds. */
static void two_accumulations(void **state) {
    (void)state;
    static const char text[] = "index cells, nodes, points;\n"
                               "connectivity dofs : cells -> nodes[5];\n"
                               "connectivity geometry : cells -> points[3];\n"
                               "connectivity more : cells -> nodes[6];\n"
                               "input x : real over points;\ninput k : real over cells;\n"
                               "input v : real[1] over nodes;\n"
                               "y[dofs] += mix(v[dofs], x[geometry], k);\n"
                               "y[more] += mix(v[more], x[geometry], k);\nreturn y;\n";
    static const patch_case both[] = {{5, 1, true, false, false, 0, 0},
                                      {6, 1, true, false, false, 0, 0}};
    const weft_compile_options options = {
        .size = sizeof options, .scatter = WEFT_SCATTER_PATCHES, .plan = WEFT_PLAN_UNFUSED};
    weft_error error = {0};
    weft_device *device = NULL;
    uint64_t random = 8;
    weft_library *library = library_open();
    case_check(weft_device_open("host:1", NULL, &device, &error), &error);
    emulated_gpu_make(device);
    program_case p = case_open_on(library, device, text, &options);
    lists l = lists_make(&both[0], 700, &random), m = l;
    m.dofs = random_map(&random, 700, 6, l.n_nodes);
    double *expected = plain(&both[0], &l), *added = plain(&both[1], &m);
    bind(&p, &both[0], &l);
    case_map(&p, "more", m.dofs, 700, 6, l.n_nodes);
    assert_int_equal(case_segment(&p)->plan->n_kernels, 4);
    for (int run = 0; run < 2; ++run) {
        case_run(&p);
        double *found = case_result(&p, "y");
        for (int64_t i = 0; i < l.n_nodes; ++i)
            assert_true(found[i] == expected[i] + added[i]);
        free(found);
    }
    free(expected);
    free(added);
    free(m.dofs);
    lists_free(&l);
    case_close(&p);
    weft_library_free(&library);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(products), cmocka_unit_test(predicates),
                                       cmocka_unit_test(many_nodes),
                                       cmocka_unit_test(two_accumulations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
