/* labels: quick */
/* The file of the tuning database can grow no more after it was opened: what is measured then is
 * kept in memory, with what the file has, and one warning says so. */
#include "core/weft_core.h"
#include "core/weft_tuning.h"
#include "tuning_support.h"

#include <signal.h>
#include <sys/resource.h>

static const char one[] = "00000000000000000000000000000001";

static void set_limit(rlim_t bytes) {
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void writes_go_on_in_memory(void **state) {
    (void)state;
    weft_error error = {0};
    struct stat info;
    double value = 0;
    bool found = false;
    tuning_place *place = tuning_place_make();
    weft_tuning *tuning = tuning_open(place);
    tuning_add(tuning, one, "load a", 5);
    assert_int_equal(stat(place->file, &info), 0);
    signal(SIGXFSZ, SIG_IGN);
    set_limit((rlim_t)info.st_size); /* the file may not grow */
    tuning_add(tuning, one, "load b", 3000);
    tuning_ok(weft_tuning_set(tuning, one, "launch", 2.5, &error), &error);
    assert_int_equal(tuning_count(tuning, one, "load a"), 5);
    assert_int_equal(tuning_count(tuning, one, "load b"), 3000);
    tuning_ok(weft_tuning_get(tuning, one, "launch", &value, &found, &error), &error);
    assert_true(found && value == 2.5);
    assert_int_equal(place->log.warnings, 1);
    assert_string_equal(weft_tuning_path(tuning), "");
    weft_tuning_close(&tuning);
    set_limit(RLIM_INFINITY);

    tuning = tuning_open(place);
    assert_int_equal(tuning_count(tuning, one, "load a"), 5);
    assert_in_range(tuning_count(tuning, one, "load b"), 0, 2999); /* what had room in its pages */
    weft_tuning_close(&tuning);
    tuning_place_free(place);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(writes_go_on_in_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
