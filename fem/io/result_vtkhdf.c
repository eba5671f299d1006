/* Writes mesh, groups and fields to a VTKHDF file. */
#include "fem/io/result.h"
#include "fem/io/vtkhdf.h"

#include <stdlib.h>
#include <string.h>

enum { PIECE = 1 << 14 };

typedef struct writer {
    const char *path;
    const weft_mesh *mesh;
    const weft_result_content *content;
    weft_result_grid grid;
    hid_t file, access;
    hid_t vtk, points, cells, weft; /* groups */
    weft_error *error;
} writer;

static weft_status failed(const writer *w, const char *what) {
    return weft_hdf5_unwritten(w->path, what, w->error);
}

/* A data set [n][width], or [n] with width 0; its type in the file and that in memory. */
typedef struct data_set {
    const char *name;
    hid_t type, memory_type;
    int64_t n;
    int width;
} data_set;

static weft_status make_set(const writer *w, hid_t group, const data_set *d, hid_t *out) {
    hsize_t extent[2] = {(hsize_t)d->n, (hsize_t)d->width};
    hid_t space = H5Screate_simple(d->width > 0 ? 2 : 1, extent, NULL);
    hid_t set = space < 0 ? -1
                          : H5Dcreate2(group, d->name, d->type, space, H5P_DEFAULT, H5P_DEFAULT,
                                       H5P_DEFAULT);
    /* report at once: closing any object clears HDF5's error stack */
    const weft_status status = set < 0 ? failed(w, "a data set could not be made") : WEFT_OK;
    if (space >= 0)
        H5Sclose(space);
    if (set >= 0)
        *out = set;
    return status;
}

