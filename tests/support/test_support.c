#include "test_support.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static size_t n_skipped;

void test_double_near(double a, double b, double relative, double absolute, const char *what,
                      const char *file, int line) {
    double scale = fabs(a) > fabs(b) ? fabs(a) : fabs(b);
    if (a == b || (isfinite(scale) && fabs(a - b) <= absolute + relative * scale))
        return;
    print_error("%s is %.17g, expected %.17g (difference %.3g, allowed %.3g)\n", what, a, b,
                fabs(a - b), absolute + relative * scale);
    _fail(file, line);
}

/* ---- files ---------------------------------------------------------------------------------- */

static char *format_path(const char *first, const char *second) {
    size_t size = strlen(first) + strlen(second) + 2;
    char *path = malloc(size);
    if (!path)
        fail_msg("out of memory");
    snprintf(path, size, "%s/%s", first, second);
    return path;
}

bool test_is_full(void) {
    return getenv("WEFT_TEST_FULL") != NULL;
}

char *test_folder_make(void) {
    const char *base = getenv("TMPDIR");
    char *path = format_path(base && *base ? base : "/tmp", "weft-test-XXXXXX");
    if (!mkdtemp(path))
        fail_msg("cannot make %s: %s", path, strerror(errno));
    return path;
}

static void remove_tree(const char *path) {
    struct stat info;
    if (lstat(path, &info) != 0)
        return;
    if (!S_ISDIR(info.st_mode)) {
        unlink(path);
        return;
    }
    chmod(path, 0700);
    DIR *folder = opendir(path);
    struct dirent *entry;
    while (folder && (entry = readdir(folder)) != NULL) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        char *child = format_path(path, entry->d_name);
        remove_tree(child);
        free(child);
    }
    if (folder)
        closedir(folder);
    rmdir(path);
}

void test_folder_remove(char **folder) {
    if (!folder || !*folder)
        return;
    remove_tree(*folder);
    free(*folder);
    *folder = NULL;
}

char *test_path(const char *folder, const char *name) {
    return format_path(folder, name);
}

static char *read_stream(FILE *file, size_t *length) {
    size_t n = 0;
    size_t capacity = 4096;
    char *text = malloc(capacity);
    while (text) {
        n += fread(text + n, 1, capacity - n - 1, file);
        if (n + 1 < capacity)
            break;
        capacity *= 2;
        char *larger = realloc(text, capacity);
        if (!larger)
            free(text);
        text = larger;
    }
    if (!text)
        fail_msg("out of memory");
    text[n] = '\0';
    if (length)
        *length = n;
    return text;
}

char *test_file_read(const char *path, size_t *length) {
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    char *text = read_stream(file, length);
    fclose(file);
    return text;
}

void test_file_write(const char *path, const void *bytes, size_t length) {
    FILE *file = fopen(path, "wb");
    if (!file)
        fail_msg("cannot write %s: %s", path, strerror(errno));
    size_t written = length ? fwrite(bytes, 1, length, file) : 0;
    if (fclose(file) != 0 || written != length)
        fail_msg("cannot write %s", path);
}

void test_text_write(const char *path, const char *text) {
    test_file_write(path, text, strlen(text));
}

/* ---- programs ------------------------------------------------------------------------------- */

/* This process's environment with `added` put before it; an entry of the same name is left out. */
static char **environment_with(const char *const *added) {
    size_t n = 0;
    size_t n_added = 0;
    while (environ[n])
        ++n;
    while (added && added[n_added])
        ++n_added;
    char **result = calloc(n + n_added + 1, sizeof *result);
    if (!result)
        fail_msg("out of memory");
    size_t end = 0;
    for (size_t i = 0; i < n_added; ++i)
        result[end++] = (char *)(uintptr_t)added[i];
    for (size_t i = 0; i < n; ++i) {
        size_t name = strcspn(environ[i], "=") + 1;
        int replaced = 0;
        for (size_t j = 0; j < n_added; ++j)
            replaced |= strncmp(environ[i], added[j], name) == 0;
        if (!replaced)
            result[end++] = environ[i];
    }
    return result;
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

test_run test_program(const char *const *arguments, const char *const *environment) {
    test_run run = {0};
    FILE *output = tmpfile();
    FILE *error = tmpfile();
    if (!output || !error)
        fail_msg("cannot make a temporary file: %s", strerror(errno));
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, fileno(output), STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, fileno(error), STDERR_FILENO);
    char **variables = environment_with(environment);
    pid_t child = 0;
    double start = now();
    int failed = posix_spawnp(&child, arguments[0], &actions, NULL,
                              (char *const *)(uintptr_t)arguments, variables);
    if (failed)
        fail_msg("cannot start %s: %s", arguments[0], strerror(failed));
    int state = 0;
    while (waitpid(child, &state, 0) < 0 && errno == EINTR)
        continue;
    run.seconds = now() - start;
    run.exit_code = WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state);
    rewind(output);
    rewind(error);
    run.output = read_stream(output, NULL);
    run.error = read_stream(error, NULL);
    fclose(output);
    fclose(error);
    free(variables);
    posix_spawn_file_actions_destroy(&actions);
    return run;
}

void test_run_free(test_run *run) {
    free(run->output);
    free(run->error);
    run->output = NULL;
    run->error = NULL;
}

int test_program_exists(const char *name) {
    const char *path = getenv("PATH");
    int found = 0;
    while (path && *path && !found) {
        size_t length = strcspn(path, ":");
        char folder[4096];
        snprintf(folder, sizeof folder, "%.*s/%s", (int)length, path, name);
        found = access(folder, X_OK) == 0;
        path += length + (path[length] == ':');
    }
    return found;
}

/* ---- skipping ------------------------------------------------------------------------------- */

void test_note_skip(const char *reason) {
    ++n_skipped;
    print_message("skipped: %s\n", reason);
}

bool test_locale_is_missing(void) {
    const char *name = getenv("WEFT_TEST_LOCALE");
    const bool missing = name && !setlocale(LC_NUMERIC, name);
    if (missing)
        print_error("there is no locale %s\n", name);
    return missing;
}

int test_exit_code(int result, size_t n_tests) {
    return result == 0 && n_skipped > 0 && n_skipped >= n_tests ? 77 : result;
}
