/** Time series: what the formats (fem/io/series_vtkhdf.c, fem/io/series_pvd.c) share with fem/io/series.c, which decides
 *  whether a file is made, continued or kept. */
#pragma once

#include "fem/weft_fem.h"

/** What a file holds. */
typedef struct weft_series_found {
    bool is_series;
    char mesh[33], problem[33]; /* hashes */
    int64_t n_steps;
    double *times; /* [n_steps], malloc'd */
} weft_series_found;

/** How a format is written; state is its own. */
typedef struct weft_series_kind {
    const char *ending;
    /** Look at a file that exists. A file that is not a series is not an error.
     *  Errors  WEFT_ERROR_IO (locked), WEFT_ERROR_MEMORY */
    weft_status (*look)(weft_series *s, weft_series_found *out, weft_error *error);
    /** Make a new file with room for s->n_more steps, or, with resume, keep found's first
     *  s->n_steps and make room for as many behind them. The file is whole at any moment. */
    weft_status (*begin)(weft_series *s, bool resume, const weft_series_found *found,
                         weft_error *error);
    weft_status (*add)(weft_series *s, double t, const double *values, weft_error *error);
    weft_status (*close)(weft_series *s, weft_error *error);
    void (*free)(weft_series *s);
} weft_series_kind;
extern const weft_series_kind weft_series_vtkhdf, weft_series_pvd;

struct weft_series {
    const weft_series_kind *kind;
    char *path, *name;     /* of the file, of the field */
    const weft_mesh *mesh; /* borrowed */
    char mesh_hash[33], problem[33];
    int64_t n_steps, n_more; /* that are there; that may follow */
    double last;             /* time, where n_steps > 0 */
    bool overwrite;
    int file; /* that other runs find locked; -1: none */
    void *state;
};

/** Lock a file or folder against other runs of Weft, as long as it is open.
 *  Errors WEFT_ERROR_IO: another run writes it */
weft_status weft_series_lock(int file, const char *path, weft_error *error);
