/* Result files appear whole or not at all: a temporary beside them, fsync, rename. */
#include "fem_internal.h"
#include "result_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static weft_status cannot_write(const char *path, int number, weft_error *error) {
    weft_error_set(error, WEFT_ERROR_IO, "cannot write %s: %s", path, strerror(number));
    if (number == ENOENT || number == ENOTDIR)
        weft_error_hint(error, "make its folder first, or give another one");
    else if (number == EISDIR)
        weft_error_hint(error, "it is a folder: name a file in it");
    else if (number == ENOSPC || number == EDQUOT)
        weft_error_hint(error, "free some space, or write to another disk");
    else
        weft_error_hint(error, "give another folder, one that you may write to");
    return WEFT_ERROR_IO;
}

/* Where the file really goes: through a link, as writing in place would. *out is malloc'd. */
static weft_status find_target(const char *path, char **out, weft_error *error) {
    struct stat info;
    size_t length = strlen(path);
    if (length == 0 || path[length - 1] == '/')
        return cannot_write(path, length == 0 ? ENOENT : EISDIR, error);
    if (stat(path, &info) == 0) {
        if (S_ISDIR(info.st_mode))
            return cannot_write(path, EISDIR, error);
        if (!S_ISREG(info.st_mode))
            return cannot_write(path, EINVAL, error);
        if (access(path, W_OK) != 0)
            return cannot_write(path, errno, error);
        *out = realpath(path, NULL);
    } else {
        *out = strdup(path);
    }
    if (*out)
        return WEFT_OK;
    return weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory for the name %s", path);
}

/* An empty file of a name that nobody has, with the mode that the user's umask gives. */
static weft_status make_temporary(const char *path, const char *target, char **out,
                                  weft_error *error) {
    size_t size = strlen(target) + 64;
    char *name = malloc(size);
    if (!name)
        return weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory for the name %s", path);
    for (unsigned i = 0; i < 100; ++i) {
        unsigned long stamp = (unsigned long)(weft_clock() * 1e6) + i;
        snprintf(name, size, "%.*s.%ld-%lx.tmp", weft_path_kept(target), target, (long)getpid(),
                 stamp);
        int file = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (file >= 0) {
            close(file);
            *out = name;
            return WEFT_OK;
        }
        if (errno != EEXIST)
            break;
    }
    weft_status status = cannot_write(path, errno, error);
    free(name);
    return status;
}

static weft_status sync_file(const char *name, const char *path, weft_error *error) {
    weft_status status = WEFT_OK;
    int file = open(name, O_RDONLY | O_CLOEXEC);
    if (file < 0 || fsync(file) != 0)
        status = cannot_write(path, errno, error);
    if (file >= 0)
        close(file);
    return status;
}

/* The new name in the folder must last too; a file system that cannot promise it is no error. */
static void sync_folder(const char *target) {
    char *folder = strdup(target);
    char *slash = folder ? strrchr(folder, '/') : NULL;
    if (slash)
        slash[slash == folder] = '\0';
    int file = folder ? open(slash ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (file >= 0) {
        (void)!fsync(file);
        close(file);
    }
    free(folder);
}

weft_status weft_result_check(const char *path, weft_error *error) {
    weft_status status = WEFT_OK;
    char *target = NULL, *temporary = NULL;
    TRY(find_target(path, &target, error));
    TRY(make_temporary(path, target, &temporary, error));
    unlink(temporary);
done:
    free(target);
    free(temporary);
    return status;
}

static weft_status check_fields(const weft_field *fields, int n_fields, weft_error *error) {
    for (int i = 0; i < n_fields; ++i) {
        const char *name = fields[i].name;
        if (!name || !*name || strchr(name, '/') || strcmp(name, ".") == 0 ||
            fields[i].n_components < 1 || !fields[i].values)
            return weft_error_set(error, WEFT_ERROR_USAGE,
                                  "field %d (`%s`) needs a name without /, components and values",
                                  i, name ? name : "");
        for (int k = 0; k < i; ++k)
            if (fields[k].on_cells == fields[i].on_cells && strcmp(fields[k].name, name) == 0)
                return weft_error_set(error, WEFT_ERROR_USAGE, "two fields are called `%s`", name);
    }
    return WEFT_OK;
}

weft_status weft_result_place(const char *path, weft_result_fill fill, void *user,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    char *target = NULL, *temporary = NULL;
    TRY(find_target(path, &target, error));
    TRY(make_temporary(path, target, &temporary, error));
    TRY(fill(user, temporary, error));
    TRY(sync_file(temporary, path, error));
    if (rename(temporary, target) != 0) {
        status = cannot_write(path, errno, error);
        goto done;
    }
    free(temporary);
    temporary = NULL;
    sync_folder(target);
done:
    if (temporary)
        unlink(temporary);
    free(target);
    free(temporary);
    return status;
}

typedef struct result_content {
    const char *path;
    const weft_mesh *mesh;
    const weft_field *fields;
    int n_fields;
} result_content;

static weft_status fill_result(void *user, const char *temporary, weft_error *error) {
    const result_content *c = user;
    return weft_vtkhdf_write(temporary, c->path, c->mesh, c->fields, c->n_fields, error);
}

weft_status weft_result_write(const char *path, const weft_mesh *mesh, const weft_field *fields,
                              int n_fields, weft_error *error) {
    weft_status status = WEFT_OK;
    result_content content = {path, mesh, fields, n_fields};
    TRY(check_fields(fields, n_fields, error));
    TRY(weft_result_place(path, fill_result, &content, error));
done:
    return status;
}
