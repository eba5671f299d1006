/* Time series in VTKHDF 2.0:
 *
 *      /VTKHDF/PointData/NAME                  [steps * n_nodes]
 *      /VTKHDF/Steps  NSteps                   attribute
 *          Values                              [steps] times
 *          PartOffsets, PointOffsets, CellOffsets [1], ConnectivityIdOffsets [1]   zeros: one mesh
 *          NumberOfParts                       ones
 *          PointDataOffsets/NAME               where a step's values begin
 *
 * All data sets have their full size, on the disk too, before the first step; NSteps says how many
 * of them count, and is written last. */
#include "result_internal.h"
#include "vtkhdf_internal.h"

#include <stdlib.h>
#include <string.h>

struct weft_series {
    char *path;
    int64_t n_nodes, n_steps, capacity;
    double last; /* time, where n_steps > 0 */
    hid_t file, access, field, values, steps;
};

typedef struct series_content {
    const char *path, *name;
    const weft_mesh *mesh;
    int64_t capacity;
    hid_t file;
    weft_error *error;
} series_content;

static weft_status failed(const char *path, const char *what, weft_error *error) {
    weft_hdf5_error(WEFT_ERROR_IO, path, what, error);
    weft_error_hint(error, "see that the disk has room, or write to another one");
    return WEFT_ERROR_IO;
}

/* ---- making ------------------------------------------------------------------------------------
 */

/* A data set [n] or [n][1] in pieces of `chunk`, on the disk from now on; it may become shorter. */
static weft_status make_set(const series_content *c, const char *name, hid_t type, int64_t n,
                            int64_t chunk, bool column, hid_t *out) {
    const hsize_t extent[2] = {(hsize_t)n, 1}, piece[2] = {(hsize_t)chunk, 1};
    const int rank = column ? 2 : 1;
    hid_t space = H5Screate_simple(rank, extent, NULL), how = H5Pcreate(H5P_DATASET_CREATE);
    hid_t set = -1;
    if (space >= 0 && how >= 0 && H5Pset_chunk(how, rank, piece) >= 0 &&
        H5Pset_alloc_time(how, H5D_ALLOC_TIME_EARLY) >= 0 &&
        H5Pset_fill_time(how, H5D_FILL_TIME_IFSET) >= 0)
        set = H5Dcreate2(c->file, name, type, space, H5P_DEFAULT, how, H5P_DEFAULT);
    if (space >= 0)
        H5Sclose(space);
    if (how >= 0)
        H5Pclose(how);
    if (set < 0)
        return failed(c->path, "a data set could not be made", c->error);
    *out = set;
    return WEFT_OK;
}

/* first + i * by for each step i */
static weft_status write_numbers(const series_content *c, const char *name, int64_t first,
                                 int64_t by, bool column) {
    weft_status status = WEFT_OK;
    hid_t set = -1;
    int64_t *numbers = malloc((size_t)c->capacity * sizeof *numbers);
    if (!numbers)
        return weft_error_set(c->error, WEFT_ERROR_MEMORY, "%s: out of memory", c->path);
    for (int64_t i = 0; i < c->capacity; ++i)
        numbers[i] = first + i * by;
    TRY(make_set(c, name, H5T_STD_I64LE, c->capacity, c->capacity, column, &set));
    if (H5Dwrite(set, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers) < 0)
        status = failed(c->path, "values could not be written", c->error);
done:
    if (set >= 0)
        H5Dclose(set);
    free(numbers);
    return status;
}

