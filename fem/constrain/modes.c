/* Finds the modes that operator and constraints leave free, and fixes or removes them. */
#include "fem/base/eigen.h"
#include "fem/base/share.h"
#include "fem/constrain/private.h"
#include "fem/mesh/mesh.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Squares of what constraints see of a mode of size 1, per constraint. */
static const double UNSEEN_SQUARE = 1e-18;
/* Work of b on a mode, relative to that of its parts without signs: what is rounding, and what errors of quadrature and
 * interpolation may be of loads that balance, as in weft_balance_of. */
static const double WORK = 1e-6, WORK_MOST = 1e-3;

void weft_free_modes_clear(weft_free_modes *modes) {
    free(modes->modes);
    free(modes->weighted);
    weft_held_modes_clear(&modes->held);
    *modes = (weft_free_modes){0};
}

/* ---- modes of the operator ------------------------------------------------------------------- */

static int modes_of_part(const weft_space *space) {
    const int d = weft_space_mesh(space)->dimension, c = weft_space_components(space);
    return c + (c != d || d == 1 ? 0 : d == 2 ? 1 : 3);
}

/* Constants of the components on a part of the mesh; of displacements also rotations about its centre,
 * of size 1. */
static void fill_part(const weft_space *space, const int32_t *part, int32_t wanted, double *modes) {
    const int d = weft_space_mesh(space)->dimension, c = weft_space_components(space);
    const int n_rotations = modes_of_part(space) - c;
    const int64_t n = weft_space_nodes(space);
    const double *x = weft_space_points(space);
    double centre[3] = {0}, size = 0, count = 0;
    for (int64_t i = 0; i < n; ++i)
        count += part[i] == wanted;
    for (int64_t i = 0; i < n * d; ++i)
        centre[i % d] += part[i / d] == wanted ? x[i] / count : 0;
    for (int64_t i = 0; i < n * d; ++i)
        size = part[i / d] == wanted ? fmax(size, fabs(x[i] - centre[i % d])) : size;
    for (int64_t i = 0; i < n; ++i) {
        if (part[i] != wanted)
            continue;
        for (int k = 0; k < c; ++k)
            modes[k * n * c + i * c + k] = 1;
        for (int r = 0; r < n_rotations; ++r) { /* about axis 2 - r, in the plane of a and b */
            const int a = r == 2 ? 1 : 0, b = r == 0 ? 1 : 2;
            double *mode = modes + (c + r) * n * c + i * c;
            mode[a] = -(x[i * d + b] - centre[b]) / size;
            mode[b] = (x[i * d + a] - centre[a]) / size;
        }
    }
}

/* Where a mesh has too many parts, those that are held at more than d nodes are left out: number the
 * others, and give the nodes of the former -1. */
static weft_status leave_out_held(const weft_constraints *constraints, int32_t *part, int64_t *n,
                                  weft_error *error) {
    const int d = weft_space_mesh(constraints->space)->dimension;
    const int c = weft_space_components(constraints->space);
    const int64_t n_nodes = weft_space_nodes(constraints->space);
    int32_t *held = weft_array_make((size_t)*n, sizeof *held);
    int32_t kept = 0;
    if (!held)
        return weft_out_of_memory(error, "free modes");
    for (int64_t i = 0; i < n_nodes; ++i) {
        int n_given = 0;
        for (int k = 0; k < c; ++k)
            n_given += constraints->row_of[i * c + k] == -2;
        held[part[i]] += n_given == c;
    }
    for (int64_t p = 0; p < *n; ++p)
        held[p] = held[p] > d ? -1 : kept++;
    for (int64_t i = 0; i < n_nodes; ++i)
        part[i] = held[part[i]];
    *n = kept;
    free(held);
    return WEFT_OK;
}

