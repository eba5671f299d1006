/* Writes what a paper's tables and figures have become here: data, charts, and lines that compare. */
#include "papers.h"

#include "apps/common/statistics.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

weft_status paper_set(paper_run *run, const char *key, json_t *value, weft_error *error) {
    return app_json_set(run->data, key, value) ? WEFT_OK : weft_out_of_memory(error, "the data");
}

/* Add an object to a list of the data. */
static weft_status append(paper_run *run, const char *list, json_t *object, weft_error *error) {
    if (!object || json_array_append_new(json_object_get(run->data, list), object) != 0)
        return weft_out_of_memory(error, "the data");
    return WEFT_OK;
}

/* Print a line, and keep it for comparison.txt. */
static void add_line(paper_run *run, const char *line) {
    weft_text_add(&run->lines, "%s\n", line);
    printf("%s: %s\n", run->paper->name, line);
    (void)fflush(stdout);
}

/* kind: "predicted " or "" */
static weft_status compare(paper_run *run, const char *kind, const char *what,
                           const double values[2], const char *unit, weft_error *error) {
    char line[512];
    const char *space = unit[0] ? " " : "";
    const double theirs = values[0], ours = values[1];
    if (!isfinite(ours))
        return WEFT_OK;
    if (isfinite(theirs)) {
        const int n =
            snprintf(line, sizeof line, "%s: %.4g%s%s in the paper (%s), %s%.4g%s%s here", what,
                     theirs, space, unit, run->paper->hardware, kind, ours, space, unit);
        if (theirs != 0 && n >= 0 && n < (int)sizeof line)
            snprintf(line + n, sizeof line - (size_t)n, ": %.3g of it", ours / theirs);
    } else
        snprintf(line, sizeof line, "%s: no number in the paper, %s%.4g%s%s here", what, kind, ours,
                 space, unit);
    add_line(run, line);
    return append(run, "comparison",
                  json_pack("{s:o,s:o,s:f,s:s}", "what", app_json_text(what), "paper",
                            app_json_real(theirs), "here", ours, "unit", unit),
                  error);
}

weft_status paper_compare(paper_run *run, const char *what, double theirs, double ours,
                          const char *unit, weft_error *error) {
    return compare(run, run->predicts ? "predicted " : "", what, (double[]){theirs, ours}, unit,
                   error);
}

weft_status paper_compare_count(paper_run *run, const char *what, double theirs, double ours,
                                const char *unit, weft_error *error) {
    return compare(run, "", what, (double[]){theirs, ours}, unit, error);
}

weft_status paper_leave_out(paper_run *run, const char *what, const char *why, weft_error *error) {
    char line[1024];
    snprintf(line, sizeof line, "left out: %s: %s", what, why);
    add_line(run, line);
    return append(run, "left_out",
                  json_pack("{s:o,s:o}", "what", app_json_text(what), "why", app_json_text(why)),
                  error);
}

weft_status paper_remark(paper_run *run, weft_error *error, const char *format, ...) {
    char line[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    add_line(run, line);
    return append(run, "remarks", app_json_text(line), error);
}

weft_status paper_draw(paper_run *run, const char *figure, paper_chart *chart, weft_error *error) {
    weft_text text = {0};
    char note[400], name[128];
    snprintf(note, sizeof note, "%.300s, %s", run->limits->name, run->kind);
    snprintf(name, sizeof name, "%s.svg", figure);
    chart->note = note;
    paper_chart_add(chart, &text);
    return app_folder_write(run->folder, name, &text, error);
}

double paper_median(double *values, int n) {
    return app_spread_of(values, n).median;
}

static weft_status make_folder(const char *path, weft_error *error) {
    struct stat folder;
    if (mkdir(path, 0777) == 0 ||
        (errno == EEXIST && stat(path, &folder) == 0 && S_ISDIR(folder.st_mode)))
        return WEFT_OK;
    return weft_error_set(error, WEFT_ERROR_IO, "cannot make the folder %s: %s", path,
                          strerror(errno));
}

static weft_status begin(paper_run *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_device_options how = weft_device_options_default(run->monitor);
    snprintf(run->folder, sizeof run->folder, "%s/%s", run->options->out, run->paper->name);
    TRY(make_folder(run->options->out, error));
    TRY(make_folder(run->folder, error));
    TRY(weft_device_open(run->options->device, &how, &run->device, error));
    TRY(weft_library_make(&run->library, error));
    TRY(weft_arena_make(&run->arena, error));
    run->limits = weft_device_limits(run->device);
    run->predicts = run->limits->records_only;
    run->gpu = run->limits->execution == WEFT_EXECUTION_SIMT;
    run->kind = run->predicts ? "predicted, not measured" : "measured";
    run->data = json_pack("{s:s,s:s,s:o,s:s,s:b,s:[],s:[],s:[]}", "paper", run->paper->title,
                          "paper_hardware", run->paper->hardware, "device",
                          app_json_text(run->limits->name), "kind",
                          run->predicts ? "predicted" : "measured", "quick", run->options->quick,
                          "comparison", "left_out", "remarks");
    if (!run->data)
        TRY(weft_out_of_memory(error, "the data"));
done:
    return status;
}

static weft_status end(paper_run *run, weft_error *error) {
    weft_status status = WEFT_OK;
    char path[1200];
    snprintf(path, sizeof path, "%s/%s.json", run->folder, run->paper->name);
    TRY(app_json_write(path, run->data, error));
    TRY(app_folder_write(run->folder, "comparison.txt", &run->lines, error));
    printf("%s: written to %s\n", run->paper->name, run->folder);
done:
    return status;
}

weft_status paper_make(const papers_options *options, const paper *about,
                       const weft_monitor *monitor, weft_error *error) {
    weft_status status = WEFT_OK;
    paper_run run = {.options = options, .paper = about, .monitor = monitor};
    TRY(begin(&run, error));
    printf("%s: %s, on %s%s%s\n", about->name, about->title, run.limits->name,
           run.predicts ? ": predictions, no times" : "",
           options->quick ? ", quick: too small to compare" : "");
    weft_text_add(&run.lines, "%s\n%s%s%s\n\n", about->title, run.limits->name,
                  run.predicts ? ": predictions, no times" : "",
                  options->quick ? ", quick: too small to compare" : "");
    TRY(about->make(&run, error));
    TRY(end(&run, error));
done:
    weft_text_free(&run.lines);
    json_decref(run.data);
    weft_arena_free(&run.arena);
    weft_library_free(&run.library);
    weft_device_free(&run.device);
    return status;
}
