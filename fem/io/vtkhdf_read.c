/* Reads a mesh from a VTKHDF file: one written by Weft, with its groups, or an UnstructuredGrid of
 * simplices. Nothing in the file is trusted: extents are checked before data are read. */
#include "fem/base/text.h"
#include "fem/io/child_process.h"
#include "fem/io/read.h"
#include "fem/io/result.h"
#include "fem/io/vtkhdf.h"
#include "fem/mesh/mesh.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static weft_status refuse(const weft_vtkhdf_reader *r, const char *hint, const char *what) {
    weft_error_set(r->error, WEFT_ERROR_UNSUPPORTED, "%s: %s", r->path, what);
    weft_error_hint(r->error, "%s", hint);
    return WEFT_ERROR_UNSUPPORTED;
}

static weft_status read_count(const weft_vtkhdf_reader *r, const char *name, int64_t limit,
                              int64_t *out) {
    int64_t rows = -1;
    hid_t set = -1;
    weft_status status = weft_vtkhdf_open_set(r, name, &rows, 0, &set);
    if (status != WEFT_OK)
        return status;
    if (rows != 1)
        status = refuse(r, "write it as one piece", "it is in several pieces, or has none");
    else if (H5Dread(set, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, out) < 0)
        status = weft_vtkhdf_damaged(r, "a count cannot be read");
    else if (*out < 0 || *out > limit)
        status = weft_vtkhdf_damaged(r, "a count is absurd");
    H5Dclose(set);
    return status;
}

static weft_status open_file(weft_vtkhdf_reader *r) {
    bool out_of_memory = false;
    r->access = H5Pcreate(H5P_FILE_ACCESS);
    if (r->access < 0 || H5Pset_fclose_degree(r->access, H5F_CLOSE_STRONG) < 0)
        return weft_vtkhdf_damaged(r, "HDF5 did not start");
    weft_status status = weft_hdf5_open_file(r->path, H5F_ACC_RDONLY, r->access,
                                             "this HDF5 file is incomplete", &r->file, r->error);
    if (status == WEFT_ERROR_INPUT)
        weft_error_hint(r->error, "%s", weft_hdf5_write_again);
    if (status != WEFT_OK)
        return status;
    if (!weft_hdf5_has(r->file, "VTKHDF"))
        return refuse(r, "save it from ParaView as VTKHDF, or give the .msh or .geo file",
                      "this is an HDF5 file, and has no group VTKHDF");
    char *type =
        weft_hdf5_text(weft_hdf5_open_attribute(r->file, "VTKHDF", "Type"), &out_of_memory);
    if (!type)
        return out_of_memory ? weft_vtkhdf_no_memory(r)
                             : weft_vtkhdf_damaged(r, "VTKHDF has no attribute Type");
    const bool is_mesh = strcmp(type, "UnstructuredGrid") == 0;
    char what[160];
    snprintf(what, sizeof what, "it holds %.63s, and a mesh is UnstructuredGrid", type);
    free(type);
    if (is_mesh)
        return WEFT_OK;
    return refuse(r,
                  "in ParaView, make it an unstructured grid of triangles or tetrahedra "
                  "(filter Tetrahedralize) and save it again",
                  what);
}

static const char *vtk_type_name(int type) {
    static const char *const names[] = {"empty cells", "vertices",    "poly-vertices", "lines",
                                        "poly-lines",  "triangles",   "strips",        "polygons",
                                        "pixels",      "quadrangles", "tetrahedra",    "voxels",
                                        "hexahedra",   "wedges",      "pyramids"};
    return type < (int)(sizeof names / sizeof *names) ? names[type] : "cells of another type";
}

static weft_status refuse_cells(weft_vtkhdf_reader *r, int type, int64_t n) {
    weft_error_set(r->error, WEFT_ERROR_UNSUPPORTED,
                   "%s: it has %lld %s (VTK type %d), and Weft takes triangles or tetrahedra, "
                   "intervals, quadrilaterals or hexahedra",
                   r->path, (long long)n, vtk_type_name(type), type);
    weft_error_hint(r->error, "in ParaView, apply the filter Tetrahedralize and save it again");
    return WEFT_ERROR_UNSUPPORTED;
}

