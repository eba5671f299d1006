/* Checks the files of a run in time, writes and reads its checkpoints, and shows its progress. */
#include "apps/common/in_time.h"
#include "apps/common/fem.h"
#include "apps/common/support.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

weft_status app_time_check(const app_run *run, const char *script, const app_time_options *options,
                           const weft_series_options *series, weft_error *error) {
    weft_status status = WEFT_OK;
    const char *checkpoint = options->checkpoint, *output = run->options->output;
    TRY(app_files_check(run->options, script, options, error));
    if (checkpoint && !app_ends_with(checkpoint, ".vtkhdf")) {
        status = weft_error_set(error, WEFT_ERROR_USAGE,
                                "--checkpoint %s: it is a VTKHDF file, so its name ends in .vtkhdf",
                                checkpoint);
        weft_error_hint(error, "write --checkpoint FILE.vtkhdf");
        goto done;
    }
    if (run->is_null)
        goto done;
    if (options->history)
        TRY(app_file_check(options->history, error));
    if (checkpoint) {
        TRY(weft_result_check(checkpoint, error));
        TRY(app_file_claim(checkpoint, error));
    }
    if (output) {
        TRY(weft_series_check(output, series, error));
        TRY(app_file_claim(output, error));
    }
done:
    return status;
}

void app_conditions_write(const app_conditions *conditions, weft_text *out) {
    static const char *const names[] = {"dirichlet", "neumann", "robin"};
    for (int i = 0; i < conditions->n; ++i) {
        const app_condition *condition = &conditions->list[i];
        weft_text_add(out, " --%s '%s=%s%s%s'", names[condition->kind], condition->group,
                      condition->alpha ? condition->alpha : "", condition->alpha ? "," : "",
                      condition->value);
    }
}

/* ---- checkpoints ----------------------------------------------------------------------------- */

void app_state_clear(app_state *state) {
    weft_text_free(&state->problem);
}

/* The lists of a state on the host, with the numbers behind them. */
typedef struct lists {
    const char *names[APP_STATE_LISTS + 1];
    double *values[APP_STATE_LISTS + 1];
    int64_t lengths[APP_STATE_LISTS + 1];
    weft_checkpoint file;
} lists;

static weft_status lists_make(const app_state *state, lists *out, weft_error *error) {
    bool good = !state->problem.failed;
    *out = (lists){.file = {.problem = state->problem.data,
                            .step = state->step,
                            .n_lists = state->n + (state->numbers != NULL),
                            .names = out->names,
                            .lists = out->values,
                            .lengths = state->numbers ? out->lengths : NULL}};
    for (int i = 0; i < state->n; ++i) {
        out->names[i] = state->names[i];
        out->lengths[i] = state->n_dofs;
        out->values[i] = weft_array_make((size_t)state->n_dofs, sizeof(double));
        good &= out->values[i] != NULL;
    }
    out->names[state->n] = "numbers";
    out->values[state->n] = state->numbers;
    out->lengths[state->n] = state->n_numbers;
    return good ? WEFT_OK : weft_out_of_memory(error, "a checkpoint");
}

static void lists_clear(const app_state *state, lists *all) {
    for (int i = 0; i < state->n; ++i)
        free(all->values[i]);
}

weft_status app_state_write(const app_state *state, const char *path, const weft_mesh *mesh,
                            weft_error *error) {
    weft_status status = WEFT_OK;
    lists all;
    TRY(lists_make(state, &all, error));
    for (int i = 0; i < state->n; ++i)
        TRY(weft_vector_pull(state->memories[i], all.values[i], state->n_dofs, error));
    TRY(weft_checkpoint_write(path, mesh, &all.file, error));
done:
    lists_clear(state, &all);
    return status;
}

weft_status app_state_read(app_state *state, const char *path, const weft_mesh *mesh,
                           weft_error *error) {
    weft_status status = WEFT_OK;
    lists all;
    TRY(lists_make(state, &all, error));
    TRY(weft_checkpoint_read(path, mesh, &all.file, error));
    for (int i = 0; i < state->n; ++i)
        TRY(weft_vector_push(state->memories[i], all.values[i], state->n_dofs, error));
    state->step = all.file.step;
done:
    lists_clear(state, &all);
    return status;
}

/* ---- choices of a run that is continued: they depend on the number of steps, on what was measured and on the machine */

/* The name after an option of the program's, which precede those with texts of the user; false: it is not there. */
static bool find_choice(const char *problem, const char *option, char *out, size_t size) {
    const char *at = strstr(problem, option);
    if (!at)
        return false;
    at += strlen(option);
    const size_t length = strcspn(at, " ");
    if (length >= size)
        return false;
    memcpy(out, at, length);
    out[length] = '\0';
    return true;
}

static weft_status keep_preconditioner(const char *problem, weft_problem_options *options,
                                       weft_error *error) {
    weft_status status = WEFT_OK;
    char name[64];
    int kind = WEFT_JACOBI;
    if (options->preconditioner != WEFT_AUTO)
        goto done;
    if (find_choice(problem, " --preconditioner ", name, sizeof name))
        TRY(weft_preconditioner_find(name, &kind, error));
    options->earlier = kind;
done:
    return status;
}

weft_status app_resume_choices(const char *path, weft_problem_options *options, weft_error *error) {
    weft_status status = WEFT_OK;
    char *problem = NULL, name[64];
    weft_assembly assembly = 0;
    int choice = 0;
    if (!path)
        goto done;
    TRY(weft_checkpoint_problem(path, &problem, error));
    if (options->assembly == WEFT_AUTO && find_choice(problem, " --assembly ", name, sizeof name)) {
        TRY(app_parse_assembly(name, NULL, NULL, &assembly, error));
        options->assembly = (int)assembly;
    }
    if (options->method == WEFT_AUTO && find_choice(problem, " --method ", name, sizeof name))
        for (choice = 0; choice < weft_method_count(); ++choice)
            if (strcmp(weft_method_about((weft_method)choice)->name, name) == 0 &&
                !weft_method_about((weft_method)choice)->needs_symmetric)
                options->method = choice; /* GMRES or BiCGStab, by the memory */
    TRY(keep_preconditioner(problem, options, error));
done:
    free(problem);
    return status;
}

/* ---- progress -------------------------------------------------------------------------------- */

void app_progress_show(const weft_monitor *monitor, const app_progress *progress) {
    char phase[160], left[32];
    const double done = progress->t - progress->first_t, rest = progress->end - progress->t;
    snprintf(phase, sizeof phase, "step %" PRId64 ", t = %.4g, %.0f iterations a step, %s left",
             progress->step, progress->t, progress->iterations,
             done > 0 ? app_print_seconds(progress->seconds / done * rest, left) : "?");
    weft_progress(monitor, phase, progress->t, progress->end);
}
