/* labels: full
 * Conditions on the flux for elements of any degree on all cells: manufactured solutions with the orders k + 1 in L2 and k in
 * H1 of elements of degree k, and solutions in the space, which are found exactly, with loads, exchange and reactions that
 * are integrals of polynomials. */
#include "solve_run.h"

#include <unistd.h>

/* Observed orders on meshes of a few cells; one less would be off by 1. */
static const double NEAR = 0.3;
/* Residuals of 1e-13 of the load times condition numbers below 1e4. */
static const double EXACT = 1e-8;
/* Sums of some hundred terms of about 1, which residuals of 1e-13 change. */
static const double SUM = 1e-12;

static char file[64];

static int name_file(void **state) {
    (void)state;
    snprintf(file, sizeof file, "/tmp/weft-conditions-%ld.ufl", (long)getpid());
    return 0;
}

static int remove_file(void **state) {
    (void)state;
    return unlink(file);
}

static void put(const char *cell, int degree, const char *more) {
    FILE *stream = fopen(file, "w");
    assert_non_null(stream);
    fprintf(stream, "element = FiniteElement('Lagrange', %s, %d)\n%s", cell, degree, more);
    assert_int_equal(fclose(stream), 0);
}

static const char poisson[] = "u, v, f = TrialFunction(element), TestFunction(element), "
                              "Coefficient(element)\n"
                              "a = inner(grad(u), grad(v))*dx\n"
                              "L = f*v*dx\n";

static const char plate[] = "V = VectorElement(element)\n"
                            "u, v, f = TrialFunction(V), TestFunction(V), Coefficient(V)\n"
                            "a = inner(sym(grad(u)), grad(v))*dx\n"
                            "L = inner(f, v)*dx\n";

typedef struct manufactured {
    const char *name, *cell;
    int degree;
    const char *meshes[2];
    const char *arguments[20];
} manufactured;

/* -u'' = f; -lap(s) = 2 s, s = sin(x) cos(y); -lap(e) = e, e = s exp(z) */
#define IN_1D                                                                                      \
    {                                                                                              \
        "--input", "f=sin(x)", "--neumann", "left=-cos(x)", "--robin",                             \
            "right=2+x,cos(x)+(2+x)*sin(x)", "--exact", "sin(x)"                                   \
    }
#define IN_2D                                                                                      \
    {                                                                                              \
        "--input", "f=2*sin(x)*cos(y)", "--dirichlet", "left=sin(x)*cos(y)", "--robin",            \
            "bottom=1+x^2,sin(x)*sin(y)+(1+x^2)*sin(x)*cos(y)", "--neumann",                       \
            "right=cos(x)*cos(y)", "--neumann", "top=-sin(x)*sin(y)", "--exact", "sin(x)*cos(y)"   \
    }
#define IN_3D                                                                                      \
    {                                                                                              \
        "--input", "f=sin(x)*cos(y)*exp(z)", "--dirichlet", "left=sin(x)*cos(y)*exp(z)",           \
            "--robin", "top=1+x*y,sin(x)*cos(y)*exp(z)*(2+x*y)", "--robin",                        \
            "bottom=1+x*y,sin(x)*cos(y)*exp(z)*x*y", "--neumann", "right=cos(x)*cos(y)*exp(z)",    \
            "--neumann", "back=-sin(x)*sin(y)*exp(z)", "--exact", "sin(x)*cos(y)*exp(z)"           \
    }
static const manufactured cases[] = {
    {"P2 intervals", "interval", 2, {"interval:4", "interval:8"}, IN_1D},
    {"P2 triangles", "triangle", 2, {"square:4", "square:8"}, IN_2D},
    {"P3 triangles", "triangle", 3, {"square:3", "square:6"}, IN_2D},
    {"Q2 quadrilaterals", "quadrilateral", 2, {"quads:4", "quads:8"}, IN_2D},
    {"P2 tetrahedra", "tetrahedron", 2, {"cube:2", "cube:4"}, IN_3D},
    {"Q1 hexahedra", "hexahedron", 1, {"hexes:3", "hexes:6"}, IN_3D},
    {"Q2 hexahedra", "hexahedron", 2, {"hexes:2", "hexes:4"}, IN_3D},
};

