/* labels: quick */
/* Cells in colours: no two of a colour share a target, whatever the connectivity; how many colours
 * there must be; and what plan, source and launches of a GPU make of them. */
#include "core/weft_core.h"
#include "fusion/connectivity/connectivity.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_program.h"
#include "program_support.h"

typedef struct shape {
    int64_t n, n_to;
    int width, spread; /* targets of element i: near i * n_to / n */
    int hub;           /* every hub-th element has target 0 too; 0: none */
} shape;

static int32_t *indices_make(const shape *s, uint64_t seed) {
    int32_t *made = calloc((size_t)(s->n * s->width) + 1, sizeof *made);
    assert_non_null(made);
    for (int64_t i = 0; i < s->n; ++i)
        for (int k = 0; k < s->width; ++k) {
            const int64_t j = i * s->n_to / s->n + random_below(&seed, s->spread);
            made[i * s->width + k] =
                s->hub > 0 && k == 0 && i % s->hub == 0 ? 0 : (int32_t)(j % s->n_to);
        }
    return made;
}

/* The most different elements that one target has: so many colours there are at least. */
static int64_t most_at_a_target(const shape *s, const int32_t *indices) {
    int64_t most = 0, *count = calloc((size_t)s->n_to + 1, sizeof *count);
    int64_t *last = calloc((size_t)s->n_to + 1, sizeof *last); /* the element seen last, and 1 */
    assert_true(count && last);
    for (int64_t i = 0; i < s->n * s->width; ++i) {
        const int32_t j = indices[i];
        if (last[j] == i / s->width + 1)
            continue;
        last[j] = i / s->width + 1;
        count[j] += 1;
        most = count[j] > most ? count[j] : most;
    }
    free(count);
    free(last);
    return most;
}

/* Every element once, ascending in its colour, colours not empty, and no target in two of one. */
static void check_colours(const shape *s, const int32_t *indices, const weft_cell_colours *c) {
    int *seen = calloc((size_t)s->n + 1, sizeof *seen);
    int64_t *met = calloc((size_t)s->n_to + 1, sizeof *met); /* colour and element, and 1 */
    assert_true(seen && met);
    assert_int_equal(c->start[0], 0);
    assert_int_equal(c->start[c->n_colours], s->n);
    for (int k = 0; k < c->n_colours; ++k) {
        const int64_t n = c->start[k + 1] - c->start[k];
        const bool shares = c->is_serial_last && k == c->n_colours - 1;
        const uint32_t *order = weft_memory_host(c->order[k]);
        assert_true(n > 0);
        assert_int_equal(weft_memory_bytes(c->order[k]), (size_t)n * sizeof *order);
        for (int64_t i = 0; i < n; ++i) {
            assert_true(order[i] < s->n && (i == 0 || order[i] > order[i - 1]));
            seen[order[i]] += 1;
            for (int a = 0; a < s->width && !shares; ++a) {
                const int64_t mark = k * s->n + order[i] + 1;
                int64_t *at = &met[indices[(int64_t)order[i] * s->width + a]];
                assert_true(*at <= k * s->n || *at == mark);
                *at = mark;
            }
        }
    }
    for (int64_t i = 0; i < s->n; ++i)
        assert_int_equal(seen[i], 1);
    free(seen);
    free(met);
}

