/* Allocates GPU memory. */
#include "core/base/number.h"
#include "core/cuda/cuda.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LISTED = 5,
    POOL_RESERVED = 5, /* CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT */
    POOL_USED = 7,     /* CU_MEMPOOL_ATTR_USED_MEM_CURRENT */
};

static void list_add(weft_cuda_state *state, weft_cuda_array *array) {
    pthread_mutex_lock(&state->mutex);
    array->previous = &state->arrays;
    array->next = state->arrays.next;
    array->next->previous = array;
    state->arrays.next = array;
    pthread_mutex_unlock(&state->mutex);
}

static void list_remove(weft_cuda_state *state, weft_cuda_array *array) {
    pthread_mutex_lock(&state->mutex);
    array->previous->next = array->next;
    array->next->previous = array->previous;
    pthread_mutex_unlock(&state->mutex);
}

/* The sizes of the largest arrays, descending. */
static int largest(weft_cuda_state *state, size_t out[LISTED]) {
    int n = 0;
    pthread_mutex_lock(&state->mutex);
    for (const weft_cuda_array *a = state->arrays.next; a != &state->arrays; a = a->next) {
        int at = n;
        while (at > 0 && out[at - 1] < a->bytes)
            --at;
        if (at == LISTED)
            continue;
        n += n < LISTED;
        memmove(out + at + 1, out + at, (size_t)(n - 1 - at) * sizeof *out);
        out[at] = a->bytes;
    }
    pthread_mutex_unlock(&state->mutex);
    return n;
}

weft_status weft_cuda_memory_full(weft_device *device, size_t bytes, weft_error *error) {
    size_t sizes[LISTED];
    char list[200] = "";
    size_t used = 0;
    int n = largest(device->state, sizes);
    for (int i = 0; i < n; ++i) {
        int length = weft_print(list + used, sizeof list - used, "%s%.3g MB",
                                i == 0 ? "; the largest arrays: " : ", ", (double)sizes[i] * 1e-6);
        used += length > 0 && (size_t)length < sizeof list - used ? (size_t)length : 0;
    }
    weft_error_set(error, WEFT_ERROR_MEMORY,
                   "out of memory on %s: %.4g MB wanted, %.4g of %.4g MB in use here%s",
                   device->limits.name, (double)bytes * 1e-6,
                   (double)weft_device_bytes(device) * 1e-6,
                   (double)device->limits.memory_bytes * 1e-6, list);
    weft_error_hint(error,
                    "take a smaller mesh, or an assembly that stores less: matrix-free stores no "
                    "matrix (--assembly matrix-free); nvidia-smi shows what other processes hold");
    return WEFT_ERROR_MEMORY;
}

static weft_cu_result allocate(weft_cuda_state *state, size_t bytes, bool alone,
                               weft_cu_pointer *address) {
    const weft_cuda_driver *driver = &state->driver;
    if (!state->pool || alone)
        return driver->cuMemAlloc(address, bytes);
    weft_cu_result code =
        driver->cuMemAllocFromPoolAsync(address, bytes, state->pool, state->stream);
    if (code != WEFT_CU_OUT_OF_MEMORY)
        return code;
    /* The pool's freed memory may be fragmented: return it to the driver and try once more. */
    code = driver->cuStreamSynchronize(state->stream);
    if (code == 0)
        code = driver->cuMemPoolTrimTo(state->pool, 0);
    return code == 0 ? driver->cuMemAllocFromPoolAsync(address, bytes, state->pool, state->stream)
                     : code;
}

static weft_cu_result give_back(weft_cuda_state *state, const weft_cuda_array *array) {
    return state->pool && !array->alone
               ? state->driver.cuMemFreeAsync(array->address, state->stream)
               : state->driver.cuMemFree(array->address);
}

weft_status weft_cuda_memory_make(weft_memory *memory, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_cuda_state *state = memory->device->state;
    weft_cuda_array *array = NULL;
    size_t whole = memory->bytes + WEFT_PADDING;
    bool entered = false;
    TRY(weft_cuda_enter(state, error));
    entered = true;
    array = calloc(1, sizeof *array);
    if (!array)
        TRY(weft_out_of_memory(error, "an array"));
    array->alone = memory->reachable;
    weft_cu_result code = allocate(state, whole, array->alone, &array->address);
    if (code == WEFT_CU_OUT_OF_MEMORY)
        TRY(weft_cuda_memory_full(memory->device, memory->bytes, error));
    TRY(weft_cuda_check(state, code, "making an array", error));
    code = state->driver.cuMemsetD8Async(array->address, 0, whole, state->stream);
    if (code != 0)
        (void)give_back(state, array);
    TRY(weft_cuda_check(state, code, "clearing an array", error));
    array->bytes = memory->bytes;
    list_add(state, array);
    memory->state = array;
    array = NULL;
done:
    if (entered)
        weft_cuda_leave(state);
    free(array);
    return status;
}

