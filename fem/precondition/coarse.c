/* Frees operators of lower degree. */
#include "fem/precondition/coarse.h"

#include <stdlib.h>

void weft_coarse_free(weft_coarse **coarse) {
    weft_coarse *made = coarse ? *coarse : NULL;
    if (!made)
        return;
    weft_operator_free(&made->op);
    for (int i = 0; made->dofs && i < made->n_dofs; ++i)
        weft_entity_dofs_free(&made->dofs[i]);
    weft_space_free(&made->space);
    free(made->dofs);
    free(made->bound);
    free(made);
    *coarse = NULL;
}
