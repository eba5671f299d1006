/* labels: full */
/* What a constant of any size is added to: whatever is computed of u = c + w but u itself is that of w, up to the digits
 * that c leaves, with the default tolerance, by every method, in every program.
 *
 * The energy of what a constant of any size is added to: u = c + x has ∫ k |∇u|²/2 whatever c is, in every element and on
 * every cell, and with conditions that hold u weakly; a reaction's part grows with c² and must be there. Tolerance: the
 * energy is stationary in u, whose values are rounded to 1e-16 c, but for what u does on the boundary, which is
 * multiplied by fluxes: 1e-14 c; and 1e-9 for the solver. A reaction so small that its rows are nearly those of gradients:
 * rounding of these times c², 1e-14 c². */
#include "ad_run.h"
#include "solve_run.h"

#include <unistd.h>

static const double offsets[] = {0, 1e5, 1e10};

enum { OFFSETS = sizeof offsets / sizeof *offsets };

static char file[64];

static int name_file(void **state) {
    (void)state;
    snprintf(file, sizeof file, "/tmp/weft-offsets-%ld.ufl", (long)getpid());
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

static double tolerance_of(double c) {
    return 1e-9 + 1e-14 * c;
}

static void expect_within(json_t *root, const char *what, double c, double expected,
                          double tolerance) {
    const double found = app_number(root, "energy");
    if (!(fabs(found - expected) <= tolerance * fmax(1, expected)))
        fail_msg("%s with c = %g: %.17g, expected %.17g", what, c, found, expected);
    json_decref(root);
}

static void expect_energy(json_t *root, const char *what, double c, double expected) {
    expect_within(root, what, c, expected, tolerance_of(c));
}

/* k = 1 + y: 3/4 */
static void of_degree_1(void **state) {
    (void)state;
    for (int i = 0; i < OFFSETS; ++i) {
        const double c = offsets[i];
        char left[64], right[64];
        snprintf(left, sizeof left, "left=%.17g", c);
        snprintf(right, sizeof right, "right=%.17g", c + 1);
        expect_energy(POISSON(0, "--mesh=square:8", "--source=0", "--diffusivity=1+y",
                              "--dirichlet", left, "--dirichlet", right, "--tolerance=1e-14"),
                      "poisson", c, 0.75);
        expect_energy(SOLVE(0, "diffusion.weft", "--mesh=square:8", "--define=source=0",
                            "--define=diffusivity=1+y", "--dirichlet", left, "--dirichlet", right,
                            "--tolerance=1e-14"),
                      "diffusion.weft", c, 0.75);
        snprintf(left, sizeof left, "left=2,%.17g", 2 * c - 1); /* -u_x + 2 u */
        expect_energy(POISSON(0, "--mesh=cube:3", "--source=0", "--robin", left, "--dirichlet",
                              right, "--tolerance=1e-14"),
                      "poisson in space", c, 0.5);
        expect_energy(SOLVE(0, "diffusion.weft", "--mesh=square:8", "--define=source=0", "--robin",
                            left, "--dirichlet", right, "--tolerance=1e-14"),
                      "diffusion.weft with a Robin condition", c, 0.5);
    }
}

static const struct {
    const char *mesh, *cell, *element;
} elements[] = {
    {"interval:5", "interval", "FiniteElement('P', interval, 4)"},
    {"square:4", "triangle", "FiniteElement('P', triangle, 2)"},
    {"square:3", "triangle", "FiniteElement('P', triangle, 5)"},
    {"square:4", "triangle",
     "FiniteElement('P', triangle, 1) + FiniteElement('Bubble', triangle, 3)"},
    {"quads:4", "quadrilateral", "FiniteElement('Q', quadrilateral, 3)"},
    {"cube:2", "tetrahedron", "FiniteElement('P', tetrahedron, 3)"},
    {"hexes:2", "hexahedron", "FiniteElement('Q', hexahedron, 2)"},
};

/* -div(k ∇u) = 0 with k = (3 + y)/9: 7/36, in one dimension 1/6. */
static void of_elements(void **state) {
    (void)state;
    for (size_t e = 0; e < sizeof elements / sizeof *elements; ++e) {
        char text[400];
        snprintf(text, sizeof text,
                 "V = FunctionSpace(Mesh(VectorElement('Lagrange', %s, 1)), %s)\n"
                 "u, v = TrialFunction(V), TestFunction(V)\n"
                 "k = (3 + %s)/9\n"
                 "a = k*inner(grad(u), grad(v))*dx\n",
                 elements[e].cell, elements[e].element,
                 e == 0 ? "0" : "SpatialCoordinate(V.ufl_domain())[1]");
        put(text);
        for (int i = 0; i < OFFSETS; ++i) {
            char value[64];
            snprintf(value, sizeof value, "boundary=%.17g+x", offsets[i]);
            expect_energy(SOLVE(0, file, "--mesh", elements[e].mesh, "--dirichlet", value,
                                "--tolerance=1e-14"),
                          elements[e].element, offsets[i], e == 0 ? 1.0 / 6 : 7.0 / 36);
        }
    }
}

/* Two components, u = (c + x, -c): with the shear modulus 1/2 and the other constant 1, ∫ 1/2 + 1/2 |e|². */
static void of_vectors(void **state) {
    (void)state;
    put("V = VectorElement('P', triangle, 2)\n"
        "u, v = TrialFunction(V), TestFunction(V)\n"
        "a = (inner(sym(grad(u)), sym(grad(v))) + div(u)*div(v))*dx\n");
    for (int i = 0; i < OFFSETS; ++i) {
        char value[64];
        snprintf(value, sizeof value, "boundary=%.17g+x,%.17g", offsets[i], -offsets[i]);
        expect_energy(SOLVE(0, file, "--mesh=square:4", "--dirichlet", value, "--tolerance=1e-14"),
                      "elasticity", offsets[i], 1);
    }
}

/* Stokes' equations with u = (c + y, -c) and p = 0. */
static void of_mixed_functions(void **state) {
    (void)state;
    put("W = VectorElement('P', triangle, 2)*FiniteElement('P', triangle, 1)\n"
        "(u, p), (v, q) = TrialFunctions(W), TestFunctions(W)\n"
        "a = (inner(grad(u), grad(v)) - p*div(v) - q*div(u))*dx\n");
    for (int i = 0; i < OFFSETS; ++i) {
        char value[64];
        snprintf(value, sizeof value, "boundary=%.17g+y,%.17g,free", offsets[i], -offsets[i]);
        expect_within(SOLVE(0, file, "--mesh=square:4", "--dirichlet", value, "--tolerance=1e-13"),
                      "Stokes", offsets[i], 0.5, 1e-9 + 1e-12 * offsets[i]);
    }
}

/* -Δu + r u = r (c + x), r = 1 and so small that r c² = 1: 1/2 + r (c² + c + 1/3)/2; and u_x, not symmetric,
 * which adds (c + 1/2)/2. */
static void of_other_terms(void **state) {
    (void)state;
    put("V = FiniteElement('P', triangle, 2)\n"
        "u, v, r, f = TrialFunction(V), TestFunction(V), Constant(triangle), Coefficient(V)\n"
        "b = Constant(triangle)\n"
        "a = inner(grad(u), grad(v))*dx + r*u*v*dx + b*u.dx(0)*v*dx\n"
        "L = f*v*dx\n");
    for (int i = 0; i < OFFSETS; ++i)
        for (int k = 0; k < 3; ++k) {
            const double c = offsets[i], b = k == 2;
            const double r = k == 2 || (k == 1 && c > 1e6) ? 0 : k == 1 && c > 1 ? 1e-8 : 1;
            char value[64], source[100], reaction[64], speed[64];
            snprintf(value, sizeof value, "boundary=%.17g+x", c);
            snprintf(source, sizeof source, "f=%.17g*(%.17g+x)+%g", r, c, b);
            snprintf(reaction, sizeof reaction, "r=%.17g", r);
            snprintf(speed, sizeof speed, "b=%g", b);
            expect_within(SOLVE(0, file, "--mesh=square:4", "--dirichlet", value, "--input", source,
                                "--input", reaction, "--input", speed, "--tolerance=1e-14"),
                          k == 2 ? "advection" : "reaction", c,
                          0.5 + r * (c * c + c + 1.0 / 3) / 2 + b * (c + 0.5) / 2,
                          k == 1 && c > 1 ? 1e-14 * c * c : tolerance_of(c));
        }
}

static const char *const methods[] = {"--method=cg", "--method=minres", "--method=gmres",
                                      "--method=bicgstab"};

enum { METHODS = sizeof methods / sizeof *methods };

/* The error of grad u, of which differences of exact values of size 3 c in cells of 1/8 leave 2e-12 c. */
static void expect_small_error(json_t *root, const char *what, double c) {
    const double found = app_number(root, "h1_error");
    if (!(found <= 2e-6 + 2e-12 * c))
        fail_msg("%s with c = %g: H1 error %g", what, c, found);
    json_decref(root);
}

/* u = (c + y (1 - y), -c), p = 2 (1 - x): flow through a channel whose values are given but at its end. */
static void channel(const char *method, double c) {
    char inflow[80], top[80], bottom[80], exact[100];
    snprintf(inflow, sizeof inflow, "left=%.17g+y*(1-y),%.17g,free", c, -c);
    snprintf(top, sizeof top, "top=%.17g,%.17g,free", c, -c);
    snprintf(bottom, sizeof bottom, "bottom=%.17g,%.17g,free", c, -c);
    snprintf(exact, sizeof exact, "%.17g+y*(1-y),%.17g,2*(1-x)", c, -c);
    json_t *root = SOLVE(0, file, "--mesh=square:4", "--dirichlet", inflow, "--dirichlet", top,
                         "--dirichlet", bottom, "--exact", exact, method);
    const double found = app_number(root, "h1_error");
    if (!(found <= 1e-4 + 1e-11 * c)) /* of the pressure too, which the method weighs less */
        fail_msg("Stokes, %s, with c = %g: H1 error %g", method, c, found);
    json_decref(root);
}

static void in_space(void **state) {
    (void)state;
    for (int i = 0; i < 2 * METHODS; ++i) {
        const double c = i < METHODS ? 0 : 1e7;
        const char *method = methods[i % METHODS];
        char left[100], right[100], exact[100];
        snprintf(left, sizeof left, "left=%.17g", c);
        snprintf(right, sizeof right, "right=%.17g", c + 1);
        snprintf(exact, sizeof exact, "%.17g+x", c);
        expect_small_error(POISSON(0, "--mesh=square:16", "--source=0", "--dirichlet", left,
                                   "--dirichlet", right, "--exact", exact, method),
                           method, c);
        put("V = VectorElement('P', triangle, 2)\n"
            "u, v = TrialFunction(V), TestFunction(V)\n"
            "a = inner(grad(u), grad(v))*dx\n");
        snprintf(left, sizeof left, "left=%.17g,%.17g", c, -3 * c);
        snprintf(right, sizeof right, "right=%.17g,%.17g", c + 1, 2 - 3 * c);
        snprintf(exact, sizeof exact, "%.17g+x,%.17g+2*x", c, -3 * c);
        expect_small_error(SOLVE(0, file, "--mesh=square:8", "--dirichlet", left, "--dirichlet",
                                 right, "--exact", exact, method),
                           "two components", c);
        put("W = VectorElement('P', triangle, 2)*FiniteElement('P', triangle, 1)\n"
            "(u, p), (v, q) = TrialFunctions(W), TestFunctions(W)\n"
            "a = (inner(grad(u), grad(v)) - p*div(v) - q*div(u))*dx\n");
        if (strcmp(method, "--method=minres") == 0 || strcmp(method, "--method=gmres") == 0)
            channel(method, c / 100);
    }
}

/* The errors of the step and of the mesh are those of w = cos(pi x), which decays. */
static void in_time(void **state) {
    (void)state;
    double of_w[3] = {0};
    for (int i = 0; i < 2; ++i) {
        const double c = i == 0 ? 0 : 1e9;
        char initial[100], exact[100];
        snprintf(initial, sizeof initial, "%.17g+cos(pi*x)", c);
        snprintf(exact, sizeof exact, "%.17g+cos(pi*x)*exp(-pi^2*t)", c);
        for (int k = 0; k < 3; ++k) {
            json_t *root =
                k == 0   ? SOLVE(0, "heat.weft", "--mesh=square:8", "--define=source=0",
                                 "--neumann=boundary=0", "--time=0.01,0.1", "--scheme=theta",
                                 "--initial", initial, "--exact", exact)
                : k == 1 ? AD(0, "--mesh=square:8", "--diffusivity=1", "--dt=0.01", "--steps=10",
                              "--initial", initial, "--exact", exact)
                         : AD(0, "--mesh=square:8", "--diffusivity=1", "--dt=0.01", "--steps=10",
                              "--preconditioner=aggregation", "--reassemble=every-step",
                              "--initial", initial, "--exact", exact);
            const double found = app_number(k == 0 ? root : ad_entry(root, -1), "l2_error");
            if (c == 0)
                of_w[k] = found;
            else
                expect(found, of_w[k], 1e-5);
            json_decref(root);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_degree_1),    cmocka_unit_test(of_elements),
        cmocka_unit_test(of_vectors),     cmocka_unit_test(of_mixed_functions),
        cmocka_unit_test(of_other_terms), cmocka_unit_test(in_space),
        cmocka_unit_test(in_time),
    };
    return cmocka_run_group_tests(tests, name_file, remove_file);
}
