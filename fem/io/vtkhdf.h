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

/** Call before all else of HDF5: it prints no errors, loads no code (filters, drivers, connectors)
 *  and follows no external links. Need not be restored, as HDF5 only runs in child processes
 *  (fem/io/child_process.h). */
void weft_hdf5_start(void);

/* ---- opening (fem/io/hdf5_open.c): all that is opened lies in the file itself ----------------- */

/** Open a regular file.
 *  how     H5F_ACC_RDONLY or H5F_ACC_RDWR
 *  list    a file access property list, or H5P_DEFAULT
 *  what    for the message if it is not an HDF5 file: "this HDF5 file is incomplete"
 *  out     caller's; H5Fclose
 *  Errors  WEFT_ERROR_INPUT, WEFT_ERROR_MEMORY */
weft_status weft_hdf5_open_file(const char *path, unsigned how, hid_t list, const char *what,
                                hid_t *out, weft_error *error);
/** Whether the file has an object of this name, with its groups; a link that leads nowhere counts. */
bool weft_hdf5_has(hid_t file, const char *name);
/** Open a group, or an attribute of one. Returns -1 if it is missing or reached by a link. */
hid_t weft_hdf5_open_group(hid_t file, const char *name);
hid_t weft_hdf5_open_attribute(hid_t file, const char *group, const char *name);
/** Open a data set of numbers or texts whose values lie in the file itself, in pieces of a size that
 *  fits them, uncompressed or compressed by filters of HDF5 itself.
 *  path    of the file, for messages
 *  out     caller's; H5Dclose
 *  Errors  WEFT_ERROR_INPUT (missing, damaged), WEFT_ERROR_UNSUPPORTED (a link, external storage, a
 *          virtual data set, another filter, too large a piece), WEFT_ERROR_MEMORY */
weft_status weft_hdf5_open_set(hid_t file, const char *path, const char *name, hid_t *out,
                               weft_error *error);
/** The hint for a damaged file. */
extern const char weft_hdf5_write_again[];

/** Set an error with the system's reason, or the innermost cause on HDF5's error stack. Returns
 *  status, or WEFT_ERROR_MEMORY if memory was the cause. */
weft_status weft_hdf5_error(weft_status status, const char *path, const char *what,
                            weft_error *error);
/** weft_hdf5_error for a file that is being written: WEFT_ERROR_IO, with a hint. */
weft_status weft_hdf5_unwritten(const char *path, const char *what, weft_error *error);

/** Read a text attribute of fixed or variable length, below 1 MB, and close the attribute.
 *  out_of_memory  set if out of memory
 *  Returns the text, malloc'd; NULL: it is missing or not such a text, or out of memory */
char *weft_hdf5_text(hid_t attribute, bool *out_of_memory);

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
