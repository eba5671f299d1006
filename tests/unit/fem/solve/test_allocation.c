/* labels: quick */
/* Conjugate gradients in one kernel, made with the n-th allocation failing. */
#include "allocation.h"
#include "core/weft_core.h"
#include "fem/operator/operator.h"
#include "fem/solve/persistent.h"
#include "fem/weft_fem.h"
#include "test_support.h"

#include <stdlib.h>

typedef struct fixture {
    weft_context context;
    weft_pattern pattern;
    weft_memory *entries, *vector;
} fixture;

static weft_status use_persistent(void *user, weft_error *error) {
    weft_status status = WEFT_OK;
    fixture *f = user;
    weft_persistent *persistent = NULL;
    char reason[200] = "";
    TRY(weft_persistent_make(&f->context, &f->pattern, true, &persistent, reason, sizeof reason,
                             error));
    TRY(weft_persistent_load(persistent, f->entries, f->vector, error));
done:
    weft_persistent_free(&persistent);
    return status;
}

static void making(void **state) {
    (void)state;
    enum { N = 500 };
    weft_error error = {0};
    fixture f = {.pattern = {.n_rows = N}};
    f.pattern.row_start = calloc(N + 1, sizeof *f.pattern.row_start);
    f.pattern.columns = calloc(3 * N, sizeof *f.pattern.columns);
    for (int i = 0; i < N; ++i) {
        for (int j = i > 0 ? i - 1 : 0; j <= i + 1 && j < N; ++j)
            f.pattern.columns[f.pattern.n_entries++] = j;
        f.pattern.row_start[i + 1] = f.pattern.n_entries;
    }
    assert_int_equal(weft_device_open("null:h200", NULL, &f.context.device, &error), WEFT_OK);
    assert_int_equal(weft_memory_make(f.context.device, 3 * N * sizeof(double), &f.entries, &error),
                     WEFT_OK);
    assert_int_equal(weft_memory_make(f.context.device, N * sizeof(double), &f.vector, &error),
                     WEFT_OK);
    test_every_allocation("persistent", use_persistent, &f);
    weft_memory_free(&f.entries);
    weft_memory_free(&f.vector);
    weft_device_free(&f.context.device);
    free(f.pattern.row_start);
    free(f.pattern.columns);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(making)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
