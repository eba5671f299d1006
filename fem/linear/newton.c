/* Tangents and steps of Newton's method by the linear systems that a weft_linear solves. */
#include "fem/linear/newton.h"
#include "fem/base/memory.h"
#include "fem/base/share.h"

#include <stdlib.h>

weft_newton_tangent weft_linear_tangent(const weft_linear *linear, weft_operator *K,
                                        const weft_reduction *reduction) {
    return (weft_newton_tangent){.whole = K,
                                 .solved = reduction ? weft_reduction_operator(reduction) : K,
                                 .is_definite =
                                     weft_method_about(linear->choice.method)->needs_definite};
}

weft_status weft_open_center(const weft_transient_open *open, int n_open, const weft_share *share,
                             const double *given, double *values, weft_error *error) {
    weft_status status = WEFT_OK;
    const unsigned char *owned = weft_share_owned(share);
    for (int k = 0; k < n_open; ++k) {
        weft_exact_sum exact = weft_exact_zero();
        double sum = 0;
        int64_t count = 0;
        for (int64_t i = open[k].first; i < open[k].last; i += open[k].step) {
            const double value = given ? values[i] - given[i] : values[i];
            if (owned && owned[i])
                weft_exact_add(&exact, value);
            sum += value;
            count += owned ? owned[i] : 1;
        }
        if (owned) {
            TRY(weft_comm_join_sums(weft_share_comm(share), &exact, 1, error));
            TRY(weft_comm_sum(share->comm, &count, error));
            sum = weft_exact_value(&exact);
        }
        for (int64_t i = open[k].first; i < open[k].last; i += open[k].step)
            values[i] -= sum / (double)count;
    }
done:
    return status;
}

weft_status weft_linear_accept(const weft_linear *linear, const weft_share *share, weft_memory *du,
                               bool *usable, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_cg_result *cg = &linear->cg;
    const int64_t n = weft_linear_dofs(linear);
    double *values = NULL;
    *usable = cg->outcome == WEFT_CG_CONVERGED ||
              ((cg->outcome == WEFT_CG_STAGNATION || cg->outcome == WEFT_CG_MAX_ITERATIONS) &&
               cg->residual < 0.1);
    if (linear->n_open == 0)
        goto done;
    values = weft_array_make((size_t)n, sizeof *values);
    if (!values)
        TRY(weft_out_of_memory(error, "a component without its mean"));
    TRY(weft_vector_pull(du, values, n, error));
    TRY(weft_open_center(linear->open, linear->n_open, share, NULL, values, error));
    TRY(weft_vector_push(du, values, n, error));
done:
    free(values);
    return status;
}
