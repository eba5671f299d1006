/** Writing of result files: VTKHDF (fem/io/result_vtkhdf.c), VTU (fem/io/result_vtu.c), and atomic
 *  replacement of files (fem/io/result.c, fem/io/temporary.c). Not installed. */
#pragma once

#include "fem/weft_fem.h"

enum { WEFT_GROUP_NAME_BYTES = 256, WEFT_MASK_NAME_BYTES = 288 };

/* ---- content ------------------------------------------------------------------------------ */

/** Points and cells as VTK sees them. */
typedef struct weft_result_grid {
    int dimension, type; /* type: VTK's */
    int64_t n_points, n_cells;
    int width;            /* points of a cell */
    const double *x;      /* [n_points][dimension], borrowed */
    const int32_t *cells; /* [n_cells][width], borrowed */
    int *order;           /* [width]: which of these VTK wants in this place; NULL: as they are */
} weft_result_grid;
/** The grid of a mesh, or of nodes on its cells (NULL: of the mesh).
 *  out     weft_result_grid_free
 *  Errors  WEFT_ERROR_MEMORY */
weft_status weft_result_grid_make(const weft_mesh *mesh, const weft_result_nodes *nodes,
                                  weft_result_grid *out, weft_error *error);
void weft_result_grid_free(weft_result_grid *grid);
/** VTK's type of a cell of this degree. */
int weft_vtk_type(weft_cell_type cell, int degree);
/** The nodes of a cell in VTK's order.
 *  out     [element->n_nodes], or NULL where it is the element's; caller's; free()
 *  Errors  WEFT_ERROR_MEMORY */
weft_status weft_vtk_order(const weft_element *element, int **out, weft_error *error);

/** The content of a file to be written. */
typedef struct weft_result_content {
    const char *path; /* as given by the user, for messages */
    const weft_mesh *mesh;
    const weft_result_nodes *nodes; /* of the fields; NULL: those of the mesh */
    const weft_field *fields;
    int n_fields;
    const char *statement; /* what the fields are the solution of; NULL: not said */
    bool is_series; /* a VTKHDF file that becomes a time series: the fields have no values yet */
} weft_result_content;

/** The names of the cell data arrays of groups of cells: the group's name without '/', with a
 *  number appended if a cell field or an earlier group has the name.
 *  out  [n_groups]; empty for other groups */
void weft_mask_names(const weft_result_content *content, char (*out)[WEFT_MASK_NAME_BYTES]);
/** Points first .. first + n, [n][3] doubles, z = 0 in 2D, and the VTK types of n cells. */
void weft_points_fill(const weft_result_grid *grid, int64_t first, int64_t n, void *out);
void weft_types_fill(const weft_result_grid *grid, int64_t n, void *out);
/** The nodes of n cells in VTK's order, [n][width] int32_t. */
void weft_cells_fill(const weft_result_grid *grid, int64_t first, int64_t n, void *out);
/** For cells first .. first + n, write 1 if the cell is in group g, otherwise 0; out [n]. */
void weft_mask_fill(const weft_mesh *mesh, int g, int64_t first, int64_t n, uint8_t *out);

/** Write a VTKHDF file to the existing file `temporary`. Only in the child of weft_child_start.
 *  Errors  WEFT_ERROR_IO, WEFT_ERROR_MEMORY */
weft_status weft_vtkhdf_write(const char *temporary, const weft_result_content *content,
                              weft_error *error);
/** Write a .vtu file, with inline base64 data, to an open file.
 *  Errors  WEFT_ERROR_IO, WEFT_ERROR_MEMORY */
weft_status weft_vtu_write(int file, const weft_result_content *content, weft_error *error);

/* ---- files -------------------------------------------------------------------------------- */

bool weft_ends_with(const char *path, const char *ending);
/** Are these names of one file? Files that do not exist yet are the same if their names and folders are.
 *  a, b  NULL, or "-" for a, the standard output: no file. */
bool weft_same_file(const char *a, const char *b);
/** Set and return WEFT_ERROR_IO: "cannot write PATH: REASON", with a hint for errno `number`. */
weft_status weft_cannot_write(const char *path, int number, weft_error *error);

/** A temporary file that will replace another file. It is locked while open, so that other
 *  processes see that it is in use. */
typedef struct weft_temporary {
    char *target, *name; /* NULL: none */
    int file;            /* open for reading and writing; -1: none */
} weft_temporary;
#define WEFT_TEMPORARY_NONE ((weft_temporary){NULL, NULL, -1})
/** Make an empty temporary file in the folder of path, after following symbolic links.
 *  Errors  WEFT_ERROR_IO, WEFT_ERROR_MEMORY */
weft_status weft_temporary_make(const char *path, weft_temporary *out, weft_error *error);
/** Rename it to the target; with `durable`, after its data have been written to the disk.
 *  Errors  WEFT_ERROR_IO */
weft_status weft_temporary_place(weft_temporary *temporary, const char *path, bool durable,
                                 weft_error *error);
/** Remove the file unless it was placed, and free. */
void weft_temporary_free(weft_temporary *temporary);
/** Remove temporaries of killed runs for path: owned by this user, unlocked, whose process no
 *  longer exists. */
void weft_temporary_clean(const char *path);

/** Writes the content of a temporary file. */
typedef weft_status (*weft_result_fill)(void *user, const weft_temporary *temporary,
                                        weft_error *error);
/** Write a temporary file with `fill`, then rename it to path, so that no partial file is visible.
 *  Errors  WEFT_ERROR_IO, WEFT_ERROR_MEMORY, those of fill */
weft_status weft_result_place(const char *path, bool durable, weft_result_fill fill, void *user,
                              weft_error *error);

/** Check that HDF5's locks allow reading, or writing, this file.
 *  Errors  WEFT_ERROR_IO (another process has it open) */
weft_status weft_file_unlocked(const char *path, bool to_write, weft_error *error);
