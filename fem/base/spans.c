/* Sets, changes and sums spans of vectors, by loops on the host and by kernels on a GPU. */
#include "fem/base/spans.h"
#include "fem/base/memory.h"
#include "fem/weft_space.h"
#include "fusion/setup/setup.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* PARTS: tasks of the host, of which sums depend; BLOCK_ENTRIES: a thread block of a sum has as many at least */
enum { PARTS = 256, BLOCKS_MOST = 1024, BLOCK_ENTRIES = 2048, NUMBERS = 4, SUMS = 3 };

struct weft_spans {
    weft_device *device;
    weft_setup *setup;             /* of a GPU; NULL: the host, or nothing is computed */
    weft_memory *numbers, *blocks; /* [NUMBERS] of a launch, [BLOCKS_MOST][SUMS] */
};

weft_status weft_spans_make(weft_device *device, weft_spans **out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_spans *made = calloc(1, sizeof *made);
    if (!made)
        TRY(weft_out_of_memory(error, "spans of vectors"));
    made->device = device;
    if (weft_setup_on_device(device)) {
        TRY(weft_setup_make(device, &made->setup, error));
        TRY(weft_memory_make(device, NUMBERS * sizeof(double), &made->numbers, error));
        TRY(weft_memory_make(device, (size_t)BLOCKS_MOST * SUMS * sizeof(double), &made->blocks,
                             error));
    }
    *out = made;
    made = NULL;
done:
    weft_spans_free(&made);
    return status;
}

void weft_spans_free(weft_spans **out) {
    weft_spans *spans = out ? *out : NULL;
    if (!spans)
        return;
    weft_memory_free(&spans->numbers);
    weft_memory_free(&spans->blocks);
    weft_setup_free(&spans->setup);
    free(spans);
    *out = NULL;
}

/* ---- an operation ---------------------------------------------------------------------------- */

typedef enum span_kind { SET, SHIFT, ADD, RAISE, DROP, SAMPLE, SUM, PRODUCT, SEEN } span_kind;

/* What the operations do with the entries of v is in their loops, below, and in kernels/setup/spans.cu. */
typedef struct operation {
    span_kind kind;
    const weft_span *v;
    weft_memory *x; /* NULL: no other vector */
    double a, b;
} operation;

/* The same on the host. */
typedef struct host_operation {
    span_kind kind;
    double *v;
    const double *x;
    int64_t first, step, n;
    double a, b;
    weft_span_sums *parts; /* [PARTS] */
} host_operation;

static const char *const kernels[] = {"span_set",   "span_shift", "span_add",
                                      "span_raise", "span_drop",  "span_sample"};

static const uint64_t FACTOR = 6364136223846793005u, STEP = 1442695040888963407u;

/* The state of the generator n numbers later: x -> FACTOR x + STEP, n times, by squaring. */
static uint64_t seed_after(uint64_t seed, int64_t n) {
    uint64_t factor = FACTOR, step = STEP;
    for (; n > 0; n /= 2) {
        if (n % 2)
            seed = factor * seed + step;
        step *= factor + 1;
        factor *= factor;
    }
    return seed;
}

/* +-[0.5, 1) */
static void sample(const host_operation *o, int64_t first, int64_t last) {
    uint64_t seed = seed_after(1, (int64_t)o->a + first);
    for (int64_t i = first; i < last; ++i) {
        const int64_t at = o->first + i * o->step;
        seed = seed * FACTOR + STEP;
        const double size = 0.5 + (double)(seed >> 40) * 0x1p-25;
        o->v[at] = (o->x ? o->x[at] : 1) * (seed >> 39 & 1 ? size : -size);
    }
}

/* A weft_task. */
static void change_part(void *user, int64_t part) {
    const host_operation *o = user;
    const int64_t first = o->n * part / PARTS, last = o->n * (part + 1) / PARTS, step = o->step;
    double *v = o->v + o->first;
    const double *x = o->x ? o->x + o->first : NULL;
    for (int64_t i = first; i < last && o->kind == SET; ++i)
        v[i * step] = o->a;
    for (int64_t i = first; i < last && o->kind == SHIFT; ++i)
        v[i * step] += o->a;
    for (int64_t i = first; i < last && o->kind == ADD; ++i)
        v[i * step] += o->a * x[i * step];
    for (int64_t i = first; i < last && o->kind == RAISE; ++i)
        v[i * step] = fmax(v[i * step], fabs(x[i * step]));
    for (int64_t i = first; i < last && o->kind == DROP; ++i)
        if (fabs(v[i * step]) <= o->a * fmax(x[i * step], o->b))
            v[i * step] = 0;
    if (o->kind == SAMPLE)
        sample(o, first, last);
}

