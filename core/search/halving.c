/* Successive halving: compiles and times candidates, fewer and better in each stage. */
#include "core/search/search.h"

#include <stdlib.h>
#include <string.h>

typedef struct searcher {
    const weft_search_problem *problem;
    weft_trials *trials;
    weft_search_found *out;
    int first;         /* of the chunk that is compiled, */
    const int *chosen; /* or NULL and a list of candidates */
    double start;
} searcher;

static bool time_is_up(const searcher *s, double share) {
    return weft_clock() - s->start > share * s->problem->seconds;
}

static void compile(void *user, int64_t i) {
    const searcher *s = user;
    const int number = s->chosen ? s->chosen[i] : s->first + (int)i;
    if (s->chosen || !weft_trial_of(s->trials, number)->known)
        s->problem->compile(s->problem->user, number);
}

/* Time a candidate alone. */
static void time_one(searcher *s, int i, int stage) {
    weft_trial *trial = weft_trial_of(s->trials, i);
    double seconds[WEFT_TRIAL_FEW_ROUNDS];
    weft_error ignored;
    if (s->problem->time(s->problem->user, &i, 1, stage, WEFT_TRIAL_FEW_ROUNDS, seconds,
                         &ignored) != WEFT_OK)
        trial->outcome = WEFT_TRIAL_FAILS;
    else
        trial->seconds[stage] = weft_trial_median(seconds, WEFT_TRIAL_FEW_ROUNDS);
}

/* Compile and time, a chunk after the other, until most of the time is spent. */
static void first_stage(searcher *s) {
    const int total = s->trials->n;
    for (s->first = 0; s->first < total && (s->first == 0 || !time_is_up(s, 0.7));
         s->first += s->problem->chunk) {
        const int left = total - s->first, n = left < s->problem->chunk ? left : s->problem->chunk;
        weft_threads_run(s->problem->threads, n, compile, s);
        for (int i = s->first; i < s->first + n; ++i) {
            const weft_trial *trial = weft_trial_of(s->trials, i);
            s->out->n_compiled += !trial->known;
            if (trial->known || trial->outcome != WEFT_TRIAL_RUNS)
                continue;
            time_one(s, i, 0);
            ++s->out->n_timed;
        }
        weft_progress(s->problem->monitor, "search", s->first + n, total);
    }
}

/* The candidates with the least times of a stage. Returns their number, at most `most`. */
static int fastest(const weft_trials *trials, int stage, int most, int *list) {
    int n = 0;
    for (int i = 0; i < trials->n; ++i) {
        const double own = weft_trial_of(trials, i)->seconds[stage];
        if (own <= 0 || weft_trial_of(trials, i)->outcome != WEFT_TRIAL_RUNS)
            continue;
        int at = n < most ? n++ : most;
        while (at > 0 && weft_trial_of(trials, list[at - 1])->seconds[stage] > own) {
            if (at < most)
                list[at] = list[at - 1];
            --at;
        }
        if (at < most)
            list[at] = i;
    }
    return n;
}

/* The best quarter, and at least as many as the last stage takes. */
static void second_stage(searcher *s, int *list) {
    enum { LEAST = WEFT_TRIAL_FINALISTS };
    const int n = fastest(s->trials, 0, s->trials->n, list);
    const int quarter = n / 4 > LEAST ? n / 4 : n < LEAST ? n : LEAST;
    for (int i = 0; i < quarter && (i < LEAST || !time_is_up(s, 1)); ++i)
        if (weft_trial_of(s->trials, list[i])->seconds[1] <= 0)
            time_one(s, list[i], 1);
}

/* Candidates like the best ones, compiled. Returns their number. */
static int add_more(searcher *s, int *list, int n) {
    int more[4], kept = n;
    const int n_more = s->problem->more ? s->problem->more(s->problem->user, list, n, more) : 0;
    s->chosen = more;
    weft_threads_run(s->problem->threads, n_more, compile, s);
    s->chosen = NULL;
    for (int i = 0; i < n_more; ++i)
        if (weft_trial_of(s->trials, more[i])->outcome == WEFT_TRIAL_RUNS)
            list[kept++] = more[i];
    return kept;
}

/* The last stage, all beside one another. */
static weft_status time_finalists(const searcher *s, const int *list, int n, weft_error *error) {
    weft_status status = WEFT_OK;
    enum { LAST = WEFT_TRIAL_STAGES - 1 };
    double seconds[WEFT_TRIAL_FINALISTS_MOST * WEFT_TRIAL_ROUNDS];
    TRY(s->problem->time(s->problem->user, list, n, LAST, WEFT_TRIAL_ROUNDS, seconds, error));
    for (int i = 0; i < n; ++i) {
        weft_trial *trial = weft_trial_of(s->trials, list[i]);
        memcpy(trial->rounds, &seconds[i * WEFT_TRIAL_ROUNDS], sizeof trial->rounds);
        trial->seconds[LAST] = weft_trial_median(trial->rounds, WEFT_TRIAL_ROUNDS);
    }
    s->out->n_tied = weft_trial_tied(s->trials, list, n, s->out->tied);
done:
    return status;
}

static weft_status last_stage(searcher *s, weft_error *error) {
    weft_status status = WEFT_OK;
    int list[WEFT_TRIAL_FINALISTS_MOST];
    int n = fastest(s->trials, 1, WEFT_TRIAL_FINALISTS, list);
    s->chosen = list; /* those that were not timed now are not compiled yet */
    weft_threads_run(s->problem->threads, n, compile, s);
    s->chosen = NULL;
    n = fastest(s->trials, 1, WEFT_TRIAL_FINALISTS, list);
    if (n == 0)
        TRY(weft_error_set(error, WEFT_ERROR_UNSUPPORTED, "no kernel of %d candidates ran on %s",
                           s->out->n_compiled, s->problem->device));
    if (!time_is_up(s, 1))
        n = add_more(s, list, n);
    bool standard = false;
    for (int i = 0; i < n; ++i)
        standard = standard || list[i] == s->problem->standard;
    if (!standard && weft_trial_of(s->trials, s->problem->standard)->outcome == WEFT_TRIAL_RUNS)
        list[n++] = s->problem->standard;
    TRY(time_finalists(s, list, n, error));
done:
    return status;
}

weft_status weft_search_run(const weft_search_problem *problem, weft_trials *trials,
                            weft_search_found *out, weft_error *error) {
    weft_status status = WEFT_OK;
    searcher s = {.problem = problem, .trials = trials, .out = out, .start = weft_clock()};
    int *list = calloc((size_t)trials->n + 1, sizeof *list);
    *out = (weft_search_found){0};
    if (!list)
        TRY(weft_out_of_memory(error, "a search"));
    first_stage(&s);
    second_stage(&s, list);
    TRY(last_stage(&s, error));
done:
    free(list);
    return status;
}
