/* Random inputs in [-1, 1), outputs, and how a task is checked and timed. */
#include "bench_blas.h"
#include "bench_cuda.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE = 1 << 16, LANES_MOST = 64, REPEATS_MOST = 99, RUNS_MOST = 100, WARM_UP = 3 };
/* Long enough for an event's half microsecond to be a fraction of a percent. */
#define SHORTEST 3e-4

int64_t blas_count(int64_t n, blas_shape shape) {
    return shape == BLAS_NUMBER ? 1 : shape == BLAS_MATRIX ? n * n : n;
}

static size_t real_bytes(const blas_data *data) {
    return data->single ? sizeof(float) : sizeof(double);
}

double blas_value(const void *list, bool single, int64_t i) {
    return single ? (double)((const float *)list)[i] : ((const double *)list)[i];
}

/* ---- inputs ---------------------------------------------------------------------------------- */

typedef struct filling {
    const blas_data *data;
    void *values;
    int64_t n;
    uint64_t seed;
} filling;

/* Numbers of 24 or 53 bits, which the precision represents: hash of seed and position
 * (splitmix64). */
static void fill_piece(void *user, int64_t piece) {
    const filling *f = user;
    const int64_t last = (piece + 1) * PIECE < f->n ? (piece + 1) * PIECE : f->n;
    for (int64_t i = piece * PIECE; i < last; ++i) {
        uint64_t z = f->seed + (uint64_t)i * 0x9e3779b97f4a7c15u;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        z ^= z >> 31;
        if (f->data->single)
            ((float *)f->values)[i] = (float)((double)(z >> 40) * 0x1p-23 - 1);
        else
            ((double *)f->values)[i] = (double)(z >> 11) * 0x1p-52 - 1;
    }
}

weft_status blas_data_make(blas_data *data, weft_error *error) {
    weft_status status = WEFT_OK;
    static const double numbers[2] = {BLAS_ALPHA, BLAS_BETA};
    for (int i = 0; i < 2; ++i) {
        const float narrow = (float)numbers[i];
        TRY(weft_memory_make(data->device, real_bytes(data), &data->numbers[i], error));
        TRY(weft_memory_write(data->numbers[i], 0,
                              data->single ? (const void *)&narrow : &numbers[i], real_bytes(data),
                              error));
    }
done:
    return status;
}

static int64_t padded(int64_t count) {
    return (count + LANES_MOST - 1) / LANES_MOST * LANES_MOST;
}

weft_status blas_data_need(blas_data *data, blas_input which, weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t count = blas_count(data->n, which <= BLAS_B ? BLAS_MATRIX : BLAS_VECTOR);
    const size_t bytes = (size_t)padded(count) * real_bytes(data);
    filling f = {.data = data, .n = count, .seed = data->seed + ((uint64_t)which << 56)};
    if (data->memories[which])
        return WEFT_OK;
    data->values[which] = weft_array_make((size_t)padded(count), real_bytes(data));
    if (!data->values[which])
        return weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory for an input");
    f.values = data->values[which];
    TRY(weft_device_for(data->host, (count + PIECE - 1) / PIECE, fill_piece, &f, error));
    TRY(weft_memory_wrap(data->device, f.values, bytes, &data->memories[which], error));
done:
    return status;
}

void blas_data_clear(blas_data *data) {
    for (int i = 0; i < BLAS_INPUTS; ++i) {
        weft_memory_free(&data->memories[i]);
        free(data->values[i]);
        data->values[i] = NULL;
    }
    for (int i = 0; i < 2; ++i)
        weft_memory_free(&data->numbers[i]);
}

weft_status blas_memory(const blas_data *data, blas_shape shape, weft_memory **out,
                        weft_error *error) {
    const size_t bytes = (size_t)padded(blas_count(data->n, shape)) * real_bytes(data);
    return weft_memory_make(data->device, bytes, out, error);
}

/* ---- a sequence at one size ------------------------------------------------------------------ */

