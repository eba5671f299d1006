/* Chooses the time steps of each level. */
#include "apps/scaling/scaling.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Cells per side of a square or cube with this many cells: square:N has 2 N^2, cube:N 6 N^3. */
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

/* Set the least number of steps for which dt / h is not too large, tolerating rounding errors in
 * the quotient. */
static void set_steps(scaling_level *level, double time, double steps) {
    steps = fmax(1, ceil(steps * (1 - 1e-12)));
    snprintf(level->steps, sizeof level->steps, "%.0f", steps);
    snprintf(level->dt, sizeof level->dt, "%.17g", time / steps);
}

/* Find "--dt 0.1" and "--steps 10" (also with '=') after "--"; the last of each counts. */
static weft_status find_number(const scaling_cases *cases, const char *name, double *out,
                               weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t length = strlen(name);
    const char *text = NULL;
    for (int i = 0; i < cases->arguments.n; ++i) {
        const char *argument = cases->arguments.items[i];
        if (strncmp(argument, name, length) != 0)
            continue;
        if (argument[length] == '=')
            text = argument + length + 1;
        else if (!argument[length] && i + 1 < cases->arguments.n)
            text = cases->arguments.items[i + 1];
    }
    if (!text) {
        weft_error_set(error, WEFT_ERROR_USAGE, "--fit-dt needs %s behind --", name);
        weft_error_hint(error, "give --dt and --steps of the first mesh there");
        TRY(WEFT_ERROR_USAGE);
    }
    TRY(app_parse_number(name, text, 1e-300, 1e9, out, error));
done:
    return status;
}

weft_status scaling_steps_check(const scaling_options *options, const scaling_cases *cases,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    const scaling_app *app = scaling_app_at(options->app);
    double number = 0;
    if (!options->fit_dt)
        goto done;
    if (!app->default_velocity || !cases->own_problem)
        TRY(weft_error_refuse(error, WEFT_ERROR_USAGE, "--fit-dt has no effect here",
                              "it is for advection_diffusion with a problem given after --"));
    TRY(find_number(cases, "--dt", &number, error));
    TRY(find_number(cases, "--steps", &number, error));
done:
    return status;
}

weft_status scaling_steps_make(const scaling_options *options, const weft_monitor *monitor,
                               const scaling_study *study, scaling_cases *cases,
                               weft_error *error) {
    weft_status status = WEFT_OK;
    const scaling_app *app = scaling_app_at(options->app);
    double side = 1, first = 1, dt = 0, steps = 0;
    int dimension = 2;
    if (!app->default_velocity || (cases->own_problem && !options->fit_dt))
        goto done;
    if (options->fit_dt) {
        TRY(find_number(cases, "--dt", &dt, error));
        TRY(find_number(cases, "--steps", &steps, error));
        TRY(count_side(&cases->levels[0], monitor, &first, &dimension, error));
    }
    for (int i = 0; i < cases->n_levels; ++i) {
        scaling_level *level = &cases->levels[i];
        if (!scaling_level_needed(cases, study, level))
            continue;
        TRY(count_side(level, monitor, &side, &dimension, error));
        if (options->fit_dt) {
            set_steps(level, dt * steps, steps * side / first);
        } else {
            set_steps(level, app->default_time, app->default_time * side / app->default_courant);
            level->velocity = app->default_velocity[dimension - 2];
        }
    }
done:
    return status;
}
