/* labels: quick */
/* Linear systems by what is requested or chosen: options stay as they were given, choices and their reasons say
 * what was used. Solutions are known, or their residual is computed here: |A u - b| over free dofs is compared with
 * |A u_given|, and the tolerance of the solver is 1e-10. */
#include "fem/linear/linear.h"
#include "fem/weft_fem.h"
#include "test_support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 16 };

static void check(weft_status status, const weft_error *error) {
    if (status != WEFT_OK)
        fail_msg("%s", error->message);
}

typedef struct setting {
    weft_context context;
    weft_library *library;
    weft_mesh *mesh;
    weft_space *space;
    weft_bc *bc;
    weft_operator *op;
    weft_memory *u, *b;
    double *u_values, *b_values;
    int64_t n;
    weft_problem_options options;
    weft_linear linear;
    const weft_space *spaces[1];
} setting;

/* -div(grad u) + lambda u = 0 on the unit square, u given on its boundary. */
static void open_setting(setting *s, const char *lambda, const char *given) {
    weft_error error = {0};
    const weft_condition condition = {WEFT_DIRICHLET, .group = "boundary", .value = given};
    weft_bound_form cells;
    *s = (setting){.context.plan = WEFT_PLAN_FUSED, .options = weft_problem_options_default()};
    check(weft_device_open("host:1", NULL, &s->context.device, &error), &error);
    check(weft_fem_library_make(&s->library, &error), &error);
    s->context.library = s->library;
    check(weft_mesh_make_square(SIDE, &s->mesh, &error), &error);
    check(weft_space_make(s->context.device, s->mesh, WEFT_ELEMENT_P1, 1, &s->space, &error),
          &error);
    check(weft_bc_make(&s->context, s->space, &condition, 1, &s->bc, &error), &error);
    check(weft_form_ship(s->space, "helmholtz.weft", weft_space_cells(s->space), &cells, &error),
          &error);
    weft_form_bind_expression(&cells, "lambda", lambda, "test");
    check(weft_bc_operator_make(s->bc, WEFT_ASSEMBLY_CSR, &cells.form, &s->op, &error), &error);
    s->n = weft_space_dofs(s->space);
    check(weft_vector_make(s->context.device, s->n, &s->u_values, &s->u, &error), &error);
    check(weft_vector_make(s->context.device, s->n, &s->b_values, &s->b, &error), &error);
    weft_bc_set(s->bc, 1, s->u_values);
    check(weft_vector_push(s->u, s->u_values, s->n, &error), &error);
    check(weft_vector_push(s->b, s->b_values, s->n, &error), &error);
    s->options.tolerance = 1e-10;
    s->spaces[0] = s->space;
}

static void close_setting(setting *s) {
    weft_linear_clear(&s->linear);
    weft_operator_free(&s->op);
    weft_memory_free(&s->u);
    weft_memory_free(&s->b);
    free(s->u_values);
    free(s->b_values);
    weft_bc_free(&s->bc);
    weft_space_free(&s->space);
    weft_mesh_free(&s->mesh);
    weft_library_free(&s->library);
    weft_device_free(&s->context.device);
}

/* Solve, and check that the options are those that were given. Returns the status. */
static weft_status solve(setting *s, bool minres_if_indefinite, weft_error *error) {
    const weft_problem_options given = s->options;
    weft_cg_options used;
    weft_system whole = {.op = s->op, .b = s->b, .u = s->u};
    whole.constrained = weft_bc_constrained(s->bc, &whole.n_constrained);
    s->linear = (weft_linear){.context = &s->context,
                              .options = &s->options,
                              .mesh = s->mesh,
                              .spaces = s->spaces,
                              .n_spaces = 1,
                              .solves_once = true,
                              .minres_if_indefinite = minres_if_indefinite,
                              .choice = weft_problem_choice_start(&s->options)};
    weft_linear_choose_method(&s->linear, true, false, 0);
    const weft_status status =
        weft_linear_solve(&s->linear, &whole, NULL, s->u_values, &used, error);
    assert_memory_equal(&given, &s->options, sizeof given);
    if (status == WEFT_OK)
        check(weft_vector_pull(s->u, s->u_values, s->n, error), error);
    return status;
}

