/* areas MESH: compile a script, run it over the cells of a mesh, read a list back.
 * docs/using-the-library.md goes through it. */
#include <stdio.h>
#include <stdlib.h>
#include <weft_fem.h>

static const char script[] = "index cells, nodes;\n"
                             "connectivity dofs : cells -> nodes[3];\n"
                             "input x : real[2] over nodes;\n"
                             "a = measure(jacobian(x[dofs]));\n"
                             "return a;\n";

static void print_message(void *user, weft_log_level level, const char *message) {
    (void)user;
    if (level <= WEFT_LOG_WARNING)
        fprintf(stderr, "%s\n", message);
}

int main(int argc, char **argv) {
    weft_status status = WEFT_OK;
    weft_error error = {0};
    weft_device *device = NULL;
    weft_library *library = NULL;
    weft_mesh *mesh = NULL;
    weft_connectivity *dofs = NULL;
    weft_memory *x = NULL;
    weft_compilation *compilation = NULL;
    weft_program *program = NULL;
    double *areas = NULL;

    const weft_monitor monitor = {.log = print_message};
    const weft_device_options options = weft_device_options_default(&monitor);
    TRY(weft_device_open("auto", &options, &device, &error));
    TRY(weft_fem_library_make(&library, &error));
    TRY(weft_mesh_read(argc > 1 ? argv[1] : "square:10", 0, &monitor, &mesh, &error));
    if (mesh->dimension != 2) {
        status =
            weft_error_set(&error, WEFT_ERROR_INPUT, "%s is not a mesh of triangles", mesh->source);
        goto done;
    }
    TRY(weft_connectivity_make(device, mesh->cells, mesh->n_cells, 3, mesh->n_nodes, &dofs,
                               &error));
    TRY(weft_memory_wrap(device, mesh->x, 2 * (size_t)mesh->n_nodes * sizeof(double), &x, &error));

    const weft_fragment fragment = {"areas", script};
    const weft_compile_options how = weft_compile_options_default();
    TRY(weft_compile(library, weft_device_limits(device), &fragment, 1, &how, &compilation,
                     &error));
    TRY(weft_program_make(device, compilation, &program, &error));
    TRY(weft_program_bind_connectivity(program, "dofs", dofs, &error));
    TRY(weft_program_bind(program, "x", x, &error));
    TRY(weft_program_run(program, &error));

    /* interleaved, [block][component][lane]; one component, so the areas stand in order of the
     * cells */
    areas = weft_array_make((size_t)mesh->n_cells, sizeof *areas);
    if (!areas) {
        status = weft_error_set(&error, WEFT_ERROR_MEMORY, "out of memory");
        goto done;
    }
    TRY(weft_memory_read(weft_program_result(program, "a"), 0, areas,
                         (size_t)mesh->n_cells * sizeof *areas, &error));
    printf("%lld triangles, area %.12f\n", (long long)mesh->n_cells,
           weft_sum(areas, mesh->n_cells));
done:
    if (status != WEFT_OK) {
        char text[4096];
        weft_error_text(&error, text, sizeof text);
        fprintf(stderr, "%s\n", text);
    }
    free(areas);
    weft_program_free(&program);
    weft_compilation_free(&compilation);
    weft_memory_free(&x);
    weft_connectivity_free(&dofs);
    weft_mesh_free(&mesh);
    weft_library_free(&library);
    weft_device_free(&device);
    return weft_status_exit_code(status);
}
