/* Runs the iterations of a solve in the persistent kernel, if the operator stores a matrix, the
 * device is a GPU and the system fits on the chip. */
#include "fem/solve/private.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Make the persistent kernel, unless the present one suits this system. The pattern is copied to
 * the host only if the system may fit. */
static weft_status persistent_keep(weft_solver *cg, char *reason, size_t size, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_limits *limits = weft_device_limits(cg->context->device);
    const int64_t n = weft_operator_dofs(cg->op), n_entries = weft_operator_entries(cg->op);
    const bool jacobi = cg->options->jacobi;
    weft_persistent_shape shape;
    weft_error why = {0};
    if (weft_persistent_suits(cg->persistent, cg->context, n, n_entries, jacobi))
        goto done;
    weft_persistent_free(&cg->persistent);
    if (!weft_persistent_fits(limits, n, n_entries, &shape, reason, size))
        goto done;
    const weft_pattern *pattern = weft_operator_pattern(cg->op);
    if (!pattern)
        TRY(weft_out_of_memory(error, "the pattern of a matrix"));
    status =
        weft_persistent_make(cg->context, pattern, jacobi, &cg->persistent, reason, size, &why);
    if (status == WEFT_ERROR_COMPILER) {
        cg->persistent_refused = true;
        weft_log(cg->options->monitor, WEFT_LOG_WARNING,
                 "cg: one kernel for all iterations does not compile, so they are launched one by "
                 "one:\n%s",
                 why.message);
        status = WEFT_OK;
    }
    if (status != WEFT_OK && error)
        *error = why;
done:
    return status;
}

weft_status weft_cg_persistent_prepare(weft_solver *cg, bool *is_persistent, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_memory *entries = NULL;
    char reason[200] = "the operator stores no matrix";
    *is_persistent = false;
    if (weft_device_limits(cg->context->device)->execution != WEFT_EXECUTION_SIMT)
        goto done;
    if (cg->op->layout)
        snprintf(reason, sizeof reason, "it sums within one GPU, and there are ranks");
    else if (cg->persistent_refused)
        snprintf(reason, sizeof reason, "the compiler refused the kernel before");
    else if (weft_operator_entries(cg->op) > 0)
        TRY(persistent_keep(cg, reason, sizeof reason, error));
    if (cg->persistent) {
        TRY(weft_operator_matrix(cg->op, &entries, error));
        TRY(weft_persistent_load(cg->persistent, entries, cg->memory[WEFT_CG_D], error));
        *is_persistent = true;
    } else {
        weft_log(cg->options->monitor, WEFT_LOG_INFO, "cg: iterations as launches, for %s", reason);
    }
done:
    return status;
}

static void reported(void *user, const double *rr, int n) {
    const weft_solver *cg = user;
    double *history = malloc(((size_t)n + 1) * sizeof *history);
    for (int i = 0; history && i <= n; ++i)
        history[i] = sqrt(rr[i]) / cg->norm;
    if (history)
        weft_cg_report(cg, history, n);
    free(history);
}

weft_status weft_cg_persistent(weft_solver *cg, int iterations, weft_cg_batch *out,
                               weft_error *error) {
    weft_status status = WEFT_OK;
    weft_persistent_run run = {.limit = cg->limit * (1 - 1e-15), /* so sqrt(rr) is below */
                               .iterations = iterations,
                               .report = reported,
                               .user = cg};
    TRY(weft_persistent_iterate(cg->persistent, cg->memory[WEFT_CG_Q], cg->memory[WEFT_CG_D],
                                cg->memory[WEFT_CG_X], &run, error));
    cg->rr = run.history[run.done];
    cg->rz = run.end == WEFT_PERSISTENT_BREAKDOWN ? 0 : run.end == WEFT_PERSISTENT_NAN ? NAN : 1;
    cg->pq = run.end == WEFT_PERSISTENT_INDEFINITE ? -1 : 1;
    *out = (weft_cg_batch){
        .n = run.done, .is_indefinite = run.end == WEFT_PERSISTENT_INDEFINITE, .rr = run.history};
done:
    return status;
}
