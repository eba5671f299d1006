/* Chooses the assembly and estimates the memory that the run needs on the device. */
#include "apps/poisson/poisson.h"

#include <math.h>

static double bytes_of_product(const poisson *run, const weft_assembly_problem *problem) {
    weft_assembly_cost costs[WEFT_ASSEMBLIES_MOST];
    const int n = weft_assembly_costs(weft_device_limits(run->base.device), problem, costs);
    for (int i = 0; i < n; ++i)
        if (costs[i].possible && costs[i].assembly == run->base.assembly)
            return costs[i].product_bytes;
    return NAN;
}

weft_status poisson_memory_estimate_make(poisson *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_mesh *mesh = run->base.mesh;
    const poisson_options *options = run->options;
    double products =
        fmin(weft_cg_iterations_expected(mesh->dimension, mesh->n_nodes, options->run.tolerance),
             app_iterations_limit(&options->run, mesh) + 2.0);
    if (run->base.is_null && !options->run.assembly_auto) /* stops after the first */
        products = 1;
    /* every form of this app is symmetric */
    const app_memory_estimate what = {.problem = {.assembles_load = true,
                                                  .dimension = mesh->dimension,
                                                  .width = mesh->dimension + 1,
                                                  .n_nodes = mesh->n_nodes,
                                                  .n_cells = mesh->n_cells,
                                                  .symmetric = true,
                                                  .applications = products},
                                      .n_vectors = 2};
    TRY(app_run_memory_estimate(&run->base, &what, error));
    run->product_bytes = bytes_of_product(run, &what.problem);
done:
    return status;
}