/* Reactions, loads and exchange sum to zero, for each of n components. */
static void check_balance(const json_t *root, size_t n) {
    for (size_t k = 0; k < n; ++k)
        assert_true(fabs(app_component(root, "balance", k)) <= SUM);
}

static void orders(void **state) {
    const manufactured *c = *state;
    const char *arguments[32] = {file, "--tolerance", "1e-13", "--reactions", "--mesh"};
    json_t *results[2];
    put(c->cell, c->degree, poisson);
    for (int i = 0; c->arguments[i]; ++i)
        arguments[6 + i] = c->arguments[i];
    for (int i = 0; i < 2; ++i) {
        arguments[5] = c->meshes[i];
        results[i] = app_solve("solve", 0, arguments);
        check_balance(results[i], 1);
    }
    const double l2 = poisson_order(results[0], results[1], "l2_error"),
                 h1 = poisson_order(results[0], results[1], "h1_error");
    print_message("%s: L2 %.3f, H1 %.3f\n", c->name, l2, h1);
    expect(l2, c->degree + 1, NEAR);
    expect(h1, c->degree, NEAR);
    for (int i = 0; i < 2; ++i)
        json_decref(results[i]);
}

/* ---- solutions in the space ------------------------------------------------------------------ */

/* u = x^2 + y z, -lap(u) = -2: du/dn = 2 at x = 1; z at y = 1, integral 1/2. At z = 1: du/dn + (1 + x) u = g, of which
 * du/dn = y leaves the exchange 1/2. At x = 0: du/dn = 0, which its reaction then is; everything else is natural but for
 * y = 0, du/dn = -z, and z = 0, du/dn = -y. */
static void exact_in_3d(void **state) {
    const char *cell = *state;
    const bool is_simplex = strcmp(cell, "tetrahedron") == 0;
    put(cell, 2, poisson);
    json_t *a =
        SOLVE(0, file, "--mesh", is_simplex ? "cube:2" : "hexes:2", "--input", "f=-2",
              "--dirichlet", "left=y*z", "--neumann", "right=2", "--neumann", "back=z", "--neumann",
              "front=-z", "--neumann", "bottom=-y", "--robin", "top=1+x,y+(1+x)*(x^2+y)", "--exact",
              "x^2+y*z", "--reactions", "--tolerance", "1e-13");
    assert_true(app_number(a, "l2_error") < EXACT);
    check_balance(a, 1);
    expect(app_component(a, "loads", 0), -2 + 2 + 0.5 - 0.5 - 0.5, SUM);
    expect(solve_item(a, "exchange", 0, "exchange", 0), 0.5, 1e-10);
    expect(solve_item(a, "reactions", 0, "reaction", 0), 0, 1e-10);
    json_decref(a);
}

/* The stretched plate of u = (x^2, x y) with lambda = 0, mu = 1/2: sigma = [2 x, y/2; y/2, x], so that the forces are
 * -div sigma = (-2.5, 0). Right: sigma n = (2, y/2); top: (1/2, x), of which the first is given by a spring of stiffness 3. */
static void components(void **state) {
    const char *cell = *state;
    put(cell, 2, plate);
    json_t *a =
        SOLVE(0, file, "--mesh", strcmp(cell, "triangle") == 0 ? "square:3" : "quads:3", "--input",
              "f=-2.5,0", "--dirichlet", "left=0,0", "--dirichlet", "bottom=x^2,0", "--neumann",
              "right=2,y/2", "--neumann", "top=free,x", "--robin", "top=3,1/2+3*x^2,free",
              "--exact", "x^2,x*y", "--reactions", "--tolerance", "1e-13");
    assert_true(app_number(a, "l2_error") < EXACT);
    check_balance(a, 2);
    expect(app_component(a, "loads", 0), -2.5 + 2, SUM);
    expect(app_component(a, "loads", 1), 0.25 + 0.5, SUM);
    expect(solve_item(a, "exchange", 0, "exchange", 0), 0.5, 1e-10);
    json_decref(a);
}

