/* Computes complex products by three real ones (3M):
 *
 *     P1 = Re A Re B,  P2 = Im A Im B,  P3 = (Re A + Im A) (Re B + Im B)
 *     A B = P1 - P2 + i (P3 - P1 - P2)
 *
 * Parts of A, B and of the products are real matrices of their own; memory for them is kept with
 * the kernels.
 * Source  Higham, Stability of a method for multiplying complex matrices with three real matrix
 *         multiplications, 1992 */
#include "gemm/kernels.h"

#include <stdlib.h>
#include <string.h>

/* As in kernels/gemm/parts.cu. */
typedef struct parts_values {
    int64_t rows, columns, ld, first, stride, part_ld, part_stride, plane;
    double alpha[2], beta[2], sign;
} parts_values;

enum { THREADS = 256, RUN = 4 /* columns of parts begin at multiples of 16 bytes */ };

double weft_gemm_3m_bound(weft_gemm_type type, int64_t k) {
    const double unit = type == WEFT_GEMM_SINGLE_COMPLEX ? 0x1p-24 : 0x1p-53;
    const double n = (double)(k + 4) * unit;
    return n < 1 ? n / (1 - n) : 1;
}

static bool is_single(const weft_gemm_product *p) {
    return p->type == WEFT_GEMM_SINGLE_COMPLEX;
}

/* ---- layout --------------------------------------------------------------------------------- */

/* `n` complex matrices of a batch, and their parts: three times columns behind one another. */
static parts_values parts_of(const weft_gemm_matrix *matrix, int64_t rows, int64_t columns,
                             int64_t n, bool conjugate) {
    parts_values v = {.rows = rows,
                      .columns = columns,
                      .ld = matrix->ld,
                      .first = matrix->first,
                      .stride = n > 1 ? matrix->stride : 0,
                      .part_ld = (rows + RUN - 1) / RUN * RUN,
                      .alpha = {1, 0},
                      .sign = conjugate ? -1 : 1};
    v.part_stride = v.part_ld * columns;
    v.plane = v.part_stride * n;
    return v;
}

typedef enum operand { OPERAND_A, OPERAND_B, OPERAND_C, OPERANDS } operand;

/* The layout of each operand's parts. Of an operand that all products share there is one. */
static void layout(const weft_gemm_product *p, int64_t n, parts_values v[OPERANDS]) {
    const bool a = p->op_a != WEFT_GEMM_PLAIN, b = p->op_b != WEFT_GEMM_PLAIN;
    v[OPERAND_A] = parts_of(&p->a, a ? p->k : p->m, a ? p->m : p->k, p->a.stride != 0 ? n : 1,
                            p->op_a == WEFT_GEMM_CONJUGATE_TRANSPOSED);
    v[OPERAND_B] = parts_of(&p->b, b ? p->n : p->k, b ? p->k : p->n, p->b.stride != 0 ? n : 1,
                            p->op_b == WEFT_GEMM_CONJUGATE_TRANSPOSED);
    v[OPERAND_C] = parts_of(&p->c, p->m, p->n, n, false);
    memcpy(v[OPERAND_C].alpha, p->alpha, sizeof p->alpha);
    memcpy(v[OPERAND_C].beta, p->beta, sizeof p->beta);
}

weft_gemm_product weft_gemm_3m_real(const weft_gemm_product *product, int64_t n) {
    parts_values v[OPERANDS];
    weft_gemm_product real = *product;
    weft_gemm_matrix *matrices[] = {&real.a, &real.b, &real.c};
    layout(product, n, v);
    real.type = is_single(product) ? WEFT_GEMM_SINGLE : WEFT_GEMM_DOUBLE;
    if (real.op_a != WEFT_GEMM_PLAIN)
        real.op_a = WEFT_GEMM_TRANSPOSED;
    if (real.op_b != WEFT_GEMM_PLAIN)
        real.op_b = WEFT_GEMM_TRANSPOSED;
    real.alpha[0] = 1;
    real.alpha[1] = real.beta[0] = real.beta[1] = 0;
    for (int i = 0; i < OPERANDS; ++i)
        *matrices[i] = (weft_gemm_matrix){
            .ld = v[i].part_ld > 0 ? v[i].part_ld : 1,
            .stride = v[i].plane > v[i].part_stride || i == OPERAND_C ? v[i].part_stride : 0};
    return real;
}

