/* Makes the space, the Dirichlet nodes and the probes. */
#include "apps/advection_diffusion/advection_diffusion.h"
#include "apps/common/fem.h"
#include "core/weft_core.h"
#include "fem/space/space.h"
#include "fem/weft_fem.h"
#include "fusion/weft_program.h"

#include <stdlib.h>

/* ---- what the options say against what the mesh has ------------------------------------------ */

static weft_status refuse_dimension(const char *option, int n, int d, const char *write,
                                    weft_error *error) {
    weft_error_set(error, WEFT_ERROR_USAGE, "%d expressions, but the mesh has %d dimensions", n, d);
    weft_error_location(error, option, NULL, 0, 0);
    weft_error_hint(error, "write %s", write);
    return WEFT_ERROR_USAGE;
}

static weft_status check_formulas(const ad_run *run, weft_error *error) {
    const int d = run->base.mesh->dimension;
    const ad_formulas *u = &run->options->velocity, *mu = &run->options->diffusivity;
    if (u->n > 0 && (u->n != d || u->n_rows != 1))
        return refuse_dimension("--velocity", u->n, d,
                                d == 2 ? "--velocity EXPR,EXPR" : "--velocity EXPR,EXPR,EXPR",
                                error);
    if (mu->n > 1 && (mu->n != d * d || mu->n_rows != d))
        return refuse_dimension(
            "--diffusivity", mu->n, d,
            d == 2 ? "--diffusivity EXPR, or 'E11,E12;E21,E22'"
                   : "--diffusivity EXPR, or 'E11,E12,E13;E21,E22,E23;E31,E32,E33'",
            error);
    return WEFT_OK;
}

static weft_status find_probes(ad_run *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const app_probes *probes = &run->base.points;
    TRY(app_probes_find(&run->options->run.probes, run->base.mesh, &run->base.points, error));
    run->probe_cells = calloc((size_t)probes->n + 1, sizeof *run->probe_cells);
    run->probe_weights = calloc((size_t)probes->n + 1, sizeof *run->probe_weights);
    if (!run->probe_cells || !run->probe_weights)
        return weft_out_of_memory(error, NULL);
    TRY(app_probes_locate(probes, run->base.device, run->base.mesh, run->probe_cells,
                          run->probe_weights, error));
done:
    return status;
}

static weft_status keep_nodes(ad_run *run, const app_condition *given, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_condition condition = {
        .group = given->group, .value = given->value, .origin = given->origin};
    weft_dirichlet_nodes *dirichlet = &run->dirichlet[run->n_dirichlet];
    int32_t *nodes = NULL;
    TRY(app_condition_group(run->base.mesh, given, error));
    TRY(weft_condition_nodes(run->base.problem->space, &condition, &nodes, &dirichlet->n_nodes,
                             error));
    dirichlet->nodes = nodes;
    dirichlet->text = condition.value;
    dirichlet->origin = condition.origin;
    run->n_dirichlet += 1;
done:
    return status;
}

/* Neumann and Robin conditions. */
static weft_status make_fluxes(ad_run *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const app_conditions *all = &run->options->run.conditions;
    app_conditions some = {calloc((size_t)all->n + 1, sizeof *some.list), 0};
    if (!some.list)
        return weft_out_of_memory(error, NULL);
    for (int i = 0; i < all->n; ++i)
        if (all->list[i].kind != WEFT_DIRICHLET)
            some.list[some.n++] = all->list[i];
    if (some.n == 0)
        goto done;
    TRY(app_pieces_make(&some, run->base.mesh, 1, &run->base.pieces, error));
    for (int i = 0, k = 0; i < all->n; ++i) /* origins that outlive this */
        if (all->list[i].kind != WEFT_DIRICHLET)
            run->base.pieces.list[k++].origin = all->list[i].origin;
    TRY(weft_bc_make(&run->base.context, run->base.problem->space, run->base.pieces.list,
                     run->base.pieces.n, &run->base.problem->bc, error));
done:
    free(some.list);
    return status;
}

weft_status ad_dofs_make(ad_run *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const ad_options *options = run->options;
    run->dirichlet = calloc((size_t)options->run.conditions.n + 1, sizeof *run->dirichlet);
    if (!run->dirichlet)
        TRY(weft_out_of_memory(error, NULL));
    TRY(check_formulas(run, error));
    TRY(find_probes(run, error));
    TRY(weft_space_make_with(run->base.device, run->base.mesh, &run->base.mesh_made.copies,
                             WEFT_ELEMENT_P1, 1, &run->base.problem->space, error));
    for (int i = 0; i < options->run.conditions.n; ++i)
        if (options->run.conditions.list[i].kind == WEFT_DIRICHLET)
            TRY(keep_nodes(run, &options->run.conditions.list[i], error));
    TRY(make_fluxes(run, error));
done:
    return status;
}
