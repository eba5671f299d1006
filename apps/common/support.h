/** Shared by all apps: messages on stderr, command-line options, JSON, atomically written files. */
#pragma once

#include "core/weft_core.h"

#include <argp.h>
#include <jansson.h>
#include <stdio.h>

/* ---- messages (apps/common/messages.c) ------------------------------------------------------- */

typedef enum app_verbosity { APP_QUIET = -1, APP_NORMAL = 0, APP_VERBOSE = 1 } app_verbosity;

/** Call first in main. Replaces closed standard streams by descriptors that fail when used:
 *  otherwise the next opened file would get their number and receive the printed text. Also makes a
 *  file that exceeds the size limit (ulimit -f) a write error instead of a fatal signal. */
void app_ensure_standard_streams(void);

/** Writes a log and a progress bar to a stream (stderr in the apps). The level is error if quiet,
 *  info if verbose, else that of $WEFT_LOG (error, warning, info or debug), by default warning. The
 *  bar is drawn only on a terminal. */
typedef struct app_messages {
    weft_monitor monitor; /* give &messages.monitor to the library */
    const char *program;  /* borrowed */
    FILE *stream;         /* borrowed */
    weft_log_level level;
    uint64_t reported[32]; /* hashes of the printed warnings: each is printed once */
    int n_reported;
    bool bar;   /* draw progress bars */
    bool drawn; /* a bar is on the last line */
    double drawn_at;
} app_messages;

/** Fill *out, which must not be moved afterwards: its monitor points to it.
 *  Errors  WEFT_ERROR_USAGE: WEFT_LOG is not a level */
weft_status app_messages_make(app_messages *out, const char *program, FILE *stream,
                              app_verbosity verbosity, weft_error *error);
/** Erase the progress bar, if drawn. Call before printing anything else.
 *  monitor  of app_messages_make */
void app_messages_clear(const weft_monitor *monitor);
/** Print an error with its location, line, caret and hint; returns its exit code. */
int app_messages_fail(app_messages *messages, const weft_error *error);

/* ---- options (apps/common/options.c) --------------------------------------------------------- */

/** Check for unknown options and missing or unexpected arguments before argp does, so that one
 *  message suggests the nearest name.
 *  options  ends with a zero entry
 *  Errors   WEFT_ERROR_USAGE */
weft_status app_options_check(const struct argp_option *options, int argc, char *const *argv,
                              weft_error *error);

/** Reads one option, or with the key ARGP_KEY_ARG a positional argument. If the table names two
 *  values, as "CALL CALL", it is called once for each.
 *  text  NULL if the option has no value; points into argv, so it may be kept */
typedef weft_status (*app_option_reader)(void *user, int key, const char *text, weft_error *error);
/** Check the command line by app_options_check, then pass each option to `read`. --help, --usage
 *  and
 *  --version print and exit.
 *  argp    only options, args_doc and doc are used
 *  Errors  WEFT_ERROR_USAGE; the first error of read; WEFT_ERROR_IO: the help cannot be printed */
weft_status app_options_parse(const struct argp *argp, int argc, char **argv,
                              app_option_reader read, void *user, weft_error *error);
/** A former name of the option in the preceding table entry: accepted, but not listed. */
#define APP_HIDDEN_ALIAS(name)                                                                     \
    { name, 0, NULL, OPTION_ALIAS | OPTION_HIDDEN, NULL, 0 }
/** --help, --usage and --version, for every program; ends with a zero entry.
 *  (apps/common/help.c) */
extern const struct argp_option app_help_options[];
/** Print the text of one of these options. The part of argp->doc after "\v" is printed last: long
 *  lines are wrapped at blanks, lines that begin with a blank (examples) are kept.
 *  key      of app_help_options
 *  program  argv[0]
 *  Errors   WEFT_ERROR_IO */
weft_status app_help_print(const struct argp *argp, int key, const char *program,
                           weft_error *error);
/** Parse the text of an option:
 *
 *      text     borrowed as it is; not blank
 *      number   a finite number in [low, high]
 *      integer  an integer in [low, high]
 *      choice   the index in names; the error suggests the nearest name
 *      point    2 or 3 numbers separated by commas
 *
 *  Errors  WEFT_ERROR_USAGE, located in the option's text ("--tolerance:1:3") */
weft_status app_parse_text(const char *option, const char *text, const char **out,
                           weft_error *error);
weft_status app_parse_number(const char *option, const char *text, double low, double high,
                             double *out, weft_error *error);
weft_status app_parse_integer(const char *option, const char *text, int low, int high, int *out,
                              weft_error *error);
weft_status app_parse_choice(const char *option, const char *text, const char *const *names, int n,
                             int *out, weft_error *error);
weft_status app_parse_point(const char *option, const char *text, double out[3], int *n,
                            weft_error *error);
/** Does a path end in `ending`, behind at least one character of a file name? */
bool app_ends_with(const char *path, const char *ending);
/** Split "GROUP=REST" at the first '='. GROUP may be in double quotes, with "" for a quote in it;
 *  it may then contain '='.
 *  form         the expected form, for messages: "GROUP=EXPR"
 *  left, right  malloc'd
 *  Errors       WEFT_ERROR_USAGE: no '=' or an empty side; WEFT_ERROR_MEMORY */
weft_status app_split_assignment(const char *option, const char *text, const char *form,
                                 char **left, char **right, weft_error *error);
/** The same at the first comma outside parentheses. */
weft_status app_split_comma(const char *option, const char *text, const char *form, char **left,
                            char **right, weft_error *error);

