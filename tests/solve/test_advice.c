/* labels: quick */
/* Where a solve takes many iterations because of anisotropy or jumps, the programs say so, and
 * nothing otherwise. */
#include "test_support.h"

#include <stdlib.h>
#include <string.h>

static char *errors_of(const char *const *arguments) {
    test_run run = test_program(arguments, NULL);
    assert_int_equal(run.exit_code, 0);
    char *error = strdup(run.error);
    test_run_free(&run);
    return error;
}

static char *anisotropic(const char *tensor, const char *preconditioner) {
    return errors_of((const char *const[]){WEFT_BINARY_DIR "/solve", "anisotropic.weft", "--mesh",
                                           "square:100", "--input", tensor, "--dirichlet",
                                           "boundary=0", "--assembly", "csr", "--preconditioner",
                                           preconditioner, NULL});
}

static void anisotropy(void **state) {
    (void)state;
    char *even = anisotropic("D=1,0,0,1", "jacobi"), *strong = anisotropic("D=1,0,0,100", "jacobi");
    assert_string_equal(even, "");
    assert_non_null(strstr(strong, " iterations are more than the usual 309: the coefficients or "
                                   "the cells are anisotropic (by a factor of 100 at half of the "
                                   "nodes); try --preconditioner aggregation, or hypre where it is "
                                   "installed\n"));
    free(even);
    free(strong);
    strong = anisotropic("D=1,0,0,100", "chebyshev");
    assert_non_null(strstr(strong, "anisotropic (by a factor of 100"));
    free(strong);
}

/* 1 or 1e4 in each pair of cells, as if at random. */
static void jumps(void **state) {
    (void)state;
    char *error = errors_of(
        (const char *const[]){WEFT_BINARY_DIR "/poisson", "--mesh", "square:100", "--diffusivity",
                              "select(sin(317*floor(100*x))*sin(411*floor(100*y)) > 0, 1, 1e4)",
                              "--assembly", "csr", NULL});
    assert_non_null(strstr(error, "the coefficients jump from cell to cell ("));
    assert_non_null(
        strstr(error, "try --preconditioner aggregation, or hypre where it is installed\n"));
    free(error);
    error = errors_of((const char *const[]){WEFT_BINARY_DIR "/poisson", "--mesh", "square:100",
                                            "--assembly", "csr", NULL});
    assert_string_equal(error, "");
    free(error);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(anisotropy), cmocka_unit_test(jumps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