static double value_of(const host_operation *o, int64_t i) {
    const int64_t at = o->first + i * o->step;
    const double v = o->v[at];
    return o->kind == SUM       ? v
           : o->kind == PRODUCT ? v * o->x[at]
           : v == 0             ? 0
                                : fabs(v) / fmax(o->x[at], o->b);
}

/* The larger one; NaN if one of them is. */
static double larger_of(double a, double b) {
    return b > a || isnan(b) ? b : a;
}

static weft_span_sums join(const weft_span_sums *a, const weft_span_sums *b) {
    return (weft_span_sums){a->sum + b->sum, a->size + b->size, larger_of(a->most, b->most)};
}

/* Pairwise, as weft_sum. */
static weft_span_sums sum_entries(const host_operation *o, int64_t first, int64_t n) {
    weft_span_sums out = {0, 0, 0};
    if (n > 128) {
        const weft_span_sums a = sum_entries(o, first, n / 2),
                             b = sum_entries(o, first + n / 2, n - n / 2);
        return join(&a, &b);
    }
    for (int64_t i = first; i < first + n; ++i) {
        const double value = value_of(o, i), size = fabs(value);
        out.sum += value;
        out.size += size;
        out.most = larger_of(out.most, size);
    }
    return out;
}

/* A weft_task. */
static void sum_part(void *user, int64_t part) {
    const host_operation *o = user;
    const int64_t first = o->n * part / PARTS, last = o->n * (part + 1) / PARTS;
    o->parts[part] = sum_entries(o, first, last - first);
}

static weft_span_sums join_all(const weft_span_sums *parts, int64_t n) {
    if (n == 1)
        return parts[0];
    const weft_span_sums a = join_all(parts, n / 2), b = join_all(parts + n / 2, n - n / 2);
    return join(&a, &b);
}

/* False: no data, as on a device that records only. */
static bool on_host(const operation *o, host_operation *out) {
    *out = (host_operation){.kind = o->kind,
                            .v = weft_memory_host(o->v->vector),
                            .x = o->x ? weft_memory_host(o->x) : NULL,
                            .first = o->v->first,
                            .step = o->v->step,
                            .n = weft_span_entries(o->v),
                            .a = o->a,
                            .b = o->b};
    return out->v && (out->x || !o->x);
}

static weft_status write_numbers(weft_spans *spans, const weft_span *v, double a, double b,
                                 weft_error *error) {
    const double numbers[NUMBERS] = {(double)v->first, (double)v->step, a, b};
    return weft_memory_write(spans->numbers, 0, numbers, sizeof numbers, error);
}

static weft_status change(weft_spans *spans, const operation *o, weft_error *error) {
    weft_status status = WEFT_OK;
    host_operation host;
    if (spans->setup) {
        const weft_setup_kernel kernel = {
            .file = "spans", .name = kernels[o->kind], .n = weft_span_entries(o->v)};
        TRY(write_numbers(spans, o->v, o->a, o->b, error));
        weft_memory *const arguments[] = {spans->numbers, o->v->vector,
                                          o->x ? o->x : spans->blocks};
        TRY(weft_setup_launch(spans->setup, &kernel, arguments,
                              o->kind == SET || o->kind == SHIFT ? 2 : 3, error));
    } else if (on_host(o, &host))
        TRY(weft_device_for(spans->device, PARTS, change_part, &host, error));
done:
    return status;
}

static weft_status sum_on_device(weft_spans *spans, const operation *o, weft_span_sums *out,
                                 weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n = weft_span_entries(o->v), blocks = (n + BLOCK_ENTRIES - 1) / BLOCK_ENTRIES;
    weft_span_sums parts[BLOCKS_MOST];
    const weft_setup_kernel kernel = {.file = "spans",
                                      .name = "span_sums",
                                      .n = n,
                                      .n_blocks = blocks < BLOCKS_MOST ? blocks : BLOCKS_MOST};
    if (n == 0)
        goto done;
    TRY(write_numbers(spans, o->v, o->kind - SUM, o->b, error));
    weft_memory *const arguments[] = {spans->numbers, o->v->vector, o->x ? o->x : spans->blocks,
                                      spans->blocks};
    TRY(weft_setup_launch(spans->setup, &kernel, arguments, 4, error));
    TRY(weft_memory_read(spans->blocks, 0, parts, (size_t)kernel.n_blocks * sizeof *parts, error));
    *out = join_all(parts, kernel.n_blocks);
done:
    return status;
}

