/* labels: full */
/* Constraints in Newton's method: a periodic problem with a known solution converges at second order, a tied
 * group balances its loads, and half a body on a turned symmetry plane is half of the whole body. Systems
 * are solved to 1e-13 and residuals to 1e-12 of the loads, so that balances hold to 1e-12 of loads of 1, and
 * solutions of systems with condition numbers below 10^3 agree to 1e-9. */
#include "mirrored_mesh.h"
#include "solve_run.h"

#include <stdio.h>
#include <stdlib.h>

static const double BALANCE = 1e-12, SAME = 1e-9;
#define EXACTLY "--nonlinear", "--tolerance", "1e-13", "--newton-tolerance", "1e-12"

/* -div((1 + u^2) grad u) + u = f of a u that is not symmetric in any side: f = u - (1 + u^2) lap u
 * - 2 u |grad u|^2. */
static const char periodic[] =
    "element = FiniteElement('Lagrange', triangle, 1)\n"
    "u = Coefficient(element)\nv = TestFunction(element)\nx = SpatialCoordinate(triangle)\n"
    "a = 2*pi*(x[0]+0.1)\nb = 2*pi*(x[1]+0.2)\nw = sin(a)*cos(b)\n"
    "g = 4*pi**2*(cos(a)**2*cos(b)**2 + sin(a)**2*sin(b)**2)\n"
    "f = w + (1+w**2)*8*pi**2*w - 2*w*g\n"
    "F = (1+u**2)*inner(grad(u), grad(v))*dx + u*v*dx - f*v*dx(degree=4)\n";

static void periodic_cells(void **state) {
    (void)state;
    static const char *const meshes[] = {"square:16", "square:32"};
    char *folder = test_folder_make(), *path = test_path(folder, "cell.ufl");
    json_t *roots[2];
    test_text_write(path, periodic);
    for (int i = 0; i < 2; ++i)
        roots[i] =
            SOLVE(0, path, "--nonlinear", "--mesh", meshes[i], "--periodic", "left=right",
                  "--periodic", "bottom=top", "--exact", "sin(2*pi*(x+0.1))*cos(2*pi*(y+0.2))");
    assert_true(poisson_order(roots[0], roots[1], "l2_error") > 1.9);
    assert_true(poisson_order(roots[0], roots[1], "h1_error") > 0.95);
    expect(app_number(roots[0], "dependent_dofs"), 33, 0);
    json_decref(roots[0]);
    json_decref(roots[1]);
    free(path);
    test_folder_remove(&folder);
}

/* The tied side takes heat of int 1 + y = 3/2 in all, at one temperature; it leaves on the left. The same with a side
 * whose temperature at a point is given: there the reaction is not on the left alone. */
static const char conduction[] = "element = FiniteElement('Lagrange', triangle, 1)\n"
                                 "u = Coefficient(element)\nv = TestFunction(element)\n"
                                 "F = (1+u**2)*inner(grad(u), grad(v))*dx\n";

static void tied_group(void **state) {
    (void)state;
    static const char *const assemblies[] = {"csr", "lma", "matrix-free"};
    char *folder = test_folder_make(), *path = test_path(folder, "conduction.ufl");
    double first = 0;
    test_text_write(path, conduction);
    for (int i = 0; i < 3; ++i) {
        json_t *root = SOLVE(0, path, EXACTLY, "--mesh", "square:8", "--assembly", assemblies[i],
                             "--dirichlet", "left=1", "--neumann", "right=1+y", "--tie", "right",
                             "--reactions", "--probe", "1,0", "--probe", "1,0.5", "--probe", "1,1",
                             "--probe", "0.5,0.5");
        expect(solve_item(root, "reactions", 0, "reaction", 0), -1.5, BALANCE);
        for (size_t p = 1; p < 3; ++p)
            expect(app_probe_value(root, p), app_probe_value(root, 0), BALANCE);
        if (i == 0)
            first = app_probe_value(root, 3);
        expect(app_probe_value(root, 3), first, SAME);
        assert_string_equal(app_text(root, "assembly"), "csr");
        json_decref(root);
    }
    free(path);
    test_folder_remove(&folder);
}

/* A tied group whose value is given at one of its points has it everywhere, in one load step or three. */
static void given_values(void **state) {
    (void)state;
    char *folder = test_folder_make(), *path = test_path(folder, "conduction.ufl");
    double middle[3];
    test_text_write(path, conduction);
    for (int i = 0; i < 3; ++i) {
        json_t *root =
            i < 2 ? SOLVE(0, path, EXACTLY, "--mesh", "square:8", "--dirichlet", "left=0", "--tie",
                          "right", "--point-value", "1,0.3=2+0*x", "--load-steps", i ? "3" : "1",
                          "--probe", "0.5,0.5", "--probe", "1,1")
                  : SOLVE(0, path, EXACTLY, "--mesh", "square:8", "--dirichlet", "left=0",
                          "--dirichlet", "right=2", "--probe", "0.5,0.5", "--probe", "1,1");
        middle[i] = app_probe_value(root, 0);
        expect(app_probe_value(root, 1), 2, BALANCE);
        expect(middle[i], middle[0], SAME);
        json_decref(root);
    }
    free(path);
    test_folder_remove(&folder);
}

