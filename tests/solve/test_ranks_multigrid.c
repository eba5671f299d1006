/* labels: full */
/* Multigrid on several ranks: the same bits for any number, and one process's solution to 1e-9. Levels of more than 5000 rows are
 * divided among ranks: a mesh of 25921 nodes has two of them, and a smaller one none. */
#include "ranks_run.h"

#include <stdio.h>

#define CONDITIONS                                                                                 \
    "--source", "1+x*exp(y)", "--diffusivity", "1+x*y", "--dirichlet", "left=y", "--neumann",      \
        "right=sin(y)", "--robin", "top=1+x,x"

static const char *const kinds[] = {"multigrid", "aggregation"};

/* Levels and bounds of eigenvalues are those of one process, but for entries that rounding makes strong or weak, and what the
 * ranks solved with is reported. */
static void check_levels(const rank_case *one, const char *kind, int64_t largest) {
    json_t *whole = ranks_run(one, NULL, NULL), *parts = ranks_run(one, "--ranks", "3");
    const json_t *a = json_object_get(json_object_get(whole, "preconditioner_report"), "levels"),
                 *b = json_object_get(json_object_get(parts, "preconditioner_report"), "levels");
    assert_string_equal(json_string_value(json_object_get(parts, "preconditioner")), kind);
    assert_true(json_array_size(a) > 1 && json_array_size(a) == json_array_size(b));
    assert_true(app_number(json_array_get(b, 0), "rows") == (double)largest);
    for (size_t i = 0; i < json_array_size(a); ++i) {
        const json_t *x = json_array_get(a, i), *y = json_array_get(b, i);
        assert_double_near(app_number(x, "rows"), app_number(y, "rows"), 0.02, 0);
        assert_double_near(app_number(x, "entries"), app_number(y, "entries"), 0.02, 0);
        assert_double_near(app_number(x, "lambda"), app_number(y, "lambda"), 0.02, 0);
    }
    json_decref(whole);
    json_decref(parts);
}

static void test_plane(void **state) {
    (void)state;
    for (int i = 0; i < 2; ++i) {
        const rank_case one = {
            "poisson",
            {"--mesh", "square:160", "--preconditioner", kinds[i], CONDITIONS, IN_PLANE}};
        ranks_check(&one);
        check_levels(&one, kinds[i], 161 * 161);
    }
}

static void test_space(void **state) {
    (void)state;
    for (int i = 0; i < 2; ++i) {
        const rank_case one = {"poisson",
                               {"--mesh", "cube:24", "--preconditioner", kinds[i], "--source",
                                "x*y+z", "--diffusivity", "1+z", IN_SPACE}};
        ranks_check(&one);
        check_levels(&one, kinds[i], 25 * 25 * 25);
    }
}

/* All levels are computed by each rank, or there is one alone. */
static void test_small(void **state) {
    (void)state;
    for (int i = 0; i < 2; ++i) {
        const rank_case cases[] = {
            {"poisson",
             {"--mesh", "cube:8", "--preconditioner", kinds[i], "--source", "x", IN_SPACE}},
            {"poisson",
             {"--mesh", "square:30", "--preconditioner", kinds[i], "--source", "x", IN_PLANE}}};
        ranks_check(&cases[0]);
        ranks_check(&cases[1]);
    }
}

static void test_methods(void **state) {
    (void)state;
    static const char *const methods[] = {"minres", "bicgstab"};
    for (int i = 0; i < 2; ++i) {
        const rank_case one = {"poisson",
                               {"--mesh", "square:80", "--preconditioner", "multigrid", "--method",
                                methods[i], CONDITIONS, IN_PLANE}};
        ranks_check(&one);
    }
}

/* A mesh of Gmsh that is refined, and numbers by bisection. */
static void test_meshes(void **state) {
    (void)state;
    for (int i = 0; i < 2; ++i) {
        const rank_case cases[] = {
            {"poisson",
             {"--mesh", WEFT_SOURCE_DIR "/meshes/square_with_hole.geo", "--size", "0.05",
              "--refine", "2", "--preconditioner", kinds[i], "--source", "x", "--tolerance",
              "1e-12", "--probe", "0.1,0.1", "--probe", "0.2,0.9"}},
            {"poisson",
             {"--mesh", "square:90", "--ordering", "bisection", "--preconditioner", kinds[i],
              "--source", "x-y", IN_PLANE}}};
        ranks_check(&cases[0]);
        ranks_check(&cases[1]);
    }
}

