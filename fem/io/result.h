/** What writing result files shares: placing them (fem/io/result.c, fem/io/temporary.c), VTKHDF (fem/io/result_vtkhdf.c)
 *  and VTU (fem/io/result_vtu.c). */
#pragma once

#include "fem/weft_fem.h"

enum { WEFT_GROUP_NAME_BYTES = 256, WEFT_MASK_NAME_BYTES = 288 };

/* ---- content ----------------------------------------------------------------------------------
 */

/** What a file is to hold. */
typedef struct weft_result_content {
    const char *path; /* the user's name for it, for messages */
    const weft_mesh *mesh;
    const weft_field *fields;
    int n_fields;
    bool is_series; /* a VTKHDF file that a time series will be made of */
} weft_result_content;

/** The names under which groups of cells stand among the cell data, out [n_groups]; empty for other
 *  groups. A group's own name, without '/', and with a number where a field of cells or an earlier
 *  group has it. */
void weft_mask_names(const weft_result_content *content, char (*out)[WEFT_MASK_NAME_BYTES]);
/** Cells first .. first + n of group g: 1 in the group, else 0. */
void weft_mask_fill(const weft_mesh *mesh, int g, int64_t first, int64_t n, uint8_t *out);

/** Fill a VTKHDF file, `temporary`, which exists. In the child of weft_child_start alone.
 *  Errors WEFT_ERROR_IO, WEFT_ERROR_MEMORY */
weft_status weft_vtkhdf_write(const char *temporary, const weft_result_content *content,
                              weft_error *error);
/** Fill the open file of a .vtu file of raw, appended data.
 *  Errors WEFT_ERROR_IO, WEFT_ERROR_MEMORY */
weft_status weft_vtu_write(int file, const weft_result_content *content, weft_error *error);

/* ---- places -----------------------------------------------------------------------------------
 */

bool weft_ends_with(const char *path, const char *ending);
/** "cannot write PATH: REASON", with a hint for this errno. Returns WEFT_ERROR_IO. */
weft_status weft_cannot_write(const char *path, int number, weft_error *error);

/** A file that will take the place of another: locked by this process as long as it is open, so
 * that others see that it has an owner. */
typedef struct weft_temporary {
    char *target, *name; /* NULL: none */
    int file;            /* open for reading and writing; -1: none */
} weft_temporary;
#define WEFT_TEMPORARY_NONE ((weft_temporary){NULL, NULL, -1})
/** Make an empty one beside path (through links).  Errors WEFT_ERROR_IO, WEFT_ERROR_MEMORY */
weft_status weft_temporary_make(const char *path, weft_temporary *out, weft_error *error);
/** Give it the target's name; with `durable`, after it has reached the disk.  Errors WEFT_ERROR_IO
 */
weft_status weft_temporary_place(weft_temporary *temporary, const char *path, bool durable,
                                 weft_error *error);
/** Remove what was not placed, and free. */
void weft_temporary_free(weft_temporary *temporary);
/** Remove what killed runs left beside path: temporaries of this name that are ours, whose process
 *  is gone and that nobody has locked. */
void weft_temporary_clean(const char *path);

/** Fills a temporary file. */
typedef weft_status (*weft_result_fill)(void *user, const weft_temporary *temporary,
                                        weft_error *error);
/** Fill a temporary beside path, then let it take that name, so that it is whole or not there.
 *  Errors  WEFT_ERROR_IO, WEFT_ERROR_MEMORY, those of fill */
weft_status weft_result_place(const char *path, bool durable, weft_result_fill fill, void *user,
                              weft_error *error);

/** May this file be read, or written to, as far as HDF5's locks go?
 *  Errors  WEFT_ERROR_IO: another process has it open */
weft_status weft_file_unlocked(const char *path, bool to_write, weft_error *error);
