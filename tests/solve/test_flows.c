/* labels: full
 * Stationary flows by the preconditioners of saddle points with convection. Cavities take as many iterations of GMRES as numerical
 * experiments with exact solves in SciPy on the same elements (Q2-Q1, quads:16): least-squares commutator, Newton's tangents, at
 * Reynolds 10, 100 and 400: 13, 24 and 59; with Picard's linearisation 13, 19 and 38; augmented Lagrangian with the weight 10 over
 * the mass: 3 to 5. Solutions are those of a factorization of the whole, and of flows that are known.
 * Tolerances: a fifth more iterations, and 4 for another weight; solutions to 1e-6, from residuals of 1e-8. */
#include "external_support.h"
#include "solve_run.h"

#include <unistd.h>

static const double NEAR = 1e-6, EXACT = 1e-7;

static char file[64];

static int name_file(void **state) {
    (void)state;
    snprintf(file, sizeof file, "/tmp/weft-flows-%ld.ufl", (long)getpid());
    return 0;
}

static int remove_file(void **state) {
    (void)state;
    (void)unlink(file); /* skipped tests have made none */
    return 0;
}

/* Newton's tangents, or Picard's, which leave out the derivative of the velocity that carries. */
static void put_flow(const char *cell, bool is_picard) {
    FILE *stream = fopen(file, "w");
    assert_non_null(stream);
    fprintf(stream,
            "W = VectorElement('P', %s, 2)*FiniteElement('P', %s, 1)\n"
            "w, dw, nu = Coefficient(W), TrialFunction(W), Constant(%s)\n"
            "(u, p), (du, dp), (v, q) = split(w), split(dw), TestFunctions(W)\n"
            "F = (nu*inner(grad(u), grad(v)) + inner(grad(u)*u, v) - p*div(v) - q*div(u))*dx\n"
            "unknown = w\n",
            cell, cell, cell);
    if (is_picard)
        fputs("J = (nu*inner(grad(du), grad(v)) + inner(grad(du)*u, v) - dp*div(v) - "
              "q*div(du))*dx\n",
              stream);
    assert_int_equal(fclose(stream), 0);
}

static json_t *run_cavity(const char *mesh, int reynolds, const char *preconditioner,
                          const char *tolerance) {
    char viscosity[32];
    snprintf(viscosity, sizeof viscosity, "nu=1/%d", reynolds);
    return SOLVE(0, file, "--mesh", mesh, "--nonlinear", "--input", viscosity, "--dirichlet",
                 "boundary=0,0,free", "--dirichlet", "top=1,0,free", "--preconditioner",
                 preconditioner, "--restart", "100", "--newton-iterations", "60",
                 "--newton-tolerance", tolerance, "--device", "host:1:sse2");
}

/* The most iterations of tangents but the first, which is that of Stokes' equations. */
static double most_iterations(const json_t *root) {
    const json_t *newton = json_object_get(root, "newton");
    double most = 0;
    for (size_t i = 1; i + 1 < json_array_size(newton); ++i)
        most = fmax(most, app_number(json_array_get(newton, i), "cg_iterations"));
    return most;
}

static const char *detail_of(const json_t *root) {
    return app_text(json_object_get(root, "preconditioner_report"), "detail");
}

typedef struct cavity_case {
    int reynolds;
    bool is_picard;
    double commutator, augmented; /* iterations in SciPy */
} cavity_case;

static void cavities(void **state) {
    (void)state;
    static const cavity_case cases[] = {{10, false, 13, 5},  {100, false, 24, 5},
                                        {400, false, 59, 5}, {10, true, 13, 5},
                                        {100, true, 19, 5},  {400, true, 38, 5}};
    external_need(WEFT_EXTERNAL_UMFPACK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        const cavity_case *one = &cases[i];
        const char *tolerance = one->is_picard ? "1e-6" : "1e-10";
        put_flow("quadrilateral", one->is_picard);
        json_t *whole = run_cavity("quads:16", one->reynolds, "lu", tolerance);
        for (int k = 0; k < 2; ++k) {
            const double expected = k == 0 ? one->commutator : one->augmented;
            json_t *a = run_cavity("quads:16", one->reynolds, k == 0 ? "commutator" : "augmented",
                                   tolerance);
            assert_true(json_is_true(json_object_get(a, "newton_converged")));
            assert_true(most_iterations(a) <= 1.2 * expected + 4);
            for (size_t c = 0; c < 3; ++c)
                expect(app_component(a, "integral_u", c), app_component(whole, "integral_u", c),
                       one->is_picard ? 1e-5 : NEAR);
            json_decref(a);
        }
        json_decref(whole);
    }
}

/* Newton's method from rest at Reynolds 1000: a handful of iterations on both meshes. */
static void fast_cavity(void **state) {
    (void)state;
    external_need(WEFT_EXTERNAL_UMFPACK);
    put_flow("quadrilateral", false);
    json_t *a = run_cavity("quads:32", 1000, "block", "1e-10"),
           *b = run_cavity("quads:32", 1000, "lu", "1e-10");
    assert_true(json_is_true(json_object_get(a, "newton_converged")));
    assert_true(most_iterations(a) <= 9);
    assert_true(most_iterations(b) <= 3); /* not where rounding leaves the mass unbalanced */
    assert_non_null(
        strstr(detail_of(a), "u_0 by lu, u_1 (Schur complement) by its diagonal, augmented"));
    for (size_t c = 0; c < 3; ++c)
        expect(app_component(a, "integral_u", c), app_component(b, "integral_u", c), NEAR);
    json_decref(a);
    json_decref(b);
}

