/* labels: quick */
/* Procedures and included files: a call is the statements written out, with the names that it gives. */
#include "fusion/script/script.h"
#include "fusion/weft_library.h"
#include "script_support.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static void expect_text(const char *text, const char *expected) {
    script_case read = script_read_good(text);
    char *printed = script_printed(read.script);
    assert_string_equal(printed, expected);
    free(printed);
    script_case_free(&read);
}

#define LISTS "index N;\ninput a, b, c : real over N;\ninput s : real;\n"

/* By substitution: names, expressions, a name that is given back, and names of its own. */
static void calls_are_written_out(void **state) {
    (void)state;
    expect_text("procedure twice(x, y) { t = 2*x; y = t + x; }\n" LISTS
                "twice(a, p);\ntwice(b - c, q);\nreturn p, q;\n",
                LISTS "t__1 = 2*a;\np = t__1 + a;\nt__2 = 2*(b - c);\nq = t__2 + (b - c);\n"
                      "return p, q;\n");
    /* a key is no formal, nor is a name that stands for something else */
    expect_text("procedure f(degree, J, b) { b = quadrature_load(degree, J, degree = 2); }\n"
                "index E;\ninput g : real[3] over E;\ninput J : real[2,2] over E;\n"
                "f(g, J, r);\nreturn r;\n",
                "index E;\ninput g : real[3] over E;\ninput J : real[2, 2] over E;\n"
                "r = quadrature_load(g, J, degree = 2);\nreturn r;\n");
    /* procedures in procedures: what the inner one gives back is the outer one's own */
    expect_text("procedure inner(x, y) { y = 3*x; }\n"
                "procedure outer(x, z) { inner(x, y); inner(y, z); }\n" LISTS
                "outer(a, p);\nouter(b, q);\nreturn p, q;\n",
                LISTS "y__1 = 3*a;\np = 3*y__1;\ny__4 = 3*b;\nq = 3*y__4;\nreturn p, q;\n");
    /* a factor 1 is left out, not what it is the divisor of */
    expect_text("procedure f(k, x, y, z) { y = k*x; z = x/k*x; }\n" LISTS
                "f(1, a, p, q);\nreturn p, q;\n",
                LISTS "p = a;\nq = a/1*a;\nreturn p, q;\n");
}

/* In loops and blocks, where the call stands. */
static void blocks_and_loops(void **state) {
    (void)state;
    expect_text("procedure step(x, by) { d = by*x; update x = x + d; }\n"
                "index N plain;\ninput x : real over N;\ninput t, end, h : real;\n"
                "repeat at most 9 while (t < end) {\n    step(x, h*h);\n    update t = t + h;\n}\n",
                "index N plain;\ninput x : real over N;\ninput t, end, h : real;\n"
                "repeat at most 9 while (t < end) {\n    d__1 = h*h*x;\n    update x = x + d__1;\n"
                "    update t = t + h;\n}\n");
    expect_text("procedure both(x, y) { y = 2*x; z = x*x; w = y + z; update x = w; }\n"
                "index N plain;\ninput x : real over N;\ntogether { both(x, p); }\nreturn p;\n",
                "index N plain;\ninput x : real over N;\ntogether {\np = 2*x;\n"
                "z__1 = x*x;\nw__1 = p + z__1;\nupdate x = w__1;\n}\nreturn p;\n");
    /* the words are names elsewhere */
    expect_text(
        "index N;\ninput include : real over N;\nprocedure = 2*include;\nreturn procedure;\n",
        "index N;\ninput include : real over N;\nprocedure = 2*include;\nreturn procedure;\n");
}

