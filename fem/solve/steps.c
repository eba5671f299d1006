/* The steps of a CG solve: scripts that run on vectors on the device. The host reads uniform
 * values; it accesses lists only before and after the iteration, piece by piece. */
#include "core/base/exact.h"
#include "core/weft_core.h"
#include "fem/solve/krylov.h"
#include "fem/space/layout.h"
#include "fem/weft_fem.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

enum { PIECE = 1 << 16 /* doubles of a list that the host processes at a time */ };

static weft_status uniform_read(const weft_solver *cg, weft_cg_name name, double *value,
                                weft_error *error) {
    return weft_memory_read(cg->memory[name], 0, value, sizeof *value, error);
}

static weft_status uniform_write(weft_solver *cg, weft_cg_name name, double value,
                                 weft_error *error) {
    return weft_memory_write(cg->memory[name], 0, &value, sizeof value, error);
}

static weft_status norms_read(weft_solver *cg, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(uniform_read(cg, WEFT_CG_RR, &cg->rr, error));
    TRY(uniform_read(cg, WEFT_CG_RZ, &cg->rz, error));
done:
    return status;
}

/* ---- lists on the host, piece by piece ------------------------------------------------------- */

/* Of x in one component. */
typedef struct mean_sums {
    weft_exact_sum all, given;
    int64_t n, n_given;
} mean_sums;

typedef struct weft_cg_walk {
    const weft_solver *cg;
    int64_t dof, k; /* the next dof; the next constrained dof is constrained[k] */
    double least, most;
    bool has_signs;             /* an entry of the diagonal is not positive */
    double factor;              /* of b and x; of the diagonal: instead of 0 */
    int64_t first;              /* dof of the piece */
    const unsigned char *owned; /* [dofs] is a dof of this rank? NULL: all are; set by walk */
    mean_sums *sums;            /* of each component */
} weft_cg_walk;

/* Advance by one dof; returns whether it is free. */
static bool walk_on(weft_cg_walk *walk) {
    const weft_cg_options *options = walk->cg->options;
    bool is_free = walk->k >= options->n_constrained || options->constrained[walk->k] != walk->dof;
    walk->dof += 1;
    walk->k += !is_free;
    return is_free;
}

/* Which dofs are this rank's own; NULL: all. */
static const unsigned char *owned_of(const weft_operator *op) {
    return op->layout ? weft_layout_owned(op->layout) : NULL;
}

/* Is entry i of the piece a dof of this rank? Of others, rows are not complete. */
static bool is_own(const weft_cg_walk *walk, int64_t i) {
    return !walk->owned || walk->owned[walk->first + i];
}

/* Visit a list piece by piece. to == from: change it in place; to == WEFT_CG_NAMES: read only. */
static weft_status walk(weft_solver *cg, weft_cg_name from, weft_cg_name to,
                        void (*visit)(weft_cg_walk *walk, double *piece, int64_t n),
                        weft_cg_walk *state, weft_error *error) {
    weft_status status = WEFT_OK;
    int64_t size = cg->n < PIECE ? cg->n : PIECE;
    double *piece = malloc((size_t)size * sizeof *piece + 1);
    if (!piece) {
        status = weft_out_of_memory(error, "conjugate gradients");
        goto done;
    }
    state->cg = cg;
    state->owned = owned_of(cg->op);
    for (int64_t first = 0; first < cg->n; first += size) {
        int64_t n = cg->n - first < size ? cg->n - first : size;
        size_t offset = (size_t)first * sizeof *piece, bytes = (size_t)n * sizeof *piece;
        TRY(weft_memory_read(cg->memory[from], offset, piece, bytes, error));
        state->first = first;
        visit(state, piece, n);
        if (to != WEFT_CG_NAMES)
            TRY(weft_memory_write(cg->memory[to], offset, piece, bytes, error));
    }
done:
    free(piece);
    return status;
}

