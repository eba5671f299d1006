/* Makes T at time 0: the initial values, overwritten by those of the Dirichlet conditions. */
#include "apps/advection_diffusion/advection_diffusion.h"
#include "apps/common/fem.h"
#include "apps/common/support.h"
#include "core/weft_core.h"
#include "fem/weft_fem.h"
#include "fusion/weft_compile.h"

#include <math.h>
#include <stdlib.h>

weft_status ad_refuse_value(const char *origin, const char *text, const double *point,
                            int dimension, double t, weft_error *error) {
    char where[64];
    weft_error_set(error, WEFT_ERROR_INPUT, "this expression is not finite at or near %s at t = %g",
                   weft_point_text(point, dimension, where), t);
    weft_error_location(error, origin, text, 1, 1);
    weft_error_hint(
        error,
        "change it so that it has a value there: 1/x has none at x = 0, log(x) none for x <= 0");
    return WEFT_ERROR_INPUT;
}

/* Evaluate a formula at every node at t = 0. */
static weft_status evaluate(ad_run *run, const weft_expression *given, double *values,
                            weft_memory *memory, weft_error *error) {
    weft_status status = WEFT_OK;
    const char *output = "u";
    const double zero = 0;
    weft_memory *when = NULL;
    weft_bound_form form;
    TRY(weft_memory_make(run->base.device, sizeof zero, &when, error));
    TRY(weft_memory_write(when, 0, &zero, sizeof zero, error));
    TRY(weft_form_ship(run->base.problem->space, "nodal_time.weft", NULL, &form, error));
    weft_form_bind_input(&form, "when", when);
    weft_form_bind_expression(&form, "value", given->text, given->origin);
    TRY(weft_form_run(&run->base.context, &form.form,
                      &(weft_form_outputs){&output, &memory, 1, "nodes", run->base.mesh->n_nodes},
                      error));
    if (!run->base.is_null)
        TRY(weft_vector_pull(memory, values, run->base.mesh->n_nodes, error));
done:
    weft_memory_free(&when);
    return status;
}

/* Set the values at the given nodes (NULL: all). */
static weft_status set_values(ad_run *run, const weft_expression *given, const int32_t *nodes,
                              int64_t n, weft_error *error) {
    weft_status status = WEFT_OK;
    const int d = run->base.mesh->dimension;
    weft_memory *memory = NULL;
    double *values = NULL, constant = 0;
    if (!weft_formula_constant(given->text, &constant)) {
        TRY(weft_vector_make(run->base.device, run->base.mesh->n_nodes, &values, &memory, error));
        TRY(evaluate(run, given, values, memory, error));
    }
    for (int64_t i = 0; i < n; ++i) {
        const int64_t node = nodes ? nodes[i] : i;
        const double value = values ? values[node] : constant;
        if (!isfinite(value))
            TRY(ad_refuse_value(given->origin, given->text, &run->base.mesh->x[node * d], d, 0,
                                error));
        run->initial[node] = value;
    }
done:
    weft_memory_free(&memory);
    free(values);
    return status;
}

weft_status ad_initial_make(ad_run *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n = run->base.mesh->n_nodes;
    const weft_expression initial = {NULL, run->options->initial, "--initial"};
    run->initial = weft_array_make((size_t)n, sizeof *run->initial);
    run->values = weft_array_make((size_t)n, sizeof *run->values);
    if (!run->initial || !run->values)
        TRY(weft_out_of_memory(error, NULL));
    TRY(set_values(run, &initial, NULL, n, error));
    for (int i = 0; i < run->n_dirichlet; ++i) {
        const weft_dirichlet_nodes *dirichlet = &run->dirichlet[i];
        const weft_expression value = {NULL, dirichlet->text, dirichlet->origin};
        TRY(set_values(run, &value, dirichlet->nodes, dirichlet->n_nodes, error));
    }
done:
    return status;
}
