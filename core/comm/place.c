/* Where ranks are: processes that a launcher has started, and the device of each. */
#include "core/weft_comm.h"

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

static weft_status refuse(const char *what, weft_error *error) {
    weft_error_set(error, WEFT_ERROR_UNSUPPORTED, "%s not computed on several ranks yet", what);
    weft_error_location(error, "--device", NULL, 0, 0);
    weft_error_hint(error, "leave out --ranks, and mpirun");
    return WEFT_ERROR_UNSUPPORTED;
}

weft_status weft_comm_devices_check(const char *asked, int n_ranks, weft_error *error) {
    const char *list = resolve(asked);
    const int n = weft_comm_devices(list);
    if (!list || (n == 1 && strncmp(list, "host", 4) == 0))
        return WEFT_OK;
    for (int i = 0; i < n; ++i) {
        char name[64];
        name_of(list, i, name, sizeof name);
        if (!is_gpu(name))
            return refuse(n > 1 ? "lists of devices besides GPUs are" : "this device is", error);
    }
    if (n == 1 || n_ranks == 0 || n == n_ranks)
        return WEFT_OK;
    weft_error_set(error, WEFT_ERROR_USAGE, "%d devices for %d ranks", n, n_ranks);
    weft_error_location(error, "--device", NULL, 0, 0);
    weft_error_hint(error, "name one for each rank, or leave out --ranks");
    return WEFT_ERROR_USAGE;
}

/* The GPU of a rank: the one that a list names for it; of "cuda", the one with its number among the ranks of the machine. */
static void name_gpu(const char *list, const weft_comm *comm, char *out, size_t size) {
    const char *rest = strchr(list, ':');
    const int n = weft_comm_devices(list);
    if (n > 1)
        name_of(list, weft_comm_rank(comm) % n, out, size);
    else if (rest && rest[1] >= '0' && rest[1] <= '9')
        (void)snprintf(out, size, "%s", list);
    else
        (void)snprintf(out, size, "cuda:%d%s", weft_comm_local_rank(comm), rest ? rest : "");
}

void weft_comm_device(const weft_comm *comm, const char *asked, char *out, size_t size) {
    const char *list = resolve(asked);
    if (is_gpu(list))
        name_gpu(list, comm, out, size);
    else if (list && strncmp(list, "host:", 5) == 0)
        (void)snprintf(out, size, "%s", list);
    else
        (void)snprintf(out, size, "host:%d", weft_comm_processors(comm));
}