/* Write a whole data set, converted by HDF5. */
static weft_status write_set(const writer *w, hid_t group, const data_set *d, const void *values) {
    hid_t set = -1;
    weft_status status = make_set(w, group, d, &set);
    if (status != WEFT_OK)
        return status;
    if (d->n > 0 && H5Dwrite(set, d->memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0)
        status = failed(w, "values could not be written");
    if (H5Dclose(set) < 0 && status == WEFT_OK)
        status = failed(w, "values could not be written");
    return status;
}

/* Write values that are generated piece by piece, to avoid a second copy of the mesh in memory. */
typedef void (*fill_piece)(const weft_result_grid *grid, int64_t first, int64_t n, void *out);

static weft_status write_rows(const writer *w, hid_t set, hid_t memory_type, int64_t first,
                              int64_t n, int width, const void *values) {
    hsize_t start[2] = {(hsize_t)first, 0}, count[2] = {(hsize_t)n, (hsize_t)width};
    hid_t file_space = H5Dget_space(set);
    hid_t memory_space = H5Screate_simple(width > 0 ? 2 : 1, count, NULL);
    bool good = file_space >= 0 && memory_space >= 0 &&
                H5Sselect_hyperslab(file_space, H5S_SELECT_SET, start, NULL, count, NULL) >= 0 &&
                H5Dwrite(set, memory_type, memory_space, file_space, H5P_DEFAULT, values) >= 0;
    const weft_status status = good ? WEFT_OK : failed(w, "values could not be written");
    if (file_space >= 0)
        H5Sclose(file_space);
    if (memory_space >= 0)
        H5Sclose(memory_space);
    return status;
}

static weft_status write_pieces(const writer *w, const data_set *d, fill_piece fill) {
    weft_status status = WEFT_OK;
    hid_t set = -1;
    void *piece = malloc(PIECE * 3 * sizeof(double));
    if (!piece)
        TRY(weft_error_set(w->error, WEFT_ERROR_MEMORY, "%s: out of memory", w->path));
    TRY(make_set(w, w->vtk, d, &set));
    for (int64_t first = 0; first < d->n; first += PIECE) {
        int64_t count = d->n - first < PIECE ? d->n - first : PIECE;
        fill(&w->grid, first, count, piece);
        TRY(write_rows(w, set, d->memory_type, first, count, d->width, piece));
    }
done:
    if (set >= 0 && H5Dclose(set) < 0 && status == WEFT_OK)
        status = failed(w, "values could not be written");
    free(piece);
    return status;
}

static void fill_offsets(const weft_result_grid *grid, int64_t first, int64_t n, void *out) {
    int64_t *offsets = out;
    for (int64_t i = 0; i < n; ++i)
        offsets[i] = (first + i) * grid->width;
}

static void fill_types(const weft_result_grid *grid, int64_t first, int64_t n, void *out) {
    (void)first;
    weft_types_fill(grid, n, out);
}

/* The nodes of the cells, [n_cells * width], some cells at a time where VTK has another order. */
static weft_status write_cells(const writer *w) {
    weft_status status = WEFT_OK;
    const int width = w->grid.width;
    const data_set d = {"Connectivity", H5T_STD_I64LE, H5T_NATIVE_INT32, w->grid.n_cells * width,
                        0};
    const int64_t rows = width < PIECE ? PIECE / width : 1;
    hid_t set = -1;
    int32_t *piece = NULL;
    if (!w->grid.order) {
        status = write_set(w, w->vtk, &d, w->grid.cells);
        goto done;
    }
    piece = malloc((size_t)(rows * width) * sizeof *piece);
    if (!piece)
        TRY(weft_error_set(w->error, WEFT_ERROR_MEMORY, "%s: out of memory", w->path));
    TRY(make_set(w, w->vtk, &d, &set));
    for (int64_t first = 0; first < w->grid.n_cells; first += rows) {
        const int64_t n = w->grid.n_cells - first < rows ? w->grid.n_cells - first : rows;
        weft_cells_fill(&w->grid, first, n, piece);
        TRY(write_rows(w, set, H5T_NATIVE_INT32, first * width, n * width, 0, piece));
    }
done:
    if (set >= 0 && H5Dclose(set) < 0 && status == WEFT_OK)
        status = failed(w, "values could not be written");
    free(piece);
    return status;
}

/* extent 0: one value. */
static weft_status write_attribute(const writer *w, hid_t group, const char *name, hid_t type,
                                   hsize_t extent, hid_t memory_type, const void *value) {
    hid_t space = extent ? H5Screate_simple(1, &extent, NULL) : H5Screate(H5S_SCALAR);
    hid_t attribute =
        space < 0 ? -1 : H5Acreate2(group, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    bool good = attribute >= 0 && H5Awrite(attribute, memory_type, value) >= 0;
    const weft_status status = good ? WEFT_OK : failed(w, "an attribute could not be written");
    if (attribute >= 0)
        H5Aclose(attribute);
    if (space >= 0)
        H5Sclose(space);
    return status;
}

static weft_status open_groups(writer *w, const char *temporary) {
    w->access = H5Pcreate(H5P_FILE_ACCESS);
    if (w->access < 0 || H5Pset_fclose_degree(w->access, H5F_CLOSE_STRONG) < 0)
        return failed(w, "HDF5 did not start");
    /* headers with checksums, to detect damage when the file is read; not in a series, where the
       number of steps is written without HDF5 */
    H5Pset_libver_bounds(w->access, w->content->is_series ? H5F_LIBVER_EARLIEST : H5F_LIBVER_V18,
                         H5F_LIBVER_V18);
    w->file = H5Fcreate(temporary, H5F_ACC_TRUNC, H5P_DEFAULT, w->access);
    if (w->file < 0)
        return failed(w, "the file could not be made");
    w->vtk = H5Gcreate2(w->file, "VTKHDF", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    w->points = H5Gcreate2(w->file, "VTKHDF/PointData", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    w->cells = H5Gcreate2(w->file, "VTKHDF/CellData", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    w->weft = H5Gcreate2(w->file, "Weft", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (w->vtk < 0 || w->points < 0 || w->cells < 0 || w->weft < 0)
        return failed(w, "a group could not be made");
    return WEFT_OK;
}

static weft_status write_mesh(const writer *w) {
    static const int64_t version[2] = {1, 0};
    static const char kind[] = "UnstructuredGrid";
    weft_status status = WEFT_OK;
    const weft_result_grid *g = &w->grid;
    const int64_t n_ids = g->n_cells * g->width;
    hid_t text = H5Tcopy(H5T_C_S1), i64 = H5T_STD_I64LE;
    if (text < 0 || H5Tset_size(text, sizeof kind - 1) < 0 || H5Tset_strpad(text, H5T_STR_NULLPAD))
        status = failed(w, "HDF5 did not start");
    if (status == WEFT_OK)
        status = write_attribute(w, w->vtk, "Type", text, 0, text, kind);
    if (text >= 0)
        H5Tclose(text);
    TRY(status);
    TRY(write_attribute(w, w->vtk, "Version", i64, 2, H5T_NATIVE_INT64, version));
    TRY(write_set(w, w->vtk, &(data_set){"NumberOfPoints", i64, H5T_NATIVE_INT64, 1, 0},
                  &g->n_points));
    TRY(write_set(w, w->vtk, &(data_set){"NumberOfCells", i64, H5T_NATIVE_INT64, 1, 0},
                  &g->n_cells));
    TRY(write_set(w, w->vtk, &(data_set){"NumberOfConnectivityIds", i64, H5T_NATIVE_INT64, 1, 0},
                  &n_ids));
    TRY(write_pieces(w, &(data_set){"Points", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, g->n_points, 3},
                     weft_points_fill));
    TRY(write_cells(w));
    TRY(write_pieces(w, &(data_set){"Offsets", i64, H5T_NATIVE_INT64, g->n_cells + 1, 0},
                     fill_offsets));
    TRY(write_pieces(w, &(data_set){"Types", H5T_STD_U8LE, H5T_NATIVE_UINT8, g->n_cells, 0},
                     fill_types));
done:
    return status;
}

static weft_status write_group_arrays(const writer *w, char (*names)[WEFT_GROUP_NAME_BYTES],
                                      int64_t *numbers) {
    weft_status status = WEFT_OK;
    const weft_mesh *m = w->mesh;
    int n = m->n_groups;
    hid_t text = H5Tcopy(H5T_C_S1), i64 = H5T_STD_I64LE, native = H5T_NATIVE_INT64;
    if (text < 0 || H5Tset_size(text, WEFT_GROUP_NAME_BYTES) < 0)
        TRY(failed(w, "HDF5 did not start"));
    for (int g = 0; g < n; ++g) {
        memcpy(names[g], m->groups[g].name, WEFT_GROUP_NAME_BYTES);
        numbers[g] = m->groups[g].dimension;
        numbers[n + g] = m->groups[g].first_facet;
        numbers[2 * n + g] = m->groups[g].n_facets;
        numbers[3 * n + g] = m->groups[g].number;
    }
    TRY(write_set(w, w->weft, &(data_set){"GroupNames", text, text, n, 0}, names));
    TRY(write_set(w, w->weft, &(data_set){"GroupDimensions", i64, native, n, 0}, numbers));
    TRY(write_set(w, w->weft, &(data_set){"GroupFirst", i64, native, n, 0}, numbers + n));
    TRY(write_set(w, w->weft, &(data_set){"GroupCount", i64, native, n, 0}, numbers + 2 * n));
    TRY(write_set(w, w->weft, &(data_set){"GroupNumbers", i64, native, n, 0}, numbers + 3 * n));
done:
    if (text >= 0)
        H5Tclose(text);
    return status;
}

/* Where there are any, as versions of Weft before them have none. numbers [2 n_groups] */
static weft_status write_points(const writer *w, int64_t *numbers) {
    weft_status status = WEFT_OK;
    const weft_mesh *m = w->mesh;
    const weft_point_lists *points = &m->points;
    const int n = m->n_groups;
    const hid_t i64 = H5T_STD_I64LE, i32 = H5T_STD_I32LE, native = H5T_NATIVE_INT32;
    for (int g = 0; g < n; ++g) {
        numbers[g] = m->groups[g].first_point;
        numbers[n + g] = m->groups[g].n_points;
    }
    if (points->n_nodes > 0) {
        TRY(write_set(w, w->weft, &(data_set){"GroupPoints", i32, native, points->n_nodes, 0},
                      points->nodes));
        TRY(write_set(w, w->weft, &(data_set){"GroupPointRanges", i64, H5T_NATIVE_INT64, 2 * n, 0},
                      numbers));
    }
    if (points->n_pairs > 0)
        TRY(write_set(w, w->weft, &(data_set){"Periodic", i32, native, points->n_pairs, 3},
                      points->pairs));
done:
    return status;
}

static weft_status write_groups(const writer *w) {
    static const int64_t version = 1;
    weft_status status = WEFT_OK;
    const weft_mesh *m = w->mesh;
    size_t n = (size_t)m->n_groups;
    int64_t n_numbers = 0;
    char(*names)[WEFT_GROUP_NAME_BYTES] = calloc(n + 1, sizeof *names);
    int64_t *numbers = calloc(4 * n + 1, sizeof *numbers);
    if (!names || !numbers)
        TRY(weft_error_set(w->error, WEFT_ERROR_MEMORY, "%s: out of memory", w->path));
    for (size_t g = 0; g < n; ++g)
        if (m->groups[g].first_facet + m->groups[g].n_facets > n_numbers)
            n_numbers = m->groups[g].first_facet + m->groups[g].n_facets;
    TRY(write_attribute(w, w->weft, "Version", H5T_STD_I64LE, 0, H5T_NATIVE_INT64, &version));
    TRY(write_set(w, w->weft,
                  &(data_set){"Facets", H5T_STD_I32LE, H5T_NATIVE_INT32, m->n_facets,
                              weft_mesh_facet_vertices(m)},
                  m->facets));
    TRY(write_set(w, w->weft,
                  &(data_set){"GroupFacets", H5T_STD_I32LE, H5T_NATIVE_INT32, n_numbers, 0},
                  m->group_facets));
    TRY(write_group_arrays(w, names, numbers));
    TRY(write_points(w, numbers));
done:
    free(names);
    free(numbers);
    return status;
}

static weft_status write_mask(const writer *w, int g, const char *name, uint8_t *piece) {
    weft_status status = WEFT_OK;
    const int64_t n = w->mesh->n_cells;
    hid_t set = -1;
    TRY(make_set(w, w->cells, &(data_set){name, H5T_STD_U8LE, H5T_NATIVE_UINT8, n, 0}, &set));
    for (int64_t first = 0; first < n; first += PIECE) {
        const int64_t count = n - first < PIECE ? n - first : PIECE;
        weft_mask_fill(w->mesh, g, first, count, piece);
        TRY(write_rows(w, set, H5T_NATIVE_UINT8, first, count, 0, piece));
    }
done:
    if (set >= 0 && H5Dclose(set) < 0 && status == WEFT_OK)
        status = failed(w, "values could not be written");
    return status;
}

/* Groups of cells, as ParaView sees them. */
static weft_status write_masks(const writer *w) {
    weft_status status = WEFT_OK;
    const int n = w->mesh->n_groups;
    hid_t text = -1;
    uint8_t *piece = malloc(PIECE);
    char(*names)[WEFT_MASK_NAME_BYTES] = calloc((size_t)n + 1, sizeof *names);
    if (!piece || !names)
        TRY(weft_error_set(w->error, WEFT_ERROR_MEMORY, "%s: out of memory", w->path));
    weft_mask_names(w->content, names);
    for (int g = 0; g < n; ++g)
        if (names[g][0])
            TRY(write_mask(w, g, names[g], piece));
    text = H5Tcopy(H5T_C_S1);
    if (text < 0 || H5Tset_size(text, WEFT_MASK_NAME_BYTES) < 0)
        TRY(failed(w, "HDF5 did not start"));
    TRY(write_set(w, w->weft, &(data_set){"GroupCellData", text, text, n, 0}, names));
done:
    if (text >= 0)
        H5Tclose(text);
    free(piece);
    free(names);
    return status;
}

static weft_status write_fields(const writer *w) {
    weft_status status = WEFT_OK;
    for (int i = 0; i < w->content->n_fields && !w->content->is_series; ++i) {
        const weft_field *field = &w->content->fields[i];
        const int width = field->n_components > 1 ? field->n_components : 0;
        const data_set set = {field->name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE,
                              field->on_cells ? w->mesh->n_cells : w->grid.n_points, width};
        TRY(write_set(w, field->on_cells ? w->cells : w->points, &set, field->values));
    }
done:
    return status;
}

static weft_status write_statement(const writer *w) {
    weft_status status = WEFT_OK;
    const hid_t text = H5Tcopy(H5T_C_S1);
    if (text < 0 || H5Tset_size(text, strlen(w->content->statement) + 1) < 0 ||
        H5Tset_cset(text, H5T_CSET_UTF8) < 0)
        status = failed(w, "HDF5 did not start");
    else
        status = write_attribute(w, w->weft, "Problem", text, 0, text, w->content->statement);
    if (text >= 0)
        H5Tclose(text);
    return status;
}

weft_status weft_vtkhdf_write(const char *temporary, const weft_result_content *content,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    writer w = {content->path, content->mesh, content, {0}, -1, -1, -1, -1, -1, -1, error};
    TRY(weft_result_grid_make(content->mesh, content->nodes, &w.grid, error));
    weft_hdf5_start();
    TRY(open_groups(&w, temporary));
    TRY(write_mesh(&w));
    if (!content->nodes)
        TRY(write_groups(&w));
    TRY(write_masks(&w));
    TRY(write_fields(&w));
    if (content->statement)
        TRY(write_statement(&w));
    /* closing the file closes all objects in it and flushes them */
    if (H5Fclose(w.file) < 0)
        status = failed(&w, "the file could not be closed");
done:
    weft_result_grid_free(&w.grid);
    return status; /* after an error leave objects open: this process ends */
}
