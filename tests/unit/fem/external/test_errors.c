/* labels: quick */
/* What is refused before and by the libraries of others, and the exact messages. */
#include "external_support.h"

/* Two rows; entries row by row. */
typedef struct pair {
    weft_pattern pattern;
    int64_t row_start[3];
    int32_t columns[4];
    double values[4];
    weft_external_matrix matrix;
} pair;

static pair *pair_make(double a, double b, double c) {
    pair *p = calloc(1, sizeof *p);
    *p = (pair){.row_start = {0, 2, 4}, .columns = {0, 1, 0, 1}, .values = {a, b, b, c}};
    p->pattern = (weft_pattern){2, 4, p->row_start, p->columns};
    p->matrix = (weft_external_matrix){.pattern = &p->pattern, .values = p->values};
    return p;
}

static void assert_refused(weft_external_kind kind, const weft_external_matrix *matrix,
                           const weft_external_options *options, weft_status wanted,
                           const char *message, const char *hint) {
    weft_external *solver = NULL;
    weft_error error = {0};
    weft_status status = weft_external_make(kind, matrix, options, &solver, &error);
    assert_null(solver);
    assert_string_equal(error.message, message);
    assert_string_equal(error.hint, hint);
    assert_int_equal(status, wanted);
}

static void missing_libraries(void **state) {
    (void)state;
    static const struct {
        const char *variable, *message, *hint;
    } cases[] = {
        [WEFT_EXTERNAL_HYPRE] = {"WEFT_HYPRE",
                                 "hypre is not found: libno_such.so: cannot open shared object "
                                 "file: No such file or directory",
                                 "install it (libhypre-dev in Debian and Ubuntu), or set "
                                 "WEFT_HYPRE to a library"},
        [WEFT_EXTERNAL_PETSC] = {"WEFT_PETSC",
                                 "PETSc is not found: libno_such.so: cannot open shared object "
                                 "file: No such file or directory",
                                 "install it (libpetsc-real-dev in Debian and Ubuntu), or set "
                                 "WEFT_PETSC to a library"},
        [WEFT_EXTERNAL_CHOLMOD] = {"WEFT_CHOLMOD",
                                   "CHOLMOD is not found: libno_such.so: cannot open shared "
                                   "object file: No such file or directory",
                                   "install it (libcholmod3 in Debian 12, libcholmod5 "
                                   "in Debian 13 and Ubuntu 24.04), or set "
                                   "WEFT_CHOLMOD to a library"},
        [WEFT_EXTERNAL_UMFPACK] = {"WEFT_UMFPACK",
                                   "UMFPACK is not found: libno_such.so: cannot open shared "
                                   "object file: No such file or directory",
                                   "install it (libumfpack5 in Debian 12, libumfpack6 "
                                   "in Debian 13 and Ubuntu 24.04), or set "
                                   "WEFT_UMFPACK to a library"},
        [WEFT_EXTERNAL_MUMPS] = {"WEFT_MUMPS",
                                 "MUMPS is not found: libno_such.so: cannot open shared object "
                                 "file: No such file or directory",
                                 "install it (libmumps-seq-5.5 in Debian 12), or set WEFT_MUMPS to "
                                 "a library"},
        [WEFT_EXTERNAL_CUDSS] =
            {"WEFT_CUDSS",
             "cuDSS is not found: libno_such.so: cannot open shared object "
             "file: No such file or directory",
             "install it (pip install nvidia-cudss-cu13, or -cu12 with a driver "
             "for CUDA 12), or set WEFT_CUDSS to a library"},
    };
    enum { N = sizeof cases / sizeof *cases };
    pair *p = pair_make(2, -1, 2);
    const weft_external_options options = {.library = "libno_such.so"};
    assert_int_equal(weft_external_count(), N);
    for (int kind = 0; kind < N; ++kind) {
        const char *message = cases[kind].message, *hint = cases[kind].hint;
        assert_refused((weft_external_kind)kind, &p->matrix, &options, WEFT_ERROR_UNSUPPORTED,
                       message, hint);
        setenv(cases[kind].variable, "libno_such.so", 1);
        assert_refused((weft_external_kind)kind, &p->matrix, NULL, WEFT_ERROR_UNSUPPORTED, message,
                       hint);
        unsetenv(cases[kind].variable);
    }
    free(p);
}

