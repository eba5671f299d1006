/* labels: quick */
/* A list that is stored as floats in a script in double precision, read by a reduction and by arithmetic, on an emulated
 * GPU. Numbers are small integers and their halves, so that results are exact. */
#include "emulated_gpu.h"
#include "program_support.h"

enum { N = 700 };

static const char script[] = "index rows plain;\n"
                             "input z, r : real over rows;\n"
                             "x = r + 2*z;\n"
                             "sum = dot(z, r);\n"
                             "return x, sum;\n";

static void bind_floats(program_case *c, const float *z, size_t bytes, weft_memory **memory) {
    weft_error error = {0};
    case_check(weft_memory_make(c->device, bytes, memory, &error), &error);
    case_check(weft_memory_write(*memory, 0, z, bytes, &error), &error);
    case_check(weft_program_bind(c->program, "z", *memory, &error), &error);
}

static void floats_are_read_as_doubles(void **state) {
    (void)state;
    static const int64_t sizes[] = {1, 31, 33, 512, 700};
    const weft_compile_options options = {.size = sizeof options, .narrow = "z"};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; ++k) {
        const int64_t n = sizes[k];
        weft_device *device = NULL;
        weft_memory *small = NULL, *large = NULL;
        weft_error error = {0};
        double r[N], expected = 0;
        float z[N];
        for (int i = 0; i < N; ++i) {
            r[i] = i % 11 - 5;
            z[i] = (float)(i % 7) / 2;
        }
        case_check(weft_device_open("host:1", NULL, &device, &error), &error);
        emulated_gpu_make(device);
        program_case c = case_open_on(NULL, device, script, &options);
        case_size(&c, "rows", n);
        case_input(&c, "r", r);
        bind_floats(&c, z, (size_t)n * sizeof *z - 1, &small);
        assert_int_equal(weft_program_run(c.program, &error), WEFT_ERROR_SHAPE);
        bind_floats(&c, z, (size_t)n * sizeof *z, &large); /* room for floats, not for doubles */
        case_run(&c);
        double *found = case_result(&c, "x"), *sum = case_result(&c, "sum");
        for (int64_t i = 0; i < n; ++i) {
            if (found[i] != r[i] + (double)(i % 7))
                fail_msg("x[%lld] is %g, expected %g", (long long)i, found[i],
                         r[i] + (double)(i % 7));
            expected += r[i] * (double)z[i];
        }
        assert_true(sum[0] == expected);
        free(found);
        free(sum);
        case_check(weft_program_bind(c.program, "z", NULL, &error), &error);
        weft_memory_free(&small);
        weft_memory_free(&large);
        case_close(&c);
    }
}

static void the_host_refuses(void **state) {
    (void)state;
    const weft_compile_options options = {.size = sizeof options, .narrow = "z"};
    const weft_fragment fragment = {"test.weft", script};
    weft_library *library = NULL;
    weft_device *device = NULL;
    weft_compilation *compilation = NULL;
    weft_error error = {0};
    case_check(weft_library_make(&library, &error), &error);
    case_check(weft_device_open("host:1", NULL, &device, &error), &error);
    assert_int_equal(weft_compile(library, weft_device_limits(device), &fragment, 1, &options,
                                  &compilation, &error),
                     WEFT_ERROR_UNSUPPORTED);
    assert_null(compilation);
    weft_device_free(&device);
    weft_library_free(&library);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(floats_are_read_as_doubles),
                                       cmocka_unit_test(the_host_refuses)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
