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
    /* and sixteen in elements of degree 3, whose sources, interpolated, do not quite balance */
    char *form = test_path(folder, "form.ufl");
    test_text_write(form, "element = FiniteElement('Lagrange', triangle, 3)\n"
                          "u, v, f = TrialFunction(element), TestFunction(element), "
                          "Coefficient(element)\n"
                          "a = inner(grad(u), grad(v))*dx\n"
                          "L = f*v*dx\n");
    for (int i = 0; i < 2; ++i) {
        json_t *root = SOLVE(0, form, "--mesh", path, "--size", i ? "0.1" : "0.2", "--input",
                             "f=8*pi^2*" WAVE, "--exact", WAVE, "--periodic", "mesh");
        errors[i] = app_number(root, "l2_error");
        json_decref(root);
    }
    assert_true(errors[0] / errors[1] > 10);
    free(form);
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

/* Re z^4 + Im z^4 is a function of elements of degree 4, which is found exactly, on sides that are rotated into each
 * other, whatever the cells. */
static void rotated_sides_of_degree_4(void **state) {
    (void)state;
    if (access(WEFT_BINARY_DIR "/weft-gmsh", X_OK) != 0)
        skip_test("weft-gmsh is not part of this build");
    static const char *const cells[] = {"triangle", "quadrilateral"};
    static const char *const more[] = {"",
                                       "Mesh.RecombineAll = 1; Mesh.SubdivisionAlgorithm = 1;\n"};
    char *folder = test_folder_make(), *form = test_path(folder, "form.ufl"), text[1024];
    for (int i = 0; i < 2; ++i) {
        snprintf(
            text, sizeof text,
            "h = 0.6;\n"
            "Point(1) = {0, 0, 0, h}; Point(2) = {1, 0, 0, h}; Point(3) = {2, 0, 0, h};\n"
            "Point(4) = {0, 2, 0, h}; Point(5) = {0, 1, 0, h};\n"
            "Line(1) = {2, 3}; Circle(2) = {3, 1, 4}; Line(3) = {5, 4}; Circle(4) = {2, 1, 5};\n"
            "Curve Loop(1) = {1, 2, -3, -4}; Plane Surface(1) = {1};\n"
            "Periodic Curve{3} = {1} Rotate{{0, 0, 1}, {0, 0, 0}, Pi/2};\n"
            "Physical Curve(\"arcs\") = {2, 4}; Physical Surface(\"ring\") = {1};\n%s",
            more[i]);
        char *path = write_geo(folder, text);
        snprintf(text, sizeof text,
                 "element = FiniteElement('Lagrange', %s, 4)\n"
                 "u, v = TrialFunction(element), TestFunction(element)\n"
                 "a = inner(grad(u), grad(v))*dx\n",
                 cells[i]);
        test_text_write(form, text);
        json_t *root =
            SOLVE(0, form, "--mesh", path, "--periodic", "mesh", "--dirichlet", "arcs=" QUARTIC,
                  "--exact", QUARTIC, "--reactions", "--tolerance", "1e-13");
        assert_true(app_number(root, "l2_error") < 1e-8);
        assert_true(fabs(app_number(root, "balance")) < 1e-9);
        json_decref(root);
        free(path);
    }
    free(form);
    test_folder_remove(&folder);
}

/* Eight hexahedra in MSH 2, whose nodes have scattered numbers, with the sides x = 0 and 1 periodic. */
static int number(int i, int j, int k) {
    return (i + 3 * (j + 3 * k)) * 7 % 27 + 1;
}

