/* Chooses the preconditioner of a run by predicted time, and stores what was measured. */
#include "apps/common/run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A tuning database to read or to write, where the cache allows that. */
static weft_status open_tuning(const weft_device *device, bool writes, const weft_monitor *monitor,
                               weft_tuning **out, weft_error *error) {
    weft_device_options options = weft_device_options_default(monitor);
    if (weft_device_limits(device)->records_only || (writes && options.cache != WEFT_CACHE_ON))
        return WEFT_OK;
    if (!writes && options.cache == WEFT_CACHE_ON)
        options.cache = WEFT_CACHE_READ;
    return weft_tuning_open(&options, out, error);
}

weft_status app_speeds_read(weft_device *device, const weft_monitor *monitor, app_speeds *out,
                            weft_error *error) {
    weft_status status = WEFT_OK;
    weft_tuning *tuning = NULL;
    char identity[33];
    weft_device_identity(device, identity);
    TRY(open_tuning(device, false, monitor, &tuning, error));
    TRY(weft_assembly_speeds_read(tuning, identity, weft_device_limits(device), &out->assemblies,
                                  error));
    TRY(weft_preconditioner_speeds_read(tuning, identity, &out->preconditioners, error));
    if (out->assemblies.n_measured > 0)
        weft_log(monitor, WEFT_LOG_INFO, "assemblies by %d measured speeds",
                 out->assemblies.n_measured);
    if (out->preconditioners.n_measured > 0)
        weft_log(monitor, WEFT_LOG_INFO, "preconditioners by %d measured speeds",
                 out->preconditioners.n_measured);
done:
    weft_tuning_close(&tuning);
    return status;
}

/* Is the assembly that is requested one without a matrix? */
static bool stores_no_matrix(const weft_problem_options *options) {
    return options->assembly != WEFT_AUTO &&
           !weft_assembly_about((weft_assembly)options->assembly)->stores_matrix;
}

/* Dofs of a mixed space from which on the solvers of its parts are worth their set-up. */
enum { MIXED_LEAST = 2000 };

/* The preconditioner of a mixed space, by parts unless that is not worth it; -1: Jacobi's. */
static weft_status choose_mixed(app_run *run, int *kind, weft_error *error) {
    weft_status status = WEFT_OK;
    const char *because = stores_no_matrix(&run->options->solver) ? "the assembly stores no matrix"
                          : run->n_dofs < MIXED_LEAST             ? "the mixed problem is small"
                                                                  : NULL;
    *kind = -1;
    if (!because)
        TRY(weft_preconditioner_find("block", kind, error));
    (void)snprintf(run->linear.choice.preconditioner_reason,
                   sizeof run->linear.choice.preconditioner_reason, "%s",
                   because ? because : "the space is mixed");
done:
    return status;
}

/* Why `auto` takes Jacobi's preconditioner without a prediction; NULL: it predicts.
 *  is_definite  the matrix is symmetric, or its symmetric part can precondition it */
static const char *jacobi_because(const weft_problem_options *options, weft_method method,
                                  bool is_definite) {
    if (!is_definite)
        return "the matrix is not symmetric";
    if (method == WEFT_METHOD_MINRES)
        return "the method is MINRES";
    if (stores_no_matrix(options))
        return "the assembly stores no matrix";
    return NULL;
}

weft_status app_run_choose_levels(const app_run *run, app_mesh_options *mesh, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_problem_options *options = &run->options->solver;
    weft_preconditioner_cost costs[WEFT_COSTS_MAX];
    app_speeds speeds = {0};
    int dimension = 0;
    const int64_t n_nodes = app_mesh_built_in_nodes(mesh, &dimension);
    if (options->until_discretisation) {
        mesh->levels = APP_LEVELS_BUILT_IN;
        return WEFT_OK;
    }
    if (options->preconditioner != WEFT_AUTO ||
        jacobi_because(options, run->linear.choice.method, true))
        return WEFT_OK;
    mesh->levels = mesh->refine > 0 ? APP_LEVELS_REFINED : APP_LEVELS_NONE;
    if (options->earlier != WEFT_AUTO) {
        if (options->earlier >= 0 && weft_preconditioner_about(options->earlier)->needs_levels)
            mesh->levels = APP_LEVELS_BUILT_IN;
        return WEFT_OK;
    }
    if (n_nodes == 0)
        return WEFT_OK;
    TRY(app_speeds_read(run->device, NULL, &speeds, error));
    const double expected = weft_cg_iterations_expected(dimension, n_nodes, options->tolerance);
    const double solves = fmax(run->expected_solves, 1);
    const weft_assembly_problem problem = {
        .dimension = dimension,
        .width = dimension + 1,
        .n_nodes = n_nodes,
        .n_cells = (dimension == 2 ? 2 : 6) * n_nodes,
        .symmetric = true,
        .applications =
            solves * (options->max_iterations >= 0 && options->max_iterations + 2 < expected
                          ? options->max_iterations + 2
                          : expected),
        .solves = solves,
        .speeds = &speeds.assemblies};
    (void)weft_preconditioner_costs(weft_device_limits(run->device), &problem, true,
                                    &speeds.preconditioners, costs);
    if (costs[0].kind >= 0 && weft_preconditioner_about(costs[0].kind)->needs_levels)
        mesh->levels = APP_LEVELS_BUILT_IN;
done:
    return status;
}