static void visit_diagonal(weft_cg_walk *walk, double *piece, int64_t n) {
    const bool jacobi = walk->cg->options->jacobi;
    for (int64_t i = 0; i < n; ++i) {
        const bool has_sign = piece[i] < 0 || piece[i] > 0;
        const double entry = has_sign ? fabs(piece[i]) : piece[i] + walk->factor;
        const bool is_free = walk_on(walk), counts = is_free && is_own(walk, i);
        walk->has_signs |= counts && !(piece[i] > 0);
        if (counts && !(entry >= walk->least)) /* propagates NaN */
            walk->least = entry;
        if (counts && entry > walk->most)
            walk->most = entry;
        piece[i] = !is_free ? 0 : jacobi ? 1 / entry : 1;
    }
}

static void visit_constrained(weft_cg_walk *walk, double *piece, int64_t n) {
    for (int64_t i = 0; i < n; ++i)
        if (walk_on(walk))
            piece[i] = 0;
}

static void visit_largest(weft_cg_walk *walk, double *piece, int64_t n) {
    for (int64_t i = 0; i < n; ++i)
        if (!is_own(walk, i))
            continue;
        else if (!isfinite(piece[i]))
            walk->most = INFINITY;
        else if (fabs(piece[i]) > walk->most)
            walk->most = fabs(piece[i]);
}

static void visit_scale(weft_cg_walk *walk, double *piece, int64_t n) {
    for (int64_t i = 0; i < n; ++i)
        piece[i] *= walk->factor;
    visit_largest(walk, piece, n);
}

/* The greatest of all ranks. */
static weft_status greatest(const weft_solver *cg, double *value, weft_error *error) {
    return weft_comm_maximum(weft_layout_comm(cg->op->layout), value, error);
}

/* ---- steps --------------------------------------------------------------------------------- */

/* weft_cg_diagonal by a script: of a diagonal that is to be positive, or has any signs. */
static weft_status diagonal_on_device(weft_solver *cg, bool has_signs, double *least,
                                      weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_cg_options *options = cg->options;
    double most = 0, wrong = 0, lowest = 0;
    TRY(weft_lists_set(cg->lists, cg->memory[WEFT_CG_D], options->constrained,
                       options->n_constrained, DBL_MAX, error));
    TRY(uniform_write(cg, WEFT_CG_JACOBI, options->jacobi, error));
    TRY(weft_cg_run(cg, has_signs ? WEFT_CG_DIAGONAL_SIGNS : WEFT_CG_DIAGONAL, error));
    TRY(uniform_read(cg, WEFT_CG_LEAST, least, error));
    TRY(uniform_read(cg, WEFT_CG_MOST, &most, error));
    TRY(uniform_read(cg, WEFT_CG_WRONG, &wrong, error));
    lowest = *least;
    if (has_signs)
        TRY(uniform_read(cg, WEFT_CG_START, &lowest, error));
    *least = isnan(wrong) ? NAN : *least;
    cg->largest = options->jacobi ? 1 : most;
    cg->softest = lowest > 0 && *least > 0 ? *least : 0;
    cg->stiffest = most;
done:
    return status;
}

/* What the ranks have found on the diagonal. */
static weft_status greatest_entries(const weft_solver *cg, weft_cg_walk *found, weft_error *error) {
    weft_status status = WEFT_OK;
    double least = -found->least, signs = found->has_signs;
    TRY(greatest(cg, &found->most, error));
    TRY(greatest(cg, &least, error));
    TRY(greatest(cg, &signs, error));
    found->least = -least;
    found->has_signs = signs > 0;
done:
    return status;
}

/* weft_cg_diagonal of any signs, by the host. */
static weft_status diagonal_on_host(weft_solver *cg, double *least, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_cg_walk state = {.least = INFINITY}, given = {0};
    TRY(walk(cg, WEFT_CG_D, WEFT_CG_NAMES, visit_largest, &given, error));
    TRY(greatest(cg, &given.most, error));
    state.factor = given.most > 0 && isfinite(given.most) ? given.most : 1;
    TRY(walk(cg, WEFT_CG_D, WEFT_CG_D, visit_diagonal, &state, error));
    TRY(greatest_entries(cg, &state, error));
    cg->largest = cg->options->jacobi ? 1 : state.most;
    cg->softest = state.has_signs ? 0 : state.least;
    cg->stiffest = state.most;
    *least = state.least;
done:
    return status;
}

