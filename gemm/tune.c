/* Searches the space of kernels for the fastest: its candidates, how they are compiled and timed. */
#include "gemm/tune.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_CANDIDATES = 4096,
    CHUNK = 48,    /* candidates compiled before they are timed, at most */
    REGROUPED = 2, /* the best, of which other groups of tiles are tried */
    FIRST_SIZE = 2048,
    SECOND_SIZE = 4096,
    SPILL_BYTES = 128,
    ENERGY_MEASURED = 6 /* candidates of the last stage whose energy is measured, at most */
};
static const double LEAST = 2e-2, BURST = 0.6;

/* ---- timing --------------------------------------------------------------------------------- */

static weft_status time_once(const weft_gemm_work *work, weft_timer *timer, int repetitions,
                             double *seconds, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(weft_timer_start(timer, error));
    for (int i = 0; i < repetitions; ++i)
        TRY(work->run(work->user, error));
    TRY(weft_timer_stop(timer, error));
    TRY(weft_timer_seconds(timer, seconds, error));
    *seconds /= repetitions;
done:
    return status;
}

weft_status weft_gemm_time(weft_device *device, const weft_gemm_work *works, int n, int rounds,
                           double least, double *seconds, weft_error *error) {
    enum { MOST_REPETITIONS = 10000 };
    weft_status status = WEFT_OK;
    weft_timer *timer = NULL;
    int *repetitions = calloc((size_t)n + 1, sizeof *repetitions);
    if (!repetitions)
        TRY(weft_out_of_memory(error, "times"));
    TRY(weft_timer_make(device, &timer, error));
    for (int i = 0; i < n; ++i) {
        double first = 0;
        TRY(time_once(&works[i], timer, 1, &first, error));
        TRY(time_once(&works[i], timer, 1, &first, error));
        repetitions[i] = first > 0 && least / first < MOST_REPETITIONS ? 1 + (int)(least / first)
                                                                       : MOST_REPETITIONS;
    }
    for (int r = 0; r < rounds; ++r)
        for (int i = 0; i < n; ++i)
            TRY(time_once(&works[i], timer, repetitions[i], &seconds[i * rounds + r], error));
done:
    weft_timer_free(&timer);
    free(repetitions);
    return status;
}

/* ---- candidates ----------------------------------------------------------------------------- */

typedef struct searcher {
    weft_gemm_kernels *kernels;
    weft_gemm_product product; /* of the wanted size */
    int64_t n;
    weft_gemm_search_options how;
    weft_gemm_search *out;
    weft_power_monitor *power;
    weft_trials trials; /* of out->candidates */
} searcher;

static bool has(const weft_gemm_search *search, const weft_gemm_point *point) {
    for (int i = 0; i < search->n; ++i)
        if (memcmp(&search->candidates[i].point, point, sizeof *point) == 0)
            return true;
    return false;
}

static int add(weft_gemm_search *search, const weft_gemm_point *point) {
    if (search->n == MOST_CANDIDATES)
        return -1;
    search->candidates[search->n].point = *point;
    return search->n++;
}

/* The survivors of the guidelines, with the switches that the space leaves out: C transposed (mma), and operands in
 * place (fma). */
static void add_survivors(searcher *s, int stencil) {
    const weft_gemm_guidelines guidelines =
        s->how.guidelines ? *s->how.guidelines : weft_gemm_guidelines_of(s->product.type);
    const weft_gemm_shape shape = weft_gemm_shape_of(&s->product);
    weft_gemm_point point = weft_gemm_point_first(stencil);
    do {
        weft_gemm_resources resources = {0};
        if (weft_gemm_judge(&shape, &point, &s->kernels->limits, &guidelines, &resources) !=
            WEFT_GEMM_SURVIVES)
            continue;
        weft_gemm_point made = point;
        if (stencil >= WEFT_GEMM_SMALL) {
            if (!has(s->out, &made))
                add(s->out, &made);
            continue;
        }
        made.values[stencil == WEFT_GEMM_MMA ? MMA_MINB : FMA_MINB] = resources.resident;
        add(s->out, &made);
        made.values[stencil == WEFT_GEMM_MMA ? MMA_SWAP : FMA_IN_PLACE] = 1;
        if (weft_gemm_judge(&shape, &made, &s->kernels->limits, NULL, NULL) == WEFT_GEMM_SURVIVES)
            add(s->out, &made);
    } while (weft_gemm_point_next(&point));
}