/* |A u| over free dofs, b being zero, relative to |A g|, g the given values. */
static double residual(setting *s) {
    weft_error error = {0};
    int64_t n_given = 0;
    const int32_t *given = weft_bc_constrained(s->bc, &n_given);
    double *g = calloc((size_t)s->n, sizeof *g), sums[2] = {0, 0};
    bool *is_given = calloc((size_t)s->n, sizeof *is_given);
    assert_true(g && is_given);
    for (int64_t i = 0; i < n_given; ++i) {
        g[given[i]] = s->u_values[given[i]];
        is_given[given[i]] = true;
    }
    for (int pass = 0; pass < 2; ++pass) {
        check(weft_vector_push(s->u, pass ? g : s->u_values, s->n, &error), &error);
        check(weft_operator_apply(s->op, s->u, s->b, &error), &error);
        check(weft_vector_pull(s->b, s->b_values, s->n, &error), &error);
        for (int64_t i = 0; i < s->n; ++i)
            sums[pass] += is_given[i] ? 0 : s->b_values[i] * s->b_values[i];
    }
    free(g);
    free(is_given);
    return sqrt(sums[0] / sums[1]);
}

/* Functions of degree 1 are in the space. */
static void exact(void **state) {
    (void)state;
    setting s;
    weft_error error = {0};
    open_setting(&s, "0", "x + 2*y");
    check(solve(&s, false, &error), &error);
    assert_int_equal(s.linear.cg.outcome, WEFT_CG_CONVERGED);
    assert_int_equal(s.linear.choice.method, WEFT_METHOD_CG);
    assert_int_equal(s.linear.choice.preconditioner, WEFT_JACOBI);
    assert_string_equal(s.linear.choice.method_reason, "the matrix is symmetric");
    for (int64_t i = 0; i < s.n; ++i) {
        const double *x = weft_space_points(s.space) + 2 * i;
        assert_true(fabs(s.u_values[i] - x[0] - 2 * x[1]) < 1e-7);
    }
    close_setting(&s);
}

/* lambda = -60 lies between eigenvalues pi^2 (i^2 + j^2) of the Laplacian, 49 and 79. */
static void indefinite(void **state) {
    (void)state;
    setting s;
    weft_error error = {0};
    open_setting(&s, "-60", "1 + x");
    check(solve(&s, false, &error), &error);
    assert_int_equal(s.linear.cg.outcome, WEFT_CG_INDEFINITE);
    close_setting(&s);
    open_setting(&s, "-60", "1 + x");
    check(solve(&s, true, &error), &error);
    assert_int_equal(s.linear.cg.outcome, WEFT_CG_CONVERGED);
    assert_int_equal(s.linear.choice.method, WEFT_METHOD_MINRES);
    assert_non_null(strstr(s.linear.choice.method_reason, "not positive definite"));
    assert_true(residual(&s) < 1e-8);
    close_setting(&s);
    open_setting(&s, "-60", "1 + x"); /* a method that is requested is not replaced */
    s.options.method = WEFT_METHOD_CG;
    check(solve(&s, true, &error), &error);
    assert_int_equal(s.linear.cg.outcome, WEFT_CG_INDEFINITE);
    assert_int_equal(s.linear.choice.method, WEFT_METHOD_CG);
    assert_string_equal(s.linear.choice.method_reason, "as requested");
    close_setting(&s);
}

/* Multigrid needs levels, which are not there: Jacobi's takes the place of one that was chosen, as in the run that is
 * continued here, and one that is requested is refused. */
static void refused_preconditioner(void **state) {
    (void)state;
    setting s;
    weft_error error = {0};
    open_setting(&s, "0", "x*y");
    check(weft_preconditioner_find("multigrid", &s.options.earlier, &error), &error);
    check(solve(&s, false, &error), &error);
    assert_int_equal(s.linear.choice.preconditioner, WEFT_JACOBI);
    assert_true(s.linear.choice.preconditioner_reason[0] != '\0');
    assert_null(s.linear.preconditioner);
    assert_int_equal(s.linear.cg.outcome, WEFT_CG_CONVERGED);
    assert_true(residual(&s) < 1e-8);
    close_setting(&s);
    open_setting(&s, "0", "x*y");
    check(weft_preconditioner_find("multigrid", &s.options.preconditioner, &error), &error);
    assert_int_not_equal(solve(&s, false, &error), WEFT_OK);
    assert_true(error.message[0] != '\0');
    close_setting(&s);
}