weft_status weft_cg_diagonal(weft_solver *cg, double *least, weft_error *error) {
    weft_status status = WEFT_OK;
    const bool has_signs = !weft_method_about(cg->options->method)->needs_definite;
    const bool on_gpu = weft_context_is_on_gpu(cg->context);
    TRY(weft_operator_diagonal(cg->op, cg->memory[WEFT_CG_D], error));
    TRY(has_signs && !on_gpu ? diagonal_on_host(cg, least, error)
                             : diagonal_on_device(cg, has_signs, least, error));
done:
    return status;
}

/* r = b - q, of the reduced or projected system */
static weft_status difference(weft_solver *cg, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(weft_cg_run(cg,
                    cg->options->project_mean     ? WEFT_CG_RESIDUAL_MEAN
                    : cg->options->preconditioner ? WEFT_CG_RESIDUAL_ALONE
                                                  : WEFT_CG_RESIDUAL,
                    error));
    TRY(norms_read(cg, error));
    TRY(uniform_read(cg, WEFT_CG_ENERGY, &cg->energy, error));
    TRY(uniform_read(cg, WEFT_CG_MOST, &cg->largest_r, error));
    TRY(uniform_read(cg, WEFT_CG_SIZE, &cg->largest_x, error));
done:
    return status;
}

static int component_of(const weft_cg_walk *walk, int64_t dof) {
    const weft_cg_options *options = walk->cg->options;
    int first = 0, space = 0;
    while (space + 1 < options->n_spaces && dof >= weft_space_dofs(options->spaces[space])) {
        dof -= weft_space_dofs(options->spaces[space]);
        first += weft_space_components(options->spaces[space++]);
    }
    return first + (int)(dof % weft_space_components(options->spaces[space]));
}

/* Visit x of several components: sums of the given values, if there are any, and of all values. */
static void visit_means(weft_cg_walk *walk, double *piece, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
        mean_sums *sums = &walk->sums[component_of(walk, walk->dof)];
        const bool is_free = walk_on(walk);
        if (!is_own(walk, i))
            continue;
        weft_exact_add(&sums->all, piece[i]);
        if (!is_free)
            weft_exact_add(&sums->given, piece[i]);
        sums->n_given += !is_free;
        ++sums->n;
    }
}

static void visit_constant(weft_cg_walk *walk, double *piece, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
        const mean_sums *sums = &walk->sums[component_of(walk, walk->dof)];
        const double mean = sums->n_given > 0
                                ? weft_exact_value(&sums->given) / (double)sums->n_given
                                : weft_exact_value(&sums->all) / (double)sums->n;
        piece[i] = walk_on(walk) ? mean : 0;
    }
}

/* The sums of all ranks. */
static weft_status join_means(const weft_solver *cg, mean_sums *sums, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_comm *comm = weft_layout_comm(cg->op->layout);
    const int size = weft_comm_size(comm);
    mean_sums *all = calloc((size_t)size, sizeof *all);
    if (!all)
        TRY(weft_out_of_memory(error, "conjugate gradients"));
    TRY(weft_comm_gather(comm, sums, sizeof *sums, all, error));
    *sums = all[0];
    for (int r = 1; r < size; ++r) {
        weft_exact_join(&sums->all, &all[r].all);
        weft_exact_join(&sums->given, &all[r].given);
        sums->n += all[r].n;
        sums->n_given += all[r].n_given;
    }
done:
    free(all);
    return status;
}

