/* Stores the layout of a symmetric matrix on a GPU and launches its kernels. */
#include "fem/base/memory.h"
#include "fem/sparse/on_device.h"
#include "fem/sparse/standalone.h"

#include <stdlib.h>

struct weft_symmetric_matrix {
    weft_device *device;
    int64_t n_rows;
    weft_memory *patches, *columns, *lists;
    weft_module *module;       /* the device's */
    weft_memory *arguments[4]; /* of the product kernel */
    weft_product_arguments rows;
};

weft_status weft_symmetric_source(const weft_limits *limits, weft_text *text, weft_error *error) {
    const weft_standalone kernel = {"symmetric", WEFT_SYMMETRIC_NODES, WEFT_SYMMETRIC_NODES,
                                    WEFT_SYMMETRIC_BLOCKS};
    return weft_standalone_source(&kernel, limits->multiprocessors, text, error);
}

/* Shared memory of a block: barrier; v of rows, empty slot and halo; y; diagonal and slots;
 * columns. */
static int shared_bytes(const weft_symmetric *symmetric) {
    size_t most = 0;
    for (int64_t p = 0; p < symmetric->n_patches; ++p) {
        const size_t n_rounds = symmetric->patches[p].n_rounds;
        const size_t n_halo = symmetric->patches[p].n_halo;
        const size_t bytes =
            16 + ((WEFT_SYMMETRIC_HALO + n_halo + 1) & ~(size_t)1) * sizeof(double) +
            WEFT_SYMMETRIC_NODES * ((n_rounds + 2) * sizeof(double) + n_rounds * sizeof(uint16_t));
        most = bytes > most ? bytes : most;
    }
    return (int)most;
}

int weft_symmetric_rounds_within(size_t onchip_bytes) {
    const size_t fixed =
        16 + (WEFT_SYMMETRIC_HALO + WEFT_SYMMETRIC_MOST_HALO + 1 + 2 * WEFT_SYMMETRIC_NODES) *
                 sizeof(double);
    const size_t round = WEFT_SYMMETRIC_NODES * (sizeof(double) + sizeof(uint16_t));
    const size_t n = onchip_bytes > fixed ? (onchip_bytes - fixed) / round : 0;
    return n < WEFT_SYMMETRIC_MOST_ROUNDS ? (int)n : WEFT_SYMMETRIC_MOST_ROUNDS;
}

/* Kernels, and the arguments of the product; the arrays exist. */
static weft_status finish(weft_symmetric_matrix *made, const weft_symmetric *symmetric,
                          weft_error *error) {
    weft_status status = WEFT_OK;
    weft_text text = {0};
    made->n_rows = symmetric->n_rows;
    TRY(weft_symmetric_source(weft_device_limits(made->device), &text, error));
    TRY(weft_device_module(made->device, "edge", text.data, &made->module, error));
    made->arguments[0] = made->patches;
    made->arguments[2] = made->columns;
    made->arguments[3] = made->lists;
    made->rows = (weft_product_arguments){.product_kernel = "edge",
                                          .arguments = made->arguments,
                                          .n_arguments = 4,
                                          .n_rows = symmetric->n_rows,
                                          .shared_bytes = shared_bytes(symmetric)};
done:
    weft_text_free(&text);
    return status;
}

weft_status weft_symmetric_matrix_make(weft_device *device, const weft_symmetric *symmetric,
                                       weft_symmetric_matrix **out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_symmetric_matrix *made = calloc(1, sizeof *made);
    if (!made)
        TRY(weft_out_of_memory(error, "an edge matrix"));
    made->device = device;
    TRY(weft_memory_place(device, symmetric->patches, (size_t)symmetric->n_patches,
                          sizeof *symmetric->patches, &made->patches, error));
    TRY(weft_memory_place(device, symmetric->columns, (size_t)symmetric->n_columns,
                          sizeof *symmetric->columns, &made->columns, error));
    TRY(weft_memory_place(device, symmetric->lists, (size_t)symmetric->n_lists,
                          sizeof *symmetric->lists, &made->lists, error));
    TRY(finish(made, symmetric, error));
    *out = made;
    made = NULL;
done:
    weft_symmetric_matrix_free(&made);
    return status;
}

weft_status weft_symmetric_matrix_from_device(weft_setup *setup, weft_device_symmetric *layout,
                                              weft_symmetric_matrix **out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_symmetric_matrix *made = calloc(1, sizeof *made);
    if (!made)
        TRY(weft_out_of_memory(error, "an edge matrix"));
    made->device = weft_setup_device(setup);
    made->patches = layout->patches;
    made->columns = layout->columns;
    made->lists = layout->lists;
    TRY(finish(made, layout->sizes, error));
    layout->patches = layout->columns = layout->lists = NULL;
    *out = made;
    made = NULL;
done:
    if (made) /* the arrays are still the layout's */
        made->patches = made->columns = made->lists = NULL;
    weft_symmetric_matrix_free(&made);
    return status;
}

void weft_symmetric_matrix_free(weft_symmetric_matrix **matrix) {
    if (!matrix || !*matrix)
        return;
    weft_memory_free(&(*matrix)->patches);
    weft_memory_free(&(*matrix)->columns);
    weft_memory_free(&(*matrix)->lists);
    free(*matrix);
    *matrix = NULL;
}

static weft_status launch(const weft_symmetric_matrix *matrix, const char *kernel,
                          weft_memory *const *arguments, int n_arguments, int bytes,
                          weft_error *error) {
    const weft_launch launched = {.module = matrix->module,
                                  .kernel = kernel,
                                  .arguments = arguments,
                                  .n_arguments = n_arguments,
                                  .n_elements = matrix->n_rows,
                                  .lanes = 32,
                                  .block_threads = WEFT_SYMMETRIC_NODES,
                                  .shared_bytes = bytes};
    return weft_device_launch(matrix->device, &launched, error);
}

const weft_product_arguments *weft_symmetric_matrix_rows(weft_symmetric_matrix *matrix,
                                                         weft_memory *values) {
    matrix->arguments[1] = values;
    return &matrix->rows;
}

weft_status weft_symmetric_matrix_product(const weft_symmetric_matrix *matrix, weft_memory *values,
                                          weft_memory *v, weft_memory *y, weft_error *error) {
    weft_memory *const arguments[] = {matrix->patches, values, matrix->columns,
                                      matrix->lists,   v,      y};
    return launch(matrix, "symmetric_product", arguments, 6, matrix->rows.shared_bytes, error);
}

weft_status weft_symmetric_matrix_diagonal(const weft_symmetric_matrix *matrix, weft_memory *values,
                                           weft_memory *d, weft_error *error) {
    weft_memory *const arguments[] = {matrix->patches, values, d};
    return launch(matrix, "symmetric_diagonal", arguments, 3, 0, error);
}
