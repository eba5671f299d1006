/* labels: quick */
/* The St. Venant-Kirchhoff solid of kirchhoff.weft: that its residual is the derivative of its
 * energy and its matrix that of its residual, by central differences on a distorted mesh that is
 * already deformed by a third; and what frame-indifference says: a rigid rotation makes no force.
 *
 * Central differences are wrong by h^2/6 |third derivative| + eps |value| / h: with h = 1e-4 and
 * values of order one some 1e-8 and 1e-12; the energy is a polynomial of degree 4 in u, so that its
 * third derivatives are of order one too. */
#include "core/weft_core.h"
#include "fem/weft_fem.h"
#include "fusion/weft_compile.h"
#include "operator_fixture.h"
#include "test_support.h"

static const double step = 1e-4, allowed = 1e-7;

typedef struct solid {
    fixture f;
    int64_t n;
    weft_memory *u, *load, *v, *out, *other;
    weft_form form;
    weft_form_input inputs[3];
    weft_parameter dimension[1];
    weft_expression young[4];
} solid;

static weft_memory *memory_of(const solid *s, int64_t n) {
    weft_memory *made = NULL;
    assert_int_equal(weft_memory_make(s->f.device, (size_t)n * sizeof(double), &made, NULL),
                     WEFT_OK);
    return made;
}

static void solid_make(int d, solid *s) {
    *s = (solid){.f = fixture_make("host:2", d, d == 2 ? 4 : 2, WEFT_PLAN_FUSED)};
    s->n = s->f.n * d;
    s->u = memory_of(s, s->n);
    s->v = memory_of(s, s->n);
    s->out = memory_of(s, s->n);
    s->other = memory_of(s, s->n);
    s->load = memory_of(s, 1);
    *(double *)weft_memory_host(s->load) = 0.5;
    s->inputs[0] = (weft_form_input){"x", s->f.x};
    s->inputs[1] = (weft_form_input){"u", s->u};
    s->inputs[2] = (weft_form_input){"load", s->load};
    s->dimension[0] = (weft_parameter){"d", d};
    s->young[0] = (weft_expression){"young", "1 + x", "test"};
    s->young[1] = (weft_expression){"poisson", "0.2 + 0.1*y", "test"};
    s->form = (weft_form){.name = "kirchhoff",
                          .text = weft_fem_script("kirchhoff.weft"),
                          .action = "Kv",
                          .dofs = s->f.cells,
                          .inputs = s->inputs,
                          .n_inputs = 3,
                          .parameters = s->dimension,
                          .n_parameters = 1,
                          .expressions = s->young,
                          .n_expressions = 2,
                          .components = d};
    uint64_t state = 11;
    double *u = weft_memory_host(s->u), *v = weft_memory_host(s->v);
    for (int64_t i = 0; i < s->n; ++i) {
        u[i] = 0.3 * s->f.mesh->x[i] + 0.05 * (fixture_random(&state) - 0.5);
        v[i] = fixture_random(&state) - 0.5;
    }
}

static void solid_free(solid *s) {
    weft_memory_free(&s->u);
    weft_memory_free(&s->v);
    weft_memory_free(&s->out);
    weft_memory_free(&s->other);
    weft_memory_free(&s->load);
    fixture_free(&s->f);
}

static void run(solid *s, const char *name, weft_memory *out) {
    weft_error error = {0};
    if (weft_form_run(&s->f.context, &s->form,
                      &(weft_form_outputs){&name, &out, 1, "cells", s->f.mesh->n_cells},
                      &error) != WEFT_OK)
        fail_msg("%s: %s", name, error.message);
}

static void move(solid *s, double h) {
    double *u = weft_memory_host(s->u);
    const double *v = weft_memory_host(s->v);
    for (int64_t i = 0; i < s->n; ++i)
        u[i] += h * v[i];
}

/* One number a cell, interleaved: in the cells' order. */
static double energy(solid *s) {
    const int64_t cells = s->f.mesh->n_cells;
    weft_memory *W = memory_of(s, cells + 64);
    run(s, "W", W);
    const double sum = weft_sum(weft_memory_host(W), cells);
    weft_memory_free(&W);
    return sum;
}

