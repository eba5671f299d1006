/* Makes a connectivity and its interleaved and transposed forms, one of each per lane count. */
#include "fusion/connectivity/connectivity.h"
#include "core/base/fault.h"
#include "core/base/sort.h"
#include "core/weft_core.h"
#include "fusion/connectivity/private.h"
#include "fusion/weft_program.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNKS = 256, TASK_BLOCKS = 1024 };

/* The forms for one lane count; each is NULL until first asked for. */
struct weft_connectivity_copy {
    int lanes;
    weft_memory *interleaved, *start, *positions;
    weft_schedule *schedule;
    weft_connectivity_copy *next;
};

weft_status weft_cells_no_memory(const char *what, int64_t n, weft_error *error) {
    weft_error_set(error, WEFT_ERROR_MEMORY, "no memory for the %s of %lld cells", what,
                   (long long)n);
    weft_error_hint(error, "use a coarser mesh or a machine with more memory");
    return WEFT_ERROR_MEMORY;
}

typedef struct index_check {
    const int32_t *indices;
    int64_t n;
    uint32_t highest[CHUNKS]; /* as unsigned: a negative index is above every valid one */
} index_check;

static void check_chunk(void *user, int64_t chunk) {
    index_check *check = user;
    int64_t each = check->n / CHUNKS + 1, first = chunk * each;
    int64_t last = first + each < check->n ? first + each : check->n;
    uint32_t highest = 0;
    for (int64_t i = first; i < last; ++i) {
        uint32_t index = (uint32_t)check->indices[i];
        highest = index > highest ? index : highest;
    }
    check->highest[chunk] = highest;
}

static bool indices_fit(weft_device *device, const int32_t *indices, int64_t n, int64_t n_to) {
    index_check check = {.indices = indices, .n = n};
    bool fit = true;
    (void)weft_device_for(device, CHUNKS, check_chunk, &check, NULL);
    for (int i = 0; i < CHUNKS; ++i)
        fit &= check.highest[i] < n_to;
    return fit || n == 0;
}

static weft_status connectivity_new(weft_device *device, const int32_t *indices, int64_t n_from,
                                    int width, int64_t n_to, weft_connectivity **out,
                                    weft_error *error) {
    weft_connectivity *made = calloc(1, sizeof *made);
    if (!made)
        return weft_cells_no_memory("connectivity", n_from, error);
    *made = (weft_connectivity){
        .device = device, .indices = indices, .n_from = n_from, .n_to = n_to, .width = width};
    *out = made;
    return WEFT_OK;
}

weft_status weft_connectivity_make(weft_device *device, const int32_t *indices, int64_t n_from,
                                   int width, int64_t n_to, weft_connectivity **out,
                                   weft_error *error) {
    weft_status status = WEFT_OK;
    int64_t n_indices;
    if (n_from < 0 || width < 1 || n_to < 0 || n_to > INT32_MAX ||
        __builtin_mul_overflow(n_from, (int64_t)width, &n_indices)) {
        status = weft_error_set(error, WEFT_ERROR_SHAPE,
                                "a connectivity from %lld elements, %d each, to %lld: sizes must "
                                "be positive and the target below 2^31",
                                (long long)n_from, width, (long long)n_to);
        goto done;
    }
    bool fit = indices_fit(device, indices, n_indices, n_to);
    for (int64_t i = 0; !fit && i < n_indices; ++i) {
        if (indices[i] < 0 || indices[i] >= n_to) {
            status = weft_error_set(
                error, WEFT_ERROR_SHAPE,
                "index %d of element %lld (place %lld of %d) is not in [0, %lld)", indices[i],
                (long long)(i / width), (long long)(i % width), width, (long long)n_to);
            goto done;
        }
    }
    status = connectivity_new(device, indices, n_from, width, n_to, out, error);
done:
    return status;
}

