/** Files of results (VTKHDF, VTU, PVD), time series and checkpoints. In: a mesh and fields. Out: files.
 *
 *  HDF5 runs in child processes (fork) that end with each call: where it crashes, because memory or
 *  the disk is exhausted, the call returns an error and no temporary is left. */
#ifndef WEFT_RESULT_H
#define WEFT_RESULT_H

#include "fem/weft_mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weft_field {
    const char *name;
    bool on_cells; /* else on nodes */
    int n_components;
    const double *values; /* [n][n_components] */
} weft_field;

/** Write mesh and fields: as VTU (XML, raw) where path ends in .vtu, else as VTKHDF 1.0; VTK 9.1
 *  (ParaView 5.11) and later read both. A group of cells is an array of the cell data of its name,
 *  1 in the cells of the group and 0 elsewhere ('/' becomes '_'; a number follows where a field or
 *  another group has the name). A .vtkhdf file has all groups under /Weft too, and can be read as a
 *  mesh. Written to a temporary beside it and renamed: no partial file is left.
 *  Errors  WEFT_ERROR_IO (names the path and the reason), WEFT_ERROR_MEMORY */
weft_status weft_result_write(const char *path, const weft_mesh *mesh, const weft_field *fields,
                              int n_fields, weft_error *error);
/** Can this path be written? Checked before a long computation; leaves nothing, and removes the
 *  temporaries that killed runs left for this path: NAME.PID-STAMP.tmp, of this user, of a process
 *  that is gone, locked by nobody. */
weft_status weft_result_check(const char *path, weft_error *error);

/** A time series of one nodal field, which ParaView plays. Its name says how it is written:
 *
 *      NAME.pvd      an index, and NAME_steps/000000.vtu ... with the mesh and the field at a step;
 *                    VTK 9.1 (ParaView 5.11) and later
 *      NAME.vtkhdf   one file, VTKHDF 2.0 with the group Steps and the mesh once; VTK 9.3
 *                    (ParaView 5.12) and later. The disk for all steps is taken at the start
 *
 *  A program that is killed at any moment leaves the steps up to then, and others can read a series
 *  that is being written. */
typedef struct weft_series weft_series;
typedef struct weft_series_options {
    const char *name;    /* of the field */
    const char *problem; /* text that must be the same for a series to be gone on with */
    bool at_start;       /* will a step at `start` be added? It may be there already */
    int64_t n_steps;     /* most that will be added behind it; with at_start, at least one */
    double start, end;   /* times of the first and the last */
    bool resume;         /* go on with the file: its steps with times up to `start` stay */
    bool overwrite;      /* what would be refused as existing is replaced */
} weft_series_options;
/** Can a series be written there? Checked before a long computation: the name's ending, the folder,
 *  and, without resume and overwrite, that there is no such file. Errors as below */
weft_status weft_series_check(const char *path, const weft_series_options *options,
                              weft_error *error);
/** Make a series, or go on with one of the same mesh, name and problem. What exists is kept:
 *
 *      without resume           an existing file is refused
 *      with it, another's file  refused: no series, or of another mesh or problem
 *      with it, later steps     those after `start` are dropped, for they are computed again;
 *                               refused where `end` is before the last of them
 *      with it, no file         made
 *
 *  and with overwrite none of this is refused.
 *  mesh    borrowed until the series is closed
 *  Errors  WEFT_ERROR_USAGE (ending, n_steps, exists), WEFT_ERROR_INPUT (refused with resume),
 *          WEFT_ERROR_IO (path and reason; locked by another process), WEFT_ERROR_MEMORY */
weft_status weft_series_make(const char *path, const weft_mesh *mesh,
                             const weft_series_options *options, const weft_monitor *monitor,
                             weft_series **out, weft_error *error);
/** One step more, [n_nodes] values; a time not above the last that is there changes nothing.
 *  Errors  WEFT_ERROR_IO, WEFT_ERROR_MEMORY: the series is as it was; WEFT_ERROR_USAGE: no room */
weft_status weft_series_add(weft_series *series, double t, const double *values, weft_error *error);
/** Close it; disk that was not used is given up. Errors WEFT_ERROR_IO; it is freed. */
weft_status weft_series_close(weft_series **series, weft_error *error);

/** State from which a computation goes on: nodal lists, and what they belong to. */
typedef struct weft_checkpoint {
    const char *problem; /* text that must be the same: options, formulas */
    int64_t step;
    int n_lists;
    const char *const *names;
    double *const *lists; /* [n_lists][n_nodes]; weft_checkpoint_read fills them */
} weft_checkpoint;
/** Write a VTKHDF file with the mesh and the lists, whole or not at all. Errors WEFT_ERROR_IO */
weft_status weft_checkpoint_write(const char *path, const weft_mesh *mesh,
                                  const weft_checkpoint *checkpoint, weft_error *error);
/** Read one back, given the mesh, problem, names and room for the lists; sets step.
 *  Errors  WEFT_ERROR_INPUT: no checkpoint; of another version, mesh (also another ordering) or
 *          problem (both are told); damaged or cut short, which a hash over all finds.
 *          WEFT_ERROR_IO (locked by another process), WEFT_ERROR_MEMORY */
weft_status weft_checkpoint_read(const char *path, const weft_mesh *mesh,
                                 weft_checkpoint *checkpoint, weft_error *error);

#ifdef __cplusplus
}
#endif
#endif
