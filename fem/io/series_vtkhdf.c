/* A time series in one VTKHDF 2.0 file, which ParaView 5.12 and later play:
 *
 *      /VTKHDF/PointData/NAME                  [room * n_nodes]
 *      /VTKHDF/Steps  NSteps                   attribute
 *          Values                              [steps] times; its extent is written with each step,
 *                                              since VTK 9.7 takes it for the number of steps
 *          PartOffsets, PointOffsets, CellOffsets [1], ConnectivityIdOffsets [1]   zeros: one mesh
 *          NumberOfParts                       ones
 *          PointDataOffsets/NAME               where a step's values begin
 *          CellDataOffsets/GROUP               zeros
 *      /Weft  SeriesMesh, SeriesProblem        attributes: hashes
 *          SeriesPlaces                        where in the file NSteps and the extent of Values
 * lie
 *
 * HDF5 makes the file, with room for all steps and that room on the disk. A step is then written
 * without HDF5: its values and its time to the places that HDF5 gave them, and last the number of
 * steps, so that the file is whole at any moment, and other programs can read it meanwhile. Both
 * numbers lie in object headers of the first version, which have no checksums. To get more room the
 * file is copied, the data sets of the copy are extended, and the copy takes the file's name. */
#include "core/weft_core.h"
#include "fem/io/child_process.h"
#include "fem/io/result.h"
#include "fem/io/series.h"
#include "fem/io/vtkhdf.h"
#include "fem/weft_fem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    NUMBERS = 512,      /* of a chunk */
    MOST_CHUNKS = 2048, /* of values, where all are made at once: HDF5 lists them to find one */
    SEARCHED = 1 << 16  /* bytes at a time */
};

/* Where things lie in the file. */
typedef struct places {
    int64_t count, extent;   /* of the number of steps, and of the extent of Values */
    int64_t room;            /* steps */
    int64_t *values, *times; /* [room]; malloc'd in one */
} places;

/* What the child is to do, and what it does it with. */
typedef struct job {
    const weft_series *s;
    const char *name; /* of the file: a temporary, or the series itself */
    bool make;        /* the file, before its room */
    int64_t room;
    places at; /* of numbers: known where it is not made */
    hid_t file;
    weft_error *error;
} job;

static weft_status failed(const job *j, const char *what) {
    return weft_hdf5_unwritten(j->s->path, what, j->error);
}

/* ---- the child: making room --------------------------------------------------------------------
 */

/* One entry per step and more: data sets that grow with the number of steps. */
typedef struct step_set {
    const char *name;
    int64_t first, by; /* entry of step i: first + i * by */
    bool column;       /* [n][1] rather than [n] */
} step_set;
static const step_set step_sets[] = {{"VTKHDF/Steps/PartOffsets", 0, 0, false},
                                     {"VTKHDF/Steps/NumberOfParts", 1, 0, false},
                                     {"VTKHDF/Steps/PointOffsets", 0, 0, false},
                                     {"VTKHDF/Steps/CellOffsets", 0, 0, true},
                                     {"VTKHDF/Steps/ConnectivityIdOffsets", 0, 0, true}};

/* An empty data set in pieces of `chunk`, which may grow, and is on the disk as it does. */
static weft_status make_set(const job *j, const char *name, hid_t type, int64_t chunk,
                            bool column) {
    const hsize_t none[2] = {0, 1}, most[2] = {H5S_UNLIMITED, 1}, piece[2] = {(hsize_t)chunk, 1};
    const int rank = column ? 2 : 1;
    hid_t space = H5Screate_simple(rank, none, most), how = H5Pcreate(H5P_DATASET_CREATE), set = -1;
    if (space >= 0 && how >= 0 && H5Pset_chunk(how, rank, piece) >= 0 &&
        H5Pset_alloc_time(how, H5D_ALLOC_TIME_EARLY) >= 0 &&
        H5Pset_fill_time(how, H5D_FILL_TIME_NEVER) >= 0)
        set = H5Dcreate2(j->file, name, type, space, H5P_DEFAULT, how, H5P_DEFAULT);
    if (set < 0 || H5Dclose(set) < 0 || H5Sclose(space) < 0 || H5Pclose(how) < 0)
        return failed(j, "a data set could not be made");
    return WEFT_OK;
}

static weft_status extend_set(const job *j, const char *name, int64_t n) {
    const hsize_t extent[2] = {(hsize_t)n, 1};
    hid_t set = H5Dopen2(j->file, name, H5P_DEFAULT);
    if (set < 0 || H5Dset_extent(set, extent) < 0 || H5Dclose(set) < 0)
        return failed(j, "a data set could not be extended");
    return WEFT_OK;
}

