/* Stores a SELL matrix on a GPU and launches its kernels. */
#include "fem/base/memory.h"
#include "fem/embedded_operators.h"
#include "fem/sparse/sell.h"

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

static const char prelude[] = "#ifdef __CUDACC_RTC__ /* which has no <stdint.h> */\n"
                              "typedef unsigned short uint16_t;\n"
                              "typedef int int32_t;\n"
                              "typedef unsigned int uint32_t;\n"
                              "typedef long long int64_t;\n"
                              "#else\n"
                              "#include <stdint.h>\n"
                              "#endif\n\n"
                              "#define LANES 32\n"
                              "#define INLINE static __device__ __forceinline__\n"
                              "#define UNROLL _Pragma(\"unroll\")\n"
                              "typedef double scalar;\n"
                              "typedef scalar real;\n\n";

/* The product kernel as a standalone kernel: y = A v, with nothing fused to it. */
static const char kernel_head[] =
    "extern \"C\" __global__ void __launch_bounds__(ROWS_THREADS) sell_product(\n"
    "    int64_t n_rows, const double *__restrict__ values, const uint32_t *__restrict__ start,\n"
    "    const uint32_t *__restrict__ columns, const uint32_t *__restrict__ column_start,\n"
    "    const int32_t *__restrict__ bases, const uint16_t *__restrict__ rows,\n"
    "    const double *__restrict__ v, double *__restrict__ y_out)\n"
    "{\n"
    "    extern __shared__ __align__(16) unsigned char shared[];\n"
    "    const int64_t first_row = blockIdx.x * (int64_t)ROWS_NODES;\n"
    "    real own[ROWS_PER_THREAD], y[ROWS_PER_THREAD];\n";
static const char kernel_tail[] =
    "    UNROLL for (int k = 0; k < ROWS_PER_THREAD; ++k) {\n"
    "        const int64_t row = first_row + k * ROWS_THREADS + threadIdx.x;\n"
    "        if (row < n_rows)\n"
    "            y_out[row] = y[k];\n"
    "    }\n"
    "}\n";

static const char *operator_text(const char *name) {
    for (const weft_embedded_file *file = weft_embedded_operators; file->name; ++file)
        if (strcmp(file->name, name) == 0)
            return file->text;
    return "";
}

/* The product kernel's helper functions, then the product around its body, then the other
 * kernels. */
weft_status weft_sell_source(weft_text *text, weft_error *error) {
    static const char body_line[] = "//@ body\n";
    const char *product_kernel = operator_text("sell.product.cu");
    const char *body = strstr(product_kernel, body_line);
    if (!body)
        return weft_error_set(error, WEFT_ERROR_INTERNAL, "sell.product.cu has no body");
    weft_text_add_bytes(text, prelude, sizeof prelude - 1);
    weft_text_add(text,
                  "#define ROWS_THREADS %d\n#define ROWS_NODES %d\n"
                  "#define ROWS_PER_THREAD (ROWS_NODES / ROWS_THREADS)\n#define LOAD(j) v[j]\n"
                  "#define RETURN_IF_DONE (void)0\n\n",
                  ROWS_THREADS, WEFT_SELL_ROWS);
    weft_text_add_bytes(text, product_kernel, (size_t)(body - product_kernel));
    weft_text_add_bytes(text, kernel_head, sizeof kernel_head - 1);
    weft_text_add(text, "%s", body);
    weft_text_add_bytes(text, kernel_tail, sizeof kernel_tail - 1);
    weft_text_add(text, "\n%s", operator_text("sell.support.cu"));
    return text->failed ? weft_out_of_memory(error, "a kernel's text")
                        : WEFT_OK;
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

static weft_status layout_place(weft_sell_matrix *m, const weft_sell *sell, weft_error *error) {
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
    TRY(weft_memory_make(m->device, (size_t)sell->n_values * sizeof(double), &m->values, error));
done:
    return status;
}

weft_status weft_sell_matrix_make(weft_device *device, const weft_pattern *pattern,
                                  weft_sell **layout, weft_sell_matrix **out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_sell *sell = NULL;
    weft_text text = {0};
    weft_sell_matrix *made = calloc(1, sizeof *made);
    if (!made)
        TRY(weft_out_of_memory(error, "a SELL matrix"));
    made->device = device;
    TRY(weft_sell_make(device, pattern, &sell, error));
    TRY(layout_place(made, sell, error));
    TRY(weft_sell_source(&text, error));
    TRY(weft_module_make(device, "sell", text.data, &made->module, error));
    weft_memory *const arguments[] = {made->values,       made->start, made->columns,
                                      made->column_start, made->bases, made->rows};
    memcpy(made->arguments, arguments, sizeof arguments);
    made->product_kernel =
        (weft_product_arguments){.product_kernel = "sell",
                                 .arguments = made->arguments,
                                 .n_arguments = 6,
                                 .n_rows = made->n_rows,
                                 .shared_bytes = WEFT_SELL_ROWS * (int)sizeof(double)};
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
