/* Computes products with triangles by the kernels of general products: SYRK leaves out the blocks of the other triangle, SYMM
 * multiplies by a copy with all entries, TRMM and TRSM go block by block. A block on the diagonal is a small matrix of its own:
 * a product whose triangle is merged into C (SYRK), a copy with zeros outside of the triangle (TRMM), or its inverse (TRSM).
 * Source  Kagstrom, Ling and Van Loan, GEMM-based level 3 BLAS, 1998 */
#include "gemm/kernels.h"

#include <stdlib.h>

/* As in kernels/gemm/triangle.cu. */
typedef struct triangle_values {
    int64_t rows, columns, from_first, from_ld, to_first, to_ld, block, upper, unit;
    double beta;
} triangle_values;

enum { THREADS = 256, DIAGONAL_ROWS = 64, SYRK_ROWS = 512 };

/* A run of a routine: constant while it goes over the blocks. */
typedef struct triangular_run {
    weft_gemm_kernels *kernels;
    const weft_gemm_triangular_call *call;
    weft_module *module;
    int64_t block;
    bool is_lower; /* op(A) is */
} triangular_run;

/* ---- kernels -------------------------------------------------------------------------------- */

static weft_status find_module(weft_gemm_kernels *kernels, weft_gemm_type type,
                               weft_module **module, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_text source = {0};
    weft_text_add(&source, "#define SINGLE %d\n#define ON_HOST %d\n", type == WEFT_GEMM_SINGLE,
                  kernels->limits.vector_bytes > 0);
    TRY(weft_gemm_source_file("triangle.cu", &source, error));
    TRY(weft_gemm_compile(kernels, &source, module, error));
done:
    weft_text_free(&source);
    return status;
}

/* by_column: a thread computes a column, else an entry. */
static weft_status launch(const triangular_run *r, const char *name, bool by_column,
                          weft_memory *from, weft_memory *to, const triangle_values *v,
                          weft_error *error) {
    const bool on_host = r->kernels->limits.vector_bytes > 0;
    weft_memory *arguments[] = {from, to};
    if (v->columns == 0 || v->rows == 0)
        return WEFT_OK;
    return weft_device_launch(
        r->kernels->device,
        &(weft_launch){.module = r->module,
                       .kernel = name,
                       .arguments = arguments,
                       .n_arguments = 2,
                       .values = v,
                       .n_elements = on_host || by_column ? v->columns : v->columns * v->rows,
                       .lanes = 1,
                       .block_threads = on_host ? 0 : THREADS},
        error);
}

/* Memory for a matrix of its own, kept with the kernels. */
static weft_status need(const triangular_run *r, int number, int64_t entries, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_memory **memory = &r->kernels->triangles[number];
    const size_t bytes = (size_t)entries * (size_t)weft_gemm_element_bytes(r->call->type) + 16;
    if (*memory && weft_memory_bytes(*memory) >= bytes)
        goto done;
    weft_memory_free(memory);
    TRY(weft_memory_make_unset(r->kernels->device, bytes, memory, error));
done:
    return status;
}

/* ---- products ------------------------------------------------------------------------------- */

/* Rows from i and columns from j on of op(A). */
static weft_gemm_matrix part_of_a(const triangular_run *r, int64_t i, int64_t j) {
    weft_gemm_matrix a = r->call->a;
    a.first += r->call->op_a == WEFT_GEMM_PLAIN ? i + j * a.ld : j + i * a.ld;
    return a;
}

static weft_gemm_matrix rows_of(weft_gemm_matrix matrix, int64_t i) {
    matrix.first += i;
    return matrix;
}

/* c = alpha op(a) op(b) + beta c with the type of the call; sizes: m, n, k */
static weft_status multiply(const triangular_run *r, weft_gemm_product p, const int64_t sizes[3],
                            double alpha, double beta, weft_error *error) {
    p.type = r->call->type;
    p.m = sizes[0];
    p.n = sizes[1];
    p.k = sizes[2];
    p.alpha[0] = alpha;
    p.beta[0] = beta;
    return p.m == 0 || p.n == 0 ? WEFT_OK : weft_gemm(r->kernels, &p, error);
}

/* ---- routines ------------------------------------------------------------------------------- */

