/* Reports what a preconditioner consists of. */
#include "apps/common/run.h"

#include <inttypes.h>
#include <math.h>

/* Ratio of the last residuals, per iteration; NaN without iterations. */
static double reduction(const weft_cg_result *cg) {
    return cg->iterations > 0 && cg->history
               ? pow(cg->history[cg->iterations] / cg->history[0], 1.0 / cg->iterations)
               : NAN;
}

static const weft_linear *linear_of(const app_run *run) {
    return &run->problem->system.linear;
}

static const weft_preconditioner *used(const app_run *run) {
    return linear_of(run)->preconditioner ? linear_of(run)->preconditioner
                                          : run->preconditioner_in_time;
}

void app_run_print_preconditioner(const app_run *run) {
    char bytes[32], seconds[32];
    const bool is_auto = run->options->solver.preconditioner == WEFT_AUTO;
    if (!used(run)) {
        if (is_auto)
            printf("jacobi      automatic: %s\n", linear_of(run)->choice.preconditioner_reason);
        return;
    }
    const weft_preconditioner_report *report = weft_preconditioner_reported(used(run));
    printf("%-12s", weft_preconditioner_about(report->kind)->name);
    if (report->detail[0])
        printf("%s, ", report->detail);
    if (report->degree > 0)
        printf("polynomials of degree %d, ", report->degree);
    if (report->n_levels > 1)
        printf("%d levels, complexity %.2f, ", report->n_levels, report->complexity);
    if (!isnan(reduction(&linear_of(run)->cg)))
        printf("residual x %.2g per iteration, ", reduction(&linear_of(run)->cg));
    printf("set up in %s", app_print_seconds(report->set_up_seconds, seconds));
    if (report->bytes > 0)
        printf(", %s", app_print_bytes((double)report->bytes, bytes));
    putchar('\n');
    if (is_auto)
        printf("            automatic: %s\n", linear_of(run)->choice.preconditioner_reason);
    for (int i = 0; run->options->verbosity == APP_VERBOSE && i < report->n_levels; ++i)
        printf("            level %d: %" PRId64 " rows, %" PRId64 " entries, eigenvalues to %.4g\n",
               i, report->levels[i].n_rows, report->levels[i].n_entries, report->levels[i].lambda);
}

static json_t *json_levels(const weft_preconditioner_report *report) {
    json_t *array = json_array();
    bool fine = array != NULL;
    for (int i = 0; fine && i < report->n_levels; ++i) {
        const weft_preconditioner_level *level = &report->levels[i];
        json_t *object = json_object();
        fine = json_array_append_new(array, object) == 0 &&
               app_json_set(object, "rows", json_integer(level->n_rows)) &&
               app_json_set(object, "entries", json_integer(level->n_entries)) &&
               app_json_set(object, "lambda", app_json_real(level->lambda));
    }
    if (fine)
        return array;
    json_decref(array);
    return NULL;
}

bool app_run_json_preconditioner(json_t *root, const app_run *run) {
    if (!app_json_set(root, "preconditioner_reason",
                      json_string(linear_of(run)->choice.preconditioner_reason)))
        return false;
    if (!used(run))
        return app_json_set(
            root, "preconditioner",
            json_string(linear_of(run)->choice.preconditioner == WEFT_NO_PRECONDITIONER
                            ? "none"
                            : "jacobi"));
    const weft_preconditioner_report *report = weft_preconditioner_reported(used(run));
    json_t *object = json_object();
    return app_json_set(root, "preconditioner",
                        json_string(weft_preconditioner_about(report->kind)->name)) &&
           app_json_set(root, "preconditioner_report", object) &&
           app_json_set(object, "degree", json_integer(report->degree)) &&
           app_json_set(object, "complexity", app_json_real(report->complexity)) &&
           app_json_set(object, "reduction", app_json_real(reduction(&linear_of(run)->cg))) &&
           app_json_set(object, "bytes", json_integer((json_int_t)report->bytes)) &&
           app_json_set(object, "set_up_seconds", app_json_real(report->set_up_seconds)) &&
           app_json_set(object, "detail", app_json_text(report->detail)) &&
           app_json_set(object, "levels", json_levels(report));
}
