/* Writes T at the probes, integrals and extrema after time steps, while the run goes: a CSV file. */
#include "apps/advection_diffusion/advection_diffusion.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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
    weft_bound_form *form = &run->base.form;
    weft_form_start("transport", form_text, weft_space_cells(run->base.space), form);
    weft_form_bind_input(form, "x", weft_space_coordinates(run->base.space));
    weft_form_bind_parameter(form, "d", run->base.mesh->dimension);
    if (mu->n == 1) /* not a tensor */
        weft_form_bind_expression(form, "mu", mu->list[0].text, mu->list[0].origin);
    for (int k = 0; k < velocity->n && k < 3; ++k)
        weft_form_bind_expression(form, names[k], velocity->list[k].text, velocity->list[k].origin);
}

weft_status ad_derive_make(ad_run *run, weft_error *error) {
    bind_coefficients(run);
    const weft_derive_problem problem = {.space = run->base.space,
                                         .cells = &run->base.form.form,
                                         .u = weft_advection_diffusion_field(run->stepper),
                                         .solution = "T",
                                         .in_time = true};
    return app_run_derive_make(&run->base, &problem, error);
}

/* ---- the file -------------------------------------------------------------------------------- */

static weft_status cannot_write(const ad_run *run, weft_error *error) {
    const int number = errno;
    weft_error_set(error, WEFT_ERROR_IO, "cannot write %s: %s", run->options->history,
                   strerror(number));
    weft_error_hint(error, "make room where it goes, or name another file with --history");
    return WEFT_ERROR_IO;
}

static void write_name(FILE *file, const weft_derived_value *value, const char *end, int k) {
    fprintf(file, ",\"%s%s%s", value->name, value->group ? "@" : "",
            value->group ? value->group : "");
    if (k >= 0)
        fprintf(file, "[%d]", k);
    fprintf(file, "%s\"", end);
}

/* t,"T(0.5,0.5)","heat@left","range least","range greatest" */
static void write_head(const ad_run *run) {
    const weft_derived_value *values = NULL;
    const int n = run->base.derive ? weft_derive_values(run->base.derive, &values) : 0;
    fprintf(run->history, "t");
    for (int i = 0; i < run->base.points.n; ++i)
        fprintf(run->history, ",\"T(%s)\"", run->base.points.list[i].text);
    for (int i = 0; i < n; ++i) {
        if (values[i].kind == WEFT_DERIVE_EXTREMA) {
            write_name(run->history, &values[i], " least", -1);
            write_name(run->history, &values[i], " greatest", -1);
        }
        for (int k = 0; values[i].kind == WEFT_DERIVE_INTEGRAL && k < values[i].n_components; ++k)
            write_name(run->history, &values[i], "", values[i].n_components > 1 ? k : -1);
    }
    fputc('\n', run->history);
}

static void write_number(FILE *file, double value) {
    if (isfinite(value))
        fprintf(file, ",%.17g", value);
    else
        fputc(',', file); /* outside of the mesh, or NaN */
}

static void write_row(const ad_run *run) {
    const weft_derived_value *values = NULL;
    const int n = run->base.derive ? weft_derive_values(run->base.derive, &values) : 0;
    fprintf(run->history, "%.17g", run->state.t);
    for (int i = 0; i < run->base.points.n; ++i)
        write_number(run->history, ad_probe_value(run, i));
    for (int i = 0; i < n; ++i) {
        if (values[i].kind == WEFT_DERIVE_EXTREMA) {
            write_number(run->history, values[i].least);
            write_number(run->history, values[i].greatest);
        }
        for (int k = 0; values[i].kind == WEFT_DERIVE_INTEGRAL && k < values[i].n_components; ++k)
            write_number(run->history, values[i].integral[k]);
    }
    fputc('\n', run->history);
}

/* The rows up to time t of the file of an earlier run; NULL: there is none. */
static char *rows_until(const char *path, double t) {
    char *text = NULL;
    if (weft_file_read(path, &text, NULL, NULL) != WEFT_OK)
        return NULL;
    char *at = strchr(text, '\n'); /* the head */
    while (at && at[1] && strtod(at + 1, NULL) <= t * (1 + 1e-12))
        at = strchr(at + 1, '\n');
    if (at)
        at[1] = '\0';
    return text;
}

weft_status ad_history_add(ad_run *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const double start = weft_clock();
    if (!run->options->history)
        return WEFT_OK;
    if (run->base.points.n > 0)
        TRY(weft_memory_read(weft_advection_diffusion_field(run->stepper), 0, run->values,
                             (size_t)run->base.mesh->n_nodes * sizeof *run->values, error));
    if (run->base.derive)
        TRY(weft_derive_run(run->base.derive, run->state.t, error));
    if (!run->history) { /* the names of values are known after the first run */
        char *kept = run->first_step > 0 ? rows_until(run->options->history, run->state.t) : NULL;
        run->history = fopen(run->options->history, "w");
        if (!run->history) {
            free(kept);
            TRY(cannot_write(run, error));
        }
        if (kept)
            fputs(kept, run->history);
        else
            write_head(run);
        const bool is_there = kept != NULL;
        free(kept);
        if (is_there)
            goto done;
    }
    write_row(run);
    if (fflush(run->history) != 0 || ferror(run->history))
        TRY(cannot_write(run, error));
done:
    run->base.seconds.measure += weft_clock() - start;
    return status;
}
