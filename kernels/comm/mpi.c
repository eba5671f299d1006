/* MPI by its own header, whose handles and constants differ between implementations. */
#define _GNU_SOURCE
#include <mpi.h>

#ifndef WEFT_MPI_PLUGIN_H /* which stands before this text where it is compiled at first use */
#include "mpi_plugin.h"
#endif

#include <dlfcn.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The most bytes of one message, and of the result of one collective: counts of MPI are int, in implementations also sums. */
#ifndef WEFT_MPI_PIECE
#define WEFT_MPI_PIECE ((size_t)1 << 30)
#endif

enum { TAG = 1, FIRST_ROOM = 64 };

struct weft_mpi {
    MPI_Comm comm;
    int size;
    int has_comm, has_started; /* has_started: MPI, which a host program may have done before */
    int n, room;               /* requests that have been started */
    MPI_Request *requests;     /* [room] */
    int *lengths;              /* [room], of what is received; -1: sent */
};

/* MPI stays in the process after this plug-in: its threads and exit handlers have addresses in it. */
static void keep_loaded(void) {
    Dl_info info;
    if (dladdr((void *)(uintptr_t)MPI_Init_thread, &info) && info.dli_fname)
        (void)dlopen(info.dli_fname, RTLD_NOW | RTLD_GLOBAL | RTLD_NODELETE);
}

/* Each processor is divided among the ranks of this node that may use it: ranks may be bound to processors of their own, or
 * several to those of a socket. */
static int find_share(MPI_Comm world, int rank, double *share, int *local) {
    int mine[CPU_SETSIZE] = {0}, all[CPU_SETSIZE] = {0}, n = 0;
    cpu_set_t set;
    MPI_Comm node;
    double sum = 0;
    const int is_known = sched_getaffinity(0, sizeof set, &set) == 0;
    for (int i = 0; i < CPU_SETSIZE; ++i)
        mine[i] = !is_known || CPU_ISSET(i, &set);
    int code = MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
    if (code != MPI_SUCCESS)
        return code;
    code = MPI_Comm_rank(node, local);
    if (code == MPI_SUCCESS)
        code = MPI_Allreduce(mine, all, CPU_SETSIZE, MPI_INT, MPI_SUM, node);
    for (int i = 0; i < CPU_SETSIZE && code == MPI_SUCCESS; ++i) {
        n += mine[i];
        sum += mine[i] ? 1.0 / all[i] : 0;
    }
    (void)MPI_Comm_free(&node);
    *share = n > 0 ? sum / n : 1;
    return code;
}

static void version(char *out, size_t size) {
    char text[MPI_MAX_LIBRARY_VERSION_STRING + 1] = "";
    int length = 0;
    if (MPI_Get_library_version(text, &length) != MPI_SUCCESS)
        length = 0;
    (void)snprintf(out, size, "%.*s", length, text);
}

static int start(const int *given, weft_mpi **out, weft_mpi_place *place) {
    weft_mpi *mpi = calloc(1, sizeof *mpi);
    int is_running = 0, provided = MPI_THREAD_SINGLE, code = MPI_SUCCESS;
    *out = mpi;
    if (!mpi)
        return WEFT_MPI_MEMORY;
    keep_loaded();
    code = MPI_Initialized(&is_running);
    if (code == MPI_SUCCESS && !is_running) {
        code = MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided);
        mpi->has_started = code == MPI_SUCCESS;
    } else if (code == MPI_SUCCESS)
        code = MPI_Query_thread(&provided);
    if (code == MPI_SUCCESS && provided < MPI_THREAD_FUNNELED)
        return WEFT_MPI_THREADS;
    const MPI_Comm from = given ? MPI_Comm_f2c((MPI_Fint)*given) : MPI_COMM_WORLD;
    if (from == MPI_COMM_NULL)
        return WEFT_MPI_NONE;
    if (code == MPI_SUCCESS)
        code = MPI_Comm_dup(from, &mpi->comm);
    mpi->has_comm = code == MPI_SUCCESS;
    if (code == MPI_SUCCESS)
        code = MPI_Comm_set_errhandler(mpi->comm, MPI_ERRORS_RETURN);
    if (code == MPI_SUCCESS && mpi->has_started) { /* what MPICH takes for waiting */
        (void)MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        (void)MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    }
    if (code == MPI_SUCCESS)
        code = MPI_Comm_rank(mpi->comm, &place->rank);
    if (code == MPI_SUCCESS)
        code = MPI_Comm_size(mpi->comm, &place->size);
    mpi->size = place->size;
    return code == MPI_SUCCESS ? find_share(mpi->comm, place->rank, &place->share, &place->local) : code;
}

/* In pieces, through a buffer, as those of one rank are to stand together. */
static int gather_large(weft_mpi *mpi, const char *mine, size_t bytes, char *all) {
    const size_t n = (size_t)mpi->size, most = WEFT_MPI_PIECE / 16 / n + 1;
    char *buffer = malloc(n * most);
    int code = buffer ? MPI_SUCCESS : WEFT_MPI_MEMORY;
    for (size_t at = 0; at < bytes && code == MPI_SUCCESS; at += most) {
        const size_t piece = bytes - at < most ? bytes - at : most;
        code = MPI_Allgather(mine + at, (int)piece, MPI_BYTE, buffer, (int)piece, MPI_BYTE,
                             mpi->comm);
        for (size_t r = 0; r < n && code == MPI_SUCCESS; ++r)
            memcpy(all + r * bytes + at, buffer + r * piece, piece);
    }
    free(buffer);
    return code;
}