/* ---- mixed spaces ---------------------------------------------------------------------------- */

static void put_mixed(const char *cell, const char *more) {
    FILE *stream = fopen(file, "w");
    assert_non_null(stream);
    fprintf(stream,
            "V, Q = VectorElement('P', %s, 2), FiniteElement('P', %s, 1)\n"
            "W = V*Q\n%s",
            cell, cell, more);
    assert_int_equal(fclose(stream), 0);
}

static const char stokes[] = "(u, p), (v, q), f = TrialFunctions(W), TestFunctions(W), "
                             "Coefficient(V)\n"
                             "a = inner(grad(u), grad(v))*dx - p*div(v)*dx - q*div(u)*dx\n"
                             "L = inner(f, v)*dx\n";

/* Taylor and Hood's: u = (sin(x) cos(y), -cos(x) sin(y)), p = x y; the flux is du/dn - p n. */
static void taylor_hood(void **state) {
    (void)state;
    static const char *const meshes[] = {"square:4", "square:8"};
    json_t *a[2];
    put_mixed("triangle", stokes);
    for (int i = 0; i < 2; ++i) {
        a[i] =
            SOLVE(0, file, "--mesh", meshes[i], "--input", "f=2*sin(x)*cos(y)+y,-2*cos(x)*sin(y)+x",
                  "--dirichlet", "left=sin(x)*cos(y),-cos(x)*sin(y),free", "--dirichlet",
                  "bottom=sin(x)*cos(y),-cos(x)*sin(y),free", "--neumann",
                  "right=cos(x)*cos(y)-x*y,sin(x)*sin(y),free", "--neumann",
                  "top=-sin(x)*sin(y),free,free", "--robin",
                  "top=1+x,free,-cos(x)*cos(y)-x*y-(1+x)*cos(x)*sin(y),free", "--exact",
                  "sin(x)*cos(y),-cos(x)*sin(y),x*y", "--reactions", "--tolerance", "1e-13");
        check_balance(a[i], 3);
    }
    for (size_t k = 0; k < 3; ++k)
        expect(log2(app_component(a[0], "l2_errors", k) / app_component(a[1], "l2_errors", k)),
               k < 2 ? 3 : 2, NEAR);
    for (int i = 0; i < 2; ++i)
        json_decref(a[i]);
}

/* u = (y^2, x^2), p = 2 x + 2 y: right: du/dn - p n = (-2 - 2 y, 2), top: (2, -2 x - 2), in all 1 of what is pressed at
 * left and bottom. */
static void exact_mixed(void **state) {
    const char *cell = *state;
    put_mixed(cell, stokes);
    json_t *a = SOLVE(0, file, "--mesh", strcmp(cell, "triangle") == 0 ? "square:3" : "quads:3",
                      "--input", "f=0,0", "--dirichlet", "left=y^2,0,free", "--dirichlet",
                      "bottom=0,x^2,free", "--neumann", "right=-2-2*y,2,free", "--robin",
                      "top=1+y,2+2*y^2,free,free", "--robin", "top=3,free,3*x^2-2*x-2,free",
                      "--exact", "y^2,x^2,2*x+2*y", "--reactions", "--tolerance", "1e-13");
    for (size_t k = 0; k < 3; ++k)
        assert_true(app_component(a, "l2_errors", k) < 1e-7);
    expect(app_component(a, "loads", 0), -3, SUM);
    expect(app_component(a, "loads", 1), 2, SUM);
    expect(solve_item(a, "exchange", 0, "exchange", 0), 2, 1e-7);
    expect(solve_item(a, "exchange", 1, "exchange", 1), -3, 1e-7);
    json_decref(a);
}

