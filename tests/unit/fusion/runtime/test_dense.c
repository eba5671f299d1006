/* labels: quick */
/* Products of small matrices in scripts, with what precedes and follows them in the same kernel: by tensor
 * cores of both depths and by fused multiply-adds, as CUDA text run thread by thread, and on the host. All numbers
 * are small integers, so that every order of sums gives the same bits. */
#include "emulated_gpu.h"
#include "fusion/plan/plan.h"
#include "program_support.h"

enum { CELLS = 37, PLATES = 9, NODES = 11, WIDTH = 12 };

/* Numbers from -2 to 2 that depend on the list, the element and the component. */
static double number(const char *list, int64_t element, int component) {
    uint64_t state = (uint64_t)(element * 4099 + component);
    for (; *list != '\0'; ++list)
        state = state * 31 + (uint64_t)*list;
    return random_below(&state, 5) - 2;
}

/* ---- devices ---- */

typedef struct way {
    int depth; /* of tensor cores; -1: the host */
    bool single;
} way;
static const way ways[] = {{16, false}, {4, false}, {16, true}, {-1, false}};
enum { WAYS = sizeof ways / sizeof *ways };

static program_case open_way(const way *how, const char *text) {
    const weft_device_options device_options = weft_device_options_default(NULL);
    const weft_compile_options options = {.size = sizeof options, .single = how->single};
    weft_error error = {0};
    weft_device *device = NULL;
    case_check(weft_device_open("host:1", &device_options, &device, &error), &error);
    if (how->depth >= 0) {
        emulated_gpu_make(device);
        device->limits.matrix_depth = how->depth;
        device->limits.bandwidth = 4e12;
        device->limits.flops = 3e13;
    }
    return case_open_on(NULL, device, text, &options);
}

/* Bind every input by its name and shape. */
static void bind_all(program_case *c) {
    const weft_graph *graph = case_segment(c)->graph;
    for (int i = 0; i < graph->n_values; ++i) {
        const weft_value *value = &graph->values[i];
        const int count = weft_shape_count(&value->shape);
        const int64_t n = case_elements(c, value);
        if (!value->is_input)
            continue;
        double *list = malloc((size_t)(n * count) * sizeof *list);
        assert_non_null(list);
        for (int64_t k = 0; k < n * count; ++k)
            list[k] = number(value->name, k / count, (int)(k % count));
        case_input(c, value->name, list);
        free(list);
    }
}

/* The kernel that computes a value, and the number of calls in it. */
static weft_kernel_kind kind_of(const program_case *c, const char *name, int *n_calls) {
    const weft_graph *graph = case_segment(c)->graph;
    const weft_plan *plan = case_segment(c)->plan;
    for (int i = 0; i < plan->n_kernels; ++i) {
        const weft_implementation *one = plan->kernels[i].implementation;
        for (int k = 0; one != NULL && k < one->fusion->n_calls; ++k)
            if (strcmp(graph->values[graph->calls[one->order[k]].result].name, name) == 0) {
                *n_calls = one->fusion->n_calls;
                return plan->kernels[i].kind;
            }
    }
    fail_msg("nothing computes %s", name);
    return KERNEL_MAP;
}

/* Compare a result with what `expected` gives for each element and component. */
static void compare(const program_case *c, const char *name,
                    double (*expected)(int64_t element, int component)) {
    double *found = case_result(c, name);
    const weft_value *value = case_value(c, name);
    const int count = weft_shape_count(&value->shape);
    for (int64_t i = 0; i < case_elements(c, value); ++i)
        for (int k = 0; k < count; ++k)
            if (found[i * count + k] != expected(i, k))
                fail_msg("%s[%lld][%d] is %g, expected %g", name, (long long)i, k,
                         found[i * count + k], expected(i, k));
    free(found);
}

/* ---- products of several shapes; P2 has several warps per element, P3 too few rows ---- */

enum { SHAPES = 4 };
static const int shapes[SHAPES][3] = {{8, 8, 8}, {9, 5, 11}, {65, 21, 40}, {7, 8, 9}};
static int shape; /* of the product that is checked */

static double product_entry(int64_t e, int c) {
    const int terms = shapes[shape][1], columns = shapes[shape][2];
    char a[16], b[16];
    double s = 0;
    snprintf(a, sizeof a, "A%d", shape);
    snprintf(b, sizeof b, "B%d", shape);
    for (int l = 0; l < terms; ++l)
        s += number(a, e, c / columns * terms + l) * number(b, e, l * columns + c % columns);
    return s;
}

static void add_shapes(weft_text *text) {
    for (int i = 0; i < SHAPES; ++i)
        weft_text_add(text,
                      "input A%d : real[%d,%d] over plates;\n"
                      "input B%d : real[%d,%d] over plates;\nP%d = mmul(A%d, B%d);\n",
                      i, shapes[i][0], shapes[i][1], i, shapes[i][1], shapes[i][2], i, i, i);
}

static void check_shapes(const program_case *c, const way *how) {
    for (shape = 0; shape < SHAPES; ++shape) {
        char name[16];
        int n_calls = 0;
        const bool large = shapes[shape][0] >= 8 && shapes[shape][2] >= 8;
        snprintf(name, sizeof name, "P%d", shape);
        /* in single precision small ones have room in the registers of a thread */
        if (how->depth >= 0 && (!large || !how->single || shape == 2))
            assert_int_equal(kind_of(c, name, &n_calls) == KERNEL_DENSE, large);
        compare(c, name, product_entry);
    }
}

/* ---- what precedes and follows ---- */

