/* labels: quick */
/* Bad input to solve: exit 2, or 1 where it does not converge, with one message on stderr that
 * names the place and says what to do. What solve and poisson share is in test_bad_poisson.c. */
#include "test_support.h"

#include <stdbool.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARGUMENTS_MAX = 14, FRAGMENTS_MAX = 4 };

typedef struct bad_case {
    const char *name;
    int exit_code;
    const char *script;                   /* text of @/my.weft, or NULL */
    const char *arguments[ARGUMENTS_MAX]; /* a leading '@' is the test's folder */
    const char *expected[FRAGMENTS_MAX];  /* what stderr must contain */
} bad_case;

#define HEAD                                                                                       \
    "parameter d = 2;\nindex cells, nodes;\nconnectivity dofs : cells -> nodes[d + 1];\n"          \
    "input x : real[d] over nodes;\nJ = jacobian(x[dofs]);\n"
#define STIFFNESS "dshape_dot_dshape(tform_dshape(J), J)"
#define MINE "@/my.weft", "--mesh=square:2"

static const bad_case cases[] = {
    {"no script", 2, NULL, {NULL}, {"no script is given", "solve SCRIPT.weft --mesh"}},
    {"no mesh", 2, NULL, {"diffusion.weft"}, {"no mesh is given"}},
    {"two scripts",
     2,
     NULL,
     {"diffusion.weft", "poisson.weft"},
     {"unexpected argument 'poisson.weft'"}},
    {"unknown script",
     2,
     NULL,
     {"elastcity.weft", "--mesh=square:2"},
     {"no such script", "did you mean elasticity.weft?"}},
    {"unknown option", 2, NULL, {"diffusion.weft", "--inptu", "f=1"}, {"did you mean '--input'"}},
    {"syntax in the script",
     2,
     HEAD "K = " STIFFNESS "\nreturn K;\n",
     {MINE},
     {"my.weft:6:42", "expected ';'"}},
    {"unknown function",
     2,
     HEAD "K = dshape_dot_dhape(J, J);\n",
     {MINE},
     {"my.weft:6:5", "did you mean 'dshape_dot_dshape'?"}},
    {"no matrix",
     2,
     HEAD "L = " STIFFNESS ";\n",
     {MINE},
     {"makes no local matrix 'K'", "--matrix NAME"}},
    {"unknown matrix",
     2,
     HEAD "stiff = " STIFFNESS ";\n",
     {MINE, "--matrix=stif"},
     {"--matrix:1:8", "did you mean 'stiff'?"}},
    {"unknown vector",
     2,
     HEAD "K = " STIFFNESS ";\nload[dofs] += mvmul(K, mvmul(x[dofs], J[0]));\n",
     {MINE, "--vector=loads"},
     {"--vector:1:8", "did you mean 'load'?"}},
    {"sparse matrix",
     2,
     HEAD "A[dofs,dofs] += " STIFFNESS ";\n",
     {MINE, "--matrix=A"},
     {"'A' is no local matrix", "without A[dofs,dofs] +="}},
    {"shape of the matrix",
     2,
     HEAD "K = J;\n",
     {MINE},
     {"'K' has not the shape of a local matrix", "real[n*c,n*c] over cells"}},
    {"shape of the vector",
     2,
     HEAD "K = " STIFFNESS ";\nb[dofs] += x[dofs];\n",
     {MINE},
     {"'b' has not the shape of a vector", "1 component a node", "of a real[n]"}},
    {"taken name",
     2,
     HEAD "v = J;\nK = " STIFFNESS ";\n",
     {MINE},
     {"the name 'v' is taken here", "give it another name"}},
    {"an action that is not K v",
     2,
     HEAD "input v : real over nodes;\nK = " STIFFNESS ";\nKv = 2*mvmul(K, v[dofs]);\n",
     {MINE},
     {"'Kv' is not the product of 'K' with v", "5.0e-01"}},
    {"shape of an action",
     2,
     HEAD "input v : real[2] over nodes;\nK = " STIFFNESS ";\nKv = mmul(K, v[dofs]);\n",
     {MINE},
     {"'Kv' has not the shape of K v"}},
    {"no dofs",
     2,
     "index cells, nodes;\nconnectivity map : cells -> nodes[3];\ninput x : real[2] over nodes;\n"
     "K = dshape_dot_dshape(tform_dshape(jacobian(x[map])), jacobian(x[map]));\n",
     {MINE},
     {"no connectivity 'dofs'", "connectivity dofs : cells -> nodes[d + 1];"}},
    {"dimension of the mesh",
     2,
     "index cells, nodes;\nconnectivity dofs : cells -> nodes[3];\ninput x : real[2] over nodes;\n"
     "K = dshape_dot_dshape(tform_dshape(jacobian(x[dofs])), jacobian(x[dofs]));\n",
     {"@/my.weft", "--mesh=cube:2"},
     {"cells of 3 nodes, and those of the mesh have 4", "solve sets d"}},
    {"missing input",
     2,
     HEAD "input k : real over cells;\nK = k*" STIFFNESS ";\n",
     {MINE},
     {"input 'k' has no values", "--input k=EXPR"}},
    {"missing number",
     2,
     HEAD "input k : real;\nK = k*" STIFFNESS ";\n",
     {MINE},
     {"input 'k' has no values", "--input k=NUMBER"}},
    {"unknown input",
     2,
     HEAD "input conductivity : real;\nK = conductivity*" STIFFNESS ";\n",
     {MINE, "--input", "conductvity=1"},
     {"no input 'conductvity'", "did you mean 'conductivity'?"}},
    {"formula for a number",
     2,
     HEAD "input k : real;\nK = k*" STIFFNESS ";\n",
     {MINE, "--input", "k=1+x"},
     {"--input k:1:1", "'1+x' is no number"}},
    {"components of an input",
     2,
     NULL,
     {"anisotropic.weft", "--mesh=square:2", "--input", "D=1,0,1"},
     {"--input D:1:1", "3 expressions stand here, but this input has 4 components"}},
    {"slip in an input",
     2,
     NULL,
     {"anisotropic.weft", "--mesh=@/none.msh", "--input", "D=1,0,0,1+"},
     {"--input D:1:3", "1+"}},
    {"input twice",
     2,
     NULL,
     {"anisotropic.weft", "--input", "D=1,0,0,1", "--input", "D=1,0,0,1"},
     {"--input D is given twice"}},
    {"input that is not finite",
     2,
     HEAD "input k : real over nodes;\nK = dot(k[dofs], k[dofs])*" STIFFNESS ";\n",
     {MINE, "--input", "k=1/x"},
     {"--input k:1:1", "not finite"}},
    {"unknown expression",
     2,
     NULL,
     {"elasticity.weft", "--mesh=square:2", "--define", "yuong=1"},
     {"no expression 'yuong'", "did you mean 'young'?"}},
    {"unknown parameter",
     2,
     NULL,
     {"elasticity.weft", "--mesh=square:2", "--set", "degre=1"},
     {"no parameter 'degre'", "did you mean 'degree'?"}},
    {"the mesh's parameter",
     2,
     NULL,
     {"elasticity.weft", "--mesh=square:2", "--set", "d=3"},
     {"the dimension d is the mesh's"}},
    {"number of a parameter",
     2,
     NULL,
     {"elasticity.weft", "--mesh=square:2", "--set", "degree=high"},
     {"--set degree:1:1", "expected a number"}},
    {"components of a condition",
     2,
     NULL,
     {"elasticity.weft", "--mesh=square:2", "--dirichlet", "left=0"},
     {"--dirichlet left:1:1", "1 expression stands here, but the solution has 2 components",
      "`free`"}},
    {"a formula in space",
     2,
     NULL,
     {"elasticity.weft", "--mesh=square:2", "--dirichlet", "left=0,z"},
     {"--dirichlet left:1:1", "use x and y only"}},
    {"missing expression",
     2,
     NULL,
     {"elasticity.weft", "--mesh=square:2", "--dirichlet", "left=0,,0"},
     {"--dirichlet left:1:3", "an expression is missing here"}},
    {"components of the exact solution",
     2,
     NULL,
     {"elasticity.weft", "--mesh=square:2", "--exact", "x,y,0"},
     {"--exact:1:1", "3 expressions stand here"}},
    {"unknown group",
     2,
     NULL,
     {"elasticity.weft", "--mesh=square:2", "--dirichlet", "lfet=0,0"},
     {"--dirichlet lfet", "did you mean `left`?"}},
    {"nothing fixes a component",
     2,
     NULL,
     {"elasticity.weft", "--mesh=square:2", "--dirichlet", "left=0,free"},
     {"nothing fixes component 1 of u", "--dirichlet or --robin"}},
    {"data that do not balance",
     2,
     NULL,
     {"diffusion.weft", "--mesh=square:4", "--neumann", "left=0"},
     {"must sum to zero", "its sum is 1", "subtract 1"}},
    {"not symmetric",
     2,
     NULL,
     {"anisotropic.weft", "--mesh=square:2", "--input", "D=1,0.5,0,1"},
     {"is not symmetric", "conjugate gradients"}},
    {"vector that is not finite",
     2,
     NULL,
     {"diffusion.weft", "--mesh=square:2", "--define", "source=log(x-2)"},
     {"the vector 'b' is not finite at the node (0, 0)\n"}},
    {"vector that is not finite, in space",
     2,
     NULL,
     {"diffusion.weft", "--mesh=cube:4", "--define", "source=log(0.3-z)"},
     {"the vector 'b' is not finite at the node (0, 0, 0.25)\n"}},
    {"sum of what is no number",
     2,
     NULL,
     {"elasticity.weft", "--mesh=square:2", "--sum", "J"},
     {"'J' is no real over cells"}},
    {"nonlinear without a residual",
     2,
     NULL,
     {"elasticity.weft", "--mesh=square:2", "--nonlinear"},
     {"makes no 'r'", "--vector"}},
    {"nonlinear without u",
     2,
     HEAD "K = " STIFFNESS ";\nr[dofs] += mvmul(K, mvmul(x[dofs], J[0]));\n",
     {MINE, "--nonlinear"},
     {"no input u", "input u : real over nodes;"}},
    {"u of another shape",
     2,
     HEAD "input u : real[2] over nodes;\nK = " STIFFNESS
          ";\nr[dofs] += mvmul(K, mvmul(u[dofs], J[0]));\n",
     {MINE, "--nonlinear"},
     {"the input u has not the shape of the solution", "input u : real over nodes;"}},
    {"linear with u",
     2,
     NULL,
     {"kirchhoff.weft", "--mesh=square:2"},
     {"input 'u' has no values", "--nonlinear"}},
    {"results over the script",
     2,
     HEAD "K = " STIFFNESS ";\n",
     {MINE, "--json", "@/my.weft"},
     {"--json would write over", "another name"}},
    {"missing folder of kernels",
     2,
     NULL,
     {"diffusion.weft", "--mesh=square:2", "--kernels", "@/none"},
     {"none"}},
    /* exit 1: no error of the user's words, but no solution */
    {"indefinite",
     1,
     NULL,
     {"helmholtz.weft", "--mesh=square:4", "--define", "lambda=-100"},
     {"not converged: indefinite", "not positive definite"}},
    {"a bar that is crushed",
     1,
     NULL,
     {"kirchhoff.weft", "--nonlinear", "--mesh=square:4", "--dirichlet", "left=0,0", "--dirichlet",
      "right=-0.9,free", "--newton-iterations", "4"},
     {"Newton's method has not converged", "--load-steps"}},
};

