#include "connectivity_internal.h"
#include "star_internal.h"

#include <stdlib.h>
#include <string.h>

/* What programs of one lane count share of a connectivity; each part is NULL until it is asked for.
 */
typedef struct weft_connectivity_form weft_connectivity_form;
struct weft_connectivity_form {
    int lanes;
    weft_memory *interleaved, *start, *positions;
    weft_schedule *schedule;
    weft_connectivity_form *next;
};

struct weft_connectivity {
    weft_device *device;
    const int32_t *indices;
    int64_t n_from, n_to;
    int width;
    weft_connectivity_form *forms;
    weft_stars *stars;
};

static weft_status no_memory(weft_error *error, const char *what, int64_t n) {
    weft_error_set(error, WEFT_ERROR_MEMORY, "no memory for the %s of %lld cells", what,
                   (long long)n);
    weft_error_hint(error, "use a coarser mesh or a machine with more memory");
    return WEFT_ERROR_MEMORY;
}

weft_status weft_connectivity_make(weft_device *device, const int32_t *indices, int64_t n_from,
                                   int width, int64_t n_to, weft_connectivity **out,
                                   weft_error *error) {
    weft_status status = WEFT_OK;
    weft_connectivity *made = NULL;
    int64_t n_indices;
    if (n_from < 0 || width < 1 || n_to < 0 || n_to > INT32_MAX ||
        __builtin_mul_overflow(n_from, (int64_t)width, &n_indices)) {
        status = weft_error_set(error, WEFT_ERROR_SHAPE,
                                "a connectivity from %lld instances, %d each, to %lld: sizes must "
                                "be positive and the target below 2^31",
                                (long long)n_from, width, (long long)n_to);
        goto done;
    }
    for (int64_t i = 0; i < n_indices; ++i) {
        if (indices[i] < 0 || indices[i] >= n_to) {
            status = weft_error_set(
                error, WEFT_ERROR_SHAPE,
                "index %d of instance %lld (place %lld of %d) is not in [0, %lld)", indices[i],
                (long long)(i / width), (long long)(i % width), width, (long long)n_to);
            goto done;
        }
    }
    made = calloc(1, sizeof *made);
    if (!made) {
        status = no_memory(error, "connectivity", n_from);
        goto done;
    }
    *made = (weft_connectivity){device, indices, n_from, n_to, width, NULL, NULL};
    *out = made;
done:
    return status;
}

void weft_connectivity_free(weft_connectivity **connectivity) {
    if (!connectivity || !*connectivity)
        return;
    weft_connectivity_form *form = (*connectivity)->forms;
    while (form) {
        weft_connectivity_form *next = form->next;
        weft_memory_free(&form->interleaved);
        weft_memory_free(&form->start);
        weft_memory_free(&form->positions);
        weft_schedule_free(&form->schedule);
        free(form);
        form = next;
    }
    while ((*connectivity)->stars) {
        weft_stars *next = (*connectivity)->stars->next;
        weft_stars_free(&(*connectivity)->stars);
        (*connectivity)->stars = next;
    }
    free(*connectivity);
    *connectivity = NULL;
}

int64_t weft_connectivity_from(const weft_connectivity *connectivity) {
    return connectivity->n_from;
}

int64_t weft_connectivity_to(const weft_connectivity *connectivity) {
    return connectivity->n_to;
}

int weft_connectivity_width(const weft_connectivity *connectivity) {
    return connectivity->width;
}

const int32_t *weft_connectivity_indices(const weft_connectivity *connectivity) {
    return connectivity->indices;
}

static weft_connectivity_form *form_find(weft_connectivity *connectivity, int lanes) {
    weft_connectivity_form *form = connectivity->forms;
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

/* Device memory and the array to fill: the memory itself where the host can use it. */
static weft_status array_make(weft_device *device, size_t count, size_t size, const char *what,
                              int64_t n, weft_memory **memory, void **array, weft_error *error) {
    weft_status status = WEFT_OK;
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes))
        return no_memory(error, what, n);
    TRY(weft_memory_make(device, bytes, memory, error));
    *array = weft_memory_host(*memory);
    if (!*array && !(*array = weft_array_make(count, size)))
        status = no_memory(error, what, n);
done:
    return status;
}

static weft_status array_finish(weft_memory *memory, void *array, weft_error *error) {
    weft_status status = WEFT_OK;
    if (array && array != weft_memory_host(memory)) {
        status = weft_memory_write(memory, 0, array, weft_memory_bytes(memory), error);
        free(array);
    }
    return status;
}