static weft_status sum(weft_spans *spans, const operation *o, weft_span_sums *out,
                       weft_error *error) {
    weft_status status = WEFT_OK;
    weft_span_sums parts[PARTS];
    host_operation host;
    *out = (weft_span_sums){0, 0, 0};
    if (spans->setup)
        return sum_on_device(spans, o, out, error);
    if (!on_host(o, &host))
        goto done;
    host.parts = parts;
    TRY(weft_device_for(spans->device, PARTS, sum_part, &host, error));
    *out = join_all(parts, PARTS);
done:
    return status;
}

/* ---- entries --------------------------------------------------------------------------------- */

weft_status weft_span_set(weft_spans *spans, const weft_span *v, double value, weft_error *error) {
    return change(spans, &(operation){SET, v, NULL, value, 0}, error);
}

weft_status weft_span_shift(weft_spans *spans, const weft_span *v, double value,
                            weft_error *error) {
    return change(spans, &(operation){SHIFT, v, NULL, value, 0}, error);
}

weft_status weft_span_add(weft_spans *spans, const weft_span *v, double factor, weft_memory *x,
                          weft_error *error) {
    return change(spans, &(operation){ADD, v, x, factor, 0}, error);
}

weft_status weft_span_raise(weft_spans *spans, const weft_span *v, weft_memory *x,
                            weft_error *error) {
    return change(spans, &(operation){RAISE, v, x, 0, 0}, error);
}

weft_status weft_span_drop(weft_spans *spans, const weft_span *v, double factor, weft_memory *sizes,
                           double least, weft_error *error) {
    return change(spans, &(operation){DROP, v, sizes, factor, least}, error);
}

weft_status weft_span_sample(weft_spans *spans, const weft_span *v, weft_memory *mask,
                             int64_t start, weft_error *error) {
    return change(spans, &(operation){SAMPLE, v, mask, (double)start, mask != NULL}, error);
}

static weft_status put_on_device(weft_spans *spans, weft_memory *v, const int32_t *entries,
                                 const double *values, int64_t n, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_setup_kernel kernel = {.file = "spans", .name = "span_put", .n = n};
    weft_memory *where = NULL, *what = NULL;
    TRY(weft_memory_place(spans->device, entries, (size_t)n, sizeof *entries, &where, error));
    if (values)
        TRY(weft_memory_place(spans->device, values, (size_t)n, sizeof *values, &what, error));
    TRY(write_numbers(spans, &(weft_span){v, 0, n, 1}, values != NULL, 0, error));
    TRY(weft_setup_launch(spans->setup, &kernel,
                          (weft_memory *[]){spans->numbers, v, where, what ? what : spans->blocks},
                          4, error));
done:
    weft_memory_free(&where);
    weft_memory_free(&what);
    return status;
}

weft_status weft_spans_put(weft_spans *spans, weft_memory *v, const int32_t *entries,
                           const double *values, int64_t n, weft_error *error) {
    double *list = weft_memory_host(v);
    if (spans->setup)
        return put_on_device(spans, v, entries, values, n, error);
    for (int64_t i = 0; list && i < n; ++i)
        list[entries[i]] = values ? values[i] : 0;
    return WEFT_OK;
}

/* ---- numbers --------------------------------------------------------------------------------- */

weft_status weft_span_sum(weft_spans *spans, const weft_span *v, weft_span_sums *out,
                          weft_error *error) {
    return sum(spans, &(operation){SUM, v, NULL, 0, 0}, out, error);
}

weft_status weft_span_product(weft_spans *spans, const weft_span *v, weft_memory *x,
                              weft_span_sums *out, weft_error *error) {
    return sum(spans, &(operation){PRODUCT, v, x, 0, 0}, out, error);
}

weft_status weft_span_seen(weft_spans *spans, const weft_span *v, weft_memory *sizes, double least,
                           double *out, weft_error *error) {
    weft_span_sums sums;
    const weft_status status = sum(spans, &(operation){SEEN, v, sizes, 0, least}, &sums, error);
    *out = sums.most;
    return status;
}