static void test_vectors(void **state) {
    (void)state;
    for (int i = 0; i < 2; ++i) {
        const rank_case one = {"solve",
                               {"elasticity.weft", "--mesh", "cube:14", "--dirichlet", "left=0,0,0",
                                "--neumann", "right=0,0,-0.1", "--preconditioner", kinds[i],
                                IN_SPACE}};
        ranks_check(&one);
    }
}

/* A form of many cells: contributions to a vector are added in the order of cells. */
static void test_form(void **state) {
    (void)state;
    FILE *file = fopen("ranks_multigrid.ufl", "w");
    assert_non_null(file);
    assert_true(fputs("V = FiniteElement(\"Lagrange\", triangle, 1)\n"
                      "u, v = TrialFunction(V), TestFunction(V)\n"
                      "a = inner(grad(u), grad(v))*dx\nL = v*dx\n",
                      file) >= 0);
    assert_int_equal(fclose(file), 0);
    const rank_case one = {"solve",
                           {"ranks_multigrid.ufl", "--mesh", "square:80", "--dirichlet", "left=0",
                            "--preconditioner", "jacobi", IN_PLANE}};
    ranks_check(&one);
    (void)remove("ranks_multigrid.ufl");
}

/* With the matrix of a higher degree, the first coarser level has linear functions. */
static void test_degree(void **state) {
    (void)state;
    FILE *file = fopen("ranks_multigrid.ufl", "w");
    assert_non_null(file);
    assert_true(fputs("V = FiniteElement(\"Lagrange\", triangle, 2)\n"
                      "u, v = TrialFunction(V), TestFunction(V)\nx = SpatialCoordinate(V)\n"
                      "a = (1 + x[0])*inner(grad(u), grad(v))*dx + u*v*ds\nL = (1 + x[1])*v*dx\n",
                      file) >= 0);
    assert_int_equal(fclose(file), 0);
    for (int i = 0; i < 2; ++i) {
        const rank_case one = {"solve",
                               {"ranks_multigrid.ufl", "--mesh", "square:80", "--dirichlet",
                                "left=0", "--assembly", "csr", "--preconditioner", kinds[i],
                                IN_PLANE}};
        ranks_check(&one);
    }
    (void)remove("ranks_multigrid.ufl");
}

/* On lower degrees without a matrix: by means of two nodes, by cells, on three degrees, of several components at once or one by
 * one, above refined meshes. */