weft_status weft_connectivity_make_copied(weft_device *device, const int32_t *indices,
                                          weft_memory **plain, int width, int64_t n_to,
                                          weft_connectivity **out, weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n = (int64_t)(weft_memory_bytes(*plain) / sizeof *indices);
    bool fit = false;
    TRY(weft_indices_fit_on_device(device, *plain, n, n_to, &fit, error));
    if (!fit && !indices)
        TRY(weft_error_set(error, WEFT_ERROR_SHAPE, "an index on the device is not in [0, %lld)",
                           (long long)n_to));
    if (!fit) { /* which says what does not */
        status = weft_connectivity_make(device, indices, n / width, width, n_to, out, error);
        goto done;
    }
    TRY(connectivity_new(device, indices, n / width, width, n_to, out, error));
    (*out)->plain = *plain;
    *plain = NULL;
done:
    return status;
}

void weft_connectivity_free(weft_connectivity **connectivity) {
    if (!connectivity || !*connectivity)
        return;
    weft_connectivity_copy *form = (*connectivity)->forms;
    weft_memory_free(&(*connectivity)->from_share.owned);
    free((*connectivity)->from_marks);
    while (form) {
        weft_connectivity_copy *next = form->next;
        weft_memory_free(&form->interleaved);
        weft_memory_free(&form->start);
        weft_memory_free(&form->positions);
        weft_schedule_free(&form->schedule);
        free(form);
        form = next;
    }
    while ((*connectivity)->patches) {
        weft_patches *next = (*connectivity)->patches->next;
        weft_patches_free(&(*connectivity)->patches);
        (*connectivity)->patches = next;
    }
    while ((*connectivity)->cell_patches) {
        weft_cell_patches *next = (*connectivity)->cell_patches->next;
        weft_cell_patches_free(&(*connectivity)->cell_patches);
        (*connectivity)->cell_patches = next;
    }
    weft_cell_colours_free(&(*connectivity)->colours);
    weft_memory_free(&(*connectivity)->plain);
    free((*connectivity)->own);
    free(*connectivity);
    *connectivity = NULL;
}

int64_t weft_connectivity_from(const weft_connectivity *connectivity) {
    return connectivity->n_from;
}

int64_t weft_connectivity_to(const weft_connectivity *connectivity) {
    return connectivity->n_to;
}

weft_status weft_connectivity_share(weft_connectivity *connectivity, const weft_share *to,
                                    weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t n = (size_t)connectivity->n_from;
    const int width = connectivity->width;
    unsigned char *of_to = malloc((size_t)connectivity->n_to + 1), *of_from = malloc(n + 1);
    weft_memory *owned = NULL;
    if (!of_to || !of_from)
        TRY(weft_out_of_memory(error, "what ranks own"));
    TRY(weft_connectivity_read(connectivity, error));
    TRY(weft_memory_read(to->owned, 0, of_to, (size_t)connectivity->n_to, error));
    for (size_t i = 0; i < n; ++i) {
        const int32_t *row = connectivity->indices + i * (size_t)width;
        int32_t lowest = row[0];
        for (int k = 1; k < width; ++k)
            lowest = row[k] < lowest ? row[k] : lowest;
        of_from[i] = of_to[lowest];
    }
    TRY(weft_memory_make(connectivity->device, n, &owned, error));
    TRY(weft_memory_write(owned, 0, of_from, n, error));
    weft_memory_free(&connectivity->from_share.owned);
    free(connectivity->from_marks);
    connectivity->from_share = (weft_share){.comm = to->comm,
                                            .owned = owned,
                                            .marks = of_from,
                                            .team = to->team,
                                            .in_kernels = to->in_kernels};
    connectivity->from_marks = of_from;
    connectivity->to_share = to;
    owned = NULL;
    of_from = NULL;
done:
    weft_memory_free(&owned);
    free(of_to);
    free(of_from);
    return status;
}

const weft_share *weft_connectivity_from_share(const weft_connectivity *connectivity) {
    return connectivity->from_share.owned ? &connectivity->from_share : NULL;
}

const weft_share *weft_connectivity_to_share(const weft_connectivity *connectivity) {
    return connectivity->to_share;
}

int weft_connectivity_width(const weft_connectivity *connectivity) {
    return connectivity->width;
}

const int32_t *weft_connectivity_indices(const weft_connectivity *connectivity) {
    return connectivity->indices;
}

