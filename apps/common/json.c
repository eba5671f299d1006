/* Makes JSON values and writes files atomically. */
#include "apps/common/support.h"
#include "core/base/file.h"
#include "fem/linear/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

json_t *app_json_real(double value) {
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *app_json_text(const char *text) {
    json_t *value = json_string(text);
    char *plain = value ? NULL : strdup(text);
    for (char *c = plain; c && *c; ++c)
        if (*c & 0x80)
            *c = '?';
    if (plain)
        value = json_string(plain);
    free(plain);
    return value;
}

json_t *app_json_list(const double *values, int64_t n) {
    json_t *array = json_array();
    for (int64_t i = 0; array && i < n; ++i)
        if (json_array_append_new(array, app_json_real(values[i])) != 0) {
            json_decref(array);
            return NULL;
        }
    return array;
}

bool app_json_set(json_t *object, const char *key, json_t *value) {
    return value && json_object_set_new(object, key, value) == 0;
}

static weft_status refuse_file(weft_error *error, const char *path, int cause) {
    weft_error_set(error, WEFT_ERROR_IO, "cannot write this file: %s", strerror(cause));
    weft_error_location(error, path, NULL, 0, 0);
    weft_error_hint(error, "%s",
                    cause == ENOENT   ? "make its folder first, or name another file"
                    : cause == EACCES ? "change the permissions of its folder, or name another file"
                    : cause == ENOSPC ? "make room on that disk, or name another file"
                    : cause == EISDIR ? "name a file, not a folder"
                                      : "name another file");
    return WEFT_ERROR_IO;
}

/* "/dev/stdout", pipes and other special files are written directly, without a temporary file. */
static bool is_special(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

/* Open a temporary file in the directory of `path`; its name is *temporary. */
static weft_status open_beside(const char *path, char **temporary, int *descriptor,
                               weft_error *error) {
    struct stat info;
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode))
        return refuse_file(error, path, EISDIR);
    if (asprintf(temporary, "%.*s.XXXXXX", weft_path_kept(path), path) < 0) {
        *temporary = NULL;
        weft_out_of_memory(error, NULL);
        return WEFT_ERROR_MEMORY;
    }
    *descriptor = mkstemp(*temporary);
    if (*descriptor < 0) {
        int cause = errno;
        free(*temporary);
        *temporary = NULL;
        return refuse_file(error, path, cause);
    }
    return WEFT_OK;
}

/* errno, or 0 */
static int write_text(int descriptor, const char *text) {
    return weft_write_all(descriptor, text, strlen(text)) == WEFT_OK ? 0 : errno;
}

/* Set the mode that open() would have given; mkstemp's is private. */
static void open_mode(int descriptor) {
    mode_t mask = umask(0);
    umask(mask);
    if (fchmod(descriptor, 0666 & ~mask) != 0)
        return; /* some file systems have no modes */
}

static weft_status write_special(const char *path, const char *text, weft_error *error) {
    int descriptor = open(path, O_WRONLY | O_CLOEXEC);
    int cause = descriptor < 0 ? errno : write_text(descriptor, text);
    if (descriptor >= 0 && close(descriptor) != 0 && !cause)
        cause = errno;
    return cause ? refuse_file(error, path, cause) : WEFT_OK;
}

weft_status app_file_write(const char *path, const char *text, weft_error *error) {
    weft_status status = WEFT_OK;
    char *temporary = NULL;
    int descriptor = -1;
    if (strcmp(path, "-") == 0) {
        if (fputs(text, stdout) < 0 || fflush(stdout) != 0)
            TRY(refuse_file(error, "standard output", errno));
        goto done;
    }
    if (is_special(path)) {
        status = write_special(path, text, error);
        goto done;
    }
    TRY(open_beside(path, &temporary, &descriptor, error));
    int cause = write_text(descriptor, text);
    open_mode(descriptor);
    if (!cause && fsync(descriptor) != 0 && errno != EINVAL && errno != EROFS)
        cause = errno;
    if (close(descriptor) != 0 && !cause)
        cause = errno;
    if (!cause && rename(temporary, path) != 0)
        cause = errno;
    if (cause) {
        unlink(temporary);
        status = refuse_file(error, path, cause);
    }
done:
    free(temporary);
    return status;
}

weft_status app_folder_write(const char *folder, const char *name, weft_text *text,
                             weft_error *error) {
    weft_status status = WEFT_OK;
    char *path = NULL;
    if (asprintf(&path, "%s/%s", folder, name) < 0)
        path = NULL;
    if (!path || text->failed)
        TRY(weft_out_of_memory(error, NULL));
    TRY(app_file_write(path, text->data ? text->data : "", error));
done:
    free(path);
    weft_text_free(text);
    return status;
}

weft_status app_file_check(const char *path, weft_error *error) {
    weft_status status = WEFT_OK;
    char *temporary = NULL;
    int descriptor = -1;
    if (strcmp(path, "-") == 0 || is_special(path))
        goto done;
    TRY(open_beside(path, &temporary, &descriptor, error));
    close(descriptor);
    unlink(temporary);
    TRY(app_file_claim(path, error));
done:
    free(temporary);
    return status;
}

weft_status app_json_write(const char *path, const json_t *root, weft_error *error) {
    char *text = json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
    char *line = NULL;
    weft_status status = WEFT_OK;
    if (!text || asprintf(&line, "%s\n", text) < 0) {
        line = NULL;
        status = weft_out_of_memory(error, NULL);
    } else {
        status = app_file_write(path, line, error);
    }
    free(line);
    free(text);
    return status;
}

const char *app_print_bytes(double bytes, char out[32]) {
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
    int unit = 0;
    while (bytes >= 1000 && unit < 4) {
        bytes /= 1000;
        ++unit;
    }
    snprintf(out, 32, "%.*f %s", unit == 0 || bytes >= 100 ? 0 : 1, bytes, units[unit]);
    return out;
}

const char *app_print_seconds(double seconds, char out[32]) {
    return weft_seconds_text(seconds, out);
}
