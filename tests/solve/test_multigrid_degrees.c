/* labels: full
 * solve with multigrid on lower degrees, whose operators are not stored: solutions of the element's degree are found exactly, in few
 * iterations (as many as in numerical experiments with exact solutions of the linear level, and two more); injected faults of
 * each part of the cycle take more of them, or break it. */
#include "solve_run.h"

#include <unistd.h>

#define DEVICE "--device", "host:1:sse2"

/* Of an exact solution: solver tolerance 1e-12 times a condition number below 1e4. */
static const double EXACT = 1e-8;

static char file[64];

static int name_file(void **state) {
    (void)state;
    snprintf(file, sizeof file, "/tmp/weft-degrees-%ld.ufl", (long)getpid());
    return 0;
}

static int remove_file(void **state) {
    (void)state;
    return unlink(file) == 0 ? 0 : -1;
}

static void put(const char *text) {
    FILE *stream = fopen(file, "w");
    assert_non_null(stream);
    fputs(text, stream);
    assert_int_equal(fclose(stream), 0);
}

#define EXACT_1 "1+x^2"
#define EXACT_2 "1+x^2+2*y^2"
#define EXACT_3 "1+x^2+2*y^2-z^2"

typedef struct problem {
    const char *cell, *mesh;
    int degree;
    const char *source, *exact, *boundary;
    int most; /* iterations to 1e-8 */
} problem;

static const problem problems[] = {
    {"interval", "interval:64", 3, "f=-(2+4*x)", EXACT_1, "boundary=" EXACT_1, 10},
    {"triangle", "square:16", 2, "f=-(6+8*x)", EXACT_2, "boundary=" EXACT_2, 9},
    {"triangle", "square:12", 4, "f=-(6+8*x)", EXACT_2, "boundary=" EXACT_2, 12},
    {"quadrilateral", "quads:12", 3, "f=-(6+8*x)", EXACT_2, "boundary=" EXACT_2, 11},
    {"tetrahedron", "cube:5", 3, "f=-(4+6*x)", EXACT_3, "boundary=" EXACT_3, 11},
    {"hexahedron", "hexes:4", 2, "f=-(4+6*x)", EXACT_3, "boundary=" EXACT_3, 9},
};

static void write_scalar(const problem *p) {
    char text[400];
    snprintf(text, sizeof text,
             "V = FiniteElement('P', %s, %d)\n"
             "u, v, f = TrialFunction(V), TestFunction(V), Coefficient(V)\n"
             "k = Coefficient(FiniteElement('P', %s, 1))\n"
             "a, L = k*inner(grad(u), grad(v))*dx, f*v*dx\n",
             p->cell, p->degree, p->cell);
    put(text);
}

static json_t *run(const problem *p, const char *tolerance, const char *assembly) {
    return SOLVE(0, file, "--mesh", p->mesh, "--input", p->source, "--input", "k=1+x",
                 "--dirichlet", p->boundary, "--exact", p->exact, "--preconditioner", "aggregation",
                 "--assembly", assembly, "--tolerance", tolerance, DEVICE);
}

static void scalars(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof problems / sizeof *problems; ++i) {
        const problem *p = &problems[i];
        write_scalar(p);
        json_t *quick = run(p, "1e-8", "matrix-free"), *exact = run(p, "1e-12", "matrix-free");
        print_message("P%d %s: %g iterations\n", p->degree, p->cell,
                      app_number(quick, "iterations"));
        assert_true(app_number(quick, "iterations") <= p->most);
        assert_true(app_number(exact, "l2_error") < EXACT);
        json_decref(quick);
        json_decref(exact);
    }
}

/* Plane strain with mu = lambda = 1 and u = (x^2 + y^2, 2xy): div sigma = (12, 0). */
static void solids(void **state) {
    (void)state;
    put("V = VectorElement('P', triangle, 3)\n"
        "u, v, f = TrialFunction(V), TestFunction(V), Constant(triangle)\n"
        "a = 2*inner(sym(grad(u)), sym(grad(v)))*dx + div(u)*div(v)*dx\n"
        "L = f*v[0]*dx\n");
    static const char *const tolerances[] = {"1e-8", "1e-12"};
    for (int i = 0; i < 2; ++i) {
        json_t *a =
            SOLVE(0, file, "--mesh", "square:10", "--input", "f=-12", "--dirichlet",
                  "boundary=x^2+y^2,2*x*y", "--exact", "x^2+y^2,2*x*y", "--preconditioner",
                  "aggregation", "--assembly", "matrix-free", "--tolerance", tolerances[i], DEVICE);
        assert_true(i > 0 || app_number(a, "iterations") <= 18);
        assert_true(i == 0 || app_number(a, "l2_error") < EXACT);
        json_decref(a);
    }
}

