/* labels: full
 * Conditions on meshes of the second order: forms with curved cells, and forms whose geometry is of degree 1, for which the cells
 * are straight. Conditions on the flux give what integrals over ds in the form give, and their loads are integrals of
 * derived quantities, all of which are over the facets of the equation's cells. */
#include "solve_run.h"
#include "test_support.h"

#include <unistd.h>

/* Residuals of 1e-13 of the load times condition numbers below 1e3. */
static const double SAME = 1e-9;
/* Sums of some hundred terms of about 1, which residuals of 1e-13 change. */
static const double SUM = 1e-11;
/* Measures of shapes that are quadratic by pieces differ from circles by h^4, of polygons by h^2. */
static const double ROUND = 1.2e-3;

static char *folder, *path;

static int make_folder(void **state) {
    (void)state;
    folder = test_folder_make();
    path = test_path(folder, "form.ufl");
    return 0;
}

static int remove_folder(void **state) {
    (void)state;
    free(path);
    test_folder_remove(&folder);
    return 0;
}

typedef struct body {
    const char *name, *cell;
    const char *texts[3];
    double volume, surface;
    const char *probe;
} body;

#define DISK                                                                                       \
    "Point(1) = {0, 0, 0, 0.7}; Point(2) = {1, 0, 0, 0.7}; Point(3) = {0, 1, 0, 0.7};\n"           \
    "Point(4) = {-1, 0, 0, 0.7}; Point(5) = {0, -1, 0, 0.7};\n"                                    \
    "Circle(1) = {2, 1, 3}; Circle(2) = {3, 1, 4}; Circle(3) = {4, 1, 5}; Circle(4) = {5, 1, "     \
    "2};\n"                                                                                        \
    "Curve Loop(1) = {1, 2, 3, 4}; Plane Surface(1) = {1}; Mesh.ElementOrder = 2;\n"
#define QUADS "Mesh.SubdivisionAlgorithm = 1; Mesh.RecombineAll = 1;\n"
#define PI 3.14159265358979323846
static const body shapes[] = {
    {"triangles", "triangle", {DISK, "", ""}, PI, 2 * PI, "0.1,0.2"},
    {"quadrilaterals", "quadrilateral", {DISK, QUADS, ""}, PI, 2 * PI, "0.1,0.2"},
    {"hexahedra",
     "hexahedron",
     {DISK, QUADS, "Extrude {0, 0, 1} { Surface{1}; Layers{1}; Recombine; }\n"},
     PI,
     4 * PI,
     "0.1,0.2,0.3"},
    {"tetrahedra",
     "tetrahedron",
     {"SetFactory(\"OpenCASCADE\"); Sphere(1) = {0, 0, 0, 1};\n"
      "Mesh.MeshSizeMax = 0.8; Mesh.ElementOrder = 2;\n",
      "", ""},
     4 * PI / 3,
     4 * PI,
     "0.1,0.2,0.3"},
};

static char *make_mesh(const body *shape) {
    char *geo = test_path(folder, "shape.geo"), *out = test_path(folder, "shape.msh"), text[1024];
    snprintf(text, sizeof text, "%s%s%s", shape->texts[0], shape->texts[1], shape->texts[2]);
    test_text_write(geo, text);
    test_run run = test_program(
        (const char *const[]){WEFT_BINARY_DIR "/weft-gmsh", "--save", out, geo, NULL}, NULL);
    if (run.exit_code != 0)
        fail_msg("%s", run.error);
    test_run_free(&run);
    free(geo);
    return out;
}

/* geometry  degree of the coordinate element; 0: the file has no mesh, and so degree 1
 * with      conditions are part of the form, by quadrature of degree 2 k + 2 */
static void put(const body *shape, int geometry, int degree, bool with) {
    char text[1024], mesh[128] = "";
    if (geometry)
        snprintf(mesh, sizeof mesh, "mesh = Mesh(VectorElement('Lagrange', %s, %d))\n", shape->cell,
                 geometry);
    snprintf(text, sizeof text,
             "%selement = FiniteElement('Lagrange', %s, %d)\n"
             "V = %s\n"
             "u, v = TrialFunction(V), TestFunction(V)\n"
             "x = SpatialCoordinate(%s)\n"
             "rim = ds(metadata={'quadrature_degree': %d})\n"
             "a = inner(grad(u), grad(v))*dx + u*v*dx%s\n"
             "L = v*dx%s\n",
             mesh, shape->cell, degree, geometry ? "FunctionSpace(mesh, element)" : "element",
             geometry ? "mesh" : shape->cell, 2 * degree + 2, with ? " + (2 + x[1])*u*v*rim" : "",
             with ? " + (1 + x[0])*v*rim" : "");
    test_text_write(path, text);
}