/* Keep the cells of the highest dimension, skip those of lower ones, and refuse other shapes. */
static weft_status check_types(weft_vtkhdf_reader *r, int64_t *n_wanted) {
    int64_t counts[256] = {0};
    for (int64_t i = 0; i < r->n_cells; ++i)
        ++counts[r->types[i]];
    r->data.cell = WEFT_TRIANGLE; /* where there are no cells */
    for (int type = WEFT_INTERVAL, dimension = 0; type < WEFT_CELL_TYPES; ++type) {
        const weft_cell *cell = weft_cell_of((weft_cell_type)type);
        const int vtk = weft_vtk_type(cell->type, 1);
        if (counts[vtk] == 0)
            continue;
        if (cell->dimension == dimension) {
            weft_error_set(r->error, WEFT_ERROR_UNSUPPORTED,
                           "%s: it has %s and %s, and a mesh has cells of one type", r->path,
                           weft_cell_of(r->data.cell)->plural, cell->plural);
            weft_error_hint(r->error,
                            "in ParaView, apply the filter Tetrahedralize and save it again");
            return WEFT_ERROR_UNSUPPORTED;
        }
        if (cell->dimension > dimension)
            r->data.cell = cell->type;
        dimension = cell->dimension > dimension ? cell->dimension : dimension;
    }
    for (int type = 0; type < 256; ++type) {
        bool known = type == 1;
        for (int cell = WEFT_INTERVAL; cell < WEFT_CELL_TYPES; ++cell)
            known |= type == weft_vtk_type((weft_cell_type)cell, 1);
        if (counts[type] > 0 && !known)
            return refuse_cells(r, type, counts[type]);
    }
    r->wanted = weft_vtk_type(r->data.cell, 1);
    r->data.dimension = weft_cell_of(r->data.cell)->dimension;
    *n_wanted = counts[r->wanted];
    if (*n_wanted < r->n_cells)
        weft_log(r->monitor, WEFT_LOG_INFO, "%s: %lld cells of lower dimension left out", r->path,
                 (long long)(r->n_cells - *n_wanted));
    return WEFT_OK;
}

/* From VTK's order of the vertices. */
static weft_status order_cells(weft_vtkhdf_reader *r) {
    weft_status status = WEFT_OK;
    const int v = weft_cell_of(r->data.cell)->n_entities[0];
    weft_element *element = NULL;
    int *order = NULL;
    TRY(weft_element_make(WEFT_LAGRANGE, r->data.cell, 1, &element, r->error));
    TRY(weft_vtk_order(element, &order, r->error));
    for (int64_t c = 0; order && c < r->data.n_cells; ++c) {
        int32_t old[8], *cell = r->data.cells + c * v;
        memcpy(old, cell, (size_t)v * sizeof *old);
        for (int i = 0; i < v; ++i)
            cell[order[i]] = old[i];
    }
done:
    weft_element_free(&element);
    free(order);
    return status;
}

/* Cells of a file that holds others too: by its offsets. */
static weft_status pick_cells(weft_vtkhdf_reader *r) {
    weft_status status = WEFT_OK;
    const int width = weft_cell_of(r->data.cell)->n_entities[0];
    int64_t *offsets = malloc(((size_t)r->n_cells + 1) * sizeof *offsets);
    int32_t *ids = malloc(((size_t)r->n_ids + 1) * sizeof *ids), *cell = r->data.cells;
    if (!offsets || !ids)
        TRY(weft_vtkhdf_no_memory(r));
    TRY(weft_vtkhdf_read_set(r, "VTKHDF/Offsets", r->n_cells + 1, 0, H5T_NATIVE_INT64, offsets));
    TRY(weft_vtkhdf_read_set(r, "VTKHDF/Connectivity", r->n_ids, 0, H5T_NATIVE_INT32, ids));
    for (int64_t i = 0; i < r->n_cells; ++i) {
        if (r->types[i] != r->wanted)
            continue;
        if (offsets[i] < 0 || offsets[i] > r->n_ids - width || offsets[i + 1] - offsets[i] != width)
            TRY(weft_vtkhdf_damaged(r, "offsets do not fit the cells"));
        memcpy(cell, ids + offsets[i], (size_t)width * sizeof *cell);
        cell += width;
    }
done:
    free(offsets);
    free(ids);
    return status;
}

static weft_status read_cells(weft_vtkhdf_reader *r) {
    weft_status status = WEFT_OK;
    int64_t n_wanted = 0;
    r->types = malloc((size_t)r->n_cells + 1);
    if (!r->types)
        TRY(weft_vtkhdf_no_memory(r));
    TRY(weft_vtkhdf_read_set(r, "VTKHDF/Types", r->n_cells, 0, H5T_NATIVE_UINT8, r->types));
    TRY(check_types(r, &n_wanted));
    const int64_t width = weft_cell_of(r->data.cell)->n_entities[0];
    r->data.n_cells = n_wanted;
    r->data.cells = weft_array_make_unset((uint64_t)(n_wanted * width) * sizeof(int32_t));
    if (!r->data.cells)
        TRY(weft_vtkhdf_no_memory(r));
    if (n_wanted == r->n_cells && r->n_ids == n_wanted * width)
        TRY(weft_vtkhdf_read_set(r, "VTKHDF/Connectivity", r->n_ids, 0, H5T_NATIVE_INT32,
                                 r->data.cells));
    else
        TRY(pick_cells(r));
    if (!weft_cell_of(r->data.cell)->simplex)
        TRY(order_cells(r));
done:
    return status;
}

