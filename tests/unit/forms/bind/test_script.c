/* labels: quick */
/* Scripts bound to meshes and solved by the library alone. Expected: solutions that are linear on each side of an
 * interface, which discrete equations have up to the tolerance of the solver, 1e-12, times the condition of the matrices. */
#include "setting.h"

static weft_bind_options options_of(const weft_expression *expressions, int n) {
    weft_bind_options options = weft_bind_options_default();
    options.file = "test.weft";
    options.expressions = expressions;
    options.n_expressions = n;
    return options;
}

/* A wall of two materials with the flux 3 through its right side: k u' = 3, u(0) = 1. */
static void two_materials(void **state) {
    (void)state;
    setting s;
    weft_error error = {0};
    const weft_expression given[] = {{"diffusivity", "50; @air=0.25", "the test"},
                                     {"source", "0", "the test"}};
    const weft_parameter degree = {"degree", 2};
    const weft_condition flux = {WEFT_NEUMANN, .group = "right", .value = "3"};
    weft_bind_options options = options_of(given, 2);
    options.parameters = &degree;
    options.n_parameters = 1;
    open_setting(&s, wall_mesh(2, 6, false, false), NULL);
    check(weft_script_bind(weft_fem_script("diffusion.weft"), s.mesh, &options, s.problem, &error),
          &error);
    fix(&s, "left", 0, "1");
    check(weft_problem_condition(s.problem, &flux, &error), &error);
    solve(&s);
    const double *u = weft_problem_values(s.problem),
                 *x = weft_space_points(weft_problem_space(s.problem));
    assert_true(weft_problem_dofs(s.problem) == 7 * 7);
    for (int64_t i = 0; i < weft_problem_dofs(s.problem); ++i) {
        const double in_air = fmax(x[2 * i] - 0.5, 0);
        assert_true(fabs(u[i] - (1 + 3 * ((x[2 * i] - in_air) / 50 + in_air / 0.25))) < CLOSE);
    }
    close_setting(&s);
}

/* -div((1 + u) grad u) = -1 has the solution x. The input t is a number here. */
static void nonlinear(void **state) {
    (void)state;
    setting s;
    weft_error error = {0};
    weft_mesh *mesh = NULL;
    weft_problem_report report;
    const weft_expression given[] = {{"conductivity", "1 + u", "the test"},
                                     {"source", "-1", "the test"}};
    const weft_problem_value values[] = {{"t", {.text = "0"}}, {"u", {.text = "0.5 + y"}}};
    weft_bind_options options = options_of(given, 2);
    weft_problem_options solver = weft_problem_options_default();
    const weft_newton_options newton = weft_newton_options_default();
    options.nonlinear = true;
    options.values = values;
    options.n_values = 2;
    solver.tolerance = 1e-12;
    check(weft_mesh_make_cube(2, &mesh, &error), &error);
    open_setting(&s, mesh, NULL);
    check(
        weft_script_bind(weft_fem_script("heat_nonlinear.weft"), mesh, &options, s.problem, &error),
        &error);
    const double *u = weft_problem_values(s.problem);
    const double *x = weft_space_points(weft_problem_space(s.problem));
    for (int64_t i = 0; i < weft_problem_dofs(s.problem); ++i) /* where it starts */
        assert_true(fabs(u[i] - (0.5 + x[3 * i + 1])) < CLOSE);
    fix(&s, "left", 0, "0");
    fix(&s, "right", 0, "1");
    check(weft_problem_solve_nonlinear(s.problem, &solver, &newton, &report, &error), &error);
    assert_true(report.newton->converged);
    for (int64_t i = 0; i < weft_problem_dofs(s.problem); ++i)
        assert_true(fabs(weft_problem_values(s.problem)[i] - x[3 * i]) < CLOSE);
    close_setting(&s);
}

