/* Starts child programs, enforces their limits and collects them.
 *
 * Decision  docs/decisions/0045-gmsh-is-a-program-of-its-own.md */
#include "core/base/process.h"
#include "core/base/number.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

/* Polling interval of a silent child, and the delay of the first progress report. */
static const int TICK_MILLISECONDS = 100;
static const double FIRST_REPORT = 2, MOST_OUTPUT = 64e6;

bool weft_is_program(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode) && access(path, X_OK) == 0;
}

bool weft_find_in_path(const char *name, char *out, size_t size) {
    const char *path = getenv("PATH");
    for (const char *part = path ? path : "/usr/local/bin:/usr/bin:/bin"; *part;) {
        const int length = (int)strcspn(part, ":");
        if (part[0] == '/' && snprintf(out, size, "%.*s/%s", length, part, name) < (int)size &&
            weft_is_program(out))
            return true;
        part += length;
        part += *part == ':';
    }
    return false;
}

bool weft_find_own_file(char *out, size_t size) {
    static const char anything;
    Dl_info info;
    struct link_map *map = NULL;
    if (size < PATH_MAX || !dladdr1(&anything, &info, (void **)&map, RTLD_DL_LINKMAP) || !map)
        return false;
    return realpath(map->l_name && map->l_name[0] ? map->l_name : "/proc/self/exe", out) != NULL;
}

bool weft_find_in_packages(const char *name, char *out, size_t size) {
    static const char *const places[] = {"/weft/prefix/bin/", "/weft/prefix/lib/"};
    const size_t length = strlen(places[0]);
    char own[PATH_MAX];
    struct stat info;
    if (!weft_find_own_file(own, sizeof own))
        return false;
    char *end = strrchr(own, '/') + 1;
    if (end < own + length || (strncmp(end - length, places[0], length) != 0 &&
                               strncmp(end - length, places[1], length) != 0))
        return false;
    end[-(ptrdiff_t)length] = '\0';
    /* In a folder where everybody may write, others may have put a package. */
    if (stat(own, &info) != 0 || (info.st_mode & S_IWOTH))
        return false;
    const int n = snprintf(out, size, "%s/%s", own, name);
    return n > 0 && (size_t)n < size && access(out, F_OK) == 0;
}