static void write_file(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

/* Beside the including file, once; and one that is shipped. */
static void files(void **state) {
    char folder[] = "/tmp/weft-procedures-XXXXXX", main[64], own[64], other[64], hash[3][33];
    const weft_compile_options options = {.size = sizeof options};
    weft_library *library = NULL;
    weft_error error = {0};
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(main, sizeof main, "%s/main.weft", folder);
    snprintf(own, sizeof own, "%s/own.weft", folder);
    snprintf(other, sizeof other, "%s/other.weft", folder);
    write_file(own, "include other;\ninclude own;\nprocedure f(x, y) { y = 2*x; }\n");
    write_file(other, "parameter n = 7;\n");
    const char *const text =
        "include own;\ninclude other;\ninclude cg;\nindex N;\ninput x : real[n] over N;\n"
        "f(x, y);\nreturn y;\n";
    const weft_fragment fragment = {main, text};
    script_case read = script_read_fragments(&fragment, 1, NULL);
    char *printed = script_printed(read.script);
    assert_string_equal(
        printed, "index N;\nparameter n = 7;\ninput x : real[n] over N;\ny = 2*x;\nreturn y;\n");
    free(printed);
    script_case_free(&read);
    /* what depends on the script's text depends on theirs */
    assert_int_equal(weft_library_make(&library, &error), WEFT_OK);
    for (int i = 0; i < 3; ++i) {
        write_file(own,
                   i < 2 ? "procedure f(x, y) { y = 2*x; }\n" : "procedure f(x, y) { y = 3*x; }\n");
        assert_int_equal(weft_script_hash(library, &fragment, 1, &options, hash[i], &error),
                         WEFT_OK);
    }
    assert_string_equal(hash[0], hash[1]);
    assert_string_not_equal(hash[1], hash[2]);
    weft_library_free(&library);
    assert_int_equal(unlink(own) | unlink(other) | rmdir(folder), 0);
}

static void refused(const char *text, const char *message, const char *hint) {
    script_case read = script_read(text);
    assert_null(read.script);
    assert_string_equal(read.error.message, message);
    assert_string_equal(read.error.hint, hint);
    script_case_free(&read);
}

static void mistakes(void **state) {
    (void)state;
    refused("procedure f(x, y) { y = x; }\n" LISTS "f(a);\n",
            "'f' takes 2 arguments, and 1 are given", "its arguments are (x, y)");
    refused("procedure f(x, y) { y = x; }\n" LISTS "f(a, b + c);\n",
            "'f' assigns to its argument 'y', which must be a name here", "");
    refused("procedure f(x, x) { y = x; }\n", "'x' is used twice", "");
    refused("procedure f(x) { y = x;\n", "there is no '}' for this '{'", "");
    refused("procedure f(x) { f(x); }\n" LISTS "f(a);\n",
            "procedures call each other more than 16 deep: do they call themselves?",
            "in the procedure 'f', called at test.weft:1:18");
    refused("procedure f(x) { y = nothing[; }\n" LISTS "f(a);\n", "expected a value, found ';'",
            "in the procedure 'f', called at test.weft:5:1");
    refused("procedure f(x) { y = x; }\nprocedure f(z) { y = z; }\n",
            "'f' is already a procedure (test.weft:1:11)",
            "every name is given once: choose another name here");
    refused("include cgg;\n", "there is no shipped 'cgg', nor a file cgg.weft",
            "did you mean 'cg'?");
    refused("index N plain;\ninput t : real;\nrepeat at most 2 while (t < 1) { include cg; }\n",
            "'include' must be outside loops and other blocks", "");
    refused("procedure f(x) { y = x; }\n" LISTS "f(a, );\n",
            "'f' takes 1 arguments, and 2 are given", "its arguments are (x)");
    refused("procedure f(x) { y = x; }\n" LISTS "f();\n", "'f' takes 1 arguments, and 0 are given",
            "its arguments are (x)");
    refused("procedure f(x) { y = x; }\n" LISTS "f(a;\n",
            "expected ')' after the arguments, found ';'", "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_are_written_out),
        cmocka_unit_test(blocks_and_loops),
        cmocka_unit_test(files),
        cmocka_unit_test(mistakes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
