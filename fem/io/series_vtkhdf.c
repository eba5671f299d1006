/* A time series in one VTKHDF 2.0 file, which ParaView 5.12 and later play:
 *
 *      /VTKHDF/PointData/NAME                  [capacity * nodes][components]
 *      /VTKHDF/CellData/NAME                   [capacity * cells][components]
 *      /VTKHDF/Steps  NSteps                   attribute
 *          Values                              [steps] times; its extent is written with each step,
 *                                              since VTK 9.7 takes it for the number of steps
 *          PartOffsets, PointOffsets, CellOffsets [1], ConnectivityIdOffsets [1]   zeros: one mesh
 *          NumberOfParts                       ones
 *          PointDataOffsets/NAME               where a step's values begin, as CellDataOffsets/NAME
 *          CellDataOffsets/GROUP               zeros
 *      /Weft  SeriesMesh, SeriesProblem        attributes: hashes
 *          SeriesPlaces                        where in the file NSteps and the extent of Values
 * lie
 *
 * HDF5 makes the file, with all steps allocated, also on the disk. A step is then written
 * without HDF5: its values and its time at the offsets that HDF5 gave them, and last the number of
 * steps, so that the file is whole at any moment, and other programs can read it meanwhile. Both
 * numbers lie in object headers of the first version, which have no checksums. To allocate more steps the
 * file is copied, the data sets of the copy are extended, and the copy takes the file's name. */
#include "core/base/file.h"
#include "fem/io/child_process.h"
#include "fem/io/result.h"
#include "fem/io/series_preallocate.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

static void offsets_clear(weft_series_offsets *p) {
    free(p->values);
    *p = (weft_series_offsets){0};
}

static bool receive_offsets(const weft_child *child, int n_fields, weft_series_offsets *p) {
    int64_t head[3] = {0};
    offsets_clear(p);
    if (!weft_child_read(child, head, sizeof head) || head[2] < 1)
        return false;
    *p = (weft_series_offsets){.count = head[0], .extent = head[1], .capacity = head[2]};
    const size_t n = (size_t)p->capacity, all = n * (size_t)n_fields;
    p->values = malloc((all + n) * sizeof *p->values);
    p->times = p->values ? p->values + all : NULL;
    return p->values && weft_child_read(child, p->values, (all + n) * sizeof *p->values);
}

static weft_status look(weft_series *s, weft_series_found *out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_child child = WEFT_CHILD_NONE;
    weft_series_preallocation j = {.s = s, .name = s->path, .file = -1};
    weft_reading_limits limits;
    TRY(weft_file_unlocked(s->path, true, error));
    TRY(weft_reading_limits_find(s->path, false, (weft_reading_limits){0}, &limits, error));
    s->state = s->state ? s->state : calloc(1, sizeof(weft_series_offsets));
    if (!s->state)
        TRY(weft_out_of_memory(error, s->path));
    TRY(weft_child_start(weft_series_look, &j, s->path, &limits, &child, error));
    weft_series_found found = {0};
    if (weft_child_read(&child, &found, sizeof found)) {
        found.times = malloc(((size_t)found.n_steps + 1) * sizeof *found.times);
        if (!found.times)
            TRY(weft_out_of_memory(error, s->path));
        found.is_series =
            weft_child_read(&child, found.times, (size_t)found.n_steps * sizeof *found.times);
        if (strcmp(found.mesh, s->mesh_hash) == 0 && strcmp(found.problem, s->problem) == 0)
            found.is_series = receive_offsets(&child, s->n_fields, s->state);
        *out = found;
    }
    TRY(weft_child_end(&child, false, s->path, error));
done:
    (void)weft_child_end(&child, true, s->path, NULL);
    return status;
}

static weft_status write_at(const weft_series *s, int file, const void *bytes, size_t n, int64_t at,
                            weft_error *error) {
    const char *from = bytes;
    while (n > 0) {
        const ssize_t written = pwrite(file, from, n, (off_t)at);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return weft_cannot_write(s->path, written < 0 ? errno : ENOSPC, error);
        from += written;
        at += written;
        n -= (size_t)written;
    }
    return WEFT_OK;
}

/* NSteps first: it may be more than Values has for a moment, but not less. */
static weft_status write_count(const weft_series *s, int file, int64_t n, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_series_offsets *p = s->state;
    TRY(write_at(s, file, &n, sizeof n, p->count, error));
    TRY(write_at(s, file, &n, sizeof n, p->extent, error));
done:
    return status;
}

static weft_status copy_file(const weft_series *s, int to, weft_error *error) {
    weft_status status = WEFT_OK;
    int from = -1;
    ssize_t n = 1;
    TRY(weft_file_open(s->path, O_RDONLY, &from, NULL, error));
    while (n > 0)
        n = sendfile(to, from, NULL, (size_t)1 << 30);
    if (n < 0)
        status = weft_cannot_write(s->path, errno, error);
done:
    if (from >= 0)
        close(from);
    return status;
}

/* Ask for the disk now, not in the middle of the run. Some file systems cannot. */
static weft_status reserve(const weft_series *s, int file, weft_error *error) {
    struct stat info;
    if (fstat(file, &info) == 0 && info.st_size > 0 && fallocate(file, 0, 0, info.st_size) != 0 &&
        (errno == ENOSPC || errno == EFBIG || errno == EDQUOT))
        return weft_cannot_write(s->path, errno, error);
    return WEFT_OK;
}

