/* Projects fields to nodes: loads int f phi_i by quadrature, divided by int phi_i or solved with the
 * mass matrix. */
#include "fem/derive/private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* + W[p]*f_p of a number, outer(W[p], f_p) of a vector, outer(W[p], f_p[r]) of row r of a matrix;
 * weight is W[p], or the sum of all for what is constant in a cell */
static void add_term(const derive_quantity *quantity, const char *weight, int point, int row,
                     weft_text *out) {
    char name[300];
    derive_script_name(quantity, point, name);
    if (quantity->rank == 0)
        weft_text_add(out, " %s*%s", weight, name);
    else if (quantity->rank == 1)
        weft_text_add(out, " outer(%s, %s)", weight, name);
    else
        weft_text_add(out, " outer(%s, %s[%d])", weight, name, row);
}

void derive_project_write(const weft_derive *derive, const derive_quantity *quantity,
                          weft_text *out) {
    int first = 0, n = 0;
    const int rows = quantity->n_lists, i = quantity->index;
    derive_points_of(&derive->parts[DERIVE_CELLS].points, WEFT_DERIVE_INTEGRAL, &first, &n);
    for (int row = 0; row < rows; ++row) {
        weft_text_add(out, "derived_load_%d_%d[dofs] +=", i, row);
        if (!quantity->varies)
            add_term(quantity, "derived_w", 0, row, out);
        for (int k = 0; k < n && quantity->varies; ++k) {
            char weight[32];
            snprintf(weight, sizeof weight, "derived_W[%d]", k);
            weft_text_add(out, k ? " +" : "");
            add_term(quantity, weight, first + k, row, out);
        }
        weft_text_add(out, ";\nderived_nodal_%d_%d = derived_load_%d_%d/derived_mass;\n", i, row, i,
                      row);
    }
}

static weft_status make_mass(weft_derive *derive, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_bound_form form;
    if (derive->mass)
        goto done;
    TRY(weft_form_ship(derive->problem.space, "mass.weft", weft_space_cells(derive->problem.space),
                       &form, error));
    TRY(weft_operator_make(derive->context, WEFT_ASSEMBLY_CSR, &form.form, 1, &derive->mass,
                           error));
    TRY(weft_operator_assemble(derive->mass, error));
done:
    return status;
}

/* Solve for component k of nodal lists. */
static weft_status solve_component(weft_derive *derive, weft_solver *solver, int components, int k,
                                   const double *loads, double *values, weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n = weft_space_nodes(derive->problem.space);
    const weft_cg_options options = {
        .size = sizeof options, .jacobi = true, .tolerance = 1e-12, .max_iterations = 1000};
    weft_cg_result result = {0};
    double *b = NULL, *x = NULL;
    weft_memory *b_memory = NULL, *x_memory = NULL;
    TRY(weft_vector_make(derive->context->device, n, &b, &b_memory, error));
    TRY(weft_vector_make(derive->context->device, n, &x, &x_memory, error));
    for (int64_t i = 0; i < n; ++i) {
        b[i] = loads[i * components + k];
        x[i] = values[i * components + k];
    }
    TRY(weft_vector_push(b_memory, b, n, error));
    TRY(weft_vector_push(x_memory, x, n, error));
    TRY(weft_solver_solve(solver, b_memory, x_memory, &options, &result, error));
    TRY(weft_vector_pull(x_memory, x, n, error));
    for (int64_t i = 0; i < n; ++i)
        values[i * components + k] = x[i];
    weft_log(derive->context->monitor, WEFT_LOG_INFO, "consistent projection: %d products",
             result.iterations);
done:
    free(result.history);
    weft_memory_free(&b_memory);
    weft_memory_free(&x_memory);
    free(b);
    free(x);
    return status;
}

weft_status derive_project_solve(weft_derive *derive, int components, const double *loads,
                                 double *values, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_solver *solver = NULL;
    TRY(make_mass(derive, error));
    TRY(weft_solver_make(derive->context, derive->mass, &solver, error));
    for (int k = 0; k < components; ++k)
        TRY(solve_component(derive, solver, components, k, loads, values, error));
done:
    weft_solver_free(&solver);
    return status;
}