static weft_status candidates_make(const weft_constraints *constraints, mode_candidates *out,
                                   weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_space *space = constraints->space;
    const int64_t n_each = modes_of_part(space), n_dofs = constraints->n_dofs;
    int64_t n_parts = 0;
    int32_t *part = malloc((size_t)weft_space_nodes(space) * sizeof *part);
    if (!part)
        TRY(weft_out_of_memory(error, "free modes"));
    TRY(constraint_parts(space, constraints->bc, part, &n_parts, error));
    if (n_parts * n_each > CANDIDATES_MAX)
        TRY(leave_out_held(constraints, part, &n_parts, error));
    if (n_parts * n_each > CANDIDATES_MAX) {
        status =
            weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                           "%lld parts of the mesh that do not touch may float, and at most %d can",
                           (long long)n_parts, CANDIDATES_MAX / (int)n_each);
        weft_error_hint(error, "join the parts in the mesh, or solve for each alone");
        goto done;
    }
    out->n = (int)(n_parts * n_each);
    out->n_dofs = n_dofs;
    out->modes = weft_array_make((size_t)out->n * (size_t)n_dofs, sizeof *out->modes);
    out->pulls = weft_array_make((size_t)out->n * (size_t)n_dofs, sizeof *out->pulls);
    if (!out->modes || !out->pulls)
        TRY(weft_out_of_memory(error, "free modes"));
    for (int32_t p = 0; p < n_parts; ++p)
        fill_part(space, part, p, out->modes + p * n_each * n_dofs);
done:
    free(part);
    return status;
}

/* ---- modes of the constraints ---------------------------------------------------------------- */

/* What the constraint on a dof sees of a mode. */
static double seen(const weft_constraints *constraints, int64_t dof, const double *mode) {
    const int32_t row = constraints->row_of[dof];
    double value = mode[dof];
    for (int k = 0; row >= 0 && k < constraints->rows[row].n; ++k)
        value -= constraints->rows[row].factors[k] * mode[constraints->rows[row].dofs[k]];
    return row == -1 ? 0 : value;
}

/* Combinations of the modes of which no constraint sees anything, in place. */
static weft_status keep_unconstrained(const weft_constraints *constraints, mode_candidates *found,
                                      weft_error *error) {
    const int64_t n = found->n_dofs;
    const int m = found->n;
    double G[CANDIDATES_MAX * CANDIDATES_MAX] = {0}, V[CANDIDATES_MAX * CANDIDATES_MAX];
    double at[CANDIDATES_MAX];
    int kept = 0;
    for (int64_t i = 0; i < n; ++i) {
        if (constraints->row_of[i] == -1)
            continue;
        for (int k = 0; k < m; ++k)
            at[k] = seen(constraints, i, found->modes + k * n);
        for (int k = 0; k < m * m; ++k)
            G[k] += at[k / m] * at[k % m];
    }
    weft_diagonalise(m, G, V);
    for (int k = 0; k < m; ++k) {
        if (G[k * m + k] > UNSEEN_SQUARE * (double)(n + 1))
            continue;
        for (int l = 0; l < m; ++l)
            V[l * m + kept] = V[l * m + k];
        ++kept;
    }
    return mode_candidates_combine(found, V, kept, error);
}

/* ---- the free modes -------------------------------------------------------------------------- */

double constraint_product_of(const double *a, const double *b, int64_t n) {
    double sum = 0;
    for (int64_t i = 0; i < n; ++i)
        sum += a[i] * b[i];
    return sum;
}

/* Gram and Schmidt, twice; the modes before are orthonormal, and weighted has M times them. */
static weft_status orthonormalise(const weft_space *space, mode_candidates *found, double *weighted,
                                  weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n = found->n_dofs;
    for (int k = 0; k < found->n; ++k) {
        double *mode = found->modes + k * n, *mass = weighted + k * n;
        for (int l = 0; l < 2 * k; ++l) {
            const double s = constraint_product_of(mode, weighted + l % k * n, n);
            for (int64_t i = 0; i < n; ++i)
                mode[i] -= s * found->modes[l % k * n + i];
        }
        TRY(constraint_mass_apply(space, mode, mass, error));
        const double size = sqrt(constraint_product_of(mode, mass, n));
        for (int64_t i = 0; i < n; ++i) {
            mode[i] /= size;
            mass[i] /= size;
        }
    }
done:
    return status;
}

