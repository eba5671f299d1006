/** Child programs under limits of time, memory and output. No shell is ever involved: the program
 *  and each of its arguments go to execve as they are.
 *
 *      weft_process child;
 *      TRY(weft_process_begin(&start, &child, error));
 *      while ((n = weft_process_read(&child, bytes, sizeof bytes)) > 0)
 *          ...
 *      weft_process_end(&child, n < 0, &result);
 *
 *  The child leads a process group of its own, so that its children end with it, and is killed when
 *  the thread that began it ends. Used by fem/ and apps/ too; not installed. */
#pragma once

#include "core/weft_core.h"

#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What the child may use; 0: no limit. The kernel enforces all but `seconds` on the child itself
 *  and on each process that it starts. */
typedef struct weft_process_limits {
    double seconds;      /* by the clock, from begin to end */
    double cpu_seconds;  /* of processor time, each process */
    size_t memory_bytes; /* of address space, each process; not set in builds with sanitizers */
    size_t file_bytes;   /* length of any file that it writes */
} weft_process_limits;

typedef struct weft_process_start {
    const char *program;    /* a path; PATH is not searched */
    char *const *arguments; /* arguments[0] is its name; NULL-terminated */
    int folder;             /* opened, to run in, with TMPDIR="."; -1: this one */
    bool english;           /* with LC_ALL=C */
    bool errors_too;        /* standard error goes where standard output goes; else it is ours */
    int output, errors;     /* descriptors that take standard output and error; 0: a pipe, and ours */
    weft_process_limits limits;
    const weft_monitor *monitor; /* gets `phase` with the seconds that have passed; may be NULL */
    const char *phase;           /* NULL: report nothing */
} weft_process_start;

typedef enum weft_process_limit {
    WEFT_LIMIT_NONE,
    WEFT_LIMIT_SECONDS,
    WEFT_LIMIT_CPU,
    WEFT_LIMIT_FILE,
    WEFT_LIMIT_OUTPUT /* of weft_process_run alone */
} weft_process_limit;

typedef struct weft_process_result {
    int exit_code; /* 128 + signal where a signal ended it; 0 where the system has lost it */
    int signal;    /* 0: none */
    weft_process_limit limit; /* the limit that ended it */
} weft_process_result;

/** A running child. Start from {0}; ended by weft_process_end, once. */
typedef struct weft_process {
    pid_t pid;  /* 0: none */
    int output; /* read end of the pipe from its standard output; -1: there is no pipe */
    bool ended, late;
    int how;                /* as waitpid tells */
    double began, reported; /* seconds of weft_clock; the last progress */
    weft_process_limits limits;
    const weft_monitor *monitor;
    const char *phase;
} weft_process;

/** Errors WEFT_ERROR_IO: it cannot be started; WEFT_ERROR_MEMORY */
weft_status weft_process_begin(const weft_process_start *start, weft_process *out,
                               weft_error *error);
/** As read(): bytes, 0 at the end, -1 with errno; ETIME where the time is over. */
ssize_t weft_process_read(weft_process *process, void *out, size_t size);
/** Has it ended? */
bool weft_process_ended(weft_process *process);
/** Wait for its end, within what is left of its time, or kill it with its children at once. */
void weft_process_end(weft_process *process, bool kill_it, weft_process_result *result);
/** Begin, read, end. output: the start of what it printed, terminated, zeros shown as '?'; a child
 *  that prints more than 64 MB is killed. */
weft_status weft_process_run(const weft_process_start *start, char *output, size_t size,
                             weft_process_result *result, weft_error *error);
/** "was stopped after 300 s", "used more than 300 s of processor time", "wrote a file of more than
 *  256 MB", "printed more than 64 MB", or "" where no limit ended it. */
const char *weft_process_why(const weft_process_result *result, const weft_process_limits *limits,
                             char *out, size_t size);
/** A limit from the environment: a number >= 0, 0: none; *value untouched where it is not set.
 *  Errors WEFT_ERROR_USAGE: it is not such a number */
weft_status weft_process_limit_read(const char *variable, double *value, weft_error *error);

#ifdef __cplusplus
}
#endif
