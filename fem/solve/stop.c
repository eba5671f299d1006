/* Decides when a solve ends. The loops monitor the residual of the recurrence, which keeps
 * decreasing after the true residual b - A x has stagnated; the outcome is decided by b - A x.
 *
 *  Rounding   The true residual stagnates near c eps (|A| |x| + |b|) (Greenbaum 1997; Higham 2002,
 *             sections 7.1 and 17.5). Such an x solves a system whose data differ from the given
 *             ones by rounding, which is the best achievable result.
 *
 *  Norms      sqrt(r.D^-1 r) for residuals, sqrt(x.D x) for x, D = diag(A). With the preconditioner
 *             D the method is CG for D^-1/2 A D^-1/2, and with these norms the errors of soft parts
 *             are not masked by stiff parts if coefficients jump. |A| is then between 1 and the
 *             number n of rows of a local matrix. Without a preconditioner the norms are Euclidean,
 *             and |A| is between max D and n max D.
 *
 *  Constants  Where x is near a large constant, b - A x of the given values says nothing about how x varies. The
 *             tolerance is relative to the least |b - A e| of states e that are constant where x is free.
 *
 *  Energy     A tolerance relative to b is met too early if Dirichlet values on a stiff part make b
 *             large, because this says nothing about soft parts. Therefore the residual must also
 *             be small relative to the energy norm of x, which bounds it if b is given
 *             (b.D^-1 b <= |A| x.A x). Source: Arioli 2004. Only for CG: x.A x measures nothing if A
 *             is indefinite.
 *
 *  Soft rows  Where coefficients jump, what stiff rows leave in r masks soft rows and the soft couplings
 *             that hold a stiff inclusion, in any norm of the whole: there the error is r_i, or a sum of
 *             r_i over an inclusion, divided by soft entries. Therefore each |r_i| must also be small
 *             relative to min D max |x|, or, at rounding, so small that five digits are left; otherwise
 *             a correction from b - A x must leave these digits of x as they are.
 *
 *  c          FIXED + sqrt(iterations), because the rounding errors of the iterations accumulate
 *             like a random walk (Higham and Mary 2019). Solves of 100 to 3000 iterations, with
 *             coefficients that jump by up to 1e8, ended at 0.1 to 0.3 sqrt(iterations).
 *
 * Decision  docs/decisions/0036-true-residual-decides.md */
#include "core/base/number.h"
#include "fem/solve/krylov.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    FIXED = 10,
    WINDOW = 1000,         /* iterations */
    STAGNATION_WINDOW = 10 /* times max(n, WINDOW) iterations without a new lowest residual; exact
                              CG ends after n */
};

/* Lower bounds on the relative residual of the recurrence. Rounding prevents any x from reaching
 * the first. With a null space of constants the bound is larger, because the component of constants
 * that rounding adds to the directions does not decrease. */
static const double LEAST_TOLERANCE = 1e-20, LEAST_PROJECTED = 1e-15;

/* Largest residual, relative to |b|, that is accepted as due to rounding. Beyond it the system is
 * so close to singular that x has hardly a correct digit. */
static const double MOST_LEFT = 1e-4;

/* Limit of the residual relative to the energy norm, in units of the tolerance. It is at most 2 for
 * a source term, and sqrt(N) for smooth Dirichlet values on a mesh with N nodes per side. */
static const double OF_ENERGY = 100;

/* Limits of the largest |r_i| relative to min D max |x|: in units of the tolerance, and at rounding. In problems
 * without jumps r_i is far below. */
static const double OF_SOFTEST = 10, SOFTEST_AT_ROUNDING = 5e-6;

/* What a correction may change x by, relative to max |x|: it tells what rounding of b - A x is worth, and rounding of
 * the entries of A, which nobody sees, is worth a few times as much. */
static const double MOVED = 5e-7;

weft_status weft_cg_note(weft_cg_convergence *convergence, double residual, weft_error *error) {
    if (convergence->iterations >= convergence->capacity) {
        const int capacity =
            convergence->capacity < 64 ? 64 : convergence->capacity + convergence->capacity / 2;
        double *grown = realloc(convergence->history, (size_t)capacity * sizeof *grown);
        if (!grown)
            return weft_out_of_memory(error, "the history of the residuals");
        convergence->history = grown;
        convergence->capacity = capacity;
    }
    convergence->history[convergence->iterations] = residual;
    if (residual < convergence->lowest) {
        convergence->lowest = residual;
        convergence->lowest_at = convergence->iterations;
    }
    return WEFT_OK;
}

