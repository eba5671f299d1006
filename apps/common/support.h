/** What the apps share: messages on stderr, options, JSON, files written whole. */
#pragma once

#include "core/weft_core.h"

#include <argp.h>
#include <jansson.h>
#include <stdio.h>

/* ---- messages (apps/common/messages.c) ----------------------------------------------------------------
 */

typedef enum app_verbosity { APP_QUIET = -1, APP_NORMAL = 0, APP_VERBOSE = 1 } app_verbosity;

/** Call first in main. Where a standard stream is closed, the next file that is opened would get
 * its number, and what is printed would land in that file: put in its place one that refuses to be
 * used, so that printing fails as it should. A file above the limit on sizes (ulimit -f) is an
 * error of the write too, not the end of the program. */
void app_ensure_standard_streams(void);

/** Writes a log and a progress bar to a stream, stderr in the apps. Zero verbosity shows warnings,
 * unless WEFT_LOG of the environment (error, warning, info or debug) says otherwise; quiet shows
 * errors, verbose information too. The bar is drawn only where the stream is a terminal. */
typedef struct app_messages {
    weft_monitor monitor; /* give &messages.monitor to the library */
    const char *program;  /* borrowed */
    FILE *stream;         /* borrowed */
    weft_log_level level;
    uint64_t reported[32]; /* hashes of the warnings that were printed: each is printed once */
    int n_reported;
    bool bar;   /* draw progress at all */
    bool drawn; /* a bar stands on the last line */
    double drawn_at;
} app_messages;

/** Fill *out, which must not move afterwards: its monitor points to it.
 *  Errors  WEFT_ERROR_USAGE: WEFT_LOG is no level */
weft_status app_messages_make(app_messages *out, const char *program, FILE *stream,
                              app_verbosity verbosity, weft_error *error);
/** Erase the progress bar, where one is drawn. Call before anything else is printed. */
void app_messages_clear(app_messages *messages);
/** Print one error with its place, line, caret and hint; returns the exit code for it. */
int app_messages_fail(app_messages *messages, const weft_error *error);

/* ---- options (apps/common/options.c) ------------------------------------------------------------ */

/** Find what argp would refuse, before argp does, to say it in one message with the nearest name:
 *  unknown options, missing or unexpected arguments. options ends with a zero entry.
 *  Errors  WEFT_ERROR_USAGE */
weft_status app_options_check(const struct argp_option *options, int argc, char *const *argv,
                              weft_error *error);

/** Takes one option, or with ARGP_KEY_ARG an argument that is none; text is NULL where the option
 * has none, and may be kept: it is argv's. Where the table names two values, as "CALL CALL", it is
 * called once for each. */
typedef weft_status (*app_option_reader)(void *user, int key, const char *text, weft_error *error);
/** app_options_check, then each option in its turn to `read`. Of argp the options, args_doc and doc
 *  count; --help, --usage and --version print and exit.
 *  Errors  WEFT_ERROR_USAGE, and those of read, which end it; WEFT_ERROR_IO: --help and the like
 *          cannot be printed */
weft_status app_options_parse(const struct argp *argp, int argc, char **argv, app_option_reader read,
                              void *user, weft_error *error);
/** An earlier name of the option in the table's entry before it: accepted, but not listed. */
#define APP_HIDDEN_ALIAS(name) {name, 0, NULL, OPTION_ALIAS | OPTION_HIDDEN, NULL, 0}
/** --help, --usage and --version, which every program has; ends with a zero entry. (apps/common/help.c) */
extern const struct argp_option app_help_options[];
/** Print what one of them (its key) asks for. What stands after "\v" in argp->doc is printed by us:
 *  long lines are wrapped at blanks; lines that begin with one, as examples do, stay as they are.
 *  program  argv[0]
 *  Errors   WEFT_ERROR_IO */
weft_status app_help_print(const struct argp *argp, int key, const char *program,
                           weft_error *error);
/** For apps that take options alone: an argument is a mesh without --mesh, or half of a formula. */
weft_status app_argument_refuse(const char *text, weft_error *error);

/** Parse the text of an option. Errors are WEFT_ERROR_USAGE, placed in the user's own text under
 * the name of the option ("--tolerance:1:3"). number   a finite number in [low, high] integer  the
 * same without fraction choice   the position in names; the nearest is suggested point    2 or 3
 * numbers with commas between */
weft_status app_parse_number(const char *option, const char *text, double low, double high,
                             double *out, weft_error *error);
weft_status app_parse_integer(const char *option, const char *text, int low, int high, int *out,
                              weft_error *error);
