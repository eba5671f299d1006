#include "core_internal.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Memories record their size and hold nothing; modules remember their source. */

static weft_status null_memory_make(weft_memory *memory, weft_error *error) {
    (void)memory;
    (void)error;
    return WEFT_OK;
}

static weft_status null_memory_wrap(weft_memory *memory, void *array, weft_error *error) {
    (void)memory;
    (void)array;
    (void)error;
    return WEFT_OK;
}

static void null_memory_free(weft_memory *memory) {
    (void)memory;
}

static weft_status null_module_make(weft_module *module, const char *source, weft_error *error) {
    module->state = strdup(source);
    if (!module->state)
        return weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory for a module");
    return WEFT_OK;
}

static void null_module_free(weft_module *module) {
    free(module->state);
}

static bool is_word(char c) {
    return isalnum((unsigned char)c) || c == '_';
}

static bool has_word(const char *text, const char *word) {
    size_t length = strlen(word);
    for (const char *at = text; length > 0 && (at = strstr(at, word)); ++at)
        if ((at == text || !is_word(at[-1])) && !is_word(at[length]))
            return true;
    return false;
}

static weft_status null_launch(weft_device *device, const weft_launch *launch, int64_t n_blocks,
                               weft_error *error) {
    (void)device;
    (void)n_blocks;
    if (!has_word(launch->module->state, launch->kernel))
        return weft_error_set(error, WEFT_ERROR_DEVICE, "module %s has no kernel %s",
                              launch->module->name, launch->kernel);
    return WEFT_OK;
}

static const weft_device_table table = {
    .memory_make = null_memory_make,
    .memory_wrap = null_memory_wrap,
    .memory_free = null_memory_free,
    .module_make = null_module_make,
    .module_free = null_module_free,
    .launch = null_launch,
};

/* A host with AVX-512, the same on every machine, so that plans for it can be tested anywhere. */
static const weft_limits plain_limits = {
    .kind = WEFT_DEVICE_NULL,
    .name = "null: records, computes nothing",
    .lanes_double = 8,
    .lanes_float = 16,
    .threads = 1,
    .multiprocessors = 1,
    .register_bytes = 2048,
    .onchip_bytes = 32768,
    .l2_bytes = (size_t)1 << 20,
    .memory_bytes = (size_t)16 << 30,
    .bandwidth = 20e9,
    .flops = 80e9,
    .launch_seconds = 1e-6,
};

/* NVIDIA H200 (SXM, 132 multiprocessors): 64 K registers of 4 bytes each, 227 KB of shared memory a
 * block, 60 MB of L2; copy bandwidth rather than the data sheet's 4.8 TB/s; FP64 without tensor
 * cores. */
static const weft_limits h200_limits = {
    .kind = WEFT_DEVICE_NULL,
    .name = "null: NVIDIA H200, 132 multiprocessors, records, computes nothing",
    .lanes_double = 32,
    .lanes_float = 32,
    .threads = 1,
    .multiprocessors = 132,
    .register_bytes = 65536 * 4,
    .onchip_bytes = 227 * 1024,
    .l2_bytes = 60000000,
    .memory_bytes = 141000000000,
    .bandwidth = 4.3e12,
    .flops = 33.4e12,
    .launch_seconds = 3.1e-6,
};

weft_status weft_device_null_open(weft_device *device, const char *argument, weft_error *error) {
    static const char *const names[] = {"h200"};
    device->table = &table;
    if (!argument) {
        device->limits = plain_limits;
        return WEFT_OK;
    }
    if (strcmp(argument, names[0]) == 0) {
        device->limits = h200_limits;
        return WEFT_OK;
    }
    weft_error_set(error, WEFT_ERROR_USAGE, "null:%s: no limits of that name; there is null:h200",
                   argument);
    if (weft_nearest_name(argument, names, 1))
        weft_error_hint(error, "did you mean null:h200?");
    return WEFT_ERROR_USAGE;
}
