/* labels: quick */
/* Reductions over index sets of which each rank has a part, with copies of elements of others: whole numbers, whose sums are
 * known, and numbers of very different sizes, whose sums must be right to rounding and have the same bits for any parts. */
#include "core/weft_core.h"
#include "fusion/setup/team.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_library.h"
#include "fusion/weft_share.h"
#include "program_support.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

enum { RANKS_MOST = 7, RESULTS = 6 };

/* Numbers of all ranks, and where the part of each begins. */
typedef struct whole {
    int64_t n, ghosts;
    const double *a, *b;
    int n_ranks;
    bool has_counts; /* 3 elements in all, so that some ranks have none */
} whole;

typedef struct rank_work {
    const whole *whole;
    weft_comm *comm;
    const char *device;
    double results[RESULTS];
} rank_work;

static const char script[] = "index rows plain;\n"
                             "input a, b : real over rows;\n"
                             "s = sum(a);\nd = dot(a, b);\nlow = minimum(a);\nhigh = maximum(a);\n"
                             "c = a + s/(1 + s*s)*b;\nt = sum(c*c);\nw = dot(c, a);\n"
                             "return s, d, low, high, t, w;\n";

static const char *const names[RESULTS] = {"s", "d", "low", "high", "t", "w"};

static void *run_rank(void *user) {
    rank_work *work = user;
    const whole *all = work->whole;
    const int r = weft_comm_rank(work->comm), n_ranks = all->n_ranks;
    const int64_t first = all->n * r / n_ranks, last = all->n * (r + 1) / n_ranks;
    const int64_t from = first > all->ghosts ? first - all->ghosts : 0,
                  to = last + all->ghosts < all->n ? last + all->ghosts : all->n;
    const int64_t n = first < last ? to - from : 0;
    const weft_compile_options options = {.size = sizeof options, .distributed = true};
    char device[32];
    (void)snprintf(device, sizeof device, strcmp(work->device, "cuda") == 0 ? "%s:%d" : "%s",
                   work->device, r);
    program_case c = case_open(NULL, device, script, &options);
    weft_team *team = NULL;
    double *a = calloc((size_t)n + 1, sizeof *a), *b = calloc((size_t)n + 1, sizeof *b);
    uint8_t *owned = weft_array_make((size_t)n, 1);
    weft_memory *counts = NULL;
    for (int64_t i = 0; i < n; ++i) {
        owned[i] = from + i >= first && from + i < last;
        a[i] = owned[i] ? all->a[from + i] : 1e300; /* what a copy holds does not count */
        b[i] = owned[i] ? all->b[from + i] : -1e300;
    }
    assert_int_equal(weft_memory_wrap(c.device, owned, (size_t)n, &counts, NULL), WEFT_OK);
    assert_int_equal(weft_team_make(work->comm, c.device, &team, NULL), WEFT_OK);
    const weft_share share = {.comm = work->comm,
                              .owned = counts,
                              .team = weft_team_memory(team),
                              .in_kernels = weft_team_in_kernels(team)};
    case_size(&c, "rows", n);
    assert_int_equal(weft_program_share(c.program, "rows", &share, NULL), WEFT_OK);
    case_input(&c, "a", a);
    case_input(&c, "b", b);
    case_run(&c);
    for (int i = 0; i < RESULTS; ++i) {
        double *values = case_result(&c, names[i]);
        work->results[i] = values[0];
        free(values);
    }
    weft_memory_free(&counts);
    weft_team_free(&team);
    case_close(&c);
    free(owned);
    free(a);
    free(b);
    return NULL;
}

static void run_ranks(const whole *all, const char *device, double out[RESULTS]) {
    weft_comm *comms[RANKS_MOST];
    rank_work work[RANKS_MOST];
    pthread_t threads[RANKS_MOST];
    assert_int_equal(weft_comm_threads_make(all->n_ranks, comms, NULL), WEFT_OK);
    for (int r = 0; r < all->n_ranks; ++r) {
        work[r] = (rank_work){.whole = all, .comm = comms[r], .device = device};
        if (r > 0)
            assert_int_equal(pthread_create(&threads[r], NULL, run_rank, &work[r]), 0);
    }
    (void)run_rank(&work[0]); /* here, so that messages of failed checks are seen */
    for (int r = 1; r < all->n_ranks; ++r)
        assert_int_equal(pthread_join(threads[r], NULL), 0);
    for (int r = 0; r < all->n_ranks; ++r) {
        assert_memory_equal(work[r].results, work[0].results, sizeof work[0].results);
        weft_comm_free(&comms[r]);
    }
    memcpy(out, work[0].results, sizeof work[0].results);
}

static const int ranks[] = {1, 2, 3, 4, 7};
static const int64_t sizes[] = {0, 3, 8, 2049, 30011};
static const char *const on_host[] = {"host:1", "host:2", "host:1:sse2", NULL};
static const char *const on_gpus[] = {"cuda", NULL}; /* one for each rank */
static const char *const *devices = on_host;

static double random_number(uint64_t *state, int spread) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    const double part = (double)(*state >> 11) / 9007199254740992.0 - 0.5;
    return ldexp(part, (int)(*state >> 40) % (spread + 1) - spread / 2);
}

