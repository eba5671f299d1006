/* labels: full
 * Form files with a scheme of their own in mixed spaces, in time.
 *
 * Stokes' equations: u = (-cos pi x sin pi y, sin pi x cos pi y) exp(-2 pi^2 nu t), p = 0 (Taylor and Green) is a solution
 * without a force. Velocities of degree 2 have order 3 in space; the trapezoidal rule has order 2 and Euler's order 1 in
 * time, seen with velocities of degree 3. Observed orders may be off by 0.15. Cahn and Hilliard: mass is constant up to the tolerances of the solvers (1e-8 of
 * each step), and the energy falls in each step. */
#include "solve_run.h"
#include "test_support.h"

#if __has_include(<hdf5.h>)
#include <hdf5.h>
#else
#include <hdf5/serial/hdf5.h>
#endif
#include <math.h>
#include <stdlib.h>

static const double ORDER = 0.15, MASS = 1e-7;

static double entry(const json_t *root, const char *key, int k) {
    const json_t *value = json_array_get(json_object_get(root, key), (size_t)k);
    assert_non_null(value);
    return json_number_value(value);
}

/* ---- Taylor and Green -------------------------------------------------------------------- */

/* degrees  of velocity and pressure */
static void put_stokes(const char *file, int velocity, int pressure) {
    static const char text[] =
        "W = VectorElement('P', triangle, %d)*FiniteElement('P', triangle, %d)\n"
        "w_old = Coefficient(W)\n"
        "dt, theta, nu = Constant(triangle), Constant(triangle), Constant(triangle)\n"
        "(u, p), (v, q) = TrialFunctions(W), TestFunctions(W)\n"
        "u_0, p_0 = split(w_old)\n"
        "a = (inner(u, v) + dt*theta*nu*inner(grad(u), grad(v)) - dt*p*div(v) - dt*q*div(u))*dx\n"
        "L = (inner(u_0, v) - dt*(1 - theta)*nu*inner(grad(u_0), grad(v)))*dx\n";
    FILE *stream = fopen(file, "w");
    assert_non_null(stream);
    fprintf(stream, text, velocity, pressure);
    assert_int_equal(fclose(stream), 0);
}

#define START "-cos(pi*x)*sin(pi*y),sin(pi*x)*cos(pi*y),0"
#define FLOW "-cos(pi*x)*sin(pi*y)*exp(-2*pi^2*t),sin(pi*x)*cos(pi*y)*exp(-2*pi^2*t)"

/* The error of the velocity at t = 0.05. */
static double flow_error(const char *file, const char *mesh, const char *dt, const char *theta) {
    char time[32], value[32];
    snprintf(time, sizeof time, "%s,0.05", dt);
    snprintf(value, sizeof value, "theta=%s", theta);
    json_t *root = SOLVE(0, file, "--mesh", mesh, "--time", time, "--previous", "w_old", "--input",
                         value, "--input", "nu=1", "--initial", START, "--dirichlet",
                         "boundary=" FLOW ",free", "--exact", FLOW ",0*x", "--tolerance", "1e-10");
    assert_true(fabs(entry(root, "integral_u", 2)) < 1e-9); /* the mean of an open pressure */
    const double error = hypot(entry(root, "l2_errors", 0), entry(root, "l2_errors", 1));
    json_decref(root);
    return error;
}

static void taylor_green(void **state) {
    (void)state;
    char *folder = test_folder_make(), *file = test_path(folder, "stokes.ufl");
    put_stokes(file, 2, 1);
    const double coarse = flow_error(file, "square:6", "0.00125", "0.5"),
                 fine = flow_error(file, "square:12", "0.00125", "0.5");
    assert_double_near(log2(coarse / fine), 3, 0, ORDER);
    put_stokes(file, 3, 2);
    const double two[] = {flow_error(file, "square:12", "0.0125", "0.5"),
                          flow_error(file, "square:12", "0.00625", "0.5")};
    assert_double_near(log2(two[0] / two[1]), 2, 0, ORDER);
    const double one[] = {flow_error(file, "square:8", "0.0125", "1"),
                          flow_error(file, "square:8", "0.00625", "1")};
    assert_double_near(log2(one[0] / one[1]), 1, 0, ORDER);
    free(file);
    test_folder_remove(&folder);
}