/* C = alpha op(A) op(A)^T + beta C, one triangle. */
static weft_status run_syrk(const triangular_run *r, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_gemm_triangular_call *c = r->call;
    const weft_gemm_op other = c->op_a == WEFT_GEMM_PLAIN ? WEFT_GEMM_TRANSPOSED : WEFT_GEMM_PLAIN;
    TRY(need(r, 0, r->block * r->block, error));
    for (int64_t j = 0; j < c->m; j += r->block) {
        const int64_t width = c->m - j < r->block ? c->m - j : r->block;
        const int64_t first = c->upper ? 0 : j + width, rows = c->upper ? j : c->m - j - width;
        const weft_gemm_matrix right = part_of_a(r, j, 0),
                               square = {.memory = r->kernels->triangles[0], .ld = r->block};
        weft_gemm_matrix beside = c->c;
        beside.first += first + j * beside.ld;
        TRY(multiply(r,
                     (weft_gemm_product){.op_a = c->op_a,
                                         .op_b = other,
                                         .a = part_of_a(r, first, 0),
                                         .b = right,
                                         .c = beside},
                     (const int64_t[]){rows, width, c->n}, c->alpha, c->beta, error));
        TRY(multiply(r,
                     (weft_gemm_product){
                         .op_a = c->op_a, .op_b = other, .a = right, .b = right, .c = square},
                     (const int64_t[]){width, width, c->n}, c->alpha, 0, error));
        TRY(launch(r, "merge", false, square.memory, c->c.memory,
                   &(triangle_values){.rows = width,
                                      .columns = width,
                                      .from_ld = r->block,
                                      .to_first = c->c.first + j + j * c->c.ld,
                                      .to_ld = c->c.ld,
                                      .upper = c->upper,
                                      .beta = c->beta},
                   error));
    }
done:
    return status;
}

/* C = alpha A B + beta C, A symmetric. */
static weft_status run_symm(const triangular_run *r, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_gemm_triangular_call *c = r->call;
    const int64_t ld = (c->m + 3) / 4 * 4;
    TRY(need(r, 0, ld * c->m, error));
    TRY(launch(r, "mirror", false, c->a.memory, r->kernels->triangles[0],
               &(triangle_values){.rows = c->m,
                                  .columns = c->m,
                                  .from_first = c->a.first,
                                  .from_ld = c->a.ld,
                                  .to_ld = ld,
                                  .upper = c->upper},
               error));
    TRY(multiply(r,
                 (weft_gemm_product){
                     .a = {.memory = r->kernels->triangles[0], .ld = ld}, .b = c->b, .c = c->c},
                 (const int64_t[]){c->m, c->n, c->m}, c->alpha, c->beta, error));
done:
    return status;
}

/* The blocks on the diagonal, or their inverses: column j of the matrix is column j here, of `block` rows. */
static weft_status make_blocks(const triangular_run *r, const char *name, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_gemm_triangular_call *c = r->call;
    TRY(need(r, 0, c->m * r->block, error));
    TRY(launch(r, name, name[0] == 'i', c->a.memory, r->kernels->triangles[0],
               &(triangle_values){.rows = r->block,
                                  .columns = c->m,
                                  .from_first = c->a.first,
                                  .from_ld = c->a.ld,
                                  .block = r->block,
                                  .upper = c->upper,
                                  .unit = c->unit},
               error));
done:
    return status;
}

/* The block rows of op(A) to the left of the diagonal, or to the right of it. */
static void find_others(const triangular_run *r, int64_t i, int64_t width, int64_t *first,
                        int64_t *n) {
    *first = r->is_lower ? 0 : i + width;
    *n = r->is_lower ? i : r->call->m - i - width;
}

/* C = alpha op(A) B */
static weft_status run_trmm(const triangular_run *r, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_gemm_triangular_call *c = r->call;
    TRY(make_blocks(r, "blocks", error));
    for (int64_t i = 0; i < c->m; i += r->block) {
        const int64_t width = c->m - i < r->block ? c->m - i : r->block;
        int64_t first = 0, n = 0;
        find_others(r, i, width, &first, &n);
        const weft_gemm_matrix block = {
            .memory = r->kernels->triangles[0], .first = i * r->block, .ld = r->block};
        TRY(multiply(r,
                     (weft_gemm_product){
                         .op_a = c->op_a, .a = block, .b = rows_of(c->b, i), .c = rows_of(c->c, i)},
                     (const int64_t[]){width, c->n, width}, c->alpha, 0, error));
        if (n > 0)
            TRY(multiply(r,
                         (weft_gemm_product){.op_a = c->op_a,
                                             .a = part_of_a(r, i, first),
                                             .b = rows_of(c->b, first),
                                             .c = rows_of(c->c, i)},
                         (const int64_t[]){width, c->n, n}, c->alpha, 1, error));
    }
done:
    return status;
}

