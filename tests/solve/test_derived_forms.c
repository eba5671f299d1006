/* labels: full
 * Integrals, extrema, fields and lines of solve with form files, whose coefficients have other numbers of components than
 * the unknown and than each other, in the same and in other elements, on every cell.
 * Tolerance: 1e-12, sums of some hundred terms of size 1. */
#include "solve_run.h"

#include <unistd.h>

/* The least to compile. */
#define DEVICE "--device", "host:1:sse2"

static const double NEAR = 1e-12;
static const struct {
    const char *cell, *mesh, *line;
} cells[] = {{"interval", "interval:4", "0.3:0.9:3"},
             {"triangle", "square:3", "0.3,0.4:0.9,0.4:3"},
             {"quadrilateral", "quads:3", "0.3,0.4:0.9,0.4:3"},
             {"tetrahedron", "cube:2", "0.3,0.4,0.2:0.9,0.4,0.2:3"},
             {"hexahedron", "hexes:2", "0.3,0.4,0.2:0.9,0.4,0.2:3"}};

static char *folder, file[4096], csv[4096];

static int setup(void **state) {
    (void)state;
    folder = test_folder_make();
    snprintf(file, sizeof file, "%s/forms.ufl", folder);
    snprintf(csv, sizeof csv, "%s/line.csv", folder);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    test_folder_remove(&folder);
    return 0;
}

static void put(const char *format, const char *cell) {
    FILE *stream = fopen(file, "w");
    assert_non_null(stream);
    fprintf(stream, "cell = %s\n%s", cell, format);
    assert_int_equal(fclose(stream), 0);
}

static double integral(const json_t *root, size_t i, size_t k) {
    return solve_item(root, "derived", i, "integral", k);
}

/* The values of the line are those of w = (1 + x, 3) and s = x in the columns after the place and u. */
static void check_line(int d, int n_u) {
    FILE *stream = fopen(csv, "r");
    char line[1024];
    assert_non_null(stream);
    assert_non_null(fgets(line, sizeof line, stream));
    for (int i = 0; i < 3; ++i) {
        double numbers[16];
        int n = 0;
        assert_non_null(fgets(line, sizeof line, stream));
        for (char *at = strtok(line, ","); at && n < 16; at = strtok(NULL, ","))
            numbers[n++] = atof(at);
        const double *fields = numbers + 1 + d + n_u;
        assert_int_equal(n, 1 + d + n_u + 3);
        expect(fields[0], 1 + numbers[1], 1e-9);
        expect(fields[1], 3, 1e-9);
        expect(fields[2], numbers[1], 1e-9);
    }
    (void)fclose(stream);
}

/* w = (1 + x, 3) and s = x, whose integrals are (1.5, 3) and 0.5; d w_0/dx = 1. */
static void check(int i, int n_u, const char *dirichlet) {
    char line[4200];
    snprintf(line, sizeof line, "%s=%s", cells[i].line, csv);
    const int d = i == 0 ? 1 : i < 3 ? 2 : 3;
    json_t *root =
        SOLVE(0, file, "--mesh", cells[i].mesh, "--input", "w=1+x,3", "--input", "s=x",
              "--dirichlet", dirichlet, "--derive", "both = w", "--derive", "one = s",
              "--projection", "lumped", "--integral", "W = w", "--integral", "S = s", "--integral",
              "P = s*w", "--integral", "G = grad(w)", "--integral", "R@right = w", "--integral",
              "T@right = s", "--extrema", "W = w[0]", "--extrema", "S = s", "--line", line, DEVICE);
    expect(integral(root, 0, 0), 1.5, NEAR);
    expect(integral(root, 0, 1), 3, NEAR);
    expect(integral(root, 1, 0), 0.5, NEAR);
    expect(integral(root, 2, 0), 5.0 / 6, NEAR);
    expect(integral(root, 2, 1), 1.5, NEAR);
    for (int k = 0; k < 2 * d; ++k)
        expect(integral(root, 3, (size_t)k), k == 0, NEAR);
    expect(integral(root, 4, 0), 2, NEAR);
    expect(integral(root, 4, 1), 3, NEAR);
    expect(integral(root, 5, 0), 1, NEAR);
    expect(solve_item(root, "derived", 6, "least", 0), 1, NEAR);
    expect(solve_item(root, "derived", 6, "greatest", 0), 2, NEAR);
    expect(solve_item(root, "derived", 7, "least", 0), 0, NEAR);
    expect(solve_item(root, "derived", 7, "greatest", 0), 1, NEAR);
    json_decref(root);
    check_line(d, n_u);
}