static int gather(weft_mpi *mpi, const void *mine, size_t bytes, void *all) {
    if (bytes > WEFT_MPI_PIECE / (size_t)mpi->size)
        return gather_large(mpi, mine, bytes, all);
    return MPI_Allgather(mine, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, mpi->comm);
}

static int make_room(weft_mpi *mpi) {
    const int room = mpi->room > 0 ? 2 * mpi->room : FIRST_ROOM;
    MPI_Request *requests = realloc(mpi->requests, (size_t)room * sizeof *requests);
    if (requests)
        mpi->requests = requests;
    int *lengths = realloc(mpi->lengths, (size_t)room * sizeof *lengths);
    if (lengths)
        mpi->lengths = lengths;
    if (!requests || !lengths)
        return WEFT_MPI_MEMORY;
    mpi->room = room;
    return MPI_SUCCESS;
}

/* Start a message in pieces, of which an empty one has one too. Pieces between two ranks arrive in their order. */
static int start_message(weft_mpi *mpi, int rank, char *bytes, size_t n, int is_sent) {
    int code = MPI_SUCCESS;
    size_t at = 0;
    do {
        const size_t rest = n - at, piece = rest < WEFT_MPI_PIECE ? rest : WEFT_MPI_PIECE;
        if (mpi->n == mpi->room)
            code = make_room(mpi);
        if (code != MPI_SUCCESS)
            break;
        MPI_Request *request = &mpi->requests[mpi->n];
        code = is_sent ? MPI_Isend(bytes + at, (int)piece, MPI_BYTE, rank, TAG, mpi->comm, request)
                       : MPI_Irecv(bytes + at, (int)piece, MPI_BYTE, rank, TAG, mpi->comm, request);
        if (code == MPI_SUCCESS)
            mpi->lengths[mpi->n++] = is_sent ? -1 : (int)piece;
        at += piece;
    } while (at < n && code == MPI_SUCCESS);
    return code;
}

static int send_bytes(weft_mpi *mpi, int rank, const void *bytes, size_t n) {
    return start_message(mpi, rank, (char *)(uintptr_t)bytes, n, 1);
}

static int receive_bytes(weft_mpi *mpi, int rank, void *bytes, size_t n) {
    return start_message(mpi, rank, bytes, n, 0);
}

/* One by one: MPI_Waitall of Open MPI 4.1 waits for ever where a message is too long. */
static int wait_all(weft_mpi *mpi) {
    int code = MPI_SUCCESS, class = MPI_SUCCESS;
    for (int i = 0; i < mpi->n && code == MPI_SUCCESS; ++i) {
        MPI_Status status;
        int length = 0;
        code = MPI_Wait(&mpi->requests[i], &status);
        if (code == MPI_SUCCESS && mpi->lengths[i] >= 0)
            code = MPI_Get_count(&status, MPI_BYTE, &length);
        if (code == MPI_SUCCESS && mpi->lengths[i] >= 0 && length != mpi->lengths[i])
            code = MPI_ERR_TRUNCATE;
    }
    mpi->n = 0; /* after an error all is abandoned */
    if (code != MPI_SUCCESS && MPI_Error_class(code, &class) == MPI_SUCCESS &&
        class == MPI_ERR_TRUNCATE)
        return WEFT_MPI_LENGTH;
    return code;
}

static const void *communicator(const weft_mpi *mpi) {
    return &mpi->comm;
}

static void explain(int code, char *out, size_t size) {
    char text[MPI_MAX_ERROR_STRING + 1] = "";
    int length = 0;
    if (MPI_Error_string(code, text, &length) != MPI_SUCCESS)
        length = snprintf(text, sizeof text, "error %d", code);
    (void)snprintf(out, size, "%.*s", length, text);
}

/* Of the world: for another communicator, MPICH ends the calling process only. */
static void abort_all(weft_mpi *mpi, int exit_code) {
    (void)mpi;
    (void)MPI_Abort(MPI_COMM_WORLD, exit_code);
}

static void stop(weft_mpi *mpi) {
    if (mpi->has_comm)
        (void)MPI_Comm_free(&mpi->comm);
    if (mpi->has_started)
        (void)MPI_Finalize();
    free(mpi->requests);
    free(mpi->lengths);
    free(mpi);
}

/** The entry: arguments[0] is a weft_mpi_plugin to be filled. */
void weft_plugin_open(void *const *arguments, int64_t n, int64_t first, int64_t last);
void weft_plugin_open(void *const *arguments, int64_t n, int64_t first, int64_t last) {
    weft_mpi_plugin *out = arguments[0];
    (void)n, (void)first, (void)last;
    *out = (weft_mpi_plugin){start,        version,      gather,  send_bytes, receive_bytes, wait_all,
                             communicator, explain, abort_all,  stop};
}
