/* labels: quick */
/* UFL problems bound to meshes and solved by the library alone. Expected: solutions that are in the spaces, which discrete
 * equations have up to the tolerance of the solver, 1e-12, times the condition of the matrices. */
#include "setting.h"

static weft_status bind(setting *s, const weft_problem_value *values, int n_values,
                        const weft_bind_measure *measures, int n_measures, weft_error *error) {
    const weft_bind_options options = {.size = sizeof options,
                                       .values = values,
                                       .n_values = n_values,
                                       .measures = measures,
                                       .n_measures = n_measures};
    return weft_ufl_bind(s->ufl, s->mesh, s->library, &options, s->problem, error);
}

static const char poisson[] = "element = FiniteElement(\"Lagrange\", triangle, 2)\n"
                              "k = Coefficient(FiniteElement(\"DG\", triangle, 0))\n"
                              "u, v = TrialFunction(element), TestFunction(element)\n"
                              "load = Constant(triangle)\n"
                              "a = k*inner(grad(u), grad(v))*dx\n"
                              "L = load*v*ds(7)\n";

/* A wall of two materials with the flux 3 through its right side: k u' = 3, u(0) = 1. */
static void two_materials(void **state) {
    (void)state;
    setting s;
    weft_error error = {0};
    const weft_problem_value values[] = {{"k", {.text = "50; @air=0.25"}},
                                         {"load", {.text = "6/2"}}};
    const weft_bind_measure measures[] = {{"ds(7)", "right", "the test"}};
    open_setting(&s, wall_mesh(2, 6, false, false), poisson);
    check(bind(&s, values, 2, measures, 1, &error), &error);
    fix(&s, "left", 0, "1");
    for (int pass = 1; pass <= 2; ++pass) { /* again, with half the load */
        if (pass == 2)
            check(weft_inputs_scale_loads(&s.problem->inputs, 0.5, &error), &error);
        solve(&s);
        const weft_space *space = weft_problem_space(s.problem);
        const double *u = weft_problem_values(s.problem), *x = weft_space_points(space);
        assert_true(weft_space_nodes(space) == 13 * 13);
        for (int64_t i = 0; i < weft_space_nodes(space); ++i) {
            const double in_air = fmax(x[2 * i] - 0.5, 0), flux = 3.0 / pass;
            const double exact = 1 + flux * ((x[2 * i] - in_air) / 50 + in_air / 0.25);
            assert_true(fabs(u[i] - exact) < CLOSE);
        }
    }
    close_setting(&s);
}

static const char stokes[] = "V = VectorElement(\"Lagrange\", triangle, 2)\n"
                             "Q = FiniteElement(\"Lagrange\", triangle, 1)\n"
                             "W = MixedElement([V, Q])\n"
                             "u, p = TrialFunctions(W)\n"
                             "v, q = TestFunctions(W)\n"
                             "f = VectorConstant(triangle)\n"
                             "a = (inner(grad(u), grad(v)) - p*div(v) - q*div(u))*dx\n"
                             "L = inner(f, v)*dx\n";

/* Between two plates, with a force f along them: u = (y (1 - y), 0), and p' = f - 2 with p = 0 at the outlet, where the
 * condition is the natural one. */
