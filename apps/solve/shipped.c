/* Reads the form files that are shipped with Weft, for the cells of the mesh, the degree and the inputs of the options. */
#include "apps/common/fem.h"
#include "apps/solve/solve.h"

#include <string.h>
#include <unistd.h>

bool solve_is_shipped_form(const char *name) {
    return name && weft_ufl_is_shipped(name) && access(name, F_OK) != 0;
}

/* The cells that the mesh's name implies; WEFT_POINT: they are known when it is read. */
static weft_cell_type cell_of(const solve *run) {
    app_mesh_shape shape;
    if (run->base.mesh)
        return weft_mesh_cell(run->base.mesh)->type;
    return !app_mesh_shape_of(&run->options->run.mesh, &shape) ? WEFT_POINT
           : shape.dimension == 2                              ? WEFT_TRIANGLE
                                                               : WEFT_TETRAHEDRON;
}

weft_status solve_shipped_form_read(const solve *run, const weft_ufl_options *options,
                                    weft_ufl **out, bool *is_assumed, weft_error *error) {
    weft_status status = WEFT_OK;
    const solve_bindings *inputs = &run->options->inputs;
    const weft_cell_type cell = cell_of(run);
    weft_text given = {0};
    *is_assumed = cell == WEFT_POINT;
    weft_text_add(&given, "%s", "");
    for (int i = 0; i < inputs->n; ++i) /* NAME@GROUP */
        weft_text_add(&given, "%.*s ", (int)strcspn(inputs->list[i].name, "@"),
                      inputs->list[i].name);
    if (given.failed)
        TRY(weft_out_of_memory(error, NULL));
    TRY(weft_ufl_read_shipped(run->options->script, cell, run->options->degree, given.data, options,
                              out, error));
done:
    weft_text_free(&given);
    return status;
}

weft_status solve_shipped_form_check(const solve_options *options, weft_error *error) {
    if (options->degree == 1 || solve_is_shipped_form(options->script))
        return WEFT_OK;
    weft_error_set(error, WEFT_ERROR_USAGE,
                   "--degree is for form files that are shipped with Weft, such as elasticity.ufl");
    weft_error_location(error, "--degree", NULL, 0, 0);
    weft_error_hint(error, "scripts are for linear elements, and form files name their degree");
    return WEFT_ERROR_USAGE;
}
