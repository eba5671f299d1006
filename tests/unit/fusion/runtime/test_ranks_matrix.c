/* labels: quick */
/* Products of a matrix whose columns ranks divide, as the basis of a Krylov space: sums along its rows are right to rounding and
 * have the same bits for any parts, sums over its rows are those of each column. What a copy holds does not count. */
#include "core/weft_core.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_share.h"
#include "program_support.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

enum { RANKS_MOST = 7, ROWS_MOST = 70, COLUMNS_MOST = 3001 };

static const char script[] = "index basis, nodes plain;\n"
                             "input V : real over basis, nodes;\n"
                             "input a : real over nodes;\n"
                             "h = gemv(V, a);\nq = a - gemtv(V, h);\ng = gemv(V, q);\n"
                             "t = dot(h, g);\nreturn h, q, g, t;\n";

/* The matrix [rows][columns], the vector, and the results. */
typedef struct matrix {
    int n_rows, n_columns, n_ranks;
    const char *device;
    const double *V, *a;
    double h[ROWS_MOST], q[COLUMNS_MOST], g[ROWS_MOST], t;
} matrix;

typedef struct rank_work {
    matrix *whole;
    weft_comm *comm;
} rank_work;

static void *run_rank(void *user) {
    const rank_work *work = user;
    matrix *all = work->whole;
    const int r = weft_comm_rank(work->comm), ghosts = 3;
    const int first = all->n_columns * r / all->n_ranks,
              last = all->n_columns * (r + 1) / all->n_ranks;
    const int from = first > ghosts ? first - ghosts : 0,
              to = last + ghosts < all->n_columns ? last + ghosts : all->n_columns;
    const int n = first < last ? to - from : 0, m = all->n_rows;
    const weft_compile_options options = {.size = sizeof options, .distributed = true};
    program_case c = case_open(NULL, all->device, script, &options);
    double *V = calloc((size_t)(m * n) + 1, sizeof *V), *a = calloc((size_t)n + 1, sizeof *a);
    uint8_t *owned = weft_array_make((size_t)n, 1), *rows = weft_array_make((size_t)m, 1);
    weft_memory *counts = NULL, *all_rows = NULL;
    for (int j = 0; j < n; ++j) {
        owned[j] = from + j >= first && from + j < last;
        a[j] = owned[j] ? all->a[from + j] : 1e200;
        for (int i = 0; i < m; ++i)
            V[i * n + j] = all->V[i * all->n_columns + from + j];
    }
    memset(rows, 1, (size_t)m);
    assert_int_equal(weft_memory_wrap(c.device, owned, (size_t)n, &counts, NULL), WEFT_OK);
    assert_int_equal(weft_memory_wrap(c.device, rows, (size_t)m, &all_rows, NULL), WEFT_OK);
    const weft_share share = {.comm = work->comm, .owned = counts},
                     replicated = {.owned = all_rows};
    case_size(&c, "basis", m);
    case_size(&c, "nodes", n);
    assert_int_equal(weft_program_share(c.program, "nodes", &share, NULL), WEFT_OK);
    assert_int_equal(weft_program_share(c.program, "basis", &replicated, NULL), WEFT_OK);
    case_input(&c, "V", V);
    case_input(&c, "a", a);
    case_run(&c);
    double *h = case_result(&c, "h"), *q = case_result(&c, "q"), *g = case_result(&c, "g"),
           *t = case_result(&c, "t");
    for (int j = 0; j < n; ++j)
        if (owned[j])
            all->q[from + j] = q[j];
    if (r == all->n_ranks - 1) { /* all ranks have them */
        memcpy(all->h, h, (size_t)m * sizeof *h);
        memcpy(all->g, g, (size_t)m * sizeof *g);
        all->t = *t;
    }
    free(h);
    free(q);
    free(g);
    free(t);
    weft_memory_free(&counts);
    weft_memory_free(&all_rows);
    case_close(&c);
    free(owned);
    free(rows);
    free(V);
    free(a);
    return NULL;
}

