/* Runs a call in a child process: forks, waits, and derives a status from how the child ended. */
#include "fem/io/child_process.h"
#include "core/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Memory shared with the child. */
struct weft_child_page {
    volatile bool done;
    weft_status status;
    weft_error error;
};

/* ---- limits ---------------------------------------------------------------------------------- */

/* Lower a limit of the system to `most`. */
static void lower(int resource, double most) {
    struct rlimit limit;
    if (getrlimit((__rlimit_resource_t)resource, &limit) != 0 || most >= 9e18 ||
        (limit.rlim_cur != RLIM_INFINITY && (double)limit.rlim_cur <= most))
        return;
    limit.rlim_cur = (rlim_t)most;
    setrlimit((__rlimit_resource_t)resource, &limit);
}

static void set_limits(const weft_reading_limits *limits) {
    const double now = weft_process_bytes(false);
    if (limits->memory > 0 && now > 0)
        lower(RLIMIT_AS, now + limits->memory);
    if (limits->seconds > 0)
        lower(RLIMIT_CPU, ceil(limits->seconds));
}

/* ---- the child ------------------------------------------------------------------------------- */

/* If a library calls exit(), skip the exit handlers of this program. */
static void leave(void) {
    _exit(255);
}

static bool is_debugged(void) {
    const char *level = getenv("WEFT_LOG");
    return level && strcmp(level, "debug") == 0;
}

static void set_signals(void) {
    static const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ};
    static const int defaults[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGXCPU};
    sigset_t none;
    /* The parent handles these signals; the child ends with it. */
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; ++i)
        signal(ignored[i], SIG_IGN);
    for (size_t i = 0; i < sizeof defaults / sizeof *defaults; ++i)
        signal(defaults[i], SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

__attribute__((noreturn)) static void run_child(weft_child_call call, void *user, int out,
                                                pid_t parent, const weft_child *self) {
    struct weft_child_page *page = self->page;
    const struct rlimit no_core = {0, 0};
    set_signals();
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent)
        _exit(255);
    if (!is_debugged()) {
        const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
        setrlimit(RLIMIT_CORE, &no_core);
        if (nowhere >= 0 && (dup2(nowhere, 1) < 0 || dup2(nowhere, 2) < 0))
            _exit(255);
    }
    set_limits(&self->limits);
    if (atexit(leave) == 0) {
        page->status = call(user, out, &page->error);
        page->done = true;
    }
    _exit(0);
}

weft_status weft_child_write(int out, const void *bytes, size_t n, weft_error *error) {
    if (weft_write_all(out, bytes, n) != WEFT_OK)
        return weft_error_set(error, WEFT_ERROR_IO, "a pipe is closed: %s", strerror(errno));
    return WEFT_OK;
}

/* ---- the parent ------------------------------------------------------------------------------ */

weft_status weft_child_start(weft_child_call call, void *user, const char *path,
                             const weft_reading_limits *limits, weft_child *out,
                             weft_error *error) {
    int ends[2] = {-1, -1};
    const pid_t parent = getpid();
    *out = WEFT_CHILD_NONE;
    void *page =
        mmap(NULL, sizeof *out->page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (limits)
        out->limits = *limits;
    if (page != MAP_FAILED && pipe2(ends, O_CLOEXEC) == 0) {
        out->page = page;
        out->pid = fork();
        if (out->pid == 0)
            run_child(call, user, ends[1], parent, out);
    } else {
        out->pid = -1;
    }
    const int number = errno;
    if (ends[1] >= 0)
        close(ends[1]);
    if (out->pid > 0) {
        out->from = ends[0];
        return WEFT_OK;
    }
    if (ends[0] >= 0)
        close(ends[0]);
    if (page != MAP_FAILED)
        munmap(page, sizeof *out->page);
    *out = WEFT_CHILD_NONE;
    weft_error_set(error, WEFT_ERROR_MEMORY, "%s: a process for it could not be started: %s", path,
                   strerror(number));
    weft_error_hint(error,
                    "free some memory, or raise the limits on memory and processes (ulimit)");
    return WEFT_ERROR_MEMORY;
}

bool weft_child_read(const weft_child *child, void *out, size_t n) {
    char *to = out;
    while (n > 0) {
        const ssize_t got = read(child->from, to, n);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        to += got;
        n -= (size_t)got;
    }
    return true;
}

static weft_status explain_end(int how, const char *path, const weft_reading_limits *limits,
                               weft_error *error) {
    if (WIFSIGNALED(how) && WTERMSIG(how) == SIGXCPU && limits->seconds > 0) {
        weft_error_set(error, WEFT_ERROR_INPUT,
                       "%s: it was not read after %g seconds of processor time", path,
                       limits->seconds);
        weft_error_hint(error, "where the file is right, raise the limit by WEFT_MESH_TIME");
        return WEFT_ERROR_INPUT;
    }
    if (WIFSIGNALED(how))
        weft_error_set(error, WEFT_ERROR_MEMORY, "%s: HDF5 crashed (signal %d) on it", path,
                       WTERMSIG(how));
    else
        weft_error_set(error, WEFT_ERROR_MEMORY, "%s: HDF5 gave up on it (exit code %d)", path,
                       WIFEXITED(how) ? WEXITSTATUS(how) : -1);
    weft_error_hint(error, "memory has run out, or the file that is read is damaged");
    return WEFT_ERROR_MEMORY;
}

weft_status weft_child_end(weft_child *child, bool kill_it, const char *path, weft_error *error) {
    weft_status status = WEFT_OK;
    int how = 0;
    if (child->from >= 0)
        close(child->from);
    if (child->pid > 0) {
        if (kill_it)
            kill(child->pid, SIGKILL);
        while (waitpid(child->pid, &how, 0) < 0 && errno == EINTR)
            ;
    }
    struct weft_child_page *page = child->page;
    const weft_reading_limits limits = child->limits;
    *child = WEFT_CHILD_NONE;
    if (!page)
        return WEFT_OK;
    if (page->done)
        status = page->status;
    else if (page->error.message[0])
        status = page->error.status;
    else
        status = explain_end(how, path, &limits, &page->error);
    if (status == WEFT_ERROR_MEMORY && limits.memory > 0 && !page->error.hint[0])
        weft_error_hint(&page->error,
                        "reading this file may take %.3g GB of memory; where the file is right and "
                        "the machine has more, raise the limit by WEFT_MESH_MEMORY (such as 64G)",
                        limits.memory / 1e9);
    if (status != WEFT_OK && error)
        *error = page->error;
    munmap(page, sizeof *page);
    return status;
}

weft_status weft_child_run(weft_child_call call, void *user, const char *path, weft_error *error) {
    weft_child child;
    const weft_status status = weft_child_start(call, user, path, NULL, &child, error);
    return status == WEFT_OK ? weft_child_end(&child, false, path, error) : status;
}