static char *replace_folder(const char *text, const char *folder) {
    const char *at = strchr(text, '@');
    char *out = NULL;
    if (!at || at[1] != '/')
        return strdup(text);
    assert_true(asprintf(&out, "%.*s%s%s", (int)(at - text), text, folder, at + 1) > 0);
    return out;
}

static void check(void **state) {
    const bad_case *c = *state;
    char *folder = test_folder_make(), *path = test_path(folder, "my.weft");
    char *words[ARGUMENTS_MAX + 2] = {strdup(WEFT_BINARY_DIR "/solve")};
    if (c->script)
        test_text_write(path, c->script);
    for (int i = 0; c->arguments[i]; ++i)
        words[i + 1] = replace_folder(c->arguments[i], folder);
    test_run run = test_program((const char *const *)words, NULL);
    bool fine = run.exit_code == c->exit_code && (c->exit_code == 1 || !run.output[0]);
    for (int i = 0; i < FRAGMENTS_MAX && c->expected[i]; ++i)
        fine = fine && strstr(run.error, c->expected[i]);
    if (!fine)
        fail_msg("exit %d, expected %d\n%s%s", run.exit_code, c->exit_code, run.output, run.error);
    test_run_free(&run);
    for (int i = 0; words[i]; ++i)
        free(words[i]);
    free(path);
    test_folder_remove(&folder);
}

int main(void) {
    enum { N = sizeof cases / sizeof *cases };
    struct CMUnitTest tests[N] = {0};
    for (int i = 0; i < N; ++i) {
        tests[i].name = cases[i].name;
        tests[i].test_func = check;
        tests[i].initial_state = (void *)(uintptr_t)&cases[i];
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
