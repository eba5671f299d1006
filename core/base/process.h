/** Child programs under limits of time, memory and output. In: a program, its arguments and limits.
 *  Out: its output and how it ended. No shell is involved: program and arguments go to execve
 *  unchanged.
 *
 *      weft_process child;
 *      TRY(weft_process_begin(&start, &child, error));
 *      while ((n = weft_process_read(&child, bytes, sizeof bytes)) > 0)
 *          ...
 *      weft_process_end(&child, n < 0, &result);
 *
 *  The child leads its own process group, so its children are killed with it. It is killed when the
 *  thread that started it ends. Also used by fem/ and apps/; not installed. */
#pragma once

#include "core/weft_core.h"

#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Is it a regular file that may be executed? */
bool weft_is_program(const char *path);
/** Find a program in PATH, whose relative directories are skipped: they depend on the working directory. */
bool weft_find_in_path(const char *name, char *out, size_t size);
/** The program or library that contains this function, without links.
 *  out      [size], size >= PATH_MAX
 *  Returns  false where the system does not tell */
bool weft_find_own_file(char *out, size_t size);
/** Where Weft is in the Python package weft (weft/prefix/lib, weft/prefix/bin): a path in the folder of packages, unless
 *  everybody may write into that.
 *  name     "ziglang/zig", a package and a file in it
 *  Returns  false where that does not exist */
bool weft_find_in_packages(const char *name, char *out, size_t size);
/** Find a program of Weft: in the folder of this one, where `cmake --install` puts it from there, or in PATH. */
bool weft_find_own_program(const char *name, char *out, size_t size);

/** Resource limits of the child; 0: no limit. The kernel enforces all except `seconds`, on the
 *  child and on each process that it starts. */
typedef struct weft_process_limits {
    double seconds;      /* elapsed time, from begin to end */
    double cpu_seconds;  /* processor time per process */
    size_t memory_bytes; /* address space per process; not set in builds with sanitizers */
    size_t file_bytes;   /* length of any file that it writes */
} weft_process_limits;

typedef struct weft_process_start {
    const char *program;    /* a path; PATH is not searched */
    char *const *arguments; /* arguments[0] is its name; NULL-terminated */
    int folder;             /* working directory's descriptor, with TMPDIR="."; -1: inherited */
    bool english;           /* set LC_ALL=C */
    bool errors_too;        /* redirect standard error to standard output; else inherit it */
    int input, output;      /* descriptors: standard input (0: /dev/null), output (0: a pipe), */
    int errors;             /* error (0: inherited). The child has no other ones */
    weft_process_limits limits;
    const weft_monitor *monitor; /* is sent `phase` with the elapsed seconds; may be NULL */
    const char *phase;           /* NULL: report nothing */
} weft_process_start;

typedef enum weft_process_limit {
    WEFT_LIMIT_NONE,
    WEFT_LIMIT_SECONDS,
    WEFT_LIMIT_CPU,
    WEFT_LIMIT_FILE,
    WEFT_LIMIT_OUTPUT /* by weft_process_run only */
} weft_process_limit;

typedef struct weft_process_result {
    int exit_code; /* 128 + signal if a signal ended it; 0 if the system has lost the code */
    int signal;    /* 0: none */
    weft_process_limit limit; /* the limit that ended it, if any */
} weft_process_result;

/** A running child. Start from {0}; call weft_process_end exactly once. */
typedef struct weft_process {
    pid_t pid;  /* 0: none */
    int output; /* read end of the pipe from its standard output; -1: there is no pipe */
    bool ended, late;
    int how;                /* status of waitpid */
    double began, reported; /* weft_clock at the start and at the last progress report */
    weft_process_limits limits;
    const weft_monitor *monitor;
    const char *phase;
} weft_process;

/** Start a child.
 *  Errors  WEFT_ERROR_IO: it cannot be started; WEFT_ERROR_MEMORY */
weft_status weft_process_begin(const weft_process_start *start, weft_process *out,
                               weft_error *error);
/** Read from the child's standard output. Returns as read() does: number of bytes, 0 at the end,
 *  -1 with errno set; ETIME if its time limit is exceeded. */
ssize_t weft_process_read(weft_process *process, void *out, size_t size);
/** Has the child ended? */
bool weft_process_ended(weft_process *process);
/** Wait for the child until its time limit, then kill it and its children.
 *  kill_it  kill it without waiting */
void weft_process_end(weft_process *process, bool kill_it, weft_process_result *result);
/** Run a child to its end. A child that prints more than 64 MB is killed.
 *  output  [size] the first bytes that it printed, zero-terminated; zero bytes become '?'
 *  Errors  as weft_process_begin */
weft_status weft_process_run(const weft_process_start *start, char *output, size_t size,
                             weft_process_result *result, weft_error *error);
/** Which limit ended the child, in words; returns out:
 *
 *      "was stopped after 300 s"
 *      "used more than 300 s of processor time"
 *      "wrote a file of more than 256 MB"
 *      "printed more than 64 MB"
 *      ""                                          no limit */
const char *weft_process_why(const weft_process_result *result, const weft_process_limits *limits,
                             char *out, size_t size);
/** Read a limit from an environment variable: a number >= 0, where 0 means no limit.
 *  value   untouched if the variable is not set
 *  Errors  WEFT_ERROR_USAGE: not a number >= 0 */
weft_status weft_process_limit_read(const char *variable, double *value, weft_error *error);

#ifdef __cplusplus
}
#endif