weft_status blas_case_make(blas_case *c, weft_error *error) {
    weft_status status = WEFT_OK;
    size_t most = 0;
    for (int i = 0; i < c->sequence->n_inputs; ++i)
        TRY(blas_data_need(c->data, c->sequence->inputs[i], error));
    for (int k = 0; k < BLAS_OUTPUTS && c->sequence->outputs[k].name; ++k) {
        TRY(blas_memory(c->data, c->sequence->outputs[k].shape, &c->outputs[k], error));
        if (weft_memory_bytes(c->outputs[k]) > most)
            most = weft_memory_bytes(c->outputs[k]);
    }
    TRY(blas_memory(c->data, BLAS_VECTOR, &c->scratch, error));
    c->buffer = weft_array_make(most, 1);
    if (!c->buffer)
        TRY(weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory for results"));
    TRY(weft_timer_make(c->data->device, &c->timer, error));
    if (c->options->check)
        TRY(blas_reference_make(c->data, c->sequence, &c->reference, error));
done:
    return status;
}

void blas_case_clear(blas_case *c) {
    for (int k = 0; k < BLAS_OUTPUTS; ++k)
        weft_memory_free(&c->outputs[k]);
    weft_memory_free(&c->scratch);
    weft_timer_free(&c->timer);
    blas_reference_free(&c->reference);
    free(c->buffer);
    c->buffer = NULL;
}

/* The input, where it is overwritten. */
static weft_status restore(const blas_case *c, weft_error *error) {
    const weft_memory *input = c->data->memories[c->sequence->inputs[0]];
    return c->sequence->in_place
               ? weft_memory_copy(c->outputs[0], input, weft_memory_bytes(input), error)
               : WEFT_OK;
}

/* NaN in every output. */
static weft_status poison(const blas_case *c, weft_error *error) {
    weft_status status = WEFT_OK;
    for (int k = 0; k < BLAS_OUTPUTS && c->outputs[k]; ++k) {
        const size_t bytes = weft_memory_bytes(c->outputs[k]);
        memset(c->buffer, 0xff, bytes);
        TRY(weft_memory_write(c->outputs[k], 0, c->buffer, bytes, error));
    }
    TRY(restore(c, error));
done:
    return status;
}

static uint64_t hash(const void *values, size_t bytes) {
    uint64_t h = 14695981039346656037u, word = 0;
    for (size_t i = 0; i < bytes; i += sizeof word) {
        memcpy(&word, (const char *)values + i, bytes - i < sizeof word ? bytes - i : sizeof word);
        h = (h ^ word) * 1099511628211u;
    }
    return h;
}

weft_status blas_case_check(const blas_case *c, blas_task task, void *user, double *worst,
                            weft_error *error) {
    weft_status status = WEFT_OK;
    uint64_t first[BLAS_OUTPUTS] = {0};
    *worst = c->reference ? 0 : -1;
    for (int round = 0; c->reference && round < 2; ++round) {
        TRY(poison(c, error));
        TRY(task(user, error));
        TRY(weft_device_wait(c->data->device, error));
        for (int k = 0; k < BLAS_OUTPUTS && c->outputs[k]; ++k) {
            const size_t bytes =
                (size_t)blas_count(c->data->n, c->sequence->outputs[k].shape) * real_bytes(c->data);
            TRY(weft_memory_read(c->outputs[k], 0, c->buffer, bytes, error));
            const uint64_t bits = hash(c->buffer, bytes);
            if (round == 0) {
                first[k] = bits;
                *worst = fmax(*worst, blas_reference_error(c->reference, k, c->buffer));
            } else if (first[k] != bits)
                *worst = (double)INFINITY;
        }
    }
done:
    return status;
}

/* ---- time ------------------------------------------------------------------------------------ */

static weft_status run_many(const blas_case *c, blas_task task, void *user, int n, double *seconds,
                            weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(weft_timer_start(c->timer, error));
    for (int i = 0; i < n; ++i)
        TRY(task(user, error));
    TRY(weft_timer_stop(c->timer, error));
    TRY(weft_timer_seconds(c->timer, seconds, error));
    *seconds /= n;
done:
    return status;
}

weft_status blas_case_time(const blas_case *c, const blas_task *tasks, void *const *users,
                           double *seconds, weft_error *error) {
    weft_status status = WEFT_OK;
    double taken[2][REPEATS_MOST], once = 0;
    int runs[2] = {1, 1};
    const int n = c->options->repeats;
    TRY(restore(c, error));
    for (int k = 0; k < 2 && tasks[k]; ++k) {
        for (int i = 0; i < WARM_UP; ++i)
            TRY(run_many(c, tasks[k], users[k], 1, &once, error));
        if (once < SHORTEST)
            runs[k] = once > SHORTEST / RUNS_MOST ? (int)(SHORTEST / once) + 1 : RUNS_MOST;
    }
    for (int i = 0; i < n; ++i)
        for (int k = 0; k < 2 && tasks[k]; ++k)
            TRY(run_many(c, tasks[k], users[k], runs[k], &taken[k][i], error));
    for (int k = 0; k < 2 && tasks[k]; ++k)
        seconds[k] = bench_median(taken[k], n);
done:
    return status;
}
