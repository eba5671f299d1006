/* labels: quick */
/* Bad input to advection_diffusion: exit 2, one message on stderr that names the place and says
 * what to do, nothing on stdout, and an output file that was there before is untouched. */
#include "test_support.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARGUMENTS_MAX = 16, FRAGMENTS_MAX = 4 };

typedef struct bad_case {
    const char *arguments[ARGUMENTS_MAX]; /* a leading '@' is the test's folder */
    const char *expected[FRAGMENTS_MAX];  /* what stderr must contain */
} bad_case;

#define TIME "--dt=0.1", "--steps=1"
#define SQUARE "--mesh=square:2", TIME

static const bad_case cases[] = {
    {{TIME, "--diffusivity=1"}, {"no mesh is given", "hint: add --mesh"}},
    {{"--mesh=square:2", "--steps=1", "--diffusivity=1"}, {"no time step is given", "--dt H"}},
    {{"--mesh=square:2", "--dt=1", "--diffusivity=1"}, {"no number of steps", "--steps N"}},
    {{SQUARE}, {"neither --velocity nor --diffusivity is given", "hint:"}},
    {{SQUARE, "--difusivity=1"}, {"unknown option '--difusivity'", "did you mean '--diffusivity'"}},
    {{"--mesh=square:2", "--diffusivity=1", "--steps=1", "--dt=-0.1"},
     {"--dt:1:1", "longer than 0", "-0.1", "hint:"}},
    {{"--mesh=square:2", "--diffusivity=1", "--steps=1", "--dt=0"}, {"--dt:1:1", "longer than 0"}},
    {{"--mesh=square:2", "--diffusivity=1", "--dt=1", "--steps=-3"},
     {"--steps:1:1", "out of range"}},
    {{SQUARE, "--diffusivity=1", "--theta=1.5"}, {"--theta:1:1", "between 0 and 1"}},
    {{SQUARE, "--diffusivity=1", "--theta=-0.1"}, {"--theta:1:1", "between 0 and 1"}},
    {{SQUARE, "--diffusivity=1", "--splitting=strnag"}, {"did you mean 'strang'"}},
    {{SQUARE, "--diffusivity=1", "--mass=lump"}, {"did you mean 'lumped'"}},
    {{SQUARE, "--diffusivity=1", "--reassemble=always"}, {"auto, once or every-step"}},
    {{SQUARE, "--diffusivity=1", "--assembly=cse"}, {"did you mean 'csr'"}},
    {{SQUARE, "--diffusivity=1", "--output-every=0"}, {"--output-every:1:1", "out of range"}},
    {{SQUARE, "--diffusivity=1", "--checkpoint-every=2"},
     {"--checkpoint-every", "--checkpoint FILE"}},
    {{SQUARE, "--diffusivity=1", "--output-every=2", "--output=@/old.txt"}, {"ends in .vtkhdf"}},
    {{SQUARE, "--diffusivity=1", "--checkpoint=@/c.h5"}, {"--checkpoint", "ends in .vtkhdf"}},
    {{SQUARE, "--diffusivity=1", "--checkpoint=@/none/c.vtkhdf"}, {"none/c.vtkhdf", "hint:"}},
    {{SQUARE, "--diffusivity=1", "--checkpoint=@/old.vtkhdf"}, {"--output would write over"}},
    /* formulas */
    {{SQUARE, "--velocity=1,"}, {"--velocity:1:3", "an expression is missing"}},
    {{SQUARE, "--velocity=1,sin(x"}, {"--velocity:1:6", "sin(x"}},
    {{SQUARE, "--velocity=1"}, {"--velocity", "1 expressions", "2 dimensions", "EXPR,EXPR"}},
    {{SQUARE, "--velocity=1,2,3"}, {"--velocity", "3 expressions", "2 dimensions"}},
    {{"--mesh=cube:2", TIME, "--velocity=1,2"}, {"2 expressions", "3 dimensions"}},
    {{SQUARE, "--diffusivity=1,2;3"}, {"--diffusivity:1:5", "another length"}},
    {{SQUARE, "--diffusivity=1,2"}, {"2 expressions", "'E11,E12;E21,E22'"}},
    {{SQUARE, "--diffusivity=1,0,0;0,1,0;0,0,1"}, {"9 expressions", "2 dimensions"}},
    {{SQUARE, "--velocity=1,z"}, {"--velocity:1:1", "'z' is not defined", "2 dimensions"}},
    {{SQUARE, "--diffusivity=1", "--initial=2*tt"},
     {"--initial:1:3", "x, y, z, t", "did you mean"}},
    {{SQUARE, "--diffusivity=1", "--exact=1+"}, {"--exact:1:"}},
    {{SQUARE, "--diffusivity=1", "--dirichlet", "left=x y"}, {"--dirichlet left:1:3"}},
    {{SQUARE, "--diffusivity=1", "--dirichlet", "lefft=1"},
     {"lefft", "left, right", "did you mean"}},
    {{SQUARE, "--diffusivity=1", "--probe=0,0,0"}, {"--probe:1:1", "3 coordinates", "X,Y"}},
    {{SQUARE, "--diffusivity=1", "--initial=1/x"}, {"--initial", "not finite", "(0, 0)", "hint:"}},
    {{SQUARE, "--diffusivity=1", "--dirichlet", "left=log(x)"}, {"--dirichlet left", "not finite"}},
    {{SQUARE, "--velocity=1,log(x-2)"}, {"--velocity", "not finite"}},
    /* tensors: eigenvalues of (1 2; 2 1) are -1 and 3 */
    {{SQUARE, "--diffusivity=1,2;2,1"},
     {"--diffusivity", "not positive definite at (", "eigenvalues there are -1, 3", "hint:"}},
    {{SQUARE, "--diffusivity=1,1;1,1"}, {"not positive definite", "eigenvalues"}},
    {{SQUARE, "--diffusivity=1,2;3,9"}, {"not symmetric", "E12 is 2, E21 is 3", "hint:"}},
    {{"--mesh=square:8", TIME, "--diffusivity=x-0.25,0;0,1"}, {"not positive definite at (0.0"}},
    {{"--mesh=cube:2", TIME, "--diffusivity=2,0,0;0,1,2;0,2,1"},
     {"eigenvalues there are -1, 2, 3"}},
    {{"--mesh=square:8", TIME, "--diffusivity=x-0.25"}, {"the diffusivity is negative at (0.0"}},
    {{SQUARE, "--diffusivity=log(x-2)"}, {"--diffusivity", "not finite"}},
    /* restarts */
    {{SQUARE, "--diffusivity=1", "--restart=@/none.vtkhdf"},
     {"none.vtkhdf", "no whole checkpoint"}},
    {{SQUARE, "--diffusivity=1", "--restart=@/text.vtkhdf"},
     {"text.vtkhdf", "no whole checkpoint"}},
    {{"--mesh=square:3", TIME, "--diffusivity=1", "--restart=@/good.vtkhdf"},
     {"good.vtkhdf", "another mesh", "hint:"}},
    {{SQUARE, "--diffusivity=2", "--restart=@/good.vtkhdf"},
     {"good.vtkhdf", "another problem", "--diffusivity '1'", "--diffusivity '2'"}},
    {{"--mesh=square:2", "--dt=0.1", "--steps=0", "--diffusivity=1", "--restart=@/good.vtkhdf"},
     {"after step 1", "raise --steps"}},
    {{SQUARE, "--diffusivity=1", "--restart=@/result.vtkhdf"}, {"this is no checkpoint", "hint:"}},
};