static weft_status make_group(const series_content *c, const char *name) {
    hid_t group = H5Gcreate2(c->file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (group < 0)
        return failed(c->path, "a group could not be made", c->error);
    H5Gclose(group);
    return WEFT_OK;
}

static weft_status write_count(hid_t steps, bool make, int64_t n, const char *path,
                               weft_error *error) {
    hid_t space = make ? H5Screate(H5S_SCALAR) : -1;
    hid_t attribute =
        make ? H5Acreate2(steps, "NSteps", H5T_STD_I64LE, space, H5P_DEFAULT, H5P_DEFAULT)
             : H5Aopen(steps, "NSteps", H5P_DEFAULT);
    const bool good = attribute >= 0 && H5Awrite(attribute, H5T_NATIVE_INT64, &n) >= 0;
    if (attribute >= 0)
        H5Aclose(attribute);
    if (space >= 0)
        H5Sclose(space);
    return good ? WEFT_OK : failed(path, "the number of steps could not be written", error);
}

static weft_status set_version(const series_content *c) {
    static const int64_t version[2] = {2, 0};
    hid_t group = H5Gopen2(c->file, "VTKHDF", H5P_DEFAULT); /* _by_name could read, not write */
    hid_t attribute = group < 0 ? -1 : H5Aopen(group, "Version", H5P_DEFAULT);
    const bool good = attribute >= 0 && H5Awrite(attribute, H5T_NATIVE_INT64, version) >= 0;
    if (attribute >= 0)
        H5Aclose(attribute);
    if (group >= 0)
        H5Gclose(group);
    return good ? WEFT_OK : failed(c->path, "an attribute could not be written", c->error);
}

static weft_status write_steps(const series_content *c) {
    weft_status status = WEFT_OK;
    char name[256];
    hid_t set = -1, steps = -1;
    TRY(set_version(c));
    TRY(make_group(c, "VTKHDF/Steps"));
    TRY(make_group(c, "VTKHDF/Steps/PointDataOffsets"));
    TRY(make_group(c, "VTKHDF/Steps/CellDataOffsets"));
    TRY(write_numbers(c, "VTKHDF/Steps/PartOffsets", 0, 0, false));
    TRY(write_numbers(c, "VTKHDF/Steps/NumberOfParts", 1, 0, false));
    TRY(write_numbers(c, "VTKHDF/Steps/PointOffsets", 0, 0, false));
    TRY(write_numbers(c, "VTKHDF/Steps/CellOffsets", 0, 0, true));
    TRY(write_numbers(c, "VTKHDF/Steps/ConnectivityIdOffsets", 0, 0, true));
    (void)snprintf(name, sizeof name, "VTKHDF/Steps/PointDataOffsets/%s", c->name);
    TRY(write_numbers(c, name, 0, c->mesh->n_nodes, false));
    TRY(make_set(c, "VTKHDF/Steps/Values", H5T_IEEE_F64LE, c->capacity, c->capacity, false, &set));
    H5Dclose(set);
    set = -1;
    (void)snprintf(name, sizeof name, "VTKHDF/PointData/%s", c->name);
    TRY(make_set(c, name, H5T_IEEE_F64LE, c->capacity * c->mesh->n_nodes, c->mesh->n_nodes, false,
                 &set));
    steps = H5Gopen2(c->file, "VTKHDF/Steps", H5P_DEFAULT);
    TRY(write_count(steps, true, 0, c->path, c->error));
done:
    if (set >= 0)
        H5Dclose(set);
    if (steps >= 0)
        H5Gclose(steps);
    return status;
}

static hid_t open_file(const char *path, hid_t *access) {
    *access = H5Pcreate(H5P_FILE_ACCESS);
    if (*access < 0 || H5Pset_fclose_degree(*access, H5F_CLOSE_STRONG) < 0)
        return -1;
    H5Pset_libver_bounds(*access, H5F_LIBVER_V18, H5F_LIBVER_V18);
    return H5Fopen(path, H5F_ACC_RDWR, *access);
}

static weft_status fill(void *user, const char *temporary, weft_error *error) {
    weft_status status = WEFT_OK;
    series_content *c = user;
    hid_t access = -1;
    TRY(weft_vtkhdf_write(temporary, c->path, c->mesh, NULL, 0, error));
    c->error = error;
    c->file = open_file(temporary, &access);
    if (c->file < 0) {
        status = failed(c->path, "the file could not be made", error);
        goto done;
    }
    TRY(write_steps(c));
done:
    if (c->file >= 0 && H5Fclose(c->file) < 0 && status == WEFT_OK)
        status = failed(c->path, "the file could not be closed", error);
    if (access >= 0)
        H5Pclose(access);
    return status;
}

/* ---- opening -----------------------------------------------------------------------------------
 */

static int64_t length_of(hid_t set) {
    hid_t space = set < 0 ? -1 : H5Dget_space(set);
    hsize_t extent[2] = {0, 0};
    const bool good = space >= 0 && H5Sget_simple_extent_ndims(space) == 1 &&
                      H5Sget_simple_extent_dims(space, extent, NULL) == 1;
    if (space >= 0)
        H5Sclose(space);
    return good ? (int64_t)extent[0] : -1;
}

/* Is there a series for these sizes? Its steps up to time t stay. */
static bool open_series(weft_series *s, const char *name, double t) {
    char field[256];
    int64_t n_points = -1;
    s->file = open_file(s->path, &s->access);
    if (s->file < 0)
        return false;
    hid_t points = H5Dopen2(s->file, "VTKHDF/NumberOfPoints", H5P_DEFAULT), count = -1;
    const bool counted = length_of(points) == 1 && H5Dread(points, H5T_NATIVE_INT64, H5S_ALL,
                                                           H5S_ALL, H5P_DEFAULT, &n_points) >= 0;
    if (points >= 0)
        H5Dclose(points);
    (void)snprintf(field, sizeof field, "VTKHDF/PointData/%s", name);
    s->steps = H5Gopen2(s->file, "VTKHDF/Steps", H5P_DEFAULT);
    s->values = H5Dopen2(s->file, "VTKHDF/Steps/Values", H5P_DEFAULT);
    s->field = H5Dopen2(s->file, field, H5P_DEFAULT);
    if (!counted || n_points != s->n_nodes || s->steps < 0 || length_of(s->values) != s->capacity ||
        length_of(s->field) != s->capacity * s->n_nodes)
        return false;
    count = H5Aopen(s->steps, "NSteps", H5P_DEFAULT);
    bool good = count >= 0 && H5Aread(count, H5T_NATIVE_INT64, &s->n_steps) >= 0 &&
                s->n_steps >= 0 && s->n_steps <= s->capacity;
    if (count >= 0)
        H5Aclose(count);
    double *times = malloc((size_t)s->capacity * sizeof *times);
    good = good && times &&
           H5Dread(s->values, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, times) >= 0;
    while (good && s->n_steps > 0 && !(times[s->n_steps - 1] <= t))
        --s->n_steps;
    if (good && s->n_steps > 0)
        s->last = times[s->n_steps - 1];
    free(times);
    return good;
}

static void close_series(weft_series *s, bool *good) {
    if (s->file >= 0 && H5Fclose(s->file) < 0)
        *good = false;
    if (s->access >= 0)
        H5Pclose(s->access);
    s->file = s->access = s->field = s->values = s->steps = -1;
}

static void series_free(weft_series **series) {
    bool good = true;
    if (!*series)
        return;
    close_series(*series, &good);
    free((*series)->path);
    free(*series);
    *series = NULL;
}

static weft_status series_open(weft_series *s, const weft_mesh *mesh, const char *name, bool resume,
                               double t, const weft_monitor *monitor, weft_error *error) {
    weft_status status = WEFT_OK;
    series_content content = {s->path, name, mesh, s->capacity, -1, error};
    bool good = true;
    if (resume && open_series(s, name, t))
        goto done;
    if (resume)
        weft_log(monitor, WEFT_LOG_WARNING,
                 "%s is no series that this run could go on with: it is written anew from here",
                 s->path);
    close_series(s, &good);
    s->n_steps = 0;
    TRY(weft_result_place(s->path, fill, &content, error));
    if (!open_series(s, name, t))
        status = failed(s->path, "the file could not be opened again", error);
done:
    if (status == WEFT_OK)
        status = write_count(s->steps, false, s->n_steps, s->path, error);
    return status;
}

weft_status weft_series_make(const char *path, const weft_mesh *mesh, const char *name,
                             int64_t capacity, bool resume, double t, const weft_monitor *monitor,
                             weft_series **out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_hdf5_quiet quiet;
    weft_series *s = calloc(1, sizeof *s);
    char *copy = strdup(path);
    if (!s || !copy || capacity < 1) {
        free(s);
        free(copy);
        return capacity < 1 ? weft_error_set(error, WEFT_ERROR_USAGE, "a series without steps")
                            : weft_error_set(error, WEFT_ERROR_MEMORY, "%s: out of memory", path);
    }
    *s = (weft_series){.path = copy,
                       .n_nodes = mesh->n_nodes,
                       .capacity = capacity,
                       .file = -1,
                       .access = -1,
                       .field = -1,
                       .values = -1,
                       .steps = -1};
    weft_hdf5_silence(&quiet);
    status = series_open(s, mesh, name, resume, t, monitor, error);
    if (status == WEFT_OK) {
        *out = s;
        s = NULL;
    }
    series_free(&s);
    weft_hdf5_restore(&quiet);
    return status;
}

/* ---- steps -------------------------------------------------------------------------------------
 */

static bool write_part(hid_t set, int64_t first, int64_t n, const double *values) {
    const hsize_t start = (hsize_t)first, count = (hsize_t)n;
    hid_t space = H5Dget_space(set), memory = H5Screate_simple(1, &count, NULL);
    const bool good = space >= 0 && memory >= 0 &&
                      H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, NULL, &count, NULL) >= 0 &&
                      H5Dwrite(set, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, values) >= 0;
    if (space >= 0)
        H5Sclose(space);
    if (memory >= 0)
        H5Sclose(memory);
    return good;
}

