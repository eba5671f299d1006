/* Evaluates predictions against measurements and fits the terms that extend equation 3.
 *
 * Decision  docs/decisions/0017-predictions-do-not-extrapolate.md */
#include "fusion/tune/tune.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Ranks from 1; ties share their mean rank. */
static void rank(const double *values, int n, double *out) {
    for (int i = 0; i < n; ++i) {
        int below = 0, equal = 0;
        for (int k = 0; k < n; ++k) {
            below += values[k] < values[i];
            equal += !(values[k] < values[i]) && !(values[k] > values[i]);
        }
        out[i] = below + (equal + 1) / 2.0;
    }
}

double weft_rank_correlation(const double *a, const double *b, int n) {
    double sum_a = 0, sum_b = 0, aa = 0, bb = 0, ab = 0, result = NAN;
    double *ranks = calloc(2 * (size_t)(n > 0 ? n : 1), sizeof *ranks);
    if (!ranks || n < 2)
        goto done;
    rank(a, n, ranks);
    rank(b, n, ranks + n);
    for (int i = 0; i < n; ++i) {
        sum_a += ranks[i];
        sum_b += ranks[n + i];
    }
    for (int i = 0; i < n; ++i) {
        const double x = ranks[i] - sum_a / n, y = ranks[n + i] - sum_b / n;
        aa += x * x;
        bb += y * y;
        ab += x * y;
    }
    if (aa > 0 && bb > 0)
        result = ab / sqrt(aa * bb);
done:
    free(ranks);
    return result;
}

double weft_predict_kernels(const weft_kernel_prediction *parts, int n_parts, double elements,
                            const weft_cost_terms *terms) {
    double sum = 0;
    for (int i = 0; i < n_parts; ++i)
        sum +=
            elements * weft_prediction_seconds(&parts[i], elements, terms) + terms->launch_seconds;
    return sum;
}

/* The cases of which rows are taken: those of scripts of even or odd number, or all. */
typedef struct part_of_cases {
    const weft_search_case *list;
    int n;
    int parity; /* 0, 1; -1: all */
} part_of_cases;

/* NAN: no row. A row of which a primitive was not measured says nothing about the terms. */
static double error_of(const part_of_cases *cases, const weft_cost_terms *terms) {
    double sum = 0;
    int64_t count = 0;
    for (int i = 0; i < cases->n; ++i)
        for (int k = 0; k < cases->list[i].result.n_measured; ++k) {
            const weft_search_candidate *one = &cases->list[i].result.candidates[k];
            if (!one->all_measured ||
                (cases->parity >= 0 && cases->list[i].script % 2 != cases->parity))
                continue;
            const double predicted = weft_predict_kernels(one->parts, one->n_parts,
                                                          (double)cases->list[i].elements, terms);
            sum += fabs(predicted / one->measured - 1);
            ++count;
        }
    return count > 0 ? sum / (double)count : NAN;
}

enum { STEPS = 10, TERMS = 5 /* launch, overlap, barriers, latency overlap, cache */ };
/* A term is selected if it lowers the error to less than this fraction, more than the measurements
 * vary. */
static const double WORTH = 0.995;

/* Grid search over the terms that are nonzero in `most`. *out gets the best; returns its error. */
static double best_of(const part_of_cases *cases, const weft_cost_terms *most,
                      weft_cost_terms *out) {
    weft_cost_terms with = {.cache_factor = 1};
    double best = error_of(cases, &with);
    *out = with;
    const int n_launch = 1 + (most->launch_seconds > 0),
              n_serial = 1 + (most->non_overlapped > 0 ? STEPS : 0),
              n_barriers = 1 + (most->non_overlapped_barrier > 0 ? STEPS : 0),
              n_together = 1 + (most->latency_overlap > 0 ? STEPS : 0),
              n_cache = most->cache_bytes > 0 ? STEPS : 1;
    for (int k = 0; k < n_launch * n_serial * n_barriers * n_together * n_cache; ++k) {
        int rest = k;
        const int launch = rest % n_launch, non_overlapped = (rest /= n_launch) % n_serial,
                  barriers = (rest /= n_serial) % n_barriers,
                  latency_overlap = (rest /= n_barriers) % n_together, cache = rest / n_together;
        with = (weft_cost_terms){.launch_seconds = launch ? most->launch_seconds : 0,
                                 .non_overlapped = (double)non_overlapped / STEPS,
                                 .non_overlapped_barrier = (double)barriers / (2 * STEPS),
                                 .latency_overlap = (double)latency_overlap / STEPS,
                                 .cache_bytes = cache > 0 ? most->cache_bytes : 0,
                                 .cache_factor = cache > 0 ? 1 - (double)cache / STEPS : 1};
        const double now = error_of(cases, &with);
        if (now < best) {
            best = now;
            *out = with;
        }
    }
    return best;
}

/* The terms to fit: only `keep`, or with keep < 0 all but `drop`. */
static weft_cost_terms some(weft_cost_terms most, int keep, int drop) {
    for (int which = 0; which < TERMS; ++which) {
        if (which != drop && (keep < 0 || which == keep))
            continue;
        if (which == 0)
            most.launch_seconds = 0;
        else if (which == 1)
            most.non_overlapped = 0;
        else if (which == 2)
            most.non_overlapped_barrier = 0;
        else if (which == 3)
            most.latency_overlap = 0;
        else
            most.cache_bytes = 0;
    }
    return most;
}

/* Fit the terms that are nonzero in `most`, and drop those that do not help. Returns the error. */
static double select_terms(const part_of_cases *cases, weft_cost_terms most, weft_cost_terms *out) {
    double all = best_of(cases, &most, out);
    for (int which = 0; which < TERMS; ++which) { /* backward elimination */
        weft_cost_terms fewer = some(most, -1, which), fitted;
        const double missing = best_of(cases, &fewer, &fitted);
        if (all < missing * WORTH)
            continue;
        most = fewer;
        all = missing;
        *out = fitted;
    }
    return all;
}

void weft_prediction_fit(const weft_search_case *cases, int n, double launch_seconds,
                         double cache_bytes, weft_prediction_errors *out) {
    const weft_cost_terms most = {.launch_seconds = launch_seconds,
                                  .non_overlapped = 1,
                                  .non_overlapped_barrier = 1,
                                  .latency_overlap = 1,
                                  .cache_bytes = cache_bytes,
                                  .cache_factor = 1};
    const weft_cost_terms none = {.cache_factor = 1};
    const part_of_cases all = {cases, n, -1};
    weft_cost_terms fitted;
    double *const alone[TERMS] = {&out->launch, &out->overlap, &out->barriers,
                                  &out->latency_overlap, &out->cache};
    *out = (weft_prediction_errors){.plain = error_of(&all, &none)};
    for (int which = 0; which < TERMS; ++which) {
        const weft_cost_terms one = some(most, which, -1);
        *alone[which] = best_of(&all, &one, &fitted);
    }
    out->all = select_terms(&all, most, &out->terms);
    for (int parity = 0; parity < 2; ++parity) {
        const part_of_cases seen = {cases, n, parity}, unseen = {cases, n, 1 - parity};
        select_terms(&seen, most, &fitted);
        out->unseen += (isnan(error_of(&seen, &none)) ? NAN : error_of(&unseen, &fitted)) / 2;
    }
}
