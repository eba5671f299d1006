/* labels: quick */
/* Which results a kernel for a GPU writes where they are stored: those that exceed 255 registers,
 * which its body only assigns and nothing else in the kernel reads. Their values, of kernels run
 * thread by thread, against x_i (j + 2) + i for 1, 31 and 70 elements: small integers, so exact. On the host those that exceed
 * 32 vectors of a cache line, for whole and partial blocks, and for a list that is stored past the caches. */
#include "emulated_gpu.h"
#include "program_support.h"

enum {
    ROWS = 13,
    COLUMNS = 12,
    MOST = 70,
    STREAMED = 5003 /* lists of 6 MB, with a partial block */
};

/* 156 doubles are 312 registers; `sums` adds to its result, `copies` reads it. */
static const char functions[] =
    "//@ function  outer(x: real[m]) -> A: real[m,n]\n//@ kind      map\n//@ parameter n\n"
    "//@ flops     2*m*n\n//@ source    A(i,j) = x_i (j + 2) + i\n//@ threads   1\n"
    "for (int i = 0; i < m; ++i)\n    for (int j = 0; j < n; ++j)\n"
    "        A(i,j) = x(i) * (j + 2) + i;\n"
    "//@ function  sums(x: real[m]) -> A: real[m,n]\n//@ kind      map\n//@ parameter n\n"
    "//@ flops     2*m*n\n//@ source    A(i,j) = x_i (j + 2) + i\n//@ threads   1\n"
    "for (int i = 0; i < m; ++i)\n    for (int j = 0; j < n; ++j) {\n"
    "        A(i,j) = i;\n        A(i,j) += x(i) * (j + 2);\n    }\n"
    "//@ function  copies(x: real[m]) -> A: real[m,n]\n//@ kind      map\n//@ parameter n\n"
    "//@ flops     2*m*n\n//@ source    A(i,j) = x_i (j + 2) + i\n//@ threads   1\n"
    "for (int i = 0; i < m; ++i) {\n    A(i,0) = x(i) * 2 + i;\n"
    "    for (int j = 1; j < n; ++j)\n        A(i,j) = A(i,j - 1) + x(i);\n}\n"
    "//@ function  first(A: real[m,n]) -> y: real[m]\n//@ kind      map\n//@ flops     0\n"
    "//@ source    y_i = A(i,0)\n//@ threads   1\n"
    "for (int i = 0; i < m; ++i)\n    y(i) = A(i,0);\n";

typedef struct sample {
    const char *kind, *call; /* of the index set: "" or "plain"; of the script */
    bool single, in_place;
} sample;

static const sample samples[] = {
    {"", "A = outer(x, n = 12);", false, true},
    {"plain", "A = outer(x, n = 12);", false, true},
    {"", "A = outer(x, n = 12);", true, false}, /* 156 floats fit */
    {"", "A = sums(x, n = 12);", false, false},
    {"", "A = copies(x, n = 12);", false, false},
    {"", "A = outer(x, n = 12);\ny = first(A);", false, false},
};

static program_case open_sample(const sample *one, bool on_gpu) {
    char text[512];
    weft_device *device = NULL;
    weft_library *library = NULL;
    weft_error error = {0};
    const weft_compile_options options = {.size = sizeof options, .single = one->single};
    snprintf(text, sizeof text, "index N %s;\ninput x : real[%d] over N;\n%s\nreturn A%s;\n",
             one->kind, ROWS, one->call, strstr(one->call, "y =") ? ", y" : "");
    case_check(weft_library_make(&library, &error), &error);
    case_check(weft_library_add_text(library, "stored.kernel.c", functions, &error), &error);
    case_check(weft_device_open("host:1", NULL, &device, &error), &error);
    if (on_gpu)
        emulated_gpu_make(device);
    program_case c = case_open_on(library, device, text, &options);
    c.own_library = true;
    return c;
}

static void check_values(program_case *c, int n) {
    double *x = calloc((size_t)n * ROWS, sizeof *x);
    for (int i = 0; i < n * ROWS; ++i)
        x[i] = i % 17 - 8;
    case_size(c, "N", n);
    case_input(c, "x", x);
    case_run(c);
    double *A = case_result(c, "A");
    for (int k = 0; k < n * ROWS * COLUMNS; ++k) {
        const int e = k / (ROWS * COLUMNS), i = k / COLUMNS % ROWS, j = k % COLUMNS;
        if (A[k] != x[e * ROWS + i] * (j + 2) + i)
            fail_msg("A(%d,%d) of element %d is %g", i, j, e, A[k]);
    }
    free(A);
    free(x);
}

static void results_in_place(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof samples / sizeof *samples; ++k) {
        program_case c = open_sample(&samples[k], true);
        const char *source = weft_compilation_source(c.compilation);
        const bool in_place = strstr(source, "> v_A = {p_A + ") != NULL;
        if (in_place != samples[k].in_place || in_place == (strstr(source, "real v_A[") != NULL))
            fail_msg("%s is %swritten where it is stored\n%s", samples[k].call,
                     in_place ? "" : "not ", source);
        check_values(&c, 1);
        check_values(&c, 31);
        check_values(&c, MOST);
        case_close(&c);
    }
}

static void results_on_the_host(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof samples / sizeof *samples; ++k) {
        const sample *one = &samples[k];
        program_case c = open_sample(one, false);
        const weft_limits *limits = weft_device_limits(c.device);
        const int bytes = one->single ? 4 * limits->lanes_float : 8 * limits->lanes_double;
        /* 156 components are more than 32, of floats too */
        const bool expected =
            bytes == 64 && one->kind[0] == '\0' && strcmp(one->call, samples[0].call) == 0;
        const char *source = weft_compilation_source(c.compilation);
        if ((strstr(source, "real *v_A = ") != NULL) != expected)
            fail_msg("%s is %swritten where it is stored\n%s", one->call, expected ? "not " : "",
                     source);
        check_values(&c, 1);
        check_values(&c, 31);
        check_values(&c, STREAMED);
        case_close(&c);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(results_in_place),
                                       cmocka_unit_test(results_on_the_host)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
