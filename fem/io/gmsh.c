/* Starts weft-gmsh and reads the mesh that it sends. Gmsh stays in that program: a crash, an abort
 * or an exit of it ends as one message here. */
#include "fem/base/text.h"
#include "fem/io/read.h"
#include "fem/mesh/mesh.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static bool is_program(const char *path) {
    return access(path, X_OK) == 0;
}

/* Beside our own program, or where `cmake --install` puts it. */
static bool find_beside(char *out, size_t size) {
    static const char *const places[] = {"weft-gmsh", "../libexec/weft/weft-gmsh",
                                         "../bin/weft-gmsh"};
    char own[4096];
    ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    if (length <= 0)
        return false;
    own[length] = '\0';
    char *slash = strrchr(own, '/');
    if (!slash)
        return false;
    slash[1] = '\0';
    for (size_t i = 0; i < sizeof places / sizeof *places; ++i)
        if (snprintf(out, size, "%s%s", own, places[i]) < (int)size && is_program(out))
            return true;
    return false;
}

static bool find_in_path(char *out, size_t size) {
    const char *path = getenv("PATH");
    while (path && *path) {
        int length = (int)strcspn(path, ":");
        if (length > 0 && snprintf(out, size, "%.*s/weft-gmsh", length, path) < (int)size &&
            is_program(out))
            return true;
        path += length;
        path += *path == ':';
    }
    return false;
}

static weft_status find_program(const char *path, char *out, size_t size, weft_error *error) {
    const char *named = getenv("WEFT_GMSH");
    if (named && *named) {
        if (strlen(named) < size && is_program(named)) {
            weft_copy_cut(out, size, named);
            return WEFT_OK;
        }
        weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                       "%s: WEFT_GMSH is `%.300s`, which is not a program", path, named);
        weft_error_hint(error, "set it to the program weft-gmsh, or unset it");
        return WEFT_ERROR_UNSUPPORTED;
    }
    if (find_beside(out, size) || find_in_path(out, size))
        return WEFT_OK;
    weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                   "%s: this format needs the program weft-gmsh, which is not there", path);
    weft_error_hint(error, "install libgmsh-dev and build Weft again, or set WEFT_GMSH to the "
                           "program; .vtkhdf files, square:N and cube:N work without it");
    return WEFT_ERROR_UNSUPPORTED;
}

typedef struct child {
    pid_t pid;  /* 0: none */
    int output; /* -1: none */
} child;

static ssize_t read_child(void *user, void *out, size_t n) {
    const child *from = user;
    ssize_t got;
    do
        got = read(from->output, out, n);
    while (got < 0 && errno == EINTR);
    return got;
}

/* stdin from nowhere, stdout to us; no signal blocked, SIGPIPE as by default, so that it ends when
 * we do not read on. */
static int spawn_with(const char *program, char *const *arguments, int output, pid_t *pid) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, defaults;
    int number = posix_spawn_file_actions_init(&actions);
    if (number)
        return number;
    number = posix_spawnattr_init(&attributes);
    if (!number) {
        sigemptyset(&none);
        sigemptyset(&defaults);
        sigaddset(&defaults, SIGPIPE);
        posix_spawnattr_setsigmask(&attributes, &none);
        posix_spawnattr_setsigdefault(&attributes, &defaults);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
        number = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
        if (!number)
            number = posix_spawn_file_actions_adddup2(&actions, output, 1);
        if (!number)
            number = posix_spawn(pid, program, &actions, &attributes, arguments, environ);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return number;
}

