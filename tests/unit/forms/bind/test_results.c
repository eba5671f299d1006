/* labels: quick */
/* What follows from solutions of UFL problems, by the library alone: integrals, errors, energy, values at points, formulas,
 * reactions. Expected: integrals by hand of solutions that are in the spaces, up to the solver's tolerance, 1e-12, times
 * the condition of the matrices. */
#include "setting.h"

static void assert_close(double a, double b) {
    if (!(fabs(a - b) <= CLOSE))
        fail_msg("%.17g, expected %.17g", a, b);
}

typedef struct given {
    weft_problem_value values[2];
    int n_values;
    weft_bind_measure measure; /* name NULL: none */
    bool in_time;
} given;

static void open_bound(setting *s, weft_mesh *mesh, const char *text, const given *with) {
    weft_error error = {0};
    const weft_bind_options options = {.size = sizeof options,
                                       .values = with->values,
                                       .n_values = with->n_values,
                                       .measures = &with->measure,
                                       .n_measures = with->measure.name != NULL,
                                       .in_time = with->in_time};
    open_setting(s, mesh, text);
    check(weft_ufl_bind(s->ufl, mesh, s->library, &options, s->problem, &error), &error);
}

static weft_mesh *mesh_of(weft_cell_type cell, int n) {
    weft_error error = {0};
    weft_mesh *mesh = NULL;
    check(cell == WEFT_TRIANGLE ? weft_mesh_make_square(n, &mesh, &error)
                                : weft_mesh_make_boxes(cell, n, &mesh, &error),
          &error);
    return mesh;
}

/* The entry of this name. */
static const weft_flow *find(const weft_flows *flows, const char *name) {
    for (int i = 0; i < flows->n; ++i)
        if (strcmp(flows->list[i].name, name) == 0)
            return &flows->list[i];
    fail_msg("no entry %s", name);
    return NULL;
}

/* ---- u = 2 x - x^2/2 --------------------------------------------------------------------- */

/* -u'' = 1 with u(0) = 0 and u'(1) + 2 u(1) = 4, by the form or by a condition. */
#define LAPLACE(cell)                                                                              \
    "element = FiniteElement('Lagrange', " cell ", 2)\n"                                           \
    "u, v = TrialFunction(element), TestFunction(element)\n"                                       \
    "f = Constant(" cell ")\n"
#define INSIDE "a, L = inner(grad(u), grad(v))*dx, f*v*dx\n"
#define EXCHANGING                                                                                 \
    "g = Constant(triangle)\na, L = inner(grad(u), grad(v))*dx + 2*u*v*ds(2), f*v*dx + "           \
    "g*v*ds(2)\n"

static void check_values(setting *s) {
    weft_error error = {0};
    weft_probes *probes = NULL;
    static const char *const itself[] = {"2*x - x*x/2"}, *const moving[] = {"t*(2*x - x*x/2)"};
    double integral = 0, l2 = 0, h1 = 0, at[6], points[6][2];
    assert_int_equal(weft_problem_components(s->problem), 1);
    check(weft_problem_integrals(s->problem, &integral, &error), &error);
    assert_close(integral, 5.0 / 6);
    check(weft_problem_errors(s->problem, itself, "it", 0, &l2, &h1, &error), &error);
    assert_true(l2 < CLOSE && h1 < CLOSE);
    check(weft_problem_errors(s->problem, moving, "it", 1, &l2, &h1, &error), &error);
    assert_true(l2 < CLOSE && h1 < CLOSE);
    check(weft_problem_errors(s->problem, moving, "it", 0, &l2, &h1, &error), &error);
    assert_close(l2, sqrt(53.0 / 60));
    assert_close(h1, sqrt(7.0 / 3));
    const double from[] = {0, 0.5}, to[] = {1.25, 0.5};
    check(weft_probes_make_line(&s->context, s->mesh, from, to, 6, points[0], &probes, &error),
          &error);
    check(weft_problem_evaluate(s->problem, probes, at, &error), &error);
    for (int i = 0; i < 6; ++i) {
        const double x = 0.25 * i;
        assert_true(fabs(points[i][0] - x) < 1e-12 && points[i][1] == 0.5);
        assert_true((weft_probes_cells(probes)[i] < 0) == (i == 5));
        if (i < 5)
            assert_close(at[i], 2 * x - x * x / 2);
    }
    assert_true(isnan(at[5]));
    weft_probes_free(&probes);
}

