/* labels: quick */
/* Device memory: bounds, padding, wrapping, counts; the null device holds nothing. */
#include "core/device/device.h"
#include "core/weft_core.h"
#include "test_support.h"

#include <stdlib.h>
#include <string.h>

static weft_device *open_device(const char *name) {
    weft_device *device = NULL;
    weft_error error;
    if (weft_device_open(name, NULL, &device, &error) != WEFT_OK)
        fail_msg("%s: %s", name, error.message);
    return device;
}

static void reads_and_writes_stay_inside(void **state) {
    static const char *const names[] = {"host:1", "null"};
    (void)state;
    for (int k = 0; k < 2; ++k) {
        weft_device *device = open_device(names[k]);
        weft_memory *memory = NULL;
        weft_error error;
        char bytes[200] = {1, 2, 3};
        assert_int_equal(weft_memory_make(device, 100, &memory, &error), WEFT_OK);
        assert_int_equal(weft_memory_bytes(memory), 100);
        static const struct {
            size_t offset, n;
            weft_status status;
        } cases[] = {
            {0, 100, WEFT_OK},          {0, 101, WEFT_ERROR_USAGE},
            {99, 1, WEFT_OK},           {99, 2, WEFT_ERROR_USAGE},
            {100, 0, WEFT_OK},          {100, 1, WEFT_ERROR_USAGE},
            {101, 0, WEFT_ERROR_USAGE}, {SIZE_MAX, 2, WEFT_ERROR_USAGE},
            {50, 50, WEFT_OK},          {2, SIZE_MAX, WEFT_ERROR_USAGE},
        };
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
            assert_int_equal(weft_memory_write(memory, cases[i].offset, bytes, cases[i].n, &error),
                             cases[i].status);
            assert_int_equal(weft_memory_read(memory, cases[i].offset, bytes, cases[i].n, &error),
                             cases[i].status);
        }
        weft_memory_free(&memory);
        assert_null(memory);
        weft_memory_free(&memory);
        weft_memory_free(NULL);
        weft_device_free(&device);
    }
}

static void what_is_written_is_read(void **state) {
    (void)state;
    weft_device *device = open_device("host:1");
    weft_memory *memory = NULL;
    double values[50], back[50];
    for (int i = 0; i < 50; ++i)
        values[i] = i * 0.37;
    assert_int_equal(weft_memory_make(device, 100 * sizeof(double), &memory, NULL), WEFT_OK);
    const unsigned char *host = weft_memory_host(memory);
    assert_int_equal((uintptr_t)host % 64, 0);
    for (size_t i = 0; i < 800 + WEFT_PADDING; ++i)
        assert_int_equal(host[i], 0);
    assert_int_equal(weft_memory_write(memory, 240, values, sizeof values, NULL), WEFT_OK);
    assert_int_equal(weft_memory_read(memory, 240, back, sizeof back, NULL), WEFT_OK);
    assert_memory_equal(back, values, sizeof values);
    assert_int_equal(host[239], 0);
    assert_int_equal(host[240 + sizeof values], 0);
    assert_int_equal(weft_memory_zero(memory, NULL), WEFT_OK);
    for (size_t i = 0; i < 800; ++i)
        assert_int_equal(host[i], 0);
    weft_memory_free(&memory);
    weft_device_free(&device);
}

static void wrapped_memory_is_the_callers(void **state) {
    (void)state;
    weft_device *device = open_device("host:1");
    weft_memory *memory = NULL;
    weft_error error;
    double *array = weft_array_make(10, sizeof *array), value = 5;
    assert_int_equal(weft_memory_wrap(device, array, 80, &memory, &error), WEFT_OK);
    assert_ptr_equal(weft_memory_host(memory), array);
    assert_int_equal(weft_memory_write(memory, 72, &value, 8, &error), WEFT_OK);
    assert_double_near(array[9], 5, 0, 0);
    weft_memory_free(&memory);
    assert_double_near(array[9], 5, 0, 0); /* still there */
    assert_int_equal(weft_memory_wrap(device, NULL, 80, &memory, &error), WEFT_ERROR_USAGE);
    weft_device_free(&device);
    free(array);
}

static void null_holds_nothing(void **state) {
    (void)state;
    weft_device *device = open_device("null:h200");
    weft_memory *memory = NULL;
    double value = 5;
    /* more than any machine that runs this test has */
    assert_int_equal(weft_memory_make(device, 140000000000, &memory, NULL), WEFT_OK);
    assert_null(weft_memory_host(memory));
    assert_int_equal(weft_memory_write(memory, 0, &value, 8, NULL), WEFT_OK);
    assert_int_equal(weft_memory_read(memory, 0, &value, 8, NULL), WEFT_OK);
    assert_double_near(value, 0, 0, 0);
    assert_int_equal(weft_memory_zero(memory, NULL), WEFT_OK);
    weft_memory_free(&memory);
    weft_device_free(&device);
}

