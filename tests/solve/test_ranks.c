/* labels: full */
/* A problem that several ranks solve, each on its part of the mesh, has the solution of one process to 1e-9 (the order of
 * additions differs), and for any number of ranks the same bits: every residual of every iteration, values at points, integrals,
 * energy. JSON keeps 17 digits. */
#include "ranks_run.h"

#include <stdio.h>

#define CONDITIONS                                                                                 \
    "--source", "1+x*exp(y)", "--diffusivity", "1+x*y", "--dirichlet", "left=y", "--neumann",      \
        "right=sin(y)", "--robin", "top=1+x,x"

static void test_assemblies(void **state) {
    (void)state;
    static const char *const assemblies[] = {"lma", "lma-gather", "csr", "matrix-free"};
    for (int i = 0; i < 4; ++i) {
        const rank_case plane = {
            "poisson", {"--mesh", "square:13", "--assembly", assemblies[i], CONDITIONS, IN_PLANE}};
        const rank_case space = {"poisson",
                                 {"--mesh", "cube:5", "--assembly", assemblies[i], "--source",
                                  "x*y+z", "--diffusivity", "1+z", IN_SPACE}};
        ranks_check(&plane);
        ranks_check(&space);
    }
}

static void test_methods(void **state) {
    (void)state;
    static const char *const methods[] = {"cg", "minres", "bicgstab", "gmres"};
    for (int i = 0; i < 4; ++i)
        for (int k = 0; k < 2; ++k) {
            const rank_case one = {"poisson",
                                   {"--mesh", "square:11", "--method", methods[i],
                                    "--preconditioner", k ? "none" : "jacobi", CONDITIONS,
                                    IN_PLANE}};
            ranks_check(&one);
        }
}

/* Numbering by bisection, refinement, groups of cells, values on curves in the interior. */
static void test_meshes(void **state) {
    (void)state;
    const rank_case cases[] = {
        {"poisson",
         {"--mesh", WEFT_SOURCE_DIR "/meshes/square_with_hole.geo", "--size", "0.2", "--refine",
          "1", "--source", "x", "--tolerance", "1e-12", "--probe", "0.1,0.1", "--probe",
          "0.2,0.9"}},
        {"poisson",
         {"--mesh", "square:12", "--ordering", "bisection", "--source", "x-y", IN_PLANE}},
        {"poisson", {"--mesh", "square:2", IN_PLANE}}};
    for (size_t i = 0; i < 2; ++i)
        ranks_check(&cases[i]);
}

static void write_form(const char *path, const char *cell, int dimension, const char *degree) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file,
            "from ufl import *\nfrom basix.ufl import element\n"
            "V = FunctionSpace(Mesh(element(\"Lagrange\", \"%s\", 1, shape=(%d,))),"
            " element(\"Lagrange\", \"%s\", %s))\n"
            "u, v = TrialFunction(V), TestFunction(V)\nx = SpatialCoordinate(V)\n"
            "a = (1 + x[0])*inner(grad(u), grad(v))*dx + u*v*ds\nL = (1 + x[1])*v*dx\n",
            cell, dimension, cell, degree);
    assert_int_equal(fclose(file), 0);
}

static void test_degrees(void **state) {
    (void)state;
    static const struct {
        const char *cell, *mesh, *degree;
        int dimension;
    } cases[] = {{"triangle", "square:7", "2", 2},
                 {"quadrilateral", "quads:5", "3", 2},
                 {"tetrahedron", "cube:3", "2", 3},
                 {"tetrahedron", "cube:2", "3", 3},
                 {"hexahedron", "hexes:3", "2", 3}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        write_form("ranks_form.ufl", cases[i].cell, cases[i].dimension, cases[i].degree);
        const rank_case plane = {"solve",
                                 {"ranks_form.ufl", "--mesh", cases[i].mesh, "--dirichlet",
                                  "left=0", "--preconditioner", "jacobi", IN_PLANE}};
        const rank_case space = {"solve",
                                 {"ranks_form.ufl", "--mesh", cases[i].mesh, "--dirichlet",
                                  "left=0", "--preconditioner", "jacobi", IN_SPACE}};
        ranks_check(cases[i].dimension == 2 ? &plane : &space);
    }
    (void)remove("ranks_form.ufl");
}

/* Integrals over groups of which some ranks have no facet, or no cell. */
static void test_measures(void **state) {
    (void)state;
    ranks_write(
        "ranks_form.ufl",
        "V = FiniteElement(\"Lagrange\", triangle, 2)\nu, v = TrialFunction(V), TestFunction(V)\n"
        "x = SpatialCoordinate(triangle)\n"
        "a = inner(grad(u), grad(v))*dx + 2*u*v*ds(1) + x[0]*u*v*ds(2)\n"
        "L = (1 + x[1])*v*dx + v*ds(3)\n");
    const rank_case one = {"solve",
                           {"ranks_form.ufl", "--mesh", "square:6", "--measure", "ds(1)=bottom",
                            "--measure", "ds(2)=left", "--measure", "ds(3)=top", "--preconditioner",
                            "jacobi", IN_PLANE}};
    ranks_check(&one);
    (void)remove("ranks_form.ufl");
}

