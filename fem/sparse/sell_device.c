/* Stores a SELL matrix on a GPU and launches its kernels. */
#include "fem/base/memory.h"
#include "fem/sparse/csr.h"
#include "fem/sparse/on_device.h"
#include "fem/sparse/sell.h"
#include "fem/sparse/standalone.h"

#include <stdlib.h>
#include <string.h>

enum { ROWS_THREADS = 256 }; /* must agree with kernels/operators/sell.product.cu */

struct weft_sell_matrix {
    weft_device *device;
    int64_t n_rows, n_blocks, n_values;
    weft_memory *values, *start, *columns, *column_start, *bases, *rows, *slots;
    /* borrowed; apart from the values, which are in half precision; otherwise NULL */
    weft_memory *diagonal;
    /* matrices that share the layout: all memories but values and diagonal; NULL: one */
    int *n_uses;
    weft_module *module;     /* the device's; NULL in single precision */
    weft_device_halos halos; /* in half precision */
    int64_t longest_halo;
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
    weft_memory **layout[] = {&m->start, &m->columns, &m->column_start,
                              &m->bases, &m->rows,    &m->slots};
    weft_memory_free(&m->values);
    weft_device_halos_free(&m->halos);
    const bool is_last = !m->n_uses || --*m->n_uses == 0;
    for (size_t i = 0; is_last && i < sizeof layout / sizeof *layout; ++i)
        weft_memory_free(layout[i]);
    if (is_last)
        free(m->n_uses);
    free(m);
    *matrix = NULL;
}

static weft_status layout_place(weft_sell_matrix *m, const weft_sell *sell, size_t value_bytes,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t n_padded = (size_t)sell->n_blocks * WEFT_SELL_ROWS;
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
    TRY(weft_memory_place(m->device, sell->rows, n_padded, sizeof *sell->rows, &m->rows, error));
    TRY(weft_memory_place(m->device, sell->slots, n_padded, sizeof *sell->slots, &m->slots, error));
    TRY(weft_memory_make(m->device, (size_t)sell->n_values * value_bytes, &m->values, error));
done:
    return status;
}

/* Kernels, and the arguments of the product; the layout and the values exist. */
static weft_status finish(weft_sell_matrix *m, bool single, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_text text = {0};
    if (!single) {
        TRY(weft_sell_source(&text, error));
        TRY(weft_device_module(m->device, "sell", text.data, &m->module, error));
    }
    weft_memory *const plain[] = {m->values,       m->start, m->columns,
                                  m->column_start, m->bases, m->rows};
    weft_memory *const half_precision[] = {m->diagonal, m->values,      m->start,
                                           m->rows,     m->halos.start, m->halos.columns};
    memcpy(m->arguments, m->diagonal ? half_precision : plain, sizeof plain);
    m->product_kernel = (weft_product_arguments){
        .product_kernel = m->diagonal ? "sell_half" : "sell",
        .arguments = m->arguments,
        .n_arguments = 6,
        .n_rows = m->n_rows,
        .shared_bytes = WEFT_SELL_ROWS * (int)(single ? sizeof(float) : sizeof(double))};
    if (m->diagonal) /* the block's part of v, its halo, sums */
        m->product_kernel.shared_bytes =
            (int)((2 * WEFT_SELL_ROWS + m->longest_halo) * (int64_t)sizeof(float));
done:
    weft_text_free(&text);
    return status;
}

weft_status weft_sell_matrix_make(weft_device *device, const weft_pattern *pattern, bool single,
                                  weft_sell **layout, weft_sell_matrix **out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_sell *sell = NULL;
    weft_sell_matrix *made = calloc(1, sizeof *made);
    if (!made)
        TRY(weft_out_of_memory(error, "a SELL matrix"));
    made->device = device;
    TRY(weft_sell_make(device, pattern, &sell, error));
    TRY(layout_place(made, sell, single ? sizeof(float) : sizeof(double), error));
    TRY(finish(made, single, error));
    *out = made;
    made = NULL;
    if (layout) {
        *layout = sell;
        sell = NULL;
    }
done:
    weft_sell_free(&sell);
    weft_sell_matrix_free(&made);
    return status;
}

/* ---- the layout made on the device (kernels/setup/sell.cu) ---- */