static int by_merit(const void *a, const void *b) {
    const double x = ((const weft_gemm_candidate *)a)->merit;
    const double y = ((const weft_gemm_candidate *)b)->merit;
    return (x < y) - (x > y);
}

/* Order the candidates behind the defaults by their reuse, which saves energy and issue slots, times a
 * random factor, so that a search cut short has seen all parts of the space. */
static void order(searcher *s, int from) {
    uint64_t x = s->how.seed;
    const weft_gemm_shape shape = weft_gemm_shape_of(&s->product);
    for (int i = from; i < s->out->n; ++i) {
        weft_gemm_resources resources = {0};
        weft_gemm_candidate *c = &s->out->candidates[i];
        (void)weft_gemm_judge(&shape, &c->point, &s->kernels->limits, NULL, &resources);
        x = x * 6364136223846793005u + 1442695040888963407u;
        c->merit = resources.reuse * (1 + (double)(x >> 33) * 0x1p-31);
    }
    qsort(s->out->candidates + from, (size_t)(s->out->n - from), sizeof *s->out->candidates,
          by_merit);
}

static void add_candidates(searcher *s) {
    const weft_gemm_default *list = NULL;
    const weft_gemm_product *p = &s->product;
    const weft_gemm_point standard = weft_gemm_choose(s->kernels, p, s->n);
    const int n =
        weft_gemm_defaults(p->type, p->op_a, p->op_b, s->kernels->limits.matrix_depth, &list);
    s->out->standard = add(s->out, &standard);
    for (int i = 0; i < n && standard.stencil < WEFT_GEMM_SMALL; ++i)
        if (!has(s->out, &list[i].point))
            add(s->out, &list[i].point);
    const int from = s->out->n;
    if (s->kernels->limits.vector_bytes > 0) {
        add_survivors(s, WEFT_GEMM_HOST);
        order(s, from);
        return;
    }
    if (s->n > 1) {
        add_survivors(s, WEFT_GEMM_SMALL);
        add_survivors(s, WEFT_GEMM_DIRECT);
        add_survivors(s, WEFT_GEMM_BATCH);
    }
    const bool matrix_units = s->kernels->limits.matrix_depth > 0 &&
                              (p->type == WEFT_GEMM_DOUBLE || p->type == WEFT_GEMM_DOUBLE_COMPLEX);
    if (standard.stencil < WEFT_GEMM_SMALL)
        add_survivors(s, matrix_units ? WEFT_GEMM_MMA : WEFT_GEMM_FMA);
    order(s, from);
}

/* ---- stages --------------------------------------------------------------------------------- */

static weft_gemm_product product_of(const searcher *s, int stage) {
    weft_gemm_product product = s->product;
    product.m = s->out->sizes[stage][0];
    product.n = s->out->sizes[stage][1];
    product.k = s->out->sizes[stage][2];
    return product;
}

/* The first two stages have squares, or less where the product has less. A batch keeps its shape. */
static void set_sizes(searcher *s) {
    static const int64_t most[WEFT_TRIAL_STAGES] = {FIRST_SIZE, SECOND_SIZE, INT64_MAX};
    const int64_t sizes[] = {s->product.m, s->product.n, s->product.k};
    for (int stage = 0; stage < WEFT_TRIAL_STAGES; ++stage)
        for (int i = 0; i < 3; ++i)
            s->out->sizes[stage][i] = s->n > 1 || sizes[i] < most[stage] ? sizes[i] : most[stage];
}

