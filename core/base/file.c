/* Opens, reads and writes whole files, and shortens the names of temporary files. */
#include "core/base/file.h"
#include "core/base/number.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

int weft_path_kept(const char *path) {
    enum { MOST = 220 }; /* of the 255 bytes that file systems allow */
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t length = strlen(name);
    return (int)(name - path) + (int)(length < MOST ? length : MOST);
}

static weft_status read_error(const char *path, int number, weft_error *error) {
    weft_error_set(error, WEFT_ERROR_IO, "cannot read %s: %s", path, strerror(number));
    if (number == ENOENT)
        weft_error_hint(error, "check the name and the folder it is looked for in");
    else if (number == EACCES)
        weft_error_hint(error, "you may not read it: see its owner and mode with ls -l");
    else if (number == EISDIR)
        weft_error_hint(error, "it is a folder: name a file in it");
    weft_error_location(error, path, NULL, 0, 0);
    return WEFT_ERROR_IO;
}

/* ---- reading ------------------------------------------------------------------------------- */

enum { MB = 1 << 20 };

static const struct {
    const char *name, *size_name;
    size_t most;
} kinds[WEFT_FILE_KINDS] = {[WEFT_FILE_SCRIPT] = {"a script", "1 MB", MB},
                            [WEFT_FILE_FORMS] = {"a form file", "1 MB", MB},
                            [WEFT_FILE_KERNELS] = {"a kernel file", "1 MB", MB},
                            [WEFT_FILE_TABLE] = {"a table", "1 MB", MB},
                            [WEFT_FILE_PROBLEM] = {"a problem file", "1 MB", MB},
                            [WEFT_FILE_PLAN] = {"a plan", "16 MB", 16 * MB},
                            [WEFT_FILE_GEOMETRY] = {"a geometry", "256 MB", 256 * MB},
                            [WEFT_FILE_HISTORY] = {"a history", "1 GB", 1024 * MB},
                            [WEFT_FILE_INDEX] = {"an index of a series", "64 MB", 64 * MB},
                            [WEFT_FILE_STUDY] = {"a study", "256 MB", 256 * MB},
                            [WEFT_FILE_JSON] = {"a file of results", "64 MB", 64 * MB},
                            [WEFT_FILE_DATA] = {"", "", SIZE_MAX / 4}};

static weft_status refuse_file(const char *path, weft_file_kind kind, const char *found,
                               weft_error *error) {
    if (kind == WEFT_FILE_DATA)
        weft_error_set(error, WEFT_ERROR_INPUT, "%s is not a regular file", path);
    else
        weft_error_set(error, WEFT_ERROR_INPUT, "%s is not %s: it is not a file of at most %s",
                       path, kinds[kind].name, kinds[kind].size_name);
    weft_error_hint(error, "it %s: give the name of another one", found);
    weft_error_location(error, path, NULL, 0, 0);
    return WEFT_ERROR_INPUT;
}

static weft_status refuse_size(const char *path, weft_file_kind kind, double size,
                               weft_error *error) {
    char found[64];
    (void)weft_print(found, sizeof found, "has %.0f bytes", size);
    return refuse_file(path, kind, found, error);
}

/* What a file is that is not a regular one. */
static const char *type_name(mode_t mode) {
    return S_ISDIR(mode)                    ? "is a folder"
           : S_ISFIFO(mode)                 ? "is a pipe (FIFO)"
           : S_ISSOCK(mode)                 ? "is a socket"
           : S_ISCHR(mode) || S_ISBLK(mode) ? "is a device"
                                            : "is something else";
}