/* The same flow, with chosen steps: that of Stokes' equations and, with a pressure, that of Navier and Stokes' in Newton's
 * method. The pressure is open, and the load is made compatible before each solve, that of the estimate of the error too.
 * With 1e-3 for the errors of all steps, |u| = 1/sqrt(2) at the start, and twice that allowed. */
static const char chosen_flows[2][512] = {
    "W = VectorElement('P', triangle, 2)*FiniteElement('P', triangle, 1)\n"
    "(u, p), (v, q) = TrialFunctions(W), TestFunctions(W)\n"
    "m = inner(u, v)*dx\n"
    "a = (inner(grad(u), grad(v)) - p*div(v) - q*div(u))*dx\n",
    "W = VectorElement('P', triangle, 2)*FiniteElement('P', triangle, 1)\n"
    "u, p = split(Coefficient(W))\n"
    "(du, dp), (v, q) = TrialFunctions(W), TestFunctions(W)\n"
    "m = inner(du, v)*dx\n"
    "F = (inner(dot(grad(u), u), v) + inner(grad(u), grad(v)) - p*div(v) - q*div(u))*dx\n"};

/* The error of the velocity at t = 0.05; *steps with those that were rejected. */
static double chosen_error(const char *file, bool is_nonlinear, const char *scheme,
                           const char *tolerance, double *steps) {
    json_t *root = SOLVE(0, file, "--mesh", "square:4", "--time", "0.005,0.05", "--scheme", scheme,
                         "--initial", START, "--dirichlet", "boundary=" FLOW ",free", "--exact",
                         FLOW ",0*x", "--tolerance", "1e-10", "--device", "host:1:sse2", tolerance,
                         is_nonlinear ? "--nonlinear" : NULL);
    const json_t *time = json_object_get(root, "time");
    *steps = app_number(time, "steps") + app_number(time, "rejected");
    const double error = hypot(entry(root, "l2_errors", 0), entry(root, "l2_errors", 1));
    json_decref(root);
    return error;
}

static void chosen_steps(void **state) {
    (void)state;
    static const char *const schemes[] = {"bdf2", "sdirk2", "theta", "sdirk3"};
    static const double allowed = 2e-3 * 0.70710678118654752;
    char *folder = test_folder_make(), *file = test_path(folder, "flow.ufl");
    for (int nonlinear = 0; nonlinear < 2; ++nonlinear)
        for (int i = 0; i < (nonlinear ? 1 : 4); ++i) {
            double fixed, steps;
            test_text_write(file, chosen_flows[nonlinear]);
            const double space =
                chosen_error(file, nonlinear, schemes[i], "--time-tolerance=0", &fixed);
            const double error =
                chosen_error(file, nonlinear, schemes[i], "--time-tolerance=1e-3", &steps);
            assert_true(error <= space + allowed && steps <= 60);
        }
    free(file);
    test_folder_remove(&folder);
}

/* A vortex between walls, whose pressure is 0 at the start and then is not: the estimate's residuals are mostly of the pressure,
 * and those of the velocity must still be seen. At (0.3, 0.4), against short steps of equal length; 1e-3 for errors of 1e-4
 * of 0.6 in all. Without, 6000 steps reach t = 0.0013. */
static void vortex(void **state) {
    (void)state;
    char *folder = test_folder_make(), *file = test_path(folder, "flow.ufl");
    static const char *const runs[2][2] = {{"0.00025,0.02", "--time-tolerance=0"},
                                           {"0.01,0.02", "--time-tolerance=1e-4"}};
    double u[2][2], steps = 0;
    test_text_write(file, chosen_flows[0]);
    for (int i = 0; i < 2; ++i) {
        json_t *root = SOLVE(0, file, "--mesh", "square:4", "--time", runs[i][0], runs[i][1],
                             "--scheme", "sdirk2", "--initial",
                             "sin(pi*x)^2*sin(2*pi*y),-sin(2*pi*x)*sin(pi*y)^2,0", "--dirichlet",
                             "boundary=0,0,free", "--probe", "0.3,0.4", "--device", "host:1:sse2");
        const json_t *time = json_object_get(root, "time");
        steps = app_number(time, "steps") + app_number(time, "rejected");
        for (size_t k = 0; k < 2; ++k)
            u[i][k] = solve_item(root, "probes", 0, "u", k);
        json_decref(root);
    }
    assert_true(steps <= 100 && u[0][0] > 0.1);
    expect(u[1][0], u[0][0], 1e-3);
    expect(u[1][1], u[0][1], 1e-3);
    free(file);
    test_folder_remove(&folder);
}

