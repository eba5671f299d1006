/** Devices for tests of set-up kernels: one on which set-up runs, and its contents on the host. */
#ifndef SETUP_SUPPORT_H
#define SETUP_SUPPORT_H

#include "emulated_gpu.h"

#include <stdlib.h>

/** The device that WEFT_TEST_DEVICE names, or an emulated GPU. weft_device_free. */
static inline weft_device *setup_device(void) {
    weft_device *device = NULL;
    const char *name = getenv("WEFT_TEST_DEVICE");
    weft_device_options options = weft_device_options_default(NULL);
    assert_int_equal(weft_device_open(name ? name : "host:1", &options, &device, NULL), WEFT_OK);
    if (!name)
        emulated_gpu_make(device);
    return device;
}

/** A copy of the first `bytes` of a memory. free(). */
static inline void *setup_read(const weft_memory *memory, size_t bytes) {
    void *copy = malloc(bytes + 1);
    assert_non_null(copy);
    assert_true(weft_memory_bytes(memory) >= bytes);
    assert_int_equal(weft_memory_read(memory, 0, copy, bytes, NULL), WEFT_OK);
    return copy;
}

/** The memory must begin with these bytes. */
static inline void setup_equal(const char *what, const weft_memory *memory, const void *expected,
                               size_t bytes) {
    unsigned char *copy = setup_read(memory, bytes);
    for (size_t i = 0; i < bytes; ++i)
        if (copy[i] != ((const unsigned char *)expected)[i])
            fail_msg("%s: byte %zu of %zu differs", what, i, bytes);
    free(copy);
}

static inline uint64_t setup_random(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

#endif
