/* Estimates the memory of a run, and makes its vectors and inputs. */
#include "apps/common/fem.h"
#include "apps/solve/solve.h"

#include <math.h>
#include <stdlib.h>

int64_t solve_nodes(const solve *run) {
    return run->base.problem->n_fields > 0 ? run->base.problem->n_dofs / run->components
                                           : run->base.mesh->n_nodes;
}

static double predict_product_bytes(const solve *run, const weft_assembly_problem *problem) {
    weft_assembly_cost costs[WEFT_ASSEMBLIES_MOST];
    const int n = weft_assembly_costs(weft_device_limits(run->base.device), problem, costs);
    for (int i = 0; i < n; ++i)
        if (costs[i].possible && costs[i].assembly == run->base.problem->linear.choice.assembly)
            return costs[i].product_bytes;
    return NAN;
}

/* Nodes of a cell, or of the widest domain. */
static int count_width(const solve *run) {
    int width = 0;
    for (int i = 0; i < run->base.problem->n_parts; ++i) {
        const weft_connectivity *dofs = run->base.problem->parts[i].dofs;
        const int of_part = dofs ? weft_connectivity_width(dofs) : 0;
        width = of_part > width ? of_part : width;
    }
    return width > 0 ? width : run->base.mesh->dimension + 1;
}

weft_status solve_memory_estimate(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_problem_options *options = &run->options->run.solver;
    const weft_mesh *mesh = run->base.mesh;
    const bool is_null = run->base.is_null;
    weft_name_info *inputs = NULL;
    int n_inputs = 0;
    const double expected =
        weft_cg_iterations_expected(mesh->dimension, solve_nodes(run), options->tolerance);
    const double products = is_null && options->assembly != WEFT_AUTO /* stops after the first */
                                ? 1
                                : fmin(expected, weft_linear_iterations_limit(options, mesh) + 2.0);
    const double solves = is_null ? 1 : fmax(run->base.expected_solves, 1);
    /* On the null device, a script's vector is planned by patches. */
    weft_problem_memory what = {
        .problem = {.dimension = mesh->dimension,
                    .width = count_width(run),
                    .n_nodes = solve_nodes(run),
                    .n_cells = mesh->n_cells,
                    .symmetric = run->base.problem->is_symmetric,
                    .asymmetry = run->base.problem->is_symmetric ? 0 : run->base.problem->asymmetry,
                    .applications = solves * products,
                    .solves = solves,
                    .components = run->components,
                    .assembles_load = !is_null || run->base.problem->n_parts == 0},
        .n_vectors = run->options->nonlinear && !is_null ? 9 : 2,
        .assembles_again = run->options->nonlinear,
        .solves_once = !run->options->nonlinear && !run->options->time.text,
        .ranges_load = run->base.problem->n_parts == 0,
        .method = run->base.problem->linear.choice.method,
        .restart = options->restart};
    TRY(weft_problem_list_inputs(run->base.problem, &inputs, &n_inputs, error));
    for (int i = 0; i < n_inputs; ++i)
        if (!weft_problem_owns(run->base.problem, inputs[i].name))
            what.input_bytes +=
                (size_t)weft_problem_input_size(run->base.problem, &inputs[i]) * sizeof(double);
    weft_problem_describe(run->base.problem);
    TRY(weft_linear_choose(&run->base.problem->linear, &what, error));
    run->product_bytes = predict_product_bytes(run, &what.problem);
done:
    free(inputs);
    return status;
}

weft_status solve_data_make(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_problem *problem = run->base.problem;
    const char *initial = run->options->initial;
    TRY(weft_problem_vectors_make(problem, error));
    TRY(weft_problem_scale_loads(problem, 1, error));
    if (run->base.problem->n_parts > 0)
        TRY(weft_problem_make_inputs(problem, error));
    if (initial && !run->options->time.text)
        TRY(weft_problem_set_initial(problem, initial, "--initial", error));
    if (!run->options->nonlinear)
        weft_problem_set_conditions(problem, 1, problem->u_values);
    TRY(weft_vector_push(problem->u, problem->u_values, run->n_dofs, error));
done:
    return status;
}
