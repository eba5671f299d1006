#include "apps/common/fem.h"
#include "apps/solve/solve.h"
#include "core/weft_core.h"
#include "fem/weft_fem.h"

#include <math.h>
#include <stdlib.h>

/* Integral and errors of component k, as a list of its own; text NULL: no errors. */
static weft_status measure_component(solve *run, int k, const char *text, double errors[2],
                                     weft_error *error) {
    static const char *const integral[] = {"I"};
    weft_status status = WEFT_OK;
    const int c = run->components;
    double *values = NULL;
    weft_memory *memory = NULL;
    weft_bound_form form;
    TRY(weft_vector_make(run->device, run->mesh->n_nodes, &values, &memory, error));
    for (int64_t i = 0; i < run->mesh->n_nodes; ++i)
        values[i] = run->u_values[i * c + k];
    TRY(weft_vector_push(memory, values, run->mesh->n_nodes, error));
    TRY(weft_form_ship(run->space, "integral.weft", weft_space_cells(run->space), &form, error));
    weft_form_bind_input(&form, "u", memory);
    TRY(weft_form_sum(&run->context, &form, run->mesh->n_cells, integral, 1, &run->integral_u[k],
                      error));
    if (text)
        TRY(weft_space_errors(&run->context, run->space, memory, text, "--exact", errors, error));
done:
    weft_memory_free(&memory);
    free(values);
    return status;
}

static weft_status measure_components(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    double l2 = 0, h1 = 0;
    for (int k = 0; k < run->components; ++k) {
        double errors[2] = {0, 0};
        TRY(measure_component(run, k, run->exact ? run->exact[k] : NULL, errors, error));
        l2 += errors[0];
        h1 += errors[1];
    }
    if (!run->exact)
        goto done;
    run->l2_error = sqrt(l2);
    run->h1_error = sqrt(h1);
    if (!isfinite(l2) || !isfinite(h1))
        weft_log(&run->messages->monitor, WEFT_LOG_WARNING,
                 "--exact is not finite everywhere in the mesh, so no errors are printed");
done:
    return status;
}

/* u.(A u)/2, less what Robin conditions have added to A */
static weft_status measure_energy(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    double *y = NULL, sum = 0;
    weft_memory *memory = NULL;
    TRY(weft_vector_make(run->device, run->n_dofs, &y, &memory, error));
    for (int i = 0; i < 2; ++i) {
        weft_operator *op = i ? run->robin : run->op;
        if (!op)
            continue;
        TRY(weft_operator_apply(op, run->u, memory, error));
        TRY(weft_vector_pull(memory, y, run->n_dofs, error));
        for (int64_t k = 0; k < run->n_dofs; ++k)
            y[k] *= run->u_values[k];
        sum += (i ? -1 : 1) * weft_sum(y, run->n_dofs);
    }
    run->energy = sum / 2;
done:
    weft_memory_free(&memory);
    free(y);
    return status;
}

/* Where the constant is free, the one is taken for which the integral of u is zero. */
static weft_status remove_mean(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const double mean = run->integral_u[0] / weft_mesh_measure(run->mesh);
    for (int64_t i = 0; i < run->n_dofs; ++i)
        run->u_values[i] -= mean;
    TRY(weft_vector_push(run->u, run->u_values, run->n_dofs, error));
    TRY(measure_components(run, error));
done:
    return status;
}

weft_status solve_measure(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const app_probes *probes = &run->options->run.probes;
    TRY(measure_components(run, error));
    if (run->project)
        TRY(remove_mean(run, error));
    if (!run->options->nonlinear)
        TRY(measure_energy(run, error));
    if (run->options->sum) {
        const char *names[] = {run->options->sum};
        weft_bound_form form;
        solve_form_cells(run, &form);
        TRY(weft_form_sum(&run->context, &form, run->mesh->n_cells, names, 1, &run->sum, error));
    }
    run->probes = calloc((size_t)(probes->n * run->components) + 1, sizeof *run->probes);
    if (!run->probes)
        return weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory");
    app_probes_measure(probes, run->mesh, run->u_values, run->components, run->probes);
done:
    return status;
}