/* z of WEFT_CG_GIVEN: a constant in each component, near those of x. */
static weft_status make_constants(weft_solver *cg, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_cg_options *options = cg->options;
    int n = 0;
    weft_cg_walk state = {0}, again = {0};
    for (int i = 0; i < options->n_spaces; ++i)
        n += weft_space_components(options->spaces[i]);
    if (n < 2)
        goto done;
    state.sums = again.sums = calloc((size_t)n, sizeof *state.sums);
    if (!state.sums)
        TRY(weft_out_of_memory(error, "conjugate gradients"));
    for (int k = 0; k < n; ++k)
        state.sums[k].all = state.sums[k].given = weft_exact_zero();
    TRY(walk(cg, WEFT_CG_X, WEFT_CG_NAMES, visit_means, &state, error));
    for (int k = 0; k < n; ++k)
        TRY(join_means(cg, &state.sums[k], error));
    TRY(walk(cg, WEFT_CG_Z, WEFT_CG_Z, visit_constant, &again, error));
done:
    free(state.sums);
    return status;
}

/* The least |r - s A e|, p = A e, of the states that are constant in each component, e, where x is free: most of r may be what
 * the given values pull at a large constant, which says nothing about how x varies. */
static weft_status refer_to_constants(weft_solver *cg, weft_error *error) {
    static const double LEAST = 1e-14; /* tolerance for |r| relative to the norm with constants */
    weft_status status = WEFT_OK;
    double pulled = 0, size = 0;
    TRY(weft_cg_run(cg, WEFT_CG_REFERENCE, error));
    TRY(uniform_read(cg, WEFT_CG_RZ, &pulled, error));
    TRY(uniform_read(cg, WEFT_CG_SIZE, &size, error));
    const double least = size > 0 ? cg->rr - pulled / size * pulled : cg->rr;
    if (least < cg->rr)
        cg->norm = fmax(sqrt(fmax(least, 0)),
                        fmin(1, LEAST / fmax(cg->options->tolerance, LEAST)) * cg->norm);
done:
    return status;
}

weft_status weft_cg_norm(weft_solver *cg, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_cg_options *options = cg->options;
    double given = 0, start = INFINITY, constrained = options->n_constrained > 0;
    TRY(greatest(cg, &constrained, error));
    TRY(weft_memory_zero(cg->memory[WEFT_CG_Q], error));
    if (constrained > 0 || (options->n_spaces > 0 && !options->project_mean)) {
        TRY(weft_cg_run(cg, WEFT_CG_GIVEN, error));
        TRY(uniform_read(cg, WEFT_CG_SIZE, &given, error));
        TRY(uniform_read(cg, WEFT_CG_START, &start, error));
        if (!(given <= 0)) /* also if it is NaN */
            TRY(weft_operator_apply(cg->op, cg->memory[WEFT_CG_P], cg->memory[WEFT_CG_Q], error));
    }
    cg->is_homogeneous = given <= 0;
    cg->is_zero = start <= 0; /* false where it is not known */
    const bool refers = options->n_spaces > 0 && !options->project_mean &&
                        (!(constrained > 0) || !cg->is_homogeneous);
    if (refers) {
        TRY(make_constants(cg, error));
        TRY(weft_operator_apply(cg->op, cg->memory[WEFT_CG_Z], cg->memory[WEFT_CG_P], error));
    }
    TRY(difference(cg, error)); /* which spoils z */
    cg->norm = sqrt(cg->rr);
    cg->scaled_norm = sqrt(cg->rz);
    if (refers)
        TRY(refer_to_constants(cg, error));
    TRY(weft_memory_zero(cg->memory[WEFT_CG_P], error));
done:
    return status;
}

