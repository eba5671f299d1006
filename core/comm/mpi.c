/* Ranks that are processes of MPI, reached by a plug-in that mpicc compiles at first use.
 *
 * Decision  docs/decisions/0068-plug-ins-are-compiled-against-headers.md */
#include "core/base/threads.h"
#include "core/comm/comm.h"
#include "core/embedded_comm.h"
#include "kernels/comm/mpi_plugin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct mpi_rank {
    weft_mpi_module plugin;
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
    if (code == WEFT_MPI_NONE)
        return weft_error_refuse(error, WEFT_ERROR_USAGE,
                                 "the communicator is MPI_COMM_NULL, which has no ranks",
                                 "make the problem only in processes that are in the communicator");
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
    weft_mpi_module_clear(&own->plugin);
    free(own);
}

static const weft_comm_kind_row mpi_row = {
    .name = "mpi", .gather = gather, .exchange = exchange, .abandon = abandon, .free = rank_free};

const void *weft_comm_mpi(const weft_comm *comm) {
    const mpi_rank *own = comm && comm->kind == &mpi_row ? comm->state : NULL;
    return own ? own->calls.communicator(own->mpi) : NULL;
}

/* ---- the plug-in ----------------------------------------------------------------------------- */

static const char *embedded(const char *name) {
    for (const weft_embedded_file *file = weft_embedded_comm; file->name; ++file)
        if (strcmp(file->name, name) == 0)
            return file->text;
    return "";
}

static weft_status load(mpi_rank *own, const weft_monitor *monitor, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_text source = {0};
    weft_text_add(&source, "%s%s", embedded("mpi_plugin.h"), embedded("mpi.c"));
    if (source.failed)
        TRY(weft_out_of_memory(error, "the plug-in for MPI"));
    const weft_mpi_source from = {"several processes need", "mpi", source.data, ""};
    TRY(weft_mpi_module_make(&from, monitor, &own->calls, &own->plugin, error));
done:
    weft_text_free(&source);
    return status;
}

/* A handle means something to its own MPI alone. */
static weft_status check_given(const mpi_rank *own, const weft_mpi_given *given,
                               weft_error *error) {
    char version[256];
    weft_status status = WEFT_OK;
    own->calls.version(version, sizeof version);
    version[strcspn(version, "\n")] = '\0';
    const size_t n = strlen(version);
    if (strncmp(given->version, version, n) == 0)
        return WEFT_OK;
    status = weft_error_set(error, WEFT_ERROR_USAGE,
                            "the communicator is of another MPI (%.*s) than that of mpicc (%s)",
                            (int)strcspn(given->version, ",\n"), given->version, version);
    weft_error_hint(error, "put the mpicc of the same MPI first in PATH, or set WEFT_MPICC to it");
    return status;
}

static weft_status check_size(const weft_comm *comm, weft_error *error) {
    const weft_processes started = weft_processes_find();
    if (started.size == 1 || comm->size == started.size)
        return WEFT_OK;
    weft_error_set(error, WEFT_ERROR_USAGE,
                   "mpirun of another MPI than that of mpicc: this process sees %d rank%s of %d "
                   "(%s)",
                   comm->size, comm->size > 1 ? "s" : "", started.size, started.variable);
    weft_error_hint(error, "put the mpicc of the same MPI first in PATH, or set WEFT_MPICC to "
                           "it; with srun, choose an MPI by --mpi");
    return WEFT_ERROR_USAGE;
}

weft_status weft_comm_mpi_make(const weft_mpi_given *given, const weft_monitor *monitor,
                               weft_comm **out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_mpi_place place = {.size = 1, .share = 1};
    weft_comm *comm = calloc(1, sizeof *comm);
    mpi_rank *own = calloc(1, sizeof *own);
    if (!comm || !own)
        TRY(weft_out_of_memory(error, "ranks"));
    *comm = (weft_comm){.kind = &mpi_row, .state = own};
    TRY(load(own, monitor, error));
    if (given)
        TRY(check_given(own, given, error));
    TRY(report(own, own->calls.start(given ? &given->handle : NULL, &own->mpi, &place), "its start",
               error));
    const int processors = (int)(weft_threads_available() * place.share + 1e-9);
    comm->rank = place.rank;
    comm->size = place.size;
    comm->local = place.local;
    comm->processors = processors > 1 ? processors : 1;
    if (!given)
        TRY(check_size(comm, error));
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
