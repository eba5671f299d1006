/* Locks keys of the cache and makes private directories to compile in. */
#include "core/cache/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

/* Maximum wait for another process that makes the same entry, and, on file systems without locks,
 * the minimum age of leftovers before they are removed. */
static const double LONGEST_WAIT = 120;
enum { ABANDONED_SECONDS = 24 * 60 * 60 };

static off_t lock_place(const char *key) {
    char digits[16];
    memcpy(digits, key + 17, 15); /* includes digits of the half that identifies the compiler */
    digits[15] = '\0';
    unsigned long long low = strtoull(digits, NULL, 16);
    memcpy(digits, key, 15);
    return (off_t)((strtoull(digits, NULL, 16) ^ low) >> 1);
}

/* Open file description locks, so that two threads with two devices exclude each other too. */
static int lock_set(int file, const char *key, short type) {
    struct flock lock = {
        .l_type = type, .l_whence = SEEK_SET, .l_start = lock_place(key), .l_len = 1};
    return fcntl(file, F_OFD_SETLK, &lock) == 0 ? 0 : errno;
}

static bool lock_try(int file, const char *key) {
    return file >= 0 && lock_set(file, key, F_WRLCK) == 0;
}

static void lock_drop(int file, const char *key) {
    (void)lock_set(file, key, F_UNLCK);
}

static void sleep_seconds(double seconds) {
    struct timespec time = {.tv_sec = 0, .tv_nsec = (long)(seconds * 1e9)};
    nanosleep(&time, NULL);
}

weft_cache_lock weft_cache_lock_take(weft_cache *cache, const char *key) {
    weft_cache_lock none = {-1};
    if (!cache->writable)
        return none;
    int file =
        openat(cache->folder, "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600);
    if (file < 0)
        return none;
    double start = weft_clock(), pause = 1e-3;
    bool reported = false;
    for (;;) {
        int number = lock_set(file, key, F_WRLCK);
        if (number == 0)
            return (weft_cache_lock){file};
        bool taken = number == EAGAIN || number == EACCES || number == EINTR;
        if (!taken || weft_clock() - start > LONGEST_WAIT)
            break;
        if (!reported && weft_clock() - start > 0.5) {
            weft_log(cache->monitor, WEFT_LOG_INFO,
                     "waiting for another thread or process that compiles the same kernel");
            reported = true;
        }
        sleep_seconds(pause);
        pause = pause < 0.02 ? pause * 1.5 : pause;
    }
    close(file);
    return none;
}

void weft_cache_lock_give(weft_cache_lock *lock) {
    if (lock->file >= 0)
        close(lock->file);
    lock->file = -1;
}

/* Remove the regular files; true if one was removed. Unlike opendir, this allocates no memory: it
 * must also work when memory is out. */
static bool remove_files(int folder) {
    _Alignas(struct dirent64) char entries[4096];
    bool any = false;
    ssize_t n;
    if (lseek(folder, 0, SEEK_SET) != 0)
        return false;
    while ((n = getdents64(folder, entries, sizeof entries)) > 0)
        for (ssize_t at = 0; at < n;) {
            const struct dirent64 *item = (const struct dirent64 *)(const void *)(entries + at);
            any = unlinkat(folder, item->d_name, 0) == 0 || any;
            at += item->d_reclen;
        }
    return any;
}

/* Remove a directory with regular files in it, as a compiler leaves them. */
static void remove_folder(int parent, const char *name) {
    int folder = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0)
        return;
    /* Repeat: removing files while listing may skip others. */
    while (remove_files(folder)) {
    }
    close(folder);
    unlinkat(parent, name, AT_REMOVEDIR);
}

/* The key of a name tmp-KEY-RANDOM. */
static bool temporary_key(const char *name, char key[33]) {
    static const char digits[] = "0123456789abcdef";
    if (strlen(name) != 4 + 32 + 1 + 16 || strncmp(name, "tmp-", 4) != 0 ||
        strspn(name + 4, digits) != 32 || name[36] != '-' || strspn(name + 37, digits) != 16)
        return false;
    memcpy(key, name + 4, 32);
    key[32] = '\0';
    return true;
}

static void remove_temporary(int folder, const char *name) {
    if (unlinkat(folder, name, 0) != 0)
        remove_folder(folder, name);
}

static bool is_old(int folder, const char *name) {
    struct stat info;
    return fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
           time(NULL) - info.st_mtime > ABANDONED_SECONDS;
}

/* Open the listing of a directory, keeping its descriptor; NULL if it cannot be read. */
static DIR *list_open(int folder) {
    int again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *list = again >= 0 ? fdopendir(again) : NULL;
    if (!list && again >= 0)
        close(again);
    return list;
}

