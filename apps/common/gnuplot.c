/* Writes scripts for gnuplot 5, runs it if it is installed, and sees that its figures are whole. */
#include "apps/common/support.h"
#include "core/base/file.h"
#include "core/base/process.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Fall back to the terminal png if gnuplot was built without cairo. */
void app_gnuplot_terminal(weft_text *out, const char *kind, const char *more, int width,
                          int height) {
    if (strcmp(kind, "svg") == 0)
        weft_text_add(out, "set terminal svg noenhanced size %d,%d%s\n", width, height, more);
    else
        weft_text_add(
            out,
            "if (strstrt(GPVAL_TERMINALS, 'pngcairo') > 0) { set terminal pngcairo noenhanced size "
            "%d,%d%s } else { set terminal png noenhanced size %d,%d%s }\n",
            width, height, more, width, height, more);
}

/* Run by hand, the script draws the file itself; app_gnuplot_run gives a prefix for the new one. */
static const char output_start[] = "set output weft_new.'";

void app_gnuplot_output(weft_text *out, const char *name, const char *kind) {
    weft_text_add(out, "if (!exists('weft_new')) weft_new = ''\n%s%s.%s'\n", output_start, name,
                  kind);
}

/* ---- running it ------------------------------------------------------------------------------ */

enum { NAME_MOST = 200 };

/* What a run of gnuplot draws: files of a prefix and the figure's name. */
typedef struct figures {
    const char *folder;
    char prefix[40], *script;
} figures;

/* The next name after `at` in the script; NULL: there is none. */
static const char *next_name(const char *at, char out[NAME_MOST]) {
    at = strstr(at, output_start);
    if (!at)
        return NULL;
    at += sizeof output_start - 1;
    snprintf(out, NAME_MOST, "%.*s", (int)strcspn(at, "'"), at);
    return at;
}

static bool ends_with(const char *bytes, size_t n, const char *ending, size_t length) {
    return n >= length && memcmp(bytes + n - length, ending, length) == 0;
}

/* gnuplot does not look at what its writes return: so the end of the file is looked at. */
static bool is_whole(const char *path, const char *name) {
    static const char png_end[] = "IEND\xAE\x42\x60\x82", svg_end[] = "</svg>";
    char tail[32];
    int file = -1;
    int64_t size = 0;
    if (weft_file_open(path, O_RDONLY, &file, &size, NULL) != WEFT_OK)
        return false;
    const off_t at = size > (int64_t)sizeof tail ? size - (off_t)sizeof tail : 0;
    ssize_t n = fsync(file) == 0 ? pread(file, tail, sizeof tail, at) : -1;
    close(file);
    while (n > 0 && tail[n - 1] == '\n')
        --n;
    return n > 0 &&
           (app_ends_with(name, ".svg") ? ends_with(tail, (size_t)n, svg_end, sizeof svg_end - 1)
                                        : ends_with(tail, (size_t)n, png_end, sizeof png_end - 1));
}

static weft_status refuse_figure(const figures *f, const char *name, const char *why,
                                 weft_error *error) {
    weft_error_set(error, WEFT_ERROR_IO,
                   "cannot write %s/%s: gnuplot has not written all of it%s%.300s", f->folder, name,
                   *why ? ": " : "", why);
    weft_error_hint(error,
                    "see that the disk has room; gnuplot draws the script in this folder again");
    return WEFT_ERROR_IO;
}

/* Give the figures that are whole their names, and remove the others.
 *  missing  how many gnuplot has not begun */
static weft_status place_figures(const figures *f, const app_child *child, bool keep, int *missing,
                                 weft_error *error) {
    weft_status status = WEFT_OK;
    char name[NAME_MOST], from[8192], to[8192];
    *missing = 0;
    for (const char *at = f->script; (at = next_name(at, name));) {
        snprintf(from, sizeof from, "%s/%s%s", f->folder, f->prefix, name);
        snprintf(to, sizeof to, "%s/%s", f->folder, name);
        const bool began = access(from, F_OK) == 0;
        *missing += !began;
        if (keep && is_whole(from, name) && rename(from, to) == 0)
            continue;
        if (began)
            (void)unlink(from);
        if (keep && status == WEFT_OK && (began || strstr(child->error, "cannot open")))
            status = refuse_figure(f, name, child->error, error);
    }
    return status;
}

weft_status app_gnuplot_run(const char *folder, const char *script, const weft_monitor *monitor,
                            bool *drawn, int *stopped, weft_error *error) {
    weft_status status = WEFT_OK;
    app_child child = {0};
    figures f = {.folder = folder};
    int missing = 0;
    char program[4096], path[8192], set_prefix[64];
    char *arguments[] = {program, (char *)(uintptr_t) "-e", set_prefix, (char *)(uintptr_t)script,
                         NULL};
    const app_child_start start = {.arguments = arguments, .folder = folder};
    *drawn = false;
    if (!weft_find_in_path("gnuplot", program, sizeof program)) {
        weft_log(monitor, WEFT_LOG_INFO, "gnuplot is not installed: %s is not drawn", script);
        goto done;
    }
    snprintf(f.prefix, sizeof f.prefix, ".tmp-%016" PRIx64 "-", weft_random());
    snprintf(set_prefix, sizeof set_prefix, "weft_new = '%s'", f.prefix);
    snprintf(path, sizeof path, "%s/%s", folder, script);
    TRY(weft_file_read_as(path, WEFT_FILE_DATA, &f.script, NULL, error));
    TRY(app_child_run(&start, &child, stopped, error));
    TRY(place_figures(&f, &child, !*stopped, &missing, error));
    *drawn = child.exit_code == 0 && missing == 0 && !*stopped;
    if (!*drawn && !*stopped)
        weft_log(monitor, WEFT_LOG_WARNING, "gnuplot failed on %s/%s:\n%.600s", folder, script,
                 child.error);
done:
    app_child_clear(&child);
    free(f.script);
    return status;
}
