/* labels: quick */
/* Child programs: what they print and how they end, and each limit, which ends the child and what
 * it has started. The child is this program, or /bin/sh. */
#include "core/base/process.h"
#include "core/weft_core.h"
#include "test_support.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* Far more than a loaded machine needs, far less than the children sleep. */
enum { STAGNATION_WINDOW = 60 };

static weft_process_result run_with(weft_process_limits limits, const char *program,
                                    const char *first, const char *second, char *output,
                                    size_t size) {
    char *arguments[] = {(char *)(uintptr_t)program, (char *)(uintptr_t)first,
                         (char *)(uintptr_t)second, NULL};
    weft_process_start start = {.program = program,
                                .arguments = arguments,
                                .folder = -1,
                                .english = true,
                                .errors_too = true,
                                .limits = limits};
    weft_process_result result;
    weft_error error = {0};
    const double before = weft_clock();
    if (weft_process_run(&start, output, size, &result, &error) != WEFT_OK)
        fail_msg("%s", error.message);
    assert_true(weft_clock() - before < STAGNATION_WINDOW);
    return result;
}

static weft_process_result shell(weft_process_limits limits, const char *text, char *output,
                                 size_t size) {
    return run_with(limits, "/bin/sh", "-c", text, output, size);
}

static void what_it_says(void **state) {
    (void)state;
    char output[64];
    weft_process_result result =
        shell((weft_process_limits){0}, "echo one; echo two >&2; exit 5", output, sizeof output);
    assert_string_equal(output, "one\ntwo\n");
    assert_int_equal(result.exit_code, 5);
    assert_int_equal(result.limit, WEFT_LIMIT_NONE);
    result = shell((weft_process_limits){0}, "kill -11 $$", output, sizeof output);
    assert_int_equal(result.exit_code, 128 + 11);
    assert_int_equal(result.signal, 11);
    shell((weft_process_limits){0}, "echo $LC_ALL; cat; head -c 100 /dev/zero", output,
          sizeof output);
    assert_int_equal(strncmp(output, "C\n????", 6), 0);
    assert_int_equal(strlen(output), sizeof output - 1); /* cut */
    /* an argument is an argument, whatever is in it */
    run_with((weft_process_limits){0}, "/bin/echo", "$(exit 1); `x` 'y' \"z", "*", output,
             sizeof output);
    assert_string_equal(output, "$(exit 1); `x` 'y' \"z *\n");
}

/* Both streams into descriptors of the caller's, without a pipe between. */
static void streams_of_the_caller(void **state) {
    (void)state;
    char *arguments[] = {(char *)"sh", (char *)"-c", (char *)"echo one; echo two >&2; exit 3",
                         NULL};
    FILE *output = tmpfile(), *errors = tmpfile();
    char text[16] = "";
    weft_process process;
    weft_process_result result;
    weft_error error = {0};
    assert_non_null(output);
    assert_non_null(errors);
    const weft_process_start start = {.program = "/bin/sh",
                                      .arguments = arguments,
                                      .folder = -1,
                                      .output = fileno(output),
                                      .errors = fileno(errors)};
    assert_int_equal(weft_process_begin(&start, &process, &error), WEFT_OK);
    assert_int_equal(process.output, -1);
    while (!weft_process_ended(&process))
        usleep(1000);
    weft_process_end(&process, false, &result);
    assert_int_equal(result.exit_code, 3);
    rewind(output);
    rewind(errors);
    assert_string_equal(fgets(text, sizeof text, output), "one\n");
    assert_null(fgets(text, sizeof text, output));
    assert_string_equal(fgets(text, sizeof text, errors), "two\n");
    fclose(output);
    fclose(errors);
}

/* A child does not hold the caller's files open, nor their locks. */
static void files_of_the_caller(void **state) {
    (void)state;
    char output[16];
    FILE *file = tmpfile();
    assert_non_null(file);
    assert_int_equal(dup2(fileno(file), 77), 77);
    shell((weft_process_limits){0}, "test -e /proc/self/fd/77 && echo open || echo closed", output,
          sizeof output);
    assert_string_equal(output, "closed\n");
    close(77);
    fclose(file);
}

