/* A device for weft test that runs GPU code on the host, thread by thread. */
#include "apps/weft/tool.h"
#include "core/device/device.h"
#include "core/host/module.h"
#include "fusion/base/cuda_on_host.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_THREADS = 128 };

typedef struct emulated_device {
    weft_device_table table;       /* the device's: the host's with other modules and launches */
    const weft_device_table *host; /* before the emulation */
    int order;                     /* of threads and blocks */
} emulated_device;

static emulated_device *emulated_of(const weft_device *device) {
    return (emulated_device *)((char *)(uintptr_t)device->table - offsetof(emulated_device, table));
}

static weft_status emulated_module_make(weft_module *module, const char *source,
                                        weft_error *error) {
    weft_text text = {0};
    /* g++ takes several times as long with more optimisation; threads are fibers anyway */
    weft_text_add(&text, "#pragma GCC optimize(\"O0\")\n#define always_inline unused\n");
    weft_cuda_on_host(source, &text);
    const weft_status status =
        text.failed ? weft_out_of_memory(error, "emulated kernels")
                    : emulated_of(module->device)->host->module_make(module, text.data, error);
    weft_text_free(&text);
    return status;
}

static weft_status emulated_launch(weft_device *device, const weft_launch *launch, int64_t n_blocks,
                                   weft_error *error) {
    void *arguments[WEFT_EMULATED_ARGUMENTS] = {NULL}, *kernel = NULL;
    weft_emulate_wide *emulate = NULL;
    weft_emulate_failure *failure = NULL;
    const int threads = launch->block_threads > 0 ? launch->block_threads : BLOCK_THREADS;
    const weft_host_kernel named = weft_host_module_kernel(launch->module, launch->kernel);
    const weft_host_kernel entry = weft_host_module_kernel(launch->module, "emulate_wide");
    (void)n_blocks; /* of lanes */
    const weft_host_kernel tells = weft_host_module_kernel(launch->module, "emulate_failure");
    if (!named || !entry || !tells || launch->cooperative ||
        launch->n_arguments >= WEFT_EMULATED_ARGUMENTS)
        return weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                              "the kernel %s cannot be emulated on the host", launch->kernel);
    memcpy(&kernel, &named, sizeof kernel);
    memcpy(&emulate, &entry, sizeof emulate);
    memcpy(&failure, &tells, sizeof failure);
    for (int i = 0; i < launch->n_arguments; ++i)
        arguments[i] = weft_memory_host(launch->arguments[i]);
    arguments[launch->n_arguments] = (void *)(uintptr_t)launch->values;
    const int64_t blocks =
        launch->n_blocks > 0 ? launch->n_blocks : (launch->n_elements + threads - 1) / threads;
    failure();
    emulate(kernel, launch->n_elements, arguments, (unsigned)blocks, (unsigned)threads,
            (unsigned)launch->shared_bytes, emulated_of(device)->order);
    const char *wrong = failure();
    return !wrong ? WEFT_OK
                  : weft_error_set(error, WEFT_ERROR_TYPE, "the kernel %s is wrong: %s",
                                   launch->kernel, wrong);
}

static void emulated_close(weft_device *device) {
    emulated_device *emulated = emulated_of(device);
    emulated->host->close(device);
    free(emulated);
}

weft_status weft_tool_emulated_open(const weft_device_options *options, weft_device **out,
                                    weft_error *error) {
    weft_status status = WEFT_OK;
    weft_device *device = NULL, *gpu = NULL;
    weft_device_options with = *options;
    emulated_device *emulated = calloc(1, sizeof *emulated);
    with.compiler = "g++ -x c++";
    if (!emulated)
        TRY(weft_out_of_memory(error, "a device"));
    TRY(weft_device_open("null:h200", options, &gpu, error));
    TRY(weft_device_open("host:1", &with, &device, error));
    emulated->host = device->table;
    emulated->table = *device->table;
    emulated->table.module_make = emulated_module_make;
    emulated->table.launch = emulated_launch;
    emulated->table.close = emulated_close;
    device->limits = *weft_device_limits(gpu);
    device->limits.kind = WEFT_DEVICE_CUDA;
    device->limits.records_only = false;
    device->table = &emulated->table;
    emulated = NULL;
    *out = device;
done:
    free(emulated);
    weft_device_free(&gpu);
    return status;
}

void weft_tool_emulated_order(weft_device *device, int order) {
    emulated_of(device)->order = order;
}
