/* labels: full */
/* Integrals over facets between cells on several ranks: discontinuous Galerkin methods and the interior penalty of the biharmonic
 * equation. A rank has the cells behind the facets of those that it assembles. Any number of ranks has the same bits, and
 * the values of a run without ranks; some are known. */
#include "ranks_run.h"

#include <stdio.h>

/* -div k grad u = f with u = g weakly, by the symmetric interior penalty method. h is the diameter of a cell. */
static const char penalty[] =
    "u, v = TrialFunction(V), TestFunction(V)\nh, n = Circumradius(V.mesh), FacetNormal(V.mesh)\n"
    "x = SpatialCoordinate(V.mesh)\nk, c, g = 1 + x[1]*x[1], %s, x[0]*x[0]\n"
    "a = k*inner(grad(u), grad(v))*dx - inner(avg(k*grad(u)), jump(v, n))*dS"
    " - inner(avg(k*grad(v)), jump(u, n))*dS + c/avg(h)*inner(jump(u, n), jump(v, n))*dS"
    " - k*inner(grad(u), v*n)*ds - k*inner(grad(v), u*n)*ds + c/h*u*v*ds\n"
    "L = -2*k*v*dx + c/h*g*v*ds - k*inner(grad(v), g*n)*ds\n";

static void write(const char *cell, const char *family, int degree, const char *form) {
    char text[2000];
    const int d = cell[0] == 't' && cell[1] == 'e' ? 3 : 2;
    const int n = snprintf(text, sizeof text,
                           "from ufl import *\nfrom basix.ufl import element\n"
                           "V = FunctionSpace(Mesh(element(\"Lagrange\", \"%s\", 1, shape=(%d,))), "
                           "element(\"%s\", \"%s\", %d))\n%s",
                           cell, d, family, cell, degree, form);
    assert_true(n > 0 && (size_t)n < sizeof text);
    ranks_write("ranks_facets.ufl", text);
}

/* u = x^2, which functions of degree 2 have. */
static void test_penalty(void **state) {
    (void)state;
    static const char *const assemblies[] = {"csr", "matrix-free", "lma"};
    char text[1000];
    for (int i = 0; i < 5; ++i) {
        (void)snprintf(text, sizeof text, penalty, i < 3 ? "40" : "20");
        write(i == 4 ? "tetrahedron" : "triangle", "DG", i < 3 ? 2 : 1, text);
        const rank_case plane = {"solve",
                                 {"ranks_facets.ufl", "--mesh", "square:5", "--assembly",
                                  assemblies[i % 3], "--preconditioner", "jacobi", IN_PLANE}};
        const rank_case space = {"solve", {"ranks_facets.ufl", "--mesh", "cube:3", IN_SPACE}};
        ranks_check(i == 4 ? &space : &plane);
        if (i > 0)
            continue;
        json_t *result = ranks_run(&plane, "--ranks", "3");
        assert_double_near(
            app_component(json_array_get(json_object_get(result, "probes"), 0), "u", 0), 0.16, 1e-9,
            0);
        json_decref(result);
    }
    (void)remove("ranks_facets.ufl");
}

/* Upwind fluxes, whose matrix is not symmetric. */
static void test_upwind(void **state) {
    (void)state;
    static const char form[] =
        "u, v = TrialFunction(V), TestFunction(V)\nn, x = FacetNormal(V.mesh), "
        "SpatialCoordinate(V.mesh)\nb = as_vector([1, 0.5 + x[0]])\n"
        "out = (dot(b, n) + abs(dot(b, n)))/2\n"
        "a = u*v*dx - u*dot(b, grad(v))*dx + out*u*v*ds"
        " + (out('+')*u('+') - out('-')*u('-'))*jump(v)*dS\nL = (1 + x[1])*v*dx\n";
    static const char *const methods[] = {"gmres", "bicgstab"};
    for (int i = 0; i < 3; ++i) {
        write(i == 2 ? "quadrilateral" : "triangle", "DG", i, form);
        const rank_case one = {"solve",
                               {"ranks_facets.ufl", "--mesh", i == 2 ? "quads:4" : "square:6",
                                "--method", methods[i % 2], "--restart", "200", IN_PLANE}};
        ranks_check_up_to(&one, 7, 1e-8);
    }
    (void)remove("ranks_facets.ufl");
}

