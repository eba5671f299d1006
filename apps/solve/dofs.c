/* Makes the space of the solution and its boundary conditions. */
#include "apps/solve/solve.h"

weft_status solve_dofs_make(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const char *exact = run->options->exact;
    if (exact)
        TRY(app_split_components("--exact", exact, run->components, &run->exact, error));
    TRY(app_run_space_make(&run->base, run->components, error));
done:
    return status;
}
