/* labels: quick */
/* Bad constraints and points: exit 2 and one message that names the option and says what to do. */
#include "bad_run.h"

static const bad_case poisson_cases[] = {
    {"one group", {"--periodic", "left"}, {"--periodic:1:5", "expected '='", "GROUP=GROUP"}},
    {"unknown group",
     {"--periodic", "left=rihgt"},
     {"--periodic left=rihgt: error: square:2 has no group `rihgt`", "did you mean `right`?"}},
    {"no partner",
     {"--periodic", "left=bottom"},
     {"--periodic left=bottom: error: the node (0, 0) of `left` has no partner on `bottom`",
      "Periodic Curve"}},
    {"tie", {"--tie", "lft"}, {"--tie lft: error: square:2 has no group `lft`", "`left`?"}},
    {"symmetry of a scalar",
     {"--symmetry", "left"},
     {"--symmetry left: error: the solution has 1 component, and no normal component on `left`"}},
    {"outside",
     {"--point-value", "2,2=1"},
     {"--point-value 2,2=1: error: the point (2, 2) is outside the mesh"}},
    {"load outside",
     {"--point-load", "2,2=1"},
     {"--point-load 2,2=1: error: the point (2, 2) is outside the mesh"}},
    {"coordinates",
     {"--point-value", "0.5,0.5,0.5=1"},
     {"this point has 3 coordinates, the mesh has 2 dimensions"}},
    {"components",
     {"--point-value", "0.5,0.5=1,2"},
     {"2 values are given, but the solution has 1 component"}},
    {"no formula",
     {"--point-load", "0.5,0.5=a"},
     {"--point-load 0.5,0.5=a:1:1: error: 'a' is unknown here"}},
    {"a value that is not finite",
     {"--point-value", "0,0.5=log(x)"},
     {"--point-value 0,0.5=log(x): error: `log(x)` is not finite at (0, 0.5)"}},
    {"time", {"--point-value", "0,0.5=t"}, {"--point-value 0,0.5=t:1:1: error:", "t"}},
    {"no group of points",
     {"--point-load", "lft=1"},
     {"--point-load lft=1: error: square:2 has no group `lft`", "did you mean `left`?"}},
    {"a group of facets",
     {"--point-value", "left=1"},
     {"--point-value left=1: error: `left` of square:2 is not a group of points", "coordinates"}},
    {"a probe on facets",
     {"--probe", "left"},
     {"--probe left: error: `left` of square:2 is not a group of points"}},
    {"no periodic sides",
     {"--periodic", "mesh"},
     {"--periodic mesh: error: square:2 declares no periodic sides", "--periodic GROUP=GROUP"}},
    {"contradiction",
     {"--dirichlet", "left=1", "--point-value", "0,0.5=2"},
     {"--point-value 0,0.5=2: error: this contradicts other conditions at (0, 0.5): they differ by "
      "1",
      "leave one of the conditions out"}},
    {"tied values",
     {"--dirichlet", "left=y", "--tie", "left"},
     {"--tie left: error: this contradicts other conditions"}},
    {"no balance",
     {"--periodic", "left=right", "--periodic", "bottom=top"},
     {"nothing fixes 1 mode of u", "the loads do not balance", "--dirichlet, --point-value"}},
};

static const bad_case solve_cases[] = {
    {"loads of a nonlinear problem",
     {"kirchhoff.weft", "--nonlinear", "--symmetry", "left", "--neumann", "right=1,1"},
     {"nothing fixes 1 mode of u", "the loads do not balance"}},
    {"contradiction in time",
     {"heat.weft", "--time", "0.1,1", "--scheme", "theta", "--dirichlet", "left=t", "--point-value",
      "0,0.5=t^2"},
     {"--point-value 0,0.5=t^2: error: this contradicts other conditions at (0, 0.5): they differ "
      "by 0.09 at t = 0.1"}},
    {"a value that is not finite in time",
     {"heat.weft", "--time", "0.5,1", "--scheme", "theta", "--point-value", "0.5,0.5=1/(t-0.5)"},
     {"--point-value 0.5,0.5=1/(t-0.5): error: `1/(t-0.5)` is not finite at (0.5, 0.5)"}},
    {"contradiction of a nonlinear problem",
     {"kirchhoff.weft", "--nonlinear", "--dirichlet", "left=0,y", "--tie", "left"},
     {"--tie left: error: this contradicts other conditions"}},
};