enum { N = 18 };
static const char fused_text[] = "input A, B, E : real[18,18] over cells;\n"
                                 "input s : real over cells;\ninput u : real;\n"
                                 "T = madd(A, 2*B);\nf = s*u;\n"
                                 "C = smmul(mmul(T, transpose(B)), f) + E;\nQ = C*C;\n";

static double sum_entry(int64_t e, int c) {
    return number("A", e, c) + 2 * number("B", e, c);
}
static double fused_entry(int64_t e, int c) {
    double s = 0;
    for (int l = 0; l < N; ++l)
        s += sum_entry(e, c / N * N + l) * number("B", e, c % N * N + l);
    return number("s", e, 0) * number("u", 0, 0) * s + number("E", e, c);
}
static double fused_square(int64_t e, int c) {
    return fused_entry(e, c) * fused_entry(e, c);
}

/* ---- element matrices: the sum over points q of w_q B_q^T D_q B_q ---- */

enum { POINTS = 2, STRAINS = 6, NODES_OF_CELL = 10 };
static const char element_text[] = "input w : real[2] over plates;\n"
                                   "input D : real[2,6,6] over plates;\n"
                                   "input G : real[2,6,10] over plates;\n"
                                   "K = w[0]*mmul(transpose(G[0]), mmul(D[0], G[0]))\n"
                                   "  + w[1]*mmul(transpose(G[1]), mmul(D[1], G[1]));\n";

static double element_entry(int64_t e, int c) {
    double k = 0;
    for (int q = 0; q < POINTS; ++q)
        for (int a = 0; a < STRAINS; ++a)
            for (int b = 0; b < STRAINS; ++b)
                k += number("w", e, q) * number("D", e, (q * STRAINS + a) * STRAINS + b) *
                     number("G", e, (q * STRAINS + a) * NODES_OF_CELL + c / NODES_OF_CELL) *
                     number("G", e, (q * STRAINS + b) * NODES_OF_CELL + c % NODES_OF_CELL);
    return k;
}

/* ---- factors that are the same for all elements, as tables of shape functions ---- */

enum { D = 2, Q = 4, SHAPE_FUNCTIONS = 9 };
static const char table_text[] = "input c : real[4] over plates;\n"
                                 "input M : real[2,2] over plates;\ninput H : real[8,9];\n"
                                 "input Ht : real[9,8];\nW = mmul(Ht, row_blocks(c, M, H));\n";

static double table_entry(int64_t e, int k) {
    const int i = k / SHAPE_FUNCTIONS, j = k % SHAPE_FUNCTIONS;
    double sum = 0;
    for (int l = 0; l < D * Q; ++l)
        for (int b = 0; b < D; ++b)
            sum += number("Ht", 0, i * D * Q + l) * number("c", e, l / D) *
                   number("M", e, l % D * D + b) *
                   number("H", 0, (l / D * D + b) * SHAPE_FUNCTIONS + j);
    return sum;
}

/* ---- loads and accumulations through a connectivity ---- */

static int32_t nodes[PLATES * WIDTH];
static const char scatter_text[] =
    "input F : real[12,12] over plates;\ninput x : real[16] over nodes;\n"
    "S = mmul(F, x[of]);\ny[of] += S;\n";

static double scattered_entry(int64_t node, int j) {
    double sum = 0;
    for (int64_t e = 0; e < PLATES; ++e)
        for (int a = 0; a < WIDTH; ++a)
            for (int l = 0; nodes[e * WIDTH + a] == node && l < WIDTH; ++l)
                sum += number("F", e, a * WIDTH + l) * number("x", nodes[e * WIDTH + l], j);
    return sum;
}

/* ---- all of it, on every device; the host's compiler takes long for the larger ones ---- */

static void check_way(const way *how) {
    const bool gpu = how->depth >= 0;
    weft_text text = {0};
    int n_calls = 0;
    weft_text_add(&text, "index cells, plates plain, nodes plain;\n"
                         "connectivity of : plates -> nodes[12];\n");
    add_shapes(&text);
    weft_text_add(&text, "%s%s%s%sreturn P0, P1, P2, P3, W, y%s;\n", gpu ? fused_text : "",
                  gpu ? element_text : "", table_text, scatter_text, gpu ? ", T, C, Q, K" : "");
    assert_false(text.failed);
    program_case c = open_way(how, text.data);
    case_map(&c, "of", nodes, PLATES, WIDTH, NODES);
    case_size(&c, "cells", CELLS);
    bind_all(&c);
    case_run(&c);
    check_shapes(&c, how);
    compare(&c, "W", table_entry);
    compare(&c, "y", scattered_entry);
    if (gpu) {
        compare(&c, "T", sum_entry);
        compare(&c, "C", fused_entry);
        compare(&c, "Q", fused_square);
        compare(&c, "K", element_entry);
    }
    if (gpu && !how->single) {
        assert_int_equal(kind_of(&c, "C", &n_calls), KERNEL_DENSE);
        assert_true(n_calls >= 7); /* and Q, or not */
        assert_int_equal(kind_of(&c, "K", &n_calls), KERNEL_DENSE);
        assert_int_equal(n_calls, 7);
        assert_int_equal(kind_of(&c, "S", &n_calls), KERNEL_DENSE);
    }
    case_close(&c);
    weft_text_free(&text);
}

static void products(void **state) {
    (void)state;
    for (int i = 0; i < PLATES * WIDTH; ++i)
        nodes[i] = (i * 7 + i / WIDTH) % NODES;
    for (int w = 0; w < WAYS; ++w)
        check_way(&ways[w]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