/* Which of the inputs makes the set of their common element differs by their order and by the unknown's element. */
static void components_of_coefficients(void **state) {
    (void)state;
    for (int i = 0; i < 5; ++i) {
        put("V = FiniteElement('P', cell, 1)\n"
            "u, v = TrialFunction(V), TestFunction(V)\n"
            "w, s = Coefficient(VectorElement('P', cell, 1, dim=2)), Coefficient(V)\n"
            "a, L = inner(grad(u), grad(v))*dx + w[1]*u*v*dx, s*v*dx\n",
            cells[i].cell);
        check(i, 1, "left=0");
        put("V = VectorElement('P', cell, 1, dim=2)\n"
            "W, S = VectorElement('P', cell, 2, dim=2), FiniteElement('P', cell, 2)\n"
            "u, v = TrialFunction(V), TestFunction(V)\n"
            "w, s = Coefficient(W), Coefficient(S)\n"
            "a, L = s*inner(grad(u), grad(v))*dx + w[1]*inner(u, v)*dx, inner(w, v)*dx\n",
            cells[i].cell);
        check(i, 2, "left=0,0");
    }
    put("V = VectorElement('P', cell, 1)\n"
        "W, S = VectorElement('P', cell, 2), FiniteElement('P', cell, 2)\n"
        "u, v = TrialFunction(V), TestFunction(V)\n"
        "s, w, k = Coefficient(S), Coefficient(W), Coefficient(FiniteElement('P', cell, 1))\n"
        "a, L = s*inner(grad(u), grad(v))*dx + k*inner(u, v)*dx, inner(w, v)*dx\n",
        "triangle");
    json_t *root = SOLVE(0, file, "--mesh", "square:3", "--input", "w=1+x,3", "--input", "s=x",
                         "--input", "k=y", "--dirichlet", "left=0,0", "--integral", "W = w",
                         "--integral", "S = s", "--integral", "K = k*w", DEVICE);
    expect(integral(root, 0, 0), 1.5, NEAR);
    expect(integral(root, 0, 1), 3, NEAR);
    expect(integral(root, 1, 0), 0.5, NEAR);
    expect(integral(root, 2, 0), 0.75, NEAR);
    expect(integral(root, 2, 1), 1.5, NEAR);
    json_decref(root);
}

/* In an enriched space dofs are values at nodes: 1 has 1 at bubbles, whose part as a term is 0. The L2 projection u of f has the
 * integral of f and that of u f = u^2; a body at 1 stays there, and its error against 1 is none. */
static void enriched_functions(void **state) {
    (void)state;
    static const char head[] = "V = FiniteElement('P', cell, 1) + FiniteElement('B', cell, 3)\n"
                               "u, v = TrialFunction(V), TestFunction(V)\n"
                               "c, x = Coefficient(V), SpatialCoordinate(cell)\n";
    char text[600];
    snprintf(text, sizeof text,
             "%sa, L = c*inner(u, v)*dx, c*(x[0]*x[0] + x[1])*v*dx\nn = c*v*ds\n", head);
    put(text, "triangle");
    json_t *root =
        SOLVE(0, file, "--mesh", "square:3", "--input", "c=1", "--tolerance", "1e-14", "--integral",
              "I = u", "--integral", "J = u*u - u*(x*x + y)", "--integral", "C = c", "--integral",
              "G = norm2(grad(c))", "--dirichlet", "left=free", DEVICE);
    const double mean = 1.0 / 3 + 0.5;
    expect(integral(root, 0, 0), mean, 1e-10);
    expect(integral(root, 1, 0), 0, 1e-10);
    expect(integral(root, 2, 0), 1, 1e-10);
    expect(integral(root, 3, 0), 0, 1e-10);
    expect(app_number(root, "integral_u"), mean, 1e-10);
    json_decref(root);
    snprintf(text, sizeof text, "%sm, a, L = u*v*dx, c*inner(grad(u), grad(v))*dx, (c - 1)*v*dx\n",
             head);
    put(text, "triangle");
    root = SOLVE(0, file, "--mesh", "square:3", "--input", "c=1", "--time", "0.1,0.2", "--initial",
                 "1", "--probe", "0.2,0.3", "--exact", "1", "--dirichlet", "left=1", "--tolerance",
                 "1e-13", DEVICE);
    expect(app_probe_value(root, 0), 1, 1e-10);
    expect(app_number(root, "integral_u"), 1, 1e-10);
    expect(app_number(root, "l2_error"), 0, 1e-10);
    json_decref(root);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(components_of_coefficients),
                                       cmocka_unit_test(enriched_functions)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
