/* labels: full */
/* Values of solutions in elements of any degree and on any cells, continuous, discontinuous and mixed, at
 * probes and along lines, and quantities derived from them: gradients in cells and at nodes, integrals over
 * cells and facets, extrema, reactions. u is the interpolant of a polynomial of the space, found as the solution of a
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
    static const double point[3] = {0.31, 0.77, 0.52}, from[3] = {0, 0.1, 0.2},
                        to[3] = {1, 0.9, 0.4};
    char formulas[400], input[420], condition[420], probe[64], line[160], exact[64];
    list_formulas(s, formulas);
    put(mass, s->element, s->cell);
    snprintf(input, sizeof input, "f=%s", formulas);
    snprintf(condition, sizeof condition, "boundary=%s", formulas);
    snprintf(probe, sizeof probe,
             s->d == 1   ? "%g"
             : s->d == 2 ? "%g,%g"
                         : "%g,%g,%g",
             point[0], point[1], point[2]);
    snprintf(exact, sizeof exact,
             s->d == 1   ? "0:1"
             : s->d == 2 ? "0,0.1:1,0.9"
                         : "0,0.1,0.2:1,0.9,0.4");
    snprintf(line, sizeof line, "%s:6=%s", exact, csv);
    json_t *root =
        SOLVE(0, file, "--mesh", s->mesh, "--input", input, "--tolerance", "1e-13", "--dirichlet",
              condition, "--probe", probe, "--line", line, "--device", "host:1:sse2");
    const json_t *u = json_object_get(json_array_get(json_object_get(root, "probes"), 0), "u");
    for (int k = 0; k < s->components; ++k)
        assert_double_near(json_number_value(s->components > 1 ? json_array_get(u, (size_t)k) : u),
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
    json_t *root =
        SOLVE(0, file, "--mesh", "square:3", "--input", "f=x^2,x*y,1+x-y", "--tolerance", "1e-13",
              "--method", "minres", "--probe", "0.3,0.6", "--dirichlet", "left=0,0,free");
    const json_t *u = json_object_get(json_array_get(json_object_get(root, "probes"), 0), "u");
    assert_int_equal(json_array_size(u), 3);
    static const double wanted[3] = {0.09, 0.18, 0.7};
    for (size_t k = 0; k < 3; ++k)
        assert_double_near(json_number_value(json_array_get(u, k)), wanted[k], NEAR, NEAR);
    json_decref(root);
}

/* ---- derived quantities ---------------------------------------------------------------------- */

static const json_t *derived(const json_t *root, const char *name) {
    const json_t *list = json_object_get(root, "derived");
    for (size_t i = 0; i < json_array_size(list); ++i)
        if (strcmp(app_text(json_array_get(list, i), "name"), name) == 0)
            return json_array_get(list, i);
    fail_msg("%s is not there", name);
    return NULL;
}

static double integral(const json_t *root, const char *name) {
    return json_number_value(json_object_get(derived(root, name), "integral"));
}

