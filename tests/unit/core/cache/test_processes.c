/* labels: quick */
/* Many processes at one cache: one compiles and the others take its entry; one that is killed
 * leaves nothing that harms or stays. */
#include "cache_support.h"
#include "core/weft_core.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

enum { N_PROCESSES = 8, CACHED = 0, COMPILED = 10, FAILED = 20 };

/* In the child: no cmocka there. */
static int child_result(const cache_place *place, int value) {
    weft_error error;
    double answer = 0;
    bool cached = false;
    if (run_kernel(&place->options, value, &answer, &cached, NULL, &error) != WEFT_OK)
        return FAILED;
    if (answer < value || answer > value)
        return FAILED + 1;
    return cached ? CACHED : COMPILED;
}

static int wait_for(pid_t child) {
    int result = 0;
    assert_int_equal(waitpid(child, &result, 0), child);
    return WIFEXITED(result) ? WEXITSTATUS(result) : 128 + WTERMSIG(result);
}

static void eight_compile_the_same_source(void **state) {
    (void)state;
    cache_place *place = place_make();
    for (int round = 0; round < 3; ++round) {
        pid_t children[N_PROCESSES];
        int gate[2], n_compiled = 0;
        char byte;
        assert_int_equal(pipe(gate), 0);
        for (int i = 0; i < N_PROCESSES; ++i) {
            children[i] = fork();
            assert_true(children[i] >= 0);
            if (children[i] == 0) {
                close(gate[1]);
                if (read(gate[0], &byte, 1) != 0) /* until the parent closes its end */
                    _exit(FAILED + 2);
                _exit(child_result(place, 7 + round));
            }
        }
        close(gate[0]);
        close(gate[1]);
        for (int i = 0; i < N_PROCESSES; ++i) {
            int result = wait_for(children[i]);
            n_compiled += result == COMPILED;
            if (result != COMPILED)
                assert_int_equal(result, CACHED);
        }
        assert_int_equal(n_compiled, 1);
        assert_true(kernel_runs(place, 7 + round));
    }
    assert_int_equal(n_invalid(place), 0);
    assert_int_equal(count_files(place->cache, "tmp-", "", NULL, 0), 0);
    place_free(place);
}

static void *thread_result(void *user) {
    static const int results[] = {CACHED, COMPILED};
    int result = child_result(user, 5);
    return result == COMPILED ? (void *)&results[1] : result == CACHED ? (void *)&results[0] : NULL;
}

static void threads_with_a_device_each(void **state) {
    (void)state;
    cache_place *place = place_make();
    pthread_t threads[4];
    int n_compiled = 0;
    place->options.monitor = NULL; /* the test's log is not made for threads */
    for (int i = 0; i < 4; ++i)
        assert_int_equal(pthread_create(&threads[i], NULL, thread_result, place), 0);
    for (int i = 0; i < 4; ++i) {
        void *result = NULL;
        assert_int_equal(pthread_join(threads[i], &result), 0);
        assert_non_null(result);
        n_compiled += *(int *)result == COMPILED;
    }
    assert_int_equal(n_compiled, 1);
    place_free(place);
}

static void killed_while_the_compiler_runs(void **state) {
    (void)state;
    cache_place *place = place_make();
    char *slow = test_path(place->folder, "slow"), *started = test_path(place->folder, "started");
    test_text_write(slow, "");
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(child_result(place, 3));
    double start = weft_clock();
    while (access(started, F_OK) != 0 && weft_clock() - start < 60)
        usleep(1000);
    assert_int_equal(access(started, F_OK), 0);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(wait_for(child), 128 + SIGKILL);
    assert_int_equal(count_files(place->cache, "tmp-", "", NULL, 0), 1); /* what it left */
    assert_int_equal(unlink(slow), 0);
    assert_false(kernel_runs(place, 3));
    assert_true(kernel_runs(place, 3));
    assert_int_equal(count_files(place->cache, "tmp-", "", NULL, 0), 0);
    assert_int_equal(n_invalid(place), 0);
    assert_int_equal(place->log.warnings, 0);
    free(slow);
    free(started);
    place_free(place);
}

static void what_others_left_is_swept_and_what_they_use_is_not(void **state) {
    (void)state;
    cache_place *place = place_make();
    char *slow = test_path(place->folder, "slow"), *started = test_path(place->folder, "started");
    assert_false(kernel_runs(place, 1));
    /* in use by a process that compiles another kernel */
    test_text_write(slow, "");
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(child_result(place, 3));
    double start = weft_clock();
    while (access(started, F_OK) != 0 && weft_clock() - start < 60)
        usleep(1000);
    /* left by nobody that lives */
    char *dead = test_path(place->cache, "tmp-00000000000000000000000000000001-0123456789abcdef");
    char *part = test_path(dead, "module.o");
    assert_int_equal(mkdir(dead, 0700), 0);
    test_text_write(part, "x");
    assert_int_equal(count_files(place->cache, "tmp-", "", NULL, 0), 2);
    place->options.compiler = real_compiler();
    assert_false(kernel_runs(place, 2));
    assert_int_equal(count_files(place->cache, "tmp-", "", NULL, 0), 1);
    assert_int_not_equal(access(dead, F_OK), 0);
    assert_int_equal(unlink(slow), 0);
    assert_int_equal(wait_for(child), FAILED); /* its compiler fails then */
    assert_int_equal(count_files(place->cache, "tmp-", "", NULL, 0), 0);
    free(dead);
    free(part);
    free(slow);
    free(started);
    place_free(place);
}

static void killed_at_any_moment(void **state) {
    (void)state;
    cache_place *place = place_make();
    for (int i = 0; i < 40; ++i) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0)
            _exit(child_result(place, 100 + i / 4));
        usleep((useconds_t)(1500 * i));
        kill(child, SIGKILL);
        wait_for(child);
        if (i % 4 == 3) {
            kernel_runs(place, 100 + i / 4);
            assert_true(kernel_runs(place, 100 + i / 4));
        }
        assert_int_equal(n_invalid(place), 0);
    }
    assert_false(kernel_runs(place, 99)); /* compiling sweeps */
    assert_int_equal(count_files(place->cache, "tmp-", "", NULL, 0), 0);
    assert_int_equal(place->log.warnings, 0);
    place_free(place);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(eight_compile_the_same_source),
        cmocka_unit_test(threads_with_a_device_each),
        cmocka_unit_test(killed_while_the_compiler_runs),
        cmocka_unit_test(what_others_left_is_swept_and_what_they_use_is_not),
        cmocka_unit_test(killed_at_any_moment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
