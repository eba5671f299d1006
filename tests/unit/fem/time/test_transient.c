/* labels: full */
/* The time integration of a form, from the library, on the host and on an emulated GPU: 2 du/dt - div grad u = f
 * with u = x exp(-t), which linear elements have exactly, a value on the left and a flux on the right that
 * depend on t. Three steps of 0.01 of BDF2, the first of TR-BDF2, leave errors of about h^2/10 (Hairer and
 * Wanner 1996, V.1), 1e-5; the bound is three times that. With constraints the solution is the same, whose value on the
 * left is given at a point of a tied group, and which is periodic from bottom to top. */
#include "core/weft_core.h"
#include "emulated_gpu.h"
#include "fem/weft_fem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double BOUND = 3e-5;

static const char heat[] =
    "parameter d = 2, degree = 4;\n"
    "index cells, nodes;\n"
    "connectivity dofs : cells -> nodes[d + 1];\n"
    "input x : real[d] over nodes;\n"
    "input t : real;\n"
    "X = x[dofs];\n"
    "J = jacobian(X);\n"
    "P = quadrature_points(X, degree = degree);\n"
    "K = dshape_dot_dshape(tform_dshape(J), J);\n"
    "M = 2*shape_shape(J);\n"
    "b[dofs] += quadrature_load(0 - 2*P[0]*exp(0 - t), J, degree = degree);\n";

static void check(weft_status status, const weft_error *error) {
    if (status != WEFT_OK)
        fail_msg("%s (%s)", error->message, error->hint);
}

static void constrain(weft_context *context, const weft_space *space, const weft_bc *bc,
                      weft_constraints **constraints, weft_point_loads **loads) {
    static const double left[] = {0, 0.4}, right[] = {1, 0.5};
    weft_error error = {0};
    check(weft_constraints_make(context, space, bc, constraints, &error), &error);
    check(weft_constraints_tie(*constraints, "left", 0, "--tie left", &error), &error);
    check(weft_constraints_tie(*constraints, "right", 0, "--tie right", &error), &error);
    check(weft_constraints_match(*constraints, "bottom", "top", "--periodic", &error), &error);
    check(weft_constraints_point(*constraints, left, 0, "x*t", "--point-value", &error), &error);
    check(weft_point_loads_make(context, space, bc, loads, &error), &error);
    check(weft_point_loads_add(*loads, right, 0, "exp(-t)/2", "--point-load", &error), &error);
}

static void run_on(bool emulated, bool constrained) {
    static const weft_condition conditions[] = {
        {.kind = WEFT_DIRICHLET, .group = "left", .value = "0*t"},
        {.kind = WEFT_NEUMANN, .group = "right", .value = "exp(-t)"},
        {.kind = WEFT_NEUMANN, .group = "right", .value = "exp(-t)/2"}};
    weft_error error = {0};
    weft_context context = {.plan = WEFT_PLAN_FUSED};
    weft_library *library = NULL;
    weft_mesh *mesh = NULL;
    weft_space *space = NULL;
    weft_bc *bc = NULL;
    weft_constraints *constraints = NULL;
    weft_point_loads *loads = NULL;
    weft_memory *u = NULL, *t = NULL;
    weft_transient *transient = NULL;
    weft_transient_state state = {0};
    weft_bound_form form;
    double *values = NULL;
    check(weft_device_open("host:2", NULL, &context.device, &error), &error);
    if (emulated)
        emulated_gpu_make(context.device);
    check(weft_fem_library_make(&library, &error), &error);
    context.library = library;
    check(weft_mesh_make_square(3, &mesh, &error), &error);
    check(weft_space_make(context.device, mesh, WEFT_ELEMENT_P1, 1, &space, &error), &error);
    check(weft_bc_make(&context, space, conditions + (constrained ? 2 : 0), constrained ? 1 : 2,
                       &bc, &error),
          &error);
    const int64_t n = weft_space_dofs(space);
    check(weft_vector_make(context.device, n, &values, &u, &error), &error);
    check(weft_memory_make(context.device, sizeof(double), &t, &error), &error);
    for (int64_t i = 0; i < n; ++i)
        values[i] = mesh->x[2 * i];
    check(weft_vector_push(u, values, n, &error), &error);
    weft_form_start("heat", heat, weft_space_cells(space), &form);
    weft_form_bind_input(&form, "x", weft_space_coordinates(space));
    weft_form_bind_input(&form, "t", t);
    weft_form_bind_parameter(&form, "d", 2);
    const weft_transient_part part = {
        .form = &form.form, .matrix = "K", .mass = "M", .vector = "b"};
    if (constrained)
        constrain(&context, space, bc, &constraints, &loads);
    weft_transient_problem problem = {
        .space = space,
        .bc = bc,
        .constraints = constraints,
        .point_loads = loads,
        .parts = &part,
        .n_parts = 1,
        .scheme = WEFT_TIME_BDF2,
        .end = 1,
        .u = u,
        .time = t,
        .assembly = constrained ? WEFT_ASSEMBLY_CSR : WEFT_ASSEMBLY_MATRIX_FREE,
        .mass_assembly = WEFT_ASSEMBLY_MATRIX_FREE,
        .solver = {.size = sizeof(weft_cg_options),
                   .method = constrained ? WEFT_METHOD_MINRES : WEFT_METHOD_CG,
                   .jacobi = true,
                   .tolerance = 1e-10,
                   .max_iterations = 200},
        .preconditioner = -1};
    if (constrained) /* which reads the matrix */
        check(weft_preconditioner_find("aggregation", &problem.preconditioner, &error), &error);
    problem.solver.constrained = weft_bc_constrained(bc, &problem.solver.n_constrained);
    check(weft_transient_make(&context, &problem, &transient, &error), &error);
    for (int i = 0; i < 3; ++i) {
        check(weft_transient_step(transient, 0.01, &state, &error), &error);
        assert_int_equal(state.outcome, WEFT_TRANSIENT_DONE);
    }
    assert_int_equal(state.step, 3);
    assert_int_equal(weft_transient_step(transient, -1, &state, &error), WEFT_ERROR_USAGE);
    check(weft_vector_pull(u, values, n, &error), &error);
    for (int64_t i = 0; i < n; ++i)
        assert_double_near(values[i], mesh->x[2 * i] * exp(-0.03), 0, BOUND);
    weft_transient_free(&transient);
    problem.assembly = WEFT_ASSEMBLY_MATRIX_FREE;
    if (constrained) {
        assert_int_equal(weft_transient_make(&context, &problem, &transient, &error),
                         WEFT_ERROR_USAGE);
        assert_string_equal(error.message,
                            "constraints need a matrix, and the assembly matrix-free stores none");
    }
    weft_constraints_free(&constraints);
    weft_point_loads_free(&loads);
    weft_memory_free(&t);
    weft_memory_free(&u);
    free(values);
    weft_bc_free(&bc);
    weft_space_free(&space);
    weft_mesh_free(&mesh);
    weft_library_free(&library);
    weft_device_free(&context.device);
}

static void test_host(void **state) {
    (void)state;
    run_on(false, false);
    run_on(false, true);
}

static void test_emulated(void **state) {
    (void)state;
    run_on(true, false);
    run_on(true, true);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_host),
                                       cmocka_unit_test(test_emulated)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
