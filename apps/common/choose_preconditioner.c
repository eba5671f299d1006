/* Chooses which levels of a mesh are kept for the preconditioner of a run, and stores the measured times. */
#include "apps/common/run.h"

#include <math.h>

weft_status app_run_choose_levels(const app_run *run, app_mesh_options *mesh, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_problem_options *options = &run->options->solver;
    weft_preconditioner_cost costs[WEFT_COSTS_MAX];
    weft_speeds speeds = {0};
    int dimension = 0;
    const int64_t n_nodes = app_mesh_built_in_nodes(mesh, &dimension);
    if (options->until_discretisation) {
        mesh->levels = APP_LEVELS_BUILT_IN;
        goto done;
    }
    if (options->preconditioner != WEFT_AUTO ||
        weft_linear_jacobi_because(options, run->problem->system.linear.choice.method, true))
        goto done;
    mesh->levels = mesh->refine > 0 ? APP_LEVELS_REFINED : APP_LEVELS_NONE;
    if (options->earlier != WEFT_AUTO) {
        if (options->earlier >= 0 && weft_preconditioner_about(options->earlier)->needs_levels)
            mesh->levels = APP_LEVELS_BUILT_IN;
        goto done;
    }
    if (n_nodes == 0)
        goto done;
    TRY(weft_speeds_read(run->device, NULL, &speeds, error));
    const double expected = weft_cg_iterations_expected(dimension, n_nodes, options->tolerance);
    const double solves = fmax(run->problem->expected_solves, 1);
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
