/* The measured speeds of a device, in the tuning database. */
#include "core/base/number.h"
#include "fem/linear/linear.h"

/* A tuning database to read or to write, where the cache allows that. */
static weft_status open_tuning(const weft_device *device, bool writes, const weft_monitor *monitor,
                               weft_tuning **out, weft_error *error) {
    weft_device_options options = weft_device_options_default(monitor);
    if (weft_device_limits(device)->records_only || (writes && options.cache != WEFT_CACHE_ON))
        return WEFT_OK;
    if (!writes && options.cache == WEFT_CACHE_ON)
        options.cache = WEFT_CACHE_READ;
    return weft_tuning_open(&options, out, error);
}

weft_status weft_speeds_read(weft_device *device, const weft_monitor *monitor, weft_speeds *out,
                             weft_error *error) {
    weft_status status = WEFT_OK;
    weft_tuning *tuning = NULL;
    char identity[33];
    weft_device_identity(device, identity);
    TRY(open_tuning(device, false, monitor, &tuning, error));
    TRY(weft_assembly_speeds_read(tuning, identity, weft_device_limits(device), &out->assemblies,
                                  error));
    TRY(weft_preconditioner_speeds_read(tuning, identity, &out->preconditioners, error));
    if (out->assemblies.n_measured > 0)
        weft_log(monitor, WEFT_LOG_INFO, "assemblies by %d measured speeds",
                 out->assemblies.n_measured);
    if (out->preconditioners.n_measured > 0)
        weft_log(monitor, WEFT_LOG_INFO, "preconditioners by %d measured speeds",
                 out->preconditioners.n_measured);
done:
    weft_tuning_close(&tuning);
    return status;
}

/* Store the speed of a preconditioner: seconds per row of the set-up, and of an iteration. */
static weft_status store(weft_device *device, const weft_monitor *monitor,
                         const weft_preconditioner_report *report, int dimension,
                         const double per_row[2], weft_error *error) {
    weft_status status = WEFT_OK;
    weft_tuning *tuning = NULL;
    weft_preconditioner_speed speed = {.set_up = per_row[0]};
    char identity[33];
    speed.iteration[dimension < 3 ? 0 : 1] = per_row[1];
    weft_device_identity(device, identity);
    TRY(open_tuning(device, true, monitor, &tuning, error));
    if (tuning)
        TRY(weft_preconditioner_speeds_write(tuning, identity, report->kind, dimension, &speed,
                                             error));
done:
    weft_tuning_close(&tuning);
    return status;
}

const char *weft_seconds_text(double seconds, char out[32]) {
    if (seconds >= 1)
        (void)weft_print(out, 32, "%.2f s", seconds);
    else if (seconds >= 1e-3)
        (void)weft_print(out, 32, "%.2f ms", 1e3 * seconds);
    else
        (void)weft_print(out, 32, "%.1f us", 1e6 * seconds);
    return out;
}

/* ---- iterations -------------------------------------------------------------------------- */

static void name_iterations(const char *forms, char out[80]) {
    (void)weft_print(out, 80, "preconditioner jacobi iterations %s", forms);
}

weft_status weft_iterations_read(weft_device *device, const char *forms, double *out,
                                 weft_error *error) {
    weft_status status = WEFT_OK;
    weft_tuning *tuning = NULL;
    char identity[33], name[80];
    bool found = false;
    weft_device_identity(device, identity);
    name_iterations(forms, name);
    TRY(open_tuning(device, false, NULL, &tuning, error));
    if (tuning)
        TRY(weft_tuning_get(tuning, identity, name, out, &found, error));
done:
    weft_tuning_close(&tuning);
    return status;
}

/* Where they were more than twice as many, or half as many, as what was predicted. */
static weft_status store_iterations(const weft_linear *linear, weft_error *error) {
    weft_status status = WEFT_OK;
    static const double APART = 2;
    weft_device *device = linear->context->device;
    weft_tuning *tuning = NULL;
    char identity[33], name[80];
    const bool is_jacobi = linear->choice.preconditioner == WEFT_JACOBI;
    const double now = linear->choice.expected > 0
                           ? linear->times * linear->cg.iterations / linear->choice.expected
                           : 0;
    const double took = linear->took > 0 ? linear->took : is_jacobi ? now : 0;
    const double apart = took / linear->times;
    if (!linear->forms[0] || linear->cg.outcome != WEFT_CG_CONVERGED || !(took > 0) ||
        (apart < APART && apart > 1 / APART))
        goto done;
    weft_device_identity(device, identity);
    name_iterations(linear->forms, name);
    TRY(open_tuning(device, true, linear->context->monitor, &tuning, error));
    if (tuning)
        TRY(weft_tuning_set(tuning, identity, name, took, error));
    weft_log(linear->context->monitor, WEFT_LOG_INFO,
             "iterations: %.3g times those that are predicted for such a mesh are remembered",
             took);
done:
    weft_tuning_close(&tuning);
    return status;
}

/* Rows from which on times say something about speeds. */
enum { ROWS_LEAST = 100000 };

weft_status weft_linear_store_speeds(const weft_linear *linear, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_context *context = linear->context;
    const int64_t n = weft_linear_dofs(linear);
    if (linear->options->tune > 0 && linear->cg.iterations > 0)
        TRY(store_iterations(linear, error));
    if (linear->options->tune == 0 || !linear->preconditioner || n < ROWS_LEAST ||
        linear->cg.iterations < 1)
        goto done;
    const double rows = (double)n;
    const weft_preconditioner_report *report = weft_preconditioner_reported(linear->preconditioner);
    const double per_row[2] = {report->set_up_seconds / rows,
                               linear->solve_seconds / linear->cg.iterations / rows};
    TRY(store(context->device, context->monitor, report, linear->mesh->dimension, per_row, error));
done:
    return status;
}
