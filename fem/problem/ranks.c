/* Joins the problem on the part of a rank with that on the whole mesh, which the first rank has. */
#include "core/base/fault.h"
#include "fem/mesh/part.h"
#include "fem/problem/problem.h"
#include "fem/space/layout.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void weft_problem_divide(weft_problem *problem, const weft_problem_ranks *ranks) {
    problem->ranks = *ranks;
}

void weft_problem_expect(weft_problem *part, const weft_problem_options *options, double solves,
                         double length) {
    weft_problem_ranks *ranks = &part->ranks;
    ranks->options = options;
    ranks->solves = solves;
    ranks->length = length;
    ranks->is_prepared = false;
}

weft_status weft_problem_find_whole(weft_problem *part, weft_problem **out, weft_error *error) {
    *out = NULL;
    return part->ranks.whole ? part->ranks.whole(part->ranks.user, out, error)
                             : weft_error_set(error, WEFT_ERROR_INTERNAL,
                                              "the problem of a part does not know that of the "
                                              "whole");
}

/* What energy, balances and constraints need, without a matrix. */
static weft_status prepare(weft_problem *whole, const weft_problem_ranks *by, weft_error *error) {
    weft_status status = WEFT_OK;
    if (whole->steps.t) {
        TRY(weft_problem_start_steps(whole, by->options, by->solves, by->length, error));
        goto done;
    }
    TRY(weft_problem_start_solve(whole, by->options, by->solves, error));
    TRY(weft_problem_assemble_lightly(whole, error));
done:
    return status;
}

/* A weft_problem_ranks.whole: prepared when it is first asked for, as many solves do not need it before their end. */
static weft_status find_joined(void *user, weft_problem **out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_problem *part = user;
    weft_problem_ranks *ranks = &part->ranks;
    if (!ranks->is_prepared) {
        if (ranks->joined)
            status = prepare(ranks->joined, ranks, error);
        TRY(weft_comm_agree(part->context->comm, status, error));
    }
    ranks->is_prepared = true;
    *out = ranks->joined;
done:
    return status;
}

void weft_problem_join(weft_problem *part, weft_problem *whole) {
    part->ranks = (weft_problem_ranks){.whole = find_joined, .user = part, .joined = whole};
}

weft_status weft_problem_share_out(weft_context *context, const weft_problem *whole,
                                   const weft_mesh *mesh, weft_rank_share **out,
                                   weft_error *error) {
    weft_ranks_work work = {.assembly = WEFT_AUTO};
    for (int i = 0; whole && i < whole->fields.n; ++i) {
        const weft_space *space =
            whole->fields.list[i].space; /* NULL: it is made later, of degree 1 */
        const int degree = space ? weft_space_element(space)->degree : 1;
        work.degree = degree > work.degree ? degree : work.degree;
    }
    if (whole)
        work.components = weft_problem_components(whole);
    if (whole && whole->system.linear.options) /* else they come with the solve */
        work.assembly = whole->system.linear.options->assembly;
    return weft_ranks_share_out(context, mesh, &work, out, error);
}

weft_status weft_problem_take_part(weft_comm *comm, weft_problem *whole, const weft_mesh *mesh,
                                   weft_mesh **out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_part_cells more = {NULL};
    if (whole && whole->declared.n > 0)
        status = weft_fields_conditions_make(&whole->fields, error);
    TRY(weft_comm_agree(comm, status, error));
    TRY(weft_problem_reach(whole, comm, mesh, &more, error));
    TRY(weft_mesh_take_part(comm, mesh, &more, out, error));
done:
    if (whole) /* solves make them again */
        weft_problem_clear_conditions(whole);
    free(more.list);
    return status;
}

const int32_t *weft_part_numbers(const weft_mesh *part, bool of_cells) {
    return of_cells ? part->part->cells : part->part->nodes;
}

/* ---- u --------------------------------------------------------------------------------------- */

/* The amounts of modes that weak terms hold, and u without them. */
static weft_status collect_held(const weft_problem *part, weft_problem *whole, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_held_modes *held = &part->system.modes.held;
    if (!part->system.rest)
        goto done;
    if (whole && !whole->system.rest)
        whole->system.rest = malloc((size_t)whole->fields.n_dofs * sizeof(double));
    if (whole && !whole->system.rest)
        TRY(weft_out_of_memory(error, NULL));
    TRY(weft_layout_collect(part->fields.spaces, part->fields.n, part->system.rest,
                            whole ? whole->fields.spaces : NULL, whole ? whole->system.rest : NULL,
                            error));
    if (whole)
        memcpy(whole->system.modes.held.amounts, held->amounts,
               (size_t)held->n * sizeof *held->amounts);
done:
    return status;
}

weft_status weft_problem_collect(weft_problem *part, weft_problem *whole, weft_error *error) {
    weft_status status = WEFT_OK;
    const double *values = NULL;
    if (!weft_fault("mean_kept"))
        TRY(weft_problem_pull(part, &values, error)); /* without the means of open components */
    TRY(weft_layout_update(part->fields.layout, part->system.u,
                           error)); /* a method may leave copies behind */
    TRY(weft_layout_collect(part->fields.spaces, part->fields.n, part->system.u_values,
                            whole ? whole->fields.spaces : NULL,
                            whole ? whole->system.u_values : NULL, error));
    TRY(collect_held(part, whole, error));
    if (!whole)
        goto done;
    TRY(weft_vector_push(whole->system.u, whole->system.u_values, whole->fields.n_dofs, error));
done:
    return status;
}

weft_status weft_problem_spread(weft_problem *part, weft_problem *whole, weft_error *error) {
    part->has_initial = true;
    return weft_layout_spread(part->fields.spaces, part->fields.n,
                              whole ? whole->fields.spaces : NULL,
                              whole ? whole->system.u_values : NULL, part->system.u_values, error);
}

/* ---- reports --------------------------------------------------------------------------------- */

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

weft_status weft_ranks_compare(weft_comm *comm, const weft_mesh *part, double assembly,
                               double solve, weft_ranks_report *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const int n = weft_comm_size(comm), rank = weft_comm_rank(comm);
    const int64_t *starts = part->part->starts;
    const share_of_work mine = {starts[rank + 1] - starts[rank], part->n_nodes, part->n_cells,
                                assembly, solve};
    share_of_work *all = calloc((size_t)n, sizeof *all);
    if (!all)
        TRY(weft_out_of_memory(error, "ranks"));
    TRY(weft_comm_gather(comm, &mine, sizeof mine, all, error));
    *out = (weft_ranks_report){n,
                               weft_comm_kind(comm),
                               {all->own_nodes, all->own_nodes},
                               {all->nodes, all->nodes},
                               {all->cells, all->cells},
                               {all->assembly, all->assembly},
                               {all->solve, all->solve},
                               .divide = out->divide,
                               .join = out->join,
                               .shares = out->shares};
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

static void print_range(const char *what, const int64_t bounds[2], weft_text *out) {
    weft_text_add(out, "%lld", (long long)bounds[0]);
    if (bounds[0] != bounds[1])
        weft_text_add(out, " to %lld", (long long)bounds[1]);
    weft_text_add(out, " %s", what);
}

void weft_ranks_report_print(const weft_ranks_report *report, weft_text *out) {
    if (report->n == 0)
        return;
    weft_text_add(out, "ranks       %d, by %s: each owns ", report->n, report->kind);
    print_range("nodes", report->own_nodes, out);
    weft_text_add(out, " and has ");
    print_range("cells\n", report->cells, out);
    if (report->shares)
        weft_ranks_shares_print(report->shares, report->n, out);
}
