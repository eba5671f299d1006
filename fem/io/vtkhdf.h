/** Shared by writing and reading of VTKHDF files. Not installed. The format, "VTKHDF File Format"
 *  in VTK file formats, version 1.0, UnstructuredGrid:
 *
 *      /VTKHDF            Version int64[2], Type fixed-length ASCII
 *          NumberOfPoints, NumberOfCells, NumberOfConnectivityIds   int64[pieces]
 *          Points float[n][3], Connectivity int64[], Offsets int64[n_cells + pieces], Types uint8[]
 *          PointData/NAME, CellData/NAME
 *          CellData/GROUP                     uint8[n_cells], 1 in the cells of a group of cells
 *      /Weft              data that VTK does not represent, version 1
 *          Facets int32[n][w], GroupFacets int32[]
 *          GroupNames char[256][], GroupDimensions int32[], GroupFirst int64[], GroupCount int64[]
 *          GroupCellData char[288][]          name of GROUP for each group of cells, otherwise
 *                                             empty (absent in early files of Weft 0.1) */
#pragma once

#include "fem/weft_fem.h"

#include <hdf5.h>

/** Disable HDF5's printing of errors in this thread. Need not be restored, as HDF5 only runs in
 *  child processes (fem/io/child_process.h). */
void weft_hdf5_silence(void);
/** Set an error with the system's reason, or the innermost cause on HDF5's error stack. Returns
 *  status, or WEFT_ERROR_MEMORY if memory was the cause. */
weft_status weft_hdf5_error(weft_status status, const char *path, const char *what,
                            weft_error *error);
/** weft_hdf5_error for a file that is being written: WEFT_ERROR_IO, with a hint. */
weft_status weft_hdf5_unwritten(const char *path, const char *what, weft_error *error);

/** Read a text attribute of fixed or variable length, below 1 MB, and close the attribute.
 *  no_room  set if out of memory
 *  Returns the text, malloc'd; NULL: it is missing or not such a text, or out of memory */
char *weft_hdf5_text(hid_t attribute, bool *no_room);

/** State of reading a file. */
typedef struct weft_vtkhdf_reader {
    const char *path;
    const weft_monitor *monitor;
    hid_t file, access;
    int64_t n_points, n_cells, n_ids;
    int wanted; /* VTK's type of the cells that are taken */
    unsigned char *types;
    weft_mesh_data data;
    weft_error *error;
} weft_vtkhdf_reader;
/** Set an error with a hint, and return its status: the file is damaged (WEFT_ERROR_INPUT), or out
 *  of memory (WEFT_ERROR_MEMORY). */
weft_status weft_vtkhdf_damaged(const weft_vtkhdf_reader *r, const char *what);
weft_status weft_vtkhdf_no_memory(const weft_vtkhdf_reader *r);
/** Open a data set and check its extents.
 *  rows   expected number; if < 0, any number is accepted and returned
 *  width  expected number of columns; 0: the data set has one dimension
 *  out    caller's; H5Dclose */
weft_status weft_vtkhdf_open_set(const weft_vtkhdf_reader *r, const char *name, int64_t *rows,
                                 int width, hid_t *out);
/** Read a whole data set, with weft_vtkhdf_open_set's checks; out [rows][width]. */
weft_status weft_vtkhdf_read_set(const weft_vtkhdf_reader *r, const char *name, int64_t rows,
                                 int width, hid_t type, void *out);
/** Open the file, and read its cells, points and groups into data. */
weft_status weft_vtkhdf_read_data(weft_vtkhdf_reader *r);
/** Read the groups of a file written by Weft; other files have none. */
weft_status weft_vtkhdf_read_groups(weft_vtkhdf_reader *r);
