/* Loads a shared object from bytes in memory, or through a private directory. */
#include "core/base/file.h"
#include "core/host/module.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U /* since Linux 6.3: the file will be executed */
#endif

static weft_status load_error(weft_error *error, const char *what) {
    return weft_error_set(error, WEFT_ERROR_COMPILER, "a compiled kernel cannot be loaded: %s",
                          what);
}

static weft_status open_path(const char *path, int file, weft_shared_object *out,
                             weft_error *error) {
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        const char *reason = dlerror();
        return load_error(error, reason ? reason : "no reason is given");
    }
    out->handle = handle;
    out->file = file;
    return WEFT_OK;
}

/* Load through a memfd, so that nobody can change the bytes after their verification. */
static weft_status load_from_memory(const unsigned char *bytes, size_t size,
                                    weft_shared_object *out, weft_error *error) {
    weft_status status = WEFT_OK;
    char path[64];
    int file = memfd_create("weft-kernel", MFD_CLOEXEC | MFD_EXEC);
    if (file < 0 && errno == EINVAL)
        file = memfd_create("weft-kernel", MFD_CLOEXEC);
    if (file < 0)
        TRY(load_error(error, strerror(errno)));
    if (weft_write_all(file, bytes, size) != WEFT_OK)
        TRY(errno == ENOMEM || errno == ENOSPC ? weft_out_of_memory(error, "a kernel")
                                               : load_error(error, strerror(errno)));
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    TRY(open_path(path, file, out, error));
    file = -1;
done:
    if (file >= 0)
        close(file);
    return status;
}

/* Load through a private directory if memfds cannot be executed or /proc is missing. */
static weft_status load_from_folder(const unsigned char *bytes, size_t size, weft_cache *cache,
                                    weft_shared_object *out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_cache none = {.folder = -1, .monitor = cache->monitor};
    weft_cache_lock lock = {-1};
    weft_work_folder work = {-1, -1, ""};
    static const char key[33] = "00000000000000000000000000000000";
    static const char *const bases[] = {"/tmp", "/var/tmp", "/dev/shm"};
    char path[160];
    int file = -1, place = 0;
    TRY(weft_work_folder_make(&none, &lock, key, &place, &work, error));
    file = openat(work.folder, "kernel.so", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
    if (file < 0 || weft_write_all(file, bytes, size) != WEFT_OK)
        TRY(load_error(error, strerror(errno)));
    snprintf(path, sizeof path, "/proc/self/fd/%d/kernel.so", work.folder);
    status = open_path(path, file, out, error);
    for (size_t i = 0; status != WEFT_OK && i < sizeof bases / sizeof bases[0]; ++i) {
        snprintf(path, sizeof path, "%s/%s/kernel.so", bases[i], work.name);
        if (access(path, R_OK) == 0)
            status = open_path(path, file, out, error);
    }
    if (status == WEFT_OK)
        file = -1;
done:
    if (file >= 0)
        close(file);
    if (work.folder >= 0)
        unlinkat(work.folder, "kernel.so", 0);
    weft_work_folder_remove(&work);
    return status;
}

weft_status weft_shared_object_load(const unsigned char *bytes, size_t size, weft_cache *cache,
                                    weft_shared_object *out, weft_error *error) {
    weft_error first;
    char why[160];
    *out = (weft_shared_object){NULL, -1};
    if (!weft_object_check(bytes, size, why, sizeof why))
        return load_error(error, why);
    weft_status status = load_from_memory(bytes, size, out, &first);
    if (status == WEFT_OK || status == WEFT_ERROR_MEMORY) {
        if (status != WEFT_OK && error)
            *error = first;
        return status;
    }
    status = load_from_folder(bytes, size, cache, out, error);
    if (status != WEFT_OK && error)
        *error = first;
    return status;
}

void weft_shared_object_free(weft_shared_object *object) {
    if (object->handle)
        dlclose(object->handle);
    if (object->file >= 0)
        close(object->file);
    *object = (weft_shared_object){NULL, -1};
}
