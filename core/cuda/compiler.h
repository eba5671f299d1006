/** NVRTC. */
#pragma once

#include "core/weft_core.h"

/** Open NVRTC for a cuda device now; else the first module does it.
 *  Errors WEFT_ERROR_COMPILER: it is not found */
weft_status weft_cuda_compiler_open(weft_device *device, weft_error *error);
/** What NVRTC says of a source's kernels for one architecture (90: sm_90), where there is no GPU.
 */
typedef struct weft_source_resources weft_source_resources;
weft_status weft_source_resources_make(const char *name, const char *source, int architecture,
                                       weft_source_resources **out, weft_error *error);
void weft_source_resources_free(weft_source_resources **resources);
bool weft_source_resources_find(const weft_source_resources *resources, const char *kernel,
                                weft_kernel_resources *out);
weft_status weft_device_cuda_open(weft_device *device, const char *argument,
                                  const weft_device_options *options, weft_error *error);
