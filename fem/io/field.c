/* Reads a field of a VTKHDF file with the mesh of the file. */
#include "fem/io/child_process.h"
#include "fem/io/read.h"
#include "fem/io/result.h"
#include "fem/io/vtkhdf.h"

#include <stdlib.h>
#include <string.h>

static const char *const folders[] = {"VTKHDF/PointData", "VTKHDF/CellData"};

/* ---- in the child ---------------------------------------------------------------------------- */

typedef struct request {
    const char *path, *name;
} request;

/* What the child sends before the arrays. */
typedef struct head {
    int32_t dimension, n_components, on_cells, zero;
    int64_t n_nodes, n_cells;
} head;

static void list_fields(const weft_vtkhdf_reader *r, weft_text *out) {
    for (int i = 0; i < 2; ++i) {
        hid_t folder = weft_hdf5_open_group(r->file, folders[i]);
        H5G_info_t info = {0};
        char name[128];
        if (folder >= 0 && H5Gget_info(folder, &info) >= 0)
            for (hsize_t k = 0; k < info.nlinks && k < 100; ++k)
                if (H5Lget_name_by_idx(folder, ".", H5_INDEX_NAME, H5_ITER_INC, k, name,
                                       sizeof name, H5P_DEFAULT) > 0)
                    weft_text_add(out, "%s%s", out->length ? ", " : "", name);
        if (folder >= 0)
            H5Gclose(folder);
    }
}

static weft_status refuse_field(const weft_vtkhdf_reader *r, const char *name) {
    weft_text list = {0};
    list_fields(r, &list);
    weft_error_set(r->error, WEFT_ERROR_INPUT, "%s has no field `%s`", r->path, name);
    weft_error_hint(r->error, "its fields are: %s", list.data ? list.data : "none");
    weft_text_free(&list);
    return WEFT_ERROR_INPUT;
}

/* Open PointData/NAME or CellData/NAME, and get its extents. */
static weft_status open_field(const weft_vtkhdf_reader *r, const char *name, bool *on_cells,
                              int *width, hid_t *out) {
    hsize_t extent[2] = {0, 1};
    char path[300];
    for (int i = 0; i < 2; ++i) {
        *on_cells = i == 1;
        if (strchr(name, '/') ||
            (size_t)snprintf(path, sizeof path, "%s/%s", folders[i], name) >= sizeof path ||
            !weft_hdf5_has(r->file, path))
            continue;
        hid_t set = -1;
        const weft_status status = weft_hdf5_open_set(r->file, r->path, path, &set, r->error);
        if (status != WEFT_OK)
            return status;
        hid_t space = H5Dget_space(set);
        const int rank = space < 0 ? -1 : H5Sget_simple_extent_ndims(space);
        const bool good = (rank == 1 || rank == 2) &&
                          H5Sget_simple_extent_dims(space, extent, NULL) == rank &&
                          extent[0] == (hsize_t)(i ? r->n_cells : r->n_points) && extent[1] >= 1 &&
                          extent[1] <= 64;
        if (space >= 0)
            H5Sclose(space);
        if (!good) {
            H5Dclose(set);
            return weft_vtkhdf_damaged(r, "a field does not fit the mesh, or it is a time series");
        }
        *width = (int)extent[1];
        *out = set;
        return WEFT_OK;
    }
    return refuse_field(r, name);
}

/* Cells of lower dimension are left out of the mesh, and so are their values. */
static void pick_values(const weft_vtkhdf_reader *r, int width, double *values) {
    double *to = values;
    for (int64_t i = 0; i < r->n_cells; ++i)
        if (r->types[i] == r->wanted) {
            memmove(to, values + i * width, (size_t)width * sizeof *to);
            to += width;
        }
}

/* Values are interpolated in barycentric coordinates. */
static weft_status check_cells(const weft_vtkhdf_reader *r) {
    const weft_cell *cell = weft_cell_of(r->data.cell);
    if (cell->simplex && cell->dimension > 1)
        return WEFT_OK;
    weft_error_set(r->error, WEFT_ERROR_UNSUPPORTED,
                   "%s: fields are read on triangles or tetrahedra, not on %s", r->path,
                   cell->plural);
    weft_error_hint(r->error, "in ParaView, apply the filter Tetrahedralize and save it again");
    return WEFT_ERROR_UNSUPPORTED;
}

/* A series has the values of all steps one after another. */
static weft_status check_steps(const weft_vtkhdf_reader *r) {
    if (!weft_hdf5_has(r->file, "VTKHDF/Steps"))
        return WEFT_OK;
    weft_error_set(r->error, WEFT_ERROR_UNSUPPORTED,
                   "%s is a series of steps, and a field is of one state", r->path);
    weft_error_hint(
        r->error,
        "write the state to a file of its own: in ParaView, save one time step as .vtkhdf");
    return WEFT_ERROR_UNSUPPORTED;
}