weft_status weft_cg_scale_wanted(weft_solver *cg, double *scale, weft_error *error) {
    static const double SMALL = 1e-120, LARGE = 1e120; /* squares times a squared tolerance fit */
    weft_status status = WEFT_OK;
    weft_cg_walk residual = {0}, given = {0};
    int exponent = 0;
    *scale = 1;
    if (cg->norm > SMALL && cg->norm < LARGE)
        goto done;
    TRY(walk(cg, WEFT_CG_Q, WEFT_CG_NAMES, visit_largest, &residual, error));
    TRY(greatest(cg, &residual.most, error));
    double most = residual.most;
    if (!isfinite(most)) { /* the product has overflowed: use b and x instead */
        TRY(walk(cg, WEFT_CG_B, WEFT_CG_NAMES, visit_largest, &given, error));
        TRY(walk(cg, WEFT_CG_X, WEFT_CG_NAMES, visit_largest, &given, error));
        TRY(greatest(cg, &given.most, error));
        most = given.most;
    }
    if (!isfinite(most) || most <= 0)
        goto done;
    (void)frexp(most, &exponent);
    exponent = exponent < -1000 ? -1000 : exponent > 1000 ? 1000 : exponent;
    *scale = ldexp(1, -exponent); /* it and its reciprocal are normal numbers */
done:
    return status;
}

weft_status weft_cg_scale(weft_solver *cg, double factor, double *largest, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_cg_walk state = {.factor = factor};
    TRY(walk(cg, WEFT_CG_B, WEFT_CG_B, visit_scale, &state, error));
    state.most = 0;
    TRY(walk(cg, WEFT_CG_X, WEFT_CG_X, visit_scale, &state, error));
    TRY(greatest(cg, &state.most, error));
    *largest = state.most;
done:
    return status;
}

weft_status weft_cg_residual(weft_solver *cg, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(cg->is_zero
            ? weft_memory_zero(cg->memory[WEFT_CG_Q], error)
            : weft_operator_apply(cg->op, cg->memory[WEFT_CG_X], cg->memory[WEFT_CG_Q], error));
    cg->is_zero = false; /* what follows changes x */
    TRY(difference(cg, error));
    TRY(uniform_write(cg, WEFT_CG_RZ_BEFORE, INFINITY, error));
    TRY(uniform_write(cg, WEFT_CG_PQ, 1, error));
done:
    return status;
}

weft_status weft_cg_size(weft_solver *cg, double *size, weft_error *error) {
    weft_status status = WEFT_OK;
    double square = 0;
    TRY(weft_cg_run(cg, WEFT_CG_SOLUTION, error));
    TRY(uniform_read(cg, WEFT_CG_SIZE, &square, error));
    *size = sqrt(square);
done:
    return status;
}

weft_status weft_cg_keep(weft_solver *cg, weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t bytes = (size_t)cg->n * sizeof(double);
    if (!cg->kept)
        TRY(weft_memory_make(cg->context->device, bytes, &cg->kept, error));
    TRY(weft_memory_copy(cg->kept, cg->memory[WEFT_CG_X], bytes, error));
done:
    return status;
}

weft_status weft_cg_moved(weft_solver *cg, double *moved, weft_error *error) {
    weft_status status = WEFT_OK;
    double pieces[2][512];
    enum { SIZE = sizeof pieces[0] / sizeof *pieces[0] };
    *moved = 0;
    for (int64_t first = 0; first < cg->n; first += SIZE) {
        const int64_t n = cg->n - first < SIZE ? cg->n - first : SIZE;
        const size_t offset = (size_t)first * sizeof(double), bytes = (size_t)n * sizeof(double);
        TRY(weft_memory_read(cg->kept, offset, pieces[0], bytes, error));
        TRY(weft_memory_read(cg->memory[WEFT_CG_X], offset, pieces[1], bytes, error));
        for (int64_t i = 0; i < n; ++i)
            *moved = fmax(*moved, fabs(pieces[1][i] - pieces[0][i]));
    }
    TRY(greatest(cg, moved, error));
done:
    return status;
}

