/* Stores the layout of a symmetric matrix on a GPU and launches its kernels. */
#include "fem/base/memory.h"
#include "fem/embedded_operators.h"
#include "fem/sparse/symmetric.h"

#include <stdlib.h>
#include <string.h>

struct weft_symmetric_matrix {
    weft_device *device;
    int64_t n_rows;
    weft_memory *patches, *columns, *lists;
    weft_module *module;
    weft_memory *arguments[4]; /* of the product kernel */
    weft_product_arguments rows;
};

static const char head[] =
    "#ifdef __CUDACC_RTC__ /* which has no <stdint.h> */\n"
    "typedef unsigned short uint16_t;\n"
    "typedef int int32_t;\n"
    "typedef unsigned int uint32_t;\n"
    "typedef long long int64_t;\n"
    "#else\n"
    "#include <stdint.h>\n"
    "#endif\n\n"
    "#define INLINE static __device__ __forceinline__\n"
    "#define UNROLL _Pragma(\"unroll\")\n"
    "#define ROWS_THREADS 512\n"
    "#define ROWS_NODES 512\n"
    "#define ROWS_PER_THREAD 1\n"
    "#define LOAD(j) v[j]\n"
    "#define RETURN_IF_DONE (void)0\n"
    "typedef double scalar;\n"
    "typedef scalar real;\n\n"
    "extern \"C\" __global__ void symmetric_diagonal(int64_t n_rows, const int64_t *patches,\n"
    "                                         const double *values, double *d)\n"
    "{\n"
    "    const int64_t i = blockIdx.x * (int64_t)ROWS_NODES + threadIdx.x;\n"
    "    if (i < n_rows)\n"
    "        d[i] = values[patches[blockIdx.x * (int64_t)4] + threadIdx.x];\n"
    "}\n\n";

/* The product kernel as a standalone kernel: y = A v, with nothing fused to it. */
static const char product_head[] =
    "extern \"C\" __global__ void __launch_bounds__(ROWS_BOUNDS) symmetric_product(\n"
    "    int64_t n_rows, const int64_t *__restrict__ patches, const double *__restrict__ values,\n"
    "    const uint16_t *__restrict__ columns, const int32_t *__restrict__ lists,\n"
    "    const double *__restrict__ v, double *__restrict__ y_out)\n"
    "{\n"
    "    extern __shared__ __align__(16) unsigned char shared[];\n"
    "    const int64_t first_row = blockIdx.x * (int64_t)ROWS_NODES;\n"
    "    real own[ROWS_PER_THREAD], y[ROWS_PER_THREAD];\n";
static const char product_tail[] = "    if (first_row + threadIdx.x < n_rows)\n"
                                   "        y_out[first_row + threadIdx.x] = y[0];\n"
                                   "}\n";

weft_status weft_symmetric_source(const weft_limits *limits, weft_text *text, weft_error *error) {
    static const char body_line[] = "//@ body\n";
    const char *product_kernel = NULL, *body = NULL;
    for (const weft_embedded_file *file = weft_embedded_operators; file->name; ++file)
        if (strcmp(file->name, "symmetric.product.cu") == 0)
            product_kernel = file->text;
    if (product_kernel)
        body = strstr(product_kernel, body_line);
    if (!body)
        return weft_error_set(error, WEFT_ERROR_INTERNAL, "symmetric.product.cu has no body");
    weft_text_add_bytes(text, head, sizeof head - 1);
    weft_text_add(text,
                  "#define ROWS_BOUNDS ROWS_THREADS, %d\n"
                  "#define ROWS_RESIDENT %d /* blocks that the device runs at once */\n",
                  WEFT_SYMMETRIC_BLOCKS, WEFT_SYMMETRIC_BLOCKS * limits->multiprocessors);
    weft_text_add_bytes(text, product_kernel, (size_t)(body - product_kernel));
    weft_text_add(text, "%s%s%s", product_head, body, product_tail);
    return text->failed ? weft_out_of_memory(error, "a kernel's text")
                        : WEFT_OK;
}

/* Shared memory of a block: barrier; v of rows, empty slot and halo; y; diagonal and slots;
 * columns. */
static int shared_bytes(const weft_symmetric *symmetric, size_t value_bytes) {
    size_t most = 0;
    for (int64_t p = 0; p < symmetric->n_patches; ++p) {
        const size_t n_rounds = symmetric->patches[p].n_rounds,
                     n_halo = symmetric->patches[p].n_halo;
        const size_t bytes =
            16 + ((WEFT_SYMMETRIC_HALO + n_halo + 1) & ~(size_t)1) * sizeof(double) +
            WEFT_SYMMETRIC_NODES *
                (sizeof(double) + (n_rounds + 1) * value_bytes + n_rounds * sizeof(uint16_t));
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

weft_status weft_symmetric_matrix_make(weft_device *device, const weft_symmetric *symmetric,
                                       bool single, weft_symmetric_matrix **out,
                                       weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t n_patches = (size_t)symmetric->n_patches;
    weft_text text = {0};
    weft_symmetric_matrix *made = calloc(1, sizeof *made);
    weft_symmetric_patch *patches = calloc(n_patches + 1, sizeof *patches);
    if (!made || !patches)
        TRY(weft_out_of_memory(error, "an edge matrix"));
    made->device = device;
    made->n_rows = symmetric->n_rows;
    for (size_t p = 0; p < n_patches; ++p) {
        patches[p] = symmetric->patches[p];
        patches[p].n_rounds |= single ? WEFT_SYMMETRIC_SINGLE : 0;
    }
    TRY(weft_memory_place(device, patches, n_patches, sizeof *patches, &made->patches, error));
    TRY(weft_memory_place(device, symmetric->columns, (size_t)symmetric->n_columns,
                          sizeof *symmetric->columns, &made->columns, error));
    TRY(weft_memory_place(device, symmetric->lists, (size_t)symmetric->n_lists,
                          sizeof *symmetric->lists, &made->lists, error));
    TRY(weft_symmetric_source(weft_device_limits(device), &text, error));
    TRY(weft_module_make(device, "edge", text.data, &made->module, error));
    made->arguments[0] = made->patches;
    made->arguments[2] = made->columns;
    made->arguments[3] = made->lists;
    made->rows = (weft_product_arguments){
        .product_kernel = "edge",
        .arguments = made->arguments,
        .n_arguments = 4,
        .n_rows = symmetric->n_rows,
        .shared_bytes = shared_bytes(symmetric, single ? sizeof(float) : sizeof(double))};
    *out = made;
    made = NULL;
done:
    free(patches);
    weft_text_free(&text);
    weft_symmetric_matrix_free(&made);
    return status;
}

void weft_symmetric_matrix_free(weft_symmetric_matrix **matrix) {
    if (!matrix || !*matrix)
        return;
    weft_memory_free(&(*matrix)->patches);
    weft_memory_free(&(*matrix)->columns);
    weft_memory_free(&(*matrix)->lists);
    weft_module_free(&(*matrix)->module);
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
