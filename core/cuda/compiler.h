/** Opening cuda devices, and compiling by NVRTC with or without a GPU. */
#pragma once

#include "core/weft_core.h"

/** Open NVRTC for a cuda device now instead of with its first module.
 *  Errors  WEFT_ERROR_COMPILER: NVRTC is not found */
weft_status weft_cuda_compiler_open(weft_device *device, weft_error *error);
/** Resource usage of a source's kernels, from NVRTC alone: no GPU is needed. */
typedef struct weft_source_resources weft_source_resources;
/** Compile a source for its resource usage.
 *  architecture  90: sm_90
 *  out           caller's; weft_source_resources_free
 *  Errors        WEFT_ERROR_COMPILER, WEFT_ERROR_MEMORY */
weft_status weft_source_resources_make(const char *name, const char *source, int architecture,
                                       weft_source_resources **out, weft_error *error);
void weft_source_resources_free(weft_source_resources **resources);
/** False: there is no such kernel. */
bool weft_source_resources_find(const weft_source_resources *resources, const char *kernel,
                                weft_kernel_resources *out);
/** Open a GPU: sets table, limits and state of the device; device->monitor is set before.
 *  argument  the device name after "cuda:": NUMBER, "traced" or NUMBER:traced; may be NULL */
weft_status weft_device_cuda_open(weft_device *device, const char *argument,
                                  const weft_device_options *options, weft_error *error);
