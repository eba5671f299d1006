/* labels: full */
/* Newton's method on problems that it overshoots: a radiating plate in SI units, the p-Laplacian, the equation of Bratu, in any units, from
 * any start, in load steps and in time. Values are those of scikit-fem 12.0.2 on the same meshes with a line search on the energy
 * (P1 is exact for |grad u|^p; P2 and exp with rules of degree 8 to 12), solved to 1e-12 as here; a plate of small k has
 * s u^4 = f away from the boundary. Two programs agree to 1e-8 of a value. */
#include "solve_run.h"

#include <stdio.h>
#include <stdlib.h>

static const double SAME = 1e-8;

/* -div k grad u + s u^4 = f, in time with a mass of 1 */
static const char plate[] = "parameter d = 2, degree = 5;\n"
                            "index cells, nodes;\n"
                            "connectivity dofs : cells -> nodes[d + 1];\n"
                            "input x : real[d] over nodes;\n"
                            "input u : real over nodes;\n"
                            "expression k(x, y, z) = 1;\n"
                            "expression s(x, y, z) = 5.67e-8;\n"
                            "expression f(x, y, z) = 1000;\n"
                            "X = x[dofs];\n"
                            "U = u[dofs];\n"
                            "J = jacobian(X);\n"
                            "P = quadrature_points(X, degree = degree);\n"
                            "w = interpolate(U, degree = degree);\n"
                            "mk = quadrature_mean(k(P), d = d, degree = degree);\n"
                            "L = mk*dshape_dot_dshape(tform_dshape(J), J);\n"
                            "K = L + quadrature_shape_shape(4*s(P)*w*w*w, J, degree = degree);\n"
                            "r[dofs] += mvmul(L, U) + quadrature_load(s(P)*w*w*w*w - f(P), J, "
                            "degree = degree);\n"
                            "M = shape_shape(J);\n";

#define HEAD(degree)                                                                               \
    "element = FiniteElement('P', triangle, " degree ")\n"                                         \
    "u, v = Coefficient(element), TestFunction(element)\n"

/* |grad u|^(p - 2) grad u of degree p - 1 in grad u, which a rule of degree 8 integrates exactly in P2 for p = 4, 6, 8 */
#define P_LAPLACE                                                                                  \
    "eps, p, f = Constant(triangle), Constant(triangle), Constant(triangle)\n"                     \
    "F = (eps**2 + inner(grad(u), grad(u)))**((p - 2)/2)*inner(grad(u), grad(v))*dx(degree=8) - "  \
    "f*v*dx\n"

static const char bratu[] =
    HEAD("1") "lam = Constant(triangle)\n"
              "F = inner(grad(u), grad(v))*dx - lam*exp(u)*v*dx(degree=10)\n";

static char *folder;

static char *write_problem(const char *name, const char *text) {
    char *path = test_path(folder, name);
    test_text_write(path, text);
    return path;
}

static int make_folder(void **state) {
    folder = test_folder_make();
    (void)state;
    return 0;
}

static int remove_folder(void **state) {
    (void)state;
    test_folder_remove(&folder);
    return 0;
}

static void expect_relative(double found, double wanted) {
    expect(found, wanted, SAME * fabs(wanted));
}

/* Of a component of u. */
static double integral(const json_t *root, size_t k) {
    return app_component(root, "integral_u", k);
}

static size_t iterations(const json_t *root) {
    return json_array_size(json_object_get(root, "newton")) - 1;
}

/* ---- steps that end far away ------------------------------------------------------------------- */

static void radiating_plates(void **state) {
    static const struct {
        const char *k;
        double centre;
    } cases[] = {{"k=1", 350.84371759883805},    {"k=0.1", 364.17809450486936},
                 {"k=0.01", 364.3987740861875},  {"k=1e-3", 364.17889319406294},
                 {"k=1e-5", 364.11494625428736}, {"k=1e-8", 364.11422674111}};
    char *path = write_problem("plate.weft", plate);
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        json_t *root = SOLVE(0, path, "--nonlinear", "--mesh", "square:8", "--define", cases[i].k,
                             "--dirichlet", "left=300", "--probe", "0.5,0.5");
        expect_relative(app_probe_value(root, 0), cases[i].centre);
        assert_string_equal(app_text(root, "newton_outcome"), "converged");
        json_decref(root);
    }
    json_t *root = SOLVE(0, path, "--nonlinear", "--mesh", "square:64", "--define", "k=1e-3",
                         "--dirichlet", "left=300", "--probe", "0.5,0.5");
    expect(app_probe_value(root, 0), pow(1000 / 5.67e-8, 0.25), 1e-5);
    json_decref(root);
    free(path);
}

