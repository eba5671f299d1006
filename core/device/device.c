#include "core/core_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEVICE_NAMES                                                                               \
    "auto, host, host:THREADS, host:THREADS:SET, cuda, cuda:NUMBER, cuda:NUMBER:traced, "          \
    "gpu (which is cuda), null, null:h200"

weft_device_options weft_device_options_default(const weft_monitor *monitor) {
    static const char *const names[] = {"on", "read", "off"};
    static const weft_cache_mode modes[] = {WEFT_CACHE_ON, WEFT_CACHE_READ, WEFT_CACHE_OFF};
    weft_device_options options = {.monitor = monitor, .cache = WEFT_CACHE_ON};
    const char *mode = getenv("WEFT_CACHE"), *keep = getenv("WEFT_KEEP"), *compiler = getenv("CC");
    const char *instructions = getenv("WEFT_INSTRUCTIONS");
    bool known = !mode || !mode[0];
    for (int i = 0; !known && i < 3; ++i)
        if (strcmp(mode, names[i]) == 0) {
            options.cache = modes[i];
            known = true;
        }
    if (!known)
        weft_log(monitor, WEFT_LOG_WARNING, "WEFT_CACHE=%s is none of on, read, off: taken as on",
                 mode);
    options.keep_directory = keep && keep[0] ? keep : NULL;
    options.compiler = compiler && compiler[0] ? compiler : NULL;
    options.instructions = instructions && instructions[0] ? instructions : NULL;
    return options;
}

static weft_status unknown_name(const char *name, weft_error *error) {
    static const char *const names[] = {"auto", "host", "cuda", "gpu", "null", "null:h200"};
    const char *nearest = weft_nearest_name(name, names, sizeof names / sizeof names[0]);
    weft_error_set(error, WEFT_ERROR_USAGE, "no device is called \"%s\"; there are " DEVICE_NAMES,
                   name);
    if (nearest)
        weft_error_hint(error, "did you mean %s?", nearest);
    return WEFT_ERROR_USAGE;
}

static weft_status open_kind(weft_device *device, const char *name,
                             const weft_device_options *options, weft_error *error) {
    const char *colon = strchr(name, ':');
    size_t length = colon ? (size_t)(colon - name) : strlen(name);
    const char *argument = colon ? colon + 1 : NULL;
    if (length == 4 && strncmp(name, "host", 4) == 0)
        return weft_device_host_open(device, argument, options, error);
    if (length == 4 && strncmp(name, "null", 4) == 0)
        return weft_device_null_open(device, argument, error);
    if (length == 4 && strncmp(name, "cuda", 4) == 0)
        return weft_device_cuda_open(device, argument, options, error);
    if (length == 3 && strncmp(name, "gpu", 3) == 0) /* as many programs call it */
        return weft_device_cuda_open(device, argument, options, error);
    return unknown_name(name, error);
}

/* cuda where it can do the whole work, else the host, with the reason: a GPU that is there and
 * cannot be used is worth a warning. */
static weft_status open_automatic(weft_device *device, const weft_device_options *options,
                                  weft_error *error) {
    weft_error reason = {0};
    weft_status status = weft_device_cuda_open(device, NULL, options, &reason);
    if (status == WEFT_OK) {
        if (weft_cuda_compiler_open(device, &reason) == WEFT_OK) {
            weft_log(device->monitor, WEFT_LOG_INFO, "device auto: %s", device->limits.name);
            return WEFT_OK;
        }
        weft_log(device->monitor, WEFT_LOG_WARNING, "device auto: the host, not %s: %s%s%s",
                 device->limits.name, reason.message, reason.hint[0] ? "; " : "", reason.hint);
        weft_threads_free(&device->threads);
        device->table->close(device);
        device->table = NULL;
        return open_kind(device, "host", options, error);
    }
    status = open_kind(device, "host", options, error);
    if (status == WEFT_OK)
        weft_log(device->monitor, WEFT_LOG_INFO, "device auto: the host: %s", reason.message);
    return status;
}

weft_status weft_device_open(const char *name, const weft_device_options *options,
                             weft_device **out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_device_options usual;
    if (!options) {
        usual = weft_device_options_default(NULL);
        options = &usual;
    }
    bool from_environment = false, automatic = false;
    if (!name || strcmp(name, "auto") == 0) {
        name = getenv("WEFT_DEVICE");
        from_environment = name && name[0] && strcmp(name, "auto") != 0;
        automatic = !from_environment;
    }
    weft_device *device = calloc(1, sizeof *device);
    if (!device)
        return weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory for a device");
    device->monitor = options->monitor;
    status = automatic ? open_automatic(device, options, error)
                       : open_kind(device, name, options, error);
    if (status != WEFT_OK && from_environment && error) {
        char hint[sizeof error->hint];
        memcpy(hint, error->hint, sizeof hint);
        weft_error_hint(error, "%s%sthe name is in the environment: change or unset WEFT_DEVICE",
                        hint, hint[0] ? "; " : "");
    }
    if (status != WEFT_OK)
        goto done;
    weft_log(device->monitor, WEFT_LOG_DEBUG, "device %s", device->limits.name);
    *out = device;
    device = NULL;
done:
    weft_device_free(&device);
    return status;
}

void weft_device_free(weft_device **device) {
    if (!device || !*device)
        return;
    weft_threads_free(&(*device)->threads);
    if ((*device)->table && (*device)->table->close)
        (*device)->table->close(*device);
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
    if (!module || !copy) {
        status = weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory for a module");
        goto done;
    }
    module->device = device;
    module->name = copy;
    copy = NULL;
    TRY(device->table->module_make(module, source, error));
    *out = module;
    module = NULL;
done:
    if (module)
        free(module->name);
    free(module);
    free(copy);
    return status;
}

void weft_module_free(weft_module **module) {
    if (!module || !*module)
        return;
    (*module)->device->table->module_free(*module);
    free((*module)->name);
    free(*module);
    *module = NULL;
}

bool weft_module_cached(const weft_module *module) {
    return module->cached;
}

double weft_module_seconds(const weft_module *module) {
    return module->seconds;
}

bool weft_module_figures(const weft_module *module, const char *kernel, weft_kernel_figures *out) {
    const weft_device_table *table = module->device->table;
    return table->module_figures && table->module_figures(module, kernel, out);
}

weft_status weft_module_kernel_figures(weft_module *module, const char *kernel,
                                       weft_kernel_figures *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_device_table *table = module->device->table;
    if (!table->module_figures)
        return weft_error_set(error, WEFT_ERROR_UNSUPPORTED, "%s tells no figures of its kernels",
                              module->device->limits.name);
    if (table->module_measure)
        TRY(table->module_measure(module, error));
    if (!table->module_figures(module, kernel, out))
        status = weft_error_set(error, WEFT_ERROR_DEVICE, "module %s has no kernel %s",
                                module->name, kernel);
done:
    return status;
}

weft_status weft_device_wait(weft_device *device, weft_error *error) {
    weft_status status = weft_recording_refuses(device, "waiting", error);
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