/* C = alpha op(A)^-1 C: the rows that are known are subtracted, then a block is multiplied by its inverse. */
static weft_status run_trsm(const triangular_run *r, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_gemm_triangular_call *c = r->call;
    const int64_t n_blocks = (c->m + r->block - 1) / r->block;
    TRY(make_blocks(r, "invert", error));
    TRY(need(r, 1, r->block * c->n, error));
    for (int64_t step = 0; step < n_blocks; ++step) {
        const int64_t i = (r->is_lower ? step : n_blocks - 1 - step) * r->block;
        const int64_t width = c->m - i < r->block ? c->m - i : r->block;
        int64_t first = 0, n = 0;
        find_others(r, i, width, &first, &n);
        const weft_gemm_matrix inverse = {
            .memory = r->kernels->triangles[0], .first = i * r->block, .ld = r->block};
        const weft_gemm_matrix solved = {.memory = r->kernels->triangles[1], .ld = r->block};
        if (n > 0)
            TRY(multiply(r,
                         (weft_gemm_product){.op_a = c->op_a,
                                             .a = part_of_a(r, i, first),
                                             .b = rows_of(c->c, first),
                                             .c = rows_of(c->c, i)},
                         (const int64_t[]){width, c->n, n}, -1, c->alpha, error));
        TRY(multiply(
            r,
            (weft_gemm_product){.op_a = c->op_a, .a = inverse, .b = rows_of(c->c, i), .c = solved},
            (const int64_t[]){width, c->n, width}, n > 0 ? 1 : c->alpha, 0, error));
        TRY(launch(r, "copy", false, solved.memory, c->c.memory,
                   &(triangle_values){.rows = width,
                                      .columns = c->n,
                                      .from_ld = r->block,
                                      .to_first = c->c.first + i,
                                      .to_ld = c->c.ld},
                   error));
    }
done:
    return status;
}

/* ---- the call ------------------------------------------------------------------------------- */

static weft_status check_matrix(const char *name, const weft_gemm_matrix *matrix, int64_t rows,
                                int64_t columns, int bytes, weft_error *error) {
    const int64_t last =
        rows > 0 && columns > 0 ? matrix->first + rows + (columns - 1) * matrix->ld : matrix->first;
    if (matrix->memory && matrix->first >= 0 && matrix->ld >= rows && matrix->ld > 0 &&
        last <= (int64_t)(weft_memory_bytes(matrix->memory) / (size_t)bytes))
        return WEFT_OK;
    return weft_error_set(error, WEFT_ERROR_SHAPE,
                          "%s, of %lld rows and %lld columns, does not fit into its memory", name,
                          (long long)rows, (long long)columns);
}

static weft_status check_call(const weft_gemm_triangular_call *c, weft_error *error) {
    weft_status status = WEFT_OK;
    const bool syrk = c->routine == WEFT_GEMM_SYRK, plain = c->op_a == WEFT_GEMM_PLAIN;
    const int64_t most = 0x7fffffff;
    if (c->type != WEFT_GEMM_SINGLE && c->type != WEFT_GEMM_DOUBLE)
        TRY(weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                           "products with triangles are of types S and D"));
    if (c->m < 0 || c->n < 0 || c->m > most || c->n > most)
        TRY(weft_error_set(error, WEFT_ERROR_SHAPE, "sizes are from 0 to %lld", (long long)most));
    const int bytes = weft_gemm_element_bytes(c->type);
    TRY(check_matrix("A", &c->a, syrk && !plain ? c->n : c->m, syrk && plain ? c->n : c->m, bytes,
                     error));
    if (c->routine == WEFT_GEMM_SYMM || c->routine == WEFT_GEMM_TRMM)
        TRY(check_matrix("B", &c->b, c->m, c->n, bytes, error));
    TRY(check_matrix("C", &c->c, c->m, syrk ? c->m : c->n, bytes, error));
done:
    return status;
}

weft_status weft_gemm_triangular(weft_gemm_kernels *kernels, const weft_gemm_triangular_call *call,
                                 weft_error *error) {
    weft_status status = WEFT_OK;
    static weft_status (*const routines[])(const triangular_run *,
                                           weft_error *) = {[WEFT_GEMM_SYRK] = run_syrk,
                                                            [WEFT_GEMM_SYMM] = run_symm,
                                                            [WEFT_GEMM_TRMM] = run_trmm,
                                                            [WEFT_GEMM_TRSM] = run_trsm};
    triangular_run r = {.kernels = kernels,
                        .call = call,
                        .block = call->routine == WEFT_GEMM_SYRK && call->m >= 8 * SYRK_ROWS
                                     ? SYRK_ROWS
                                     : DIAGONAL_ROWS,
                        .is_lower = call->upper == (call->op_a != WEFT_GEMM_PLAIN)};
    TRY(check_call(call, error));
    if (call->m == 0 || (call->n == 0 && call->routine != WEFT_GEMM_SYRK))
        goto done;
    TRY(find_module(kernels, call->type, &r.module, error));
    TRY(routines[call->routine](&r, error));
done:
    return status;
}
