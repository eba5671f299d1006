/* labels: quick */
/* Constraints and loads at points that a problem is given: solutions in the space, which discrete equations have up to the
 * solver's tolerance, 1e-12, times the condition of the matrices; rigid motions that nothing fixes; refusals. */
#include "quasilinear.h"
#include "test_support.h"

#include <math.h>

static const double CLOSE = 1e-8;

static void check(weft_status status, const weft_error *error) {
    if (status != WEFT_OK)
        fail_msg("%s (%s)", error->message, error->hint);
}

/* A problem of a shipped form, in P1 functions on the square. */
static void open_form(setting *s, weft_bound_form *form, const char *name, int side,
                      int components) {
    weft_error error = {0};
    check(open_context(s, &error), &error);
    check(weft_mesh_make_square(side, &s->mesh, &error), &error);
    check(weft_problem_make(&s->context, s->mesh, WEFT_ELEMENT_P1, components, &s->problem, &error),
          &error);
    const weft_space *space = weft_problem_space(s->problem);
    check(weft_form_ship(space, name, weft_space_cells(space), form, &error), &error);
    if (components > 1)
        form->form.action = "Kv";
    weft_problem_form(s->problem, &form->form);
}

static void condition(setting *s, weft_condition_kind kind, const char *group, int component,
                      const char *value) {
    weft_error error = {0};
    check(add(s, kind, group, component, value, &error), &error);
}

static void constrain(setting *s, weft_constraint constraint) {
    weft_error error = {0};
    constraint.size = sizeof constraint;
    check(weft_problem_constraint(s->problem, &constraint, &error), &error);
}

static void load_at(setting *s, double x, double y, int component, const char *value) {
    weft_error error = {0};
    const weft_point_load load = {sizeof load, .point = {x, y}, .component = component,
                                  .value = value};
    check(weft_problem_point_load(s->problem, &load, &error), &error);
}

static weft_status try_solve(setting *s, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_problem_report report;
    TRY(weft_problem_solve(s->problem, &s->options, &report, error));
    assert_int_equal(report.result->outcome, WEFT_CG_CONVERGED);
done:
    return status;
}

static void solve(setting *s) {
    weft_error error = {0};
    check(try_solve(s, &error), &error);
}

typedef double exact_function(double x, double y, int component);

static double apart(const setting *s, exact_function *exact) {
    const weft_space *space = weft_problem_space(s->problem);
    const int c = weft_space_components(space);
    const double *u = weft_problem_values(s->problem), *x = weft_space_points(space);
    double most = 0;
    for (int64_t i = 0; i < weft_space_dofs(space); ++i)
        most = fmax(most, fabs(u[i] - exact(x[i / c * 2], x[i / c * 2 + 1], (int)(i % c))));
    return most;
}

static double twice_x(double x, double y, int component) {
    (void)y, (void)component;
    return 2 * x;
}

/* A conductor on the right bears fluxes that are not even, and a load at a point of it that is no node: 1 + 2 y has 2 in
 * all. */
static void tied_side(void **state) {
    (void)state;
    for (int pass = 0; pass < 2; ++pass) {
        setting s;
        weft_bound_form form;
        open_form(&s, &form, "poisson.weft", 6, 1);
        condition(&s, WEFT_DIRICHLET, "left", 0, "0");
        constrain(&s, (weft_constraint){.kind = WEFT_CONSTRAINT_TIE, .group = "right"});
        if (pass == 0)
            condition(&s, WEFT_NEUMANN, "right", 0, "1 + 2*y");
        else
            load_at(&s, 1, 0.3, 0, "1 + x");
        solve(&s);
        solve(&s); /* again, from what it was given */
        assert_true(apart(&s, twice_x) < CLOSE);
        assert_int_equal(weft_problem_dependent(s.problem), 6);
        assert_int_equal(weft_problem_free_modes(s.problem, NULL), 0);
        close_setting(&s);
    }
}

