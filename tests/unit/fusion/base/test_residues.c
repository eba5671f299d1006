/* labels: quick */
/* Arithmetic modulo 2^61 - 1 against arithmetic by repeated addition, and the identities that functions keep and do
 * not keep. All results are exact. */
#include "core/weft_core.h"
#include "fusion/base/residues.h"
#include "test_support.h"

#include <math.h>

#define PRIME (((uint64_t)1 << 61) - 1)

typedef struct field {
    weft_arena *arena;
    weft_residues *r;
} field;

static field field_open(void) {
    field f = {0};
    assert_int_equal(weft_arena_make(&f.arena, NULL), WEFT_OK);
    assert_int_equal(weft_residues_make(f.arena, &f.r, NULL), WEFT_OK);
    return f;
}

/* a b by doubling. */
static uint64_t product(uint64_t a, uint64_t b) {
    uint64_t out = 0;
    for (; b > 0; b >>= 1) {
        if (b & 1)
            out = (out + a) % PRIME;
        a = 2 * a % PRIME;
    }
    return out;
}

static void sums_products_and_quotients(void **state) {
    field f = field_open();
    uint64_t values[64] = {0, 1, 2, PRIME - 1, PRIME - 2, PRIME / 2, PRIME / 2 + 1, 1u << 31};
    (void)state;
    for (int i = 8; i < 64; ++i)
        values[i] = weft_residue_random(f.r);
    for (int i = 0; i < 64; ++i)
        for (int k = 0; k < 64; ++k) {
            const uint64_t a = values[i], b = values[k];
            assert_true(a < PRIME);
            assert_true(weft_residue_add(a, b) == (a + b) % PRIME);
            assert_true(weft_residue_subtract(a, b) == (a + PRIME - b) % PRIME);
            assert_true(weft_residue_multiply(a, b) == product(a, b));
            if (b != 0)
                assert_true(product(weft_residue_divide(a, b), b) == a);
        }
    assert_true(weft_residue_power(3, 5) == 243);
    assert_true(weft_residue_power(7, 0) == 1);
    assert_true(product(weft_residue_power(3, -5), 243) == 1);
    assert_true(weft_residue_integer(-4) == PRIME - 4);
    weft_arena_free(&f.arena);
}

static void decimal_numbers_are_fractions(void **state) {
    field f = field_open();
    (void)state;
    const weft_residue tenth = weft_residue_number(f.r, 0.1);
    assert_true(product(tenth, 10) == 1);
    assert_true(weft_residue_number(f.r, 0.3) == weft_residue_add(tenth, product(tenth, 2)));
    assert_true(weft_residue_number(f.r, -2.5e-3) ==
                weft_residue_divide(weft_residue_integer(-25), weft_residue_integer(10000)));
    assert_true(weft_residue_number(f.r, 1.25e20) ==
                product(125, weft_residue_power(weft_residue_integer(10), 18)));
    assert_true(weft_residue_number(f.r, 1e300) != weft_residue_number(f.r, 1e301));
    /* rounding makes no other number, what is more than rounding does */
    assert_true(weft_residue_number(f.r, 0.1 + 0.2) == weft_residue_number(f.r, 0.3));
    assert_true(weft_residue_number(f.r, nextafter(1, 0)) == 1);
    assert_true(weft_residue_number(f.r, 1 + 1e-12) != 1);
    assert_true(weft_residue_number(f.r, 0.7 * (1 + 1e-13)) != weft_residue_number(f.r, 0.7));
    for (int i = 1; i < 20000; ++i) { /* the table grows */
        const double x = sqrt(i + 0.5);
        const weft_residue first = weft_residue_number(f.r, x);
        assert_true(weft_residue_number(f.r, nextafter(x, 0)) == first);
        assert_true(weft_residue_number(f.r, nextafter(x, 1e9)) == first);
    }
    assert_false(weft_residues_failed(f.r));
    weft_arena_free(&f.arena);
}

static weft_residue call(const field *f, const char *name, weft_residue a, weft_residue b) {
    const weft_intrinsic *intrinsic = weft_intrinsic_find(name);
    assert_non_null(intrinsic);
    return weft_residue_function(f->r, intrinsic, a, b);
}

static void functions_keep_their_identities_alone(void **state) {
    field f = field_open();
    (void)state;
    const weft_residue a = weft_residue_random(f.r), b = weft_residue_random(f.r),
                       c = weft_residue_random(f.r), minus_a = weft_residue_subtract(0, a);
    assert_true(call(&f, "abs", a, 0) == call(&f, "abs", minus_a, 0));
    assert_true(call(&f, "abs", a, 0) != a);
    assert_true(call(&f, "exp", a, 0) != call(&f, "exp", minus_a, 0));
    assert_true(call(&f, "exp", a, 0) != call(&f, "log", a, 0));
    assert_true(product(call(&f, "reciprocal", a, 0), a) == 1);
    assert_true(call(&f, "pow", a, b) != call(&f, "pow", b, a));
    for (int i = 0; i < 2; ++i) {
        const char *name = i ? "min" : "max";
        assert_true(call(&f, name, a, b) == call(&f, name, b, a));
        assert_true(call(&f, name, a, a) == a);
        assert_true(call(&f, name, a, call(&f, name, b, c)) ==
                    call(&f, name, call(&f, name, c, a), b));
        /* not linear: max(a + b, 0) + max(c, 0) is not symmetric */
        assert_true(
            weft_residue_add(call(&f, name, weft_residue_add(a, b), 0), call(&f, name, c, 0)) !=
            weft_residue_add(call(&f, name, weft_residue_add(a, c), 0), call(&f, name, b, 0)));
    }
    assert_true(call(&f, "max", a, b) != call(&f, "min", a, b));
    weft_arena_free(&f.arena);
}

static void both_branches_count(void **state) {
    field f = field_open();
    (void)state;
    const weft_residue a = weft_residue_random(f.r), b = weft_residue_random(f.r),
                       c = weft_residue_random(f.r), less = weft_residue_less(f.r, a, b);
    assert_true(weft_residue_select(less, c, c) == c);
    assert_true(weft_residue_select(less, c, a) != weft_residue_select(less, c, b));
    assert_true(weft_residue_select(less, a, c) != weft_residue_select(less, b, c));
    assert_true(weft_residue_add(less, weft_residue_less(f.r, b, a)) != 1); /* equal numbers */
    assert_true(weft_residue_equal(f.r, a, b) == weft_residue_equal(f.r, b, a));
    weft_arena_free(&f.arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(sums_products_and_quotients),
                                       cmocka_unit_test(decimal_numbers_are_fractions),
                                       cmocka_unit_test(functions_keep_their_identities_alone),
                                       cmocka_unit_test(both_branches_count)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