/* Newton's method: flow between plates, u = (y (1 - y), 0), p = (1 - 2 x)/20 with viscosity 1/20. The flux is (-p, 0) =
 * (1/20, 0) at the outlet, and (-1/20, 0) at y = 0. */
static void newton(void **state) {
    (void)state;
    put_mixed("quadrilateral",
              "w, nu = Coefficient(W), Constant(quadrilateral)\n"
              "(u, p), (v, q) = split(w), TestFunctions(W)\n"
              "F = nu*inner(grad(u), grad(v))*dx + inner(grad(u)*u, v)*dx - p*div(v)*dx - "
              "q*div(u)*dx\n"
              "unknown = w\n");
    json_t *a = SOLVE(0, file, "--mesh", "quads:3", "--nonlinear", "--input", "nu=1/20",
                      "--dirichlet", "left=y*(1 - y),0,free", "--dirichlet", "top=0,0,free",
                      "--dirichlet", "bottom=free,0,free", "--robin",
                      "bottom=1/20,-1/20+y*(1-y)/20,free,free", "--neumann", "right=1/20,0,free",
                      "--exact", "y*(1 - y),0*x,(1 - 2*x)/20", "--tolerance", "1e-11");
    for (size_t k = 0; k < 3; ++k)
        assert_true(app_component(a, "l2_errors", k) < 1e-7);
    json_decref(a);
}

/* In time: u = (t x, -t y), p = 0, of which every implicit step is exact: f = (x, -y) and the flux t (1, 0) at x = 1, where
 * alpha is t; at the top (0, -t). */
static void in_time(void **state) {
    (void)state;
    put_mixed("triangle",
              "(u, p), (v, q), f = TrialFunctions(W), TestFunctions(W), Coefficient(V)\n"
              "a = inner(grad(u), grad(v))*dx - p*div(v)*dx - q*div(u)*dx\n"
              "L = inner(f, v)*dx\n"
              "m = inner(u, v)*dx\n");
    json_t *a =
        SOLVE(0, file, "--mesh", "square:3", "--input", "f=x,-y", "--dirichlet", "left=0,-t*y,free",
              "--dirichlet", "bottom=t*x,0,free", "--robin", "right=t,t+t*t,free,free", "--neumann",
              "right=free,0,free", "--neumann", "top=0,-t,free", "--time", "0.1,0.5", "--probe",
              "0.8,0.7", "--tolerance", "1e-12");
    expect(solve_item(a, "probes", 0, "u", 0), 0.5 * 0.8, 1e-7);
    expect(solve_item(a, "probes", 0, "u", 1), -0.5 * 0.7, 1e-7);
    expect(solve_item(a, "probes", 0, "u", 2), 0, 1e-7);
    json_decref(a);
}

/* ---- constraints ----------------------------------------------------------------------------- */

static const char *mesh_of(const char *cell, bool is_fine) {
    return strcmp(cell, "triangle") == 0 ? is_fine ? "square:12" : "square:6"
           : is_fine                     ? "quads:8"
                                         : "quads:4";
}

/* -lap(u) = f and u = sin(2 pi x) cos(2 pi y), of mean zero, which nothing but the periodic sides holds. */
static void periodic(void **state) {
    const char *cell = *state;
    json_t *a[2];
    put(cell, 3, poisson);
    for (int i = 0; i < 2; ++i) {
        a[i] = SOLVE(0, file, "--mesh", mesh_of(cell, i == 1), "--input",
                     "f=8*pi^2*sin(2*pi*x)*cos(2*pi*y)", "--periodic", "left=right", "--periodic",
                     "bottom=top", "--exact", "sin(2*pi*x)*cos(2*pi*y)", "--tolerance", "1e-12");
        assert_int_equal(json_integer_value(json_object_get(a[i], "free_modes")), 1);
    }
    expect(poisson_order(a[0], a[1], "l2_error"), 4, NEAR);
    for (int i = 0; i < 2; ++i)
        json_decref(a[i]);
}

