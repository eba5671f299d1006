/* load FILE MESH: read a form file with a and L, compile them, and run L over the cells of a mesh of triangles.
 * docs/forms.md goes through it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft_fem.h>
#include <weft_ufl.h>

static const char fallback[] = "element = FiniteElement('P', triangle, 1)\n"
                               "u, v = TrialFunction(element), TestFunction(element)\n"
                               "f = Coefficient(element)\n"
                               "a = inner(grad(u), grad(v))*dx\n"
                               "L = f*v*dx\n";

static const char script[] = "index cells, nodes;\n"
                             "connectivity dofs : cells -> nodes[3];\n"
                             "input x : real[2] over nodes;\n"
                             "input f : real over nodes;\n"
                             "b[dofs] += ufl_L_0(x[dofs], f[dofs]);\n"
                             "return b;\n";

/* Its forms, and the degree of the first integral of each. */
static void print_forms(const weft_ufl *ufl) {
    for (int k = 0; k < weft_ufl_n_forms(ufl); ++k) {
        weft_ufl_form_info form;
        weft_ufl_integral_info integral;
        weft_ufl_form(ufl, k, &form);
        weft_ufl_integral(ufl, k, 0, &integral);
        printf("%s: rank %d, %d coefficients, degree %d on the %s\n", form.name, form.rank,
               form.n_coefficients, integral.degree, integral.cell);
    }
}

int main(int argc, char **argv) {
    weft_status status = WEFT_OK;
    weft_error error = {0};
    weft_device *device = NULL;
    weft_library *library = NULL;
    weft_ufl *ufl = NULL;
    weft_mesh *mesh = NULL;
    weft_connectivity *dofs = NULL;
    weft_memory *x = NULL, *f = NULL;
    weft_compilation *compilation = NULL;
    weft_program *program = NULL;
    double *values = NULL;

    TRY(weft_device_open("host", NULL, &device, &error));
    TRY(weft_fem_library_make(&library, &error));
    if (argc > 1)
        TRY(weft_ufl_read(argv[1], NULL, &ufl, &error));
    else
        TRY(weft_ufl_read_text("load.ufl", fallback, strlen(fallback), NULL, &ufl, &error));
    print_forms(ufl);
    TRY(weft_ufl_add_functions(ufl, library, &error)); /* ufl_a_0 and ufl_L_0 */
    TRY(weft_mesh_read(argc > 2 ? argv[2] : "square:10", 0, NULL, &mesh, &error));
    TRY(weft_connectivity_make(device, mesh->cells, mesh->n_cells, 3, mesh->n_nodes, &dofs,
                               &error));
    values = weft_array_make((size_t)mesh->n_nodes, sizeof *values);
    if (!values)
        TRY(weft_error_set(&error, WEFT_ERROR_MEMORY, "out of memory"));
    for (int64_t i = 0; i < mesh->n_nodes; ++i) /* f = x + y */
        values[i] = mesh->x[2 * i] + mesh->x[2 * i + 1];
    const size_t bytes = (size_t)mesh->n_nodes * sizeof *values;
    TRY(weft_memory_wrap(device, mesh->x, 2 * bytes, &x, &error));
    TRY(weft_memory_wrap(device, values, bytes, &f, &error));

    const weft_fragment fragment = {"load", script};
    const weft_compile_options how = weft_compile_options_default();
    TRY(weft_compile(library, weft_device_limits(device), &fragment, 1, &how, &compilation,
                     &error));
    TRY(weft_program_make(device, compilation, &program, &error));
    TRY(weft_program_bind_connectivity(program, "dofs", dofs, &error));
    TRY(weft_program_bind(program, "x", x, &error));
    TRY(weft_program_bind(program, "f", f, &error));
    TRY(weft_program_run(program, &error));
    TRY(weft_memory_read(weft_program_result(program, "b"), 0, values, bytes, &error));
    /* the test functions add up to 1 */
    printf("integral of f: %.12f\n", weft_sum(values, mesh->n_nodes));
done:
    if (status != WEFT_OK) {
        char text[4096];
        weft_error_text(&error, text, sizeof text);
        fprintf(stderr, "%s\n", text);
    }
    weft_program_free(&program);
    weft_compilation_free(&compilation);
    weft_memory_free(&f);
    weft_memory_free(&x);
    weft_connectivity_free(&dofs);
    weft_mesh_free(&mesh);
    weft_library_free(&library);
    weft_ufl_free(&ufl);
    weft_device_free(&device);
    free(values);
    return weft_status_exit_code(status);
}
