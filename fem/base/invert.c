/* Inverts small dense matrices. */
#include "fem/base/invert.h"

#include <math.h>

bool weft_invert(int n, double *a, double *out, double singular) {
    double most = 0;
    for (int i = 0; i < n * n; ++i) {
        most = fmax(most, fabs(a[i]));
        out[i] = i % (n + 1) == 0;
    }
    for (int k = 0; k < n; ++k) {
        int pivot = k;
        for (int i = k + 1; i < n; ++i)
            if (fabs(a[i * n + k]) > fabs(a[pivot * n + k]))
                pivot = i;
        if (!(fabs(a[pivot * n + k]) > singular * most))
            return false;
        for (int j = 0; j < n && pivot != k; ++j) {
            const double left = a[k * n + j], right = out[k * n + j];
            a[k * n + j] = a[pivot * n + j];
            out[k * n + j] = out[pivot * n + j];
            a[pivot * n + j] = left;
            out[pivot * n + j] = right;
        }
        const double scale = 1 / a[k * n + k];
        for (int j = 0; j < n; ++j) {
            a[k * n + j] *= scale;
            out[k * n + j] *= scale;
        }
        for (int i = 0; i < n; ++i) {
            const double factor = a[i * n + k];
            if (i == k || factor == 0)
                continue;
            for (int j = k; j < n; ++j)
                a[i * n + j] -= factor * a[k * n + j];
            for (int j = 0; j < n; ++j)
                out[i * n + j] -= factor * out[k * n + j];
        }
    }
    return true;
}
