/* labels: quick */
/* Communicators of threads: what each collects, sends and receives, also without ranks or bytes; and that a rank that fails
 * ends the calls of all others with its message. */
#include "core/weft_core.h"
#include "test_support.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 7, ROUNDS = 200 };

typedef struct rank_work {
    weft_comm *comm;
    int failures; /* of checks, which only the test's own thread may report */
    weft_status status;
    weft_error error;
} rank_work;

static void expect(rank_work *work, bool holds) {
    work->failures += !holds;
}

/* Values that tell rank and round apart, of few bytes and of more than are copied through the slots. */
static void check_gather(rank_work *work, int round) {
    static const size_t sizes[] = {1, 8, 256, 257, 4096};
    const int rank = weft_comm_rank(work->comm), size = weft_comm_size(work->comm);
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; ++k) {
        unsigned char mine[4096], all[MOST * 4096];
        memset(mine, (rank * 31 + round) % 251, sizes[k]);
        expect(work, weft_comm_gather(work->comm, mine, sizes[k], all, NULL) == WEFT_OK);
        for (int r = 0; r < size; ++r)
            for (size_t i = 0; i < sizes[k]; ++i)
                expect(work, all[(size_t)r * sizes[k] + i] == (r * 31 + round) % 251);
    }
}

/* Each rank sends r * 10 + i numbers to the rank i before it; nothing to itself. */
static void check_exchange(rank_work *work) {
    const int rank = weft_comm_rank(work->comm), size = weft_comm_size(work->comm);
    weft_message sent[MOST], received[MOST];
    int out[MOST][100], in[MOST][100], n = 0;
    for (int i = 1; i < size; ++i) {
        const int to = (rank + size - i) % size, from = (rank + i) % size;
        for (int k = 0; k < rank * 10 + i; ++k)
            out[i][k] = rank * 1000 + i * 100 + k;
        memset(in[i], 0xFF, sizeof in[i]);
        sent[n] = (weft_message){to, out[i], (size_t)(rank * 10 + i) * sizeof(int)};
        received[n++] = (weft_message){from, in[i], (size_t)(from * 10 + i) * sizeof(int)};
    }
    expect(work, weft_comm_exchange(work->comm, sent, n, received, n, NULL) == WEFT_OK);
    for (int i = 1; i < size; ++i) {
        const int from = (rank + i) % size;
        for (int k = 0; k < from * 10 + i; ++k)
            expect(work, in[i][k] == from * 1000 + i * 100 + k);
    }
}

static void *run_rank(void *user) {
    rank_work *work = user;
    const int rank = weft_comm_rank(work->comm), size = weft_comm_size(work->comm);
    for (int round = 0; round < ROUNDS; ++round) {
        check_gather(work, round);
        int64_t sum = rank + round;
        double most = rank == round % size ? 5 : -rank;
        int numbers[3] = {rank, round, 7};
        expect(work, weft_comm_sum(work->comm, &sum, NULL) == WEFT_OK);
        expect(work, sum == (int64_t)size * (size - 1) / 2 + (int64_t)size * round);
        expect(work, weft_comm_maximum(work->comm, &most, NULL) == WEFT_OK && most == 5);
        expect(work, weft_comm_broadcast(work->comm, numbers, sizeof numbers, round % size, NULL) ==
                         WEFT_OK);
        expect(work, numbers[0] == round % size && numbers[1] == round && numbers[2] == 7);
        check_exchange(work);
    }
    return NULL;
}

/* Run all ranks of a size. */
static void run(int size, void *(*rank)(void *), rank_work work[MOST]) {
    const int available = weft_comm_processors(NULL);
    weft_comm *comms[MOST];
    pthread_t threads[MOST];
    assert_int_equal(weft_comm_threads_make(size, comms, NULL), WEFT_OK);
    for (int r = 0; r < size; ++r) {
        work[r] = (rank_work){.comm = comms[r]};
        assert_int_equal(weft_comm_rank(comms[r]), r);
        assert_int_equal(weft_comm_size(comms[r]), size);
        const int processors = weft_comm_processors(comms[r]);
        assert_true(processors >= 1 && (processors == 1 || processors * size <= available));
        assert_int_equal(pthread_create(&threads[r], NULL, rank, &work[r]), 0);
    }
    for (int r = 0; r < size; ++r)
        assert_int_equal(pthread_join(threads[r], NULL), 0);
    for (int r = 0; r < size; ++r) {
        assert_int_equal(work[r].failures, 0);
        weft_comm_free(&comms[r]);
        assert_null(comms[r]);
    }
}

static void test_values(void **state) {
    (void)state;
    rank_work work[MOST];
    static const int sizes[] = {1, 2, 3, 7};
    for (int i = 0; i < 4; ++i)
        run(sizes[i], run_rank, work);
}

