/* Where ranks are: processes that a launcher has started, and the device of each. */
#include "core/comm/comm.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

weft_processes weft_processes_find(void) {
    /* A batch script of Slurm has SLURM_NTASKS too; only srun sets the one below, also for mpirun's own daemons. */
    static const struct {
        const char *size, *rank;
    } variables[] = {{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
                     {"PMI_SIZE", "PMI_RANK"},
                     {"MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_RANK"},
                     {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID"}};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; ++i) {
        const char *size = getenv(variables[i].size), *rank = getenv(variables[i].rank);
        const long n = size ? strtol(size, NULL, 10) : 0;
        if (n > 0 && n <= INT_MAX)
            return (weft_processes){(int)n, rank && n > 1 ? (int)strtol(rank, NULL, 10) : 0,
                                    variables[i].size};
    }
    return (weft_processes){.size = 1};
}

/* ---- devices --------------------------------------------------------------------------------- */

static bool is_gpu(const char *name) {
    return name && (strncmp(name, "cuda", 4) == 0 || strncmp(name, "gpu", 3) == 0);
}

/* What the user asks for, by name or environment; NULL: nothing. */
static const char *resolve(const char *asked) {
    const char *variable = getenv("WEFT_DEVICE");
    if (asked && strcmp(asked, "auto") != 0)
        return asked;
    return variable && variable[0] && strcmp(variable, "auto") != 0 ? variable : NULL;
}

int weft_comm_devices(const char *asked) {
    int n = 1;
    for (const char *at = resolve(asked); at && (at = strchr(at, ',')); ++at)
        ++n;
    return n;
}

/* Copy name number i of a list. */
static void name_of(const char *list, int i, char *out, size_t size) {
    while (i-- > 0)
        list = strchr(list, ',') + 1;
    (void)snprintf(out, size, "%.*s", (int)strcspn(list, ","), list);
}

static bool is_host(const char *name) {
    return name && strncmp(name, "host", 4) == 0;
}

/* The number of a GPU. */
static long number_of(const char *name) {
    const char *rest = strchr(name, ':');
    return rest ? strtol(rest + 1, NULL, 10) : 0;
}

/* How many names of a list are those of GPUs. */
static int count_gpus(const char *list) {
    char name[64];
    int found = 0;
    for (int i = 0; i < weft_comm_devices(list); ++i) {
        name_of(list, i, name, sizeof name);
        found += is_gpu(name);
    }
    return found;
}

bool weft_comm_devices_differ(const char *asked) {
    const char *list = resolve(asked);
    const int n = weft_comm_devices(list), gpus = list ? count_gpus(list) : 0;
    return gpus > 0 && gpus < n;
}

static weft_status complain(weft_status status, const char *message, const char *hint,
                            weft_error *error) {
    weft_error_set(error, status, "%s", message);
    weft_error_location(error, "--device", NULL, 0, 0);
    weft_error_hint(error, "%s", hint);
    return status;
}

static weft_status refuse(const char *what, weft_error *error) {
    char message[128];
    (void)snprintf(message, sizeof message, "%s not computed on several ranks yet", what);
    return complain(WEFT_ERROR_UNSUPPORTED, message, "leave out --ranks, and mpirun", error);
}

/* Two names of a list that would be one device. */
static weft_status check_twice(const char *list, const char *a, const char *b, weft_error *error) {
    char message[128];
    const bool is_mixed = weft_comm_devices_differ(list);
    if (is_host(a) && is_host(b) && (number_of(a) < 1 || number_of(b) < 1))
        return complain(WEFT_ERROR_USAGE, "the host is there twice, with all of its processors",
                        "say how many threads each has: host:4,host:4", error);
    (void)snprintf(message, sizeof message, "%.60s is there twice", b);
    return is_mixed && is_gpu(a) && is_gpu(b) && number_of(a) == number_of(b)
               ? complain(WEFT_ERROR_USAGE, message, "name each GPU once", error)
               : WEFT_OK;
}

static weft_status check_list(const char *list, int n, weft_error *error) {
    weft_status status = WEFT_OK;
    char name[64], other[64];
    for (int i = 0; i < n; ++i) {
        name_of(list, i, name, sizeof name);
        if (!is_gpu(name) && !is_host(name))
            TRY(refuse(n > 1 ? "lists of devices besides GPUs and the host are" : "this device is",
                       error));
        for (int k = 0; k < i; ++k) {
            name_of(list, k, other, sizeof other);
            TRY(check_twice(list, other, name, error));
        }
    }
done:
    return status;
}

weft_status weft_comm_devices_check(const char *asked, int n_ranks, weft_error *error) {
    weft_status status = WEFT_OK;
    const char *list = resolve(asked);
    const int n = weft_comm_devices(list);
    char message[64];
    if (!list)
        goto done;
    TRY(check_list(list, n, error));
    if (n == 1 || n_ranks == 0 || n == n_ranks)
        goto done;
    (void)snprintf(message, sizeof message, "%d devices for %d ranks", n, n_ranks);
    TRY(complain(WEFT_ERROR_USAGE, message, "name one for each rank, or leave out --ranks", error));
done:
    return status;
}

/* The GPU of a rank: of "cuda", the one with its number among the ranks of the machine. */
static void name_gpu(const char *name, const weft_comm *comm, char *out, size_t size) {
    const char *rest = strchr(name, ':');
    if (rest && rest[1] >= '0' && rest[1] <= '9')
        (void)snprintf(out, size, "%s", name);
    else
        (void)snprintf(out, size, "cuda:%d%s", weft_comm_local_rank(comm), rest ? rest : "");
}

/* The device that a list names for a rank. Each GPU has a rank that starts its kernels, for which a rank on the host leaves a thread. */
static void name_listed(const char *list, weft_comm *comm, char *out, size_t size) {
    const int n = weft_comm_devices(list);
    const int threads = weft_comm_processors(NULL) - count_gpus(list);
    comm->mixed = weft_comm_devices_differ(list);
    comm->staged = comm->staged || comm->mixed;
    name_of(list, comm->rank % n, out, size);
    if (comm->mixed && strcmp(out, "host") == 0)
        (void)snprintf(out, size, "host:%d", threads > 1 ? threads : 1);
}

void weft_comm_device(weft_comm *comm, const char *asked, char *out, size_t size) {
    const char *list = resolve(asked);
    if (comm && weft_comm_devices(list) > 1)
        name_listed(list, comm, out, size);
    else if (is_gpu(list))
        name_gpu(list, comm, out, size);
    else if (list && strncmp(list, "host:", 5) == 0)
        (void)snprintf(out, size, "%s", list);
    else
        (void)snprintf(out, size, "host:%d", weft_comm_processors(comm));
}