static weft_connectivity_copy *form_find(weft_connectivity *connectivity, int lanes) {
    weft_connectivity_copy *form = connectivity->forms;
    while (form && form->lanes != lanes)
        form = form->next;
    if (!form) {
        form = calloc(1, sizeof *form);
        if (form) {
            form->lanes = lanes;
            form->next = connectivity->forms;
            connectivity->forms = form;
        }
    }
    return form;
}

weft_status weft_upload_make(weft_device *device, size_t count, size_t size, const char *what,
                             int64_t n, weft_upload *out, weft_error *error) {
    weft_status status = WEFT_OK;
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes))
        TRY(weft_cells_no_memory(what, n, error));
    TRY(weft_memory_make_unset(device, bytes, &out->memory, error));
    out->array = weft_memory_host(out->memory);
    if (!out->array && !(out->array = weft_array_make_unset(bytes)))
        status = weft_cells_no_memory(what, n, error);
done:
    return status;
}

weft_status weft_upload_send(weft_upload *upload, weft_memory **out, weft_error *error) {
    weft_status status = WEFT_OK;
    if (upload->memory && upload->array != weft_memory_host(upload->memory))
        TRY(weft_memory_write(upload->memory, 0, upload->array, weft_memory_bytes(upload->memory),
                              error));
    *out = upload->memory;
    if (upload->memory && upload->array != weft_memory_host(upload->memory))
        free(upload->array);
    *upload = (weft_upload){0};
done:
    return status;
}

void weft_upload_free(weft_upload *upload) {
    if (!upload->memory || upload->array != weft_memory_host(upload->memory))
        free(upload->array);
    weft_memory_free(&upload->memory);
    upload->array = NULL;
}

/* The order of an interleaved form, which is copied back. */
typedef struct deinterleaving {
    const weft_connectivity *connectivity;
    const int32_t *from;
    int32_t *out;
    int lanes;
} deinterleaving;

static void deinterleave_chunk(void *user, int64_t chunk) {
    const deinterleaving *in = user;
    const int64_t n = in->connectivity->n_from, end = n * (chunk + 1) / CHUNKS;
    const int width = in->connectivity->width, lanes = in->lanes;
    for (int64_t i = n * chunk / CHUNKS; i < end; ++i)
        for (int k = 0; k < width; ++k)
            in->out[i * width + k] = in->from[(i / lanes * width + k) * lanes + i % lanes];
}

static weft_status read_interleaved(const weft_connectivity *connectivity, int32_t *out,
                                    weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_connectivity_copy *form = connectivity->forms;
    int32_t *copy = NULL;
    while (form && !form->interleaved)
        form = form->next;
    if (!form)
        TRY(weft_error_set(error, WEFT_ERROR_INTERNAL,
                           "the indices of a connectivity were released"));
    copy = weft_array_make_unset(weft_memory_bytes(form->interleaved));
    if (!copy)
        TRY(weft_cells_no_memory("connectivity", connectivity->n_from, error));
    TRY(weft_memory_read(form->interleaved, 0, copy, weft_memory_bytes(form->interleaved), error));
    deinterleaving in = {connectivity, copy, out, form->lanes};
    TRY(weft_device_for(connectivity->device, CHUNKS, deinterleave_chunk, &in, error));
done:
    free(copy);
    return status;
}

/* What is read is kept, which changes nothing of what the connectivity is. */
weft_status weft_connectivity_read(const weft_connectivity *connectivity, weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t bytes =
        (size_t)connectivity->n_from * (size_t)connectivity->width * sizeof(int32_t);
    int32_t *made = NULL;
    if (connectivity->indices)
        goto done;
    made = weft_array_make_unset(bytes);
    if (!made)
        TRY(weft_cells_no_memory("connectivity", connectivity->n_from, error));
    TRY(connectivity->plain ? weft_memory_read(connectivity->plain, 0, made, bytes, error)
                            : read_interleaved(connectivity, made, error));
    weft_connectivity *keeper = (weft_connectivity *)(uintptr_t)connectivity;
    keeper->indices = keeper->own = made;
    made = NULL;
done:
    free(made);
    return status;
}