static void residual_is_the_energy_s_derivative(void **state) {
    (void)state;
    for (int d = 2; d <= 3; ++d) {
        solid s;
        solid_make(d, &s);
        run(&s, "r", s.out);
        const double *r = weft_memory_host(s.out), *v = weft_memory_host(s.v);
        double slope = 0, size = 0;
        for (int64_t i = 0; i < s.n; ++i) {
            slope += r[i] * v[i];
            size += fabs(r[i] * v[i]);
        }
        move(&s, step);
        const double above = energy(&s);
        move(&s, -2 * step);
        const double below = energy(&s);
        assert_true(size > 0.01);
        assert_double_near((above - below) / (2 * step), slope, 0, allowed * size);
        solid_free(&s);
    }
}

static void matrix_is_the_residual_s_derivative(void **state) {
    (void)state;
    for (int d = 2; d <= 3; ++d) {
        solid s;
        weft_operator *op = NULL;
        double most = 0, difference = 1;
        solid_make(d, &s);
        double *above = malloc((size_t)s.n * sizeof *above);
        assert_int_equal(weft_operator_make(&s.f.context, WEFT_ASSEMBLY_CSR, &s.form, 1, &op, NULL),
                         WEFT_OK);
        assert_int_equal(weft_operator_assemble(op, NULL), WEFT_OK);
        assert_int_equal(weft_operator_apply(op, s.v, s.out, NULL), WEFT_OK);
        assert_int_equal(weft_form_asymmetry(&s.f.context, &s.form, &difference, NULL), WEFT_OK);
        assert_true(difference < 1e-13);
        const double *Kv = weft_memory_host(s.out), *r = weft_memory_host(s.other);
        move(&s, step);
        run(&s, "r", s.other);
        memcpy(above, r, (size_t)s.n * sizeof *above);
        move(&s, -2 * step);
        run(&s, "r", s.other);
        for (int64_t i = 0; i < s.n; ++i)
            most = fmax(most, fabs(Kv[i]));
        assert_true(most > 0.1);
        for (int64_t i = 0; i < s.n; ++i)
            assert_double_near((above[i] - r[i]) / (2 * step), Kv[i], 0, allowed * most);
        free(above);
        weft_operator_free(&op);
        solid_free(&s);
    }
}

/* u = (R - 1) x: no strain, so no stress and no energy, however far it turns. */
static void a_rotation_costs_nothing(void **state) {
    (void)state;
    for (int d = 2; d <= 3; ++d) {
        solid s;
        solid_make(d, &s);
        double *u = weft_memory_host(s.u);
        const double c = cos(2.0), t = sin(2.0);
        for (int64_t i = 0; i < s.f.n; ++i) {
            const double *x = s.f.mesh->x + i * d;
            u[i * d] = c * x[0] - t * x[1] - x[0];
            u[i * d + 1] = t * x[0] + c * x[1] - x[1];
            if (d == 3)
                u[i * d + 2] = 0;
        }
        run(&s, "r", s.out);
        const double *r = weft_memory_host(s.out);
        for (int64_t i = 0; i < s.n; ++i)
            assert_double_near(r[i], 0, 0, 1e-13);
        assert_double_near(energy(&s), 0, 0, 1e-13);
        solid_free(&s);
    }
}

/* At u = 0 the matrix is that of linear elasticity. */
static void small_deformations_are_linear(void **state) {
    (void)state;
    for (int d = 2; d <= 3; ++d) {
        solid s;
        weft_operator *op[2] = {NULL, NULL};
        solid_make(d, &s);
        memset(weft_memory_host(s.u), 0, (size_t)s.n * sizeof(double));
        weft_form linear = s.form;
        linear.name = "elasticity";
        linear.text = weft_fem_script("elasticity.weft");
        linear.n_inputs = 1;
        for (int i = 0; i < 2; ++i) {
            assert_int_equal(weft_operator_make(&s.f.context, WEFT_ASSEMBLY_MATRIX_FREE,
                                                i ? &linear : &s.form, 1, &op[i], NULL),
                             WEFT_OK);
            assert_int_equal(weft_operator_apply(op[i], s.v, i ? s.other : s.out, NULL), WEFT_OK);
        }
        const double *a = weft_memory_host(s.out), *b = weft_memory_host(s.other);
        for (int64_t i = 0; i < s.n; ++i)
            assert_double_near(a[i], b[i], 1e-12, 1e-13);
        weft_operator_free(&op[0]);
        weft_operator_free(&op[1]);
        solid_free(&s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(residual_is_the_energy_s_derivative),
        cmocka_unit_test(matrix_is_the_residual_s_derivative),
        cmocka_unit_test(a_rotation_costs_nothing),
        cmocka_unit_test(small_deformations_are_linear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
