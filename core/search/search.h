/** The search for the fastest of many candidates, by measurement.
 *  In: candidates, how to compile and to time them, seconds. Out: their times, and those that are as fast as the fastest.
 *
 *      halving.c  successive halving
 *      rank.c     which candidates the times do not tell apart
 *
 *  The candidates are those that constraints leave. All are compiled, several at once, and timed shortly; the best quarter is timed
 *  again at the second stage; the best twelve, interleaved, at the third.
 *  Source  Jamieson and Talwalkar 2016, Non-stochastic best arm identification: successive halving */
#pragma once

#include "core/base/threads.h"

enum {
    WEFT_TRIAL_STAGES = 3,
    WEFT_TRIAL_ROUNDS = 9,         /* of the last stage */
    WEFT_TRIAL_FEW_ROUNDS = 3,     /* of the others */
    WEFT_TRIAL_FINALISTS = 12,     /* that halving leaves for the last stage */
    WEFT_TRIAL_FINALISTS_MOST = 24 /* with those that `more` adds, and the standard */
};

typedef enum weft_trial_outcome {
    WEFT_TRIAL_UNTRIED,
    WEFT_TRIAL_REFUSED, /* by the compiler */
    WEFT_TRIAL_SPILLS,  /* more than is allowed */
    WEFT_TRIAL_FAILS,   /* when run */
    WEFT_TRIAL_RUNS
} weft_trial_outcome;

/** What is measured of a candidate. */
typedef struct weft_trial {
    weft_trial_outcome outcome;
    double seconds[WEFT_TRIAL_STAGES]; /* medians; 0: dropped before */
    double rounds[WEFT_TRIAL_ROUNDS];  /* of the last stage; 0: not measured */
    bool known;                        /* times of the first stages are of an earlier search */
} weft_trial;

/** The trials of candidates: of an array of structs that begin at `first`, each `stride` bytes long, with a trial as first member. */
typedef struct weft_trials {
    void *first;
    size_t stride;
    int n;
} weft_trials;
static inline weft_trial *weft_trial_of(const weft_trials *trials, int i) {
    return (weft_trial *)((char *)trials->first + (size_t)i * trials->stride);
}

typedef struct weft_search_problem {
    double seconds; /* to search in; the last stage is not cut */
    int chunk;      /* candidates compiled before they are timed. The first are never cut short */
    int standard;   /* what is used without a search, which takes part in the last stage */
    const char *device;    /* for messages */
    weft_threads *threads; /* that compile; NULL: one */
    const weft_monitor *monitor;
    /* Compile candidate i, from several threads at once, unless it is, and set its outcome */
    void (*compile)(void *user, int i);
    /* Time candidates beside one another: seconds[n][rounds] */
    weft_status (*time)(void *user, const int *list, int n, int stage, int rounds, double *seconds,
                        weft_error *error);
    /* Add candidates like the best of the second stage; NULL: there are none.
     *  more     [4]
     *  Returns  their number */
    int (*more)(void *user, const int *list, int n, int *more);
    void *user;
} weft_search_problem;

typedef struct weft_search_found {
    int n_compiled, n_timed;
    int tied[WEFT_TRIAL_FINALISTS_MOST], n_tied; /* as fast as the fastest, which is the first */
} weft_search_found;

/** Search. Of candidates with `known` times the first stages are not repeated.
 *  trials  `more` may append to it
 *  Errors  WEFT_ERROR_UNSUPPORTED: no candidate ran; those of `time` in the last stage */
weft_status weft_search_run(const weft_search_problem *problem, weft_trials *trials,
                            weft_search_found *out, weft_error *error);

/** The median of n values, at most WEFT_TRIAL_ROUNDS. */
double weft_trial_median(const double *values, int n);
/** Do the times of two candidates, [WEFT_TRIAL_ROUNDS] each, differ no more than by chance (5 %)? */
bool weft_trial_same_time(const double *a, const double *b);
/** The candidate of a list with the least median, and those that the rank test does not tell from it, by median.
 *  tied     [n]
 *  Returns  their number */
int weft_trial_tied(const weft_trials *trials, const int *list, int n, int *tied);
