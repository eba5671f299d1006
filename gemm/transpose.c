/* Transposes factors before a product whose kernel is faster with them the other way. The copies, which are kept with
 * the kernels, cost twice the bytes of the factor: below a hundredth of a product of thousands of rows. */
#include "gemm/kernels.h"

#include <string.h>

/* As in kernels/gemm/transpose.cu. */
typedef struct transpose_values {
    int64_t rows, columns, ld, first, stride, to_ld, to_stride, conjugate;
} transpose_values;

enum { SIDE = 32, THREADS = 256, RUN = 16 /* bytes, of which columns take a multiple */ };

/* The layout of a transposed factor; n: matrices of the batch. */
static transpose_values values_of(const weft_gemm_product *p, int64_t n, int factor) {
    const weft_gemm_matrix *matrix = factor == 0 ? &p->a : &p->b;
    const weft_gemm_op op = factor == 0 ? p->op_a : p->op_b;
    const int64_t down = factor == 0 ? p->m : p->k, across = factor == 0 ? p->k : p->n;
    const int bytes = weft_gemm_element_bytes(p->type), run = RUN / bytes;
    transpose_values v = {.rows = op == WEFT_GEMM_PLAIN ? down : across,
                          .columns = op == WEFT_GEMM_PLAIN ? across : down,
                          .ld = matrix->ld,
                          .first = matrix->first,
                          .stride = n > 1 ? matrix->stride : 0,
                          .conjugate = op == WEFT_GEMM_CONJUGATE_TRANSPOSED};
    v.to_ld = (v.columns + run - 1) / run * run;
    v.to_stride = v.stride != 0 ? v.to_ld * v.rows : 0;
    return v;
}

weft_gemm_product weft_gemm_transposed(const weft_gemm_product *product, int64_t n,
                                       int transposed) {
    weft_gemm_product out = *product;
    for (int factor = 0; factor < 2; ++factor)
        if (transposed >> factor & 1) {
            const transpose_values v = values_of(product, n, factor);
            weft_gemm_op *op = factor == 0 ? &out.op_a : &out.op_b;
            weft_gemm_matrix *matrix = factor == 0 ? &out.a : &out.b;
            *op = *op == WEFT_GEMM_PLAIN ? WEFT_GEMM_TRANSPOSED : WEFT_GEMM_PLAIN;
            *matrix = (weft_gemm_matrix){
                .memory = matrix->memory, .ld = v.to_ld > 0 ? v.to_ld : 1, .stride = v.to_stride};
        }
    return out;
}

static weft_status find_module(weft_gemm_kernels *kernels, weft_gemm_type type,
                               weft_module **module, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_text source = {0};
    const bool single = type == WEFT_GEMM_SINGLE || type == WEFT_GEMM_SINGLE_COMPLEX;
    weft_text_add(&source, "#define COMPLEX %d\n#define SINGLE %d\n", weft_gemm_is_complex(type),
                  single);
    TRY(weft_gemm_source_file("device.cu", &source, error));
    TRY(weft_gemm_source_file("transpose.cu", &source, error));
    TRY(weft_gemm_compile(kernels, &source, module, error));
done:
    weft_text_free(&source);
    return status;
}

static weft_status transpose(weft_gemm_kernels *kernels, const weft_gemm_product *product,
                             int64_t n, int factor, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_module *module = NULL;
    weft_memory **to = &kernels->transposed[factor];
    const transpose_values v = values_of(product, n, factor);
    const int64_t matrices = v.stride != 0 ? n : 1;
    const size_t entry = (size_t)weft_gemm_element_bytes(product->type);
    const size_t bytes = (size_t)(v.to_ld * v.rows * matrices) * entry;
    if (bytes == 0)
        goto done;
    TRY(find_module(kernels, product->type, &module, error));
    if (!*to || weft_memory_bytes(*to) < bytes) {
        weft_memory_free(to);
        TRY(weft_memory_make_unset(kernels->device, bytes, to, error));
    }
    weft_memory *arguments[] = {factor == 0 ? product->a.memory : product->b.memory, *to};
    TRY(weft_device_launch(kernels->device,
                           &(weft_launch){.module = module,
                                          .kernel = "transpose",
                                          .arguments = arguments,
                                          .n_arguments = 2,
                                          .values = &v,
                                          .n_elements = matrices,
                                          .lanes = 1,
                                          .block_threads = THREADS,
                                          .shared_bytes = SIDE * (SIDE + 1) * (int)entry,
                                          .n_blocks = (v.rows + SIDE - 1) / SIDE *
                                                      ((v.columns + SIDE - 1) / SIDE) * matrices},
                           error));
done:
    return status;
}

weft_status weft_gemm_transpose(weft_gemm_kernels *kernels, const weft_gemm_product *product,
                                int64_t n, int transposed, weft_gemm_product *out,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    *out = weft_gemm_transposed(product, n, transposed);
    for (int factor = 0; factor < 2; ++factor)
        if (transposed >> factor & 1) {
            TRY(transpose(kernels, product, n, factor, error));
            if (kernels->transposed[factor])
                *(factor == 0 ? &out->a.memory : &out->b.memory) = kernels->transposed[factor];
        }
done:
    return status;
}
