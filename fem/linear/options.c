/* What the options of a problem choose. */
#include "fem/linear/linear.h"

weft_problem_choice weft_problem_choice_start(const weft_problem_options *options) {
    weft_problem_choice choice = {.method = WEFT_METHOD_CG,
                                  .preconditioner = options->preconditioner,
                                  .restart = options->restart};
    if (options->method != WEFT_AUTO)
        choice.method = (weft_method)options->method;
    if (options->assembly != WEFT_AUTO)
        choice.assembly = (weft_assembly)options->assembly;
    if (options->preconditioner == WEFT_AUTO)
        choice.preconditioner = options->earlier == WEFT_AUTO ? WEFT_JACOBI : options->earlier;
    return choice;
}

void weft_method_choose(double asymmetry, bool is_mixed, weft_problem_choice *out) {
    const weft_problem_options options = weft_problem_options_default();
    weft_linear linear = {.options = &options, .choice = *out};
    weft_linear_choose_method(&linear, asymmetry <= WEFT_SYMMETRIC, is_mixed, asymmetry);
    *out = linear.choice;
}