/* Fluxes through both sides, the extrema, and a field in cells at a point, where it is that of the centre of the cell. */
static void check_formulas(setting *s) {
    weft_error error = {0};
    weft_derive *derive = NULL;
    weft_probes *probes = NULL;
    const weft_derived_value *values = NULL;
    const weft_field *fields = NULL;
    const weft_derived_quantity list[] = {
        {WEFT_DERIVE_FIELD, "slope", NULL, "grad(u)[0]", "it"},
        {WEFT_DERIVE_INTEGRAL, "flux", "right", "grad(u)[0]", "it"},
        {WEFT_DERIVE_INTEGRAL, "squares", NULL, "u*u*f", "it"},
        {WEFT_DERIVE_EXTREMA, "range", NULL, "u", "it"}};
    const double points[][2] = {{0.6, 0.6}, {2, 2}};
    double slopes[2];
    check(weft_problem_derive(s->problem, list, 4, NULL, &derive, &error), &error);
    check(weft_derive_run(derive, 0, &error), &error);
    assert_int_equal(weft_derive_values(derive, &values), 3);
    assert_close(values[0].integral[0], 1);
    assert_close(values[1].integral[0], 53.0 / 60);
    assert_close(values[2].least, 0);
    assert_close(values[2].greatest, 1.5);
    assert_int_equal(weft_derive_fields(derive, &fields), 1);
    check(weft_probes_make(&s->context, s->mesh, points[0], 2, &probes, &error), &error);
    check(weft_probes_field(probes, weft_problem_space(s->problem), fields, slopes, &error),
          &error);
    assert_true(fabs(slopes[0] - (2 - 0.6)) < 0.25 && isnan(slopes[1]));
    weft_probes_free(&probes);
    weft_derive_free(&derive);
}

/* The energy, and a balance whose exchange has this name. */
static void check_flows(setting *s, double energy, const char *name) {
    weft_error error = {0};
    weft_problem_balance balance;
    double found = 0;
    check(weft_problem_energy(s->problem, &found, &error), &error);
    assert_close(found, energy);
    check(weft_problem_reactions(s->problem, &balance, &error), &error);
    assert_true(balance.is_made && !balance.in_time);
    assert_close(find(&balance.reactions, "left")->sums[0], -2);
    assert_close(find(&balance.exchange, name)->sums[0], 1);
    assert_int_equal(balance.reactions.n + balance.exchange.n, 2);
    assert_close(balance.loads[0], 1);
    assert_close(balance.equation[0], 0);
    assert_close(balance.sums[0], 0);
    weft_problem_balance_clear(&balance);
}

static void one_function(void **state) {
    (void)state;
    static const struct {
        weft_cell_type cell;
        const char *text;
    } list[] = {{WEFT_TRIANGLE, LAPLACE("triangle") INSIDE},
                {WEFT_QUADRILATERAL, LAPLACE("quadrilateral") INSIDE}};
    const given with = {{{"f", {.text = "1"}}}, 1, {NULL}, false};
    const weft_condition exchange = {WEFT_ROBIN, .group = "right", .value = "4", .alpha = "2"};
    weft_error error = {0};
    for (size_t i = 0; i < sizeof list / sizeof *list; ++i) {
        setting s;
        open_bound(&s, mesh_of(list[i].cell, 4), list[i].text, &with);
        fix(&s, "left", 0, "0");
        check(weft_problem_condition(s.problem, &exchange, &error), &error);
        solve(&s);
        check_values(&s);
        check_formulas(&s);
        check_flows(&s, 7.0 / 6, "right");
        close_setting(&s);
    }
}

