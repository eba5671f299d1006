/* labels: quick */
/* Values of solutions in elements of any degree and on any cells, continuous, discontinuous and mixed, at
 * probes and along lines: u is the interpolant of a polynomial of the space, found as the solution of a
 * problem with the mass matrix, so that all values are those of the polynomial.
 * Tolerance: solved to 1e-13 of the load, values of size 1, condition numbers up to 1e3: 1e-8. */
#include "solve_run.h"

#include <unistd.h>

static const double NEAR = 1e-8;

static char file[64], csv[64];

static int name_files(void **state) {
    (void)state;
    snprintf(file, sizeof file, "/tmp/weft-values-%ld.ufl", (long)getpid());
    snprintf(csv, sizeof csv, "/tmp/weft-values-%ld.csv", (long)getpid());
    return 0;
}

static int remove_files(void **state) {
    (void)state;
    unlink(csv);
    return unlink(file);
}

static void put(const char *format, const char *element, const char *cell) {
    FILE *stream = fopen(file, "w");
    assert_non_null(stream);
    fprintf(stream, format, element, cell);
    assert_int_equal(fclose(stream), 0);
}

/* u = f, f in the same space */
static const char mass[] = "V = %s\n"
                           "cell = %s\n"
                           "u, v, f = TrialFunction(V), TestFunction(V), Coefficient(V)\n"
                           "a = inner(u, v)*dx\n"
                           "L = inner(f, v)*dx\n";

typedef struct space_case {
    const char *element, *cell, *mesh;
    int d, components, degree;
} space_case;

static const space_case spaces[] = {
    {"FiniteElement('P', interval, 3)", "interval", "interval:5", 1, 1, 3},
    {"FiniteElement('P', triangle, 2)", "triangle", "square:3", 2, 1, 2},
    {"VectorElement('P', triangle, 4)", "triangle", "square:2", 2, 2, 4},
    {"FiniteElement('DG', triangle, 1)", "triangle", "square:3", 2, 1, 1},
    {"VectorElement('Q', quadrilateral, 2)", "quadrilateral", "quads:3", 2, 2, 2},
    {"FiniteElement('DQ', quadrilateral, 3)", "quadrilateral", "quads:2", 2, 1, 3},
    {"FiniteElement('P', tetrahedron, 2)", "tetrahedron", "cube:2", 3, 1, 2},
    {"VectorElement('Q', hexahedron, 2)", "hexahedron", "hexes:2", 3, 3, 2}};
enum { N_SPACES = sizeof spaces / sizeof *spaces };

/* Component k: (k + 1) x^p + y^p + z x, of total degree p at least 2, else x + 2 y. */
static void formula_of(const space_case *s, int k, char *out, size_t size) {
    const int n = snprintf(out, size, "%d*x^%d", k + 1, s->degree);
    if (s->d > 1)
        snprintf(out + n, size - (size_t)n, "+y^%d%s", s->degree, s->d > 2 ? "+z*x" : "");
}

static double value_of(const space_case *s, int k, const double *x) {
    return (k + 1) * pow(x[0], s->degree) + (s->d > 1 ? pow(x[1], s->degree) : 0) +
           (s->d > 2 ? x[2] * x[0] : 0);
}

static void list_formulas(const space_case *s, char out[400]) {
    out[0] = '\0';
    for (int k = 0; k < s->components; ++k) {
        char one[100];
        formula_of(s, k, one, sizeof one);
        strcat(out, k ? "," : "");
        strcat(out, one);
    }
}

