/* labels: quick */
/* The size of generated code: a kernel of many or large products has a bounded number of
 * statements, for the host and for a GPU; small ones are straight-line code as before; and the
 * values are those of plain loops over the matrices. */
#include "core/weft_core.h"
#include "fusion/script/script.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_library.h"
#include "program_support.h"

/* A product of n matrices k x k: A B A B ... */
static char *chain(int n, int k) {
    weft_text text = {0};
    weft_text_add(&text, "index N;\ninput A, B : real[%d,%d] over N;\nC1 = mmul(A, B);\n", k, k);
    for (int i = 2; i < n; ++i)
        weft_text_add(&text, "C%d = mmul(C%d, %s);\n", i, i - 1, i % 2 ? "B" : "A");
    weft_text_add(&text, "return C%d;\n", n - 1);
    assert_false(text.failed);
    return text.data;
}

/* The most statements of any kernel; *loops: loops of bodies, whose counters have one letter. */
static int most_statements(const char *device, const char *script, int *n_calls, int *loops) {
    weft_library *library = NULL;
    weft_device *opened = NULL;
    weft_compilation *compilation = NULL;
    weft_error error = {0};
    const weft_compile_options options = {.size = sizeof options, .plan = WEFT_PLAN_FUSED};
    const weft_fragment fragment = {"chain.weft", script};
    const weft_device_options device_options = weft_device_options_default(NULL);
    case_check(weft_library_make(&library, &error), &error);
    case_check(weft_device_open(device, &device_options, &opened, &error), &error);
    case_check(weft_compile(library, weft_device_limits(opened), &fragment, 1, &options,
                            &compilation, &error),
               &error);
    int most = 0, n = 0;
    *loops = *n_calls = 0;
    for (int i = 0; i < weft_compilation_kernels(compilation); ++i) {
        weft_kernel_info info;
        weft_compilation_kernel(compilation, i, &info);
        *n_calls = info.n_calls > *n_calls ? info.n_calls : *n_calls;
    }
    const char *source = weft_compilation_source(compilation);
    const char *at = source;
    for (const char *found; (found = strstr(at, "#define")) != NULL;) /* behind the prelude */
        at = found + 1;
    for (; *at; ++at) {
        n += at[0] == ';' && at[1] == '\n';
        *loops += strncmp(at, "\n            for (int i = ", 26) == 0; /* of a body */
        if (at[0] == '\n' && at[1] == '}') {                           /* the end of a function */
            most = n > most ? n : most;
            n = 0;
        }
    }
    weft_compilation_free(&compilation);
    weft_device_free(&opened);
    weft_library_free(&library);
    return most;
}

static void statements_are_bounded(void **state) {
    static const char *const devices[] = {"host:1", "null:h200"};
    static const int sizes[][2] = {{2, 6}, {16, 6}, {64, 6}, {100, 4}, {16, 15}, {6, 20}, {40, 3}};
    (void)state;
    for (size_t d = 0; d < sizeof devices / sizeof *devices; ++d)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
            int n_calls = 0, loops = 0;
            char *script = chain(sizes[i][0], sizes[i][1]);
            const int n = most_statements(devices[d], script, &n_calls, &loops);
            print_message("%s, %d matrices of %d: %d calls in a kernel, %d statements, %d loops\n",
                          devices[d], sizes[i][0], sizes[i][1], n_calls, n, loops);
            assert_true(n > 0 && n <= WEFT_STATEMENTS_MAX);
            if (sizes[i][0] == 2 && sizes[i][1] < 7) /* 216 + 36 statements: no loop is left */
                assert_int_equal(loops, 0);
            free(script);
        }
}

/* The matrices that start with whole numbers from -2 to 2 stay below 2 * 12^11: exact. */
static void values(void **state) {
    enum { K = 6, N = 13, CHAIN = 12 };
    static double inputs[2][N][K][K], wanted[N][K][K];
    int n_calls = 0, loops = 0;
    (void)state;
    char *script = chain(CHAIN, K);
    most_statements("host:1", script, &n_calls, &loops);
    assert_true(loops > 0); /* else this looks at nothing new */
    for (int which = 0; which < 2; ++which)
        for (int e = 0; e < N; ++e)
            for (int i = 0; i < K; ++i)
                for (int j = 0; j < K; ++j)
                    inputs[which][e][i][j] = (3 * e + 5 * i + 7 * j + i * j + which) % 5 - 2;
    memcpy(wanted, inputs[0], sizeof wanted);
    for (int step = 1; step < CHAIN; ++step)
        for (int e = 0; e < N; ++e) {
            double product[K][K] = {{0}};
            for (int i = 0; i < K; ++i)
                for (int j = 0; j < K; ++j)
                    for (int l = 0; l < K; ++l)
                        product[i][j] += wanted[e][i][l] * inputs[step % 2][e][l][j];
            memcpy(wanted[e], product, sizeof product);
        }
    program_case c = case_open(NULL, "host:1", script, NULL);
    case_size(&c, "N", N);
    case_input(&c, "A", &inputs[0][0][0][0]);
    case_input(&c, "B", &inputs[1][0][0][0]);
    case_run(&c);
    double *got = case_result(&c, "C11");
    assert_same_bits(got, &wanted[0][0][0], (int64_t)N * K * K);
    free(got);
    case_close(&c);
    free(script);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statements_are_bounded),
        cmocka_unit_test(values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
