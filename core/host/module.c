/* Compiles host modules or loads them from the cache. */
#include "core/host/module.h"
#include "core/base/file.h"
#include "core/device/device.h"
#include "core/device/source.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <gnu/libc-version.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* State of a host module. */
typedef struct weft_object {
    unsigned char *bytes;
    size_t size;
} weft_object;

struct weft_host_compile {
    pthread_mutex_t mutex; /* protects what the first module initialises */
    bool cache_ready, compiler_ready;
    bool is_usual; /* the user has named no compiler, so what another one has made will do */
    atomic_bool reported_no_compiler;
    weft_cache_mode mode;
    char *cache_directory, *keep_directory, *command;
    const weft_monitor *monitor;
    weft_cache cache, shipped;
    weft_compiler compiler;
    weft_processor processor;
};

static bool copy_option(const char *value, char **out) {
    *out = value ? strdup(value) : NULL;
    return !value || *out;
}

weft_status weft_host_compile_make(const weft_device_options *options,
                                   const weft_processor *processor, weft_host_compile **out,
                                   weft_error *error) {
    weft_host_compile *compile = calloc(1, sizeof *compile);
    if (!compile)
        return weft_out_of_memory(error, "a device");
    pthread_mutex_init(&compile->mutex, NULL);
    compile->cache.folder = compile->shipped.folder = -1;
    compile->mode = options->cache;
    compile->monitor = options->monitor;
    const char *command = options->compiler ? options->compiler : getenv("CC");
    if (!command || !command[0])
        command = WEFT_COMPILER_USUAL;
    if (!copy_option(options->cache_directory, &compile->cache_directory) ||
        !copy_option(options->keep_directory, &compile->keep_directory) ||
        !copy_option(command, &compile->command)) {
        weft_host_compile_free(&compile);
        return weft_out_of_memory(error, "a device");
    }
    compile->is_usual = strcmp(command, WEFT_COMPILER_USUAL) == 0;
    compile->processor = *processor;
    *out = compile;
    return WEFT_OK;
}

void weft_host_compile_identify(const weft_host_compile *compile, weft_text *out) {
    weft_text_add(out, "%s|%s", compile->processor.identity, compile->command);
}

void weft_host_compile_free(weft_host_compile **compile) {
    if (!compile || !*compile)
        return;
    weft_cache_close(&(*compile)->cache);
    weft_cache_close(&(*compile)->shipped);
    pthread_mutex_destroy(&(*compile)->mutex);
    free((*compile)->cache_directory);
    free((*compile)->keep_directory);
    free((*compile)->command);
    free(*compile);
    *compile = NULL;
}

/* Open the cache and find the compiler for the first module, so that a device used only for its
 * limits touches no file. A missing compiler is searched again for each module: it may have been
 * installed since. */
static weft_status prepare(weft_host_compile *compile, weft_error *error) {
    weft_status status = WEFT_OK;
    if (!compile->cache_ready) {
        weft_cache_open(&compile->cache, compile->mode, compile->cache_directory, compile->monitor);
        if (compile->mode != WEFT_CACHE_OFF && compile->is_usual && compile->processor.set)
            weft_cache_open_shipped(&compile->shipped, compile->processor.set, compile->monitor);
    }
    compile->cache_ready = true;
    if (!compile->compiler_ready)
        TRY(weft_compiler_find(compile->command, &compile->processor, &compile->cache,
                               &compile->compiler, error));
    compile->compiler_ready = true;
done:
    return status;
}

/* Hash a source with what decides whether its object is valid, but for the compiler: this processor and C library;
 * or the name of an instruction set, whose object is valid on every processor with that set. (A C library that is
 * too old does not load it.) */
static weft_status make_source_key(const weft_host_compile *compile, bool is_portable,
                                   const char *source, char out[33], weft_error *error) {
    weft_status status = WEFT_OK;
    weft_text maker = {0};
    weft_text_add(&maker, "weft host module, format %d|", WEFT_CACHE_FORMAT);
    if (is_portable) {
        weft_text_add(&maker, "Weft " WEFT_VERSION "|%s|%s|", compile->processor.set,
                      compile->processor.set_option);
        weft_compiler_add_options(&maker);
    } else
        weft_text_add(&maker, "%s|libc %s|", compile->processor.identity, gnu_get_libc_version());
    if (maker.failed)
        TRY(weft_out_of_memory(error, "a kernel's source"));
    TRY(weft_source_key(maker.data, source, out, error));
done:
    weft_text_free(&maker);
    return status;
}

/* Reduce a module's name to letters, digits and "-_.", for a file name. */
void weft_source_name(const char *name, char *out, size_t size) {
    size_t n = 0;
    for (; name && name[n] && n + 1 < size; ++n) {
        char c = name[n];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                     c == '_' || c == '-' || (c == '.' && n > 0);
        out[n] = plain && !(c == '-' && n == 0) ? c : '_';
    }
    out[n] = '\0';
    if (n == 0)
        snprintf(out, size, "module");
}

