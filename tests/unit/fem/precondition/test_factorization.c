/* labels: quick */
/* What a factorization is predicted to cost, against UMFPACK's own figures of its symmetric strategy with METIS. */
#include "fem/weft_preconditioner.h"
#include "test_support.h"

/* Nodes without those of Dirichlet conditions, which are few. MB: UMFPACK_PEAK_MEMORY. */
static void memory(void **state) {
    (void)state;
    static const struct {
        int dimension, components;
        int64_t n_nodes;
        double megabytes;
    } cases[] = {
        {2, 1, 4160, 3.03},  /* degree 1, square:64 */
        {2, 1, 62750, 57.1}, /* degree 1, square:250 */
        {2, 1, 40200, 37.3}, /* degree 2, square:100 */
        {2, 1, 14520, 14.0}, /* degree 3, square:40 */
        {3, 1, 2028, 3.91},  /* degree 1, cube:12 */
        {3, 1, 15000, 60.8}, /* degree 1, cube:24 */
        {3, 1, 8820, 33.3},  /* degree 2, cube:10 */
        {2, 3, 12331, 63.7}, /* Taylor and Hood, square:64 */
        {3, 4, 3446, 119},   /* Taylor and Hood, cube:8 */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        const weft_factorization_cost cost =
            weft_factorization_predict(cases[i].dimension, cases[i].n_nodes, cases[i].components);
        assert_true(cost.bytes * 1e-6 < 2 * cases[i].megabytes);
        assert_true(2 * cost.bytes * 1e-6 > cases[i].megabytes);
        assert_true(cost.seconds > cost.solution_seconds && cost.solution_seconds > 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
