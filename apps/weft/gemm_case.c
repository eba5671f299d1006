/* Data of weft gemm, and its check against sums in twice the precision. */
#include "apps/weft/gemm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PERIOD = 1048573 /* a prime */, SAMPLES = 2048 };

static bool is_single(weft_gemm_type type) {
    return type == WEFT_GEMM_SINGLE || type == WEFT_GEMM_SINGLE_COMPLEX;
}

/* ---- data ----------------------------------------------------------------------------------- */

static weft_status make_period(gemm_case *one, weft_error *error) {
    uint64_t x = 20111;
    one->n_period = PERIOD;
    one->period = malloc(PERIOD * sizeof *one->period);
    if (!one->period)
        return weft_out_of_memory(error, "numbers");
    for (int i = 0; i < PERIOD; ++i) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        const double value = (double)(int64_t)(x >> 11) * 0x1p-52 - 1;
        one->period[i] = is_single(one->product.type) ? (double)(float)value : value;
    }
    return WEFT_OK;
}

/* `reals` numbers: the period, repeated. */
static weft_status make_matrix(const gemm_case *one, int64_t reals, weft_memory **out,
                               weft_error *error) {
    weft_status status = WEFT_OK;
    weft_memory *memory = NULL;
    const bool single = is_single(one->product.type);
    const size_t size = single ? sizeof(float) : sizeof(double);
    float *narrow = NULL;
    const void *bytes = one->period;
    if (single) {
        narrow = malloc(PERIOD * sizeof *narrow);
        if (!narrow)
            TRY(weft_out_of_memory(error, "numbers"));
        for (int i = 0; i < PERIOD; ++i)
            narrow[i] = (float)one->period[i];
        bytes = narrow;
    }
    TRY(weft_memory_make_unset(one->device, (size_t)reals * size, &memory, error));
    for (int64_t at = 0; at < reals; at += PERIOD)
        TRY(weft_memory_write(memory, (size_t)at * size, bytes,
                              (size_t)(reals - at < PERIOD ? reals - at : PERIOD) * size, error));
    *out = memory;
    memory = NULL;
done:
    weft_memory_free(&memory);
    free(narrow);
    return status;
}

weft_status gemm_case_make(weft_device *device, weft_gemm_type type, const int64_t sizes[3],
                           int64_t n, gemm_case *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const int parts = weft_gemm_is_complex(type) ? 2 : 1;
    gemm_case one = {
        .device = device,
        .n = n,
        .product = {.type = type, .m = sizes[0], .n = sizes[1], .k = sizes[2], .alpha = {1, 0}}};
    TRY(make_period(&one, error));
    TRY(make_matrix(&one, n * sizes[0] * sizes[2] * parts, &one.product.a.memory, error));
    TRY(make_matrix(&one, n * sizes[2] * sizes[1] * parts, &one.product.b.memory, error));
    TRY(make_matrix(&one, n * sizes[0] * sizes[1] * parts, &one.product.c.memory, error));
    *out = one;
    one = (gemm_case){0};
done:
    gemm_case_free(&one);
    return status;
}

void gemm_case_free(gemm_case *one) {
    weft_memory_free(&one->product.a.memory);
    weft_memory_free(&one->product.b.memory);
    weft_memory_free(&one->product.c.memory);
    free(one->period);
    one->period = NULL;
}

void gemm_case_set(gemm_case *one, weft_gemm_op op_a, weft_gemm_op op_b) {
    weft_gemm_product *p = &one->product;
    p->op_a = op_a;
    p->op_b = op_b;
    p->a.ld = op_a == WEFT_GEMM_PLAIN ? p->m : p->k;
    p->b.ld = op_b == WEFT_GEMM_PLAIN ? p->k : p->n;
    p->c.ld = p->m;
    p->a.stride = p->m * p->k;
    p->b.stride = p->k * p->n;
    p->c.stride = p->m * p->n;
}

double gemm_flops(const weft_gemm_product *p) {
    return (weft_gemm_is_complex(p->type) ? 8.0 : 2.0) * (double)p->m * (double)p->n * (double)p->k;
}

void gemm_tiling_add(const weft_gemm_point *point, weft_gemm_type type, weft_text *out) {
    const int *v = point->values;
    if (point->stencil == WEFT_GEMM_MMA)
        weft_text_add(out, "%d x %d x %d | %d warps of %d x %d", v[MMA_BM], v[MMA_BN],
                      v[MMA_KB] * 128 / weft_gemm_element_bytes(type),
                      v[MMA_BM] / v[MMA_WM] * (v[MMA_BN] / v[MMA_WN]), v[MMA_WM], v[MMA_WN]);
    else if (point->stencil == WEFT_GEMM_FMA)
        weft_text_add(out, "%d x %d x %d | %d threads of %d x %d", v[FMA_BM], v[FMA_BN], v[FMA_BK],
                      v[FMA_BM] / v[FMA_TM] * (v[FMA_BN] / v[FMA_TN]), v[FMA_TM], v[FMA_TN]);
    else
        weft_text_add(out, "%d x %d x %d | micro-tile of %d x %d", v[HOST_MC], v[HOST_NC],
                      v[HOST_KC], v[HOST_MR], v[HOST_NR]);
}

