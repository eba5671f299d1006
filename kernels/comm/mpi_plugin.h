/** The functions of the plug-in for MPI, which is compiled by mpicc when it is first asked for (core/comm/mpi.c). All are called
 *  by the thread that has called start. They return 0, a code of MPI, or one of these. */
#ifndef WEFT_MPI_PLUGIN_H
#define WEFT_MPI_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

enum {
    WEFT_MPI_MEMORY = -1,
    WEFT_MPI_LENGTH = -2, /* a message has not the length that its receiver expects */
    WEFT_MPI_THREADS = -3, /* this MPI does not allow other threads in its process */
    WEFT_MPI_NONE = -4     /* the communicator is MPI_COMM_NULL */
};

typedef struct weft_mpi_place {
    int rank, size;
    int local; /* number of this rank among those of its machine */
    double share; /* of the processors that this process may use, if ranks of a node share those evenly */
} weft_mpi_place;

typedef struct weft_mpi weft_mpi;
typedef struct weft_mpi_plugin {
    /** given  the Fortran handle of a communicator of this MPI, which has been started; NULL: MPI_COMM_WORLD
     *  out    the caller's, for stop, also after an error; NULL: no memory */
    int (*start)(const int *given, weft_mpi **out, weft_mpi_place *place);
    /** Name and version of the MPI; "" where it does not tell them. Before start, too. */
    void (*version)(char *out, size_t size);
    int (*gather)(weft_mpi *mpi, const void *mine, size_t bytes, void *all);
    /** Start messages; their bytes stay until wait has returned. */
    int (*send)(weft_mpi *mpi, int rank, const void *bytes, size_t n);
    int (*receive)(weft_mpi *mpi, int rank, void *bytes, size_t n);
    int (*wait)(weft_mpi *mpi);
    /** The address of the MPI_Comm. */
    const void *(*communicator)(const weft_mpi *mpi);
    /** What a code of MPI means. */
    void (*explain)(int code, char *out, size_t size);
    /** End all processes; returns only if that fails. */
    void (*abort)(weft_mpi *mpi, int exit_code);
    /** Waits for all ranks. */
    void (*stop)(weft_mpi *mpi);
} weft_mpi_plugin;

#endif
