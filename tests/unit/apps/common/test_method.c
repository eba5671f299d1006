/* labels: quick */
/* The method for matrices that are not symmetric, by the forecast of the memory. Systems are only
 * described: with M bytes of memory, n = M / 5000 rows and m = 500 vectors of 8 bytes, some of them twice,
 * the basis of GMRES takes from 0.8 M on more than there is beside the matrix, BiCGStab 0.03 M. */
#include "apps/common/run.h"
#include "test_support.h"

#include <string.h>

static weft_status forecast(app_run *run, int64_t n_nodes, weft_error *error) {
    weft_linear_choose_method(&run->problem->system.linear, false, false, 0.5);
    const weft_problem_memory what = {.problem = {.dimension = 2,
                                                  .width = 3,
                                                  .n_nodes = n_nodes,
                                                  .n_cells = 2 * n_nodes,
                                                  .applications = 100,
                                                  .components = 1},
                                      .n_vectors = 2,
                                      .method = run->problem->system.linear.choice.method,
                                      .restart = run->options->solver.restart};
    return weft_linear_choose(&run->problem->system.linear, &what, error);
}

typedef struct case_of {
    app_run_options options;
    app_messages messages;
    app_run run;
    int64_t rows; /* for which the basis is too large */
} case_of;

static void open_case(case_of *c) {
    weft_error error = {0};
    c->options = app_run_options_default();
    c->options.device = "host:1";
    c->options.solver.restart = 500;
    c->run = (app_run){.options = &c->options, .monitor = &c->messages.monitor};
    assert_int_equal(app_messages_make(&c->messages, "test", stderr, APP_NORMAL, &error), WEFT_OK);
    assert_int_equal(app_run_open(&c->run, &error), WEFT_OK);
    c->rows = (int64_t)(weft_device_limits(c->run.device)->memory_bytes / 5000);
}

static void basis_that_fits(void **state) {
    (void)state;
    case_of c = {0};
    weft_error error = {0};
    open_case(&c);
    assert_int_equal(forecast(&c.run, 1000, &error), WEFT_OK);
    assert_int_equal(c.run.problem->system.linear.choice.method, WEFT_METHOD_GMRES);
    assert_null(strstr(c.run.problem->system.linear.choice.method_reason, "memory"));
    app_run_clear(&c.run);
}

/* Also for the next matrix, as in Newton's method. */
static void basis_that_does_not_fit(void **state) {
    (void)state;
    case_of c = {0};
    weft_error error = {0};
    open_case(&c);
    assert_int_equal(forecast(&c.run, c.rows, &error), WEFT_OK);
    assert_int_equal(c.run.problem->system.linear.choice.method, WEFT_METHOD_BICGSTAB);
    assert_non_null(strstr(c.run.problem->system.linear.choice.method_reason,
                           "the basis of GMRES does not fit into memory"));
    assert_int_equal(forecast(&c.run, c.rows, &error), WEFT_OK);
    assert_int_equal(c.run.problem->system.linear.choice.method, WEFT_METHOD_BICGSTAB);
    assert_non_null(strstr(c.run.problem->system.linear.choice.method_reason,
                           "the basis of GMRES does not fit into memory"));
    weft_linear_choose_method(&c.run.problem->system.linear, true, false, 0);
    assert_int_equal(c.run.problem->system.linear.choice.method, WEFT_METHOD_CG);
    app_run_clear(&c.run);
}

/* GMRES is refused where the user asks for it and its basis does not fit; so is a problem
 * whose vectors fit into memory with no method. */
static void refused(void **state) {
    (void)state;
    case_of c = {0};
    weft_error error = {0};
    open_case(&c);
    c.options.solver.method = WEFT_METHOD_GMRES;
    assert_int_equal(forecast(&c.run, c.rows, &error), WEFT_ERROR_MEMORY);
    assert_int_equal(c.run.problem->system.linear.choice.method, WEFT_METHOD_GMRES);
    app_run_clear(&c.run);
    open_case(&c);
    assert_int_equal(forecast(&c.run, 100 * c.rows, &error), WEFT_ERROR_MEMORY);
    assert_true(error.message[0] != '\0');
    app_run_clear(&c.run);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(basis_that_fits),
                                       cmocka_unit_test(basis_that_does_not_fit),
                                       cmocka_unit_test(refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
