/* Extends boundary values to a function that is smooth on every level of a hierarchy, on the host.
 *
 * Decision  docs/decisions/0042-full-multigrid-of-a-residual.md */
#include "core/weft_core.h"
#include "fem/precondition/ranks.h"

#include <stdlib.h>
#include <string.h>

enum { PIECE = 1 << 14 /* nodes of a task */ };

/* From the values on a level to those on the next finer one. */
typedef struct interpolation {
    const weft_hierarchy_level *fine;
    int components;
    const double *coarse;
    double *out;
} interpolation;

static void interpolate_piece(void *user, int64_t piece) {
    const interpolation *run = user;
    const int c = run->components;
    const int64_t n = run->fine->mesh->n_nodes,
                  end = (piece + 1) * PIECE < n ? (piece + 1) * PIECE : n;
    for (int64_t i = piece * PIECE; i < end; ++i) {
        const int32_t *parents = run->fine->parents + 2 * i;
        for (int k = 0; k < c; ++k)
            run->out[i * c + k] = 0.5 * (run->coarse[(int64_t)parents[0] * c + k] +
                                         run->coarse[(int64_t)parents[1] * c + k]);
    }
}

/* The constrained dofs of all levels, by the finest's: at[level][k] is the dof of constrained dof k
 * of the finest level, -1 where its node does not exist. */
static void inject(const weft_hierarchy_level *fine, int components, int64_t n, const int32_t *at,
                   int32_t *out) {
    for (int64_t k = 0; k < n; ++k) {
        out[k] = -1;
        if (at[k] < 0)
            continue;
        const int32_t *parents = fine->parents + 2 * (int64_t)(at[k] / components);
        if (parents[0] == parents[1])
            out[k] = parents[0] * components + at[k] % components;
    }
}

static weft_status find_constrained(const weft_preconditioner_problem *problem, int components,
                                    int32_t **at, weft_error *error) {
    const weft_hierarchy *hierarchy = problem->hierarchy;
    const int finest = hierarchy->n_levels - 1;
    const int64_t n = problem->n_constrained;
    for (int i = finest; i >= 0; --i) {
        at[i] = malloc((size_t)n * sizeof **at + 1);
        if (!at[i])
            return weft_out_of_memory(error, "boundary values on the levels of multigrid");
        if (i == finest)
            memcpy(at[i], problem->constrained, (size_t)n * sizeof **at);
        else
            inject(&hierarchy->levels[i + 1], components, n, at[i + 1], at[i]);
    }
    return WEFT_OK;
}

/* x: on entry with the constrained values, on return on the finest level. */
static weft_status lift(const weft_preconditioner_problem *problem, weft_device *device, double *x,
                        weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_hierarchy *hierarchy = problem->hierarchy;
    const int components = weft_space_components(problem->space), n_levels = hierarchy->n_levels;
    const int64_t n = problem->n_constrained;
    int32_t *at[WEFT_PRECONDITIONER_LEVELS_MAX] = {NULL};
    double *given = malloc((size_t)n * sizeof *given + 1), *coarse = NULL, *now = NULL;
    if (!given)
        TRY(weft_out_of_memory(error, "boundary values on the levels of multigrid"));
    for (int64_t k = 0; k < n; ++k)
        given[k] = x[problem->constrained[k]];
    TRY(find_constrained(problem, components, at, error));
    for (int i = 0; i < n_levels; ++i) {
        const int64_t n_nodes = hierarchy->levels[i].mesh->n_nodes;
        free(coarse);
        coarse = now;
        now = calloc((size_t)(n_nodes * components) + 1, sizeof *now);
        if (!now)
            TRY(weft_out_of_memory(error, "boundary values on the levels of multigrid"));
        interpolation run = {&hierarchy->levels[i], components, coarse, now};
        if (i > 0)
            TRY(weft_device_for(device, (n_nodes + PIECE - 1) / PIECE, interpolate_piece, &run,
                                error));
        for (int64_t k = 0; k < n; ++k)
            if (at[i][k] >= 0)
                now[at[i][k]] = given[k];
    }
    memcpy(x, now,
           (size_t)(hierarchy->levels[n_levels - 1].mesh->n_nodes * components) * sizeof *x);
done:
    for (int i = 0; i < n_levels; ++i)
        free(at[i]);
    free(given);
    free(coarse);
    free(now);
    return status;
}

/* On several ranks each does all of it, and keeps what it has. */
static weft_status lift_whole(const weft_preconditioner_problem *problem, weft_device *device,
                              double *x, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_whole whole = {0};
    double *all = NULL;
    TRY(weft_whole_make(device, problem, problem->op->layout, &whole, error));
    all = malloc((size_t)whole.rows.n_whole * sizeof *all + 1);
    if (!all)
        TRY(weft_out_of_memory(error, "boundary values on the levels of multigrid"));
    TRY(weft_rank_collect(&whole.rows, x, sizeof *x, all, error));
    TRY(lift(&whole.problem, device, all, error));
    for (int64_t k = 0; k < whole.rows.n; ++k)
        x[k] = all[whole.rows.numbers[k]];
done:
    weft_whole_clear(&whole);
    free(all);
    return status;
}

weft_status weft_preconditioner_lift(weft_preconditioner *preconditioner, weft_memory *x,
                                     weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_preconditioner_problem *problem = &preconditioner->problem;
    weft_device *device = preconditioner->context->device;
    double *values = NULL, *host = weft_memory_host(x);
    if (!preconditioner->kind->full)
        TRY(weft_preconditioner_refuse_full(preconditioner, error));
    const size_t bytes = (size_t)weft_space_dofs(problem->space) * sizeof *values;
    if (weft_memory_bytes(x) < bytes)
        TRY(weft_error_set(error, WEFT_ERROR_SHAPE, "x must hold %lld doubles",
                           (long long)(bytes / sizeof *values)));
    if (host) {
        status = (problem->op->layout ? lift_whole : lift)(problem, device, host, error);
        goto done;
    }
    values = weft_array_make_unset(bytes);
    if (!values)
        TRY(weft_out_of_memory(error, "boundary values on the levels of multigrid"));
    TRY(weft_memory_read(x, 0, values, bytes, error));
    TRY(lift(problem, device, values, error));
    TRY(weft_memory_write(x, 0, values, bytes, error));
done:
    free(values);
    return status;
}
