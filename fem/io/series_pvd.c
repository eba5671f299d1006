/* Writes a time series as an index, NAME.pvd, and a file of mesh and values per step,
 * NAME_steps/000000.vtu. A step is written before the index that refers to it; both are replaced
 * atomically.
 *
 * Source  ParaView's guide, "PVD file format" */
#include "core/base/file.h"
#include "core/base/number.h"
#include "fem/io/result.h"
#include "fem/io/series.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char magic[] = "<!-- Weft series 1: mesh %32[0-9a-f], problem %32[0-9a-f] -->";
static const char entry_start[] = "    <DataSet timestep=\"";
static const char index_end[] = "  </Collection>\n</VTKFile>\n";

typedef struct pvd {
    char *folder;    /* NAME_steps, as the index's own folder sees it from here */
    char *base;      /* its last part, for XML */
    weft_text index; /* without its end */
} pvd;

/* ---- reading an index ---------------------------------------------------------------------- */

/* Read the times of all lines with a step. Returns false if one is damaged. */
static bool read_times(const char *text, weft_series_found *out) {
    int64_t n = 0;
    for (const char *at = text; (at = strstr(at, entry_start)); at += sizeof entry_start - 1)
        ++n;
    out->times = malloc(((size_t)n + 1) * sizeof *out->times);
    if (!out->times)
        return false;
    for (const char *at = text; (at = strstr(at, entry_start));) {
        char *end = NULL;
        at += sizeof entry_start - 1;
        const double t = weft_number_read(at, &end);
        if (end == at || *end != '"' || (out->n_steps > 0 && !(t > out->times[out->n_steps - 1])))
            return true;
        out->times[out->n_steps++] = t;
    }
    out->is_series = strstr(text, index_end) != NULL;
    return true;
}

static weft_status look(weft_series *s, weft_series_found *out, weft_error *error) {
    weft_status status = WEFT_OK;
    char *text = NULL;
    size_t length = 0;
    TRY(weft_file_read_as(s->path, WEFT_FILE_INDEX, &text, &length, error));
    const char *at = strlen(text) == length ? strstr(text, "<!-- Weft series") : NULL;
    if (at && sscanf(at, magic, out->mesh, out->problem) == 2) {
        if (!read_times(at, out))
            status = weft_out_of_memory(error, s->path);
    }
done:
    free(text);
    return status;
}

/* ---- writing ------------------------------------------------------------------------------- */

static void add_escaped(weft_text *out, const char *name) {
    for (; *name; ++name)
        if (strchr("&<>\"", *name))
            weft_text_add(out, "&#%d;", *name);
        else
            weft_text_add(out, "%c", *name);
}

static void add_entry(pvd *p, int64_t step, double t) {
    weft_text_add(&p->index, "%s%.17g\" part=\"0\" file=\"", entry_start, t);
    add_escaped(&p->index, p->base);
    weft_text_add(&p->index, "/%06" PRId64 ".vtu\"/>\n", step);
}

static weft_status fill_index(void *user, const weft_temporary *temporary, weft_error *error) {
    const weft_series *s = user;
    const pvd *p = s->state;
    const size_t n = sizeof index_end - 1;
    errno = ENOSPC; /* for a short write */
    if (write(temporary->file, p->index.data, p->index.length) == (ssize_t)p->index.length &&
        write(temporary->file, index_end, n) == (ssize_t)n)
        return WEFT_OK;
    return weft_cannot_write(s->path, errno, error);
}

static weft_status place_index(weft_series *s, bool durable, weft_error *error) {
    if (((const pvd *)s->state)->index.failed)
        return weft_out_of_memory(error, s->path);
    return weft_result_place(s->path, durable, fill_index, s, error);
}

/* "FOLDER/000012.vtu", malloc'd */
static char *step_path(const pvd *p, int64_t step) {
    char *out = NULL;
    return asprintf(&out, "%s/%06" PRId64 ".vtu", p->folder, step) < 0 ? NULL : out;
}

static void remove_steps(const pvd *p, int64_t first, int64_t end) {
    for (int64_t step = first; step < end; ++step) {
        char *path = step_path(p, step);
        if (path)
            unlink(path);
        free(path);
    }
}

/* ---- the folder of the steps --------------------------------------------------------------- */

static weft_status name_folder(weft_series *s, pvd *p, weft_error *error) {
    const size_t length = strlen(s->path) - strlen(s->kind->ending);
    if (asprintf(&p->folder, "%.*s_steps", (int)length, s->path) < 0) {
        p->folder = NULL;
        return weft_out_of_memory(error, s->path);
    }
    const char *slash = strrchr(p->folder, '/');
    p->base = strdup(slash ? slash + 1 : p->folder);
    return p->base ? WEFT_OK : weft_out_of_memory(error, s->path);
}