static void check_line(const space_case *s, const double *from, const double *to) {
    double row[10];
    char head[200];
    FILE *stream = fopen(csv, "r");
    assert_non_null(stream);
    assert_non_null(fgets(head, sizeof head, stream));
    assert_string_equal(head, s->d == 1                        ? "distance,x,u\n"
                              : s->d == 2 && s->components < 2 ? "distance,x,y,u\n"
                              : s->d == 2                      ? "distance,x,y,u_0,u_1\n"
                              : s->components < 2              ? "distance,x,y,z,u\n"
                                                               : "distance,x,y,z,u_0,u_1,u_2\n");
    for (int i = 0; i < 6; ++i) {
        for (int k = 0; k < 1 + s->d + s->components; ++k)
            assert_int_equal(fscanf(stream, k ? ",%lf" : "%lf", &row[k]), 1);
        for (int a = 0; a < s->d; ++a)
            assert_double_near(row[1 + a], from[a] + i / 5.0 * (to[a] - from[a]), 1e-14, 1e-14);
        for (int k = 0; k < s->components; ++k)
            assert_double_near(row[1 + s->d + k], value_of(s, k, row + 1), NEAR, NEAR);
    }
    fclose(stream);
}

static void check_space(const space_case *s) {
    static const double point[3] = {0.31, 0.77, 0.52}, from[3] = {0, 0.1, 0.2}, to[3] = {1, 0.9, 0.4};
    char formulas[400], input[420], condition[420], probe[64], line[160], exact[64];
    list_formulas(s, formulas);
    put(mass, s->element, s->cell);
    snprintf(input, sizeof input, "f=%s", formulas);
    snprintf(condition, sizeof condition, "boundary=%s", formulas);
    snprintf(probe, sizeof probe, s->d == 1 ? "%g" : s->d == 2 ? "%g,%g" : "%g,%g,%g", point[0], point[1],
             point[2]);
    snprintf(exact, sizeof exact, s->d == 1 ? "0:1" : s->d == 2 ? "0,0.1:1,0.9" : "0,0.1,0.2:1,0.9,0.4");
    snprintf(line, sizeof line, "%s:6=%s", exact, csv);
    json_t *root = SOLVE(0, file, "--mesh", s->mesh, "--input", input, "--tolerance", "1e-13", "--dirichlet",
                         condition, "--probe", probe, "--line", line, "--device", "host:1:sse2");
    const json_t *u =
        json_object_get(json_array_get(json_object_get(root, "probes"), 0), "u");
    for (int k = 0; k < s->components; ++k)
        assert_double_near(
            json_number_value(s->components > 1 ? json_array_get(u, (size_t)k) : u),
            value_of(s, k, point), NEAR, NEAR);
    check_line(s, from, to);
    json_decref(root);
}

static void test_spaces(void **state) {
    (void)state;
    for (int i = 0; i < N_SPACES; ++i)
        check_space(&spaces[i]);
}

/* A mixed function has the components of its parts, at points too. */
static void test_mixed(void **state) {
    (void)state;
    put("W = MixedElement(VectorElement('P', %s, 2), FiniteElement('DG', %s, 1))\n"
        "(u, p), (v, q) = TrialFunctions(W), TestFunctions(W)\n"
        "f = Coefficient(W)\n"
        "g, r = split(f)\n"
        "a = inner(u, v)*dx + p*q*dx\n"
        "L = inner(g, v)*dx + r*q*dx\n",
        "triangle", "triangle");
    json_t *root = SOLVE(0, file, "--mesh", "square:3", "--input", "f=x^2,x*y,1+x-y", "--tolerance",
                         "1e-13", "--method", "minres", "--probe", "0.3,0.6", "--dirichlet",
                         "left=0,0,free");
    const json_t *u =
        json_object_get(json_array_get(json_object_get(root, "probes"), 0), "u");
    assert_int_equal(json_array_size(u), 3);
    static const double wanted[3] = {0.09, 0.18, 0.7};
    for (size_t k = 0; k < 3; ++k)
        assert_double_near(json_number_value(json_array_get(u, k)), wanted[k], NEAR, NEAR);
    json_decref(root);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_spaces), cmocka_unit_test(test_mixed)};
    return cmocka_run_group_tests(tests, name_files, remove_files);
}