static const char euler[] = "parameter degree = 2;\n"
                            "index cells, nodes;\n"
                            "connectivity dofs : cells -> nodes[3];\n"
                            "input x : real[2] over nodes;\n"
                            "input before : real over nodes;\n"
                            "input dt : real;\n"
                            "expression source(x, y) = 0;\n"
                            "X = x[dofs];\n"
                            "J = jacobian(X);\n"
                            "M_local = shape_shape(J);\n"
                            "K = M_local + dt*dshape_dot_dshape(tform_dshape(J), J);\n"
                            "f = source(quadrature_points(X, degree = degree));\n"
                            "b[dofs] += mvmul(M_local, before[dofs]) + "
                            "dt*quadrature_load(f, J, degree = degree);\n"
                            "return K;\n";

/* u = (1 + 2 t) x, which is linear in time, so that neither scheme has an error. */
static void steps_of(const char *text, const char *previous) {
    setting s;
    weft_error error = {0};
    weft_mesh *mesh = NULL;
    weft_transient *transient = NULL;
    weft_transient_state state = {0};
    const double *u = NULL;
    weft_problem_options solver = weft_problem_options_default();
    const weft_transient_problem settings = {.scheme = WEFT_TIME_BDF2, .end = 0.5, .dt = 0.1};
    const weft_expression given[] = {{"source", "2*x", "the test"}};
    weft_bind_options options = options_of(given, 1);
    options.in_time = true;
    options.previous = previous;
    solver.tolerance = 1e-12;
    check(weft_mesh_make_square(4, &mesh, &error), &error);
    open_setting(&s, mesh, NULL);
    check(weft_script_bind(text, mesh, &options, s.problem, &error), &error);
    fix(&s, "left", 0, "0");
    fix(&s, "right", 0, "1 + 2*t");
    check(weft_problem_set_initial(s.problem, "x", "the start", &error), &error);
    check(weft_problem_in_time(s.problem, &solver, &settings, &transient, &error), &error);
    for (int i = 0; i < 5; ++i) {
        check(weft_transient_step(transient, 0.1, &state, &error), &error);
        assert_int_equal(state.outcome, WEFT_TRANSIENT_DONE);
    }
    check(weft_problem_pull(s.problem, &u, &error), &error);
    const double *x = weft_space_points(weft_problem_space(s.problem));
    for (int64_t i = 0; i < weft_problem_dofs(s.problem); ++i)
        assert_true(fabs(u[i] - 2 * x[2 * i]) < CLOSE);
    weft_transient_free(&transient);
    close_setting(&s);
}

static void in_time(void **state) {
    (void)state;
    steps_of(weft_fem_script("heat.weft"), NULL);
    steps_of(euler, "before");
}

/* The errors of a script's own scheme are not known. */
static void own_scheme_with_tolerance(void **state) {
    (void)state;
    setting s;
    weft_error error = {0};
    weft_mesh *mesh = NULL;
    weft_transient *transient = NULL;
    const weft_problem_options solver = weft_problem_options_default();
    const weft_transient_problem settings = {.end = 0.5, .dt = 0.1, .tolerance = 1e-3};
    weft_bind_options options = options_of(NULL, 0);
    options.in_time = true;
    options.previous = "before";
    check(weft_mesh_make_square(2, &mesh, &error), &error);
    open_setting(&s, mesh, NULL);
    check(weft_script_bind(euler, mesh, &options, s.problem, &error), &error);
    assert_int_equal(weft_problem_in_time(s.problem, &solver, &settings, &transient, &error),
                     WEFT_ERROR_USAGE);
    assert_non_null(strstr(error.message, "tolerance"));
    close_setting(&s);
}

/* Kv is twice the product with K, which only products without a matrix would use. */
static void wrong_product(void **state) {
    (void)state;
    static const char text[] = "index cells, nodes;\n"
                               "connectivity dofs : cells -> nodes[3];\n"
                               "input x : real[2] over nodes;\n"
                               "input v : real over nodes;\n"
                               "J = jacobian(x[dofs]);\n"
                               "K = dshape_dot_dshape(tform_dshape(J), J);\n"
                               "Kv = 2*mvmul(K, v[dofs]);\n";
    setting s;
    weft_error error = {0};
    weft_mesh *mesh = NULL;
    weft_problem_report report;
    weft_problem_options solver = weft_problem_options_default();
    const weft_bind_options options = options_of(NULL, 0);
    solver.assembly = WEFT_ASSEMBLY_MATRIX_FREE;
    check(weft_mesh_make_square(2, &mesh, &error), &error);
    open_setting(&s, mesh, NULL);
    check(weft_script_bind(text, mesh, &options, s.problem, &error), &error);
    fix(&s, "left", 0, "0");
    fix(&s, "right", 0, "1");
    assert_int_equal(weft_problem_solve(s.problem, &solver, &report, &error), WEFT_ERROR_INPUT);
    assert_non_null(strstr(error.message, "'Kv' is not the product of 'K' with v"));
    close_setting(&s);
}

