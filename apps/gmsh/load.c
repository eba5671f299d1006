/* Open a file in Gmsh, and mesh it where it is a geometry. Gmsh's errors hide in its logger. */
#include "apps/gmsh/msh_old.h"
#include "apps/gmsh/weft_gmsh.h"
#include "core/base/file.h"

#include <ctype.h>
#include <errno.h>
#include <gmshc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <unistd.h>

/* "Error: 'a.geo', line 3: syntax error (;)" -> place and message. */
static void place_error(const char *entry, const char *path, weft_error *error) {
    char file[512] = "", *text = NULL;
    int line = 0, used = 0;
    const char *message = entry;
    if (sscanf(entry, "'%511[^']', line %d%n", file, &line, &used) == 2) {
        message = entry + used;
        message += strspn(message, " :");
    }
    if (strncmp(file, "/proc/self/fd/", 14) == 0) /* behind the end of the file that it includes */
        line = 0;
    if (line > 0)
        weft_file_read_as(file, WEFT_FILE_GEOMETRY, &text, NULL, NULL);
    char *whole = line > 0 ? realpath(path, NULL) : NULL;
    const bool own = whole && strcmp(whole, file) == 0; /* included by its whole path */
    free(whole);
    weft_error_set(error, WEFT_ERROR_INPUT, "Gmsh: %s", message);
    weft_error_location(error, line > 0 && !own ? file : path, text, line, 0);
    bool is_geo = path_ends_with(path, ".geo");
    bool no_file = strncmp(message, "Unable to open file", 19) == 0;
    weft_error_hint(error, "%s",
                    !is_geo   ? "the file is damaged: write it again"
                    : no_file ? "see that the file exists; where it is to be written, give "
                                "--trust-geo: else a .geo file writes nothing"
                              : "open the file in Gmsh to see the geometry, and repair it there");
    free(text);
}

weft_status load_check_log(const char *path, int failed, size_t *seen, stream *out,
                           weft_error *error) {
    weft_status status = WEFT_OK;
    char **entries = NULL;
    size_t n = 0;
    int number = 0;
    gmshLoggerGet(&entries, &n, &number);
    for (size_t i = *seen; number == 0 && i < n; ++i) {
        if (strncmp(entries[i], "Error: ", 7) == 0 && status == WEFT_OK) {
            place_error(entries[i] + 7, path, error);
            status = WEFT_ERROR_INPUT;
        } else if (strncmp(entries[i], "Warning: ", 9) == 0) {
            stream_log(out, WEFT_LOG_WARNING, entries[i] + 9);
        }
    }
    for (size_t i = 0; number == 0 && i < n; ++i)
        gmshFree(entries[i]);
    gmshFree(entries);
    *seen = n;
    if (status == WEFT_OK && failed) {
        status = weft_error_set(error, WEFT_ERROR_INPUT, "Gmsh failed and does not say why");
        weft_error_location(error, path, NULL, 0, 0);
        weft_error_hint(error, "open the file in Gmsh to see why");
    }
    return status;
}

static void set_option(const char *name, double value) {
    int number;
    gmshOptionSetNumber(name, value, &number);
}

static double get_option(const char *name) {
    double value = 0;
    int number;
    gmshOptionGetNumber(name, &value, &number);
    return value;
}

/* Blank out comments, so that what stands in them is not found. */
static void strip_comments(char *text) {
    for (char *c = text; *c; ++c) {
        if (c[0] == '/' && c[1] == '/') {
            while (*c && *c != '\n')
                *c++ = ' ';
        } else if (c[0] == '/' && c[1] == '*') {
            while (*c && !(c[0] == '*' && c[1] == '/'))
                *c++ = ' ';
            if (*c)
                c[0] = c[1] = ' ';
        }
        if (!*c)
            return;
    }
}

