/* Changes and sums spans of vectors, by loops on the host and by kernels on a GPU. */
#include "fem/base/spans.h"
#include "fem/base/memory.h"
#include "fem/base/share.h"
#include "fusion/setup/setup.h"

#include <math.h>
#include <stdlib.h>

/* PARTS: tasks of the host, of which sums depend; BLOCK_ENTRIES: a thread block of a sum has as many at least */
enum { PARTS = 256, BLOCKS_MOST = 1024, BLOCK_ENTRIES = 2048, NUMBERS = 6 };

struct weft_spans {
    weft_device *device;
    weft_setup *setup;              /* of a GPU; NULL: the host, or nothing is computed */
    weft_memory *operation, *parts; /* span_operation of the kernels; [BLOCKS_MOST] */
    weft_memory *vectors[WEFT_SPANS_VECTORS];
    const weft_share *share; /* NULL: vectors are whole */
};

weft_status weft_spans_make(weft_device *device, int n_vectors, int64_t n, weft_spans **out,
                            weft_error *error) {
    weft_status status = WEFT_OK;
    weft_spans *made = calloc(1, sizeof *made);
    if (!made)
        TRY(weft_out_of_memory(error, "spans of vectors"));
    made->device = device;
    for (int i = 0; i < n_vectors; ++i)
        TRY(weft_memory_make(device, (size_t)n * sizeof(double), &made->vectors[i], error));
    if (weft_setup_on_device(device)) {
        TRY(weft_setup_make(device, &made->setup, error));
        TRY(weft_memory_make(device, NUMBERS * sizeof(double), &made->operation, error));
        TRY(weft_memory_make(device, BLOCKS_MOST * sizeof(weft_span_sums), &made->parts, error));
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
    for (int i = 0; i < WEFT_SPANS_VECTORS; ++i)
        weft_memory_free(&spans->vectors[i]);
    weft_memory_free(&spans->operation);
    weft_memory_free(&spans->parts);
    weft_setup_free(&spans->setup);
    free(spans);
    *out = NULL;
}

void weft_spans_share(weft_spans *spans, const weft_share *share) {
    spans->share = share;
}

weft_memory *weft_spans_vector(const weft_spans *spans, int number) {
    return spans->vectors[number];
}

/* ---- on the host ------------------------------------------------------------------------------ */

typedef struct operation {
    int kind;
    double *v;
    const double *x;
    int64_t step, n;
    double a, b;
    weft_span_sums *parts; /* [PARTS] */
} operation;

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

static double changed(const operation *o, double v, double x) {
    switch ((weft_span_change_kind)o->kind) {
    case WEFT_SPAN_ADD:
        return v + o->a * x;
    case WEFT_SPAN_RAISE:
        return fmax(v, fabs(x));
    case WEFT_SPAN_DROP:
        return fabs(v) <= o->a * fmax(x, o->b) ? 0 : v;
    default:
        return o->a;
    }
}

/* A weft_task. */
static void change_part(void *user, int64_t part) {
    const operation *o = user;
    const int64_t first = o->n * part / PARTS, last = o->n * (part + 1) / PARTS;
    uint64_t seed = o->kind == WEFT_SPAN_SAMPLE ? seed_after(1, (int64_t)o->a + first) : 0;
    for (int64_t i = first; i < last; ++i) {
        const double x = o->x ? o->x[i * o->step] : 1;
        if (o->kind != WEFT_SPAN_SAMPLE) {
            o->v[i * o->step] = changed(o, o->v[i * o->step], x);
            continue;
        }
        seed = seed * FACTOR + STEP;
        const double size = 0.5 + (double)(seed >> 40) * 0x1p-25;
        o->v[i * o->step] = x * (seed >> 39 & 1 ? size : -size);
    }
}

static double value_of(const operation *o, int64_t i) {
    const double v = o->v[i * o->step], x = o->x ? o->x[i * o->step] : 1;
    return o->kind == WEFT_SPAN_PRODUCT ? v * x : v == 0 ? 0 : fabs(v) / fmax(x, o->b);
}

/* The larger one; NaN if one of them is. */
static double larger_of(double a, double b) {
    return b > a || isnan(b) ? b : a;
}

static weft_span_sums join(weft_span_sums a, weft_span_sums b) {
    return (weft_span_sums){a.sum + b.sum, a.size + b.size, larger_of(a.most, b.most)};
}

/* Pairwise, as weft_sum. */
static weft_span_sums sum_entries(const operation *o, int64_t first, int64_t n) {
    weft_span_sums out = {0, 0, 0};
    if (n > 128)
        return join(sum_entries(o, first, n / 2), sum_entries(o, first + n / 2, n - n / 2));
    for (int64_t i = first; i < first + n; ++i) {
        const double value = value_of(o, i);
        out = join(out, (weft_span_sums){value, fabs(value), fabs(value)});
    }
    return out;
}

/* A weft_task. */
static void sum_part(void *user, int64_t part) {
    const operation *o = user;
    const int64_t first = o->n * part / PARTS, last = o->n * (part + 1) / PARTS;
    o->parts[part] = sum_entries(o, first, last - first);
}

static weft_span_sums join_all(const weft_span_sums *parts, int64_t n) {
    return n == 1 ? parts[0] : join(join_all(parts, n / 2), join_all(parts + n / 2, n - n / 2));
}

/* ---- on several ranks ------------------------------------------------------------------------- */

weft_status weft_span_count(const weft_spans *spans, const weft_span *v, int64_t *out,
                            weft_error *error) {
    const unsigned char *owned = weft_share_owned(spans->share);
    *out = owned ? 0 : weft_span_entries(v);
    for (int64_t i = v->first; owned && i < v->last; i += v->step)
        *out += owned[i];
    return weft_comm_sum(weft_share_comm(spans->share), out, error);
}

/* Copies of lists that are on a GPU.
 *  out  NULL: the host has the list */
static weft_status read_lists(const weft_span *v, const weft_memory *x, const operation *o,
                              double *out[2], weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_memory *const lists[2] = {o->v ? NULL : v->vector, o->x ? NULL : x};
    const size_t bytes = (size_t)(v->last - v->first) * sizeof(double);
    for (int i = 0; i < 2; ++i) {
        if (!lists[i])
            continue;
        out[i] = malloc(bytes + 1);
        if (!out[i])
            TRY(weft_out_of_memory(error, "sums of ranks"));
        TRY(weft_memory_read(lists[i], (size_t)v->first * sizeof(double), out[i], bytes, error));
    }
done:
    return status;
}

/* Of the entries that this rank owns, then of all ranks. */
static weft_status sum_of_ranks(const weft_spans *spans, const weft_span *v, const weft_memory *x,
                                const operation *o, weft_span_sums *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const unsigned char *owned = weft_share_owned(spans->share) + v->first;
    weft_exact_sum sums[2] = {weft_exact_zero(), weft_exact_zero()};
    double most = 0, is_nan = 0;
    operation own = *o;
    double *lists[2] = {NULL, NULL};
    TRY(read_lists(v, x, o, lists, error));
    own.v = lists[0] ? lists[0] : o->v;
    own.x = lists[1] ? lists[1] : o->x;
    for (int64_t i = 0; i < o->n; ++i) {
        const double value = owned[i * o->step] ? value_of(&own, i) : 0;
        weft_exact_add(&sums[0], value);
        weft_exact_add(&sums[1], fabs(value));
        most = fmax(most, fabs(value));
        is_nan = isnan(value) ? 1 : is_nan;
    }
    TRY(weft_comm_join_sums(weft_share_comm(spans->share), sums, 2, error));
    TRY(weft_comm_maximum(spans->share->comm, &most, error));
    TRY(weft_comm_maximum(spans->share->comm, &is_nan, error));
    *out = (weft_span_sums){weft_exact_value(&sums[0]), weft_exact_value(&sums[1]),
                            is_nan > 0 ? NAN : most};
done:
    free(lists[0]);
    free(lists[1]);
    return status;
}

/* ---- on either -------------------------------------------------------------------------------- */

/* n_blocks  0: a thread for each entry */
static weft_status launch(weft_spans *spans, const char *name, int64_t n_blocks, const weft_span *v,
                          weft_memory *x, const operation *o, weft_error *error) {
    weft_status status = WEFT_OK;
    const double numbers[NUMBERS] = {
        (double)v->first, (double)v->step, o->kind, x != NULL, o->a, o->b};
    const weft_setup_kernel kernel = {
        .file = "spans", .name = name, .n = o->n, .n_blocks = n_blocks};
    weft_memory *const arguments[] = {spans->operation, v->vector, x ? x : spans->parts,
                                      spans->parts};
    TRY(weft_memory_write(spans->operation, 0, numbers, sizeof numbers, error));
    TRY(weft_setup_launch(spans->setup, &kernel, arguments, n_blocks > 0 ? 4 : 3, error));
done:
    return status;
}

/* The arrays of the host; without data as on a device that records only, no entries. */
static operation on_host(const weft_span *v, int kind, const weft_memory *x, double a, double b) {
    double *const list = weft_memory_host(v->vector), *other = x ? weft_memory_host(x) : NULL;
    return (operation){.kind = kind,
                       .v = list ? list + v->first : NULL,
                       .x = other ? other + v->first : NULL,
                       .step = v->step,
                       .n = weft_span_entries(v),
                       .a = a,
                       .b = b};
}

weft_status weft_span_change(weft_spans *spans, const weft_span *v, weft_span_change_kind kind,
                             weft_memory *x, double a, double b, weft_error *error) {
    operation o = on_host(v, (int)kind, x, a, b);
    if (spans->setup)
        return launch(spans, "span_change", 0, v, x, &o, error);
    return o.v ? weft_device_for(spans->device, PARTS, change_part, &o, error) : WEFT_OK;
}

weft_status weft_span_sum(weft_spans *spans, const weft_span *v, weft_span_sum_kind kind,
                          weft_memory *x, double least, weft_span_sums *out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_span_sums parts[BLOCKS_MOST];
    operation o = on_host(v, (int)kind, x, 0, least);
    int64_t n = PARTS;
    *out = (weft_span_sums){0, 0, 0};
    o.parts = parts;
    if (spans->share) {
        status = sum_of_ranks(spans, v, x, &o, out, error);
        goto done;
    }
    if (o.n == 0 || (!spans->setup && !o.v))
        goto done;
    if (spans->setup) {
        n = (o.n + BLOCK_ENTRIES - 1) / BLOCK_ENTRIES;
        n = n < BLOCKS_MOST ? n : BLOCKS_MOST;
        TRY(launch(spans, "span_sums", n, v, x, &o, error));
        TRY(weft_memory_read(spans->parts, 0, parts, (size_t)n * sizeof *parts, error));
    } else
        TRY(weft_device_for(spans->device, PARTS, sum_part, &o, error));
    *out = join_all(parts, n);
done:
    return status;
}
