/** Kinds of communicators: a table of operations, from which the others are made. */
#pragma once

#include "core/weft_comm.h"
#include "core/weft_launch.h"

/** The operations of a kind. Arguments are checked, and size > 1. */
typedef struct weft_comm_kind_row {
    const char *name;
    weft_status (*gather)(weft_comm *comm, const void *mine, size_t bytes, void *all,
                          weft_error *error);
    weft_status (*exchange)(weft_comm *comm, const weft_message *sent, int n_sent,
                            const weft_message *received, int n_received, weft_error *error);
    void (*abandon)(weft_comm *comm, const weft_error *error);
    void (*free)(weft_comm *comm);
} weft_comm_kind_row;

struct weft_comm {
    const weft_comm_kind_row *kind;
    int rank, size, local, processors; /* local: number among the ranks of this machine */
    bool staged;                       /* GPUs exchange through the host */
    bool mixed;                        /* some ranks have a GPU, others the host */
    double *shares;                    /* [size]; NULL: equal ones */
    void *state;                       /* of the kind */
};

/** Set the error that calls return when another rank has failed.
 *  what  its message; empty: not known */
weft_status weft_comm_failed(int rank, const char *what, weft_error *error);

/** The address of an MPI_Comm, for other plug-ins; NULL: the ranks are not those of MPI. Borrowed. */
const void *weft_comm_mpi(const weft_comm *comm);

/** A plug-in that uses MPI: plain C against mpi.h and other headers, which the compiler of MPI compiles ($WEFT_MPICC, else mpicc)
 *  unless it is in the cache. (core/comm/mpi_module.c) */
typedef struct weft_mpi_source {
    const char *who;     /* "PETSc needs", for messages */
    const char *name;    /* of the module */
    const char *text;    /* with a function weft_plugin_open */
    const char *options; /* further words of the compiler's command */
} weft_mpi_source;
typedef struct weft_mpi_module {
    weft_device *host;
    weft_module *module;
} weft_mpi_module;
/** functions  the table that weft_plugin_open fills
 *  out        caller's; weft_mpi_module_clear, after which no function may be called
 *  Errors     WEFT_ERROR_UNSUPPORTED (no mpicc), WEFT_ERROR_COMPILER, WEFT_ERROR_MEMORY; *out untouched */
weft_status weft_mpi_module_make(const weft_mpi_source *from, const weft_monitor *monitor,
                                 void *functions, weft_mpi_module *out, weft_error *error);
void weft_mpi_module_clear(weft_mpi_module *module);
