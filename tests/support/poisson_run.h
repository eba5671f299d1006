/** Running the app poisson from a test and looking at its JSON. */
#ifndef POISSON_RUN_H
#define POISSON_RUN_H

#include "app_run.h"

#define POISSON(exit_code, ...)                                                                    \
    app_solve("poisson", (exit_code), (const char *const[]){__VA_ARGS__, NULL})

/** Mean size of a cell: (1 / n_cells)^(1/d), of a domain of measure 1. */
static inline double poisson_size(const json_t *root) {
    const json_t *mesh = json_object_get(root, "mesh");
    double cells = json_number_value(json_object_get(mesh, "cells"));
    return pow(1 / cells, 1 / json_number_value(json_object_get(mesh, "dimension")));
}

/** The observed order of an error between two runs: log(e1 / e2) / log(h1 / h2). */
static inline double poisson_order(const json_t *coarse, const json_t *fine, const char *key) {
    return log(app_number(coarse, key) / app_number(fine, key)) /
           log(poisson_size(coarse) / poisson_size(fine));
}

#endif