static void valid(void **state) {
    (void)state;
    static const shape shapes[] = {
        {0, 5, 3, 5, 0},           {0, 0, 3, 1, 0},
        {1, 4, 4, 4, 0},           {1, 1, 3, 1, 0}, /* thrice the same */
        {31, 20, 3, 20, 0},        {33, 20, 3, 20, 0},
        {32, 1000, 4, 3, 0}, /* many isolated */
        {1003, 300, 3, 300, 0},    {20011, 9000, 4, 40, 0},
        {20011, 9000, 4, 40, 200},                       /* a hub of 101 */
        {5000, 900, 4, 30, 7},                           /* of 715 */
        {300, 1, 2, 1, 0},         {4000, 40, 8, 40, 0}, /* all share */
    };
    weft_device *device = NULL;
    weft_error error = {0};
    case_check(weft_device_open("host:2", NULL, &device, &error), &error);
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; ++k) {
        const shape *s = &shapes[k];
        int32_t *indices = indices_make(s, 7 + k);
        weft_connectivity *connectivity = NULL;
        const weft_cell_colours *colours = NULL, *again = NULL;
        case_check(
            weft_connectivity_make(device, indices, s->n, s->width, s->n_to, &connectivity, &error),
            &error);
        case_check(weft_connectivity_colours(connectivity, &colours, &error), &error);
        check_colours(s, indices, colours);
        const int64_t most = most_at_a_target(s, indices);
        const int n_side_by_side = colours->n_colours - colours->is_serial_last;
        assert_true(n_side_by_side <= WEFT_CELL_COLOURS);
        assert_true(colours->is_serial_last ? n_side_by_side == WEFT_CELL_COLOURS
                                            : n_side_by_side >= most);
        if (most > WEFT_CELL_COLOURS)
            assert_true(colours->is_serial_last);
        /* greedy: an element has at most width * (most - 1) neighbours; one pass holds 64 colours
         */
        if (most > 0 && s->width * (most - 1) + 1 <= 64)
            assert_true(n_side_by_side <= s->width * (most - 1) + 1);
        case_check(weft_connectivity_colours(connectivity, &again, &error), &error);
        assert_ptr_equal(colours, again);
        weft_connectivity_free(&connectivity);
        free(indices);
    }
    weft_device_free(&device);
}

/* Segments in a row take two colours in turn; the colours of a lattice are of much the same size.
 */
static void known(void **state) {
    (void)state;
    enum { SEGMENTS = 1001, SIDE = 60 };
    int32_t *row = calloc(2 * SEGMENTS, sizeof *row),
            *lattice = calloc(4 * SIDE * SIDE, sizeof *row);
    weft_device *device = NULL;
    weft_connectivity *connectivity = NULL;
    const weft_cell_colours *colours = NULL;
    weft_error error = {0};
    assert_true(row && lattice);
    case_check(weft_device_open("host:1", NULL, &device, &error), &error);
    for (int i = 0; i < 2 * SEGMENTS; ++i)
        row[i] = (i + 1) / 2;
    case_check(
        weft_connectivity_make(device, row, SEGMENTS, 2, SEGMENTS + 1, &connectivity, &error),
        &error);
    case_check(weft_connectivity_colours(connectivity, &colours, &error), &error);
    assert_int_equal(colours->n_colours, 2);
    assert_int_equal(colours->start[1], (SEGMENTS + 1) / 2);
    for (int k = 0; k < 2; ++k)
        for (int i = 0; i < colours->start[k + 1] - colours->start[k]; ++i)
            assert_int_equal(((const uint32_t *)weft_memory_host(colours->order[k]))[i], 2 * i + k);
    weft_connectivity_free(&connectivity);

    for (int i = 0; i < 4 * SIDE * SIDE; ++i)
        lattice[i] = i / 4 / SIDE * (SIDE + 1) + i / 4 % SIDE + i % 2 + i / 2 % 2 * (SIDE + 1);
    case_check(weft_connectivity_make(device, lattice, SIDE * SIDE, 4, (SIDE + 1) * (SIDE + 1),
                                      &connectivity, &error),
               &error);
    case_check(weft_connectivity_colours(connectivity, &colours, &error), &error);
    assert_in_range(colours->n_colours, 4, 9); /* 4 squares at a node, 8 neighbours of a square */
    for (int k = 0; k < colours->n_colours; ++k)
        assert_true((colours->start[k + 1] - colours->start[k]) * colours->n_colours >=
                    SIDE * SIDE / 2);
    weft_connectivity_free(&connectivity);
    weft_device_free(&device);
    free(row);
    free(lattice);
}

