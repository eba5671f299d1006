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

/* Rows from which on times say something about speeds. */
enum { ROWS_LEAST = 100000 };

weft_status weft_linear_store_speeds(const weft_linear *linear, weft_error *error) {
    const weft_context *context = linear->context;
    const int64_t n = weft_linear_dofs(linear);
    if (linear->options->tune == 0 || !linear->preconditioner || n < ROWS_LEAST ||
        linear->cg.iterations < 1)
        return WEFT_OK;
    const double rows = (double)n;
    const weft_preconditioner_report *report = weft_preconditioner_reported(linear->preconditioner);
    const double per_row[2] = {report->set_up_seconds / rows,
                               linear->solve_seconds / linear->cg.iterations / rows};
    return store(context->device, context->monitor, report, linear->mesh->dimension, per_row,
                 error);
}
