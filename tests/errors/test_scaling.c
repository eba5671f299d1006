/* labels: quick */
/* Bad input to scaling: exit 2, one message on stderr that names the place and says what to do,
 * nothing on stdout, and no folder made. */
#include "test_support.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ARGUMENTS_MAX = 12, FRAGMENTS_MAX = 3 };

typedef struct bad_case {
    const char *arguments[ARGUMENTS_MAX]; /* "OUT" is a folder that is not there yet */
    const char *expected[FRAGMENTS_MAX];  /* what stderr must contain */
} bad_case;

static const bad_case cases[] = {
    {{"--sizes=4"}, {"no folder is given", "add --out DIR"}},
    {{"--out", "OUT"}, {"--mesh square: no sizes are given", "--sizes 32,64,128"}},
    {{"--out=", "--sizes=4"}, {"the folder's name is empty"}},
    {{"--out", "OUT", "--app=poison", "--sizes=4"}, {"--app:1:1", "did you mean 'poisson'"}},
    {{"--out", "OUT", "--sizes=4,x"}, {"--sizes:1:1"}},
    {{"--out", "OUT", "--sizes=4,,8"}, {"--sizes:1:3: error: this is empty"}},
    {{"--out", "OUT", "--sizes=4,8,"}, {"--sizes:1:5: error: this is empty"}},
    {{"--out", "OUT", "--sizes=4,8,4"}, {"--sizes:1:5: error: this was given before"}},
    {{"--out", "OUT", "--sizes=4.5"}, {"--sizes:1:1", "whole number"}},
    {{"--out", "OUT", "--sizes=-4"}, {"--sizes:1:1", "out of range"}},
    {{"--out", "OUT", "--sizes=0"}, {"--sizes:1:1", "out of range"}},
    {{"--out", "OUT", "--sizes=4,4.0"}, {"square:4 is given twice"}},
    {{"--out", "OUT", "--mesh=square:4", "--sizes=8"}, {"--sizes has no effect here", "--refine"}},
    {{"--out", "OUT", "--mesh=square:4", "--mesh=square:4"}, {"square:4 is given twice"}},
    {{"--out", "OUT", "--mesh=missing.geo", "--sizes=0.1"}, {"missing.geo", "No such file"}},
    {{"--out", "OUT", "--mesh=missing.vtkhdf"}, {"missing.vtkhdf"}},
    {{"--out", "OUT", "--sizes=4", "--refine=x"}, {"--refine:1:1"}},
    {{"--out", "OUT", "--sizes=4", "--refine=0..13"}, {"--refine:1:1", "between 0 and 12"}},
    {{"--out", "OUT", "--sizes=4", "--refine=3..1"}, {"--refine:1:1", "between 3 and 12"}},
    {{"--out", "OUT", "--sizes=4", "--refine=2,1"}, {"--refine:1:1", "between 3 and 12"}},
    {{"--out", "OUT", "--sizes=4", "--refine=1,1"}, {"--refine:1:3", "given before"}},
    {{"--out", "OUT", "--sizes=4", "--refine=.."}, {"--refine:1:1"}},
    {{"--out", "OUT", "--sizes=4", "--assembly=cssr"}, {"--assembly:1:1", "did you mean 'csr'"}},
    {{"--out", "OUT", "--sizes=4", "--assembly=csr,all"}, {"--assembly:1:1", "'all'"}},
    {{"--out", "OUT", "--sizes=4", "--device=hots"}, {"hots"}},
    {{"--out", "OUT", "--sizes=4", "--device=null"}, {"the device null computes nothing"}},
    {{"--out", "OUT", "--sizes=4", "--device=host:0"}, {"host:0"}},
    {{"--out", "OUT", "--sizes=4", "--device=host,host"}, {"--device:1:6", "given before"}},
    {{"--out", "OUT", "--sizes=4", "--threads=1,0"}, {"--threads:1:1", "out of range"}},
    {{"--out", "OUT", "--sizes=4", "--threads=two"}, {"--threads:1:1"}},
    {{"--out", "OUT", "--sizes=4", "--threads=1", "--device=host:2"},
     {"--threads needs the device host"}},
    {{"--out", "OUT", "--sizes=4", "--threads=1", "--device=host,host:1"},
     {"the device host:1 is given twice"}},
    {{"--out", "OUT", "--sizes=4", "--fit-dt"}, {"--fit-dt has no effect here"}},
    {{"--out", "OUT", "--app=advection_diffusion", "--sizes=4", "--fit-dt"},
     {"--fit-dt has no effect here", "a problem given after"}},
    {{"--out", "OUT", "--app=advection_diffusion", "--sizes=4", "--fit-dt", "--", "--dt", "0.1"},
     {"--fit-dt needs --steps behind --"}},
    {{"--out", "OUT", "--app=advection_diffusion", "--sizes=4", "--fit-dt", "--", "--dt=x",
      "--steps=1"},
     {"--dt:1:1"}},
    {{"--out", "OUT", "--sizes=4", "--repeat=0"}, {"--repeat:1:1", "out of range"}},
    {{"--out", "OUT", "--sizes=4", "--repeat=1.5"}, {"--repeat:1:1", "whole number"}},
    {{"--out", "OUT", "--sizes=4", "--warmup=-1"}, {"--warmup:1:1", "out of range"}},
    {{"--out", "OUT", "--sizes=4", "--sise=4"}, {"unknown option '--sise'", "'--size"}},
    {{"--out", "OUT", "--sizes"}, {"option '--sizes' needs a value", "--sizes N1,N2,..."}},
    {{"--out", "OUT", "--sizes=4", "--no-plots=1"}, {"'--no-plots' takes no value"}},
    {{"--out", "OUT", "square:4"}, {"unexpected argument 'square:4'", "behind --"}},
    {{"--out", "OUT", "--sizes=4", "--", "--mesh=square:9"}, {"--mesh cannot be given to the app"}},
    {{"--out", "OUT", "--sizes=4", "--", "--json", "x"}, {"--json cannot be given to the app"}},
    {{"--out", "OUT", "--sizes=4", "--", "--device", "host"}, {"--device cannot be given"}},
    {{"--out", "OUT", "--sizes=4", "--", "--output=x"}, {"--output cannot be given"}},
    {{"--out", "/dev/null", "--sizes=4"}, {"/dev/null: error: cannot open this folder"}},
    {{"--out", "OUT/of/order", "--sizes=4"}, {"cannot make this folder: No such file"}},
};

