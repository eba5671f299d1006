/* labels: quick */
/* Covers in order, and a cover that is asked for by its text. Listing 1 of Fousek et al. 2011 has
 * six calls of which many may be fused, so that there are many covers. */
#include "core/weft_core.h"
#include "fusion/compile/compile.h"
#include "fusion/control/program.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_library.h"
#include "tuning_support.h"

static const char listing[] = "index N;\n"
                              "input A, B : real[3,3] over N;\n"
                              "input c : real[3] over N;\n"
                              "input D, E : real[5,5] over N;\n"
                              "M1 = mmul(A, B);\n"
                              "v1 = mvmul(M1, c);\n"
                              "s1 = norm2(v1);\n"
                              "M2 = mmul(D, E);\n"
                              "M3 = madd(M2, D);\n"
                              "F = smmul(M3, s1);\n"
                              "return F;\n";

typedef struct compiler {
    weft_device *device;
    weft_library *library;
} compiler;

static compiler compiler_make(void) {
    compiler c = {0};
    weft_error error = {0};
    tuning_ok(weft_device_open("null:h200", NULL, &c.device, &error), &error);
    tuning_ok(weft_library_make(&c.library, &error), &error);
    return c;
}

static void compiler_free(compiler *c) {
    weft_library_free(&c->library);
    weft_device_free(&c->device);
}

/* Its cover's text, malloc'd. */
static char *compile(const compiler *c, const char *script, const weft_compile_options *options,
                     double *seconds, bool *recalled) {
    const weft_fragment fragment = {"listing.weft", script};
    weft_compilation *made = NULL;
    weft_error error = {0};
    weft_text text = {0};
    tuning_ok(weft_compile(c->library, weft_device_limits(c->device), &fragment, 1, options, &made,
                           &error),
              &error);
    tuning_ok(weft_compilation_cover(made, &text, &error), &error);
    *seconds = tuning_predicted(made);
    *recalled = weft_compilation_recalled(made);
    weft_compilation_free(&made);
    return text.data;
}

static void in_order(void **state) {
    (void)state;
    enum { N = 6 };
    compiler c = compiler_make();
    char *texts[N];
    double before = 0, seconds;
    bool recalled;
    for (int k = 0; k < N; ++k) {
        const weft_compile_options options = {.size = sizeof options, .alternative = k};
        texts[k] = compile(&c, listing, &options, &seconds, &recalled);
        assert_false(recalled);
        assert_true(seconds > 0 && seconds >= before * (1 - 1e-5));
        before = seconds;
        for (int i = 0; i < k; ++i)
            assert_string_not_equal(texts[i], texts[k]);
    }
    /* asked for by its text each comes back, with its time */
    for (int k = N; k-- > 0;) {
        const weft_compile_options options = {.size = sizeof options, .cover = texts[k]};
        char *again = compile(&c, listing, &options, &seconds, &recalled);
        assert_true(recalled);
        assert_string_equal(again, texts[k]);
        assert_true(seconds <= before * (1 + 1e-5));
        before = seconds;
        free(again);
    }
    /* what says nothing of this graph, or names what there is not, is passed over */
    char *foreign[] = {strdup(""), strdup("00000000000000000000000000000000 0:0@32x1w0\n"),
                       strdup(texts[1]), strdup(texts[1])};
    foreign[2][35] = '?';
    foreign[3][40] = '\0'; /* cut off */
    for (int i = 0; i < 4; ++i) {
        const weft_compile_options options = {.size = sizeof options, .cover = foreign[i]};
        char *best = compile(&c, listing, &options, &seconds, &recalled);
        assert_false(recalled);
        assert_string_equal(best, texts[0]);
        free(best);
        free(foreign[i]);
    }
    for (int k = 0; k < N; ++k)
        free(texts[k]);
    compiler_free(&c);
}

