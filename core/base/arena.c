/* Allocates from growing chunks of memory that are freed together. */
#include "core/base/number.h"
#include "core/weft_core.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARENA_ALIGNMENT = _Alignof(max_align_t), CHUNK_BYTES = 16384 };

/* Chunks are zeroed when allocated and each byte is handed out once, so allocations are zeroed. */
typedef struct arena_chunk {
    struct arena_chunk *next;
    size_t used, capacity;
    _Alignas(max_align_t) unsigned char bytes[];
} arena_chunk;

struct weft_arena {
    arena_chunk *chunks; /* the first one is being filled */
    size_t chunk_bytes;
};

weft_status weft_arena_make(weft_arena **out, weft_error *error) {
    weft_arena *arena = calloc(1, sizeof *arena);
    if (!arena)
        return weft_out_of_memory(error, "an arena");
    arena->chunk_bytes = CHUNK_BYTES;
    *out = arena;
    return WEFT_OK;
}

static void free_chunks(arena_chunk *chunk) {
    while (chunk) {
        arena_chunk *next = chunk->next;
        free(chunk);
        chunk = next;
    }
}

void weft_arena_clear(weft_arena *arena) {
    arena_chunk *first = arena->chunks;
    if (!first)
        return;
    free_chunks(first->next);
    first->next = NULL;
    memset(first->bytes, 0, first->used);
    first->used = 0;
}

void weft_arena_free(weft_arena **arena) {
    if (!arena || !*arena)
        return;
    free_chunks((*arena)->chunks);
    free(*arena);
    *arena = NULL;
}

static arena_chunk *chunk_make(size_t capacity) {
    size_t bytes;
    if (__builtin_add_overflow(capacity, sizeof(arena_chunk), &bytes))
        return NULL;
    arena_chunk *chunk = calloc(1, bytes);
    if (chunk)
        chunk->capacity = capacity;
    return chunk;
}

void *weft_arena_alloc(weft_arena *arena, size_t count, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) ||
        __builtin_add_overflow(bytes, (size_t)ARENA_ALIGNMENT - 1, &bytes))
        return NULL;
    bytes &= ~((size_t)ARENA_ALIGNMENT - 1);
    if (bytes == 0)
        bytes = ARENA_ALIGNMENT;
    arena_chunk *chunk = arena->chunks;
    if (chunk && bytes <= chunk->capacity - chunk->used) {
        void *place = chunk->bytes + chunk->used;
        chunk->used += bytes;
        return place;
    }
    bool large = bytes > arena->chunk_bytes / 4;
    arena_chunk *fresh = chunk_make(large ? bytes : arena->chunk_bytes);
    if (!fresh)
        return NULL;
    fresh->used = bytes;
    if (large && chunk) { /* second in the list, so that the current chunk continues to be filled */
        fresh->next = chunk->next;
        chunk->next = fresh;
    } else {
        fresh->next = chunk;
        arena->chunks = fresh;
        if (!large && arena->chunk_bytes < (size_t)1 << 20)
            arena->chunk_bytes *= 2;
    }
    return fresh->bytes;
}

char *weft_arena_copy(weft_arena *arena, const char *text, size_t length) {
    if (length == SIZE_MAX)
        return NULL;
    char *copy = weft_arena_alloc(arena, length + 1, 1);
    if (copy && length > 0)
        memcpy(copy, text, length);
    return copy;
}

char *weft_arena_print(weft_arena *arena, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int length = weft_print_list(NULL, 0, format, arguments);
    va_end(arguments);
    if (length < 0)
        return NULL;
    char *text = weft_arena_alloc(arena, (size_t)length + 1, 1);
    if (!text)
        return NULL;
    va_start(arguments, format);
    weft_print_list(text, (size_t)length + 1, format, arguments);
    va_end(arguments);
    return text;
}
