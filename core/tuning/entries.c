/* Stores and retrieves times, numbers, kernels and best plans as rows of the tuning database. */
#include "core/device/device.h"
#include "core/tuning/database.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static bool is_time(double seconds) {
    return isfinite(seconds) && seconds > 0;
}

weft_status weft_tuning_describe(weft_tuning *tuning, const char *device, const char *description,
                                 weft_error *error) {
    const tuning_value row[] = {{.text = device}, {.text = description}};
    return weft_tuning_put(tuning, TUNING_DEVICES, row, 1, error);
}

weft_status weft_tuning_add_times(weft_tuning *tuning, const char *device,
                                  const weft_tuning_time *times, size_t n, weft_error *error) {
    enum { WIDTH = 8 };
    const int64_t now = (int64_t)time(NULL);
    tuning_value *rows = calloc(n ? n * WIDTH : 1, sizeof *rows);
    if (!rows)
        return weft_out_of_memory(error, "the tuning database");
    weft_status status = WEFT_OK;
    for (size_t i = 0; i < n && status == WEFT_OK; ++i) {
        tuning_value *row = rows + i * WIDTH;
        row[0].text = device;
        row[1].text = times[i].primitive;
        row[2].number = times[i].point.elements;
        row[3].number = times[i].point.threads;
        row[4].number = times[i].point.iterations;
        row[5].number = times[i].point.extra;
        row[6].real = times[i].seconds;
        row[7].number = now;
        if (!is_time(times[i].seconds))
            status = weft_error_set(error, WEFT_ERROR_USAGE, "%s: %g s is not a time",
                                    times[i].primitive, times[i].seconds);
    }
    if (status == WEFT_OK)
        status = weft_tuning_put(tuning, TUNING_TIMES, rows, n, error);
    free(rows);
    return status;
}

weft_status weft_tuning_times(weft_tuning *tuning, const char *device, const char *primitive,
                              weft_arena *arena, weft_tuning_time **out, size_t *n,
                              weft_error *error) {
    enum { WIDTH = 8 };
    weft_status status = WEFT_OK;
    const tuning_value keys[] = {{.text = device}, {.text = primitive}};
    tuning_rows found = {0};
    TRY(weft_tuning_find(tuning, TUNING_TIMES, keys, primitive ? 2 : 1, arena, &found, error));
    weft_tuning_time *times = weft_arena_alloc(arena, found.n + 1, sizeof *times);
    if (!times)
        TRY(weft_out_of_memory(error, "the tuning database"));
    for (size_t i = 0; i < found.n; ++i) {
        const tuning_value *row = found.values + i * WIDTH;
        times[i] = (weft_tuning_time){
            row[1].text, {row[2].number, row[3].number, row[4].number, row[5].number}, row[6].real};
    }
    *out = times;
    *n = found.n;
done:
    return status;
}

weft_status weft_tuning_set(weft_tuning *tuning, const char *device, const char *name, double value,
                            weft_error *error) {
    if (!isfinite(value))
        return weft_error_set(error, WEFT_ERROR_USAGE, "%s: %g is not a number", name, value);
    const tuning_value row[] = {
        {.text = device}, {.text = name}, {.real = value}, {.number = (int64_t)time(NULL)}};
    return weft_tuning_put(tuning, TUNING_NUMBERS, row, 1, error);
}

weft_status weft_tuning_get(weft_tuning *tuning, const char *device, const char *name,
                            double *value, bool *found, weft_error *error) {
    weft_status status = WEFT_OK;
    const tuning_value keys[] = {{.text = device}, {.text = name}};
    tuning_rows rows = {0};
    weft_arena *arena = NULL;
    *found = false;
    TRY(weft_arena_make(&arena, error));
    TRY(weft_tuning_find(tuning, TUNING_NUMBERS, keys, 2, arena, &rows, error));
    *found = rows.n > 0;
    if (*found)
        *value = rows.values[2].real;
done:
    weft_arena_free(&arena);
    return status;
}

