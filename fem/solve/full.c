/* Full multigrid as a start of a Krylov method, and as a solver to discretisation accuracy.
 *
 * Spaces are nested. With u_l the solution on level l, 0 the finest, the squared energy norms of
 * u_l - u_{l+1} therefore decrease from level to level by the factor q of the squared discretisation
 * errors, and that of level 0 is |u_0 - u_1|^2 q / (1 - q). The root mean square over the nodes
 * takes the place of the norm in L2; there only the norms of errors add up. What V-cycles leave is
 * extrapolated from the last two of them in the same way. */
#include "core/weft_core.h"
#include "fem/precondition/ranks.h"
#include "fem/solve/krylov.h"
#include "fem/weft_fem.h"

#include <math.h>
#include <stdlib.h>

enum { CYCLES = WEFT_FULL_CYCLES_UNTIL };
/* Of the discretisation error, what V-cycles may leave. */
static const double SHARE = 0.3;

weft_status weft_cg_full_start(weft_solver *cg, int cycles, weft_full_report *report,
                               weft_error *error) {
    weft_status status = WEFT_OK;
    weft_preconditioner *preconditioner = cg->options->preconditioner;
    if (!cg->is_homogeneous)
        TRY(weft_preconditioner_lift(preconditioner, cg->memory[WEFT_CG_X], error));
    if (cg->is_zero && !report) { /* the residual is there, and the start becomes x */
        TRY(weft_preconditioner_start(preconditioner, cycles, cg->memory[WEFT_CG_Q],
                                      cg->memory[WEFT_CG_X], error));
        cg->is_zero = false;
        goto done;
    }
    if (!cg->is_zero)
        TRY(weft_cg_residual(cg, error));
    TRY(report ? weft_preconditioner_full(preconditioner, cycles, cg->memory[WEFT_CG_Q],
                                          cg->memory[WEFT_CG_Z], report, error)
               : weft_preconditioner_start(preconditioner, cycles, cg->memory[WEFT_CG_Q],
                                           cg->memory[WEFT_CG_Z], error));
    TRY(weft_cg_run(cg, WEFT_CG_ADD, error));
    cg->is_zero = false;
done:
    return status;
}

/* ---- estimates ------------------------------------------------------------------------------- */

static double clamp(double value, double low, double high) {
    return value >= low ? fmin(value, high) : low; /* NaN: low */
}

/* The norms of what a level adds to the next coarser one: energy, root mean square. */
typedef struct change {
    double energy, mean;
} change;

static change change_of(const weft_full_level *level, int first, int end) {
    double energy = 0, size = 0;
    for (int k = first; k < end; ++k) {
        energy += level->energy[k];
        size += level->size[k];
    }
    return (change){sqrt(energy), sqrt(size / (double)level->n_rows)};
}

/* The discretisation error on the finest level; linear elements halve or quarter it from level to level. */
static change discretisation(const weft_full_report *report) {
    const change last = change_of(&report->levels[0], 0, report->levels[0].n_cycles);
    double energy = 0.5, mean = 0.25;
    if (report->n_levels > 2) {
        const change before = change_of(&report->levels[1], 0, report->levels[1].n_cycles);
        energy = clamp(last.energy / before.energy, 0.25, 0.9);
        mean = clamp(last.mean / before.mean, 0.125, 0.9);
    }
    return (change){last.energy * energy / sqrt(1 - energy * energy),
                    last.mean * mean / (1 - mean)};
}

/* The error after a V-cycle, from its change and that of the cycle before. */
static change left_after(change last, change before) {
    const double energy = clamp(last.energy / before.energy, 0.05, 0.9);
    const double mean = clamp(last.mean / before.mean, 0.05, 0.9);
    return (change){last.energy * energy / (1 - energy), last.mean * mean / (1 - mean)};
}

/* Rounding of a solution in single precision, whose size is at most the sum of all levels' changes. */
static double rounding_of(const weft_full_report *report) {
    double size = 0;
    for (int i = 0; i < report->n_levels; ++i)
        size += change_of(&report->levels[i], 0, report->levels[i].n_cycles).mean;
    return size * 0x1p-24;
}

/* ---- until discretisation -------------------------------------------------------------------- */

/* One V-cycle of the true residual. */
static weft_status run_cycle(weft_solver *cg, change *out, weft_error *error) {
    weft_status status = WEFT_OK;
    double energy = 0, size = 0;
    int64_t n = 0;
    TRY(weft_rank_dofs(cg->options->preconditioner->problem.op, &n, error));
    TRY(weft_preconditioner_apply(cg->options->preconditioner, cg->memory[WEFT_CG_Q],
                                  cg->memory[WEFT_CG_Z], error));
    TRY(weft_cg_run(cg, WEFT_CG_ADD, error));
    TRY(weft_memory_read(cg->memory[WEFT_CG_RZ], 0, &energy, sizeof energy, error));
    TRY(weft_memory_read(cg->memory[WEFT_CG_SIZE], 0, &size, sizeof size, error));
    *out = (change){sqrt(energy), sqrt(size / (double)n)};
done:
    return status;
}

static weft_status refuse(weft_error *error) {
    return weft_error_refuse(
        error, WEFT_ERROR_UNSUPPORTED,
        "the discretisation error is estimated from differences between levels of the "
        "mesh, of which there is only one",
        "refine the mesh at least once, better twice");
}

weft_status weft_cg_until_discretisation(weft_solver *cg, weft_cg_convergence *convergence,
                                         weft_cg_outcome *outcome, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_full_report report;
    const bool is_single =
        weft_device_limits(cg->context->device)->execution == WEFT_EXECUTION_SIMT;
    TRY(weft_cg_note(convergence, 1, error));
    TRY(weft_cg_full_start(cg, CYCLES, &report, error));
    if (report.n_levels < 2)
        TRY(refuse(error));
    const change limit = discretisation(&report);
    change last = change_of(&report.levels[0], 1, 2), before = change_of(&report.levels[0], 0, 1);
    change left = left_after(last, before);
    if (is_single)
        left.mean += rounding_of(&report);
    for (int i = 0; i < CYCLES; ++i) { /* those of the finest level; residuals are not computed */
        convergence->iterations += 1;
        TRY(weft_cg_note(convergence, NAN, error));
    }
    *outcome = WEFT_CG_CONVERGED;
    while (!(left.energy <= SHARE * limit.energy && left.mean <= SHARE * limit.mean)) {
        if (!isfinite(left.energy) || !isfinite(left.mean)) {
            *outcome = WEFT_CG_NAN;
            break;
        }
        if (convergence->iterations >= cg->options->max_iterations) {
            *outcome = WEFT_CG_MAX_ITERATIONS;
            break;
        }
        before = last;
        TRY(weft_cg_residual(cg, error));
        convergence->history[convergence->iterations] = sqrt(cg->rr) / cg->norm;
        TRY(run_cycle(cg, &last, error));
        left = left_after(last, before);
        convergence->iterations += 1;
        TRY(weft_cg_note(convergence, NAN, error));
    }
    cg->discretisation = limit.energy;
    cg->algebraic = left.energy;
    TRY(weft_cg_residual(cg, error));
    convergence->is_true = true;
    convergence->history[convergence->iterations] = sqrt(cg->rr) / cg->norm;
done:
    return status;
}
