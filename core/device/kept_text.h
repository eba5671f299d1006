/** Texts in a device's cache directory. In: a key, a text. Out: the same text in a later process, verified.
 *
 *  Entries are like those of modules (docs/cache.md): whole or absent, however many processes and threads write them. There is
 *  no lock: two that make the same text both write it. */
#pragma once

#include "core/weft_device.h"

typedef struct weft_text_cache weft_text_cache;
/** Copy what the options say of the cache; opens nothing. out  caller's; weft_text_cache_free */
weft_status weft_text_cache_make(const weft_device_options *options, weft_text_cache **out,
                                 weft_error *error);
void weft_text_cache_free(weft_text_cache **texts);

/** Does the device have a cache (WEFT_CACHE is not off)? */
bool weft_device_keeps_texts(const weft_device *device);
/** Returns  malloc'd, with its size; NULL: there is no valid text of this key. A damaged one is logged. */
char *weft_device_text_load(const weft_device *device, const char key[33], size_t *size);
/** Failures are ignored: nothing depends on the cache.
 *  description  for lists of the cache: what it is of */
void weft_device_text_store(const weft_device *device, const char key[33], const char *description,
                            const char *text, size_t size);