static void write_quadrilateral(FILE *file, int element, int group, int axis, int side, int a,
                                int b) {
    static const int corners[4][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
    fprintf(file, "%d 3 2 %d %d", element, group, group);
    for (int v = 0; v < 4; ++v) {
        int at[3];
        at[axis] = side;
        at[(axis + 1) % 3] = a + corners[v][0];
        at[(axis + 2) % 3] = b + corners[v][1];
        fprintf(file, " %d", number(at[0], at[1], at[2]));
    }
    fprintf(file, "\n");
}

static char *write_hexahedra(const char *folder) {
    char *path = test_path(folder, "hexahedra.msh");
    FILE *file = fopen(path, "w");
    int element = 1;
    assert_non_null(file);
    fprintf(file, "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n4\n2 1 \"left\"\n"
                  "2 2 \"right\"\n2 3 \"walls\"\n3 4 \"box\"\n$EndPhysicalNames\n$Nodes\n27\n");
    for (int n = 0; n < 27; ++n)
        fprintf(file, "%d %g %g %g\n", number(n % 3, n / 3 % 3, n / 9), n % 3 / 2.0,
                n / 3 % 3 / 2.0, n / 9 / 2.0);
    fprintf(file, "$EndNodes\n$Elements\n32\n");
    for (int f = 0; f < 24; ++f) {
        const int axis = f / 8, side = f / 4 % 2 * 2;
        write_quadrilateral(file, element++,
                            axis > 0 ? 3
                            : side   ? 2
                                     : 1,
                            axis, side, f % 2, f / 2 % 2);
    }
    for (int c = 0; c < 8; ++c) {
        const int i = c % 2, j = c / 2 % 2, k = c / 4;
        fprintf(file, "%d 5 2 4 4 %d %d %d %d %d %d %d %d\n", element++, number(i, j, k),
                number(i + 1, j, k), number(i + 1, j + 1, k), number(i, j + 1, k),
                number(i, j, k + 1), number(i + 1, j, k + 1), number(i + 1, j + 1, k + 1),
                number(i, j + 1, k + 1));
    }
    fprintf(file, "$EndElements\n$Periodic\n1\n2 2 1\n9\n");
    for (int n = 0; n < 9; ++n)
        fprintf(file, "%d %d\n", number(2, n % 3, n / 3), number(0, n % 3, n / 3));
    fprintf(file, "$EndPeriodic\n");
    assert_int_equal(fclose(file), 0);
    return path;
}

/* u = x (1 - x) + y^2 + 2 y z, the same at x = 0 and 1, where 2 flows out in all per area; -lap(u) = 0. */
static void sides_in_space_of_degree_2(void **state) {
    (void)state;
    if (access(WEFT_BINARY_DIR "/weft-gmsh", X_OK) != 0)
        skip_test("weft-gmsh is not part of this build");
    static const char *const cells[] = {"tetrahedron", "hexahedron"};
    char *folder = test_folder_make(), *form = test_path(folder, "form.ufl"), text[1024];
    char *paths[] = {
        write_geo(folder, "SetFactory(\"OpenCASCADE\"); Box(1) = {0, 0, 0, 1, 1, 1};\n"
                          "Mesh.MeshSizeMax = 0.5;\n"
                          "Periodic Surface {2} = {1} Translate {1, 0, 0};\n"
                          "Physical Surface(\"left\") = {1};\n"
                          "Physical Surface(\"walls\") = {3 : 6}; Physical Volume(\"box\") = {1};"),
        write_hexahedra(folder)};
    for (int i = 0; i < 2; ++i) {
        snprintf(text, sizeof text,
                 "element = FiniteElement('Lagrange', %s, 2)\n"
                 "u, v = TrialFunction(element), TestFunction(element)\n"
                 "a = inner(grad(u), grad(v))*dx\n",
                 cells[i]);
        test_text_write(form, text);
#define SADDLE "x*(1-x)+y^2+2*y*z"
        json_t *root = SOLVE(0, form, "--mesh", paths[i], "--periodic", "mesh", "--neumann",
                             "left=-2", "--dirichlet", "walls=" SADDLE, "--exact", SADDLE,
                             "--reactions", "--tolerance", "1e-13");
        assert_true(app_number(root, "l2_error") < 1e-9);
        assert_true(fabs(app_number(root, "balance")) < 1e-9);
        json_decref(root);
        free(paths[i]);
    }
    free(form);
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

/* A body under the uniform tension 1, which nothing holds: with sigma = sym(grad u) + div(u) I, in d dimensions u = (a x, b y, b z)
 * about the centre, where b = -1/(d + 1) and a = 1 + b. */
static void floating_of_any_degree(void **state) {
    (void)state;
    static const struct {
        const char *cell, *mesh, *right, *left, *exact;
        int degree, n_modes;
    } cases[] = {
        {"triangle", "square:3", "right=1,0", "left=-1,0", "(x-0.5)*2/3,(0.5-y)/3", 2, 3},
        {"quadrilateral", "quads:2", "right=1,0", "left=-1,0", "(x-0.5)*2/3,(0.5-y)/3", 5, 3},
        {"tetrahedron", "cube:2", "right=1,0,0", "left=-1,0,0", "(x-0.5)*3/4,(0.5-y)/4,(0.5-z)/4",
         2, 6},
        {"hexahedron", "hexes:2", "right=1,0,0", "left=-1,0,0", "(x-0.5)*3/4,(0.5-y)/4,(0.5-z)/4",
         1, 6},
    };
    char *folder = test_folder_make(), *form = test_path(folder, "form.ufl"), text[512];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        snprintf(text, sizeof text,
                 "V = VectorElement('Lagrange', %s, %d)\n"
                 "u, v = TrialFunction(V), TestFunction(V)\n"
                 "a = inner(sym(grad(u)), grad(v))*dx + div(u)*div(v)*dx\n",
                 cases[i].cell, cases[i].degree);
        test_text_write(form, text);
        json_t *root =
            SOLVE(0, form, "--mesh", cases[i].mesh, "--neumann", cases[i].right, "--neumann",
                  cases[i].left, "--exact", cases[i].exact, "--tolerance", "1e-12");
        expect(app_number(root, "free_modes"), cases[i].n_modes, 0);
        assert_true(app_number(root, "l2_error") < 1e-9);
        json_decref(root);
    }
    free(form);
    test_folder_remove(&folder);
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
        cmocka_unit_test(rotated_sides_of_degree_4),
        cmocka_unit_test(sides_in_space_of_degree_2),
        cmocka_unit_test(groups_of_points),
        cmocka_unit_test(bodies_that_do_not_touch),
        cmocka_unit_test(storages_and_preconditioners),
        cmocka_unit_test(point_loads),
        cmocka_unit_test(floating_as_supported),
        cmocka_unit_test(floating_of_any_degree),
        cmocka_unit_test(null_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
