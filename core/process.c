#include "core_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static bool is_variable(const char *entry, const char *name) {
    size_t length = strlen(name);
    return strncmp(entry, name, length) == 0 && entry[length] == '=';
}

/* The environment with messages in English, and temporary files in the folder run in. */
static char **environment_make(bool in_folder) {
    size_t n = 0, used = 0;
    while (environ && environ[n])
        ++n;
    char **environment = calloc(n + 3, sizeof *environment);
    if (!environment)
        return NULL;
    for (size_t i = 0; i < n; ++i) {
        bool replaced = is_variable(environ[i], "LC_ALL") || is_variable(environ[i], "LANGUAGE") ||
                        (in_folder && is_variable(environ[i], "TMPDIR"));
        if (!replaced)
            environment[used++] = environ[i];
    }
    static char english[] = "LC_ALL=C", here[] = "TMPDIR=.";
    environment[used++] = english;
    if (in_folder)
        environment[used++] = here;
    return environment;
}

/* All of it is read, so that the child never waits; what fits is kept. */
static void read_output(int file, char *output, size_t size) {
    char rest[4096];
    size_t used = 0;
    for (;;) {
        bool fits = used + 1 < size;
        ssize_t n =
            fits ? read(file, output + used, size - 1 - used) : read(file, rest, sizeof rest);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        if (fits)
            used += (size_t)n;
    }
    output[used] = '\0';
    for (size_t i = 0; i < used; ++i)
        if (output[i] == '\0')
            output[i] = '?';
}

/* An application that ignores SIGCHLD has its children reaped by the system: then the exit code is
 * lost, and what the child made must speak for it. */
static int wait_for(pid_t child) {
    int result = 0;
    while (waitpid(child, &result, 0) < 0)
        if (errno != EINTR)
            return 0;
    if (WIFSIGNALED(result))
        return 128 + WTERMSIG(result);
    return WEXITSTATUS(result);
}

static int spawn(const char *program, char *const *arguments, char *const *environment, int folder,
                 int output, pid_t *child) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int number = posix_spawn_file_actions_init(&actions);
    if (number != 0)
        return number;
    number = posix_spawnattr_init(&attributes);
    if (number != 0) {
        posix_spawn_file_actions_destroy(&actions);
        return number;
    }
    sigset_t none, usual;
    sigemptyset(&none);
    sigemptyset(&usual);
    sigaddset(&usual, SIGPIPE);
    sigaddset(&usual, SIGCHLD);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &usual);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    /* The folder comes first: where our own streams are closed, its number may be 0, 1 or 2. */
    if (folder >= 0)
        number = posix_spawn_file_actions_addfchdir_np(&actions, folder);
    if (number == 0)
        number = posix_spawn_file_actions_adddup2(&actions, output, 1);
    if (number == 0)
        number = posix_spawn_file_actions_adddup2(&actions, 1, 2);
    if (number == 0)
        number = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    if (number == 0)
        number = posix_spawn(child, program, &actions, &attributes, arguments, environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return number;
}

weft_status weft_process_run(const char *program, char *const *arguments, int folder, char *output,
                             size_t size, int *exit_code, weft_error *error) {
    weft_status status = WEFT_OK;
    int ends[2] = {-1, -1};
    pid_t child = -1;
    char **environment = environment_make(folder >= 0);
    output[0] = '\0';
    if (!environment) {
        status = weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory to start %s", program);
        goto done;
    }
    int number = pipe2(ends, O_CLOEXEC) == 0 ? 0 : errno;
    if (number == 0)
        number = spawn(program, arguments, environment, folder, ends[1], &child);
    if (number != 0) {
        status = weft_error_set(error, number == ENOMEM ? WEFT_ERROR_MEMORY : WEFT_ERROR_COMPILER,
                                "cannot start %s: %s", program, strerror(number));
        goto done;
    }
    close(ends[1]);
    ends[1] = -1;
    read_output(ends[0], output, size);
    *exit_code = wait_for(child);
done:
    if (ends[0] >= 0)
        close(ends[0]);
    if (ends[1] >= 0)
        close(ends[1]);
    free(environment);
    return status;
}
