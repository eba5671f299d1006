/* The app scaling: runs its steps in order and reports the outcome. */
#include "apps/scaling/results.h"

#include <signal.h>
#include <string.h>

typedef struct scaling {
    scaling_options options;
    app_messages messages;
    scaling_cases cases;
    scaling_study study;
    scaling_progress progress;
    scaling_results results;
    int stopped; /* the signal, or 0 */
} scaling;

static weft_status write_files(scaling *run, weft_error *error) {
    weft_status status = WEFT_OK, drawing = WEFT_OK;
    scaling_plots plots;
    const char *folder = run->options.out;
    scaling_results_clear(&run->results);
    TRY(scaling_results_make(&run->options, &run->cases, &run->study, run->progress.failed,
                             &run->results, error));
    TRY(scaling_json_write(folder, &run->results, run->study.configuration, error));
    TRY(scaling_csv_write(folder, &run->results, error));
    TRY(scaling_plots_write(folder, &run->results, &plots, error));
    if (!run->options.no_plots && !run->stopped)
        drawing = scaling_plots_draw(folder, &run->messages.monitor, &plots, &run->stopped, error);
    /* the report is worth having without pictures */
    TRY(scaling_report_write(folder, &run->results, &plots, drawing == WEFT_OK ? error : NULL));
    status = drawing;
done:
    return status;
}

/* options -> cases -> study -> runs -> results -> files and plots */
static weft_status measure(scaling *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const scaling_options *options = &run->options;
    const weft_monitor *monitor = &run->messages.monitor;
    TRY(scaling_cases_make(options, monitor, &run->cases, error));
    TRY(scaling_study_open(options->out, scaling_configuration_make(options, &run->cases),
                           &run->cases, options->warmup + options->repeat, &run->study, error));
    TRY(scaling_progress_make(&run->messages, &run->cases, &run->study, &run->progress, error));
    app_signals_block();
    status = scaling_meshes_make(options, monitor, &run->study, &run->cases, error);
    if (status == WEFT_OK)
        status = scaling_steps_make(options, monitor, &run->study, &run->cases, error);
    run->stopped = app_interrupt_requested(); /* a signal has stopped Gmsh too */
    if (status != WEFT_OK && !run->stopped)
        goto done;
    TRY(scaling_runs_do(&run->cases, &run->study, &run->progress, &run->stopped, error));
    TRY(write_files(run, error));
done:
    return status;
}

static void print_stopped(const scaling *run) {
    fprintf(stderr, "scaling: stopped by %s, %d runs are left: the same command continues\n",
            run->stopped == SIGINT ? "Ctrl-C" : strsignal(run->stopped), run->results.n_missing);
}

/* Exit code 1 if a case has no runs or did not converge. */
static int print_outcome(const scaling *run) {
    const scaling_results *results = &run->results;
    int n_failed = 0;
    for (int i = 0; i < results->cases->n_cases; ++i) {
        const scaling_result *result = &results->results[i];
        if (!scaling_result_failed(results, result))
            continue;
        ++n_failed;
        if (!result->error) /* else it was reported when it ran */
            weft_log(&run->messages.monitor, WEFT_LOG_ERROR, "%s did not converge: %s",
                     result->item->name,
                     result->outcome[0] ? result->outcome : "its outcome is not known");
    }
    if (run->options.verbosity > APP_QUIET)
        printf("%d cases, %d runs now, %d failed; see %s/report.md\n", results->cases->n_cases,
               run->progress.done, n_failed, run->options.out);
    return n_failed > 0;
}

int main(int argc, char **argv) {
    weft_status status = WEFT_OK;
    weft_error error = {0};
    scaling run = {.study = {.file = -1}};
    int code = 0;
    app_ensure_standard_streams();
    TRY(app_messages_make(&run.messages, "scaling", stderr, APP_NORMAL, &error));
    TRY(scaling_options_read(argc, argv, &run.options, &error));
    TRY(app_messages_make(&run.messages, "scaling", stderr, run.options.verbosity, &error));
    TRY(app_ranks_refuse("scaling", &error));
    TRY(measure(&run, &error));
    app_messages_clear(&run.messages.monitor);
    if (run.stopped)
        print_stopped(&run);
    code = run.stopped ? 128 + run.stopped : print_outcome(&run);
    if (fflush(stdout) != 0 || ferror(stdout))
        status = weft_error_set(&error, WEFT_ERROR_IO, "cannot write to standard output");
done:
    app_messages_clear(&run.messages.monitor);
    if (status != WEFT_OK)
        code = app_messages_fail(&run.messages, &error);
    scaling_results_clear(&run.results);
    scaling_progress_clear(&run.progress);
    scaling_study_close(&run.study);
    scaling_cases_clear(&run.cases);
    scaling_options_clear(&run.options);
    return code;
}
