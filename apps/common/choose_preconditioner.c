/* Chooses which levels of a mesh are kept for the preconditioner of a run. */
#include "apps/common/run.h"

weft_status app_run_choose_levels(const app_run *run, app_mesh_options *mesh, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_problem_options *options = &run->options->solver;
    bool pays = false;
    int dimension = 0;
    const int64_t n_nodes = app_mesh_built_in_nodes(mesh, &dimension);
    if (options->until_discretisation) {
        mesh->levels = APP_LEVELS_BUILT_IN;
        goto done;
    }
    if (options->preconditioner != WEFT_AUTO ||
        weft_linear_jacobi_because(options, run->problem->system.linear.choice.method, true, false))
        goto done;
    mesh->levels = mesh->refine > 0 ? APP_LEVELS_REFINED : APP_LEVELS_NONE;
    if (options->earlier != WEFT_AUTO) {
        if (options->earlier >= 0 && weft_preconditioner_about(options->earlier)->needs_levels)
            mesh->levels = APP_LEVELS_BUILT_IN;
        goto done;
    }
    if (n_nodes > 0)
        TRY(weft_linear_levels_pay(&run->problem->system.linear, dimension, n_nodes,
                                   run->problem->expected_solves, &pays, error));
    if (pays)
        mesh->levels = APP_LEVELS_BUILT_IN;
done:
    return status;
}
