/* labels: quick */
/* Each node of arithmetic is written once, however many paths lead to it: piecewise formulas and formulas of formulas take
 * text in proportion to their depth, and what is the same for all elements is declared once. Values are compared with a direct
 * evaluation, on the host and on an emulated GPU; they are exact, since all numbers are small multiples of powers of 2. */
#include "emulated_gpu.h"
#include "program_support.h"

enum { N = 300, DEPTH = 30, CHARACTERS = 4000 };
static const double U = 8;

/* select(x > k/64 and y < 3/4, k, ...) */
static void add_pieces(weft_text *out) {
    for (int k = 0; k < DEPTH; ++k)
        weft_text_add(out, "select(x > %d/64 and y < 0.75, %d, ", k, k);
    weft_text_add(out, "u/2");
    for (int k = 0; k < DEPTH; ++k)
        weft_text_add(out, ")");
}

static double pieces(double x, double y) {
    for (int k = 0; k < DEPTH; ++k)
        if (x > k / 64.0 && y < 0.75)
            return k;
    return U / 2;
}

/* The value that a piece ends with has pieces itself: `and` shares it. */
static void add_alternatives(weft_text *out) {
    for (int k = 0; k < DEPTH; ++k)
        weft_text_add(out, "select(x < %d/64 and y > %d/64 and x < y, x + %d, ", 64 - 2 * k, k, k);
    weft_text_add(out, "sqrt(u + 1)");
    for (int k = 0; k < DEPTH; ++k)
        weft_text_add(out, ")");
}

static double alternatives(double x, double y) {
    for (int k = 0; k < DEPTH; ++k)
        if (x < (64 - 2 * k) / 64.0 && y > k / 64.0 && x < y)
            return x + k;
    return 3;
}

/* g(g(...g(x))) of g(v) = min(2 v, 2 - 2 v), which uses v three times */
static void add_tents(weft_text *out) {
    for (int k = 0; k < DEPTH; ++k)
        weft_text_add(out, "g(");
    weft_text_add(out, "x");
    for (int k = 0; k < DEPTH; ++k)
        weft_text_add(out, ")");
}

static double tents(double x, double y) {
    (void)y;
    for (int k = 0; k < DEPTH; ++k)
        x = x < 0.5 ? 2 * x : 2 - 2 * x;
    return x;
}

static program_case open_device(const char *text, bool is_gpu, weft_scatter scatter) {
    const weft_device_options device_options = weft_device_options_default(NULL);
    const weft_compile_options options = {.size = sizeof options, .scatter = scatter};
    weft_error error = {0};
    weft_device *device = NULL;
    case_check(weft_device_open("host:1", &device_options, &device, &error), &error);
    if (is_gpu)
        emulated_gpu_make(device);
    return case_open_on(NULL, device, text, &options);
}

static void inputs(double *x, double *y) {
    for (int i = 0; i < N; ++i) {
        x[i] = (double)(i * 37 % 128) / 128;
        y[i] = (double)(i * 23 % 64) / 64;
    }
}

static void check(void (*add)(weft_text *out), double (*value)(double x, double y)) {
    static double x[N], y[N], u[1];
    weft_text text = {0};
    u[0] = U;
    inputs(x, y);
    weft_text_add(&text, "index S;\ninput x, y : real over S;\ninput u : real;\n"
                         "expression g(v) = select(v < 0.5, 2*v, 2 - 2*v);\nr = ");
    add(&text);
    weft_text_add(&text, " + u - u + y - y;\nreturn r;\n");
    for (int is_gpu = 0; is_gpu < 2; ++is_gpu) {
        program_case c = open_device(text.data, is_gpu, WEFT_SCATTER_IN_PLACE);
        const size_t prelude = 30000;
        assert_true(strlen(weft_compilation_source(c.compilation)) <
                    prelude + (size_t)DEPTH * CHARACTERS);
        case_size(&c, "S", N);
        case_input(&c, "x", x);
        case_input(&c, "y", y);
        case_input(&c, "u", u);
        case_run(&c);
        double *r = case_result(&c, "r");
        for (int i = 0; i < N; ++i)
            assert_double_near(r[i], value(x[i], y[i]), 0, 0);
        free(r);
        case_close(&c);
    }
    weft_text_free(&text);
}

static void nested_pieces(void **state) {
    (void)state;
    check(add_pieces, pieces);
}

static void nested_alternatives(void **state) {
    (void)state;
    check(add_alternatives, alternatives);
}

static void nested_formulas(void **state) {
    (void)state;
    check(add_tents, tents);
}

/* Components of a list, and what is added to targets, where a gather evaluates it. */
static void components_and_sums(void **state) {
    (void)state;
    static const char text[] =
        "index S plain, T plain;\nconnectivity to : S -> T[2];\ninput w : real[2] over S;\n"
        "input x : real over S;\ninput u : real;\n"
        "v = select(x > 0.25 and x < 0.75, w, w*w + u/2);\n"
        "b[to] += select(x > 0.25 and x < 0.75, w, w*w + u/2);\nreturn v, b;\n";
    static double x[N], y[N], w[2 * N], b[N], u[1];
    static int32_t to[2 * N];
    u[0] = U;
    inputs(x, y);
    for (int k = 0; k < 2 * N; ++k) {
        w[k] = k % 9 - 4;
        to[k] = (k / 2 + k % 2) % N;
        b[to[k]] += x[k / 2] > 0.25 && x[k / 2] < 0.75 ? w[k] : w[k] * w[k] + U / 2;
    }
    for (int is_gpu = 0; is_gpu < 2; ++is_gpu) {
        program_case c = open_device(text, is_gpu, WEFT_SCATTER_GATHERED);
        case_map(&c, "to", to, N, 2, N);
        case_input(&c, "w", w);
        case_input(&c, "x", x);
        case_input(&c, "u", u);
        case_run(&c);
        double *v = case_result(&c, "v"), *sums = case_result(&c, "b");
        for (int k = 0; k < 2 * N; ++k)
            assert_double_near(
                v[k], x[k / 2] > 0.25 && x[k / 2] < 0.75 ? w[k] : w[k] * w[k] + U / 2, 0, 0);
        for (int i = 0; i < N; ++i)
            assert_double_near(sums[i], b[i], 0, 0);
        free(v);
        free(sums);
        case_close(&c);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nested_pieces), cmocka_unit_test(nested_alternatives),
        cmocka_unit_test(nested_formulas), cmocka_unit_test(components_and_sums)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