void weft_source_keep(const char *folder, const weft_monitor *monitor, const char *name,
                      const char *suffix, const char *source) {
    char path[1024];
    if (!folder)
        return;
    int length = snprintf(path, sizeof path, "%s/%s.%s", folder, name, suffix);
    if (length < 0 || (size_t)length >= sizeof path) {
        weft_log(monitor, WEFT_LOG_WARNING, "source of %s is not kept: %s is too long a name", name,
                 folder);
        return;
    }
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
        weft_log(monitor, WEFT_LOG_WARNING, "source of %s is not kept: cannot make %s: %s", name,
                 folder, strerror(errno));
        return;
    }
    const bool good = weft_file_replace(path, source, strlen(source)) == WEFT_OK;
    const int number = errno;
    if (good)
        weft_log(monitor, WEFT_LOG_INFO, "source of %s is in %s", name, path);
    else
        weft_log(monitor, WEFT_LOG_WARNING, "source of %s is not kept: cannot write %s: %s", name,
                 path, strerror(number));
}

/* Load a valid cache entry. If the loader rejects it, it was made on another system and is compiled
 * again. */
static bool load_entry(weft_host_compile *compile, const weft_entry *entry, bool again,
                       weft_shared_object *object) {
    weft_error error;
    size_t size = 0;
    unsigned char *payload = weft_cache_load(&compile->cache, entry, again, &size);
    if (!payload)
        return false;
    weft_status status = weft_shared_object_load(payload, size, &compile->cache, object, &error);
    free(payload);
    if (status != WEFT_OK && !again)
        weft_log(compile->monitor, WEFT_LOG_WARNING, "cache entry %s is not used: %s", entry->key,
                 error.message);
    return status == WEFT_OK;
}

/* Compile in the next place if a disk is full, so that a full cache disk does no harm. */
static weft_status compile_somewhere(weft_host_compile *compile, const weft_cache_lock *lock,
                                     const char *name, const char *source, const weft_entry *entry,
                                     weft_object *object, weft_error *error) {
    for (int place = 0;; ++place) {
        weft_work_folder work = {-1, -1, ""};
        weft_status status =
            weft_work_folder_make(&compile->cache, lock, entry->key, &place, &work, error);
        if (status != WEFT_OK)
            return status;
        status = weft_compiler_run(&compile->compiler, &work, name, source, &object->bytes,
                                   &object->size, error);
        const bool again = status == WEFT_ERROR_COMPILER || status == WEFT_ERROR_IO;
        const bool full = again && weft_work_folder_is_full(&work);
        weft_work_folder_remove(&work);
        if (!full)
            return status;
        if (place == 0) {
            weft_cache_warn(&compile->cache, "no space is left in %s", compile->cache.path);
            compile->cache.writable = false;
        }
    }
}

static weft_status compile_and_store(weft_host_compile *compile, const weft_cache_lock *lock,
                                     const char *name, const char *source, weft_entry *entry,
                                     weft_shared_object *out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_object object = {NULL, 0};
    TRY(compile_somewhere(compile, lock, name, source, entry, &object, error));
    TRY(weft_shared_object_load(object.bytes, object.size, &compile->cache, out, error));
    weft_cache_store(&compile->cache, entry, object.bytes, object.size);
done:
    free(object.bytes);
    return status;
}

/* Load an entry of the same source and machine by any compiler.
 * object  NULL: find out whether there is a valid one */
static bool load_any(weft_host_compile *compile, const weft_cache *cache, const char *source_key,
                     weft_shared_object *object, weft_entry *found) {
    weft_error ignored;
    size_t size = 0;
    unsigned char *payload = weft_cache_load_any(cache, source_key, found, &size);
    const bool good = payload && (!object || weft_shared_object_load(payload, size, &compile->cache,
                                                                     object, &ignored) == WEFT_OK);
    free(payload);
    return good;
}

static bool load_without_compiler(weft_host_compile *compile, const char *source_key,
                                  weft_shared_object *object) {
    weft_entry found;
    if (!load_any(compile, &compile->cache, source_key, object, &found))
        return false;
    if (!atomic_exchange(&compile->reported_no_compiler, true))
        weft_log(compile->monitor, WEFT_LOG_WARNING,
                 "no C compiler is found; cached kernels are used, as \"%s\"", found.description);
    return true;
}

/* Load from the cache that was installed with Weft. What is damaged or of another version is not found. */
static bool load_shipped(weft_host_compile *compile, const char *source,
                         weft_shared_object *object) {
    weft_entry found;
    weft_error ignored;
    char key[33];
    return compile->shipped.folder >= 0 &&
           make_source_key(compile, true, source, key, &ignored) == WEFT_OK &&
           load_any(compile, &compile->shipped, key, object, &found);
}

