/* labels: full
 * solve with form files in mixed spaces: solutions in the space are found exactly, with a pressure that is fixed up to a
 * constant, whose mean becomes zero. The preconditioner by blocks takes as many iterations on fine meshes as on coarse ones,
 * for every viscosity, where Jacobi's takes twice as many on a mesh of half the size. */
#include "solve_run.h"

#include <unistd.h>

/* Of an exact solution: a residual of 1e-12 of the load times a condition number below 1e5. */
static const double EXACT = 1e-7;

static char file[64];

static int name_file(void **state) {
    (void)state;
    snprintf(file, sizeof file, "/tmp/weft-mixed-%ld.ufl", (long)getpid());
    return 0;
}

static int remove_file(void **state) {
    (void)state;
    return unlink(file);
}

static void put(const char *text) {
    FILE *stream = fopen(file, "w");
    assert_non_null(stream);
    fputs(text, stream);
    assert_int_equal(fclose(stream), 0);
}

static double component(const json_t *root, const char *key, int k) {
    const json_t *value = json_array_get(json_object_get(root, key), (size_t)k);
    assert_non_null(value);
    return json_number_value(value);
}

/* Taylor-Hood elements: u = (y^2, x^2), p = 2 x + 2 y - 2 without a body force. */
static void stokes(void **state) {
    (void)state;
    put("W = VectorElement('P', triangle, 2)*FiniteElement('P', triangle, 1)\n"
        "(u, p), (v, q) = TrialFunctions(W), TestFunctions(W)\n"
        "f = Constant(triangle)\n"
        "a = inner(grad(u), grad(v))*dx - p*div(v)*dx - q*div(u)*dx\n"
        "L = f*q*dx\n");
    json_t *a = SOLVE(0, file, "--mesh", "square:4", "--input", "f=0", "--dirichlet",
                      "boundary=y^2,x^2,free", "--exact", "y^2,x^2,2*x + 2*y - 2", "--tolerance",
                      "1e-12", "--device", "host:1:sse2");
    assert_string_equal(app_text(a, "method"), "minres");
    assert_int_equal(json_integer_value(json_object_get(a, "components")), 3);
    for (int k = 0; k < 3; ++k)
        assert_true(component(a, "l2_errors", k) < EXACT);
    assert_double_near(component(a, "integral_u", 0), 1.0 / 3, EXACT, 0);
    assert_true(fabs(component(a, "integral_u", 2)) < EXACT);
    json_decref(a);
}

/* Flow between plates, u = (y (1 - y), 0), p = (1 - 2 x)/20: a stationary solution of Navier and Stokes' equations
 * with viscosity 1/20 in which all terms but convection balance, and this vanishes. */
static void navier_stokes(void **state) {
    (void)state;
    put("V, Q = VectorElement('P', quadrilateral, 2), FiniteElement('P', quadrilateral, 1)\n"
        "W = V*Q\n"
        "w, nu = Coefficient(W), Constant(quadrilateral)\n"
        "(u, p), (v, q) = split(w), TestFunctions(W)\n"
        "F = nu*inner(grad(u), grad(v))*dx + inner(grad(u)*u, v)*dx - p*div(v)*dx - q*div(u)*dx\n"
        "unknown = w\n");
    json_t *a =
        SOLVE(0, file, "--mesh", "quads:3", "--nonlinear", "--input", "nu=1/20", "--dirichlet",
              "boundary=y*(1 - y),0,free", "--exact", "y*(1 - y),0*x,(1 - 2*x)/20", "--tolerance",
              "1e-11", "--device", "host:1:sse2");
    for (int k = 0; k < 3; ++k)
        assert_true(component(a, "l2_errors", k) < EXACT);
    json_decref(a);
}