bool weft_find_own_program(const char *name, char *out, size_t size) {
    static const char *const folders[] = {"", "../libexec/weft/", "../bin/"};
    char own[4096];
    const ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    own[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(own, '/');
    for (size_t i = 0; slash && i < sizeof folders / sizeof *folders; ++i) {
        slash[1] = '\0';
        if (snprintf(out, size, "%s%s%s", own, folders[i], name) < (int)size &&
            weft_is_program(out))
            return true;
    }
    return weft_find_in_path(name, out, size);
}

static bool is_variable(const char *entry, const char *name) {
    size_t length = strlen(name);
    return strncmp(entry, name, length) == 0 && entry[length] == '=';
}

static char **environment_make(const weft_process_start *start) {
    size_t n = 0, used = 0;
    while (environ && environ[n])
        ++n;
    char **environment = calloc(n + 3, sizeof *environment);
    if (!environment)
        return NULL;
    for (size_t i = 0; i < n; ++i) {
        bool language = is_variable(environ[i], "LC_ALL") || is_variable(environ[i], "LANGUAGE");
        bool replaced = (start->english && language) ||
                        (start->folder >= 0 && is_variable(environ[i], "TMPDIR"));
        if (!replaced)
            environment[used++] = environ[i];
    }
    static char english[] = "LC_ALL=C", here[] = "TMPDIR=.";
    if (start->english)
        environment[used++] = english;
    if (start->folder >= 0)
        environment[used++] = here;
    return environment;
}

/* ---- in the child, between vfork and execve: system calls only ---- */

/* The soft limit is below the hard one: the hard limit of processor time sends SIGKILL, which does
 * not show that it was the limit. */
static int limit_set(int which, double most) {
    struct rlimit limit;
    if (most <= 0)
        return 0;
    if (getrlimit((__rlimit_resource_t)which, &limit) != 0)
        return errno;
    const rlim_t wanted = most < 9e18 ? (rlim_t)ceil(most) : RLIM_INFINITY;
    if (wanted < limit.rlim_cur)
        limit.rlim_cur = wanted;
    if (limit.rlim_cur < limit.rlim_max)
        limit.rlim_max = limit.rlim_cur + 1;
    return setrlimit((__rlimit_resource_t)which, &limit) == 0 ? 0 : errno;
}

static int limits_set(const weft_process_limits *limits) {
    int number = limit_set(RLIMIT_CPU, limits->cpu_seconds);
    if (number == 0)
        number = limit_set(RLIMIT_FSIZE, (double)limits->file_bytes);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    if (number == 0) /* the shadow memory of sanitizers exceeds any limit */
        number = limit_set(RLIMIT_AS, (double)limits->memory_bytes);
#endif
    return number;
}

/* None of the parent's signal handlers may run in the child, which shares its memory (vfork). */
static void signals_reset(void) {
    sigset_t none;
    sigemptyset(&none);
    for (int number = 1; number < NSIG; ++number) {
        struct sigaction action;
        if (sigaction(number, NULL, &action) != 0)
            continue;
        if (action.sa_handler == SIG_IGN && number != SIGPIPE && number != SIGCHLD)
            continue;
        action.sa_handler = SIG_DFL;
        action.sa_flags = 0;
        sigaction(number, &action, NULL);
    }
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Change the directory before redirecting: if the parent's standard streams are closed, the
 * directory's descriptor may be 0, 1 or 2. */
static int streams_set(const weft_process_start *start, int output) {
    if (start->folder >= 0 && fchdir(start->folder) != 0)
        return errno;
    if (output == 1 ? fcntl(1, F_SETFD, 0) != 0 : dup2(output, 1) < 0)
        return errno;
    if (start->errors_too && dup2(1, 2) < 0)
        return errno;
    if (start->errors > 0 && dup2(start->errors, 2) < 0)
        return errno;
    const int input = start->input > 0 ? start->input : open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (input < 0 || (input == 0 ? fcntl(0, F_SETFD, 0) != 0 : dup2(input, 0) < 0))
        return errno;
    return 0;
}

/* Files of the parent that are not marked so, such as those of HDF5: a compiler that outlives a parent that was killed
 * would hold their locks. */
static void files_close(void) {
    enum { FILES = 1024 };
#ifdef SYS_close_range
    if (syscall(SYS_close_range, 3U, ~0U, 0U) == 0)
        return;
#endif
    for (int file = 3; file < FILES; ++file)
        close(file);
}

typedef struct launch {
    const weft_process_start *start;
    char *const *environment;
    int output;
    pid_t parent;
    volatile int number; /* errno of the child, which shares our memory until execve */
} launch;

static void become(launch *l) {
    setpgid(0, 0);
    l->number = prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == l->parent ? 0 : ESRCH;
    if (l->number == 0)
        l->number = streams_set(l->start, l->output);
    if (l->number == 0)
        l->number = limits_set(&l->start->limits);
    if (l->number == 0) {
        signals_reset();
        files_close();
        execve(l->start->program, l->start->arguments, l->environment);
        l->number = errno;
    }
    _exit(127);
}

/* vfork, not fork: copying the page tables of a process with a large mesh takes long and fails
 * without memory overcommit. posix_spawn, which avoids that too, cannot set limits.
 */
static pid_t launch_child(launch *l) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    l->number = 0;
    const pid_t child = vfork();
    if (child == 0)
        become(l);
    if (child < 0)
        l->number = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return child;
}

/* ---- in the parent ---- */

weft_status weft_process_begin(const weft_process_start *start, weft_process *out,
                               weft_error *error) {
    int ends[2] = {-1, -1};
    char **environment = environment_make(start);
    *out = (weft_process){.output = -1, .limits = start->limits};
    out->began = out->reported = weft_clock(); /* before the child may run */
    if (!environment)
        return weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory to start %s",
                              start->program);
    launch l = {.start = start, .environment = environment, .parent = getpid()};
    l.number = start->output > 0 || pipe2(ends, O_CLOEXEC) == 0 ? 0 : errno;
    if (l.number == 0) {
        l.output = start->output > 0 ? start->output : ends[1];
        out->pid = launch_child(&l);
    }
    free(environment);
    if (ends[1] >= 0)
        close(ends[1]);
    if (l.number == 0) {
        setpgid(out->pid, out->pid); /* by parent and child, since either may run first */
        out->output = ends[0];
        out->monitor = start->monitor;
        out->phase = start->phase;
        return WEFT_OK;
    }
    if (out->pid > 0)
        waitpid(out->pid, NULL, 0);
    if (ends[0] >= 0)
        close(ends[0]);
    out->pid = 0;
    return weft_error_set(error, l.number == ENOMEM ? WEFT_ERROR_MEMORY : WEFT_ERROR_IO,
                          "cannot start %s: %s", start->program, strerror(l.number));
}

/* If the application ignores SIGCHLD, the system reaps its children and the exit code is lost. It
 * is then taken as 0: callers must check the child's output. */
bool weft_process_ended(weft_process *process) {
    if (process->ended)
        return true;
    pid_t got = waitpid(process->pid, &process->how, WNOHANG);
    if (got < 0 && errno != EINTR)
        process->how = 0;
    process->ended = got > 0 || (got < 0 && errno != EINTR);
    return process->ended;
}

static void kill_all(const weft_process *process) {
    kill(-process->pid, SIGKILL);
    if (!process->ended)
        kill(process->pid, SIGKILL);
}