static void test_alone(void **state) {
    (void)state;
    int64_t sum = 4;
    double most = -2;
    int value = 3, all = 0;
    assert_int_equal(weft_comm_rank(NULL), 0);
    assert_int_equal(weft_comm_size(NULL), 1);
    assert_string_equal(weft_comm_kind(NULL), "none");
    assert_true(weft_comm_processors(NULL) >= 1);
    assert_int_equal(weft_comm_sum(NULL, &sum, NULL), WEFT_OK);
    assert_int_equal(weft_comm_maximum(NULL, &most, NULL), WEFT_OK);
    assert_int_equal(weft_comm_gather(NULL, &value, sizeof value, &all, NULL), WEFT_OK);
    assert_int_equal(weft_comm_agree(NULL, WEFT_ERROR_INPUT, NULL), WEFT_ERROR_INPUT);
    assert_true(sum == 4 && most == -2 && all == 3);
    weft_comm_abandon(NULL, NULL);
}

/* The rank before the last fails in its tenth gather: nobody waits for ever. */
static void *run_failing(void *user) {
    rank_work *work = user;
    const int rank = weft_comm_rank(work->comm), size = weft_comm_size(work->comm);
    int all[MOST];
    for (int i = 0; work->status == WEFT_OK; ++i) {
        if (i == 10 && rank == size - 2) {
            work->status = weft_error_set(&work->error, WEFT_ERROR_MEMORY, "no memory here");
            weft_comm_abandon(work->comm, &work->error);
        } else {
            work->status = weft_comm_gather(work->comm, &i, sizeof i, all, &work->error);
        }
    }
    return NULL;
}

static void test_failure(void **state) {
    (void)state;
    for (int size = 2; size <= MOST; ++size) {
        rank_work work[MOST];
        char expected[80];
        run(size, run_failing, work);
        snprintf(expected, sizeof expected, "rank %d has failed: no memory here", size - 2);
        for (int r = 0; r < size; ++r) {
            assert_int_equal(work[r].status, r == size - 2 ? WEFT_ERROR_MEMORY : WEFT_ERROR_DEVICE);
            assert_string_equal(work[r].error.message, r == size - 2 ? "no memory here" : expected);
        }
    }
}

/* All get the outcome of the lowest rank that is not well. */
static void *run_agreeing(void *user) {
    rank_work *work = user;
    const int rank = weft_comm_rank(work->comm);
    weft_status mine = WEFT_OK;
    expect(work, weft_comm_agree(work->comm, WEFT_OK, NULL) == WEFT_OK);
    if (rank > 0)
        mine = weft_error_set(&work->error, WEFT_ERROR_INPUT, "rank %d dislikes it", rank);
    work->status = weft_comm_agree(work->comm, mine, &work->error);
    return NULL;
}

static void test_agreement(void **state) {
    (void)state;
    rank_work work[MOST];
    run(4, run_agreeing, work);
    for (int r = 0; r < 4; ++r) {
        assert_int_equal(work[r].status, WEFT_ERROR_INPUT);
        assert_string_equal(work[r].error.message, "rank 1 dislikes it");
    }
}

/* A message of another length than is expected is an error of all. */
static void *run_mismatch(void *user) {
    rank_work *work = user;
    const int rank = weft_comm_rank(work->comm);
    int numbers[4] = {0};
    const weft_message sent = {1 - rank, numbers, sizeof numbers},
                       received = {1 - rank, numbers, sizeof *numbers * (rank ? 3 : 4)};
    int64_t sum = 0;
    work->status = weft_comm_exchange(work->comm, &sent, 1, &received, 1, &work->error);
    if (rank == 0) /* whose exchange was right: it learns of the failure in the next call */
        work->status = weft_comm_sum(work->comm, &sum, &work->error);
    return NULL;
}

static void test_mismatch(void **state) {
    (void)state;
    rank_work work[MOST];
    weft_comm *comms[2];
    run(2, run_mismatch, work);
    assert_int_equal(work[1].status, WEFT_ERROR_INTERNAL);
    assert_int_equal(work[0].status, WEFT_ERROR_DEVICE);
    assert_int_equal(weft_comm_threads_make(0, comms, NULL), WEFT_ERROR_USAGE);
}

/* Ranks that make different calls learn it, instead of reading what the others did not leave for them. */
static void *run_apart(void *user) {
    rank_work *work = user;
    const int rank = weft_comm_rank(work->comm);
    int64_t sum = 0, numbers[3] = {0}, all[9];
    work->status = rank == 2
                       ? weft_comm_gather(work->comm, numbers, sizeof numbers, all, &work->error)
                       : weft_comm_sum(work->comm, &sum, &work->error);
    return NULL;
}

static void *run_exchange_apart(void *user) {
    rank_work *work = user;
    int64_t sum = 0;
    work->status = weft_comm_rank(work->comm) == 0
                       ? weft_comm_exchange(work->comm, NULL, 0, NULL, 0, &work->error)
                       : weft_comm_sum(work->comm, &sum, &work->error);
    return NULL;
}

