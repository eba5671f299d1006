/* labels: full */
/* Integrals and energies of solutions that are in the spaces against those by hand, on the host and on an emulated GPU, or
 * the device that WEFT_TEST_DEVICE names: constants that nothing fixes, Robin conditions, periodic sides, a matrix that is
 * not symmetric, several components with means. The GPU copies u to the host once for all of it, whatever the number of
 * components. */
#include "setting.h"
#include "setup_support.h"

/* Energies of u + constant: the constant's square times rounding would be 1e-4. */
static const double LARGE = 1e6;

/* ---- copies ------------------------------------------------------------------------------ */

static size_t large_bytes; /* copies of this size and more are counted */
static int n_copies;

static weft_status counted_read(const weft_memory *memory, size_t offset, void *bytes, size_t n,
                                weft_error *error) {
    n_copies += n >= large_bytes;
    return gpu_of(memory->device)->host->memory_read(memory, offset, bytes, n, error);
}

static weft_status counted_write(weft_memory *memory, size_t offset, const void *bytes, size_t n,
                                 weft_error *error) {
    n_copies += n >= large_bytes;
    return gpu_of(memory->device)->host->memory_write(memory, offset, bytes, n, error);
}

static void count_copies(weft_device *device, int64_t n_dofs) {
    emulated_gpu *gpu = gpu_of(device);
    gpu->table.memory_read = counted_read;
    gpu->table.memory_write = counted_write;
    large_bytes = (size_t)n_dofs * sizeof(double) / 2;
    n_copies = 0;
}

/* ---- problems ---------------------------------------------------------------------------- */

typedef struct expected {
    double integrals[3], energy;
    int n_open; /* constants that nothing fixes */
} expected;

typedef struct problem {
    const char *text;
    int n; /* cells a side of the square */
    weft_problem_value value;
    weft_condition conditions[4];
    weft_constraint constraint;
    bool is_constrained;
    bool by_minres; /* conjugate gradients in one kernel cannot be emulated */
    expected expected;
} problem;

static weft_device *open_device(bool is_host) {
    weft_device *device = NULL;
    if (!is_host)
        return setup_device();
    assert_int_equal(weft_device_open("host:2", NULL, &device, NULL), WEFT_OK);
    return device;
}

static void assert_close(const char *what, double found, double wanted) {
    if (!(fabs(found - wanted) <= CLOSE))
        fail_msg("%s: %.17g, expected %.17g", what, found, wanted);
}

/* The constants are found without a copy; the load is copied once. */
static void find_again(setting *s, int n_open) {
    weft_error error = {0};
    weft_assembled *system = &s->problem->system;
    system->open.n = 0;
    check(weft_nullspace_find(system, &error), &error);
    assert_int_equal(system->open.n, n_open);
    assert_int_equal(n_copies, 0);
    check(weft_nullspace_project(system, &error), &error);
    assert_int_equal(n_copies, n_open > 0);
    n_copies = 0;
}

static void measure(setting *s, const expected *wanted, bool counts) {
    weft_error error = {0};
    double integrals[WEFT_VALUES_MAX], energy = 0;
    assert_int_equal(s->problem->system.open.n, wanted->n_open);
    if (counts)
        count_copies(s->context.device, s->problem->fields.n_dofs);
    if (counts && s->problem->fields.n > 1 && !s->problem->system.constraints)
        find_again(s, wanted->n_open);
    check(weft_problem_measure(s->problem, integrals, &energy, &error), &error);
    if (counts)
        assert_int_equal(n_copies, 1);
    for (int k = 0; k < s->problem->fields.n_values; ++k)
        assert_close("integral", integrals[k], wanted->integrals[k]);
    assert_close("energy", energy, wanted->energy);
}

static void run(const problem *p, bool is_host) {
    setting s;
    weft_error error = {0};
    weft_mesh *mesh = NULL;
    const weft_bind_options options = {
        .size = sizeof options, .values = &p->value, .n_values = p->value.name != NULL};
    check(weft_mesh_make_square(p->n, &mesh, &error), &error);
    open_setting_on(&s, open_device(is_host), mesh, p->text);
    check(weft_ufl_bind(s.ufl, mesh, s.library, &options, s.problem, &error), &error);
    for (int i = 0; i < 4 && p->conditions[i].group; ++i)
        check(weft_problem_condition(s.problem, &p->conditions[i], &error), &error);
    if (p->is_constrained) {
        weft_constraint constraint = p->constraint;
        constraint.size = sizeof constraint;
        check(weft_problem_constraint(s.problem, &constraint, &error), &error);
    }
    weft_problem_report report;
    weft_problem_options how = weft_problem_options_default();
    how.tolerance = 1e-12;
    how.method = p->by_minres ? WEFT_METHOD_MINRES : WEFT_AUTO;
    check(weft_problem_solve(s.problem, &how, &report, &error), &error);
    assert_int_equal(report.result->outcome, WEFT_CG_CONVERGED);
    measure(&s, &p->expected, !is_host && !getenv("WEFT_TEST_DEVICE"));
    close_setting(&s);
}

