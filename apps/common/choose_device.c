/* Chooses the host for a run whose work there is predicted to be done before a GPU has started.
 *
 * Decision  docs/decisions/0047-little-work-is-done-on-the-host.md */
#include "apps/common/choose_device.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* Start of the driver and of a context, and the end of a process that has them (docs/measurements.md: 97, 104 and
 * 110 ms on an H200). */
static const double GPU_START_SECONDS = 0.3;

/* The host is taken below this share of it: predictions assume constant coefficients, and all threads free. */
static const double MARGIN = 0.5;

/* Work of one thread that no prediction of the solve contains, per cell and matrix: mesh, conditions, load, integrals, and the
 * matrix itself. Measured with poisson on one thread: 0.08 to 0.11 us (docs/measurements.md). */
static const double CELL_SECONDS = 0.1e-6;

/* Beyond this many nodes no prediction is needed. */
static const double NODES_MOST = 1e8;

/* Whether the costs have this kind. */
static bool is_predicted(const weft_preconditioner_cost *costs, int n, int kind) {
    for (int i = 0; i < n; ++i)
        if (costs[i].kind == kind)
            return true;
    return false;
}

/* The time with Jacobi's preconditioner and the assembly of the options. */
static double jacobi_seconds(const weft_limits *host, const weft_problem_options *options,
                             const weft_assembly_problem *problem,
                             const weft_preconditioner_cost *with_fastest) {
    weft_assembly_cost costs[WEFT_ASSEMBLIES_MOST];
    const int n = weft_assembly_costs(host, problem, costs);
    for (int i = 0; i < n && options->assembly != WEFT_AUTO; ++i)
        if ((int)costs[i].assembly == options->assembly)
            return costs[i].set_up_seconds + costs[i].assembly_seconds +
                   with_fastest->iterations * costs[i].product_seconds;
    return with_fastest->seconds;
}

/* Matrix, set-up and iterations, with the preconditioner of the options or the fastest of those that `auto` has. Kinds
 * without a prediction count as Jacobi's. */
static double solve_seconds(const weft_limits *host, const app_run_options *options,
                            const weft_assembly_problem *problem) {
    const weft_problem_options *solver = &options->solver;
    int dimension = 0;
    weft_preconditioner_cost costs[WEFT_COSTS_MAX];
    const bool has_levels =
        options->mesh.refine > 0 || app_mesh_built_in_nodes(&options->mesh, &dimension) > 0;
    const bool has_matrix = solver->assembly == WEFT_AUTO ||
                            weft_assembly_about((weft_assembly)solver->assembly)->stores_matrix;
    const int n = weft_preconditioner_costs(host, problem, has_levels, NULL, costs);
    const int wanted =
        is_predicted(costs, n, solver->preconditioner) ? solver->preconditioner : WEFT_JACOBI;
    double least = HUGE_VAL;
    for (int i = 0; i < n; ++i) {
        const bool is_jacobi = costs[i].kind < 0;
        const bool may_be_used =
            solver->until_discretisation
                ? !is_jacobi && weft_preconditioner_about(costs[i].kind)->needs_levels
            : solver->preconditioner == WEFT_AUTO ? is_jacobi || has_matrix
                                                  : costs[i].kind == wanted;
        if (may_be_used)
            least = fmin(least, is_jacobi ? jacobi_seconds(host, solver, problem, &costs[i])
                                          : costs[i].seconds);
    }
    return least;
}

double app_host_seconds(const weft_limits *host, const app_run_options *options,
                        const app_work *work, const app_mesh_size *size) {
    const int d = size->dimension, components = work->components > 1 ? work->components : 1;
    const double solves = fmax(work->solves, 1), finer = pow(fmax(work->degree, 1), d);
    if ((double)size->n_nodes * finer > NODES_MOST)
        return HUGE_VAL;
    const int64_t n_nodes = (int64_t)((double)size->n_nodes * finer);
    weft_assembly_problem problem = {.dimension = d,
                                     .width = d + 1,
                                     .n_nodes = n_nodes,
                                     .n_cells = (int64_t)((double)size->n_cells * finer),
                                     .symmetric = !work->is_general,
                                     .solves = solves,
                                     .components = components,
                                     .degree = work->degree,
                                     .is_elastic = components > 1 && components == d};
    double products = weft_cg_iterations_expected(&problem, options->solver.tolerance);
    if (options->solver.max_iterations >= 0)
        products = fmin(products, options->solver.max_iterations + 2.0);
    if (work->products > 0)
        products = work->products;
    problem.applications = solves * products;
    const double matrices = work->reassembles ? solves : 1;
    return fmax(work->weight, 1) *
           (matrices * CELL_SECONDS * (double)problem.n_cells * components * components +
            solve_seconds(host, options, &problem));
}

/* Of a mesh whose dimension is not known the longer time. */
static double predict(const weft_limits *host, const app_run_options *options, const app_work *work,
                      const app_mesh_size *size) {
    double longest = 0;
    if (size->dimension > 0)
        return app_host_seconds(host, options, work, size);
    for (int dimension = 2; dimension < 4; ++dimension) {
        const app_mesh_size assumed = {.dimension = dimension,
                                       .n_nodes = size->n_nodes,
                                       .n_cells = (dimension == 2 ? 2 : 6) * size->n_nodes};
        longest = fmax(longest, app_host_seconds(host, options, work, &assumed));
    }
    return longest;
}

/* A preconditioner for which the device must be the host; NULL: none. */
static const char *needs_host(const weft_problem_options *options) {
    const int kind =
        options->preconditioner == WEFT_AUTO ? options->earlier : options->preconditioner;
    const weft_preconditioner_info *info = kind >= 0 ? weft_preconditioner_about(kind) : NULL;
    return info && info->needs_host ? info->name : NULL;
}

bool app_prefers_host(const weft_limits *host, const app_run_options *options, const app_work *work,
                      char reason[APP_REASON_MAX]) {
    app_mesh_size size;
    char seconds[32];
    double predicted = HUGE_VAL;
    if (needs_host(&options->solver)) {
        (void)snprintf(reason, APP_REASON_MAX, "the preconditioner %s runs there",
                       needs_host(&options->solver));
        return true;
    }
    if (work->is_known && options->solver.tune == 0 && app_mesh_size_of(&options->mesh, &size))
        predicted = predict(host, options, work, &size);
    const bool is_little = predicted <= MARGIN * GPU_START_SECONDS;
    if (predicted < HUGE_VAL)
        (void)snprintf(
            reason, APP_REASON_MAX, "%s predicted for %s%" PRId64 " nodes, %s",
            app_print_seconds(predicted, seconds), size.is_bound ? "at most " : "", size.n_nodes,
            is_little ? "before a GPU would have started" : "for which a GPU is worth its start");
    else
        (void)snprintf(reason, APP_REASON_MAX, "no time on the host is predicted");
    return is_little;
}
