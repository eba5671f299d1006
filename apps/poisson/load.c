#include "apps/common/fem.h"
#include "apps/poisson/poisson.h"
#include "core/weft_core.h"
#include "fem/weft_fem.h"

#include <math.h>
#include <stdlib.h>

/* Pure Neumann data must sum to zero. Their integrals are taken with two degrees of quadrature:
 * what the two differ by says how well the integrals are known at all, and data that are zero to
 * within that are accepted, as are data to within rounding; a sum above the last bound is refused
 * whatever the quadrature. */
static const double SUM_ROUNDING = 1e-8, SUM_QUADRATURE = 1e-3;
enum { DEGREE = 4, DEGREE_CHECK = 8 };

static weft_status check_finite(const poisson *run, const double *b, const char *origin,
                                const char *text, weft_error *error) {
    for (int64_t i = 0; i < run->mesh->n_nodes && !run->is_null; ++i)
        if (!isfinite(b[i]))
            return app_refuse_value(run->mesh, origin, text, i, error);
    return WEFT_OK;
}

/* b_i = int f phi_i */
static weft_status add_source(poisson *run, int degree, weft_memory *b, double *values,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    const char *output = "b", *text = run->options->source;
    double constant = NAN;
    app_form form;
    if (app_constant(text, &constant) && constant == 0)
        return WEFT_OK;
    TRY(poisson_form_make(run, "load.weft", run->cells, &form, error));
    app_form_expression(&form, "source", text, "--source");
    app_form_parameter(&form, "degree", degree);
    TRY(weft_form_run(&run->context, &form.form, &output, &b, 1, "cells", run->mesh->n_cells,
                      error));
    TRY(app_array_pull(b, values, run->mesh->n_nodes, error));
    TRY(check_finite(run, values, "--source", text, error));
done:
    return status;
}

/* b_i += int g phi_i over the facets of Neumann and Robin conditions */
static weft_status add_fluxes(poisson *run, int degree, weft_memory *b, double *values,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    const char *output = "b";
    for (int i = 0; i < run->options->run.conditions.n; ++i) {
        const app_condition *condition = &run->options->run.conditions.list[i];
        double constant = NAN;
        app_form form;
        if (condition->kind == APP_DIRICHLET ||
            (app_constant(condition->value, &constant) && constant == 0))
            continue;
        TRY(poisson_form_make(run, "neumann.weft", run->parts[i].dofs, &form, error));
        app_form_input(&form, "b", b);
        app_form_expression(&form, "flux", condition->value, condition->origin);
        app_form_parameter(&form, "degree", degree);
        TRY(weft_form_run(&run->context, &form.form, &output, &b, 1, "cells",
                          run->parts[i].n_facets, error));
        TRY(app_array_pull(b, values, run->mesh->n_nodes, error));
        TRY(check_finite(run, values, condition->origin, condition->value, error));
    }
done:
    return status;
}

typedef struct integrals {
    double source, flux; /* int f, int g: the shape functions sum to 1 */
    double size;         /* about int |f| + int |g| */
} integrals;

static weft_status integrate(poisson *run, int degree, integrals *out, weft_error *error) {
    weft_status status = WEFT_OK;
    int64_t n = run->mesh->n_nodes;
    double *f = NULL, *g = NULL;
    weft_memory *f_memory = NULL, *g_memory = NULL;
    TRY(app_array_make(run->device, n, &f, &f_memory, error));
    TRY(app_array_make(run->device, n, &g, &g_memory, error));
    TRY(add_source(run, degree, f_memory, f, error));
    TRY(add_fluxes(run, degree, g_memory, g, error));
    *out = (integrals){.source = weft_sum(f, n), .flux = weft_sum(g, n)};
    for (int64_t i = 0; i < n; ++i)
        out->size += fabs(f[i]) + fabs(g[i]);
done:
    weft_memory_free(&f_memory);
    weft_memory_free(&g_memory);
    free(f);
    free(g);
    return status;
}

/* -div(k grad u) = f and k du/dn = g: int f + int g = 0 is needed for a solution. */
static weft_status check_sum(poisson *run, weft_error *error) {
    weft_status status = WEFT_OK;
    integrals low, high;
    TRY(integrate(run, DEGREE, &low, error));
    TRY(integrate(run, DEGREE_CHECK, &high, error));
    double sum = high.source + high.flux, rounding = SUM_ROUNDING * high.size;
    double doubt = 2 * (fabs(high.source - low.source) + fabs(high.flux - low.flux));
    double bound = fmax(rounding, fmin(doubt, SUM_QUADRATURE * high.size));
    weft_log(
        &run->messages->monitor, WEFT_LOG_INFO,
        "pure Neumann: integrals %.10g (source) and %.10g (flux), sum %.3g, accepted up to %.3g",
        high.source, high.flux, sum, bound);
    if (fabs(sum) > bound) {
        status = weft_error_set(
            error, WEFT_ERROR_INPUT,
            "with Neumann conditions alone the source and the fluxes must sum to zero, but their "
            "integrals are %.10g (--source) and %.10g (--neumann, --robin)",
            high.source, high.flux);
        weft_error_place(error, "--neumann", NULL, 0, 0);
        weft_error_hint(
            error, "subtract %.10g from --source, or fix u somewhere by --dirichlet GROUP=EXPR",
            sum / app_mesh_measure(run->mesh));
    }
done:
    return status;
}

weft_status poisson_load_make(poisson *run, weft_error *error) {
    weft_status status = WEFT_OK;
    if (run->pure_neumann && !run->is_null)
        TRY(check_sum(run, error));
    TRY(add_source(run, DEGREE, run->b, run->b_values, error));
    TRY(add_fluxes(run, DEGREE, run->b, run->b_values, error));
done:
    return status;
}
