/** Running an app on bad input and looking at what it says. */
#ifndef BAD_RUN_H
#define BAD_RUN_H

#include "test_support.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BAD_ARGUMENTS_MAX = 16, BAD_WORDS_MAX = 4 };

typedef struct bad_case {
    const char *name;                         /* may be NULL */
    const char *arguments[BAD_ARGUMENTS_MAX]; /* an '@' is the test's folder */
    const char *expected[BAD_WORDS_MAX];      /* what stderr must contain */
} bad_case;

static inline char *bad_expand(const char *folder, const char *argument) {
    const char *at = strchr(argument, '@');
    char *out = NULL;
    int n = at ? asprintf(&out, "%.*s%s%s", (int)(at - argument), argument, folder, at + 1)
               : asprintf(&out, "%s", argument);
    assert_true(n >= 0);
    return out;
}

/** Run a program of the build with `first` (may be NULL), then the case's own arguments. */
static inline test_run bad_run(const char *program, const char *folder, const char *first,
                               const char *const arguments[BAD_ARGUMENTS_MAX]) {
    char *command[BAD_ARGUMENTS_MAX + 3] = {NULL};
    int n = 0;
    assert_true(asprintf(&command[n++], "%s/%s", WEFT_BINARY_DIR, program) > 0);
    if (first)
        command[n++] = bad_expand(folder, first);
    for (int i = 0; i < BAD_ARGUMENTS_MAX && arguments[i]; ++i)
        command[n++] = bad_expand(folder, arguments[i]);
    test_run run = test_program((const char *const *)command, NULL);
    for (int i = 0; i < n; ++i)
        free(command[i]);
    return run;
}

/** It has ended with this code, and stderr has these words; with 2, in one message, and there is
 * nothing on stdout. */
static inline void bad_check(const bad_case *bad, int exit_code, const test_run *run) {
    const char *message = strstr(run->error, "error: ");
    bool fine = run->exit_code == exit_code;
    if (exit_code == 2)
        fine = fine && !run->output[0] && message && !strstr(message + 1, "error: ");
    for (int i = 0; i < BAD_WORDS_MAX && bad->expected[i]; ++i)
        fine = fine && strstr(run->error, bad->expected[i]);
    if (fine)
        return;
    print_error("%s:", bad->name ? bad->name : "case");
    for (int i = 0; i < BAD_ARGUMENTS_MAX && bad->arguments[i]; ++i)
        print_error(" %s", bad->arguments[i]);
    print_error("\nexit %d, expected %d\nstdout: %s\nstderr: %s\n", run->exit_code, exit_code,
                run->output, run->error);
    for (int i = 0; i < BAD_WORDS_MAX && bad->expected[i]; ++i)
        if (!strstr(run->error, bad->expected[i]))
            print_error("missing: %s\n", bad->expected[i]);
    fail();
}

#endif