static void test_cases(void **state) {
    (void)state;
    char *folder = test_folder_make(), *out = test_path(folder, "out");
    char *deep = test_path(folder, "out/of/order");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        const char *command[ARGUMENTS_MAX + 2] = {WEFT_BINARY_DIR "/scaling"};
        for (int k = 0; k < ARGUMENTS_MAX && cases[i].arguments[k]; ++k) {
            const char *text = cases[i].arguments[k];
            command[k + 1] = strcmp(text, "OUT") == 0            ? out
                             : strcmp(text, "OUT/of/order") == 0 ? deep
                                                                 : text;
        }
        test_run run = test_program(command, NULL);
        bool fine = run.exit_code == 2 && run.output[0] == '\0' && access(out, F_OK) != 0;
        for (int k = 0; k < FRAGMENTS_MAX && cases[i].expected[k]; ++k)
            fine = fine && strstr(run.error, cases[i].expected[k]);
        if (!fine)
            fail_msg("case %zu, %s %s: exit %d, out '%s', error '%s'", i, cases[i].arguments[0],
                     cases[i].arguments[ARGUMENTS_MAX - 1] ? "" : "...", run.exit_code, run.output,
                     run.error);
        test_run_free(&run);
    }
    free(deep);
    free(out);
    test_folder_remove(&folder);
}

/* A folder with something else in it is left as it is; so is a file that is not a study's. */
static void test_folders(void **state) {
    (void)state;
    char *folder = test_folder_make(), *other = test_path(folder, "thesis.tex");
    char *study = test_path(folder, "study.jsonl");
    const char *command[] = {WEFT_BINARY_DIR "/scaling", "--out", folder, "--sizes=4", NULL};
    test_text_write(other, "text\n");
    test_run run = test_program(command, NULL);
    assert_int_equal(run.exit_code, 2);
    assert_non_null(strstr(run.error, "this folder is not empty and holds no study"));
    assert_int_not_equal(access(study, F_OK), 0);
    test_run_free(&run);
    static const char *const texts[][2] = {
        {"hello\n", "study.jsonl:1:1: error: this line is not JSON"},
        {"[1]\n", "this is not a study of Weft"},
        {"{\"weft_scaling\":2,\"question\":{}}\n", "this study has the format of another version"},
        {"{\"weft_scaling\":1,\"question\":{}}\n", "this folder holds another study"}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; ++i) {
        test_text_write(study, texts[i][0]);
        run = test_program(command, NULL);
        if (run.exit_code != 2 || !strstr(run.error, texts[i][1]))
            fail_msg("%s: exit %d, %s", texts[i][0], run.exit_code, run.error);
        char *kept = test_file_read(study, NULL);
        assert_string_equal(kept, texts[i][0]);
        free(kept);
        test_run_free(&run);
    }
    free(study);
    free(other);
    test_folder_remove(&folder);
}

/* What the app refuses is reported in its own words; the study ends with 1, for other cases might
 * run. */
static void test_app_refuses(void **state) {
    (void)state;
    char *folder = test_folder_make(), *out = test_path(folder, "out");
    const char *command[] = {WEFT_BINARY_DIR "/scaling",
                             "--out",
                             out,
                             "--sizes=4",
                             "--assembly=csr",
                             "--repeat=1",
                             "--",
                             "--source",
                             "1 + * x",
                             NULL};
    test_run run = test_program(command, NULL);
    assert_int_equal(run.exit_code, 1);
    assert_non_null(strstr(run.error, "square:4 | csr | host failed: --source:1:5"));
    test_run_free(&run);
    free(out);
    test_folder_remove(&folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases), cmocka_unit_test(test_folders),
                                       cmocka_unit_test(test_app_refuses)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
