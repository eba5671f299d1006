/* Starts MPI for libraries that need it, as one process, and stops it at the end. */
#include "fem/external/private.h"

#include <dlfcn.h>
#include <stdlib.h>

/* The functions of MPI, whose handles are pointers in Open MPI. */
#define MPI_FUNCTIONS(FUNCTION)                                                                    \
    FUNCTION(MPI_Initialized, (int *))                                                             \
    FUNCTION(MPI_Finalized, (int *))                                                               \
    FUNCTION(MPI_Init, (int *, char ***))                                                          \
    FUNCTION(MPI_Finalize, (void))                                                                 \
    FUNCTION(MPI_Comm_set_errhandler, (void *, void *))

#define POINTER(name, parameters) int(*name) parameters;
typedef struct mpi_functions {
    MPI_FUNCTIONS(POINTER)
} mpi_functions;
#undef POINTER
#define NAME(name, parameters) #name,
static const char *const function_names[] = {MPI_FUNCTIONS(NAME)};
#undef NAME
enum { N_FUNCTIONS = sizeof function_names / sizeof function_names[0] };

static weft_status find(void *library, mpi_functions *mpi, weft_error *error) {
    return weft_external_functions(library, "MPI", function_names, N_FUNCTIONS, mpi, error);
}

static void stop(int exit_code, void *library) {
    (void)exit_code;
    mpi_functions mpi;
    int is_stopped = 1;
    if (find(library, &mpi, NULL) == WEFT_OK && mpi.MPI_Finalized(&is_stopped) == 0 && !is_stopped)
        mpi.MPI_Finalize();
}

static weft_status start(const mpi_functions *mpi, void *library, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_external_signals *signals = NULL;
    TRY(weft_external_signals_keep(&signals, error));
    if (mpi->MPI_Init(NULL, NULL) != 0)
        status = weft_error_set(error, WEFT_ERROR_UNSUPPORTED, "MPI does not start");
    else if (on_exit(stop, library) != 0)
        status = weft_out_of_memory(error, "stopping MPI");
done:
    weft_external_signals_restore(&signals);
    return status;
}

weft_status weft_external_mpi_start(void *library, const char *title, void **self,
                                    weft_error *error) {
    weft_status status = WEFT_OK;
    mpi_functions mpi;
    int is_running = 0, is_stopped = 0;
    void *own = dlsym(library, "ompi_mpi_comm_self"),
         *world = dlsym(library, "ompi_mpi_comm_world");
    void *report = dlsym(library, "ompi_mpi_errors_return");
    if (!own || !world || !report)
        TRY(weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                           "this %s does not use Open MPI, the one that Weft can start", title));
    TRY(find(library, &mpi, error));
    mpi.MPI_Initialized(&is_running);
    mpi.MPI_Finalized(&is_stopped);
    if (is_stopped)
        TRY(weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                           "%s needs MPI, which was stopped in this process", title));
    if (!is_running) {
        TRY(start(&mpi, library, error));
        mpi.MPI_Comm_set_errhandler(world, report);
    }
    mpi.MPI_Comm_set_errhandler(own, report);
    *self = own;
done:
    return status;
}
