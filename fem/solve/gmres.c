/* Restarted GMRES, for matrices that need not be symmetric. The device makes the basis and the
 * Hessenberg matrix H of a cycle; the host minimizes |beta e_0 - H y|, and the device adds V y. */
#include "fem/solve/krylov.h"

#include <math.h>
#include <stdlib.h>

/* A pivot relative to the largest entry of H that rounding in a singular matrix leaves. */
static const double SINGULAR = 1e-14;

/* Triangularize the columns of H by Givens rotations, applied to g as well.
 *  h  [k][m + 1], columns of H one after another */
static void triangularize(double *h, double *g, int k, int m) {
    for (int j = 0; j < k; ++j) {
        double *column = h + (size_t)j * (size_t)(m + 1);
        const double length = hypot(column[j], column[j + 1]);
        const double c = length > 0 ? column[j] / length : 1;
        const double s = length > 0 ? column[j + 1] / length : 0;
        for (int i = j; i < k; ++i) {
            double *other = h + (size_t)i * (size_t)(m + 1);
            const double upper = other[j], lower = other[j + 1];
            other[j] = c * upper + s * lower;
            other[j + 1] = c * lower - s * upper;
        }
        const double upper = g[j];
        g[j] = c * upper;
        g[j + 1] = -s * upper;
    }
}

/* Solve R y = g, up to the first pivot that is zero but for rounding. Returns whether there was
 * one. */
static bool substitute(const double *h, const double *g, double *y, int k, int m) {
    double largest = 0;
    int rank = 0;
    for (int j = 0; j < k; ++j)
        for (int i = 0; i <= j; ++i)
            largest = fmax(largest, fabs(h[(size_t)j * (size_t)(m + 1) + (size_t)i]));
    while (rank < k && fabs(h[(size_t)rank * (size_t)(m + 2)]) > SINGULAR * largest)
        ++rank;
    for (int i = rank - 1; i >= 0; --i) {
        double sum = g[i];
        for (int j = i + 1; j < rank; ++j)
            sum -= h[(size_t)j * (size_t)(m + 1) + (size_t)i] * y[j];
        y[i] = sum / h[(size_t)i * (size_t)(m + 2)];
    }
    return rank < k;
}

static weft_status end(weft_solver *cg, int iterations, weft_error *error) {
    weft_status status = WEFT_OK;
    const int m = weft_krylov_cycle(cg);
    const size_t width = (size_t)m + 1;
    const double start = cg->start_rr;
    double *h = calloc((size_t)m * width, sizeof *h);
    double *g = calloc(width, sizeof *g), *y = calloc(width, sizeof *y);
    if (!h || !g || !y) {
        status = weft_out_of_memory(error, "GMRES");
        goto done;
    }
    TRY(weft_memory_read(weft_krylov_memory(cg, "H"), 0, h, (size_t)iterations * width * sizeof *h,
                         error));
    g[0] = sqrt(start);
    triangularize(h, g, iterations, m);
    if (substitute(h, g, y, iterations, m))
        cg->breakdown = "the Krylov space is invariant, and the matrix singular on it";
    TRY(weft_memory_write(weft_krylov_memory(cg, "y"), 0, y, width * sizeof *y, error));
    TRY(weft_krylov_run(cg, WEFT_KRYLOV_END, error));
    cg->repeats = iterations == m && cg->rr >= start * (1 - 1e-12);
done:
    free(h);
    free(g);
    free(y);
    return status;
}

const weft_krylov_method weft_krylov_gmres = {
    .info = {.name = "gmres",
             .title = "GMRES",
             .help = "any; least residuals between restarts, long recurrences"},
    .files = {"gmres_start.weft", "gmres.weft", "gmres_end.weft"},
    .end = end,
    .n_vectors = 8,
};
