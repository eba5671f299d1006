/* Compiles plug-ins that use MPI, by the compiler of that. */
#include "core/base/process.h"
#include "core/comm/comm.h"
#include "core/host/module.h"
#include "core/weft_launch.h"

#include <stdlib.h>
#include <string.h>

static void hint_at_package(weft_error *error) {
    weft_error_hint(error, "install the MPI of mpirun with its headers (Debian: libopenmpi-dev or "
                           "libmpich-dev), or set WEFT_MPICC to its mpicc");
}

static weft_status find_compiler(const char *who, char *out, size_t size, weft_error *error) {
    const char *asked = getenv("WEFT_MPICC"), *name = asked && asked[0] ? asked : "mpicc";
    const bool is_path = strchr(name, '/') != NULL;
    if (is_path && weft_is_program(name) && strlen(name) < size)
        memcpy(out, name, strlen(name) + 1);
    else if (is_path || !weft_find_in_path(name, out, size)) {
        weft_error_set(error, WEFT_ERROR_UNSUPPORTED, "%s MPI, whose compiler %s is not found", who,
                       name);
        hint_at_package(error);
        return WEFT_ERROR_UNSUPPORTED;
    }
    return WEFT_OK;
}

/* What the compiler would run: with another MPI, that is something else. */
static weft_status hash_command(char *compiler, char out[33], weft_error *error) {
    static char question[] = "-show";
    char *arguments[] = {compiler, question, NULL}, output[4096] = "";
    weft_process_result result;
    const weft_process_start start = {.program = compiler,
                                      .arguments = arguments,
                                      .folder = -1,
                                      .english = true,
                                      .errors_too = true,
                                      .limits = {.seconds = 60}};
    const weft_status status = weft_process_run(&start, output, sizeof output, &result, error);
    if (status == WEFT_OK)
        weft_hash(output, strlen(output), out);
    return status;
}

weft_status weft_mpi_module_make(const weft_mpi_source *from, const weft_monitor *monitor,
                                 void *functions, weft_mpi_module *out, weft_error *error) {
    weft_status status = WEFT_OK;
    char compiler[1024], command[33];
    weft_text source = {0}, words = {0};
    void *arguments[] = {functions};
    weft_mpi_module made = {0};
    weft_device_options options = weft_device_options_default(monitor);
    TRY(find_compiler(from->who, compiler, sizeof compiler, error));
    TRY(hash_command(compiler, command, error));
    /* a value, as keys of the cache do not contain comments */
    weft_text_add(&source, "#define _GNU_SOURCE\nconst char weft_mpi_command[] = \"%s\";\n%s",
                  command, from->text);
    weft_text_add(&words, "%s %s", compiler, from->options);
    if (source.failed || words.failed)
        TRY(weft_out_of_memory(error, from->name));
    options.compiler = words.data;
    TRY(weft_device_open("host:1", &options, &made.host, error));
    status = weft_module_make(made.host, from->name, source.data, &made.module, error);
    if (status == WEFT_ERROR_COMPILER && error && strstr(error->message, "mpi.h"))
        hint_at_package(error); /* Debian's package of programs has an mpicc without headers */
    TRY(status);
    const weft_host_kernel open = weft_host_module_kernel(made.module, "weft_plugin_open");
    if (!open)
        TRY(weft_error_set(error, WEFT_ERROR_INTERNAL, "the plug-in %s has no weft_plugin_open",
                           from->name));
    open(arguments, 0, 0, 0);
    *out = made;
    made = (weft_mpi_module){0};
done:
    weft_text_free(&source);
    weft_text_free(&words);
    weft_mpi_module_clear(&made);
    return status;
}

void weft_mpi_module_clear(weft_mpi_module *module) {
    weft_module_free(&module->module);
    weft_device_free(&module->host);
}
