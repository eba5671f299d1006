/* The table of Krylov methods. */
#include "fem/solve/krylov.h"

static const weft_krylov_method conjugate_gradients = {
    .info = {.name = "cg",
             .title = "CG",
             .help = "symmetric positive definite",
             .needs_symmetric = true,
             .needs_definite = true}};

static const weft_krylov_method *const methods[] = {
    [WEFT_METHOD_CG] = &conjugate_gradients,
    [WEFT_METHOD_MINRES] = &weft_krylov_minres,
    [WEFT_METHOD_GMRES] = &weft_krylov_gmres,
    [WEFT_METHOD_BICGSTAB] = &weft_krylov_bicgstab,
};

int weft_method_count(void) {
    return (int)(sizeof methods / sizeof methods[0]);
}

const weft_krylov_method *weft_krylov_method_of(weft_method method) {
    return methods[method];
}

void weft_method_list(weft_text *out) {
    const int n = weft_method_count();
    for (int i = 0; i < n; ++i)
        weft_text_add(out, "%s%s (%s)",
                      i == 0      ? ""
                      : i < n - 1 ? ", "
                                  : " or ",
                      methods[i]->info.name, methods[i]->info.help);
}

const weft_method_info *weft_method_about(weft_method method) {
    return &methods[method]->info;
}
