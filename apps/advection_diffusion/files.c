/* Writes the time series of T, and writes and reads checkpoints. */
#include "apps/advection_diffusion/advection_diffusion.h"
#include "core/weft_core.h"
#include "fem/time/ranks.h"
#include "fem/weft_fem.h"

#include <inttypes.h>

/* ---- the series ------------------------------------------------------------------------------ */

/* Output is due every output_every steps from the first of this process, and at the last. */
static int64_t count_outputs(const ad_run *run) {
    const int64_t first = run->first_step, steps = run->options->steps;
    const int64_t every = run->options->files.output_every;
    if (every == 0 || steps <= first)
        return steps > first;
    return steps / every - first / every + (steps % every != 0);
}

/* Is the first step of this process written? */
static bool is_first_due(const ad_run *run) {
    const int64_t first = run->first_step, every = run->options->files.output_every;
    return first == 0 || first == run->options->steps || (every > 0 && first % every == 0);
}

weft_series_options ad_series_options(const ad_run *run) {
    const ad_options *options = run->options;
    static const weft_field field = {.name = "T", .n_components = 1};
    return (weft_series_options){.size = sizeof(weft_series_options),
                                 .fields = &field,
                                 .n_fields = 1,
                                 .problem = "",
                                 .n_steps = count_outputs(run),
                                 .at_start = is_first_due(run),
                                 .start = run->state.t,
                                 .end = options->steps * options->dt,
                                 .resume = options->files.resume != NULL,
                                 .overwrite = options->files.overwrite};
}

weft_status ad_series_add(ad_run *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const double start = weft_clock();
    if (run->series)
        TRY(weft_series_add(run->series, run->state.t, &(const double *){run->values}, error));
done:
    run->base.seconds.output += weft_clock() - start;
    return status;
}

/* ---- checkpoints ----------------------------------------------------------------------------- */

/* Everything that a restarted run must share with the original to give the same result. */
static void write_problem(const ad_run *run, weft_text *out) {
    const ad_options *o = run->options;
    weft_text_add(out,
                  "--dt %.17g --theta %.17g --splitting %s --mass %s --reassemble %s "
                  "--tolerance %.17g --max-iterations %d --assembly %s --initial '%s'",
                  o->dt, o->theta, weft_splitting_about(o->splitting)->name,
                  o->lumped ? "lumped" : "consistent",
                  weft_advection_diffusion_reassembles(&run->problem) ? "every-step" : "once",
                  o->run.solver.tolerance, run->problem.max_iterations,
                  weft_assembly_name(run->base.problem->system.linear.choice.assembly), o->initial);
    if (o->runge_kutta > 0) /* which the first, the default, is not */
        weft_text_add(out, " --scheme %s", weft_runge_kutta_about(o->runge_kutta)->name);
    for (int i = 0; i < o->velocity.n; ++i)
        weft_text_add(out, "%s%s%s", i == 0 ? " --velocity '" : ",", o->velocity.list[i].text,
                      i + 1 == o->velocity.n ? "'" : "");
    for (int i = 0; i < o->diffusivity.n; ++i)
        weft_text_add(out, "%s%s%s", i == 0 ? " --diffusivity '" : ",", o->diffusivity.list[i].text,
                      i + 1 == o->diffusivity.n ? "'" : "");
    if (o->capacity)
        weft_text_add(out, " --capacity '%s'", o->capacity);
    if (o->source)
        weft_text_add(out, " --source '%s'", o->source);
    app_conditions_write(&o->run.conditions, out);
}

weft_status ad_series_open(ad_run *run, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_text problem = {0};
    if (!run->options->run.output || !ad_is_first(run))
        goto done;
    weft_series_options options = ad_series_options(run);
    write_problem(run, &problem);
    if (problem.failed)
        TRY(weft_out_of_memory(error, NULL));
    options.problem = problem.data;
    options.statement = run->base.statement;
    TRY(weft_series_make(run->options->run.output, run->base.mesh, &options, run->base.monitor,
                         &run->series, error));
done:
    weft_text_free(&problem);
    return status;
}

static weft_state state_of(const ad_run *run) {
    weft_state state = {.step = run->state.step,
                        .n_dofs = run->base.mesh->n_nodes,
                        .divided = weft_advection_diffusion_divided(run->stepper),
                        .spaces = ad_is_first(run) ? run->base.problem->fields.spaces : NULL};
    write_problem(run, &state.problem);
    state.n = weft_advection_diffusion_lists(run->stepper, state.names, state.memories);
    return state;
}

weft_status ad_checkpoint_write(ad_run *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const double start = weft_clock();
    weft_state state = state_of(run);
    TRY(weft_state_write(&state, run->options->files.checkpoint, run->base.mesh, error));
    run->kept_step = state.step;
done:
    weft_state_clear(&state);
    run->base.seconds.checkpoint += weft_clock() - start;
    return status;
}

weft_status ad_restart(ad_run *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const char *path = run->options->files.resume;
    weft_state state = {0};
    if (!path)
        goto done;
    state = state_of(run);
    TRY(weft_state_read(&state, path, run->base.mesh, error));
    if (state.step > run->options->steps) {
        status = weft_error_set(error, WEFT_ERROR_USAGE,
                                "the checkpoint was written after step %" PRId64
                                ", and the run ends after step %d",
                                state.step, run->options->steps);
        weft_error_location(error, path, NULL, 0, 0);
        weft_error_hint(error, "raise --steps: it counts from t = 0");
        goto done;
    }
    TRY(weft_advection_diffusion_resume(run->stepper, state.step, error));
    run->first_step = run->kept_step = run->state.step = state.step;
    run->state.t = (double)state.step * run->options->dt;
done:
    weft_state_clear(&state);
    return status;
}
