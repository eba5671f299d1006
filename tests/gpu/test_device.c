/* labels: gpu */
/* The cuda device on a GPU: limits, memory, launches. All numbers are exact in double. */
#include "core/weft_core.h"
#include "gpu_support.h"

static void limits(void **state) {
    (void)state;
    weft_device *device = gpu_open(NULL);
    const weft_limits *l = weft_device_limits(device);
    assert_int_equal(l->kind, WEFT_DEVICE_CUDA);
    assert_int_equal(l->lanes_double, 32);
    assert_int_equal(l->lanes_float, 32);
    assert_int_equal(strncmp(l->name, "cuda:0: ", 8), 0);
    assert_non_null(strstr(l->name, ", sm_"));
    assert_true(l->threads >= 1);
    assert_true(l->register_bytes >= 128 << 10 && l->register_bytes <= 1 << 20);
    assert_true(l->onchip_bytes >= 48 << 10 && l->onchip_bytes <= 1 << 20);
    assert_true(l->memory_bytes > (size_t)1 << 30);
    assert_true(l->bandwidth > 1e11 && l->bandwidth < 1e14);
    assert_true(l->flops > 1e10 && l->flops < 1e15);
    print_message("%s: %.4g GB, %.4g TB/s, %.4g Tflop/s, %zu registers' bytes, %zu shared\n",
                  l->name, (double)l->memory_bytes * 1e-9, l->bandwidth * 1e-12, l->flops * 1e-12,
                  l->register_bytes, l->onchip_bytes);
    weft_device_free(&device);
}

/* Sizes about pieces of 1 MB, which threads copy, and of the 16 buffers that these use. */
static void what_is_written_is_read(void **state) {
    (void)state;
    weft_device *device = gpu_open(NULL);
    weft_error error = {0};
    const size_t stage = 16 << 20, piece = 1 << 20;
    const size_t sizes[] = {
        1,         3,     7,         1023,      piece - 1,     2 * piece,        2 * piece + 1,
        stage - 1, stage, stage + 1, 2 * stage, 2 * stage + 1, 5 * stage + 12345};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) {
        size_t n = sizes[i], offset = i % 5;
        unsigned char *a = malloc(n), *b = calloc(n + 10, 1);
        for (size_t k = 0; k < n; ++k)
            a[k] = (unsigned char)((k * 2654435761u + i) >> 7 | 1);
        weft_memory *memory = gpu_memory(device, NULL, n + 10);
        assert_null(weft_memory_host(memory));
        gpu_check(weft_memory_write(memory, offset, a, n, &error), &error);
        memset(a, 0, n); /* it is the caller's again */
        gpu_check(weft_memory_read(memory, 0, b, n + 10, &error), &error);
        size_t wrong = 0;
        for (size_t k = 0; k < n; ++k)
            wrong += b[offset + k] != (unsigned char)((k * 2654435761u + i) >> 7 | 1);
        for (size_t k = 0; k < offset; ++k)
            wrong += b[k] != 0;
        for (size_t k = offset + n; k < n + 10; ++k)
            wrong += b[k] != 0;
        assert_int_equal(wrong, 0);
        assert_int_equal(weft_memory_read(memory, n, b, 11, &error), WEFT_ERROR_USAGE);
        weft_memory_free(&memory);
        free(a);
        free(b);
    }
    assert_int_equal(weft_device_bytes(device), 0);
    weft_device_free(&device);
}

/* Memory that was used before comes back zeroed, padding included. */
static void zeros(void **state) {
    (void)state;
    weft_device *device = gpu_open(NULL);
    weft_module *module = gpu_module(device);
    weft_error error = {0};
    enum { PAST = WEFT_PADDING / sizeof(double) };
    double *ones = malloc(1 << 20), back[PAST];
    for (int i = 0; i < (1 << 20) / 8; ++i)
        ones[i] = 1;
    for (int round = 0; round < 4; ++round) {
        weft_memory *large = gpu_memory(device, ones, 1 << 20);
        weft_memory_free(&large);
        weft_memory *small = gpu_memory(device, ones, 40);
        weft_memory *out = gpu_memory(device, ones, sizeof back);
        weft_memory *arguments[] = {small, out};
        weft_launch launch = gpu_launch(module, "past_five", arguments, 2, PAST);
        gpu_check(weft_device_launch(device, &launch, &error), &error);
        gpu_check(weft_memory_read(out, 0, back, sizeof back, &error), &error);
        for (int i = 0; i < PAST; ++i)
            assert_double_near(back[i], 0, 0, 0);
        gpu_check(weft_memory_zero(small, &error), &error);
        gpu_check(weft_memory_read(small, 0, back, 40, &error), &error);
        for (int i = 0; i < 5; ++i)
            assert_double_near(back[i], 0, 0, 0);
        weft_memory_free(&small);
        weft_memory_free(&out);
    }
    weft_memory *nothing = gpu_memory(device, NULL, 0);
    gpu_check(weft_memory_zero(nothing, &error), &error);
    weft_memory_free(&nothing);
    free(ones);
    weft_module_free(&module);
    weft_device_free(&device);
}

