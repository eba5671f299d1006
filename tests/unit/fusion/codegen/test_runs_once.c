/* labels: quick */
/* Kernels that run once: on the host their text asks for a cheaper compilation and is short, and on a GPU it is the same. */
#include "program_support.h"

static bool is_cheap(const char *name, bool runs_once) {
    static const char script[] =
        "index cells;\ninput x : real over cells;\ny = x*x + x;\nreturn y;\n";
    const weft_fragment fragment = {"once", script};
    const weft_compile_options options = {.size = sizeof options, .runs_once = runs_once};
    weft_device *device = NULL;
    weft_library *library = NULL;
    weft_compilation *made = NULL;
    weft_error error = {0};
    assert_int_equal(weft_device_open(name, NULL, &device, &error), WEFT_OK);
    assert_int_equal(weft_library_make(&library, &error), WEFT_OK);
    if (weft_compile(library, weft_device_limits(device), &fragment, 1, &options, &made, &error) !=
        WEFT_OK)
        fail_msg("%s", error.message);
    const char *source = weft_compilation_source(made);
    const bool cheap = strncmp(source, "#pragma GCC optimize", 20) == 0;
    assert_true(cheap || !strstr(source, "#pragma GCC optimize"));
    weft_compilation_free(&made);
    weft_library_free(&library);
    weft_device_free(&device);
    return cheap;
}

static void only_on_the_host(void **state) {
    (void)state;
    assert_true(is_cheap("host:1", true));
    assert_false(is_cheap("host:1", false));
    assert_false(is_cheap("null:h200", true));
}

/* Numbers of tables, which are exact in every order of additions. */
enum { N = 16, M = 250, SLICES = 3, ROWS = 70, LATE_ROW = 65, CELLS = 19 };

static double number_of(int s, int i, int j) {
    return 1 + s / 2.0 + i / 4.0 + j / 8.0;
}

/* arguments  SLICES, or ROWS for a table without j */
static weft_status numbers(void *user, const int *arguments, int n_arguments, weft_arena *arena,
                           weft_table *out, weft_error *error) {
    (void)user;
    (void)n_arguments;
    (void)error;
    const int m = arguments[0] == SLICES ? M : 1;
    *out = (weft_table){.rank = m > 1 ? 3 : 2, .sizes = {arguments[0], N, m}};
    out->values =
        weft_arena_alloc(arena, (size_t)(arguments[0] * N) * (size_t)m, sizeof *out->values);
    assert_non_null(out->values);
    for (int s = 0, k = 0; s < arguments[0]; ++s)
        for (int i = 0; i < N; ++i)
            for (int j = 0; j < m; ++j)
                out->values[k++] = number_of(s, i, j);
    return WEFT_OK;
}

/* y(j) = sum over i of T(1,i,j) x(i) + U(65,i): unrolled, the loop over j has 250 statements */
static const char large[] =
    "//@ function  large(x: real[n]) -> y: real[m]\n//@ kind      map\n"
    "//@ table     T: real[s,n,m] = numbers(3)\n//@ table     U: real[r,n] = numbers(70)\n"
    "//@ flops     2*n*m\n//@ source    of this test\n//@ threads   1\n"
    "for (int j = 0; j < m; ++j)\n    y(j) = 0;\n"
    "for (int i = 0; i < n; ++i)\n    for (int j = 0; j < m; ++j)\n"
    "        y(j) += T(1,i,j) * x(i) + U(65,i);\n";

static program_case large_make(const char *device, bool runs_once) {
    const weft_compile_options options = {.size = sizeof options, .runs_once = runs_once};
    weft_library *library = NULL;
    weft_error error = {0};
    case_check(weft_library_make(&library, &error), &error);
    case_check(weft_library_add_table(library, "numbers", 1, numbers, NULL, &error), &error);
    case_check(weft_library_add_text(library, "large", large, &error), &error);
    program_case c = case_open(
        library, device, "index cells;\ninput x : real[16] over cells;\ny = large(x);\nreturn y;\n",
        &options);
    c.own_library = true;
    return c;
}

static void check_large(program_case *c) {
    double x[CELLS * N];
    for (int i = 0; i < CELLS * N; ++i)
        x[i] = i % 11 - 5;
    case_size(c, "cells", CELLS);
    case_input(c, "x", x);
    case_run(c);
    double *y = case_result(c, "y");
    for (int cell = 0; cell < CELLS; ++cell)
        for (int j = 0; j < M; ++j) {
            double wanted = 0;
            for (int i = 0; i < N; ++i)
                wanted += number_of(1, i, j) * x[cell * N + i] + number_of(LATE_ROW, i, 0);
            assert_double_near(y[cell * M + j], wanted, 0, 0);
        }
    free(y);
}

static int count_of(const char *text, const char *word) {
    int n = 0;
    for (; (text = strstr(text, word)); text += strlen(word))
        ++n;
    return n;
}

/* Numbers of large tables are hexadecimal. Of T, slice 1 of 3 is read; of U, the rows from 63 on are kept together. */
static void short_text(void **state) {
    (void)state;
    int statements[2];
    for (int once = 0; once < 2; ++once) {
        program_case c = large_make("host:1", once);
        const char *source = weft_compilation_source(c.compilation);
        check_large(&c);
        statements[once] = count_of(source, ";\n");
        if (weft_device_limits(c.device)->execution == WEFT_EXECUTION_SIMD) {
            assert_int_equal(count_of(source, "p+") + count_of(source, "p-"),
                             N * M + (ROWS - 63) * N);
            assert_int_equal(count_of(source, "[4000] = "), 1);
            assert_int_equal(count_of(source, "[1008] = "), 1);
            assert_true(once ? statements[1] + M < statements[0] : statements[0] > M);
        }
        case_close(&c);
    }
}

static void same_text_on_a_gpu(void **state) {
    (void)state;
    program_case plain = large_make("null:h200", false), once = large_make("null:h200", true);
    const char *source = weft_compilation_source(plain.compilation);
    assert_string_equal(source, weft_compilation_source(once.compilation));
    assert_true(count_of(source, "p+") + count_of(source, "p-") >= SLICES * N * M);
    case_close(&plain);
    case_close(&once);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(only_on_the_host),
                                       cmocka_unit_test(short_text),
                                       cmocka_unit_test(same_text_on_a_gpu)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
