/* Sets entries of lists, and converts lists, on the host or by kernels. */
#include "fem/sparse/lists.h"

#include "core/weft_core.h"
#include "fem/base/memory.h"
#include "fem/embedded_operators.h"
#include "fusion/connectivity/connectivity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct weft_lists {
    weft_device *device;
    weft_module *module; /* the device's; NULL on the host */
};

weft_status weft_lists_make(weft_device *device, weft_lists **out, weft_error *error) {
    weft_status status = WEFT_OK;
    const char *text = "";
    weft_lists *lists = calloc(1, sizeof *lists);
    if (!lists)
        TRY(weft_out_of_memory(error, "kernels for lists"));
    lists->device = device;
    for (const weft_embedded_file *file = weft_embedded_operators; file->name; ++file)
        if (strcmp(file->name, "lists.cu") == 0)
            text = file->text;
    if (weft_device_limits(device)->execution == WEFT_EXECUTION_SIMT)
        TRY(weft_device_module(device, "lists", text, &lists->module, error));
    *out = lists;
    lists = NULL;
done:
    weft_lists_free(&lists);
    return status;
}

void weft_lists_free(weft_lists **lists) {
    if (!lists || !*lists)
        return;
    free(*lists);
    *lists = NULL;
}

static weft_status launch(const weft_lists *lists, const char *kernel, int64_t n,
                          weft_memory *const *arguments, int n_arguments, weft_error *error) {
    const weft_launch launched = {.module = lists->module,
                                  .kernel = kernel,
                                  .arguments = arguments,
                                  .n_arguments = n_arguments,
                                  .n_elements = n,
                                  .lanes = 32,
                                  .block_threads = 256};
    return n > 0 ? weft_device_launch(lists->device, &launched, error) : WEFT_OK;
}

weft_status weft_lists_set(weft_lists *lists, weft_memory *list, const int32_t *entries, int64_t n,
                           double value, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_memory *where = NULL, *what = NULL;
    double *values = weft_memory_host(list);
    if (!lists->module) {
        for (int64_t i = 0; values && i < n; ++i)
            values[entries[i]] = value;
        goto done;
    }
    TRY(weft_memory_place(lists->device, entries, (size_t)n, sizeof *entries, &where, error));
    TRY(weft_memory_place(lists->device, &value, 1, sizeof value, &what, error));
    weft_memory *const arguments[] = {where, what, list};
    TRY(launch(lists, "set_entries", n, arguments, 3, error));
done:
    weft_memory_free(&where);
    weft_memory_free(&what);
    return status;
}

weft_status weft_lists_gather(weft_lists *lists, int64_t n, weft_memory *entries, weft_memory *from,
                              weft_memory *to, weft_error *error) {
    weft_memory *const arguments[] = {entries, from, to};
    return launch(lists, "gather_entries", n, arguments, 3, error);
}

/* ---- precisions ------------------------------------------------------------------------------ */

typedef struct conversion {
    double root; /* of the square */
    double *doubles;
    float *floats;
    int64_t n;
    const int32_t *parents; /* [n][2] entries of floats */
    const float *a;
} conversion;

enum { CONVERTED = 1 << 14 };

static void chunk_to_single(void *user, int64_t chunk) {
    const conversion *c = user;
    const int64_t last = (chunk + 1) * CONVERTED < c->n ? (chunk + 1) * CONVERTED : c->n;
    for (int64_t i = chunk * CONVERTED; i < last; ++i)
        c->floats[i] = c->root > 0 && c->a[i] > 0 ? (float)(c->doubles[i] / c->root) / c->a[i] : 0;
}

static void chunk_to_double(void *user, int64_t chunk) {
    const conversion *c = user;
    const int64_t last = (chunk + 1) * CONVERTED < c->n ? (chunk + 1) * CONVERTED : c->n;
    for (int64_t i = chunk * CONVERTED; i < last; ++i)
        c->doubles[i] = (double)c->floats[i] * c->root;
}

static weft_status convert(const weft_lists *lists, int64_t n, weft_memory *square,
                           weft_memory *doubles, weft_memory *a, weft_memory *floats,
                           weft_task task, weft_error *error) {
    const double *squared = weft_memory_host(square);
    if (!squared || !weft_memory_host(doubles)) /* a null device */
        return WEFT_OK;
    conversion c = {.root = sqrt(squared[0]),
                    .doubles = weft_memory_host(doubles),
                    .floats = weft_memory_host(floats),
                    .a = a ? weft_memory_host(a) : NULL,
                    .n = n};
    return weft_device_for(lists->device, (n + CONVERTED - 1) / CONVERTED, task, &c, error);
}

weft_status weft_lists_to_single(weft_lists *lists, int64_t n, weft_memory *square,
                                 weft_memory *from, weft_memory *a, weft_memory *to,
                                 weft_error *error) {
    weft_memory *const arguments[] = {square, from, a, to};
    return lists->module ? launch(lists, "to_single", n, arguments, 4, error)
                         : convert(lists, n, square, from, a, to, chunk_to_single, error);
}

weft_status weft_lists_to_double(weft_lists *lists, int64_t n, weft_memory *square,
                                 weft_memory *from, weft_memory *to, weft_error *error) {
    weft_memory *const arguments[] = {square, from, to};
    return lists->module ? launch(lists, "to_double", n, arguments, 3, error)
                         : convert(lists, n, square, to, NULL, from, chunk_to_double, error);
}

