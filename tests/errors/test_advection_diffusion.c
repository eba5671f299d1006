/* labels: quick */
/* Bad input to advection_diffusion: exit 2, one message on stderr that names the place and says
 * what to do, nothing on stdout, and an output file that was there before is untouched. */
#include "bad_run.h"

#define TIME "--dt=0.1", "--steps=1"
#define SQUARE "--mesh=square:2", TIME
#define OLD "--output=@/old.vtkhdf"

static const bad_case cases[] = {
    {NULL, {TIME, "--diffusivity=1"}, {"no mesh is given", "hint: add --mesh"}},
    {NULL,
     {"--mesh=square:2", "--steps=1", "--diffusivity=1"},
     {"no time step is given", "--dt H"}},
    {NULL, {"--mesh=square:2", "--dt=1", "--diffusivity=1"}, {"no number of steps", "--steps N"}},
    {NULL, {SQUARE}, {"neither --velocity nor --diffusivity is given", "hint:"}},
    {NULL,
     {SQUARE, "--diffusivity=1", "--tie=left"},
     {"--tie: error: constraints between nodes, and values and loads at points, are not for steps "
      "of "
      "advection and diffusion",
      "hint: take solve heat.weft --time DT,END"}},
    {NULL, {SQUARE, "--diffusivity=1", "--periodic", "left=right"}, {"--periodic: error:"}},
    {NULL, {SQUARE, "--diffusivity=1", "--point-load", "0.5,0.5=1"}, {"--point-load: error:"}},
    {NULL,
     {SQUARE, "--difusivity=1"},
     {"unknown option '--difusivity'", "did you mean '--diffusivity'"}},
    {NULL,
     {"--mesh=square:2", "--diffusivity=1", "--steps=1", "--dt=-0.1"},
     {"--dt:1:1", "longer than 0", "-0.1", "hint:"}},
    {NULL,
     {"--mesh=square:2", "--diffusivity=1", "--steps=1", "--dt=0"},
     {"--dt:1:1", "longer than 0"}},
    {NULL,
     {"--mesh=square:2", "--diffusivity=1", "--dt=1", "--steps=-3"},
     {"--steps:1:1", "out of range"}},
    {NULL, {SQUARE, "--diffusivity=1", "--theta=1.5"}, {"--theta:1:1", "between 0 and 1"}},
    {NULL, {SQUARE, "--diffusivity=1", "--theta=-0.1"}, {"--theta:1:1", "between 0 and 1"}},
    {NULL, {SQUARE, "--diffusivity=1", "--splitting=strnag"}, {"did you mean 'strang'"}},
    {NULL, {SQUARE, "--diffusivity=1", "--mass=lump"}, {"did you mean 'lumped'"}},
    {NULL, {SQUARE, "--diffusivity=1", "--reassemble=always"}, {"auto, once or every-step"}},
    {NULL, {SQUARE, "--diffusivity=1", "--assembly=cse"}, {"did you mean 'csr'"}},
    {NULL, {SQUARE, "--diffusivity=1", "--output-every=0"}, {"--output-every:1:1", "out of range"}},
    {NULL,
     {SQUARE, "--diffusivity=1", "--checkpoint-every=2"},
     {"--checkpoint-every", "--checkpoint FILE"}},
    {NULL,
     {SQUARE, "--diffusivity=1", "--output-every=2", "--output=@/old.txt"},
     {"ends in .pvd or .vtkhdf", "hint:"}},
    {NULL, {SQUARE, "--diffusivity=1", "--checkpoint=@/c.h5"}, {"--checkpoint", "ends in .vtkhdf"}},
    {NULL, {SQUARE, "--diffusivity=1", "--checkpoint=@/none/c.vtkhdf"}, {"none/c.vtkhdf", "hint:"}},
    {NULL, {SQUARE, "--diffusivity=1", "--checkpoint=@/old.vtkhdf"}, {"--output would write over"}},
    /* formulas */
    {NULL, {SQUARE, "--velocity=1,"}, {"--velocity:1:3", "an expression is missing"}},
    {NULL, {SQUARE, "--velocity=1,sin(x"}, {"--velocity:1:6", "sin(x"}},
    {NULL, {SQUARE, "--velocity=1"}, {"--velocity", "1 expressions", "2 dimensions", "EXPR,EXPR"}},
    {NULL, {SQUARE, "--velocity=1,2,3"}, {"--velocity", "3 expressions", "2 dimensions"}},
    {NULL, {"--mesh=cube:2", TIME, "--velocity=1,2"}, {"2 expressions", "3 dimensions"}},
    {NULL, {SQUARE, "--diffusivity=1,2;3"}, {"--diffusivity:1:5", "differ in length"}},
    {NULL, {SQUARE, "--diffusivity=1,2"}, {"2 expressions", "'E11,E12;E21,E22'"}},
    {NULL, {SQUARE, "--diffusivity=1,0,0;0,1,0;0,0,1"}, {"9 expressions", "2 dimensions"}},
    {NULL, {SQUARE, "--velocity=1,z"}, {"--velocity:1:1", "'z' is not defined", "2 dimensions"}},
    {NULL,
     {SQUARE, "--diffusivity=1", "--initial=2*tt"},
     {"--initial:1:3", "x, y, z, t", "did you mean"}},
    {NULL, {SQUARE, "--diffusivity=1", "--exact=1+"}, {"--exact:1:"}},
    {NULL, {SQUARE, "--diffusivity=1", "--dirichlet", "left=x y"}, {"--dirichlet left:1:3"}},
    {NULL,
     {SQUARE, "--diffusivity=1", "--dirichlet", "lefft=1"},
     {"lefft", "left, right", "did you mean"}},
    {NULL,
     {SQUARE, "--diffusivity=1", "--probe=0,0,0"},
     {"--probe 0,0,0: error: this point", "3 coordinates", "X,Y"}},
    {NULL,
     {SQUARE, "--diffusivity=1", "--initial=1/x"},
     {"--initial", "not finite", "(0, 0)", "hint:"}},
    {NULL,
     {SQUARE, "--diffusivity=1", "--dirichlet", "left=log(x)"},
     {"--dirichlet left", "not finite"}},
    {NULL, {SQUARE, "--velocity=1,log(x-2)"}, {"--velocity", "not finite"}},
    /* tensors: eigenvalues of (1 2; 2 1) are -1 and 3 */
    {NULL,
     {SQUARE, "--diffusivity=1,2;2,1"},
     {"--diffusivity", "not positive definite at (", "eigenvalues there are -1, 3", "hint:"}},
    {NULL, {SQUARE, "--diffusivity=1,1;1,1"}, {"not positive definite", "eigenvalues"}},
    {NULL, {SQUARE, "--diffusivity=1,2;3,9"}, {"not symmetric", "E12 is 2, E21 is 3", "hint:"}},
    {NULL,
     {"--mesh=square:8", TIME, "--diffusivity=x-0.25,0;0,1"},
     {"not positive definite at (0.0"}},
    {NULL,
     {"--mesh=cube:2", TIME, "--diffusivity=2,0,0;0,1,2;0,2,1"},
     {"eigenvalues there are -1, 2, 3"}},
    {NULL,
     {"--mesh=square:8", TIME, "--diffusivity=x-0.25"},
     {"the diffusivity is negative at (0.0"}},
    {NULL, {SQUARE, "--diffusivity=log(x-2)"}, {"--diffusivity", "not finite"}},
    /* restarts */
    {NULL,
     {SQUARE, "--diffusivity=1", "--restart=@/none.vtkhdf"},
     {"none.vtkhdf", "this checkpoint is incomplete"}},
    {NULL,
     {SQUARE, "--diffusivity=1", "--restart=@/text.vtkhdf"},
     {"text.vtkhdf", "this checkpoint is incomplete"}},
    {NULL,
     {"--mesh=square:3", TIME, "--diffusivity=1", "--restart=@/good.vtkhdf"},
     {"good.vtkhdf", "another mesh", "hint:"}},
    {NULL,
     {SQUARE, "--diffusivity=2", "--restart=@/good.vtkhdf"},
     {"good.vtkhdf", "another problem", "--diffusivity '1'", "--diffusivity '2'"}},
    {NULL,
     {"--mesh=square:2", "--dt=0.1", "--steps=0", "--diffusivity=1", "--restart=@/good.vtkhdf"},
     {"after step 1", "raise --steps"}},
    {NULL,
     {SQUARE, "--diffusivity=1", "--restart=@/result.vtkhdf"},
     {"this is not a checkpoint", "hint:"}},
};

