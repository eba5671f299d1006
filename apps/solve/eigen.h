/** Eigenvalues: options and result of --eigenvalues. */
#pragma once

#include "apps/common/option_table.h"
#include "apps/common/support.h"
#include "fem/weft_eigen.h"

struct solve;
struct solve_options;

typedef struct solve_eigen_options {
    int n;            /* of --eigenvalues; 0: the problem has a load */
    const char *near; /* a shift; NULL: none */
    double shift;
    bool largest, buckling, participation;
    bool frequencies;
    int length; /* a weft_eigen_length */
} solve_eigen_options;
/** Rows of a solve_eigen_options. */
extern const app_option solve_eigen_option_table[];

/** Refuse options that are not about eigenvalues.
 *  Errors  WEFT_ERROR_UNSUPPORTED */
weft_status solve_eigen_options_check(const struct solve_options *options, weft_error *error);
/** Check the names of files.
 *  Errors  WEFT_ERROR_USAGE, WEFT_ERROR_UNSUPPORTED, WEFT_ERROR_IO */
weft_status solve_eigen_check(const struct solve *run, weft_error *error);
/** Find the eigenvalues. */
weft_status solve_eigen_compute(struct solve *run, weft_error *error);
/** Write the eigenvectors to --output. */
weft_status solve_eigen_write(struct solve *run, weft_error *error);
void solve_eigen_print(const struct solve *run);
bool solve_eigen_json(json_t *root, const struct solve *run);
/** Report on stderr that they have not converged; returns the exit code. */
int solve_eigen_report(const struct solve *run);