/* The name of a constant in DefineConstant[ ... ] that sets the mesh size, or "". */
static void find_constant(const char *text, char *out, size_t size) {
    static const char *const names[] = {"h", "lc", "size", "cl", "meshsize", "mesh_size"};
    out[0] = '\0';
    while ((text = strstr(text, "DefineConstant"))) {
        text += strcspn(text, "[");
        for (; *text && *text != ']'; ++text) {
            if (!isalpha((unsigned char)*text) || isalnum((unsigned char)text[-1]) ||
                text[-1] == '_')
                continue;
            size_t length = 0;
            while (isalnum((unsigned char)text[length]) || text[length] == '_')
                ++length;
            size_t space = strspn(text + length, " \t\r\n");
            for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
                if (text[length + space] == '=' && length == strlen(names[i]) && length < size &&
                    strncasecmp(text, names[i], length) == 0) {
                    memcpy(out, text, length);
                    out[length] = '\0';
                    return;
                }
            text += length - 1;
        }
    }
}

/* How a .geo file is meshed. */
typedef struct meshing {
    double size;       /* <= 0: as the file says */
    char constant[64]; /* that the size is given to; "": every cell has it */
    bool own_3d;       /* the file chooses the algorithm in 3D, or needs the slow one */
    bool slow_3d;
    bool fast_3d; /* set when the fast one was chosen */
    int wrapper;  /* a file that includes it; -1: none */
} meshing;

static void initialize(const meshing *how) {
    char number[40], program[] = "weft-gmsh", option[] = "-setnumber", name[64];
    char *arguments[] = {program, option, name, number, NULL};
    bool set = how->size > 0 && how->constant[0];
    int ignored;
    snprintf(number, sizeof number, "%.17g", how->size);
    memcpy(name, how->constant, sizeof name);
#if GMSH_API_VERSION_MAJOR > 4 || GMSH_API_VERSION_MINOR >= 9
    gmshInitialize(set ? 4 : 1, arguments, 0, 0, &ignored);
#else
    gmshInitialize(set ? 4 : 1, arguments, 0, &ignored);
#endif
    crashes_handle(); /* instead of Gmsh, or its libraries */
    set_option("General.Terminal", 0);
    set_option("General.NumThreads", 1);
    /* of no use here, and their counts are not checked */
    set_option("Mesh.IgnoreParametrization", 1);
    gmshLoggerStart(&ignored);
}

/* Options that a .geo file may set itself are set after it was read. */
static void set_options(const meshing *how, stream *out) {
    if (how->size > 0 && !how->constant[0]) {
        set_option("Mesh.MeshSizeMin", how->size);
        set_option("Mesh.MeshSizeMax", how->size);
    }
    if (get_option("Mesh.Algorithm") == 8) {
        set_option("Mesh.Algorithm", 6);
        stream_log(out, WEFT_LOG_WARNING,
                   "Mesh.Algorithm = 8 is for quadrangles and crashes in Gmsh: 6 is used");
    }
}

/* Algorithm 10 (HXT) is seven times faster than 1 at half a million tetrahedra, but its meshes
 * differ a little from run to run: it is for large ones. Of a compact body with N boundary
 * triangles come 0.08 N^1.5 tetrahedra or so, here some 100 thousand. */
static void choose_3d(meshing *how, stream *out) {
    enum { LARGE = 12000 };
    size_t *elements = NULL, *tags = NULL, n = 0, n_tags = 0;
    int failed = 0;
    if (how->own_3d)
        return;
    gmshModelMeshGetElementsByType(2, &elements, &n, &tags, &n_tags, -1, 0, 1, &failed);
    gmshFree(elements);
    gmshFree(tags);
    how->fast_3d = n > LARGE && !how->slow_3d;
    set_option("Mesh.Algorithm3D", how->fast_3d ? 10 : 1);
    if (how->fast_3d)
        stream_log(out, WEFT_LOG_INFO,
                   "a large mesh: Mesh.Algorithm3D = 10, which is fast, but not "
                   "the same in every run; 1 in the .geo file is");
}

/* Gmsh would take all memory for what a slip in the exponent asks of it: the curves come first, and
 * at this bound their points alone are some 10^8. */