/* What is printed of a mixed space. */
static void report(void **state) {
    (void)state;
    put("W = VectorElement('P', triangle, 2)*FiniteElement('P', triangle, 1)\n"
        "(u, p), (v, q) = TrialFunctions(W), TestFunctions(W)\n"
        "a = inner(grad(u), grad(v))*dx - p*div(v)*dx - q*div(u)*dx\n");
    const char *const command[] = {
        WEFT_BINARY_DIR "/solve", file, "--mesh", "square:2", "--dirichlet",
        "boundary=y,0,free",      NULL};
    test_run run = test_program(command, NULL);
    assert_int_equal(run.exit_code, 0);
    assert_non_null(strstr(run.output, "matrix K, vector none, 3 components in a mixed space\n"));
    test_run_free(&run);
}

/* A lid moves along itself, and nothing flows in or out but rounding; where it moves across, it does. */
static void what_is_prescribed(void **state) {
    (void)state;
    static const char *const lids[] = {"top=1,0,free", "top=x*(1-x),0,free", "top=0,1,free"};
    put("W = VectorElement('P', triangle, 2)*FiniteElement('P', triangle, 1)\n"
        "(u, p), (v, q), f = TrialFunctions(W), TestFunctions(W), Constant(triangle)\n"
        "a = inner(grad(u), grad(v))*dx - p*div(v)*dx - q*div(u)*dx\nL = f*v[0]*dx\n");
    for (int i = 0; i < 3; ++i) {
        const char *const command[] = {WEFT_BINARY_DIR "/solve",
                                       file,
                                       "--mesh",
                                       "square:8",
                                       "--input",
                                       "f=0",
                                       "--dirichlet",
                                       "boundary=0,0,free",
                                       "--dirichlet",
                                       lids[i],
                                       NULL};
        test_run run = test_program(command, NULL);
        assert_int_equal(run.exit_code, 0);
        assert_int_equal(strstr(run.error, "not compatible") != NULL, i == 2);
        test_run_free(&run);
    }
}

/* ---- the preconditioner by blocks -------------------------------------------------------- */

/* Iterations vary by a few with the mesh and with the width of vectors; 50 to 75 are seen. */
enum { MOST_ITERATIONS = 90 };

static json_t *solve_cavity(const char *mesh, const char *nu, const char *preconditioner) {
    char viscosity[32];
    snprintf(viscosity, sizeof viscosity, "nu=%s", nu);
    return SOLVE(0, file, "--mesh", mesh, "--input", viscosity, "--input", "f=0", "--dirichlet",
                 "boundary=0,0,free", "--dirichlet", "top=1,0,free", "--preconditioner",
                 preconditioner, "--device", "host:1:sse2");
}

static void cavity(void **state) {
    (void)state;
    static const char *const meshes[] = {"square:12", "square:24", "square:48"};
    static const char *const viscosities[] = {"1e-4", "1", "1e4"};
    put("W = VectorElement('P', triangle, 2)*FiniteElement('P', triangle, 1)\n"
        "(u, p), (v, q), nu = TrialFunctions(W), TestFunctions(W), Constant(triangle)\n"
        "a = nu*inner(grad(u), grad(v))*dx - p*div(v)*dx - q*div(u)*dx\n"
        "f = Constant(triangle)\n"
        "L = f*q*dx\n");
    for (int i = 0; i < 3; ++i)
        for (int k = 0; k < 3; ++k) {
            json_t *a = solve_cavity(meshes[i], viscosities[k], i == 0 ? "block" : "auto");
            assert_string_equal(app_text(a, "preconditioner"), "block");
            assert_string_equal(app_text(a, "preconditioner_reason"),
                                i == 0 ? "as requested" : "the space is mixed");
            assert_string_equal(app_text(a, "method"), "minres");
            assert_true(app_number(a, "iterations") < MOST_ITERATIONS);
            json_decref(a);
        }
    json_t *a = solve_cavity("square:24", "1", "block"),
           *b = solve_cavity("square:24", "1", "jacobi");
    assert_true(app_number(b, "iterations") > 10 * app_number(a, "iterations"));
    for (int k = 0; k < 3; ++k) /* tolerances of 1e-8 */
        assert_double_near(component(a, "integral_u", k), component(b, "integral_u", k), 0, 1e-6);
    json_decref(a);
    json_decref(b);
}