static void on_both(const problem *p) {
    run(p, true);
    run(p, false);
}

/* ---- one function ------------------------------------------------------------------------ */

/* -u'' = 1 with u(0) = 10^6 and u'(1) + 2 (u(1) - 10^6) = 4: u - 10^6 = 2 x - x^2/2, int (2 - x)^2/2 = 7/6. */
static void exchange(void **state) {
    (void)state;
    static const problem p = {
        .text = "element = FiniteElement('Lagrange', triangle, 2)\n"
                "u, v = TrialFunction(element), TestFunction(element)\n"
                "a, L = inner(grad(u), grad(v))*dx, v*dx\n",
        .n = 5,
        .conditions = {{WEFT_DIRICHLET, .group = "left", .value = "1000000"},
                       {WEFT_ROBIN, .group = "right", .alpha = "2", .value = "4 + 2*1000000"}},
        .by_minres = true,
        .expected = {{LARGE + 5.0 / 6}, 7.0 / 6, 0}};
    on_both(&p);
}

/* u = x: int (1 + x + x^2)/2 of a matrix that is not symmetric. */
static void advection(void **state) {
    (void)state;
    static const problem p = {
        .text = "element = FiniteElement('Lagrange', triangle, 1)\n"
                "u, v, f = TrialFunction(element), TestFunction(element), Coefficient(element)\n"
                "a, L = (inner(grad(u), grad(v)) + u.dx(0)*v + u*v)*dx, f*v*dx\n",
        .n = 5,
        .value = {"f", {.text = "1 + x"}},
        .conditions = {{WEFT_DIRICHLET, .group = "left", .value = "0"},
                       {WEFT_DIRICHLET, .group = "right", .value = "1"}},
        .expected = {{0.5}, 11.0 / 12, 0}};
    on_both(&p);
}

/* u = (10^6 + y, 2): the shear is 1/2, of the energy (1/4 + 1/4)/2. */
static void elasticity(void **state) {
    (void)state;
    static const problem p = {
        .text = "element = VectorElement('Lagrange', triangle, 1)\n"
                "u, v = TrialFunction(element), TestFunction(element)\n"
                "f = VectorConstant(triangle)\n"
                "a = inner(sym(grad(u)), sym(grad(v)))*dx\n"
                "L = inner(f, v)*dx\n",
        .n = 5,
        .value = {"f", {.text = "0, 0"}},
        .conditions = {{WEFT_DIRICHLET, .group = "boundary", .value = "1000000 + y"},
                       {WEFT_DIRICHLET, .group = "boundary", .component = 1, .value = "2"}},
        .by_minres = true,
        .expected = {{LARGE + 0.5, 2}, 0.25, 0}};
    on_both(&p);
}

/* ---- mixed functions --------------------------------------------------------------------- */

static const char stokes[] =
    "P2, P1 = VectorElement('Lagrange', triangle, 2), FiniteElement('Lagrange', triangle, 1)\n"
    "W = P2 * P1\n"
    "(u, p), (v, q) = TrialFunctions(W), TestFunctions(W)\n"
    "f = VectorConstant(triangle)\n"
    "a = (inner(grad(u), grad(v)) - p*div(v) - q*div(u))*dx\n"
    "L = inner(f, v)*dx\n";

/* u = (y, 0), p = 3 x - 3/2 of those that differ by a constant; the energy is that of grad u. */
static void enclosed(void **state) {
    (void)state;
    const problem p = {
        .text = stokes,
        .n = 5,
        .value = {"f", {.text = "3, 0"}},
        .conditions = {{WEFT_DIRICHLET, .group = "boundary", .value = "y"},
                       {WEFT_DIRICHLET, .group = "boundary", .component = 1, .value = "0"}},
        .expected = {{0.5, 0, 0}, 0.5, 1}};
    on_both(&p);
}

/* The same flow with equal values on both sides, p = 0. */
static void periodic(void **state) {
    (void)state;
    const problem p = {
        .text = stokes,
        .n = 5,
        .value = {"f", {.text = "0, 0"}},
        .conditions = {{WEFT_DIRICHLET, .group = "bottom", .value = "0"},
                       {WEFT_DIRICHLET, .group = "bottom", .component = 1, .value = "0"},
                       {WEFT_DIRICHLET, .group = "top", .value = "1"},
                       {WEFT_DIRICHLET, .group = "top", .component = 1, .value = "0"}},
        .constraint = {.kind = WEFT_CONSTRAINT_PERIODIC, .group = "left", .other = "right"},
        .is_constrained = true,
        .expected = {{0.5, 0, 0}, 0.5, 1}};
    on_both(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(exchange), cmocka_unit_test(advection),
                                       cmocka_unit_test(elasticity), cmocka_unit_test(enclosed),
                                       cmocka_unit_test(periodic)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