static void taylor_hood(void **state) {
    (void)state;
    static const char *const walls[] = {"left", "top", "bottom"};
    setting s;
    weft_error error = {0};
    weft_mesh *mesh = NULL;
    const weft_problem_value values[] = {{"f", {.text = "3, 0"}}};
    check(weft_mesh_make_square(4, &mesh, &error), &error);
    open_setting(&s, mesh, stokes);
    check(bind(&s, values, 1, NULL, 0, &error), &error);
    assert_int_equal(s.problem->fields.n, 2);
    assert_int_equal(s.problem->fields.n_values, 3);
    for (int i = 0; i < 3; ++i) {
        fix(&s, walls[i], 0, "y*(1 - y)");
        fix(&s, walls[i], 1, "0");
    }
    solve(&s);
    const double *values_of = weft_problem_values(s.problem);
    for (int f = 0; f < 2; ++f) {
        const weft_problem_field *field = &s.problem->fields.list[f];
        const double *x = weft_space_points(field->space), *u = values_of + field->first_dof;
        for (int64_t i = 0; i < weft_space_nodes(field->space); ++i) {
            const double y = x[2 * i + 1];
            if (f == 0)
                assert_true(fabs(u[2 * i] - y * (1 - y)) < CLOSE && fabs(u[2 * i + 1]) < CLOSE);
            else
                assert_true(fabs(u[i] - (x[2 * i] - 1)) < CLOSE);
        }
    }
    close_setting(&s);
}

/* Walls all around, where a constant can be added to p: the force 3 along x has the pressure 3 x with the mean 0. */
static void enclosed(void **state) {
    (void)state;
    setting s;
    weft_error error = {0};
    weft_mesh *mesh = NULL;
    const weft_problem_value values[] = {{"f", {.text = "3, 0"}}};
    check(weft_mesh_make_square(3, &mesh, &error), &error);
    open_setting(&s, mesh, stokes);
    check(bind(&s, values, 1, NULL, 0, &error), &error);
    fix(&s, "boundary", 0, "0");
    fix(&s, "boundary", 1, "0");
    solve(&s);
    const weft_problem_field *pressure = &s.problem->fields.list[1];
    const double *x = weft_space_points(pressure->space);
    const double *u = weft_problem_values(s.problem), *p = u + pressure->first_dof;
    for (int64_t i = 0; i < pressure->first_dof; ++i)
        assert_true(fabs(u[i]) < CLOSE);
    for (int64_t i = 0; i < weft_space_nodes(pressure->space); ++i)
        assert_true(fabs(p[i] - 3 * (x[2 * i] - 0.5)) < CLOSE);
    close_setting(&s);
}

#define TWENTY "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1"
static const char several[] = "element = FiniteElement(\"Lagrange\", triangle, 2)\n"
                              "wide = VectorElement(\"Lagrange\", triangle, 2, dim = 20)\n"
                              "u, v = TrialFunction(element), TestFunction(element)\n"
                              "f, g = Coefficient(wide), Coefficient(wide)\n"
                              "a = inner(grad(u), grad(v))*dx\n"
                              "L = inner(f, g)*v*dx\n";

/* The estimate of the memory knows of the inputs, 40 values a node: without them it is less than half of the peak. */
static void memory(void **state) {
    (void)state;
    setting s;
    weft_error error = {0};
    weft_mesh *mesh = NULL;
    weft_problem_report report;
    weft_problem_options options = weft_problem_options_default();
    const weft_problem_value values[] = {{"f", {.text = TWENTY}}, {"g", {.text = TWENTY}}};
    options.preconditioner = WEFT_JACOBI;
    options.assembly = WEFT_ASSEMBLY_CSR;
    check(weft_mesh_make_square(64, &mesh, &error), &error);
    open_setting(&s, mesh, several);
    check(bind(&s, values, 2, NULL, 0, &error), &error);
    fix(&s, "boundary", 0, "0");
    check(weft_problem_solve(s.problem, &options, &report, &error), &error);
    const double peak = (double)weft_device_bytes_peak(s.context.device),
                 estimate = (double)report.choice->bytes;
    assert_true(estimate > 0.8 * peak && estimate < 1.5 * peak);
    close_setting(&s);
}

static const char neumann[] = "element = FiniteElement(\"Lagrange\", triangle, 2)\n"
                              "u, v = TrialFunction(element), TestFunction(element)\n"
                              "f = Coefficient(element)\n"
                              "a = inner(grad(u), grad(v))*dx\n"
                              "L = f*v*dx\n";