typedef struct filling {
    weft_series *s;
    bool make;
    int64_t capacity;
} filling;

static weft_status fill(void *user, const weft_temporary *temporary, weft_error *error) {
    weft_status status = WEFT_OK;
    const filling *f = user;
    weft_series_offsets *p = f->s->state;
    weft_child child = WEFT_CHILD_NONE;
    weft_series_preallocation j = {.s = f->s,
                                   .name = temporary->name,
                                   .make = f->make,
                                   .capacity = f->capacity,
                                   .at = *p,
                                   .file = -1};
    if (!f->make) { /* of the times, too, as HDF5 left it */
        const int64_t extent = p->capacity + 1;
        TRY(copy_file(f->s, temporary->file, error));
        TRY(write_at(f->s, temporary->file, &extent, sizeof extent, p->extent, error));
    }
    TRY(weft_child_start(weft_series_preallocate, &j, f->s->path, NULL, &child, error));
    const bool received = receive_offsets(&child, f->s->n_fields, p);
    TRY(weft_child_end(&child, false, f->s->path, error));
    if (!received)
        TRY(weft_out_of_memory(error, f->s->path));
    TRY(reserve(f->s, temporary->file, error));
    TRY(write_count(f->s, temporary->file, f->s->n_steps, error));
done:
    (void)weft_child_end(&child, true, f->s->path, NULL);
    return status;
}

/* The number at `count` must be NSteps: some program may have written the file again. */
static bool fits(int file, const weft_series_offsets *p, int64_t n_steps) {
    char name[32];
    int64_t number = -1;
    return pread(file, &number, sizeof number, (off_t)p->count) == (ssize_t)sizeof number &&
           number >= n_steps && p->count > (int64_t)sizeof name &&
           pread(file, name, sizeof name, (off_t)p->count - (off_t)sizeof name) ==
               (ssize_t)sizeof name &&
           memmem(name, sizeof name, "NSteps", sizeof "NSteps");
}

static weft_status open_series(weft_series *s, weft_error *error) {
    s->file = open(s->path, O_RDWR | O_CLOEXEC);
    return s->file < 0 ? weft_cannot_write(s->path, errno, error) : WEFT_OK;
}

/* Continue in the file itself where enough steps are allocated, else in an extended copy. */
static weft_status begin(weft_series *s, bool resume, const weft_series_found *found,
                         weft_error *error) {
    weft_status status = WEFT_OK;
    filling f = {s, !resume, s->n_steps + s->n_more};
    s->state = s->state ? s->state : calloc(1, sizeof(weft_series_offsets));
    if (!s->state)
        TRY(weft_out_of_memory(error, s->path));
    const weft_series_offsets *p = s->state;
    if (resume) {
        TRY(open_series(s, error));
        TRY(weft_series_lock(s->file, s->path, error));
        if (!fits(s->file, p, found->n_steps)) {
            weft_error_set(error, WEFT_ERROR_INPUT,
                           "%s cannot be continued: another program has changed it", s->path);
            weft_error_hint(error, "give --output another name, or --overwrite to replace it");
            TRY(WEFT_ERROR_INPUT);
        }
        if (p->capacity >= f.capacity) {
            TRY(write_at(s, s->file, &s->n_steps, sizeof s->n_steps, p->extent, error));
            TRY(write_count(s, s->file, s->n_steps, error));
            goto done;
        }
    }
    TRY(weft_result_place(s->path, true, fill, &f, error));
    if (s->file >= 0)
        close(s->file);
    TRY(open_series(s, error));
    TRY(weft_series_lock(s->file, s->path, error));
done:
    return status;
}

/* Bytes of a field in one step. */
static size_t bytes_of(const weft_series *s, int field) {
    return (size_t)weft_series_rows(s, field) * (size_t)s->fields[field].n_components *
           sizeof(double);
}

static weft_status add(weft_series *s, double t, const double *const *values, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_series_offsets *p = s->state;
    const int64_t i = s->n_steps;
    for (int k = 0; k < s->n_fields; ++k)
        TRY(write_at(s, s->file, values[k], bytes_of(s, k), p->values[k * p->capacity + i], error));
    TRY(write_at(s, s->file, &t, sizeof t, p->times[i], error));
    TRY(write_count(s, s->file, i + 1, error));
done:
    return status;
}

/* The disk space of allocated steps that were not used is released. A restart may use them all the same. */
static weft_status end(weft_series *s, weft_error *error) {
    const weft_series_offsets *p = s->state;
    for (int k = 0; k < s->n_fields; ++k)
        for (int64_t i = s->n_steps; i < p->capacity; ++i)
            (void)fallocate(s->file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                            (off_t)p->values[k * p->capacity + i], (off_t)bytes_of(s, k));
    if (fsync(s->file) != 0)
        return weft_cannot_write(s->path, errno, error);
    return WEFT_OK;
}

static void free_state(weft_series *s) {
    offsets_clear(s->state);
    free(s->state);
    s->state = NULL;
}

const weft_series_kind weft_series_vtkhdf = {".vtkhdf", look, begin, add, end, free_state};
