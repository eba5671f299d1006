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

/* y [rows][c] = M r for each direction r, which is 1 in every c-th dof, those with prescribed values too; total [c]: r.y */
static void move_all(const weft_csr *M, int c, double *y, double *total) {
    for (int64_t i = 0; i < M->n_rows; ++i) {
        for (int64_t k = M->row_start[i]; k < M->row_start[i + 1]; ++k)
            y[i * c + M->columns[k] % c] += M->values[k];
        total[i % c] += y[i * c + i % c];
    }
}

weft_status weft_participation_find(const weft_problem_pencil *p, const weft_eigenpairs *pairs,
                                    weft_participation *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_space *space = p->problem->fields.space;
    const int n = pairs->n, c = weft_space_components(space);
    const int64_t n_dofs = p->problem->fields.n_dofs;
    const weft_preconditioner_problem mass = {.op = p->mass};
    weft_csr M = p->pencil.M;
    double *own = NULL, *y = NULL;
    if (weft_space_is_mapped(space) || p->pencil.is_buckling)
        goto done;
    if (p->reduction) /* the pencil's has no dependent dofs */
        TRY(weft_matrix_on_host(&mass, &M, &own, error));
    out->factors = calloc((size_t)n * (size_t)c + 1, sizeof *out->factors);
    out->masses = calloc((size_t)n * (size_t)c + 1, sizeof *out->masses);
    out->total = calloc((size_t)c + 1, sizeof *out->total);
    y = calloc((size_t)n_dofs * (size_t)c + 1, sizeof *y);
    if (!out->factors || !out->masses || !out->total || !y)
        TRY(weft_out_of_memory(error, "effective masses"));
    move_all(&M, c, y, out->total);
    for (int k = 0; k < n; ++k) {
        const double *u = pairs->vectors + k * n_dofs;
        double *factors = out->factors + k * c;
        for (int64_t i = 0; i < n_dofs; ++i)
            for (int d = 0; d < c; ++d)
                factors[d] += u[i] * y[i * c + d];
        for (int d = 0; d < c; ++d)
            out->masses[k * c + d] = factors[d] * factors[d];
    }
    out->n_directions = c;
done:
    free(own);
    free(y);
    return status;
}
