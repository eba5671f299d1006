/* Finds, loads and stores entries of the cache directory. */
#include "core/cache/cache.h"
#include "core/base/file.h"
#include "core/base/number.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void weft_cache_warn(weft_cache *cache, const char *format, ...) {
    char reason[1024];
    if (atomic_exchange(&cache->warned, true))
        return;
    va_list arguments;
    va_start(arguments, format);
    weft_print_list(reason, sizeof reason, format, arguments);
    va_end(arguments);
    weft_log(cache->monitor, WEFT_LOG_WARNING, "the %s keeps nothing: %s; %s", cache->name, reason,
             cache->instead);
}

weft_status weft_cache_directory(char *out, size_t size, weft_error *error) {
    const char *base = secure_getenv("XDG_CACHE_HOME"), *between = "";
    /* The XDG specification says to ignore relative paths. */
    if (!base || base[0] != '/') {
        base = secure_getenv("HOME");
        between = "/.cache";
    }
    if (!base || base[0] != '/')
        return weft_error_refuse(error, WEFT_ERROR_IO,
                                 "there is no home folder for the kernel cache",
                                 "set HOME or XDG_CACHE_HOME to a folder you may write");
    int length = snprintf(out, size, "%s%s/weft", base, between);
    if (length < 0 || (size_t)length >= size)
        return weft_error_set(error, WEFT_ERROR_IO, "the name of the cache folder is too long");
    return WEFT_OK;
}

int weft_cache_folder_open(const char *path, const struct stat *other, bool *missing, char *reason,
                           size_t size) {
    struct stat info;
    mode_t forbidden = S_IWGRP | S_IWOTH;
    char plain[512];
    *missing = false;
    /* Strip trailing slashes: with one, a link would be followed in spite of O_NOFOLLOW. */
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        --length;
    if (length >= sizeof plain) {
        snprintf(reason, size, "the name of the cache folder is too long");
        return -1;
    }
    memcpy(plain, path, length);
    plain[length] = '\0';
    int folder = open(plain, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0) {
        int number = errno;
        *missing = number == ENOENT;
        if (number == ENOTDIR && lstat(plain, &info) == 0 && S_ISLNK(info.st_mode))
            snprintf(reason, size, "%s is a symbolic link, and links are not followed", plain);
        else
            snprintf(reason, size, "cannot open %s: %s", plain, strerror(number));
        return -1;
    }
    if (fstat(folder, &info) != 0) {
        snprintf(reason, size, "cannot look at %s: %s", plain, strerror(errno));
        close(folder);
        return -1;
    }
    if (other && (other->st_mode & S_IWGRP) && other->st_gid == info.st_gid)
        forbidden = S_IWOTH;
    if (info.st_uid != geteuid() && (!other || info.st_uid != other->st_uid))
        snprintf(reason, size, "%s belongs to another user", plain);
    else if (info.st_mode & forbidden)
        snprintf(reason, size, "others may write %s (chmod 700 mends it)", plain);
    else
        return folder;
    close(folder);
    return -1;
}

/* Create a directory and its parents for the owner only; returns the errno of the last step. */
static int make_folders(const char *path) {
    char part[512];
    int number = ENAMETOOLONG;
    if (strlen(path) >= sizeof part)
        return number;
    memcpy(part, path, strlen(path) + 1);
    for (char *c = part + 1;; ++c) {
        char kept = *c;
        if (kept != '/' && kept != '\0')
            continue;
        *c = '\0';
        number = mkdir(part, 0700) == 0 || errno == EEXIST ? 0 : errno;
        *c = kept;
        if (kept == '\0')
            return number;
    }
}

/* System users have a home directory that intentionally does not exist; it must not be created. */
static bool is_below_missing_home(const char *path) {
    const char *home = secure_getenv("HOME");
    struct stat info;
    size_t length = home ? strlen(home) : 0;
    return length > 1 && strncmp(path, home, length) == 0 && path[length] == '/' &&
           stat(home, &info) != 0;
}

void weft_cache_open(weft_cache *cache, weft_cache_mode mode, const char *directory,
                     const weft_monitor *monitor) {
    weft_cache_open_for(cache, "kernel cache", "kernels are compiled in memory for this run only",
                        mode, directory, monitor);
}

void weft_cache_open_for(weft_cache *cache, const char *name, const char *instead,
                         weft_cache_mode mode, const char *directory, const weft_monitor *monitor) {
    weft_error error;
    char reason[1200];
    bool missing;
    memset(cache, 0, sizeof *cache);
    cache->folder = -1;
    cache->monitor = monitor;
    cache->name = name;
    cache->instead = instead;
    if (mode == WEFT_CACHE_OFF)
        return;
    if (directory && strlen(directory) >= sizeof cache->path) {
        weft_cache_warn(cache, "the name of its folder is too long");
        return;
    }
    if (directory)
        memcpy(cache->path, directory, strlen(directory) + 1);
    else if (weft_cache_directory(cache->path, sizeof cache->path, &error) != WEFT_OK) {
        weft_cache_warn(cache, "%s", error.message);
        return;
    }
    cache->folder = weft_cache_folder_open(cache->path, NULL, &missing, reason, sizeof reason);
    if (cache->folder < 0 && missing && mode == WEFT_CACHE_ON &&
        !(!directory && is_below_missing_home(cache->path))) {
        int number = make_folders(cache->path);
        if (number != 0)
            snprintf(reason, sizeof reason, "cannot make %s: %s", cache->path, strerror(number));
        else
            cache->folder =
                weft_cache_folder_open(cache->path, NULL, &missing, reason, sizeof reason);
    }
    if (cache->folder < 0 && !(missing && mode == WEFT_CACHE_READ))
        weft_cache_warn(cache, "%s", reason);
    cache->writable = cache->folder >= 0 && mode == WEFT_CACHE_ON;
}

