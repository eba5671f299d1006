/* Searches the space of kernels for the fastest, by successive halving. */
#include "gemm/tune.h"
#include "core/base/threads.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_CANDIDATES = 4096,
    CHUNK = 48, /* candidates compiled before they are timed, at most */
    FINALISTS = 12,
    REGROUPED = 2, /* the best, of which other groups of tiles are tried */
    FIRST_SIZE = 2048,
    SECOND_SIZE = 4096,
    ROUNDS = 3, /* of the first two stages */
    SPILL_BYTES = 128,
    ENERGY_MEASURED = 6 /* candidates of the last stage whose energy is measured, at most */
};
static const double LEAST = 2e-2, BURST = 0.6;

/* ---- timing --------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(const double *values, int n) {
    double sorted[WEFT_GEMM_ROUNDS];
    memcpy(sorted, values, (size_t)n * sizeof *sorted);
    qsort(sorted, (size_t)n, sizeof *sorted, compare);
    return n % 2 == 1 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

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
    weft_threads *threads;
    weft_power_monitor *power;
    int first;         /* of the chunk that is compiled, */
    const int *chosen; /* or NULL and a list of candidates */
    double start;
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
    static const int64_t most[WEFT_GEMM_STAGES] = {FIRST_SIZE, SECOND_SIZE, INT64_MAX};
    const int64_t sizes[] = {s->product.m, s->product.n, s->product.k};
    for (int stage = 0; stage < WEFT_GEMM_STAGES; ++stage)
        for (int i = 0; i < 3; ++i)
            s->out->sizes[stage][i] = s->n > 1 || sizes[i] < most[stage] ? sizes[i] : most[stage];
}