/* Flow between plates y = 0 and 1 that repeats along x, driven by a force of 1: u = (y (1 - y)/2, 0), to which nothing but a
 * value at a point adds a pressure, of 2.5. The plates hold half of the force each. */
static void periodic_flow(void **state) {
    const char *cell = *state;
    for (int i = 0; i < 2; ++i) {
        put_mixed(cell, stokes);
        json_t *a = SOLVE(
            0, file, "--mesh", mesh_of(cell, false), "--input", "f=1,0", "--dirichlet",
            "top=0,0,free", "--dirichlet", "bottom=0,0,free", "--periodic", "left=right", "--exact",
            i ? "y*(1-y)/2,0*x,2.5+0*x" : "y*(1-y)/2,0*x,0*x", "--reactions", "--tolerance",
            "1e-13", i ? "--point-value" : "--quiet", i ? "0.3,0.6=free,free,2.5" : "--quiet");
        for (size_t k = 0; k < 3; ++k)
            assert_true(app_component(a, "l2_errors", k) < EXACT);
        check_balance(a, 3);
        expect(solve_item(a, "reactions", 0, "reaction", 0), -0.5, 1e-10);
        json_decref(a);
    }
}

/* The lower half of it by Newton's method, with y = 1 as the plane of symmetry; in time u = t y (2 - y)/2. */
static void symmetric_flow(void **state) {
    const char *cell = *state;
    put_mixed(cell, "w, f = Coefficient(W), Coefficient(V)\n"
                    "(u, p), (v, q) = split(w), TestFunctions(W)\n"
                    "F = inner(grad(u), grad(v))*dx + inner(grad(u)*u, v)*dx - p*div(v)*dx - "
                    "q*div(u)*dx - inner(f, v)*dx\n"
                    "unknown = w\n");
    json_t *a = SOLVE(0, file, "--mesh", mesh_of(cell, false), "--nonlinear", "--input", "f=1,0",
                      "--dirichlet", "bottom=0,0,free", "--symmetry", "top", "--periodic",
                      "left=right", "--exact", "y*(2-y)/2,0*x,0*x", "--tolerance", "1e-11");
    for (size_t k = 0; k < 3; ++k)
        assert_true(app_component(a, "l2_errors", k) < EXACT);
    json_decref(a);
    put_mixed(cell, "(u, p), (v, q), f = TrialFunctions(W), TestFunctions(W), Coefficient(V)\n"
                    "a = inner(grad(u), grad(v))*dx - p*div(v)*dx - q*div(u)*dx\n"
                    "L = inner(f, v)*dx\n"
                    "m = inner(u, v)*dx\n");
    a = SOLVE(0, file, "--mesh", mesh_of(cell, false), "--time", "0.1,0.3", "--input",
              "f=y*(2-y)/2+t,0", "--dirichlet", "bottom=0,0,free", "--symmetry", "top",
              "--periodic", "left=right", "--point-value", "0.4,0.3=free,free,t", "--probe",
              "0.7,0.6", "--tolerance", "1e-12");
    expect(solve_item(a, "probes", 0, "u", 0), 0.3 * 0.6 * 1.4 / 2, EXACT);
    expect(solve_item(a, "probes", 0, "u", 1), 0, EXACT);
    expect(solve_item(a, "probes", 0, "u", 2), 0.3, EXACT);
    json_decref(a);
}

/* u = x^2 - 1/3 of a linear function and bubbles, which is determined up to a constant: its mean is zero. */
static void mean_with_bubbles(void **state) {
    (void)state;
    test_text_write(file,
                    "P, B = FiniteElement('P', interval, 1), FiniteElement('B', interval, 2)\n"
                    "E = P + B\n"
                    "u, v, f = TrialFunction(E), TestFunction(E), Coefficient(P)\n"
                    "a = inner(grad(u), grad(v))*dx\n"
                    "L = f*v*dx\n");
    json_t *a = SOLVE(0, file, "--mesh", "interval:4", "--input", "f=-2", "--neumann", "right=2",
                      "--exact", "x^2-1/3", "--tolerance", "1e-13");
    assert_true(app_number(a, "l2_error") < EXACT);
    json_decref(a);
}