/* Component 0 is f = x^p + y^p + z x over the unit cube of dimension d. */
static void check_derived(const space_case *s) {
    char formulas[400], input[420], condition[420], line[160];
    const int p = s->degree, d = s->d;
    const char *u = s->components > 1 ? "u[0]" : "u",
               *gradient = s->components > 1 ? "grad(u)[0]" : "grad(u)";
    char square[64], slope[64], flux[96], balance[96], rest[64], apart[64];
    list_formulas(s, formulas);
    put(mass, s->element, s->cell);
    snprintf(input, sizeof input, "f=%s", formulas);
    snprintf(condition, sizeof condition, "boundary=%s", formulas);
    snprintf(line, sizeof line, "%s:6=%s",
             d == 1   ? "0:1"
             : d == 2 ? "0,0.1:1,0.9"
                      : "0,0.1,0.2:1,0.9,0.4",
             csv);
    snprintf(square, sizeof square, "square=%s*%s", u, u);
    snprintf(slope, sizeof slope, "slope=%s[0]", gradient);
    snprintf(flux, sizeof flux, "flux@right=dot(%s, normal)", gradient);
    snprintf(balance, sizeof balance, "balance@boundary=%s*normal[0]", u);
    snprintf(apart, sizeof apart, "apart=u%s-f%s", s->components > 1 ? "[0]" : "",
             s->components > 1 ? "[0]" : "");
    snprintf(rest, sizeof rest, "most@right=%s", u);
    json_t *root =
        SOLVE(0, file, "--mesh", s->mesh, "--input", input, "--tolerance", "1e-13", "--dirichlet",
              condition, "--derive", slope, "--projection", "lumped", "--integral", square,
              "--integral", "change=slope", "--integral", flux, "--integral", balance, "--extrema",
              apart, "--extrema", rest, "--line", line, "--device", "host:2:sse2");
    /* int f^2, the change of f along x, its slope at x = 1 */
    const double q = p, mean = 1 / (q + 1);
    double wanted = 1 / (2 * q + 1);
    if (d > 1)
        wanted = 2 / (2 * q + 1) + 2 * mean * mean;
    if (d > 2) /* + 2 (x^p + y^p) z x + z^2 x^2 */
        wanted += 1 / (q + 2) + mean / 2 + 1.0 / 9;
    assert_double_near(integral(root, "square"), wanted, NEAR, NEAR);
    assert_double_near(integral(root, "change"), d > 2 ? 1.5 : 1, NEAR, NEAR);
    assert_double_near(integral(root, "flux"), d > 2 ? q + 0.5 : q, NEAR, NEAR);
    assert_double_near(integral(root, "balance"), d > 2 ? 1.5 : 1, NEAR, NEAR); /* Gauss */
    const json_t *most = derived(root, "most");
    assert_double_near(json_number_value(json_object_get(most, "greatest")), d, NEAR, NEAR);
    for (int a = 0; a < d; ++a) {
        const json_t *at = json_object_get(most, "greatest_at");
        assert_double_near(json_number_value(d > 1 ? json_array_get(at, (size_t)a) : at), 1, 1e-14,
                           1e-14);
    }
    assert_true(fabs(json_number_value(json_object_get(derived(root, "apart"), "greatest"))) <
                NEAR);
    json_decref(root);
}

static void test_derived(void **state) {
    (void)state;
    for (int i = 0; i < N_SPACES; ++i)
        check_derived(&spaces[i]);
}

/* The last column of the line's rows. */
static void check_column(int columns, double (*wanted)(const double *row)) {
    char head[200];
    double row[16];
    FILE *stream = fopen(csv, "r");
    assert_non_null(stream);
    assert_non_null(fgets(head, sizeof head, stream));
    for (int i = 0; i < 6; ++i) {
        for (int k = 0; k < columns; ++k)
            assert_int_equal(fscanf(stream, k ? ",%lf" : "%lf", &row[k]), 1);
        assert_double_near(row[columns - 1], wanted(row), NEAR, NEAR);
    }
    fclose(stream);
}

static double linear_slope(const double *row) {
    return 2 * row[1];
}

static double square_slope(const double *row) {
    return 3 * row[1] * row[1];
}

/* At nodes: the derivative of x^2 in P2 is the linear 2x, which means of cells and projections reproduce; in
 * discontinuous elements each cell has its own values, here 3 x^2 of x^3. */
static void test_nodal(void **state) {
    (void)state;
    char line[100];
    static const char *const projections[] = {"lumped", "consistent"};
    snprintf(line, sizeof line, "0.05,0.1:0.95,0.9:6=%s", csv);
    for (int i = 0; i < 2; ++i) {
        put(mass, "FiniteElement('P', triangle, 2)", "triangle");
        json_decref(SOLVE(0, file, "--mesh", "square:4", "--input", "f=x^2", "--tolerance", "1e-13",
                          "--dirichlet", "boundary=x^2", "--derive", "g=grad(u)[0]", "--projection",
                          projections[i], "--line", line));
        check_column(5, linear_slope);
        put(mass, "FiniteElement('DQ', quadrilateral, 3)", "quadrilateral");
        json_decref(SOLVE(0, file, "--mesh", "quads:3", "--input", "f=x^3", "--tolerance", "1e-13",
                          "--dirichlet", "boundary=x^3", "--derive", "g=grad(u)[0]", "--projection",
                          projections[i], "--line", line));
        check_column(5, square_slope);
    }
}

