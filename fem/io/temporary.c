/* Replaces files atomically. A temporary is named NAME.PID-STAMP.tmp and locked by its process, so
 * that later runs can recognise those without an owner. */
#include "core/base/file.h"
#include "fem/io/result.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

weft_status weft_cannot_write(const char *path, int number, weft_error *error) {
    weft_error_set(error, number == ENOMEM ? WEFT_ERROR_MEMORY : WEFT_ERROR_IO,
                   "cannot write %s: %s", path, strerror(number));
    if (number == ENOENT || number == ENOTDIR)
        weft_error_hint(error, "make its folder first, or give another one");
    else if (number == EISDIR)
        weft_error_hint(error, "it is a folder: name a file in it");
    else if (number == ENOSPC || number == EDQUOT)
        weft_error_hint(error, "free some space, or write to another disk");
    else if (number == EFBIG)
        weft_error_hint(error, "raise the limit on the size of files (ulimit -f), or write less");
    else if (number == EAGAIN || number == EACCES)
        weft_error_hint(error, "another run writes it, or you may not: give it another name");
    else
        weft_error_hint(error, "give another folder, one that you may write to");
    return number == ENOMEM ? WEFT_ERROR_MEMORY : WEFT_ERROR_IO;
}

/* Resolve links, as writing in place would. *out is malloc'd. */
static weft_status find_target(const char *path, char **out, weft_error *error) {
    struct stat info;
    size_t length = strlen(path);
    if (length == 0 || path[length - 1] == '/')
        return weft_cannot_write(path, length == 0 ? ENOENT : EISDIR, error);
    if (stat(path, &info) == 0) {
        if (S_ISDIR(info.st_mode))
            return weft_cannot_write(path, EISDIR, error);
        if (!S_ISREG(info.st_mode))
            return weft_cannot_write(path, EINVAL, error);
        if (access(path, W_OK) != 0)
            return weft_cannot_write(path, errno, error);
        *out = realpath(path, NULL);
    } else {
        *out = strdup(path);
    }
    if (*out)
        return WEFT_OK;
    return weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory for the name %s", path);
}

/* A lock of the open file, not of the process: a child inherits it. */
static bool lock(int file) {
    struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    return fcntl(file, F_OFD_SETLK, &all) == 0;
}

weft_status weft_temporary_make(const char *path, weft_temporary *out, weft_error *error) {
    weft_status status = WEFT_OK;
    char *name = NULL, *target = NULL;
    *out = WEFT_TEMPORARY_NONE;
    TRY(find_target(path, &target, error));
    const size_t size = strlen(target) + 64;
    name = malloc(size);
    if (!name)
        TRY(weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory for the name %s", path));
    int file = -1;
    for (unsigned i = 0; i < 100 && file < 0; ++i) {
        unsigned long stamp = (unsigned long)(weft_clock() * 1e6) + i;
        snprintf(name, size, "%.*s.%ld-%lx.tmp", weft_path_kept(target), target, (long)getpid(),
                 stamp);
        file = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (file < 0 && errno != EEXIST)
            break;
    }
    if (file < 0)
        TRY(weft_cannot_write(path, errno, error));
    (void)lock(file); /* without locks only the clean-up does not work */
    *out = (weft_temporary){target, name, file};
    target = name = NULL;
done:
    free(target);
    free(name);
    return status;
}

/* Write the folder's new entry to the disk, too; failure on file systems that do not support this
 * is ignored. */
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

weft_status weft_temporary_place(weft_temporary *temporary, const char *path, bool durable,
                                 weft_error *error) {
    if ((durable && fsync(temporary->file) != 0) || rename(temporary->name, temporary->target) != 0)
        return weft_cannot_write(path, errno, error);
    free(temporary->name);
    temporary->name = NULL;
    if (durable)
        sync_folder(temporary->target);
    const int file = temporary->file;
    temporary->file = -1;
    /* some file systems report only here that the disk is full */
    return close(file) == 0 || errno == EINTR ? WEFT_OK : weft_cannot_write(path, errno, error);
}

void weft_temporary_free(weft_temporary *temporary) {
    if (temporary->name)
        unlink(temporary->name);
    if (temporary->file >= 0)
        close(temporary->file);
    free(temporary->name);
    free(temporary->target);
    *temporary = WEFT_TEMPORARY_NONE;
}

/* ---- temporaries of killed runs -------------------------------------------------------------- */

/* NAME.PID-STAMP.tmp, of NAME as much as weft_path_kept keeps: the process, or 0 where the entry
 * does not have such a name. */
static long owner_of(const char *entry, const char *name) {
    const size_t length = (size_t)weft_path_kept(name);
    if (strncmp(entry, name, length) != 0 || entry[length] != '.' ||
        !isdigit((unsigned char)entry[length + 1]))
        return 0;
    char *end = NULL;
    errno = 0;
    const long pid = strtol(entry + length + 1, &end, 10);
    if (errno != 0 || pid <= 0 || *end != '-')
        return 0;
    const size_t stamp = strspn(++end, "0123456789abcdef");
    return stamp > 0 && strcmp(end + stamp, ".tmp") == 0 ? pid : 0;
}

static void remove_abandoned(int folder, const char *entry, long pid) {
    struct stat info;
    if (kill((pid_t)pid, 0) == 0 || errno != ESRCH)
        return;
    const int file = openat(folder, entry, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (file < 0)
        return;
    if (fstat(file, &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == geteuid() && lock(file))
        (void)unlinkat(folder, entry, 0);
    close(file);
}

void weft_temporary_clean(const char *path) {
    char *target = NULL;
    if (find_target(path, &target, NULL) != WEFT_OK)
        return;
    char *slash = strrchr(target, '/');
    const char *name = slash ? slash + 1 : target;
    if (slash)
        *slash = '\0';
    DIR *folder = opendir(!slash ? "." : slash == target ? "/" : target);
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        const long pid = owner_of(entry->d_name, name);
        if (pid > 0)
            remove_abandoned(dirfd(folder), entry->d_name, pid);
    }
    if (folder)
        closedir(folder);
    free(target);
}

/* ---- locks of others ------------------------------------------------------------------------- */

/* HDF5 locks by flock: readers share, a writer is alone. */
weft_status weft_file_unlocked(const char *path, bool to_write, weft_error *error) {
    int file = -1;
    if (weft_file_open(path, O_RDONLY, &file, NULL, NULL) != WEFT_OK)
        return WEFT_OK; /* opening it later reports the reason */
    const bool locked =
        flock(file, (to_write ? LOCK_EX : LOCK_SH) | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    close(file);
    if (!locked)
        return WEFT_OK;
    weft_error_set(error, WEFT_ERROR_IO, "%s is locked: another process has it open%s", path,
                   to_write ? "" : " for writing");
    weft_error_hint(
        error,
        "close it there (ParaView, h5py, another run) and try again; `lsof %s` names the process",
        path);
    return WEFT_ERROR_IO;
}