/* Solves with one solver after its matrix was assembled again, with what follows a refusal as above. */
static void repeated(void **state) {
    (void)state;
    setting s;
    weft_error error = {0};
    weft_memory *guess = NULL;
    open_setting(&s, "0", "x + 2*y");
    weft_system whole = {.op = s.op, .b = s.b, .u = s.u};
    whole.constrained = weft_bc_constrained(s.bc, &whole.n_constrained);
    check(weft_memory_make(s.context.device, (size_t)s.n * sizeof(double), &guess, &error), &error);
    check(weft_preconditioner_find("multigrid", &s.options.earlier, &error), &error);
    s.linear = (weft_linear){.context = &s.context,
                             .options = &s.options,
                             .mesh = s.mesh,
                             .spaces = s.spaces,
                             .n_spaces = 1,
                             .choice = weft_problem_choice_start(&s.options)};
    for (int i = 0; i < 2; ++i) {
        for (int64_t k = 0; k < s.n; ++k)
            s.u_values[k] = i; /* another guess */
        weft_bc_set(s.bc, 1, s.u_values);
        check(weft_vector_push(s.u, s.u_values, s.n, &error), &error);
        check(weft_operator_assemble(s.op, &error), &error);
        check(weft_linear_update(&s.linear, &whole, NULL, &error), &error);
        assert_int_equal(s.linear.choice.preconditioner, WEFT_JACOBI);
        weft_cg_options options = weft_linear_options(&s.linear, &whole);
        check(weft_linear_repeat(&s.linear, &whole, NULL, &options, guess, &error), &error);
        assert_int_equal(s.linear.cg.outcome, WEFT_CG_CONVERGED);
        check(weft_vector_pull(s.u, s.u_values, s.n, &error), &error);
        for (int64_t k = 0; k < s.n; ++k) {
            const double *x = weft_space_points(s.space) + 2 * k;
            assert_true(fabs(s.u_values[k] - x[0] - 2 * x[1]) < 1e-7);
        }
    }
    weft_memory_free(&guess);
    close_setting(&s);
}

/* A solve that has not converged after the iterations that were allowed for continues with the next preconditioner, once; one
 * that has does not, nor one up to a limit that was requested. */
static void mispredicted(void **state) {
    (void)state;
    setting s;
    weft_error error = {0};
    weft_memory *guess = NULL;
    int aggregation = 0;
    check(weft_preconditioner_find("aggregation", &aggregation, &error), &error);
    for (int i = 0; i < 4; ++i) {
        open_setting(&s, "0", "x + 2*y");
        weft_system whole = {.op = s.op, .b = s.b, .u = s.u};
        whole.constrained = weft_bc_constrained(s.bc, &whole.n_constrained);
        check(weft_memory_make(s.context.device, (size_t)s.n * sizeof(double), &guess, &error),
              &error);
        if (i == 3)
            s.options.max_iterations = 2;
        s.linear = (weft_linear){.context = &s.context,
                                 .options = &s.options,
                                 .mesh = s.mesh,
                                 .spaces = s.spaces,
                                 .n_spaces = 1,
                                 .choice = weft_problem_choice_start(&s.options)};
        s.linear.choice.expected = 1;
        s.linear.choice.next = aggregation;
        s.linear.choice.next_after = i == 1 ? 1000 : 2;
        weft_cg_options options;
        if (i == 2) { /* as in steps */
            check(weft_linear_update(&s.linear, &whole, NULL, &error), &error);
            options = weft_linear_options(&s.linear, &whole);
            check(weft_linear_repeat(&s.linear, &whole, NULL, &options, guess, &error), &error);
        } else
            check(weft_linear_solve(&s.linear, &whole, NULL, s.u_values, &options, &error), &error);
        const bool switches = i == 0 || i == 2;
        assert_int_equal(s.linear.choice.preconditioner, switches ? aggregation : WEFT_JACOBI);
        assert_int_equal(s.linear.cg.outcome, i == 3 ? WEFT_CG_MAX_ITERATIONS : WEFT_CG_CONVERGED);
        if (switches)
            assert_string_equal(s.linear.choice.preconditioner_reason,
                                "jacobi did not converge in 2 iterations, and 1 were predicted");
        check(weft_vector_pull(s.u, s.u_values, s.n, &error), &error);
        for (int64_t k = 0; k < s.n && i < 3; ++k) {
            const double *x = weft_space_points(s.space) + 2 * k;
            assert_true(fabs(s.u_values[k] - x[0] - 2 * x[1]) < 1e-7);
        }
        weft_memory_free(&guess);
        close_setting(&s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(exact), cmocka_unit_test(indefinite),
                                       cmocka_unit_test(refused_preconditioner),
                                       cmocka_unit_test(repeated), cmocka_unit_test(mispredicted)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
