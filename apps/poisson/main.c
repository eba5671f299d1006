/* The app poisson: the problem -div(k grad u) = f with shipped forms, run by apps/solve. */
#include "apps/common/statement.h"
#include "apps/poisson/poisson.h"

static void state(const solve *run, weft_text *out) {
    const solve_options *options = run->options;
    weft_text_add(out, "-div(k grad u) = f");
    app_state_datum(out, "k", options->diffusivity, "1");
    app_state_datum(out, "f", options->default_source ? NULL : options->source, "1");
}

static weft_status make_form(solve *run, weft_error *error) {
    weft_problem_source(run->base.problem, run->options->source, "--source");
    return weft_problem_diffusion(run->base.problem, run->options->diffusivity, "--diffusivity",
                                  error);
}

/* kappa is the diffusivity of a cell, the mean of --diffusivity. */
static int name_coefficients(const solve *run, weft_derive_alias out[SOLVE_ALIASES_MAX]) {
    out[0] = (weft_derive_alias){"kappa", run->options->diffusivity ? "k" : "1"};
    return 1;
}

static const solve_program problem = {.name = "poisson",
                                      .options_read = poisson_options_read,
                                      .state = state,
                                      .form_make = make_form,
                                      .plan_print = poisson_plan_print,
                                      .name_coefficients = name_coefficients,
                                      .prints_history = true};

int main(int argc, char **argv) {
    return solve_main(&problem, argc, argv);
}
