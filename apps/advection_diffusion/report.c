/* Prints the report, or the plan of a step on the null device. */
#include "apps/advection_diffusion/advection_diffusion.h"
#include "apps/common/statement.h"

#include <inttypes.h>
#include <math.h>

/* "(0.5-y, x-0.5)" or "(1, 0; 0, 2)"; a number stands alone. */
static void add_formulas(const char *name, const ad_formulas *formulas, weft_text *out) {
    weft_text value = {0};
    const int columns = formulas->n_rows > 0 ? formulas->n / formulas->n_rows : 1;
    for (int i = 0; i < formulas->n; ++i)
        weft_text_add(&value, "%s%s",
                      i == 0        ? ""
                      : i % columns ? ", "
                                    : "; ",
                      formulas->list[i].text);
    weft_text_add(out, ", %s = %s%s%s", name, formulas->n > 1 ? "(" : "",
                  value.data ? value.data : "0", formulas->n > 1 ? ")" : "");
    weft_text_add(out, formulas->n == 0 ? " (default)" : "");
    out->failed |= value.failed;
    weft_text_free(&value);
}

weft_status ad_state(ad_run *run, weft_error *error) {
    const ad_options *options = run->options;
    weft_text equation = {0};
    weft_text_add(&equation, "c (dT/dt + u.grad T) = div(mu grad T) + f");
    app_state_datum(&equation, "c", options->capacity, "1");
    add_formulas("u", &options->velocity, &equation);
    add_formulas("mu", &options->diffusivity, &equation);
    app_state_datum(&equation, "f", options->source, "0");
    app_state_datum(&equation, "T(0)", options->default_initial ? NULL : options->initial, "0");
    const weft_status status = app_run_state(&run->base, &equation, "T", "insulated", error);
    weft_text_free(&equation);
    return status;
}

static void print_scheme(const ad_run *run) {
    const ad_options *options = run->options;
    const bool advects = run->problem.n_velocity > 0, diffuses = run->problem.n_diffusivity > 0;
    char splitting[64];
    snprintf(splitting, sizeof splitting, ", %s, ",
             weft_splitting_about(options->splitting)->title);
    app_plan_print(&run->base.context, app_run_device_reason(&run->base),
                   run->base.problem->system.linear.choice.assembly,
                   weft_advection_diffusion_reassembles(&run->problem) ? ", in every step"
                                                                       : ", once");
    printf("scheme      %s%s%s, %s mass\n",
           advects ? weft_runge_kutta_about(options->runge_kutta)->title : "",
           advects && diffuses ? splitting : "",
           diffuses ? options->theta == 0.5 ? "Crank-Nicolson" : "theta" : "",
           options->lumped ? "lumped" : "consistent");
    if (advects)
        printf("CFL         %.3g, stable up to %.3g\n", run->limits.cfl, run->limits.cfl_limit);
}

static void print_record(const ad_run *run, const ad_record *record) {
    const weft_field_measures *m = &record->measures;
    const int *its = record->state.advection;
    printf("%11" PRId64 " %10.4g %17.10g %12.5g %12.5g %12.5g", record->state.step, record->state.t,
           app_strip_nan_sign(m->mass), app_strip_nan_sign(m->minimum),
           app_strip_nan_sign(m->maximum), app_strip_nan_sign(m->l2_norm));
    if (run->options->exact)
        printf(" %12.5e", app_strip_nan_sign(m->l2_error));
    printf("   %d %d %d %d, %d\n", its[0], its[1], its[2], its[3], record->state.diffusion);
}

/* Print about twenty of the records, including the last. */
static void print_records(const ad_run *run) {
    enum { LINES = 20 };
    const int last = run->n_records - 1, step = last > 0 ? (last + LINES - 1) / LINES : 1;
    printf("%11s %10s %17s %12s %12s %12s%s   %s\n", "step", "t", "mass", "minimum", "maximum",
           "L2 norm", run->options->exact ? "     L2 error" : "", "iterations (stages, diffusion)");
    for (int i = 0; i <= last; i += step)
        print_record(run, &run->records[i]);
    if (last >= 0 && last % step != 0)
        print_record(run, &run->records[last]);
}

static void print_costs(const ad_run *run) {
    char a[32], b[32], c[32], d[32], e[32], f[32], g[32];
    const app_seconds *s = &run->base.seconds;
    printf(
        "time        mesh %s, plan %s, compile %s, assembly %s, steps %s, measures %s, output %s\n",
        app_print_seconds(s->mesh, a), app_print_seconds(s->plan, b),
        app_print_seconds(s->compile, c), app_print_seconds(s->assembly, d),
        app_print_seconds(s->solve, e), app_print_seconds(s->measure, f),
        app_print_seconds(s->output + s->checkpoint, g));
    if (run->state.step > run->first_step)
        printf("            %s a step\n",
               app_print_seconds(s->solve / (double)(run->state.step - run->first_step), a));
    if (isfinite(s->products))
        printf("            of the steps %s in products, %s in assembling operators again\n",
               app_print_seconds(s->products, a), app_print_seconds(s->reassembly, b));
    else if (weft_advection_diffusion_reassembles(&run->problem))
        puts("            of the steps some in assembling operators again: --device cuda:0:traced "
             "tells");
    printf("memory      %s at most\n", app_print_bytes((double)weft_memory_peak(), a));
}

weft_status ad_report_print(const ad_run *run, weft_error *error) {
    weft_text shares = {0};
    if (app_is_silent(&run->options->run))
        return WEFT_OK;
    app_messages_clear(run->base.monitor);
    app_mesh_print(run->base.mesh, &run->base.mesh_made);
    app_run_print_statement(&run->base);
    print_scheme(run);
    if (run->n_ranks > 0)
        printf("ranks       %d, by %s\n", run->n_ranks, run->rank_kind);
    if (run->shares)
        weft_ranks_shares_print(run->shares, run->n_ranks, &shares);
    if (shares.data && !shares.failed)
        fputs(shares.data, stdout);
    weft_text_free(&shares);
    print_records(run);
    if (run->n_records > 0)
        app_probes_print(&run->base.points, "T", run->records[run->n_records - 1].probes, 1);
    app_run_print_derived(&run->base);
    print_costs(run);
    if (run->options->files.history)
        printf("history     %s\n", run->options->files.history);
    if (run->options->run.output)
        printf("output      %s\n", run->options->run.output);
    if (run->options->files.checkpoint)
        printf("checkpoint  %s\n", run->options->files.checkpoint);
    return app_stdout_check(error);
}

weft_status ad_plan_print(ad_run *run, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_text text = {0};
    TRY(weft_advection_diffusion_run(run->stepper, 1, &run->state, error));
    if (app_is_silent(&run->options->run))
        goto done;
    TRY(weft_advection_diffusion_print(run->stepper, "plan", &text, error));
    app_messages_clear(run->base.monitor);
    app_mesh_print(run->base.mesh, &run->base.mesh_made);
    app_run_print_statement(&run->base);
    print_scheme(run);
    printf("\na time step\n%s", text.data && !text.failed ? text.data : "");
    app_run_print_null(&run->base, "for one step with one iteration of each loop", "");
    TRY(app_stdout_check(error));
done:
    weft_text_free(&text);
    return status;
}
