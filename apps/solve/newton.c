/* Solves r(u) = 0 by Newton's method, K(u) du = -r(u), with backtracking and load steps.
 *
 *  The residual is relative to the largest norm of r over all dofs within the load step. At
 *  Dirichlet dofs r is the reaction, so prescribed displacements alone give a scale too. If the
 *  residual stagnates, convergence to the rounding error of K u is sufficient (Tisseur 2001).
 *
 *  Source  Nocedal and Wright 2006, sections 3.1 and 11.1 */
#include "apps/common/fem.h"
#include "apps/solve/solve.h"
#include "core/weft_core.h"
#include "fem/weft_fem.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

enum { HALVINGS = 8 };

typedef struct newton {
    solve *run;
    weft_solver *solver;
    weft_memory *du, *robin;
    double *du_values, *robin_values, *before; /* before: u of the last iteration */
    char *is_constrained;
    double scale;     /* the largest |r| over all dofs of this load step */
    double free_norm; /* |r| over the free dofs, now */
    double factor;    /* of the load, now */
    int first;        /* index of the load step's first iteration */
} newton;

static weft_status newton_alloc(newton *n, solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    *n = (newton){.run = run};
    TRY(weft_solver_make(&run->base.context, run->base.op, &n->solver, error));
    TRY(weft_vector_make(run->base.device, run->n_dofs, &n->du_values, &n->du, error));
    TRY(weft_vector_make(run->base.device, run->n_dofs, &n->robin_values, &n->robin, error));
    n->before = weft_array_make((size_t)run->n_dofs, sizeof *n->before);
    n->is_constrained = weft_array_make((size_t)run->n_dofs, 1);
    if (!n->before || !n->is_constrained)
        TRY(weft_out_of_memory(error, NULL));
    for (int64_t i = 0; i < run->base.n_constrained; ++i)
        n->is_constrained[run->base.constrained[i]] = 1;
done:
    return status;
}

static void newton_free(newton *n) {
    weft_solver_free(&n->solver);
    weft_memory_free(&n->du);
    weft_memory_free(&n->robin);
    free(n->du_values);
    free(n->robin_values);
    free(n->before);
    free(n->is_constrained);
}

/* b = r(u) + R u - t g, and its norms */
static weft_status residual_make(newton *n, weft_error *error) {
    weft_status status = WEFT_OK;
    solve *run = n->run;
    double all = 0, loose = 0;
    TRY(weft_vector_push(run->base.u, run->base.u_values, run->n_dofs, error));
    TRY(solve_vector_make(run, -n->factor, error));
    if (run->robin) {
        TRY(weft_operator_apply(run->robin, run->base.u, n->robin, error));
        TRY(weft_vector_pull(n->robin, n->robin_values, run->n_dofs, error));
        for (int64_t i = 0; i < run->n_dofs; ++i)
            run->base.b_values[i] += n->robin_values[i];
    }
    for (int64_t i = 0; i < run->n_dofs; ++i) {
        const double square = run->base.b_values[i] * run->base.b_values[i];
        all += square;
        loose += n->is_constrained[i] ? 0 : square;
    }
    n->free_norm = sqrt(loose);
    if (all > n->scale * n->scale)
        n->scale = sqrt(all);
    if (isnan(all))
        n->free_norm = NAN;
done:
    return status;
}

/* |r| against eps |K| |u|, in norms scaled by K's diagonal as in weft_solver_solve; du is spoilt. */
static weft_status at_rounding(newton *n, bool *yes, weft_error *error) {
    static const double C = 10, MOST_LEFT = 1e-4;
    weft_status status = WEFT_OK;
    solve *run = n->run;
    double residual = 0, size = 0;
    TRY(weft_operator_diagonal(run->base.op, n->du, error));
    TRY(weft_vector_pull(n->du, n->du_values, run->n_dofs, error));
    for (int64_t i = 0; i < run->n_dofs; ++i) {
        const double entry = n->du_values[i], r = run->base.b_values[i], u = run->base.u_values[i];
        size += fabs(entry) * u * u;
        residual += n->is_constrained[i] ? 0 : r * r / fabs(entry);
    }
    *yes = sqrt(residual) <= C * DBL_EPSILON * sqrt(size) && n->free_norm <= MOST_LEFT * n->scale;
done:
    return status;
}

static weft_status note(newton *n, int step, int iteration, double damping, weft_error *error) {
    solve *run = n->run;
    const solve_iteration now = {
        .step = step, .iteration = iteration, .residual = n->free_norm, .damping = damping};
    weft_log(&run->base.messages->monitor, WEFT_LOG_INFO,
             "Newton: step %d, iteration %d, residual %.6e, damping %g", step, iteration,
             n->free_norm, damping);
    return APP_APPEND(run->iterations, run->n_iterations, now, error);
}

/* Choose the method for the tangent, and make another solver if it is for another operator. */
static weft_status tangent_check(newton *n, int step, int iteration, weft_error *error) {
    weft_status status = WEFT_OK;
    bool is_remade = false;
    TRY(solve_tangent_check(n->run, step, iteration, &is_remade, error));
    if (is_remade) {
        weft_solver_free(&n->solver);
        TRY(weft_solver_make(&n->run->base.context, n->run->base.op, &n->solver, error));
    }
done:
    return status;
}

