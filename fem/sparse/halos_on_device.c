/* Finds the halos of blocks of rows on a device (kernels/setup/halos.cu). */
#include "fem/base/memory.h"
#include "fem/sparse/on_device.h"

enum { /* as in kernels/setup/halos.cu */
       BLOCK_ROWS = 512,
       TABLE_BYTES = (2 << WEFT_ADDTO_LOCAL_BITS) * 4,
       LIST_BYTES = (1 << WEFT_ADDTO_LOCAL_BITS) * 4
};

void weft_device_halos_free(weft_device_halos *halos) {
    weft_memory_free(&halos->start);
    weft_memory_free(&halos->columns);
}

static int64_t count_blocks(const weft_device_pattern *pattern) {
    return (pattern->n_rows + BLOCK_ROWS - 1) / BLOCK_ROWS;
}

weft_status weft_device_halos_make(weft_setup *setup, const weft_device_pattern *pattern,
                                   weft_device_halos *out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_device *device = weft_setup_device(setup);
    const int64_t n = pattern->n_rows, n_blocks = count_blocks(pattern);
    int64_t total = 0;
    int32_t fault = 0;
    weft_memory *counts = NULL, *faults = NULL;
    weft_device_halos made = {0};
    TRY(weft_memory_make(device, sizeof fault, &faults, error));
    TRY(weft_memory_make_unset(device, (size_t)n_blocks * sizeof(uint32_t), &counts, error));
    const weft_setup_kernel count = {"halos", "halo_counts", n, n_blocks, TABLE_BYTES};
    weft_memory *const counted[] = {pattern->row_start, pattern->columns, counts, faults};
    TRY(weft_setup_launch(setup, &count, counted, 4, error));
    TRY(weft_memory_read(faults, 0, &fault, sizeof fault, error));
    TRY(weft_addto_fault_status(fault, error));
    TRY(weft_setup_sums(setup, counts, n_blocks, &made.start, &total, error));
    TRY(weft_memory_make_unset(device, (size_t)total * sizeof(int32_t), &made.columns, error));
    const weft_setup_kernel fill = {"halos", "halo_columns", n, n_blocks, TABLE_BYTES + LIST_BYTES};
    weft_memory *const filled[] = {pattern->row_start, pattern->columns, made.start, made.columns};
    TRY(weft_setup_launch(setup, &fill, filled, 4, error));
    *out = made;
    made = (weft_device_halos){0};
done:
    weft_memory_free(&faults);
    weft_memory_free(&counts);
    weft_device_halos_free(&made);
    return status;
}

weft_status weft_sell_halos_make(weft_setup *setup, const weft_sell_matrix *matrix, int64_t n_rows,
                                 weft_device_halos *out, int64_t *most, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_device *device = weft_setup_device(setup);
    const int64_t n_blocks = (n_rows + BLOCK_ROWS - 1) / BLOCK_ROWS;
    int64_t total = 0, sizes[2];
    int32_t fault = 0;
    weft_memory *counts = NULL, *faults = NULL, *found = NULL;
    weft_device_halos made = {0};
    weft_sell_memories sell;
    weft_sell_matrix_memories(matrix, &sell);
    TRY(weft_memory_make(device, sizeof fault, &faults, error));
    TRY(weft_memory_make_unset(device, (size_t)n_blocks * sizeof(uint32_t), &counts, error));
    const weft_setup_kernel count = {"halos", "sell_halo_counts", n_rows, n_blocks, TABLE_BYTES};
    weft_memory *const counted[] = {sell.rows,    sell.bases, sell.start, sell.column_start,
                                    sell.columns, counts,     faults};
    TRY(weft_setup_launch(setup, &count, counted, 7, error));
    TRY(weft_memory_read(faults, 0, &fault, sizeof fault, error));
    TRY(weft_addto_fault_status(fault, error));
    TRY(weft_setup_sums(setup, counts, n_blocks, &made.start, &total, error));
    TRY(weft_memory_make_unset(device, (size_t)total * sizeof(int32_t), &made.columns, error));
    const weft_setup_kernel fill = {"halos", "sell_halo_columns", n_rows, n_blocks,
                                    TABLE_BYTES + LIST_BYTES};
    weft_memory *const filled[] = {sell.rows,    sell.bases, sell.start,  sell.column_start,
                                   sell.columns, made.start, made.columns};
    TRY(weft_setup_launch(setup, &fill, filled, 7, error));
    TRY(weft_memory_make_unset(device, sizeof sizes, &found, error));
    const weft_setup_kernel look = {"addto", "addto_most", n_blocks, 1, 0};
    TRY(weft_setup_launch(setup, &look, (weft_memory *[]){made.start, sell.start, found}, 3,
                          error));
    TRY(weft_memory_read(found, 0, sizes, sizeof sizes, error));
    *most = sizes[0] - BLOCK_ROWS;
    *out = made;
    made = (weft_device_halos){0};
done:
    weft_memory_free(&faults);
    weft_memory_free(&counts);
    weft_memory_free(&found);
    weft_device_halos_free(&made);
    return status;
}

weft_status weft_device_locals_make(weft_setup *setup, const weft_device_pattern *pattern,
                                    const weft_device_halos *halos, weft_memory **out,
                                    weft_error *error) {
    weft_status status = WEFT_OK;
    weft_memory *made = NULL;
    TRY(weft_memory_make_unset(weft_setup_device(setup),
                               (size_t)pattern->n_entries * sizeof(uint16_t), &made, error));
    const weft_setup_kernel find = {"halos", "entry_locals", pattern->n_rows, count_blocks(pattern),
                                    0};
    weft_memory *const found[] = {pattern->row_start, pattern->columns, halos->start,
                                  halos->columns, made};
    TRY(weft_setup_launch(setup, &find, found, 5, error));
    *out = made;
    made = NULL;
done:
    weft_memory_free(&made);
    return status;
}
