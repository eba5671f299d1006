/* Joins the problem on the part of a rank with that on the whole mesh, which the first rank has. */
#include "core/base/fault.h"
#include "fem/problem/problem.h"
#include "fem/space/layout.h"

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
