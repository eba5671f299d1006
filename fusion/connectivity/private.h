/** Shared by the files of this folder: the connectivity struct and uploads to device memory. */
#pragma once

#include "fusion/connectivity/cell_patches.h"
#include "fusion/connectivity/connectivity.h"
#include "fusion/connectivity/patches.h"
#include "fusion/weft_share.h"

typedef struct weft_connectivity_copy weft_connectivity_copy;

struct weft_connectivity {
    weft_device *device;
    const int32_t *indices; /* NULL: on the device alone */
    int32_t *own;           /* NULL, or indices, read from the device */
    int64_t n_from, n_to;
    int width;
    weft_share from_share;         /* owned: NULL: not known */
    unsigned char *from_marks;     /* its marks */
    const weft_share *to_share;    /* borrowed; NULL: not known */
    weft_memory *plain;            /* NULL, or the indices on the device */
    weft_connectivity_copy *forms; /* this and the following: NULL until first asked for */
    weft_patches *patches;
    weft_cell_patches *cell_patches;
    weft_cell_colours *colours;
};

/** Sets and returns WEFT_ERROR_MEMORY: "no memory for the `what` of n cells". */
weft_status weft_cells_no_memory(const char *what, int64_t n, weft_error *error);

/** Device memory that the host fills through `array`, which is the device memory itself where the
 *  host can address it, otherwise a host copy. Start from {0}. */
typedef struct weft_upload {
    weft_memory *memory;
    void *array;
} weft_upload;
/** Allocate count * size bytes, not zeroed.
 *  what, n  for the message of weft_cells_no_memory
 *  out      caller's; weft_upload_free
 *  Errors   WEFT_ERROR_MEMORY, WEFT_ERROR_DEVICE */
weft_status weft_upload_make(weft_device *device, size_t count, size_t size, const char *what,
                             int64_t n, weft_upload *out, weft_error *error);
/** Copy the array to the device if it is a host copy, and hand the memory to the caller.
 *  out      caller's; NULL for an upload that is still {0}
 *  Errors   those of weft_memory_write; the upload still owns its memory */
weft_status weft_upload_send(weft_upload *upload, weft_memory **out, weft_error *error);
void weft_upload_free(weft_upload *upload);

/** Whether n indices on a device on which set-up runs are in [0, n_to). */
weft_status weft_indices_fit_on_device(weft_device *device, weft_memory *indices, int64_t n,
                                       int64_t n_to, bool *fit, weft_error *error);
/** What weft_connectivity_interleaved and weft_connectivity_transposed keep, made by kernels of a
 *  device on which set-up runs.
 *  out, start, positions  caller's; weft_memory_free
 *  Errors  WEFT_ERROR_MEMORY, _COMPILER, _DEVICE; outputs untouched */
weft_status weft_interleave_on_device(weft_connectivity *connectivity, int lanes, weft_memory **out,
                                      weft_error *error);
weft_status weft_transpose_on_device(weft_connectivity *connectivity, int lanes,
                                     weft_memory **start, weft_memory **positions,
                                     weft_error *error);

/** Whether weft_cell_patches_on_device makes patches of so many cells: set-up runs there, and the indices of a patch fit in a
 *  block's shared memory. */
bool weft_cell_patches_fit_on_device(const weft_connectivity *connectivity, int cells);
/** Fill patches whose cells, width, sums and n_patches are set, by kernels.
 *  Errors  WEFT_ERROR_UNSUPPORTED: 2^32 slots or pairs; _MEMORY, _COMPILER, _DEVICE; what is made
 *          by then stays in *made */
weft_status weft_cell_patches_on_device(weft_connectivity *connectivity, weft_cell_patches *made,
                                        weft_error *error);

/** Group blocks of `lanes` elements into chunks of consecutive blocks, coloured so that two chunks
 *  of a colour share no target: a colour may store through the connectivity in parallel. The result
 *  depends on the indices and on lanes only.
 *  out     caller's; weft_schedule_free
 *  Memory  temporary: 8 bytes per target
 *  Errors  WEFT_ERROR_MEMORY; *out untouched */
weft_status weft_schedule_make(const weft_connectivity *connectivity, int lanes,
                               weft_schedule **out, weft_error *error);
