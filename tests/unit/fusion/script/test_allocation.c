/* labels: quick */
/* Reading and printing a script, rerun with the n-th allocation failing for every n. */
#include "allocation.h"
#include "core/weft_core.h"
#include "fusion/script/script.h"
#include "fusion/script/tokens.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_outline.h"
#include "script_support.h"

#include <stdio.h>

/* Long enough for several blocks of the arena, and for every array to grow. */
static char *long_script(void) {
    weft_text text = {0};
    weft_text_add(&text, "index cells, nodes;\nparameter d = 2;\n"
                         "connectivity dofs : cells -> nodes[d + 1];\n"
                         "expression source(x, y, z) = sin(x)*exp(y)^2 - max(z, 1.5e-3);\n"
                         "input x : real[d] over nodes;\n"
                         "J = jacobian(x[dofs], degree = 2*d);\n");
    for (int i = 0; i < 300; ++i)
        weft_text_add(&text,
                      "v%d = mmul(J, J[%d], f(source(x)), degree = %d) + %d*(1 - pi)/2;\n"
                      "b%d[dofs] += v%d; return v%d, b%d;\n",
                      i, i, i, i, i, i, i, i);
    assert_false(text.failed);
    return text.data;
}

static weft_status use_script(void *user, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_fragment fragments[] = {{"long.weft", user}, {NULL, "w = v0;"}};
    const weft_expression expression = {"source", "x*y - 2^-z/min(x, 1)", "--source"};
    const weft_parameter parameter = {"d", 3};
    const weft_compile_options options = {.size = sizeof options,
                                          .expressions = &expression,
                                          .n_expressions = 1,
                                          .parameters = &parameter,
                                          .n_parameters = 1};
    weft_arena *arena = NULL;
    weft_script *script = NULL;
    weft_token *tokens = NULL;
    weft_text printed = {0};
    int n_tokens = 0;
    TRY(weft_arena_make(&arena, error));
    TRY(weft_script_make(arena, fragments, 2, &options, &script, error));
    TRY(weft_tokens_make(arena, &script->sources[0], &tokens, &n_tokens, error));
    weft_tokens_print(tokens, n_tokens, &printed);
    weft_script_print(script, &printed);
    if (printed.failed)
        status = weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory");
done:
    weft_text_free(&printed);
    weft_arena_free(&arena);
    return status;
}

static void every_allocation(void **state) {
    (void)state;
    char *text = long_script();
    long n = test_every_allocation("weft_script_make", use_script, text);
    assert_true(n > 10);
    free(text);
}

static weft_status use_outline(void *user, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_fragment fragment = {"outline.weft", user};
    weft_outline *outline = NULL;
    char *text = strdup(user);
    if (!text)
        return weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory");
    TRY(weft_outline_make(&fragment, 1, &outline, error));
    TRY(weft_outline_strip(outline, 0, text, error));
done:
    weft_outline_free(&outline);
    free(text);
    return status;
}

static void outline(void **state) {
    (void)state;
    char *text = long_script();
    assert_true(test_every_allocation("weft_outline_make", use_outline, text) > 10);
    free(text);
}

/* A wrong script is refused as such, however little memory there is, unless that runs out first. */
static void wrong_scripts(void **state) {
    (void)state;
    const weft_fragment fragment = {"bad.weft", "index cells, nodes; input u : real over nodse;"};
    weft_status status = WEFT_ERROR_MEMORY;
    long n = 0;
    while (status == WEFT_ERROR_MEMORY && ++n < 100) {
        weft_arena *arena = NULL;
        weft_script *script = NULL;
        weft_error error = {0};
        test_allocation_fail_at(n);
        status = weft_arena_make(&arena, &error);
        if (status == WEFT_OK)
            status = weft_script_make(arena, &fragment, 1, NULL, &script, &error);
        weft_arena_free(&arena);
        test_allocation_fail_at(0);
        assert_null(script);
        assert_int_equal(error.status, status);
        assert_int_equal(test_allocation_outstanding(), 0);
    }
    assert_int_equal(status, WEFT_ERROR_TYPE);
    assert_true(n > 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation),
        cmocka_unit_test(outline),
        cmocka_unit_test(wrong_scripts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
