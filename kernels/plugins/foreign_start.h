/** What plug-ins for libraries that use MPI share: MPI itself, which runs before them and ends after them. Each plug-in includes this once,
 *  after mpi.h. */
#pragma once

#include "foreign_plugin.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int has_started_mpi; /* in this process, by this plug-in */

/* The file that a function is from. */
static const char *file_of(void *function) {
    Dl_info info;
    return dladdr(function, &info) && info.dli_fname ? info.dli_fname : "?";
}

/* The library must call the same MPI as this plug-in, which is that of mpicc and so that of the ranks. */
static weft_foreign_outcome check_mpi(const char *title, void *library, void *(*find)(void *, const char *),
                                      char *message) {
    void *theirs = find(library, "MPI_Comm_size"), *ours = (void *)(uintptr_t)MPI_Comm_size;
    if (theirs == ours)
        return WEFT_FOREIGN_OK;
    if (!theirs)
        (void)snprintf(message, WEFT_FOREIGN_MESSAGE, "this %s was built without MPI", title);
    else
        (void)snprintf(message, WEFT_FOREIGN_MESSAGE,
                       "this %s uses another MPI (%s) than that of mpicc (%s)", title, file_of(theirs), file_of(ours));
    return WEFT_FOREIGN_UNSUPPORTED;
}

/* MPI stays in the process after this plug-in: its threads and exit handlers have addresses in it. */
static void keep_loaded(void) {
    Dl_info info;
    if (dladdr((void *)(uintptr_t)MPI_Init_thread, &info) && info.dli_fname)
        (void)dlopen(info.dli_fname, RTLD_NOW | RTLD_GLOBAL | RTLD_NODELETE);
}

static weft_foreign_outcome start_mpi(const char *title, char *message) {
    int is_running = 0, is_stopped = 0, provided = 0;
    (void)MPI_Initialized(&is_running);
    (void)MPI_Finalized(&is_stopped);
    if (is_stopped) {
        (void)snprintf(message, WEFT_FOREIGN_MESSAGE, "%s needs MPI, which was stopped in this process", title);
        return WEFT_FOREIGN_UNSUPPORTED;
    }
    if (is_running)
        return WEFT_FOREIGN_OK;
    keep_loaded();
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS) {
        (void)snprintf(message, WEFT_FOREIGN_MESSAGE, "MPI does not start");
        return WEFT_FOREIGN_UNSUPPORTED;
    }
    has_started_mpi = 1;
    return WEFT_FOREIGN_OK;
}

/* A copy of the ranks' communicator, or of that of this process, whose errors are returned. */
static int copy_comm(const void *comm, MPI_Comm *out) {
    const int code = MPI_Comm_dup(comm ? *(const MPI_Comm *)comm : MPI_COMM_SELF, out);
    if (code == MPI_SUCCESS)
        (void)MPI_Comm_set_errhandler(*out, MPI_ERRORS_RETURN);
    return code;
}

static void stop(void) {
    int is_stopped = 1;
    if (has_started_mpi && MPI_Finalized(&is_stopped) == MPI_SUCCESS && !is_stopped)
        (void)MPI_Finalize();
}
