/* labels: full */
/* Preconditioners of mixed spaces on several ranks: each finds the blocks of the whole matrix, and their solvers are divided. Any number
 * of ranks has the same bits, the values of a run without ranks, and its iterations but for two: sums are added in another order, and
 * levels without a matrix are in double precision. */
#include "ranks_run.h"

#include <math.h>
#include <stdio.h>

enum { ITERATIONS_APART = 2 };

/* Two spaces, functions and constants of both forms. */
static void write(const char *spaces, const char *form) {
    char text[2000];
    const int n =
        snprintf(text, sizeof text, "%s(u, p), (v, q) = TrialFunctions(W), TestFunctions(W)\n%s",
                 spaces, form);
    assert_true(n > 0 && (size_t)n < sizeof text);
    ranks_write("ranks_blocks.ufl", text);
}

/* The preconditioner of a run without ranks, with its iterations, and for any number of ranks the same bits. */
static void check(const rank_case *one, const char *detail, int apart, double relative) {
    json_t *whole = ranks_run(one, NULL, NULL), *part = ranks_run(one, "--ranks", "3");
    const double difference = app_number(whole, "iterations") - app_number(part, "iterations");
    assert_string_equal(app_text(part, "preconditioner"), "block");
    assert_string_equal(app_text(whole, "method"), app_text(part, "method"));
    const json_t *reports[] = {json_object_get(whole, "preconditioner_report"),
                               json_object_get(part, "preconditioner_report")};
    for (int i = 0; i < 2; ++i)
        assert_non_null(strstr(app_text(reports[i], "detail"), detail));
    assert_true(fabs(difference) <= apart);
    json_decref(whole);
    json_decref(part);
    ranks_check_up_to(one, 7, relative);
}

#define PLANE                                                                                      \
    "W = VectorElement(\"Lagrange\", triangle, 2)*FiniteElement(\"Lagrange\", triangle, 1)\n"
#define SPACE                                                                                      \
    "W = VectorElement(\"Lagrange\", tetrahedron, 2)*FiniteElement(\"Lagrange\", tetrahedron, "    \
    "1)\n"
#define LID                                                                                        \
    "--dirichlet", "left=0,0,free", "--dirichlet", "right=0,0,free", "--dirichlet",                \
        "bottom=0,0,free", "--dirichlet", "top=4*x*(1-x),0,free"
#define CLOSE "--tolerance", "1e-10", "--probe", "0.4,0.3", "--probe", "0.5,0.5"
#define CLOSE_IN_SPACE "--tolerance", "1e-10", "--probe", "0.4,0.3,0.2", "--probe", "0.5,0.5,0.5"

static const char stokes[] =
    "a = inner(grad(u), grad(v))*dx - p*div(v)*dx - q*div(u)*dx\nL = v[0]*dx\n";
static const char triangular[] =
    "a = inner(grad(u), grad(v))*dx - p*div(v)*dx + q*div(u)*dx\nL = v[0]*dx\n";

/* As `auto` chooses, by MINRES and, of a matrix that is not symmetric, by GMRES; closed and with an outflow. */
static void test_stokes(void **state) {
    (void)state;
    const rank_case closed = {"solve", {"ranks_blocks.ufl", "--mesh", "square:18", LID, CLOSE}};
    const rank_case open = {"solve",
                            {"ranks_blocks.ufl", "--mesh", "square:18", "--dirichlet",
                             "left=y*(1-y),0,free", "--dirichlet", "bottom=0,0,free", "--dirichlet",
                             "top=0,0,free", "--preconditioner", "block", CLOSE}};
    const rank_case space = {"solve",
                             {"ranks_blocks.ufl", "--mesh", "cube:4", "--preconditioner", "block",
                              "--dirichlet", "left=0,0,0,free", "--dirichlet", "right=0,0,0,free",
                              "--dirichlet", "bottom=0,0,0,free", CLOSE_IN_SPACE}};
    write(PLANE, stokes);
    check(&closed, "diagonal: u_0 by aggregation", ITERATIONS_APART, 1e-6);
    write(PLANE, triangular);
    check(&open, "triangular: u_0 by aggregation", ITERATIONS_APART, 1e-6);
    write(SPACE, stokes);
    check(&space, "diagonal: u_0 by aggregation", ITERATIONS_APART, 1e-6);
    (void)remove("ranks_blocks.ufl");
}

