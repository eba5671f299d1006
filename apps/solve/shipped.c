/* Reads the form files that are shipped with Weft, for the cells of the mesh, the degree and the inputs of the options. */
#include "apps/common/fem.h"
#include "apps/solve/solve.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What the inputs are made of; the others keep the values of the file. */
static const struct {
    const char *name, *made;
} inputs[] = {{"young", "Coefficient(FiniteElement(\"DG\", cell, 0))"},
              {"poisson", "Coefficient(FiniteElement(\"DG\", cell, 0))"},
              {"force", "Coefficient(VectorElement(\"DG\", cell, 0))"},
              {"traction", "VectorConstant(cell)"}};

bool solve_is_shipped_form(const char *name) {
    return name && app_shipped_form(name) && access(name, F_OK) != 0;
}

static bool is_given(const solve_options *options, const char *name) {
    const size_t length = strlen(name);
    for (int i = 0; i < options->inputs.n; ++i)
        if (strncmp(options->inputs.list[i].name, name, length) == 0 &&
            (options->inputs.list[i].name[length] == '\0' ||
             options->inputs.list[i].name[length] == '@'))
            return true;
    return false;
}

/* The cells that the mesh's name implies; NULL: they are known when it is read. */
static const char *cell_of(const solve *run) {
    const char *mesh = run->options->run.mesh.name;
    if (run->base.mesh)
        return weft_mesh_cell(run->base.mesh)->name;
    return strncmp(mesh, "square:", 7) == 0 ? "triangle"
           : strncmp(mesh, "cube:", 5) == 0 ? "tetrahedron"
                                            : NULL;
}

weft_status solve_shipped_form_read(const solve *run, const weft_ufl_options *options,
                                    weft_ufl **out, bool *is_assumed, weft_error *error) {
    weft_status status = WEFT_OK;
    const solve_options *o = run->options;
    const char *cell = cell_of(run), *text = app_shipped_form(o->script);
    const char *body = strstr(text, "\n\n"); /* the values end at the first blank line */
    weft_text made = {0};
    weft_text_add_bytes(&made, text, body ? (size_t)(body - text) : strlen(text));
    weft_text_add(&made, "\ncell, degree = %s, %d\n", cell ? cell : "tetrahedron", o->degree);
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; ++i)
        if (is_given(o, inputs[i].name))
            weft_text_add(&made, "%s = %s\n", inputs[i].name, inputs[i].made);
    weft_text_add(&made, "%s", body ? body : "");
    *is_assumed = !cell;
    if (made.failed)
        TRY(weft_out_of_memory(error, NULL));
    TRY(weft_ufl_read_text(o->script, made.data, made.length, options, out, error));
done:
    weft_text_free(&made);
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
