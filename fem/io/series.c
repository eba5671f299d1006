/* Decides whether a time series is made, resumed or refused. Existing data are only deleted on
 * request. */
#include "fem/io/series.h"
#include "core/base/options.h"
#include "fem/io/result.h"
#include "fem/mesh/mesh.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const weft_series_kind *const kinds[] = {&weft_series_pvd, &weft_series_vtkhdf};

static weft_status find_kind(const char *path, const weft_series_kind **out, weft_error *error) {
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i)
        if (weft_ends_with(path, kinds[i]->ending)) {
            *out = kinds[i];
            return WEFT_OK;
        }
    weft_error_set(error, WEFT_ERROR_USAGE, "%s: a time series ends in .pvd or .vtkhdf", path);
    weft_error_hint(error, "call it NAME.pvd, which every ParaView opens, or NAME.vtkhdf, which is "
                           "smaller and needs ParaView 5.12");
    return WEFT_ERROR_USAGE;
}

/* An empty file holds no data to protect. */
static bool is_there(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && (!S_ISREG(info.st_mode) || info.st_size > 0);
}

static weft_status refuse_existing(const char *path, weft_error *error) {
    weft_error_set(error, WEFT_ERROR_USAGE, "%s exists, and it is kept", path);
    weft_error_hint(error, "give another name, continue it from a checkpoint of its run, or "
                           "replace it with --overwrite");
    return WEFT_ERROR_USAGE;
}

weft_status weft_series_check(const char *path, const weft_series_options *options,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_series_kind *kind;
    TRY(weft_options_check("weft_series_options", options->size, sizeof *options, error));
    TRY(find_kind(path, &kind, error));
    TRY(weft_result_check(path, error));
    if (!options->resume && !options->overwrite && is_there(path))
        status = refuse_existing(path, error);
done:
    return status;
}