static void test_apart(void **state) {
    (void)state;
    rank_work work[MOST];
    run(3, run_apart, work);
    for (int r = 0; r < 3; ++r)
        assert_int_not_equal(work[r].status, WEFT_OK);
    run(2, run_exchange_apart, work);
    for (int r = 0; r < 2; ++r)
        assert_non_null(strstr(work[r].error.message, "make different calls"));
}

static void test_shares(void **state) {
    (void)state;
    static const double good[] = {0.25, 0.75}, large[] = {0.5, 0.75}, none[] = {0, 1};
    static const struct {
        const char *text, *message;
    } bad[] = {{"0.5", "1 share for 2 ranks"},
               {"0.5,0.25,0.25", "3 shares for 2 ranks"},
               {"0.5,0.6", "the shares add up to 1.1, expected 1"},
               {"-1,2", "a share is -1, expected a positive number"},
               {"nan,1", "the shares add up to"},
               {"0.5,", "'0.5,' is not a list of shares"},
               {"", "'' is not a list of shares"}};
    weft_comm *comms[2];
    assert_int_equal(weft_comm_threads_make(2, comms, NULL), WEFT_OK);
    assert_null(weft_comm_shares(comms[0]));
    assert_int_equal(weft_comm_share_out(comms[0], large, 2, NULL), WEFT_ERROR_USAGE);
    assert_int_equal(weft_comm_share_out(comms[0], none, 2, NULL), WEFT_ERROR_USAGE);
    assert_int_equal(weft_comm_share_out(comms[0], good, 2, NULL), WEFT_OK);
    assert_true(weft_comm_shares(comms[0])[1] == 0.75);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
        weft_error error = {0};
        assert_int_equal(weft_comm_share_text(comms[0], bad[i].text, &error), WEFT_ERROR_USAGE);
        assert_non_null(strstr(error.message, bad[i].message));
        assert_string_equal(error.file, "--shares");
        assert_true(weft_comm_shares(comms[0])[1] == 0.75);
    }
    assert_int_equal(weft_comm_share_text(comms[0], "1e-1,0.9", NULL), WEFT_OK);
    assert_true(weft_comm_shares(comms[0])[0] == 0.1);
    for (int r = 0; r < 2; ++r)
        weft_comm_free(&comms[r]);
}

/* The devices that a list names. */
static void test_lists(void **state) {
    (void)state;
    static const struct {
        const char *list;
        bool is_mixed;
        const char *names[2];
    } lists[] = {{"host:2,cuda:1", true, {"host:2", "cuda:1"}},
                 {"cuda:3,host:5", true, {"cuda:3", "host:5"}},
                 {"cuda:0,cuda:1", false, {"cuda:0", "cuda:1"}},
                 {"host:1,host:4", false, {"host:1", "host:4"}}};
    char name[64], expected[64];
    const int threads = weft_comm_processors(NULL) - 1;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; ++i) {
        weft_comm *comms[2];
        assert_int_equal(weft_comm_threads_make(2, comms, NULL), WEFT_OK);
        assert_int_equal(weft_comm_devices_check(lists[i].list, 2, NULL), WEFT_OK);
        for (int r = 0; r < 2; ++r) {
            weft_comm_device(comms[r], lists[i].list, name, sizeof name);
            assert_string_equal(name, lists[i].names[r]);
            assert_true(weft_comm_is_mixed(comms[r]) == lists[i].is_mixed);
            assert_true(weft_comm_is_staged(comms[r]) == lists[i].is_mixed);
        }
        weft_comm_device(comms[1], "cuda:0,host", name, sizeof name);
        (void)snprintf(expected, sizeof expected, "host:%d", threads > 1 ? threads : 1);
        assert_string_equal(name, expected); /* one thread is for the GPU */
        for (int r = 0; r < 2; ++r)
            weft_comm_free(&comms[r]);
    }
    assert_int_equal(weft_comm_devices_check("host,cuda:0,host:1", 3, NULL), WEFT_ERROR_USAGE);
    assert_int_equal(weft_comm_devices_check("cuda,host,cuda:0", 3, NULL), WEFT_ERROR_USAGE);
    assert_int_equal(weft_comm_devices_check("cuda:0,cuda:0", 2, NULL), WEFT_OK);
    assert_int_equal(weft_comm_devices_check("host:1,null", 2, NULL), WEFT_ERROR_UNSUPPORTED);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),   cmocka_unit_test(test_alone),
        cmocka_unit_test(test_failure),  cmocka_unit_test(test_agreement),
        cmocka_unit_test(test_mismatch), cmocka_unit_test(test_apart),
        cmocka_unit_test(test_shares),   cmocka_unit_test(test_lists),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