static void test_lower_degrees(void **state) {
    (void)state;
    static const struct {
        const char *element, *cell, *degree, *kind, *mesh, *given;
        int dimension;
        bool coupled;
    } cases[] = {
        {"FiniteElement", "triangle", "2", "aggregation", "square:40", "left=0", 2, false},
        {"FiniteElement", "triangle", "4", "aggregation", "square:24", "left=0", 2, false},
        {"FiniteElement", "tetrahedron", "2", "multigrid", "cube:18", "left=0", 3, false},
        {"FiniteElement", "hexahedron", "3", "aggregation", "hexes:5", "left=0", 3, false},
        {"VectorElement", "triangle", "2", "aggregation", "square:30", "left=0,0", 2, false},
        {"VectorElement", "triangle", "2", "aggregation", "square:30", "left=0,0", 2, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        FILE *file = fopen("ranks_multigrid.ufl", "w");
        assert_non_null(file);
        assert_true(
            fprintf(file,
                    "V = %s(\"Lagrange\", %s, %s)\n"
                    "u, v = TrialFunction(V), TestFunction(V)\nx = SpatialCoordinate(V)\n"
                    "a = (1 + x[0])*inner(grad(u), grad(v))*dx%s\nL = %s*dx\n",
                    cases[i].element, cases[i].cell, cases[i].degree,
                    cases[i].coupled ? " + div(u)*div(v)*dx" : "",
                    cases[i].element[0] == 'V' ? "(1 + x[1])*v[0]*dx + v[1]" : "(1 + x[1])*v") > 0);
        assert_int_equal(fclose(file), 0);
        const rank_case plane = {"solve",
                                 {"ranks_multigrid.ufl", "--mesh", cases[i].mesh, "--dirichlet",
                                  cases[i].given, "--preconditioner", cases[i].kind, IN_PLANE}};
        const rank_case space = {"solve",
                                 {"ranks_multigrid.ufl", "--mesh", cases[i].mesh, "--dirichlet",
                                  cases[i].given, "--preconditioner", cases[i].kind, IN_SPACE}};
        ranks_check(cases[i].dimension == 2 ? &plane : &space);
    }
    (void)remove("ranks_multigrid.ufl");
}

/* Without options the ranks predict what one process predicts, whatever their number and their threads. */
static void test_automatic(void **state) {
    (void)state;
    static const char *const meshes[] = {"square:500", "cube:10"};
    static const char *const found[] = {"multigrid", "jacobi"};
    for (int i = 0; i < 2; ++i) {
        const rank_case one = {"poisson", {"--mesh", meshes[i], "--device", "host:1", NULL}};
        const rank_case more = {"poisson", {"--mesh", meshes[i], "--device", "host:3", NULL}};
        json_t *first = ranks_run(&one, "--ranks", "1"), *next = ranks_run(&one, "--ranks", "7"),
               *last = ranks_run(&more, "--ranks", "2");
        json_t *const all[] = {first, next, last};
        for (int k = 0; k < 3; ++k)
            assert_string_equal(json_string_value(json_object_get(all[k], "preconditioner")),
                                found[i]);
        ranks_compare_bits(first, next);
        ranks_compare_bits(first, last);
        for (int k = 0; k < 3; ++k)
            json_decref(all[k]);
    }
}

/* Full multigrid until the discretisation error, on levels that are divided and others, with values that are lifted from the
 * boundary, more cycles where coefficients jump, and vectors. Levels of a run without ranks are in single precision. */
static void test_until_discretisation(void **state) {
    (void)state;
#define UNTIL "--until", "discretisation", "--probe", "0.4,0.3", "--probe", "0.5,0.5"
    const rank_case cases[] = {
        {"poisson",
         {"--mesh", "square:10", "--refine", "4", "--source", "1+x*exp(y)", "--dirichlet",
          "boundary=x*y", UNTIL}},
        {"poisson",
         {"--mesh", "square:8", "--refine", "2", "--source", "1+x", "--dirichlet", "left=y",
          "--robin", "right=1,y", "--diffusivity", "select(x<0.55,1,1000)", UNTIL}},
        {"poisson",
         {"--mesh", "cube:3", "--refine", "2", "--source", "1+x*exp(y)", "--dirichlet",
          "boundary=z", "--until", "discretisation", "--probe", "0.4,0.3,0.2", "--probe",
          "0.5,0.5,0.5"}},
        {"solve",
         {"elasticity.weft", "--mesh", "square:4", "--refine", "2", "--dirichlet", "left=0,0.1*y",
          "--neumann", "right=0,-0.1", UNTIL}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        json_t *one = ranks_run(&cases[i], "--ranks", "1"),
               *three = ranks_run(&cases[i], "--ranks", "3");
        assert_string_equal(app_text(three, "outcome"), "converged");
        assert_true(app_number(one, "discretisation_error") ==
                    app_number(three, "discretisation_error"));
        assert_true(app_number(one, "algebraic_error") == app_number(three, "algebraic_error"));
        json_decref(one);
        json_decref(three);
        ranks_check_up_to(&cases[i], 7, 1e-3);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_plane),
                                       cmocka_unit_test(test_space),
                                       cmocka_unit_test(test_small),
                                       cmocka_unit_test(test_methods),
                                       cmocka_unit_test(test_meshes),
                                       cmocka_unit_test(test_vectors),
                                       cmocka_unit_test(test_degree),
                                       cmocka_unit_test(test_form),
                                       cmocka_unit_test(test_automatic),
                                       cmocka_unit_test(test_lower_degrees),
                                       cmocka_unit_test(test_until_discretisation)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
