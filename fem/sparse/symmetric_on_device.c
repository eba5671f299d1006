/* Lays out a symmetric matrix on a device (kernels/setup/symmetric.cu), and finds the positions of
 * local matrices in it (kernels/setup/positions.cu). */
#include "fem/base/memory.h"
#include "fem/sparse/on_device.h"
#include "fem/sparse/symmetric_patch.h"
#include "fusion/connectivity/connectivity.h"

#include <stdlib.h>

enum { PATCH_BYTES = 53 * 1024 + 512 }; /* shared memory, as in kernels/setup/symmetric.cu */

void weft_device_symmetric_free(weft_device_symmetric *symmetric) {
    weft_symmetric_free(&symmetric->sizes);
    weft_memory_free(&symmetric->patches);
    weft_memory_free(&symmetric->columns);
    weft_memory_free(&symmetric->lists);
    weft_memory_free(&symmetric->offsets);
}

/* The offsets of all entries, and the patches with their numbers of rounds, halo rows and overflow
 * entries. */
static weft_status place_entries(weft_setup *setup, const weft_device_pattern *pattern,
                                 const weft_device_halos *halos, weft_memory *locals,
                                 int most_rounds, weft_device_symmetric *made, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_device *device = weft_setup_device(setup);
    const int64_t n_patches = made->sizes->n_patches, most = most_rounds;
    weft_memory *sizes = NULL, *faults = NULL;
    int32_t fault = 0;
    TRY(weft_setup_numbers(setup, &most, 1, &sizes, error));
    TRY(weft_memory_make(device, sizeof fault, &faults, error));
    TRY(weft_memory_make_unset(device, (size_t)n_patches * sizeof(weft_symmetric_patch),
                               &made->patches, error));
    TRY(weft_memory_make_unset(device, (size_t)pattern->n_entries * sizeof(uint32_t),
                               &made->offsets, error));
    const weft_setup_kernel kernel = {"symmetric", "symmetric_patches", pattern->n_rows, n_patches,
                                      PATCH_BYTES};
    weft_memory *const arguments[] = {sizes,         pattern->row_start, locals, halos->start,
                                      made->patches, made->offsets,      faults};
    TRY(weft_setup_launch(setup, &kernel, arguments, 7, error));
    TRY(weft_memory_read(faults, 0, &fault, sizeof fault, error));
    if (fault)
        TRY(weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                           "512 rows couple with each other more than 4096 times"));
done:
    weft_memory_free(&sizes);
    weft_memory_free(&faults);
    return status;
}

/* The patches' places, which the host sums, then their columns and lists. */
static weft_status fill(weft_setup *setup, const weft_device_pattern *pattern,
                        const weft_device_halos *halos, weft_memory *locals, bool few_discards,
                        weft_device_symmetric *made, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_device *device = weft_setup_device(setup);
    weft_symmetric *sizes = made->sizes;
    const size_t bytes = (size_t)sizes->n_patches * sizeof *sizes->patches;
    TRY(weft_memory_read(made->patches, 0, sizes->patches, bytes, error));
    TRY(weft_symmetric_sum(sizes, few_discards, error));
    TRY(weft_memory_write(made->patches, 0, sizes->patches, bytes, error));
    TRY(weft_memory_make_unset(device, (size_t)sizes->n_columns * sizeof(uint16_t), &made->columns,
                               error));
    TRY(weft_memory_make_unset(device, (size_t)sizes->n_lists * sizeof(int32_t), &made->lists,
                               error));
    const weft_setup_kernel kernel = {"symmetric", "symmetric_columns", pattern->n_rows,
                                      sizes->n_patches, 0};
    weft_memory *const arguments[] = {pattern->row_start, locals,        halos->start,
                                      halos->columns,     made->offsets, made->patches,
                                      made->columns,      made->lists};
    TRY(weft_setup_launch(setup, &kernel, arguments, 8, error));
done:
    return status;
}

weft_status weft_device_symmetric_make(weft_setup *setup, const weft_device_pattern *pattern,
                                       const weft_symmetric_options *options,
                                       weft_device_symmetric *out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_device_halos halos = {0};
    weft_memory *locals = NULL;
    weft_device_symmetric made = {.sizes = calloc(1, sizeof *made.sizes)};
    if (!made.sizes)
        TRY(weft_out_of_memory(error, "the edges of a matrix"));
    made.sizes->n_rows = pattern->n_rows;
    made.sizes->n_patches = (pattern->n_rows + WEFT_SYMMETRIC_NODES - 1) / WEFT_SYMMETRIC_NODES;
    made.sizes->patches =
        weft_array_make((size_t)made.sizes->n_patches, sizeof *made.sizes->patches);
    if (!made.sizes->patches)
        TRY(weft_out_of_memory(error, "the edges of a matrix"));
    TRY(weft_device_halos_make(setup, pattern, &halos, error));
    TRY(weft_device_locals_make(setup, pattern, &halos, &locals, error));
    TRY(place_entries(setup, pattern, &halos, locals, weft_symmetric_rounds_most(options), &made,
                      error));
    TRY(fill(setup, pattern, &halos, locals, options->few_discards, &made, error));
    *out = made;
    made = (weft_device_symmetric){0};
done:
    weft_device_halos_free(&halos);
    weft_memory_free(&locals);
    weft_device_symmetric_free(&made);
    return status;
}

weft_status weft_device_symmetric_positions(weft_setup *setup,
                                            const weft_device_symmetric *symmetric,
                                            const weft_device_pattern *pattern,
                                            weft_connectivity *dofs, int lanes,
                                            weft_memory **positions, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_device *device = weft_setup_device(setup);
    const weft_symmetric *of = symmetric->sizes;
    const int64_t width = weft_connectivity_width(dofs);
    const int64_t n_padded = (weft_connectivity_from(dofs) + lanes - 1) / lanes * lanes;
    const int64_t numbers[] = {width, lanes, of->first_discard, of->n_discard};
    weft_memory *indices = NULL, *sizes = NULL, *missing = NULL, *made = NULL;
    int32_t is_missing = 0;
    if (weft_connectivity_to(dofs) != pattern->n_rows)
        TRY(weft_coupling_missing(error));
    TRY(weft_connectivity_interleaved(dofs, lanes, &indices, error));
    TRY(weft_setup_numbers(setup, numbers, 4, &sizes, error));
    TRY(weft_memory_make(device, sizeof is_missing, &missing, error));
    TRY(weft_memory_make_unset(device, (size_t)(n_padded * width * width) * sizeof(uint32_t), &made,
                               error));
    const weft_setup_kernel kernel = {"positions", "symmetric_positions", n_padded, 0, 0};
    weft_memory *const arguments[] = {sizes,
                                      indices,
                                      pattern->row_start,
                                      pattern->columns,
                                      symmetric->offsets,
                                      symmetric->patches,
                                      made,
                                      missing};
    TRY(weft_setup_launch(setup, &kernel, arguments, 8, error));
    TRY(weft_memory_read(missing, 0, &is_missing, sizeof is_missing, error));
    if (is_missing)
        TRY(weft_coupling_missing(error));
    *positions = made;
    made = NULL;
done:
    weft_memory_free(&sizes);
    weft_memory_free(&missing);
    weft_memory_free(&made);
    return status;
}
