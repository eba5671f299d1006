/** Compiled modules of the host. */
#pragma once

#include "core/host/compiler.h"

/* host modules */
typedef struct weft_host_compile weft_host_compile; /* options, cache and compiler of a device */
weft_status weft_host_compile_make(const weft_device_options *options,
                                   const weft_processor *processor, weft_host_compile **out,
                                   weft_error *error);
void weft_host_compile_free(weft_host_compile **compile);
/** The processor and the compiler's command, for weft_device_identity. */
void weft_host_compile_identify(const weft_host_compile *compile, weft_text *out);
weft_status weft_host_module_make(weft_host_compile *compile, weft_module *module,
                                  const char *source, weft_error *error);
void weft_host_module_free(weft_module *module);
/** NULL: there is none of that name. */
typedef void (*weft_host_kernel)(void *const *arguments, int64_t n_elements, int64_t first_block,
                                 int64_t last_block);
weft_host_kernel weft_host_module_kernel(const weft_module *module, const char *kernel);

/** Is it a whole shared object for this machine: header, segments, sections and dynamic table
 * within its bytes? Else false, and what is wrong in words. */
bool weft_object_check(const unsigned char *bytes, size_t size, char *why, size_t why_size);
/* A shared object loaded from bytes, which are checked first. */
typedef struct weft_shared_object {
    void *handle;
    int file; /* kept open: the loader tells objects apart by the path it was given */
} weft_shared_object;
weft_status weft_shared_object_load(const unsigned char *bytes, size_t size, weft_cache *cache,
                                    weft_shared_object *out, weft_error *error);
void weft_shared_object_free(weft_shared_object *object);
/** Open a kind: argument is what stands behind the colon, or NULL. They set table, limits, threads
 *  and state; device->monitor is set before. */
weft_status weft_device_host_open(weft_device *device, const char *argument,
                                  const weft_device_options *options, weft_error *error);
