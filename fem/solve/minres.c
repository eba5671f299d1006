/* MINRES, for symmetric matrices. */
#include "fem/solve/krylov.h"

const weft_krylov_method weft_krylov_minres = {
    .info = {.name = "minres",
             .title = "MINRES",
             .help = "symmetric, also indefinite",
             .needs_symmetric = true},
    .files = {"minres_start.weft", "minres.weft"},
    .breakdowns = {"the matrix is singular, and b is not in its range", "r.M r is not positive"},
    .n_vectors = 9,
};