void weft_cache_close(weft_cache *cache) {
    if (cache->folder >= 0)
        close(cache->folder);
    cache->folder = -1;
}

static unsigned char *payload_of(unsigned char *bytes, size_t size, size_t *payload_size) {
    *payload_size = size - WEFT_ENTRY_HEADER;
    memmove(bytes, bytes + WEFT_ENTRY_HEADER, *payload_size);
    return bytes;
}

unsigned char *weft_cache_load(weft_cache *cache, const weft_entry *wanted, bool quiet,
                               size_t *size) {
    char name[48];
    unsigned char *bytes = NULL;
    size_t whole = 0;
    bool missing = false;
    weft_entry found;
    if (cache->folder < 0)
        return NULL;
    snprintf(name, sizeof name, "%s.weft", wanted->key);
    const char *wrong = weft_entry_read(cache->folder, name, &bytes, &whole, &missing);
    if (missing)
        return NULL;
    if (!wrong)
        wrong = weft_entry_check(bytes, whole, wanted->key, &found);
    if (!wrong && (found.kind != wanted->kind || strcmp(found.source_key, wanted->source_key) != 0))
        wrong = "it is the entry of another source";
    if (wrong) {
        if (!quiet)
            weft_log(cache->monitor, WEFT_LOG_WARNING, "cache entry %s/%s is not used: %s",
                     cache->path, name, wrong);
        free(bytes);
        return NULL;
    }
    return payload_of(bytes, whole, size);
}

bool weft_cache_has(const weft_cache *cache, const char *key) {
    char name[48];
    snprintf(name, sizeof name, "%s.weft", key);
    return cache->folder >= 0 && faccessat(cache->folder, name, F_OK, 0) == 0;
}

unsigned char *weft_cache_load_any(const weft_cache *cache, const char *source_key,
                                   weft_entry *found, size_t *size) {
    if (cache->folder < 0)
        return NULL;
    int again = openat(cache->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *list = again >= 0 ? fdopendir(again) : NULL;
    if (!list) {
        if (again >= 0)
            close(again);
        return NULL;
    }
    unsigned char *result = NULL;
    for (struct dirent *item; !result && (item = readdir(list));) {
        char key[33];
        unsigned char *bytes = NULL;
        size_t whole = 0;
        bool missing;
        if (!weft_entry_name(item->d_name, key) || strncmp(key, source_key, 16) != 0)
            continue;
        if (!weft_entry_read(cache->folder, item->d_name, &bytes, &whole, &missing) &&
            !weft_entry_check(bytes, whole, key, found) &&
            strcmp(found->source_key, source_key) == 0)
            result = payload_of(bytes, whole, size);
        else
            free(bytes);
    }
    closedir(list);
    return result;
}

void weft_temporary_name(const char *key, char *out, size_t size) {
    snprintf(out, size, "tmp-%s-%016llx", key, (unsigned long long)weft_random());
}

/* Write and flush a temporary file and then rename it, so that an entry is never incomplete. */
static int store_file(weft_cache *cache, const char *temporary, const char *name,
                      const unsigned char *header, const void *payload, size_t size) {
    int file = openat(cache->folder, temporary,
                      O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file < 0)
        return errno;
    int number = 0;
    if (weft_write_all(file, header, WEFT_ENTRY_HEADER) != WEFT_OK ||
        weft_write_all(file, payload, size) != WEFT_OK || fsync(file) != 0)
        number = errno;
    if (close(file) != 0 && number == 0)
        number = errno;
    if (number == 0 && renameat(cache->folder, temporary, cache->folder, name) != 0)
        number = errno;
    if (number != 0)
        unlinkat(cache->folder, temporary, 0);
    else
        (void)fsync(cache->folder);
    return number;
}

void weft_cache_store(weft_cache *cache, weft_entry *entry, const void *payload, size_t size) {
    unsigned char header[WEFT_ENTRY_HEADER];
    char temporary[80], name[48];
    if (!cache->writable)
        return;
    entry->payload_bytes = size;
    weft_hash(payload, size, entry->payload_hash);
    weft_entry_encode(entry, header);
    weft_temporary_name(entry->key, temporary, sizeof temporary);
    snprintf(name, sizeof name, "%s.weft", entry->key);
    int number = store_file(cache, temporary, name, header, payload, size);
    if (number != 0)
        weft_cache_warn(cache, "cannot write in %s: %s", cache->path, strerror(number));
}