typedef struct interleaving {
    const weft_connectivity *connectivity;
    int32_t *target;
    int64_t n_blocks;
    int lanes;
} interleaving;

static void interleave_task(void *user, int64_t task) {
    const interleaving *in = user;
    const int32_t *indices = in->connectivity->indices;
    int64_t n = in->connectivity->n_from;
    int width = in->connectivity->width, lanes = in->lanes;
    int64_t last =
        (task + 1) * TASK_BLOCKS < in->n_blocks ? (task + 1) * TASK_BLOCKS : in->n_blocks;
    for (int64_t block = task * TASK_BLOCKS; block < last; ++block)
        for (int lane = 0; lane < lanes; ++lane) {
            int64_t cell = block * lanes + lane;
            const int32_t *source = indices + (cell < n ? cell : n - 1) * width;
            for (int i = 0; i < width; ++i)
                in->target[(block * width + i) * lanes + lane] = source[i];
        }
}

weft_status weft_connectivity_interleaved(weft_connectivity *connectivity, int lanes,
                                          weft_memory **out, weft_error *error) {
    weft_status status = WEFT_OK;
    static const char what[] = "interleaved connectivity";
    weft_upload made = {0};
    int64_t n = connectivity->n_from, n_blocks = (n + lanes - 1) / lanes;
    weft_connectivity_copy *form = form_find(connectivity, lanes);
    if (!form)
        TRY(weft_cells_no_memory(what, n, error));
    if (!form->interleaved && weft_setup_on_device(connectivity->device)) {
        TRY(weft_interleave_on_device(connectivity, lanes, &form->interleaved, error));
    } else if (!form->interleaved) {
        TRY(weft_upload_make(connectivity->device,
                             (size_t)(n_blocks * lanes) * (size_t)connectivity->width,
                             sizeof(int32_t), what, n, &made, error));
        interleaving in = {connectivity, made.array, n_blocks, lanes};
        TRY(weft_device_for(connectivity->device, (n_blocks + TASK_BLOCKS - 1) / TASK_BLOCKS,
                            interleave_task, &in, error));
        TRY(weft_upload_send(&made, &form->interleaved, error));
    }
    *out = form->interleaved;
done:
    weft_upload_free(&made);
    return status;
}

/* A counting sort by target, in parallel over blocks. Several threads draw slots from an atomic counter, and each list is
 * sorted afterwards, so that every target gets its contributions in the order of the elements, however these are put
 * into blocks. The numbers element * width + i become positions in the end. */
typedef struct transposition {
    const int32_t *indices;
    int64_t n, n_to, n_blocks;
    int width, lanes;
    bool shared; /* more than one thread */
    int64_t *start;
    uint32_t *positions;
} transposition;

static int64_t draw(int64_t *counter, bool shared) {
    return shared ? __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED) : (*counter)++;
}

static void count_task(void *user, int64_t task) {
    const transposition *t = user;
    int64_t last = (task + 1) * TASK_BLOCKS * t->lanes;
    for (int64_t i = task * TASK_BLOCKS * t->lanes; i < last && i < t->n; ++i)
        for (int k = 0; k < t->width; ++k)
            draw(&t->start[t->indices[i * t->width + k]], t->shared);
}

static void place_task(void *user, int64_t task) {
    const transposition *t = user;
    const int64_t each = (int64_t)TASK_BLOCKS * t->lanes, last = (task + 1) * each;
    for (int64_t cell = task * each; cell < last && cell < t->n; ++cell)
        for (int i = 0; i < t->width; ++i) {
            const int64_t place = cell * t->width + i;
            t->positions[draw(&t->start[t->indices[place]], t->shared)] = (uint32_t)place;
        }
}