/* ---- plan, source, launches ---- */

#define CELLS "index cells, nodes;\nconnectivity dofs : cells -> nodes[3];\n"
static const char two_lists[] = CELLS "input k : real[3] over cells;\n"
                                      "b[dofs] += 2*k;\nc[dofs] += k;\nreturn b, c;\n";
static const char one_matrix[] = CELLS "input k : real[3,3] over cells;\n"
                                       "A[dofs,dofs] += 2*k;\nreturn A;\n";
static const char two_maps[] = "index cells, nodes, edges;\n"
                               "connectivity dofs : cells -> nodes[3];\n"
                               "connectivity sides : cells -> edges[3];\n"
                               "input k : real[3] over cells;\n"
                               "l = 2*k;\nb[dofs] += l;\nc[sides] += l;\nreturn b, c;\n";
static const char with_sum[] = CELLS "input k : real[3] over cells;\n"
                                     "l = 2*k;\nb[dofs] += l;\ns = dot(l, l);\ntotal = sum(s);\n"
                                     "return b, total;\n";
static const char with_threads[] = CELLS "input K : real[3,3] over cells;\n"
                                         "input v : real[3] over cells;\n"
                                         "b[dofs] += mvmul(K, v);\nreturn b;\n";

/* Kernels that go by colours; their text, from the first on. */
static int count_kernels(const program_case *c, const char **text) {
    int n = 0;
    for (int i = 0; i < weft_compilation_kernels(c->compilation); ++i) {
        weft_kernel_info info;
        weft_compilation_kernel(c->compilation, i, &info);
        n += info.cell_colours;
    }
    *text = strstr(weft_compilation_source(c->compilation), "\nKERNEL ");
    return n;
}

