/* The coefficients of the time integration schemes. */
#include "fem/time/scheme.h"

#include <math.h>
#include <string.h>

static const weft_time_scheme_info schemes[] = {
    [WEFT_TIME_THETA] = {"theta", "theta scheme: --theta 0.5 is Crank-Nicolson, 1 implicit Euler"},
    [WEFT_TIME_BDF2] = {"bdf2", "backward differentiation of order 2, one solve per step"},
    [WEFT_TIME_SDIRK2] = {"sdirk2",
                          "TR-BDF2, singly diagonally implicit with two implicit stages, order 2"},
};
enum { SCHEMES = sizeof schemes / sizeof *schemes };

int weft_time_scheme_count(void) {
    return SCHEMES;
}

const weft_time_scheme_info *weft_time_scheme_about(weft_time_scheme scheme) {
    return &schemes[scheme];
}

weft_status weft_time_scheme_find(const char *name, weft_time_scheme *out, weft_error *error) {
    const char *names[SCHEMES];
    weft_text list = {0};
    for (int i = 0; i < SCHEMES; ++i) {
        names[i] = schemes[i].name;
        if (strcmp(name, names[i]) == 0) {
            weft_text_free(&list);
            *out = (weft_time_scheme)i;
            return WEFT_OK;
        }
        weft_text_add(&list, "%s%s", i == 0 ? "" : i + 1 < SCHEMES ? ", " : " or ", names[i]);
    }
    const char *near = weft_nearest_name(name, names, SCHEMES);
    weft_error_set(error, WEFT_ERROR_USAGE, "there is no time integration scheme '%s'", name);
    weft_error_hint(error, "%s%s%swrite %s", near ? "did you mean " : "", near ? near : "",
                    near ? "? " : "", list.data ? list.data : "");
    weft_text_free(&list);
    return WEFT_ERROR_USAGE;
}

/* (1 - theta) r_n + theta r(U) */
static int theta_stages(double theta, weft_time_stage *out) {
    *out = (weft_time_stage){.c = 1, .a = 1 / theta, .u = {1}, .q = {(1 - theta) / theta}};
    return 1;
}

/* u' at the end of a parabola through three points, the step being `ratio` times the one before:
 * a (U - u[0] u_n - u[1] u_before)/h */
static weft_time_stage bdf2_stage(double ratio) {
    const double w = ratio;
    return (weft_time_stage){.c = 1,
                             .a = (1 + 2 * w) / (1 + w),
                             .u = {(1 + w) * (1 + w) / (1 + 2 * w), -w * w / (1 + 2 * w)}};
}

/* The trapezoidal rule to t + g h, then BDF2 to t + h, with equal matrices for g = 2 - sqrt(2).
 * Source: Bank et al. 1985; Hosea and Shampine 1996 */
static int sdirk2_stages(weft_time_stage out[WEFT_TIME_STAGES]) {
    const double g = 2 - sqrt(2);
    const weft_time_stage last = bdf2_stage((1 - g) / g);
    out[0] = (weft_time_stage){.c = g, .a = 2 / g, .u = {1}, .q = {1}};
    out[1] = (weft_time_stage){.c = 1, .a = 2 / g, .u = {last.u[1], 0, last.u[0]}};
    return 2;
}

const weft_time_stage weft_time_own_stage = {.c = 1};

int weft_time_stages(weft_time_scheme scheme, double theta, double ratio,
                     weft_time_stage out[WEFT_TIME_STAGES]) {
    if (scheme == WEFT_TIME_THETA)
        return theta_stages(theta, out);
    if (scheme == WEFT_TIME_SDIRK2 || ratio <= 0)
        return sdirk2_stages(out);
    out[0] = bdf2_stage(ratio);
    return 1;
}

bool weft_time_needs_residual(const weft_time_stage *stages, int n) {
    for (int i = 0; i < n; ++i)
        if (stages[i].q[0] != 0)
            return true;
    return false;
}
