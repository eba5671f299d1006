/* Restarted GMRES, for matrices that need not be symmetric. The device makes the basis and the
 * Hessenberg matrix H of a cycle; the host minimizes |beta e_0 - H y|, and the device adds V^T y. */
#include "fem/solve/krylov.h"

#include <math.h>
#include <stdlib.h>

/* A pivot relative to the largest entry of H that rounding in a singular matrix leaves. */
static const double SINGULAR = 1e-14;

/* The least-squares problem of a cycle of k iterations. */
typedef struct cycle {
    int k, m;
    double *h;       /* [m][m], row by row, the Hessenberg matrix to the diagonal, then R */
    double *lengths; /* [k] its entries below the diagonal */
    double *g;       /* [k + 1] the right-hand side, beta e_0, then rotated */
    double *y;       /* [m] */
} cycle;

/* Triangularize H by Givens rotations, applied to g as well. */
static void triangularize(const cycle *c) {
    for (int j = 0; j < c->k; ++j) {
        double *row = &c->h[j * c->m], *below = row + c->m;
        const double length = hypot(row[j], c->lengths[j]);
        const double cosine = length > 0 ? row[j] / length : 1;
        const double sine = length > 0 ? c->lengths[j] / length : 0;
        row[j] = length;
        for (int i = j + 1; i < c->k; ++i) {
            const double upper = row[i], lower = below[i];
            row[i] = cosine * upper + sine * lower;
            below[i] = cosine * lower - sine * upper;
        }
        c->g[j + 1] = -sine * c->g[j];
        c->g[j] *= cosine;
    }
}

/* Solve R y = g, up to the first pivot that is zero but for rounding. Returns whether there was
 * one. */
static bool substitute(const cycle *c) {
    double largest = 0;
    int rank = 0;
    for (int j = 0; j < c->k; ++j)
        for (int i = 0; i <= j; ++i)
            largest = fmax(largest, fabs(c->h[i * c->m + j]));
    while (rank < c->k && fabs(c->h[rank * c->m + rank]) > SINGULAR * largest)
        ++rank;
    for (int i = rank - 1; i >= 0; --i) {
        double sum = c->g[i];
        for (int j = i + 1; j < rank; ++j)
            sum -= c->h[i * c->m + j] * c->y[j];
        c->y[i] = sum / c->h[i * c->m + i];
    }
    return rank < c->k;
}

static weft_status end(weft_solver *cg, int iterations, weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t k = (size_t)iterations, m = (size_t)weft_krylov_cycle(cg), size = sizeof(double);
    cycle c = {.k = iterations,
               .m = (int)m,
               .h = calloc(m * m, size),
               .lengths = calloc(k, size),
               .g = calloc(k + 1, size),
               .y = calloc(m, size)};
    if (!c.h || !c.lengths || !c.g || !c.y) {
        status = weft_out_of_memory(error, "GMRES");
        goto done;
    }
    TRY(weft_memory_read(weft_krylov_memory(cg, "H"), 0, c.h, m * m * size, error));
    TRY(weft_memory_read(weft_krylov_memory(cg, "lengths"), 0, c.lengths, k * size, error));
    c.g[0] = sqrt(cg->start_rr);
    triangularize(&c);
    if (substitute(&c))
        cg->breakdown = "the Krylov space is invariant, and the matrix singular on it";
    TRY(weft_memory_write(weft_krylov_memory(cg, "y"), 0, c.y, m * size, error));
    TRY(weft_krylov_run(cg, WEFT_KRYLOV_END, error));
    cg->repeats = k == m && cg->rr >= cg->start_rr * (1 - 1e-12);
done:
    free(c.h);
    free(c.lengths);
    free(c.g);
    free(c.y);
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
