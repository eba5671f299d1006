/** Derived forms of a connectivity, in the layout that generated programs read.
 *  In:  index arrays [n_from][width]
 *  Out: interleaved, transposed and coloured adjacency (patches: fusion/connectivity/patches.h)
 *
 *  Each form is made when first asked for and kept with the connectivity: *out is borrowed.
 *
 *  Decision  docs/decisions/0027-large-systems-are-made-in-parts.md */
#pragma once

#include "fusion/setup/setup.h"
#include "fusion/weft_program.h"

/** The indices in blocks of `lanes` cells.
 *  Layout  int32_t [ceil(n_from / lanes)][width][lanes]; spare lanes repeat the last cell
 *  Errors  WEFT_ERROR_MEMORY, WEFT_ERROR_DEVICE; *out untouched */
weft_status weft_connectivity_interleaved(weft_connectivity *connectivity, int lanes,
                                          weft_memory **out, weft_error *error);
/** weft_connectivity_make of indices that a device on which set-up runs already has.
 *  indices  NULL: on the device alone, until another form than the first interleaved one and the
 *           transposed ones needs them on the host (weft_connectivity_read)
 *  plain    [n_from][width] int32_t, a copy of indices; taken over and NULL, unless there is an error.
 *           The first interleaved form is made of it; without indices it stays
 *  Errors   those of weft_connectivity_make; WEFT_ERROR_COMPILER, _DEVICE */
weft_status weft_connectivity_make_copied(weft_device *device, const int32_t *indices,
                                          weft_memory **plain, int width, int64_t n_to,
                                          weft_connectivity **out, weft_error *error);
/** Free `plain`. */
void weft_connectivity_release_plain(weft_connectivity *connectivity);
/** The same of indices on the device alone, which are kept as the form that programs for double read. */
weft_status weft_connectivity_make_on_device(weft_device *device, weft_memory **plain, int width,
                                             int64_t n_to, weft_connectivity **out,
                                             weft_error *error);
/** Copy the indices of some elements to the host.
 *  elements  [n]
 *  out       [n][width], caller's
 *  Errors    WEFT_ERROR_MEMORY, _COMPILER, _DEVICE */
weft_status weft_connectivity_rows(weft_connectivity *connectivity, const int32_t *elements,
                                   int64_t n, int32_t *out, weft_error *error);
/** How indices become a part of the rows of another connectivity: place k of the part has component c = k mod components
 *  of index order[k / components], which is first + index * components + c. */
typedef struct weft_index_map {
    const int *order; /* [width of the connectivity]; NULL: as they are */
    int components;
    int64_t first;
    int width, at; /* of the rows, and where the part begins in them */
} weft_index_map;
/** Write this part on a device on which set-up runs.
 *  out     [n_from][map->width] int32_t
 *  Errors  WEFT_ERROR_MEMORY, _COMPILER, _DEVICE */
weft_status weft_connectivity_map(weft_connectivity *connectivity, const weft_index_map *map,
                                  weft_memory *out, weft_error *error);
/** Consecutive elements of a connectivity as a connectivity. Interleaved forms that it has are shared,
 *  if they begin with the first element.
 *  first   of n elements
 *  out     caller's; weft_connectivity_free, before those forms are released
 *  Errors  WEFT_ERROR_MEMORY, _DEVICE; *out untouched */
weft_status weft_connectivity_range_make(const weft_connectivity *connectivity, int64_t first,
                                         int64_t n, weft_connectivity **out, weft_error *error);
/** Chunks of consecutive cell blocks, grouped by colour: chunks of one colour share no target.
 *  Errors  WEFT_ERROR_MEMORY; *out untouched */
weft_status weft_connectivity_schedule(weft_connectivity *connectivity, int lanes,
                                       const weft_schedule **out, weft_error *error);
/** For each target, its occurrences in the interleaved indices.
 *  start      [n_to + 1] int64_t: target t has positions[start[t]] ... positions[start[t + 1] - 1]
 *  positions  [n_from * width] uint32_t, ascending per target. Local index `local` of a cell is at
 *             ((cell / lanes) * width + local) * lanes + cell % lanes
 *  Errors  WEFT_ERROR_UNSUPPORTED: 2^32 positions or more; WEFT_ERROR_MEMORY, WEFT_ERROR_DEVICE;
 *          outputs untouched */
weft_status weft_connectivity_transposed(weft_connectivity *connectivity, int lanes,
                                         weft_memory **start, weft_memory **positions,
                                         weft_error *error);

/** Consecutive targets. */
typedef struct weft_target_range {
    int64_t first, n;
} weft_target_range;
/** The same of some targets, made on the device, for blocks of any number of lanes, and not kept:
 *  with 1 lane, local index `local` of a cell is at cell * width + local.
 *  setup      of a device on which set-up runs (weft_setup_on_device)
 *  targets    NULL: all
 *  start      [targets->n + 1]; caller's, as positions; weft_memory_free
 *  Errors     WEFT_ERROR_MEMORY, _COMPILER, _DEVICE; outputs untouched */
weft_status weft_connectivity_transpose(weft_connectivity *connectivity, weft_setup *setup,
                                        int lanes, const weft_target_range *targets,
                                        weft_memory **start, weft_memory **positions,
                                        weft_error *error);

typedef struct weft_cell_colours weft_cell_colours;
/** Elements by colour. No two elements of a colour share a target, so a colour may accumulate in
 *  parallel without atomics (an element may name a target twice). Colours run in sequence. */
struct weft_cell_colours {
    int n_colours;
    int64_t *start;      /* [n_colours + 1] prefix sums of the numbers of elements */
    weft_memory **order; /* [n_colours] uint32_t, the elements of a colour, ascending */
    /* the last colour holds the elements that WEFT_CELL_COLOURS colours could not take: they share
     * targets; one thread runs them in order */
    bool is_serial_last;
};
enum { WEFT_CELL_COLOURS = 256 }; /* maximum, without the serial one */

void weft_cell_colours_free(weft_cell_colours **colours);
/** Colour the elements; the result depends on the indices only.
 *  Memory  temporary: 8 bytes per target and 6 per element
 *  Errors  WEFT_ERROR_UNSUPPORTED: 2^32 elements or more; WEFT_ERROR_MEMORY, WEFT_ERROR_DEVICE */
weft_status weft_connectivity_colours(weft_connectivity *connectivity,
                                      const weft_cell_colours **out, weft_error *error);