static void compile(void *user, int number) {
    searcher *s = user;
    weft_gemm_candidate *c = &s->out->candidates[number];
    const weft_gemm_product product = product_of(s, 0);
    const int most = s->how.spill_bytes < 0 ? SPILL_BYTES : s->how.spill_bytes;
    weft_kernel_resources resources = {.registers = -1, .spill_store_bytes = -1};
    weft_module *module = NULL;
    weft_error ignored;
    const double start = weft_clock();
    if (weft_gemm_module(s->kernels, &product, s->n, &c->point, &module, &ignored) != WEFT_OK) {
        c->trial.outcome = WEFT_TRIAL_REFUSED;
        return;
    }
    c->compile_seconds = weft_clock() - start;
    c->trial.outcome = WEFT_TRIAL_RUNS;
    c->registers = c->spill_bytes = -1;
    if (weft_module_resources(module, "product", &resources)) {
        c->registers = resources.registers;
        c->spill_bytes = resources.spill_store_bytes;
        if (c->spill_bytes > most && number != s->out->standard)
            c->trial.outcome = WEFT_TRIAL_SPILLS;
    }
}

typedef struct work_user {
    weft_gemm_kernels *kernels;
    weft_gemm_product product;
    int64_t n;
    const weft_gemm_point *point;
} work_user;

static weft_status run_work(void *user, weft_error *error) {
    const work_user *work = user;
    return weft_gemm_run(work->kernels, &work->product, work->n, work->point, error);
}

/* Time candidates at the size of a stage. */
static weft_status time_candidates(void *user, const int *list, int n, int stage, int rounds,
                                   double *seconds, weft_error *error) {
    const searcher *s = user;
    work_user users[WEFT_TRIAL_FINALISTS_MOST];
    weft_gemm_work works[WEFT_TRIAL_FINALISTS_MOST];
    const bool is_last = stage == WEFT_TRIAL_STAGES - 1;
    for (int i = 0; i < n; ++i) {
        users[i] =
            (work_user){s->kernels, product_of(s, stage), s->n, &s->out->candidates[list[i]].point};
        works[i] = (weft_gemm_work){run_work, &users[i]};
    }
    return weft_gemm_time(s->kernels->device, works, n, rounds,
                          is_last ? s->how.least : s->how.least / 10, seconds, error);
}

static weft_status measure_energy(const searcher *s, weft_gemm_candidate *c, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_gemm_energy energy = {0};
    work_user user = {s->kernels, s->product, s->n, &c->point};
    const weft_gemm_work work = {run_work, &user};
    TRY(weft_gemm_energy_measure(s->kernels->device, s->power, &work, s->how.burst, &energy,
                                 error));
    c->joules = energy.joules;
    c->watts = energy.watts;
    c->megahertz = energy.megahertz;
done:
    return status;
}

/* The best of the second stage with other groups of tiles. */
static int regroup(void *user, const int *list, int n, int *more) {
    static const int groups[] = {4, 16};
    searcher *s = user;
    int n_more = 0;
    for (int i = 0; i < n && i < REGROUPED; ++i)
        for (int g = 0; g < 2; ++g) {
            weft_gemm_point point = s->out->candidates[list[i]].point;
            if (point.stencil >= WEFT_GEMM_SMALL)
                continue;
            point.values[point.stencil == WEFT_GEMM_MMA ? MMA_GROUP : FMA_GROUP] = groups[g];
            const int made = has(s->out, &point) ? -1 : add(s->out, &point);
            if (made >= 0)
                more[n_more++] = made;
        }
    s->trials.n = s->out->n;
    return n_more;
}

/* Of those that are as fast as the fastest, in double precision the one with the least energy. */
static weft_status rank_finalists(searcher *s, const weft_search_found *found, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_gemm_search *out = s->out;
    const bool doubles =
        s->product.type == WEFT_GEMM_DOUBLE || s->product.type == WEFT_GEMM_DOUBLE_COMPLEX;
    out->n_tied = found->n_tied;
    for (int i = 0; s->power && i < out->n_tied && i < (doubles ? ENERGY_MEASURED : 1); ++i)
        TRY(measure_energy(s, &out->candidates[found->tied[i]], error));
    out->best = doubles ? weft_gemm_least_energy(out->candidates, found->tied, out->n_tied)
                        : found->tied[0];
done:
    return status;
}

