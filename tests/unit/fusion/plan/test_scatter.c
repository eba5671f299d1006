/* labels: quick */
/* WEFT_SCATTER_AUTO: of the ways to keep additions apart the plan has the one that is predicted to be the fastest of those that are
 * legal, as the same script gets with this way asked for; owners do not read `ordered` connectivities; patches that a mesh does
 * not fit give way to another plan; saved plans say the way. Results are compared with plain loops over small integers, which are
 * exact in any order. */
#include "emulated_gpu.h"
#include "fusion/plan/scatter.h"
#include "fusion/runtime/runtime.h"
#include "fusion/weft_compilation.h"
#include "program_support.h"

static const char library_text[] =
    "//@ function  spread(v: real[n], k: real) -> A: real[n]\n"
    "//@ kind      map\n//@ flops     4*n\n//@ source    a test\n//@ threads   1\n"
    "real s = 0;\n"
    "for (int i = 0; i < n; ++i)\n    s += v(i);\n"
    "for (int i = 0; i < n; ++i)\n    A(i) = k*(s - 2*v(i));\n";

static weft_library *library_open(void) {
    weft_library *library = NULL;
    weft_error error = {0};
    case_check(weft_library_make(&library, &error), &error);
    case_check(weft_library_add_text(library, "spread", library_text, &error), &error);
    return library;
}

static void script_write(int width, bool ordered, weft_text *out) {
    weft_text_add(out,
                  "index cells, nodes;\nconnectivity dofs : cells -> nodes[%d]%s;\n"
                  "input k : real over cells;\ninput v : real over nodes;\n"
                  "y[dofs] += spread(v[dofs], k);\nreturn y;\n",
                  width, ordered ? " ordered" : "");
    assert_false(out->failed);
}

typedef struct how {
    int width;
    bool ordered, once;
    weft_scatter scatter;
    size_t onchip_bytes; /* 0: the device's */
    const char *plan;
} how;

static program_case open_case(weft_library *library, const how *h) {
    weft_text text = {0};
    weft_error error = {0};
    weft_device *device = NULL;
    const weft_compile_options options = {.size = sizeof options,
                                          .scatter = h->scatter,
                                          .runs_once = h->once,
                                          .forced_plan = h->plan};
    script_write(h->width, h->ordered, &text);
    case_check(weft_device_open("host:1", NULL, &device, &error), &error);
    emulated_gpu_make(device);
    device->limits.bandwidth = 4e12;
    device->limits.flops = 3e13;
    if (h->onchip_bytes > 0)
        device->limits.onchip_bytes = h->onchip_bytes;
    program_case opened = case_open_on(library, device, text.data, &options);
    weft_text_free(&text);
    return opened;
}

static double *expect(int width, int64_t n_cells, int64_t n_nodes, const int32_t *dofs,
                      const double *v, const double *k) {
    double *y = calloc((size_t)n_nodes, sizeof *y);
    assert_non_null(y);
    for (int64_t e = 0; e < n_cells; ++e) {
        double sum = 0;
        for (int i = 0; i < width; ++i)
            sum += v[dofs[e * width + i]];
        for (int i = 0; i < width; ++i)
            y[dofs[e * width + i]] += k[e] * (sum - 2 * v[dofs[e * width + i]]);
    }
    return y;
}

/* Run on cells whose nodes have near numbers, or any. */
static void check_result(program_case *p, int width, int64_t n_cells, bool shuffled) {
    uint64_t state = (uint64_t)(n_cells + width);
    const int64_t n_nodes = n_cells / 4 + 3 * width;
    int32_t *dofs = random_map(&state, n_cells, width, n_nodes);
    double *v = malloc((size_t)n_nodes * sizeof *v), *k = malloc((size_t)n_cells * sizeof *k);
    assert_true(v && k);
    for (int64_t e = 0; e < n_cells && !shuffled; ++e)
        for (int i = 0; i < width; ++i)
            dofs[e * width + i] = (int32_t)(e / 4 + i);
    for (int64_t i = 0; i < n_nodes; ++i)
        v[i] = random_below(&state, 9) - 4;
    for (int64_t i = 0; i < n_cells; ++i)
        k[i] = random_below(&state, 9) - 4;
    double *expected = expect(width, n_cells, n_nodes, dofs, v, k);
    case_map(p, "dofs", dofs, n_cells, width, n_nodes);
    case_input(p, "v", v);
    case_input(p, "k", k);
    for (int run = 0; run < 2; ++run) {
        case_run(p);
        double *found = case_result(p, "y");
        assert_same_bits(expected, found, n_nodes);
        free(found);
    }
    free(expected);
    free(dofs);
    free(v);
    free(k);
}

static const weft_scatter_way *find_way(const weft_segment *segment, weft_scatter scatter) {
    for (int i = 0; i < segment->n_ways; ++i)
        if (segment->ways[i].scatter == scatter)
            return &segment->ways[i];
    fail_msg("no way %d", (int)scatter);
    return NULL;
}

/* The way taken is legal and not slower than another, but for a gather, which must gain 15 percent; asked for by name, each legal
 * way has kernels of its kind, and the others have not. */
