/* Makes the space and its boundary conditions. */
#include "apps/poisson/poisson.h"

#include <stdlib.h>

/* Refuse a part of the mesh without condition on u; the hint names the options that fix u. */
static weft_status find_free(poisson *run, weft_error *error) {
    const weft_status status = weft_bc_find_free(run->base.bc, 0, &run->base.project, error);
    if (status == WEFT_ERROR_INPUT)
        weft_error_hint(
            error,
            "add --dirichlet or --robin for a group of that part, or join the parts in the mesh: "
            "in a .geo file, shared points and curves, or Coherence");
    return status;
}

weft_status poisson_dofs_make(poisson *run, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(app_run_space_make(&run->base, 1, error));
    TRY(find_free(run, error));
done:
    return status;
}