static void run_ranks(matrix *all) {
    weft_comm *comms[RANKS_MOST];
    rank_work work[RANKS_MOST];
    pthread_t threads[RANKS_MOST];
    assert_int_equal(weft_comm_threads_make(all->n_ranks, comms, NULL), WEFT_OK);
    for (int r = 0; r < all->n_ranks; ++r) {
        work[r] = (rank_work){all, comms[r]};
        if (r > 0)
            assert_int_equal(pthread_create(&threads[r], NULL, run_rank, &work[r]), 0);
    }
    (void)run_rank(&work[0]);
    for (int r = 1; r < all->n_ranks; ++r)
        assert_int_equal(pthread_join(threads[r], NULL), 0);
    for (int r = 0; r < all->n_ranks; ++r)
        weft_comm_free(&comms[r]);
}

static double number(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return ldexp((double)(*state >> 11) / 9007199254740992.0 - 0.5, (int)(*state >> 40) % 20);
}

/* h and g against sums with 113 bits of the products of doubles. */
static void check_sums(const matrix *all) {
    for (int i = 0; i < all->n_rows; ++i) {
        const double *row = all->V + (size_t)i * (size_t)all->n_columns;
        __float128 h = 0, g = 0, of_h = 0, of_g = 0;
        for (int j = 0; j < all->n_columns; ++j) {
            h += (__float128)row[j] * all->a[j];
            of_h += fabs(row[j] * all->a[j]);
            g += (__float128)row[j] * all->q[j];
            of_g += fabs(row[j] * all->q[j]);
        }
        assert_double_near(all->h[i], (double)h, 0, 3e-16 * (double)of_h);
        assert_double_near(all->g[i], (double)g, 0, 3e-16 * (double)of_g);
    }
}

static void test_products(void **state) {
    (void)state;
    static const int rows[] = {1, 5, 31, 70}, columns[] = {1, 4, 9, 3001};
    static const int ranks[] = {1, 2, 3, 4, 7};
    static const char *const devices[] = {"host:1", "host:2"};
    static matrix first, again;
    for (int k = 0; k < 16; ++k) {
        uint64_t seed = (uint64_t)k + 3;
        const int m = rows[k % 4], n = columns[k / 4];
        double *V = calloc((size_t)(m * n), sizeof *V), *a = calloc((size_t)n, sizeof *a);
        for (int i = 0; i < m * n; ++i)
            V[i] = number(&seed);
        for (int j = 0; j < n; ++j)
            a[j] = number(&seed);
        for (int r = 0; r < 10; ++r) {
            again = (matrix){m, n, ranks[r / 2], devices[r % 2], V, a, .t = 0};
            run_ranks(&again);
            if (r == 0) {
                first = again;
                check_sums(&first);
            }
            assert_memory_equal(again.h, first.h, sizeof first.h);
            assert_memory_equal(again.q, first.q, sizeof first.q);
            assert_memory_equal(again.g, first.g, sizeof first.g);
            assert_true(again.t == first.t);
        }
        free(V);
        free(a);
    }
}

/* A matrix whose rows are divided is refused where they are summed. */
static void test_divided_rows(void **state) {
    (void)state;
    const weft_compile_options options = {.size = sizeof options, .distributed = true};
    weft_comm *comm = NULL;
    weft_error error = {0};
    weft_memory *counts = NULL;
    double V[6] = {1, 2, 3, 4, 5, 6}, b[2] = {1, 2};
    uint8_t *owned = weft_array_make(3, 1);
    program_case c = case_open(NULL, "host:1",
                               "index basis, nodes plain;\ninput V : real over basis, nodes;\n"
                               "input b : real over basis;\nq = gemtv(V, b);\nreturn q;\n",
                               &options);
    assert_int_equal(weft_comm_threads_make(1, &comm, NULL), WEFT_OK);
    assert_int_equal(weft_memory_wrap(c.device, owned, 3, &counts, NULL), WEFT_OK);
    const weft_share share = {.comm = comm, .owned = counts};
    case_size(&c, "basis", 2);
    case_size(&c, "nodes", 3);
    assert_int_equal(weft_program_share(c.program, "basis", &share, NULL), WEFT_OK);
    case_input(&c, "V", V);
    case_input(&c, "b", b);
    assert_int_equal(weft_program_run(c.program, &error), WEFT_ERROR_USAGE);
    assert_non_null(strstr(error.message, "sums over rows, which ranks divide"));
    weft_memory_free(&counts);
    case_close(&c);
    weft_comm_free(&comm);
    free(owned);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_products),
                                       cmocka_unit_test(test_divided_rows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
