/* labels: full */
/* Published benchmarks of elasticity and heat conduction on the meshes of meshes/, within the
 * tolerance that each states or, where it has none, 0.1 %; docs/gallery.md has more:
 *
 *     thick cylinder    Lame 1852; Timoshenko and Goodier 1970, section 28; stresses of cells 5 %
 *     ISO 10211 case 1  a column with known surface temperatures: 28 points to 0.1 C */
#include "solve_run.h"

#include <unistd.h>

static double derived(const json_t *root, size_t i, const char *key) {
    return app_number(json_array_get(json_object_get(root, "derived"), i), key);
}

static double probe(const json_t *root, size_t i, size_t component) {
    const json_t *value = json_object_get(json_array_get(json_object_get(root, "probes"), i), "u");
    return json_number_value(json_array_get(value, component));
}

#define MESH(name) "--mesh", WEFT_SOURCE_DIR "/meshes/" name ".geo"

/* Pressure 1 inside, plane strain: u(a) = (1 + nu)/E a^2/(b^2 - a^2) ((1 - 2 nu) a + b^2/a), and the
 * hoop stress falls from (a^2 + b^2)/(b^2 - a^2) to 2 a^2/(b^2 - a^2). */
static void thick_cylinder(void **state) {
    (void)state;
    json_t *root =
        SOLVE(0, "elasticity.weft", MESH("thick_cylinder"), "--dirichlet", "left=0,free",
              "--dirichlet", "bottom=free,0", "--neumann", "inner=x/sqrt(x^2+y^2),y/sqrt(x^2+y^2)",
              "--probe", "1,0", "--probe", "2,0", "--derive", "p = principal_values(stress(u))",
              "--extrema", "hoop = p[0]", "--reactions", "--tolerance", "1e-12");
    expect(probe(root, 0, 0), 1.3 / 3 * 4.4, 1e-3 * 1.9);
    expect(probe(root, 1, 0), 1.3 / 3 * (0.4 * 2 + 2), 1e-3 * 1.2);
    expect(derived(root, 0, "greatest"), 5.0 / 3, 0.05 * 5 / 3);
    expect(derived(root, 0, "least"), 2.0 / 3, 0.05 * 2 / 3);
    json_decref(root);
}

static void iso_10211(void **state) {
    (void)state;
    static const double table[7][4] = {
        {9.7, 13.4, 14.7, 15.1}, {5.3, 8.6, 10.3, 10.8}, {3.2, 5.6, 7.0, 7.5}, {2.0, 3.6, 4.7, 5.0},
        {1.3, 2.3, 3.0, 3.2},    {0.7, 1.4, 1.8, 1.9},   {0.3, 0.6, 0.8, 0.9}};
    char points[28][64];
    const char *arguments[APP_ARGUMENTS_MAX] = {MESH("iso_10211_1"), "--source=0",
                                                "--dirichlet=warm=20", "--dirichlet=cold=0"};
    for (int i = 0; i < 28; ++i) {
        snprintf(points[i], sizeof points[i], "--probe=%g,%g", 0.25 * (i % 4 + 1),
                 1.75 - 0.25 * (i / 4));
        arguments[5 + i] = points[i];
    }
    json_t *root = app_solve("poisson", 0, arguments);
    for (size_t i = 0; i < 28; ++i)
        expect(app_probe_value(root, i), table[i / 4][i % 4], 0.1);
    json_decref(root);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(thick_cylinder),
        cmocka_unit_test(iso_10211),
    };
    if (access(WEFT_BINARY_DIR "/weft-gmsh", X_OK) != 0) {
        puts("skipped: weft-gmsh is not part of this build, and the benchmarks' meshes are .geo "
             "files");
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
