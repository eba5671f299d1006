/* labels: full */
/* The preconditioner of mixed spaces made, updated and applied with the n-th allocation failing. */
#include "allocation.h"
#include "external_support.h"
#include "saddle_support.h"

static weft_status use(void *user, weft_error *error) {
    weft_status status = WEFT_OK;
    saddle *s = user;
    TRY(saddle_try(s, error));
    TRY(weft_preconditioner_update(s->preconditioner, error));
    TRY(weft_preconditioner_apply(s->preconditioner, s->r, s->z, error));
done:
    weft_preconditioner_free(&s->preconditioner);
    return status;
}

static void allocations(void **state) {
    (void)state;
    /* as many allocations as on 20 squares, but a smaller coarsest level, whose inversion takes most of the time; on 14 the
     * velocities have no coarser level */
    const saddle_options options = {.mass = 50, .stiffness = 1, .sign = -1, .n = 16};
    saddle s;
    weft_error error = {0};
    saddle_open(&s, &options);
    must(use(&s, &error), &error); /* compiles: then from the cache */
    test_every_allocation("block", use, &s);
    saddle_free(&s);
}

static void with_convection(void **state) {
    (void)state;
    static const char *const kinds[] = {"commutator", "augmented"};
    external_need(WEFT_EXTERNAL_UMFPACK);
    for (int i = 0; i < 2; ++i) {
        const saddle_options options = {.stiffness = 1,
                                        .convection = 50,
                                        .sign = -1,
                                        .n = 8,
                                        .holds_pressure = true,
                                        .kind = kinds[i]};
        saddle s;
        weft_error error = {0};
        saddle_open(&s, &options);
        must(use(&s, &error), &error);
        test_every_allocation(kinds[i], use, &s);
        saddle_free(&s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(allocations),
                                       cmocka_unit_test(with_convection)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