/* Rows by length, bases, and the starts of slices; *n_words gets the length of the columns. */
static weft_status slices_make(weft_setup *setup, weft_sell_matrix *m,
                               const weft_device_pattern *pattern, int64_t *n_words,
                               weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t n_padded = (size_t)m->n_blocks * WEFT_SELL_ROWS;
    const int64_t n_slices = m->n_blocks * WEFT_SELL_SLICES;
    const size_t bytes = (size_t)(n_slices + 1) * sizeof(uint32_t);
    weft_memory *sizes = NULL, *values = NULL, *words = NULL, *value_sums = NULL, *word_sums = NULL;
    int64_t n_values = 0;
    TRY(weft_memory_make_unset(m->device, n_padded * sizeof(uint16_t), &m->rows, error));
    TRY(weft_memory_make_unset(m->device, n_padded * sizeof(uint16_t), &m->slots, error));
    TRY(weft_memory_make_unset(m->device, (size_t)m->n_blocks * WEFT_SELL_BASES * sizeof(int32_t),
                               &m->bases, error));
    TRY(weft_memory_make_unset(m->device, bytes, &values, error));
    TRY(weft_memory_make_unset(m->device, bytes, &words, error));
    const weft_setup_kernel blocks = {"sell", "sell_blocks", m->n_rows, m->n_blocks, 0};
    weft_memory *const sorted[] = {pattern->row_start, pattern->columns, m->rows, m->slots,
                                   m->bases,           values,           words};
    TRY(weft_setup_launch(setup, &blocks, sorted, 7, error));
    TRY(weft_setup_sums(setup, values, n_slices, &value_sums, &n_values, error));
    TRY(weft_setup_sums(setup, words, n_slices, &word_sums, n_words, error));
    m->n_values = (int64_t)n_padded + n_values * WEFT_SLICE;
    *n_words *= WEFT_SLICE;
    TRY(weft_sell_check_size(m->n_values, error));
    TRY(weft_memory_make_unset(m->device, bytes, &m->start, error));
    TRY(weft_memory_make_unset(m->device, bytes, &m->column_start, error));
    TRY(weft_setup_numbers(setup, (int64_t[]){(int64_t)n_padded}, 1, &sizes, error));
    const weft_setup_kernel starts = {"sell", "sell_starts", n_slices + 1, 0, 0};
    weft_memory *const summed[] = {sizes, value_sums, word_sums, m->start, m->column_start};
    TRY(weft_setup_launch(setup, &starts, summed, 5, error));
done:
    weft_memory_free(&sizes);
    weft_memory_free(&values);
    weft_memory_free(&words);
    weft_memory_free(&value_sums);
    weft_memory_free(&word_sums);
    return status;
}

static weft_status columns_make(weft_setup *setup, weft_sell_matrix *m,
                                const weft_device_pattern *pattern, int64_t n_words,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    weft_memory *sizes = NULL;
    TRY(weft_setup_numbers(setup, &m->n_rows, 1, &sizes, error));
    TRY(weft_memory_make_unset(m->device, (size_t)n_words * sizeof(uint32_t), &m->columns, error));
    const weft_setup_kernel fill = {"sell", "sell_columns", m->n_blocks * WEFT_SELL_ROWS, 0, 0};
    weft_memory *const filled[] = {sizes,    pattern->row_start, pattern->columns, m->rows,
                                   m->bases, m->start,           m->column_start,  m->columns};
    TRY(weft_setup_launch(setup, &fill, filled, 8, error));
done:
    weft_memory_free(&sizes);
    return status;
}

weft_status weft_sell_matrix_from_device(weft_setup *setup, const weft_device_pattern *pattern,
                                         weft_sell_matrix **out, weft_error *error) {
    weft_status status = WEFT_OK;
    int64_t n_words = 0;
    weft_sell_matrix *made = calloc(1, sizeof *made);
    if (!made)
        TRY(weft_out_of_memory(error, "a SELL matrix"));
    made->device = weft_setup_device(setup);
    made->n_rows = pattern->n_rows;
    made->n_blocks = (pattern->n_rows + WEFT_SELL_ROWS - 1) / WEFT_SELL_ROWS;
    TRY(slices_make(setup, made, pattern, &n_words, error));
    TRY(columns_make(setup, made, pattern, n_words, error));
    TRY(finish(made, false, error));
    *out = made;
    made = NULL;
done:
    weft_sell_matrix_free(&made);
    return status;
}

weft_status weft_sell_matrix_make_values(weft_sell_matrix *m, weft_error *error) {
    weft_status status = WEFT_OK;
    if (m->values)
        goto done;
    TRY(weft_memory_make(m->device, (size_t)m->n_values * sizeof(double), &m->values, error));
    m->arguments[0] = m->values;
done:
    return status;
}