weft_status app_parse_choice(const char *option, const char *text, const char *const *names, int n,
                             int *out, weft_error *error);
weft_status app_parse_point(const char *option, const char *text, double out[3], int *n,
                            weft_error *error);
/** Split "GROUP=REST" at the first '='; both malloc'd. form shows what is wanted, "GROUP=EXPR". The
 *  name of a GROUP may stand in double quotes, with "" for a quote in it: then it may hold '='.
 *  Errors  WEFT_ERROR_USAGE (no '=', empty side), WEFT_ERROR_MEMORY */
weft_status app_split_assignment(const char *option, const char *text, const char *form,
                                 char **left, char **right, weft_error *error);
/** Split at the first comma outside parentheses; both malloc'd. Errors as above. */
weft_status app_split_comma(const char *option, const char *text, const char *form, char **left,
                            char **right, weft_error *error);

/* ---- JSON and files (apps/common/json.c) -------------------------------------------------------- */

/** A number, or null where it is NaN or infinite, which JSON cannot say. */
json_t *app_json_real(double value);
/** A string; where it is not UTF-8, as a file's name may be and JSON may not, with ? for what is
 * not ASCII. */
json_t *app_json_text(const char *text);
/** Set key of an object to a new value, which it takes over; false when value is NULL or memory is
 * out. */
bool app_json_set(json_t *object, const char *key, json_t *value);
/** Write root and a newline to a file, or to stdout for "-". A file is written beside its place and
 *  renamed, so that it is whole or not there.  Errors  WEFT_ERROR_IO, WEFT_ERROR_MEMORY */
weft_status app_json_write(const char *path, const json_t *root, weft_error *error);
/** Write text in the same way. */
weft_status app_file_write(const char *path, const char *text, weft_error *error);
/** Write text into FOLDER/NAME, whole or not; frees the text. */
weft_status app_folder_write(const char *folder, const char *name, weft_text *text,
                             weft_error *error);
/** Can this file be written? Leaves nothing behind; "-" always can.  Errors  WEFT_ERROR_IO */
weft_status app_file_check(const char *path, weft_error *error);

/* ---- other programs (apps/common/child.c) ------------------------------------------------------- */

/** The path of a program in PATH, in out; false where it is not there. */
bool app_find_in_path(const char *program, char *out, size_t size);

/** The signals that stop us: blocked, and taken by app_child_run and app_interrupt_requested
 *  alone. */
void app_signals_block(void);
/** The signal that asks to stop, or 0. */
int app_interrupt_requested(void);

/** Ctrl-C (SIGINT, SIGTERM, SIGHUP) in a long loop (apps/common/stop.c). From app_stop_catch to
 *  app_stop_release the first such signal is only remembered, and the next one ends the program. */
void app_stop_catch(void);
void app_stop_release(void);
/** The signal that was caught, or 0. */
int app_stop_caught(void);

typedef struct app_child {
    int exit_code; /* 128 + signal where one ended it */
    double seconds;
    char *output, *error; /* stdout and stderr, terminated, malloc'd */
} app_child;
/** Run the program arguments[0], a path, in a folder (NULL: this one) and wait; it is ended with this
 * process. *stopped is the signal by which the user stopped it, else as it was: without
 * app_signals_block they end us. tick(user) is called some times a second.
 * Errors  WEFT_ERROR_IO: it cannot be started; WEFT_ERROR_MEMORY */
weft_status app_child_run(char *const *arguments, const char *folder,
                          void (*tick)(void *user), void *user, app_child *out, int *stopped,
                          weft_error *error);
void app_child_clear(app_child *child);

/* ---- scripts for gnuplot 5 (apps/common/gnuplot.c) ----------------------------------------------- */

/** Add the terminal of a picture. kind: "svg" or "png"; more: further words of "set terminal",
 *  each with a space before it, or "" */
void app_gnuplot_terminal(weft_text *out, const char *kind, const char *more, int width,
                          int height);
/** Run gnuplot on FOLDER/SCRIPT where it is installed; where not, that is logged. *drawn: it was
 *  there and made no complaint.  Errors, *stopped  those of app_child_run */
weft_status app_gnuplot_run(const char *folder, const char *script, const weft_monitor *monitor,
                            bool *drawn, int *stopped, weft_error *error);

/* ---- for people (apps/common/json.c) ------------------------------------------------------------- */

/** "1.5 GB", "340 kB": bytes for people, in out. */
const char *app_print_bytes(double bytes, char out[32]);
/** "12.3 s", "4.56 ms": seconds for people, in out. */
const char *app_print_seconds(double seconds, char out[32]);