weft_status weft_connectivity_interleaved(weft_connectivity *connectivity, int lanes,
                                          weft_memory **out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_memory *memory = NULL;
    void *array = NULL;
    int64_t n = connectivity->n_from, n_blocks = (n + lanes - 1) / lanes;
    int width = connectivity->width;
    weft_connectivity_form *form = form_find(connectivity, lanes);
    if (!form)
        return no_memory(error, "connectivity", n);
    if (!form->interleaved) {
        TRY(array_make(connectivity->device, (size_t)(n_blocks * lanes) * (size_t)width,
                       sizeof(int32_t), "interleaved connectivity", n, &memory, &array, error));
        int32_t *target = array;
        for (int64_t block = 0; block < n_blocks; ++block)
            for (int lane = 0; lane < lanes; ++lane) {
                int64_t cell = block * lanes + lane;
                const int32_t *source = connectivity->indices + (cell < n ? cell : n - 1) * width;
                for (int i = 0; i < width; ++i)
                    target[(block * width + i) * lanes + lane] = source[i];
            }
        status = array_finish(memory, array, error);
        array = NULL;
        if (status != WEFT_OK)
            goto done;
        form->interleaved = memory;
        memory = NULL;
    }
    *out = form->interleaved;
done:
    (void)array_finish(memory, array, NULL);
    weft_memory_free(&memory);
    return status;
}

/* Counting sort of the places by target. Places are visited in the order of the blocked layout, so
 * that they ascend for each target. */
static void transpose(const weft_connectivity *connectivity, int lanes, int64_t *start,
                      uint32_t *positions) {
    const int32_t *indices = connectivity->indices;
    int64_t n = connectivity->n_from, n_to = connectivity->n_to;
    int width = connectivity->width;
    for (int64_t i = 0; i < n * width; ++i)
        start[indices[i]] += 1;
    int64_t sum = 0;
    for (int64_t j = 0; j <= n_to; ++j) {
        int64_t count = start[j];
        start[j] = sum;
        sum += count;
    }
    for (int64_t block = 0; block * lanes < n; ++block) {
        const int32_t *cells = indices + block * lanes * width;
        int n_lanes = n - block * lanes < lanes ? (int)(n - block * lanes) : lanes;
        for (int i = 0; i < width; ++i)
            for (int lane = 0; lane < n_lanes; ++lane)
                positions[start[cells[lane * width + i]]++] =
                    (uint32_t)((block * width + i) * lanes + lane);
    }
    memmove(start + 1, start, (size_t)n_to * sizeof *start);
    start[0] = 0;
}

weft_status weft_connectivity_transposed(weft_connectivity *connectivity, int lanes,
                                         weft_memory **start, weft_memory **positions,
                                         weft_error *error) {
    weft_status status = WEFT_OK;
    weft_memory *start_memory = NULL, *position_memory = NULL;
    void *start_array = NULL, *position_array = NULL;
    int64_t n = connectivity->n_from, n_places = n * connectivity->width;
    weft_connectivity_form *form = form_find(connectivity, lanes);
    if (!form)
        return no_memory(error, "transposed connectivity", n);
    if (!form->positions) {
        if (n_places + (int64_t)lanes * connectivity->width > (int64_t)UINT32_MAX) {
            status = weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                                    "%lld cells of %d places are too many to gather (2^32 places)",
                                    (long long)n, connectivity->width);
            weft_error_hint(error, "use the assembly lma in place of lma-gather");
            goto done;
        }
        TRY(array_make(connectivity->device, (size_t)connectivity->n_to + 1, sizeof(int64_t),
                       "transposed connectivity", n, &start_memory, &start_array, error));
        TRY(array_make(connectivity->device, (size_t)n_places, sizeof(uint32_t),
                       "transposed connectivity", n, &position_memory, &position_array, error));
        transpose(connectivity, lanes, start_array, position_array);
        status = array_finish(start_memory, start_array, error);
        start_array = NULL;
        if (status == WEFT_OK)
            status = array_finish(position_memory, position_array, error);
        else
            (void)array_finish(position_memory, position_array, NULL);
        position_array = NULL;
        if (status != WEFT_OK)
            goto done;
        form->start = start_memory;
        form->positions = position_memory;
        start_memory = position_memory = NULL;
    }
    *start = form->start;
    *positions = form->positions;
done:
    (void)array_finish(start_memory, start_array, NULL);
    (void)array_finish(position_memory, position_array, NULL);
    weft_memory_free(&start_memory);
    weft_memory_free(&position_memory);
    return status;
}

weft_status weft_connectivity_schedule(weft_connectivity *connectivity, int lanes,
                                       const weft_schedule **out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_connectivity_form *form = form_find(connectivity, lanes);
    if (!form)
        return no_memory(error, "schedule", connectivity->n_from);
    if (!form->schedule)
        TRY(weft_schedule_make(connectivity, lanes, &form->schedule, error));
    *out = form->schedule;
done:
    return status;
}

weft_status weft_connectivity_stars(weft_connectivity *connectivity, int nodes, bool with_cells,
                                    const weft_stars **out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_stars *stars = connectivity->stars;
    while (stars && (stars->nodes != nodes || stars->with_cells < with_cells))
        stars = stars->next;
    if (!stars) {
        TRY(weft_stars_make(connectivity->device, connectivity, nodes, with_cells, &stars, error));
        stars->next = connectivity->stars;
        connectivity->stars = stars;
    }
    *out = stars;
done:
    return status;
}
