/* Runs the time loop with its output and checkpoints. */
#include "apps/advection_diffusion/advection_diffusion.h"

static bool is_due(const ad_run *run, int every) {
    return run->state.step == run->options->steps || (every > 0 && run->state.step % every == 0);
}

static int64_t until_due(const ad_run *run, int every) {
    const int64_t left = run->options->steps - run->state.step;
    const int64_t next = every > 0 ? every - run->state.step % every : left;
    return next < left ? next : left;
}

static void report(const ad_run *run, double start) {
    const int64_t done = run->state.step - run->first_step;
    const double dt = run->options->dt;
    const app_progress progress = {.step = run->state.step,
                                   .t = run->state.t,
                                   .first_t = (double)run->first_step * dt,
                                   .end = run->options->steps * dt,
                                   .iterations =
                                       done > 0 ? (double)run->state.iterations / (double)done : 0,
                                   .seconds = weft_clock() - start};
    app_progress_show(run->base.monitor, &progress);
}

/* Steps between rows of --history. */
static int history_every(const ad_run *run) {
    return run->options->files.history_every > 0 ? run->options->files.history_every : 1;
}

/* Write and measure after the current step, where it is due. */
static weft_status attend(ad_run *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const ad_options *options = run->options;
    const bool records = is_due(run, options->files.output_every) || run->state.step == 0;
    const bool adds_row = options->files.history &&
                          (is_due(run, history_every(run)) || run->state.step == run->first_step);
    if (run->part.comm && (records || adds_row))
        TRY(ad_pull(run, error));
    if (records && ad_is_first(run)) {
        TRY(ad_record_add(run, error));
        TRY(ad_series_add(run, error));
    }
    if (adds_row && ad_is_first(run))
        TRY(ad_history_add(run, error));
    if (options->files.checkpoint && is_due(run, options->files.checkpoint_every) &&
        run->state.step > run->first_step)
        TRY(ad_checkpoint_write(run, error));
done:
    return status;
}

/* After a step that was not made, record what there is. */
static weft_status fail(ad_run *run, weft_error *error) {
    weft_status status = WEFT_OK;
    if (run->part.comm)
        TRY(ad_pull(run, error));
    if (ad_is_first(run))
        TRY(ad_record_add(run, error));
done:
    return status;
}

/* On a requested stop, write a last checkpoint and finish as if this were the last step. */
static weft_status stop(ad_run *run, weft_error *error) {
    weft_status status = WEFT_OK;
    if (run->stopped && run->options->files.checkpoint && run->state.outcome == WEFT_STEP_DONE &&
        run->state.step > run->kept_step)
        TRY(ad_checkpoint_write(run, error));
done:
    return status;
}

weft_status ad_solve(ad_run *run, weft_error *error) {
    weft_status status = WEFT_OK;
    static const double LONG = 0.1; /* seconds between two checks by the host */
    const ad_options *options = run->options;
    const double begin = weft_clock();
    int64_t at_once = 1;
    if (ad_is_first(run))
        run->history.path = options->files.history;
    if (app_rank_is_signalled(run->part.comm))
        app_stop_catch();
    TRY(ad_series_open(run, error));
    TRY(attend(run, error));
    TRY(app_ranks_stop(run->part.comm, &run->stopped, error));
    while (run->state.step < options->steps && run->state.outcome == WEFT_STEP_DONE &&
           !run->stopped) {
        int64_t n = until_due(run, options->files.output_every);
        const int64_t other = until_due(run, options->files.checkpoint_every);
        const double start = weft_context_clock(&run->base.context);
        n = n < other ? n : other;
        const int64_t row = run->options->files.history ? until_due(run, history_every(run)) : n;
        n = n < row ? n : row;
        n = n < at_once ? n : at_once;
        TRY(weft_comm_broadcast(run->part.comm, &n, sizeof n, 0, error)); /* clocks differ */
        TRY(weft_advection_diffusion_run(run->stepper, n, &run->state, error));
        const double spent = weft_context_clock(&run->base.context) - start;
        run->base.seconds.solve += spent;
        at_once = spent < LONG && n == at_once      ? 2 * at_once
                  : spent > 4 * LONG && at_once > 1 ? at_once / 2
                                                    : at_once;
        report(run, begin);
        TRY(run->state.outcome == WEFT_STEP_DONE ? attend(run, error) : fail(run, error));
        TRY(app_ranks_stop(run->part.comm, &run->stopped, error));
    }
    const weft_step_times times = weft_advection_diffusion_times(run->stepper);
    run->base.seconds.products = times.products;
    run->base.seconds.reassembly = times.assembly;
    if (run->state.step < options->steps)
        TRY(stop(run, error));
    if (run->part.comm)
        TRY(ad_pull(run, error)); /* for derived quantities */
    TRY(weft_series_close(&run->series, error));
done:
    if (app_rank_is_signalled(run->part.comm))
        app_stop_release();
    return status;
}