void weft_cache_sweep(int folder, int lock, const char *key) {
    DIR *list = list_open(folder);
    for (struct dirent *item; list && (item = readdir(list));) {
        char other[33];
        if (!temporary_key(item->d_name, other))
            continue;
        if (key && strcmp(key, other) == 0) {
            remove_temporary(folder, item->d_name);
        } else if (lock < 0) {
            if (is_old(folder, item->d_name))
                remove_temporary(folder, item->d_name);
        } else if (lock_try(lock, other)) {
            remove_temporary(folder, item->d_name);
            lock_drop(lock, other);
        }
    }
    if (list)
        closedir(list);
}

static int open_folder(int parent, const char *name) {
    return openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Make a work directory in the cache directory, under the key's lock; false if not writable. */
static bool make_in_cache(weft_cache *cache, const char *key, weft_work_folder *out) {
    out->parent = fcntl(cache->folder, F_DUPFD_CLOEXEC, 3);
    if (out->parent < 0)
        return false;
    weft_temporary_name(key, out->name, sizeof out->name);
    if (mkdirat(out->parent, out->name, 0700) == 0) {
        out->folder = open_folder(out->parent, out->name);
        if (out->folder >= 0)
            return true;
        unlinkat(out->parent, out->name, AT_REMOVEDIR);
    }
    weft_cache_warn(cache, "cannot write in %s: %s", cache->path, strerror(errno));
    close(out->parent);
    return false;
}

/* Remove the leftovers of killed processes: weft-KEY-RANDOM of this user, older than a day. */
static void sweep_temporary(int parent) {
    struct stat info;
    DIR *list = list_open(parent);
    for (struct dirent *item; list && (item = readdir(list));) {
        char renamed[64], key[33];
        if (strncmp(item->d_name, "weft-", 5) != 0 || strlen(item->d_name) >= sizeof renamed)
            continue;
        snprintf(renamed, sizeof renamed, "tmp-%s", item->d_name + 5);
        if (temporary_key(renamed, key) && is_old(parent, item->d_name) &&
            fstatat(parent, item->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
            info.st_uid == geteuid())
            remove_folder(parent, item->d_name);
    }
    if (list)
        closedir(list);
}

static bool make_in_temporary(const char *base, const char *key, weft_work_folder *out) {
    char random[80];
    if (!base || base[0] != '/')
        return false;
    out->parent = open(base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (out->parent < 0)
        return false;
    sweep_temporary(out->parent);
    weft_temporary_name(key, random, sizeof random);
    snprintf(out->name, sizeof out->name, "weft-%.60s", random + 4);
    if (mkdirat(out->parent, out->name, 0700) == 0) {
        out->folder = open_folder(out->parent, out->name);
        if (out->folder >= 0)
            return true;
        unlinkat(out->parent, out->name, AT_REMOVEDIR);
    }
    close(out->parent);
    return false;
}

weft_status weft_work_folder_make(weft_cache *cache, const weft_cache_lock *lock, const char *key,
                                  int *place, weft_work_folder *out, weft_error *error) {
    const int first = *place;
    out->parent = out->folder = -1;
    if (first == 0 && cache->writable) {
        if (!atomic_exchange(&cache->is_swept,
                             true)) /* reading a large folder takes as long as compiling a kernel */
            weft_cache_sweep(cache->folder, lock->file, lock->file >= 0 ? key : NULL);
        /* Without the lock, another process might take this directory for abandoned. */
        if (lock->file >= 0 && make_in_cache(cache, key, out))
            return WEFT_OK;
    }
    const char *const bases[] = {secure_getenv("TMPDIR"), "/tmp", "/var/tmp", "/dev/shm"};
    const int n = (int)(sizeof bases / sizeof bases[0]);
    for (int i = first > 0 ? first - 1 : 0; i < n; ++i)
        if (make_in_temporary(bases[i], key, out)) {
            *place = i + 1;
            return WEFT_OK;
        }
    out->parent = out->folder = -1;
    weft_error_set(
        error, WEFT_ERROR_IO,
        first > 0
            ? "no room to compile in: the cache, $TMPDIR, /tmp, /var/tmp and "
              "/dev/shm are full, or cannot be written"
            : "no folder to compile in: neither the cache nor $TMPDIR nor /tmp can be written");
    weft_error_hint(error, first > 0 ? "make room there, or set TMPDIR to a folder with room"
                                     : "set TMPDIR to a folder you may write");
    return WEFT_ERROR_IO;
}

/* A compilation needs about 100 kB; more is required here because its files are removed already. */
bool weft_work_folder_is_full(const weft_work_folder *work) {
    static const double enough = 4e6;
    struct statvfs info;
    if (fstatvfs(work->folder, &info) != 0)
        return false;
    return (double)info.f_bavail * (double)info.f_frsize < enough ||
           (info.f_files > 0 && info.f_favail == 0);
}

void weft_work_folder_remove(weft_work_folder *work) {
    if (work->folder >= 0)
        close(work->folder);
    if (work->parent >= 0) {
        remove_folder(work->parent, work->name);
        close(work->parent);
    }
    work->folder = work->parent = -1;
}