static void too_much_is_refused(void **state) {
    static const char *const names[] = {"host:1", "null:h200"};
    (void)state;
    for (int k = 0; k < 2; ++k) {
        weft_device *device = open_device(names[k]);
        weft_memory *memory = NULL, *small = NULL;
        weft_error error;
        size_t most = weft_device_limits(device)->memory_bytes;
        const size_t sizes[] = {most + 1, SIZE_MAX, SIZE_MAX - 64, SIZE_MAX / 2};
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) {
            assert_int_equal(weft_memory_make(device, sizes[i], &memory, &error),
                             WEFT_ERROR_MEMORY);
            assert_non_null(strstr(error.message, "out of memory"));
            assert_null(memory);
        }
        assert_int_equal(weft_memory_make(device, 4096, &small, &error), WEFT_OK);
        assert_int_equal(weft_memory_make(device, most - 4095, &memory, &error), WEFT_ERROR_MEMORY);
        weft_memory_free(&small);
        weft_device_free(&device);
    }
}

static void bytes_are_counted(void **state) {
    (void)state;
    weft_device *device = open_device("host:1");
    weft_memory *a = NULL, *b = NULL, *c = NULL;
    void *array = weft_array_make(500, 1);
    assert_int_equal(weft_device_bytes(device), 0);
    assert_int_equal(weft_memory_make(device, 1000, &a, NULL), WEFT_OK);
    assert_int_equal(weft_memory_wrap(device, array, 500, &b, NULL), WEFT_OK);
    assert_int_equal(weft_device_bytes(device), 1500);
    weft_memory_free(&a);
    assert_int_equal(weft_device_bytes(device), 500);
    assert_int_equal(weft_memory_make(device, 200, &c, NULL), WEFT_OK);
    assert_int_equal(weft_device_bytes_peak(device), 1500);
    weft_memory_free(&b);
    weft_memory_free(&c);
    assert_int_equal(weft_device_bytes(device), 0);
    assert_int_equal(weft_device_bytes_peak(device), 1500);
    weft_device_free(&device);
    free(array);
}

/* Without storage a memory is not counted; whatever uses it makes that again, as often as it is evicted, or says
 * that there is not enough memory. What is used in place stays. */
static void evicted_until_used(void **state) {
    (void)state;
    weft_device *device = open_device("host:1");
    weft_memory *memory = NULL, *wrapped = NULL, *lost = NULL, *other = NULL;
    weft_error error = {0};
    double values[50], back[50];
    for (int i = 0; i < 50; ++i)
        values[i] = i * 0.37;
    assert_int_equal(weft_memory_make(device, sizeof values, &memory, NULL), WEFT_OK);
    assert_int_equal(weft_memory_make(device, sizeof values, &lost, NULL), WEFT_OK);
    assert_int_equal(weft_memory_wrap(device, values, sizeof values, &wrapped, NULL), WEFT_OK);
    assert_int_equal(weft_memory_make(device, sizeof values, &other, NULL), WEFT_OK);
    const size_t before = weft_device_bytes(device);
    weft_memory_evict(wrapped, values);
    assert_ptr_equal(weft_memory_host(wrapped), values);
    for (int use = 0; use < 5; ++use) {
        const double first = use == 0 ? 7.5 : use == 1 ? 0 : values[0];
        weft_memory_evict(memory, values);
        weft_memory_evict(memory, values);
        assert_int_equal(weft_device_bytes(device), before - sizeof values);
        assert_int_equal(weft_memory_bytes(memory), sizeof values);
        if (use == 0)
            assert_int_equal(weft_memory_write(memory, 0, &first, sizeof first, NULL), WEFT_OK);
        else if (use == 1)
            assert_int_equal(weft_memory_zero(memory, NULL), WEFT_OK);
        else if (use == 2)
            assert_int_equal(weft_memory_copy(other, memory, sizeof values, NULL), WEFT_OK);
        else if (use == 3)
            assert_non_null(weft_memory_address(memory));
        assert_int_equal(weft_memory_read(use == 2 ? other : memory, 0, back, sizeof back, NULL),
                         WEFT_OK);
        assert_int_equal(weft_device_bytes(device), before);
        for (int i = 0; i < 50; ++i)
            assert_double_near(back[i], i == 0 ? first : use == 1 ? 0 : values[i], 0, 0);
    }
    weft_memory_evict(lost, values);
    device->limits.memory_bytes = weft_device_bytes(device) + sizeof values - 1;
    assert_int_equal(weft_memory_read(lost, 0, back, sizeof back, &error), WEFT_ERROR_MEMORY);
    assert_null(weft_memory_address(lost));
    weft_memory_free(&lost);
    weft_memory_free(&other);
    weft_memory_free(&memory);
    weft_memory_free(&wrapped);
    assert_int_equal(weft_device_bytes(device), 0);
    weft_device_free(&device);
}

static void note_stream(void *user, void *stream) {
    void **seen = user;
    seen[0] = user;
    seen[1] = stream;
}

/* The host has no stream of its own. */
static void work_of_others_is_called(void **state) {
    (void)state;
    weft_device *device = open_device("host:1");
    weft_error error;
    void *seen[2] = {NULL, &error};
    assert_int_equal(weft_device_lend(device, note_stream, seen, &error), WEFT_OK);
    assert_ptr_equal(seen[0], seen);
    assert_null(seen[1]);
    weft_device_free(&device);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_and_writes_stay_inside),
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(evicted_until_used),
        cmocka_unit_test(wrapped_memory_is_the_callers),
        cmocka_unit_test(null_holds_nothing),
        cmocka_unit_test(too_much_is_refused),
        cmocka_unit_test(bytes_are_counted),
        cmocka_unit_test(work_of_others_is_called),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