weft_status weft_free_modes_find(weft_constraints *constraints, weft_operator *op,
                                 const weft_form *alone, int n_alone, weft_free_modes *out,
                                 weft_error *error) {
    weft_status status = WEFT_OK;
    mode_candidates found = {0};
    weft_free_modes made = {0};
    if (constraints->fields.n > 1) { /* constants of their components are the caller's */
        *out = made;
        goto done;
    }
    TRY(constraints_resolve(constraints, error));
    TRY(candidates_make(constraints, &found, error));
    TRY(mode_candidates_judge(constraints, op, alone, n_alone, &found, error));
    if (found.n > 0)
        TRY(keep_unconstrained(constraints, &found, error));
    if (found.n > 0)
        TRY(mode_candidates_split(&found, &made.held, error));
    if (found.n > 0) {
        made.weighted = weft_array_make((size_t)found.n * (size_t)found.n_dofs, sizeof(double));
        if (!made.weighted)
            TRY(weft_out_of_memory(error, "free modes"));
        TRY(orthonormalise(constraints->space, &found, made.weighted, error));
        made.n = found.n;
        made.modes = found.modes;
        found.modes = NULL;
    }
    *out = made;
    made = (weft_free_modes){0};
done:
    mode_candidates_clear(&found);
    weft_free_modes_clear(&made);
    return status;
}

weft_status weft_free_modes_remove(const weft_free_modes *modes, int64_t n_dofs, double *u,
                                   weft_error *error) {
    weft_status status = WEFT_OK;
    for (int k = 0; k < modes->n; ++k) {
        double part = 0;
        TRY(weft_share_product(modes->share, modes->weighted + k * n_dofs, u, n_dofs, &part,
                               error));
        for (int64_t i = 0; i < n_dofs; ++i)
            u[i] -= part * modes->modes[k * n_dofs + i];
    }
done:
    return status;
}

/* ---- pins ------------------------------------------------------------------------------------ */

static weft_status refuse_work(const weft_free_modes *modes, double work, double size,
                               weft_error *error) {
    weft_error_set(
        error, WEFT_ERROR_INPUT,
        "nothing fixes %d mode%s of u (%s), and the loads do not balance: they do a work "
        "of %.3g on one, of parts that sum to %.3g",
        modes->n, modes->n == 1 ? "" : "s",
        "constants, and translations and rotations of displacements", work, size);
    weft_error_hint(
        error, "fix u somewhere, by --dirichlet, --point-value or --symmetry, or add loads so that "
               "they sum to zero; terms below 1e-12 of the others in their rows hold nothing");
    return WEFT_ERROR_INPUT;
}

/* The work of b on a mode, and that of its parts without signs. */
static weft_status measure_work(const weft_free_modes *modes, int64_t n, int k, const double *b,
                                double *work, double *size, weft_error *error) {
    weft_status status = WEFT_OK;
    double *parts = weft_array_make((size_t)n, sizeof *parts);
    if (!parts)
        TRY(weft_out_of_memory(error, "free modes"));
    for (int64_t i = 0; i < n; ++i)
        parts[i] = modes->modes[k * n + i] * b[i];
    TRY(weft_share_product(modes->share, modes->modes + k * n, b, n, work, error));
    TRY(weft_share_sums(modes->share, parts, n, &(double){0}, size, error));
done:
    free(parts);
    return status;
}

