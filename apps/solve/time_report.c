/* Reports the steps of a problem in time. */
#include "apps/common/support.h"
#include "apps/solve/solve.h"

#include <inttypes.h>

void solve_time_print(const solve *run) {
    const weft_transient_state *state = &run->time.state;
    printf("time        %s", weft_time_scheme_about(run->options->time.scheme)->name);
    if (run->options->time.scheme == WEFT_TIME_THETA)
        printf(" %g", run->options->time.theta);
    printf(", %" PRId64 " step%s to t = %.10g, %.1f iterations of %s per step\n", state->step,
           state->step == 1 ? "" : "s", state->t,
           state->step > 0 ? (double)state->all_iterations / (double)state->step : 0.0,
           weft_method_about(run->base.method)->title);
}

bool solve_time_json(json_t *root, const solve *run) {
    const weft_transient_state *state = &run->time.state;
    if (!run->options->time.text)
        return true;
    json_t *object = json_object();
    return app_json_set(root, "time", object) &&
           app_json_set(object, "scheme",
                        json_string(weft_time_scheme_about(run->options->time.scheme)->name)) &&
           app_json_set(object, "steps", json_integer(state->step)) &&
           app_json_set(object, "t", app_json_real(state->t)) &&
           app_json_set(object, "iterations", json_integer(state->all_iterations));
}

int solve_time_report(const solve *run) {
    const weft_transient_state *state = &run->time.state;
    if (state->outcome == WEFT_TRANSIENT_DONE)
        return 0;
    fprintf(
        stderr,
        "solve: error: the step from t = %g has failed: %s: %s\nhint: raise --max-iterations or "
        "--tolerance, or take a smaller step; with --scheme theta, 1 or bdf2 are the most stable\n",
        state->t, weft_method_about(run->base.method)->title, weft_cg_outcome_name(state->solver));
    return 1;
}