/* Three columns in the file; fewer here in lower dimensions, when the others are zero. */
static weft_status read_points(weft_vtkhdf_reader *r) {
    double *x = weft_array_make_unset((uint64_t)r->n_points * 3 * sizeof *x);
    r->data.x = x;
    r->data.n_nodes = r->n_points;
    if (!x)
        return weft_vtkhdf_no_memory(r);
    weft_status status =
        weft_vtkhdf_read_set(r, "VTKHDF/Points", r->n_points, 3, H5T_NATIVE_DOUBLE, x);
    if (status != WEFT_OK || r->data.dimension == 3)
        return status;
    const int d = r->data.dimension;
    double off = 0, extent = 0;
    for (int64_t i = 0; i < r->n_points; ++i)
        for (int k = 0; k < 3; ++k)
            if (k < d)
                extent = fmax(extent, fabs(x[3 * i + k] - x[k]));
            else
                off = fmax(off, fabs(x[3 * i + k]));
    if (off > 1e-10 * extent && d == 1)
        return refuse(r, "a mesh of intervals is on the x axis; for a curve there is no support",
                      "it has lines and no cells of higher dimension, and they leave the x axis");
    if (off > 1e-10 * extent)
        return refuse(r, "a flat mesh goes into the plane z = 0; for a body, save its tetrahedra",
                      "it has triangles and no tetrahedra, and they leave the plane z = 0");
    for (int64_t i = 0; i < r->n_points; ++i)
        for (int k = 0; k < d; ++k)
            x[d * i + k] = x[3 * i + k];
    memset(x + d * r->n_points, 0, (size_t)((3 - d) * r->n_points) * sizeof *x);
    return WEFT_OK;
}

weft_status weft_vtkhdf_read_data(weft_vtkhdf_reader *r) {
    weft_status status = WEFT_OK;
    TRY(open_file(r));
    TRY(read_count(r, "VTKHDF/NumberOfPoints", INT32_MAX, &r->n_points));
    TRY(read_count(r, "VTKHDF/NumberOfCells", INT32_MAX, &r->n_cells));
    TRY(read_count(r, "VTKHDF/NumberOfConnectivityIds", (int64_t)INT32_MAX * 256, &r->n_ids));
    TRY(read_cells(r));
    TRY(read_points(r));
    TRY(weft_vtkhdf_read_groups(r));
done:
    return status;
}

/* ---- in a process of its own ----------------------------------------------------------------- */

static void log_to_stream(void *user, weft_log_level level, const char *message) {
    weft_mesh_stream_log(*(const int *)user, level, message);
}

static weft_status read_in_child(void *user, int out, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_monitor monitor = {.log = log_to_stream, .user = &out};
    weft_vtkhdf_reader r = {
        .path = user, .monitor = &monitor, .file = -1, .access = -1, .error = error};
    weft_hdf5_start();
    TRY(weft_mesh_stream_start(out, error));
    TRY(weft_vtkhdf_read_data(&r));
    TRY(weft_mesh_stream_write(out, &r.data, error));
done:
    return status;
}

static ssize_t read_child(void *user, void *out, size_t n) {
    const weft_child *child = user;
    ssize_t got;
    do
        got = read(child->from, out, n);
    while (got < 0 && errno == EINTR);
    return got;
}

weft_status weft_mesh_read_vtkhdf(const char *path, const weft_mesh_options *options,
                                  const weft_monitor *monitor, weft_mesh **out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_child child = WEFT_CHILD_NONE;
    weft_reading_limits limits;
    weft_mesh_data data = {0};
    weft_error of_child = {0};
    weft_stream_source source = {path, read_child, &child, -1, false, false, 0};
    TRY(weft_file_unlocked(path, false, error));
    TRY(weft_reading_limits_find(
        path, false, (weft_reading_limits){options->memory, options->seconds}, &limits, error));
    TRY(weft_child_start(read_in_child, (void *)(uintptr_t)path, path, &limits, &child, error));
    status = weft_mesh_stream_read(&source, monitor, &data, error);
    const bool kill_it = status != WEFT_OK && !source.cut_short;
    const weft_status ended = weft_child_end(&child, kill_it, path, &of_child);
    if (source.cut_short && ended != WEFT_OK) {
        status = ended;
        if (error)
            *error = of_child;
    }
    TRY(status);
    TRY(weft_mesh_make(&data, path, monitor, out, error));
done:
    weft_mesh_data_free(&data);
    return status;
}
