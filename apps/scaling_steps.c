#include "scaling.h"

#include "weft_fem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Cells a side of a square or cube with as many cells: square:N has 2 N^2, cube:N 6 N^3. */
static weft_status count_side(const scaling_level *level, const weft_monitor *monitor, double *side,
                              int *dimension, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_mesh *mesh = NULL;
    if (level->hash[0]) {
        TRY(weft_mesh_read(level->mesh, 0, monitor, &mesh, error));
        *dimension = mesh->dimension;
        *side = *dimension == 2 ? sqrt((double)mesh->n_cells / 2) : cbrt((double)mesh->n_cells / 6);
    } else {
        *dimension = strncmp(level->mesh, "cube", 4) == 0 ? 3 : 2;
        *side = strtod(strchr(level->mesh, ':') + 1, NULL);
    }
    *side *= 1 << level->refine;
done:
    weft_mesh_free(&mesh);
    return status;
}

weft_status scaling_steps_make(const scaling_app *app, const weft_monitor *monitor,
                               const scaling_study *study, scaling_cases *cases,
                               weft_error *error) {
    weft_status status = WEFT_OK;
    if (!app->default_velocity || cases->own_problem)
        return WEFT_OK;
    for (int i = 0; i < cases->n_levels; ++i) {
        scaling_level *level = &cases->levels[i];
        double side = 1;
        int dimension = 2;
        if (!scaling_level_needed(cases, study, level))
            continue;
        TRY(count_side(level, monitor, &side, &dimension, error));
        const double steps = fmax(1, ceil(app->default_time * side / app->default_courant - 1e-9));
        snprintf(level->steps, sizeof level->steps, "%.0f", steps);
        snprintf(level->dt, sizeof level->dt, "%.17g", app->default_time / steps);
        level->velocity = app->default_velocity[dimension - 2];
    }
done:
    return status;
}