#define PARTS                                                                                      \
    "V, Q = VectorElement('P', triangle, 2), FiniteElement('DG', triangle, 0)\n"                   \
    "W = V*Q\n"                                                                                    \
    "(u, p), (v, q) = TrialFunctions(W), TestFunctions(W)\n"                                       \
    "a = inner(grad(u), grad(v))*dx - p*div(v)*dx - q*div(u)*dx\n"
static const struct {
    bad_case problem;
    const char *form;
} form_cases[] = {
    {{"a tie of a discontinuous part",
      {"@/bad.ufl", "--tie", "left"},
      {"--tie left: error: component 2 of u is discontinuous, and its values on `left` are those "
       "of "
       "single cells, which cannot be tied",
       "take a continuous (Lagrange) element"}},
     PARTS},
    {{"periodic jumps",
      {"@/bad.ufl", "--periodic", "left=right"},
      {"--periodic left=right: error: ", "bad.ufl has an integral over facets between cells (dS), ",
       "which would have to be over the periodic sides too", "leave --periodic out"}},
     PARTS "a += jump(p)*jump(q)*dS\n"},
    {{"symmetry of scalars",
      {"@/bad.ufl", "--symmetry", "left"},
      {"--symmetry left: error: no part of the mixed solution is a continuous vector with a normal "
       "component on `left`",
       "velocities in a VectorElement"}},
     "W = FiniteElement('P', triangle, 2)*FiniteElement('P', triangle, 1)\n"
     "(u, p), (v, q) = TrialFunctions(W), TestFunctions(W)\n"
     "a = inner(grad(u), grad(v))*dx + p*q*dx\n"},
    {{"components of parts",
      {"@/bad.ufl", "--point-value", "0.5,0.5=1"},
      {"1 value is given, but the solution has 3 components", "or `free`"}},
     PARTS},
    {{"a value against a condition",
      {"@/bad.ufl", "--dirichlet", "left=y,0,free", "--point-value", "0,0.5=1,0,free"},
      {"--point-value 0,0.5=1,0,free: error: this contradicts other conditions at (0, 0.5): they "
       "differ by 0.5"}},
     PARTS},
    {{"discontinuous functions",
      {"@/bad.ufl", "--tie", "left"},
      {"constraints are for continuous (Lagrange) elements", "take a Lagrange element"}},
     "E = FiniteElement('DG', triangle, 1)\n"
     "u, v = TrialFunction(E), TestFunction(E)\n"
     "a = u*v*dx\n"},
    {{"sides without nodes",
      {"@/bad.ufl", "--periodic", "left=lft"},
      {"--periodic left=lft: error: square:2 has no group `lft`", "did you mean `left`?"}},
     PARTS},
};

static void form_messages(void **state) {
    (void)state;
    char *folder = test_folder_make(), *path = test_path(folder, "bad.ufl");
    for (size_t i = 0; i < sizeof form_cases / sizeof *form_cases; ++i) {
        test_text_write(path, form_cases[i].form);
        test_run run = bad_run("solve", folder, "--mesh=square:2", form_cases[i].problem.arguments);
        bad_check(&form_cases[i].problem, 2, &run);
        test_run_free(&run);
    }
    free(path);
    test_folder_remove(&folder);
}

static void check(const char *program, const bad_case *cases, size_t n) {
    char *folder = test_folder_make();
    for (size_t i = 0; i < n; ++i) {
        test_run run = bad_run(program, folder, "--mesh=square:2", cases[i].arguments);
        bad_check(&cases[i], 2, &run);
        test_run_free(&run);
    }
    test_folder_remove(&folder);
}

static void poisson_messages(void **state) {
    (void)state;
    check("poisson", poisson_cases, sizeof poisson_cases / sizeof *poisson_cases);
}

static void solve_messages(void **state) {
    (void)state;
    check("solve", solve_cases, sizeof solve_cases / sizeof *solve_cases);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(poisson_messages),
                                       cmocka_unit_test(solve_messages),
                                       cmocka_unit_test(form_messages)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
