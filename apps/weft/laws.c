/* Tests the laws of a reduction's operator by its reference: that it is associative, that its identity
 * changes nothing, and that it is commutative where it says so. */
#include "apps/weft/tool.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Above the rounding errors of a few dozen operations, and below those of a law that does not hold. */
static const double tolerance = 1e-11;

enum { VALUES = 96, TRIPLES = 512, ARGUMENTS = 12 };

/* Lists of values of the operator's type. */
enum { A, B, C, AB, BA, BC, LEFT, RIGHT, IDENTITY, LISTS };

typedef struct law_data {
    const weft_tool_cross_check *check;
    const weft_test_case *test_case;
    int number; /* of the test case */
    weft_memory *pool, *arguments[ARGUMENTS], *lists[LISTS];
} law_data;

static void release(law_data *d) {
    weft_memory_free(&d->pool);
    for (int i = 0; i < ARGUMENTS; ++i)
        weft_memory_free(&d->arguments[i]);
    for (int i = 0; i < LISTS; ++i)
        weft_memory_free(&d->lists[i]);
}

/* The linear congruential generator of Numerical Recipes. */
static uint32_t next_number(uint32_t *state) {
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static double *values_of(const weft_memory *memory) {
    return weft_memory_host(memory);
}

static weft_status launch(const law_data *d, const char *name, weft_memory **arguments, int n,
                          int64_t n_elements, weft_error *error) {
    weft_status status = WEFT_OK;
    char kernel[32];
    snprintf(kernel, sizeof kernel, "%s_%d", name, d->number);
    const weft_launch one = {.module = d->check->references,
                             .kernel = kernel,
                             .arguments = arguments,
                             .n_arguments = n,
                             .n_elements = n_elements,
                             .lanes = 1};
    TRY(weft_device_launch(d->check->host, &one, error));
    TRY(weft_device_wait(d->check->host, error));
done:
    return status;
}

static weft_status combine(const law_data *d, int a, int b, int result, weft_error *error) {
    weft_memory *arguments[] = {d->lists[a], d->lists[b], d->lists[result]};
    return launch(d, "combine", arguments, 3, TRIPLES, error);
}

/* Values that a reduction combines: contributions of elements, with equal ones among them. */
static weft_status make_values(law_data *d, uint32_t *state, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_test_case *t = d->test_case;
    weft_memory *arguments[ARGUMENTS + 1];
    for (int i = 0; i < t->n_arguments; ++i) {
        const int n = t->arguments[i].n;
        TRY(weft_memory_make(d->check->host, (size_t)(VALUES * n) * sizeof(double),
                             &d->arguments[i], error));
        double *out = values_of(d->arguments[i]);
        for (int k = 0; k < VALUES * n; ++k)
            out[k] = k % 5 == 4 ? (double)(next_number(state) % 5) - 2
                                : (double)next_number(state) / (1 << 23) - 1;
        arguments[i] = d->arguments[i];
    }
    TRY(weft_memory_make(d->check->host, (size_t)(VALUES * t->result.n) * sizeof(double), &d->pool,
                         error));
    arguments[t->n_arguments] = d->pool;
    TRY(launch(d, "trial", arguments, t->n_arguments + 1, VALUES, error));
done:
    return status;
}

/* Random triples; half of the values are what two others give. */
static weft_status make_triples(law_data *d, uint32_t *state, weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t m = (size_t)d->test_case->result.n;
    for (int i = 0; i < LISTS; ++i)
        TRY(weft_memory_make(d->check->host, TRIPLES * m * sizeof(double), &d->lists[i], error));
    for (int i = A; i <= C; ++i)
        for (size_t k = 0; k < TRIPLES; ++k)
            memcpy(values_of(d->lists[i]) + k * m,
                   values_of(d->pool) + next_number(state) % VALUES * m, m * sizeof(double));
    TRY(combine(d, A, B, AB, error));
    for (size_t k = 0; k < TRIPLES; k += 2)
        memcpy(values_of(d->lists[k % 3]) + k * m, values_of(d->lists[AB]) + (k + 1) % TRIPLES * m,
               m * sizeof(double));
done:
    return status;
}

static void print_value(const law_data *d, const char *name, int list, int at, weft_text *out) {
    const int m = d->test_case->result.n;
    const double *values = values_of(d->lists[list]) + (int64_t)at * m;
    weft_text_add(out, "%s = %s", name, m > 1 ? "[" : "");
    for (int c = 0; c < m && c < 16; ++c)
        weft_text_add(out, "%s%.9g", c ? ", " : "", values[c]);
    weft_text_add(out, "%s%s", m > 16 ? ", ..." : "", m > 1 ? "]" : "");
}

/* A triple in which two lists differ, or -1. */
static int difference(const law_data *d, int x, int y) {
    const int m = d->test_case->result.n;
    for (int k = 0; k < TRIPLES; ++k) {
        double scale = 1e-3;
        for (int list = 0; list < LISTS; ++list)
            for (int c = 0; c < m; ++c)
                if (list <= C || list == x || list == y)
                    scale = fmax(scale, fabs(values_of(d->lists[list])[k * m + c]));
        for (int c = 0; c < m; ++c) {
            const double a = values_of(d->lists[x])[k * m + c],
                         b = values_of(d->lists[y])[k * m + c];
            if (a != b && !(isnan(a) && isnan(b)) && !(fabs(a - b) <= tolerance * scale))
                return k;
        }
    }
    return -1;
}

/* What a law says of two lists, and the lists that a counterexample shows. */
typedef struct law {
    const char *broken; /* "is not associative" */
    int left, right, n_shown;
    const struct {
        const char *name;
        int list;
    } shown[5];
} law;

static const law associative = {
    "is not associative",
    LEFT,
    RIGHT,
    5,
    {{"a", A}, {"b", B}, {"c", C}, {"(a b) c", LEFT}, {"a (b c)", RIGHT}}};
static const law commutative = {
    "is not commutative", AB, BA, 4, {{"a", A}, {"b", B}, {"a b", AB}, {"b a", BA}}};
static const law left_identity = {"changes a value by its identity",
                                  A,
                                  LEFT,
                                  3,
                                  {{"a", A}, {"identity", IDENTITY}, {"identity a", LEFT}}};
static const law right_identity = {"changes a value by its identity",
                                   A,
                                   RIGHT,
                                   3,
                                   {{"a", A}, {"identity", IDENTITY}, {"a identity", RIGHT}}};

static void check_law(const law_data *d, const law *one, weft_text *out) {
    const int at = difference(d, one->left, one->right);
    if (at < 0 || out->length > 0)
        return;
    weft_text_add(out, "%s %s%s%s: ", d->test_case->combine, one->broken,
                  d->test_case->sizes[0] ? ", " : "", d->test_case->sizes);
    for (int i = 0; i < one->n_shown; ++i) {
        weft_text_add(out, "%s", i ? "; " : "");
        print_value(d, one->shown[i].name, one->shown[i].list, at, out);
    }
    weft_text_add(out, "; --seed %u\n", d->check->seed);
}

static weft_status check_laws(law_data *d, weft_text *out, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(combine(d, A, B, AB, error));
    TRY(combine(d, AB, C, LEFT, error));
    TRY(combine(d, B, C, BC, error));
    TRY(combine(d, A, BC, RIGHT, error));
    check_law(d, &associative, out);
    TRY(combine(d, B, A, BA, error));
    if (d->test_case->commutative)
        check_law(d, &commutative, out);
    TRY(launch(d, "identity", &d->lists[IDENTITY], 1, TRIPLES, error));
    TRY(combine(d, IDENTITY, A, LEFT, error));
    check_law(d, &left_identity, out);
    TRY(combine(d, A, IDENTITY, RIGHT, error));
    check_law(d, &right_identity, out);
done:
    return status;
}

weft_status weft_tool_laws(const weft_tool_cross_check *check, weft_text *out, weft_error *error) {
    weft_status status = WEFT_OK;
    law_data d = {.check = check};
    uint32_t state = check->seed;
    for (int k = 0; k < check->test_cases.n; ++k) {
        d = (law_data){.check = check, .test_case = &check->test_cases.list[k], .number = k};
        if (d.test_case->combine && d.test_case->line == 0) {
            TRY(make_values(&d, &state, error));
            TRY(make_triples(&d, &state, error));
            TRY(check_laws(&d, out, error));
        }
        release(&d);
    }
done:
    release(&d);
    return status;
}
