/* labels: quick */
/* Eigenvalues near a shift, and the largest, of diagonal pencils, whose values are known: clusters of up to 12 values, on both sides of the
 * shift, of a K that is not definite; rows without mass; fewer values than are wanted; inverses that are wrong, which are
 * errors and not values. Tolerance: a residual of 1e-8, whose square the values differ by: 1e-12. */
#include "fem/eigen/eigen.h"
#include "test_support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double TOLERANCE = 1e-12;

typedef struct diagonal {
    weft_csr K, M;
    weft_pencil pencil;
    double wrong; /* relative errors of the inverse */
} diagonal;

static weft_status invert(void *user, const double *r, double *z, weft_error *error) {
    const diagonal *d = user;
    (void)error;
    for (int64_t i = 0; i < d->K.n_rows; ++i) {
        const double entry = d->K.values[i] - d->pencil.shift * d->M.values[i];
        z[i] = entry != 0 ? r[i] / entry * (1 + d->wrong * weft_random_entry(i)) : 0;
    }
    for (int64_t k = 0; k < d->pencil.n_dropped; ++k)
        z[d->pencil.dropped[k]] = 0;
    return WEFT_OK;
}

static weft_csr place(int n) {
    weft_csr A;
    weft_error error;
    assert_int_equal(weft_csr_allocate(n, n, n, &A, &error), WEFT_OK);
    for (int i = 0; i < n; ++i) {
        A.columns[i] = i;
        A.row_start[i + 1] = i + 1;
    }
    return A;
}

/* K x = l M x with l = values[i], in another order, and M of the sizes 1 to 4. */
static void start(int n, const double *values, double shift, diagonal *out) {
    *out = (diagonal){.K = place(n), .M = place(n)};
    for (int i = 0; i < n; ++i) {
        const int at = (i * 37 + 5) % n;
        out->M.values[at] = 1 + i % 4;
        out->K.values[at] = values[i] * out->M.values[at];
    }
    out->pencil =
        (weft_pencil){.K = out->K, .M = out->M, .invert = invert, .user = out, .shift = shift};
}

static void clear(diagonal *d) {
    weft_csr_clear(&d->K);
    weft_csr_clear(&d->M);
}

static int ascending(const void *a, const void *b) {
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* The n values nearest to the shift, ascending, and the next nearest. */
static void select_values(int n_all, const double *all, double shift, int n, double *out) {
    double *left = malloc((size_t)n_all * sizeof *left);
    memcpy(left, all, (size_t)n_all * sizeof *left);
    for (int k = 0; k < n + (n < n_all); ++k) {
        int best = 0;
        for (int i = 1; i < n_all - k; ++i)
            best = fabs(left[i] - shift) < fabs(left[best] - shift) ? i : best;
        out[k] = left[best];
        left[best] = left[n_all - k - 1];
    }
    qsort(out, (size_t)n, sizeof *out, ascending);
    free(left);
}

static const weft_eigen_settings settings = {.tolerance = 1e-8, .max_iterations = 100};

static weft_eigenpairs find(const diagonal *d, int n) {
    weft_eigenpairs pairs = {.n = 0};
    weft_error error = {0};
    weft_eigen_settings of = settings;
    of.n = n;
    if (weft_eigen_near(&d->pencil, &of, &pairs, &error) != WEFT_OK)
        fail_msg("%s", error.message);
    assert_int_equal(pairs.outcome, WEFT_EIGEN_CONVERGED);
    return pairs;
}

/* expected: n + 1 values, the last of which would be found next; NaN: there is none */
static void check(const diagonal *d, int n, const double *expected) {
    weft_eigenpairs pairs = find(d, n);
    int cut = -1;
    for (int k = 0; k < n; ++k)
        cut = expected[k] == expected[n] ? pairs.cluster[k] : cut;
    assert_int_equal(pairs.cut, cut);
    assert_true(isnan(expected[n])
                    ? isnan(pairs.next)
                    : fabs(pairs.next - expected[n]) < 1e-9 * (1 + fabs(expected[n])));
    for (int k = 1; k < n; ++k)
        assert_int_equal(pairs.cluster[k] > pairs.cluster[k - 1], expected[k] > expected[k - 1]);
    for (int k = 0; k < n; ++k) {
        const double *x = pairs.vectors + k * d->K.n_rows;
        double length = 0, apart = 0;
        assert_true(fabs(pairs.values[k] - expected[k]) < TOLERANCE * (1 + fabs(expected[k])));
        for (int64_t i = 0; i < d->K.n_rows; ++i) {
            const double r = d->K.values[i] * x[i] - pairs.values[k] * d->M.values[i] * x[i];
            length += (d->pencil.is_buckling ? d->K : d->M).values[i] * x[i] * x[i];
            apart += r * r;
        }
        assert_true(fabs(length - 1) < 1e-10 && sqrt(apart) < 1e-4);
    }
    weft_eigenpairs_clear(&pairs);
}

/* Twelve ones, thirty twos, then 3, 4, ...; -1, -2, ... of an indefinite one. With zeros instead of ones where `is_singular`. */
static void fill_values(int n, bool is_definite, bool is_singular, double *out) {
    for (int i = 0; i < n; ++i)
        out[i] = i < 12 ? !is_singular : i < 42 ? 2 : i % 2 && !is_definite ? 42 - i : i - 39;
}

static void clusters(void **state) {
    (void)state;
    enum { ROWS = 400 };
    static double all[ROWS], expected[ROWS];
    static const double shifts[] = {0.1, -3.2, 1.4, 2.4, 60.25};
    for (int kind = 0; kind < 3; ++kind)
        for (int s = 0; s < 5; ++s)
            for (int n = 1; n <= 13; n += 4) {
                diagonal d;
                fill_values(ROWS, kind > 0, kind > 1, all);
                start(ROWS, all, shifts[s], &d);
                select_values(ROWS, all, shifts[s], n, expected);
                check(&d, n, expected);
                clear(&d);
            }
}

/* Rows without mass have infinite values; small pencils are exhausted. */
static void few(void **state) {
    (void)state;
    static const double all[] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3};
    double expected[11];
    diagonal d;
    start(10, all, 0.5, &d);
    select_values(10, all, 0.5, 10, expected);
    expected[10] = NAN;
    check(&d, 10, expected);
    clear(&d);
    start(10, all, 0.5, &d);
    d.M.values[5] = d.M.values[42 % 10] = 0; /* 3 and the first 1 */
    const double finite[] = {1, 2, 3, 4, 5, 5, 6, 9, NAN};
    check(&d, 8, finite);
    clear(&d);
}

