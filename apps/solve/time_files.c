/* Writes checkpoints of problems in time, and resumes runs from them. */
#include "apps/solve/solve.h"

#include <inttypes.h>
#include <stdlib.h>
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

static void write_conditions(const app_conditions *conditions, weft_text *out) {
    static const char *const names[] = {"dirichlet", "neumann", "robin"};
    for (int i = 0; i < conditions->n; ++i) {
        const app_condition *condition = &conditions->list[i];
        weft_text_add(out, " --%s '%s=%s%s%s'", names[condition->kind], condition->group,
                      condition->alpha ? condition->alpha : "", condition->alpha ? "," : "",
                      condition->value);
    }
}

void solve_problem_write(const solve *run, weft_text *out) {
    const solve_options *o = run->options;
    const solve_time_options *time = &o->time;
    const solve_time *time_run = &run->time;
    char hash[33];
    weft_text texts = {0};
    for (int i = 0; i < run->base.problem->n_parts; ++i)
        weft_text_add(&texts, "%s", run->base.problem->parts[i].text);
    weft_hash(texts.data ? texts.data : "", texts.length, hash);
    weft_text_free(&texts);
    weft_text_add(out, "script %s --dt %.17g --scheme %s --theta %.17g --previous %s", hash,
                  time->dt, weft_time_scheme_about(time->scheme)->name, time->theta,
                  time->previous);
    if (time->tolerance > 0) /* the errors of all steps add up to it */
        weft_text_add(out, " --end %.17g --time-tolerance %.17g", time->end, time->tolerance);
    weft_text_add(out, " --method %s --tolerance %.17g --assembly %s",
                  weft_method_about(time_run->first_method)->name, o->run.solver.tolerance,
                  weft_assembly_name(time_run->first_assembly));
    if (time_run->first_preconditioner >= 0)
        weft_text_add(out, " --preconditioner %s",
                      weft_preconditioner_about(time_run->first_preconditioner)->name);
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
    write_conditions(&o->run.conditions, out);
    app_constraints_write(&o->run.constraints, out);
}

/* ---- checkpoints ------------------------------------------------------------------------- */

/* The lists of a checkpoint, the numbers last. */
typedef struct state_lists {
    weft_text problem;
    int n;
    const char *names[WEFT_TRANSIENT_LISTS + 1];
    weft_memory *memories[WEFT_TRANSIENT_LISTS];
    double *values[WEFT_TRANSIENT_LISTS + 1];
    int64_t lengths[WEFT_TRANSIENT_LISTS + 1];
} state_lists;

static void lists_clear(state_lists *lists) {
    weft_text_free(&lists->problem);
    for (int i = 0; i <= WEFT_TRANSIENT_LISTS; ++i)
        free(lists->values[i]);
}

static weft_status lists_make(const solve *run, state_lists *lists, weft_error *error) {
    solve_problem_write(run, &lists->problem);
    lists->n = weft_transient_lists(run->time.transient, lists->names, lists->memories);
    lists->names[lists->n] = "numbers";
    bool good = !lists->problem.failed;
    for (int i = 0; i <= lists->n; ++i) {
        lists->lengths[i] = i < lists->n ? run->n_dofs : WEFT_TRANSIENT_NUMBERS;
        lists->values[i] = weft_array_make((size_t)lists->lengths[i], sizeof **lists->values);
        good &= lists->values[i] != NULL;
    }
    return good ? WEFT_OK : weft_out_of_memory(error, NULL);
}

static weft_checkpoint checkpoint_of(const solve *run, const state_lists *lists) {
    return (weft_checkpoint){.problem = lists->problem.data,
                             .step = run->time.state.step,
                             .n_lists = lists->n + 1,
                             .names = lists->names,
                             .lists = lists->values,
                             .lengths = lists->lengths};
}

weft_status solve_checkpoint_write(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const double start = weft_clock();
    state_lists lists = {.n = 0};
    TRY(lists_make(run, &lists, error));
    for (int i = 0; i < lists.n; ++i)
        TRY(weft_memory_read(lists.memories[i], 0, lists.values[i],
                             (size_t)run->n_dofs * sizeof(double), error));
    weft_transient_numbers(run->time.transient, lists.values[lists.n]);
    const weft_checkpoint checkpoint = checkpoint_of(run, &lists);
    TRY(weft_checkpoint_write(run->options->time.checkpoint, run->base.mesh, &checkpoint, error));
    run->time.kept_step = run->time.state.step;
done:
    lists_clear(&lists);
    run->base.seconds.output += weft_clock() - start;
    return status;
}

static weft_status refuse_later(const solve *run, double t, weft_error *error) {
    weft_error_set(error, WEFT_ERROR_USAGE,
                   "the checkpoint was written at t = %g, and the run ends at t = %g", t,
                   run->options->time.end);
    weft_error_location(error, run->options->time.resume, NULL, 0, 0);
    weft_error_hint(error, "raise END of --time DT,END: it counts from t = 0");
    return WEFT_ERROR_USAGE;
}

weft_status solve_resume(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const solve_time_options *time = &run->options->time;
    weft_transient_state *state = &run->time.state;
    state_lists lists = {.n = 0};
    if (!time->resume || run->base.is_null)
        return WEFT_OK;
    TRY(lists_make(run, &lists, error));
    weft_checkpoint checkpoint = checkpoint_of(run, &lists);
    TRY(weft_checkpoint_read(time->resume, run->base.mesh, &checkpoint, error));
    for (int i = 0; i < lists.n; ++i)
        TRY(weft_memory_write(lists.memories[i], 0, lists.values[i],
                              (size_t)run->n_dofs * sizeof(double), error));
    TRY(weft_transient_resume(run->time.transient, lists.values[lists.n], state, error));
    if (state->t > time->end * (1 + 1e-9))
        TRY(refuse_later(run, state->t, error));
    TRY(weft_vector_pull(run->base.problem->u, run->base.problem->u_values, run->n_dofs, error));
    run->time.n_pulled = state->step + 1;
    run->time.kept_step = state->step;
    if (time->output_interval > 0)
        run->time.n_outputs = (int64_t)(state->t / time->output_interval * (1 + 1e-9));
done:
    lists_clear(&lists);
    return status;
}
