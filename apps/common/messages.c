/* Prints log messages, errors and a progress bar to a stream. */
#include "apps/common/support.h"
#include "core/weft_escape.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BAR_WIDTH = 30 };
static const double BAR_INTERVAL = 0.1; /* seconds between two drawings */

static const char *const level_names[] = {"error", "warning", "info", "debug"};

void app_ensure_standard_streams(void) {
    for (int stream = 0; stream < 3; ++stream)
        if (fcntl(stream, F_GETFD) < 0 && open("/dev/null", stream == 0 ? O_WRONLY : O_RDONLY) < 0)
            break;
    signal(SIGXFSZ, SIG_IGN);
}

void app_messages_clear(const weft_monitor *monitor) {
    app_messages *messages = monitor->user;
    if (!messages->drawn)
        return;
    fputs("\r\033[K", messages->stream);
    fflush(messages->stream);
    messages->drawn = false;
}

/* Print a message, which may contain user text, with terminal control characters as '?'. */
static void write_shown(FILE *stream, const char *text) {
    bool shown;
    for (int length; (length = weft_character_length(text, &shown)) > 0; text += length)
        if (shown || *text == '\n' || *text == '\t')
            fwrite(text, 1, (size_t)length, stream);
        else
            fputc('?', stream);
}

/* Was this message printed before? The same cause may occur for each device, cache and run. */
static bool is_reported(app_messages *messages, const char *message) {
    const int most = (int)(sizeof messages->reported / sizeof *messages->reported);
    uint64_t hash = 14695981039346656037u; /* FNV-1a */
    for (const char *c = message; *c; ++c)
        hash = (hash ^ (unsigned char)*c) * 1099511628211u;
    for (int i = 0; i < messages->n_reported; ++i)
        if (messages->reported[i] == hash)
            return true;
    if (messages->n_reported < most)
        messages->reported[messages->n_reported++] = hash;
    return false;
}

static void write_log(void *user, weft_log_level level, const char *message) {
    app_messages *messages = user;
    if (level > messages->level)
        return;
    flockfile(messages->stream); /* kernels are compiled on several threads */
    if (level != WEFT_LOG_WARNING || !is_reported(messages, message)) {
        app_messages_clear(&messages->monitor);
        fprintf(messages->stream, "%s: %s: ", messages->program, level_names[level]);
        write_shown(messages->stream, message);
        fputc('\n', messages->stream);
    }
    funlockfile(messages->stream);
}

static void draw_bar(app_messages *messages, const char *phase, double done, double total) {
    double now = weft_clock();
    if (messages->drawn && now - messages->drawn_at < BAR_INTERVAL)
        return;
    if (total > 0) {
        double part = done / total;
        part = part > 0 ? part < 1 ? part : 1 : 0;
        int filled = (int)(part * BAR_WIDTH);
        fprintf(messages->stream, "\r\033[K%-10s [%.*s%*s] %3.0f %%", phase, filled,
                "==============================", BAR_WIDTH - filled, "", 100 * part);
    } else {
        fprintf(messages->stream, "\r\033[K%-10s %.0f", phase, done);
    }
    fflush(messages->stream);
    messages->drawn = true;
    messages->drawn_at = now;
}

static void draw_progress(void *user, const char *phase, double done, double total) {
    app_messages *messages = user;
    if (!messages->bar)
        return;
    flockfile(messages->stream);
    draw_bar(messages, phase, done, total);
    funlockfile(messages->stream);
}

static weft_status find_level(const char *text, weft_log_level *out, weft_error *error) {
    for (int i = 0; i < 4; ++i)
        if (strcmp(text, level_names[i]) == 0) {
            *out = (weft_log_level)i;
            return WEFT_OK;
        }
    weft_error_set(error, WEFT_ERROR_USAGE, "'%s' is not a log level", text);
    weft_error_location(error, "WEFT_LOG", text, 1, 1);
    const char *nearest = weft_nearest_name(text, level_names, 4);
    weft_error_hint(error,
                    "%s%s%sset the environment variable WEFT_LOG to error, warning, info or debug",
                    nearest ? "did you mean '" : "", nearest ? nearest : "", nearest ? "'? " : "");
    return WEFT_ERROR_USAGE;
}

weft_status app_messages_make(app_messages *out, const char *program, FILE *stream,
                              app_verbosity verbosity, weft_error *error) {
    static const weft_log_level levels[] = {WEFT_LOG_ERROR, WEFT_LOG_WARNING, WEFT_LOG_INFO};
    weft_status status = WEFT_OK;
    *out = (app_messages){.monitor = {write_log, draw_progress, out},
                          .program = program,
                          .stream = stream,
                          .level = levels[verbosity + 1]};
    const char *terminal = getenv("TERM");
    out->bar = verbosity > APP_QUIET && isatty(fileno(stream)) &&
               !(terminal && strcmp(terminal, "dumb") == 0);
    const char *text = getenv("WEFT_LOG");
    if (text && text[0] && verbosity == APP_NORMAL)
        TRY(find_level(text, &out->level, error));
done:
    return status;
}

int app_messages_fail(app_messages *messages, const weft_error *error) {
    char text[4096];
    weft_error_text(error, text, sizeof text);
    app_messages_clear(&messages->monitor);
    /* A message with a location starts with it, so that editors can jump there. */
    bool placed = error->file[0] || error->line > 0;
    fprintf(messages->stream, "%s%s%s\n", placed ? "" : messages->program, placed ? "" : ": ",
            text);
    return weft_status_exit_code(error->status);
}