static void other_libraries(void **state) {
    (void)state;
    pair *p = pair_make(2, -1, 2);
    const weft_external_options options = {.library = "libm.so.6"};
    assert_refused(WEFT_EXTERNAL_HYPRE, &p->matrix, &options, WEFT_ERROR_UNSUPPORTED,
                   "this hypre is not known: it has no function HYPRE_VersionNumber", "");
    assert_refused(WEFT_EXTERNAL_PETSC, &p->matrix, &options, WEFT_ERROR_UNSUPPORTED,
                   "this PETSc is not known: it has no function PetscGetVersionNumber", "");
    assert_refused(WEFT_EXTERNAL_CHOLMOD, &p->matrix, &options, WEFT_ERROR_UNSUPPORTED,
                   "this CHOLMOD is not known: it has no function cholmod_version", "");
    assert_refused(WEFT_EXTERNAL_UMFPACK, &p->matrix, &options, WEFT_ERROR_UNSUPPORTED,
                   "this UMFPACK is not known: it has no function umfpack_dl_defaults", "");
    assert_refused(WEFT_EXTERNAL_MUMPS, &p->matrix, &options, WEFT_ERROR_UNSUPPORTED,
                   "this MUMPS is not known: it has no function dmumps_c", "");
    free(p);
}

static void names(void **state) {
    (void)state;
    weft_external_kind kind = WEFT_EXTERNAL_HYPRE;
    weft_error error = {0};
    assert_int_equal(weft_external_find("cholmod", &kind, &error), WEFT_OK);
    assert_int_equal(kind, WEFT_EXTERNAL_CHOLMOD);
    assert_int_equal(weft_external_find("amgx", &kind, &error), WEFT_ERROR_USAGE);
    assert_string_equal(error.message, "there is no library \"amgx\"");
    assert_string_equal(error.hint, "choose hypre, petsc, cholmod, umfpack, mumps or cudss");
    pair *p = pair_make(2, -1, 2);
    assert_refused(WEFT_EXTERNAL_PETSC, &p->matrix, &(weft_external_options){.method = "lu"},
                   WEFT_ERROR_USAGE, "petsc has no method \"lu\"", "choose one of: gamg, icc, ilu");
    free(p);
}

/* Skips where no library is installed: the matrix is looked at after the library was opened. */
static void matrices(void **state) {
    const weft_external_kind kind = *(const weft_external_kind *)*state;
    pair *p = pair_make(2, -1, 2);
    weft_external *solver = external_make_with(kind, &p->matrix, NULL);
    weft_error error = {0};
    double r[] = {1, 4}, z[2];
    if (kind == WEFT_EXTERNAL_CHOLMOD) { /* [2 -1; -1 2] (2, 3) = (1, 4) */
        assert_int_equal(weft_external_apply(solver, r, z, &error), WEFT_OK);
        assert_double_near(z[0], 2, 1e-13, 0);
        assert_double_near(z[1], 3, 1e-13, 0);
    }
    p->values[1] = p->values[2] = NAN;
    assert_int_equal(weft_external_update(solver, p->values, &error), WEFT_ERROR_INPUT);
    assert_string_equal(error.message,
                        "the matrix has an entry that is not finite: row 0, column 1: nan");
    assert_refused(kind, &p->matrix, NULL, WEFT_ERROR_INPUT, error.message, "");
    weft_external_free(&solver);
    p->values[1] = p->values[2] = -1;
    p->values[3] = -2;
    assert_refused(kind, &p->matrix, NULL, WEFT_ERROR_INPUT,
                   "the matrix is not positive definite: its diagonal entry of row 1 is -2", "");
    p->values[3] = 2;
    p->values[2] = -1.001;
    assert_refused(kind, &p->matrix, NULL, WEFT_ERROR_UNSUPPORTED,
                   "the matrix is not symmetric: row 1, column 0", "");
    const int32_t all[] = {0, 1};
    p->matrix.constrained = all;
    p->matrix.n_constrained = 2;
    assert_refused(kind, &p->matrix, NULL, WEFT_ERROR_INPUT, "the matrix has no free dof", "");
    free(p);
}

/* [1 2; 2 1] has the eigenvalues 3 and -1. */
static void indefinite(void **state) {
    (void)state;
    pair *p = pair_make(2, -1, 2);
    weft_external *solver = external_make_with(WEFT_EXTERNAL_CHOLMOD, &p->matrix, NULL);
    weft_error error = {0};
    const double values[] = {1, 2, 2, 1};
    static const char message[] =
        "the matrix is not positive definite: CHOLMOD's pivot 2 of 2 is not positive";
    assert_int_equal(weft_external_update(solver, values, &error), WEFT_ERROR_INPUT);
    assert_string_equal(error.message, message);
    assert_int_equal(weft_external_update(solver, p->values, &error), WEFT_OK);
    memcpy(p->values, values, sizeof values);
    assert_refused(WEFT_EXTERNAL_CHOLMOD, &p->matrix, NULL, WEFT_ERROR_INPUT, message, "");
    weft_external_free(&solver);
    free(p);
}

/* CG of the libraries on an indefinite matrix of 20 rows ends, and does not say that it converged.
 * (-1, 0.5, -1) has eigenvalues 0.5 - 2 cos(k pi / 21). */