static void exchange_by_the_form(void **state) {
    (void)state;
    const given with = {
        {{"f", {.text = "1"}}, {"g", {.text = "4"}}}, 2, {"ds(2)", "right", "it"}, false};
    setting s;
    open_bound(&s, mesh_of(WEFT_TRIANGLE, 4), LAPLACE("triangle") EXCHANGING, &with);
    fix(&s, "left", 0, "0");
    solve(&s);
    check_values(&s);
    check_flows(&s, 7.0 / 6 + 2.25, "ds(2)");
    close_setting(&s);
}

/* Conditions without origins have an entry each; those on the components of one group together. Between sides at 0 and 1, the
 * flux is 1. */
static void entries(void **state) {
    (void)state;
    static const char text[] = "element = VectorElement('Lagrange', triangle, 1)\n"
                               "u, v = TrialFunction(element), TestFunction(element)\n"
                               "a = inner(grad(u), grad(v))*dx\n";
    const given with = {{{NULL}}, 0, {NULL}, false};
    setting s;
    weft_error error = {0};
    weft_problem_balance balance;
    open_bound(&s, mesh_of(WEFT_TRIANGLE, 3), text, &with);
    for (int k = 0; k < 2; ++k)
        fix(&s, "left", k, "0");
    fix(&s, "right", 0, "1");
    solve(&s);
    check(weft_problem_reactions(s.problem, &balance, &error), &error);
    assert_int_equal(balance.reactions.n, 2);
    const weft_flow *left = find(&balance.reactions, "left"),
                    *right = find(&balance.reactions, "right");
    assert_close(left->sums[0], -1);
    assert_close(right->sums[0], 1);
    assert_close(left->sums[1], 0);
    assert_true(!left->is_free[1] && right->is_free[1]);
    weft_problem_balance_clear(&balance);
    close_setting(&s);
}

/* ---- mixed ------------------------------------------------------------------------------- */

/* u = (y, 0) and p = 3 x - 1, which the load 3 along x balances: the boundary takes it up. Functions with bubbles. */
static void mixed(void **state) {
    (void)state;
    static const char text[] =
        "P, B = FiniteElement('Lagrange', triangle, 1), FiniteElement('Bubble', triangle, 3)\n"
        "W = MixedElement([VectorElement(P + B), P])\n"
        "(u, p), (v, q) = TrialFunctions(W), TestFunctions(W)\n"
        "f = VectorConstant(triangle)\n"
        "a = (inner(grad(u), grad(v)) - p*div(v) - q*div(u))*dx\n"
        "L = inner(f, v)*dx\n";
    static const char *const exact[] = {"y", "0", "3*x - 1"};
    const given with = {{{"f", {.text = "3, 0"}}}, 1, {NULL}, false};
    setting s;
    weft_error error = {0};
    weft_problem_balance balance;
    weft_probes *probes = NULL;
    double integrals[3], l2[3], h1[3], at[3];
    const double point[] = {0.3, 0.7};
    const weft_constraint pressure = {sizeof pressure, WEFT_CONSTRAINT_POINT, .point = {0.5, 0.5},
                                      .component = 2, .value = "0.5"};
    open_bound(&s, mesh_of(WEFT_TRIANGLE, 3), text, &with);
    assert_int_equal(weft_problem_components(s.problem), 3);
    fix(&s, "boundary", 0, "y");
    fix(&s, "boundary", 1, "0");
    check(weft_problem_constraint(s.problem, &pressure, &error), &error);
    solve(&s);
    check(weft_problem_integrals(s.problem, integrals, &error), &error);
    check(weft_problem_errors(s.problem, exact, "it", 0, l2, h1, &error), &error);
    check(weft_probes_make(&s.context, s.mesh, point, 1, &probes, &error), &error);
    check(weft_problem_evaluate(s.problem, probes, at, &error), &error);
    for (int k = 0; k < 3; ++k) {
        assert_close(integrals[k], k == 1 ? 0 : 0.5);
        assert_close(l2[k], 0);
        assert_true(h1[k] < 1e-7);
        assert_close(at[k], k == 0 ? 0.7 : k == 1 ? 0 : -0.1);
    }
    check(weft_problem_reactions(s.problem, &balance, &error), &error);
    const weft_flow *walls = find(&balance.reactions, "boundary");
    assert_close(walls->sums[0], -3);
    assert_close(walls->sums[1], 0);
    assert_true(walls->is_free[2]);
    for (int k = 0; k < 3; ++k)
        assert_close(balance.sums[k], 0);
    weft_problem_balance_clear(&balance);
    weft_probes_free(&probes);
    close_setting(&s);
}