/* The entry of a source. Its source_key is set also after WEFT_ERROR_COMPILER: there is no compiler. */
static weft_status make_entry(weft_host_compile *compile, const char *name, const char *source,
                              weft_entry *entry, weft_error *error) {
    weft_status status = WEFT_OK;
    char compiler_key[33];
    *entry = (weft_entry){.kind = WEFT_ENTRY_HOST_MODULE};
    TRY(make_source_key(compile, compile->processor.is_named, source, entry->source_key, error));
    pthread_mutex_lock(&compile->mutex);
    status = prepare(compile, error);
    pthread_mutex_unlock(&compile->mutex);
    TRY(status);
    weft_compiler_key(&compile->compiler, compiler_key);
    memcpy(entry->key, entry->source_key, 16);
    memcpy(entry->key + 16, compiler_key, 16);
    snprintf(entry->description, sizeof entry->description, "%.100s, %s, %s, %s", name,
             compile->compiler.label, compile->processor.name, compile->processor.vectors);
done:
    return status;
}

bool weft_host_module_stored(weft_host_compile *compile, const char *source) {
    weft_entry entry;
    weft_error ignored;
    return make_entry(compile, "", source, &entry, &ignored) == WEFT_OK &&
           (weft_cache_has(&compile->cache, entry.key) || load_shipped(compile, source, NULL));
}

weft_status weft_host_module_store(weft_host_compile *compile, const char *name, const char *source,
                                   weft_error *error) {
    weft_status status = WEFT_OK;
    weft_entry entry;
    weft_cache_lock lock = {-1};
    weft_object object = {NULL, 0};
    char file[64];
    weft_source_name(name, file, sizeof file);
    TRY(make_entry(compile, name, source, &entry, error));
    lock = weft_cache_lock_take(&compile->cache, entry.key); /* none: nothing can be stored */
    if (lock.file < 0 || weft_cache_has(&compile->cache, entry.key))
        goto done;
    TRY(compile_somewhere(compile, &lock, file, source, &entry, &object, error));
    weft_cache_store(&compile->cache, &entry, object.bytes, object.size);
done:
    weft_cache_lock_give(&lock);
    free(object.bytes);
    return status;
}

static weft_status make_object(weft_host_compile *compile, weft_module *module, const char *source,
                               weft_shared_object *object, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_entry entry;
    weft_cache_lock lock = {-1};
    char name[64];
    weft_source_name(module->name, name, sizeof name);
    weft_source_keep(compile->keep_directory, compile->monitor, name, "c", source);
    status = make_entry(compile, module->name, source, &entry, error);
    if (status == WEFT_OK)
        module->cached = load_entry(compile, &entry, false, object);
    else if (status == WEFT_ERROR_COMPILER)
        module->cached = load_without_compiler(compile, entry.source_key, object);
    if (!module->cached && (status == WEFT_OK || status == WEFT_ERROR_COMPILER))
        module->cached = load_shipped(compile, source, object);
    if (module->cached) {
        status = WEFT_OK;
        goto done;
    }
    TRY(status);
    double start = weft_clock();
    weft_log(compile->monitor, WEFT_LOG_DEBUG, "compiling %s with %s", module->name,
             compile->compiler.label);
    lock = weft_cache_lock_take(&compile->cache, entry.key);
    /* Another process may have stored the entry while this one waited for the lock. */
    module->cached = lock.file >= 0 && load_entry(compile, &entry, true, object);
    if (!module->cached) {
        TRY(compile_and_store(compile, &lock, name, source, &entry, object, error));
        module->seconds = weft_clock() - start;
    }
done:
    weft_cache_lock_give(&lock);
    return status;
}

weft_status weft_host_module_make(weft_host_compile *compile, weft_module *module,
                                  const char *source, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_shared_object *object = calloc(1, sizeof *object);
    if (!object)
        TRY(weft_out_of_memory(error, "a module"));
    TRY(make_object(compile, module, source, object, error));
    module->state = object;
    object = NULL;
done:
    free(object);
    return status;
}

void weft_host_module_free(weft_module *module) {
    if (module->state)
        weft_shared_object_free(module->state);
    free(module->state);
    module->state = NULL;
}

weft_host_kernel weft_host_module_kernel(const weft_module *module, const char *kernel) {
    const weft_shared_object *object = module->state;
    void *symbol = dlsym(object->handle, kernel);
    weft_host_kernel function = NULL;
    /* ISO C has no conversion from data to function pointers; POSIX gives them equal size. */
    _Static_assert(sizeof function == sizeof symbol, "pointers of one size");
    memcpy(&function, &symbol, sizeof function);
    return function;
}