/* Viscosities that vary in space scale the Schur complement, from cell to cell too: 107 to 128 iterations are seen for waves and
 * jumps of four powers of ten, 74 for a constant. */
static void viscosity_in_space(void **state) {
    (void)state;
    static const char *const viscosities[] = {
        "nu=10^(2*sin(2*pi*x)*sin(2*pi*y))",
        "nu=select(min((x-0.3)^2 + (y-0.3)^2, (x-0.65)^2 + (y-0.65)^2) < 0.0324, 100, 0.01)"};
    static const char *const meshes[] = {"quads:16", "quads:32", "quads:64"};
    put("W = VectorElement('P', quadrilateral, 2)*FiniteElement('P', quadrilateral, 1)\n"
        "(u, p), (v, q), f = TrialFunctions(W), TestFunctions(W), Constant(quadrilateral)\n"
        "nu = Coefficient(FiniteElement('DG', quadrilateral, 0))\n"
        "a = 2*nu*inner(sym(grad(u)), sym(grad(v)))*dx - p*div(v)*dx - q*div(u)*dx\n"
        "L = f*v[1]*dx\n");
    for (int i = 0; i < 2; ++i)
        for (int k = 0; k < 3; ++k) {
            json_t *a = SOLVE(0, file, "--mesh", meshes[k], "--input", viscosities[i], "--input",
                              "f=1", "--dirichlet", "boundary=0,0,free", "--preconditioner",
                              "block", "--device", "host:1:sse2");
            assert_string_equal(app_text(a, "outcome"), "converged");
            assert_true(app_number(a, "iterations") < 1.7 * MOST_ITERATIONS);
            json_decref(a);
        }
}

/* MINI elements, whose bubbles are eliminated by cells: 70 to 75 iterations of MINRES and 33 of GMRES are seen, where
 * diagonals of the blocks take 256, 526 and 944. */
static void bubbles(void **state) {
    (void)state;
    static const char *const meshes[] = {"square:16", "square:32", "square:64"};
    for (int sign = -1; sign <= 1; sign += 2) {
        double least = INFINITY, most = 0;
        char text[512];
        snprintf(text, sizeof text,
                 "P1, B = FiniteElement('P', triangle, 1), FiniteElement('B', triangle, 3)\n"
                 "W = VectorElement(P1 + B)*P1\n"
                 "(u, p), (v, q), nu = TrialFunctions(W), TestFunctions(W), Constant(triangle)\n"
                 "a = nu*inner(grad(u), grad(v))*dx - p*div(v)*dx + (%d)*q*div(u)*dx\n"
                 "f = Constant(triangle)\n"
                 "L = f*q*dx\n",
                 sign);
        put(text);
        for (int i = 0; i < 3; ++i) {
            json_t *a = solve_cavity(meshes[i], "0.01", i == 0 ? "block" : "auto");
            assert_string_equal(app_text(a, "preconditioner"), "block");
            assert_string_equal(app_text(a, "method"), sign < 0 ? "minres" : "gmres");
            assert_non_null(strstr(app_text(json_object_get(a, "preconditioner_report"), "detail"),
                                   "u_1 by cells"));
            least = fmin(least, app_number(a, "iterations"));
            most = fmax(most, app_number(a, "iterations"));
            json_decref(a);
        }
        assert_true(most < MOST_ITERATIONS && most < 1.3 * least);
    }
    json_t *a = solve_cavity("square:16", "0.01", "block"),
           *b = solve_cavity("square:16", "0.01", "jacobi");
    for (int k = 0; k < 3; ++k) /* tolerances of 1e-8 */
        assert_double_near(component(a, "integral_u", k), component(b, "integral_u", k), 0, 1e-6);
    json_decref(a);
    json_decref(b);
}

