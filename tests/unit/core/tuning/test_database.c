/* labels: quick */
/* What is put into the tuning database comes back, by device; the file is the owner's alone. */
#include "core/weft_core.h"
#include "core/weft_tuning.h"
#include "tuning_support.h"

#include <math.h>

static const char one[] = "00000000000000000000000000000001";
static const char two[] = "00000000000000000000000000000002";

static void times_come_back(void **state) {
    (void)state;
    weft_error error = {0};
    tuning_place *place = tuning_place_make();
    weft_tuning *tuning = tuning_open(place);
    assert_true(strstr(weft_tuning_path(tuning), "/tuning-1.sqlite") != NULL);
    tuning_add(tuning, one, "load a", 5);
    tuning_add(tuning, one, "load b", 2);
    tuning_add(tuning, two, "load a", 1);
    tuning_add(tuning, one, "load a", 5); /* replaced, not doubled */
    weft_tuning_close(&tuning);
    assert_null(tuning);

    tuning = tuning_open(place); /* another run */
    assert_int_equal(tuning_count(tuning, one, "load a"), 5);
    assert_int_equal(tuning_count(tuning, one, NULL), 7);
    assert_int_equal(tuning_count(tuning, two, NULL), 1);
    assert_int_equal(tuning_count(tuning, "", NULL), 0);

    /* all or none: the second is not a time */
    const weft_tuning_time bad[] = {{"load c", {32, 0, 1, 0}, 1e-9},
                                    {"load c", {32, 0, 2, 0}, NAN}};
    assert_int_equal(weft_tuning_add_times(tuning, one, bad, 2, &error), WEFT_ERROR_USAGE);
    assert_non_null(strstr(error.message, "load c"));
    assert_int_equal(tuning_count(tuning, one, "load c"), 0);

    tuning_ok(weft_tuning_forget(tuning, one, &error), &error);
    assert_int_equal(tuning_count(tuning, one, NULL), 0);
    assert_int_equal(tuning_count(tuning, two, NULL), 1);
    weft_tuning_close(&tuning);

    struct stat info;
    assert_int_equal(stat(place->file, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    assert_int_equal(stat(place->cache, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0700);
    assert_int_equal(place->log.warnings, 0);
    tuning_place_free(place);
}

static void numbers_kernels_and_best_plans(void **state) {
    (void)state;
    weft_error error = {0};
    double value = 0;
    bool found = true;
    weft_arena *arena = NULL;
    tuning_place *place = tuning_place_make();
    weft_tuning *tuning = tuning_open(place);
    tuning_ok(weft_arena_make(&arena, &error), &error);
    tuning_ok(weft_tuning_get(tuning, one, "launch", &value, &found, &error), &error);
    assert_false(found);
    tuning_ok(weft_tuning_set(tuning, one, "launch", 3, &error), &error); /* a whole number too */
    tuning_ok(weft_tuning_set(tuning, one, "launch", 0.25, &error), &error);
    tuning_ok(weft_tuning_get(tuning, one, "launch", &value, &found, &error), &error);
    assert_true(found);
    assert_double_near(value, 0.25, 0, 0);
    tuning_ok(weft_tuning_get(tuning, two, "launch", &value, &found, &error), &error);
    assert_false(found);
    assert_int_equal(weft_tuning_set(tuning, one, "launch", INFINITY, &error), WEFT_ERROR_USAGE);

    const weft_tuning_kernel kernel = {two, "k0_mmul", 1000, 1e-6, 2e-6};
    tuning_ok(weft_tuning_add_kernel(tuning, one, &kernel, &error), &error);
    weft_tuning_kernel *kernels = NULL;
    size_t n = 0;
    tuning_ok(weft_tuning_kernels(tuning, one, arena, &kernels, &n, &error), &error);
    assert_int_equal(n, 1);
    assert_string_equal(kernels[0].name, "k0_mmul");
    assert_int_equal(kernels[0].elements, 1000);
    assert_double_near(kernels[0].measured, 2e-6, 0, 0);

    weft_tuning_best_plan best_plan = {two, 4, "fuse {J, G}; it's 'quoted'", 3e-6, 4e-6}, got;
    tuning_ok(weft_tuning_store(tuning, one, &best_plan, &error), &error);
    tuning_ok(weft_tuning_lookup(tuning, one, two, 4, arena, &got, &error), &error);
    assert_string_equal(got.cover, best_plan.cover);
    assert_double_near(got.seconds, 4e-6, 0, 0);
    tuning_ok(weft_tuning_lookup(tuning, one, two, 5, arena, &got, &error), &error);
    assert_null(got.cover);
    tuning_ok(weft_tuning_lookup(tuning, two, two, 4, arena, &got, &error), &error);
    assert_null(got.cover);
    best_plan.seconds = 0;
    assert_int_equal(weft_tuning_store(tuning, one, &best_plan, &error), WEFT_ERROR_USAGE);

    weft_tuning_device *list = NULL;
    tuning_ok(weft_tuning_describe(tuning, one, "a device", &error), &error);
    tuning_ok(weft_tuning_list(tuning, &list, &n, &error), &error);
    assert_int_equal(n, 1);
    assert_string_equal(list[0].description, "a device");
    assert_int_equal(list[0].n_kernels + list[0].n_best_plans + list[0].n_numbers, 3);
    assert_int_equal(list[0].n_times, 0);
    free(list);
    weft_arena_free(&arena);
    weft_tuning_close(&tuning);
    tuning_place_free(place);
}

static void size_classes(void **state) {
    (void)state;
    /* 1024 = 4^5: class k >= 1 is [4^(k+4), 4^(k+5)) */
    const struct {
        int64_t n;
        int class;
    } cases[] = {{0, 0},     {1, 0},        {1023, 0},
                 {1024, 1},  {4095, 1},     {4096, 2},
                 {65535, 3}, {10000000, 7}, {(int64_t)1 << 40, 16}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
        assert_int_equal(weft_tuning_size_class(cases[i].n), cases[i].class);
}

/* The key of a device: the same each time, and other for what times depend on. */
static void identities(void **state) {
    (void)state;
    static const char *const names[] = {"host:1", "host:2", "null", "null:h200", "host:1"};
    char keys[5][33];
    weft_error error = {0};
    for (int i = 0; i < 5; ++i) {
        weft_device_options options = {.size = sizeof options, .compiler = "cc"};
        weft_device *device = NULL;
        tuning_ok(weft_device_open(names[i], &options, &device, &error), &error);
        weft_device_identity(device, keys[i]);
        weft_device_free(&device);
        for (int k = 0; k < i; ++k)
            assert_int_equal(strcmp(keys[i], keys[k]) == 0, k == 0 && i == 4);
    }
    weft_device_options options = {.size = sizeof options, .compiler = "another-cc"};
    weft_device *device = NULL;
    tuning_ok(weft_device_open("host:1", &options, &device, &error), &error);
    weft_device_identity(device, keys[1]);
    assert_string_not_equal(keys[0], keys[1]);
    weft_device_free(&device);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_come_back),
        cmocka_unit_test(numbers_kernels_and_best_plans),
        cmocka_unit_test(size_classes),
        cmocka_unit_test(identities),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
