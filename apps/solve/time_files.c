/* Writes checkpoints of problems in time, and resumes runs from them. */
#include "apps/solve/solve.h"

#include <string.h>

/* ---- the problem ------------------------------------------------------------------------- */

static void write_bindings(const char *option, const solve_bindings *bindings, weft_text *out) {
    for (int i = 0; i < bindings->n; ++i)
        weft_text_add(out, " --%s '%s=%s'", option, bindings->list[i].name,
                      bindings->list[i].value);
}

static void write_name(const char *option, const char *text, weft_text *out) {
    if (text)
        weft_text_add(out, " --%s '%s'", option, text);
}

void solve_problem_write(const solve *run, weft_text *out) {
    const solve_options *o = run->options;
    const solve_time_options *time = &o->time;
    const solve_time *time_run = &run->time;
    char hash[33];
    weft_text texts = {0};
    for (int i = 0; i < run->base.problem->forms.n_parts; ++i)
        weft_text_add(&texts, "%s", run->base.problem->forms.parts[i].text);
    weft_hash(texts.data ? texts.data : "", texts.length, hash);
    weft_text_free(&texts);
    weft_text_add(out, "script %s --dt %.17g --scheme %s --theta %.17g --previous %s", hash,
                  time->dt, weft_time_scheme_about(time->scheme)->name, time->theta,
                  time->previous);
    if (time->tolerance > 0) /* the errors of all steps add up to it */
        weft_text_add(out, " --end %.17g --time-tolerance %.17g", time->end, time->tolerance);
    weft_text_add(out, " --method %s --tolerance %.17g --assembly %s",
                  weft_method_about(time_run->first.method)->name, o->run.solver.tolerance,
                  weft_assembly_name(time_run->first.assembly));
    if (time_run->first.preconditioner >= 0)
        weft_text_add(out, " --preconditioner %s",
                      weft_preconditioner_about(time_run->first.preconditioner)->name);
    if (o->nonlinear)
        weft_text_add(out, " --nonlinear --newton-tolerance %.17g --newton-iterations %d",
                      o->newton.tolerance, o->newton.iterations);
    write_name("matrix", o->matrix, out);
    write_name("vector", o->vector, out);
    write_name("mass", time->mass, out);
    write_name("initial", o->initial, out);
    write_name("degrees", o->degrees == WEFT_UFL_DEGREES_2026_2 ? "2026.2" : NULL, out);
    write_bindings("input", &o->inputs, out);
    write_bindings("define", &o->defines, out);
    write_bindings("param", &o->sets, out);
    write_bindings("measure", &o->measures, out);
    app_conditions_write(&o->run.conditions, out);
    app_constraints_write(&o->run.constraints, out);
}

/* ---- checkpoints ------------------------------------------------------------------------- */

static weft_state state_of(const solve *run, double *numbers) {
    weft_state state = {.step = run->time.state.step,
                        .n_dofs = run->base.problem->fields.n_dofs,
                        .numbers = numbers,
                        .n_numbers = WEFT_TRANSIENT_NUMBERS};
    solve_problem_write(run, &state.problem);
    state.n = weft_transient_lists(run->time.transient, state.names, state.memories);
    return state;
}

weft_status solve_checkpoint_write(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const double start = weft_clock();
    double numbers[WEFT_TRANSIENT_NUMBERS];
    weft_state state = state_of(run, numbers);
    weft_transient_numbers(run->time.transient, numbers);
    TRY(weft_state_write(&state, run->options->time.files.checkpoint, run->base.mesh, error));
    run->time.kept_step = state.step;
done:
    weft_state_clear(&state);
    run->base.seconds.output += weft_clock() - start;
    return status;
}

static weft_status refuse_later(const solve *run, double t, weft_error *error) {
    weft_error_set(error, WEFT_ERROR_USAGE,
                   "the checkpoint was written at t = %g, and the run ends at t = %g", t,
                   run->options->time.end);
    weft_error_location(error, run->options->time.files.resume, NULL, 0, 0);
    weft_error_hint(error, "raise END of --time DT,END: it counts from t = 0");
    return WEFT_ERROR_USAGE;
}

weft_status solve_resume(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const solve_time_options *time = &run->options->time;
    weft_transient_state *at = &run->time.state;
    double numbers[WEFT_TRANSIENT_NUMBERS];
    weft_state state = {0};
    if (!time->files.resume || run->base.is_null)
        goto done;
    state = state_of(run, numbers);
    TRY(weft_state_read(&state, time->files.resume, run->base.mesh, error));
    TRY(weft_transient_resume(run->time.transient, numbers, at, error));
    if (at->t > time->end * (1 + 1e-9))
        TRY(refuse_later(run, at->t, error));
    run->time.kept_step = at->step;
    if (time->output_interval > 0)
        run->time.n_outputs = (int64_t)(at->t / time->output_interval * (1 + 1e-9));
done:
    weft_state_clear(&state);
    return status;
}
