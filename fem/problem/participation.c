/* How much of the mass moves in a direction where all of a body does, in each of the eigenvectors: what the ground excites. */
#include "fem/problem/participation.h"
#include "fem/precondition/levels.h"
#include "fem/space/vectors.h"

#include <stdlib.h>

void weft_participation_clear(weft_participation *out) {
    free(out->factors);
    free(out->masses);
    free(out->total);
    *out = (weft_participation){0};
}

/* y = M r for r = 1 in the dofs of a direction, those with prescribed values too; returns r.y */
static double move_all(const weft_csr *M, const weft_transient_open *of, double *y) {
    double sum = 0;
    for (int64_t i = 0; i < M->n_rows; ++i) {
        y[i] = 0;
        for (int64_t k = M->row_start[i]; k < M->row_start[i + 1]; ++k) {
            const int64_t j = M->columns[k];
            if (j >= of->first && j < of->last && (j - of->first) % of->step == 0)
                y[i] += M->values[k];
        }
        if (i >= of->first && i < of->last && (i - of->first) % of->step == 0)
            sum += y[i];
    }
    return sum;
}

static double dot(const double *a, const double *b, int64_t n) {
    double sum = 0;
    for (int64_t i = 0; i < n; ++i)
        sum += a[i] * b[i];
    return sum;
}

/* x.M x */
static double square_of(const weft_csr *M, const double *x) {
    double sum = 0;
    for (int64_t i = 0; i < M->n_rows; ++i)
        for (int64_t k = M->row_start[i]; k < M->row_start[i + 1]; ++k)
            sum += x[i] * M->values[k] * x[M->columns[k]];
    return sum;
}

weft_status weft_participation_find(const weft_problem_pencil *p, const weft_eigenpairs *pairs,
                                    weft_participation *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_space *space = p->problem->fields.space;
    const int n = pairs->n, n_directions = weft_space_components(space);
    const weft_preconditioner_problem mass = {.op = p->mass};
    weft_csr M;
    double *own = NULL, *y = NULL;
    if (weft_space_is_mapped(space) || p->pencil.is_buckling)
        goto done;
    TRY(weft_matrix_on_host(&mass, &M, &own, error));
    const size_t size = (size_t)n * (size_t)n_directions + 1;
    out->factors = calloc(size, sizeof *out->factors);
    out->masses = calloc(size, sizeof *out->masses);
    out->total = calloc((size_t)n_directions + 1, sizeof *out->total);
    y = calloc((size_t)M.n_rows + 1, sizeof *y);
    if (!out->factors || !out->masses || !out->total || !y)
        TRY(weft_out_of_memory(error, "effective masses"));
    for (int d = 0; d < n_directions; ++d) {
        const weft_transient_open of = weft_component_dofs(&p->problem->system, d);
        out->total[d] = move_all(&M, &of, y);
        for (int k = 0; k < n; ++k)
            out->masses[k * n_directions + d] = dot(pairs->vectors + k * M.n_rows, y, M.n_rows);
    }
    for (int k = 0; k < n; ++k) {
        const double square = square_of(&M, pairs->vectors + k * M.n_rows);
        for (int i = k * n_directions; i < (k + 1) * n_directions && square > 0; ++i) {
            out->factors[i] = out->masses[i] / square;
            out->masses[i] *= out->factors[i];
        }
    }
    out->n_directions = n_directions;
done:
    free(own);
    free(y);
    return status;
}
