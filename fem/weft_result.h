/** Result files (VTKHDF, VTU, PVD), time series and checkpoints.
 *
 *      In: a mesh and fields.  Out: files.
 *
 *  HDF5 runs in child processes (fork) that end with each call. If it crashes, because memory or
 *  the disk is exhausted, the call returns an error and leaves no temporary file. */
#ifndef WEFT_RESULT_H
#define WEFT_RESULT_H

#include "fem/weft_mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weft_field {
    const char *name;
    bool on_cells; /* otherwise on nodes */
    int n_components;
    const double *values; /* [n][n_components] */
    /* a text about the whole file instead of values, as the last field; else NULL */
    const char *text;
} weft_field;

/** Write mesh and fields to a temporary file in the same folder, then rename it, so that no partial
 *  file is left.
 *  path    .vtu: VTU (XML, base64); otherwise VTKHDF 1.0. VTK 9.1 (ParaView 5.11) and later read
 *          both
 *  fields  [n_fields]. The text of a last field `problem` becomes field data of this name in a .vtu file, and
 *          an attribute `Problem` of the group /Weft in a .vtkhdf file
 *  Groups  each group of cells is a cell data array of its name: 1 in its cells, 0 elsewhere. '/'
 *          becomes '_'; a number is appended if a field or an earlier group has the name. A .vtkhdf
 *          file also stores all groups under /Weft, and can be read as a mesh
 *  Errors  WEFT_ERROR_IO (names the path and the reason), WEFT_ERROR_MEMORY */
weft_status weft_result_write(const char *path, const weft_mesh *mesh, const weft_field *fields,
                              int n_fields, weft_error *error);
/** Nodes of a Lagrange element on the cells of a mesh, at equispaced points; VTK interpolates between
 *  them as Lagrange cells. weft_space_write makes them for a space. */
typedef struct weft_result_nodes {
    const weft_element *element; /* (discontinuous) Lagrange, degree 1 or more */
    int64_t n;
    const double *x;      /* [n][d] */
    const int32_t *cells; /* [n_cells][element->n_nodes] */
} weft_result_nodes;
/** As weft_result_write, with nodal fields on these nodes. A .vtkhdf file then has no groups under
 *  /Weft, and cannot be read as a mesh. */
weft_status weft_result_write_nodes(const char *path, const weft_mesh *mesh,
                                    const weft_result_nodes *nodes, const weft_field *fields,
                                    int n_fields, weft_error *error);
/** Check, before a long computation, that this path can be written. Leaves no file, and removes
 *  temporaries of killed runs for this path: NAME.PID-STAMP.tmp, owned by this user, unlocked,
 *  whose process no longer exists.
 *  Errors  WEFT_ERROR_IO, WEFT_ERROR_MEMORY */
weft_status weft_result_check(const char *path, weft_error *error);

/** A time series of fields, for ParaView. The suffix determines the format:
 *
 *      NAME.pvd      an index, and per step a file NAME_steps/000000.vtu ... with mesh and field;
 *                    VTK 9.1 (ParaView 5.11) and later
 *      NAME.vtkhdf   one file, VTKHDF 2.0 with the group Steps and a single copy of the mesh; VTK
 *                    9.3 (ParaView 5.12) and later. Disk space for all steps is allocated at the
 *                    start
 *
 *  If the program is killed, all completed steps remain. Other programs can read a series while it
 *  is being written. */