/* Levels of more rows than each rank computes by itself are divided. */
static void test_levels(void **state) {
    (void)state;
    const rank_case one = {
        "solve",
        {"ranks_blocks.ufl", "--mesh", "square:30", "--ordering", "bisection", LID, CLOSE}};
    write(PLANE, stokes);
    check(&one, "u_0 by aggregation, 3 levels", ITERATIONS_APART, 1e-6);
    (void)remove("ranks_blocks.ufl");
}

/* Bubbles are eliminated cell by cell. */
static void test_bubbles(void **state) {
    (void)state;
    static const char *const forms[] = {stokes, triangular};
    for (int i = 0; i < 2; ++i) {
        const rank_case one = {
            "solve",
            {"ranks_blocks.ufl", "--mesh", "square:12", "--preconditioner", "block", LID, CLOSE}};
        write("P1, B = FiniteElement(\"P\", triangle, 1), FiniteElement(\"B\", triangle, 3)\n"
              "W = VectorElement(P1 + B)*P1\n",
              forms[i]);
        check(&one, "u_1 by cells", ITERATIONS_APART, 1e-6);
    }
    (void)remove("ranks_blocks.ufl");
}

/* A reaction, as of a step in time, of which the volumes of nodes make a part of the Schur complement; blocks that are mass matrices,
 * so that the Schur complement is elliptic; two functions that derivatives couple. */
static void test_others(void **state) {
    (void)state;
    const rank_case step = {
        "solve",
        {"ranks_blocks.ufl", "--mesh", "square:10", "--preconditioner", "block", LID, CLOSE}};
    const rank_case fluxes = {"solve",
                              {"ranks_blocks.ufl", "--mesh", "square:12", "--preconditioner",
                               "block", "--dirichlet", "boundary=free,free,0", CLOSE}};
    const rank_case coupled = {
        "solve", {"ranks_blocks.ufl", "--mesh", "square:16", "--preconditioner", "block", CLOSE}};
    write(PLANE, "a = 50*inner(u, v)*dx + inner(grad(u), grad(v))*dx - p*div(v)*dx - "
                 "q*div(u)*dx\nL = v[0]*dx\n");
    check(&step, "its diagonal and aggregation", ITERATIONS_APART, 1e-6);
    write("W = VectorElement(\"DG\", triangle, 0)*FiniteElement(\"Lagrange\", triangle, 1)\n",
          "a = inner(u, v)*dx - inner(grad(p), v)*dx - inner(u, grad(q))*dx\nL = -q*dx\n");
    check(&fluxes, "u_1 (Schur complement) by aggregation", ITERATIONS_APART, 1e-6);
    for (int sign = -1; sign <= 1; sign += 2) {
        char form[300];
        (void)snprintf(form, sizeof form,
                       "a = (u*v + 0.1*inner(grad(p), grad(v)) + (%d)*(0.1*inner(grad(u), grad(q)) "
                       "- p*q))*dx\nx = SpatialCoordinate(triangle)\nL = x[0]*q*dx + v*dx\n",
                       -sign);
        write("P1 = FiniteElement(\"Lagrange\", triangle, 1)\nW = P1*P1\n", form);
        check(&coupled, sign < 0 ? "u_0 by aggregation" : "with u_", ITERATIONS_APART, 1e-6);
    }
    (void)remove("ranks_blocks.ufl");
}

/* Without a matrix: levels of lower degrees, and the mass of the pressure, scaled by a viscosity that jumps. */
static void test_without_matrix(void **state) {
    (void)state;
    static const char *const forms[] = {
        "a = inner(grad(u), grad(v))*dx - p*div(v)*dx - q*div(u)*dx\nL = v[0]*dx\n",
        "nu = Coefficient(FiniteElement(\"DG\", triangle, 0))\n"
        "a = 2*nu*inner(sym(grad(u)), sym(grad(v)))*dx - p*div(v)*dx + q*div(u)*dx\nL = v[0]*dx\n"};
    for (int i = 0; i < 2; ++i) {
        const rank_case one = {"solve",
                               {"ranks_blocks.ufl", "--mesh", "square:10", "--assembly",
                                "matrix-free", "--preconditioner", "block", LID, CLOSE,
                                i ? "--input" : NULL, "nu=select(x<0.35,100,1)"}};
        write(PLANE, forms[i]);
        check(&one, "u_1 (Schur complement) by its mass matrix", 3 * ITERATIONS_APART, 1e-6);
    }
    (void)remove("ranks_blocks.ufl");
}