/* Nothing fixes u: without a load that balances it is refused, rather than any u. */
static void nothing_fixes(void **state) {
    (void)state;
    setting s;
    weft_error error = {0};
    weft_mesh *mesh = NULL;
    weft_problem_report report;
    const weft_problem_options options = weft_problem_options_default();
    const weft_problem_value values[] = {{"f", {.text = "1 + x"}}};
    check(weft_mesh_make_square(3, &mesh, &error), &error);
    open_setting(&s, mesh, neumann);
    check(bind(&s, values, 1, NULL, 0, &error), &error);
    assert_int_equal(weft_problem_solve(s.problem, &options, &report, &error), WEFT_ERROR_INPUT);
    assert_non_null(strstr(error.message, "nothing fixes the constant in u"));
    close_setting(&s);
}

static const char heat[] = "element = FiniteElement(\"Lagrange\", triangle, 2)\n"
                           "u, v = TrialFunction(element), TestFunction(element)\n"
                           "f, c = Coefficient(element), Constant(triangle)\n"
                           "m = u*v*dx\n"
                           "a = inner(grad(u), grad(v))*dx + c*u*v*dx\n"
                           "L = f*v*dx\n";
static const char quadratic[] = "element = FiniteElement(\"Lagrange\", triangle, 2)\n"
                                "u, v = Coefficient(element), TestFunction(element)\n"
                                "w, f = TrialFunction(element), Coefficient(element)\n"
                                "m = w*v*dx\n"
                                "F = inner(grad(u), grad(v))*dx + u**2*v*dx - f*v*dx\n";

/* A step of the implicit Euler method, which the file writes itself. */
static const char euler[] = "element = FiniteElement(\"Lagrange\", triangle, 2)\n"
                            "u, v = TrialFunction(element), TestFunction(element)\n"
                            "u_old, f = Coefficient(element), Coefficient(element)\n"
                            "dt = Constant(triangle)\n"
                            "a = (u*v + dt*inner(grad(u), grad(v)))*dx\n"
                            "L = (u_old + dt*f)*v*dx\n";

/* u = (1 + 2 t) x, which is linear in time, so that the scheme has no error; inputs depend on t. */
static void steps_of(const char *text, const weft_problem_value *values, int n_values) {
    setting s;
    weft_error error = {0};
    weft_mesh *mesh = NULL;
    weft_transient *transient = NULL;
    weft_transient_state state = {0};
    weft_problem_options options = weft_problem_options_default();
    const weft_transient_problem settings = {.scheme = WEFT_TIME_BDF2, .end = 0.5, .dt = 0.1};
    const weft_bind_options bound = {
        .size = sizeof bound, .values = values, .n_values = n_values, .in_time = true};
    options.tolerance = 1e-12;
    check(weft_preconditioner_find("aggregation", &options.preconditioner, &error), &error);
    check(weft_mesh_make_square(4, &mesh, &error), &error);
    open_setting(&s, mesh, text);
    check(weft_ufl_bind(s.ufl, mesh, s.library, &bound, s.problem, &error), &error);
    fix(&s, "left", 0, "0");
    fix(&s, "right", 0, "1 + 2*t");
    check(weft_problem_set_initial(s.problem, "x", "the start", &error), &error);
    check(weft_problem_in_time(s.problem, &options, &settings, &transient, &error), &error);
    for (int i = 0; i < 5; ++i) {
        check(weft_transient_step(transient, 0.1, &state, &error), &error);
        assert_int_equal(state.outcome, WEFT_TRANSIENT_DONE);
    }
    check(weft_vector_pull(s.problem->system.u, s.problem->system.u_values,
                           s.problem->fields.n_dofs, &error),
          &error);
    const double *x = weft_space_points(s.problem->fields.space);
    for (int64_t i = 0; i < s.problem->fields.n_dofs; ++i)
        assert_true(fabs(s.problem->system.u_values[i] - 2 * x[2 * i]) < CLOSE);
    weft_transient_free(&transient);
    assert_int_equal(weft_problem_in_time(s.problem, &options, &settings, &transient, &error),
                     WEFT_ERROR_USAGE);
    close_setting(&s);
}

