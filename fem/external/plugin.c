/* Compiles plug-ins against the header that stands beside a library. */
#include "fem/external/plugin.h"

#include "core/host/module.h"
#include "core/weft_launch.h"
#include "fem/embedded_plugins.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_MOST = 1024, DEPTH_MOST = 8 };

struct weft_plugin {
    weft_device *host;
    weft_module *module;
};

/* Where headers are, from the folder of the library: in a wheel of Python or an installation of its own, beside Debian's
 * lib/x86_64-linux-gnu, and where the system has the one that it has chosen. */
static const char *const include_folders[] = {"/../include", "/../../include", ""};
enum { N_INCLUDE_FOLDERS = sizeof include_folders / sizeof include_folders[0] };

/* The folder of an opened library. */
static bool folder_of(void *handle, char out[PATH_MOST]) {
    struct link_map *map = NULL;
    if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || !map || !strchr(map->l_name, '/') ||
        strlen(map->l_name) >= PATH_MOST)
        return false;
    snprintf(out, PATH_MOST, "%s", map->l_name);
    *strrchr(out, '/') = 0;
    return true;
}

/* The folder with the header NAME.h, for a library in `folder`. */
static weft_status find_header(const weft_external_library *library, const char *folder,
                               char out[PATH_MOST], weft_error *error) {
    for (int i = 0; i < N_INCLUDE_FOLDERS; ++i) {
        char path[PATH_MOST + 64];
        snprintf(out, PATH_MOST, "%s%s", include_folders[i][0] ? folder : "/usr/include",
                 include_folders[i]);
        snprintf(path, sizeof path, "%s/%s.h", out, library->info.name);
        if (access(path, R_OK) == 0)
            return WEFT_OK;
    }
    weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                   "%s is in %s, but there is no header %s.h beside it", library->title, folder,
                   library->info.name);
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
static weft_status make_source(const weft_external_library *library, const char *folder,
                               inlining *in, weft_error *error) {
    weft_status status = WEFT_OK;
    char name[64], include[PATH_MOST];
    snprintf(name, sizeof name, "%s.c", library->info.name);
    TRY(find_header(library, folder, include, error));
    in->folder = include;
    in->library = library->info.name;
    weft_text_add(&in->text, "%s", cuda_types);
    TRY(append(in, embedded(name), 0, error));
    if (in->text.failed)
        TRY(weft_out_of_memory(error, library->title));
done:
    return status;
}

weft_status weft_plugin_make(const weft_external_library *library, void *handle, void *functions,
                             weft_plugin **out, weft_error *error) {
    weft_status status = WEFT_OK;
    char folder[PATH_MOST] = "";
    inlining in = {0};
    void *arguments[] = {functions};
    weft_plugin *plugin = calloc(1, sizeof *plugin);
    if (!plugin)
        TRY(weft_out_of_memory(error, library->title));
    if (!folder_of(handle, folder))
        TRY(weft_error_set(error, WEFT_ERROR_UNSUPPORTED, "%s is in no folder", library->title));
    TRY(make_source(library, folder, &in, error));
    TRY(weft_device_open("host:1", NULL, &plugin->host, error));
    TRY(weft_module_make(plugin->host, library->info.name, in.text.data, &plugin->module, error));
    const weft_host_kernel open = weft_host_module_kernel(plugin->module, "weft_plugin_open");
    if (!open)
        TRY(weft_error_set(error, WEFT_ERROR_INTERNAL, "the plug-in for %s has no weft_plugin_open",
                           library->title));
    open(arguments, 0, 0, 0);
    *out = plugin;
    plugin = NULL;
done:
    weft_text_free(&in.text);
    weft_plugin_free(&plugin);
    return status;
}

void weft_plugin_free(weft_plugin **plugin) {
    if (!*plugin)
        return;
    weft_module_free(&(*plugin)->module);
    weft_device_free(&(*plugin)->host);
    free(*plugin);
    *plugin = NULL;
}