/* The mini element, whose velocity has bubbles: Betti's theorem, with points inside of cells. */
static void loads_on_bubbles(void **state) {
    (void)state;
    static const char *const loads[] = {"0.31,0.47=2,0,free", "0.62,0.83=2,0,free"};
    static const char *const probes[] = {"0.62,0.83", "0.31,0.47"};
    double u[2];
    test_text_write(file,
                    "P, B = FiniteElement('P', triangle, 1), FiniteElement('B', triangle, 3)\n"
                    "V, Q = VectorElement(P + B), P\n"
                    "W = V*Q\n"
                    "(u, p), (v, q) = TrialFunctions(W), TestFunctions(W)\n"
                    "a = inner(grad(u), grad(v))*dx - p*div(v)*dx - q*div(u)*dx\n");
    for (int i = 0; i < 2; ++i) {
        json_t *a =
            SOLVE(0, file, "--mesh", "square:6", "--dirichlet", "top=0,0,free", "--dirichlet",
                  "bottom=0,0,free", "--periodic", "left=right", "--point-load", loads[i],
                  "--probe", probes[i], "--reactions", "--tolerance", "1e-13");
        u[i] = solve_item(a, "probes", 0, "u", 0);
        check_balance(a, 3);
        expect(app_component(a, "loads", 0), 2, SUM);
        json_decref(a);
    }
    assert_true(u[0] > 0.1);
    expect(u[0], u[1], 1e-10);
}

/* A value of the velocity at a point inside of a cell, where the bubble adds to it. */
static void values_on_bubbles(void **state) {
    (void)state;
    test_text_write(file,
                    "P, B = FiniteElement('P', triangle, 1), FiniteElement('B', triangle, 3)\n"
                    "V, Q = VectorElement(P + B), P\n"
                    "W = V*Q\n"
                    "(u, p), (v, q) = TrialFunctions(W), TestFunctions(W)\n"
                    "a = inner(grad(u), grad(v))*dx - p*div(v)*dx - q*div(u)*dx\n");
    json_t *a = SOLVE(0, file, "--mesh", "square:6", "--dirichlet", "boundary=0,0,free",
                      "--point-value", "0.36,0.47=0.25,-0.5,0.125", "--probe", "0.36,0.47",
                      "--reactions", "--tolerance", "1e-13");
    expect(solve_item(a, "probes", 0, "u", 0), 0.25, 1e-10);
    expect(solve_item(a, "probes", 0, "u", 1), -0.5, 1e-10);
    expect(solve_item(a, "probes", 0, "u", 2), 0.125, 1e-10);
    for (size_t k = 0; k < 3; ++k)
        assert_true(fabs(app_component(a, "balance", k)) <= 1e-10);
    json_decref(a);
}

/* u = x^2: the tied side gets the flux 2 in all, wherever on it. */
static void tie(void **state) {
    const char *cell = *state;
    put(cell, 2, poisson);
    json_t *a = SOLVE(0, file, "--mesh", mesh_of(cell, false), "--input", "f=-2", "--dirichlet",
                      "left=0", "--tie", "right", "--neumann", "right=6*y^2", "--exact", "x^2",
                      "--reactions", "--tolerance", "1e-13");
    assert_true(app_number(a, "l2_error") < EXACT);
    check_balance(a, 1);
    json_decref(a);
}