typedef struct refusal {
    const char *shipped; /* NULL: euler */
    const weft_problem_value *value;
    const weft_parameter *parameter;
    const char *matrix, *sum;
    bool in_time, nonlinear;
    const char *message;
} refusal;

static void refusals(void **state) {
    (void)state;
    static const weft_problem_value q = {"q", {.text = "1"}}, step = {"dt", {.text = "1"}};
    static const weft_parameter d = {"d", 2};
    static const refusal list[] = {
        {"poisson.weft", .value = &q, .message = "the script test.weft has no input 'q'"},
        {NULL, .message = "the script's input 'before' has no values"},
        {NULL, .in_time = true, .value = &step,
         .message = "the steps in time give the input 'dt' its values"},
        {"poisson.weft", .parameter = &d, .message = "the dimension d is given by the mesh"},
        {"poisson.weft", .matrix = "J",
         .message = "the matrix is 'J', but the script gives the "
                    "name K to something else"},
        {"poisson.weft", .sum = "J", .message = "'J' is not a real over cells"},
        {"poisson.weft", .in_time = true,
         .message = "with --time the script makes a mass matrix, "
                    "and this one makes no 'M'"},
        {"load.weft", .message = "this script makes no local matrix 'K'"},
        {"poisson.weft", .nonlinear = true,
         .message = "with --nonlinear the script gives a residual, and this one makes no 'r'"}};
    for (size_t i = 0; i < sizeof list / sizeof *list; ++i) {
        setting s;
        weft_error error = {0};
        weft_mesh *mesh = NULL;
        const refusal *one = &list[i];
        weft_bind_options options = options_of(NULL, 0);
        options.values = one->value;
        options.n_values = one->value ? 1 : 0;
        options.parameters = one->parameter;
        options.n_parameters = one->parameter ? 1 : 0;
        options.matrix = one->matrix;
        options.sum = one->sum;
        options.in_time = one->in_time;
        options.nonlinear = one->nonlinear;
        options.previous = "before";
        check(weft_mesh_make_square(2, &mesh, &error), &error);
        open_setting(&s, mesh, NULL);
        const char *text = one->shipped ? weft_fem_script(one->shipped) : euler;
        const weft_status status = weft_script_bind(text, mesh, &options, s.problem, &error);
        assert_true(status == WEFT_ERROR_USAGE || status == WEFT_ERROR_INPUT);
        assert_string_equal(error.message, one->message);
        assert_null(strstr(error.hint, "(null)"));
        close_setting(&s);
    }
}

/* Scripts are for cells with straight sides and three or four corners. */
static void quadrilaterals(void **state) {
    (void)state;
    setting s;
    weft_error error = {0};
    weft_mesh *mesh = NULL;
    const weft_bind_options options = options_of(NULL, 0);
    check(weft_mesh_make_boxes(WEFT_QUADRILATERAL, 2, &mesh, &error), &error);
    open_setting(&s, mesh, NULL);
    assert_int_equal(
        weft_script_bind(weft_fem_script("poisson.weft"), s.mesh, &options, s.problem, &error),
        WEFT_ERROR_UNSUPPORTED);
    close_setting(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_materials), cmocka_unit_test(nonlinear),
        cmocka_unit_test(in_time),       cmocka_unit_test(own_scheme_with_tolerance),
        cmocka_unit_test(refusals),      cmocka_unit_test(wrong_product),
        cmocka_unit_test(quadrilaterals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
