/** Host devices and their compiled modules. In: generated C. Out: kernels loaded into the
 *  process. */
#pragma once

#include "core/host/compiler.h"

/* Options, cache and compiler of a device. */
typedef struct weft_host_compile weft_host_compile;
weft_status weft_host_compile_make(const weft_device_options *options,
                                   const weft_processor *processor, weft_host_compile **out,
                                   weft_error *error);
void weft_host_compile_free(weft_host_compile **compile);
/** Append the processor and the compiler's command, for weft_device_identity. */
void weft_host_compile_identify(const weft_host_compile *compile, weft_text *out);
weft_status weft_host_module_make(weft_host_compile *compile, weft_module *module,
                                  const char *source, weft_error *error);
/** weft_module_store, and whether there is an entry. */
weft_status weft_host_module_store(weft_host_compile *compile, const char *name, const char *source,
                                   weft_error *error);
bool weft_host_module_stored(weft_host_compile *compile, const char *source);
void weft_host_module_free(weft_module *module);
typedef void (*weft_host_kernel)(void *const *arguments, int64_t n_elements, int64_t first_block,
                                 int64_t last_block);
/** Look up a kernel; NULL: there is no such kernel. */
weft_host_kernel weft_host_module_kernel(const weft_module *module, const char *kernel);

/** Check that the bytes are a complete shared object for this machine, with header, segments,
 *  sections and dynamic table inside them.
 *  why      [why_size] what is wrong, in words
 *  Returns  false if something is wrong */
bool weft_object_check(const unsigned char *bytes, size_t size, char *why, size_t why_size);
/* A shared object that was loaded from bytes in memory, after a check. */
typedef struct weft_shared_object {
    void *handle;
    int file; /* kept open, since the loader identifies objects by path (/proc/self/fd) */
} weft_shared_object;
weft_status weft_shared_object_load(const unsigned char *bytes, size_t size, weft_cache *cache,
                                    weft_shared_object *out, weft_error *error);
void weft_shared_object_free(weft_shared_object *object);
/** Open the host device: sets table, limits, threads and state; device->monitor is set before.
 *  argument  the device name after "host:": THREADS, SET or THREADS:SET; may be NULL */
weft_status weft_device_host_open(weft_device *device, const char *argument,
                                  const weft_device_options *options, weft_error *error);
