/* BiCGStab, for matrices that need not be symmetric. */
#include "fem/solve/krylov.h"

const weft_krylov_method weft_krylov_bicgstab = {
    .info = {.name = "bicgstab",
             .title = "BiCGStab",
             .help = "any; short recurrences, two products per iteration"},
    .files = {"bicgstab_start.weft", "bicgstab.weft"},
    .breakdowns = {"rho = r_hat.r is 0", "r_hat.A p is 0", "omega = t.s / t.t is 0"},
    .n_vectors = 10,
};