/* A checkpoint and a result of one step on a mesh of 2 by 2. */
static void write_files(const char *folder) {
    char *text = test_path(folder, "text.vtkhdf"), *old = test_path(folder, "old.vtkhdf");
    const char *const arguments[BAD_ARGUMENTS_MAX] = {SQUARE,
                                                      "--diffusivity=1",
                                                      "--checkpoint=@/good.vtkhdf",
                                                      "--output=@/result.vtkhdf",
                                                      "--quiet",
                                                      NULL};
    test_run run = bad_run("advection_diffusion", folder, NULL, arguments);
    assert_int_equal(run.exit_code, 0);
    test_run_free(&run);
    test_text_write(text, "no HDF5 file");
    test_text_write(old, "old");
    free(text);
    free(old);
}

/* With --overwrite, so that it is not the file of --output that is refused. */
static test_run run_over_old(const char *folder, const bad_case *bad) {
    const char *arguments[BAD_ARGUMENTS_MAX] = {"--overwrite"};
    for (int i = 0; i + 1 < BAD_ARGUMENTS_MAX && bad->arguments[i]; ++i)
        arguments[i + 1] = bad->arguments[i];
    return bad_run("advection_diffusion", folder, OLD, arguments);
}

static void messages(void **state) {
    (void)state;
    char *folder = test_folder_make(), *old = test_path(folder, "old.vtkhdf");
    write_files(folder);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        test_run run = run_over_old(folder, &cases[i]);
        bad_check(&cases[i], 2, &run);
        test_run_free(&run);
        char *kept = test_file_read(old, NULL);
        assert_string_equal("old", kept);
        free(kept);
    }
    free(old);
    test_folder_remove(&folder);
}