/** Reserve memory for one more element of a malloc'd array of n, which only this function made larger.
 *  array   the address of the array's pointer
 *  Errors  WEFT_ERROR_MEMORY; the array is as it was */
weft_status app_array_reserve(void *array, int n, size_t size, weft_error *error);
/** Append an element to such an array: WEFT_OK, or WEFT_ERROR_MEMORY. */
#define APP_APPEND(array, n, element, error)                                                       \
    (app_array_reserve(&(array), n, sizeof *(array), error) == WEFT_OK                             \
         ? ((array)[(n)++] = (element), (weft_status)WEFT_OK)                                      \
         : (weft_status)WEFT_ERROR_MEMORY)

/* ---- JSON and files (apps/common/json.c) ----------------------------------------------------- */

/** A number; null if it is NaN or infinite, which JSON cannot represent. */
json_t *app_json_real(double value);
/** An array of such numbers; NULL: no memory. */
json_t *app_json_list(const double *values, int64_t n);
/** A string. If the text is not UTF-8 (file names may be anything), non-ASCII bytes become '?'. */
json_t *app_json_text(const char *text);
/** Set a key of an object.
 *  value    taken over
 *  Returns  false if value is NULL or memory is out */
bool app_json_set(json_t *object, const char *key, json_t *value);
/** Write root and a newline to a file, or to stdout for "-". A file is written under a temporary
 *  name and renamed, so it is never incomplete.
 *  Errors  WEFT_ERROR_IO, WEFT_ERROR_MEMORY */
weft_status app_json_write(const char *path, const json_t *root, weft_error *error);
/** Write text to a file in the same way. */
weft_status app_file_write(const char *path, const char *text, weft_error *error);
/** Write text to FOLDER/NAME in the same way, and free the text. */
weft_status app_folder_write(const char *folder, const char *name, weft_text *text,
                             weft_error *error);
/** Check that a file can be written, without leaving a file behind, and claim it; "-" always can.
 *  Errors  WEFT_ERROR_IO */
weft_status app_file_check(const char *path, weft_error *error);

/* ---- what would write a file twice (apps/common/claim.c) ------------------------------------- */

/** Refuse to be one of several processes that mpirun or srun has started.
 *  Errors  WEFT_ERROR_USAGE */
weft_status app_ranks_refuse(const char *program, weft_error *error);
/** Claim a file that will be written, until this process ends, so that no other run writes it meanwhile. A second claim of this
 *  process does nothing, nor does one of what is not a file.
 *  Errors  WEFT_ERROR_IO: another run of this machine has claimed it */
weft_status app_file_claim(const char *path, weft_error *error);

/* ---- other programs (apps/common/child.c) ---------------------------------------------------- */

/** Block the signals that stop a program; only app_child_run and app_interrupt_requested then
 *  receive them. */
void app_signals_block(void);
/** The pending signal that requests a stop, or 0. */
int app_interrupt_requested(void);

/** Ctrl-C (SIGINT, SIGTERM, SIGHUP) in a long loop (apps/common/stop.c). Between app_stop_catch and
 *  app_stop_release, the first such signal is only stored, and a second one ends the program. */
void app_stop_catch(void);
void app_stop_release(void);
/** The signal that was caught, or 0. */
int app_stop_caught(void);

typedef struct app_child {
    int exit_code; /* 128 + signal if a signal ended it */
    double seconds;
    char *output, *error; /* stdout and stderr, zero-terminated, malloc'd */
} app_child;
typedef struct app_child_start {
    char *const *arguments;   /* NULL-terminated; arguments[0] is the program's path */
    const char *folder;       /* working directory; NULL: the current one */
    const char *input;        /* text of its standard input; NULL: none */
    void (*tick)(void *user); /* called a few times per second; NULL: nothing is */
    void *user;
} app_child_start;
/** Run a program and wait for it. It is killed if this process ends.
 *  out        caller's; app_child_clear
 *  stopped    set to the signal by which the user stopped it, else untouched; needs
 *  app_signals_block,
 *             without which the signal ends this process
 *  Errors     WEFT_ERROR_IO: it cannot be started; WEFT_ERROR_MEMORY */
weft_status app_child_run(const app_child_start *start, app_child *out, int *stopped,
                          weft_error *error);
void app_child_clear(app_child *child);

/* ---- scripts for gnuplot 5 (apps/common/gnuplot.c) ------------------------------------------- */

/** Append "set terminal ..." for a picture.
 *  kind           "svg" or "png"
 *  more           further words, each preceded by a space, or ""
 *  width, height  pixels */
void app_gnuplot_terminal(weft_text *out, const char *kind, const char *more, int width,
                          int height);
/** Append "set output" for the file NAME.KIND, such that app_gnuplot_run can place it when it is
 *  whole. Characters of the name: letters, digits, '-' and '_'. */
void app_gnuplot_output(weft_text *out, const char *name, const char *kind);
/** Run gnuplot on FOLDER/SCRIPT if it is installed; otherwise log that it is not. Its figures appear,
 *  or replace others, when they are whole.
 *  drawn    set to whether gnuplot ran without errors
 *  stopped  as app_child_run
 *  Errors   those of app_child_run; WEFT_ERROR_IO: a figure is cut short */
weft_status app_gnuplot_run(const char *folder, const char *script, const weft_monitor *monitor,
                            bool *drawn, int *stopped, weft_error *error);

/* ---- human-readable quantities (apps/common/json.c) ------------------------------------------ */

/** Format an amount of bytes as "1.5 GB" or "340 kB"; returns out. */
const char *app_print_bytes(double bytes, char out[32]);
/** Format seconds as "12.3 s" or "4.56 ms"; returns out. */
const char *app_print_seconds(double seconds, char out[32]);
