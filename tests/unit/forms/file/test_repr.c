/* labels: quick */
/* The repr of ufl.Form objects, as UFL 2026.1 with Basix 0.11 wrote them into reprs.txt: above each the rank,
 * the numbers of coefficients and constants, and type:id:degree of the integrals, by UFL. */
#include "forms/weft_ufl.h"
#include "test_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int by_degree(const void *a, const void *b) {
    const weft_ufl_integral_info *first = a, *second = b;
    int types = strcmp(first->type, second->type);
    return types != 0                ? types
           : first->id != second->id ? first->id - second->id
                                     : first->degree - second->degree;
}

/* What was read, in the words of reprs.txt. */
static void describe(const weft_ufl *ufl, char *out, size_t size) {
    weft_ufl_form_info form;
    weft_ufl_integral_info integrals[20];
    weft_ufl_form(ufl, 0, &form);
    assert_true(form.n_integrals <= 20);
    size_t length =
        (size_t)snprintf(out, size, "%d %d %d", form.rank, form.n_coefficients, form.n_constants);
    for (int i = 0; i < form.n_integrals; ++i)
        weft_ufl_integral(ufl, 0, i, &integrals[i]);
    qsort(integrals, (size_t)form.n_integrals, sizeof *integrals, by_degree);
    for (int i = 0; i < form.n_integrals && length < size; ++i)
        length += (size_t)snprintf(out + length, size - length, " %s:%d:%d", integrals[i].type,
                                   integrals[i].id, integrals[i].degree);
}

static void test_forms(void **state) {
    (void)state;
    char *text = NULL, ours[1000];
    int n = 0;
    assert_int_equal(
        weft_file_read(WEFT_SOURCE_DIR "/tests/unit/forms/file/reprs.txt", &text, NULL, NULL),
        WEFT_OK);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"), ++n) {
        weft_ufl *ufl = NULL;
        weft_error error = {0};
        const char *repr = strtok(NULL, "\n");
        assert_non_null(repr);
        if (weft_ufl_read_repr(repr, strlen(repr), NULL, &ufl, &error) != WEFT_OK)
            fail_msg("%.300s\n%d:%d: %s", repr, error.line, error.column, error.message);
        describe(ufl, ours, sizeof ours);
        assert_string_equal(ours, line);
        weft_ufl_free(&ufl);
    }
    assert_true(n >= 10);
    free(text);
}

static void test_errors(void **state) {
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {{"Sum(IntValue(1), Foo(2))", "the name 'Foo' is not defined"},
                 {"IntValue(1)", "the text describes an expression, not a form"},
                 {"Form([Integral(", "expected an expression, found the end of the file"},
                 {"custom Basix element (triangle, [])",
                  "custom and enriched elements of a form object are "
                  "not supported: write the form as a file"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        weft_ufl *ufl = NULL;
        weft_error error = {0};
        assert_int_not_equal(
            weft_ufl_read_repr(cases[i].text, strlen(cases[i].text), NULL, &ufl, &error), WEFT_OK);
        assert_string_equal(error.message, cases[i].message);
        assert_null(ufl);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_forms), cmocka_unit_test(test_errors)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
