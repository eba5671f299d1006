/* labels: full
 * solve with multigrid on lower degrees in single precision: a form times 1e100, which is made in double precision, takes as many
 * iterations, within one, as the form itself in single, for each cell, for vectors and as a block; solutions are those of the stored
 * matrix; and what floats lose, by range or by cancellation, is found before the solve. */
#include "solve_run.h"

#include <unistd.h>

#define DEVICE "--device", "host:1:sse2"

/* Of energies after solves to 1e-12 with condition numbers up to 1e5, whose error is squared in them. */
static const double SAME = 1e-9;

static char file[64];

static int name_file(void **state) {
    (void)state;
    snprintf(file, sizeof file, "/tmp/weft-single-%ld.ufl", (long)getpid());
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

static bool is_double(const json_t *a) {
    const json_t *report = json_object_get(a, "preconditioner_report");
    return strstr(app_text((json_t *)report, "detail"), "in double precision") != NULL;
}

typedef struct problem {
    const char *cell, *mesh;
    int degree;
} problem;

/* The smaller ones of the numerical experiments. */
static const problem problems[] = {
    {"interval", "interval:64", 3},   {"triangle", "square:32", 2},    {"triangle", "square:16", 3},
    {"triangle", "square:12", 4},     {"tetrahedron", "cube:8", 2},    {"tetrahedron", "cube:5", 3},
    {"quadrilateral", "quads:24", 2}, {"quadrilateral", "quads:8", 6}, {"hexahedron", "hexes:6", 2},
    {"hexahedron", "hexes:5", 3},
};

static json_t *run(const problem *p, const char *c, const char *k, const char *assembly,
                   const char *tolerance) {
    return SOLVE(0, file, "--mesh", p->mesh, "--input", c, "--input", k, "--dirichlet",
                 "boundary=0", "--preconditioner", "aggregation", "--assembly", assembly,
                 "--tolerance", tolerance, DEVICE);
}

static void scalars(void **state) {
    (void)state;
    static const char *const ks[] = {"k=1", "k=select(x < 0.5, 1, 1e4)"};
    for (size_t i = 0; i < sizeof problems / sizeof *problems; ++i) {
        const problem *p = &problems[i];
        char text[500];
        snprintf(text, sizeof text,
                 "V = FiniteElement('P', %s, %d)\n"
                 "u, v, c = TrialFunction(V), TestFunction(V), Constant(%s)\n"
                 "k = Coefficient(FiniteElement('DG', %s, 0))\n"
                 "a, L = c*k*inner(grad(u), grad(v))*dx, c*v*dx\n",
                 p->cell, p->degree, p->cell, p->cell);
        put(text);
        for (int j = 0; j < 2; ++j) {
            json_t *single = run(p, "c=1", ks[j], "matrix-free", "1e-8"),
                   *wide = run(p, "c=1e100", ks[j], "matrix-free", "1e-8"),
                   *exact = run(p, "c=1", ks[j], "matrix-free", "1e-12"),
                   *stored = run(p, "c=1", ks[j], "csr", "1e-12");
            const double n = app_number(single, "iterations"), m = app_number(wide, "iterations");
            print_message("P%d %s: %g and %g iterations\n", p->degree, p->cell, n, m);
            assert_false(is_double(single));
            assert_true(is_double(wide));
            assert_true(fabs(n - m) <= 1);
            assert_double_near(app_number(exact, "energy") / app_number(stored, "energy"), 1, SAME,
                               0);
            json_decref(single);
            json_decref(wide);
            json_decref(exact);
            json_decref(stored);
        }
    }
}

/* Forms times 1, or times 1e100.
 *  same  the residual of both is measured alike */
static void compare(const char *mesh, const char *dirichlet, const char *preconditioner, int most,
                    bool same) {
    static const char *const cs[] = {"c=1", "c=1e100"};
    double iterations[2];
    for (int i = 0; i < 2; ++i) {
        json_t *a = SOLVE(0, file, "--mesh", mesh, "--input", cs[i], "--dirichlet", dirichlet,
                          "--preconditioner", preconditioner, "--assembly", "matrix-free",
                          "--tolerance", "1e-8", DEVICE);
        assert_int_equal(is_double(a), i);
        iterations[i] = app_number(a, "iterations");
        json_decref(a);
    }
    print_message("%s: %g and %g iterations\n", mesh, iterations[0], iterations[1]);
    assert_true(iterations[0] <= most && iterations[1] <= most);
    assert_true(!same || fabs(iterations[0] - iterations[1]) <= 1);
}

static void solids(void **state) {
    (void)state;
    static const char text[] = "V = VectorElement('P', %s, 2)\n"
                               "u, v = TrialFunction(V), TestFunction(V)\n"
                               "c = Coefficient(FiniteElement('DG', %s, 0))\n"
                               "a = c*(2*inner(sym(grad(u)), sym(grad(v))) + div(u)*div(v))*dx\n"
                               "L = c*v[0]*dx\n";
    static const char *const cells[] = {"triangle", "tetrahedron", "hexahedron"},
                             *const meshes[] = {"square:12", "cube:4", "hexes:4"},
                             *const held[] = {"left=0,0", "left=0,0,0", "left=0,0,0"};
    char written[500];
    for (int i = 0; i < 3; ++i) {
        snprintf(written, sizeof written, text, cells[i], cells[i]);
        put(written);
        compare(meshes[i], held[i], "aggregation", 24, true);
    }
}

/* The first of two blocks, whose iterations are those of numerical experiments; the second one's residual counts less beside a large
 * viscosity. */
static void blocks(void **state) {
    (void)state;
    static const char text[] = "V, Q = VectorElement('P', %s, 2), FiniteElement('P', %s, 1)\n"
                               "(u, p), (v, q) = TrialFunctions(V*Q), TestFunctions(V*Q)\n"
                               "c = Coefficient(FiniteElement('DG', %s, 0))\n"
                               "a = c*inner(grad(u), grad(v))*dx - (div(v)*p + q*div(u))*dx\n"
                               "x = SpatialCoordinate(%s)\n"
                               "L = c*(sin(3*x[1])*v[0] + cos(2*x[0])*v[1])*dx\n";
    static const char *const cells[] = {"triangle", "hexahedron"},
                             *const meshes[] = {"square:10", "hexes:4"},
                             *const held[] = {"boundary=0,0,free", "boundary=0,0,0,free"};
    char written[600];
    for (int i = 0; i < 2; ++i) {
        snprintf(written, sizeof written, text, cells[i], cells[i], cells[i], cells[i]);
        put(written);
        compare(meshes[i], held[i], "block", 36, false);
    }
}

/* The residual's norm, the diagonal's size and the load leave the range of floats alone and together, up to 1e30 either way: neither
 * iterations nor, relative to units, the solution change. */
static void units(void **state) {
    (void)state;
    put("V = FiniteElement('P', triangle, 2)\n"
        "u, v, c, f = TrialFunction(V), TestFunction(V), Constant(triangle), Constant(triangle)\n"
        "a, L = c*inner(grad(u), grad(v))*dx, f*v*dx\n");
    static const char *const cs[] = {"c=1", "c=1e-20", "c=1e20", "c=1e-30", "c=1e30", "c=1"},
                             *const fs[] = {"f=1", "f=1", "f=1", "f=1e-30", "f=1e-30", "f=1e-150"};
    static const double energies[] = {1, 1e20, 1e-20, 1e-30, 1e-90, 1e-300};
    double first[2] = {0};
    for (int i = 0; i < 6; ++i) {
        json_t *a = SOLVE(0, file, "--mesh", "square:16", "--input", cs[i], "--input", fs[i],
                          "--dirichlet", "boundary=0", "--preconditioner", "aggregation",
                          "--assembly", "matrix-free", "--tolerance", "1e-11", DEVICE);
        const double now[2] = {app_number(a, "iterations"), app_number(a, "energy") / energies[i]};
        assert_true(i == 0 || fabs(now[0] - first[0]) <= 1);
        assert_true(i == 0 || fabs(now[1] / first[1] - 1) < SAME);
        assert_true(i > 2 || !is_double(a));
        if (i == 0)
            memcpy(first, now, sizeof now);
        json_decref(a);
    }
}

/* 4 + 3 sin(40 x) as the difference of numbers that floats round to 1/16: the product is compared, and made in double precision. */
static void cancellation(void **state) {
    (void)state;
    put("V = FiniteElement('P', triangle, 2)\n"
        "u, v, f = TrialFunction(V), TestFunction(V), Constant(triangle)\n"
        "k = Coefficient(FiniteElement('DG', triangle, 0))\n"
        "a, L = (k - 1e6)*inner(grad(u), grad(v))*dx, f*v*dx\n");
    static const char *const ks[] = {"k=1e6+4+3*sin(40*x)", "k=1e3+3*sin(40*x)"};
    for (int i = 0; i < 2; ++i) {
        if (i == 1)
            put("V = FiniteElement('P', triangle, 2)\n"
                "u, v, f = TrialFunction(V), TestFunction(V), Constant(triangle)\n"
                "k = Coefficient(FiniteElement('DG', triangle, 0))\n"
                "a, L = (k - 1e2)*inner(grad(u), grad(v))*dx, f*v*dx\n");
        json_t *a = SOLVE(0, file, "--mesh", "square:16", "--input", ks[i], "--input", "f=1",
                          "--dirichlet", "boundary=0", "--preconditioner", "aggregation",
                          "--assembly", "matrix-free", "--method", "cg", DEVICE);
        assert_int_equal(is_double(a), i == 0);
        assert_string_equal(app_text(a, "outcome"), "converged");
        json_decref(a);
    }
}

/* Newton's method changes the coefficient of levels by orders of magnitude, which the levels of single precision follow: with inputs of
 * the first matrix the third degree takes several times the iterations. */
static void newton(void **state) {
    (void)state;
    put("V = FiniteElement('P', triangle, 3)\n"
        "u, v, f = Coefficient(V), TestFunction(V), Coefficient(V)\n"
        "F = (1 + inner(grad(u), grad(u)))*inner(grad(u), grad(v))*dx - f*v*dx\n");
    json_t *a = SOLVE(0, file, "--nonlinear", "--mesh", "square:16", "--input", "f=-(4e2+24e6*x^2)",
                      "--dirichlet", "boundary=1e2*x^2+y", "--exact", "1e2*x^2+y",
                      "--preconditioner", "aggregation", "--assembly", "matrix-free", "--tolerance",
                      "1e-10", "--newton-tolerance", "1e-11", DEVICE);
    assert_true(json_is_true(json_object_get(a, "newton_converged")));
    assert_true(app_number(a, "l2_error") < 1e-6);
    assert_false(is_double(a));
    json_decref(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(scalars),      cmocka_unit_test(solids),
                                       cmocka_unit_test(blocks),       cmocka_unit_test(units),
                                       cmocka_unit_test(cancellation), cmocka_unit_test(newton)};
    return cmocka_run_group_tests(tests, name_file, remove_file);
}