/* Continuous functions, whose gradients jump; sides and points that are tied have cells behind facets, too. */
static void test_gradients(void **state) {
    (void)state;
    static const char plate[] =
        "u, v = TrialFunction(V), TestFunction(V)\nn, h = FacetNormal(V.mesh), "
        "2*Circumradius(V.mesh)\n"
        "a = div(grad(u))*div(grad(v))*dx - avg(div(grad(u)))*jump(grad(v), n)*dS"
        " - jump(grad(u), n)*avg(div(grad(v)))*dS"
        " + 8/avg(h)*jump(grad(u), n)*jump(grad(v), n)*dS\nL = v*dx\n";
    static const char smoothed[] =
        "u, v = TrialFunction(V), TestFunction(V)\nn, h = FacetNormal(V.mesh), "
        "2*Circumradius(V.mesh)\nx = SpatialCoordinate(V.mesh)\n"
        "a = inner(grad(u), grad(v))*dx + avg(h)**2*jump(grad(u), n)*jump(grad(v), n)*dS\n"
        "L = (1 + x[0])*v*dx\n";
    write("triangle", "Lagrange", 2, plate);
    const rank_case plane = {"solve",
                             {"ranks_facets.ufl", "--mesh", "square:6", "--dirichlet", "boundary=0",
                              "--ordering", "bisection", IN_PLANE}};
    ranks_check(&plane);
    write("triangle", "Lagrange", 1, smoothed);
    const rank_case tied = {"solve",
                            {"ranks_facets.ufl", "--mesh", "square:9", "--dirichlet", "left=0",
                             "--tie", "right", "--point-value", "0.5,0.5=1", IN_PLANE}};
    ranks_check(&tied);
    write("tetrahedron", "Lagrange", 1, smoothed);
    const rank_case space = {"solve",
                             {"ranks_facets.ufl", "--mesh", "cube:4", "--dirichlet", "left=0",
                              "--tie", "top", IN_SPACE}};
    ranks_check(&space);
    (void)remove("ranks_facets.ufl");
}

/* A square of 6 x 6 x 2 triangles, with a group of its left side and of the line in the middle. */
static void write_mesh(const char *path) {
    enum { N = 6, ROW = N + 1 };
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file,
            "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n1\n1 1 \"lines\"\n"
            "$EndPhysicalNames\n$Nodes\n%d\n",
            ROW * ROW);
    for (int i = 0; i < ROW * ROW; ++i)
        fprintf(file, "%d %.17g %.17g 0\n", i + 1, (double)(i % ROW) / N, (double)(i / ROW) / N);
    fprintf(file, "$EndNodes\n$Elements\n%d\n", 2 * N + 2 * N * N);
    for (int i = 0; i < 2 * N; ++i) {
        const int a = i / 2 * ROW + i % 2 * (N / 2) + 1;
        fprintf(file, "%d 1 2 1 1 %d %d\n", i + 1, a, a + ROW);
    }
    for (int i = 0; i < 2 * N * N; ++i) {
        const int a = i / 2 / N * ROW + i / 2 % N + 1, d = a + ROW + 1;
        fprintf(file, "%d 2 2 2 2 %d %d %d\n", 2 * N + 1 + i, a, i % 2 ? d : a + 1,
                i % 2 ? a + ROW : d);
    }
    fputs("$EndElements\n", file);
    assert_int_equal(fclose(file), 0);
}

/* Of a group some facets are on the boundary and others between cells: each measure has its own, on parts whose cuts are among
 * these, too. */
static void test_groups(void **state) {
    (void)state;
    write_mesh("ranks_facets.msh");
    write("triangle", "DG", 1,
          "u, v = TrialFunction(V), TestFunction(V)\nn = FacetNormal(V.mesh)\n"
          "a = u*v*dx + inner(grad(u), grad(v))*dx + 10*jump(u)*jump(v)*dS"
          " + 5*avg(u)*avg(v)*dS(1) + 3*u*v*ds(1)\nL = v*dx + dot(grad(v), n)*ds(1)\n");
    const rank_case broken = {"solve",
                              {"ranks_facets.ufl", "--mesh", "ranks_facets.msh", "--measure",
                               "dS(1)=lines", "--measure", "ds(1)=lines", IN_PLANE}};
    ranks_check(&broken);
    write("triangle", "Lagrange", 2,
          "u, v = TrialFunction(V), TestFunction(V)\nn = FacetNormal(V.mesh)\n"
          "a = u*v*dx + inner(grad(u), grad(v))*dx + 3*dot(grad(u), n)*dot(grad(v), n)*ds(1)\n"
          "L = v*dx + v*ds\n");
    const rank_case joined = {
        "solve",
        {"ranks_facets.ufl", "--mesh", "ranks_facets.msh", "--measure", "ds(1)=lines", IN_PLANE}};
    ranks_check(&joined);
    (void)remove("ranks_facets.ufl");
    (void)remove("ranks_facets.msh");
}