static void check_choice(weft_library *library, const how *h) {
    program_case p = open_case(library, h);
    const weft_segment *segment = case_segment(&p);
    const weft_scatter_way *taken = find_way(segment, segment->options.scatter);
    assert_int_equal(segment->n_ways, WEFT_SCATTER_WAYS);
    assert_int_equal(segment->plan->scatter, segment->options.scatter);
    assert_null(taken->refused);
    for (int i = 0; i < segment->n_ways; ++i) {
        const weft_scatter_way *way = &segment->ways[i];
        const double worth = way->scatter == WEFT_SCATTER_GATHERED ? 0.85 : 1;
        assert_true(way->refused || taken->seconds <= way->seconds ||
                    (worth < 1 && taken->seconds <= way->seconds / worth));
        how asked = *h;
        asked.scatter = way->scatter;
        program_case other = open_case(library, &asked);
        bool has = false;
        for (int k = 0; k < case_segment(&other)->plan->n_kernels; ++k) {
            const char *name = weft_plan_scatter_name(case_segment(&other)->plan,
                                                      &case_segment(&other)->plan->kernels[k]);
            has |= name && strcmp(name, weft_scatter_name(way->scatter, true)) == 0;
        }
        assert_int_equal(has, way->refused == NULL);
        check_result(&other, h->width, 700, false);
        case_close(&other);
    }
    check_result(&p, h->width, 700, false);
    check_result(&p, h->width, 331, true);
    case_close(&p);
}

static void choices(void **state) {
    (void)state;
    weft_library *library = library_open();
    static const int widths[] = {3, 4, 6, 20};
    for (size_t i = 0; i < sizeof widths / sizeof *widths; ++i)
        check_choice(library, &(how){.width = widths[i]});
    weft_library_free(&library);
}

/* Who owns a node reads a cell from there on, which an ordered connectivity forbids. */
static void ordered(void **state) {
    (void)state;
    weft_library *library = library_open();
    const how plain = {.width = 4}, fixed = {.width = 4, .ordered = true};
    program_case p = open_case(library, &plain), q = open_case(library, &fixed);
    assert_null(find_way(case_segment(&p), WEFT_SCATTER_VERTEX_PATCHES)->refused);
    const char *why = find_way(case_segment(&q), WEFT_SCATTER_VERTEX_PATCHES)->refused;
    assert_non_null(why);
    assert_non_null(strstr(why, "order"));
    assert_null(find_way(case_segment(&q), WEFT_SCATTER_CELL_PATCHES)->refused);
    case_close(&p);
    case_close(&q);
    check_choice(library, &fixed);
    weft_library_free(&library);
}

/* Patches of nodes that have too many round them: the plan without such patches computes the same; a mesh that they fit gets them
 * again. A way that is asked for by name fails instead. */
static void retreat(void **state) {
    (void)state;
    weft_library *library = library_open();
    weft_error error = {0};
    const how small = {.width = 4, .onchip_bytes = 36864};
    program_case p = open_case(library, &small);
    const weft_segment *first = case_segment(&p);
    assert_true(weft_scatter_is_fragile(first->plan));
    assert_non_null(first->otherwise);
    assert_false(weft_scatter_is_fragile(first->otherwise->plan));
    check_result(&p, 4, 2000, false);
    assert_ptr_equal(p.program->segments[0]->segment, first);
    check_result(&p, 4, 40000, true);
    assert_ptr_equal(p.program->segments[0]->segment, first->otherwise);
    check_result(&p, 4, 2001, false);
    assert_ptr_equal(p.program->segments[0]->segment, first);
    case_close(&p);
    how forced = small;
    forced.scatter = first->options.scatter;
    p = open_case(library, &forced);
    uint64_t random = 4;
    int32_t *dofs = random_map(&random, 40000, 4, 10012);
    case_map(&p, "dofs", dofs, 40000, 4, 10012);
    assert_int_equal(weft_program_patches_make(p.program, &error), WEFT_ERROR_UNSUPPORTED);
    free(dofs);
    case_close(&p);
    weft_library_free(&library);
}

/* In place: what runs once, and on a host. */
static void closed(void **state) {
    (void)state;
    weft_library *library = library_open();
    const how once = {.width = 4, .once = true};
    weft_text text = {0};
    program_case p = open_case(library, &once);
    assert_int_equal(case_segment(&p)->n_ways, 0);
    assert_int_equal(case_segment(&p)->options.scatter, WEFT_SCATTER_IN_PLACE);
    case_close(&p);
    script_write(4, false, &text);
    p = case_open(library, "host:1", text.data, NULL);
    assert_int_equal(case_segment(&p)->options.scatter, WEFT_SCATTER_IN_PLACE);
    weft_text_free(&text);
    case_close(&p);
    weft_library_free(&library);
}

/* A plan that is read back has the way that was taken; without the member additions are in place; other names are refused. */
static void saved(void **state) {
    (void)state;
    weft_library *library = library_open();
    weft_text plan = {0};
    weft_error error = {0};
    how h = {.width = 4};
    program_case p = open_case(library, &h);
    const weft_scatter taken = case_segment(&p)->options.scatter;
    case_check(weft_compilation_print(p.compilation, "plan", "json", &plan, &error), &error);
    case_close(&p);
    assert_int_not_equal(taken, WEFT_SCATTER_IN_PLACE);
    h.plan = plan.data;
    p = open_case(library, &h);
    assert_int_equal(case_segment(&p)->options.scatter, taken);
    check_result(&p, 4, 500, true);
    case_close(&p);
    char *member = strstr(plan.data, "\"scatter\"");
    assert_non_null(member);
    member[1] = 'x';
    p = open_case(library, &h);
    assert_int_equal(case_segment(&p)->options.scatter, WEFT_SCATTER_IN_PLACE);
    case_close(&p);
    weft_text_free(&plan);
    weft_library_free(&library);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(choices), cmocka_unit_test(ordered),
                                       cmocka_unit_test(retreat), cmocka_unit_test(closed),
                                       cmocka_unit_test(saved)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