/* There are fewer alternatives than are asked for: the last one then. */
static void not_so_many(void **state) {
    (void)state;
    static const char script[] = "index N; input a : real over N; b = 2*a; return b;";
    compiler c = compiler_make();
    double seconds[2];
    bool recalled;
    char *last[2];
    for (int i = 0; i < 2; ++i) {
        const weft_compile_options options = {
            .size = sizeof options, .alternative = 50 + i, .plan = WEFT_PLAN_UNFUSED};
        last[i] = compile(&c, script, &options, &seconds[i], &recalled);
    }
    assert_string_equal(last[0], last[1]);
    free(last[0]);
    free(last[1]);
    compiler_free(&c);
}

static bool holds_columns(const weft_segment *segment) {
    for (int i = 0; i < segment->plan->n_kernels; ++i)
        if (segment->plan->kernels[i].slice == SLICE_COLUMNS)
            return true;
    return false;
}

/* A cover whose kernels hold columns has the second plan also where the compilation that it is made
 * from needed none. */
static void second_plan(void **state) {
    (void)state;
    static const weft_fragment script = {
        "sgemvt.weft", "index rows, cols;\ninput A : real over rows, cols;\n"
                       "input y : real over rows;\nx = gemtv(A, y);\nw = gemv(A, x);\n"
                       "return x, w;\n"};
    enum { COVERS = 3 };
    compiler c = compiler_make();
    weft_error error = {0};
    weft_compilation *base = NULL, *made = NULL;
    weft_cover **covers = NULL;
    int n = 0, n_held = 0;
    for (weft_compile_options options = {.size = sizeof options};
         base == NULL || holds_columns(weft_compilation_only(base)); ++options.alternative) {
        assert_true(options.alternative < COVERS);
        weft_compilation_free(&base);
        tuning_ok(weft_compile(c.library, weft_device_limits(c.device), &script, 1, &options, &base,
                               &error),
                  &error);
    }
    weft_segment *segment = base->control->segments[0];
    assert_null(segment->otherwise);
    const weft_cover_problem problem = {segment->arena,           segment->graph,  segment->fusions,
                                        segment->implementations, WEFT_PLAN_FUSED, false};
    tuning_ok(weft_covers_make(&problem, COVERS, &covers, &n, &error), &error);
    for (int i = 0; i < n; ++i) {
        tuning_ok(weft_compile_cover(base, covers[i], &made, &error), &error);
        const weft_segment *own = made->control->segments[0];
        assert_int_equal(own->otherwise != NULL, holds_columns(own));
        n_held += holds_columns(own);
        weft_compilation_free(&made);
    }
    assert_true(n_held > 0);
    weft_compilation_free(&base);
    compiler_free(&c);
}

static void hashes(void **state) {
    (void)state;
    compiler c = compiler_make();
    weft_error error = {0};
    const weft_fragment a = {"a", "index N;"}, b = {"b", "index N;"}, other = {"a", "index M;"};
    const weft_parameter d = {"d", 3};
    const weft_compile_options plain = {.size = sizeof plain},
                               single = {.size = sizeof single, .single = true},
                               with = {.size = sizeof with, .parameters = &d, .n_parameters = 1};
    char first[33], again[33];
    tuning_ok(weft_script_hash(c.library, &a, 1, &plain, first, &error), &error);
    tuning_ok(weft_script_hash(c.library, &b, 1, &plain, again, &error), &error);
    assert_string_equal(first, again); /* its text, not its name */
    tuning_ok(weft_script_hash(c.library, &other, 1, &plain, again, &error), &error);
    assert_string_not_equal(first, again);
    tuning_ok(weft_script_hash(c.library, &a, 1, &single, again, &error), &error);
    assert_string_not_equal(first, again);
    tuning_ok(weft_script_hash(c.library, &a, 1, &with, again, &error), &error);
    assert_string_not_equal(first, again);
    tuning_ok(weft_library_add_text(c.library, "k",
                                    "//@ function twice(a: real) -> b: real\n//@ kind map\n//@ "
                                    "flops 1\n//@ source none\n//@ threads 1\nb = 2 * a;\n",
                                    &error),
              &error);
    tuning_ok(weft_script_hash(c.library, &a, 1, &plain, again, &error), &error);
    assert_string_not_equal(first, again);
    compiler_free(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_order),
        cmocka_unit_test(not_so_many),
        cmocka_unit_test(second_plan),
        cmocka_unit_test(hashes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