/* Means of cells alone; meshes of few cells. */
static void test_few_cells(void **state) {
    (void)state;
    char text[1000];
    (void)snprintf(text, sizeof text, penalty, "20");
    write("triangle", "DG", 0,
          "u, v = TrialFunction(V), TestFunction(V)\n"
          "a = u*v*dx + jump(u)*jump(v)*dS\nL = v*dx + v*ds\n");
    const rank_case means = {"solve", {"ranks_facets.ufl", "--mesh", "square:2", IN_PLANE}};
    ranks_check(&means);
    write("triangle", "DG", 1, text);
    const rank_case few = {"solve", {"ranks_facets.ufl", "--mesh", "square:1", IN_PLANE}};
    ranks_check_up_to(&few, 4, 1e-9);
    (void)remove("ranks_facets.ufl");
}

/* Aggregates of cells, of which a rank has those with a lowest vertex of its own: on a refined mesh they do not follow each other. */
static void test_aggregates(void **state) {
    (void)state;
    char text[1000];
    (void)snprintf(text, sizeof text, penalty, "20");
    write("triangle", "DG", 1, text);
    const rank_case one = {"solve",
                           {"ranks_facets.ufl", "--mesh", "square:6", "--refine", "1",
                            "--preconditioner", "aggregation", IN_PLANE}};
    ranks_check(&one);
    (void)remove("ranks_facets.ufl");
}

static void test_newton(void **state) {
    (void)state;
    write("triangle", "DG", 1,
          "u, v = Coefficient(V), TestFunction(V)\nh, n = 2*Circumradius(V.mesh), "
          "FacetNormal(V.mesh)\nx = SpatialCoordinate(V.mesh)\nk = 1 + u*u\n"
          "F = k*inner(grad(u), grad(v))*dx - inner(avg(k*grad(u)), jump(v, n))*dS"
          " + 20/avg(h)*jump(u)*jump(v)*dS - k*dot(grad(u), n)*v*ds + 20/h*(u - x[0])*v*ds"
          " - v*dx\n");
    const rank_case one = {
        "solve",
        {"ranks_facets.ufl", "--nonlinear", "--mesh", "square:5", "--restart", "200", IN_PLANE}};
    ranks_check_up_to(&one, 7, 1e-8);
    (void)remove("ranks_facets.ufl");
}

/* In time, of a mass, and of a scheme of the form's own. */
static void test_time(void **state) {
    (void)state;
    char text[1000];
    (void)snprintf(text, sizeof text, penalty, "20");
    strcat(text, "m = u*v*dx\n");
    write("triangle", "DG", 1, text);
    const rank_case mass = {"solve",
                            {"ranks_facets.ufl", "--mesh", "square:5", "--time", "0.02,0.1",
                             "--scheme", "bdf2", "--initial", "x*y", IN_PLANE}};
    ranks_check(&mass);
    write("triangle", "DG", 0,
          "u, v, u_old, dt = TrialFunction(V), TestFunction(V), Coefficient(V), Constant(V)\n"
          "n = FacetNormal(V.mesh)\nb = as_vector([1, 0.5])\n"
          "out = dt*(dot(b, n) + abs(dot(b, n)))/2\na = u*v*dx\n"
          "L = u_old*v*dx - out*u_old*v*ds"
          " - (out('+')*u_old('+') - out('-')*u_old('-'))*jump(v)*dS\n");
    const rank_case own = {"solve",
                           {"ranks_facets.ufl", "--mesh", "square:6", "--time", "0.02,0.2",
                            "--initial", "1+x*y", IN_PLANE}};
    ranks_check(&own);
    (void)remove("ranks_facets.ufl");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_penalty),   cmocka_unit_test(test_upwind),
        cmocka_unit_test(test_gradients), cmocka_unit_test(test_few_cells),
        cmocka_unit_test(test_groups),    cmocka_unit_test(test_aggregates),
        cmocka_unit_test(test_newton),    cmocka_unit_test(test_time)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