/* Pressures that are constant in cells, whose rows are not in the order of those of vertices; one number for the whole mesh is not
 * divided. */
static void test_cells(void **state) {
    (void)state;
    write("W = VectorElement(\"Lagrange\", triangle, 2)*FiniteElement(\"DG\", triangle, 0)\n",
          stokes);
    const rank_case one = {"solve",
                           {"ranks_blocks.ufl", "--mesh", "square:5", "--refine", "1",
                            "--preconditioner", "block", "--dirichlet", "left=0,0,free",
                            "--dirichlet", "bottom=0,0,free", CLOSE}};
    check(&one, "u_0 by aggregation", 3 * ITERATIONS_APART, 1e-6);
    write("W = FiniteElement(\"Lagrange\", triangle, 1)*FiniteElement(\"Real\", triangle, 0)\n",
          "a = inner(grad(u), grad(v))*dx + u*q*dx + p*v*dx\nL = v*ds\n");
    const char *command[] = {
        WEFT_BINARY_DIR "/solve", "ranks_blocks.ufl", "--mesh", "square:4", "--ranks", "2", NULL};
    test_run run = test_program(command, NULL);
    assert_int_equal(run.exit_code, 2);
    assert_non_null(strstr(run.error, "one number for the whole mesh"));
    test_run_free(&run);
    (void)remove("ranks_blocks.ufl");
}

/* Newton's tangents are not symmetric; steps in time have a reaction. */
static void test_flows(void **state) {
    (void)state;
    ranks_write("ranks_blocks.ufl",
                PLANE "w, (v, q) = Coefficient(W), TestFunctions(W)\nu, p = split(w)\n"
                      "F = 0.02*inner(grad(u), grad(v))*dx + dot(dot(grad(u), u), v)*dx"
                      " - p*div(v)*dx - q*div(u)*dx\n");
    const rank_case newton = {"solve",
                              {"ranks_blocks.ufl", "--nonlinear", "--mesh", "square:10",
                               "--preconditioner", "block", LID, CLOSE}};
    ranks_check_up_to(&newton, 7, 1e-6);
    write(PLANE, "t = Constant(triangle)\nm = inner(u, v)*dx\n"
                 "a = 0.1*inner(grad(u), grad(v))*dx - p*div(v)*dx - q*div(u)*dx\nL = t*v[0]*dx\n");
    const rank_case time = {"solve",
                            {"ranks_blocks.ufl", "--mesh", "square:8", "--time", "0.1,0.3",
                             "--preconditioner", "block", LID, CLOSE}};
    ranks_check_up_to(&time, 7, 1e-6);
    (void)remove("ranks_blocks.ufl");
}

/* Convection that asks for a factorization gets multigrid, with a warning; factorizations are PETSc's. */
static void test_factorizations(void **state) {
    (void)state;
    static const char *const kinds[] = {"lu", "commutator", "augmented", "cholmod"};
    write(PLANE, triangular);
    for (int i = 0; i < 4; ++i) {
        const char *command[] = {WEFT_BINARY_DIR "/solve",
                                 "ranks_blocks.ufl",
                                 "--mesh",
                                 "square:4",
                                 "--ranks",
                                 "2",
                                 "--dirichlet",
                                 "boundary=0,0,free",
                                 "--preconditioner",
                                 kinds[i],
                                 NULL};
        test_run run = test_program(command, NULL);
        assert_int_equal(run.exit_code, 2);
        assert_non_null(strstr(run.error, "several ranks do not compute with "));
        assert_non_null(strstr(run.error, "-pc_factor_mat_solver_type mumps"));
        test_run_free(&run);
    }
    (void)remove("ranks_blocks.ufl");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stokes),  cmocka_unit_test(test_levels),
        cmocka_unit_test(test_bubbles), cmocka_unit_test(test_others),
        cmocka_unit_test(test_flows),   cmocka_unit_test(test_without_matrix),
        cmocka_unit_test(test_cells),   cmocka_unit_test(test_factorizations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
