/* Stores a SELL matrix on a GPU and launches its kernels. */
#include "fem/base/memory.h"
#include "fem/sparse/sell.h"
#include "fem/sparse/standalone.h"

#include <stdlib.h>
#include <string.h>

enum { ROWS_THREADS = 256 }; /* must agree with kernels/operators/sell.product.cu */

struct weft_sell_matrix {
    weft_device *device;
    int64_t n_rows, n_blocks, n_values;
    weft_memory *values, *start, *columns, *column_start, *bases, *rows, *slots;
    weft_module *module;
    weft_memory *arguments[6]; /* of the product kernel */
    weft_product_arguments product_kernel;
};

weft_status weft_sell_source(weft_text *text, weft_error *error) {
    const weft_standalone kernel = {"sell", ROWS_THREADS, WEFT_SELL_ROWS, 0};
    return weft_standalone_source(&kernel, 0, text, error);
}

void weft_sell_matrix_free(weft_sell_matrix **matrix) {
    if (!matrix || !*matrix)
        return;
    weft_sell_matrix *m = *matrix;
    weft_memory **memories[] = {&m->values, &m->start, &m->columns, &m->column_start,
                                &m->bases,  &m->rows,  &m->slots};
    for (size_t i = 0; i < sizeof memories / sizeof *memories; ++i)
        weft_memory_free(memories[i]);
    weft_module_free(&m->module);
    free(m);
    *matrix = NULL;
}

static weft_status layout_place(weft_sell_matrix *m, const weft_sell *sell, size_t value_bytes,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t n_places = (size_t)sell->n_blocks * WEFT_SELL_ROWS;
    const size_t n_starts = (size_t)sell->n_blocks * WEFT_SELL_SLICES + 1;
    const size_t n_bases = (size_t)sell->n_blocks * WEFT_SELL_BASES;
    m->n_rows = sell->n_rows;
    m->n_blocks = sell->n_blocks;
    m->n_values = sell->n_values;
    TRY(weft_memory_place(m->device, sell->start, n_starts, sizeof *sell->start, &m->start, error));
    TRY(weft_memory_place(m->device, sell->columns, (size_t)sell->n_words, sizeof *sell->columns,
                          &m->columns, error));
    TRY(weft_memory_place(m->device, sell->column_start, n_starts, sizeof *sell->column_start,
                          &m->column_start, error));
    TRY(weft_memory_place(m->device, sell->bases, n_bases, sizeof *sell->bases, &m->bases, error));
    TRY(weft_memory_place(m->device, sell->rows, n_places, sizeof *sell->rows, &m->rows, error));
    TRY(weft_memory_place(m->device, sell->slots, n_places, sizeof *sell->slots, &m->slots, error));
    TRY(weft_memory_make(m->device, (size_t)sell->n_values * value_bytes, &m->values, error));
done:
    return status;
}

weft_status weft_sell_matrix_make(weft_device *device, const weft_pattern *pattern, bool single,
                                  weft_sell **layout, weft_sell_matrix **out, weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t value_bytes = single ? sizeof(float) : sizeof(double);
    weft_sell *sell = NULL;
    weft_text text = {0};
    weft_sell_matrix *made = calloc(1, sizeof *made);
    if (!made)
        TRY(weft_out_of_memory(error, "a SELL matrix"));
    made->device = device;
    TRY(weft_sell_make(device, pattern, &sell, error));
    TRY(layout_place(made, sell, value_bytes, error));
    if (!single) {
        TRY(weft_sell_source(&text, error));
        TRY(weft_module_make(device, "sell", text.data, &made->module, error));
    }
    weft_memory *const arguments[] = {made->values,       made->start, made->columns,
                                      made->column_start, made->bases, made->rows};
    memcpy(made->arguments, arguments, sizeof arguments);
    made->product_kernel =
        (weft_product_arguments){.product_kernel = "sell",
                                 .arguments = made->arguments,
                                 .n_arguments = 6,
                                 .n_rows = made->n_rows,
                                 .shared_bytes = WEFT_SELL_ROWS * (int)value_bytes};
    *out = made;
    made = NULL;
    if (layout) {
        *layout = sell;
        sell = NULL;
    }
done:
    weft_text_free(&text);
    weft_sell_free(&sell);
    weft_sell_matrix_free(&made);
    return status;
}

weft_memory *weft_sell_matrix_values(const weft_sell_matrix *matrix) {
    return matrix->values;
}

const weft_product_arguments *weft_sell_matrix_product_kernel(const weft_sell_matrix *matrix) {
    return &matrix->product_kernel;
}

weft_memory *weft_sell_matrix_start(const weft_sell_matrix *matrix) {
    return matrix->start;
}

weft_memory *weft_sell_matrix_rows(const weft_sell_matrix *matrix) {
    return matrix->rows;
}

