/* Finds the parts whose matrices need no measurement to be known as symmetric. */
#include "forms/compile/compile.h"

bool ufl_is_symmetric(weft_ufl *ufl, const ufl_calls *matrix) {
    for (int i = 0; i < matrix->n; ++i) {
        const ufl_lowered *lowered = matrix->list[i];
        const int number = (int)(lowered->integral - matrix->form->form.integrals);
        const ufl_symmetry proved =
            ufl_prove_symmetry(&ufl->graph, matrix->form, number,
                               lowered->integral->type == UFL_CELL ? NULL : lowered->facets);
        if (!proved.is_symmetric || !proved.is_of_shape)
            return false;
    }
    return matrix->n > 0;
}
