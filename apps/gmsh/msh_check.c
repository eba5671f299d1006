/* The structure of a .msh file. Gmsh reads a damaged one without a word, or crashes. */
#include "weft_gmsh.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static weft_status check_version(msh_file *file) {
    if ((file->version >= 2 && file->version < 3) || file->version == 4.1)
        return WEFT_OK;
    weft_error_set(file->error, WEFT_ERROR_UNSUPPORTED,
                   "this is MSH %g, and Weft reads MSH 2.2 and 4.1", file->version);
    weft_error_place(file->error, file->path, NULL, 0, 0);
    weft_error_hint(file->error, "write it again: gmsh %s -save -format msh41 -o new.msh",
                    file->path);
    return WEFT_ERROR_UNSUPPORTED;
}

/* version file-type data-size, and for binary files the number 1 */
static weft_status check_format(msh_file *file) {
    weft_status status = WEFT_OK;
    const char *line;
    size_t length;
    char text[64];
    int type = 0, bytes = 0;
    if (!msh_line(file, &line, &length))
        return msh_cut(file, "MeshFormat");
    snprintf(text, sizeof text, "%.*s", length < 60 ? (int)length : 60, line);
    if (sscanf(text, "%lf %d %d", &file->version, &type, &bytes) != 3 || type < 0 || type > 1 ||
        bytes != 8)
        return file->at >= file->size
                   ? msh_cut(file, "MeshFormat")
                   : msh_error(file, line, length, "no version, file type and data size (8) here");
    TRY(check_version(file));
    if (type == 1) {
        int64_t one = msh_int(file);
        file->swapped = one == 0x01000000;
        if (file->cut)
            return msh_cut(file, "MeshFormat");
        if (one != 1 && !file->swapped)
            return msh_error(file, NULL, 0, "$MeshFormat has no number 1: no binary file");
    }
    file->binary = type == 1;
    TRY(file->binary ? msh_check_binary(file, "MeshFormat") : msh_check_ascii(file, "MeshFormat"));
done:
    return status;
}

static weft_status not_msh(msh_file *file) {
    weft_error_set(file->error, WEFT_ERROR_INPUT, "this is no MSH file: it has no $MeshFormat%s",
                   strstr(file->path, ".geo") ? " (is it a .geo file?)" : "");
    weft_error_place(file->error, file->path, NULL, 0, 0);
    weft_error_hint(file->error, "Weft reads MSH 2.2 and 4.1, ASCII and binary; files of MSH 1 "
                                 "start with $NOD: gmsh FILE -save -format msh41 -o new.msh");
    return WEFT_ERROR_INPUT;
}

/* Sections one after another; text between them is skipped, as Gmsh does. */
static weft_status check_sections(msh_file *file) {
    weft_status status = WEFT_OK;
    const char *line;
    size_t length;
    bool has_nodes = false, has_elements = false;
    while (msh_line(file, &line, &length)) {
        char section[64];
        if (length == 0 || *line != '$')
            continue;
        if (length < 2 && file->at >= file->size)
            return msh_cut(file, "");
        if (length < 2 || length > 60)
            return msh_error(file, line, length, "no section has this name");
        snprintf(section, sizeof section, "%.*s", (int)length - 1, line + 1);
        if (strcmp(section, "MeshFormat") == 0 && file->at < file->size) {
            TRY(check_format(file));
            continue;
        }
        if (file->version == 0 && file->at >= file->size)
            return msh_cut(file, "");
        if (file->version == 0 && strcmp(section, "Comments") != 0)
            return not_msh(file);
        if (file->at >= file->size)
            return msh_cut(file, section);
        if (strncmp(section, "End", 3) == 0)
            return msh_error(file, line, length, "$%s closes nothing", section);
        has_nodes |= strcmp(section, "Nodes") == 0;
        has_elements |= strcmp(section, "Elements") == 0;
        /* names are text in binary files too */
        bool text = !file->binary || strcmp(section, "PhysicalNames") == 0;
        TRY(text ? msh_check_ascii(file, section) : msh_check_binary(file, section));
    }
    if (file->version == 0)
        return not_msh(file);
    if (!has_nodes || !has_elements) {
        status = msh_error(file, NULL, 0, "the file has no $%s", has_nodes ? "Elements" : "Nodes");
        weft_error_hint(file->error, "it was cut short, or holds a geometry without its mesh: mesh "
                                     "it and write it again");
    }
done:
    return status;
}

weft_status msh_check(const char *path, msh_counts *out, weft_error *error) {
    weft_status status = WEFT_OK;
    struct stat info;
    void *text = MAP_FAILED;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0 || fstat(descriptor, &info) != 0 || info.st_size <= 0 ||
        (text = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, descriptor, 0)) ==
            MAP_FAILED) {
        status = weft_error_set(error, WEFT_ERROR_IO, "cannot read %s: %s", path,
                                errno ? strerror(errno) : "it is empty");
        goto done;
    }
    msh_file file = {.path = path, .text = text, .size = (size_t)info.st_size, .error = error};
    status = check_sections(&file);
    *out = file.counts;
done:
    if (text != MAP_FAILED)
        munmap(text, (size_t)info.st_size);
    if (descriptor >= 0)
        close(descriptor);
    return status;
}
