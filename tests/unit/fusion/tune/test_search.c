/* labels: quick */
/* The search over covers: with a device that is made up it measures in the order of predictions and
 * stops when what is left cannot win; on the host it runs. */
#include "core/weft_core.h"
#include "fusion/tune/tune.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_library.h"
#include "tuning_support.h"

static const char script[] = "index N;\n"
                             "input A, B, C : real[3,3] over N;\n"
                             "input x : real[3] over N;\n"
                             "P = mmul(A, B);\n"
                             "Q = mmul(P, C);\n"
                             "y = mvmul(Q, x);\n"
                             "s = norm2(y);\n"
                             "return y, s;\n";
static const weft_fragment fragment = {"search.weft", script};

typedef struct fake {
    int n;
    double seconds[300]; /* of the k-th; 0: what is predicted */
} fake;

static weft_status measure(void *user, const weft_compilation *compilation, weft_program *program,
                           double *seconds, weft_error *error) {
    (void)program;
    fake *f = user;
    (void)error;
    *seconds = f->seconds[f->n] > 0 ? f->seconds[f->n] : tuning_predicted(compilation);
    ++f->n;
    return WEFT_OK;
}

static weft_search_result search(weft_arena *arena, const char *name, fake *f, int most, int spread,
                                 bool all) {
    weft_device *device = NULL;
    weft_library *library = NULL;
    weft_error error = {0};
    weft_search_result result;
    const weft_compile_options options = {.size = sizeof options};
    const weft_search_options how = {.size = sizeof how,
                                     .most = most,
                                     .spread = spread,
                                     .all = all,
                                     .elements = f ? 1000000 : 1000,
                                     .measure = f ? measure : NULL,
                                     .user = f};
    tuning_ok(weft_device_open(name, NULL, &device, &error), &error);
    tuning_ok(weft_library_make(&library, &error), &error);
    const weft_search_script searched = {library, &fragment, 1, &options};
    tuning_ok(weft_search_covers(device, &searched, &how, arena, &result, &error), &error);
    weft_library_free(&library);
    weft_device_free(&device);
    return result;
}

static void stops(void **state) {
    (void)state;
    weft_arena *arena = NULL;
    weft_error error = {0};
    tuning_ok(weft_arena_make(&arena, &error), &error);
    /* all: as many as are asked for, in order, distinct */
    fake f = {0};
    weft_search_result all = search(arena, "null:h200", &f, 6, 0, true);
    assert_int_equal(all.n_measured, 6);
    assert_int_equal(f.n, 6);
    for (int k = 1; k < 6; ++k) {
        assert_true(all.candidates[k].predicted >= all.candidates[k - 1].predicted * (1 - 1e-5));
        assert_string_not_equal(all.candidates[k].cover, all.candidates[k - 1].cover);
    }
    assert_int_equal(all.best, 0);
    double parts = 0;
    for (int i = 0; i < all.candidates[0].n_parts; ++i)
        parts += all.candidates[0].parts[i].bytes;
    assert_true(parts > 0);

    /* predictions that are right: three, and those within a quarter of the best */
    f = (fake){0};
    weft_search_result few = search(arena, "null:h200", &f, 40, 0, false);
    const double best = few.candidates[0].measured;
    assert_true(few.n_measured >= 3);
    for (int k = 3; k < few.n_measured; ++k)
        assert_true(few.candidates[k].predicted < 1.25 * best * (1 + 1e-9));
    if (few.n_measured < few.n)
        assert_true(few.candidates[few.n_measured].predicted >= 1.25 * best * (1 - 1e-9));

    /* the third takes a tenth of what is predicted: predictions may be ten times too high, so that
     * nothing near can be given up; it wins */
    f = (fake){.seconds = {[2] = best / 10}};
    weft_search_result won = search(arena, "null:h200", &f, 6, 0, false);
    assert_int_equal(won.n_measured, 6);
    assert_int_equal(won.best, 2);

    /* the first takes a hundredth of anybody else's: nothing else can win */
    f = (fake){.seconds = {best, 100 * best, 100 * best}};
    won = search(arena, "null:h200", &f, 40, 0, false);
    assert_int_equal(won.best, 0);
    weft_arena_free(&arena);
}

/* The best cover is measured again after all others, up to five times; where no time agrees with the
 * least before it, the search must not decide. */
