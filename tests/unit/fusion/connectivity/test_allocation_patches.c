/* labels: full */
/* Rings, and what is applied in loops, made with their n-th allocation failing. */
#include "allocation.h"
#include "core/weft_core.h"
#include "fem/weft_fem.h"
#include "fusion/connectivity/cell_patches.h"
#include "fusion/connectivity/edge_patches.h"
#include "fusion/connectivity/vertex_patches.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_library.h"
#include "fusion/weft_program.h"
#include "test_support.h"

#include <stdlib.h>

typedef struct patch_case {
    weft_device *device;
    const weft_mesh *mesh;
    weft_library *library;
    weft_scatter scatter;
} patch_case;

static weft_status use_patches(void *user, weft_error *error) {
    weft_status status = WEFT_OK;
    const patch_case *c = user;
    weft_connectivity *connectivity = NULL;
    const weft_patches *patches = NULL;
    TRY(weft_connectivity_make(c->device, c->mesh->cells, c->mesh->n_cells, c->mesh->dimension + 1,
                               c->mesh->n_nodes, &connectivity, error));
    TRY(weft_connectivity_patches(connectivity, &(weft_patch_options){PATCH_VERTEX, 128, 0, true},
                                  &patches, error));
done:
    weft_connectivity_free(&connectivity);
    return status;
}

static weft_status use_edge_patches(void *user, weft_error *error) {
    weft_status status = WEFT_OK;
    const patch_case *c = user;
    weft_connectivity *connectivity = NULL;
    const weft_patches *patches = NULL;
    TRY(weft_connectivity_make(c->device, c->mesh->cells, c->mesh->n_cells, 4, c->mesh->n_nodes,
                               &connectivity, error));
    TRY(weft_connectivity_patches(connectivity, &(weft_patch_options){PATCH_EDGE, 128, 4, true},
                                  &patches, error));
done:
    weft_connectivity_free(&connectivity);
    return status;
}

static weft_status use_cell_patches(void *user, weft_error *error) {
    weft_status status = WEFT_OK;
    const patch_case *c = user;
    weft_connectivity *connectivity = NULL;
    const weft_cell_patches *patches = NULL;
    TRY(weft_connectivity_make(c->device, c->mesh->cells, c->mesh->n_cells, c->mesh->dimension + 1,
                               c->mesh->n_nodes, &connectivity, error));
    TRY(weft_connectivity_cell_patches(connectivity, 64, true, &patches, error));
done:
    weft_connectivity_free(&connectivity);
    return status;
}

/* "null:h200" has memory of its own, so that arrays are filled beside it. */
static void patches(void **state) {
    (void)state;
    static const char *const devices[] = {"host:1", "null:h200"};
    for (int i = 0; i < 4; ++i) {
        patch_case c = {0};
        weft_mesh *mesh = NULL;
        weft_error error = {0};
        assert_int_equal(weft_device_open(devices[i / 2], NULL, &c.device, &error), WEFT_OK);
        assert_int_equal(i % 2 ? weft_mesh_make_cube(6, &mesh, &error)
                               : weft_mesh_make_square(14, &mesh, &error),
                         WEFT_OK);
        c.mesh = mesh;
        assert_true(test_every_allocation("patches", use_patches, &c) > 20);
        assert_true(test_every_allocation("cell patches", use_cell_patches, &c) > 20);
        if (i % 2)
            assert_true(test_every_allocation("edge patches", use_edge_patches, &c) > 20);
        weft_mesh_free(&mesh);
        weft_device_free(&c.device);
    }
}

static weft_status use_predicated(void *user, weft_error *error) {
    weft_status status = WEFT_OK;
    const patch_case *c = user;
    weft_connectivity *cells = NULL;
    weft_compilation *compilation = NULL;
    weft_program *program = NULL;
    weft_memory *x = NULL, *v = NULL;
    const weft_compile_options options = {
        .size = sizeof options, .scatter = c->scatter, .patch_nodes = 128, .predicated = true};
    const weft_fragment fragments[] = {{"poisson", weft_fem_script("poisson.weft")},
                                       {"product", weft_fem_script("product.weft")}};
    const size_t bytes = (size_t)c->mesh->n_nodes * sizeof(double);
    TRY(weft_compile(c->library, weft_device_limits(c->device), fragments, 2, &options,
                     &compilation, error));
    TRY(weft_program_make(c->device, compilation, &program, error));
    TRY(weft_memory_make(c->device, 2 * bytes, &x, error));
    TRY(weft_memory_make(c->device, bytes, &v, error));
    TRY(weft_connectivity_make(c->device, c->mesh->cells, c->mesh->n_cells, 3, c->mesh->n_nodes,
                               &cells, error));
    TRY(weft_program_bind_connectivity(program, "dofs", cells, error));
    TRY(weft_program_bind(program, "x", x, error));
    TRY(weft_program_bind(program, "v", v, error));
    TRY(weft_program_run(program, error));
done:
    weft_program_free(&program);
    weft_compilation_free(&compilation);
    weft_connectivity_free(&cells);
    weft_memory_free(&x);
    weft_memory_free(&v);
    return status;
}

static void predicated(void **state) {
    (void)state;
    weft_mesh *mesh = NULL;
    weft_error error = {0};
    patch_case c = {0};
    assert_int_equal(weft_device_open("null:h200", NULL, &c.device, &error), WEFT_OK);
    assert_int_equal(weft_mesh_make_square(3, &mesh, &error), WEFT_OK);
    assert_int_equal(weft_fem_library_make(&c.library, &error), WEFT_OK);
    c.mesh = mesh;
    assert_true(test_every_allocation("predicated stores in place", use_predicated, &c) > 20);
    c.scatter = WEFT_SCATTER_PATCHES;
    assert_true(test_every_allocation("predicated patches", use_predicated, &c) > 20);
    weft_mesh_free(&mesh);
    weft_library_free(&c.library);
    weft_device_free(&c.device);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(patches), cmocka_unit_test(predicated)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
