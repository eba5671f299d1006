/* OpenBLAS for weft gemm, loaded at run time. */
#include "apps/weft/gemm.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

enum { BY_COLUMNS = 102, OP_PLAIN = 111 }; /* of cblas.h; CblasTrans and CblasConjTrans follow */

typedef void real_function(int order, int op_a, int op_b, int m, int n, int k, double alpha,
                           const void *A, int lda, const void *B, int ldb, double beta, void *C,
                           int ldc);
typedef void single_function(int order, int op_a, int op_b, int m, int n, int k, float alpha,
                             const void *A, int lda, const void *B, int ldb, float beta, void *C,
                             int ldc);
typedef void complex_function(int order, int op_a, int op_b, int m, int n, int k, const void *alpha,
                              const void *A, int lda, const void *B, int ldb, const void *beta,
                              void *C, int ldc);

typedef struct openblas_state {
    single_function *single;
    real_function *real;
    complex_function *single_complex, *double_complex;
} openblas_state;

static void run_one(const openblas_state *f, const weft_gemm_product *p, int64_t x) {
    const size_t bytes = (size_t)weft_gemm_element_bytes(p->type);
    const unsigned char *A =
        (unsigned char *)weft_memory_host(p->a.memory) + (size_t)(x * p->a.stride) * bytes;
    const unsigned char *B =
        (unsigned char *)weft_memory_host(p->b.memory) + (size_t)(x * p->b.stride) * bytes;
    unsigned char *C =
        (unsigned char *)weft_memory_host(p->c.memory) + (size_t)(x * p->c.stride) * bytes;
    const int a = OP_PLAIN + (int)p->op_a, b = OP_PLAIN + (int)p->op_b;
    const int m = (int)p->m, n = (int)p->n, k = (int)p->k;
    const int lda = (int)p->a.ld, ldb = (int)p->b.ld, ldc = (int)p->c.ld;
    const float narrow[2][2] = {{1, 0}, {0, 0}};
    const double wide[2][2] = {{1, 0}, {0, 0}};
    if (p->type == WEFT_GEMM_SINGLE)
        f->single(BY_COLUMNS, a, b, m, n, k, 1, A, lda, B, ldb, 0, C, ldc);
    else if (p->type == WEFT_GEMM_DOUBLE)
        f->real(BY_COLUMNS, a, b, m, n, k, 1, A, lda, B, ldb, 0, C, ldc);
    else if (p->type == WEFT_GEMM_SINGLE_COMPLEX)
        f->single_complex(BY_COLUMNS, a, b, m, n, k, narrow[0], A, lda, B, ldb, narrow[1], C, ldc);
    else
        f->double_complex(BY_COLUMNS, a, b, m, n, k, wide[0], A, lda, B, ldb, wide[1], C, ldc);
}

static weft_status run_openblas(void *state, int form, const gemm_case *one, weft_error *error) {
    (void)form;
    (void)error;
    for (int64_t x = 0; x < one->n; ++x)
        run_one(state, &one->product, x);
    return WEFT_OK;
}

weft_status gemm_openblas_open(const gemm_case *one, gemm_rival *out, weft_error *error) {
    static const char *const names[] = {"libopenblas.so.0", "libopenblas.so", NULL};
    const char *const functions[] = {"cblas_sgemm", "cblas_dgemm",
                                     one->three ? "cblas_cgemm3m" : "cblas_cgemm",
                                     one->three ? "cblas_zgemm3m" : "cblas_zgemm"};
    weft_status status = WEFT_OK;
    void *library = NULL, *symbols[4];
    openblas_state *f = NULL;
    if (weft_device_limits(one->device)->kind != WEFT_DEVICE_HOST)
        TRY(weft_error_set(error, WEFT_ERROR_UNSUPPORTED, "OpenBLAS runs on the host only"));
    TRY(gemm_library_open(names, &library, error));
    f = calloc(1, sizeof *f);
    if (!f)
        TRY(weft_out_of_memory(error, "OpenBLAS"));
    for (int i = 0; i < 4; ++i) {
        symbols[i] = dlsym(library, functions[i]);
        if (!symbols[i])
            TRY(weft_error_set(error, WEFT_ERROR_UNSUPPORTED, "there is no %s in OpenBLAS",
                               functions[i]));
    }
    memcpy(&f->single, &symbols[0], sizeof symbols[0]);
    memcpy(&f->real, &symbols[1], sizeof symbols[1]);
    memcpy(&f->single_complex, &symbols[2], sizeof symbols[2]);
    memcpy(&f->double_complex, &symbols[3], sizeof symbols[3]);
    *out = (gemm_rival){one->three ? "openblas gemm3m" : "openblas", 1, run_openblas, free, f};
    f = NULL;
done:
    free(f);
    return status;
}