weft_status weft_series_add(weft_series *s, double t, const double *values, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_hdf5_quiet quiet;
    if (s->n_steps > 0 && t <= s->last)
        return WEFT_OK;
    if (s->n_steps == s->capacity)
        return weft_error_set(error, WEFT_ERROR_USAGE, "%s has no room for another step", s->path);
    weft_hdf5_silence(&quiet);
    if (!write_part(s->field, s->n_steps * s->n_nodes, s->n_nodes, values) ||
        !write_part(s->values, s->n_steps, 1, &t) || H5Fflush(s->file, H5F_SCOPE_LOCAL) < 0)
        status = failed(s->path, "a step could not be written", error);
    if (status == WEFT_OK)
        status = write_count(s->steps, false, s->n_steps + 1, s->path, error);
    if (status == WEFT_OK && H5Fflush(s->file, H5F_SCOPE_LOCAL) < 0)
        status = failed(s->path, "a step could not be written", error);
    weft_hdf5_restore(&quiet);
    if (status == WEFT_OK) {
        s->n_steps += 1;
        s->last = t;
    }
    return status;
}

static bool shorten(const weft_series *s, const char *name, int64_t n) {
    hsize_t extent[2] = {(hsize_t)n, 1};
    hid_t set = H5Dopen2(s->steps, name, H5P_DEFAULT);
    const bool good = set >= 0 && H5Dset_extent(set, extent) >= 0;
    if (set >= 0)
        H5Dclose(set);
    return good;
}

static bool shorten_all(const weft_series *s) {
    static const char *const names[] = {"Values",       "PartOffsets", "NumberOfParts",
                                        "PointOffsets", "CellOffsets", "ConnectivityIdOffsets"};
    const hsize_t extent = (hsize_t)(s->n_steps * s->n_nodes);
    bool good = H5Dset_extent(s->field, &extent) >= 0;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i)
        good = shorten(s, names[i], s->n_steps) && good;
    return good;
}

weft_status weft_series_close(weft_series **series, weft_error *error) {
    weft_hdf5_quiet quiet;
    bool good = true;
    if (!series || !*series)
        return WEFT_OK;
    weft_hdf5_silence(&quiet);
    if ((*series)->n_steps < (*series)->capacity)
        good = shorten_all(*series);
    close_series(*series, &good);
    weft_status status =
        good ? WEFT_OK : failed((*series)->path, "the file could not be closed", error);
    weft_hdf5_restore(&quiet);
    series_free(series);
    return status;
}
