/* labels: full */
/* Spans of vectors against plain loops, on the host with one and three threads and on an emulated GPU, or the device that
 * WEFT_TEST_DEVICE names: lengths about those of blocks, spans with steps, entries that are not numbers. Sums are those of
 * integers, which are exact in any order. */
#include "fem/base/spans.h"
#include "setup_support.h"
#include "test_support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DEVICES = 3, LENGTHS = 6 };
static const int64_t lengths[LENGTHS] = {1, 4, 255, 2048, 2049, 70001};

typedef struct setting {
    weft_device *device;
    weft_spans *spans;
    int64_t n;
    double *a, *b; /* [n] integers; expected */
    weft_memory *v, *x;
} setting;

static weft_device *open_device(int number) {
    weft_device *device = NULL;
    if (number == 2)
        return setup_device();
    assert_int_equal(weft_device_open(number == 0 ? "host:1" : "host:3", NULL, &device, NULL),
                     WEFT_OK);
    return device;
}

static void send(weft_memory *to, const double *from, int64_t n) {
    assert_int_equal(weft_memory_write(to, 0, from, (size_t)n * sizeof *from, NULL), WEFT_OK);
}

/* v = a, x = b */
static void refill(setting *s) {
    for (int64_t i = 0; i < s->n; ++i) {
        s->a[i] = (double)(i * 7919 % 1009 - 500);
        s->b[i] = (double)(i * 104729 % 997 - 400);
    }
    send(s->v, s->a, s->n);
    send(s->x, s->b, s->n);
}

static setting make(weft_device *device, int64_t n) {
    setting s = {.device = device, .n = n};
    s.a = malloc((size_t)n * sizeof *s.a);
    s.b = malloc((size_t)n * sizeof *s.b);
    assert_true(s.a && s.b);
    assert_int_equal(weft_spans_make(device, 2, n, &s.spans, NULL), WEFT_OK);
    s.v = weft_spans_vector(s.spans, 0);
    s.x = weft_spans_vector(s.spans, 1);
    refill(&s);
    return s;
}

static void clear(setting *s) {
    weft_spans_free(&s->spans);
    free(s->a);
    free(s->b);
}

static void expect(const char *what, const setting *s) {
    setup_equal(what, s->v, s->a, (size_t)s->n * sizeof *s->a);
}

static bool is_in(const weft_span *span, int64_t i) {
    return i >= span->first && i < span->last && (i - span->first) % span->step == 0;
}

/* Entries outside of the span stay. */
static void change(setting *s, const weft_span *v) {
    assert_int_equal(weft_span_change(s->spans, v, WEFT_SPAN_SET, NULL, 2.5, 0, NULL), WEFT_OK);
    for (int64_t i = 0; i < s->n; ++i)
        s->a[i] = is_in(v, i) ? 2.5 : s->a[i];
    expect("set", s);
    refill(s);
    assert_int_equal(weft_span_change(s->spans, v, WEFT_SPAN_ADD, NULL, -3, 0, NULL), WEFT_OK);
    for (int64_t i = 0; i < s->n; ++i)
        s->a[i] -= is_in(v, i) ? 3 : 0;
    expect("shift", s);
    assert_int_equal(weft_span_change(s->spans, v, WEFT_SPAN_ADD, s->x, -2, 0, NULL), WEFT_OK);
    for (int64_t i = 0; i < s->n; ++i)
        s->a[i] -= is_in(v, i) ? 2 * s->b[i] : 0;
    expect("add", s);
    assert_int_equal(weft_span_change(s->spans, v, WEFT_SPAN_RAISE, s->x, 0, 0, NULL), WEFT_OK);
    for (int64_t i = 0; i < s->n; ++i)
        s->a[i] = is_in(v, i) ? fmax(s->a[i], fabs(s->b[i])) : s->a[i];
    expect("raise", s);
    refill(s);
    assert_int_equal(weft_span_change(s->spans, v, WEFT_SPAN_DROP, s->x, 0.5, 300, NULL), WEFT_OK);
    for (int64_t i = 0; i < s->n; ++i)
        s->a[i] = is_in(v, i) && fabs(s->a[i]) <= 0.5 * fmax(s->b[i], 300) ? 0 : s->a[i];
    expect("drop", s);
    refill(s);
}

