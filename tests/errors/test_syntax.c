/* labels: quick */
/* An error of syntax in a user's script is reported as such, with its place and a caret, by every
 * program that takes scripts, before anything else that is wrong with it; and scaling tells why an
 * app has failed even where it is to be quiet. */
#include "bad_run.h"

#define HEAD                                                                                       \
    "parameter d = 2;\nindex cells, nodes;\nconnectivity dofs : cells -> nodes[d + 1];\n"          \
    "input x : real[d] over nodes;\n"

typedef struct syntax_case {
    const char *name, *script, *expected[BAD_WORDS_MAX];
} syntax_case;

/* None makes a matrix 'K', as a program that looks for it by itself would say. */
static const syntax_case syntaxes[] = {
    {"semicolon in the middle",
     HEAD "J = jacobian(x[dofs])\nK = dshape_dot_dshape(tform_dshape(J), J);\n",
     {"my.weft:5:22: error: expected ';'",
      "    J = jacobian(x[dofs])\n                         ^"}},
    {"semicolon of a declaration",
     "index cells, nodes\nconnectivity dofs : cells -> nodes[3];\nL = 1;\n",
     {"my.weft:1:19: error: expected ';'", "    index cells, nodes\n                      ^"}},
    {"semicolon at the end", HEAD "L = jacobian(x[dofs])", {"my.weft:5:22: error: expected ';'"}},
    {"parenthesis",
     HEAD "K = jacobian(x[dofs];\n",
     {"my.weft:5:21: error: expected ')' to end the arguments, found ';'"}},
    {"brace",
     HEAD "input t : real;\nrepeat at most 3 while (t < 1) {\nupdate t = t + 1;\n",
     {"expected '}' to end the loop", "hint: the loop starts at"}},
    {"statement", HEAD "idnex rows;\n", {"my.weft:5:1: error:", "did you mean 'index'?"}},
    {"character", HEAD "K = 1 @ 2;\n", {"my.weft:5:7: error: '@' has no meaning here"}},
    {"return", HEAD "L = jacobian(x[dofs]);\nreturn L\n", {"my.weft:6:9: error: expected ';'"}},
    {"assigned twice", HEAD "L = 1;\nL = 2;\n", {"my.weft:6:1: error: 'L' is already assigned"}},
};

typedef struct program_case {
    const char *program, *arguments[BAD_ARGUMENTS_MAX];
} program_case;

static const program_case programs[] = {
    {"solve", {"@/my.weft", "--mesh=square:2", "--device=null"}},
    {"solve", {"@/my.weft", "--mesh=square:2", "--nonlinear", "--matrix=M"}},
    {"weft", {"compile", "@/my.weft"}},
    {"weft", {"compile", "@/my.weft", "--plan-file=@/none.json", "--kernels=@/none"}},
    {"weft", {"explain", "@/my.weft"}},
    {"weft", {"calibrate", "--validate", "@/my.weft", "--device=null"}},
};

static void syntax(void **state) {
    const syntax_case *c = *state;
    char *folder = test_folder_make(), *path = test_path(folder, "my.weft");
    test_text_write(path, c->script);
    for (size_t i = 0; i < sizeof programs / sizeof *programs; ++i) {
        bad_case bad = {.name = c->name};
        memcpy(bad.arguments, programs[i].arguments, sizeof bad.arguments);
        memcpy(bad.expected, c->expected, sizeof bad.expected);
        test_run run = bad_run(programs[i].program, folder, NULL, bad.arguments);
        bad_check(&bad, 2, &run);
        test_run_free(&run);
    }
    free(path);
    test_folder_remove(&folder);
}

static void quiet_scaling(void **state) {
    static const bad_case cases[] = {
        {"a formula",
         {"-q", "--sizes=2", "--assembly=csr", "--repeat=1", "--warmup=0", "--no-plots",
          "--out=@/formula", "--", "--source", "x+"},
         {"scaling: error: square:2 | csr | host failed: --source:1:3: error: expected a value",
          "x+\n"}},
        {"no convergence",
         {"-q", "--sizes=20", "--assembly=csr", "--repeat=1", "--warmup=0", "--no-plots",
          "--out=@/iterations", "--", "--max-iterations", "1"},
         {"scaling: error: square:20 | csr | host did not converge: "}}};
    char *folder = test_folder_make();
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        test_run run = bad_run("scaling", folder, NULL, cases[i].arguments);
        bad_check(&cases[i], 1, &run);
        assert_string_equal(run.output, "");
        test_run_free(&run);
    }
    test_folder_remove(&folder);
}

int main(void) {
    enum { N = sizeof syntaxes / sizeof *syntaxes };
    struct CMUnitTest tests[N + 1] = {0};
    for (int i = 0; i < N; ++i) {
        tests[i].name = syntaxes[i].name;
        tests[i].test_func = syntax;
        tests[i].initial_state = (void *)(uintptr_t)&syntaxes[i];
    }
    tests[N] = (struct CMUnitTest)cmocka_unit_test(quiet_scaling);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
