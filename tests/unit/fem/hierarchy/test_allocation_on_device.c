/* labels: full */
/* Ordering and refinement by an emulated GPU, rerun with the n-th allocation failing: the mesh is freed,
 * ordered or not. */
#include "allocation.h"
#include "fem/mesh/refine.h"
#include "fem/order/on_device.h"
#include "fem/weft_hierarchy.h"
#include "setup_support.h"

#include <stdlib.h>

enum { LEAF = 16 };

static weft_status use_order(void *user, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_mesh *mesh = NULL;
    weft_mesh_copies copies = {0};
    const weft_renumbering none = {0};
    TRY(weft_mesh_make_cube(3, &mesh, error));
    TRY(weft_mesh_order_on_device(user, mesh, LEAF, &none, &copies, error));
done:
    weft_mesh_copies_free(&copies);
    weft_mesh_free(&mesh);
    return status;
}

static weft_status use_refine(void *user, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_mesh *mesh = NULL, *fine = NULL;
    TRY(weft_mesh_make_square(2, &mesh, error));
    TRY(weft_refine_on_device(user, mesh, 2, &fine, error));
done:
    weft_mesh_free(&fine);
    weft_mesh_free(&mesh);
    return status;
}

static weft_status use_levels(void *user, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_hierarchy *hierarchy = calloc(1, sizeof *hierarchy);
    weft_mesh_copies copies = {0};
    int n_made = 0;
    if (hierarchy)
        hierarchy->levels = calloc(3, sizeof *hierarchy->levels);
    if (!hierarchy || !hierarchy->levels)
        TRY(weft_error_set(error, WEFT_ERROR_MEMORY, "no memory for the test"));
    hierarchy->n_levels = 3;
    TRY(weft_mesh_make_cube(1, &hierarchy->levels[0].mesh, error));
    TRY(weft_refine_levels_on_device(user, hierarchy, &n_made, &copies, error));
done:
    if (hierarchy && !hierarchy->levels)
        hierarchy->n_levels = 0;
    weft_mesh_copies_free(&copies);
    weft_hierarchy_free(&hierarchy);
    return status;
}

/* The first call makes the device's modules, which it keeps. */
static void rerun(const char *what, test_allocation_call call) {
    weft_device *device = NULL;
    weft_error error = {0};
    assert_int_equal(weft_device_open("host:1", NULL, &device, NULL), WEFT_OK);
    emulated_gpu_make(device);
    if (call(device, &error) != WEFT_OK)
        fail_msg("%s: %s", what, error.message);
    test_every_allocation(what, call, device);
    assert_int_equal(weft_device_bytes(device), 0);
    weft_device_free(&device);
}

static void all(void **state) {
    (void)state;
    rerun("ordering", use_order);
    rerun("refinement", use_refine);
    rerun("levels", use_levels);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(all)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
