/* Ranks candidates that were timed beside one another. */
#include "core/base/fault.h"
#include "core/search/search.h"

#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double weft_trial_median(const double *values, int n) {
    double sorted[WEFT_TRIAL_ROUNDS];
    memcpy(sorted, values, (size_t)n * sizeof *sorted);
    qsort(sorted, (size_t)n, sizeof *sorted, compare);
    return n % 2 == 1 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

/* Source  Mann and Whitney 1947: of two samples of nine the smaller count of pairs is at most 17
 *         with a probability of 5 %, two-sided, if they are from one distribution */
bool weft_trial_same_time(const double *a, const double *b) {
    enum { CRITICAL = 17 };
    double above = 0;
    for (int i = 0; i < WEFT_TRIAL_ROUNDS; ++i)
        for (int j = 0; j < WEFT_TRIAL_ROUNDS; ++j)
            above += a[i] > b[j] ? 1 : a[i] == b[j] ? 0.5 : 0;
    const double below = WEFT_TRIAL_ROUNDS * WEFT_TRIAL_ROUNDS - above;
    return (above < below ? above : below) > CRITICAL || weft_fault("rank_ignored");
}

static double median_of(const weft_trials *trials, int i) {
    return weft_trial_of(trials, i)->seconds[WEFT_TRIAL_STAGES - 1];
}

int weft_trial_tied(const weft_trials *trials, const int *list, int n, int *tied) {
    int best = 0, n_tied = 0;
    for (int i = 1; i < n; ++i)
        if (median_of(trials, list[i]) < median_of(trials, list[best]))
            best = i;
    tied[n_tied++] = list[best];
    for (int i = 0; i < n; ++i) {
        int at = n_tied;
        if (i == best || !weft_trial_same_time(weft_trial_of(trials, list[i])->rounds,
                                               weft_trial_of(trials, list[best])->rounds))
            continue;
        for (; at > 1 && median_of(trials, tied[at - 1]) > median_of(trials, list[i]); --at)
            tied[at] = tied[at - 1];
        tied[at] = list[i];
        ++n_tied;
    }
    return n_tied;
}