/* Warnings: before the first step, and at the one that goes wrong. */
static void warnings(void **state) {
    (void)state;
    static const struct {
        bad_case reported;
        int exit_code;
    } all[] = {
        {{NULL,
          {"--mesh=square:16", "--velocity=1,0", "--dt=0.2", "--steps=1", "--initial=x"},
          {"warning: the CFL number is 3.2, above 1.15", "--dt 0.07"}},
         0},
        {{NULL,
          {"--mesh=square:16", "--velocity=1,0", "--dt=0.05", "--steps=1", "--initial=x"},
          {NULL}},
         0},
        {{NULL,
          {"--mesh=square:16", "--velocity=1,0", "--dt=0.3", "--steps=400",
           "--initial=sin(30*x*y)"},
          {"stopped after step", "blow_up", "a million times", "hint:"}},
         1},
        {{NULL,
          {"--mesh=square:8", "--diffusivity=1", "--dt=0.01", "--steps=3", "--initial=x",
           "--dirichlet=left=1/(0.015-t)^0.5"},
          {"stopped after step 2 ", "nan", "no longer finite", "hint:"}},
         1},
        {{NULL,
          {"--mesh=square:8", "--diffusivity=1", "--dt=0.01", "--steps=3", "--initial=x*y",
           "--max-iterations=1"},
          {"stopped after step 1 ", "diffusion_not_converged", "--max-iterations"}},
         1},
        {{NULL,
          {"--mesh=square:8", "--velocity=1,0", "--dt=0.01", "--steps=3", "--initial=x*y",
           "--max-iterations=1"},
          {"stopped after step 1 ", "advection_not_converged", "--max-iterations"}},
         1},
        {{NULL,
          {"--mesh=square:8", "--diffusivity=1", "--theta=0", "--dt=0.1", "--steps=0"},
          {"warning: with --theta 0 the diffusion"}},
         0},
        {{NULL,
          {"--mesh=square:8", "--velocity=t,0", "--reassemble=once", "--dt=0.1", "--steps=1"},
          {"warning: --reassemble once: the coefficients keep their values at t = 0"}},
         0}};
    char *folder = test_folder_make();
    for (size_t i = 0; i < sizeof all / sizeof all[0]; ++i) {
        test_run run = run_over_old(folder, &all[i].reported);
        bad_check(&all[i].reported, all[i].exit_code, &run);
        if (!all[i].reported.expected[0])
            assert_string_equal(run.error, "");
        test_run_free(&run);
    }
    test_folder_remove(&folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(messages), cmocka_unit_test(warnings)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