/* The same in bricks, whose Jacobian varies, with u = (x^2 + y^2, 2xy, 0): with a wrong diagonal it takes twice the iterations. */
static void bricks(void **state) {
    (void)state;
    put("V = VectorElement('P', hexahedron, 2)\n"
        "u, v, f = TrialFunction(V), TestFunction(V), Constant(hexahedron)\n"
        "a = 2*inner(sym(grad(u)), sym(grad(v)))*dx + div(u)*div(v)*dx\n"
        "L = f*v[0]*dx\n");
    json_t *a = SOLVE(0, file, "--mesh", "hexes:4", "--input", "f=-12", "--dirichlet",
                      "boundary=x^2+y^2,2*x*y,0", "--exact", "x^2+y^2,2*x*y,0", "--preconditioner",
                      "aggregation", "--assembly", "matrix-free", "--tolerance", "1e-11", DEVICE);
    assert_true(app_number(a, "l2_error") < EXACT);
    assert_true(app_number(a, "iterations") <= 20);
    json_decref(a);
}

/* Stokes: iterations of MINRES to 1e-8 as in numerical experiments (57 on 6 cells a side), and those of GMRES. */
static void saddle(void **state) {
    (void)state;
    put("V, Q = VectorElement('P', hexahedron, 2), FiniteElement('P', hexahedron, 1)\n"
        "(u, p), (v, q) = TrialFunctions(V*Q), TestFunctions(V*Q)\n"
        "f = Coefficient(V)\n"
        "a = inner(grad(u), grad(v))*dx - div(v)*p*dx - q*div(u)*dx\n"
        "L = inner(f, v)*dx\n");
    static const char *const methods[] = {"minres", "gmres"};
    static const int most[] = {66, 36};
    double energy[2];
    for (int i = 0; i < 2; ++i) {
        json_t *a =
            SOLVE(0, file, "--mesh", "hexes:6", "--input", "f=sin(3*y),cos(2*x),x*y", "--dirichlet",
                  "boundary=0,0,0,free", "--preconditioner", "block", "--assembly", "matrix-free",
                  "--method", methods[i], "--restart", "40", "--tolerance", "1e-8", DEVICE);
        print_message("%s: %g iterations\n", methods[i], app_number(a, "iterations"));
        assert_true(app_number(a, "iterations") <= most[i]);
        energy[i] = app_number(a, "energy");
        json_decref(a);
    }
    json_t *stored = SOLVE(0, file, "--mesh", "hexes:6", "--input", "f=sin(3*y),cos(2*x),x*y",
                           "--dirichlet", "boundary=0,0,0,free", "--preconditioner", "block",
                           "--assembly", "csr", "--tolerance", "1e-10", DEVICE);
    for (int i = 0; i < 2; ++i)
        assert_double_near(energy[i] / app_number(stored, "energy"), 1, 1e-5, 0);
    json_decref(stored);
}

/* Viscosities that vary in space scale the mass of the multipliers: 65 to 86 iterations of MINRES are seen and 36 to 56 of GMRES, and
 * between jumps from cell to cell, with a mean in place of the inverse one, 471 to 574 and 263 to 434. */
static void viscosity_in_space(void **state) {
    (void)state;
    static const char *const viscosities[] = {
        "n=10^(2*sin(2*pi*x)*sin(2*pi*y))",
        "n=select(min((x-0.3)^2 + (y-0.3)^2, (x-0.65)^2 + (y-0.65)^2) < 0.0324, 100, 0.01)"};
    static const char *const meshes[] = {"quads:16", "quads:32"};
    static const char *const methods[] = {"minres", "gmres"};
    static const int most[] = {110, 75};
    put("V, Q = VectorElement('P', quadrilateral, 2), FiniteElement('P', quadrilateral, 1)\n"
        "(u, p), (v, q) = TrialFunctions(V*Q), TestFunctions(V*Q)\n"
        "f, n = Constant(quadrilateral), Coefficient(FiniteElement('DG', quadrilateral, 0))\n"
        "a = 2*n*inner(sym(grad(u)), sym(grad(v)))*dx - div(v)*p*dx - q*div(u)*dx\n"
        "L = f*v[1]*dx\n");
    for (int i = 0; i < 8; ++i) {
        json_t *a = SOLVE(0, file, "--mesh", meshes[i / 4], "--input", "f=1", "--input",
                          viscosities[i / 2 % 2], "--dirichlet", "boundary=0,0,free",
                          "--preconditioner", "block", "--assembly", "matrix-free", "--method",
                          methods[i % 2], "--restart", "100", DEVICE);
        assert_string_equal(app_text(a, "outcome"), "converged");
        assert_true(app_number(a, "iterations") <= most[i % 2]);
        json_decref(a);
    }
}

/* A viscosity of 1e8 divides the flow by as much, and so its energy: rounding of |K| |x|, where entries of the velocity's block
 * are beside the pressure, does not end GMRES before the tolerance is met. */
