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

typedef struct shape {
    const char *name, *cell;
    const char *texts[3];
    double volume, surface;
    const char *probe;
} shape;

#define DISK                                                                                       \
    "Point(1) = {0, 0, 0, 0.7}; Point(2) = {1, 0, 0, 0.7}; Point(3) = {0, 1, 0, 0.7};\n"           \
    "Point(4) = {-1, 0, 0, 0.7}; Point(5) = {0, -1, 0, 0.7};\n"                                    \
    "Circle(1) = {2, 1, 3}; Circle(2) = {3, 1, 4}; Circle(3) = {4, 1, 5}; Circle(4) = {5, 1, "     \
    "2};\n"                                                                                        \
    "Curve Loop(1) = {1, 2, 3, 4}; Plane Surface(1) = {1}; Mesh.ElementOrder = 2;\n"
#define QUADS "Mesh.SubdivisionAlgorithm = 1; Mesh.RecombineAll = 1;\n"
#define PI 3.14159265358979323846
static const shape shapes[] = {
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

static char *make_mesh(const shape *shape) {
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
static void put(const shape *shape, int geometry, int degree, bool with) {
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
static void check_same(const shape *shape, const char *mesh, int geometry, int degree) {
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
static void check_sums(const shape *shape, const char *mesh, int geometry, int degree) {
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
    const shape *shape = *state;
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

int main(void) {
    enum { N = sizeof shapes / sizeof *shapes };
    struct CMUnitTest tests[N];
    for (int i = 0; i < N; ++i)
        tests[i] = (struct CMUnitTest){.name = shapes[i].name,
                                       .test_func = cells,
                                       .initial_state = (void *)(uintptr_t)&shapes[i]};
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
