/* labels: full
 * The problems of the gallery with several materials, with the curves between these as groups: what flows through an interface
 * by either named side is what flows through the outside, and what flows out of each material is nothing in all.
 * Tolerance: fluxes of functions of degree 1 have errors in proportion to h, most of which 2 q(h/2) - q(h) is free of; 1.5 % of
 * what flows are left. The sides differ by 10 % and more on one mesh, and a side with the other's conductivity by factors. */
#include "solve_run.h"
#include "test_support.h"

#include <stdio.h>
#include <unistd.h>

#define GALLERY WEFT_SOURCE_DIR "/docs/examples/gallery/"
#define DEVICE "--device", "host:1:sse2"

enum { MOST = 16 };
static const double NEAR = 0.015;
static char *folder, *mesh;

static int setup(void **state) {
    (void)state;
    folder = test_folder_make();
    mesh = test_path(folder, "materials.geo");
    return 0;
}

static int teardown(void **state) {
    (void)state;
    free(mesh);
    test_folder_remove(&folder);
    return 0;
}

/* A copy of a geometry with further groups. */
static void put_mesh(const char *from, const char *groups) {
    char text[8192];
    FILE *in = fopen(from, "r"), *out = fopen(mesh, "w");
    assert_non_null(in);
    assert_non_null(out);
    const size_t n = fread(text, 1, sizeof text, in);
    assert_true(n < sizeof text);
    assert_int_equal(fwrite(text, 1, n, out), n);
    fputs(groups, out);
    assert_int_equal(fclose(in) | fclose(out), 0);
}

/* sums += factor times the integrals of a run */
static void add_integrals(const json_t *root, double factor, int n, double *sums) {
    for (int i = 0; i < n; ++i)
        sums[i] += factor * solve_item(root, "derived", (size_t)i, "integral", 0);
}

/* ---- the thermal bridge: five interfaces between four materials ----------------------------- */

#define FLOW(place) "--integral", "q@" place "=dot(flux, normal)"

static void thermal_bridge(void **state) {
    (void)state;
    static const char *const levels[] = {"1", "2"};
    double q[MOST] = {0}, heat = 0;
    if (access(WEFT_BINARY_DIR "/weft-gmsh", X_OK) != 0)
        skip_test("weft-gmsh is not part of this build");
    put_mesh(GALLERY "thermal_bridge.geo", "Physical Curve(\"concrete_wood\") = {9};\n"
                                           "Physical Curve(\"concrete_insulation\") = {10};\n"
                                           "Physical Curve(\"wood_insulation\") = {11};\n"
                                           "Physical Curve(\"wood_aluminium\") = {12};\n"
                                           "Physical Curve(\"insulation_aluminium\") = {13:16};\n");
    for (int i = 0; i < 2; ++i) {
        json_t *root = POISSON(
            0, "--problem", GALLERY "thermal_bridge.yaml", "--mesh", mesh, "--refine", levels[i],
            "--integral", "heat@outside = u/0.06e3", FLOW("concrete_wood|concrete"),
            FLOW("concrete_wood|wood"), FLOW("concrete_insulation|concrete"),
            FLOW("concrete_insulation|insulation"), FLOW("wood_insulation|wood"),
            FLOW("wood_insulation|insulation"), FLOW("wood_aluminium|wood"),
            FLOW("wood_aluminium|aluminium"), FLOW("insulation_aluminium|insulation"),
            FLOW("insulation_aluminium|aluminium"), FLOW("boundary|concrete"),
            FLOW("boundary|aluminium"), "--derive", "flux = -kappa*grad(u)", DEVICE);
        heat = solve_item(root, "derived", 1, "integral", 0);
        add_integrals(root, i == 0 ? -1 : 2, 14, q);
        json_decref(root);
    }
    expect(q[0], heat, 1e-3 * heat); /* the problem's own integral: what enters leaves */
    for (int i = 2; i < 12; i += 2)  /* the sides of each interface */
        expect(q[i] + q[i + 1], 0, NEAR * heat);
    expect(-q[2] - q[4], heat,
           NEAR * heat); /* through the interfaces, by the sides of each material */
    expect(q[3] + q[5], heat, NEAR * heat);
    expect(-q[8] - q[10], heat, NEAR * heat);
    expect(q[9] + q[11], heat, NEAR * heat);
    expect(q[2] + q[4] + q[12], 0, NEAR * heat); /* out of concrete, wood, insulation, aluminium */
    expect(q[3] + q[6] + q[8], 0, NEAR * heat);
    expect(q[5] + q[7] + q[10], 0, NEAR * heat);
    expect(q[9] + q[11] + q[13], 0, NEAR * heat);
}

/* ---- the composite: a disc in a matrix ------------------------------------------------------ */

/* For a flux q without sources, int q_x over a material is the sum of x q.n over its boundary. With the effective conductivity K,
 * that is 10 (K - 1)/9 of the disc and 1 - (K - 1)/9 of the matrix, since the mean gradient is 1 and K = 10 g + (1 - g).
 * K  as of Perrins, McKenzie and McPhedran 1979, whose formula the problem has */
#define MOMENT "x*(fx*normal[0] + fy*normal[1])"

static void composite(void **state) {
    (void)state;
    static const char *const levels[] = {"0", "1"};
    const double f = 0.4, t = 11.0 / 9, f4 = f * f * f * f, f8 = f4 * f4;
    const double effective =
        1 + 2 * f / (t - f - 0.305827 * f4 * t / (t * t - 1.402958 * f8) - 0.013362 * f8 / t);
    const double disc = 10 * (effective - 1) / 9;
    double q[MOST] = {0};
    if (access(WEFT_BINARY_DIR "/weft-gmsh", X_OK) != 0)
        skip_test("weft-gmsh is not part of this build");
    put_mesh(GALLERY "homogenisation.geo", "Physical Curve(\"rim\") = {5:8};\n");
    for (int i = 0; i < 2; ++i) {
        json_t *root = SOLVE(
            0, GALLERY "homogenisation.ufl", "--problem", GALLERY "homogenisation.yaml", "--mesh",
            mesh, "--refine", levels[i], "--integral", "m@rim|disc=" MOMENT, "--integral",
            "m@rim|matrix=" MOMENT, "--integral", "m@boundary=" MOMENT, "--integral", "q@disc = fx",
            "--derive", "fx = k*(1 + grad(u)[0])", "--derive", "fy = k*grad(u)[1]", DEVICE);
        add_integrals(root, i == 0 ? -1 : 2, 5, q);
        json_decref(root);
    }
    expect(q[0], effective, NEAR * effective);
    expect(q[1], disc, NEAR * effective);
    expect(q[2], -disc, NEAR * effective);
    expect(q[3], effective, NEAR * effective);
    expect(q[4], disc, NEAR * effective);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(thermal_bridge),
                                       cmocka_unit_test(composite)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
