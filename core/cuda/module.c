/* Compiles sources by NVRTC or loads them from the cache, and looks up kernels. */
#include "core/cuda/compiler.h"
#include "core/cuda/cuda.h"
#include "core/device/source.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Failures come again in weft_cuda_compiler_open. */
static void *open_compiler(void *user) {
    weft_error ignored;
    (void)weft_nvrtc_open(user, &ignored);
    return NULL;
}

void weft_cuda_compiler_start(weft_cuda_state *state) {
    state->is_opening = pthread_create(&state->opens, NULL, open_compiler, &state->opened) == 0;
}

static void finish_opening(weft_cuda_state *state) {
    if (!state->is_opening)
        return;
    pthread_join(state->opens, NULL);
    state->nvrtc = state->opened;
    state->is_opening = false;
}

void weft_cuda_compiler_close(weft_cuda_state *state) {
    finish_opening(state);
    weft_nvrtc_close(&state->nvrtc);
}

weft_status weft_cuda_compiler_open(weft_device *device, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_cuda_state *state = device->state;
    pthread_mutex_lock(&state->mutex);
    finish_opening(state);
    if (!state->nvrtc.library)
        status = weft_nvrtc_open(&state->nvrtc, error);
    pthread_mutex_unlock(&state->mutex);
    return status;
}

/* Open the cache and NVRTC for the first module. */
static weft_status prepare(weft_device *device, weft_error *error) {
    weft_cuda_state *state = device->state;
    pthread_mutex_lock(&state->mutex);
    if (!state->cache_ready)
        weft_cache_open(&state->cache, state->mode, state->cache_directory, device->monitor);
    state->cache_ready = true;
    pthread_mutex_unlock(&state->mutex);
    return weft_cuda_compiler_open(device, error);
}

/* The key's first half is a hash of source and architecture, the second of compiler and options. */
static weft_status make_keys(const weft_cuda_state *state, const char *source, weft_entry *entry,
                             weft_error *error) {
    weft_status status = WEFT_OK;
    char maker[80], compiler[512], second[33];
    snprintf(maker, sizeof maker, "weft cuda module, format %d|sm_%d|", WEFT_CACHE_FORMAT,
             state->architecture);
    TRY(weft_source_key(maker, source, entry->source_key, error));
    weft_nvrtc_describe(&state->nvrtc, state->architecture, compiler, sizeof compiler);
    weft_hash(compiler, strlen(compiler), second);
    memcpy(entry->key, entry->source_key, 16);
    memcpy(entry->key + 16, second, 16);
    entry->key[32] = '\0';
done:
    return status;
}

static weft_status load(weft_cuda_state *state, weft_cuda_module *out, weft_error *error) {
    weft_status status = WEFT_OK;
    char what[200];
    snprintf(what, sizeof what,
             "loading a module made by NVRTC %d.%d for sm_%d (the driver is for CUDA %d.%d)",
             state->nvrtc.major, state->nvrtc.minor, state->architecture,
             state->driver_version / 1000, state->driver_version % 1000 / 10);
    TRY(weft_cuda_enter(state, error));
    status = weft_cuda_check(state, state->driver.cuModuleLoadData(&out->handle, out->cubin.bytes),
                             what, error);
    weft_cuda_leave(state);
done:
    return status;
}

/* Load a valid cache entry; if the driver rejects it, it is compiled again. */
static bool load_entry(weft_cuda_state *state, const weft_entry *entry, bool again,
                       weft_cuda_module *out) {
    weft_error error;
    size_t size = 0;
    unsigned char *payload = weft_cache_load(&state->cache, entry, again, &size);
    if (!payload)
        return false;
    if (!weft_cubin_read(payload, size, &out->cubin)) {
        free(payload);
        return false;
    }
    if (load(state, out, &error) == WEFT_OK)
        return true;
    weft_cubin_free(&out->cubin);
    if (!again)
        weft_log(state->cache.monitor, WEFT_LOG_WARNING, "cache entry %s is not used: %s",
                 entry->key, error.message);
    return false;
}

static void describe(const weft_cuda_state *state, const char *name, weft_entry *entry) {
    snprintf(entry->description, sizeof entry->description, "%.100s, NVRTC %d.%d, sm_%d", name,
             state->nvrtc.major, state->nvrtc.minor, state->architecture);
}

static bool is_stored(weft_cuda_state *state, const weft_entry *entry) {
    size_t size = 0;
    unsigned char *payload = weft_cache_load(&state->cache, entry, true, &size);
    free(payload);
    return payload != NULL;
}

bool weft_cuda_module_stored(weft_device *device, const char *source) {
    weft_cuda_state *state = device->state;
    weft_entry entry;
    weft_error ignored;
    return prepare(device, &ignored) == WEFT_OK &&
           make_keys(state, source, &entry, &ignored) == WEFT_OK &&
           weft_cache_has(&state->cache, entry.key);
}

