/* Prints what a product by patches takes on the GPU in patches of each size, as it stands,
 * predicated and wanted, and predicated and not wanted (an iteration behind its loop's end). No
 * test: run it by hand. */
#include "core/weft_core.h"
#include "fem/weft_fem.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_library.h"
#include "fusion/weft_program.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { PRODUCTS = 200, REPEATS = 7 };

typedef struct product_case {
    const char *form, *suffix;
    int d;
    int64_t cells_a_side;
} product_case;

typedef struct setting {
    weft_device *device;
    weft_library *library;
    weft_timer *timer;
    weft_connectivity *cells;
    weft_memory *x, *v, *y, *active;
    int64_t n;
} setting;

static int compare(const void *a, const void *b) {
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* The median of a device graph's runs, each of many products. */
static weft_status time_products(const setting *s, weft_program *program, uint32_t wanted,
                                 double *out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_device_graph *device_graph = NULL;
    double seconds[REPEATS];
    TRY(weft_memory_write(s->active, 0, &wanted, sizeof wanted, error));
    TRY(weft_program_run(program, error));
    TRY(weft_device_graph_begin(s->device, error));
    for (int i = 0; i < PRODUCTS && status == WEFT_OK; ++i)
        status = weft_program_run(program, error);
    const weft_status ended = weft_device_graph_end(s->device, &device_graph, error);
    TRY(status != WEFT_OK ? status : ended);
    for (int i = -2; i < REPEATS; ++i) {
        TRY(weft_timer_start(s->timer, error));
        TRY(weft_device_graph_run(device_graph, error));
        TRY(weft_timer_stop(s->timer, error));
        TRY(weft_timer_seconds(s->timer, &seconds[i < 0 ? 0 : i], error));
    }
    qsort(seconds, REPEATS, sizeof *seconds, compare);
    *out = seconds[REPEATS / 2] / PRODUCTS;
done:
    weft_device_graph_free(&device_graph);
    return status;
}

static weft_status program_make(const setting *s, const product_case *c, int nodes, bool predicated,
                                weft_compilation **compilation, weft_program **program,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_parameter dimension = {"d", c->d};
    const weft_compile_options options = {.size = sizeof options,
                                          .scatter = WEFT_SCATTER_PATCHES,
                                          .patch_nodes = nodes,
                                          .predicated = predicated,
                                          .parameters = &dimension,
                                          .n_parameters = 1};
    const weft_fragment fragments[] = {{c->form, weft_fem_script(c->form)},
                                       {c->suffix, weft_fem_script(c->suffix)}};
    TRY(weft_compile(s->library, weft_device_limits(s->device), fragments, 2, &options, compilation,
                     error));
    TRY(weft_program_make(s->device, *compilation, program, error));
    TRY(weft_program_bind_connectivity(*program, "dofs", s->cells, error));
    TRY(weft_program_bind(*program, "x", s->x, error));
    TRY(weft_program_bind(*program, "v", s->v, error));
    TRY(weft_program_bind(*program, "y", s->y, error));
    weft_program_predicate(*program, s->active);
done:
    return status;
}

static weft_status time_patch(const setting *s, const product_case *c, int nodes,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    double plain = 0, wanted = 0, idle = 0;
    for (int predicated = 0; predicated < 2 && status == WEFT_OK; ++predicated) {
        weft_compilation *compilation = NULL;
        weft_program *program = NULL;
        status = program_make(s, c, nodes, predicated != 0, &compilation, &program, error);
        if (status == WEFT_OK)
            status = time_products(s, program, 1, predicated ? &wanted : &plain, error);
        if (status == WEFT_OK && predicated)
            status = time_products(s, program, 0, &idle, error);
        weft_program_free(&program);
        weft_compilation_free(&compilation);
    }
    if (status == WEFT_OK)
        printf(
            "%-15s %dD %8lld nodes, patches of %3d: %7.2f us, predicated %7.2f, not wanted %6.2f\n",
            c->form, c->d, (long long)s->n, nodes, 1e6 * plain, 1e6 * wanted, 1e6 * idle);
    return status;
}

static weft_status time_case(setting *s, const product_case *c, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_mesh *mesh = NULL;
    TRY(c->d == 2 ? weft_mesh_make_square(c->cells_a_side, &mesh, error)
                  : weft_mesh_make_cube(c->cells_a_side, &mesh, error));
    TRY(weft_mesh_order(s->device, mesh, WEFT_ORDERING_BISECTION, 0, NULL, NULL, error));
    s->n = mesh->n_nodes;
    const size_t bytes = (size_t)s->n * sizeof(double);
    TRY(weft_connectivity_make(s->device, mesh->cells, mesh->n_cells, c->d + 1, mesh->n_nodes,
                               &s->cells, error));
    TRY(weft_memory_make(s->device, bytes * (size_t)c->d, &s->x, error));
    TRY(weft_memory_write(s->x, 0, mesh->x, bytes * (size_t)c->d, error));
    TRY(weft_memory_make(s->device, bytes, &s->v, error));
    TRY(weft_memory_write(s->v, 0, mesh->x, bytes, error));
    TRY(weft_memory_make(s->device, bytes, &s->y, error));
    for (int nodes = 128; nodes <= 512; nodes *= 2)
        TRY(time_patch(s, c, nodes, error));
done:
    weft_connectivity_free(&s->cells);
    weft_memory_free(&s->x);
    weft_memory_free(&s->v);
    weft_memory_free(&s->y);
    weft_mesh_free(&mesh);
    return status;
}

static weft_status run(const char *name, weft_error *error) {
    weft_status status = WEFT_OK;
    setting s = {0};
    static const char *const forms[][2] = {{"poisson.weft", "stiffness_product.weft"},
                                           {"mass.weft", "product.weft"}};
    static const int64_t sides[2][7] = {{60, 120, 250, 400, 600, 1000, 2000},
                                        {10, 16, 24, 36, 50, 64, 100}};
    TRY(weft_device_open(name, NULL, &s.device, error));
    TRY(weft_fem_library_make(&s.library, error));
    TRY(weft_timer_make(s.device, &s.timer, error));
    TRY(weft_memory_make(s.device, sizeof(uint32_t), &s.active, error));
    for (int f = 0; f < 2; ++f)
        for (int d = 2; d <= 3; ++d)
            for (int i = 0; i < 7; ++i) {
                const product_case c = {forms[f][0], forms[f][1], d, sides[d - 2][i]};
                TRY(time_case(&s, &c, error));
            }
done:
    weft_memory_free(&s.active);
    weft_timer_free(&s.timer);
    weft_library_free(&s.library);
    weft_device_free(&s.device);
    return status;
}

int main(int argc, char **argv) {
    weft_error error = {0};
    char text[2048];
    if (run(argc > 1 ? argv[1] : "cuda", &error) == WEFT_OK)
        return 0;
    weft_error_text(&error, text, sizeof text);
    fprintf(stderr, "%s\n", text);
    return 1;
}