/* ---- kernels -------------------------------------------------------------------------------- */

static weft_status find_module(weft_gemm_kernels *kernels, bool single, weft_module **module,
                               weft_error *error) {
    weft_status status = WEFT_OK;
    weft_text source = {0};
    weft_text_add(&source, "#define SINGLE %d\n#define ON_HOST %d\n", single,
                  kernels->limits.vector_bytes > 0);
    TRY(weft_gemm_source_file("parts.cu", &source, error));
    TRY(weft_gemm_compile(kernels, &source, module, error));
done:
    weft_text_free(&source);
    return status;
}

/* Run "split" or "join" on `columns` columns, those of all matrices. */
static weft_status run_parts(weft_gemm_kernels *kernels, const weft_module *module,
                             const char *name, weft_memory *from, weft_memory *to,
                             const parts_values *v, weft_error *error) {
    const int64_t columns = v->part_ld > 0 ? v->plane / v->part_ld : 0;
    const bool on_host = kernels->limits.vector_bytes > 0;
    weft_memory *arguments[] = {from, to};
    if (columns == 0)
        return WEFT_OK;
    return weft_device_launch(kernels->device,
                              &(weft_launch){.module = module,
                                             .kernel = name,
                                             .arguments = arguments,
                                             .n_arguments = 2,
                                             .values = v,
                                             .n_elements = on_host ? columns : columns * v->rows,
                                             .lanes = 1,
                                             .block_threads = on_host ? 0 : THREADS},
                              error);
}

static weft_status make_memory(weft_gemm_kernels *kernels, const parts_values v[OPERANDS],
                               bool single, weft_error *error) {
    weft_status status = WEFT_OK;
    for (int i = 0; i < OPERANDS; ++i) {
        const size_t bytes =
            3 * (size_t)v[i].plane * (single ? sizeof(float) : sizeof(double)) + 16;
        if (kernels->parts[i] && weft_memory_bytes(kernels->parts[i]) >= bytes)
            continue;
        weft_memory_free(&kernels->parts[i]);
        TRY(weft_memory_make_unset(kernels->device, bytes, &kernels->parts[i], error));
    }
done:
    return status;
}

weft_status weft_gemm_3m_run(weft_gemm_kernels *kernels, const weft_gemm_product *product,
                             int64_t n, const weft_gemm_point *point, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_module *module = NULL;
    parts_values v[OPERANDS];
    weft_memory *const complex[] = {product->a.memory, product->b.memory, product->c.memory};
    if (!weft_gemm_is_complex(product->type))
        TRY(weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                           "3m multiplies complex matrices: types C and Z"));
    TRY(weft_gemm_check(product, n, error));
    if (product->m == 0 || product->n == 0 || n == 0)
        goto done;
    if (product->alpha[0] == 0 && product->alpha[1] == 0) { /* C = beta C */
        TRY(weft_gemm_batched(kernels, product, n, error));
        goto done;
    }
    layout(product, n, v);
    TRY(make_memory(kernels, v, is_single(product), error));
    TRY(find_module(kernels, is_single(product), &module, error));
    for (int i = 0; i < OPERAND_C; ++i)
        TRY(run_parts(kernels, module, "split", complex[i], kernels->parts[i], &v[i], error));
    weft_gemm_product real = weft_gemm_3m_real(product, n);
    real.a.memory = kernels->parts[OPERAND_A];
    real.b.memory = kernels->parts[OPERAND_B];
    real.c.memory = kernels->parts[OPERAND_C];
    for (int part = 0; part < 3; ++part) {
        real.a.first = part * v[OPERAND_A].plane;
        real.b.first = part * v[OPERAND_B].plane;
        real.c.first = part * v[OPERAND_C].plane;
        TRY(weft_gemm_run(kernels, &real, n, point, error));
    }
    TRY(run_parts(kernels, module, "join", kernels->parts[OPERAND_C], product->c.memory,
                  &v[OPERAND_C], error));
done:
    return status;
}

weft_status weft_gemm_3m(weft_gemm_kernels *kernels, const weft_gemm_product *product, int64_t n,
                         weft_error *error) {
    const weft_gemm_product real = weft_gemm_3m_real(product, n);
    const weft_gemm_point point = weft_gemm_choose(kernels, &real, n);
    return weft_gemm_3m_run(kernels, product, n, &point, error);
}
