/** What writing and reading VTKHDF files share. The format: VTK file formats, "VTKHDF File Format",
 *  version 1.0, UnstructuredGrid:
 *
 *      /VTKHDF            Version int64[2], Type fixed-length ASCII
 *          NumberOfPoints, NumberOfCells, NumberOfConnectivityIds   int64[pieces]
 *          Points float[n][3], Connectivity int64[], Offsets int64[n_cells + pieces], Types uint8[]
 *          PointData/NAME, CellData/NAME
 *          CellData/GROUP                     uint8[n_cells], 1 in the cells of a group of cells
 *      /Weft              what VTK has no place for, version 1
 *          Facets int32[n][d], GroupFacets int32[], GroupNames char[256][], GroupDimensions
 *          int32[], GroupFirst int64[], GroupCount int64[], GroupCellData char[288][]: the name of
 *          GROUP for each group of cells, else empty (absent in files of Weft 0.1 before it) */
#pragma once

#include "fem/weft_fem.h"

#include <hdf5.h>

enum { VTK_TRIANGLE_TYPE = 5, VTK_TETRAHEDRON_TYPE = 10 };

/** HDF5 prints errors by itself: no more in this thread. All that HDF5 does runs in processes of
 *  its own (fem/io/child_process.h), so that nothing has to be put back. */
void weft_hdf5_silence(void);
/** An error with the system's reason, or the innermost cause that HDF5 knows. Returns status, or
 *  WEFT_ERROR_MEMORY where memory was the cause. */
weft_status weft_hdf5_error(weft_status status, const char *path, const char *what,
                            weft_error *error);
/** The same for a file that is written: WEFT_ERROR_IO, with a hint. */
weft_status weft_hdf5_unwritten(const char *path, const char *what, weft_error *error);

/** A file that is read, and what came of it so far. */
typedef struct weft_vtkhdf_reader {
    const char *path;
    const weft_monitor *monitor;
    hid_t file, access;
    int64_t n_points, n_cells, n_ids;
    unsigned char *types;
    weft_mesh_data data;
    weft_error *error;
} weft_vtkhdf_reader;
/** Errors with a hint: the file is damaged (WEFT_ERROR_INPUT); no memory. They return the status.
 */
weft_status weft_vtkhdf_damaged(const weft_vtkhdf_reader *r, const char *what);
weft_status weft_vtkhdf_no_memory(const weft_vtkhdf_reader *r);
/** Open a data set and compare its extents: rows, and `width` columns (0: one dimension). *rows <
 * 0: any number, given back. Close *out with H5Dclose. */
weft_status weft_vtkhdf_open_set(const weft_vtkhdf_reader *r, const char *name, int64_t *rows,
                                 int width, hid_t *out);
/** A whole data set into an array that has room for it. */
weft_status weft_vtkhdf_read_set(const weft_vtkhdf_reader *r, const char *name, int64_t rows,
                                 int width, hid_t type, void *out);
/** Groups of our own files, none of others'. */
weft_status weft_vtkhdf_read_groups(weft_vtkhdf_reader *r);