/* What block takes, by the convection, and that it is said. */
static void chosen(void **state) {
    (void)state;
    static const struct {
        int reynolds;
        const char *detail;
    } cases[] = {{100, "u_0 by aggregation, 3 levels, u_1 (Schur complement) by its diagonal"},
                 {300, "u_0 by lu, u_1 (Schur complement) by a commutator and lu"}};
    external_need(WEFT_EXTERNAL_UMFPACK);
    put_flow("quadrilateral", false);
    for (int i = 0; i < 2; ++i) {
        json_t *a = run_cavity("quads:16", cases[i].reynolds, "block", "1e-10");
        assert_non_null(strstr(detail_of(a), cases[i].detail));
        assert_non_null(strstr(detail_of(a), "times diffusion"));
        assert_true(most_iterations(a) < 100);
        json_decref(a);
    }
}

/* The commutator has longer cycles of GMRES than 30 iterations, with which it takes up to four times as many. */
static void restarts(void **state) {
    (void)state;
    external_need(WEFT_EXTERNAL_UMFPACK);
    put_flow("quadrilateral", false);
    json_t *a = SOLVE(0, file, "--mesh", "quads:16", "--nonlinear", "--input", "nu=1/400",
                      "--dirichlet", "boundary=0,0,free", "--dirichlet", "top=1,0,free",
                      "--preconditioner", "block", "--device", "host:1:sse2");
    assert_non_null(strstr(detail_of(a), "a commutator and lu"));
    assert_true(most_iterations(a) <= 1.2 * 59 + 4);
    json_decref(a);
}

/* Without a library the flow is solved all the same, with a warning of why it takes long. */
static void warned(void **state) {
    (void)state;
    static const char *const environment[] = {"WEFT_UMFPACK=none", "WEFT_MUMPS=none", NULL};
    const char *const command[] = {WEFT_BINARY_DIR "/solve",
                                   file,
                                   "--mesh",
                                   "quads:12",
                                   "--nonlinear",
                                   "--input",
                                   "nu=1/400",
                                   "--dirichlet",
                                   "boundary=0,0,free",
                                   "--dirichlet",
                                   "top=1,0,free",
                                   "--preconditioner",
                                   "block",
                                   "--restart",
                                   "200",
                                   NULL};
    put_flow("quadrilateral", false);
    test_run run = test_program(command, environment);
    assert_int_equal(run.exit_code, 0);
    const char *warning = strstr(run.error, "warning: convection across the domain is ");
    assert_non_null(warning);
    assert_non_null(strstr(warning, "is not taken: no library for lu is found. Try "
                                    "--preconditioner lu on the host, or --restart 200"));
    assert_null(strstr(warning + 1, "warning: ")); /* once */
    assert_null(strstr(run.output, "jacobi"));
    test_run_free(&run);
}

/* Flow between plates, in the space: u = (y (1 - y), 0), p = nu (1 - 2 x), with an open pressure; of triangles and of
 * tetrahedra, where it is u = (y (1 - y), 0, 0). */
static void exact(void **state) {
    (void)state;
    static const char *const kinds[] = {"block", "commutator", "augmented"};
    external_need(WEFT_EXTERNAL_UMFPACK);
    for (int i = 0; i < 6; ++i) {
        const bool in_space = i % 2;
        put_flow(in_space ? "tetrahedron" : "triangle", false);
        json_t *a = SOLVE(
            0, file, "--mesh", in_space ? "cube:3" : "square:8", "--nonlinear", "--input",
            "nu=1/100", "--dirichlet",
            in_space ? "boundary=y*(1 - y),0,0,free" : "boundary=y*(1 - y),0,free", "--exact",
            in_space ? "y*(1 - y),0*x,0*x,(1 - 2*x)/100" : "y*(1 - y),0*x,(1 - 2*x)/100",
            "--tolerance", "1e-11", "--preconditioner", kinds[i / 2], "--device", "host:1:sse2");
        for (size_t c = 0; c < (in_space ? 4 : 3); ++c)
            assert_true(app_component(a, "l2_errors", c) < EXACT);
        json_decref(a);
    }
}

/* Picard's iteration towards rest: the residual of every step is solved to a tolerance that is far below what rounding leaves of the
 * balance of mass, and neither stagnates nor ends with Jacobi's preconditioner. */
static void to_the_end(void **state) {
    (void)state;
    put_flow("quadrilateral", true);
    json_t *a = run_cavity("quads:16", 100, "block", "1e-10");
    assert_true(json_is_true(json_object_get(a, "newton_converged")));
    assert_true(json_array_size(json_object_get(a, "newton")) > 12);
    assert_true(most_iterations(a) < 100);
    json_decref(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cavities),   cmocka_unit_test(fast_cavity), cmocka_unit_test(chosen),
        cmocka_unit_test(restarts),   cmocka_unit_test(warned),      cmocka_unit_test(exact),
        cmocka_unit_test(to_the_end),
    };
    return cmocka_run_group_tests(tests, name_file, remove_file);
}
