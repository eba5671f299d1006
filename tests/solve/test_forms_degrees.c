/* labels: full
 * solve with form files in elements of degrees 1 to 4 on every cell: orders k + 1 in L2 and k in H1 within 0.1 for a
 * known solution that is not a polynomial; polynomials of the element's degree, which are found exactly, with integrals
 * over groups of facets and cells and over interior facets, and coefficients in other spaces. */
#include "solve_run.h"

#include <unistd.h>

/* The least to compile. */
#define DEVICE "--device", "host:1:sse2"
#define SINE_2 "sin(pi*x)*sin(pi*y)"
#define SINE_3 "sin(pi*x)*sin(pi*y)*sin(pi*z)"

/* Of an exact solution: solver tolerance 1e-12 times a condition number below 1e4, and differences of the formula. */
static const double EXACT = 1e-8;

static char file[64], mesh[64];

static int name_files(void **state) {
    (void)state;
    snprintf(file, sizeof file, "/tmp/weft-forms-%ld.ufl", (long)getpid());
    snprintf(mesh, sizeof mesh, "/tmp/weft-forms-%ld.msh", (long)getpid());
    return 0;
}

static int remove_files(void **state) {
    (void)state;
    return unlink(file) == 0 && unlink(mesh) == 0 ? 0 : -1;
}

static void put(const char *name, const char *text) {
    FILE *stream = fopen(name, "w");
    assert_non_null(stream);
    fputs(text, stream);
    assert_int_equal(fclose(stream), 0);
}

static const struct {
    const char *cell, *meshes[2];
    int degree;
    const char *source, *exact;
} cases[] = {
    {"interval", {"interval:4", "interval:8"}, 4, "f=pi^2*sin(pi*x)", "sin(pi*x)"},
    {"triangle", {"square:8", "square:16"}, 3, "f=2*pi^2*" SINE_2, SINE_2},
    {"quadrilateral", {"quads:8", "quads:16"}, 1, "f=2*pi^2*" SINE_2, SINE_2},
    {"tetrahedron", {"cube:6", "cube:12"}, 2, "f=3*pi^2*" SINE_3, SINE_3},
    {"hexahedron", {"hexes:4", "hexes:8"}, 2, "f=3*pi^2*" SINE_3, SINE_3},
};

static void orders(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        char text[400];
        json_t *runs[2];
        snprintf(text, sizeof text,
                 "V = FiniteElement('P', %s, %d)\n"
                 "u, v, f = TrialFunction(V), TestFunction(V), Coefficient(V)\n"
                 "a, L = inner(grad(u), grad(v))*dx, f*v*dx\n",
                 cases[i].cell, cases[i].degree);
        put(file, text);
        for (int k = 0; k < 2; ++k)
            runs[k] = SOLVE(0, file, "--mesh", cases[i].meshes[k], "--input", cases[i].source,
                            "--dirichlet", "boundary=0", "--exact", cases[i].exact, "--tolerance",
                            "1e-11", DEVICE);
        assert_double_near(poisson_order(runs[0], runs[1], "l2_error"), cases[i].degree + 1, 0.1,
                           0);
        assert_double_near(poisson_order(runs[0], runs[1], "h1_error"), cases[i].degree, 0.1, 0);
        json_decref(runs[0]);
        json_decref(runs[1]);
    }
}

/* u = 1 + x^2 + 2 y^2 with Robin's condition on one side and a flux on another, which the options name. */
static void boundary_terms(void **state) {
    (void)state;
    put(file, "V = FiniteElement('P', quadrilateral, 2)\n"
              "u, v = TrialFunction(V), TestFunction(V)\n"
              "x, n = SpatialCoordinate(quadrilateral), FacetNormal(quadrilateral)\n"
              "e = 1 + x[0]**2 + 2*x[1]**2\n"
              "a = inner(grad(u), grad(v))*dx + 3*u*v*ds(2)\n"
              "L = -6*v*dx + (3*e + dot(grad(e), n))*v*ds(2) + dot(grad(e), n)*v*ds(9)\n");
    json_t *a = SOLVE(0, file, "--mesh", "quads:3", "--dirichlet", "left=1 + 2*y^2", "--dirichlet",
                      "top=3 + x^2", "--measure", "ds(9)=bottom", "--exact", "1 + x^2 + 2*y^2",
                      "--tolerance", "1e-12", DEVICE);
    assert_true(app_number(a, "l2_error") < EXACT);
    assert_true(app_number(a, "h1_error") < EXACT);
    json_decref(a);
}

/* Symmetric interior penalty: quadratic solutions are found exactly; without conditions of the options nothing is
 * prescribed. */
static void interior_facets(void **state) {
    (void)state;
    put(file, "V = FiniteElement('DG', triangle, 2)\n"
              "u, v = TrialFunction(V), TestFunction(V)\n"
              "f = Coefficient(FiniteElement('DG', triangle, 0))\n"
              "g = Coefficient(FiniteElement('P', triangle, 2))\n"
              "n, h = FacetNormal(triangle), CellDiameter(triangle)\n"
              "p = 20/avg(h)\n"
              "a = inner(grad(u), grad(v))*dx + p*jump(u)*jump(v)*dS + 20/h*u*v*ds \\\n"
              "    - inner(avg(grad(u)), jump(v, n))*dS - inner(jump(u, n), avg(grad(v)))*dS \\\n"
              "    - dot(grad(u), n)*v*ds - u*dot(grad(v), n)*ds\n"
              "L = f*v*dx + 20/h*g*v*ds - g*dot(grad(v), n)*ds\n");
    static const char *const assemblies[] = {"csr", "matrix-free"};
    for (int i = 0; i < 2; ++i) {
        json_t *a = SOLVE(0, file, "--mesh", "square:4", "--input", "f=-6", "--input",
                          "g=1 + x^2 + 2*y^2 - x*y", "--exact", "1 + x^2 + 2*y^2 - x*y",
                          "--tolerance", "1e-12", "--assembly", assemblies[i], DEVICE);
        assert_true(app_number(a, "l2_error") < EXACT);
        assert_true(app_number(a, "h1_error") < EXACT);
        json_decref(a);
    }
}