/* Without O_NONBLOCK, a FIFO would be waited for. Regular files take no notice of it. */
static weft_status open_as(const char *path, weft_file_kind kind, int flags, int *out,
                           int64_t *size, weft_error *error) {
    struct stat info;
    const int file = open(path, flags | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (file < 0 && errno != ENXIO) /* ENXIO: a socket, or a device that is not there */
        return read_error(path, errno, error);
    weft_status status = WEFT_OK;
    if (file < 0)
        status = refuse_file(path, kind, type_name(S_IFSOCK), error);
    else if (fstat(file, &info) != 0)
        status = read_error(path, errno, error);
    else if (S_ISDIR(info.st_mode) && kind == WEFT_FILE_DATA)
        status = read_error(path, EISDIR, error);
    else if (!S_ISREG(info.st_mode))
        status = refuse_file(path, kind, type_name(info.st_mode), error);
    if (status == WEFT_OK) {
        *out = file;
        if (size)
            *size = info.st_size;
    } else if (file >= 0) {
        close(file);
    }
    return status;
}

weft_status weft_file_open(const char *path, int flags, int *out, int64_t *size,
                           weft_error *error) {
    return open_as(path, WEFT_FILE_DATA, flags, out, size, error);
}

/* Files of /proc report no size, and a file may grow: the buffer grows until the end of the file,
 * or beyond what the kind may have. */
static weft_status read_all(int file, const char *path, weft_file_kind kind, size_t expected,
                            char **out, size_t *length, weft_error *error) {
    weft_status status = WEFT_OK;
    size_t used = 0, capacity = expected + 2;
    char *data = malloc(capacity);
    for (;;) {
        if (!data)
            TRY(weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory reading %s", path));
        ssize_t n = read(file, data + used, capacity - used - 1);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            TRY(read_error(path, errno, error));
        used += (size_t)n;
        if (n == 0)
            break;
        if (used > kinds[kind].most)
            TRY(refuse_size(path, kind, (double)used, error));
        if (capacity - used - 1 == 0) {
            char *larger = realloc(data, capacity * 2);
            if (!larger)
                free(data);
            data = larger;
            capacity *= 2;
        }
    }
    data[used] = '\0';
    *out = data;
    data = NULL;
    if (length)
        *length = used;
done:
    free(data);
    return status;
}

weft_status weft_file_read_as(const char *path, weft_file_kind kind, char **out, size_t *length,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    int file = -1;
    int64_t size = 0;
    TRY(open_as(path, kind, O_RDONLY, &file, &size, error));
    if (size > 0 && (uint64_t)size > kinds[kind].most)
        TRY(refuse_size(path, kind, (double)size, error));
    TRY(read_all(file, path, kind, size > 0 ? (size_t)size : 4096, out, length, error));
done:
    if (file >= 0)
        close(file);
    return status;
}

weft_status weft_file_read(const char *path, char **out, size_t *length, weft_error *error) {
    return weft_file_read_as(path, WEFT_FILE_DATA, out, length, error);
}

bool weft_system_file_read(const char *path, char *out, size_t size) {
    size_t used = 0;
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    for (ssize_t n = file < 0 ? 0 : 1; n > 0 && used + 1 < size;) {
        n = read(file, out + used, size - used - 1);
        used += n > 0 ? (size_t)n : 0;
    }
    out[used] = '\0';
    if (file >= 0)
        close(file);
    return file >= 0;
}

/* ---- writing ------------------------------------------------------------------------------- */

weft_status weft_write_all(int file, const void *bytes, size_t size) {
    const unsigned char *data = bytes;
    while (size > 0) {
        const ssize_t n = write(file, data, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n == 0)
            errno = ENOSPC;
        if (n <= 0)
            return WEFT_ERROR_IO;
        data += n;
        size -= (size_t)n;
    }
    return WEFT_OK;
}

uint64_t weft_random(void) {
    static _Atomic uint64_t n_calls;
    uint64_t random = 0;
    if (getrandom(&random, sizeof random, GRND_NONBLOCK) != (ssize_t)sizeof random)
        random = (uint64_t)getpid() << 32 ^ (uint64_t)(weft_clock() * 1e9) ^ ++n_calls << 48;
    return random;
}

/* Rename, so that the file is never half written, and a link is not followed. */
weft_status weft_file_replace(const char *path, const void *bytes, size_t size) {
    const size_t capacity = strlen(path) + 40;
    char *name = malloc(capacity);
    int number = name ? 0 : ENOMEM, file = -1;
    if (name) {
        (void)snprintf(name, capacity, "%.*s.%016llx.tmp", weft_path_kept(path), path,
                       (unsigned long long)weft_random());
        file = open(name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    }
    if (file >= 0) {
        if (weft_write_all(file, bytes, size) != WEFT_OK)
            number = errno;
        if (close(file) != 0 && number == 0)
            number = errno;
        if (number == 0 && rename(name, path) != 0)
            number = errno;
        if (number != 0)
            unlink(name);
    } else if (name) {
        number = errno;
    }
    free(name);
    errno = number;
    return number == 0 ? WEFT_OK : WEFT_ERROR_IO;
}