/* If the time limit is exceeded, kill the child and return false. */
static bool in_time(weft_process *process) {
    const double now = weft_clock(), passed = now - process->began;
    if (process->limits.seconds > 0 && passed > process->limits.seconds) {
        process->late = true;
        kill_all(process);
        return false;
    }
    if (weft_cancelled(process->monitor, NULL) != WEFT_OK) {
        kill_all(process);
        return false;
    }
    if (process->phase && passed > FIRST_REPORT && now - process->reported > 1) {
        weft_progress(process->monitor, process->phase, floor(passed), 0);
        process->reported = now;
    }
    return true;
}

/* Stop when the child ends, not when the pipe closes: a daemon it has started may hold the pipe. */
ssize_t weft_process_read(weft_process *process, void *out, size_t size) {
    struct pollfd wanted = {.fd = process->output, .events = POLLIN};
    for (;;) {
        if (!in_time(process)) {
            errno = ETIME;
            return -1;
        }
        const bool ended = weft_process_ended(process);
        const int n = poll(&wanted, 1, TICK_MILLISECONDS);
        if (n < 0 && errno != EINTR)
            return -1;
        if (n > 0) {
            const ssize_t got = read(process->output, out, size);
            if (got >= 0 || errno != EINTR)
                return got;
        }
        if (n == 0 && ended)
            return 0;
    }
}

void weft_process_end(weft_process *process, bool kill_it, weft_process_result *result) {
    *result = (weft_process_result){0};
    if (process->output >= 0)
        close(process->output);
    process->output = -1;
    if (process->pid <= 0)
        return;
    if (kill_it && !weft_process_ended(process))
        kill_all(process);
    long pause = 50000;
    while (!weft_process_ended(process)) {
        const struct timespec time = {0, pause};
        nanosleep(&time, NULL);
        pause = pause < 20000000 ? pause * 3 / 2 : pause;
        in_time(process);
    }
    result->signal = WIFSIGNALED(process->how) ? WTERMSIG(process->how) : 0;
    result->exit_code = result->signal ? 128 + result->signal : WEXITSTATUS(process->how);
    result->limit = process->late                        ? WEFT_LIMIT_SECONDS
                    : result->exit_code == 128 + SIGXCPU ? WEFT_LIMIT_CPU
                    : result->exit_code == 128 + SIGXFSZ ? WEFT_LIMIT_FILE
                                                         : WEFT_LIMIT_NONE;
    process->pid = 0;
}

weft_status weft_process_run(const weft_process_start *start, char *output, size_t size,
                             weft_process_result *result, weft_error *error) {
    weft_process process;
    char rest[4096];
    size_t used = 0;
    double all = 0;
    ssize_t n = 0;
    output[0] = '\0';
    *result = (weft_process_result){0};
    weft_status status = weft_process_begin(start, &process, error);
    if (status != WEFT_OK)
        return status;
    /* Read all output, so that the child never blocks, and keep what fits. */
    do {
        const bool fits = used + 1 < size;
        n = fits ? weft_process_read(&process, output + used, size - 1 - used)
                 : weft_process_read(&process, rest, sizeof rest);
        if (fits && n > 0)
            used += (size_t)n;
        all += n > 0 ? (double)n : 0;
    } while (n > 0 && all < MOST_OUTPUT);
    output[used] = '\0';
    for (size_t i = 0; i < used; ++i)
        if (output[i] == '\0')
            output[i] = '?';
    weft_process_end(&process, n != 0, result);
    if (n > 0)
        result->limit = WEFT_LIMIT_OUTPUT;
    return weft_cancelled(start->monitor, error);
}

const char *weft_process_why(const weft_process_result *result, const weft_process_limits *limits,
                             char *out, size_t size) {
    out[0] = '\0';
    if (result->limit == WEFT_LIMIT_SECONDS)
        weft_print(out, size, "was stopped after %g s", limits->seconds);
    else if (result->limit == WEFT_LIMIT_CPU)
        weft_print(out, size, "used more than %g s of processor time", limits->cpu_seconds);
    else if (result->limit == WEFT_LIMIT_FILE)
        weft_print(out, size, "wrote a file of more than %.0f MB",
                   (double)limits->file_bytes / 1e6);
    else if (result->limit == WEFT_LIMIT_OUTPUT)
        weft_print(out, size, "printed more than %.0f MB", MOST_OUTPUT / 1e6);
    return out;
}

weft_status weft_process_limit_read(const char *variable, double *value, weft_error *error) {
    const char *text = getenv(variable);
    if (!text || !*text)
        return WEFT_OK;
    char *end = NULL;
    const double number = weft_number_read(text, &end);
    if (end == text || *end || !isfinite(number) || number < 0) {
        weft_error_set(error, WEFT_ERROR_USAGE, "%s is '%.100s', which is not a number", variable,
                       text);
        weft_error_hint(error, "set %s to a number greater than 0, to 0 for no limit, or unset it",
                        variable);
        return WEFT_ERROR_USAGE;
    }
    *value = number;
    return WEFT_OK;
}
