#include "apps/common/fem.h"
#include "apps/poisson/poisson.h"
#include "core/weft_core.h"
#include "fem/weft_fem.h"

#include <math.h>
#include <stdlib.h>

weft_status poisson_solve(poisson *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const poisson_options *options = run->options;
    weft_cg_options cg = {.jacobi = options->run.jacobi,
                          .tolerance = options->run.tolerance,
                          .max_iterations = app_iterations_limit(&options->run, run->mesh),
                          .project_mean = run->pure_neumann,
                          .monitor = &run->messages->monitor};
    const double start = app_clock(&run->context);
    cg.constrained = weft_bc_constrained(run->bc, &cg.n_constrained);
    TRY(weft_cg_solve(&run->context, run->op, run->b, run->u, &cg, &run->cg, error));
    TRY(weft_vector_pull(run->u, run->u_values, run->mesh->n_nodes, error));
done:
    run->seconds.solve = app_clock(&run->context) - start;
    return status;
}

/* energy = int k |grad u|^2 / 2 and int u, in one pass */
static weft_status measure_integrals(poisson *run, weft_error *error) {
    static const char *const names[2] = {"E", "I"};
    static const char integral[] =
        "I = quadrature_integral(interpolate(U, degree = 1), J, degree = 1);\n";
    weft_status status = WEFT_OK;
    weft_text text = {0};
    weft_bound_form form;
    double sums[2] = {0, 0};
    const char *energy = weft_fem_script("energy.weft");
    TRY(poisson_form_cells(run, &form, error));
    weft_text_add(&text, "%s%s%s", form.form.text, energy ? energy : "", integral);
    if (text.failed) {
        status = weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory");
        goto done;
    }
    form.form.name = "energy.weft";
    form.form.text = text.data;
    weft_form_bind_input(&form, "u", run->u);
    TRY(weft_form_sum(&run->context, &form, run->mesh->n_cells, names, 2, sums, error));
    run->energy = sums[0] / 2;
    run->integral_u = sums[1];
done:
    weft_text_free(&text);
    return status;
}

static weft_status measure_errors(poisson *run, weft_error *error) {
    weft_status status = WEFT_OK;
    double squares[2] = {0, 0};
    TRY(weft_space_errors(&run->context, run->space, run->u, run->options->exact, "--exact",
                          squares, error));
    run->l2_error = sqrt(squares[0]);
    run->h1_error = sqrt(squares[1]);
    if (!isfinite(squares[0]) || !isfinite(squares[1]))
        weft_log(&run->messages->monitor, WEFT_LOG_WARNING,
                 "--exact is not finite everywhere in the mesh, so no errors are printed");
done:
    return status;
}

static weft_status measure_probes(poisson *run, weft_error *error) {
    const poisson_options *options = run->options;
    run->probes = calloc((size_t)options->run.probes.n + 1, sizeof *run->probes);
    if (!run->probes)
        return weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory");
    app_probes_measure(&options->run.probes, run->mesh, run->u_values, 1, run->probes);
    return WEFT_OK;
}

/* Where the constant is free, the one is taken for which the integral of u is zero. */
static weft_status remove_mean(poisson *run, weft_error *error) {
    weft_status status = WEFT_OK;
    double measure = weft_mesh_measure(run->mesh), mean = run->integral_u / measure;
    for (int64_t i = 0; i < run->mesh->n_nodes; ++i)
        run->u_values[i] -= mean;
    TRY(weft_vector_push(run->u, run->u_values, run->mesh->n_nodes, error));
    TRY(measure_integrals(run, error));
done:
    return status;
}

weft_status poisson_measure(poisson *run, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(measure_integrals(run, error));
    if (run->pure_neumann)
        TRY(remove_mean(run, error));
    if (run->options->exact)
        TRY(measure_errors(run, error));
    TRY(measure_probes(run, error));
done:
    return status;
}
