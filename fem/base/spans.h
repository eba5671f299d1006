/** Spans of vectors: changed and summed where they are, by loops on the host and by kernels of a GPU
 *  (kernels/setup/spans.cu). Not installed.
 *
 *      In: vectors of doubles on a device.  Out: others, and numbers.
 *
 *  Sums have an order of their own on each device, which depends on nothing but the number of entries. On a device that
 *  records only, nothing is computed. */
#pragma once

#include "core/weft_core.h"
#include "fusion/weft_share.h"

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

enum { WEFT_SPANS_VECTORS = 5 };
/** What the operations need, and vectors to work with, which are zero at first; one thread at a time.
 *  device     borrowed
 *  n_vectors  [n] each, on the device; at most WEFT_SPANS_VECTORS
 *  out        caller's; weft_spans_free
 *  Errors     WEFT_ERROR_MEMORY, _DEVICE */
typedef struct weft_spans weft_spans;
weft_status weft_spans_make(weft_device *device, int n_vectors, int64_t n, weft_spans **out,
                            weft_error *error);
void weft_spans_free(weft_spans **spans);
/** Let sums and counts be those of the entries that ranks own, on all ranks: exact, whatever the parts.
 *  share  of whole vectors; borrowed; NULL: vectors are whole */
void weft_spans_share(weft_spans *spans, const weft_share *share);
/** The number of entries, on all ranks. */
weft_status weft_span_count(const weft_spans *spans, const weft_span *v, int64_t *out,
                            weft_error *error);
/** Borrowed. */
weft_memory *weft_spans_vector(const weft_spans *spans, int number);

/** What an entry of v becomes. */
typedef enum weft_span_change_kind {
    WEFT_SPAN_SET,   /* a */
    WEFT_SPAN_ADD,   /* v + a x */
    WEFT_SPAN_RAISE, /* max(v, |x|) */
    WEFT_SPAN_DROP,  /* 0 where |v| <= a max(x, b) */
    WEFT_SPAN_SAMPLE /* x s, s of entry i: number a + i of a sequence in +-[0.5, 1), the same on all devices */
} weft_span_change_kind;
/** Change all entries.
 *  x       [n] entries in the places of those of v; NULL: ones
 *  Errors  WEFT_ERROR_MEMORY, _COMPILER, _DEVICE; those of weft_span_sum too */
weft_status weft_span_change(weft_spans *spans, const weft_span *v, weft_span_change_kind kind,
                             weft_memory *x, double a, double b, weft_error *error);

/** What is summed of an entry of v. */
typedef enum weft_span_sum_kind {
    WEFT_SPAN_PRODUCT, /* v x */
    WEFT_SPAN_RATIO    /* |v| / max(x, least), 0 where v is 0 */
} weft_span_sum_kind;
typedef struct weft_span_sums {
    double sum, size; /* of the numbers; of their sizes */
    double most;      /* the largest size; NaN if there is one */
} weft_span_sums;
/** x  [n] as above; NULL: ones */
weft_status weft_span_sum(weft_spans *spans, const weft_span *v, weft_span_sum_kind kind,
                          weft_memory *x, double least, weft_span_sums *out, weft_error *error);
