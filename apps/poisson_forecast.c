#include "poisson.h"

#include <math.h>

/* What the user has named; else the cheapest. */
static weft_status choose(poisson *run, const weft_assembly_problem *problem, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_text reason = {0};
    run->assembly = run->options->run.assembly;
    if (!run->options->run.assembly_auto)
        return WEFT_OK;
    TRY(weft_assembly_choose(weft_device_limits(run->device), problem, &run->assembly, &reason,
                             error));
    weft_log(&run->messages->monitor, WEFT_LOG_INFO, "%s",
             reason.data && !reason.failed ? reason.data : weft_assembly_name(run->assembly));
done:
    weft_text_free(&reason);
    return status;
}

static size_t larger(size_t a, size_t b) {
    return a > b ? a : b;
}

static double bytes_of_product(const poisson *run, const weft_assembly_problem *problem) {
    weft_assembly_cost costs[WEFT_ASSEMBLIES_MOST];
    const int n = weft_assembly_costs(weft_device_limits(run->device), problem, costs);
    for (int i = 0; i < n; ++i)
        if (costs[i].possible && costs[i].assembly == run->assembly)
            return costs[i].product_bytes;
    return NAN;
}

/* Coordinates, u and b, the operator; and what else there is when most is held: on a GPU the
 * right-hand side that is gathered from the cells, before the first product; CG's vectors; after CG
 * two lists of the cells that are summed up. */
static void foresee(const poisson *run, weft_assembly assembly,
                    const weft_assembly_problem *problem, weft_forecast *forecast) {
    const weft_limits *limits = weft_device_limits(run->device);
    const size_t nodes = (size_t)run->mesh->n_nodes, real_bytes = sizeof(double);
    const size_t lanes = (size_t)limits->lanes_double;
    const size_t cells = ((size_t)run->mesh->n_cells + lanes - 1) / lanes * lanes;
    const size_t load = limits->kind == WEFT_DEVICE_CUDA ? cells * (size_t)problem->width : 0;
    size_t late = 0;
    weft_forecast_add(forecast, "coordinates", nodes * (size_t)run->mesh->dimension, real_bytes);
    weft_forecast_add(forecast, "solution, right-hand side", 2 * nodes, real_bytes);
    const size_t before = forecast->bytes;
    weft_operator_forecast(limits, assembly, problem, forecast, &late);
    const size_t whole = forecast->bytes - before;
    if (run->is_null)
        return;
    const size_t cg = weft_cg_forecast(limits, assembly, problem);
    const size_t most =
        larger(whole - late + load * real_bytes, whole + larger(cg, 2 * cells * real_bytes));
    if (most > whole)
        weft_forecast_add(forecast, "vectors of CG, lists of cells", most - whole, 1);
}

/* The assembly that holds least, where that is another one. */
static void find_smaller(const poisson *run, const weft_assembly_problem *problem, size_t here,
                         char *hint, size_t size) {
    weft_assembly_cost costs[WEFT_ASSEMBLIES_MOST];
    const int n = weft_assembly_costs(weft_device_limits(run->device), problem, costs);
    size_t least = here;
    const char *name = NULL;
    for (int i = 0; i < n; ++i) {
        weft_forecast other = {0};
        if (!costs[i].possible)
            continue;
        foresee(run, costs[i].assembly, problem, &other);
        if (other.bytes < least) {
            least = other.bytes;
            name = costs[i].name;
        }
    }
    if (name)
        snprintf(hint, size, "--assembly %s needs %.4g MB; or take a smaller mesh", name,
                 (double)least * 1e-6);
    else
        snprintf(hint, size, "take a smaller mesh: no assembly needs less");
}

weft_status poisson_forecast_make(poisson *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_mesh *mesh = run->mesh;
    const poisson_options *options = run->options;
    weft_forecast forecast = {0};
    char hint[200];
    double products =
        fmin(weft_cg_iterations_expected(mesh->dimension, mesh->n_nodes, options->run.tolerance),
             options->run.max_iterations + 2.0);
    if (run->is_null && !options->run.assembly_auto) /* stops after the first */
        products = 1;
    /* every form of this app is symmetric */
    const weft_assembly_problem problem = {.dimension = mesh->dimension,
                                           .width = mesh->dimension + 1,
                                           .n_nodes = mesh->n_nodes,
                                           .n_cells = mesh->n_cells,
                                           .symmetric = true,
                                           .applications = products};
    TRY(choose(run, &problem, error));
    foresee(run, run->assembly, &problem, &forecast);
    find_smaller(run, &problem, forecast.bytes, hint, sizeof hint);
    TRY(weft_forecast_check(&forecast, run->device, hint, error));
    run->foreseen_bytes = forecast.bytes;
    run->product_bytes = bytes_of_product(run, &problem);
done:
    return status;
}

void poisson_forecast_compare(const poisson *run) {
    weft_log(&run->messages->monitor, WEFT_LOG_INFO,
             "memory: %.3f MB were made at most, %.3f MB were foreseen",
             (double)weft_device_bytes_peak(run->device) * 1e-6,
             (double)run->foreseen_bytes * 1e-6);
}
