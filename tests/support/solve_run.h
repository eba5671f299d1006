/** Running the app solve from a test and looking at its JSON, with what poisson_run.h has. */
#ifndef SOLVE_RUN_H
#define SOLVE_RUN_H

#include "poisson_run.h"

#define SOLVE(exit_code, ...)                                                                      \
    app_solve("solve", (exit_code), (const char *const[]){__VA_ARGS__, NULL})

#endif
