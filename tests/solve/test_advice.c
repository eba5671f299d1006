/* labels: quick */
/* Where a solve takes many iterations because of anisotropy or jumps, the programs say so, and
 * nothing otherwise. */
#include "core/weft_core.h"
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

/* Usual: 3.2 for each of the 100 edges along a side, and 1. */
static void anisotropy(void **state) {
    (void)state;
    char *even = anisotropic("D=1,0,0,1", "jacobi"), *strong = anisotropic("D=1,0,0,100", "jacobi");
    assert_string_equal(even, "");
    assert_non_null(strstr(strong, " iterations are more than the usual 321: the coefficients or "
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

static char *write_text(const char *folder, const char *name, const char *text) {
    char *path = test_path(folder, name);
    test_text_write(path, text);
    return path;
}

/* A beam 1000 times as long as thick: more iterations are no use, and no cell is to blame. */
static void slender_bodies(void **state) {
    (void)state;
    static const char *const preconditioners[] = {"jacobi", "aggregation"};
    char *folder = test_folder_make();
    char *form = write_text(folder, "beam.ufl",
                            "V = VectorElement('P', triangle, 2)\n"
                            "u, v = TrialFunction(V), TestFunction(V)\n"
                            "T = Constant(triangle)\n"
                            "a = 2e11*inner(sym(grad(u)), sym(grad(v)))*dx\nL = T*v[1]*ds(2)\n");
    weft_text mesh = {0};
    enum { N = 32 };
    weft_text_add(
        &mesh,
        "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n3\n1 1 \"left\"\n1 2 \"right\"\n"
        "2 3 \"body\"\n$EndPhysicalNames\n$Nodes\n%d\n",
        2 * (N + 1));
    for (int i = 0; i < 2 * (N + 1); ++i)
        weft_text_add(&mesh, "%d %.17g %g 0\n", i + 1, (double)(i / 2) / N, i % 2 ? 0.001 : 0);
    weft_text_add(&mesh, "$EndNodes\n$Elements\n%d\n1 1 2 1 1 1 2\n2 1 2 2 2 %d %d\n", 2 * N + 2,
                  2 * N + 1, 2 * N + 2);
    for (int i = 0; i < 2 * N; ++i)
        weft_text_add(&mesh, "%d 2 2 3 3 %d %d %d\n", i + 3, i / 2 * 2 + 1,
                      i / 2 * 2 + (i % 2 ? 4 : 3), i / 2 * 2 + (i % 2 ? 2 : 4));
    weft_text_add(&mesh, "$EndElements\n");
    assert_false(mesh.failed);
    char *path = write_text(folder, "beam.msh", mesh.data);
    for (int i = 0; i < 2; ++i) {
        test_run run = test_program(
            (const char *const[]){WEFT_BINARY_DIR "/solve", form, "--mesh", path, "--input", "T=-1",
                                  "--measure", "ds(2)=right", "--dirichlet", "left=0,0",
                                  "--preconditioner", preconditioners[i], NULL},
            NULL);
        assert_int_equal(run.exit_code, 1);
        assert_non_null(strstr(run.error, "try --preconditioner cholmod"));
        assert_null(strstr(run.error, "raise --max-iterations"));
        assert_null(strstr(run.error, "anisotropic"));
        assert_null(strstr(run.error, "fix u in more places"));
        test_run_free(&run);
    }
    weft_text_free(&mesh);
    free(path);
    free(form);
    test_folder_remove(&folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(anisotropy), cmocka_unit_test(jumps),
                                       cmocka_unit_test(slender_bodies)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
