/* labels: full */
/* Published benchmarks of elasticity and heat conduction on the meshes of meshes/, within the
 * tolerance that each states or, where it has none, 1 or 2 %:
 *
 *     stress concentration   at a circular hole in a plate of finite width: Howland 1930, 3.03; 2 %
 *     thick cylinder         Lame 1852; Timoshenko and Goodier 1970, section 28; 0.1 %, stresses of cells 5 %
 *     Cook's membrane        Cook, Malkus and Plesha 1989: the tip moves by 23.96; 1 %
 *     NAFEMS T4              heat with convection: 18.3 C at E; 1 % (18.25 in later editions)
 *     ISO 10211 case 1       a column with known surface temperatures: 28 points to 0.1 C */
#include "solve_run.h"

#include <unistd.h>

static void expect(double found, double wanted, double tolerance) {
    if (!(fabs(found - wanted) <= tolerance))
        fail_msg("%.10g, expected %.10g within %g", found, wanted, tolerance);
}

static double derived(const json_t *root, size_t i, const char *key) {
    return app_number(json_array_get(json_object_get(root, "derived"), i), key);
}

static double probe(const json_t *root, size_t i, size_t component) {
    const json_t *value = json_object_get(json_array_get(json_object_get(root, "probes"), i), "u");
    return json_number_value(json_array_get(value, component));
}

#define MESH(name) "--mesh", WEFT_SOURCE_DIR "/meshes/" name ".geo"

/* E = 1 and nu = 1/4 in the constants of plane strain; stresses do not depend on them. */
static void stress_concentration(void **state) {
    (void)state;
    json_t *root =
        SOLVE(0, "elasticity.weft", MESH("howland_plate"), "--define", "poisson=0.25",
              "--dirichlet", "left=0,free", "--dirichlet", "bottom=free,0", "--neumann",
              "right=1,0", "--extrema", "mises = von_mises(hooke_stress(strain(u), lambda, mu))");
    expect(derived(root, 0, "greatest"), 3.03, 0.02 * 3.03);
    const json_t *at =
        json_object_get(json_array_get(json_object_get(root, "derived"), 0), "greatest_at");
    expect(json_number_value(json_array_get(at, 0)), 0, 0.05); /* on the hole, across the pull */
    expect(json_number_value(json_array_get(at, 1)), 1, 0.01);
    json_decref(root);
}

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

/* Plane stress with E = 1, nu = 1/3 is plane strain with E (1 + 2 nu)/(1 + nu)^2, nu/(1 + nu). */
static void cook_membrane(void **state) {
    (void)state;
    json_t *root = SOLVE(0, "elasticity.weft", MESH("cook_membrane"), "--define", "young=15/16",
                         "--define", "poisson=1/4", "--dirichlet", "left=0,0", "--neumann",
                         "right=0,1/16", "--probe", "48,52", "--reactions", "--tolerance", "1e-12");
    expect(probe(root, 0, 1), 23.96, 0.01 * 23.96);
    const json_t *reaction =
        json_object_get(json_array_get(json_object_get(root, "reactions"), 0), "reaction");
    expect(json_number_value(json_array_get(reaction, 1)), -1, 1e-8);
    json_decref(root);
}

static void nafems_t4(void **state) {
    (void)state;
    json_t *root =
        POISSON(0, MESH("nafems_t4"), "--source", "0", "--diffusivity", "52", "--dirichlet",
                "hot=100", "--robin", "convection=750,0", "--probe", "0.6,0.2");
    expect(app_probe_value(root, 0), 18.3, 0.01 * 18.3);
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
        cmocka_unit_test(stress_concentration),
        cmocka_unit_test(thick_cylinder),
        cmocka_unit_test(cook_membrane),
        cmocka_unit_test(nafems_t4),
        cmocka_unit_test(iso_10211),
    };
    if (access(WEFT_BINARY_DIR "/weft-gmsh", X_OK) != 0) {
        puts("skipped: weft-gmsh is not part of this build, and the benchmarks' meshes are .geo "
             "files");
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
