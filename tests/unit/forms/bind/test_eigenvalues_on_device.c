/* labels: full */
/* Eigenvalues of problems with blocks of vectors on an emulated GPU, or the device that WEFT_TEST_DEVICE names, preconditioned there, against
 * those of the host, to 1e-10, where residuals of 1e-6 leave 1e-12; the same bits again; a copy to the host for each vector at the end and two for
 * the test of the preconditioner, but none in an iteration. */
#include "fem/problem/pencil.h"
#include "setting.h"
#include "setup_support.h"

static const double EQUAL = 1e-10;
enum { N_WANTED = 4 };

typedef struct problem {
    const char *text;
    int n; /* cells a side of a square, or of a cube */
    bool is_aggregated, is_cube, largest, is_periodic;
    int n_held, n_null; /* components that are 0 on the left; motions that nothing holds */
} problem;

static void open_problem(const problem *p, weft_device *device, weft_problem_options *how,
                         setting *s) {
    weft_error error = {0};
    weft_mesh *mesh = NULL;
    const weft_bind_options options = {.size = sizeof options, .has_mass = true};
    check(p->is_cube ? weft_mesh_make_cube(p->n, &mesh, &error)
                     : weft_mesh_make_square(p->n, &mesh, &error),
          &error);
    open_setting_on(s, device, mesh, p->text);
    check(weft_ufl_bind(s->ufl, mesh, s->library, &options, s->problem, &error), &error);
    for (int k = 0; k < p->n_held; ++k)
        fix(s, "left", k, "0");
    for (int k = 0; k < 2 && p->is_periodic; ++k) {
        const weft_constraint constraint = {.size = sizeof constraint,
                                            .kind = WEFT_CONSTRAINT_PERIODIC,
                                            .group = k ? "bottom" : "left",
                                            .other = k ? "top" : "right"};
        check(weft_problem_constraint(s->problem, &constraint, &error), &error);
    }
    *how = weft_problem_options_default();
    how->tolerance = 1e-6;
    if (p->is_aggregated)
        check(weft_preconditioner_find("aggregation", &how->preconditioner, &error), &error);
    else
        how->preconditioner = WEFT_JACOBI;
}

static void find_on_host(const problem *p, double *values) {
    setting s;
    weft_error error = {0};
    weft_device *device = NULL;
    weft_problem_options how;
    weft_eigen *eigen = NULL;
    weft_eigen_options which = weft_eigen_options_default();
    which.n = N_WANTED;
    which.which = p->largest ? WEFT_EIGEN_LARGEST : WEFT_EIGEN_SMALLEST;
    check(weft_device_open("host:1", NULL, &device, &error), &error);
    open_problem(p, device, &how, &s);
    check(weft_problem_eigenvalues(s.problem, &how, &which, &eigen, &error), &error);
    const weft_eigen_report *report = weft_eigen_reported(eigen);
    assert_int_equal(report->outcome, WEFT_EIGEN_CONVERGED);
    assert_int_equal(report->n_rigid, p->n_null);
    assert_string_equal(report->method, "LOBPCG");
    memcpy(values, report->values, N_WANTED * sizeof *values);
    weft_eigen_free(&eigen);
    close_setting(&s);
}

/* Copies of whole vectors to the host. */
static size_t vector_bytes;
static int n_copies;
static weft_status counted_read(const weft_memory *memory, size_t offset, void *bytes, size_t n,
                                weft_error *error) {
    n_copies += n >= vector_bytes;
    return gpu_of(memory->device)->host->memory_read(memory, offset, bytes, n, error);
}

static weft_eigenpairs find(const problem *p, weft_problem_pencil *pencil) {
    weft_error error = {0};
    weft_eigenpairs pairs = {.n = 0};
    const weft_eigen_settings settings = {.n = N_WANTED, .tolerance = 1e-6, .max_iterations = 200};
    n_copies = 0;
    check(p->largest ? weft_eigen_largest(&pencil->pencil, &settings, &pairs, &error)
                     : weft_eigen_smallest(&pencil->pencil, &settings, &pairs, &error),
          &error);
    assert_int_equal(pairs.outcome, WEFT_EIGEN_CONVERGED);
    return pairs;
}

static void run(const problem *p) {
    setting s;
    weft_error error = {0};
    weft_problem_options how;
    double expected[N_WANTED];
    find_on_host(p, expected);
    open_problem(p, setup_device(), &how, &s);
    check(weft_problem_start_solve(s.problem, &how, N_WANTED, &error), &error);
    weft_problem_pencil pencil = {.problem = s.problem};
    check(weft_problem_pencil_make(&pencil, &error), &error);
    if (!p->largest)
        check(weft_problem_pencil_precondition(&pencil, &error), &error);
    pencil.pencil.rows_on_device = 1;
    const size_t n = (size_t)pencil.pencil.K.n_rows;
    vector_bytes = n * sizeof(double);
    if (!getenv("WEFT_TEST_DEVICE"))
        gpu_of(s.context.device)->table.memory_read = counted_read;
    weft_eigenpairs pairs = find(p, &pencil);
    for (int k = 0; k < N_WANTED; ++k)
        if (!(fabs(pairs.values[k] / expected[k] - 1) < EQUAL))
            fail_msg("value %d: %.17g, on the host %.17g", k, pairs.values[k], expected[k]);
    /* more of them are those of null vectors for the test, and of clusters */
    assert_in_range(n_copies, 0, 2 * N_WANTED + 2 + 4 * p->n_null);
    if (p->largest) {
        weft_eigenpairs again = find(p, &pencil);
        assert_memory_equal(pairs.values, again.values, N_WANTED * sizeof *pairs.values);
        assert_memory_equal(pairs.vectors, again.vectors, N_WANTED * n * sizeof *pairs.vectors);
        weft_eigenpairs_clear(&again);
    }
    weft_eigenpairs_clear(&pairs);
    weft_problem_pencil_clear(&pencil);
    close_setting(&s);
}

#define SCALAR(cell)                                                                               \
    "V = FiniteElement('Lagrange', " cell ", 1)\n"                                                 \
    "u, v = TrialFunction(V), TestFunction(V)\n"                                                   \
    "a, m = inner(grad(u), grad(v))*dx, u*v*dx\n"
#define ELASTIC                                                                                    \
    "V = VectorElement('Lagrange', triangle, 1)\n"                                                 \
    "u, v = TrialFunction(V), TestFunction(V)\n"                                                   \
    "a = (inner(sym(grad(u)), sym(grad(v))) + div(u)*div(v))*dx\n"                                 \
    "m = 3*inner(u, v)*dx\n"

static void cube(void **state) {
    (void)state;
    run(&(problem){.text = SCALAR("tetrahedron"),
                   .n = 6,
                   .is_cube = true,
                   .is_aggregated = true,
                   .n_held = 1});
}

static void largest(void **state) {
    (void)state;
    run(&(problem){.text = SCALAR("triangle"), .n = 16, .n_held = 1, .largest = true});
}

/* Three rigid motions, which pins hold in the preconditioner. */
static void elasticity(void **state) {
    (void)state;
    run(&(problem){.text = ELASTIC, .n = 11, .is_aggregated = true, .n_null = 3});
}

/* The constant is free. */
static void periodic(void **state) {
    (void)state;
    run(&(problem){.text = SCALAR("triangle"),
                   .n = 16,
                   .is_aggregated = true,
                   .is_periodic = true,
                   .n_null = 1});
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(cube), cmocka_unit_test(largest),
                                       cmocka_unit_test(elasticity), cmocka_unit_test(periodic)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