static void in_time(void **state) {
    (void)state;
    const weft_problem_value linear[] = {{"f", {.text = "2*x + (1 + t)*(1 + 2*t)*x"}},
                                         {"c", {.text = "1 + t"}}};
    const weft_problem_value nonlinear[] = {{"f", {.text = "2*x + ((1 + 2*t)*x)*((1 + 2*t)*x)"}}};
    const weft_problem_value own[] = {{"f", {.text = "2*x"}}};
    steps_of(euler, own, 1);
    steps_of(heat, linear, 2);
    steps_of(quadratic, nonlinear, 1);
}

/* The stationary problem of a file that was bound in time before, without what only the mass reads: -div(grad u) + u = x
 * has u = x. */
static void stationary_after_time(void **state) {
    (void)state;
    setting s;
    weft_error error = {0};
    weft_mesh *mesh = NULL;
    static const char text[] = "element = FiniteElement(\"Lagrange\", triangle, 2)\n"
                               "u, v = TrialFunction(element), TestFunction(element)\n"
                               "f, rho = Coefficient(element), Constant(triangle)\n"
                               "m = rho*u*v*ds\n"
                               "a = inner(grad(u), grad(v))*dx + u*v*dx\n"
                               "L = f*v*dx\n";
    const weft_problem_value values[] = {{"f", {.text = "x"}}, {"rho", {.text = "1"}}};
    const weft_bind_options in_time = {
        .size = sizeof in_time, .values = values, .n_values = 2, .in_time = true};
    check(weft_mesh_make_square(3, &mesh, &error), &error);
    open_setting(&s, mesh, text);
    check(weft_ufl_bind(s.ufl, mesh, s.library, &in_time, s.problem, &error), &error);
    weft_problem_free(&s.problem);
    check(weft_problem_start(&s.context, NULL, &s.problem, &error), &error);
    check(bind(&s, values, 1, NULL, 0, &error), &error);
    fix(&s, "boundary", 0, "x");
    solve(&s);
    const double *x = weft_space_points(weft_problem_space(s.problem));
    for (int64_t i = 0; i < weft_problem_dofs(s.problem); ++i)
        assert_true(fabs(weft_problem_values(s.problem)[i] - x[2 * i]) < CLOSE);
    close_setting(&s);
}

/* Newton's method that starts at the solution u = x has no residual there, one that starts at 0 has. */
static void starts_at_values(void **state) {
    (void)state;
    setting s;
    weft_error error = {0};
    weft_mesh *mesh = NULL;
    weft_problem *other = NULL;
    weft_problem_report report;
    double *start = NULL;
    const weft_problem_options options = weft_problem_options_default();
    weft_newton_options newton = weft_newton_options_default();
    const weft_problem_value values[] = {{"f", {.text = "x*x"}}};
    check(weft_mesh_make_square(3, &mesh, &error), &error);
    open_setting(&s, mesh, quadratic);
    check(bind(&s, values, 1, NULL, 0, &error), &error);
    fix(&s, "left", 0, "0");
    fix(&s, "right", 0, "1");
    const int64_t n = weft_problem_dofs(s.problem);
    const double *x = weft_space_points(weft_problem_space(s.problem));
    start = calloc((size_t)n, sizeof *start);
    assert_non_null(start);
    newton.tolerance = 1e-8;
    for (int pass = 0; pass < 2; ++pass) {
        for (int64_t i = 0; i < n; ++i)
            start[i] = pass * x[2 * i];
        check(weft_problem_set_values(s.problem, start, &error), &error);
        check(weft_problem_solve_nonlinear(s.problem, &options, &newton, &report, &error), &error);
        assert_true(report.newton->converged);
        const double first = report.newton->iterations[0].residual;
        assert_true(pass ? first < CLOSE : first > 1e-3);
        assert_int_equal(weft_memory_bytes(weft_problem_u(s.problem)), (size_t)n * sizeof(double));
    }
    check(weft_problem_make(&s.context, mesh, WEFT_ELEMENT_P1, 1, &other, &error), &error);
    assert_int_equal(weft_problem_set_values(other, start, &error), WEFT_ERROR_USAGE);
    assert_int_equal(weft_problem_set_initial(other, "1", "it", &error), WEFT_ERROR_USAGE);
    weft_problem_free(&other);
    free(start);
    close_setting(&s);
}