void weft_cg_limit(weft_solver *cg, double tolerance) {
    const double least = cg->options->project_mean ? LEAST_PROJECTED : LEAST_TOLERANCE;
    cg->limit = pow(fmax(tolerance, least) * cg->norm, 2);
}

/* ---- progress ------------------------------------------------------------------------------ */

static double lowest(const double *values, int begin, int end) {
    double least = INFINITY;
    for (int i = begin; i < end; ++i)
        least = values[i] < least ? values[i] : least;
    return least;
}

int weft_cg_until_check(int iterations) {
    return WINDOW - iterations % WINDOW;
}

/* Iterations per window: a quarter of all, at least those in which information crosses a mesh. */
static int window_of(const weft_solver *cg, int iterations) {
    const double wanted = fmax(4 * sqrt((double)cg->n_all), iterations / 4.0);
    return WINDOW * (int)ceil(fmax(wanted, WINDOW) / WINDOW);
}

static const double FALL = 0.99;

/* Whether the lowest residual of the last window is not below that of the window before. */
static bool is_flat(const weft_cg_convergence *convergence, int window) {
    const int last = convergence->iterations - window;
    return last >= window && !(lowest(convergence->history, last + 1, last + window + 1) <
                               FALL * lowest(convergence->history, last - window + 1, last + 1));
}

/* Detect stagnation of a method besides CG: its residuals fall no more. */
static bool finds_no_better(const weft_solver *cg, const weft_cg_convergence *convergence) {
    const int now = convergence->iterations;
    return cg->repeats || ((now % WINDOW == 0 || weft_krylov_cycle(cg) > 0) &&
                           is_flat(convergence, window_of(cg, now)));
}

/* Detect stagnation of CG, every WINDOW iterations. If coefficients jump, residuals may grow over
 * thousands of iterations, but the energy of the error decreases in each, by the amounts summed in
 * `gain` (Hestenes and Stiefel 1952, section 6; Strakos and Tichy 2002). */
static weft_status find_plateau(const weft_solver *cg, weft_cg_convergence *convergence, bool *flat,
                                weft_error *error) {
    static const double UNCHANGED = 1e-15;
    const int now = convergence->iterations, at = now / WINDOW, window = window_of(cg, now);
    *flat = cg->options->method != WEFT_METHOD_CG && finds_no_better(cg, convergence);
    if (now % WINDOW != 0 || !(cg->gain > 0)) /* the persistent kernel has no gain */
        return WEFT_OK;
    double *grown = realloc(convergence->gains, ((size_t)at + 1) * sizeof *grown);
    if (!grown)
        return weft_out_of_memory(error, "the history of the residuals");
    convergence->gains = grown;
    convergence->gains[at] = cg->gain;
    *flat = now - convergence->lowest_at > STAGNATION_WINDOW * fmax(WINDOW, (double)cg->n_all);
    if (*flat || now < 2 * window)
        return WEFT_OK;
    *flat = is_flat(convergence, window) &&
            cg->gain - convergence->gains[(now - window) / WINDOW] <= UNCHANGED * cg->gain;
    return WEFT_OK;
}

int weft_cg_iterations_remaining(const double *history, int iterations, double tolerance) {
    const int half = iterations / 2;
    const double now = lowest(history, 0, iterations + 1), then = lowest(history, 0, half + 1);
    if (half < 1 || !(now < then) || !(now > tolerance) || !(tolerance > 0))
        return 0;
    const double rate = log(then / now) / (iterations - half);
    return (int)fmin(log(now / tolerance) / rate, 1e9);
}

/* Round to two significant digits. */
static double rounded(double value) {
    const double unit = pow(10, fmax(0, floor(log10(value)) - 1));
    return unit * round(value / unit);
}

void weft_cg_report(const weft_solver *cg, const double *history, int iterations) {
    const double tolerance = cg->options->tolerance, residual = history[iterations];
    const double wanted = tolerance > 0 && tolerance < 1 ? -log10(tolerance) : 0;
    const double gained = residual < 1 && residual > 0 ? -log10(residual) : 0;
    const int remaining = weft_cg_iterations_remaining(history, iterations, tolerance);
    char phase[80] = "solve";
    if (remaining > 0)
        weft_print(phase, sizeof phase, "solve, iteration %d of about %.0f", iterations,
                   rounded((double)iterations + remaining));
    else if (iterations > 0)
        snprintf(phase, sizeof phase, "solve, iteration %d", iterations);
    weft_progress(cg->options->monitor, phase, gained < wanted ? gained : wanted, wanted);
}