/* ---- Cahn and Hilliard ------------------------------------------------------------------- */

static const char phases[] =
    "P1 = FiniteElement('Lagrange', triangle, 1)\n"
    "ME = P1*P1\n"
    "q, v = TestFunctions(ME)\n"
    "u, u_old = Coefficient(ME), Coefficient(ME)\n"
    "c, mu = split(u)\n"
    "c0, mu0 = split(u_old)\n"
    "c = variable(c)\n"
    "f = 100*c**2*(1 - c)**2\n"
    "lmbda, dt, theta = Constant(triangle), Constant(triangle), Constant(triangle)\n"
    "mu_mid = (1 - theta)*mu0 + theta*mu\n"
    "F = (c - c0)*q*dx + dt*dot(grad(mu_mid), grad(q))*dx\\\n"
    "    + mu*v*dx - diff(f, c)*v*dx - lmbda*dot(grad(c), grad(v))*dx\n";

/* A list of a result file; *n of its numbers. */
static void *read_list(hid_t file, const char *name, hid_t type, size_t size, hsize_t *n) {
    hid_t set = H5Dopen2(file, name, H5P_DEFAULT);
    assert_true(set >= 0);
    hid_t space = H5Dget_space(set);
    *n = (hsize_t)H5Sget_simple_extent_npoints(space);
    void *out = malloc((size_t)*n * size);
    assert_non_null(out);
    assert_true(H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, out) >= 0);
    H5Sclose(space);
    H5Dclose(set);
    return out;
}

/* int 100 c^2 (1 - c)^2 + lmbda/2 |grad c|^2 and int c over a triangle of linear c. The first, of degree 4, by Strang and
 * Fix's rule with six points (Dunavant 1985). */
static void add_triangle(const double *points, const int64_t *v, const double *c, double lmbda,
                         double *energy, double *mass) {
    static const double weight[2] = {0.223381589678011, 0.109951743655322};
    static const double place[2] = {0.108103018168070, 0.816847572980459};
    const double *a = points + 3 * v[0], *b = points + 3 * v[1], *d = points + 3 * v[2];
    const double ex = b[0] - a[0], ey = b[1] - a[1], fx = d[0] - a[0], fy = d[1] - a[1];
    const double det = ex * fy - ey * fx, area = fabs(det) / 2;
    const double cb = c[v[1]] - c[v[0]], cd = c[v[2]] - c[v[0]];
    const double gx = (cb * fy - cd * ey) / det, gy = (cd * ex - cb * fx) / det;
    *energy += area * lmbda / 2 * (gx * gx + gy * gy);
    *mass += area * (c[v[0]] + c[v[1]] + c[v[2]]) / 3;
    for (int i = 0; i < 2; ++i)
        for (int k = 0; k < 3; ++k) {
            const double at =
                place[i] * c[v[k]] + (1 - place[i]) / 2 * (c[v[(k + 1) % 3]] + c[v[(k + 2) % 3]]);
            *energy += area * weight[i] * 100 * at * at * (1 - at) * (1 - at);
        }
}

