/* Lists and clears the entries of a cache directory. */
#include "core/cache/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Open the directory; *out is NULL with WEFT_OK if it does not exist. */
static weft_status open_list(const char *directory, DIR **out, weft_error *error) {
    weft_status status = WEFT_OK;
    char path[512], reason[700];
    bool missing = false;
    *out = NULL;
    if (!directory) {
        TRY(weft_cache_directory(path, sizeof path, error));
        directory = path;
    }
    int folder = weft_cache_folder_open(directory, NULL, &missing, reason, sizeof reason);
    if (folder < 0) {
        if (!missing)
            status = weft_error_set(error, WEFT_ERROR_IO, "%s", reason);
        goto done;
    }
    *out = fdopendir(folder);
    if (!*out) {
        status = weft_error_set(error, errno == ENOMEM ? WEFT_ERROR_MEMORY : WEFT_ERROR_IO,
                                "cannot list %s: %s", directory, strerror(errno));
        close(folder);
    }
done:
    return status;
}

/* Describe an entry; *found is false if the name is not an entry's, or the file has disappeared. */
static weft_status describe(int folder, const char *file_name, weft_cache_entry *entry, bool *found,
                            weft_error *error) {
    struct stat info;
    weft_entry header = {0};
    unsigned char *bytes = NULL;
    size_t size = 0;
    bool missing = false;
    *found = false;
    *entry = (weft_cache_entry){0};
    if (!weft_entry_name(file_name, entry->key) ||
        fstatat(folder, file_name, &info, AT_SYMLINK_NOFOLLOW) != 0)
        return WEFT_OK;
    entry->bytes = info.st_size > 0 ? (size_t)info.st_size : 0;
    entry->age_seconds = difftime(time(NULL), info.st_mtime);
    const char *wrong = weft_entry_read(folder, file_name, &bytes, &size, &missing);
    if (wrong == weft_entry_no_memory)
        return weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory to verify %s", file_name);
    if (!wrong)
        wrong = weft_entry_check(bytes, size, entry->key, &header);
    free(bytes);
    *found = !missing;
    entry->valid = !wrong;
    snprintf(entry->description, sizeof entry->description, "%s",
             wrong ? wrong : header.description);
    return WEFT_OK;
}

static int by_key(const void *a, const void *b) {
    return strcmp(((const weft_cache_entry *)a)->key, ((const weft_cache_entry *)b)->key);
}

weft_status weft_cache_list(const char *directory, weft_cache_entry **out, size_t *n,
                            weft_error *error) {
    weft_status status = WEFT_OK;
    weft_cache_entry *entries = NULL, entry;
    size_t used = 0, capacity = 0;
    DIR *list = NULL;
    TRY(open_list(directory, &list, error));
    for (struct dirent *item; list && (item = readdir(list));) {
        bool found;
        TRY(describe(dirfd(list), item->d_name, &entry, &found, error));
        if (!found)
            continue;
        if (used == capacity) {
            capacity = capacity ? 2 * capacity : 16;
            weft_cache_entry *larger = realloc(entries, capacity * sizeof *entries);
            if (!larger)
                TRY(weft_out_of_memory(error, "the list"));
            entries = larger;
        }
        entries[used++] = entry;
    }
    if (used > 1)
        qsort(entries, used, sizeof *entries, by_key);
    *out = entries;
    *n = used;
    entries = NULL;
done:
    if (list)
        closedir(list);
    free(entries);
    return status;
}

/* unlinkat does not remove a directory with an entry's name, and of a link removes only the
 * link. */
weft_status weft_cache_clear(const char *directory, bool only_invalid, size_t *n_removed,
                             weft_error *error) {
    weft_status status = WEFT_OK;
    weft_cache_entry entry;
    DIR *list = NULL;
    size_t removed = 0;
    int lock = -1;
    TRY(open_list(directory, &list, error));
    for (struct dirent *item; list && (item = readdir(list));) {
        char key[33];
        if (!weft_entry_name(item->d_name, key))
            continue;
        if (only_invalid) {
            bool found;
            TRY(describe(dirfd(list), item->d_name, &entry, &found, error));
            if (!found || entry.valid)
                continue;
        }
        if (unlinkat(dirfd(list), item->d_name, 0) == 0) {
            ++removed;
        } else if (errno != ENOENT && errno != EISDIR)
            TRY(weft_error_set(error, WEFT_ERROR_IO, "cannot remove cache entry %s: %s",
                               item->d_name, strerror(errno)));
    }
    if (list) {
        lock = openat(dirfd(list), "lock", O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
        weft_cache_sweep(dirfd(list), lock, NULL);
    }
    if (n_removed)
        *n_removed = removed;
done:
    if (lock >= 0)
        close(lock);
    if (list)
        closedir(list);
    return status;
}
