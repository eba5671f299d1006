/** Spans of vectors: set, changed, compared and summed where they are, by loops on the host and by kernels of a GPU
 *  (kernels/setup/spans.cu). Not installed.
 *
 *      In: vectors of doubles on a device.  Out: others, and numbers.
 *
 *  Sums have an order of their own on each device, which depends on nothing but the number of entries. On a device that
 *  records only, nothing is computed. */
#pragma once

#include "core/weft_core.h"

/** Entries first, first + step, ... below last. */
typedef struct weft_span {
    weft_memory *vector; /* borrowed */
    int64_t first, last, step;
} weft_span;
/** The first n entries. */
static inline weft_span weft_span_whole(weft_memory *vector, int64_t n) {
    return (weft_span){vector, 0, n, 1};
}
static inline int64_t weft_span_entries(const weft_span *span) {
    return span->last > span->first ? (span->last - span->first - 1) / span->step + 1 : 0;
}

/** What the operations need; one thread at a time.
 *  device  borrowed
 *  out     caller's; weft_spans_free
 *  Errors  WEFT_ERROR_MEMORY, _DEVICE */
typedef struct weft_spans weft_spans;
weft_status weft_spans_make(weft_device *device, weft_spans **out, weft_error *error);
void weft_spans_free(weft_spans **spans);

/* ---- entries -----------------------------------------------------------------------------------
 *  Errors of all: WEFT_ERROR_MEMORY, _COMPILER, _DEVICE. Other vectors are borrowed and have the same numbers of entries. */

/** v_i = value */
weft_status weft_span_set(weft_spans *spans, const weft_span *v, double value, weft_error *error);
/** v_i = v_i + value */
weft_status weft_span_shift(weft_spans *spans, const weft_span *v, double value, weft_error *error);
/** v_i = v_i + factor x_i */
weft_status weft_span_add(weft_spans *spans, const weft_span *v, double factor, weft_memory *x,
                          weft_error *error);
/** v_i = max(v_i, |x_i|) */
weft_status weft_span_raise(weft_spans *spans, const weft_span *v, weft_memory *x,
                            weft_error *error);
/** v_i = 0 where |v_i| <= factor max(sizes_i, least) */
weft_status weft_span_drop(weft_spans *spans, const weft_span *v, double factor, weft_memory *sizes,
                           double least, weft_error *error);
/** v_i = mask_i s_i, s_i pseudorandom in +-[0.5, 1), the same on all devices.
 *  mask   NULL: ones
 *  start  number of s_0 in the sequence */
weft_status weft_span_sample(weft_spans *spans, const weft_span *v, weft_memory *mask,
                             int64_t start, weft_error *error);
/** v_(entries_i) = values_i
 *  entries, values  [n] on the host, entries without repetitions; values NULL: zeros */
weft_status weft_spans_put(weft_spans *spans, weft_memory *v, const int32_t *entries,
                           const double *values, int64_t n, weft_error *error);

/* ---- numbers ---------------------------------------------------------------------------------- */

typedef struct weft_span_sums {
    double sum, size; /* of v_i; of |v_i| */
    double most;      /* the largest |v_i|; NaN if there is one */
} weft_span_sums;
weft_status weft_span_sum(weft_spans *spans, const weft_span *v, weft_span_sums *out,
                          weft_error *error);
/** The same of v_i x_i. */
weft_status weft_span_product(weft_spans *spans, const weft_span *v, weft_memory *x,
                              weft_span_sums *out, weft_error *error);
/** The largest |v_i| / max(sizes_i, least), 0 where v_i is 0; NaN if there is one. */
weft_status weft_span_seen(weft_spans *spans, const weft_span *v, weft_memory *sizes, double least,
                           double *out, weft_error *error);