/* Sort the lists of some targets, and turn numbers into positions in the blocked layout. */
static void sort_task(void *user, int64_t chunk) {
    const transposition *t = user;
    const int64_t each = t->n_to / CHUNKS + 1, first = chunk * each;
    const int64_t last = first + each < t->n_to ? first + each : t->n_to;
    const int64_t width = t->width, lanes = t->lanes;
    for (int64_t target = first; target < last && t->shared; ++target)
        weft_numbers_sort(t->positions + t->start[target],
                          (size_t)(t->start[target + 1] - t->start[target]));
    for (int64_t k = first < last ? t->start[first] : 0; first < last && k < t->start[last]; ++k) {
        const int64_t cell = t->positions[k] / width, i = t->positions[k] % width;
        const bool in_tail = (cell / lanes + 1) * lanes > t->n;
        t->positions[k] =
            (uint32_t)((cell / lanes * width + i) *
                           (weft_fault("tail_transposed") && in_tail ? t->n % lanes : lanes) +
                       cell % lanes);
    }
}

static weft_status transpose(const weft_connectivity *connectivity, int lanes, int64_t *start,
                             uint32_t *positions, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_device *device = connectivity->device;
    int64_t n = connectivity->n_from, n_to = connectivity->n_to, sum = 0;
    int64_t n_blocks = (n + lanes - 1) / lanes,
            n_tasks = (n_blocks + TASK_BLOCKS - 1) / TASK_BLOCKS;
    transposition t = {.indices = connectivity->indices,
                       .n = n,
                       .n_to = n_to,
                       .n_blocks = n_blocks,
                       .width = connectivity->width,
                       .lanes = lanes,
                       .shared = device && weft_device_limits(device)->threads > 1,
                       .start = start,
                       .positions = positions};
    memset(start, 0, ((size_t)n_to + 1) * sizeof *start);
    TRY(weft_device_for(device, n_tasks, count_task, &t, error));
    for (int64_t j = 0; j <= n_to; ++j) {
        int64_t count = start[j];
        start[j] = sum;
        sum += count;
    }
    TRY(weft_device_for(device, n_tasks, place_task, &t, error));
    memmove(start + 1, start, (size_t)n_to * sizeof *start);
    start[0] = 0;
    TRY(weft_device_for(device, CHUNKS, sort_task, &t, error));
done:
    return status;
}

static weft_status transpose_on_host(const weft_connectivity *connectivity, int lanes,
                                     weft_memory **start, weft_memory **positions,
                                     weft_error *error) {
    weft_status status = WEFT_OK;
    static const char what[] = "transposed connectivity";
    weft_upload starts = {0}, places = {0};
    weft_memory *made = NULL;
    const int64_t n = connectivity->n_from, n_indices = n * connectivity->width;
    TRY(weft_upload_make(connectivity->device, (size_t)connectivity->n_to + 1, sizeof(int64_t),
                         what, n, &starts, error));
    TRY(weft_upload_make(connectivity->device, (size_t)n_indices, sizeof(uint32_t), what, n,
                         &places, error));
    TRY(transpose(connectivity, lanes, starts.array, places.array, error));
    TRY(weft_upload_send(&starts, &made, error));
    TRY(weft_upload_send(&places, positions, error));
    *start = made;
    made = NULL;
done:
    weft_memory_free(&made);
    weft_upload_free(&starts);
    weft_upload_free(&places);
    return status;
}

weft_status weft_connectivity_transposed(weft_connectivity *connectivity, int lanes,
                                         weft_memory **start, weft_memory **positions,
                                         weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n = connectivity->n_from, n_indices = n * connectivity->width;
    weft_connectivity_copy *form = form_find(connectivity, lanes);
    if (!form)
        TRY(weft_cells_no_memory("transposed connectivity", n, error));
    if (!form->positions) {
        if (n_indices + (int64_t)lanes * connectivity->width > (int64_t)UINT32_MAX) {
            status = weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                                    "%lld cells of %d places are too many to gather (2^32 places)",
                                    (long long)n, connectivity->width);
            weft_error_hint(error, "use the assembly lma in place of lma-gather");
            goto done;
        }
        TRY(weft_setup_on_device(connectivity->device)
                ? weft_transpose_on_device(connectivity, lanes, &form->start, &form->positions,
                                           error)
                : transpose_on_host(connectivity, lanes, &form->start, &form->positions, error));
    }
    *start = form->start;
    *positions = form->positions;
done:
    return status;
}

