/* labels: quick */
/* A matrix-free product keeps a coefficient of each cell that functions of formulas make costly, and
 * only then. */
#include "core/weft_core.h"
#include "fem/weft_fem.h"
#include "fusion/weft_compile.h"
#include "test_support.h"

#include "operator_fixture.h"

#include <string.h>

/* The functions that cancel have errors of some units in the last place. */
static const double tolerance = 1e-11;

/* Logged: the coefficient is kept; the operations of the product's kernel. */
typedef struct logged {
    bool keeps;
    double flops;
} logged;

static void listen(void *user, weft_log_level level, const char *message) {
    logged *l = user;
    const char *flops = strstr(message, " B stored, ");
    (void)level;
    l->keeps |= strstr(message, "products load k, computed once per cell") != NULL;
    if (strstr(message, "+ product") && flops)
        l->flops = strtod(flops + strlen(" B stored, "), NULL);
}

static weft_operator *operator_make(fixture *f, weft_assembly assembly, int dimension,
                                    const char *diffusivity) {
    weft_error error = {0};
    weft_operator *op = NULL;
    static weft_form_input inputs[1];
    static weft_parameter parameter;
    static weft_expression k;
    inputs[0] = (weft_form_input){"x", f->x};
    parameter = (weft_parameter){"d", dimension};
    k = (weft_expression){"diffusivity", diffusivity, "test"};
    const weft_form form = {.name = "poisson_diffusivity",
                            .text = weft_fem_script("poisson_diffusivity"),
                            .dofs = f->cells,
                            .inputs = inputs,
                            .n_inputs = 1,
                            .expressions = &k,
                            .n_expressions = 1,
                            .parameters = &parameter,
                            .n_parameters = 1};
    if (weft_operator_make(&f->context, assembly, &form, 1, &op, &error) != WEFT_OK)
        fail_msg("%s", error.message);
    return op;
}

/* y = A v and the diagonal, [2 n]. */
static double *products(fixture *f, weft_operator *op) {
    weft_memory *v = fixture_vector(f), *y = fixture_vector(f);
    double *out = calloc((size_t)(2 * f->n), sizeof *out);
    uint64_t state = 7;
    weft_error error = {0};
    for (int64_t i = 0; i < f->n; ++i)
        ((double *)weft_memory_host(v))[i] = fixture_random(&state) - 0.5;
    assert_int_equal(weft_operator_apply(op, v, y, &error), WEFT_OK);
    memcpy(out, weft_memory_host(y), (size_t)f->n * sizeof *out);
    assert_int_equal(weft_operator_diagonal(op, y, &error), WEFT_OK);
    memcpy(out + f->n, weft_memory_host(y), (size_t)f->n * sizeof *out);
    weft_memory_free(&v);
    weft_memory_free(&y);
    return out;
}

static void assert_equal_products(fixture *f, weft_operator *a, weft_operator *b) {
    double *x = products(f, a), *y = products(f, b), most = 0;
    for (int64_t i = 0; i < 2 * f->n; ++i)
        most = fmax(most, fabs(y[i]));
    assert_true(most > 0);
    for (int64_t i = 0; i < 2 * f->n; ++i)
        assert_double_near(x[i], y[i], 0, tolerance * most);
    free(x);
    free(y);
}

/* The functions cancel: the operator is that of 1 + x + 2*y, whose products compute it. */
static void costly_is_kept(void **state) {
    (void)state;
    for (int d = 2; d <= 3; ++d) {
        logged cheap = {0}, costly = {0};
        weft_monitor monitor = {.log = listen, .user = &cheap};
        weft_error error = {0};
        fixture f = fixture_make("host:2", d, d == 2 ? 7 : 3, WEFT_PLAN_FUSED);
        f.context.monitor = &monitor;
        weft_operator *plain = operator_make(&f, WEFT_ASSEMBLY_MATRIX_FREE, d, "1 + x + 2*y");
        monitor.user = &costly;
        weft_operator *kept = operator_make(
            &f, WEFT_ASSEMBLY_MATRIX_FREE, d,
            "(1 + x + 2*y)*exp(x)*exp(-x)*(sin(y)^2 + cos(y)^2)*exp(log(2 + x))/(2 + x)");
        assert_false(cheap.keeps);
        assert_true(costly.keeps && costly.flops < cheap.flops);
        assert_equal_products(&f, kept, plain); /* before it is assembled too */
        for (int64_t i = 0; i < f.n * d; ++i)   /* assembling follows the inputs */
            ((double *)weft_memory_host(f.x))[i] += 1;
        assert_int_equal(weft_operator_assemble(kept, &error), WEFT_OK);
        assert_equal_products(&f, kept, plain);
        weft_operator_free(&plain);
        weft_operator_free(&kept);
        f.context.monitor = NULL;
        fixture_free(&f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(costly_is_kept)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
