/* Starts the ranks of a program, and ends them together. */
#include "apps/common/ranks.h"
#include "apps/common/support.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- checks ---------------------------------------------------------------------------------- */

static weft_status refuse_tuning(weft_error *error) {
    weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                   "measured plans are not computed on several ranks yet");
    weft_error_location(error, "--tune", NULL, 0, 0);
    weft_error_hint(error, "leave out --ranks, and mpirun");
    return WEFT_ERROR_UNSUPPORTED;
}

static weft_status refuse_both(const weft_processes *launch, weft_error *error) {
    weft_error_set(error, WEFT_ERROR_USAGE, "each of the %d processes (%s) is a rank", launch->size,
                   launch->variable);
    weft_error_location(error, "--ranks", NULL, 0, 0);
    weft_error_hint(error, "leave out --ranks, or mpirun");
    return WEFT_ERROR_USAGE;
}

weft_status app_ranks_check(app_run_options *run, const weft_processes *launch, weft_error *error) {
    if (run->ranks == 0 && launch->size == 1 && weft_comm_devices(run->device) > 1)
        run->ranks = weft_comm_devices(run->device);
    if (weft_comm_devices_differ(run->device) && run->mesh.ordering == APP_ORDERING_AUTO)
        run->mesh.ordering = APP_ORDERING_BISECTION; /* of all ranks, as on GPUs */
    if (run->ranks > 0 && launch->size > 1)
        return refuse_both(launch, error);
    if (run->ranks == 0 && launch->size == 1)
        return WEFT_OK;
    if (run->solver.tune > 0)
        return refuse_tuning(error);
    return weft_comm_devices_check(run->device, run->ranks, error);
}

/* ---- threads --------------------------------------------------------------------------------- */

/* A rank besides the first, which is the calling thread. */
typedef struct rank_thread {
    pthread_t thread;
    weft_comm *comm;
    app_rank_steps *steps;
    void *user;
    app_messages messages;
    weft_error error;
    weft_status status;
} rank_thread;

static void *run_rank(void *user) {
    rank_thread *rank = user;
    rank->status = rank->steps(rank->user, rank->comm, &rank->messages.monitor, &rank->error);
    if (rank->status != WEFT_OK)
        weft_comm_abandon(rank->comm, &rank->error);
    return NULL;
}

/* Did another rank's failure end this one? */
static bool is_of_another(const weft_error *error) {
    return strncmp(error->message, "rank ", 5) == 0;
}

static weft_status start_rank(rank_thread *rank, const char *program, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(app_messages_make(&rank->messages, program, stderr, APP_QUIET, error));
    if (pthread_create(&rank->thread, NULL, run_rank, rank) != 0)
        status = weft_error_set(error, WEFT_ERROR_DEVICE, "no thread for rank %d",
                                weft_comm_rank(rank->comm));
done:
    return status;
}

/* Of a failure that another rank has caused, the one of that rank. */
static weft_status cause_of(weft_status status, const rank_thread *ranks, int n,
                            weft_error *error) {
    for (int r = 1; r < n && (status == WEFT_OK || is_of_another(error)); ++r)
        if (ranks[r].status != WEFT_OK && !is_of_another(&ranks[r].error)) {
            *error = ranks[r].error;
            status = ranks[r].status;
        }
    return status;
}

static weft_status prepare(const app_run_options *options, weft_comm *comm, weft_error *error) {
    if (options->exchange)
        weft_comm_stage(comm);
    return weft_comm_share_text(comm, options->shares, error);
}

static weft_status run_threads(const app_run_options *options, const char *program,
                               app_rank_steps *steps, void *user, weft_error *error) {
    weft_status status = WEFT_OK;
    const int n = options->ranks;
    weft_comm **comms = calloc((size_t)n, sizeof *comms);
    rank_thread *ranks = calloc((size_t)n, sizeof *ranks);
    int n_started = 1;
    if (!comms || !ranks)
        TRY(weft_out_of_memory(error, "ranks"));
    TRY(weft_comm_threads_make(n, comms, error));
    for (int r = 0; r < n; ++r)
        TRY(prepare(options, comms[r], error));
    for (; n_started < n; ++n_started) {
        ranks[n_started].comm = comms[n_started];
        ranks[n_started].steps = steps;
        ranks[n_started].user = user;
        TRY(start_rank(&ranks[n_started], program, error));
    }
    TRY(steps(user, comms[0], NULL, error));
done:
    if (status != WEFT_OK && comms && comms[0])
        weft_comm_abandon(comms[0], error);
    for (int r = 1; r < n_started && ranks; ++r)
        pthread_join(ranks[r].thread, NULL);
    if (ranks && n_started == n)
        status = cause_of(status, ranks, n, error);
    for (int r = 0; r < n && comms; ++r)
        weft_comm_free(&comms[r]);
    free(comms);
    free(ranks);
    return status;
}

weft_status app_ranks_run(const app_run_options *options, weft_comm *processes, const char *program,
                          app_rank_steps *steps, void *user, weft_error *error) {
    weft_status status = WEFT_OK;
    if (options->ranks > 0) {
        status = run_threads(options, program, steps, user, error);
        goto done;
    }
    TRY(prepare(options, processes, error));
    TRY(steps(user, processes, NULL, error));
done:
    return status;
}

/* ---- processes ------------------------------------------------------------------------------- */

/* The same error often occurs on all ranks: the first one reports it, and ends the others while they wait. */
enum { PATIENCE = 1500000 }; /* microseconds */

int app_ranks_fail(const weft_processes *launch, bool is_common, app_messages *messages,
                   weft_comm *comm, const weft_error *error) {
    weft_error named = *error;
    if (launch->rank > 0) {
        (void)usleep(PATIENCE);
        if (is_common)
            return weft_status_exit_code(error->status);
        (void)snprintf(named.message, sizeof named.message, "rank %d: %.1000s", launch->rank,
                       error->message);
    }
    const int code = app_messages_fail(messages, &named);
    weft_comm_abandon(comm, &named);
    return code;
}

/* ---- signals --------------------------------------------------------------------------------- */

bool app_rank_is_signalled(const weft_comm *comm) {
    return weft_comm_rank(comm) == 0 || strcmp(weft_comm_kind(comm), "threads") != 0;
}

weft_status app_ranks_stop(weft_comm *comm, int *out, weft_error *error) {
    double number = app_rank_is_signalled(comm) ? app_stop_caught() : 0;
    const weft_status status = weft_comm_maximum(comm, &number, error);
    *out = (int)number;
    return status;
}