/* The plate of `components`, on a plane of symmetry. */
static void symmetry(void **state) {
    const char *cell = *state;
    put(cell, 2, plate);
    json_t *a = SOLVE(0, file, "--mesh", mesh_of(cell, false), "--input", "f=-2.5,0", "--dirichlet",
                      "left=0,0", "--symmetry", "bottom", "--neumann", "right=2,y/2", "--neumann",
                      "top=1/2,x", "--exact", "x^2,x*y", "--reactions", "--tolerance", "1e-13");
    assert_true(app_number(a, "l2_error") < EXACT);
    check_balance(a, 2);
    json_decref(a);
}

/* Nothing but a value at a point, which is not a node, holds u = x^2 + x y - y^2. */
static void value_at_point(void **state) {
    const char *cell = *state;
    put(cell, 2, poisson);
    json_t *a = SOLVE(0, file, "--mesh", mesh_of(cell, false), "--input", "f=0", "--neumann",
                      "left=-y", "--neumann", "right=2+y", "--neumann", "bottom=-x", "--neumann",
                      "top=x-2", "--point-value", "0.3,0.45=0.3^2+0.3*0.45-0.45^2", "--exact",
                      "x^2+x*y-y^2", "--reactions", "--tolerance", "1e-13");
    assert_true(app_number(a, "l2_error") < EXACT);
    check_balance(a, 1);
    json_decref(a);
}

/* Betti's theorem: u at q of a load at p is u at p of the same load at q. */
static void load_at_point(void **state) {
    const char *cell = *state;
    static const char *const loads[] = {"0.31,0.47=2", "0.62,0.83=2"};
    static const char *const probes[] = {"0.62,0.83", "0.31,0.47"};
    double u[2];
    put(cell, 2, poisson);
    for (int i = 0; i < 2; ++i) {
        json_t *a = SOLVE(0, file, "--mesh", mesh_of(cell, false), "--input", "f=0", "--dirichlet",
                          "left=0", "--point-load", loads[i], "--probe", probes[i], "--reactions",
                          "--tolerance", "1e-13");
        u[i] = app_probe_value(a, 0);
        check_balance(a, 1);
        expect(app_component(a, "loads", 0), 2, SUM);
        json_decref(a);
    }
    assert_true(u[0] > 0.1);
    expect(u[0], u[1], 1e-10);
}

int main(void) {
    enum { N = sizeof cases / sizeof *cases };
    static char *const solids[] = {"tetrahedron", "hexahedron"};
    static char *const plates[] = {"triangle", "quadrilateral"};
    static const struct {
        const char *name;
        CMUnitTestFunction test;
    } both[] = {{"mixed", exact_mixed},           {"components", components},
                {"periodic", periodic},           {"tie", tie},
                {"periodic flow", periodic_flow}, {"symmetric flow", symmetric_flow},
                {"symmetry", symmetry},           {"point value", value_at_point},
                {"point load", load_at_point}};
    enum { BOTH = sizeof both / sizeof *both, ALONE = 6 };
    struct CMUnitTest tests[N + 2 * BOTH + ALONE + 2] = {
        cmocka_unit_test(taylor_hood),       cmocka_unit_test(newton),
        cmocka_unit_test(in_time),           cmocka_unit_test(loads_on_bubbles),
        cmocka_unit_test(values_on_bubbles), cmocka_unit_test(mean_with_bubbles),
    };
    for (int i = 0; i < 2; ++i)
        tests[ALONE + i] = (struct CMUnitTest){
            .name = solids[i], .test_func = exact_in_3d, .initial_state = solids[i]};
    for (int i = 0; i < 2 * BOTH; ++i)
        tests[ALONE + 2 + i] = (struct CMUnitTest){.name = both[i / 2].name,
                                                   .test_func = both[i / 2].test,
                                                   .initial_state = plates[i % 2]};
    for (int i = 0; i < N; ++i)
        tests[ALONE + 2 + 2 * BOTH + i] =
            (struct CMUnitTest){.name = cases[i].name,
                                .test_func = orders,
                                .initial_state = (void *)(uintptr_t)&cases[i]};
    return cmocka_run_group_tests(tests, name_file, remove_file);
}
