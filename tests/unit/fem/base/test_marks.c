/* labels: quick */
/* Numbers of marks against a plain loop: lengths about those of words, marks of any value, none, all. */
#include "fem/base/marks.h"
#include "test_support.h"

#include <stdlib.h>
#include <string.h>

static void check(int64_t n, int every, int first) {
    unsigned char *marks = calloc((size_t)n + 1, 1);
    int32_t *out = malloc((size_t)(n + 1) * sizeof *out);
    int64_t count = 0;
    marks[n] = 1; /* not one of them */
    for (int64_t i = first; i < n && every > 0; i += every)
        marks[i] = (unsigned char)(1 + i % 255);
    for (int64_t i = 0; i < n; ++i)
        count += marks[i] != 0;
    out[count] = -5;
    assert_int_equal(weft_marks_count(marks, n), count);
    weft_marks_list(marks, n, out);
    for (int64_t i = 0, k = 0; i < n; ++i)
        if (marks[i])
            assert_int_equal(out[k++], i);
    assert_int_equal(out[count], -5);
    free(marks);
    free(out);
}

static void lists(void **state) {
    (void)state;
    for (int64_t n = 0; n < 40; ++n)
        for (int every = 0; every < 20; ++every)
            for (int first = 0; first < 9; ++first)
                check(n, every, first);
    check(100003, 977, 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(lists)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
