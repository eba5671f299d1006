/* Computes the amounts of modes that weak terms hold: CG for their Schur complement, each of whose products is a solve
 * with the pinned matrix. */
#include "fem/base/share.h"
#include "fem/problem/assembled.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of the load, what the amounts may still lack, in units of the tolerance. */
static const double SHARE = 1e-2;

/* S d = r with S = G - W^T A^-1 W and G = diag(work); z = G^-1 r, and y what the rest changes by along p. */
typedef struct amounts {
    weft_assembled *system;
    const weft_cg_options *options;
    weft_memory *b, *x; /* of solves with the pinned matrix */
    double *y, *w;      /* [n_dofs]; w is the run's */
    double *list;       /* z, p and S p */
    double *z, *p, *q;
    double load_size;
} amounts;

static weft_status start(amounts *a, weft_assembled *system, const weft_cg_options *options,
                         weft_error *error) {
    weft_status status = WEFT_OK;
    const int n = system->modes.held.n;
    const size_t bytes = (size_t)system->fields->n_dofs * sizeof(double);
    *a = (amounts){.system = system, .options = options};
    TRY(weft_memory_make(system->fields->context->device, bytes, &a->b, error));
    TRY(weft_memory_make(system->fields->context->device, bytes, &a->x, error));
    a->y = malloc(bytes);
    a->w = system->rest = malloc(bytes);
    a->list = calloc((size_t)(3 * n), sizeof *a->list);
    if (!a->y || !a->w || !a->list)
        TRY(weft_out_of_memory(error, NULL));
    a->z = a->list;
    a->p = a->list + n;
    a->q = a->list + 2 * n;
done:
    return status;
}

static void clear(amounts *a) {
    weft_memory_free(&a->b);
    weft_memory_free(&a->x);
    free(a->y);
    free(a->list);
}

/* y = -A^-1 W p with the pinned matrix; returns whether the solver has converged. */
static weft_status respond(amounts *a, bool *converged, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_assembled *system = a->system;
    const weft_system whole = {.op = system->op, .b = a->b, .u = a->x};
    const weft_system pinned = weft_reduction_system(system->reduction, &whole);
    weft_cg_options options = *a->options;
    weft_cg_result result = {0};
    const int64_t n = system->fields->n_dofs;
    memset(a->y, 0, (size_t)n * sizeof *a->y);
    TRY(weft_vector_push(a->x, a->y, n, error));
    weft_held_modes_add(&system->modes.held, n, -1, a->p, system->modes.held.pulls, a->y);
    TRY(weft_vector_push(a->b, a->y, n, error));
    TRY(weft_reduction_enter(system->reduction, &whole, error));
    options.constrained = pinned.constrained;
    options.n_constrained = pinned.n_constrained;
    options.full_cycles = 0;
    TRY(weft_cg_solve(system->fields->context, pinned.op, pinned.b, pinned.u, &options, &result,
                      error));
    TRY(weft_reduction_leave(system->reduction, &whole, error));
    TRY(weft_vector_pull(a->x, a->y, n, error));
    *converged = result.outcome == WEFT_CG_CONVERGED;
    if (!*converged)
        system->linear.cg.outcome = result.outcome;
done:
    free(result.history);
    return status;
}

/* Whether the pulls of these amounts are small beside the load. */
static weft_status are_small(const amounts *a, const double *list, double *scratch, bool *out,
                             weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n = a->system->fields->n_dofs;
    const weft_held_modes *held = &a->system->modes.held;
    double size = 0;
    memset(scratch, 0, (size_t)n * sizeof *scratch);
    weft_held_modes_add(held, n, 1, list, held->pulls, scratch);
    TRY(weft_share_norm(held->share, scratch, n, &size, error));
    *out = size <= SHARE * a->options->tolerance * a->load_size;
done:
    return status;
}

