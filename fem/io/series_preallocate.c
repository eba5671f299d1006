/* Allocates the steps of a .vtkhdf series, and finds the file offsets of values, times and the
 * two numbers that a step changes. All use of HDF5 for a series is here, in a child process. */
#include "fem/io/series_preallocate.h"
#include "fem/io/child_process.h"
#include "fem/io/result.h"
#include "fem/io/vtkhdf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    NUMBERS = 512,      /* of a chunk */
    MOST_CHUNKS = 2048, /* of values if all are made at once: HDF5 searches them linearly */
    SEARCHED = 1 << 16  /* bytes at a time */
};

static weft_status failed(const weft_series_preallocation *j, const char *what) {
    return weft_hdf5_unwritten(j->s->path, what, j->error);
}

/* ---- allocation --------------------------------------------------------------------------- */

/* The data sets that grow with the number of steps. */
typedef struct step_set {
    const char *name;
    int64_t first, by; /* entry of step i: first + i * by */
    int width;         /* [n][width]; 0: [n] */
} step_set;
static const step_set step_sets[] = {{"VTKHDF/Steps/PartOffsets", 0, 0, 0},
                                     {"VTKHDF/Steps/NumberOfParts", 1, 0, 0},
                                     {"VTKHDF/Steps/PointOffsets", 0, 0, 0},
                                     {"VTKHDF/Steps/CellOffsets", 0, 0, 1},
                                     {"VTKHDF/Steps/ConnectivityIdOffsets", 0, 0, 1}};

/* Make an empty, extensible data set in chunks, which are allocated on disk as it grows. */
static weft_status make_set(const weft_series_preallocation *j, const char *name, hid_t type,
                            int64_t chunk, int width) {
    const hsize_t columns = width > 0 ? (hsize_t)width : 1;
    const hsize_t none[2] = {0, columns}, most[2] = {H5S_UNLIMITED, columns};
    const hsize_t piece[2] = {(hsize_t)chunk, columns};
    const int rank = width > 0 ? 2 : 1;
    hid_t space = H5Screate_simple(rank, none, most), how = H5Pcreate(H5P_DATASET_CREATE), set = -1;
    if (space >= 0 && how >= 0 && H5Pset_chunk(how, rank, piece) >= 0 &&
        H5Pset_alloc_time(how, H5D_ALLOC_TIME_EARLY) >= 0 &&
        H5Pset_fill_time(how, H5D_FILL_TIME_NEVER) >= 0)
        set = H5Dcreate2(j->file, name, type, space, H5P_DEFAULT, how, H5P_DEFAULT);
    if (set < 0 || H5Dclose(set) < 0 || H5Sclose(space) < 0 || H5Pclose(how) < 0)
        return failed(j, "a data set could not be made");
    return WEFT_OK;
}

static weft_status extend_set(const weft_series_preallocation *j, const char *name, int64_t n,
                              int width) {
    const hsize_t extent[2] = {(hsize_t)n, width > 0 ? (hsize_t)width : 1};
    hid_t set = -1;
    const weft_status status = weft_hdf5_open_set(j->file, j->s->path, name, &set, j->error);
    if (status != WEFT_OK)
        return status;
    if (H5Dset_extent(set, extent) < 0 || H5Dclose(set) < 0)
        return failed(j, "a data set could not be extended");
    return WEFT_OK;
}

