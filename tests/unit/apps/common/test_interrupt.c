/* labels: quick */
/* Ctrl-C: the first is remembered, the second ends the program at once; one that is ignored stays
 * ignored; and afterwards all is as it was. */
#include "apps/common/support.h"
#include "test_support.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static int end_of(void (*run)(void)) {
    int how = 0;
    const pid_t child = fork();
    if (child == 0) {
        run();
        _exit(7);
    }
    assert_int_equal(waitpid(child, &how, 0), child);
    return WIFSIGNALED(how) ? 1000 + WTERMSIG(how) : WEXITSTATUS(how);
}

static void twice(void) {
    app_stop_catch();
    raise(SIGTERM);
    if (app_stop_caught() != SIGTERM)
        _exit(1);
    raise(SIGINT);
}

static void once(void) {
    app_stop_catch();
    if (app_stop_caught() != 0)
        _exit(1);
    raise(SIGINT);
    _exit(app_stop_caught() == SIGINT ? 0 : 2);
}

static void ignored(void) {
    signal(SIGHUP, SIG_IGN); /* as nohup does */
    app_stop_catch();
    raise(SIGHUP);
    _exit(app_stop_caught() == 0 ? 0 : 2);
}

static void released(void) {
    app_stop_catch();
    app_stop_release();
    raise(SIGINT);
}

static void stopping(void **state) {
    (void)state;
    assert_int_equal(end_of(once), 0);
    assert_int_equal(end_of(twice), 1000 + SIGINT);
    assert_int_equal(end_of(ignored), 0);
    assert_int_equal(end_of(released), 1000 + SIGINT);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(stopping)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