static void constrain(setting *s, weft_constraint constraint) {
    weft_error error = {0};
    constraint.size = sizeof constraint;
    check(weft_problem_constraint(s->problem, &constraint, &error), &error);
}

/* Between a plate and a plane of symmetry, the same on both sides, and p at a point between nodes: u = (y (2 - y)/2, 0),
 * p = 2. */
static void mixed_constraints(void **state) {
    (void)state;
    setting s;
    weft_error error = {0};
    weft_mesh *mesh = NULL;
    const weft_problem_value values[] = {{"f", {.text = "1, 0"}}};
    check(weft_mesh_make_square(4, &mesh, &error), &error);
    open_setting(&s, mesh, stokes);
    constrain(&s, (weft_constraint){.kind = WEFT_CONSTRAINT_PERIODIC,
                                    .group = "left",
                                    .other = "right"}); /* before its functions are known */
    check(bind(&s, values, 1, NULL, 0, &error), &error);
    fix(&s, "bottom", 0, "0");
    fix(&s, "bottom", 1, "0");
    constrain(&s, (weft_constraint){.kind = WEFT_CONSTRAINT_SYMMETRY, .group = "top"});
    constrain(
        &s, (weft_constraint){
                .kind = WEFT_CONSTRAINT_POINT, .point = {0.6, 0.3}, .component = 2, .value = "2"});
    solve(&s);
    for (int f = 0; f < 2; ++f) {
        const weft_problem_field *field = &s.problem->fields.list[f];
        const double *x = weft_space_points(field->space),
                     *u = weft_problem_values(s.problem) + field->first_dof;
        for (int64_t i = 0; i < weft_space_nodes(field->space); ++i) {
            const double y = x[2 * i + 1];
            if (f == 0)
                assert_true(fabs(u[2 * i] - y * (2 - y) / 2) < CLOSE && fabs(u[2 * i + 1]) < CLOSE);
            else
                assert_true(fabs(u[i] - 2) < CLOSE);
        }
    }
    close_setting(&s);
}

/* u = t x with u_t - u'' = x: the conductor on the right takes t in all, at one of its points. */
static void constraints_in_time(void **state) {
    (void)state;
    setting s;
    weft_error error = {0};
    weft_mesh *mesh = NULL;
    weft_transient *transient = NULL;
    weft_transient_state now = {0};
    weft_problem_options options = weft_problem_options_default();
    const weft_problem_value values[] = {{"f", {.text = "x"}}, {"c", {.text = "0"}}};
    const weft_transient_problem settings = {.scheme = WEFT_TIME_BDF2, .end = 0.5, .dt = 0.1};
    const weft_bind_options bound = {
        .size = sizeof bound, .values = values, .n_values = 2, .in_time = true};
    const weft_point_load load = {sizeof load, .point = {1, 0.3}, .value = "t"};
    options.tolerance = 1e-12;
    check(weft_mesh_make_square(4, &mesh, &error), &error);
    open_setting(&s, mesh, heat);
    check(weft_ufl_bind(s.ufl, mesh, s.library, &bound, s.problem, &error), &error);
    fix(&s, "left", 0, "0");
    constrain(&s, (weft_constraint){.kind = WEFT_CONSTRAINT_TIE, .group = "right"});
    check(weft_problem_point_load(s.problem, &load, &error), &error);
    check(weft_problem_in_time(s.problem, &options, &settings, &transient, &error), &error);
    for (int i = 0; i < 5; ++i) {
        check(weft_transient_step(transient, 0.1, &now, &error), &error);
        assert_int_equal(now.outcome, WEFT_TRANSIENT_DONE);
    }
    check(weft_vector_pull(s.problem->system.u, s.problem->system.u_values,
                           s.problem->fields.n_dofs, &error),
          &error);
    const double *x = weft_space_points(s.problem->fields.space);
    for (int64_t i = 0; i < s.problem->fields.n_dofs; ++i)
        assert_true(fabs(s.problem->system.u_values[i] - 0.5 * x[2 * i]) < CLOSE);
    weft_transient_free(&transient);
    close_setting(&s);
}

