/* Operations on lists that scripts cannot express (kernels/operators/lists.cu). Not installed.
 *
 *      In: lists on a device.  Out: changed or converted lists. */
#pragma once

#include "fem/weft_fem.h"

/** The kernels, compiled for a GPU; on the host there are none. */
typedef struct weft_lists weft_lists;
/** device  borrowed
 *  out     caller's; weft_lists_free
 *  Errors  WEFT_ERROR_MEMORY, _COMPILER, _DEVICE */
weft_status weft_lists_make(weft_device *device, weft_lists **out, weft_error *error);
void weft_lists_free(weft_lists **lists);
/** Set list[entries[i]] = value.
 *  list     doubles on the device
 *  entries  [n] on the host, without repetitions; borrowed for the call
 *  Errors   WEFT_ERROR_MEMORY, _DEVICE */
weft_status weft_lists_set(weft_lists *lists, weft_memory *list, const int32_t *entries, int64_t n,
                           double value, weft_error *error);
/** to[i] = from[entries[i]], or 0 where that is -1; on a GPU.
 *  entries  [n] int32; from, to: doubles, not the same; on the device */
weft_status weft_lists_gather(weft_lists *lists, int64_t n, weft_memory *entries, weft_memory *from,
                              weft_memory *to, weft_error *error);
/** to = from / (a sqrt(square)), as float, or 0 where a or square is not positive.
 *  square  one double; from [n] double; a, to [n] float; on the device */
weft_status weft_lists_to_single(weft_lists *lists, int64_t n, weft_memory *square,
                                 weft_memory *from, weft_memory *a, weft_memory *to,
                                 weft_error *error);
/** to = sqrt(square) (from[a] + from[b]) / 2 for the parents a and b of an entry, as double, so that it is not
 *  rounded to single precision; 0 where a is not positive.
 *  parents  n entries with two parents each; a [n] float; from: floats; to [n] double; on the device */
weft_status weft_lists_interpolate(weft_lists *lists, weft_memory *square,
                                   weft_connectivity *parents, weft_memory *a, weft_memory *from,
                                   weft_memory *to, weft_error *error);
/** to = factors[0] from / sqrt(square), as float, 0 where square is not positive, and first = factors[1] d to.
 *  square  one double; factors two, on the device
 *  of      from, [n] double; d, to, first, [n] float; on the device */
weft_status weft_lists_start(weft_lists *lists, int64_t n, weft_memory *square,
                             weft_memory *factors, weft_memory *const of[4], weft_error *error);
/** to = from, rounded.  from [n] double; to [n] float; on the device */
weft_status weft_lists_narrow(weft_lists *lists, int64_t n, weft_memory *from, weft_memory *to,
                              weft_error *error);
/** to = from.  from [n] float; to [n] double; on the device */
weft_status weft_lists_widen(weft_lists *lists, int64_t n, weft_memory *from, weft_memory *to,
                             weft_error *error);
/** The device that they were made for. */
weft_device *weft_lists_device(const weft_lists *lists);
/** to = from sqrt(square), as double. */
weft_status weft_lists_to_double(weft_lists *lists, int64_t n, weft_memory *square,
                                 weft_memory *from, weft_memory *to, weft_error *error);
