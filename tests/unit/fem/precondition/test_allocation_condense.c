/* labels: quick */
/* Static condensation with the n-th allocation failing. */
#include "allocation.h"
#include "condense_support.h"

static weft_status use(void *user, weft_error *error) {
    fixture *f = user;
    const weft_status status = condense(f, error);
    weft_condensation_clear(&f->condensation);
    return status;
}

static void allocations(void **state) {
    (void)state;
    fixture f;
    open_fixture(&f, 1);
    test_every_allocation("weft_condense", use, &f);
    close_fixture(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(allocations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