/* A step along p; work_z is r.G^-1 r. */
static weft_status step(amounts *a, double *work_z, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_held_modes *held = &a->system->modes.held;
    const int64_t n = a->system->fields->n_dofs;
    double curvature = 0, before = *work_z;
    TRY(weft_held_modes_lack(held, n, a->y, a->q, error)); /* -G^-1 W^T y */
    for (int k = 0; k < held->n; ++k) {
        a->q[k] = a->p[k] - a->q[k];
        curvature += a->p[k] * held->work[k] * a->q[k];
    }
    const double alpha = curvature > 0 ? before / curvature : 1;
    for (int k = 0; k < held->n; ++k)
        held->amounts[k] += alpha * a->p[k];
    for (int64_t i = 0; i < n; ++i)
        a->w[i] += alpha * a->y[i];
    *work_z = 0;
    for (int k = 0; k < held->n; ++k) {
        a->z[k] -= alpha * a->q[k];
        *work_z += a->z[k] * held->work[k] * a->z[k];
    }
    for (int k = 0; k < held->n; ++k)
        a->p[k] = a->z[k] + (before > 0 ? *work_z / before : 0) * a->p[k];
done:
    return status;
}

static weft_status iterate(amounts *a, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_held_modes *held = &a->system->modes.held;
    const int64_t n = a->system->fields->n_dofs;
    bool converged = true, small = false;
    double work_z = 0;
    TRY(weft_held_modes_lack(held, n, a->w, a->z, error)); /* b is balanced */
    for (int k = 0; k < held->n; ++k) {
        a->p[k] = a->z[k];
        work_z += a->z[k] * held->work[k] * a->z[k];
    }
    TRY(are_small(a, a->z, a->y, &small, error));
    for (int i = 0; i < 2 * held->n + 2 && converged && !small; ++i) {
        TRY(respond(a, &converged, error));
        if (converged)
            TRY(step(a, &work_z, error));
        TRY(are_small(a, a->z, a->y, &small, error));
    }
    if (converged && !small)
        a->system->linear.cg.outcome = WEFT_CG_STAGNATION;
    for (int k = 0; k < held->n; ++k) /* what the rest does not feel */
        held->amounts[k] += a->z[k];
done:
    return status;
}

weft_status weft_held_add(weft_assembled *system, const weft_cg_options *options,
                          weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_held_modes *held = &system->modes.held;
    const int64_t n = system->fields->n_dofs;
    amounts a = {0};
    double *first = NULL;
    if (held->n == 0 || !system->modes_are_pinned || system->linear.cg.outcome != WEFT_CG_CONVERGED)
        goto done;
    TRY(start(&a, system, options, error));
    first = calloc((size_t)held->n, sizeof *first);
    if (!first)
        TRY(weft_out_of_memory(error, NULL));
    memcpy(first, held->amounts, (size_t)held->n * sizeof *first);
    memcpy(a.w, system->u_values, (size_t)n * sizeof *a.w);
    TRY(weft_vector_pull(system->b, system->b_values, n, error));
    weft_held_modes_add(held, n, 1, first, held->pulls, system->b_values);
    TRY(weft_vector_push(system->b, system->b_values, n, error));
    TRY(weft_share_norm(held->share, system->b_values, n, &a.load_size, error));
    TRY(iterate(&a, error));
    memcpy(system->u_values, a.w, (size_t)n * sizeof *a.w);
    weft_held_modes_add(held, n, 1, held->amounts, held->modes, system->u_values);
    TRY(weft_vector_push(system->u, system->u_values, n, error));
done:
    clear(&a);
    free(first);
    return status;
}

weft_status weft_held_product(const weft_assembled *system, weft_memory *scratch, double *values,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_held_modes *held = &system->modes.held;
    const int64_t n = system->fields->n_dofs;
    weft_memory *rest = NULL;
    if (system->rest) {
        TRY(weft_memory_make(system->fields->context->device, (size_t)n * sizeof(double), &rest,
                             error));
        TRY(weft_vector_push(rest, system->rest, n, error));
    }
    TRY(weft_operator_apply(system->op, rest ? rest : system->u, scratch, error));
    TRY(weft_vector_pull(scratch, values, n, error));
    if (rest)
        weft_held_modes_add(held, n, 1, held->amounts, held->pulls, values);
done:
    weft_memory_free(&rest);
    return status;
}