weft_status weft_cg_iterations(weft_solver *cg, int iterations, int *done, double *rr,
                               weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_cg_script loop = !cg->options->preconditioner ? WEFT_CG_LOOP
                                : weft_cg_single(cg)         ? WEFT_CG_SINGLE_LOOP
                                                             : WEFT_CG_PRECONDITIONED_LOOP;
    int64_t counted = 0;
    iterations = iterations < WEFT_CG_ITERATIONS_MAX ? iterations : WEFT_CG_ITERATIONS_MAX;
    TRY(uniform_write(cg, WEFT_CG_ITERATIONS, iterations, error));
    TRY(uniform_write(cg, WEFT_CG_LIMIT, cg->limit, error));
    TRY(uniform_write(cg, WEFT_CG_STEP, 0, error));
    if (loop == WEFT_CG_SINGLE_LOOP)
        TRY(uniform_write(cg, WEFT_CG_SIZE, sqrt(cg->rr), error));
    TRY(weft_cg_run(cg, loop, error));
    TRY(weft_program_iterations(cg->scripts[loop].program, &counted, error));
    TRY(weft_memory_read(cg->history, 0, rr, (size_t)(counted + 1) * sizeof *rr, error));
    TRY(norms_read(cg, error));
    TRY(uniform_read(cg, WEFT_CG_PQ, &cg->pq, error));
    TRY(uniform_read(cg, WEFT_CG_GAIN, &cg->gain, error));
    *done = (int)counted;
done:
    return status;
}

weft_status weft_cg_clear(weft_solver *cg, weft_error *error) {
    weft_cg_walk state = {0};
    return walk(cg, WEFT_CG_X, WEFT_CG_X, visit_constrained, &state, error);
}

/* ---- memory -------------------------------------------------------------------------------- */

/* MINRES measures by the preconditioner. */
static weft_status check_sign(const weft_cg_options *options, weft_error *error) {
    const weft_preconditioner_info *info =
        options->preconditioner
            ? weft_preconditioner_about(weft_preconditioner_reported(options->preconditioner)->kind)
            : NULL;
    if (options->method != WEFT_METHOD_MINRES || !info || !info->any_sign)
        return WEFT_OK;
    weft_error_set(error, WEFT_ERROR_USAGE,
                   "MINRES needs a positive definite preconditioner, which %s is not where the "
                   "matrix is indefinite",
                   info->name);
    weft_error_location(error, "--method", NULL, 0, 0);
    weft_error_hint(error, "leave out --method, or use --method gmres");
    return WEFT_ERROR_USAGE;
}

static weft_status check(const weft_solver *cg, weft_error *error) {
    const weft_cg_options *options = cg->options;
    size_t bytes = (size_t)cg->n * sizeof(double);
    if (weft_memory_bytes(cg->memory[WEFT_CG_B]) < bytes ||
        weft_memory_bytes(cg->memory[WEFT_CG_X]) < bytes)
        return weft_error_set(error, WEFT_ERROR_SHAPE, "b and x must hold %lld doubles each",
                              (long long)cg->n);
    if (options->project_mean && options->n_constrained)
        return weft_error_set(error, WEFT_ERROR_USAGE,
                              "a system with constrained dofs is not singular: do not project");
    if ((options->full_cycles > 0 || options->until_discretisation) &&
        (!options->preconditioner || options->method != WEFT_METHOD_CG))
        return weft_error_set(error, WEFT_ERROR_USAGE,
                              "full multigrid needs the method CG and a preconditioner");
    for (int64_t k = 0; k < options->n_constrained; ++k)
        if (options->constrained[k] < 0 || options->constrained[k] >= cg->n ||
            (k && options->constrained[k] <= options->constrained[k - 1]))
            return weft_error_set(error, WEFT_ERROR_USAGE,
                                  "constrained dofs must ascend and lie in [0, %lld)",
                                  (long long)cg->n);
    if (options->project_mean && !weft_method_about(options->method)->needs_symmetric) {
        weft_error_set(
            error, WEFT_ERROR_USAGE,
            "the system is singular, with the constants as its null space, which %s cannot remove",
            weft_method_about(options->method)->title);
        weft_error_hint(error, "use CG or MINRES, or prescribe a value somewhere");
        return WEFT_ERROR_USAGE;
    }
    const weft_status status = check_sign(options, error);
    if (status != WEFT_OK)
        return status;
    if (weft_device_limits(cg->context->device)->records_only)
        return weft_error_refuse(error, WEFT_ERROR_UNSUPPORTED,
                                 "a null device computes nothing, so it cannot solve a system",
                                 "use the device host");
    return WEFT_OK;
}