/* The true value of s and d, and the sum of the absolute values. */
static void exactly(const whole *all, const double *b, double *value, double *size) {
    __float128 sum = 0, absolute = 0;
    for (int64_t i = 0; i < all->n; ++i) {
        const double product = b ? all->a[i] * b[i] : all->a[i]; /* rounded, as in the script */
        sum += product;
        absolute += fabs(product);
    }
    *value = (double)sum;
    *size = (double)absolute;
}

static void check_spread(int64_t n, int spread) {
    double *a = calloc((size_t)n + 1, sizeof *a), *b = calloc((size_t)n + 1, sizeof *b);
    double first[RESULTS], again[RESULTS], value, size;
    uint64_t state = (uint64_t)n + 17;
    for (int64_t i = 0; i < n; ++i) {
        a[i] = random_number(&state, spread);
        b[i] = random_number(&state, spread);
    }
    whole all = {.n = n, .ghosts = 5, .a = a, .b = b, .n_ranks = 1};
    run_ranks(&all, devices[0], first);
    exactly(&all, NULL, &value, &size);
    assert_double_near(first[0], value, 0, 4e-16 * fabs(value) + 1e-15 * size);
    exactly(&all, b, &value, &size);
    assert_double_near(first[1], value, 0, 4e-16 * fabs(value) + 1e-15 * size);
    for (size_t d = 0; devices[d]; ++d)
        for (size_t k = 0; k < sizeof ranks / sizeof *ranks; ++k) {
            all.n_ranks = ranks[k];
            run_ranks(&all, devices[d], again);
            if (d <
                2) /* other instructions may contract multiplications and additions differently */
                assert_memory_equal(again, first, sizeof first);
            else
                assert_memory_equal(again, first, sizeof *first);
        }
    free(a);
    free(b);
}

static void test_bits(void **state) {
    (void)state;
    static const int spreads[] = {0, 40, 300};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i)
        for (size_t k = 0; k < 3; ++k)
            check_spread(sizes[i], spreads[k]);
}

/* Each number has its opposite on another rank: nothing may be left of sums that are far larger than the last number. */
static void test_cancellation(void **state) {
    (void)state;
    enum { N = 4001 };
    static double a[N], b[N];
    double out[RESULTS];
    for (int i = 0; i < N / 2; ++i) {
        a[i] = ldexp(1 + (double)i / 4096, i % 50);
        a[N - 2 - i] = -a[i];
    }
    a[N - 1] = ldexp(1, -8);
    for (size_t k = 0; k < sizeof ranks / sizeof *ranks; ++k) {
        const whole all = {.n = N, .ghosts = 3, .a = a, .b = b, .n_ranks = ranks[k]};
        run_ranks(&all, devices[0], out);
        assert_true(out[0] == ldexp(1, -8));
    }
}

/* What is not finite, or nearly so, is not lost on the way. */
static void test_extremes(void **state) {
    (void)state;
    static const struct {
        double number, sum;
    } cases[] = {{INFINITY, INFINITY},
                 {-INFINITY, -INFINITY},
                 {1e308, 1e308},
                 {1e-300, 1e-300},
                 {5e-324, 0}};
    double a[40] = {0}, b[40] = {0}, out[RESULTS];
    whole all = {.n = 40, .ghosts = 1, .a = a, .b = b, .n_ranks = 3};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        a[23] = cases[i].number;
        run_ranks(&all, devices[0], out);
        assert_true(out[0] == cases[i].sum);
    }
    a[23] = NAN;
    run_ranks(&all, devices[0], out);
    assert_true(isnan(out[0]) && isnan(out[1]));
}

static void test_refused(void **state) {
    (void)state;
    weft_error error = {0};
    weft_device *device = NULL;
    weft_library *library = NULL;
    weft_compilation *compilation = NULL;
    const weft_fragment fragment = {
        "sum.weft", "index rows plain;\ninput a : real over rows;\ns = sum(a);\nreturn s;\n"};
    const weft_compile_options options = {
        .size = sizeof options, .distributed = true, .single = true};
    assert_int_equal(weft_device_open("host:1", NULL, &device, NULL), WEFT_OK);
    assert_int_equal(weft_library_make(&library, NULL), WEFT_OK);
    assert_int_equal(weft_compile(library, weft_device_limits(device), &fragment, 1, &options,
                                  &compilation, &error),
                     WEFT_ERROR_UNSUPPORTED);
    assert_non_null(strstr(error.message, "is not computed on several ranks"));
    weft_library_free(&library);
    weft_device_free(&device);
}

/* What a rank owns has to be known. */
static void test_unknown_share(void **state) {
    (void)state;
    weft_error error = {0};
    const weft_compile_options options = {.size = sizeof options, .distributed = true};
    double a[3] = {1, 2, 3};
    program_case c = case_open(
        NULL, "host:1", "index rows plain;\ninput a : real over rows;\ns = sum(a);\nreturn s;\n",
        &options);
    case_size(&c, "rows", 3);
    case_input(&c, "a", a);
    assert_int_equal(weft_program_run(c.program, &error), WEFT_ERROR_USAGE);
    assert_non_null(strstr(error.message, "what ranks own of index set 'rows' is not known"));
    case_close(&c);
}

/* With an argument, the sums of GPUs, which reach each other's memory. */
int main(int n_arguments, char **arguments) {
    (void)arguments;
    if (n_arguments > 1)
        devices = on_gpus;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bits), cmocka_unit_test(test_cancellation),
        cmocka_unit_test(test_extremes), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_unknown_share)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
