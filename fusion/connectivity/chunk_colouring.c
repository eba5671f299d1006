/* Colours chunks of consecutive cell blocks so that chunks of one colour share no target.
 *
 * Decision  docs/decisions/0005-reductions-are-fixed-trees.md */
#include "core/base/fault.h"
#include "fusion/connectivity/private.h"

#include <stdlib.h>

enum {
    CHUNK_ELEMENTS_LEAST = 512, /* makes the cost of starting a chunk negligible */
    CHUNK_ELEMENTS_MOST = 4096, /* targets and local data of a chunk fit the L2 cache */
    CHUNKS_WANTED = 128,
    SHARED_COLOURS = 64 /* bits of a mask; chunks that find none free get a colour each */
};

typedef struct weft_colouring {
    int64_t chunk_blocks, n_blocks, n_chunks;
    uint64_t *masks;  /* [n_to] colours of the chunks that touch a target */
    int32_t *colours; /* [n_chunks] */
    int64_t used[SHARED_COLOURS];
    int n_shared, n_colours;
} weft_colouring;

static int64_t chunk_blocks(int64_t n_elements, int lanes) {
    int64_t elements = n_elements / CHUNKS_WANTED;
    if (elements < CHUNK_ELEMENTS_LEAST)
        elements = CHUNK_ELEMENTS_LEAST;
    if (elements > CHUNK_ELEMENTS_MOST)
        elements = CHUNK_ELEMENTS_MOST;
    return (elements + lanes - 1) / lanes;
}

/* The least used colour that no neighbour has, else a new one; -1: all shared colours are taken. */
static int colour_choose(weft_colouring *colouring, uint64_t taken) {
    int best = -1;
    for (int c = 0; c < colouring->n_shared; ++c)
        if (!(taken >> c & 1) && (best < 0 || colouring->used[c] < colouring->used[best]))
            best = c;
    if (best < 0 && colouring->n_shared < SHARED_COLOURS)
        best = colouring->n_shared++;
    return best;
}

/* Greedy, in chunk order. A chunk whose neighbours have all shared colours gets one of its own,
 * numbered after the shared ones. */
static void colour_chunks(weft_colouring *colouring, const int32_t *indices, int64_t per_chunk,
                          int64_t n_indices) {
    int32_t own = SHARED_COLOURS;
    for (int64_t chunk = 0; chunk < colouring->n_chunks; ++chunk) {
        int64_t first = chunk * per_chunk, last = first + per_chunk;
        uint64_t taken = 0;
        if (last > n_indices)
            last = n_indices;
        for (int64_t i = first; i < last; ++i)
            taken |= colouring->masks[indices[i]];
        int colour = colour_choose(colouring, taken);
        if (colour < 0) {
            colouring->colours[chunk] = own++;
            continue;
        }
        colouring->colours[chunk] = colour;
        colouring->used[colour] += 1;
        for (int64_t i = first; i < last && !weft_fault("chunks_collide"); ++i)
            colouring->masks[indices[i]] |= (uint64_t)1 << colour;
    }
    colouring->n_colours = colouring->n_shared + (own - SHARED_COLOURS);
    for (int64_t chunk = 0; chunk < colouring->n_chunks; ++chunk)
        if (colouring->colours[chunk] >= SHARED_COLOURS)
            colouring->colours[chunk] -= SHARED_COLOURS - colouring->n_shared;
}

static void schedule_fill(weft_schedule *schedule, const weft_colouring *colouring) {
    int64_t *start = schedule->colour_start;
    for (int64_t chunk = 0; chunk < colouring->n_chunks; ++chunk)
        start[colouring->colours[chunk] + 1] += 1;
    for (int c = 0; c < colouring->n_colours; ++c)
        start[c + 1] += start[c];
    for (int64_t chunk = colouring->n_chunks - 1; chunk >= 0; --chunk) {
        int64_t place = --start[colouring->colours[chunk] + 1];
        int64_t first = chunk * colouring->chunk_blocks, last = first + colouring->chunk_blocks;
        schedule->ranges[place][0] = first;
        schedule->ranges[place][1] = last < colouring->n_blocks ? last : colouring->n_blocks;
    }
    /* start[c + 1] is now where colour c starts */
    for (int c = 0; c < colouring->n_colours; ++c)
        start[c] = start[c + 1];
    start[colouring->n_colours] = colouring->n_chunks;
}

static weft_status no_memory(int64_t n, weft_error *error) {
    return weft_error_set(error, WEFT_ERROR_MEMORY, "no memory for the schedule of %lld cells",
                          (long long)n);
}

weft_status weft_schedule_make(const weft_connectivity *connectivity, int lanes,
                               weft_schedule **out, weft_error *error) {
    weft_status status = WEFT_OK;
    int64_t n = weft_connectivity_from(connectivity), width = weft_connectivity_width(connectivity);
    weft_colouring colouring = {.chunk_blocks = chunk_blocks(n, lanes),
                                .n_blocks = (n + lanes - 1) / lanes};
    colouring.n_chunks = (colouring.n_blocks + colouring.chunk_blocks - 1) / colouring.chunk_blocks;
    size_t n_chunks = (size_t)colouring.n_chunks;
    weft_schedule *schedule = calloc(1, sizeof *schedule);
    colouring.masks = calloc((size_t)weft_connectivity_to(connectivity) + 1, sizeof(uint64_t));
    colouring.colours = calloc(n_chunks + 1, sizeof(int32_t));
    if (!schedule || !colouring.masks || !colouring.colours)
        TRY(no_memory(n, error));
    colour_chunks(&colouring, weft_connectivity_indices(connectivity),
                  colouring.chunk_blocks * lanes * width, n * width);
    schedule->n_colours = colouring.n_colours;
    schedule->colour_start = calloc((size_t)colouring.n_colours + 1, sizeof(int64_t));
    schedule->ranges = calloc(n_chunks + 1, sizeof *schedule->ranges);
    if (!schedule->colour_start || !schedule->ranges)
        TRY(no_memory(n, error));
    schedule_fill(schedule, &colouring);
    *out = schedule;
    schedule = NULL;
done:
    weft_schedule_free(&schedule);
    free(colouring.masks);
    free(colouring.colours);
    return status;
}