static void units(void **state) {
    (void)state;
    put("V, Q = VectorElement('P', triangle, 2), FiniteElement('P', triangle, 1)\n"
        "(u, p), (v, q) = TrialFunctions(V*Q), TestFunctions(V*Q)\n"
        "f, n = Coefficient(V), Constant(triangle)\n"
        "a = 2*n*inner(sym(grad(u)), sym(grad(v)))*dx - div(v)*p*dx - q*div(u)*dx\n"
        "L = inner(f, v)*dx\n");
    static const char *const viscosities[] = {"n=1", "n=1e8"};
    double energy[2];
    for (int i = 0; i < 2; ++i) {
        json_t *a = SOLVE(0, file, "--mesh", "square:24", "--input", "f=y,0", "--input",
                          viscosities[i], "--dirichlet", "boundary=0,0,free", "--preconditioner",
                          "block", "--assembly", "matrix-free", "--method", "gmres", "--restart",
                          "40", "--tolerance", "1e-9", DEVICE);
        energy[i] = app_number(a, "energy");
        json_decref(a);
    }
    assert_double_near(1e8 * energy[1] / energy[0], 1, 1e-8, 0);
}

/* -div((1 + |grad u|^2) grad u) = f with u = x^2 + y: the preconditioner follows each tangent, whose coefficient grows by orders of
 * magnitude from one to the next where u is large. */
static void newton(void **state) {
    (void)state;
    put("V = FiniteElement('P', triangle, 2)\n"
        "u, v, f = Coefficient(V), TestFunction(V), Coefficient(V)\n"
        "F = (1 + inner(grad(u), grad(u)))*inner(grad(u), grad(v))*dx - f*v*dx\n");
    json_t *a = SOLVE(0, file, "--nonlinear", "--mesh", "square:16", "--input", "f=-(4e2+24e6*x^2)",
                      "--dirichlet", "boundary=1e2*x^2+y", "--exact", "1e2*x^2+y",
                      "--preconditioner", "aggregation", "--assembly", "matrix-free", "--tolerance",
                      "1e-10", "--newton-tolerance", "1e-11", DEVICE);
    assert_true(json_is_true(json_object_get(a, "newton_converged")));
    assert_true(app_number(a, "l2_error") < 1e-6);
    json_decref(a);
}

/* Jumps between cells and extreme units change neither the number of iterations by much nor the solution. */
static void coefficients(void **state) {
    (void)state;
    put("V = FiniteElement('P', triangle, 2)\n"
        "u, v, f = TrialFunction(V), TestFunction(V), Coefficient(V)\n"
        "k = Coefficient(FiniteElement('DG', triangle, 0))\n"
        "a, L = k*inner(grad(u), grad(v))*dx, f*v*dx\n");
    static const char *const k[] = {"k=1e-30", "k=select(x < 0.5, 1, 1e4)", "k=1e30"};
    static const char *const f[] = {"f=1e-30", "f=1", "f=1e30"};
    for (int i = 0; i < 3; ++i) {
        json_t *runs[2];
        static const char *const assemblies[] = {"csr", "matrix-free"};
        for (int n = 0; n < 2; ++n)
            runs[n] = SOLVE(0, file, "--mesh", "square:16", "--input", k[i], "--input", f[i],
                            "--dirichlet", "boundary=0", "--preconditioner", "aggregation",
                            "--assembly", assemblies[n], "--tolerance", "1e-12", DEVICE);
        assert_true(app_number(runs[1], "iterations") < app_number(runs[0], "iterations") + 6);
        const double energy = app_number(runs[0], "energy");
        assert_double_near(app_number(runs[1], "energy") / energy, 1, 1e-9, 0);
        json_decref(runs[0]);
        json_decref(runs[1]);
    }
}

/* Convection is not for it, and the message says what is. */
static void refused(void **state) {
    (void)state;
    put("V = FiniteElement('P', triangle, 2)\n"
        "u, v, f = TrialFunction(V), TestFunction(V), Coefficient(V)\n"
        "a, L = inner(grad(u), grad(v))*dx + u.dx(0)*v*dx, f*v*dx\n");
    char path[4096];
    snprintf(path, sizeof path, "%s/solve", WEFT_BINARY_DIR);
    const char *const command[] = {
        path,          file,         "--mesh",           "square:8",    "--input", "f=1",
        "--dirichlet", "boundary=0", "--preconditioner", "aggregation", DEVICE,    "--assembly",
        "matrix-free", NULL};
    test_run run = test_program(command, NULL);
    assert_int_equal(run.exit_code, 2);
    assert_non_null(strstr(run.error, "--assembly csr"));
    test_run_free(&run);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(scalars),
                                       cmocka_unit_test(solids),
                                       cmocka_unit_test(bricks),
                                       cmocka_unit_test(saddle),
                                       cmocka_unit_test(viscosity_in_space),
                                       cmocka_unit_test(units),
                                       cmocka_unit_test(newton),
                                       cmocka_unit_test(coefficients),
                                       cmocka_unit_test(refused)};
    return cmocka_run_group_tests(tests, name_file, remove_file);
}
