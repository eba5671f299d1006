/* labels: full */
/* Derived quantities of the programs: reactions balance loads to 1e-12 of them, fluxes of known
 * solutions converge, and fields are in the result file. */
#include "core/weft_core.h"
#include "solve_run.h"

#include <unistd.h>

static const json_t *item(const json_t *root, const char *list, size_t i) {
    const json_t *value = json_array_get(json_object_get(root, list), i);
    assert_non_null(value);
    return value;
}

static double reactions(const json_t *root, size_t k) {
    const json_t *list = json_object_get(root, "reactions");
    double sum = 0;
    for (size_t i = 0; i < json_array_size(list); ++i)
        sum += app_component(json_array_get(list, i), "reaction", k);
    return sum;
}

/* ---- reactions ------------------------------------------------------------------------------- */

static void reactions_balance_loads(void **state) {
    (void)state;
    json_t *root = POISSON(0, "--mesh", "square:24", "--source", "exp(x*y)", "--diffusivity",
                           "1+x^2", "--neumann", "top=3", "--dirichlet", "left=y", "--dirichlet",
                           "right=1", "--tolerance", "0", "--reactions");
    const double load = app_component(root, "loads", 0);
    expect(reactions(root, 0), -load, 1e-12 * load);
    assert_int_equal(json_array_size(json_object_get(root, "reactions")), 2);
    json_decref(root);
    root = SOLVE(0, "elasticity.weft", "--mesh", "cube:6", "--define", "force_z=-x", "--dirichlet",
                 "bottom=0,0,0", "--neumann", "top=1,2,y", "--tolerance", "0", "--reactions");
    for (size_t k = 0; k < 3; ++k)
        expect(reactions(root, k), -app_component(root, "loads", k), 1e-12 * 2);
    json_decref(root);
}

/* Without options u = 0 on the boundary, and what flows in is what the source gives. */
static void reaction_of_the_whole_boundary(void **state) {
    (void)state;
    json_t *root =
        POISSON(0, "--mesh", "cube:6", "--source", "2", "--tolerance", "0", "--reactions");
    expect(reactions(root, 0), -2, 2e-12);
    assert_string_equal(app_text(item(root, "reactions", 0), "group"), "boundary");
    json_decref(root);
}

/* kirchhoff.weft: the residual of Newton's method; the sides of a bar pull each other. */
static void nonlinear_reactions(void **state) {
    (void)state;
    json_t *root = SOLVE(0, "kirchhoff.weft", "--nonlinear", "--mesh", "square:6", "--dirichlet",
                         "left=0,0", "--dirichlet", "right=0.3,free", "--reactions");
    const double left = solve_item(root, "reactions", 0, "reaction", 0);
    const double right = solve_item(root, "reactions", 1, "reaction", 0);
    assert_true(right > 0.1);
    expect(left + right, 0, 1e-9 * right);
    json_decref(root);
}

/* Heat through a wall of two materials in series, 0.5/0.02 + 0.5/50 of resistance: facets take the
 * material of their cell. */
static void formulas_by_group_on_facets(void **state) {
    (void)state;
    if (access(WEFT_BINARY_DIR "/weft-gmsh", X_OK) != 0)
        skip_test("weft-gmsh is not part of this build");
    char *folder = test_folder_make(), path[4096];
    snprintf(path, sizeof path, "%s/wall.geo", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("h = 0.2; Point(1) = {0, 0, 0, h}; Point(2) = {0.5, 0, 0, h}; Point(3) = {1, 0, 0, h};\n"
          "Point(4) = {1, 1, 0, h}; Point(5) = {0.5, 1, 0, h}; Point(6) = {0, 1, 0, h};\n"
          "Line(1) = {1, 2}; Line(2) = {2, 3}; Line(3) = {3, 4}; Line(4) = {4, 5};\n"
          "Line(5) = {5, 6}; Line(6) = {6, 1}; Line(7) = {2, 5};\n"
          "Curve Loop(1) = {1, 7, 5, 6}; Curve Loop(2) = {2, 3, 4, -7};\n"
          "Plane Surface(1) = {1}; Plane Surface(2) = {2};\n"
          "Physical Surface(\"steel\") = {1}; Physical Surface(\"wool\") = {2};\n"
          "Physical Curve(\"left\") = {6}; Physical Curve(\"right\") = {3};\n"
          "Physical Curve(\"middle\") = {7};\n",
          file);
    assert_int_equal(fclose(file), 0);
    json_t *root =
        POISSON(0, "--mesh", path, "--source", "0", "--diffusivity", "@steel=50", "--diffusivity",
                "@wool=0.02", "--dirichlet", "left=1", "--dirichlet", "right=0", "--tolerance", "0",
                "--integral", "a@left = dot(-kappa*grad(u), normal)", "--integral",
                "b@right = dot(-kappa*grad(u), normal)", "--integral",
                "c@middle|steel = abs(dot(-kappa*grad(u), normal))", "--integral",
                "k@steel = kappa", "--reactions");
    const double heat = 1 / (0.5 / 50 + 0.5 / 0.02);
    expect(solve_item(root, "derived", 0, "integral", 0), -heat, 1e-9 * heat);
    expect(solve_item(root, "derived", 1, "integral", 0), heat, 1e-9 * heat);
    expect(solve_item(root, "derived", 2, "integral", 0), heat, 1e-9 * heat);
    expect(solve_item(root, "derived", 3, "integral", 0), 25, 1e-9);
    expect(solve_item(root, "reactions", 0, "reaction", 0), heat, 1e-9 * heat);
    json_decref(root);
    test_folder_remove(&folder);
}

/* ---- fluxes ---------------------------------------------------------------------------------- */

/* u = sin(pi x) sinh(pi y)/sinh(pi): the flux through the top is -2 pi coth(pi)/pi ... */
static void flux_of_a_known_solution(void **state) {
    (void)state;
    const double pi = acos(-1), exact = -2 / tanh(pi);
    double errors[2];
    for (int i = 0; i < 2; ++i) {
        json_t *root =
            POISSON(0, "--mesh", i ? "square:64" : "square:32", "--source", "0", "--dirichlet",
                    "boundary=sin(pi*x)*sinh(pi*y)/sinh(pi)", "--derive", "flux = -kappa*grad(u)",
                    "--integral", "heat@top = dot(flux, normal)");
        errors[i] = fabs(solve_item(root, "derived", 0, "integral", 0) - exact);
        json_decref(root);
    }
    assert_true(errors[1] < 0.05);
    assert_true(errors[0] / errors[1] > 1.8); /* first order */
    (void)pi;
}

/* Which cells and nodes the file has, as weft reads it again: the mesh; the fields by their names. */
static void fields_are_written(void **state) {
    (void)state;
    char *folder = test_folder_make(), path[4096];
    snprintf(path, sizeof path, "%s/u.vtkhdf", folder);
    json_decref(
        POISSON(0, "--mesh", "square:4", "--derive", "flux = -kappa*grad(u)", "--output", path));
    size_t length = 0;
    char *data = NULL;
    assert_int_equal(weft_file_read(path, &data, &length, NULL), WEFT_OK);
    assert_non_null(memmem(data, length, "CellData", 8));
    assert_non_null(memmem(data, length, "flux", 4));
    free(data);
    json_decref(POISSON(0, "--mesh", path));
    test_folder_remove(&folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reactions_balance_loads),
        cmocka_unit_test(reaction_of_the_whole_boundary),
        cmocka_unit_test(nonlinear_reactions),
        cmocka_unit_test(formulas_by_group_on_facets),
        cmocka_unit_test(flux_of_a_known_solution),
        cmocka_unit_test(fields_are_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