static void cahn_hilliard(void **state) {
    (void)state;
    enum { STEPS = 12 };
    char *folder = test_folder_make(), *form = test_path(folder, "phases.ufl");
    char *series = test_path(folder, "phases.vtkhdf");
    hsize_t n_values, n_points, n_vertices, n_potentials;
    double before = INFINITY, start = 0;
    test_text_write(form, phases);
    json_t *root = SOLVE(0, form, "--nonlinear", "--mesh", "square:32", "--time", "5e-6,6e-5",
                         "--input", "lmbda=0.01", "--input", "theta=1", "--initial",
                         "0.63 + 0.02*sin(31*x + 7*y)*cos(23*y - 11*x),0", "--output", series,
                         "--output-every", "1", "--newton-tolerance", "1e-10");
    assert_string_equal(app_text(root, "preconditioner"), "block");
    hid_t file = H5Fopen(series, H5F_ACC_RDONLY, H5P_DEFAULT);
    assert_true(file >= 0);
    double *c = read_list(file, "VTKHDF/PointData/u_0", H5T_NATIVE_DOUBLE, sizeof *c, &n_values);
    double *mu =
        read_list(file, "VTKHDF/PointData/u_1", H5T_NATIVE_DOUBLE, sizeof *mu, &n_potentials);
    double *points = read_list(file, "VTKHDF/Points", H5T_NATIVE_DOUBLE, sizeof *points, &n_points);
    int64_t *cells =
        read_list(file, "VTKHDF/Connectivity", H5T_NATIVE_INT64, sizeof *cells, &n_vertices);
    H5Fclose(file);
    const hsize_t n = n_points / 3;
    assert_int_equal(n, 33 * 33);
    assert_true(n_values >= (STEPS + 1) * n); /* room for a further step may be left */
    assert_int_equal(n_potentials, n_values);
    for (int step = 0; step <= STEPS; ++step) {
        double energy = 0, mass = 0;
        for (hsize_t k = 0; k < n_vertices; k += 3)
            add_triangle(points, cells + k, c + (hsize_t)step * n, 0.01, &energy, &mass);
        start = step == 0 ? mass : start;
        assert_double_near(mass, start, 0, MASS);
        assert_true(energy < before);
        before = energy;
    }
    assert_double_near(entry(root, "integral_u", 0), start, 0, MASS);
    json_decref(root);
    free(c);
    free(mu);
    free(points);
    free(cells);
    free(form);
    free(series);
    test_folder_remove(&folder);
}

/* Iterations per tangent: about 28, 30 and 33 are seen, where a Schur complement of the fourth order took 68 and 70 of them on the
 * last two. */
static void phases_on_fine_meshes(void **state) {
    (void)state;
    static const char *const meshes[] = {"square:64", "square:96", "square:160"};
    char *folder = test_folder_make(), *form = test_path(folder, "phases.ufl");
    double least = INFINITY, most = 0;
    test_text_write(form, phases);
    for (int i = 0; i < 3; ++i) {
        json_t *root =
            SOLVE(0, form, "--nonlinear", "--mesh", meshes[i], "--time", "5e-6,1e-5", "--input",
                  "lmbda=0.01", "--input", "theta=0.5", "--initial",
                  "0.63 + 0.02*sin(31*x + 7*y)*cos(23*y - 11*x),0", "--device", "host:1:sse2");
        const json_t *time = json_object_get(root, "time");
        const double each = app_number(time, "iterations") / app_number(time, "newton");
        assert_non_null(strstr(app_text(json_object_get(root, "preconditioner_report"), "detail"),
                               "u_0 with u_1"));
        least = fmin(least, each);
        most = fmax(most, each);
        json_decref(root);
    }
    assert_true(most < 45 && most < 1.3 * least);
    free(form);
    test_folder_remove(&folder);
}

/* ---- messages ---------------------------------------------------------------------------- */

static void errors(void **state) {
    (void)state;
    char *folder = test_folder_make(), *file = test_path(folder, "stokes.ufl");
    put_stokes(file, 2, 1);
    const char *const program = WEFT_BINARY_DIR "/solve";
    const char *const few[] = {program,   file,         "--mesh",    "square:2", "--time",
                               "0.1,1",   "--previous", "w_old",     "--input",  "theta=1",
                               "--input", "nu=1",       "--initial", "x,y",      NULL};
    const char *const unnamed[] = {program, file, "--mesh", "square:2", "--time", "0.1,1", NULL};
    test_run run = test_program(few, NULL);
    assert_int_equal(run.exit_code, 2);
    assert_non_null(
        strstr(run.error, "2 expressions are given, but the solution has 3 components"));
    test_run_free(&run);
    run = test_program(unnamed, NULL);
    assert_int_equal(run.exit_code, 2);
    assert_non_null(strstr(run.error, "neither a bilinear form m nor 'u_old'"));
    test_run_free(&run);
    free(file);
    test_folder_remove(&folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(taylor_green),
        cmocka_unit_test(chosen_steps),
        cmocka_unit_test(vortex),
        cmocka_unit_test(cahn_hilliard),
        cmocka_unit_test(phases_on_fine_meshes),
        cmocka_unit_test(errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
