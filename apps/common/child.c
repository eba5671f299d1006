/* Other programs: finding one, running one, and the signals meanwhile. */
#include "apps/common/support.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TICK_NANOSECONDS = 200000000 };

/* Less those that whoever started us has us ignore, as nohup does. */
static void stop_signals(sigset_t *out) {
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    sigemptyset(out);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; ++i) {
        struct sigaction action;
        if (sigaction(numbers[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
            sigaddset(out, numbers[i]);
    }
}

void app_signals_block(void) {
    sigset_t set;
    signal(SIGCHLD, SIG_DFL); /* where it is ignored, children's exit codes are lost */
    stop_signals(&set);
    sigaddset(&set, SIGCHLD);
    sigprocmask(SIG_BLOCK, &set, NULL);
}

int app_stop_asked(void) {
    sigset_t set;
    stop_signals(&set);
    const struct timespec now = {0, 0};
    int number = sigtimedwait(&set, NULL, &now);
    return number > 0 ? number : 0;
}

/* In the child: nothing but calls that are allowed between fork and exec. It ends with its parent,
 * also where that is killed: or it would disturb the runs of the study gone on with. */
static void become(const char *program, char *const *arguments, const char *folder, int output,
                   int error, pid_t parent) {
    sigset_t none;
    sigemptyset(&none);
    signal(SIGPIPE, SIG_DFL);
    sigprocmask(SIG_SETMASK, &none, NULL);
    int nothing = open("/dev/null", O_RDONLY);
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent || nothing < 0 ||
        dup2(nothing, 0) < 0 || dup2(output, 1) < 0 || dup2(error, 2) < 0 ||
        (folder && chdir(folder) != 0))
        _exit(126);
    execv(program, arguments);
    _exit(127);
}

/* Until it has ended; asked to stop, it is told so, and at the second time killed. */
static int wait_for(pid_t pid, void (*tick)(void *user), void *user, int *stopped) {
    const struct timespec pause = {0, TICK_NANOSECONDS};
    sigset_t set;
    int state = 0;
    stop_signals(&set);
    sigaddset(&set, SIGCHLD);
    while (waitpid(pid, &state, WNOHANG) == 0) {
        int number = sigtimedwait(&set, NULL, &pause);
        if (number > 0 && number != SIGCHLD) {
            kill(pid, *stopped ? SIGKILL : SIGTERM);
            *stopped = number;
        } else if (number < 0 && tick) {
            tick(user);
        }
    }
    return WIFSIGNALED(state) ? 128 + WTERMSIG(state) : WEXITSTATUS(state);
}

static char *read_back(FILE *file) {
    long length = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    char *text = length >= 0 ? malloc((size_t)length + 1) : NULL;
    if (text) {
        rewind(file);
        text[fread(text, 1, (size_t)length, file)] = '\0';
    }
    return text;
}

/* What it prints goes into files without names, so that it never waits for us. */
weft_status app_child_run(char *const *arguments, const char *folder, void (*tick)(void *user),
                          void *user, app_child *out, int *stopped, weft_error *error) {
    weft_status status = WEFT_OK;
    *out = (app_child){0};
    FILE *output = tmpfile(), *messages = tmpfile();
    if (!output || !messages)
        TRY(weft_error_set(error, WEFT_ERROR_IO, "cannot make a temporary file: %s",
                           strerror(errno)));
    double start = weft_clock();
    const pid_t parent = getpid();
    pid_t pid = fork();
    if (pid == 0)
        become(arguments[0], arguments, folder, fileno(output), fileno(messages), parent);
    if (pid < 0) {
        status = weft_error_set(error, WEFT_ERROR_IO, "cannot start %s: %s", arguments[0],
                                strerror(errno));
        goto done;
    }
    out->exit_code = wait_for(pid, tick, user, stopped);
    out->seconds = weft_clock() - start;
    out->output = read_back(output);
    out->error = read_back(messages);
    if (!out->output || !out->error) {
        app_child_clear(out);
        status = weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory");
    }
done:
    if (output)
        fclose(output);
    if (messages)
        fclose(messages);
    return status;
}

void app_child_clear(app_child *child) {
    free(child->output);
    free(child->error);
    child->output = child->error = NULL;
}

bool app_find_in_path(const char *program, char *out, size_t size) {
    for (const char *path = getenv("PATH"); path && *path;) {
        int part = (int)strcspn(path, ":");
        /* Relative folders in PATH would mean another program in each folder. */
        if (part > 0 && path[0] == '/' &&
            snprintf(out, size, "%.*s/%s", part, path, program) < (int)size &&
            access(out, X_OK) == 0)
            return true;
        path += part;
        path += *path == ':';
    }
    return false;
}