weft_status weft_cg_start(weft_solver *cg, weft_memory *b, weft_memory *x,
                          const weft_cg_options *options, weft_error *error) {
    weft_status status = WEFT_OK;
    cg->options = options;
    cg->memory[WEFT_CG_X] = x;
    cg->memory[WEFT_CG_B] = b;
    cg->energy = cg->gain = 0;
    cg->discretisation = cg->algebraic = NAN;
    cg->breakdown = NULL;
    cg->repeats = cg->is_zero = false;
    TRY(check(cg, error));
    for (int i = WEFT_CG_RZ; i < WEFT_CG_NAMES; ++i)
        TRY(uniform_write(cg, (weft_cg_name)i, 0, error));
    if (options->preconditioner && options->method == WEFT_METHOD_CG && !cg->product &&
        !weft_operator_rows(cg->op))
        TRY(weft_memory_make(cg->context->device, (size_t)cg->n * sizeof(double), &cg->product,
                             error));
    if (options->project_mean)
        TRY(uniform_write(cg, WEFT_CG_SHARE, 1 / (double)cg->n_all, error));
    TRY(weft_cg_compile(cg, error));
done:
    return status;
}

void weft_cg_end(weft_solver *cg) {
    for (int i = 0; i < WEFT_CG_SCRIPTS; ++i)
        weft_cg_unbind(cg, (weft_cg_script)i);
    weft_krylov_unbind(cg);
    cg->memory[WEFT_CG_X] = cg->memory[WEFT_CG_B] = NULL;
}

/* ---- the solver ---------------------------------------------------------------------------- */

/* The dofs of all ranks. */
static weft_status count_all(const weft_operator *op, int64_t *out, weft_error *error) {
    const unsigned char *owned = owned_of(op);
    *out = owned ? 0 : weft_operator_dofs(op);
    for (int64_t i = 0; owned && i < weft_operator_dofs(op); ++i)
        *out += owned[i];
    return weft_comm_sum(weft_layout_comm(op->layout), out, error);
}

weft_status weft_solver_make(weft_context *context, weft_operator *op, weft_solver **out,
                             weft_error *error) {
    weft_status status = WEFT_OK;
    weft_solver *solver = calloc(1, sizeof *solver);
    if (!solver)
        TRY(weft_out_of_memory(error, "conjugate gradients"));
    solver->context = context;
    solver->op = op;
    solver->n = weft_operator_dofs(op);
    TRY(count_all(op, &solver->n_all, error));
    for (int i = WEFT_CG_Z; i < WEFT_CG_NAMES; ++i)
        TRY(weft_memory_make(context->device,
                             (i < WEFT_CG_RZ ? (size_t)solver->n : 1) * sizeof(double),
                             &solver->memory[i], error));
    TRY(weft_memory_make(context->device, (WEFT_CG_ITERATIONS_MAX + 1) * sizeof(double),
                         &solver->history, error));
    TRY(weft_operator_in_script_make(op, &solver->in_script, error));
    TRY(weft_lists_make(context->device, &solver->lists, error));
    *out = solver;
    solver = NULL;
done:
    weft_solver_free(&solver);
    return status;
}

void weft_solver_free(weft_solver **solver) {
    weft_solver *cg = solver ? *solver : NULL;
    if (!cg)
        return;
    for (int i = 0; i < WEFT_CG_SCRIPTS; ++i)
        weft_compiled_free(&cg->scripts[i]);
    weft_persistent_free(&cg->persistent);
    weft_krylov_free(&cg->krylov);
    weft_memory_free(&cg->history);
    weft_lists_free(&cg->lists);
    weft_memory_free(&cg->product);
    weft_memory_free(&cg->kept);
    for (int i = WEFT_CG_Z; i < WEFT_CG_NAMES; ++i)
        weft_memory_free(&cg->memory[i]);
    weft_operator_in_script_free(&cg->in_script);
    free(cg);
    *solver = NULL;
}
