/* labels: quick */
/* The tuning database's functions, rerun with their n-th allocation failing. */
#include "allocation.h"
#include "core/weft_core.h"
#include "core/weft_tuning.h"
#include "test_support.h"

#include <stdlib.h>

static weft_status use_all(void *user, weft_error *error) {
    static const char device[] = "00000000000000000000000000000001";
    weft_status status = WEFT_OK;
    weft_tuning *tuning = NULL;
    weft_arena *arena = NULL;
    weft_tuning_device *list = NULL;
    weft_tuning_time times[40], *read = NULL;
    weft_tuning_best_plan best_plan = {device, 3, "a cover", 1, 2}, recalled;
    size_t n = 0;
    int64_t n_entries = 0, n_damaged = 0;
    double value = 0;
    bool found = false;
    for (int i = 0; i < 40; ++i)
        times[i] = (weft_tuning_time){"load", {32, 0, i + 1, 0}, 1e-9};
    const weft_device_options options = {.size = sizeof options, .cache_directory = user};
    TRY(weft_tuning_open(&options, &tuning, error));
    TRY(weft_arena_make(&arena, error));
    TRY(weft_tuning_describe(tuning, device, "a device", error));
    TRY(weft_tuning_add_times(tuning, device, times, 40, error));
    TRY(weft_tuning_set(tuning, device, "launch", 1, error));
    TRY(weft_tuning_get(tuning, device, "launch", &value, &found, error));
    TRY(weft_tuning_store(tuning, device, &best_plan, error));
    TRY(weft_tuning_times(tuning, device, "load", arena, &read, &n, error));
    TRY(weft_tuning_lookup(tuning, device, device, 3, arena, &recalled, error));
    TRY(weft_tuning_list(tuning, &list, &n, error));
    TRY(weft_tuning_verify(tuning, false, &n_entries, &n_damaged, error));
    TRY(weft_tuning_forget(tuning, device, error));
done:
    free(list);
    weft_arena_free(&arena);
    weft_tuning_close(&tuning);
    return status;
}

static void every_allocation(void **state) {
    (void)state;
    char *folder = test_folder_make(), *cache = test_path(folder, "cache");
    assert_true(test_every_allocation("tuning", use_all, cache) >= 5);
    free(cache);
    test_folder_remove(&folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_allocation)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