static void compile(void *user, int64_t i) {
    searcher *s = user;
    const int number = s->chosen ? s->chosen[i] : s->first + (int)i;
    weft_gemm_candidate *c = &s->out->candidates[number];
    const weft_gemm_product product = product_of(s, 0);
    const int most = s->how.spill_bytes < 0 ? SPILL_BYTES : s->how.spill_bytes;
    weft_kernel_resources resources = {.registers = -1, .spill_store_bytes = -1};
    weft_module *module = NULL;
    weft_error ignored;
    const double start = weft_clock();
    if (c->known && !s->chosen)
        return;
    if (weft_gemm_module(s->kernels, &product, s->n, &c->point, &module, &ignored) != WEFT_OK) {
        c->outcome = WEFT_GEMM_REFUSED;
        return;
    }
    c->compile_seconds = weft_clock() - start;
    c->outcome = WEFT_GEMM_RUNS;
    c->registers = c->spill_bytes = -1;
    if (weft_module_resources(module, "product", &resources)) {
        c->registers = resources.registers;
        c->spill_bytes = resources.spill_store_bytes;
        if (c->spill_bytes > most && number != s->out->standard)
            c->outcome = WEFT_GEMM_SPILLS;
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

/* Time a candidate alone at the size of a stage. */
static void time_candidate(searcher *s, int i, int stage) {
    weft_gemm_candidate *c = &s->out->candidates[i];
    work_user user = {s->kernels, product_of(s, stage), s->n, &c->point};
    const weft_gemm_work work = {run_work, &user};
    double seconds[ROUNDS];
    weft_error ignored;
    if (weft_gemm_time(s->kernels->device, &work, 1, ROUNDS, s->how.least / 10, seconds,
                       &ignored) != WEFT_OK)
        c->outcome = WEFT_GEMM_FAILS;
    else
        c->seconds[stage] = median(seconds, ROUNDS);
}

static bool time_is_up(const searcher *s, double share) {
    return weft_clock() - s->start > share * s->how.seconds;
}

/* Compile and time, a chunk after the other, until most of the time is spent. */
static void first_stage(searcher *s) {
    weft_gemm_search *out = s->out;
    const weft_monitor *monitor = weft_device_monitor(s->kernels->device);
    for (s->first = 0; s->first < out->n && (s->first == 0 || !time_is_up(s, 0.7));
         s->first += s->how.chunk) {
        const int n = out->n - s->first < s->how.chunk ? out->n - s->first : s->how.chunk;
        weft_threads_run(s->threads, n, compile, s);
        for (int i = s->first; i < s->first + n; ++i) {
            out->n_compiled += !out->candidates[i].known;
            if (out->candidates[i].known || out->candidates[i].outcome != WEFT_GEMM_RUNS)
                continue;
            time_candidate(s, i, 0);
            ++out->n_timed;
        }
        weft_progress(monitor, "search", s->first + n, out->n);
    }
}

/* The candidates with the least times of a stage. Returns their number, at most `most`. */
static int fastest(const weft_gemm_search *search, int stage, int most, int *list) {
    int n = 0;
    for (int i = 0; i < search->n; ++i) {
        const double own = search->candidates[i].seconds[stage];
        if (own <= 0 || search->candidates[i].outcome != WEFT_GEMM_RUNS)
            continue;
        int at = n < most ? n++ : most;
        while (at > 0 && search->candidates[list[at - 1]].seconds[stage] > own) {
            if (at < most)
                list[at] = list[at - 1];
            --at;
        }
        if (at < most)
            list[at] = i;
    }
    return n;
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

static weft_status time_finalists(searcher *s, const int *list, int n, weft_error *error) {
    weft_status status = WEFT_OK;
    enum { MOST = FINALISTS + 2 * REGROUPED + 1, LAST = WEFT_GEMM_STAGES - 1 };
    work_user users[MOST];
    weft_gemm_work works[MOST];
    double seconds[MOST * WEFT_GEMM_ROUNDS];
    for (int i = 0; i < n; ++i) {
        users[i] = (work_user){s->kernels, s->product, s->n, &s->out->candidates[list[i]].point};
        works[i] = (weft_gemm_work){run_work, &users[i]};
    }
    TRY(weft_gemm_time(s->kernels->device, works, n, WEFT_GEMM_ROUNDS, s->how.least, seconds,
                       error));
    for (int i = 0; i < n; ++i) {
        weft_gemm_candidate *c = &s->out->candidates[list[i]];
        memcpy(c->rounds, &seconds[i * WEFT_GEMM_ROUNDS], sizeof c->rounds);
        c->seconds[LAST] = median(c->rounds, WEFT_GEMM_ROUNDS);
    }
done:
    return status;
}

/* The best of the second stage with other groups of tiles, compiled. */
static int regroup(searcher *s, const int *list, int n, int *more) {
    static const int groups[] = {4, 16};
    int n_more = 0;
    const int first = s->out->n;
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
    s->first = first;
    weft_threads_run(s->threads, n_more, compile, s);
    int kept = 0;
    for (int i = 0; i < n_more; ++i)
        if (s->out->candidates[more[i]].outcome == WEFT_GEMM_RUNS)
            more[kept++] = more[i];
    return kept;
}

/* Of those that are as fast as the fastest, in double precision the one with the least energy. */
static weft_status rank_finalists(searcher *s, const int *list, int n, weft_error *error) {
    weft_status status = WEFT_OK;
    int tied[FINALISTS + 2 * REGROUPED + 1];
    weft_gemm_search *out = s->out;
    const bool doubles =
        s->product.type == WEFT_GEMM_DOUBLE || s->product.type == WEFT_GEMM_DOUBLE_COMPLEX;
    out->n_tied = weft_gemm_tied(out->candidates, list, n, tied);
    for (int i = 0; s->power && i < out->n_tied && i < (doubles ? ENERGY_MEASURED : 1); ++i)
        TRY(measure_energy(s, &out->candidates[tied[i]], error));
    out->best = doubles ? weft_gemm_least_energy(out->candidates, tied, out->n_tied) : tied[0];
done:
    return status;
}

static weft_status last_stages(searcher *s, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_gemm_search *out = s->out;
    int list[MOST_CANDIDATES / 4], n = fastest(out, 0, MOST_CANDIDATES / 4, list);
    const int quarter = n / 4 > FINALISTS ? n / 4 : n < FINALISTS ? n : FINALISTS;
    for (int i = 0; i < quarter && (i < FINALISTS || !time_is_up(s, 1)); ++i)
        if (out->candidates[list[i]].seconds[1] <= 0)
            time_candidate(s, list[i], 1);
    n = fastest(out, 1, FINALISTS, list);
    s->chosen = list; /* those that were not timed now are not compiled yet */
    weft_threads_run(s->threads, n, compile, s);
    s->chosen = NULL;
    n = fastest(out, 1, FINALISTS, list);
    if (n == 0)
        TRY(weft_error_set(error, WEFT_ERROR_UNSUPPORTED, "no kernel of %d candidates ran on %s",
                           out->n_compiled, weft_device_limits(s->kernels->device)->name));
    if (!time_is_up(s, 1))
        n += regroup(s, list, n, list + n);
    bool standard = false;
    for (int i = 0; i < n; ++i)
        standard = standard || list[i] == out->standard;
    if (!standard && out->candidates[out->standard].outcome == WEFT_GEMM_RUNS)
        list[n++] = out->standard;
    TRY(time_finalists(s, list, n, error));
    TRY(rank_finalists(s, list, n, error));
done:
    return status;
}

weft_status weft_gemm_search_best(weft_gemm_kernels *kernels, const weft_gemm_product *product,
                                  int64_t n, const weft_gemm_search_options *options,
                                  weft_arena *arena, weft_gemm_search *out, weft_error *error) {
    weft_status status = WEFT_OK;
    searcher s = {.kernels = kernels,
                  .product = *product,
                  .n = n,
                  .how = *options,
                  .out = out,
                  .start = weft_clock()};
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
    TRY(weft_threads_make(threads, &s.threads, error));
    if (s.how.chunk <= 0)
        s.how.chunk = threads < CHUNK ? threads : CHUNK;
    s.power = weft_power_monitor_open(kernels->device);
    out->energy_measured = s.power != NULL;
    set_sizes(&s);
    add_candidates(&s);
    if (s.how.known)
        out->n_known = weft_gemm_search_known(s.how.known, kernels->device, product, n,
                                              WEFT_GEMM_STAGES - 1, out);
    first_stage(&s);
    TRY(last_stages(&s, error));
done:
    weft_power_monitor_close(&s.power);
    weft_threads_free(&s.threads);
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
        weft_gemm_search_known(tuning, kernels->device, product, n, WEFT_GEMM_STAGES, out);
done:
    return status;
}
