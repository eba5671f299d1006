#include "poisson.h"

#include <math.h>

/* What the user has named; else the cheapest. */
static weft_status choose(poisson *run, const weft_assembly_problem *problem, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_text reason = {0};
    run->assembly = run->options->assembly;
    if (!run->options->assembly_auto)
        return WEFT_OK;
    TRY(weft_assembly_choose(weft_device_limits(run->device), problem, &run->assembly, &reason,
                             error));
    weft_log(&run->messages->monitor, WEFT_LOG_INFO, "%s",
             reason.data && !reason.failed ? reason.data : weft_assembly_name(run->assembly));
done:
    weft_text_free(&reason);
    return status;
}

/* The assembly that holds least, where that is another one and less. */
static void find_smaller(const poisson *run, const weft_assembly_problem *problem,
                         const weft_forecast *here, char *hint, size_t size) {
    weft_assembly_cost costs[WEFT_ASSEMBLIES_MOST];
    const weft_limits *limits = weft_device_limits(run->device);
    const int n = weft_assembly_costs(limits, problem, costs);
    size_t least = here->bytes;
    const char *name = NULL;
    for (int i = 0; i < n; ++i) {
        weft_forecast mine = {0}, other = {0};
        if (!costs[i].possible)
            continue;
        weft_operator_forecast(limits, run->assembly, problem, &mine);
        weft_operator_forecast(limits, costs[i].assembly, problem, &other);
        size_t whole = here->bytes - mine.bytes + other.bytes;
        if (whole < least) {
            least = whole;
            name = costs[i].name;
        }
    }
    if (name)
        snprintf(hint, size, "--assembly %s needs %.4g MB; or take a smaller mesh", name,
                 (double)least * 1e-6);
    else
        snprintf(hint, size, "take a smaller mesh: no assembly needs less");
}

/* Coordinates, u and b; CG's vectors; in their place lists of the cells: before CG, on a GPU, the
 * right-hand side that is gathered, when what comes late of the operator is not there yet; after CG
 * what is summed up. */
static void add_vectors(const poisson *run, size_t late, weft_forecast *forecast) {
    const weft_limits *limits = weft_device_limits(run->device);
    const size_t nodes = (size_t)run->mesh->n_nodes, width = (size_t)run->mesh->dimension + 1;
    const size_t lanes = (size_t)limits->lanes_double;
    const size_t cells = ((size_t)run->mesh->n_cells + lanes - 1) / lanes * lanes;
    const size_t vectors = 4 * nodes * sizeof(double), sums = 2 * cells * sizeof(double);
    const size_t load = limits->kind == WEFT_DEVICE_CUDA ? cells * width * sizeof(double) : 0;
    size_t beyond = load > vectors + late ? load - vectors - late : 0;
    weft_forecast_add(forecast, "coordinates", nodes * (size_t)run->mesh->dimension,
                      sizeof(double));
    weft_forecast_add(forecast, "solution, right-hand side", 2 * nodes, sizeof(double));
    if (run->is_null)
        return;
    if (sums > vectors && sums - vectors > beyond)
        beyond = sums - vectors;
    weft_forecast_add(forecast, "vectors of CG", vectors, 1);
    weft_forecast_add(forecast, "loads and integrals, beyond CG's", beyond, 1);
}

weft_status poisson_forecast_make(poisson *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_mesh *mesh = run->mesh;
    const poisson_options *options = run->options;
    weft_forecast forecast = {0};
    char hint[200];
    double products =
        fmin(weft_cg_iterations_expected(mesh->dimension, mesh->n_nodes, options->tolerance),
             options->max_iterations + 2.0);
    if (run->is_null && !options->assembly_auto) /* stops after the first */
        products = 1;
    /* every form of this app is symmetric */
    const weft_assembly_problem problem = {.dimension = mesh->dimension,
                                           .width = mesh->dimension + 1,
                                           .n_nodes = mesh->n_nodes,
                                           .n_cells = mesh->n_cells,
                                           .symmetric = true,
                                           .applications = products};
    TRY(choose(run, &problem, error));
    size_t late =
        weft_operator_forecast(weft_device_limits(run->device), run->assembly, &problem, &forecast);
    add_vectors(run, late, &forecast);
    find_smaller(run, &problem, &forecast, hint, sizeof hint);
    TRY(weft_forecast_check(&forecast, run->device, hint, error));
    run->foreseen_bytes = forecast.bytes;
done:
    return status;
}

void poisson_forecast_compare(const poisson *run) {
    weft_log(&run->messages->monitor, WEFT_LOG_INFO,
             "memory: %.3f MB were made at most, %.3f MB were foreseen",
             (double)weft_device_bytes_peak(run->device) * 1e-6,
             (double)run->foreseen_bytes * 1e-6);
}
