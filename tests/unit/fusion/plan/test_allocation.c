/* labels: quick */
/* Scripts that ask for variants and blocks, those that ask for what cannot be, and the search for
 * the best covers, with their n-th allocation failing. */
#include "allocation.h"
#include "core/weft_core.h"
#include "fusion/tune/tune.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_library.h"
#include "test_support.h"

static const char directives[] =
    "index N;\ninput A, B : real[3,3] over N;\ninput x : real[3] over N;\n"
    "fuse block 96 threads 3 {\n    C = mmul(A, B) using variant 1;\n"
    "    y = mvmul(C, x);\n}\nsplit;\nz = mvmul(A, y);\nreturn z;\n";
/* a reduction's kernel has blocks of 128 */
static const char impossible[] = "index N;\ninput x : real over N;\n"
                                 "fuse block 64 { y = x + 1; s = sum(y); }\nreturn s;\n";

/* an opaque operator's product lies between */
static const char too_far[] = "index nodes plain;\noperator A over nodes;\n"
                              "input p, x : real over nodes;\ninput r, s : real;\n"
                              "fuse {\n    y = 2*p;\n    update s = r*s;\n    z = s*x;\n}\n"
                              "q = apply(A, z);\nw = q + y;\nreturn w;\n";

typedef struct compiler {
    weft_library *library;
    weft_device *device;
    const char *text;
    weft_status expected;
} compiler;

static weft_status use_compile(void *user, weft_error *error) {
    const compiler *with = user;
    weft_compilation *made = NULL;
    const weft_fragment fragment = {"script.weft", with->text};
    const weft_status status = weft_compile(with->library, weft_device_limits(with->device),
                                            &fragment, 1, NULL, &made, error);
    if (status != WEFT_OK)
        assert_null(made);
    weft_compilation_free(&made);
    return status == with->expected ? WEFT_OK : status;
}

static weft_status use_explain(void *user, weft_error *error) {
    weft_text text = {0};
    weft_status status = weft_compilation_explain(user, &text, error);
    if (status == WEFT_OK)
        status = weft_compilation_why(user, "y", "z", &text, error);
    weft_text_free(&text);
    return status;
}

static weft_status predicted(void *user, const weft_compilation *compilation, weft_program *program,
                             double *seconds, weft_error *error) {
    (void)program;
    (void)user;
    (void)error;
    *seconds = 1e-6 * weft_compilation_kernels(compilation);
    return WEFT_OK;
}

static weft_status use_search(void *user, weft_error *error) {
    const compiler *with = user;
    weft_status status = WEFT_OK;
    weft_arena *arena = NULL;
    weft_search_result result;
    const weft_compile_options options = {.size = sizeof options};
    const weft_search_options how = {
        .size = sizeof how, .most = 12, .all = true, .confirm = true, .measure = predicted};
    const weft_fragment fragment = {"script.weft", with->text};
    TRY(weft_arena_make(&arena, error));
    const weft_search_script script = {with->library, &fragment, 1, &options};
    TRY(weft_search_covers(with->device, &script, &how, arena, &result, error));
    if (result.n_measured < 2)
        status = weft_error_set(error, WEFT_ERROR_INTERNAL, "%d covers", result.n_measured);
done:
    weft_arena_free(&arena);
    return status;
}

static void every_allocation(void **state) {
    (void)state;
    compiler with = {.text = directives, .expected = WEFT_OK};
    weft_error error = {0};
    weft_compilation *made = NULL;
    assert_int_equal(weft_library_make(&with.library, &error), WEFT_OK);
    assert_int_equal(weft_device_open("null:h200", NULL, &with.device, &error), WEFT_OK);
    test_every_allocation("compile", use_compile, &with);
    test_every_allocation("search", use_search, &with);
    const weft_fragment fragment = {"script.weft", directives};
    assert_int_equal(weft_compile(with.library, weft_device_limits(with.device), &fragment, 1, NULL,
                                  &made, &error),
                     WEFT_OK);
    test_every_allocation("explain", use_explain, made);
    weft_compilation_free(&made);
    with.text = impossible;
    with.expected = WEFT_ERROR_TYPE;
    test_every_allocation("refuse", use_compile, &with);
    with.text = too_far;
    test_every_allocation("refuse over segments", use_compile, &with);
    weft_device_free(&with.device);
    weft_library_free(&with.library);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_allocation)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
