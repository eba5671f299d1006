/* labels: quick */
/* Each row of the table of time integration schemes against mathematics: the solutions exp(z t) of u' = z u, and
 * t^k of u' = k t^(k-1). A new scheme is tested by its row. Orders are between two short steps, within a tenth: terms
 * of the next order are below it. Order conditions, and L-stability: Hairer and Wanner 1996, IV.3 and IV.5. */
#include "core/weft_core.h"
#include "fem/time/scheme.h"
#include "test_support.h"

#include <complex.h>
#include <math.h>
#include <string.h>

static const double TOLERANCE = 0.1, EXACT = 1e-12;
/* Lengths of the step and the one before it, where a scheme uses that. */
static const double LENGTH = 1, BEFORE = 0.8;

typedef double complex number;

typedef struct numbers {
    number u[WEFT_TIME_STAGES + 1]; /* u_n, u_before, U of each stage but the last */
    number r[WEFT_TIME_STAGES + 1]; /* r_n, r of each stage but the last, behind them of the last */
    number end;
    double a;
} numbers;

/* A step of u' = z u + k t^(k-1) from t = 1. */
static numbers step(const weft_time_row *row, double theta, number z, int k) {
    weft_time_stage stages[WEFT_TIME_STAGES];
    const int last = row->about.n_stages - 1;
    numbers n = {.u = {1}, .r = {-z - k}};
    if (row->about.n_before > 0)
        n.u[1] = k > 0 ? pow(1 - BEFORE, k) : cexp(-z * BEFORE);
    row->stages(theta, LENGTH / BEFORE, stages);
    assert_double_near(stages[last].c, 1, EXACT, 0);
    n.a = stages[0].a;
    for (int i = 0; i <= last; ++i) {
        const weft_time_stage *s = &stages[i];
        const double f = k > 0 ? k * pow(1 + s->c * LENGTH, k - 1) : 0;
        number known = f - s->q * n.r[0];
        for (int j = 0; j <= WEFT_TIME_STAGES; ++j)
            known += s->a / LENGTH * s->u[j] * n.u[j];
        assert_double_near(s->a, n.a, EXACT, 0); /* the stages have one matrix */
        n.end = known / (s->a / LENGTH - z);
        n.r[i < last ? i + 1 : WEFT_TIME_STAGES] = -z * n.end - f;
        if (i < last)
            n.u[i + 2] = n.end;
    }
    return n;
}

static number error_of(const weft_time_row *row, double theta, number z) {
    return step(row, theta, z, 0).end - cexp(z * LENGTH);
}

static double order_of(const weft_time_row *row, double theta) {
    const double ratio = cabs(error_of(row, theta, -0.04) / error_of(row, theta, -0.02));
    return log2(ratio) - 1;
}

/* For each scheme, and with a theta for both ends of its range. */
static void for_each(void (*check)(const weft_time_row *row, double theta, int order)) {
    assert_true(weft_time_scheme_count() >= 3);
    for (int i = 0; i < weft_time_scheme_count(); ++i) {
        const weft_time_row *row = weft_time_row_of((weft_time_scheme)i);
        check(row, 0.5, row->about.order);
        if (row->about.takes_theta)
            check(row, 1, 1);
    }
    assert_null(weft_time_row_of((weft_time_scheme)weft_time_scheme_count()));
    assert_null(weft_time_row_of((weft_time_scheme)-1));
}

static void check_order(const weft_time_row *row, double theta, int order) {
    assert_double_near(order_of(row, theta), order, 0, TOLERANCE);
    for (int k = 1; k <= order; ++k)
        assert_double_near(creal(step(row, theta, 0, k).end), pow(1 + LENGTH, k), EXACT, 0);
    assert_true(fabs(creal(step(row, theta, 0, order + 1).end) - pow(1 + LENGTH, order + 1)) >
                1e-3);
}

static void orders(void **state) {
    (void)state;
    for_each(check_order);
}

/* The factor by which a step may change u, in a sequence of steps of one length: with the solution before too, the
 * greater root of x^2 - b x - c. */
