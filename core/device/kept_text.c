/* Keeps texts in the cache directory of a device, beside its compiled modules. */
#include "core/device/kept_text.h"
#include "core/cache/cache.h"
#include "core/device/device.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct weft_text_cache {
    pthread_mutex_t mutex; /* protects opening */
    bool is_open;
    weft_cache_mode mode;
    char *directory; /* NULL: the default */
    weft_cache cache;
};

weft_status weft_text_cache_make(const weft_device_options *options, weft_text_cache **out,
                                 weft_error *error) {
    weft_status status = WEFT_OK;
    weft_text_cache *made = calloc(1, sizeof *made);
    if (!made)
        TRY(weft_out_of_memory(error, "a device"));
    pthread_mutex_init(&made->mutex, NULL);
    made->mode = options->cache;
    made->cache.folder = -1;
    made->directory = options->cache_directory ? strdup(options->cache_directory) : NULL;
    if (options->cache_directory && !made->directory)
        TRY(weft_out_of_memory(error, "a device"));
    *out = made;
    made = NULL;
done:
    weft_text_cache_free(&made);
    return status;
}

void weft_text_cache_free(weft_text_cache **texts) {
    if (!texts || !*texts)
        return;
    weft_cache_close(&(*texts)->cache);
    pthread_mutex_destroy(&(*texts)->mutex);
    free((*texts)->directory);
    free(*texts);
    *texts = NULL;
}

/* Open the directory for the first text, so that a device used only for its limits touches no file. The cache of modules
 * warns of a directory that cannot be used. */
static weft_cache *opened(const weft_device *device) {
    weft_text_cache *texts = device->texts;
    pthread_mutex_lock(&texts->mutex);
    if (!texts->is_open) {
        weft_cache_open(&texts->cache, texts->mode, texts->directory, NULL);
        texts->cache.monitor = device->monitor;
        atomic_store(&texts->cache.warned, true);
    }
    texts->is_open = true;
    pthread_mutex_unlock(&texts->mutex);
    return &texts->cache;
}

bool weft_device_keeps_texts(const weft_device *device) {
    return device->texts && device->texts->mode != WEFT_CACHE_OFF;
}

char *weft_device_text_load(const weft_device *device, const char key[33], size_t *size) {
    weft_entry wanted = {.kind = WEFT_ENTRY_PLAN};
    memcpy(wanted.key, key, sizeof wanted.key);
    memcpy(wanted.source_key, key, sizeof wanted.source_key);
    return weft_device_keeps_texts(device)
               ? (char *)weft_cache_load(opened(device), &wanted, false, size)
               : NULL;
}

void weft_device_text_store(const weft_device *device, const char key[33], const char *description,
                            const char *text, size_t size) {
    weft_entry entry = {.kind = WEFT_ENTRY_PLAN};
    memcpy(entry.key, key, sizeof entry.key);
    memcpy(entry.source_key, key, sizeof entry.source_key);
    snprintf(entry.description, sizeof entry.description, "%s", description);
    if (weft_device_keeps_texts(device))
        weft_cache_store(opened(device), &entry, text, size);
}
