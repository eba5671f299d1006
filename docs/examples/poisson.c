/* poisson [MESH]: solve -div(grad u) = f on the unit square, with a Dirichlet condition on one side,
 * Robin conditions on two and du/dn = 0 on the last. The solution is u = sin(x) cos(y).
 * docs/using-the-library.md goes through it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <weft_fem.h>

int main(int argc, char **argv) {
    weft_status status = WEFT_OK;
    weft_error error = {0};
    weft_context context = {.plan = WEFT_PLAN_FUSED};
    weft_library *library = NULL;
    weft_mesh *mesh = NULL;
    weft_space *space = NULL;
    weft_bc *bc = NULL;
    weft_operator *A = NULL;
    weft_memory *u = NULL, *b = NULL;
    double *u_values = NULL, *b_values = NULL, squares[2];
    weft_cg_options cg = weft_cg_options_default();
    weft_cg_result result = {0};

    /* 1. Open a device, and load the elementary functions that scripts call. */
    TRY(weft_device_open("auto", NULL, &context.device, &error));
    TRY(weft_fem_library_make(&library, &error));
    context.library = library;

    /* 2. Make the mesh: "square:N" or a file. Its boundary consists of named groups of facets. */
    TRY(weft_mesh_read(argc > 1 ? argv[1] : "square:32", 0, NULL, &mesh, &error));

    /* 3. Define the space: continuous, linear in each cell, with one component. */
    TRY(weft_space_make(context.device, mesh, WEFT_ELEMENT_P1, 1, &space, &error));
    const int64_t n = weft_space_dofs(space);

    /* 4. Set the conditions: u = value (Dirichlet), or du/dn + alpha u = value (Robin). The side
     * "bottom" has none, so du/dn = 0 holds there. */
    const weft_condition conditions[] = {
        {WEFT_DIRICHLET, .group = "left", .value = "0"},
        {WEFT_ROBIN, .group = "right", .alpha = "1", .value = "(cos(1) + sin(1))*cos(y)"},
        {WEFT_ROBIN, .group = "top", .alpha = "3", .value = "(3*cos(1) - sin(1))*sin(x)"}};
    TRY(weft_bc_make(&context, space, conditions, 3, &bc, &error));

    /* 5. Make the operator A: the form of the cells, which is a script, and the Robin terms. */
    weft_bound_form cells;
    TRY(weft_form_ship(space, "poisson.weft", weft_space_cells(space), &cells, &error));
    TRY(weft_bc_operator_make(bc, WEFT_ASSEMBLY_CSR, &cells.form, &A, &error));

    /* 6. Make the right-hand side: b_i = int f phi_i, and the Robin terms again. */
    TRY(weft_vector_make(context.device, n, &b_values, &b, &error));
    TRY(weft_bc_load_make(bc, "2*sin(x)*cos(y)", NULL, WEFT_LOAD_DEGREE, b, b_values, &error));

    /* 7. Start from zero, with the given values on the Dirichlet groups. */
    TRY(weft_vector_make(context.device, n, &u_values, &u, &error));
    weft_bc_set(bc, 1, u_values);
    TRY(weft_vector_push(u, u_values, n, &error));

    /* 8. Solve A u = b by conjugate gradients, which leave the constrained dofs as they are. */
    cg.jacobi = true;
    cg.tolerance = 1e-10;
    cg.max_iterations = 10000;
    cg.constrained = weft_bc_constrained(bc, &cg.n_constrained);
    TRY(weft_cg_solve(&context, A, b, u, &cg, &result, &error));
    TRY(weft_vector_pull(u, u_values, n, &error));

    /* 9. Compare with the exact solution. */
    TRY(weft_space_errors(&context, space, u, "sin(x)*cos(y)", NULL, squares, &error));
    printf("%s, error %.3e in L2, %.3e in H1\n", weft_cg_outcome_name(result.outcome),
           sqrt(squares[0]), sqrt(squares[1]));

    /* 10. Write the solution for ParaView. */
    const weft_field field = {"u", .n_components = 1, .values = u_values};
    TRY(weft_result_write("poisson.vtkhdf", mesh, &field, 1, &error));
done:
    if (status != WEFT_OK)
        fprintf(stderr, "error: %s\n", error.message);
    free(result.history);
    weft_operator_free(&A);
    weft_memory_free(&u);
    weft_memory_free(&b);
    free(u_values);
    free(b_values);
    weft_bc_free(&bc);
    weft_space_free(&space);
    weft_mesh_free(&mesh);
    weft_library_free(&library);
    weft_device_free(&context.device);
    return weft_status_exit_code(status);
}
