/* The default options of a problem, and what they choose. */
#include "fem/weft_problem.h"

weft_problem_options weft_problem_options_default(void) {
    return (weft_problem_options){.size = sizeof(weft_problem_options), .method = WEFT_AUTO,
                                  .assembly = WEFT_AUTO,
                                  .preconditioner = WEFT_AUTO,
                                  .earlier = WEFT_AUTO,
                                  .tolerance = 1e-8,
                                  .max_iterations = -1};
}

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