typedef struct weft_series weft_series;
typedef struct weft_series_options {
    size_t size;              /* sizeof(weft_series_options) */
    const weft_field *fields; /* [n_fields], at least one: names and shapes; without values */
    int n_fields;
    /* of nodal fields; NULL: those of the mesh. Borrowed until the series is closed */
    const weft_result_nodes *nodes;
    const char *problem;   /* text that must match for a series to be resumed */
    const char *statement; /* a text about all steps, as the text of a last field; or NULL */
    bool at_start;         /* a step at `start` will be added; it may exist already */
    int64_t n_steps;       /* limit of steps added after it; with at_start, at least one */
    double start, end;     /* times of the first and the last step */
    bool resume;           /* continue the file: its steps with times up to `start` are kept */
    bool overwrite;        /* replace existing files instead of refusing */
} weft_series_options;
static inline weft_series_options weft_series_options_default(void) {
    weft_series_options options;
    weft_options_clear(&options, sizeof options);
    return options;
}
/** Check, before a long computation, that a series can be written: the suffix, the folder, and,
 *  without resume and overwrite, that the file does not exist.  Errors as weft_series_make */
weft_status weft_series_check(const char *path, const weft_series_options *options,
                              weft_error *error);
/** Make a series, or resume one of the same mesh, fields and problem. Without overwrite, existing
 *  data are protected:
 *
 *      resume  file                               effect
 *      no      exists                             refused
 *      yes     does not exist                     made
 *      yes     not a series, or of another mesh   refused
 *              or problem
 *      yes     has steps after `start`            these are dropped, to be computed again; refused
 *                                                 if the last of them is later than `end`
 *
 *  mesh    borrowed until the series is closed
 *  options  copied, as are the names of fields
 *  out     caller's; weft_series_close
 *  Errors  WEFT_ERROR_USAGE (suffix, n_steps, existing file), WEFT_ERROR_INPUT (refused with
 *          resume), WEFT_ERROR_IO (path and reason; locked by another process), WEFT_ERROR_MEMORY;
 *          *out untouched */
weft_status weft_series_make(const char *path, const weft_mesh *mesh,
                             const weft_series_options *options, const weft_monitor *monitor,
                             weft_series **out, weft_error *error);
/** Append a step. No effect if t is not later than the last step.
 *  values  [n_fields] of each field, [nodes or cells][n_components]
 *  Errors  WEFT_ERROR_IO, WEFT_ERROR_MEMORY, WEFT_ERROR_USAGE (more than n_steps); the series is
 *          unchanged */
weft_status weft_series_add(weft_series *series, double t, const double *const *values,
                            weft_error *error);
/** Close and free a series, and release unused disk space.
 *  Errors  WEFT_ERROR_IO; the series is freed nevertheless */
weft_status weft_series_close(weft_series **series, weft_error *error);

/** State from which a computation is resumed: lists, and the problem they belong to. */
typedef struct weft_checkpoint {
    const char *problem; /* text that must match: options, formulas */
    int64_t step;
    int n_lists;
    const char *const *names;
    double *const *lists; /* [n_lists][n_nodes]; weft_checkpoint_read fills them */
    /* [n_lists] of the lists; NULL: they are nodal fields, which ParaView shows */
    const int64_t *lengths;
} weft_checkpoint;
/** Write a VTKHDF file with the mesh and the lists; no partial file is left.
 *  Errors  WEFT_ERROR_IO, WEFT_ERROR_MEMORY */
weft_status weft_checkpoint_write(const char *path, const weft_mesh *mesh,
                                  const weft_checkpoint *checkpoint, weft_error *error);
/** The text of the problem that a checkpoint belongs to, before anything of it is known.
 *  out     free()
 *  Errors  as weft_checkpoint_read */
weft_status weft_checkpoint_problem(const char *path, char **out, weft_error *error);
/** Read a checkpoint.
 *  checkpoint  in: problem, n_lists, names, and lists to be filled; out: step and the lists' values
 *  Errors      WEFT_ERROR_INPUT (not a checkpoint; another version, mesh, ordering or problem;
 *              damaged or truncated, as detected by a hash of the contents), WEFT_ERROR_IO (locked
 *              by another process), WEFT_ERROR_MEMORY */
weft_status weft_checkpoint_read(const char *path, const weft_mesh *mesh,
                                 weft_checkpoint *checkpoint, weft_error *error);

#ifdef __cplusplus
}
#endif
#endif