/* ---- the first step of a smoothing ---- */

typedef struct start_work {
    double factor;
    float first;
    const double *from;
    const float *d;
    float *to, *out;
    int64_t n;
} start_work;

static void chunk_start(void *user, int64_t chunk) {
    const start_work *w = user;
    const int64_t last = (chunk + 1) * CONVERTED < w->n ? (chunk + 1) * CONVERTED : w->n;
    for (int64_t i = chunk * CONVERTED; i < last; ++i) {
        w->to[i] = (float)(w->from[i] * w->factor);
        w->out[i] = w->first * w->d[i] * w->to[i];
    }
}

weft_status weft_lists_start(weft_lists *lists, int64_t n, weft_memory *square,
                             weft_memory *factors, weft_memory *const of[4], weft_error *error) {
    weft_memory *const arguments[] = {square, factors, of[0], of[1], of[2], of[3]};
    const double *squared = weft_memory_host(square), *given = weft_memory_host(factors);
    if (lists->module)
        return launch(lists, "start", n, arguments, 6, error);
    if (!squared || !given || !weft_memory_host(of[0])) /* a null device */
        return WEFT_OK;
    start_work w = {.factor = squared[0] > 0 ? given[0] / sqrt(squared[0]) : 0,
                    .first = (float)given[1],
                    .from = weft_memory_host(of[0]),
                    .d = weft_memory_host(of[1]),
                    .to = weft_memory_host(of[2]),
                    .out = weft_memory_host(of[3]),
                    .n = n};
    return weft_device_for(lists->device, (n + CONVERTED - 1) / CONVERTED, chunk_start, &w, error);
}

/* ---- without a factor ---- */

static void chunk_narrow(void *user, int64_t chunk) {
    const conversion *c = user;
    const int64_t last = (chunk + 1) * CONVERTED < c->n ? (chunk + 1) * CONVERTED : c->n;
    for (int64_t i = chunk * CONVERTED; i < last; ++i)
        c->floats[i] = (float)c->doubles[i];
}

static weft_status convert_plain(const weft_lists *lists, const char *kernel, conversion c,
                                 weft_memory *const arguments[2], weft_error *error) {
    if (lists->module)
        return launch(lists, kernel, c.n, arguments, 2, error);
    return c.doubles ? weft_device_for(lists->device, (c.n + CONVERTED - 1) / CONVERTED,
                                       c.root > 0 ? chunk_to_double : chunk_narrow, &c, error)
                     : WEFT_OK; /* a null device */
}

weft_status weft_lists_narrow(weft_lists *lists, int64_t n, weft_memory *from, weft_memory *to,
                              weft_error *error) {
    const conversion c = {
        .doubles = weft_memory_host(from), .floats = weft_memory_host(to), .n = n};
    return convert_plain(lists, "narrow", c, (weft_memory *[]){from, to}, error);
}

weft_status weft_lists_widen(weft_lists *lists, int64_t n, weft_memory *from, weft_memory *to,
                             weft_error *error) {
    const conversion c = {
        .root = 1, .doubles = weft_memory_host(to), .floats = weft_memory_host(from), .n = n};
    return convert_plain(lists, "widen", c, (weft_memory *[]){from, to}, error);
}

weft_device *weft_lists_device(const weft_lists *lists) {
    return lists->device;
}

static void chunk_interpolated(void *user, int64_t chunk) {
    const conversion *c = user;
    const int64_t last = (chunk + 1) * CONVERTED < c->n ? (chunk + 1) * CONVERTED : c->n;
    for (int64_t i = chunk * CONVERTED; i < last; ++i) {
        const int32_t *pair = c->parents + 2 * i;
        const double sum = (double)c->floats[pair[0]] + (double)c->floats[pair[1]];
        c->doubles[i] = c->a[i] > 0 ? 0.5 * c->root * sum : 0;
    }
}

weft_status weft_lists_interpolate(weft_lists *lists, weft_memory *square,
                                   weft_connectivity *parents, weft_memory *a, weft_memory *from,
                                   weft_memory *to, weft_error *error) {
    enum { LANES = 32 }; /* of the kernel's indices */
    weft_status status = WEFT_OK;
    const int64_t n = weft_connectivity_from(parents);
    const double *squared = weft_memory_host(square);
    weft_memory *indices = NULL; /* the connectivity's */
    if (lists->module) {
        TRY(weft_connectivity_interleaved(parents, LANES, &indices, error));
        weft_memory *const arguments[] = {square, indices, a, from, to};
        TRY(launch(lists, "interpolate", n, arguments, 5, error));
    } else if (squared && weft_memory_host(to)) { /* not a null device */
        TRY(weft_connectivity_read(parents, error));
        conversion c = {.root = sqrt(squared[0]),
                        .doubles = weft_memory_host(to),
                        .floats = weft_memory_host(from),
                        .n = n,
                        .parents = weft_connectivity_indices(parents),
                        .a = weft_memory_host(a)};
        TRY(weft_device_for(lists->device, (n + CONVERTED - 1) / CONVERTED, chunk_interpolated, &c,
                            error));
    }
done:
    return status;
}
