/* labels: quick */
/* Meshes of runs with the levels of refinement kept. Coordinates of refined grids are some roundings
 * of numbers up to 1 away from i/N: 1e-13. */
#include "apps/common/fem.h"
#include "core/weft_core.h"
#include "fem/weft_fem.h"
#include "test_support.h"

#include <math.h>
#include <stdlib.h>

static const double TOLERANCE = 1e-13;

static weft_mesh *make(weft_device *device, const app_mesh_options *options, app_mesh_made *made) {
    weft_error error = {0};
    weft_mesh *mesh = NULL;
    *made = (app_mesh_made){0};
    if (app_mesh_make(device, options, NULL, &mesh, made, &error) != WEFT_OK)
        fail_msg("%s", error.message);
    return mesh;
}

/* Each node is one of a grid with n cells per side, and none is there twice. */
static void check_grid(const weft_mesh *mesh, int64_t n) {
    const int d = mesh->dimension;
    const int64_t row = n + 1, n_nodes = d == 2 ? row * row : row * row * row;
    char *seen = calloc((size_t)n_nodes, 1);
    assert_non_null(seen);
    assert_int_equal(mesh->n_nodes, n_nodes);
    assert_int_equal(mesh->n_cells, d == 2 ? 2 * n * n : 6 * n * n * n);
    for (int64_t i = 0; i < n_nodes; ++i) {
        int64_t at = 0;
        for (int k = d - 1; k >= 0; --k) {
            const double x = mesh->x[d * i + k];
            assert_double_near(x, round(x * (double)n) / (double)n, 0, TOLERANCE);
            at = at * row + lround(x * (double)n);
        }
        assert_int_equal(seen[at]++, 0);
    }
    free(seen);
}

static void test_built_in(void **state) {
    static const struct {
        const char *name;
        int refine, n_levels;
        int64_t coarse, fine; /* cells per side */
    } cases[] = {{"square:12", 0, 3, 3, 12}, {"square:8", 1, 4, 2, 16}, {"square:5", 1, 2, 5, 10},
                 {"square:2", 0, 1, 2, 2},   {"cube:6", 0, 2, 3, 6},    {"cube:1", 2, 3, 1, 4}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        app_mesh_options options = {
            .name = cases[i].name, .refine = cases[i].refine, .levels = APP_LEVELS_BUILT_IN};
        app_mesh_made made;
        weft_device *device = NULL;
        assert_int_equal(weft_device_open("host:2", NULL, &device, NULL), WEFT_OK);
        weft_mesh *mesh = make(device, &options, &made);
        assert_non_null(made.hierarchy);
        assert_int_equal(made.hierarchy->n_levels, cases[i].n_levels);
        assert_ptr_equal(made.hierarchy->levels[cases[i].n_levels - 1].mesh, mesh);
        check_grid(made.hierarchy->levels[0].mesh, cases[i].coarse);
        check_grid(mesh, cases[i].fine);
        app_mesh_free(&mesh, &made);
        assert_null(mesh);
        assert_null(made.hierarchy);
        /* without levels, as ever */
        options.levels = APP_LEVELS_NONE;
        mesh = make(device, &options, &made);
        assert_null(made.hierarchy);
        check_grid(mesh, cases[i].fine);
        app_mesh_free(&mesh, &made);
        assert_null(mesh);
        weft_device_free(&device);
    }
}

/* Names that are none of a built-in mesh are refused as they are without levels. */
static void test_refused(void **state) {
    static const char *const names[] = {"square:", "square:0", "cube:+4", "square:4x", "circle:4"};
    weft_device *device = NULL;
    (void)state;
    assert_int_equal(weft_device_open("host:1", NULL, &device, NULL), WEFT_OK);
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        char texts[2][4096];
        for (int keep = 0; keep < 2; ++keep) {
            const app_mesh_options options = {
                .name = names[i], .levels = keep ? APP_LEVELS_BUILT_IN : APP_LEVELS_NONE};
            app_mesh_made made = {0};
            weft_mesh *mesh = NULL;
            weft_error error = {0};
            assert_int_not_equal(app_mesh_make(device, &options, NULL, &mesh, &made, &error),
                                 WEFT_OK);
            assert_null(mesh);
            weft_error_text(&error, texts[keep], sizeof texts[keep]);
        }
        assert_string_equal(texts[0], texts[1]);
    }
    weft_device_free(&device);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_built_in),
                                       cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