static void p_laplacians(void **state) {
    static const struct {
        const char *script, *p, *mesh;
        double integral;
    } cases[] = {{HEAD("1") P_LAPLACE, "p=1.5", "square:8", 0.007026821325003534},
                 {HEAD("1") P_LAPLACE, "p=2", "square:8", 0.03342303107766543},
                 {HEAD("1") P_LAPLACE, "p=3", "square:8", 0.07360085186787738},
                 {HEAD("1") P_LAPLACE, "p=4", "square:8", 0.09568294651690343},
                 {HEAD("1") P_LAPLACE, "p=6", "square:8", 0.11775517637019964},
                 {HEAD("1") P_LAPLACE, "p=8", "square:8", 0.12854409774056752},
                 {HEAD("2") P_LAPLACE, "p=4", "square:32", 0.0995086288332107},
                 {HEAD("2") P_LAPLACE, "p=6", "square:8", 0.12229313449121938},
                 {HEAD("2") P_LAPLACE, "p=8", "square:8", 0.13350413133219693}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        char *path = write_problem("p_laplace.ufl", cases[i].script);
        json_t *root = SOLVE(0, path, "--nonlinear", "--mesh", cases[i].mesh, "--dirichlet",
                             "boundary=0", "--input", "eps=1e-3", "--input", cases[i].p, "--input",
                             "f=1", "--tolerance", "1e-12");
        expect_relative(integral(root, 0), cases[i].integral);
        json_decref(root);
        free(path);
    }
}

/* Beyond 6.81 there is no solution, and the iteration says so. */
static void bratu_equations(void **state) {
    char *path = write_problem("bratu.ufl", bratu);
    (void)state;
    json_t *root = SOLVE(0, path, "--nonlinear", "--mesh", "square:8", "--dirichlet", "boundary=0",
                         "--input", "lam=1");
    expect_relative(integral(root, 0), 0.03512546197113288);
    json_decref(root);
    root = SOLVE(0, path, "--nonlinear", "--mesh", "square:8", "--dirichlet", "boundary=0",
                 "--input", "lam=6");
    expect_relative(integral(root, 0), 0.32344951741930794);
    json_decref(root);
    root = SOLVE(1, path, "--nonlinear", "--mesh", "square:8", "--dirichlet", "boundary=0",
                 "--input", "lam=7.5");
    assert_false(json_is_true(json_object_get(root, "newton_converged")));
    assert_string_not_equal(app_text(root, "newton_outcome"), "converged");
    json_decref(root);
    free(path);
}

/* ---- units --------------------------------------------------------------------------------------- */

/* u in units of 1/a, and the equation in units of 1/c: k = c k, s = c s/a^3, f = c f a. The same iterations give the same. */
static void units_change_nothing(void **state) {
    static const double units[][2] = {{1, 1},        {1e-6, 1},     {1e6, 1},
                                      {1, 1e-6},     {1, 1e6},      {1e6, 1e6},
                                      {1e-40, 1e40}, {1e40, 1e-40}, {1, 1e-170}};
    char *path = write_problem("plate.weft", plate), k[40], s[40], f[40], left[40];
    size_t n = 0;
    (void)state;
    for (size_t i = 0; i < sizeof units / sizeof *units; ++i) {
        const double a = units[i][0], c = units[i][1];
        snprintf(k, sizeof k, "k=%.17g", 1e-3 * c);
        snprintf(s, sizeof s, "s=%.17g", 5.67e-8 / a / a / a * c);
        snprintf(f, sizeof f, "f=%.17g", 1000 * a * c);
        snprintf(left, sizeof left, "left=%.17g", 300 * a);
        json_t *root =
            SOLVE(0, path, "--nonlinear", "--mesh", "square:8", "--define", k, "--define", s,
                  "--define", f, "--dirichlet", left, "--probe", "0.5,0.5");
        expect_relative(app_probe_value(root, 0) / a, 364.17889319406294);
        n = i == 0 ? iterations(root) : n;
        assert_int_equal(iterations(root), n);
        json_decref(root);
    }
    free(path);
}