/* "0.12 s predicted, aggregation 0.35 s": all costs, the chosen one first */
static void write_reason(app_run *run, const weft_preconditioner_cost *costs, int n, int chosen) {
    char *reason = run->linear.choice.preconditioner_reason, seconds[32];
    const size_t size = sizeof run->linear.choice.preconditioner_reason;
    int length =
        snprintf(reason, size, "%s predicted", app_print_seconds(costs[chosen].seconds, seconds));
    for (int i = 0; i < n && length > 0 && (size_t)length < size; ++i)
        if (i != chosen)
            length += snprintf(reason + length, size - (size_t)length, ", %s %s%s", costs[i].name,
                               app_print_seconds(costs[i].seconds, seconds),
                               i < chosen ? " but too much memory" : "");
}

static void log_costs(const app_run *run, const weft_preconditioner_cost *costs, int n,
                      int chosen) {
    char seconds[32], set_up[32];
    for (int i = 0; i < n; ++i)
        weft_log(&run->messages->monitor, WEFT_LOG_INFO,
                 "preconditioner %s: %s predicted, %s of it for its set-up, %.0f iterations%s",
                 costs[i].name, app_print_seconds(costs[i].seconds, seconds),
                 app_print_seconds(costs[i].set_up_seconds, set_up), costs[i].iterations,
                 i == chosen ? " (chosen)" : "");
}

/* Choose the assembly for a preconditioner, and compare the memory with the device's. */
static weft_status try_preconditioner(app_run *run, app_memory_estimate *what, int kind,
                                      weft_error *error) {
    weft_status status = WEFT_OK;
    run->linear.choice.preconditioner = what->preconditioner = kind;
    TRY(app_assembly_choose(run->device, &run->options->solver, kind, &what->problem,
                            &run->messages->monitor, &run->linear.choice.assembly, error));
    TRY(app_memory_estimate_check(run->device, what, run->linear.choice.assembly,
                                  &run->linear.choice.bytes, error));
done:
    return status;
}

/* The same; BiCGStab instead of GMRES if that was chosen automatically and does not fit. */
static weft_status try_method(app_run *run, app_memory_estimate *what, int kind,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    weft_error too_large = {0};
    const bool may_change =
        run->options->solver.method == WEFT_AUTO && what->method == WEFT_METHOD_GMRES;
    status = try_preconditioner(run, what, kind, may_change ? &too_large : error);
    if (!may_change || status == WEFT_OK)
        return status;
    if (status != WEFT_ERROR_MEMORY) {
        if (error)
            *error = too_large;
        return status;
    }
    what->method = run->linear.choice.method = WEFT_METHOD_BICGSTAB;
    run->linear.choice.basis_is_too_large = true;
    TRY(try_preconditioner(run, what, kind, error));
    const size_t length = strlen(run->linear.choice.method_reason);
    (void)snprintf(run->linear.choice.method_reason + length,
                   sizeof run->linear.choice.method_reason - length,
                   ", and the basis of GMRES does not fit into memory");
done:
    return status;
}