/* Jumps would have to be taken between periodic sides, too. */
static void periodic_jumps(void **state) {
    (void)state;
    static const char text[] = "element = FiniteElement('DG', triangle, 1)\n"
                               "u, v = TrialFunction(element), TestFunction(element)\n"
                               "a = u*v*dx + jump(u)*jump(v)*dS\n";
    setting s;
    weft_error error = {0};
    weft_mesh *mesh = NULL;
    weft_problem_report report;
    const weft_problem_options options = weft_problem_options_default();
    check(weft_mesh_make_square(2, &mesh, &error), &error);
    open_setting(&s, mesh, text);
    check(bind(&s, NULL, 0, NULL, 0, &error), &error);
    constrain(&s, (weft_constraint){.kind = WEFT_CONSTRAINT_PERIODIC,
                                    .group = "left",
                                    .other = "right",
                                    .origin = "the sides"});
    assert_int_equal(weft_problem_solve(s.problem, &options, &report, &error),
                     WEFT_ERROR_UNSUPPORTED);
    assert_non_null(strstr(error.message, "has an integral over facets between cells (dS)"));
    assert_string_equal(error.file, "the sides");
    close_setting(&s);
}

static void count_warnings(void *user, weft_log_level level, const char *message) {
    if (level == WEFT_LOG_WARNING && strstr(message, "the linear form load is not part"))
        ++*(int *)user;
}

/* A load of another name than L would be left out without a word. */
static void unused_load(void **state) {
    (void)state;
    static const char text[] = "element = FiniteElement(\"Lagrange\", triangle, 1)\n"
                               "u, v = TrialFunction(element), TestFunction(element)\n"
                               "a = inner(grad(u), grad(v))*dx\n"
                               "load = v*dx\n";
    setting s;
    int n = 0;
    weft_error error = {0};
    weft_mesh *mesh = NULL;
    const weft_monitor monitor = {.log = count_warnings, .user = &n};
    check(weft_mesh_make_square(2, &mesh, &error), &error);
    open_setting(&s, mesh, text);
    s.context.monitor = &monitor;
    check(bind(&s, NULL, 0, NULL, 0, &error), &error);
    assert_int_equal(n, 1);
    close_setting(&s);
}

typedef struct refusal {
    const char *text;
    weft_problem_value values[2];
    int n_values;
    weft_bind_measure measure;
    const char *message;
} refusal;