/* Two functions coupled by derivatives, as in optimal control: 20 to 45 iterations of MINRES or GMRES are seen, where their Schur
 * complement took 404 on square:64. c = m = cos(pi x) up to the error of discretization, 1e-3 on square:32. */
static void coupled_functions(void **state) {
    (void)state;
    static const char *const meshes[] = {"square:32", "square:64", "square:128"};
    static const char *const betas[] = {"beta=1e-4", "beta=1"};
    for (int sign = -1; sign <= 1; sign += 2) {
        char text[512];
        snprintf(text, sizeof text,
                 "P1 = FiniteElement('P', triangle, 1)\n"
                 "W = P1*P1\n"
                 "(c, m), (q, v) = TrialFunctions(W), TestFunctions(W)\n"
                 "beta, f = Constant(triangle), Coefficient(P1)\n"
                 "a = (c*q + beta*inner(grad(m), grad(q)) + (%d)*(beta*inner(grad(c), grad(v)) - "
                 "m*v))*dx\n"
                 "L = ((1 + beta*pi**2)*q + (%d)*(beta*pi**2 - 1)*v)*f*dx\n",
                 -sign, -sign);
        put(text);
        for (int k = 0; k < 2; ++k) {
            double least = INFINITY, most = 0;
            for (int i = 0; i < 3; ++i) {
                json_t *a = SOLVE(0, file, "--mesh", meshes[i], "--input", betas[k], "--input",
                                  "f=cos(pi*x)", "--exact", "cos(pi*x),cos(pi*x)", "--device",
                                  "host:1:sse2");
                assert_string_equal(app_text(a, "preconditioner"), "block");
                assert_string_equal(app_text(a, "method"), sign < 0 ? "minres" : "gmres");
                for (int p = 0; p < 2; ++p)
                    assert_true(component(a, "l2_errors", p) < 5e-3);
                least = fmin(least, app_number(a, "iterations"));
                most = fmax(most, app_number(a, "iterations"));
                json_decref(a);
            }
            assert_true(most < 30 || (most < 65 && most < 1.3 * least)); /* of few, some more */
        }
    }
}

/* A step of an unsteady flow, from one that is almost stationary to one that is almost a projection. */
static void step_of_flow(void **state) {
    (void)state;
    static const char *const rates[] = {"s=10", "s=1e3", "s=1e5"};
    put("W = VectorElement('P', tetrahedron, 2)*FiniteElement('P', tetrahedron, 1)\n"
        "(u, p), (v, q), s = TrialFunctions(W), TestFunctions(W), Constant(tetrahedron)\n"
        "a = s*inner(u, v)*dx + inner(grad(u), grad(v))*dx - p*div(v)*dx - q*div(u)*dx\n"
        "f = Constant(tetrahedron)\n"
        "L = f*q*dx\n");
    for (int i = 0; i < 3; ++i) {
        json_t *a = SOLVE(0, file, "--mesh", "cube:6", "--input", rates[i], "--input", "f=0",
                          "--dirichlet", "boundary=0,0,0,free", "--dirichlet", "top=1,0,0,free",
                          "--device", "host:1:sse2");
        assert_string_equal(app_text(a, "preconditioner"), "block");
        assert_true(app_number(a, "iterations") < 1.5 * MOST_ITERATIONS);
        json_decref(a);
    }
}

