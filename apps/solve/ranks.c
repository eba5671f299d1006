/* Runs a problem on several ranks, which are threads of this process or processes of mpirun: each assembles and solves on its part
 * of the mesh, and the first one continues with the solution on the whole mesh. */
#include "apps/solve/solve.h"
#include "fem/mesh/part.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- what ranks cannot do yet ---------------------------------------------------------------- */

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

weft_status solve_ranks_check(solve_options *options, const weft_processes *launch,
                              weft_error *error) {
    app_run_options *run = &options->run;
    if (run->ranks == 0 && launch->size == 1 && weft_comm_devices(run->device) > 1)
        run->ranks = weft_comm_devices(run->device);
    if (run->ranks > 0 && launch->size > 1)
        return refuse_both(launch, error);
    if (run->ranks == 0 && launch->size == 1)
        return WEFT_OK;
    if (run->solver.tune > 0)
        return refuse_tuning(error);
    return weft_comm_devices_check(run->device, run->ranks, error);
}

/* ---- the whole mesh -------------------------------------------------------------------------- */

/* A weft_problem_ranks. */
static weft_status find_whole(void *user, weft_problem **out, weft_error *error) {
    solve *run = user;
    const weft_status status = solve_whole_make(run, error);
    *out = run->all ? run->all->base.problem : NULL;
    return status;
}

/* Cells that ranks need besides, for constraints and integrals between cells. */
static weft_status reach(solve *run, const weft_mesh *whole, weft_part_cells *out,
                         weft_error *error) {
    weft_status status = WEFT_OK;
    weft_problem *problem = NULL;
    if (!app_has_constraints(run->base.options)) {
        status = weft_problem_reach_behind(run->base.problem, run->comm, whole, out, error);
        goto done;
    }
    TRY(find_whole(run, &problem, error));
    TRY(weft_problem_reach(problem, run->comm, whole, out, error));
done:
    return status;
}

weft_status solve_take_part(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    app_run *base = &run->base;
    weft_mesh *part = NULL;
    const double start = weft_clock();
    const weft_mesh *whole = base->mesh;
    const weft_problem_ranks ranks = {.whole = find_whole, .user = run};
    weft_part_cells more = {NULL};
    if (!run->comm)
        goto done;
    run->whole = base->mesh;
    run->whole_made = base->mesh_made;
    base->mesh = NULL;
    base->mesh_made.hierarchy = NULL; /* whole_made has it */
    base->mesh_made.copies = (weft_mesh_copies){0};
    TRY(reach(run, whole, &more, error));
    TRY(weft_mesh_take_part(run->comm, whole, &more, &part, error));
    weft_problem_divide(base->problem, &ranks);
    base->mesh = part;
    weft_problem_set_mesh(base->problem, part);
    weft_problem_set_hierarchy(base->problem, run->whole_made.hierarchy);
    weft_data_free(&base->data);
    TRY(weft_data_make(base->device, part, &base->data, error));
    base->context.data = base->data;
    run->ranks.divide = weft_clock() - start;
    base->seconds.mesh += run->ranks.divide;
done:
    free(more.list);
    return status;
}

/* The same problem on the whole mesh, which shares the device and the library. */
static weft_status start_whole(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    solve *all = run->all;
    app_run *base = &all->base;
    all->comm = NULL;
    all->script = (solve_script){0};
    all->exact = NULL;
    all->time = (solve_time){.state = run->time.state};
    base->problem = NULL;
    base->mesh = run->whole;
    base->mesh_made = run->whole_made;
    base->data = NULL;
    base->pieces = (app_pieces){0};
    base->context.comm = NULL;
    base->context.plan_seconds = base->context.compile_seconds = 0;
    base->context.n_kernels = 0;
    base->context.tuning = NULL;
    run->whole = all->whole = NULL;
    TRY(weft_problem_start(&base->context, &base->options->solver, &base->problem, error));
    if (all->options->script)
        TRY(solve_script_read(all, error));
    weft_problem_set_mesh(base->problem, base->mesh);
    TRY(weft_data_make(base->device, base->mesh, &base->data, error));
    base->context.data = base->data;
done:
    return status;
}

