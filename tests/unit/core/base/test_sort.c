/* labels: quick */
/* Sorted numbers: ascending, and the same ones as before, for lists on both sides of the length from which
 * another algorithm sorts them. */
#include "core/base/sort.h"
#include "test_support.h"

#include <stdlib.h>

enum { MOST = 1000, VALUES = 97 };

static void check(size_t n, uint32_t step) {
    uint32_t numbers[MOST];
    int count[VALUES] = {0};
    for (size_t i = 0; i < n; ++i) {
        const uint32_t value = (uint32_t)i * step % VALUES;
        ++count[value];
        numbers[i] = value * (UINT32_MAX / VALUES); /* above 2^31 too */
    }
    weft_numbers_sort(numbers, n);
    for (size_t i = 0; i < n; ++i) {
        assert_true(i == 0 || numbers[i - 1] <= numbers[i]);
        --count[numbers[i] / (UINT32_MAX / VALUES)];
    }
    for (int i = 0; i < VALUES; ++i)
        assert_int_equal(count[i], 0);
}

static void lengths(void **state) {
    static const size_t n[] = {0, 1, 2, 3, 31, 127, 128, 129, MOST};
    (void)state;
    for (size_t i = 0; i < sizeof n / sizeof *n; ++i)
        for (uint32_t step = 1; step < VALUES; step += 19)
            check(n[i], step);
}

static int compare(const void *a, const void *b) {
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Against the C library's, with every number of bytes. */
static void long_lists(void **state) {
    (void)state;
    const size_t n = 100003;
    uint32_t *numbers = malloc(n * sizeof *numbers), *expected = malloc(n * sizeof *expected);
    for (int bits = 1; bits <= 32; bits += 3) {
        uint64_t random = 77;
        for (size_t i = 0; i < n; ++i) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            numbers[i] = expected[i] = (uint32_t)(random >> (64 - bits));
        }
        qsort(expected, n, sizeof *expected, compare);
        weft_numbers_sort(numbers, n);
        assert_memory_equal(numbers, expected, n * sizeof *numbers);
    }
    free(numbers);
    free(expected);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(lengths), cmocka_unit_test(long_lists)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
