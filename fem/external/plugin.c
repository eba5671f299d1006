/* Compiles plug-ins against the header that stands beside a library. */
#include "fem/external/plugin.h"

#include "core/comm/comm.h"
#include "core/host/module.h"
#include "core/weft_launch.h"
#include "fem/embedded_plugins.h"

#include <ctype.h>
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_MOST = 1024, DEPTH_MOST = 8, STEM_MOST = 32 };

struct weft_plugin {
    weft_mpi_module module;
};

/* ---- headers --------------------------------------------------------------------------------- */

/* Where an opened library is. */
typedef struct place {
    char file[PATH_MOST], folder[PATH_MOST];
    /* what folders of headers in Debian are called after: "petsc-real" of libpetsc_real.so.3.18 */
    char stem[STEM_MOST];
} place;

static bool find_place(void *handle, place *out) {
    struct link_map *map = NULL;
    if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || !map || !strchr(map->l_name, '/') ||
        strlen(map->l_name) >= PATH_MOST)
        return false;
    memcpy(out->file, map->l_name, strlen(map->l_name) + 1);
    memcpy(out->folder, map->l_name, strlen(map->l_name) + 1);
    char *name = strrchr(out->folder, '/') + 1;
    const char *stem = strncmp(name, "lib", 3) == 0 ? name + 3 : name;
    (void)snprintf(out->stem, sizeof out->stem, "%.*s", (int)strcspn(stem, "-."), stem);
    for (char *c = out->stem; *c; ++c)
        *c = (char)(*c == '_' ? '-' : tolower((unsigned char)*c));
    name[-1] = 0;
    return true;
}

/* Where headers are, %s the folder of the library or its stem: in a wheel of Python or an installation of its own, beside Debian's
 * lib/x86_64-linux-gnu or in folders of its own, and where the system has the one that it has chosen. */
static const struct {
    const char *pattern;
    bool has_folder, has_stem;
} include_folders[] = {{"%s/../include", true, false},
                       {"%s/../include/%s", true, true},
                       {"%s/../../include", true, false},
                       {"%s/../../include/%s", true, true},
                       {"/usr/lib/petscdir/%s/include", false, true},
                       {"/usr/include", false, false}};
enum { N_INCLUDE_FOLDERS = sizeof include_folders / sizeof include_folders[0] };

/* The folder with a header. */
static weft_status find_header(const weft_external_library *library, const place *at,
                               const char *header, char out[PATH_MOST], weft_error *error) {
    for (int i = 0; i < N_INCLUDE_FOLDERS; ++i) {
        char path[PATH_MOST + 64];
        const char *pattern = include_folders[i].pattern;
        const bool has_folder = include_folders[i].has_folder;
        (void)snprintf(out, PATH_MOST, pattern, has_folder ? at->folder : at->stem, at->stem);
        snprintf(path, sizeof path, "%s/%s", out, header);
        if (access(path, R_OK) == 0)
            return WEFT_OK;
    }
    weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                   "%s is in %s, but there is no header %s beside it", library->title, at->folder,
                   header);
    weft_error_hint(error,
                    "install it with its headers (%s), or set %s to a folder with lib and include",
                    library->info.package, library->info.variable);
    return WEFT_ERROR_UNSUPPORTED;
}

/* What headers of libraries for CUDA take from CUDA's own, whose numbers are the same in all versions. */
static const char cuda_types[] =
    "typedef struct CUstream_st *cudaStream_t;\n"
    "typedef enum cudaDataType_t { CUDA_R_32F = 0, CUDA_R_64F = 1, CUDA_C_32F = 4, CUDA_C_64F = "
    "5,\n"
    "                              CUDA_R_32I = 10, CUDA_R_64I = 24 } cudaDataType_t, "
    "cudaDataType;\n"
    "typedef enum libraryPropertyType_t { MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL }\n"
    "    libraryPropertyType_t, libraryPropertyType;\n";

static const char *embedded(const char *name) {
    for (const weft_embedded_file *file = weft_embedded_plugins; file->name; ++file)
        if (strcmp(file->name, name) == 0)
            return file->text;
    return NULL;
}

typedef struct inlining {
    const char *library, *folder; /* its name, and its headers */
    weft_text text;
} inlining;

static bool is_of_cuda(const char *name) {
    return strcmp(name, "cuda_runtime.h") == 0 || strcmp(name, "library_types.h") == 0;
}

/* Append a text with the library's headers in place of their #include. */
static weft_status append(inlining *in, const char *text, int depth, weft_error *error) {
    weft_status status = WEFT_OK;
    char *header = NULL;
    for (const char *line = text; *line && depth < DEPTH_MOST; line += *line == '\n') {
        const size_t length = strcspn(line, "\n");
        char name[64] = "", path[PATH_MOST + 80];
        (void)(sscanf(line, "#include <%63[^>\n]>", name) || /* else the name stays empty */
               sscanf(line, "#include \"%63[^\"\n]\"", name));
        if (embedded(name))
            TRY(append(in, embedded(name), depth + 1, error));
        else if (strncmp(name, in->library, strlen(in->library)) == 0) {
            snprintf(path, sizeof path, "%s/%s", in->folder, name);
            TRY(weft_file_read(path, &header, NULL, error));
            TRY(append(in, header, depth + 1, error));
            free(header);
            header = NULL;
        } else if (!is_of_cuda(name))
            weft_text_add_bytes(&in->text, line, length);
        weft_text_add(&in->text, "\n");
        line += length;
    }
done:
    free(header);
    return status;
}