static void measure(setting *s, const weft_span *v) {
    weft_span_sums found[2], plain = {0}, product = {0}, ratios;
    double seen = 0;
    for (int64_t i = 0; i < s->n; ++i) {
        if (!is_in(v, i))
            continue;
        plain.sum += s->a[i];
        plain.size += fabs(s->a[i]);
        plain.most = fmax(plain.most, fabs(s->a[i]));
        product.sum += s->a[i] * s->b[i];
        product.size += fabs(s->a[i] * s->b[i]);
        product.most = fmax(product.most, fabs(s->a[i] * s->b[i]));
        seen = fmax(seen, s->a[i] != 0 ? fabs(s->a[i]) / fmax(s->b[i], 100) : 0);
    }
    assert_int_equal(weft_span_sum(s->spans, v, WEFT_SPAN_PRODUCT, NULL, 0, &found[0], NULL),
                     WEFT_OK);
    assert_int_equal(weft_span_sum(s->spans, v, WEFT_SPAN_PRODUCT, s->x, 0, &found[1], NULL),
                     WEFT_OK);
    assert_memory_equal(&found[0], &plain, sizeof plain);
    assert_memory_equal(&found[1], &product, sizeof product);
    assert_int_equal(weft_span_sum(s->spans, v, WEFT_SPAN_RATIO, s->x, 100, &ratios, NULL),
                     WEFT_OK);
    assert_true(ratios.most == seen);
}

/* 0/0 counts as 0, 1/0 is infinite. */
static void extremes(setting *s) {
    const weft_span v = weft_span_whole(s->v, s->n);
    static const double last[] = {0, 1, NAN};
    for (int i = 0; i < 3; ++i) {
        weft_span_sums sums;
        assert_int_equal(weft_memory_zero(s->v, NULL), WEFT_OK);
        assert_int_equal(weft_memory_zero(s->x, NULL), WEFT_OK);
        assert_int_equal(weft_memory_write(s->v, (size_t)(s->n - 1) * sizeof *last, &last[i],
                                           sizeof *last, NULL),
                         WEFT_OK);
        assert_int_equal(weft_span_sum(s->spans, &v, WEFT_SPAN_RATIO, s->x, 0, &sums, NULL),
                         WEFT_OK);
        assert_true(i == 0 ? sums.most == 0 : i == 1 ? isinf(sums.most) : isnan(sums.most));
    }
    refill(s);
}

static void operations(void **state) {
    (void)state;
    for (int d = 0; d < DEVICES; ++d) {
        weft_device *device = open_device(d);
        for (int k = 0; k < LENGTHS; ++k) {
            setting s = make(device, lengths[k]);
            const weft_span spans[] = {weft_span_whole(s.v, s.n),
                                       {s.v, s.n / 3, s.n - s.n / 4, 1},
                                       {s.v, s.n > 2 ? 2 : 0, s.n, 3},
                                       {s.v, s.n, s.n, 2}};
            for (size_t i = 0; i < sizeof spans / sizeof *spans; ++i) {
                change(&s, &spans[i]);
                measure(&s, &spans[i]);
            }
            extremes(&s);
            clear(&s);
        }
        weft_device_free(&device);
    }
}

/* The numbers of a sequence from number `start` on, by its definition. */
static void expect_sample(setting *s, int64_t start, bool is_masked) {
    uint64_t seed = 1;
    for (int64_t i = 0; i < start + s->n; ++i) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        const double size = 0.5 + (double)(seed >> 40) / 33554432;
        if (i >= start)
            s->a[i - start] = (is_masked ? s->b[i - start] : 1) * (seed >> 39 & 1 ? size : -size);
    }
    expect("sample", s);
}

/* Sizes in [0.5, 1), of either sign: their mean is less than five standard deviations from 0. */
static void samples(void **state) {
    (void)state;
    for (int d = 0; d < DEVICES; ++d) {
        weft_device *device = open_device(d);
        for (int k = 0; k < LENGTHS; ++k) {
            setting s = make(device, lengths[k]);
            const weft_span v = weft_span_whole(s.v, s.n);
            weft_span_sums sums;
            assert_int_equal(weft_span_change(s.spans, &v, WEFT_SPAN_SAMPLE, s.x, 0, 0, NULL),
                             WEFT_OK);
            expect_sample(&s, 0, true);
            assert_int_equal(
                weft_span_change(s.spans, &v, WEFT_SPAN_SAMPLE, NULL, 2 * (double)s.n, 0, NULL),
                WEFT_OK);
            expect_sample(&s, 2 * s.n, false);
            assert_int_equal(weft_span_sum(s.spans, &v, WEFT_SPAN_PRODUCT, NULL, 0, &sums, NULL),
                             WEFT_OK);
            assert_true(sums.most < 1 && sums.size >= 0.5 * (double)s.n);
            assert_true(fabs(sums.sum) < 5 * sqrt((double)s.n));
            clear(&s);
        }
        weft_device_free(&device);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(operations), cmocka_unit_test(samples)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
