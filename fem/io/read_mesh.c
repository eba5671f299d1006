/* Reads or makes a mesh by its name: a file, or a built-in mesh such as "square:N". */
#include "core/base/options.h"
#include "fem/io/read.h"
#include "fem/mesh/mesh.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* "square:N", with N all digits. */
static weft_status parse_n(const char *name, const char *digits, int64_t *n, weft_error *error) {
    char *end = NULL;
    errno = 0;
    long long value = strtoll(digits, &end, 10);
    if (strspn(digits, "0123456789") != strlen(digits) || end == digits || errno != 0) {
        weft_error_set(error, WEFT_ERROR_USAGE, "`%s`: `%s` is not a number of cells per side",
                       name, digits);
        weft_error_hint(error, "write a whole number from 1 on, such as square:32 or cube:16");
        return WEFT_ERROR_USAGE;
    }
    *n = value;
    return WEFT_OK;
}

typedef struct box_name {
    const char *prefix;
    weft_cell_type cell;
} box_name;

static const box_name *find_box(const char *name) {
    static const box_name boxes[] = {
        {"interval:", WEFT_INTERVAL}, {"quads:", WEFT_QUADRILATERAL}, {"hexes:", WEFT_HEXAHEDRON}};
    for (size_t i = 0; i < sizeof boxes / sizeof *boxes; ++i)
        if (strncmp(name, boxes[i].prefix, strlen(boxes[i].prefix)) == 0)
            return &boxes[i];
    return NULL;
}

static bool ends_with(const char *name, const char *ending) {
    size_t length = strlen(name), n = strlen(ending);
    return length > n && strcmp(name + length - n, ending) == 0;
}

/* Check the file first, as Gmsh reports neither a missing nor an empty file. */
weft_status weft_file_check(const char *path, weft_error *error) {
    struct stat info;
    const char *cause = NULL;
    if (stat(path, &info) != 0)
        cause = strerror(errno);
    else if (S_ISDIR(info.st_mode))
        cause = strerror(EISDIR);
    else if (!S_ISREG(info.st_mode))
        cause = "no regular file";
    else if (access(path, R_OK) != 0)
        cause = strerror(errno);
    if (cause) {
        weft_error_set(error, WEFT_ERROR_IO, "cannot read %s: %s", path, cause);
        weft_error_hint(error,
                        "check the name, the folder it is looked for in, and who may read it");
        return WEFT_ERROR_IO;
    }
    if (info.st_size > 0)
        return WEFT_OK;
    weft_error_set(error, WEFT_ERROR_INPUT, "%s is empty", path);
    weft_error_hint(error, "write it again: whatever wrote it stopped before its first byte");
    return WEFT_ERROR_INPUT;
}

bool weft_mesh_is_gmsh(const char *name) {
    static const char *const endings[] = {".geo", ".msh", ".unv", ".bdf", ".nas", ".vtk", ".mesh"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; ++i)
        if (ends_with(name, endings[i]))
            return true;
    return false;
}

static weft_status refuse_name(const char *name, weft_error *error) {
    weft_error_set(error, WEFT_ERROR_USAGE, "`%s` is not a mesh that Weft reads", name);
    if (ends_with(name, ".inp") || ends_with(name, ".su2"))
        weft_error_hint(error, "Gmsh writes this format and does not read it: convert the file to "
                               ".msh, .vtk or .bdf, as with meshio");
    else if (ends_with(name, ".med"))
        weft_error_hint(error,
                        "Debian's Gmsh is built without MED: convert the file to .msh, .vtk or "
                        ".unv, as with Salome or meshio");
    else
        weft_error_hint(error, "give FILE.geo, .msh, .vtkhdf, .unv, .bdf, .nas, .vtk or .mesh, or "
                               "square:N, cube:N, interval:N, quads:N or hexes:N");
    return WEFT_ERROR_USAGE;
}

weft_status weft_mesh_read_with(const char *name, const weft_mesh_options *options,
                                const weft_monitor *monitor, weft_mesh **out, weft_error *error) {
    static const weft_mesh_options usual = {.size = sizeof usual};
    weft_status status = WEFT_OK;
    int64_t n = 0;
    const box_name *box = NULL;
    if (!options)
        options = &usual;
    TRY(weft_options_check("weft_mesh_options", options->size, sizeof *options, error));
    if (strncmp(name, "square:", 7) == 0) {
        TRY(parse_n(name, name + 7, &n, error));
        TRY(weft_mesh_make_grid(options->device, 2, n, out, error));
    } else if (strncmp(name, "cube:", 5) == 0) {
        TRY(parse_n(name, name + 5, &n, error));
        TRY(weft_mesh_make_grid(options->device, 3, n, out, error));
    } else if ((box = find_box(name))) {
        TRY(parse_n(name, strchr(name, ':') + 1, &n, error));
        TRY(weft_mesh_make_boxes(box->cell, n, out, error));
    } else if (isnan(options->cell_size) || isinf(options->cell_size)) {
        status = weft_error_set(error, WEFT_ERROR_USAGE, "a mesh size of %g makes no mesh",
                                options->cell_size);
    } else if (weft_mesh_is_gmsh(name)) {
        TRY(weft_file_check(name, error));
        TRY(weft_mesh_read_gmsh(name, options, monitor, out, error));
    } else if (ends_with(name, ".vtkhdf")) {
        TRY(weft_file_check(name, error));
        TRY(weft_mesh_read_vtkhdf(name, options, monitor, out, error));
    } else {
        status = refuse_name(name, error);
    }
done:
    return status;
}

weft_status weft_mesh_read(const char *name, double size, const weft_monitor *monitor,
                           weft_mesh **out, weft_error *error) {
    const weft_mesh_options options = {.size = sizeof options, .cell_size = size};
    return weft_mesh_read_with(name, &options, monitor, out, error);
}
