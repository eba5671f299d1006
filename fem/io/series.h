/** Time series: the interface between fem/io/series.c, which decides whether a file is made or
 *  resumed, and the formats (fem/io/series_vtkhdf.c, fem/io/series_pvd.c). Not installed.
 *
 *  Decision  docs/decisions/0034-result-files-survive-a-crash.md */
#pragma once

#include "fem/weft_fem.h"

/** The content of an existing file. */
typedef struct weft_series_found {
    bool is_series;
    char mesh[33], problem[33]; /* hashes */
    int64_t n_steps;
    double *times; /* [n_steps], malloc'd */
} weft_series_found;

/** The methods of a format; weft_series.state is private to it. */
typedef struct weft_series_kind {
    const char *ending;
    /** Examine an existing file. A file that is not a series is not an error.
     *  Errors  WEFT_ERROR_IO (locked), WEFT_ERROR_MEMORY */
    weft_status (*look)(weft_series *s, weft_series_found *out, weft_error *error);
    /** Make a new file with s->n_more steps allocated; with resume, keep the first s->n_steps of
     *  `found` and allocate s->n_more after them. The file is valid at any time. */
    weft_status (*begin)(weft_series *s, bool resume, const weft_series_found *found,
                         weft_error *error);
    /** Append a step; values [n_fields]. */
    weft_status (*add)(weft_series *s, double t, const double *const *values, weft_error *error);
    weft_status (*close)(weft_series *s, weft_error *error);
    void (*free)(weft_series *s);
} weft_series_kind;
extern const weft_series_kind weft_series_vtkhdf, weft_series_pvd;

struct weft_series {
    const weft_series_kind *kind;
    char *path;
    weft_field *fields; /* [n_fields], without values; their names are copies */
    int n_fields;
    const weft_mesh *mesh;          /* borrowed */
    const weft_result_nodes *nodes; /* borrowed; NULL: those of the mesh */
    char *statement;                /* of the options; malloc'd; or NULL */
    char mesh_hash[33], problem[33];
    int64_t n_steps, n_more; /* existing steps; steps that may follow */
    double last;             /* time of the last step, if n_steps > 0 */
    bool overwrite;
    int file; /* holds the lock against other runs; -1: none */
    void *state;
};

/** Rows of a field: nodes or cells. */
int64_t weft_series_rows(const weft_series *s, int field);
/** Lock a file or folder against other runs of Weft, until it is closed.
 *  Errors  WEFT_ERROR_IO (another run is writing it) */
weft_status weft_series_lock(int file, const char *path, weft_error *error);
