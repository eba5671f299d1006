/* element SCRIPT.weft [KERNELS]: make an operator of the element in SCRIPT.weft, apply it to the
 * field x, and solve -div(k grad u) + c u = f with it, u = 0 on the boundary.
 * docs/tutorial-element.md goes through it. */
#include <stdio.h>
#include <stdlib.h>
#include <weft_fem.h>

int main(int argc, char **argv) {
    weft_status status = WEFT_OK;
    weft_error error = {0};
    weft_device *device = NULL;
    weft_library *library = NULL;
    weft_mesh *mesh = NULL;
    weft_connectivity *dofs = NULL;
    weft_memory *x = NULL, *k = NULL, *c = NULL, *b = NULL, *u = NULL, *y = NULL;
    weft_operator *A = NULL;
    weft_cg_result result = {0};
    char *text = NULL;
    int32_t *boundary = NULL;
    double *field = NULL, *product = NULL, energy = 0, largest = 0;
    const double k_value = 1e-4, c_value = 1;
    const char *script = argc > 1 ? argv[1] : "element.weft";

    /* the device, the functions, the script */
    const weft_device_options options = weft_device_options_default(NULL);
    TRY(weft_device_open("auto", &options, &device, &error));
    TRY(weft_fem_library_make(&library, &error));
    if (argc > 2)
        TRY(weft_library_add_directory(library, argv[2], &error));
    TRY(weft_file_read(script, &text, NULL, &error));

    /* the mesh, and what the script's inputs stand for */
    TRY(weft_mesh_make_square(16, &mesh, &error));
    const size_t bytes = (size_t)mesh->n_nodes * sizeof(double);
    TRY(weft_connectivity_make(device, mesh->cells, mesh->n_cells, 3, mesh->n_nodes, &dofs,
                               &error));
    TRY(weft_memory_wrap(device, mesh->x, 2 * bytes, &x, &error));
    TRY(weft_memory_make(device, sizeof(double), &k, &error));
    TRY(weft_memory_make(device, sizeof(double), &c, &error));
    TRY(weft_memory_write(k, 0, &k_value, sizeof k_value, &error));
    TRY(weft_memory_write(c, 0, &c_value, sizeof c_value, &error));
    const weft_form_input inputs[] = {{"x", x}, {"k", k}, {"c", c}};
    const weft_form form = {
        .name = script, .text = text, .dofs = dofs, .inputs = inputs, .n_inputs = 3};

    /* A: the same script with any of the assemblies */
    weft_context context = {.device = device, .library = library, .plan = WEFT_PLAN_FUSED};
    TRY(weft_operator_make(&context, WEFT_ASSEMBLY_MATRIX_FREE, &form, 1, &A, &error));
    TRY(weft_operator_assemble(A, &error));

    /* v.A v of the field v(x, y) = x is int k |grad x|^2 + c x^2 = k + c/3 on the unit square */
    TRY(weft_memory_make(device, bytes, &u, &error));
    TRY(weft_memory_make(device, bytes, &y, &error));
    field = weft_array_make((size_t)mesh->n_nodes, sizeof *field);
    product = weft_array_make((size_t)mesh->n_nodes, sizeof *product);
    if (!field || !product) {
        status = weft_error_set(&error, WEFT_ERROR_MEMORY, "out of memory");
        goto done;
    }
    for (int64_t i = 0; i < mesh->n_nodes; ++i)
        field[i] = mesh->x[2 * i];
    TRY(weft_memory_write(u, 0, field, bytes, &error));
    TRY(weft_operator_apply(A, u, y, &error));
    TRY(weft_memory_read(y, 0, product, bytes, &error));
    for (int64_t i = 0; i < mesh->n_nodes; ++i)
        energy += field[i] * product[i];
    printf("energy of x: %.12f, k + c/3 = %.12f\n", energy, k_value + c_value / 3);

    /* b_i = int f phi_i by a shipped script, f = 1; then A u = b, u kept at 0 on the boundary */
    const weft_expression source = {"source", "1", "f"};
    const weft_form load = {.name = "load.weft",
                            .text = weft_fem_script("load.weft"),
                            .dofs = dofs,
                            .inputs = inputs,
                            .n_inputs = 1,
                            .expressions = &source,
                            .n_expressions = 1};
    TRY(weft_memory_make(device, bytes, &b, &error));
    TRY(weft_form_run(
        &context, &load,
        &(weft_form_outputs){.names = (const char *const[]){"b"}, .memories = &b, .n = 1}, &error));
    weft_cg_options cg = weft_cg_options_default();
    int group = 0;
    TRY(weft_mesh_group(mesh, "boundary", &group, &error));
    TRY(weft_mesh_group_nodes(mesh, group, &boundary, &cg.n_constrained, &error));
    cg.jacobi = true;
    cg.tolerance = 1e-10;
    cg.max_iterations = 1000;
    cg.constrained = boundary;
    TRY(weft_memory_zero(u, &error));
    TRY(weft_cg_solve(&context, A, b, u, &cg, &result, &error));
    TRY(weft_memory_read(u, 0, field, bytes, &error));
    for (int64_t i = 0; i < mesh->n_nodes; ++i)
        largest = field[i] > largest ? field[i] : largest;
    printf("solved: %s, largest u: %.6f, f/c = %.6f\n", weft_cg_outcome_name(result.outcome),
           largest, 1 / c_value);
done:
    if (status != WEFT_OK) {
        char message[4096];
        weft_error_text(&error, message, sizeof message);
        fprintf(stderr, "%s\n", message);
    }
    free(result.history);
    free(product);
    free(field);
    free(boundary);
    weft_operator_free(&A);
    weft_memory_free(&y);
    weft_memory_free(&u);
    weft_memory_free(&b);
    weft_memory_free(&c);
    weft_memory_free(&k);
    weft_memory_free(&x);
    weft_connectivity_free(&dofs);
    weft_mesh_free(&mesh);
    free(text);
    weft_library_free(&library);
    weft_device_free(&device);
    return weft_status_exit_code(status);
}
