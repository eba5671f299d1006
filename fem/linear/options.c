/* What the options of a problem choose. */
#include "fem/weft_problem.h"

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