/* ---- the start ----------------------------------------------------------------------------------- */

static void starts(void **state) {
    static const char *const starts[] = {"1e5", "1", "364", "100*x"};
    char *path = write_problem("plate.weft", plate);
    (void)state;
    for (size_t i = 0; i < sizeof starts / sizeof *starts; ++i) {
        json_t *root =
            SOLVE(0, path, "--nonlinear", "--mesh", "square:8", "--define", "k=1e-3", "--dirichlet",
                  "left=300", "--probe", "0.5,0.5", "--initial", starts[i]);
        expect_relative(app_probe_value(root, 0), 364.17889319406294);
        json_decref(root);
    }
    free(path);
}

/* u^2 = 2 has two solutions, and 3 (q - u) = 0 another in a mixed space: the start of each component chooses. */
static void starts_of_components(void **state) {
    static const char text[] =
        "W = FiniteElement('P', triangle, 2)*FiniteElement('P', triangle, 1)\n"
        "w = Coefficient(W)\nu, p = split(w)\nv, q = TestFunctions(W)\n"
        "F = (u**2 - 2)*v*dx + (p**2 - 3)*q*dx\nunknown = w\n";
    static const struct {
        const char *initial;
        double u, p;
    } cases[] = {{"1,2", 1, 1}, {"-1,2", -1, 1}, {"1+x,-1-y", 1, -1}};
    char *path = write_problem("signs.ufl", text);
    (void)state;
    for (size_t i = 0; i < 3; ++i) {
        json_t *root = SOLVE(0, path, "--nonlinear", "--mesh", "square:4", "--dirichlet",
                             "boundary=free,free", "--initial", cases[i].initial);
        expect(integral(root, 0), cases[i].u * sqrt(2), SAME);
        expect(integral(root, 1), cases[i].p * sqrt(3), SAME);
        json_decref(root);
    }
    free(path);
}

/* The plate beside a membrane with a load of `big`, in a mixed space: they have nothing to do with each other, and the
 * residual of the plate is not seen beside that of the membrane, whose solution is a load of 1 times `big`. */
static void functions_of_other_sizes(void **state) {
    static const char text[] =
        "W = FiniteElement('P', triangle, 1)*FiniteElement('P', triangle, 1)\nw = Coefficient(W)\n"
        "u, p = split(w)\nv, q = TestFunctions(W)\nbig = Constant(triangle)\n"
        "F = (inner(grad(u), grad(v)) - big*v + 1e-3*inner(grad(p), grad(q)) + 5.67e-8*p**4*q "
        "- 1000*q)*dx\nunknown = w\n";
    static const char *const sizes[] = {"big=1", "big=1e9", "big=1e12"};
    char *path = write_problem("two.ufl", text);
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
        json_t *root = SOLVE(0, path, "--nonlinear", "--mesh", "square:8", "--input", sizes[i],
                             "--dirichlet", "left=0,300");
        expect_relative(integral(root, 1), 361.8472331183468);
        json_decref(root);
    }
    free(path);
}

/* A cavity whose lid moves, at a viscosity at which GMRES(30) does not solve the tangents in its 10,000 iterations: longer cycles follow
 * by themselves. The velocity is that of scikit-fem with a direct solver. The pressure is open: its mean is 0. */
