/* Finds the halos of blocks of rows on a device (kernels/setup/halos.cu). */
#include "fem/base/memory.h"
#include "fem/sparse/on_device.h"

#include <string.h>

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

/* The halos of a matrix, whose columns the kernels find by the first arguments. */
typedef struct halo_matrix {
    const char *count, *list; /* kernels */
    int64_t n_rows;
    weft_memory *arguments[5];
    int n_arguments;
} halo_matrix;

static weft_status make_halos(weft_setup *setup, const halo_matrix *matrix, weft_device_halos *out,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    weft_device *device = weft_setup_device(setup);
    const int64_t n_blocks = (matrix->n_rows + BLOCK_ROWS - 1) / BLOCK_ROWS;
    const int n = matrix->n_arguments;
    int64_t total = 0;
    int32_t fault = 0;
    weft_memory *counts = NULL, *faults = NULL, *arguments[7];
    weft_device_halos made = {0};
    memcpy(arguments, matrix->arguments, sizeof matrix->arguments);
    TRY(weft_memory_make(device, sizeof fault, &faults, error));
    TRY(weft_memory_make_unset(device, (size_t)n_blocks * sizeof(uint32_t), &counts, error));
    const weft_setup_kernel count = {"halos", matrix->count, matrix->n_rows, n_blocks, TABLE_BYTES};
    arguments[n] = counts;
    arguments[n + 1] = faults;
    TRY(weft_setup_launch(setup, &count, arguments, n + 2, error));
    TRY(weft_memory_read(faults, 0, &fault, sizeof fault, error));
    TRY(weft_addto_fault_status(fault, error));
    TRY(weft_setup_sums(setup, counts, n_blocks, &made.start, &total, error));
    TRY(weft_memory_make_unset(device, (size_t)total * sizeof(int32_t), &made.columns, error));
    const weft_setup_kernel list = {"halos", matrix->list, matrix->n_rows, n_blocks,
                                    TABLE_BYTES + LIST_BYTES};
    arguments[n] = made.start;
    arguments[n + 1] = made.columns;
    TRY(weft_setup_launch(setup, &list, arguments, n + 2, error));
    *out = made;
    made = (weft_device_halos){0};
done:
    weft_memory_free(&faults);
    weft_memory_free(&counts);
    weft_device_halos_free(&made);
    return status;
}

weft_status weft_device_halos_make(weft_setup *setup, const weft_device_pattern *pattern,
                                   weft_device_halos *out, weft_error *error) {
    const halo_matrix matrix = {
        "halo_counts", "halo_columns", pattern->n_rows, {pattern->row_start, pattern->columns}, 2};
    return make_halos(setup, &matrix, out, error);
}

weft_status weft_sell_halos_make(weft_setup *setup, const weft_sell_matrix *matrix, int64_t n_rows,
                                 weft_device_halos *out, int64_t *most, weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n_blocks = (n_rows + BLOCK_ROWS - 1) / BLOCK_ROWS;
    int64_t sizes[2];
    weft_memory *found = NULL;
    weft_device_halos made = {0};
    weft_sell_memories sell;
    weft_sell_matrix_memories(matrix, &sell);
    const halo_matrix of = {"sell_halo_counts",
                            "sell_halo_columns",
                            n_rows,
                            {sell.rows, sell.bases, sell.start, sell.column_start, sell.columns},
                            5};
    TRY(make_halos(setup, &of, &made, error));
    TRY(weft_memory_make_unset(weft_setup_device(setup), sizeof sizes, &found, error));
    const weft_setup_kernel look = {"addto", "addto_most", n_blocks, 1, 0};
    TRY(weft_setup_launch(setup, &look, (weft_memory *[]){made.start, sell.start, found}, 3,
                          error));
    TRY(weft_memory_read(found, 0, sizes, sizeof sizes, error));
    *most = sizes[0] - BLOCK_ROWS;
    *out = made;
    made = (weft_device_halos){0};
done:
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