/* Take from b what works on the modes, which is rounding. */
static weft_status balance(const weft_constraints *constraints, const weft_free_modes *modes,
                           double *b, weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n = constraints->n_dofs;
    for (int k = 0; k < modes->n; ++k) {
        double work = 0, size = 0;
        TRY(measure_work(modes, n, k, b, &work, &size, error));
        if (!(fabs(work) <= WORK_MOST * size))
            TRY(refuse_work(modes, work, size, error));
        if (fabs(work) > WORK * size)
            weft_log(constraints->context->monitor, WEFT_LOG_WARNING,
                     "nothing fixes a mode of u, and the loads do a work of %.3g on it, of parts "
                     "that sum to %.3g: it is taken off",
                     work, size);
        for (int64_t i = 0; i < n; ++i)
            b[i] -= work * modes->weighted[k * n + i];
    }
done:
    return status;
}

weft_status weft_free_modes_check(const weft_free_modes *modes, int64_t n_dofs, const double *r,
                                  double most, weft_error *error) {
    weft_status status = WEFT_OK;
    for (int k = 0; k < modes->n; ++k) {
        const double *mode = modes->modes + k * n_dofs;
        double work = 0, square = 0;
        TRY(weft_share_product(modes->share, mode, r, n_dofs, &work, error));
        TRY(weft_share_product(modes->share, mode, mode, n_dofs, &square, error));
        if (!(fabs(work) <= most * sqrt(square)))
            TRY(refuse_work(modes, work, most / WORK * sqrt(square), error));
    }
done:
    return status;
}

/* Elimination: each mode in turn is fixed where it is largest, and taken off the later ones. */
static weft_status pin(weft_constraints *constraints, int n_modes, double *left,
                       weft_error *error) {
    weft_status status = WEFT_OK;
    static const double one[] = {1};
    const int64_t n = constraints->n_dofs;
    for (int k = 0; k < n_modes; ++k) {
        const double *mode = left + k * n;
        int64_t at = -1;
        for (int64_t i = 0; i < n; ++i)
            if (constraints->row_of[i] == -1 && (at < 0 || fabs(mode[i]) > fabs(mode[at])))
                at = i;
        if (at < 0 || mode[at] == 0)
            TRY(weft_error_set(error, WEFT_ERROR_INTERNAL, "no dof fixes mode %d", k));
        for (int l = k + 1; l < n_modes; ++l) {
            const double factor = left[l * n + at] / mode[at];
            for (int64_t i = 0; i < n; ++i)
                left[l * n + i] -= factor * mode[i];
        }
        const int32_t dof = (int32_t)at;
        TRY(weft_constraints_add(constraints, 1, &dof, one, 0, NULL, error));
    }
done:
    return status;
}

weft_status weft_constraints_pin_whole(weft_constraints *constraints, const weft_free_modes *modes,
                                       bool held_too, weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t n = (size_t)constraints->n_dofs, n_free = (size_t)modes->n * n;
    const int n_pins = modes->n + (held_too ? modes->held.n : 0);
    double *left = NULL;
    if (n_pins == 0)
        goto done;
    left = weft_array_make((size_t)n_pins * n, sizeof *left);
    if (!left)
        TRY(weft_out_of_memory(error, "free modes"));
    if (modes->n > 0)
        memcpy(left, modes->modes, n_free * sizeof *left);
    if (n_pins > modes->n)
        memcpy(left + n_free, modes->held.modes, (size_t)modes->held.n * n * sizeof *left);
    TRY(pin(constraints, n_pins, left, error));
done:
    free(left);
    return status;
}

weft_status weft_constraints_pin(weft_constraints *constraints, weft_free_modes *modes, double *b,
                                 weft_error *error) {
    weft_status status = WEFT_OK;
    if (b) {
        TRY(weft_held_modes_balance(&modes->held, constraints->n_dofs, b, error));
        TRY(balance(constraints, modes, b, error));
    }
    if (!constraints->layout) /* a rank has the pins of the whole */
        TRY(weft_constraints_pin_whole(constraints, modes, b != NULL, error));
done:
    return status;
}
