/* labels: full */
/* Multigrid and aggregation made, updated and applied with the n-th allocation failing. */
#include "allocation.h"
#include "preconditioner_support.h"

typedef struct kind_case {
    multigrid_case c;
    int kind;
    bool is_full; /* full multigrid too */
} kind_case;

static weft_status use(void *user, weft_error *error) {
    weft_status status = WEFT_OK;
    kind_case *k = user;
    multigrid_case *c = &k->c;
    TRY(weft_preconditioner_make(&c->context, k->kind, &c->problem, &c->preconditioner, error));
    TRY(weft_preconditioner_update(c->preconditioner, error));
    TRY(weft_preconditioner_apply(c->preconditioner, c->r, c->z, error));
    if (k->is_full) {
        weft_full_report report;
        TRY(weft_preconditioner_full(c->preconditioner, 1, c->r, c->z, &report, error));
        TRY(weft_preconditioner_lift(c->preconditioner, c->z, error));
    }
done:
    weft_preconditioner_free(&c->preconditioner);
    return status;
}

static void kinds(void **state) {
    (void)state;
    static const case_options cases[] = {
        {.d = 2, .n = 12, .times = 1, .components = 1, .kind = "multigrid", .device = "host:1"},
        {.d = 2, .n = 24, .times = 0, .components = 1, .kind = "aggregation", .device = "host:1"}};
    for (int i = 0; i < 2; ++i) {
        kind_case k;
        weft_error error = {0};
        multigrid_case_open(&k.c, &cases[i], WEFT_ASSEMBLY_CSR);
        check(weft_preconditioner_find(cases[i].kind, &k.kind, &error), &error);
        k.is_full = cases[i].times > 0;
        check(use(&k, &error), &error); /* compiles: then from the cache */
        test_every_allocation(cases[i].kind, use, &k);
        multigrid_case_free(&k.c);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(kinds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
