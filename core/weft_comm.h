/** Ranks: processes or threads that solve one problem together.
 *
 *      In: what each rank has.  Out: what all of them know.
 *
 *  A rank is numbered from 0. A communicator that is NULL is that of a rank that is alone. Every call is made by all ranks, in
 *  the same order. When one of them fails, by weft_comm_abandon or by a call here, the calls of all others fail
 *  with its number and message, so that none waits for ever. */
#ifndef WEFT_COMM_H
#define WEFT_COMM_H

#include "core/weft_base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weft_comm weft_comm;

enum { WEFT_RANKS_MAX = 4096 };
/** Communicators of n threads of this process, one for each.
 *  out     [n], caller's; weft_comm_free each, in any order
 *  Errors  WEFT_ERROR_USAGE: n is not in [1, WEFT_RANKS_MAX]; WEFT_ERROR_MEMORY */
weft_status weft_comm_threads_make(int n, weft_comm **out, weft_error *error);
/** What mpirun or srun says of this process. */
typedef struct weft_processes {
    int size, rank;       /* 1 and 0 of one that was started alone */
    const char *variable; /* of the environment, which says so; NULL: none. Borrowed */
} weft_processes;
weft_processes weft_processes_find(void);
/** A communicator of MPI that the caller has, as by mpi4py. */
typedef struct weft_mpi_given {
    int handle;          /* MPI_Comm_c2f of it */
    const char *version; /* MPI_Get_library_version of its MPI; borrowed */
} weft_mpi_given;
/** The communicator of this process, which mpirun or srun has started, and of the others. MPI is called through a plug-in that
 *  mpicc ($WEFT_MPICC names another one) compiles at first use; the calling thread makes all calls. A rank that fails ends all
 *  processes: weft_comm_abandon does not return, after which their launcher has the exit code of the error.
 *  weft_comm_free waits for all ranks and ends MPI, unless that ran before; it cannot be started again.
 *  given    a communicator of the caller's, of which this is a duplicate; NULL: all processes
 *  monitor  borrowed; may be NULL
 *  Errors   WEFT_ERROR_UNSUPPORTED: no mpicc, or an MPI without threads; WEFT_ERROR_USAGE: `given` is null, or of another MPI than
 *           that of mpicc, or mpirun is; WEFT_ERROR_COMPILER, WEFT_ERROR_DEVICE, WEFT_ERROR_MEMORY */
weft_status weft_comm_mpi_make(const weft_mpi_given *given, const weft_monitor *monitor,
                               weft_comm **out, weft_error *error);
void weft_comm_free(weft_comm **comm);
/** 0 and 1 of NULL. */
int weft_comm_rank(const weft_comm *comm);
int weft_comm_size(const weft_comm *comm);
/** The number of this rank among those of its machine, from 0. */
int weft_comm_local_rank(const weft_comm *comm);
/** Let GPUs exchange numbers through the host, though they reach each other. All ranks call it, before anything is made of the
 *  communicator. */
void weft_comm_stage(weft_comm *comm);
bool weft_comm_is_staged(const weft_comm *comm);
/** Do some ranks have a GPU, and others the host (weft_comm_device)? They exchange numbers by the host, and choose as on GPUs what all have to
 *  choose alike. */
bool weft_comm_is_mixed(const weft_comm *comm);
/** Divide what ranks divide by these shares. All ranks call it with the same ones, before anything is made of the communicator.
 *  shares  [n] positive numbers whose sum is 1
 *  Errors  WEFT_ERROR_USAGE: another number than ranks, or another sum; WEFT_ERROR_MEMORY */
weft_status weft_comm_share_out(weft_comm *comm, const double *shares, int n, weft_error *error);
/** The same by a text with a number for each rank, "0.1,0.9".
 *  text    NULL: nothing happens
 *  Errors  also WEFT_ERROR_USAGE: not a list of numbers. They are located at the option --shares */
weft_status weft_comm_share_text(weft_comm *comm, const char *text, weft_error *error);
/** [size], borrowed; NULL: equal ones. */
const double *weft_comm_shares(const weft_comm *comm);
/** The processors for this rank, if all that may use one share it evenly; at least 1. All available ones of NULL. */
int weft_comm_processors(const weft_comm *comm);
/** The device that this rank opens: the host with its share of the processors, or a GPU of its own. Sets weft_comm_is_mixed.
 *  asked  "host", "host:THREADS", "cuda", "cuda:0", or a list with a device for each rank, "cuda:0,cuda:1", "host,cuda:0"; NULL or
 *         "auto": that of $WEFT_DEVICE, or else the host. Beside GPUs the host has one thread fewer for each of these
 *  out    [size] the name for weft_device_open */
void weft_comm_device(weft_comm *comm, const char *asked, char *out, size_t size);
/** How many names a list of devices has. */
int weft_comm_devices(const char *asked);
/** Has a list GPUs and the host? */
bool weft_comm_devices_differ(const char *asked);
/** Refuse a list that does not suit the ranks.
 *  n_ranks  0: those of mpirun
 *  Errors   WEFT_ERROR_UNSUPPORTED: other devices than the host and GPUs; WEFT_ERROR_USAGE: another number of them, or a device that
 *           is there twice, besides GPUs among themselves and hosts with a number of threads */
weft_status weft_comm_devices_check(const char *asked, int n_ranks, weft_error *error);
/** "threads", "mpi"; "none" of NULL. Borrowed. */
const char *weft_comm_kind(const weft_comm *comm);

/** Collect equally many bytes of each rank, on all of them.
 *  mine  borrowed
 *  all   [size][bytes], in the order of ranks
 *  Errors  WEFT_ERROR_DEVICE: another rank has failed */
weft_status weft_comm_gather(weft_comm *comm, const void *mine, size_t bytes, void *all,
                             weft_error *error);
/** Copy bytes of one rank to all others.
 *  Errors  as above */
weft_status weft_comm_broadcast(weft_comm *comm, void *bytes, size_t n, int from,
                                weft_error *error);
/** Sum and maximum over the ranks, of whole numbers and of doubles.
 *  Errors  as above */
weft_status weft_comm_sum(weft_comm *comm, int64_t *value, weft_error *error);
weft_status weft_comm_maximum(weft_comm *comm, double *value, weft_error *error);

/** Bytes that go to, or come from, another rank. */
typedef struct weft_message {
    int rank;
    void *bytes; /* borrowed; only read of what is sent */
    size_t n;
} weft_message;
/** Send and receive messages, at most one to and one from each other rank; what is sent to a rank has the
 *  length that it receives.
 *  Errors  as above; WEFT_ERROR_INTERNAL: lengths differ; with threads, also that a message is
 *          missing, for which MPI waits */
weft_status weft_comm_exchange(weft_comm *comm, const weft_message *sent, int n_sent,
                               const weft_message *received, int n_received, weft_error *error);

/** Whether all ranks are well: returns status and message of the lowest rank whose status is not WEFT_OK, on all. */
weft_status weft_comm_agree(weft_comm *comm, weft_status status, weft_error *error);
/** This rank makes no more calls, since it has failed: calls of others return its message.
 *  error  borrowed; NULL: no message */
void weft_comm_abandon(weft_comm *comm, const weft_error *error);

#ifdef __cplusplus
}
#endif
#endif