static weft_status check_size(const char *path, double size, weft_error *error) {
    double low[3] = {0}, high[3] = {0}, across = 0;
    int failed = 0;
    gmshModelGetBoundingBox(-1, -1, &low[0], &low[1], &low[2], &high[0], &high[1], &high[2],
                            &failed);
    for (int i = 0; i < 3 && !failed; ++i)
        across = fmax(across, high[i] - low[i]);
    if (failed || size <= 0 || !(size < 1e-8 * across))
        return WEFT_OK;
    weft_error_set(error, WEFT_ERROR_INPUT,
                   "--size %g is too small for this geometry, which is %g across", size, across);
    weft_error_location(error, path, NULL, 0, 0);
    weft_error_hint(error, "give a size of some hundredths of that, in the file's unit: %.2g",
                    across / 50);
    return WEFT_ERROR_INPUT;
}

static weft_status mesh_geometry(const char *path, meshing *how, stream *out, weft_error *error) {
    weft_status status = WEFT_OK;
    size_t seen = 0;
    int failed = 0;
    char wrapper[64];
    snprintf(wrapper, sizeof wrapper, "/proc/self/fd/%d", how->wrapper);
    initialize(how);
    stream_progress(out, "reading", 0, 1);
    gmshOpen(how->wrapper >= 0 ? wrapper : path, &failed);
    TRY(load_check_log(path, failed, &seen, out, error));
    int dimension = gmshModelGetDimension(&failed);
    if (failed || dimension < 2) {
        status =
            weft_error_set(error, WEFT_ERROR_INPUT, "the geometry has no surface and no volume");
        weft_error_location(error, path, NULL, 0, 0);
        weft_error_hint(error,
                        "close its curves: Curve Loop(1) = {1, 2, 3, 4}; Plane Surface(1) = {1};");
        goto done;
    }
    TRY(check_size(path, how->size, error));
    set_options(how, out);
    for (int d = 1; d <= dimension; ++d) {
        stream_progress(out, "meshing", d - 1, dimension);
        if (d == 3)
            choose_3d(how, out);
        gmshModelMeshGenerate(d, &failed);
        TRY(load_check_log(path, failed, &seen, out, error));
    }
    stream_progress(out, "meshing", dimension, dimension);
done:
    return status;
}

/* Gmsh loses commands at the end of a file whose last line does not end. It reads an included file whole. */
static weft_status open_wrapper(const char *path, meshing *how, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_text text = {0};
    char *whole = realpath(path, NULL), *options = NULL;
    if (!whole || strchr(whole, '"'))
        goto done;
    if (asprintf(&options, "%s.opt", path) < 0) {
        options = NULL;
        TRY(weft_out_of_memory(error, NULL));
    }
    weft_text_add(&text, "Include \"%s\";\n", whole);
    if (access(options, R_OK) == 0)
        weft_text_add(&text, "Merge \"%s.opt\";\n", whole);
    how->wrapper = memfd_create("geometry", MFD_CLOEXEC);
    if (text.failed || how->wrapper < 0 ||
        weft_write_all(how->wrapper, text.data, text.length) != WEFT_OK)
        status =
            weft_error_set(error, WEFT_ERROR_IO, "cannot include %s: %s", path, strerror(errno));
done:
    weft_text_free(&text);
    free(options);
    free(whole);
    return status;
}

static weft_status load_geometry(const char *path, double size, stream *out, weft_error *error) {
    weft_status status = WEFT_OK;
    char *text = NULL;
    size_t length = 0;
    meshing how = {.size = size, .wrapper = -1};
    TRY(weft_file_read_as(path, WEFT_FILE_GEOMETRY, &text, &length, error));
    if (length > 0 && text[length - 1] != '\n')
        TRY(open_wrapper(path, &how, error));
    strip_comments(text);
    find_constant(text, how.constant, sizeof how.constant);
    how.own_3d = strstr(text, "Algorithm3D");
    /* the fast algorithm takes no notice of what lies inside */
    how.slow_3d = strstr(text, "In Volume") || strstr(text, "Field[");
    status = mesh_geometry(path, &how, out, error);
    if (status != WEFT_OK && how.fast_3d) {
        int ignored;
        gmshLoggerStop(&ignored);
        stream_log(out, WEFT_LOG_INFO, error->message);
        gmshFinalize(&ignored);
        how.slow_3d = true;
        status = mesh_geometry(path, &how, out, error);
    }
done:
    if (how.wrapper >= 0)
        close(how.wrapper);
    free(text);
    return status;
}

