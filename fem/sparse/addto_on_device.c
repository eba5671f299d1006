/* Lists the cells of each row of a SELL matrix on a device (kernels/setup/addto.cu). */
#include "fem/base/memory.h"
#include "fem/sparse/on_device.h"

/* What the steps share. Members are made in the order of the steps. */
typedef struct addto_steps {
    weft_setup *setup;
    const weft_sell_matrix *matrix;
    const weft_row_cells *cells;
    int64_t n_blocks, n_slices; /* of those rows */
    weft_memory *range;         /* int64_t [3]: first row, first slice, rows of the matrix */
    weft_memory *fault;
    weft_matrix_rows *made;
} addto_steps;

static weft_status check_fault(const addto_steps *s, weft_error *error) {
    weft_status status = WEFT_OK;
    int32_t fault = 0;
    TRY(weft_memory_read(s->fault, 0, &fault, sizeof fault, error));
    TRY(weft_addto_fault_status(fault, error));
done:
    return status;
}

/* Room for the words of each slice. */
static weft_status make_words(const addto_steps *s, bool with_cells, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_device *device = weft_setup_device(s->setup);
    weft_matrix_rows *made = s->made;
    weft_memory *counts = NULL, *sums = NULL;
    int64_t total = 0;
    TRY(weft_memory_make_unset(device, (size_t)s->n_slices * sizeof(uint32_t), &counts, error));
    const weft_setup_kernel count = {"addto", "addto_counts", s->cells->rows.n, s->n_blocks, 0};
    weft_memory *const counted[] = {s->range, s->cells->start, weft_sell_matrix_rows(s->matrix),
                                    counts};
    TRY(weft_setup_launch(s->setup, &count, counted, 4, error));
    TRY(weft_setup_sums(s->setup, counts, s->n_slices, &sums, &total, error));
    total *= WEFT_SLICE;
    if (total > (int64_t)UINT32_MAX)
        TRY(weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                           "too many cells to make rows by their owners"));
    TRY(weft_memory_make_unset(device, weft_memory_bytes(weft_sell_matrix_start(s->matrix)),
                               &made->word_start, error));
    const weft_setup_kernel start = {"addto", "word_starts", s->n_slices + 1, 0, 0};
    weft_memory *const started[] = {s->range, sums, made->word_start};
    TRY(weft_setup_launch(s->setup, &start, started, 3, error));
    TRY(weft_memory_make_unset(device, (size_t)total * sizeof(uint64_t), &made->words, error));
    if (with_cells)
        TRY(weft_memory_make_unset(device, (size_t)total * sizeof(int32_t), &made->cells, error));
done:
    weft_memory_free(&counts);
    weft_memory_free(&sums);
    return status;
}

static weft_status fill_words(const addto_steps *s, weft_connectivity *dofs, bool with_cells,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    const int lanes = weft_device_limits(weft_setup_device(s->setup))->lanes_double;
    weft_matrix_rows *made = s->made;
    weft_memory *sizes = NULL, *indices = NULL;
    weft_sell_memories sell;
    const int64_t numbers[] = {s->cells->rows.n, weft_connectivity_width(dofs), lanes, with_cells};
    TRY(weft_connectivity_interleaved(dofs, lanes, &indices, error));
    TRY(weft_setup_numbers(s->setup, numbers, 4, &sizes, error));
    weft_sell_matrix_memories(s->matrix, &sell);
    weft_memory *const filled[] = {sizes,
                                   s->range,
                                   indices,
                                   s->cells->start,
                                   s->cells->places,
                                   sell.rows,
                                   sell.bases,
                                   sell.start,
                                   sell.column_start,
                                   sell.columns,
                                   made->halo_start,
                                   made->halo,
                                   made->word_start,
                                   made->words,
                                   with_cells ? made->cells : s->fault,
                                   s->fault};
    const weft_setup_kernel fill = {"addto", "addto_words", s->n_blocks * WEFT_SELL_ROWS, 0, 0};
    TRY(weft_setup_launch(s->setup, &fill, filled, 16, error));
    TRY(check_fault(s, error));
done:
    weft_memory_free(&sizes);
    return status;
}

static weft_status find_most(const addto_steps *s, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_memory *most = NULL;
    int64_t found[2] = {0};
    TRY(weft_memory_make_unset(weft_setup_device(s->setup), sizeof found, &most, error));
    const int64_t n_blocks = (s->made->n_rows + WEFT_SELL_ROWS - 1) / WEFT_SELL_ROWS;
    const weft_setup_kernel kernel = {"addto", "addto_most", n_blocks, 1, 0};
    weft_memory *const arguments[] = {s->made->halo_start, weft_sell_matrix_start(s->matrix), most};
    TRY(weft_setup_launch(s->setup, &kernel, arguments, 3, error));
    TRY(weft_memory_read(most, 0, found, sizeof found, error));
    s->made->most_local = (int)found[0];
    s->made->most_values = found[1];
done:
    weft_memory_free(&most);
    return status;
}

weft_status weft_addto_rows_on_device(weft_setup *setup, const weft_sell_matrix *matrix,
                                      const weft_device_halos *halos, weft_connectivity *dofs,
                                      const weft_row_cells *cells, bool with_cells,
                                      weft_matrix_rows *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n_rows = weft_connectivity_to(dofs), first = cells->rows.first;
    const int64_t n_blocks = (cells->rows.n + WEFT_SELL_ROWS - 1) / WEFT_SELL_ROWS;
    const int64_t range[] = {first, first / WEFT_SLICE, n_rows};
    weft_matrix_rows made = {
        .n_rows = n_rows, .n_blocks = n_blocks, .halo_start = halos->start, .halo = halos->columns};
    addto_steps s = {.setup = setup,
                     .matrix = matrix,
                     .cells = cells,
                     .n_blocks = n_blocks,
                     .n_slices = n_blocks * WEFT_SELL_SLICES,
                     .made = &made};
    TRY(weft_addto_check(dofs, weft_sell_matrix_product_kernel(matrix)->n_rows, error));
    TRY(weft_memory_make(weft_setup_device(setup), sizeof(int32_t), &s.fault, error));
    TRY(weft_setup_numbers(setup, range, 3, &s.range, error));
    TRY(weft_setup_numbers(setup, (int64_t[]){first / WEFT_SELL_ROWS}, 1, &made.first, error));
    TRY(make_words(&s, with_cells, error));
    TRY(fill_words(&s, dofs, with_cells, error));
    TRY(find_most(&s, error));
    *out = made;
    made = (weft_matrix_rows){0};
done:
    weft_memory_free(&s.fault);
    weft_memory_free(&s.range);
    made.halo_start = made.halo = NULL; /* borrowed */
    weft_addto_rows_free(&made);
    return status;
}