/* ---- check ---------------------------------------------------------------------------------- */

/* A sum of products without rounding errors but its own last, some 2^-105; and of absolute values.
 * Source  Ogita, Rump and Oishi 2005, algorithm 5.3 */
typedef struct exact_sum {
    double high, low, absolute;
} exact_sum;

static void add_product(exact_sum *s, double a, double b) {
    const double p = a * b, e = fma(a, b, -p);
    const double t = s->high + p, z = t - s->high;
    s->low += (s->high - (t - z)) + (p - z) + e;
    s->high = t;
    s->absolute += fabs(p);
}

/* Part of entry (i, j) of op(M), of product x. */
static double entry(const gemm_case *one, const weft_gemm_matrix *matrix, weft_gemm_op op,
                    int64_t i, int64_t j, int64_t x, int part) {
    const int parts = weft_gemm_is_complex(one->product.type) ? 2 : 1;
    const int64_t at =
        x * matrix->stride + (op == WEFT_GEMM_PLAIN ? i + j * matrix->ld : j + i * matrix->ld);
    const double value = one->period[(at * parts + part) % PERIOD];
    return part == 1 && op == WEFT_GEMM_CONJUGATE_TRANSPOSED ? -value : value;
}

/* Both parts of entry (i, j) of product x. */
static void sum_entry(const gemm_case *one, int64_t i, int64_t j, int64_t x, exact_sum sum[2]) {
    const weft_gemm_product *p = &one->product;
    const bool complex = weft_gemm_is_complex(p->type);
    double three = 0;
    sum[0] = sum[1] = (exact_sum){0};
    for (int64_t l = 0; l < p->k; ++l) {
        const double a = entry(one, &p->a, p->op_a, i, l, x, 0);
        const double b = entry(one, &p->b, p->op_b, l, j, x, 0);
        add_product(&sum[0], a, b);
        if (complex) {
            const double a_im = entry(one, &p->a, p->op_a, i, l, x, 1);
            const double b_im = entry(one, &p->b, p->op_b, l, j, x, 1);
            add_product(&sum[0], -a_im, b_im);
            add_product(&sum[1], a, b_im);
            add_product(&sum[1], a_im, b);
            three +=
                (fabs(a) + fabs(a_im)) * (fabs(b) + fabs(b_im)) + fabs(a * b) + fabs(a_im * b_im);
        }
    }
    if (one->three)
        sum[1].absolute = three;
}

static weft_status read_entry(const gemm_case *one, int64_t at, double out[2], weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t bytes = (size_t)weft_gemm_element_bytes(one->product.type);
    double wide[2] = {0};
    float narrow[2] = {0};
    const bool single = is_single(one->product.type);
    TRY(weft_memory_read(one->product.c.memory, (size_t)at * bytes,
                         single ? (void *)narrow : (void *)wide, bytes, error));
    for (int part = 0; part < 2; ++part)
        out[part] = single ? (double)narrow[part] : wide[part];
done:
    return status;
}

weft_status gemm_case_error(const gemm_case *one, double *out, uint64_t *hash, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_gemm_product *p = &one->product;
    const int parts = weft_gemm_is_complex(p->type) ? 2 : 1;
    const int64_t entries = p->m * p->n * one->n;
    const int64_t samples = entries < SAMPLES ? entries : SAMPLES;
    uint64_t x = 1;
    *out = 0;
    *hash = 14695981039346656037u; /* FNV-1a */
    for (int64_t s = 0; s < samples; ++s) {
        double got[2];
        exact_sum want[2];
        x = x * 6364136223846793005u + 1442695040888963407u;
        const int64_t at = entries == samples ? s : (int64_t)((x >> 20) % (uint64_t)entries);
        const int64_t i = at % p->m, j = at / p->m % p->n, product = at / (p->m * p->n);
        TRY(read_entry(one, at, got, error));
        sum_entry(one, i, j, product, want);
        for (int part = 0; part < parts; ++part) {
            const double difference = fabs((got[part] - want[part].high) - want[part].low);
            uint64_t bits = 0;
            memcpy(&bits, &got[part], sizeof bits);
            *hash = (*hash ^ bits) * 1099511628211u;
            if (!(difference <= *out * want[part].absolute)) /* NaN too */
                *out = difference / want[part].absolute;
        }
    }
done:
    return status;
}
