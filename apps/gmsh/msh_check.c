/* The structure of a .msh file. Gmsh reads a damaged one without a word, or crashes. */
#include "apps/gmsh/weft_gmsh.h"
#include "core/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static weft_status check_version(msh_file *file) {
    bool text_only = file->version == 4;
    if ((file->version >= 2 && file->version < 3) || file->version == 4.1 ||
        (text_only && !file->binary))
        return WEFT_OK;
    weft_error_set(file->error, WEFT_ERROR_UNSUPPORTED,
                   text_only ? "this is MSH %g in binary form, which Gmsh reads as text alone"
                             : "this is MSH %g, and Weft reads MSH 1, 2, 4.0 and 4.1",
                   file->version);
    weft_error_location(file->error, file->path, NULL, 0, 0);
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
        TRY(msh_cut(file, "MeshFormat"));
    snprintf(text, sizeof text, "%.*s", length < 60 ? (int)length : 60, line);
    if (sscanf(text, "%lf %d %d", &file->version, &type, &bytes) != 3 || type < 0 || type > 1 ||
        bytes != 8)
        TRY(file->at >= file->size
                ? msh_cut(file, "MeshFormat")
                : msh_error(file, line, length, "no version, file type and data size (8) here"));
    file->binary = type == 1;
    TRY(check_version(file));
    if (type == 1) {
        int64_t one = msh_int(file);
        file->swapped = one == 0x01000000;
        if (file->cut)
            TRY(msh_cut(file, "MeshFormat"));
        if (one != 1 && !file->swapped)
            TRY(msh_error(file, NULL, 0,
                          "$MeshFormat does not contain the number 1, so the file is not binary"));
    }
    TRY(file->binary ? msh_check_binary(file, "MeshFormat") : msh_check_ascii(file, "MeshFormat"));
done:
    return status;
}

static weft_status not_msh(msh_file *file) {
    weft_error_set(file->error, WEFT_ERROR_INPUT,
                   "this is not an MSH file: it does not start with $MeshFormat");
    weft_error_location(file->error, file->path, NULL, 0, 0);
    weft_error_hint(file->error, "Weft reads MSH 2 and 4.1 as text and binary, and MSH 1 (which "
                                 "starts with $NOD) and 4.0 as text; a geometry is named .geo");
    return WEFT_ERROR_INPUT;
}

/* Gmsh tells sections by how their names begin: one that only begins so would pass unread here. */
static weft_status check_name(msh_file *file, const char *section, const char *line,
                              size_t length) {
    static const char *const known[] = {"PhysicalNames", "PartitionedEntities",
                                        "GhostElements", "Parametrizations",
                                        "Entities",      "Nodes",
                                        "Elements",      "Periodic"};
    bool similar = file->version >= 2 && file->version < 3 &&
                   (strncmp(section, "NO", 2) == 0 || strncmp(section, "ELM", 3) == 0);
    for (size_t i = 0; i < sizeof known / sizeof *known; ++i)
        similar |=
            strncmp(section, known[i], strlen(known[i])) == 0 && strcmp(section, known[i]) != 0;
    if (similar)
        return msh_error(file, line, length, "there is no section of this name");
    return WEFT_OK;
}

static weft_status check_section(msh_file *file, const char *line, size_t length) {
    weft_status status = WEFT_OK;
    char section[64];
    if (length < 2 && file->at >= file->size)
        TRY(msh_cut(file, ""));
    if (length < 2 || length > 60)
        TRY(msh_error(file, line, length, "no section has this name"));
    snprintf(section, sizeof section, "%.*s", (int)length - 1, line + 1);
    if (strcmp(section, "MeshFormat") == 0 && file->version > 0)
        TRY(msh_error(file, line, length, "$MeshFormat comes first, and once"));
    if (strcmp(section, "MeshFormat") == 0 && file->at < file->size) {
        status = check_format(file);
        goto done;
    }
    if (file->version == 0 && file->at >= file->size)
        TRY(msh_cut(file, ""));
    if (file->version == 0 && strcmp(section, "NOD") == 0)
        file->version = 1;
    if (file->version == 0 && strcmp(section, "Comments") != 0)
        TRY(not_msh(file));
    if (file->at >= file->size)
        TRY(msh_cut(file, section));
    if (strncmp(section, "End", 3) == 0)
        TRY(msh_error(file, line, length, "$%s closes nothing", section));
    TRY(check_name(file, section, line, length));
    file->has_nodes |= strcmp(section, "Nodes") == 0 || strcmp(section, "NOD") == 0 ||
                       (file->version < 3 && strcmp(section, "ParametricNodes") == 0);
    file->has_elements |= strcmp(section, "Elements") == 0 || strcmp(section, "ELM") == 0;
    TRY(msh_is_text(file, section) ? msh_check_ascii(file, section)
                                   : msh_check_binary(file, section));
done:
    return status;
}

/* Sections one after another; text between them is skipped, as Gmsh does. Before the first one
 * there is none: Gmsh would take the file for a geometry, and run it. */
weft_status msh_check_mapped(msh_file *file) {
    weft_status status = WEFT_OK;
    const char *line;
    size_t length;
    if (file->size == 0 || file->text[0] != '$')
        TRY(not_msh(file));
    while (msh_line(file, &line, &length))
        if (length > 0 && *line == '$')
            TRY(check_section(file, line, length));
    if (file->version == 0)
        TRY(not_msh(file));
    if (!file->has_nodes || !file->has_elements) {
        status =
            msh_error(file, NULL, 0, "the file has no $%s", file->has_nodes ? "Elements" : "Nodes");
        weft_error_hint(
            file->error,
            "it was cut short, or holds a geometry without its mesh: mesh it and write it again");
    }
done:
    return status;
}

weft_status msh_map(msh_file *file) {
    weft_status status = WEFT_OK;
    int descriptor = -1;
    int64_t size = 0;
    void *text = MAP_FAILED;
    TRY(weft_file_open(file->path, O_RDONLY, &descriptor, &size, file->error));
    errno = 0;
    if (size > 0)
        text = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (text == MAP_FAILED)
        TRY(weft_error_set(file->error, WEFT_ERROR_IO, "cannot read %s: %s", file->path,
                           errno ? strerror(errno) : "it is empty"));
    file->text = text;
    file->size = (size_t)size;
done:
    if (descriptor >= 0)
        close(descriptor);
    return status;
}

void msh_unmap(msh_file *file) {
    munmap((void *)(uintptr_t)file->text, file->size);
}

weft_status msh_check(const char *path, msh_names *names, msh_counts *out, weft_error *error) {
    weft_status status = WEFT_OK;
    msh_file file = {.path = path, .error = error};
    TRY(msh_map(&file));
    status = msh_check_mapped(&file);
    msh_unmap(&file);
    *out = file.counts;
    out->version = file.version;
    out->binary = file.binary;
    out->swapped = file.swapped;
    if (names)
        *names = file.names;
    else
        msh_names_clear(&file.names);
done:
    return status;
}