void weft_connectivity_release_plain(weft_connectivity *connectivity) {
    weft_memory_free(&connectivity->plain);
}

void weft_connectivity_release_transposed(weft_connectivity *connectivity) {
    for (weft_connectivity_copy *form = connectivity->forms; form; form = form->next) {
        weft_memory_free(&form->start);
        weft_memory_free(&form->positions);
    }
}

void weft_connectivity_release(weft_connectivity *connectivity) {
    if (weft_connectivity_read(connectivity, NULL) != WEFT_OK)
        return;
    weft_connectivity_release_transposed(connectivity);
    for (weft_connectivity_copy *form = connectivity->forms; form; form = form->next)
        weft_memory_free(&form->interleaved);
    weft_memory_free(&connectivity->plain);
}

int weft_connectivity_ranges(const weft_limits *limits, size_t n_indices) {
    return limits->execution == WEFT_EXECUTION_SIMT && !limits->records_only &&
                   n_indices > limits->memory_bytes / 16 / 12
               ? WEFT_CONNECTIVITY_RANGES
               : 1;
}

/* The blocks of a form from `first` on, without a copy. */
static weft_status range_form(const weft_connectivity_copy *whole, int64_t first,
                              weft_connectivity *range, weft_error *error) {
    const int64_t lanes = whole->lanes, n_blocks = (range->n_from + lanes - 1) / lanes;
    const size_t row = (size_t)range->width * sizeof(int32_t);
    char *address = weft_memory_address(whole->interleaved);
    weft_connectivity_copy *form = form_find(range, whole->lanes);
    if (!form)
        return weft_cells_no_memory("interleaved connectivity", range->n_from, error);
    return weft_memory_borrow(range->device, address ? address + (size_t)first * row : NULL,
                              (size_t)(n_blocks * lanes) * row, &form->interleaved, error);
}

weft_status weft_connectivity_range_make(const weft_connectivity *connectivity, int64_t first,
                                         int64_t n, weft_connectivity **out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_connectivity *made = NULL;
    TRY(weft_connectivity_read(connectivity, error));
    TRY(connectivity_new(connectivity->device, connectivity->indices + first * connectivity->width,
                         n, connectivity->width, connectivity->n_to, &made, error));
    for (const weft_connectivity_copy *form = connectivity->forms; form; form = form->next)
        if (form->interleaved && first % form->lanes == 0 &&
            (n % form->lanes == 0 || first + n == connectivity->n_from))
            TRY(range_form(form, first, made, error));
    *out = made;
    made = NULL;
done:
    weft_connectivity_free(&made);
    return status;
}

weft_status weft_connectivity_schedule(weft_connectivity *connectivity, int lanes,
                                       const weft_schedule **out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_connectivity_copy *form = form_find(connectivity, lanes);
    if (!form)
        TRY(weft_cells_no_memory("schedule", connectivity->n_from, error));
    TRY(weft_connectivity_read(connectivity, error));
    if (!form->schedule)
        TRY(weft_schedule_make(connectivity, lanes, &form->schedule, error));
    *out = form->schedule;
done:
    return status;
}

/* ---- interleaving of values ---- */

/* The element of a lane of a block; spare lanes repeat the last element. */
static int64_t specialisation_of(int64_t block, int lane, int lanes, int64_t n) {
    int64_t i = block * lanes + lane;
    return i < n ? i : n - 1;
}

void weft_interleave(const double *plain, int64_t n, int components, int lanes, double *out) {
    int64_t n_blocks = (n + lanes - 1) / lanes;
    for (int64_t block = 0; block < n_blocks; ++block)
        for (int c = 0; c < components; ++c)
            for (int lane = 0; lane < lanes; ++lane)
                out[(block * components + c) * lanes + lane] =
                    plain[specialisation_of(block, lane, lanes, n) * components + c];
}

void weft_deinterleave(const double *interleaved, int64_t n, int components, int lanes,
                       double *out) {
    for (int64_t i = 0; i < n; ++i)
        for (int c = 0; c < components; ++c)
            out[i * components + c] = interleaved[(i / lanes * components + c) * lanes + i % lanes];
}