/* The whole source: the same text means the same plug-in, whose key in the cache it is. */
static weft_status make_source(const weft_external_library *library, const place *at, inlining *in,
                               weft_error *error) {
    weft_status status = WEFT_OK;
    char name[64], include[PATH_MOST];
    snprintf(name, sizeof name, "%s.h", library->info.name);
    TRY(find_header(library, at, name, include, error));
    name[strlen(name) - 1] = 'c';
    in->folder = include;
    in->library = library->info.name;
    weft_text_add(&in->text, "%s", cuda_types);
    TRY(append(in, embedded(name), 0, error));
    if (in->text.failed)
        TRY(weft_out_of_memory(error, library->title));
done:
    return status;
}

/* By the compiler of kernels, with the headers in the source. */
static weft_status make_inlined(const weft_external_library *library, const place *at,
                                void *functions, weft_plugin *plugin, weft_error *error) {
    weft_status status = WEFT_OK;
    inlining in = {0};
    void *arguments[] = {functions};
    weft_mpi_module *module = &plugin->module;
    TRY(make_source(library, at, &in, error));
    TRY(weft_device_open("host:1", NULL, &module->host, error));
    TRY(weft_module_make(module->host, library->info.name, in.text.data, &module->module, error));
    const weft_host_kernel open = weft_host_module_kernel(module->module, "weft_plugin_open");
    if (!open)
        TRY(weft_error_set(error, WEFT_ERROR_INTERNAL, "the plug-in for %s has no weft_plugin_open",
                           library->title));
    open(arguments, 0, 0, 0);
done:
    weft_text_free(&in.text);
    return status;
}

/* ---- by the compiler of MPI ------------------------------------------------------------------ */

/* Options that name the folder of each header, and a value for what the headers contain, which becomes part of the key. */
static weft_status find_headers(const weft_external_library *library, const place *at,
                                weft_text *options, weft_text *source, weft_error *error) {
    weft_status status = WEFT_OK;
    char folder[PATH_MOST], path[PATH_MOST + 64], hash[33], *text = NULL;
    size_t size = 0;
    for (int i = 0; library->headers[i]; ++i) {
        TRY(find_header(library, at, library->headers[i], folder, error));
        snprintf(path, sizeof path, "%s/%s", folder, library->headers[i]);
        TRY(weft_file_read(path, &text, &size, error));
        weft_hash(text, size, hash);
        weft_text_add(source, "static const char header_%d[] = \"%s\";\n", i, hash);
        weft_text_add(options, " -I%s", folder);
        free(text);
        text = NULL;
    }
    /* before the source, whose functions the linker does not know yet */
    weft_text_add(options, " -Wl,--no-as-needed,%s", at->file);
done:
    free(text);
    return status;
}

/* What the plug-in, or a header, has refused by #error, in place of the compiler's message. */
static weft_status explain(const weft_external_library *library, weft_status status,
                           weft_error *error) {
    static const char own[] = "\"weft: ", petsc[] = "\"PETSc was configured with";
    const char *message = error ? error->message : "", *found = strstr(message, own);
    const bool is_own = found != NULL;
    char text[256];
    if (status != WEFT_ERROR_COMPILER || (!is_own && !(found = strstr(message, petsc))))
        return status;
    found += is_own ? strlen(own) : 1;
    (void)snprintf(text, sizeof text, "%.*s", (int)strcspn(found, "\"\n"), found);
    weft_error_set(error, WEFT_ERROR_UNSUPPORTED, "%s", text);
    if (is_own)
        weft_error_hint(error, "set %s to a library with real numbers and MPI, on the host (%s)",
                        library->info.variable, library->info.package);
    else
        weft_external_hint_mpi(library, error);
    return WEFT_ERROR_UNSUPPORTED;
}

/* The headers are too many to be in the source. */
static weft_status make_by_mpi(const weft_external_library *library, const place *at,
                               void *functions, weft_plugin *plugin, weft_error *error) {
    weft_status status = WEFT_OK;
    inlining in = {.library = "<"}; /* no header's name begins so: they stay outside */
    weft_text options = {0};
    char name[64], who[64];
    if (strpbrk(at->file, " \t"))
        TRY(weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                           "the path of %s has a blank, at which the compiler's command would be "
                           "divided: %s",
                           library->title, at->file));
    TRY(find_headers(library, at, &options, &in.text, error));
    snprintf(name, sizeof name, "%s.c", library->info.name);
    snprintf(who, sizeof who, "%s needs", library->title);
    TRY(append(&in, embedded(name), 0, error));
    if (in.text.failed || options.failed)
        TRY(weft_out_of_memory(error, library->title));
    const weft_mpi_source source = {who, library->info.name, in.text.data, options.data};
    status = weft_mpi_module_make(&source, NULL, functions, &plugin->module, error);
    status = explain(library, status, error);
done:
    weft_text_free(&in.text);
    weft_text_free(&options);
    return status;
}

weft_status weft_plugin_make(const weft_external_library *library, void *handle, void *functions,
                             weft_plugin **out, weft_error *error) {
    weft_status status = WEFT_OK;
    place at;
    weft_plugin *plugin = calloc(1, sizeof *plugin);
    if (!plugin)
        TRY(weft_out_of_memory(error, library->title));
    if (!find_place(handle, &at))
        TRY(weft_error_set(error, WEFT_ERROR_UNSUPPORTED, "%s is in no folder", library->title));
    TRY((library->headers ? make_by_mpi : make_inlined)(library, &at, functions, plugin, error));
    *out = plugin;
    plugin = NULL;
done:
    weft_plugin_free(&plugin);
    return status;
}

void weft_plugin_free(weft_plugin **plugin) {
    if (!*plugin)
        return;
    weft_mpi_module_clear(&(*plugin)->module);
    free(*plugin);
    *plugin = NULL;
}