/* With E = 1 and nu = 0.3, plane strain: sigma_x = 1 is e_x = 1 - nu^2, e_y = -nu (1 + nu). */
static double stretched(double x, double y, int component) {
    return component == 0 ? 0.91 * x : -0.39 * y;
}

static double about_its_mean(double x, double y, int component) {
    return component == 0 ? 0.91 * (x - 0.5) : -0.39 * y;
}

static double twisted_back(double x, double y, int component) {
    return component == 0 ? 0.91 * (x - 0.5) : -0.39 * (y - 0.5);
}

/* Held by two planes, by one, and at a point: what they leave has no mean and no rotation. */
static void rigid_motions(void **state) {
    (void)state;
    static exact_function *const exact[] = {stretched, about_its_mean, twisted_back};
    for (int n = 0; n < 3; ++n) {
        setting s;
        weft_bound_form form;
        int held = -1;
        open_form(&s, &form, "elasticity.weft", 4, 2);
        condition(&s, WEFT_NEUMANN, "left", 0, "-1");
        condition(&s, WEFT_NEUMANN, "right", 0, "1");
        if (n < 2)
            constrain(&s, (weft_constraint){.kind = WEFT_CONSTRAINT_SYMMETRY, .group = "bottom"});
        if (n == 0)
            constrain(&s, (weft_constraint){.kind = WEFT_CONSTRAINT_SYMMETRY, .group = "left"});
        if (n == 2)
            constrain(&s, (weft_constraint){.kind = WEFT_CONSTRAINT_POINT,
                                            .point = {0.5, 0.5},
                                            .component = WEFT_ALL_COMPONENTS,
                                            .value = "0"});
        solve(&s);
        assert_int_equal(weft_problem_free_modes(s.problem, &held), n == 0 ? 0 : 1);
        assert_int_equal(held, 0);
        assert_true(apart(&s, exact[n]) < CLOSE);
        close_setting(&s);
    }
}

static double raised(double x, double y, int component) {
    (void)y, (void)component;
    return x + 1.4;
}

/* Fluxes that balance, and a value at a point between nodes, at which the interpolant of x + 1.4 is 2. */
static void value_at_a_point(void **state) {
    (void)state;
    setting s;
    weft_bound_form form;
    open_form(&s, &form, "poisson.weft", 5, 1);
    condition(&s, WEFT_NEUMANN, "left", 0, "-1");
    condition(&s, WEFT_NEUMANN, "right", 0, "1");
    constrain(&s, (weft_constraint){
                      .kind = WEFT_CONSTRAINT_POINT, .point = {0.6, 0.23}, .value = "2*cos(t)"});
    solve(&s);
    assert_true(apart(&s, raised) < CLOSE);
    close_setting(&s);
}

/* -u'' = 4 pi^2 sin(2 pi x) between periodic sides: at nodes sin(2 pi x) up to (2 pi h)^2/12 of it, a hundredth, and exactly
 * the same on both sides. Where the flux is zero instead, u differs by 2 pi x. */
static double wave(double x, double y, int component) {
    (void)y, (void)component;
    return sin(2 * 3.14159265358979323846 * x);
}

static void periodic_sides(void **state) {
    (void)state;
    setting s;
    weft_bound_form form;
    open_form(&s, &form, "poisson.weft", 18, 1);
    weft_problem_source(s.problem, "4*pi^2*sin(2*pi*x)", "the source");
    constrain(
        &s, (weft_constraint){.kind = WEFT_CONSTRAINT_PERIODIC, .group = "left", .other = "right"});
    solve(&s);
    assert_true(apart(&s, wave) < 0.02);
    assert_int_equal(weft_problem_dependent(s.problem), 19);
    assert_int_equal(weft_problem_free_modes(s.problem, NULL), 1);
    const double *u = weft_problem_values(s.problem),
                 *x = weft_space_points(weft_problem_space(s.problem));
    for (int64_t i = 0; i < s.mesh->n_nodes; ++i)
        for (int64_t k = 0; k < s.mesh->n_nodes; ++k)
            if (x[2 * i] == 0 && x[2 * k] == 1 && x[2 * i + 1] == x[2 * k + 1])
                assert_true(fabs(u[i] - u[k]) < CLOSE);
    close_setting(&s);
}