/* The flux is constant in each cell and its block a mass matrix, so that the other's Schur complement is elliptic. */
static void mixed_poisson(void **state) {
    (void)state;
    double iterations[2];
    put("W = VectorElement('DG', triangle, 0)*FiniteElement('P', triangle, 1)\n"
        "(s, u), (t, v) = TrialFunctions(W), TestFunctions(W)\n"
        "f = Coefficient(FiniteElement('P', triangle, 2))\n"
        "a = inner(s, t)*dx - inner(grad(u), t)*dx - inner(s, grad(v))*dx\n"
        "L = -f*v*dx\n");
    for (int i = 0; i < 2; ++i) {
        json_t *a =
            SOLVE(0, file, "--mesh", i == 0 ? "square:32" : "square:64", "--input",
                  "f=2*pi^2*sin(pi*x)*sin(pi*y)", "--dirichlet", "boundary=free,free,0", "--exact",
                  "pi*cos(pi*x)*sin(pi*y),pi*sin(pi*x)*cos(pi*y),sin(pi*x)*sin(pi*y)", "--device",
                  "host:1:sse2");
        iterations[i] = app_number(a, "iterations");
        assert_true(component(a, "l2_errors", 2) < 3e-3);
        json_decref(a);
    }
    assert_true(iterations[0] < 40 && iterations[1] < 40);
}

/* Newton's tangents are not symmetric: blocks in a triangle, and GMRES. */
static void flow_at_reynolds_100(void **state) {
    (void)state;
    put("V, Q = VectorElement('P', triangle, 2), FiniteElement('P', triangle, 1)\n"
        "W = V*Q\n"
        "w, nu = Coefficient(W), Constant(triangle)\n"
        "(u, p), (v, q) = split(w), TestFunctions(W)\n"
        "F = nu*inner(grad(u), grad(v))*dx + inner(grad(u)*u, v)*dx - p*div(v)*dx - q*div(u)*dx\n"
        "unknown = w\n");
    json_t *a =
        SOLVE(0, file, "--mesh", "square:24", "--nonlinear", "--input", "nu=0.01", "--dirichlet",
              "boundary=0,0,free", "--dirichlet", "top=1,0,free", "--device", "host:1:sse2");
    const json_t *newton = json_object_get(a, "newton");
    assert_true(json_array_size(newton) >= 4);
    for (size_t i = 0; i + 1 < json_array_size(newton); ++i) {
        const json_t *step = json_array_get(newton, i);
        assert_string_equal(app_text(step, "method"), i == 0 ? "minres" : "gmres");
        assert_true(app_number(step, "cg_iterations") < 1.5 * MOST_ITERATIONS);
    }
    assert_non_null(strstr(app_text(json_object_get(a, "preconditioner_report"), "detail"),
                           "triangular: u_0 by aggregation"));
    json_decref(a);
}

/* Projections have nothing that multigrid would help, and small problems no use for it. */
static void where_blocks_are_no_use(void **state) {
    (void)state;
    put("W = VectorElement('P', triangle, 2)*FiniteElement('P', triangle, 1)\n"
        "(u, p), (v, q) = TrialFunctions(W), TestFunctions(W)\n"
        "a = inner(u, v)*dx + p*q*dx\n"
        "L = q*dx\n");
    json_t *a = SOLVE(0, file, "--mesh", "square:24"), *b = SOLVE(0, file, "--mesh", "square:4");
    assert_string_equal(app_text(a, "preconditioner"), "jacobi");
    assert_string_equal(app_text(a, "preconditioner_reason"),
                        "all parts of the matrix are like mass matrices");
    assert_string_equal(app_text(b, "preconditioner_reason"), "the mixed problem is small");
    json_decref(a);
    json_decref(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stokes),
        cmocka_unit_test(navier_stokes),
        cmocka_unit_test(report),
        cmocka_unit_test(what_is_prescribed),
        cmocka_unit_test(cavity),
        cmocka_unit_test(viscosity_in_space),
        cmocka_unit_test(bubbles),
        cmocka_unit_test(coupled_functions),
        cmocka_unit_test(step_of_flow),
        cmocka_unit_test(mixed_poisson),
        cmocka_unit_test(flow_at_reynolds_100),
        cmocka_unit_test(where_blocks_are_no_use),
    };
    return cmocka_run_group_tests(tests, name_file, remove_file);
}
