/* Reads and writes whole files, and shortens the names of temporary files. */
#include "core/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
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

/* Pipes and /proc files report no size, so the buffer grows until the end of the file. */
static weft_status read_all(int file, const char *path, size_t expected, char **out, size_t *length,
                            weft_error *error) {
    weft_status status = WEFT_OK;
    size_t used = 0, capacity = expected < SIZE_MAX / 4 ? expected + 2 : 4096;
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
        if (capacity - used - 1 == 0) {
            char *larger = capacity < SIZE_MAX / 2 ? realloc(data, capacity * 2) : NULL;
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

weft_status weft_file_read(const char *path, char **out, size_t *length, weft_error *error) {
    struct stat info;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return read_error(path, errno, error);
    weft_status status;
    if (fstat(file, &info) != 0)
        status = read_error(path, errno, error);
    else if (S_ISDIR(info.st_mode))
        status = read_error(path, EISDIR, error);
    else
        status = read_all(file, path, info.st_size > 0 ? (size_t)info.st_size : 4096, out, length,
                          error);
    close(file);
    return status;
}

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