weft_status weft_tuning_add_kernel(weft_tuning *tuning, const char *device,
                                   const weft_tuning_kernel *kernel, weft_error *error) {
    if (!is_time(kernel->measured) || !(kernel->predicted >= 0) || isinf(kernel->predicted))
        return weft_error_set(error, WEFT_ERROR_USAGE, "%s: %g s predicted, %g s measured",
                              kernel->name, kernel->predicted, kernel->measured);
    const tuning_value row[] = {{.text = device},
                                {.text = kernel->kernel},
                                {.number = kernel->elements},
                                {.text = kernel->name},
                                {.real = kernel->predicted},
                                {.real = kernel->measured},
                                {.number = (int64_t)time(NULL)}};
    return weft_tuning_put(tuning, TUNING_KERNELS, row, 1, error);
}

weft_status weft_tuning_kernels(weft_tuning *tuning, const char *device, weft_arena *arena,
                                weft_tuning_kernel **out, size_t *n, weft_error *error) {
    enum { WIDTH = 7 };
    weft_status status = WEFT_OK;
    const tuning_value keys[] = {{.text = device}};
    tuning_rows found = {0};
    TRY(weft_tuning_find(tuning, TUNING_KERNELS, keys, 1, arena, &found, error));
    weft_tuning_kernel *kernels = weft_arena_alloc(arena, found.n + 1, sizeof *kernels);
    if (!kernels)
        TRY(weft_out_of_memory(error, "the tuning database"));
    for (size_t i = 0; i < found.n; ++i) {
        const tuning_value *row = found.values + i * WIDTH;
        kernels[i] =
            (weft_tuning_kernel){row[1].text, row[3].text, row[2].number, row[4].real, row[5].real};
    }
    *out = kernels;
    *n = found.n;
done:
    return status;
}

int weft_tuning_size_class(int64_t n) {
    int class = 0;
    for (; n >= 1024; n /= 4)
        ++class;
    return class;
}

weft_status weft_tuning_store(weft_tuning *tuning, const char *device,
                              const weft_tuning_best_plan *best_plan, weft_error *error) {
    if (!is_time(best_plan->seconds) || !(best_plan->predicted >= 0) || isinf(best_plan->predicted))
        return weft_error_set(error, WEFT_ERROR_USAGE, "a winner of %g s", best_plan->seconds);
    const tuning_value row[] = {{.text = device},
                                {.text = best_plan->script},
                                {.number = best_plan->size_class},
                                {.text = best_plan->cover},
                                {.real = best_plan->predicted},
                                {.real = best_plan->seconds},
                                {.number = (int64_t)time(NULL)}};
    return weft_tuning_put(tuning, TUNING_BEST_PLANS, row, 1, error);
}

weft_status weft_tuning_lookup(weft_tuning *tuning, const char *device, const char *script,
                               int size_class, weft_arena *arena, weft_tuning_best_plan *out,
                               weft_error *error) {
    weft_status status = WEFT_OK;
    const tuning_value keys[] = {{.text = device}, {.text = script}, {.number = size_class}};
    tuning_rows rows = {0};
    *out = (weft_tuning_best_plan){.script = script, .size_class = size_class};
    TRY(weft_tuning_find(tuning, TUNING_BEST_PLANS, keys, 3, arena, &rows, error));
    if (rows.n > 0) {
        out->cover = rows.values[3].text;
        out->predicted = rows.values[4].real;
        out->seconds = rows.values[5].real;
    }
done:
    return status;
}

void weft_device_identity(const weft_device *device, char out[33]) {
    weft_text text = {0};
    /* Skip "cuda:0: ": GPUs of the same model share an identity. */
    const char *name = device->limits.name, *behind = strstr(name, ": ");
    weft_text_add(&text, "format %d|kind %d|%s|", WEFT_TUNING_FORMAT, (int)device->limits.kind,
                  behind && device->limits.kind == WEFT_DEVICE_CUDA ? behind : name);
    if (device->table->identify)
        device->table->identify(device, &text);
    if (text.failed) /* a key without entries */
        weft_hash("", 0, out);
    else
        weft_hash(text.data, text.length, out);
    weft_text_free(&text);
}