static void tangents_that_need_long_cycles(void **state) {
    static const char text[] =
        "W = VectorElement('P', triangle, 2)*FiniteElement('P', triangle, 1)\nw = Coefficient(W)\n"
        "u, p = split(w)\nv, q = TestFunctions(W)\nnu = Constant(triangle)\n"
        "F = (nu*inner(grad(u), grad(v)) + inner(grad(u)*u, v) - p*div(v) - q*div(u))*dx\n"
        "unknown = w\n";
    char *path = write_problem("cavity.ufl", text);
    (void)state;
    json_t *root =
        SOLVE(0, path, "--nonlinear", "--mesh", "square:8", "--input", "nu=1.5e-3", "--dirichlet",
              "boundary=0,0,free", "--dirichlet", "top=4*x*(1-x),0,free", "--probe", "0.5,0.5");
    const json_t *probe = json_array_get(json_object_get(root, "probes"), 0);
    expect_relative(json_number_value(json_array_get(json_object_get(probe, "u"), 0)),
                    -0.11793097102549807);
    expect(integral(root, 2), 0, 1e-12);
    json_decref(root);
    free(path);
}

/* (1 + |grad u|) grad u has no derivative at grad u = 0 as it is written. On the line u' (1 + u') = 1 - x. */
static void tangents_without_a_value(void **state) {
    static const char text[] =
        HEAD("2") "F = (1 + sqrt(inner(grad(u), grad(u))))*inner(grad(u), grad(v))*dx - v*dx\n";
    char *path = write_problem("kink.ufl", text);
    const char *command[] = {WEFT_BINARY_DIR "/solve", path, "--nonlinear", "--mesh=square:4",
                             "--dirichlet=boundary=0", NULL};
    (void)state;
    test_run run = test_program(command, NULL);
    assert_int_equal(run.exit_code, 2);
    assert_non_null(strstr(run.error, "not finite numbers at u = 0, where Newton's method starts"));
    assert_non_null(strstr(run.error, "--initial"));
    test_run_free(&run);
    json_t *root = SOLVE(0, path, "--nonlinear", "--mesh", "square:32", "--dirichlet", "left=0",
                         "--initial", "x", "--probe", "1,0.5");
    expect(app_probe_value(root, 0), (pow(5, 1.5) - 1) / 12 - 0.5, 1e-5);
    json_decref(root);
    command[4] = "--initial=1";
    command[2] = "--mesh=square:4";
    run = test_program(command, NULL);
    assert_int_equal(run.exit_code, 2);
    assert_non_null(strstr(run.error, "--initial"));
    test_run_free(&run);
    free(path);
}

/* u^2 + 1 = 0 */
static void what_has_no_solution(void **state) {
    char *path = write_problem("none.ufl", HEAD("1") "F = (u**2 + 1)*v*dx\n");
    const char *command[] = {
        WEFT_BINARY_DIR "/solve", path, "--nonlinear", "--mesh=square:2", "--initial=1",
        "--neumann=boundary=0",   NULL};
    (void)state;
    test_run run = test_program(command, NULL);
    assert_int_equal(run.exit_code, 1);
    assert_non_null(strstr(run.error, "Newton's method has not converged"));
    assert_non_null(strstr(run.error, "--initial"));
    test_run_free(&run);
    free(path);
}

/* ---- load steps ---------------------------------------------------------------------------------- */

/* (1 + u^2) grad u, f = 50 load: the steps end where one step does, and a third of the load is what it says. */
static void load_steps_of_forms(void **state) {
    char *path = write_problem("load.ufl",
                               HEAD("1") "load = Constant(triangle)\n"
                                         "F = (1 + u**2)*inner(grad(u), grad(v))*dx - load*v*dx\n");
    static const char *const steps[] = {"1", "3"};
    double ends[2], third = 0;
    (void)state;
    for (int i = 0; i < 2; ++i) {
        json_t *root = SOLVE(0, path, "--nonlinear", "--mesh", "square:8", "--dirichlet",
                             "boundary=0", "--input", "load=60", "--load-steps", steps[i]);
        ends[i] = integral(root, 0);
        if (i == 1) { /* the loads are the residual at the start */
            const json_t *first = json_array_get(json_object_get(root, "newton"), 0);
            third = json_number_value(json_object_get(first, "residual")) *
                    json_number_value(json_object_get(first, "scale"));
        }
        json_decref(root);
    }
    expect_relative(ends[1], ends[0]);
    json_t *root = SOLVE(0, path, "--nonlinear", "--mesh", "square:8", "--dirichlet", "boundary=0",
                         "--input", "load=20");
    const json_t *first = json_array_get(json_object_get(root, "newton"), 0);
    expect_relative(third, json_number_value(json_object_get(first, "residual")) *
                               json_number_value(json_object_get(first, "scale")));
    json_decref(root);
    free(path);
}

