/* Writes T at the probes, integrals and extrema after time steps, while the run goes: a CSV file. */
#include "apps/advection_diffusion/advection_diffusion.h"

#include <stdlib.h>

/* ---- derived quantities ---------------------------------------------------------------------- */

/* A form without a matrix: the names of the problem's coefficients, which may depend on t. */
static const char form_text[] = "parameter d = 2;\n"
                                "index cells, nodes;\n"
                                "connectivity dofs : cells -> nodes[d + 1];\n"
                                "input x : real[d] over nodes;\n"
                                "expression mu(x, y, z, t) = 0;\n"
                                "expression velocity_x(x, y, z, t) = 0;\n"
                                "expression velocity_y(x, y, z, t) = 0;\n"
                                "expression velocity_z(x, y, z, t) = 0;\n";

static void bind_coefficients(ad_run *run) {
    static const char *const names[] = {"velocity_x", "velocity_y", "velocity_z"};
    const ad_formulas *mu = &run->options->diffusivity, *velocity = &run->options->velocity;
    weft_bound_form *form = &run->base.problem->forms.first;
    weft_form_start("transport", form_text, weft_space_cells(run->base.problem->fields.space),
                    form);
    weft_form_bind_input(form, "x", weft_space_coordinates(run->base.problem->fields.space));
    weft_form_bind_parameter(form, "d", run->base.mesh->dimension);
    if (mu->n == 1) /* not a tensor */
        weft_form_bind_expression(form, "mu", mu->list[0].text, mu->list[0].origin);
    for (int k = 0; k < velocity->n && k < 3; ++k)
        weft_form_bind_expression(form, names[k], velocity->list[k].text, velocity->list[k].origin);
}

weft_status ad_derive_make(ad_run *run, weft_error *error) {
    bind_coefficients(run);
    const weft_derive_problem settings = {.u = ad_field(run), .solution = "T", .in_time = true};
    return app_run_derive_make(&run->base, &settings, error);
}

/* ---- the table ------------------------------------------------------------------------------- */

weft_status ad_history_add(ad_run *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const double start = weft_clock();
    const int n = run->base.points.n;
    double *probes = NULL;
    if (!run->history.path)
        goto done;
    probes = calloc((size_t)n + 1, sizeof *probes);
    if (!probes)
        TRY(weft_out_of_memory(error, NULL));
    if (n > 0 && !run->part.comm)
        TRY(ad_pull(run, error));
    for (int i = 0; i < n; ++i)
        probes[i] = ad_probe_value(run, i);
    if (run->base.derive)
        TRY(weft_derive_run(run->base.derive, run->state.t, error));
    TRY(app_history_add(&run->history, &run->base,
                        &(app_history_row){.t = run->state.t,
                                           .symbol = "T",
                                           .probes = probes,
                                           .components = 1,
                                           .resumes = run->first_step > 0},
                        error));
    run->base.seconds.measure += weft_clock() - start;
done:
    free(probes);
    return status;
}