/* K du = -r, du = g - u where u is given. */
static weft_status direction(newton *n, weft_error *error) {
    weft_status status = WEFT_OK;
    solve *run = n->run;
    weft_cg_options options = app_run_solver_options(&run->base);
    for (int64_t i = 0; i < run->n_dofs; ++i) {
        n->before[i] = run->base.u_values[i];
        run->base.b_values[i] = -run->base.b_values[i];
        n->du_values[i] = 0;
    }
    app_run_set_conditions(&run->base, n->factor, run->base.u_values);
    for (int64_t i = 0; i < run->base.n_constrained; ++i) {
        const int32_t dof = run->base.constrained[i];
        n->du_values[dof] = run->base.u_values[dof] - n->before[dof];
        run->base.u_values[dof] = n->before[dof];
    }
    TRY(weft_vector_push(run->base.b, run->base.b_values, run->n_dofs, error));
    TRY(weft_vector_push(n->du, n->du_values, run->n_dofs, error));
    TRY(weft_operator_assemble(run->base.op, error));
    TRY(app_run_precondition(&run->base, error));
    options.preconditioner = run->base.preconditioner;
    free(run->base.cg.history);
    run->base.cg = (weft_cg_result){0};
    TRY(weft_solver_solve(n->solver, run->base.b, n->du, &options, &run->base.cg, error));
    if (app_run_retries_by_jacobi(&run->base, &options)) {
        TRY(weft_vector_push(n->du, n->du_values, run->n_dofs, error));
        TRY(weft_solver_solve(n->solver, run->base.b, n->du, &options, &run->base.cg, error));
    }
    TRY(weft_vector_pull(n->du, n->du_values, run->n_dofs, error));
done:
    return status;
}

/* Set u + s du for the first s = 1, 1/2, ... that reduces the residual. Take the full step if none
 * does, and in the first iteration, which applies the prescribed values. */
static weft_status advance(newton *n, bool is_first, double *damping, weft_error *error) {
    weft_status status = WEFT_OK;
    solve *run = n->run;
    const double before = n->free_norm, scale = n->scale;
    *damping = 1;
    for (int k = 0; k <= HALVINGS + 1; ++k) {
        const double s = k <= HALVINGS ? ldexp(1, -k) : 1;
        for (int64_t i = 0; i < run->n_dofs; ++i)
            run->base.u_values[i] = n->before[i] + s * n->du_values[i];
        n->scale = scale;
        TRY(residual_make(n, error));
        *damping = s;
        const bool is_lower = n->free_norm <= (1 - 1e-4 * s) * before;
        if (is_first || is_lower || before <= 1e-13 * n->scale)
            break;
    }
done:
    return status;
}

/* Is the step usable? A CG solve with some progress is sufficient. */
static bool is_usable(const weft_cg_result *cg) {
    return cg->outcome == WEFT_CG_CONVERGED ||
           ((cg->outcome == WEFT_CG_STAGNATION || cg->outcome == WEFT_CG_MAX_ITERATIONS) &&
            cg->residual < 0.1);
}

/* Converged: to the tolerance, or, where the residual falls no more, to rounding. */
static weft_status judge(newton *n, int iteration, double before, bool *converged,
                         weft_error *error) {
    weft_status status = WEFT_OK;
    solve *run = n->run;
    *converged = iteration > 0 && n->free_norm <= run->options->newton_tolerance * n->scale;
    if (*converged || iteration < 2 || !(n->free_norm > 0.1 * before))
        goto done;
    TRY(at_rounding(n, converged, error));
    run->newton_to_rounding |= *converged;
done:
    return status;
}

static weft_status load_step(newton *n, int step, bool *converged, weft_error *error) {
    weft_status status = WEFT_OK;
    solve *run = n->run;
    const solve_options *options = run->options;
    double damping = 1, before = INFINITY;
    *converged = false;
    n->first = run->n_iterations;
    n->scale = 0;
    run->load_value = n->factor = (double)step / options->load_steps;
    TRY(weft_memory_write(run->load, 0, &run->load_value, sizeof run->load_value, error));
    TRY(residual_make(n, error));
    for (int iteration = 0;; ++iteration) {
        TRY(note(n, step, iteration, damping, error));
        weft_progress(&run->base.messages->monitor, "newton", step - 1, options->load_steps);
        TRY(judge(n, iteration, before, converged, error));
        if (*converged || iteration == options->newton_iterations || isnan(n->free_norm))
            break;
        TRY(tangent_check(n, step, iteration, error));
        before = n->free_norm;
        TRY(direction(n, error));
        run->iterations[run->n_iterations - 1].cg_iterations = run->base.cg.iterations;
        run->iterations[run->n_iterations - 1].method = run->base.method;
        if (!is_usable(&run->base.cg))
            break;
        TRY(advance(n, iteration == 0, &damping, error));
    }
done:
    for (int i = n->first; i < run->n_iterations; ++i) {
        run->iterations[i].scale = n->scale;
        if (n->scale > 0)
            run->iterations[i].residual /= n->scale;
    }
    return status;
}

weft_status solve_newton(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const double start = app_clock(&run->base.context);
    newton n;
    bool converged = true;
    TRY(newton_alloc(&n, run, error));
    for (int step = 1; step <= run->options->load_steps && converged; ++step)
        TRY(load_step(&n, step, &converged, error));
    run->newton_converged = converged;
done:
    newton_free(&n);
    run->base.seconds.solve = app_clock(&run->base.context) - start;
    return status;
}