weft_status weft_cuda_module_store(weft_device *device, const char *name, const char *source,
                                   weft_error *error) {
    weft_status status = WEFT_OK;
    weft_cuda_state *state = device->state;
    weft_entry entry = {.kind = WEFT_ENTRY_CUDA_MODULE};
    weft_cache_lock lock = {-1};
    weft_cubin cubin = {0};
    char file[64];
    weft_source_name(name, file, sizeof file);
    TRY(prepare(device, error));
    TRY(make_keys(state, source, &entry, error));
    describe(state, name, &entry);
    if (is_stored(state, &entry))
        goto done;
    lock = weft_cache_lock_take(&state->cache, entry.key); /* none: nothing can be stored */
    if (lock.file < 0 || is_stored(state, &entry))
        goto done;
    TRY(weft_nvrtc_compile(&state->nvrtc, state->architecture, file, source, &cubin, error));
    weft_cache_store(&state->cache, &entry, cubin.bytes, cubin.whole);
done:
    weft_cache_lock_give(&lock);
    weft_cubin_free(&cubin);
    return status;
}

static weft_status make(weft_cuda_state *state, weft_module *module, const char *source,
                        weft_cuda_module *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_monitor *monitor = module->device->monitor;
    weft_entry entry = {.kind = WEFT_ENTRY_CUDA_MODULE};
    weft_cache_lock lock = {-1};
    char name[64];
    weft_source_name(module->name, name, sizeof name);
    weft_source_keep(state->keep_directory, monitor, name, "cu", source);
    TRY(prepare(module->device, error));
    TRY(make_keys(state, source, &entry, error));
    describe(state, module->name, &entry);
    module->cached = load_entry(state, &entry, false, out);
    if (module->cached)
        goto done;
    double start = weft_clock();
    lock = weft_cache_lock_take(&state->cache, entry.key);
    /* Another process may have stored the entry while this one waited for the lock. */
    module->cached = lock.file >= 0 && load_entry(state, &entry, true, out);
    if (module->cached)
        goto done;
    weft_log(monitor, WEFT_LOG_DEBUG, "compiling %s with NVRTC %d.%d for sm_%d", module->name,
             state->nvrtc.major, state->nvrtc.minor, state->architecture);
    TRY(weft_nvrtc_compile(&state->nvrtc, state->architecture, name, source, &out->cubin, error));
    TRY(load(state, out, error));
    weft_cache_store(&state->cache, &entry, out->cubin.bytes, out->cubin.whole);
    module->seconds = weft_clock() - start;
done:
    weft_cache_lock_give(&lock);
    return status;
}

weft_status weft_cuda_module_make(weft_module *module, const char *source, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_cuda_state *state = module->device->state;
    weft_cuda_module *made = calloc(1, sizeof *made);
    if (!made)
        TRY(weft_out_of_memory(error, "a module"));
    TRY(make(state, module, source, made, error));
    module->state = made;
    made = NULL;
done:
    if (made)
        weft_cubin_free(&made->cubin);
    free(made);
    return status;
}

void weft_cuda_module_free(weft_module *module) {
    weft_cuda_module *made = module->state;
    weft_cuda_state *state = module->device->state;
    module->state = NULL;
    if (made && !weft_cuda_record_freed(state, NULL, made))
        weft_cuda_module_end(state, made);
}

void weft_cuda_module_end(weft_cuda_state *state, weft_cuda_module *made) {
    weft_error ignored;
    if (weft_cuda_enter(state, &ignored) == WEFT_OK) {
        /* The module's kernels may still be running. */
        (void)weft_cuda_check(state, state->driver.cuStreamSynchronize(state->stream),
                              "ending a module's kernels", &ignored);
        if (!atomic_load(&state->broken))
            (void)state->driver.cuModuleUnload(made->handle);
        weft_cuda_leave(state);
    }
    weft_cubin_free(&made->cubin);
    free(made);
}

bool weft_cuda_module_resources(const weft_module *module, const char *kernel,
                                weft_kernel_resources *out) {
    const weft_cuda_module *made = module->state;
    return weft_cubin_resources(&made->cubin, kernel, out);
}

static void remember(weft_cuda_state *state, weft_cuda_module *made, const char *kernel,
                     weft_cu_function function) {
    pthread_mutex_lock(&state->mutex);
    int n = atomic_load(&made->n_kernels);
    if (n < WEFT_CUDA_KERNELS && strlen(kernel) < sizeof made->kernels[n].name) {
        memcpy(made->kernels[n].name, kernel, strlen(kernel) + 1);
        made->kernels[n].function = function;
        atomic_store(&made->n_kernels, n + 1);
    }
    pthread_mutex_unlock(&state->mutex);
}

weft_status weft_cuda_module_kernel(const weft_module *module, const char *kernel,
                                    weft_cu_function *out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_cuda_module *made = module->state;
    weft_cuda_state *state = module->device->state;
    enum { NOT_FOUND = 500 };
    const int n = atomic_load(&made->n_kernels);
    for (int i = 0; i < n; ++i)
        if (strcmp(made->kernels[i].name, kernel) == 0) {
            *out = made->kernels[i].function;
            goto done;
        }
    weft_cu_result code = state->driver.cuModuleGetFunction(out, made->handle, kernel);
    if (code == NOT_FOUND)
        TRY(weft_error_set(error, WEFT_ERROR_DEVICE, "module %s has no kernel %s", module->name,
                           kernel));
    TRY(weft_cuda_check(state, code, "looking for a kernel", error));
    remember(state, made, kernel, *out);
done:
    return status;
}