static weft_status extend_numbers(const job *j, const step_set *numbers) {
    weft_status status = WEFT_OK;
    hid_t set = -1;
    int64_t *values = malloc((size_t)j->room * sizeof *values);
    if (!values)
        return weft_error_set(j->error, WEFT_ERROR_MEMORY, "%s: out of memory", j->s->path);
    for (int64_t i = 0; i < j->room; ++i)
        values[i] = numbers->first + i * numbers->by;
    TRY(extend_set(j, numbers->name, j->room));
    set = H5Dopen2(j->file, numbers->name, H5P_DEFAULT);
    if (set < 0 || H5Dwrite(set, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0 ||
        H5Dclose(set) < 0)
        status = failed(j, "values could not be written");
done:
    free(values);
    return status;
}

/* make, or extend to j->room, every data set that has an entry for each step. */
static weft_status handle_numbers(const job *j, const step_set *numbers) {
    weft_status status = WEFT_OK;
    if (j->make)
        TRY(make_set(j, numbers->name, H5T_STD_I64LE, NUMBERS, numbers->column));
    TRY(extend_numbers(j, numbers));
done:
    return status;
}

static weft_status handle_offsets(const job *j) {
    weft_status status = WEFT_OK;
    char path[64 + WEFT_MASK_NAME_BYTES];
    const weft_result_content content = {j->s->path, j->s->mesh, NULL, 0, true};
    char(*names)[WEFT_MASK_NAME_BYTES] = calloc((size_t)j->s->mesh->n_groups + 1, sizeof *names);
    if (!names)
        return weft_error_set(j->error, WEFT_ERROR_MEMORY, "%s: out of memory", j->s->path);
    weft_mask_names(&content, names);
    for (int g = 0; g < j->s->mesh->n_groups; ++g) {
        (void)snprintf(path, sizeof path, "VTKHDF/Steps/CellDataOffsets/%s", names[g]);
        if (names[g][0])
            TRY(handle_numbers(j, &(step_set){path, 0, 0, false}));
    }
    (void)snprintf(path, sizeof path, "VTKHDF/Steps/PointDataOffsets/%s", j->s->name);
    TRY(handle_numbers(j, &(step_set){path, 0, j->s->mesh->n_nodes, false}));
done:
    free(names);
    return status;
}

static void name_field(const job *j, char *out, size_t size) {
    (void)snprintf(out, size, "VTKHDF/PointData/%s", j->s->name);
}

static weft_status handle_sets(const job *j) {
    weft_status status = WEFT_OK;
    const int64_t n = j->s->mesh->n_nodes;
    char field[256];
    name_field(j, field, sizeof field);
    for (size_t i = 0; i < sizeof step_sets / sizeof *step_sets; ++i)
        TRY(handle_numbers(j, &step_sets[i]));
    TRY(handle_offsets(j));
    if (j->make) {
        TRY(make_set(j, "VTKHDF/Steps/Values", H5T_IEEE_F64LE, NUMBERS, false));
        TRY(make_set(j, field, H5T_IEEE_F64LE, n * ((j->room - 1) / MOST_CHUNKS + 1), false));
    }
    TRY(extend_set(j, "VTKHDF/Steps/Values", j->room + 1)); /* like no other, to be found */
    TRY(extend_set(j, field, j->room * n));
done:
    return status;
}

/* An attribute of a group, which is there already or gets one value. */
static weft_status write_attribute(const job *j, const char *group, const char *name, hid_t type,
                                   const void *value) {
    hid_t in = H5Gopen2(j->file, group, H5P_DEFAULT), attribute = -1;
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

static weft_status make_groups(const job *j) {
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

/* Objects that are made get headers of the first version, without checksums. */
static hid_t open_old(const char *name, unsigned how) {
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    if (access < 0 || H5Pset_libver_bounds(access, H5F_LIBVER_EARLIEST, H5F_LIBVER_V18) < 0)
        return -1;
    return H5Fopen(name, how, access);
}

/* ---- the child: places -------------------------------------------------------------------------
 */

/* Where these bytes lie; -1: nowhere, or twice. Room that nothing was written to is a hole. */
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

/* The entries of a chunk; 0: this is no chunked data set. */
static int64_t chunk_of(hid_t set) {
    hid_t how = set < 0 ? -1 : H5Dget_create_plist(set);
    hsize_t chunk = 0;
    if (how < 0 || H5Pget_chunk(how, 1, &chunk) != 1)
        return 0;
    return (int64_t)chunk;
}

/* Places of j->room entries of 8 bytes, every `by`-th of a data set. */
static weft_status find_entries(const job *j, const char *name, int64_t by, int64_t *out) {
    hid_t set = H5Dopen2(j->file, name, H5P_DEFAULT);
    const int64_t chunk = chunk_of(set);
    haddr_t start = 0;
    if (chunk < 1 || chunk % by != 0)
        return failed(j, "a data set could not be opened");
    for (int64_t i = 0; i < j->room; ++i) {
        const hsize_t entry = (hsize_t)(i * by);
        hsize_t bytes = 0;
        unsigned filters = 0;
        if (i * by % chunk == 0 &&
            (H5Dget_chunk_info_by_coord(set, &entry, &filters, &start, &bytes) < 0 || bytes == 0))
            return failed(j, "a piece of a data set could not be found");
        out[i] = (int64_t)start + i * by % chunk * (int64_t)sizeof(double);
    }
    H5Dclose(set);
    return WEFT_OK;
}

/* p: its count and extent. */
static weft_status send_places(const job *j, const places *p, int out) {
    weft_status status = WEFT_OK;
    const size_t bytes = (size_t)j->room * sizeof(int64_t);
    const int64_t head[3] = {p->count, p->extent, j->room};
    char field[256];
    int64_t *entries = malloc(2 * bytes);
    if (!entries)
        return weft_error_set(j->error, WEFT_ERROR_MEMORY, "%s: out of memory", j->s->path);
    name_field(j, field, sizeof field);
    TRY(find_entries(j, field, j->s->mesh->n_nodes, entries));
    TRY(find_entries(j, "VTKHDF/Steps/Values", 1, entries + j->room));
    TRY(weft_apart_write(out, head, sizeof head, j->error));
    TRY(weft_apart_write(out, entries, 2 * bytes, j->error));
done:
    free(entries);
    return status;
}

/* Find NSteps, which is `mark` now, and the extent of Values, and note both places in the file
 * itself. An extent stands in a dataspace message of the first version: rank 1, with the largest
 * extent behind it. */
static weft_status note_places(const job *j, int64_t mark, places *out) {
    const struct {
        uint8_t head[8];
        int64_t now, most;
    } extent = {{1, 1, 1, 0, 0, 0, 0, 0}, j->room + 1, -1};
    hid_t kept = H5Dopen2(j->file, "Weft/SeriesPlaces", H5P_DEFAULT);
    const haddr_t place = kept < 0 ? HADDR_UNDEF : H5Dget_offset(kept);
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

/* Make or extend j->name and send its places. In a new file NSteps is a number to be searched for.
 */
static weft_status make_room(void *user, int out, weft_error *error) {
    weft_status status = WEFT_OK;
    job *j = user;
    const weft_result_content content = {j->s->path, j->s->mesh, NULL, 0, true};
    const int64_t mark = INT64_C(0x1B5F3A9D5745F70B);
    j->error = error;
    weft_hdf5_silence();
    if (j->make)
        TRY(weft_vtkhdf_write(j->name, &content, error));
    j->file = open_old(j->name, H5F_ACC_RDWR);
    if (j->file < 0)
        TRY(failed(j, "the file could not be made"));
    if (j->make)
        TRY(make_groups(j));
    if (j->make)
        TRY(write_attribute(j, "VTKHDF/Steps", "NSteps", H5T_NATIVE_INT64, &mark));
    TRY(handle_sets(j));
    if (H5Fclose(j->file) < 0)
        TRY(failed(j, "the file could not be closed"));
    j->file = open_old(j->name, H5F_ACC_RDONLY);
    if (j->file < 0)
        TRY(failed(j, "the file could not be opened again"));
    if (j->make)
        TRY(note_places(j, mark, &j->at));
    TRY(send_places(j, &j->at, out));
done:
    return status;
}

/* ---- the child: looking ------------------------------------------------------------------------
 */

static bool read_hash(hid_t file, const char *name, char out[33]) {
    hid_t attribute = H5Aopen_by_name(file, "Weft", name, H5P_DEFAULT, H5P_DEFAULT);
    hid_t type = attribute < 0 ? -1 : H5Aget_type(attribute);
    const bool good = type >= 0 && H5Tget_class(type) == H5T_STRING &&
                      H5Tis_variable_str(type) == 0 && H5Tget_size(type) == 33 &&
                      H5Aread(attribute, type, out) >= 0;
    out[32] = '\0';
    return good;
}

static int64_t length_of(hid_t set) {
    hid_t space = set < 0 ? -1 : H5Dget_space(set);
    return space >= 0 && H5Sget_simple_extent_ndims(space) == 1
               ? (int64_t)H5Sget_simple_extent_npoints(space)
               : -1;
}

static bool read_places(hid_t file, places *out) {
    int64_t both[2] = {-1, -1};
    hid_t set = H5Dopen2(file, "Weft/SeriesPlaces", H5P_DEFAULT);
    const bool good = length_of(set) == 2 &&
                      H5Dread(set, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, both) >= 0;
    *out = (places){.count = both[0], .extent = both[1]};
    return good && both[0] > 0 && both[1] > 0;
}

/* Sends a weft_series_found, its times, and its places where the mesh is the same. A file that is
 * no series is silence. */
static weft_status look_apart(void *user, int out, weft_error *error) {
    weft_status status = WEFT_OK;
    job *j = user;
    weft_series_found found = {.is_series = true};
    places at;
    char field[256];
    j->error = error;
    weft_hdf5_silence();
    j->file = open_old(j->name, H5F_ACC_RDONLY);
    if (j->file < 0)
        return WEFT_OK;
    hid_t count = H5Aopen_by_name(j->file, "VTKHDF/Steps", "NSteps", H5P_DEFAULT, H5P_DEFAULT);
    hid_t values = H5Dopen2(j->file, "VTKHDF/Steps/Values", H5P_DEFAULT);
    name_field(j, field, sizeof field);
    j->room = length_of(H5Dopen2(j->file, field, H5P_DEFAULT)) / j->s->mesh->n_nodes;
    const int64_t n_times = length_of(values);
    if (count < 0 || H5Aread(count, H5T_NATIVE_INT64, &found.n_steps) < 0 || found.n_steps < 0 ||
        !read_hash(j->file, "SeriesMesh", found.mesh) ||
        !read_hash(j->file, "SeriesProblem", found.problem) || n_times < 0 ||
        !read_places(j->file, &at))
        return WEFT_OK;
    if (found.n_steps > n_times) /* it was killed between the two numbers */
        found.n_steps = n_times;
    found.times = malloc(((size_t)n_times + 1) * sizeof *found.times);
    if (!found.times)
        return weft_error_set(error, WEFT_ERROR_MEMORY, "%s: out of memory", j->s->path);
    if (H5Dread(values, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, found.times) < 0)
        return WEFT_OK;
    TRY(weft_apart_write(out, &found, sizeof found, error));
    TRY(weft_apart_write(out, found.times, (size_t)found.n_steps * sizeof *found.times, error));
    if (strcmp(found.mesh, j->s->mesh_hash) == 0 && j->room >= found.n_steps)
        TRY(send_places(j, &at, out));
done:
    free(found.times);
    return status;
}

/* ---- the parent --------------------------------------------------------------------------------
 */

static void places_clear(places *p) {
    free(p->values);
    *p = (places){0};
}

static bool receive_places(const weft_apart *apart, places *p) {
    int64_t head[3] = {0};
    places_clear(p);
    if (!weft_apart_read(apart, head, sizeof head) || head[2] < 1)
        return false;
    *p = (places){.count = head[0], .extent = head[1], .room = head[2]};
    const size_t n = (size_t)p->room;
    p->values = malloc(2 * n * sizeof *p->values);
    p->times = p->values ? p->values + n : NULL;
    return p->values && weft_apart_read(apart, p->values, 2 * n * sizeof *p->values);
}

static weft_status no_memory(const weft_series *s, weft_error *error) {
    return weft_error_set(error, WEFT_ERROR_MEMORY, "%s: out of memory", s->path);
}

static weft_status look(weft_series *s, weft_series_found *out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_apart apart = WEFT_APART_NONE;
    job j = {.s = s, .name = s->path, .file = -1};
    TRY(weft_file_unlocked(s->path, true, error));
    s->state = s->state ? s->state : calloc(1, sizeof(places));
    if (!s->state)
        return no_memory(s, error);
    TRY(weft_apart_start(look_apart, &j, s->path, &apart, error));
    weft_series_found found = {0};
    if (weft_apart_read(&apart, &found, sizeof found)) {
        found.times = malloc(((size_t)found.n_steps + 1) * sizeof *found.times);
        if (!found.times) {
            status = no_memory(s, error);
            goto done;
        }
        found.is_series =
            weft_apart_read(&apart, found.times, (size_t)found.n_steps * sizeof *found.times);
        if (strcmp(found.mesh, s->mesh_hash) == 0)
            found.is_series = receive_places(&apart, s->state);
        *out = found;
    }
    TRY(weft_apart_end(&apart, false, s->path, error));
done:
    (void)weft_apart_end(&apart, true, s->path, NULL);
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
    const places *p = s->state;
    TRY(write_at(s, file, &n, sizeof n, p->count, error));
    TRY(write_at(s, file, &n, sizeof n, p->extent, error));
done:
    return status;
}

static weft_status copy_file(const weft_series *s, int to, weft_error *error) {
    weft_status status = WEFT_OK;
    const int from = open(s->path, O_RDONLY | O_CLOEXEC);
    ssize_t n = from < 0 ? -1 : 1;
    while (n > 0)
        n = sendfile(to, from, NULL, (size_t)1 << 30);
    if (n < 0)
        status = weft_cannot_write(s->path, errno, error);
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
    int64_t room;
} filling;

static weft_status fill(void *user, const weft_temporary *temporary, weft_error *error) {
    weft_status status = WEFT_OK;
    const filling *f = user;
    places *p = f->s->state;
    weft_apart apart = WEFT_APART_NONE;
    job j = {
        .s = f->s, .name = temporary->name, .make = f->make, .room = f->room, .at = *p, .file = -1};
    if (!f->make) { /* of the times, too, as HDF5 left it */
        const int64_t extent = p->room + 1;
        TRY(copy_file(f->s, temporary->file, error));
        TRY(write_at(f->s, temporary->file, &extent, sizeof extent, p->extent, error));
    }
    TRY(weft_apart_start(make_room, &j, f->s->path, &apart, error));
    const bool received = receive_places(&apart, p);
    TRY(weft_apart_end(&apart, false, f->s->path, error));
    if (!received) {
        status = no_memory(f->s, error);
        goto done;
    }
    TRY(reserve(f->s, temporary->file, error));
    TRY(write_count(f->s, temporary->file, f->s->n_steps, error));
done:
    (void)weft_apart_end(&apart, true, f->s->path, NULL);
    return status;
}

/* The number at `count` must be NSteps: some program may have written the file again. */
static bool fits(int file, const places *p, int64_t n_steps) {
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

/* Go on in the file itself where it has room, else in an extended copy. */
static weft_status begin(weft_series *s, bool resume, const weft_series_found *found,
                         weft_error *error) {
    weft_status status = WEFT_OK;
    filling f = {s, !resume, s->n_steps + s->n_more};
    s->state = s->state ? s->state : calloc(1, sizeof(places));
    if (!s->state)
        return no_memory(s, error);
    const places *p = s->state;
    if (resume) {
        TRY(open_series(s, error));
        TRY(weft_series_lock(s->file, s->path, error));
        if (!fits(s->file, p, found->n_steps)) {
            weft_error_set(error, WEFT_ERROR_INPUT,
                           "%s cannot be gone on with: another program has changed it", s->path);
            weft_error_hint(error, "give --output another name, or --overwrite to replace it");
            status = WEFT_ERROR_INPUT;
            goto done;
        }
        if (p->room >= f.room) {
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

static weft_status add(weft_series *s, double t, const double *values, weft_error *error) {
    weft_status status = WEFT_OK;
    const places *p = s->state;
    const int64_t i = s->n_steps;
    TRY(write_at(s, s->file, values, (size_t)s->mesh->n_nodes * sizeof *values, p->values[i],
                 error));
    TRY(write_at(s, s->file, &t, sizeof t, p->times[i], error));
    TRY(write_count(s, s->file, i + 1, error));
done:
    return status;
}

/* The disk behind room that was not used is given back. A restart may use the room all the same. */
static weft_status end(weft_series *s, weft_error *error) {
    const places *p = s->state;
    const off_t bytes = (off_t)s->mesh->n_nodes * (off_t)sizeof(double);
    for (int64_t i = s->n_steps; i < p->room; ++i)
        (void)fallocate(s->file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)p->values[i],
                        bytes);
    if (fsync(s->file) != 0)
        return weft_cannot_write(s->path, errno, error);
    return WEFT_OK;
}

static void free_state(weft_series *s) {
    places_clear(s->state);
    free(s->state);
    s->state = NULL;
}

const weft_series_kind weft_series_vtkhdf = {".vtkhdf", look, begin, add, end, free_state};
