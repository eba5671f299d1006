/* Computes errors, integral and energy of the solution, and its values at the probes. */
#include "apps/common/fem.h"
#include "apps/poisson/poisson.h"
#include "core/weft_core.h"
#include "fem/weft_fem.h"

#include <math.h>
#include <stdlib.h>

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
        status = weft_out_of_memory(error, NULL);
        goto done;
    }
    form.form.name = "energy.weft";
    form.form.text = text.data;
    weft_form_bind_input(&form, "u", run->base.u);
    TRY(weft_form_sum(&run->base.context, &form, run->base.mesh->n_cells, names, 2, sums, error));
    run->base.energy = sums[0] / 2;
    run->integral_u = sums[1];
done:
    weft_text_free(&text);
    return status;
}

static weft_status measure_errors(poisson *run, weft_error *error) {
    weft_status status = WEFT_OK;
    double squares[2] = {0, 0};
    TRY(weft_space_errors(&run->base.context, run->base.space, run->base.u, run->options->exact,
                          "--exact", squares, error));
    app_run_set_errors(&run->base, squares[0], squares[1]);
done:
    return status;
}

/* If u is unique up to a constant, choose the constant for which its integral is zero. */
static weft_status remove_mean(poisson *run, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(app_run_remove_mean(&run->base, run->integral_u, error));
    TRY(measure_integrals(run, error));
done:
    return status;
}

weft_status poisson_measure(poisson *run, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(measure_integrals(run, error));
    if (run->base.project)
        TRY(remove_mean(run, error));
    if (run->options->exact)
        TRY(measure_errors(run, error));
    TRY(app_run_measure_probes(&run->base, error));
done:
    return status;
}