static void cannot_be_started(void **state) {
    (void)state;
#ifdef __SANITIZE_THREAD__
    skip_test("the thread sanitizer makes vfork a fork, which shares no memory for the error");
#endif
    static const char *const programs[] = {"/nonexistent/program", "/etc/passwd", "/"};
    for (size_t i = 0; i < sizeof programs / sizeof *programs; ++i) {
        char *arguments[] = {(char *)"x", NULL}, output[8];
        weft_process_start start = {.program = programs[i], .arguments = arguments, .folder = -1};
        weft_process_result result;
        weft_error error = {0};
        assert_int_equal(weft_process_run(&start, output, sizeof output, &result, &error),
                         WEFT_ERROR_IO);
        assert_non_null(strstr(error.message, "cannot start"));
        assert_non_null(strstr(error.message, programs[i]));
    }
}

static bool is_running(const char *pid_text) {
    char path[64], text[256] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", atoi(pid_text));
    FILE *file = fopen(path, "r");
    if (!file)
        return false;
    const size_t n = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    return n > 0 && !strstr(text, ") Z");
}

/* The time limit ends a child that prints nothing, one that has closed its output, and the children
 * of both. */
static void time_limit(void **state) {
    (void)state;
    static const char *const texts[] = {"sleep 1000 & echo $!; wait",
                                        "sleep 1000 & echo $!; exec >&- 2>&-; wait",
                                        "sleep 1000 & echo $!; while :; do echo x; done"};
    const weft_process_limits limits = {.seconds = 0.3};
    char output[64], why[80];
    for (size_t i = 0; i < sizeof texts / sizeof *texts; ++i) {
        weft_process_result result = shell(limits, texts[i], output, sizeof output);
        assert_true(result.limit == WEFT_LIMIT_SECONDS || result.limit == WEFT_LIMIT_OUTPUT);
        assert_int_equal(result.signal, SIGKILL);
        assert_true(atoi(output) > 0);
        for (int k = 0; k < 2000 && is_running(output); ++k)
            usleep(5000);
        assert_false(is_running(output));
        if (i < 2)
            assert_string_equal(weft_process_why(&result, &limits, why, sizeof why),
                                "was stopped after 0.3 s");
    }
}

/* A server that it leaves behind keeps the pipe open; the child's end is what counts. */
/* The child is ended for the thread that is named, and for no other. */
static void cancelled(void **state) {
    (void)state;
    const int here = (int)getpid();
    const int threads[] = {here, here + 1, 0};
    for (int i = 0; i < 3; ++i) {
        char sleep[] = "/bin/sleep", seconds[] = "100", now[] = "0.3", output[8];
        char *arguments[] = {sleep, i == 0 ? seconds : now, NULL};
        const weft_monitor monitor = {.cancelled = &threads[i]};
        const weft_process_start start = {
            .program = sleep, .arguments = arguments, .folder = -1, .monitor = &monitor};
        weft_process_result result;
        weft_error error = {0};
        const double before = weft_clock();
        assert_int_equal(weft_process_run(&start, output, sizeof output, &result, &error),
                         i == 0 ? WEFT_ERROR_CANCELLED : WEFT_OK);
        assert_int_equal(result.signal, i == 0 ? SIGKILL : 0);
        assert_true(weft_clock() - before < STAGNATION_WINDOW);
    }
}

static void server_left_behind(void **state) {
    (void)state;
    char output[64];
    weft_process_result result =
        shell((weft_process_limits){0}, "sleep 1000 & echo $!; exit 3", output, sizeof output);
    assert_int_equal(result.exit_code, 3);
    assert_int_equal(kill(atoi(output), SIGKILL), 0);
}

