/* labels: full */
/* Solves by every method besides CG, rerun with their n-th allocation failing. */
#include "allocation.h"
#include "core/weft_core.h"
#include "dense_operator.h"
#include "fusion/weft_library.h"
#include "test_support.h"

#include <stdlib.h>

static weft_library *library;

typedef struct solve_case {
    setting *s;
    weft_method method;
} solve_case;

static weft_status solve(void *user, weft_error *error) {
    weft_status status = WEFT_OK;
    static const double A[] = {4, 1, 2, 3};
    static const double S[] = {4, 1, 1, -3};
    const solve_case *c = user;
    const bool is_symmetric = weft_method_about(c->method)->needs_symmetric;
    const dense m = {is_symmetric ? S : A, NULL, 2};
    weft_operator op = dense_operator(&m);
    const weft_cg_options options = {.size = sizeof options,
                                     .method = c->method,
                                     .jacobi = true,
                                     .tolerance = 1e-10,
                                     .max_iterations = 10};
    weft_cg_result result = {0};
    c->s->x_values[0] = c->s->x_values[1] = 0;
    TRY(weft_cg_solve(&c->s->context, &op, c->s->b, c->s->x, &options, &result, error));
    if (result.outcome != WEFT_CG_CONVERGED)
        status = weft_error_set(error, WEFT_ERROR_INTERNAL, "not solved");
done:
    free(result.history);
    return status;
}

static void every_method(void **state) {
    (void)state;
    setting s = setting_make("host:1", library, 2);
    s.b_values[0] = 1;
    s.b_values[1] = 2;
    for (int method = WEFT_METHOD_MINRES; method < weft_method_count(); ++method) {
        solve_case c = {&s, (weft_method)method};
        weft_error error = {0};
        if (solve(&c, &error) != WEFT_OK) /* compiles once: then from the cache */
            fail_msg("%s", error.message);
        test_every_allocation(weft_method_about(c.method)->name, solve, &c);
    }
    setting_free(&s);
}

static int open_library(void **state) {
    (void)state;
    return (int)weft_fem_library_make(&library, NULL);
}

static int close_library(void **state) {
    (void)state;
    weft_library_free(&library);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_method)};
    return cmocka_run_group_tests(tests, open_library, close_library);
}
