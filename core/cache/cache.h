/** The cache on disk. In: a key. Out: the bytes that were kept under it, verified. */
#pragma once

#include "core/weft_core.h"

#include <stdatomic.h>

#define WEFT_CACHE_FORMAT 1

typedef enum weft_entry_kind {
    WEFT_ENTRY_HOST_MODULE = 1,
    WEFT_ENTRY_COMPILER = 2,
    WEFT_ENTRY_CUDA_MODULE = 3
} weft_entry_kind;

/** What an entry says of itself. A key is two halves of 16 digits: the source with the machine,
 *  and the compiler with its options; so what another compiler made of a source can be found. */
typedef struct weft_entry {
    weft_entry_kind kind;
    char key[33];
    char source_key[33]; /* in full, what the first half of key is cut from */
    char description[256];
    uint64_t payload_bytes;
    char payload_hash[33];
} weft_entry;

/* The file: a header of fixed size (see core/cache/entry.c), then the payload, then nothing. */
#define WEFT_ENTRY_HEADER 512
void weft_entry_encode(const weft_entry *entry, unsigned char out[WEFT_ENTRY_HEADER]);
/** Check a whole file. key NULL: any. Returns NULL when it is sound, else what is wrong, in words.
 */
const char *weft_entry_check(const unsigned char *bytes, size_t size, const char *key,
                             weft_entry *entry);
/** Is it KEY.weft? Then its key is copied. */
bool weft_entry_name(const char *file_name, char key[33]);
/** Read a whole entry file of an opened cache folder. Returns NULL and sets *bytes (free), else
 *  what is wrong, in words; "missing" is told by *missing. */
const char *weft_entry_read(int folder, const char *file_name, unsigned char **bytes, size_t *size,
                            bool *missing);
/** What weft_entry_read returns when it is our memory that is at fault and not the entry. */
extern const char weft_entry_no_memory[];

typedef struct weft_cache {
    int folder;           /* opened; -1: none, everything is made again */
    atomic_bool writable; /* until its disk is full */
    const weft_monitor *monitor;
    atomic_bool warned;         /* that entries cannot be kept: said once */
    const char *name, *instead; /* "kernel cache", and what happens where it keeps nothing */
    char path[512];
} weft_cache;

/** Open the folder, making it where the mode allows. Never fails: what stands in the way is logged
 *  once and the cache is then empty and keeps nothing. */
void weft_cache_open(weft_cache *cache, weft_cache_mode mode, const char *directory,
                     const weft_monitor *monitor);
/** The same for who keeps something else there, under a name of its own. */
void weft_cache_open_for(weft_cache *cache, const char *name, const char *instead,
                         weft_cache_mode mode, const char *directory, const weft_monitor *monitor);
void weft_cache_close(weft_cache *cache);
/** Open an existing folder after checking that it is a folder of ours that nobody else may write.
 *  Returns -1 and the reason in words. *missing: it is not there. */
int weft_cache_folder_open(const char *path, bool *missing, char *reason, size_t size);
/** The payload of a sound entry, malloc'd, or NULL: missing, or unsound, which is logged unless
 *  quiet. */
unsigned char *weft_cache_load(weft_cache *cache, const weft_entry *wanted, bool quiet,
                               size_t *size);
/** The same for an entry with this source_key by whichever compiler. */
unsigned char *weft_cache_load_any(weft_cache *cache, const char *source_key, weft_entry *found,
                                   size_t *size);
/** Keep a payload under entry->key. What goes wrong is logged once. */
void weft_cache_store(weft_cache *cache, weft_entry *entry, const void *payload, size_t size);
void weft_cache_warn(weft_cache *cache, const char *format, ...) WEFT_PRINTF(2, 3);

/* One process at a time makes an entry: a lock on one byte of the file "lock", its place given by
 * the key, which ends with the process however that ends. */
typedef struct weft_cache_lock {
    int file; /* -1: none held */
} weft_cache_lock;
/** Wait for the key's turn; gives up quietly where there is no cache or no locking. */
weft_cache_lock weft_cache_lock_take(weft_cache *cache, const char *key);
void weft_cache_lock_give(weft_cache_lock *lock);

/* A private folder to compile in: tmp-KEY-RANDOM in the cache folder, where the next process cleans
 * up after one that was killed, or a new one in $TMPDIR or /tmp. */
typedef struct weft_work_folder {
    int parent, folder;
    char name[80];
} weft_work_folder;
/** The first that can be made of the places from *place on, 0 being the cache folder; *place is
 * then its number. *place > 0 says that the places before it were full. Errors WEFT_ERROR_IO: there
 * is none. */
weft_status weft_work_folder_make(weft_cache *cache, const weft_cache_lock *lock, const char *key,
                                  int *place, weft_work_folder *out, weft_error *error);
/** Is there so little room that this may be why a compilation failed? */
bool weft_work_folder_is_full(const weft_work_folder *work);
void weft_work_folder_remove(weft_work_folder *work);
/** Remove what killed processes left in a cache folder. lock: an open lock file, or -1; key: held
 *  by the caller, or NULL. */
void weft_cache_sweep(int folder, int lock, const char *key);
/** "tmp-KEY-RANDOM", fresh. */
void weft_temporary_name(const char *key, char *out, size_t size);