static weft_status start_child(const char *program, const char *path,
                               const weft_mesh_options *options, child *out, weft_error *error) {
    int pipe_ends[2], number = 0, n = 0;
    char size[40], parent[24], memory[40], seconds[40];
    char *arguments[16] = {(char *)"weft-gmsh", (char *)"--parent", parent, (char *)"--size", size};
    snprintf(size, sizeof size, "%.17g", options->size);
    snprintf(parent, sizeof parent, "%ld", (long)getpid());
    snprintf(memory, sizeof memory, "%.17g", options->memory);
    snprintf(seconds, sizeof seconds, "%.17g", options->seconds);
    for (n = 0; arguments[n]; ++n)
        continue;
    if (options->memory > 0) {
        arguments[n++] = (char *)"--mesh-memory";
        arguments[n++] = memory;
    }
    if (options->seconds > 0) {
        arguments[n++] = (char *)"--mesh-time";
        arguments[n++] = seconds;
    }
    if (options->trust_geo)
        arguments[n++] = (char *)"--trust-geo";
    arguments[n++] = (char *)"--";
    arguments[n++] = (char *)path;
    if (pipe2(pipe_ends, O_CLOEXEC) != 0) {
        number = errno;
    } else {
        fcntl(pipe_ends[0], F_SETPIPE_SZ, 1 << 20);
        number = spawn_with(program, arguments, pipe_ends[1], &out->pid);
        close(pipe_ends[1]);
        out->output = pipe_ends[0];
    }
    if (number == 0)
        return WEFT_OK;
    out->pid = 0;
    return weft_error_set(error, WEFT_ERROR_IO, "%s: cannot start %s: %s", path, program,
                          strerror(number));
}

/* Close, end and collect the child; its wait status, or 0 where another took it. */
static int end_child(child *ended, bool kill_it) {
    int how = 0;
    if (ended->output >= 0)
        close(ended->output);
    if (ended->pid > 0) {
        if (kill_it)
            kill(ended->pid, SIGKILL);
        while (waitpid(ended->pid, &how, 0) < 0)
            if (errno != EINTR)
                return 0;
    }
    return how;
}

/* The stream ended before the mesh did: because of how the child ended. */
static weft_status explain_end(const char *program, const char *path, int how, weft_error *error) {
    if (WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL) {
        weft_error_set(error, WEFT_ERROR_INPUT, "Gmsh was killed (signal 9) on %s", path);
        weft_error_hint(error, "memory may have run out: try a larger --size");
    } else if (WIFSIGNALED(how)) {
        weft_error_set(error, WEFT_ERROR_INPUT, "Gmsh crashed (signal %d) on %s", WTERMSIG(how),
                       path);
        weft_error_hint(error, "open the file in Gmsh to see why; another Mesh.Algorithm (2D: 5 or "
                               "6) or Mesh.Algorithm3D (1 or 10) may work");
    } else {
        weft_error_set(error, WEFT_ERROR_IO, "%s: %s ended with exit code %d and sent no mesh",
                       path, program, WIFEXITED(how) ? WEXITSTATUS(how) : -1);
        if (WIFEXITED(how) && WEXITSTATUS(how) == 127)
            weft_error_hint(error, "a library of Gmsh is missing: install libgmsh-dev; "
                                   ".vtkhdf files, square:N and cube:N work without it");
        else
            weft_error_hint(error, "run `weft-gmsh %s > mesh.stream` to see why", path);
    }
    return WIFSIGNALED(how) ? WEFT_ERROR_INPUT : WEFT_ERROR_IO;
}

weft_status weft_mesh_read_gmsh(const char *path, const weft_mesh_options *options,
                                const weft_monitor *monitor, weft_mesh **out, weft_error *error) {
    weft_status status = WEFT_OK;
    char program[4096];
    child from = {0, -1};
    weft_stream_source source = {path, read_child, &from, -1, false, false, 0};
    weft_mesh_data data = {0};
    TRY(find_program(path, program, sizeof program, error));
    TRY(start_child(program, path, options, &from, error));
    status = weft_mesh_stream_read(&source, monitor, &data, error);
    int how = end_child(&from, status != WEFT_OK && !source.cut_short && !source.told_error);
    from = (child){0, -1};
    if (source.cut_short)
        status = explain_end(program, path, how, error);
    if (status == WEFT_OK)
        status = weft_mesh_make_from(&data, path, source.n_left_nodes, monitor, out, error);
done:
    end_child(&from, false);
    weft_mesh_data_free(&data);
    return status;
}
