/* labels: quick */
/* Elements, rules, meshes of quadrilaterals, spaces of higher degree and their facets, mixed spaces
 * and results, rerun with their n-th allocation failing. */
#include "allocation.h"
#include "core/weft_core.h"
#include "fem/weft_fem.h"
#include "test_support.h"

#include <stdlib.h>

typedef struct setting {
    weft_device *device;
    weft_mesh *mesh;
    char *path;
} setting;

static weft_status use_elements(void *user, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_element *simplex = NULL, *product = NULL;
    weft_quadrature rule = {0};
    double values[4 * 20], points[2] = {0.2, 0.3};
    (void)user;
    TRY(weft_element_make(WEFT_LAGRANGE, WEFT_TRIANGLE, 3, &simplex, error));
    TRY(weft_element_make(WEFT_LAGRANGE, WEFT_QUADRILATERAL, 3, &product, error));
    TRY(weft_quadrature_make(WEFT_TRIANGLE, WEFT_SCHEME_DEFAULT, 3, &rule, error));
    TRY(weft_element_tabulate(simplex, 1, 1, points, values, error));
    TRY(weft_element_tabulate(product, 1, 1, points, values, error));
done:
    weft_quadrature_free(&rule);
    weft_element_free(&simplex);
    weft_element_free(&product);
    return status;
}

static weft_status use_mesh(void *user, weft_error *error) {
    weft_mesh *mesh = NULL;
    (void)user;
    const weft_status status = weft_mesh_make_boxes(WEFT_QUADRILATERAL, 2, &mesh, error);
    weft_mesh_free(&mesh);
    return status;
}

static weft_status use_space(void *user, weft_error *error) {
    const setting *s = user;
    weft_status status = WEFT_OK;
    weft_space *space = NULL, *linear = NULL;
    weft_space_facets facets = {0};
    weft_space_sides exterior = {0}, interior = {0};
    weft_entity_dofs mixed = {0}, sides = {0};
    int32_t *nodes = NULL;
    int64_t n = 0;
    TRY(weft_space_make(s->device, s->mesh, (weft_element_kind){WEFT_LAGRANGE, 3}, 1, &space,
                        error));
    TRY(weft_space_make(s->device, s->mesh, WEFT_ELEMENT_P1, 1, &linear, error));
    TRY(weft_space_facets_make(space, -1, &facets, error));
    TRY(weft_space_group_nodes(space, 0, &nodes, &n, error));
    TRY(weft_space_exterior_make(space, 1, &exterior, error));
    TRY(weft_space_interior_make(space, -1, &interior, error));
    TRY(weft_entity_dofs_make((const weft_space *const[]){space, linear}, 2, true,
                              WEFT_ENTITIES_EXTERIOR, 1, &mixed, error));
    TRY(weft_entity_dofs_make((const weft_space *const[]){space}, 1, false, WEFT_ENTITIES_INTERIOR,
                              -1, &sides, error));
done:
    free(nodes);
    weft_entity_dofs_free(&mixed);
    weft_entity_dofs_free(&sides);
    weft_space_facets_free(&facets);
    weft_space_sides_free(&exterior);
    weft_space_sides_free(&interior);
    weft_space_free(&linear);
    weft_space_free(&space);
    return status;
}

static weft_status use_result(void *user, weft_error *error) {
    const setting *s = user;
    weft_status status = WEFT_OK;
    weft_space *space = NULL;
    double values[49] = {0}; /* (2 * 3 + 1)^2 */
    TRY(weft_space_make(s->device, s->mesh, (weft_element_kind){WEFT_LAGRANGE, 3}, 1, &space,
                        error));
    TRY(weft_space_write(
        s->path, space, &(weft_field){.name = "u", .n_components = 1, .values = values}, 1, error));
done:
    weft_space_free(&space);
    return status;
}

static void test_all(void **state) {
    (void)state;
    setting s = {0};
    char *folder = test_folder_make();
    s.path = test_path(folder, "u.vtu");
    assert_int_equal(weft_device_open("host:1", NULL, &s.device, NULL), WEFT_OK);
    assert_int_equal(weft_mesh_make_boxes(WEFT_QUADRILATERAL, 2, &s.mesh, NULL), WEFT_OK);
    test_every_allocation("elements", use_elements, &s);
    test_every_allocation("mesh", use_mesh, &s);
    test_every_allocation("space", use_space, &s);
    test_every_allocation("result", use_result, &s);
    weft_mesh_free(&s.mesh);
    weft_device_free(&s.device);
    free(s.path);
    test_folder_remove(&folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