static weft_status send(const weft_vtkhdf_reader *r, const head *sent, const double *values,
                        int out) {
    weft_status status = WEFT_OK;
    const size_t d = (size_t)sent->dimension, c = (size_t)sent->n_components;
    const size_t n_nodes = (size_t)sent->n_nodes, n_cells = (size_t)sent->n_cells;
    TRY(weft_child_write(out, sent, sizeof *sent, r->error));
    TRY(weft_child_write(out, r->data.x, n_nodes * d * sizeof(double), r->error));
    TRY(weft_child_write(out, r->data.cells, n_cells * (d + 1) * sizeof(int32_t), r->error));
    TRY(weft_child_write(out, values, (sent->on_cells ? n_cells : n_nodes) * c * sizeof(double),
                         r->error));
done:
    return status;
}

static weft_status read_in_child(void *user, int out, weft_error *error) {
    weft_status status = WEFT_OK;
    const request *wanted = user;
    weft_vtkhdf_reader r = {.path = wanted->path, .file = -1, .access = -1, .error = error};
    hid_t set = -1;
    bool on_cells = false;
    int width = 1;
    double *values = NULL;
    weft_hdf5_start();
    TRY(weft_vtkhdf_read_data(&r));
    TRY(check_steps(&r));
    TRY(check_cells(&r));
    TRY(open_field(&r, wanted->name ? wanted->name : "u", &on_cells, &width, &set));
    const int64_t n = on_cells ? r.n_cells : r.n_points;
    values = malloc((size_t)n * (size_t)width * sizeof *values + 1);
    if (!values)
        TRY(weft_vtkhdf_no_memory(&r));
    if (n > 0 && H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0)
        TRY(weft_vtkhdf_damaged(&r, "values cannot be read"));
    if (on_cells)
        pick_values(&r, width, values);
    for (int64_t i = 0; i < r.data.n_cells * (r.data.dimension + 1); ++i)
        if (r.data.cells[i] < 0 || r.data.cells[i] >= r.n_points)
            TRY(weft_vtkhdf_damaged(&r, "a cell has a node that does not exist"));
    const head sent = {.dimension = r.data.dimension,
                       .n_components = width,
                       .on_cells = on_cells,
                       .n_nodes = r.n_points,
                       .n_cells = r.data.n_cells};
    TRY(send(&r, &sent, values, out));
done:
    return status; /* this process ends */
}

/* ---- in this process ------------------------------------------------------------------------- */

static void *receive(const weft_child *child, size_t count, size_t size, bool *whole) {
    void *array = *whole ? weft_array_make_unset((uint64_t)count * size) : NULL;
    *whole = array && weft_child_read(child, array, count * size);
    return array;
}

/* Files of other formats, which are not damaged HDF5. */
static weft_status check_ending(const char *path, weft_error *error) {
    static const char *const others[] = {".pvd", ".vtu", ".vtk", ".pvtu", ".vtm", ".xdmf", ".msh"};
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot && i < sizeof others / sizeof *others; ++i) {
        if (strcmp(dot, others[i]) != 0)
            continue;
        weft_error_set(error, WEFT_ERROR_UNSUPPORTED, "%s: fields are read from .vtkhdf files%s",
                       path, i == 0 ? ", and this is a series of .vtu files" : "");
        weft_error_hint(error, "write it again with --output FILE.vtkhdf, or save one time step as "
                               ".vtkhdf in ParaView");
        return WEFT_ERROR_UNSUPPORTED;
    }
    return WEFT_OK;
}

weft_status weft_file_field_read(const char *path, const char *name, weft_file_field *out,
                                 weft_error *error) {
    weft_status status = WEFT_OK;
    weft_child child = WEFT_CHILD_NONE;
    weft_file_field made = {0};
    request wanted = {path, name};
    head got = {0};
    weft_reading_limits limits;
    TRY(check_ending(path, error));
    TRY(weft_file_check(path, error));
    TRY(weft_file_unlocked(path, false, error));
    TRY(weft_reading_limits_find(path, false, (weft_reading_limits){0}, &limits, error));
    TRY(weft_child_start(read_in_child, &wanted, path, &limits, &child, error));
    bool whole = weft_child_read(&child, &got, sizeof got);
    const size_t d = (size_t)got.dimension, c = (size_t)got.n_components;
    made = (weft_file_field){.dimension = got.dimension,
                             .n_components = got.n_components,
                             .on_cells = got.on_cells != 0,
                             .n_nodes = got.n_nodes,
                             .n_cells = got.n_cells};
    made.x = receive(&child, (size_t)got.n_nodes * d, sizeof(double), &whole);
    made.cells = receive(&child, (size_t)got.n_cells * (d + 1), sizeof(int32_t), &whole);
    made.values = receive(&child, (size_t)(got.on_cells ? got.n_cells : got.n_nodes) * c,
                          sizeof(double), &whole);
    TRY(weft_child_end(&child, false, path, error));
    if (!whole)
        TRY(weft_out_of_memory(error, "a field of a file"));
    *out = made;
    made = (weft_file_field){0};
done:
    (void)weft_child_end(&child, true, path, NULL);
    weft_file_field_free(&made);
    return status;
}

void weft_file_field_free(weft_file_field *field) {
    free(field->x);
    free(field->cells);
    free(field->values);
    *field = (weft_file_field){0};
}