/* Constants, functions of other spaces and their gradients, tensors; a mixed function's components. */
static void test_names(void **state) {
    (void)state;
    put("W = MixedElement(VectorElement('P', %s, 2), FiniteElement('DG', %s, 1))\n"
        "(u, p), (v, q) = TrialFunctions(W), TestFunctions(W)\n"
        "f, k, c = Coefficient(W), Constant(triangle), VectorConstant(triangle)\n"
        "w = Coefficient(FiniteElement('DG', triangle, 0))\n"
        "h = Coefficient(FiniteElement('P', triangle, 3))\n"
        "g, r = split(f)\n"
        "a = k*inner(u, v)*dx + w*p*q*dx\n"
        "L = k*inner(g, v)*dx + w*r*q*dx + 1e-30*(h + c[0])*q*dx\n",
        "triangle", "triangle");
    json_t *root =
        SOLVE(0, file, "--mesh", "square:3", "--input", "f=x^2,x*y,1+x-y", "--input", "k=1/2",
              "--input", "c=3,4", "--input", "w=2", "--input", "h=x^3", "--tolerance", "1e-13",
              "--method", "minres", "--dirichlet", "left=0,0,free", "--integral",
              "a=k*w*u[2]*h + c[1]", "--integral", "b=grad(u)[1][0] + grad(h)[0]", "--integral",
              "e=u[2]-f[2]", "--integral", "s@right=w*h*normal[0]");
    /* int (1 + x - y) x^3 + 4;  int y + 3 x^2 */
    assert_double_near(integral(root, "a"), 0.25 + 0.2 - 0.125 + 4, NEAR, NEAR);
    assert_double_near(integral(root, "b"), 1.5, NEAR, NEAR);
    assert_double_near(integral(root, "e"), 0, 0, NEAR);
    assert_double_near(integral(root, "s"), 2, NEAR, NEAR);
    json_decref(root);
}

static void refuse(const char *option, const char *value, const char *words) {
    const char *const command[] = {WEFT_BINARY_DIR "/solve",
                                   file,
                                   "--mesh",
                                   "quads:2",
                                   "--input",
                                   "f=x",
                                   option,
                                   value,
                                   "--quiet",
                                   NULL};
    test_run run = test_program(command, NULL);
    if (run.exit_code != 2 || !strstr(run.error, words))
        fail_msg("%s %s: exit %d: %s", option, value, run.exit_code, run.error);
    test_run_free(&run);
}

static void test_refused(void **state) {
    (void)state;
    put(mass, "FiniteElement('Q', quadrilateral, 2)", "quadrilateral");
    refuse("--derive", "g=grad(w)",
           "--derive g:1:6: error: grad is of the solution or a nodal input alone");
    refuse("--derive", "g=ff",
           "--derive g:1:1: error: 'ff' has no value here\n    ff\n    ^\nhint: did you mean "
           "'f'?");
    refuse("--derive", "s=strain(u)", "--derive s:1:1: error: the solution has no strain");
    refuse("--integral", "a=normal[0]", "'normal' has a value on facets only");
    refuse("--integral", "a@lft=u", "--integral a@lft");
    refuse("--extrema", "a=grad(u)", "extrema are of a number, and this formula has 2 components");
    refuse("--probe", "1,2,3", "--probe 1,2,3: error: this point has 3 coordinates");
}

/* Supports balance the loads, and carry the derivative of the exact solution: -u'' = 2 between 0 and 1. */
static void test_reactions(void **state) {
    (void)state;
    put("u, v = TrialFunction(%s), TestFunction(%s)\n"
        "a = inner(grad(u), grad(v))*dx\nL = 2*v*dx\n",
        "FiniteElement('Q', quadrilateral, 3)", "FiniteElement('Q', quadrilateral, 3)");
    json_t *root = SOLVE(0, file, "--mesh", "quads:3", "--dirichlet", "left=0", "--dirichlet",
                         "right=0", "--reactions", "--tolerance", "1e-13");
    const json_t *list = json_object_get(root, "reactions");
    assert_int_equal(json_array_size(list), 2);
    for (size_t i = 0; i < 2; ++i)
        assert_double_near(json_number_value(json_object_get(json_array_get(list, i), "reaction")),
                           -1, NEAR, NEAR);
    assert_double_near(app_number(root, "loads"), 2, NEAR, NEAR);
    json_decref(root);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spaces),   cmocka_unit_test(test_mixed),
        cmocka_unit_test(test_derived),  cmocka_unit_test(test_nodal),
        cmocka_unit_test(test_names),    cmocka_unit_test(test_refused),
        cmocka_unit_test(test_reactions)};
    return cmocka_run_group_tests(tests, name_files, remove_files);
}