/* In parts of a mesh of this size, results are stored past the caches, and matrices compiled, otherwise than in the whole. */
static void test_vectors(void **state) {
    (void)state;
#define HELD "--dirichlet", "left=0,0,0", "--neumann", "right=0,0,-0.1"
    const rank_case cases[] = {
        {"solve",
         {"elasticity.weft", "--mesh", "cube:4", HELD, "--preconditioner", "jacobi", IN_SPACE}},
        {"solve",
         {"elasticity.weft", "--mesh", "cube:10", HELD, "--assembly", "lma", "--preconditioner",
          "jacobi", IN_SPACE}},
        {"solve",
         {"elasticity.weft", "--mesh", "cube:24", HELD, "--preconditioner", "aggregation",
          IN_SPACE}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
        ranks_check(&cases[i]);
}

/* Threads of a rank change nothing either. */
static void test_threads(void **state) {
    (void)state;
    static const char *const assemblies[] = {"lma", "csr", "matrix-free"};
    write_form("ranks_form.ufl", "hexahedron", 3, "2");
    for (int i = 0; i < 3; ++i) {
        const rank_case cases[] = {
            {"solve",
             {"ranks_form.ufl", "--mesh", "hexes:4", "--dirichlet", "left=0", "--preconditioner",
              "jacobi", "--assembly", assemblies[i], "--device", "host:1", IN_SPACE}},
            {"solve",
             {"ranks_form.ufl", "--mesh", "hexes:4", "--dirichlet", "left=0", "--preconditioner",
              "jacobi", "--assembly", assemblies[i], "--device", "host:3", IN_SPACE}}};
        json_t *one = ranks_run(&cases[0], "--ranks", "2"),
               *three = ranks_run(&cases[1], "--ranks", "3");
        ranks_compare_bits(one, three);
        json_decref(one);
        json_decref(three);
    }
    (void)remove("ranks_form.ufl");
}

/* A device of the environment is that of each rank. */
static void test_device(void **state) {
    (void)state;
    const char *command[] = {"/usr/bin/env",
                             "WEFT_DEVICE=host:1",
                             WEFT_BINARY_DIR "/poisson",
                             "--mesh",
                             "square:4",
                             "--ranks",
                             "2",
                             NULL};
    test_run run = test_program(command, NULL);
    assert_int_equal(run.exit_code, 0);
    assert_non_null(strstr(run.output, ", 1 thread\n"));
    test_run_free(&run);
}

/* A built-in mesh for which one process predicts that levels of multigrid pay is the same mesh for any number of ranks, although
 * each rank of many has fewer threads. */
static void test_one_mesh(void **state) {
    (void)state;
    json_t *first = NULL;
    for (int i = 0; i < 3; ++i) {
        json_t *next = app_solve("poisson", 0,
                                 (const char *const[]){"--mesh", "square:512", "--tolerance",
                                                       "1e-3", "--ranks", rank_counts[i], NULL});
        if (first) {
            assert_true(json_equal(json_object_get(first, "mesh"), json_object_get(next, "mesh")));
            assert_true(app_number(first, "energy") == app_number(next, "energy"));
            json_decref(next);
        } else {
            first = next;
        }
    }
    json_decref(first);
}

/* What several ranks cannot do yet is refused by name. */
static void test_refused(void **state) {
    (void)state;
    static const struct {
        const char *option, *value, *message;
    } cases[] = {{"--preconditioner", "chebyshev", "do not compute with chebyshev"},
                 {"--assembly", "edge", "do not compute with edge"},
                 {"--device", "null:h200", "this device is not computed on several ranks"},
                 {"--neumann", "left=1", "must sum to zero"},
                 {"--source", "sin(q)", "'q' is unknown"},
                 {"--mesh", "square:1", "fewer than the 5 ranks"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        const char *command[] = {WEFT_BINARY_DIR "/poisson",
                                 "--mesh",
                                 "square:8",
                                 "--ranks",
                                 "5",
                                 cases[i].option,
                                 cases[i].value,
                                 NULL};
        test_run run = test_program(command, NULL);
        assert_int_equal(run.exit_code, 2);
        assert_non_null(strstr(run.error, cases[i].message));
        test_run_free(&run);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_assemblies), cmocka_unit_test(test_methods),
        cmocka_unit_test(test_meshes),     cmocka_unit_test(test_degrees),
        cmocka_unit_test(test_measures),   cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_threads),    cmocka_unit_test(test_one_mesh),
        cmocka_unit_test(test_refused),    cmocka_unit_test(test_device)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