void weft_sell_matrix_memories(const weft_sell_matrix *m, weft_sell_memories *out) {
    *out = (weft_sell_memories){m->values, m->start, m->columns, m->column_start,
                                m->bases,  m->rows,  m->slots};
}

weft_status weft_sell_matrix_row_starts(weft_setup *setup, const weft_sell_matrix *m,
                                        weft_memory **row_start, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_memory *lengths = NULL;
    int64_t n_entries = 0;
    TRY(weft_memory_make_unset(m->device, (size_t)(m->n_rows + 1) * sizeof(uint32_t), &lengths,
                               error));
    const weft_setup_kernel kernel = {"sell", "sell_lengths", m->n_rows, 0, 0};
    weft_memory *const arguments[] = {m->slots,        m->bases,   m->start,
                                      m->column_start, m->columns, lengths};
    TRY(weft_setup_launch(setup, &kernel, arguments, 6, error));
    TRY(weft_setup_sums(setup, lengths, m->n_rows, row_start, &n_entries, error));
done:
    weft_memory_free(&lengths);
    return status;
}

weft_status weft_sell_matrix_columns(weft_setup *setup, const weft_sell_matrix *m,
                                     weft_memory *row_start, int64_t n_entries,
                                     weft_memory **columns, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_memory *made = NULL;
    TRY(weft_memory_make_unset(m->device, (size_t)n_entries * sizeof(int32_t), &made, error));
    const weft_setup_kernel kernel = {"sell", "sell_pattern", m->n_rows, 0, 0};
    weft_memory *const arguments[] = {row_start,       m->slots,   m->bases, m->start,
                                      m->column_start, m->columns, made};
    TRY(weft_setup_launch(setup, &kernel, arguments, 7, error));
    *columns = made;
    made = NULL;
done:
    weft_memory_free(&made);
    return status;
}

weft_status weft_sell_matrix_set(weft_setup *setup, const weft_device_matrix *from,
                                 weft_sell_matrix *to, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_setup_kernel kernel = {"values", "sell_values", to->n_rows, 0, 0};
    TRY(weft_sell_matrix_make_values(to, error));
    weft_memory *const arguments[] = {from->pattern.row_start,
                                      from->pattern.columns,
                                      from->values,
                                      to->slots,
                                      to->start,
                                      to->values};
    TRY(weft_setup_launch(setup, &kernel, arguments, 6, error));
done:
    return status;
}

static weft_status scale(weft_setup *setup, const weft_sell_matrix *from, weft_memory *diagonal,
                         weft_sell_matrix *to, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_memory *sizes = NULL;
    const weft_setup_kernel kernel = {"half_precision", "sell_scaled",
                                      to->n_blocks * WEFT_SELL_ROWS, 0, 0};
    TRY(weft_memory_make_unset(to->device, (size_t)to->n_values * sizeof(float), &to->values,
                               error));
    TRY(weft_setup_numbers(setup, &to->n_rows, 1, &sizes, error));
    weft_memory *const arguments[] = {sizes,    from->values, to->start,
                                      to->rows, diagonal,     to->values};
    TRY(weft_setup_launch(setup, &kernel, arguments, 6, error));
done:
    weft_memory_free(&sizes);
    return status;
}

/* The local numbers of columns, beside the values in half precision. */
static weft_status localise(weft_setup *setup, const weft_sell_matrix *from, weft_memory *sizes,
                            weft_sell_matrix *to, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_memory *const arguments[] = {sizes,           from->rows,         from->bases,
                                      from->start,     from->column_start, from->columns,
                                      to->halos.start, to->halos.columns,  to->values};
    const weft_setup_kernel kernel = {"halos", "sell_locals", to->n_blocks * WEFT_SELL_ROWS, 0, 0};
    TRY(weft_setup_launch(setup, &kernel, arguments, 9, error));
done:
    return status;
}