static double measure_of(const json_t *root, size_t i) {
    const json_t *entry = json_array_get(json_object_get(root, "derived"), i);
    return app_number(entry, "integral");
}

/* Fluxes and springs as conditions, and as terms of the form. */
static void check_same(const body *shape, const char *mesh, int geometry, int degree) {
    put(shape, geometry, degree, false);
    json_t *conditions =
        SOLVE(0, path, "--mesh", mesh, "--neumann", "boundary=1+x", "--robin", "boundary=2+y,0",
              "--probe", shape->probe, "--integral", "U=u", "--tolerance", "1e-13");
    put(shape, geometry, degree, true);
    json_t *form = SOLVE(0, path, "--mesh", mesh, "--probe", shape->probe, "--integral", "U=u",
                         "--tolerance", "1e-13");
    expect(app_probe_value(conditions, 0), app_probe_value(form, 0), SAME);
    expect(measure_of(conditions, 0), measure_of(form, 0), SAME);
    json_decref(conditions);
    json_decref(form);
}

/* Loads are the source and the flux, and what u takes from them. */
static void check_sums(const body *shape, const char *mesh, int geometry, int degree) {
    const bool is_curved = geometry == 2;
    put(shape, geometry, degree, false);
    json_t *a =
        SOLVE(0, path, "--mesh", mesh, "--neumann", "boundary=1", "--integral", "V=1", "--integral",
              "S@boundary=1", "--integral", "U=u", "--reactions", "--tolerance", "1e-13");
    const double volume = measure_of(a, 0), surface = measure_of(a, 1),
                 loads = app_number(a, "loads");
    print_message("%s, geometry %d, degree %d: %.15g + %.15g = %.15g, balance %.1e\n", shape->name,
                  geometry, degree, volume, surface, loads, app_number(a, "balance"));
    expect(loads, volume + surface, is_curved ? 1e-3 : SUM);
    expect(measure_of(a, 2), loads, SUM); /* of the test function 1 */
    expect(app_number(a, "balance"), 0, SUM);
    assert_true((fabs(volume / shape->volume - 1) < ROUND) == is_curved);
    assert_true((fabs(surface / shape->surface - 1) < ROUND) == is_curved);
    json_decref(a);
}

static void cells(void **state) {
    const body *shape = *state;
    if (access(WEFT_BINARY_DIR "/weft-gmsh", X_OK) != 0)
        skip_test("weft-gmsh is not part of this build");
    const bool is_plane = shape->volume == PI && shape->surface == 2 * PI;
    char *mesh = make_mesh(shape);
    check_sums(shape, mesh, 0, 1);
    check_sums(shape, mesh, 2, 1);
    check_same(shape, mesh, 2, is_plane ? 2 : 1);
    if (is_plane) {
        check_sums(shape, mesh, 2, 2);
        check_same(shape, mesh, 1, 1);
    }
    free(mesh);
}

/* A sector of a disk with curved cells, whose straight sides, at 30 and 120 degrees, are planes of symmetry: with
 * u = (a xi, b eta) in their directions sigma is constant, and u a function of curved cells of degree 2, which is found exactly. */
