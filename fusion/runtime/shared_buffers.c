/* Buffers of intermediates that programs use one after another. */
#include "fusion/base/array.h"
#include "fusion/runtime/private.h"

#include <stdlib.h>

struct weft_shared_buffers {
    weft_memory **list;
    int n;
};

weft_status weft_shared_buffers_make(weft_shared_buffers **out, weft_error *error) {
    weft_shared_buffers *made = calloc(1, sizeof *made);
    if (!made)
        return weft_no_memory(error);
    *out = made;
    return WEFT_OK;
}

void weft_shared_buffers_free(weft_shared_buffers **shared) {
    if (!shared || !*shared)
        return;
    for (int i = 0; i < (*shared)->n; ++i)
        weft_memory_free(&(*shared)->list[i]);
    free((*shared)->list);
    free(*shared);
    *shared = NULL;
}

void weft_program_share_buffers(weft_program *program, weft_shared_buffers *shared) {
    for (int i = 0; i < program->compilation->control->n_segments; ++i)
        program->segments[i]->shared = shared;
}

static bool is_taken(const weft_program_segment *p, const weft_memory *memory) {
    for (int i = 0; i < p->segment->plan->n_buffers; ++i)
        if (p->buffers[i] == memory)
            return true;
    return false;
}

/* The smallest that is large enough and that this segment has not taken; NULL: there is none. */
static weft_memory *find(const weft_program_segment *p, size_t needed) {
    weft_memory *found = NULL;
    for (int i = 0; i < p->shared->n; ++i) {
        weft_memory *memory = p->shared->list[i];
        const size_t bytes = weft_memory_bytes(memory);
        if (bytes >= needed && (!found || bytes < weft_memory_bytes(found)) && !is_taken(p, memory))
            found = memory;
    }
    return found;
}

weft_status weft_program_shared_buffer(const weft_program_segment *p, size_t needed,
                                       weft_memory **out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_shared_buffers *shared = p->shared;
    if ((*out = find(p, needed)))
        goto done;
    weft_memory **list = realloc(shared->list, ((size_t)shared->n + 1) * sizeof(weft_memory *));
    if (!list)
        TRY(weft_no_memory(error));
    shared->list = list;
    TRY(weft_memory_make(p->device, needed, &list[shared->n], error));
    *out = list[shared->n++];
done:
    return status;
}
