/* Sums lists on the host over the entries that each rank owns. */
#include "fem/base/share.h"
#include "core/base/fault.h"
#include "core/weft_core.h"
#include "fem/weft_fem.h"

#include <math.h>

const unsigned char *weft_share_owned(const weft_share *share) {
    if (!share || share->marks)
        return share ? share->marks : NULL;
    return weft_memory_host(share->owned);
}

weft_comm *weft_share_comm(const weft_share *share) {
    return share ? share->comm : NULL;
}

weft_status weft_share_product(const weft_share *share, const double *a, const double *b, int64_t n,
                               double *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const unsigned char *owned = weft_share_owned(share);
    weft_exact_sum sum = weft_exact_zero();
    *out = 0;
    for (int64_t i = 0; i < n; ++i)
        if (!owned)
            *out += a[i] * b[i];
        else if (owned[i] || weft_fault("copies_counted"))
            weft_exact_add(&sum, a[i] * b[i]);
    if (!owned)
        goto done;
    TRY(weft_comm_join_sums(weft_share_comm(share), &sum, 1, error));
    *out = weft_exact_value(&sum);
done:
    return status;
}

weft_status weft_share_sums(const weft_share *share, const double *v, int64_t n, double *sum,
                            double *size, weft_error *error) {
    weft_status status = WEFT_OK;
    const unsigned char *owned = weft_share_owned(share);
    weft_exact_sum sums[2] = {weft_exact_zero(), weft_exact_zero()};
    double sizes = 0;
    for (int64_t i = 0; i < n; ++i)
        if (!owned)
            sizes += fabs(v[i]);
        else if (owned[i]) {
            weft_exact_add(&sums[0], v[i]);
            weft_exact_add(&sums[1], fabs(v[i]));
        }
    if (owned)
        TRY(weft_comm_join_sums(weft_share_comm(share), sums, 2, error));
    *sum = owned ? weft_exact_value(&sums[0]) : weft_sum(v, n);
    if (size)
        *size = owned ? weft_exact_value(&sums[1]) : sizes;
done:
    return status;
}

weft_status weft_owned_norm(weft_comm *comm, const unsigned char *owned, const double *v,
                            const double *is_free, int64_t n, double *out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_exact_sum sum = weft_exact_zero();
    double most = 0;
    if (!owned) {
        *out = weft_norm(v, is_free, n);
        goto done;
    }
    for (int64_t i = 0; i < n; ++i)
        if (owned[i] && (!is_free || is_free[i] != 0))
            most = fmax(most, fabs(v[i]));
    TRY(weft_comm_maximum(comm, &most, error));
    for (int64_t i = 0; i < n && most > 0; ++i)
        if (owned[i] && (!is_free || is_free[i] != 0))
            weft_exact_add(&sum, v[i] / most * (v[i] / most));
    TRY(weft_comm_join_sums(comm, &sum, 1, error));
    *out = most * sqrt(weft_exact_value(&sum));
done:
    return status;
}

weft_status weft_share_norm(const weft_share *share, const double *v, int64_t n, double *out,
                            weft_error *error) {
    return weft_owned_norm(weft_share_comm(share), weft_share_owned(share), v, NULL, n, out, error);
}