weft_status solve_whole_make(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    if (!run->comm || weft_comm_rank(run->comm) > 0 || run->all)
        goto done;
    run->all = malloc(sizeof *run->all);
    if (!run->all)
        TRY(weft_out_of_memory(error, "the whole of a mesh"));
    *run->all = *run;
    run->all->all = NULL;
    TRY(start_whole(run, error));
    TRY(solve_problem_make(run->all, error));
    TRY(run->options->time.text ? solve_time_start(run->all, error)
                                : weft_problem_assemble_lightly(run->all->base.problem, error));
    TRY(solve_show_make(run->all, error));
done:
    return status;
}

solve *solve_shown(solve *run) {
    return run->all ? run->all : run;
}

void solve_whole_free(solve *run) {
    solve *all = run->all;
    if (!all)
        return;
    all->base.device = NULL; /* those of the part */
    all->base.library = NULL;
    solve_run_clear(all);
    free(all);
    run->all = NULL;
}

weft_status solve_whole_update(solve *run, weft_error *error) {
    return run->comm ? weft_problem_collect(run->base.problem,
                                            run->all ? run->all->base.problem : NULL, error)
                     : WEFT_OK;
}

/* What a rank tells the first one of its part. */
typedef struct share_of_work {
    int64_t own_nodes, nodes, cells;
    double assembly, solve;
} share_of_work;

static void widen(int64_t bounds[2], int64_t value) {
    bounds[0] = value < bounds[0] ? value : bounds[0];
    bounds[1] = value > bounds[1] ? value : bounds[1];
}

static void widen_seconds(double bounds[2], double value) {
    bounds[0] = fmin(value, bounds[0]);
    bounds[1] = fmax(value, bounds[1]);
}

static weft_status compare_ranks(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_mesh *mesh = run->base.mesh;
    const int n = weft_comm_size(run->comm), rank = weft_comm_rank(run->comm);
    const int64_t *starts = mesh->part->starts;
    const share_of_work mine = {starts[rank + 1] - starts[rank], mesh->n_nodes, mesh->n_cells,
                                run->base.seconds.assembly, run->base.seconds.solve};
    solve_ranks *out = &run->ranks;
    share_of_work *all = calloc((size_t)n, sizeof *all);
    if (!all)
        TRY(weft_out_of_memory(error, "ranks"));
    TRY(weft_comm_gather(run->comm, &mine, sizeof mine, all, error));
    *out = (solve_ranks){n,
                         weft_comm_kind(run->comm),
                         {all->own_nodes, all->own_nodes},
                         {all->nodes, all->nodes},
                         {all->cells, all->cells},
                         {all->assembly, all->assembly},
                         {all->solve, all->solve},
                         .divide = out->divide};
    for (int r = 1; r < n; ++r) {
        widen(out->own_nodes, all[r].own_nodes);
        widen(out->nodes, all[r].nodes);
        widen(out->cells, all[r].cells);
        widen_seconds(out->assembly, all[r].assembly);
        widen_seconds(out->solve, all[r].solve);
    }
done:
    free(all);
    return status;
}

static void print_range(const char *what, const int64_t bounds[2]) {
    if (bounds[0] == bounds[1])
        printf("%" PRId64 " %s", bounds[0], what);
    else
        printf("%" PRId64 " to %" PRId64 " %s", bounds[0], bounds[1], what);
}

void solve_ranks_print(const solve *run) {
    const solve_ranks *ranks = &run->ranks;
    if (ranks->n == 0)
        return;
    printf("ranks       %d, by %s: each owns ", ranks->n, ranks->kind);
    print_range("nodes", ranks->own_nodes);
    printf(" and has ");
    print_range("cells\n", ranks->cells);
}

bool solve_ranks_json(const solve *run, json_t *root) {
    const solve_ranks *r = &run->ranks;
    return r->n == 0 ||
           app_json_set(
               root, "ranks",
               json_pack("{s:i, s:s, s:[I,I], s:[I,I], s:[I,I], s:[f,f], s:[f,f], s:f, s:f}",
                         "number", r->n, "kind", r->kind, "own_nodes", (json_int_t)r->own_nodes[0],
                         (json_int_t)r->own_nodes[1], "nodes", (json_int_t)r->nodes[0],
                         (json_int_t)r->nodes[1], "cells", (json_int_t)r->cells[0],
                         (json_int_t)r->cells[1], "assembly", r->assembly[0], r->assembly[1],
                         "solve", r->solve[0], r->solve[1], "divide", r->divide, "join", r->join));
}

