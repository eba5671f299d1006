/* Several ranks: each steps on its part of the mesh, and the first one has the whole T. */
#include "fem/time/ranks.h"
#include "apps/advection_diffusion/advection_diffusion.h"
#include "fem/mesh/part.h"

#include <stdlib.h>

bool ad_is_first(const ad_run *run) {
    return weft_comm_rank(run->part.comm) == 0;
}

weft_context *ad_context(ad_run *run) {
    return run->part.comm ? &run->part.context : &run->base.context;
}

const weft_mesh *ad_mesh(const ad_run *run) {
    return run->part.comm ? run->part.mesh : run->base.mesh;
}

weft_memory *ad_field(const ad_run *run) {
    return run->part.comm ? run->part.T : weft_advection_diffusion_field(run->stepper);
}

weft_status ad_part_take(ad_run *run, weft_error *error) {
    weft_status status = WEFT_OK;
    ad_part *part = &run->part;
    const weft_part_cells none = {NULL};
    weft_device *device = run->base.device;
    weft_context shared = run->base.context;
    const weft_ranks_work work = {1, 1, run->base.options->solver.assembly};
    if (!part->comm)
        goto done;
    TRY(weft_linear_check_ranks(&run->base.problem->system.linear, error));
    run->n_ranks = weft_comm_size(part->comm);
    run->rank_kind = weft_comm_kind(part->comm);
    shared.comm = part->comm;
    TRY(weft_ranks_share_out(&shared, run->base.mesh, &work, &run->shares, error));
    TRY(weft_mesh_take_part(part->comm, run->base.mesh, &none, &part->mesh, error));
    TRY(weft_data_make(device, part->mesh, &part->data, error));
    part->context = run->base.context;
    part->context.comm = part->comm;
    part->context.data = part->data;
    if (ad_is_first(run))
        TRY(weft_memory_make(device, (size_t)run->base.mesh->n_nodes * sizeof(double), &part->T,
                             error));
done:
    return status;
}

void ad_part_clear(ad_run *run) {
    ad_part *part = &run->part;
    free(run->shares);
    weft_memory_free(&part->T);
    weft_space_free(&part->space);
    weft_data_free(&part->data);
    weft_mesh_free(&part->mesh);
}

weft_status ad_pull(ad_run *run, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_memory *T = weft_advection_diffusion_field(run->stepper);
    const weft_divided divided = weft_advection_diffusion_divided(run->stepper);
    const int64_t n = run->base.mesh->n_nodes;
    if (!run->part.comm) {
        TRY(weft_memory_read(T, 0, run->values, (size_t)n * sizeof *run->values, error));
        goto done;
    }
    TRY(weft_divided_collect(&divided, T,
                             ad_is_first(run) ? run->base.problem->fields.spaces : NULL,
                             run->values, error));
    if (ad_is_first(run))
        TRY(weft_vector_push(run->part.T, run->values, n, error));
done:
    return status;
}
