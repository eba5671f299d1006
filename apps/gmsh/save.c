/* Save the mesh as a .msh file. Gmsh does not look at what its writes return: so the file is read
 * again before it gets its name. */
#include "apps/gmsh/weft_gmsh.h"
#include "core/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <gmshc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* The file that is being written, for save_abandon. */
static const char *volatile unfinished;

void save_abandon(void) {
    if (unfinished)
        unlink(unfinished);
}

static weft_status io_error(const char *path, int number, const char *hint, weft_error *error) {
    weft_error_set(error, WEFT_ERROR_IO, "cannot write %s: %s", path, strerror(number));
    weft_error_hint(error, "%s", hint);
    return WEFT_ERROR_IO;
}

/* An empty file of our own beside the place, whose name Gmsh takes for a .msh file. */
static weft_status make_temporary(const char *path, char **out, weft_error *error) {
    static const char ending[] = ".weft-XXXXXX.msh";
    struct stat info;
    const char *slash = strrchr(path, '/');
    size_t folder = slash ? (size_t)(slash - path) + 1 : 0, size = folder + sizeof ending;
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode))
        return io_error(path, S_ISDIR(info.st_mode) ? EISDIR : EINVAL,
                        "name a file that is new or a regular file", error);
    char *name = malloc(size);
    if (!name)
        return weft_out_of_memory(error, NULL);
    snprintf(name, size, "%.*s%s", (int)folder, path, ending);
    int file = mkostemps(name, 4, O_CLOEXEC);
    if (file < 0) {
        int number = errno;
        free(name);
        return io_error(path, number, "see that its folder exists and that you may write there",
                        error);
    }
    mode_t mask = umask(0);
    umask(mask);
    fchmod(file, 0666 & ~mask);
    close(file);
    *out = name;
    return WEFT_OK;
}

/* Why is the file not whole? Extend it by a byte, where the system still allows it. */
static int write_fault(const char *path) {
    char byte = 0;
    int number = 0, file = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    struct statvfs space;
    if (file < 0)
        return errno;
    if (write(file, &byte, 1) != 1 || fsync(file) != 0)
        number = errno;
    else if (fstatvfs(file, &space) == 0 && space.f_bavail == 0)
        number = ENOSPC;
    close(file);
    return number ? number : EIO;
}

static int sync_file(const char *path) {
    int number = 0, file = -1;
    if (weft_file_open(path, O_RDONLY, &file, NULL, NULL) != WEFT_OK)
        return EIO;
    if (fsync(file) != 0)
        number = errno;
    if (close(file) != 0 && number == 0)
        number = errno;
    return number;
}

/* Closed, and with no more nodes than Gmsh has: it writes those of physical groups alone. */
static bool is_whole(const char *path, size_t n_nodes, msh_names *names) {
    msh_counts counts = {0};
    weft_error ignored = {0};
    bool some = false;
    msh_names_clear(names);
    if (msh_check(path, names, &counts, &ignored) != WEFT_OK)
        return false;
    for (int type = 0; type < MSH_TYPES; ++type)
        some |= counts.elements[type] > 0;
    return some && counts.nodes > 0 && counts.nodes <= (int64_t)n_nodes;
}

static size_t count_nodes(void) {
    size_t *tags = NULL, n = 0, n_x = 0, n_parameters = 0;
    double *x = NULL, *parameters = NULL;
    int failed = 0;
    gmshModelMeshGetNodes(&tags, &n, &x, &n_x, &parameters, &n_parameters, -1, -1, 0, 0, &failed);
    gmshFree(tags);
    gmshFree(x);
    gmshFree(parameters);
    return failed ? 0 : n;
}

/* The lines of $PhysicalNames with every name in full, as Gmsh cuts long ones; *cut: it did. */
static void write_names(const loaded *mesh, const msh_names *names, weft_text *lines, bool *cut) {
    weft_text_add(lines, "%d\n", names->n);
    for (int i = 0; i < names->n; ++i) {
        const msh_name *written = &names->list[i];
        const char *reported = msh_names_find(&mesh->names, written->dimension, written->tag);
        char *own = NULL;
        int failed = 0;
        if (!reported)
            gmshModelGetPhysicalName(written->dimension, written->tag, &own, &failed);
        reported = reported ? reported : failed || !own ? written->name : own;
        *cut |= strcmp(reported, written->name) != 0;
        weft_text_add(lines, "%d %d \"%s\"\n", written->dimension, written->tag, reported);
        gmshFree(own);
    }
}

/* 0 or errno */
static int mend_names(const loaded *mesh, const msh_names *names, const char *temporary) {
    weft_text lines = {0};
    char *other = NULL;
    bool cut = false;
    int number = 0, file = -1;
    write_names(mesh, names, &lines, &cut);
    if (lines.failed)
        number = ENOMEM;
    else if (cut && make_temporary(temporary, &other, NULL) != WEFT_OK)
        number = EIO;
    else if (cut && (file = open(other, O_WRONLY | O_CLOEXEC)) < 0)
        number = errno;
    else if (cut)
        number = msh_copy(temporary, names, lines.data, file);
    if (file >= 0 && close(file) != 0 && number == 0)
        number = errno;
    if (number == 0 && cut && rename(other, temporary) != 0)
        number = errno;
    if (number != 0 && other)
        unlink(other);
    free(other);
    weft_text_free(&lines);
    return number;
}

/* Write what Gmsh has to a temporary file, and see that it is there; 0 or errno. */
static int write_whole(const loaded *mesh, const char *temporary, int *failed) {
    msh_names names = {0};
    size_t n_nodes = count_nodes();
    gmshWrite(temporary, failed);
    int number = sync_file(temporary);
    if (number == 0 && !is_whole(temporary, n_nodes, &names))
        number = write_fault(temporary);
    if (number == 0 && names.n > 0) {
        number = mend_names(mesh, &names, temporary);
        if (number == 0)
            number = sync_file(temporary);
        if (number == 0 && !is_whole(temporary, n_nodes, &names))
            number = write_fault(temporary);
    }
    msh_names_clear(&names);
    return number;
}

weft_status save(const char *path, const loaded *mesh, double version, bool binary, stream *out,
                 weft_error *error) {
    weft_status status = WEFT_OK;
    size_t seen = 0;
    int failed = 0, number = 0, ignored;
    char *temporary = NULL;
    /* a file that may not grow is an error of write, not the end */
    signal(SIGXFSZ, SIG_IGN);
    TRY(make_temporary(path, &temporary, error));
    unfinished = temporary;
    gmshOptionSetNumber("Mesh.MshFileVersion", version, &ignored);
    gmshOptionSetNumber("Mesh.Binary", binary, &ignored);
    number = write_whole(mesh, temporary, &failed);
    if (number == 0)
        TRY(load_check_log(path, failed, &seen, out, error));
    if (number == 0 && rename(temporary, path) != 0)
        number = errno;
    if (number != 0) {
        bool full = number == ENOSPC || number == EDQUOT;
        status = io_error(path, number,
                          full ? "the disk is full: free some of it, or name a file on another"
                               : "the mesh could not be written whole, and nothing was kept",
                          error);
    } else {
        unfinished = NULL;
        free(temporary);
        temporary = NULL;
    }
done:
    unfinished = NULL;
    if (temporary)
        unlink(temporary);
    free(temporary);
    return status;
}