/* Entries off the diagonal in half precision, if they fit; otherwise the values of `to` are as before. */
static weft_status halve(weft_setup *setup, const weft_sell_matrix *from, weft_memory *diagonal,
                         weft_sell_matrix *to, weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n_padded = to->n_blocks * WEFT_SELL_ROWS;
    const size_t n_words =
        (size_t)to->n_values; /* two for two, with room for an odd entry per slot */
    int32_t is_bad = 0;
    weft_memory *sizes = NULL, *bad = NULL;
    weft_error why = {0};
    status = weft_sell_halos_make(setup, from, to->n_rows, &to->halos, &to->longest_halo, &why);
    if (status == WEFT_ERROR_UNSUPPORTED) { /* a halo is too long */
        status = WEFT_OK;
        goto done;
    }
    if (status != WEFT_OK && error)
        *error = why;
    TRY(status);
    TRY(weft_memory_make_unset(to->device, n_words * sizeof(uint32_t), &to->values, error));
    TRY(weft_setup_numbers(setup, &to->n_rows, 1, &sizes, error));
    TRY(weft_memory_make(to->device, sizeof is_bad, &bad, error));
    const weft_setup_kernel kernel = {"half_precision", "sell_half_values", n_padded, 0, 0};
    weft_memory *const arguments[] = {sizes,    from->values, to->start, to->rows,
                                      diagonal, to->values,   bad};
    TRY(weft_setup_launch(setup, &kernel, arguments, 7, error));
    TRY(weft_memory_read(bad, 0, &is_bad, sizeof is_bad, error));
    if (is_bad) {
        weft_memory_free(&to->values);
        weft_device_halos_free(&to->halos);
        goto done;
    }
    TRY(localise(setup, from, sizes, to, error));
    to->diagonal = diagonal;
done:
    weft_memory_free(&sizes);
    weft_memory_free(&bad);
    return status;
}

weft_status weft_sell_matrix_scaled(weft_setup *setup, weft_sell_matrix *matrix,
                                    weft_memory *diagonal, bool half_precision,
                                    weft_sell_matrix **out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_sell_matrix *made = calloc(1, sizeof *made);
    if (made && !matrix->n_uses && (matrix->n_uses = malloc(sizeof *matrix->n_uses)))
        *matrix->n_uses = 1;
    if (!made || !matrix->n_uses)
        TRY(weft_out_of_memory(error, "a SELL matrix"));
    *made = *matrix;
    made->values = made->diagonal = NULL;
    made->halos = (weft_device_halos){0};
    made->module = NULL;
    ++*made->n_uses;
    if (half_precision)
        TRY(halve(setup, matrix, diagonal, made, error));
    if (!made->values)
        TRY(scale(setup, matrix, diagonal, made, error));
    TRY(finish(made, true, error));
    *out = made;
    made = NULL;
done:
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

/* The dofs of cells one after another, on the device; only where set-up does not run there by way of the host. */
static weft_status place_dofs(weft_device *device, weft_connectivity *dofs, weft_memory **out,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    const int width = weft_connectivity_width(dofs);
    const size_t n = (size_t)weft_connectivity_from(dofs) * (size_t)width;
    const weft_index_map all = {.components = 1, .width = width};
    if (weft_setup_on_device(device)) {
        TRY(weft_memory_make_unset(device, n * sizeof(int32_t), out, error));
        TRY(weft_connectivity_map(dofs, &all, *out, error));
        goto done;
    }
    TRY(weft_connectivity_read(dofs, error));
    TRY(weft_memory_place(device, weft_connectivity_indices(dofs), n, sizeof(int32_t), out, error));
done:
    return status;
}

static weft_status positions_find(const weft_sell_matrix *matrix, weft_connectivity *dofs,
                                  weft_memory *positions, weft_error *error) {
    weft_status status = WEFT_OK;
    const int32_t width = weft_connectivity_width(dofs);
    const int64_t n_cells = weft_connectivity_from(dofs);
    int32_t is_missing = 0;
    weft_memory *widths = NULL, *nodes = NULL, *missing = NULL;
    TRY(weft_memory_place(matrix->device, &width, 1, sizeof width, &widths, error));
    TRY(place_dofs(matrix->device, dofs, &nodes, error));
    TRY(weft_memory_make(matrix->device, sizeof is_missing, &missing, error));
    weft_memory *const arguments[] = {
        widths,        nodes,         matrix->start, matrix->columns, matrix->column_start,
        matrix->bases, matrix->slots, positions,     missing};
    TRY(launch(matrix, "sell_positions", n_cells, arguments, 9, 0, error));
    TRY(weft_memory_read(missing, 0, &is_missing, sizeof is_missing, error));
    if (is_missing)
        status = weft_coupling_missing(error);
done:
    weft_memory_free(&widths);
    weft_memory_free(&nodes);
    weft_memory_free(&missing);
    return status;
}

weft_status weft_sell_positions(const weft_sell_matrix *matrix, weft_connectivity *dofs,
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

weft_status weft_sell_export(const weft_sell_matrix *matrix, weft_memory *row_start,
                             weft_memory *out, weft_error *error) {
    weft_memory *const arguments[] = {
        matrix->values, matrix->start, matrix->columns, matrix->column_start,
        matrix->bases,  matrix->slots, row_start,       out};
    return launch(matrix, "sell_export", matrix->n_rows, arguments, 8, 0, error);
}
