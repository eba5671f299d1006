/* Opens a device by its name. */
#include "core/base/options.h"
#include "core/cuda/compiler.h"
#include "core/device/device.h"
#include "core/host/module.h"
#include "core/null/null.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEVICE_NAMES                                                                               \
    "auto, host, host:THREADS, host:THREADS:SET, cuda, cuda:NUMBER, cuda:NUMBER:traced, "          \
    "gpu (which is cuda), null, null:h200"

void weft_device_options_from_environment(weft_device_options *options) {
    static const char *const names[] = {"on", "read", "off"};
    static const weft_cache_mode modes[] = {WEFT_CACHE_ON, WEFT_CACHE_READ, WEFT_CACHE_OFF};
    if (options->size != sizeof *options)
        return; /* weft_device_open refuses them */
    const char *mode = getenv("WEFT_CACHE"), *keep = getenv("WEFT_KEEP"), *compiler = getenv("CC");
    const char *instructions = getenv("WEFT_INSTRUCTIONS");
    bool known = !mode || !mode[0];
    for (int i = 0; !known && i < 3; ++i)
        if (strcmp(mode, names[i]) == 0) {
            options->cache = modes[i];
            known = true;
        }
    if (!known)
        weft_log(options->monitor, WEFT_LOG_WARNING,
                 "WEFT_CACHE=%s is none of on, read, off: taken as on", mode);
    options->keep_directory = keep && keep[0] ? keep : NULL;
    options->compiler = compiler && compiler[0] ? compiler : NULL;
    options->instructions = instructions && instructions[0] ? instructions : NULL;
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

/* The name in the environment that replaces `auto`; NULL: none. */
static const char *named_in_environment(void) {
    const char *name = getenv("WEFT_DEVICE");
    return name && name[0] && strcmp(name, "auto") != 0 ? name : NULL;
}

static bool is_auto(const char *name) {
    return !name || strcmp(name, "auto") == 0;
}

bool weft_device_is_automatic(const char *name) {
    return is_auto(name) && !named_in_environment();
}

weft_status weft_device_open(const char *name, const weft_device_options *options,
                             weft_device **out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_device_options usual;
    weft_device *device = NULL;
    if (!options) {
        usual = weft_device_options_default(NULL);
        options = &usual;
    }
    TRY(weft_options_check("weft_device_options", options->size, sizeof *options, error));
    const bool automatic = weft_device_is_automatic(name);
    const bool from_environment = is_auto(name) && !automatic;
    if (from_environment)
        name = named_in_environment();
    device = calloc(1, sizeof *device);
    if (!device)
        TRY(weft_out_of_memory(error, "a device"));
    device->monitor = options->monitor;
    TRY(weft_text_cache_make(options, &device->texts, error));
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
