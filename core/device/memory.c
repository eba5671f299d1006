/* Allocates device memory within the device's limit, and checks and counts its use. */
#include "core/device/device.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static void count_bytes(weft_device *device, size_t bytes) {
    size_t now = atomic_fetch_add(&device->bytes, bytes) + bytes;
    size_t peak = atomic_load(&device->bytes_peak);
    while (now > peak && !atomic_compare_exchange_weak(&device->bytes_peak, &peak, now))
        ;
}

/* How storage is made. */
enum { UNSET = 1, REACHABLE = 2 };

static weft_status make_memory(weft_device *device, void *array, size_t bytes, unsigned how,
                               weft_memory **out, weft_error *error) {
    weft_status status = WEFT_OK;
    size_t most = device->limits.memory_bytes, used = weft_device_bytes(device);
    weft_memory *memory = NULL;
    TRY(weft_device_graph_refuses(device, "making an array", error));
    memory = calloc(1, sizeof *memory);
    if (!memory)
        TRY(weft_out_of_memory(error, NULL));
    if ((used > most || bytes > most - used) && device->table->memory_full) {
        status = device->table->memory_full(device, bytes, error);
        goto done;
    }
    if (used > most || bytes > most - used) {
        status = weft_error_set(
            error, WEFT_ERROR_MEMORY, "out of memory on %s: %.3g MB wanted, %.3g of %.3g MB in use",
            device->limits.name, (double)bytes * 1e-6, (double)used * 1e-6, (double)most * 1e-6);
        weft_error_hint(error,
                        "take a smaller mesh, or an assembly that stores less (matrix-free)");
        goto done;
    }
    memory->device = device;
    memory->bytes = bytes;
    memory->wrapped = array != NULL;
    memory->unset = (how & UNSET) != 0;
    memory->reachable = (how & REACHABLE) != 0;
    TRY(array ? device->table->memory_wrap(memory, array, error)
              : device->table->memory_make(memory, error));
    count_bytes(device, bytes);
    *out = memory;
    memory = NULL;
done:
    free(memory);
    return status;
}

weft_status weft_memory_make(weft_device *device, size_t bytes, weft_memory **out,
                             weft_error *error) {
    return make_memory(device, NULL, bytes, 0, out, error);
}

weft_status weft_memory_make_unset(weft_device *device, size_t bytes, weft_memory **out,
                                   weft_error *error) {
    return make_memory(device, NULL, bytes, UNSET, out, error);
}

weft_status weft_memory_make_reachable(weft_device *device, size_t bytes, weft_memory **out,
                                       weft_error *error) {
    return make_memory(device, NULL, bytes, REACHABLE, out, error);
}

weft_status weft_memory_wrap(weft_device *device, void *array, size_t bytes, weft_memory **out,
                             weft_error *error) {
    if (!array)
        return weft_error_set(error, WEFT_ERROR_USAGE, "there is no array to wrap");
    return make_memory(device, array, bytes, 0, out, error);
}

weft_status weft_memory_borrow(weft_device *device, void *address, size_t bytes, weft_memory **out,
                               weft_error *error) {
    weft_status status = WEFT_OK;
    weft_memory *memory = NULL;
    if (!address)
        TRY(weft_error_set(error, WEFT_ERROR_USAGE, "there is no array to borrow"));
    TRY(weft_device_graph_refuses(device, "making an array", error));
    memory = calloc(1, sizeof *memory);
    if (!memory)
        TRY(weft_out_of_memory(error, NULL));
    *memory = (weft_memory){.device = device, .bytes = bytes, .wrapped = true, .borrowed = true};
    TRY(device->table->memory_borrow(memory, address, error));
    *out = memory;
    memory = NULL;
done:
    free(memory);
    return status;
}

void weft_memory_free(weft_memory **memory) {
    if (!memory || !*memory)
        return;
    if (!(*memory)->evicted)
        (*memory)->device->table->memory_free(*memory);
    if (!(*memory)->borrowed && !(*memory)->evicted)
        atomic_fetch_sub(&(*memory)->device->bytes, (*memory)->bytes);
    free(*memory);
    *memory = NULL;
}

