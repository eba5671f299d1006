/* labels: quick */
/* Hostile HDF5 files: every data set of a mesh, a checkpoint and a series, one after the other, has
 * its values elsewhere (external storage, links, virtual data sets), behind a foreign filter or in
 * a huge chunk. Every reader that uses it refuses the file and says why; none waits for the pipe
 * that the file names. Chunks and filters that other programs write by default are read. */
#include "core/weft_core.h"
#include "fem/io/read.h"
#include "fem/mesh/mesh.h"
#include "fem/weft_fem.h"
#include "mesh_support.h"

#if __has_include(<hdf5.h>)
#include <hdf5.h>
#else
#include <hdf5/serial/hdf5.h>
#endif

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SETS = 64, SECONDS = 60 };

typedef enum kind {
    EXTERNAL_STORAGE,
    EXTERNAL_LINK,
    SOFT_LINK,
    LINK_OF_GROUP,
    VIRTUAL,
    FOREIGN_FILTER,
    HUGE_CHUNK,
    USUAL_CHUNK,
    KINDS
} kind;

static const char *const phrases[KINDS] = {
    "has its values in another file", "is reached by a link",
    "is reached by a link",           "is reached by a link",
    "is a virtual data set",          "is compressed by filter 32015",
    "has pieces (chunks) of",         NULL};

typedef struct name_list {
    char names[SETS][160];
    int n;
} name_list;

/* The test's files, and what there is to be read. */
typedef struct hostile {
    char *folder, *whole, *path, *fifo;
    weft_mesh *mesh;
    name_list sets;
} hostile;

static herr_t note_set(hid_t file, const char *name, const H5O_info_t *info, void *user) {
    name_list *list = user;
    (void)file;
    if (info->type == H5O_TYPE_DATASET) {
        assert_true(list->n < SETS);
        snprintf(list->names[list->n++], sizeof *list->names, "%s", name);
    }
    return 0;
}

static void copy_file(const char *from, const char *to) {
    size_t length = 0;
    char *bytes = test_file_read(from, &length);
    assert_non_null(bytes);
    test_file_write(to, bytes, length);
    free(bytes);
}

/* A data set as before, stored as the property list says; its values are written where it holds
 * them itself. */
