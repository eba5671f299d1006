/** The cache on disk. In: a key. Out: the bytes stored under it, verified.
 *
 *  Decision  docs/decisions/0052-cache-entries-are-verified.md */
#pragma once

#include "core/weft_core.h"

#include <stdatomic.h>
#include <sys/types.h>

#define WEFT_CACHE_FORMAT 1

typedef enum weft_entry_kind {
    WEFT_ENTRY_HOST_MODULE = 1,
    WEFT_ENTRY_COMPILER = 2,
    WEFT_ENTRY_CUDA_MODULE = 3,
    WEFT_ENTRY_PLAN = 4
} weft_entry_kind;

/** Header of an entry. A key has two halves of 16 digits: a hash of source and machine, and a hash
 *  of compiler and options. So entries of the same source by other compilers can be found. */
typedef struct weft_entry {
    weft_entry_kind kind;
    char key[33];
    char source_key[33]; /* the full hash that the first half of key is cut from */
    char description[256];
    uint64_t payload_bytes;
    char payload_hash[33];
} weft_entry;

/* The file: a header of fixed size (see core/cache/entry.c), then the payload, then nothing. */
#define WEFT_ENTRY_HEADER 512
void weft_entry_encode(const weft_entry *entry, unsigned char out[WEFT_ENTRY_HEADER]);
/** Check a whole entry file and decode its header.
 *  key      the expected key; NULL: any
 *  Returns  NULL if the entry is valid, else the defect in words */
const char *weft_entry_check(const unsigned char *bytes, size_t size, const char *key,
                             weft_entry *entry);
/** Is the file name KEY.weft? If so, copy the key. */
bool weft_entry_name(const char *file_name, char key[33]);
/** Read a whole entry file, which must belong to the owner of the directory.
 *  folder   descriptor of the cache directory
 *  bytes    malloc'd
 *  missing  set to whether the file does not exist
 *  Returns  NULL, or what is wrong in words */
const char *weft_entry_read(int folder, const char *file_name, unsigned char **bytes, size_t *size,
                            bool *missing);
/** The value that weft_entry_read returns if memory is out, which is not a defect of the entry. */
extern const char weft_entry_no_memory[];

typedef struct weft_cache {
    int folder;           /* descriptor; -1: no cache, everything is compiled again */
    atomic_bool writable; /* false once the disk is full */
    atomic_bool is_swept; /* leftovers of killed processes have been looked for */
    const weft_monitor *monitor;
    atomic_bool warned;         /* the warning about unusable storage has been logged */
    const char *name, *instead; /* for messages: "kernel cache", and what is done without it */
    char path[512];
} weft_cache;

/** Open the cache directory; create it if the mode allows. Never fails: a problem is logged once,
 *  and the cache is then empty and stores nothing.
 *  directory  NULL: the default
 *  monitor    borrowed; may be NULL */
void weft_cache_open(weft_cache *cache, weft_cache_mode mode, const char *directory,
                     const weft_monitor *monitor);
/** The same for other data in the cache directory; name and instead are for messages. */
void weft_cache_open_for(weft_cache *cache, const char *name, const char *instead,
                         weft_cache_mode mode, const char *directory, const weft_monitor *monitor);
/** Open the read-only cache of kernels that was installed with Weft: the folder `set` in $WEFT_SHIPPED ("none":
 *  there is none), else in a folder beside the program or library that contains this function. It may
 *  belong to the owner of that file. Problems are logged, and the cache is then empty.
 *  set       instruction set, "avx2"
 *  Decision  docs/decisions/0067-common-kernels-are-shipped.md */
void weft_cache_open_shipped(weft_cache *cache, const char *set, const weft_monitor *monitor);
void weft_cache_close(weft_cache *cache);
/** Open an existing directory, which must belong to the user and be writable by nobody else.
 *  other    its owner is accepted too, and its group may write if that of `other`'s may; NULL: nobody else
 *  missing  set to whether it does not exist
 *  Returns  a descriptor; or -1, with the reason in words */
struct stat;
int weft_cache_folder_open(const char *path, const struct stat *other, bool *missing, char *reason,
                           size_t size);
/** Load the payload of a valid entry. Invalid entries are logged unless quiet.
 *  Returns  malloc'd; NULL if the entry is missing or invalid */
unsigned char *weft_cache_load(weft_cache *cache, const weft_entry *wanted, bool quiet,
                               size_t *size);
/** The same for an entry with this source_key, by any compiler. */
unsigned char *weft_cache_load_any(const weft_cache *cache, const char *source_key,
                                   weft_entry *found, size_t *size);
/** Is there a file for this key, valid or not? */
bool weft_cache_has(const weft_cache *cache, const char *key);
/** Store a payload under entry->key. Failures are logged once. */
void weft_cache_store(weft_cache *cache, weft_entry *entry, const void *payload, size_t size);
void weft_cache_warn(weft_cache *cache, const char *format, ...) WEFT_PRINTF(2, 3);

/* Mutual exclusion of processes that make the same entry: a lock on one byte of the file "lock", at
 * an offset derived from the key. The system releases it when the process ends. */
typedef struct weft_cache_lock {
    int file; /* -1: none held */
} weft_cache_lock;
/** Wait for the key's lock. Holds no lock if there is no cache, the file system has no locks, or
 *  the wait takes too long. */
weft_cache_lock weft_cache_lock_take(weft_cache *cache, const char *key);
void weft_cache_lock_give(weft_cache_lock *lock);

/* A private directory to compile in: tmp-KEY-RANDOM in the cache directory, where later processes
 * remove the leftovers of killed ones; or a new directory in $TMPDIR or /tmp. */
typedef struct weft_work_folder {
    int parent, folder;
    char name[80];
} weft_work_folder;
/** Make a work directory in the first usable place.
 *  place   in: first place to try (0: the cache directory; above 0: the places before it were
 *  full);
 *          out: the place used
 *  Errors  WEFT_ERROR_IO: no place is usable */
weft_status weft_work_folder_make(weft_cache *cache, const weft_cache_lock *lock, const char *key,
                                  int *place, weft_work_folder *out, weft_error *error);
/** Is there so little disk space that this may have caused a failed compilation? */
bool weft_work_folder_is_full(const weft_work_folder *work);
void weft_work_folder_remove(weft_work_folder *work);
/** Remove the leftovers of killed processes from a cache directory.
 *  lock  descriptor of the lock file, or -1
 *  key   whose lock the caller holds, or NULL */
void weft_cache_sweep(int folder, int lock, const char *key);
/** Make a new random name "tmp-KEY-RANDOM". */
void weft_temporary_name(const char *key, char *out, size_t size);