/* Maxwell and Betti: a unit force at P moves Q by as much, along f, as one along f at Q moves P. */
static void reciprocal(void **state) {
    (void)state;
    double moved[2] = {0, 0};
    for (int k = 0; k < 2; ++k) {
        setting s;
        weft_bound_form form;
        open_form(&s, &form, "elasticity.weft", 4, 2);
        condition(&s, WEFT_DIRICHLET, "left", 0, "0");
        condition(&s, WEFT_DIRICHLET, "left", 1, "0");
        load_at(&s, k ? 0.5 : 1, k ? 1 : 0.25, k, "1");
        solve(&s);
        const double *u = weft_problem_values(s.problem),
                     *x = weft_space_points(weft_problem_space(s.problem));
        for (int64_t i = 0; i < s.mesh->n_nodes; ++i)
            if (x[2 * i] == (k ? 1 : 0.5) && x[2 * i + 1] == (k ? 0.25 : 1))
                moved[k] = u[2 * i + 1 - k];
        close_setting(&s);
    }
    assert_true(fabs(moved[0]) > 1e-2 && fabs(moved[0] - moved[1]) < CLOSE);
}

/* -div((1 + u^2) grad u) = -2x has u = x, with a flux of 2 through the tied side: 1 from its flux, 1 at a point. Of these the
 * source, -1 in all, takes a half, and the left side the rest. */
static void check_balance(setting *s) {
    weft_error error = {0};
    weft_problem_balance balance;
    check(weft_problem_reactions(s->problem, &balance, &error), &error);
    assert_int_equal(balance.reactions.n, 1);
    assert_true(fabs(balance.reactions.list[0].sums[0] + 1) < CLOSE);
    assert_true(fabs(balance.loads[0] - 1) < CLOSE && balance.loads_reason[0] == '\0');
    assert_true(fabs(balance.equation[0]) < CLOSE && fabs(balance.sums[0]) < CLOSE);
    weft_problem_balance_clear(&balance);
}

static double identity(double x, double y, int component) {
    (void)y, (void)component;
    return x;
}

static void nonlinear(void **state) {
    (void)state;
    for (int steps = 1; steps <= 3; steps += 2) {
        setting s;
        weft_error error = {0};
        weft_problem_report report;
        const weft_newton_options newton = {sizeof(weft_newton_options), 1e-11, 30, steps};
        check(open_context(&s, &error), &error);
        check(make_problem(&s, 6, "-2*x", &error), &error);
        condition(&s, WEFT_DIRICHLET, "left", 0, "0");
        condition(&s, WEFT_NEUMANN, "right", 0, "2*y");
        load_at(&s, 1, 0.7, 0, "1");
        constrain(&s, (weft_constraint){.kind = WEFT_CONSTRAINT_TIE, .group = "right"});
        for (int pass = 0; pass < 2; ++pass) {
            check(weft_problem_solve_nonlinear(s.problem, &s.options, &newton, &report, &error),
                  &error);
            assert_true(report.newton->converged);
            assert_true(apart(&s, identity) < 1e-7);
            check_balance(&s);
        }
        close_setting(&s);
    }
}

/* ---- refusals ---------------------------------------------------------------------------- */

