/* Makes the sparsity pattern of a connectivity on a device (kernels/setup/pattern.cu). */
#include "fem/base/memory.h"
#include "fem/sparse/on_device.h"

#include <stdlib.h>

enum { ROW_MOST = 256 }; /* as in kernels/setup/pattern.cu */

weft_status weft_row_cells_make(weft_setup *setup, weft_connectivity *dofs,
                                const weft_target_range *rows, weft_row_cells *out,
                                weft_error *error) {
    const int64_t n = weft_connectivity_from(dofs), width = weft_connectivity_width(dofs);
    if (n * width > (int64_t)UINT32_MAX)
        return weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                              "%lld cells of %lld vertices are more than 2^32 - 1 vertices",
                              (long long)n, (long long)width);
    out->rows = rows ? *rows : (weft_target_range){0, weft_connectivity_to(dofs)};
    return weft_connectivity_transpose(dofs, setup, 1, rows, &out->start, &out->places, error);
}

void weft_row_cells_free(weft_row_cells *cells) {
    weft_memory_free(&cells->start);
    weft_memory_free(&cells->places);
}

void weft_device_pattern_free(weft_device_pattern *pattern) {
    weft_memory_free(&pattern->row_start);
    weft_memory_free(&pattern->columns);
    *pattern = (weft_device_pattern){0};
}

weft_status weft_device_pattern_check(int32_t longest, int64_t n_entries, weft_error *error) {
    if (longest > ROW_MOST)
        return weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                              "a row of the matrix has more than %d entries", ROW_MOST);
    if (n_entries <= (int64_t)UINT32_MAX)
        return WEFT_OK;
    weft_error_set(error, WEFT_ERROR_UNSUPPORTED, "the matrix has %lld entries, more than 2^32 - 1",
                   (long long)n_entries);
    weft_error_hint(error, "use the assembly lma or matrix-free");
    return WEFT_ERROR_UNSUPPORTED;
}

weft_status weft_device_pattern_make(weft_setup *setup, weft_connectivity *dofs,
                                     const weft_row_cells *cells, weft_device_pattern *out,
                                     weft_error *error) {
    weft_status status = WEFT_OK;
    weft_device *device = weft_setup_device(setup);
    const int lanes = weft_device_limits(device)->lanes_double;
    weft_device_pattern made = {.n_rows = weft_connectivity_to(dofs)};
    weft_memory *sizes = NULL, *indices = NULL, *lengths = NULL, *longest = NULL;
    int32_t most = 0;
    TRY(weft_connectivity_interleaved(dofs, lanes, &indices, error));
    TRY(weft_setup_numbers(setup, (int64_t[]){weft_connectivity_width(dofs), lanes}, 2, &sizes,
                           error));
    TRY(weft_memory_make_unset(device, (size_t)(made.n_rows + 1) * sizeof(uint32_t), &lengths,
                               error));
    TRY(weft_memory_make(device, sizeof most, &longest, error));
    const weft_setup_kernel count = {"pattern", "row_lengths", made.n_rows, 0, 0};
    weft_memory *const counted[] = {sizes, indices, cells->start, cells->places, lengths, longest};
    TRY(weft_setup_launch(setup, &count, counted, 6, error));
    TRY(weft_setup_sums(setup, lengths, made.n_rows, &made.row_start, &made.n_entries, error));
    TRY(weft_memory_read(longest, 0, &most, sizeof most, error));
    TRY(weft_device_pattern_check(most, made.n_entries, error));
    TRY(weft_memory_make_unset(device, (size_t)made.n_entries * sizeof(int32_t), &made.columns,
                               error));
    const weft_setup_kernel fill = {"pattern", "row_columns", made.n_rows, 0, 0};
    weft_memory *const filled[] = {sizes,         indices,        cells->start,
                                   cells->places, made.row_start, made.columns};
    TRY(weft_setup_launch(setup, &fill, filled, 6, error));
    *out = made;
    made = (weft_device_pattern){0};
done:
    weft_memory_free(&sizes);
    weft_memory_free(&lengths);
    weft_memory_free(&longest);
    weft_device_pattern_free(&made);
    return status;
}

weft_status weft_device_pattern_read(const weft_device_pattern *pattern, weft_pattern *out,
                                     weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t start_bytes = (size_t)(pattern->n_rows + 1) * sizeof(int64_t);
    const size_t column_bytes = (size_t)pattern->n_entries * sizeof(int32_t);
    int64_t *row_start = weft_array_make_unset(start_bytes);
    int32_t *columns = weft_array_make_unset(column_bytes);
    if (!row_start || !columns)
        TRY(weft_out_of_memory(error, "the pattern of a matrix"));
    TRY(weft_memory_read(pattern->row_start, 0, row_start, start_bytes, error));
    TRY(weft_memory_read(pattern->columns, 0, columns, column_bytes, error));
    out->row_start = row_start;
    out->columns = columns;
    row_start = NULL;
    columns = NULL;
done:
    free(row_start);
    free(columns);
    return status;
}
