/* Says why a solve took many iterations, where the matrix shows it. */
#include "fem/problem/advice.h"
#include "fem/external/external.h"
#include "fem/sparse/couplings.h"

#include <math.h>
#include <string.h>

enum { MULTIGRID_ITERATIONS = 30, SMALL = 10000 };

static double usual_iterations(const weft_linear *linear) {
    const int kind = linear->choice.preconditioner;
    weft_external_kind library;
    if (kind < 0) {
        const weft_assembly_problem problem = weft_space_problem(linear->spaces[0], 0);
        return weft_cg_iterations_expected(&problem, linear->options->tolerance);
    }
    const char *name = weft_preconditioner_about(kind)->name;
    return weft_external_find(name, &library, NULL) == WEFT_OK ? INFINITY : MULTIGRID_ITERATIONS;
}

static const char *better(const weft_linear *linear) {
    const int kind = linear->choice.preconditioner;
    return kind >= 0 && strcmp(weft_preconditioner_about(kind)->name, "aggregation") == 0
               ? "hypre where it is installed"
               : "aggregation, or hypre where it is installed";
}

void weft_advise(const weft_linear *linear, const weft_solution *u, weft_operator *op) {
    weft_memory *memory = weft_operator_values(op);
    const double *values = memory ? weft_memory_host(memory) : NULL;
    const double usual = usual_iterations(linear);
    weft_couplings couplings;
    if (!values || linear->mesh->part || u->n_fields > 1 ||
        linear->choice.method != WEFT_METHOD_CG || linear->cg.iterations <= usual ||
        weft_operator_dofs(op) < SMALL || linear->cg.outcome == WEFT_CG_INDEFINITE ||
        linear->cg.outcome == WEFT_CG_NAN)
        return;
    const double slenderness = weft_slenderness(u);
    if (slenderness > WEFT_SLENDER) { /* bending converges slowly, whatever the cells look like */
        weft_log(linear->context->monitor, WEFT_LOG_WARNING,
                 "%d iterations are more than the usual %.0f: the body is slender (about %.0f "
                 "times as long as thick); try --preconditioner cholmod where it is installed",
                 linear->cg.iterations, usual, slenderness);
        return;
    }
    const weft_pattern *pattern = weft_operator_pattern(op);
    if (!pattern)
        return;
    const weft_couplings_matrix matrix = {
        pattern, values, weft_space_components(u->fields[0].space), linear->mesh->dimension,
        weft_space_points(u->fields[0].space)};
    weft_couplings_measure(&matrix, &couplings);
    if (couplings.is == WEFT_COUPLINGS_ANISOTROPIC)
        weft_log(linear->context->monitor, WEFT_LOG_WARNING,
                 "%d iterations are more than the usual %.0f: the coefficients or the cells are "
                 "anisotropic (by a factor of %.0f at half of the nodes); try --preconditioner %s",
                 linear->cg.iterations, usual, couplings.anisotropy, better(linear));
    else if (couplings.is == WEFT_COUPLINGS_JUMPING)
        weft_log(linear->context->monitor, WEFT_LOG_WARNING,
                 "%d iterations are more than the usual %.0f: the coefficients jump from cell to "
                 "cell (%.0f %% of the couplings are below 1/1000 of the strongest beside them); "
                 "try --preconditioner %s",
                 linear->cg.iterations, usual, 100 * couplings.weak, better(linear));
}
