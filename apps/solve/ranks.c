/* Runs a problem on several ranks, which are threads of this process or processes of mpirun: each assembles and solves on its part
 * of the mesh, and the first one continues with the solution on the whole mesh. */
#include "apps/solve/solve.h"
#include "fem/mesh/part.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    const weft_ranks_work work = {base->work.degree, base->work.components,
                                  base->options->solver.assembly};
    weft_part_cells more = {NULL};
    if (!run->comm)
        goto done;
    run->whole = base->mesh;
    run->whole_made = base->mesh_made;
    base->mesh = NULL;
    base->mesh_made.hierarchy = NULL; /* whole_made has it */
    base->mesh_made.copies = (weft_mesh_copies){0};
    TRY(weft_ranks_share_out(&base->context, whole, &work, &run->ranks.shares, error));
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
    run->all->ranks.shares = NULL;
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

void solve_ranks_print(const solve *run) {
    weft_text text = {0};
    weft_ranks_report_print(&run->ranks, &text);
    if (text.data && !text.failed)
        fputs(text.data, stdout);
    weft_text_free(&text);
}

static json_t *list_shares(const weft_ranks_report *r) {
    json_t *list = json_array();
    for (int i = 0; i < (r->shares ? r->n : 0); ++i)
        if (json_array_append_new(list, json_pack("{s:s, s:f, s:f, s:f}", "device",
                                                  r->shares[i].device, "share", r->shares[i].share,
                                                  "predicted", r->shares[i].seconds,
                                                  "predicted_alone", r->shares[i].alone)) != 0)
            return NULL;
    return list;
}

bool solve_ranks_json(const solve *run, json_t *root) {
    const weft_ranks_report *r = &run->ranks;
    return r->n == 0 ||
           app_json_set(
               root, "ranks",
               json_pack("{s:i, s:s, s:[I,I], s:[I,I], s:[I,I], s:[f,f], s:[f,f], s:f, s:f, s:o}",
                         "number", r->n, "kind", r->kind, "own_nodes", (json_int_t)r->own_nodes[0],
                         (json_int_t)r->own_nodes[1], "nodes", (json_int_t)r->nodes[0],
                         (json_int_t)r->nodes[1], "cells", (json_int_t)r->cells[0],
                         (json_int_t)r->cells[1], "assembly", r->assembly[0], r->assembly[1],
                         "solve", r->solve[0], r->solve[1], "divide", r->divide, "join", r->join,
                         "shares", list_shares(r)));
}

/* What the part has counted and knows of the solve; its steps in time become those of the whole. */
static void move_results(solve *run, solve *all) {
    const weft_context *from = &run->base.context;
    weft_context *to = &all->base.context;
    all->ranks = run->ranks;
    run->ranks.shares = NULL;
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
    TRY(weft_ranks_compare(run->comm, run->base.mesh, run->base.seconds.assembly,
                           run->base.seconds.solve, &run->ranks, error));
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

/* An app_rank_steps of a run that has made nothing yet. */
static weft_status run_rank(void *user, weft_comm *comm, const weft_monitor *monitor,
                            weft_error *error) {
    weft_status status = WEFT_OK;
    const solve *given = user;
    solve *run = given->first, own;
    if (monitor) {
        own = *given;
        own.base.monitor = monitor;
        run = &own;
    }
    run->comm = comm;
    if (comm)
        weft_comm_device(comm, run->options->run.device, run->base.device_name,
                         sizeof run->base.device_name);
    status = solve_run_steps(run, error);
    if (monitor)
        solve_run_clear(&own);
    return status;
}

weft_status solve_on_ranks(solve *run, weft_comm *processes, weft_error *error) {
    solve given = *run; /* other ranks start from it, while the first one runs */
    given.first = run;
    const weft_status status =
        app_ranks_run(&run->options->run, processes, run->program->name, run_rank, &given, error);
    run->comm = NULL;
    return status;
}