static void load_steps_without_loads(void **state) {
    char *path =
        write_problem("f.ufl", HEAD("1") "f = Constant(triangle)\n"
                                         "F = (1 + u**2)*inner(grad(u), grad(v))*dx - f*v*dx\n");
    static const char *const conditions[] = {"left=0", "left=1"};
    (void)state;
    for (int i = 0; i < 2; ++i) {
        const char *command[] = {WEFT_BINARY_DIR "/solve",
                                 path,
                                 "--nonlinear",
                                 "--mesh=square:4",
                                 "--input=f=1",
                                 "--load-steps=2",
                                 "--dirichlet",
                                 conditions[i],
                                 NULL};
        test_run run = test_program(command, NULL);
        assert_int_equal(run.exit_code, 0);
        assert_true((strstr(run.error, "nothing grows from step to step") != NULL) == (i == 0));
        test_run_free(&run);
    }
    free(path);
}

/* ---- time ---------------------------------------------------------------------------------------- */

/* Without conduction u/dt + s u^4 = f after one step from 0, solved here by bisection. */
static double after_a_step(double dt) {
    double low = 0, high = 1e4;
    for (int i = 0; i < 200; ++i) {
        const double u = (low + high) / 2;
        *(u / dt + 5.67e-8 * u * u * u * u < 1000 ? &low : &high) = u;
    }
    return low;
}

static void long_steps_in_time(void **state) {
    static const double steps[] = {1e2, 1e5, 1e9};
    char *path = write_problem("plate.weft", plate), time[40];
    (void)state;
    for (int i = 0; i < 3; ++i) {
        snprintf(time, sizeof time, "--time=%g,%g", steps[i], steps[i]);
        json_t *root =
            SOLVE(0, path, "--nonlinear", "--mesh", "square:4", "--neumann", "boundary=0", time,
                  "--scheme", "theta", "--theta", "1", "--probe", "0.5,0.5");
        expect_relative(app_probe_value(root, 0), after_a_step(steps[i]));
        json_decref(root);
    }
    json_t *root = SOLVE(0, path, "--nonlinear", "--mesh", "square:8", "--define", "k=1e-3",
                         "--dirichlet", "left=300", "--time", "1e12,1e12", "--scheme", "theta",
                         "--theta", "1", "--probe", "0.5,0.5");
    expect_relative(app_probe_value(root, 0), 364.17889319406294);
    json_decref(root);
    free(path);
}

/* With a tied side, and with sides that are the same, a plate of small k is s u^4 = f in its middle. */
static void constraints(void **state) {
    static const char *const more[] = {"--periodic=bottom=top", "--tie=right"};
    char *path = write_problem("plate.weft", plate);
    (void)state;
    for (int i = 0; i < 2; ++i) {
        json_t *root = SOLVE(0, path, "--nonlinear", "--mesh", "square:32", "--define", "k=1e-3",
                             "--dirichlet", "left=300", more[i], "--probe", "0.75,0.5");
        expect(app_probe_value(root, 0), pow(1000 / 5.67e-8, 0.25), 1e-5);
        json_decref(root);
    }
    free(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(radiating_plates),
                                       cmocka_unit_test(p_laplacians),
                                       cmocka_unit_test(bratu_equations),
                                       cmocka_unit_test(units_change_nothing),
                                       cmocka_unit_test(starts),
                                       cmocka_unit_test(starts_of_components),
                                       cmocka_unit_test(functions_of_other_sizes),
                                       cmocka_unit_test(tangents_that_need_long_cycles),
                                       cmocka_unit_test(tangents_without_a_value),
                                       cmocka_unit_test(what_has_no_solution),
                                       cmocka_unit_test(load_steps_of_forms),
                                       cmocka_unit_test(load_steps_without_loads),
                                       cmocka_unit_test(long_steps_in_time),
                                       cmocka_unit_test(constraints)};
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