static void indefinite_iterations(void **state) {
    const weft_external_kind kind = *(const weft_external_kind *)*state;
    enum { N = 20 };
    int64_t row_start[N + 1] = {0};
    int32_t columns[3 * N];
    double values[3 * N], b[N], x[N] = {0};
    int at = 0;
    for (int i = 0; i < N; ++i) {
        for (int j = i > 0 ? i - 1 : 0; j <= i + 1 && j < N; ++j) {
            columns[at] = j;
            values[at++] = i == j ? 0.5 : -1;
        }
        row_start[i + 1] = at;
        b[i] = 1 + i % 3;
    }
    const weft_pattern pattern = {N, at, row_start, columns};
    const weft_external_matrix matrix = {.pattern = &pattern, .values = values};
    weft_external *solver =
        external_make_with(kind, &matrix, kind == WEFT_EXTERNAL_PETSC ? "icc" : NULL);
    weft_external_result result = {0};
    weft_error error = {0};
    if (weft_external_solve(solver, values, b, x, 1e-10, 5, &result, &error) == WEFT_OK)
        assert_true(!result.converged || result.residual <= 1e-9);
    else
        assert_int_equal(error.status, WEFT_ERROR_INTERNAL);
    weft_external_free(&solver);
}

static void singular(void **state) {
    (void)state;
    pair *p = pair_make(1, -1, 1);
    p->matrix.is_singular = true;
    p->matrix.components = 2;
    assert_refused(WEFT_EXTERNAL_HYPRE, &p->matrix, NULL, WEFT_ERROR_UNSUPPORTED,
                   "hypre cannot be used for a singular matrix of several components: no value is "
                   "prescribed anywhere",
                   "prescribe a value somewhere, or use another solver");
    free(p);
}

/* [0 1 0; 1 0 0; 0 0 d] is regular, unless d is zero or rounding; its units do not matter. */
static void any_sign(void **state) {
    const weft_external_kind kind = *(const weft_external_kind *)*state;
    char message[80];
    int64_t row_start[] = {0, 2, 4, 5};
    int32_t columns[] = {0, 1, 0, 1, 2};
    double values[] = {0, 1, 1e9, 0, -1e-9};
    const weft_pattern pattern = {3, 5, row_start, columns};
    const weft_external_matrix matrix = {.pattern = &pattern, .values = values};
    weft_external *solver = external_make_with(kind, &matrix, NULL);
    weft_error error = {0};
    double r[] = {1, 2e9, 3e-9}, z[3];
    assert_int_equal(weft_external_apply(solver, r, z, &error), WEFT_OK);
    assert_double_near(z[0], 2, 1e-12, 0);
    assert_double_near(z[1], 1, 1e-12, 0);
    assert_double_near(z[2], -3, 1e-12, 0);
    values[4] = 0;
    assert_int_equal(weft_external_update(solver, values, &error), WEFT_ERROR_INPUT);
    snprintf(message, sizeof message, "the matrix is singular, as %s found",
             kind == WEFT_EXTERNAL_MUMPS ? "MUMPS" : "UMFPACK");
    assert_string_equal(error.message, message);
    weft_external_free(&solver);
}

/* [1 -1+d; -1 1], whose determinant is d. */
static void singular_by_rounding(void **state) {
    (void)state;
    pair *p = pair_make(1, -1, 1);
    p->values[1] += 1e-8;
    weft_external *solver = external_make_with(WEFT_EXTERNAL_UMFPACK, &p->matrix, NULL);
    weft_external_free(&solver);
    p->values[1] = -1 + 4e-16;
    assert_refused(WEFT_EXTERNAL_UMFPACK, &p->matrix, NULL, WEFT_ERROR_INPUT,
                   "the matrix is singular, as UMFPACK found",
                   "fix u in more places, or look for coefficients that are 0");
    free(p);
}

int main(void) {
    static weft_external_kind hypre = WEFT_EXTERNAL_HYPRE, petsc = WEFT_EXTERNAL_PETSC,
                              cholmod = WEFT_EXTERNAL_CHOLMOD, umfpack = WEFT_EXTERNAL_UMFPACK,
                              mumps = WEFT_EXTERNAL_MUMPS;
#define CASE(function, library)                                                                    \
    { #function " (" #library ")", function, NULL, NULL, &library }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(missing_libraries),
        cmocka_unit_test(other_libraries),
        cmocka_unit_test(names),
        CASE(matrices, hypre),
        CASE(matrices, petsc),
        CASE(matrices, cholmod),
        cmocka_unit_test(indefinite),
        CASE(indefinite_iterations, hypre),
        CASE(indefinite_iterations, petsc),
        cmocka_unit_test(singular),
        CASE(any_sign, umfpack),
        CASE(any_sign, mumps),
        cmocka_unit_test(singular_by_rounding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