static void refused(void **state) {
    (void)state;
    static const struct {
        weft_constraint constraint;
        weft_status status;
        const char *message, *origin; /* NULL: refused when it is added */
    } list[] = {
        {{.kind = (weft_constraint_kind)9},
         WEFT_ERROR_USAGE,
         "no constraint is of this kind",
         NULL},
        {{.kind = WEFT_CONSTRAINT_TIE},
         WEFT_ERROR_USAGE,
         "the group of a constraint is missing",
         NULL},
        {{.kind = WEFT_CONSTRAINT_PERIODIC, .group = "left"},
         WEFT_ERROR_USAGE,
         "one of two periodic sides is missing",
         NULL},
        {{.kind = WEFT_CONSTRAINT_POINT}, WEFT_ERROR_USAGE, "a value at a point is missing", NULL},
        {{.kind = WEFT_CONSTRAINT_TIE, .group = "lft"},
         WEFT_ERROR_INPUT,
         "square:4 has no group `lft`; it has left, right, bottom, top",
         "tie lft"},
        {{.kind = WEFT_CONSTRAINT_TIE, .group = "left", .component = 1},
         WEFT_ERROR_USAGE,
         "component 1 is not one of u, which has 1",
         "tie left"},
        {{.kind = WEFT_CONSTRAINT_SYMMETRY, .group = "left", .origin = "the plane"},
         WEFT_ERROR_INPUT,
         "the solution has 1 component, and no normal component on `left`",
         "the plane"},
        {{.kind = WEFT_CONSTRAINT_PERIODIC},
         WEFT_ERROR_INPUT,
         "square:4 declares no periodic sides",
         "periodic"},
        {{.kind = WEFT_CONSTRAINT_POINT, .point = {2, 2}, .value = "1"},
         WEFT_ERROR_INPUT,
         "the point (2, 2) is outside the mesh",
         "point value"},
        {{.kind = WEFT_CONSTRAINT_POINT, .group = "left", .value = "1"},
         WEFT_ERROR_INPUT,
         "`left` of square:4 is not a group of points",
         "point value left"}};
    for (size_t i = 0; i < sizeof list / sizeof *list; ++i) {
        setting s;
        weft_bound_form form;
        weft_error error = {0};
        weft_constraint one = list[i].constraint;
        open_form(&s, &form, "poisson.weft", 4, 1);
        assert_int_equal(weft_problem_constraint(s.problem, &one, &error), WEFT_ERROR_USAGE);
        assert_string_equal(error.message, "weft_constraint without its size");
        one.size = sizeof one;
        error = (weft_error){0};
        if (list[i].origin) {
            constrain(&s, one);
            assert_int_equal(try_solve(&s, &error), list[i].status);
            assert_string_equal(error.file, list[i].origin);
        } else {
            assert_int_equal(weft_problem_constraint(s.problem, &one, &error), list[i].status);
        }
        assert_string_equal(error.message, list[i].message);
        close_setting(&s);
    }
}

static void refused_loads(void **state) {
    (void)state;
    setting s;
    weft_bound_form form;
    weft_error error = {0};
    weft_point_load load = {.point = {0.5, 0.5}, .origin = "the load"};
    open_form(&s, &form, "poisson.weft", 4, 1);
    assert_int_equal(weft_problem_point_load(s.problem, &load, &error), WEFT_ERROR_USAGE);
    load.size = sizeof load;
    error = (weft_error){0};
    assert_int_equal(weft_problem_point_load(s.problem, &load, &error), WEFT_ERROR_USAGE);
    assert_string_equal(error.message, "the value of a load is missing");
    load.value = "1/(x - 0.5)";
    check(weft_problem_point_load(s.problem, &load, &error), &error);
    assert_int_equal(try_solve(&s, &error), WEFT_ERROR_INPUT);
    assert_string_equal(error.file, "the load");
    close_setting(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tied_side),        cmocka_unit_test(rigid_motions),
        cmocka_unit_test(value_at_a_point), cmocka_unit_test(periodic_sides),
        cmocka_unit_test(reciprocal),       cmocka_unit_test(nonlinear),
        cmocka_unit_test(refused),          cmocka_unit_test(refused_loads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