/* A copy in memory without its names, as lines of them are longer than Gmsh reads. */
static weft_status copy_without_names(const char *path, const msh_names *names, int *out,
                                      weft_error *error) {
    *out = memfd_create("mesh", MFD_CLOEXEC);
    const int number = *out < 0 ? errno : msh_copy(path, names, "0\n", *out);
    return number == 0
               ? WEFT_OK
               : weft_error_set(error, WEFT_ERROR_IO, "cannot copy %s: %s", path, strerror(number));
}

/* A copy in memory, as MSH 4.1, of MSH 1 and 2 and of what Gmsh does not read; *out stays -1 for other files. */
static weft_status copy_old(const char *path, msh_counts *counts, int *out, weft_error *error) {
    weft_status status = WEFT_OK;
    msh_file file = {.path = path,
                     .error = error,
                     .version = counts->version,
                     .binary = counts->binary,
                     .swapped = counts->swapped};
    TRY(msh_map(&file));
    if (!msh_old_is(&file))
        goto done;
    *out = memfd_create("mesh", MFD_CLOEXEC);
    if (*out < 0)
        TRY(weft_error_set(error, WEFT_ERROR_IO, "cannot copy %s: %s", path, strerror(errno)));
    TRY(msh_old_rewrite(&file, counts, *out));
done:
    if (file.text)
        msh_unmap(&file);
    return status;
}

/* Copies have no names; weft-gmsh --save writes them. */
static void set_names(const msh_names *names) {
    int *groups = NULL, failed = 0;
    size_t n = 0;
    gmshModelGetPhysicalGroups(&groups, &n, -1, &failed);
    for (size_t i = 0; !failed && i + 1 < n; i += 2) {
        const char *name = msh_names_find(names, groups[i], groups[i + 1]);
        if (name)
            gmshModelSetPhysicalName(groups[i], groups[i + 1], name, &failed);
    }
    gmshFree(groups);
}

static weft_status load_mesh(const char *path, loaded *mesh, stream *out, weft_error *error) {
    enum { LINE_MOST = 240 };
    weft_status status = WEFT_OK;
    size_t seen = 0;
    int failed = 0, copy = -1;
    char copy_path[64];
    TRY(copy_old(path, &mesh->counts, &copy, error));
    mesh->is_copy = copy >= 0;
    if (copy < 0 && mesh->names.longest > LINE_MOST)
        TRY(copy_without_names(path, &mesh->names, &copy, error));
    snprintf(copy_path, sizeof copy_path, "/proc/self/fd/%d", copy);
    initialize(&(meshing){0});
    stream_progress(out, "reading", 0, 1);
    gmshOpen(copy >= 0 ? copy_path : path, &failed);
    TRY(load_check_log(path, failed, &seen, out, error));
    if (copy >= 0)
        set_names(&mesh->names);
    stream_progress(out, "reading", 1, 1);
done:
    if (copy >= 0)
        close(copy);
    return status;
}

weft_status load(const char *path, double size, stream *out, loaded *mesh, weft_error *error) {
    weft_status status = WEFT_OK;
    mesh->path = path;
    mesh->is_geo = path_ends_with(path, ".geo");
    TRY(mesh->is_geo ? load_geometry(path, size, out, error) : load_mesh(path, mesh, out, error));
    mesh->groups_by_entity =
        !mesh->is_copy && (path_ends_with(path, ".bdf") || path_ends_with(path, ".nas") ||
                           path_ends_with(path, ".mesh"));
done:
    return status;
}