static weft_status extend_numbers(const weft_series_preallocation *j, const step_set *numbers) {
    weft_status status = WEFT_OK;
    hid_t set = -1;
    int64_t *values = malloc((size_t)j->capacity * sizeof *values);
    if (!values)
        TRY(weft_error_set(j->error, WEFT_ERROR_MEMORY, "%s: out of memory", j->s->path));
    for (int64_t i = 0; i < j->capacity; ++i)
        values[i] = numbers->first + i * numbers->by;
    TRY(extend_set(j, numbers->name, j->capacity, numbers->width));
    TRY(weft_hdf5_open_set(j->file, j->s->path, numbers->name, &set, j->error));
    if (H5Dwrite(set, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0 ||
        H5Dclose(set) < 0)
        status = failed(j, "values could not be written");
done:
    free(values);
    return status;
}

/* Make, or extend to j->capacity, every data set that has an entry per step. */
static weft_status handle_numbers(const weft_series_preallocation *j, const step_set *numbers) {
    weft_status status = WEFT_OK;
    if (j->make)
        TRY(make_set(j, numbers->name, H5T_STD_I64LE, NUMBERS, numbers->width));
    TRY(extend_numbers(j, numbers));
done:
    return status;
}

/* The file without its steps. */
static weft_result_content content_of(const weft_series_preallocation *j) {
    return (weft_result_content){.path = j->s->path,
                                 .mesh = j->s->mesh,
                                 .nodes = j->s->nodes,
                                 .fields = j->s->fields,
                                 .n_fields = j->s->n_fields,
                                 .statement = j->s->statement,
                                 .is_series = true};
}

static weft_status handle_offsets(const weft_series_preallocation *j) {
    weft_status status = WEFT_OK;
    char path[64 + WEFT_MASK_NAME_BYTES];
    const weft_result_content content = content_of(j);
    char(*names)[WEFT_MASK_NAME_BYTES] = calloc((size_t)j->s->mesh->n_groups + 1, sizeof *names);
    if (!names)
        TRY(weft_error_set(j->error, WEFT_ERROR_MEMORY, "%s: out of memory", j->s->path));
    weft_mask_names(&content, names);
    for (int g = 0; g < j->s->mesh->n_groups; ++g) {
        (void)snprintf(path, sizeof path, "VTKHDF/Steps/CellDataOffsets/%s", names[g]);
        if (names[g][0])
            TRY(handle_numbers(j, &(step_set){path, 0, 0, 0}));
    }
    for (int i = 0; i < j->s->n_fields; ++i) {
        (void)snprintf(path, sizeof path, "VTKHDF/Steps/%sDataOffsets/%s",
                       j->s->fields[i].on_cells ? "Cell" : "Point", j->s->fields[i].name);
        TRY(handle_numbers(j, &(step_set){path, 0, weft_series_rows(j->s, i), 0}));
    }
done:
    free(names);
    return status;
}

static void name_field(const weft_series_preallocation *j, int i, char *out, size_t size) {
    (void)snprintf(out, size, "VTKHDF/%sData/%s", j->s->fields[i].on_cells ? "Cell" : "Point",
                   j->s->fields[i].name);
}

/* The columns of a field's data set; 0: it has one dimension. */
static int columns_of(const weft_series_preallocation *j, int i) {
    return j->s->fields[i].n_components > 1 ? j->s->fields[i].n_components : 0;
}

static weft_status handle_field(const weft_series_preallocation *j, int i) {
    weft_status status = WEFT_OK;
    const int64_t n = weft_series_rows(j->s, i);
    char field[256];
    name_field(j, i, field, sizeof field);
    if (j->make)
        TRY(make_set(j, field, H5T_IEEE_F64LE, n * ((j->capacity - 1) / MOST_CHUNKS + 1),
                     columns_of(j, i)));
    TRY(extend_set(j, field, j->capacity * n, columns_of(j, i)));
done:
    return status;
}

static weft_status handle_sets(const weft_series_preallocation *j) {
    weft_status status = WEFT_OK;
    for (size_t i = 0; i < sizeof step_sets / sizeof *step_sets; ++i)
        TRY(handle_numbers(j, &step_sets[i]));
    TRY(handle_offsets(j));
    if (j->make)
        TRY(make_set(j, "VTKHDF/Steps/Values", H5T_IEEE_F64LE, NUMBERS, 0));
    TRY(extend_set(j, "VTKHDF/Steps/Values", j->capacity + 1,
                   0)); /* a unique extent, to search for */
    for (int i = 0; i < j->s->n_fields; ++i)
        TRY(handle_field(j, i));
done:
    return status;
}

/* Open an attribute of a group, or make it with one value. */
static weft_status write_attribute(const weft_series_preallocation *j, const char *group,
                                   const char *name, hid_t type, const void *value) {
    hid_t in = weft_hdf5_open_group(j->file, group), attribute = -1;
    if (in >= 0 && H5Aexists(in, name) > 0) {
        attribute = H5Aopen(in, name, H5P_DEFAULT);
    } else if (in >= 0) {
        hid_t space = H5Screate(H5S_SCALAR);
        attribute = H5Acreate2(in, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
        H5Sclose(space);
    }
    if (attribute < 0 || H5Awrite(attribute, type, value) < 0 || H5Aclose(attribute) < 0 ||
        H5Gclose(in) < 0)
        return failed(j, "an attribute could not be written");
    return WEFT_OK;
}

static weft_status make_groups(const weft_series_preallocation *j) {
    static const char *const names[] = {"VTKHDF/Steps", "VTKHDF/Steps/PointDataOffsets",
                                        "VTKHDF/Steps/CellDataOffsets"};
    static const int64_t version[2] = {2, 0}, nowhere[2] = {-1, -1};
    static const hsize_t two = 2;
    weft_status status = WEFT_OK;
    hid_t text = H5Tcopy(H5T_C_S1), space = H5Screate_simple(1, &two, NULL), set = -1;
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        hid_t group = H5Gcreate2(j->file, names[i], H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        if (group < 0 || H5Gclose(group) < 0)
            TRY(failed(j, "a group could not be made"));
    }
    if (text < 0 || H5Tset_size(text, 33) < 0)
        TRY(failed(j, "HDF5 did not start"));
    TRY(write_attribute(j, "VTKHDF", "Version", H5T_NATIVE_INT64, version));
    TRY(write_attribute(j, "Weft", "SeriesMesh", text, j->s->mesh_hash));
    TRY(write_attribute(j, "Weft", "SeriesProblem", text, j->s->problem));
    set = H5Dcreate2(j->file, "Weft/SeriesPlaces", H5T_STD_I64LE, space, H5P_DEFAULT, H5P_DEFAULT,
                     H5P_DEFAULT);
    if (set < 0 || H5Dwrite(set, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, nowhere) < 0 ||
        H5Dclose(set) < 0)
        TRY(failed(j, "values could not be written"));
done:
    return status;
}

/* Make new objects with headers of version 1, which have no checksums. */
static weft_status open_old(weft_series_preallocation *j, unsigned how) {
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    if (access < 0 || H5Pset_libver_bounds(access, H5F_LIBVER_EARLIEST, H5F_LIBVER_V18) < 0)
        return failed(j, "HDF5 did not start");
    return weft_hdf5_open_file(j->name, how, access, "the series cannot be opened", &j->file,
                               j->error);
}

/* ---- offsets ------------------------------------------------------------------------------- */

/* The offset of these bytes; -1: not found, or found twice. Skips holes, i.e. unwritten steps. */
static int64_t find_bytes(int file, const void *wanted, size_t n) {
    char bytes[SEARCHED + 32];
    int64_t found = -1;
    for (off_t at = 0; (at = lseek(file, at, SEEK_DATA)) >= 0; at += SEARCHED) {
        const ssize_t got = pread(file, bytes, sizeof bytes, at);
        for (ssize_t i = 0; i < SEARCHED && i + (ssize_t)n <= got; ++i) {
            if (memcmp(bytes + i, wanted, n) != 0)
                continue;
            if (found >= 0)
                return -1;
            found = at + i;
        }
    }
    return found;
}

/* The number of rows per chunk; 0: the data set is not chunked. */
static int64_t chunk_of(hid_t set) {
    hid_t how = set < 0 ? -1 : H5Dget_create_plist(set);
    hsize_t chunk[2] = {0, 0};
    if (how < 0 || H5Pget_chunk(how, 2, chunk) < 1)
        return 0;
    return (int64_t)chunk[0];
}

/* The offsets of j->capacity rows of `width` numbers of 8 bytes, every `by`-th of a data set. */
static weft_status find_entries(const weft_series_preallocation *j, const char *name, int64_t by,
                                int width, int64_t *out) {
    hid_t set = -1;
    haddr_t start = 0;
    const weft_status status = weft_hdf5_open_set(j->file, j->s->path, name, &set, j->error);
    if (status != WEFT_OK)
        return status;
    const int64_t chunk = chunk_of(set);
    if (chunk < 1 || chunk % by != 0)
        return failed(j, "a data set could not be opened");
    for (int64_t i = 0; i < j->capacity; ++i) {
        const hsize_t entry[2] = {(hsize_t)(i * by), 0};
        hsize_t bytes = 0;
        unsigned filters = 0;
        if (i * by % chunk == 0 &&
            (H5Dget_chunk_info_by_coord(set, entry, &filters, &start, &bytes) < 0 || bytes == 0))
            return failed(j, "a piece of a data set could not be found");
        out[i] = (int64_t)start + i * by % chunk * width * (int64_t)sizeof(double);
    }
    H5Dclose(set);
    return WEFT_OK;
}

/* p: its count and extent. */
static weft_status send_offsets(const weft_series_preallocation *j, const weft_series_offsets *p,
                                int out) {
    weft_status status = WEFT_OK;
    const size_t n = (size_t)j->s->n_fields, bytes = (size_t)j->capacity * sizeof(int64_t);
    const int64_t head[3] = {p->count, p->extent, j->capacity};
    char field[256];
    int64_t *entries = malloc((n + 1) * bytes);
    if (!entries)
        TRY(weft_error_set(j->error, WEFT_ERROR_MEMORY, "%s: out of memory", j->s->path));
    for (int i = 0; i < j->s->n_fields; ++i) {
        name_field(j, i, field, sizeof field);
        TRY(find_entries(j, field, weft_series_rows(j->s, i), j->s->fields[i].n_components,
                         entries + i * j->capacity));
    }
    TRY(find_entries(j, "VTKHDF/Steps/Values", 1, 1, entries + j->s->n_fields * j->capacity));
    TRY(weft_child_write(out, head, sizeof head, j->error));
    TRY(weft_child_write(out, entries, (n + 1) * bytes, j->error));
done:
    free(entries);
    return status;
}

/* Find NSteps, whose value is now `mark`, and the extent of Values, and store both offsets in the
 * file. An extent is in a dataspace message of version 1: rank 1, followed by the maximum
 * extent. */
static weft_status note_offsets(const weft_series_preallocation *j, int64_t mark,
                                weft_series_offsets *out) {
    const struct {
        uint8_t head[8];
        int64_t now, most;
    } extent = {{1, 1, 1, 0, 0, 0, 0, 0}, j->capacity + 1, -1};
    hid_t kept = -1;
    const weft_status status =
        weft_hdf5_open_set(j->file, j->s->path, "Weft/SeriesPlaces", &kept, j->error);
    if (status != WEFT_OK)
        return status;
    const haddr_t place = H5Dget_offset(kept);
    const int file = open(j->name, O_RDWR | O_CLOEXEC);
    if (place == HADDR_UNDEF || file < 0)
        return failed(j, "a piece of a data set could not be found");
    out->count = find_bytes(file, &mark, sizeof mark);
    out->extent = find_bytes(file, &extent, sizeof extent);
    if (out->count < 0 || out->extent < 0)
        return weft_error_set(j->error, WEFT_ERROR_INTERNAL,
                              "%s: the number of steps is not where it should be", j->s->path);
    out->extent += (int64_t)sizeof extent.head;
    const int64_t both[2] = {out->count, out->extent};
    if (pwrite(file, both, sizeof both, (off_t)place) != (ssize_t)sizeof both)
        return weft_cannot_write(j->s->path, errno, j->error);
    return WEFT_OK;
}

/* Make or extend j->name and send its offsets. In a new file NSteps gets a unique value, to search
 * for. */
weft_status weft_series_preallocate(void *user, int out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_series_preallocation *j = user;
    const weft_result_content content = content_of(j);
    const int64_t mark = INT64_C(0x1B5F3A9D5745F70B);
    j->error = error;
    weft_hdf5_start();
    if (j->make)
        TRY(weft_vtkhdf_write(j->name, &content, error));
    TRY(open_old(j, H5F_ACC_RDWR));
    if (j->make)
        TRY(make_groups(j));
    if (j->make)
        TRY(write_attribute(j, "VTKHDF/Steps", "NSteps", H5T_NATIVE_INT64, &mark));
    TRY(handle_sets(j));
    if (H5Fclose(j->file) < 0)
        TRY(failed(j, "the file could not be closed"));
    TRY(open_old(j, H5F_ACC_RDONLY));
    if (j->make)
        TRY(note_offsets(j, mark, &j->at));
    TRY(send_offsets(j, &j->at, out));
done:
    return status;
}

/* ---- examining a file ---------------------------------------------------------------------- */

static bool read_hash(hid_t file, const char *name, char out[33]) {
    bool out_of_memory = false;
    char *text = weft_hdf5_text(weft_hdf5_open_attribute(file, "Weft", name), &out_of_memory);
    const bool good = text && strlen(text) == 32;
    if (good)
        memcpy(out, text, 33);
    free(text);
    return good;
}

/* A data set of a series, or -1: the file is not one. */
static hid_t open_known(const weft_series_preallocation *j, const char *name) {
    hid_t set = -1;
    return weft_hdf5_open_set(j->file, j->s->path, name, &set, NULL) == WEFT_OK ? set : -1;
}

/* Rows of a data set. */
static int64_t length_of(hid_t set) {
    hid_t space = set < 0 ? -1 : H5Dget_space(set);
    const int rank = space < 0 ? -1 : H5Sget_simple_extent_ndims(space);
    hsize_t extent[2] = {0, 0};
    if ((rank != 1 && rank != 2) || H5Sget_simple_extent_dims(space, extent, NULL) < 0 ||
        extent[0] > INT64_MAX / 4096)
        return -1;
    return (int64_t)extent[0];
}

static bool read_offsets(const weft_series_preallocation *j, weft_series_offsets *out) {
    int64_t both[2] = {-1, -1};
    hid_t set = open_known(j, "Weft/SeriesPlaces");
    const bool good = length_of(set) == 2 &&
                      H5Dread(set, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, both) >= 0;
    *out = (weft_series_offsets){.count = both[0], .extent = both[1]};
    return good && both[0] > 0 && both[1] > 0;
}

/* Send a weft_series_found, its times and, if the mesh is the same, its offsets; nothing if the
 * file is not a series. */
weft_status weft_series_look(void *user, int out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_series_preallocation *j = user;
    weft_series_found found = {.is_series = true};
    weft_series_offsets at;
    char field[256];
    j->error = error;
    weft_hdf5_start();
    if (open_old(j, H5F_ACC_RDONLY) != WEFT_OK)
        goto done;
    hid_t count = weft_hdf5_open_attribute(j->file, "VTKHDF/Steps", "NSteps");
    hid_t values = open_known(j, "VTKHDF/Steps/Values");
    name_field(j, 0, field, sizeof field);
    j->capacity = length_of(open_known(j, field)) / weft_series_rows(j->s, 0);
    const int64_t n_times = length_of(values);
    if (count < 0 || H5Aread(count, H5T_NATIVE_INT64, &found.n_steps) < 0 || found.n_steps < 0 ||
        !read_hash(j->file, "SeriesMesh", found.mesh) ||
        !read_hash(j->file, "SeriesProblem", found.problem) || n_times < 0 || !read_offsets(j, &at))
        goto done;
    if (found.n_steps > n_times) /* killed between writing the two numbers */
        found.n_steps = n_times;
    found.times = malloc(((size_t)n_times + 1) * sizeof *found.times);
    if (!found.times)
        TRY(weft_error_set(error, WEFT_ERROR_MEMORY, "%s: out of memory", j->s->path));
    if (H5Dread(values, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, found.times) < 0)
        goto done;
    TRY(weft_child_write(out, &found, sizeof found, error));
    TRY(weft_child_write(out, found.times, (size_t)found.n_steps * sizeof *found.times, error));
    if (strcmp(found.mesh, j->s->mesh_hash) == 0 && strcmp(found.problem, j->s->problem) == 0 &&
        j->capacity >= found.n_steps)
        TRY(send_offsets(j, &at, out));
done:
    free(found.times);
    return status;
}
