/* Buffers of intermediates that programs use one after another. */
#include "fusion/base/array.h"
#include "fusion/runtime/private.h"

#include <stdint.h>
#include <stdlib.h>

typedef struct buffer_list {
    weft_memory **list;
    int n;
} buffer_list;

/* Buffers that live while a segment runs, and lists that segments of a program hand on. */
struct weft_shared_buffers {
    buffer_list buffers, names;
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
    buffer_list *const lists[] = {&(*shared)->buffers, &(*shared)->names};
    for (int k = 0; k < 2; ++k) {
        for (int i = 0; i < lists[k]->n; ++i)
            weft_memory_free(&lists[k]->list[i]);
        free(lists[k]->list);
    }
    free(*shared);
    *shared = NULL;
}

void weft_program_share_buffers(weft_program *program, weft_shared_buffers *shared) {
    program->shared = shared;
    for (int i = 0; i < program->compilation->control->n_segments; ++i)
        program->segments[i]->shared = shared;
}

static bool is_taken(weft_memory *const *taken, int n, const weft_memory *memory) {
    for (int i = 0; i < n; ++i)
        if (taken[i] == memory)
            return true;
    return false;
}

/* The smallest that is large enough and not taken, or another one.
 * taken  [n]
 * most   bytes that it may have */
static weft_status take(buffer_list *from, weft_memory *const *taken, int n, weft_device *device,
                        size_t needed, size_t most, weft_memory **out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_memory *found = NULL;
    for (int i = 0; i < from->n; ++i) {
        weft_memory *memory = from->list[i];
        const size_t bytes = weft_memory_bytes(memory);
        if (bytes >= needed && bytes <= most && (!found || bytes < weft_memory_bytes(found)) &&
            !is_taken(taken, n, memory))
            found = memory;
    }
    if (!found) {
        weft_memory **list = realloc(from->list, ((size_t)from->n + 1) * sizeof(weft_memory *));
        if (!list)
            TRY(weft_no_memory(error));
        from->list = list;
        TRY(weft_memory_make(device, needed, &list[from->n], error));
        found = list[from->n++];
    }
    *out = found;
done:
    return status;
}

weft_status weft_program_shared_buffer(const weft_program_segment *p, size_t needed,
                                       weft_memory **out, weft_error *error) {
    return take(&p->shared->buffers, p->buffers, p->segment->plan->n_buffers, p->device, needed,
                SIZE_MAX, out, error);
}

/* Operators take lists that are as long as their index set. */
weft_status weft_program_shared_name(const weft_program *p, size_t needed, weft_memory **out,
                                     weft_error *error) {
    return take(&p->shared->names, p->memory, p->compilation->control->n_names, p->device, needed,
                needed, out, error);
}
