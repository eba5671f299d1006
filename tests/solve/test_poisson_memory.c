/* labels: full */
/* Memory a tetrahedron, peak and with the mesh itself: at most 300 bytes for lma, 100 for
 * matrix-free. Taken as the growth from one mesh to a larger one, so that what the process needs at
 * all does not count. */
#include "poisson_run.h"

#include <stdbool.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
static const bool sanitized = true;
#else
static const bool sanitized = false;
#endif

static double growth(const char *assembly) {
    json_t *small =
        POISSON(1, "--mesh", "cube:24", "--assembly", assembly, "--max-iterations", "5");
    json_t *large =
        POISSON(1, "--mesh", "cube:64", "--assembly", assembly, "--max-iterations", "5");
    double cells = 6 * (pow(64, 3) - pow(24, 3));
    double bytes = app_number(large, "bytes_peak") - app_number(small, "bytes_peak");
    json_decref(small);
    json_decref(large);
    return bytes / cells;
}

static void test_memory(void **state) {
    static const struct {
        const char *assembly;
        double bound;
    } cases[] = {{"lma", 300}, {"matrix-free", 100}};
    (void)state;
    if (sanitized)
        skip_test("sanitizers take memory of their own");
    for (int i = 0; i < 2; ++i) {
        double bytes = growth(cases[i].assembly);
        print_message("%s: %.0f bytes a tetrahedron\n", cases[i].assembly, bytes);
        assert_true(bytes > 16 && bytes <= cases[i].bound); /* 16: the cells alone */
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