static char *expand(const char *folder, const char *argument) {
    const char *at = strchr(argument, '@');
    char *out = NULL;
    int n = at ? asprintf(&out, "%.*s%s%s", (int)(at - argument), argument, folder, at + 1)
               : asprintf(&out, "%s", argument);
    assert_true(n >= 0);
    return out;
}

static int count(const char *text, const char *word) {
    int n = 0;
    for (const char *c = strstr(text, word); c; c = strstr(c + 1, word))
        ++n;
    return n;
}

static void check_message(const bad_case *bad, const test_run *run) {
    bool fine = run->exit_code == 2 && count(run->error, "error: ") == 1 && run->output[0] == '\0';
    for (int i = 0; i < FRAGMENTS_MAX && bad->expected[i]; ++i)
        fine = fine && strstr(run->error, bad->expected[i]);
    if (fine)
        return;
    for (int i = 0; i < ARGUMENTS_MAX && bad->arguments[i]; ++i)
        print_error("%s ", bad->arguments[i]);
    print_error("\nexit %d\nstdout: %s\nstderr: %s\n", run->exit_code, run->output, run->error);
    for (int i = 0; i < FRAGMENTS_MAX && bad->expected[i]; ++i)
        if (!strstr(run->error, bad->expected[i]))
            print_error("missing: %s\n", bad->expected[i]);
    fail();
}

