/* Starts weft-gmsh and reads the mesh that it sends. Gmsh runs in that program only, so that a
 * crash, an abort or an exit results in a single error here.
 *
 * Decision  docs/decisions/0045-gmsh-is-a-program-of-its-own.md */
#include "core/base/number.h"
#include "core/base/process.h"
#include "fem/base/text.h"
#include "fem/io/read.h"
#include "fem/mesh/mesh.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static weft_status find_program(const char *path, char *out, size_t size, weft_error *error) {
    const char *named = getenv("WEFT_GMSH");
    if (named && *named) {
        if (strlen(named) < size && weft_is_program(named)) {
            weft_copy_cut(out, size, named);
            return WEFT_OK;
        }
        weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                       "%s: WEFT_GMSH is `%.300s`, which is not a program", path, named);
        weft_error_hint(error, "set it to the program weft-gmsh, or unset it");
        return WEFT_ERROR_UNSUPPORTED;
    }
    if (weft_find_own_program("weft-gmsh", out, size))
        return WEFT_OK;
    weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                   "%s: this format needs the program weft-gmsh, which is not there", path);
    weft_error_hint(error, "install libgmsh-dev and build Weft again, or set WEFT_GMSH to the "
                           "program; .vtkhdf files, square:N and cube:N work without it");
    return WEFT_ERROR_UNSUPPORTED;
}

static ssize_t read_child(void *user, void *out, size_t n) {
    return weft_process_read(user, out, n);
}

static weft_status start_child(const char *program, const char *path,
                               const weft_mesh_options *options, weft_process *out,
                               weft_error *error) {
    int n = 0;
    char size[40], parent[24], memory[40], seconds[40];
    char *arguments[16] = {(char *)"weft-gmsh", (char *)"--parent", parent, (char *)"--size", size};
    weft_print(size, sizeof size, "%.17g", options->cell_size);
    snprintf(parent, sizeof parent, "%ld", (long)getpid());
    weft_print(memory, sizeof memory, "%.17g", options->memory);
    weft_print(seconds, sizeof seconds, "%.17g", options->seconds);
    for (n = 0; arguments[n]; ++n)
        continue;
    if (options->memory > 0) {
        arguments[n++] = (char *)"--mesh-memory";
        arguments[n++] = memory;
    }
    if (options->seconds > 0) {
        arguments[n++] = (char *)"--mesh-time";
        arguments[n++] = seconds;
    }
    if (options->trust_geo)
        arguments[n++] = (char *)"--trust-geo";
    arguments[n++] = (char *)"--";
    arguments[n++] = (char *)path;
    const weft_process_start start = {.program = program, .arguments = arguments, .folder = -1};
    const weft_status status = weft_process_begin(&start, out, error);
    if (status == WEFT_OK)
        fcntl(out->output, F_SETPIPE_SZ, 1 << 20);
    else if (error && !error->file[0])
        weft_error_location(error, path, NULL, 0, 0);
    return status;
}

/* The stream ended before the mesh was complete: report how the child ended. */
static weft_status explain_end(const char *program, const char *path,
                               const weft_process_result *result, weft_error *error) {
    if (result->signal == SIGKILL) {
        weft_error_set(error, WEFT_ERROR_INPUT, "Gmsh was killed (signal 9) on %s", path);
        weft_error_hint(error, "memory may have run out: try a larger --size");
    } else if (result->signal) {
        weft_error_set(error, WEFT_ERROR_INPUT, "Gmsh crashed (signal %d) on %s", result->signal,
                       path);
        weft_error_hint(error, "open the file in Gmsh to see why; another Mesh.Algorithm (2D: 5 or "
                               "6) or Mesh.Algorithm3D (1 or 10) may work");
    } else {
        weft_error_set(error, WEFT_ERROR_IO, "%s: %s ended with exit code %d and sent no mesh",
                       path, program, result->exit_code);
        if (result->exit_code == 127)
            weft_error_hint(error, "a library of Gmsh is missing: install libgmsh-dev, or with "
                                   "the Python package pip install 'weft[gmsh]'; .vtkhdf files, "
                                   "square:N and cube:N work without it");
        else
            weft_error_hint(error, "run `weft-gmsh %s > mesh.stream` to see why", path);
    }
    return result->signal ? WEFT_ERROR_INPUT : WEFT_ERROR_IO;
}

weft_status weft_mesh_read_gmsh(const char *path, const weft_mesh_options *options,
                                const weft_monitor *monitor, weft_mesh **out, weft_error *error) {
    weft_status status = WEFT_OK;
    char program[4096];
    weft_process from = {.output = -1};
    weft_process_result result;
    weft_stream_source source = {path, read_child, &from, -1, false, false, 0};
    weft_mesh_data data = {0};
    TRY(find_program(path, program, sizeof program, error));
    TRY(start_child(program, path, options, &from, error));
    from.monitor = monitor; /* may cancel it */
    status = weft_mesh_stream_read(&source, monitor, &data, error);
    weft_process_end(&from, status != WEFT_OK && !source.cut_short && !source.reported_error,
                     &result);
    if (source.cut_short)
        status = explain_end(program, path, &result, error);
    if (status == WEFT_OK)
        status = weft_mesh_make_from(&data, path, source.n_left_nodes, monitor, out, error);
done:
    weft_mesh_data_free(&data);
    return status;
}