static void scatter(void **state) {
    (void)state;
    weft_arena *arena = NULL;
    weft_device *device = NULL;
    weft_library *library = NULL;
    weft_error error = {0};
    tuning_ok(weft_arena_make(&arena, &error), &error);
    tuning_ok(weft_device_open("null:h200", NULL, &device, &error), &error);
    tuning_ok(weft_library_make(&library, &error), &error);
    static const double again[][5] = {
        {1}, {1.05}, {1.6, 1.3, 0.8, 0.84}, {1.6, 1.5, 1.7, 1.2, 1.4}};
    static const double scatters[] = {0, 0.05, 0.05, 0.4};
    static const int times[] = {1, 1, 4, 5};
    for (int k = 0; k < 4; ++k) {
        fake f = {.seconds = {3e-6, 1e-6, 2e-6}};
        for (int i = 0; i < 5; ++i)
            f.seconds[3 + i] = again[k][i] * 1e-6;
        weft_search_result result;
        const weft_compile_options options = {.size = sizeof options};
        const weft_search_options how = {.size = sizeof how,
                                         .most = 3,
                                         .all = true,
                                         .confirm = true,
                                         .measure = measure,
                                         .user = &f};
        const weft_search_script searched = {library, &fragment, 1, &options};
        tuning_ok(weft_search_covers(device, &searched, &how, arena, &result, &error), &error);
        assert_int_equal(f.n, 3 + times[k]);
        assert_int_equal(result.best, 1);
        assert_double_near(result.scatter, scatters[k], 1e-9, 1e-9);
        assert_double_near(result.candidates[1].measured, k == 2 ? 0.8e-6 : 1e-6, 1e-9, 0);
        assert_int_equal(result.scatter > WEFT_SEARCH_SCATTER_MOST, k == 3);
        assert_int_equal(result.script_class, WEFT_SCRIPT_DIRECT);
    }
    weft_library_free(&library);
    weft_device_free(&device);
    weft_arena_free(&arena);
}

/* The covers of a search are those that the compiler takes one by one when it is asked for the k-th
 * best, by a search of its own for each. */
static void the_same_covers(void **state) {
    (void)state;
    weft_arena *arena = NULL;
    weft_device *device = NULL;
    weft_library *library = NULL;
    weft_error error = {0};
    tuning_ok(weft_arena_make(&arena, &error), &error);
    tuning_ok(weft_device_open("null:h200", NULL, &device, &error), &error);
    tuning_ok(weft_library_make(&library, &error), &error);
    fake f = {0};
    weft_search_result found = search(arena, "null:h200", &f, 8, 0, true);
    assert_int_equal(found.n, 8);
    for (int k = 0; k < 8; ++k) {
        const weft_compile_options options = {
            .size = sizeof options, .alternative = k, .elements = 1000000};
        weft_compilation *made = NULL;
        weft_text text = {0};
        tuning_ok(weft_compile(library, weft_device_limits(device), &fragment, 1, &options, &made,
                               &error),
                  &error);
        tuning_ok(weft_compilation_cover(made, &text, &error), &error);
        assert_string_equal(text.data, found.candidates[k].cover);
        weft_text_free(&text);
        weft_compilation_free(&made);
    }
    weft_library_free(&library);
    weft_device_free(&device);
    weft_arena_free(&arena);
}

/* There are only so many: all of them, and no more is said. */
static void not_so_many(void **state) {
    (void)state;
    weft_arena *arena = NULL;
    weft_error error = {0};
    fake f = {0};
    tuning_ok(weft_arena_make(&arena, &error), &error);
    weft_search_result found = search(arena, "null", &f, 64, 0, true);
    assert_int_equal(found.n_measured, found.n);
    assert_int_equal(f.n, found.n);
    /* a chain of four calls on the host, one implementation a fusion: cut at any of three places */
    assert_int_equal(found.n, 8);
    weft_arena_free(&arena);
}

/* The best 4 and 5 of the others: their ranks are equally far apart, as a search of all tells. */
static void spreads(void **state) {
    (void)state;
    weft_arena *arena = NULL;
    weft_error error = {0};
    tuning_ok(weft_arena_make(&arena, &error), &error);
    static fake f;
    f = (fake){0};
    weft_search_result some = search(arena, "null:h200", &f, 4, 5, true);
    static fake g;
    g = (fake){0};
    weft_search_result all = search(arena, "null:h200", &g, 300, 0, true);
    assert_int_equal(some.n_measured, 9);
    const int others = all.n_measured - 4;
    assert_true(others > 10);
    for (int k = 0; k < 9; ++k) {
        const int rank = k < 4 ? k : 4 + (k - 3) * others / 5 - 1;
        assert_string_equal(some.candidates[k].cover, all.candidates[rank].cover);
    }
    weft_arena_free(&arena);
}

static void on_the_host(void **state) {
    (void)state;
    weft_arena *arena = NULL;
    weft_error error = {0};
    tuning_ok(weft_arena_make(&arena, &error), &error);
    weft_search_result result = search(arena, "host:1", NULL, 3, 0, true);
    assert_int_equal(result.n_measured, 3);
    for (int k = 0; k < 3; ++k)
        assert_true(result.candidates[k].measured > 0 && result.candidates[k].measured < 10);
    for (int k = 0; k < 3; ++k)
        assert_true(result.candidates[result.best].measured <= result.candidates[k].measured);
    weft_arena_free(&arena);
}

