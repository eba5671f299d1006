/* Runs the remaining cases of a study in child processes.
 *
 * Decision  docs/decisions/0054-studies-compare-fresh-processes.md */
#include "apps/scaling/scaling.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { ARGUMENTS_MOST = 26 };

/* Order the arguments as defaults, user's options, options set by the study: the last of each
 * counts. */
static char **make_command(const scaling_cases *cases, const scaling_case *item, char refine[16]) {
    const scaling_level *level = item->level;
    char **command = calloc((size_t)cases->arguments.n + ARGUMENTS_MOST, sizeof *command);
    int n = 0;
    if (!command)
        return NULL;
    command[n++] = (char *)(uintptr_t)cases->program;
    if (level->by_gmsh) {
        command[n++] = (char *)(uintptr_t) "--ordering";
        command[n++] = (char *)(uintptr_t) "bisection";
    }
    for (int i = 0; i < cases->arguments.n; ++i)
        command[n++] = cases->arguments.items[i];
    const char *const ours[] = {"--mesh",
                                level->mesh,
                                "--assembly",
                                item->assembly,
                                "--device",
                                item->device,
                                "--json",
                                "-",
                                item->preconditioner ? "--preconditioner" : NULL,
                                item->preconditioner,
                                level->refine ? "--refine" : NULL,
                                refine,
                                level->velocity ? "--velocity" : NULL,
                                level->velocity,
                                level->dt[0] ? "--dt" : NULL,
                                level->dt,
                                level->steps[0] ? "--steps" : NULL,
                                level->steps};
    snprintf(refine, 16, "%d", level->refine);
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i += 2)
        if (ours[i]) {
            command[n++] = (char *)(uintptr_t)ours[i];
            command[n++] = (char *)(uintptr_t)ours[i + 1];
        }
    return command;
}

/* The app's JSON without long parts that the study does not use. */
static json_t *read_result(const app_child *child) {
    static const char *const left_out[] = {"history", "probes", "steps", "series"};
    json_t *result = child->exit_code <= 1 ? json_loads(child->output, 0, NULL) : NULL;
    if (!json_is_object(result)) {
        json_decref(result);
        return NULL;
    }
    for (size_t i = 0; i < sizeof left_out / sizeof *left_out; ++i)
        if (json_is_array(json_object_get(result, left_out[i])))
            json_object_del(result, left_out[i]);
    return result;
}

static json_t *make_record(const scaling_case *item, int round, const app_child *child) {
    json_t *record = json_object(), *result = read_result(child);
    char reason[600] = "";
    bool fine = app_json_set(record, "case", app_json_text(item->name)) &&
                app_json_set(record, "round", json_integer(round)) &&
                app_json_set(record, "exit", json_integer(child->exit_code)) &&
                app_json_set(record, "seconds", json_real(child->seconds));
    if (!result) {
        size_t length = strlen(child->error);
        while (length > 0 && child->error[length - 1] == '\n')
            --length;
        if (child->exit_code > 128)
            snprintf(reason, sizeof reason, "ended by signal %d (%s)", child->exit_code - 128,
                     strsignal(child->exit_code - 128));
        else if (length > 0)
            snprintf(reason, sizeof reason, "%.*s", (int)(length < 590 ? length : 590),
                     child->error);
        else
            snprintf(reason, sizeof reason, "exit status %d without results", child->exit_code);
    }
    fine = fine && (result ? app_json_set(record, "result", result)
                           : app_json_set(record, "error", app_json_text(reason)));
    if (fine)
        return record;
    json_decref(record);
    return NULL;
}

/* The first case that failed for this reason, or NULL. */
static const scaling_case *find_failed(const scaling_progress *progress, const char *reason) {
    for (int i = 0; i < progress->cases->n_cases; ++i)
        if (i != progress->current && progress->failed[i] &&
            strcmp(progress->failed[i], reason) == 0)
            return &progress->cases->cases[i];
    return NULL;
}

/* The reason is the program's message, of several lines. */
static void log_failure(const weft_monitor *monitor, const char *name, const char *reason) {
    const size_t n = strcspn(reason, "\n");
    if (reason[n])
        weft_log(monitor, WEFT_LOG_ERROR, "%s failed: %.*s\n%s", name, (int)n, reason,
                 reason + n + 1);
    else
        weft_log(monitor, WEFT_LOG_ERROR, "%s failed: %s", name, reason);
}

static void report_run(const scaling_progress *progress, const json_t *record, int rounds) {
    app_messages *messages = progress->messages;
    const scaling_case *item = &progress->cases->cases[progress->current];
    const char *reason = json_string_value(json_object_get(record, "error"));
    const scaling_case *same = reason ? find_failed(progress, reason) : NULL;
    char seconds[32];
    if (same)
        weft_log(&messages->monitor, WEFT_LOG_INFO, "%s failed as %s did", item->name, same->name);
    else if (reason)
        log_failure(&messages->monitor, item->name, reason);
    else
        weft_log(&messages->monitor, WEFT_LOG_INFO, "%s, run %d of %d: %s", item->name,
                 progress->round + 1, rounds,
                 app_print_seconds(json_number_value(json_object_get(record, "seconds")), seconds));
}

static weft_status run_one(const scaling_cases *cases, scaling_study *study,
                           scaling_progress *progress, int *stopped, weft_error *error) {
    weft_status status = WEFT_OK;
    const int index = progress->current;
    char refine[16];
    app_child child = {0};
    char **command = make_command(cases, &cases->cases[index], refine);
    if (!command)
        TRY(weft_out_of_memory(error, NULL));
    scaling_progress_draw(progress);
    const app_child_start start = {
        .arguments = command, .tick = scaling_progress_draw, .user = progress};
    TRY(app_child_run(&start, &child, stopped, error));
    if (*stopped)
        goto done;
    json_t *record = make_record(&cases->cases[index], progress->round, &child);
    report_run(progress, record, study->rounds);
    if (record && json_object_get(record, "error")) {
        progress->failed[index] = strdup(json_string_value(json_object_get(record, "error")));
        if (!progress->failed[index])
            status = weft_out_of_memory(error, NULL);
    }
    progress->typical[index] = child.seconds;
    if (status == WEFT_OK)
        TRY(scaling_study_add(study, index, progress->round, record, error));
    else
        json_decref(record);
    ++progress->done;
done:
    app_child_clear(&child);
    free(command);
    return status;
}

weft_status scaling_runs_do(const scaling_cases *cases, scaling_study *study,
                            scaling_progress *progress, int *stopped, weft_error *error) {
    weft_status status = WEFT_OK;
    for (int i = 0; i < study->n_cases; ++i)
        for (int round = 0; round < study->rounds; ++round) {
            const json_t *record = scaling_study_at(study, i, round);
            if (record)
                progress->typical[i] = json_number_value(json_object_get(record, "seconds"));
        }
    for (int round = 0; round < study->rounds && !*stopped; ++round)
        for (int i = 0; i < study->n_cases && !*stopped; ++i) {
            if (scaling_study_at(study, i, round) || progress->failed[i])
                continue;
            progress->current = i;
            progress->round = round;
            TRY(run_one(cases, study, progress, stopped, error));
            if (!*stopped)
                *stopped = app_interrupt_requested();
        }
done:
    app_messages_clear(&progress->messages->monitor);
    return status;
}
