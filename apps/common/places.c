/* Locates points in the mesh, and evaluates the functions of a run there. */
#include "apps/common/places.h"
#include "apps/common/run.h"

#include <math.h>
#include <stdlib.h>

weft_status app_places_make(weft_device *device, const weft_mesh *mesh, const double *points,
                            int64_t n, app_places *out, weft_error *error) {
    weft_status status = WEFT_OK;
    app_places made = {.n = n};
    made.cells = weft_array_make((size_t)n, sizeof *made.cells);
    made.xi = weft_array_make((size_t)n, (size_t)mesh->dimension * sizeof *made.xi);
    if (!made.cells || !made.xi)
        TRY(weft_out_of_memory(error, "points"));
    TRY(weft_mesh_locate_cells(device, mesh, points, n, made.cells, made.xi, error));
    *out = made;
    made = (app_places){0};
done:
    app_places_clear(&made);
    return status;
}

void app_places_clear(app_places *places) {
    free(places->cells);
    free(places->xi);
    *places = (app_places){0};
}

weft_status app_places_evaluate(const app_places *places, const app_run *run, double *out,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_cell_points at = {places->n, places->cells, places->xi};
    const int n = run->problem->n_values;
    double *values = NULL;
    for (int64_t i = 0; i < places->n * n; ++i)
        out[i] = places->cells[i / n] < 0 ? NAN : 0;
    for (int i = 0; i < run->problem->n_fields; ++i) {
        const weft_problem_field *field = &run->problem->fields[i];
        if (field->is_enrichment)
            TRY(weft_problem_field_term(run->problem, i, &values, error));
        TRY(weft_space_evaluate_at(
            field->space, values ? values : run->problem->u_values + field->first_dof,
            weft_space_components(field->space), &at, n, out + field->first_value, error));
        free(values);
        values = NULL;
    }
done:
    free(values);
    return status;
}