static test_run run_case(const char *folder, const char *const *arguments) {
    const char *command[ARGUMENTS_MAX + 4] = {WEFT_BINARY_DIR "/advection_diffusion"};
    char *owned[ARGUMENTS_MAX + 1] = {0};
    int n = 1;
    command[n++] = owned[ARGUMENTS_MAX] = expand(folder, "--output=@/old.vtkhdf");
    for (int i = 0; i < ARGUMENTS_MAX && arguments[i]; ++i)
        command[n++] = owned[i] = expand(folder, arguments[i]);
    test_run run = test_program(command, NULL);
    for (int i = 0; i <= ARGUMENTS_MAX; ++i)
        free(owned[i]);
    return run;
}

/* A checkpoint and a result of one step on a mesh of 2 by 2. */
static void write_files(const char *folder) {
    char *text = test_path(folder, "text.vtkhdf"), *old = test_path(folder, "old.vtkhdf");
    const char *const arguments[] = {SQUARE,
                                     "--diffusivity=1",
                                     "--checkpoint=@/good.vtkhdf",
                                     "--output=@/result.vtkhdf",
                                     "--quiet",
                                     NULL};
    test_run run = run_case(folder, arguments);
    assert_int_equal(run.exit_code, 0);
    test_run_free(&run);
    test_text_write(text, "no HDF5 file");
    test_text_write(old, "old");
    free(text);
    free(old);
}

static void messages(void **state) {
    (void)state;
    char *folder = test_folder_make(), *old = test_path(folder, "old.vtkhdf");
    write_files(folder);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        test_run run = run_case(folder, cases[i].arguments);
        check_message(&cases[i], &run);
        test_run_free(&run);
        char *kept = test_file_read(old, NULL);
        assert_string_equal("old", kept);
        free(kept);
    }
    free(old);
    test_folder_remove(&folder);
}

/* What is no error, but must be said: before the first step, and at the one that goes wrong. */
static void warnings(void **state) {
    (void)state;
    static const struct {
        const char *arguments[ARGUMENTS_MAX];
        int exit_code;
        const char *expected[FRAGMENTS_MAX];
    } told[] = {
        {{"--mesh=square:16", "--velocity=1,0", "--dt=0.2", "--steps=1", "--initial=x"},
         0,
         {"warning: the CFL number is 3.2, above 1.15", "--dt 0.07"}},
        {{"--mesh=square:16", "--velocity=1,0", "--dt=0.05", "--steps=1", "--initial=x"}, 0, {""}},
        {{"--mesh=square:16", "--velocity=1,0", "--dt=0.3", "--steps=400", "--initial=sin(30*x*y)"},
         1,
         {"stopped after step", "blow_up", "a million times", "hint:"}},
        {{"--mesh=square:8", "--diffusivity=1", "--dt=0.01", "--steps=3", "--initial=x",
          "--dirichlet=left=1/(0.015-t)^0.5"},
         1,
         {"stopped after step 2 ", "nan", "no longer finite", "hint:"}},
        {{"--mesh=square:8", "--diffusivity=1", "--dt=0.01", "--steps=3", "--initial=x*y",
          "--max-iterations=1"},
         1,
         {"stopped after step 1 ", "diffusion_not_converged", "--max-iterations"}},
        {{"--mesh=square:8", "--velocity=1,0", "--dt=0.01", "--steps=3", "--initial=x*y",
          "--max-iterations=1"},
         1,
         {"stopped after step 1 ", "advection_not_converged", "--max-iterations"}},
        {{"--mesh=square:8", "--diffusivity=1", "--theta=0", "--dt=0.1", "--steps=0"},
         0,
         {"warning: with --theta 0 the diffusion"}},
        {{"--mesh=square:8", "--velocity=t,0", "--reassemble=once", "--dt=0.1", "--steps=1"},
         0,
         {"warning: --reassemble once: the coefficients stay as they are at t = 0"}}};
    char *folder = test_folder_make();
    for (size_t i = 0; i < sizeof told / sizeof told[0]; ++i) {
        test_run run = run_case(folder, told[i].arguments);
        bool fine = run.exit_code == told[i].exit_code;
        for (int k = 0; k < FRAGMENTS_MAX && told[i].expected[k]; ++k)
            fine = fine && strstr(run.error, told[i].expected[k]) &&
                   (told[i].expected[k][0] || run.error[0] == '\0');
        if (!fine)
            fail_msg("case %zu: exit %d, %s", i, run.exit_code, run.error);
        test_run_free(&run);
    }
    test_folder_remove(&folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(messages), cmocka_unit_test(warnings)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