/* Refuse a folder with steps but without an index, which may be the user's only copy. Remove
 * temporaries of killed runs. */
static weft_status look_into(weft_series *s, const pvd *p, bool indexed, weft_error *error) {
    weft_status status = WEFT_OK;
    DIR *folder = opendir(p->folder);
    bool any = false;
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        const char *vtu = strstr(entry->d_name, ".vtu");
        any |= vtu && vtu[4] == '\0';
        if (vtu && vtu[4] == '.') {
            char *path = NULL;
            if (asprintf(&path, "%s/%.*s.vtu", p->folder, (int)(vtu - entry->d_name),
                         entry->d_name) >= 0) {
                weft_temporary_clean(path);
                free(path);
            }
        }
    }
    if (folder)
        closedir(folder);
    if (any && !indexed && !s->overwrite) {
        status =
            weft_error_set(error, WEFT_ERROR_USAGE,
                           "%s has steps of a series whose index %s is gone", p->folder, s->path);
        weft_error_hint(error, "give --output another name, or --overwrite to replace them");
    }
    return status;
}

static weft_status open_folder(weft_series *s, const pvd *p, bool indexed, weft_error *error) {
    weft_status status = WEFT_OK;
    if (mkdir(p->folder, 0777) != 0 && errno != EEXIST)
        TRY(weft_cannot_write(p->folder, errno, error));
    s->file = open(p->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (s->file < 0)
        TRY(weft_cannot_write(p->folder, errno, error));
    TRY(weft_series_lock(s->file, s->path, error));
    TRY(look_into(s, p, indexed, error));
done:
    return status;
}

/* ---- interface ----------------------------------------------------------------------------- */

static void write_start(const weft_series *s, pvd *p) {
    const char *order = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? "LittleEndian" : "BigEndian";
    weft_text_add(&p->index,
                  "<?xml version=\"1.0\"?>\n"
                  "<!-- Weft series 1: mesh %s, problem %s -->\n"
                  "<VTKFile type=\"Collection\" version=\"0.1\" byte_order=\"%s\">\n"
                  "  <Collection>\n",
                  s->mesh_hash, s->problem, order);
}

static weft_status begin(weft_series *s, bool resume, const weft_series_found *found,
                         weft_error *error) {
    weft_status status = WEFT_OK;
    pvd *p = calloc(1, sizeof *p);
    if (!p)
        TRY(weft_out_of_memory(error, s->path));
    s->state = p;
    TRY(name_folder(s, p, error));
    TRY(open_folder(s, p, found->is_series, error));
    write_start(s, p);
    for (int64_t step = 0; resume && step < s->n_steps; ++step)
        add_entry(p, step, found->times[step]);
    TRY(place_index(s, true, error));
    remove_steps(p, s->n_steps, found->is_series ? found->n_steps : 0);
done:
    return status;
}

typedef struct vtu_step {
    const weft_series *s;
    const char *path;
    weft_field *fields;
} vtu_step;

static weft_status fill_step(void *user, const weft_temporary *temporary, weft_error *error) {
    const vtu_step *step = user;
    const weft_result_content content = {.path = step->path,
                                         .mesh = step->s->mesh,
                                         .nodes = step->s->nodes,
                                         .fields = step->fields,
                                         .n_fields = step->s->n_fields,
                                         .statement = step->s->statement};
    return weft_vtu_write(temporary->file, &content, error);
}

static weft_status add(weft_series *s, double t, const double *const *values, weft_error *error) {
    weft_status status = WEFT_OK;
    pvd *p = s->state;
    const size_t length = p->index.length;
    char *path = step_path(p, s->n_steps);
    vtu_step step = {s, path, calloc((size_t)s->n_fields, sizeof *step.fields)};
    if (!path || !step.fields)
        TRY(weft_out_of_memory(error, s->path));
    for (int i = 0; i < s->n_fields; ++i) {
        step.fields[i] = s->fields[i];
        step.fields[i].values = values[i];
    }
    TRY(weft_result_place(path, false, fill_step, &step, error));
    add_entry(p, s->n_steps, t);
    status = place_index(s, false, error);
    if (status != WEFT_OK) {
        p->index.length = length;
        unlink(path);
    }
done:
    free(path);
    free(step.fields);
    return status;
}

static weft_status end(weft_series *s, weft_error *error) {
    return place_index(s, true, error);
}

static void free_state(weft_series *s) {
    pvd *p = s->state;
    free(p->folder);
    free(p->base);
    weft_text_free(&p->index);
    free(p);
    s->state = NULL;
}

const weft_series_kind weft_series_pvd = {".pvd", look, begin, add, end, free_state};