/* ---- the end ------------------------------------------------------------------------------- */

/* Whether the iteration ends, judged by the recurrence. */
static weft_status ends(const weft_solver *cg, weft_cg_convergence *convergence, bool broken,
                        bool *yes, weft_cg_outcome *outcome, weft_error *error) {
    weft_status status = WEFT_OK;
    bool flat = false;
    *yes = true;
    TRY(find_plateau(cg, convergence, &flat, error));
    if (isnan(cg->rr) || isinf(cg->rr) || isnan(cg->rz) || (broken && isnan(cg->pq)))
        *outcome = WEFT_CG_NAN;
    else if (broken)
        *outcome = WEFT_CG_INDEFINITE;
    else if (cg->rr <= cg->limit && !cg->breakdown)
        *outcome = WEFT_CG_CONVERGED;
    else if (!(cg->rz > 0) || cg->breakdown)
        *outcome = WEFT_CG_BREAKDOWN;
    else if (convergence->iterations >= cg->options->max_iterations)
        *outcome = WEFT_CG_MAX_ITERATIONS;
    else if (flat)
        *outcome = WEFT_CG_STAGNATION;
    else
        *yes = false;
done:
    return status;
}

/* If the constants are the null space, the mean of x is arbitrary, and A times it is only rounding
 * error. */
weft_status weft_cg_true_residual(weft_solver *cg, weft_cg_convergence *convergence,
                                  weft_error *error) {
    weft_status status = WEFT_OK;
    if (convergence->is_true)
        goto done;
    if (cg->options->project_mean)
        TRY(weft_cg_run(cg, WEFT_CG_MEAN, error));
    TRY(weft_cg_residual(cg, error));
    convergence->is_true = true;
    convergence->history[convergence->iterations] = sqrt(cg->rr) / cg->norm;
done:
    return status;
}

static bool is_small(const weft_solver *cg) {
    return sqrt(cg->rz) <= MOST_LEFT * cg->scaled_norm;
}

/* A backward error up to which rounding, rather than slow convergence, is what has ended a solve. */
static const double SUSPICIOUS = 1e-12;

static bool masks_soft_rows(const weft_solver *cg, double most) {
    return cg->softest > 0 && cg->largest_r > most * cg->softest * cg->largest_x;
}

/* What rounding of the entries of A leaves in the stiffest row, however small b - A x is: a factorisation solves the
 * rounded system exactly. */
static double entries_left(const weft_solver *cg) {
    return 4 * DBL_EPSILON * cg->stiffest * cg->largest_x;
}

static weft_status at_rounding(weft_solver *cg, weft_cg_convergence *convergence, bool *yes,
                               weft_error *error) {
    weft_status status = WEFT_OK;
    const double c = FIXED + sqrt(convergence->iterations);
    double size = 0;
    TRY(weft_cg_size(cg, &size, error));
    convergence->backward_error = sqrt(cg->rz) / (cg->largest * size + cg->scaled_norm);
    *yes = convergence->backward_error <= c * DBL_EPSILON && is_small(cg);
done:
    return status;
}

/* Where the residual that rounding leaves in stiff rows could hide errors in soft ones, it often cancels. Measure
 * its effect on x: the solve starts again from b - A x, and x changes by as much as it is wrong.
 *  rounding  in: the backward error is that of rounding; out: x is right
 *  again     the solve starts again */
static weft_status measure_change(weft_solver *cg, weft_cg_convergence *convergence,
                                  weft_cg_outcome outcome, bool *rounding, bool *again,
                                  weft_error *error) {
    weft_status status = WEFT_OK;
    const double residual = sqrt(cg->rr) / cg->norm, most = MOVED * cg->largest_x;
    double moved = INFINITY;
    *again = false;
    if (!*rounding || !(cg->softest > 0) ||
        fmax(cg->largest_r, entries_left(cg)) <= SOFTEST_AT_ROUNDING * cg->softest * cg->largest_x)
        goto done;
    if (convergence->is_measuring)
        TRY(weft_cg_moved(cg, &moved, error));
    *rounding = moved <= most;
    *again = !convergence->is_measuring &&
             (outcome == WEFT_CG_CONVERGED || outcome == WEFT_CG_STAGNATION) &&
             convergence->iterations < cg->options->max_iterations;
    convergence->is_measuring = *again;
    if (!*again)
        goto done;
    TRY(weft_cg_keep(cg, error));
    weft_cg_limit(cg, residual * fmax(0.01 * most * cg->softest / cg->largest_r, DBL_EPSILON));
done:
    return status;
}

