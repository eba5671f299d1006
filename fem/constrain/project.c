/* Finds the nearest values that satisfy the constraints, by conjugate gradients on the host: there are as
 * many iterations as constraints couple weights, few. */
#include "core/base/fault.h"
#include "fem/constrain/private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ITERATIONS_MOST = 1000 };
static const double TOLERANCE = 1e-15;

typedef struct projection {
    const weft_constraints *constraints;
    const double *weights;
    double *diagonal, *r, *p, *image; /* [n_dofs] each */
} projection;

/* out = C v, where v is 0 at dependent dofs */
static void expand(const weft_constraints *constraints, const double *v, double *out) {
    for (int64_t i = 0; i < constraints->n_dofs; ++i)
        out[i] = v[i];
    for (int i = 0; i < constraints->n_rows; ++i) {
        const constraint_row *row = &constraints->rows[i];
        double sum = 0;
        for (int k = 0; k < row->n; ++k)
            sum += row->dofs[k] < constraints->n_dofs ? row->factors[k] * v[row->dofs[k]] : 0;
        out[row->dof] = sum;
    }
}

weft_status weft_constraints_fill(weft_constraints *constraints, bool with_values, double *u,
                                  weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n = constraints->n_dofs;
    TRY(constraints_resolve(constraints, error));
    if (with_values)
        TRY(point_values_evaluate(&constraints->values, error));
    if (constraints->layout)
        TRY(weft_layout_update_values(constraints->layout, u, error));
    for (int i = 0; i < constraints->n_rows; ++i) {
        const constraint_row *row = &constraints->rows[i];
        double sum = with_values ? row->constant : 0;
        for (int k = 0; k < row->n; ++k)
            if (row->dofs[k] < n)
                sum += row->factors[k] * u[row->dofs[k]];
            else if (with_values)
                sum += row->factors[k] * constraints->values.values[row->dofs[k] - n].now;
        u[row->dof] = sum;
    }
    if (constraints->layout) /* dofs whose rows others have */
        TRY(weft_layout_update_values(constraints->layout, u, error));
done:
    return status;
}

/* v = C^T v at independent dofs, 0 at others */
static void gather(const weft_constraints *constraints, double *v) {
    for (int i = 0; i < constraints->n_rows; ++i) {
        const constraint_row *row = &constraints->rows[i];
        for (int k = 0; k < row->n; ++k)
            if (row->dofs[k] < constraints->n_dofs)
                v[row->dofs[k]] += row->factors[k] * v[row->dof];
    }
    for (int64_t i = 0; i < constraints->n_dofs; ++i)
        v[i] = constraints->row_of[i] == -1 ? v[i] : 0;
}

/* The diagonal of C^T D C; 1 where it is not positive. */
static void make_diagonal(const projection *p) {
    const weft_constraints *constraints = p->constraints;
    for (int64_t i = 0; i < constraints->n_dofs; ++i)
        p->diagonal[i] = p->weights[i];
    for (int i = 0; i < constraints->n_rows; ++i) {
        const constraint_row *row = &constraints->rows[i];
        for (int k = 0; k < row->n; ++k)
            if (row->dofs[k] < constraints->n_dofs)
                p->diagonal[row->dofs[k]] +=
                    row->factors[k] * row->factors[k] * p->weights[row->dof];
    }
    for (int64_t i = 0; i < constraints->n_dofs; ++i)
        p->diagonal[i] = p->diagonal[i] > 0 ? p->diagonal[i] : 1;
}

static double squared(const projection *p, const double *r) {
    double sum = 0;
    for (int64_t i = 0; i < p->constraints->n_dofs; ++i)
        sum += r[i] * r[i] / p->diagonal[i];
    return sum;
}

/* v += (C^T D C)^-1 r; r is spoilt. */
static void correct(const projection *p, double *v) {
    const int64_t n = p->constraints->n_dofs;
    const double first = squared(p, p->r);
    double now = first;
    for (int64_t i = 0; i < n; ++i)
        p->p[i] = p->r[i] / p->diagonal[i];
    for (int k = 0; k < ITERATIONS_MOST && now > TOLERANCE * TOLERANCE * first; ++k) {
        double curvature = 0;
        expand(p->constraints, p->p, p->image);
        for (int64_t i = 0; i < n; ++i)
            p->image[i] *= p->weights[i];
        gather(p->constraints, p->image);
        for (int64_t i = 0; i < n; ++i)
            curvature += p->p[i] * p->image[i];
        if (!(curvature > 0))
            break;
        for (int64_t i = 0; i < n; ++i) {
            v[i] += now / curvature * p->p[i];
            p->r[i] -= now / curvature * p->image[i];
        }
        const double before = now;
        now = squared(p, p->r);
        for (int64_t i = 0; i < n; ++i)
            p->p[i] = p->r[i] / p->diagonal[i] + now / before * p->p[i];
    }
}

static weft_status project(const weft_constraints *constraints, const double *weights,
                           const double *filled, double *u, weft_error *error) {
    const size_t n = (size_t)constraints->n_dofs;
    double *work = weft_array_make(4 * n, sizeof *work);
    if (!work)
        return weft_out_of_memory(error, "constraints");
    const projection p = {constraints, weights, work, work + n, work + 2 * n, work + 3 * n};
    make_diagonal(&p);
    for (size_t i = 0; i < n; ++i)
        p.r[i] = weights[i] * (u[i] - filled[i]);
    gather(constraints, p.r);
    correct(&p, u);
    free(work);
    return WEFT_OK;
}

/* ---- on several ranks ------------------------------------------------------------------------ */

static weft_status collect(const weft_constraints *constraints, const double *values, double *out,
                           weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t n = (size_t)constraints->n_dofs;
    double *updated = weft_array_make(n, sizeof *updated);
    if (!updated)
        TRY(weft_out_of_memory(error, "constraints"));
    memcpy(updated, values, n * sizeof *updated);
    if (!weft_fault("weights_stale"))
        TRY(weft_layout_update_values(constraints->layout, updated, error));
    TRY(weft_layout_collect(constraints->spaces, constraints->fields.n, updated,
                            constraints->whole_spaces, out, error));
done:
    free(updated);
    return status;
}

/* The first rank does it for the whole. */
static weft_status project_whole(const weft_constraints *constraints, const double *weights,
                                 const double *filled, double *u, weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t n = constraints->whole ? (size_t)constraints->whole->n_dofs : 0;
    double *all = weft_array_make(3 * n, sizeof *all);
    if (!all)
        TRY(weft_out_of_memory(error, "constraints"));
    TRY(collect(constraints, weights, all, error));
    TRY(collect(constraints, filled, all + n, error));
    TRY(collect(constraints, u, all + 2 * n, error));
    if (constraints->whole)
        TRY(project(constraints->whole, all, all + n, all + 2 * n, error));
    TRY(weft_layout_spread(constraints->spaces, constraints->fields.n, constraints->whole_spaces,
                           all + 2 * n, u, error));
done:
    free(all);
    return status;
}

weft_status constraints_project(const weft_constraints *constraints, const double *weights,
                                const double *filled, double *u, weft_error *error) {
    return constraints->layout ? project_whole(constraints, weights, filled, u, error)
                               : project(constraints, weights, filled, u, error);
}
