/* Solves with the mass matrix of the space of nodal fields, by conjugate gradients without the matrix: its
 * condition number with Jacobi's preconditioner does not depend on the mesh. */
#include "fem/derive/tabulated.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ITERATIONS = 1000 };
static const double TOLERANCE = 1e-13; /* of the residual, relative to the right-hand side */

typedef struct mass {
    const struct derive_tabulated *t;
    const int32_t *nodes; /* [n_cells][width] */
    int64_t n_nodes;
    int width, n_points;
} mass;

/* y = M x; x NULL: the diagonal of M */
static void apply(const mass *m, const double *x, double *y) {
    memset(y, 0, (size_t)m->n_nodes * sizeof *y);
    for (int64_t c = 0; c < m->t->map.mesh->n_cells; ++c)
        for (int p = 0; p < m->n_points; ++p) {
            const double *shape = m->t->shapes + (int64_t)p * m->width;
            const double weight = m->t->measures[c * m->n_points + p];
            const int32_t *nodes = m->nodes + c * m->width;
            double value = 0;
            for (int j = 0; j < m->width && x; ++j)
                value += shape[j] * x[nodes[j]];
            for (int i = 0; i < m->width; ++i)
                y[nodes[i]] += weight * shape[i] * (x ? value : shape[i]);
        }
}

static double dot(const double *a, const double *b, double *work, int64_t n) {
    for (int64_t i = 0; i < n; ++i)
        work[i] = a[i] * b[i];
    return weft_sum(work, n);
}

/* x: at first 0; r: the right-hand side; others: work */
static void solve(const mass *m, const double *diagonal, double *x, double *r, double *z, double *p,
                  double *q, double *work) {
    const int64_t n = m->n_nodes;
    const double start = sqrt(dot(r, r, work, n));
    double before = 0;
    memset(x, 0, (size_t)n * sizeof *x);
    for (int k = 0; k < ITERATIONS && sqrt(dot(r, r, work, n)) > TOLERANCE * start; ++k) {
        for (int64_t i = 0; i < n; ++i)
            z[i] = r[i] / diagonal[i];
        const double now = dot(r, z, work, n), beta = k > 0 ? now / before : 0;
        for (int64_t i = 0; i < n; ++i)
            p[i] = z[i] + beta * p[i];
        apply(m, p, q);
        const double alpha = now / dot(p, q, work, n);
        for (int64_t i = 0; i < n; ++i) {
            x[i] += alpha * p[i];
            r[i] -= alpha * q[i];
        }
        before = now;
    }
}

weft_status derive_mass_solve(const weft_derive *derive, int components, double *values,
                              weft_error *error) {
    enum { VECTORS = 7 };
    const weft_space *space = derive->problem.space;
    const mass m = {.t = derive->tabulated,
                    .nodes = weft_space_cell_nodes(space),
                    .n_nodes = weft_space_nodes(space),
                    .width = weft_space_element(space)->n_nodes,
                    .n_points = derive->tabulated->sets[DERIVE_CELLS][DERIVE_RULE].n};
    const int64_t n = m.n_nodes;
    double *work = weft_array_make((size_t)n, VECTORS * sizeof *work);
    if (!work)
        return weft_out_of_memory(error, "a projection");
    apply(&m, NULL, work);
    for (int k = 0; k < components; ++k) {
        for (int64_t i = 0; i < n; ++i)
            work[2 * n + i] = values[i * components + k];
        memset(work + 4 * n, 0, (size_t)n * sizeof *work);
        solve(&m, work, work + n, work + 2 * n, work + 3 * n, work + 4 * n, work + 5 * n,
              work + 6 * n);
        for (int64_t i = 0; i < n; ++i)
            values[i * components + k] = work[n + i];
    }
    free(work);
    return WEFT_OK;
}