/* The largest rz that the tolerance allows for the energy of x. */
static double energy_limit(const weft_solver *cg) {
    return pow(OF_ENERGY * cg->options->tolerance, 2) * cg->largest * fabs(cg->energy);
}

static bool meets_tolerance(const weft_solver *cg, double residual) {
    return residual <= cg->options->tolerance &&
           (cg->options->method != WEFT_METHOD_CG || cg->rz <= energy_limit(cg)) &&
           !masks_soft_rows(cg, OF_SOFTEST * cg->options->tolerance);
}

/* What the residual must at least decrease by to meet the criteria besides the tolerance itself. */
static double further(const weft_solver *cg) {
    double factor = 0.5;
    if (cg->options->method == WEFT_METHOD_CG)
        factor = fmin(factor, sqrt(energy_limit(cg) / cg->rz));
    if (cg->softest > 0)
        factor = fmin(factor, OF_SOFTEST * cg->options->tolerance * cg->softest * cg->largest_x /
                                  cg->largest_r);
    return factor;
}

/* Whether to restart from b - A x: if only the recurrence has converged, if the energy criterion
 * needs a smaller limit, if constants, which rounding adds to the directions, have caused a
 * breakdown, or after a breakdown of a method besides CG. Each restart must have halved the residual. */
static bool starts_again(weft_solver *cg, const weft_cg_convergence *convergence,
                         weft_cg_outcome outcome, double residual) {
    const bool mends = outcome == WEFT_CG_CONVERGED ||
                       (outcome == WEFT_CG_BREAKDOWN && cg->breakdown) ||
                       (cg->options->project_mean &&
                        (outcome == WEFT_CG_INDEFINITE || outcome == WEFT_CG_BREAKDOWN));
    if (!mends || residual > 0.5 * convergence->replaced ||
        convergence->iterations >= cg->options->max_iterations)
        return false;
    if (residual <= cg->options->tolerance) /* the other criteria need less: at least halve it */
        weft_cg_limit(cg, residual * further(cg));
    return true;
}

weft_status weft_cg_judge(weft_solver *cg, weft_cg_convergence *convergence, bool broken,
                          bool *decided, weft_cg_outcome *outcome, weft_error *error) {
    weft_status status = WEFT_OK;
    bool rounding = false, again = false;
    TRY(ends(cg, convergence, broken, decided, outcome, error));
    if (!*decided || *outcome == WEFT_CG_NAN)
        goto done;
    TRY(weft_cg_true_residual(cg, convergence, error));
    const double residual = sqrt(cg->rr) / cg->norm;
    convergence->backward_error = NAN;
    if (meets_tolerance(cg, residual)) {
        *outcome = WEFT_CG_CONVERGED;
        goto done;
    }
    if (isnan(residual)) {
        *outcome = WEFT_CG_NAN;
        goto done;
    }
    if (*outcome != WEFT_CG_MAX_ITERATIONS || is_small(cg)) /* otherwise save a pass over x */
        TRY(at_rounding(cg, convergence, &rounding, error));
    TRY(measure_change(cg, convergence, *outcome, &rounding, &again, error));
    const bool mixes = cg->options->n_spaces > 1; /* |A| |x| multiplies numbers of other units */
    const bool restarts =
        !again && (!rounding || mixes) && starts_again(cg, convergence, *outcome, residual);
    if (again || restarts) {
        *decided = false;
    } else if (rounding) {
        *outcome = WEFT_CG_CONVERGED;
        convergence->to_rounding = true;
    } else if (*outcome == WEFT_CG_CONVERGED) {
        *outcome = convergence->iterations < cg->options->max_iterations ? WEFT_CG_STAGNATION
                                                                         : WEFT_CG_MAX_ITERATIONS;
    }
    convergence->jump = 0;
    if (*decided && *outcome == WEFT_CG_STAGNATION && convergence->backward_error < SUSPICIOUS &&
        masks_soft_rows(cg, SOFTEST_AT_ROUNDING))
        convergence->jump = cg->stiffest / cg->softest;
    convergence->replaced = residual;
done:
    return status;
}
