/* Writes the source of a kernel: macros, then the stencil. */
#include "gemm/embedded_gemm.h"
#include "gemm/kernels.h"

#include <string.h>

int weft_gemm_element_bytes(weft_gemm_type type) {
    static const int bytes[WEFT_GEMM_TYPES] = {4, 8, 8, 16};
    return bytes[type];
}

bool weft_gemm_is_complex(weft_gemm_type type) {
    return type == WEFT_GEMM_SINGLE_COMPLEX || type == WEFT_GEMM_DOUBLE_COMPLEX;
}

weft_status weft_gemm_source_file(const char *name, weft_text *out, weft_error *error) {
    for (const weft_embedded_file *file = weft_embedded_gemm; file->name; ++file)
        if (strcmp(file->name, name) == 0) {
            weft_text_add(out, "%s", file->text);
            return WEFT_OK;
        }
    return weft_error_set(error, WEFT_ERROR_INTERNAL, "the library has no kernels/gemm/%s", name);
}

weft_status weft_gemm_source(const weft_gemm_variant *variant, const weft_gemm_point *point,
                             weft_text *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_gemm_stencil *stencil = &weft_gemm_stencils[point->stencil];
    const bool complex = weft_gemm_is_complex(variant->shape.type);
    const bool single =
        variant->shape.type == WEFT_GEMM_SINGLE || variant->shape.type == WEFT_GEMM_SINGLE_COMPLEX;
    const bool swap = point->stencil == WEFT_GEMM_MMA && point->values[MMA_SWAP] != 0;
    /* k is contiguous in A^T and in B */
    const bool along[2] = {variant->op_a != WEFT_GEMM_PLAIN, variant->op_b == WEFT_GEMM_PLAIN};
    const bool conjugate[2] = {complex && variant->op_a == WEFT_GEMM_CONJUGATE_TRANSPOSED,
                               complex && variant->op_b == WEFT_GEMM_CONJUGATE_TRANSPOSED};
    for (int i = 0; i < stencil->n; ++i)
        weft_text_add(out, "#define %s %d\n", stencil->parameters[i].name, point->values[i]);
    weft_text_add(out, "#define COMPLEX %d\n#define SINGLE %d\n", complex, single);
    weft_text_add(out, "#define A_ALONG_K %d\n#define B_ALONG_K %d\n", along[swap], along[!swap]);
    weft_text_add(out, "#define A_CONJUGATE %d\n#define B_CONJUGATE %d\n", conjugate[swap],
                  conjugate[!swap]);
    weft_text_add(out, "#define C_TRANSPOSED %d\n#define EDGES %d\n#define ALIGNED %d\n", swap,
                  variant->edges, variant->aligned);
    if (point->stencil >= WEFT_GEMM_SMALL && point->stencil != WEFT_GEMM_HOST)
        weft_text_add(out, "#define SM %d\n#define SN %d\n#define SK %d\n", (int)variant->shape.m,
                      (int)variant->shape.n, (int)variant->shape.k);
    weft_text_add(out, "#define WHOLE_CHUNKS %d\n#define SHIFTED %d\n", variant->whole_chunks,
                  variant->shifted);
    weft_text_add(out, "#define PERSISTENT %d\n#define NAME product\n", variant->persistent);
    if (variant->vector_bytes > 0)
        weft_text_add(out, "#define VECTOR_BYTES %d\n", variant->vector_bytes);
    else {
        TRY(weft_gemm_source_file("device.cu", out, error));
        TRY(weft_gemm_source_file("units.cu", out, error));
    }
    if (point->stencil == WEFT_GEMM_DIRECT || point->stencil == WEFT_GEMM_BATCH)
        weft_text_add(out, "#define PACKED %d\n", variant->packed);
    if (point->stencil == WEFT_GEMM_DIRECT) {
        weft_text_add(out, "typedef %s real;\n#define MATRIX_DEPTH %d\n",
                      single ? "float" : "double", single ? 0 : variant->matrix_depth);
        /* entries that are contiguous in shared memory are read four at once */
        const bool staged = single && !complex && point->values[DIRECT_STAGED] != 0;
        weft_text_add(out, "#define ROWS_RUN %d\n#define COLUMNS_RUN %d\n",
                      staged && !along[0] && point->values[DIRECT_M] % 2 == 0, staged && !along[1]);
        TRY(weft_gemm_source_file("tile.cu", out, error));
        if (complex)
            TRY(weft_gemm_source_file("complex_tile.cu", out, error));
    }
    TRY(weft_gemm_source_file(stencil->file, out, error));
    if (point->stencil == WEFT_GEMM_FMA)
        TRY(weft_gemm_source_file(
            point->values[FMA_IN_PLACE] ? "fma_in_place.cu" : "fma_transpose.cu", out, error));
    if (out->failed)
        status = weft_out_of_memory(error, "a kernel's source");
done:
    return status;
}