static double growth(const weft_time_row *row, double theta, number z) {
    weft_time_stage stage[WEFT_TIME_STAGES];
    if (row->about.n_before == 0)
        return cabs(step(row, theta, z, 0).end);
    assert_true(row->about.n_before == 1 && row->about.n_stages == 1);
    row->stages(theta, 1, stage);
    const number b = stage->a * stage->u[0] / (stage->a - z),
                 c = stage->a * stage->u[1] / (stage->a - z), root = csqrt(b * b / 4 + c);
    return fmax(cabs(b / 2 + root), cabs(b / 2 - root));
}

/* At most 1 on the imaginary axis; 0 far to the left if the scheme damps. */
static void check_stability(const weft_time_row *row, double theta, int order) {
    const bool damps = row->about.damps || theta == 1;
    (void)order;
    assert_int_equal(damps, growth(row, theta, -1e12) < 1e-4);
    for (double y = 1e-3; y < 1e6; y *= 1.3)
        assert_true(growth(row, theta, y * I) <= 1 + EXACT);
}

static void stability(void **state) {
    (void)state;
    for_each(check_stability);
}

/* e of (a/h M + K) e = d */
static number embedded_error(const weft_time_row *row, number z) {
    const numbers n = step(row, 0.5, z, 0);
    double weights[WEFT_TIME_STAGES + 1] = {0};
    number d = 0;
    row->embedded(weights);
    for (int i = 0; i <= WEFT_TIME_STAGES; ++i)
        d += weights[i] * n.r[i];
    return d / (n.a / LENGTH - z);
}

/* By the solutions at the end of the step, its start, and before: of exp(z t) that are exact. */
static number truncation_error(const weft_time_row *row, double theta, int order, number z) {
    const double t[] = {LENGTH, 0, -BEFORE, -BEFORE - 1};
    number difference = 0;
    for (int i = 0; i <= order + 1; ++i) {
        number term = cexp(z * t[i]);
        for (int k = 0; k <= order + 1; ++k)
            term /= k != i ? t[i] - t[k] : 1;
        difference += term;
    }
    return row->truncation(theta, LENGTH, BEFORE) * difference;
}

/* An estimate is the error, or that of an embedded method of lower order, which is greater. */
static void check_estimate(const weft_time_row *row, double theta, int order) {
    const double z = 0.01;
    assert_true(!row->embedded != !row->truncation); /* one of them */
    if (!row->embedded) {
        const number ratio = truncation_error(row, theta, order, -z) / error_of(row, theta, -z);
        assert_double_near(cabs(ratio), 1, 0, TOLERANCE);
        return;
    }
    const number ratio = embedded_error(row, -z) / error_of(row, theta, -z);
    assert_double_near(log2(cabs(embedded_error(row, -4 * z) / embedded_error(row, -2 * z))),
                       row->embedded_order + 1, 0, TOLERANCE);
    if (row->embedded_order == order)
        assert_double_near(cabs(ratio), 1, 0, TOLERANCE);
    else
        assert_true(row->embedded_order == order - 1 && cabs(ratio) > 1);
}

static void estimates(void **state) {
    (void)state;
    for_each(check_estimate);
    assert_non_null(weft_time_row_to_start()->embedded);
    assert_int_equal(weft_time_row_to_start()->about.n_before, 0);
}

/* Each is found by its name; of a name that none has the message lists all. */
static void names(void **state) {
    (void)state;
    weft_error error = {0};
    weft_time_scheme found = WEFT_TIME_THETA;
    assert_int_equal(weft_time_scheme_find("none", &found, &error), WEFT_ERROR_USAGE);
    for (int i = 0; i < weft_time_scheme_count(); ++i) {
        const weft_time_scheme_info *about = weft_time_scheme_about((weft_time_scheme)i);
        assert_non_null(strstr(error.hint, about->name));
        assert_true(strlen(about->help) > 0 && about->n_stages <= WEFT_TIME_STAGES);
        assert_int_equal(weft_time_scheme_find(about->name, &found, NULL), WEFT_OK);
        assert_int_equal(found, i);
    }
    assert_true(weft_time_scheme_about(weft_time_scheme_default())->damps); /* as messages say */
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(orders), cmocka_unit_test(stability),
                                       cmocka_unit_test(estimates), cmocka_unit_test(names)};
    return cmocka_run_group_tests_name("schemes", tests, NULL, NULL);
}