static void other_limits(void **state) {
    (void)state;
    char output[64], why[80];
    weft_process_limits limits = {.cpu_seconds = 1};
    weft_process_result result =
        run_with(limits, "/proc/self/exe", "spin", NULL, output, sizeof output);
    assert_int_equal(result.limit, WEFT_LIMIT_CPU);
    assert_string_equal(weft_process_why(&result, &limits, why, sizeof why),
                        "used more than 1 s of processor time");
    limits = (weft_process_limits){.file_bytes = 1000000};
    char *folder = test_folder_make(), *path = test_path(folder, "file");
    result = run_with(limits, "/proc/self/exe", "write", path, output, sizeof output);
    assert_int_equal(result.limit, WEFT_LIMIT_FILE);
    assert_string_equal(weft_process_why(&result, &limits, why, sizeof why),
                        "wrote a file of more than 1 MB");
    result = shell((weft_process_limits){0}, "exec yes", output, sizeof output);
    assert_int_equal(result.limit, WEFT_LIMIT_OUTPUT);
    assert_non_null(strstr(weft_process_why(&result, &limits, why, sizeof why), "printed"));
    free(path);
    test_folder_remove(&folder);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    limits = (weft_process_limits){.memory_bytes = 500000000};
    result = run_with(limits, "/proc/self/exe", "allocate", NULL, output, sizeof output);
    assert_string_equal(output, "refused\n");
    limits.memory_bytes = 0;
    run_with(limits, "/proc/self/exe", "allocate", NULL, output, sizeof output);
    assert_string_equal(output, "allowed\n");
#endif
}

static volatile sig_atomic_t n_handled;

static void handle(int number) {
    (void)number;
    ++n_handled;
}

/* Signals are as by default in the child, blocked or caught as they may be here. */
static void signals(void **state) {
    (void)state;
    struct sigaction action = {.sa_handler = handle}, before;
    sigset_t set, mask;
    char output[64];
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    assert_int_equal(sigaction(SIGTERM, &action, &before), 0);
    assert_int_equal(sigprocmask(SIG_BLOCK, &set, &mask), 0);
    weft_process_result result =
        shell((weft_process_limits){0}, "kill -TERM $$; echo on", output, sizeof output);
    assert_int_equal(result.signal, SIGTERM);
    assert_string_equal(output, "");
    assert_int_equal(n_handled, 0);
    assert_int_equal(sigprocmask(SIG_SETMASK, &mask, NULL), 0);
    assert_int_equal(raise(SIGTERM), 0);
    assert_int_equal(n_handled, 1); /* and here as they were */
    assert_int_equal(sigaction(SIGTERM, &before, NULL), 0);
}

static void limits_of_the_environment(void **state) {
    (void)state;
    static const char *const wrong[] = {"many", "1x", "-1", "nan", "inf"};
    double value = 7;
    weft_error error;
    unsetenv("WEFT_TEST_LIMIT");
    assert_int_equal(weft_process_limit_read("WEFT_TEST_LIMIT", &value, &error), WEFT_OK);
    assert_true(value == 7);
    setenv("WEFT_TEST_LIMIT", "2.5", 1);
    assert_int_equal(weft_process_limit_read("WEFT_TEST_LIMIT", &value, &error), WEFT_OK);
    assert_true(value == 2.5);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
        setenv("WEFT_TEST_LIMIT", wrong[i], 1);
        assert_int_equal(weft_process_limit_read("WEFT_TEST_LIMIT", &value, &error),
                         WEFT_ERROR_USAGE);
        assert_non_null(strstr(error.message, wrong[i]));
        assert_non_null(strstr(error.hint, "WEFT_TEST_LIMIT"));
    }
    assert_true(value == 2.5);
}

static int be_child(const char *what, const char *path) {
    if (strcmp(what, "spin") == 0) {
        for (volatile long i = 0;; ++i) {
        }
    }
    if (strcmp(what, "write") == 0) {
        char bytes[4096] = "";
        FILE *file = fopen(path, "w");
        for (int i = 0; file && i < 1000; ++i)
            fwrite(bytes, 1, sizeof bytes, file);
        return 1;
    }
    volatile char *memory = malloc((size_t)1 << 30);
    puts(memory ? "allowed" : "refused");
    return 0;
}

int main(int argc, char **argv) {
    if (argc > 1)
        return be_child(argv[1], argc > 2 ? argv[2] : "");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_it_says),
        cmocka_unit_test(streams_of_the_caller),
        cmocka_unit_test(files_of_the_caller),
        cmocka_unit_test(cannot_be_started),
        cmocka_unit_test(time_limit),
        cmocka_unit_test(cancelled),
        cmocka_unit_test(server_left_behind),
        cmocka_unit_test(other_limits),
        cmocka_unit_test(signals),
        cmocka_unit_test(limits_of_the_environment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