/* ---- in time ----------------------------------------------------------------------------- */

/* u = t x with u_t - u'' = x: at t = 1/2 the content grows by 1/2, by 1/2 inside and a load of 1/2 on the right, of which half
 * leaves on the left. */
static void in_time(void **state) {
    (void)state;
    static const char text[] = "element = FiniteElement('Lagrange', triangle, 1)\n"
                               "u, v, f = TrialFunction(element), TestFunction(element), "
                               "Coefficient(element)\n"
                               "m, a, L = u*v*dx, inner(grad(u), grad(v))*dx, f*v*dx\n";
    static const char *const exact[] = {"t*x"};
    const given with = {{{"f", {.text = "x"}}}, 1, {NULL}, true};
    const weft_condition flux = {WEFT_NEUMANN, .group = "right", .value = "t"};
    const weft_transient_problem settings = {.scheme = WEFT_TIME_BDF2, .end = 0.5, .dt = 0.1};
    const weft_derived_quantity rate = {WEFT_DERIVE_INTEGRAL, "rate", NULL, "u/t", "it"};
    const weft_derived_value *values = NULL;
    setting s;
    weft_error error = {0};
    weft_transient *transient = NULL;
    weft_transient_state now = {0};
    weft_problem_balance balance;
    weft_derive *derive = NULL;
    double integral = 0, l2 = 0, h1 = 0;
    weft_problem_options options = weft_problem_options_default();
    options.tolerance = 1e-12;
    open_bound(&s, mesh_of(WEFT_TRIANGLE, 4), text, &with);
    fix(&s, "left", 0, "0");
    check(weft_problem_condition(s.problem, &flux, &error), &error);
    check(weft_problem_in_time(s.problem, &options, &settings, &transient, &error), &error);
    check(weft_problem_reactions_in_time(s.problem, transient, &balance, &error), &error);
    assert_false(balance.is_made);
    check(weft_problem_derive(s.problem, &rate, 1, NULL, &derive, &error), &error);
    assert_int_equal(weft_problem_reactions(s.problem, &balance, &error), WEFT_ERROR_USAGE);
    assert_int_equal(weft_problem_energy(s.problem, &l2, &error), WEFT_ERROR_USAGE);
    for (int i = 1; i <= 5; ++i) { /* values are those of each step, though none is pulled */
        check(weft_transient_step(transient, 0.1, &now, &error), &error);
        check(weft_problem_integrals(s.problem, &integral, &error), &error);
        assert_close(integral, 0.05 * i);
        check(weft_problem_errors(s.problem, exact, "it", now.t, &l2, &h1, &error), &error);
        assert_close(l2, 0);
    }
    check(weft_derive_run(derive, now.t, &error), &error);
    assert_int_equal(weft_derive_values(derive, &values), 1);
    assert_close(values[0].integral[0], 0.5);
    check(weft_problem_reactions_in_time(s.problem, transient, &balance, &error), &error);
    assert_true(balance.is_made && balance.in_time);
    assert_close(find(&balance.reactions, "left")->sums[0], -0.5);
    assert_close(balance.storage[0], 0.5);
    assert_close(balance.loads[0], 1);
    assert_close(balance.sums[0], 0);
    weft_problem_balance_clear(&balance);
    weft_derive_free(&derive);
    weft_transient_free(&transient);
    close_setting(&s);
}

/* In walls all around, with a constant in the pressure that nothing fixes: results that are asked for twice are the same
 * bits, and so is u on the device, from which steps go on. */
