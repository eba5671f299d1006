/* labels: full */
/* Constraints, loads at points, rigid motions and meshes in several pieces on several ranks: the first one finds what is related, and
 * ranks have the cells round dofs that depend on theirs. Any number of ranks has the same bits, and the values of a run without
 * ranks; some are known. */
#include "ranks_run.h"

#include <stdio.h>

#define REACTIONS "--reactions"

static void check_all(const rank_case *cases, size_t n) {
    for (size_t i = 0; i < n; ++i)
        ranks_check(&cases[i]);
}

/* Probe 0 has these values. */
static void check_known(const rank_case *one, const double *values, size_t n, double tolerance) {
    json_t *result = ranks_run(one, "--ranks", "3");
    for (size_t k = 0; k < n; ++k)
        assert_double_near(solve_item(result, "probes", 0, "u", k), values[k], tolerance,
                           tolerance);
    json_decref(result);
    ranks_check(one);
}

static void test_periodic(void **state) {
    (void)state;
    const rank_case cases[] = {
        {"poisson",
         {"--mesh", "square:8", "--source", "x*y-0.25+sin(9*x)-sin(9*y)", "--periodic",
          "left=right", "--periodic", "bottom=top", IN_PLANE}},
        {"poisson",
         {"--mesh", "square:7", "--ordering", "bisection", "--source", "1+x*y+x^2", "--periodic",
          "left=right", "--dirichlet", "bottom=x*(1-x)", REACTIONS, IN_PLANE}},
        {"solve",
         {"elasticity.weft", "--mesh", "square:6", "--symmetry", "left", "--symmetry", "bottom",
          "--periodic", "left=right", "--neumann", "top=0,1", REACTIONS, IN_PLANE}},
        {"poisson",
         {"--mesh", "square:96", "--source", "x*y-0.25", "--periodic", "left=right", "--periodic",
          "bottom=top", "--preconditioner", "aggregation", IN_PLANE}},
        {"poisson",
         {"--mesh", "cube:4", "--source", "x-0.5", "--periodic", "left=right", "--periodic",
          "bottom=top", "--periodic", "front=back", IN_SPACE}}};
    check_all(cases, sizeof cases / sizeof *cases);
    const rank_case few = {"poisson",
                           {"--mesh", "square:1", "--source", "1", "--periodic", "left=right",
                            "--dirichlet", "bottom=0", IN_PLANE}};
    ranks_check_up_to(&few, 4, 1e-9);
}

/* A plate whose right side is a conductor: u = 1.5 x. Values and loads at points that are no nodes, on cuts too. */
static void test_ties_and_points(void **state) {
    (void)state;
    const rank_case conductor = {"poisson",
                                 {"--mesh", "square:9", "--source", "0", "--dirichlet", "left=0",
                                  "--neumann", "right=1+y", "--tie", "right", REACTIONS, IN_PLANE}};
    check_known(&conductor, (double[]){0.6}, 1, 1e-9);
    const rank_case cases[] = {
        {"poisson",
         {"--mesh", "square:9", "--source", "x", "--dirichlet", "left=0", "--point-value",
          "0.6,0.55=2", "--point-load", "0.3,0.7=0.5", REACTIONS, IN_PLANE}},
        {"poisson",
         {"--mesh", "square:6", "--source", "0", "--neumann", "left=1", "--point-load",
          "0.5,0.5=-1", IN_PLANE}},
        {"poisson",
         {"--mesh", "square:8", "--source", "1", "--tie", "right", "--tie", "left", "--point-value",
          "0.5,0.5=1", "--point-load", "0.25,0.5=2", REACTIONS, IN_PLANE}}};
    check_all(cases, sizeof cases / sizeof *cases);
}

/* Uniform tension in plane strain, with E = 1 and a Poisson ratio of 0.3: strains 0.91 and -0.39; on three planes of symmetry; held by
 * springs that are soft beside the body. */
static void test_bodies(void **state) {
    (void)state;
    const rank_case free_body = {"solve",
                                 {"elasticity.weft", "--mesh", "square:7", "--neumann", "left=-1,0",
                                  "--neumann", "right=1,0", IN_PLANE}};
    check_known(&free_body, (double[]){-0.091, 0.078}, 2, 1e-9);
    const rank_case cases[] = {
        {"solve",
         {"elasticity.weft", "--mesh", "square:5", "--define", "young=2e11", "--robin",
          "left=1,0,0", "--neumann", "right=1,0", REACTIONS, IN_PLANE}},
        {"solve",
         {"elasticity.weft", "--mesh", "cube:3", "--symmetry", "left", "--symmetry", "bottom",
          "--symmetry", "front", "--point-load", "1,1,1=1,0,0", REACTIONS, IN_SPACE}},
        {"solve",
         {"elasticity.weft", "--mesh", "cube:2", "--neumann", "left=-1,0,0", "--neumann",
          "right=1,0,0", IN_SPACE}},
        {"solve",
         {"elasticity.weft", "--mesh", "square:5", "--dirichlet", "left=0,free", "--neumann",
          "right=0,-1", "--neumann", "left=0,1", IN_PLANE}},
        {"solve",
         {"elasticity.weft", "--mesh", "square:60", "--neumann", "left=-1,0", "--neumann",
          "right=1,0", "--preconditioner", "aggregation", IN_PLANE}}};
    check_all(cases, 4);
    ranks_check_up_to(&cases[4], 7, 1e-7);
}

