/** The part of a .vtkhdf series that HDF5 does, in a child process (fem/io/series_room.c): making a file or room in
 *  it for more steps, and telling where in the file things lie, so that steps are written without HDF5
 *  (fem/io/series_vtkhdf.c). */
#pragma once

#include "fem/io/series.h"

#include <hdf5.h>

/** Where things lie in the file. */
typedef struct weft_series_places {
    int64_t count, extent;   /* of the number of steps, and of the extent of Values */
    int64_t room;            /* steps */
    int64_t *values, *times; /* [room]; malloc'd in one */
} weft_series_places;

/** What the child is to do, and what it does it with. */
typedef struct weft_series_room {
    const weft_series *s;
    const char *name; /* of the file: a temporary, or the series itself */
    bool make;        /* the file, before its room */
    int64_t room;
    weft_series_places at; /* of numbers: known where it is not made */
    hid_t file;
    weft_error *error;
} weft_series_room;

/** Make or extend room->name, and send its places: count, extent, room, then for each step the place of its values,
 *  then of its time, all int64_t. user: a weft_series_room. For weft_child_start. */
weft_status weft_series_make_room(void *user, int out, weft_error *error);
/** Send a weft_series_found and its times, then its places where the mesh is the same; nothing where the file is
 *  not a series. */
weft_status weft_series_look(void *user, int out, weft_error *error);
