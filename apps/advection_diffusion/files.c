/* Writes the time series of T, and writes and reads checkpoints. */
#include "apps/advection_diffusion/advection_diffusion.h"
#include "core/weft_core.h"
#include "fem/weft_fem.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- the series ------------------------------------------------------------------------------ */

/* Output is due every output_every steps from the first of this process, and at the last. */
static int64_t count_outputs(const ad_run *run) {
    const int64_t first = run->first_step, steps = run->options->steps;
    const int64_t every = run->options->output_every;
    if (every == 0 || steps <= first)
        return steps > first;
    return steps / every - first / every + (steps % every != 0);
}

/* Is the first step of this process written? */
static bool is_first_due(const ad_run *run) {
    const int64_t first = run->first_step, every = run->options->output_every;
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
                                 .resume = options->restart != NULL,
                                 .overwrite = options->overwrite};
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
                  o->dt, o->theta, o->splitting == WEFT_SPLITTING_LIE ? "lie" : "strang",
                  o->lumped ? "lumped" : "consistent",
                  weft_advection_diffusion_reassembles(&run->problem) ? "every-step" : "once",
                  o->run.solver.tolerance, run->problem.max_iterations,
                  weft_assembly_name(run->base.problem->linear.choice.assembly), o->initial);
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
    for (int i = 0; i < o->run.conditions.n; ++i) {
        static const char *const names[] = {"dirichlet", "neumann", "robin"};
        const app_condition *condition = &o->run.conditions.list[i];
        weft_text_add(out, " --%s '%s=%s%s%s'", names[condition->kind], condition->group,
                      condition->alpha ? condition->alpha : "", condition->alpha ? "," : "",
                      condition->value);
    }
}

weft_status ad_series_open(ad_run *run, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_text problem = {0};
    if (!run->options->run.output)
        return WEFT_OK;
    weft_series_options options = ad_series_options(run);
    write_problem(run, &problem);
    if (problem.failed)
        TRY(weft_out_of_memory(error, NULL));
    options.problem = problem.data;
    options.statement = run->base.statement;
    TRY(weft_series_make(run->options->run.output, run->base.mesh, &options,
                         &run->base.messages->monitor, &run->series, error));
done:
    weft_text_free(&problem);
    return status;
}

typedef struct state_lists {
    weft_text problem;
    int n;
    const char *names[WEFT_ADVECTION_DIFFUSION_LISTS];
    weft_memory *memories[WEFT_ADVECTION_DIFFUSION_LISTS];
    double *values[WEFT_ADVECTION_DIFFUSION_LISTS];
} state_lists;

static void lists_clear(state_lists *lists) {
    weft_text_free(&lists->problem);
    for (int i = 0; i < lists->n; ++i)
        free(lists->values[i]);
}

static weft_status lists_make(const ad_run *run, state_lists *lists, weft_error *error) {
    write_problem(run, &lists->problem);
    lists->n = weft_advection_diffusion_lists(run->stepper, lists->names, lists->memories);
    bool good = !lists->problem.failed;
    for (int i = 0; i < lists->n; ++i) {
        lists->values[i] =
            weft_array_make((size_t)run->base.mesh->n_nodes, sizeof *lists->values[i]);
        good &= lists->values[i] != NULL;
    }
    return good ? WEFT_OK : weft_out_of_memory(error, NULL);
}

static weft_checkpoint checkpoint_of(const ad_run *run, const state_lists *lists) {
    return (weft_checkpoint){.problem = lists->problem.data,
                             .step = run->state.step,
                             .n_lists = lists->n,
                             .names = lists->names,
                             .lists = lists->values};
}

weft_status ad_checkpoint_write(ad_run *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t bytes = (size_t)run->base.mesh->n_nodes * sizeof(double);
    const double start = weft_clock();
    state_lists lists = {0};
    TRY(lists_make(run, &lists, error));
    for (int i = 0; i < lists.n; ++i)
        TRY(weft_memory_read(lists.memories[i], 0, lists.values[i], bytes, error));
    const weft_checkpoint checkpoint = checkpoint_of(run, &lists);
    TRY(weft_checkpoint_write(run->options->checkpoint, run->base.mesh, &checkpoint, error));
    run->kept_step = run->state.step;
done:
    lists_clear(&lists);
    run->base.seconds.checkpoint += weft_clock() - start;
    return status;
}

weft_status ad_restart(ad_run *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t bytes = (size_t)run->base.mesh->n_nodes * sizeof(double);
    state_lists lists = {0};
    if (!run->options->restart)
        return WEFT_OK;
    TRY(lists_make(run, &lists, error));
    weft_checkpoint checkpoint = checkpoint_of(run, &lists);
    TRY(weft_checkpoint_read(run->options->restart, run->base.mesh, &checkpoint, error));
    if (checkpoint.step > run->options->steps) {
        status = weft_error_set(error, WEFT_ERROR_USAGE,
                                "the checkpoint was written after step %" PRId64
                                ", and the run ends after step %d",
                                checkpoint.step, run->options->steps);
        weft_error_location(error, run->options->restart, NULL, 0, 0);
        weft_error_hint(error, "raise --steps: it counts from t = 0");
        goto done;
    }
    for (int i = 0; i < lists.n; ++i)
        TRY(weft_memory_write(lists.memories[i], 0, lists.values[i], bytes, error));
    TRY(weft_advection_diffusion_resume(run->stepper, checkpoint.step, error));
    run->first_step = run->kept_step = run->state.step = checkpoint.step;
    run->state.t = (double)checkpoint.step * run->options->dt;
done:
    lists_clear(&lists);
    return status;
}
