/* labels: full */
/* Observed orders on meshes that Gmsh makes from .geo files, the size halved three times or refined
 * three times: 2 in L2 and 1 in H1 within 0.1 over the last halving and over all. The size is the
 * mean one, from the number of cells. */
#include "poisson_run.h"

#include <unistd.h>

static const double TOLERANCE = 0.1;

static void check_orders(json_t *const results[4]) {
    for (int first = 0; first < 3; first += 2) {
        assert_double_near(2, poisson_order(results[first], results[3], "l2_error"), 0, TOLERANCE);
        assert_double_near(1, poisson_order(results[first], results[3], "h1_error"), 0, TOLERANCE);
    }
}

static void check_meshes(const char *geo, const char *const *sizes, const char *source,
                         const char *exact) {
    static const char *const times[] = {"0", "1", "2", "3"};
    json_t *results[4], *refined[4];
    if (access(WEFT_BINARY_DIR "/weft-gmsh", X_OK) != 0)
        skip_test("weft-gmsh is not part of this build");
    for (int i = 0; i < 4; ++i) {
        results[i] =
            POISSON(0, "--mesh", geo, "--size", sizes[i], "--source", source, "--exact", exact);
        refined[i] = POISSON(0, "--mesh", geo, "--size", sizes[0], "--refine", times[i], "--source",
                             source, "--exact", exact);
    }
    check_orders(results);
    check_orders(refined);
    for (int i = 0; i < 4; ++i) {
        json_decref(results[i]);
        json_decref(refined[i]);
    }
}

static void test_plane(void **state) {
    static const char *const sizes[] = {"0.1", "0.05", "0.025", "0.0125"};
    (void)state;
    check_meshes(WEFT_SOURCE_DIR "/meshes/unit_square.geo", sizes, "2*pi^2*sin(pi*x)*sin(pi*y)",
                 "sin(pi*x)*sin(pi*y)");
}

static void test_space(void **state) {
    static const char *const sizes[] = {"0.2", "0.1", "0.05", "0.025"};
    (void)state;
    check_meshes(WEFT_SOURCE_DIR "/meshes/unit_cube.geo", sizes,
                 "3*pi^2*sin(pi*x)*sin(pi*y)*sin(pi*z)", "sin(pi*x)*sin(pi*y)*sin(pi*z)");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_plane), cmocka_unit_test(test_space)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