weft_status weft_cuda_memory_wrap(weft_memory *memory, void *array, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(weft_cuda_memory_make(memory, error));
    if (memory->bytes > 0)
        status = weft_cuda_memory_write(memory, 0, array, memory->bytes, error);
    if (status != WEFT_OK)
        weft_cuda_memory_free(memory);
done:
    return status;
}

weft_status weft_cuda_memory_borrow(weft_memory *memory, void *address, weft_error *error) {
    weft_cuda_array *array = calloc(1, sizeof *array);
    if (!array)
        return weft_out_of_memory(error, "an array");
    array->address = (weft_cu_pointer)(uintptr_t)address;
    array->bytes = memory->bytes;
    array->borrowed = true;
    list_add(memory->device->state, array);
    memory->state = array;
    return WEFT_OK;
}

void *weft_cuda_memory_address(const weft_memory *memory) {
    const weft_cuda_array *array = memory->state;
    return array ? (void *)(uintptr_t)array->address : NULL;
}

void weft_cuda_memory_free(weft_memory *memory) {
    weft_cuda_state *state = memory->device->state;
    weft_cuda_array *array = memory->state;
    if (!array)
        return;
    memory->state = NULL;
    list_remove(state, array);
    if (!weft_cuda_record_freed(state, array, NULL))
        weft_cuda_array_end(state, array);
}

void weft_cuda_array_end(weft_cuda_state *state, weft_cuda_array *array) {
    weft_error ignored;
    /* If the device has failed, its memory can only be freed by the end of the process. */
    if (!array->borrowed && weft_cuda_enter(state, &ignored) == WEFT_OK) {
        (void)weft_cuda_check(state, give_back(state, array), "freeing an array", &ignored);
        weft_cuda_leave(state);
    }
    free(array);
}

weft_status weft_cuda_memory_copy(weft_memory *to, size_t to_offset, const weft_memory *from,
                                  size_t from_offset, size_t n, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_cuda_state *state = to->device->state;
    const weft_cuda_array *target = to->state, *source = from->state;
    TRY(weft_cuda_enter(state, error));
    status = weft_cuda_check(state,
                             state->driver.cuMemcpyDtoDAsync(target->address + to_offset,
                                                             source->address + from_offset, n,
                                                             state->stream),
                             "copying an array", error);
    if (status == WEFT_OK)
        status = weft_cuda_record_use(state, target, error);
    if (status == WEFT_OK)
        status = weft_cuda_record_use(state, source, error);
    weft_cuda_leave(state);
done:
    return status;
}

/* The GPU's free memory plus the unused memory of the pool; limits.memory_bytes if the driver does
 * not answer. */
size_t weft_cuda_memory_left(const weft_device *device) {
    weft_cuda_state *state = device->state;
    const weft_cuda_driver *driver = &state->driver;
    weft_error ignored;
    size_t left = 0, all = 0;
    uint64_t reserved = 0, used = 0;
    if (weft_cuda_enter(state, &ignored) != WEFT_OK)
        return 0;
    if (driver->cuMemGetInfo(&left, &all) != 0)
        left = device->limits.memory_bytes;
    if (state->pool && driver->cuMemPoolGetAttribute(state->pool, POOL_RESERVED, &reserved) == 0 &&
        driver->cuMemPoolGetAttribute(state->pool, POOL_USED, &used) == 0 && reserved > used)
        left += (size_t)(reserved - used);
    weft_cuda_leave(state);
    return left;
}

weft_status weft_cuda_memory_zero(weft_memory *memory, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_cuda_state *state = memory->device->state;
    const weft_cuda_array *array = memory->state;
    TRY(weft_cuda_enter(state, error));
    if (memory->bytes > 0)
        status = weft_cuda_check(
            state, state->driver.cuMemsetD8Async(array->address, 0, memory->bytes, state->stream),
            "clearing an array", error);
    if (status == WEFT_OK)
        status = weft_cuda_record_use(state, array, error);
    weft_cuda_leave(state);
done:
    return status;
}

weft_status weft_cuda_memory_write(weft_memory *memory, size_t offset, const void *bytes, size_t n,
                                   weft_error *error) {
    const weft_cuda_array *array = memory->state;
    return weft_cuda_write(memory->device, array->address + offset, bytes, n, error);
}

weft_status weft_cuda_memory_read(const weft_memory *memory, size_t offset, void *bytes, size_t n,
                                  weft_error *error) {
    const weft_cuda_array *array = memory->state;
    return weft_cuda_read(memory->device, bytes, array->address + offset, n, error);
}