/* n_blocks 0: one thread per element, without shared memory; otherwise the product's blocks. */
static weft_status launch(const weft_sell_matrix *matrix, const char *kernel, int64_t n,
                          weft_memory *const *arguments, int n_arguments, int64_t n_blocks,
                          weft_error *error) {
    const weft_launch launched = {.module = matrix->module,
                                  .kernel = kernel,
                                  .arguments = arguments,
                                  .n_arguments = n_arguments,
                                  .n_elements = n,
                                  .lanes = WEFT_SLICE,
                                  .block_threads = ROWS_THREADS,
                                  .n_blocks = n_blocks,
                                  .shared_bytes =
                                      n_blocks > 0 ? WEFT_SELL_ROWS * (int)sizeof(double) : 0};
    return weft_device_launch(matrix->device, &launched, error);
}

static weft_status positions_find(const weft_sell_matrix *matrix, const weft_connectivity *dofs,
                                  weft_memory *positions, weft_error *error) {
    weft_status status = WEFT_OK;
    const int32_t width = weft_connectivity_width(dofs);
    const int64_t n_cells = weft_connectivity_from(dofs);
    int32_t is_missing = 0;
    weft_memory *widths = NULL, *nodes = NULL, *missing = NULL;
    TRY(weft_memory_place(matrix->device, &width, 1, sizeof width, &widths, error));
    TRY(weft_memory_place(matrix->device, weft_connectivity_indices(dofs),
                          (size_t)n_cells * (size_t)width, sizeof(int32_t), &nodes, error));
    TRY(weft_memory_make(matrix->device, sizeof is_missing, &missing, error));
    weft_memory *const arguments[] = {
        widths,        nodes,         matrix->start, matrix->columns, matrix->column_start,
        matrix->bases, matrix->slots, positions,     missing};
    TRY(launch(matrix, "sell_positions", n_cells, arguments, 9, 0, error));
    TRY(weft_memory_read(missing, 0, &is_missing, sizeof is_missing, error));
    if (is_missing) {
        status = weft_error_set(error, WEFT_ERROR_SHAPE,
                                "the pattern lacks couplings of this connectivity");
        weft_error_hint(error, "make the pattern from a connectivity that contains them");
    }
done:
    weft_memory_free(&widths);
    weft_memory_free(&nodes);
    weft_memory_free(&missing);
    return status;
}

weft_status weft_sell_positions(const weft_sell_matrix *matrix, const weft_connectivity *dofs,
                                weft_memory **positions, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_memory *made = NULL;
    const size_t width = (size_t)weft_connectivity_width(dofs);
    const size_t n_blocks = ((size_t)weft_connectivity_from(dofs) + WEFT_SLICE - 1) / WEFT_SLICE;
    size_t bytes;
    if (weft_connectivity_to(dofs) != matrix->n_rows)
        TRY(weft_error_set(error, WEFT_ERROR_SHAPE,
                           "a connectivity to %lld dofs and a matrix of %lld rows",
                           (long long)weft_connectivity_to(dofs), (long long)matrix->n_rows));
    if (__builtin_mul_overflow(n_blocks, width * width * WEFT_SLICE * sizeof(uint32_t), &bytes))
        TRY(weft_error_set(error, WEFT_ERROR_MEMORY, "too many cells for matrix positions"));
    TRY(weft_memory_make(matrix->device, bytes, &made, error));
    TRY(positions_find(matrix, dofs, made, error));
    *positions = made;
    made = NULL;
done:
    weft_memory_free(&made);
    return status;
}

weft_status weft_sell_product(const weft_sell_matrix *matrix, weft_memory *v, weft_memory *y,
                              weft_error *error) {
    weft_memory *const arguments[] = {matrix->values,
                                      matrix->start,
                                      matrix->columns,
                                      matrix->column_start,
                                      matrix->bases,
                                      matrix->rows,
                                      v,
                                      y};
    return launch(matrix, "sell_product", matrix->n_rows, arguments, 8, matrix->n_blocks, error);
}

weft_status weft_sell_diagonal(const weft_sell_matrix *matrix, weft_memory *d, weft_error *error) {
    weft_memory *const arguments[] = {matrix->values, d};
    return launch(matrix, "sell_diagonal", matrix->n_rows, arguments, 2, 0, error);
}

weft_status weft_sell_export(const weft_sell_matrix *matrix, const weft_pattern *pattern,
                             weft_memory *out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_memory *row_start = NULL;
    TRY(weft_memory_place(matrix->device, pattern->row_start, (size_t)pattern->n_rows + 1,
                          sizeof(int64_t), &row_start, error));
    weft_memory *const arguments[] = {
        matrix->values, matrix->start, matrix->columns, matrix->column_start,
        matrix->bases,  matrix->slots, row_start,       out};
    TRY(launch(matrix, "sell_export", matrix->n_rows, arguments, 8, 0, error));
done:
    weft_memory_free(&row_start);
    return status;
}