/* A probe at (x, y) of a body turned by the angle. */
static char *probe_at(double angle, double x, double y) {
    static char text[8][80];
    static int n = 0;
    double at[2];
    mirrored_turn(angle, x, y, at);
    n = (n + 1) % 8;
    (void)snprintf(text[n], sizeof text[n], "%.17g,%.17g", at[0], at[1]);
    return text[n];
}

/* Large deformation of St. Venant-Kirchhoff's material: the far side moves by (0.3, 0.2), the other one by its mirror
 * image. */
static void turned_plane(void **state) {
    (void)state;
    static const double angles[] = {0, 0.4, 2.5},
                        points[][2] = {{0.5, 0.5}, {1.0 / 6, 1}, {0, 0.5}};
    char *folder = test_folder_make();
    for (int a = 0; a < 3; ++a) {
        char *half = mirrored_mesh_write(folder, false, angles[a]);
        char *whole = mirrored_mesh_write(folder, true, angles[a]);
        char far[120], other[120];
        double u[2];
        mirrored_turn(angles[a], 0.3, 0.2, u);
        (void)snprintf(far, sizeof far, "far=%.17g,%.17g", u[0], u[1]);
        mirrored_turn(angles[a], -0.3, 0.2, u);
        (void)snprintf(other, sizeof other, "other=%.17g,%.17g", u[0], u[1]);
        const char *p[3];
        for (int i = 0; i < 3; ++i)
            p[i] = probe_at(angles[a], points[i][0], points[i][1] - 1e-12);
        json_t *roots[2] = {
            SOLVE(0, "kirchhoff.weft", EXACTLY, "--mesh", half, "--dirichlet", far, "--symmetry",
                  "plane", "--probe", p[0], "--probe", p[1], "--probe", p[2]),
            SOLVE(0, "kirchhoff.weft", EXACTLY, "--mesh", whole, "--dirichlet", far, "--dirichlet",
                  other, "--probe", p[0], "--probe", p[1], "--probe", p[2])};
        for (size_t i = 0; i < 3; ++i)
            for (size_t k = 0; k < 2; ++k)
                expect(solve_item(roots[0], "probes", i, "u", k),
                       solve_item(roots[1], "probes", i, "u", k), SAME);
        json_decref(roots[0]);
        json_decref(roots[1]);
        free(half);
        free(whole);
    }
    test_folder_remove(&folder);
}

/* What a body that floats along its plane does under loads that balance is what it does with a support that carries
 * nothing, but for a translation; it has no mean. */
static void floating_along_a_plane(void **state) {
    (void)state;
    json_t *floats = SOLVE(0, "kirchhoff.weft", EXACTLY, "--mesh", "square:4", "--symmetry", "left",
                           "--neumann", "right=0.1,0", "--probe", "1,0", "--probe", "1,1");
    json_t *held =
        SOLVE(0, "kirchhoff.weft", EXACTLY, "--mesh", "square:4", "--symmetry", "left", "--neumann",
              "right=0.1,0", "--point-value", "0,0=free,0.1", "--probe", "1,0", "--probe", "1,1");
    expect(app_number(floats, "free_modes"), 1, 0);
    expect(json_number_value(json_array_get(json_object_get(floats, "integral_u"), 1)), 0, SAME);
    for (size_t k = 0; k < 2; ++k)
        expect(solve_item(floats, "probes", 1, "u", k) - solve_item(floats, "probes", 0, "u", k),
               solve_item(held, "probes", 1, "u", k) - solve_item(held, "probes", 0, "u", k), SAME);
    expect(solve_item(floats, "probes", 1, "u", 0), solve_item(held, "probes", 1, "u", 0), SAME);
    json_decref(floats);
    json_decref(held);
}

static void null_device(void **state) {
    (void)state;
    json_t *root = SOLVE(0, "kirchhoff.weft", "--nonlinear", "--mesh", "square:8", "--device",
                         "null:h200", "--symmetry", "left", "--tie", "right");
    assert_string_equal(app_text(root, "outcome"), "planned");
    json_decref(root);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(periodic_cells),         cmocka_unit_test(tied_group),
        cmocka_unit_test(given_values),           cmocka_unit_test(turned_plane),
        cmocka_unit_test(floating_along_a_plane), cmocka_unit_test(null_device)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
