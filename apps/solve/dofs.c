/* The mesh, the space of the solution, and its boundary conditions. */
#include "apps/solve/solve.h"

weft_status solve_mesh_make(solve *run, weft_error *error) {
    weft_status status = app_mesh_make(run->device, &run->options->run.mesh,
                                       &run->messages->monitor, &run->mesh, &run->mesh_made, error);
    run->seconds.mesh = run->mesh_made.seconds;
    run->seconds.order = run->mesh_made.order_seconds;
    return status;
}

weft_status solve_dofs_make(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const app_run_options *options = &run->options->run;
    const char *exact = run->options->exact;
    TRY(weft_space_make(run->device, run->mesh, WEFT_ELEMENT_P1, run->components, &run->space,
                        error));
    if (exact)
        TRY(app_split_components("--exact", exact, run->components, &run->exact, error));
    TRY(app_probes_check(&options->probes, run->mesh->dimension, error));
    TRY(app_pieces_make(&options->conditions, run->mesh, run->components, &run->pieces, error));
    TRY(weft_bc_make(&run->context, run->space, run->pieces.list, run->pieces.n, &run->bc, error));
    run->constrained = weft_bc_constrained(run->bc, &run->n_constrained);
done:
    return status;
}