static const char two_squares[] =
    "h = 0.25;\nPoint(1)={0,0,0,h}; Point(2)={1,0,0,h}; Point(3)={1,1,0,h}; Point(4)={0,1,0,h};\n"
    "Point(5)={2,0,0,h}; Point(6)={3,0,0,h}; Point(7)={3,1,0,h}; Point(8)={2,1,0,h};\n"
    "Line(1)={1,2}; Line(2)={2,3}; Line(3)={3,4}; Line(4)={4,1};\n"
    "Line(5)={5,6}; Line(6)={6,7}; Line(7)={7,8}; Line(8)={8,5};\n"
    "Curve Loop(1)={1,2,3,4}; Curve Loop(2)={5,6,7,8}; Plane Surface(1)={1}; Plane "
    "Surface(2)={2};\n"
    "Physical Curve(\"a\")={4}; Physical Curve(\"b\")={2}; Physical Curve(\"c\")={8};\n"
    "Physical Curve(\"d\")={6}; Physical Surface(\"one\")={1}; Physical Surface(\"two\")={2};\n";

#define PIECES TIGHT, "--probe", "0.4,0.3", "--probe", "2.5,0.5"

/* Bodies that do not touch: each is held, or floats, by itself. */
static void test_pieces(void **state) {
    (void)state;
    ranks_write("ranks_two.geo", two_squares);
    const rank_case cases[] = {
        {"poisson",
         {"--mesh", "ranks_two.geo", "--source", "1+x", "--dirichlet", "a=1", "--robin", "c=1e-3,x",
          REACTIONS, PIECES}},
        {"solve",
         {"elasticity.weft", "--mesh", "ranks_two.geo", "--dirichlet", "a=0,0", "--neumann",
          "d=1,0", "--neumann", "c=-1,0", PIECES}},
        {"solve",
         {"elasticity.weft", "--mesh", "ranks_two.geo", "--neumann", "d=1,0", "--neumann", "c=-1,0",
          "--periodic", "a=c", "--tie", "b", PIECES}},
        {"solve",
         {"heat.weft", "--mesh", "ranks_two.geo", "--time", "0.1,0.5", "--initial", "x", "--tie",
          "a", "--tie", "c", "--periodic", "a=d", PIECES}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
        ranks_check_up_to(&cases[i], 7, i == 0 ? 1e-8 : 1e-9);
    /* means that the mass hardly holds, in steps of 1e9 */
    const rank_case insulated = {"solve",
                                 {"heat.weft", "--mesh", "ranks_two.geo", "--time", "1e9,4e9",
                                  "--initial", "x", "--neumann", "a=1", "--neumann", "b=-1",
                                  PIECES}};
    json_t *result = ranks_run(&insulated, "--ranks", "3");
    ranks_check_up_to(&insulated, 7, 1e-5);
    assert_double_near(app_number(result, "integral_u"), 3, 1e-5, 0); /* of x, kept */
    json_decref(result);
    const char *command[] = {WEFT_BINARY_DIR "/poisson",
                             "--mesh",
                             "ranks_two.geo",
                             "--source",
                             "1",
                             "--dirichlet",
                             "a=1",
                             "--ranks",
                             "3",
                             NULL};
    test_run run = test_program(command, NULL);
    assert_int_equal(run.exit_code, 2);
    assert_non_null(strstr(run.error, "nothing fixes u on that of (2, 0)"));
    test_run_free(&run);
    (void)remove("ranks_two.geo");
}

/* Edges and faces have dofs too; all parts of a mixed space are periodic: u = (2 y - y^2) / 2, p = 2. */
static void test_elements(void **state) {
    (void)state;
    char text[1000];
    (void)snprintf(
        text, sizeof text, "%s",
        "V = FiniteElement(\"Lagrange\", triangle, 3)\n"
        "u, v = TrialFunction(V), TestFunction(V)\nx = SpatialCoordinate(triangle)\n"
        "a = (1 + x[1])*inner(grad(u), grad(v))*dx + u*v*ds\nL = (1 + x[1]*x[0])*v*dx\n");
    ranks_write("ranks_cubic.ufl", text);
    ranks_write("ranks_bricks.ufl",
                "V = FiniteElement(\"Lagrange\", hexahedron, 2)\n"
                "u, v = TrialFunction(V), TestFunction(V)\nx = SpatialCoordinate(hexahedron)\n"
                "a = (1 + x[1])*inner(grad(u), grad(v))*dx\nL = (1 + x[1]*x[0])*v*dx\n");
    ranks_write("ranks_channel.ufl",
                "V, Q = VectorElement(\"P\", triangle, 2), FiniteElement(\"P\", triangle, 1)\n"
                "W = V*Q\n(u, p), (v, q) = TrialFunctions(W), TestFunctions(W)\n"
                "a = inner(grad(u), grad(v))*dx - p*div(v)*dx - q*div(u)*dx\nL = v[0]*dx\n");
    const rank_case cases[] = {
        {"solve",
         {"ranks_cubic.ufl", "--mesh", "square:5", "--periodic", "left=right", "--tie", "bottom",
          REACTIONS, IN_PLANE}},
        {"solve",
         {"ranks_cubic.ufl", "--mesh", "square:4", "--ordering", "bisection", "--periodic",
          "left=right", "--point-value", "0.33,0.41=2", REACTIONS, IN_PLANE}},
        {"solve",
         {"ranks_cubic.ufl", "--mesh", "square:12", "--periodic", "left=right", "--preconditioner",
          "multigrid", IN_PLANE}},
        {"solve",
         {"ranks_bricks.ufl", "--mesh", "hexes:3", "--periodic", "left=right", "--periodic",
          "front=back", "--dirichlet", "bottom=0", "--preconditioner", "jacobi", REACTIONS,
          IN_SPACE}}};
    check_all(cases, sizeof cases / sizeof *cases);
    const rank_case channel = {"solve",
                               {"ranks_channel.ufl", "--mesh", "square:4", "--periodic",
                                "left=right", "--dirichlet", "bottom=0,0,free", "--symmetry", "top",
                                "--point-value", "0.5,0.5=free,free,2", "--method", "minres",
                                "--preconditioner", "jacobi", IN_PLANE}};
    check_known(&channel, (double[]){0.255, 0, 2}, 3, 1e-8);
    const rank_case open = {"solve",
                            {"ranks_channel.ufl", "--mesh", "square:3", "--periodic", "left=right",
                             "--dirichlet", "bottom=0,0,free", "--symmetry", "top", "--method",
                             "minres", "--preconditioner", "jacobi", IN_PLANE}};
    check_known(&open, (double[]){0.255, 0, 0}, 3, 1e-8);
    (void)remove("ranks_cubic.ufl");
    (void)remove("ranks_bricks.ufl");
    (void)remove("ranks_channel.ufl");
}

/* Every iterate satisfies the constraints; translations that are left are removed. */
static void test_newton(void **state) {
    (void)state;
    const rank_case cases[] = {
        {"solve",
         {"kirchhoff.weft", "--nonlinear", "--mesh", "square:6", "--symmetry", "left", "--symmetry",
          "bottom", "--neumann", "right=0.2,0", "--point-load", "1,1=0.05,0.02",
          "--newton-tolerance", "1e-11", REACTIONS, IN_PLANE}},
        {"solve",
         {"kirchhoff.weft", "--nonlinear", "--mesh", "square:5", "--symmetry", "left", "--neumann",
          "right=0.1,0", "--load-steps", "2", "--newton-tolerance", "1e-11", REACTIONS, IN_PLANE}},
        {"solve",
         {"kirchhoff.weft", "--nonlinear", "--mesh", "square:5", "--periodic", "left=right",
          "--neumann", "top=0,0.1", "--neumann", "bottom=0,-0.1", "--newton-tolerance", "1e-11",
          IN_PLANE}}};
    check_all(cases, sizeof cases / sizeof *cases);
}

/* Values at points that move; initial values that do not satisfy the constraints; what contradicts itself later. */
static void test_time(void **state) {
    (void)state;
    static const char *const schemes[] = {"theta", "bdf2", "sdirk2", "sdirk3"};
    for (int i = 0; i < 4; ++i) {
        const rank_case one = {"solve",
                               {"heat.weft", "--mesh", "square:7", "--time", "0.001,0.006",
                                "--scheme", schemes[i], "--periodic", "left=right", "--periodic",
                                "bottom=top", "--initial", "x*sin(2*pi*x)", REACTIONS, IN_PLANE}};
        ranks_check(&one);
    }
    const rank_case conductor = {"solve",
                                 {"heat.weft", "--mesh", "square:8", "--time", "0.05,0.3", "--tie",
                                  "right", "--point-value", "1,0.5=20+5*sin(6*t)", "--dirichlet",
                                  "left=20", "--initial", "20+y", "--point-load",
                                  "0.4,0.6=30*(1-exp(-2*t))", REACTIONS, IN_PLANE}};
    ranks_check(&conductor);
    for (int i = 0; i < RANK_COUNTS; ++i) {
        const char *command[] = {WEFT_BINARY_DIR "/solve",
                                 "heat.weft",
                                 "--mesh",
                                 "square:4",
                                 "--time",
                                 "0.1,1",
                                 "--scheme",
                                 "theta",
                                 "--dirichlet",
                                 "left=t",
                                 "--point-value",
                                 "0,0.5=t^2",
                                 "--ranks",
                                 rank_counts[i],
                                 NULL};
        test_run run = test_program(command, NULL);
        assert_int_equal(run.exit_code, 2);
        assert_non_null(strstr(run.error, "they differ by 0.09 at t = 0.1"));
        test_run_free(&run);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_periodic), cmocka_unit_test(test_ties_and_points),
        cmocka_unit_test(test_bodies),   cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_elements), cmocka_unit_test(test_newton),
        cmocka_unit_test(test_time)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