static void make_again(hid_t file, const char *name, hid_t how, bool extensible, bool filled) {
    hsize_t extent[2] = {0, 0}, most[2] = {H5S_UNLIMITED, H5S_UNLIMITED};
    hid_t old = H5Dopen2(file, name, H5P_DEFAULT), type = H5Dget_type(old);
    hid_t space = H5Dget_space(old);
    const int rank = H5Sget_simple_extent_dims(space, extent, NULL);
    const size_t bytes = (size_t)H5Sget_simple_extent_npoints(space) * H5Tget_size(type);
    void *values = calloc(bytes + 1, 1);
    assert_non_null(values);
    assert_true(H5Dread(old, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    H5Dclose(old);
    assert_true(H5Ldelete(file, name, H5P_DEFAULT) >= 0);
    hid_t made = H5Screate_simple(rank, extent, extensible ? most : NULL);
    hid_t set = H5Dcreate2(file, name, type, made, H5P_DEFAULT, how, H5P_DEFAULT);
    assert_true(set >= 0);
    if (filled)
        assert_true(H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    H5Dclose(set);
    H5Sclose(made);
    H5Sclose(space);
    H5Tclose(type);
    free(values);
}

static void move_away(hid_t file, const char *name, bool external, const char *other) {
    assert_true(H5Lmove(file, name, file, "/away", H5P_DEFAULT, H5P_DEFAULT) >= 0);
    assert_true((external ? H5Lcreate_external(other, name, file, name, H5P_DEFAULT, H5P_DEFAULT)
                          : H5Lcreate_soft("/away", file, name, H5P_DEFAULT, H5P_DEFAULT)) >= 0);
}

/* Rows of a chunk: of 300 MB, or of the 25000 that VTK's writer has. */
static void set_chunk(hid_t how, hid_t file, const char *name, bool huge) {
    hsize_t extent[2] = {0, 1};
    hid_t set = H5Dopen2(file, name, H5P_DEFAULT), type = H5Dget_type(set);
    hid_t space = H5Dget_space(set);
    const int rank = H5Sget_simple_extent_dims(space, extent, NULL);
    const hsize_t row = H5Tget_size(type) * (rank == 2 ? extent[1] : 1);
    extent[0] = huge ? (hsize_t)300000000 / row : 25000;
    assert_true(H5Pset_chunk(how, rank, extent) >= 0);
    H5Tclose(type);
    H5Sclose(space);
    H5Dclose(set);
}

static void set_virtual(hid_t how, hid_t file, const char *name, const char *other) {
    hid_t set = H5Dopen2(file, name, H5P_DEFAULT), space = H5Dget_space(set);
    assert_true(H5Pset_virtual(how, space, other, name, space) >= 0);
    H5Sclose(space);
    H5Dclose(set);
}

/* h->path: the whole file with this data set spoilt. */
static void spoil(const hostile *h, const char *name, kind what) {
    copy_file(h->whole, h->path);
    hid_t file = H5Fopen(h->path, H5F_ACC_RDWR, H5P_DEFAULT);
    hid_t how = H5Pcreate(H5P_DATASET_CREATE);
    char group[160];
    assert_true(file >= 0 && how >= 0);
    snprintf(group, sizeof group, "%.*s", (int)strcspn(name, "/"), name);
    if (what == EXTERNAL_STORAGE)
        assert_true(H5Pset_external(how, h->fifo, 0, H5F_UNLIMITED) >= 0);
    else if (what == VIRTUAL)
        set_virtual(how, file, name, h->fifo);
    else if (what >= FOREIGN_FILTER)
        set_chunk(how, file, name, what == HUGE_CHUNK);
    if (what == FOREIGN_FILTER)
        assert_true(H5Pset_filter(how, 32015, H5Z_FLAG_OPTIONAL, 0, NULL) >= 0);
    if (what == USUAL_CHUNK)
        assert_true(H5Pset_shuffle(how) >= 0 && H5Pset_deflate(how, 4) >= 0 &&
                    H5Pset_fletcher32(how) >= 0);
    if (what == EXTERNAL_LINK || what == SOFT_LINK)
        move_away(file, name, what == EXTERNAL_LINK, h->fifo);
    else if (what == LINK_OF_GROUP)
        move_away(file, group, true, h->fifo);
    else
        make_again(file, name, how, what >= FOREIGN_FILTER,
                   what == FOREIGN_FILTER || what == USUAL_CHUNK);
    H5Pclose(how);
    assert_true(H5Fclose(file) >= 0);
}

/* ---- readers --------------------------------------------------------------------------------- */

typedef weft_status (*reader)(const hostile *h, weft_error *error);

static weft_status read_mesh(const hostile *h, weft_error *error) {
    weft_mesh *mesh = NULL;
    const weft_status status = weft_mesh_read(h->path, 0, NULL, &mesh, error);
    weft_mesh_free(&mesh);
    return status;
}

static weft_status read_field(const hostile *h, weft_error *error) {
    weft_file_field field = {0};
    const weft_status status = weft_file_field_read(h->path, "u", &field, error);
    weft_file_field_free(&field);
    return status;
}

static weft_status use_checkpoint(const hostile *h, const char *path, bool writes,
                                  weft_error *error) {
    double *values = calloc((size_t)h->mesh->n_nodes, sizeof *values);
    weft_checkpoint checkpoint = {
        .problem = "p", .n_lists = 1, .names = &(const char *){"u"}, .lists = &values};
    const weft_status status = writes ? weft_checkpoint_write(path, h->mesh, &checkpoint, error)
                                      : weft_checkpoint_read(path, h->mesh, &checkpoint, error);
    free(values);
    return status;
}

static weft_status read_checkpoint(const hostile *h, weft_error *error) {
    return use_checkpoint(h, h->path, false, error);
}

static weft_status use_series(const hostile *h, const char *path, int first, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_series *series = NULL;
    double *values = calloc((size_t)h->mesh->n_nodes, sizeof *values);
    const weft_field field = {.name = "u", .n_components = 1};
    const weft_series_options options = {.size = sizeof options,
                                         .fields = &field,
                                         .n_fields = 1,
                                         .problem = "p",
                                         .at_start = true,
                                         .n_steps = 2,
                                         .start = first,
                                         .end = first + 2,
                                         .resume = first > 0};
    TRY(weft_series_make(path, h->mesh, &options, NULL, &series, error));
    for (int t = first; t <= first + 2; ++t)
        TRY(weft_series_add(series, t, &(const double *){values}, error));
done:
    (void)weft_series_close(&series, NULL);
    free(values);
    return status;
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void start(hostile *h) {
    weft_error error = {0};
    *h = (hostile){.folder = test_folder_make()};
    h->whole = test_path(h->folder, "whole.vtkhdf");
    h->path = test_path(h->folder, "spoilt.vtkhdf");
    h->fifo = test_path(h->folder, "fifo");
    assert_int_equal(mkfifo(h->fifo, 0600), 0);
    if (weft_mesh_read("square:4", 0, NULL, &h->mesh, &error) != WEFT_OK)
        fail_msg("%s", error.message);
    alarm(SECONDS); /* a reader that waits for the pipe */
}

static void list_sets(hostile *h) {
    hid_t file = H5Fopen(h->whole, H5F_ACC_RDONLY, H5P_DEFAULT);
    assert_true(file >= 0);
#if H5_VERSION_GE(1, 12, 0)
    H5Ovisit(file, H5_INDEX_NAME, H5_ITER_INC, (H5O_iterate2_t)(void *)note_set, &h->sets,
             H5O_INFO_BASIC);
#else
    H5Ovisit(file, H5_INDEX_NAME, H5_ITER_INC, note_set, &h->sets);
#endif
    assert_true(H5Fclose(file) >= 0);
}

static void end(hostile *h) {
    alarm(0);
    weft_mesh_free(&h->mesh);
    free(h->whole);
    free(h->path);
    free(h->fifo);
    test_folder_remove(&h->folder);
}

/* How many of the readers refuse the file, each in the right words. */
static int count_refusals(const hostile *h, const char *name, kind what, const reader *readers,
                          int n) {
    int refused = 0;
    spoil(h, name, what);
    for (int i = 0; i < n; ++i) {
        weft_error error = {0};
        if (readers[i](h, &error) == WEFT_OK)
            continue;
        ++refused;
        if (what == LINK_OF_GROUP && i > 0) /* for want of the group */
            continue;
        if (!phrases[what] || !strstr(error.message, phrases[what]) || !error.hint[0])
            fail_msg("%s, kind %d, reader %d: %s", name, what, i, error.message);
    }
    return refused;
}

static void meshes_and_checkpoints(void **state) {
    static const reader readers[] = {read_mesh, read_field, read_checkpoint};
    (void)state;
    hostile h;
    weft_error error = {0};
    start(&h);
    if (use_checkpoint(&h, h.whole, true, &error) != WEFT_OK)
        fail_msg("%s", error.message);
    list_sets(&h);
    assert_true(h.sets.n >= 10);
    for (int i = 0; i < h.sets.n; ++i)
        for (int what = 0; what < KINDS; ++what) {
            const char *name = h.sets.names[i];
            /* the groups are links once for each group; offsets are not needed for triangles alone */
            if ((what == LINK_OF_GROUP && strcmp(name, "Weft/Facets") != 0) ||
                strcmp(name, "VTKHDF/Offsets") == 0)
                continue;
            const int refused = count_refusals(&h, name, (kind)what, readers, 3);
            if ((refused > 0) != (what != USUAL_CHUNK))
                fail_msg("%s, kind %d: %d refusals", name, what, refused);
        }
    end(&h);
}

/* A series that is gone on with, where HDF5 would also write into other files. */
static void series(void **state) {
    (void)state;
    hostile h;
    weft_error error = {0};
    start(&h);
    if (use_series(&h, h.whole, 0, &error) != WEFT_OK)
        fail_msg("%s", error.message);
    list_sets(&h);
    for (int i = 0; i < h.sets.n; ++i)
        for (int what = 0; what <= SOFT_LINK; ++what) {
            const char *name = h.sets.names[i];
            if (!strstr(name, "Steps") && !strstr(name, "PointData") && !strstr(name, "Places"))
                continue;
            spoil(&h, name, (kind)what);
            if (use_series(&h, h.path, 2, &error) == WEFT_OK)
                fail_msg("%s, kind %d: the series is gone on with", name, what);
        }
    end(&h);
}

/* No reader waits for a pipe or a device in the place of the file. */
static void special_files(void **state) {
    (void)state;
    hostile h;
    start(&h);
    assert_int_equal(symlink("fifo", h.path), 0);
    for (int i = 0; i < 3; ++i) {
        static const reader readers[] = {read_mesh, read_field, read_checkpoint};
        weft_error error = {0};
        assert_int_not_equal(readers[i](&h, &error), WEFT_OK);
        assert_non_null(strstr(error.message, "regular file"));
    }
    end(&h);
}

/* Two thousand million rows that nobody wrote: the child may not take what they would need. */
static void rows_without_end(void **state) {
    static const char name[] = "VTKHDF/Points";
    const hsize_t extent[2] = {2000000000, 3}, piece[2] = {1000, 3};
    const int64_t n = 2000000000;
    (void)state;
    hostile h;
    weft_error error = {0};
    start(&h);
    if (use_checkpoint(&h, h.path, true, &error) != WEFT_OK)
        fail_msg("%s", error.message);
    hid_t file = H5Fopen(h.path, H5F_ACC_RDWR, H5P_DEFAULT), how = H5Pcreate(H5P_DATASET_CREATE);
    hid_t count = H5Dopen2(file, "VTKHDF/NumberOfPoints", H5P_DEFAULT);
    assert_true(H5Dwrite(count, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, &n) >= 0);
    H5Dclose(count);
    assert_true(H5Ldelete(file, name, H5P_DEFAULT) >= 0 && H5Pset_chunk(how, 2, piece) >= 0 &&
                H5Pset_deflate(how, 1) >= 0);
    hid_t space = H5Screate_simple(2, extent, NULL);
    hid_t set = H5Dcreate2(file, name, H5T_IEEE_F64LE, space, H5P_DEFAULT, how, H5P_DEFAULT);
    assert_true(set >= 0);
    H5Dclose(set);
    H5Sclose(space);
    H5Pclose(how);
    assert_true(H5Fclose(file) >= 0);
    assert_int_equal(read_mesh(&h, &error), WEFT_ERROR_MEMORY);
    assert_non_null(strstr(error.hint, "WEFT_MESH_MEMORY"));
    end(&h);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(meshes_and_checkpoints),
                                       cmocka_unit_test(series), cmocka_unit_test(special_files),
                                       cmocka_unit_test(rows_without_end)};
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