weft_status weft_gemm_search_best(weft_gemm_kernels *kernels, const weft_gemm_product *product,
                                  int64_t n, const weft_gemm_search_options *options,
                                  weft_arena *arena, weft_gemm_search *out, weft_error *error) {
    weft_status status = WEFT_OK;
    searcher s = {.kernels = kernels, .product = *product, .n = n, .how = *options, .out = out};
    weft_search_found found = {0};
    weft_threads *pool = NULL;
    const weft_limits *limits = weft_device_limits(kernels->device);
    *out = (weft_gemm_search){0};
    if (s.how.least <= 0)
        s.how.least = LEAST;
    if (s.how.burst <= 0)
        s.how.burst = BURST;
    if (limits->records_only)
        TRY(weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                           "%s computes nothing, so nothing can be measured on it", limits->name));
    out->candidates = weft_arena_alloc(arena, MOST_CANDIDATES, sizeof *out->candidates);
    if (!out->candidates)
        TRY(weft_out_of_memory(error, "a search"));
    const int threads = options->threads > 0 ? options->threads : weft_threads_available();
    TRY(weft_threads_make(threads, &pool, error));
    s.power = weft_power_monitor_open(kernels->device);
    out->energy_measured = s.power != NULL;
    set_sizes(&s);
    add_candidates(&s);
    if (s.how.known)
        out->n_known = weft_gemm_search_known(s.how.known, kernels->device, product, n,
                                              WEFT_TRIAL_STAGES - 1, out);
    s.trials = (weft_trials){out->candidates, sizeof *out->candidates, out->n};
    const weft_search_problem problem = {.seconds = s.how.seconds,
                                         .chunk = s.how.chunk > 0   ? s.how.chunk
                                                  : threads < CHUNK ? threads
                                                                    : CHUNK,
                                         .standard = out->standard,
                                         .device = limits->name,
                                         .threads = pool,
                                         .monitor = weft_device_monitor(kernels->device),
                                         .compile = compile,
                                         .time = time_candidates,
                                         .more = regroup,
                                         .user = &s};
    TRY(weft_search_run(&problem, &s.trials, &found, error));
    out->n_compiled = found.n_compiled;
    out->n_timed = found.n_timed;
    TRY(rank_finalists(&s, &found, error));
done:
    weft_power_monitor_close(&s.power);
    weft_threads_free(&pool);
    return status;
}

weft_status weft_gemm_search_read(weft_gemm_kernels *kernels, const weft_gemm_product *product,
                                  int64_t n, weft_tuning *tuning, weft_arena *arena,
                                  weft_gemm_search *out, weft_error *error) {
    weft_status status = WEFT_OK;
    searcher s = {.kernels = kernels, .product = *product, .n = n, .out = out};
    weft_gemm_point winner;
    bool found = false;
    *out = (weft_gemm_search){0};
    out->candidates = weft_arena_alloc(arena, MOST_CANDIDATES, sizeof *out->candidates);
    if (!out->candidates)
        TRY(weft_out_of_memory(error, "a search"));
    set_sizes(&s);
    add_candidates(&s);
    out->best = out->standard;
    TRY(weft_gemm_tuned(tuning, kernels->device, product, n, &winner, &found, error));
    if (found) {
        if (!has(out, &winner))
            add(out, &winner);
        for (int i = 0; i < out->n; ++i)
            if (memcmp(&out->candidates[i].point, &winner, sizeof winner) == 0)
                out->best = i;
    }
    out->n_known =
        weft_gemm_search_known(tuning, kernels->device, product, n, WEFT_TRIAL_STAGES, out);
done:
    return status;
}
