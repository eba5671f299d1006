/* Ranks that are processes of MPI, reached by a plug-in that mpicc compiles at first use.
 *
 * Decision  docs/decisions/0068-plug-ins-are-compiled-against-headers.md */
#include "core/base/process.h"
#include "core/base/threads.h"
#include "core/comm/comm.h"
#include "core/embedded_comm.h"
#include "core/host/module.h"
#include "core/weft_launch.h"
#include "kernels/comm/mpi_plugin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct mpi_rank {
    weft_device *host;
    weft_module *module;
    weft_mpi_plugin calls;
    weft_mpi *mpi;
} mpi_rank;

/* ---- operations ------------------------------------------------------------------------------ */

static weft_status report(const mpi_rank *own, int code, const char *what, weft_error *error) {
    char text[512];
    if (code == 0)
        return WEFT_OK;
    if (code == WEFT_MPI_MEMORY)
        return weft_out_of_memory(error, "messages of MPI");
    if (code == WEFT_MPI_LENGTH)
        return weft_error_set(error, WEFT_ERROR_INTERNAL,
                              "a message of MPI has not the length that is expected");
    if (code == WEFT_MPI_THREADS)
        return weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                              "this MPI allows no threads beside its own (MPI_THREAD_FUNNELED)");
    own->calls.explain(code, text, sizeof text);
    return weft_error_set(error, WEFT_ERROR_DEVICE, "MPI has failed in %s: %s", what, text);
}

static weft_status gather(weft_comm *comm, const void *mine, size_t bytes, void *all,
                          weft_error *error) {
    mpi_rank *own = comm->state;
    return report(own, own->calls.gather(own->mpi, mine, bytes, all), "a gather", error);
}

static weft_status exchange(weft_comm *comm, const weft_message *sent, int n_sent,
                            const weft_message *received, int n_received, weft_error *error) {
    mpi_rank *own = comm->state;
    int code = 0;
    for (int i = 0; i < n_received && code == 0; ++i)
        code = own->calls.receive(own->mpi, received[i].rank, received[i].bytes, received[i].n);
    for (int i = 0; i < n_sent && code == 0; ++i)
        code = own->calls.send(own->mpi, sent[i].rank, sent[i].bytes, sent[i].n);
    if (code == 0)
        code = own->calls.wait(own->mpi);
    return report(own, code, "an exchange", error);
}

static void abandon(weft_comm *comm, const weft_error *error) {
    mpi_rank *own = comm->state;
    const weft_status status = error ? error->status : WEFT_ERROR_INTERNAL;
    own->calls.abort(own->mpi, weft_status_exit_code(status));
}

static void rank_free(weft_comm *comm) {
    mpi_rank *own = comm->state;
    if (own->mpi)
        own->calls.stop(own->mpi);
    weft_module_free(&own->module);
    weft_device_free(&own->host);
    free(own);
}

static const weft_comm_kind_row mpi_row = {
    .name = "mpi", .gather = gather, .exchange = exchange, .abandon = abandon, .free = rank_free};

/* ---- the plug-in ----------------------------------------------------------------------------- */

static void hint_at_package(weft_error *error) {
    weft_error_hint(error, "install the MPI of mpirun with its headers (Debian: libopenmpi-dev or "
                           "libmpich-dev), or set WEFT_MPICC to its mpicc");
}

static weft_status find_compiler(char *out, size_t size, weft_error *error) {
    const char *asked = getenv("WEFT_MPICC"), *name = asked && asked[0] ? asked : "mpicc";
    const bool is_path = strchr(name, '/') != NULL;
    if (is_path && weft_is_program(name) && strlen(name) < size)
        memcpy(out, name, strlen(name) + 1);
    else if (is_path || !weft_find_in_path(name, out, size)) {
        weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                       "several processes need MPI, whose compiler %s is not found", name);
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

static const char *embedded(const char *name) {
    for (const weft_embedded_file *file = weft_embedded_comm; file->name; ++file)
        if (strcmp(file->name, name) == 0)
            return file->text;
    return "";
}

static weft_status load(mpi_rank *own, const weft_monitor *monitor, weft_error *error) {
    weft_status status = WEFT_OK;
    char compiler[1024], command[33];
    weft_text source = {0};
    void *arguments[] = {&own->calls};
    weft_device_options options = weft_device_options_default(monitor);
    TRY(find_compiler(compiler, sizeof compiler, error));
    TRY(hash_command(compiler, command, error));
    /* a value, as keys of the cache do not contain comments */
    weft_text_add(&source, "#define _GNU_SOURCE\nconst char weft_mpi_command[] = \"%s\";\n",
                  command);
    weft_text_add(&source, "%s%s", embedded("mpi_plugin.h"), embedded("mpi.c"));
    if (source.failed)
        TRY(weft_out_of_memory(error, "the plug-in for MPI"));
    options.compiler = compiler;
    TRY(weft_device_open("host:1", &options, &own->host, error));
    status = weft_module_make(own->host, "mpi", source.data, &own->module, error);
    if (status == WEFT_ERROR_COMPILER && error && strstr(error->message, "mpi.h"))
        hint_at_package(error); /* Debian's package of programs has an mpicc without headers */
    TRY(status);
    const weft_host_kernel open = weft_host_module_kernel(own->module, "weft_plugin_open");
    if (!open)
        TRY(weft_error_set(error, WEFT_ERROR_INTERNAL,
                           "the plug-in for MPI has no weft_plugin_open"));
    open(arguments, 0, 0, 0);
done:
    weft_text_free(&source);
    return status;
}

weft_status weft_comm_mpi_make(const weft_monitor *monitor, weft_comm **out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_mpi_place place = {.size = 1, .share = 1};
    weft_comm *comm = calloc(1, sizeof *comm);
    mpi_rank *own = calloc(1, sizeof *own);
    if (!comm || !own)
        TRY(weft_out_of_memory(error, "ranks"));
    *comm = (weft_comm){.kind = &mpi_row, .state = own};
    TRY(load(own, monitor, error));
    TRY(report(own, own->calls.start(&own->mpi, &place), "its start", error));
    const int processors = (int)(weft_threads_available() * place.share + 1e-9);
    comm->rank = place.rank;
    comm->size = place.size;
    comm->local = place.local;
    comm->processors = processors > 1 ? processors : 1;
    *out = comm;
    comm = NULL;
    own = NULL;
done:
    if (comm && own)
        rank_free(comm);
    else
        free(own);
    free(comm);
    return status;
}
