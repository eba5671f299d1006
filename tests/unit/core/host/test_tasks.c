/* labels: quick */
/* weft_device_for: each task once, on several threads at the same time, nested and from several
 * callers; the source of races that the thread sanitizer looks at. */
#include "core/weft_core.h"
#include "test_support.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static weft_device *open_device(const char *name) {
    weft_device *device = NULL;
    weft_error error;
    if (weft_device_open(name, NULL, &device, &error) != WEFT_OK)
        fail_msg("%s: %s", name, error.message);
    return device;
}

/* Not atomic: the tasks are independent, and their ends are seen by the caller. */
static void count_up(void *user, int64_t i) {
    ((int *)user)[i] += 1;
}

static void each_task_runs_once(void **state) {
    static const char *const names[] = {"null", "host:1", "host:2", "host:3", "host:4", "host:13"};
    static const int64_t sizes[] = {0, 1, 2, 3, 4, 5, 12, 13, 14, 100, 1001};
    int counts[1002];
    (void)state;
    for (size_t d = 0; d < sizeof names / sizeof names[0]; ++d) {
        weft_device *device = open_device(names[d]);
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; ++s) {
            memset(counts, 0, sizeof counts);
            for (int round = 0; round < 100; ++round)
                assert_int_equal(weft_device_for(device, sizes[s], count_up, counts, NULL),
                                 WEFT_OK);
            for (int64_t i = 0; i < sizes[s]; ++i)
                assert_int_equal(counts[i], 100);
            assert_int_equal(counts[sizes[s]], 0);
        }
        weft_error error;
        assert_int_equal(weft_device_for(device, -1, count_up, counts, &error), WEFT_ERROR_USAGE);
        assert_int_equal(weft_device_for(device, 1, NULL, counts, &error), WEFT_ERROR_USAGE);
        weft_device_free(&device);
    }
}

/* Sleeping workers wake again, and workers that never worked can be stopped. */
static void after_a_rest(void **state) {
    (void)state;
    for (int round = 0; round < 20; ++round) {
        weft_device *device = open_device("host:4");
        int counts[8] = {0};
        for (int i = 0; i < round % 3; ++i) {
            usleep(3000);
            assert_int_equal(weft_device_for(device, 8, count_up, counts, NULL), WEFT_OK);
        }
        for (int i = 0; i < 8; ++i)
            assert_int_equal(counts[i], round % 3);
        weft_device_free(&device);
    }
}

/* Each task waits until the other has begun: possible on two threads only. */
static void meet(void *user, int64_t i) {
    atomic_int *begun = user;
    double start = weft_clock();
    (void)i;
    atomic_fetch_add(begun, 1);
    while (atomic_load(begun) < 2 && weft_clock() - start < 30)
        sched_yield();
    if (atomic_load(begun) < 2)
        atomic_store(begun, -100);
}

static void tasks_run_at_the_same_time(void **state) {
    (void)state;
    weft_device *device = open_device("host:2");
    for (int round = 0; round < 50; ++round) {
        atomic_int begun = 0;
        assert_int_equal(weft_device_for(device, 2, meet, &begun, NULL), WEFT_OK);
        assert_int_equal(atomic_load(&begun), 2);
        if (round % 10 == 0)
            usleep(2000);
    }
    weft_device_free(&device);
}

static void in_order(void *user, int64_t i) {
    int64_t *last = user;
    *last = *last == i - 1 ? i : -100;
}

static void one_thread_keeps_the_order(void **state) {
    static const char *const names[] = {"null", "host:1"};
    (void)state;
    for (int d = 0; d < 2; ++d) {
        weft_device *device = open_device(names[d]);
        int64_t last = -1;
        assert_int_equal(weft_device_for(device, 1000, in_order, &last, NULL), WEFT_OK);
        assert_int_equal(last, 999);
        weft_device_free(&device);
    }
}

typedef struct nested {
    weft_device *device;
    int (*counts)[50];
} nested;

static void start_others(void *user, int64_t i) {
    const nested *n = user;
    weft_device_for(n->device, 50, count_up, n->counts[i], NULL);
}

static void tasks_may_start_tasks(void **state) {
    static int counts[40][50];
    (void)state;
    nested n = {open_device("host:3"), counts};
    assert_int_equal(weft_device_for(n.device, 40, start_others, &n, NULL), WEFT_OK);
    for (int i = 0; i < 40; ++i)
        for (int k = 0; k < 50; ++k)
            assert_int_equal(counts[i][k], 1);
    weft_device_free(&n.device);
}

typedef struct caller {
    weft_device *device;
    int counts[64];
} caller;

static void *call_often(void *user) {
    caller *c = user;
    for (int round = 0; round < 500; ++round)
        weft_device_for(c->device, 64, count_up, c->counts, NULL);
    return NULL;
}

static void several_callers(void **state) {
    (void)state;
    weft_device *device = open_device("host:2");
    static caller callers[3];
    pthread_t threads[3];
    for (int i = 0; i < 3; ++i) {
        callers[i].device = device;
        assert_int_equal(pthread_create(&threads[i], NULL, call_often, &callers[i]), 0);
    }
    for (int i = 0; i < 3; ++i)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 3; ++i)
        for (int k = 0; k < 64; ++k)
            assert_int_equal(callers[i].counts[k], 500);
    weft_device_free(&device);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_task_runs_once),        cmocka_unit_test(after_a_rest),
        cmocka_unit_test(tasks_run_at_the_same_time), cmocka_unit_test(one_thread_keeps_the_order),
        cmocka_unit_test(tasks_may_start_tasks),      cmocka_unit_test(several_callers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
