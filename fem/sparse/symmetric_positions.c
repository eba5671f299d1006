/* Finds, for each entry of each local matrix, its position in the values of a symmetric matrix: on the
 * host's threads, or on a device on which set-up runs (kernels/setup/positions.cu). */
#include "fem/sparse/symmetric.h"

#include "fem/base/memory.h"
#include "fusion/connectivity/connectivity.h"
#include "fusion/setup/setup.h"

#include <stdlib.h>

typedef struct entry_positions {
    const weft_symmetric *symmetric;
    int64_t n_entries;
} entry_positions;

static uint32_t position_of(const void *user, int32_t row, uint32_t entry) {
    const entry_positions *of = user;
    const weft_symmetric *symmetric = of->symmetric;
    if (entry >= of->n_entries) /* a missing coupling in one of the last rows */
        return 0;
    const uint32_t offset = symmetric->offsets[entry];
    if (offset == WEFT_SYMMETRIC_DISCARD)
        return (uint32_t)(symmetric->first_discard + row % symmetric->n_discard);
    return (uint32_t)(symmetric->patches[row / WEFT_SYMMETRIC_NODES].first_value + offset);
}

static weft_status on_host(weft_device *device, const weft_symmetric *symmetric,
                           const weft_pattern *pattern, const weft_connectivity *dofs, int lanes,
                           weft_memory **positions, weft_error *error) {
    const entry_positions of = {symmetric, pattern->n_entries};
    const weft_pattern_search search = {
        .pattern = pattern, .vectors = weft_vectors_of(device), .map = position_of, .user = &of};
    return weft_pattern_positions_by(device, &search, dofs, lanes, positions, error);
}

/* What the kernel reads. */
typedef struct device_search {
    weft_memory *sizes, *row_start, *columns, *offsets, *first_values, *missing;
} device_search;

static void search_free(device_search *s) {
    weft_memory **memories[] = {&s->sizes,   &s->row_start,    &s->columns,
                                &s->offsets, &s->first_values, &s->missing};
    for (size_t i = 0; i < sizeof memories / sizeof *memories; ++i)
        weft_memory_free(memories[i]);
}

static weft_status search_make(weft_setup *setup, const weft_symmetric *symmetric,
                               const weft_pattern *pattern, int64_t width, int64_t lanes,
                               device_search *out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_device *device = weft_setup_device(setup);
    const size_t n_rows = (size_t)pattern->n_rows, n_entries = (size_t)pattern->n_entries;
    const int64_t numbers[] = {width, lanes, symmetric->first_discard, symmetric->n_discard};
    int64_t *first = malloc(((size_t)symmetric->n_patches + 1) * sizeof *first);
    if (!first)
        TRY(weft_out_of_memory(error, "the positions of a matrix"));
    for (int64_t p = 0; p < symmetric->n_patches; ++p)
        first[p] = symmetric->patches[p].first_value;
    TRY(weft_setup_numbers(setup, numbers, 4, &out->sizes, error));
    TRY(weft_memory_place(device, pattern->row_start, n_rows + 1, sizeof *pattern->row_start,
                          &out->row_start, error));
    TRY(weft_memory_place(device, pattern->columns, n_entries, sizeof *pattern->columns,
                          &out->columns, error));
    TRY(weft_memory_place(device, symmetric->offsets, n_entries, sizeof *symmetric->offsets,
                          &out->offsets, error));
    TRY(weft_memory_place(device, first, (size_t)symmetric->n_patches, sizeof *first,
                          &out->first_values, error));
    TRY(weft_memory_make(device, sizeof(int32_t), &out->missing, error));
done:
    free(first);
    return status;
}

static weft_status on_device(weft_device *device, const weft_symmetric *symmetric,
                             const weft_pattern *pattern, weft_connectivity *dofs, int lanes,
                             weft_memory **positions, weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t width = weft_connectivity_width(dofs);
    const int64_t n_padded = (weft_connectivity_from(dofs) + lanes - 1) / lanes * lanes;
    weft_setup *setup = NULL;
    weft_memory *indices = NULL, *made = NULL;
    device_search s = {0};
    int32_t is_missing = 0;
    TRY(weft_setup_make(device, &setup, error));
    TRY(weft_connectivity_interleaved(dofs, lanes, &indices, error));
    TRY(search_make(setup, symmetric, pattern, width, lanes, &s, error));
    TRY(weft_memory_make_unset(device, (size_t)(n_padded * width * width) * sizeof(uint32_t), &made,
                               error));
    const weft_setup_kernel kernel = {"positions", "symmetric_positions", n_padded, 0, 0};
    weft_memory *const arguments[] = {s.sizes,   indices,        s.row_start, s.columns,
                                      s.offsets, s.first_values, made,        s.missing};
    TRY(weft_setup_launch(setup, &kernel, arguments, 8, error));
    TRY(weft_memory_read(s.missing, 0, &is_missing, sizeof is_missing, error));
    if (is_missing)
        TRY(weft_coupling_missing(error));
    *positions = made;
    made = NULL;
done:
    search_free(&s);
    weft_memory_free(&made);
    weft_setup_free(&setup);
    return status;
}

weft_status weft_symmetric_positions(weft_device *device, const weft_symmetric *symmetric,
                                     const weft_pattern *pattern, weft_connectivity *dofs,
                                     int lanes, weft_memory **positions, weft_error *error) {
    if (weft_connectivity_to(dofs) == pattern->n_rows && weft_setup_on_device(device))
        return on_device(device, symmetric, pattern, dofs, lanes, positions, error);
    return on_host(device, symmetric, pattern, dofs, lanes, positions, error);
}
