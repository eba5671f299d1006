/** Readers of mesh files. Not installed.
 *
 *      In: a path or a stream.  Out: a mesh. */
#pragma once

#include "fem/weft_fem.h"

#include <sys/types.h>

/** The source of a mesh stream (fem/io/stream.h). */
typedef struct weft_stream_source {
    const char *name;                                 /* for messages */
    ssize_t (*read)(void *user, void *out, size_t n); /* 0 at the end, < 0 on errors */
    void *user;
    int64_t remaining; /* upper bound of the bytes to come; -1: unknown */
    /* out: it ended too early; it contained an error, which was returned */
    bool cut_short, reported_error;
    int64_t n_left_nodes; /* out: unused nodes of the file that were not sent */
} weft_stream_source;
/** Read a mesh as sent by weft-gmsh. The stream is validated, the mesh itself is not.
 *  out     caller's; weft_mesh_data_free
 *  Errors  those that the stream reports, WEFT_ERROR_IO (damaged), WEFT_ERROR_MEMORY; *out
 *          untouched */
weft_status weft_mesh_stream_read(weft_stream_source *source, const weft_monitor *monitor,
                                  weft_mesh_data *out, weft_error *error);
/** Write a mesh stream, from a reader in a child process: the start, any number of log messages,
 *  then the mesh.
 *  Errors  WEFT_ERROR_IO */
weft_status weft_mesh_stream_start(int out, weft_error *error);
weft_status weft_mesh_stream_write(int out, const weft_mesh_data *data, weft_error *error);
void weft_mesh_stream_log(int out, weft_log_level level, const char *message);
/** Read a file through the program weft-gmsh. Contract as weft_mesh_read_with. */
weft_status weft_mesh_read_gmsh(const char *path, const weft_mesh_options *options,
                                const weft_monitor *monitor, weft_mesh **out, weft_error *error);
/** A field of a file, with the file's mesh as it is: any orientation and numbering. Free with
 *  weft_file_field_free. */
typedef struct weft_file_field {
    int dimension, n_components;
    bool on_cells; /* else on nodes */
    int64_t n_nodes, n_cells;
    double *x;      /* [n_nodes][dimension] */
    int32_t *cells; /* [n_cells][dimension+1], checked to be in range */
    double *values; /* [n_cells or n_nodes][n_components] */
} weft_file_field;
/** Read a nodal or cell field of a .vtkhdf file.
 *  name    NULL: u
 *  out     caller's; untouched on errors
 *  Errors  WEFT_ERROR_IO, _INPUT (no such field: lists them; damaged), _UNSUPPORTED, _MEMORY */
weft_status weft_file_field_read(const char *path, const char *name, weft_file_field *out,
                                 weft_error *error);
void weft_file_field_free(weft_file_field *field);
/** Whether the file can be read, with the message of weft_mesh_read if not. */
weft_status weft_file_check(const char *path, weft_error *error);
/** Read a .vtkhdf file. Contract as weft_mesh_read_with. */
weft_status weft_mesh_read_vtkhdf(const char *path, const weft_mesh_options *options,
                                  const weft_monitor *monitor, weft_mesh **out, weft_error *error);