/* What the part has counted and knows of the solve; its steps in time become those of the whole. */
static void move_results(solve *run, solve *all) {
    const weft_context *from = &run->base.context;
    weft_context *to = &all->base.context;
    all->ranks = run->ranks;
    all->base.seconds = run->base.seconds;
    to->plan_seconds += from->plan_seconds;
    to->compile_seconds += from->compile_seconds;
    to->n_kernels += from->n_kernels;
    all->base.preconditioner_in_time = run->base.preconditioner_in_time;
    all->time = run->time;
    run->time = (solve_time){.transient = NULL};
    weft_problem_move_results(run->base.problem, all->base.problem);
}

weft_status solve_join_parts(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const double start = weft_clock();
    TRY(compare_ranks(run, error));
    TRY(solve_whole_make(run, error));
    TRY(solve_whole_update(run, error));
    if (run->all) {
        move_results(run, run->all);
        run->all->ranks.join = weft_clock() - start;
    }
done:
    return status;
}

/* ---- the ranks ------------------------------------------------------------------------------- */

/* A rank besides the first, which is the calling thread. */
typedef struct rank_thread {
    pthread_t thread;
    solve run;
    app_messages messages;
    weft_error error;
    weft_status status;
} rank_thread;

static void *run_rank(void *user) {
    rank_thread *rank = user;
    rank->status = solve_run_steps(&rank->run, &rank->error);
    if (rank->status != WEFT_OK)
        weft_comm_abandon(rank->run.comm, &rank->error);
    solve_run_clear(&rank->run);
    return NULL;
}

void solve_ranks_name_device(solve *run) {
    if (run->comm)
        weft_comm_device(run->comm, run->options->run.device, run->base.device_name,
                         sizeof run->base.device_name);
}

/* Did another rank's failure end this one? */
static bool is_of_another(const weft_error *error) {
    return strncmp(error->message, "rank ", 5) == 0;
}

static weft_status start_rank(rank_thread *rank, const solve *first, weft_comm *comm,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    rank->run = *first; /* nothing has been made yet */
    rank->run.comm = comm;
    solve_ranks_name_device(&rank->run);
    TRY(app_messages_make(&rank->messages, first->program->name, stderr, APP_QUIET, error));
    rank->run.base.monitor = &rank->messages.monitor;
    if (pthread_create(&rank->thread, NULL, run_rank, rank) != 0)
        status =
            weft_error_set(error, WEFT_ERROR_DEVICE, "no thread for rank %d", weft_comm_rank(comm));
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

weft_status solve_on_ranks(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const int n = run->options->run.ranks;
    weft_comm **comms = calloc((size_t)n, sizeof *comms);
    rank_thread *ranks = calloc((size_t)n, sizeof *ranks);
    int n_started = 1;
    if (!comms || !ranks)
        TRY(weft_out_of_memory(error, "ranks"));
    TRY(weft_comm_threads_make(n, comms, error));
    for (int r = 0; r < n && run->options->run.exchange; ++r)
        weft_comm_stage(comms[r]);
    for (; n_started < n; ++n_started)
        TRY(start_rank(&ranks[n_started], run, comms[n_started], error));
    run->comm = comms[0];
    solve_ranks_name_device(run);
    TRY(solve_run_steps(run, error));
done:
    if (status != WEFT_OK && comms && comms[0])
        weft_comm_abandon(comms[0], error);
    for (int r = 1; r < n_started && ranks; ++r)
        pthread_join(ranks[r].thread, NULL);
    if (ranks && n_started == n)
        status = cause_of(status, ranks, n, error);
    run->comm = NULL;
    for (int r = 0; r < n && comms; ++r)
        weft_comm_free(&comms[r]);
    free(comms);
    free(ranks);
    return status;
}

/* ---- processes ------------------------------------------------------------------------------- */

/* The same error often occurs on all ranks: the first one reports it, and ends the others while they wait. */
enum { PATIENCE = 1500000 }; /* microseconds */

int solve_ranks_fail(const weft_processes *launch, bool is_common, app_messages *messages,
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