/* A positive definite K and an M of any sign, also 0: values of both signs, and clusters of 12 and of 5. */
static void buckling(void **state) {
    (void)state;
    enum { ROWS = 300 };
    static double all[ROWS], expected[ROWS];
    for (int kind = 0; kind < 3; ++kind) /* of both signs; none negative; none positive */
        for (int n = 1; n <= 21; n += 5) {
            diagonal d;
            for (int i = 0; i < ROWS; ++i) {
                all[i] = i < 12 ? -2.5 : i < 17 ? 3 : (i % 2 ? 1 : -1) * (4 + 0.25 * i);
                all[i] = kind == 0 ? all[i] : kind == 1 ? fabs(all[i]) : -fabs(all[i]);
            }
            start(ROWS, all, 0, &d);
            for (int i = 0; i < ROWS; ++i) { /* K and M of l = K/M */
                const double size = d.M.values[i], value = d.K.values[i] / size;
                d.K.values[i] = size;
                d.M.values[i] = i % 50 == 49 ? 0 : size / value;
            }
            for (int i = 0; i < ROWS; ++i)
                all[i] = d.M.values[i] != 0 ? d.K.values[i] / d.M.values[i] : INFINITY;
            d.pencil.is_buckling = true;
            select_values(ROWS, all, 0, n, expected);
            check(&d, n, expected);
            d.K.values[7] = -1;
            weft_eigenpairs pairs = {.n = 0};
            weft_error error = {0};
            weft_eigen_settings of = settings;
            of.n = n;
            assert_int_not_equal(weft_eigen_near(&d.pencil, &of, &pairs, &error), WEFT_OK);
            assert_non_null(strstr(error.message, "not positive definite"));
            weft_eigenpairs_clear(&pairs);
            clear(&d);
        }
}

static void largest(void **state) {
    (void)state;
    for (int n_rows = 60; n_rows <= 300; n_rows += 240) {
        double all[300];
        diagonal d;
        for (int i = 0; i < n_rows; ++i)
            all[i] = i < n_rows - 3 ? 1 + i / (double)n_rows : 7;
        start(n_rows, all, 0, &d);
        weft_eigenpairs pairs = {.n = 0};
        weft_error error = {0};
        weft_eigen_settings of = settings;
        of.n = 4;
        assert_int_equal(weft_eigen_largest(&d.pencil, &of, &pairs, &error), WEFT_OK);
        assert_int_equal(pairs.outcome, WEFT_EIGEN_CONVERGED);
        assert_true(fabs(pairs.values[0] - all[n_rows - 4]) < 1e-10);
        for (int k = 1; k < 4; ++k)
            assert_true(fabs(pairs.values[k] - 7) < 1e-10 && pairs.cluster[k] == 1);
        assert_int_equal(pairs.cut, -1);
        weft_eigenpairs_clear(&pairs);
        of.n = 2; /* of three that are one */
        assert_int_equal(weft_eigen_largest(&d.pencil, &of, &pairs, &error), WEFT_OK);
        assert_true(pairs.cut == 0 && fabs(pairs.next - 7) < 1e-10);
        weft_eigenpairs_clear(&pairs);
        d.M.values[3] = 0;
        assert_int_not_equal(weft_eigen_largest(&d.pencil, &of, &pairs, &error), WEFT_OK);
        assert_non_null(strstr(error.message, "the largest values are infinite"));
        weft_eigenpairs_clear(&pairs);
        clear(&d);
    }
}

static void expect(const diagonal *d, int n, const char *part) {
    weft_eigenpairs pairs = {.n = 0};
    weft_error error = {0};
    weft_eigen_settings of = settings;
    of.n = n;
    const weft_status status = weft_eigen_near(&d->pencil, &of, &pairs, &error);
    if (status == WEFT_OK || !strstr(error.message, part))
        fail_msg("expected '%s', found '%s'", part, error.message);
    weft_eigenpairs_clear(&pairs);
}

static void refusals(void **state) {
    (void)state;
    double all[300];
    diagonal d;
    fill_values(300, true, false, all);
    start(300, all, 0.5, &d);
    d.wrong = 1e-4;
    expect(&d, 5, "the factors of K - s M are wrong for s = 0.5");
    d.wrong = 0;
    d.pencil.shift = 1;
    expect(&d, 5, "the factors of K - s M are wrong for s = 1");
    d.pencil.shift = 0.5;
    d.M.values[0] = -1;
    expect(&d, 5, "not positive semidefinite");
    memset(d.M.values, 0, 300 * sizeof *d.M.values);
    d.M.values[0] = d.M.values[7] = 1;
    expect(&d, 5, "the problem has 2");
    clear(&d);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(clusters), cmocka_unit_test(few),
                                       cmocka_unit_test(buckling), cmocka_unit_test(largest),
                                       cmocka_unit_test(refusals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