void weft_memory_evict(weft_memory *memory, const void *bytes) {
    const bool in_place = memory->borrowed || (memory->wrapped && memory->host);
    if (in_place || memory->evicted || !bytes ||
        weft_device_graph_refuses(memory->device, "freeing an array", NULL) != WEFT_OK)
        return;
    memory->device->table->memory_free(memory);
    memory->host = NULL;
    memory->evicted = bytes;
    atomic_fetch_sub(&memory->device->bytes, memory->bytes);
}

/* Storage is no part of what a memory holds, so that readers have it made too. */
weft_status weft_memory_restore(const weft_memory *evicted, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_memory *memory = (weft_memory *)(uintptr_t)evicted, *made = NULL;
    weft_device *device = memory->device;
    if (!memory->evicted)
        goto done;
    TRY(make_memory(device, NULL, memory->bytes, UNSET, &made, error));
    TRY(weft_memory_write(made, 0, memory->evicted, memory->bytes, error));
    *memory = *made;
    made->evicted = made; /* its storage is the memory's now */
done:
    weft_memory_free(&made);
    return status;
}

size_t weft_memory_bytes(const weft_memory *memory) {
    return memory->bytes;
}

void *weft_memory_host(const weft_memory *memory) {
    (void)weft_memory_restore(memory, NULL);
    return memory->host;
}

void *weft_memory_address(const weft_memory *memory) {
    const weft_device_table *table = memory->device->table;
    if (weft_memory_restore(memory, NULL) != WEFT_OK)
        return NULL;
    return table->memory_address ? table->memory_address(memory) : memory->host;
}

static weft_status check_range(const weft_memory *memory, size_t offset, size_t n,
                               weft_error *error) {
    if (offset <= memory->bytes && n <= memory->bytes - offset)
        return WEFT_OK;
    return weft_error_set(error, WEFT_ERROR_USAGE,
                          "%zu bytes at %zu lie outside of a memory of %zu", n, offset,
                          memory->bytes);
}

weft_status weft_memory_write(weft_memory *memory, size_t offset, const void *bytes, size_t n,
                              weft_error *error) {
    weft_status status = check_range(memory, offset, n, error);
    if (status == WEFT_OK)
        status = weft_device_graph_refuses(memory->device, "writing an array", error);
    if (status == WEFT_OK)
        status = weft_memory_restore(memory, error);
    if (status == WEFT_OK && n > 0 && memory->device->table->memory_write)
        status = memory->device->table->memory_write(memory, offset, bytes, n, error);
    return status;
}

weft_status weft_memory_read(const weft_memory *memory, size_t offset, void *bytes, size_t n,
                             weft_error *error) {
    weft_status status = check_range(memory, offset, n, error);
    if (status == WEFT_OK)
        status = weft_device_graph_refuses(memory->device, "reading an array", error);
    if (status == WEFT_OK)
        status = weft_memory_restore(memory, error);
    if (status != WEFT_OK || n == 0)
        return status;
    if (memory->device->table->memory_read)
        return memory->device->table->memory_read(memory, offset, bytes, n, error);
    memset(bytes, 0, n);
    return WEFT_OK;
}

weft_status weft_memory_zero(weft_memory *memory, weft_error *error) {
    weft_status status = weft_memory_restore(memory, error);
    if (status == WEFT_OK && memory->device->table->memory_zero)
        status = memory->device->table->memory_zero(memory, error);
    return status;
}

weft_status weft_memory_copy(weft_memory *to, const weft_memory *from, size_t bytes,
                             weft_error *error) {
    return weft_memory_copy_part(to, 0, from, 0, bytes, error);
}

weft_status weft_memory_copy_part(weft_memory *to, size_t to_offset, const weft_memory *from,
                                  size_t from_offset, size_t n, weft_error *error) {
    if (!to || !from || to->device != from->device)
        return weft_error_set(error, WEFT_ERROR_USAGE,
                              "a copy needs two memories of the same device");
    weft_status status = check_range(to, to_offset, n, error);
    if (status == WEFT_OK)
        status = check_range(from, from_offset, n, error);
    const bool in_place = to == from && to_offset == from_offset;
    if (status == WEFT_OK)
        status = weft_memory_restore(to, error);
    if (status == WEFT_OK)
        status = weft_memory_restore(from, error);
    if (status == WEFT_OK && !in_place && n > 0 && to->device->table->memory_copy)
        status = to->device->table->memory_copy(to, to_offset, from, from_offset, n, error);
    return status;
}