static void plans(void **state) {
    (void)state;
    static const struct {
        const char *script, *device;
        int n_kernels;
        const char *has, *has_not;
    } cases[] = {
        {two_lists, "null:h200", 1, "add_indirect_alone(p_b", "add_indirect("},
        {one_matrix, "null:h200", 1, "add_matrix_alone(p_A", "add_matrix("},
        {two_maps, "null:h200", 0, "add_indirect(p_b", "_alone"},
        {with_sum, "null:h200", 0, "add_indirect(p_b", "_alone"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
        for (int single = 0; single < 2; ++single) {
            const weft_compile_options options = {
                .size = sizeof options, .scatter = WEFT_SCATTER_CELL_COLOURS, .single = single};
            program_case c = case_open(NULL, cases[i].device, cases[i].script, &options);
            const char *text = NULL;
            assert_int_equal(count_kernels(&c, &text), cases[i].n_kernels);
            assert_non_null(text);
            assert_non_null(strstr(text, cases[i].has));
            assert_null(strstr(text, cases[i].has_not));
            assert_null(strstr(text, "atomicAdd"));
            assert_int_equal(strstr(text, "= order[k];") != NULL, cases[i].n_kernels);
            case_close(&c);
        }
}

/* What the kernels call adds without atomic operations. */
static void plain_additions(void **state) {
    (void)state;
    const weft_compile_options options = {.size = sizeof options,
                                          .scatter = WEFT_SCATTER_CELL_COLOURS};
    program_case c = case_open(NULL, "null:h200", one_matrix, &options);
    static const char *const names[] = {"INLINE void add_indirect_alone(",
                                        "INLINE void add_matrix_alone("};
    for (int i = 0; i < 2; ++i) {
        const char *from = strstr(weft_compilation_source(c.compilation), names[i]);
        assert_non_null(from);
        const char *to = strstr(from, "\n}\n"), *add = strstr(from, "] += v[");
        assert_true(to && add && add < to);
        const char *atomic = strstr(from, "atomicAdd");
        assert_true(!atomic || atomic > to);
    }
    case_close(&c);
}

static void other_granularities_and_the_host(void **state) {
    (void)state;
    const char *text = NULL;
    const weft_variant_choice rows = {"mvmul", 1};
    weft_compile_options options = {.size = sizeof options, .scatter = WEFT_SCATTER_CELL_COLOURS};
    program_case c = case_open(NULL, "null:h200", with_threads, &options);
    assert_int_equal(count_kernels(&c, &text), 1);
    case_close(&c);
    options.variants = &rows;
    options.n_variants = 1;
    c = case_open(NULL, "null:h200", with_threads, &options);
    /* one thread may take the iterations of all, in registers: then by colours; else not */
    const char *source = weft_compilation_source(c.compilation);
    const bool several =
        strstr(source, "MULTI_THREAD_KERNEL k0") || strstr(source, "\nBLOCK_KERNEL(");
    assert_int_equal(count_kernels(&c, &text), !several);
    case_close(&c);
    options.n_variants = 0;
    c = case_open(NULL, "null", with_threads, &options);
    assert_int_equal(count_kernels(&c, &text), 0);
    case_close(&c);
}

static void a_launch_a_colour(void **state) {
    (void)state;
    static const int64_t sizes[] = {0, 1, 31, 33, 1003};
    weft_compile_options options = {.size = sizeof options, .scatter = WEFT_SCATTER_CELL_COLOURS};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
        mesh m = mesh_make(sizes[i], 3);
        double *k = calloc((size_t)(3 * m.n_cells) + 1, sizeof *k);
        program_case c = case_open(NULL, "null:h200", two_lists, &options);
        const weft_cell_colours *colours = NULL;
        weft_error error = {0};
        assert_non_null(k);
        case_map(&c, "dofs", m.dofs, m.n_cells, 3, m.n_nodes);
        if (m.n_cells > 0)
            case_input(&c, "k", k);
        else
            case_check(weft_program_bind(c.program, "k", case_memory(&c, 0), &error), &error);
        case_check(weft_connectivity_colours(c.connectivities[0], &colours, &error), &error);
        for (int run = 0; run < 2; ++run) {
            const int64_t before = weft_device_launches(c.device);
            case_run(&c);
            assert_int_equal(weft_device_launches(c.device) - before, colours->n_colours);
        }
        assert_int_equal(colours->n_colours > 0, m.n_cells > 0);
        case_close(&c);
        free(k);
        free(m.dofs);
    }
}

/* On the host it is what 'coloured' is, to the letter and to the bit. */
static void host(void **state) {
    (void)state;
    mesh m = mesh_make(5003, 3);
    uint64_t seed = 2;
    double *k = random_list(&seed, 3 * m.n_cells), *b[2];
    char *source[2];
    for (int i = 0; i < 2; ++i) {
        const weft_compile_options options = {.size = sizeof options,
                                              .scatter = i ? WEFT_SCATTER_CELL_COLOURS
                                                           : WEFT_SCATTER_IN_PLACE};
        program_case c = case_open(NULL, "host:2", two_lists, &options);
        case_map(&c, "dofs", m.dofs, m.n_cells, 3, m.n_nodes);
        case_input(&c, "k", k);
        case_run(&c);
        b[i] = case_result(&c, "b");
        source[i] = strdup(weft_compilation_source(c.compilation));
        case_close(&c);
    }
    if (!getenv("WEFT_TEST_DEVICE")) {
        assert_string_equal(source[0], source[1]);
        assert_same_bits(b[0], b[1], m.n_nodes);
    }
    for (int i = 0; i < 2; ++i) {
        free(b[i]);
        free(source[i]);
    }
    free(k);
    free(m.dofs);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(valid),
        cmocka_unit_test(known),
        cmocka_unit_test(plans),
        cmocka_unit_test(plain_additions),
        cmocka_unit_test(other_granularities_and_the_host),
        cmocka_unit_test(a_launch_a_colour),
        cmocka_unit_test(host),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
