/* labels: quick */
/* Successive halving on candidates whose times are known functions of their number, with noise: it finds the least, whatever the
 * earlier stages say of it within their noise, and passes over those that do not compile, fail or are slow. */
#include "core/search/search.h"
#include "test_support.h"

#include <math.h>
#include <string.h>

enum { MOST = 200, BEST = 137 };

typedef struct fake {
    weft_trial trials[MOST + 4];
    weft_trials list;
    double noise;
    int compiled[MOST + 4], n_times[WEFT_TRIAL_STAGES], n_last;
    bool adds, all_refused;
    uint64_t seed;
} fake;

static double uniform(fake *f) {
    f->seed = f->seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(f->seed >> 33) * 0x1p-31;
}

/* Least at BEST; what `more` adds is a little faster. */
static double seconds_of(int i) {
    return i >= MOST ? 0.9 : 1 + fabs(i - BEST) / 50.0;
}

static void compile(void *user, int i) {
    fake *f = user;
    ++f->compiled[i];
    f->trials[i].outcome = f->all_refused || i % 10 == 3 ? WEFT_TRIAL_REFUSED : WEFT_TRIAL_RUNS;
}

static weft_status time_some(void *user, const int *list, int n, int stage, int rounds,
                             double *seconds, weft_error *error) {
    fake *f = user;
    ++f->n_times[stage];
    f->n_last = n;
    for (int i = 0; i < n; ++i) {
        assert_int_equal(f->trials[list[i]].outcome, WEFT_TRIAL_RUNS);
        if (list[i] == BEST + 1 && stage < 2)
            return weft_error_set(error, WEFT_ERROR_DEVICE, "it fails");
        for (int r = 0; r < rounds; ++r)
            seconds[i * rounds + r] = seconds_of(list[i]) * (1 + f->noise * uniform(f));
    }
    return WEFT_OK;
}

static int add_two(void *user, const int *list, int n, int *more) {
    fake *f = user;
    if (!f->adds)
        return 0;
    assert_true(n > 0);
    assert_int_equal(list[0], BEST);
    f->list.n += 2;
    more[0] = MOST;
    more[1] = MOST + 1;
    return 2;
}

static weft_status run(fake *f, weft_search_found *found, weft_error *error) {
    f->list = (weft_trials){f->trials, sizeof *f->trials, MOST};
    const weft_search_problem problem = {.seconds = 60,
                                         .chunk = 16,
                                         .standard = 0,
                                         .device = "a fake",
                                         .compile = compile,
                                         .time = time_some,
                                         .more = add_two,
                                         .user = f};
    return weft_search_run(&problem, &f->list, found, error);
}

static void test_best(void **state) {
    (void)state;
    weft_search_found found;
    weft_error error;
    for (int k = 0; k < 5; ++k) {
        fake f = {.noise = 0.005, .seed = (uint64_t)k + 1};
        assert_int_equal(run(&f, &found, &error), WEFT_OK);
        assert_int_equal(found.tied[0], BEST);
        assert_int_equal(found.n_tied, 1); /* neighbours are 2 % slower, and noise is 0.5 % */
        assert_int_equal(found.n_compiled, MOST);
        assert_int_equal(found.n_timed, MOST - MOST / 10);
        assert_int_equal(f.trials[BEST + 1].outcome, WEFT_TRIAL_FAILS);
        /* a quarter of those that run, then twelve and the standard beside one another */
        assert_int_equal(f.n_times[1], (MOST - MOST / 10 - 1) / 4);
        assert_int_equal(f.n_times[2], 1);
        assert_int_equal(f.n_last, WEFT_TRIAL_FINALISTS + 1);
    }
}

static void test_more(void **state) {
    (void)state;
    weft_search_found found;
    weft_error error;
    fake f = {.adds = true, .noise = 0.005, .seed = 1};
    assert_int_equal(run(&f, &found, &error), WEFT_OK);
    assert_true(found.tied[0] >= MOST && found.n_tied == 2);
    /* those with known times are not compiled and timed at first */
    fake again = {.noise = 0.005, .seed = 2};
    for (int i = 0; i < MOST; ++i)
        if (i != BEST + 1 && i % 10 != 3)
            again.trials[i] = (weft_trial){.outcome = WEFT_TRIAL_RUNS,
                                           .seconds = {seconds_of(i), seconds_of(i)},
                                           .known = true};
    assert_int_equal(run(&again, &found, &error), WEFT_OK);
    assert_int_equal(found.tied[0], BEST);
    assert_int_equal(found.n_compiled, 1 + MOST / 10);
    assert_int_equal(again.compiled[BEST], 1);
    assert_int_equal(again.compiled[5], 0);
}

static void test_none(void **state) {
    (void)state;
    weft_search_found found;
    weft_error error;
    fake f = {.all_refused = true};
    assert_int_equal(run(&f, &found, &error), WEFT_ERROR_UNSUPPORTED);
    assert_string_equal(error.message, "no kernel of 200 candidates ran on a fake");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_best), cmocka_unit_test(test_more),
                                       cmocka_unit_test(test_none)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
