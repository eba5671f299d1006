/** What the files of this folder share: the connectivity itself and device memory that the host fills. */
#pragma once

#include "fusion/connectivity/connectivity.h"
#include "fusion/connectivity/patches.h"

typedef struct weft_connectivity_copy weft_connectivity_copy;

struct weft_connectivity {
    weft_device *device;
    const int32_t *indices;
    int64_t n_from, n_to;
    int width;
    weft_connectivity_copy *forms; /* each of these: NULL until it is asked for */
    weft_patches *patches;
    weft_cell_colours *colours;
};

/** MEMORY error: no memory for the `what` ("patches") of n cells. */
weft_status weft_cells_no_memory(const char *what, int64_t n, weft_error *error);

/** Device memory that the host fills; array is the memory itself where the host can use it. Start
 *  from {0}. Nothing is zeroed. */
typedef struct weft_upload {
    weft_memory *memory;
    void *array;
} weft_upload;
/** what, n: for the message, as above. */
weft_status weft_upload_make(weft_device *device, size_t count, size_t size, const char *what,
                             int64_t n, weft_upload *out, weft_error *error);
/** The memory, filled, goes to *out; of an upload that was not made, NULL. */
weft_status weft_upload_send(weft_upload *upload, weft_memory **out, weft_error *error);
void weft_upload_free(weft_upload *upload);

/** The order in which blocks of `lanes` elements may store through a connectivity: chunks of
 *  consecutive blocks, coloured so that two chunks of a colour share no target.
 *  Depends on the indices and on lanes only. Temporary memory: 8 bytes a target.
 *  Errors  WEFT_ERROR_MEMORY */
weft_status weft_schedule_make(const weft_connectivity *connectivity, int lanes,
                               weft_schedule **out, weft_error *error);
