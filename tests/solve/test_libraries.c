/* labels: full */
/* poisson and solve with the preconditioners of other libraries: few iterations, and the solution of Jacobi's.
 * All residuals are 1e-10, with condition numbers below 1e4; integrals agree to 1e-7. */
#include "external_support.h"
#include "solve_run.h"

static const char *const names[] = {"hypre", "petsc", "cholmod"};

static void solutions(void **state) {
    const weft_external_kind kind = *(const weft_external_kind *)*state;
    static const char *const problems[][4] = {
        {"square:40", "--dirichlet", "left=x+y", "--source=1"},
        {"cube:12", "--dirichlet", "bottom=1", "--diffusivity=1+x"},
        {"square:40", "--neumann", "boundary=0", "--source=x-0.5"}, /* the mean is projected */
    };
    external_need(kind);
    for (int i = 0; i < 3; ++i) {
        const char *const *p = problems[i];
        if (i == 2 && kind == WEFT_EXTERNAL_CHOLMOD)
            continue;
        json_t *jacobi = POISSON(0, "--mesh", p[0], p[1], p[2], p[3], "--tolerance=1e-10");
        json_t *library = POISSON(0, "--mesh", p[0], p[1], p[2], p[3], "--tolerance=1e-10",
                                  "--preconditioner", names[kind]);
        assert_string_equal("converged", app_text(library, "outcome"));
        assert_true(app_number(library, "iterations") <= 25);
        assert_true(2 * app_number(library, "iterations") < app_number(jacobi, "iterations"));
        assert_double_near(app_number(library, "integral_u"), app_number(jacobi, "integral_u"),
                           1e-7, 1e-9);
        json_decref(jacobi);
        json_decref(library);
    }
}

/* Newton's method sets the preconditioner up again in every step, for a solid that some nodes hold in
 * one component only. The solution of the stretched block is known (tests/solve/test_solids.c). */
static void newton(void **state) {
    const weft_external_kind kind = *(const weft_external_kind *)*state;
    const double strain = (1.5 * 1.5 - 1) / 2;
    char exact[64];
    external_need(kind);
    snprintf(exact, sizeof exact, "0.5*x,%.17g*y", sqrt(1 - 2 * strain / 3) - 1);
    json_t *result =
        SOLVE(0, "kirchhoff.weft", "--nonlinear", "--mesh", "square:12", "--define", "poisson=0.25",
              "--dirichlet", "left=0,free", "--dirichlet", "bottom=free,0", "--dirichlet",
              "right=0.5,free", "--exact", exact, "--tolerance", "1e-12", "--newton-tolerance",
              "1e-12", "--preconditioner", names[kind]);
    assert_true(app_number(result, "l2_error") < 1e-10);
    json_decref(result);
}

static void assert_message(const char *const *arguments, const char *variable,
                           const char *message) {
    const char *const environment[] = {variable, NULL};
    test_run run = test_program(arguments, environment);
    assert_int_equal(run.exit_code, 2);
    assert_string_equal(run.error, message);
    test_run_free(&run);
}

static void messages(void **state) {
    (void)state;
    static const char poisson[] = WEFT_BINARY_DIR "/poisson";
    assert_message(
        (const char *const[]){poisson, "--mesh=square:4", "--preconditioner=petsc", NULL},
        "WEFT_PETSC=libno_such.so",
        "poisson: error: PETSc is not found: libno_such.so: cannot open shared object file: No "
        "such "
        "file or directory\n"
        "hint: install it (libpetsc-real-dev in Debian and Ubuntu), or set WEFT_PETSC to a "
        "library\n");
    assert_message(
        (const char *const[]){poisson, "--mesh=square:4", "--preconditioner=hypre",
                              "--assembly=matrix-free", NULL},
        "WEFT_HYPRE=",
        "poisson: error: the preconditioner hypre needs a stored matrix, which this assembly "
        "lacks\n"
        "hint: use --assembly csr\n");
}

int main(void) {
    const char *sanitizer = getenv("ASAN_OPTIONS");
    char options[256];
    snprintf(options, sizeof options, "%s:%s", sanitizer ? sanitizer : "",
             __asan_default_options());
    setenv("ASAN_OPTIONS", options, 1); /* of the programs */
    static weft_external_kind hypre = WEFT_EXTERNAL_HYPRE, petsc = WEFT_EXTERNAL_PETSC,
                              cholmod = WEFT_EXTERNAL_CHOLMOD;
    const struct CMUnitTest tests[] = {
        {"solutions (hypre)", solutions, NULL, NULL, &hypre},
        {"solutions (petsc)", solutions, NULL, NULL, &petsc},
        {"solutions (cholmod)", solutions, NULL, NULL, &cholmod},
        {"newton (hypre)", newton, NULL, NULL, &hypre},
        {"newton (petsc)", newton, NULL, NULL, &petsc},
        {"newton (cholmod)", newton, NULL, NULL, &cholmod},
        cmocka_unit_test(messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
