/* labels: quick */
/* Solvers of CHOLMOD, UMFPACK and MUMPS, made and updated with the n-th allocation of Weft failing. */
#include "allocation.h"
#include "external_support.h"

static weft_external_kind kind;

static weft_status use(void *user, weft_error *error) {
    weft_status status = WEFT_OK;
    problem *p = user;
    weft_external *solver = NULL;
    double *z = p->b;
    TRY(weft_external_make(kind, &p->matrix, NULL, &solver, error));
    TRY(weft_external_update(solver, p->matrix.values, error));
    TRY(weft_external_apply(solver, z, z, error));
done:
    weft_external_free(&solver);
    return status;
}

static void making(void **state) {
    kind = *(const weft_external_kind *)*state;
    problem *p = problem_make("elasticity.weft", 2, 4);
    problem_constrain(p, "left", 0);
    for (int64_t i = 0; i < p->n; ++i) /* against the shift along the side */
        for (int64_t e = p->matrix.pattern->row_start[i]; e < p->matrix.pattern->row_start[i + 1];
             ++e)
            if (p->matrix.pattern->columns[e] == i)
                ((double *)weft_memory_host(weft_operator_values(p->op)))[e] += 1;
    weft_external *solver = external_make_with(kind, &p->matrix, NULL);
    weft_external_free(&solver);
    test_every_allocation("external", use, p);
    problem_free(&p);
}

int main(void) {
    static weft_external_kind cholmod = WEFT_EXTERNAL_CHOLMOD, umfpack = WEFT_EXTERNAL_UMFPACK,
                              mumps = WEFT_EXTERNAL_MUMPS;
    const struct CMUnitTest tests[] = {{"making (cholmod)", making, NULL, NULL, &cholmod},
                                       {"making (umfpack)", making, NULL, NULL, &umfpack},
                                       {"making (mumps)", making, NULL, NULL, &mumps}};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
