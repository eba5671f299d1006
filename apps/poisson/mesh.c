#include "apps/poisson/poisson.h"
#include "fusion/weft_program.h"

#include <stdlib.h>

weft_status poisson_mesh_make(poisson *run, weft_error *error) {
    weft_status status = app_mesh_make(run->device, &run->options->run.mesh,
                                       &run->messages->monitor, &run->mesh, &run->mesh_made, error);
    run->seconds.mesh = run->mesh_made.seconds;
    run->seconds.order = run->mesh_made.order_seconds;
    return status;
}

/* The options that fix u are named in the hint. */
static weft_status find_free(poisson *run, weft_error *error) {
    const weft_status status = weft_bc_find_free(run->bc, 0, &run->pure_neumann, error);
    if (status == WEFT_ERROR_INPUT)
        weft_error_hint(
            error,
            "add --dirichlet or --robin for a group of that part, or join the parts in the mesh: "
            "in a .geo file, shared points and curves, or Coherence");
    return status;
}

weft_status poisson_dofs_make(poisson *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const app_run_options *options = &run->options->run;
    TRY(app_probes_check(&options->probes, run->mesh->dimension, error));
    TRY(weft_space_make(run->device, run->mesh, WEFT_ELEMENT_P1, 1, &run->space, error));
    TRY(app_pieces_make(&options->conditions, run->mesh, 1, &run->pieces, error));
    TRY(weft_bc_make(&run->context, run->space, run->pieces.list, run->pieces.n, &run->bc, error));
    TRY(find_free(run, error));
done:
    return status;
}
