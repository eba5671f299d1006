/* Checks arguments of device and module calls and passes them to the kind of device. */
#include "core/device/device.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A list that only grows, so that it is read without a lock. */
struct weft_kept_module {
    weft_module *module;
    struct weft_kept_module *next;
};

static void kept_free(weft_device *device) {
    struct weft_kept_module *kept = atomic_exchange(&device->kept, NULL);
    while (kept) {
        struct weft_kept_module *next = kept->next;
        weft_module_free(&kept->module);
        free(kept);
        kept = next;
    }
}

void weft_device_free(weft_device **device) {
    if (!device || !*device)
        return;
    weft_store_queue_end(*device);
    kept_free(*device);
    weft_threads_free(&(*device)->threads);
    if ((*device)->table && (*device)->table->close)
        (*device)->table->close(*device);
    weft_text_cache_free(&(*device)->texts);
    free(*device);
    *device = NULL;
}

const weft_limits *weft_device_limits(const weft_device *device) {
    return &device->limits;
}

const weft_monitor *weft_device_monitor(const weft_device *device) {
    return device->monitor;
}

int64_t weft_device_launches(const weft_device *device) {
    return atomic_load(&device->launches);
}

size_t weft_device_bytes(const weft_device *device) {
    return atomic_load(&device->bytes);
}

size_t weft_device_bytes_free(const weft_device *device) {
    size_t most = device->limits.memory_bytes, used = weft_device_bytes(device);
    size_t left = used < most ? most - used : 0;
    size_t here = device->table->memory_left ? device->table->memory_left(device) : left;
    return here < left ? here : left;
}

size_t weft_device_bytes_peak(const weft_device *device) {
    return atomic_load(&device->bytes_peak);
}

weft_status weft_module_make(weft_device *device, const char *name, const char *source,
                             weft_module **out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_module *module = calloc(1, sizeof *module);
    char *copy = strdup(name ? name : "module");
    if (!module || !copy)
        TRY(weft_out_of_memory(error, "a module"));
    module->device = device;
    module->name = copy;
    copy = NULL;
    TRY(device->table->module_make(module, source, error));
    if (module->seconds > 0)
        atomic_store(&device->has_compiled, true);
    *out = module;
    module = NULL;
done:
    if (module)
        free(module->name);
    free(module);
    free(copy);
    return status;
}

/* Two threads may both make a module; either is found from then on. */
weft_status weft_device_module(weft_device *device, const char *name, const char *source,
                               weft_module **out, weft_error *error) {
    weft_status status = WEFT_OK;
    struct weft_kept_module *made = NULL;
    for (struct weft_kept_module *kept = atomic_load(&device->kept); kept; kept = kept->next)
        if (strcmp(kept->module->name, name) == 0) {
            *out = kept->module;
            goto done;
        }
    made = calloc(1, sizeof *made);
    if (!made)
        TRY(weft_out_of_memory(error, "a module"));
    TRY(weft_module_make(device, name, source, &made->module, error));
    *out = made->module;
    made->next = atomic_load(&device->kept);
    while (!atomic_compare_exchange_weak(&device->kept, &made->next, made))
        continue;
    made = NULL;
done:
    free(made);
    return status;
}

weft_status weft_module_store(weft_device *device, const char *name, const char *source,
                              weft_error *error) {
    return device->table->module_store ? device->table->module_store(device, name, source, error)
                                       : WEFT_OK;
}

void weft_module_free(weft_module **module) {
    if (!module || !*module)
        return;
    (*module)->device->table->module_free(*module);
    free((*module)->name);
    free(*module);
    *module = NULL;
}

bool weft_device_has_compiled(const weft_device *device) {
    return atomic_load(&device->has_compiled);
}

bool weft_module_cached(const weft_module *module) {
    return module->cached;
}

double weft_module_seconds(const weft_module *module) {
    return module->seconds;
}

bool weft_module_resources(const weft_module *module, const char *kernel,
                           weft_kernel_resources *out) {
    const weft_device_table *table = module->device->table;
    return table->module_resources && table->module_resources(module, kernel, out);
}

weft_status weft_module_kernel_resources(weft_module *module, const char *kernel,
                                         weft_kernel_resources *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_device_table *table = module->device->table;
    if (!table->module_resources)
        TRY(weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                           "%s reports no resource usage of its kernels",
                           module->device->limits.name));
    if (table->module_measure)
        TRY(table->module_measure(module, error));
    if (!table->module_resources(module, kernel, out))
        status = weft_error_set(error, WEFT_ERROR_DEVICE, "module %s has no kernel %s",
                                module->name, kernel);
done:
    return status;
}

weft_status weft_device_wait(weft_device *device, weft_error *error) {
    weft_status status = weft_device_graph_refuses(device, "waiting", error);
    return status == WEFT_OK && device->table->wait ? device->table->wait(device, error) : status;
}

int weft_device_resident_blocks(const weft_device *device, const weft_module *module,
                                const char *kernel, int block_threads, int shared_bytes) {
    if (!device->table->resident_blocks || !module || module->device != device || !kernel ||
        block_threads < 0 || shared_bytes < 0)
        return 0;
    return device->table->resident_blocks(device, module, kernel, block_threads, shared_bytes);
}

weft_status weft_device_for(weft_device *device, int64_t n, weft_task task, void *user,
                            weft_error *error) {
    if (n < 0 || !task)
        return weft_error_set(error, WEFT_ERROR_USAGE, "%lld tasks cannot be run", (long long)n);
    weft_threads_run(device ? device->threads : NULL, n, task, user);
    return WEFT_OK;
}

weft_status weft_device_lend(weft_device *device, weft_foreign_work work, void *user,
                             weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(weft_device_graph_refuses(device, "the work of another library", error));
    if (device->table->lend)
        TRY(device->table->lend(device, work, user, error));
    else
        work(user, NULL);
done:
    return status;
}