/* A matrix of the size that planning assumes: 4096 x 4096. Both products read all of it, which no
 * host does in less than 100 us. */
static void over_two_index_sets(void **state) {
    (void)state;
    weft_device *device = NULL;
    weft_library *library = NULL;
    weft_arena *arena = NULL;
    weft_error error = {0};
    weft_search_result result;
    const weft_fragment nested = {"nested.weft", "index rows, cols;\n"
                                                 "input A : real over rows, cols;\n"
                                                 "input p : real over cols;\n"
                                                 "input r : real over rows;\n"
                                                 "q = gemv(A, p);\ns = gemtv(A, r);\n"
                                                 "return q, s;\n"};
    const weft_compile_options options = {.size = sizeof options, .single = true};
    const weft_search_options how = {
        .size = sizeof how, .most = 2, .all = true, .elements = 4096 * 4096};
    tuning_ok(weft_arena_make(&arena, &error), &error);
    tuning_ok(weft_device_open("host", NULL, &device, &error), &error);
    tuning_ok(weft_library_make(&library, &error), &error);
    const weft_search_script script_of_matrices = {library, &nested, 1, &options};
    tuning_ok(weft_search_covers(device, &script_of_matrices, &how, arena, &result, &error),
              &error);
    assert_int_equal(result.n_measured, 2);
    for (int k = 0; k < 2; ++k)
        assert_true(result.candidates[k].measured > 1e-4);
    weft_library_free(&library);
    weft_device_free(&device);
    weft_arena_free(&arena);
}

/* A matrix that is added to through two connectivities of different widths, the greater one second:
 * each has positions of its own, and the entries are enough for both. */
static void two_connectivities(void **state) {
    (void)state;
    weft_device *device = NULL;
    weft_library *library = NULL;
    weft_arena *arena = NULL;
    weft_error error = {0};
    weft_search_result result;
    const weft_fragment two = {"two.weft", "index small, big, nodes plain;\n"
                                           "connectivity one : small -> nodes[1];\n"
                                           "connectivity two : big -> nodes[3];\n"
                                           "input k : real[1,1] over small;\n"
                                           "input m : real[3,3] over big;\n"
                                           "A[one,one] += k;\nA[two,two] += m;\n"
                                           "A[two,two] += m;\nreturn A;\n"};
    const weft_compile_options options = {.size = sizeof options};
    const weft_search_options how = {.size = sizeof how, .most = 1, .all = true, .elements = 1000};
    tuning_ok(weft_arena_make(&arena, &error), &error);
    tuning_ok(weft_device_open("host:1", NULL, &device, &error), &error);
    tuning_ok(weft_library_make(&library, &error), &error);
    const weft_search_script searched = {library, &two, 1, &options};
    tuning_ok(weft_search_covers(device, &searched, &how, arena, &result, &error), &error);
    assert_int_equal(result.n_measured, 1);
    assert_true(result.candidates[0].measured > 0);
    weft_library_free(&library);
    weft_device_free(&device);
    weft_arena_free(&arena);
}

/* Each kernel alone; a plan that is not fused has one a call. */
static void kernels(void **state) {
    (void)state;
    weft_device *device = NULL;
    weft_library *library = NULL;
    weft_compilation *compilation = NULL;
    weft_error error = {0};
    double seconds[5] = {-1, -1, -1, -1, -1};
    const weft_compile_options options = {
        .size = sizeof options, .plan = WEFT_PLAN_UNFUSED, .elements = 1000};
    tuning_ok(weft_device_open("host:1", NULL, &device, &error), &error);
    tuning_ok(weft_library_make(&library, &error), &error);
    tuning_ok(weft_compile(library, weft_device_limits(device), &fragment, 1, &options,
                           &compilation, &error),
              &error);
    assert_int_equal(weft_compilation_kernels(compilation), 4);
    tuning_ok(weft_search_kernels(device, compilation, seconds, &error), &error);
    for (int i = 0; i < 4; ++i)
        assert_true(seconds[i] > 0 && seconds[i] < 10);
    assert_true(seconds[4] == -1);
    weft_compilation_free(&compilation);
    weft_library_free(&library);
    weft_device_free(&device);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stops),
        cmocka_unit_test(scatter),
        cmocka_unit_test(spreads),
        cmocka_unit_test(the_same_covers),
        cmocka_unit_test(not_so_many),
        cmocka_unit_test(on_the_host),
        cmocka_unit_test(two_connectivities),
        cmocka_unit_test(kernels),
        cmocka_unit_test(over_two_index_sets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
