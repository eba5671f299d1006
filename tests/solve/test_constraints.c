/* labels: full */
/* Constraints of the programs: periodic cells converge at second order, reactions of concentrated loads
 * balance them, and what floats is what it is with supports that carry nothing. */
#include "solve_run.h"

#include <unistd.h>

/* u is periodic, but not symmetric in any side. */
#define WAVE "sin(2*pi*(x+0.1))*cos(2*pi*(y+0.2))"
static void periodic_cells(void **state) {
    (void)state;
    static const char *const meshes[] = {"square:16", "square:32"};
    json_t *roots[2];
    for (int i = 0; i < 2; ++i)
        roots[i] = POISSON(0, "--mesh", meshes[i], "--source", "8*pi^2*" WAVE, "--exact", WAVE,
                           "--periodic", "left=right", "--periodic", "bottom=top");
    assert_true(poisson_order(roots[0], roots[1], "l2_error") > 1.9);
    assert_true(poisson_order(roots[0], roots[1], "h1_error") > 0.95);
    expect(app_number(roots[0], "free_modes"), 1, 0);
    expect(app_number(roots[0], "dependent_dofs"), 33, 0);
    json_decref(roots[0]);
    json_decref(roots[1]);
}

/* Sides that Gmsh has meshed alike because of Periodic; half the size divides the error by four. */
static void periodic_curves_of_gmsh(void **state) {
    (void)state;
    if (access(WEFT_BINARY_DIR "/weft-gmsh", X_OK) != 0)
        skip_test("weft-gmsh is not part of this build");
    char *folder = test_folder_make(), path[4096];
    double errors[2];
    snprintf(path, sizeof path, "%s/cell.geo", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("DefineConstant[ h = 0.1 ];\n"
          "Point(1) = {0, 0, 0, h}; Point(2) = {1, 0, 0, h}; Point(3) = {1, 1, 0, h};\n"
          "Point(4) = {0, 1, 0, h}; Line(1) = {1, 2}; Line(2) = {2, 3}; Line(3) = {3, 4};\n"
          "Line(4) = {4, 1}; Curve Loop(1) = {1, 2, 3, 4}; Plane Surface(1) = {1};\n"
          "Periodic Curve {2} = {-4} Translate {1, 0, 0};\n"
          "Periodic Curve {3} = {-1} Translate {0, 1, 0};\n"
          "Physical Curve(\"left\") = {4}; Physical Curve(\"right\") = {2};\n"
          "Physical Curve(\"bottom\") = {1}; Physical Curve(\"top\") = {3};\n"
          "Physical Surface(\"cell\") = {1};\n",
          file);
    assert_int_equal(fclose(file), 0);
    for (int i = 0; i < 2; ++i) {
        json_t *root =
            POISSON(0, "--mesh", path, "--size", i ? "0.04" : "0.08", "--source", "8*pi^2*" WAVE,
                    "--exact", WAVE, "--periodic", "left=right", "--periodic", "bottom=top");
        errors[i] = app_number(root, "l2_error");
        json_decref(root);
    }
    assert_true(errors[0] / errors[1] > 3);
    test_folder_remove(&folder);
}

/* The same on other storages and with other preconditioners. */
static char *write_geo(const char *folder, const char *text) {
    char *path = test_path(folder, "mesh.geo");
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
    return path;
}

/* A quarter of a ring whose sides Periodic turns into each other: Re z^4 + Im z^4 is the same on both, but its normal
 * derivative there is not 0. The file, its MSH file and its result file say the same. */
static void sides_of_the_mesh_file(void **state) {
    (void)state;
    if (access(WEFT_BINARY_DIR "/weft-gmsh", X_OK) != 0)
        skip_test("weft-gmsh is not part of this build");
    char *folder = test_folder_make();
    char *path = write_geo(
        folder,
        "DefineConstant[ h = 0.1 ];\n"
        "Point(1) = {0, 0, 0, h}; Point(2) = {1, 0, 0, h}; Point(3) = {2, 0, 0, h};\n"
        "Point(4) = {0, 2, 0, h}; Point(5) = {0, 1, 0, h};\n"
        "Line(1) = {2, 3}; Circle(2) = {3, 1, 4}; Line(3) = {5, 4}; Circle(4) = {2, 1, 5};\n"
        "Curve Loop(1) = {1, 2, -3, -4}; Plane Surface(1) = {1};\n"
        "Periodic Curve{3} = {1} Rotate{{0, 0, 1}, {0, 0, 0}, Pi/2};\n"
        "Physical Curve(\"arcs\") = {2, 4}; Physical Point(\"ends\") = {3, 4};\n"
        "Physical Surface(\"ring\") = {1};\n");
    char *saved = test_path(folder, "saved.vtkhdf");
#define QUARTIC "x^4-6*x^2*y^2+y^4+4*x*y*(x^2-y^2)"
    json_t *roots[3];
    for (int i = 0; i < 3; ++i)
        roots[i] =
            POISSON(0, "--mesh", i < 2 ? path : saved, "--refine", i == 1 ? "2" : "1", "--source",
                    "0", "--periodic", "mesh", "--dirichlet", "arcs=" QUARTIC, "--exact", QUARTIC,
                    i ? "--quiet" : "--output", i ? "--probe=ends" : saved, "--probe", "1.5,0");
    assert_true(poisson_order(roots[0], roots[1], "l2_error") > 1.8);
    const size_t n = json_array_size(json_object_get(roots[1], "probes"));
    expect((double)n, 3, 0);
    expect(app_number(roots[2], "l2_error"), app_number(roots[1], "l2_error"), 1e-7);
    for (size_t i = 0; i < 2; ++i)
        expect(app_probe_value(roots[1], i), 16, 1e-7);
    for (int i = 0; i < 3; ++i)
        json_decref(roots[i]);
    free(path);
    free(saved);
    test_folder_remove(&folder);
}

/* Groups of points are what their coordinates are. */
static void groups_of_points(void **state) {
    (void)state;
    if (access(WEFT_BINARY_DIR "/weft-gmsh", X_OK) != 0)
        skip_test("weft-gmsh is not part of this build");
    char *folder = test_folder_make();
    char *path = write_geo(
        folder, "h = 0.2;\n"
                "Point(1) = {0, 0, 0, h}; Point(2) = {1, 0, 0, h}; Point(3) = {1, 1, 0, h};\n"
                "Point(4) = {0, 1, 0, h}; Point(5) = {0.4, 0.3, 0, h};\n"
                "Line(1) = {1, 2}; Line(2) = {2, 3}; Line(3) = {3, 4}; Line(4) = {4, 1};\n"
                "Curve Loop(1) = {1, 2, 3, 4}; Plane Surface(1) = {1}; Point{5} In Surface{1};\n"
                "Physical Point(\"well\") = {5}; Physical Point(\"a, b\") = {2, 3};\n"
                "Physical Curve(\"left\") = {4}; Physical Surface(\"square\") = {1};\n");
    json_t *by_group = POISSON(0, "--mesh", path, "--source", "0", "--dirichlet", "left=0",
                               "--point-load", "well=2", "--point-value", "\"a, b\"=1",
                               "--tolerance", "1e-12", "--probe", "well", "--probe", "\"a, b\"");
    json_t *by_place = POISSON(0, "--mesh", path, "--source", "0", "--dirichlet", "left=0",
                               "--point-load", "0.4,0.3=2", "--dirichlet", "a, b=1", "--tolerance",
                               "1e-12", "--probe", "0.4,0.3", "--probe", "1,0", "--reactions");
    expect(app_probe_value(by_group, 0), app_probe_value(by_place, 0), 1e-8);
    expect(app_probe_value(by_group, 1), 1, 1e-8);
    expect(app_probe_value(by_group, 2), 1, 1e-8);
    expect(solve_item(by_place, "reactions", 0, "reaction", 0) +
               solve_item(by_place, "reactions", 1, "reaction", 0),
           -2, 1e-8);
    json_decref(by_group);
    json_decref(by_place);
    free(path);
    test_folder_remove(&folder);
}

/* Of two plates, one is held on the left and the other one floats: it is pulled as much to both sides, and has no mean. A
 * bar under traction 1 on its ends: e_xx = (1 - nu^2)/E with free sides, the middle of the side of a plate moves by half. */
static void bodies_that_do_not_touch(void **state) {
    (void)state;
    if (access(WEFT_BINARY_DIR "/weft-gmsh", X_OK) != 0)
        skip_test("weft-gmsh is not part of this build");
    char *folder = test_folder_make();
    char *path = write_geo(
        folder, "h = 0.25;\n"
                "Point(1) = {0, 0, 0, h}; Point(2) = {1, 0, 0, h}; Point(3) = {1, 1, 0, h};\n"
                "Point(4) = {0, 1, 0, h}; Point(5) = {2, 0, 0, h}; Point(6) = {3, 0, 0, h};\n"
                "Point(7) = {3, 1, 0, h}; Point(8) = {2, 1, 0, h};\n"
                "Line(1) = {1, 2}; Line(2) = {2, 3}; Line(3) = {3, 4}; Line(4) = {4, 1};\n"
                "Line(5) = {5, 6}; Line(6) = {6, 7}; Line(7) = {7, 8}; Line(8) = {8, 5};\n"
                "Curve Loop(1) = {1, 2, 3, 4}; Plane Surface(1) = {1};\n"
                "Curve Loop(2) = {5, 6, 7, 8}; Plane Surface(2) = {2};\n"
                "Physical Curve(\"held\") = {4}; Physical Curve(\"from\") = {8};\n"
                "Physical Curve(\"to\") = {6}; Physical Surface(\"plates\") = {1, 2};\n");
    json_t *root = SOLVE(0, "elasticity.weft", "--mesh", path, "--dirichlet", "held=0,0",
                         "--neumann", "from=-1,0", "--neumann", "to=1,0", "--tolerance", "1e-12",
                         "--probe", "2,0.5", "--probe", "3,0.5", "--probe", "0.7,0.3");
    expect(app_number(root, "free_modes"), 3, 0);
    expect(solve_item(root, "probes", 0, "u", 0), -0.455, 1e-8);
    expect(solve_item(root, "probes", 1, "u", 0), 0.455, 1e-8);
    expect(solve_item(root, "probes", 2, "u", 0), 0, 1e-8);
    json_decref(root);
    root = SOLVE(0, "elasticity.weft", "--mesh", path, "--dirichlet", "held=0,0", "--dirichlet",
                 "from=0,0", "--neumann", "to=1,0", "--probe", "0.7,0.3");
    assert_null(json_object_get(root, "free_modes")); /* both are held */
    expect(solve_item(root, "probes", 0, "u", 0), 0, 1e-8);
    json_decref(root);
    free(path);
    test_folder_remove(&folder);
}

static void storages_and_preconditioners(void **state) {
    (void)state;
    double first = 0;
    static const char *const choices[][2] = {{"--preconditioner", "jacobi"},
                                             {"--preconditioner", "aggregation"},
                                             {"--preconditioner", "multigrid"},
                                             {"--assembly", "matrix-free"},
                                             {"--method", "minres"}};
    for (size_t i = 0; i < sizeof choices / sizeof *choices; ++i) {
        json_t *root = POISSON(0, "--mesh", "square:16", "--source", "x*exp(y)", "--dirichlet",
                               "bottom=0", "--periodic", "left=right", "--tie", "top",
                               "--tolerance", "1e-11", choices[i][0], choices[i][1]);
        if (i == 0)
            first = app_number(root, "integral_u");
        expect(app_number(root, "integral_u"), first, 1e-9 * first);
        json_decref(root);
    }
}

static void point_loads(void **state) {
    (void)state;
    json_t *root = SOLVE(0, "elasticity.weft", "--mesh", "cube:4", "--dirichlet", "bottom=0,0,0",
                         "--point-load", "0.3,0.4,1=1,2,-3", "--tolerance", "0", "--reactions");
    static const double load[] = {1, 2, -3};
    for (size_t k = 0; k < 3; ++k)
        expect(solve_item(root, "reactions", 0, "reaction", k), -load[k], 1e-11);
    json_decref(root);
    /* a small load on a solid under large deformations */
    root = SOLVE(0, "kirchhoff.weft", "--nonlinear", "--mesh", "square:6", "--dirichlet",
                 "left=0,0", "--point-load", "1,0.5=0,-1e-6", "--reactions");
    expect(solve_item(root, "reactions", 0, "reaction", 1), 1e-6, 1e-12);
    json_decref(root);
}

/* Three supports that hold a square in the plane and carry nothing leave the strains alone. */
static void floating_as_supported(void **state) {
    (void)state;
    double energies[2];
    for (int i = 0; i < 2; ++i) {
        const char *arguments[APP_ARGUMENTS_MAX] = {"elasticity.weft", "--mesh",        "square:8",
                                                    "--neumann",       "left=-1,y-0.5", "--neumann",
                                                    "right=1,y-0.5",   "--tolerance",   "1e-12"};
        const char *const supports[] = {"--point-value", "0.21,0.33=0,0", "--point-value",
                                        "0.8,0.4=free,0"};
        for (int k = 0; i == 1 && k < 4; ++k)
            arguments[9 + k] = supports[k];
        json_t *root = app_solve("solve", 0, arguments);
        energies[i] = app_number(root, "energy");
        expect(app_number(root, "free_modes"), i ? 0 : 3, 0);
        json_decref(root);
    }
    expect(energies[1], energies[0], 1e-9 * energies[0]);
}

/* The null device plans them. */
static void null_device(void **state) {
    (void)state;
    json_decref(POISSON(0, "--mesh", "square:4", "--device", "null", "--periodic", "left=right",
                        "--derive", "f=grad(u)", "--reactions"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(periodic_cells),
        cmocka_unit_test(periodic_curves_of_gmsh),
        cmocka_unit_test(sides_of_the_mesh_file),
        cmocka_unit_test(groups_of_points),
        cmocka_unit_test(bodies_that_do_not_touch),
        cmocka_unit_test(storages_and_preconditioners),
        cmocka_unit_test(point_loads),
        cmocka_unit_test(floating_as_supported),
        cmocka_unit_test(null_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
