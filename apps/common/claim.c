/* Refuses what would write one file twice: several processes of mpirun, and two runs at a time with one file. */
#include "apps/common/support.h"
#include "core/weft_comm.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* ---- processes of one start ------------------------------------------------------------------ */

weft_status app_ranks_refuse(const char *program, weft_error *error) {
    const weft_processes launch = weft_processes_find();
    if (launch.size == 1)
        return WEFT_OK;
    weft_error_set(error, WEFT_ERROR_USAGE,
                   "this is one of %d processes (%s), each of which would compute everything "
                   "and write the same files",
                   launch.size, launch.variable);
    weft_error_hint(
        error,
        "start it once, without mpirun or srun: one process uses all processors, or a GPU; for "
        "independent runs, each with files of its own, start `env -u %s %s ...`",
        launch.variable, program);
    return WEFT_ERROR_USAGE;
}

/* ---- runs with one file ---------------------------------------------------------------------- */

/* Device and inode of the folder, and the name in it, after links: the same for each path to the file. False for what is not
 * a file, such as /dev/null, and where there is no folder. */
static bool identify(const char *path, char out[33]) {
    struct stat info;
    char *real = realpath(path, NULL), *copy = real ? real : strdup(path), *folder = NULL;
    char *slash = copy ? strrchr(copy, '/') : NULL;
    const bool is_file = stat(path, &info) != 0 || S_ISREG(info.st_mode);
    bool found = false;
    if (copy && is_file) {
        const char *name = slash ? slash + 1 : copy;
        weft_text text = {0};
        folder = slash ? strndup(copy, slash == copy ? 1 : (size_t)(slash - copy)) : strdup(".");
        found = folder && stat(folder, &info) == 0;
        weft_text_add(&text, "%llu:%llu/%s", (unsigned long long)info.st_dev,
                      (unsigned long long)info.st_ino, name);
        found = found && !text.failed;
        if (found)
            weft_hash(text.data, text.length, out);
        weft_text_free(&text);
    }
    free(folder);
    free(copy);
    return found;
}

/* The process that has bound the address; 0: it is not known. */
static long owner_of(const struct sockaddr_un *address, socklen_t length) {
    struct ucred peer = {0};
    socklen_t size = sizeof peer;
    const int end = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (end >= 0 && connect(end, (const struct sockaddr *)address, length) == 0)
        (void)getsockopt(end, SOL_SOCKET, SO_PEERCRED, &peer, &size);
    if (end >= 0)
        close(end);
    return (long)peer.pid;
}

/* A name in the abstract namespace of sockets is bound once and ends with its process, however that ends; it leaves no file.
 * Where there are no such sockets, nothing is claimed. */
weft_status app_file_claim(const char *path, weft_error *error) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char identity[33];
    if (!identify(path, identity))
        return WEFT_OK;
    const int written =
        snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "weft-file-%s", identity);
    const socklen_t length =
        (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)written);
    const int claim = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (claim < 0)
        return WEFT_OK;
    if (bind(claim, (const struct sockaddr *)&address, length) == 0) {
        (void)listen(claim, 16); /* stays open until the process ends */
        return WEFT_OK;
    }
    const bool is_taken = errno == EADDRINUSE;
    close(claim);
    const long owner = is_taken ? owner_of(&address, length) : 0;
    if (!is_taken || owner == (long)getpid())
        return WEFT_OK;
    weft_error_set(error, WEFT_ERROR_IO, "%s belongs to a run that has not ended", path);
    weft_error_hint(error, "wait for its end (process %ld), or give another name", owner);
    return WEFT_ERROR_IO;
}
