/* labels: quick */
/* Gradients of problems in time, and the record of their steps. Expected: Euler's identity of a J that is quadratic in u, where u is
 * linear in the initial value u_0, the load f and the prescribed values g together,
 *
 *     dJ/du_0 u_0 + dJ/df f + dJ/dg g = 2 J,
 *
 * to the solver's tolerance, 1e-13; the states that were there; the fewest steps that are made again (Griewank and Walther 2000). */
#include "fem/time/record.h"
#include "forms/weft_gradient.h"
#include "setting.h"

static const char heat[] =
    "V = FiniteElement('Lagrange', triangle, 1)\n"
    "u, v, unknown = TrialFunction(V), TestFunction(V), Coefficient(V)\n"
    "f = Coefficient(V)\n"
    "m, a, L = u*v*dx, 0.1*inner(grad(u), grad(v))*dx + u.dx(0)*v*dx, f*v*dx\n"
    "J = unknown**2*dx\n";
enum { NODES = 16 };

typedef struct run {
    setting s;
    weft_problem_value value;
    weft_bind_options bind;
    weft_problem_options options;
    weft_transient *transient;
    double u[64][NODES]; /* at the start, and after each step */
} run;

static void open_run(run *r, weft_time_scheme scheme, int n, int checkpoints) {
    weft_error error = {0};
    weft_mesh *mesh = NULL;
    weft_transient_state state;
    const weft_transient_problem settings = {
        .scheme = scheme, .end = 0.1 * n, .dt = 0.1, .checkpoints = checkpoints};
    check(weft_mesh_make_square(3, &mesh, &error), &error);
    open_setting(&r->s, mesh, heat);
    r->value = (weft_problem_value){.name = "f", .source.text = "1 + x*y"};
    r->bind = weft_bind_options_default();
    r->bind.values = &r->value;
    r->bind.n_values = 1;
    r->bind.in_time = true;
    r->options = weft_problem_options_default();
    r->options.tolerance = 1e-13;
    fix(&r->s, "left", 0, "2 + y");
    check(weft_ufl_bind(r->s.ufl, mesh, r->s.library, &r->bind, r->s.problem, &error), &error);
    check(weft_problem_set_initial(r->s.problem, "2 + y + x", "u", &error), &error);
    check(weft_problem_in_time(r->s.problem, &r->options, &settings, &r->transient, &error),
          &error);
    for (int i = 0; i <= n; ++i) {
        if (i > 0)
            check(weft_transient_step(r->transient, 0.1, &state, &error), &error);
        assert_true(i == 0 || state.outcome == WEFT_TRANSIENT_DONE);
        check(weft_vector_pull(weft_problem_u(r->s.problem), r->u[i], NODES, &error), &error);
    }
}

static void close_run(run *r) {
    weft_transient_free(&r->transient);
    close_setting(&r->s);
}

/* ---- the record ---------------------------------------------------------------------------- */

typedef struct seen {
    const run *r;
    int left;
} seen;

static weft_status see(void *user, const weft_time_visit *step, weft_error *error) {
    seen *s = user;
    (void)error;
    --s->left;
    assert_true(fabs(step->t - 0.1 * s->left) < 1e-12);
    assert_memory_equal(step->u[0], s->r->u[s->left], sizeof s->r->u[0]);
    assert_memory_equal(step->u[step->n_stages], s->r->u[s->left + 1], sizeof s->r->u[0]);
    return WEFT_OK;
}

static int64_t choose(int64_t n, int64_t k) {
    int64_t value = 1;
    for (int64_t i = 1; i <= k; ++i)
        value = value * (n - k + i) / i;
    return k < 0 ? 0 : value;
}

/* Steps of which none is adjoint, r n - (s + r over s + 1), and n that are. */
static int64_t fewest(int64_t n, int64_t s) {
    int64_t r = 0;
    while (choose(s + r, s) < n)
        ++r;
    return r * n - choose(s + r, s + 1) + n;
}

static void test_record(void **state) {
    static const int cases[][2] = {{1, 1}, {6, 6}, {5, 1}, {13, 2}, {21, 3}, {30, 3}, {12, 10}};
    weft_error error = {0};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        const int n = cases[i][0], stored = cases[i][1];
        run r;
        open_run(&r, i % 2 ? WEFT_TIME_BDF2 : WEFT_TIME_SDIRK2, n, stored);
        assert_int_equal(weft_time_record_steps(r.transient), n);
        for (int again = 0; again < 2; ++again) {
            seen s = {&r, n};
            const weft_time_visitor visitor = {see, &s};
            check(weft_time_record_reverse(r.transient, &visitor, &error), &error);
            assert_int_equal(s.left, 0);
            assert_int_equal(weft_time_record_repeated(r.transient),
                             stored >= n ? 0 : fewest(n, stored));
        }
        double u[NODES];
        check(weft_vector_pull(weft_problem_u(r.s.problem), u, NODES, &error), &error);
        assert_memory_equal(u, r.u[n], sizeof u);
        close_run(&r);
    }
}

/* ---- gradients ----------------------------------------------------------------------------- */

static void test_euler(void **state) {
    (void)state;
    for (int scheme = 0; scheme < weft_time_scheme_count(); ++scheme) {
        static const char *const controls[] = {"f", "initial", NULL};
        weft_error error = {0};
        weft_gradient_options options = weft_gradient_options_default();
        weft_gradient *gradient = NULL;
        run r;
        double sum = 0;
        open_run(&r, (weft_time_scheme)scheme, 5, 2);
        options.functional = "J";
        options.bind = &r.bind;
        options.solve = &r.options;
        options.transient = r.transient;
        options.over_time = scheme % 2;
        options.controls = controls;
        options.n_controls = 3;
        check(weft_gradient_make(r.s.problem, &options, &gradient, &error), &error);
        assert_int_equal(weft_gradient_report(gradient)->result->outcome, WEFT_CG_CONVERGED);
        const weft_space *space = weft_problem_space(r.s.problem);
        const double *x = weft_space_points(space);
        for (int k = 0; k < 3; ++k) {
            weft_gradient_of of;
            check(weft_gradient_control(gradient, controls[k], &of, &error), &error);
            assert_int_equal(of.n, NODES);
            for (int i = 0; i < NODES; ++i) {
                const double f = 1 + x[2 * i] * x[2 * i + 1], u = 2 + x[2 * i] + x[2 * i + 1];
                sum += of.derivative[i] * (k == 0 ? f : u); /* g is u_0 where x is 0 */
            }
        }
        if (!(fabs(sum / (2 * weft_gradient_value(gradient)) - 1) < 1e-9))
            fail_msg("%s: %.12g, expected %.12g",
                     weft_time_scheme_about((weft_time_scheme)scheme)->name, sum,
                     2 * weft_gradient_value(gradient));
        weft_gradient_free(&gradient);
        close_run(&r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_record), cmocka_unit_test(test_euler)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
