/* labels: quick */
/* Bad derived quantities: exit 2 and one message that points into the user's formula, in the user's
 * names, and says what to do. */
#include "bad_run.h"

static const bad_case poisson_cases[] = {
    {"no formula", {"--derive", "f"}, {"--derive:1:2", "expected '='", "--derive NAME=EXPR"}},
    {"no group", {"--integral", "f@=1"}, {"--integral", "GROUP=EXPR"}},
    {"unknown group",
     {"--integral", "f@lift=1"},
     {"--integral f@lift: error: square:2 has no group `lift`", "did you mean `left`?"}},
    {"unknown name",
     {"--derive", "f = -kapa*grad(u)"},
     {"--derive f:1:2: error: 'kapa' has no value here", "-kapa*grad(u)\n     ^",
      "did you mean 'kappa'?"}},
    {"nothing similar",
     {"--derive", "f = u + qqqq"},
     {"--derive f:1:5", "known here are u, x, y, kappa"}},
    {"unknown function",
     {"--derive", "f = 2*gard(u)"},
     {"--derive f:1:3: error: there is no function 'gard'", "did you mean 'grad'?"}},
    {"gradient of a formula",
     {"--derive", "f = grad(x*u)"},
     {"--derive f:1:6: error: grad is of the solution or a nodal input alone", "write grad(u)"}},
    {"strain of a scalar",
     {"--derive", "f = strain(u)"},
     {"--derive f:1:1: error: the solution has no strain", "as many components as dimensions"}},
    {"z in the plane",
     {"--derive", "f = x + z"},
     {"--derive f:1:5: error: 'z' has no value here", "the mesh is in the plane"}},
    {"normal inside",
     {"--integral", "f = dot(grad(u), normal)"},
     {"--integral f:1:14: error: 'normal' has a value on facets only", "NAME@GROUP = ..."}},
    {"end", {"--derive", "f = u*"}, {"--derive f:1:3: error: expected a value, found the end"}},
    {"statement", {"--derive", "f = 1; g = 2"}, {"--derive f:1:2: error: unexpected ';'"}},
    {"shapes",
     {"--derive", "f = grad(u)*J"},
     {"--derive f:1:9", "real[2] and real[2,2]", "grad(u)*J\n            ^"}},
    {"vector's extrema",
     {"--extrema", "f = grad(u)"},
     {"--extrema f:1:1: error: extrema are of a number, and this formula has 2 components",
      "grad(u)[0]"}},
    {"reserved", {"--derive", "u = 1"}, {"--derive u: error: the name 'u' means something else"}},
    {"no identifier", {"--derive", "2f = 1"}, {"--derive 2f: error: '2f' is not a name"}},
    {"twice", {"--derive", "f=1", "--derive", "f=u"}, {"--derive f: error: 'f' is given twice"}},
    {"circle of fields",
     {"--derive", "g=f", "--derive", "f=g"},
     {"--derive f:1:1: error: 'f' depends on itself"}},
    {"line without a file", {"--line", "0,0:1,1"}, {"--line:1:8", "X,Y:X,Y:N=FILE.csv"}},
    {"line without a number",
     {"--line", "0,0:1=x.csv"},
     {"--line:1:6: error: expected two points and a number of points"}},
    {"line's dimension",
     {"--line", "0,0,0:1,1,1:3=x.csv"},
     {"these points have 3 and 3 coordinates, the mesh has 2 dimensions"}},
    {"line's file",
     {"--line", "0,0:1,1:3=/nowhere/x.csv"},
     {"/nowhere/x.csv: error: cannot write this file"}},
    {"projection", {"--projection", "lumpd"}, {"--projection:1:1", "did you mean 'lumped'?"}},
};

static const bad_case solve_cases[] = {
    {"no elasticity",
     {"diffusion.weft", "--derive", "s = stress(u)"},
     {"--derive s:1:1: error: the solution has no stress"}},
};

static const bad_case time_cases[] = {
    {"history without a file",
     {"--diffusivity=1", "--dt=1", "--steps=1", "--history-every=2"},
     {"--history-every says when to write, but not where", "--history FILE.csv"}},
    {"history's file",
     {"--diffusivity=1", "--dt=1", "--steps=1", "--history=/nowhere/a.csv"},
     {"/nowhere/a.csv: error: cannot write this file"}},
    {"the name of the solution",
     {"--diffusivity=1", "--dt=1", "--steps=1", "--integral", "a = grad(u)[0]"},
     {"--integral a:1:6: error: grad is of the solution", "write grad(T)"}},
};

static void check(const char *program, const bad_case *cases, size_t n) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", WEFT_BINARY_DIR, program);
    for (size_t i = 0; i < n; ++i) {
        const char *command[BAD_ARGUMENTS_MAX + 3] = {path, "--mesh=square:2"};
        for (int k = 0; cases[i].arguments[k]; ++k) /* with '@' as it is */
            command[k + 2] = cases[i].arguments[k];
        test_run run = test_program(command, NULL);
        bad_check(&cases[i], 2, &run);
        test_run_free(&run);
    }
}

static void poisson_messages(void **state) {
    (void)state;
    check("poisson", poisson_cases, sizeof poisson_cases / sizeof *poisson_cases);
}

static void solve_messages(void **state) {
    (void)state;
    check("solve", solve_cases, sizeof solve_cases / sizeof *solve_cases);
}

/* Displacements of a script that calls its constants by other names. */
static void no_constants(void **state) {
    (void)state;
    char *folder = test_folder_make(), path[4096];
    snprintf(path, sizeof path, "%s/own.weft", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("parameter d = 2;\nindex cells, nodes;\nconnectivity dofs : cells -> nodes[d + 1];\n"
          "input x : real[d] over nodes;\nJ = jacobian(x[dofs]);\n"
          "K = elastic_stiffness(tform_dshape(J), J, 1, 1);\n",
          file);
    assert_int_equal(fclose(file), 0);
    const bad_case bad = {"no constants",
                          {path, "--derive", "s = von_mises(stress(u))"},
                          {"--derive s:1:11: error: stress(u) needs values lambda and mu of the "
                           "script",
                           "hooke_stress(strain(u), LAMBDA, MU)"}};
    check("solve", &bad, 1);
    test_folder_remove(&folder);
}

static void time_messages(void **state) {
    (void)state;
    check("advection_diffusion", time_cases, sizeof time_cases / sizeof *time_cases);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(poisson_messages), cmocka_unit_test(solve_messages),
        cmocka_unit_test(no_constants), cmocka_unit_test(time_messages)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