/* Full multigrid, which needs multigrid and CG. */
static weft_status choose_full(app_run *run, app_memory_estimate *what, weft_error *error) {
    weft_status status = WEFT_OK;
    int kind = run->options->solver.preconditioner;
    if (kind == WEFT_AUTO)
        TRY(weft_preconditioner_find("multigrid", &kind, error));
    if (!what->problem.symmetric || what->method != WEFT_METHOD_CG || kind < 0 ||
        !app_run_is_linear(run)) {
        status = weft_error_set(error, WEFT_ERROR_USAGE,
                                app_run_is_linear(run)
                                    ? "full multigrid needs a symmetric matrix, and multigrid as "
                                      "the preconditioner"
                                    : "full multigrid is for functions of degree 1");
        weft_error_location(error, "--until", NULL, 0, 0);
        weft_error_hint(error, "leave out --until, or --method and --preconditioner");
        goto done;
    }
    (void)snprintf(run->linear.choice.preconditioner_reason,
                   sizeof run->linear.choice.preconditioner_reason,
                   "as --until discretisation needs");
    TRY(try_preconditioner(run, what, kind, error));
done:
    return status;
}

/* Are the nodes of the mesh among those of u, as for multigrid on its levels? */
static bool is_continuous(const app_run *run) {
    return !run->space ||
           (run->n_fields == 1 && weft_space_element(run->space)->family == WEFT_LAGRANGE);
}

weft_status app_run_memory_estimate(app_run *run, const app_memory_estimate *what,
                                    weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_problem_options *options = &run->options->solver;
    app_memory_estimate complete = *what;
    weft_preconditioner_cost costs[WEFT_COSTS_MAX];
    app_speeds speeds = {0};
    int n = 0;
    TRY(app_speeds_read(run->device, &run->messages->monitor, &speeds, error));
    complete.problem.speeds = &speeds.assemblies;
    if (options->until_discretisation) {
        TRY(choose_full(run, &complete, error));
        goto done;
    }
    const bool is_auto = options->preconditioner == WEFT_AUTO;
    if (run->n_fields > 1 && is_auto) {
        int kind = -1;
        TRY(choose_mixed(run, &kind, error));
        TRY(try_method(run, &complete, kind, error));
        goto done;
    }
    const char *because = jacobi_because(options, what->method,
                                         what->problem.symmetric || what->problem.asymmetry > 0);
    if (!is_auto || because || options->earlier != WEFT_AUTO) {
        (void)snprintf(run->linear.choice.preconditioner_reason,
                       sizeof run->linear.choice.preconditioner_reason, "%s",
                       !is_auto  ? "as requested"
                       : because ? because
                                 : "as chosen before the checkpoint");
        TRY(try_method(run, &complete,
                       !is_auto  ? options->preconditioner
                       : because ? WEFT_JACOBI
                                 : options->earlier,
                       error));
        goto done;
    }
    const bool has_levels =
        run->mesh_made.hierarchy && run->mesh_made.hierarchy->n_levels > 1 && is_continuous(run);
    n = weft_preconditioner_costs(weft_device_limits(run->device), &complete.problem, has_levels,
                                  &speeds.preconditioners, costs);
    for (int i = 0; i < n; ++i) {
        weft_error too_large = {0};
        status = try_preconditioner(run, &complete, costs[i].kind, i + 1 < n ? &too_large : error);
        if (status == WEFT_ERROR_MEMORY && i + 1 < n)
            continue;
        TRY(status);
        write_reason(run, costs, n, i);
        log_costs(run, costs, n, i);
        break;
    }
done:
    if (app_has_constraints(run->options) &&
        !weft_assembly_about(run->linear.choice.assembly)->stores_matrix)
        run->linear.choice.assembly = WEFT_ASSEMBLY_CSR; /* C^T A C is made of a matrix */
    return status;
}

/* Rows from which on times say something about speeds. */
enum { ROWS_LEAST = 100000 };

weft_status app_run_store_speeds(const app_run *run, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_tuning *tuning = NULL;
    weft_preconditioner_speed speed = {0};
    char identity[33];
    const int64_t n = run->n_dofs;
    const int dimension = run->mesh->dimension;
    if (run->options->solver.tune == 0 || !run->linear.preconditioner || n < ROWS_LEAST ||
        run->linear.cg.iterations < 1)
        return WEFT_OK;
    const weft_preconditioner_report *report =
        weft_preconditioner_reported(run->linear.preconditioner);
    const double rows = (double)n;
    speed.set_up = report->set_up_seconds / rows;
    speed.iteration[dimension < 3 ? 0 : 1] = run->seconds.solve / run->linear.cg.iterations / rows;
    weft_device_identity(run->device, identity);
    TRY(open_tuning(run->device, true, &run->messages->monitor, &tuning, error));
    if (tuning)
        TRY(weft_preconditioner_speeds_write(tuning, identity, report->kind, dimension, &speed,
                                             error));
done:
    weft_tuning_close(&tuning);
    return status;
}
