/* Copies the list of cells of each row to a device's memory. */
#include "fem/base/memory.h"
#include "fem/sparse/addto.h"

weft_status weft_addto_rows_make(weft_device *device, const weft_sell *layout,
                                 const weft_pattern *pattern, const weft_connectivity *dofs,
                                 bool with_cells, weft_matrix_rows *out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_addto *addto = NULL;
    weft_matrix_rows made = {0};
    TRY(weft_addto_make(device, dofs, pattern, layout, with_cells, &addto, error));
    const size_t n_blocks = (size_t)addto->n_blocks, n_words = (size_t)addto->n_words;
    const int64_t first = 0;
    made.n_rows = layout->n_rows;
    made.n_blocks = layout->n_blocks;
    made.most_local = addto->most_local;
    made.most_values = addto->most_values;
    TRY(weft_memory_place(device, addto->word_start, n_blocks * WEFT_SELL_SLICES + 1,
                          sizeof *addto->word_start, &made.word_start, error));
    TRY(weft_memory_place(device, addto->words, n_words, sizeof *addto->words, &made.words, error));
    TRY(weft_memory_place(device, addto->halo_start, n_blocks + 1, sizeof *addto->halo_start,
                          &made.halo_start, error));
    TRY(weft_memory_place(device, addto->halo, (size_t)addto->n_halo, sizeof *addto->halo,
                          &made.halo, error));
    TRY(weft_memory_place(device, &first, 1, sizeof first, &made.first, error));
    if (with_cells)
        TRY(weft_memory_place(device, addto->cells, n_words, sizeof *addto->cells, &made.cells,
                              error));
    *out = made;
    made = (weft_matrix_rows){0};
done:
    weft_addto_free(&addto);
    weft_addto_rows_free(&made);
    return status;
}

void weft_addto_rows_free(weft_matrix_rows *rows) {
    weft_memory_free(&rows->word_start);
    weft_memory_free(&rows->words);
    weft_memory_free(&rows->halo_start);
    weft_memory_free(&rows->halo);
    weft_memory_free(&rows->first);
    weft_memory_free(&rows->cells);
    *rows = (weft_matrix_rows){0};
}
