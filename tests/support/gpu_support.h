/* What the GPU tests share: a device or a reason to skip, a module, launches. */
#ifndef WEFT_GPU_SUPPORT_H
#define WEFT_GPU_SUPPORT_H

#include "core/weft_core.h"
#include "test_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char gpu_source[] =
    "#define HERE (blockIdx.x * (long long)blockDim.x + threadIdx.x)\n"
    "extern \"C\" __global__ void axpy(long long n, double *y, const double *x)\n"
    "{\n"
    "    if (HERE < n)\n"
    "        y[HERE] += 2 * x[HERE];\n"
    "}\n"
    "extern \"C\" __global__ void copy(long long n, double2 *to, const double2 *from)\n"
    "{\n"
    "    if (HERE < n)\n"
    "        to[HERE] = from[HERE];\n"
    "}\n"
    "extern \"C\" __global__ void past_five(long long n, const double *x, double *out)\n"
    "{\n"
    "    if (HERE < n)\n"
    "        out[HERE] = x[5 + HERE];\n"
    "}\n"
    "extern \"C\" __global__ void mirror(long long n, double *y)\n"
    "{\n"
    "    extern __shared__ double shared[];\n"
    "    __shared__ double own[128];\n"
    "    shared[threadIdx.x * 32] = y[HERE];\n"
    "    own[threadIdx.x % 128] = 1;\n"
    "    __syncthreads();\n"
    "    y[HERE] = shared[(blockDim.x - 1 - threadIdx.x) * 32] * own[(threadIdx.x + 1) % 128];\n"
    "}\n"
    "extern \"C\" __global__ void far_away(long long n, double *y)\n"
    "{\n"
    "    y[HERE + (1ll << 45)] = 1;\n"
    "}\n";

static inline void gpu_check(weft_status status, const weft_error *error) {
    if (status != WEFT_OK)
        fail_msg("%s (%s)", error->message, error->hint);
}

/** Skips where there is no GPU. options may be NULL. */
static inline weft_device *gpu_open(const weft_device_options *options) {
    weft_device *device = NULL;
    weft_error error = {0};
    if (weft_device_open("cuda", options, &device, &error) != WEFT_OK)
        skip_test(error.message);
    return device;
}

static inline weft_module *gpu_module(weft_device *device) {
    weft_module *module = NULL;
    weft_error error = {0};
    gpu_check(weft_module_make(device, "gpu_test", gpu_source, &module, &error), &error);
    return module;
}

static inline weft_memory *gpu_memory(weft_device *device, const void *bytes, size_t n) {
    weft_memory *memory = NULL;
    weft_error error = {0};
    gpu_check(weft_memory_make(device, n, &memory, &error), &error);
    if (bytes)
        gpu_check(weft_memory_write(memory, 0, bytes, n, &error), &error);
    return memory;
}

static inline weft_launch gpu_launch(const weft_module *module, const char *kernel,
                                     weft_memory *const *arguments, int n_arguments, int64_t n) {
    return (weft_launch){.module = module,
                         .kernel = kernel,
                         .arguments = arguments,
                         .n_arguments = n_arguments,
                         .n_elements = n,
                         .lanes = 32};
}

#endif
