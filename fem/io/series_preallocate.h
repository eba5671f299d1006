/** The part of a .vtkhdf series that needs HDF5 and runs in a child process (fem/io/series_preallocate.c):
 *  making a file, or allocating more steps in it, and finding the file offsets at which
 *  fem/io/series_vtkhdf.c then writes steps without HDF5. Not installed. */
#pragma once

#include "fem/io/series.h"

#include <hdf5.h>

/** Offsets in the file, in bytes. */
typedef struct weft_series_offsets {
    int64_t count, extent; /* of the number of steps, and of the extent of Values */
    int64_t capacity;      /* number of steps that are allocated */
    /* [n_fields][capacity] and [capacity] of each step; one malloc'd block */
    int64_t *values, *times;
} weft_series_offsets;

/** Arguments and state of the child. */
typedef struct weft_series_preallocation {
    const weft_series *s;
    const char *name; /* of the file: a temporary, or the series itself */
    bool make;        /* make the file first */
    int64_t capacity;
    weft_series_offsets at; /* count and extent are known unless the file is made */
    hid_t file;
    weft_error *error;
} weft_series_preallocation;

/** Make or extend the file, and send its offsets as int64_t: count, extent, capacity, those of the
 *  values of each field and step, those of the time of each step. A weft_child_call; user: a
 *  weft_series_preallocation. */
weft_status weft_series_preallocate(void *user, int out, weft_error *error);
/** Send a weft_series_found and its times, then, if the mesh is the same, its offsets; nothing if
 *  the file is not a series. A weft_child_call. */
weft_status weft_series_look(void *user, int out, weft_error *error);