static void reading_changes_nothing(void **state) {
    (void)state;
    static const char text[] =
        "V, Q = VectorElement('P', triangle, 2), FiniteElement('P', triangle, 1)\n"
        "W = V*Q\n"
        "(u, p), (v, q), f = TrialFunctions(W), TestFunctions(W), Coefficient(V)\n"
        "m, a = inner(u, v)*dx, inner(grad(u), grad(v))*dx - p*div(v)*dx - q*div(u)*dx\n"
        "L = inner(f, v)*dx\n";
    const given with = {{{"f", {.text = "y + 3*x*x + t, sin(5*x)"}}}, 1, {NULL}, true};
    const weft_transient_problem settings = {.scheme = WEFT_TIME_BDF2, .end = 0.5, .dt = 0.1};
    const weft_problem_options options = weft_problem_options_default();
    setting s;
    weft_error error = {0};
    weft_transient *transient = NULL;
    weft_transient_state now = {0};
    double first[3], second[3], *before = NULL, *after = NULL;
    open_bound(&s, mesh_of(WEFT_TRIANGLE, 5), text, &with);
    fix(&s, "boundary", 0, "0");
    fix(&s, "boundary", 1, "0");
    check(weft_problem_in_time(s.problem, &options, &settings, &transient, &error), &error);
    const size_t bytes = (size_t)weft_problem_dofs(s.problem) * sizeof *before;
    before = malloc(bytes);
    after = malloc(bytes);
    assert_true(before && after);
    for (int i = 0; i < 3; ++i) {
        check(weft_transient_step(transient, 0.1, &now, &error), &error);
        check(weft_problem_integrals(s.problem, first, &error), &error);
        check(weft_memory_read(weft_problem_u(s.problem), 0, before, bytes, &error), &error);
        check(weft_problem_integrals(s.problem, second, &error), &error);
        check(weft_memory_read(weft_problem_u(s.problem), 0, after, bytes, &error), &error);
        assert_memory_equal(first, second, sizeof first);
        assert_memory_equal(before, after, bytes);
        assert_true(fabs(first[2]) < CLOSE);
    }
    free(before);
    free(after);
    weft_transient_free(&transient);
    close_setting(&s);
}

/* ---- refusals ---------------------------------------------------------------------------- */

static void not_solved(void **state) {
    (void)state;
    setting s = {.context.plan = WEFT_PLAN_FUSED};
    weft_error error = {0};
    weft_problem_balance balance = {0};
    weft_derive *derive = NULL;
    weft_probes *probes = NULL;
    const double point[] = {0.5, 0.5};
    static const char *const exact[] = {"0"};
    double out[2];
    check(weft_device_open("host:1", NULL, &s.context.device, &error), &error);
    check(weft_fem_library_make(&s.library, &error), &error);
    s.context.library = s.library;
    s.mesh = mesh_of(WEFT_TRIANGLE, 2);
    check(weft_problem_make(&s.context, s.mesh, WEFT_ELEMENT_P1, 1, &s.problem, &error), &error);
    check(weft_probes_make(&s.context, s.mesh, point, 1, &probes, &error), &error);
    assert_int_equal(weft_problem_integrals(s.problem, out, &error), WEFT_ERROR_USAGE);
    assert_int_equal(weft_problem_errors(s.problem, exact, "it", 0, out, out + 1, &error),
                     WEFT_ERROR_USAGE);
    assert_int_equal(weft_problem_energy(s.problem, out, &error), WEFT_ERROR_USAGE);
    assert_int_equal(weft_problem_evaluate(s.problem, probes, out, &error), WEFT_ERROR_USAGE);
    assert_int_equal(weft_problem_reactions(s.problem, &balance, &error), WEFT_ERROR_USAGE);
    assert_int_equal(weft_problem_derive(s.problem, NULL, 0, NULL, &derive, &error),
                     WEFT_ERROR_USAGE);
    weft_probes_free(&probes);
    close_setting(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_function), cmocka_unit_test(exchange_by_the_form),
        cmocka_unit_test(entries),      cmocka_unit_test(mixed),
        cmocka_unit_test(in_time),      cmocka_unit_test(reading_changes_nothing),
        cmocka_unit_test(not_solved)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