weft_status weft_series_lock(int file, const char *path, weft_error *error) {
    if (flock(file, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
        return WEFT_OK;
    weft_error_set(error, WEFT_ERROR_IO, "%s is locked: another run writes this series", path);
    weft_error_hint(error, "wait for its end, or give --output another name");
    return WEFT_ERROR_IO;
}

/* ---- an existing file ------------------------------------------------------------------------ */

static weft_status refuse_other(const weft_series *s, const weft_series_found *found,
                                weft_error *error) {
    const char *why = !found->is_series ? "it is not a series of Weft"
                      : strcmp(found->mesh, s->mesh_hash) != 0
                          ? "it is the series of another mesh"
                          : "it is the series of other options";
    weft_error_set(error, WEFT_ERROR_INPUT, "%s cannot be continued: %s", s->path, why);
    weft_error_hint(error, "give --output another name, or --overwrite to replace it");
    return WEFT_ERROR_INPUT;
}

static weft_status refuse_shorter(const weft_series *s, double last, double end,
                                  weft_error *error) {
    weft_error_set(error, WEFT_ERROR_INPUT,
                   "%s has steps up to t = %g, and this run ends at t = %g", s->path, last, end);
    weft_error_hint(error, "raise --steps, or give --overwrite to lose what comes after");
    return WEFT_ERROR_INPUT;
}

/* Determine which of its steps are kept. */
static weft_status choose_kept(weft_series *s, const weft_series_found *found,
                               const weft_series_options *options, const weft_monitor *monitor,
                               weft_error *error) {
    int64_t n = found->n_steps;
    const double last = n > 0 ? found->times[n - 1] : 0;
    while (n > 0 && !(found->times[n - 1] <= options->start))
        --n;
    if (n < found->n_steps && last > options->end && !options->overwrite)
        return refuse_shorter(s, last, options->end, error);
    if (n < found->n_steps)
        weft_log(monitor, WEFT_LOG_INFO,
                 "%s: its %" PRId64 " steps after t = %g are computed again", s->path,
                 found->n_steps - n, options->start);
    s->n_steps = n;
    if (n > 0)
        s->last = found->times[n - 1];
    if (n > 0 && s->last == options->start && options->at_start)
        s->n_more -= 1; /* it exists already */
    return WEFT_OK;
}

static weft_status begin(weft_series *s, const weft_series_options *options,
                         const weft_monitor *monitor, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_series_found found = {0};
    bool resume = false;
    if (is_there(s->path)) {
        if (!options->resume && !options->overwrite)
            TRY(refuse_existing(s->path, error));
        TRY(s->kind->look(s, &found, error));
        resume = options->resume && found.is_series && strcmp(found.mesh, s->mesh_hash) == 0 &&
                 strcmp(found.problem, s->problem) == 0;
        if (options->resume && !resume && !options->overwrite)
            TRY(refuse_other(s, &found, error));
        if (resume)
            TRY(choose_kept(s, &found, options, monitor, error));
    } else if (options->resume) {
        weft_log(monitor, WEFT_LOG_INFO, "%s is not there: it begins at t = %g", s->path,
                 options->start);
    }
    TRY(s->kind->begin(s, resume, &found, error));
done:
    free(found.times);
    return status;
}

/* ---- the interface --------------------------------------------------------------------------- */

int64_t weft_series_rows(const weft_series *s, int field) {
    return s->fields[field].on_cells ? s->mesh->n_cells : s->nodes ? s->nodes->n : s->mesh->n_nodes;
}

static void series_free(weft_series **series) {
    weft_series *s = *series;
    if (!s)
        return;
    if (s->state)
        s->kind->free(s);
    if (s->file >= 0)
        close(s->file);
    free(s->path);
    free(s->statement);
    for (int i = 0; s->fields && i < s->n_fields; ++i)
        free((char *)s->fields[i].name);
    free(s->fields);
    free(s);
    *series = NULL;
}

static bool copy_fields(weft_series *s, const weft_series_options *options) {
    s->fields = calloc((size_t)options->n_fields, sizeof *s->fields);
    for (; s->fields && s->n_fields < options->n_fields; ++s->n_fields) {
        weft_field *field = &s->fields[s->n_fields];
        *field = options->fields[s->n_fields];
        field->values = NULL;
        field->name = strdup(field->name);
        if (!field->name)
            return false;
    }
    return s->fields != NULL;
}

/* What must be the same to resume: the problem, and the fields where they are not one number at each
 * node of the mesh. */
static weft_status hash_problem(weft_series *s, const char *problem, weft_error *error) {
    weft_text text = {0};
    const bool is_plain =
        !s->nodes && s->n_fields == 1 && s->fields->n_components == 1 && !s->fields->on_cells;
    weft_text_add(&text, "%s", problem);
    if (s->nodes)
        weft_text_add(&text, "\nelement %d %d", s->nodes->element->family,
                      s->nodes->element->degree);
    for (int i = 0; i < s->n_fields && !is_plain; ++i)
        weft_text_add(&text, "\n%s %d %s", s->fields[i].name, s->fields[i].n_components,
                      s->fields[i].on_cells ? "cells" : "nodes");
    if (text.failed)
        return weft_out_of_memory(error, s->path);
    weft_hash(text.data ? text.data : "", text.length, s->problem);
    weft_text_free(&text);
    return WEFT_OK;
}

weft_status weft_series_make(const char *path, const weft_mesh *mesh,
                             const weft_series_options *options, const weft_monitor *monitor,
                             weft_series **out, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_series_kind *kind;
    weft_series *s = NULL;
    TRY(weft_options_check("weft_series_options", options->size, sizeof *options, error));
    TRY(find_kind(path, &kind, error));
    if (options->n_steps + options->at_start < 1)
        TRY(weft_error_set(error, WEFT_ERROR_USAGE, "%s: a series without steps", path));
    s = calloc(1, sizeof *s);
    if (s) {
        *s = (weft_series){.kind = kind,
                           .mesh = mesh,
                           .nodes = options->nodes,
                           .n_more = options->n_steps + options->at_start,
                           .overwrite = options->overwrite,
                           .file = -1};
        s->path = strdup(path);
        s->statement = options->statement ? strdup(options->statement) : NULL;
    }
    if (!s || !s->path || (options->statement && !s->statement) || !copy_fields(s, options))
        TRY(weft_error_set(error, WEFT_ERROR_MEMORY, "%s: out of memory", path));
    weft_mesh_hash(mesh, s->mesh_hash);
    TRY(hash_problem(s, options->problem, error));
    TRY(begin(s, options, monitor, error));
    *out = s;
    s = NULL;
done:
    series_free(&s);
    return status;
}

weft_status weft_series_add(weft_series *s, double t, const double *const *values,
                            weft_error *error) {
    weft_status status = WEFT_OK;
    if (s->n_steps > 0 && t <= s->last)
        goto done;
    if (s->n_more == 0)
        TRY(weft_error_set(error, WEFT_ERROR_USAGE, "%s has no room for another step", s->path));
    TRY(s->kind->add(s, t, values, error));
    s->n_steps += 1;
    s->n_more -= 1;
    s->last = t;
done:
    return status;
}

weft_status weft_series_close(weft_series **series, weft_error *error) {
    if (!series || !*series)
        return WEFT_OK;
    const weft_status status = (*series)->kind->close(*series, error);
    series_free(series);
    return status;
}
