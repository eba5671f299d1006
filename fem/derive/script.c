/* Writes the script of derived quantities, which follows a form: geometry, gradients, the solution at
 * points, and a statement for each quantity and point. */
#include "fem/derive/private.h"

#include <stdio.h>
#include <string.h>

/* name_p = sum_v shape_v list[v] */
static void add_at_point(const char *name, const char *list, int p, const double shape[4], int n,
                         weft_text *out) {
    weft_text_add(out, "%s_%d =", name, p);
    for (int v = 0; v < n; ++v)
        weft_text_add(out, "%s %.17g*%s[%d]", v ? " +" : "", shape[v], list, v);
    weft_text_add(out, ";\n");
}

/* The gradient of the shape function of the opposite vertex points inwards, and its norm is one over
 * the height of the cell, d |T| / |F|. */
static void add_facets(const derive_scope *scope, weft_text *out) {
    weft_text_add(out,
                  "derived_slope = norm2(derived_G[%d]);\n"
                  "derived_measure = %d*measure(derived_J)*derived_slope;\n"
                  "derived_normal = -derived_G[%d]/derived_slope;\n",
                  scope->dimension, scope->dimension, scope->dimension);
}

static void add_gradients(const derive_scope *scope, weft_text *out) {
    weft_text_add(out, "derived_grad = %s(derived_G, derived_U);\n",
                  scope->components > 1 ? "displacement_gradient" : "gradient");
    if (scope->components == scope->dimension)
        weft_text_add(out, "derived_strain = symmetric_part(derived_grad);\n");
    if (scope->components == scope->dimension && scope->has_elasticity)
        weft_text_add(out, "derived_stress = hooke_stress_3d(derived_strain, lambda, mu);\n");
}

static void add_nodal_inputs(const derive_scope *scope, const derive_points *points,
                             weft_text *out) {
    weft_name_info info;
    char name[300], list[300];
    for (int i = 0; i < weft_compilation_names(scope->names); ++i) {
        weft_compilation_name(scope->names, i, &info);
        if (!derive_scope_is_input(scope, &info, "nodes") || info.rank > 1)
            continue;
        snprintf(name, sizeof name, "derived_n_%.127s", info.name);
        snprintf(list, sizeof list, "derived_l_%.127s", info.name);
        weft_text_add(out, "%s = %s[dofs];\n", list, info.name);
        for (int p = 0; p < points->n; ++p)
            add_at_point(name, list, p, points->shape[p], scope->dimension + 1, out);
    }
}

void derive_script_start(const derive_scope *scope, derive_elements elements,
                         const derive_points *points, weft_text *out) {
    const int n = scope->dimension + 1;
    if (strcmp(scope->coordinates, "derived_coordinates") == 0)
        weft_text_add(out, "\ninput derived_coordinates : real[%d] over nodes;", scope->dimension);
    if (scope->components > 1)
        weft_text_add(out, "\ninput derived_values : real[%d] over nodes;\n", scope->components);
    else
        weft_text_add(out, "\ninput derived_values : real over nodes;\n");
    weft_text_add(out,
                  "input derived_t : real;\n"
                  "derived_X = %s[dofs];\n"
                  "derived_U = derived_values[dofs];\n"
                  "derived_J = jacobian(derived_X);\n"
                  "derived_G = tform_dshape(derived_J);\n",
                  scope->coordinates);
    if (elements == DERIVE_FACETS)
        add_facets(scope, out);
    else
        weft_text_add(out, "derived_measure = measure(derived_J);\n");
    add_gradients(scope, out);
    for (int p = 0; p < points->n; ++p) {
        add_at_point("derived_x", "derived_X", p, points->shape[p], n, out);
        add_at_point("derived_u", "derived_U", p, points->shape[p], n, out);
    }
    add_nodal_inputs(scope, points, out);
}

void derive_script_name(const derive_quantity *quantity, int point, char out[300]) {
    if (quantity->given.kind == WEFT_DERIVE_FIELD)
        snprintf(out, 300, "derived_at_%.200s_%d", quantity->given.name, point);
    else
        snprintf(out, 300, "derived_value_%d_%d", quantity->index, point);
}

weft_status derive_script_define(const derive_place *place, const derive_quantity *quantity,
                                 int point, weft_text *out, weft_error *error) {
    weft_status status = WEFT_OK;
    char name[300];
    derive_script_name(quantity, point, name);
    weft_text_add(out, "%s = ", name);
    if (quantity->is_uniform) /* a value for each element all the same */
        weft_text_add(out, "0*derived_measure + (");
    TRY(derive_formula_write(place, &quantity->given, point, out, error));
    weft_text_add(out, quantity->is_uniform ? ");\n" : ";\n");
done:
    return status;
}