static void launches_of_any_size(void **state) {
    (void)state;
    static const int64_t sizes[] = {0, 1, 31, 32, 33, 127, 128, 129, 10000000};
    weft_device *device = gpu_open(NULL);
    weft_module *module = gpu_module(device);
    weft_error error = {0};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; ++s) {
        size_t n = (size_t)sizes[s], spare = 200, bytes = (n + spare) * 8;
        double *x = weft_array_make(n + spare, 8), *y = weft_array_make(n + spare, 8);
        for (size_t i = 0; i < n + spare; ++i) {
            x[i] = (double)i + 1;
            y[i] = 5;
        }
        weft_memory *mx = gpu_memory(device, x, bytes), *my = NULL;
        gpu_check(weft_memory_wrap(device, y, bytes, &my, &error), &error);
        weft_memory *arguments[] = {my, mx};
        weft_launch launch = gpu_launch(module, "axpy", arguments, 2, sizes[s]);
        launch.block_threads = s % 2 ? 256 : 0;
        gpu_check(weft_device_launch(device, &launch, &error), &error);
        gpu_check(weft_device_wait(device, &error), &error);
        size_t wrong = 0;
        for (size_t i = 0; i < n + spare; ++i)
            wrong += y[i] > 5 || y[i] < 5; /* the caller's array is a copy */
        gpu_check(weft_memory_read(my, 0, y, bytes, &error), &error);
        for (size_t i = 0; i < n + spare; ++i) {
            double want = i < n ? 5 + 2 * ((double)i + 1) : 5;
            wrong += y[i] > want || y[i] < want;
        }
        assert_int_equal(wrong, 0);
        weft_memory_free(&mx);
        weft_memory_free(&my);
        free(x);
        free(y);
    }
    weft_module_free(&module);
    weft_device_free(&device);
}

/* 96 KB: more than a kernel gets unasked; 47.5 KB: less, but more with the 1 KB that it declares.
 */
static void much_shared_memory(void **state) {
    (void)state;
    static const int sizes[] = {384, 190};
    weft_device *device = gpu_open(NULL);
    weft_module *module = gpu_module(device);
    weft_error error = {0};
    for (int s = 0; s < 2; ++s) {
        const int n = sizes[s];
        double y[384];
        for (int i = 0; i < n; ++i)
            y[i] = i;
        weft_memory *memory = gpu_memory(device, y, (size_t)n * sizeof *y);
        weft_launch launch = gpu_launch(module, "mirror", &memory, 1, n);
        launch.block_threads = n;
        launch.shared_bytes = n * 32 * 8;
        gpu_check(weft_device_launch(device, &launch, &error), &error);
        gpu_check(weft_memory_read(memory, 0, y, (size_t)n * sizeof *y, &error), &error);
        for (int i = 0; i < n; ++i)
            assert_double_near(y[i], n - 1 - i, 0, 0);
        weft_memory_free(&memory);
    }
    weft_module_free(&module);
    weft_device_free(&device);
}

typedef struct shared_work {
    weft_device *device;
    const weft_module *module;
    int wrong[16];
} shared_work;

static void one_of_many(void *user, int64_t i) {
    shared_work *work = user;
    enum { N = 5000 };
    double *x = malloc(N * sizeof *x);
    for (int round = 0; x && round < 20; ++round) {
        for (int k = 0; k < N; ++k)
            x[k] = k + (double)i;
        weft_memory *a = NULL, *b = NULL;
        bool good = weft_memory_make(work->device, N * 8, &a, NULL) == WEFT_OK &&
                    weft_memory_make(work->device, N * 8, &b, NULL) == WEFT_OK &&
                    weft_memory_write(a, 0, x, N * 8, NULL) == WEFT_OK;
        weft_memory *arguments[] = {b, a};
        weft_launch launch = gpu_launch(work->module, "axpy", arguments, 2, N);
        good = good && weft_device_launch(work->device, &launch, NULL) == WEFT_OK &&
               weft_memory_read(b, 0, x, N * 8, NULL) == WEFT_OK;
        for (int k = 0; k < N; ++k)
            work->wrong[i] += x[k] > 2 * (k + (double)i) || x[k] < 2 * (k + (double)i);
        work->wrong[i] += !good;
        weft_memory_free(&a);
        weft_memory_free(&b);
    }
    free(x);
}

static void many_threads(void **state) {
    (void)state;
    shared_work work = {.device = gpu_open(NULL)};
    weft_module *module = gpu_module(work.device);
    weft_error error = {0};
    work.module = module;
    gpu_check(weft_device_for(work.device, 16, one_of_many, &work, &error), &error);
    for (int i = 0; i < 16; ++i)
        assert_int_equal(work.wrong[i], 0);
    assert_int_equal(weft_device_bytes(work.device), 0);
    weft_module_free(&module);
    weft_device_free(&work.device);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits),
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(zeros),
        cmocka_unit_test(launches_of_any_size),
        cmocka_unit_test(much_shared_memory),
        cmocka_unit_test(many_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
