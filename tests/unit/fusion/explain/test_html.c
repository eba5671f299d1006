/* labels: quick */
/* The graph of a page is laid out by what the caller gives, or by the library where that fails:
 * with the same page then, whatever the answer was. Names of the script are not part of the
 * question. */
#include "core/weft_core.h"
#include "fusion/weft_compile.h"
#include "program_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char script[] = "index cells, nodes;\n"
                             "connectivity dofs : cells -> nodes[3];\n"
                             "input x : real[2] over nodes;\n"
                             "input quantity : real over nodes;\n"
                             "J = jacobian(x[dofs]);\n"
                             "K = dshape_dot_dshape(tform_dshape(J), J);\n"
                             "y[dofs] += mvmul(K, quantity[dofs]);\n"
                             "s = 2*y;\n"
                             "return s;\n";

typedef struct asked {
    const char *answer; /* what is given back, or NULL */
    char *question;     /* the last one */
} asked;

static char *answer(void *user, const char *dot) {
    asked *a = user;
    free(a->question);
    a->question = strdup(dot);
    return a->answer ? strdup(a->answer) : NULL;
}

static char *page_of(const program_case *c, asked *a) {
    const weft_report_layout layout = {answer, a};
    weft_text out = {0};
    weft_error error = {0};
    case_check(weft_compilation_html(c->compilation, NULL, a ? &layout : NULL, &out, &error),
               &error);
    assert_non_null(out.data);
    return out.data;
}

static void answers_that_are_none(void **state) {
    static const char *const answers[] = {
        NULL,
        "",
        "no JSON",
        "[]",
        "{}",
        "{\"bb\":\"0,0,10,10\"}",
        "{\"bb\":7}",
        "{\"bb\":\"0,0,10,10\",\"objects\":[{\"name\":\"n0\",\"pos\":\"1\"}]}",
        "{\"bb\":\"0,0,10,10\",\"objects\":[{\"name\":\"n0\",\"pos\":\"5,5\"}],\"edges\":[]}",
        "{\"bb\":\"0,0,10,10\",\"objects\":[{\"name\":\"n99999999999999999999\",\"pos\":\"5,5\"}]}",
        "{\"bb\":\"0,0,10,10\",\"objects\":[{\"name\":\"cluster_-1\",\"bb\":\"1,1,2,2\"}]}",
        "{\"bb\":\"0,0,10,10\",\"edges\":[{\"id\":\"e0\",\"pos\":\"\"}]}"};
    (void)state;
    program_case c = case_open(NULL, "null", script, NULL);
    char *own = page_of(&c, NULL);
    for (size_t i = 0; i < sizeof answers / sizeof *answers; ++i) {
        asked a = {answers[i], NULL};
        char *page = page_of(&c, &a);
        if (strcmp(page, own) != 0)
            fail_msg("another page for the answer %s", answers[i] ? answers[i] : "NULL");
        free(a.question);
        free(page);
    }
    free(own);
    case_close(&c);
}

static int count(const char *text, const char *part) {
    int n = 0;
    for (const char *at = text; (at = strstr(at, part)) != NULL; ++at)
        ++n;
    return n;
}

/* 5 calls in 2 kernels, x and quantity above, y and s below. */
static void the_question(void **state) {
    (void)state;
    program_case c = case_open(NULL, "null", script, NULL);
    asked a = {NULL, NULL};
    char *page = page_of(&c, &a);
    assert_non_null(a.question);
    assert_int_equal(count(a.question, "subgraph cluster_"), 2);
    assert_int_equal(count(a.question, "width="), 5 + 2 + 2 + 2);
    assert_null(strstr(a.question, "quantity"));
    assert_null(strstr(a.question, "jacobian"));
    assert_int_equal(count(page, "class=\"call\""), 5);
    assert_int_equal(count(page, "class=\"list\""), 4);
    free(a.question);
    free(page);
    case_close(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(answers_that_are_none),
                                       cmocka_unit_test(the_question)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