static void planes(void **state) {
    (void)state;
    if (access(WEFT_BINARY_DIR "/weft-gmsh", X_OK) != 0)
        skip_test("weft-gmsh is not part of this build");
    static const char *const cells[] = {"triangle", "quadrilateral"};
    static const char *const more[] = {"", QUADS};
    /* a = 1, b = 2: (a c^2 + b s^2) x + (a - b) c s y and so on, of c = cos(30), s = sin(30) */
    static const char exact[] = "1.25*x-sqrt(3)/4*y,-sqrt(3)/4*x+1.75*y";
    char *geo = test_path(folder, "sector.geo"), text[1024], arc[128];
    snprintf(arc, sizeof arc, "arc=%s", exact);
    for (int i = 0; i < 2; ++i) {
        snprintf(
            text, sizeof text,
            "c = Cos(Pi/6); s = Sin(Pi/6); Point(1) = {0, 0, 0, 0.5}; Point(2) = {c, s, 0, 0.5};\n"
            "Point(3) = {-s, c, 0, 0.5}; Line(1) = {1, 2}; Circle(2) = {2, 1, 3}; Line(3) = {3, "
            "1};\n"
            "Curve Loop(1) = {1, 2, 3}; Plane Surface(1) = {1}; Mesh.ElementOrder = 2;\n%s"
            "Physical Curve(\"planes\") = {1, 3}; Physical Curve(\"arc\") = {2};\n"
            "Physical Surface(\"sector\") = {1};\n",
            more[i]);
        test_text_write(geo, text);
        snprintf(
            text, sizeof text,
            "V = FunctionSpace(Mesh(VectorElement('Lagrange', %s, 2)), VectorElement('Lagrange', "
            "%s, 2))\n"
            "u, v = TrialFunction(V), TestFunction(V)\n"
            "a = inner(sym(grad(u)), grad(v))*dx\n",
            cells[i], cells[i]);
        test_text_write(path, text);
        json_t *a = SOLVE(0, path, "--mesh", geo, "--dirichlet", arc, "--symmetry", "planes",
                          "--exact", exact, "--reactions", "--tolerance", "1e-13");
        assert_true(app_number(a, "l2_error") < SAME);
        json_decref(a);
    }
    free(geo);
}

/* A disk that slides along its rim: a moment per area of which u = (-y, x) is the solution of -div(sigma) + u = f, and
 * another whose twist converges with the third power of h. */
static void rim(void **state) {
    (void)state;
    if (access(WEFT_BINARY_DIR "/weft-gmsh", X_OK) != 0)
        skip_test("weft-gmsh is not part of this build");
    static const char *const sizes[] = {"0.6", "0.3", "0.15"};
    double u[3];
    char *geo = test_path(folder, "rim.geo");
    test_text_write(geo, "DefineConstant[ h = 0.6 ];\n" DISK
                         "MeshSize {:} = h; Physical Curve(\"rim\") = {1 : 4};\n"
                         "Physical Surface(\"disk\") = {1};\n");
    test_text_write(path, "V = FunctionSpace(Mesh(VectorElement('Lagrange', triangle, 2)), "
                          "VectorElement('Lagrange', triangle, 2))\n"
                          "u, v, f = TrialFunction(V), TestFunction(V), Coefficient(V)\n"
                          "a = inner(sym(grad(u)), grad(v))*dx + inner(u, v)*dx\n"
                          "L = inner(f, v)*dx\n");
    for (int i = 0; i < 3; ++i) {
        json_t *a = SOLVE(0, path, "--mesh", geo, "--size", sizes[i], "--input",
                          "f=-y*(1-x^2-y^2)^2-y,x*(1-x^2-y^2)^2+x", "--symmetry", "rim", "--probe",
                          "0.9,0", "--tolerance", "1e-12");
        u[i] = solve_item(a, "probes", 0, "u", 1);
        json_decref(a);
    }
    const double order = log2((u[0] - u[1]) / (u[1] - u[2]));
    print_message("sliding along the rim: order %.2f\n", order);
    assert_true(order > 2.5);
    json_t *a = SOLVE(0, path, "--mesh", geo, "--input", "f=-y,x", "--symmetry", "rim", "--exact",
                      "-y,x", "--tolerance", "1e-13");
    assert_true(app_number(a, "l2_error") < SAME);
    json_decref(a);
    free(geo);
}

int main(void) {
    enum { N = sizeof shapes / sizeof *shapes };
    struct CMUnitTest tests[N + 2] = {cmocka_unit_test(planes), cmocka_unit_test(rim)};
    for (int i = 0; i < N; ++i)
        tests[2 + i] = (struct CMUnitTest){.name = shapes[i].name,
                                           .test_func = cells,
                                           .initial_state = (void *)(uintptr_t)&shapes[i]};
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
