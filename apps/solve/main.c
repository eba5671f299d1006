/* The app solve: the problem of a user's script. */
#include "apps/solve/solve.h"

static const solve_problem script_problem = {
    .program = "solve",
    .advice = {.indefinite = "the matrix is not positive definite: look at the signs in the "
                             "script, at coefficients <= 0, and at ALPHA < 0 in --robin",
               .breakdown = "look at the coefficients, or try --preconditioner none",
               .nan = "a value is not a number or too large: look at --input and --define"},
    .options_read = solve_options_read,
    .script_read = solve_script_read,
    .script_try = solve_script_try,
    .script_fit = solve_script_fit,
    .form_make = solve_form_make,
    .fixed_check = solve_fixed_check,
    .load_make = solve_load_make,
    .balance_check = solve_balance_check,
    .integrate = solve_integrate,
    .plan_print = solve_plan_print};

int main(int argc, char **argv) {
    return solve_main(&script_problem, argc, argv);
}