/* A projection into discontinuous elements has nothing prescribed on the boundary. */
static void projection(void **state) {
    (void)state;
    put(file, "V = FiniteElement('DG', interval, 1)\n"
              "u, v, f = TrialFunction(V), TestFunction(V), Coefficient(V)\n"
              "a, L = u*v*dx, f*v*dx\n");
    json_t *a = SOLVE(0, file, "--mesh", "interval:5", "--input", "f=1 + x", "--exact", "1 + x",
                      "--tolerance", "1e-12", DEVICE);
    assert_true(app_number(a, "l2_error") < EXACT);
    json_decref(a);
}

/* Aggregates on an interval: a few iterations, where 400 unknowns in a row take CG hundreds; quadratic elements have the
 * solution. */
static void aggregation(void **state) {
    (void)state;
    put(file, "V = FiniteElement('P', interval, 2)\n"
              "u, v, f = TrialFunction(V), TestFunction(V), Coefficient(V)\n"
              "a, L = inner(grad(u), grad(v))*dx, f*v*dx\n");
    json_t *a = SOLVE(0, file, "--mesh", "interval:200", "--dirichlet", "boundary=0", "--input",
                      "f=2", "--exact", "x*(1-x)", "--preconditioner", "aggregation", "--tolerance",
                      "1e-12", DEVICE);
    assert_true(app_number(a, "l2_error") < EXACT);
    assert_true(app_number(a, "iterations") < 60);
    json_decref(a);
}

/* -(k u')' = f with k = 2, 3 and f = 1, 2 in two cells, u = 0 at both ends: the flux at x = 0 is 1.1, and the integral of u
 * 143/360. Cubic elements have the solution. By measures, and by coefficients with a value for each group. */
static void cell_groups(void **state) {
    (void)state;
    put(mesh, "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n3\n"
              "1 5 \"wall\"\n2 7 \"iron\"\n2 8 \"air\"\n$EndPhysicalNames\n"
              "$Nodes\n6\n1 0 0 0\n2 1 0 0\n3 2 0 0\n4 0 1 0\n5 1 1 0\n6 2 1 0\n$EndNodes\n"
              "$Elements\n4\n1 1 2 5 1 1 4\n2 1 2 5 1 3 6\n3 3 2 7 1 1 2 5 4\n"
              "4 3 2 8 2 2 3 6 5\n$EndElements\n");
    put(file, "V = FiniteElement('P', quadrilateral, 3)\n"
              "u, v = TrialFunction(V), TestFunction(V)\n"
              "a = 2*inner(grad(u), grad(v))*dx(7) + 3*inner(grad(u), grad(v))*dx(8)\n"
              "L = v*dx + v*dx(8)\n");
    json_t *a =
        SOLVE(0, file, "--mesh", mesh, "--dirichlet", "wall=0", "--tolerance", "1e-12", DEVICE);
    put(file, "V = FiniteElement('P', quadrilateral, 3)\n"
              "u, v = TrialFunction(V), TestFunction(V)\n"
              "k = Coefficient(FiniteElement('DG', quadrilateral, 1))\n"
              "f = Coefficient(FiniteElement('DG', quadrilateral, 0))\n"
              "a, L = k*inner(grad(u), grad(v))*dx, f*v*dx\n");
    json_t *b =
        SOLVE(0, file, "--mesh", mesh, "--dirichlet", "wall=0", "--tolerance", "1e-12", "--input",
              "k@iron=2", "--input", "k@air=3", "--input", "f=1", "--input", "f@air=2", DEVICE);
    json_t *runs[] = {a, b};
    for (int i = 0; i < 2; ++i) {
        const double integral = app_number(runs[i], "integral_u");
        assert_double_near(integral, 143.0 / 360, 1e-9, 0);
        json_decref(runs[i]);
    }
}

/* Multigrid goes from cubic to linear functions first, so that its iterations do not grow with the mesh: fewer than 20, where
 * Jacobi's preconditioner takes about 200 on the finer one. */
static void multigrid(void **state) {
    static const char *const kinds[] = {"aggregation", "multigrid"};
    (void)state;
    put(file, "V = FiniteElement('P', triangle, 3)\n"
              "u, v, f = TrialFunction(V), TestFunction(V), Coefficient(V)\n"
              "a, L = inner(grad(u), grad(v))*dx, f*v*dx\n");
    for (int i = 0; i < 2; ++i) {
        json_t *runs[2];
        for (int k = 0; k < 2; ++k) {
            runs[k] = SOLVE(0, file, "--mesh", k == 0 ? "square:16" : "square:32", "--dirichlet",
                            "boundary=0", "--input", "f=2*pi^2*" SINE_2, "--exact", SINE_2,
                            "--tolerance", "1e-10", "--preconditioner", kinds[i], DEVICE);
            assert_true(app_number(runs[k], "iterations") < 20);
        }
        assert_double_near(poisson_order(runs[0], runs[1], "l2_error"), 4, 0.1, 0);
        json_decref(runs[0]);
        json_decref(runs[1]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orders),          cmocka_unit_test(boundary_terms),
        cmocka_unit_test(interior_facets), cmocka_unit_test(projection),
        cmocka_unit_test(aggregation),     cmocka_unit_test(cell_groups),
        cmocka_unit_test(multigrid),
    };
    return cmocka_run_group_tests(tests, name_files, remove_files);
}