/* Functions of two files have the same names: the second would change the answer of the first. */
static void library_of_another_file(void **state) {
    (void)state;
    static const char mass[] = "element = FiniteElement(\"Lagrange\", triangle, 1)\n"
                               "u, v = TrialFunction(element), TestFunction(element)\n"
                               "a = u*v*dx\nL = 3*v*dx\n";
    setting s;
    weft_error error = {0};
    weft_ufl *other = NULL;
    weft_problem *second = NULL;
    const weft_bind_options options = weft_bind_options_default();
    open_setting(&s, wall_mesh(2, 2, false, false), mass);
    check(bind(&s, NULL, 0, NULL, 0, &error), &error);
    check(weft_ufl_read_text("test.ufl", mass, strlen(mass), NULL, &other, &error), &error);
    check(weft_problem_start(&s.context, NULL, &second, &error), &error);
    assert_int_equal(weft_ufl_bind(other, s.mesh, s.library, &options, second, &error),
                     WEFT_ERROR_USAGE);
    assert_non_null(strstr(error.message, "another form file"));
    assert_non_null(strstr(error.hint, "for each form file"));
    weft_problem_free(&second);
    check(weft_problem_start(&s.context, NULL, &second, &error), &error);
    check(weft_ufl_bind(s.ufl, s.mesh, s.library, &options, second, &error), &error);
    weft_problem_free(&second);
    weft_ufl_free(&other);
    solve(&s);
    for (int64_t i = 0; i < weft_problem_dofs(s.problem); ++i)
        assert_true(fabs(weft_problem_values(s.problem)[i] - 3) < CLOSE);
    close_setting(&s);
}

static void refusals(void **state) {
    (void)state;
#define BOTH {{"k", {.text = "1"}}, {"load", {.text = "1"}}}, 2
    static const refusal list[] = {
        {poisson, BOTH, {"ds(7)", "nowhere", "it"}, "the mesh wall has no group for ds(7)"},
        {poisson, BOTH, {NULL}, "the mesh wall has no group for ds(7)"},
        {poisson, BOTH, {"ds(8)", "right", "it"}, "no integral has the measure ds(8)"},
        {poisson,
         {{"k", {.text = "1"}}},
         1,
         {"ds(7)", "right", "it"},
         "the coefficient or constant 'load' has no values"},
        {poisson,
         {{"k", {.text = "1"}}, {"q", {.text = "1"}}},
         2,
         {"ds(7)", "right", "it"},
         "the forms contain no coefficient or constant 'q'"},
        {poisson,
         {{"k", {.text = "1"}}, {"load", {.text = "x"}}},
         2,
         {"ds(7)", "right", "it"},
         "this input is a single number, and this formula depends on the place"},
        {"element = FiniteElement(\"Lagrange\", tetrahedron, 1)\n"
         "u, v = TrialFunction(element), TestFunction(element)\n"
         "a = inner(grad(u), grad(v))*dx\n",
         {{NULL}},
         0,
         {NULL},
         "the forms are for tetrahedra, and the mesh has triangles"}};
    for (size_t i = 0; i < sizeof list / sizeof *list; ++i) {
        setting s;
        weft_error error = {0};
        open_setting(&s, wall_mesh(2, 2, false, false), list[i].text);
        const weft_status status = bind(&s, list[i].values, list[i].n_values, &list[i].measure,
                                        list[i].measure.name != NULL, &error);
        assert_true(status == WEFT_ERROR_USAGE || status == WEFT_ERROR_INPUT);
        assert_string_equal(error.message, list[i].message);
        assert_null(strstr(error.hint, "(null)"));
        if (list[i].measure.name && strcmp(list[i].measure.name, "ds(8)") == 0)
            assert_non_null(strstr(error.hint, "weft ufl test.ufl --print"));
        else if (list[i].values[1].name == NULL || list[i].values[1].source.text[0] != 'x')
            assert_string_equal(error.file, "test.ufl"); /* its name, which bind does not give */
        close_setting(&s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(two_materials),
                                       cmocka_unit_test(taylor_hood),
                                       cmocka_unit_test(enclosed),
                                       cmocka_unit_test(memory),
                                       cmocka_unit_test(nothing_fixes),
                                       cmocka_unit_test(in_time),
                                       cmocka_unit_test(mixed_constraints),
                                       cmocka_unit_test(constraints_in_time),
                                       cmocka_unit_test(periodic_jumps),
                                       cmocka_unit_test(library_of_another_file),
                                       cmocka_unit_test(refusals),
                                       cmocka_unit_test(unused_load),
                                       cmocka_unit_test(stationary_after_time),
                                       cmocka_unit_test(starts_at_values)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
